//! What the test targets beside this file share.
#![cfg(unix)]
#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

pub mod apart;
pub mod clone;
pub mod executed;
pub mod holder;
pub mod judged;
pub mod orphan;
pub mod planned;
pub mod pretended_cargo;
pub mod processes;
pub mod snapshot;
pub mod stage;
pub mod stepped;
