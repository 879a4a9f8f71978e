//! `LandingFiles`: record of a landing, which moves a checkout to another commit; an interrupted one is finished from it.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use omo_process::platform::working_below;

use crate::index_lock::{IndexLock, POLL_INTERVAL, is_abandoned, remove_file};

const JOURNAL: &str = "omo-landing";
const INDEX: &str = "omo-landing-index";
const COMPARED: &str = "omo-landing-compared";
/// Maximum wait for a git that outlived its omo; one that runs longer is another program's.
const LAST_GIT: Duration = Duration::from_secs(10);
/// Maximum wait for the lock of the index: a git of an editor or a prompt holds it for a moment.
const LOCK_WAIT: Duration = Duration::from_secs(3);

#[derive(Clone, Debug)]
pub(super) struct LandingFiles {
    folder: PathBuf,
}

impl LandingFiles {
    pub(super) fn new(git_folder: &Path) -> Self {
        Self {
            folder: git_folder.to_owned(),
        }
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

    fn journal(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    pub(super) fn begun_landing(&self) -> Option<[String; 2]> {
        let text = fs::read_to_string(self.journal()).ok()?;
        let mut words = text.split_whitespace().map(str::to_owned);
        Some([words.next()?, words.next()?])
    }

    /// Waits for a git that a killed omo may have left at work, and removes the locks of omo's two indexes.
    /// `is_moving`: the branch lock shows that such a git may still move the branch.
    pub(super) fn wait_for_last_git(
        &self,
        top: &Path,
        is_moving: impl Fn() -> bool,
    ) -> std::io::Result<()> {
        let locks = [INDEX, COMPARED].map(|index| self.folder.join(format!("{index}.lock")));
        let deadline = Instant::now() + LAST_GIT;
        while (is_moving() || locks.iter().any(|lock| lock.exists()))
            && !working_below(top).is_empty()
            && Instant::now() < deadline
        {
            std::thread::sleep(POLL_INTERVAL);
        }
        locks.iter().try_for_each(|lock| remove_file(lock))
    }

    pub(super) fn record_landing(&self, from: &str, to: &str) -> std::io::Result<()> {
        let part = self.folder.join("omo-landing-part");
        let mut file = fs::File::create(&part)?;
        file.write_all(format!("{from}\n{to}\n").as_bytes())?;
        file.sync_all()?;
        fs::rename(part, self.journal())
    }

    pub(super) fn forget_landing(&self) -> std::io::Result<()> {
        let indexes = [INDEX, COMPARED]
            .into_iter()
            .flat_map(|index| [index.to_owned(), format!("{index}.lock")]);
        indexes
            .map(|name| self.folder.join(name))
            .chain([self.journal()])
            .try_for_each(|file| remove_file(&file))
    }

    /// `None` while another process holds git's lock of the index.
    pub(super) fn take_lock(&self) -> std::io::Result<Option<IndexLock>> {
        IndexLock::take(&self.folder, LOCK_WAIT)
    }

    pub(super) fn is_lock_abandoned(&self) -> bool {
        is_abandoned(&self.folder)
    }
}
