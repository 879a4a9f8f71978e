//! Proofs of changes: a check that is green with the change, and red without it.
//!
//! Both sides are run in private copies of the project. The side without the change has every file
//! as it was at the base, except for the test files, which are those of now. The decision is pure
//! ([`comparison`]); the copies and the checks are at the edge ([`private_tree`],
//! [`counterfactual`]). docs/proof.md explains it.

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
