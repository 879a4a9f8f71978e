//! The end of an attempt: its changes are found, the checks are run, and their outcomes decide.

use omo_checks::task_check::{self, CheckLog};
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome};
use omo_git::changes;
use omo_git::commit::CommitRefusal;
use omo_git::snapshots::Snapshots;
use omo_plan::digest::sha256_hex;
use omo_plan::model::{FileAction, Task, TaskKind};
use omo_plan::paths;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};

use super::own_files::{
    allowed_paths, concurrent_paths, files_out_of_scope, is_of_plan, judging_files,
};
use super::start::{tree_from_text, tree_to_text};
use super::task_proof::first_attempt;
use super::{CommandWatcher, Engine, EngineError, EventBatch};
use crate::commit_guard::JudgeStates;
use crate::dispatched_tasks::dispatched_tasks;
use crate::event::{EventKind, UnfinishedLine};
use crate::handover::next_task_of_worker;
use crate::program_files::ultraexecute_progress;
use crate::state::{FINAL_CHECKS_ID, RunState, RunningAttempt};
use crate::task_commits::commit_message;
use crate::unfinished_lines::find_unfinished_lines;
use crate::verbs::{self, AttemptMeasurement, CommitOutcome};
use crate::work::baseline::files_written_by_omo;

/// A judged attempt: outcomes of its checks, written events, and the state after them.
#[derive(Debug)]
pub struct JudgedAttempt {
    pub task: Task,
    pub outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    pub events: Vec<EventKind>,
    /// Reason why its changes could not be taken back yet, where its plan asks for that.
    pub restore_error: Option<String>,
    pub next_task: Option<String>,
    pub state: RunState,
}

#[derive(Clone, Debug, Default)]
pub struct CompletionReport {
    pub note: Option<String>,
    pub evidence_ids: Vec<String>,
    /// The worker goes on with another task, where there is one for it.
    pub takes_next: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorkerCommit {
    pub commit: String,
    pub files: Vec<String>,
}

impl WorkerCommit {
    /// A commit is taken as a whole or not at all.
    fn to_commit_outcome(&self, out_of_scope: &[String]) -> CommitOutcome {
        match out_of_scope {
            [] => CommitOutcome::Made {
                id: self.commit.clone(),
                branch: None,
                hooks: None,
            },
            files => CommitOutcome::HoldsUnlisted {
                files: files.to_vec(),
            },
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorkResult {
    pub files: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub tampered: Vec<String>,
    pub missing: Vec<String>,
    pub tree: Option<String>,
    /// `true` if all of these could be determined.
    pub is_known: bool,
}

impl WorkResult {
    pub(super) fn own_files(&self) -> Vec<&str> {
        self.files
            .iter()
            .filter(|file| !self.out_of_scope.contains(file))
            .map(String::as_str)
            .collect()
    }
}

struct AttemptToJudge {
    running: RunningAttempt,
    state: RunState,
    /// Events before its end, in `state` already.
    before: Vec<EventKind>,
}

impl Engine<'_> {
    /// Judges a worker's attempt; a commit made `elsewhere` is checked out here already.
    pub fn done(
        &self,
        ticket: &str,
        report: CompletionReport,
        elsewhere: Option<&WorkerCommit>,
        watcher: &mut impl CommandWatcher,
    ) -> Result<JudgedAttempt, EngineError> {
        let digest = sha256_hex(ticket.as_bytes());
        let (task, _, state) = self.attempt_of_ticket(&digest)?;
        self.require_approval(&state)?;
        self.judge(&task, report, elsewhere, watcher, || {
            let (_, running, state) = self.attempt_of_ticket(&digest)?;
            Ok(AttemptToJudge {
                running,
                state,
                before: Vec::new(),
            })
        })
    }

    /// Retries a refused commit and judges it as before: no further attempt, and without a worker.
    pub fn commit_again(
        &self,
        id: &str,
        watcher: &mut impl CommandWatcher,
    ) -> Result<JudgedAttempt, EngineError> {
        let state = self.run.state()?;
        self.require_approval(&state)?;
        let task = verbs::find_task(&state, id)
            .map_err(EngineError::Refused)?
            .clone();
        self.require_own_tree(&state, id)?;
        let note = state
            .tasks
            .get(id)
            .and_then(|task| task.last_end.as_ref()?.note.clone());
        let evidence_ids = state
            .tasks
            .get(id)
            .map(|task| task.evidence_ids.clone())
            .unwrap_or_default();
        let report = CompletionReport {
            note,
            evidence_ids,
            takes_next: false,
        };
        self.judge(&task, report, None, watcher, || {
            let before = vec![EventKind::TaskCommitRetried {
                task: id.to_owned(),
            }];
            let state = self.state_after(self.run.state()?, &before);
            let running = state.tasks.get(id).and_then(|task| task.running.clone());
            let running = running.ok_or_else(|| checked_elsewhere(id))?;
            Ok(AttemptToJudge {
                running,
                state,
                before,
            })
        })
    }

    /// A state after more events, none of which is written yet.
    fn state_after(&self, state: RunState, events: &[EventKind]) -> RunState {
        let mut batch = EventBatch::new(state, &self.caller.actor, (self.now)());
        batch.apply_all(events.to_vec());
        batch.state
    }

    /// Judges an attempt, which is read once no other process is at it any more: that may have judged it.
    fn judge(
        &self,
        task: &Task,
        report: CompletionReport,
        elsewhere: Option<&WorkerCommit>,
        watcher: &mut impl CommandWatcher,
        read: impl FnOnce() -> Result<AttemptToJudge, EngineError>,
    ) -> Result<JudgedAttempt, EngineError> {
        let _guard = self
            .run
            .try_lock_check(&task.id)?
            .ok_or_else(|| checked_elsewhere(&task.id))?;
        let AttemptToJudge {
            running,
            state,
            before,
        } = read()?;
        let digest = running.ticket.clone();
        self.take_back_worker_ticks(&state);
        let mut worked = self.work_result(&state, task, &running);
        if let Some(committed) = elsewhere {
            worked.files.clone_from(&committed.files);
            worked.out_of_scope =
                files_out_of_scope(self.unlisted_files, &state, task, &worked.files);
        }
        let is_committed_here =
            elsewhere.is_none() && worked.is_known && commit_message(&state, task).is_some();
        let left_out = if is_committed_here {
            self.take_left_out_files(&state, task, &mut worked)
        } else {
            Ok(Vec::new())
        };
        let stray_commits = self.stray_commits(&state, task);
        let attempt = state.attempt_of(&task.id);
        let ignored = if elsewhere.is_none() {
            self.ignored_inputs(&state, task, running.since)
        } else {
            Vec::new()
        };
        let outcomes = self.check_task(task, Some(attempt), watcher)?;
        let ignored = self.unwritten_files(ignored);
        let tests = if task.kind == TaskKind::Tests {
            self.test_file_digests(task, &worked)
        } else {
            Vec::new()
        };
        let unfinished =
            self.find_unfinished_lines(&state, running.tree.as_deref(), worked.tree.as_deref());
        let since_first = first_attempt(&state, task, &running)
            .map(|first| self.work_result(&state, task, &first).files);
        let since_first = since_first.unwrap_or_else(|| worked.files.clone());
        let is_compared = self.is_compared(&state, task, &since_first);
        let mut changed_check_files = judging_files(&state, task, since_first);
        changed_check_files.retain(|file| !state.changed_check_files.contains_key(file));
        let CompletionReport {
            note,
            evidence_ids,
            takes_next,
        } = report;
        let mut measured = AttemptMeasurement {
            outcomes,
            files: worked.files.clone(),
            out_of_scope: worked.out_of_scope.clone(),
            tampered: worked.tampered.clone(),
            missing: worked.missing.clone(),
            changed_check_files,
            note,
            test_digests: tests,
            tree: worked.tree.clone(),
            unfinished,
            evidence_ids,
            without_work: Vec::new(),
            left_out: Vec::new(),
            needed_ignored: Vec::new(),
            judge_notes: Vec::new(),
            stray_commits: stray_commits.clone().unwrap_or_default(),
            commit: None,
            judges: JudgeStates::new(),
        };
        let mut refused = stray_commits.err();
        if passes(&state, &digest, &measured) && refused.is_none() {
            match left_out {
                Ok(left_out) if left_out.is_empty() && ignored.is_empty() => {}
                Ok(left_out) => {
                    match self.check_without(&state, task, &left_out, ignored, watcher)? {
                        // The work tree decides: a private copy may lack files that the checks need.
                        Ok(checked) if left_out.is_empty() => {
                            measured.needed_ignored = checked.needed_ignored;
                        }
                        Ok(checked) => {
                            (measured.outcomes, measured.needed_ignored) =
                                (checked.outcomes, checked.needed_ignored);
                            measured.left_out = left_out;
                        }
                        Err(_) if left_out.is_empty() => {}
                        Err(why) => refused = Some(why),
                    }
                }
                Err(why) => refused = Some(why),
            }
        }
        if refused.is_none() && passes(&state, &digest, &measured) && is_compared {
            (measured.without_work, measured.judge_notes) =
                self.prove_task(&state, task, &running, watcher)?;
        }
        // A commit follows only a pass of all else; the commit is then judged with the rest.
        if passes(&state, &digest, &measured) {
            measured.commit = match (refused, elsewhere) {
                (Some(why), Some(_)) => Some(CommitOutcome::Unchecked { why }),
                (Some(why), None) => {
                    let words = format!("what it would hold could not be checked: {why}");
                    Some(CommitOutcome::Refused {
                        refusal: CommitRefusal::Other { words },
                        kept: None,
                    })
                }
                (None, Some(committed)) => Some(committed.to_commit_outcome(&worked.out_of_scope)),
                (None, None) => {
                    let (judges, settings) = self.judge_guard(&state, task);
                    measured.judges = judges;
                    self.commit_task(&state, task, &worked, settings, watcher)?
                }
            };
        }
        self.judge_commit(&state, task, &mut measured, watcher)?;
        let asks = verbs::judge_attempt(&state, &digest, measured.clone())
            .is_ok_and(|events| verbs::asks_about_commit(&events));
        if let (true, Some(CommitOutcome::Refused { kept, .. })) = (asks, &mut measured.commit) {
            *kept = self.keep_uncommitted(&state, task, &worked);
        }
        let (events, state) = self.end_attempt(&state, task, |state| {
            let after = (!before.is_empty()).then(|| self.state_after(state.clone(), &before));
            let state = after.as_ref().unwrap_or(state);
            let mut events = before.clone();
            let judged = verbs::judge_attempt(state, &digest, measured.clone())?;
            events.extend(
                takes_next
                    .then(|| self.handover_event(state, &task.id, &judged))
                    .flatten(),
            );
            events.splice(before.len()..before.len(), judged);
            Ok(events)
        })?;
        Ok(self.judged_attempt(task.clone(), measured.outcomes, events, state))
    }

    /// In the same write: a session that waits for work would give the task to another worker otherwise.
    fn handover_event(
        &self,
        state: &RunState,
        ended: &str,
        events: &[EventKind],
    ) -> Option<EventKind> {
        let mut batch = EventBatch::new(state.clone(), &self.caller.actor, (self.now)());
        batch.apply_all(events.to_vec());
        batch.advance(|_| Vec::new());
        // With an unreadable ledger, the worker ends and the session goes on.
        let dispatched = dispatched_tasks(&self.run.events().ok()?, (self.now)());
        let next = next_task_of_worker(&batch.state, ended, &dispatched)?;
        Some(EventKind::TasksDispatched {
            tasks: vec![next.id.clone()],
            to_agents: true,
        })
    }

    pub fn give_up(&self, ticket: &str, why: &str) -> Result<JudgedAttempt, EngineError> {
        let digest = sha256_hex(ticket.as_bytes());
        let (task, running, state) = self.attempt_of_ticket(&digest)?;
        let _guard = self
            .run
            .try_lock_check(&task.id)?
            .ok_or_else(|| checked_elsewhere(&task.id))?;
        let files = self.work_result(&state, &task, &running).files;
        let (events, state) = self.end_attempt(&state, &task, |state| {
            verbs::give_up_attempt(state, &digest, why, files.clone())
        })?;
        Ok(self.judged_attempt(task, Vec::new(), events, state))
    }

    /// Writes the end of an attempt, with a snapshot of the work tree where its changes will be taken back.
    fn end_attempt(
        &self,
        state: &RunState,
        task: &Task,
        judge: impl Fn(&RunState) -> Result<Vec<EventKind>, VerbRefusal>,
    ) -> Result<(Vec<EventKind>, RunState), EngineError> {
        let ticked = self.worker_tick(state, task);
        let takes_back = judge(state).is_ok_and(|events| verbs::reverts_changes(state, &events));
        let left = if takes_back {
            Some(self.keep_work_tree(state)?)
        } else {
            None
        };
        self.transact(|state| {
            let mut events = verbs::with_snapshot(judge(state)?, left.as_ref());
            if !events.iter().any(|event| {
                matches!(
                    event,
                    EventKind::TaskPassed { .. } | EventKind::TaskClaimed { .. }
                )
            }) {
                events.extend(ticked);
            }
            Ok((events.clone(), events))
        })
    }

    /// Changes are taken back where the plan says so, after the end is in the ledger: a failure is made up for later.
    fn judged_attempt(
        &self,
        task: Task,
        outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
        mut events: Vec<EventKind>,
        mut state: RunState,
    ) -> JudgedAttempt {
        let mut not_put_back = None;
        if state
            .tasks
            .get(&task.id)
            .is_some_and(|task| task.is_to_restore)
        {
            match self.restore_task(&task.id) {
                Ok((restored, now)) => {
                    events.extend(restored);
                    state = now;
                }
                Err(error) => not_put_back = Some(error.to_string()),
            }
        }
        let next_task = events.iter().find_map(|event| match event {
            EventKind::TasksDispatched { tasks, .. } => tasks.first().cloned(),
            _ => None,
        });
        JudgedAttempt {
            task,
            outcomes,
            events,
            restore_error: not_put_back,
            next_task,
            state,
        }
    }

    pub(super) fn attempt_of_ticket(
        &self,
        digest: &str,
    ) -> Result<(Task, RunningAttempt, RunState), EngineError> {
        let (task, state) =
            self.transact(|state| Ok((Vec::new(), verbs::task_of_ticket(state, digest)?.clone())))?;
        let running = state
            .tasks
            .get(&task.id)
            .and_then(|task| task.running.clone());
        let running = running.ok_or_else(|| checked_elsewhere(&task.id))?;
        self.require_own_tree(&state, &task.id)?;
        Ok((task, running, state))
    }

    /// Runs the checks of a task, up to the first that is not green. Logs are named after `attempt`.
    pub fn check_task(
        &self,
        task: &Task,
        attempt: Option<u32>,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<(TaskCheck, TaskCheckOutcome)>, EngineError> {
        let checks: Vec<&TaskCheck> = task.proving_checks().collect();
        let outcomes = self.run_checks(&task.id, &checks, attempt, watcher)?;
        Ok(self.judge_tests_first(task, outcomes))
    }

    pub(super) fn run_checks(
        &self,
        name: &str,
        checks: &[&TaskCheck],
        attempt: Option<u32>,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<(TaskCheck, TaskCheckOutcome)>, EngineError> {
        let mut outcomes = Vec::new();
        for (place, known) in checks.iter().enumerate() {
            watcher.begins(&known.command, place, checks.len());
            // Without a log the check runs all the same.
            let log = attempt.and_then(|attempt| {
                self.run
                    .log_file(&format!("{name}-{attempt}-{}.log", place + 1))
                    .ok()
            });
            let log = log.map(|(file, path)| CheckLog { path, file });
            let outcome = task_check::run(
                known,
                self.work_tree.root(),
                self.environment,
                log,
                self.is_wanted(watcher),
            );
            let outcome = outcome.ok_or(EngineError::Cancelled)?;
            let is_green = outcome.is_green();
            outcomes.push(((*known).clone(), outcome));
            if !is_green {
                break;
            }
        }
        Ok(outcomes)
    }

    pub fn run_final_checks(
        &self,
        watcher: &mut impl CommandWatcher,
    ) -> Result<RunState, EngineError> {
        let state = self.run.state()?;
        self.require_approval(&state)?;
        let checks: Vec<&TaskCheck> = state.plan.final_checks.iter().collect();
        let outcomes = self.run_checks(FINAL_CHECKS_ID, &checks, Some(0), watcher)?;
        let found = self.final_check_events(&state, outcomes);
        let ((), state) = self.transact(|_| Ok((found, ())))?;
        Ok(state)
    }

    /// Checks of the whole at these positions, each regardless of the others; only their output is written.
    pub(crate) fn run_each_final_check(
        &self,
        name: &str,
        places: &[usize],
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<(usize, TaskCheckOutcome)>, EngineError> {
        let state = self.run.state()?;
        self.require_approval(&state)?;
        let mut found = Vec::new();
        for place in places {
            let Some(check) = state.plan.final_checks.get(*place) else {
                continue;
            };
            let ran = self.run_checks(
                &format!("{FINAL_CHECKS_ID}-{name}-{}", place + 1),
                &[check],
                Some(0),
                watcher,
            )?;
            found.extend(ran.into_iter().map(|(_, outcome)| (*place, outcome)));
        }
        Ok(found)
    }

    pub fn changed_files(
        &self,
        state: &RunState,
        task: &Task,
        running: &RunningAttempt,
    ) -> Vec<String> {
        self.work_result(state, task, running).files
    }

    /// The changes of a worker since it began, or, of a step, of all its workers so far.
    pub(super) fn work_result(
        &self,
        state: &RunState,
        task: &Task,
        running: &RunningAttempt,
    ) -> WorkResult {
        let now = self.snapshots().take_tree();
        let before = running.tree.as_deref().and_then(tree_from_text);
        let omo_files = files_written_by_omo(state);
        let omo_files: Vec<&str> = omo_files.iter().map(String::as_str).collect();
        let changed = before.zip(now.as_ref()).and_then(|(before, now)| {
            let found = Snapshots {
                own: &omo_files,
                ..self.snapshots()
            }
            .changed_paths(&before, now)?;
            Some(self.without_ticked_plan(state, &before, now, found))
        });
        let is_known = changed.is_some();
        let files = changed
            .unwrap_or_default()
            .into_iter()
            .map(|change| change.path);
        let others = concurrent_paths(self.unlisted_files, state, task, Some(running.since));

        let scope = allowed_paths(self.unlisted_files, state, task);

        let files: Vec<String> = files
            // Its user may edit the plan meanwhile, and differences in it are named as an edit: they are no work of a task.
            .filter(|file| {
                is_covered(file, &scope)
                    || self.work_tree.root() != self.root
                    || !is_of_plan(state, file)
            })
            .filter(|file| !state.is_ultraplan() || !ultraexecute_progress::is_progress_file(file))
            .filter(|file| is_covered(file, &scope) || !is_covered(file, &others))
            .collect();
        let tampered = running.protected_files.iter().filter(|(path, before)| {
            changes::file_digest(self.work_tree.root(), path).unwrap_or_default() != *before
        });
        let missing = task.files.iter().filter(|file| {
            matches!(file.action, FileAction::Create | FileAction::Test)
                && !self.work_tree.root().join(&file.path).exists()
        });
        WorkResult {
            out_of_scope: files_out_of_scope(self.unlisted_files, state, task, &files),
            tampered: tampered.map(|(path, _)| path.clone()).collect(),
            missing: missing.map(|file| file.path.clone()).collect(),
            files,
            tree: now.as_ref().and_then(tree_to_text),
            is_known,
        }
    }

    /// Events of the whole: outcomes of its checks, and lines that look unfinished.
    pub(super) fn final_check_events(
        &self,
        state: &RunState,
        outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    ) -> Vec<EventKind> {
        let tree = self.snapshots().take_tree().as_ref().and_then(tree_to_text);
        let searched = self.search_unfinished_of_run(state, tree.as_deref());
        verbs::final_check_events(outcomes)
            .into_iter()
            .chain(searched)
            .collect()
    }

    /// Event with unfinished lines that workers added in this tree; `None` if they cannot be found.
    pub(super) fn search_unfinished_of_run(
        &self,
        state: &RunState,
        tree: Option<&str>,
    ) -> Option<EventKind> {
        let unfinished = self.find_unfinished_lines(state, state.first_tree.as_deref(), tree)?;
        Some(EventKind::UnfinishedSearched { unfinished })
    }

    /// New lines that name unfinished work, for the verifier; `None` where they were not searched for.
    fn find_unfinished_lines(
        &self,
        state: &RunState,
        before: Option<&str>,
        now: Option<&str>,
    ) -> Option<Vec<UnfinishedLine>> {
        let (before, now) = before
            .and_then(tree_from_text)
            .zip(now.and_then(tree_from_text))
            .filter(|_| state.is_task_list() || state.plan.verification_task().is_some())?;
        // Open work in the text of a plan is no unfinished work.
        let plan = (!state.is_task_list()).then_some(state.plan.source.path.as_str());
        let added = Snapshots {
            own: plan.as_slice(),
            ..self.snapshots()
        }
        .added_lines(&before, &now)?;
        Some(find_unfinished_lines(
            added.iter().map(|line| (line.file, line.line, line.text)),
        ))
    }

    fn test_file_digests(&self, task: &Task, worked: &WorkResult) -> Vec<(String, String)> {
        let named = task
            .files
            .iter()
            .filter_map(|file| paths::normalize_path(&file.path));
        let mut paths: Vec<String> = named.chain(worked.files.iter().cloned()).collect();
        paths.sort();
        paths.dedup();
        paths
            .into_iter()
            .filter_map(|path| {
                changes::file_digest(self.work_tree.root(), &path).map(|digest| (path, digest))
            })
            .collect()
    }

    /// Writes events of a person's decision, which need nothing but the ledger.
    pub fn decide(
        &self,
        decide: impl FnOnce(&RunState) -> Result<Vec<EventKind>, VerbRefusal>,
    ) -> Result<RunState, EngineError> {
        self.transact(|state| Ok((decide(state)?, ())))
            .map(|((), state)| state)
    }
}

pub(super) fn checked_elsewhere(id: &str) -> EngineError {
    EngineError::Refused(VerbRefusal {
        kind: VerbRefusalKind::Contention,
        message: format!("{id} is being checked by another process"),
        hint: "`omo agent next --wait 540` waits for it".to_owned(),
    })
}

fn passes(state: &RunState, ticket: &str, measured: &AttemptMeasurement) -> bool {
    verbs::judge_attempt(state, ticket, measured.clone())
        .is_ok_and(|events| verbs::has_done_task(state, &events))
}

fn is_covered(file: &str, paths: &[&str]) -> bool {
    paths.iter().any(|named| paths::path_covers(named, file))
}
