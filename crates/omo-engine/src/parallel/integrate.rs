//! Merges of finished sessions into a run's result, and the last step: moving the user's branch.

use omo_core::text::sanitize;
use omo_git::commit::CommitRefusal;
use omo_git::commit_conditions::other_checkouts;
use omo_git::integrate::{
    CheckoutHead, CommitDraft, LandError, LandOutcome, MergePreview, find_absent_branch,
    has_common_history, keep_commit, land, links_leading_out, preview_merge, read_checkout_facts,
    read_edit_facts, release_kept, unsigned_commits,
};
use omo_git::user_git::REFERENCE_HOOK;
use omo_plan::model::TaskGroup;
use omo_plan::plan_summary::SESSION_PREFIX;
use omo_state::seal::hex_digest;

use super::user_commits::LIMIT;
use super::{DriveError, ParallelDriver};
use crate::event::{EventKind, QuestionKind};
use crate::landing_hints::{branch_lines, edit_lines, operation_lines, other_checkout_lines};
use crate::parallel_state::{INTEGRATED, ParallelState};
use crate::report::ultraplan::short_commit;
use crate::report::workers::worker_name;
use crate::state::{ANSWER_CONTINUE, MAX_REASON_CHARS, RunState};
use crate::work::guard_reading::guard_changes;

impl ParallelDriver<'_> {
    /// Merges a session into the result of the run. Nothing that is checked out changes.
    pub(super) fn merge_worker(
        &mut self,
        state: &RunState,
        parallel: &ParallelState,
        group: &TaskGroup,
    ) -> Result<(), DriveError> {
        let group_state = parallel.groups.get(&group.id);
        let Some(tip) = group_state.and_then(|group_state| group_state.tip.clone()) else {
            return self
                .report_stuck::<()>(group, "the ledger has no result of it")
                .map(drop);
        };
        let id = group.id.clone();
        let tree = self
            .last_merge
            .as_ref()
            .filter(|(made, _)| *made == parallel.tip)
            .map(|(_, tree)| tree.as_str());
        let merge_event = match preview_merge(&self.repository, &parallel.tip, tree, &tip)? {
            MergePreview::UpToDate => EventKind::GroupMerged {
                group: id,
                tip: parallel.tip.clone(),
            },
            MergePreview::Conflict { files } => EventKind::GroupRefused { group: id, files },
            MergePreview::Clean { tree } => {
                let links = links_leading_out(&self.repository, &parallel.tip, &tree)?;
                if let Some(why) = links_reason(&links).filter(|why| !is_accepted(state, why)) {
                    return self.report_stuck::<()>(group, &why).map(drop);
                }
                let message = merge_message(state, group);
                let draft = CommitDraft {
                    tip: &parallel.tip,
                    merged: Some(&tip),
                    tree: &tree,
                    message: &message,
                };
                let made = match self.commit_for_user(&parallel.policy, &draft)? {
                    Ok(made) => made,
                    Err(why) => {
                        let why = format!("it is done, and could not be merged: {why}");
                        return self.report_stuck::<()>(group, &why).map(drop);
                    }
                };
                // No branch names the commit, and it must not be lost.
                keep_commit(&self.repository, &self.worker_name(INTEGRATED)?, &made)?;
                self.last_merge = Some((made.clone(), tree));
                EventKind::GroupMerged {
                    group: id,
                    tip: made,
                }
            }
        };
        self.record(|_| vec![merge_event]).map(drop)
    }

    /// Moves the user's branch to the result of the run, where no change of its user is in the way.
    pub(super) fn land_on_user_branch(
        &self,
        state: &RunState,
        parallel: &ParallelState,
    ) -> Result<(), DriveError> {
        let checkout = read_checkout_facts(&self.repository)?;
        // A rebase leaves no branch checked out until it ends.
        if let Some(what) = checkout.operation {
            return self.on_land_error(LandError::OperationInProgress { what });
        }
        let branch = &parallel.policy.branch;
        let (name, at) = match checkout.head {
            CheckoutHead::Branch { reference, commit } => (reference, commit),
            CheckoutHead::Unborn { .. } | CheckoutHead::Detached { .. } => {
                return self.refuse_absent_branch("no branch is checked out", branch);
            }
        };
        if !branch.is_empty() && name != *branch {
            let why = format!(
                "{} is checked out, and the run began on {}",
                shown_branch(&name),
                shown_branch(branch)
            );
            return self.refuse_absent_branch(&why, branch);
        }
        if !self
            .repository
            .contains(&parallel.tip, std::slice::from_ref(&at))?
        {
            return self.catch_up(state, parallel, &at);
        }
        if let Some(why) = self.rewritten_history(state, parallel, &at)? {
            return self.refuse_landing(&why, Vec::new(), Vec::new());
        }
        let folders = other_checkouts(&self.repository, &name)?;
        if let Some(why) = checked_out_twice(&name, &folders).filter(|why| !is_accepted(state, why))
        {
            return self.refuse_landing(&why, Vec::new(), other_checkout_lines(&folders));
        }
        let changes = guard_changes(state, &self.repository, |_| false)?;
        if let Some(refusal) = changes.refusal(self.engine.root) {
            return self.refuse_by_guard(&refusal.to_string(), refusal);
        }
        let tip = self.ticked_tip(state, parallel)?;
        let Some(_alone) = self.engine.run.lock_branch(LIMIT)? else {
            return Ok(());
        };
        if self.engine.run.state()?.is_over() {
            return Ok(());
        }
        let landed = match land(
            &self.repository,
            &at,
            &tip,
            &self.user_git(),
            self.engine.is_needed(),
        ) {
            Ok(LandOutcome::Moved) => at,
            Ok(LandOutcome::AlreadyThere) => {
                user_branch_base(state, parallel).map_or(at, str::to_owned)
            }
            Err(error) => return self.on_land_error(error),
        };
        let unsigned = unsigned_commits(&self.repository, &landed, &tip)?;
        let moved = EventKind::Landed {
            from: landed,
            to: tip,
            unsigned,
            other_checkouts: folders,
        };
        self.record(|_| vec![moved])?;
        // The user's branch holds all of it.
        Ok(release_kept(
            &self.repository,
            &self.worker_name(INTEGRATED)?,
        )?)
    }

    fn on_land_error(&self, error: LandError) -> Result<(), DriveError> {
        match error {
            // The branch has moved this very moment: the next step looks again.
            LandError::Moved { .. } | LandError::Cancelled => Ok(()),
            LandError::Dirty { paths } => {
                let is_at_top = self
                    .engine
                    .root
                    .canonicalize()
                    .is_ok_and(|root| root == self.repository.top());
                let ways_out = edit_lines(
                    &read_edit_facts(&self.repository, &paths)?,
                    self.repository.top(),
                    is_at_top,
                );
                self.refuse_landing(
                    "edits that are not committed are in the way",
                    paths,
                    ways_out,
                )
            }
            LandError::OperationInProgress { what } => {
                self.refuse_landing(&error.to_string(), Vec::new(), operation_lines(what))
            }
            LandError::RefusedByHook { ref words } => {
                let (hook, output) = (REFERENCE_HOOK.to_owned(), words.clone());
                let refusal = CommitRefusal::Hook {
                    hook,
                    output,
                    is_missing_program: false,
                };
                self.refuse_by_guard(&error.to_string(), refusal)
            }
            error => self.refuse_landing(&error.to_string(), Vec::new(), Vec::new()),
        }
    }

    fn refuse_absent_branch(&self, why: &str, branch: &str) -> Result<(), DriveError> {
        let ways_out = match branch {
            "" => Vec::new(),
            branch => branch_lines(branch, &find_absent_branch(&self.repository, branch)?),
        };
        self.refuse_landing(why, Vec::new(), ways_out)
    }

    /// Tip of the user's branch, while it is checked out and has commits that the run lacks.
    pub(super) fn user_branch_ahead(
        &self,
        parallel: &ParallelState,
    ) -> Result<Option<String>, DriveError> {
        let CheckoutHead::Branch { reference, commit } =
            read_checkout_facts(&self.repository)?.head
        else {
            return Ok(None);
        };
        let is_checked_out =
            parallel.policy.branch.is_empty() || reference == parallel.policy.branch;
        let is_behind = is_checked_out
            && !self
                .repository
                .contains(&parallel.tip, std::slice::from_ref(&commit))?;
        Ok(is_behind.then_some(commit))
    }

    /// Reason why the branch cannot follow: its user removed commits that are part of the result, and would come back.
    fn rewritten_history(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        at: &str,
    ) -> Result<Option<String>, DriveError> {
        let Some(base) = user_branch_base(state, parallel).filter(|base| *base != at) else {
            return Ok(None);
        };
        if self.repository.contains(at, &[base.to_owned()])? {
            return Ok(None);
        }
        let option = if has_common_history(&self.repository, at, base)? {
            ""
        } else {
            "--allow-unrelated-histories "
        };
        let base = sanitize(short_commit(base), 12);
        let text = "any more, which it had before: its history was rewritten. To have that commit in it again,";
        Ok(Some(format!(
            "it does not hold {base} {text} `git merge {option}{base}`"
        )))
    }

    /// Merges the user's new commits: the run's own work goes on top of them, and is checked again.
    pub(super) fn catch_up(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        at: &str,
    ) -> Result<(), DriveError> {
        match self.merge_user_commits(state, parallel, at)? {
            Ok(()) => Ok(()),
            Err((why, files)) => {
                let mut ways_out = Vec::new();
                if !files.is_empty() {
                    let tip = sanitize(short_commit(&parallel.tip), 40);
                    ways_out.push(format!(
                        "`git merge {tip}` merges it by your hand: resolve the conflict, commit, and go on."
                    ));
                }
                self.refuse_landing(&why, files, ways_out)
            }
        }
    }

    /// Merges the user's commits into the run's result; the inner error: reason, files in the way.
    pub(super) fn merge_user_commits(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        at: &str,
    ) -> Result<Result<(), (String, Vec<String>)>, DriveError> {
        if let Some(why) = self.rewritten_history(state, parallel, at)? {
            return Ok(Err((why, Vec::new())));
        }
        let tip = match preview_merge(&self.repository, at, None, &parallel.tip)? {
            // The user's branch has all of it already, and more.
            MergePreview::UpToDate => at.to_owned(),
            MergePreview::Conflict { files } => {
                return Ok(Err((
                    "what was committed on it meanwhile changes the same".to_owned(),
                    files,
                )));
            }
            MergePreview::Clean { tree } => {
                let message = format!("merge: omo run {}", self.engine.run.id());
                let draft = CommitDraft {
                    tip: at,
                    merged: Some(&parallel.tip),
                    tree: &tree,
                    message: &message,
                };
                match self.commit_for_user(&parallel.policy, &draft)? {
                    Ok(made) => made,
                    Err(why) => {
                        let why = format!(
                            "what was committed on it meanwhile could not be merged: {why}"
                        );
                        return Ok(Err((why, Vec::new())));
                    }
                }
            }
        };
        keep_commit(&self.repository, &self.worker_name(INTEGRATED)?, &tip)?;
        let caught_up = EventKind::UserCommitsMerged {
            with: at.to_owned(),
            tip,
        };
        self.record(|_| vec![caught_up]).map(|_| Ok(()))
    }

    pub(super) fn refuse_landing(
        &self,
        why: &str,
        files: Vec<String>,
        ways_out: Vec<String>,
    ) -> Result<(), DriveError> {
        let reason = sanitize(why, MAX_REASON_CHARS);
        let refused = EventKind::LandingRefused {
            reason,
            files,
            ways_out,
            refusal: None,
        };
        self.record(|_| vec![refused]).map(drop)
    }

    fn refuse_by_guard(&self, why: &str, refusal: CommitRefusal) -> Result<(), DriveError> {
        let reason = sanitize(why, MAX_REASON_CHARS);
        let (files, ways_out) = (Vec::new(), Vec::new());
        let refused = EventKind::LandingRefused {
            reason,
            files,
            ways_out,
            refusal: Some(refusal),
        };
        self.record(|_| vec![refused]).map(drop)
    }
}

/// Tip of the user's branch when sessions began, or at the last merge of its commits.
pub(crate) fn user_branch_base<'a>(
    state: &'a RunState,
    parallel: &'a ParallelState,
) -> Option<&'a str> {
    Some(parallel.base.as_str())
        .filter(|base| !base.is_empty())
        .or(state.base.as_deref())
}

fn checked_out_twice(branch: &str, folders: &[String]) -> Option<String> {
    let folders: Vec<String> = folders.iter().map(|folder| sanitize(folder, 200)).collect();
    let branch = sanitize(branch.trim_start_matches("refs/heads/"), 100);
    let text = "which would show all of this as staged to be taken back";
    let why = format!(
        "{branch} is also checked out in another worktree, {text}: {}",
        folders.join(", ")
    );
    (!folders.is_empty()).then(|| sanitize(&why, MAX_REASON_CHARS))
}

fn links_reason(links: &[(String, String)]) -> Option<String> {
    let [path, target] = links
        .first()
        .map(|(path, target)| [path, target].map(|text| sanitize(text, 60)))?;
    let more = match links.len() {
        1 => String::new(),
        count => format!(", and {} others do so", count - 1),
    };
    // Other links, or other targets, are another question.
    let digest = hex_digest(format!("{links:?}").as_bytes());
    let digest = digest.get(..8).unwrap_or_default();
    Some(format!(
        "its link {path} leads out of the repository, to {target}{more} ({digest}); to try again merges it as it is"
    ))
}

fn shown_branch(reference: &str) -> String {
    sanitize(reference.trim_start_matches("refs/heads/"), 100)
}

/// `true` if a person was asked about this very reason, and had the run go on.
fn is_accepted(state: &RunState, why: &str) -> bool {
    state.questions.iter().any(|known| {
        matches!(&known.question.kind, QuestionKind::LandingRefused { reason, .. } | QuestionKind::Stuck { reason, .. } if reason == why)
            && known.answer.as_ref().is_some_and(|answer| answer.option == ANSWER_CONTINUE)
    })
}

fn merge_message(state: &RunState, group: &TaskGroup) -> String {
    let name = match group.id.strip_prefix(SESSION_PREFIX) {
        Some(number) => format!("ultraplan session {number}"),
        None => worker_name(&group.id).to_lowercase(),
    };
    let title = sanitize(&group.title, 120);
    let title = if title.is_empty() {
        String::new()
    } else {
        format!(" — {title}")
    };
    let plan = sanitize(&state.plan.source.path, 200);
    format!("merge: {name}{title}\n\nOmo-Plan: {plan}\n")
}
