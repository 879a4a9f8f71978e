//! What `omo` prints in a terminal, and answers in a session, sets nothing off where it is pasted
//! into a prompt or repeated by a model.

use anyhow::{Result, ensure};
use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_core::promise::final_promise;
use serde_json::json;

use crate::cli::{omo, second_session};
use crate::scene::{Scene, play};

/// All of what one command says, on both streams.
fn says_nothing(scene: &Scene, arguments: &[&str]) -> Result<()> {
    let output = omo(scene, arguments, &[])?;
    let [stdout, stderr] =
        [output.stdout, output.stderr].map(|said| String::from_utf8_lossy(&said).into_owned());
    ensure!(
        !stdout.is_empty() || !stderr.is_empty(),
        "{arguments:?} says nothing at all"
    );
    for said in [stdout, stderr] {
        means_nothing(&said, &arguments.join(" "))?;
    }
    Ok(())
}

fn means_nothing(said: &str, which: &str) -> Result<()> {
    for pasted in [
        said.to_owned(),
        format!("{said}\n\nWhat is this?"),
        format!("What is this?\n\n{said}"),
    ] {
        let reading = read_prompt(&pasted, &Keywords::default());
        ensure!(
            reading == PromptReading::Nothing,
            "`{which}` is read as {reading:?}:\n{pasted}"
        );
    }
    ensure!(final_promise(said).is_none(), "`{which}` promises:\n{said}");
    Ok(())
}

#[test]
fn what_omo_prints_sets_nothing_off() {
    play(&[
        ("before anything happened", |s| {
            for arguments in [
                &["status"][..],
                &["log"],
                &["why"],
                &["stop"],
                &["verify"],
                &["check", "list"],
            ] {
                says_nothing(s, arguments)?;
            }
            Ok(())
        }),
        ("during a run, and after it", |s| {
            s.arm()?;
            second_session(s)?;
            s.blocks(&json!({}))?;
            for prompt in [
                "/omo:status",
                "/omo:check list",
                "/omo:check add true",
                "/omo:check remove true",
                "/omo:statusline",
                "/omo:why",
                "/omo:cancel",
                "/omo:report",
                "/omo:retry",
                "/omo:retry 1",
            ] {
                means_nothing(s.prompt(prompt)?.reason().unwrap_or_default(), prompt)?;
            }
            for arguments in [
                &["status"][..],
                &["log"],
                &["check", "list"],
                &["verify"],
                &["stop", "--session", s.session.session()],
                &["status"],
                &["log"],
                &["why"],
                &["stop", "--all"],
                &["ulw", "on", "--session", s.session.session()],
                &["status"],
                &["blocked", "no access", "--session", s.session.session()],
                &["stop", "--session", s.session.session()],
            ] {
                says_nothing(s, arguments)?;
            }
            Ok(())
        }),
    ]);
}
