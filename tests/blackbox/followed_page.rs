//! `omo report --html --follow`: the page of a run that goes on renews itself, is whole whenever it is read, and has no
//! script once the run has ended, or once nothing follows it any more.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use omo_testkit::{wait_until, within};
use omo_tests::plan_project::{self, Ground, two_tasks};
use rustix::process::{Pid, Signal, kill_process};

use crate::claim_scene::{AGREES, play_with_review};
use crate::scene::Scene;

/// A process that follows a run, ended with the test.
struct Follower {
    child: Child,
    page: PathBuf,
}

impl Follower {
    /// Starts it, and waits for its first page.
    fn start(mut command: Command, page: PathBuf) -> Result<Self> {
        let child = command
            .args(["report", "--follow", "--html"])
            .arg(&page)
            .spawn()?;
        let follower = Self { child, page };
        follower.shows("", true)?;
        Ok(follower)
    }

    fn of_ultrawork(scene: &Scene) -> Result<Self> {
        Self::start(
            scene.lab.command(scene.plugin.join("bin/omo")),
            page_file(scene.lab.home())?,
        )
    }

    fn of_plan(ground: &Ground) -> Result<Self> {
        Self::start(ground.command(&[]), page_file(ground.lab().home())?)
    }

    /// Waits until the page holds this. Whenever it is read it is whole, and renews itself or does not.
    fn shows(&self, part: &str, is_renewing: bool) -> Result<String> {
        wait_until(&format!("a page with `{part}`"), || {
            let page = fs::read_to_string(&self.page).ok()?;
            let is_meant = page.contains(part) && page.contains("<script>") == is_renewing;
            (is_meant || !is_whole(&page)).then_some(page)
        })
        .and_then(|page| {
            if is_whole(&page) {
                Ok(page)
            } else {
                bail!("half a page: {page}")
            }
        })
    }

    fn ends(&mut self) -> Result<ExitStatus> {
        wait_until("the end of what follows", || {
            self.child.try_wait().ok().flatten()
        })
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn is_whole(page: &str) -> bool {
    // The name of its run may stand behind its end.
    let end = page.rsplit_once("</html>").map(|(_, end)| end.trim());
    page.starts_with("<!DOCTYPE html>")
        && end.is_some_and(|end| {
            end.is_empty() || end.starts_with("<!-- plan-") && end.ends_with(" -->")
        })
}

/// What lies beside a page that is not a page.
fn left_behind(page: &Path) -> Result<Vec<PathBuf>> {
    let folder = page.parent().context("no folder")?;
    let files = fs::read_dir(folder)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<Vec<_>>>()?;
    Ok(files.into_iter().filter(|file| file != page).collect())
}

fn page_file(home: &Path) -> Result<PathBuf> {
    let folder = home.join("pages");
    fs::create_dir(&folder)?;
    Ok(folder.join("run.html"))
}

#[test]
fn a_page_renews_itself_until_its_ultrawork_run_ends() {
    play_with_review(&[
        ("the run ends", |s| {
            s.start("--check true")?;
            let mut follower = Follower::of_ultrawork(s)?;
            let first = follower.shows("class=\"verdict open\"", true)?;
            ensure!(
                first.contains(" · as of ") && first.contains("script-src 'sha256-"),
                "{first}"
            );
            ensure!(s.claim()?.blocks(), "no review was asked for");
            follower.shows("continuation", true)?;
            s.reviewer_reports(AGREES)?;
            s.claim_ends("verified")?;
            ensure!(follower.ends()?.success());
            let last = follower.shows("class=\"verdict proved\"", false)?;
            ensure!(
                !last.contains("script-src") && !last.contains("as of"),
                "{last}"
            );
            ensure!(
                left_behind(&follower.page)?.is_empty(),
                "{:?}",
                left_behind(&follower.page)?
            );
            Ok(())
        }),
        (
            "its session begins another one, and the page stays that of the first",
            |s| {
                s.start("--no-review --max-blocks 1 --check false")?;
                let mut follower = Follower::of_ultrawork(s)?;
                follower.shows("fix the tests", true)?;
                s.claim_fails()?;
                s.lab.write("more.txt", "x")?;
                s.claim_ends("released")?;
                s.prompt("ulw write the other thing")?;
                ensure!(follower.ends()?.success());
                let last = follower.shows("class=\"verdict failed\"", false)?;
                ensure!(!last.contains("the other thing"), "{last}");
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_page_of_a_plan_run_is_left_whole_when_nothing_follows_it_any_more() {
    let cases: &[plan_project::Case] = &[
        ("Ctrl-C", two_tasks(), |g| {
            g.open()?;
            let mut follower = Follower::of_plan(g)?;
            follower.shows("0 of 2 tasks proved", true)?;
            g.pass("1", "one")?;
            let before = follower.shows("1 of 2 tasks proved", true)?;
            // Nothing happens, and nothing is written.
            let written = fs::metadata(&follower.page)?.modified()?;
            let is_other = |page: &fs::Metadata| page.modified().is_ok_and(|at| at != written);
            let anew = within(Duration::from_millis(2_500), || {
                fs::metadata(&follower.page).ok().filter(is_other)
            });
            ensure!(anew.is_none(), "written anew, and nothing has happened");
            kill_process(Pid::from_child(&follower.child), Signal::INT)?;
            ensure!(follower.ends()?.success());
            let last = follower.shows("1 of 2 tasks proved", false)?;
            ensure!(
                last.contains("class=\"verdict open\"") && before.contains("as of"),
                "{last}"
            );
            Ok(())
        }),
        ("the run is cancelled", two_tasks(), |g| {
            g.open()?;
            let mut follower = Follower::of_plan(g)?;
            g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            ensure!(follower.ends()?.success());
            follower.shows("Cancelled", false)?;
            // What has ended is written once.
            let said = g
                .omo_at_terminal(&["report", "--html", "--follow"])?
                .exits_with(0)?;
            let page = fs::read_to_string(said.out.trim_end())?;
            ensure!(is_whole(&page) && !page.contains("<script"), "{page}");
            Ok(())
        }),
        ("its records are removed", two_tasks(), |g| {
            g.open()?;
            let mut follower = Follower::of_plan(g)?;
            fs::remove_dir_all(g.runs().join(g.run()?))?;
            ensure!(!follower.ends()?.success(), "nothing is said of it");
            let last = follower.shows("0 of 2 tasks proved", false)?;
            ensure!(
                last.contains("The run was removed before it ended"),
                "{last}"
            );
            ensure!(
                !last.contains("class=\"verdict open\"") && !last.contains("as of"),
                "{last}"
            );
            Ok(())
        }),
    ];
    plan_project::play(cases);
}
