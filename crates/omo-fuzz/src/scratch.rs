//! Files for code that reads only files, written anew for each input.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::Path;

use tempfile::TempDir;

thread_local! {
    #[expect(clippy::expect_used, reason = "without a folder nothing can be tried")]
    static FOLDER: TempDir = tempfile::tempdir().expect("make a temporary folder");
}

/// Calls `read` with a folder that has one file of these bytes.
pub(crate) fn with_file<T>(name: &str, bytes: &[u8], read: impl FnOnce(&Path) -> T) -> T {
    FOLDER.with(|folder| {
        let written = write(&folder.path().join(name), bytes);
        assert!(written.is_ok(), "{written:?}");
        read(folder.path())
    })
}

/// Overwrites, and cuts at the end: a file that is emptied first is written to the disk by some systems when it is
/// closed, which is a hundred times as slow.
fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)
}
