//! Patches of commits, as `git diff-tree` prints them.

use std::collections::BTreeMap;

use crate::repository::{GitFailed, GitRepository, is_object_name};

const MAX_BYTES: usize = 256 * 1024;
/// Arguments for a plain patch: git runs no program of the repository's settings or attributes.
pub(crate) const PATCH_ARGUMENTS: [&str; 15] = [
    "-c",
    "diff.suppressBlankEmpty=false",
    // Names of other languages stay as they are.
    "-c",
    "core.quotePath=false",
    "diff-tree",
    "--stdin",
    "--root",
    "-r",
    "--patch",
    "--no-renames",
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--src-prefix=a/",
    "--dst-prefix=b/",
];

/// Patch of each commit, by its id; a missing commit or a merge has none.
pub fn commit_differences<'a>(
    repository: &GitRepository,
    commits: impl IntoIterator<Item = &'a str>,
) -> Result<BTreeMap<String, String>, GitFailed> {
    let asked: String = commits
        .into_iter()
        .filter(|id| is_object_name(id))
        .flat_map(|id| [id, "\n"])
        .collect();
    if asked.is_empty() {
        return Ok(BTreeMap::new());
    }
    let output = repository.git_with(&PATCH_ARGUMENTS, &[], asked.as_bytes())?;
    Ok(split_by_header(
        &String::from_utf8_lossy(&output),
        is_object_name,
    ))
}

/// Splits output of git at lines that name an object; lines of a difference have a sign before them.
pub(crate) fn split_by_header(
    output: &str,
    is_header: impl Fn(&str) -> bool,
) -> BTreeMap<String, String> {
    let mut differences: BTreeMap<String, String> = BTreeMap::new();
    let mut current = None;
    for line in output.split_inclusive('\n') {
        if is_header(line.trim_end_matches('\n')) {
            current = Some(
                differences
                    .entry(line.trim_end_matches('\n').to_owned())
                    .or_default(),
            );
        } else if let Some(text) = current.as_mut().filter(|text| text.len() < MAX_BYTES) {
            text.push_str(line);
        }
    }
    differences
}

/// Parts of a difference by file; content of a file has a sign before it.
pub(crate) fn split_patches(patch: &[u8]) -> Vec<&[u8]> {
    let (mut begins, mut at) = (Vec::new(), 0);
    for line in patch.split_inclusive(|byte| *byte == b'\n') {
        if line.starts_with(b"diff --git ") {
            begins.push(at);
        }
        at += line.len();
    }
    begins.push(patch.len());
    begins
        .windows(2)
        .filter_map(|pair| patch.get(*pair.first()?..*pair.last()?))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git_command::git;

    #[test]
    fn each_commit_has_its_own_difference() {
        let folder = tempfile::tempdir().unwrap();
        let top = folder.path();
        let run = |arguments: &[&str]| {
            let settings = ["-c", "user.name=a", "-c", "user.email=a@b"];
            let output = git(top, &[settings.as_slice(), arguments].concat(), &[], &[]).unwrap();
            String::from_utf8(output).unwrap().trim().to_owned()
        };
        run(&["init", "-q"]);
        let other = "a".repeat(40);
        let commit = |text: &str| {
            std::fs::write(top.join("file"), text).unwrap();
            run(&["add", "file"]);
            run(&["commit", "-q", "-m", "one"]);
            run(&["rev-parse", "HEAD"])
        };
        let first = commit("one\n");
        // A line of a file that looks as git's own.
        let second = commit(&format!("{first}\n"));
        let repository = GitRepository::find(top).unwrap();
        let found =
            commit_differences(&repository, [&*first, &second, &other, "--output=x"]).unwrap();
        assert_eq!(found.keys().collect::<Vec<_>>().len(), 2);
        assert!(
            found[&first].contains("\n+one\n") && !found[&first].contains("\n-one\n"),
            "{found:?}"
        );
        assert!(
            found[&second].contains(&format!("\n-one\n+{first}\n")),
            "{found:?}"
        );
        assert!(!top.join("x").exists());
        assert_eq!(
            commit_differences(&repository, []).unwrap(),
            BTreeMap::new()
        );
    }

    #[test]
    fn a_large_difference_is_cut() {
        let id = "b".repeat(40);
        let output = format!("{id}\n{}", "+1234567\n".repeat(MAX_BYTES / 4));
        let found = split_by_header(&output, is_object_name);
        assert!(found[&id].len() >= MAX_BYTES && found[&id].len() < MAX_BYTES + 9);
    }
}
