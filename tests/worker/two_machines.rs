//! A machine that a worker runs on, and the repository that it shares with a run.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_remote::exchange::{BriefTask, EXCHANGE_VERSION, WorkerBrief, WorkerReport};
use omo_testkit::{Lab, wait_until};
use omo_tests::plan_project::Said;
use omo_tests::scene;

pub(crate) const BRANCH: &str = "omo/r1/session-1";

/// What a client says once it has begun, and at its end.
const BEGUN: &str = r#"{"type":"system","subtype":"init","session_id":"s"}"#;
const DONE: &str = r#"{"type":"result","subtype":"success","is_error":false,"num_turns":3,"total_cost_usd":0.25,"result":"done","session_id":"s"}"#;

/// The repository that both ends reach, and the worker's end.
pub(crate) struct TwoMachines {
    pub lab: Lab,
    program: PathBuf,
    base: String,
}

impl TwoMachines {
    /// A repository with a branch for the work, and a client that does as these lines of bash say. In them
    /// `commit 1` commits all that is there as task 1.
    pub(crate) fn new(client: &str) -> Result<Self> {
        let lab = Lab::builder().build()?;
        let mut it = Self {
            lab,
            program: scene::plugin().join("bin/omo"),
            base: String::new(),
        };
        it.set_client(client)?;
        it.git(&["init", "-q", "-b", "main"])?;
        it.lab.write("README", "hello\n")?;
        it.lab.write(".gitignore", "*.ignored\n")?;
        it.git(&["add", "-A"])?;
        it.git(&["commit", "-q", "-m", "chore: begin"])?;
        it.git(&["rev-parse", "HEAD"])?
            .trim()
            .clone_into(&mut it.base);
        let hub = it.hub().display().to_string();
        it.git(&["init", "-q", "--bare", "-b", "main", &hub])?;
        it.git(&["push", "-q", &hub, "HEAD:main", &format!("HEAD:{BRANCH}")])?;
        Ok(it)
    }

    pub(crate) fn set_client(&self, lines: &str) -> Result<()> {
        let text = format!(
            "#!/usr/bin/env bash\nset -u\nexec 3>&1 1>&2\ncat >\"{prompt}\"\nprintf '%s\\n' '{BEGUN}' >&3\n\
             commit() {{ git add -A && git commit -q --allow-empty -m \"feat: task $1\n\nOmo-Run: r1\nOmo-Task: $1\"; }}\n\
             {lines}\nprintf '%s\\n' '{DONE}' >&3\n",
            prompt = self.path("prompt").display()
        );
        fs::write(self.path("client"), text)?;
        Ok(fs::set_permissions(
            self.path("client"),
            fs::Permissions::from_mode(0o755),
        )?)
    }

    /// A file beside the project.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.lab.root().join(name)
    }

    pub(crate) fn hub(&self) -> PathBuf {
        self.path("hub.git")
    }

    pub(crate) fn remote(&self) -> String {
        format!("file://{}", self.hub().display())
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Result<String> {
        self.lab.git(arguments)
    }

    /// What a reference of the shared repository names; empty where there is none.
    pub(crate) fn there(&self, branch: &str) -> Result<String> {
        let listed = self.git(&[
            "ls-remote",
            "--refs",
            &self.remote(),
            &format!("refs/heads/{branch}"),
        ])?;
        Ok(listed
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned())
    }

    pub(crate) fn brief(&self, tasks: &[&str]) -> WorkerBrief {
        let task = |id: &&str| BriefTask {
            id: (*id).to_owned(),
            message: format!("feat: the rest of {id}\n\nOmo-Run: r1\nOmo-Task: {id}"),
        };
        WorkerBrief {
            version: EXCHANGE_VERSION,
            run: "r1".to_owned(),
            group: "1".to_owned(),
            base: self.base.clone(),
            prompt: "Do the tasks.".to_owned(),
            tasks: tasks.iter().map(task).collect(),
            skips_permissions: true,
            time_limit_seconds: 60,
            ..WorkerBrief::default()
        }
    }

    /// Pushes a brief, and gives its commit.
    pub(crate) fn push_brief(&self, brief: &WorkerBrief) -> Result<String> {
        self.push_text(&serde_json::to_string(brief)?)
    }

    pub(crate) fn push_text(&self, text: &str) -> Result<String> {
        let file = self.path("brief.json");
        fs::write(&file, text)?;
        let blob = self.git(&["hash-object", "-w", &file.display().to_string()])?;
        let entry = self.path("entry");
        fs::write(&entry, format!("100644 blob {}\tbrief.json\n", blob.trim()))?;
        let mut tree = self.lab.command("git");
        tree.arg("mktree").stdin(fs::File::open(&entry)?);
        let tree = String::from_utf8(tree.output()?.stdout)?;
        let commit = self
            .git(&["commit-tree", tree.trim(), "-m", "brief"])?
            .trim()
            .to_owned();
        self.git(&[
            "push",
            "-q",
            "-f",
            &self.remote(),
            &format!("{commit}:refs/heads/{BRANCH}.brief"),
        ])?;
        Ok(commit)
    }

    /// A command of omo.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(&self.program);
        command
            .args(arguments)
            .current_dir(self.lab.home())
            .stdin(Stdio::null());
        command
    }

    /// `omo worker` for a brief, with more arguments.
    pub(crate) fn worker(&self, brief: &str, more: &[&str]) -> Command {
        let (remote, scratch, client) = (self.remote(), self.path("scratch"), self.path("client"));
        let (scratch, client) = (scratch.display().to_string(), client.display().to_string());
        let mut own = vec![
            "--remote",
            &remote,
            "--branch",
            BRANCH,
            "--brief",
            brief,
            "--scratch",
            &scratch,
        ];
        if !more.contains(&"--client") {
            own.extend(["--client", &client]);
        }
        let words = if more.first() == Some(&"start") {
            ["worker", "start"].as_slice()
        } else {
            &["worker"]
        };
        let more = if more.first() == Some(&"start") {
            more.get(1..).unwrap_or_default()
        } else {
            more
        };
        self.command(&[words, &own, more].concat())
    }

    pub(crate) fn run(&self, brief: &str, more: &[&str]) -> Result<Said> {
        Ok(Said::of(&self.worker(brief, more).output()?))
    }

    /// Starts a worker, whose output goes nowhere.
    pub(crate) fn spawn(&self, brief: &str) -> Result<Child> {
        Ok(self
            .worker(brief, &[])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?)
    }

    pub(crate) fn report(&self) -> Result<WorkerReport> {
        let hub = self.hub().display().to_string();
        let text = self.git(&[
            "--git-dir",
            &hub,
            "show",
            &format!("refs/heads/{BRANCH}.report:report.json"),
        ])?;
        Ok(serde_json::from_str(&text)?)
    }

    /// The subjects of the commits on the branch behind the one that it began with, oldest first.
    pub(crate) fn subjects(&self) -> Result<Vec<String>> {
        let hub = self.hub().display().to_string();
        let range = format!("{}..refs/heads/{BRANCH}", self.base);
        let said = self.git(&["--git-dir", &hub, "log", "--reverse", "--format=%s", &range])?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    /// The files of the last commit of the branch.
    pub(crate) fn files(&self) -> Result<Vec<String>> {
        let hub = self.hub().display().to_string();
        let said = self.git(&[
            "--git-dir",
            &hub,
            "ls-tree",
            "--name-only",
            &format!("refs/heads/{BRANCH}"),
        ])?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    /// The folders of starts that are there.
    pub(crate) fn scratch_folders(&self) -> Vec<String> {
        let tops = fs::read_dir(self.path("scratch"))
            .into_iter()
            .flatten()
            .flatten();
        let inner = tops.flat_map(|top| fs::read_dir(top.path()).into_iter().flatten().flatten());
        let names = inner.filter_map(|entry| entry.file_name().into_string().ok());
        names
            .filter(|name| name.starts_with("start-") || name.starts_with("dead-"))
            .collect()
    }

    /// Waits until a file beside the project is there.
    pub(crate) fn wait_for(&self, name: &str) -> Result<()> {
        let path = self.path(name);
        wait_until(name, || path.exists().then_some(())).context("it never came")
    }

    pub(crate) fn wait_until_pushed(&self, commits: usize) -> Result<()> {
        let is_there = || {
            self.subjects()
                .is_ok_and(|subjects| subjects.len() >= commits)
                .then_some(())
        };
        wait_until("the push", is_there).context("nothing was pushed")
    }

    /// Waits until no start holds work that was not pushed, as far as it knows.
    pub(crate) fn wait_until_unmarked(&self) -> Result<()> {
        let tops = || {
            fs::read_dir(self.path("scratch"))
                .into_iter()
                .flatten()
                .flatten()
        };
        let starts =
            || tops().flat_map(|top| fs::read_dir(top.path()).into_iter().flatten().flatten());
        let is_marked = || starts().any(|start| start.path().join("kept").exists());
        wait_until("the end of the push", || (!is_marked()).then_some(()))
            .context("a start stays marked")
    }

    /// No process stands in the scratch folder, and nothing of a start is left in it.
    pub(crate) fn require_tidy(&self) -> Result<()> {
        let scratch = self.path("scratch");
        let at_work = || {
            let stands_there = |entry: fs::DirEntry| {
                fs::read_link(entry.path().join("cwd"))
                    .is_ok_and(|folder| folder.starts_with(&scratch))
            };
            (!omo_tests::processes::processes().any(stands_there)).then_some(())
        };
        wait_until("the end of all processes", at_work)?;
        ensure!(
            self.scratch_folders().is_empty(),
            "{:?}",
            self.scratch_folders()
        );
        Ok(())
    }
}

/// Sends a signal.
pub(crate) fn signal(child: &Child, signal: rustix::process::Signal) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(child.id())?).context("no process")?;
    Ok(rustix::process::kill_process(pid, signal)?)
}
