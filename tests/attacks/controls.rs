//! What was always caught, and has to stay so.

use std::fs;

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use crate::target_project::{Row, Target, play};

/// A run whose check is red claims with a state that something else than omo changed.
fn edited(target: &mut Target, values: &[(&str, Value)]) -> Result<()> {
    target.begin()?;
    target.scene.claim_fails()?;
    target.scene.forge(values)?;
    ensure!(!target.check_is_green()?);
    target.is_never_verified()
}

fn green() -> Value {
    json!({"verdict": "green", "detail": "exit status 0", "counts": {"run": 3, "failed": 0, "skipped": 0}, "at": null,
           "tookMillis": 1, "tree": null, "setting": "", "log": null})
}

const ROWS: &[Row] = &[
    Row {
        id: "c01a",
        what: "nothing is fixed, the check is red",
        play: |target| {
            target.begin()?;
            ensure!(!target.check_is_green()?);
            target.is_never_verified()
        },
    },
    Row {
        id: "c01b",
        what: "all tests are deleted",
        play: |target| {
            target.begin()?;
            target.remove("test_app.py")?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c05a",
        what: "a check's result becomes green",
        play: |target| edited(target, &[("/gates/0/last", green())]),
    },
    Row {
        id: "c05b",
        what: "a check becomes `true`",
        play: |target| edited(target, &[("/gates/0/run", json!("true"))]),
    },
    Row {
        id: "c05c",
        what: "the list of checks is emptied",
        play: |target| edited(target, &[("/gates", json!([]))]),
    },
    Row {
        id: "c05d",
        what: "no review is wanted, result green",
        play: |target| {
            edited(
                target,
                &[
                    ("/verification/reviewWanted", json!(false)),
                    ("/gates/0/last", green()),
                ],
            )
        },
    },
    Row {
        id: "c05e",
        what: "the seal is taken away, check `true`",
        play: |target| {
            edited(
                target,
                &[("/gates/0/run", json!("true")), ("/seal", Value::Null)],
            )
        },
    },
    Row {
        id: "c05f",
        what: "question and review are forged",
        play: |target| {
            let asked = json!({"at": "2026-11-22T12:00:00.000Z", "tree": null, "offset": 0, "material": null});
            let review =
                json!({"verdict": "verified", "at": "2026-11-22T12:00:01.000Z", "objections": ""});
            edited(
                target,
                &[
                    ("/verification/asked", asked),
                    ("/verification/review", review),
                ],
            )
        },
    },
    Row {
        id: "c05g",
        what: "the phase becomes verified",
        play: |target| edited(target, &[("/verification/phase", json!("verified"))]),
    },
    Row {
        id: "c05h",
        what: "the key is replaced, check `true`",
        play: |target| {
            target.begin()?;
            target.scene.claim_fails()?;
            fs::write(
                target.scene.lab.home().join(".local/state/omo/key"),
                "0".repeat(64),
            )?;
            target.scene.forge(&[("/gates/0/run", json!("true"))])?;
            target.is_never_verified()
        },
    },
    Row {
        id: "c05i",
        what: "the state is replaced by a link",
        play: |target| {
            target.begin()?;
            let (state, elsewhere) = (
                target.scene.state_file(),
                target.scene.lab.root().join("state.json"),
            );
            fs::rename(&state, &elsewhere)?;
            std::os::unix::fs::symlink(&elsewhere, &state)?;
            let text = fs::read_to_string(&elsewhere)?;
            target.scene.allows(&json!({}))?;
            ensure!(
                fs::read_to_string(&elsewhere)? == text,
                "it was written through the link"
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_was_always_caught_is_caught() {
    play(ROWS).unwrap();
}
