//! The workflow for pull requests that docs/proof.md shows: its steps as they stand there, with a bare repository for the
//! one on GitHub.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};
use omo_testkit::Lab;
use omo_tests::scene::{folder_of, plugin};
use tempfile::TempDir;

use crate::project::{Files, Project};

const PAGE: &str = include_str!("../../docs/proof.md");

/// A step of a workflow.
#[derive(Debug, PartialEq, Eq)]
enum Step {
    /// A script for bash.
    Run(String),
    /// A checkout with so much of the history; `None` stands for its default.
    Checkout { fetch_depth: Option<String> },
}

/// The steps of the workflow on a page, in order: the few forms of YAML that it has.
fn read_steps(page: &str) -> Result<Vec<Step>> {
    let workflow = page
        .split_once("```yaml\n")
        .and_then(|(_, rest)| rest.split_once("```"))
        .context("no workflow")?
        .0;
    let (_, steps) = workflow.split_once("    steps:\n").context("no steps")?;
    let mut read: Vec<Step> = Vec::new();
    for line in steps
        .lines()
        .filter(|line| !line.trim_start().starts_with('#'))
    {
        if let Some(script) = line.strip_prefix("      - run: ") {
            read.push(Step::Run(if script == "|" {
                String::new()
            } else {
                script.to_owned()
            }));
        } else if line.starts_with("      - uses: actions/checkout@") {
            read.push(Step::Checkout { fetch_depth: None });
        } else if let Some(line) = line.strip_prefix("          ") {
            match (read.last_mut(), line.split_once(": ")) {
                (Some(Step::Run(script)), _) => script.extend([line, "\n"]),
                (Some(Step::Checkout { fetch_depth }), Some(("fetch-depth", depth))) => {
                    *fetch_depth = Some(depth.to_owned());
                }
                (Some(Step::Checkout { .. }), Some(("persist-credentials", _))) => {}
                _ => bail!("what is `{line}`?"),
            }
        } else if line != "        with:" {
            bail!("what is `{line}`?");
        }
    }
    Ok(read)
}

const BEFORE: &str = "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().sum()\n}\n";
const AFTER: &str = "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().filter(|price| **price > 0).sum()\n}\n";
const TEST: &str = "#[test]\nfn sum() {\n    assert_eq!(shop::total(&[1, 2]), 3);\n}\n";
const HONEST: &str = "#[test]\nfn sum() {\n    assert_eq!(shop::total(&[1, 2]), 3);\n}\n\n#[test]\nfn negative() {\n    \
                      assert_eq!(shop::total(&[1, -2]), 1);\n}\n";
const VACUOUS: &str = "#[test]\nfn sum() {\n    assert_eq!(shop::total(&[1, 2]), 3);\n}\n\n#[test]\nfn negative() {\n    \
                       shop::total(&[1, -2]);\n}\n";
/// What the main branch has later: another price, and its test.
const LATER: &str =
    "pub fn total(prices: &[i64]) -> i64 {\n    prices.iter().sum::<i64>() + 5\n}\n";
const LATER_TEST: &str = "#[test]\nfn sum() {\n    assert_eq!(shop::total(&[1, 2]), 8);\n}\n";
const FILES: Files = &[
    (
        "Cargo.toml",
        Some(
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n\n[profile.dev]\ndebug = 0\n",
        ),
    ),
    (
        "Cargo.lock",
        Some("version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n"),
    ),
    (".gitignore", Some("/target\n")),
    ("src/lib.rs", Some(BEFORE)),
    ("tests/total.rs", Some(TEST)),
];
const FIX: Files = &[
    ("src/lib.rs", Some(AFTER)),
    ("tests/total.rs", Some(HONEST)),
];
const NO_FIX: Files = &[
    ("src/lib.rs", Some(AFTER)),
    ("tests/total.rs", Some(VACUOUS)),
];
/// git allows this as the name of a branch.
const HOSTILE_BRANCH: &str = "a$(touch${IFS}$HOME/ran)";

/// A repository as GitHub has it, a runner, and what is on its PATH.
struct Runner {
    project: Project,
    /// The branch that a pull request is for.
    branch: &'static str,
    _tools: TempDir,
}

impl Runner {
    fn new(branch: &'static str) -> Result<Self> {
        let tools = tempfile::tempdir()?;
        let cargo = folder_of("cargo").context("cargo is not there")?;
        let omo = plugin().join("bin/omo");
        write_program(
            &tools.path().join("omo"),
            &format!("exec '{}' \"$@\"\n", omo.display()),
        )?;
        // Nothing is installed from the network. What stands in the folder would decide what is.
        let install = "if [ \"$1\" = install ]; then echo \"$*\" >> ~/installed; test -z \"$(ls -A)\"; exit; fi\n";
        write_program(
            &tools.path().join("cargo"),
            &format!("{install}exec '{}/cargo' \"$@\"\n", cargo.display()),
        )?;
        let project = Project::in_lab(Lab::builder().path(tools.path()).path(&cargo), FILES)?;
        let lab = &project.lab;
        lab.git(&["init", "--quiet", "--bare", "../remote.git"])?;
        lab.git(&["remote", "add", "origin", "../remote.git"])?;
        lab.git(&["branch", "-M", branch])?;
        lab.git(&["push", "--quiet", "origin", branch])?;
        Ok(Self {
            project,
            branch,
            _tools: tools,
        })
    }

    /// Makes a pull request of a change, as GitHub keeps it: with a commit that merges it.
    fn open_pull_request(&self, change: Files) -> Result<()> {
        let git = |arguments: &[&str]| self.project.lab.git(arguments);
        git(&["checkout", "--quiet", "-b", HOSTILE_BRANCH])?;
        self.project.change(change)?;
        self.project.commit()?;
        git(&["push", "--quiet", "origin", "HEAD:refs/pull/1/head"])?;
        git(&["checkout", "--quiet", "--detach", self.branch])?;
        git(&[
            "merge",
            "--quiet",
            "--no-ff",
            "--message",
            "merge",
            HOSTILE_BRANCH,
        ])?;
        git(&["push", "--quiet", "origin", "HEAD:refs/pull/1/merge"])?;
        git(&["checkout", "--quiet", self.branch]).map(drop)
    }

    /// Runs the steps of the page; gives the exit status of the first one that fails, or of the last one, and what was
    /// printed.
    fn run(&self) -> Result<(i32, String)> {
        let workspace = self.project.lab.project().with_file_name("workspace");
        fs::create_dir(&workspace)?;
        let mut ended = (0, String::new());
        for step in read_steps(PAGE)? {
            ended = match step {
                Step::Checkout { fetch_depth } => {
                    self.check_out(&workspace, fetch_depth.as_deref())?
                }
                Step::Run(script) => self.run_script(&workspace, &script)?,
            };
            if ended.0 != 0 {
                break;
            }
        }
        Ok(ended)
    }

    /// What actions/checkout does for the event `pull_request`.
    fn check_out(&self, workspace: &Path, fetch_depth: Option<&str>) -> Result<(i32, String)> {
        let remote = self.project.lab.project().with_file_name("remote.git");
        let (folder, url) = (
            workspace.to_string_lossy(),
            format!("file://{}", remote.display()),
        );
        let git = |arguments: &[&str]| {
            self.project
                .lab
                .git(&[&["-C", &*folder], arguments].concat())
        };
        git(&["init", "--quiet"])?;
        git(&["remote", "add", "origin", &url])?;
        let merge = "+refs/pull/1/merge:refs/remotes/pull/1/merge";
        match fetch_depth {
            Some("0") => git(&[
                "fetch",
                "--quiet",
                "origin",
                "+refs/heads/*:refs/remotes/origin/*",
                merge,
            ])?,
            depth => git(&[
                "fetch",
                "--quiet",
                &format!("--depth={}", depth.unwrap_or("1")),
                "origin",
                merge,
            ])?,
        };
        git(&[
            "checkout",
            "--quiet",
            "--force",
            "refs/remotes/pull/1/merge",
        ])?;
        Ok((0, String::new()))
    }

    /// Runs a script as a runner does.
    fn run_script(&self, workspace: &Path, script: &str) -> Result<(i32, String)> {
        let file: PathBuf = self.project.lab.home().join("step.sh");
        fs::write(&file, script)?;
        let mut command = self.project.lab.command("bash");
        command
            .arg("-e")
            .arg(&file)
            .current_dir(workspace)
            .env("CI", "true")
            .env("GITHUB_ACTIONS", "true");
        command
            .env("GITHUB_EVENT_NAME", "pull_request")
            .env("GITHUB_REF", "refs/pull/1/merge");
        command
            .env("GITHUB_BASE_REF", self.branch)
            .env("GITHUB_HEAD_REF", HOSTILE_BRANCH);
        command.env("GITHUB_WORKSPACE", workspace);
        let output = command.output()?;
        let printed = [output.stdout, output.stderr].concat();
        let status = output
            .status
            .code()
            .context("a step was ended by a signal")?;
        Ok((status, String::from_utf8_lossy(&printed).into_owned()))
    }

    /// Runs it, and expects a status and a text; nothing that a stranger named may have run.
    fn require(&self, status: i32, says: &str) -> Result<()> {
        let (ended, printed) = self.run()?;
        ensure!(
            ended == status && printed.contains(says),
            "status {ended}:\n{printed}"
        );
        ensure!(
            !self.project.lab.home().join("ran").exists(),
            "a name, or a file of a stranger, was run:\n{printed}"
        );
        self.project.require_no_copies()
    }
}

fn write_program(path: &Path, script: &str) -> Result<()> {
    fs::write(path, format!("#!/bin/sh\n{script}"))?;
    Ok(fs::set_permissions(
        path,
        fs::Permissions::from_mode(0o755),
    )?)
}

#[test]
fn the_workflow_passes_an_honest_fix_and_fails_a_test_that_asserts_nothing() {
    for (change, status, says) in [
        (FIX, 0, "red without the change: proved"),
        (NO_FIX, 1, "green without the change"),
    ] {
        let runner = Runner::new("main").unwrap();
        runner.open_pull_request(change).unwrap();
        runner.require(status, says).unwrap();
        let installed = fs::read_to_string(runner.project.lab.home().join("installed")).unwrap();
        let from = concat!(
            "install --locked --git ",
            env!("CARGO_PKG_REPOSITORY"),
            " omo-cli\n"
        );
        assert_eq!(installed, from);
    }
}

#[test]
fn the_workflow_compares_with_where_the_pull_request_began() {
    let runner = Runner::new("release/1.0").unwrap();
    runner.open_pull_request(NO_FIX).unwrap();
    // With these the tests of the pull request are red, which shows nothing about it.
    runner
        .project
        .change(&[
            ("src/lib.rs", Some(LATER)),
            ("tests/total.rs", Some(LATER_TEST)),
        ])
        .unwrap();
    runner.project.commit().unwrap();
    runner
        .project
        .lab
        .git(&["push", "--quiet", "origin", "release/1.0"])
        .unwrap();
    runner.require(1, "green without the change").unwrap();
}

#[test]
fn the_workflow_takes_no_wish_of_a_pull_request() {
    let config = "setup = \"touch ~/ran\"\ntests = [\"src/*\"]\n[[check]]\nrun = \"touch ~/ran; test ! -e ~/ran\"\n";
    let runner = Runner::new("main").unwrap();
    runner
        .open_pull_request(&[NO_FIX, &[("omo.toml", Some(config))]].concat())
        .unwrap();
    runner.require(1, "green without the change").unwrap();
    // A source file would be a test file by its pattern: then nothing but tests differs.
    let runner = Runner::new("main").unwrap();
    runner
        .open_pull_request(&[FIX, &[("omo.toml", Some(config))]].concat())
        .unwrap();
    runner.require(0, "red without the change: proved").unwrap();
}

#[test]
fn what_the_page_shows_is_read_as_a_runner_reads_it() {
    let steps = read_steps(PAGE).unwrap();
    let [
        Step::Run(install),
        Step::Checkout { fetch_depth },
        Step::Run(prove),
    ] = steps.as_slice()
    else {
        panic!("{steps:?}")
    };
    assert!(
        install.starts_with("cargo install ") && fetch_depth.as_deref() == Some("0"),
        "{steps:?}"
    );
    assert!(
        prove.starts_with("base=") && prove.lines().count() == 2,
        "{steps:?}"
    );
    assert!(PAGE.contains("\non: pull_request\n"));
}
