//! A repository whose plan workers of Slurm do, and what has to be gone behind each run.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use omo_engine::parallel_state::SubmittedWorker;
use omo_engine::report::ultraplan::worker_lines::worker_event_line;
use omo_testkit::wait_until;
use omo_tests::all_good;
use omo_tests::parallel_plan;
use omo_tests::parallel_repository::{Ground, Session};
use omo_tests::plan_project::Said;
use omo_tests::worker_home::WorkerHome;

use omo_tests::slurm_cluster::SlurmCluster;

/// The parts of a test.
pub(crate) struct Scene {
    pub(crate) ground: Ground,
    pub(crate) home: WorkerHome,
    pub(crate) cluster: SlurmCluster,
}

/// What the cluster and the launcher of a test are like.
pub(crate) struct Surroundings<'s> {
    /// So many processors has the node; each worker takes one.
    pub(crate) processors: usize,
    /// Lines of the cluster's configuration.
    pub(crate) cluster: &'s str,
    /// Lines of the launcher's.
    pub(crate) launcher: &'s str,
}

/// Two processors, and nothing else.
pub(crate) const PLAIN: Surroundings = Surroundings {
    processors: 2,
    cluster: "",
    launcher: "",
};

/// The name and the file of each step.
pub(crate) type Files<'f> = &'f [(u32, &'f str)];

/// Plays a case, and looks for what is left behind it.
pub(crate) fn on_cluster(
    sessions: &[Session],
    files: Files,
    surroundings: &Surroundings,
    case: impl FnOnce(&mut Scene) -> Result<()>,
) {
    all_good([(
        "the run".to_owned(),
        played_on_cluster(sessions, files, surroundings, case),
    )]);
}

fn played_on_cluster(
    sessions: &[Session],
    files: Files,
    surroundings: &Surroundings,
    case: impl FnOnce(&mut Scene) -> Result<()>,
) -> Result<()> {
    let all: Vec<String> = files
        .iter()
        .map(|(_, file)| format!("test -f {file}"))
        .collect();
    let ground = Ground::new(sessions, &all.join(" && "))?;
    let home = WorkerHome::new(&ground, files)?;
    home.add_programs(&ground)?;
    let shown = home.home().display().to_string();
    ground.lab.configure(&format!(
        "[launcher.slurm]\nomo = \"{shown}/omo\"\nclient = \"{shown}/client\"\nscratch = \"{shown}/scratch\"\n\
         poll_seconds = 1\n{}\n",
        surroundings.launcher
    ))?;
    let cluster = SlurmCluster::start(surroundings.processors, surroundings.cluster)?;
    let mut scene = Scene {
        ground,
        home,
        cluster,
    };
    case(&mut scene).with_context(|| scene.describe())?;
    scene.require_nothing_left()
}

impl Scene {
    /// What a command of omo says to a user whose cluster this is.
    pub(crate) fn omo(&self, arguments: &[&str]) -> Result<Said> {
        let mut command = self.ground.command(arguments);
        Ok(Said::of(
            &command
                .env("SLURM_CONF", self.cluster.configuration())
                .output()?,
        ))
    }

    /// Opens the run.
    pub(crate) fn open(&self) -> Result<()> {
        parallel_plan::open(
            |arguments| self.omo(arguments),
            &["--accept-api-billing", "--launcher", "slurm"],
        )
    }

    /// Opens the run, and has it driven.
    pub(crate) fn start(&self) -> Result<()> {
        self.open()?;
        self.omo(&["agent", "workers", "start"])?
            .exits_with(0)
            .map(drop)
    }

    /// Follows the run to a good end.
    pub(crate) fn finish(&self, files: Files) -> Result<()> {
        let said = self.omo(&["run", "watch"])?;
        ensure!(
            said.status == 0,
            "{}\n{}\n{}",
            said.status,
            said.out,
            said.err
        );
        self.ground.require_complete(files)
    }

    /// Waits until nothing drives the run any more.
    pub(crate) fn wait_for_supervisor(&self) -> Result<()> {
        let has_ended = || {
            self.ground
                .run()
                .ok()?
                .try_supervise()
                .ok()?
                .is_some()
                .then_some(())
        };
        wait_until("the end of the supervisor", has_ended)
    }

    /// Every step has passed with its first attempt.
    pub(crate) fn require_one_attempt_each(&self) -> Result<()> {
        let attempts: Vec<u32> = self
            .ground
            .state()?
            .tasks
            .values()
            .map(|task| task.attempts)
            .collect();
        ensure!(
            attempts.iter().all(|count| *count == 1),
            "attempts were used: {attempts:?}"
        );
        Ok(())
    }

    /// The worker of a session.
    pub(crate) fn worker(&self, group: &str) -> Result<SubmittedWorker> {
        let state = self.ground.state()?;
        let known = state
            .parallel
            .as_ref()
            .and_then(|parallel| parallel.groups.get(group));
        known
            .and_then(|known| known.job.clone())
            .context("no worker is recorded")
    }

    /// The number of the job of a session.
    pub(crate) fn job_id(&self, group: &str) -> Result<String> {
        let name = self.worker(group)?.name;
        let jobs = self.cluster.jobs("all")?;
        jobs.into_iter()
            .find(|(job, _)| *job == name)
            .map(|(_, id)| id)
            .context("no such job")
    }

    /// The step leaves a mark when it begins, and waits for another one.
    pub(crate) fn script_that_waits(&self, step: u32, file: &str) -> Result<()> {
        let home = self.home.home().display().to_string();
        let wait = format!("until [ -e '{home}/go' ]; do sleep 0.1; done");
        self.home.script(
            step,
            &format!("echo $SLURM_JOB_ID >> '{home}/begun-{step}'\n{wait}\necho {step} > {file}\n"),
        )
    }

    /// Lets go on what waits.
    pub(crate) fn release(&self) -> Result<()> {
        Ok(fs::write(self.mark("go"), "")?)
    }

    fn mark(&self, name: &str) -> PathBuf {
        self.home.home().join(name)
    }

    /// How often a step has begun.
    pub(crate) fn begun(&self, step: u32) -> usize {
        fs::read_to_string(self.mark(&format!("begun-{step}")))
            .unwrap_or_default()
            .lines()
            .count()
    }

    /// Waits until a step has begun so often.
    pub(crate) fn wait_until_begun(&self, step: u32, times: usize) -> Result<()> {
        wait_until("the begin of a step", || {
            (self.begun(step) >= times).then_some(())
        })
    }

    /// What has happened to the workers, in lines as `omo run watch` prints them.
    pub(crate) fn lines(&self) -> Result<String> {
        let (run, state) = (self.ground.run()?, self.ground.state()?);
        let events = run.events()?;
        let lines = events
            .iter()
            .filter_map(|event| worker_event_line(&state, &event.kind));
        Ok(lines.collect::<Vec<_>>().join("\n"))
    }

    /// Waits until that has happened.
    pub(crate) fn wait_for_line(&self, part: &str) -> Result<()> {
        wait_until(part, || {
            self.lines()
                .is_ok_and(|lines| lines.contains(part))
                .then_some(())
        })
    }

    /// What the run and the cluster look like, for a test that fails.
    fn describe(&self) -> String {
        let said = |said: Result<String>| said.unwrap_or_else(|error| error.to_string());
        let queue = said(self.cluster.slurm("squeue", &["--states", "all"]));
        format!(
            "the run:\n{}\nthe queue:\n{queue}\n{}",
            said(self.lines()),
            self.cluster.told()
        )
    }

    fn worker_folders(&self) -> Result<Vec<PathBuf>> {
        let users = fs::read_dir(self.home.scratch())?.flatten();
        let folders = users
            .flat_map(|user| fs::read_dir(user.path()).into_iter().flatten().flatten())
            .map(|entry| entry.path())
            .filter(|path| !path.ends_with("jobs") && !path.ends_with("starts.lock"));
        Ok(folders.collect())
    }

    /// The workers know that what they have was pushed. One that is killed before leaves its clone for a week.
    pub(crate) fn wait_for_known_pushes(&self) -> Result<()> {
        wait_until("the end of unpushed work", || {
            self.worker_folders()
                .is_ok_and(|folders| !folders.iter().any(|folder| folder.join("kept").exists()))
                .then_some(())
        })
    }

    /// Nothing is left of the run in the queue, on the node, in the references and in the file system.
    fn require_nothing_left(&self) -> Result<()> {
        self.cluster
            .require_idle()
            .with_context(|| self.describe())?;
        self.home.require_clean_remote(&self.ground)?;
        self.ground.require_tidy()?;
        let starts = self.worker_folders()?;
        ensure!(starts.is_empty(), "workers have left {starts:?}");
        Ok(())
    }
}
