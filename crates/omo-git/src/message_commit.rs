//! Messages to other machines, each a commit without a parent that holds one file.

use crate::kept_work::make_commit;
use crate::repository::{GitFailed, GitRepository, trimmed_line};

const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Id of a new commit with one file, to which no reference points.
pub fn write_message(
    repository: &GitRepository,
    file: &str,
    bytes: &[u8],
) -> Result<String, GitFailed> {
    let object = repository.write_blob(bytes)?;
    let entry = format!("100644 blob {object}\t{file}\0");
    let tree = trimmed_line(&repository.git_with(&["mktree", "-z"], &[], entry.as_bytes())?);
    // Without the user's identity: the commit is never part of the user's history.
    make_commit(repository, &tree, &[], file)
}

/// Bytes of the file; `None` where it is missing or longer than `MAX_BYTES`.
pub fn read_message(
    repository: &GitRepository,
    commit: &str,
    file: &str,
) -> Result<Option<Vec<u8>>, GitFailed> {
    let object = format!("{commit}:{file}");
    let (status, output) = repository.status_and_output(&["cat-file", "-s", &object])?;
    let size = trimmed_line(&output)
        .parse::<u64>()
        .ok()
        .filter(|size| status == 0 && *size <= MAX_BYTES);
    if size.is_none() {
        return Ok(None);
    }
    let (status, output) = repository.status_and_output(&["cat-file", "blob", &object])?;
    Ok((status == 0).then_some(output))
}
