//! The test command that a project's files tell: taken by `/omo:check add` and `omo check add`, and never run unasked.

use anyhow::{Context, Result, ensure};

use crate::claim_scene::play_with_review;
use crate::cli::omo;
use crate::scene::Scene;

/// A project whose command leaves a trace.
fn write_makefile(s: &Scene) -> Result<()> {
    s.lab
        .write(
            "Makefile",
            "test:\n\tpwd >> $(HOME)/ran; test -f done.txt\n",
        )
        .map(drop)
}

/// `omo` fails with this status and this in what it says, and changes nothing.
fn refused(s: &Scene, arguments: &[&str], status: i32, expected: &str) -> Result<()> {
    let before = s.lab.state();
    let output = omo(s, arguments, &[])?;
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    ensure!(
        output.status.code() == Some(status) && stderr.contains(expected),
        "{arguments:?}: {output:?}"
    );
    ensure!(
        stderr.contains("`omo check add -- COMMAND`") && s.lab.state() == before,
        "{arguments:?}: {stderr}"
    );
    Ok(())
}

#[test]
fn a_prompt_adds_the_command_that_was_found() {
    play_with_review(&[
        ("before a run, in which it counts", |s| {
            write_makefile(s)?;
            let said = s.asks("/omo:check add")?;
            ensure!(
                said.contains(
                    "`make-test` decides from now on: `make test` (found in Makefile) runs"
                ),
                "{said}"
            );
            s.start("--no-review")?;
            ensure!(
                s.field("/gates/0/run")? == "make test" && s.field("/gates/0/origin")? == "user"
            );
            ensure!(s.claim_fails()?.contains("`make-test`"));
            s.lab.write("done.txt", "")?;
            s.claim_ends("verified")?;
            Ok(())
        }),
        ("in a run, with a name and a time", |s| {
            write_makefile(s)?;
            s.start("--no-review")?;
            ensure!(
                s.traced("ran") == 0,
                "a run began, and the command was run unasked"
            );
            s.asks("/omo:check add --name unit --timeout 60")?;
            ensure!(
                s.field("/gates/0/name")? == "unit" && s.field("/gates/0/timeoutSeconds")? == 60
            );
            ensure!(s.traced("ran") == 0, "it was run unasked");
            let said = s.asks("/omo:check add --name a/b")?;
            ensure!(said.contains("`a/b` is not a name"), "{said}");
            Ok(())
        }),
        ("nothing is found", |s| {
            let said = s.asks("/omo:check add")?;
            ensure!(
                said.contains("no file at the top of this project tells")
                    && said.contains("/omo:check add"),
                "{said}"
            );
            ensure!(!s.state_file().exists(), "something was written");
            Ok(())
        }),
        ("the user does not want it", |s| {
            write_makefile(s)?;
            s.lab.configure("[verify]\ndetect = \"off\"\n")?;
            let said = s.asks("/omo:check add")?;
            ensure!(
                said.contains("`verify.detect` is \"off\"")
                    && said.contains("type one: /omo:check add"),
                "{said}"
            );
            ensure!(!s.state_file().exists(), "something was written");
            Ok(())
        }),
    ]);
}

#[test]
fn the_command_line_adds_the_command_that_was_found() {
    play_with_review(&[
        ("with the digest that the list shows", |s| {
            write_makefile(s)?;
            s.start("--no-review --check true")?;
            let list = String::from_utf8(omo(s, &["check", "list"], &[])?.stdout)?;
            let digest = list
                .split("digest of these checks: ")
                .nth(1)
                .context("no digest")?
                .trim();
            let output = omo(s, &["check", "add", "--digest", digest], &[])?;
            let said = String::from_utf8(output.stdout)?;
            ensure!(
                said.contains("`make-test` decides from now on (found in Makefile)"),
                "{said}"
            );
            ensure!(s.field("/gates/1/run")? == "make test" && s.traced("ran") == 0);
            Ok(())
        }),
        ("nothing is found", |s| {
            s.start("--no-review --check true")?;
            refused(
                s,
                &["check", "add"],
                3,
                "no file at the top of this project tells how it is tested",
            )
        }),
        ("the user does not want it", |s| {
            write_makefile(s)?;
            s.start("--no-review --check true")?;
            s.lab.configure("[verify]\ndetect = \"off\"\n")?;
            refused(
                s,
                &["check", "add"],
                2,
                "`verify.detect` is \"off\" in config.toml",
            )
        }),
    ]);
}
