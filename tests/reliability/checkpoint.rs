//! The checkpoint of a plan that is done is removed last: where it is still there, the rest is there as well.

use std::fs;

use omo_testkit::strace::{self, CallFault};
use omo_tests::folder_snapshot::Snapshot;
use omo_tests::plan_project::{CHECKPOINT, Ground, REPORT, two_tasks};

fn read(ground: &Ground, path: &str) -> anyhow::Result<String> {
    Ok(fs::read_to_string(ground.lab().project().join(path))?)
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn the_checkpoint_goes_last() {
    let ground = Ground::new(&two_tasks()).unwrap();
    ground.open().unwrap();
    ground.pass("1", "one").unwrap();
    let ticket = ground.start("2").unwrap();
    ground.lab().write("words/2.txt", "two\n").unwrap();
    let done = ground.command(&["agent", "done", "--ticket", &ticket]);
    let before = Snapshot::take(ground.lab().root()).unwrap();
    let traced = strace::run(&done, "").unwrap();
    assert!(traced.run.status.success(), "{:?}", traced.run);
    let removes = |call: &&strace::SystemCall| {
        call.name.starts_with("unlink") && call.line.contains("execute-plan-checkpoint.json\"")
    };
    let removal = traced.calls.iter().find(removes).unwrap().clone();
    assert!(!ground.lab().project().join(CHECKPOINT).exists());
    // Killed right before that, both files say it already, and so does the ledger.
    before.restore().unwrap();
    let killed = strace::run_with_fault(&done, "", &removal, CallFault::Kill).unwrap();
    assert!(killed.is_faulted);
    assert!(
        read(&ground, CHECKPOINT)
            .unwrap()
            .contains("\"status\": \"complete\"")
    );
    assert!(
        read(&ground, REPORT)
            .unwrap()
            .contains("**Status:** complete")
    );
    assert_eq!(ground.report().unwrap()["result"], "complete");
    // The next command removes it.
    let said = ground
        .omo_at_terminal(&["agent", "next"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    assert!(
        said.out.contains("Execution complete: complete"),
        "{}",
        said.out
    );
    assert!(!ground.lab().project().join(CHECKPOINT).exists());
}
