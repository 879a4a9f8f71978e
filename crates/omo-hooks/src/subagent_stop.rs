//! `SubagentStop`: always silent, since any output would make the subagent continue.
//!
//! The verdict of an awaited reviewer is kept in the session for the next Stop. The end of a plan
//! run's worker is reported to `omo`: the session would otherwise wait for its task.

use std::path::Path;
use std::time::{Duration, Instant};

use omo_claude::hook_input::HookInput;
use omo_core::review::{self, REVIEWER, Review, Reviewer};
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{Session, TokenUse};
use omo_process::watchdog;
use omo_state::files::regular_file::{self, Links};
use omo_state::transcript::count_tokens;

use crate::prompt_source;
use crate::run_prompt;
use crate::runtime::{HookContext, HookError};

/// Agents for tasks of a plan run: this plugin's, and those of its workflow.
const WORKERS: [&str; 3] = ["omo:worker", "omo:verifier", "workflow-subagent"];
/// Maximum size of a searched transcript; with a longer one the run waits for its own timeout.
const MAX_TRANSCRIPT_BYTES: u64 = 32 * 1024 * 1024;
/// Longest wait for the last message, which mostly comes within 80 ms; the client ends this hook after 5 s.
const TRANSCRIPT_WAIT: Duration = Duration::from_secs(1);
const READ_AGAIN: Duration = Duration::from_millis(20);
/// Time beyond the wait, to read the transcript once more.
const SLACK: Duration = Duration::from_secs(1);

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    if input
        .agent_type
        .as_deref()
        .is_some_and(|kind| WORKERS.contains(&kind))
    {
        report_worker(context, input);
    }
    let report = input
        .last_assistant_message
        .as_deref()
        .filter(|_| input.agent_type.as_deref() == Some(REVIEWER));
    // The report of a reviewer below the session's own shell proves nothing, and counts as empty.
    let report = report.map(|report| {
        if prompt_source::is_below_session(context) {
            ""
        } else {
            report
        }
    });
    let reviewer = Reviewer {
        id: input.agent_id.as_deref().unwrap_or_default().to_owned(),
        cwd: input
            .cwd
            .as_ref()
            .map(|cwd| cwd.to_string_lossy().into_owned()),
        transcript: input.agent_transcript_path.as_deref().map(str::to_owned),
    };
    let tokens = agent_tokens(context, input);
    context.update_armed(|session: &mut Session| {
        session.ulw.agent_tokens = session.ulw.agent_tokens.saturating_add(tokens);
        if let Some(report) = report
            && session.verification.requested_review.is_some()
        {
            let verification = &mut session.verification;
            let review = Review {
                reviewer: Some(reviewer),
                ..review::read_review(report, context.env.now)
            };
            verification.review = Some(review::standing_review(verification.review.take(), review));
            if let Some(rejection) = verification.pending_rejection() {
                verification.reject(rejection);
            }
        }
    })
}

fn agent_tokens(context: &HookContext, input: &HookInput) -> u64 {
    let bounded = context
        .peek_if_active()
        .ok()
        .flatten()
        .filter(|session| session.token_bound().is_some());
    let (Some(session), Some(path)) = (bounded, input.agent_transcript_path.as_deref()) else {
        return 0;
    };
    count_tokens(
        Path::new(path),
        &TokenUse::default(),
        session.ulw.started_at,
    )
    .used
}

fn report_worker(context: &HookContext, input: &HookInput) {
    let session = match context.peek_session() {
        Ok(session) => session,
        Err(error) => return context.log_problem(&error),
    };
    let plan = session
        .as_ref()
        .and_then(|session| context.own_plan_run(session));
    if !plan.is_some_and(PlanRun::is_open) || prompt_source::is_below_session(context) {
        return;
    }
    let Some(path) = input.agent_transcript_path.as_deref() else {
        return;
    };
    watchdog::extend_limit(TRANSCRIPT_WAIT + SLACK);
    let read = read_whole_transcript(
        path.as_ref(),
        input.last_assistant_message.as_deref().unwrap_or_default(),
        TRANSCRIPT_WAIT,
    );
    watchdog::reset_limit();
    match read {
        Ok(transcript) => {
            if let Some(task) = task_of_worker(&transcript) {
                run_prompt::report_ended_agent(context, &task);
            }
        }
        Err(problem) => context.log_problem(&format!("the transcript of an agent {problem}")),
    }
}

/// The transcript, once it has the last message: the client may write that, and the ticket, during the hook.
fn read_whole_transcript(
    path: &Path,
    last_message: &str,
    wait: Duration,
) -> Result<String, String> {
    let last_message = serde_json::to_string(last_message).unwrap_or_default();
    let deadline = Instant::now() + wait;
    loop {
        let read = regular_file::read(path, MAX_TRANSCRIPT_BYTES, Links::Refused)?;
        let transcript = read
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default();
        if transcript.contains(last_message.trim_matches('"')) || Instant::now() >= deadline {
            return Ok(transcript);
        }
        std::thread::sleep(READ_AGAIN);
    }
}

/// `TASK TICKET`, or `TASK -` without a ticket. A ticket is secret: no text about another task can name it.
fn task_of_worker(transcript: &str) -> Option<String> {
    let task = transcript
        .split("omo agent start ")
        .nth(1)
        .map(first_word)
        .filter(|task| !task.is_empty())?;
    // `TICKET` stands for a ticket in the commands of a brief.
    let ticket = transcript
        .split("--ticket ")
        .skip(1)
        .map(first_word)
        .filter(|ticket| !ticket.is_empty() && ticket != "TICKET")
        .last();
    Some(format!("{task} {}", ticket.as_deref().unwrap_or("-")))
}

fn first_word(text: &str) -> String {
    text.chars()
        .take(64)
        .take_while(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_read_once_its_last_message_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("agent.jsonl");
        std::fs::write(&path, "Begin with: omo agent start 1 --run r\n").unwrap();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                std::thread::sleep(Duration::from_millis(60));
                let rest = "--ticket a1 --next\n{\"text\":\"He said \\\"all\\\" is\\ndone\"}\n";
                std::fs::write(&path, format!("omo agent start 1 --run r {rest}")).unwrap();
            });
            let long = Duration::from_secs(60);
            let read = read_whole_transcript(&path, "He said \"all\" is\ndone", long).unwrap();
            assert_eq!(task_of_worker(&read).as_deref(), Some("1 a1"));
        });
        // A missing message is not waited for any longer.
        assert!(
            read_whole_transcript(&path, "another", Duration::ZERO)
                .unwrap()
                .contains("--ticket a1")
        );
    }

    #[test]
    fn the_task_of_a_worker_is_that_of_its_prompt_with_its_last_ticket() {
        let read = "Begin with: omo agent start 2-impl --run r\\n… run: omo agent done --run r --ticket a1 --next 4 --note\\n\
                    TASK\\nTask 3 … run: omo agent done --run r --ticket b2 --next 3";
        assert_eq!(task_of_worker(read).as_deref(), Some("2-impl b2"));
        let shown = format!("{read} omo agent note --ticket TICKET TEXT");
        assert_eq!(task_of_worker(&shown).as_deref(), Some("2-impl b2"));
        assert_eq!(
            task_of_worker("Begin with: omo agent start 1 --run r\"").as_deref(),
            Some("1 -")
        );
        for other in [
            "",
            "look at the code",
            "omo agent start ",
            "omo agent start \u{1b}x",
        ] {
            assert_eq!(task_of_worker(other), None, "{other:?}");
        }
    }
}
