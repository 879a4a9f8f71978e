//! Restores files that git stores in another form, such as git-lfs pointers: without them a check
//! would fail on the side without the change for that reason alone.
//!
//! Contents come from the work tree or the store of git-lfs; nothing is fetched, no filter runs.

use std::collections::BTreeSet;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use omo_git::base_comparison::{BaseChoice, BaseComparison};
use omo_git::repository::GitRepository;
use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use sha2::{Digest, Sha256};

use crate::proof_request::ProofRequest;

const MAX_POINTER_BYTES: u64 = 1024;
const POINTER_START: &str = "version https://git-lfs.github.com/spec/v1\n";

#[derive(Debug, Default)]
pub(crate) struct StoredFiles {
    pub(crate) same: BTreeSet<PathBuf>,
    /// Files whose old form is unknown.
    pub(crate) unknown: Vec<PathBuf>,
}

impl StoredFiles {
    /// Replaces pointers on the side without the change; the result lists those that are left.
    ///
    /// # Errors
    ///
    /// A file that cannot be written.
    pub(crate) fn restore(
        request: &ProofRequest,
        comparison: &BaseComparison,
        base_paths: &[&Path],
        (with, without): (&Path, &Path),
    ) -> io::Result<Self> {
        let mut files = Self::default();
        let was_there = base_paths
            .iter()
            .copied()
            .filter(|path| without.join(path).symlink_metadata().is_ok());
        let converted = GitRepository::find(comparison.top())
            .map(|repository| repository.converted_paths(was_there));
        let converted = converted
            .transpose()
            .map_err(io::Error::other)?
            .unwrap_or_default();
        for path in &converted.crlf {
            end_lines_with_crlf(&without.join(path), request.time)?;
        }
        // The start of a run or an attempt was recorded from the work tree, but for line ends.
        if matches!(
            request.base,
            BaseChoice::Recorded { .. } | BaseChoice::Attempt { .. }
        ) {
            return Ok(files);
        }
        files.unknown.extend(converted.unknown);
        let kept = GitWorktree::at(comparison.top()).map(|tree| tree.common.join("lfs/objects"));
        for path in base_paths {
            let (now, then) = (with.join(path), without.join(path));
            let Some(digest) = read_pointer(&then) else {
                continue;
            };
            if read_pointer(&now).is_some() {
                // Without git-lfs both sides have pointers.
                continue;
            }
            let object = kept.as_ref().and_then(|kept| {
                Some(
                    kept.join(digest.get(..2)?)
                        .join(digest.get(2..4)?)
                        .join(&digest),
                )
            });
            if has_digest(&now, &digest) {
                replace(&then, &now, request.time)?;
                files.same.insert(path.to_path_buf());
            } else if let Some(object) = object.filter(|object| has_digest(object, &digest)) {
                replace(&then, &object, request.time)?;
            } else {
                files.unknown.push(path.to_path_buf());
            }
        }
        Ok(files)
    }
}

/// SHA-256 in a pointer file of git-lfs.
fn read_pointer(path: &Path) -> Option<String> {
    let mut text = String::new();
    let file = regular_file::open_unlinked(path).ok()??;
    file.take(MAX_POINTER_BYTES + 1)
        .read_to_string(&mut text)
        .ok()?;
    if text.len() as u64 > MAX_POINTER_BYTES || !text.starts_with(POINTER_START) {
        return None;
    }
    let digest = text
        .lines()
        .find_map(|line| line.strip_prefix("oid sha256:"))?;
    let is_digest = digest.len() == 64 && digest.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_digest.then(|| digest.to_owned())
}

fn has_digest(path: &Path, digest: &str) -> bool {
    let Ok(Some(mut file)) = regular_file::open_unlinked(path) else {
        return false;
    };
    let (mut hasher, mut buffer) = (Sha256::new(), vec![0; 64 * 1024]);
    loop {
        match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => hasher.update(buffer.get(..count).unwrap_or_default()),
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => return false,
        }
    }
    let bytes = hasher.finalize();
    bytes.iter().enumerate().all(|(at, byte)| {
        let named = digest.get(2 * at..2 * at + 2);
        named.and_then(|hex| u8::from_str_radix(hex, 16).ok()) == Some(*byte)
    })
}

/// Converts line ends as a checkout does; a file with CR or NUL stays, as in git.
fn end_lines_with_crlf(file: &Path, time: SystemTime) -> io::Result<()> {
    let Some(mut from) = regular_file::open_unlinked(file)? else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    from.read_to_end(&mut bytes)?;
    if bytes.iter().any(|byte| matches!(byte, b'\r' | 0)) {
        return Ok(());
    }
    let mut to = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)?;
    for line in bytes.split_inclusive(|byte| *byte == b'\n') {
        match line.strip_suffix(b"\n") {
            Some(line) => to.write_all(&[line, b"\r\n"].concat())?,
            None => to.write_all(line)?,
        }
    }
    to.set_modified(time)
}

fn replace(file: &Path, content: &Path, time: SystemTime) -> io::Result<()> {
    let mut from = regular_file::open_unlinked(content)?.ok_or(io::ErrorKind::NotFound)?;
    let mut to = fs::OpenOptions::new()
        .write(true)
        .truncate(true)
        .open(file)?;
    io::copy(&mut from, &mut to)?;
    to.set_modified(time)
}
