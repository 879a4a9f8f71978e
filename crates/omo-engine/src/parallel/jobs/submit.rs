//! Workers are handed over to an engine: their briefs and branches go to the remote repository in one request, and each
//! worker is started there by a command.

use omo_core::text::sanitize;
use omo_git::message_commit::write_message;
use omo_git::remote::{Remote, RemoteError};
use omo_plan::model::TaskGroup;
use omo_remote::decision::EngineState;
use omo_remote::exchange::{BRIEF_FILE, BriefTask, EXCHANGE_VERSION, WorkerBrief, brief_branch};
use omo_remote::job::{JobValues, job_name, launch_branch, launch_name};
use omo_remote::launcher::{CommandFailure, EngineCommands};

use crate::client_policy::ClientPolicy;
use crate::event::EventKind;
use crate::parallel::remote_branches::count_launches;
use crate::parallel::{DriveError, ParallelDriver, parallel_map};
use crate::parallel_state::ParallelState;
use crate::report::ultraplan::remote_prompt::{Pusher, remote_worker_prompt, task_commit_message, tasks_left};
use crate::state::RunState;

/// So many commands that hand a worker over run at the same time.
pub(super) const STARTS_AT_ONCE: usize = 4;
/// A push that failed so often, one time after the other, is put to a person.
const MAX_PUSH_FAILURES: u32 = 4;
/// A worker that is about to be handed over.
struct Submission<'g> {
    group: &'g TaskGroup,
    launch: u32,
    values: JobValues,
}

/// A worker that its engine did not take, as far as its command says.
struct Refusal {
    /// Why.
    how: String,
    /// Why it could not be ended, where it may have been taken all the same.
    failed_cancel: Option<String>,
}

/// Has a worker ended whose start failed: what was refused, or took too long, may have been taken all the same.
fn end_refused(engine: &EngineCommands, values: &JobValues, failure: CommandFailure) -> Refusal {
    let CommandFailure { why: how, is_timeout } = failure;
    let failed_cancel = match engine.cancel(values) {
        Err(failure) if is_timeout => Some(failure.why),
        Err(_) if is_listed(engine, &values.job) => engine.cancel(values).err().map(|failure| failure.why),
        // One that is refused while its engine is away was most likely never there, and is not told of.
        Ok(()) | Err(_) => None,
    };
    Refusal { how, failed_cancel: failed_cancel.map(|why| sanitize(&why, 300)) }
}

/// Whether an engine says that it has a worker.
fn is_listed(engine: &EngineCommands, job: &str) -> bool {
    let listed = engine.states().and_then(Result::ok).unwrap_or_default();
    listed.get(job).is_some_and(|state| !matches!(state, EngineState::Ended(_)))
}

impl ParallelDriver<'_> {
    /// Hands workers over for these sessions, whose work trees are ready. Each may spend `micros`. `false` where the
    /// engine or the remote repository refused one: they may take a minute to do so, in which nothing else is done, and
    /// the rest waits as long as what was refused.
    pub(in crate::parallel) fn submit_workers(
        &mut self,
        parallel: &ParallelState,
        micros: Option<u64>,
        groups: &[&TaskGroup],
    ) -> Result<bool, DriveError> {
        let mut submissions = Vec::new();
        for group in groups {
            if !self.end_if_done(group)? {
                submissions.extend(self.prepare_submission(&parallel.policy, group, micros)?);
            }
        }
        if submissions.is_empty() {
            return Ok(true);
        }
        let (pushed, address) = self.push_briefs(&parallel.policy, &submissions);
        if let Err(error) = pushed {
            let why = format!("its branch could not be pushed to {}: {error}", parallel.policy.remote_name());
            for submission in &submissions {
                if self.jobs.refuse(&submission.group.id) >= MAX_PUSH_FAILURES {
                    self.report_stuck::<()>(submission.group, &why)?;
                }
            }
            return Ok(false);
        }
        // The push may have taken its time.
        let state = self.engine.run.state()?;
        if state.is_over() {
            return Ok(false);
        }
        let Some(engine) = self.engine_commands(parallel, address) else { return Ok(true) };
        let mut is_taken = true;
        for some in submissions.chunks(STARTS_AT_ONCE) {
            if !is_taken {
                self.jobs.hold_back(some.iter().map(|submission| submission.group));
                continue;
            }
            // Written down first: what is started and not written down would be started a second time.
            let handed_over = |submission: &Submission| EventKind::WorkerSubmitted {
                group: submission.group.id.clone(),
                job: submission.values.job.clone(),
                launch: submission.launch,
                brief: submission.values.brief.clone(),
                budget_micros: micros,
            };
            self.record(|_| some.iter().map(handed_over).collect())?;
            let started = parallel_map(some, |submission| {
                let failure_of = |failure| end_refused(&engine, &submission.values, failure);
                engine.start(&submission.values).map_err(failure_of)
            });
            for (submission, started) in some.iter().zip(started) {
                match started {
                    Ok(()) => drop(self.jobs.back_off.remove(&submission.group.id)),
                    Err(refusal) => {
                        is_taken = false;
                        self.on_refused(submission, refusal)?;
                    }
                }
            }
        }
        Ok(is_taken)
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
        micros: Option<u64>,
    ) -> Result<Option<Submission<'g>>, DriveError> {
        let state = self.engine.run.state()?;
        let known = state.parallel.as_ref().and_then(|parallel| parallel.groups.get(&group.id));
        let Some(known) = known else { return Ok(None) };
        let name = self.worker_name(&group.id)?;
        let base = self.last_good_commit(&state, group, &known.base)?;
        let launch = count_launches(self.engine.run, &group.id).saturating_add(1);
        let branch = launch_branch(&name.branch(), launch);
        let brief = self.brief(&state, policy, group, &base, &branch, micros);
        // Before anything is pushed: a process that looks for the branch finds by this that there may be one.
        self.write_worker_file(&launch_name(&group.id, launch), brief.prompt.as_bytes())?;
        let (_, log) = self.engine.run.log_file(&format!("{}-worker-{launch}.log", group.id))?;
        let brief = serde_json::to_vec_pretty(&brief).unwrap_or_default();
        let values = JobValues {
            job: job_name(self.engine.run.id(), &group.id, launch),
            branch,
            base,
            brief: write_message(&self.repository, BRIEF_FILE, &brief)?,
            group: group.id.clone(),
            log: log.display().to_string(),
        };
        Ok(Some(Submission { group, launch, values }))
    }

    fn brief(
        &self,
        state: &RunState,
        policy: &ClientPolicy,
        group: &TaskGroup,
        base: &str,
        branch: &str,
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
            prompt: remote_worker_prompt(state, run, group, branch, Pusher::Worker),
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

    /// Pushes the branches of some workers with their briefs; gives the address of the remote repository as well.
    fn push_briefs(&self, policy: &ClientPolicy, submissions: &[Submission]) -> (Result<(), RemoteError>, String) {
        let remote = match Remote::find(&self.repository, policy.remote_name()) {
            Ok(remote) => remote,
            Err(error) => return (Err(error), String::new()),
        };
        let briefs: Vec<String> =
            submissions.iter().map(|submission| brief_branch(&submission.values.branch)).collect();
        let pairs = submissions.iter().zip(&briefs).flat_map(|(submission, brief)| {
            let values = &submission.values;
            [(values.base.as_str(), values.branch.as_str()), (values.brief.as_str(), brief.as_str())]
        });
        let pushed = remote.push_all(&pairs.collect::<Vec<_>>());
        match remote.address() {
            Ok(address) => (pushed, address),
            Err(error) => (pushed.and(Err(error)), String::new()),
        }
    }
}
