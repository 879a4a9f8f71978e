//! Judgement of an attempt by its measurements: forbidden changes, then checks, then the commit.

use std::collections::BTreeSet;
use std::slice;

use omo_core::check::counterfactual::CheckCounterfactual;
use omo_core::check::task_check::{TaskCheck, TaskCheckOutcome, TaskCheckVerdict};
use omo_core::text::sanitize;
use omo_git::commit::CommitRefusal;
use omo_plan::model::{Task, TaskKind};
use omo_plan::paths::PlannedPaths;
use omo_plan::refusal::VerbRefusal;

use super::{failure_events, task_of_ticket};
use crate::commit_guard::JudgeStates;
use crate::event::{AttemptEnd, EventKind, HookChanges, QuestionKind, UnfinishedLine};
use crate::question_text::build_question;
use crate::report::ultraplan::short_commit;
use crate::state::{MAX_REASON_CHARS, RunState};
use crate::{evidence_rules, task_counterfactual};

const MAX_NAMED_FILES: usize = 5;

#[derive(Clone, Debug, Default)]
pub struct AttemptMeasurement {
    /// Each check that ran, with its outcome; no check runs after a red one.
    pub outcomes: Vec<(TaskCheck, TaskCheckOutcome)>,
    pub files: Vec<String>,
    pub out_of_scope: Vec<String>,
    pub tampered: Vec<String>,
    pub missing: Vec<String>,
    pub changed_check_files: Vec<String>,
    pub note: Option<String>,
    /// Digests of the test files, for the tests half of a pair of tasks.
    pub test_digests: Vec<(String, String)>,
    pub tree: Option<String>,
    /// Added lines that name unfinished work; `None` where they were not searched for.
    pub unfinished: Option<Vec<UnfinishedLine>>,
    pub evidence_ids: Vec<String>,
    pub without_work: Vec<CheckCounterfactual>,
    /// Files without which the checks ran, since the commit would not hold them.
    pub left_out: Vec<String>,
    /// As [`AttemptEnd::judge_notes`].
    pub judge_notes: Vec<String>,
    /// As [`AttemptEnd::needed_ignored`].
    pub needed_ignored: Vec<String>,
    pub stray_commits: Vec<StrayCommit>,
    pub commit: Option<CommitOutcome>,
    /// As [`AttemptEnd::judges`].
    pub judges: JudgeStates,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StrayCommit {
    pub commit: String,
    pub files: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitOutcome {
    Made {
        id: String,
        /// As [`AttemptEnd::branch`].
        branch: Option<String>,
        /// Changes by hooks in the commit; the outcomes are then those of checks on the commit, if it could be judged.
        hooks: Option<HookChanges>,
    },
    Nothing,
    HoldsUnlisted {
        files: Vec<String>,
    },
    Unchecked {
        why: String,
    },
    Refused {
        refusal: CommitRefusal,
        kept: Option<String>,
    },
}

/// Judges an attempt, which is the only way to a passed task. Refuses as [`task_of_ticket`]; also a verifier's ticket,
/// and missing evidence for criteria, after which the ticket stays valid.
pub fn judge_attempt(
    state: &RunState,
    ticket: &str,
    measured: AttemptMeasurement,
) -> Result<Vec<EventKind>, VerbRefusal> {
    let task = task_of_ticket(state, ticket)?;
    let attempt = state.attempt_of(&task.id);
    if task.is_verification() {
        let message = "a verification ends with a verdict";
        return Err(VerbRefusal::precondition(
            message,
            "`omo agent verdict PASS` or `omo agent verdict FAIL`",
        ));
    }
    let id = task.id.clone();
    let proof = ProvingOutcomes::new(task, &measured.outcomes);
    let mut events: Vec<EventKind> = proof.events(&id, attempt).collect();
    // In a shared checkout the author of a commit is unknown: stray commits are noted, and are no fault of the worker.
    let (foreign, stray_commits): (Vec<_>, Vec<_>) = measured
        .stray_commits
        .into_iter()
        .partition(|_| state.parallel.is_none());
    let (commit, branch, hooks) = match &measured.commit {
        Some(CommitOutcome::Made { id, branch, hooks }) => {
            (Some(id.clone()), branch.clone(), hooks.clone())
        }
        _ => (None, None, None),
    };
    let hook_changes = all_hook_changes(state, &id, hooks.as_ref());
    let end = AttemptEnd {
        attempt,
        evidence: proof.summary(),
        files: measured.files,
        out_of_scope: measured
            .out_of_scope
            .into_iter()
            .filter(|file| {
                hook_changes
                    .as_ref()
                    .is_none_or(|changes| !changes.files.contains(file))
            })
            .collect(),
        missing: measured.missing,
        changed_check_files: measured.changed_check_files,
        note: measured.note,
        test_digests: measured.test_digests,
        tree: measured.tree,
        unfinished: measured.unfinished,
        commit,
        branch,
        judges: measured.judges,
        foreign_commits: foreign.into_iter().map(|stray| stray.commit).collect(),
        hook_changes,
        needed_ignored: measured.needed_ignored,
        judge_notes: measured.judge_notes,
        refusal: None,
        without_work: measured.without_work,
        snapshot: None,
    };
    let fault = find_forbidden_change(state, task, &end, &measured.tampered, &stray_commits)
        .or_else(|| proof.find_fault(state, task, &end, hooks.as_ref(), &measured.left_out))
        .or_else(|| find_commit_fault(measured.commit, &end));
    match fault {
        Some(fault) => events.extend(fault.events(state, task, end)),
        None if needs_verdict(state, task) => {
            let claim = claim_event(state, task, measured.evidence_ids, &proof, end)?;
            events.push(claim);
        }
        None if proof.wanted.is_empty() => {
            let evidence = evidence_rules::unproved_reason(&state.plan, task);
            let end = AttemptEnd { evidence, ..end };
            events.push(EventKind::TaskUnverified { task: id, end });
        }
        None => {
            let words =
                task_counterfactual::describe(&end.without_work).map(|words| format!("; {words}"));
            let evidence = format!("{}{}", end.evidence, words.unwrap_or_default());
            let end = AttemptEnd { evidence, ..end };
            events.push(EventKind::TaskPassed { task: id, end });
        }
    }
    Ok(events)
}

/// A reason why an attempt does not pass; the texts are evidence.
enum AttemptFault {
    OutOfScope(String),
    Failed(String),
    /// A check needs this program.
    NotRunnable(String),
    CommitRefused {
        refusal: CommitRefusal,
        kept: Option<String>,
    },
}

impl AttemptFault {
    fn events(self, state: &RunState, task: &Task, end: AttemptEnd) -> Vec<EventKind> {
        match self {
            Self::OutOfScope(evidence) => vec![EventKind::TaskFailed {
                task: task.id.clone(),
                is_final: true,
                end: AttemptEnd { evidence, ..end },
            }],
            Self::Failed(evidence) => failure_events(task, AttemptEnd { evidence, ..end }, state),
            Self::NotRunnable(program) => {
                not_runnable_events(state, task.id.clone(), end.attempt, program).into()
            }
            Self::CommitRefused { refusal, kept } => {
                refused_commit_events(state, task, refusal, kept, end)
            }
        }
    }
}

/// The first change that an attempt must not make: to a never-touch list, to protected files, or by a stray commit.
fn find_forbidden_change(
    state: &RunState,
    task: &Task,
    end: &AttemptEnd,
    tampered: &[String],
    stray_commits: &[StrayCommit],
) -> Option<AttemptFault> {
    let committed = stray_commits.iter().flat_map(|stray| &stray.files);
    if let Some(evidence) = scope_violation(state, task, end.files.iter().chain(committed)) {
        return Some(AttemptFault::OutOfScope(evidence));
    }
    if !tampered.is_empty() {
        return Some(AttemptFault::Failed(format!(
            "changed what it must not change: {}",
            sanitize(&tampered.join(", "), MAX_REASON_CHARS)
        )));
    }
    stray_commit_reason(task, stray_commits, state).map(AttemptFault::Failed)
}

fn find_commit_fault(commit: Option<CommitOutcome>, end: &AttemptEnd) -> Option<AttemptFault> {
    match commit? {
        CommitOutcome::Refused { refusal, kept } => {
            Some(AttemptFault::CommitRefused { refusal, kept })
        }
        commit => missing_commit(&commit, end).map(AttemptFault::Failed),
    }
}

/// The checks that prove a task, and those outcomes of an attempt that are of one of them.
struct ProvingOutcomes<'a> {
    wanted: Vec<&'a TaskCheck>,
    /// With the check's position among the wanted ones.
    ran: Vec<(usize, &'a (TaskCheck, TaskCheckOutcome))>,
}

impl<'a> ProvingOutcomes<'a> {
    fn new(task: &'a Task, outcomes: &'a [(TaskCheck, TaskCheckOutcome)]) -> Self {
        let wanted: Vec<&TaskCheck> = task.proving_checks().collect();
        let ran = outcomes
            .iter()
            .filter_map(|ran| Some((wanted.iter().position(|check| **check == ran.0)?, ran)))
            .collect();
        Self { wanted, ran }
    }

    fn events(&self, task: &str, attempt: u32) -> impl Iterator<Item = EventKind> {
        self.ran
            .iter()
            .map(move |(position, (check, outcome))| EventKind::CheckRan {
                task: task.to_owned(),
                attempt,
                position: *position,
                command: check.command.clone(),
                outcome: outcome.clone(),
            })
    }

    /// Every wanted check ran, and no run was red: several green runs of one check do not stand for another.
    fn is_green(&self) -> bool {
        self.wanted
            .iter()
            .all(|check| self.ran.iter().any(|(_, (ran, _))| ran == *check))
            && self.ran.iter().all(|(_, (_, outcome))| outcome.is_green())
    }

    fn find_fault(
        &self,
        state: &RunState,
        task: &Task,
        end: &AttemptEnd,
        hooks: Option<&HookChanges>,
        left_out: &[String],
    ) -> Option<AttemptFault> {
        let mut outcomes = self.ran.iter().map(|(_, (_, outcome))| outcome);
        if let Some(program) = outcomes.find_map(missing_program) {
            return Some(AttemptFault::NotRunnable(program));
        }
        // Checks of missing tests fail, too, and would be taken for the expected failure.
        if task.kind == TaskKind::Tests && !end.missing.is_empty() {
            let evidence = format!("the tests are not there: {}", end.missing.join(", "));
            return Some(AttemptFault::Failed(evidence));
        }
        if !self.is_green() {
            let word = state.plan.dialect.unit_word();
            return Some(AttemptFault::Failed(match (hooks, left_out) {
                (Some(hooks), _) => changed_commit_reason(hooks, end),
                (None, []) => end.evidence.clone(),
                (None, left_out) => incomplete_commit_reason(left_out, word, &end.evidence),
            }));
        }
        task_counterfactual::unproved_implementation(&state.plan, task, &end.without_work)
            .map(AttemptFault::Failed)
    }

    fn summary(&self) -> String {
        if self.ran.is_empty() {
            return "its checks were not run".to_owned();
        }
        let red = self
            .ran
            .iter()
            .find(|(_, (_, outcome))| !outcome.is_green());
        let shown = red.map_or(&*self.ran, slice::from_ref).iter();
        let texts: Vec<String> = shown
            .map(|(_, (check, outcome))| outcome_text(check, outcome))
            .collect();
        texts.join("; ")
    }
}

fn not_runnable_events(
    state: &RunState,
    task: String,
    attempt: u32,
    missing: String,
) -> [EventKind; 2] {
    let reason = format!("its check could not be run: {missing}");
    let held = EventKind::TaskHeld {
        task: task.clone(),
        attempt,
        reason,
        is_pause: false,
    };
    let question = build_question(state, QuestionKind::CheckNotRunnable { task, missing });
    [held, EventKind::QuestionOpened { question }]
}

fn missing_program(outcome: &TaskCheckOutcome) -> Option<String> {
    match &outcome.verdict {
        TaskCheckVerdict::Environment { command } => {
            Some(command.clone().unwrap_or_else(|| outcome.detail.clone()))
        }
        _ => None,
    }
}

/// The fault of checks that are red without the files left out of the commit; folders end with `/`.
fn incomplete_commit_reason(left_out: &[String], unit_word: &str, evidence: &str) -> String {
    let (folders, files): (Vec<String>, Vec<String>) = left_out
        .iter()
        .cloned()
        .partition(|path| path.ends_with('/'));
    let unlisted = format!(
        "{}, which the {unit_word} does not list",
        name_files(&files)
    );
    let empty = format!(
        "{}, an empty folder, which git does not keep",
        name_files(&folders)
    );
    let lacks = [(files, unlisted), (folders, empty)]
        .into_iter()
        .filter(|(paths, _)| !paths.is_empty());
    let lacks: Vec<String> = lacks.map(|(_, words)| words).collect();
    format!(
        "its commit would lack {}, and without that {evidence}",
        lacks.join(", and ")
    )
}

fn all_hook_changes(
    state: &RunState,
    task: &str,
    now: Option<&HookChanges>,
) -> Option<HookChanges> {
    let earlier = state
        .tasks
        .get(task)
        .and_then(|task| task.last_end.as_ref()?.hook_changes.as_ref());
    let files: BTreeSet<String> = now
        .into_iter()
        .chain(earlier)
        .flat_map(|known| known.files.clone())
        .collect();
    let unjudged = now.and_then(|now| now.unjudged.clone());
    (!files.is_empty()).then(|| HookChanges {
        files: files.into_iter().collect(),
        unjudged,
    })
}

fn changed_commit_reason(hooks: &HookChanges, end: &AttemptEnd) -> String {
    let (files, commit) = (
        name_files(&hooks.files),
        short_commit(end.commit.as_deref().unwrap_or_default()),
    );
    format!(
        "hooks of the repository changed {files} in its commit {commit}, which stays, and on that {}",
        end.evidence
    )
}

fn needs_verdict(state: &RunState, task: &Task) -> bool {
    state.is_task_list() && !task.criteria.is_empty()
}

fn claim_event(
    state: &RunState,
    task: &Task,
    evidence_ids: Vec<String>,
    proof: &ProvingOutcomes,
    end: AttemptEnd,
) -> Result<EventKind, VerbRefusal> {
    let word = state.plan.dialect.unit_word();
    evidence_rules::check_worker_evidence(state, &task.id, &evidence_ids).map_err(|why| {
        let message = format!("{word} {} has criteria that no command decides, and nothing shows them: {why}", task.id);
        let hint = "`omo agent evidence run --ticket … -- COMMAND` runs one and prints its id, `omo agent done --ticket … --evidence e1` names it";
        VerbRefusal::precondition(message, hint)
    })?;
    let named = state
        .evidence
        .iter()
        .filter(|known| evidence_ids.contains(&known.id));
    let named = named.map(|known| {
        format!(
            "{} `{}`",
            known.id,
            sanitize(&known.command, 120).replace('`', "'")
        )
    });
    let checked = (!proof.ran.is_empty()).then(|| proof.summary());
    let parts: Vec<String> = checked.into_iter().chain(named).collect();
    let end = AttemptEnd {
        evidence: parts.join("; "),
        ..end
    };
    Ok(EventKind::TaskClaimed {
        task: task.id.clone(),
        evidence_ids,
        end,
    })
}

fn outcome_text(check: &TaskCheck, outcome: &TaskCheckOutcome) -> String {
    let reason = outcome.printed.reason().filter(|_| !outcome.is_green());
    let reason = reason
        .map(|reason| format!(": {}", sanitize(reason, 160)))
        .unwrap_or_default();
    let command = sanitize(&check.command, 120).replace('`', "'");
    format!("`{command}` {}{reason}", sanitize(outcome.describe(), 160))
}

/// The fault of changes in a never-touch list. No attempt follows: such a worker is not sent back without a person.
pub(super) fn scope_violation<'f>(
    state: &RunState,
    task: &Task,
    mut files: impl Iterator<Item = &'f String>,
) -> Option<String> {
    let of_group = state
        .plan
        .group_of(&task.id)
        .map(|(_, group)| group.never_touch.as_slice())
        .unwrap_or_default();
    let never = PlannedPaths::new(task.never_touch.iter().chain(of_group).map(String::as_str));
    let file = sanitize(files.find(|file| never.covers(file))?, 200);
    Some(format!(
        "SCOPE VIOLATION: Step {} changed {file} which is in the never-touch list.",
        task.id
    ))
}

/// The fault of commits with unlisted files: the user's branch would get them, even if a later commit removes them.
fn stray_commit_reason(task: &Task, stray: &[StrayCommit], state: &RunState) -> Option<String> {
    let StrayCommit { commit, files, .. } = stray.first()?;
    let (commit, word) = (short_commit(commit), state.plan.dialect.unit_word());
    let more = stray.len() - 1;
    let more = if more == 0 {
        String::new()
    } else {
        format!(", and {more} more such commits")
    };
    Some(format!(
        "commit {commit} holds {}, which {word} {} does not list{more}; take it out of the branch, not with another commit \
         but with `git reset --soft {commit}~1`",
        name_files(files),
        task.id
    ))
}

fn name_files(files: &[String]) -> String {
    let shown: Vec<String> = files
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|file| sanitize(file, 100))
        .collect();
    let more = files.len() - shown.len();
    let more = if more == 0 {
        String::new()
    } else {
        format!(" and {more} more files")
    };
    format!("{}{more}", shown.join(", "))
}

/// The fault of green work without a commit, which would be lost with its work tree.
fn missing_commit(commit: &CommitOutcome, end: &AttemptEnd) -> Option<String> {
    match commit {
        // A refusal becomes `TaskCommitRefused`.
        CommitOutcome::Made { .. } | CommitOutcome::Refused { .. } => None,
        CommitOutcome::HoldsUnlisted { files } => {
            let files = sanitize(&files.join(", "), MAX_REASON_CHARS);
            Some(format!(
                "its commit was refused: it holds what the step does not name: {files}"
            ))
        }
        CommitOutcome::Unchecked { why } => Some(format!(
            "its commit could not be checked: {}",
            sanitize(why, MAX_REASON_CHARS)
        )),
        CommitOutcome::Nothing => {
            let own_files: Vec<&str> = end
                .files
                .iter()
                .filter(|file| !end.out_of_scope.contains(file))
                .map(String::as_str)
                .collect();
            let shown = sanitize(&own_files.join(", "), MAX_REASON_CHARS);
            (!own_files.is_empty())
                .then(|| format!("there was nothing to commit, and it has changed {shown}"))
        }
    }
}

/// Events of a refused commit. A fault in the work goes back to its worker once, while attempts are left; any other is
/// a question to the user, and uses up no attempt. No changes are reverted.
fn refused_commit_events(
    state: &RunState,
    task: &Task,
    refusal: CommitRefusal,
    kept: Option<String>,
    end: AttemptEnd,
) -> Vec<EventKind> {
    let is_repeated = state
        .tasks
        .get(&task.id)
        .is_some_and(|task| task.is_refused_as(&refusal));
    let is_of_the_work = refusal.is_of_the_work(&end.files) && !is_repeated;
    let evidence = format!(
        "its commit was refused: {}",
        sanitize(&refusal.to_string(), MAX_REASON_CHARS)
    );
    let end = AttemptEnd {
        evidence,
        refusal: Some(refusal),
        ..end
    };
    let failed = failure_events(task, end.clone(), state);
    if is_of_the_work
        && matches!(
            failed.as_slice(),
            [EventKind::TaskFailed {
                is_final: false,
                ..
            }]
        )
    {
        return failed;
    }
    vec![EventKind::TaskCommitRefused {
        task: task.id.clone(),
        kept,
        end,
    }]
}
