//! What is sealed, counted and said: a state that something else than omo wrote, an older one that was put back, and
//! what was weakened since the run began.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use omo_testkit::run_command;
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::target_project::{Row, Target, play};

const REJECTS: &str = "One thing is missing.\n\n<promise>REJECTED</promise>";

impl Target {
    /// What `omo` says at a terminal of the user's.
    fn said_by_omo(&self, arguments: &[&str]) -> Result<String> {
        let run = run_command(
            self.scene
                .lab
                .command(self.scene.plugin.join("bin/omo"))
                .args(arguments),
            "",
        )?;
        Ok(run.stdout)
    }

    /// The next Stop says that the run was released, the one after it nothing, and no status says anything else.
    fn is_released_aloud(&mut self, why: &str) -> Result<()> {
        let line = self
            .scene
            .claim()?
            .system_message()
            .context("the Stop said nothing")?
            .to_owned();
        ensure!(
            line.starts_with("[omo] NOT PROVED") && line.contains(why),
            "{line}"
        );
        self.scene.allows(&json!({}))?;
        self.shows_released(why)
    }

    fn shows_released(&mut self, why: &str) -> Result<()> {
        for status in [
            self.said_by_omo(&["status"])?,
            self.said_by_omo(&["status", "--json"])?,
            self.scene.asks("/omo:status")?,
        ] {
            ensure!(
                status.contains(why) && !status.to_lowercase().contains("verified"),
                "{status}"
            );
        }
        Ok(())
    }

    /// Something else than omo writes into the state; every status says so at once, and so does the next Stop.
    fn is_noticed(&mut self, values: &[(&str, Value)]) -> Result<()> {
        self.begin()?;
        self.scene.forge(values)?;
        self.shows_released(FOREIGN)?;
        self.is_released_aloud(FOREIGN)
    }

    /// How many continuations the model gets until its run ends, where `cheat` is done before each Stop.
    fn continuations(&mut self, cheat: impl Fn(&mut Self) -> Result<()>) -> Result<usize> {
        for count in 0..12 {
            cheat(self)?;
            self.scene
                .session
                .clone()
                .transcript()
                .tool_use("Read", &json!({"file_path": "x"}))?;
            if !self.scene.stop(&json!({}))?.blocks() {
                return Ok(count);
            }
        }
        Ok(12)
    }

    /// A turn with a tool ends; the client writes down what omo answers. Whether that was a block.
    fn is_sent_on(&mut self) -> Result<bool> {
        self.scene
            .session
            .clone()
            .transcript()
            .tool_use("Read", &json!({"file_path": "x"}))?;
        let answer = self.scene.stop(&json!({}))?;
        let mut session = self.scene.session.clone();
        if let Some(reason) = answer.reason().filter(|_| answer.blocks()) {
            session.transcript().stop_feedback(reason)?;
        } else if let Some(context) = answer.additional_context() {
            session.transcript().hook_context("Stop", context)?;
        }
        Ok(answer.continues())
    }

    /// The entry, and the count of its writes in the user's own folder.
    fn kept_by_omo(&self) -> [PathBuf; 2] {
        let counts = self.scene.lab.home().join(".local/state/omo/sessions");
        [
            self.scene.state_file(),
            counts.join(format!("session-{}", self.scene.session.session())),
        ]
    }

    fn has_at_most_two(&mut self, cheat: impl Fn(&mut Self) -> Result<()>) -> Result<()> {
        self.scene.start(&format!(
            "--max-blocks 2 --check \"{}\"",
            crate::target_project::CHECK
        ))?;
        let continuations = self.continuations(cheat)?;
        ensure!(
            continuations <= 2,
            "{continuations} continuations where 2 are allowed"
        );
        ensure!(
            self.scene.field("/verdict/kind")? == "released",
            "{}",
            self.scene.entry()?
        );
        Ok(())
    }
}

const FOREIGN: &str = "the record of the run is not omo's own";
const PUT_BACK: &str = "an older record of the run was restored";

fn verdict(kind: &str) -> Value {
    json!({"kind": kind, "why": "1 check green, 3 tests run; reviewed", "at": "2026-11-22T12:00:00.000Z"})
}

fn ended(kind: &str) -> [(&'static str, Value); 2] {
    [("/ulw/enabled", json!(false)), ("/verdict", verdict(kind))]
}

const ROWS: &[Row] = &[
    Row {
        id: "r06a",
        what: "an edited verdict: Stop lets the session go and says nothing",
        play: |target| {
            target.begin()?;
            target.scene.forge(&ended("verified"))?;
            target.is_released_aloud(FOREIGN)?;
            ensure!(
                target.scene.field("/verdict/kind")? == "released" && !target.check_is_green()?
            );
            Ok(())
        },
    },
    Row {
        id: "r06b",
        what: "an edited verdict: omo status",
        play: |target| {
            target.begin()?;
            target.scene.forge(&ended("verified"))?;
            let status = target.said_by_omo(&["status"])?;
            ensure!(
                status.contains(FOREIGN) && !status.to_lowercase().contains("verified"),
                "{status}"
            );
            Ok(())
        },
    },
    Row {
        id: "r06c",
        what: "an edited verdict: /omo:status",
        play: |target| {
            target.begin()?;
            target.scene.forge(&ended("verified"))?;
            let status = target.scene.asks("/omo:status")?;
            ensure!(
                status.contains(FOREIGN) && !status.to_lowercase().contains("verified"),
                "{status}"
            );
            Ok(())
        },
    },
    Row {
        id: "r06 stopped",
        what: "an edited verdict of another kind",
        play: |target| target.is_noticed(&ended("stopped")),
    },
    Row {
        id: "r06 off",
        what: "the run is turned off, without a verdict",
        play: |target| target.is_noticed(&[("/ulw/enabled", json!(false))]),
    },
    Row {
        id: "r06 unsealed",
        what: "an edited verdict, and the seal is taken away",
        play: |target| {
            target.is_noticed(&[ended("verified").as_slice(), &[("/seal", Value::Null)]].concat())
        },
    },
    Row {
        id: "r06 hatch",
        what: "the escape hatch is set",
        play: |target| target.is_noticed(&[("/stopContinuation/disabled", json!(true))]),
    },
    Row {
        id: "r06 paused",
        what: "the run is paused",
        play: |target| {
            target.is_noticed(&[(
                "/ulw/paused",
                json!({"reason": "interrupted", "at": null, "told": true}),
            )])
        },
    },
    Row {
        id: "r06 blocked",
        what: "the run is said to be blocked",
        play: |target| target.is_noticed(&[("/ulw/saidBlocked", json!("it cannot be done"))]),
    },
    Row {
        id: "r06 released",
        what: "the very verdict that omo would give is written in advance",
        play: |target| {
            target.begin()?;
            let verdict =
                json!({"kind": "released", "why": FOREIGN, "at": "2026-11-22T12:00:00.000Z"});
            target.scene.forge(&[
                ("/ulw/enabled", json!(false)),
                ("/gates", json!([])),
                ("/verdict", verdict),
            ])?;
            target.is_released_aloud(FOREIGN)
        },
    },
    Row {
        id: "r06 log",
        what: "the log is told that the run was verified",
        play: |target| {
            target.begin()?;
            let id = target.scene.session.session().to_owned();
            let line = json!({"at": "2099-01-01T00:00:00.000Z", "session": id, "event": "Stop", "row": 9,
                              "decision": "end: verified", "why": "claimed and judged", "blocks": 0, "maxBlocks": MAX_BLOCKS});
            let log = target.scene.lab.state_folder().join("decisions.jsonl");
            fs::write(&log, format!("{}{line}\n", fs::read_to_string(&log)?))?;
            for status in [
                target.said_by_omo(&["status"])?,
                target.scene.asks("/omo:status")?,
            ] {
                ensure!(!status.to_lowercase().contains("verified"), "{status}");
            }
            Ok(())
        },
    },
    Row {
        id: "r06 earlier",
        what: "the verdict of an earlier run is put back whole",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.scene.claim_ends("verified")?;
            let verified = fs::read(target.scene.state_file())?;
            target.write("app.py", crate::target_project::WRONG)?;
            target.begin()?;
            target.scene.write_state(&verified)?;
            target.shows_released(PUT_BACK)?;
            target.is_released_aloud(PUT_BACK)
        },
    },
    Row {
        id: "r22",
        what: "the count of continuations is put back each time",
        play: |target| {
            target.has_at_most_two(|target| target.scene.forge(&[("/ulw/stopBlocks", json!(0))]))
        },
    },
    Row {
        id: "r22 whole",
        what: "the whole state is put back each time",
        play: |target| {
            target.scene.start("--max-blocks 2 --check false")?;
            let first = fs::read(target.scene.state_file())?;
            let continuations = target.continuations(|target| target.scene.write_state(&first))?;
            ensure!(
                continuations <= 2,
                "{continuations} continuations where 2 are allowed"
            );
            target.is_over(PUT_BACK)
        },
    },
    Row {
        id: "r22 old",
        what: "the state before the present one, which omo itself keeps, is put back each time",
        play: |target| {
            target.has_at_most_two(|target| {
                let old = target
                    .scene
                    .lab
                    .state_folder()
                    .join("runtime.local.json.old");
                if old.exists() {
                    fs::copy(old, target.scene.state_file()).map(drop)?;
                }
                Ok(())
            })
        },
    },
    Row {
        id: "r22 bound",
        what: "the bound is raised",
        play: |target| {
            target
                .has_at_most_two(|target| target.scene.forge(&[("/limits/maxBlocks", json!(100))]))
        },
    },
    Row {
        id: "r22 away",
        what: "the state is taken away, and put back for the next Stop but one",
        play: |target| {
            target.scene.start("--max-blocks 2 --check false")?;
            let first = fs::read(target.scene.state_file())?;
            target.scene.blocks(&json!({}))?;
            fs::remove_file(target.scene.state_file())?;
            target.scene.allows(&json!({}))?;
            target.scene.write_state(&first)?;
            target.is_released_aloud(PUT_BACK)
        },
    },
    Row {
        id: "r22 attempts",
        what: "failed claims are put back each time",
        play: |target| {
            target.begin()?;
            let first = fs::read(target.scene.state_file())?;
            target.scene.claim_fails()?;
            target.scene.write_state(&first)?;
            target.is_released_aloud(PUT_BACK)
        },
    },
    Row {
        id: "r22 rejected",
        what: "the state from before a rejection is put back, and the next reviewer agrees",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            let asked = fs::read(target.scene.state_file())?;
            target.scene.reviewer_reports(REJECTS)?;
            target.scene.write_state(&asked)?;
            target.review_agrees()?;
            // What is written over an older entry gets no seal.
            target.is_released_aloud(FOREIGN)
        },
    },
    Row {
        id: "a10",
        what: "the state and the count of its writes are put back together each time",
        play: |target| {
            target.scene.start("--max-blocks 2 --check false")?;
            let first = target
                .kept_by_omo()
                .map(|path| fs::read(path).unwrap_or_default());
            ensure!(
                first.iter().all(|bytes| !bytes.is_empty()),
                "not all of it is there"
            );
            for count in 0..3 {
                if !target.is_sent_on()? {
                    ensure!(count == 1, "{count} continuations");
                    return target.is_over(PUT_BACK);
                }
                for (path, bytes) in target.kept_by_omo().iter().zip(&first) {
                    fs::write(path, bytes)?;
                }
            }
            anyhow::bail!("never noticed")
        },
    },
    Row {
        id: "h10",
        what: "the client's record of blocks speaks against no honest run",
        play: |target| {
            target.scene.start("--check false")?;
            for round in 0..4 {
                ensure!(
                    target.is_sent_on()?,
                    "not sent on in round {round}: {}",
                    target.scene.entry()?
                );
                let mut session = target.scene.session.clone();
                match round {
                    0 => session
                        .transcript()
                        .hook_context("UserPromptSubmit", "[omo] not a block")?,
                    1 => session
                        .transcript()
                        .stop_feedback("words of another hook")?,
                    2 => target.scene.prompt("ulw go on").map(drop)?,
                    _ => fs::remove_file(session.transcript().path())?,
                }
            }
            target.is_sent_on()?;
            ensure!(
                target.scene.field("/verdict")?.is_null(),
                "{}",
                target.scene.entry()?
            );
            Ok(())
        },
    },
    Row {
        id: "named removed",
        what: "a check that its user removed is named at the end and in every status",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.scene.asks("/omo:check add test -f app.py")?;
            target.scene.asks("/omo:check remove test")?;
            let named = "check `test` removed under a minute ago, typed in the session";
            target.is_named(named)
        },
    },
    Row {
        id: "named again",
        what: "a run that is turned on again without a review names that",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.scene.start(&format!(
                "--no-review --max-blocks 50 --check \"{}\"",
                crate::target_project::CHECK
            ))?;
            let line = target.scene.claim_ends("verified")?;
            for named in [
                "the review turned off",
                &format!("50 continuations allowed instead of {MAX_BLOCKS}"),
            ] {
                ensure!(line.contains(named), "{line}");
            }
            Ok(())
        },
    },
    Row {
        id: "named forgotten",
        what: "checks that were forgotten with a record that was broken are named in the next run",
        play: |target| {
            target.begin()?;
            target.scene.forge(&[("/gates", json!([]))])?;
            target.is_released_aloud(FOREIGN)?;
            target.scene.start("")?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(
                line.contains(
                    "checks and bounds were forgotten, since the record of the run is not omo's own"
                ),
                "{line}"
            );
            Ok(())
        },
    },
    Row {
        id: "review alone",
        what: "a run that has no check says that none ran",
        play: |target| {
            target.scene.start("")?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            let line = target.scene.claim_ends("verified")?;
            ensure!(
                line.contains("verified by review alone, no check ran"),
                "{line}"
            );
            Ok(())
        },
    },
];

impl Target {
    fn is_over(&self, why: &str) -> Result<()> {
        let entry = self.scene.entry()?;
        ensure!(
            entry["verdict"]["kind"] == "released" && entry["verdict"]["why"] == why,
            "{entry}"
        );
        Ok(())
    }

    /// The run is verified, and says what was weakened wherever it is told of.
    fn is_named(&mut self, named: &str) -> Result<()> {
        for status in [
            self.said_by_omo(&["status"])?,
            self.scene.asks("/omo:status")?,
        ] {
            ensure!(status.contains(named), "{status}");
        }
        self.claim_reaches_review()?;
        self.review_agrees()?;
        let line = self.scene.claim_ends("verified")?;
        ensure!(
            line.contains(&format!("Weakened since it began: {named}.")),
            "{line}"
        );
        let (status, log) = (self.said_by_omo(&["status"])?, self.said_by_omo(&["log"])?);
        ensure!(status.contains(named), "{status}");
        let what = named.split_once(" under").map_or(named, |(what, _)| what);
        ensure!(
            log.lines().filter(|line| line.contains(what)).count() == 2,
            "{log}"
        );
        Ok(())
    }
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_decides_is_omos_own_and_what_was_weakened_is_named() {
    play(ROWS).unwrap();
}
