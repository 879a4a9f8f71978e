//! Workers are started elsewhere: their branches, and their briefs where they get any, go to the remote repository in one
//! request, and each worker is started there by its launcher.

use std::path::PathBuf;

use omo_claude::supervisor::minder::MinderSpec;
use omo_core::text::sanitize;
use omo_git::message_commit::write_message;
use omo_git::remote::RemoteError;
use omo_git::worktree::checkout_at;
use omo_plan::model::TaskGroup;
use omo_process::parallel_map::parallel_map;
use omo_remote::decision::EngineState;
use omo_remote::exchange::{BRIEF_FILE, BriefTask, EXCHANGE_VERSION, WorkerBrief, brief_branch};
use omo_remote::follow::COMMANDS_AT_ONCE;
use omo_remote::job::{JobValues, job_name, launch_branch, launch_name};
use omo_remote::launcher::{CommandFailure, Launcher, ProfileLauncher, Started};

use crate::client_policy::ClientPolicy;
use crate::event::EventKind;
use crate::parallel::remote_branches::count_launches;
use crate::parallel::{DriveError, ParallelDriver};
use crate::parallel_state::ParallelState;
use crate::report::ultraplan::remote_prompt::{Pusher, remote_worker_prompt, task_commit_message, tasks_left};
use crate::state::RunState;

/// A push that failed so often, one time after the other, is put to a person.
const MAX_PUSH_FAILURES: u32 = 4;

/// A worker that is about to be started.
struct Submission<'g> {
    group: &'g TaskGroup,
    launch: u32,
    values: JobValues,
}

/// A worker that its launcher did not take, as far as its command says.
struct Refusal {
    /// Why.
    how: String,
    /// Why it could not be ended, where it may have been taken all the same.
    failed_cancel: Option<String>,
}

/// Has a worker ended whose start failed: what was refused, or took too long, may have been taken all the same.
fn end_refused(launcher: &dyn Launcher, values: &JobValues, failure: CommandFailure) -> Refusal {
    let CommandFailure { why: how, is_timeout } = failure;
    let failed_cancel = match launcher.cancel(values) {
        Err(failure) if is_timeout => Some(failure.why),
        Err(_) if is_listed(launcher, &values.job) => launcher.cancel(values).err().map(|failure| failure.why),
        // One that is refused while its scheduler is away was most likely never there, and is not told of.
        Ok(()) | Err(_) => None,
    };
    Refusal { how, failed_cancel: failed_cancel.map(|why| sanitize(&why, 300)) }
}

/// Whether a scheduler says that it has a worker.
fn is_listed(launcher: &dyn Launcher, job: &str) -> bool {
    let listed = launcher.list().and_then(Result::ok).unwrap_or_default();
    listed.get(job).is_some_and(|state| !matches!(state, EngineState::Ended(_)))
}

impl ParallelDriver<'_> {
    /// Starts workers for these sessions, whose work trees are ready. Each may spend `micros`. `false` where the launcher or
    /// the remote repository refused one: they may take a minute to do so, in which nothing else is done, and the rest
    /// waits as long as what was refused.
    pub(super) fn submit_workers(
        &mut self,
        parallel: &ParallelState,
        micros: Option<u64>,
        ready: &[(&TaskGroup, PathBuf)],
    ) -> Result<bool, DriveError> {
        let policy = &parallel.policy;
        let Some(mut launcher) = self.launcher(policy, String::new()) else { return Ok(true) };
        let is_attached = launcher.profile.is_attached();
        let mut submissions = Vec::new();
        for (group, worktree) in ready {
            if !self.end_if_done(group)? {
                let worktree = worktree.display().to_string();
                submissions.extend(self.prepare_submission(policy, group, worktree, micros, is_attached)?);
            }
        }
        if submissions.is_empty() {
            return Ok(true);
        }
        if let Err(error) = push_branches(&mut launcher, &submissions) {
            let why = format!("its branch could not be pushed to {}: {error}", policy.remote_name());
            for submission in &submissions {
                if is_attached || self.jobs.refuse(&submission.group.id) >= MAX_PUSH_FAILURES {
                    self.report_stuck::<()>(submission.group, &why)?;
                }
            }
            return Ok(is_attached);
        }
        // The push may have taken its time.
        if self.engine.run.state()?.is_over() {
            return Ok(false);
        }
        let mut is_taken = true;
        for some in submissions.chunks(COMMANDS_AT_ONCE) {
            if !is_taken {
                for submission in some {
                    self.jobs.refuse(&submission.group.id);
                }
                continue;
            }
            // Written down first: what is started and not written down would be started a second time.
            if !is_attached {
                let handed_over = |submission: &Submission| EventKind::WorkerSubmitted {
                    group: submission.group.id.clone(),
                    job: submission.values.job.clone(),
                    launch: submission.launch,
                    brief: submission.values.brief.clone(),
                    budget_micros: micros,
                };
                self.record(|_| some.iter().map(handed_over).collect())?;
            }
            let started = parallel_map(some, |submission| {
                launcher.start(&submission.values).map_err(|failure| {
                    (!is_attached).then(|| end_refused(&launcher, &submission.values, failure.clone())).ok_or(failure)
                })
            });
            for (submission, started) in some.iter().zip(started) {
                match started {
                    Ok(Started::HandedOver) => self.jobs.accept(&submission.group.id),
                    Ok(Started::Attached { program, arguments }) => {
                        self.attach(policy, submission, program, arguments)?;
                    }
                    Err(Ok(refusal)) => {
                        is_taken = false;
                        self.on_refused(submission, refusal)?;
                    }
                    Err(Err(failure)) => {
                        self.report_stuck::<()>(submission.group, &format!("--launcher: {}", failure.why))?;
                    }
                }
            }
        }
        Ok(is_taken)
    }

    /// Has the command of a worker run here for as long as the worker does.
    fn attach(
        &mut self,
        policy: &ClientPolicy,
        submission: &Submission,
        program: PathBuf,
        arguments: Vec<String>,
    ) -> Result<(), DriveError> {
        let Submission { group, values, .. } = submission;
        let Some(means) = self.launch_config.clone() else { return Ok(()) };
        let order = self.worker_spec(&group.id, values.worktree.as_ref(), &means)?;
        let spec = MinderSpec {
            program,
            arguments: arguments.into_iter().map(Into::into).collect(),
            is_interrupted_first: false,
            ..self.minder_spec(&order, policy, &means, values.prompt_file.clone().into())?
        };
        // It is not told of a budget.
        self.add_session(group, spec, None)
    }

    fn on_refused(&mut self, submission: &Submission, refusal: Refusal) -> Result<(), DriveError> {
        let Refusal { how, failed_cancel } = refusal;
        self.jobs.refuse(&submission.group.id);
        let (group, job) = (submission.group.id.clone(), submission.values.job.clone());
        self.record(|state| {
            let others = state.parallel.as_ref().map_or(0, |parallel| parallel.jobs().count());
            let not_cancelled = |reason| EventKind::WorkerNotCancelled { group: group.clone(), job, reason };
            let refused = EventKind::SubmissionRefused { group: group.clone(), how, is_full: others > 1 };
            failed_cancel.map(not_cancelled).into_iter().chain([refused]).collect()
        })
        .map(drop)
    }

    fn prepare_submission<'g>(
        &self,
        policy: &ClientPolicy,
        group: &'g TaskGroup,
        worktree: String,
        micros: Option<u64>,
        is_attached: bool,
    ) -> Result<Option<Submission<'g>>, DriveError> {
        let state = self.engine.run.state()?;
        let known = state.group_state(&group.id);
        let Some(known) = known else { return Ok(None) };
        let (name, run) = (self.worker_name(&group.id)?, self.engine.run.id());
        let base = self.last_good_commit(&state, group, &known.base)?;
        let launch = count_launches(self.engine.run, &group.id).saturating_add(1);
        let branch = launch_branch(&name.branch(), launch);
        let pusher = if is_attached { Pusher::Session } else { Pusher::Worker };
        let prompt = remote_worker_prompt(&state, run, group, &branch, pusher);
        // Before anything is pushed: a process that looks for the branch finds by this that there may be one.
        let prompt_file = self.write_worker_file(&launch_name(&group.id, launch), prompt.as_bytes())?;
        let mut values = JobValues { branch, base, group: group.id.clone(), ..JobValues::default() };
        if is_attached {
            checkout_at(&self.repository, &name, &values.base)?;
            (values.prompt_file, values.worktree) = (prompt_file.display().to_string(), worktree);
        } else {
            let (_, log) = self.engine.run.log_file(&format!("{}-worker-{launch}.log", group.id))?;
            let brief = self.brief(&state, policy, group, &values.base, prompt, micros);
            let brief = serde_json::to_vec_pretty(&brief).unwrap_or_default();
            values.job = job_name(run, &group.id, launch);
            values.brief = write_message(&self.repository, BRIEF_FILE, &brief)?;
            values.log = log.display().to_string();
        }
        Ok(Some(Submission { group, launch, values }))
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
        let task = |task: &&omo_plan::model::Task| BriefTask {
            id: task.id.clone(),
            message: task_commit_message(state, run, task),
        };
        WorkerBrief {
            version: EXCHANGE_VERSION,
            run: run.to_owned(),
            group: group.id.clone(),
            base: base.to_owned(),
            prompt,
            tasks: tasks_left(state, group).iter().map(task).collect(),
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

/// Pushes the branches of some workers, with their briefs where they have any, and finds out the address of the remote
/// repository.
fn push_branches(launcher: &mut ProfileLauncher, submissions: &[Submission]) -> Result<(), RemoteError> {
    let remote = launcher.remote()?;
    let briefs: Vec<String> = submissions.iter().map(|submission| brief_branch(&submission.values.branch)).collect();
    let pairs = submissions.iter().zip(&briefs).flat_map(|(submission, brief)| {
        let values = &submission.values;
        [(values.base.as_str(), values.branch.as_str()), (values.brief.as_str(), brief.as_str())]
    });
    remote.push_all(&pairs.filter(|(commit, _)| !commit.is_empty()).collect::<Vec<_>>())?;
    launcher.address = remote.address()?;
    Ok(())
}
