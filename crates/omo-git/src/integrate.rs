//! Merges of groups' branches, and the result on the user's branch. Merging touches no checkout ([`preview_merge`],
//! [`make_commit`] after [`CommitHooks`]); only [`land`] changes what the user has checked out, wholly or not at all.

mod error;
mod facts;
mod journal;
pub mod land;
mod links;
mod merge;
mod one_file;
mod references;
mod steps;
mod user_commit;

pub use error::LandError;
pub use facts::{
    AbsentBranch, CheckoutFacts, CheckoutHead, EditFacts, UnfinishedOperation, checkout_bytes,
    checkout_head, count_commits_since, find_absent_branch, ignored_paths, read_checkout_facts,
    read_edit_facts, uncommitted_paths,
};
pub use land::{LandOutcome, has_unsettled_landing, land, settle_last_landing};
pub use links::links_leading_out;
pub use merge::{MergeError, MergePreview, preview_merge};
pub use one_file::{CommittedFile, committed_file, tree_with_file};
pub use references::{
    amended_commits, has_common_history, holds_commit, keep_commit, later_commit, release_kept,
};
pub use user_commit::{CommitDraft, CommitHooks, make_commit, unsigned_commits};
