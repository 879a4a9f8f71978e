//! `WorkerKeeper`: restarts a missing supervisor while a run is watched.

use omo_engine::event::EventActor;
use omo_engine::schedule::{self, NextAction};
use omo_engine::state::RunState;
use omo_engine::work::Engine;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::parallel_workers::cleanup::clean_up;
use crate::parallel_workers::supervisor;

const MAX_STARTS: u32 = 3;

pub(crate) fn can_continue(state: &RunState) -> bool {
    matches!(
        schedule::next_action(state),
        NextAction::Parallel(_) | NextAction::FinalChecks
    )
}

pub(crate) struct WorkerKeeper<'a> {
    context: &'a CommandContext<'a>,
    engine: &'a Engine<'a>,
    holder: &'a EventActor,
    starts: u32,
    seq: u64,
}

impl<'a> WorkerKeeper<'a> {
    pub(crate) fn new(
        context: &'a CommandContext<'a>,
        engine: &'a Engine<'a>,
        holder: &'a EventActor,
    ) -> Self {
        Self {
            context,
            engine,
            holder,
            starts: 0,
            seq: 0,
        }
    }

    /// Starts a missing supervisor, at most [`MAX_STARTS`] times without progress.
    pub(crate) fn keep_going(&mut self, state: &RunState) -> Result<(), CommandError> {
        let run = self.engine.run;
        if !can_continue(state) || run.is_supervised()? {
            return Ok(());
        }
        let has_moved = std::mem::replace(&mut self.seq, state.seq) != state.seq;
        self.starts = if has_moved { 1 } else { self.starts + 1 };
        if self.starts > MAX_STARTS {
            let why = supervisor::last_complaint(run);
            return Err(CommandError::io(
                format!("the workers cannot be started:\n{why}"),
                "`omo run cancel` ends the run; nothing of it is lost",
            ));
        }
        supervisor::ensure_supervisor(self.context, run)
    }

    pub(crate) fn close(&self, state: &RunState) -> Result<(), CommandError> {
        if schedule::next_action(state) == NextAction::Over {
            clean_up(self.engine)?;
        }
        self.context
            .note_in_session(self.engine.run, self.holder, state);
        Ok(())
    }
}
