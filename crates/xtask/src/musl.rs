//! The Rust target that links musl: whether it is here, and adding it where rustup can.

use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use crate::cargo;

/// Whether this machine can build for the target, which rustup is asked for once where it is missing.
///
/// That this failed is said in a line and is no error: there are other ways to build.
pub fn is_available(target: &str) -> bool {
    available(target, is_installed, add)
}

fn available(target: &str, is_installed: impl Fn(&str) -> bool, add: impl FnOnce(&str) -> Result<()>) -> bool {
    if is_installed(target) {
        return true;
    }
    let added = add(target).and_then(|()| {
        ensure!(is_installed(target), "rustup added it to another toolchain than the one that builds");
        Ok(())
    });
    if let Err(error) = &added {
        anstream::println!("building without the target {target}: {error:#}");
    }
    added.is_ok()
}

fn is_installed(target: &str) -> bool {
    let library = cargo::output(Command::new("rustc").args(["--print", "target-libdir", "--target", target]));
    library.is_ok_and(|path| Path::new(path.trim()).is_dir())
}

fn add(target: &str) -> Result<()> {
    if !cargo::has("rustup") {
        bail!("it is not installed, and neither is rustup");
    }
    anstream::println!("adding it, for hooks that start faster: rustup target add {target}");
    let mut rustup = Command::new("rustup");
    let output = rustup.args(["target", "add", target]).stdin(Stdio::null()).output().context("run rustup")?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let reason = said.lines().map(str::trim).rfind(|line| !line.is_empty()).unwrap_or("it gave no reason");
        bail!("rustup could not add it: {reason}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use anyhow::anyhow;

    use super::available;

    const TARGET: &str = "x86_64-unknown-linux-musl";

    #[test]
    fn rustup_is_asked_once_and_only_for_what_is_missing() {
        // Installed before, installed by rustup, what rustup says; whether it is then available.
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
                if adds { Ok(()) } else { Err(anyhow!("no network")) }
            };
            assert_eq!(available(TARGET, is_installed, add), expected);
            assert_eq!(asked.get(), i32::from(!before), "before {before}, after {after}, adds {adds}");
        }
    }
}
