//! Snapshots: a ledger's folded state as a cache, sealed so that no other program can forge it.

use omo_state::seal::SealKey;
use omo_state::sealed_json;
use serde::{Deserialize, Serialize};

use crate::ledger::LedgerPosition;
use crate::state::RunState;

/// Format version. A snapshot of another version is not used.
const VERSION: u32 = 2;

#[derive(Serialize)]
struct Written<'a> {
    snapshot: u32,
    run: &'a str,
    offset: u64,
    prev: &'a str,
    state: &'a RunState,
}

#[derive(Deserialize)]
struct Read {
    snapshot: u32,
    run: String,
    offset: u64,
    prev: String,
    state: RunState,
}

/// The text of a snapshot: its seal, and on the next line the sealed text.
pub fn write(
    run: &str,
    end: &LedgerPosition,
    state: &RunState,
    key: &SealKey,
) -> serde_json::Result<Vec<u8>> {
    let written = Written {
        snapshot: VERSION,
        run,
        offset: end.offset,
        prev: &end.prev,
        state,
    };
    sealed_json::write(key, "", &written)
}

/// The position and the state of a snapshot; `None` where the text is no snapshot of this run.
pub fn read(text: &[u8], run: &str, key: &SealKey) -> Option<(LedgerPosition, RunState)> {
    let read: Read = sealed_json::read(key, "", text)?;
    let is_ours = read.snapshot == VERSION && read.run == run;
    let position = LedgerPosition {
        offset: read.offset,
        seq: read.state.seq,
        prev: read.prev,
    };
    is_ours.then_some((position, read.state))
}
