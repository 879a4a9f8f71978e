//! The environment of a check: the variables of its user without tokens and omo's own.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::Path;

use omo_core::check::session_check::{Check, is_hidden_from_checks};
use omo_core::check::task_check::{TaskCheck, is_shell_variable};
use omo_core::session::id::SessionId;
use omo_state::env::is_variable_named;
use omo_state::files::folder::FolderError;
use omo_state::run_environment;
use omo_state::seal::hex_digest;
use omo_state::search_path::SearchPath;

/// Variables for checks, and the folders of their `PATH`.
#[derive(Clone, Debug)]
pub struct CheckEnvironment {
    variables: Vec<(OsString, OsString)>,
    search: SearchPath,
}

impl CheckEnvironment {
    /// The variables without keys and tokens of the model and the client, and without omo's own.
    /// `PATH` keeps absolute folders alone, none of which leads into the project by another name.
    pub fn from_variables(variables: Vec<(OsString, OsString)>, project: &Path) -> Self {
        let search = SearchPath::from_variables(&variables).without_disguised_folders(project);
        let mut variables: Vec<(OsString, OsString)> = variables
            .into_iter()
            .filter(|(name, _)| {
                !is_variable_named(name, "PATH")
                    && name
                        .to_str()
                        .is_none_or(|name| !is_hidden_from_checks(name))
            })
            .collect();
        variables.extend(search.joined().map(|path| ("PATH".into(), path)));
        // Mark for all that a check starts.
        variables.push(("OMO_CHECK".into(), "1".into()));
        variables.sort();
        Self { variables, search }
    }

    /// Keeps the variables for a run that begins; returns their digest for the session's entry.
    pub fn save_for_run(&self, state_home: &Path, id: &SessionId) -> Result<String, FolderError> {
        run_environment::keep(state_home, id, &self.variables)
    }

    /// Variables that a run began with; `None` where they are gone.
    pub fn load_for_run(
        state_home: &Path,
        id: &SessionId,
        kept: &str,
        project: &Path,
    ) -> Option<Self> {
        run_environment::read(state_home, id, kept)
            .map(|variables| Self::from_variables(variables, project))
    }

    /// Names of variables that only one side has, or that differ in value.
    pub fn differing_names(&self, other: &Self) -> Vec<String> {
        let names: BTreeSet<&OsString> = self
            .variables_not_in(other)
            .chain(other.variables_not_in(self))
            .collect();
        names
            .into_iter()
            .map(|name| name.to_string_lossy().into_owned())
            .collect()
    }

    fn variables_not_in(&self, other: &Self) -> impl Iterator<Item = &OsString> {
        self.variables
            .iter()
            .filter(|variable| other.variables.binary_search(variable).is_err())
            .map(|(name, _)| name)
    }

    pub fn search(&self) -> &SearchPath {
        &self.search
    }

    /// Variables of one check: its own `env` replaces others of the same name.
    pub fn variables_for_check(&self, check: &Check) -> Vec<(OsString, OsString)> {
        let own = check
            .env
            .iter()
            .map(|(name, value)| (OsString::from(name), OsString::from(value)));
        self.variables
            .iter()
            .filter(|(name, _)| !check.env.keys().any(|own| is_variable_named(name, own)))
            .cloned()
            .chain(own)
            .collect()
    }

    /// Variables without those such as `BASH_ENV` that make a shell run something else: the worker
    /// that asks for a check may be the one whose work it judges.
    pub fn variables_for_task_check(&self) -> Vec<(OsString, OsString)> {
        self.variables
            .iter()
            .filter(|(name, _)| !name.to_str().is_some_and(is_shell_variable))
            .cloned()
            .collect()
    }

    /// Digest of a check's definition, folder and environment.
    pub fn check_setting(&self, check: &Check, root: &Path) -> String {
        setting_digest(check.definition(), root, &self.variables_for_check(check))
    }

    pub fn task_check_setting(&self, check: &TaskCheck, root: &Path) -> String {
        setting_digest(check.definition(), root, &self.variables_for_task_check())
    }
}

fn setting_digest(
    mut definition: Vec<u8>,
    root: &Path,
    variables: &[(OsString, OsString)],
) -> String {
    let names_and_values = variables.iter().flat_map(|(name, value)| [name, value]);
    for part in std::iter::once(root.as_os_str()).chain(names_and_values.map(OsString::as_os_str)) {
        let part = part.as_encoded_bytes();
        definition.extend((part.len() as u64).to_le_bytes());
        definition.extend(part);
    }
    hex_digest(&definition)
}

// Paths and their lists are written otherwise on Windows, where this is tried under Wine.
#[cfg(all(test, unix))]
mod tests {
    use omo_core::check::session_check::CheckOrigin;

    use super::*;

    fn of(variables: &[(&str, &str)]) -> CheckEnvironment {
        let variables = variables
            .iter()
            .map(|(name, value)| (name.into(), value.into()));
        CheckEnvironment::from_variables(variables.collect(), Path::new("/p"))
    }

    #[test]
    fn a_gate_sees_no_key_no_token_and_nothing_of_omo() {
        let environment = of(&[
            ("HOME", "/h"),
            ("ANTHROPIC_API_KEY", "k"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "t"),
            ("CLAUDECODE", "1"),
            ("OMO_DISABLE", "0"),
            ("OMO_CHECK", "0"),
            ("COLUMNS", "80"),
            ("PATH", "/usr/bin:bin::.:/bin"),
        ]);
        let check = Check::new(None, "true", CheckOrigin::User).unwrap();
        let seen = environment.variables_for_check(&check);
        let seen: Vec<_> = seen
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        assert_eq!(
            seen,
            [
                ("HOME", "/h"),
                ("OMO_CHECK", "1"),
                ("PATH", "/usr/bin:/bin")
            ]
        );
    }

    #[test]
    fn a_check_is_pointed_at_no_repository_by_a_kept_environment_either() {
        let temp = tempfile::tempdir().unwrap();
        let id = SessionId::parse("a").unwrap();
        let kept = [
            ("GIT_DIR", "/r/.git"),
            ("GIT_PREFIX", ""),
            ("GIT_AUTHOR_NAME", "a"),
        ];
        let kept = kept.map(|(name, value)| (name.into(), value.into())).into();
        let digest = run_environment::keep(temp.path(), &id, &kept).unwrap();
        let environment =
            CheckEnvironment::load_for_run(temp.path(), &id, &digest, Path::new("/p")).unwrap();
        assert_eq!(
            environment.differing_names(&of(&[("GIT_AUTHOR_NAME", "a"), ("GIT_INDEX_FILE", "/i")])),
            [""; 0]
        );
    }

    #[test]
    fn an_empty_path_is_none() {
        for path in [".bin", "", "/proc/self/cwd"] {
            let variables = of(&[("PATH", path)]).variables_for_task_check();
            assert!(
                variables.iter().all(|(name, _)| name != "PATH"),
                "an empty one means the current folder"
            );
        }
    }

    #[test]
    fn a_check_sees_what_a_gate_does_but_for_what_steers_its_shell() {
        let environment = of(&[
            ("HOME", "/h"),
            ("SHELLOPTS", "noexec"),
            ("BASH_ENV", "/x"),
            ("PATH", "/bin"),
        ]);
        let seen = environment.variables_for_task_check();
        let seen: Vec<_> = seen
            .iter()
            .map(|(name, value)| (name.to_str().unwrap(), value.to_str().unwrap()))
            .collect();
        assert_eq!(seen, [("HOME", "/h"), ("OMO_CHECK", "1"), ("PATH", "/bin")]);
        let (check, root) = (TaskCheck::new("true"), Path::new("/p"));
        let setting = of(&[("PATH", "/bin")]).task_check_setting(&check, root);
        assert_eq!(
            of(&[("PATH", "/bin"), ("SHELLOPTS", "noexec")]).task_check_setting(&check, root),
            setting
        );
        assert_ne!(
            of(&[("PATH", "/evil:/bin")]).task_check_setting(&check, root),
            setting
        );
        assert_ne!(
            of(&[("PATH", "/bin")]).task_check_setting(&TaskCheck::new("false"), root),
            setting
        );
    }

    #[test]
    fn what_differs_is_named_whichever_of_two_has_it() {
        let (one, other) = (
            of(&[
                ("HOME", "/h"),
                ("PATH", "/bin"),
                ("A", "1"),
                ("CLAUDE_EFFORT", "high"),
            ]),
            of(&[("HOME", "/h"), ("PATH", "/evil:/bin"), ("B", "2")]),
        );
        assert_eq!(one.differing_names(&other), ["A", "B", "PATH"]);
        assert_eq!(one.differing_names(&one.clone()), Vec::<String>::new());
    }

    #[test]
    fn another_command_folder_or_variable_is_another_setting() {
        let (here, root) = (of(&[("HOME", "/h"), ("PATH", "/bin")]), Path::new("/p"));
        let check = Check::new(None, "true", CheckOrigin::User).unwrap();
        let setting = here.check_setting(&check, root);
        assert_eq!(
            of(&[("PATH", "/bin"), ("COLUMNS", "7"), ("HOME", "/h")]).check_setting(&check, root),
            setting
        );
        let mut own = check.clone();
        own.env.insert("HOME".to_owned(), "/other".to_owned());
        for other in [
            here.check_setting(
                &Check {
                    command: "false".to_owned(),
                    ..check.clone()
                },
                root,
            ),
            here.check_setting(
                &Check {
                    cwd: Some("a".to_owned()),
                    ..check.clone()
                },
                root,
            ),
            here.check_setting(&own, root),
            here.check_setting(&check, Path::new("/q")),
            of(&[("HOME", "/h"), ("PATH", "/evil:/bin")]).check_setting(&check, root),
            of(&[("HOME", "/h"), ("PATH", "/bin"), ("LD_PRELOAD", "x")])
                .check_setting(&check, root),
        ] {
            assert_ne!(other, setting);
        }
    }
}
