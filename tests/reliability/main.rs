//! What goes wrong around omo: calls that fail, processes that are killed, locks that are held,
//! clocks that jump, folders that vanish, and many processes at once. Run by `cargo xtask test`.
#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod busy_locks;
mod checkpoint;
mod concurrency;
mod fault_operations;
mod faults;
mod ledger;
mod network;
mod run_faults;
mod surroundings;
mod task_list_writers;
mod termination;
