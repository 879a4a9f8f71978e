//! Runs suites, one for each processor at a time, the output of each in one piece. A single suite prints at once.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// Interval of the lines about running suites.
const PROGRESS: Duration = Duration::from_secs(60);

#[derive(Debug)]
pub(super) struct Ready {
    pub(super) name: String,
    pub(super) command: Command,
}

/// A function that prepares more suites. Nothing is built beside tests: those of hooks hold bounds of time.
pub(super) struct Later<'a>(Box<dyn FnOnce() -> Result<Vec<Ready>> + 'a>);

impl<'a> Later<'a> {
    pub(super) fn new(make: impl FnOnce() -> Result<Vec<Ready>> + 'a) -> Self {
        Self(Box::new(make))
    }
}

pub(super) fn all(mut suites: Vec<Ready>, later: Option<Later>) -> Result<()> {
    let not_made = later.and_then(|Later(make)| make().map(|more| suites.extend(more)).err());
    let board = Board {
        is_alone: suites.len() == 1 && not_made.is_none(),
        ..Board::default()
    };
    if let Some(error) = not_made {
        board.add_failure(format!("what more tests need ({error:#})"));
    }
    // The disk still takes the new build, and a hook that has to wait for it gives up as its bound demands.
    if cfg!(unix) && !board.is_alone {
        let _ = Command::new("sync").status();
    }
    let (end, ended) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let board = &board;
        scope.spawn(move || {
            while ended.recv_timeout(PROGRESS) == Err(RecvTimeoutError::Timeout) {
                board.tell_what_runs();
            }
        });
        run_all(suites, board);
        drop(end);
    });
    let failed = board
        .failed
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

fn run_all(mut suites: Vec<Ready>, board: &Board) {
    // From the end: the first of them are the longest.
    suites.reverse();
    let waiting = Mutex::new(suites);
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
    let lanes = thread::available_parallelism().map_or(1, usize::from);
    thread::scope(|scope| {
        for _ in 0..lanes {
            scope.spawn(|| {
                while let Some(suite) = next() {
                    board.run(suite);
                }
            });
        }
    });
}

#[derive(Default)]
struct Board {
    is_alone: bool,
    /// Running suites, each with the number of finished tests.
    running: Mutex<BTreeMap<String, usize>>,
    failed: Mutex<Vec<String>>,
}

impl Board {
    fn run(&self, suite: Ready) {
        let name = suite.name.clone();
        match self.result(suite) {
            Ok(Outcome::Green) => {}
            Ok(Outcome::Failed(why)) => self.add_failure(format!("{name} ({why})")),
            Err(error) => self.add_failure(format!("{name} ({error:#})")),
        }
    }

    fn add_failure(&self, failure: String) {
        self.failed
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(failure);
    }

    /// Runs a suite; prints all of its output on a failure, else its result.
    fn result(&self, mut suite: Ready) -> Result<Outcome> {
        let name = &suite.name;
        say(&format!("running {name}"));
        let begun = Instant::now();
        let child = suite
            .command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let mut child = child.with_context(|| format!("run {name}"))?;
        let (out, err) = (
            child.stdout.take().context("no stdout")?,
            child.stderr.take().context("no stderr")?,
        );
        let mut done = 0;
        let (said, warned) = thread::scope(|scope| {
            let warned = scope.spawn(|| read(err, self.is_alone.then(io::stderr), |_| {}));
            let said = read(
                out,
                (self.is_alone && !cfg!(test)).then(io::stdout),
                |line| {
                    done += usize::from(line.starts_with("test ") && line.contains(" ... "));
                    self.running
                        .lock()
                        .unwrap_or_else(PoisonError::into_inner)
                        .insert(name.clone(), done);
                    if !self.is_alone && line.trim_end().ends_with("... FAILED") {
                        say(&format!("{name}: {}", line.trim_end()));
                    }
                },
            );
            (said, warned.join().unwrap_or_default())
        });
        self.running
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(name);
        let status = child.wait().with_context(|| format!("run {name}"))?;
        let seconds = begun.elapsed().as_secs();
        let results: Vec<&str> = said
            .lines()
            .filter(|line| line.starts_with("test result: ok."))
            .collect();
        // A suite that ends before its result has not run its tests.
        if status.success() && !results.is_empty() {
            say(&format!("{name}, {seconds} s: {}", results.join("; ")));
            return Ok(Outcome::Green);
        }
        say(&format!("{name}, {seconds} s, {status}"));
        if !self.is_alone {
            say(&said);
            let _ = writeln!(anstream::stderr(), "{warned}");
        }
        let failed = said
            .lines()
            .filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
        let failed = failed.collect::<Vec<_>>().join(", ");
        Ok(Outcome::Failed(if failed.is_empty() {
            status.to_string()
        } else {
            failed
        }))
    }

    fn tell_what_runs(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.is_alone && !running.is_empty() {
            let running: Vec<_> = running
                .iter()
                .map(|(name, done)| format!("{name} ({done} done)"))
                .collect();
            say(&format!("still running: {}", running.join(", ")));
        }
    }
}

/// Prints for the person at the task, who may have closed the pipe; silent in tests of the runner itself, whose suites
/// only seem to fail.
pub(super) fn say(text: &str) {
    if !cfg!(test) {
        let _ = writeln!(anstream::stdout(), "{text}");
    }
}

enum Outcome {
    Green,
    Failed(String),
}

/// Output of a suite, line by line, also shown at once for a single suite.
fn read(from: impl Read, mut shown: Option<impl Write>, mut seen: impl FnMut(&str)) -> String {
    let (mut text, mut from, mut line) = (String::new(), BufReader::new(from), Vec::new());
    while let Ok(1..) = from.read_until(b'\n', &mut line) {
        // A closed output does not stop the suite.
        if let Some(shown) = &mut shown {
            let _ = shown.write_all(&line).and_then(|()| shown.flush());
        }
        let words = String::from_utf8_lossy(&line);
        seen(&words);
        text.push_str(&words);
        line.clear();
    }
    text
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ready(name: &str, script: &str) -> Ready {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Ready {
            name: name.to_owned(),
            command,
        }
    }

    fn now(suites: Vec<Ready>) -> Result<()> {
        all(suites, None)
    }

    #[test]
    fn all_are_run_and_each_that_fails_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let leave = |name: &str, status: u8| {
            let said = "echo 'test a::b ... FAILED'; echo 'test result: ok.'";
            ready(
                name,
                &format!("echo > '{}'; {said}; exit {status}", file(name).display()),
            )
        };
        let error = now(vec![
            leave("one", 0),
            leave("two", 1),
            leave("three", 0),
            ready("four", "exit 3"),
        ]);
        let error = error.unwrap_err().to_string();
        assert!(
            error.starts_with("failed: ") && error.contains("two (a::b)"),
            "{error}"
        );
        assert!(
            error.contains("four (exit status: 3)") && !error.contains("one"),
            "{error}"
        );
        assert!(
            ["one", "two", "three"]
                .iter()
                .all(|name| file(name).exists())
        );
        now(vec![leave("one", 0), leave("two", 0)]).unwrap();
        let alone = now(vec![leave("one", 2)]).unwrap_err().to_string();
        assert_eq!(
            alone, "failed: one (a::b)",
            "one by itself is judged as several are"
        );
        now(vec![ready("silent", "exit 0")]).unwrap_err();
        now(vec![leave("one", 0), ready("silent", "exit 0")]).unwrap_err();
    }

    #[test]
    fn what_cannot_be_made_ready_fails_and_the_others_are_run() {
        let later = || Later::new(|| bail!("no linker"));
        let error = all(vec![ready("one", "exit 1")], Some(later()))
            .unwrap_err()
            .to_string();
        assert!(
            error.contains("one (exit status: 1)") && error.contains("no linker"),
            "{error}"
        );
        let error = all(Vec::new(), Some(later())).unwrap_err().to_string();
        assert_eq!(error, "failed: what more tests need (no linker)");
        let later = Later::new(|| Ok(vec![ready("one", "exit 1")]));
        assert_eq!(
            all(Vec::new(), Some(later)).unwrap_err().to_string(),
            "failed: one (exit status: 1)"
        );
    }
}
