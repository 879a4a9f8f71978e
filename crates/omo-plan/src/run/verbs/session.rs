//! What only a run of a task session knows: commands that show something, a verdict on the whole, and tasks that
//! come later.

use super::{Caller, Refusal};
use crate::model::Unit;
use crate::run::event::{Evidence, Verdict, What};
use crate::run::state::RunState;

/// A command was run by the worker that has this ticket, to show something. Its id is given here.
///
/// # Errors
///
/// As [`super::of_ticket`].
pub fn evidence(_state: &RunState, _ticket: &str, _evidence: Evidence) -> Result<What, Refusal> {
    unreachable!()
}

/// Why a verdict that all is done does not count as things stand, for whoever gives it: a task that is not done,
/// evidence that is not there, was red, or that nobody has run since the verification began. Nothing where it does.
pub fn refuses(_state: &RunState, _ticket: &str, _verdict: &Verdict) -> Option<String> {
    unreachable!()
}

/// Whoever verifies the whole judges it.
///
/// # Errors
///
/// It is not the verifier's ticket; it says that all is done where [`refuses`] tells why not; it says that it is
/// not, and names nothing that is to be done again.
pub fn verdict(_state: &RunState, _ticket: &str, _verdict: Verdict) -> Result<Vec<What>, Refusal> {
    unreachable!()
}

/// A task that the plan did not have is to be done too.
///
/// # Errors
///
/// The run has ended or is of a plan file, the id is taken, or it waits for what is not there.
pub fn add_unit(_state: &RunState, _caller: &Caller, _unit: Unit) -> Result<What, Refusal> {
    unreachable!()
}
