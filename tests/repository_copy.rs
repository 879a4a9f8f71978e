//! A clean clone of this repository: what git knows of it, and nothing that was only built here.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

/// Lays every file that git knows, as it would be committed now, into a folder.
pub fn copy_repository(folder: &Path) -> Result<()> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut prefix = std::ffi::OsString::from("--prefix=");
    prefix.push(folder.join(""));
    let mut git = Command::new("git");
    let output = git
        .current_dir(top)
        .args(["checkout-index", "--all"])
        .arg(prefix)
        .output()
        .context("start git")?;
    ensure!(
        output.status.success(),
        "git checkout-index: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// What npm calls the platform of this machine.
pub fn npm_platform() -> String {
    let system = if cfg!(target_os = "macos") {
        "darwin"
    } else {
        std::env::consts::OS
    };
    let processor = if cfg!(target_arch = "aarch64") {
        "arm64"
    } else {
        "x64"
    };
    format!("{system}-{processor}")
}
