//! Everything that omo says, with a text from outside wherever there is room for one.

use omo_core::gate::{Counts, Gate, GateVerdict, Origin, Record};
use omo_core::gate_command;
use omo_core::keyword::{Keywords, Reading, read};
use omo_core::limits::Limits;
use omo_core::log;
use omo_core::plan_run::{PlanRun, PlannedCommand};
use omo_core::promise::{claim, final_promise};
use omo_core::report::report;
use omo_core::review::{self, ReviewVerdict};
use omo_core::session::{Activation, Pause, PauseReason, Session, Trigger, VerdictKind};
use omo_core::session_id::SessionId;
use omo_core::stop::{BackgroundTask, Block, Cause, Row, StopAction, StopDecision};
use omo_core::task_session::OpenSession;
use omo_core::timestamp::Timestamp;
use omo_core::verification::{Check, Findings, GateResult, Judgement, Material, Reason, ToldFailure};
use omo_core::words::{self, Form, Held, checks};

const TRIGGERS: [Trigger; 3] = [Trigger::Keyword, Trigger::Command, Trigger::Cli];
const ENDS: [VerdictKind; 5] =
    [VerdictKind::Verified, VerdictKind::Blocked, VerdictKind::Released, VerdictKind::Stopped, VerdictKind::Expired];
fn now() -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000)
}

/// Nothing that omo says, with this text in it, sets anything off where it comes back: as a
/// prompt, as what a hook said, or as the last words of a model or of a reviewer.
pub fn set_nothing_off(text: &str) {
    for said in all(text) {
        for echoed in [said.clone(), format!("Stop hook feedback:\n{said}"), format!("{said}\n\nWhat is this?")] {
            assert_eq!(read(&echoed, &Keywords::default()), Reading::Nothing, "{echoed}");
        }
        promises_nothing(&said);
    }
    // It is read by the reviewer, and is no prompt.
    let changed = checks::Changed { difference: Some(text.to_owned()), notes: vec![text.to_owned()] };
    promises_nothing(&checks::material(
        &session(text, Trigger::Keyword),
        text,
        &findings(text, &GateVerdict::ALL),
        &changed,
    ));
}

/// These are no words that a claim or a review ends with.
pub fn promises_nothing(said: &str) {
    assert_eq!(claim(said), None, "{said}");
    assert_eq!(final_promise(said), None, "{said}");
    assert_eq!(review::read(said, now()).verdict, ReviewVerdict::Unclear, "{said}");
}

/// Everything that is said to a model or to a user.
pub fn all(text: &str) -> Vec<String> {
    let mut said = vec![
        words::plan_note(),
        words::stopped(true, None),
        words::stopped(false, None),
        words::stopped_unwritten(text),
        words::ready(env!("CARGO_PKG_VERSION"), true),
        words::ready(env!("CARGO_PKG_VERSION"), false),
        words::stopped_context(),
        words::refused(text),
        words::refused(omo_core::arguments::USAGE),
        words::refused(gate_command::USAGE),
    ];
    said.extend(SessionId::parse("dd79366c-d9f2-4076-8f09-e508a449860f").iter().map(words::session_line));
    said.extend(Row::ALL.map(words::let_through));
    said.extend([PauseReason::Interrupted, PauseReason::ApiError].map(words::paused));
    said.extend(TRIGGERS.iter().flat_map(|trigger| of_a_run(text, *trigger)));
    said.extend(of_gates(text));
    said.extend(of_a_plan(text));
    said
}

fn session(text: &str, trigger: Trigger) -> Session {
    let mut session = Session::default();
    let activation = Activation {
        trigger,
        task: Some(text.to_owned()),
        prompt_id: None,
        limits: Limits::default(),
        gates: Vec::new(),
        review_wanted: true,
        base: None,
    };
    session.activate(activation, Timestamp::from_millis(0));
    session
}

fn of_a_run(text: &str, trigger: Trigger) -> Vec<String> {
    let mut said = Vec::new();
    for form in [Form::Full, Form::Short] {
        for held in [Held::Yes, Held::No] {
            said.push(words::contract(trigger, Limits::default(), form, held));
        }
    }
    let mut session = session(text, trigger);
    said.extend(reasons(&session, text));
    session.verification.failure = Some(ToldFailure { what: text.to_owned(), ..ToldFailure::default() });
    said.push(words::block_reason(&session, &block(text), None, None));
    session.verification.asked = Some(review::Asked::default());
    said.push(words::block_reason(&session, &block(text), None, None));
    said.extend(statuses(&session));
    said.push(words::resumed(&session, 8, now()));
    said.push(words::resumed_context(&session, 8, now()));
    session.ulw.paused = Some(Pause { reason: PauseReason::Interrupted, at: None, told: false });
    said.push(words::resumed_context(&session, 8, now()));
    said.extend(statuses(&session));
    let ended = |row, kind| words::ended(&session, 8, row, kind, text, now());
    said.extend(Row::ALL.iter().flat_map(|row| ENDS.map(|kind| ended(*row, kind))));
    let mut over = session.clone();
    over.end(VerdictKind::Blocked, text.to_owned(), now());
    said.extend(statuses(&over));
    said
}

/// What `/omo:status` and `omo status` answer, and the words of `omo log`.
fn statuses(session: &Session) -> Vec<String> {
    let stop = |row: &Row| {
        let decision = StopDecision { row: *row, action: StopAction::Allow };
        log::of_stop("dd79366c", session, &decision, None, None, now())
    };
    let entries: Vec<_> = Row::ALL.iter().map(stop).collect();
    let status = report("dd79366c", session, Some(&plan_run("x")), entries.first().cloned(), None).text(now());
    let lines = entries.iter().map(|entry| format!("{} {} {} ({})", entry.at, entry.event, entry.decision, entry.why));
    lines.chain([status]).collect()
}

/// What is said to a model whose turn goes on, for every reason that there is.
fn reasons(session: &Session, text: &str) -> Vec<String> {
    let busy = block(text);
    let idle = Block { names: Vec::new(), ..busy.clone() };
    let checks = checks(text);
    let reason = |check| words::block_reason(session, &busy, Some(check), None);
    let mut said: Vec<String> = checks.iter().map(reason).collect();
    said.extend([&busy, &idle].map(|block| words::block_reason(session, block, None, None)));
    said
}

fn block(text: &str) -> Block {
    let task = BackgroundTask { kind: text.to_owned(), label: text.to_owned(), ..BackgroundTask::default() };
    Block { number: 1, of: 8, names: vec![task; 7], cause: Cause::FailedAttempt }
}

fn checks(text: &str) -> Vec<Check> {
    let red = GateVerdict::ALL.iter().map(|verdict| (Judgement::Failed, Reason::RedGates, findings(text, &[*verdict])));
    let green = || findings(text, &[GateVerdict::Green]);
    let wanted = |again| Judgement::ReviewWanted { again };
    let others = [
        (Judgement::Failed, Reason::RedGates, findings(text, &GateVerdict::ALL)),
        (Judgement::Failed, Reason::Rejected(text.to_owned()), green()),
        (Judgement::Failed, Reason::TreeMoves, green()),
        (Judgement::Failed, Reason::FilesUnreadable, green()),
        (wanted(true), Reason::NoVerdict, green()),
        (wanted(true), Reason::StaleReview, green()),
        (wanted(false), Reason::FirstReview, green()),
        (wanted(false), Reason::FirstReview, Findings::default()),
    ];
    let material = Material { path: text.to_owned(), digest: String::new() };
    let check = |(judgement, reason, findings)| Check { judgement, reason, findings, material: None, rejection: None };
    let mut checks: Vec<Check> = red.chain(others).map(check).collect();
    let wanted: Vec<Check> = checks.iter().filter(|check| check.judgement != Judgement::Failed).cloned().collect();
    checks.extend(wanted.into_iter().map(|check| Check { material: Some(material.clone()), ..check }));
    checks
}

fn findings(text: &str, verdicts: &[GateVerdict]) -> Findings {
    let gate = |verdict: &GateVerdict| GateResult {
        name: "check".to_owned(),
        run: text.to_owned(),
        record: Record {
            verdict: *verdict,
            detail: text.to_owned(),
            counts: Some(Counts { run: u64::MAX, failed: 1, skipped: 2 }),
            log: Some(text.to_owned()),
            passing: vec![text.to_owned()],
            ..Record::default()
        },
        tail: text.to_owned(),
        ..GateResult::default()
    };
    let gates = verdicts.iter().map(gate).collect();
    Findings { gates, tree: Some("0".repeat(40)), moving: Some(text.to_owned()), ..Findings::default() }
}

/// A plan run with this text wherever there is room for some.
fn plan_run(text: &str) -> PlanRun {
    let text = || text.to_owned();
    let (total, passed, failed, blocked) = (u32::MAX, 3, 1, 2);
    let (running, waits) = (Some(text()), Some(text()));
    let run = PlanRun { id: text(), plan: text(), next: text(), total, passed, failed, blocked, ..PlanRun::default() };
    PlanRun { running, waits, ..run }
}

fn of_a_plan(text: &str) -> Vec<String> {
    let run = plan_run(text);
    let of = |session: &Session, cause| words::block_reason(session, &Block { cause, ..block(text) }, None, Some(&run));
    let command = PlannedCommand { unit: text.to_owned(), command: text.to_owned(), folder: Some(text.to_owned()) };
    let commands = vec![command; 9];
    let waits = |waits: Option<String>, ended: Option<String>| {
        let run = PlanRun { waits, ended, ..run.clone() };
        [words::plan::session_line(&run), report("dd79366c", &Session::default(), Some(&run), None, None).text(now())]
    };
    let stands = [(Some(text.to_owned()), None), (None, None), (None, Some(text.to_owned()))];
    let mut said: Vec<String> = stands.into_iter().flat_map(|(asks, ended)| waits(asks, ended)).collect();
    said.extend(TRIGGERS.map(|trigger| of(&session(text, trigger), Cause::PlanGoesOn)));
    said.extend([true, false].map(|was_armed| words::stopped(was_armed, Some(&run))));
    said.extend([
        whole_or_refused(words::plan::approval(text, &commands, "0123456789abcdef")),
        words::plan::approved(text, 1),
        words::plan::offer(&OpenSession {
            id: text.to_owned(),
            goal: text.to_owned(),
            phase: text.to_owned(),
            ..OpenSession::default()
        }),
        words::plan::approved_context(text, 9),
        words::refused(words::plan::wrong_code()),
        words::refused(words::plan::nothing_to_approve()),
    ]);
    said
}

fn whole_or_refused(approval: Result<String, String>) -> String {
    approval.unwrap_or_else(|refusal| refusal)
}

fn of_gates(text: &str) -> Vec<String> {
    let Ok(mut gate) = Gate::new(None, text, Origin::Repository) else { return Vec::new() };
    gate.env.insert("A".to_owned(), text.to_owned());
    gate.cwd = Some(text.to_owned());
    let gates = [gate];
    vec![
        checks::gate_list(&gates, true, now()),
        checks::gate_list(&gates, false, now()),
        checks::not_approved(&gates, Some(text)),
        whole_or_refused(checks::approval(&gates, &[(text.to_owned(), String::new())].into(), "0123456789abcdef")),
    ]
}
