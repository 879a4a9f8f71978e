//! The start of a session: its work tree, its options, and its client.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_checks::set_up::set_up_worktree;
use omo_checks::task_check::CheckLog;
use omo_claude::client_cost::MAX_TURNS;
use omo_claude::supervisor::minder::MinderSpec;
use omo_claude::supervisor::process_state::ProcessIdentity;
use omo_claude::worker::{WorkerPermissions, WorkerSpec};
use omo_claude::worker_resources;
use omo_claude::worker_settings::{self, WorkerSettings};
use omo_core::text::sanitize;
use omo_git::commit_guard::read_commit_judges;
use omo_git::integrate::{CommitDraft, MergePreview, preview_merge};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::worktree::{self, WorkerName, WorktreeError};
use omo_plan::model::TaskGroup;
use omo_process::free_memory::free_memory;
use omo_process::parallel_map::parallel_map;

use super::clean::{copies_folder, removal_event};
use super::{DriveError, LaunchConfig, ParallelDriver, WORK_TREES_AT_ONCE};
use crate::client_policy::ClientPolicy;
use crate::event::{EventKind, MemoryBound, RecordedProcess};
use crate::fence::{self, FenceRules};
use crate::parallel_schedule::BUDGET_SPENT;
use crate::parallel_state::{BudgetGrant, GroupStatus, ParallelState};
use crate::report::ultraplan::worker_prompt;
use crate::state::{RunState, TaskStatus};
use crate::verbs;
use crate::wave_rules::group_outcome;

const MAX_NAMED_FILES: usize = 8;
const SUBMISSIONS_AT_ONCE: usize = 16;

impl ParallelDriver<'_> {
    /// Starts sessions, failed ones with the newest result merged; none during a usage limit.
    pub(super) fn start_workers(
        &mut self,
        state: &RunState,
        parallel: &ParallelState,
        groups: &[&TaskGroup],
    ) -> Result<(), DriveError> {
        if verbs::limit_reset_at(state, (self.engine.now)()).is_some() {
            return Ok(());
        }
        let Some(means) = self.launch_config.clone() else {
            return Ok(());
        };
        if !self.pending.is_empty() {
            return Ok(());
        }
        let failed: Vec<&TaskGroup> = groups
            .iter()
            .filter(|group| parallel.has_status(&group.id, &[GroupStatus::Failed]))
            .copied()
            .collect();
        if !failed.is_empty() && self.update_failed_sessions(state, parallel, &failed)? {
            // The outcome decides the next step.
            return Ok(());
        }
        let waiting: Vec<&TaskGroup> = groups
            .iter()
            .filter(|group| !self.running.contains(&group.id))
            .copied()
            .collect();
        let waiting: Vec<&TaskGroup> = waiting
            .into_iter()
            .filter(|group| !self.jobs.is_backing_off(&group.id))
            .collect();
        let waiting = self.within_memory(parallel, &means, waiting)?;
        let of_jobs: u64 = parallel
            .jobs()
            .filter_map(|(_, job)| job.budget_micros)
            .sum();
        let grant = parallel.grant_budget(
            self.granted.values().sum::<u64>().saturating_add(of_jobs),
            waiting.len(),
        );
        if grant == BudgetGrant::Later {
            return Ok(());
        }
        if let Some(profile) = parallel.policy.launcher_profile() {
            return self.hand_over(parallel, grant, &waiting, profile.is_attached());
        }
        for pair in waiting.chunks(WORK_TREES_AT_ONCE) {
            let ready = self.prepare_work_trees(parallel, pair)?;
            self.start_clients(parallel, &means, grant, ready)?;
        }
        Ok(())
    }

    /// The sessions for whose clients this machine has the memory. One can always begin.
    fn within_memory<'g>(
        &mut self,
        parallel: &ParallelState,
        means: &LaunchConfig,
        mut waiting: Vec<&'g TaskGroup>,
    ) -> Result<Vec<&'g TaskGroup>, DriveError> {
        if parallel.policy.launcher_profile().is_some() {
            return Ok(waiting);
        }
        if self.running.is_empty() {
            let bound = free_memory().map(|free| MemoryBound::new(free, means.worker_mb));
            self.memory_bound = bound.filter(|bound| bound.at_once < waiting.len());
            if let Some(bound) = self.memory_bound {
                self.record(|_| vec![EventKind::WorkersBounded(bound)])?;
            }
        }
        if let Some(bound) = self.memory_bound {
            waiting.truncate(bound.at_once.saturating_sub(self.running.len()));
        }
        Ok(waiting)
    }

    /// Starts workers elsewhere, some at a time, so that the first ones work while the others are prepared.
    fn hand_over(
        &mut self,
        parallel: &ParallelState,
        grant: BudgetGrant,
        waiting: &[&TaskGroup],
        is_attached: bool,
    ) -> Result<(), DriveError> {
        let micros = match grant {
            BudgetGrant::Unbounded => None,
            BudgetGrant::Micros(micros) => Some(micros),
            BudgetGrant::Later | BudgetGrant::Nothing => {
                return waiting
                    .iter()
                    .try_for_each(|group| self.report_stuck::<()>(group, BUDGET_SPENT).map(drop));
            }
        };
        let (batch, pushes) = if is_attached {
            (WORK_TREES_AT_ONCE, 1)
        } else {
            (SUBMISSIONS_AT_ONCE, SUBMISSIONS_AT_ONCE)
        };
        let mut is_taken = true;
        for groups in waiting.chunks(batch) {
            if !is_taken {
                for group in groups {
                    self.jobs.refuse(&group.id);
                }
                continue;
            }
            let mut ready = Vec::new();
            for pair in groups.chunks(WORK_TREES_AT_ONCE) {
                ready.extend(self.prepare_work_trees(parallel, pair)?);
            }
            for part in ready.chunks(pushes) {
                is_taken &= self.submit_workers(parallel, micros, part)?;
            }
            if !self.pending.is_empty() {
                // The others once these are under way.
                break;
            }
        }
        Ok(())
    }

    /// Merges the result and the user's branch, which may hold a repair, into failed sessions; `true` for any event.
    fn update_failed_sessions(
        &self,
        state: &RunState,
        parallel: &ParallelState,
        failed: &[&TaskGroup],
    ) -> Result<bool, DriveError> {
        if let Some(at) = self.user_branch_ahead(parallel)? {
            self.catch_up(state, parallel, &at)?;
            return Ok(true);
        }
        let mut updated = Vec::new();
        for group in failed {
            let base = parallel.base_commit_of(&group.id);
            if self
                .repository
                .contains(base, std::slice::from_ref(&parallel.tip))?
            {
                continue;
            }
            let tip = if self
                .repository
                .contains(&parallel.tip, &[base.to_owned()])?
            {
                parallel.tip.clone()
            } else {
                match preview_merge(&self.repository, base, None, &parallel.tip)? {
                    MergePreview::Clean { tree } => {
                        let message =
                            format!("merge: what omo run {} has come to", self.engine.run.id());
                        let draft = CommitDraft {
                            tip: base,
                            merged: Some(&parallel.tip),
                            tree: &tree,
                            message: &message,
                        };
                        match self.commit_for_user(&parallel.policy, &draft)? {
                            Ok(made) => made,
                            // A question follows once its steps are done.
                            Err(_) => continue,
                        }
                    }
                    // A question follows once its steps are done.
                    MergePreview::UpToDate | MergePreview::Conflict { .. } => continue,
                }
            };
            updated.push(EventKind::GroupUpdated {
                group: group.id.clone(),
                tip,
            });
        }
        let is_updated = !updated.is_empty();
        if is_updated {
            self.record(|_| updated)?;
        }
        Ok(is_updated)
    }

    fn prepare_work_trees<'g>(
        &mut self,
        parallel: &ParallelState,
        groups: &[&'g TaskGroup],
    ) -> Result<Vec<(&'g TaskGroup, PathBuf)>, DriveError> {
        let this = &*self;
        let made = parallel_map(groups, |group| this.prepare_work_tree(parallel, group));
        groups
            .iter()
            .zip(made)
            .filter_map(|(group, path)| {
                path.map(|path| path.map(|path| (*group, path))).transpose()
            })
            .collect()
    }

    fn start_clients(
        &mut self,
        parallel: &ParallelState,
        means: &LaunchConfig,
        grant: BudgetGrant,
        ready: Vec<(&TaskGroup, PathBuf)>,
    ) -> Result<(), DriveError> {
        for (group, worktree) in ready {
            if self.end_if_done(group)? {
                continue;
            }
            let micros = match grant {
                BudgetGrant::Unbounded => None,
                BudgetGrant::Micros(micros) => Some(micros),
                BudgetGrant::Later | BudgetGrant::Nothing => {
                    return self.report_stuck::<()>(group, BUDGET_SPENT).map(drop);
                }
            };
            if let Some(spec) =
                self.client_spec(&parallel.policy, group, &worktree, means, micros)?
            {
                self.add_session(group, spec, micros)?;
            }
        }
        Ok(())
    }

    pub(super) fn add_session(
        &mut self,
        group: &TaskGroup,
        spec: MinderSpec,
        micros: Option<u64>,
    ) -> Result<(), DriveError> {
        self.supervisor.add_session(&group.id, spec);
        self.running.insert(group.id.clone());
        self.granted
            .extend(micros.map(|micros| (group.id.clone(), micros)));
        // The next work tree may take long; meanwhile a reader of the ledger should see the begun session.
        self.handle_client_events(Duration::ZERO)
    }

    /// The prepared work tree of a session. `None` where it could not be made; a person is asked then.
    fn prepare_work_tree(
        &self,
        parallel: &ParallelState,
        group: &TaskGroup,
    ) -> Result<Option<PathBuf>, DriveError> {
        let name = self.worker_name(&group.id)?;
        let known = parallel
            .groups
            .get(&group.id)
            .filter(|group| group.worktree.is_some());
        let base = known
            .map_or_else(
                || parallel.base_commit_of(&group.id),
                |known| known.base.as_str(),
            )
            .to_owned();
        if known.is_none() {
            self.note_prepared(&name, &base)?;
        }
        let make = if known.is_some() {
            worktree::continue_worktree
        } else {
            worktree::create_worktree
        };
        let created = match make(&self.repository, &name, &base) {
            Ok(created) => created,
            Err(error) => {
                return self
                    .report_stuck(group, &format!("its worktree could not be made: {error}"));
            }
        };
        if let Err(error) = ProvedWorktree::of_worker(&self.repository, &name, &created.path) {
            return self.report_stuck(group, &error.to_string());
        }
        if (created.was_there || known.is_some()) && !self.branch_contains(&name, &base)? {
            // Leftovers of an earlier try that could not be removed: this one does not begin in them.
            return match self.remove_earlier_attempt(parallel, &name, &base)? {
                Ok(parallel) => self.prepare_work_tree(&parallel, group),
                Err(error) => {
                    self.report_stuck(group, &format!("its worktree could not be made: {error}"))
                }
            };
        }
        if let lacks @ [_, ..] = &*created.not_copied {
            let files: Vec<String> = lacks
                .iter()
                .take(MAX_NAMED_FILES)
                .map(|file| sanitize(file, 100))
                .collect();
            let more = lacks.len() - files.len();
            self.record(|_| {
                vec![EventKind::GroupFilesMissing {
                    group: group.id.clone(),
                    files,
                    more,
                }]
            })?;
        }
        if let Some(command) = &parallel.policy.setup
            && let Some(why) =
                self.run_setup_command(&group.id, command, &created.path, created.was_there)?
        {
            return self.report_stuck(group, &why);
        }
        if !created.was_there {
            self.note_judges(&name, &created.path)?;
        }
        Ok(Some(created.path))
    }

    /// Writes the judges of commits in a new worktree, before a worker can change them.
    fn note_judges(&self, name: &WorkerName, path: &Path) -> Result<(), DriveError> {
        let tree = ProvedWorktree::of_worker(&self.repository, name, path).ok();
        let Some((guard, repository)) = self
            .engine
            .run
            .state()?
            .guard
            .zip(tree.and_then(|tree| tree.repository()))
        else {
            return Ok(());
        };
        let settings = guard.settings.over_files_of(&self.repository)?;
        let judges = read_commit_judges(&repository.obeying(&settings))?;
        let judges = guard.unknown_in_worktree(&judges);
        let found = (!judges.is_empty()).then_some(EventKind::JudgesFound { judges });
        self.record(|_| found.into_iter().collect()).map(drop)
    }

    /// Writes the place of a session's work tree before that is made: leftovers of a kill are found by it.
    fn note_prepared(&self, name: &WorkerName, base: &str) -> Result<(), DriveError> {
        let prepared = EventKind::GroupPrepared {
            group: name.worker().to_owned(),
            worktree: name.path(&self.repository).display().to_string(),
            branch: name.branch(),
            base: base.to_owned(),
        };
        self.record(|_| vec![prepared]).map(drop)
    }

    fn remove_earlier_attempt(
        &self,
        parallel: &ParallelState,
        name: &WorkerName,
        base: &str,
    ) -> Result<Result<ParallelState, WorktreeError>, DriveError> {
        let files = copies_folder(self.engine, name);
        let removal =
            match worktree::prepare_removal(&self.repository, name, Some(&parallel.tip), &files) {
                Ok(removal) => removal,
                Err(error) => return Ok(Err(error)),
            };
        let removed = removal_event(&removal, &files, Some(base.to_owned()));
        let state = self.record(|_| vec![removed])?;
        let carried_out = worktree::carry_out_removal(&self.repository, &removal);
        Ok(carried_out.map(|()| state.parallel.unwrap_or_default()))
    }

    fn branch_contains(&self, name: &WorkerName, base: &str) -> Result<bool, DriveError> {
        let Some(tip) = self.repository.commit_of(&name.branch_reference())? else {
            return Ok(false);
        };
        Ok(tip == base || self.repository.contains(&tip, &[base.to_owned()])?)
    }

    /// Runs the command that prepares a work tree, once for each; gives the reason of a failure.
    pub(super) fn run_setup_command(
        &self,
        group: &str,
        command: &str,
        folder: &Path,
        was_there: bool,
    ) -> Result<Option<String>, DriveError> {
        let (name, log) = (
            format!("{group}-set-up.done"),
            format!("{group}-set-up.log"),
        );
        if was_there && self.engine.run.has_log(&name) {
            return Ok(None);
        }
        self.engine.run.remove_log(&name)?;
        let (file, path) = self.engine.run.log_file(&log)?;
        let log = CheckLog { path, file };
        match set_up_worktree(
            command,
            folder,
            self.engine.environment,
            log,
            self.engine.is_needed(),
        ) {
            Ok(()) => {
                self.engine.run.log_file(&name)?;
                Ok(None)
            }
            Err(error) => Ok(Some(error.to_string())),
        }
    }

    pub(super) fn report_stuck<T>(
        &self,
        group: &TaskGroup,
        why: &str,
    ) -> Result<Option<T>, DriveError> {
        let stuck_event = EventKind::GroupStuck {
            group: group.id.clone(),
            reason: sanitize(why, 500),
        };
        self.record(|_| vec![stuck_event])?;
        Ok(None)
    }

    /// Writes the end of a session whose tasks all have ended. `true` where it has ended, or cannot go on.
    pub(super) fn end_if_done(&self, group: &TaskGroup) -> Result<bool, DriveError> {
        let state = self.engine.run.state()?;
        let Some(status) = group_outcome(&state, group) else {
            return Ok(false);
        };
        let known = state.group_state(&group.id);
        let Some(known) = known.filter(|known| known.status == GroupStatus::Ready) else {
            return Ok(true);
        };
        let tip = match self.judged_tip(&state, group, known)? {
            Ok(tip) => tip,
            Err(why) => {
                self.report_stuck::<()>(group, &why)?;
                return Ok(true);
            }
        };
        let failed = (status == GroupStatus::Failed).then(|| failed_task_reason(&state, group));
        let id = group.id.clone();
        self.record(|_| {
            vec![EventKind::GroupEnded {
                group: id,
                tip,
                failed,
            }]
        })?;
        Ok(true)
    }

    /// Options of a session's client. `None` where it may not be started.
    fn client_spec(
        &mut self,
        terms: &ClientPolicy,
        group: &TaskGroup,
        worktree: &Path,
        means: &LaunchConfig,
        micros: Option<u64>,
    ) -> Result<Option<MinderSpec>, DriveError> {
        let resume = self.to_resume.remove(&group.id);
        let text = if resume.is_some() {
            worker_prompt::continue_prompt(self.engine.run.id(), &group.id)
        } else {
            let tasks: Vec<&str> = group.tasks.iter().map(String::as_str).collect();
            worker_prompt::worker_prompt(self.engine.run.id(), &group.id, &group.title, &tasks)
        };
        let prompt = self.write_worker_file(&format!("{}-prompt.md", group.id), text.as_bytes())?;
        let permissions = if terms.skips_permissions {
            WorkerPermissions::All
        } else {
            match worker_settings::allowed_rules(&terms.allow) {
                Ok(rules) => WorkerPermissions::Listed(rules),
                Err(error) => return self.report_stuck(group, &error.to_string()),
            }
        };
        let order = self.worker_spec(&group.id, worktree, means)?;
        let order = WorkerSpec {
            // A port that was taken meanwhile is no worse than none.
            port: worker_resources::find_free_ports(1)
                .ok()
                .and_then(|ports| ports.first().copied()),
            settings: Some(self.write_settings(group, &order.temp_folder, means)?),
            max_turns: MAX_TURNS,
            max_budget_micros: micros,
            permissions,
            model: terms.model.clone(),
            resume,
            ..order
        };
        self.minder_spec(&order, terms, means, prompt).map(Some)
    }

    pub(super) fn worker_spec(
        &self,
        group: &str,
        worktree: &Path,
        means: &LaunchConfig,
    ) -> Result<WorkerSpec, DriveError> {
        let temp = worker_resources::make_temp_folder(&means.temp, self.engine.run.id(), group);
        let temp = temp.map_err(crate::RunStoreError::from)?;
        Ok(WorkerSpec::new(
            self.engine.run.id(),
            group,
            worktree,
            temp,
            &means.own_program,
        ))
    }

    pub(super) fn minder_spec(
        &self,
        order: &WorkerSpec,
        terms: &ClientPolicy,
        means: &LaunchConfig,
        prompt: PathBuf,
    ) -> Result<MinderSpec, DriveError> {
        let (_, printed) = self
            .engine
            .run
            .log_file(&format!("{}-session.jsonl", order.worker))?;
        let (_, complaints) = self
            .engine
            .run
            .log_file(&format!("{}-session.err", order.worker))?;
        Ok(MinderSpec {
            program: means.client.clone(),
            arguments: order.arguments(),
            folder: order.worktree.clone(),
            variables: order.environment(means.variables.clone()),
            prompt,
            printed,
            complaints,
            timeout_millis: terms.time_limit_millis(),
            is_interrupted_first: true,
        })
    }

    fn write_settings(
        &self,
        group: &TaskGroup,
        temp: &Path,
        means: &LaunchConfig,
    ) -> Result<PathBuf, DriveError> {
        let rules = FenceRules {
            version: fence::RULES_VERSION,
            main_checkout: real_path(self.engine.root),
            writable: vec![real_path(temp)],
            readable: vec![real_path(self.engine.run.folder())],
            never_touch: group.never_touch.clone(),
        };
        let rules = serde_json::to_vec(&rules).unwrap_or_default();
        let rules = self.write_worker_file(&format!("{}-fence.json", group.id), &rules)?;
        let file = WorkerSettings {
            program: &means.own_program,
            rules: &rules,
        }
        .to_json();
        let file = file.ok_or_else(|| DriveError::File {
            path: rules.clone(),
            source: std::io::Error::other("its path is not UTF-8"),
        })?;
        self.write_worker_file(&format!("{}-settings.json", group.id), file.as_bytes())
    }

    pub(super) fn write_worker_file(
        &self,
        name: &str,
        bytes: &[u8],
    ) -> Result<PathBuf, DriveError> {
        let (mut file, path) = self.engine.run.log_file(name)?;
        file.write_all(bytes).map_err(|source| DriveError::File {
            path: path.clone(),
            source,
        })?;
        Ok(path)
    }

    pub(super) fn note_started(
        &self,
        group: &str,
        mark: &ProcessIdentity,
    ) -> Result<(), DriveError> {
        let process = RecordedProcess {
            pid: mark.pid,
            mark: mark.start.clone(),
        };
        let budget_micros = self.granted.get(group).copied();
        let started = EventKind::WorkerStarted {
            group: group.to_owned(),
            process,
            budget_micros,
        };
        self.record(|_| vec![started]).map(drop)
    }
}

fn real_path(path: &Path) -> String {
    path.canonicalize()
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

fn failed_task_reason(state: &RunState, group: &TaskGroup) -> String {
    let id = group.tasks.iter().find(|id| {
        state
            .tasks
            .get(*id)
            .is_some_and(|task| matches!(task.status, TaskStatus::Failed | TaskStatus::Unverified))
    });
    let end = id.and_then(|id| state.tasks.get(id)?.last_end.as_ref());
    let word = state.plan.dialect.unit_word();
    match (id, end) {
        (Some(id), Some(end)) => format!("{word} {id}: {}", sanitize(&end.evidence, 300)),
        _ => "not all of it was done".to_owned(),
    }
}
