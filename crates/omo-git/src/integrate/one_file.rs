//! Reads one file of a commit, or replaces it in a new tree, without a checkout.

use std::path::Path;

use super::merge::{MergeError, require_commits};
use crate::git_output::parts;
use crate::private_index::PrivateIndex;
use crate::repository::{GitFailed, GitRepository, is_object_name};

/// A regular file of a commit, with the mode `100644` or `100755`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFile {
    /// Path from the top of the work tree, with `/`.
    pub path: String,
    /// Content as the repository stores it.
    pub bytes: Vec<u8>,
    mode: String,
}

/// File of `commit` at a path from the top; `None` for a missing file, or a link.
pub fn committed_file(
    repository: &GitRepository,
    commit: &str,
    path: &str,
) -> Result<Option<CommittedFile>, GitFailed> {
    let listing = ["ls-tree", "-z", "--full-tree", commit, "--", path];
    if !is_object_name(commit) {
        return Err(repository.failure_of(&listing));
    }
    let listed = repository.git(&listing)?;
    // `<mode> <kind> <object>`, a tab, and the path.
    let entry = parts(&listed).find_map(|entry| {
        let (about, name) = std::str::from_utf8(entry).ok()?.split_once('\t')?;
        let [mode, "blob", object] = about.split(' ').collect::<Vec<_>>()[..] else {
            return None;
        };
        (name == path && mode.starts_with("100")).then(|| (mode.to_owned(), object.to_owned()))
    });
    let Some((mode, object)) = entry else {
        return Ok(None);
    };
    let bytes = repository.blob(&object)?;
    Ok(Some(CommittedFile {
        path: path.to_owned(),
        bytes,
        mode,
    }))
}

/// Id of a tree as of `tip` with `file` replaced; `index` is a free path for a temporary index.
pub fn tree_with_file(
    repository: &GitRepository,
    tip: &str,
    file: &CommittedFile,
    index: &Path,
) -> Result<String, MergeError> {
    if !is_object_name(tip) {
        return Err(MergeError::NoCommit {
            commit: tip.to_owned(),
        });
    }
    let object = repository.write_blob(&file.bytes)?;
    let entry = format!("{} {object}\t{}\0", file.mode, file.path);
    let made = PrivateIndex::new(repository, index.to_owned()).tree_with(
        tip,
        &["--index-info"],
        entry.as_bytes(),
    );
    require_commits(repository, &[tip], made)
}
