//! `omo run pr`: the work of a run goes to a branch of its own, with the report as the text of the request.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Result, ensure};
use omo_testkit::Lab;
use omo_tests::plan_project::{Ground, PLAN, two_tasks};
use omo_tests::scene::{Scene, plugin};
use tempfile::TempDir;

/// What stands for `gh`: it notes its arguments and its input, and names an address.
const GH: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.arguments\"\ncat > \"$0.body\"\n\
                  echo 'Creating pull request' >&2\necho https://example.org/pull/7\n";
/// One that is not signed in.
const SIGNED_OUT: &str = "#!/bin/sh\necho 'run gh auth login first' >&2\nexit 4\n";

/// A project whose run is done, with a remote that has its branch.
fn ground(programs: &TempDir) -> Result<Ground> {
    let lab = Lab::builder().path(programs.path()).build()?;
    lab.write(PLAN, &two_tasks())?;
    let remote = lab.root().join("remote.git");
    let ground = Ground {
        scene: Scene::in_lab(&plugin(), lab)?,
        options: &[],
    };
    let remote = remote.to_string_lossy().into_owned();
    for arguments in [
        &["add", "."][..],
        &["commit", "-q", "-m", "plan"],
        &["init", "-q", "--bare", &remote],
        &["remote", "add", "origin", &remote],
        &["push", "-q", "origin", "HEAD:main"],
    ] {
        ground.git(arguments)?;
    }
    ground.git(&["branch", "-m", "main"])?;
    ground.open()?;
    ground.pass("1", "one")?;
    ground
        .omo_at_terminal(&["run", "pr"])?
        .refuses(5, "is not done", "`omo report`")?;
    ground.pass("2", "two")?;
    ground.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    Ok(ground)
}

fn install(programs: &TempDir, text: &str) -> Result<()> {
    let program = programs.path().join("gh");
    fs::write(&program, text)?;
    Ok(fs::set_permissions(
        &program,
        fs::Permissions::from_mode(0o755),
    )?)
}

fn plays() -> Result<()> {
    let programs = tempfile::tempdir()?;
    let g = ground(&programs)?;
    g.omo_at_terminal(&["run", "pr"])?.refuses(
        5,
        "not committed: words/1.txt, words/2.txt",
        "commit it",
    )?;
    g.git(&["add", "."])?;
    g.git(&["commit", "-q", "-m", "words"])?;
    let refused = g.omo_at_terminal(&["run", "pr"])?;
    refused.refuses(5, "nothing here opens a pull request", "install gh or glab")?;
    let branches = || g.lab().git(&["ls-remote", "--heads", "origin"]);
    ensure!(!branches()?.contains("omo/"), "pushed without a request");
    let session = g.session()?;
    g.omo_in_session(&session, &["run", "pr"])?.refuses(
        7,
        "only a person",
        "terminal of your own",
    )?;

    install(&programs, SIGNED_OUT)?;
    let said = g.omo_at_terminal(&["run", "pr"])?;
    said.refuses(
        5,
        "gh opened no request: run gh auth login first",
        "`omo run pr` opens the request",
    )?;

    install(&programs, GH)?;
    // No part of the run, as far as omo knows: it is named, and left out.
    g.lab().write("notes.md", "later\n")?;
    let run = g.run()?;
    let said = g.omo_at_terminal(&["run", "pr", &run])?.exits_with(0)?;
    ensure!(
        said.out
            == format!(
                "https://example.org/pull/7\nIts branch is omo/{run} at origin; none of yours was moved.\n\
                 Not in it, since it is not committed: notes.md\n"
            ),
        "{}",
        said.out
    );
    let of = |name: &str| fs::read_to_string(programs.path().join(name));
    let arguments =
        format!("pr\ncreate\n--head\nomo/{run}\n--title\nWords\n--body-file\n-\n--base\nmain\n");
    ensure!(of("gh.arguments")? == arguments, "{}", of("gh.arguments")?);
    let body = of("gh.body")?;
    for part in [
        "Complete.\n\n```text\n",
        "The word 1",
        "grep -q two words/2.txt",
    ] {
        ensure!(body.contains(part), "no {part:?}: {body}");
    }
    let head = g.lab().git(&["rev-parse", "HEAD"])?;
    let there = branches()?;
    ensure!(
        there.contains(&format!("{}\trefs/heads/omo/{run}", head.trim())),
        "{there}"
    );
    let main = there.lines().find(|line| line.ends_with("refs/heads/main"));
    ensure!(
        main.is_some_and(|line| !line.starts_with(head.trim())),
        "the user's branch was pushed: {there}"
    );
    Ok(())
}

#[test]
fn the_work_of_a_run_becomes_a_pull_request_with_its_report() {
    omo_tests::all_good([("one that is complete".to_owned(), plays())]);
}
