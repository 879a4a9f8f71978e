//! Lines about a run that is stopped, paused, or waits for its user.

use super::{CONTRACT_MARK, plan};
use crate::session::plan_run::PlanRun;
use crate::session::{PauseReason, Session};
use crate::text::sanitize;

/// Line for the user, shown once after Esc or an error that only a person can fix.
pub fn run_paused(reason: PauseReason) -> String {
    let why = match reason {
        PauseReason::Interrupted => "you interrupted it",
        PauseReason::ApiError => "of an API error that needs you",
        PauseReason::Asked => "you said so",
        PauseReason::TokensSpent => "its tokens are used",
    };
    format!(
        "[omo] ultrawork is paused because {why}: nothing is continued. Type `ulw` to go on, `ulw off` to end it."
    )
}

pub fn tokens_spent(session: &Session) -> String {
    let (used, bound) = session.token_bound().unwrap_or_default();
    format!(
        "[omo] PAUSED: {used} of {bound} tokens used. `ulw` goes on with as many again, `ulw --max-tokens N` with another \
         bound; `ulw off` ends it."
    )
}

pub fn user_said_stop() -> String {
    "[omo] The user stopped the run: do nothing more of the task until they ask for it. This turn may end.".to_owned()
}

pub fn answers_question() -> String {
    "[omo] you are answered without continuations; your next prompt goes on with the run".to_owned()
}

pub fn awaits_answer() -> String {
    "[omo] ultrawork waits for your answer to what it asks; nothing was counted. Your next prompt goes on, `ulw off` ends it."
        .to_owned()
}

/// Answer to `ulw off`, which does not stop the session's plan.
pub fn run_stopped(was_armed: bool, plan: Option<&PlanRun>) -> String {
    let state = if was_armed {
        "[omo] ultrawork is stopped in this session. Nothing is continued until you type `ulw`, which goes on with its task, or `ulw <task>` for another."
    } else {
        "[omo] no ultrawork run is on in this session. Nothing is continued until you type `ulw`."
    };
    let stays = plan.filter(|plan| plan.is_open()).map(plan::stays_open);
    stays.map_or_else(|| state.to_owned(), |stays| format!("{state} {stays}"))
}

/// `true` for a prompt that the client puts back into its input line: all but slash commands
/// (measured on 2.1.328).
pub fn stays_in_line(prompt: &str) -> bool {
    !prompt.trim_start().starts_with('/')
}

pub fn with_way_to_clear(answer: &str) -> String {
    let blank = match answer {
        text if text.contains('\n') => "\n",
        text if text.ends_with('.') => " ",
        _ => ". ",
    };
    format!("{answer}{blank}Ctrl-U clears the input line.")
}

/// Line for the user, shown once in a session whose run `omo stop` ended in a terminal.
pub fn run_stopped_outside(reason: Option<&str>) -> String {
    let why = reason
        .map(|reason| format!(" ({})", sanitize(reason, 200)))
        .unwrap_or_default();
    format!("[omo] STOPPED by `omo stop`{why}. Nothing is continued until you type `ulw` again.")
}

pub fn run_stopped_unwritten(why: &str) -> String {
    format!(
        "[omo] the stop could not be written down ({}). While that lasts omo holds no session either; \
         `OMO_DISABLE=1` turns it off for certain.",
        sanitize(why, 200)
    )
}

pub fn run_stopped_context() -> String {
    format!(
        "{CONTRACT_MARK}\nThe user turned ultrawork off in this prompt. No turn is continued any more.\n</ultrawork-mode>"
    )
}
