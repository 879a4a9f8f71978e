//! Parsers for output of git: lists with NUL, index entries, raw differences and object contents.

use crate::tree_path::TreePath;

pub(crate) fn lossy_text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Parts of an output with NUL behind each, without empty ones.
pub(crate) fn parts(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output
        .split(|byte| *byte == 0)
        .filter(|part| !part.is_empty())
}

pub(crate) fn tree_paths(output: &[u8]) -> impl Iterator<Item = TreePath> {
    parts(output).map(|path| TreePath(path.to_vec()))
}

pub(crate) fn list(parts: impl IntoIterator<Item = impl AsRef<[u8]>>) -> Vec<u8> {
    let mut list = Vec::new();
    for part in parts {
        list.extend_from_slice(part.as_ref());
        list.push(0);
    }
    list
}

/// Folders of a list of untracked files, which end with a `/`.
pub(crate) fn folders(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    parts(output).filter_map(|path| path.strip_suffix(b"/"))
}

pub(crate) fn entries(listed: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    parts(listed).filter_map(split_entry)
}

pub(crate) fn split_entry(entry: &[u8]) -> Option<(&[u8], &[u8])> {
    let (about, path) = entry.split_at_checked(entry.iter().position(|byte| *byte == b'\t')?)?;
    Some((about, path.get(1..)?))
}

/// Contents in the output of `git cat-file --batch`; `None` for a missing object.
pub(crate) fn batch_contents(mut output: &[u8]) -> Option<Vec<Vec<u8>>> {
    let mut contents = Vec::new();
    while !output.is_empty() {
        let (head, rest) =
            output.split_at_checked(output.iter().position(|byte| *byte == b'\n')? + 1)?;
        let size = std::str::from_utf8(head)
            .ok()?
            .trim_end()
            .rsplit_once("blob ")?
            .1
            .parse::<usize>()
            .ok()?;
        let (content, rest) = rest.split_at_checked(size)?;
        contents.push(content.to_vec());
        output = rest.get(1..)?;
    }
    Some(contents)
}

pub(crate) fn submodules(listed: &[u8]) -> impl Iterator<Item = &[u8]> {
    let modules = entries(listed).filter(|(about, _)| about.starts_with(SUBMODULE.as_bytes()));
    modules.map(|(_, path)| path)
}

pub(crate) const SUBMODULE: &str = "160000";

/// Mode, such as `100755`, and object id.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct GitEntry {
    pub(crate) mode: String,
    pub(crate) object: String,
}

/// `None` in a tree that lacks the path.
pub(crate) struct ChangedEntry {
    pub(crate) path: TreePath,
    pub(crate) before: Option<GitEntry>,
    pub(crate) after: Option<GitEntry>,
}

/// Rows of `git diff-tree --raw -z`; `None` for a cut list.
pub(crate) fn parse_changes(output: &[u8]) -> Option<Vec<ChangedEntry>> {
    let mut parts = parts(output);
    let mut changed = Vec::new();
    while let Some(row) = parts.next() {
        let path = parts.next()?;
        let row = String::from_utf8_lossy(row);
        // `:MODE MODE OBJECT OBJECT LETTER`, before and after.
        let [old_mode, new_mode, old, new, _] =
            row.strip_prefix(':')?.split(' ').collect::<Vec<_>>()[..]
        else {
            return None;
        };
        changed.push(ChangedEntry {
            path: TreePath(path.to_vec()),
            before: present_entry(old_mode, old),
            after: present_entry(new_mode, new),
        });
    }
    Some(changed)
}

fn present_entry(mode: &str, object: &str) -> Option<GitEntry> {
    (mode != "000000").then(|| GitEntry {
        mode: mode.to_owned(),
        object: object.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_of_changes_is_read_to_its_end_and_a_cut_one_is_none() {
        let rows = b":000000 100644 00 aa A\0new\nline\0:100644 000000 bb 00 D\0\xff\0:100644 120000 cc dd T\0:link\0";
        let found = parse_changes(rows).unwrap();
        let shown: Vec<_> = found
            .iter()
            .map(|change| {
                (
                    change.path.0.as_slice(),
                    change.before.as_ref(),
                    change.after.as_ref(),
                )
            })
            .map(|(path, before, after)| {
                (
                    path,
                    before.map(|it| it.object.as_str()),
                    after.map(|it| it.mode.as_str()),
                )
            })
            .collect();
        let expected = [
            (b"new\nline".as_slice(), None, Some("100644")),
            (b"\xff", Some("bb"), None),
            (b":link", Some("cc"), Some("120000")),
        ];
        assert_eq!(shown, expected);
        assert_eq!(parse_changes(b"").map(|found| found.len()), Some(0));
        for cut in [
            b":000000 100644 00 aa A".as_slice(),
            b":000000 100644 00",
            b"A\0path\0",
        ] {
            assert!(parse_changes(cut).is_none());
        }
    }
}
