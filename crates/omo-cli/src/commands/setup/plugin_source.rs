//! `own_plugin`: the plugin folder that the running `omo` belongs to, and its version.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use crate::error::CommandError;
use crate::process_paths::own_program;

const ROOT: &str = "${CLAUDE_PLUGIN_ROOT}/";

#[derive(Debug, PartialEq, Eq)]
pub(super) struct PluginSource {
    pub folder: PathBuf,
    pub version: String,
}

#[derive(Deserialize)]
struct Manifest {
    name: String,
    version: String,
}

/// The plugin whose `bin/` holds the running program.
pub(super) fn own_plugin() -> Result<PluginSource, CommandError> {
    let program = own_program()?;
    let folder = program
        .parent()
        .filter(|bin| bin.ends_with("bin"))
        .and_then(Path::parent);
    let found = folder
        .ok_or_else(|| "it is not in the `bin` of one".to_owned())
        .and_then(plugin_at);
    found.map_err(|why| {
        let message = format!("{} is not part of a plugin that can be set up: {why}", program.display());
        CommandError::precondition(
            message,
            "in a checkout `cargo xtask install` builds a whole one and sets it up; an unpacked archive has one too: run its `bin/omo setup`",
        )
    })
}

fn plugin_at(folder: &Path) -> Result<PluginSource, String> {
    let Manifest { name, version } = read_json(&folder.join(".claude-plugin").join("plugin.json"))?;
    if name != "omo" {
        return Err(format!(
            "its manifest names the plugin `{}`",
            omo_core::text::sanitize(&name, 60)
        ));
    }
    let _: Value = read_json(&folder.join(".claude-plugin").join("marketplace.json"))?;
    let hooks: Value = read_json(&folder.join("hooks.json"))?;
    let mut commands = Vec::new();
    collect_commands(&hooks, &mut commands);
    for command in commands {
        let part = command
            .strip_prefix(ROOT)
            .ok_or_else(|| format!("hooks.json runs `{command}`"))?;
        let binary = folder.join(part);
        if !binary.is_file()
            && !binary
                .with_extension(std::env::consts::EXE_EXTENSION)
                .is_file()
        {
            return Err(format!("{} is missing", binary.display()));
        }
    }
    Ok(PluginSource {
        folder: folder.to_owned(),
        version,
    })
}

pub(super) fn version_at(folder: &Path) -> Option<String> {
    let manifest: Manifest = read_json(&folder.join(".claude-plugin").join("plugin.json")).ok()?;
    Some(manifest.version)
}

fn read_json<Content: serde::de::DeserializeOwned>(path: &Path) -> Result<Content, String> {
    let bytes = fs::read(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => format!("{} is missing", path.display()),
        _ => format!("{} cannot be read: {error}", path.display()),
    })?;
    serde_json::from_slice(&bytes).map_err(|error| format!("{} is broken: {error}", path.display()))
}

/// Every `command` in `hooks.json`, at any depth.
fn collect_commands(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(fields) => {
            found.extend(
                fields
                    .get("command")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            );
            fields
                .values()
                .for_each(|value| collect_commands(value, found));
        }
        Value::Array(values) => values
            .iter()
            .for_each(|value| collect_commands(value, found)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plugin_is_whole_or_it_is_said_what_it_lacks() {
        let temp = tempfile::tempdir().unwrap();
        let folder = temp.path();
        let lacks = |what: &str| {
            let why = plugin_at(folder).unwrap_err();
            assert!(why.contains(what), "{why}");
        };
        lacks("plugin.json is missing");
        fs::create_dir_all(folder.join(".claude-plugin")).unwrap();
        fs::create_dir_all(folder.join("bin")).unwrap();
        let write = |path: &str, text: &str| fs::write(folder.join(path), text).unwrap();
        write(".claude-plugin/plugin.json", "{\"name\":\"omo\"}");
        lacks("plugin.json is broken: missing field `version`");
        write(
            ".claude-plugin/plugin.json",
            "{\"name\":\"other\",\"version\":\"1.0.0\"}",
        );
        lacks("its manifest names the plugin `other`");
        write(
            ".claude-plugin/plugin.json",
            "{\"name\":\"omo\",\"version\":\"1.0.0\"}",
        );
        lacks("marketplace.json is missing");
        write(".claude-plugin/marketplace.json", "{}");
        lacks("hooks.json is missing");
        write(
            "hooks.json",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"/bin/sh\"}]}]}}",
        );
        lacks("hooks.json runs `/bin/sh`");
        write(
            "hooks.json",
            "{\"hooks\":{\"Stop\":[{\"hooks\":[{\"command\":\"${CLAUDE_PLUGIN_ROOT}/bin/omo-stop\"}]}]}}",
        );
        lacks("omo-stop is missing");
        write("bin/omo-stop", "");
        assert_eq!(
            plugin_at(folder),
            Ok(PluginSource {
                folder: folder.to_owned(),
                version: "1.0.0".to_owned()
            })
        );
        assert_eq!(version_at(folder).as_deref(), Some("1.0.0"));
    }
}
