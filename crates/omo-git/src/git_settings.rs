//! `GitSettings`: settings of git that the environment of a user gives, such as `GIT_CONFIG_COUNT`. Nothing that omo
//! starts inherits such variables, so that a run remembers those that its commits obey.

use std::ffi::{OsStr, OsString};

use omo_core::git_variables::is_setting_variable;
use omo_state::env;
use serde::{Deserialize, Serialize};

use crate::commit::own_identity;
use crate::repository::{GitFailed, GitRepository};
use crate::user_git::user_setting;

/// Settings about hooks, signatures and identity. No others are remembered: some hold passwords.
const REMEMBERED: &str =
    "^(core[.]hookspath|commit[.]gpgsign|gpg[.].*|user[.](signingkey|name|email)|safe[.]directory)$";
/// The scope in which git lists what its environment and `-c` give.
const ENVIRONMENT_SCOPE: &str = "command";

/// Names and values, in the order in which they count.
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
        Ok(Self(given.map(|setting| (setting.name, setting.value)).collect()))
    }

    /// Variables that each hold one option for `-c`, with made-up names.
    pub(crate) fn as_options(&self) -> Vec<(String, String)> {
        let option = |(place, (name, value)): (usize, &(String, String))| {
            (format!("OMO_SETTING_{place}"), format!("{name}={value}"))
        };
        self.0.iter().enumerate().map(option).collect()
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        let pairs = self.0.iter().enumerate().flat_map(|(place, (name, value))| {
            [(format!("GIT_CONFIG_KEY_{place}"), name.into()), (format!("GIT_CONFIG_VALUE_{place}"), value.into())]
        });
        [("GIT_CONFIG_COUNT".to_owned(), self.0.len().to_string().into())].into_iter().chain(pairs).collect()
    }
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
        let settings = GitSettings(vec![("core.hookspath".to_owned(), "/a b".to_owned())]);
        assert_eq!(settings.as_options(), [("OMO_SETTING_0".to_owned(), "core.hookspath=/a b".to_owned())]);
        let variables = settings.variables();
        let variables: Vec<(&str, &str)> =
            variables.iter().map(|(name, value)| (name.as_str(), value.to_str().unwrap())).collect();
        let expected =
            [("GIT_CONFIG_COUNT", "1"), ("GIT_CONFIG_KEY_0", "core.hookspath"), ("GIT_CONFIG_VALUE_0", "/a b")];
        assert_eq!(variables, expected);
    }
}
