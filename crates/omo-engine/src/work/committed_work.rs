//! Checks of a task's commit alone, without left-out files, and of commits that workers made.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use omo_checks::set_up::{SetUpError, set_up_worktree};
use omo_checks::task_check::CheckLog;
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_core::timestamp::Timestamp;
use omo_git::changes::{file_digest, is_omo_path};
use omo_git::commit_preview::{
    files_by_commit, head_commit, ignored_among, ignored_paths, uncommitted_folders,
    uncommitted_paths,
};
use omo_git::file_copier::{CopyError, CopyKind, CopyOptions, FileCopier};
use omo_git::integrate::later_commit;
use omo_git::made_folders::is_made;
use omo_git::named_files::{NamingText, find_named_files};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::repository::GitRepository;
use omo_git::worktree::{self, WorkerName};
use omo_plan::digest::sha256_hex;
use omo_plan::model::{Task, TaskGroup};
use omo_plan::paths::normalize_path;
use omo_prove::installed::copy_installed;

use super::attempt::WorkResult;
use super::baseline::files_written_by_omo;
use super::own_files::files_out_of_scope;
use super::{CommandWatcher, Engine, EngineError};
use crate::parallel::push_rules::{is_done, last_passed_commit};
use crate::program_files::ultraexecute_progress;
use crate::state::RunState;
use crate::verbs::{AttemptMeasurement, CommitOutcome, StrayCommit};

/// Prefix of worktrees in which the commit of a task is checked: no session of a plan has it.
const PREVIEW_WORKER: &str = "commit-";
const PREVIEW_LETTERS: usize = 12;

const MAX_COPIED_BYTES: u64 = 256 * 1024 * 1024;

/// `true` for a worktree that was made to check a commit: it holds no work.
pub(crate) fn is_preview_worker(worker: &str) -> bool {
    worker
        .strip_prefix(PREVIEW_WORKER)
        .is_some_and(|id| id.len() == PREVIEW_LETTERS)
}

const CLOCK_LAG: Duration = Duration::from_secs(2);

pub(super) struct CheckedWithout {
    pub outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    /// Ignored files, where the checks are green only with those.
    pub needed_ignored: Vec<String>,
}

pub(super) type IgnoredInput = (String, Option<SystemTime>);

impl Engine<'_> {
    /// Files that the task's commit would lack: of a session's own worktree all, ignored ones included; elsewhere those
    /// that tasks of this run changed and do not list. An error is the reason why they are unknown.
    pub(super) fn take_left_out_files(
        &self,
        state: &RunState,
        task: &Task,
        worked: &mut WorkResult,
    ) -> Result<Vec<String>, String> {
        let dirty = self.uncommitted_files(state)?;
        let own: BTreeSet<&String> = worked
            .files
            .iter()
            .filter(|file| !worked.out_of_scope.contains(file))
            .collect();
        let ends = state
            .tasks
            .values()
            .filter_map(|task| task.last_end.as_ref());
        let unlisted: BTreeSet<&String> = ends
            .flat_map(|end| &end.out_of_scope)
            .chain(&worked.out_of_scope)
            .collect();
        let left_out: Vec<String> = dirty
            .iter()
            .filter(|file| {
                !own.contains(file) && (state.parallel.is_some() || unlisted.contains(file))
            })
            .cloned()
            .collect();
        let refused: BTreeSet<String> =
            files_out_of_scope(self.unlisted_files, state, task, &left_out)
                .into_iter()
                .collect();
        let (mut left_out, taken): (Vec<String>, Vec<String>) = left_out
            .into_iter()
            .partition(|file| refused.contains(file));
        worked.files.extend(taken);
        if state.parallel.is_some() {
            left_out.extend(self.own_ignored_files(state)?);
        }
        let listed: Vec<String> = left_out
            .iter()
            // Its own commit is refused by such a file, with the reason: no check has to say so.
            .filter(|path| {
                task.files
                    .iter()
                    .any(|file| normalize_path(&file.path).as_deref() == Some(path))
            })
            .cloned()
            .collect();
        if !listed.is_empty() {
            worked.files.extend(listed);
            return Ok(Vec::new());
        }
        let empty = uncommitted_folders(&self.work_tree)
            .map_err(|error| error.to_string())?
            .empty;
        left_out.extend(empty.into_iter().filter(|folder| {
            let is_own =
                files_out_of_scope(self.unlisted_files, state, task, slice::from_ref(folder))
                    .is_empty();
            state.parallel.is_some() || is_own
        }));
        Ok(left_out)
    }

    /// Ignored files of a session's worktree, not as in the user's checkout: no commit takes them.
    fn own_ignored_files(&self, state: &RunState) -> Result<Vec<String>, String> {
        let mut files = ignored_paths(&self.work_tree).map_err(|error| error.to_string())?;
        files.retain(|path| !path.ends_with('/'));
        Ok(without_omo_files(state, files)
            .into_iter()
            // Copies from there are in every worktree.
            .filter(|file| {
                let there = file_digest(self.root, file);
                there.is_none() || there != file_digest(self.work_tree.root(), file)
            })
            .collect())
    }

    fn uncommitted_files(&self, state: &RunState) -> Result<Vec<String>, String> {
        Ok(without_omo_files(
            state,
            uncommitted_paths(&self.work_tree).map_err(|error| error.to_string())?,
        ))
    }

    /// Ignored files of the checkout that checks name, or that were written since; no built or installed ones.
    pub(super) fn ignored_inputs(
        &self,
        state: &RunState,
        task: &Task,
        since: Timestamp,
    ) -> Vec<IgnoredInput> {
        // A worktree of omo's own leaves them out with all else that no commit takes.
        if state.parallel.is_some() || !self.work_tree.has_git() {
            return Vec::new();
        }
        let root = self.work_tree.root();
        let texts = task
            .proving_checks()
            .map(|check| {
                let origin = check
                    .cwd
                    .as_ref()
                    .map_or_else(|| root.to_owned(), |folder| root.join(folder));
                NamingText {
                    text: check.command.clone(),
                    origin,
                }
            })
            .collect();
        let named: Vec<String> =
            find_named_files(texts, root, &[], &|file| file.path.starts_with(root))
                .into_keys()
                .filter(|name| root.join(name).is_file())
                .collect();
        let mut files: BTreeSet<String> = ignored_among(&self.work_tree, &named)
            .unwrap_or_default()
            .into_iter()
            .collect();
        let since = UNIX_EPOCH
            + Duration::from_millis(since.as_millis().unsigned_abs()).saturating_sub(CLOCK_LAG);
        files.extend(
            ignored_paths(&self.work_tree)
                .unwrap_or_default()
                .into_iter()
                .filter(|file| {
                    !file.ends_with('/') && self.changed_at(file).is_some_and(|at| at >= since)
                }),
        );
        let files = without_omo_files(state, files.into_iter().collect()).into_iter();
        let files = files.filter(|file| !is_made(file) && !file.starts_with("../"));
        files
            .map(|file| (file.clone(), self.changed_at(&file)))
            .collect()
    }

    pub(super) fn unwritten_files(&self, files: Vec<IgnoredInput>) -> Vec<String> {
        let unwritten = files
            .into_iter()
            .filter(|(file, at)| self.changed_at(file) == *at);
        unwritten.map(|(file, _)| file).collect()
    }

    fn changed_at(&self, file: &str) -> Option<SystemTime> {
        let meta = self.work_tree.root().join(file).symlink_metadata().ok()?;
        meta.modified().ok().filter(|_| meta.is_file())
    }

    /// Judges an attempt by its commit, where that differs from the checked work tree.
    pub(super) fn judge_commit(
        &self,
        state: &RunState,
        task: &Task,
        measured: &mut AttemptMeasurement,
        watcher: &mut impl CommandWatcher,
    ) -> Result<(), EngineError> {
        let Some(CommitOutcome::Made {
            hooks: Some(hooks), ..
        }) = &mut measured.commit
        else {
            return Ok(());
        };
        match self.check_committed(state, task, &measured.left_out, &hooks.files, watcher)? {
            Ok(checked) => measured.outcomes = checked,
            Err(why) => hooks.unjudged = Some(why),
        }
        Ok(())
    }

    /// Checks on the commit, in which hooks changed these files; or the reason why they could not be judged there.
    fn check_committed(
        &self,
        state: &RunState,
        task: &Task,
        left_out: &[String],
        files: &[String],
        watcher: &mut impl CommandWatcher,
    ) -> Result<Result<Vec<(TaskCheck, TaskCheckOutcome)>, String>, EngineError> {
        let dirty = match self.uncommitted_files(state) {
            Ok(dirty) => dirty,
            Err(why) => return Ok(Err(why)),
        };
        let (staged, here): (Vec<String>, Vec<String>) =
            files.iter().cloned().partition(|file| dirty.contains(file));
        let mut outcomes = Vec::new();
        if !here.is_empty() {
            let attempt = state.tasks.get(&task.id).map(|task| task.attempts);
            outcomes = self.check_task(task, attempt, watcher)?;
        }
        if is_red(&outcomes) || staged.is_empty() && left_out.is_empty() {
            return Ok(Ok(outcomes));
        }
        let committed = match self.check_without(
            state,
            task,
            &[left_out, &staged].concat(),
            Vec::new(),
            watcher,
        )? {
            Ok(checked) => checked.outcomes,
            Err(why) => return Ok(Err(why)),
        };
        // A private copy may lack files that they need.
        if is_red(&committed)
            && self
                .check_without(state, task, left_out, Vec::new(), watcher)?
                .is_ok_and(|with| is_red(&with.outcomes))
        {
            return Ok(Err(
                "they are red in a private copy without that as well".to_owned()
            ));
        }
        Ok(Ok(committed))
    }

    /// Checks without the left-out files and ignored ones, in a worktree set up as a worker's, or with a copy of
    /// installed packages. Where red, they run again with ignored files, and that outcome counts.
    pub(super) fn check_without(
        &self,
        state: &RunState,
        task: &Task,
        left_out: &[String],
        ignored: Vec<String>,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Result<CheckedWithout, String>, EngineError> {
        let id: String = sha256_hex(task.id.as_bytes())
            .chars()
            .take(PREVIEW_LETTERS)
            .collect();
        let name = match WorkerName::new(self.run.id(), &format!("{PREVIEW_WORKER}{id}")) {
            Ok(name) => name,
            Err(error) => return Ok(Err(error.to_string())),
        };
        let Some(repository) = GitRepository::find(self.root) else {
            return Ok(Err(format!(
                "{} is not in a repository",
                self.root.display()
            )));
        };
        let folder = match self.make_preview_worktree(state, &repository, &name, left_out) {
            Ok(folder) => folder,
            Err(why) => return Ok(Err(why)),
        };
        let checked = self
            .set_up_preview(state, &name, folder.root(), watcher)
            .and_then(|ready| match ready {
                Ok(()) => {
                    let copy = self.in_tree(folder);
                    let mut outcomes = copy.check_preview(state, task, watcher)?;
                    let mut needed_ignored = Vec::new();
                    if is_red(&outcomes) && !ignored.is_empty() {
                        self.copy_files(&ignored, copy.work_tree.root());
                        outcomes = copy.check_preview(state, task, watcher)?;
                        needed_ignored = if is_red(&outcomes) {
                            Vec::new()
                        } else {
                            ignored
                        };
                    }
                    Ok(Ok(CheckedWithout {
                        outcomes,
                        needed_ignored,
                    }))
                }
                Err(why) => Ok(Err(why)),
            });
        // A worktree still in use by a process of a check is removed by the next check of this task.
        let _ = worktree::discard_worktree(&repository, &name);
        checked
    }

    fn check_preview(
        &self,
        state: &RunState,
        task: &Task,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<(TaskCheck, TaskCheckOutcome)>, EngineError> {
        let attempt = state.attempt_of(&task.id);
        let checks: Vec<&TaskCheck> = task.proving_checks().collect();
        let outcomes = self.run_checks(
            &format!("{}-commit", task.id),
            &checks,
            Some(attempt),
            watcher,
        )?;
        Ok(self.judge_tests_first(task, outcomes))
    }

    /// Copies files of the work tree into another one, up to `MAX_COPIED_BYTES`. A missing one shows in a check.
    fn copy_files(&self, files: &[String], to: &Path) {
        let options = CopyOptions {
            max_bytes: MAX_COPIED_BYTES,
            ..CopyOptions::all(CopyKind::Noted)
        };
        if let Ok(mut copier) = FileCopier::open(self.work_tree.root(), &[to], options) {
            for file in files {
                let _ = copier.copy_real(Path::new(file), || true);
            }
        }
    }

    fn make_preview_worktree(
        &self,
        state: &RunState,
        repository: &GitRepository,
        name: &WorkerName,
        left_out: &[String],
    ) -> Result<ProvedWorktree, String> {
        let left_out: BTreeSet<&String> = left_out.iter().collect();
        let dirty = self.uncommitted_files(state)?;
        let held: Vec<&str> = dirty
            .iter()
            .filter(|file| !left_out.contains(file))
            .map(String::as_str)
            .collect();
        let commit = self
            .snapshots()
            .preview_commit(&held)
            .map_err(|error| error.to_string())?;
        // The leftover of a kill is of an earlier attempt.
        let fresh = worktree::discard_worktree(repository, name);
        let created = fresh.and_then(|()| worktree::create_worktree(repository, name, &commit));
        let created = created.map_err(|error| error.to_string())?;
        let root = self
            .root
            .canonicalize()
            .map_err(|error| error.to_string())?;
        let worktree = ProvedWorktree::of_worker(repository, name, &created.path)
            .map_err(|error| error.to_string())?;
        Ok(worktree.in_folder(root.strip_prefix(repository.top()).unwrap_or(Path::new(""))))
    }

    fn set_up_preview(
        &self,
        state: &RunState,
        name: &WorkerName,
        folder: &Path,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Result<(), String>, EngineError> {
        let Some(command) = state
            .parallel
            .as_ref()
            .and_then(|parallel| parallel.policy.setup.as_ref())
        else {
            let ignored = ignored_paths(&self.work_tree).unwrap_or_default();
            let ignored = ignored
                .iter()
                .map(|path| PathBuf::from(path.trim_end_matches('/')))
                .collect();
            return match copy_installed(
                self.work_tree.root(),
                folder,
                ignored,
                self.is_wanted(watcher),
            ) {
                Err(CopyError::Cancelled) => Err(EngineError::Cancelled),
                // A missing file shows in a check.
                _ => Ok(Ok(())),
            };
        };
        let (file, path) = self
            .run
            .log_file(&format!("{}-set-up.log", name.worker()))?;
        let log = CheckLog { path, file };
        match set_up_worktree(
            command,
            folder,
            self.environment,
            log,
            self.is_wanted(watcher),
        ) {
            Ok(()) => Ok(Ok(())),
            Err(SetUpError::Cancelled) => Err(EngineError::Cancelled),
            Err(error) => Ok(Err(error.to_string())),
        }
    }

    /// Commits since the start, not by omo, that change unlisted files, even if a later one removes them; an error is
    /// the reason why they are unknown in a worker's own worktree.
    pub(super) fn stray_commits(
        &self,
        state: &RunState,
        task: &Task,
    ) -> Result<Vec<StrayCommit>, String> {
        let at_start = state
            .tasks
            .get(&task.id)
            .and_then(|task| task.baseline.as_ref()?.head.clone());
        let known = state.plan.group_of(&task.id).zip(state.parallel.as_ref());
        let known =
            known.and_then(|((_, group), parallel)| Some((group, parallel.groups.get(&group.id)?)));
        let base = match known {
            // Commits of a skipped step are none of this one's: its user is asked about that.
            Some((group, _)) if has_unjudged_commits(state, group, task) => at_start,
            Some((group, known)) => Some(
                self.later_commit_of(&known.base, last_passed_commit(state, group, &known.base))?,
            ),
            None => at_start,
        };
        let (Some(base), Some(head)) = (base, head_commit(&self.work_tree)) else {
            return Ok(Vec::new());
        };
        if base == head {
            return Ok(Vec::new());
        }
        let commits =
            files_by_commit(&self.work_tree, &base, &head).map_err(|error| error.to_string());
        let commits = if state.parallel.is_some() {
            commits?
        } else {
            commits.unwrap_or_default()
        };
        // Another task in the same work tree may have ended meanwhile, and was judged with its own commit.
        let ends = state
            .tasks
            .values()
            .filter_map(|task| task.last_end.as_ref());
        let judged: BTreeSet<&String> = ends.filter_map(|end| end.commit.as_ref()).collect();
        let last_end = state
            .tasks
            .get(&task.id)
            .and_then(|task| task.last_end.as_ref());
        let by_hooks = last_end
            .and_then(|end| end.hook_changes.as_ref())
            .map_or(&[][..], |changes| &changes.files);
        Ok(commits
            .into_iter()
            .filter(|(commit, _)| !judged.contains(commit))
            .filter_map(|(commit, files)| {
                let mut unlisted = files_out_of_scope(self.unlisted_files, state, task, &files);
                unlisted.retain(|file| {
                    !ultraexecute_progress::is_progress_file(file) && !by_hooks.contains(file)
                });
                (!unlisted.is_empty()).then_some(StrayCommit {
                    commit,
                    files: unlisted,
                })
            })
            .collect())
    }

    /// The commit that a session begins from, or the last that was judged in it, where that has the other one.
    fn later_commit_of(&self, base: &str, passed: &str) -> Result<String, String> {
        let repository =
            GitRepository::find(self.root).ok_or("the project is not in a repository")?;
        later_commit(&repository, base, passed).map_err(|error| error.to_string())
    }
}

fn is_red(outcomes: &[(TaskCheck, TaskCheckOutcome)]) -> bool {
    outcomes.iter().any(|(_, outcome)| !outcome.is_green())
}

/// `files` without those that omo itself writes.
pub(super) fn without_omo_files(state: &RunState, mut files: Vec<String>) -> Vec<String> {
    let omo_files = files_written_by_omo(state);
    let omo_files: Vec<&str> = omo_files.iter().map(String::as_str).collect();
    files.retain(|file| {
        !is_omo_path(file, &omo_files) && !ultraexecute_progress::is_progress_file(file)
    });
    files
}

fn has_unjudged_commits(state: &RunState, group: &TaskGroup, task: &Task) -> bool {
    group.tasks.iter().any(|id| {
        *id != task.id
            && state
                .tasks
                .get(id)
                .is_some_and(|task| task.attempts > 0 && !is_done(state, task.status))
    })
}
