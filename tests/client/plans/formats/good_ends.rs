//! Each format in each mode, where all goes well.

use super::plan_workers::Work;
use super::table::{self, Format};
use super::{Mode, Stage};

fn play(format: &'static Format, mode: Mode) {
    let mut stage = Stage::new(format, mode, Work::default());
    stage.begins();
    stage.goes_on();
    stage.ended(&[], str::to_owned);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_dev_workflow_plan_is_executed_in_waves() {
    play(&table::DEV_WORKFLOW, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_task_master_plan_is_executed_in_parallel() {
    play(&table::TASK_MASTER, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_plan_is_executed_in_batches() {
    play(&table::GSD, Mode::Batches);
}
