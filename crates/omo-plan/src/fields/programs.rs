//! Recognition of programs in a plan's text, and of commands that prove something, do more than look, or never end.

use std::collections::HashSet;
use std::sync::LazyLock;

use omo_core::shell::programs::{Role, has_role, programs_of};

use crate::command_concern::{Effect, effect, effects};

pub(crate) fn is_program(word: &str) -> bool {
    // A set, since each word of a plan is looked up.
    static PROGRAMS: LazyLock<HashSet<&str>> =
        LazyLock::new(|| programs_of(Role::PlanCommand).collect());
    PROGRAMS.contains(word)
}

pub(crate) fn is_only_program(word: &str) -> bool {
    is_program(word) && !has_role(word, Role::PlanWord)
}

pub(crate) fn proves_something(command: &str) -> bool {
    let effects = effects(command);
    !is_in_background(command)
        && !effects.contains(&Some(Effect::Changes))
        && effects
            .iter()
            .any(|effect| effect.is_none_or(Effect::may_judge))
}

/// `true` for a command that prepares, runs or changes something, or never ends.
pub(crate) fn does_more_than_look(command: &str) -> bool {
    let effects = effects(command);
    let rules_out_check = effects
        .iter()
        .flatten()
        .any(|effect| effect.rules_out_check());
    let judges = effects
        .iter()
        .any(|effect| effect.is_none_or(|effect| effect > Effect::Installs));
    rules_out_check || !effects.is_empty() && !judges
}

pub(crate) fn never_ends(command: &str) -> bool {
    is_in_background(command) || effect(command) == Some(Effect::NeverEnds)
}

fn is_in_background(command: &str) -> bool {
    let command = command.trim_end();
    command.ends_with('&') && !command.ends_with("&&")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        assert!(
            is_program("cargo")
                && is_only_program("cargo")
                && !is_program("cargos")
                && !is_only_program("file")
        );
    }

    #[test]
    fn a_command_that_runs_or_changes_something_is_known() {
        for command in [
            "cargo run -p a",
            "npm install && npm test",
            "npm run dev",
            "docker compose up -d",
            "cd a && go mod tidy",
            "uv sync",
            "terraform apply",
            "git status",
            "FOO=1 next dev",
            "python -m http.server",
        ] {
            assert!(does_more_than_look(command), "{command}");
        }
        for command in [
            "cargo test",
            "npm run build",
            "(cd a && go vet ./...)",
            "uv run pytest",
            "docker compose config",
        ] {
            assert!(!does_more_than_look(command), "{command}");
        }
        assert!(never_ends("node a.js &") && never_ends("npm run dev") && !never_ends("npm test"));
    }
}
