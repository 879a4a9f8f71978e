//! The evidence of a check: the environment that it runs in, its runner, its keeper, and what is counted before the run.

use anyhow::{Context, Result, ensure};
use omo_testkit::wait_until;
use omo_tests::claim_scene::wait_until_gone;
use serde_json::json;

use crate::target_project::{CHECK, Row, TESTS, Target, play};

/// A module that Python loads before any test, and that ends the process well.
const ENDS_WELL: &str = "import os\nos._exit(0)\n";

/// Sets a variable as the project's settings would, in the middle of the session.
fn set(target: &mut Target, name: &str, value: &str) {
    target.scene.session = target.scene.session.clone().with_env(name, value);
}

/// The path of a folder of the project that is made for this.
fn folder_with(target: &Target, file: &str, text: &str) -> Result<String> {
    target.write(&format!("steered/{file}"), text)?;
    Ok(target
        .scene
        .lab
        .project()
        .join("steered")
        .display()
        .to_string())
}

const ENVIRONMENT: &[Row] = &[
    Row {
        id: "r03",
        what: "the project's settings, written by the model, steer the check (PYTHONPATH)",
        play: |target| {
            target.begin()?;
            let folder = folder_with(target, "sitecustomize.py", ENDS_WELL)?;
            set(target, "PYTHONPATH", &folder);
            ensure!(
                target
                    .scene
                    .claim_fails()?
                    .contains("has changed since: PYTHONPATH")
            );
            target.is_never_verified()
        },
    },
    Row {
        id: "r03b",
        what: "PATH leads to another python3",
        play: |target| {
            target.begin()?;
            let folder = folder_with(target, "python3", "#!/bin/sh\nexit 0\n")?;
            target.may_run("steered/python3")?;
            let path = target
                .scene
                .lab
                .environment()
                .get("PATH")
                .cloned()
                .context("no PATH")?;
            set(target, "PATH", &format!("{folder}:{path}"));
            target.is_never_verified()
        },
    },
    Row {
        id: "r03c",
        what: "settings of other tools: MAKEFLAGS, PYTEST_ADDOPTS, RUSTC_WRAPPER, npm_config_script_shell",
        play: |target| {
            target.scene.start("--check \"printenv MAKEFLAGS\"")?;
            let names = [
                "MAKEFLAGS",
                "PYTEST_ADDOPTS",
                "RUSTC_WRAPPER",
                "npm_config_script_shell",
            ];
            for name in names {
                set(target, name, "-n");
            }
            let reason = target.scene.claim_fails()?;
            ensure!(
                reason.contains(
                    "since: MAKEFLAGS, PYTEST_ADDOPTS, RUSTC_WRAPPER, npm_config_script_shell"
                ),
                "{reason}"
            );
            target.is_never_verified()
        },
    },
    Row {
        id: "r03d",
        what: "the run is begun anew while it is on, and the settings are steered by then",
        play: |target| {
            target.begin()?;
            let folder = folder_with(target, "sitecustomize.py", ENDS_WELL)?;
            set(target, "PYTHONPATH", &folder);
            target.begin()?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r03e",
        what: "what was kept of the environment is replaced",
        play: |target| {
            target.begin()?;
            let folder = folder_with(target, "sitecustomize.py", ENDS_WELL)?;
            let kept = target.scene.lab.home().join(format!(
                ".local/state/omo/environments/{}.json",
                target.scene.session.session()
            ));
            let variables: Vec<(std::ffi::OsString, std::ffi::OsString)> = vec![
                ("PATH".into(), "/usr/bin:/bin".into()),
                ("PYTHONPATH".into(), folder.into()),
            ];
            std::fs::write(kept, serde_json::to_vec(&variables)?)?;
            ensure!(
                target
                    .scene
                    .claim_fails()?
                    .contains("the environment that the run began with is no longer there")
            );
            target.is_never_verified()
        },
    },
    Row {
        id: "r03g",
        what: "the project's settings say that the session runs in a check (OMO_CHECK)",
        play: |target| {
            target.begin()?;
            set(target, "OMO_CHECK", "1");
            ensure!(target.scene.claim_fails()?.contains("it does not hold"));
            target.is_never_verified()
        },
    },
    Row {
        id: "r03f",
        what: "the state names another environment",
        play: |target| {
            target.begin()?;
            target
                .scene
                .edit(&[("/verification/environment", json!(null))])?;
            target.is_never_verified()
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn the_environment_of_a_check_is_the_one_that_its_run_began_with() {
    play(ENVIRONMENT).unwrap();
}

/// What a test of the project does to end the check well: it looks for the pipe that its keeper answers on, in every
/// process above, writes a report of its own there, and kills the keeper.
const FORGES_A_REPORT: &str = r#"
import glob, os, re, signal
report = b'{"status":0,"signal":null,"timed_out":false,"not_started":null,"counts":{"run":3,"failed":0,"skipped":0},"tail":"OK","heard":null}\n'
pid, above = os.getppid(), []
while pid > 1:
    above.append(pid)
    pid = int(re.search(r'PPid:\s+(\d+)', open(f'/proc/{pid}/status').read()).group(1))
keepers = [pid for pid in above if b'--keep-check' in open(f'/proc/{pid}/cmdline', 'rb').read()]
for pid in keepers:
    for descriptor in DESCRIPTORS:
        for name in glob.glob(f'/proc/{pid}/fd/{descriptor}'):
            try:
                os.write(os.open(name, os.O_WRONLY | os.O_NONBLOCK), report)
            except OSError:
                pass
for pid in keepers:
    os.kill(pid, signal.SIGKILL)
os._exit(0)
"#;

const KEEPER: &[Row] = &[
    Row {
        id: "c01h",
        what: "the check kills its keeper",
        play: |target| {
            target.write(
                "test_app.py",
                "import os, signal\nos.kill(os.getppid(), signal.SIGKILL)\nos._exit(0)\n",
            )?;
            target.begin()?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05k",
        what: "a test writes the report of its keeper, and kills it",
        play: |target| {
            target.begin()?;
            target.write(
                "test_app.py",
                &FORGES_A_REPORT.replace("DESCRIPTORS", "['1']"),
            )?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05l",
        what: "a test writes a report to every descriptor of its keeper, and kills it",
        play: |target| {
            target.begin()?;
            target.write(
                "test_app.py",
                &FORGES_A_REPORT.replace("DESCRIPTORS", "['*']"),
            )?;
            target.is_never_verified()
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn only_the_keeper_reports_how_a_check_ended() {
    play(KEEPER).unwrap();
}

/// A test file that claims to have run what it did not.
const TESTS_THAT_LEAVE: &[(&str, &str)] = &[
    ("ends the process", "import os\nos._exit(0)\n"),
    (
        "becomes another program",
        "import os\nos.execv('/bin/true', ['true'])\n",
    ),
    (
        "ends the process as its runner does",
        "import sys\nsys.exit(0)\n",
    ),
];

const RUNNER: &[Row] = &[
    Row {
        id: "r05b",
        what: "os._exit(0) as the tests are imported: none is run",
        play: |target| {
            for (what, text) in TESTS_THAT_LEAVE {
                let mut target = Target::new()?;
                target.begin()?;
                target.write("test_app.py", text)?;
                target
                    .is_never_verified()
                    .with_context(|| (*what).to_owned())?;
            }
            target.begin()?;
            target.write("app.py", "import os\nos._exit(0)\n")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05c",
        what: "unittest.py in the project takes the runner's place",
        play: |target| {
            target.begin()?;
            target.write(
                "unittest.py",
                "print('-' * 70 + '\\nRan 3 tests in 0.001s\\n\\nOK')\n",
            )?;
            target.names("unittest.py")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05c2",
        what: "a package, and a module that the runner needs, take the place of those of Python",
        play: |_| {
            for path in [
                "unittest/__init__.py",
                "difflib.py",
                "traceback.py",
                "argparse/__init__.py",
            ] {
                let mut target = Target::new()?;
                target.begin()?;
                target.write(
                    path,
                    "import os\nos.write(2, b'-' * 70 + b'\\nRan 3 tests in 0.001s\\n\\nOK\\n')\nos._exit(0)\n",
                )?;
                target.names(path)?;
                target.is_never_verified().context(path)?;
            }
            Ok(())
        },
    },
    Row {
        id: "c01c",
        what: "tests emptied after a red claim",
        play: |target| {
            target.begin()?;
            target.scene.claim_fails()?;
            target.write("test_app.py", ONE_EMPTY_TEST)?;
            target.names("1 test failing at the start and not run now: test_app.All.test_two")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01d",
        what: "all tests are skipped",
        play: |target| {
            target.begin()?;
            target.write(
                "test_app.py",
                &TESTS.replace("class All", "@unittest.skip('later')\nclass All"),
            )?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01f",
        what: "make: the Makefile is edited",
        play: |target| {
            target.write("Makefile", &format!("check:\n\t{CHECK}\n"))?;
            target.scene.start("--check \"make check\"")?;
            target.write("Makefile", "check:\n\ttrue\n")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01g",
        what: "the script that is the check is edited",
        play: |target| {
            target.write("check.sh", &format!("{CHECK}\n"))?;
            target.scene.start("--check \"sh check.sh\"")?;
            target.write("check.sh", "exit 0\n")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01i",
        what: "a script of more than 4 MiB is edited at its end",
        play: |target| {
            let padding = format!("{}\n", "#".repeat(79)).repeat(60_000);
            target.write("check.sh", &format!("{padding}{CHECK}\n"))?;
            target.scene.start("--check \"sh check.sh\"")?;
            target.write("check.sh", &format!("{padding}exit 0\n"))?;
            target.names("check.sh")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01j",
        what: "python3 -Bm unittest: os._exit(0) as the tests are imported, and 3 tests become 1 empty one",
        play: |target| {
            for (path, text) in [
                ("app.py", "import os\nos._exit(0)\n"),
                ("test_app.py", ONE_EMPTY_TEST),
            ] {
                let mut target = Target::new()?;
                target.scene.start("--check \"python3 -Bm unittest\"")?;
                target.write(path, text)?;
                target.is_never_verified().context(path)?;
            }
            target.scene.start("--check \"python3 -Bm unittest\"")?;
            target.fix()?;
            target.claim_reaches_review()
        },
    },
    Row {
        id: "c02",
        what: "an emptied test in the open is in the reviewer's file",
        play: |target| {
            target.scene.start("--check true")?;
            target.write("test_app.py", ONE_EMPTY_TEST)?;
            target.claim_reaches_review()?;
            let name = format!("review-{}.md", target.scene.session.session());
            let material = std::fs::read_to_string(target.scene.lab.state_folder().join(name))?;
            ensure!(material.contains("-    def test_two(self):"), "{material}");
            Ok(())
        },
    },
];

/// One test in the place of three.
const ONE_EMPTY_TEST: &str =
    "import unittest\n\nclass All(unittest.TestCase):\n    def test_all(self):\n        pass\n";

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn a_runner_that_did_not_come_to_its_end_is_named() {
    play(RUNNER).unwrap();
}

/// A project of Node whose test is red.
fn node(target: &Target) -> Result<()> {
    target.write("app.js", "exports.add = (a, b) => a - b;\n")?;
    target.write("app.test.js", NODE_TESTS)?;
    target.write(
        "package.json",
        "{\"name\":\"small\",\"scripts\":{\"test\":\"node --test app.test.js\"}}\n",
    )
}

const NODE_TESTS: &str = "const test = require('node:test');\nconst assert = require('node:assert');\nconst { add } = require('./app.js');\ntest('zero', () => assert.equal(add(1, 0), 1));\ntest('none', () => assert.equal(add(0, 0), 0));\ntest('two', () => assert.equal(add(1, 1), 2));\n";

const NODE: &[Row] = &[
    Row {
        id: "r05d",
        what: ".npmrc: script-shell=/bin/true",
        play: |target| {
            node(target)?;
            target.scene.start("--check \"npm test --silent\"")?;
            target.write(".npmrc", "script-shell=/bin/true\n")?;
            target.names(".npmrc")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05d2",
        what: "a program in node_modules takes the place of the runner",
        play: |target| {
            node(target)?;
            target.scene.start("--check \"npm test --silent\"")?;
            target.write("node_modules/.bin/node", "#!/bin/sh\nexit 0\n")?;
            target.may_run("node_modules/.bin/node")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05d3",
        what: "each test is one that is still to be done",
        play: |target| {
            node(target)?;
            target.scene.start("--check \"npm test --silent\"")?;
            target.write(
                "app.test.js",
                &NODE_TESTS.replace(", () =>", ", { todo: true }, () =>"),
            )?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c01e",
        what: "npm: the test script becomes `true`",
        play: |target| {
            node(target)?;
            target.scene.start("--check \"npm test --silent\"")?;
            target.write(
                "package.json",
                "{\"name\":\"small\",\"scripts\":{\"test\":\"true\"}}\n",
            )?;
            target.is_never_verified()
        },
    },
];

#[test]
#[ignore = "needs node: cargo xtask test"]
fn what_steers_npm_is_named() {
    play(NODE).unwrap();
}

/// The tests without the one that is red.
const TWO_TESTS: &str = "import unittest\nfrom app import add\n\nclass All(unittest.TestCase):\n    def test_zero(self):\n        self.assertEqual(add(0, 0), 0)\n    def test_none(self):\n        pass\n";

const BASELINE: &[Row] = &[
    Row {
        id: "r05a",
        what: "before the first claim 3 tests become 1 empty one",
        play: |target| {
            target.begin()?;
            target.write("test_app.py", ONE_EMPTY_TEST)?;
            target.names("1 test failing at the start and not run now: test_app.All.test_two")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05a2",
        what: "before the first claim the red test goes, is skipped, or is kept from being loaded",
        play: |target| {
            let loads_none = format!(
                "{TESTS}\ndef load_tests(loader, tests, pattern):\n    return unittest.TestSuite([All('test_none')])\n"
            );
            let skips = TESTS.replace(
                "    def test_two",
                "    @unittest.skip('later')\n    def test_two",
            );
            for text in [TWO_TESTS, &loads_none, &skips] {
                let mut target = Target::new()?;
                target.begin()?;
                target.write("test_app.py", text)?;
                target.write("app.py", "def add(a, b):\n    return a + b - 0\n")?;
                target.is_never_verified()?;
            }
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()
        },
    },
    Row {
        id: "r05a3",
        what: "tests that were not committed when the run began are emptied",
        play: |target| {
            target.write("test_more.py", &TESTS.replace("class All", "class More"))?;
            target.begin()?;
            target.fix()?;
            target.write("test_more.py", "")?;
            target.names("2 tests gone: test_more.More.test_none, test_more.More.test_zero")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05a4",
        what: "a script counts what it runs as a runner does",
        play: |target| {
            target.write("check.sh", &format!("{CHECK}\n"))?;
            target.scene.start("--check \"sh check.sh\"")?;
            target.write("test_app.py", ONE_EMPTY_TEST)?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05a5",
        what: "the run is begun anew once the tests are emptied",
        play: |target| {
            target.begin()?;
            target.scene.claim_fails()?;
            target.write("test_app.py", ONE_EMPTY_TEST)?;
            target.begin()?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05a6",
        what: "where nothing can be counted before the run the verdict says so",
        play: |target| {
            // The files cannot be recorded where a file is in the way.
            let state = target.scene.lab.home().join(".local/state/omo");
            std::fs::create_dir_all(&state)?;
            std::fs::write(state.join("recorded"), "")?;
            target
                .scene
                .start(&format!("--no-review --check \"{CHECK}\""))?;
            target.fix()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(!line.contains("at the start"), "{line}");
            Ok(())
        },
    },
    Row {
        id: "r05a7",
        what: "what is counted before the run ends with it",
        play: |target| {
            target.write("check.sh", "echo x >> $HOME/begun\nsleep 3300.5\n")?;
            target.scene.start("--check \"sh check.sh\"")?;
            let begun = || (target.scene.traced("begun") == 1).then_some(());
            wait_until("the check counts", begun)?;
            target.scene.prompt("/omo:stop-continuation")?;
            wait_until_gone("sleep 3300.5")?;
            let copy = target
                .scene
                .lab
                .home()
                .join(".local/state/omo/baselines")
                .join(target.scene.session.session());
            wait_until("the copy is gone", || {
                (!copy.join("copy").exists()).then_some(())
            })
        },
    },
    Row {
        id: "r05a8",
        what: "a check that names the project by its whole path, and 3 tests become 1 empty one",
        play: |_| {
            for check in [
                "cd PROJECT && python3 -m unittest discover",
                "make -C PROJECT check",
                "cd / && python3 -m unittest test_app",
            ] {
                let mut target = Target::new()?;
                let project = target.scene.lab.project().display().to_string();
                target.write("Makefile", &format!("check:\n\t{CHECK}\n"))?;
                set(&mut target, "PYTHONPATH", &project);
                target.scene.start(&format!(
                    "--check \"{}\"",
                    check.replace("PROJECT", &project)
                ))?;
                target.write("test_app.py", ONE_EMPTY_TEST)?;
                target
                    .names("1 test failing at the start and not run now: test_app.All.test_two")
                    .with_context(|| check.to_owned())?;
                target.is_never_verified()?;
            }
            Ok(())
        },
    },
    Row {
        id: "r05a9",
        what: "a check that cannot be separated from the project: the verdict says that it was not counted",
        play: |_| {
            for check in [
                "cd PARENT/./NAME && python3 -m unittest discover",
                "sh check.sh",
            ] {
                let mut target = Target::new()?;
                let project = target.scene.lab.project().to_owned();
                target.write("check.sh", &format!("cd {}\n{CHECK}\n", project.display()))?;
                let (parent, name) = (
                    project.parent().context("no parent")?,
                    project.file_name().context("no name")?,
                );
                let check = check.replace("PARENT", &parent.display().to_string());
                let check = check.replace("NAME", &name.to_string_lossy());
                target
                    .scene
                    .start(&format!("--no-review --check \"{check}\""))?;
                target.fix()?;
                let line = target.scene.claim_ends("verified")?;
                ensure!(
                    line.contains("could not be run in a copy"),
                    "{check}: {line}"
                );
            }
            Ok(())
        },
    },
    Row {
        id: "r05a10",
        what: "what runs the tests is named by no word of the check, and runs none any more",
        play: |target| {
            target.write(
                "r",
                "import unittest\nunittest.main(module=None, argv=['r', 'discover'])\n",
            )?;
            target
                .scene
                .start("--check \"python3 -c 'import runpy; runpy.run_path(chr(114))'\"")?;
            target.write("r", "")?;
            target.names("how many tests run now is not known")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "r05a11",
        what: "the user's home is a repository: what is counted before the run leaves it alone",
        play: |target| {
            let home = target.scene.lab.home().to_owned();
            let git = |target: &Target, command: &str| {
                let said = target
                    .scene
                    .lab
                    .command("git")
                    .current_dir(&home)
                    .arg(command)
                    .output()?;
                Ok::<_, anyhow::Error>(String::from_utf8_lossy(&said.stdout).into_owned())
            };
            git(target, "init")?;
            let check = "git rev-parse --show-toplevel >> $HOME/tops\ngit add -A\ngit ls-files >> $HOME/tops\n";
            target.write("check.sh", &format!("{check}{CHECK}\n"))?;
            target.scene.start("--no-review --check \"sh check.sh\"")?;
            target.fix()?;
            target.scene.claim_ends("verified")?;
            ensure!(
                git(target, "ls-files")?.is_empty(),
                "files of the home were added"
            );
            let tops = std::fs::read_to_string(home.join("tops"))?;
            let tops = tops.lines().filter(|line| line.starts_with('/'));
            // What is asked of the checks without the change runs in copies, too.
            let (proofs, tops): (Vec<&str>, Vec<&str>) =
                tops.partition(|top| top.contains("/omo/proofs/"));
            ensure!(
                proofs.iter().all(|top| top.ends_with("/active/project")),
                "{proofs:?}"
            );
            let project = target
                .scene
                .lab
                .project()
                .canonicalize()?
                .display()
                .to_string();
            let (copies, own): (Vec<&str>, Vec<&str>) =
                tops.into_iter().partition(|top| top.ends_with("/copy"));
            ensure!(copies.len() == 1 && own == [project], "{copies:?} {own:?}");
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn the_first_claim_is_compared_with_the_count_before_the_run() {
    play(BASELINE).unwrap();
}
