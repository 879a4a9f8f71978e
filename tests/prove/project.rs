//! A project with a commit, what was changed in it since, and what `omo prove` says of that.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::{Lab, LabBuilder};
use serde_json::Value;

use omo_tests::scene::plugin;

/// Files by their paths; without a text one that is removed.
pub(crate) type Files<'a> = &'a [(&'a str, Option<&'a str>)];

/// A project in a lab of its own.
pub(crate) struct Project {
    pub(crate) lab: Lab,
}

/// What `omo prove` did.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: i32,
    pub(crate) json: Value,
    pub(crate) stderr: String,
}

impl Project {
    /// A project with a commit of these files.
    pub(crate) fn new(files: Files) -> Result<Self> {
        Self::in_lab(Lab::builder(), files)
    }

    /// The same in a lab with other wishes.
    pub(crate) fn in_lab(lab: LabBuilder, files: Files) -> Result<Self> {
        let project = Self { lab: lab.build()? };
        project.change(files)?;
        project.commit()?;
        Ok(project)
    }

    /// Writes files, and removes those without a text.
    pub(crate) fn change(&self, files: Files) -> Result<()> {
        for (path, text) in files {
            match text {
                Some(text) => drop(self.lab.write(path, text)?),
                None => fs::remove_file(self.lab.project().join(path))
                    .with_context(|| format!("remove {path}"))?,
            }
        }
        Ok(())
    }

    /// Commits all that is there.
    pub(crate) fn commit(&self) -> Result<()> {
        self.lab.git(&["add", "--all"])?;
        self.lab
            .git(&["commit", "--quiet", "--message", "work"])
            .map(drop)
    }

    /// The command with these arguments, not yet started.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = self.lab.command(plugin().join("bin/omo"));
        command.arg("prove").args(arguments);
        command
    }

    /// Compares with the last commit by one check. Nothing of the project, its repository or the user's home may have
    /// changed behind it.
    pub(crate) fn prove(&self, check: &str) -> Result<Answer> {
        self.prove_with(&["--base", "HEAD", "--check", check])
    }

    /// The same with other arguments.
    pub(crate) fn prove_with(&self, arguments: &[&str]) -> Result<Answer> {
        let before = self.snapshot()?;
        let output = self.command(arguments).arg("--json").output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let json = serde_json::from_slice(&output.stdout).unwrap_or_default();
        let status = output
            .status
            .code()
            .with_context(|| format!("{}: {stderr}", output.status))?;
        before.require_same(&self.snapshot()?)?;
        self.require_no_copies()?;
        Ok(Answer {
            status,
            json,
            stderr,
        })
    }

    /// Every file of the project and of its repository as it is, and what git says of them.
    pub(crate) fn snapshot(&self) -> Result<TreeSnapshot> {
        let mut entries = BTreeMap::new();
        read(self.lab.project(), &mut entries)?;
        let said = if self.lab.project().join(".git").exists() {
            self.lab.git(&[
                "--no-optional-locks",
                "status",
                "--porcelain=v2",
                "--branch",
                "--ignored",
            ])?
        } else {
            String::new()
        };
        Ok(TreeSnapshot {
            entries,
            status: said,
        })
    }

    /// Where copies are made.
    pub(crate) fn copies(&self) -> PathBuf {
        self.lab.home().join(".local/state/omo/proofs")
    }

    /// Nothing is left of the copies.
    pub(crate) fn require_no_copies(&self) -> Result<()> {
        let left = fs::read_dir(self.copies())
            .into_iter()
            .flatten()
            .flatten()
            .map(|it| it.path());
        let left: Vec<_> = left.filter(|path| path.is_dir()).collect();
        ensure!(left.is_empty(), "copies are left: {left:?}");
        Ok(())
    }
}

impl Answer {
    /// The first check.
    pub(crate) fn check(&self) -> &Value {
        &self.json["checks"][0]
    }

    /// Its reason.
    pub(crate) fn reason(&self) -> &str {
        self.check()["reason"].as_str().unwrap_or_default()
    }

    /// What it was without the change, and the exit status with that; green with it.
    pub(crate) fn require(&self, without: &str) -> Result<()> {
        let check = self.check();
        let status = match without {
            "red" => 0,
            "green" => 1,
            // What it says with empty bodies decides.
            "notBuilt" if check["hollow"] == "red" => 0,
            "notBuilt" if check["hollow"]["green"].is_array() => 1,
            _ => 5,
        };
        let is_so =
            self.status == status && check["with"] == "green" && check["without"] == without;
        ensure!(
            is_so,
            "not {without}: {} {:#}\n{}",
            self.status,
            self.json,
            self.stderr
        );
        Ok(())
    }

    /// A sentence of its reason.
    pub(crate) fn require_reason(&self, part: &str) -> Result<()> {
        ensure!(
            self.reason().contains(part),
            "`{part}` is not in its reason: {:#}",
            self.json
        );
        Ok(())
    }

    /// A test with its states: without the change, and with it.
    pub(crate) fn require_test(&self, (name, without, with): (&str, &str, &str)) -> Result<()> {
        let tests = self.check()["tests"].as_array().context("no tests")?;
        let test = tests.iter().find(|test| test["name"] == name);
        let is_so = test.is_some_and(|test| test["without"] == without && test["with"] == with);
        ensure!(
            is_so,
            "{name} is not {without} without and {with} with: {:#}",
            self.json
        );
        Ok(())
    }

    /// A note with this part.
    pub(crate) fn require_note(&self, part: &str) -> Result<()> {
        let notes = self.json["notes"].as_array().context("no notes")?;
        let is_said = notes
            .iter()
            .any(|note| note.as_str().is_some_and(|note| note.contains(part)));
        ensure!(is_said, "no note has `{part}`: {:#}", self.json);
        Ok(())
    }
}

/// All that a user would see changed.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct TreeSnapshot {
    /// The mode of each, its times, and what is in it.
    entries: BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>,
    status: String,
}

impl TreeSnapshot {
    /// Nothing differs.
    pub(crate) fn require_same(&self, now: &Self) -> Result<()> {
        ensure!(
            self.status == now.status,
            "git status said:\n{}\nand says:\n{}",
            self.status,
            now.status
        );
        let paths = self.entries.keys().chain(now.entries.keys());
        let other = paths
            .into_iter()
            .find(|path| self.entries.get(*path) != now.entries.get(*path));
        ensure!(other.is_none(), "{other:?} is not as it was");
        Ok(())
    }
}

fn read(folder: &Path, entries: &mut BTreeMap<PathBuf, (u32, i64, i64, Vec<u8>)>) -> Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let meta = path.symlink_metadata()?;
        let bytes = if meta.is_symlink() {
            fs::read_link(&path)?.as_os_str().as_bytes().to_vec()
        } else if meta.is_file() {
            fs::read(&path)?
        } else {
            Vec::new()
        };
        entries.insert(
            path.clone(),
            (meta.mode(), meta.mtime(), meta.mtime_nsec(), bytes),
        );
        if meta.is_dir() {
            read(&path, entries)?;
        }
    }
    Ok(())
}
