//! A repository with a plan of steps, and its workers: with the real git, real commands and a real keeper.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use omo_core::session::ChangedBy;
use omo_engine::event::{EventActor, EventKind};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::report::ultraplan::RunScope;
use omo_engine::schedule::{self, NextAction};
use omo_engine::state::RunState;
use omo_engine::verbs::VerbCaller;
use omo_engine::work::{
    CompletionReport, Engine, EngineError, JudgedAttempt, RunOpening, SilentWatcher, StartedTask,
    planned_commands,
};
use omo_engine::{Run, RunStore};
use omo_git::proved_worktree::ProvedWorktree;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::{Dialect, Plan};
use omo_process::environment::CheckEnvironment;
use omo_state::config::UnlistedFiles;
use omo_state::env;
use omo_state::trust::{GivenApproval, pending_approval};
use tempfile::TempDir;

/// Path of the plan.
pub(crate) const PLAN: &str = "plans/demo.md";
/// The check of most steps: the first line of `src/1.rs` is its exit status, the rest its output.
const VERIFY: &str = "f=src/$1.rs; tail -n +2 $f; code=$(head -n 1 $f)\n\
                      case $code in sleep) sleep 300;; *) exit $code;; esac\n";

/// Warnings of the engine since the tests began: each test looks for words that only it can cause.
pub(crate) static WARNINGS: Mutex<Vec<String>> = Mutex::new(Vec::new());

pub(crate) fn step(number: u32, lines: &[&str]) -> String {
    let lines: Vec<String> = lines.iter().map(|line| format!("- {line}\n")).collect();
    format!("### Step {number}: Part {number}\n\n{}\n", lines.concat())
}

/// A step that changes `src/N.rs`, is checked by it, has this `On failure` clause, and is committed.
pub(crate) fn usual_step(number: u32, on_failure: &str) -> String {
    let (files, verify) = (
        format!("**Files:** `src/{number}.rs`"),
        format!("**Verify:** `sh verify.sh {number}`"),
    );
    let clause = if on_failure.is_empty() {
        String::new()
    } else {
        format!("**On failure:** {on_failure}")
    };
    let checkpoint = format!("**Checkpoint:** `git commit -m \"part {number}\"`");
    let lines = [
        files.as_str(),
        "**Changes:** Do it.",
        &verify,
        &clause,
        &checkpoint,
    ];
    let lines: Vec<&str> = lines.into_iter().filter(|line| !line.is_empty()).collect();
    step(number, &lines)
}

/// A plan of these steps, with `more` after them.
pub(crate) fn plan_text(steps: &[String], more: &str) -> String {
    format!(
        "# Demo\n\n## Implementation Plan\n\n{}{more}",
        steps.concat()
    )
}

pub(crate) fn read_plan(text: &str) -> Plan {
    dialects::read(PLAN, text.as_bytes(), BatchOptions::default())
}

pub(crate) struct UltraplanLab {
    temp: TempDir,
    environment: CheckEnvironment,
    pub run: Run,
}

impl UltraplanLab {
    pub(crate) fn new(text: &str) -> Self {
        Self::with(text, |plan| plan, None)
    }

    /// A run of a plan of this text, after a change, with the requested scope.
    pub(crate) fn with(
        text: &str,
        change: impl FnOnce(Plan) -> Plan,
        asked: Option<RunScope>,
    ) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let root = fs::canonicalize(temp.path()).unwrap().join("project");
        let home = temp.path().join("state");
        fs::create_dir_all(root.join("src")).unwrap();
        fs::create_dir_all(root.join("plans")).unwrap();
        fs::create_dir(&home).unwrap();
        for number in 1..=4 {
            fs::write(root.join(format!("src/{number}.rs")), "1\nnot yet\n").unwrap();
        }
        fs::write(root.join("verify.sh"), VERIFY).unwrap();
        fs::write(root.join("user.txt"), "one\n").unwrap();
        fs::write(root.join(PLAN), text).unwrap();
        git(&root, &["init", "-q", "-b", "main"]);
        git(&root, &["config", "user.name", "A Person"]);
        git(&root, &["config", "user.email", "person@localhost"]);
        git(&root, &["add", "."]);
        git(&root, &["commit", "-qm", "start"]);
        let plan = change(asked.map_or_else(
            || read_plan(text),
            |asked| asked.narrow_plan(read_plan(text)),
        ));
        assert!(plan.can_run(), "{:?}", plan.diagnostics);
        let approved =
            pending_approval::write(Some(&home), &root, PLAN, &planned_commands(&plan), None)
                .unwrap();
        for one in pending_approval::read_all(Some(&home), &root).unwrap() {
            let given = GivenApproval {
                by: ChangedBy::Typed,
                at: env::now(),
            };
            pending_approval::approve(Some(&home), &root, &one, given).unwrap();
        }
        let mode = match plan.dialect {
            Dialect::DevWorkflow => ExecutionMode::Batches,
            _ => ExecutionMode::StepByStep,
        };
        let opening = RunOpening {
            plan,
            commands_digest: approved,
            root: root.display().to_string(),
            worktree: None,
            head: None,
            scope: asked,
            mode,
            guard: None,
        };
        let runs = RunStore::create(&root, Some(&home)).unwrap();
        let run = runs
            .begin(
                &EventActor::default(),
                env::now(),
                EventKind::from(opening),
                Vec::new(),
            )
            .unwrap()
            .0;
        let variables = env::variables()
            .into_iter()
            .filter(|(name, _)| name == "PATH");
        let variables = variables
            .chain([("HOME".into(), temp.path().into())])
            .collect();
        Self {
            environment: CheckEnvironment::from_variables(variables, &root),
            temp,
            run,
        }
    }

    pub(crate) fn root(&self) -> PathBuf {
        fs::canonicalize(self.temp.path()).unwrap().join("project")
    }

    pub(crate) fn home(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    pub(crate) fn data(&self) -> &Path {
        self.temp.path()
    }

    pub(crate) fn environment(&self) -> &CheckEnvironment {
        &self.environment
    }

    pub(crate) fn state(&self) -> RunState {
        self.run.state().unwrap()
    }

    /// Acts in a work tree, as the client of a worker or as the owner of the run.
    pub(crate) fn engine_in<T>(
        &self,
        tree: &Path,
        group: Option<&str>,
        act: impl FnOnce(&Engine<'_>) -> T,
    ) -> T {
        let (root, home) = (self.root(), self.home());
        let caller = VerbCaller {
            group: group.map(str::to_owned),
            ..VerbCaller::default()
        };
        act(&Engine {
            run: &self.run,
            root: &root,
            work_tree: ProvedWorktree::of_project(tree),
            state_home: &home,
            caller,
            environment: &self.environment,
            now: env::now,
            plugin_data: Some(self.data()),
            unlisted_files: UnlistedFiles::Fail,
            warn: |problem| WARNINGS.lock().unwrap().push(problem.to_owned()),
        })
    }

    /// As [`Fixture::engine_in`], in the user's own work tree.
    pub(crate) fn engine<T>(&self, act: impl FnOnce(&Engine<'_>) -> T) -> T {
        self.engine_in(&self.root(), None, act)
    }

    pub(crate) fn start(&self, id: &str) -> Result<StartedTask, EngineError> {
        self.engine(|engine| engine.start(id, &mut SilentWatcher))
    }

    pub(crate) fn done(&self, ticket: &str) -> JudgedAttempt {
        self.engine(|engine| {
            engine.done(
                ticket,
                CompletionReport::default(),
                None,
                &mut SilentWatcher,
            )
        })
        .unwrap()
    }

    pub(crate) fn attempt(&self, id: &str, written: &str) -> JudgedAttempt {
        let started = self.start(id).unwrap();
        self.write(&format!("src/{id}.rs"), written);
        self.done(&started.ticket)
    }

    pub(crate) fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(crate) fn file(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.root().join(path)).ok()
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> String {
        git(&self.root(), arguments)
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.git(&["log", "--format=%s"])
            .lines()
            .map(str::to_owned)
            .collect()
    }

    pub(crate) fn committed(&self) -> Vec<String> {
        let said = self.git(&["show", "--format=", "--name-only", "HEAD"]);
        said.lines().map(str::to_owned).collect()
    }

    pub(crate) fn hook(&self, name: &str, script: &str) {
        let path = format!(".git/hooks/{name}");
        self.write(&path, &format!("#!/bin/sh\n{script}\n"));
        assert!(
            Command::new("chmod")
                .arg("+x")
                .arg(self.root().join(path))
                .status()
                .unwrap()
                .success()
        );
    }

    pub(crate) fn standing(&self, id: &str) -> &'static str {
        self.state().standing(id).unwrap().word()
    }

    pub(crate) fn next(&self) -> String {
        match schedule::next_action(&self.state()) {
            NextAction::Start(tasks) => {
                format!(
                    "start {}",
                    tasks
                        .iter()
                        .map(|task| task.id.as_str())
                        .collect::<String>()
                )
            }
            NextAction::Ask(question) => {
                let about = serde_json::to_value(&question.question.kind).unwrap();
                format!("ask {}", about["about"].as_str().unwrap())
            }
            NextAction::Over => "over".to_owned(),
            other => format!("{other:?}"),
        }
    }
}

pub(crate) fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}
