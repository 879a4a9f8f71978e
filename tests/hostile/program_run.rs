//! Running one program of the plugin with whatever stdin, and what holds of every such run.

use std::fs::File;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{ChildStdin, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_testkit::read_in_background;
use omo_tests::scene::Scene;
use serde_json::Value;

/// Longer than any of them may take, however busy the machine is: a claim waits up to 60 s for what its checks say
/// without the change.
const LIMIT: Duration = Duration::from_secs(90);
/// The memory that a hook, or `omo`, may take at most, in KiB: as users get it, and with the code of a build that is not
/// optimised.
const MEMORY_KIB: [u64; 2] = [16 * 1024, 32 * 1024];

/// What a program gets as its stdin.
pub(crate) enum Stdin {
    /// These bytes, and then the end.
    Bytes(Vec<u8>),
    /// What this writes; the end comes after the program's own.
    Fed(Box<dyn FnOnce(&mut ChildStdin) + Send>),
    /// This very thing.
    Is(Stdio),
}

impl Stdin {
    /// A text, and then the end.
    pub(crate) fn text(text: &str) -> Self {
        Self::Bytes(text.as_bytes().to_vec())
    }
}

/// One run of a program that was not started yet.
pub(crate) struct Call<'a> {
    /// The name of the binary.
    pub binary: &'a str,
    /// Its arguments.
    pub arguments: &'a [&'a str],
    /// What a shell does before it becomes the program: closes, redirects, or limits something.
    pub setup: &'a str,
    /// Its stdin.
    pub stdin: Stdin,
    /// Its stdout, where that is not to be read here.
    pub stdout: Option<Stdio>,
}

impl<'a> Call<'a> {
    /// A hook with an input.
    pub(crate) fn hook(binary: &'a str, input: &str) -> Self {
        Self {
            binary,
            arguments: &[],
            setup: "",
            stdin: Stdin::text(input),
            stdout: None,
        }
    }

    /// A hook with some stdin.
    pub(crate) fn hook_with_stdin(binary: &'a str, stdin: Stdin) -> Self {
        Self {
            stdin,
            ..Self::hook(binary, "")
        }
    }

    /// `omo` with arguments.
    pub(crate) fn omo(arguments: &'a [&'a str]) -> Self {
        Self {
            arguments,
            ..Self::hook("omo", "")
        }
    }

    /// After a shell did this.
    pub(crate) fn after(self, setup: &'a str) -> Self {
        Self { setup, ..self }
    }

    /// Runs it in the scene's project.
    pub(crate) fn run(self, scene: &Scene) -> Result<Run> {
        static RUNS: AtomicUsize = AtomicUsize::new(0);
        let report = scene
            .lab
            .root()
            .join(format!("run-{}", RUNS.fetch_add(1, Ordering::Relaxed)));
        let program = scene.plugin.join("bin").join(self.binary);
        let mut command = scene.lab.command(env!("CARGO_BIN_EXE_peak"));
        command.arg(&report);
        if !self.setup.is_empty() {
            command.args(["sh", "-c", &format!("{}; exec \"$0\" \"$@\"", self.setup)]);
        }
        command.arg(program).args(self.arguments).process_group(0);
        if self.binary != "omo" {
            command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
        }
        let is_piped = !matches!(self.stdin, Stdin::Is(_));
        let (feed, stdin) = match self.stdin {
            Stdin::Bytes(bytes) => (Some(feed_of(bytes)), Stdio::piped()),
            Stdin::Fed(feed) => (Some((feed, true)), Stdio::piped()),
            Stdin::Is(stdin) => (None, stdin),
        };
        command
            .stdin(stdin)
            .stdout(self.stdout.unwrap_or_else(Stdio::piped))
            .stderr(Stdio::piped());
        let mut child = command.spawn().context("start `peak`")?;
        drop(command);
        let (over, is_over) = mpsc::channel::<()>();
        if let Some((feed, stays_open)) = feed.filter(|_| is_piped) {
            let mut stdin = child.stdin.take().context("no stdin")?;
            thread::spawn(move || {
                feed(&mut stdin);
                if stays_open {
                    is_over.recv().ok();
                }
            });
        }
        let (stdout, stderr) = (
            child.stdout.take().map(read_in_background),
            child.stderr.take().map(read_in_background),
        );
        let group = rustix::process::Pid::from_child(&child);
        let (sender, ended) = mpsc::channel();
        thread::spawn(move || sender.send(child.wait()));
        let in_time = ended.recv_timeout(LIMIT);
        if in_time.is_err() {
            rustix::process::kill_process_group(group, rustix::process::Signal::KILL)?;
        }
        let text = |pipe: Option<mpsc::Receiver<Vec<u8>>>| -> Result<String> {
            let bytes = pipe.map_or(Ok(Vec::new()), |pipe| {
                pipe.recv_timeout(LIMIT).context("a pipe stays open")
            })?;
            Ok(String::from_utf8_lossy(&bytes).into_owned())
        };
        let (stdout, stderr) = (text(stdout)?, text(stderr)?);
        drop(over);
        ensure!(
            in_time.is_ok(),
            "{}: it hangs; on stderr: {stderr}",
            self.binary
        );
        let written = std::fs::read_to_string(&report)
            .with_context(|| format!("no report; on stderr: {stderr}"))?;
        std::fs::remove_file(&report)?;
        let numbers: Vec<i64> = written
            .split(' ')
            .filter_map(|number| number.parse().ok())
            .collect();
        let [peak, status, signal] = *numbers else {
            anyhow::bail!("the report says {written:?}")
        };
        Ok(Run {
            binary: self.binary.to_owned(),
            peak_kib: u64::try_from(peak)?,
            status,
            signal,
            stdout,
            stderr,
        })
    }
}

type Feed = Box<dyn FnOnce(&mut ChildStdin) + Send>;

fn feed_of(bytes: Vec<u8>) -> (Feed, bool) {
    // A program that does not read closes the pipe: its right, not our error.
    let feed = move |stdin: &mut ChildStdin| _ = stdin.write_all(&bytes);
    (Box::new(feed), false)
}

/// What a program left behind.
#[derive(Debug)]
pub(crate) struct Run {
    /// Its name.
    pub binary: String,
    /// The memory that it took at most.
    pub peak_kib: u64,
    /// Its exit status, or -1.
    pub status: i64,
    /// The signal that ended it, or -1.
    pub signal: i64,
    /// What it printed.
    pub stdout: String,
    /// What it said beside that.
    pub stderr: String,
}

impl Run {
    /// What holds of every run: it ended by itself and in time, within its memory; a hook with
    /// status 0, nothing on stderr, and nothing or one whole answer; `omo` with a status that it
    /// documents, and with words where that is not 0.
    pub(crate) fn require_sound(&self) -> Result<()> {
        let Self {
            binary,
            peak_kib,
            status,
            signal,
            stdout,
            stderr,
        } = self;
        ensure!(
            *signal == -1,
            "{binary}: ended by signal {signal}; on stderr: {stderr}"
        );
        #[expect(
            clippy::disallowed_methods,
            reason = "the runner of the tests names the target of a release"
        )]
        let is_release = std::env::var_os("OMO_TEST_TARGET").is_some();
        let [release, development] = MEMORY_KIB;
        let allowed = if is_release { release } else { development };
        ensure!(
            *peak_kib <= allowed,
            "{binary}: took {peak_kib} KiB of memory"
        );
        if binary == "omo" {
            let is_documented =
                omo_cli::exit_statuses().any(|(documented, ..)| i64::from(documented) == *status);
            ensure!(is_documented, "omo: status {status}; on stderr: {stderr}");
            let is_said = *status == 0 || stderr.contains("error: ");
            ensure!(
                is_said && !stderr.contains("panicked"),
                "omo: status {status}; on stderr: {stderr}"
            );
            return Ok(());
        }
        ensure!(
            *status == 0 && stderr.is_empty(),
            "{binary}: status {status}; on stderr: {stderr}"
        );
        if let Some(answer) = self.json() {
            let known = [
                "decision",
                "reason",
                "systemMessage",
                "terminalSequence",
                "hookSpecificOutput",
            ];
            let is_known = |value: &Value| {
                value
                    .as_object()
                    .is_some_and(|all| all.keys().all(|name| known.contains(&name.as_str())))
            };
            ensure!(
                is_known(&answer),
                "{binary}: no answer that the client knows: {answer}"
            );
        } else {
            ensure!(
                !stdout.trim_start().starts_with('{'),
                "{binary}: half an answer: {stdout}"
            );
            let may_be_plain = stdout.is_empty()
                || ["omo-session-start", "omo-user-prompt-submit"].contains(&binary.as_str());
            ensure!(may_be_plain, "{binary}: plain text: {stdout}");
        }
        Ok(())
    }

    /// It says nothing.
    pub(crate) fn require_silent(&self) -> Result<()> {
        ensure!(
            self.stdout.is_empty(),
            "{}: says {}",
            self.binary,
            self.stdout
        );
        Ok(())
    }

    /// What it answers, where that is JSON.
    pub(crate) fn json(&self) -> Option<Value> {
        serde_json::from_str(&self.stdout).ok()
    }

    /// It turns a Stop, or a prompt, into something else.
    pub(crate) fn blocks(&self) -> bool {
        self.json()
            .is_some_and(|answer| answer["decision"] == "block")
    }
}

/// A file of some length without a byte that takes space on the disk.
pub(crate) fn make_sparse_file(path: &std::path::Path, bytes: u64) -> Result<()> {
    Ok(File::create(path)?.set_len(bytes)?)
}
