//! `omo doctor` with the real client: what it lists of an installation, and how often a session of it
//! runs each hook.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Output;

use omo_testkit::{Client, Lab, MockModel, ModelScript};
use omo_tests::scene::copy;
use serde_json::{Value, json};

use crate::client_lab::{client, plugin};

const EVENTS: [&str; 4] = ["SessionStart", "UserPromptSubmit", "SubagentStop", "Stop"];

/// A user with the client on PATH, who installed the plugin from a marketplace in a folder.
struct User {
    client: Client,
    lab: Lab,
    model: MockModel,
    /// For temporary files: it has to be empty in the end.
    temporary: PathBuf,
}

fn user() -> User {
    let client = client();
    let model = MockModel::start(ModelScript::new().say("Not yet.")).unwrap();
    let lab = Lab::builder().model(&model).build().unwrap();
    let temporary = lab.root().join("temporary");
    fs::create_dir_all(&temporary).unwrap();
    fs::create_dir_all(lab.root().join("programs")).unwrap();
    symlink(client.program(), lab.root().join("programs/claude")).unwrap();
    let user = User {
        client,
        lab,
        model,
        temporary,
    };
    copy(&plugin(), &user.folder("installed")).unwrap();
    user.claude(&[
        "plugin",
        "marketplace",
        "add",
        &user.folder("installed").to_string_lossy(),
    ]);
    user.claude(&["plugin", "install", "omo@omo"]);
    user
}

impl User {
    fn folder(&self, name: &str) -> PathBuf {
        self.lab.root().join(name)
    }

    fn claude(&self, arguments: &[&str]) {
        let run = self.client.run(&self.lab, arguments).unwrap();
        assert!(run.status.success(), "{arguments:?}: {run:?}");
    }

    fn doctor(&self, arguments: &[&str]) -> Output {
        let mut command = self.lab.command(plugin().join("bin/omo"));
        let path = format!("{}:/usr/bin:/bin", self.folder("programs").display());
        command
            .env("PATH", path)
            .env("TMPDIR", &self.temporary)
            .arg("doctor")
            .args(arguments);
        command.output().unwrap()
    }

    /// The rows, by the names of the checks.
    fn rows(&self, arguments: &[&str]) -> BTreeMap<String, Value> {
        let output = self.doctor(&[arguments, &["--json"]].concat());
        let report: Value = serde_json::from_slice(&output.stdout)
            .unwrap_or_else(|error| panic!("{error}: {output:?}"));
        let checks = report["checks"].as_array().unwrap();
        checks
            .iter()
            .map(|row| (row["name"].as_str().unwrap().to_owned(), row.clone()))
            .collect()
    }

    /// The row about the hooks, after a session; nothing of that is left.
    fn hooks(&self) -> (String, String) {
        let before = self.everything();
        let rows = self.rows(&["--live"]);
        assert_eq!(
            fs::read_dir(&self.temporary).unwrap().count(),
            0,
            "something is left"
        );
        let after = self.everything();
        let changed: Vec<_> = after
            .iter()
            .filter(|file| !before.contains(file))
            .map(|(path, _)| path)
            .collect();
        assert!(
            changed.is_empty() && before.len() == after.len(),
            "something was changed: {changed:?}"
        );
        let text = |field: &str| rows["hooks"][field].as_str().unwrap_or_default().to_owned();
        (text("level"), text("found"))
    }

    /// The names of the user's files, and what the client's settings and the project hold. The client
    /// keeps its own notes about its plugins wherever it is started.
    fn everything(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.lab.home().to_owned(), self.lab.project().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let is_kept =
                    path.starts_with(self.lab.project()) || path.ends_with("settings.json");
                let text = if is_kept {
                    fs::read(&path).unwrap_or_default()
                } else {
                    Vec::new()
                };
                found.push((path.clone(), text));
                if path.is_dir() {
                    folders.push(path);
                }
            }
        }
        found.sort();
        found
    }

    fn settings(&self, change: impl FnOnce(&mut Value)) {
        let file = self.lab.home().join(".claude/settings.json");
        let mut settings: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
        change(&mut settings);
        fs::write(file, settings.to_string()).unwrap();
    }
}

#[test]
fn what_was_installed_as_usual_is_sound_and_each_hook_is_seen_once() {
    let user = user();
    let rows = user.rows(&[]);
    for (name, row) in &rows {
        let expected = if name == "hooks" { "unknown" } else { "good" };
        assert_eq!(row["level"], expected, "{row:#}");
    }
    let reported = rows["plugin"]["found"].as_str().unwrap();
    assert!(
        reported.contains("omo@omo, scope user") && reported.ends_with("/installed"),
        "{reported}"
    );
    let (level, found) = user.hooks();
    assert!(
        level == "good" && found.starts_with("each ran once"),
        "{found}"
    );
    assert!(
        !found.contains("SessionEnd"),
        "the end of the session was not seen: {found}"
    );
    assert!(
        user.model.requests().is_empty(),
        "the user's own model was asked"
    );
}

#[test]
fn a_hook_that_settings_name_as_well_is_seen_twice_and_none_where_they_turn_hooks_off() {
    let user = user();
    let command = user.folder("installed/bin/omo-stop");
    user.settings(|settings| {
        settings["hooks"] = json!({"Stop": [{"hooks": [{"type": "command", "command": command}]}]});
        // What the session must not be given: it would not reach the model, or start something.
        settings["env"] =
            json!({"ANTHROPIC_BASE_URL": "http://127.0.0.1:9", "CLAUDE_CODE_USE_BEDROCK": "1"});
        settings["apiKeyHelper"] = json!("touch ran; false");
    });
    let (level, found) = user.hooks();
    assert!(
        level == "bad" && found.contains("ran more than once: Stop (") && found.contains("Stop 2"),
        "{found}"
    );
    assert_eq!(user.rows(&[])["twice"]["level"], "bad");
    user.lab
        .write(".claude/settings.json", "{\"disableAllHooks\": true}")
        .unwrap();
    let (level, found) = user.hooks();
    let events = EVENTS.map(|event| format!("{event} 0"));
    assert!(
        level == "bad" && events.iter().all(|event| found.contains(event)),
        "{found}"
    );
}

#[test]
fn a_plugin_that_is_disabled_or_gone_is_named() {
    let user = user();
    user.claude(&["plugin", "disable", "omo@omo"]);
    let row = &user.rows(&[])["plugin"];
    assert!(
        row["level"] == "bad" && row["fix"] == "claude plugin enable omo@omo",
        "{row}"
    );
    user.claude(&["plugin", "uninstall", "omo@omo"]);
    // This `omo` is part of a plugin, which a session may be given by its folder.
    let row = &user.rows(&[])["plugin"];
    assert!(
        row["level"] == "warning" && row["found"].as_str().unwrap().starts_with("not installed"),
        "{row}"
    );
    let (level, found) = user.hooks();
    assert!(
        level == "good" && found.starts_with("each ran once"),
        "{found}"
    );
}

#[test]
fn a_goal_of_the_client_is_seen_where_it_is_on() {
    let user = user();
    let run = user
        .client
        .print(&user.lab, "/goal the tests pass", &[])
        .unwrap();
    let session = run.session_id().unwrap().to_owned();
    let row = &user.rows(&[])["goal"];
    let reported = row["found"].as_str().unwrap();
    assert!(
        row["level"] == "warning"
            && reported == format!("/goal is on in session {session}: the tests pass"),
        "{row}"
    );
    let cleared = user
        .client
        .print(&user.lab, "/goal clear", &["--resume", &session])
        .unwrap();
    let row = &user.rows(&[])["goal"];
    assert_eq!(row["level"], "good", "{row} after {cleared:?}");
}
