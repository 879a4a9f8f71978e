//! Settings of the user's environment for commits, such as `GIT_CONFIG_COUNT` or `HUSKY=0`, saved
//! at a run's start and applied in every shell.

use std::ffi::{OsStr, OsString};

use omo_core::git_variables::{
    is_git_variable, is_hook_variable, is_lookup_variable, is_setting_variable, person_variable,
};
use omo_core::text::sanitize;
use omo_state::env;
use serde::{Deserialize, Serialize};

/// Settings that turn hooks or signatures off, or replace them.
const TOLD: [&str; 2] = ["core.hookspath", "commit.gpgsign"];
/// Maximum characters of a shown value.
const VALUE_LETTERS: usize = 60;

/// Names and values in order of precedence. A name with a dot is a setting of git, any other one a variable for hooks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct GitSettings(pub(crate) Vec<(String, String)>);

impl GitSettings {
    /// Settings that turn off or replace hooks or signatures, such as `HUSKY=0`.
    pub fn of_guards(&self) -> Vec<String> {
        self.0
            .iter()
            .filter(|(name, _)| TOLD.contains(&name.as_str()) || is_hook_variable(name))
            .map(|(name, value)| format!("{name}={}", sanitize(value, VALUE_LETTERS)))
            .collect()
    }

    /// Settings as options for `-c`, each with its value in a variable such as `OMO_SETTING_0`.
    pub(crate) fn as_options(&self) -> Vec<(String, String)> {
        self.of_git()
            .enumerate()
            .map(|(place, (name, value))| {
                (format!("OMO_SETTING_{place}"), format!("{name}={value}"))
            })
            .collect()
    }

    /// `variables` with the saved ones for hooks. Programs in no saved folder of `PATH` are looked
    /// up in the present one.
    pub(crate) fn with_hook_variables(
        &self,
        variables: Vec<(OsString, OsString)>,
    ) -> Vec<(OsString, OsString)> {
        let (now, mut variables): (Vec<_>, Vec<_>) = variables
            .into_iter()
            .partition(|(name, _)| name.to_str().is_some_and(is_remembered));
        for (name, value) in self.0.iter().filter(|(name, _)| !name.contains('.')) {
            let mut value = OsString::from(value);
            let later = now
                .iter()
                .find(|(other, _)| name.eq_ignore_ascii_case("PATH") && is_path(other));
            if let Some((_, later)) = later.filter(|(_, later)| *later != value) {
                let folders = std::env::split_paths(&value).chain(std::env::split_paths(later));
                value = std::env::join_paths(folders).unwrap_or(value);
            }
            variables.push((name.into(), value));
        }
        // A run of an older omo remembers no `PATH`.
        let has_path = variables.iter().any(|(name, _)| is_path(name));
        variables.extend(
            now.into_iter()
                .filter(|(name, _)| !has_path && is_path(name)),
        );
        variables
    }

    fn of_git(&self) -> impl Iterator<Item = &(String, String)> {
        self.0.iter().filter(|(name, _)| name.contains('.'))
    }

    fn variables(&self) -> Vec<(String, OsString)> {
        let pairs = self
            .of_git()
            .enumerate()
            .flat_map(|(place, (name, value))| {
                [
                    (format!("GIT_CONFIG_KEY_{place}"), name.into()),
                    (format!("GIT_CONFIG_VALUE_{place}"), value.into()),
                ]
            });
        [(
            "GIT_CONFIG_COUNT".to_owned(),
            self.of_git().count().to_string().into(),
        )]
        .into_iter()
        .chain(pairs)
        .collect()
    }
}

pub(crate) fn is_remembered(name: &str) -> bool {
    is_hook_variable(name) || is_lookup_variable(name)
}

fn is_path(name: &OsString) -> bool {
    name.eq_ignore_ascii_case("PATH")
}

/// Variables of the user for git and hooks, from saved settings or this process.
pub(crate) fn user_variables(settings: Option<&GitSettings>) -> Vec<(String, OsString)> {
    let identity = own_identity()
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    identity
        .chain(settings.map_or_else(setting_variables, GitSettings::variables))
        .collect()
}

fn setting_variables() -> Vec<(String, OsString)> {
    env::variables()
        .into_iter()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| is_setting_variable(name))
        .collect()
}

pub(crate) fn own_identity() -> Vec<(&'static str, OsString)> {
    env::variables()
        .into_iter()
        .filter_map(|(name, value)| Some((person_variable(name.to_str()?)?, value)))
        .collect()
}

pub(crate) fn commit_variables(
    mut variables: Vec<(OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    variables.retain(|(name, _)| {
        name.to_str()
            .is_none_or(|name| !is_git_variable(name) || person_variable(name).is_some())
    });
    variables
}

pub(crate) fn borrowed(variables: &[(String, OsString)]) -> Vec<(&str, &OsStr)> {
    variables
        .iter()
        .map(|(name, value)| (name.as_str(), value.as_os_str()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_handed_to_git_as_options_and_as_variables() {
        let pairs = [("HUSKY", "0"), ("core.hookspath", "/a b")];
        let settings = GitSettings(
            pairs
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
        );
        assert_eq!(
            settings.as_options(),
            [("OMO_SETTING_0".to_owned(), "core.hookspath=/a b".to_owned())]
        );
        let variables = settings.variables();
        let variables: Vec<(&str, &str)> = variables
            .iter()
            .map(|(name, value)| (name.as_str(), value.to_str().unwrap()))
            .collect();
        let expected = [
            ("GIT_CONFIG_COUNT", "1"),
            ("GIT_CONFIG_KEY_0", "core.hookspath"),
            ("GIT_CONFIG_VALUE_0", "/a b"),
        ];
        assert_eq!(variables, expected);
    }

    #[test]
    fn variables_of_hook_programs_are_those_that_are_remembered() {
        let pair = |(name, value): (&str, &str)| (OsString::from(name), OsString::from(value));
        let now = [
            ("A", "1"),
            ("HUSKY", "1"),
            ("LEFTHOOK", "0"),
            ("SKIP", "lint"),
        ]
        .map(pair);
        for (remembered, expected) in [
            (vec![], vec![("A", "1")]),
            (
                vec![("HUSKY", "0"), ("gpg.program", "x")],
                vec![("A", "1"), ("HUSKY", "0")],
            ),
        ] {
            let owned = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
            let settings = GitSettings(remembered.into_iter().map(owned).collect());
            let expected: Vec<_> = expected.into_iter().map(pair).collect();
            assert_eq!(settings.with_hook_variables(now.to_vec()), expected);
        }
        for (remembered, now, expected) in
            [("/a", "/b", "/a:/b"), ("/a", "/a", "/a"), ("", "/b", "/b")]
        {
            let own = (!remembered.is_empty()).then(|| ("PATH".to_owned(), remembered.to_owned()));
            let settings = GitSettings(own.into_iter().collect());
            let expected = if cfg!(windows) {
                expected.replace(':', ";")
            } else {
                expected.to_owned()
            };
            assert_eq!(
                settings.with_hook_variables(vec![pair(("PATH", now))]),
                [pair(("PATH", &expected))]
            );
        }
    }

    #[test]
    fn no_variable_points_git_elsewhere() {
        let all = [
            "GIT_DIR",
            "GIT_INDEX_FILE",
            "GIT_AUTHOR_NAME",
            "GIT_CONFIG_COUNT",
            "HOME",
        ];
        let left = commit_variables(all.map(|name| (name.into(), "x".into())).into());
        assert_eq!(
            left.into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
            ["GIT_AUTHOR_NAME", "HOME"]
        );
    }
}
