//! Proofs of changes (`docs/proof.md`): a check proves one by passing with it and failing without.
//!
//! Both sides run in private copies ([`private_tree`], [`counterfactual`]) with the present tests.

mod added_dependencies;
mod change;
pub mod changed_judges;
pub mod claim;
pub mod claim_comparison;
pub mod comparison;
pub mod counterfactual;
mod failing_test;
pub mod failure;
pub mod hollow;
pub mod installed;
mod missing_item;
pub mod naming_words;
mod private_tree;
pub mod proof_request;
mod rust_tests;
pub mod side_outcome;
mod side_runner;
mod stored_files;
pub mod test_files;
