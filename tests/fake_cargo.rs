//! A cargo that builds in no time, or for as long, or as badly, as a test wants it to.

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_testkit::{wait_until, within};
use tempfile::TempDir;

use crate::claim_scene::processes_with;

/// Time after which a build counts as one that never ends: that of a whole plugin takes minutes.
const LONGEST_BUILD: Duration = Duration::from_mins(20);
/// What runs as `cargo`. Its files beside it say what it does, and what was asked of it.
const SCRIPT: &str = r#"#!/bin/sh
here=${0%/*}
[ "$1" = --version ] && exec cat "$here/version"
echo "$*" >>"$here/arguments"
env >"$here/environment"
pwd >"$here/folder"
umask >"$here/umask"
while [ "$1" != -p ]; do shift; done
package=$2
[ "$package" = omo-hooks ] && echo $$ >>"$here/builds"
printf '   Compiling %s\n    Building [====>      ] 1/57: one\r    Building [=======>   ] 12/57: two(bin)\r' "$package"
[ -f "$here/holds-$package" ] && read -r _ <"$here/door"
[ -f "$here/fails" ] && { echo "error: no such luck" >&2; exit 101; }
while [ "$1" != --bin ]; do shift; done
binary=$2
while [ "$1" != --target-dir ]; do shift; done
mkdir -p "$2/release" && cp "$here/binaries/$binary" "$2/release"
"#;

/// The pretended cargo, in a folder of its own. What it still does ends when it is dropped.
pub struct PretendedCargo {
    folder: TempDir,
    /// Both ends of the pipe that builds wait for, so that no open of it waits for the other end.
    held_door: File,
}

impl PretendedCargo {
    /// One that gives the ready binaries of a plugin.
    pub fn new(binaries: &Path) -> Result<Self> {
        let folder = tempfile::Builder::new()
            .prefix("pretended-cargo-")
            .tempdir()?;
        let door = folder.path().join("door");
        let made = Command::new("mkfifo")
            .arg(&door)
            .status()
            .context("start mkfifo")?;
        ensure!(made.success(), "mkfifo: {made}");
        let cargo = Self {
            folder,
            held_door: File::options().read(true).write(true).open(door)?,
        };
        fs::create_dir(cargo.folder().join("binaries"))?;
        lay_binaries(binaries, &cargo.folder().join("binaries"))?;
        cargo.has_version("cargo 2.0.0 (pretended)")?;
        fs::write(cargo.folder().join("cargo"), SCRIPT)?;
        fs::set_permissions(
            cargo.folder().join("cargo"),
            PermissionsExt::from_mode(0o755),
        )?;
        Ok(cargo)
    }

    /// The folder for `PATH`.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// What `cargo --version` says from now on.
    pub fn has_version(&self, version: &str) -> Result<()> {
        Ok(fs::write(
            self.folder().join("version"),
            format!("{version}\n"),
        )?)
    }

    /// Every build fails from now on, with status 101.
    pub fn fail_builds(&self) -> Result<()> {
        Ok(fs::write(self.folder().join("fails"), "")?)
    }

    /// Every build of the hooks waits from now on, each for one [`release`](Self::release).
    pub fn block_builds(&self) -> Result<()> {
        self.block_package_builds("omo-hooks")
    }

    /// Every build of a package waits from now on, each for one [`release`](Self::release).
    pub fn block_package_builds(&self, package: &str) -> Result<()> {
        Ok(fs::write(
            self.folder().join(format!("holds-{package}")),
            "",
        )?)
    }

    /// No build of the hooks waits that has not begun yet.
    pub fn unblock_builds(&self) -> Result<()> {
        Ok(fs::remove_file(self.folder().join("holds-omo-hooks"))?)
    }

    /// Lets one build that waits go on.
    pub fn release(&self) -> Result<()> {
        Ok((&self.held_door).write_all(b"\n")?)
    }

    /// How many builds began.
    pub fn builds(&self) -> usize {
        self.recorded_input("builds").lines().count()
    }

    /// Waits until so many builds began.
    pub fn wait_for_builds(&self, count: usize) -> Result<()> {
        wait_until("the build", || (self.builds() >= count).then_some(()))
    }

    /// What builds were given: the `arguments` of each call, and of the last the `environment`, `folder` or `umask`.
    pub fn recorded_input(&self, what: &str) -> String {
        fs::read_to_string(self.folder().join(what)).unwrap_or_default()
    }

    /// Ends the builds that still wait.
    pub fn end(&self) {
        let mine = self.folder().join("cargo").display().to_string();
        for process in processes_with(&mine) {
            Command::new("kill")
                .args(["-KILL", &process.to_string()])
                .status()
                .ok();
        }
    }
}

impl Drop for PretendedCargo {
    fn drop(&mut self) {
        self.end();
    }
}

/// Lays the binaries that a build gives into a folder, from the `bin/` of a plugin.
pub fn lay_binaries(plugin: &Path, folder: &Path) -> Result<()> {
    for (binary, name) in [("omo-stop", "omo-hook"), ("omo", "omo")] {
        symlink(plugin.join(binary), folder.join(name))?;
    }
    Ok(())
}

/// Waits for the last line of a build's log, which says how it ended.
pub fn wait_for_build_outcome(log: &Path) -> Result<String> {
    let ended = || {
        let text = fs::read_to_string(log).ok()?;
        let last = text.lines().last()?.to_owned();
        (last.starts_with("built ") || last.starts_with("failed: ")).then_some(last)
    };
    within(LONGEST_BUILD, ended)
        .with_context(|| format!("the log:\n{}", fs::read_to_string(log).unwrap_or_default()))
}
