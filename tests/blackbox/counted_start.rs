//! The count of a check's tests before the run: it takes one processor at the lowest priority, and ends with the run and with
//! Esc.

use std::fs;
use std::path::PathBuf;

use anyhow::{Result, ensure};
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_testkit::wait_until;

use crate::claim_scene::play_with_review;
use crate::scene::Scene;

/// A check that says in the copy how it runs there, and waits for a file.
const CHECK: &str = "case $PWD in */baselines/*) echo $(nice) $(nproc) >> ~/counts; \
                     while test ! -e ~/go; do sleep 0.1; done;; esac; grep -q 2 total.py";

/// A run whose check is being counted.
fn begin(scene: &mut Scene, options: &str) -> Result<()> {
    scene.lab.write("total.py", "1\n")?;
    scene.start(&format!("--no-review {options} --check \"{CHECK}\""))?;
    wait_until("the check is counted", || {
        (scene.traced("counts") == 1).then_some(())
    })
}

/// Waits until no process counts.
fn wait_until_over(scene: &Scene) -> Result<()> {
    let folder = ["omo", "baselines", scene.session.session()];
    let folder = GuardedFolder::create_user_part(&scene.lab.home().join(".local/state"), &folder)?;
    let is_over =
        || StateLock::take_named(&folder, "counting.lock", std::time::Duration::ZERO).is_ok();
    wait_until("no process counts", || is_over().then_some(()))?;
    ensure!(!copy(scene).exists(), "its copy is still there");
    Ok(())
}

fn copy(scene: &Scene) -> PathBuf {
    scene
        .lab
        .home()
        .join(".local/state/omo/baselines")
        .join(scene.session.session())
        .join("copy")
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn counting_before_the_run_leaves_the_machine_to_others_and_ends_with_the_run() {
    play_with_review(&[
        (
            "one processor at the lowest priority, until `ulw off`",
            |s| {
                begin(s, "")?;
                let counts = fs::read_to_string(s.trace("counts"))?;
                ensure!(counts == "19 1\n", "{counts}");
                s.asks("ulw off")?;
                wait_until_over(s)
            },
        ),
        ("a verdict does not wait for it, and ends it", |s| {
            begin(s, "")?;
            s.lab.write("total.py", "2\n")?;
            let line = s.claim_ends("verified")?;
            ensure!(
                line.contains("the comparison with the start has not finished"),
                "{line}"
            );
            wait_until_over(s)
        }),
        ("Esc ends it, and a claim has the rest counted", |s| {
            begin(s, "--prove")?;
            s.session.transcript().interrupted()?;
            wait_until_over(s)?;
            ensure!(s.field("/ulw/paused")?.is_null(), "a hook has told of Esc");
            s.prompt("ulw")?;
            fs::write(s.trace("go"), "")?;
            s.lab.write("total.py", "2\n")?;
            let line = s.claim_ends("verified")?;
            ensure!(line.contains("red without the change"), "{line}");
            ensure!(
                s.traced("counts") == 2,
                "{}",
                fs::read_to_string(s.trace("counts"))?
            );
            Ok(())
        }),
    ]);
}
