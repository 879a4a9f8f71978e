//! The environment variables of git, and the processes that may inherit them.
//!
//! A git that runs a hook or an alias points its children at its own repository: a `git init` below
//! it would work in the user's repository.

/// Variables of one repository or call of git: those of `git rev-parse --local-env-vars`, and those
/// that git sets for a hook, a push or an option such as `--literal-pathspecs`.
const REPOSITORY_VARIABLES: [&str; 27] = [
    "GIT_ALTERNATE_OBJECT_DIRECTORIES",
    "GIT_ATTR_SOURCE",
    "GIT_COMMON_DIR",
    "GIT_CONFIG",
    "GIT_CONFIG_COUNT",
    "GIT_CONFIG_PARAMETERS",
    "GIT_DIR",
    "GIT_GLOB_PATHSPECS",
    "GIT_GRAFT_FILE",
    "GIT_ICASE_PATHSPECS",
    "GIT_IMPLICIT_WORK_TREE",
    "GIT_INDEX_FILE",
    "GIT_INDEX_VERSION",
    "GIT_INTERNAL_SUPER_PREFIX",
    "GIT_LITERAL_PATHSPECS",
    "GIT_NAMESPACE",
    "GIT_NOGLOB_PATHSPECS",
    "GIT_NO_REPLACE_OBJECTS",
    "GIT_OBJECT_DIRECTORY",
    "GIT_PREFIX",
    "GIT_QUARANTINE_PATH",
    "GIT_REFERENCE_BACKEND",
    "GIT_REFLOG_ACTION",
    "GIT_REPLACE_REF_BASE",
    "GIT_SHALLOW_FILE",
    "GIT_SUPER_PREFIX",
    "GIT_WORK_TREE",
];

/// Numbered variables, such as `GIT_CONFIG_KEY_0`, without effect unless `GIT_CONFIG_COUNT` is set.
const REPOSITORY_PREFIXES: [&str; 2] = ["GIT_CONFIG_KEY_", "GIT_CONFIG_VALUE_"];

const PERSON_VARIABLES: [&str; 7] = [
    "GIT_AUTHOR_NAME",
    "GIT_AUTHOR_EMAIL",
    "GIT_COMMITTER_NAME",
    "GIT_COMMITTER_EMAIL",
    "GIT_CONFIG_GLOBAL",
    "GIT_CONFIG_SYSTEM",
    "GIT_CONFIG_NOSYSTEM",
];

/// Variables with the settings of one call, such as those of `git -c`.
const SETTING_VARIABLES: [&str; 2] = ["GIT_CONFIG_COUNT", "GIT_CONFIG_PARAMETERS"];

/// Prefixes of variables that steer hook programs, such as `HUSKY=0`.
const HOOK_PROGRAMS: [&str; 9] = [
    "CAPTAINHOOK",
    "GITHOOKS",
    "HK",
    "HUSKY",
    "LEFTHOOK",
    "OVERCOMMIT",
    "PREK",
    "PRE_COMMIT",
    "SIMPLE_GIT_HOOKS",
];

const HOOK_VARIABLES: [&str; 2] = ["SKIP", "SKIP_SIMPLE_GIT_HOOKS"];

const LOOKUP_VARIABLES: [&str; 10] = [
    "BASH_ENV",
    "ENV",
    "NODE_OPTIONS",
    "NODE_PATH",
    "PERL5LIB",
    "PERL5OPT",
    "PYTHONPATH",
    "RUBYLIB",
    "RUBYOPT",
    "XDG_CONFIG_HOME",
];

pub fn is_lookup_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    name == "PATH" || LOOKUP_VARIABLES.contains(&name.as_str())
}

/// A variable that steers the programs of hooks, such as `HUSKY` or `SKIP`.
pub fn is_hook_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    HOOK_VARIABLES.contains(&name.as_str())
        || HOOK_PROGRAMS
            .iter()
            .filter_map(|program| name.strip_prefix(program))
            .any(|rest| rest.is_empty() || rest.starts_with('_'))
}

/// A variable that gives settings of git, such as `GIT_CONFIG_COUNT` or `GIT_CONFIG_KEY_0`.
pub fn is_setting_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    SETTING_VARIABLES.contains(&name.as_str())
        || REPOSITORY_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// A variable such as `GIT_DIR`, which no process that omo starts inherits.
pub fn is_repository_variable(name: &str) -> bool {
    // Compared without case: on Windows `Git_Dir` is `GIT_DIR`.
    if !is_git_variable(name) {
        return false;
    }
    let name = name.to_ascii_uppercase();
    REPOSITORY_VARIABLES.contains(&name.as_str())
        || REPOSITORY_PREFIXES
            .iter()
            .any(|prefix| name.starts_with(prefix))
}

/// The variable in git's spelling, if commits for omo's user inherit it, such as `GIT_AUTHOR_NAME`.
pub fn person_variable(name: &str) -> Option<&'static str> {
    PERSON_VARIABLES
        .into_iter()
        .find(|known| known.eq_ignore_ascii_case(name))
}

/// Any variable of git. omo's own git inherits none: `GIT_EXEC_PATH` could start other programs.
pub fn is_git_variable(name: &str) -> bool {
    name.get(..4)
        .is_some_and(|start| start.eq_ignore_ascii_case("GIT_"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_of_a_repository_is_told_from_one_of_a_person() {
        for name in [
            "GIT_DIR",
            "git_dir",
            "GIT_INDEX_FILE",
            "GIT_PREFIX",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_VALUE_17",
        ] {
            assert!(
                is_repository_variable(name)
                    && is_git_variable(name)
                    && person_variable(name).is_none(),
                "{name}"
            );
        }
        let kept = [
            "GIT_SSH_COMMAND",
            "GIT_ASKPASS",
            "GIT_EDITOR",
            "GIT_CEILING_DIRECTORIES",
            "GIT_EXEC_PATH",
        ];
        for name in kept.iter().chain(&PERSON_VARIABLES) {
            assert!(
                !is_repository_variable(name) && is_git_variable(name),
                "{name}"
            );
        }
        for name in [
            "GIT_CONFIG_COUNT",
            "git_config_parameters",
            "GIT_CONFIG_KEY_0",
            "GIT_CONFIG_VALUE_17",
        ] {
            assert!(
                is_setting_variable(name) && is_repository_variable(name),
                "{name}"
            );
        }
        for name in ["GIT_CONFIG", "GIT_CONFIG_GLOBAL", "GIT_DIR"] {
            assert!(!is_setting_variable(name), "{name}");
        }
        for name in ["GIT", "GITHUB_TOKEN", "GITÄ_DIR", "HOME", "MY_GIT_DIR"] {
            assert!(
                !is_repository_variable(name) && !is_git_variable(name),
                "{name}"
            );
        }
        assert_eq!(person_variable("GIT_AUTHOR_NAME"), Some("GIT_AUTHOR_NAME"));
        for name in [
            "HUSKY",
            "HUSKY_SKIP_HOOKS",
            "LEFTHOOK_EXCLUDE",
            "SKIP",
            "PRE_COMMIT_ALLOW_NO_CONFIG",
            "hk",
        ] {
            assert!(is_hook_variable(name), "{name}");
        }
        assert!(
            is_lookup_variable("Path")
                && is_lookup_variable("NODE_OPTIONS")
                && !is_lookup_variable("HUSKY")
        );
        for name in ["HKEY", "SKIP_TESTS", "PRE_COMMITTED", "GIT_DIR"] {
            assert!(!is_hook_variable(name), "{name}");
        }
    }

    #[test]
    fn the_table_is_sorted_and_holds_each_name_once() {
        assert!(REPOSITORY_VARIABLES.is_sorted_by(|one, next| one < next));
    }
}
