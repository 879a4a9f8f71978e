//! Heading of a run's reports, such as `Failed at task 2`; plain `Complete` stands only where each task has passed.

use omo_core::text::sanitize;
use omo_plan::model::Task;
use omo_view::run_view::{RunEnd, Standing};

use crate::event::RunResult;
use crate::outcome::FinalChecksResult;
use crate::parallel_state::GroupStatus;
use crate::report::findings::branch_words;
use crate::report::workers::worker_name;
use crate::request::part;
use crate::standing::view_standing;
use crate::state::{RunPhase, RunState, TaskStanding, TaskStatus};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunHeading {
    pub kind: RunEnd,
    /// Heading such as `Complete, 2 of 5 tasks unproved` or `Failed at task 2`.
    pub text: String,
}

pub fn run_heading(state: &RunState) -> RunHeading {
    let (kind, text) = match &state.phase {
        RunPhase::Executing if state.open_question().is_some() => {
            (RunEnd::Waiting, "Waiting for you")
        }
        RunPhase::Executing => (RunEnd::Running, "Running"),
        RunPhase::Cancelled { .. } => (RunEnd::Cancelled, "Cancelled"),
        RunPhase::Ended { result } => return ended_heading(state, *result),
    };
    RunHeading {
        kind,
        text: text.to_owned(),
    }
}

fn ended_heading(state: &RunState, result: RunResult) -> RunHeading {
    let tasks = AskedTasks::of_run(state);
    let total = tasks.0.len();
    let done = tasks.count(&[
        Standing::Passed,
        Standing::Claimed,
        Standing::Unproved,
        Standing::LeftOut,
    ]);
    let skipped = tasks.count(&[Standing::Skipped, Standing::LeftOut]);
    let claimed = tasks.count(&[Standing::Claimed]);
    let is_reviewed = state.is_reviewed();
    let judged = if is_reviewed { claimed } else { 0 };
    let unproved = tasks.count(&[Standing::Unproved]) + claimed - judged;
    let word = state.plan.dialect.unit_word();
    let failure = failed_part(state, &tasks);
    let (kind, text) = if let Some(failure) = failure {
        (RunEnd::Failed, failure)
    } else if done < total {
        let skipped = if skipped > 0 {
            format!(", {skipped} skipped")
        } else {
            String::new()
        };
        let text = format!("Incomplete: {done} of {total} {word}s done{skipped}");
        (RunEnd::Incomplete, text)
    } else if state.is_outside_branch() {
        (
            RunEnd::Incomplete,
            "Incomplete: not in your branch".to_owned(),
        )
    } else if unproved > 0 {
        let reviewed = if is_reviewed { " and reviewed" } else { "" };
        (
            RunEnd::Unproved,
            format!("Complete, {unproved} of {total} {word}s unproved{reviewed}"),
        )
    } else if FinalChecksResult::for_run(state) == FinalChecksResult::Skipped {
        (RunEnd::Unproved, "Complete, the whole unproved".to_owned())
    } else if result == RunResult::Failed {
        (RunEnd::Failed, "Failed".to_owned())
    } else if judged > 0 {
        let text = format!("Complete, {judged} of {total} {word}s judged by the verifier");
        (RunEnd::Complete, text)
    } else {
        (RunEnd::Complete, "Complete".to_owned())
    };
    let elsewhere = state
        .missing_commits
        .iter()
        .find_map(|missing| Some((&missing.holder, missing.lacking.as_ref()?)));
    let elsewhere = elsewhere.filter(|_| matches!(kind, RunEnd::Complete | RunEnd::Unproved));
    let elsewhere = elsewhere.map(|(holder, lacking)| {
        format!(
            ", but on {}, not on {} where it began",
            branch_words(holder),
            branch_words(lacking)
        )
    });
    RunHeading {
        kind,
        text: text + &elsewhere.unwrap_or_default(),
    }
}

struct AskedTasks<'a>(Vec<(&'a Task, Standing)>);

impl<'a> AskedTasks<'a> {
    fn of_run(state: &'a RunState) -> Self {
        let tasks = match state.scope {
            Some(scope) => part::selected_tasks(&state.plan, scope.selection),
            None => state.plan.tasks.iter().collect(),
        };
        Self(
            tasks
                .into_iter()
                .filter(|task| !task.is_verification())
                .filter_map(|task| Some((task, view_standing(task, &state.standing(&task.id)?))))
                .collect(),
        )
    }

    fn count(&self, wanted: &[Standing]) -> usize {
        self.0
            .iter()
            .filter(|(_, standing)| wanted.contains(standing))
            .count()
    }
}

fn failed_part(state: &RunState, tasks: &AskedTasks<'_>) -> Option<String> {
    if let Some((first, _)) = tasks
        .0
        .iter()
        .find(|(_, standing)| *standing == Standing::Failed)
    {
        let more = tasks.count(&[Standing::Failed]) - 1;
        let more = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        return Some(format!(
            "Failed at {} {}{more}",
            state.plan.dialect.unit_word(),
            sanitize(&first.id, 64)
        ));
    }
    let group = state.parallel.as_ref().and_then(|parallel| {
        state.plan.groups.iter().find(|group| {
            parallel.groups.get(&group.id).is_some_and(|group| {
                matches!(group.status, GroupStatus::Failed | GroupStatus::InConflict)
            })
        })
    });
    if let Some(group) = group {
        return Some(format!(
            "Failed at {}",
            worker_name(&group.id).to_lowercase()
        ));
    }
    let verifier = state
        .plan
        .verification_task()
        .and_then(|task| state.standing(&task.id));
    if verifier == Some(TaskStanding::Is(TaskStatus::Failed)) {
        return Some("Failed at the verification".to_owned());
    }
    (FinalChecksResult::for_run(state) == FinalChecksResult::Fail)
        .then(|| "Failed at a check of the whole".to_owned())
}
