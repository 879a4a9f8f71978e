//! `WorkerJobs`: workers that run on this machine under a name, to list, read and cancel.

use std::path::Path;
use std::time::{Duration, Instant};

use omo_claude::supervisor::process_state::{ProcessIdentity, end_process};
use omo_core::text::sanitize;
use omo_process::process_identity::start_mark;
use omo_state::env;
use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::{LockError, StateLock};

use super::scratch::open_top;

const FOLDER: &str = "jobs";
const MAX_NAME: usize = 100;
const RECORD: &str = ".job";
const LOCK: &str = ".lock";
const LOG: &str = ".log";
const CANCEL: &str = ".cancel";
const JOBS_LOCK: &str = "jobs";
const JOBS_WAIT: Duration = Duration::from_secs(40);
/// At this size a log is moved to `.log.1`.
const LOG_BYTES: u64 = 512 * 1024;
const RECORD_BYTES: u64 = 4 * 1024;
/// A week after its end a job is forgotten.
const KEPT_SECONDS: i64 = 7 * 24 * 60 * 60;
/// Time of a cancelled job to end its client and to push its work.
const CANCEL_WAIT: Duration = Duration::from_secs(60);
const KILLED_WAIT: Duration = Duration::from_secs(15);
const POLL_INTERVAL: Duration = Duration::from_millis(50);

#[derive(Debug, thiserror::Error)]
pub enum JobError {
    #[error(
        "a job's name has letters, digits, `-`, `.` and `_`, at least one of them, and at most {MAX_NAME}"
    )]
    Name,
    #[error("there is a job called {0} already")]
    Known(String),
    #[error("there is no job called {0}")]
    Unknown(String),
    #[error("the job {0} was asked to end, and then killed, and is there all the same")]
    Stays(String),
    #[error("{0}")]
    Folder(String),
}

impl From<FolderError> for JobError {
    fn from(error: FolderError) -> Self {
        Self::Folder(error.to_string())
    }
}

impl From<LockError> for JobError {
    fn from(error: LockError) -> Self {
        Self::Folder(error.to_string())
    }
}

/// Name of a job: letters, digits, `-`, `.` and `_`; at most `MAX_NAME` bytes.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct JobName(String);

impl JobName {
    pub fn parse(name: &str) -> Result<Self, JobError> {
        let is_plain = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_'));
        if is_plain && !name.is_empty() && name.len() <= MAX_NAME {
            Ok(Self(name.to_owned()))
        } else {
            Err(JobError::Name)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn file(&self, ending: &str) -> String {
        format!("{}{ending}", self.0)
    }
}

/// Jobs of this user below one scratch folder.
#[derive(Debug)]
pub struct WorkerJobs {
    folder: GuardedFolder,
}

impl WorkerJobs {
    /// Opens the jobs below `scratch`, and forgets old ones.
    pub fn open(scratch: &Path) -> Result<Self, JobError> {
        let jobs = Self {
            folder: open_top(scratch, &[FOLDER]).map_err(JobError::Folder)?,
        };
        jobs.forget_old();
        Ok(jobs)
    }

    /// Lock against new jobs.
    pub fn hold(&self) -> Result<StateLock, JobError> {
        Ok(StateLock::take_named(&self.folder, JOBS_LOCK, JOBS_WAIT)?)
    }

    /// `true` for a running job, and for a week after its end.
    pub fn is_known(&self, name: &JobName) -> bool {
        self.folder.contains(&name.file(RECORD))
    }

    /// Jobs by name, with `true` for running ones.
    pub fn list(&self) -> Result<Vec<(JobName, bool)>, JobError> {
        let names = self.folder.file_names("")?;
        let names = names
            .iter()
            .filter_map(|name| JobName::parse(name.strip_suffix(RECORD)?).ok());
        Ok(names
            .map(|name| (name.clone(), self.is_running(&name)))
            .collect())
    }

    /// Makes this process the job's one process, while it holds the result.
    pub fn claim(&self, name: &JobName) -> Result<RunningJob<'_>, JobError> {
        let lock = StateLock::take_named(&self.folder, &name.file(LOCK), Duration::ZERO).map_err(
            |error| match error {
                LockError::Busy(_) => JobError::Known(name.0.clone()),
                error => error.into(),
            },
        )?;
        self.folder.remove(&name.file(CANCEL))?;
        let pid = std::process::id();
        let record = serde_json::to_vec(&ProcessIdentity {
            pid,
            start: start_mark(pid),
        })
        .unwrap_or_default();
        self.folder.replace(&name.file(RECORD), &record)?;
        Ok(RunningJob {
            jobs: self,
            name: name.clone(),
            _lock: lock,
        })
    }

    /// New file for the `stderr` of a process that is to become a job.
    pub fn complaints(&self, name: &JobName) -> Result<std::fs::File, JobError> {
        Ok(self.folder.create_file(&name.file(".err"))?)
    }

    /// Complaints of a process that never became a job, whose files go.
    pub fn take_complaints(&self, name: &JobName) -> String {
        let messages = self
            .folder
            .read_end(&name.file(".err"), RECORD_BYTES)
            .ok()
            .flatten()
            .unwrap_or_default();
        for ending in [".err", LOCK] {
            let _ = self.folder.remove(&name.file(ending));
        }
        sanitize(String::from_utf8_lossy(&messages).trim(), 300)
    }

    /// Last part of a job's output.
    pub fn log(&self, name: &JobName) -> Result<Vec<u8>, JobError> {
        self.require(name)?;
        let mut text = Vec::new();
        for ending in [".log.1", LOG, ".err"] {
            text.extend(
                self.folder
                    .read_end(&name.file(ending), LOG_BYTES)?
                    .unwrap_or_default(),
            );
        }
        Ok(text)
    }

    /// Ends a job with all that it started, at last by a kill, and waits for that.
    pub fn cancel(&self, name: &JobName) -> Result<(), JobError> {
        self.require(name)?;
        if !self.is_running(name) {
            return Ok(());
        }
        self.folder.replace(&name.file(CANCEL), b"")?;
        if !self.ends_within(name, CANCEL_WAIT) {
            let record = self
                .folder
                .read(&name.file(RECORD), RECORD_BYTES)?
                .unwrap_or_default();
            if let Ok(identity) = serde_json::from_slice::<ProcessIdentity>(&record) {
                end_process(&identity);
            }
            if !self.ends_within(name, KILLED_WAIT) {
                return Err(JobError::Stays(name.0.clone()));
            }
        }
        self.folder.remove(&name.file(CANCEL))?;
        Ok(())
    }

    fn require(&self, name: &JobName) -> Result<(), JobError> {
        if self.is_known(name) {
            Ok(())
        } else {
            Err(JobError::Unknown(name.0.clone()))
        }
    }

    fn is_running(&self, name: &JobName) -> bool {
        matches!(
            StateLock::take_named(&self.folder, &name.file(LOCK), Duration::ZERO),
            Err(LockError::Busy(_))
        )
    }

    fn ends_within(&self, name: &JobName, limit: Duration) -> bool {
        let last = Instant::now() + limit;
        while self.is_running(name) {
            if Instant::now() >= last {
                return false;
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        true
    }

    fn forget_old(&self) {
        let now = env::now().as_millis() / 1_000;
        for (name, is_running) in self.list().unwrap_or_default() {
            let newest = [RECORD, LOG]
                .iter()
                .filter_map(|ending| self.folder.written_at(&name.file(ending)))
                .max();
            if is_running || newest.is_none_or(|newest| now - newest < KEPT_SECONDS) {
                continue;
            }
            for ending in [LOG, ".log.1", ".err", CANCEL, LOCK, RECORD] {
                let _ = self.folder.remove(&name.file(ending));
            }
        }
    }
}

/// The job of this process, by [`WorkerJobs::claim`].
#[derive(Debug)]
pub struct RunningJob<'j> {
    jobs: &'j WorkerJobs,
    name: JobName,
    _lock: StateLock,
}

impl RunningJob<'_> {
    /// Adds a line to the log.
    pub fn say(&self, line: &str) {
        let line = format!("{} {line}\n", env::now());
        let _ = self
            .jobs
            .folder
            .append(&self.name.file(LOG), line.as_bytes(), LOG_BYTES);
    }

    /// `true` once [`WorkerJobs::cancel`] has asked the job to end.
    pub fn is_cancelled(&self) -> bool {
        self.jobs.folder.contains(&self.name.file(CANCEL))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_plain_letters() {
        for good in ["a", ".", "..", "-", "omo-r1_2.3", &"a".repeat(100)] {
            assert!(JobName::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "",
            "a/b",
            "../x",
            "a b",
            "a\n",
            "ü",
            "a\0",
            "$(x)",
            &"a".repeat(101),
        ] {
            assert!(JobName::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_job_is_there_once_and_known_after_its_end() {
        let temp = tempfile::tempdir().unwrap();
        let jobs = WorkerJobs::open(temp.path()).unwrap();
        let name = JobName::parse("..").unwrap();
        assert!(matches!(jobs.cancel(&name), Err(JobError::Unknown(_))));
        let job = jobs.claim(&name).unwrap();
        assert!(matches!(jobs.claim(&name), Err(JobError::Known(_))));
        job.say("one");
        assert_eq!(jobs.list().unwrap(), [(name.clone(), true)]);
        drop(job);
        assert_eq!(jobs.list().unwrap(), [(name.clone(), false)]);
        assert!(jobs.is_known(&name) && jobs.cancel(&name).is_ok());
        assert!(
            String::from_utf8(jobs.log(&name).unwrap())
                .unwrap()
                .ends_with(" one\n")
        );
    }

    #[test]
    fn a_log_stays_small() {
        let temp = tempfile::tempdir().unwrap();
        let jobs = WorkerJobs::open(temp.path()).unwrap();
        let name = JobName::parse("a").unwrap();
        let job = jobs.claim(&name).unwrap();
        let line = "x".repeat(100_000);
        (0..30).for_each(|_| job.say(&line));
        assert!(jobs.log(&name).unwrap().len() < 2_000_000);
    }
}
