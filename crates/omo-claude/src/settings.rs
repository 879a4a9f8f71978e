//! Paths of the client's settings files, and digests of the settings that can alter the input of an
//! agent, such as `hooks` and `env`.

use std::path::{Path, PathBuf};

use omo_core::review::SettingsMark;
use omo_state::files::regular_file::{self, Links};
use omo_state::seal::hex_digest;
use serde_json::Value;

use crate::platform::MANAGED_SETTINGS;

const MAX_BYTES: u64 = 4 * 1024 * 1024;
const KEYS: [&str; 5] = [
    "apiKeyHelper",
    "disableAllHooks",
    "enabledPlugins",
    "env",
    "hooks",
];

/// Owner of a `settings.json`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    User,
    /// In the repository of the project.
    Project,
    /// `settings.local.json`.
    Local,
    Managed,
}

/// Paths of `settings.json` files, existing or not.
pub fn settings_paths(client_home: Option<&Path>, root: Option<&Path>) -> Vec<(Scope, PathBuf)> {
    let mut places: Vec<(Scope, PathBuf)> = Vec::new();
    places.extend(client_home.map(|home| (Scope::User, home.join("settings.json"))));
    let project = root.map(|root| root.join(".claude"));
    // In a home folder both are the same file.
    let project = project.filter(|project| client_home != Some(project.as_path()));
    for (scope, name) in [
        (Scope::Project, "settings.json"),
        (Scope::Local, "settings.local.json"),
    ] {
        places.extend(project.as_ref().map(|project| (scope, project.join(name))));
    }
    places.extend(
        managed_settings_paths()
            .into_iter()
            .map(|file| (Scope::Managed, file)),
    );
    places
}

fn managed_settings_paths() -> Vec<PathBuf> {
    let folder = Path::new(MANAGED_SETTINGS);
    let parts = std::fs::read_dir(folder.join("managed-settings.d"))
        .into_iter()
        .flatten()
        .flatten();
    let mut parts: Vec<PathBuf> = parts
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .collect();
    parts.sort();
    parts.insert(0, folder.join("managed-settings.json"));
    parts
}

/// Digests of the settings that can alter a reviewer's input, and the hooks among them.
#[derive(Debug, Default)]
pub struct ReviewerSettings {
    pub marks: Vec<SettingsMark>,
    hooks: Vec<Value>,
}

impl ReviewerSettings {
    pub fn read(client_home: Option<&Path>, root: Option<&Path>) -> Self {
        let mut settings = Self::default();
        for (_, path) in settings_paths(client_home, root) {
            match regular_file::read(&path, MAX_BYTES, Links::Followed) {
                Ok(None) => {}
                Ok(Some(bytes)) => settings.add(&path, &bytes),
                Err(why) => settings.mark(&path, "", &why),
            }
        }
        settings
    }

    fn add(&mut self, path: &Path, bytes: &[u8]) {
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        match serde_json::from_slice::<Value>(text) {
            Ok(Value::Object(mut fields)) => {
                for key in KEYS {
                    if let Some(value) = fields.remove(key) {
                        self.mark(path, key, &value.to_string());
                        self.hooks.extend((key == "hooks").then_some(value));
                    }
                }
            }
            _ => self.mark(path, "", &String::from_utf8_lossy(bytes)),
        }
    }

    fn mark(&mut self, path: &Path, key: &str, content: &str) {
        let digest = hex_digest(content.as_bytes());
        self.marks.push(SettingsMark {
            path: path.display().to_string(),
            key: key.to_owned(),
            digest,
        });
    }

    /// `true` where a settings file has a hook with this `command`.
    pub fn names_hook(&self, command: &str) -> bool {
        self.hooks.iter().any(|hooks| has_text(hooks, command))
    }
}

fn has_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(own) => own == text,
        Value::Array(parts) => parts.iter().any(|part| has_text(part, text)),
        Value::Object(fields) => fields.values().any(|part| has_text(part, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_bears_on_an_agent_is_marked_and_nothing_else() {
        let temp = tempfile::tempdir().unwrap();
        let (home, root) = (temp.path().join("home"), temp.path().join("project"));
        let read = || {
            let mut settings = ReviewerSettings::read(Some(&home), Some(&root));
            settings
                .marks
                .retain(|mark| mark.path.starts_with(&*temp.path().to_string_lossy()));
            settings
        };
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(root.join(".claude")).unwrap();
        assert_eq!(read().marks, []);
        let user = home.join("settings.json");
        let local = root.join(".claude/settings.local.json");
        fs::write(
            &user,
            r#"{"model": "x", "env": {"ANTHROPIC_BASE_URL": "http://a"}}"#,
        )
        .unwrap();
        fs::write(
            &local,
            r#"{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "say"}]}]}}"#,
        )
        .unwrap();
        let first = read();
        let keys: Vec<&str> = first.marks.iter().map(|mark| mark.key.as_str()).collect();
        assert_eq!(keys, ["env", "hooks"]);
        assert!(first.names_hook("say") && !first.names_hook("sa") && !first.names_hook("hooks"));
        fs::write(
            &user,
            r#"{"env": {"ANTHROPIC_BASE_URL": "http://a"}, "model": "y"}"#,
        )
        .unwrap();
        assert_eq!(read().marks, first.marks, "another model, another order");
        fs::write(&user, r#"{"env": {"ANTHROPIC_BASE_URL": "http://b"}}"#).unwrap();
        assert_ne!(read().marks, first.marks);
        fs::write(&local, "{").unwrap();
        assert_eq!(read().marks.last().unwrap().key, "");
    }
}
