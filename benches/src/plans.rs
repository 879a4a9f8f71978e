//! A plan of a thousand tasks, and a run whose ledger has ten thousand events.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Result, ensure};
use omo_testkit::large_run::{large_plan, make_large_run};

use crate::contest::Contestant;
use crate::contestants::{BATCHES, BATCHES_IN_PYTHON, CAT, NEXT};
use crate::peers::Peer;

const TASKS: usize = 1_000;
const EVENTS: u64 = 10_000;
const PLAN: &str = "docs/plan.md";
/// What makes a bench one that makes the run and nothing else.
const MAKE: &str = "--make-run";

/// Where plans are read and a run goes on.
pub(crate) struct Plans {
    project: PathBuf,
    home: PathBuf,
    input: PathBuf,
}

impl Plans {
    /// Makes them below a folder. The run is made by a process of its own: what a bench has in its memory counts
    /// as the least that each contestant can have.
    pub(crate) fn new(folder: &Path) -> Result<Self> {
        let plans = Self::below(folder);
        fs::create_dir_all(plans.project.join("docs"))?;
        fs::create_dir_all(plans.home.join("state"))?;
        fs::write(plans.project.join(PLAN), large_plan(TASKS))?;
        fs::write(&plans.input, "")?;
        ensure!(
            Command::new("git")
                .args(["init", "-q"])
                .current_dir(&plans.project)
                .status()?
                .success(),
            "git init"
        );
        let made = Command::new(std::env::current_exe()?)
            .arg(MAKE)
            .arg(folder)
            .status()?;
        ensure!(made.success(), "the run of the bench was not made");
        Ok(Self {
            project: plans.project.canonicalize()?,
            ..plans
        })
    }

    /// Where they are below a folder.
    fn below(folder: &Path) -> Self {
        Self {
            project: folder.join("project"),
            home: folder.join("home"),
            input: folder.join("nothing"),
        }
    }

    /// Makes the run below a folder, where this process was started for that.
    pub(crate) fn make_if_asked() -> Option<Result<()>> {
        let mut arguments = std::env::args_os().skip(1);
        let folder = arguments
            .next()
            .filter(|first| first == MAKE)
            .and_then(|_| arguments.next())?;
        let plans = Self::below(Path::new(&folder));
        Some(
            plans
                .project
                .canonicalize()
                .map_err(Into::into)
                .and_then(|project| {
                    make_large_run(&project, &plans.home.join("state"), PLAN, TASKS, EVENTS)
                }),
        )
    }

    /// The batches of the plan: by omo, only read, and by Python.
    pub(crate) fn readers(
        &self,
        omo: &Path,
        python: Option<&Peer>,
        peers: &Path,
    ) -> Result<Vec<Contestant<'static>>> {
        let arguments = [PathBuf::from("plan"), "batches".into(), PLAN.into()];
        let new = |name, program: &Path| {
            Contestant::new(name, program, &self.project, self.input.clone())
        };
        let mut all = vec![
            new(BATCHES, omo)
                .arguments(&arguments)
                .finds(|| Ok(()), "\"hard_stops\""),
            new(CAT, Path::new("cat"))
                .arguments(&[PLAN.into()])
                .may_say_anything(),
        ];
        if let Some(python) = python {
            let script = peers.join("batches.py");
            // As such a program is started: by its name, with nothing left out.
            let arguments = [script, PLAN.into()];
            let (ours, theirs) = (
                self.answer(omo, &["plan".into(), "batches".into(), PLAN.into()])?,
                self.answer(&python.program, &arguments)?,
            );
            ensure!(
                ours == theirs,
                "omo and Python cut the plan of the bench in different ways"
            );
            let python = new(BATCHES_IN_PYTHON, &python.program).arguments(&arguments);
            all.push(python.finds(|| Ok(()), "\"hard_stops\"").slow());
        }
        Ok(all)
    }

    /// What comes next in the run.
    pub(crate) fn next(&self, omo: &Path) -> Contestant<'static> {
        let new = Contestant::new(NEXT, omo, &self.project, self.input.clone());
        let variables = [
            ("HOME", self.home.clone()),
            ("XDG_STATE_HOME", self.home.join("state")),
        ];
        new.arguments(&["agent".into(), "next".into()])
            .variables(variables)
            .finds(|| Ok(()), "omo agent start")
    }

    fn answer(&self, program: &Path, arguments: &[PathBuf]) -> Result<Vec<u8>> {
        let output = Command::new(program)
            .args(arguments)
            .current_dir(&self.project)
            .output()?;
        let said = String::from_utf8_lossy(&output.stderr);
        ensure!(
            output.status.success(),
            "{}: {}: {said}",
            program.display(),
            output.status
        );
        Ok(output.stdout)
    }
}
