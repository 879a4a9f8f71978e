//! What the tests have from npm, the real client above all: one pinned version of each, installed under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::cargo;

/// The version of the client that the tests are written for.
const VERSION: &str = "2.1.332";
/// The version of Vitest that the tests are written for: one that runs with the node of a stable Debian.
const VITEST_VERSION: &str = "3.2.4";

/// The client's program, installing it where it is not there yet.
pub(crate) fn find_or_install() -> Result<PathBuf> {
    let folder = cargo::target()?.join("claude-code").join(VERSION);
    let program = folder.join("node_modules").join("@anthropic-ai").join(platform_package()?).join("claude");
    install("@anthropic-ai/claude-code", VERSION, &folder, &program)?;
    Ok(program)
}

/// The folder of Vitest with all that it needs, installing it where it is not there yet.
pub(crate) fn find_or_install_vitest() -> Result<PathBuf> {
    let folder = cargo::target()?.join("vitest").join(VITEST_VERSION);
    let modules = folder.join("node_modules");
    install("vitest", VITEST_VERSION, &folder, &modules.join("vitest").join("vitest.mjs"))?;
    Ok(modules)
}

/// The folder with what drives a browser in the tests, installing it where it is not there as its lock file says.
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
    // As the lock file has it, each package with its digest.
    let install = ["ci", "--no-audit", "--no-fund", "--ignore-scripts"];
    cargo::output(Command::new("npm").args(install).current_dir(&folder))?;
    std::fs::write(&installed, LOCK).with_context(|| format!("write {}", installed.display()))?;
    Ok(folder.join("node_modules"))
}

/// Installs a package from npm into a folder, where its program is not there yet.
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
    let install = ["install", "--no-audit", "--no-fund", "--ignore-scripts", "--prefix", ".", &package];
    // Not shown: the list of what npm added is no news.
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
