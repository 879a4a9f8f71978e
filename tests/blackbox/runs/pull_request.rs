//! `omo run pr`: the work of a run goes to a branch of its own, with the report as the text of the request.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Context as _, Result, ensure};
use omo_testkit::Lab;
use omo_tests::plan_project::{Ground, PLAN, two_tasks};
use omo_tests::scene::{Scene, plugin};
use tempfile::TempDir;

/// What stands for `gh`: it notes its arguments and its input, and names an address.
const GH: &str = "#!/bin/sh\nprintf '%s\\n' \"$@\" > \"$0.arguments\"\ncat > \"$0.body\"\n\
                  echo 'Creating pull request' >&2\necho https://example.org/pull/7\n";
/// One that is not signed in.
const SIGNED_OUT: &str = "#!/bin/sh\necho 'run gh auth login first' >&2\nexit 4\n";

/// A project with a plan, and with a remote that has its branch.
fn project(programs: &TempDir) -> Result<Ground> {
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
    Ok(ground)
}

/// One whose run is done.
fn ground(programs: &TempDir) -> Result<Ground> {
    let ground = project(programs)?;
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
    install(&programs, GH)?;
    g.git(&["switch", "-q", "-c", "other", "HEAD~1"])?;
    g.lab().write("other.txt", "other\n")?;
    g.git(&["add", "."])?;
    g.git(&["commit", "-q", "-m", "other"])?;
    g.omo_at_terminal(&["run", "pr"])?.refuses(
        5,
        "the run worked on main, and other is checked out",
        "`git switch main`",
    )?;
    g.git(&["checkout", "-q", "--detach", "main"])?;
    g.omo_at_terminal(&["run", "pr"])?.refuses(
        5,
        "the run worked on main, and no branch is checked out",
        "`git switch main`",
    )?;
    g.git(&["switch", "-q", "--orphan", "apart"])?;
    g.git(&["commit", "-q", "--allow-empty", "-m", "apart"])?;
    g.git(&["branch", "-m", "main", "kept"])?;
    g.git(&["branch", "-m", "apart", "main"])?;
    g.omo_at_terminal(&["run", "pr"])?.refuses(
        5,
        "does not have the commits of the run",
        "`git reflog`",
    )?;
    ensure!(
        !branches()?.contains("omo/"),
        "pushed what is not of the run"
    );
    g.git(&["branch", "-m", "main", "apart"])?;
    g.git(&["switch", "-q", "kept"])?;
    g.git(&["branch", "-m", "kept", "main"])?;
    let session = g.session()?;
    g.omo_in_session(&session, &["run", "pr"])?.refuses(
        7,
        "only a person",
        "terminal of your own",
    )?;

    install(&programs, SIGNED_OUT)?;
    let mut said = g.omo_at_terminal(&["run", "pr"])?;
    let note = "note: gh opens the request, which may take up to 60 s\n";
    let rest = said.err.strip_prefix(note).context("no note")?.to_owned();
    said.err = rest;
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

const ORDERED: &str = "Pull request: once the run is complete, gh opens one at origin (";

/// A project whose run was opened with `--pr`, and whose first task is done.
fn ordered(programs: &TempDir) -> Result<Ground> {
    let g = project(programs)?;
    let start = ["run", "start", "--batches", PLAN, "--pr"];
    g.omo_at_terminal(&start)?.refuses(
        5,
        "nothing here opens a pull request",
        "install gh or glab",
    )?;
    install(programs, GH)?;
    g.omo_at_terminal(&["run", "start", "--batches", PLAN, "--pr=other"])?
        .refuses(5, "other", "git remote")?;
    let mut session = g.session()?;
    let screen = session.type_prompt(&format!("/omo:execute --batches {PLAN} --pr"))?;
    let screen = format!("{screen:?}");
    ensure!(
        screen.contains(ORDERED) && screen.contains("waits for your approval"),
        "{screen}"
    );
    let digest = g.digest(PLAN)?;
    // Its user is there in a terminal; a model is not its user.
    g.omo_in_session(&session, &start)?.refuses(
        7,
        "only a person orders a pull request",
        "--pr=origin",
    )?;
    let opened = g
        .omo_at_terminal(&[&start[..], &["--digest", &digest]].concat())?
        .exits_with(0)?;
    ensure!(opened.out.contains(ORDERED), "{}", opened.out);
    g.pass("1", "one")?;
    Ok(g)
}

/// Does the last task, and commits all work before the run ends.
fn finish(g: &Ground) -> Result<String> {
    let ticket = g.start("2")?;
    g.lab().write("words/2.txt", "two\n")?;
    g.git(&["add", "."])?;
    g.git(&["commit", "-q", "-m", "words"])?;
    g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
        .exits_with(0)?;
    let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    Ok(said.out)
}

fn is_opened() -> Result<()> {
    let programs = tempfile::tempdir()?;
    let g = ordered(&programs)?;
    let arguments = programs.path().join("gh.arguments");
    ensure!(!arguments.exists(), "opened before the end");
    let said = finish(&g)?;
    ensure!(
        said.contains("A pull request is open: https://example.org/pull/7"),
        "{said}"
    );
    let run = g.run()?;
    let told = fs::read_to_string(&arguments)?;
    ensure!(told.contains(&format!("--head\nomo/{run}\n")), "{told}");
    let branches = g.lab().git(&["ls-remote", "--heads", "origin"])?;
    ensure!(
        branches.contains(&format!("refs/heads/omo/{run}")),
        "{branches}"
    );
    // Once, whoever looks at the end.
    fs::remove_file(&arguments)?;
    g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    ensure!(!arguments.exists(), "opened again");
    let report = g.omo_at_terminal(&["report"])?.exits_with(0)?;
    ensure!(
        report.out.contains("https://example.org/pull/7"),
        "{}",
        report.out
    );
    Ok(())
}

/// The run stays complete, and says why no request was opened.
fn is_not_opened(
    programs: &TempDir,
    g: &Ground,
    end: impl FnOnce(&Ground) -> Result<String>,
    why: &str,
) -> Result<()> {
    let said = end(g)?;
    let why = format!("No pull request was opened: {why}");
    ensure!(
        said.contains("Execution complete: complete") && said.contains(&why),
        "{said}"
    );
    install(programs, GH)?;
    g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
    ensure!(
        !programs.path().join("gh.arguments").exists(),
        "tried again by itself"
    );
    Ok(())
}

fn says_why_not() -> Result<()> {
    let programs = tempfile::tempdir()?;
    let g = ordered(&programs)?;
    let end = |g: &Ground| {
        g.pass("2", "two")?;
        Ok(g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?.out)
    };
    let why =
        "work of the run is not committed: words/1.txt, words/2.txt; commit it, then `omo run pr`";
    is_not_opened(&programs, &g, end, why)?;
    let (programs, signed_out) = (tempfile::tempdir()?, "gh opened no request: run gh auth");
    let g = ordered(&programs)?;
    install(&programs, SIGNED_OUT)?;
    is_not_opened(&programs, &g, finish, signed_out)?;
    // Work does not go where the run itself has the remote point.
    let programs = tempfile::tempdir()?;
    let g = ordered(&programs)?;
    g.git(&["remote", "set-url", "origin", "/nowhere.git"])?;
    is_not_opened(&programs, &g, finish, "the address of origin has changed")
}

#[test]
fn a_pull_request_that_was_ordered_is_opened_at_the_end() {
    omo_tests::all_good([
        ("one that is complete".to_owned(), is_opened()),
        ("one that cannot be".to_owned(), says_why_not()),
    ]);
}

#[test]
fn the_work_of_a_run_becomes_a_pull_request_with_its_report() {
    omo_tests::all_good([("one that is complete".to_owned(), plays())]);
}
