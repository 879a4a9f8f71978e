//! The way from a claim to a verdict: the checks, then the review, both on the present work tree.
//!
//! A claim is text, and text never verifies: it only starts the check.

use crate::check::counterfactual::{Counterfactual, UnusualFact};
use crate::check::printed_output::PrintedOutput;
use crate::check::session_check::{CheckRecord, CheckVerdict};
use crate::check::test_report::TestReport;
use crate::review::{AgreementRefusal, RejectedTree, RequestedReview, ReviewVerdict};
use crate::session::Session;
use crate::session::claim_state::{ClaimVerification, ReportedFailure, VerificationPhase};
use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimJudgement {
    /// Verified on the present work tree, by all checks and the review, as far as they exist.
    Verified,
    NothingToJudgeBy,
    /// A red check, a rejection, or a review that was asked for and did not come.
    Failed,
    /// Green checks; a review of the present work tree is asked for.
    ReviewWanted {
        /// A review was asked for already, and did not verify.
        again: bool,
    },
}

impl ClaimJudgement {
    pub(crate) fn is_failed_attempt(self) -> bool {
        matches!(self, Self::Failed | Self::ReviewWanted { again: true })
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimFindings {
    /// Id of the files; `None` for unreadable ones.
    pub tree: Option<String>,
    /// The project's folder at the start of the run, if it was moved.
    pub moved_from: Option<String>,
    /// Results of the checks, with the end of their output.
    pub checks: Vec<CheckResult>,
    /// Files changed while they were judged.
    pub tree_changed: bool,
    /// One of the changed files, if known.
    pub changed_path: Option<String>,
    /// Paths that git ignores since the start of the run, for the review.
    pub newly_ignored: Vec<String>,
    /// Digest of the reviewer's material as it is now.
    pub material: Option<String>,
    /// Variables that changed since the start of the run, whose environment the checks get.
    pub environment: Vec<String>,
    /// Facts about the reviewer's settings, hooks and material.
    pub reviewer_facts: Vec<UnusualFact>,
    pub review_notes: Vec<String>,
    pub refusal: Option<AgreementRefusal>,
    pub counterfactual: Counterfactual,
    pub waited_seconds: u64,
    pub files_scope: Option<String>,
    pub left_out: Vec<String>,
    /// The verified difference as a reviewer reads it, if known.
    pub difference: Option<String>,
    /// Content of each verified file in the format of omo-git; `None` for too much.
    pub files: Option<Vec<u8>>,
}

impl ClaimFindings {
    fn unusual_facts(&self) -> Vec<UnusualFact> {
        let of_checks = self.counterfactual.unusual_facts();
        of_checks
            .into_iter()
            .chain(self.reviewer_facts.iter().cloned())
            .collect()
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewMaterial {
    pub path: String,
    pub digest: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    pub name: String,
    pub command: String,
    /// `Check::definition`.
    pub definition: Vec<u8>,
    pub record: CheckRecord,
    /// An earlier result that still holds.
    pub is_reused: bool,
    pub printed: PrintedOutput,
    pub tests: TestReport,
}

impl CheckResult {
    pub fn is_green(&self) -> bool {
        self.record.verdict == CheckVerdict::Green
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimOutcome {
    pub judgement: ClaimJudgement,
    pub reason: ClaimReason,
    pub findings: ClaimFindings,
    pub material: Option<ReviewMaterial>,
    pub rejection: Option<RejectedTree>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimReason {
    None,
    RedChecks,
    /// Checks that are not known to be red without the change.
    NotProved(Vec<String>),
    /// Green checks, with facts that only the user can accept.
    Unusual(Vec<UnusualFact>),
    TreeChanged,
    FilesUnreadable,
    Rejected(String),
    NoVerdict,
    UnclearVerdict,
    NotCounted(AgreementRefusal),
    NotShown(String),
    StaleReview,
    /// Facts of the comparison that the reviewer was not shown.
    UnseenFacts,
    FirstReview,
}

/// Judges a claim by what was found; the first failure in a fixed order is its reason.
pub fn judge_claim(session: &Session, findings: ClaimFindings) -> ClaimOutcome {
    let verification = &session.verification;
    let checks = &findings.checks;
    let (judgement, reason) = if checks.is_empty() && !verification.review_wanted {
        (ClaimJudgement::NothingToJudgeBy, ClaimReason::None)
    } else if checks.iter().any(|check| !check.is_green()) {
        (ClaimJudgement::Failed, ClaimReason::RedChecks)
    } else if findings.tree.is_none() {
        (ClaimJudgement::Failed, ClaimReason::FilesUnreadable)
    } else if findings.tree_changed {
        (ClaimJudgement::Failed, ClaimReason::TreeChanged)
    } else if let Some(objections) = unproved_checks(session, &findings) {
        (ClaimJudgement::Failed, ClaimReason::NotProved(objections))
    } else if let Some(facts) = unaccepted_facts(verification, &findings) {
        (ClaimJudgement::Failed, ClaimReason::Unusual(facts))
    } else if verification.review_wanted {
        judge_review(verification, &findings)
    } else {
        (ClaimJudgement::Verified, ClaimReason::None)
    };
    ClaimOutcome {
        judgement,
        reason,
        findings,
        material: None,
        rejection: verification.pending_rejection(),
    }
}

/// Lines about checks that are not known to be red without the change.
fn unproved_checks(session: &Session, findings: &ClaimFindings) -> Option<Vec<String>> {
    let objections: Vec<String> = session
        .checks
        .iter()
        .filter(|check| session.needs_proof(check))
        .filter_map(|check| {
            let objection = findings.counterfactual.objection(&check.name)?;
            Some(format!("{}: {objection}", check.name))
        })
        .collect();
    (!objections.is_empty()).then_some(objections)
}

fn unaccepted_facts(
    verification: &ClaimVerification,
    findings: &ClaimFindings,
) -> Option<Vec<UnusualFact>> {
    let facts: Vec<UnusualFact> = findings
        .unusual_facts()
        .into_iter()
        .filter(|fact| verification.is_for_user(fact) && !verification.accepted.contains(fact))
        .collect();
    (!facts.is_empty()).then_some(facts)
}

fn judge_review(
    verification: &ClaimVerification,
    findings: &ClaimFindings,
) -> (ClaimJudgement, ClaimReason) {
    let wanted = ClaimJudgement::ReviewWanted { again: false };
    let wanted_again = ClaimJudgement::ReviewWanted { again: true };
    if let Some(rejection) = verification.rejection_of(findings.tree.as_deref()) {
        return (
            ClaimJudgement::Failed,
            ClaimReason::Rejected(rejection.objections.clone()),
        );
    }
    let Some(asked) = &verification.requested_review else {
        return (wanted, ClaimReason::FirstReview);
    };
    let Some(review) = &verification.review else {
        return (wanted_again, ClaimReason::NoVerdict);
    };
    if review.verdict == ReviewVerdict::Rejected {
        // The objections may be met by now: a rejection decides only about its own files.
        let is_about_present_files = asked.tree == findings.tree;
        let objections = review.objections.clone();
        return if is_about_present_files {
            (ClaimJudgement::Failed, ClaimReason::Rejected(objections))
        } else {
            (wanted_again, ClaimReason::StaleReview)
        };
    }
    let is_same_tree = asked.tree.is_some() && asked.tree == findings.tree;
    match (review.verdict, &findings.refusal) {
        (ReviewVerdict::Verified, Some(refusal)) => {
            (wanted_again, ClaimReason::NotCounted(refusal.clone()))
        }
        (ReviewVerdict::Verified, None) if is_same_tree && asked.material == findings.material => {
            let is_known = matches!(findings.counterfactual, Counterfactual::Known(_));
            let lines = if is_known {
                findings.counterfactual.first_lines()
            } else {
                Vec::new()
            };
            let is_seen = lines.iter().all(|line| asked.shown.contains(line));
            let unseen = (wanted, ClaimReason::UnseenFacts);
            if is_seen {
                (ClaimJudgement::Verified, ClaimReason::None)
            } else {
                unseen
            }
        }
        (ReviewVerdict::Verified, None) => (wanted, ClaimReason::StaleReview),
        _ => (wanted_again, ClaimReason::UnclearVerdict),
    }
}

/// Times that the last claim's failure was told on this work tree, without a claim since.
pub(super) fn count_standing_failure(session: &Session, tree: Option<&str>) -> u32 {
    let told = session
        .verification
        .failure
        .as_ref()
        .filter(|failure| failure.tree.is_some() && failure.tree.as_deref() == tree);
    told.map_or(0, |failure| failure.times_told)
}

pub(super) fn note_standing_failure(session: &mut Session, tree: Option<String>) {
    let told = count_standing_failure(session, tree.as_deref());
    if let Some(failure) = &mut session.verification.failure {
        (failure.tree, failure.times_told) = (tree, told.saturating_add(1));
    }
}

/// `true` for an ended review that the run waits for.
pub fn has_awaited_review(session: &Session) -> bool {
    let verification = &session.verification;
    verification.requested_review.is_some()
        && verification
            .review
            .as_ref()
            .is_some_and(|review| review.verdict != ReviewVerdict::Unclear)
}

impl ClaimOutcome {
    /// The failure in a few words, equal for equal failures: the red checks, or the objections.
    pub fn failure(&self) -> Option<String> {
        match &self.reason {
            ClaimReason::RedChecks => {
                let red = self
                    .findings
                    .checks
                    .iter()
                    .filter(|check| !check.is_green());
                let words = red.map(|check| format!("{}: {}", check.name, check.record.detail));
                Some(words.collect::<Vec<_>>().join("; "))
            }
            ClaimReason::NotProved(objections) => {
                Some(format!("not proved: {}", objections.join("; ")))
            }
            ClaimReason::Unusual(facts) => {
                let lines: Vec<&str> = facts.iter().map(|fact| fact.line.as_str()).collect();
                Some(format!(
                    "only its user can accept this: {}",
                    lines.join("; ")
                ))
            }
            ClaimReason::Rejected(objections) => Some(format!("review: {objections}")),
            ClaimReason::NoVerdict => Some("no verdict of the review".to_owned()),
            ClaimReason::UnclearVerdict => {
                Some("the last line of the review is not a verdict".to_owned())
            }
            ClaimReason::TreeChanged => Some("files changed while they were judged".to_owned()),
            ClaimReason::FilesUnreadable => {
                Some("the files of the project could not be read".to_owned())
            }
            ClaimReason::NotCounted(refusal) => {
                Some(format!("the review does not count: {}", refusal.describe()))
            }
            ClaimReason::NotShown(why) => {
                Some(format!("the work cannot be shown to a reviewer: {why}"))
            }
            ClaimReason::None
            | ClaimReason::StaleReview
            | ClaimReason::UnseenFacts
            | ClaimReason::FirstReview => None,
        }
    }

    /// The outcome in a few words of omo's own, for the log.
    pub fn label(&self) -> &'static str {
        match self.reason {
            ClaimReason::None => "claimed and judged",
            ClaimReason::RedChecks => "a check is not green",
            ClaimReason::NotProved(_) => "a check is not red without the change",
            ClaimReason::Unusual(_) => "what judges it changed, and you have not accepted that",
            ClaimReason::TreeChanged => "files changed while they were judged",
            ClaimReason::FilesUnreadable => "the files could not be read",
            ClaimReason::Rejected(_) => "the review objects",
            ClaimReason::NoVerdict => "no verdict of the review was seen",
            ClaimReason::UnclearVerdict => "the last line of the review is not a verdict",
            ClaimReason::NotCounted(_) => "the review does not count",
            ClaimReason::NotShown(_) => "the work cannot be shown to a reviewer",
            ClaimReason::StaleReview => "files changed since the review",
            ClaimReason::UnseenFacts => "the comparison found what the review did not see",
            ClaimReason::FirstReview => "a review is asked for",
        }
    }

    /// The outcome for work that cannot be shown to a reviewer, which counts against the claim.
    #[must_use]
    pub fn with_hidden_work(self, why: String) -> Self {
        Self {
            judgement: ClaimJudgement::Failed,
            reason: ClaimReason::NotShown(why),
            material: None,
            ..self
        }
    }

    /// `true` where every present judge was asked: checks may have been added meanwhile.
    pub(super) fn covers_all_checks(&self, session: &Session) -> bool {
        self.judgement != ClaimJudgement::Verified
            || session.checks.iter().all(|check| {
                self.findings.checks.iter().any(|result| {
                    result.name == check.name && result.definition == check.definition()
                })
            })
    }

    /// Times that this failure was told on these files.
    pub(super) fn times_reported(&self, session: &Session) -> u32 {
        match (&session.verification.failure, self.failure()) {
            (Some(told), Some(text))
                if told.text == text && told.tree.is_some() && told.tree == self.findings.tree =>
            {
                told.times_told
            }
            _ => 0,
        }
    }

    /// Writes the outcome into the session's entry; `offset` is the end of the transcript.
    pub fn record(&self, session: &mut Session, now: Timestamp, offset: u64) {
        for result in self
            .findings
            .checks
            .iter()
            .filter(|result| !result.is_reused)
        {
            if let Some(check) = session
                .checks
                .iter_mut()
                .find(|check| check.name == result.name)
            {
                check.last = Some(result.record.clone());
            }
        }
        let times_told = self.times_reported(session);
        let verification = &mut session.verification;
        verification.claimed_at = Some(now);
        if self.findings.files_scope.is_some() {
            verification.scope.clone_from(&self.findings.files_scope);
            verification.left_out.clone_from(&self.findings.left_out);
        }
        verification.unusual_facts = self.findings.unusual_facts();
        if let Some(rejection) = &self.rejection {
            verification.reject(rejection.clone());
        }
        if self.judgement.is_failed_attempt() {
            verification.attempts = verification.attempts.saturating_add(1);
        }
        match self.judgement {
            ClaimJudgement::ReviewWanted { .. } => {
                verification.phase = VerificationPhase::Review;
                verification.requested_review = Some(RequestedReview {
                    at: Some(now),
                    tree: self.findings.tree.clone(),
                    offset,
                    material: self
                        .material
                        .as_ref()
                        .map(|material| material.digest.clone()),
                    shown: self.findings.counterfactual.first_lines(),
                });
                verification.review = None;
            }
            ClaimJudgement::Verified => verification.phase = VerificationPhase::Verified,
            ClaimJudgement::Failed | ClaimJudgement::NothingToJudgeBy => {
                verification.phase = VerificationPhase::Working;
                verification.requested_review = None;
                verification.review = None;
            }
        }
        verification.failure = self.failure().map(|text| ReportedFailure {
            text,
            tree: self.findings.tree.clone(),
            times_told: times_told.saturating_add(1),
        });
    }
}
