//! Git work trees: the id of their files, snapshots, worktrees of parallel workers, and merges of
//! their branches. git runs with settings that no repository can choose, and its output is data.

pub mod base_comparison;
pub mod changes;
pub mod commit;
pub mod commit_conditions;
pub mod commit_difference;
pub mod commit_guard;
pub mod commit_preview;
pub mod converted_files;
pub mod difference;
pub mod exclude;
pub mod file_copier;
mod folder_path;
pub mod folder_status;
pub mod git_command;
mod git_output;
pub mod git_settings;
mod index_lock;
pub mod integrate;
pub mod kept_work;
pub mod made_folders;
pub mod message_commit;
pub mod named_files;
pub mod own_git_dir;
mod platform;
mod private_folder;
mod private_index;
pub mod proved_worktree;
pub mod recorded;
pub mod remote;
pub mod repository;
mod repository_base;
pub mod restore;
mod scope;
pub mod snapshots;
pub mod task_trailers;
pub mod tree;
mod tree_path;
pub mod user_git;
pub mod work_files;
pub mod worktree;

pub use git_command::ownership;
