//! A repository of its own for each test, and a run in it.

use std::fs;
use std::path::PathBuf;

use omo_engine::event::{EventActor, EventKind};
use omo_engine::state::RunState;
use omo_engine::{Run, RunStore, RunStoreError, TransactError};
use omo_testkit::plans;
use tempfile::TempDir;

pub(crate) struct RunLab {
    pub temp: TempDir,
}

impl RunLab {
    pub(crate) fn new() -> Self {
        let scene = Self {
            temp: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(scene.git()).unwrap();
        fs::write(scene.git().join("HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::create_dir(scene.home()).unwrap();
        scene
    }

    pub(crate) fn project(&self) -> PathBuf {
        self.temp.path().join("project")
    }

    pub(crate) fn git(&self) -> PathBuf {
        self.project().join(".git")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub(crate) fn runs(&self) -> RunStore {
        RunStore::create(&self.project(), Some(&self.home())).unwrap()
    }

    pub(crate) fn run(&self) -> Run {
        let plan = plans::plan(&[("1", &[]), ("2", &["1"])]);
        self.runs()
            .begin(
                &actor(),
                plans::time(0),
                plans::run_opened(plan),
                Vec::new(),
            )
            .unwrap()
            .0
    }

    pub(crate) fn run_with(&self, count: usize) -> Run {
        let run = self.run();
        for number in 0..count {
            add_events(&run, &[&number.to_string()]).unwrap();
        }
        run
    }
}

pub(crate) fn actor() -> EventActor {
    EventActor {
        session: Some("a-session".to_owned()),
        process: None,
    }
}

pub(crate) fn add_events(run: &Run, names: &[&str]) -> Result<RunState, TransactError> {
    let events: Vec<EventKind> = names.iter().map(|name| plans::marker_event(name)).collect();
    run.transact(&actor(), plans::time(1), |_| Ok((events, ())))
        .map(|((), state)| state)
}

pub(crate) fn added_events(state: &RunState) -> Vec<&str> {
    state
        .changed_files
        .iter()
        .map(|(name, _)| name.as_str())
        .collect()
}

pub(crate) fn ledger(run: &Run) -> PathBuf {
    run.folder().join("events.jsonl")
}

/// The fault of a run, which must refuse further events, too.
pub(crate) fn ledger_problem(run: &Run) -> String {
    let before = text(run);
    let error = run.state().unwrap_err();
    assert!(run.events().is_err());
    let refused = add_events(run, &["more"]).unwrap_err();
    assert!(
        matches!(&refused, TransactError::RunStore(same) if same.to_string() == error.to_string()),
        "{refused}"
    );
    assert_eq!(text(run), before, "something was written all the same");
    assert!(!matches!(error, RunStoreError::NotFound(_)), "{error}");
    error.to_string()
}

fn text(run: &Run) -> Option<Vec<u8>> {
    let meta = fs::symlink_metadata(ledger(run)).ok()?;
    (meta.is_file() && meta.len() < 1_000_000).then(|| fs::read(ledger(run)).unwrap())
}
