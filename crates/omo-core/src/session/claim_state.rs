//! `ClaimVerification`: progress of a claim through checks and review, as the session state keeps it.

use serde::{Deserialize, Serialize};

use crate::check::counterfactual::{ProveMode, UnusualFact};
use crate::limits::RunLimits;
use crate::review::{RejectedTree, RequestedReview, Review, ReviewVerdict, SettingsMark};
use crate::timestamp::Timestamp;

const MAX_REJECTIONS: usize = 256;
const MAX_OBJECTIONS: usize = 8;
const OBJECTION_CHARS: usize = 600;

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ClaimVerification {
    pub phase: VerificationPhase,
    pub attempts: u32,
    pub max_attempts: u32,
    pub claimed_at: Option<Timestamp>,
    /// A claim needs a review as well; on unless its user turned it off.
    pub review_wanted: bool,
    pub prove: ProveMode,
    /// The scope of counted files, settled at the start of the run.
    pub scope: Option<String>,
    #[serde(rename = "asked")]
    pub requested_review: Option<RequestedReview>,
    pub review: Option<Review>,
    pub rejections: Vec<RejectedTree>,
    pub failure: Option<ReportedFailure>,
    #[serde(rename = "unusual")]
    pub unusual_facts: Vec<UnusualFact>,
    pub accepted: Vec<UnusualFact>,
    /// The client's settings about reviewers at the start of the task; `None` from an older omo.
    pub settings: Option<Vec<SettingsMark>>,
    /// Files that the checks write, which do not count as work; paths from the top of the work tree.
    pub left_out: Vec<String>,
    /// Id of the environment at the start of the run, which checks get; `None` from an older omo.
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
            requested_review: None,
            review: None,
            rejections: Vec::new(),
            failure: None,
            unusual_facts: Vec::new(),
            accepted: Vec::new(),
            settings: None,
            left_out: Vec::new(),
            environment: None,
        }
    }
}

impl ClaimVerification {
    /// `true` where the last claim failed by a fact that only the user can accept.
    pub fn waits_for_user(&self) -> bool {
        self.failure.is_some()
            && self
                .unusual_facts
                .iter()
                .any(|fact| self.is_for_user(fact) && !self.accepted.contains(fact))
    }

    /// `true` for a fact that only the user can accept: with a review one about the reviewer, without one any other.
    pub fn is_for_user(&self, fact: &UnusualFact) -> bool {
        self.review_wanted == fact.is_about_reviewer()
    }

    /// The rejection of a tree id; `None` finds a rejection without an id.
    pub(crate) fn rejection_of(&self, tree: Option<&str>) -> Option<&RejectedTree> {
        self.rejections
            .iter()
            .find(|rejection| rejection.tree.as_deref() == tree)
    }

    /// Adds a rejection, which no later review of the same tree takes back.
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

    pub fn pending_rejection(&self) -> Option<RejectedTree> {
        let (requested, review) = (self.requested_review.as_ref()?, self.review.as_ref()?);
        (review.verdict == ReviewVerdict::Rejected).then(|| RejectedTree {
            tree: requested.tree.clone(),
            objections: review.objections.clone(),
        })
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VerificationPhase {
    Working,
    #[serde(rename = "gates")]
    Checks,
    Review,
    Verified,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ReportedFailure {
    #[serde(rename = "what")]
    pub text: String,
    pub tree: Option<String>,
    #[serde(rename = "told")]
    pub times_told: u32,
}
