//! What is written down before a checkout moves, so that a move that was cut short can be ended, and
//! git's lock of the index, which keeps everybody else out meanwhile.

use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omo_process::platform::working_below;
use omo_process::process_identity::{is_alive, start_mark};

const JOURNAL: &str = "omo-landing";
/// The index that is made beside the one that its user has.
const INDEX: &str = "omo-landing-index";
/// One with which files are compared.
const COMPARED: &str = "omo-landing-compared";
/// A git that outlived the omo that it worked for ends within this time; one that runs longer is another program's.
const LAST_GIT: Duration = Duration::from_secs(10);
/// How long git's own lock of the index is waited for: an editor and a prompt have git look at the checkout every now and
/// then, which takes a moment, and a person would be asked for that.
const PATIENCE: Duration = Duration::from_secs(3);
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// The files of a move, in the folder with the index that it is about.
#[derive(Clone, Debug)]
pub(super) struct LandingFiles {
    folder: PathBuf,
}

impl LandingFiles {
    pub(super) fn new(git_folder: &Path) -> Self {
        Self { folder: git_folder.to_owned() }
    }

    pub(super) fn index(&self) -> PathBuf {
        self.folder.join("index")
    }

    pub(super) fn new_index(&self) -> PathBuf {
        self.folder.join(INDEX)
    }

    pub(super) fn compared_index(&self) -> PathBuf {
        self.folder.join(COMPARED)
    }

    fn lock(&self) -> PathBuf {
        self.folder.join("index.lock")
    }

    fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    /// The move that was begun and not ended: from which commit, and to which.
    pub(super) fn begun_move(&self) -> Option<[String; 2]> {
        let text = fs::read_to_string(self.journal()).ok()?;
        let mut words = text.split_whitespace().map(str::to_owned);
        Some([words.next()?, words.next()?])
    }

    /// Waits for the git that an omo which was killed may have left at work in a checkout, and takes away the locks
    /// of one that was killed with it. They are of our own indexes, which no other program writes. `is_moving` says that
    /// it may still move the branch.
    pub(super) fn wait_for_last_git(&self, top: &Path, is_moving: impl Fn() -> bool) -> std::io::Result<()> {
        let locks = [INDEX, COMPARED].map(|index| self.folder.join(format!("{index}.lock")));
        let last = Instant::now() + LAST_GIT;
        let is_at_work = || is_moving() || locks.iter().any(|lock| lock.exists());
        while is_at_work() && !working_below(top).is_empty() && Instant::now() < last {
            std::thread::sleep(LOOK_EVERY);
        }
        locks.iter().try_for_each(|lock| remove(lock))
    }

    /// Writes down what is about to be done, in one step.
    pub(super) fn record_move(&self, from: &str, to: &str) -> std::io::Result<()> {
        let part = self.folder.join("omo-landing-part");
        let mut file = fs::File::create(&part)?;
        file.write_all(format!("{from}\n{to}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(part, self.journal())
    }

    /// Forgets the move, and what was made for it.
    pub(super) fn forget_move(&self) -> std::io::Result<()> {
        let indexes = [INDEX, COMPARED].into_iter().flat_map(|index| [index.to_owned(), format!("{index}.lock")]);
        indexes.map(|name| self.folder.join(name)).chain([self.journal()]).try_for_each(|file| remove(&file))
    }

    /// Takes git's lock of the index; `None` where another process has it, and keeps it. A lock of an omo that has
    /// ended is taken over: its content names the process.
    pub(super) fn take_lock(&self) -> std::io::Result<Option<LandingLock>> {
        let last = Instant::now() + PATIENCE;
        loop {
            match self.make_lock() {
                Ok(()) => return Ok(Some(LandingLock { path: self.lock() })),
                Err(error) if error.kind() != ErrorKind::AlreadyExists => return Err(error),
                Err(_) if Instant::now() >= last => return Ok(None),
                Err(_) if self.is_lock_abandoned() => remove(&self.lock())?,
                Err(_) => std::thread::sleep(LOOK_EVERY),
            }
        }
    }

    /// Makes the lock together with its content: at no moment is there a lock of ours that looks like one of git's.
    fn make_lock(&self) -> std::io::Result<()> {
        let pid = std::process::id();
        let part = self.folder.join(format!("omo-landing-lock-{pid}"));
        let made = fs::write(&part, owner_text(pid)).and_then(|()| match fs::hard_link(&part, self.lock()) {
            // A file system without links.
            Err(error) if error.kind() != ErrorKind::AlreadyExists => fs::OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(self.lock())?
                .write_all(owner_text(pid).as_bytes()),
            made => made,
        });
        remove(&part)?;
        made
    }

    /// Whether the lock is that of an omo that has ended.
    pub(super) fn is_lock_abandoned(&self) -> bool {
        let text = fs::read_to_string(self.lock()).unwrap_or_default();
        let pid = text.strip_prefix(OWNER).and_then(|rest| rest.split_whitespace().next()?.parse().ok());
        pid.is_some_and(|pid| is_alive(pid) == Some(false) || (start_mark(pid).is_some() && owner_text(pid) != text))
    }
}

/// git never writes this into a lock.
const OWNER: &str = "omo lands ";

fn owner_text(pid: u32) -> String {
    format!("{OWNER}{pid} {}\n", start_mark(pid).unwrap_or_default())
}

/// git's lock of the index, which is given back when this goes.
#[derive(Debug)]
pub(super) struct LandingLock {
    path: PathBuf,
}

impl Drop for LandingLock {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

fn remove(path: &Path) -> std::io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}
