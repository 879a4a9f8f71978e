//! `RunEvent`: one line of a run's ledger, with its number, time and actor.

use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EventActor, EventKind};

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Number, from `1`, without gaps.
    pub seq: u64,
    pub ts: Timestamp,
    pub actor: EventActor,
    #[serde(flatten)]
    pub kind: EventKind,
}
