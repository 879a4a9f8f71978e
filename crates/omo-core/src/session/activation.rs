//! The start of a run, with the session's task or another one.

use super::rest::UlwRest;
use super::{ClaimVerification, LastSeen, Session, StopContinuation, UlwRun, UlwTrigger};
use crate::check::counterfactual::ProveMode;
use crate::check::session_check::{self, Check, CheckOrigin};
use crate::limits::RunLimits;
use crate::prompt::short_answer::is_go_on_task;
use crate::timestamp::Timestamp;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UlwActivation {
    pub trigger: UlwTrigger,
    /// The whole task, in the user's words.
    pub task: Option<String>,
    pub prompt_id: Option<String>,
    pub limits: RunLimits,
    pub checks: Vec<Check>,
    pub review_wanted: bool,
    pub prove: ProveMode,
    pub base: Option<String>,
    pub begins_anew: bool,
}

impl Session {
    /// `true` where `activation` continues the session's task; a stopped task ends with a request
    /// for another one.
    pub fn keeps_task(&self, activation: &UlwActivation) -> bool {
        let names_task = activation
            .task
            .as_deref()
            .is_some_and(|task| !is_go_on_task(task));
        let is_replaced = activation.begins_anew || self.stop_continuation.ended_task && names_task;
        self.continues_task() && !is_replaced
    }

    /// Starts a run with fresh counters and the escape hatch open. A task that was not proved done
    /// stays with its first commit, checks and rejections; the new request is added.
    pub fn activate(&mut self, activation: UlwActivation, now: Timestamp) {
        let earlier = self.clone();
        if activation.begins_anew {
            self.leave_task();
        }
        let rest = self.ulw.rest.clone().map(UlwRest::ended);
        let before = if self.keeps_task(&activation) {
            Some(std::mem::take(&mut self.ulw))
        } else {
            None
        };
        let is_same_task = before.is_some();
        let rejected = self.verification.pending_rejection();
        let mut verification = ClaimVerification {
            review_wanted: activation.review_wanted,
            prove: activation.prove,
            max_attempts: activation.limits.max_failed_claims,
            ..ClaimVerification::default()
        };
        if before.is_some() {
            verification.scope = self.verification.scope.take();
            verification.settings = self.verification.settings.take();
            verification.unusual_facts = std::mem::take(&mut self.verification.unusual_facts);
            verification.accepted = std::mem::take(&mut self.verification.accepted);
            verification.rejections = std::mem::take(&mut self.verification.rejections);
            if let Some(rejected) = rejected {
                verification.reject(rejected);
            }
        }
        self.verification = verification;
        self.take_checks(activation.checks, before.is_some());
        self.ulw = UlwRun {
            enabled: true,
            started_at: Some(now),
            trigger: Some(activation.trigger),
            prompt_id: activation.prompt_id,
            rest,
            ..UlwRun::default()
        };
        match before {
            Some(before) => {
                (self.ulw.base, self.ulw.recorded) = (before.base, before.recorded);
                self.ulw
                    .keep_task(before.task, before.whole_task, before.asked_later);
            }
            None => self.ulw.base = activation.base,
        }
        if let Some(task) = activation.task {
            self.ulw.add_request(&task);
        }
        self.limits = activation.limits;
        self.stop_continuation = StopContinuation::default();
        self.verdict = None;
        self.last_seen = LastSeen::default();
        self.keep_weakened(&earlier, is_same_task, now);
    }

    /// Sets the checks: a continued task keeps all of its own as agreed, another one the user's
    /// without their results. `new` ones are added.
    pub(super) fn take_checks(&mut self, new: Vec<Check>, goes_on: bool) {
        let mut checks = std::mem::take(&mut self.checks);
        if goes_on {
            session_check::unmark_stopped(&mut checks);
        } else {
            checks.retain(|check| check.origin == CheckOrigin::User);
            for check in &mut checks {
                check.last = None;
            }
        }
        for check in new {
            let is_present = checks.iter().any(|present| {
                present.definition() == check.definition() && present.origin == check.origin
            });
            if !(goes_on && is_present) {
                // Requests with too many checks were refused before.
                let _ = session_check::add_check(&mut checks, check);
            }
        }
        self.checks = checks;
    }

    /// Marks the checks of a stopped task; those added after its end stay unmarked.
    pub(super) fn leave_task(&mut self) {
        let is_on = self.is_armed();
        if self.continues_task() {
            session_check::mark_stopped(&mut self.checks, |check| is_on || check.last.is_some());
        }
    }
}
