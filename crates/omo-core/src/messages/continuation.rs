//! Messages about a turn that omo continues or lets end, and about a run that is resumed.

use super::contract::CONTRACT_MARK;
use super::run_end::objection;
use super::{checks, plan};
use crate::session::plan_run::PlanRun;
use crate::session::{Session, UlwRun, UlwTrigger};
use crate::stop::claim::ClaimOutcome;
use crate::stop::{BackgroundTask, BlockCause, StopBlock, StopRow};
use crate::text::{format_age, sanitize};
use crate::timestamp::Timestamp;

pub(crate) const REASON_CHARS: usize = 2_000;

pub(super) const HOW_TO_STOP: &str =
    "The user ends it by typing `ulw off`, also while the model works; Esc pauses it.";

/// Text for the model whose turn is continued; `check` is the claim's result, `plan` the executed
/// plan.
pub fn block_reason(
    session: &Session,
    block: &StopBlock,
    check: Option<&ClaimOutcome>,
    plan: Option<&PlanRun>,
) -> String {
    let plan = plan.filter(|_| block.cause == BlockCause::PlanContinues);
    let mut lines = Vec::new();
    if session.ulw.trigger == Some(UlwTrigger::Cli)
        && block.number == 1
        && check.is_none()
        && plan.is_none()
        && let Some(task) = &session.ulw.task
    {
        lines.push(format!("Task: {}", sanitize(task, 300)));
    }
    if !block.newly_named.is_empty() {
        lines.push(format!(
            "Still running in the background: {}. End the turn again if you wait for that.",
            list_tasks(&block.newly_named)
        ));
    }
    if block.cause == BlockCause::FailedAttempt {
        lines.push(format!(
            "failed claim {} of {}",
            session.verification.attempts,
            session.max_attempts()
        ));
    }
    lines.push(format!(
        "continuation {} of {}",
        block.number, block.allowed
    ));
    lines.push(HOW_TO_STOP.to_owned());
    let end = lines.join("\n");
    let room = REASON_CHARS.saturating_sub(end.chars().count() + 1);
    let against = plan.map_or_else(
        || checks::objection_lines(session, check),
        plan::remaining_lines,
    );
    format!("{}\n{end}", checks::truncate_lines(&against, room))
}

const NAMED_TASKS: usize = 5;

fn list_tasks(tasks: &[BackgroundTask]) -> String {
    let mut names: Vec<String> = tasks
        .iter()
        .take(NAMED_TASKS)
        .map(|task| {
            format!(
                "{} `{}`",
                sanitize(&task.kind, 20),
                sanitize(&task.label, 80).replace('`', "'")
            )
        })
        .collect();
    if tasks.len() > NAMED_TASKS {
        names.push(format!("and {} more", tasks.len() - NAMED_TASKS));
    }
    names.join(", ")
}

/// Line for the user about a turn that ends; `failed_claim` is the session of a failed claim.
pub fn let_through(row: StopRow, failed_claim: Option<&Session>) -> String {
    let objection = failed_claim
        .and_then(objection)
        .map(|objection| format!(" The claim failed: {objection}."));
    format!(
        "[omo] ultrawork let this turn end: {}.{} The run stays on; your next prompt goes on, `ulw off` ends it.",
        row.label(),
        objection.unwrap_or_default(),
    )
}

pub fn run_resumed_context(session: &Session, allowed_blocks: u32, now: Timestamp) -> String {
    let task = session
        .ulw
        .task
        .as_deref()
        .map(|task| format!("\nThe task, in the user's words: {}", sanitize(task, 500)));
    format!(
        "{CONTRACT_MARK}\nThe ultrawork run that the user turned on {} ago is {}.{}\nThe final message ends with \
         `<promise>DONE</promise>` alone on its last line once all is done and checked, or with \
         `<promise>BLOCKED: the reason</promise>`. {HOW_TO_STOP}\n</ultrawork-mode>",
        format_age(session.ulw.started_at, now),
        run_standing(&session.ulw, allowed_blocks),
        task.unwrap_or_default(),
    )
}

pub fn run_resumed(session: &Session, allowed_blocks: u32, now: Timestamp) -> String {
    format!(
        "[omo] this session has an ultrawork run, {} old, {}. `ulw off` ends it.",
        format_age(session.ulw.started_at, now),
        run_standing(&session.ulw, allowed_blocks),
    )
}

fn run_standing(ulw: &UlwRun, allowed_blocks: u32) -> String {
    let state = if ulw.paused.is_some() { "paused" } else { "on" };
    format!(
        "{state}, {} of {allowed_blocks} continuations used",
        ulw.stop_blocks
    )
}

#[cfg(test)]
mod tests {
    use super::super::tests::armed;
    use super::*;
    use crate::check::printed_output::PrintedOutput;
    use crate::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict};
    use crate::session::claim_state::ReportedFailure;
    use crate::stop::claim::{
        CheckResult, ClaimFindings, ClaimJudgement, ClaimReason, ReviewMaterial,
    };

    /// With the client's wrapping of additional context, as measured: docs/adr/0028.
    #[test]
    fn a_reason_costs_few_characters() {
        const WRAPPING: usize =
            "<system-reminder>\nStop hook additional context: \n</system-reminder>".len();
        let block = |cause| StopBlock {
            number: 3,
            allowed: 8,
            newly_named: Vec::new(),
            cause,
        };
        let cost = |session: &Session, cause, check: Option<&ClaimOutcome>| {
            WRAPPING
                + block_reason(session, &block(cause), check, None)
                    .chars()
                    .count()
        };
        let mut session = armed(UlwTrigger::Keyword);
        assert!(cost(&session, BlockCause::Unfinished, None) <= 600);
        session.verification.failure = Some(ReportedFailure {
            text: "x".repeat(5_000),
            ..ReportedFailure::default()
        });
        session.verification.attempts = 2;
        assert!(cost(&session, BlockCause::Unfinished, None) <= 600);
        let outcome = |judgement, reason, verdict, printed: &[String]| {
            let check = CheckResult {
                command: "cargo test --workspace --all-features".to_owned(),
                name: "tests".to_owned(),
                printed: PrintedOutput {
                    first_lines: printed.to_vec(),
                    ..PrintedOutput::default()
                },
                record: CheckRecord {
                    verdict,
                    detail: "exit status 101".to_owned(),
                    ..CheckRecord::default()
                },
                ..CheckResult::default()
            };
            let findings = ClaimFindings {
                checks: vec![check],
                ..ClaimFindings::default()
            };
            let path = format!(
                "/home/someone/.local/state/omo/reviews/{}.md",
                "a".repeat(40)
            );
            let material = Some(ReviewMaterial {
                path,
                digest: "d".to_owned(),
            });
            ClaimOutcome {
                judgement,
                reason,
                findings,
                material,
                rejection: None,
            }
        };
        let lines = vec!["assertion failed: left == right".to_owned(); 9];
        let red = outcome(
            ClaimJudgement::Failed,
            ClaimReason::RedChecks,
            CheckVerdict::Failed,
            &lines,
        );
        let printed: usize = lines.iter().map(|line| line.len() + 1).sum();
        assert!(cost(&session, BlockCause::FailedAttempt, Some(&red)) <= 600 + printed);
        let wanted = ClaimJudgement::ReviewWanted { again: false };
        let wanted = outcome(wanted, ClaimReason::FirstReview, CheckVerdict::Green, &[]);
        assert!(cost(&session, BlockCause::Unfinished, Some(&wanted)) <= 750);
    }

    #[test]
    fn a_reason_counts_and_names_the_way_out() {
        let block = StopBlock {
            number: 3,
            allowed: 8,
            newly_named: Vec::new(),
            cause: BlockCause::Unfinished,
        };
        let reason = block_reason(&armed(UlwTrigger::Keyword), &block, None, None);
        let last: Vec<&str> = reason.lines().rev().take(2).collect();
        assert_eq!(last, [HOW_TO_STOP, "continuation 3 of 8"]);
    }

    #[test]
    fn a_plan_that_goes_on_is_what_is_left_to_do() {
        let run = PlanRun {
            id: "r-1".to_owned(),
            total: 7,
            passed: 3,
            failed: 1,
            running: Some("4".to_owned()),
            next: "omo agent next".to_owned(),
            ..PlanRun::default()
        };
        let block = StopBlock {
            number: 3,
            allowed: 8,
            newly_named: Vec::new(),
            cause: BlockCause::PlanContinues,
        };
        let session = armed(UlwTrigger::Cli);
        let reason = block_reason(
            &session,
            &StopBlock {
                number: 1,
                ..block.clone()
            },
            None,
            Some(&run),
        );
        assert_eq!(
            reason,
            format!(
                "[omo] The plan run `r-1` stands at 3 of 7 tasks, 1 failed, task `4` is under way; next: `omo agent next`.\n\
                 A claim is judged once that run has ended. If it cannot go on, the final message ends with \
                 `<promise>BLOCKED: the reason</promise>` alone on its last line.\ncontinuation 1 of 8\n{HOW_TO_STOP}"
            )
        );
        let other = StopBlock {
            cause: BlockCause::Unfinished,
            ..block
        };
        let expected = block_reason(&session, &other, None, None);
        assert_eq!(
            block_reason(&session, &other, None, Some(&run)),
            expected,
            "a plan that does not go on"
        );
        let long = PlanRun {
            next: "n".repeat(9_000),
            running: Some("u".repeat(9_000)),
            ..run
        };
        let other = StopBlock {
            newly_named: vec![BackgroundTask::default(); 9],
            cause: BlockCause::PlanContinues,
            ..other
        };
        assert!(
            block_reason(&session, &other, None, Some(&long))
                .chars()
                .count()
                <= REASON_CHARS
        );
    }

    #[test]
    fn a_turn_that_is_let_through_says_why_its_claim_failed() {
        let mut session = armed(UlwTrigger::Keyword);
        let mut check = Check::new(None, "sh test.sh", CheckOrigin::User).unwrap();
        check.last = Some(CheckRecord {
            verdict: CheckVerdict::Failed,
            last_line: "expected 5, got -1".to_owned(),
            ..CheckRecord::default()
        });
        session.checks = vec![check];
        let silent = let_through(StopRow::Cooldown, None);
        let told = let_through(StopRow::Cooldown, Some(&session));
        assert!(!silent.contains("claim"), "{silent}");
        assert_eq!(
            told.replace(
                " The claim failed: sh test.sh is red (expected 5, got -1).",
                ""
            ),
            silent
        );
        assert_ne!(told, silent);
    }
}
