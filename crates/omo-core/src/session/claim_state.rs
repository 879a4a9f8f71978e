//! Progress of the check of a claim, in the session state.

use serde::{Deserialize, Serialize};

use crate::check::counterfactual::{ProveMode, UnusualFact};
use crate::limits::RunLimits;
use crate::review::{RejectedTree, RequestedReview, Review, ReviewVerdict, SettingsMark};
use crate::timestamp::Timestamp;

/// Number of rejected work trees are remembered, and of how many of them what was objected to, in so many characters.
const MAX_REJECTIONS: usize = 256;
const MAX_OBJECTIONS: usize = 8;
const OBJECTION_CHARS: usize = 600;

/// Progress of the check of a claim.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimVerification {
    /// Phase of the run.
    pub phase: VerificationPhase,
    /// Number of verifications have failed.
    pub attempts: u32,
    /// After how many of them the run ends.
    pub max_attempts: u32,
    /// Time of the last claim.
    pub claimed_at: Option<Timestamp>,
    /// A claim needs a review as well. On unless its user turned it off.
    pub review_wanted: bool,
    /// `true` where a claim's checks have to be red without the change.
    pub prove: ProveMode,
    /// Name of the scope of counted files, settled at the start of the run.
    pub scope: Option<String>,
    /// The review that is waited for.
    pub asked: Option<RequestedReview>,
    /// The last review that ended while it was waited for.
    pub review: Option<Review>,
    /// The work trees that were rejected since the run began.
    pub rejections: Vec<RejectedTree>,
    /// The failure that was told last.
    pub failure: Option<ReportedFailure>,
    /// Unusual facts about the checks of the last claim.
    pub unusual: Vec<UnusualFact>,
    /// Unusual facts that the user has accepted.
    pub accepted: Vec<UnusualFact>,
    /// The client's settings that bear on a reviewer, as the task began; `None` in a run of an older omo.
    pub settings: Option<Vec<SettingsMark>>,
    /// Files that the checks write, from the top of the work tree: no part of the work.
    pub left_out: Vec<String>,
    /// What stands for the environment that the run began with, which its checks get; `None` in a run of an older omo.
    pub environment: Option<String>,
}

impl Default for ClaimVerification {
    fn default() -> Self {
        Self {
            phase: VerificationPhase::Working,
            attempts: 0,
            max_attempts: RunLimits::DEFAULT.max_failed_claims,
            claimed_at: None,
            review_wanted: true,
            prove: ProveMode::default(),
            scope: None,
            asked: None,
            review: None,
            rejections: Vec::new(),
            failure: None,
            unusual: Vec::new(),
            accepted: Vec::new(),
            settings: None,
            left_out: Vec::new(),
            environment: None,
        }
    }
}

impl ClaimVerification {
    /// The last claim failed by what only the user can accept.
    pub fn waits_for_user(&self) -> bool {
        let is_open = |fact: &UnusualFact| self.is_for_user(fact) && !self.accepted.contains(fact);
        self.failure.is_some() && self.unusual.iter().any(is_open)
    }

    /// Only the user can accept it: no reviewer is asked about it.
    pub fn is_for_user(&self, fact: &UnusualFact) -> bool {
        self.review_wanted == fact.is_about_reviewer()
    }

    /// What a review objected to on this work tree. Where a work tree has no id it may be any that had none.
    pub(crate) fn rejection_of(&self, tree: Option<&str>) -> Option<&RejectedTree> {
        self.rejections
            .iter()
            .find(|rejection| rejection.tree.as_deref() == tree)
    }

    /// Notes that a work tree was rejected: asking once more does not undo that.
    pub fn reject(&mut self, rejection: RejectedTree) {
        if self.rejection_of(rejection.tree.as_deref()).is_some() {
            return;
        }
        let objections = rejection.objections.chars().take(OBJECTION_CHARS).collect();
        self.rejections.push(RejectedTree {
            tree: rejection.tree,
            objections,
        });
        let too_many = self.rejections.len().saturating_sub(MAX_REJECTIONS);
        self.rejections.drain(..too_many);
        for old in self.rejections.iter_mut().rev().skip(MAX_OBJECTIONS) {
            old.objections.clear();
        }
    }

    /// The rejection that the review stands for which was asked for and has ended.
    pub fn pending_rejection(&self) -> Option<RejectedTree> {
        let (asked, review) = (self.asked.as_ref()?, self.review.as_ref()?);
        (review.verdict == ReviewVerdict::Rejected).then(|| RejectedTree {
            tree: asked.tree.clone(),
            objections: review.objections.clone(),
        })
    }
}

/// Phase of a run between its start and its verdict.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VerificationPhase {
    /// No claim yet, or the last one failed.
    Working,
    /// The commands that decide are running.
    #[serde(rename = "gates")]
    Checks,
    /// The independent reading is awaited.
    Review,
    /// The work was proved.
    Verified,
}

/// A failure, and how often it was told on one work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportedFailure {
    /// Which one, in a few words.
    pub what: String,
    /// On which work tree.
    pub tree: Option<String>,
    /// Number of times that the model was told.
    pub told: u32,
}
