//! The one way in which omo starts a process: with an environment from which all that points git at a repository is
//! taken out.

use std::ffi::{OsStr, OsString};
use std::process::Command;

use omo_core::git_variables::{carried_name, carried_setting, is_repository_variable};
use omo_state::env;

/// A command with the environment of this process.
pub fn inheriting_command(program: impl AsRef<OsStr>) -> Command {
    child_command(program, env::variables())
}

/// A command with these variables and no others, except for those of a repository of git, such as `GIT_DIR`. Settings
/// such as `GIT_CONFIG_COUNT` are handed on under a name that omo alone reads.
pub fn child_command(program: impl AsRef<OsStr>, variables: impl IntoIterator<Item = (OsString, OsString)>) -> Command {
    let (settings, others) = split_settings(variables);
    let mut command = Command::new(program);
    command.env_clear().envs(others.into_iter().filter(|(name, _)| is_inherited(name)));
    command.envs(settings.into_iter().filter_map(|(name, value)| Some((carried_name(&name)?, value))));
    command
}

/// The settings of git that the user's environment gives, such as `GIT_CONFIG_COUNT`, by their own names. Those that
/// another omo handed on count before those that a worker has set since.
pub fn user_settings() -> Vec<(String, OsString)> {
    split_settings(env::variables()).0
}

type Settings = Vec<(String, OsString)>;

/// Parts variables into settings of git, by git's name, and all others.
fn split_settings(variables: impl IntoIterator<Item = (OsString, OsString)>) -> (Settings, Vec<(OsString, OsString)>) {
    let (mut plain, mut carried, mut others) = (Settings::new(), Settings::new(), Vec::new());
    for (name, value) in variables {
        match name.to_str() {
            Some(text) if carried_name(text).is_some() => plain.push((text.to_owned(), value)),
            Some(text) => match carried_setting(text) {
                Some(text) => carried.push((text.to_owned(), value)),
                None => others.push((name, value)),
            },
            None => others.push((name, value)),
        }
    }
    (if carried.is_empty() { plain } else { carried }, others)
}

fn is_inherited(name: &OsStr) -> bool {
    name.to_str().is_none_or(|name| !is_repository_variable(name))
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_command_has_the_variables_that_it_was_given_but_for_those_of_a_repository() {
        let given =
            [("GIT_DIR", "/r/.git"), ("GIT_INDEX_FILE", "/r/index"), ("GIT_SSH_COMMAND", "ssh"), ("HOME", "/h")];
        let given = given.map(|(name, value)| (name.into(), value.into()));
        let output = child_command("/usr/bin/env", given).output().unwrap();
        let mut seen: Vec<&str> = std::str::from_utf8(&output.stdout).unwrap().lines().collect();
        seen.sort_unstable();
        assert_eq!(seen, ["GIT_SSH_COMMAND=ssh", "HOME=/h"]);
    }

    #[test]
    fn settings_are_handed_on_under_a_name_of_omo_and_no_later_ones_take_their_place() {
        let of = |given: &[(&str, &str)]| {
            let given: Vec<_> = given.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
            let output = child_command("/usr/bin/env", given).output().unwrap();
            let mut seen: Vec<String> = String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect();
            seen.sort_unstable();
            seen
        };
        let carried = ["OMO_GIT_CONFIG_COUNT=1", "OMO_GIT_CONFIG_KEY_0=a.b"];
        assert_eq!(of(&[("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "a.b"), ("GIT_DIR", "/r")]), carried);
        let again = [("OMO_GIT_CONFIG_COUNT", "1"), ("OMO_GIT_CONFIG_KEY_0", "a.b"), ("GIT_CONFIG_COUNT", "0")];
        assert_eq!(of(&again), carried);
    }
}
