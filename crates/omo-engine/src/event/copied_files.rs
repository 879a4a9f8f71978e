//! Copies of files that no commit can keep, made before the removal of their work tree.

use std::collections::BTreeMap;
use std::fmt;

use omo_core::text::{list_some, sanitize};
use serde::{Deserialize, Serialize};

const MAX_NAMES: usize = 3;

/// Copies of ignored files, and of repositories nested in a work tree that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CopiedFiles {
    pub folder: String,
    /// Their paths below `folder`.
    pub files: Vec<String>,
}

/// One line for people, such as `.env, cache/, which no commit holds: kept in /p/.git/omo/kept`.
impl fmt::Display for CopiedFiles {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut by_top: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for file in &self.files {
            by_top
                .entry(file.split('/').next().unwrap_or(file))
                .or_default()
                .push(file);
        }
        let names = by_top.into_iter().map(|(top, files)| match files[..] {
            [file] => sanitize(file, 100),
            _ => format!("{}/", sanitize(top, 100)),
        });
        let names: Vec<String> = names.collect();
        let names = list_some(names.iter().map(String::as_str), MAX_NAMES);
        write!(
            out,
            "{names}, which no commit holds: kept in {}",
            sanitize(&self.folder, 300)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_one_folder_are_named_by_it() {
        let files = [".env", "a/x", "inner/.git/index", "inner/b", "z"]
            .map(str::to_owned)
            .to_vec();
        let copied = CopiedFiles {
            folder: "/kept".to_owned(),
            files,
        };
        assert_eq!(
            copied.to_string(),
            ".env, a/x, inner/ and 1 more, which no commit holds: kept in /kept"
        );
    }
}
