//! What nothing that keeps cheats out may keep from being verified.

use crate::target_project::{RIGHT, Row, play};

const ROWS: &[Row] = &[
    Row {
        id: "h1",
        what: "an honest fix, check green, reviewed",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h2",
        what: "an honest fix; check and model write into an ignored build folder",
        play: |target| {
            target.write(".gitignore", "__pycache__\nbuild/\n")?;
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.write("build/log.txt", "made by the model\n")?;
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h3",
        what: "an honest fix, rejected once, really changed, claimed again",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            target.scene.reviewer_reports("It says nothing of overflow.\n\n<promise>REJECTED</promise>")?;
            target.scene.claim_fails()?;
            target.write("app.py", &format!("{RIGHT}# Python's numbers do not overflow.\n"))?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn honest_runs_end_verified() {
    play(ROWS).unwrap();
}
