//! Needs of tests that not every machine meets: of a whole suite, or in the reason of an `#[ignore]`, for example
//! `needs strace: cargo xtask test`. Tests with unmet needs are left out by name, and counted.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

use crate::cargo;

/// The real client, and a terminal driver for the person in it.
pub(crate) const CLIENT: &str = "the real client";
pub(crate) const WINE: &str = "Wine";
pub(crate) const ARCHIVES: &str = "the archives";
pub(crate) const RELEASE: &str = "the release build";
pub(crate) const VITEST: &str = "Vitest";
pub(crate) const PUPPETEER: &str = "Puppeteer";
pub(crate) const MDBOOK: &str = "mdBook";
/// Always met: the task builds the plugin.
pub(crate) const PLUGIN: &str = "the built plugin";

/// Needs of all tests in a folder whose `#[ignore]` names no other ones. Plain `cargo test` builds none of these
/// suites: each is behind a feature of the package.
const OF_SUITES: [(&str, &[&str]); 8] = [
    ("tests/blackbox", &[PLUGIN]),
    ("tests/browser", &["chromium", "node", PUPPETEER]),
    ("tests/client", &[CLIENT]),
    ("tests/hostile", &[PLUGIN]),
    ("tests/parallel", &[PLUGIN]),
    ("tests/prove", &[PLUGIN]),
    ("tests/reliability", &[PLUGIN]),
    ("tests/worker", &[PLUGIN]),
];

struct Need {
    name: &'static str,
    /// A command that succeeds where the program works.
    probe: &'static [&'static str],
    /// Debian package; `None` for a permission of the system.
    package: Option<&'static str>,
}

const NEEDS: [Need; 19] = [
    // Where a container forbids to trace, the program alone is of no use.
    Need {
        name: "strace",
        probe: &["strace", "-qq", "-o", "/dev/null", "true"],
        package: Some("strace"),
    },
    Need {
        name: "valgrind",
        probe: &["valgrind", "--version"],
        package: Some("valgrind"),
    },
    Need {
        name: "sshd",
        probe: &["test", "-x", "/usr/sbin/sshd"],
        package: Some("openssh-server"),
    },
    Need {
        name: "Slurm",
        probe: &["sh", "-c", SLURM_IS_THERE],
        package: Some("slurm-wlm and munge"),
    },
    Need {
        name: "tmux",
        probe: &["tmux", "-V"],
        package: Some("tmux"),
    },
    Need {
        name: "node",
        probe: &["node", "--version"],
        package: Some("nodejs"),
    },
    Need {
        name: "chromium",
        probe: &["chromium", "--version"],
        package: Some("chromium"),
    },
    Need {
        name: "npm",
        probe: &["npm", "--version"],
        package: Some("npm"),
    },
    Need {
        name: "python3",
        probe: &["python3", "--version"],
        package: Some("python3"),
    },
    Need {
        name: "pytest",
        probe: &["sh", "-c", SOME_PYTHON_HAS_PYTEST],
        package: Some("python3-pytest"),
    },
    Need {
        name: "go",
        probe: &["go", "version"],
        package: Some("golang-go"),
    },
    Need {
        name: "dash",
        probe: &["dash", "-c", "exit"],
        package: Some("dash"),
    },
    Need {
        name: "busybox",
        probe: &["busybox", "true"],
        package: Some("busybox"),
    },
    Need {
        name: "git 2.45",
        probe: &[
            "sh",
            "-c",
            IN_A_FOLDER,
            "git --git-dir=it init --ref-format=reftable",
        ],
        package: None,
    },
    Need {
        name: "root",
        probe: &["sh", "-c", "[ \"$(id -u)\" = 0 ]"],
        package: None,
    },
    Need {
        name: "a user who may not read everything",
        probe: &["sh", "-c", "[ \"$(id -u)\" != 0 ]"],
        package: None,
    },
    Need {
        name: "the right to make devices",
        probe: &["sh", "-c", IN_A_FOLDER, "mknod it c 1 5"],
        package: None,
    },
    Need {
        name: "a mount namespace",
        probe: &["sh", "-c", IN_A_FOLDER, "unshare -rm mount --bind . ."],
        package: None,
    },
    Need {
        name: "names that are no text",
        probe: &["sh", "-c", IN_A_FOLDER, "mkdir \"$(printf '\\351')\""],
        package: None,
    },
];

/// Daemons and commands of a cluster, none of which runs before there is one.
const SLURM_IS_THERE: &str =
    "cd /usr/sbin && test -x slurmctld && test -x slurmd && test -x munged && command -v sbatch";

/// The first Python in `PATH` may not be the system's, which a Debian package is for.
const SOME_PYTHON_HAS_PYTEST: &str = "for python in python3 /usr/bin/python3; do \"$python\" -c 'import pytest' && exit; done; exit 1";

/// Runs the next word as a command, in a folder that is removed afterwards.
const IN_A_FOLDER: &str = "folder=$(mktemp -d) && cd \"$folder\" || exit; eval \"$0\"; status=$?; rm -rf \"$folder\"; exit $status";

/// A folder in memory, unless `TMPDIR` names another: tests write some ten thousand small files, which take ten times
/// as long on a disk, and a busy disk makes hooks wait past their bounds.
pub(crate) fn temporary_folder() -> Option<&'static str> {
    const IN_MEMORY: &str = "/dev/shm";
    // Enough space for compiled tests, and programs can be started there.
    const HAS_ROOM: &str = "df -Pk \"$TMPDIR\" | awk 'NR == 2 { exit $4 < 8000000 }'";
    #[expect(
        clippy::disallowed_methods,
        reason = "the user's own choice goes before ours"
    )]
    let names_its_own = std::env::var_os("TMPDIR").is_some();
    let has = |probe: &[&str]| succeeds(probe, Some(IN_MEMORY));
    let can_be_used = cfg!(target_os = "linux")
        && !names_its_own
        && has(&["sh", "-c", HAS_ROOM])
        && has(&[
            "sh",
            "-c",
            IN_A_FOLDER,
            "printf '#!/bin/sh\n' > it && chmod +x it && ./it",
        ]);
    can_be_used.then_some(IN_MEMORY)
}

pub(crate) struct Missing {
    pub name: &'static str,
    /// Problem and remedy.
    pub why: String,
    /// Installation would help.
    pub can_be_installed: bool,
}

pub(crate) fn missing() -> Vec<Missing> {
    let folder = temporary_folder();
    let missing = NEEDS.iter().filter(|need| !succeeds(need.probe, folder));
    let missing = missing.map(|Need { name, package, .. }| Missing {
        name,
        why: package.map_or_else(
            || "it is not there, or not allowed, on this system".to_owned(),
            |package| format!("it does not run here; install {package}"),
        ),
        can_be_installed: cfg!(target_os = "linux") && package.is_some(),
    });
    missing.collect()
}

fn succeeds(probe: &[&str], temporary_folder: Option<&str>) -> bool {
    let [program, arguments @ ..] = probe else {
        return false;
    };
    let mut command = Command::new(program);
    command.envs(temporary_folder.map(|folder| ("TMPDIR", folder)));
    command
        .args(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Ignored {
    pub name: String,
    /// Needs in the reason; empty for any other reason.
    needs: Vec<String>,
    file: PathBuf,
}

impl Ignored {
    /// `true` for a need of this name.
    pub(crate) fn needs(&self, name: &str) -> bool {
        self.needs.iter().any(|need| need == name)
    }

    /// `true` for a test in one of these files or folders.
    pub(crate) fn is_in(&self, paths: &[&str]) -> bool {
        let file = self.file.to_string_lossy().replace('\\', "/");
        paths.iter().any(|path| file.contains(path))
    }

    /// `true` for a test with this need alone.
    pub(crate) fn needs_only(&self, name: &str) -> bool {
        self.needs.iter().all(|need| need == name) && !self.needs.is_empty()
    }

    /// `true` for a test that the task runs.
    pub(crate) fn can_run(&self, missing: &[Missing]) -> bool {
        !self.needs.is_empty() && !missing.iter().any(|missing| self.needs(missing.name))
    }
}

/// Every test that plain `cargo test` does not run.
pub(crate) fn ignored() -> Result<Vec<Ignored>> {
    let (top, mut found) = (cargo::top()?, Vec::new());
    for path in rust_files()? {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        found.extend(ignored_in(&text, path.strip_prefix(&top).unwrap_or(&path)));
    }
    Ok(found)
}

/// Every Rust file of the workspace.
pub(crate) fn rust_files() -> Result<Vec<PathBuf>> {
    let top = cargo::top()?;
    let (mut files, mut folders) = (
        Vec::new(),
        ["benches", "crates", "tests"]
            .map(|folder| top.join(folder))
            .to_vec(),
    );
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).with_context(|| format!("list {}", folder.display()))? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|ending| ending == "rs") {
                files.push(path);
            }
        }
    }
    Ok(files)
}

/// Ignored tests of a file, by its path: functions of such a suite or with `#[ignore]`, and those that a binary with
/// its own `main` lists through a function `ignored`, the reason first and the name behind.
fn ignored_in(text: &str, file: &Path) -> Vec<Ignored> {
    let of_suite = OF_SUITES
        .iter()
        .find(|(folder, _)| file.starts_with(folder))
        .map(|(_, needs)| *needs);
    let functions = text.split("#[test]\n").skip(1).filter_map(|rest| {
        let (attributes, rest) = rest.split_once("fn ")?;
        let own = attributes
            .split_once("#[ignore = \"")
            .and_then(|(_, rest)| Some(rest.split_once('"')?.0));
        let needs = own.map_or_else(|| of_suite.unwrap_or_default().to_vec(), named_needs);
        (own.is_some() || of_suite.is_some()).then_some((rest.split_once('(')?.0, needs))
    });
    let listed = text.split(" ignored(").skip(1).filter_map(|rest| {
        let (reason, rest) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
        let name = rest.split_once('"')?.1.split_once('"')?.0;
        reason
            .starts_with("needs ")
            .then(|| (name, named_needs(reason)))
    });
    let as_ignored = |(name, needs): (&str, Vec<&str>)| Ignored {
        name: name.to_owned(),
        needs: needs.into_iter().map(str::to_owned).collect(),
        file: file.to_owned(),
    };
    functions.chain(listed).map(as_ignored).collect()
}

/// Needs in the reason of an `#[ignore]`.
fn named_needs(reason: &str) -> Vec<&str> {
    let needs = reason
        .strip_prefix("needs ")
        .and_then(|needs| needs.strip_suffix(": cargo xtask test"));
    needs
        .into_iter()
        .flat_map(|needs| needs.split(" and "))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_names_what_its_test_needs() {
        let attribute = [
            "#[test]\n#[ign",
            "ore = \"needs strace and go: cargo xtask test\"]\nfn it_is() {",
        ]
        .concat();
        let listed = [
            "vec![\n ign",
            "ored(\n  \"needs Wine: cargo xtask test\",\n \"it_has\",\n it_has)",
        ]
        .concat();
        let other = [
            "#[test]\n#[ign",
            "ore = \"started by the others\"]\nfn is_killed() {",
        ]
        .concat();
        let of = |text: &str| ignored_in(text, Path::new("x.rs")).pop().unwrap();
        let plain = "#[test]\nfn it_is() {";
        assert_eq!(ignored_in(plain, Path::new("crates/a/tests/client.rs")), []);
        assert!(ignored_in(plain, Path::new("tests/client/x.rs"))[0].needs_only(CLIENT));
        let needs = |test: &Ignored| test.needs.join(", ");
        let [attribute, listed, other] = [of(&attribute), of(&listed), of(&other)];
        assert_eq!(
            (attribute.name.as_str(), needs(&attribute).as_str()),
            ("it_is", "strace, go")
        );
        assert_eq!(
            (listed.name.as_str(), needs(&listed).as_str()),
            ("it_has", "Wine")
        );
        assert_eq!(
            (other.name.as_str(), needs(&other).as_str()),
            ("is_killed", "")
        );
        let missing = |name| Missing {
            name,
            why: String::new(),
            can_be_installed: true,
        };
        assert!(attribute.can_run(&[missing(WINE)]) && !attribute.can_run(&[missing("go")]));
        assert!(
            !other.can_run(&[]),
            "what is no test by itself is never run"
        );
    }

    #[test]
    fn a_probe_tells_root_from_any_other_user() {
        let missing = missing();
        let users = ["root", "a user who may not read everything"];
        let count = missing
            .iter()
            .filter(|missing| users.contains(&missing.name))
            .count();
        assert_eq!(count, 1, "one of them is missing, and never both");
        assert!(
            !succeeds(&["sh", "-c", IN_A_FOLDER, "false"], None)
                && succeeds(&["sh", "-c", IN_A_FOLDER, "true"], None)
        );
    }

    #[test]
    fn every_need_is_known_and_a_test_is_left_out_alone() {
        let names: Vec<&str> = NEEDS
            .iter()
            .map(|need| need.name)
            .chain([
                PLUGIN, CLIENT, WINE, RELEASE, ARCHIVES, VITEST, PUPPETEER, MDBOOK,
            ])
            .collect();
        let tests = ignored().unwrap();
        assert!(tests.len() > 400, "only {} were found", tests.len());
        let text: String = rust_files()
            .unwrap()
            .iter()
            .map(|path| fs::read_to_string(path).unwrap())
            .collect();
        let functions: Vec<&str> = text
            .split("fn ")
            .skip(1)
            .filter_map(|rest| Some(rest.split_once('(')?.0))
            .collect();
        let is_of_use = |name: &&str| tests.iter().any(|test| test.needs(name));
        assert!(
            names.iter().all(is_of_use),
            "a need that no test has: {names:?}"
        );
        for Ignored { name, needs, .. } in &tests {
            assert!(
                !needs.is_empty() || name == "does_the_job_until_it_is_killed",
                "{name} says not what it needs"
            );
            for need in needs {
                assert!(
                    names.contains(&need.as_str()),
                    "{name} needs {need:?}, which nothing looks for"
                );
            }
            // `--skip` takes a part of a name.
            let fitting = functions
                .iter()
                .filter(|function| function.contains(name.as_str()));
            let is_alone = needs.as_slice() == [PLUGIN] || fitting.count() == 1;
            assert!(
                is_alone,
                "to leave out {name} leaves out another test as well; rename one"
            );
        }
    }
}
