//! A line of the ledger.

use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EventActor, EventKind};

/// One event, as it stands in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Its number, from 1, without gaps.
    pub seq: u64,
    /// When it was written.
    pub ts: Timestamp,
    /// Who caused it.
    pub actor: EventActor,
    /// What happened.
    #[serde(flatten)]
    pub kind: EventKind,
}
