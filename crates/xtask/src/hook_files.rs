//! Files of the repository that the client starts at events: `hooks.json`, and the launchers of a clone.
//!
//! All of it follows from the table of events, and `cargo xtask guide` writes it.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use omo_core::events::{EVENTS, EventRow};

use crate::cargo;

const HOOKS: &str = "hooks.json";
/// Text of every launcher: its own name decides about the program.
const LAUNCHER: &str = "\
#!/bin/sh
# Runs the hook of its own name, once it is there: scripts/launch.sh says how. Until then every session is let be.
launch=${0%/*}/../scripts/launch.sh
[ -r \"$launch\" ] && . \"$launch\"
exit 0
";

/// Rewrites files that differ from the table of events.
pub(crate) fn run() -> Result<()> {
    let top = cargo::top()?;
    write(&top, HOOKS, &hooks_json())?;
    for row in &EVENTS {
        let name = format!("bin/{}", row.program);
        write(&top, &name, LAUNCHER)?;
        make_executable(&top.join(name))?;
    }
    Ok(())
}

fn write(top: &Path, name: &str, text: &str) -> Result<()> {
    let path = top.join(name);
    if fs::read_to_string(&path).is_ok_and(|known| known == text) {
        return Ok(());
    }
    fs::write(&path, text).with_context(|| format!("write {}", path.display()))?;
    anstream::println!("written: {name}");
    Ok(())
}

#[cfg(unix)]
fn make_executable(path: &Path) -> Result<()> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    fs::set_permissions(path, mode).with_context(|| format!("set the mode of {}", path.display()))
}

#[cfg(not(unix))]
fn make_executable(_path: &Path) -> Result<()> {
    Ok(())
}

/// `hooks.json`, in the order of the table.
fn hooks_json() -> String {
    let events = EVENTS.map(|row| event_json(&row)).join(",\n");
    format!(
        "{{\n  \"description\": \"omo: one small binary for each event\",\n  \"hooks\": {{\n{events}\n  }}\n}}\n"
    )
}

fn event_json(row: &EventRow) -> String {
    let mut fields = vec![
        "\"type\": \"command\"".to_owned(),
        format!(
            "\"command\": \"${{CLAUDE_PLUGIN_ROOT}}/bin/{}\"",
            row.program
        ),
        "\"args\": []".to_owned(),
        format!("\"timeout\": {}", row.timeout_seconds),
    ];
    fields.extend(
        row.status_message
            .map(|message| format!("\"statusMessage\": {}", serde_json::json!(message))),
    );
    let fields = fields.join(",\n            ");
    format!(
        "    \"{}\": [\n      {{\n        \"hooks\": [\n          {{\n            {fields}\n          }}\n        ]\n      }}\n    ]",
        row.name
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_of_the_hooks_are_as_the_table_of_events_says() {
        let read =
            |name: &str| fs::read_to_string(cargo::top().unwrap().join(name)).unwrap_or_default();
        assert!(
            read(HOOKS) == hooks_json(),
            "{HOOKS} is not up to date: cargo xtask guide"
        );
        for row in EVENTS {
            let name = format!("bin/{}", row.program);
            assert!(
                read(&name) == LAUNCHER,
                "{name} is not up to date: cargo xtask guide"
            );
        }
    }
}
