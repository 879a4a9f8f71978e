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
fn a_superpowers_plan_is_executed_in_batches() {
    play(&table::SUPERPOWERS, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_superpowers_plan_is_executed_in_waves() {
    play(&table::SUPERPOWERS, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_superpowers_plan_is_executed_in_parallel() {
    play(&table::SUPERPOWERS, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_dev_workflow_plan_is_executed_in_batches() {
    play(&table::DEV_WORKFLOW, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_dev_workflow_plan_is_executed_in_waves() {
    play(&table::DEV_WORKFLOW, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_dev_workflow_plan_is_executed_in_parallel() {
    play(&table::DEV_WORKFLOW, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_spec_kit_plan_is_executed_in_batches() {
    play(&table::SPEC_KIT, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_spec_kit_plan_is_executed_in_waves() {
    play(&table::SPEC_KIT, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_spec_kit_plan_is_executed_in_parallel() {
    play(&table::SPEC_KIT, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn an_openspec_plan_is_executed_in_batches() {
    play(&table::OPENSPEC, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn an_openspec_plan_is_executed_in_waves() {
    play(&table::OPENSPEC, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn an_openspec_plan_is_executed_in_parallel() {
    play(&table::OPENSPEC, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_kiro_plan_is_executed_in_batches() {
    play(&table::KIRO, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_kiro_plan_is_executed_in_waves() {
    play(&table::KIRO, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_kiro_plan_is_executed_in_parallel() {
    play(&table::KIRO, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_task_master_plan_is_executed_in_batches() {
    play(&table::TASK_MASTER, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_task_master_plan_is_executed_in_waves() {
    play(&table::TASK_MASTER, Mode::Waves);
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

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_plan_is_executed_in_waves() {
    play(&table::GSD, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_plan_is_executed_in_parallel() {
    play(&table::GSD, Mode::Parallel);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_folder_plan_is_executed_in_batches() {
    play(&table::GSD_FOLDER, Mode::Batches);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_folder_plan_is_executed_in_waves() {
    play(&table::GSD_FOLDER, Mode::Waves);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_gsd_folder_plan_is_executed_in_parallel() {
    play(&table::GSD_FOLDER, Mode::Parallel);
}
