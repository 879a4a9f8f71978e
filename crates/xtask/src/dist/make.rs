//! Archives and packages of a release.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::archive::{self, Written};
use super::npm::{self, PLATFORMS, Platform, PlatformPackage};
use super::targets::{self, Linker, TARGETS};
use super::{Options, gather};
use crate::plugin::{self, Build, Target};
use crate::{cargo, rust_target};

/// Folder of manual pages beside a program's `bin/`.
const MANUAL: &str = "share/man/man1";

enum Outcome {
    Made(Made),
    LeftOut(String),
    Failed(String),
}

struct Made {
    archives: Vec<Written>,
    package: Option<PlatformPackage>,
    stop: u64,
}

/// Makes the archives, the packages and their sums in `target/dist`.
pub(super) fn run(options: &Options) -> Result<()> {
    let folder = cargo::target()?.join("dist");
    clear(&folder)?;
    let host = plugin::host()?;
    let mut outcomes = Vec::new();
    for target in chosen(options, &host) {
        let outcome = make(&host, &target, &folder)
            .unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        outcomes.push((target, outcome));
    }
    anstream::println!("\n{}", table(&outcomes));
    let (all, mut made, mut failed, mut packages) = (outcomes.len(), Vec::new(), 0, Vec::new());
    for (_, outcome) in outcomes {
        match outcome {
            Outcome::Made(Made {
                archives, package, ..
            }) => {
                made.extend(archives);
                packages.extend(package);
            }
            Outcome::Failed(_) => failed += 1,
            Outcome::LeftOut(_) => {}
        }
    }
    let archives = made.len();
    if !packages.is_empty() {
        made.extend(npm::write_plugin(npm::VERSION, &packages, &folder)?);
    }
    made.extend(packages.into_iter().map(|package| package.file));
    finish(&made, &folder)?;
    ensure!(failed == 0, "{failed} of {all} targets failed");
    ensure!(
        options.target.is_empty() || archives == 2 * all,
        "not every target that was named could be built"
    );
    Ok(())
}

/// Makes the plugin's package for all platforms from theirs, which other machines have made.
pub(super) fn assemble(folders: &[PathBuf]) -> Result<()> {
    // All are read before anything is cleared: the folder may be one of those.
    let platforms = gather::platforms(folders)?;
    let folder = cargo::target()?.join("dist");
    clear(&folder)?;
    let packages = platforms
        .iter()
        .map(|(platform, bytes)| npm::save_platform(*platform, npm::VERSION, bytes, &folder));
    let packages = packages.collect::<Result<Vec<_>>>()?;
    let mut made = npm::write_plugin(npm::VERSION, &packages, &folder)?;
    made.extend(packages.into_iter().map(|package| package.file));
    finish(&made, &folder)
}

fn finish(made: &[Written], folder: &Path) -> Result<()> {
    fs::write(folder.join("SHA256SUMS"), archive::sums(made)).context("write SHA256SUMS")?;
    anstream::println!(
        "{} files and SHA256SUMS in {}",
        made.len(),
        folder.display()
    );
    Ok(())
}

/// Named targets, or those of a release with this machine's own.
fn chosen(options: &Options, host: &str) -> Vec<String> {
    if !options.target.is_empty() {
        return options.target.clone();
    }
    let mut targets: Vec<String> = TARGETS.map(str::to_owned).to_vec();
    // On Linux the static target is for this machine as well.
    if !targets.iter().any(|target| target == host) && !host.contains("-linux-") {
        targets.push(host.to_owned());
    }
    targets
}

fn make(host: &str, target: &str, folder: &Path) -> Result<Outcome> {
    let linker = match targets::linker(host, target, works) {
        Ok(linker) => linker,
        Err(why) => return Ok(Outcome::LeftOut(why.to_owned())),
    };
    if target != host && !rust_target::is_available(target) {
        return Ok(Outcome::LeftOut(
            "its Rust target is not here and cannot be added".to_owned(),
        ));
    }
    let is_static = target.ends_with("-linux-musl");
    let build = Build::Release(Target {
        triple: target.to_owned(),
        is_static,
    });
    anstream::println!("building for {target}");
    let mut command = build.cargo("build")?;
    if let Some(program) = program(&linker, target)? {
        let value = toml_string(&program)?;
        command.args(["--config", &format!("target.{target}.linker={value}")]);
    }
    if cargo::run(command.args(plugin::BUILT)).is_err() {
        return Ok(Outcome::Failed(
            "cargo could not build it, as it says above".to_owned(),
        ));
    }
    let name = super::name_of(target);
    let (release, staged) = (build.folder()?, cargo::target()?.join("dist-plugin"));
    plugin::assemble(&staged, &build)?;
    let stop = release.join(build.binary(plugin::HOOKS));
    let stop = fs::metadata(&stop)
        .with_context(|| format!("look at {}", stop.display()))?
        .len();
    add_manual(&staged)?;
    let archives = archive::write(&staged, &name, folder)?;
    let package = match Platform::of(target) {
        None => None,
        Some(platform) => {
            let [hook, omo] = npm::BINARIES.map(|name| release.join(name));
            let bytes = npm::pack_platform(platform, npm::VERSION, [&hook, &omo])?;
            Some(npm::save_platform(platform, npm::VERSION, &bytes, folder)?)
        }
    };
    Ok(Outcome::Made(Made {
        archives,
        package,
        stop,
    }))
}

/// Adds pages for `man`, about the command line alone, and the same for every target.
fn add_manual(plugin: &Path) -> Result<()> {
    let mut command = Command::new(cargo::cargo());
    command
        .args(["run", "--quiet", "--locked", "-p", "omo-pages", "--"])
        .arg(plugin.join(MANUAL));
    cargo::run(command.current_dir(cargo::top()?))
}

/// Packs the plugin for the tests, for npm also as a higher version. Packages of other platforms are there to be left
/// out, without binaries.
pub(super) fn pack_for_tests() -> Result<()> {
    let (folder, plugin) = (super::test_folder()?, cargo::target()?.join("plugin"));
    clear(&folder)?;
    let host = plugin::host()?;
    archive::write(&plugin, &super::name_of(&host), &folder)?;
    let (bin, launcher) = (plugin.join("bin"), cargo::top()?.join("bin").join("omo"));
    let (hook, omo) = (bin.join("omo-stop"), bin.join("omo"));
    // This version last: `marketplace.json` names it.
    for version in ["99.0.0", npm::VERSION] {
        let packages = PLATFORMS.map(|platform| {
            let is_own = Platform::of(&host) == Some(platform);
            let binaries = if is_own {
                [&*hook, &*omo]
            } else {
                [&*launcher, &*launcher]
            };
            npm::save_platform(
                platform,
                version,
                &npm::pack_platform(platform, version, binaries)?,
                &folder,
            )
        });
        npm::write_plugin(
            version,
            &packages.into_iter().collect::<Result<Vec<_>>>()?,
            &folder,
        )?;
    }
    Ok(())
}

fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("clear {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))
}

fn works(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else {
        return false;
    };
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Program for `linker =` of cargo, where the default is wrong.
fn program(linker: &Linker, target: &str) -> Result<Option<String>> {
    let words = match linker {
        Linker::Default => return Ok(None),
        Linker::Program(program) => return Ok(Some((*program).to_owned())),
        Linker::Zig(words) => words,
    };
    let (processor, _) = target
        .split_once('-')
        .context("a target without a processor")?;
    let folder = cargo::target()?.join("linkers");
    fs::create_dir_all(&folder).with_context(|| format!("create {}", folder.display()))?;
    let path = folder.join(target);
    // Nothing here calls libiconv, which the crate `libc` names for macOS and zig does not bring.
    let script = format!(
        "#!/bin/sh\nfor word do\n  shift\n  [ \"$word\" = -liconv ] || set -- \"$@\" \"$word\"\ndone\nexec {} cc -target {processor}-macos \"$@\"\n",
        words.join(" ")
    );
    fs::write(&path, script).with_context(|| format!("write {}", path.display()))?;
    #[cfg(unix)]
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
    let Some(path) = path.to_str() else {
        bail!(
            "{} is no text, and cargo takes no other path",
            path.display()
        )
    };
    Ok(Some(path.to_owned()))
}

fn toml_string(text: &str) -> Result<String> {
    Ok(serde_json::to_string(text)?)
}

fn table(outcomes: &[(String, Outcome)]) -> String {
    let mut lines = vec![format!(
        "{:<28}{:>10}{:>10}{:>10}{:>10}",
        "target", "tar.gz", "zip", "npm", "omo-hook"
    )];
    for (target, outcome) in outcomes {
        lines.push(match outcome {
            Outcome::Made(Made {
                archives,
                package,
                stop,
            }) => {
                let files = archives
                    .iter()
                    .chain(package.iter().map(|package| &package.file));
                let sizes: Vec<String> = files.map(|it| kib(it.size as u64)).collect();
                let [first, second, third] = [0, 1, 2].map(|index| text(&sizes, index));
                format!(
                    "{target:<28}{first:>10}{second:>10}{third:>10}{:>10}",
                    kib(*stop)
                )
            }
            Outcome::LeftOut(why) => format!("{target:<28}  left out: {why}"),
            Outcome::Failed(why) => format!("{target:<28}  failed: {why}"),
        });
    }
    lines.join("\n") + "\n"
}

fn text(sizes: &[String], index: usize) -> &str {
    sizes.get(index).map_or("", String::as_str)
}

fn kib(bytes: u64) -> String {
    format!("{} KiB", bytes.div_ceil(1024))
}
