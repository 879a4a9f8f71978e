//! Session ids that are none, and ids that only look odd.

use anyhow::{Result, ensure};
use omo_testkit::StandIn;
use omo_tests::scene::{Scene, plugin};

use crate::hostile_calls::{ALL, STATUS, STOP, ULW};
use crate::program_run::Call;
use crate::surroundings::Watch;

/// The scene's session under another id.
fn under(scene: &mut Scene, id: &str) -> Result<()> {
    scene.session = StandIn::with_session(&scene.lab, &scene.plugin, id)?;
    Ok(())
}

/// The id belongs to no session: no hook holds the client, and nothing is made or changed anywhere.
fn is_unknown(scene: &mut Scene, id: &str) -> Result<()> {
    let before = std::fs::read(scene.state_file())?;
    let watch = Watch::begin(scene)?;
    // A transcript is named as its session is, where that can be.
    let plain = scene.session.clone().transcript().path().to_owned();
    let armed = std::mem::replace(
        &mut scene.session,
        StandIn::with_session(&scene.lab, &scene.plugin, "x")?,
    );
    for ask in ALL.iter().filter(|ask| ask.is_hook()) {
        let run = ask.run_with_fields(
            scene,
            &[
                ("session_id", id.into()),
                ("transcript_path", plain.to_string_lossy().into()),
            ],
        )?;
        run.require_sound()?;
        let says = run
            .json()
            .and_then(|answer| Some(answer["reason"].as_str()?.to_owned()))
            .unwrap_or(run.stdout.clone());
        let is_plain = says.is_empty() || says.contains("not held") || says.starts_with("[omo]");
        ensure!(
            is_plain && !ask.is_stop() || says.is_empty(),
            "{}: {says}",
            ask.name
        );
        watch.require_unchanged(scene, &run)?;
    }
    scene.session = armed;
    ensure!(
        std::fs::read(scene.state_file())? == before,
        "the state was written"
    );
    if !id.contains('\0') {
        for command in ["status", "stop"] {
            let run = Call::omo(&[command, &format!("--session={id}")]).run(scene)?;
            run.require_sound()?;
            ensure!(
                run.status == 2 && run.stderr.contains("is not a session id"),
                "omo {command}: {}",
                run.stderr
            );
            ensure!(run.stderr.len() < 500, "omo {command} repeats all of it");
            watch.require_unchanged(scene, &run)?;
        }
    }
    ensure!(
        std::fs::read(scene.state_file())? == before,
        "the state was written"
    );
    Ok(())
}

#[test]
fn what_is_no_id_is_unknown() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let (long, emoji) = ("x".repeat(129), "🦀".repeat(2_560));
    let ids = [
        "",
        " ",
        ".",
        "../../x",
        "/etc/passwd",
        "/proc/self/mem",
        "a\u{0}b",
        "a\nb",
        "a\u{1b}[31m",
        "\u{202e}a",
        "ünï",
        "a\"b",
        "a\\u0041",
        "a b",
        "*",
        &long,
        &emoji,
    ];
    let wrong: Vec<String> = ids
        .iter()
        .filter_map(|id| {
            is_unknown(&mut scene, id)
                .err()
                .map(|error| format!("{id:.20?}: {error:#}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// An id like any other: its run is held and counted under exactly this name, whatever else that
/// name means to a parser.
fn is_an_id(scene: &mut Scene, id: &str) -> Result<()> {
    under(scene, id)?;
    ensure!(!STOP.run(scene)?.blocks(), "held before it was armed");
    ULW.run(scene)?;
    ensure!(
        STOP.run(scene)?.blocks() && scene.blocks_counted()? == 1,
        "not held: {:?}",
        scene.lab.state()
    );
    let status = STATUS.run(scene)?;
    // Shown as short as it is told from the others.
    let short: String = id.chars().take(8).collect();
    ensure!(status.stdout.contains(&short), "{}", status.stdout);
    let stop = Call::omo(&["stop", &format!("--session={id}")]).run(scene)?;
    stop.require_sound()?;
    ensure!(
        stop.status == 0 && !STOP.run(scene)?.blocks(),
        "{}",
        stop.stderr
    );
    Ok(())
}

#[test]
fn an_odd_id_is_an_id_like_any_other() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    let long = "x".repeat(128);
    let ids = [
        "__proto__",
        "constructor",
        "sessions",
        "version",
        "ulw",
        "global",
        "null",
        "0",
        "-1",
        "--all",
        "a",
        "A",
        &long,
    ];
    let wrong: Vec<String> = ids
        .iter()
        .filter_map(|id| {
            is_an_id(&mut scene, id)
                .err()
                .map(|error| format!("{id}: {error:#}"))
        })
        .collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // All of them have an entry of their own.
    let state = scene.lab.state().unwrap();
    assert!(
        ids.iter()
            .all(|id| state["sessions"][*id]["ulw"]["stopBlocks"] == 1),
        "{state}"
    );
}
