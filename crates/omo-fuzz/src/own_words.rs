//! All texts of omo, with a text from outside wherever there is room for one.

use omo_core::check::counterfactual::ProveMode;
use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::session_check::{Check, CheckOrigin, CheckRecord, CheckVerdict, TestCounts};
use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_core::limits::RunLimits;
use omo_core::log_entry;
use omo_core::messages::status_report::status_report;
use omo_core::messages::{self, ContractForm, HoldState, checks};
use omo_core::promise::{final_promise, read_claim};
use omo_core::prompt::check_request;
use omo_core::review::{self, ReviewVerdict};
use omo_core::session::claim_state::ReportedFailure;
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::{PlanRun, PlannedCommand};
use omo_core::session::task_list::OpenTaskList;
use omo_core::session::{PauseReason, Session, UlwActivation, UlwPause, UlwTrigger, VerdictKind};
use omo_core::stop::claim::{
    CheckResult, ClaimFindings, ClaimJudgement, ClaimOutcome, ClaimReason, ReviewMaterial,
};
use omo_core::stop::{BackgroundTask, BlockCause, StopAction, StopBlock, StopDecision, StopRow};
use omo_core::timestamp::Timestamp;

const TRIGGERS: [UlwTrigger; 3] = [UlwTrigger::Keyword, UlwTrigger::Command, UlwTrigger::Cli];
const ENDS: [VerdictKind; 5] = [
    VerdictKind::Verified,
    VerdictKind::Blocked,
    VerdictKind::Released,
    VerdictKind::Stopped,
    VerdictKind::Expired,
];
fn now() -> Timestamp {
    Timestamp::from_millis(1_780_000_000_000)
}

/// No text of omo with this one in it triggers anything where it comes back: as a prompt (`read_prompt`), as the
/// output of a hook, or as the last words of a model or of a reviewer.
pub fn set_nothing_off(text: &str) {
    for said in all(text) {
        for echoed in [
            said.clone(),
            format!("Stop hook feedback:\n{said}"),
            format!("{said}\n\nWhat is this?"),
        ] {
            assert_eq!(
                read_prompt(&echoed, &Keywords::default()),
                PromptReading::Nothing,
                "{echoed}"
            );
        }
        promises_nothing(&said);
    }
    // The reviewer reads this text; it is no prompt.
    let changed = checks::ReviewChanges {
        difference: Some(text.to_owned()),
        notes: vec![text.to_owned()],
    };
    promises_nothing(&checks::review_material(
        &session(text, UlwTrigger::Keyword),
        text,
        &findings(text, &CheckVerdict::ALL),
        &changed,
    ));
}

/// These words are no claim (`read_claim`) and no end (`final_promise`).
pub fn promises_nothing(said: &str) {
    assert_eq!(read_claim(said), None, "{said}");
    assert_eq!(final_promise(said), None, "{said}");
    assert_eq!(
        review::read_review(said, now()).verdict,
        ReviewVerdict::Unclear,
        "{said}"
    );
}

/// All texts for a model or a user.
pub fn all(text: &str) -> Vec<String> {
    let mut said = vec![
        messages::plan_mode_note(),
        messages::run_stopped(true, None),
        messages::run_stopped(false, None),
        messages::run_stopped_unwritten(text),
        messages::build_ready(env!("CARGO_PKG_VERSION"), true),
        messages::build_ready(env!("CARGO_PKG_VERSION"), false),
        messages::run_stopped_context(),
        messages::refusal_line(text),
        messages::refusal_line(omo_core::prompt::ulw_arguments::USAGE),
        messages::refusal_line(check_request::USAGE),
    ];
    said.extend(
        SessionId::parse("dd79366c-d9f2-4076-8f09-e508a449860f")
            .iter()
            .map(messages::session_line),
    );
    said.extend(StopRow::ALL.map(|row| messages::let_through(row, None)));
    said.extend([PauseReason::Interrupted, PauseReason::ApiError].map(messages::run_paused));
    said.extend(TRIGGERS.iter().flat_map(|trigger| of_a_run(text, *trigger)));
    said.extend(check_texts(text));
    said.extend(of_a_plan(text));
    said
}

fn session(text: &str, trigger: UlwTrigger) -> Session {
    let mut session = Session::default();
    let activation = UlwActivation {
        trigger,
        task: Some(text.to_owned()),
        prompt_id: None,
        limits: RunLimits::default(),
        checks: Vec::new(),
        review_wanted: true,
        prove: ProveMode::default(),
        base: None,
        begins_anew: false,
    };
    session.activate(activation, Timestamp::from_millis(0));
    session
}

fn of_a_run(text: &str, trigger: UlwTrigger) -> Vec<String> {
    let mut said = Vec::new();
    for form in [ContractForm::Full, ContractForm::Short] {
        for held in [HoldState::Held, HoldState::NotHeld] {
            said.push(messages::contract(
                trigger,
                RunLimits::default(),
                form,
                held,
            ));
        }
    }
    let mut session = session(text, trigger);
    said.extend(reasons(&session, text));
    session.verification.failure = Some(ReportedFailure {
        text: text.to_owned(),
        ..ReportedFailure::default()
    });
    said.push(messages::block_reason(&session, &block(text), None, None));
    session.verification.requested_review = Some(review::RequestedReview::default());
    said.push(messages::block_reason(&session, &block(text), None, None));
    said.extend(statuses(&session));
    said.push(messages::run_resumed(&session, 8, now()));
    said.push(messages::run_resumed_context(&session, 8, now()));
    session.ulw.paused = Some(UlwPause {
        reason: PauseReason::Interrupted,
        at: None,
        is_told: false,
    });
    said.push(messages::run_resumed_context(&session, 8, now()));
    said.extend(statuses(&session));
    for kind in ENDS {
        let mut over = session.clone();
        over.end_run(kind, text.to_owned(), now());
        said.extend(messages::run_end::run_ended(&over, 8));
        said.extend(statuses(&over));
    }
    said
}

/// Answers of `/omo:status` and `omo status`, and the words of `omo log`.
fn statuses(session: &Session) -> Vec<String> {
    let stop = |row: &StopRow| {
        let decision = StopDecision {
            row: *row,
            action: StopAction::Allow,
        };
        log_entry::stop_entry("dd79366c", session, &decision, None, None, now())
    };
    let entries: Vec<_> = StopRow::ALL.iter().map(stop).collect();
    let status = status_report(
        "dd79366c",
        session,
        Some(&plan_run("x")),
        entries.first().cloned(),
        None,
    )
    .text(now());
    let lines = entries.iter().map(|entry| {
        format!(
            "{} {} {} ({})",
            entry.at, entry.event, entry.decision, entry.why
        )
    });
    lines.chain([status]).collect()
}

/// Texts to a model whose turn goes on, one for each reason.
fn reasons(session: &Session, text: &str) -> Vec<String> {
    let busy = block(text);
    let idle = StopBlock {
        newly_named: Vec::new(),
        ..busy.clone()
    };
    let checks = checks(text);
    let reason = |check| messages::block_reason(session, &busy, Some(check), None);
    let mut said: Vec<String> = checks.iter().map(reason).collect();
    said.extend([&busy, &idle].map(|block| messages::block_reason(session, block, None, None)));
    said
}

fn block(text: &str) -> StopBlock {
    let task = BackgroundTask {
        kind: text.to_owned(),
        label: text.to_owned(),
        ..BackgroundTask::default()
    };
    StopBlock {
        number: 1,
        allowed: 8,
        newly_named: vec![task; 7],
        cause: BlockCause::FailedAttempt,
    }
}

fn checks(text: &str) -> Vec<ClaimOutcome> {
    let red = CheckVerdict::ALL.iter().map(|verdict| {
        (
            ClaimJudgement::Failed,
            ClaimReason::RedChecks,
            findings(text, &[*verdict]),
        )
    });
    let green = || findings(text, &[CheckVerdict::Green]);
    let wanted = |again| ClaimJudgement::ReviewWanted { again };
    let others = [
        (
            ClaimJudgement::Failed,
            ClaimReason::RedChecks,
            findings(text, &CheckVerdict::ALL),
        ),
        (
            ClaimJudgement::Failed,
            ClaimReason::Rejected(text.to_owned()),
            green(),
        ),
        (ClaimJudgement::Failed, ClaimReason::TreeChanged, green()),
        (
            ClaimJudgement::Failed,
            ClaimReason::FilesUnreadable,
            green(),
        ),
        (
            ClaimJudgement::Failed,
            ClaimReason::FilesUnreadable,
            ClaimFindings {
                moved_from: Some(text.to_owned()),
                ..green()
            },
        ),
        (wanted(true), ClaimReason::NoVerdict, green()),
        (wanted(true), ClaimReason::StaleReview, green()),
        (wanted(false), ClaimReason::UnseenFacts, green()),
        (wanted(false), ClaimReason::FirstReview, green()),
        (
            wanted(false),
            ClaimReason::FirstReview,
            ClaimFindings::default(),
        ),
    ];
    let material = ReviewMaterial {
        path: text.to_owned(),
        digest: String::new(),
    };
    let check = |(judgement, reason, findings)| ClaimOutcome {
        judgement,
        reason,
        findings,
        material: None,
        rejection: None,
    };
    let mut checks: Vec<ClaimOutcome> = red.chain(others).map(check).collect();
    let wanted: Vec<ClaimOutcome> = checks
        .iter()
        .filter(|check| check.judgement != ClaimJudgement::Failed)
        .cloned()
        .collect();
    checks.extend(wanted.into_iter().map(|check| ClaimOutcome {
        material: Some(material.clone()),
        ..check
    }));
    checks
}

fn findings(text: &str, verdicts: &[CheckVerdict]) -> ClaimFindings {
    let check = |verdict: &CheckVerdict| CheckResult {
        name: "check".to_owned(),
        command: text.to_owned(),
        record: CheckRecord {
            verdict: *verdict,
            detail: text.to_owned(),
            counts: Some(TestCounts {
                run: u64::MAX,
                failed: 1,
                skipped: 2,
            }),
            log: Some(text.to_owned()),
            ..CheckRecord::default()
        },
        printed: PrintedOutput {
            first_lines: vec![text.to_owned()],
            ..PrintedOutput::default()
        },
        ..CheckResult::default()
    };
    let checks = verdicts.iter().map(check).collect();
    ClaimFindings {
        checks,
        tree: Some("0".repeat(40)),
        changed_path: Some(text.to_owned()),
        ..ClaimFindings::default()
    }
}

fn plan_run(text: &str) -> PlanRun {
    let text = || text.to_owned();
    let (total, passed, failed, blocked) = (u32::MAX, 3, 1, 2);
    let (running, waits) = (Some(text()), Some(text()));
    let run = PlanRun {
        id: text(),
        plan: text(),
        next: text(),
        total,
        passed,
        failed,
        blocked,
        ..PlanRun::default()
    };
    PlanRun {
        running,
        waits,
        ..run
    }
}

fn of_a_plan(text: &str) -> Vec<String> {
    let run = plan_run(text);
    let of = |session: &Session, cause| {
        messages::block_reason(
            session,
            &StopBlock {
                cause,
                ..block(text)
            },
            None,
            Some(&run),
        )
    };
    let command = PlannedCommand {
        task: text.to_owned(),
        command: text.to_owned(),
        folder: Some(text.to_owned()),
    };
    let commands = vec![command; 9];
    let waits = |waits: Option<String>, ended: Option<String>| {
        let run = PlanRun {
            waits,
            ended,
            ..run.clone()
        };
        [
            messages::plan::run_line(&run),
            messages::plan::run_notice(&run, None),
            status_report("dd79366c", &Session::default(), Some(&run), None, None).text(now()),
        ]
    };
    let stands = [
        (Some(text.to_owned()), None),
        (None, None),
        (None, Some(text.to_owned())),
    ];
    let mut said: Vec<String> = stands
        .into_iter()
        .flat_map(|(asks, ended)| waits(asks, ended))
        .collect();
    said.extend(TRIGGERS.map(|trigger| of(&session(text, trigger), BlockCause::PlanContinues)));
    said.extend([true, false].map(|was_armed| messages::run_stopped(was_armed, Some(&run))));
    said.extend([
        whole_or_refused(messages::plan::approval_request(
            text,
            &commands,
            "0123456789abcdef",
        )),
        messages::plan::plan_approved(text, 1),
        messages::plan::task_list_offer(&OpenTaskList {
            id: text.to_owned(),
            goal: text.to_owned(),
            phase: text.to_owned(),
            ..OpenTaskList::default()
        }),
        messages::plan::plan_approved_context(text, 9),
        messages::refusal_line(messages::plan::wrong_code()),
        messages::refusal_line(&messages::plan::wrong_code_of("execute")),
    ]);
    said
}

fn whole_or_refused(approval: Result<String, String>) -> String {
    approval.unwrap_or_else(|refusal| refusal)
}

fn check_texts(text: &str) -> Vec<String> {
    let Ok(mut check) = Check::new(None, text, CheckOrigin::Repository) else {
        return Vec::new();
    };
    check.env.insert("A".to_owned(), text.to_owned());
    check.cwd = Some(text.to_owned());
    let checks = [check];
    vec![
        checks::check_list(&checks, true, now()),
        checks::check_list(&checks, false, now()),
        checks::checks_not_approved(&checks, Some(text)),
        whole_or_refused(checks::approval_request(
            &checks,
            Some(text),
            &[(text.to_owned(), String::new())].into(),
            "0123456789abcdef",
        )),
    ]
}
