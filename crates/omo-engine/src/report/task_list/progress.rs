//! Screen with the progress of a task list's run, shown between two waves.

use std::fmt::Write;

use omo_plan::model::Task;
use omo_view::run_view::Standing;

use super::SCREEN_BYTES;
use crate::program_files::task_folder::phase_of_run;
use crate::report::table::table;
use crate::report::task_list::messages::{
    field_lines, fit_rows, model_of, rounds_text, status_word,
};
use crate::standing::view_standing;
use crate::state::RunState;

/// The progress of a run; at most [`SCREEN_BYTES`] long.
pub fn progress_screen(state: &RunState) -> String {
    let standings = state.standings();
    let standings: Vec<_> = standings
        .iter()
        .map(|(task, standing)| (*task, view_standing(task, standing)))
        .collect();
    fit_rows(SCREEN_BYTES, |rows| screen(state, &standings, rows))
}

fn screen(state: &RunState, standings: &[(&Task, Standing)], rows: usize) -> String {
    let mut text = "## Progress Update\n\n".to_owned();
    text.push_str(&field_lines(&[
        ("Iteration", rounds_text(state)),
        ("Phase", phase_of_run(state).word().to_owned()),
    ]));
    text.push('\n');
    let shown = most_relevant(standings, rows);
    let lines: Vec<[String; 3]> = shown
        .iter()
        .map(|(task, standing)| {
            let word = status_word(state, task, *standing);
            [
                task.id.clone(),
                format!("{} {word}", mark(word)),
                model_of(state, task).to_owned(),
            ]
        })
        .collect();
    text.push_str(&table(["Task", "Status", "Model"], &lines));
    if standings.len() > shown.len() {
        let _ = write!(
            text,
            "… and {} more: {}\n\n",
            standings.len() - shown.len(),
            tally(state, standings)
        );
    }
    if standings
        .iter()
        .any(|(_, standing)| *standing == Standing::Claimed)
    {
        let judge = if state.plan.policy.skips_verification {
            "nobody"
        } else {
            "the verifier"
        };
        let _ = write!(
            text,
            "○ claimed: done, as its worker says; {judge} judges it\n\n"
        );
    }
    let _ = writeln!(text, "Active workers: {}", state.running_attempts().count());
    text
}

fn mark(word: &str) -> char {
    match word {
        "resolved" => '✓',
        // Reported as done, and not checked.
        "claimed" => '○',
        "running" => '→',
        "failed" => '✗',
        "skipped" => '-',
        _ => '⏳',
    }
}

/// The `rows` most relevant tasks, in the order of the plan: running and failed first, done ones last.
fn most_relevant<'a, 'b>(
    standings: &'b [(&'a Task, Standing)],
    rows: usize,
) -> Vec<&'b (&'a Task, Standing)> {
    let mut places: Vec<(u8, usize)> = standings
        .iter()
        .enumerate()
        .map(|(place, (_, standing))| {
            let rank = match standing {
                Standing::Running | Standing::Failed | Standing::Unproved => 0,
                Standing::Pending | Standing::Interrupted | Standing::Blocked => 1,
                Standing::Passed | Standing::Claimed | Standing::Skipped | Standing::LeftOut => 2,
            };
            (rank, place)
        })
        .collect();
    places.sort_unstable();
    places.truncate(rows);
    places.sort_unstable_by_key(|(_, place)| *place);
    places
        .into_iter()
        .filter_map(|(_, place)| standings.get(place))
        .collect()
}

fn tally(state: &RunState, standings: &[(&Task, Standing)]) -> String {
    let words = [
        "resolved", "claimed", "running", "pending", "blocked", "failed", "skipped",
    ];
    let counts = words
        .into_iter()
        .map(|word| {
            (
                standings
                    .iter()
                    .filter(|(task, standing)| status_word(state, task, *standing) == word)
                    .count(),
                word,
            )
        })
        .filter(|(count, _)| *count > 0);
    let counts: Vec<String> = counts
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    format!("{} in all", counts.join(", "))
}
