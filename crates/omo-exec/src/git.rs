//! Running git: within a time, and without anything that it could start.

use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use omo_store::pins::{find, own_search_path};

use crate::platform::{lies_in, show_no_window};

/// How long one call of git may take.
const LIMIT: Duration = Duration::from_secs(60);
/// A git that did not answer in time is not asked again: what it waits for, a FIFO where a file
/// belongs say, is there for the next call as well.
static GAVE_UP: AtomicBool = AtomicBool::new(false);
/// How long is waited for the last of its complaints.
const COMPLAINT_LIMIT: Duration = Duration::from_secs(1);
/// At most this much of an answer is read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// What makes git leave everything as it is, and start nothing: no hook, no monitor, no editor, no
/// download, no lock on the index that its user works with.
///
/// And what makes it look: a repository's own settings could tell it to take files for unchanged.
const SETTINGS: [&str; 13] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=keep",
    "core.splitIndex=false",
    "core.fsync=none",
    "core.looseCompression=0",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
    "core.ignoreStat=false",
    "core.trustctime=true",
    "core.checkStat=default",
    "core.attributesFile=/dev/null",
    // Whether line ends may be converted is for the commits of its user to say.
    "core.safecrlf=false",
];

/// Runs git in a folder and gives what it says; `None` where it fails, or takes too long.
pub(crate) fn git(folder: &Path, arguments: &[&str], variables: &[(&str, &OsStr)], input: &[u8]) -> Option<Vec<u8>> {
    answer(folder, arguments, variables, input).and_then(|(status, said)| (status == 0).then_some(said))
}

/// As [`git`], with the exit status, for where that is an answer.
pub(crate) fn answer(
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
) -> Option<(i32, Vec<u8>)> {
    answer_within(LIMIT, folder, arguments, variables, input)
}

/// As [`answer`], within another time: a checkout of a large repository takes longer than a look at it.
pub(crate) fn answer_within(
    limit: Duration,
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
) -> Option<(i32, Vec<u8>)> {
    if GAVE_UP.load(Ordering::Relaxed) {
        return None;
    }
    match run(limit, folder, arguments, variables, input, Stdio::null())? {
        Ran::Ended { status, said, .. } => Some((status, said)),
        Ran::TooLong => {
            GAVE_UP.store(true, Ordering::Relaxed);
            None
        }
    }
}

/// What became of a git that was started.
pub(crate) enum Ran {
    /// It ended by itself.
    Ended {
        /// Its exit status.
        status: i32,
        /// What it said.
        said: Vec<u8>,
        /// What it complained about.
        complaint: Vec<u8>,
    },
    /// It took too long, and was ended.
    TooLong,
}

/// Runs git once; `None` where it could not be started, or something else ended it. That it took too long says
/// nothing about the next call: it may have waited for another machine. Complaints are read where they are piped.
pub(crate) fn run(
    limit: Duration,
    folder: &Path,
    arguments: &[&str],
    variables: &[(&str, &OsStr)],
    input: &[u8],
    complaints: Stdio,
) -> Option<Ran> {
    let mut command = Command::new(program(folder)?);
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(arguments).current_dir(folder);
    for name in inherited_git_variables() {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        // A reference in the repository could have it take one object for another.
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(complaints);
    show_no_window(&mut command);
    let mut child = command.spawn().ok()?;
    let answer = read_beside(child.stdout.take()?);
    let complaint = child.stderr.take().map(read_beside);
    if let Some(mut stdin) = child.stdin.take() {
        let input = input.to_vec();
        // Beside the reading: git may answer before it has read everything.
        std::thread::spawn(move || std::io::Write::write_all(&mut stdin, &input));
    }
    if let Ok(Ok(bytes)) = answer.recv_timeout(limit) {
        let status = child.wait().ok()?.code()?;
        // Something that it has started may hold on to it, and is not waited for.
        let complaint = complaint.and_then(|complaint| complaint.recv_timeout(COMPLAINT_LIMIT).ok()?.ok());
        return Some(Ran::Ended { status, said: bytes, complaint: complaint.unwrap_or_default() });
    }
    let _ = child.kill();
    let _ = child.wait();
    Some(Ran::TooLong)
}

/// Reads to the end in a thread of its own.
fn read_beside(source: impl Read + Send + 'static) -> Receiver<std::io::Result<Vec<u8>>> {
    let (sender, answer) = channel();
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = source.take(MAX_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    answer
}

/// The git of this machine: never a file of the folder that it is to look at.
pub(crate) fn program(folder: &Path) -> Option<PathBuf> {
    let search = own_search_path();
    let elsewhere: Vec<PathBuf> = search.into_iter().filter(|found| !lies_in(found, folder)).collect();
    find("git", &elsewhere)
}

/// A hook that git itself started, or a model's shell, may have variables that point git elsewhere.
fn inherited_git_variables() -> impl Iterator<Item = OsString> {
    let names = omo_store::env::variables().into_iter().map(|(name, _)| name);
    names.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_"))
}
