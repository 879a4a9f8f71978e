//! Task lists from outside: their files and verbs, with good input and bad, and the loop that the
//! programs before omo's were made for.

mod command_loop;
mod published_faults;
mod published_vectors;
mod refusals;
mod spellings;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use serde_json::{Value, json};

use crate::scene::plugin;

/// The session of most tests.
const ID: &str = "11111111-2222-3333-4444-555555555555";
/// When everything was made and changed that a test begins with.
const BEFORE: &str = "2026-01-01T00:00:00.000Z";

/// A home with sessions in it.
struct Place {
    lab: Lab,
    plugin: PathBuf,
}

impl Place {
    /// One without any.
    fn new() -> Result<Self> {
        let plugin = plugin();
        Ok(Self {
            lab: Lab::builder().without_git().build()?,
            plugin,
        })
    }

    /// One with a session in this phase.
    fn with(phase: &str) -> Result<Self> {
        let place = Self::new()?;
        place.put(&session_file(), &session(phase).to_string())?;
        Ok(place)
    }

    /// The folder of all sessions' files.
    fn base(&self) -> PathBuf {
        self.lab.home().join(".claude/ultrawork")
    }

    /// Writes a file, by its path from that folder.
    fn put(&self, path: &str, text: &str) -> Result<()> {
        let path = self.base().join(path);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, text)?)
    }

    /// Writes a task.
    fn task(&self, id: &str, status: &str, needs: &[&str]) -> Result<()> {
        self.put(&task_file(id), &task(id, status, needs).to_string())
    }

    fn json(&self, path: &str) -> Result<Value> {
        let path = self.base().join(path);
        let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
        serde_json::from_str(&text).with_context(|| path.display().to_string())
    }

    /// `omo` in the session.
    fn omo(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.lab.command(self.plugin.join("bin/omo"));
        Ok(command
            .args(arguments)
            .env("CLAUDE_CODE_SESSION_ID", ID)
            .output()?)
    }

    /// The same, which succeeds; gives what it printed.
    fn good(&self, arguments: &[&str]) -> Result<String> {
        let output = self.omo(arguments)?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success(),
            "{arguments:?}: {}: {stderr}",
            output.status
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    /// The same, which is refused: status 1, each of `parts` on stderr, nothing on stdout, and every file as
    /// it was.
    fn refused(&self, arguments: &[&str], parts: &[&str]) -> Result<()> {
        self.ends(arguments, 1, parts)
    }

    fn ends(&self, arguments: &[&str], status: i32, parts: &[&str]) -> Result<()> {
        let before = self.files();
        let output = self.omo(arguments)?;
        let stderr = String::from_utf8(output.stderr)?;
        ensure!(
            output.status.code() == Some(status),
            "{arguments:?}: {} for {status}: {stderr}",
            output.status
        );
        ensure!(
            output.stdout.is_empty(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stdout)
        );
        for part in parts.iter().chain(&["error: "]) {
            ensure!(
                stderr.contains(part),
                "{arguments:?}: no {part:?} in {stderr}"
            );
        }
        ensure!(self.files() == before, "{arguments:?}: a file was changed");
        Ok(())
    }

    /// Every file below the folder of all sessions, but for locks, with what is in it.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.base(), &self.base(), &mut found);
        found
    }
}

fn collect(top: &Path, folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder {
            collect(top, &path, found);
        } else if entry.file_name() != ".lock" {
            let name = path.strip_prefix(top).unwrap_or(&path).to_owned();
            found.insert(name, fs::read(&path).unwrap_or_default());
        }
    }
}

fn session_file() -> String {
    format!("sessions/{ID}/session.json")
}

fn task_file(id: &str) -> String {
    format!("sessions/{ID}/tasks/{id}.json")
}

fn session(phase: &str) -> Value {
    json!({
        "version": "7.0", "session_id": ID, "working_dir": "/w", "original_dir": null, "goal": "Add login",
        "goal_brief": "add-login", "planning_tier": "PLANNING", "started_at": BEFORE, "updated_at": BEFORE,
        "phase": phase, "exploration_stage": "not_started", "iteration": 1,
        "plan": {"approved_at": null, "design_doc": null},
        "options": {"max_workers": 0, "max_iterations": 5, "plan_only": false, "auto_mode": false},
        "worktree": null, "verifier_passed": false, "documenter_completed": false, "cancelled_at": null,
        "later": {"kept": [1, 2.5]},
    })
}

fn task(id: &str, status: &str, needs: &[&str]) -> Value {
    json!({
        "id": id, "subject": format!("Task {id}"), "description": format!("Do {id}"), "complexity": "standard",
        "status": status, "blocked_by": needs, "criteria": ["works"], "evidence": [], "created_at": BEFORE,
        "updated_at": BEFORE, "approach": "tdd", "later": "kept",
    })
}
