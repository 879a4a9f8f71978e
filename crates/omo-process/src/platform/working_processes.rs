//! Linux: finds the processes that work in a folder.

use std::path::Path;

/// Live processes with a working folder here or below; those of other users are not seen.
pub fn working_below(folder: &Path) -> Vec<u32> {
    let names = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    let pids = names.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    pids.filter(|pid| {
        std::fs::read_link(format!("/proc/{pid}/cwd")).is_ok_and(|place| place.starts_with(folder))
    })
    .collect()
}
