//! The vectors of `arguments.json`: what stands after `/omo:ulw` never passes a shell, and reaches
//! the task byte for byte.
//!
//! Flags of other tools are read as `omo-core`'s `arguments.rs` documents: a leading
//! `--max-iterations` is a bound, `--completion-promise` is refused, since the promise is always
//! DONE; within or after a task both are text.

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::HookAnswer;
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::scene::{Case, Scene, is_contract, play};

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

/// The text of a vector.
fn text_of(id: &str) -> Result<String> {
    let file: Value = serde_json::from_str(include_str!("../vectors/arguments.json"))?;
    let vectors = file["vectors"].as_array().context("no vectors")?;
    let vector = vectors
        .iter()
        .find(|vector| vector["id"] == id)
        .with_context(|| format!("no {id}"))?;
    Ok(vector["argument_text"]
        .as_str()
        .context("no text")?
        .to_owned())
}

/// The text is the task, byte for byte, in a run with the usual bounds; nothing was carried out.
fn is_task(scene: &mut Scene, id: &str) -> Result<()> {
    let text = text_of(id)?;
    let reported = scene.prompt(&format!("/omo:ulw {text}"))?;
    ensure!(is_contract(&reported), "{reported:?}");
    let entry = scene.entry()?;
    ensure!(
        entry["ulw"]["task"] == json!(text),
        "the task became {}",
        entry["ulw"]["task"]
    );
    ensure!(entry["limits"]["maxBlocks"] == MAX_BLOCKS, "{entry}");
    let files: Vec<_> = std::fs::read_dir(scene.lab.project())?
        .flatten()
        .map(|file| file.file_name())
        .collect();
    ensure!(
        files == [".sisyphus"],
        "something was carried out: {files:?}"
    );
    Ok(())
}

/// The user reads one line that names `part`, the model is not asked, nothing is turned on.
fn is_refused(scene: &mut Scene, id: &str, part: &str) -> Result<()> {
    let reported = scene.prompt(&format!("/omo:ulw {}", text_of(id)?))?;
    ensure!(reported.blocks(), "{reported:?}");
    let line = reported.reason().context("no reason")?;
    ensure!(
        line.lines().count() == 1 && line.contains("usage: /omo:ulw") && line.contains(part),
        "{line}"
    );
    ensure!(
        !scene.lab.project().join(".sisyphus").exists(),
        "half a state was left"
    );
    ensure!(scene.stop(&json!({}))? == HookAnswer::Nothing);
    Ok(())
}

pub(crate) const CASES: &[Case] = &[
    ("arg-007", |s| {
        ensure!(
            s.asks("/omo:ulw")?
                .starts_with("`ulw <task>` holds this session")
                && s.lab.state().is_none()
        );
        Ok(())
    }),
    ("arg-010", |s| is_refused(s, "arg-010", "not `abc`")),
    ("arg-015", |s| is_refused(s, "arg-015", "always DONE")),
    ("arg-020", |s| is_task(s, "arg-020")),
    ("arg-023", |s| is_task(s, "arg-023")),
    ("arg-024", |s| is_task(s, "arg-024")),
    ("arg-026", |s| is_task(s, "arg-026")),
    ("arg-029", |s| is_task(s, "arg-029")),
    ("arg-030", |s| is_task(s, "arg-030")),
    ("arg-033", |s| is_task(s, "arg-033")),
    ("arg-034", |s| is_task(s, "arg-034")),
    ("arg-035", |s| is_task(s, "arg-035")),
    ("arg-036", |s| is_task(s, "arg-036")),
    ("arg-037", |s| is_task(s, "arg-037")),
    ("arg-038", |s| is_task(s, "arg-038")),
    ("arg-039", |s| is_task(s, "arg-039")),
    ("arg-042", |s| is_task(s, "arg-042")),
    ("arg-043", |s| is_task(s, "arg-043")),
    // omo has one promise: another one is refused, never silently replaced.
    ("arg-047", |s| is_refused(s, "arg-047", "always DONE")),
    ("arg-048", |s| is_refused(s, "arg-048", "always DONE")),
    ("arg-049", |s| is_refused(s, "arg-049", "always DONE")),
    ("arg-050", |s| is_refused(s, "arg-050", "usage:")),
    ("arg-052", |s| is_task(s, "arg-052")),
    ("arg-053", |s| is_task(s, "arg-053")),
];

/// Options in both forms, and what follows them untouched.
#[test]
fn options_are_taken_in_both_forms_and_the_rest_is_the_task() {
    play(&[
        ("--x v", |s| {
            options(
                s,
                "--max-blocks 3 --max-minutes 5 fix  `it`; now",
                "fix  `it`; now",
            )
        }),
        ("--x=v", |s| {
            options(s, "--max-blocks=3 --max-minutes=5 fix\n it", "fix\n it")
        }),
        ("at the end", |s| {
            options(s, "fix it --max-minutes 5 --max-blocks=3", "fix it")
        }),
    ]);
}

fn options(scene: &mut Scene, arguments: &str, task: &str) -> Result<()> {
    let reported = scene.prompt(&format!("/omo:ulw {arguments}"))?;
    ensure!(
        reported
            .context()
            .is_some_and(|text| text.contains("at most 3 times within 5 minutes")),
        "{reported:?}"
    );
    let entry = scene.entry()?;
    ensure!(
        entry["ulw"]["task"] == json!(task) && entry["limits"]["maxBlocks"] == 3,
        "{entry}"
    );
    Ok(())
}

/// `/ulw` reaches omo as plain text where the client knows no such command.
#[test]
fn the_short_name_works_as_well() {
    play(&[("/ulw", |s| {
        let reported = s.prompt("/ulw --max-blocks 2 fix it")?;
        ensure!(
            is_contract(&reported) && s.entry()?["limits"]["maxBlocks"] == 2,
            "{reported:?}"
        );
        Ok(())
    })]);
}
