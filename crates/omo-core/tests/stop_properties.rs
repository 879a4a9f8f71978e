//! Invariants of every sequence of events, whatever the client, the clock and the user do.

use omo_core::check::counterfactual::ProveMode;
use omo_core::keyword::Keywords;
use omo_core::limits::RunLimits;
use omo_core::promise::Claim;
use omo_core::prompt::ulw_arguments::UlwOptions;
use omo_core::prompt::{self, PromptDecision, PromptEvent, PromptFacts, read_intent};
use omo_core::request_source::PromptOrigin;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{
    Interruption, PauseReason, Session, UlwActivation, UlwTrigger, VerdictKind,
};
use omo_core::stop::claim::ClaimJudgement;
use omo_core::stop::{
    BackgroundTask, StopAction, StopDecision, StopEvent, StopFacts, StopRow, TranscriptTail,
    allowed_blocks, apply_decision, decide,
};
use omo_core::timestamp::Timestamp;
use proptest::prelude::*;

use crate::stop::given::{finding, sent_failure};

#[derive(Clone, Debug)]
enum Happening {
    Stop(Box<StopFacts>),
    Prompt(Prompt),
    Activate(RunLimits),
    StopContinuation,
    Pause(PauseReason),
    GoOn,
    Clock(i64),
}

/// One prompt, typed by a person or sent by the client.
#[derive(Clone, Debug)]
struct Prompt {
    text: &'static str,
    is_typed: bool,
    plan_mode: bool,
}

const TYPED: [&str; 13] = [
    "ulw fix the tests",
    "/omo:ulw --max-blocks 3 fix it",
    "/omo:ulw --max-blocks 900 fix it",
    "/ulw off",
    "ulw off",
    "stop ulw, then fix the docs",
    "/omo:stop-continuation too slow",
    "/omo:status",
    "/omo:check run",
    "/omo:check list",
    "go on",
    "what is ulw?",
    "`ulw fix the tests`",
];

/// Prompts that the client sends by itself.
const SENT: [&str; 5] = [
    "Stop hook feedback:\nulw fix the tests",
    "<task-notification>ulw fix the tests</task-notification>",
    "<system-reminder>ulw</system-reminder>",
    "This session is being continued from another one. ulw",
    "[ULW LOOP - ITERATION 3/100]\nulw fix the tests",
];

fn prompt() -> impl Strategy<Value = Prompt> {
    let typed = prop::sample::select(TYPED.to_vec()).prop_map(|text| (text, true));
    let sent = prop::sample::select(SENT.to_vec()).prop_map(|text| (text, false));
    (
        prop_oneof![2 => typed, 1 => sent],
        prop::bool::weighted(0.1),
    )
        .prop_map(|((text, is_typed), plan_mode)| Prompt {
            text,
            is_typed,
            plan_mode,
        })
}

fn moment() -> impl Strategy<Value = Timestamp> {
    prop_oneof![any::<i64>(), 0..=4_102_444_800_000_i64].prop_map(Timestamp::from_millis)
}

fn limits() -> impl Strategy<Value = RunLimits> {
    let wild = (any::<u32>(), any::<u32>(), any::<u32>());
    prop_oneof![3 => (0..=9_u32, 0..=4_u32, 1..=300_u32), 1 => wild].prop_map(
        |(blocks, cooldown, minutes)| {
            let mut limits = RunLimits::default();
            (
                limits.max_blocks,
                limits.cooldown_seconds,
                limits.max_minutes,
            ) = (blocks, cooldown, minutes);
            limits
        },
    )
}

fn background() -> impl Strategy<Value = Vec<BackgroundTask>> {
    let ids = prop::sample::select(vec!["", "a", "b", "c"]);
    let kinds = prop::sample::select(vec![
        "shell", "shell", "monitor", "subagent", "workflow", "", "unknown",
    ]);
    let statuses = prop::sample::select(vec![
        "running",
        "completed",
        "failed",
        "killed",
        "",
        "pending",
        "unknown",
    ]);
    let task = (ids, kinds, statuses).prop_map(|(id, kind, status)| BackgroundTask {
        id: id.to_owned(),
        kind: kind.to_owned(),
        status: status.to_owned(),
        label: "x".to_owned(),
    });
    prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(task, 1..4)]
}

fn claim() -> impl Strategy<Value = Option<Claim>> {
    prop_oneof![
        8 => Just(None),
        1 => Just(Some(Claim::Done)),
        1 => ".{0,400}".prop_map(|reason| Some(Claim::Blocked { reason })),
    ]
}

fn event() -> impl Strategy<Value = StopEvent> {
    let sources = (prop::bool::weighted(0.05), prop::bool::weighted(0.2));
    (
        sources,
        claim(),
        prop::bool::weighted(0.05),
        background(),
        prop::bool::weighted(0.05),
    )
        .prop_map(
            |((from_subagent, asks_a_person), claim, plan_mode, background, wakeup_scheduled)| {
                StopEvent {
                    prompt_id: None,
                    asks_a_person,
                    from_subagent,
                    claim,
                    plan_mode,
                    background,
                    wakeup_scheduled,
                }
            },
        )
}

fn transcript() -> impl Strategy<Value = TranscriptTail> {
    let interrupted = prop_oneof![12 => Just(None), 1 => Just(Some(Interruption::AtSomeTime)), 1 => moment().prop_map(|at| Some(Interruption::At(at)))];
    (prop::bool::weighted(0.05), interrupted, any::<bool>()).prop_map(
        |(input_waiting, interrupted, tool_called_since_block)| TranscriptTail {
            input_waiting,
            interrupted,
            tool_called_since_block,
            ..TranscriptTail::default()
        },
    )
}

fn facts() -> impl Strategy<Value = StopFacts> {
    let judgement = prop_oneof![
        12 => Just(None),
        6 => Just(Some(ClaimJudgement::Failed)),
        1 => Just(Some(ClaimJudgement::NothingToJudgeBy)),
        1 => Just(Some(ClaimJudgement::Verified)),
        2 => any::<bool>().prop_map(|again| Some(ClaimJudgement::ReviewWanted { again })),
    ];
    (event(), transcript(), judgement, plan(), moment()).prop_map(
        |(event, transcript, judgement, plan, now)| StopFacts {
            event,
            transcript,
            client_block_cap: None,
            finding: finding(judgement),
            plan,
            tokens: None,
            now,
        },
    )
}

fn plan() -> impl Strategy<Value = Option<PlanRun>> {
    let text = |weight| prop::option::weighted(weight, Just("x".to_owned()));
    let run = (text(0.2), text(0.2)).prop_map(|(waits, ended)| PlanRun {
        waits,
        ended,
        ..PlanRun::default()
    });
    prop::option::weighted(0.3, run)
}

fn happening() -> impl Strategy<Value = Happening> {
    let reason = prop_oneof![
        Just(PauseReason::Interrupted),
        Just(PauseReason::ApiError),
        Just(PauseReason::Asked)
    ];
    let step = prop_oneof![8 => 0..20_000_i64, 1 => -7_200_000..7_200_000_i64, 1 => any::<i64>()];
    prop_oneof![
        12 => facts().prop_map(|facts| Happening::Stop(Box::new(facts))),
        2 => limits().prop_map(Happening::Activate),
        4 => prompt().prop_map(Happening::Prompt),
        1 => Just(Happening::StopContinuation),
        1 => reason.prop_map(Happening::Pause),
        2 => Just(Happening::GoOn),
        8 => step.prop_map(Happening::Clock),
    ]
}

/// A session in the middle of its life, and the books that the test keeps about it.
struct Life {
    session: Session,
    now: Timestamp,
    cap: Option<u32>,
    /// Blocks since the last activation.
    blocks: u32,
    /// The user let go, and has not turned ultrawork on again.
    stopped: bool,
}

impl Life {
    fn meet(&mut self, happening: &Happening) -> Result<(), TestCaseError> {
        match happening {
            Happening::Clock(step) => {
                self.now = Timestamp::from_millis(self.now.as_millis().saturating_add(*step));
            }
            Happening::Activate(limits) => {
                let (trigger, limits) = (UlwTrigger::Keyword, *limits);
                self.session.activate(
                    UlwActivation {
                        trigger,
                        task: None,
                        prompt_id: None,
                        limits,
                        checks: Vec::new(),
                        review_wanted: true,
                        prove: ProveMode::default(),
                        base: None,
                        begins_anew: false,
                    },
                    self.now,
                );
                (self.blocks, self.stopped) = (0, false);
            }
            Happening::StopContinuation => {
                self.session
                    .stop_continuation(Some("enough"), true, self.now);
                self.stopped = true;
            }
            Happening::Pause(reason) => self.session.pause(*reason, self.now),
            Happening::GoOn => self.session.ulw.paused = None,
            Happening::Prompt(prompt) => self.prompt(prompt)?,
            Happening::Stop(facts) => self.stop(facts)?,
        }
        Ok(())
    }

    /// Effect of the hook on a prompt.
    fn prompt(&mut self, prompt: &Prompt) -> Result<(), TestCaseError> {
        let Prompt {
            text,
            is_typed,
            plan_mode,
        } = *prompt;
        let before = self.session.clone();
        let event = PromptEvent {
            prompt: text,
            prompt_id: None,
            origin: PromptOrigin::Person,
            plan_mode,
            has_entry: true,
            has_run: before.is_armed(),
        };
        let options = |_| UlwOptions {
            limits: RunLimits::default(),
            checks: Vec::new(),
            review: true,
            prove: ProveMode::default(),
            begins_anew: false,
        };
        let facts = PromptFacts {
            session: Some(&before),
            ..PromptFacts::default()
        };
        match prompt::decide(
            read_intent(&event, &Keywords::default(), options),
            &event,
            &facts,
        ) {
            PromptDecision::Activate(activation, _) => {
                prop_assert!(is_typed && !plan_mode, "{:?} turned a run on", prompt);
                self.session.activate(activation, self.now);
                (self.blocks, self.stopped) = (0, false);
            }
            PromptDecision::Stop { reason, .. } => {
                prop_assert!(is_typed, "{:?} ended a run", prompt);
                self.session
                    .stop_continuation(reason.as_deref(), true, self.now);
                self.stopped = true;
            }
            PromptDecision::TellPaused(reason) => {
                self.session.tell_paused(reason, self.now);
                prop_assert!(before.is_armed() && self.session.ulw.paused.is_some());
            }
            // Nothing of these changes what a Stop becomes.
            _ => {}
        }
        Ok(())
    }

    fn stop(&mut self, facts: &StopFacts) -> Result<(), TestCaseError> {
        let before = self.session.clone();
        let facts = StopFacts {
            client_block_cap: self.cap,
            now: self.now,
            ..facts.clone()
        };
        let decision = decide(Some(&before), Some(&facts));
        prop_assert!(fits_its_row(&decision), "{:?}", decision);
        let open_plan = facts.plan.as_ref().is_some_and(PlanRun::is_open);
        apply_decision(&mut self.session, &decision, &facts);
        // A run that fails its last verification ends.
        let attempts = self.session.verification.attempts;
        prop_assert!(
            !self.session.is_armed() || attempts < before.max_attempts(),
            "{} failed",
            attempts
        );
        match &decision.action {
            StopAction::Block(block) => {
                self.blocks += 1;
                prop_assert!(before.is_armed() && !self.stopped && before.ulw.paused.is_none());
                prop_assert!(
                    self.blocks <= allowed_blocks(&self.session, self.cap),
                    "block {}",
                    self.blocks
                );
                prop_assert_eq!(
                    (block.number, self.session.ulw.stop_blocks),
                    (self.blocks, self.blocks)
                );
                prop_assert!(self.session.is_armed());
            }
            StopAction::End { verdict, .. } => {
                prop_assert!(before.is_armed() && !self.session.is_armed());
                prop_assert_eq!(
                    self.session.verdict.as_ref().map(|verdict| verdict.kind),
                    Some(*verdict)
                );
                // Nothing but a judgement verifies, whatever else is so.
                let judgement = facts.claim().map(|claim| claim.judgement);
                let is_judged = judgement == Some(ClaimJudgement::Verified) && !open_plan;
                prop_assert!(*verdict != VerdictKind::Verified || is_judged);
            }
            StopAction::Pause(_) => {
                prop_assert!(self.session.ulw.paused.is_some() && self.session.is_armed());
            }
            StopAction::Allow | StopAction::AllowAndWarn | StopAction::AwaitAnswer => {
                let mut expected = before;
                if let Some(claim) = facts
                    .claim()
                    .filter(|_| decision.row == StopRow::Cooldown && !open_plan)
                {
                    claim.record(&mut expected, self.now, 0);
                }
                expected.ulw.rest.clone_from(&self.session.ulw.rest);
                prop_assert_eq!(&self.session, &expected);
            }
        }
        Ok(())
    }
}

/// `true` where a decision does what its row may do, and nothing else.
fn fits_its_row(decision: &StopDecision) -> bool {
    use StopAction::{Allow, AllowAndWarn, AwaitAnswer, Block, End, Pause};
    use VerdictKind::{Blocked, Expired, Released, Verified};
    match (decision.row, &decision.action) {
        (StopRow::PlanOrPaused, Allow | AwaitAnswer | Pause(_))
        | (StopRow::Cooldown, AllowAndWarn)
        | (StopRow::Continue, Block(_)) => true,
        (StopRow::SaidBlocked, End { verdict, .. }) => *verdict == Blocked,
        (StopRow::ClaimJudged, End { verdict, .. }) => matches!(verdict, Verified | Released),
        (StopRow::TimeSpent, End { verdict, .. }) => *verdict == Expired,
        (
            StopRow::AttemptsSpent | StopRow::BlocksSpent | StopRow::SameFailure,
            End { verdict, .. },
        ) => *verdict == Released,
        (row, Allow) => row <= StopRow::BackgroundWork,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bounds, the way out, the rows and the ends, all along one life.
    #[test]
    fn no_life_breaks_a_bound(
        happenings in prop::collection::vec(happening(), 0..40),
        cap in prop_oneof![Just(None), (1..=20_u32).prop_map(Some)],
        now in moment(),
        limits in limits(),
    ) {
        let mut life = Life { session: Session::default(), now, cap, blocks: 0, stopped: false };
        life.meet(&Happening::Activate(limits))?;
        for happening in &happenings {
            life.meet(happening)?;
        }
    }

    /// An end stays the end that it was until the next activation.
    #[test]
    fn every_end_is_final(
        kind in prop::sample::select(vec![VerdictKind::Verified, VerdictKind::Blocked, VerdictKind::Released, VerdictKind::Stopped, VerdictKind::Expired]),
        stops in prop::collection::vec(facts(), 1..40),
        now in moment(),
    ) {
        let mut life = Life { session: Session::default(), now, cap: None, blocks: 0, stopped: false };
        life.meet(&Happening::Activate(RunLimits::default()))?;
        life.session.end_run(kind, "the end".to_owned(), now);
        let ended = life.session.clone();
        for facts in stops {
            life.meet(&Happening::Stop(Box::new(facts)))?;
            life.meet(&Happening::Pause(PauseReason::ApiError))?;
            life.session.end_run(VerdictKind::Expired, "another end".to_owned(), now);
            prop_assert_eq!(&life.session, &ended);
        }
    }

    /// After the user's way out nothing blocks, not even where a file says that a run is on.
    #[test]
    fn a_stopped_session_is_never_blocked(stops in prop::collection::vec(facts(), 1..40), enabled in any::<bool>(), now in moment()) {
        let mut life = Life { session: Session::default(), now, cap: None, blocks: 0, stopped: false };
        life.meet(&Happening::Activate(RunLimits::default()))?;
        life.meet(&Happening::StopContinuation)?;
        life.session.ulw.enabled = enabled;
        life.session.verdict = None;
        let stopped = life.session.clone();
        for facts in stops {
            life.meet(&Happening::Stop(Box::new(facts)))?;
            life.session.ulw.rest = None;
            prop_assert_eq!(&life.session, &stopped);
        }
    }

    /// Whatever a state file can hold, a decision comes out.
    #[test]
    fn no_state_panics(
        stop_blocks in any::<u32>(), attempts in any::<u32>(), max_attempts in any::<u32>(), limits in limits(),
        started in prop::option::of(moment()), last in prop::option::of(moment()), now in moment(),
        facts in facts(), cap in prop::option::of(any::<u32>()), told in any::<u32>(),
    ) {
        let mut session = Session { limits, ..Session::default() };
        session.ulw.enabled = true;
        (session.ulw.stop_blocks, session.verification.attempts) = (stop_blocks, attempts);
        session.verification.max_attempts = max_attempts;
        (session.ulw.started_at, session.ulw.last_stop_at) = (started, last);
        session.verification.failure = Some(sent_failure(told));
        let facts = StopFacts { client_block_cap: cap, now, ..facts };
        let decision = decide(Some(&session), Some(&facts));
        prop_assert!(fits_its_row(&decision), "{:?}", decision);
        prop_assert!(!matches!(&decision.action, StopAction::Block(block) if block.number > 100 || block.number > block.allowed));
        apply_decision(&mut session, &decision, &facts);
    }
}
