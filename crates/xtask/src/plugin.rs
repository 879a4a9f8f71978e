//! `cargo xtask plugin`: the installable plugin, with the binaries in `bin/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use omo_core::session::HookEvent;

use crate::{cargo, rust_target};

/// Parts of a plugin in every form, besides `bin/` and `scripts/`.
pub(crate) const PARTS: [&str; 9] = [
    ".claude-plugin/plugin.json",
    "hooks.json",
    "commands",
    "agents",
    "workflows",
    "README.md",
    "LICENSE",
    "CHANGELOG.md",
    "icon.png",
];

/// More parts of a plugin with binaries in `bin/`.
const MORE_PARTS: [&str; 6] = [
    ".claude-plugin/marketplace.json",
    // Only the script that command files of others name: the rest is for launchers.
    "scripts/session-get.sh",
    "scripts/session-update.sh",
    "scripts/task-list.sh",
    "scripts/task-update.sh",
    "evals",
];

/// Arguments of cargo for a plugin's binaries.
pub(crate) const BUILT: [&str; 6] = ["--locked", "-p", "omo-hooks", "-p", "omo-cli", "--bins"];

/// The program of all hooks, copied under the name of each.
pub(crate) const HOOKS: &str = "omo-hook";

pub(crate) struct Plugin {
    pub path: PathBuf,
    /// Build of the binaries.
    pub build: Build,
}

pub(crate) enum Build {
    /// The build for users.
    Release(Target),
    /// A build in seconds, in one tree with this program and the tests: for a demo and for a developer's tests.
    Development {
        /// Target triple of this machine.
        host: String,
    },
}

pub(crate) struct Target {
    pub triple: String,
    /// Without libraries of the system.
    pub is_static: bool,
}

impl Build {
    /// The best release that this machine can build for itself.
    pub(crate) fn release() -> Result<Self> {
        Ok(Self::Release(Target::choose(
            &host()?,
            rust_target::is_available,
            can_link_statically,
        )))
    }

    pub(crate) fn development() -> Result<Self> {
        Ok(Self::Development { host: host()? })
    }

    pub(crate) fn triple(&self) -> &str {
        match self {
            Self::Release(target) => &target.triple,
            Self::Development { host } => host,
        }
    }

    pub(crate) fn release_target(&self) -> Option<&str> {
        matches!(self, Self::Release(_)).then(|| self.triple())
    }

    /// File name of a binary, such as `omo.exe`.
    pub(crate) fn binary(&self, name: &str) -> String {
        if self.triple().contains("-windows-") {
            format!("{name}.exe")
        } else {
            name.to_owned()
        }
    }

    fn description(&self) -> &'static str {
        match self {
            Self::Development { .. } => "not optimised",
            Self::Release(target) => target.linked(),
        }
    }

    pub(crate) fn cargo(&self, verb: &str) -> Result<Command> {
        let mut command = Command::new(cargo::cargo());
        command.arg(verb).current_dir(cargo::top()?);
        match self {
            Self::Release(target) => target.add_to(&mut command),
            // In one call with this program, so that shared crates are built once.
            Self::Development { .. } => drop(command.args(["-p", env!("CARGO_PKG_NAME")])),
        }
        Ok(command)
    }

    pub(crate) fn folder(&self) -> Result<PathBuf> {
        let target = cargo::target()?;
        Ok(match self {
            Self::Release(build) => target.join(&build.triple).join("release"),
            Self::Development { .. } => target.join("debug"),
        })
    }
}

impl Target {
    /// The best target of a host: on Linux static with musl, if present or available; else static with the system's
    /// own C library; else the default.
    fn choose(
        host: &str,
        is_available: impl FnOnce(&str) -> bool,
        can_link_statically: impl FnOnce() -> bool,
    ) -> Self {
        if host.ends_with("-linux-musl") {
            return Self {
                triple: host.to_owned(),
                is_static: true,
            };
        }
        let Some(system) = host.strip_suffix("-linux-gnu") else {
            return Self {
                triple: host.to_owned(),
                is_static: false,
            };
        };
        let musl = format!("{system}-linux-musl");
        if is_available(&musl) {
            return Self {
                triple: musl,
                is_static: true,
            };
        }
        Self {
            triple: host.to_owned(),
            is_static: can_link_statically(),
        }
    }

    fn linked(&self) -> &'static str {
        match (self.is_static, self.triple.ends_with("-musl")) {
            (true, true) => "static, with musl",
            (true, false) => "static, with the system's own C library",
            (false, _) => "linked to the system's libraries",
        }
    }

    fn add_to(&self, command: &mut Command) {
        command.args(["--release", "--target", &self.triple]);
        if self.is_static {
            // Set for the target alone, so that build scripts and macros stay as they are. At a fixed address: moving
            // a program that runs for a fifth of a millisecond costs a tenth of that.
            let flags = ["-Ctarget-feature=+crt-static", "-Crelocation-model=static"];
            let flags = format!("target.{}.rustflags={flags:?}", self.triple);
            command.args(["--config", &flags]);
        }
    }
}

pub(crate) fn host() -> Result<String> {
    let rustc = cargo::output(Command::new("rustc").arg("-vV"))?;
    let host = rustc
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    Ok(host.to_owned())
}

/// `true` where the system has a static C library.
fn can_link_statically() -> bool {
    let found = cargo::output(Command::new("cc").arg("-print-file-name=libc.a"));
    found.is_ok_and(|path| Path::new(path.trim()).is_absolute())
}

/// Builds the plugin for users into `target/plugin`.
pub(crate) fn build() -> Result<Plugin> {
    build_into("plugin", Build::release()?)
}

/// Builds the plugin for a developer into `target/plugin-dev`.
pub(crate) fn build_for_development() -> Result<Plugin> {
    build_into("plugin-dev", Build::development()?)
}

fn build_into(name: &str, build: Build) -> Result<Plugin> {
    cargo::run(build.cargo("build")?.args(BUILT))?;
    let plugin = Plugin {
        path: cargo::target()?.join(name),
        build,
    };
    assemble(&plugin.path, &plugin.build)?;
    Ok(plugin)
}

/// Assembles a plugin from built binaries in a folder, such as `target/plugin`.
pub(crate) fn assemble(folder: &Path, build: &Build) -> Result<()> {
    let top = cargo::top()?;
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("clear {}", folder.display()))?;
    }
    for part in PARTS.iter().chain(&MORE_PARTS) {
        copy(&top.join(part), &folder.join(part))?;
    }
    let (release, bin) = (build.folder()?, folder.join("bin"));
    copy(
        &release.join(build.binary("omo")),
        &bin.join(build.binary("omo")),
    )?;
    let [first, others @ ..] = HookEvent::ALL.map(|event| bin.join(build.binary(event.program())));
    copy(&release.join(build.binary(HOOKS)), &first)?;
    others.iter().try_for_each(|name| link(&first, name))
}

/// A hard link to a file, or a copy where the file system has no links. Replaces an existing file.
pub(crate) fn link(file: &Path, name: &Path) -> Result<()> {
    if name.exists() {
        fs::remove_file(name).with_context(|| format!("remove {}", name.display()))?;
    }
    fs::hard_link(file, name).or_else(|_| copy(file, name))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    let context = || format!("copy {} to {}", from.display(), to.display());
    if from.is_dir() {
        for entry in fs::read_dir(from).with_context(context)? {
            let entry = entry.with_context(context)?;
            copy(&entry.path(), &to.join(entry.file_name()))?;
        }
        return Ok(());
    }
    fs::create_dir_all(to.parent().unwrap_or(to)).with_context(context)?;
    fs::copy(from, to).with_context(context)?;
    Ok(())
}

impl Plugin {
    pub(crate) fn announce(&self) {
        anstream::println!(
            "built {} ({}, {})",
            self.path.display(),
            self.build.triple(),
            self.build.description()
        );
        if let Build::Release(target) = &self.build
            && let Some(system) = target.triple.strip_suffix("-linux-gnu")
        {
            anstream::println!(
                "hint: with the Rust target {system}-linux-musl the hooks start three times as fast"
            );
        }
        anstream::println!("\nTry it:  claude --plugin-dir {}", self.path.display());
    }
}

#[cfg(test)]
mod tests {
    use super::Target;

    #[test]
    fn musl_is_best_then_a_static_glibc_then_what_there_is() {
        let as_usual = "linked to the system's libraries";
        let own_library = "static, with the system's own C library";
        // Host, presence of the musl target, presence of a static C library, expected triple and linkage.
        for (host, has_musl, has_static, triple, linked) in [
            (
                "x86_64-unknown-linux-gnu",
                true,
                true,
                "x86_64-unknown-linux-musl",
                "static, with musl",
            ),
            (
                "aarch64-unknown-linux-gnu",
                true,
                false,
                "aarch64-unknown-linux-musl",
                "static, with musl",
            ),
            (
                "x86_64-unknown-linux-gnu",
                false,
                true,
                "x86_64-unknown-linux-gnu",
                own_library,
            ),
            (
                "x86_64-unknown-linux-gnu",
                false,
                false,
                "x86_64-unknown-linux-gnu",
                as_usual,
            ),
            (
                "x86_64-unknown-linux-musl",
                false,
                false,
                "x86_64-unknown-linux-musl",
                "static, with musl",
            ),
            (
                "aarch64-apple-darwin",
                true,
                true,
                "aarch64-apple-darwin",
                as_usual,
            ),
            (
                "x86_64-pc-windows-gnu",
                true,
                true,
                "x86_64-pc-windows-gnu",
                as_usual,
            ),
        ] {
            let target = Target::choose(host, |_| has_musl, || has_static);
            assert_eq!(
                (target.triple.as_str(), target.linked()),
                (triple, linked),
                "{host} {has_musl} {has_static}"
            );
        }
    }
}
