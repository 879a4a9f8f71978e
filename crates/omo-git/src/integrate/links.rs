//! Symbolic links that lead out of the repository.

use crate::folder_path::LINK;
use crate::git_output::lossy_text;
use crate::kept_work::changed_entries;
use crate::repository::{GitFailed, GitRepository};

/// Maximum links of a change that are read; further ones count as leading out.
const MAX_READ: usize = 200;

/// New links of `to` since `from` that lead, or may lead, out of the repository: paths and targets.
pub fn links_leading_out(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<Vec<(String, String)>, GitFailed> {
    let mut links_out = Vec::new();
    let changed = changed_entries(repository, from, to)?.into_iter();
    let links = changed.filter_map(|changed| {
        let link = changed.after.filter(|entry| entry.mode == LINK)?;
        Some((changed.path.0, link.object))
    });
    for (number, (path, object)) in links.enumerate() {
        let target = (number < MAX_READ)
            .then(|| repository.blob(&object).ok())
            .flatten();
        if target
            .as_ref()
            .is_none_or(|target| leads_out(&path, target))
        {
            let [path, target] =
                [path, target.unwrap_or_else(|| b"?".to_vec())].map(|text| lossy_text(&text));
            links_out.push((path, target));
        }
    }
    Ok(links_out)
}

/// `true` for a target outside of the repository, or in `.git`. A `..` behind a folder counts as outside: that folder
/// may be a link itself.
fn leads_out(link: &[u8], target: &[u8]) -> bool {
    let parts: Vec<&[u8]> = target
        .split(|byte| is_separator(*byte))
        .filter(|part| !matches!(*part, b"" | b"."))
        .collect();
    let folders = link.split(|byte| *byte == b'/').count().saturating_sub(1);
    let ups = parts.iter().take_while(|part| **part == b"..").count();
    let is_absolute = target.first().is_some_and(|byte| is_separator(*byte))
        || matches!(target, [drive, b':', ..] if drive.is_ascii_alphabetic());
    is_absolute
        || ups > folders
        || parts.iter().skip(ups).any(|part| *part == b"..")
        || parts.iter().any(|part| part.eq_ignore_ascii_case(b".git"))
}

fn is_separator(byte: u8) -> bool {
    matches!(byte, b'/' | b'\\')
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
            ("x/l", "d/../secret", true),
            ("a/b/c", "../x/../y", true),
            ("a\\b\\c", "../../secret", true),
            ("hooks", ".git/hooks", true),
            ("a/b", "../.GIT/config", true),
            ("a", "./b", false),
            ("a", "...", false),
            ("a", "", false),
        ] {
            assert_eq!(
                leads_out(link.as_bytes(), target.as_bytes()),
                expected,
                "{link} -> {target}"
            );
        }
    }
}
