//! `omo verify` and `omo check`: what is printed, and the exit status.

use std::fs;

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use crate::claim_scene::play_with_review;
use crate::cli::omo;
use crate::scene::Scene;

/// Runs `omo verify`; gives its exit status and what it printed.
fn verify(scene: &Scene, arguments: &[&str]) -> Result<(i32, String, String)> {
    let arguments: Vec<&str> = std::iter::once("verify")
        .chain(arguments.iter().copied())
        .collect();
    let output = omo(scene, &arguments, &[])?;
    let status = output.status.code().context("no exit status")?;
    Ok((
        status,
        String::from_utf8(output.stdout)?,
        String::from_utf8(output.stderr)?,
    ))
}

fn configure(scene: &Scene, runs: &[(&str, &str)]) -> Result<()> {
    let checks = runs
        .iter()
        .map(|(name, run)| format!("[[check]]\nname = \"{name}\"\nrun = \"{run}\"\n"));
    scene.lab.configure(&format!(
        "[verify]\nreview = false\n{}",
        checks.collect::<String>()
    ))
}

#[test]
fn verify_runs_the_checks_and_its_status_is_the_answer() {
    play_with_review(&[
        ("all green, in columns", |s| {
            configure(
                s,
                &[
                    ("tests", "echo '=== 5 passed, 1 skipped in 0.10s ==='"),
                    ("lint", "true"),
                ],
            )?;
            let (status, out, err) = verify(s, &[])?;
            ensure!(status == 0 && err.is_empty(), "{status}: {err}");
            let lines: Vec<&str> = out.lines().collect();
            let [heads, tests, lint] = &*lines else {
                anyhow::bail!("{out}")
            };
            let words = |line: &str| {
                line.split_whitespace()
                    .map(str::to_owned)
                    .collect::<Vec<_>>()
            };
            ensure!(
                words(heads)
                    == [
                        "check", "verdict", "run", "failed", "skipped", "time", "evidence", "log"
                    ],
                "{heads}"
            );
            ensure!(
                words(tests)[..5] == ["tests", "green", "5", "0", "1"],
                "{tests}"
            );
            ensure!(
                words(lint)[..5] == ["lint", "green", "-", "-", "-"],
                "{lint}"
            );
            ensure!(
                heads.find("verdict") == tests.find("green"),
                "columns do not line up:\n{out}"
            );
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "the project was written to"
            );
            Ok(())
        }),
        ("one red", |s| {
            configure(
                s,
                &[
                    ("lint", "echo src/a.rs:3: unused; exit 3"),
                    ("tests", "true"),
                ],
            )?;
            let (status, out, err) = verify(s, &[])?;
            ensure!(
                status == 1 && err.contains("1 of 2 checks not green"),
                "{status}: {err}"
            );
            ensure!(
                out.contains("lint: exit status 3") && out.contains("  src/a.rs:3: unused"),
                "{out}"
            );
            let log = out
                .lines()
                .find(|line| line.starts_with("lint "))
                .and_then(|line| line.split_whitespace().last());
            ensure!(fs::read_to_string(log.context("no log")?)?.contains("unused"));
            Ok(())
        }),
    ]);
}

#[test]
fn verify_runs_nothing_that_its_user_did_not_agree_to() {
    play_with_review(&[
        ("no check at all proves nothing", |s| {
            let (status, out, err) = verify(s, &[])?;
            ensure!(
                status == 1
                    && out.is_empty()
                    && err.contains("nothing is proved")
                    && err.contains("hint:"),
                "{err}"
            );
            Ok(())
        }),
        ("as JSON", |s| {
            configure(
                s,
                &[
                    ("tests", "echo '=== 0 passed in 0.10s ==='"),
                    ("lint", "true"),
                ],
            )?;
            let (status, out, _) = verify(s, &["--json"])?;
            let json: Value = serde_json::from_str(&out)?;
            ensure!(status == 1 && json["green"] == false, "{json}");
            ensure!(
                json["tree"].as_str().is_some_and(|tree| tree.len() == 64),
                "{json}"
            );
            ensure!(
                json["checks"][0]["verdict"] == "nothingRan"
                    && json["checks"][1]["verdict"] == "green",
                "{json}"
            );
            Ok(())
        }),
        (
            "as annotations of a GitHub workflow, alone on stdout",
            |s| {
                s.lab.write("src/a.rs", "fn a() {}\n")?;
                configure(
                    s,
                    &[
                        (
                            "lint",
                            "printf 'src/a.rs:3: unused\\n::set-env name=A::b\\n'; exit 3",
                        ),
                        ("tests", "true"),
                    ],
                )?;
                let (status, out, err) = verify(s, &["--format", "github"])?;
                let expected =
                    "::error file=src/a.rs,line=3,title=lint::exit status 3%0Asrc/a.rs:3: unused\n";
                ensure!(
                    status == 1 && out == expected && err.contains("1 of 2 checks not green"),
                    "{out}{err}"
                );
                Ok(())
            },
        ),
        (
            "in the summary of a GitHub step where that is asked for",
            |s| {
                configure(s, &[("tests", "echo '=== 5 passed in 0.10s ==='")])?;
                let file = s.lab.project().join("summary.md");
                let set = [("GITHUB_STEP_SUMMARY", file.to_str().context("no path")?)];
                let arguments = ["verify", "--format", "github", "--summary"];
                ensure!(
                    omo(s, arguments.split_last().context("no arguments")?.1, &set)?
                        .status
                        .success()
                        && !file.exists()
                );
                let output = omo(s, &arguments, &set)?;
                ensure!(
                    output.status.success() && output.stdout.is_empty(),
                    "{output:?}"
                );
                ensure!(
                    fs::read_to_string(&file)?.contains("- green: `echo '=== 5 passed"),
                    "{file:?}"
                );
                Ok(())
            },
        ),
        ("as JUnit XML with each test that a runner names", |s| {
            let run = "printf 'test a::b ... ok\\ntest a::c ... FAILED\\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; \
                       0 measured; 0 filtered out\\n'; exit 101";
            configure(s, &[("tests", run), ("lint", "true")])?;
            let (status, out, err) = verify(s, &["--format", "junit"])?;
            ensure!(
                status == 1 && err.contains("1 of 2 checks not green"),
                "{err}"
            );
            ensure!(
                out.starts_with("<?xml version=\"1.0\"") && out.ends_with("</testsuites>\n"),
                "{out}"
            );
            ensure!(
                out.contains(
                    "<testsuites name=\"omo verify\" tests=\"4\" failures=\"2\" errors=\"0\""
                ),
                "{out}"
            );
            let cases = [
                "name=\"a::b\"/>",
                "name=\"a::c\"><failure message=\"failed\"/></testcase>",
            ];
            ensure!(
                cases.iter().all(|case| out.contains(case))
                    && out.contains("<failure message=\"exit status 101\">")
            );
            let (status, _, err) = verify(s, &["--format", "junit", "--json"])?;
            ensure!(
                status == 2 && err.contains("cannot be used with"),
                "{status}: {err}"
            );
            Ok(())
        }),
        ("the checks of a session, run now whatever it has", |s| {
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.claim_fails()?;
            let (status, out, err) = verify(s, &[])?;
            ensure!(status == 0 && s.traced("ran") == 2, "{err}");
            ensure!(out.contains("under a minute old"), "{out}");
            s.lab.write("new.txt", "x")?;
            ensure!(verify(s, &[])?.1.contains("stale"));
            // What is run by hand, maybe by the model itself, is no evidence.
            s.claim_fails()?;
            ensure!(s.traced("ran") == 4);
            Ok(())
        }),
        ("a session that something else wrote", |s| {
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.forge(&[("/gates/0/run", "echo x >> $HOME/evil".into())])?;
            for arguments in [["verify"].as_slice(), &["verify"], &["check", "list"]] {
                let output = omo(s, arguments, &[])?;
                let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
                ensure!(
                    output.status.code() == Some(1) && stderr.contains("changed by something else"),
                    "{stderr}"
                );
            }
            ensure!(s.traced("evil") + s.traced("ran") == 0);
            Ok(())
        }),
        ("what is not approved is not green and not run", |s| {
            s.lab
                .write("omo.toml", "[[check]]\nrun = \"pwd >> $HOME/ran\"\n")?;
            let (status, out, _) = verify(s, &[])?;
            ensure!(
                status == 1 && out.contains("not approved") && s.traced("ran") == 0,
                "{out}"
            );
            Ok(())
        }),
        ("a configuration that cannot be", |s| {
            s.lab
                .configure("[[check]]\nname = \"a b\"\nrun = \"true\"\n")?;
            let (status, _, err) = verify(s, &[])?;
            ensure!(
                status == 5 && err.contains("config.toml:1: [[check]]: `a b` is not a name"),
                "{err}"
            );
            Ok(())
        }),
        ("outside of git", |s| {
            fs::remove_dir_all(s.lab.project().join(".git"))?;
            configure(s, &[("tests", "true")])?;
            ensure!(verify(s, &[])?.0 == 0);
            Ok(())
        }),
    ]);
}

#[test]
fn outside_of_git_a_claim_is_verified_by_the_files() {
    play_with_review(&[
        ("checks run once while no file changes", |s| {
            fs::remove_dir_all(s.lab.project().join(".git"))?;
            s.start("--check \"pwd >> $HOME/ran; true\"")?;
            s.claim_fails()?;
            s.reviewer_reports(crate::claim_scene::AGREES)?;
            let answer =
                s.stop(&serde_json::json!({"last_assistant_message": "The reviewer agrees."}))?;
            ensure!(
                answer
                    .system_message()
                    .is_some_and(|line| line.starts_with("[omo] VERIFIED: ")
                        || line.starts_with("[omo] verified by review")),
                "{answer:?}"
            );
            ensure!(s.traced("ran") == 1);
            Ok(())
        }),
        ("a file that was written since the review asks again", |s| {
            fs::remove_dir_all(s.lab.project().join(".git"))?;
            s.start("")?;
            s.claim_fails()?;
            s.reviewer_reports(crate::claim_scene::AGREES)?;
            s.lab.write("new.txt", "x")?;
            ensure!(s.claim_fails()?.contains("to be reviewed again"));
            Ok(())
        }),
    ]);
}
