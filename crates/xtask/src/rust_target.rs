//! Rust targets: presence, and installation with rustup.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo;

/// `true` for a present target. A missing one is requested from rustup once.
///
/// A failure is printed in a line and is no error: there are other ways to build.
pub(crate) fn is_available(target: &str) -> bool {
    let had = obtain(target, "for hooks that start faster");
    if let Err(error) = &had {
        anstream::println!("building without the target {target}: {error:#}");
    }
    had.is_ok()
}

/// Installs a missing target with rustup, with `what_for` in the message. The error is the reason of a failure.
pub(crate) fn obtain(target: &str, what_for: &str) -> Result<()> {
    obtain_with(target, is_installed, |target| add(target, what_for))
}

fn obtain_with(
    target: &str,
    is_installed: impl Fn(&str) -> bool,
    add: impl FnOnce(&str) -> Result<()>,
) -> Result<()> {
    if is_installed(target) {
        return Ok(());
    }
    add(target)?;
    ensure!(
        is_installed(target),
        "rustup added it to another toolchain than the one that builds"
    );
    Ok(())
}

fn is_installed(target: &str) -> bool {
    let library =
        cargo::output(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    library.is_ok_and(|path| Path::new(path.trim()).is_dir())
}

fn add(target: &str, what_for: &str) -> Result<()> {
    if !cargo::has("rustup") {
        bail!("it is not installed, and neither is rustup");
    }
    anstream::println!("adding it, {what_for}: rustup target add {target}");
    let mut rustup = Command::new("rustup");
    let output = rustup
        .args(["target", "add", target])
        .stdin(Stdio::null())
        .output()
        .context("run rustup")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or("it gave no reason");
        bail!("rustup could not add it: {reason}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::anyhow;

    use super::obtain_with;

    const TARGET: &str = "x86_64-unknown-linux-musl";

    #[test]
    fn rustup_is_asked_once_and_only_for_what_is_missing() {
        // Installed before, installed by rustup, output of rustup; expected availability.
        for (before, after, adds, expected) in [
            (true, true, true, true),
            (false, true, true, true),
            (false, false, true, false),
            (false, false, false, false),
        ] {
            let asked = Cell::new(0);
            let is_installed = |_: &str| if asked.get() == 0 { before } else { after };
            let add = |target: &str| {
                assert_eq!(target, TARGET);
                asked.set(asked.get() + 1);
                if adds {
                    Ok(())
                } else {
                    Err(anyhow!("no network"))
                }
            };
            assert_eq!(obtain_with(TARGET, is_installed, add).is_ok(), expected);
            assert_eq!(
                asked.get(),
                i32::from(!before),
                "before {before}, after {after}, adds {adds}"
            );
        }
    }
}
