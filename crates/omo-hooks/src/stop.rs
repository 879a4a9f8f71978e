//! Hook `Stop`: the turn is about to end, and the table in `omo_core::stop` allows it, blocks it or ends the run.

mod verify_claim;

use std::time::{Duration, Instant};

use omo_claude::hook_input::{BackgroundTaskInput, HookInput};
use omo_claude::hook_output::HookAnswer;
use omo_claude::version::ClientVersion;
use omo_core::log_entry::LogEntry;
use omo_core::messages::notification::terminal_notification;
use omo_core::messages::run_end;
use omo_core::promise::read_claim;
use omo_core::prompt::question::asks_a_person;
use omo_core::run_command::EndedRunName;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::rest::TurnBegin;
use omo_core::session::{EntryProvenance, HookEvent, PauseReason, Session, VerdictKind};
use omo_core::stop::{
    BackgroundTask, StopAction, StopDecision, StopEvent, StopFacts, StopFinding, TranscriptTail,
    allowed_blocks, apply_decision, decide, decide_provenance, in_cooldown, needs_judgement,
    provenance_by_transcript,
};
use omo_core::timestamp::Timestamp;
use omo_core::{log_entry, messages};
use omo_process::watchdog;
use omo_state::config::{self, FeedbackMode};
use omo_state::ended_runs::EndedWork;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::seal::KeyError;
use omo_state::state::{CorruptPolicy, EntryChange, StateError, sealed_plan_run};
use omo_state::{decision_log, ended_runs, env, hook_error_log, seal, transcript};

use crate::runtime::{HookContext, HookError, SessionEntry};
use crate::{plan_notice, run_prompt, stopped_outside};

pub(crate) fn handle(context: &HookContext, input: &HookInput) -> Result<(), HookError> {
    if input.is_from_subagent() {
        return Ok(());
    }
    let Some(session) = context.peek_for_stop()? else {
        return Ok(());
    };
    // Provenance of an armed session is checked later: before a judgement, and under the lock.
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
    let Some(session_entry) = context.session_entry()? else {
        return Ok(());
    };
    report_timeout(context, &session_entry, &session);
    let Some(mut facts) = gather(context, &session_entry, input, &session)? else {
        return Ok(());
    };
    let (decided, lock) = session_entry.update(DEADLINE, CorruptPolicy::Refuse, |entry| {
        decide_under_lock(context, &session_entry, input, &session, entry, &mut facts)
    })?;
    if let Some(decided) = decided.map_err(StateError::from)? {
        answer(context, &session_entry, lock, &facts, decided);
    }
    Ok(())
}

fn gather(
    context: &HookContext,
    session_entry: &SessionEntry,
    input: &HookInput,
    session: &Session,
) -> Result<Option<StopFacts>, HookError> {
    if in_cooldown(session, context.env.now) {
        wait_for_transcript(input, session);
    }
    let mut facts = StopFacts {
        event: stop_event(input, session),
        transcript: TranscriptTail::default(),
        client_block_cap: context.env.client_block_cap,
        finding: StopFinding::NotAsked,
        plan: context.own_plan_run(session).cloned(),
        tokens: None,
        now: context.env.now,
    };
    facts.tokens = session
        .token_bound()
        .and(input.transcript_path.as_deref())
        .map(|path| transcript::count_tokens(path, &session.ulw.tokens, session.ulw.started_at));
    // The transcript is read only where it may matter, and may leave nothing to judge.
    if needs_judgement(session, &facts) {
        facts.transcript = context.read_turn(input, session).0;
    }
    if needs_judgement(session, &facts) {
        // No check of a foreign entry is run: under the lock it ends the run.
        if context.provenance(session)? == EntryProvenance::Own {
            let Some(outcome) = verify_claim::verify_claim(context, session_entry, input, session)
            else {
                return Ok(None);
            };
            facts.finding = StopFinding::Claim(Box::new(outcome));
            facts.now = env::now();
        }
    } else if session.verification.failure.is_some() && !facts.plan_continues() {
        facts.finding = StopFinding::Tree(verify_claim::present_tree_id(context, session));
    }
    Ok(Some(facts))
}

struct Decided {
    decision: StopDecision,
    session: Session,
    plan: Option<PlanRun>,
    /// Begin of the turn that ended, where it is known.
    turn_began: Option<Timestamp>,
}

/// Decides by facts that are refreshed under the lock: they were gathered about `session`, its entry before.
fn decide_under_lock(
    context: &HookContext,
    session_entry: &SessionEntry,
    input: &HookInput,
    session: &Session,
    entry: &mut Session,
    facts: &mut StopFacts,
) -> (Result<Option<Decided>, KeyError>, EntryChange) {
    let state_home = context.env.state_home.as_deref();
    let foreign = match seal::provenance(state_home, session_entry.id(), entry) {
        Ok(provenance) => decide_provenance(provenance),
        Err(error) => return (Err(error), EntryChange::Keep),
    };
    if let Some(decision) = foreign {
        apply_decision(entry, &decision, facts);
        return (
            Ok(Some(Decided {
                decision,
                session: entry.clone(),
                plan: None,
                turn_began: None,
            })),
            EntryChange::Begin,
        );
    }
    if !entry.is_armed() {
        return (Ok(None), EntryChange::Keep);
    }
    entry.last_seen.note(context.event, context.env.now);
    facts.plan = context.own_plan_run(entry).cloned();
    // The run or its judge has changed since: the next Stop decides.
    if entry.ulw.started_at != session.ulw.started_at || facts.is_outdated(entry) {
        return (Ok(None), EntryChange::Write);
    }
    let (tail, turn) = context.read_turn(input, entry);
    facts.transcript = tail;
    if let Some(decision) = decide_provenance(provenance_by_transcript(entry, &tail)) {
        apply_decision(entry, &decision, facts);
        return (
            Ok(Some(Decided {
                decision,
                session: entry.clone(),
                plan: None,
                turn_began: None,
            })),
            EntryChange::Begin,
        );
    }
    let turn_began = match entry.turn_begin() {
        Some(TurnBegin::At(at)) => Some(at),
        Some(TurnBegin::AfterRest(_)) | None => turn.rest_ended_at,
    };
    entry.count_turn(turn);
    if let Some(tokens) = facts.tokens.take() {
        entry.ulw.tokens = tokens;
    }
    let mut decision = decide(Some(entry), Some(facts));
    if let (
        StopAction::End {
            verdict: VerdictKind::Verified,
            why,
        },
        Some(claim),
    ) = (&mut decision.action, facts.claim())
    {
        *why = messages::checks::describe_proof(&claim.findings, entry.verification.review_wanted);
    }
    apply_decision(entry, &decision, facts);
    let plan = plan_notice::is_due(&decision, entry)
        .then(|| sealed_plan_run::take_untold(entry, session_entry.id(), state_home))
        .flatten();
    let is_let_through = matches!(
        decision.action,
        StopAction::Allow | StopAction::AllowAndWarn | StopAction::AwaitAnswer
    );
    let change = if is_let_through {
        EntryChange::Write
    } else {
        EntryChange::WriteOwn
    };
    (
        Ok(Some(Decided {
            decision,
            session: entry.clone(),
            plan,
            turn_began,
        })),
        change,
    )
}

fn answer(
    context: &HookContext,
    session_entry: &SessionEntry,
    lock: StateLock,
    facts: &StopFacts,
    decided: Decided,
) {
    let Decided {
        decision,
        session,
        plan,
        turn_began,
    } = decided;
    let spoken = plan_notice::with_notice(
        context,
        plan.as_ref(),
        stop_answer(context, &decision, &session, facts),
    );
    let ended_at = session
        .verdict
        .as_ref()
        .filter(|_| matches!(decision.action, StopAction::End { .. }));
    match (spoken, ended_at) {
        // Printed below with the name of the page, which needs the records; here only at a timeout.
        (Some(ending), Some(_)) => context.print_at_timeout(ending),
        // Before the lock is released, so that no block follows a user's stop, and before the log,
        // which a busy disk may delay.
        (Some(answer), None) => answer.print(context.event),
        (None, _) => {}
    }
    let (id, cap) = (session_entry.id().as_str(), facts.client_block_cap);
    session_entry.log(
        &lock,
        &LogEntry {
            since: turn_began,
            ..log_entry::stop_entry(id, &session, &decision, facts.claim(), cap, facts.now)
        },
    );
    let Some(end) = ended_at else { return };
    let findings = facts.claim().map(|claim| &claim.findings);
    let kept = EndedWork {
        difference: findings.and_then(|findings| findings.difference.as_deref()),
        files: findings
            .and_then(|findings| findings.files.as_deref())
            .filter(|files| !files.is_empty()),
    };
    // Completes the record for the page; after an error the page shows less.
    let _ = ended_runs::complete(
        session_entry.folder(),
        session_entry.id(),
        end.at,
        kept,
        context.env.state_home.as_deref(),
    );
    drop(lock);
    let page = run_prompt::write_page(context, &EndedRunName::Ultrawork(end.at));
    let ending = ending_answer(context, &session, page.as_deref());
    if let Some(ending) = plan_notice::with_notice(context, plan.as_ref(), ending) {
        ending.print(context.event);
    }
}

/// A Stop whose time runs out is let through, not counted, told and logged.
fn report_timeout(context: &HookContext, session_entry: &SessionEntry, session: &Session) {
    const WHY: &str = "its time ran out before it was judged; it was let through uncounted";
    let Some(root) = context.root.clone() else {
        return;
    };
    let (id, session) = (session_entry.id().to_string(), session.clone());
    watchdog::on_timeout(move || {
        HookAnswer::Notice {
            user: messages::checks::time_ran_out(),
            model: None,
        }
        .print(HookEvent::Stop);
        let entry = log_entry::new_entry(
            &id,
            &session,
            HookEvent::Stop.name(),
            "allow".to_owned(),
            WHY,
            env::now(),
        );
        let logged = GuardedFolder::open_state(&root)
            .ok()
            .flatten()
            .is_some_and(|folder| {
                StateLock::take(&folder, DEADLINE)
                    .is_ok_and(|_lock| decision_log::append(&folder, &entry).is_ok())
            });
        if !logged {
            hook_error_log::append(&root, env::now(), HookEvent::Stop.name(), &WHY);
        }
    });
}

/// Waits for late tool calls, which decide within the cooldown; the lock is not taken yet.
fn wait_for_transcript(input: &HookInput, session: &Session) {
    const AT_MOST: Duration = Duration::from_millis(200);
    const POLL_INTERVAL: Duration = Duration::from_millis(5);
    let (Some(path), Some(message)) = (&input.transcript_path, &input.last_assistant_message)
    else {
        return;
    };
    let start = Instant::now();
    while start.elapsed() < AT_MOST
        && !transcript::has_caught_up(path, session.transcript, session.ulw.last_stop_at, message)
    {
        std::thread::sleep(POLL_INTERVAL);
    }
}

fn stop_event(input: &HookInput, session: &Session) -> StopEvent {
    let claim = match &input.last_assistant_message {
        Some(message) => read_claim(message),
        // The transcript is asked only without the client's last message.
        None => input
            .transcript_path
            .as_deref()
            .and_then(|path| transcript::last_assistant_text(path, session.transcript))
            .and_then(|text| read_claim(&text)),
    };
    StopEvent {
        from_subagent: input.is_from_subagent(),
        claim,
        asks_a_person: env::is_attended()
            && input
                .last_assistant_message
                .as_deref()
                .is_some_and(asks_a_person),
        plan_mode: input.is_plan_mode(),
        background: input
            .background_tasks
            .iter()
            .flat_map(|tasks| &tasks.0)
            .map(background_task)
            .collect(),
        prompt_id: input.prompt_id.as_deref().map(str::to_owned),
        wakeup_scheduled: input
            .session_crons
            .as_ref()
            .is_some_and(|crons| !crons.is_empty()),
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

fn stop_answer(
    context: &HookContext,
    decision: &StopDecision,
    session: &Session,
    facts: &StopFacts,
) -> Option<HookAnswer> {
    match &decision.action {
        StopAction::Pause(PauseReason::TokensSpent) => Some(HookAnswer::Notice {
            user: messages::tokens_spent(session),
            model: None,
        }),
        StopAction::Allow | StopAction::Pause(_) => None,
        StopAction::AwaitAnswer => Some(HookAnswer::Notice {
            user: messages::awaits_answer(),
            model: None,
        }),
        StopAction::AllowAndWarn => Some(HookAnswer::Notice {
            user: messages::let_through(decision.row, facts.has_failed_claim().then_some(session)),
            model: None,
        }),
        StopAction::Block(block) => {
            let reason = messages::block_reason(session, block, facts.claim(), facts.plan.as_ref());
            let as_context = match config::load(context.env.config_file.as_deref()).feedback {
                FeedbackMode::Auto => env::client_agent()
                    .and_then(|agent| ClientVersion::of_agent(&agent))
                    .is_some_and(ClientVersion::is_calm),
                FeedbackMode::Block => false,
                FeedbackMode::Context => true,
            };
            Some(if as_context {
                HookAnswer::ContinueWithContext(reason)
            } else {
                HookAnswer::Block(reason)
            })
        }
        StopAction::End { .. } => ending_answer(context, session, None),
    }
}

fn ending_answer(
    context: &HookContext,
    session: &Session,
    page: Option<&str>,
) -> Option<HookAnswer> {
    let allowed_blocks = allowed_blocks(session, context.env.client_block_cap);
    let user = run_end::run_ended_on_page(session, allowed_blocks, page)?;
    let setting = config::load(context.env.config_file.as_deref()).notify;
    let headline = session
        .verdict
        .as_ref()
        .map(|verdict| run_end::headline(session, verdict));
    let terminal =
        terminal_notification(setting.bell, setting.desktop, &headline.unwrap_or_default());
    Some(HookAnswer::Notify { user, terminal })
}
