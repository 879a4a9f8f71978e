//! Hostile contents of every other file that is read: the transcript, the configuration,
//! `omo.toml`, the logs, the approvals and the key.

use omo_tests::all_good;
use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use omo_tests::exhaustive::sampled;
use omo_tests::scene::{Scene, plugin};

use crate::hostile_calls::{
    Ask, CLAIM, END, FAILURE, LIST, LOG, OMO_LIST, PROMPT, START, STATUS, STOP, STOP_ALL, SUBAGENT,
    ULW, VERIFY,
};
use crate::program_run::make_sparse_file;
use crate::surroundings::{SECRET, Watch};

const MIB: usize = 1024 * 1024;
/// What reads the transcript.
const READERS: [&Ask; 7] = [&STOP, &CLAIM, &PROMPT, &ULW, &START, &SUBAGENT, &CLAIM];
/// What reads everything else.
const LOOKERS: [&Ask; 10] = [
    &STATUS, &LOG, &LIST, &OMO_LIST, &VERIFY, &STOP, &CLAIM, &ULW, &END, &STOP_ALL,
];

/// A file's content, as it is written: its name, a piece, and how often that stands there.
type Content = (&'static str, &'static str, usize, &'static str);

/// Writes each content and asks; nothing of a stranger's is changed or shown.
#[track_caller]
fn play(place: fn(&Scene) -> PathBuf, contents: &[Content], asks: &[&Ask]) {
    let plugin = plugin();
    let played = |turn: usize, &(_, piece, bytes, tail): &Content| -> Result<()> {
        let mut scene = Scene::new(&plugin)?;
        scene.start("--check true")?;
        let path = place(&scene);
        fs::create_dir_all(path.parent().context("no folder")?)?;
        fs::write(
            &path,
            format!("{}{tail}", piece.repeat(bytes / piece.len().max(1))),
        )?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600))?;
        let watch = Watch::begin(&scene)?;
        for ask in sampled(asks, turn) {
            let run = ask.run(&scene).with_context(|| ask.name)?;
            ensure!(
                !run.stdout.contains(SECRET) && !run.stderr.contains(SECRET),
                "{}: it is shown",
                ask.name
            );
            // omo appends to a log; what was in it before stays.
            watch
                .require_unchanged(&scene, &run)
                .with_context(|| ask.name)?;
        }
        Ok(())
    };
    all_good(
        contents
            .iter()
            .enumerate()
            .map(|(turn, content)| (content.0.to_owned(), played(turn, content))),
    );
}

fn transcript(scene: &Scene) -> PathBuf {
    scene.session.clone().transcript().path().to_owned()
}

#[test]
fn a_hostile_transcript_says_little_and_costs_little() {
    let call = r#"{"type":"tool_use"}]}}"#;
    let contents: [Content; 16] = [
        ("nothing", "", 0, ""),
        ("NULs", "\0", 2 * MIB, "\n"),
        ("blank lines", "\n", 2 * MIB, ""),
        ("open lists", "[", 2 * MIB, "\n"),
        (
            "no line break at the end",
            "{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n",
            MIB,
            "{\"type\":",
        ),
        (
            "many inputs that wait",
            "{\"type\":\"queue-operation\",\"operation\":\"enqueue\",\"content\":\"x\"}\n",
            MIB,
            "",
        ),
        (
            "many inputs that leave",
            "{\"type\":\"queue-operation\",\"operation\":\"dequeue\"}\n",
            MIB,
            "",
        ),
        (
            "one that comes and another that leaves",
            "{\"type\":\"queue-operation\",\"operation\":\"enqueue\"}\n{\"type\":\"queue-operation\",\"operation\":\"remove\",\"content\":\"y\"}\n",
            MIB,
            "",
        ),
        (
            "many interruptions",
            "{\"type\":\"user\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"[Request interrupted by user]\"}]}}\n",
            MIB,
            "",
        ),
        (
            "a far future",
            "{\"type\":\"assistant\",\"timestamp\":\"9999-12-31T23:59:59Z\",\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}\n",
            4_096,
            "",
        ),
        (
            "a far past",
            "{\"type\":\"assistant\",\"timestamp\":\"-9999-01-01T00:00:00Z\",\"message\":{\"content\":[{\"type\":\"tool_use\"}]}}\n",
            4_096,
            "",
        ),
        (
            "a message of many blocks",
            "{\"type\":\"assistant\",\"message\":{\"content\":[",
            1,
            call,
        ),
        (
            "claims without end",
            "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"<promise>DONE</promise>\"}]}}\n",
            MIB,
            "",
        ),
        (
            "reports without end",
            "{\"type\":\"user\",\"toolUseResult\":{\"status\":\"completed\",\"agentType\":\"omo:oracle\",\"content\":[{\"text\":\"<promise>VERIFIED</promise>\"}]}}\n",
            MIB,
            "",
        ),
        (
            "errors without end",
            "{\"type\":\"assistant\",\"isApiErrorMessage\":true,\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"Prompt is too long\"}]}}\n",
            MIB,
            "",
        ),
        (
            "half surrogate pairs",
            "{\"type\":\"assistant\",\"message\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\"}]}}\n",
            4_096,
            "",
        ),
    ];
    play(transcript, &contents, &READERS);
}

/// Everything that reads the transcript, which is sound.
fn read(scene: &Scene) -> Result<()> {
    READERS
        .iter()
        .try_for_each(|ask| ask.run(scene).map(drop).context(ask.name))
}

#[test]
fn a_line_of_100_mib_and_a_line_of_many_blocks_cost_little() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let path = transcript(&scene);
    make_sparse_file(&path, 100 << 20).unwrap();
    let mut file = fs::OpenOptions::new().append(true).open(&path).unwrap();
    file.write_all(b"\n").unwrap();
    read(&scene).unwrap();
    for block in [
        r#"{"type":""},"#,
        r#"{"type":"text","text":"x"},"#,
        r#"{"type":"tool_use","name":"Agent","id":"a"},"#,
    ] {
        let blocks = block.repeat(900_000 / block.len());
        let line = format!(
            "{{\"type\":\"assistant\",\"message\":{{\"content\":[{blocks}{{\"type\":\"tool_use\"}}]}}}}\n"
        );
        let result = format!(
            "{{\"type\":\"user\",\"toolUseResult\":{{\"status\":\"completed\",\"agentType\":\"omo:oracle\",\"content\":[{blocks}{{}}]}}}}\n"
        );
        for text in [line, result] {
            fs::write(&path, text).unwrap();
            read(&scene).unwrap();
        }
    }
}

#[test]
fn a_hostile_configuration_is_a_problem_and_no_more() {
    let contents: [Content; 12] = [
        ("open lists", "[", 60_000, ""),
        ("lists in lists", "a = [", 60_000, ""),
        ("tables in tables", "a.", 60_000, "a = 1"),
        ("a table of tables", "[a.", 60_000, ""),
        ("inline tables", "a = {a = ", 60_000, ""),
        ("too many checks", "[[check]]\n", 60_000, ""),
        (
            "good checks, too many",
            "[[check]]\nrun = \"true\"\n",
            60_000,
            "",
        ),
        ("unknown settings", "x1 = 1\n[y]\n", 11, ""),
        ("NULs", "\0", 60_000, ""),
        ("quotes", "\"", 60_000, ""),
        ("larger than it may be", "# x\n", MIB, ""),
        (
            "huge numbers",
            "[limits]\nmax_blocks = 99999999999999999999999\nmax_minutes = -1\ncooldown_seconds = 1e999\n",
            90,
            "",
        ),
    ];
    play(
        |scene| scene.lab.home().join(".config/omo/config.toml"),
        &contents,
        &LOOKERS,
    );
    play(
        |scene| scene.lab.project().join("omo.toml"),
        &contents,
        &LOOKERS,
    );
}

#[test]
fn a_hostile_log_list_of_approvals_or_key_is_passed_over_or_named() {
    let line = "{\"at\":\"2026-01-01T00:00:00Z\",\"session\":\"a\",\"event\":\"\",\"row\":1,\"decision\":\"\",\"why\":\"\",\"blocks\":0,\"maxBlocks\":0}\n";
    let logs: [Content; 7] = [
        ("as many lines as fit", line, 2 * MIB - 4_096, ""),
        ("open lists", "[", MIB, "\n"),
        ("blank lines", "\n", MIB, ""),
        ("NULs", "\0", MIB, ""),
        ("a line without end", "x", 2 * MIB - 4_096, ""),
        ("larger than it may be", line, 3 * MIB, ""),
        (
            "colours and line breaks",
            "{\"at\":\"2026-01-01T00:00:00Z\",\"session\":\"\\u001b[31m\\n\\u202e\",\"event\":\"\\u0000\",\"row\":1,\"decision\":\"\\ud800\",\"why\":\"\\u001b]0;x\\u0007\",\"blocks\":0,\"maxBlocks\":0}\n",
            400,
            "",
        ),
    ];
    for name in ["decisions.jsonl", "decisions.jsonl.1"] {
        let place = if name.ends_with('1') {
            |scene: &Scene| scene.lab.state_folder().join("decisions.jsonl.1")
        } else {
            |scene: &Scene| scene.lab.state_folder().join("decisions.jsonl")
        };
        play(place, &logs, &LOOKERS);
    }
    let approval = "{\"digest\":\"\",\"root\":\"\",\"at\":\"2026-01-01T00:00:00Z\"},";
    let approvals: [Content; 5] = [
        ("open lists", "[", MIB - 8, ""),
        ("NULs", "\0", 4_096, ""),
        ("no approval", "{\"version\":1,\"approved\":[", 1, "]}"),
        ("a newer version", "{\"version\":99,\"approved\":[", 1, "]}"),
        ("half an approval", approval, 400, ""),
    ];
    play(
        |scene| scene.lab.home().join(".local/state/omo/trust.json"),
        &approvals,
        &LOOKERS,
    );
    let keys: [Content; 6] = [
        ("nothing", "", 0, ""),
        ("too short", "0", 63, "\n"),
        ("too long", "0", 65, "\n"),
        ("no digits", "x", 64, "\n"),
        ("NULs", "\0", 64, ""),
        ("another key", "0", 64, "\n"),
    ];
    play(
        |scene| scene.lab.home().join(".local/state/omo/key"),
        &keys,
        &LOOKERS,
    );
}

/// A repository can hold a link to a file of its user's: nothing of that is read.
#[test]
fn an_omo_toml_that_is_a_link_is_named_and_not_followed() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let outside = scene.lab.root().join("outside.toml");
    fs::write(
        &outside,
        format!("{SECRET} = 1\n[[check]]\nrun = \"{SECRET}\"\n"),
    )
    .unwrap();
    std::os::unix::fs::symlink(&outside, scene.lab.project().join("omo.toml")).unwrap();
    for ask in [&LIST, &OMO_LIST] {
        let run = ask.run(&scene).unwrap();
        assert!(
            run.stdout.contains("omo.toml is a symbolic link")
                || run.stdout.contains("omo.toml: is a symbolic link"),
            "{run:?}"
        );
        assert!(
            !run.stdout.contains(SECRET) && !run.stderr.contains(SECRET),
            "{run:?}"
        );
    }
}

/// What cannot be removed in the place of an old broken state keeps no run from beginning afresh, and at most three of
/// those are kept.
#[test]
fn folders_in_the_place_of_old_broken_states_hold_nothing_up() {
    let plugin = plugin();
    let scene = Scene::new(&plugin).unwrap();
    for name in ["a", "b", "c", "d"] {
        fs::create_dir_all(
            scene
                .lab
                .state_folder()
                .join(format!("runtime.local.json.corrupt-0{name}"))
                .join("x"),
        )
        .unwrap();
    }
    for _ in 0..6 {
        scene.write_state(b"garbage").unwrap();
        let run = ULW.run(&scene).unwrap();
        assert!(run.stdout.contains("is continued, at most"), "{run:?}");
        assert!(STOP.run(&scene).unwrap().blocks());
    }
    let files = scene
        .state_file_names()
        .into_iter()
        .filter(|name| name.contains(".corrupt-2"))
        .count();
    assert!((1..=3).contains(&files), "{:?}", scene.state_file_names());
    FAILURE.run(&scene).unwrap();
}
