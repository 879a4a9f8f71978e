//! The start of a run, and of a worker's task.

use std::fmt::Write;
use std::time::{Duration, Instant};

use omo_checks::task_check;
use omo_core::check::task_check::{ExpectedExit, TaskCheck};
use omo_core::session::plan_run::PlannedCommand;
use omo_core::text::command_text::quote_argument;
use omo_git::changes::TreeSnapshot;
use omo_git::integrate::CheckoutHead;
use omo_plan::digest::sha256_hex;
use omo_plan::model::{FileAction, Plan, Task, TaskKind};
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_state::git_worktree::WorktreeIdentity;
use omo_state::trust::pending_approval;

use super::{CommandWatcher, Engine, EngineError};
use crate::commit_guard::CommitGuard;
use crate::event::EventKind;
use crate::evidence_rules;
use crate::execution_mode::ExecutionMode;
use crate::report::ultraplan;
use crate::report::worker_notes::worker_notes;
use crate::request::run_scope::RunScope;
use crate::state::{FINAL_CHECKS_ID, RunState, TaskStanding, TaskStatus, WorktreeBaseline};
use crate::task_counterfactual;
use crate::ticket::new_ticket;
use crate::verbs::{self, AttemptStart};

/// Time limit of a check before the work begins, in seconds. One that takes longer is not known to be green already.
const BASELINE_CHECK_SECONDS: u32 = 10;
/// Timeout for the supervisor's record of a client's start, which a fast client waits for.
const NOTE_TIMEOUT: Duration = Duration::from_secs(10);
const POLL_INTERVAL: Duration = Duration::from_millis(5);

#[derive(Debug)]
pub struct StartedTask {
    pub task: Task,
    pub attempt: u32,
    pub ticket: String,
    pub brief: String,
}

#[derive(Debug)]
pub struct RunOpening {
    pub plan: Plan,
    pub commands_digest: String,
    pub root: String,
    pub worktree: Option<WorktreeIdentity>,
    pub head: Option<CheckoutHead>,
    pub scope: Option<RunScope>,
    pub mode: ExecutionMode,
    pub guard: Option<CommitGuard>,
}

impl From<RunOpening> for EventKind {
    fn from(opening: RunOpening) -> Self {
        let RunOpening {
            plan,
            commands_digest: approved,
            root,
            worktree,
            head,
            scope,
            mode,
            guard,
        } = opening;
        let base = head
            .as_ref()
            .and_then(CheckoutHead::commit)
            .map(str::to_owned);
        let branch = head
            .as_ref()
            .and_then(CheckoutHead::reference)
            .map(str::to_owned);
        Self::RunOpened {
            plan: Box::new(plan),
            approved,
            root,
            worktree,
            base,
            branch,
            scope,
            mode: Some(mode),
            guard,
        }
    }
}

/// Commands of a plan to approve; one that runs for a task and at the end is listed once.
pub fn planned_commands(plan: &Plan) -> Vec<PlannedCommand> {
    plan.labeled_checks()
        .filter(|(task, check)| {
            *task != FINAL_CHECKS_ID
                || !plan.labeled_checks().any(|(task, known)| {
                    task != FINAL_CHECKS_ID
                        && known.command == check.command
                        && known.cwd == check.cwd
                })
        })
        .map(|(task, check)| PlannedCommand {
            task: task.to_owned(),
            command: check.command.clone(),
            folder: check.cwd.clone(),
        })
        .collect()
}

/// Digest of what an approval shows beside the commands: the plan without its ticks, and its goal, which may stand in a
/// file beside it.
pub fn shown_plan_digest(plan: &Plan) -> String {
    let source = &plan.source;
    let text = source
        .sha256_without_state
        .as_ref()
        .unwrap_or(&source.sha256);
    sha256_hex(format!("{text}\n{}", plan.goal).as_bytes())
}

impl Engine<'_> {
    /// Refuses commands of the run that are not exactly those that its user approved.
    pub fn require_approval(&self, state: &RunState) -> Result<(), EngineError> {
        let commands = planned_commands(&state.plan);
        let is_same = pending_approval::commands_digest(self.root, &commands) == state.approved;
        if commands.is_empty()
            || (is_same && pending_approval::is_approved(Some(self.state_home), &state.approved))
        {
            return Ok(());
        }
        Err(EngineError::Refused(VerbRefusal {
            kind: VerbRefusalKind::NeedsPerson,
            message:
                "the commands of this plan are not, or no longer, approved: nothing of them runs"
                    .to_owned(),
            hint: format!(
                "`{}` shows them and how they are approved",
                open_command(state)
            ),
        }))
    }

    /// Begins an attempt at task `id`, with its baseline; returns the worker's ticket and brief.
    pub fn start(
        &self,
        id: &str,
        watcher: &mut impl CommandWatcher,
    ) -> Result<StartedTask, EngineError> {
        let state = self.wait_until_noted(self.run.state()?)?;
        // A client of the run itself works by the ledger, whatever becomes of the file meanwhile.
        if self.caller.group.is_none() {
            self.require_unedited_plan(&state)?;
        }
        self.require_approval(&state)?;
        // Refused before anything costs time; decided again under the lock.
        let (task, state) =
            self.transact(|state| Ok((Vec::new(), verbs::may_start(state, id)?.clone())))?;
        self.require_own_tree(&state, id)?;
        let mut state = self.restore_due_tasks(state)?;
        let vacuous = known_green_checks(&state, &task);
        let WorktreeBaseline {
            tree,
            snapshot: kept,
            head,
            ..
        } = self.baseline(&state, &task)?;
        let vacuous = vacuous.map_or_else(|| self.find_green_checks(&state, &task, watcher), Ok)?;
        let is_verification = task.is_verification();
        let searched = is_verification
            .then(|| self.search_unfinished_of_run(&state, tree.as_deref()))
            .flatten();
        if let Some(EventKind::UnfinishedSearched { unfinished }) = &searched {
            state.unfinished = Some(unfinished.clone());
        }
        if let (true, Some(known)) = (state.is_ultraplan(), state.tasks.get_mut(id)) {
            known.already_green.clone_from(&vacuous);
        }
        // The end of the attempt before is known until the next one has begun.
        let brief = task_brief(&state, &task);
        let ticket = new_ticket()?;
        let start = AttemptStart {
            ticket: ticket.digest,
            tree,
            protected_files: guarded_test_files(&state, &task),
            already_green: vacuous,
            snapshot: kept,
            head,
        };
        let ((), state) = self.transact(|state| {
            let mut events = vec![verbs::start_attempt(state, id, start)?];
            events.extend(searched);
            Ok((events, ()))
        })?;
        let attempt = state.attempt_of(id);
        Ok(StartedTask {
            brief,
            task,
            attempt,
            ticket: ticket.text,
        })
    }

    /// The run once it has the record of the calling client, which may be faster than the supervisor that writes it.
    fn wait_until_noted(&self, state: RunState) -> Result<RunState, EngineError> {
        let deadline = Instant::now() + NOTE_TIMEOUT;
        let mut state = state;
        while verbs::is_unrecorded_client(&state, &self.caller)
            && self.run.is_supervised()?
            && Instant::now() < deadline
        {
            std::thread::sleep(POLL_INTERVAL);
            state = self.run.state()?;
        }
        Ok(state)
    }

    fn find_green_checks(
        &self,
        state: &RunState,
        task: &Task,
        watcher: &mut impl CommandWatcher,
    ) -> Result<Vec<usize>, EngineError> {
        if task.kind == TaskKind::Tests {
            // Tests that are not written yet are expected to fail, before and afterwards.
            return Ok(Vec::new());
        }
        if task_counterfactual::is_asked(&state.plan, task) {
            // They are run without the work once it is done, in a copy and with the tests of then.
            return Ok(Vec::new());
        }
        let first = task.red_check.iter().count();
        let mut green = Vec::new();
        for (place, known) in task
            .all_checks()
            .enumerate()
            .skip(first)
            .filter(|(_, check)| !evidence_rules::judges_earlier_work(state, task, check))
        {
            let short = TaskCheck {
                timeout_seconds: known.effective_timeout().min(BASELINE_CHECK_SECONDS),
                ..known.clone()
            };
            watcher.begins(&known.command, place, task.all_checks().count());
            let outcome = task_check::run(
                &short,
                self.work_tree.root(),
                self.environment,
                None,
                self.is_wanted(watcher),
            );
            let outcome = outcome.ok_or(EngineError::Cancelled)?;
            if outcome.is_green() {
                green.push(place);
            }
        }
        Ok(green)
    }
}

/// The checks of a step that were green before its first attempt: one that is green now may be by its own work.
fn known_green_checks(state: &RunState, task: &Task) -> Option<Vec<usize>> {
    let task_state = state
        .tasks
        .get(&task.id)
        .filter(|task| state.is_ultraplan() && task.baseline.is_some())?;
    Some(task_state.already_green.clone())
}

fn open_command(state: &RunState) -> String {
    if state.is_task_list() {
        return format!("omo run start --tasks --session {}", state.task_list_id());
    }
    format!("omo run start {}", quote_argument(&state.plan.source.path))
}

pub(super) fn tree_to_text(tree: &TreeSnapshot) -> Option<String> {
    serde_json::to_string(tree).ok()
}

pub(crate) fn tree_from_text(tree: &str) -> Option<TreeSnapshot> {
    serde_json::from_str(tree).ok()
}

fn guarded_test_files(state: &RunState, task: &Task) -> Vec<(String, String)> {
    let tests = task
        .pair
        .as_ref()
        .filter(|_| task.kind != TaskKind::Tests)
        .and_then(|pair| state.tasks.get(pair));
    let passed = tests.filter(|tests| tests.status == TaskStatus::Passed);
    passed
        .and_then(|tests| tests.last_end.as_ref())
        .map(|end| end.test_digests.clone())
        .unwrap_or_default()
}

pub fn task_brief(state: &RunState, task: &Task) -> String {
    let brief = brief_of_kind(state, task);
    // A verifier judges by its own look.
    if task.is_verification() {
        brief
    } else {
        brief + &worker_notes(state, &task.id)
    }
}

fn brief_of_kind(state: &RunState, task: &Task) -> String {
    if state.is_task_list() || task.is_verification() {
        return crate::report::task_list::brief(state, task);
    }
    if state.is_ultraplan() {
        return ultraplan::brief::brief(state, task);
    }
    let word = state.plan.dialect.unit_word();
    let mut text = format!("# {word} {} of {}\n\n", task.id, state.plan.source.path);
    if !state.plan.goal.is_empty() {
        let _ = writeln!(text, "Goal of the plan: {}\n", state.plan.goal);
    }
    let _ = writeln!(text, "{}", task.body.trim_end());
    let _ = write!(text, "\n---\n\n## What omo holds this {word} to\n\n");
    describe_files(&mut text, task);
    describe_checks(&mut text, task);
    if task_counterfactual::must_be_red(&state.plan, task) {
        let _ = writeln!(
            text,
            "- omo runs the checks without the work of this {word} as well, in a copy. Where all of them pass there, too, \
             the {word} fails."
        );
    }
    if state.plan.source.sha256_without_state.is_some() {
        let _ = writeln!(
            text,
            "- omo ticks this {word} in the plan once it has passed: leave the state of the plan as it is."
        );
    }
    let guarded = guarded_test_files(state, task);
    if !guarded.is_empty() {
        let names: Vec<&str> = guarded.iter().map(|(path, _)| path.as_str()).collect();
        let _ = writeln!(
            text,
            "- Stay exactly as they are: {}. A change of them fails the {word}.",
            names.join(", ")
        );
    }
    describe_earlier_work(&mut text, state, task);
    text
}

fn describe_files(text: &mut String, task: &Task) {
    if task.files.is_empty() {
        let _ = writeln!(text, "- The plan names no files.");
        return;
    }
    let names: Vec<String> = task
        .files
        .iter()
        .map(|file| {
            let verb = match file.action {
                FileAction::Create => "create",
                FileAction::Modify => "modify",
                FileAction::Test => "test",
                FileAction::Delete => "delete",
            };
            format!("{verb} `{}`", file.path)
        })
        .collect();
    let _ = writeln!(
        text,
        "- Files: {}. Any other file that changes is reported.",
        names.join(", ")
    );
}

fn describe_checks(text: &mut String, task: &Task) {
    if task.checks.is_empty() && task.red_check.is_none() {
        let _ = writeln!(
            text,
            "- The plan names no check: this can end as unproved at best."
        );
    }
    for check in task.all_checks() {
        let expected = match check.expect.exit {
            ExpectedExit::Zero => "has to end with status 0".to_owned(),
            ExpectedExit::NonZero
                if task.kind != TaskKind::Tests && task.red_check.as_ref() == Some(check) =>
            {
                "has to fail without the work, and to pass with it".to_owned()
            }
            ExpectedExit::NonZero => {
                "has to fail, because what it tests is not there yet".to_owned()
            }
            ExpectedExit::Exactly(status) => format!("has to end with status {status}"),
        };
        let says = check
            .expect
            .stdout_has
            .as_ref()
            .map(|has| format!(" and to print `{has}`"))
            .unwrap_or_default();
        let _ = writeln!(
            text,
            "- omo runs `{}`, which {expected}{says}.",
            check.command
        );
    }
}

fn describe_earlier_work(text: &mut String, state: &RunState, task: &Task) {
    let end = |id: &str| state.tasks.get(id).and_then(|task| task.last_end.as_ref());
    for id in &task.deps {
        if let Some(note) = end(id).and_then(|end| end.note.as_ref()) {
            let _ = writeln!(text, "- From {id}: {note}");
        }
    }
    let task_state = state.tasks.get(&task.id);
    if task_state.is_some_and(|known| known.is_stale) {
        let _ = writeln!(
            text,
            "- It was done before the plan was edited; what is there may be of the old text."
        );
    } else if let Some(end) = end(&task.id)
        .filter(|_| state.standing(&task.id) != Some(TaskStanding::Is(TaskStatus::Passed)))
    {
        let _ = writeln!(text, "- The last attempt: {}", end.evidence);
        if let Some(other) = &task.alternative {
            let _ = writeln!(text, "- The plan says how to try it now: {other}");
        }
    }
    if let Some(why) = task_state.and_then(|task_state| task_state.reason.as_ref()) {
        let _ = writeln!(
            text,
            "- Begun again: {why}. Work of the attempt before may be in the files."
        );
    }
}
