//! Ultrawork runs, each to another end.

use anyhow::{Result, ensure};
use omo_testkit::Lab;
use omo_tests::claim_scene::AGREES;
use omo_tests::scene::{Scene, plugin};

use crate::{page_of_last_run, report_page};

const CHECK: &str = "echo \"expected: Hello, Ada!\"\necho \"got:      $(sh greet.sh Ada)\"\ntest \"$(sh greet.sh Ada)\" = \"Hello, Ada!\"\n";

/// A session in a project with a check, which is red.
pub(crate) fn scene() -> Result<Scene> {
    let scene = Scene::in_lab(&plugin(), Lab::builder().build()?)?;
    scene.lab.write("test.sh", CHECK)?;
    scene.lab.write("greet.sh", "echo \"Hello, you!\"\n")?;
    Ok(scene)
}

fn fix(scene: &Scene) -> Result<()> {
    scene
        .lab
        .write("greet.sh", "echo \"Hello, $1!\"\n")
        .map(drop)
}

/// A red check, a fix, a review that rejects, one that agrees.
pub(crate) fn verified() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--check \"sh test.sh\"")?;
    scene.claim_fails()?;
    fix(&scene)?;
    scene.claim_fails()?;
    scene.reviewer_reports(
        "greet.sh greets nobody where no name is given.\n\n<promise>REJECTED</promise>",
    )?;
    scene.claim_fails()?;
    scene
        .lab
        .write("greet.sh", "echo \"Hello, ${1:-you}!\"\n")?;
    scene.claim_fails()?;
    scene.reviewer_reports(AGREES)?;
    scene.claim_ends("verified")?;
    page_of_last_run(&scene.lab)
}

/// A check that proves less than before, which its user accepts.
pub(crate) fn weakened() -> Result<String> {
    let mut scene = scene()?;
    scene.lab.write("check.sh", "cat tests.out; test -f ok\n")?;
    scene
        .lab
        .write("tests.out", "==== 5 passed, 1 skipped in 0.10s ====\n")?;
    scene.start("--no-review --check \"sh check.sh\"")?;
    scene.claim_fails()?;
    scene.lab.write("ok", "passed")?;
    scene
        .lab
        .write("tests.out", "==== 4 passed, 1 skipped in 0.10s ====\n")?;
    scene.claim_fails()?;
    scene.asks("/omo:check accept")?;
    scene.claim_ends("verified")?;
    page_of_last_run(&scene.lab)
}

/// A check that stays red.
pub(crate) fn not_proved() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--no-review --check \"sh test.sh\"")?;
    scene.claim_fails()?;
    scene.claim_fails()?;
    scene.claim_ends("released")?;
    page_of_last_run(&scene.lab)
}

/// A model that says why it cannot go on.
pub(crate) fn blocked() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--no-review --check true")?;
    let answer = scene.says("No way.\n<promise>BLOCKED: no database</promise>")?;
    ensure!(
        answer
            .system_message()
            .is_some_and(|line| line.starts_with("[omo] BLOCKED")),
        "{answer:?}"
    );
    page_of_last_run(&scene.lab)
}

/// A user who stops it.
pub(crate) fn stopped() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--check \"sh test.sh\"")?;
    fix(&scene)?;
    scene.claim_fails()?;
    scene.prompt("/omo:stop-continuation enough")?;
    page_of_last_run(&scene.lab)
}

/// A run that goes on.
pub(crate) fn running() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--check \"sh test.sh\"")?;
    scene.claim_fails()?;
    page_of_last_run(&scene.lab)
}

/// All runs of a project: one that was proved, and one that was not, of which each has a hostile task.
pub(crate) fn all() -> Result<String> {
    let mut scene = scene()?;
    scene.start("--no-review --check \"sh test.sh\"")?;
    fix(&scene)?;
    scene.claim_ends("verified")?;
    scene.session = scene.another()?;
    scene.start(
        "--no-review --check false <img src=x onerror=alert(1)>\u{202e}</style></svg><script>alert(1)</script>",
    )?;
    scene.claim_fails()?;
    scene.claim_fails()?;
    scene.claim_ends("released")?;
    report_page(&scene.lab, &["--all"])
}
