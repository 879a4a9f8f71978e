//! Runs of plans: the ledger that says what happened, and the files that each way of writing plans
//! names, which are made from it.
//!
//! All that is read here may be hostile, and nothing that was written is lost: an answer is given
//! when what it says is on the disk.

pub mod apart;
pub mod dev_workflow;
pub mod engine;
mod error;
pub mod import;
pub mod ledger;
mod letters;
pub mod place;
pub mod projection;
mod run;
mod runs;
pub mod session_store;
pub mod snapshot;
pub mod task_session;
mod ticket;
pub mod ultra;

pub use error::{RunStoreError, TransactError};
pub use run::{ExclusiveGuard, Run};
pub use runs::{ListedRun, RunStore};
pub use ticket::{Ticket, new_ticket};
