//! Turning a run on: with the task that the session has, or with another one.

use super::rest::UlwRest;
use super::{ClaimVerification, LastSeen, Session, StopContinuation, UlwRun, UlwTrigger};
use crate::check::counterfactual::ProveMode;
use crate::check::session_check::{self, Check, CheckOrigin};
use crate::limits::RunLimits;
use crate::prompt::short_answer::is_to_go_on;
use crate::timestamp::Timestamp;

/// Request that turns a run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UlwActivation {
    /// Trigger of the run.
    pub trigger: UlwTrigger,
    /// Task in the words of the user, in full.
    pub task: Option<String>,
    /// The prompt's id.
    pub prompt_id: Option<String>,
    /// The bounds of the run.
    pub limits: RunLimits,
    /// Checks of a claim, beside those of the user from earlier in the session.
    pub checks: Vec<Check>,
    /// A claim needs a review as well.
    pub review_wanted: bool,
    /// `true` where a claim's checks have to be red without the change.
    pub prove: ProveMode,
    /// The commit that is checked out.
    pub base: Option<String>,
    /// Another task than the one that the session has.
    pub begins_anew: bool,
}

impl Session {
    /// `true` where a request goes on with the task of the session. A task that its user stopped is over once they ask
    /// for another one.
    pub fn keeps_task(&self, activation: &UlwActivation) -> bool {
        let names_task = activation
            .task
            .as_deref()
            .is_some_and(|task| !is_to_go_on(task));
        let is_replaced = activation.begins_anew || self.stop_continuation.ended_task && names_task;
        self.continues_task() && !is_replaced
    }

    /// Starts a run: all counters at nothing, the escape hatch open again. Where the task before was not proved
    /// done, that task, its first commit, its checks as they were agreed to, and what was rejected stay; what is
    /// asked for now is added.
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
            verification.unusual = std::mem::take(&mut self.verification.unusual);
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

    /// Where the task goes on, all of its checks stay as they were agreed to. Where another one begins, what the
    /// user asked for earlier in the session does, without what it counted then. New ones are added.
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
        let is_known = |checks: &[Check], check: &Check| {
            checks.iter().any(|known| {
                known.definition() == check.definition() && known.origin == check.origin
            })
        };
        for check in new {
            if !(goes_on && is_known(&checks, &check)) {
                // More than there may be are refused where they are read.
                let _ = session_check::add_check(&mut checks, check);
            }
        }
        self.checks = checks;
    }

    /// Marks the checks of the task as those of one that its user stopped. Those that were added since it ended are not.
    pub(super) fn leave_task(&mut self) {
        let is_on = self.is_armed();
        if self.continues_task() {
            session_check::mark_stopped(&mut self.checks, |check| is_on || check.last.is_some());
        }
    }
}
