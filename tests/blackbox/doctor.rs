//! `omo doctor` from outside: from a sound baseline one thing is broken at a time, and exactly the
//! row that is about it changes. The client is a script that answers what doctor asks of one;
//! tests/client has the real one.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_store::folder::Folder;
use omo_store::lock::Lock;
use omo_testkit::Lab;
use serde_json::{Value, json};

use crate::stage::{Scene, copy, plugin};

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
        fs::copy(built.join("bin/omo"), programs.join("omo"))?;
        let variables = BTreeMap::from([("PATH".to_owned(), format!("{}:/usr/bin:/bin", programs.display()))]);
        let mut ward = Self { scene: Scene::in_lab(built, lab)?, installed, variables };
        ward.client("2.1.328", &[ward.plugin("omo@omo", &ward.installed, true)])?;
        ward.scene.arm()?;
        Ok(ward)
    }

    fn plugin(&self, id: &str, folder: &Path, enabled: bool) -> Value {
        json!({"id": id, "version": "0.1.0", "scope": "user", "enabled": enabled, "readFromFolder": folder})
    }

    /// Puts a client of this version with these plugins on PATH.
    fn client(&self, version: &str, plugins: &[Value]) -> Result<()> {
        let list = self.scene.lab.root().join("plugins.json");
        fs::write(&list, Value::from(plugins.to_vec()).to_string())?;
        let script = format!(
            "#!/bin/sh\nif [ \"$1\" = --version ]; then echo '{version} (Claude Code)'; else exec /bin/cat '{}'; fi\n",
            list.display()
        );
        let program = self.programs().join("claude");
        fs::write(&program, script)?;
        Ok(fs::set_permissions(program, fs::Permissions::from_mode(0o755))?)
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

    fn write(&self, path: &Path, text: &str) -> Result<()> {
        fs::create_dir_all(path.parent().context("no folder")?)?;
        Ok(fs::write(path, text)?)
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
        let report: Value = serde_json::from_slice(&output.stdout).with_context(|| stderr.clone())?;
        let checks = report["checks"].as_array().context("no checks")?.clone();
        let is_bad = checks.iter().any(|check| check["level"] == "bad");
        ensure!(
            report["ok"] == !is_bad && output.status.code() == Some(if is_bad { 5 } else { 0 }),
            "{}",
            output.status
        );
        ensure!(stderr.contains("error: ") == is_bad, "{stderr}");
        Ok(checks)
    }
}

/// The rows of every other check.
fn others(findings: &[Value], name: &str) -> Vec<String> {
    let mut rows: Vec<String> =
        findings.iter().filter(|finding| finding["name"] != name).map(Value::to_string).collect();
    rows.sort();
    rows
}

/// What is broken, in which row that shows, how bad it is, and a part of what is said of it.
type Case = (fn(&mut Ward) -> Result<()>, &'static str, &'static str, &'static str);

fn play(cases: &[Case]) -> Result<()> {
    let Some(built) = plugin() else { return Ok(()) };
    let mut wrong = Vec::new();
    for case in cases {
        if let Err(error) = play_one(&built, *case) {
            wrong.push(format!("{} ({}): {error:#}", case.1, case.3));
        }
    }
    ensure!(wrong.is_empty(), "{} of {} cases failed:\n{}", wrong.len(), cases.len(), wrong.join("\n"));
    Ok(())
}

fn play_one(built: &Path, (break_it, name, level, found): Case) -> Result<()> {
    let mut ward = Ward::new(built)?;
    let before = ward.findings()?;
    let sound =
        before.iter().all(|row| row["level"] == "good" || (row["name"] == "hooks" && row["level"] == "unknown"));
    ensure!(sound, "the baseline is not sound: {before:#?}");
    break_it(&mut ward)?;
    let after = ward.findings()?;
    let rows: Vec<&Value> = after.iter().filter(|row| row["name"] == name).collect();
    ensure!(rows.len() == 1, "{} rows `{name}`: {after:#?}", rows.len());
    let row = rows[0];
    ensure!(row["level"] == level && row["found"].as_str().unwrap_or_default().contains(found), "{row:#}");
    ensure!(row["why"].is_string() && row["mend"].is_string(), "{row:#}");
    let (before, after) = (others(&before, name), others(&after, name));
    ensure!(
        before == after,
        "another row changed: {:?}",
        after.iter().filter(|row| !before.contains(row)).collect::<Vec<_>>()
    );
    Ok(())
}

#[test]
fn what_is_wrong_with_the_installation_is_named_right() {
    let cases: &[Case] = &[
        (|w| w.client("2.1.162", &[w.plugin("omo@omo", &w.installed, true)]), "client", "bad", "Claude Code 2.1.162"),
        (|w| w.set_version("0.2.0"), "versions", "bad", "omo@omo is 0.2.0"),
        (
            |w| {
                let hook = fs::read(w.installed.join("bin/omo-stop"))?;
                let at = hook.windows(11).position(|part| part == b"(omo 0.1.0)").context("no version in omo-stop")?;
                let other = [&hook[..at], b"(omo 0.0.9)", &hook[at + 11..]].concat();
                Ok(fs::write(w.installed.join("bin/omo-stop"), other)?)
            },
            "versions",
            "bad",
            "omo-stop is 0.0.9",
        ),
        (
            |w| Ok(fs::set_permissions(w.installed.join("bin/omo-stop"), fs::Permissions::from_mode(0o644))?),
            "programs",
            "bad",
            "may not be run: omo-stop",
        ),
        (|w| Ok(fs::remove_file(w.installed.join("bin/omo-session-end"))?), "programs", "bad", "omo-session-end"),
        (
            |w| w.write(&w.home(".claude/settings.json"), "{\"disableAllHooks\": true}"),
            "settings",
            "bad",
            "disableAllHooks is true in ",
        ),
        (
            |w| w.write(&w.scene.lab.project().join(".claude/settings.local.json"), "{\"disableAllHooks\": true}"),
            "settings",
            "bad",
            ".claude/settings.local.json",
        ),
        (|w| w.write(&w.home(".claude/settings.json"), "{half"), "settings", "warning", "is not JSON"),
        (
            |w| {
                let command = w.installed.join("bin/omo-stop");
                let hooks = json!({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": command}]}]}});
                w.write(&w.home(".claude/settings.json"), &hooks.to_string())
            },
            "twice",
            "bad",
            "runs hooks of omo (Stop) as well as omo@omo",
        ),
        (
            |w| w.client("2.1.328", &["omo@omo", "omo@fork"].map(|id| w.plugin(id, &w.installed, true))),
            "twice",
            "warning",
            "omo@omo and omo@fork both run hooks of omo",
        ),
        (
            |w| {
                let other = w.plugin("ralph-loop@official", &w.home("none"), true);
                w.client("2.1.328", &[w.plugin("omo@omo", &w.installed, true), other])
            },
            "other-loops",
            "warning",
            "ralph-loop@official is enabled",
        ),
    ];
    play(cases).unwrap();
}

impl Ward {
    /// Changes the version in the installed manifest.
    fn set_version(&self, version: &str) -> Result<()> {
        let file = self.installed.join(".claude-plugin/plugin.json");
        let mut manifest: Value = serde_json::from_slice(&fs::read(&file)?)?;
        manifest["version"] = version.into();
        Ok(fs::write(file, manifest.to_string())?)
    }

    /// Asks git for something in the project.
    fn git(&self, arguments: &[&str]) -> Result<()> {
        let status = self.scene.lab.command("git").args(arguments).status()?;
        ensure!(status.success(), "git {arguments:?}: {status}");
        Ok(())
    }

    fn goal(&self, fields: &Value) -> Result<()> {
        let folder =
            self.scene.lab.project().to_string_lossy().replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let mut note = json!({"type": "goal_status", "met": false, "condition": "the tests pass"});
        note.as_object_mut().context("no object")?.extend(fields.as_object().context("no object")?.clone());
        let line = json!({"type": "attachment", "attachment": note});
        self.write(&self.home(&format!(".claude/projects/{folder}/a-session.jsonl")), &format!("{line}\n"))
    }
}

#[test]
fn what_is_wrong_with_the_surroundings_is_named_right() {
    let cases: &[Case] = &[
        (|w| Ok(w.set("OMO_DISABLE", "1")), "OMO_DISABLE", "bad", "in the environment"),
        (|w| Ok(w.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "0")), "block-cap", "warning", "is `0` in the environment"),
        (|w| Ok(w.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "lots")), "block-cap", "warning", "is `lots`"),
        (
            |w| {
                let env = "{\"env\": {\"CLAUDE_CODE_STOP_HOOK_BLOCK_CAP\": \"3\"}}";
                w.write(&w.scene.lab.project().join(".claude/settings.json"), env)
            },
            "block-cap",
            "warning",
            "is `3` in ",
        ),
        (|w| Ok(w.set("CLAUDE_PROJECT_DIR", "relative")), "project", "warning", "no absolute path"),
        (
            |w| w.scene.lab.write(".claude/ralph-loop.local.md", "x").map(drop),
            "other-loops",
            "bad",
            "a Ralph loop is on",
        ),
        (|w| w.scene.lab.write(".omc/state/x", "x").map(drop), "other-loops", "warning", ".omc/state"),
        (|w| w.goal(&json!({})), "goal", "warning", "/goal is on in session a-session: the tests pass"),
        (
            |w| w.scene.lab.configure("[limits]\nmax_blocks = 900\n"),
            "config",
            "bad",
            "config.toml:2: `limits.max_blocks`",
        ),
        (
            |w| w.scene.lab.write("omo.toml", "[[gate]]\nrun = \"true\"\n").map(drop),
            "omo.toml",
            "warning",
            "not approved",
        ),
        (|w| w.scene.lab.write("omo.toml", "[[gate]]\n").map(drop), "omo.toml", "bad", "omo.toml:1"),
        (
            |w| Ok(fs::set_permissions(w.home(".local/state/omo/key"), fs::Permissions::from_mode(0o644))?),
            "trust",
            "bad",
            "others may read or write",
        ),
        (|w| w.write(&w.home(".local/state/omo/key"), "short"), "trust", "bad", "holds no key"),
        (
            |w| {
                let file = w.home(".local/state/omo/trust.json");
                w.write(&file, "[]")?;
                Ok(fs::set_permissions(file, fs::Permissions::from_mode(0o600))?)
            },
            "trust",
            "bad",
            "trust.json is not as this omo writes it",
        ),
    ];
    play(cases).unwrap();
}

#[test]
fn what_is_wrong_with_the_state_is_named_right() {
    let cases: &[Case] = &[
        (|w| w.scene.write_state(b"garbage"), "state", "bad", "does not parse"),
        (
            |w| Ok(fs::set_permissions(w.scene.lab.state_folder(), fs::Permissions::from_mode(0o755))?),
            "state",
            "warning",
            "others may read or write",
        ),
        (
            |w| w.write(&w.state("runtime.local.json.corrupt-2026"), "x"),
            "state",
            "warning",
            "1 copy of a state that did not parse",
        ),
        (
            |w| {
                let line = format!("{} Stop (omo 0.1.0): the disk is full\n", omo_store::env::now());
                w.write(&w.state("hooks.log"), &line)
            },
            "log",
            "warning",
            "1 error in the last week, the last one: ",
        ),
        (|w| Ok(fs::remove_file(w.state(".gitignore"))?), "git", "warning", "git does not ignore"),
        (|w| w.git(&["add", "-f", ".sisyphus/cc-omo/runtime.local.json"]), "git", "bad", "git tracks 1 file"),
    ];
    play(cases).unwrap();
}

#[test]
fn a_lock_that_is_held_is_named() {
    let Some(built) = plugin() else { return };
    let ward = Ward::new(&built).unwrap();
    let before = ward.findings().unwrap();
    let folder = Folder::open(ward.scene.lab.project()).unwrap().unwrap();
    let held = Lock::take(&folder, Duration::ZERO).unwrap();
    let after = ward.findings().unwrap();
    drop(held);
    let row = after.iter().find(|row| row["name"] == "state").unwrap();
    assert!(row["level"] == "bad" && row["found"].as_str().unwrap().contains("held by another process"), "{row}");
    assert_eq!(others(&before, "state"), others(&after, "state"));
}

/// Several rows are about these: what depends on the missing thing cannot be looked at, and says so.
#[test]
fn what_cannot_be_looked_at_is_said_and_the_rest_is_judged_all_the_same() {
    let Some(built) = plugin() else { return };
    let level = |findings: &[Value], name: &str| {
        let row = findings.iter().find(|row| row["name"] == name);
        row.and_then(|row| row["level"].as_str()).unwrap_or("missing").to_owned()
    };
    type Break = fn(&mut Ward) -> Result<()>;
    let cases: &[(&str, Break, &[(&str, &str)])] = &[
        (
            "no client",
            |w| Ok(fs::remove_file(w.programs().join("claude"))?),
            &[("client", "bad"), ("plugin", "unknown"), ("versions", "unknown"), ("state", "good"), ("git", "good")],
        ),
        (
            "a client that fails",
            |w| Ok(fs::write(w.programs().join("claude"), "#!/bin/sh\necho broken >&2; exit 1\n")?),
            &[("client", "unknown"), ("plugin", "unknown"), ("state", "good")],
        ),
        (
            "not installed",
            |w| w.client("2.1.328", &[]),
            &[("plugin", "bad"), ("versions", "unknown"), ("client", "good")],
        ),
        (
            "disabled",
            |w| w.client("2.1.328", &[w.plugin("omo@omo", &w.installed, false)]),
            &[("plugin", "bad"), ("programs", "unknown"), ("client", "good")],
        ),
        (
            "a link in the place of the state",
            |w| {
                let elsewhere = w.scene.lab.root().join("elsewhere");
                fs::rename(w.scene.lab.state_folder(), &elsewhere)?;
                Ok(symlink(elsewhere, w.scene.lab.state_folder())?)
            },
            &[("state", "bad"), ("git", "good"), ("trust", "good"), ("client", "good")],
        ),
        (
            "no git",
            |w| Ok(w.set("PATH", w.programs().display().to_string())),
            &[("git", "warning"), ("state", "good"), ("plugin", "good")],
        ),
        (
            "a project that is not there",
            |w| Ok(w.set("CLAUDE_PROJECT_DIR", "/not/there")),
            &[("project", "bad"), ("state", "good"), ("client", "good"), ("plugin", "good")],
        ),
        (
            "a file in the place of the project",
            |w| Ok(w.set("CLAUDE_PROJECT_DIR", "/etc/passwd")),
            &[("project", "bad"), ("client", "good")],
        ),
        (
            "a home folder as the project",
            |w| Ok(w.set("CLAUDE_PROJECT_DIR", w.scene.lab.home().display().to_string())),
            &[("project", "warning"), ("client", "good")],
        ),
        (
            "no home",
            |w| Ok(["HOME", "XDG_STATE_HOME", "XDG_CONFIG_HOME"].iter().for_each(|name| w.set(name, ""))),
            &[("client", "good"), ("plugin", "good"), ("state", "good")],
        ),
        (
            "a clone that is not built",
            |w| {
                for (_, binary) in HOOKS {
                    fs::write(w.installed.join("bin").join(binary), "#!/bin/sh\nexit 0\n")?;
                }
                w.write(&w.home(".claude/plugins/data/omo-omo/build.log"), "cargo says\nfailed: no network\n")
            },
            &[("programs", "bad"), ("versions", "good"), ("plugin", "good")],
        ),
    ];
    for (what, break_it, expected) in cases {
        let mut ward = Ward::new(&built).unwrap();
        break_it(&mut ward).unwrap();
        let findings = ward.findings().unwrap_or_else(|error| panic!("{what}: {error:#}"));
        for (name, wanted) in *expected {
            assert_eq!(level(&findings, name), *wanted, "{what}, {name}: {findings:#?}");
        }
        if *what == "a clone that is not built" {
            let told = findings.iter().find(|row| row["name"] == "programs").unwrap()["found"].to_string();
            assert!(told.contains("data/omo-omo/bin/0.1.0") && told.contains("failed: no network"), "{told}");
        }
    }
}

const HOOKS: [(&str, &str); 6] = [
    ("SessionStart", "omo-session-start"),
    ("UserPromptSubmit", "omo-user-prompt-submit"),
    ("Stop", "omo-stop"),
    ("SubagentStop", "omo-subagent-stop"),
    ("StopFailure", "omo-stop-failure"),
    ("SessionEnd", "omo-session-end"),
];

/// A clone whose binaries were built is as good as any.
#[test]
fn a_clone_that_is_built_is_sound() {
    let Some(built) = plugin() else { return };
    let ward = Ward::new(&built).unwrap();
    let data = ward.home(".claude/plugins/data/omo-omo/bin/0.1.0");
    copy(&built.join("bin"), &data).unwrap();
    for (_, binary) in HOOKS {
        fs::write(ward.installed.join("bin").join(binary), "#!/bin/sh\nexit 0\n").unwrap();
    }
    let findings = ward.findings().unwrap();
    assert!(findings.iter().all(|row| row["level"] == "good" || row["name"] == "hooks"), "{findings:#?}");
    fs::remove_file(data.join("omo-stop")).unwrap();
    let findings = ward.findings().unwrap();
    let told = findings.first().unwrap();
    assert!(told["name"] == "programs" && told["found"].as_str().unwrap().contains("omo-stop"), "{told}");
}

#[test]
fn the_table_says_what_the_json_says_and_no_line_is_too_long() {
    let Some(built) = plugin() else { return };
    let mut ward = Ward::new(&built).unwrap();
    ward.set("OMO_DISABLE", "1");
    ward.set("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "2");
    let findings = ward.findings().unwrap();
    let output = ward.omo(&["doctor"]).unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(5));
    assert!(!table.contains('\u{1b}'), "colour in a pipe");
    assert!(table.lines().all(|line| line.chars().count() <= 100), "{table}");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let told = words(&table);
    let mut after = 0;
    for finding in &findings {
        let text = |field: &str| finding[field].as_str().unwrap_or_default().to_owned();
        let mut row = format!("{} {} {}", text("level"), text("name"), words(&text("found")));
        if finding["why"].is_string() {
            row = format!("{row} why: {} mend: {}", words(&text("why")), words(&text("mend")));
        }
        // A path may be broken at any letter.
        let at = told[after..].replace(' ', "").find(&row.replace(' ', ""));
        assert!(at.is_some(), "no {row:?} in order in\n{table}");
        after += told[after..].find(&text("name")).unwrap_or(0);
    }
    assert_eq!(findings.first().unwrap()["level"], "bad", "what is bad comes first");
}

#[test]
fn looking_changes_no_file() {
    let Some(built) = plugin() else { return };
    let fresh = |is_used: bool| {
        let mut ward = Ward::new(&built).unwrap();
        if !is_used {
            fs::remove_dir_all(ward.scene.lab.project().join(".sisyphus")).unwrap();
            fs::remove_dir_all(ward.home(".local")).unwrap();
        }
        ward.scene.lab.write("omo.toml", "[[gate]]\nrun = \"touch ran\"\n").unwrap();
        ward.set("TMPDIR", ward.scene.lab.root().display().to_string());
        ward
    };
    for is_used in [true, false] {
        let ward = fresh(is_used);
        let before = files(ward.scene.lab.root());
        ward.findings().unwrap();
        assert_eq!(before, files(ward.scene.lab.root()));
    }
}

/// Every file below a folder, with what it holds.
fn files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path.clone())
            }
            found.insert(path.clone(), fs::read(path).unwrap_or_default());
        }
    }
    found
}

#[test]
fn outside_of_any_project_it_says_what_there_is() {
    let Some(built) = plugin() else { return };
    let ward = Ward::new(&built).unwrap();
    let outside = ward.scene.lab.root().join("outside");
    fs::create_dir(&outside).unwrap();
    let mut command = ward.scene.lab.command(ward.programs().join("omo"));
    let output = command.args(["doctor"]).envs(&ward.variables).current_dir(&outside).output().unwrap();
    let table = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{table}");
    assert!(table.contains("no session here has used ultrawork yet") && table.contains("no work tree"), "{table}");
}
