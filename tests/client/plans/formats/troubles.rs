//! What does not go as the plan says: a task that fails at first, a plan that its user edits, a session that is gone.

use super::plan_workers::Work;
use super::table::{self, Format};
use super::{Mode, Stage, omo, tasks};

/// A task that its user adds at a stop.
const ADDED: &str = "\n### Task 4: The index\n\n**Files:**\n- Create: `words/index.txt`\n\n- [ ] **Step 1: Write the index**\n\n\
    Run: `grep -q done words/index.txt`\nExpected: PASS\n";

/// A task goes wrong at first, and meanwhile the user edits the plan. They take the edit in with `omo run resume` as omo
/// tells them to, have the task that failed done again, and type on until the run is over. What has other attempts than
/// one is in `other`.
fn fails_and_is_done_again(format: &'static Format, mode: Mode, work: Work, other: &[(&str, &str)]) {
    let (Some(wrong), Some(edit)) = (work.wrong, work.edit) else { panic!("nothing goes wrong") };
    let mut stage = Stage::new(format, mode, work);
    stage.begins();
    for _ in 0..super::MOST_PROMPTS {
        if omo(&stage.fixture, &["report"]).0.contains("\nEdited\n") {
            let (taken, status) = omo(&stage.fixture, &["run", "resume"]);
            assert_eq!(status, Some(0), "{taken}");
            assert!(taken.contains("note: the plan was edited: changed "), "{taken}");
        }
        // In waves omo does it again by itself.
        if tasks(&stage.fixture).contains(&format!("{wrong} failed 1")) {
            let again = stage.types(&format!("/omo:retry {wrong}"));
            assert!(again.contains(" is to be done again. To go on, type /omo:execute"), "{again}");
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
#[ignore = "needs the real client: cargo xtask test"]
fn a_failed_task_of_kiro_is_done_again_in_batches() {
    let edit = Some(("Whatever a reader asks first", "Whatever a reader asks often"));
    fails_and_is_done_again(&table::KIRO, Mode::Batches, Work { wrong: Some("2.2"), edit }, &[("2.2", "passed 2")]);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_failed_task_of_openspec_is_done_again_in_waves() {
    let edit = Some(("Write the page", "Write a page"));
    fails_and_is_done_again(&table::OPENSPEC, Mode::Waves, Work { wrong: Some("2.1"), edit }, &[("2.1", "passed 2")]);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_failed_task_of_spec_kit_is_done_again_in_parallel() {
    let edit = Some(("Write the notes", "Write notes"));
    let other = [("T002", "passed 2"), ("T003", "passed 2")];
    fails_and_is_done_again(&table::SPEC_KIT, Mode::Parallel, Work { wrong: Some("T002"), edit }, &other);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_task_that_its_user_adds_at_a_stop_is_done() {
    let format = &table::SUPERPOWERS_EDITED;
    let mut stage = Stage::new(format, Mode::Batches, Work::default());
    stage.begins();
    assert_eq!(tasks(&stage.fixture), ["1 passed 1", "2 unproved 1", "3 pending 0", "verify pending 0"]);
    let path = format.files[0].0;
    stage.fixture.lab.write(path, &(stage.text(path) + ADDED)).expect("edit the plan");
    let requests = stage.fixture.requests();
    let shown = stage.types("/omo:execute");
    assert!(shown.contains("\n  4  grep -q done words/index.txt\n"), "{shown}");
    let line = shown.lines().last().expect("a line to type").trim().to_owned();
    assert_eq!(stage.fixture.requests(), requests, "no model goes on before the new command is approved");
    let taken = stage.types(&line);
    assert!(taken.contains("1 of 4 tasks done, 1 unproved.") && taken.contains("\n  Next: tasks 3, 4, "), "{taken}");
    stage.goes_on();
    stage.ended(&[], |text| text.to_owned() + ADDED);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_folder_of_gsd_plans_is_gone_on_with_in_another_session() {
    let format = &table::GSD_FOLDER;
    let mut stage = Stage::new(format, Mode::Batches, Work::default());
    stage.begins();
    let half = ["02-01.1 claimed 0", "02-02.1 passed 1", "02-02.2 pending 0", "02-03.1 pending 0"];
    assert_eq!(tasks(&stage.fixture), half);
    let first = stage.session.take().expect("a session");
    stage.types(&format!("/omo:execute {}", format.target));
    stage.goes_on();
    let holder = stage.report()["holder"]["id"].clone();
    assert!(stage.session.as_deref().is_some_and(|second| second != first && holder == second), "{holder}: {first}");
    stage.ended(&[], str::to_owned);
}
