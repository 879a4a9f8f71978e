//! Runs one check under a keeper, a helper process that ends the check with all that it started.

use std::ffi::OsString;
use std::fs::File;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use omo_core::check::session_check::CheckEnd;
use omo_core::check::task_check::HeardOutput;
use omo_core::check::test_report::TestReport;
use omo_state::seal::SealKey;

use crate::child_command::child_command;
use crate::keeper::{KEEPER_ARGUMENT, KeeperReport, KeeperSpec, TaskCheckSpec, read_report};
use crate::platform::{hide_memory, own_program, start_own_group};

const ASK_EVERY: Duration = Duration::from_millis(100);
/// Time of a keeper to end, beyond its check's.
const SLACK: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub struct CommandJob {
    pub run: String,
    pub folder: PathBuf,
    /// Maximum duration.
    pub timeout: Duration,
    /// Time to put things back after an interruption; zero for a command that is asked to end at once.
    pub interrupt_grace: Duration,
    /// Whole environment of the check: nothing is inherited.
    pub variables: Vec<(OsString, OsString)>,
    pub log: Option<File>,
    pub check: Option<TaskCheckSpec>,
}

/// Result of a check that has ended, or is no longer wanted.
#[derive(Debug)]
pub struct CommandOutcome {
    /// `None` where it was no longer wanted.
    pub end: Option<CheckEnd>,
    pub tests: TestReport,
    /// Last bytes of the output.
    pub tail: String,
    pub heard: HeardOutput,
    pub took: Duration,
}

/// Runs a check to its end. Once `is_wanted` returns `false`, all of the check is ended.
pub fn run(job: CommandJob, mut is_wanted: impl FnMut() -> bool) -> CommandOutcome {
    let start = Instant::now();
    let (timeout, slack) = (job.timeout, SLACK + job.interrupt_grace);
    let report = match KeeperProcess::start(job) {
        Err(error) => Some(KeeperReport {
            not_started: Some(format!("cannot be started: {error}")),
            ..KeeperReport::default()
        }),
        Ok(mut keeper) => keeper.wait(start + timeout + slack, &mut is_wanted),
    };
    let end = report.as_ref().map(|report| end_of_report(report, timeout));
    let KeeperReport {
        tests, tail, heard, ..
    } = report.unwrap_or_default();
    CommandOutcome {
        end,
        tests,
        tail,
        heard: heard.unwrap_or_default(),
        took: start.elapsed(),
    }
}

fn end_of_report(report: &KeeperReport, timeout: Duration) -> CheckEnd {
    match (
        &report.not_started,
        report.timed_out,
        report.status,
        report.signal,
    ) {
        (Some(why), ..) => CheckEnd::NotStarted(why.clone()),
        (None, true, ..) => CheckEnd::TimedOut(timeout.as_secs()),
        (None, false, Some(status), _) => CheckEnd::Exited(status),
        (None, false, None, signal) => CheckEnd::Killed(signal.unwrap_or(0)),
    }
}

struct KeeperProcess {
    process: Child,
    answer: Receiver<Vec<u8>>,
    key: SealKey,
    slack: Duration,
}

impl KeeperProcess {
    fn start(job: CommandJob) -> std::io::Result<Self> {
        let key = SealKey::random().map_err(std::io::Error::other)?;
        hide_memory();
        let mut command = child_command(own_program()?, job.variables);
        command.arg(KEEPER_ARGUMENT);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        command.stderr(job.log.map_or_else(Stdio::null, Stdio::from));
        // Not in the hook's own group, which the client ends as a whole.
        start_own_group(&mut command);
        let mut process = command.spawn()?;
        let [timeout_millis, interrupt_millis] = [job.timeout, job.interrupt_grace]
            .map(|time| u64::try_from(time.as_millis()).unwrap_or(u64::MAX));
        let spec = KeeperSpec {
            run: job.run,
            folder: job.folder,
            timeout_millis,
            interrupt_millis,
            check: job.check,
            key: key.to_text(),
        };
        let mut line = serde_json::to_vec(&spec).map_err(std::io::Error::other)?;
        line.push(b'\n');
        if let Some(stdin) = &mut process.stdin {
            stdin.write_all(&line)?;
        }
        let (sender, answer) = channel();
        if let Some(mut stdout) = process.stdout.take() {
            std::thread::spawn(move || {
                let mut bytes = Vec::new();
                let _ = stdout.read_to_end(&mut bytes);
                let _ = sender.send(bytes);
            });
        }
        Ok(Self {
            process,
            answer,
            key,
            slack: SLACK + job.interrupt_grace,
        })
    }

    fn wait(
        &mut self,
        deadline: Instant,
        is_wanted: &mut impl FnMut() -> bool,
    ) -> Option<KeeperReport> {
        loop {
            match self.answer.recv_timeout(ASK_EVERY) {
                Ok(bytes) => {
                    return Some(
                        read_report(&bytes, &self.key).unwrap_or_else(|| KeeperReport {
                            not_started: Some("its keeper died".to_owned()),
                            ..KeeperReport::default()
                        }),
                    );
                }
                Err(RecvTimeoutError::Timeout) if is_wanted() && Instant::now() < deadline => {}
                Err(RecvTimeoutError::Timeout) if Instant::now() >= deadline => {
                    return Some(KeeperReport {
                        timed_out: true,
                        ..KeeperReport::default()
                    });
                }
                Err(_) => return None,
            }
        }
    }
}

impl Drop for KeeperProcess {
    fn drop(&mut self) {
        // At the end of its `stdin` the keeper ends the check, and then itself.
        drop(self.process.stdin.take());
        let _ = self.answer.recv_timeout(self.slack);
        let _ = self.process.try_wait();
    }
}
