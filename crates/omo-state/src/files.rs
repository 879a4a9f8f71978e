//! Files: opened through no link, read within bounds, written whole.

pub mod folder;
pub mod folder_swap;
pub mod lock;
pub mod project_file;
pub mod regular_file;

pub use crate::platform::{link_folder, make_removable, may_write};
