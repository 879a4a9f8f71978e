//! A claim whose checks are green is told what they say without the change, and held to it where its user wants that.

use std::path::PathBuf;

use anyhow::{Result, ensure};
use omo_testkit::wait_until;

use crate::claim_scene::{AGREES, play_with_review};
use crate::cli::omo;
use crate::scene::Scene;

const CHECK: &str = "--check \"python3 -m unittest discover\"";
const BEFORE: &str = "def total(prices):\n    return sum(prices)\n";
const AFTER: &str = "def total(prices):\n    return sum(price for price in prices if price > 0)\n";
const TEST: &str = "import unittest\nfrom app import total\n\nclass Total(unittest.TestCase):\n    def test_sum(self):\n        self.assertEqual(total([1, 2]), 3)\n";
const HONEST: &str =
    "\n    def test_negative(self):\n        self.assertEqual(total([1, -2]), 1)\n";
const VACUOUS: &str = "\n    def test_negative(self):\n        total([1, -2])\n";

/// A new function with a test that only imports it, and one that runs it.
const NEW: &str = "\n\ndef mean(prices):\n    return total(prices) / len(prices)\n";
const IMPORTS_IT: &str = "\n    def test_mean(self):\n        from app import mean\n";
const RUNS_IT: &str = "\n    def test_mean(self):\n        from app import mean\n        self.assertEqual(mean([2, 4]), 3)\n";

fn begin(scene: &mut Scene, options: &str) -> Result<()> {
    scene.lab.write("app.py", BEFORE)?;
    scene.lab.write("test_app.py", TEST)?;
    scene.start(&format!("{options} {CHECK}"))
}

fn work(scene: &Scene, test: &str) -> Result<()> {
    scene.lab.write("app.py", AFTER)?;
    scene
        .lab
        .write("test_app.py", &format!("{TEST}{test}"))
        .map(drop)
}

fn add_function(scene: &Scene, test: &str) -> Result<()> {
    scene.lab.write("app.py", &format!("{BEFORE}{NEW}"))?;
    scene
        .lab
        .write("test_app.py", &format!("{TEST}{test}"))
        .map(drop)
}

/// Where question and answer of the session lie.
fn claim_folder(scene: &Scene) -> PathBuf {
    scene
        .lab
        .home()
        .join(".local/state/omo/claims")
        .join(scene.session.session())
}

/// `omo status` says this of the checks without the change, as `omo report --last` and the page do, and changes nothing
/// for it.
pub(crate) fn shows_without_change(scene: &Scene, words: &str) -> Result<()> {
    shows_comparison(
        scene,
        "without the change",
        words,
        &format!("\"withoutChange\": {words:?}"),
    )
}

/// The same of an unusual line.
fn shows_unusual(scene: &Scene, line: &str) -> Result<()> {
    shows_comparison(
        scene,
        "unusual",
        line,
        &format!("\"unusual\": [\n      {line:?}"),
    )
}

fn shows_comparison(scene: &Scene, label: &str, words: &str, json: &str) -> Result<()> {
    let files = || -> Result<Vec<_>> {
        let entries =
            std::fs::read_dir(claim_folder(scene))?.collect::<std::io::Result<Vec<_>>>()?;
        let mut files: Vec<_> = entries
            .iter()
            .map(|entry| Ok((entry.path(), entry.metadata()?.modified()?)))
            .collect::<Result<_>>()?;
        files.sort();
        Ok(files)
    };
    let before = files()?;
    let says = |arguments: &[&str], is_said: &dyn Fn(&str) -> bool| {
        let said = String::from_utf8(omo(scene, arguments, &[])?.stdout)?;
        ensure!(is_said(&said), "`{words}` is not in:\n{said}");
        Ok(())
    };
    let row = |said: &str| {
        said.lines().any(|line| {
            line.strip_prefix(label)
                .is_some_and(|row| row.trim() == words)
        })
    };
    says(&["status"], &row)?;
    says(&["status", "--json"], &|said| said.contains(json))?;
    says(&["report", "--last"], &row)?;
    let page = scene.lab.home().join("page.html");
    omo(
        scene,
        &["report", "--last", "--html", &page.to_string_lossy()],
        &[],
    )?;
    let shown = std::fs::read_to_string(page)?;
    ensure!(shown.contains(words), "`{words}` is not in:\n{shown}");
    ensure!(
        files()? == before,
        "{:?} is not as before: {before:?}",
        files()?
    );
    Ok(())
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn a_verdict_says_what_the_checks_say_without_the_change() {
    play_with_review(&[
        ("a test that fails without the work", |s| {
            begin(s, "--no-review")?;
            work(s, HONEST)?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("1 check green (2 tests, 1 newly passing), red without the change"),
                "{line}"
            );
            let report = String::from_utf8(omo(s, &["report", "--last"], &[])?.stdout)?;
            ensure!(
                report.contains("\nwithout the change  red without the change; 1 test"),
                "{report}"
            );
            shows_without_change(
                s,
                "red without the change; 1 test went from failing or absent to passing",
            )?;
            // Of what is gone nothing is asked anew.
            std::fs::remove_file(claim_folder(s).join("answer.json"))?;
            shows_unusual(
                s,
                "the comparison with the start did not finish: it was ended before all was done",
            )
        }),
        (
            "a test that asserts nothing is named, and decides nothing",
            |s| {
                begin(s, "--no-review")?;
                work(s, VACUOUS)?;
                let line = s.claim_ends("verified")?;
                ensure!(
                    line.contains("green without the change, too, so nothing about it is shown"),
                    "{line}"
                );
                Ok(())
            },
        ),
        ("where its user turned it off it is not asked", |s| {
            s.lab.configure("[verify]\nprove = \"off\"\n")?;
            begin(s, "--no-review")?;
            work(s, HONEST)?;
            let line = s.claim_ends("verified")?;
            ensure!(!line.contains("without the change"), "{line}");
            Ok(())
        }),
    ]);
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn a_claim_that_is_held_to_it_needs_a_test_that_fails_without_the_work() {
    play_with_review(&[
        ("by an option", |s| {
            begin(s, "--no-review --prove")?;
            work(s, VACUOUS)?;
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("it is not shown that the work made them pass"),
                "{reason}"
            );
            ensure!(reason.contains("green without the change, too"), "{reason}");
            work(s, HONEST)?;
            let line = s.claim_ends("verified")?;
            ensure!(line.contains("red without the change"), "{line}");
            Ok(())
        }),
        (
            "by the configuration, and three failures end the run",
            |s| {
                s.lab
                    .configure("[verify]\nreview = false\nprove = \"require\"\n")?;
                begin(s, "")?;
                for text in ["1", "2"] {
                    work(s, &format!("{VACUOUS}    # {text}\n"))?;
                    s.claim_fails()?;
                }
                work(s, VACUOUS)?;
                let line = s.claim_ends("released")?;
                ensure!(
                    line.contains("NOT PROVED: not proved: ")
                        && line.contains("without the change"),
                    "{line}"
                );
                Ok(())
            },
        ),
        ("by one check of the configuration", |s| {
            let check = "[[check]]\nname = \"tests\"\nrun = \"python3 -m unittest discover\"\nprove = true\n";
            s.lab
                .configure(&format!("[verify]\nreview = false\n{check}"))?;
            s.lab.write("app.py", BEFORE)?;
            s.lab.write("test_app.py", TEST)?;
            s.start("")?;
            work(s, VACUOUS)?;
            let reason = s.claim_fails()?;
            ensure!(
                reason.contains("tests: it is green without the change"),
                "{reason}"
            );
            Ok(())
        }),
    ]);
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn a_new_function_that_no_test_runs_is_named() {
    const NAMED: &str = "shows nothing about `mean`: green with empty bodies";
    play_with_review(&[
        ("to its reviewer, first of all", |s| {
            begin(s, "")?;
            add_function(s, IMPORTS_IT)?;
            let (answer, first) = s.claim_with_review(AGREES)?;
            ensure!(
                first.first().is_some_and(|line| line.contains(NAMED)),
                "{first:?}"
            );
            let line = answer.system_message().unwrap_or_default();
            ensure!(line.contains("VERIFIED") && line.contains(NAMED), "{line}");
            shows_without_change(
                s,
                "cannot be built without the change, and green with empty bodies",
            )
        }),
        ("to a claim that is held to it", |s| {
            begin(s, "--no-review --prove")?;
            add_function(s, IMPORTS_IT)?;
            let reason = s.claim_fails()?;
            ensure!(reason.contains(NAMED), "{reason}");
            add_function(s, RUNS_IT)?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("cannot be built without the change, and red with empty bodies"),
                "{line}"
            );
            Ok(())
        }),
        ("beside one that was altered, and that tests run", |s| {
            begin(s, "--no-review --prove")?;
            add_function(s, IMPORTS_IT)?;
            s.lab.write("app.py", &format!("{AFTER}{NEW}"))?;
            let reason = s.claim_fails()?;
            ensure!(reason.contains(NAMED), "{reason}");
            Ok(())
        }),
        ("and not where a test runs it", |s| {
            begin(s, "--no-review")?;
            add_function(s, RUNS_IT)?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("and red with empty bodies") && !line.contains("shows nothing"),
                "{line}"
            );
            Ok(())
        }),
    ]);
}

#[test]
#[ignore = "needs the built plugin and python3: cargo xtask test"]
fn what_is_found_out_ends_with_a_run_that_its_user_stops() {
    play_with_review(&[("stopped in the middle", |s| {
        s.lab.write("app.py", BEFORE)?;
        s.lab.write("test_app.py", TEST)?;
        // In the copies it never ends.
        s.start("--no-review --check \"case $PWD in */proofs/*) sleep 600;; esac\"")?;
        s.lab.write("app.py", AFTER)?;
        let folder = s.lab.home().join(".local/state/omo/proofs");
        let count = || {
            let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
            entries.filter(|entry| entry.path().is_dir()).count()
        };
        let scene: &Scene = s;
        std::thread::scope(|scope| {
            let claim = scope.spawn(|| scene.claim().map_err(|error| format!("{error:#}")));
            wait_until("copies", || (count() > 0).then_some(()))?;
            let stopped = omo(scene, &["stop"], &[])?;
            ensure!(stopped.status.success(), "{stopped:?}");
            wait_until("no copies", || (count() == 0).then_some(()))?;
            ensure!(
                claim.join().is_ok_and(|claim| claim.is_ok()),
                "the hook failed"
            );
            Ok(())
        })?;
        Ok(())
    })]);
}
