//! Facts of a Stop.

use omo_core::check::counterfactual::ProveMode;
use omo_core::limits::RunLimits;
use omo_core::session::claim_state::ReportedFailure;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{Session, UlwActivation, UlwTrigger};
use omo_core::stop::claim::{ClaimFindings, ClaimJudgement, ClaimOutcome, ClaimReason};
use omo_core::stop::{StopDecision, StopEvent, StopFacts, StopFinding, TranscriptTail, decide};
use omo_core::timestamp::Timestamp;

use super::{MINUTE, START, at};

/// Everything that a Stop is decided from, owned, so that a case changes only what it is about.
#[derive(Clone)]
pub(super) struct Given {
    pub event: StopEvent,
    pub session: Option<Session>,
    pub transcript: TranscriptTail,
    pub cap: Option<u32>,
    pub judgement: Option<ClaimJudgement>,
    pub same_failure_sent: u32,
    pub plan: Option<PlanRun>,
    pub now: Timestamp,
}

impl Given {
    /// A run that is a minute old, at its first Stop, with nothing special about it.
    pub(super) fn armed() -> Self {
        let mut session = Session::default();
        let activation = UlwActivation {
            trigger: UlwTrigger::Keyword,
            task: None,
            prompt_id: None,
            limits: RunLimits {
                max_blocks: 8,
                max_minutes: 240,
                ..RunLimits::default()
            },
            checks: Vec::new(),
            review_wanted: true,
            prove: ProveMode::default(),
            base: None,
            begins_anew: false,
        };
        session.activate(activation, at(START));
        Self {
            event: StopEvent::default(),
            session: Some(session),
            transcript: TranscriptTail::default(),
            cap: None,
            judgement: None,
            same_failure_sent: 0,
            plan: None,
            now: at(START + MINUTE),
        }
    }

    pub(super) fn session(&mut self) -> &mut Session {
        self.session.get_or_insert_with(Session::default)
    }

    pub(super) fn decide(&self) -> StopDecision {
        let mut session = self.session.clone();
        if let Some(session) = session.as_mut().filter(|_| self.same_failure_sent > 0) {
            session.verification.failure = Some(sent_failure(self.same_failure_sent));
        }
        decide(session.as_ref(), Some(&self.facts()))
    }

    pub(super) fn facts(&self) -> StopFacts {
        StopFacts {
            event: self.event.clone(),
            transcript: self.transcript,
            client_block_cap: self.cap,
            finding: finding(self.judgement),
            plan: self.plan.clone(),
            tokens: None,
            now: self.now,
        }
    }
}

/// Files with a failure that was sent so often already.
pub(crate) fn sent_failure(times_told: u32) -> ReportedFailure {
    ReportedFailure {
        text: "review: no".to_owned(),
        tree: Some("t".to_owned()),
        times_told,
    }
}

/// A claim that is worth this, with a failure like that of [`sent_failure`]; without one, the same files.
pub(crate) fn finding(judgement: Option<ClaimJudgement>) -> StopFinding {
    let tree = Some("t".to_owned());
    let Some(judgement) = judgement else {
        return StopFinding::Tree(tree);
    };
    StopFinding::Claim(Box::new(ClaimOutcome {
        judgement,
        reason: ClaimReason::Rejected("no".to_owned()),
        findings: ClaimFindings {
            tree,
            ..ClaimFindings::default()
        },
        material: None,
        rejection: None,
    }))
}
