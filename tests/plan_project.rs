//! The fixture for runs of plans: a git project with a plan, a person at a terminal, sessions whose
//! clients are processes of the test, and everything as it is, to be compared.

use crate::all_good;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::os::unix::fs::{FileTypeExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{Lab, StandIn};
use serde_json::Value;

use crate::printed_commands::require_typeable;
use crate::scene::{self, Scene};

/// The plan that every project here has.
pub const PLAN: &str = "docs/plan.md";
/// The checkpoint.
pub const CHECKPOINT: &str = ".claude/execute-plan-checkpoint.json";
/// The report.
pub const REPORT: &str = "docs/06-plans/execution-report.md";

/// One task of a plan.
pub struct Task<'a> {
    /// Its id.
    pub id: &'a str,
    /// What it depends on, as the plan says it.
    pub needs: &'a str,
    /// Its lines beside the title, the dependencies and the check.
    pub lines: &'a str,
    /// The command that judges it; without one there is no `Verify`.
    pub check: &'a str,
}

/// A task that makes the file `words/<id>.txt`.
pub fn task<'a>(id: &'a str, needs: &'a str, check: &'a str) -> Task<'a> {
    Task {
        id,
        needs,
        lines: "",
        check,
    }
}

/// The text of a plan with these tasks.
pub fn plan_text(tasks: &[Task]) -> String {
    let mut text = String::from(
        "---\ntype: plan\ncontract_version: 2\n---\n\n# Words\n\n**Goal:** words in files\n\n",
    );
    for Task {
        id,
        needs,
        lines,
        check,
    } in tasks
    {
        let _ = write!(
            text,
            "### Task {id}: The word {id}\n\n**Files:**\n- Create: `words/{id}.txt`\n"
        );
        if !lines.is_empty() {
            let _ = writeln!(text, "{lines}");
        }
        if !needs.is_empty() {
            let _ = write!(text, "\n**Depends on:** {needs}\n");
        }
        let _ = write!(text, "\n**Task Contract:** the file holds the word.\n\n");
        if !check.is_empty() {
            let _ = write!(text, "**Verify:**\nRun: `{check}`\n\n");
        }
    }
    text.push_str("## Verification\n\n- **Verdict:** Approved\n");
    text
}

/// Two tasks, the second of which needs the first.
pub fn two_tasks() -> String {
    plan_text(&[
        task("1", "", "grep -q one words/1.txt"),
        task("2", "Task 1", "grep -q two words/2.txt"),
    ])
}

/// The same two, with a hard stop behind the first where each is a batch of its own.
pub fn two_tasks_with_stop() -> String {
    let stop = Task {
        id: "1",
        needs: "",
        lines: "\n<!-- checkpoint -->",
        check: "grep -q one words/1.txt",
    };
    plan_text(&[stop, task("2", "Task 1", "grep -q two words/2.txt")])
}

/// Each task is a batch of its own.
pub const ONE_TASK_BATCHES: &[&str] = &["--batch-size", "1"];

/// What a command did.
#[derive(Debug)]
pub struct Said {
    /// Its exit status.
    pub status: i32,
    /// What it printed.
    pub out: String,
    /// What it said beside that.
    pub err: String,
}

impl Said {
    /// Of a process that has ended. Every command that it printed can be typed.
    pub fn of(output: &Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        require_typeable(&text(&output.stdout));
        require_typeable(&text(&output.stderr));
        Self {
            status: output.status.code().unwrap_or(-1),
            out: text(&output.stdout),
            err: text(&output.stderr),
        }
    }

    /// It ended so.
    pub fn exits_with(self, status: i32) -> Result<Self> {
        ensure!(
            self.status == status,
            "status {} and not {status}: {}\n{}",
            self.status,
            self.err,
            self.out
        );
        Ok(self)
    }

    /// It ended so, said what was wrong and what to do, and nothing on stdout.
    pub fn refuses(self, status: i32, message: &str, hint: &str) -> Result<Self> {
        let said = self.exits_with(status)?;
        let (what, todo) = said.err.split_once("\n\nhint: ").unwrap_or((&said.err, ""));
        ensure!(
            what.starts_with("error: ") && what.contains(message),
            "not {message:?}: {}",
            said.err
        );
        ensure!(todo.contains(hint), "no hint {hint:?}: {}", said.err);
        ensure!(said.out.is_empty(), "on stdout: {}", said.out);
        Ok(said)
    }

    /// The ticket that it gave.
    pub fn ticket(&self) -> Result<String> {
        let after = self
            .out
            .split("--ticket ")
            .nth(1)
            .with_context(|| format!("no ticket: {}", self.out))?;
        Ok(after
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned())
    }
}

/// A session: its id, its hooks, and the process that is its client.
pub struct Session {
    /// What its hooks are fed with.
    pub hooks: StandIn,
    client: Child,
}

impl Session {
    /// Something comes in as a prompt.
    pub fn type_prompt(&mut self, prompt: &str) -> Result<HookAnswer> {
        scene::require_sound(&self.hooks.prompt(prompt)?)
    }

    /// The client dies.
    pub fn kill_client(&mut self) -> Result<()> {
        self.client.kill()?;
        self.client.wait()?;
        Ok(())
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.client.kill().ok();
        self.client.wait().ok();
    }
}

/// A project with a plan.
pub struct Ground {
    /// The project, and the home of its user.
    pub scene: Scene,
    /// Options of the run, besides the plan.
    pub options: &'static [&'static str],
}

impl Ground {
    /// A project with this plan.
    pub fn new(text: &str) -> Result<Self> {
        let plugin = scene::plugin();
        let lab = Lab::builder().build()?;
        lab.write(PLAN, text)?;
        let ground = Self {
            scene: Scene::in_lab(&plugin, lab)?,
            options: &[],
        };
        ground.git(&["add", "."])?;
        ground.git(&["commit", "-q", "-m", "plan"])?;
        Ok(ground)
    }

    /// Runs git in the project.
    pub fn git(&self, arguments: &[&str]) -> Result<()> {
        self.lab().git(arguments).map(drop)
    }

    /// The project.
    pub fn lab(&self) -> &Lab {
        &self.scene.lab
    }

    /// The program.
    pub fn program(&self) -> PathBuf {
        self.scene.plugin.join("bin/omo")
    }

    /// A command as a person at a terminal gives it.
    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab().command(self.program());
        command.args(arguments).stdin(Stdio::null());
        command
    }

    /// A command as the model of a session gives it.
    pub fn command_in(&self, session: &Session, arguments: &[&str]) -> Command {
        let mut command = self.command(arguments);
        command
            .env("CLAUDECODE", "1")
            .env("CLAUDE_PROJECT_DIR", self.lab().project());
        command
            .env("CLAUDE_CODE_SESSION_ID", session.hooks.session())
            .env("CLAUDE_PID", session.client.id().to_string());
        command
    }

    /// A person at a terminal runs `omo`.
    pub fn omo_at_terminal(&self, arguments: &[&str]) -> Result<Said> {
        Ok(Said::of(&self.command(arguments).output()?))
    }

    /// The model of a session runs `omo`.
    pub fn omo_in_session(&self, session: &Session, arguments: &[&str]) -> Result<Said> {
        Ok(Said::of(&self.command_in(session, arguments).output()?))
    }

    /// A session of a client that lives.
    pub fn session(&self) -> Result<Session> {
        let client = Command::new("sleep")
            .arg("600")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()?;
        Ok(Session {
            hooks: self.scene.another()?,
            client,
        })
    }

    /// A person at a terminal in another folder runs `omo`.
    pub fn omo_in_folder(&self, folder: &Path, arguments: &[&str]) -> Result<Said> {
        Ok(Said::of(
            &self.command(arguments).current_dir(folder).output()?,
        ))
    }

    /// The digest of the commands of a plan, as a person reads it.
    pub fn digest(&self, plan: &str) -> Result<String> {
        self.digest_in(self.lab().project(), plan)
    }

    fn digest_in(&self, folder: &Path, plan: &str) -> Result<String> {
        let said = self
            .omo_in_folder(folder, &["run", "start", "--batches", plan])?
            .exits_with(7)?;
        let after = said
            .err
            .split("their digest is ")
            .nth(1)
            .with_context(|| format!("no digest: {}", said.err))?;
        Ok(after
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned())
    }

    /// A person approves the plan's commands and opens its run.
    pub fn open(&self) -> Result<()> {
        self.open_in_folder(self.lab().project())
    }

    /// The same in another worktree.
    pub fn open_in_folder(&self, folder: &Path) -> Result<()> {
        let digest = self.digest_in(folder, PLAN)?;
        self.omo_in_folder(
            folder,
            &[
                &["run", "start", "--batches", PLAN, "--digest", &digest],
                self.options,
            ]
            .concat(),
        )?
        .exits_with(0)?;
        Ok(())
    }

    /// A person opens a run of the plan, whose commands are approved already.
    pub fn open_again(&self) -> Result<()> {
        self.omo_at_terminal(&["run", "start", "--batches", PLAN])?
            .exits_with(0)
            .map(drop)
    }

    /// A person approves the plan's commands in a session, whose run it then is.
    pub fn open_in(&self, session: &mut Session) -> Result<()> {
        let said = self
            .omo_in_session(
                session,
                &["agent", "open", "--command", "execute-plan", "--", PLAN],
            )?
            .exits_with(7)?;
        let line = said
            .err
            .lines()
            .find(|line| line.contains("--approve"))
            .context("no line to type")?
            .trim()
            .to_owned();
        session.type_prompt(&[&[line.as_str()], self.options].concat().join(" "))?;
        self.omo_in_session(session, &["agent", "open", "--command", "execute-plan"])?
            .exits_with(0)?;
        Ok(())
    }

    /// A person types a command that executes a plan, whose line then runs. What the hook shows in the place of the
    /// prompt the line says as well, for a hook that could not.
    pub fn type_command(&self, session: &mut Session, name: &str, line: &str) -> Result<Said> {
        let is_shown = session
            .type_prompt(&format!("/omo:{name} {line}"))?
            .blocks();
        let handed = ["--", line];
        let handed: &[&str] = if is_shown { &handed } else { &[] };
        self.omo_in_session(
            session,
            &[&["agent", "open", "--command", name], handed].concat(),
        )
    }

    /// A person at a terminal begins with a task.
    pub fn start(&self, task: &str) -> Result<String> {
        self.omo_at_terminal(&["agent", "start", task])?
            .exits_with(0)?
            .ticket()
    }

    /// Does a task as it should be done, and has it judged.
    pub fn pass(&self, task: &str, word: &str) -> Result<()> {
        let ticket = self.start(task)?;
        self.lab()
            .write(&format!("words/{task}.txt"), &format!("{word}\n"))?;
        self.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
            .exits_with(0)?;
        Ok(())
    }

    /// The report of the run, as data.
    pub fn report(&self) -> Result<Value> {
        let said = self
            .omo_at_terminal(&["report", "--format", "json"])?
            .exits_with(0)?;
        Ok(serde_json::from_str(&said.out)?)
    }

    /// How a task stands.
    pub fn standing(&self, id: &str) -> Result<String> {
        let report = self.report()?;
        let tasks = report["tasks"].as_array().context("no tasks")?;
        let task = tasks
            .iter()
            .find(|task| task["id"] == id)
            .with_context(|| format!("no {id}: {report}"))?;
        Ok(task["standing"]
            .as_str()
            .with_context(|| format!("no standing: {task}"))?
            .to_owned())
    }

    /// The run that is open, or was the last one.
    pub fn run(&self) -> Result<String> {
        Ok(self.report()?["run"].as_str().context("no run")?.to_owned())
    }

    /// The folder of the repository's runs.
    pub fn runs(&self) -> PathBuf {
        self.lab().project().join(".git/omo/runs")
    }

    /// Everything in the project and in the home of its user, as it is now.
    pub fn file_tree(&self) -> Result<Everything> {
        Everything::below(self.lab().root())
    }
}

/// Everything below a folder: what each path is, and what is in it.
#[derive(Debug, PartialEq, Eq)]
pub struct Everything(BTreeMap<PathBuf, String>);

impl Everything {
    /// Reads it; nothing that is not a regular file is opened.
    pub fn below(folder: &Path) -> Result<Self> {
        let mut found = BTreeMap::new();
        let mut folders = vec![folder.to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder)? {
                let path = entry?.path();
                let meta = fs::symlink_metadata(&path)?;
                let what = match meta.file_type() {
                    kind if kind.is_dir() => {
                        folders.push(path.clone());
                        "a folder".to_owned()
                    }
                    kind if kind.is_symlink() => {
                        format!("a link to {}", fs::read_link(&path)?.display())
                    }
                    kind if kind.is_fifo() => "a fifo".to_owned(),
                    _ => format!(
                        "{:o} {}",
                        meta.mode(),
                        omo_state::seal::hex_digest(&fs::read(&path)?)
                    ),
                };
                found.insert(path, what);
            }
        }
        Ok(Self(found))
    }

    /// Whether any path in it has this in it.
    pub fn has_path_with(&self, part: &str) -> bool {
        self.0
            .keys()
            .any(|path| path.to_string_lossy().contains(part))
    }

    /// The paths that differ, each once.
    pub fn differs(&self, other: &Self) -> Vec<String> {
        let paths = self.0.keys().chain(other.0.keys());
        let mut differing: Vec<String> = paths
            .filter(|path| self.0.get(*path) != other.0.get(*path))
            .map(|path| path.display().to_string())
            .collect();
        differing.sort();
        differing.dedup();
        differing
    }

    /// Nothing is different, but for paths with one of these in them.
    pub fn require_unchanged(&self, now: &Self, but: &[&str]) -> Result<()> {
        let mut differing = self.differs(now);
        differing.retain(|path| !but.iter().any(|part| path.contains(part)));
        ensure!(
            differing.is_empty(),
            "not as they were: {}",
            differing.join(", ")
        );
        Ok(())
    }
}

/// One case: what it shows, the text of its plan, and how it is played.
pub type Case<'a> = (&'a str, String, fn(&mut Ground) -> Result<()>);

/// Plays every case in a project of its own, and names those that went wrong.
#[track_caller]
pub fn play(cases: &[Case]) {
    all_good(cases.iter().map(|(name, text, case)| {
        (
            (*name).to_owned(),
            Ground::new(text).and_then(|mut ground| case(&mut ground)),
        )
    }));
}
