//! The check of a group, which judges earlier work, and is therefore green before its own task begins; and workers that
//! change their judges.

use omo_engine::report::findings::finding_lines;
use omo_engine::verbs;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::proof::find_proofs;

use crate::Named;
use crate::ultraplan_lab::UltraplanLab;

pub(crate) const ALL: &[Named] = &[
    (
        "a_judge_is_not_said_to_prove_little",
        a_judge_is_not_said_to_prove_little,
    ),
    (
        "a_checkpoint_says_nothing_of_its_own_task",
        a_checkpoint_says_nothing_of_its_own_task,
    ),
    (
        "a_script_that_checks_run_is_named_once_it_is_changed",
        a_script_that_checks_run_is_named_once_it_is_changed,
    ),
    (
        "a_check_of_its_own_is_tried_before_the_work",
        a_check_of_its_own_is_tried_before_the_work,
    ),
];

const GREEN: &str = "0\ndone\n";

/// A run of a plan that is read as the format of this path.
fn lab(path: &str, text: &str) -> UltraplanLab {
    let read = dialects::read(path, text.as_bytes(), BatchOptions::default());
    UltraplanLab::with(
        text,
        |plan| {
            find_proofs(
                omo_plan::model::Plan {
                    source: plan.source,
                    ..read
                },
                &[],
            )
        },
        None,
    )
}

fn already_green(lab: &UltraplanLab, id: &str) -> Vec<usize> {
    lab.state().tasks[id].already_green.clone()
}

fn a_judge_is_not_said_to_prove_little() {
    let lab = lab(
        "openspec/changes/a/tasks.md",
        "# Tasks\n\n## 1. Parser\n- [ ] 1.1 Write it in `src/1.rs`\n- [ ] 1.2 Run `sh verify.sh 1`\n",
    );
    let started = lab.start("1.1").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.done(&started.ticket);
    let started = lab.start("1.2").unwrap();
    lab.done(&started.ticket);
    assert_eq!(
        (lab.standing("1.1"), lab.standing("1.2")),
        ("passed", "passed")
    );
    assert_eq!(
        already_green(&lab, "1.2"),
        [0; 0],
        "what was done before it has made it green"
    );
}

fn a_checkpoint_says_nothing_of_its_own_task() {
    let text = "# Tasks: a\n\n## Phase 1: Setup\n\n- [ ] T001 Write src/1.rs\n- [ ] T002 Write src/2.rs\n\n\
                **Checkpoint**: `sh verify.sh 1` passes\n";
    let lab = lab("specs/001-a/tasks.md", text);
    assert_eq!(lab.state().plan.checkpoints.len(), 1);
    let started = lab.start("T001").unwrap();
    lab.write("src/1.rs", GREEN);
    lab.done(&started.ticket);
    lab.start("T002").unwrap();
    assert_eq!(already_green(&lab, "T002"), [0; 0]);
}

fn a_check_of_its_own_is_tried_before_the_work() {
    let text =
        "# Implementation Plan\n\n- [ ] 1. Write `src/1.rs`\n  - Run `grep -q yet src/1.rs`\n";
    let lab = lab(".kiro/specs/a/tasks.md", text);
    lab.start("1").unwrap();
    assert_eq!(already_green(&lab, "1"), [0]);
}

fn a_script_that_checks_run_is_named_once_it_is_changed() {
    let text = "# Implementation Plan\n\n- [ ] 1. Write `src/1.rs`\n  - Run `sh verify.sh 1`\n- [ ] 2. Write `src/2.rs`\n  \
                - Run `sh verify.sh 2`\n- [ ] 3. Write `src/3.rs`\n  - Run `sh verify.sh 3`\n";
    let lab = lab(".kiro/specs/a/tasks.md", text);
    let findings = || finding_lines(&lab.state(), &lab.state().plan.tasks).join("\n");
    lab.attempt("1", GREEN);
    assert!(
        lab.state().changed_check_files.is_empty() && findings().is_empty(),
        "{}",
        findings()
    );
    // A worker that is lost has changed it all the same.
    lab.start("2").unwrap();
    lab.write("verify.sh", "exit 0\n");
    lab.engine(|engine| engine.decide(|state| Ok(vec![verbs::report_lost_worker(state, "2")?])))
        .unwrap();
    let judged = lab.attempt("2", "1\nhalf\n");
    assert_eq!(
        judged.state.tasks["2"]
            .last_end
            .as_ref()
            .unwrap()
            .changed_check_files,
        ["verify.sh"]
    );
    lab.attempt("3", GREEN);
    assert_eq!((lab.standing("2"), lab.standing("3")), ("passed", "passed"));
    assert_eq!(
        lab.state()
            .changed_check_files
            .into_iter()
            .collect::<Vec<_>>(),
        [("verify.sh".into(), "2".into())]
    );
    let named = "verify.sh is run by checks, and was changed while task 2 was worked on";
    assert!(findings().contains(named), "{}", findings());
}
