//! The keeper: a process between omo and a check, which ends the check with all that it started
//! when it is done, when its time is up, or when omo is gone and with it the keeper's `stdin`.
//! The report is sealed with a key, which the keeper gets before the check begins: a check could
//! write into the pipe, which `/proc` shows.

use std::io::{PipeReader, PipeWriter, Read, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use omo_core::check::task_check::{HeardOutput, OutputListener};
use omo_core::check::test_report::TestReport;
use omo_core::check::test_runner::TestOutputReader;
use omo_state::seal::SealKey;
use omo_state::sealed_json;
use serde::{Deserialize, Serialize};

use crate::child_command::inheriting_command;
use crate::helper_process;
use crate::platform::{GroupEnding, Leftovers, ProcessGroup, Shell};

/// First argument of a keeper, by which [`run_if_asked`] knows it.
pub(crate) const KEEPER_ARGUMENT: &str = "--keep-check";

/// Bytes of the beginning of the output in the log.
const HEAD_BYTES: usize = 512 * 1024;
const TAIL_BYTES: usize = 512 * 1024;
/// Bytes of the end in a [`KeeperReport`].
const QUOTED_BYTES: usize = 4 * 1024;
/// Grace of a check that is asked to end: git removes its `*.lock` files in that time.
const GRACE: Duration = Duration::from_secs(1);
/// Wait for the last output once all its writers were ended.
const LAST_WORDS: Duration = Duration::from_millis(300);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct KeeperSpec {
    pub run: String,
    pub folder: PathBuf,
    pub timeout_millis: u64,
    /// Milliseconds of [`crate::job::CommandJob::interrupt_grace`].
    pub interrupt_millis: u64,
    pub check: Option<TaskCheckSpec>,
    pub key: String,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct TaskCheckSpec {
    /// The bash that runs the check with `pipefail`; `None` for the usual `Shell` of a check.
    pub bash: Option<PathBuf>,
    /// Text expected in the output.
    pub text: Option<String>,
}

#[derive(Debug, Default, Serialize, Deserialize)]
pub(crate) struct KeeperReport {
    /// `None` after a signal.
    pub status: Option<i32>,
    pub signal: Option<i32>,
    pub timed_out: bool,
    /// Reason for which the check never ran.
    pub not_started: Option<String>,
    #[serde(default)]
    pub tests: TestReport,
    /// Last bytes of the output.
    pub tail: String,
    pub heard: Option<HeardOutput>,
}

/// Runs a keeper and exits, in a process started as one: first call in the `main` of every binary that runs checks.
#[expect(
    clippy::exit,
    reason = "a keeper is a process of its own, and does nothing else"
)]
pub fn run_if_asked() {
    if helper_process::is_started_as(KEEPER_ARGUMENT) {
        run_keeper();
        std::process::exit(0);
    }
}

enum KeeperEvent {
    Ended(Option<i32>, Option<i32>),
    /// The caller has ended, or no longer needs the result.
    CallerGone,
    /// No process has the output open for writing any more.
    OutputEnded,
}

fn run_keeper() {
    let (sender, events) = channel();
    let caller_gone = sender.clone();
    let spec: Option<KeeperSpec> =
        helper_process::read_order(move || drop(caller_gone.send(KeeperEvent::CallerGone)));
    let Some(spec) = spec else { return };
    if let Some(report) = run_spec(&spec, sender, &events)
        && let Some(key) = SealKey::parse(&spec.key)
        && let Ok(mut answer) = sealed_json::write(&key, "", &report)
    {
        answer.push(b'\n');
        let _ = std::io::stdout().lock().write_all(&answer);
    }
}

/// The report in a keeper's output; `None` after the keeper was killed, or where the check wrote as
/// well.
pub(crate) fn read_report(answer: &[u8], key: &SealKey) -> Option<KeeperReport> {
    sealed_json::read(key, "", answer.strip_suffix(b"\n")?)
}

/// `None` where the result is no longer needed.
fn run_spec(
    spec: &KeeperSpec,
    sender: Sender<KeeperEvent>,
    events: &Receiver<KeeperEvent>,
) -> Option<KeeperReport> {
    let (output, input) = match std::io::pipe() {
        Ok(pipe) => pipe,
        Err(error) => return Some(not_started(error.to_string())),
    };
    let shell = shell(spec);
    let ended_sender = sender.clone();
    let group = match input.try_clone().and_then(|copy| {
        ProcessGroup::start(
            command(&shell, spec, input, copy)?,
            Leftovers::Ended,
            move |status, signal| drop(ended_sender.send(KeeperEvent::Ended(status, signal))),
        )
    }) {
        Ok(group) => group,
        Err(error) => {
            return Some(not_started(format!(
                "cannot be started in {}: {error}",
                spec.folder.display()
            )));
        }
    };
    let wanted = spec.check.as_ref().and_then(|check| check.text.as_deref());
    let listener = Some(OutputListener::new(
        &shell.program().display().to_string(),
        wanted,
    ));
    let sink = Arc::new(Mutex::new(OutputSink {
        reader: TestOutputReader::of_command(&spec.run),
        listener,
        ..OutputSink::default()
    }));
    drain_in_background(output, Arc::clone(&sink), sender);
    let deadline = Instant::now() + Duration::from_millis(spec.timeout_millis);
    let mut report = KeeperReport::default();
    let (mut output_ended, mut is_needed) = (false, true);
    loop {
        match events.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(KeeperEvent::Ended(status, signal)) => {
                (report.status, report.signal) = (status, signal);
                break;
            }
            Ok(KeeperEvent::OutputEnded) => output_ended = true,
            Ok(KeeperEvent::CallerGone) | Err(RecvTimeoutError::Disconnected) => is_needed = false,
            Err(RecvTimeoutError::Timeout) => report.timed_out = true,
        }
        if report.timed_out || !is_needed {
            let interrupt_grace = Duration::from_millis(spec.interrupt_millis);
            let mut endings = vec![(GroupEnding::Asked, GRACE)];
            if !interrupt_grace.is_zero() {
                endings.insert(0, (GroupEnding::Interrupted, interrupt_grace));
            }
            helper_process::end_gently(&group, &endings, events, |event| {
                output_ended |= matches!(event, KeeperEvent::OutputEnded);
                matches!(event, KeeperEvent::Ended(..))
            });
            break;
        }
    }
    helper_process::end_group_and_orphans(&group);
    if !is_needed {
        return None;
    }
    if !output_ended {
        helper_process::wait_for_event(LAST_WORDS, events, |event| {
            matches!(event, KeeperEvent::OutputEnded)
        });
    }
    let sink = std::mem::take(&mut *sink.lock().unwrap_or_else(PoisonError::into_inner));
    (report.tail, report.tests, report.heard) = sink.end();
    Some(report)
}

fn not_started(reason: String) -> KeeperReport {
    KeeperReport {
        not_started: Some(reason),
        ..KeeperReport::default()
    }
}

fn shell(spec: &KeeperSpec) -> Shell {
    spec.check
        .as_ref()
        .and_then(|check| check.bash.clone())
        .map_or_else(Shell::find, Shell::bash)
}

fn command(
    shell: &Shell,
    spec: &KeeperSpec,
    stdout: PipeWriter,
    stderr: PipeWriter,
) -> std::io::Result<Command> {
    let mut command = inheriting_command(shell.program());
    shell.give(&mut command, &spec.run)?;
    command
        .current_dir(&spec.folder)
        .stdin(Stdio::null())
        .stdout(stdout)
        .stderr(stderr);
    Ok(command)
}

fn drain_in_background(
    mut output: PipeReader,
    sink: Arc<Mutex<OutputSink>>,
    sender: Sender<KeeperEvent>,
) {
    std::thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(length) = output.read(&mut buffer) {
            let piece = buffer.get(..length).unwrap_or_default();
            if piece.is_empty() {
                break;
            }
            sink.lock()
                .unwrap_or_else(PoisonError::into_inner)
                .take(piece);
        }
        let _ = sender.send(KeeperEvent::OutputEnded);
    });
}

/// Writes the beginning and the end of the output into the log, the keeper's `stderr`.
#[derive(Default)]
struct OutputSink {
    written: usize,
    tail: Vec<u8>,
    left_out: usize,
    quoted: Vec<u8>,
    reader: TestOutputReader,
    listener: Option<OutputListener>,
}

impl OutputSink {
    fn take(&mut self, piece: &[u8]) {
        self.reader.read(piece);
        if let Some(listener) = &mut self.listener {
            listener.listen(piece);
        }
        self.quoted.extend(piece);
        trim(&mut self.quoted, QUOTED_BYTES * 4, QUOTED_BYTES);
        let (head, rest) = piece.split_at(piece.len().min(HEAD_BYTES.saturating_sub(self.written)));
        self.written += head.len();
        let _ = std::io::stderr().write_all(head);
        self.tail.extend(rest);
        self.left_out += trim(&mut self.tail, TAIL_BYTES * 2, TAIL_BYTES);
    }

    fn end(mut self) -> (String, TestReport, Option<HeardOutput>) {
        self.left_out += trim(&mut self.tail, TAIL_BYTES, TAIL_BYTES);
        let mut log = std::io::stderr().lock();
        if self.left_out > 0 {
            let _ = writeln!(log, "\n[omo] {} bytes are left out here", self.left_out);
        }
        let _ = log.write_all(&self.tail);
        trim(&mut self.quoted, QUOTED_BYTES, QUOTED_BYTES);
        let quoted = String::from_utf8_lossy(&self.quoted);
        let lines: Vec<String> = quoted
            .lines()
            .map(omo_core::check::test_runner::visible_line)
            .collect();
        (
            lines.join("\n"),
            self.reader.report(),
            self.listener.map(OutputListener::heard),
        )
    }
}

/// Keeps the last `keep` bytes of more than `above`; returns the number of dropped ones.
fn trim(bytes: &mut Vec<u8>, above: usize, keep: usize) -> usize {
    let surplus = if bytes.len() > above {
        bytes.len() - keep
    } else {
        0
    };
    bytes.drain(..surplus);
    surplus
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_report_that_bears_the_seal_is_read() {
        let (key, json) = (
            SealKey::random().unwrap(),
            r#"{"status":0,"timed_out":false,"tail":""}"#,
        );
        let sealed = format!("{}\n{json}\n", key.mac(json.as_bytes()));
        assert_eq!(
            read_report(sealed.as_bytes(), &key).unwrap().status,
            Some(0)
        );
        let other = SealKey::random().unwrap();
        for (answer, key) in [
            (sealed.clone(), &other),
            (json.to_owned(), &key),
            (format!("{json}\n{sealed}"), &key),
            (format!("{sealed}{json}\n"), &key),
            (String::new(), &key),
        ] {
            assert!(read_report(answer.as_bytes(), key).is_none(), "{answer}");
        }
    }

    #[test]
    fn the_end_of_long_output_is_kept_and_what_is_left_out_is_counted() {
        let mut bytes = vec![1; 10];
        assert_eq!((trim(&mut bytes, 10, 4), bytes.len()), (0, 10));
        assert_eq!((trim(&mut bytes, 9, 4), bytes.len()), (6, 4));
    }
}
