//! Splits scripts into commands, and picks those that prove something: none that serves or commits.

use omo_core::shell::is_assignment;
use omo_core::shell::programs::{Role, has_role};

use super::programs::{does_more_than_look, is_program, proves_something};
use crate::command_concern::{Effect, effect, program_part};

/// `true` for text that begins with the name of a program, or with the path of a script.
pub(crate) fn names_program(text: &str) -> bool {
    let command = program_part(text);
    let first = first_word(command);
    let extension = std::path::Path::new(first).extension();
    let is_script_name =
        extension.is_some_and(|end| ["sh", "ps1", "bat"].iter().any(|known| end == *known));
    let is_script = ["./", ".\\"].iter().any(|sign| first.starts_with(sign))
        || first.starts_with("scripts/")
        || is_script_name;
    let is_script = is_script || first == "[";
    let is_path = first.contains('/') && first != command && first.starts_with(['.', '~', '/']);
    is_script || is_path || is_program(without_bin_folder(first))
}

/// Name of a program without the project's own folder: `vendor/bin/phpunit` → `phpunit`.
pub(crate) fn without_bin_folder(program: &str) -> &str {
    let folders = [
        "bin/",
        "vendor/bin/",
        "node_modules/.bin/",
        ".venv/bin/",
        "venv/bin/",
    ];
    folders
        .iter()
        .find_map(|folder| program.strip_prefix(folder))
        .unwrap_or(program)
}

/// `true` for text that begins with a shell builtin or a path: anything may follow.
pub(crate) fn begins_as_script(text: &str) -> bool {
    has_role(first_word(program_part(text)), Role::ScriptStart)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

pub(crate) fn does_not_prove(command: &str) -> bool {
    !proves_something(command) || does_more_than_look(command)
}

fn is_context(row: &str) -> bool {
    has_role(first_word(row), Role::Context) || first_word(row) == row && is_assignment(row)
}

/// Commands of a script that prove something, and the others.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptCommands {
    pub checks: Vec<String>,
    pub unused: Vec<String>,
}

/// Proving commands of a script: one for each line, or one for all where lines need earlier ones.
pub(crate) fn read_script(script: &str) -> ScriptCommands {
    // Lines behind a commit are its message.
    let lines: Vec<&str> = join_continued(script)
        .into_iter()
        .take_while(|line| !is_commit(line))
        .collect();
    let rows = lines
        .iter()
        .map(|line| line.trim())
        .filter(|row| !row.is_empty() && !row.starts_with('#'));
    if !rows.clone().all(is_whole) {
        let whole = lines.concat().trim_end().to_owned();
        let mut rows = rows.skip_while(|row| is_context(row) && !proves_something(row));
        let proves = rows.next().is_some_and(proves_something);
        return if proves {
            ScriptCommands {
                checks: vec![whole],
                unused: Vec::new(),
            }
        } else {
            ScriptCommands {
                checks: Vec::new(),
                unused: vec![whole],
            }
        };
    }
    let (rows, unused): (Vec<&str>, Vec<&str>) =
        rows.partition(|row| is_context(row) || proves_something(row));
    let unused = unused.into_iter().map(str::to_owned).collect();
    if !rows.iter().any(|row| proves_something(row)) {
        return ScriptCommands {
            checks: Vec::new(),
            unused,
        };
    }
    // `cd a && b` changes the folder for lines behind it.
    let first = rows.iter().position(|row| is_context(row));
    let needs_context = first.is_some_and(|first| {
        rows.iter()
            .any(|row| is_context(row) && !proves_something(row))
            || rows.iter().skip(first).any(|row| !is_context(row))
    });
    let checks = if needs_context {
        vec![rows.join("\n")]
    } else {
        rows.into_iter().map(str::to_owned).collect()
    };
    ScriptCommands { checks, unused }
}

/// `true` for a change of the repository's history, as the last step of a task.
pub(crate) fn is_commit(row: &str) -> bool {
    let row = row.trim();
    let is_setting = ["git remote", "git config"]
        .iter()
        .any(|verb| row.starts_with(verb));
    row.starts_with("git") && !is_setting && effect(row).is_some_and(|effect| effect > Effect::Runs)
}

/// Lines of a script, each joined with the next where it ends with a backslash.
fn join_continued(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in script.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            found.extend(script.get(start..end));
            start = end;
        }
    }
    found.extend(script.get(start..end).filter(|rest| !rest.is_empty()));
    found
}

/// `true` for a command by itself: no part of a loop, a text over lines, or a quotation.
fn is_whole(row: &str) -> bool {
    let first = row.split([' ', ';', '\t']).next().unwrap_or_default();
    let has_open_quote = ['"', '\'']
        .iter()
        .any(|quote| row.matches(*quote).count() % 2 == 1);
    let is_open = row.ends_with(['|', '(', '{'])
        || row.ends_with("&&")
        || row.contains("<<")
        || row.starts_with(')');
    !has_role(first, Role::Compound) && !matches!(first, "{" | "}") && !has_open_quote && !is_open
}

#[cfg(test)]
mod tests;
