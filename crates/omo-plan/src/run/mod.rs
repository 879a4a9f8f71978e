//! A run of a plan: what happened (`event`), where that leaves it (`fold`, `state`, `standing`), what
//! comes next (`schedule`, `segment`, `iteration`), what each verb may do to it (`verbs`), and how its tasks are handed out (`mode`), and what is said
//! about it (`report`).
//!
//! The ledger is the truth and the state is what it folds to. A verb is a function from the state
//! to events, or to a refusal; nothing else makes events. No verb lets its caller say that a unit
//! has passed: [`verbs::judge_attempt`] takes what the verify runner measured.

pub mod apart;
pub mod event;
mod fold;
mod iteration;
pub mod mode;
mod question;
mod question_text;
pub mod report;
pub mod schedule;
pub mod segment;
mod shown;
mod standing;
pub mod state;
pub mod verbs;
