//! What does not go as the plan says: a task that fails at first, a plan that its user edits, a session that is gone.

use super::plan_workers::Work;
use super::table::{self, Format};
use super::{Mode, Stage, omo, tasks};

/// A task goes wrong at first, and meanwhile the user edits the plan. They take the edit in with `omo run resume` as omo
/// tells them to, have the task that failed done again, and type on until the run is over. What has other attempts than
/// one is in `other`.
fn fails_and_is_done_again(
    format: &'static Format,
    mode: Mode,
    work: Work,
    other: &[(&str, &str)],
) {
    let (Some(wrong), Some(edit)) = (work.wrong, work.edit) else {
        panic!("nothing goes wrong")
    };
    let mut stage = Stage::new(format, mode, work);
    stage.begins();
    for _ in 0..super::MOST_PROMPTS {
        if omo(&stage.fixture, &["report"])
            .0
            .contains("The plan was edited since")
        {
            let (taken, status) = omo(&stage.fixture, &["run", "resume"]);
            assert_eq!(status, Some(0), "{taken}");
            assert!(
                taken.contains("note: the plan was edited: changed "),
                "{taken}"
            );
        }
        // In waves omo does it again by itself.
        if tasks(&stage.fixture).contains(&format!("{wrong} failed 1")) {
            let again = stage.types(&format!("/omo:retry {wrong}"));
            assert!(
                again.contains(" is to be done again. To go on, type /omo:execute"),
                "{again}"
            );
        } else if stage.is_over() {
            break;
        }
        stage.types("/omo:execute");
    }
    let edited = |text: &str| {
        let edited = text.replace(edit.0, edit.1);
        assert_ne!(edited, text, "the edit is one");
        edited
    };
    stage.ended(other, edited);
}

#[test]
fn a_failed_task_of_kiro_is_done_again_in_batches() {
    let edit = Some((
        "Whatever a reader asks first",
        "Whatever a reader asks often",
    ));
    fails_and_is_done_again(
        &table::KIRO,
        Mode::Batches,
        Work {
            wrong: Some("2.2"),
            edit,
        },
        &[("2.2", "passed 2")],
    );
}

#[test]
fn a_failed_task_of_openspec_is_done_again_in_waves() {
    let edit = Some(("Write the page", "Write a page"));
    fails_and_is_done_again(
        &table::OPENSPEC,
        Mode::Waves,
        Work {
            wrong: Some("2.1"),
            edit,
        },
        &[("2.1", "passed 2")],
    );
}

#[test]
fn a_failed_task_of_spec_kit_is_done_again_in_parallel() {
    let edit = Some(("Write the notes", "Write notes"));
    let other = [("T002", "passed 2"), ("T003", "passed 2")];
    fails_and_is_done_again(
        &table::SPEC_KIT,
        Mode::Parallel,
        Work {
            wrong: Some("T002"),
            edit,
        },
        &other,
    );
}
