//! `omo doctor` from outside, on a machine on which all is well but for what a test breaks. The client
//! is a script that answers what doctor asks of one; tests/client has the real one.

mod output;
mod single_faults;

use omo_tests::all_good;
use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Output;

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use serde_json::{Value, json};

use crate::scene::{Scene, copy, plugin};

/// A machine on which all is well: a client, the plugin in it, and a project with a run.
struct Ward {
    scene: Scene,
    /// The plugin as it is installed.
    installed: PathBuf,
    /// What `omo` is run with besides the session's own.
    variables: BTreeMap<String, String>,
}

impl Ward {
    fn new(built: &Path) -> Result<Self> {
        let lab = Lab::builder().build()?;
        let installed = lab.root().join("installed plugin");
        copy(built, &installed)?;
        let programs = lab.root().join("programs");
        fs::create_dir_all(&programs)?;
        // Not the one in the plugin: a person's own, on their PATH.
        place(&built.join("bin/omo"), &programs.join("omo"))?;
        let variables = BTreeMap::from([(
            "PATH".to_owned(),
            format!("{}:/usr/bin:/bin", programs.display()),
        )]);
        let mut ward = Self {
            scene: Scene::in_lab(built, lab)?,
            installed,
            variables,
        };
        ward.client("2.1.328", &[listed("omo@omo", &ward.installed, true)])?;
        ward.scene.arm()?;
        Ok(ward)
    }

    /// Puts a client of this version with these plugins on PATH.
    fn client(&self, version: &str, plugins: &[Value]) -> Result<()> {
        let list = self.scene.lab.root().join("plugins.json");
        fs::write(&list, Value::from(plugins.to_vec()).to_string())?;
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version} (Claude Code)'; else exec /bin/cat '{}'; fi\n",
            list.display()
        );
        self.client_is(&script)
    }

    /// Has this script be the client.
    fn client_is(&self, script: &str) -> Result<()> {
        let text = self.scene.lab.root().join("claude.sh");
        fs::write(&text, script)?;
        fs::set_permissions(&text, fs::Permissions::from_mode(0o755))?;
        place(&text, &self.programs().join("claude"))
    }

    fn programs(&self) -> PathBuf {
        self.scene.lab.root().join("programs")
    }

    fn home(&self, path: &str) -> PathBuf {
        self.scene.lab.home().join(path)
    }

    fn state(&self, name: &str) -> PathBuf {
        self.scene.lab.state_folder().join(name)
    }

    fn set(&mut self, name: &str, value: impl Into<String>) {
        self.variables.insert(name.to_owned(), value.into());
    }

    fn omo(&self, arguments: &[&str]) -> Result<Output> {
        let mut command = self.scene.lab.command(self.programs().join("omo"));
        Ok(command.args(arguments).envs(&self.variables).output()?)
    }

    /// What doctor finds, as JSON; its status has to fit.
    fn findings(&self) -> Result<Vec<Value>> {
        let output = self.omo(&["doctor", "--json"])?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        let report: Value =
            serde_json::from_slice(&output.stdout).with_context(|| stderr.clone())?;
        let checks = report["checks"].as_array().context("no checks")?.clone();
        let is_bad = checks.iter().any(|check| check["level"] == "bad");
        ensure!(
            report["ok"] == !is_bad && output.status.code() == Some(i32::from(is_bad)),
            "{}",
            output.status
        );
        let error: Option<Value> = is_bad.then(|| serde_json::from_str(&stderr)).transpose()?;
        ensure!(
            error.map_or(stderr.is_empty(), |error| error["error"]["status"] == 1),
            "{stderr}"
        );
        Ok(checks)
    }

    /// Changes the version in the installed manifest.
    fn set_version(&self, version: &str) -> Result<()> {
        let file = self.installed.join(".claude-plugin/plugin.json");
        let mut manifest: Value = serde_json::from_slice(&fs::read(&file)?)?;
        manifest["version"] = version.into();
        Ok(fs::write(file, manifest.to_string())?)
    }

    fn goal(&self, fields: &Value) -> Result<()> {
        let folder = self
            .scene
            .lab
            .project()
            .to_string_lossy()
            .replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let mut note = json!({"type": "goal_status", "met": false, "condition": "the tests pass"});
        note.as_object_mut()
            .context("no object")?
            .extend(fields.as_object().context("no object")?.clone());
        let line = json!({"type": "attachment", "attachment": note});
        write(
            &self.home(&format!(".claude/projects/{folder}/a-session.jsonl")),
            &format!("{line}\n"),
        )
    }
}

/// Puts a program in a place, by another process: what this one has open for writing, the child of
/// another test has as well until it is another program, and as long it cannot be started.
fn place(from: &Path, to: &Path) -> Result<()> {
    let status = std::process::Command::new("cp")
        .arg("--remove-destination")
        .args([from, to])
        .status()?;
    ensure!(status.success(), "cp: {status}");
    Ok(())
}

/// A plugin as the client lists it.
fn listed(id: &str, folder: &Path, enabled: bool) -> Value {
    json!({"id": id, "version": "0.1.0", "scope": "user", "enabled": enabled, "readFromFolder": folder})
}

/// Writes a file, with its folders.
fn write(path: &Path, text: &str) -> Result<()> {
    fs::create_dir_all(path.parent().context("no folder")?)?;
    Ok(fs::write(path, text)?)
}

/// The rows of every other check.
fn others(findings: &[Value], name: &str) -> Vec<String> {
    let mut rows: Vec<String> = findings
        .iter()
        .filter(|finding| finding["name"] != name)
        .map(Value::to_string)
        .collect();
    rows.sort();
    rows
}

/// What is broken, in which row that shows, how bad it is, and a part of what is said of it.
type Case = (
    fn(&mut Ward) -> Result<()>,
    &'static str,
    &'static str,
    &'static str,
);

#[track_caller]
fn play(cases: &[Case]) {
    let built = plugin();
    all_good(
        cases
            .iter()
            .map(|case| (format!("{} ({})", case.1, case.3), play_one(&built, *case))),
    );
}

fn play_one(built: &Path, (break_it, name, level, found): Case) -> Result<()> {
    let mut ward = Ward::new(built)?;
    let before = ward.findings()?;
    let sound = before
        .iter()
        .all(|row| row["level"] == "good" || (row["name"] == "hooks" && row["level"] == "unknown"));
    ensure!(sound, "the baseline is not sound: {before:#?}");
    break_it(&mut ward)?;
    let after = ward.findings()?;
    let rows: Vec<&Value> = after.iter().filter(|row| row["name"] == name).collect();
    ensure!(rows.len() == 1, "{} rows `{name}`: {after:#?}", rows.len());
    let row = rows[0];
    ensure!(
        row["level"] == level && row["found"].as_str().unwrap_or_default().contains(found),
        "{row:#}"
    );
    ensure!(row["why"].is_string() && row["fix"].is_string(), "{row:#}");
    let (before, after) = (others(&before, name), others(&after, name));
    ensure!(
        before == after,
        "another row changed: {:?}",
        after
            .iter()
            .filter(|row| !before.contains(row))
            .collect::<Vec<_>>()
    );
    Ok(())
}
