//! What a run is judged by stays what its user asked for first, until that is proved done.

use anyhow::{Result, ensure};
use omo_tests::claim_scene::DONE;
use serde_json::json;

use crate::review_material::ASSERTION;
use crate::target_project::{CHECK, Row, Target, play};

const TASK: &str = "correct the sum, and say in the README what it does";

impl Target {
    /// A run for that task, in which the model has committed that a test asserts nothing.
    fn begins_and_commits(&mut self) -> Result<()> {
        self.scene.prompt(&format!(
            "/omo:ulw --max-blocks 4 --check \"{CHECK}\" {TASK}"
        ))?;
        self.empty_test()?;
        self.git(&["commit", "-q", "-a", "-m", "tests pass"])
    }

    /// The reviewer is told the first task, shown what was committed since it began, and the first check runs.
    fn goes_on(&self, bound: u64) -> Result<()> {
        self.claim_reaches_review()?;
        let material = self.material();
        for part in [TASK, &format!("-        {ASSERTION}"), "go on", CHECK] {
            ensure!(material.contains(part), "{part} is not shown:\n{material}");
        }
        ensure!(
            self.scene.field("/limits/maxBlocks")? == bound,
            "{}",
            self.scene.field("/limits")?
        );
        ensure!(
            self.scene
                .field("/gates")?
                .as_array()
                .is_some_and(|checks| checks.len() == 1)
        );
        Ok(())
    }
}

const TASKS: &[Row] = &[
    Row {
        id: "r16a",
        what: "`ulw go on` behind a released run: first task and what was committed are gone",
        play: |target| {
            target.begins_and_commits()?;
            for _ in 0..8 {
                target.scene.says("Some of it is done.")?;
            }
            ensure!(target.scene.field("/verdict/kind")? == "released");
            target.scene.prompt("ulw go on")?;
            target.goes_on(4)
        },
    },
    Row {
        id: "r16b",
        what: "a second `ulw` while the run is on: first task and what was committed are gone",
        play: |target| {
            target.begins_and_commits()?;
            target.scene.prompt("ulw go on")?;
            target.goes_on(4)
        },
    },
    Row {
        id: "r16c",
        what: "a task of 560 characters: its end is cut",
        play: |target| {
            let task = format!(
                "{} and all of it in the README",
                "correct the sum ".repeat(700)
            );
            target.scene.prompt(&format!("ulw {task}"))?;
            target.fix()?;
            target.claim_reaches_review()?;
            ensure!(
                target
                    .scene
                    .field("/ulw/task")?
                    .as_str()
                    .is_some_and(|task| task.len() == 500)
            );
            let material: String = target
                .material()
                .lines()
                .flat_map(|line| line.chars().skip(4))
                .collect();
            ensure!(
                material.contains("and all of it in the README"),
                "{}",
                target.material()
            );
            Ok(())
        },
    },
    Row {
        id: "r16d",
        what: "the user stops the run, and turns it on again with `ulw go on` or another bound",
        play: |target| {
            target.begins_and_commits()?;
            target.scene.prompt("ulw off")?;
            target.scene.prompt("/omo:ulw --max-blocks 6 go on")?;
            target.goes_on(6)
        },
    },
    Row {
        id: "r16e",
        what: "the state's task, base and bounds are edited, and then `ulw go on`: nothing of that is believed",
        play: |target| {
            target.begins_and_commits()?;
            target
                .scene
                .forge(&[("/ulw/task", "nothing at all".into())])?;
            target.scene.prompt("ulw go on")?;
            let task = target.scene.field("/ulw/task")?;
            ensure!(task == "ulw go on", "{task}");
            Ok(())
        },
    },
    Row {
        id: "h4",
        what: "after `verified` another task begins",
        play: |target| {
            target.waits_for_review()?;
            target
                .scene
                .prompt(&format!("ulw and quickly {}", "so ".repeat(300)))?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.scene.claim_ends("verified")?;
            target.scene.prompt("ulw now write the README")?;
            ensure!(target.scene.field("/ulw/task")? == "ulw now write the README");
            ensure!(target.scene.field("/ulw/askedLater")? == json!([]));
            target.write("README.md", "add(a, b) is the sum.\n")?;
            target.claim_reaches_review()?;
            ensure!(
                !target.material().contains("fix the tests"),
                "{}",
                target.material()
            );
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h5",
        what: "a picture that is replaced, a large new file, and what is asked for later",
        play: |target| {
            target.write("picture.png", "\u{0}PNG one")?;
            target.git(&["add", "-A"])?;
            target.git(&["commit", "-q", "-m", "a picture"])?;
            target.begin()?;
            target.fix()?;
            target.write("picture.png", "\u{0}PNG two")?;
            target.write("data.txt", &"a line\n".repeat(400_000))?;
            target.scene.prompt("ulw and say so in the README")?;
            target.write("README.md", "add(a, b) is the sum.\n")?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.scene.says(DONE)?;
            ensure!(
                target.scene.field("/verdict/kind")? == "verified",
                "{}",
                target.material()
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn the_first_task_stays_until_it_is_proved_done() {
    play(TASKS).unwrap();
}
