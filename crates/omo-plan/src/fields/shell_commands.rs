//! Purpose of a plan's commands, and scripts in parts.
//!
//! A plan has commands that prove something, and others that prepare something, start a server or commit. Only those
//! that prove something are checks.

use omo_core::shell::is_assignment;
use omo_core::shell::programs::{Role, has_role};

use super::programs::{does_more_than_look, is_program, proves_something};
use crate::command_concern::{Effect, effect, program_part};

/// `true` where a text begins with the name of a program, or with the path of a script.
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

/// The name of a program in a folder of the project's own programs: `vendor/bin/phpunit`.
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

/// `true` for a text that begins with a builtin of the shell, or with a path: anything may follow.
pub(crate) fn begins_as_script(text: &str) -> bool {
    has_role(first_word(program_part(text)), Role::ScriptStart)
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}

/// `true` for a command that prepares or changes something, so that it is no check.
pub(crate) fn does_not_prove(command: &str) -> bool {
    !proves_something(command) || does_more_than_look(command)
}

/// `true` for a row that only names the place of the next command.
fn is_context(row: &str) -> bool {
    has_role(first_word(row), Role::Context) || first_word(row) == row && is_assignment(row)
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ScriptCommands {
    pub checks: Vec<String>,
    /// Other commands, but for those that only name a place.
    pub unused: Vec<String>,
}

/// Takes a script apart. Its proving commands are one for each line where every line stands for itself, or one for all
/// of them where a line needs an earlier one.
pub(crate) fn read_script(script: &str) -> ScriptCommands {
    let only = |checks: Vec<String>| ScriptCommands {
        checks,
        unused: Vec::new(),
    };
    // A commit comes last: the lines behind it are its message.
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
            only(vec![whole])
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
    // `cd a && b` changes the folder for a line behind it that changes none itself.
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

/// `true` for a row that changes the history of the repository, as the last step of a task does; a setting of git does
/// not.
pub(crate) fn is_commit(row: &str) -> bool {
    let row = row.trim();
    let is_setting = ["git remote", "git config"]
        .iter()
        .any(|verb| row.starts_with(verb));
    row.starts_with("git") && !is_setting && effect(row).is_some_and(|effect| effect > Effect::Runs)
}

/// The lines of a script; one that ends with a backslash goes on in the next.
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

/// `true` for a line that is a command by itself: no part of a loop, of a text over several lines, or of a quotation.
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
