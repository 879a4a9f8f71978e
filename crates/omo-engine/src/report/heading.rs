//! The words that head every report of a run: whether it goes on, and how it ended. They are decided here, for every mode
//! and every format, and "Complete" alone is said only where each task has passed.

use omo_core::text::sanitize;
use omo_plan::model::{PlannedState, Task};
use omo_view::run_view::RunEnd;

use crate::event::RunResult;
use crate::outcome::FinalChecksResult;
use crate::parallel_state::GroupStatus;
use crate::report::findings::branch_words;
use crate::report::workers::worker_name;
use crate::request::part;
use crate::state::{RunPhase, RunState, TaskStanding, TaskStatus};

/// The heading of a report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeading {
    /// In short.
    pub kind: RunEnd,
    /// In words, such as `Complete, 2 of 5 tasks unproved` or `Failed at task 2`.
    pub text: String,
}

/// What heads the reports of a run.
pub fn run_heading(state: &RunState) -> RunHeading {
    let heading = |kind, text: &str| RunHeading { kind, text: text.to_owned() };
    match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => heading(RunEnd::Waiting, "Waiting for you"),
        RunPhase::Executing => heading(RunEnd::Running, "Running"),
        RunPhase::Cancelled { .. } => heading(RunEnd::Cancelled, "Cancelled"),
        RunPhase::Ended { result } => ended_heading(state, *result),
    }
}

fn ended_heading(state: &RunState, result: RunResult) -> RunHeading {
    let tasks = TaskTally::count(state);
    let word = state.plan.dialect.unit_word();
    let failure = failed_part(state, &tasks);
    let (kind, text) = if let Some(failure) = failure {
        (RunEnd::Failed, failure)
    } else if tasks.undone > 0 {
        let skipped = if tasks.skipped > 0 { format!(", {} skipped", tasks.skipped) } else { String::new() };
        let text = format!("Incomplete: {} of {} {word}s done{skipped}", tasks.total - tasks.undone, tasks.total);
        (RunEnd::Incomplete, text)
    } else if state.is_outside_branch() {
        (RunEnd::Incomplete, "Incomplete: not in your branch".to_owned())
    } else if tasks.unproved > 0 {
        let reviewed = if tasks.is_reviewed { ", reviewed" } else { "" };
        (RunEnd::Unproved, format!("Complete, {} of {} {word}s unproved{reviewed}", tasks.unproved, tasks.total))
    } else if FinalChecksResult::for_run(state) == FinalChecksResult::Skipped {
        (RunEnd::Unproved, "Complete, the whole unproved".to_owned())
    } else if result == RunResult::Failed {
        (RunEnd::Failed, "Failed".to_owned())
    } else if tasks.judged > 0 {
        let text = format!("Complete, {} of {} {word}s judged by the verifier", tasks.judged, tasks.total);
        (RunEnd::Complete, text)
    } else {
        (RunEnd::Complete, "Complete".to_owned())
    };
    let elsewhere = state.missing_commits.iter().find_map(|missing| Some((&missing.holder, missing.lacking.as_ref()?)));
    let elsewhere = elsewhere.filter(|_| matches!(kind, RunEnd::Complete | RunEnd::Unproved));
    let elsewhere = elsewhere.map(|(holder, lacking)| {
        format!(", but on {}, not on {} where it began", branch_words(holder), branch_words(lacking))
    });
    RunHeading { kind, text: text + &elsewhere.unwrap_or_default() }
}

/// How many of the tasks that were asked for stand how; what verifies the others is none of them.
#[derive(Default)]
struct TaskTally<'a> {
    total: usize,
    failed: Vec<&'a Task>,
    undone: usize,
    skipped: usize,
    unproved: usize,
    judged: usize,
    /// A reviewer has judged the whole, what is unproved included.
    is_reviewed: bool,
}

impl<'a> TaskTally<'a> {
    fn count(state: &'a RunState) -> Self {
        let is_judged = state
            .plan
            .verification_task()
            .is_some_and(|task| state.standing(&task.id) == Some(TaskStanding::Is(TaskStatus::Passed)));
        let mut tally = Self { is_reviewed: is_judged, ..Self::default() };
        let tasks = match state.scope {
            Some(scope) => part::selected_tasks(&state.plan, scope.selection),
            None => state.plan.tasks.iter().collect(),
        };
        for task in tasks.into_iter().filter(|task| !task.is_verification()) {
            tally.total += 1;
            match state.standing(&task.id).unwrap_or(TaskStanding::Is(TaskStatus::Pending)) {
                TaskStanding::Is(TaskStatus::Passed) => {}
                TaskStanding::Is(TaskStatus::Failed) => {
                    tally.failed.push(task);
                    tally.undone += 1;
                }
                TaskStanding::Is(TaskStatus::Claimed) if is_judged => tally.judged += 1,
                TaskStanding::Is(TaskStatus::Unverified | TaskStatus::Claimed) => tally.unproved += 1,
                TaskStanding::Is(TaskStatus::Skipped) => {
                    tally.skipped += 1;
                    tally.undone += usize::from(task.state != PlannedState::LeftOut);
                }
                TaskStanding::Is(TaskStatus::Pending | TaskStatus::Running | TaskStatus::Held)
                | TaskStanding::Blocked { .. } => tally.undone += 1,
            }
        }
        tally
    }
}

/// What has failed of a run that has ended; `None` where nothing has.
fn failed_part(state: &RunState, tasks: &TaskTally<'_>) -> Option<String> {
    if let Some((first, more)) = tasks.failed.split_first() {
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        return Some(format!("Failed at {} {}{more}", state.plan.dialect.unit_word(), sanitize(&first.id, 64)));
    }
    let has_failed = |status| matches!(status, GroupStatus::Failed | GroupStatus::InConflict);
    let group = state.parallel.as_ref().and_then(|parallel| {
        let failed = |id: &String| parallel.groups.get(id).is_some_and(|known| has_failed(known.status));
        state.plan.groups.iter().find(|group| failed(&group.id))
    });
    if let Some(group) = group {
        return Some(format!("Failed at {}", worker_name(&group.id).to_lowercase()));
    }
    let verifier = state.plan.verification_task().and_then(|task| state.standing(&task.id));
    match () {
        () if verifier == Some(TaskStanding::Is(TaskStatus::Failed)) => Some("Failed at the verification".to_owned()),
        () if FinalChecksResult::for_run(state) == FinalChecksResult::Fail => {
            Some("Failed at a check of the whole".to_owned())
        }
        () => None,
    }
}
