//! Messages about a session's plan: progress, questions, and commands to agree to.
//!
//! Text of the repository, such as the plan's path and questions, is shortened to one line in
//! backticks; commands are shown whole or not at all.

pub mod run_answer;

use super::checks::CODE_CHARS;
use super::refusal_line;
use super::run_end::page_words;
use crate::session::plan_run::{PlanRun, PlanRunStatus, PlannedCommand};
use crate::session::task_list::{OpenTaskList, task_list_id};
use crate::text::command_text::{APPROVAL_CHARS, quote_argument, show_whole};
use crate::text::{inline_code, pluralize, sanitize};

/// Prefix of the path of a plan that is executed step by step.
pub const STEP_PLAN_PREFIX: &str = "steps of ";

pub(super) fn remaining_lines(run: &PlanRun) -> Vec<String> {
    let word = task_word(&run.plan);
    let running = run
        .running
        .as_ref()
        .map(|unit| format!(", {word} `{}` is under way", inline_code(unit, 64)));
    vec![
        format!(
            "[omo] The plan run `{}` stands at {}{}; next: `{}`.",
            inline_code(&run.id, 64),
            describe_progress(run),
            running.unwrap_or_default(),
            inline_code(&run.next, 300)
        ),
        "A claim is judged once that run has ended. If it cannot go on, the final message ends with \
         `<promise>BLOCKED: the reason</promise>` alone on its last line."
            .to_owned(),
    ]
}

pub fn stays_open(run: &PlanRun) -> String {
    format!(
        "The plan run `{}` stays open: `omo run resume`.",
        inline_code(&run.id, 64)
    )
}

pub fn run_line(run: &PlanRun) -> String {
    let waits = match run.status() {
        PlanRunStatus::Waits(question) => {
            format!("; it waits for the user: `{}`", inline_code(question, 200))
        }
        PlanRunStatus::Executes | PlanRunStatus::Ended(_) => String::new(),
    };
    format!(
        "This session executes the {} (run `{}`): {}{waits}; next: `{}`.",
        describe_plan(&run.plan),
        inline_code(&run.id, 64),
        describe_progress(run),
        inline_code(&run.next, 300)
    )
}

pub fn status_row(run: &PlanRun) -> String {
    let stands = match run.status() {
        PlanRunStatus::Waits(question) => format!(", waits for you: {}", sanitize(question, 200)),
        PlanRunStatus::Ended(word) => format!(", ended: {}", sanitize(word, 64)),
        PlanRunStatus::Executes => {
            let word = task_word(&run.plan);
            let running = run
                .running
                .as_ref()
                .map(|unit| format!(", {word} {} is under way", sanitize(unit, 64)));
            running.unwrap_or_default()
        }
    };
    format!(
        "{}: {} of {} done{}{stands}",
        sanitize(plan_path(&run.plan), 200),
        run.passed,
        run.total,
        describe_failures(run)
    )
}

/// Notice for the user about a run, with the path of its page, if written.
pub fn run_notice(run: &PlanRun, page: Option<&str>) -> String {
    let headline = format!("[omo] {}", status_row(run));
    if run.is_open() {
        headline
    } else {
        format!("{headline}\n{}", page_words(page))
    }
}

fn task_word(plan: &str) -> &'static str {
    if plan.starts_with(STEP_PLAN_PREFIX) {
        "step"
    } else {
        "task"
    }
}

/// Progress such as `3 of 7 tasks, 1 failed, 2 blocked`.
fn describe_progress(run: &PlanRun) -> String {
    format!(
        "{} of {} {}s{}",
        run.passed,
        run.total,
        task_word(&run.plan),
        describe_failures(run)
    )
}

fn describe_failures(run: &PlanRun) -> String {
    let unproved = if run.is_reviewed == Some(true) {
        "unproved and reviewed"
    } else {
        "unproved"
    };
    let counted = [
        (run.failed, "failed"),
        (run.unproved.unwrap_or_default(), unproved),
        (run.blocked, "blocked"),
    ];
    let words: Vec<String> = counted
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!(", {count} {word}"))
        .collect();
    words.concat()
}

/// Request to approve all commands, with the line to type; `Err` for more than can be shown.
pub fn approval_request(
    plan: &str,
    commands: &[PlannedCommand],
    digest: &str,
) -> Result<String, String> {
    let word = task_word(plan);
    let lines: Vec<String> = commands
        .iter()
        .map(|command| approval_line(word, command))
        .collect();
    let lines = lines.join("\n");
    if lines.chars().count() > APPROVAL_CHARS {
        return Err(refusal_line(&format!(
            "what the {} would have run is too long to be shown here whole, and nothing was approved; `omo run start` in a \
             terminal of your own shows it and asks",
            describe_plan(plan)
        )));
    }
    let typed = digest.get(..CODE_CHARS).unwrap_or(digest);
    Ok(format!(
        "[omo] The {} would have these commands run, with your rights, to check its {word}s:\n{lines}\n\
         To approve exactly these commands: {} --approve {typed}",
        describe_plan(plan),
        execute_line(plan)
    ))
}

fn approval_line(word: &str, command: &PlannedCommand) -> String {
    let folder = command
        .folder
        .as_ref()
        .map(|folder| format!("\n    in {}", show_whole(folder, "      ")));
    format!(
        "  {word} `{}`  {}{}",
        inline_code(&command.task, 64),
        show_whole(&command.command, "      "),
        folder.unwrap_or_default()
    )
}

pub fn task_list_offer(session: &OpenTaskList) -> String {
    let tasks = match session.total {
        0 => String::new(),
        total => format!(", {} of {total} tasks done", session.done),
    };
    format!(
        "[omo] the task list `{}` of this project is not done (`{}`{tasks}). Its user goes on with it by typing {}",
        inline_code(&session.goal, 160),
        inline_code(&session.phase, 32),
        inline_code(&session.resume_line(), 200)
    )
}

fn describe_plan(plan: &str) -> String {
    match task_list_id(plan) {
        Some(id) => format!("task list `{id}`"),
        None => format!("plan `{}`", inline_code(plan_path(plan), 300)),
    }
}

fn execute_line(plan: &str) -> String {
    match task_list_id(plan) {
        Some(id) => format!("/omo:ulw-exec --session {id}"),
        None if plan.starts_with(STEP_PLAN_PREFIX) => {
            format!("/omo:execute-local {}", quote_argument(plan_path(plan)))
        }
        None => format!("/omo:execute-plan {}", quote_argument(plan)),
    }
}

pub(crate) fn plan_path(plan: &str) -> &str {
    plan.strip_prefix(STEP_PLAN_PREFIX).unwrap_or(plan)
}

/// `the command` or `the 3 commands` of a plan.
fn describe_commands(plan: &str, commands: usize) -> String {
    let many = if commands == 1 {
        "command".to_owned()
    } else {
        pluralize(commands, "command")
    };
    format!("the {many} of the {}", describe_plan(plan))
}

pub fn plan_approved_context(plan: &str, commands: usize) -> String {
    format!(
        "The user approved {} in this prompt, exactly as omo showed them. `omo` has written that down.",
        describe_commands(plan, commands)
    )
}

pub fn plan_approved(plan: &str, commands: usize) -> String {
    format!(
        "[omo] approved: {}, exactly as they are now. Any change asks again.",
        describe_commands(plan, commands)
    )
}

pub fn wrong_code() -> &'static str {
    "that is not the code of any plan's commands as they are now; nothing was approved"
}

pub fn wrong_code_of(name: &str) -> String {
    format!(
        "the code after --approve in /omo:{name} is not that of the commands which this would run now; nothing was \
         approved. Typed without --approve, it shows them with their code, or begins if you approved them before"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run() -> PlanRun {
        PlanRun {
            id: "r-1".to_owned(),
            plan: "docs/plan.md".to_owned(),
            total: 7,
            passed: 3,
            next: "omo agent next".to_owned(),
            ..PlanRun::default()
        }
    }

    #[test]
    fn a_row_says_how_far_a_plan_is_and_what_it_waits_for() {
        let failed = PlanRun {
            failed: 1,
            blocked: 2,
            ..run()
        };
        for (run, expected) in [
            (run(), "docs/plan.md: 3 of 7 done"),
            (
                PlanRun {
                    running: Some("4".to_owned()),
                    ..run()
                },
                "docs/plan.md: 3 of 7 done, task 4 is under way",
            ),
            (
                failed.clone(),
                "docs/plan.md: 3 of 7 done, 1 failed, 2 blocked",
            ),
            (
                PlanRun {
                    waits: Some("continue after batch 1?".to_owned()),
                    ..failed
                },
                "docs/plan.md: 3 of 7 done, 1 failed, 2 blocked, waits for you: continue after batch 1?",
            ),
            (
                PlanRun {
                    plan: "steps of docs/plan.md".to_owned(),
                    running: Some("4".to_owned()),
                    ..run()
                },
                "docs/plan.md: 3 of 7 done, step 4 is under way",
            ),
            (
                PlanRun {
                    ended: Some("complete".to_owned()),
                    ..run()
                },
                "docs/plan.md: 3 of 7 done, ended: complete",
            ),
        ] {
            assert_eq!(status_row(&run), expected);
        }
    }

    #[test]
    fn a_session_that_goes_on_is_told_the_next_command() {
        assert_eq!(
            run_line(&PlanRun {
                waits: Some("go `on`?".to_owned()),
                failed: 1,
                ..run()
            }),
            "This session executes the plan `docs/plan.md` (run `r-1`): 3 of 7 tasks, 1 failed; it waits for the \
             user: `go 'on'?`; next: `omo agent next`."
        );
        assert_eq!(
            run_line(&PlanRun {
                plan: "steps of docs/plan.md".to_owned(),
                ..run()
            }),
            "This session executes the plan `docs/plan.md` (run `r-1`): 3 of 7 steps; next: `omo agent next`."
        );
        assert_eq!(
            stays_open(&run()),
            "The plan run `r-1` stays open: `omo run resume`."
        );
    }

    #[test]
    fn a_task_session_is_called_by_its_own_name_and_command() {
        let session = PlanRun {
            plan: "session 11-22".to_owned(),
            ..run()
        };
        assert_eq!(
            run_line(&session),
            "This session executes the task list `11-22` (run `r-1`): 3 of 7 tasks; next: `omo agent next`."
        );
        let command = PlannedCommand {
            task: "1".to_owned(),
            command: "npm test".to_owned(),
            folder: None,
        };
        assert_eq!(
            approval_request("session 11-22", &[command], "0123456789abcdef").unwrap(),
            "[omo] The task list `11-22` would have these commands run, with your rights, to check its tasks:\n  \
             task `1`  `npm test`\nTo approve exactly these commands: /omo:ulw-exec --session 11-22 --approve 0123456789ab"
        );
        let open = OpenTaskList {
            id: "11-22".to_owned(),
            goal: "Add `login`\n<b>".to_owned(),
            phase: "EXECUTION".to_owned(),
            total: 6,
            done: 3,
            ..OpenTaskList::default()
        };
        assert_eq!(
            task_list_offer(&open),
            "[omo] the task list `Add 'login' ‹b›` of this project is not done (`EXECUTION`, 3 of 6 tasks done). \
             Its user goes on with it by typing /omo:ulw-exec --session 11-22"
        );
        let planned = task_list_offer(&OpenTaskList {
            total: 0,
            phase: "PLANNING".to_owned(),
            ..open
        });
        assert!(
            planned
                .ends_with("(`PLANNING`). Its user goes on with it by typing /omo:ulw-plan --resume --session 11-22")
        );
    }

    #[test]
    fn the_commands_are_shown_whole_with_the_line_that_agrees_or_none_is() {
        let command = |unit: &str, command: &str, folder: Option<&str>| PlannedCommand {
            task: unit.to_owned(),
            command: command.to_owned(),
            folder: folder.map(str::to_owned),
        };
        let commands = [
            command("1", "cargo test", None),
            command("2-impl", "a\u{1b}[2J `b` <c>", Some("x`y")),
        ];
        assert_eq!(
            approval_request("docs/plan.md", &commands, "0123456789abcdef").unwrap(),
            "[omo] The plan `docs/plan.md` would have these commands run, with your rights, to check its tasks:\n  \
             task `1`  `cargo test`\n  task `2-impl`  1 line, 13 characters; what follows a `\\` is an escape, and \
             `\\\\` is one `\\`:\n      1| a\\u{1b}[2J `b` <c>\n    in 1 line, 3 characters:\n      1| x`y\n\
             To approve exactly these commands: /omo:execute-plan docs/plan.md --approve 0123456789ab"
        );
        let spaced = approval_request("my plans/<a>.md", &[], "0123456789abcdef").unwrap();
        assert!(
            spaced.ends_with(": /omo:execute-plan 'my plans/<a>.md' --approve 0123456789ab"),
            "{spaced}"
        );
        let in_steps = approval_request(
            "steps of docs/plan.md",
            &[command("1", "cargo test", None)],
            "0123456789abcdef",
        );
        let in_steps = in_steps.unwrap();
        assert!(
            in_steps.contains("to check its steps:\n  step `1`  `cargo test`\n"),
            "{in_steps}"
        );
        assert!(
            in_steps.ends_with(": /omo:execute-local docs/plan.md --approve 0123456789ab"),
            "{in_steps}"
        );
        let many = vec![command("1", &"x".repeat(1_000), None); 16];
        let shown = approval_request("docs/plan.md", &many, "0123456789abcdef").unwrap();
        assert!(shown.matches('x').count() >= 16_000, "{shown}");
        let too_many = approval_request(
            "docs/plan.md",
            &[many.clone(), many].concat(),
            "0123456789abcdef",
        )
        .unwrap_err();
        assert!(
            too_many.contains("nothing was approved") && !too_many.contains("0123456789ab"),
            "{too_many}"
        );
        assert_eq!(
            plan_approved("p", 1),
            "[omo] approved: the command of the plan `p`, exactly as they are now. Any change asks again."
        );
    }
}
