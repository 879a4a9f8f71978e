//! Facts about the client, its plugins, and the hook programs that they run.

use std::path::{Path, PathBuf};

use omo_claude::client::{ClaudeClient, ClaudeError, InstalledPlugin};
use omo_core::text::sanitize;
use omo_process::platform::is_executable;
use omo_process::process_identity;
use omo_state::search_path::{SearchPath, leads_into};
use serde_json::Value;

use super::super::facts::{
    Client, Hook, HookPlugin, PluginBinaries, Program, ProgramKind, omo_hooks, plugin_name,
};
use super::files;
use crate::json_file::read_json;
use crate::platform;

const LIMIT: std::time::Duration = std::time::Duration::from_secs(20);
const MAX_PROGRAM: u64 = 64 * 1024 * 1024;
const LOG_TAIL: u64 = 8 * 1024;
const OWN_FOLDER: &str = "${CLAUDE_PLUGIN_ROOT}";

/// Folders of `PATH` outside of the project, whose programs are not started. A home folder may hold the client, though.
pub(crate) fn safe_search_path(folder: Option<&Path>, home: Option<&Path>) -> SearchPath {
    let project = folder.filter(|folder| !home.is_some_and(|home| home.starts_with(folder)));
    SearchPath::from_process().filtered(|folder| {
        project.is_none_or(|project| {
            !leads_into(folder, project) && !leads_into(&folder.join("claude"), project)
        })
    })
}

pub(super) fn find_client(
    folder: Option<&Path>,
    home: Option<&Path>,
) -> Result<ClaudeClient, ClaudeError> {
    let search = safe_search_path(folder, home);
    let folder = folder
        .filter(|folder| folder.is_dir())
        .map_or_else(std::env::temp_dir, Path::to_owned);
    Ok(ClaudeClient::find(&search, &folder)?.with_limit(LIMIT))
}

pub(super) fn gather_client(
    root: Option<&Path>,
    home: Option<&Path>,
) -> (Client, Result<Vec<InstalledPlugin>, String>) {
    let claude = match find_client(root, home) {
        Ok(claude) => claude,
        Err(error) => {
            return (
                Client::Missing,
                Err(format!("could not be checked: {error}")),
            );
        }
    };
    match claude.version() {
        Ok(version) => {
            let plugins = claude.plugins().map_err(|error| error.to_string());
            (
                Client::Found {
                    program: claude.program().to_owned(),
                    version,
                },
                plugins,
            )
        }
        // A client without a version is not asked again.
        Err(error) => (
            Client::Failed(error.to_string()),
            Err(format!("could not be checked: {error}")),
        ),
    }
}

pub(super) fn hook_plugins(
    plugins: &[InstalledPlugin],
    plugin_home: Option<&Path>,
) -> Vec<HookPlugin> {
    let enabled = plugins.iter().filter(|plugin| plugin.enabled);
    let mut carriers: Vec<HookPlugin> = enabled
        .filter_map(|plugin| hook_plugin(plugin, plugin_home))
        .collect();
    carriers.sort_by_key(|carrier| plugin_name(&carrier.id) != "omo");
    carriers
}

fn hook_plugin(plugin: &InstalledPlugin, plugin_home: Option<&Path>) -> Option<HookPlugin> {
    let folder = plugin
        .read_from_folder
        .clone()
        .or_else(|| plugin.install_path.clone())?;
    let manifest = read_json(&folder.join(".claude-plugin/plugin.json"))?.ok()?;
    let hooks = hooks(&folder, &manifest);
    if hooks.is_empty() {
        return None;
    }
    let named = hooks.iter().map(|hook| program_of(&hook.command, &folder));
    let programs: Vec<Program> = named
        .chain([folder.join("bin").join("omo")])
        .map(program_file)
        .collect();
    let version = manifest
        .get("version")
        .and_then(Value::as_str)
        .map(|version| sanitize(version, 40));
    let has_launchers = programs
        .iter()
        .any(|program| program.kind == ProgramKind::Launcher);
    let built = plugin_home
        .filter(|_| has_launchers)
        .and_then(|home| built_binaries(&folder, home, &plugin.id, version.as_deref()?));
    Some(HookPlugin {
        id: sanitize(&plugin.id, 100),
        folder,
        version,
        hooks,
        programs,
        built,
    })
}

/// Hooks of omo in a manifest, in the file that it names, or in the usual one.
fn hooks(folder: &Path, manifest: &Value) -> Vec<Hook> {
    let file = match manifest.get("hooks") {
        Some(Value::String(name)) => name.trim_start_matches("./"),
        Some(inline @ Value::Object(_)) => return omo_hooks(inline.get("hooks").unwrap_or(inline)),
        _ => "hooks/hooks.json",
    };
    let read = read_json(&folder.join(file)).and_then(Result::ok);
    read.as_ref()
        .and_then(|file| file.get("hooks"))
        .map(omo_hooks)
        .unwrap_or_default()
}

fn program_of(command: &str, folder: &Path) -> PathBuf {
    PathBuf::from(
        command
            .trim_matches('"')
            .replace(OWN_FOLDER, &folder.to_string_lossy()),
    )
}

fn built_binaries(
    plugin: &Path,
    plugin_home: &Path,
    id: &str,
    version: &str,
) -> Option<PluginBinaries> {
    if !version.chars().all(is_plain_char) {
        return None;
    }
    let name: String = id
        .chars()
        .map(|char| {
            if is_plain_char(char) && char != '.' {
                char
            } else {
                '-'
            }
        })
        .collect();
    let data = plugin_home.join("data").join(name);
    let is_package = !plugin.join("Cargo.toml").is_file();
    let package = plugin
        .join("node_modules")
        .join("@omo-cc")
        .join(npm_platform())
        .join("bin");
    let folder = if is_package {
        package
    } else {
        data.join("bin").join(version)
    };
    let programs = ["omo-hook", "omo"]
        .map(|name| program_file(folder.join(name)))
        .into();
    let log = files::read_tail(&data.join("build.log"), LOG_TAIL);
    let last_line = log.and_then(|log| {
        let text = String::from_utf8_lossy(&log).into_owned();
        // Cargo draws its progress bars over one another.
        text.split(['\n', '\r'])
            .rfind(|line| !line.trim().is_empty())
            .map(|line| sanitize(line.trim(), 200))
    });
    let is_being_built = is_being_built(&data);
    Some(PluginBinaries {
        folder,
        is_package,
        data,
        is_being_built,
        programs,
        last_line,
    })
}

fn is_plain_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || "-_.".contains(char)
}

fn is_being_built(data: &Path) -> bool {
    let builder = std::fs::read_link(data.join("build.lock")).ok();
    let pid = builder.and_then(|pid| pid.to_str()?.parse().ok());
    pid.and_then(process_identity::is_alive) == Some(true)
}

fn npm_platform() -> String {
    let system = if std::env::consts::OS == "macos" {
        "darwin"
    } else {
        std::env::consts::OS
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => other,
    };
    format!("{system}-{processor}")
}

fn program_file(path: PathBuf) -> Program {
    let path = platform::file_of_program(path);
    if !path.is_file() {
        return Program {
            path,
            kind: ProgramKind::Missing,
            version: None,
        };
    }
    if !is_executable(&path) {
        return Program {
            path,
            kind: ProgramKind::NotExecutable,
            version: None,
        };
    }
    let bytes = files::read_tail(&path, MAX_PROGRAM).unwrap_or_default();
    if bytes.starts_with(b"#!") {
        return Program {
            path,
            kind: ProgramKind::Launcher,
            version: None,
        };
    }
    Program {
        path,
        kind: ProgramKind::Binary,
        version: version_in(&bytes),
    }
}

/// The version in a hook binary, from its text for `hooks.log`: `(omo 0.1.0)`.
fn version_in(program: &[u8]) -> Option<String> {
    let mut parts = program
        .split(|byte| *byte == b'(')
        .filter_map(|part| part.strip_prefix(b"omo "));
    parts.find_map(|part| {
        let end = part.iter().take(40).position(|byte| *byte == b')')?;
        let version = std::str::from_utf8(part.get(..end)?).ok()?;
        let is_version =
            version.starts_with(|char: char| char.is_ascii_digit()) && version.contains('.');
        is_version.then(|| version.to_owned())
    })
}

pub(super) fn own_plugin() -> Option<PathBuf> {
    let program = std::env::current_exe().ok()?.canonicalize().ok()?;
    let folder = program.parent()?.parent()?;
    let manifest = read_json(&folder.join(".claude-plugin/plugin.json"))?.ok()?;
    (manifest.get("name")? == "omo").then(|| folder.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_where_a_hook_would_write_it() {
        for (bytes, expected) in [
            (&b"\0 (omo 0.1.0): \0"[..], Some("0.1.0")),
            (b"(omo is)(omo x.y) (omo 1.2.3-rc.1): ", Some("1.2.3-rc.1")),
            (b"omo 0.1.0", None),
            (b"(omo 0.1.0", None),
        ] {
            assert_eq!(version_in(bytes).as_deref(), expected);
        }
    }
}
