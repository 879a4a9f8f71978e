//! Copies of files and logs that are too large for a reviewer's text, named by their digests.

use std::fmt::Write;

use omo_state::files::folder::GuardedFolder;
use omo_state::seal::hex_digest;

use super::{DiffEntry, DiffSide};
use crate::tree::ScratchTree;

const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
const MAX_BYTES: u64 = 256 * 1024 * 1024;
const MAX_FILES: usize = 1_000;

/// Writer of the copies, within bounds for their number and bytes.
#[derive(Debug, Default)]
pub struct FileVersions<'a> {
    place: Option<(&'a GuardedFolder, String)>,
    folder: Option<GuardedFolder>,
    files: usize,
    bytes: u64,
}

impl<'a> FileVersions<'a> {
    /// Writes into a new folder `name`, made for the first file; an earlier one is removed.
    pub fn create(parent: &'a GuardedFolder, name: String) -> Self {
        // A folder that cannot be removed cannot be made anew either: then nothing is written.
        let _ = parent.remove_folder(&name);
        Self {
            place: Some((parent, name)),
            ..Self::default()
        }
    }

    /// Writes nothing: files that are not wholly shown are only named.
    pub fn unwritten() -> Self {
        Self::default()
    }

    /// Writes both versions of a file, or a new one; returns a note, or `None` for too much.
    pub(super) fn write_versions(
        &mut self,
        scratch: &ScratchTree,
        entry: &DiffEntry,
    ) -> Option<String> {
        self.bytes += entry.before.bytes + entry.now.bytes;
        self.files += 1;
        let is_large = entry.before.bytes.max(entry.now.bytes) > MAX_FILE_BYTES;
        if self.place.is_none() {
            let path = entry.shown_path();
            return Some(format!(
                "\n[omo] {} has changed in more than is shown here.\n",
                path.escape_debug()
            ));
        }
        if is_large || self.bytes > MAX_BYTES || self.files > MAX_FILES {
            return None;
        }
        let path = entry.shown_path();
        let shown = path.escape_debug();
        if entry.is_new() {
            let now = self.write_version(scratch, &entry.now, &path)?;
            return Some(format!(
                "\n[omo] All of {shown} is in {now}: its rest is to be read there.\n"
            ));
        }
        let before = self.write_version(scratch, &entry.before, &path)?;
        let mut note = format!(
            "\n[omo] {shown} has changed in more than is shown here. All of it as it was when the run began: {before}\n"
        );
        if entry.status != b'D' {
            let now = self.write_version(scratch, &entry.now, &path)?;
            let _ = writeln!(
                note,
                "[omo] All of it as it is now: {now}\n[omo] Both are to be read and compared."
            );
        }
        Some(note)
    }

    fn write_version(
        &mut self,
        scratch: &ScratchTree,
        blob: &DiffSide,
        path: &str,
    ) -> Option<String> {
        self.write_copy(
            &scratch.git_with_objects(&["cat-file", "blob", &blob.name], &[])?,
            path,
        )
    }

    /// Path of a written copy of a file's content.
    pub fn write_copy(&mut self, content: &[u8], path: &str) -> Option<String> {
        if self.folder.is_none() {
            let (parent, name) = self.place.as_ref()?;
            self.folder = Some(parent.empty_and_open(name).ok()?);
        }
        let digest = hex_digest(content);
        let file = path.rsplit('/').next().unwrap_or_default();
        let file: String = file
            .chars()
            .filter(|letter| letter.is_ascii_alphanumeric() || matches!(letter, '.' | '-' | '_'))
            .take(NAME_CHARS)
            .collect();
        let (folder, name) = (
            self.folder.as_ref()?,
            format!("{}-{file}", digest.get(..DIGEST_CHARS)?),
        );
        folder.replace(&name, content).ok()?;
        Some(folder.path().join(name).display().to_string())
    }
}

/// Length of the digest that the name of a copy begins with.
pub const DIGEST_CHARS: usize = 16;
const NAME_CHARS: usize = 60;
