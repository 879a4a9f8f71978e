//! How much of a project is looked at while a claim is judged. What a package's scripts call is written by the model,
//! and a hook that does not end judges nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use omo_state::files::regular_file;

/// Longer lines are not read.
pub(super) const MAX_LINE_BYTES: usize = 64 * 1024;
/// Of a larger file the parts that steer a run are looked for only so far.
pub(super) const MAX_TEXT_BYTES: u64 = 4 * 1024 * 1024;
/// A larger file counts as one that cannot be read.
pub(super) const MAX_PINNED_BYTES: u64 = 256 * 1024 * 1024;

const COMMANDS: usize = 4_096;
const ENTRIES: usize = 16 * 1024;
const TEXT_BYTES: u64 = 64 * 1024 * 1024;
const PINNED_BYTES: u64 = 1024 * 1024 * 1024;

/// What is left of it.
pub(super) struct Budget {
    commands: usize,
    entries: usize,
    text_bytes: u64,
    pinned_bytes: u64,
    is_spent: bool,
}

impl Default for Budget {
    fn default() -> Self {
        let (commands, entries, text_bytes, pinned_bytes) = (COMMANDS, ENTRIES, TEXT_BYTES, PINNED_BYTES);
        Self { commands, entries, text_bytes, pinned_bytes, is_spent: false }
    }
}

impl Budget {
    /// Whether there was more to look at.
    pub(super) fn is_spent(&self) -> bool {
        self.is_spent
    }

    /// What is to be read is too much, whatever is left.
    pub(super) fn overrun(&mut self) {
        self.is_spent = true;
    }

    /// Whether one more command may be read.
    pub(super) fn take_command(&mut self) -> bool {
        let left = self.commands.checked_sub(1);
        self.commands = left.unwrap_or_default();
        self.is_within(left.is_some())
    }

    /// Whether one more file or entry of a folder may be looked at.
    pub(super) fn take_entry(&mut self) -> bool {
        let left = self.entries.checked_sub(1);
        self.entries = left.unwrap_or_default();
        self.is_within(left.is_some())
    }

    /// Whether a file of this length may be hashed.
    pub(super) fn take_pinned(&mut self, path: &Path) -> bool {
        let length = path.metadata().map_or(0, |metadata| metadata.len());
        let left = self.pinned_bytes.checked_sub(length.min(MAX_PINNED_BYTES));
        self.pinned_bytes = left.unwrap_or_default();
        self.is_within(left.is_some())
    }

    /// The beginning of a file.
    pub(super) fn read(&mut self, path: &Path) -> Option<Vec<u8>> {
        let mut bytes = Vec::new();
        let file: File = regular_file::open(path).ok()??;
        file.take(MAX_TEXT_BYTES.min(self.text_bytes)).read_to_end(&mut bytes).ok()?;
        self.text_bytes = self.text_bytes.saturating_sub(bytes.len() as u64);
        self.is_within(self.text_bytes > 0).then_some(bytes)
    }

    fn is_within(&mut self, is_within: bool) -> bool {
        self.is_spent |= !is_within;
        !self.is_spent
    }
}
