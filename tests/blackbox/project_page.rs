//! `omo report --all --html`: one page of all runs of a project, with links to the pages that lie beside it.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{self, Ground, PLAN, two_tasks};

use crate::claim_scene::{AGREES, play_with_review};
use crate::cli::omo;
use crate::scene::Scene;

/// Writes the page of an `omo` command; gives its path and its text.
fn page_of(scene: &Scene, arguments: &[&str]) -> Result<(String, String)> {
    let output = omo(scene, arguments, &[])?;
    let path = String::from_utf8(output.stdout)?.trim_end().to_owned();
    ensure!(
        output.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    let page = fs::read_to_string(&path)?;
    Ok((path, page))
}

fn page_of_plans(ground: &Ground, arguments: &[&str]) -> Result<(String, String)> {
    let path = ground
        .omo_at_terminal(arguments)?
        .exits_with(0)?
        .out
        .trim_end()
        .to_owned();
    let page = fs::read_to_string(&path).with_context(|| path.clone())?;
    Ok((path, page))
}

#[test]
fn the_page_of_a_project_has_each_ultrawork_run_once() {
    play_with_review(&[(
        "none, one that is proved, one that failed, and one that is on",
        |s| {
            let none = omo(s, &["report", "--all", "--html"], &[])?;
            let said = String::from_utf8(none.stderr)?;
            ensure!(
                none.status.code() == Some(3) && none.stdout.is_empty(),
                "{said}"
            );
            ensure!(
                said.contains("no run is known here") && said.contains("type `ulw <task>`"),
                "{said}"
            );
            s.start("--check true")?;
            ensure!(s.claim()?.blocks(), "no review was asked for");
            s.reviewer_reports(AGREES)?;
            s.claim_ends("verified")?;
            let own = page_of(s, &["report", "--html"])?.0;
            let first = s.session.session().to_owned();
            s.session = s.another()?;
            s.start("--no-review --max-blocks 1 --check false")?;
            s.claim_fails()?;
            s.lab.write("more.txt", "x")?;
            s.claim_ends("released")?;
            s.session = s.another()?;
            s.prompt("ulw fix <script>alert(1)</script> & \u{202e}")?;
            let page = page_of(s, &["report", "--all", "--html"])?.1;
            for part in [
                "1 proved</strong>",
                "1 failed</strong>",
                "1 not ended</strong>",
                r"alert(1)&#60;/script&#62; &#38;",
            ] {
                ensure!(page.contains(part), "{part} is missing: {page}");
            }
            ensure!(
                page.matches("<article").count() == 3 && !page.contains("<script"),
                "{page}"
            );
            ensure!(
                !page.contains('\u{202e}') && page.contains(r"\u{202e}"),
                "what is not seen turns a line around"
            );
            let name = own.rsplit('/').next().context("no name")?;
            ensure!(
                page.contains(&format!("<a href=\"{name}\">")),
                "no link to {name}: {page}"
            );
            // Its session names it, whatever began after it.
            let (path, proved) = page_of(s, &["report", "--html", "--session", &first])?;
            ensure!(
                path == own && proved.contains("class=\"verdict proved\""),
                "{path}: {proved}"
            );
            // What was kept of its run outlives its entry in the state.
            fs::remove_file(s.lab.project().join(".sisyphus/cc-omo/runtime.local.json"))?;
            let start = &first[..first.len() - 1];
            let (path, proved) = page_of(s, &["report", "--html", "--session", start])?;
            ensure!(
                path == own && proved.contains("class=\"verdict proved\""),
                "{path}: {proved}"
            );
            let text = String::from_utf8(omo(s, &["report", "--session", &first], &[])?.stdout)?;
            ensure!(text.contains(&format!("session  {first}")), "{text}");
            // Somewhere else there is nothing beside it.
            let file = s.lab.home().join("all.html").display().to_string();
            let (path, elsewhere) = page_of(s, &["report", "--all", "--html", &file])?;
            ensure!(path == file && !elsewhere.contains(name), "{elsewhere}");
            Ok(())
        },
    )]);
}

#[test]
fn the_page_of_a_project_has_each_run_of_a_plan() {
    let cases: &[plan_project::Case] = &[
        (
            "one that was cancelled, and one that goes on",
            two_tasks(),
            |g| {
                g.open()?;
                g.pass("1", "one")?;
                g.omo_at_terminal(&["run", "cancel", "--reason", "wrong branch"])?
                    .exits_with(0)?;
                g.omo_at_terminal(&["run", "start", "--batches", "--again", PLAN])?
                    .exits_with(0)?;
                let page = page_of_plans(g, &["report", "--all", "--html"])?.1;
                for part in [
                    "1 of 2 tasks done, 1 proved",
                    "0 of 2 tasks done",
                    "1 attempt<",
                    "Cancelled",
                    "Over time",
                ] {
                    ensure!(page.contains(part), "{part} is missing: {page}");
                }
                ensure!(
                    page.matches("<article").count() == 2 && !page.contains("card proved"),
                    "{page}"
                );
                for option in ["--all", "--open", "--follow"] {
                    let hint = format!("add `--html`: `omo report --html {option}`");
                    g.omo_at_terminal(&["report", option])?
                        .refuses(2, "is about a page", &hint)?;
                }
                g.omo_at_terminal(&["report", "--all", "--html", "--last"])?
                    .exits_with(2)?;
                g.omo_at_terminal(&["report", "--html", "a\nb"])?.refuses(
                    2,
                    "a line break",
                    "on one line",
                )?;
                let hint = "an ultrawork run is named by its session";
                g.omo_at_terminal(&["report", "--html", "--run", "ffff"])?
                    .refuses(3, "is called `ffff`", hint)?;
                Ok(())
            },
        ),
        ("one whose log was changed", two_tasks(), |g| {
            g.open()?;
            let log = g.runs().join(g.run()?).join("events.jsonl");
            fs::write(&log, fs::read_to_string(&log)?.replace("Words", "Other"))?;
            for verb in [
                ["report"].as_slice(),
                &["report", "--html"],
                &["watch", "--seconds", "0"],
            ] {
                g.omo_at_terminal(verb)?
                    .refuses(9, "was changed", "opens a new run")?;
            }
            ensure!(
                page_of_plans(g, &["report", "--all", "--html"])?
                    .1
                    .contains("or was changed")
            );
            Ok(())
        }),
        (
            "what is removed is removed with its page",
            two_tasks(),
            |g| {
                g.open()?;
                let own = page_of_plans(g, &["report", "--html"])?.0;
                let all = page_of_plans(g, &["report", "--all", "--html"])?.0;
                g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                let name = own.rsplit('/').next().context("no name")?;
                ensure!(
                    fs::read_to_string(&all)?.contains(name),
                    "no link to {name}"
                );
                let run = g.run()?;
                let said = g
                    .omo_at_terminal(&["run", "gc", "--days", "0"])?
                    .exits_with(0)?
                    .out;
                ensure!(
                    said == format!("removed: {run}\nremoved: 1 report page\n"),
                    "{said}"
                );
                ensure!(
                    !std::path::Path::new(&own).exists() && std::path::Path::new(&all).exists()
                );
                Ok(())
            },
        ),
    ];
    plan_project::play(cases);
}

#[test]
#[cfg(target_os = "linux")]
fn what_shows_a_page_starts_no_program_of_the_project() {
    use crate::git_variables::write_program;

    let cases: &[plan_project::Case] = &[(
        "a browser that is named, and lies in the project",
        two_tasks(),
        |g| {
            g.open()?;
            let (tools, opened) = (g.lab().home().join("tools"), g.lab().home().join("opened"));
            let own = g.lab().project().join("tools");
            for folder in [&tools, &own] {
                fs::create_dir(folder)?;
            }
            write_program(
                &tools,
                "xdg-open",
                &format!("pwd > '{0}'; $BROWSER \"$1\" >> '{0}'", opened.display()),
            )?;
            write_program(&own, "looks", "echo of the project")?;
            let path = std::env::join_paths([
                &own,
                &tools,
                std::path::Path::new("/usr/bin"),
                std::path::Path::new("/bin"),
            ])?;
            for (browser, is_found) in [("looks", false), ("tools/looks", false), ("echo", true)] {
                let mut command = g.command(&["report", "--html", "--open"]);
                let output = command
                    .env("PATH", &path)
                    .env("BROWSER", browser)
                    .output()?;
                ensure!(
                    output.status.success(),
                    "{}",
                    String::from_utf8_lossy(&output.stderr)
                );
                let said = fs::read_to_string(&opened)?;
                let mut lines = said.lines();
                let folder = lines.next().context("it was not started")?;
                ensure!(
                    folder.ends_with("omo/reports/project") && !said.contains("of the project"),
                    "{browser}: {said}"
                );
                ensure!(
                    lines
                        .next()
                        .is_some_and(|line| line.contains("omo/reports/project/"))
                        == is_found,
                    "{browser}: {said}"
                );
            }
            Ok(())
        },
    )];
    plan_project::play(cases);
}
