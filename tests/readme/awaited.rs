//! Commands that the pages name already and that are not there yet. Each must go from here once it is.

pub const OMO: [&str; 3] = ["doctor", "setup", "statusline"];
pub const SLASH: [&str; 1] = ["statusline"];
pub const TASKS: [&str; 3] = ["install", "dist", "check-targets"];
