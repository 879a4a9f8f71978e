//! `RunEvent`: a line of the ledger.

use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::{EventActor, EventKind};

/// One event, as it stands in the ledger.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunEvent {
    /// Number, from `1`, without gaps.
    pub seq: u64,
    /// Time of writing.
    pub ts: Timestamp,
    /// The cause of the event.
    pub actor: EventActor,
    /// The kind of the event.
    #[serde(flatten)]
    pub kind: EventKind,
}
