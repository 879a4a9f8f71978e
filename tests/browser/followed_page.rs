//! A page that is followed, opened in the browser while its run goes on.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::thread;

use anyhow::{Result, anyhow, ensure};
use omo_testkit::wait_until;
use omo_tests::scene::Scene;
use serde_json::{Value, json};

use crate::opened_pages::open_in_browser;
use crate::ultrawork_runs;

/// What writes a page anew, ended with the test.
struct Follower(Child);

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Opens the page of a run after its first failed claim, and gives what the browser tells once it shows the second.
pub(crate) fn renewed_page() -> Result<Value> {
    let mut scene = ultrawork_runs::scene()?;
    scene.start("--no-review --check \"sh test.sh\"")?;
    scene.claim_fails()?;
    let folder = tempfile::Builder::new().prefix("omo-followed-").tempdir()?;
    let (page, ready) = (folder.path().join("page.html"), folder.path().join("ready"));
    let _follower = follow(&scene, &page)?;
    let followed = json!({"file": page, "ready": ready, "text": "2 of 3"});
    thread::scope(|scope| {
        let opened = scope.spawn(|| open_in_browser(folder.path(), &[], &followed));
        wait_until("the page in the browser", || {
            (ready.exists() || opened.is_finished()).then_some(())
        })?;
        scene.claim_fails()?;
        opened
            .join()
            .map_err(|_| anyhow!("the browser's thread panicked"))?
    })
}

fn follow(scene: &Scene, page: &Path) -> Result<Follower> {
    let mut omo = scene.lab.command(scene.plugin.join("bin/omo"));
    omo.args(["report", "--follow", "--html"])
        .arg(page)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let follower = Follower(omo.spawn()?);
    let written = wait_until("the page", || fs::read_to_string(page).ok())?;
    ensure!(
        written.contains("1 of 3") && !written.contains("2 of 3"),
        "{written}"
    );
    Ok(follower)
}
