//! The check of a group, which judges what was done before it, and is therefore green before its own task begins.

use omo_plan::dialects::{self, BatchOptions};
use omo_plan::proof::find_proofs;

use crate::Named;
use crate::ultraplan_lab::UltraplanLab;

pub(crate) const ALL: &[Named] = &[
    ("a_judge_is_not_said_to_prove_little", a_judge_is_not_said_to_prove_little),
    ("a_checkpoint_says_nothing_of_its_own_task", a_checkpoint_says_nothing_of_its_own_task),
    ("a_check_of_its_own_is_tried_before_the_work", a_check_of_its_own_is_tried_before_the_work),
];

const GREEN: &str = "0\ndone\n";

/// A run of a plan that is read as the format of this path.
fn lab(path: &str, text: &str) -> UltraplanLab {
    let read = dialects::read(path, text.as_bytes(), BatchOptions::default());
    UltraplanLab::with(text, |plan| find_proofs(omo_plan::model::Plan { source: plan.source, ..read }, &[]), None)
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
    assert_eq!((lab.standing("1.1"), lab.standing("1.2")), ("passed", "passed"));
    assert_eq!(already_green(&lab, "1.2"), [0; 0], "what was done before it has made it green");
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
    let text = "# Implementation Plan\n\n- [ ] 1. Write `src/1.rs`\n  - Run `grep -q yet src/1.rs`\n";
    let lab = lab(".kiro/specs/a/tasks.md", text);
    lab.start("1").unwrap();
    assert_eq!(already_green(&lab, "1"), [0]);
}
