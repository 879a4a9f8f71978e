//! `Stop`: the turn wants to end, and the table decides.

use std::time::{Duration, Instant};

use omo_core::promise::{Claim, claim};
use omo_core::session::{HookEvent, Session};
use omo_core::stop::{
    BackgroundTask, Judgement, StopAction, StopDecision, StopEvent, StopFacts, TranscriptFacts, allowed_blocks, apply,
    decide, in_cooldown,
};
use omo_core::{log, words};
use omo_store::config::{self, Feedback};
use omo_store::transcript::{self, Tail, read_tail};

use crate::answer::Answer;
use crate::edge::{Context, Hook, HookError};
use crate::input::{Input, Task};

/// The hook.
pub const HOOK: Hook = Hook { event: HookEvent::Stop, handle };

fn handle(context: &Context, input: &Input) -> Result<(), HookError> {
    if input.is_from_subagent() {
        return Ok(());
    }
    let Some(session) = context.glimpse_armed()? else { return Ok(()) };
    if in_cooldown(&session, context.env.now) {
        let_the_transcript_catch_up(input, &session);
    }
    let Some(place) = context.place()? else { return Ok(()) };
    let now = context.env.now;
    let cap = context.env.client_block_cap;
    let decided = place.update_armed(|session| {
        let tail = tail(input, session);
        let event = event(input, session);
        let decision = decide_for(&event, session, tail, context);
        apply(session, &decision, now);
        move_mark(session, &decision, tail);
        (decision, session.clone())
    })?;
    if let Some(((decision, session), lock)) = decided {
        place.log(&lock, &log::of_stop(place.id().as_str(), &session, &decision, cap, now));
        // Printed before the lock is given back: whoever stops the run after that knows that no
        // block comes any more.
        if let Some(answer) = answer(&decision, &session, context) {
            answer.print(context.event);
        }
        drop(lock);
    }
    Ok(())
}

/// Within the cooldown it matters whether a tool was called, and a tool that was called a moment
/// ago may not be in the transcript yet. Waited for before the lock is taken.
fn let_the_transcript_catch_up(input: &Input, session: &Session) {
    const AT_MOST: Duration = Duration::from_millis(200);
    const LOOK_EVERY: Duration = Duration::from_millis(5);
    let (Some(path), Some(message)) = (&input.transcript_path, &input.last_assistant_message) else { return };
    let start = Instant::now();
    while start.elapsed() < AT_MOST
        && !transcript::has_caught_up(path, session.transcript, session.ulw.last_stop_at, message)
    {
        std::thread::sleep(LOOK_EVERY);
    }
}

fn decide_for(event: &StopEvent, session: &Session, tail: Tail, context: &Context) -> StopDecision {
    let facts = StopFacts {
        event,
        session: Some(session),
        transcript: TranscriptFacts {
            input_waiting: tail.input_waiting,
            interrupted: tail.interrupted,
            tool_called_since_block: tail.tool_called_since_block,
        },
        client_block_cap: context.env.client_block_cap,
        // Nothing can judge a claim yet: no gate and no review exists.
        judgement: (event.claim == Some(Claim::Done)).then_some(Judgement::NothingToJudgeBy),
        same_failure_sent: 0,
        now: context.env.now,
    };
    decide(Some(&facts))
}

fn event(input: &Input, session: &Session) -> StopEvent {
    let said = match &input.last_assistant_message {
        Some(message) => claim(message),
        // Only where the client does not say what was said last is the transcript asked.
        None => input
            .transcript_path
            .as_deref()
            .and_then(|path| transcript::last_assistant_text(path, session.transcript))
            .and_then(|text| claim(&text)),
    };
    StopEvent {
        from_subagent: input.is_from_subagent(),
        claim: said,
        plan_mode: input.is_plan_mode(),
        background: input.background_tasks.iter().flatten().map(background_task).collect(),
        wakeup_scheduled: input.session_crons.as_ref().is_some_and(|crons| !crons.is_empty()),
    }
}

fn background_task(task: &Task) -> BackgroundTask {
    let label = task.command.as_ref().or(task.description.as_ref());
    BackgroundTask {
        id: task.id.to_string(),
        kind: task.kind.to_string(),
        status: task.status.to_string(),
        label: label.map(ToString::to_string).unwrap_or_default(),
    }
}

fn tail(input: &Input, session: &Session) -> Tail {
    let read = |path| read_tail(path, session.transcript, session.ulw.last_stop_at);
    input.transcript_path.as_deref().map_or_else(Tail::default, read)
}

/// A block, or a pause, has made use of what the transcript said; after anything else the next
/// Stop must see it again.
fn move_mark(session: &mut Session, decision: &StopDecision, tail: Tail) {
    match decision.action {
        StopAction::Block(_) => {
            session.transcript.offset = tail.next_offset;
            session.transcript.block_offset = tail.end;
        }
        StopAction::Pause(_) => session.transcript.offset = tail.next_offset,
        StopAction::Allow | StopAction::AllowAndWarn | StopAction::End { .. } => {}
    }
}

fn answer(decision: &StopDecision, session: &Session, context: &Context) -> Option<Answer> {
    let cap = context.env.client_block_cap;
    match &decision.action {
        StopAction::Allow | StopAction::Pause(_) => None,
        StopAction::AllowAndWarn => Some(Answer::Notice { user: words::let_through(decision.row), model: None }),
        StopAction::Block(block) => {
            let reason = words::block_reason(session, block);
            Some(match config::load(context.env.config_file.as_deref()).feedback {
                Feedback::Block => Answer::Block(reason),
                Feedback::Context => Answer::GoOn(reason),
            })
        }
        StopAction::End { verdict, why } => {
            let allowed = allowed_blocks(session, cap);
            Some(Answer::Bell(words::ended(&session.ulw, allowed, decision.row, *verdict, why, context.env.now)))
        }
    }
}
