//! Symbolic links that lead out of the repository.

use crate::folder_path::LINK;
use crate::git_output::lossy_text;
use crate::kept_work::changed_entries;
use crate::repository::{GitFailed, GitRepository};

/// Further links of one change are taken for ones that lead out.
const MAX_READ: usize = 200;

/// The links that a commit or tree has and another one has not, and whose target lies outside of the files of the
/// repository or may: each by its path, with its target.
///
/// # Errors
///
/// git cannot compare the two.
pub fn links_leading_out(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<Vec<(String, String)>, GitFailed> {
    let mut found = Vec::new();
    let changed = changed_entries(repository, from, to)?.into_iter();
    let links = changed.filter_map(|changed| {
        Some((
            changed.path.0,
            changed.after.filter(|it| it.mode == LINK)?.object,
        ))
    });
    for (number, (path, object)) in links.enumerate() {
        let read = || repository.blob(&object).ok();
        let target = (number < MAX_READ).then(read).flatten();
        if target
            .as_ref()
            .is_none_or(|target| leads_out(&path, target))
        {
            let [path, target] =
                [path, target.unwrap_or_else(|| b"?".to_vec())].map(|text| lossy_text(&text));
            found.push((path, target));
        }
    }
    Ok(found)
}

/// A folder that the target names may be a link itself: what lies above that is not known. What git keeps is no file of
/// the repository.
fn leads_out(link: &[u8], target: &[u8]) -> bool {
    let is_separator = |byte: &u8| matches!(byte, b'/' | b'\\');
    let parts = || {
        target
            .split(is_separator)
            .filter(|part| !matches!(*part, b"" | b"."))
    };
    let folders = link.split(|byte| *byte == b'/').count().saturating_sub(1);
    let ups = parts().take_while(|part| *part == b"..").count();
    let is_whole = target.first().is_some_and(is_separator)
        || matches!(target, [drive, b':', ..] if drive.is_ascii_alphabetic());
    is_whole
        || ups > folders
        || parts().skip(ups).any(|part| part == b"..")
        || parts().any(|part| part.eq_ignore_ascii_case(b".git"))
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
