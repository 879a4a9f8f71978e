//! Makes the archives of a release.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};

use super::Options;
use super::archive::{self, Written};
use super::targets::{self, Linker, TARGETS};
use crate::plugin::{self, Build, Target};
use crate::{cargo, rust_target};

/// What became of one target.
enum Outcome {
    Made { archives: Vec<Written>, stop: u64 },
    LeftOut(String),
    Failed(String),
}

/// Makes the archives and their sums in `target/dist`.
pub(super) fn run(options: &Options) -> Result<()> {
    let folder = cargo::target()?.join("dist");
    clear(&folder)?;
    let host = plugin::host()?;
    let mut outcomes = Vec::new();
    for target in chosen(options, &host) {
        let outcome = make(&host, &target, &folder).unwrap_or_else(|error| Outcome::Failed(format!("{error:#}")));
        outcomes.push((target, outcome));
    }
    let made: Vec<&Written> = outcomes
        .iter()
        .filter_map(|(_, outcome)| if let Outcome::Made { archives, .. } = outcome { Some(archives) } else { None })
        .flatten()
        .collect();
    fs::write(folder.join("SHA256SUMS"), archive::sums(&made)).context("write SHA256SUMS")?;
    anstream::println!("\n{}", table(&outcomes));
    anstream::println!("{} archives and SHA256SUMS in {}", made.len(), folder.display());
    let failed = outcomes.iter().filter(|(_, outcome)| matches!(outcome, Outcome::Failed(_))).count();
    ensure!(failed == 0, "{failed} of {} targets failed", outcomes.len());
    ensure!(
        options.target.is_empty() || made.len() == 2 * outcomes.len(),
        "not every target that was named could be built"
    );
    Ok(())
}

/// Which targets are meant: those that were named, or all of a release and this machine's own.
fn chosen(options: &Options, host: &str) -> Vec<String> {
    if !options.target.is_empty() {
        return options.target.clone();
    }
    let mut targets: Vec<String> = TARGETS.map(str::to_owned).to_vec();
    // On Linux the static one is for this machine as well.
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
        return Ok(Outcome::LeftOut("its Rust target is not here and cannot be added".to_owned()));
    }
    let is_static = target.ends_with("-linux-musl");
    let build = Build::Release(Target { triple: target.to_owned(), is_static });
    anstream::println!("building for {target}");
    let mut command = build.cargo("build")?;
    if let Some(program) = program(&linker, target)? {
        let value = toml_string(&program)?;
        command.args(["--config", &format!("target.{target}.linker={value}")]);
    }
    if cargo::run(command.args(plugin::BUILT)).is_err() {
        return Ok(Outcome::Failed("cargo could not build it, as it says above".to_owned()));
    }
    let name = super::name_of(target);
    let staged = cargo::target()?.join("dist-plugin");
    plugin::assemble(&staged, &build)?;
    let stop = staged.join("bin").join(build.binary("omo-stop"));
    let stop = fs::metadata(&stop).with_context(|| format!("look at {}", stop.display()))?.len();
    let archives = archive::write(&staged, &name, folder)?;
    Ok(Outcome::Made { archives, stop })
}

/// Packs the plugin that was built for the tests.
pub(super) fn pack_for_tests() -> Result<()> {
    let folder = super::test_folder()?;
    clear(&folder)?;
    let name = super::name_of(&plugin::host()?);
    archive::write(&cargo::target()?.join("plugin"), &name, &folder).map(drop)
}

/// Makes an empty folder in the place of what is there.
fn clear(folder: &Path) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder).with_context(|| format!("clear {}", folder.display()))?;
    }
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))
}

fn works(command: &[&str]) -> bool {
    let Some((program, arguments)) = command.split_first() else { return false };
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// The program that cargo is to link with, where it would not choose it itself.
fn program(linker: &Linker, target: &str) -> Result<Option<String>> {
    let words = match linker {
        Linker::Default => return Ok(None),
        Linker::Program(program) => return Ok(Some((*program).to_owned())),
        Linker::Zig(words) => words,
    };
    let (processor, _) = target.split_once('-').context("a target without a processor")?;
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
    let Some(path) = path.to_str() else { bail!("{} is no text, and cargo takes no other path", path.display()) };
    Ok(Some(path.to_owned()))
}

/// A text as TOML writes it, which JSON writes alike.
fn toml_string(text: &str) -> Result<String> {
    Ok(serde_json::to_string(text)?)
}

fn table(outcomes: &[(String, Outcome)]) -> String {
    let mut lines = vec![format!("{:<28}{:>10}{:>10}{:>10}", "target", "tar.gz", "zip", "omo-stop")];
    for (target, outcome) in outcomes {
        lines.push(match outcome {
            Outcome::Made { archives, stop } => {
                let sizes: Vec<String> = archives.iter().map(|it| kib(it.size as u64)).collect();
                format!("{target:<28}{:>10}{:>10}{:>10}", text(&sizes, 0), text(&sizes, 1), kib(*stop))
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
