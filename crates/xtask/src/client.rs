//! Packages of npm for the tests, above all the real client: one pinned version of each, installed under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The client version of the tests. Most facts about the client were measured on 2.1.328, with three changes since:
///
/// - `Stop` and `SubagentStop` hooks begin once the transcript is written, from 2.1.331 on; before they began up to
///   80 ms ahead of it.
/// - `claude plugin list` shows built-in plugins as well.
/// - A busy client puts a command that a hook blocked back into its input box, as it always does with a plain prompt.
const VERSION: &str = "2.1.332";
const CLIENT: &str = "@anthropic-ai/claude-code";
/// The Vitest version of the tests, one that runs with the node of a stable Debian.
const VITEST_VERSION: &str = "3.2.4";

/// Path of the client's program, installed if missing.
///
/// `version` replaces that of the tests: a number, or a name such as `latest`.
pub(crate) fn find_or_install(version: Option<&str>) -> Result<PathBuf> {
    let version = version.map_or_else(|| Ok(VERSION.to_owned()), published_version)?;
    let folder = cargo::target()?.join("claude-code").join(&version);
    let program = folder
        .join("node_modules")
        .join("@anthropic-ai")
        .join(platform_package()?)
        .join("claude");
    install(CLIENT, &version, &folder, &program)?;
    Ok(program)
}

/// Number of a version name such as `latest`.
fn published_version(name: &str) -> Result<String> {
    let number =
        cargo::output(Command::new("npm").args(["view", &format!("{CLIENT}@{name}"), "version"]))?;
    let number = number.trim();
    if !number.starts_with(|first: char| first.is_ascii_digit())
        || number.contains(char::is_whitespace)
    {
        bail!("npm knows no single version {name} of {CLIENT}: {number:?}");
    }
    anstream::println!("the client is {number}; the tests are written for {VERSION}");
    Ok(number.to_owned())
}

/// Folder of Vitest with its dependencies, installed if missing.
pub(crate) fn find_or_install_vitest() -> Result<PathBuf> {
    let folder = cargo::target()?.join("vitest").join(VITEST_VERSION);
    let modules = folder.join("node_modules");
    install(
        "vitest",
        VITEST_VERSION,
        &folder,
        &modules.join("vitest").join("vitest.mjs"),
    )?;
    Ok(modules)
}

/// Folder of the browser driver, installed if missing as in its lock file.
pub(crate) fn find_or_install_browser_driver() -> Result<PathBuf> {
    const MANIFEST: &str = include_str!("../../../tests/browser/package.json");
    const LOCK: &str = include_str!("../../../tests/browser/package-lock.json");
    let folder = cargo::target()?.join("browser");
    let installed = folder.join("installed.json");
    if std::fs::read_to_string(&installed).is_ok_and(|lock| lock == LOCK) {
        return Ok(folder.join("node_modules"));
    }
    if !cargo::has("npm") {
        bail!("npm is not installed, so what drives a browser cannot be");
    }
    anstream::println!("installing what drives a browser into {}", folder.display());
    std::fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    for (name, text) in [("package.json", MANIFEST), ("package-lock.json", LOCK)] {
        std::fs::write(folder.join(name), text).with_context(|| format!("write {name}"))?;
    }
    // From the lock file, each package with its digest.
    let install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    cargo::output(Command::new("npm").args(install).current_dir(&folder))?;
    std::fs::write(&installed, LOCK).with_context(|| format!("write {}", installed.display()))?;
    Ok(folder.join("node_modules"))
}

/// Installs a package from npm into a folder, unless its program is there.
fn install(name: &str, version: &str, folder: &Path, program: &Path) -> Result<()> {
    if program.is_file() {
        return Ok(());
    }
    if !cargo::has("npm") {
        bail!("npm is not installed, so {name} {version} cannot be");
    }
    anstream::println!("installing {name} {version} into {}", folder.display());
    std::fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    let package = format!("{name}@{version}");
    let install = [
        "install",
        "--no-audit",
        "--no-fund",
        "--ignore-scripts",
        "--prefix",
        ".",
        &package,
    ];
    // Captured: npm's list of added packages is no news.
    cargo::output(Command::new("npm").args(install).current_dir(folder))?;
    if !program.is_file() {
        bail!("npm installed no {}", program.display());
    }
    Ok(())
}

fn platform_package() -> Result<String> {
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        other => bail!("the client has no package for {other} that these tests know"),
    };
    let processor = match std::env::consts::ARCH {
        "x86_64" => "x64",
        "aarch64" => "arm64",
        other => bail!("the client has no package for {other} that these tests know"),
    };
    Ok(format!("claude-code-{system}-{processor}"))
}
