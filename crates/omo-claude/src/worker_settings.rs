//! `settings.json` of a worker's session, in addition to its user's: the fence, a hook that keeps
//! the session in its worktree, and rules that deny commands even where all else is allowed.

use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::json;

/// Tools that the fence is asked about: they write a file, run a command, or start an agent.
const ASKED_ABOUT: &str = "Write|Edit|MultiEdit|NotebookEdit|Bash|Agent|Task";
/// Timeout of the fence, which takes milliseconds: after it the client goes on.
const LIMIT_SECONDS: u32 = 10;
/// Timeout of the first task's start, which tries checks; after it the session asks for its task itself.
const FIRST_TASK_SECONDS: u32 = 300;

/// Denied commands that act outside of the worktree; the fence looks at more than their beginning.
const DENIED: [&str; 12] = [
    "git stash",
    "git push",
    "git worktree",
    "git config",
    "git reset --hard",
    "git clean",
    "git switch",
    "git checkout -b",
    "git checkout -B",
    "git checkout --detach",
    "git checkout --orphan",
    "git rebase",
];
/// Tools that lead a session out of its worktree, or keep it waiting after its work.
const TOOLS: [&str; 4] = [
    "EnterWorktree",
    "ExitWorktree",
    "CronCreate",
    "ScheduleWakeup",
];

/// Allowed commands of a session. `omo agent evidence run` runs any command: its user may allow it.
const NEEDED: [&str; 7] = [
    "omo agent next",
    "omo agent start",
    "omo agent done",
    "omo agent fail",
    "omo agent note",
    "omo agent brief",
    "omo agent verdict",
];

/// Allowed commands of a session without a ledger: omo sees its commits alone.
const NEEDED_TO_COMMIT: [&str; 4] = ["git add", "git commit", "git rm", "git mv"];

pub const RULES_VERSION: u32 = 1;

/// Rules of a group's session. Paths are absolute, real, and written with `/`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct FenceRules {
    /// [`RULES_VERSION`].
    pub version: u32,
    /// Top of the user's checkout.
    pub main_checkout: String,
    /// Folders outside of the worktree for temporary files.
    pub writable: Vec<String>,
    /// Folders of the main checkout that commands may name: logs of checks.
    pub readable: Vec<String>,
    /// Paths that the plan forbids to the group.
    pub never_touch: Vec<String>,
}

#[derive(Clone, Copy, Debug)]
pub struct WorkerSettings<'a> {
    /// Absolute path of `omo`.
    pub program: &'a Path,
    /// Absolute path of the [`FenceRules`].
    pub rules: &'a Path,
}

impl WorkerSettings<'_> {
    /// The text of `settings.json`; `None` for a path that is not UTF-8.
    pub fn to_json(&self) -> Option<String> {
        self.settings(true)
    }

    /// [`Self::to_json`] for a machine without the run's ledger: the session gets all tasks at once.
    pub fn to_json_without_ledger(&self) -> Option<String> {
        self.settings(false)
    }

    fn settings(&self, has_ledger: bool) -> Option<String> {
        let (program, rules) = (self.program.to_str()?, self.rules.to_str()?);
        // With `args` no shell comes in between, and nothing has to be quoted.
        let fence = json!({
            "type": "command",
            "command": program,
            "args": ["agent", "fence", "--rules", rules],
            "timeout": LIMIT_SECONDS,
        });
        // Its output is the first that the session reads, after the start of its first task.
        let first_task = json!({
            "type": "command",
            "command": program,
            "args": ["agent", "next"],
            "timeout": FIRST_TASK_SECONDS,
        });
        let denied: Vec<String> = DENIED
            .iter()
            .map(|command| bash_rule(command))
            .chain(TOOLS.map(str::to_owned))
            .collect();
        let mut hooks = json!({ "PreToolUse": [{ "matcher": ASKED_ABOUT, "hooks": [fence] }] });
        if has_ledger && let Some(hooks) = hooks.as_object_mut() {
            hooks.insert(
                "SessionStart".to_owned(),
                json!([{ "matcher": "startup", "hooks": [first_task] }]),
            );
        }
        let settings = json!({
            // The repository's own settings come after these, and cannot turn the fence off.
            "disableAllHooks": false,
            "hooks": hooks,
            "permissions": { "deny": denied },
        });
        Some(format!("{settings:#}\n"))
    }
}

/// A permission rule that the client takes for something else, such as an option (`--x`).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a rule of Claude Code; one begins with the name of a tool: `Bash(npm test:*)`"
)]
pub struct InvalidPermissionRule(pub String);

/// Permission rules of a worker: omo's commands, and the user's rules `own`.
pub fn allowed_rules(allowed: &[String]) -> Result<Vec<String>, InvalidPermissionRule> {
    let allowed = checked_rules(allowed)?;
    Ok(NEEDED
        .iter()
        .map(|command| bash_rule(command))
        .chain(allowed)
        .collect())
}

/// Permission rules of a worker without a ledger: `git` to commit, and the user's rules `own`.
pub fn rules_without_ledger(allowed: &[String]) -> Result<Vec<String>, InvalidPermissionRule> {
    let allowed = checked_rules(allowed)?;
    Ok(NEEDED_TO_COMMIT
        .iter()
        .map(|command| bash_rule(command))
        .chain(allowed)
        .collect())
}

fn checked_rules(rules: &[String]) -> Result<Vec<String>, InvalidPermissionRule> {
    if let Some(wrong) = rules
        .iter()
        .find(|rule| !rule.starts_with(|first: char| first.is_ascii_alphabetic()))
    {
        return Err(InvalidPermissionRule(wrong.clone()));
    }
    Ok(rules.to_vec())
}

fn bash_rule(command: &str) -> String {
    format!("Bash({command}:*)")
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn the_fence_is_asked_by_its_path_and_without_a_shell() {
        let (program, rules) = (
            Path::new("/opt/o m\"o/omo"),
            Path::new("/r 'x'/$(y)/fence.json"),
        );
        let settings: Value =
            serde_json::from_str(&WorkerSettings { program, rules }.to_json().unwrap()).unwrap();
        let hook = &settings["hooks"]["PreToolUse"][0];
        assert_eq!(hook["matcher"], ASKED_ABOUT);
        assert_eq!(hook["hooks"][0]["command"], "/opt/o m\"o/omo");
        assert_eq!(
            hook["hooks"][0]["args"],
            json!(["agent", "fence", "--rules", "/r 'x'/$(y)/fence.json"])
        );
        assert_eq!(settings["disableAllHooks"], false);
        let first = &settings["hooks"]["SessionStart"][0];
        assert_eq!(
            first["matcher"], "startup",
            "one that goes on would begin with a second task"
        );
        assert_eq!(first["hooks"][0]["args"], json!(["agent", "next"]));
        let without: Value = serde_json::from_str(
            &WorkerSettings { program, rules }
                .to_json_without_ledger()
                .unwrap(),
        )
        .unwrap();
        assert!(
            without["hooks"]["SessionStart"].is_null(),
            "it has no ledger to ask"
        );
        assert_eq!(
            without["hooks"]["PreToolUse"],
            settings["hooks"]["PreToolUse"]
        );
        assert_eq!(without["permissions"], settings["permissions"]);
        let denied = settings["permissions"]["deny"].as_array().unwrap();
        for rule in [
            "Bash(git stash:*)",
            "Bash(git reset --hard:*)",
            "EnterWorktree",
        ] {
            assert!(denied.contains(&rule.into()), "{rule}");
        }
    }

    #[test]
    fn a_session_may_say_where_it_stands_and_what_its_user_allows() {
        let own = ["Bash(npm test:*)".to_owned()];
        let rules = allowed_rules(&own).unwrap();
        assert_eq!(
            (rules.first().unwrap().as_str(), rules.last()),
            ("Bash(omo agent next:*)", own.last())
        );
        assert_eq!(rules.len(), NEEDED.len() + 1);
        assert!(
            !NEEDED
                .iter()
                .any(|command| "omo agent evidence run".starts_with(command)),
            "it runs anything"
        );
        for wrong in ["--dangerously-skip-permissions", "", " Bash(x)"] {
            assert_eq!(
                allowed_rules(&[wrong.to_owned()]),
                Err(InvalidPermissionRule(wrong.to_owned()))
            );
        }
    }
}
