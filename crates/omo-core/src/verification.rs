//! How a claim becomes a verdict: the checks, then the review, both on the present work tree.
//!
//! A claim is text, and text never verifies: it only starts the check. What the check found comes
//! in as data; which of it counts is decided here.

use serde::{Deserialize, Serialize};

use crate::gate::{Baseline, Gate, GateVerdict, Record};
use crate::review::{Asked, Refusal, Rejection, Review, ReviewVerdict};
use crate::session::Session;
use crate::timestamp::Timestamp;

/// How many failed verifications a run may have: a file in a repository can not widen that.
pub const MAX_ATTEMPTS: u32 = 3;
/// How many rejected work trees are remembered, and of how many of them what was objected to, in so many characters.
const MAX_REJECTIONS: usize = 256;
const MAX_OBJECTIONS: usize = 8;
const OBJECTION_CHARS: usize = 600;

/// How far the check of a claim has come.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Verification {
    /// Where the run stands.
    pub phase: Phase,
    /// How many verifications have failed.
    pub attempts: u32,
    /// After how many of them the run ends.
    pub max_attempts: u32,
    /// When the last claim was made.
    pub claimed_at: Option<Timestamp>,
    /// A claim needs a review as well. On unless its user turned it off.
    pub review_wanted: bool,
    /// Which files count, settled when the run began: the name under which that is kept.
    pub scope: Option<String>,
    /// The review that is waited for.
    pub asked: Option<Asked>,
    /// The last review that ended while it was waited for.
    pub review: Option<Review>,
    /// The work trees that were rejected since the run began.
    pub rejections: Vec<Rejection>,
    /// The failure that was told last.
    pub failure: Option<ToldFailure>,
    /// What stands for the environment that the run began with, which its checks get; `None` in a run of an older omo.
    pub environment: Option<String>,
}

impl Default for Verification {
    fn default() -> Self {
        Self {
            phase: Phase::Working,
            attempts: 0,
            max_attempts: MAX_ATTEMPTS,
            claimed_at: None,
            review_wanted: true,
            scope: None,
            asked: None,
            review: None,
            rejections: Vec::new(),
            failure: None,
            environment: None,
        }
    }
}

impl Verification {
    /// What a review objected to on this work tree. Where a work tree has no id it may be any that had none.
    pub fn rejected(&self, tree: Option<&str>) -> Option<&Rejection> {
        self.rejections.iter().find(|rejection| rejection.tree.as_deref() == tree)
    }

    /// Notes that a work tree was rejected: asking once more does not undo that.
    pub fn reject(&mut self, rejection: Rejection) {
        if self.rejected(rejection.tree.as_deref()).is_some() {
            return;
        }
        let objections = rejection.objections.chars().take(OBJECTION_CHARS).collect();
        self.rejections.push(Rejection { tree: rejection.tree, objections });
        let too_many = self.rejections.len().saturating_sub(MAX_REJECTIONS);
        self.rejections.drain(..too_many);
        for old in self.rejections.iter_mut().rev().skip(MAX_OBJECTIONS) {
            old.objections.clear();
        }
    }

    /// The rejection that the review stands for which was asked for and has ended.
    pub fn pending_rejection(&self) -> Option<Rejection> {
        let (asked, review) = (self.asked.as_ref()?, self.review.as_ref()?);
        (review.verdict == ReviewVerdict::Rejected)
            .then(|| Rejection { tree: asked.tree.clone(), objections: review.objections.clone() })
    }
}

/// Where a run stands between its start and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Phase {
    /// No claim yet, or the last one failed.
    Working,
    /// The commands that decide are running.
    Gates,
    /// The independent reading is awaited.
    Review,
    /// The work was proved.
    Verified,
}

/// A failure, and how often it was told on one work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ToldFailure {
    /// Which one, in a few words.
    pub what: String,
    /// On which work tree.
    pub tree: Option<String>,
    /// How often.
    pub told: u32,
}

/// What a claim is worth after everything that can judge it has judged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Judgement {
    /// All checks are green and the review verified, whichever of them there are, on the present
    /// work tree.
    Verified,
    /// There is no check and no review that could.
    NothingToJudgeBy,
    /// What omo had written down about the run was changed by something else.
    Tampered,
    /// A check is red, the review objects, or it was asked for and not had.
    Failed,
    /// The checks are green, and a review of the present work tree is asked for.
    ReviewWanted {
        /// One was asked for already, and did not verify.
        again: bool,
    },
}

impl Judgement {
    /// Whether it counts as a failed verification.
    pub fn is_failed_attempt(self) -> bool {
        matches!(self, Self::Failed | Self::ReviewWanted { again: true })
    }
}

/// What was found when a claim was checked.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Findings {
    /// The id of the files; `None` where they could not be read.
    pub tree: Option<String>,
    /// The checks, by name, each with its result and the end of its output.
    pub gates: Vec<GateResult>,
    /// The run's record is the one that omo wrote.
    pub is_sealed: bool,
    /// Files were changed while they were judged.
    pub tree_moves: bool,
    /// One of them, where that is known.
    pub moving: Option<String>,
    /// What git ignores now and did not when the run began, for the review.
    pub newly_ignored: Vec<String>,
    /// The digest of what the reviewer was given to read, as it is now.
    pub material: Option<String>,
    /// The variables that are not as they were when the run began, in whose environment the checks run.
    pub environment: Vec<String>,
    /// Why the agreement that came does not count.
    pub refusal: Option<Refusal>,
}

/// What a reviewer is given to read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Material {
    /// The file.
    pub path: String,
    /// Its digest.
    pub digest: String,
}

/// One check's result.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateResult {
    /// The check.
    pub name: String,
    /// Its command.
    pub run: String,
    /// What exactly was run: [`Gate::definition`].
    pub definition: Vec<u8>,
    /// What came of it.
    pub record: Record,
    /// It was not run again: the last result still holds.
    pub reused: bool,
    /// The end of its output.
    pub tail: String,
    /// What it counted before the run, where it was held to that.
    pub baseline: Option<Baseline>,
}

impl GateResult {
    /// It proves what it is for.
    pub fn is_green(&self) -> bool {
        self.record.verdict == GateVerdict::Green
    }
}

/// What became of a claim, and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    /// What it is worth.
    pub judgement: Judgement,
    /// What stands against it, and how it stands with the review.
    pub reason: Reason,
    /// What was found.
    pub findings: Findings,
    /// What the reviewer is to read, where a review is wanted.
    pub material: Option<Material>,
    /// What a review that has come rejects.
    pub rejection: Option<Rejection>,
}

/// Why a claim is worth what it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is nothing to say beside the judgement.
    None,
    /// These checks are red.
    RedGates,
    /// Files were changed while they were judged.
    TreeMoves,
    /// The files could not be read.
    FilesUnreadable,
    /// The review objects, in its own words.
    Rejected(String),
    /// The review was asked for, and no verdict was seen.
    NoVerdict,
    /// An agreement came that does not count.
    NotCounted(Refusal),
    /// The work cannot be shown to a reviewer, and why.
    NotShown(String),
    /// The review verified other files than the present ones.
    StaleReview,
    /// No review was asked for yet.
    FirstReview,
}

/// Judges a claim, or a review that has come.
pub fn judge(session: &Session, findings: Findings) -> Check {
    let verification = &session.verification;
    let gates = &findings.gates;
    let (judgement, reason) = if !findings.is_sealed {
        (Judgement::Tampered, Reason::None)
    } else if gates.is_empty() && !verification.review_wanted {
        (Judgement::NothingToJudgeBy, Reason::None)
    } else if gates.iter().any(|gate| !gate.is_green()) {
        (Judgement::Failed, Reason::RedGates)
    } else if findings.tree.is_none() {
        // What cannot be established counts against the claim.
        (Judgement::Failed, Reason::FilesUnreadable)
    } else if findings.tree_moves {
        (Judgement::Failed, Reason::TreeMoves)
    } else if verification.review_wanted {
        judge_review(verification, &findings)
    } else {
        (Judgement::Verified, Reason::None)
    };
    Check { judgement, reason, findings, material: None, rejection: verification.pending_rejection() }
}

fn judge_review(verification: &Verification, findings: &Findings) -> (Judgement, Reason) {
    let wanted = |again| Judgement::ReviewWanted { again };
    if let Some(rejection) = verification.rejected(findings.tree.as_deref()) {
        return (Judgement::Failed, Reason::Rejected(rejection.objections.clone()));
    }
    let Some(asked) = &verification.asked else { return (wanted(false), Reason::FirstReview) };
    let Some(review) = &verification.review else { return (wanted(true), Reason::NoVerdict) };
    if review.verdict == ReviewVerdict::Rejected {
        // What it objects to may be fixed by now: the rejection decides only about the files that it is about.
        let is_about_present_files = asked.tree == findings.tree;
        let objections = review.objections.clone();
        return if is_about_present_files {
            (Judgement::Failed, Reason::Rejected(objections))
        } else {
            (wanted(true), Reason::StaleReview)
        };
    }
    let is_same_tree = asked.tree.is_some() && asked.tree == findings.tree;
    match (review.verdict, &findings.refusal) {
        (ReviewVerdict::Verified, Some(refusal)) => (wanted(true), Reason::NotCounted(refusal.clone())),
        (ReviewVerdict::Verified, None) if is_same_tree && asked.material == findings.material => {
            (Judgement::Verified, Reason::None)
        }
        (ReviewVerdict::Verified, None) => (wanted(false), Reason::StaleReview),
        _ => (wanted(true), Reason::NoVerdict),
    }
}

/// How often the failure that stands was told on this work tree, where nothing was claimed since.
pub fn standing_failure_told(session: &Session, tree: Option<&str>) -> u32 {
    let told = session.verification.failure.as_ref().filter(|told| told.tree.is_some() && told.tree.as_deref() == tree);
    told.map_or(0, |told| told.told)
}

/// Notes that the failure that stands was told once more.
pub fn tell_standing_failure(session: &mut Session, tree: Option<String>) {
    let told = standing_failure_told(session, tree.as_deref());
    if let Some(failure) = &mut session.verification.failure {
        (failure.tree, failure.told) = (tree, told.saturating_add(1));
    }
}

/// Whether a review has ended that the run waits for.
pub fn has_review(session: &Session) -> bool {
    let verification = &session.verification;
    let counts = |review: &Review| review.verdict != ReviewVerdict::Unclear;
    verification.asked.is_some() && verification.review.as_ref().is_some_and(counts)
}

impl Check {
    /// The failure in a few words, the same for the same failure: which checks are red and how, or
    /// what the review objects to. `None` where nothing failed.
    pub fn failure(&self) -> Option<String> {
        match &self.reason {
            Reason::RedGates => {
                let red = self.findings.gates.iter().filter(|gate| !gate.is_green());
                let words = red.map(|gate| format!("{}: {}", gate.name, gate.record.detail));
                Some(words.collect::<Vec<_>>().join("; "))
            }
            Reason::Rejected(objections) => Some(format!("review: {objections}")),
            Reason::NoVerdict => Some("no verdict of the review".to_owned()),
            Reason::TreeMoves => Some("files changed while they were judged".to_owned()),
            Reason::FilesUnreadable => Some("the files of the project could not be read".to_owned()),
            Reason::NotCounted(refusal) => Some(format!("the review does not count: {}", refusal.why())),
            Reason::NotShown(why) => Some(format!("the work cannot be shown to a reviewer: {why}")),
            Reason::None | Reason::StaleReview | Reason::FirstReview => None,
        }
    }

    /// What became of the claim in a few words of omo's own, for the log.
    pub fn label(&self) -> &'static str {
        match self.reason {
            Reason::None => "claimed and judged",
            Reason::RedGates => "a check is not green",
            Reason::TreeMoves => "files changed while they were judged",
            Reason::FilesUnreadable => "the files could not be read",
            Reason::Rejected(_) => "the review objects",
            Reason::NoVerdict => "no verdict of the review was seen",
            Reason::NotCounted(_) => "the review does not count",
            Reason::NotShown(_) => "the work cannot be shown to a reviewer",
            Reason::StaleReview => "files changed since the review",
            Reason::FirstReview => "a review is asked for",
        }
    }

    /// The work cannot be shown to a reviewer, and nothing can be reviewed: that counts against the claim.
    #[must_use]
    pub fn not_shown(self, why: String) -> Self {
        Self { judgement: Judgement::Failed, reason: Reason::NotShown(why), material: None, ..self }
    }

    /// Whether everything that judges the run now was asked: checks may have been added meanwhile.
    pub fn covers(&self, session: &Session) -> bool {
        let is_asked = |gate: &Gate| {
            self.findings.gates.iter().any(|it| it.name == gate.name && it.definition == gate.definition())
        };
        self.judgement != Judgement::Verified || session.gates.iter().all(is_asked)
    }

    /// How often this very failure was told already on these files.
    pub fn told_before(&self, session: &Session) -> u32 {
        match (&session.verification.failure, self.failure()) {
            (Some(told), Some(what)) if told.what == what && told.tree.is_some() && told.tree == self.findings.tree => {
                told.told
            }
            _ => 0,
        }
    }

    /// Writes into the session what was found, which may be a failed verification more: the checks' results, and where the review stands.
    /// `offset` is where the transcript ends.
    pub fn record(&self, session: &mut Session, now: Timestamp, offset: u64) {
        for result in self.findings.gates.iter().filter(|result| !result.reused) {
            if let Some(gate) = session.gates.iter_mut().find(|gate| gate.name == result.name) {
                if let Some(baseline) = result.baseline.clone().filter(|_| gate.baseline.is_none()) {
                    gate.take_baseline(baseline);
                }
                gate.keep(result.record.clone());
            }
        }
        let told = self.told_before(session);
        let verification = &mut session.verification;
        verification.claimed_at = Some(now);
        if let Some(rejection) = &self.rejection {
            verification.reject(rejection.clone());
        }
        if self.judgement.is_failed_attempt() {
            verification.attempts = verification.attempts.saturating_add(1);
        }
        match self.judgement {
            Judgement::ReviewWanted { .. } => {
                verification.phase = Phase::Review;
                verification.asked = Some(Asked {
                    at: Some(now),
                    tree: self.findings.tree.clone(),
                    offset,
                    material: self.material.as_ref().map(|material| material.digest.clone()),
                });
                verification.review = None;
            }
            Judgement::Verified => verification.phase = Phase::Verified,
            Judgement::Failed | Judgement::NothingToJudgeBy | Judgement::Tampered => {
                verification.phase = Phase::Working;
                verification.asked = None;
                verification.review = None;
            }
        }
        verification.failure = self.failure().map(|what| ToldFailure {
            what,
            tree: self.findings.tree.clone(),
            told: told.saturating_add(1),
        });
    }
}
