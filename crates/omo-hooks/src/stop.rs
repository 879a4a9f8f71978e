//! `Stop`: the turn wants to end, and the table decides.

mod verify_claim;

use std::time::{Duration, Instant};

use omo_claude::hook_input::{BackgroundTaskInput, HookInput};
use omo_claude::hook_output::HookAnswer;
use omo_core::messages::notification::terminal_notification;
use omo_core::messages::run_end;
use omo_core::promise::read_claim;
use omo_core::run_command::EndedRunName;
use omo_core::session::{EntryProvenance, HookEvent, Session, VerdictKind};
use omo_core::stop::claim::{ClaimOutcome, count_standing_failure, has_awaited_review, note_standing_failure};
use omo_core::stop::{
    BackgroundTask, StopAction, StopDecision, StopEvent, StopFacts, StopRow, TranscriptFacts, allowed_blocks,
    apply_decision, decide, decide_provenance, in_cooldown, needs_judgement, note_rest, plan_continues,
};
use omo_core::timestamp::Timestamp;
use omo_core::{log_entry, messages};
use omo_process::watchdog;
use omo_state::config::{self, FeedbackMode};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::state::{CorruptPolicy, EntryChange, StateError, sealed_plan_run};
use omo_state::transcript::{self, TranscriptTail};
use omo_state::{decision_log, ended_runs, env, hook_error_log, seal};

use crate::runtime::{HookContext, HookError, SessionEntry};
use crate::{plan_notice, plan_runs, run_prompt, stopped_outside};

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    if input.is_from_subagent() {
        return Ok(());
    }
    let Some(session) = context.peek_for_stop()? else { return Ok(()) };
    // Of a run that is on this is asked where something rests on it: before a claim is judged, and under the lock.
    if !session.is_armed() && context.provenance(&session)? == EntryProvenance::Own {
        let line = stopped_outside::line(context, &session)?;
        match plan_notice::take(context, &session)? {
            Some(run) => plan_notice::print_with_page(context, &run, line.as_deref()),
            None => {
                if let Some(answer) = HookAnswer::with_line(line, None) {
                    answer.print(context.event);
                }
            }
        }
        return Ok(());
    }
    if in_cooldown(&session, context.env.now) {
        wait_for_transcript(input, &session);
    }
    let Some(place) = context.session_entry()? else { return Ok(()) };
    let stop = RunStop { context, event: stop_event(input, &session), run_started_at: session.ulw.started_at };
    report_timeout(context, &place, &session);
    let found = if stop.has_claim_to_verify(&session, input) {
        let Some(check) = verify_claim::verify_claim(context, &place, input)? else { return Ok(()) };
        StopFindings::Claim(Box::new(check))
    } else if session.verification.failure.is_some() && !stop.plan_goes_on(&session) {
        StopFindings::Tree(verify_claim::present_tree_id(context, &session))
    } else {
        StopFindings::NotAsked
    };
    stop.decide_and_apply(&place, input, &found)
}

/// A Stop whose time runs out is let through and not counted, which is said and written down.
fn report_timeout(context: &HookContext, place: &SessionEntry, session: &Session) {
    const WHY: &str = "its time ran out before it was judged; it was let through uncounted";
    let Some(root) = context.root.clone() else { return };
    let (id, session) = (place.id().to_string(), session.clone());
    watchdog::on_timeout(move || {
        HookAnswer::Notice { user: messages::checks::time_ran_out(), model: None }.print(HookEvent::Stop);
        let entry = log_entry::new_entry(&id, &session, HookEvent::Stop.name(), "allow".to_owned(), WHY, env::now());
        let logged = GuardedFolder::open_state(&root).ok().flatten().is_some_and(|folder| {
            StateLock::take(&folder, DEADLINE).is_ok_and(|_lock| decision_log::append(&folder, &entry).is_ok())
        });
        if !logged {
            hook_error_log::append(&root, env::now(), HookEvent::Stop.name(), &WHY);
        }
    });
}

/// A Stop of a run.
struct RunStop<'a> {
    context: &'a HookContext,
    event: StopEvent,
    /// When the run was turned on: another one that began meanwhile is not meant.
    run_started_at: Option<Timestamp>,
}

/// What was found out about a Stop before the lock is taken.
enum StopFindings {
    /// Nothing was asked.
    NotAsked,
    /// Nothing was claimed; the work tree, since a failure still stands.
    Tree(Option<String>),
    /// What a claim is worth.
    Claim(Box<ClaimOutcome>),
}

impl StopFindings {
    fn check(&self) -> Option<&ClaimOutcome> {
        match self {
            Self::Claim(check) => Some(check),
            Self::NotAsked | Self::Tree(_) => None,
        }
    }
}

impl RunStop<'_> {
    /// Whether the session executes a plan that waits for no answer of a person.
    fn plan_goes_on(&self, session: &Session) -> bool {
        plan_continues(&self.facts(session, TranscriptTail::default(), &StopFindings::NotAsked))
    }

    /// Whether there is something to judge. The transcript is only read where that may be so.
    fn has_claim_to_verify(&self, session: &Session, input: &HookInput) -> bool {
        let asks = self.event.claim.is_some() || has_awaited_review(session);
        asks && needs_judgement(&self.facts(session, self.context.read_turn(input, session).0, &StopFindings::NotAsked))
    }

    /// Decides under the lock, writes it down, and says it.
    fn decide_and_apply(&self, place: &SessionEntry, input: &HookInput, found: &StopFindings) -> Result<(), HookError> {
        // Checks take their time.
        let now = if found.check().is_some() { env::now() } else { self.context.env.now };
        let cap = self.context.env.client_block_cap;
        let (decided, lock) = place.update(DEADLINE, CorruptPolicy::Refuse, |session| {
            let state_home = self.context.env.state_home.as_deref();
            let provenance = match seal::provenance(state_home, place.id(), session) {
                Ok(provenance) => provenance,
                Err(error) => return (Err(error), EntryChange::Keep),
            };
            if let Some(decision) = decide_provenance(provenance) {
                apply_decision(session, &decision, now);
                return (Ok(Some((decision, session.clone(), None))), EntryChange::Begin);
            }
            if !session.is_armed() {
                return (Ok(None), EntryChange::Keep);
            }
            session.last_seen.note(self.context.event, self.context.env.now);
            // Another run, or another judge, than what was looked at, or a plan that was opened
            // meanwhile: the next Stop is asked.
            let is_void = |check: &ClaimOutcome| !check.covers_all_checks(session) || self.plan_goes_on(session);
            if session.ulw.started_at != self.run_started_at || found.check().is_some_and(is_void) {
                return (Ok(None), EntryChange::Write);
            }
            let (tail, turn) = self.context.read_turn(input, session);
            session.count_turn(turn);
            let mut decision = decide(Some(&StopFacts { now, ..self.facts(session, tail, found) }));
            if let (StopAction::End { verdict: VerdictKind::Verified, why }, Some(check)) =
                (&mut decision.action, found.check())
            {
                *why = messages::checks::describe_proof(&check.findings, session.verification.review_wanted);
            }
            record_findings(session, &decision, found, tail, now);
            apply_decision(session, &decision, now);
            note_rest(session, &decision, &self.event, now);
            advance_transcript(session, &decision, tail);
            let plan = plan_notice::is_due(&decision, session)
                .then(|| sealed_plan_run::take_untold(session, place.id(), state_home));
            let is_let_through = matches!(decision.action, StopAction::Allow | StopAction::AllowAndWarn);
            let change = if is_let_through { EntryChange::Write } else { EntryChange::WriteOwn };
            (Ok(Some((decision, session.clone(), plan.flatten()))), change)
        })?;
        if let Some((decision, session, plan)) = decided.map_err(StateError::from)? {
            let answer = stop_answer(&decision, &session, found.check(), self.context);
            let answer = plan_notice::with_notice(self.context, plan.as_ref(), answer);
            let ended_at = session.verdict.as_ref().filter(|_| matches!(decision.action, StopAction::End { .. }));
            match (answer, ended_at) {
                // It names the page, which shows what is written down below.
                (Some(ending), Some(_)) => self.context.print_at_timeout(ending),
                // Printed before the lock is given back: a user who stops the run after that knows that no block comes
                // any more. And before it is logged: a log on a busy disk may take longer than this hook may.
                (Some(answer), None) => answer.print(self.context.event),
                (None, _) => {}
            }
            place.log(&lock, &log_entry::stop_entry(place.id().as_str(), &session, &decision, found.check(), cap, now));
            if let Some(end) = ended_at {
                let difference = found.check().and_then(|check| check.findings.difference.as_deref());
                let state_home = self.context.env.state_home.as_deref();
                // With the decision that was just logged. A page of the run has less to show where this fails.
                let _ = ended_runs::complete(place.folder(), place.id(), end.at, difference, state_home);
            }
            drop(lock);
            if let Some(end) = ended_at {
                let page = run_prompt::write_page(self.context, &EndedRunName::Ultrawork(end.at));
                let ending = ending_answer(&session, self.context, page.as_deref());
                if let Some(ending) = plan_notice::with_notice(self.context, plan.as_ref(), ending) {
                    ending.print(self.context.event);
                }
            }
        }
        Ok(())
    }

    fn facts<'a>(&'a self, session: &'a Session, tail: TranscriptTail, found: &'a StopFindings) -> StopFacts<'a> {
        let told = match found {
            StopFindings::NotAsked => 0,
            StopFindings::Tree(tree) => count_standing_failure(session, tree.as_deref()),
            StopFindings::Claim(check) => check.times_reported(session),
        };
        StopFacts {
            event: &self.event,
            session: Some(session),
            transcript: TranscriptFacts {
                input_waiting: tail.input_waiting,
                interrupted: tail.interrupted,
                tool_called_since_block: tail.tool_called_since_block,
            },
            client_block_cap: self.context.env.client_block_cap,
            judgement: found.check().map(|check| check.judgement),
            same_failure_sent: told,
            plan: plan_runs::own_plan_run(self.context, session),
            now: self.context.env.now,
        }
    }
}

/// What was found is written down with the decision, unless something came before it.
fn record_findings(
    session: &mut Session,
    decision: &StopDecision,
    found: &StopFindings,
    tail: TranscriptTail,
    now: Timestamp,
) {
    match found {
        StopFindings::Claim(check) if decision.row > StopRow::SaidBlocked => check.record(session, now, tail.end),
        StopFindings::Tree(tree) if matches!(decision.action, StopAction::Block(_)) => {
            note_standing_failure(session, tree.clone());
        }
        _ => {}
    }
}

/// Within the cooldown it matters whether a tool was called, and a tool that was called a moment
/// ago may not be in the transcript yet. Waited for before the lock is taken.
fn wait_for_transcript(input: &HookInput, session: &Session) {
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

fn stop_event(input: &HookInput, session: &Session) -> StopEvent {
    let said = match &input.last_assistant_message {
        Some(message) => read_claim(message),
        // Only where the client does not say what was said last is the transcript asked.
        None => input
            .transcript_path
            .as_deref()
            .and_then(|path| transcript::last_assistant_text(path, session.transcript))
            .and_then(|text| read_claim(&text)),
    };
    StopEvent {
        from_subagent: input.is_from_subagent(),
        claim: said,
        plan_mode: input.is_plan_mode(),
        background: input.background_tasks.iter().flat_map(|tasks| &tasks.0).map(background_task).collect(),
        prompt_id: input.prompt_id.as_deref().map(str::to_owned),
        wakeup_scheduled: input.session_crons.as_ref().is_some_and(|crons| !crons.is_empty()),
    }
}

fn background_task(task: &BackgroundTaskInput) -> BackgroundTask {
    let label = task.command.as_ref().or(task.description.as_ref());
    BackgroundTask {
        id: task.id.to_string(),
        kind: task.kind.to_string(),
        status: task.status.to_string(),
        label: label.map(ToString::to_string).unwrap_or_default(),
    }
}

/// A block, or a pause, has made use of what the transcript said; after anything else the next
/// Stop must see it again.
fn advance_transcript(session: &mut Session, decision: &StopDecision, tail: TranscriptTail) {
    match decision.action {
        StopAction::Block(_) => {
            session.transcript.offset = tail.next_offset;
            session.transcript.block_offset = tail.end;
        }
        StopAction::Pause(_) => session.transcript.offset = tail.next_offset,
        StopAction::Allow | StopAction::AllowAndWarn | StopAction::End { .. } => {}
    }
}

fn stop_answer(
    decision: &StopDecision,
    session: &Session,
    check: Option<&ClaimOutcome>,
    context: &HookContext,
) -> Option<HookAnswer> {
    match &decision.action {
        StopAction::Allow | StopAction::Pause(_) => None,
        StopAction::AllowAndWarn => Some(HookAnswer::Notice { user: messages::let_through(decision.row), model: None }),
        StopAction::Block(block) => {
            let reason = messages::block_reason(session, block, check, plan_runs::own_plan_run(context, session));
            Some(match config::load(context.env.config_file.as_deref()).feedback {
                FeedbackMode::Block => HookAnswer::Block(reason),
                FeedbackMode::Context => HookAnswer::ContinueWithContext(reason),
            })
        }
        StopAction::End { .. } => ending_answer(session, context, None),
    }
}

/// How a run has ended, for its user and their terminal.
fn ending_answer(session: &Session, context: &HookContext, page: Option<&str>) -> Option<HookAnswer> {
    let allowed_blocks = allowed_blocks(session, context.env.client_block_cap);
    let user = run_end::run_ended_on_page(session, allowed_blocks, page)?;
    let setting = config::load(context.env.config_file.as_deref()).notify;
    let headline = session.verdict.as_ref().map(|verdict| run_end::headline(session, verdict));
    let terminal = terminal_notification(setting.bell, setting.desktop, &headline.unwrap_or_default());
    Some(HookAnswer::Notify { user, terminal })
}
