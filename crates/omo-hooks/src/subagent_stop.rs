//! `SubagentStop`: a subagent's turn ended. Says nothing, ever: anything said here would make the
//! subagent go on.
//!
//! Where it is the reviewer's, and a review is waited for, its verdict is written down. Whether
//! that counts is decided at the next Stop.
//!
//! Where it was a worker of a plan run, `omo` is told which task it had: one that ends without finishing would keep the
//! session waiting for it.

use omo_claude::hook_input::HookInput;
use omo_core::review::{self, REVIEWER, Review, Reviewer};
use omo_core::session::Session;
use omo_core::session::plan_run::PlanRun;
use omo_state::files::regular_file::{self, Links};

use crate::prompt_source;
use crate::runtime::{HookContext, HookError};
use crate::{plan_runs, run_prompt};

/// The agents that work on tasks of a plan run: those of this plugin, and those that its workflow starts.
const WORKERS: [&str; 4] = ["omo:executor", "omo:worker", "omo:verifier", "workflow-subagent"];
/// A transcript that is longer is not looked through: the run waits for that task as long as it says.
const MAX_TRANSCRIPT_BYTES: u64 = 32 * 1024 * 1024;

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    if input.agent_type.as_deref().is_some_and(|kind| WORKERS.contains(&kind)) {
        report_worker(context, input);
    }
    let report = input.last_assistant_message.as_deref().filter(|_| input.agent_type.as_deref() == Some(REVIEWER));
    // A client that the session's shell started reads what it is told to, and from where: its reviewer says nothing.
    let report = report.map(|report| if prompt_source::is_below_session(context) { "" } else { report });
    let reviewer = Reviewer {
        id: input.agent_id.as_deref().unwrap_or_default().to_owned(),
        cwd: input.cwd.as_ref().map(|cwd| cwd.to_string_lossy().into_owned()),
        transcript: input.agent_transcript_path.as_deref().map(str::to_owned),
    };
    context.update_armed(|session: &mut Session| {
        if let Some(report) = report
            && session.verification.asked.is_some()
        {
            let verification = &mut session.verification;
            let review = Review { reviewer: Some(reviewer), ..review::read_review(report, context.env.now) };
            verification.review = Some(review::standing_review(verification.review.take(), review));
            if let Some(rejection) = verification.pending_rejection() {
                verification.reject(rejection);
            }
        }
    })
}

/// Hands over which task of the session's open plan run an agent had.
fn report_worker(context: &HookContext, input: &HookInput) {
    let session = match context.peek_session() {
        Ok(session) => session,
        Err(error) => return context.log_problem(&error),
    };
    let plan = session.as_ref().and_then(|session| plan_runs::own_plan_run(context, session));
    if !plan.is_some_and(PlanRun::is_open) || prompt_source::is_below_session(context) {
        return;
    }
    let Some(path) = input.agent_transcript_path.as_deref() else { return };
    match regular_file::read(path.as_ref(), MAX_TRANSCRIPT_BYTES, Links::Refused) {
        Ok(Some(bytes)) => {
            if let Some(task) = task_of_worker(&String::from_utf8_lossy(&bytes)) {
                run_prompt::report_ended_agent(context, &task);
            }
        }
        Ok(None) => {}
        Err(problem) => context.log_problem(&format!("the transcript of an agent {problem}")),
    }
}

/// Which task a worker had, by its transcript: the one that it was started for and, behind a blank, the last ticket that
/// it read, or `-`. A ticket is a secret of its worker, so that no text about another task can name that one's.
fn task_of_worker(transcript: &str) -> Option<String> {
    let word = |rest: &str| -> String {
        rest.chars().take(64).take_while(|letter| letter.is_ascii_alphanumeric() || "-_.".contains(*letter)).collect()
    };
    let task = transcript.split("omo agent start ").nth(1).map(word).filter(|task| !task.is_empty())?;
    let ticket = transcript.rsplit_once("--ticket ").map(|(_, rest)| word(rest)).filter(|ticket| !ticket.is_empty());
    Some(format!("{task} {}", ticket.as_deref().unwrap_or("-")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_task_of_a_worker_is_that_of_its_prompt_with_its_last_ticket() {
        let read = "Begin with: omo agent start 2-impl --run r\\n… run: omo agent done --run r --ticket a1 --next 4 --note\\n\
                    TASK\\nTask 3 … run: omo agent done --run r --ticket b2 --next 3";
        assert_eq!(task_of_worker(read).as_deref(), Some("2-impl b2"));
        assert_eq!(task_of_worker("Begin with: omo agent start 1 --run r\"").as_deref(), Some("1 -"));
        for other in ["", "look at the code", "omo agent start ", "omo agent start \u{1b}x"] {
            assert_eq!(task_of_worker(other), None, "{other:?}");
        }
    }
}
