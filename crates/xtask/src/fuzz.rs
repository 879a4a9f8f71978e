//! `cargo xtask fuzz`: every fuzz target for a while, one after another.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::cargo;

const TIMEOUT_SECONDS: u32 = 10;
const MEMORY_MIB: u32 = 1_024;

/// Maximum bytes of an input: longer ones are slower and find nothing else.
const MAX_BYTES: u32 = 8_192;

/// What is run, and for how long.
#[derive(Args)]
pub(crate) struct Options {
    /// How long each target runs, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..))]
    seconds: u32,
    /// Only run this target
    #[arg(long)]
    target: Option<String>,
}

/// Builds and runs the targets; fails on a finding.
pub(crate) fn run(options: &Options) -> Result<()> {
    let fuzz = cargo::top()?.join("fuzz");
    let targets = chosen(names(&fuzz.join("corpus"))?, options.target.as_deref())?;
    is_ready()?;
    let work = cargo::target()?.join("fuzz");
    let programs = build(&work)?;
    let mut broken = Vec::new();
    for target in &targets {
        let played = play(
            target,
            &programs.join(target),
            &fuzz,
            &work,
            options.seconds,
        )?;
        anstream::println!("{target:<16}{}", played.line());
        if !played.is_clean {
            broken.push(target.as_str());
        }
    }
    if !broken.is_empty() {
        bail!(
            "the fuzzer found something in {}; once it is fixed, keep the input in fuzz/corpus",
            broken.join(", ")
        );
    }
    Ok(())
}

fn names(folder: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(folder).with_context(|| format!("read {}", folder.display()))?;
    let mut names: Vec<String> = entries
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

fn chosen(targets: Vec<String>, wanted: Option<&str>) -> Result<Vec<String>> {
    match wanted {
        None => Ok(targets),
        Some(wanted) if targets.iter().any(|target| target == wanted) => {
            Ok(vec![wanted.to_owned()])
        }
        Some(wanted) => bail!(
            "there is no target `{wanted}`; there are: {}",
            targets.join(", ")
        ),
    }
}

/// A hint on missing programs to install.
fn is_ready() -> Result<()> {
    let works = |command: &mut Command| {
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|it| it.success())
    };
    if !works(nightly().arg("--version")) {
        bail!(
            "the fuzzer needs a nightly compiler: rustup toolchain install nightly --profile minimal"
        );
    }
    if !works(nightly().args(["fuzz", "--version"])) {
        bail!("cargo-fuzz is not installed: cargo install cargo-fuzz --locked");
    }
    Ok(())
}

/// The nightly cargo. The running cargo is another one, and takes no `+nightly`.
fn nightly() -> Command {
    let mut command = Command::new("rustup");
    command.args(["run", "nightly", "cargo"]);
    command
}

/// Builds all targets; gives the folder of their programs.
fn build(work: &Path) -> Result<PathBuf> {
    let version = cargo::output(Command::new("rustup").args(["run", "nightly", "rustc", "-vV"]))?;
    let triple = version
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .context("rustc names no host")?;
    let folder = work.join("build");
    // Without a memory sanitizer: no code of ours is unsafe, and the fuzzer tries far more.
    let how = [
        "fuzz",
        "build",
        "--sanitizer",
        "none",
        "--target",
        triple,
        "--target-dir",
    ];
    cargo::run(nightly().args(how).arg(&folder).current_dir(cargo::top()?))?;
    Ok(folder.join(triple).join("release"))
}

#[derive(Debug, Default, PartialEq, Eq)]
struct Played {
    is_clean: bool,
    inputs: u64,
    covered: u64,
    corpus: u64,
    input: Option<String>,
    log: PathBuf,
}

impl Played {
    fn line(&self) -> String {
        let end = match (self.is_clean, &self.input) {
            (true, _) => "clean".to_owned(),
            (false, Some(input)) => format!("BROKEN by {input}, see {}", self.log.display()),
            (false, None) => format!("BROKEN, see {}", self.log.display()),
        };
        format!(
            "{:>12} inputs  {:>6} edges covered  {:>6} in the corpus  {end}",
            self.inputs, self.covered, self.corpus
        )
    }
}

fn play(target: &str, program: &Path, fuzz: &Path, work: &Path, seconds: u32) -> Result<Played> {
    let log = work.join(format!("{target}.log"));
    let [found, artifacts, files] =
        ["corpus", "artifacts", "files"].map(|name| work.join(name).join(target));
    for folder in [&found, &artifacts, &files] {
        fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    }
    let mut command = Command::new(program);
    // New inputs go into the first folder: people choose those of the repository.
    command.arg(&found).arg(fuzz.join("corpus").join(target));
    command.arg(format!(
        "-dict={}",
        fuzz.join("dictionaries")
            .join(format!("{target}.dict"))
            .display()
    ));
    command.arg(format!("-artifact_prefix={}/", artifacts.display()));
    command
        .arg(format!("-max_total_time={seconds}"))
        .arg(format!("-timeout={TIMEOUT_SECONDS}"));
    command
        .arg(format!("-rss_limit_mb={MEMORY_MIB}"))
        .arg(format!("-max_len={MAX_BYTES}"));
    command.arg("-print_final_stats=1");
    command
        .env("TMPDIR", &files)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    command.stderr(File::create(&log).with_context(|| format!("create {}", log.display()))?);
    let status = command
        .status()
        .with_context(|| format!("run {command:?}"))?;
    let said = fs::read(&log).with_context(|| format!("read {}", log.display()))?;
    Ok(Played {
        is_clean: status.success(),
        log,
        ..figures(&String::from_utf8_lossy(&said))
    })
}

fn figures(said: &str) -> Played {
    let last = said
        .lines()
        .rfind(|line| line.contains(" cov: "))
        .unwrap_or_default();
    let after = |line: &str, name: &str| {
        let (_, rest) = line.split_once(name)?;
        rest.trim_start()
            .split(|char: char| !char.is_ascii_digit())
            .next()?
            .parse()
            .ok()
    };
    let inputs = said
        .lines()
        .find_map(|line| after(line, "stat::number_of_executed_units:"));
    let input = said
        .lines()
        .find_map(|line| line.split_once("Test unit written to "))
        .map(|(_, path)| path.to_owned());
    Played {
        inputs: inputs.unwrap_or_default(),
        covered: after(last, " cov: ").unwrap_or_default(),
        corpus: after(last, " corp: ").unwrap_or_default(),
        input,
        ..Played::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_of_a_run_are_read() {
        let clean = "#2\tINITED cov: 10 ft: 11 corp: 3/9b exec/s: 0 rss: 30Mb\n#4096\tDONE   cov: 1234 ft: 50 corp: 77/9Kb lim: 9 exec/s: 9\n\
                     stat::number_of_executed_units: 4096\nstat::average_exec_per_sec:     99\n";
        let played = figures(clean);
        assert_eq!(
            (played.inputs, played.covered, played.corpus, played.input),
            (4096, 1234, 77, None)
        );
        let broken = "#8\tNEW    cov: 5 ft: 6 corp: 2/3b\nthread panicked\n\
                      artifact_prefix='/a/'; Test unit written to /a/crash-12\nstat::number_of_executed_units: 9\n";
        let played = figures(broken);
        assert_eq!(
            (played.inputs, played.covered, played.input.as_deref()),
            (9, 5, Some("/a/crash-12"))
        );
        assert_eq!(figures("could not start"), Played::default());
    }

    #[test]
    fn a_target_that_is_none_is_refused_by_name() {
        let targets = || vec!["a".to_owned(), "b".to_owned()];
        assert_eq!(chosen(targets(), None).unwrap(), ["a", "b"]);
        assert_eq!(chosen(targets(), Some("b")).unwrap(), ["b"]);
        let error = chosen(targets(), Some("c")).unwrap_err().to_string();
        assert_eq!(error, "there is no target `c`; there are: a, b");
    }
}
