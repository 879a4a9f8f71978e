//! `/omo:why` and `omo why`: the last decision in words, and what would change it.

use anyhow::{Result, ensure};
use serde_json::json;

use crate::cli::omo;
use crate::scene::{Scene, play};

fn in_terminal(scene: &Scene) -> Result<String> {
    let output = omo(scene, &["why", "--session", scene.session.session()], &[])?;
    ensure!(
        output.status.success() && output.stderr.is_empty(),
        "{output:?}"
    );
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn the_last_decision_is_explained_without_a_model() {
    play(&[
        ("before anything happened", |s| {
            let said = s.asks("/omo:why")?;
            ensure!(
                said.contains("nothing was decided in this session yet"),
                "{said}"
            );
            Ok(())
        }),
        ("a run that was turned on, continued, and stopped", |s| {
            s.arm()?;
            let said = s.asks("/omo:why")?;
            ensure!(
                said.contains("at your prompt: the run was turned on"),
                "{said}"
            );
            s.blocks(&json!({}))?;
            let said = s.asks("/omo:why")?;
            let parts = [
                "when a turn ended: omo continued it, continuation 1 of 8",
                "not claimed yet",
                "the rule:",
                "ulw off",
            ];
            ensure!(
                parts.iter().all(|part| said.contains(part)) && !said.contains("row"),
                "{said}"
            );
            ensure!(in_terminal(s)?.trim_end() == said, "{said}");
            s.prompt("stop")?;
            let said = s.asks("/omo:why")?;
            ensure!(
                said.contains("at your prompt: the run waits for you"),
                "{said}"
            );
            s.asks("ulw off")?;
            let said = s.asks("/omo:why")?;
            ensure!(
                said.contains("the run was ended") && said.contains("`ulw <task>` begins a run"),
                "{said}"
            );
            Ok(())
        }),
    ]);
}
