//! A process that holds a lock.

use std::fs::{self, File};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, ensure};

/// A process that has the lock of the state, or of the user's own folder.
pub struct Holder(Child);

impl Holder {
    /// Has a new process take this lock.
    pub fn take(lock: &Path) -> Result<Self> {
        fs::create_dir_all(lock.parent().context("no folder")?)?;
        File::options().append(true).create(true).open(lock)?;
        let mut command = Command::new("sh");
        command
            .args([
                "-c",
                "exec 9<>\"$0\" && flock -n 9 && echo held && exec sleep 60",
            ])
            .arg(lock);
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut line = [0; 5];
        child
            .stdout
            .as_mut()
            .context("no stdout")?
            .read_exact(&mut line)?;
        ensure!(&line == b"held\n", "the lock could not be had with `flock`");
        Ok(Self(child))
    }

    /// The number of the process.
    pub fn id(&self) -> u32 {
        self.0.id()
    }

    /// Sends the process a signal, `-STOP` for example.
    pub fn signal(&self, signal: &str) -> Result<()> {
        let status = Command::new("kill")
            .args([signal, &self.0.id().to_string()])
            .status()?;
        ensure!(status.success(), "kill {signal}: {status}");
        Ok(())
    }
}

impl Drop for Holder {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}
