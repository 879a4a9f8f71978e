//! A plugin's `hooks.json`, and the command of each handler.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::Deserialize;
use serde_json::Value;

/// Places of a plugin's hooks.
const PLACES: [&str; 2] = ["hooks/hooks.json", "hooks.json"];

/// The fields that a matcher is held against, by event.
const MATCHED: [&str; 5] = ["source", "tool_name", "agent_type", "trigger", "reason"];

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Hooks {
    hooks: BTreeMap<String, Vec<Group>>,
}

#[derive(Debug, Clone, Deserialize)]
struct Group {
    #[serde(default)]
    matcher: String,
    hooks: Vec<Handler>,
}

#[derive(Debug, Clone, Deserialize)]
pub(super) struct Handler {
    #[serde(rename = "type")]
    kind: String,
    command: String,
    args: Option<Vec<String>>,
    timeout: Option<u64>,
}

impl Hooks {
    pub(super) fn read(plugin: &Path) -> Result<Self> {
        let places = PLACES.map(|place| plugin.join(place));
        let Some(path) = places.iter().find(|path| path.is_file()) else {
            anyhow::bail!("{} has no hooks.json", plugin.display());
        };
        let text = fs::read(path).with_context(|| format!("read {}", path.display()))?;
        serde_json::from_slice(&text).with_context(|| format!("parse {}", path.display()))
    }

    pub(super) fn handles(&self, event: &str) -> bool {
        self.hooks.contains_key(event)
    }

    /// The one handler of `event` whose matcher fits `input`.
    pub(super) fn only(&self, event: &str, input: Option<&Value>) -> Result<&Handler> {
        let subject = MATCHED.iter().find_map(|name| input?.get(name)?.as_str());
        let groups = self.hooks.get(event).into_iter().flatten();
        let fitting = groups.filter(|group| fits(&group.matcher, subject.unwrap_or_default()));
        let handlers: Vec<_> = fitting.flat_map(|group| &group.hooks).collect();
        match handlers.as_slice() {
            [handler] if handler.kind == "command" => Ok(handler),
            [] => anyhow::bail!("the plugin has no handler for {event}"),
            _ => anyhow::bail!("the plugin has more than one command for {event}"),
        }
    }
}

impl Handler {
    /// The process to start: the binary itself where `args` are given, otherwise a shell.
    pub(super) fn command(&self, plugin: &Path, data: &Path, project: &Path) -> Command {
        let fill = |text: &str| {
            text.replace("${CLAUDE_PLUGIN_ROOT}", &plugin.to_string_lossy())
                .replace("${CLAUDE_PLUGIN_DATA}", &data.to_string_lossy())
                .replace("${CLAUDE_PROJECT_DIR}", &project.to_string_lossy())
        };
        if let Some(arguments) = &self.args {
            let mut command = Command::new(fill(&self.command));
            command.args(arguments.iter().map(|argument| fill(argument)));
            return command;
        }
        let mut command = Command::new("/bin/sh");
        command.arg("-c").arg(fill(&self.command));
        command
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout.map(Duration::from_secs)
    }
}

/// An empty matcher and `*` fit everything; otherwise one of the names between `|` must be it.
fn fits(matcher: &str, subject: &str) -> bool {
    matches!(matcher, "" | "*") || matcher.split('|').any(|name| name == subject)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn finds_the_handler_that_fits() {
        let hooks: Hooks = serde_json::from_value(json!({"hooks": {"SessionStart": [
            {"matcher": "startup|resume", "hooks": [{"type": "command", "command": "${CLAUDE_PLUGIN_ROOT}/a", "args": ["x"]}]},
            {"matcher": "clear", "hooks": [{"type": "command", "command": "b"}]},
        ]}}))
        .unwrap();
        let handler = hooks
            .only("SessionStart", Some(&json!({"source": "resume"})))
            .unwrap();
        let command = handler.command(Path::new("/p"), Path::new("/d"), Path::new("/w"));
        assert_eq!(command.get_program(), "/p/a");
        assert!(
            hooks
                .only("SessionStart", Some(&json!({"source": "fork"})))
                .is_err()
        );
        assert!(hooks.only("Stop", None).is_err());
    }
}
