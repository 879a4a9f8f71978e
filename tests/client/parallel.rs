//! Plans whose sessions are worked on by the real client, each in a worktree of its own, below a supervisor: what the
//! sessions are told and do, what a person sees, and what becomes of the user's branch.

mod billing;
mod complete_run;
mod failures;
mod launchers;
mod scripted_workers;
mod stopping;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::Duration;

use omo_engine::event::RunResult;
use omo_engine::state::{RunPhase, RunState, TaskState};
use omo_testkit::model::RecordedRequest;
use omo_testkit::{Lab, MockModel, ModelScript, Terminal, wait_until};
use omo_tests::parallel_plan::{self, PLAN, four_sessions, plan_text};
use omo_tests::plan_project::Said;
use tempfile::TempDir;

use crate::client_lab::{ClientFixture, client, plugin};
use crate::plans::{ACCEPT_EDITS, code};
use scripted_workers::Works;

/// The steps of the plan, and their files.
const STEPS: [(u32, &str); 5] = [
    (1, "a.txt"),
    (2, "b.txt"),
    (3, "c.txt"),
    (4, "d.txt"),
    (5, "e.txt"),
];
/// How long a whole run may take, however busy the machine is.
const LONG: Duration = Duration::from_mins(3);
/// A check of all of it.
const ALL: &str =
    "test -f a.txt && test -f b.txt && test -f c.txt && test -f d.txt && test -f e.txt";

/// The user is logged in, with tokens that open nothing. The client hands none of `CLAUDE_CODE_OAUTH_TOKEN` on.
pub(crate) const SUBSCRIBED: &str = r#"{"claudeAiOauth": {"accessToken": "scripted", "refreshToken": "scripted",
    "expiresAt": 4102444800000, "scopes": ["user:inference", "user:profile"], "subscriptionType": "max"}}"#;

/// Who pays for the sessions, as far as the client can see.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Payer {
    Subscription,
    Key,
}

/// A home with the plugin installed, a repository with a plan of four sessions in two waves, and the client on the
/// `PATH`.
pub(crate) struct Site {
    pub(crate) fixture: ClientFixture,
    works: Works,
    _programs: TempDir,
}

impl Site {
    /// Titles with the keyword in them change nothing.
    fn new(payer: Payer) -> Self {
        let text = plan_text(&four_sessions(), ALL)
            .replace(": Write ", ": ulw Write ")
            .replace(": Part ", ": ulw part ");
        Self::with(payer, &text)
    }

    pub(crate) fn with(payer: Payer, text: &str) -> Self {
        let works = Works::default();
        for (step, file) in STEPS {
            works.well(step, file);
        }
        let script = works.script();
        Self::with_script(payer, text, works, script)
    }

    fn with_script(payer: Payer, text: &str, works: Works, script: ModelScript) -> Self {
        let client = client().with_limit(LONG);
        let model = MockModel::start(script).expect("start the scripted model");
        let programs = tempfile::Builder::new()
            .prefix("omo-programs-")
            .tempdir()
            .expect("a folder");
        symlink(client.program(), programs.path().join("claude")).expect("link the client");
        let mut lab = Lab::builder()
            .model(&model)
            .path(programs.path())
            .env("CLAUDE_CODE_MAX_RETRIES", "0");
        if payer == Payer::Subscription {
            lab = lab.env("ANTHROPIC_API_KEY", "");
        }
        let lab = lab.build().expect("set up a lab");
        if payer == Payer::Subscription {
            let path = lab.home().join(".claude/.credentials.json");
            fs::write(path, SUBSCRIBED).expect("log in");
        }
        lab.configure("[verify]\nreview = false\n")
            .expect("configure");
        parallel_plan::commit_plan(&lab, text).expect("a plan");
        let fixture = ClientFixture { model, lab, client };
        let folder = plugin()
            .canonicalize()
            .expect("the plugin")
            .to_string_lossy()
            .into_owned();
        for arguments in [
            ["marketplace", "add", &folder],
            ["install", "omo@omo", "--scope=user"],
        ] {
            let run = fixture
                .client
                .run(&fixture.lab, [&["plugin"], &arguments[..]].concat())
                .expect("run the client");
            assert!(run.status.success(), "{arguments:?}: {run:?}");
        }
        Self {
            fixture,
            works,
            _programs: programs,
        }
    }

    fn omo(&self, arguments: &[&str]) -> Said {
        let mut command = self.fixture.lab.command(plugin().join("bin/omo"));
        Said::of(&command.args(arguments).output().expect("run omo"))
    }

    /// Opens the run at a terminal, or goes on with it.
    fn open(&self, more: &[&str]) {
        parallel_plan::open(|arguments| Ok(self.omo(arguments)), more).unwrap();
    }

    /// Looks on until the run is over or asks; its exit status.
    fn wait(&self, status: i32) -> Said {
        self.omo(&["run", "watch", "--seconds", "180"])
            .exits_with(status)
            .unwrap()
    }

    fn git(&self, arguments: &[&str]) -> String {
        parallel_plan::git(&self.fixture.lab, arguments).unwrap()
    }

    fn state(&self) -> RunState {
        parallel_plan::last_run(&self.fixture.lab)
            .unwrap()
            .state()
            .unwrap()
    }

    fn task(&self, step: &str) -> TaskState {
        self.state().tasks[step].clone()
    }

    /// The requests of one session of the plan.
    fn requests_of(&self, group: &str) -> Vec<RecordedRequest> {
        let mut requests = self.fixture.model.requests();
        requests.retain(|request| scripted_workers::group(request).as_deref() == Some(group));
        requests
    }

    /// Every step has passed, its work is in the user's branch and checkout, and nothing is left of the run.
    pub(crate) fn is_whole(&self) {
        let state = self.state();
        assert_eq!(
            state.phase,
            RunPhase::Ended {
                result: RunResult::Complete
            }
        );
        assert!(
            state
                .parallel
                .as_ref()
                .is_some_and(|parallel| parallel.landed.is_some()),
            "it did not land"
        );
        for task in &state.plan.tasks {
            let path = self.fixture.lab.project().join(&task.files[0].path);
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                format!("{}\n", task.id),
                "{}",
                path.display()
            );
        }
        self.is_left_alone();
    }

    /// The checkout is as git knows it, and neither a worktree nor a branch nor a process is left.
    fn is_left_alone(&self) {
        assert_eq!(self.git(&["status", "--porcelain"]), "");
        parallel_plan::is_tidy(&self.fixture.lab).unwrap();
        let gone = || self.processes().is_empty().then_some(());
        wait_until("the end of all processes", gone)
            .unwrap_or_else(|_| panic!("{:?}", self.processes()));
    }

    /// The command lines of those processes that live in the lab's home, wherever they were started from.
    fn processes(&self) -> Vec<String> {
        let home = format!("HOME={}", self.fixture.lab.home().display()).into_bytes();
        let is_ours = |path: &PathBuf| {
            let variables = fs::read(path.join("environ")).unwrap_or_default();
            variables
                .split(|byte| *byte == 0)
                .any(|variable| variable == home)
        };
        let all = omo_tests::processes::processes().map(|entry| entry.path());
        let line = |path: PathBuf| {
            String::from_utf8_lossy(&fs::read(path.join("cmdline")).unwrap_or_default())
                .replace('\0', " ")
        };
        all.filter(is_ours)
            .map(line)
            .filter(|line| !line.is_empty())
            .collect()
    }
}

/// A session at a terminal in which the user has typed the plan, read its commands and agreed to them.
fn typed(site: &Site, options: &str) -> Terminal {
    let terminal = Terminal::start_sized(
        &site.fixture.lab,
        &site.fixture.client,
        &ACCEPT_EDITS,
        (140, 120),
    )
    .unwrap();
    terminal.ready().unwrap();
    terminal
        .say(&format!("/omo:execute-local {options}{PLAN}"))
        .unwrap();
    let screen = terminal
        .wait_for("To approve exactly these commands")
        .unwrap();
    terminal.ready().unwrap();
    terminal
        .say(&format!(
            "/omo:execute-local {options}{PLAN} --approve {}",
            code(&screen)
        ))
        .unwrap();
    terminal
}
