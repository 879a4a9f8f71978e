//! The files for others: their writer is remembered, foreign text is kept, and no older text replaces a newer one.

use std::fs;
use std::path::{Path, PathBuf};

use omo_engine::event::RunResult;
use omo_engine::projection::{FileDrift, Projection, ProjectionError, memory_path};
use omo_engine::report::dev_workflow::{CHECKPOINT_PATH, REPORT_PATH};
use omo_engine::state::{RunPhase, RunState};
use omo_engine::{Run, TransactError};

use crate::runs::run_lab::{RunLab, add_events};

fn write(fixture: &RunLab, run: &Run, now: &RunState) -> Result<Vec<FileDrift>, ProjectionError> {
    let memory = memory_path(&fixture.runs().path(), &fixture.project());
    Projection::new(&fixture.project(), &memory, run.id()).write(now)
}

fn is_last(fixture: &RunLab, run: &Run) -> Result<bool, ProjectionError> {
    let memory = memory_path(&fixture.runs().path(), &fixture.project());
    Projection::new(&fixture.project(), &memory, run.id()).is_last()
}

fn file(fixture: &RunLab, path: &str) -> PathBuf {
    fixture.project().join(path)
}

fn kept(path: &str, number: u32) -> FileDrift {
    FileDrift {
        file: path.to_owned(),
        kept: Some(format!("{path}.edited-{number}")),
    }
}

fn later(run: &Run, name: &str) -> Result<RunState, TransactError> {
    let mut state = add_events(run, &[name])?;
    state.plan.policy.batch_size += u32::try_from(state.seq).unwrap_or(0);
    Ok(state)
}

#[test]
fn what_something_else_wrote_is_kept_once_whatever_its_bytes() {
    let fixture = RunLab::new();
    let run = fixture.run();
    assert_eq!(
        write(&fixture, &run, &later(&run, "a").unwrap()).unwrap(),
        []
    );
    fs::write(file(&fixture, CHECKPOINT_PATH), b"\xff mine").unwrap();
    assert_eq!(
        write(&fixture, &run, &later(&run, "b").unwrap()).unwrap(),
        [kept(CHECKPOINT_PATH, 1)]
    );
    assert_eq!(
        fs::read(file(&fixture, &format!("{CHECKPOINT_PATH}.edited-1"))).unwrap(),
        b"\xff mine"
    );
    // The same once more is there already; something else gets another name.
    fs::write(file(&fixture, CHECKPOINT_PATH), b"\xff mine").unwrap();
    assert_eq!(
        write(&fixture, &run, &later(&run, "c").unwrap()).unwrap(),
        [kept(CHECKPOINT_PATH, 1)]
    );
    fs::write(file(&fixture, CHECKPOINT_PATH), "other").unwrap();
    assert_eq!(
        write(&fixture, &run, &later(&run, "d").unwrap()).unwrap(),
        [kept(CHECKPOINT_PATH, 2)]
    );
    assert_eq!(
        write(&fixture, &run, &later(&run, "e").unwrap()).unwrap(),
        []
    );
}

#[test]
fn an_older_state_is_not_written_over_a_newer_one() {
    let fixture = RunLab::new();
    let run = fixture.run();
    let (old, new) = (later(&run, "a").unwrap(), later(&run, "b").unwrap());
    write(&fixture, &run, &new).unwrap();
    let text = fs::read(file(&fixture, CHECKPOINT_PATH)).unwrap();
    assert_eq!(write(&fixture, &run, &old).unwrap(), []);
    assert_eq!(fs::read(file(&fixture, CHECKPOINT_PATH)).unwrap(), text);
}

#[test]
fn the_next_run_takes_over_what_the_one_before_wrote_and_that_one_knows() {
    let fixture = RunLab::new();
    let (first, second) = (fixture.run(), fixture.run());
    write(&fixture, &first, &later(&first, "a").unwrap()).unwrap();
    assert!(is_last(&fixture, &first).unwrap() && !is_last(&fixture, &second).unwrap());
    assert_eq!(
        write(&fixture, &second, &later(&second, "b").unwrap()).unwrap(),
        []
    );
    assert!(is_last(&fixture, &second).unwrap() && !is_last(&fixture, &first).unwrap());
}

#[test]
fn each_work_tree_has_a_memory_of_its_own() {
    let (runs, one, other) = (Path::new("runs"), Path::new("/a"), Path::new("/b"));
    assert_ne!(memory_path(runs, one), memory_path(runs, other));
    assert_eq!(memory_path(runs, one), memory_path(runs, one));
    assert_eq!(memory_path(runs, one).parent(), Some(runs));
}

#[test]
fn a_memory_that_is_none_keeps_whatever_is_there() {
    let fixture = RunLab::new();
    let run = fixture.run();
    write(&fixture, &run, &later(&run, "a").unwrap()).unwrap();
    fs::write(memory_path(&fixture.runs().path(), &fixture.project()), "{").unwrap();
    let drifts = write(&fixture, &run, &later(&run, "b").unwrap()).unwrap();
    assert!(drifts.contains(&kept(CHECKPOINT_PATH, 1)), "{drifts:?}");
}

#[test]
fn a_memory_that_cannot_be_read_is_said_and_nothing_is_written() {
    let fixture = RunLab::new();
    let run = fixture.run();
    write(&fixture, &run, &later(&run, "a").unwrap()).unwrap();
    let (before, memory) = (
        fs::read(file(&fixture, CHECKPOINT_PATH)).unwrap(),
        memory_path(&fixture.runs().path(), &fixture.project()),
    );
    fs::remove_file(&memory).unwrap();
    fs::create_dir(&memory).unwrap();
    assert!(
        Projection::new(&fixture.project(), &memory, run.id())
            .write(&later(&run, "b").unwrap())
            .is_err()
    );
    assert_eq!(fs::read(file(&fixture, CHECKPOINT_PATH)).unwrap(), before);
    assert!(!file(&fixture, &format!("{CHECKPOINT_PATH}.edited-1")).exists());
}

#[test]
fn the_section_of_another_plan_stays_and_the_checkpoint_goes_with_the_end() {
    let fixture = RunLab::new();
    let run = fixture.run();
    let mine = b"## Execution Report\r\n\r\n**Plan:** docs/other.md\r\n\xff\r\n";
    fs::create_dir_all(file(&fixture, REPORT_PATH).parent().unwrap()).unwrap();
    fs::write(file(&fixture, REPORT_PATH), mine).unwrap();
    write(&fixture, &run, &later(&run, "a").unwrap()).unwrap();
    let mut ended = later(&run, "b").unwrap();
    ended.phase = RunPhase::Ended {
        result: RunResult::Complete,
    };
    assert_eq!(write(&fixture, &run, &ended).unwrap(), []);
    let report = fs::read(file(&fixture, REPORT_PATH)).unwrap();
    assert!(
        report.starts_with(mine)
            && String::from_utf8_lossy(&report).contains("**Status:** complete")
    );
    assert!(!file(&fixture, CHECKPOINT_PATH).exists());
}
