//! Hostile files, ids, streams and limits, against the real hook binaries and the real `omo`.
//!
//! Whatever stands in a path or in a file: nothing outside of omo's own folders is written and
//! nothing of a stranger's file is shown, nothing hangs, the memory stays below 16 MiB, a hook
//! exits 0 with nothing or one whole answer, and no block is given that is not counted.
// With devices, and with pipes of a known size, which other systems have not.
#![cfg(target_os = "linux")]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

mod files;
mod hostile_calls;
mod ids;
mod impostors;
mod paths;
mod program_run;
mod state;
mod statusline;
mod streams;
mod surroundings;
