//! Start of workers elsewhere: one push brings their branches and briefs to the remote repository,
//! and a launcher starts each worker there.

use std::path::PathBuf;
use std::sync::Arc;

use omo_claude::supervisor::minder::MinderSpec;
use omo_git::message_commit::write_message;
use omo_git::remote::RemoteError;
use omo_git::worktree::checkout_at;
use omo_plan::model::TaskGroup;
use omo_remote::exchange::{BRIEF_FILE, BriefTask, EXCHANGE_VERSION, WorkerBrief, brief_branch};
use omo_remote::job::{JobValues, job_name, launch_branch, launch_name};
use omo_remote::launcher::{Launcher, ProfileLauncher, Started};
use omo_remote::starts::Refusal;

use crate::client_policy::ClientPolicy;
use crate::event::EventKind;
use crate::parallel::remote_branches::count_launches;
use crate::parallel::{DriveError, ParallelDriver};
use crate::parallel_schedule::ParallelAction;
use crate::parallel_state::ParallelState;
use crate::report::ultraplan::remote_prompt::{
    Pusher, remote_worker_prompt, task_commit_message, tasks_left,
};
use crate::schedule::{NextAction, next_action};
use crate::state::RunState;

const MAX_PUSH_FAILURES: u32 = 4;

#[derive(Debug)]
pub(super) struct Submission {
    launcher: Arc<ProfileLauncher>,
    launch: u32,
    values: JobValues,
    micros: Option<u64>,
}

impl ParallelDriver<'_> {
    /// Starts workers for prepared sessions, or queues them; `false` after a refused push.
    pub(super) fn submit_workers(
        &mut self,
        parallel: &ParallelState,
        micros: Option<u64>,
        ready: &[(&TaskGroup, PathBuf)],
    ) -> Result<bool, DriveError> {
        let policy = &parallel.policy;
        let Some(mut launcher) = self.launcher(policy, String::new()) else {
            return Ok(true);
        };
        let is_attached = launcher.profile.is_attached();
        let mut prepared = Vec::new();
        for (group, worktree) in ready {
            if !self.end_if_done(group)? {
                let worktree = worktree.display().to_string();
                let values = self.prepare_worker(policy, group, worktree, micros, is_attached)?;
                prepared.extend(values.map(|(launch, values)| (*group, launch, values)));
            }
        }
        if prepared.is_empty() {
            return Ok(true);
        }
        if let Err(error) = push_branches(&mut launcher, prepared.iter().map(|(.., values)| values))
        {
            let why = format!(
                "its branch could not be pushed to {}: {error}",
                policy.remote_name()
            );
            for (group, ..) in prepared {
                if is_attached || self.jobs.refuse(&group.id) >= MAX_PUSH_FAILURES {
                    self.report_stuck::<()>(group, &why)?;
                }
            }
            return Ok(is_attached);
        }
        // The push may have taken its time.
        if self.engine.run.state()?.is_over() {
            return Ok(false);
        }
        let launcher = Arc::new(launcher);
        for (group, launch, values) in prepared {
            if !is_attached {
                self.pending.push_back(Submission {
                    launcher: Arc::clone(&launcher),
                    launch,
                    values,
                    micros,
                });
                continue;
            }
            match launcher.start(&values) {
                Ok(Started::Attached { program, arguments }) => {
                    self.attach(policy, group, &values, program, arguments)?;
                }
                Ok(Started::HandedOver) => {}
                Err(failure) => {
                    self.report_stuck::<()>(group, &format!("--launcher: {}", failure.why))?;
                }
            }
        }
        self.take_in_starts()?;
        Ok(true)
    }

    /// Handles finished starts and begins others; after a refusal, the other workers wait as well.
    pub(super) fn take_in_starts(&mut self) -> Result<(), DriveError> {
        while let Some((job, started)) = self.starts.next_ended() {
            let Err(refusal) = started else {
                self.jobs.accept(&job.group);
                continue;
            };
            self.on_refused(job, refusal)?;
            self.pending.clear();
            if let NextAction::Parallel(ParallelAction::Start(groups)) =
                next_action(&self.engine.run.state()?)
            {
                for group in groups {
                    if !self.jobs.is_backing_off(&group.id) {
                        self.jobs.refuse(&group.id);
                    }
                }
            }
        }
        let next = self.starts.room().min(self.pending.len());
        if next == 0 {
            return Ok(());
        }
        if self.engine.run.state()?.is_over() {
            self.pending.clear();
            return Ok(());
        }
        let next: Vec<Submission> = self.pending.drain(..next).collect();
        // Written first: an unrecorded worker would be started a second time.
        self.record(|_| {
            next.iter()
                .map(|submission| EventKind::WorkerSubmitted {
                    group: submission.values.group.clone(),
                    job: submission.values.job.clone(),
                    launch: submission.launch,
                    brief: submission.values.brief.clone(),
                    budget_micros: submission.micros,
                })
                .collect()
        })?;
        for submission in next {
            self.starts.begin(&submission.launcher, submission.values);
        }
        Ok(())
    }

    /// Runs the command of a worker here for as long as the worker runs.
    fn attach(
        &mut self,
        policy: &ClientPolicy,
        group: &TaskGroup,
        values: &JobValues,
        program: PathBuf,
        arguments: Vec<String>,
    ) -> Result<(), DriveError> {
        let Some(means) = self.launch_config.clone() else {
            return Ok(());
        };
        let order = self.worker_spec(&group.id, values.worktree.as_ref(), &means)?;
        let spec = MinderSpec {
            program,
            arguments: arguments.into_iter().map(Into::into).collect(),
            is_interrupted_first: false,
            ..self.minder_spec(&order, policy, &means, values.prompt_file.clone().into())?
        };
        // The worker is told of no budget.
        self.add_session(group, spec, None)
    }

    fn on_refused(&mut self, worker: JobValues, refusal: Refusal) -> Result<(), DriveError> {
        let Refusal {
            message,
            failed_cancel,
        } = refusal;
        let JobValues { group, job, .. } = worker;
        self.jobs.refuse(&group);
        self.record(|state| {
            let others = state
                .parallel
                .as_ref()
                .map_or(0, |parallel| parallel.jobs().count());
            let refused = EventKind::SubmissionRefused {
                group: group.clone(),
                how: message,
                is_full: others > 1,
            };
            failed_cancel
                .map(|reason| EventKind::WorkerNotCancelled {
                    group: group.clone(),
                    job,
                    reason,
                })
                .into_iter()
                .chain([refused])
                .collect()
        })
        .map(drop)
    }

    fn prepare_worker(
        &self,
        policy: &ClientPolicy,
        group: &TaskGroup,
        worktree: String,
        micros: Option<u64>,
        is_attached: bool,
    ) -> Result<Option<(u32, JobValues)>, DriveError> {
        let state = self.engine.run.state()?;
        let known = state.group_state(&group.id);
        let Some(known) = known else { return Ok(None) };
        let (name, run) = (self.worker_name(&group.id)?, self.engine.run.id());
        let base = self.last_good_commit(&state, group, &known.base)?;
        let launch = count_launches(self.engine.run, &group.id).saturating_add(1);
        let branch = launch_branch(&name.branch(), launch);
        let pusher = if is_attached {
            Pusher::Session
        } else {
            Pusher::Worker
        };
        let prompt = remote_worker_prompt(&state, run, group, &branch, pusher);
        // Before any push: a process that looks for the branch finds by this that there may be one.
        let prompt_file =
            self.write_worker_file(&launch_name(&group.id, launch), prompt.as_bytes())?;
        let mut values = JobValues {
            branch,
            base,
            group: group.id.clone(),
            ..JobValues::default()
        };
        if is_attached {
            checkout_at(&self.repository, &name, &values.base)?;
            (values.prompt_file, values.worktree) = (prompt_file.display().to_string(), worktree);
        } else {
            let (_, log) = self
                .engine
                .run
                .log_file(&format!("{}-worker-{launch}.log", group.id))?;
            let brief = self.brief(&state, policy, group, &values.base, prompt, micros);
            let brief = serde_json::to_vec_pretty(&brief).unwrap_or_default();
            values.job = job_name(run, &group.id, launch);
            values.brief = write_message(&self.repository, BRIEF_FILE, &brief)?;
            values.log = log.display().to_string();
        }
        Ok(Some((launch, values)))
    }

    fn brief(
        &self,
        state: &RunState,
        policy: &ClientPolicy,
        group: &TaskGroup,
        base: &str,
        prompt: String,
        micros: Option<u64>,
    ) -> WorkerBrief {
        let run = self.engine.run.id();
        WorkerBrief {
            version: EXCHANGE_VERSION,
            run: run.to_owned(),
            group: group.id.clone(),
            base: base.to_owned(),
            prompt,
            tasks: tasks_left(state, group)
                .iter()
                .map(|task| BriefTask {
                    id: task.id.clone(),
                    message: task_commit_message(state, run, task),
                })
                .collect(),
            setup: policy.setup.clone(),
            never_touch: group.never_touch.clone(),
            skips_permissions: policy.skips_permissions,
            allow: policy.allow.clone(),
            model: policy.model.clone(),
            budget_micros: micros,
            time_limit_seconds: policy.time_limit_seconds(),
        }
    }
}

/// Pushes the branches of some workers, with any briefs, and looks up the address of the remote repository.
fn push_branches<'v>(
    launcher: &mut ProfileLauncher,
    workers: impl Iterator<Item = &'v JobValues>,
) -> Result<(), RemoteError> {
    let remote = launcher.remote()?;
    let mut pairs = Vec::new();
    for values in workers {
        pairs.push((values.base.as_str(), values.branch.clone()));
        pairs.extend(
            (!values.brief.is_empty())
                .then(|| (values.brief.as_str(), brief_branch(&values.branch))),
        );
    }
    remote.push_all(
        &pairs
            .iter()
            .map(|(commit, branch)| (*commit, branch.as_str()))
            .collect::<Vec<_>>(),
    )?;
    launcher.address = remote.address()?;
    Ok(())
}
