//! Commit of a step's changes, where its plan asks for one or its work would be lost otherwise.

use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_git::commit::{CommitEnd, CommitRefusal, CommitRequest, commit_paths};
use omo_git::git_settings::GitSettings;
use omo_git::integrate::{
    CheckoutHead, amended_commits, checkout_head, has_common_history, holds_commit, keep_commit,
};
use omo_git::repository::GitRepository;
use omo_git::worktree::WorkerName;
use omo_plan::digest::sha256_hex;
use omo_plan::model::Task;
use omo_plan::paths::path_covers;

use super::attempt::checked_elsewhere;
use super::committed_work::without_omo_files;
use super::guard_reading::guard_changes;
use super::{CommandWatcher, Engine, EngineError};
use crate::commit_guard::JudgeStates;
use crate::event::{HookChanges, MissingCommit};
use crate::parallel::push_rules::is_done;
use crate::state::RunState;
use crate::task_commits::commit_message;
use crate::verbs::CommitOutcome;
use crate::work::attempt::WorkResult;

/// Time limit of `git` and the hooks of its user.
const LIMIT: Duration = Duration::from_secs(600);
const DETACHED: &str = "HEAD";
const NAME_LETTERS: usize = 12;

impl Engine<'_> {
    /// Commits exactly the changes at paths that the task names; `None` for nothing to commit.
    pub(super) fn commit_task(
        &self,
        state: &RunState,
        task: &Task,
        worked: &WorkResult,
        settings: Result<GitSettings, CommitRefusal>,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Option<CommitOutcome>, EngineError> {
        let Some(message) = commit_message(state, task) else {
            return Ok(None);
        };
        if !worked.is_known {
            let words = "what it has changed cannot be told".to_owned();
            return Ok(Some(CommitOutcome::Refused {
                refusal: CommitRefusal::Other { words },
                kept: None,
            }));
        }
        let settings = match settings {
            Ok(settings) => settings,
            Err(refusal) => {
                return Ok(Some(CommitOutcome::Refused {
                    refusal,
                    kept: None,
                }));
            }
        };
        let own_files = worked.own_files();
        let trailers = [("Omo-Run", self.run.id()), ("Omo-Task", task.id.as_str())];
        let (worktree, state_home) = (&self.work_tree, self.state_home);
        let order = CommitRequest {
            worktree,
            state_home,
            paths: &own_files,
            message: &message,
            trailers: &trailers,
            settings: &settings,
            limit: LIMIT,
        };
        let _alone = match &state.parallel {
            Some(_) => None,
            None => Some(
                self.run
                    .lock_branch(LIMIT)?
                    .ok_or_else(|| checked_elsewhere(&task.id))?,
            ),
        };
        let ticket = attempt_ticket(state, task);
        let is_current = |now: &RunState| !now.is_over() && attempt_ticket(now, task) == ticket;
        let now = self.run.state()?;
        if !is_current(&now) {
            return Err(EngineError::Cancelled);
        }
        let kept = if state.parallel.is_none() {
            self.settle_commit(&now)
                .iter()
                .for_each(|line| (self.warn)(line));
            self.keep_beside_commit(&now, &task.id, &own_files, &settings)
                .unwrap_or_else(|error| {
                    (self.warn)(&format!(
                        "what its commit may displace could not be kept: {error}"
                    ));
                    [None, None]
                })
        } else {
            [None, None]
        };
        let (mut is_cut, mut is_wanted) = (false, self.is_wanted_while(watcher, is_current));
        let end = commit_paths(&order, self.environment, || {
            is_cut |= !is_wanted();
            !is_cut
        });
        let [aside, staged] = kept;
        // Complete hooks may have formatted uncommitted files.
        let is_strict = is_cut || matches!(end, CommitEnd::Refused(_));
        let is_made = matches!(end, CommitEnd::Made { .. });
        let warnings = [
            aside.and_then(|kept| {
                self.settle_kept(state, &kept, |now| {
                    !now.restored.is_empty()
                        || is_strict
                            && now
                                .differing
                                .iter()
                                .any(|path| !own_files.contains(&path.as_str()))
                })
            }),
            staged.and_then(|kept| self.settle_kept(state, &kept, |_| is_made)),
        ];
        warnings.iter().flatten().for_each(|line| (self.warn)(line));
        let (id, hooks) = match end {
            CommitEnd::Made { sha, by_hooks } => {
                let files = without_omo_files(state, by_hooks);
                let hooks = (!files.is_empty()).then_some(HookChanges {
                    files,
                    unjudged: None,
                });
                (sha, hooks)
            }
            CommitEnd::AlreadyCommitted { sha } => (sha, None),
            CommitEnd::NoChange => return Ok(Some(CommitOutcome::Nothing)),
            CommitEnd::Refused(_) if is_cut => return Err(EngineError::Cancelled),
            CommitEnd::Refused(refusal) => {
                return Ok(Some(CommitOutcome::Refused {
                    refusal,
                    kept: None,
                }));
            }
        };
        Ok(Some(CommitOutcome::Made {
            branch: self.branch_of_commit(state, task, &id),
            id,
            hooks,
        }))
    }

    /// Judges that the task lists and changed, and the commit's settings; a refusal where any other judge changed.
    pub(super) fn judge_guard(
        &self,
        state: &RunState,
        task: &Task,
    ) -> (JudgeStates, Result<GitSettings, CommitRefusal>) {
        let touch = state
            .plan
            .group_of(&task.id)
            .into_iter()
            .flat_map(|(_, group)| group.may_touch.iter());
        let listed: Vec<&String> = task
            .files
            .iter()
            .map(|file| &file.path)
            .chain(touch)
            .collect();
        let roots = [self.work_tree.root(), self.root]
            .map(|root| root.canonicalize().unwrap_or_else(|_| root.into()));
        let read = self.commit_settings(state).and_then(|settings| {
            let repository = self
                .work_tree
                .repository()
                .map(|found| found.obeying(&settings));
            let changes = repository.map(|found| {
                guard_changes(state, &found, |name| {
                    is_listed(&found.top().join(name), &roots, &listed)
                })
            });
            Ok((changes.transpose()?.unwrap_or_default(), settings))
        });
        match read {
            Ok((changes, settings)) => {
                let refusal = changes.refusal(self.work_tree.root());
                (changes.listed, refusal.map_or(Ok(settings), Err))
            }
            Err(error) => (
                JudgeStates::new(),
                Err(CommitRefusal::Other {
                    words: error.to_string(),
                }),
            ),
        }
    }

    /// A commit outside of the run's first branch is kept: once that branch is deleted, no reference has it.
    fn branch_of_commit(&self, state: &RunState, task: &Task, commit: &str) -> Option<String> {
        let repository = self.work_tree.repository()?;
        let head = checkout_head(&repository).ok()?;
        let began_on = state.branch.as_deref().filter(|_| state.parallel.is_none());
        let is_elsewhere = head
            .reference()
            .is_none_or(|now| began_on.is_some_and(|began_on| began_on != now));
        if let Some(name) = self.kept_name(state, &task.id, "").filter(|_| is_elsewhere) {
            // Without the reference, git's reflog still has it.
            let _ = keep_commit(&repository, &name, commit);
        }
        Some(branch_name(&head).to_owned())
    }

    /// Commits that the checkout or the run's first branch lacks, unless their user amended, squashed or picked them.
    pub(super) fn missing_commits(&self, state: &RunState) -> Vec<MissingCommit> {
        let repository = GitRepository::find(self.root).filter(|_| state.parallel.is_none());
        let Some((repository, head)) =
            repository.and_then(|found| checkout_head(&found).ok().map(|head| (found, head)))
        else {
            return Vec::new();
        };
        let now = branch_name(&head);
        let began_on = state.branch.as_deref().filter(|branch| {
            *branch != now && repository.commit_of(branch).is_ok_and(|tip| tip.is_some())
        });
        let (mut missing, mut amended) = (Vec::new(), None);
        for (task, task_state) in &state.tasks {
            let Some(end) = task_state
                .last_end
                .as_ref()
                .filter(|_| is_done(state, task_state.status))
            else {
                continue;
            };
            let Some((made, branch)) = end.commit.as_ref().zip(end.branch.as_deref()) else {
                continue;
            };
            let is_of_branch = branch == now && now != DETACHED;
            if is_of_branch && began_on.is_none() {
                continue;
            }
            let amended =
                amended.get_or_insert_with(|| amended_commits(&repository).unwrap_or_default());
            let commit = amended.iter().fold(
                made,
                |commit, (before, after)| if commit == before { after } else { commit },
            );
            let holds =
                |branch: &&str| holds_commit(&repository, branch, commit).unwrap_or_default();
            let is_here = holds(&DETACHED);
            let lacking =
                began_on.filter(|began_on| is_here && *began_on != branch && !holds(began_on));
            if is_here && lacking.is_none() || !is_here && is_of_branch {
                continue;
            }
            let mut holder = [now, branch]
                .into_iter()
                .filter(|branch| *branch != DETACHED)
                .find(holds)
                .map(str::to_owned);
            if let Some(name) = self.kept_name(state, task, "").filter(|_| holder.is_none()) {
                holder = keep_commit(&repository, &name, commit)
                    .ok()
                    .map(|()| name.keep_reference());
            }
            let is_related = has_common_history(&repository, lacking.unwrap_or(DETACHED), commit);
            missing.push(MissingCommit {
                task: task.clone(),
                commit: commit.clone(),
                holder: holder.unwrap_or_else(|| commit.clone()),
                lacking: lacking.map(str::to_owned),
                is_unrelated: is_related.is_ok_and(|is_related| !is_related),
            });
        }
        missing
    }

    /// Name such as `step-2`, or `step-2-attempt-3` with a suffix; an invalid id becomes a digest.
    pub(super) fn kept_name(
        &self,
        state: &RunState,
        task: &str,
        suffix: &str,
    ) -> Option<WorkerName> {
        let word = state.plan.dialect.unit_word();
        [
            task.to_owned(),
            sha256_hex(task.as_bytes())
                .chars()
                .take(NAME_LETTERS)
                .collect(),
        ]
        .iter()
        .find_map(|id| WorkerName::new(self.run.id(), &format!("{word}-{id}{suffix}")).ok())
    }

    /// Keeps uncommitted changes; `None` on failure, when they are in the work tree alone.
    pub(super) fn keep_uncommitted(
        &self,
        state: &RunState,
        task: &Task,
        worked: &WorkResult,
    ) -> Option<String> {
        let name = self.kept_name(state, &task.id, "")?;
        let kept = self.with_snapshots(state, |snapshots| {
            snapshots.keep_paths(&name, &worked.own_files())
        });
        kept.ok().map(|kept| kept.reference)
    }
}

fn branch_name(head: &CheckoutHead) -> &str {
    match head {
        CheckoutHead::Branch { reference, .. } | CheckoutHead::Unborn { reference } => reference,
        CheckoutHead::Detached { .. } => DETACHED,
    }
}

fn attempt_ticket(state: &RunState, task: &Task) -> Option<String> {
    let task_state = state.tasks.get(&task.id)?;
    let attempt = task_state
        .running
        .as_ref()
        .or(task_state.uncommitted.as_ref().map(|known| &known.attempt))?;
    Some(attempt.ticket.clone())
}

fn is_listed(path: &Path, roots: &[PathBuf], listed: &[&String]) -> bool {
    let Some(path) = roots.iter().find_map(|root| path.strip_prefix(root).ok()) else {
        return false;
    };
    let path = path.to_string_lossy().replace('\\', "/");
    // A pattern for all files means none of git's own.
    listed.iter().any(|pattern| {
        path_covers(pattern, &path) && pattern.starts_with(".git/") == path.starts_with(".git/")
    })
}
