//! How a claim becomes a verdict: the checks, then the review, both on the present work tree.
//!
//! A claim is text, and text never verifies: it only starts the check. What the check found comes
//! in as data; which of it counts is decided here.

use crate::check::counterfactual::{Counterfactual, UnusualFact};
use crate::check::printed_output::PrintedOutput;
use crate::check::session_check::{Check, CheckRecord, CheckVerdict};
use crate::check::test_report::TestReport;
use crate::review::{AgreementRefusal, RejectedTree, RequestedReview, Review, ReviewVerdict};
use crate::session::Session;
use crate::session::claim_state::{ClaimVerification, ReportedFailure, VerificationPhase};
use crate::timestamp::Timestamp;

/// Worth of a claim after all of its judges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClaimJudgement {
    /// All checks are green and the review verified, whichever of them there are, on the present
    /// work tree.
    Verified,
    /// There is no check and no review that could.
    NothingToJudgeBy,
    /// A check is red, the review objects, or it was asked for and not had.
    Failed,
    /// The checks are green, and a review of the present work tree is asked for.
    ReviewWanted {
        /// One was asked for already, and did not verify.
        again: bool,
    },
}

impl ClaimJudgement {
    /// `true` where it counts as a failed claim.
    pub(crate) fn is_failed_attempt(self) -> bool {
        matches!(self, Self::Failed | Self::ReviewWanted { again: true })
    }
}

/// Findings when a claim was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClaimFindings {
    /// The id of the files; `None` where they could not be read.
    pub tree: Option<String>,
    /// Their folder at the beginning of the run, if it is gone: it was moved, or a folder around it.
    pub moved_from: Option<String>,
    /// The checks, by name, each with its result and the end of its output.
    pub checks: Vec<CheckResult>,
    /// Files were changed while they were judged.
    pub tree_changed: bool,
    /// One of them, where that is known.
    pub changed_path: Option<String>,
    /// Paths that git ignores since the start of the run, for the review.
    pub newly_ignored: Vec<String>,
    /// The digest of what the reviewer was given to read, as it is now.
    pub material: Option<String>,
    /// The variables that are not as they were when the run began, in whose environment the checks run.
    pub environment: Vec<String>,
    /// Unusual facts about the reviewer's settings, hooks and material.
    pub reviewer_facts: Vec<UnusualFact>,
    /// Notes of the verdict on the agreement that came, one line each.
    pub review_notes: Vec<String>,
    /// Why the agreement that came does not count.
    pub refusal: Option<AgreementRefusal>,
    /// Comparison of the checks with those without the change.
    pub counterfactual: Counterfactual,
    /// Seconds that the claim waited beside its own checks.
    pub waited_seconds: u64,
    /// Name of the scope of the files that the id is about.
    pub files_scope: Option<String>,
    /// Files that the checks write, and that are no part of the work.
    pub left_out: Vec<String>,
    /// Difference of the verified work, as a reviewer reads it, where that can be told.
    pub difference: Option<String>,
    /// The content of each file that was verified, as omo-git keeps it; empty where that is too much.
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

/// Material of a reviewer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReviewMaterial {
    /// The file.
    pub path: String,
    /// Digest of the material.
    pub digest: String,
}

/// One check's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckResult {
    /// The check.
    pub name: String,
    /// Command of the check.
    pub command: String,
    /// Exact definition: [`Check::definition`].
    pub definition: Vec<u8>,
    /// Result of the check.
    pub record: CheckRecord,
    /// `true` for an earlier result that still holds.
    pub is_reused: bool,
    /// Kept lines of the output.
    pub printed: PrintedOutput,
    /// Tests by name.
    pub tests: TestReport,
}

impl CheckResult {
    /// `true` for a proof.
    pub fn is_green(&self) -> bool {
        self.record.verdict == CheckVerdict::Green
    }
}

/// Result of a claim, with its reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimOutcome {
    /// Worth of the claim.
    pub judgement: ClaimJudgement,
    /// Objections, and the state of the review.
    pub reason: ClaimReason,
    /// Findings.
    pub findings: ClaimFindings,
    /// Material for the reviewer, where a review is wanted.
    pub material: Option<ReviewMaterial>,
    /// Rejection of a review, if one came.
    pub rejection: Option<RejectedTree>,
}

/// Why a claim is worth what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ClaimReason {
    /// There is nothing to say beside the judgement.
    None,
    /// These checks are red.
    RedChecks,
    /// A check that has to be red without the change is not known to be.
    NotProved(Vec<String>),
    /// The checks are green, and what only the user can accept is unusual.
    Unusual(Vec<UnusualFact>),
    /// Files were changed while they were judged.
    TreeChanged,
    /// The files could not be read.
    FilesUnreadable,
    /// The review objects, in its own words.
    Rejected(String),
    /// The review was asked for, and no verdict was seen.
    NoVerdict,
    /// The review came, and its last line is no verdict.
    UnclearVerdict,
    /// An agreement came that does not count.
    NotCounted(AgreementRefusal),
    /// The work cannot be shown to a reviewer, and why.
    NotShown(String),
    /// The review verified other files than the present ones.
    StaleReview,
    /// The comparison with the start of the run found what the reviewer was not shown.
    UnseenFacts,
    /// No review was asked for yet.
    FirstReview,
}

/// Judges a claim, or a review that has come.
pub fn judge_claim(session: &Session, findings: ClaimFindings) -> ClaimOutcome {
    let verification = &session.verification;
    let checks = &findings.checks;
    let (judgement, reason) = if checks.is_empty() && !verification.review_wanted {
        (ClaimJudgement::NothingToJudgeBy, ClaimReason::None)
    } else if checks.iter().any(|check| !check.is_green()) {
        (ClaimJudgement::Failed, ClaimReason::RedChecks)
    } else if findings.tree.is_none() {
        // What cannot be established counts against the claim.
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

/// Objections to checks that have to be red without the change, one line each; `None` without any.
fn unproved_checks(session: &Session, findings: &ClaimFindings) -> Option<Vec<String>> {
    let objection = |check: &Check| {
        let objection = findings.counterfactual.objection(&check.name)?;
        Some(format!("{}: {objection}", check.name))
    };
    let objections: Vec<String> = session
        .checks
        .iter()
        .filter(|check| session.needs_proof(check))
        .filter_map(objection)
        .collect();
    (!objections.is_empty()).then_some(objections)
}

fn unaccepted_facts(
    verification: &ClaimVerification,
    findings: &ClaimFindings,
) -> Option<Vec<UnusualFact>> {
    let is_open = |fact: &UnusualFact| {
        verification.is_for_user(fact) && !verification.accepted.contains(fact)
    };
    let facts: Vec<UnusualFact> = findings
        .unusual_facts()
        .into_iter()
        .filter(is_open)
        .collect();
    (!facts.is_empty()).then_some(facts)
}

fn judge_review(
    verification: &ClaimVerification,
    findings: &ClaimFindings,
) -> (ClaimJudgement, ClaimReason) {
    let wanted = |again| ClaimJudgement::ReviewWanted { again };
    if let Some(rejection) = verification.rejection_of(findings.tree.as_deref()) {
        return (
            ClaimJudgement::Failed,
            ClaimReason::Rejected(rejection.objections.clone()),
        );
    }
    let Some(asked) = &verification.asked else {
        return (wanted(false), ClaimReason::FirstReview);
    };
    let Some(review) = &verification.review else {
        return (wanted(true), ClaimReason::NoVerdict);
    };
    if review.verdict == ReviewVerdict::Rejected {
        // What it objects to may be fixed by now: the rejection decides only about the files that it is about.
        let is_about_present_files = asked.tree == findings.tree;
        let objections = review.objections.clone();
        return if is_about_present_files {
            (ClaimJudgement::Failed, ClaimReason::Rejected(objections))
        } else {
            (wanted(true), ClaimReason::StaleReview)
        };
    }
    let is_same_tree = asked.tree.is_some() && asked.tree == findings.tree;
    match (review.verdict, &findings.refusal) {
        (ReviewVerdict::Verified, Some(refusal)) => {
            (wanted(true), ClaimReason::NotCounted(refusal.clone()))
        }
        (ReviewVerdict::Verified, None) if is_same_tree && asked.material == findings.material => {
            let is_known = matches!(findings.counterfactual, Counterfactual::Known(_));
            let lines = if is_known {
                findings.counterfactual.first_lines()
            } else {
                Vec::new()
            };
            let is_seen = lines.iter().all(|line| asked.shown.contains(line));
            let unseen = (wanted(false), ClaimReason::UnseenFacts);
            if is_seen {
                (ClaimJudgement::Verified, ClaimReason::None)
            } else {
                unseen
            }
        }
        (ReviewVerdict::Verified, None) => (wanted(false), ClaimReason::StaleReview),
        _ => (wanted(true), ClaimReason::UnclearVerdict),
    }
}

/// Number of times the failure that stands was told on this work tree, where nothing was claimed since.
pub(super) fn count_standing_failure(session: &Session, tree: Option<&str>) -> u32 {
    let told = session
        .verification
        .failure
        .as_ref()
        .filter(|told| told.tree.is_some() && told.tree.as_deref() == tree);
    told.map_or(0, |told| told.told)
}

pub(super) fn note_standing_failure(session: &mut Session, tree: Option<String>) {
    let told = count_standing_failure(session, tree.as_deref());
    if let Some(failure) = &mut session.verification.failure {
        (failure.tree, failure.told) = (tree, told.saturating_add(1));
    }
}

/// `true` where a review has ended that the run waits for.
pub fn has_awaited_review(session: &Session) -> bool {
    let verification = &session.verification;
    let counts = |review: &Review| review.verdict != ReviewVerdict::Unclear;
    verification.asked.is_some() && verification.review.as_ref().is_some_and(counts)
}

impl ClaimOutcome {
    /// The failure in a few words, the same for the same failure: which checks are red and how, or
    /// what the review objects to. `None` where nothing failed.
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
                Some("the last line of the review is no verdict".to_owned())
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

    /// Result of the claim in a few words of omo's own, for the log.
    pub fn label(&self) -> &'static str {
        match self.reason {
            ClaimReason::None => "claimed and judged",
            ClaimReason::RedChecks => "a check is not green",
            ClaimReason::NotProved(_) => "a check is not red without the change",
            ClaimReason::Unusual(_) => "what judges it changed, and its user has not accepted that",
            ClaimReason::TreeChanged => "files changed while they were judged",
            ClaimReason::FilesUnreadable => "the files could not be read",
            ClaimReason::Rejected(_) => "the review objects",
            ClaimReason::NoVerdict => "no verdict of the review was seen",
            ClaimReason::UnclearVerdict => "the last line of the review is no verdict",
            ClaimReason::NotCounted(_) => "the review does not count",
            ClaimReason::NotShown(_) => "the work cannot be shown to a reviewer",
            ClaimReason::StaleReview => "files changed since the review",
            ClaimReason::UnseenFacts => "the comparison found what the review did not see",
            ClaimReason::FirstReview => "a review is asked for",
        }
    }

    /// The work cannot be shown to a reviewer, and nothing can be reviewed: that counts against the claim.
    #[must_use]
    pub fn with_hidden_work(self, why: String) -> Self {
        Self {
            judgement: ClaimJudgement::Failed,
            reason: ClaimReason::NotShown(why),
            material: None,
            ..self
        }
    }

    /// `true` where everything that judges the run now was asked: checks may have been added meanwhile.
    pub(super) fn covers_all_checks(&self, session: &Session) -> bool {
        let is_asked = |check: &Check| {
            self.findings
                .checks
                .iter()
                .any(|it| it.name == check.name && it.definition == check.definition())
        };
        self.judgement != ClaimJudgement::Verified || session.checks.iter().all(is_asked)
    }

    /// Number of times this very failure was told already on these files.
    pub(super) fn times_reported(&self, session: &Session) -> u32 {
        match (&session.verification.failure, self.failure()) {
            (Some(told), Some(what))
                if told.what == what && told.tree.is_some() && told.tree == self.findings.tree =>
            {
                told.told
            }
            _ => 0,
        }
    }

    /// Writes into the session what was found, which may be a failed claim more: the checks' results, and where the review stands.
    /// `offset` is where the transcript ends.
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
        let told = self.times_reported(session);
        let verification = &mut session.verification;
        verification.claimed_at = Some(now);
        if self.findings.files_scope.is_some() {
            verification.scope.clone_from(&self.findings.files_scope);
            verification.left_out.clone_from(&self.findings.left_out);
        }
        verification.unusual = self.findings.unusual_facts();
        if let Some(rejection) = &self.rejection {
            verification.reject(rejection.clone());
        }
        if self.judgement.is_failed_attempt() {
            verification.attempts = verification.attempts.saturating_add(1);
        }
        match self.judgement {
            ClaimJudgement::ReviewWanted { .. } => {
                verification.phase = VerificationPhase::Review;
                verification.asked = Some(RequestedReview {
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
                verification.asked = None;
                verification.review = None;
            }
        }
        verification.failure = self.failure().map(|what| ReportedFailure {
            what,
            tree: self.findings.tree.clone(),
            told: told.saturating_add(1),
        });
    }
}
