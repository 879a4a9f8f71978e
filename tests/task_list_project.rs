//! The fixture for runs of task lists: a project, a session with its files as other programs leave them, and helpers
//! that work on it.

use crate::all_good;
use std::fs;
use std::ops::Deref;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::plan_project::{Ground, Said, two_tasks};

/// The session that every project here has.
pub const SESSION: &str = "11112222-3333-4444-5555-666677778888";

/// One task of a session: its id, what it waits for, and what shows that it is done.
pub type Task<'a> = (&'a str, &'a [&'a str], &'a [&'a str]);

/// A check that the file of a task holds its word.
pub const WORD: &str = "`grep -q done words/$.txt`";

/// A project with a task list.
pub struct Sessions(Ground);

impl Deref for Sessions {
    type Target = Ground;

    fn deref(&self) -> &Ground {
        &self.0
    }
}

impl Sessions {
    /// A session with these tasks, planned and not begun. `$` in what shows a task stands for its id.
    pub fn new(tasks: &[Task]) -> Result<Self> {
        let ground = Ground::new(&two_tasks())?;
        let sessions = Self(ground);
        sessions.write_session(&json!({
            "version": "7.0",
            "session_id": SESSION,
            "working_dir": sessions.lab().project(),
            "goal": "words in files",
            "phase": "PLANNING_COMPLETE",
            "options": {"max_workers": 0, "max_iterations": 5, "note": "kept"},
            "mine": "kept",
        }))?;
        for task in tasks {
            sessions.write_task(task)?;
        }
        Ok(sessions)
    }

    /// The session's folder.
    pub fn folder(&self) -> PathBuf {
        self.lab()
            .home()
            .join(".claude/ultrawork/sessions")
            .join(SESSION)
    }

    /// Puts the session's own file there.
    pub fn write_session(&self, session: &Value) -> Result<()> {
        fs::create_dir_all(self.folder().join("tasks"))?;
        Ok(fs::write(
            self.folder().join("session.json"),
            serde_json::to_vec_pretty(session)?,
        )?)
    }

    /// Changes a member of the session's own file.
    pub fn set_member(&self, member: &str, value: Value) -> Result<()> {
        let mut session = self.file("session.json")?;
        session[member] = value;
        self.write_session(&session)
    }

    /// Puts a task's file there.
    pub fn write_task(&self, (id, needs, shown): &Task) -> Result<()> {
        let criteria: Vec<String> = shown.iter().map(|text| text.replace('$', id)).collect();
        let task = json!({
            "id": id, "subject": format!("The word {id}"), "description": "Write the word.", "complexity": "standard",
            "status": "open", "blocked_by": needs, "blockedBy": needs, "criteria": criteria, "evidence": [],
            "created_at": "2026-01-01T00:00:00.000Z", "updated_at": "2026-01-01T00:00:00.000Z", "mine": "kept",
        });
        Ok(fs::write(
            self.folder().join(format!("tasks/{id}.json")),
            serde_json::to_vec_pretty(&task)?,
        )?)
    }

    /// What a file of the session says.
    pub fn file(&self, name: &str) -> Result<Value> {
        let path = self.folder().join(name);
        let text = fs::read(&path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| path.display().to_string())
    }

    /// The words for where a task stands, in its file.
    pub fn status(&self, task: &str) -> Result<String> {
        Ok(self.file(&format!("tasks/{task}.json"))?["status"]
            .as_str()
            .context("no status")?
            .to_owned())
    }

    /// The session's phase, in its file.
    pub fn phase(&self) -> Result<String> {
        Ok(self.file("session.json")?["phase"]
            .as_str()
            .context("no phase")?
            .to_owned())
    }

    /// A person asks for the session to be executed, with these options.
    pub fn execute(&self, options: &[&str]) -> Result<Said> {
        self.omo_at_terminal(
            &[&["run", "start", "--tasks", "--session", SESSION], options].concat(),
        )
    }

    /// As [`Sessions::execute`], having read and approved its commands, where it has any.
    pub fn begin(&self, options: &[&str]) -> Result<Said> {
        let said = self.execute(options)?;
        if said.status != 7 {
            return said.exits_with(0);
        }
        let digest = said
            .err
            .split("their digest is ")
            .nth(1)
            .with_context(|| format!("no digest: {}", said.err))?;
        let digest = digest
            .split_whitespace()
            .next()
            .unwrap_or_default()
            .to_owned();
        self.execute(&[options, &["--digest", &digest]].concat())?
            .exits_with(0)
    }

    /// What comes next.
    pub fn next(&self) -> Result<Said> {
        self.omo_at_terminal(&["agent", "next"])
    }

    /// Does a task whose checks are commands.
    pub fn do_task(&self, task: &str) -> Result<()> {
        let ticket = self.start(task)?;
        self.lab().write(&format!("words/{task}.txt"), "done\n")?;
        let said = self
            .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
            .exits_with(0)?;
        ensure!(
            said.out.starts_with(&format!("PASSED {task}: ")),
            "{}",
            said.out
        );
        Ok(())
    }

    /// Begins with a task and fails at it.
    pub fn fail_task(&self, task: &str) -> Result<()> {
        let ticket = self.start(task)?;
        let said = self
            .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
            .exits_with(0)?;
        ensure!(
            said.out.starts_with(&format!("FAILED {task}: ")),
            "{}",
            said.out
        );
        Ok(())
    }

    /// Has a command run to show something; gives its id.
    pub fn show(&self, ticket: &str, command: &str) -> Result<String> {
        let said = self
            .omo_at_terminal(&[
                "agent", "evidence", "run", "--ticket", ticket, "--", command,
            ])?
            .exits_with(0)?;
        let id = said
            .out
            .strip_prefix("EVIDENCE ")
            .and_then(|rest| rest.split(':').next());
        Ok(id
            .with_context(|| format!("no id: {}", said.out))?
            .to_owned())
    }

    /// Verifies the whole as it should be done.
    pub fn verify(&self) -> Result<()> {
        let ticket = self.start("verify")?;
        let id = self.show(&ticket, "true")?;
        self.omo_at_terminal(&[
            "agent",
            "verdict",
            "PASS",
            "--ticket",
            &ticket,
            "--evidence",
            &id,
        ])?
        .exits_with(0)?;
        Ok(())
    }

    /// All that happened, each in one word.
    pub fn event_names(&self) -> Result<Vec<String>> {
        let ledger = fs::read_to_string(self.runs().join(self.run()?).join("events.jsonl"))?;
        let word = |line: &str| -> Result<String> {
            let event: Value = serde_json::from_str(line)?;
            let task = event["task"]
                .as_str()
                .map(|task| format!(" {task}"))
                .unwrap_or_default();
            Ok(format!(
                "{}{task}",
                event["kind"].as_str().context("no kind")?
            ))
        };
        ledger.lines().map(word).collect()
    }
}

/// A case of a session: what it is called, its tasks, and what is done.
pub type Case<'a> = (&'a str, &'a [Task<'a>], fn(&Sessions) -> Result<()>);

/// Plays every case in a project of its own, and names those that went wrong.
#[track_caller]
pub fn play(cases: &[Case]) {
    all_good(cases.iter().map(|(name, tasks, case)| {
        (
            (*name).to_owned(),
            Sessions::new(tasks).and_then(|sessions| case(&sessions)),
        )
    }));
}
