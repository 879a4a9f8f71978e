//! Linux: which processes work in a folder.

use std::path::Path;

/// The live processes whose working folder is this one or lies below it. A process of another user
/// does not say, and is not seen.
pub fn working_below(folder: &Path) -> Vec<u32> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let works_there = |pid: &u32| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(folder))
    };
    pids.filter(works_there).collect()
}
