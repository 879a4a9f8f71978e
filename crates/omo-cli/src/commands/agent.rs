//! What agents and the client itself call while a plan is made or run.

pub(crate) mod evidence;
pub(crate) mod fence;
pub(crate) mod next;
pub(crate) mod verdict;
pub(crate) mod work;
pub(crate) mod workers;
