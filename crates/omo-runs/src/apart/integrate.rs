//! What sessions did is brought together, and the user's branch moves there: the last thing of all, once.

use omo_core::text::sanitize;
use omo_exec::integrate::{
    CheckoutHead, LandError, LandOutcome, MergePreview, anchor, facts, holds, land, merge, preview, release,
};
use omo_plan::dialects::ultraplan::report::SESSION_PREFIX;
use omo_plan::model::TaskGroup;
use omo_plan::run::apart::ParallelState;
use omo_plan::run::event::EventKind;
use omo_plan::run::state::RunState;

use super::{DriveError, INTEGRATED, ParallelDriver};
use crate::ultra::short;

impl ParallelDriver<'_> {
    /// Brings a session together with what the run has come to. Nothing that is checked out changes.
    pub(super) fn merge(
        &mut self,
        state: &RunState,
        apart: &ParallelState,
        group: &TaskGroup,
    ) -> Result<(), DriveError> {
        let known = apart.groups.get(&group.id);
        let Some(tip) = known.and_then(|known| known.tip.clone()) else {
            return self.stuck::<()>(group, "the ledger does not say what it came to").map(drop);
        };
        let id = group.id.clone();
        let tree = self.merged.as_ref().filter(|(made, _)| *made == apart.tip).map(|(_, tree)| tree.as_str());
        let what = match preview(&self.repository, &apart.tip, tree, &tip)? {
            MergePreview::Nothing => EventKind::GroupMerged { group: id, tip: apart.tip.clone() },
            MergePreview::Conflict { files } => EventKind::GroupRefused { group: id, files },
            MergePreview::Clean { tree } => {
                let made = merge(&self.repository, &apart.tip, &tip, &tree, &message(state, group))?;
                // No branch names it, and it must not be lost.
                anchor(&self.repository, &self.name(INTEGRATED)?, &made)?;
                self.merged = Some((made.clone(), tree));
                EventKind::GroupMerged { group: id, tip: made }
            }
        };
        self.note(|_| vec![what]).map(drop)
    }

    /// Moves the user's branch to what the run has come to, where nothing of its user's is in the way.
    pub(super) fn land(&self, state: &RunState, apart: &ParallelState) -> Result<(), DriveError> {
        let (name, at) = match facts(&self.repository)?.head {
            CheckoutHead::Branch { reference, commit } => (reference, commit),
            CheckoutHead::Unborn { .. } | CheckoutHead::Detached { .. } => {
                return self.refuse("no branch is checked out", Vec::new());
            }
        };
        let branch = &apart.terms.branch;
        if !branch.is_empty() && name != *branch {
            let short = |name: &str| sanitize(name.trim_start_matches("refs/heads/"), 100);
            let why = format!("{} is checked out, and the run began on {}", short(&name), short(branch));
            return self.refuse(&why, Vec::new());
        }
        if !holds(&self.repository, &apart.tip, std::slice::from_ref(&at))? {
            return self.catch_up(state, apart, &at);
        }
        if let Some(why) = self.rewritten(state, apart, &at)? {
            return self.refuse(&why, Vec::new());
        }
        let landed = match land(&self.repository, &at, &apart.tip) {
            Ok(LandOutcome::Moved) => at,
            Ok(LandOutcome::WasThere) => base(state, apart).map_or(at, str::to_owned),
            Err(error) => return self.land_refused(error),
        };
        let moved = EventKind::Landed { from: landed, to: apart.tip.clone() };
        self.note(|_| vec![moved])?;
        // The user's branch holds all of it.
        Ok(release(&self.repository, &self.name(INTEGRATED)?)?)
    }

    fn land_refused(&self, error: LandError) -> Result<(), DriveError> {
        match error {
            // It has moved this very moment: what comes next looks again.
            LandError::Moved { .. } => Ok(()),
            LandError::Dirty { paths } => self.refuse("edits that are not committed are in the way", paths),
            error => self.refuse(&error.to_string(), Vec::new()),
        }
    }

    /// Where the user's branch is, while it is checked out and has what the run has not come to yet.
    pub(super) fn ahead(&self, apart: &ParallelState) -> Result<Option<String>, DriveError> {
        let CheckoutHead::Branch { reference, commit } = facts(&self.repository)?.head else { return Ok(None) };
        let is_it = apart.terms.branch.is_empty() || reference == apart.terms.branch;
        let is_behind = is_it && !holds(&self.repository, &apart.tip, std::slice::from_ref(&commit))?;
        Ok(is_behind.then_some(commit))
    }

    /// Why the user's branch cannot follow where its user has taken something out of it: that is part of what the run has
    /// come to, and would come back.
    fn rewritten(&self, state: &RunState, apart: &ParallelState, at: &str) -> Result<Option<String>, DriveError> {
        let Some(base) = base(state, apart).filter(|base| *base != at) else { return Ok(None) };
        if holds(&self.repository, at, &[base.to_owned()])? {
            return Ok(None);
        }
        let base = sanitize(short(base), 12);
        let text = "any more, which it had before: its history was rewritten. To have that commit in it again,";
        Ok(Some(format!("it does not hold {base} {text} `git merge {base}`")))
    }

    /// Its user has committed meanwhile: the run's own work goes on top of that, and is checked again.
    pub(super) fn catch_up(&self, state: &RunState, apart: &ParallelState, at: &str) -> Result<(), DriveError> {
        if let Some(why) = self.rewritten(state, apart, at)? {
            return self.refuse(&why, Vec::new());
        }
        let tip = match preview(&self.repository, at, None, &apart.tip)? {
            // Its user has all of it already, and more.
            MergePreview::Nothing => at.to_owned(),
            MergePreview::Conflict { files } => {
                return self.refuse("what was committed on it meanwhile changes the same", files);
            }
            MergePreview::Clean { tree } => {
                merge(&self.repository, at, &apart.tip, &tree, &format!("merge: omo run {}", self.engine.run.id()))?
            }
        };
        anchor(&self.repository, &self.name(INTEGRATED)?, &tip)?;
        let caught_up = EventKind::CaughtUp { with: at.to_owned(), tip };
        self.note(|_| vec![caught_up]).map(drop)
    }

    pub(super) fn refuse(&self, why: &str, files: Vec<String>) -> Result<(), DriveError> {
        let refused = EventKind::LandRefused { why: sanitize(why, 300), files };
        self.note(|_| vec![refused]).map(drop)
    }
}

/// Where the user's branch was when sessions began, or when what was committed on it was last merged with.
fn base<'a>(state: &'a RunState, apart: &'a ParallelState) -> Option<&'a str> {
    Some(apart.base.as_str()).filter(|base| !base.is_empty()).or(state.base.as_deref())
}

/// What the merge of a session is called.
fn message(state: &RunState, group: &TaskGroup) -> String {
    let number = group.id.strip_prefix(SESSION_PREFIX).unwrap_or(&group.id);
    let title = sanitize(&group.title, 120);
    let title = if title.is_empty() { String::new() } else { format!(" — {title}") };
    let plan = sanitize(&state.plan.source.path, 200);
    format!("merge: ultraplan session {number}{title}\n\nOmo-Plan: {plan}\n")
}
