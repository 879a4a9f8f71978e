//! A process under strace: which system calls it makes, and what it leaves behind when one of them
//! fails, or is its last.
//!
//! strace is used and no preloaded library, since the programs under test are static.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};

use crate::hook_answer::HookRun;
use crate::process;

/// Longer than any run under strace takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(120);

/// One system call of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SystemCall {
    /// Name, such as `openat`.
    pub name: String,
    /// Number among the calls of that name in its process, from 1 on.
    pub ordinal: usize,
    /// The line that strace wrote about it.
    pub line: String,
}

/// Fault in place of a system call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallFault {
    /// Failure with this error, `ENOSPC` for example.
    Error(&'static str),
    /// The process is killed before it.
    Kill,
    /// The process gets this signal, `TERM` for example, and the call is made.
    Signal(&'static str),
}

/// A run, and what strace saw of it.
#[derive(Debug)]
pub struct TracedRun {
    /// Result of the process.
    pub run: HookRun,
    /// System calls, in order.
    pub calls: Vec<SystemCall>,
    /// The requested fault happened.
    pub is_faulted: bool,
}

/// Runs a command to its end under strace, its children untraced. The environment is the one that
/// the command sets itself, and no other.
pub fn run(command: &Command, input: &str) -> Result<TracedRun> {
    traced(command, input, &[])
}

/// As [`run`], its children traced too.
pub fn run_with_children(command: &Command, input: &str) -> Result<TracedRun> {
    traced(command, input, &["-f"])
}

/// As [`run`], with a fault at one system call. Of the others only those of its name are seen: to write down the rest
/// costs more than all that the process does.
pub fn run_with_fault(
    command: &Command,
    input: &str,
    at: &SystemCall,
    fault: CallFault,
) -> Result<TracedRun> {
    let SystemCall { name, ordinal, .. } = at;
    let fault = match fault {
        CallFault::Error(error) => format!("error={error}"),
        CallFault::Kill => "signal=KILL".to_owned(),
        CallFault::Signal(signal) => format!("signal={signal}"),
    };
    traced(
        command,
        input,
        &[
            "-e",
            &format!("trace={name}"),
            "-e",
            &format!("inject={name}:{fault}:when={ordinal}"),
        ],
    )
}

/// As [`run_with_fault`], with an error at a call of a process that starts no other, in half of the time: it does not
/// stop at calls of other names. strace can do so only where it follows those that a process starts, and each of these
/// would meet the fault.
pub fn run_alone_with_error(
    command: &Command,
    input: &str,
    at: &SystemCall,
    error: &str,
) -> Result<TracedRun> {
    let SystemCall { name, ordinal, .. } = at;
    let fault = format!("inject={name}:error={error}:when={ordinal}");
    traced(
        command,
        input,
        &[
            "-f",
            "--seccomp-bpf",
            "-e",
            &format!("trace={name}"),
            "-e",
            &fault,
        ],
    )
}

/// A call among these that starts another process.
pub fn starts_a_process(calls: &[SystemCall]) -> bool {
    calls
        .iter()
        .any(|call| ["clone", "clone3", "fork", "vfork"].contains(&&*call.name))
}

fn traced(command: &Command, input: &str, options: &[&str]) -> Result<TracedRun> {
    let log = tempfile::NamedTempFile::new()?;
    let done = process::run(wrapped(command, log.path(), options), Some(input), LIMIT)?;
    ensure!(
        !done.timed_out,
        "the process did not end under strace {options:?}"
    );
    let text = std::fs::read(log.path()).context("read what strace wrote")?;
    let text = String::from_utf8_lossy(&text);
    let is_faulted = text.contains("(INJECTED)") || text.contains("+++ killed by SIGKILL +++");
    Ok(TracedRun {
        run: HookRun::from(done),
        calls: calls(&text),
        is_faulted,
    })
}

fn wrapped(command: &Command, log: &Path, options: &[&str]) -> Command {
    let mut strace = Command::new("strace");
    strace
        .args(["-qq", "-s", "256", "-o"])
        .arg(log)
        .args(options)
        .arg("--")
        .arg(command.get_program());
    process::with_settings_of(strace, command)
}

/// The calls that a log of strace names. One that strace wrote in two parts, since another process
/// called in between, is joined.
fn calls(log: &str) -> Vec<SystemCall> {
    let mut calls: Vec<SystemCall> = Vec::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    let mut unfinished: BTreeMap<&str, usize> = BTreeMap::new();
    for line in log.lines() {
        // With children each line begins with the number of its process.
        let (process, line) =
            line.split_at(line.len() - line.trim_start_matches(|c: char| c.is_ascii_digit()).len());
        let line = line.trim_start();
        if let Some((_, rest)) = line
            .strip_prefix("<... ")
            .and_then(|line| line.split_once(" resumed>"))
        {
            if let Some(call) = unfinished
                .remove(process)
                .and_then(|call| calls.get_mut(call))
            {
                call.line.push_str(rest);
            }
            continue;
        }
        let Some((name, _)) = line.split_once('(') else {
            continue;
        };
        if name.is_empty()
            || !name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        {
            continue;
        }
        let begun = line.strip_suffix(" <unfinished ...>");
        if begun.is_some() {
            unfinished.insert(process, calls.len());
        }
        let count = counts.entry(name).or_default();
        *count += 1;
        calls.push(SystemCall {
            name: name.to_owned(),
            ordinal: *count,
            line: begun.unwrap_or(line).to_owned(),
        });
    }
    calls
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_numbered_by_their_names() {
        let log = "open(\"/a(b\", O_RDONLY) = 3\nread(3, \"x\", 1) = 1\n--- SIGALRM {si_signo=SIGALRM} ---\n\
                   12 read(3, \"\", 1)  = 0\n+++ exited with 0 +++\n";
        let found: Vec<_> = calls(log)
            .into_iter()
            .map(|call| (call.name, call.ordinal))
            .collect();
        let read = |ordinal| ("read".to_owned(), ordinal);
        assert_eq!(found, [("open".to_owned(), 1), read(1), read(2)]);
    }

    #[test]
    fn a_call_in_two_parts_is_one() {
        let log = "7 sendto(3, \"\", 0 <unfinished ...>\n8 read(0,  <unfinished ...>\n\
                   7 <... sendto resumed>, NULL, 0) = -1 ENOTSOCK\n8 <... read resumed>\"\", 1) = 0\n";
        let found: Vec<_> = calls(log).into_iter().map(|call| call.line).collect();
        assert_eq!(
            found,
            [
                "sendto(3, \"\", 0, NULL, 0) = -1 ENOTSOCK",
                "read(0, \"\", 1) = 0"
            ]
        );
    }

    #[test]
    #[ignore = "needs strace: cargo xtask test"]
    fn a_fault_meets_the_call_that_is_meant() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "hello").unwrap();
        let mut cat = Command::new("cat");
        cat.arg(file.path()).env("PATH", "/usr/bin:/bin");
        let whole = run(&cat, "").unwrap();
        assert_eq!(whole.run.stdout, "hello");
        assert!(!whole.is_faulted);
        let opened = whole
            .calls
            .iter()
            .rfind(|call| call.name == "openat")
            .unwrap();
        let refused = run_with_fault(&cat, "", opened, CallFault::Error("EACCES")).unwrap();
        assert!(
            refused.is_faulted && refused.run.stderr.contains("Permission denied"),
            "{refused:?}"
        );
        assert!(!starts_a_process(&whole.calls));
        let alone = run_alone_with_error(&cat, "", opened, "EACCES").unwrap();
        assert_eq!(
            (&alone.run.stderr, alone.run.status),
            (&refused.run.stderr, refused.run.status)
        );
        let injected = |traced: &TracedRun| {
            traced
                .calls
                .iter()
                .position(|call| call.line.contains("(INJECTED)"))
        };
        assert_eq!(
            (alone.is_faulted, injected(&alone)),
            (true, injected(&refused))
        );
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "true | cat"])
            .env("PATH", "/usr/bin:/bin");
        assert!(starts_a_process(&run(&shell, "").unwrap().calls));
        let killed = run_with_fault(&cat, "", opened, CallFault::Kill).unwrap();
        assert!(
            killed.is_faulted && !killed.run.status.success() && killed.run.stdout.is_empty(),
            "{killed:?}"
        );
    }
}
