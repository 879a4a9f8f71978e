//! A worker whose check never ends, with a real keeper.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;

use omo_core::check::task_check::TaskCheck;
use omo_core::session::ChangedBy;
use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::state::{TaskStanding, TaskStatus};
use omo_engine::verbs::VerbCaller;
use omo_engine::work::{CompletionReport, Engine, RunOpening, SilentWatcher, planned_commands};
use omo_engine::{Run, RunStore};
use omo_process::environment::CheckEnvironment;
use omo_process::process_identity;
use omo_state::config::UnlistedFiles;
use omo_state::trust::{GivenApproval, pending_approval};
use omo_testkit::{main_tests, plans, wait_until};
use tempfile::TempDir;

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: &[(&str, fn())] = &[(
        "a_check_that_hangs_is_ended_with_its_children_and_proves_nothing",
        a_check_that_hangs_is_ended_with_its_children_and_proves_nothing,
    )];
    main_tests::run(tests.iter().copied().filter(|_| cfg!(unix)))
}

struct CheckProject {
    temp: TempDir,
}

impl CheckProject {
    fn new() -> Self {
        let fixture = Self {
            temp: tempfile::tempdir().unwrap(),
        };
        fs::create_dir_all(fixture.project().join(".git")).unwrap();
        fs::write(
            fixture.project().join(".git/HEAD"),
            "ref: refs/heads/main\n",
        )
        .unwrap();
        fs::create_dir(fixture.home()).unwrap();
        fixture
    }

    fn project(&self) -> PathBuf {
        self.temp.path().join("project")
    }

    fn home(&self) -> PathBuf {
        self.temp.path().join("state")
    }
}

fn now() -> Timestamp {
    plans::time(9)
}

fn run_with(fixture: &CheckProject, check: &TaskCheck) -> Run {
    let mut plan = plans::plan(&[("1", &[])]);
    plan.tasks
        .iter_mut()
        .for_each(|task| task.checks = vec![check.clone()]);
    let (root, home) = (fixture.project(), fixture.home());
    let approved = pending_approval::write(
        Some(&home),
        &root,
        "docs/plan.md",
        &planned_commands(&plan),
        None,
    )
    .unwrap();
    let all = pending_approval::read_all(Some(&home), &root).unwrap();
    let given = GivenApproval {
        by: ChangedBy::Typed,
        at: now(),
    };
    pending_approval::approve(Some(&home), &root, &all[0], given).unwrap();
    let opened = EventKind::from(RunOpening {
        plan,
        commands_digest: approved,
        root: root.display().to_string(),
        worktree: None,
        head: None,
        scope: None,
        mode: ExecutionMode::Batches,
        guard: None,
    });
    RunStore::create(&root, Some(&home))
        .unwrap()
        .begin(&EventActor::default(), now(), opened, Vec::new())
        .unwrap()
        .0
}

fn a_check_that_hangs_is_ended_with_its_children_and_proves_nothing() {
    let fixture = CheckProject::new();
    let command = "sleep 300 & echo $! > child; echo begun; wait";
    let run = run_with(
        &fixture,
        &TaskCheck {
            timeout_seconds: 1,
            ..TaskCheck::new(command)
        },
    );
    let (root, home) = (fixture.project(), fixture.home());
    let environment =
        CheckEnvironment::from_variables(vec![("PATH".into(), "/usr/bin:/bin".into())], &root);
    let caller = VerbCaller::default();
    let engine = Engine {
        run: &run,
        root: &root,
        work_tree: omo_git::proved_worktree::ProvedWorktree::of_project(&root),
        state_home: &home,
        caller,
        environment: &environment,
        now,
        plugin_data: None,
        unlisted_files: UnlistedFiles::Fail,
        warn: |_| {},
    };
    let started = engine.start("1", &mut SilentWatcher).unwrap();
    let completion = engine
        .done(
            &started.ticket,
            CompletionReport::default(),
            None,
            &mut SilentWatcher,
        )
        .unwrap();
    assert_eq!(
        completion.state.standing("1"),
        Some(TaskStanding::Is(TaskStatus::Failed)),
        "{:?}",
        completion.outcomes
    );
    let (_, outcome) = completion.outcomes.last().unwrap();
    assert!(
        !outcome.is_green()
            && outcome
                .printed
                .first_lines
                .iter()
                .any(|line| line == "begun")
    );
    let child: u32 = fs::read_to_string(root.join("child"))
        .unwrap()
        .trim()
        .parse()
        .unwrap();
    wait_until("the end of the check's child", || {
        (process_identity::is_alive(child) != Some(true)).then_some(())
    })
    .unwrap();
    // The output is kept.
    let log = fs::read_to_string(run.folder().join("logs/1-1-1.log")).unwrap();
    assert!(log.contains("begun"), "{log}");
}
