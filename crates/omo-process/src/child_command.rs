//! Commands of child processes, in an environment that does not point `git` at a repository.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use omo_core::git_variables::is_repository_variable;
use omo_state::env;

pub fn inheriting_command(program: impl AsRef<OsStr>) -> Command {
    child_command(program, env::variables())
}

/// A command with only these variables, less those of a repository, such as `GIT_DIR`.
pub fn child_command(
    program: impl AsRef<OsStr>,
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Command {
    let mut command = Command::new(program);
    command
        .env_clear()
        .envs(variables.into_iter().filter(|(name, _)| is_inherited(name)));
    command
}

fn is_inherited(name: &OsStr) -> bool {
    name.to_str()
        .is_none_or(|name| !is_repository_variable(name))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_variables_that_it_was_given_but_for_those_of_a_repository() {
        let given = [
            ("GIT_DIR", "/r/.git"),
            ("GIT_INDEX_FILE", "/r/index"),
            ("GIT_SSH_COMMAND", "ssh"),
            ("HOME", "/h"),
        ];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let output = child_command("/usr/bin/env", given).output().unwrap();
        let mut seen: Vec<&str> = std::str::from_utf8(&output.stdout)
            .unwrap()
            .lines()
            .collect();
        seen.sort_unstable();
        assert_eq!(seen, ["GIT_SSH_COMMAND=ssh", "HOME=/h"]);
    }
}
