//! Parts of a hook's work, each with its source files.

/// Everything of no part below: the start and the end of a process in the C library and in Rust's own.
pub(crate) const START: &str = "start and end of the process";

/// Parts in the order of a hook's life, with paths of source files. Work of other crates, and of our files that are
/// named nowhere here, counts for the calling file.
pub(crate) const PARTS: [(&str, &[&str]); 10] = [
    (
        "environment, settings",
        &[
            "omo-state/src/env.rs",
            "omo-state/src/config.rs",
            "omo-state/src/config/check_toml.rs",
        ],
    ),
    (
        "reading stdin",
        &[
            "omo-claude/src/hook_input/stdin.rs",
            "omo-claude/src/hook_input/json_end.rs",
            "omo-claude/src/platform",
        ],
    ),
    ("parsing the input", &["omo-claude/src/hook_input.rs"]),
    (
        "reading the prompt or message",
        &[
            "omo-core/src/keyword",
            "omo-core/src/prompt.rs",
            "omo-core/src/text/masked_text.rs",
            "omo-core/src/promise.rs",
            "omo-core/src/prompt/ulw_arguments.rs",
        ],
    ),
    (
        "files and lock",
        &[
            "omo-state/src/files/folder.rs",
            "omo-state/src/files/lock.rs",
            "omo-state/src/platform",
            "omo-state/src/project_root.rs",
            "omo-state/src/files/regular_file.rs",
        ],
    ),
    (
        "state",
        &[
            "omo-state/src/state.rs",
            "omo-state/src/state/document.rs",
            "omo-state/src/json_object.rs",
            "omo-state/src/seal.rs",
            "omo-core/src/session.rs",
        ],
    ),
    ("transcript", &["omo-state/src/transcript"]),
    (
        "deciding",
        &[
            "omo-hooks/src/",
            "omo-process/src/watchdog.rs",
            "omo-core/src/stop.rs",
            "omo-core/src/stop/claim.rs",
            "omo-core/src/limits.rs",
            "omo-core/src/check",
        ],
    ),
    (
        "decision log",
        &["omo-state/src/decision_log.rs", "omo-core/src/log_entry.rs"],
    ),
    (
        "wording and printing",
        &[
            "omo-core/src/messages",
            "omo-core/src/text.rs",
            "omo-claude/src/hook_output.rs",
        ],
    ),
];

/// Index of a file's part. The longest matching path decides, so that a folder can be named beside a file of it.
pub(crate) fn of(file: &str) -> Option<usize> {
    let fits = |paths: &[&str]| {
        paths
            .iter()
            .filter(|path| file.contains(*path))
            .map(|path| path.len())
            .max()
    };
    let parts = PARTS
        .iter()
        .enumerate()
        .filter_map(|(part, (_, paths))| Some((fits(paths)?, part)));
    // The allocator is there, and its cost belongs to the part that allocates.
    parts
        .filter(|_| !file.ends_with("omo-process/src/lib.rs"))
        .max()
        .map(|(_, part)| part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_stands_for_the_part_that_names_it_most_closely() {
        let name = |file| of(file).map(|part| PARTS[part].0);
        assert_eq!(
            name("/x/crates/omo-claude/src/hook_input/stdin.rs"),
            Some("reading stdin")
        );
        assert_eq!(name("/x/crates/omo-hooks/src/stop.rs"), Some("deciding"));
        assert_eq!(
            name("/x/crates/omo-core/src/keyword/mask.rs"),
            Some("reading the prompt or message")
        );
        assert_eq!(name("/x/crates/omo-process/src/lib.rs"), None);
        assert_eq!(name("/rustc/1/library/core/src/str/mod.rs"), None);
    }

    #[test]
    fn every_path_is_one_of_the_repository() {
        let crates = crate::cargo::top().unwrap().join("crates");
        for path in PARTS.iter().flat_map(|(_, paths)| paths.iter()) {
            let there = crates.join(path).exists() || crates.join(format!("{path}.rs")).exists();
            assert!(there, "{path}");
        }
    }
}
