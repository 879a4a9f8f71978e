//! Error messages of a shell about a check's command, and the command's pipes and variables.

use serde::{Deserialize, Serialize};

/// A command that is missing or cannot be run, or text that is no shell command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ShellComplaint {
    NotFound(String),
    NotRun(String),
    Syntax,
}

/// A complaint of the shell that was started as `shell`.
///
/// bash says `bash: line 1: gcc: command not found`, dash `sh: 1: gcc: not found`; a script of the
/// project has another name.
pub(crate) fn read_complaint(line: &str, shell: &str) -> Option<ShellComplaint> {
    let message = line.strip_prefix(shell)?.strip_prefix(": ")?;
    // `-c: line 1: syntax error …`
    let message = message.strip_prefix("-c: ").unwrap_or(message);
    let (place, words) = message.split_once(": ")?;
    let is_place = place
        .chars()
        .last()
        .is_some_and(|char| char.is_ascii_digit());
    let lower = words.to_ascii_lowercase();
    if !is_place {
        return None;
    }
    if lower.starts_with("syntax error") || lower.starts_with("unexpected eof") {
        return Some(ShellComplaint::Syntax);
    }
    let (command, why) = words.split_once(": ")?;
    let is_missing = why == "command not found" || why == "not found";
    Some(if is_missing {
        ShellComplaint::NotFound(command.to_owned())
    } else {
        ShellComplaint::NotRun(command.to_owned())
    })
}

/// `true` for a pipe outside of quotes, roughly; `||` is none.
pub fn has_pipe(command: &str) -> bool {
    let mut chars = command.chars().peekable();
    let mut quote = None;
    let mut before = ' ';
    while let Some(char) = chars.next() {
        match (quote, char) {
            (None | Some('"'), '\\') => _ = chars.next(),
            (None, '\'' | '"') => quote = Some(char),
            (Some(open), _) if open == char => quote = None,
            (None, '|') if chars.peek() == Some(&'|') => _ = chars.next(),
            // `>|` writes over a file.
            (None, '|') if before != '>' => return true,
            _ => {}
        }
        before = char;
    }
    false
}

/// Variables that change a shell's commands, such as `SHELLOPTS=noexec`.
pub fn is_shell_variable(name: &str) -> bool {
    name.starts_with("BASH_FUNC_")
        || matches!(
            name,
            "BASH_ENV"
                | "ENV"
                | "SHELLOPTS"
                | "BASHOPTS"
                | "BASH_COMPAT"
                | "POSIXLY_CORRECT"
                | "CDPATH"
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shell_is_believed_about_what_it_could_not_run_and_nobody_else() {
        let not_found = |command: &str| Some(ShellComplaint::NotFound(command.to_owned()));
        let not_run = |command: &str| Some(ShellComplaint::NotRun(command.to_owned()));
        for (line, shell, expected) in [
            (
                "/usr/bin/bash: line 1: gcc: command not found",
                "/usr/bin/bash",
                not_found("gcc"),
            ),
            (
                "/usr/bin/bash: line 12: a b: command not found",
                "/usr/bin/bash",
                not_found("a b"),
            ),
            ("/bin/sh: 1: gcc: not found", "/bin/sh", not_found("gcc")),
            (
                "/bin/sh: 3: ./x: Permission denied",
                "/bin/sh",
                not_run("./x"),
            ),
            (
                "/usr/bin/bash: line 1: ./x: No such file or directory",
                "/usr/bin/bash",
                not_run("./x"),
            ),
            (
                "/usr/bin/bash: line 1: ./x: /no: bad interpreter: No such file",
                "/usr/bin/bash",
                not_run("./x"),
            ),
            (
                "/usr/bin/bash: Zeile 1: gcc: Kommando nicht gefunden.",
                "/usr/bin/bash",
                not_run("gcc"),
            ),
            (
                "/usr/bin/bash: -c: line 1: syntax error near unexpected token `)'",
                "/usr/bin/bash",
                Some(ShellComplaint::Syntax),
            ),
            (
                "/usr/bin/bash: -c: line 2: unexpected EOF while looking for",
                "/usr/bin/bash",
                Some(ShellComplaint::Syntax),
            ),
            (
                "/bin/sh: 1: Syntax error: \")\" unexpected",
                "/bin/sh",
                Some(ShellComplaint::Syntax),
            ),
            (
                "./run.sh: line 1: gcc: command not found",
                "/usr/bin/bash",
                None,
            ),
            (
                "bash: line 1: gcc: command not found",
                "/usr/bin/bash",
                None,
            ),
            ("  /bin/sh: 1: gcc: not found", "/bin/sh", None),
            ("/bin/sh: warning: gcc: not found", "/bin/sh", None),
            ("/bin/sh", "/bin/sh", None),
            ("", "/bin/sh", None),
        ] {
            assert_eq!(read_complaint(line, shell), expected, "{line}");
        }
    }

    #[test]
    fn a_pipe_is_seen_where_a_shell_sees_one() {
        for (command, expected) in [
            ("a | b", true),
            ("a|b", true),
            ("a |& b", true),
            ("a || b | c", true),
            ("a || b", false),
            ("grep 'x|y' f", false),
            ("grep \"x|y\" f", false),
            ("grep \"x\\\"|y\" f", false),
            ("grep x\\|y f", false),
            ("echo x >| f", false),
            ("echo \"it's\" | cat", true),
            ("cargo test", false),
            ("", false),
            ("|", true),
            ("'", false),
            ("\\", false),
        ] {
            assert_eq!(has_pipe(command), expected, "{command}");
        }
    }

    #[test]
    fn what_steers_a_shell_is_known_by_its_name() {
        for name in ["BASH_ENV", "SHELLOPTS", "BASH_FUNC_cargo%%"] {
            assert!(is_shell_variable(name), "{name}");
        }
        for name in ["PATH", "HOME", "BASH", "CARGO_HOME"] {
            assert!(!is_shell_variable(name), "{name}");
        }
    }
}
