//! `SubagentStop`: a subagent's turn ended. Says nothing, ever: anything said here would make the
//! subagent go on.
//!
//! Where it is the reviewer's, and a review is waited for, its verdict is written down. Whether
//! that counts is decided at the next Stop.

use omo_claude::hook_input::HookInput;
use omo_core::review::{self, REVIEWER, Review, Reviewer};
use omo_core::session::Session;

use crate::prompt_source;
use crate::runtime::{HookContext, HookError};

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
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
