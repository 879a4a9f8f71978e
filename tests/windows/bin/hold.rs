//! Holds the lock of a project's state until its standard input ends: `hold FOLDER`.

use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};

fn main() -> Result<()> {
    let root = std::env::args_os().nth(1).context("no folder")?;
    let _lock = StateLock::take(&GuardedFolder::create_state(Path::new(&root))?, DEADLINE)?;
    let mut stdout = std::io::stdout().lock();
    writeln!(stdout, "held")?;
    stdout.flush()?;
    std::io::copy(&mut std::io::stdin().lock(), &mut std::io::sink())?;
    Ok(())
}
