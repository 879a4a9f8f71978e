//! Brief and checks of a task in JSON, from its description, test strategy and criteria.

use omo_core::check::task_check::TaskCheck;
use omo_core::shell::programs::{Role, has_role};

use super::tasks_file::{JsonTask, RawObject};
use crate::fields::programs::proves_something;
use crate::fields::prose::read_row_checks;
use crate::fields::stated_checks::split_code_span;
use crate::model::{FileAction, FileUse, Task};
use crate::pattern::Pattern;

/// Task of the plan from its JSON; `above` is the parent of a subtask.
pub(super) fn read_task(entry: &JsonTask<'_>, above: Option<&Task>) -> Task {
    let fields = &entry.fields;
    let description = fields.text("description");
    let title = fields
        .text("title")
        .or_else(|| description.clone())
        .unwrap_or_default();
    let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
    let test_strategy = fields.text("testStrategy");
    let mut task = Task::new(&entry.id, &title).with_body(brief(entry, &title, above), [1, 1]);
    task.section = above.map(|above| above.title.clone());
    task.priority = fields.text("priority");
    task.files = read_files(fields);
    task.checks = test_strategy
        .as_deref()
        .map(stated_commands)
        .unwrap_or_default();
    task.criteria = test_strategy.into_iter().collect();
    let accepted = fields.items("acceptanceCriteria").unwrap_or_default();
    let accepted: Vec<String> = accepted
        .into_iter()
        .filter_map(super::tasks_file::value_text)
        .collect();
    task.checks
        .extend(accepted.iter().flat_map(|row| read_row_checks(row)));
    task.criteria.extend(accepted);
    task
}

fn brief(entry: &JsonTask<'_>, title: &str, above: Option<&Task>) -> String {
    let mut parts = vec![format!("# {} {title}", entry.id)];
    parts.extend(above.map(|above| format!("A part of task {}: {}", above.id, above.title)));
    parts.extend(
        ["description", "details", "notes"]
            .into_iter()
            .filter_map(|key| entry.fields.text(key)),
    );
    parts.extend(
        entry
            .fields
            .text("testStrategy")
            .map(|text| format!("## Test strategy\n\n{text}")),
    );
    parts.extend(
        entry
            .fields
            .text("acceptanceCriteria")
            .map(|text| format!("## Acceptance criteria\n\n{text}")),
    );
    parts.join("\n\n")
}

/// Files in `relevantFiles`, with actions, and in `files`.
fn read_files(fields: &RawObject<'_>) -> Vec<FileUse> {
    let items = fields.items("relevantFiles").unwrap_or_default();
    let listed = fields
        .items("files")
        .unwrap_or_default()
        .into_iter()
        .filter(|raw| raw.starts_with('"'));
    let listed = listed.filter_map(super::tasks_file::value_text);
    let listed = listed.map(|path| FileUse::new(path.trim(), FileAction::Modify));
    let relevant = items.into_iter().filter_map(|raw| {
        let object: RawObject<'_> = serde_json::from_str(raw).ok()?;
        let path = object.text("path")?;
        let word = object.text("action").unwrap_or_default().to_lowercase();
        let action = match word.as_str() {
            "create" | "add" => FileAction::Create,
            "delete" | "remove" => FileAction::Delete,
            _ => FileAction::Modify,
        };
        let is_optional = !matches!(
            word.as_str(),
            "create" | "add" | "delete" | "remove" | "modify" | "update"
        );
        Some(FileUse {
            is_optional,
            ..FileUse::new(path.trim(), action)
        })
    });
    relevant.chain(listed).collect()
}

static RUN: Pattern = Pattern::new(
    r"\b(?i-u:(?:re-?)?(?:run|runs|running|execute|executes|executing))\b[^`.;:!?\n]{0,40}:?\s?$",
);
static PASSES: Pattern = Pattern::new(
    r"^\s*(?i-u:(?:should |must )?(?:pass(?:es)?|succeeds?|completes?|exits? (?:with )?0)|is green)\b",
);
static WITH: Pattern =
    Pattern::new(r"\b(?i-u:verify|validate|check|test)\b[^`.;]*\b(?i-u:with|using|via|by)\s+$");
static JOINT: Pattern = Pattern::new(r"^\s*(?:,|and|then|&)+\s*(?:and\s+)?$");
/// Words before code that is not run, or not by this task.
static NOT_RUN: Pattern = Pattern::new(
    r"(?i-u:(?:\bnot|n't|\bnever|\bwithout|\bbefore|\bafter|\bcan|\bcould|\bif|\bwhen)\b\s*(?:be\s+|to\s+)?\w*)$",
);
/// Command with a placeholder, or that starts a long process.
static NO_CHECK: Pattern = Pattern::new(
    r"(?i-u:\b(?:dev|start|serve|watch|preview|install|add|init|create|commit|push|runserver)\b)|[<>{}…]|\s\.\.\.",
);

fn stated_commands(text: &str) -> Vec<TaskCheck> {
    let mut found: Vec<TaskCheck> = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some((words, text)) = rest.find('`').and_then(|at| rest.split_at_checked(at)) {
            let Some((code, behind)) = split_code_span(text) else {
                break;
            };
            rest = behind;
            // `x` passes; verify with `x`; a command joined to a check.
            let is_shown = PASSES.is_match(behind)
                || WITH.is_match(words)
                || !found.is_empty() && JOINT.is_match(words);
            let before = RUN
                .around(words)
                .map(|(before, _)| before)
                .or(is_shown.then_some(""));
            let Some(before) = before else { continue };
            let command = if behind.starts_with(" command") {
                ""
            } else {
                code.trim()
            };
            let is_command = command.contains(' ') || has_role(command, Role::TestRunner);
            let is_known = found.iter().any(|check| check.command == command);
            if is_command
                && !is_known
                && !NOT_RUN.is_match(before.trim_end())
                && !NO_CHECK.is_match(command)
                && proves_something(command)
            {
                found.push(TaskCheck::new(command));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_said_to_be_run_is_a_command() {
        for (text, expected) in [
            ("Run `npm test` and look", "npm test"),
            (
                "Verify by running `cargo test -p a`; then run `pytest`.",
                "cargo test -p a|pytest",
            ),
            ("Execute the suite with `go test ./...`", "go test ./..."),
            ("Run the suite: `go vet ./pkg`", "go vet ./pkg"),
            ("Check that `npm test` is documented", ""),
            ("Run `npm run dev` and open the page", ""),
            ("Run `npm install`", ""),
            ("Run `npm run dev`. Run `make a`", "make a"),
            ("Do not run `cargo test`", ""),
            ("Run `main.py`", ""),
            ("Run `cargo test` twice: run `cargo test`", "cargo test"),
            ("Run `php artisan` commands", ""),
            ("Run `unclosed", ""),
            ("Verify with `npm test`", "npm test"),
            ("`npm run lint` passes", "npm run lint"),
            ("Ensure `cargo test` passes", "cargo test"),
            ("Run `npm run lint` and `npm test`", "npm run lint|npm test"),
            ("The `users` table passes review", ""),
        ] {
            let commands: Vec<String> = stated_commands(text)
                .into_iter()
                .map(|check| check.command)
                .collect();
            assert_eq!(commands.join("|"), expected, "{text}");
        }
    }
}
