//! `pick_mode`: the mode in which a plan is executed.

use omo_engine::execution_mode::ExecutionMode;
use omo_engine::modes::choose;
use omo_engine::request::arguments::PlanSelection;
use omo_engine::request::part::requested_strategy;
use omo_plan::model::Plan;

use crate::error::CommandError;
use crate::execute::continue_run::known_run_line;
use crate::execute::known_run::KnownRun;
use crate::execute::refusals::other_mode_error;
use crate::execute::request::{ExecuteCommand, ExecuteRequest};

pub(crate) struct PickedMode {
    pub mode: ExecutionMode,
    pub explanation: Option<String>,
    /// Chosen by the plan alone: no option, command or earlier run names a mode.
    pub is_own_choice: bool,
}

impl PickedMode {
    fn given(mode: ExecutionMode, explanation: Option<String>) -> Self {
        Self {
            mode,
            explanation,
            is_own_choice: false,
        }
    }
}

/// Mode of the open run, of an option, of the command, or of the plan, in this order.
pub(crate) fn pick_mode(
    request: &ExecuteRequest,
    known: &KnownRun,
    plan: &Plan,
) -> Result<PickedMode, CommandError> {
    let (command, scope) = (request.command, &request.scope);
    if command == ExecuteCommand::ExecuteLocal {
        let in_sessions = requested_strategy(plan, scope).starts_clients();
        let mode = if in_sessions {
            ExecutionMode::Parallel
        } else {
            ExecutionMode::StepByStep
        };
        return Ok(PickedMode::given(mode, None));
    }
    let says_mode = command == ExecuteCommand::Execute;
    let is_part = scope.selection != PlanSelection::Whole || scope.is_foreground;
    let named = request
        .mode
        .or(is_part.then_some(ExecutionMode::StepByStep));
    // `--resume` also considers the last ended run, in the named mode if there is one.
    let ended = if scope.is_resume { known.ended() } else { &[] };
    let resumed = ended
        .iter()
        .find(|(_, state)| named.is_none_or(|mode| mode == state.mode))
        .or(ended.first());
    let is_kept = says_mode && !request.again && !scope.is_dry_run;
    let cut_short = known
        .cut_short()
        .filter(|(_, state)| is_kept && named.is_none_or(|mode| mode == state.mode));
    match (
        known
            .open_run_of(&plan.source.path)
            .or(resumed)
            .or(cut_short),
        named,
        command,
    ) {
        (Some((id, state)), Some(mode), _) if mode != state.mode => {
            Err(other_mode_error(id, state))
        }
        (Some((_, state)), ..) => Ok(PickedMode::given(
            state.mode,
            says_mode.then(|| known_run_line(state)),
        )),
        (None, Some(mode), _) => {
            let line = format!("{}: run {}, as you asked", plan.source.path, mode.words());
            Ok(PickedMode::given(mode, says_mode.then_some(line)))
        }
        (None, None, ExecuteCommand::ExecutePlan) => {
            Ok(PickedMode::given(ExecutionMode::Batches, None))
        }
        (None, None, ExecuteCommand::UlwExec) => Ok(PickedMode::given(ExecutionMode::Waves, None)),
        (None, None, ExecuteCommand::Execute | ExecuteCommand::ExecuteLocal) => {
            let choice = choose(plan);
            Ok(PickedMode {
                mode: choice.mode,
                explanation: Some(choice.line(&plan.source.path)),
                is_own_choice: true,
            })
        }
    }
}
