//! `Sandbox`: temporary folders, arguments and environment of a trial session of the client.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Map, Value, json};
use tempfile::TempDir;

use super::super::facts::{Facts, Scope, Settings};
use super::super::gather::Surroundings;
use super::super::gather::installation::safe_search_path;
use crate::platform;

const KEY: &str = "omo-doctor-has-no-key";
const LOG: &str = "client.log";

pub(super) struct Sandbox {
    temp: TempDir,
    pub project: PathBuf,
    plugin_folder: Option<PathBuf>,
    path: OsString,
}

impl Sandbox {
    /// Copies from each settings file only the entries about hooks of omo: others might start a program.
    pub(super) fn build(facts: &Facts, surroundings: &Surroundings) -> Result<Self, String> {
        let is_installed = !facts.hook_plugins.is_empty();
        // A plugin given to the client with `--plugin-dir`.
        let plugin_folder = facts.own_plugin.clone().filter(|_| !is_installed);
        if !is_installed && plugin_folder.is_none() {
            return Err("no plugin with hooks of omo is installed".to_owned());
        }
        Self::make_folders(plugin_folder, facts, surroundings)
            .map_err(|error| format!("make a temporary folder: {error}"))
    }

    fn make_folders(
        plugin_folder: Option<PathBuf>,
        facts: &Facts,
        surroundings: &Surroundings,
    ) -> std::io::Result<Self> {
        let temp = tempfile::Builder::new().prefix("omo-doctor-").tempdir()?;
        let project = temp.path().join("project");
        let path = safe_search_path(facts.project.root.as_deref(), surroundings.home.as_deref())
            .joined()
            .unwrap_or_default();
        let sandbox = Self {
            temp,
            project,
            plugin_folder,
            path,
        };
        fs::create_dir_all(sandbox.project.join(".claude"))?;
        fs::create_dir_all(sandbox.client_home())?;
        fs::create_dir_all(sandbox.temporary())?;
        let carriers: Vec<&str> = facts
            .hook_plugins
            .iter()
            .map(|carrier| carrier.id.as_str())
            .collect();
        for settings in &facts.settings {
            let file = match settings.scope {
                Scope::User => sandbox.client_home().join("settings.json"),
                Scope::Project => sandbox.project.join(".claude").join("settings.json"),
                Scope::Local => sandbox.project.join(".claude").join("settings.local.json"),
                Scope::Managed => continue,
            };
            fs::write(file, kept_settings(settings, &carriers).to_string())?;
        }
        if let Some(plugin_home) = &surroundings.plugin_home {
            sandbox.take_over(plugin_home, facts)?;
        }
        Ok(sandbox)
    }

    /// Copies the client's list of plugins, and the place of a clone's built binaries. The plugins are read in place.
    fn take_over(&self, plugin_home: &Path, facts: &Facts) -> std::io::Result<()> {
        let plugins = self.client_home().join("plugins");
        fs::create_dir_all(plugins.join("data"))?;
        for name in ["installed_plugins.json", "known_marketplaces.json"] {
            match fs::copy(plugin_home.join(name), plugins.join(name)) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
                _ => {}
            }
        }
        for built in facts
            .hook_plugins
            .iter()
            .filter_map(|carrier| carrier.built.as_ref())
        {
            if let Some(name) = built.data.file_name().filter(|_| built.data.is_dir()) {
                platform::link(&built.data, &plugins.join("data").join(name))?;
            }
        }
        Ok(())
    }

    fn client_home(&self) -> PathBuf {
        self.temp.path().join("client")
    }

    fn temporary(&self) -> PathBuf {
        self.temp.path().join("temporary")
    }

    pub(super) fn log(&self) -> String {
        fs::read_to_string(self.temp.path().join(LOG)).unwrap_or_default()
    }

    pub(super) fn arguments(&self) -> Vec<OsString> {
        let options = [
            "-p",
            "--output-format",
            "stream-json",
            "--verbose",
            "--include-hook-events",
            "--no-session-persistence",
            "--strict-mcp-config",
            "--debug-file",
        ];
        let mut arguments: Vec<OsString> = options.map(OsString::from).into();
        arguments.push(self.temp.path().join(LOG).into());
        if let Some(folder) = &self.plugin_folder {
            arguments.extend([OsString::from("--plugin-dir"), folder.into()]);
        }
        arguments.extend(["--", "hello"].map(OsString::from));
        arguments
    }

    pub(super) fn variables(&self, model: &str) -> Vec<(OsString, OsString)> {
        let inherited = omo_state::env::variables()
            .into_iter()
            .filter(|(name, _)| is_variable_kept(&name.to_string_lossy()));
        let added = [
            ("PATH", self.path.clone()),
            ("ANTHROPIC_BASE_URL", OsString::from(model)),
            ("ANTHROPIC_API_KEY", KEY.into()),
            ("CLAUDE_CONFIG_DIR", self.client_home().into()),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1".into()),
            ("CLAUDE_CODE_MAX_RETRIES", "0".into()),
            ("DISABLE_AUTOUPDATER", "1".into()),
            ("DISABLE_TELEMETRY", "1".into()),
            ("DISABLE_ERROR_REPORTING", "1".into()),
            ("NO_PROXY", "127.0.0.1".into()),
        ];
        let temporary =
            ["TMPDIR", "TMP", "TEMP"].map(|name| (OsString::from(name), self.temporary().into()));
        inherited
            .chain(added.map(|(name, value)| (name.into(), value)))
            .chain(temporary)
            .collect()
    }
}

fn is_variable_kept(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let of_others = [
        "ANTHROPIC",
        "CLAUDE",
        "OMO_",
        "AWS_",
        "GOOGLE_",
        "AZURE_",
        "NODE_",
        "BUN_",
        "OTEL_",
    ];
    !of_others.iter().any(|prefix| name.starts_with(prefix)) && !name.ends_with("_PROXY")
}

/// The part of a settings file for the trial. A command of a repository does not run here.
fn kept_settings(settings: &Settings, carriers: &[&str]) -> Value {
    let mut kept = Map::new();
    if let Some(value) = settings.get("/disableAllHooks") {
        kept.insert("disableAllHooks".to_owned(), value.clone());
    }
    let enabled = settings
        .get("/enabledPlugins")
        .and_then(Value::as_object)
        .into_iter()
        .flatten();
    let enabled = enabled.filter(|(id, _)| carriers.contains(&id.as_str()));
    kept.insert(
        "enabledPlugins".to_owned(),
        enabled
            .map(|(id, value)| (id.clone(), value.clone()))
            .collect(),
    );
    if settings.scope == Scope::User {
        if let Some(places) = settings.get("/extraKnownMarketplaces") {
            kept.insert("extraKnownMarketplaces".to_owned(), places.clone());
        }
        let mut hooks = Map::new();
        for hook in settings.hooks() {
            let group = json!({"hooks": [{"type": "command", "command": hook.command}]});
            if let Some(groups) = hooks
                .entry(hook.event)
                .or_insert_with(|| json!([]))
                .as_array_mut()
            {
                groups.push(group);
            }
        }
        kept.insert("hooks".to_owned(), Value::Object(hooks));
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings(scope: Scope) -> Settings {
        let hook = |command: &str| json!([{"matcher": "x", "hooks": [{"type": "command", "command": command}]}]);
        let value = json!({
            "env": {"ANTHROPIC_BASE_URL": "http://elsewhere"}, "apiKeyHelper": "./evil", "disableAllHooks": false,
            "enabledPlugins": {"omo@omo": true, "other@x": true}, "statusLine": {"command": "./evil"},
            "hooks": {"Stop": hook("/p/bin/omo-stop"), "SessionStart": hook("./evil")},
        });
        Settings {
            scope,
            file: PathBuf::from("settings.json"),
            value: Ok(value),
        }
    }

    #[test]
    fn only_what_decides_about_hooks_of_omo_is_taken_over() {
        let of_project = json!({"disableAllHooks": false, "enabledPlugins": {"omo@omo": true}});
        for scope in [Scope::Project, Scope::Local] {
            assert_eq!(kept_settings(&settings(scope), &["omo@omo"]), of_project);
        }
        let mut of_user = of_project;
        of_user["hooks"] =
            json!({"Stop": [{"hooks": [{"type": "command", "command": "/p/bin/omo-stop"}]}]});
        assert_eq!(kept_settings(&settings(Scope::User), &["omo@omo"]), of_user);
    }

    #[test]
    fn nothing_that_points_elsewhere_is_inherited() {
        for name in [
            "ANTHROPIC_API_KEY",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDECODE",
            "OMO_DISABLE",
            "https_proxy",
            "NO_PROXY",
            "AWS_PROFILE",
        ] {
            assert!(!is_variable_kept(name), "{name}");
        }
        for name in ["PATH", "HOME", "LANG", "TMPDIR", "IS_SANDBOX"] {
            assert!(is_variable_kept(name), "{name}");
        }
    }
}
