//! Finds out before a check runs that its program or script is missing.

use std::path::Path;

use omo_process::platform::is_executable;
use omo_state::search_path::SearchPath;

const SHELL_WORDS: [&str; 22] = [
    ".", "[", "!", "cd", "command", "echo", "env", "eval", "exec", "exit", "export", "false",
    "for", "if", "printf", "set", "source", "test", "time", "true", "ulimit", "while",
];
const INTERPRETERS: [&str; 9] = [
    "sh", "bash", "dash", "zsh", "python", "python3", "node", "ruby", "perl",
];

/// Message about the missing program of a plain command such as `sh test.sh`; `None` for other
/// shell text.
pub fn missing_program(command: &str, root: &Path) -> Option<String> {
    let mut words = command.split_whitespace();
    let (program, argument) = (words.next()?, words.next());
    let is_plain = command
        .chars()
        .all(|char| char.is_alphanumeric() || ".-/_ :@".contains(char));
    if !is_plain || SHELL_WORDS.contains(&program) {
        return None;
    }
    let is_found = if program.contains('/') {
        is_executable(&root.join(program))
    } else {
        SearchPath::from_process().find(program).is_some()
    };
    if !is_found {
        return Some(format!("no program `{program}` is found"));
    }
    let script = argument
        .filter(|argument| INTERPRETERS.contains(&program) && !argument.starts_with('-'))?;
    (!root.join(script).exists()).then(|| format!("there is no file `{script}` yet"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_plain_command_needs_is_named_where_it_is_not_there() {
        let project = tempfile::tempdir().unwrap();
        std::fs::write(project.path().join("test.sh"), "").unwrap();
        for (command, expected) in [
            ("sh test.sh", None),
            ("sh ./test.sh -v", None),
            ("sh nope.sh", Some("there is no file `nope.sh` yet")),
            ("fix", Some("no program `fix` is found")),
            ("fix it now", Some("no program `fix` is found")),
            ("./test.sh", Some("no program `./test.sh` is found")),
            ("sh -c true", None),
            ("true", None),
            ("fix && it", None),
            ("A=1 fix", None),
            ("$FIX it", None),
            ("", None),
        ] {
            assert_eq!(
                missing_program(command, project.path()).as_deref(),
                expected,
                "{command}"
            );
        }
    }
}
