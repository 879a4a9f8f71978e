//! Properties of any bytes that omo reads and did not write: one function for each kind.
//!
//! Each takes bytes and panics where a promise of omo's does not hold for them. The targets in `fuzz/` pass generated
//! inputs, the tests of this crate the kept corpus, so that a past finding stays fixed. The expected result is
//! computed in another way than in the product, and never with the product's own help.

#![expect(
    clippy::missing_panics_doc,
    reason = "to panic is what all of this is for"
)]

pub mod hook_input;
pub mod ledger;
pub mod omo_toml;
pub mod own_words;
pub mod plan_file;
pub mod plan_readers;
pub mod plan_write_back;
pub mod prompt_text;
pub mod runner_output;
mod scratch;
pub mod state_file;
pub mod transcript_tail;

/// A function of the bytes of one input.
pub type Target = fn(&[u8]);

/// Targets by name, which is that of `fuzz/corpus/NAME` too.
pub const TARGETS: [(&str, Target); 10] = [
    ("hook_input", hook_input::check),
    ("ledger", ledger::check),
    ("omo_toml", omo_toml::check),
    ("plan_file", plan_file::check),
    ("plan_readers", plan_readers::check),
    ("plan_write_back", plan_write_back::check),
    ("prompt_text", prompt_text::check),
    ("runner_output", runner_output::check),
    ("state_file", state_file::check),
    ("transcript_tail", transcript_tail::check),
];
