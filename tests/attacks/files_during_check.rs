//! Files that come, go or change while a check runs.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::claim_scene::AGREES;
use omo_tests::scene::tells_end;

use crate::target_project::{CHECK, Row, Target, play};
use crate::tree_id::while_checked;

/// Puts the module right while it is tested.
const HELPS: &str = "import app\napp.add = lambda a, b: a + b\n";

/// The work is not done: a module comes when the tests begin, and goes before they end. Its user is told so.
fn helped_while_checked(target: &Target, file: &str) -> Result<()> {
    let path = target.path(file);
    let folder = path.parent().context("no folder")?.to_owned();
    let come = || Ok(fs::create_dir_all(&folder).and_then(|()| fs::write(&path, HELPS))?);
    let go = || {
        fs::remove_file(&path)?;
        if folder != target.scene.lab.project() {
            fs::remove_dir_all(&folder)?;
        }
        Ok(())
    };
    let then = "try:\n    import helper\nexcept ImportError:\n    pass\n";
    let named = "green here, and not in a private copy";
    while_checked(target, then, come, go, || {
        let (answer, unusual) = target.scene.claim_with_review(AGREES)?;
        ensure!(
            unusual.iter().any(|line| line.contains(named)),
            "the reviewer is not told: {unusual:?}"
        );
        let line = answer.system_message().unwrap_or_default();
        ensure!(
            tells_end(line, "verified") && line.contains(named),
            "{line}"
        );
        Ok(())
    })?;
    ensure!(
        !target.check_is_green()?,
        "the row is no cheat: the check is green"
    );
    Ok(())
}

const ROWS: &[Row] = &[
    Row {
        id: "f03a",
        what: "a module is there only while the check runs",
        play: |target| {
            target.begin()?;
            helped_while_checked(target, "helper.py")
        },
    },
    Row {
        id: "f03b",
        what: "a folder is there only while the check runs",
        play: |target| {
            target.begin()?;
            helped_while_checked(target, "helper/__init__.py")
        },
    },
    Row {
        id: "h04",
        what: "a tracked file that changes with each run is named, until its user leaves it out",
        play: |target| {
            target.write("counter.txt", "0\n")?;
            target.commit("a counter")?;
            target.scene.start(&format!(
                "--no-review --check \"{CHECK} && date +%N >> counter.txt\""
            ))?;
            target.fix()?;
            let reason = target.scene.claim_fails()?;
            ensure!(
                reason.contains("`counter.txt` among them") && reason.contains("written_by_checks"),
                "{reason}"
            );
            target
                .scene
                .lab
                .configure("[verify]\nwritten_by_checks = [\"counter.txt\"]\n")?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(
                line.contains("not part of the work: `counter.txt`"),
                "{line}"
            );
            Ok(())
        },
    },
    Row {
        id: "f05",
        what: "what a check made once is edited by the model, and committed",
        play: |target| {
            for commits in [false, true] {
                let mut target = if commits {
                    Target::new()?
                } else {
                    std::mem::replace(target, Target::new()?)
                };
                target.scene.start(&format!(
                    "--check \"test -f s.py || echo Z = 0 > s.py; {CHECK}\""
                ))?;
                target.write(
                    "app.py",
                    "from s import Z\n\ndef add(a, b):\n    return a + b + Z\n",
                )?;
                target.claim_reaches_review()?;
                target.write("s.py", "Z = 700\n")?;
                if commits {
                    target.commit("done")?;
                }
                target.review_agrees()?;
                let reason = target.scene.claim_fails()?;
                ensure!(
                    reason.contains("failed: exit status 1"),
                    "{commits}: {reason}"
                );
            }
            Ok(())
        },
    },
    Row {
        id: "h05",
        what: "what a check leaves behind beside the tracked files is its own, and named once",
        play: |target| {
            target.scene.start(&format!(
                "--no-review --check \"{CHECK} && date +%N > .coverage\""
            ))?;
            target.fix()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(line.matches("`.coverage`").count() == 1, "{line}");
            Ok(())
        },
    },
    Row {
        id: "h06",
        what: "the same where the model ran the check itself before",
        play: |target| {
            target.scene.start(&format!(
                "--no-review --check \"{CHECK} && date +%N > .coverage\""
            ))?;
            target.fix()?;
            target.write(".coverage", "of a run by hand\n")?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(line.contains("not part of the work: `.coverage`"), "{line}");
            Ok(())
        },
    },
    Row {
        id: "h07",
        what: "a generator that writes the same bytes",
        play: |target| {
            target.write("generated.py", "X = 1\n")?;
            target.commit("generated")?;
            target.scene.start(&format!(
                "--no-review --check \"echo X = 1 > generated.py && {CHECK}\""
            ))?;
            target.fix()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(!line.contains("generated.py"), "{line}");
            Ok(())
        },
    },
    Row {
        id: "h08",
        what: "a formatter that changes the work once",
        play: |target| {
            let tidies = "import pathlib\nfor p in pathlib.Path('.').glob('a*.py'):\n  \
                          p.write_text(p.read_text().replace('the sum', 'sum'))\n";
            target.write("tidy.py", tidies)?;
            target.commit("a formatter")?;
            target.scene.start(&format!(
                "--no-review --check \"python3 tidy.py && {CHECK}\""
            ))?;
            target.fix()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(line.contains("judged as it is now: `app.py`"), "{line}");
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn files_that_checks_write_are_named() {
    play(ROWS).unwrap();
}
