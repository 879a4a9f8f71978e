//! The real git, in repositories of every kind.

mod tree;
mod worktree;
