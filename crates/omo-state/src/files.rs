//! File access that follows no symbolic links, limits reads, and replaces files whole.

pub mod folder;
pub mod folder_swap;
pub mod lock;
pub mod project_file;
pub mod regular_file;

pub use crate::platform::{link_folder, make_removable, may_write};
