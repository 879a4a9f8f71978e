//! Running suites: as many at once as there are processors, each with what it said in one piece. A suite that runs alone
//! says it at once.

use std::io::{self, Read, Write};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::thread;
use std::time::Instant;

use anyhow::{Context, Result, bail};

/// A suite that is ready to be run.
#[derive(Debug)]
pub(super) struct Ready {
    /// What it is called.
    pub(super) name: String,
    /// Its command, with all that it needs.
    pub(super) command: Command,
}

/// Runs one suite, or several side by side, and fails where one of them does.
pub(super) fn all(mut suites: Vec<Ready>) -> Result<()> {
    let is_alone = suites.len() == 1;
    // The disk still takes what was just built, and a hook that has to wait for it gives up as its bound demands.
    if cfg!(unix) && !is_alone {
        let _ = Command::new("sync").status();
    }
    // From the end: the first of them are the longest.
    suites.reverse();
    let count = thread::available_parallelism().map_or(1, usize::from);
    let (waiting, failed) = (Mutex::new(suites), Mutex::new(Vec::new()));
    let next = || waiting.lock().ok().and_then(|mut waiting| waiting.pop());
    thread::scope(|scope| {
        for _ in 0..count {
            scope.spawn(|| {
                while let Some(suite) = next() {
                    let name = suite.name.clone();
                    let failure = match run(suite, is_alone) {
                        Ok(Outcome::Green) => continue,
                        Ok(Outcome::Failed(why)) => format!("{name} ({why})"),
                        Err(error) => format!("{name} ({error:#})"),
                    };
                    if let Ok(mut failed) = failed.lock() {
                        failed.push(failure);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().unwrap_or_default();
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    Ok(())
}

/// What became of a suite.
enum Outcome {
    Green,
    /// Its tests that failed, or how else it ended.
    Failed(String),
}

/// Runs one to its end, and says how it went: all that it printed where it failed, and else its result.
fn run(mut suite: Ready, is_alone: bool) -> Result<Outcome> {
    anstream::println!("running {}", suite.name);
    let begun = Instant::now();
    let child = suite.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.with_context(|| format!("run {}", suite.name))?;
    let (out, err) = (child.stdout.take().context("no stdout")?, child.stderr.take().context("no stderr")?);
    let (said, warned) = thread::scope(|scope| {
        let warned = scope.spawn(|| read(err, is_alone.then(io::stderr)));
        (read(out, is_alone.then(io::stdout)), warned.join().unwrap_or_default())
    });
    let status = child.wait().with_context(|| format!("run {}", suite.name))?;
    let seconds = begun.elapsed().as_secs();
    let results: Vec<&str> = said.lines().filter(|line| line.starts_with("test result: ok.")).collect();
    // One that ends before it says its result has not run its tests.
    if status.success() && !results.is_empty() {
        anstream::println!("{}, {seconds} s: {}", suite.name, results.join("; "));
        return Ok(Outcome::Green);
    }
    anstream::println!("{}, {seconds} s, {status}", suite.name);
    if !is_alone {
        anstream::println!("{said}");
        anstream::eprintln!("{warned}");
    }
    let failed = said.lines().filter_map(|line| line.strip_prefix("test ")?.strip_suffix(" ... FAILED"));
    let failed = failed.collect::<Vec<_>>().join(", ");
    Ok(Outcome::Failed(if failed.is_empty() { status.to_string() } else { failed }))
}

/// All that a suite prints, which is also shown as it comes where it runs alone.
fn read(mut from: impl Read, mut shown: Option<impl Write>) -> String {
    let (mut text, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    while let Ok(count @ 1..) = from.read(&mut piece) {
        let piece = piece.get(..count).unwrap_or_default();
        text.extend_from_slice(piece);
        // A reader that is gone is no reason to stop the suite.
        if let Some(shown) = &mut shown {
            let _ = shown.write_all(piece).and_then(|()| shown.flush());
        }
    }
    String::from_utf8_lossy(&text).into_owned()
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn ready(name: &str, script: &str) -> Ready {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        Ready { name: name.to_owned(), command }
    }

    #[test]
    fn all_are_run_and_each_that_fails_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = |name: &str| folder.path().join(name);
        let leave = |name: &str, status: u8| {
            let said = "echo 'test a::b ... FAILED'; echo 'test result: ok.'";
            ready(name, &format!("echo > '{}'; {said}; exit {status}", file(name).display()))
        };
        let error = all(vec![leave("one", 0), leave("two", 1), leave("three", 0), ready("four", "exit 3")]);
        let error = error.unwrap_err().to_string();
        assert!(error.starts_with("failed: ") && error.contains("two (a::b)"), "{error}");
        assert!(error.contains("four (exit status: 3)") && !error.contains("one"), "{error}");
        assert!(["one", "two", "three"].iter().all(|name| file(name).exists()));
        all(vec![leave("one", 0), leave("two", 0)]).unwrap();
        let alone = all(vec![leave("one", 2)]).unwrap_err().to_string();
        assert_eq!(alone, "failed: one (a::b)", "one by itself is judged as several are");
        all(vec![ready("silent", "exit 0")]).unwrap_err();
        all(vec![leave("one", 0), ready("silent", "exit 0")]).unwrap_err();
    }
}
