//! A plan of each newer format, from the typed command to its end, in batches and in parallel.

use super::plan_workers::Work;
use super::table::{self, Format};
use super::{MOST_PROMPTS, Mode, Stage};

/// The plan runs to its end in both ways, and its state is in its file.
fn runs_to_its_end(format: &'static Format) {
    for mode in [Mode::Batches, Mode::Parallel] {
        let mut stage = Stage::new(format, mode, Work::default());
        stage.begins();
        for _ in 0..MOST_PROMPTS {
            if stage.is_over() {
                break;
            }
            stage.types("/omo:execute");
        }
        stage.ended(&[], str::to_owned);
    }
}

#[test]
fn a_plan_of_sisyphus_runs_to_its_end() {
    runs_to_its_end(&table::SISYPHUS);
}

#[test]
fn a_plan_of_conductor_runs_to_its_end() {
    runs_to_its_end(&table::CONDUCTOR);
}

#[test]
fn a_story_of_bmad_runs_to_its_end() {
    runs_to_its_end(&table::BMAD);
}

#[test]
fn a_plan_of_agent_os_runs_to_its_end() {
    runs_to_its_end(&table::AGENT_OS);
}

#[test]
fn a_task_of_backlog_runs_to_its_end() {
    runs_to_its_end(&table::BACKLOG);
}

#[test]
fn the_stories_of_ralph_run_to_their_end() {
    runs_to_its_end(&table::RALPH);
}
