//! Symbolic links that lead out of the repository.

use std::ffi::OsStr;

use crate::kept_work::changed_entries;
use crate::repository::{GitFailed, GitRepository};

/// Mode of a symbolic link in a tree of git.
const LINK: &str = "120000";

/// The links that a commit or tree has and another one has not, and whose target lies outside of the repository or may:
/// each by its path.
///
/// # Errors
///
/// git cannot read one of both.
pub fn links_leading_out(repository: &GitRepository, from: &str, to: &str) -> Result<Vec<String>, GitFailed> {
    let mut found = Vec::new();
    for changed in changed_entries(repository, from, to)? {
        let Some(link) = changed.after.filter(|entry| entry.mode == LINK) else { continue };
        let target = repository.git_with(&["cat-file", "blob", &link.object], &[] as &[(&str, &OsStr)], &[])?;
        if leads_out(&changed.path.0, &target) {
            found.push(String::from_utf8_lossy(&changed.path.0).into_owned());
        }
    }
    Ok(found)
}

/// Folders that the target names may be links themselves: only those around the link count against its `..`.
fn leads_out(link: &[u8], target: &[u8]) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
    let folders = link.split(is_separator).count().saturating_sub(1);
    let ups = target.split(is_separator).filter(|part| *part == b"..").count();
    target.first().is_some_and(is_separator) || target.get(1) == Some(&b':') || ups > folders
}

#[cfg(test)]
mod tests {
    use super::leads_out;

    #[test]
    fn a_link_leads_out_by_its_target() {
        for (link, target, expected) in [
            ("a", "b", false),
            ("a", "b/c/d", false),
            ("a/b", "../c", false),
            ("a/b/c", "../../d", false),
            ("a", "..", true),
            ("a", "../b", true),
            ("a/b", "../../c", true),
            ("a", "/etc/passwd", true),
            ("a", "C:/x", true),
            ("a", "\\\\host\\x", true),
            ("a/b", "..\\..\\c", true),
            // Where `b` is a link to the top, its parent is the folder around the repository.
            ("a", "b/..", true),
            ("a", "...", false),
            ("a", "", false),
        ] {
            assert_eq!(leads_out(link.as_bytes(), target.as_bytes()), expected, "{link} -> {target}");
        }
    }
}
