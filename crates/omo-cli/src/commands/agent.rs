//! What agents and the client itself call while a plan is made or run.

pub(crate) mod attempt;
pub(crate) mod brief;
pub(crate) mod done;
pub(crate) mod evidence;
pub(crate) mod fail;
pub(crate) mod fence;
pub(crate) mod next;
pub(crate) mod open;
pub(crate) mod start;
pub(crate) mod supervise;
pub(crate) mod verdict;
pub(crate) mod workers;
