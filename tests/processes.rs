//! The processes of this machine, for tests that look whether one is left.

use std::fs::{self, DirEntry};

use anyhow::{Context, Result, bail};

/// The folder of each process.
///
/// # Panics
///
/// Where the system has no `/proc`: none would be found, whatever is left.
#[expect(clippy::expect_used, reason = "a test's helper fails as a test does")]
pub fn processes() -> impl Iterator<Item = DirEntry> {
    fs::read_dir("/proc")
        .expect("processes are looked for in /proc")
        .flatten()
}

/// The processes whose file of this name below `/proc`, `cmdline` or `environ`, has all of these words.
pub fn find_processes(file: &str, words: &[&str]) -> Vec<u32> {
    let of = |entry: DirEntry| {
        let pid: u32 = entry.file_name().to_str()?.parse().ok()?;
        let text = fs::read(entry.path().join(file)).ok()?;
        let text = String::from_utf8_lossy(&text).replace('\0', " ");
        words.iter().all(|word| text.contains(word)).then_some(pid)
    };
    processes().filter_map(of).collect()
}

/// Kills a process. One that has ended is no error.
///
/// # Errors
///
/// It may not be killed.
pub fn kill_process(pid: u32) -> Result<()> {
    let pid = rustix::process::Pid::from_raw(i32::try_from(pid)?).context("no process")?;
    match rustix::process::kill_process(pid, rustix::process::Signal::KILL) {
        Ok(()) | Err(rustix::io::Errno::SRCH) => Ok(()),
        Err(error) => bail!("{error}"),
    }
}
