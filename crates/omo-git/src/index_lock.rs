//! git's own `index.lock`, taken by omo: meanwhile no git process writes the index.

use std::fs::{self, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use omo_process::process_identity::{is_alive, start_mark};

pub(crate) const POLL_INTERVAL: Duration = Duration::from_millis(20);
const OWNER: &str = "omo lands ";

/// Held lock on the index, released on drop.
#[derive(Debug)]
pub(crate) struct IndexLock {
    path: PathBuf,
}

impl IndexLock {
    /// Takes the lock within `patience`; `None` while another process keeps it. A lock of a dead
    /// omo, recognizable by its content, is taken over.
    pub(crate) fn take(git_folder: &Path, patience: Duration) -> io::Result<Option<Self>> {
        let (path, last) = (lock_file(git_folder), Instant::now() + patience);
        loop {
            match make_lock(git_folder, &path) {
                Ok(()) => return Ok(Some(Self { path })),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                Err(_) if is_abandoned(git_folder) => remove_file(&path)?,
                Err(_) if Instant::now() >= last => return Ok(None),
                Err(_) => thread::sleep(POLL_INTERVAL),
            }
        }
    }
}

impl Drop for IndexLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

pub(crate) fn lock_file(git_folder: &Path) -> PathBuf {
    git_folder.join("index.lock")
}

/// Makes the lock with its content in one step: it never looks like a lock of git.
fn make_lock(git_folder: &Path, path: &Path) -> io::Result<()> {
    let pid = std::process::id();
    let part = git_folder.join(format!("omo-landing-lock-{pid}"));
    let made = fs::write(&part, owner_text(pid)).and_then(|()| match fs::hard_link(&part, path) {
        // A file system without hard links.
        Err(error) if error.kind() != ErrorKind::AlreadyExists => OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)?
            .write_all(owner_text(pid).as_bytes()),
        made => made,
    });
    remove_file(&part)?;
    made
}

pub(crate) fn is_abandoned(git_folder: &Path) -> bool {
    let text = fs::read_to_string(lock_file(git_folder)).unwrap_or_default();
    let pid = text
        .strip_prefix(OWNER)
        .and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    pid.is_some_and(|pid| {
        is_alive(pid) == Some(false) || (start_mark(pid).is_some() && owner_text(pid) != text)
    })
}

fn owner_text(pid: u32) -> String {
    format!("{OWNER}{pid} {}\n", start_mark(pid).unwrap_or_default())
}

pub(crate) fn remove_file(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
