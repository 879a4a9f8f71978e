//! Reasons against a command as a check, such as `echo ok`: it is shown, and not run.

mod effect;
mod status;

use std::fmt;

use omo_core::check::task_check::TaskCheck;
use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;
pub(crate) use effect::{Effect, effect, effects};
use status::{CommandStatus, command_status};

/// Reason against a command as a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandConcern {
    /// Gap to fill in, such as `<dir>`.
    Placeholder,
    /// Prints, and succeeds whatever was done.
    OnlyPrints,
    /// Ignores the exit status of the judging part, or has no way to fail.
    AlwaysGreen,
    /// Reads nothing of the project.
    Constant,
    NeverEnds,
    /// Text for PowerShell, cmd or fish; checks run with `sh`.
    OtherShell,
    /// Installs, starts, commits or deploys.
    Prepares,
    /// Changes git, a registry, a database or a deployment, or calls another machine.
    Changes,
    OtherFolder,
    /// Name that is no known program, in a format that does not mark it as a command.
    UnknownProgram,
    /// Invisible sign in the command, such as one that moves a cursor.
    ControlCharacter,
}

impl CommandConcern {
    /// `true` for a command meant as a check; others are part of the work.
    pub(crate) fn is_of_check(self) -> bool {
        !matches!(self, Self::Prepares | Self::Changes | Self::UnknownProgram)
    }

    /// `true` for a command that does harm wherever it stands, or never ends.
    pub(crate) fn harms(self) -> bool {
        matches!(self, Self::Changes | Self::OtherFolder | Self::NeverEnds)
    }

    /// `true` for a command that a person may add as a check, and then answers for its effects.
    pub fn may_be_added(self) -> bool {
        matches!(
            self,
            Self::Prepares | Self::Changes | Self::OtherFolder | Self::UnknownProgram
        )
    }
}

impl fmt::Display for CommandConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Placeholder => "it has a placeholder",
            Self::OnlyPrints => "it only prints, and is green whatever was done",
            Self::AlwaysGreen => "it is green whatever was done",
            Self::Constant => "it compares what stands in it, and looks at nothing of the project",
            Self::NeverEnds => "it runs until it is ended",
            Self::OtherShell => "it is written for another shell than sh",
            Self::Prepares => "it prepares or changes something, and judges nothing",
            Self::Changes => {
                "it changes git, a registry, a database or a deployment, or reaches another machine"
            }
            Self::OtherFolder => "it works in a folder outside of the project",
            Self::UnknownProgram => "it begins with no program that omo knows",
            Self::ControlCharacter => "it has a control character",
        })
    }
}

/// Quoted text, whose `<` and `…` stand for themselves.
static QUOTED: Pattern = Pattern::new(r#""(?:[^"\\]|\\.)*"|'[^']*'"#);
/// `<dir>`, `{{name}}`, `YOUR_KEY`, `path/to/file`, `...` as a word.
static PLACEHOLDER: Pattern = Pattern::new(concat!(
    r"<[A-Za-z][A-Za-z0-9_./:| -]*>|\{\{[^}]*\}\}|\[[a-z]+(?:[-_ ][a-z]+)*\](?:\s|$)|",
    r"(?:^|[^$])\{[A-Z][A-Z0-9_]+\}|",
    r"\bYOUR[_-][A-Z]|\byour-[a-z]+|(?:^|[\s=/])path/to/|(?:^|\s)(?:\.\.\.|…)(?:\s|$)",
));
/// Gap in an address: `https://a.b/{id}`, `localhost:PORT`.
static ADDRESS_GAP: Pattern =
    Pattern::new(r#"https?://(?:[^$\s"']|\$[^{])*\{[A-Za-z_]+\}|:PORT\b"#);
static OTHER_SHELL: Pattern = Pattern::new(concat!(
    r"\$env:[A-Za-z_]|^(?:Get|Set|Test|New|Remove|Select|Start|Stop|Invoke|Write|Out|Where|ForEach|Copy|Move|Import)-[A-Z][A-Za-z]+\b",
    r"|\|\s*(?:Select|Where|Measure|ForEach|Out|Sort)-[A-Z]|^(?:powershell|pwsh|cmd)(?:\.exe)?\s|^\.\\|^dir\s+/|^set\s+-[xg]+\s+[A-Z]",
));

static RUNS_NOTHING: Pattern = Pattern::new(concat!(
    r"^\S+(?:\s+\S+)?\s+(?:--help|--version|-h|-V|--collect-only|--listTests)\s*$",
    r"|^(?:ba|da|z)?sh(?:\s+-c)?\s*$|^make\s+(?:-n|--dry-run)\b",
));
static DOES_NOTHING: Pattern = Pattern::new(
    r#"^(?:python3?|node)\s+-[ce]\s+["'](?:\s|true|:|exit\s+0|exit\(0\)|pass|0|;)*["']\s*$"#,
);

/// Reason against `command`; `None` for a usable check.
pub fn find_concern(command: &str) -> Option<CommandConcern> {
    if command.contains(|char: char| char.is_control() && !matches!(char, '\n' | '\t' | '\r')) {
        return Some(CommandConcern::ControlCharacter);
    }
    if OTHER_SHELL.is_match(command.trim()) {
        return Some(CommandConcern::OtherShell);
    }
    let plain = without_quoted(command);
    if PLACEHOLDER.is_match(&plain) || ADDRESS_GAP.is_match(command) {
        return Some(CommandConcern::Placeholder);
    }
    if command.trim_start().starts_with("http://") || command.trim_start().starts_with("https://") {
        return Some(CommandConcern::UnknownProgram);
    }
    match effect(command) {
        Some(Effect::Leaves) => return Some(CommandConcern::OtherFolder),
        Some(Effect::Changes | Effect::Reaches) => return Some(CommandConcern::Changes),
        Some(Effect::NeverEnds) => return Some(CommandConcern::NeverEnds),
        Some(Effect::Installs) => return Some(CommandConcern::Prepares),
        Some(Effect::Prepares | Effect::Runs) | None => {}
    }
    if RUNS_NOTHING.is_match(plain.trim()) || DOES_NOTHING.is_match(command.trim()) {
        return Some(CommandConcern::AlwaysGreen);
    }
    match command_status(command) {
        CommandStatus::Judges => None,
        CommandStatus::Prints => Some(CommandConcern::OnlyPrints),
        CommandStatus::Nothing | CommandStatus::ThrownAway => Some(CommandConcern::AlwaysGreen),
        CommandStatus::Constant => Some(CommandConcern::Constant),
    }
}

/// [`find_concern`], but a command with an expected output may just print.
pub fn find_check_concern(check: &TaskCheck) -> Option<CommandConcern> {
    let is_judged = has_expected_output(check);
    find_concern(&check.command)
        .filter(|concern| *concern != CommandConcern::OnlyPrints || !is_judged)
}

pub(crate) fn has_expected_output(check: &TaskCheck) -> bool {
    check
        .expect
        .stdout_has
        .as_ref()
        .is_some_and(|expected| !expected.trim().is_empty())
}

/// Beginning of a command before its program: subshell, variables, `cd`.
static BEFORE_PROGRAM: Pattern = Pattern::new(
    r#"^\s*(?:\(\s*)?(?:(?:[A-Za-z_][A-Za-z0-9_]*=(?:"[^"]*"|'[^']*'|[^\s"'])*|time|env|sudo|exec|!)\s+|cd\s+[^&;|]+(?:&&|;)\s*)*"#,
);

pub(crate) fn program_part(command: &str) -> &str {
    BEFORE_PROGRAM
        .behind(command)
        .unwrap_or(command)
        .trim_start()
}

fn without_quoted(command: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(command.len()), command);
    while let Some((before, behind)) = QUOTED.around(rest) {
        plain.push_str(before);
        plain.push_str("\"\"");
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests;
