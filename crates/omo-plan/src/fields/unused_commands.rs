//! Commands in a plan's prose that it says to run or verify with, but that become no checks: the author is told, since
//! they may count on them.

use super::prose::NEGATES;
use super::shell_commands::{begins_as_script, does_not_prove, is_commit, names_program};
use super::stated_checks::split_code_span;
use crate::command_concern::{CommandConcern, find_concern};
use crate::model::RefusedCheck;
use crate::pattern::Pattern;

const MAX_ROWS: usize = 200;
const MAX_ROW_BYTES: usize = 4_096;

static RUN: Pattern = Pattern::new(
    r"(?:\b(?i-u:(?:re-?)?run|execute)|\b(?i-u:run|verify|validate|check|test|ensure|confirm)\b[^.;]*\b(?i-u:with|via|using))(?:\s+(?i-u:the|a|command|from|in|root|it))*[:：]?[\s*_(]*$",
);
static VERIFY: Pattern =
    Pattern::new(r"\b(?i-u:run|verify|validate|check|test|execute|ensure|confirm)\b[^`]*$");
static JOINS: Pattern = Pattern::new(r"^[\s,;/&+]*(?:(?i-u:and|or|then|und|dann)[\s,]*)*$");
static PROGRAM: Pattern = Pattern::new(r"^[A-Za-z_.~/][\w./~-]*(?:\s|$)");

pub(crate) fn unused_commands(text: &str) -> Vec<(String, CommandConcern)> {
    let rows = text
        .lines()
        .take(MAX_ROWS)
        .filter(|row| row.len() <= MAX_ROW_BYTES);
    let mut found = Vec::new();
    let mut is_fenced = false;
    for row in rows {
        let is_fence = row.trim_start().starts_with("```") || row.trim_start().starts_with("~~~");
        is_fenced ^= is_fence;
        if is_fence || is_fenced {
            continue;
        }
        let mut rest = row;
        let mut before = Mention::Nothing;
        while let Some((words, code)) = rest.find('`').and_then(|at| rest.split_at_checked(at)) {
            let Some((command, behind)) = split_code_span(code) else {
                break;
            };
            before = match before {
                _ if NEGATES.is_match(words) => Mention::Nothing,
                _ if RUN.is_match(words) => Mention::Run,
                _ if VERIFY.is_match(words) => Mention::Verify,
                known if JOINS.is_match(words) => known,
                _ => Mention::Nothing,
            };
            // No author takes a commit for a check.
            let concern = command_concern(command.trim(), before).filter(|_| !is_commit(command));
            found.extend(concern.map(|concern| (command.trim().to_owned(), concern)));
            rest = behind;
        }
    }
    found
}

/// Instruction of a sentence about the code in its backticks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mention {
    Nothing,
    Verify,
    Run,
}

/// Concern about a command; `None` for code that may be a check, or is no command.
fn command_concern(command: &str, mention: Mention) -> Option<CommandConcern> {
    let is_known = names_program(command);
    match mention {
        Mention::Nothing => None,
        // A single word behind `Verify` may be the subject, and no command.
        Mention::Verify if !is_known || !command.contains(char::is_whitespace) => None,
        Mention::Verify | Mention::Run => {
            let concern = unused_concern(command);
            let is_unknown = !is_known && !begins_as_script(command) && PROGRAM.is_match(command);
            concern.or(is_unknown.then_some(CommandConcern::UnknownProgram))
        }
    }
}

/// Refusal of a check of `task`, or with `None` of the whole plan.
pub(crate) fn refused_check(task: Option<&str>, command: &str) -> RefusedCheck {
    let concern = unused_concern(command).unwrap_or(CommandConcern::Prepares);
    RefusedCheck {
        task: task.map(str::to_owned),
        command: command.to_owned(),
        concern,
    }
}

/// Concern that keeps a command from being a check; `None` for a possible check.
fn unused_concern(command: &str) -> Option<CommandConcern> {
    find_concern(command).or_else(|| does_not_prove(command).then_some(CommandConcern::Prepares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_said_to_be_run_and_is_no_check_is_found() {
        use CommandConcern::{
            AlwaysGreen, Constant, ControlCharacter, NeverEnds, OnlyPrints, Placeholder, Prepares,
            UnknownProgram,
        };
        for (text, expected) in [
            ("Run `git status`", vec![("git status", OnlyPrints)]),
            (
                "Run `npm install`. Run `npm run dev`.",
                vec![("npm install", Prepares), ("npm run dev", NeverEnds)],
            ),
            (
                "Run: `true`, `exit 0` and `:`",
                vec![
                    ("true", AlwaysGreen),
                    ("exit 0", AlwaysGreen),
                    (":", AlwaysGreen),
                ],
            ),
            ("Verify with `[ 1 -eq 1 ]`", vec![("[ 1 -eq 1 ]", Constant)]),
            (
                "Verify that `pytest <dir>` passes",
                vec![("pytest <dir>", Placeholder)],
            ),
            (
                "Run `npm \u{1b}[1mtest`",
                vec![("npm \u{1b}[1mtest", ControlCharacter)],
            ),
            (
                "- [ ] 1.1 Run the command `frobnicate all`",
                vec![("frobnicate all", UnknownProgram)],
            ),
            (
                "Run `npm test` and `cargo run`",
                vec![("cargo run", Prepares)],
            ),
            ("Run `npm test` in `web`", vec![]),
            ("Run: `git commit -m x`", vec![]),
            ("Do not run `npm install`", vec![]),
            (
                "Verify it with `frobnicate all`",
                vec![("frobnicate all", UnknownProgram)],
            ),
            ("Verify the `file` and `sort` fields", vec![]),
            ("Add a `dev` script", vec![]),
            ("Run `unclosed", vec![]),
            (
                "```md\nRun `npm install`\n```\nRun `ls`",
                vec![("ls", OnlyPrints)],
            ),
            ("`npm run dev` is what users run", vec![]),
        ] {
            let found = unused_commands(text);
            let found: Vec<_> = found
                .iter()
                .map(|(command, concern)| (command.as_str(), *concern))
                .collect();
            assert_eq!(found, expected, "{text}");
        }
    }
}
