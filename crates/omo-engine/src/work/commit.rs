//! Committing what a step has changed, where its plan says so or its work would be lost.

use std::slice;
use std::time::Duration;

use omo_core::text::sanitize;
use omo_git::commit::{CommitEnd, CommitRefusal, CommitRequest, commit_paths};
use omo_git::git_settings::GitSettings;
use omo_git::integrate::{
    CheckoutHead, amended_commits, checkout_head, contains_commits, has_common_history, holds_commit, keep_commit,
};
use omo_git::kept_work::keep_paths;
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;
use omo_plan::digest::sha256_hex;
use omo_plan::model::Task;
use omo_plan::paths::path_covers;

use super::{CommandWatcher, Engine, EngineError};
use crate::commit_guard::{Judges, judge_changes};
use crate::event::MissingCommit;
use crate::parallel::push_rules::is_done;
use crate::report::ultraplan;
use crate::state::{RunState, TaskState};
use crate::verbs::CommitOutcome;
use crate::work::attempt::WorkResult;
use crate::work::guard_reading::read_judges;

/// How long git and the hooks of its user may take.
const LIMIT: Duration = Duration::from_secs(600);
/// The checked out commit, and the name of no branch.
const DETACHED: &str = "HEAD";
/// Letters of the digest of a task's id in a name.
const NAME_LETTERS: usize = 12;

impl Engine<'_> {
    /// Commits exactly what a step has changed of what it names; `None` where there is nothing to commit.
    pub(super) fn commit_task(
        &self,
        state: &RunState,
        task: &Task,
        worked: &WorkResult,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Option<CommitOutcome>, EngineError> {
        let Some(message) = commit_message(state, task) else { return Ok(None) };
        if !worked.is_known {
            let words = "what it has changed cannot be told".to_owned();
            return Ok(Some(CommitOutcome::Refused { refusal: CommitRefusal::Other { words }, kept: None }));
        }
        let prepared = self.commit_settings(state).and_then(|settings| {
            let judges = self.changed_judges(state, task, &settings)?;
            Ok((settings, judges))
        });
        let (settings, judges) = match prepared {
            Ok(prepared) => prepared,
            Err(refusal) => return Ok(Some(CommitOutcome::Refused { refusal, kept: None })),
        };
        let own = worked.files.iter().filter(|file| !worked.out_of_scope.contains(file));
        let paths: Vec<&str> = own.map(String::as_str).collect();
        let trailers = [("Omo-Run", self.run.id()), ("Omo-Task", task.id.as_str())];
        let (worktree, state_home) = (&self.work_tree, self.state_home);
        let order = CommitRequest {
            worktree,
            state_home,
            paths: &paths,
            message: &message,
            trailers: &trailers,
            settings: &settings,
            limit: LIMIT,
        };
        let _alone = if state.mode.shares_tree() { Some(self.run.lock_commit(LIMIT)?) } else { None };
        // A cancel may have come while another step was committed.
        if self.run.state()?.is_over() {
            return Err(EngineError::Cancelled);
        }
        let mut is_cut = false;
        let end = commit_paths(&order, self.environment, || {
            is_cut |= !watcher.should_continue();
            !is_cut
        });
        Ok(Some(match end {
            CommitEnd::Made { sha } | CommitEnd::AlreadyCommitted { sha } => {
                CommitOutcome::Made { branch: self.branch_of_commit(state, task, &sha), id: sha, judges }
            }
            CommitEnd::NoChange => CommitOutcome::Nothing,
            CommitEnd::Refused(_) if is_cut => return Err(EngineError::Cancelled),
            CommitEnd::Refused(refusal) => CommitOutcome::Refused { refusal, kept: None },
        }))
    }

    /// Settings that a commit obeys, in a worker's tree as in the checkout, where its work goes.
    fn commit_settings(&self, state: &RunState) -> Result<GitSettings, CommitRefusal> {
        let given = state.guard.as_ref().map(|guard| guard.settings.clone()).unwrap_or_default();
        let Some(checkout) = GitRepository::find(self.root) else { return Ok(given) };
        given.over_files_of(&checkout).map_err(|error| CommitRefusal::Other { words: error.to_string() })
    }

    /// What judges the commit and was changed by the task that lists it; a refusal where anything else of it is not as it
    /// is known to the run and its user.
    fn changed_judges(&self, state: &RunState, task: &Task, settings: &GitSettings) -> Result<Judges, CommitRefusal> {
        let Some(repository) = self.work_tree.repository().filter(|_| state.guard.is_some()) else {
            return Ok(Judges::new());
        };
        let top = repository.top().to_owned();
        let now = read_judges(&repository.obeying(settings), self.environment.search())
            .map_err(|error| CommitRefusal::Other { words: error.to_string() })?;
        let touch = state.plan.group_of(&task.id).into_iter().flat_map(|(_, group)| group.may_touch.iter());
        let listed: Vec<&String> = task.files.iter().map(|file| &file.path).chain(touch).collect();
        judge_changes(state, self.work_tree.root(), &now, |name| {
            let path = top.join(name);
            let path = path.strip_prefix(self.work_tree.root()).or_else(|_| path.strip_prefix(self.root));
            let path = path.map(|path| path.to_string_lossy().replace('\\', "/"));
            path.is_ok_and(|path| {
                // A pattern for all files means none of git's own.
                listed.iter().any(|listed| {
                    path_covers(listed, &path) && listed.starts_with(".git/") == path.starts_with(".git/")
                })
            })
        })
    }

    /// The branch that a commit was just made on. One that is not on the branch on which the run began is kept: once its
    /// user goes back and deletes the other one, no reference has it.
    fn branch_of_commit(&self, state: &RunState, task: &Task, commit: &str) -> Option<String> {
        let repository = self.work_tree.repository()?;
        let head = checkout_head(&repository).ok()?;
        let began_on = state.branch.as_deref().filter(|_| state.parallel.is_none());
        let is_elsewhere = head.reference().is_none_or(|now| began_on.is_some_and(|began_on| began_on != now));
        if let Some(name) = self.kept_name(state, &task.id, None).filter(|_| is_elsewhere) {
            // Where it cannot be kept, git's reflog still has it.
            let _ = keep_commit(&repository, &name, commit);
        }
        Some(branch_name(&head).to_owned())
    }

    /// The commits of passed tasks that the user's checkout lacks, or the branch that the run began on. What its user
    /// made of the branch that such a commit went to is theirs, and so is one that they amended, squashed or picked.
    pub(super) fn missing_commits(&self, state: &RunState) -> Vec<MissingCommit> {
        let Some(repository) = GitRepository::find(self.root).filter(|_| state.parallel.is_none()) else {
            return Vec::new();
        };
        let Ok(head) = checkout_head(&repository) else { return Vec::new() };
        let now = branch_name(&head);
        let is_there = |branch: &&str| *branch != now && repository.commit_of(branch).is_ok_and(|tip| tip.is_some());
        let began_on = state.branch.as_deref().filter(is_there);
        let elsewhere = |(id, known): (&String, &TaskState)| {
            let end = known.last_end.as_ref().filter(|_| is_done(state, known.status))?;
            let (commit, branch) = (end.commit.clone()?, end.branch.clone()?);
            let has_moved = branch != now || branch == DETACHED || began_on.is_some();
            has_moved.then(|| (id.clone(), commit, branch))
        };
        let elsewhere: Vec<(String, String, String)> = state.tasks.iter().filter_map(elsewhere).collect();
        if elsewhere.is_empty() {
            return Vec::new();
        }
        let amended = amended_commits(&repository).unwrap_or_default();
        let missing = |(task, made, branch): (String, String, String)| {
            let follow =
                |commit, (before, after): &(String, String)| if commit == *before { after.clone() } else { commit };
            let commit = amended.iter().fold(made, follow);
            let lacks = |tip: &str| !holds_commit(&repository, tip, &commit).unwrap_or_default();
            let lacking = match lacks("HEAD") {
                true if branch == now && now != DETACHED => return None,
                true => None,
                false => Some(began_on.filter(|began_on| *began_on != branch && lacks(began_on))?),
            };
            let is_in = |branch: &&str| {
                contains_commits(&repository, branch, slice::from_ref(&commit)).is_ok_and(|is_in| is_in)
            };
            let branches = [now, &branch].into_iter().filter(|branch| *branch != DETACHED);
            let kept = || {
                let name = self.kept_name(state, &task, None)?;
                keep_commit(&repository, &name, &commit).ok().map(|()| name.keep_reference())
            };
            let holder = branches.into_iter().find(is_in).map(str::to_owned).or_else(kept);
            let is_unrelated =
                has_common_history(&repository, lacking.unwrap_or(DETACHED), &commit).is_ok_and(|is_common| !is_common);
            let holder = holder.unwrap_or_else(|| commit.clone());
            Some(MissingCommit { task, commit, holder, lacking: lacking.map(str::to_owned), is_unrelated })
        };
        elsewhere.into_iter().filter_map(missing).collect()
    }

    /// The name under which work of a task is kept, such as `step-2` or `step-2-attempt-3`. An id that is none of a name
    /// has its digest in it.
    pub(super) fn kept_name(&self, state: &RunState, task: &str, attempt: Option<u32>) -> Option<WorkerName> {
        let word = state.plan.dialect.unit_word();
        let attempt = attempt.map(|attempt| format!("-attempt-{attempt}")).unwrap_or_default();
        let digest = || sha256_hex(task.as_bytes()).chars().take(NAME_LETTERS).collect();
        [task.to_owned(), digest()]
            .iter()
            .find_map(|id| WorkerName::new(self.run.id(), &format!("{word}-{id}{attempt}")).ok())
    }

    /// Keeps the files of a task whose commit was refused, and gives the reference. Where they cannot be kept they are
    /// still in the work tree.
    pub(super) fn keep_uncommitted(&self, state: &RunState, task: &Task, worked: &WorkResult) -> Option<String> {
        let own = worked.files.iter().filter(|file| !worked.out_of_scope.contains(file));
        let paths: Vec<&str> = own.map(String::as_str).collect();
        let name = self.kept_name(state, &task.id, None)?;
        let kept = self.with_restore_place(state, |place| keep_paths(place, &name, &paths));
        kept.ok().map(|kept| kept.reference)
    }
}

fn branch_name(head: &CheckoutHead) -> &str {
    match head {
        CheckoutHead::Branch { reference, .. } | CheckoutHead::Unborn { reference } => reference,
        CheckoutHead::Detached { .. } => DETACHED,
    }
}

/// What a step is committed with: as its plan says, or, where its work lies in a work tree that goes, with a
/// message of ours.
pub(crate) fn commit_message(state: &RunState, task: &Task) -> Option<String> {
    let ours = || {
        let (title, word) = (sanitize(&task.title, 120), state.plan.dialect.unit_word());
        format!("omo: {word} {} of {}: {title}", task.id, ultraplan::file_name(&state.plan.source.path))
    };
    let planned = task.commit.as_ref().map(|commit| commit.message.clone());
    planned.or_else(|| state.parallel.is_some().then(ours))
}
