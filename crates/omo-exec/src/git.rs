//! Running git, and finding its folders without it.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

/// How long one call of git may take.
const LIMIT: Duration = Duration::from_secs(60);
/// At most this much of an answer is read.
const MAX_BYTES: u64 = 256 * 1024 * 1024;

/// A work tree, and where git keeps what belongs to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkTree {
    /// Its top folder.
    pub(crate) top: PathBuf,
    /// The folder with its own index.
    pub(crate) git: PathBuf,
    /// The folder with the objects, which several work trees may share.
    pub(crate) common: PathBuf,
}

impl WorkTree {
    /// The work tree that a folder lies in.
    pub(crate) fn find(folder: &Path) -> Option<Self> {
        folder.ancestors().find_map(Self::at)
    }

    /// The work tree whose top this is.
    pub(crate) fn at(top: &Path) -> Option<Self> {
        let dot = top.join(".git");
        let kind = fs::metadata(&dot).ok()?;
        let git = if kind.is_dir() { dot } else { linked(top, &read_line(&dot)?)? };
        // A folder that only looks like one is none.
        git.join("HEAD").symlink_metadata().ok()?;
        let common = read_line(&git.join("commondir")).map_or_else(|| git.clone(), |common| git.join(common));
        Some(Self { top: top.to_owned(), git, common })
    }
}

/// `gitdir: path`, as a worktree and a submodule have it in place of a folder.
fn linked(top: &Path, line: &str) -> Option<PathBuf> {
    Some(top.join(line.strip_prefix("gitdir:")?.trim()))
}

fn read_line(path: &Path) -> Option<String> {
    let mut text = String::new();
    fs::File::open(path).ok()?.take(8 * 1024).read_to_string(&mut text).ok()?;
    Some(text.trim_end_matches(['\n', '\r']).to_owned())
}

/// What makes git leave everything as it is, and start nothing: no hook, no monitor, no editor, no
/// download, no lock on the index that its user works with.
const SETTINGS: [&str; 8] = [
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.untrackedCache=keep",
    "core.splitIndex=false",
    "core.fsync=none",
    "core.looseCompression=0",
    "advice.addEmbeddedRepo=false",
    "gc.auto=0",
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
    let mut command = Command::new("git");
    command.args(SETTINGS.iter().flat_map(|setting| ["-c", setting])).args(arguments).current_dir(folder);
    for name in inherited_git_variables() {
        command.env_remove(name);
    }
    command.envs(variables.iter().copied());
    command
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("LC_ALL", "C");
    command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = command.spawn().ok()?;
    let (sender, answer) = channel();
    let stdout = child.stdout.take()?;
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        let read = stdout.take(MAX_BYTES).read_to_end(&mut bytes);
        let _ = sender.send(read.map(|_| bytes));
    });
    if let Some(mut stdin) = child.stdin.take() {
        std::io::Write::write_all(&mut stdin, input).ok()?;
    }
    if let Ok(Ok(bytes)) = answer.recv_timeout(LIMIT) {
        return child.wait().ok()?.code().map(|status| (status, bytes));
    }
    let _ = child.kill();
    let _ = child.wait();
    None
}

/// A hook that git itself started, or a model's shell, may have variables that point git elsewhere.
fn inherited_git_variables() -> impl Iterator<Item = OsString> {
    let names = omo_store::env::variables().into_iter().map(|(name, _)| name);
    names.filter(|name| name.as_encoded_bytes().starts_with(b"GIT_"))
}
