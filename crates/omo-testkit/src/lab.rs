//! A temporary home and project, with an environment that is built from nothing.

mod builder;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::Value;
use tempfile::TempDir;

use crate::model::MockModel;
use crate::process;

pub use builder::LabBuilder;

/// Maximum time of git for a small thing.
const GIT_LIMIT: Duration = Duration::from_secs(120);

/// State folder of omo in a project.
const STATE_FOLDER: &str = ".sisyphus/cc-omo";

/// A temporary home and project. Both go away when it is dropped.
#[derive(Debug)]
pub struct Lab {
    temp: TempDir,
    home: PathBuf,
    project: PathBuf,
    plugins: Vec<PathBuf>,
    environment: BTreeMap<String, String>,
}

impl Lab {
    /// A lab with a git project, and the model at the other end.
    pub fn new(model: &MockModel) -> Result<Self> {
        Self::builder().model(model).build()
    }

    /// A lab with other wishes.
    pub fn builder() -> LabBuilder {
        LabBuilder::new()
    }

    /// The temporary folder around all; its path is short and plain ASCII below the system's own.
    pub fn root(&self) -> &Path {
        self.temp.path()
    }

    /// The home folder of the session.
    pub fn home(&self) -> &Path {
        &self.home
    }

    /// The project folder of the session.
    pub fn project(&self) -> &Path {
        &self.project
    }

    /// The folders that the client gets as `--plugin-dir`.
    pub fn plugins(&self) -> &[PathBuf] {
        &self.plugins
    }

    /// The whole environment of the session.
    pub fn environment(&self) -> &BTreeMap<String, String> {
        &self.environment
    }

    /// A command in the project folder with the session's environment and nothing else.
    pub fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .current_dir(&self.project)
            .env_clear()
            .envs(&self.environment);
        command
    }

    /// Writes a file of the project, with its folders.
    pub fn write(&self, path: &str, text: &str) -> Result<PathBuf> {
        let path = self.project.join(path);
        write(&path, text)?;
        Ok(path)
    }

    /// Writes the user's configuration of omo, over the one that is there.
    pub fn configure(&self, toml: &str) -> Result<()> {
        write(&self.home.join(".config/omo/config.toml"), toml)
    }

    /// The folder of our state in the project.
    pub fn state_folder(&self) -> PathBuf {
        self.project.join(STATE_FOLDER)
    }

    /// The runtime state, where there is one that parses.
    pub fn state(&self) -> Option<Value> {
        let text = fs::read(self.state_folder().join("runtime.local.json")).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The log of decisions, oldest first. A line that is not JSON is an error.
    pub fn decisions(&self) -> Result<Vec<Value>> {
        lines_of(&self.state_folder().join("decisions.jsonl"))
    }

    /// Every decision about a Stop, as `row: decision`.
    pub fn stop_decisions(&self) -> Result<Vec<String>> {
        let decisions = self.decisions()?;
        let text = |entry: &Value, field| entry.get(field).cloned().unwrap_or_default();
        let stops = decisions
            .iter()
            .filter(|entry| text(entry, "event") == "Stop");
        let words = stops.map(|entry| {
            format!(
                "{}: {}",
                text(entry, "row"),
                text(entry, "decision").as_str().unwrap_or("?")
            )
        });
        Ok(words.collect())
    }

    /// The transcripts of the sessions, without those of subagents.
    pub fn transcripts(&self) -> Vec<PathBuf> {
        let projects = entries(&self.home.join(".claude/projects"));
        let mut files: Vec<_> = projects.iter().flat_map(|folder| entries(folder)).collect();
        files.retain(|file| file.extension().is_some_and(|ending| ending == "jsonl"));
        files.sort();
        files
    }

    /// Every line of every transcript.
    pub fn transcript_lines(&self) -> Result<Vec<Value>> {
        let mut lines = Vec::new();
        for transcript in self.transcripts() {
            lines.extend(lines_of(&transcript)?);
        }
        Ok(lines)
    }

    /// Output of git in the project, as a user of the lab.
    pub fn git(&self, arguments: &[&str]) -> Result<String> {
        let mut command = self.command("git");
        for role in ["AUTHOR", "COMMITTER"] {
            command
                .env(format!("GIT_{role}_NAME"), "lab")
                .env(format!("GIT_{role}_EMAIL"), "lab@localhost");
        }
        command.env("GIT_CONFIG_NOSYSTEM", "1").args(arguments);
        let done = process::run(command, None, GIT_LIMIT)?;
        anyhow::ensure!(done.status.success(), "git {arguments:?}: {}", done.stderr);
        Ok(done.stdout)
    }
}

fn write(path: &Path, text: &str) -> Result<()> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).with_context(|| format!("make {}", folder.display()))?;
    }
    fs::write(path, text).with_context(|| format!("write {}", path.display()))
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.map(|entry| entry.path()).collect()
}

/// The values of a JSONL file; a missing file has none, and a last line without its end is left out.
fn lines_of(path: &Path) -> Result<Vec<Value>> {
    let text = fs::read_to_string(path).unwrap_or_default();
    let whole = text.rfind('\n').and_then(|end| text.get(..end));
    let lines = whole.unwrap_or_default().lines();
    lines
        .map(|line| serde_json::from_str(line).with_context(|| format!("parse {line}")))
        .collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::builder::UNREACHABLE_MODEL;
    use super::*;

    #[test]
    fn builds_everything_from_nothing() {
        let lab = Lab::builder()
            .folder("a b ü")
            .env("LANG", "C")
            .settings(json!({"x": 1}))
            .build()
            .unwrap();
        assert!(lab.project().join(".git").is_dir());
        assert!(lab.project().to_string_lossy().contains("a b ü"));
        assert_eq!(lab.environment()["LANG"], "C");
        assert_eq!(lab.environment()["ANTHROPIC_BASE_URL"], UNREACHABLE_MODEL);
        assert_eq!(lab.state(), None);
        lab.write(".sisyphus/cc-omo/decisions.jsonl", "{\"a\":1}\n{\"half")
            .unwrap();
        assert_eq!(lab.decisions().unwrap(), [json!({"a": 1})]);
        let root = lab.root().to_owned();
        drop(lab);
        assert!(!root.exists());
    }
}
