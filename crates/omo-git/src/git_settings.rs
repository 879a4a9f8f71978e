//! `GitSettings`: what the environment of a user says about commits, such as `GIT_CONFIG_COUNT` or `HUSKY`. A run
//! remembers it at its start: its commits obey that, from whichever shell they are made.

use std::ffi::{OsStr, OsString};

use omo_core::git_variables::{is_hook_variable, is_lookup_variable, is_setting_variable};
use omo_core::text::sanitize;
use omo_state::env;
use serde::{Deserialize, Serialize};

use crate::commit::own_identity;
use crate::repository::{GitFailed, GitRepository};
use crate::user_git::user_setting;

/// Settings about hooks, signatures and identity. No others are remembered: some hold passwords.
const REMEMBERED: &str =
    "^(core[.]hookspath|commit[.]gpgsign|gpg[.].*|user[.](signingkey|name|email)|safe[.]directory)$";
/// Settings that turn hooks or signatures off, or put others in their place.
const TOLD: [&str; 2] = ["core.hookspath", "commit.gpgsign"];
/// Longest value that is told, in characters.
const VALUE_LETTERS: usize = 60;
/// The scope in which git lists what its environment and `-c` give.
const ENVIRONMENT_SCOPE: &str = "command";

/// Names and values, in the order in which they count. A name with a dot is one of git's settings, any other a variable
/// for the programs of hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GitSettings(Vec<(String, String)>);

impl GitSettings {
    /// Those of the environment of this process that commits obey.
    ///
    /// # Errors
    ///
    /// git cannot tell.
    pub fn from_environment(repository: &GitRepository) -> Result<Self, GitFailed> {
        let given = listed_settings(repository, REMEMBERED)?.into_iter();
        let given = given.filter(|setting| setting.scope == ENVIRONMENT_SCOPE);
        let text = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value.into_string().ok()?));
        let variables = env::variables().into_iter().filter_map(text).filter(|(name, _)| is_remembered(name));
        Ok(Self(given.map(|setting| (setting.name, setting.value)).chain(variables).collect()))
    }

    /// These over those of the files of a checkout. Another work tree of its repository may have others, by
    /// `includeIf.onbranch` or `config.worktree`.
    ///
    /// # Errors
    ///
    /// git cannot tell.
    pub fn over_files_of(&self, checkout: &GitRepository) -> Result<Self, GitFailed> {
        let of_files = listed_settings(&checkout.clone().obeying(&Self::default()), REMEMBERED)?.into_iter();
        let of_files = of_files.map(|setting| (setting.name, setting.value));
        Ok(Self(of_files.chain(self.0.iter().cloned()).collect()))
    }

    /// The variables of this process whose settings git refuses, such as a `GIT_CONFIG_COUNT` that is no number.
    pub fn refused_variables(repository: &GitRepository) -> Vec<String> {
        let is_read = |repository: &GitRepository| listed_settings(repository, REMEMBERED).is_ok();
        if is_read(repository) || !is_read(&repository.clone().obeying(&Self::default())) {
            return Vec::new();
        }
        user_variables(None).into_iter().map(|(name, _)| name).filter(|name| is_setting_variable(name)).collect()
    }

    /// Those that turn hooks or signatures off, or put others in their place, as `HUSKY=0` does.
    pub fn of_guards(&self) -> Vec<String> {
        let is_told = |name: &str| TOLD.contains(&name) || is_hook_variable(name);
        let told = self.0.iter().filter(|(name, _)| is_told(name));
        told.map(|(name, value)| format!("{name}={}", sanitize(value, VALUE_LETTERS))).collect()
    }

    /// Variables that each hold one option for `-c`, with made-up names.
    pub(crate) fn as_options(&self) -> Vec<(String, String)> {
        let option = |(place, (name, value)): (usize, &(String, String))| {
            (format!("OMO_SETTING_{place}"), format!("{name}={value}"))
        };
        self.of_git().enumerate().map(option).collect()
    }

    /// Variables of a process, with those of hooks as they are remembered. Programs that are in no folder of the `PATH` of
    /// then are looked for in that of now.
    pub(crate) fn with_hook_variables(&self, variables: Vec<(OsString, OsString)>) -> Vec<(OsString, OsString)> {
        let is_known = |name: &OsString| name.to_str().is_some_and(is_remembered);
        let (now, mut variables): (Vec<_>, Vec<_>) = variables.into_iter().partition(|(name, _)| is_known(name));
        for (name, value) in self.0.iter().filter(|(name, _)| !name.contains('.')) {
            let mut value = OsString::from(value);
            let later = now.iter().find(|(other, _)| name.eq_ignore_ascii_case("PATH") && is_path(other));
            if let Some((_, later)) = later.filter(|(_, later)| *later != value) {
                let folders = std::env::split_paths(&value).chain(std::env::split_paths(later));
                value = std::env::join_paths(folders).unwrap_or(value);
            }
            variables.push((name.into(), value));
        }
        // A run of an older omo remembers none of these.
        let has_path = variables.iter().any(|(name, _)| is_path(name));
        variables.extend(now.into_iter().filter(|(name, _)| !has_path && is_path(name)));
        variables
    }

    fn of_git(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter().filter(|(name, _)| name.contains('.'))
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        let pairs = self.of_git().enumerate().flat_map(|(place, (name, value))| {
            [(format!("GIT_CONFIG_KEY_{place}"), name.into()), (format!("GIT_CONFIG_VALUE_{place}"), value.into())]
        });
        [("GIT_CONFIG_COUNT".to_owned(), self.of_git().count().to_string().into())].into_iter().chain(pairs).collect()
    }
}

fn is_remembered(name: &str) -> bool {
    is_hook_variable(name) || is_lookup_variable(name)
}

fn is_path(name: &OsString) -> bool {
    name.eq_ignore_ascii_case("PATH")
}

/// One value of git's settings.
pub(crate) struct ListedSetting {
    pub(crate) scope: String,
    /// In lower case but for what stands between its dots.
    pub(crate) name: String,
    pub(crate) value: String,
}

/// The settings of the user whose names match, in the order in which they count.
pub(crate) fn listed_settings(repository: &GitRepository, names: &str) -> Result<Vec<ListedSetting>, GitFailed> {
    let arguments = ["config", "-z", "--show-scope", "--type=path", "--get-regexp", names];
    let said = user_setting(repository, &arguments)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let words: Vec<&str> = said.split('\0').collect();
    let read = |pair: &[&str]| {
        let [scope, rest] = pair else { return None };
        let (name, value) = rest.split_once('\n').unwrap_or((rest, "true"));
        Some(ListedSetting { scope: (*scope).to_owned(), name: name.to_owned(), value: value.to_owned() })
    };
    let mut listed: Vec<ListedSetting> = words.chunks_exact(2).filter_map(read).collect();
    // The last one is of the git that was asked: omo's own runs no hooks.
    let own = listed.iter().rposition(|setting| setting.scope == ENVIRONMENT_SCOPE && setting.name == "core.hookspath");
    own.map(|place| listed.remove(place));
    Ok(listed)
}

/// The variables of this process that say who its user is, and settings: those given, or those of this process.
pub(crate) fn user_variables(settings: Option<&GitSettings>) -> Vec<(String, OsString)> {
    let of_process = || {
        let is_setting = |(name, value): (OsString, OsString)| Some((name.into_string().ok()?, value));
        env::variables().into_iter().filter_map(is_setting).filter(|(name, _)| is_setting_variable(name)).collect()
    };
    let identity = own_identity().into_iter().map(|(name, value)| (name.to_owned(), value));
    identity.chain(settings.map_or_else(of_process, GitSettings::variables)).collect()
}

/// The same variables, as git is given them.
pub(crate) fn borrowed(variables: &[(String, OsString)]) -> Vec<(&str, &OsStr)> {
    variables.iter().map(|(name, value)| (name.as_str(), value.as_os_str())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_handed_to_git_as_options_and_as_variables() {
        let pairs = [("HUSKY", "0"), ("core.hookspath", "/a b")];
        let settings = GitSettings(pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).into());
        assert_eq!(settings.as_options(), [("OMO_SETTING_0".to_owned(), "core.hookspath=/a b".to_owned())]);
        let variables = settings.variables();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected =
            [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.hookspath"), ("GIT_CONFIG_VALUE_0", "/a b")];
        assert_eq!(variables, expected);
    }

    #[test]
    fn variables_of_hook_programs_are_those_that_are_remembered() {
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let now = [("A", "1"), ("HUSKY", "1"), ("LEFTHOOK", "0"), ("SKIP", "lint")].map(pair);
        for (remembered, expected) in
            [(vec![], vec![("A", "1")]), (vec![("HUSKY", "0"), ("gpg.program", "x")], vec![("A", "1"), ("HUSKY", "0")])]
        {
            let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            let settings = GitSettings(remembered.into_iter().map(owned).collect());
            let expected: Vec<_> = expected.into_iter().map(pair).collect();
            assert_eq!(settings.with_hook_variables(now.to_vec()), expected);
        }
        for (remembered, now, expected) in [("/a", "/b", "/a:/b"), ("/a", "/a", "/a"), ("", "/b", "/b")] {
            let own = (!remembered.is_empty()).then(|| ("PATH".to_owned(), remembered.to_owned()));
            let settings = GitSettings(own.into_iter().collect());
            let expected = if cfg!(windows) { expected.replace(':', ";") } else { expected.to_owned() };
            assert_eq!(settings.with_hook_variables(vec![pair(("PATH", now))]), [pair(("PATH", &expected))]);
        }
    }
}
