//! What a Stop is decided from.

use omo_core::check::counterfactual::ProveMode;
use omo_core::limits::RunLimits;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::{Session, UlwActivation, UlwTrigger};
use omo_core::stop::claim::ClaimJudgement;
use omo_core::stop::{StopDecision, StopEvent, StopFacts, TranscriptFacts, decide};
use omo_core::timestamp::Timestamp;

use super::{MINUTE, START, at};

/// Everything that a Stop is decided from, owned, so that a case changes only what it is about.
#[derive(Clone)]
pub(super) struct Given {
    pub event: StopEvent,
    pub session: Option<Session>,
    pub transcript: TranscriptFacts,
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
            limits: RunLimits { max_blocks: 8, max_minutes: 240, ..RunLimits::default() },
            checks: Vec::new(),
            review_wanted: true,
            prove: ProveMode::default(),
            base: None,
        };
        session.activate(activation, at(START));
        Self {
            event: StopEvent::default(),
            session: Some(session),
            transcript: TranscriptFacts::default(),
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
        decide(Some(&self.facts()))
    }

    pub(super) fn facts(&self) -> StopFacts<'_> {
        StopFacts {
            event: &self.event,
            session: self.session.as_ref(),
            transcript: self.transcript,
            client_block_cap: self.cap,
            judgement: self.judgement,
            same_failure_sent: self.same_failure_sent,
            plan: self.plan.as_ref(),
            now: self.now,
        }
    }
}
