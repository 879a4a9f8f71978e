//! A task that comes later: of a session whose run is open it is added to that as well.

use omo_engine::state::RunState;
use omo_engine::task_list_store::RunRef;
use omo_engine::{Run, RunStore, RunStoreError, verbs};
use omo_plan::model::Task;
use omo_plan::task_list::{self, TaskFile};
use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;

/// A task that a run is to have too.
pub(crate) struct AddedTask<'a> {
    context: CommandContext<'a>,
    run: Run,
    before: RunState,
    task: Task,
}

impl<'a> AddedTask<'a> {
    /// Finds out whether it can be. Nothing is written.
    pub(crate) fn prepare(env: &'a ProcessEnv, run: &RunRef, task: &TaskFile) -> Result<Self, CommandError> {
        let context = CommandContext::find(env)?;
        let runs = RunStore::find(&run.root, Some(&context.state_home))?;
        let run = runs.ok_or_else(|| RunStoreError::NotFound(run.id.clone()))?.get(&run.id)?;
        let before = run.state()?;
        let task = task_list::task_from_file(task);
        verbs::add_task(&before, &context.caller()?, task.clone())?;
        Ok(Self { context, run, before, task })
    }

    /// Adds it.
    pub(crate) fn add(self) -> Result<(), CommandError> {
        let Self { context, run, before, task } = self;
        let state = context.engine(&run, &before)?.add_task(task)?;
        context.note_in_session(&run, &before.holder, &state);
        Ok(())
    }
}
