//! A repository with a plan of several sessions, and what stands for the client.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Result, ensure};
use omo_engine::Run;
use omo_engine::state::{RunPhase, RunState};
use omo_testkit::Lab;
use tempfile::TempDir;

use crate::parallel_plan::{self, plan_text};
pub use crate::parallel_plan::{Session, Step, WELL, four_sessions, session, step};
use crate::plan_project::Said;
use crate::processes::{find_processes, kill_process};
use crate::scene;

/// A repository with a plan.
pub struct Ground {
    /// The project, and the home of its user.
    pub lab: Lab,
    plugin: PathBuf,
    programs: TempDir,
}

impl Ground {
    /// One whose steps are done as their plan says, until a test says otherwise.
    pub fn new(sessions: &[Session], verification: &str) -> Result<Self> {
        let ground = Self::with_plan(&plan_text(sessions, verification))?;
        for Step { number, file, .. } in sessions.iter().flat_map(|session| &session.steps) {
            ground.script_planned_task(*number, file)?;
        }
        Ok(ground)
    }

    /// One with this plan, whose steps are done as a test says.
    pub fn with_plan(text: &str) -> Result<Self> {
        let plugin = scene::plugin();
        let programs = tempfile::Builder::new().prefix("omo-programs-").tempdir()?;
        let lab = Lab::builder().path(programs.path()).build()?;
        let ground = Self {
            lab,
            plugin,
            programs,
        };
        fs::create_dir_all(ground.steps())?;
        let client = ground.programs.path().join("claude");
        fs::write(&client, include_str!("parallel_client.sh"))?;
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755))?;
        symlink(
            ground.plugin.join("bin/omo"),
            ground.programs.path().join("omo"),
        )?;
        parallel_plan::commit_plan(&ground.lab, text)?;
        Ok(ground)
    }

    /// The folder of programs that goes before those of the system.
    pub fn programs(&self) -> &Path {
        self.programs.path()
    }

    /// The folder of what is done for each step.
    pub fn steps(&self) -> PathBuf {
        self.programs.path().join("steps")
    }

    /// How a step is worked on: lines of bash.
    pub fn set_task_script(&self, step: u32, text: &str) -> Result<()> {
        Ok(fs::write(self.steps().join(format!("{step}.sh")), text)?)
    }

    /// A step is worked on as its plan says.
    pub fn script_planned_task(&self, step: u32, file: &str) -> Result<()> {
        self.set_task_script(step, &format!("echo {step} > {file}\n"))
    }

    /// A hook of the user writes into the README of each commit what another one writes otherwise.
    pub fn set_conflicting_hook(&self) -> Result<()> {
        parallel_plan::set_conflicting_hook(self.project())
    }

    /// Has that hook do nothing any more.
    pub fn silence_hook(&self) -> Result<()> {
        parallel_plan::silence_hook(self.project())
    }

    /// Another stand-in for the client: lines of bash.
    pub fn set_client_script(&self, text: &str) -> Result<()> {
        Ok(fs::write(
            self.programs.path().join("claude"),
            format!("#!/usr/bin/env bash\n{text}"),
        )?)
    }

    /// The user's branch has all of these steps, the checkout is as it is there, and nothing is left of the run.
    pub fn require_complete(&self, steps: &[(u32, &str)]) -> Result<()> {
        let state = self.state()?;
        let landed = state
            .parallel
            .as_ref()
            .and_then(|parallel| parallel.landed.as_ref());
        ensure!(landed.is_some(), "it did not land: {:?}", state.phase);
        for (number, file) in steps {
            let text = fs::read_to_string(self.project().join(file))?;
            ensure!(text.trim() == number.to_string(), "{file}: {text}");
        }
        ensure!(
            self.git(&["status", "--porcelain"])?.is_empty(),
            "{}",
            self.git(&["status", "--porcelain"])?
        );
        self.require_tidy()
    }

    /// Which sessions were started, in their order.
    pub fn started_sessions(&self) -> Vec<String> {
        let text = fs::read_to_string(self.steps().join("started")).unwrap_or_default();
        text.lines()
            .filter_map(|line| line.split_whitespace().next())
            .map(str::to_owned)
            .collect()
    }

    /// The project.
    pub fn project(&self) -> &Path {
        self.lab.project()
    }

    /// omo's own.
    pub fn program(&self) -> PathBuf {
        self.plugin.join("bin/omo")
    }

    /// A command of omo, as a person types it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(self.program());
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// What a command of omo says.
    pub fn omo(&self, arguments: &[&str]) -> Result<Said> {
        Ok(Said::of(&self.command(arguments).output()?))
    }

    /// What git prints.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        parallel_plan::git(&self.lab, arguments)
    }

    /// Opens the run, or goes on with it, and approves what its plan executes where that is not approved yet.
    pub fn open(&self, more: &[&str]) -> Result<()> {
        parallel_plan::open(
            |arguments| self.omo(arguments),
            &[&["--accept-api-billing"], more].concat(),
        )
    }

    /// The last run.
    pub fn run(&self) -> Result<Run> {
        parallel_plan::last_run(&self.lab)
    }

    /// The last run, as it stands.
    pub fn state(&self) -> Result<RunState> {
        Ok(self.run()?.state()?)
    }

    /// Kills the supervisor of the last run, and nothing that it has started.
    pub fn kill_supervisor(&self) -> Result<()> {
        let run = self.run()?;
        let supervisors = find_processes("cmdline", &["agent supervise", run.id()]);
        ensure!(
            !supervisors.is_empty() || run.state()?.phase != RunPhase::Executing,
            "the run goes on without a supervisor that could be killed"
        );
        supervisors.into_iter().try_for_each(kill_process)
    }

    /// Nothing is left of a run but what its user was told of.
    pub fn require_tidy(&self) -> Result<()> {
        parallel_plan::is_tidy(&self.lab)
    }
}

/// Plays a case on a ground of its own.
#[track_caller]
pub fn on_repository(
    sessions: &[Session],
    verification: &str,
    case: impl FnOnce(&Ground) -> Result<()>,
) {
    let played = Ground::new(sessions, verification).and_then(|ground| case(&ground));
    crate::all_good([("the run".to_owned(), played)]);
}
