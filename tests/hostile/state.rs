//! Hostile contents of the state file: every hook lets the client go on or counts what it blocks, every command says
//! what is wrong, and no other session's entry is touched.

use omo_tests::all_good;
use std::fs;

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use omo_tests::exhaustive::sampled;
use omo_tests::scene::{Scene, plugin, require_sound};
use serde_json::{Value, json};

use crate::hostile_calls::{
    Ask, CLAIM, END, FAILURE, LOG, PROMPT, START, STATUS, STOP, STOP_ALL, SUBAGENT, ULW,
};
use crate::program_run::Run;
use crate::surroundings::SECRET;

/// A scene with two armed sessions: what is written of the first one, and the second one's entry,
/// byte for byte.
pub(crate) struct StateFixture {
    /// The scene.
    pub scene: Scene,
    /// The text of a real state, of both.
    pub text: String,
    /// The other session's entry as it stands in that text.
    other: String,
}

impl StateFixture {
    /// Arms both; the first has a check, a claim that was judged, and a review that is waited for.
    pub(crate) fn new(plugin: &std::path::Path) -> Result<Self> {
        let mut scene = Scene::in_lab(plugin, Lab::builder().without_git().build()?)?;
        scene.start("--check true --max-blocks 100")?;
        scene.claim_fails()?;
        let mut other = scene.another()?;
        require_sound(&other.prompt("ulw fix the docs")?)?;
        scene.edit(&[("/limits/cooldownSeconds", json!(0))])?;
        let state = scene.lab.state().context("no state")?;
        let entry = format!(
            "{:?}:{}",
            scene.session.session(),
            state["sessions"][scene.session.session()]
        );
        let other_id = other.session();
        // Not as omo would write it.
        let other = state["sessions"][other_id]
            .to_string()
            .replacen('{', "{ \"x\" : 1.50 ,", 1);
        let text = format!("{{\"version\":1,\"sessions\":{{{entry},\n {other_id:?}: {other}}}}}");
        Ok(Self { scene, text, other })
    }

    /// Asks with these bytes as the state: it is sound, and the other session's entry is there.
    fn ask(&self, bytes: &[u8], ask: &Ask) -> Result<Run> {
        self.scene.write_state(bytes)?;
        let run = ask.run(&self.scene)?;
        ensure!(
            !run.stdout.contains(SECRET) && !run.stderr.contains(SECRET),
            "the state's own text is shown"
        );
        // `omo stop --all` is about the other one as well.
        let is_kept =
            ask.name != STOP_ALL.name && String::from_utf8_lossy(bytes).contains(&self.other);
        ensure!(
            !is_kept || self.keeps_the_other()?,
            "the other session's entry was changed"
        );
        Ok(run)
    }

    /// In the state, or in one that was moved aside whole.
    fn keeps_the_other(&self) -> Result<bool> {
        for name in self
            .scene
            .state_file_names()
            .iter()
            .filter(|name| name.starts_with("runtime.local.json"))
        {
            let text = fs::read(self.scene.lab.state_folder().join(name))?;
            if String::from_utf8_lossy(&text).contains(&self.other) {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// What only looks says something about the session, or what is wrong, and changes nothing.
    fn look(&self, bytes: &[u8]) -> Result<()> {
        let status = self.ask(bytes, &STATUS)?;
        let log = LOG.run(&self.scene)?;
        ensure!(
            fs::read(self.scene.state_file())? == bytes,
            "looking changed the state"
        );
        let id = self.scene.session.session();
        // Shown as short as it is told from the others.
        let short: String = id.chars().take(8).collect();
        let says = status.stdout.contains(&short)
            || !String::from_utf8_lossy(bytes).contains(id)
            || ["does not parse", "is of version", "too large"]
                .iter()
                .any(|part| status.stderr.contains(part));
        ensure!(
            says && log.status == 0,
            "nothing is said: {}{}",
            status.stdout,
            status.stderr
        );
        Ok(())
    }

    /// Stops the runs of all sessions: it says so, or says what is wrong and changes nothing.
    fn stop_all(&self, bytes: &[u8]) -> Result<()> {
        let run = self.ask(bytes, &STOP_ALL)?;
        let is_same = fs::read(self.scene.state_file())? == bytes;
        ensure!(
            run.status == 0 || is_same && run.status == 9,
            "status {}, and the state was changed",
            run.status
        );
        // What could be read was stopped, and what could not be read holds no session.
        let stop = STOP.run(&self.scene)?;
        ensure!(
            !stop.blocks(),
            "still held after `omo stop --all`: {}{}",
            run.stdout,
            run.stderr
        );
        Ok(())
    }

    /// All of that, with a Stop and some of the other hooks.
    fn ask_all(&self, turn: usize, bytes: &[u8]) -> Result<()> {
        self.ask(bytes, &STOP).context(STOP.name)?;
        for ask in sampled(
            &[&CLAIM, &PROMPT, &START, &SUBAGENT, &FAILURE, &END, &ULW],
            turn,
        ) {
            self.ask(bytes, ask).with_context(|| ask.name)?;
        }
        self.look(bytes).context("omo status")?;
        self.stop_all(bytes).context("omo stop --all")
    }
}

/// Every place in a value, by its JSON pointer.
fn places(value: &Value, pointer: &str, found: &mut Vec<String>) {
    found.push(pointer.to_owned());
    let escaped = |name: &str| name.replace('~', "~0").replace('/', "~1");
    match value {
        Value::Object(fields) => {
            fields.iter().for_each(|(name, value)| {
                places(value, &format!("{pointer}/{}", escaped(name)), found);
            });
        }
        Value::Array(elements) => {
            elements
                .iter()
                .enumerate()
                .for_each(|(at, value)| places(value, &format!("{pointer}/{at}"), found));
        }
        _ => {}
    }
}

#[test]
fn a_wrong_type_in_any_field_continues_nothing_uncounted_and_is_reported() {
    const WRONG: [&str; 11] = [
        "null",
        "true",
        "-1",
        "1.5",
        "1e999",
        "18446744073709551616",
        "\"\"",
        "\"x\"",
        "\"\\ud800\"",
        "[]",
        "{}",
    ];
    let plugin = plugin();
    let fixture = StateFixture::new(&plugin).unwrap();
    let entry = fixture.scene.entry().unwrap();
    let mut pointers = Vec::new();
    places(
        &entry,
        &format!("/sessions/{}", fixture.scene.session.session()),
        &mut pointers,
    );
    assert!(pointers.len() > 50, "{pointers:?}");
    pointers.extend(["/version".to_owned(), "/sessions".to_owned(), String::new()]);
    let play = |pointer: &String, index: usize, wrong: &str| -> Result<()> {
        let mut document: Value =
            serde_json::from_str(&fixture.text.replacen(&fixture.other, "\"@other@\"", 1))?;
        *document.pointer_mut(pointer).context("no such place")? = json!("@wrong@");
        let text = document
            .to_string()
            .replace("\"@other@\"", &fixture.other)
            .replace("\"@wrong@\"", wrong);
        for ask in [&STOP, &PROMPT, &START, &END] {
            fixture
                .ask(text.as_bytes(), ask)
                .with_context(|| ask.name)?;
        }
        // Of the slower ones each field meets a few.
        match index % 4 {
            0 => fixture.look(text.as_bytes()).context("omo status"),
            1 => fixture.stop_all(text.as_bytes()).context("omo stop --all"),
            2 => fixture
                .ask(text.as_bytes(), &CLAIM)
                .map(drop)
                .context("a claim"),
            _ => fixture.ask(text.as_bytes(), &ULW).map(drop).context("ulw"),
        }
    };
    let cases = pointers.iter().enumerate().flat_map(|(at, pointer)| {
        let play = &play;
        let named = move |(index, wrong)| {
            (
                format!("{wrong} at {pointer}"),
                play(pointer, at + index, wrong),
            )
        };
        WRONG.into_iter().enumerate().map(named)
    });
    all_good(cases);
}

#[test]
fn a_state_that_is_cut_at_any_byte_continues_nothing_and_stays_as_it_is() {
    let plugin = plugin();
    let fixture = StateFixture::new(&plugin).unwrap();
    let play = |length: usize| -> Result<()> {
        let bytes = fixture.text.as_bytes().get(..length).context("too short")?;
        let run = fixture.ask(bytes, &STOP)?;
        ensure!(
            fs::read(fixture.scene.state_file())? == bytes,
            "it was changed"
        );
        run.require_silent()
    };
    all_good((0..fixture.text.len()).map(|length| (format!("{length} bytes"), play(length))));
    let some = (0..fixture.text.len()).step_by(97);
    let play = |length: usize| {
        fixture.ask_all(
            length / 97,
            fixture.text.as_bytes().get(..length).context("too short")?,
        )
    };
    all_good(some.map(|length| (format!("{length} bytes"), play(length))));
}

#[test]
fn a_state_with_flipped_bits_continues_nothing_uncounted() {
    let plugin = plugin();
    let fixture = StateFixture::new(&plugin).unwrap();
    // Always the same ones: a case that fails can be played again.
    let mut seed: u64 = 0x9e37_79b9_7f4a_7c15;
    let mut next = |below: usize| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(seed >> 33).unwrap_or(0) % below
    };
    let mut cases = Vec::new();
    for round in 0..400 {
        let mut bytes = fixture.text.clone().into_bytes();
        for _ in 0..=round % 3 {
            let (at, bit) = (next(bytes.len()), next(8));
            bytes
                .get_mut(at)
                .into_iter()
                .for_each(|byte| *byte ^= 1 << bit);
        }
        let play = |ask: &Ask| fixture.ask(&bytes, ask).map(drop).context(ask.name);
        let played = play(&STOP).and_then(|()| play([&PROMPT, &START, &END, &ULW][round % 4]));
        cases.push((format!("round {round}"), played));
    }
    all_good(cases);
}

/// As many of a piece as fit into a state of 4 MiB.
fn filled(head: &str, piece: &str, tail: &str) -> String {
    const MAX: usize = 4 * 1024 * 1024;
    format!(
        "{head}{}{tail}",
        piece.repeat((MAX - head.len() - tail.len()) / piece.len())
    )
}

/// Texts that are large, deep or odd around an armed entry.
fn odd_texts(fixture: &StateFixture) -> Vec<(&'static str, Vec<u8>)> {
    let id = fixture.scene.session.session();
    let text = fixture.text.as_str();
    let entry = fixture
        .scene
        .lab
        .state()
        .map(|state| state["sessions"][id].to_string())
        .unwrap_or_default();
    let inner = entry.strip_prefix('{').unwrap_or_default();
    let with = |more: &str| text.replacen(&format!("{id:?}:{{"), &format!("{id:?}:{{{more},"), 1);
    let on_top = |more: &str| text.replacen('{', &format!("{{{more},"), 1);
    let deep = |depth: usize| format!("\"x\":{}{}", "[".repeat(depth), "]".repeat(depth));
    let deep_objects = format!("\"x\":{}1{}", "{\"a\":".repeat(10_000), "}".repeat(10_000));
    let sessions = |more: &str| format!("{{\"version\":1,\"sessions\":{{{id:?}:{entry}{more}}}}}");
    let ulw = |more: &str| text.replacen("\"ulw\":{", &format!("\"ulw\":{{{more},"), 1);
    let utf16: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let cut = |text: String| text.into_bytes();
    vec![
        ("10,000 lists in an unknown field", cut(with(&deep(10_000)))),
        (
            "10,000 objects in an unknown field",
            cut(with(&deep_objects)),
        ),
        ("10,000 lists at the top", cut(on_top(&deep(10_000)))),
        ("10,000 objects at the top", cut(on_top(&deep_objects))),
        ("10,000 lists in the run", cut(ulw(&deep(10_000)))),
        ("4 MiB of open lists", cut(filled("", "[", ""))),
        ("4 MiB of open objects", cut(filled("", "{\"a\":", ""))),
        (
            "4 MiB of our own key, each within the other",
            cut(filled("{\"sessions\":", &format!("{{{id:?}:{{\"a\":"), "")),
        ),
        (
            "4 MiB of our own entries",
            cut(filled(
                &sessions(""),
                &format!(",{id:?}:{{\"ulw\":{{}}}}"),
                "",
            )),
        ),
        (
            "4 MiB of sessions",
            cut(filled(
                &format!("{{\"sessions\":{{{id:?}:{entry}"),
                ",\"a\":{}",
                "}}",
            )),
        ),
        (
            "4 MiB of lists of sessions",
            cut(filled(
                "{\"a\":1,",
                "\"sessions\":{},\"a\":1,",
                &format!("\"sessions\":{{{id:?}:{entry}}}}}"),
            )),
        ),
        (
            "4 MiB of checks",
            cut(filled(
                &format!("{{\"sessions\":{{{id:?}:{{\"gates\":["),
                "{},",
                &format!("{{}}],{inner}}}}}"),
            )),
        ),
        (
            "4 MiB of ids of shells",
            cut(filled(
                &format!("{{\"sessions\":{{{id:?}:{{\"ulw\":{{\"enabled\":true,\"namedTasks\":["),
                "\"\",",
                "\"\"]}}}}",
            )),
        ),
        (
            "4 MiB of task",
            cut(filled(
                &format!("{{\"sessions\":{{{id:?}:{{\"ulw\":{{\"enabled\":true,\"task\":\""),
                "ulw\\n",
                "\"}}}}",
            )),
        ),
        (
            "4 MiB of unknown text",
            cut(filled(
                &format!("{{\"sessions\":{{{id:?}:{{\"x\":\""),
                "\\ud800",
                &format!("\",{inner}}}}}"),
            )),
        ),
        (
            "an entry as large as one may be",
            cut(with(&format!("\"x\":[{}1]", "\"x\",".repeat(47_000)))),
        ),
        (
            "as many pinned files as fit",
            cut(text.replacen(
                "\"pinned\":{",
                &format!("\"pinned\":{{{}", "\"0\":\"\",".repeat(20_000)),
                1,
            )),
        ),
        (
            "our entry twice",
            cut(sessions(&format!(",{id:?}:{entry}"))),
        ),
        (
            "our entry twice, once as a list",
            cut(sessions(&format!(",{id:?}:[]"))),
        ),
        (
            "sessions twice",
            cut(on_top(&format!("\"sessions\":{{{id:?}:{entry}}}"))),
        ),
        (
            "the run twice",
            cut(with("\"ulw\":{\"enabled\":true,\"stopBlocks\":99}")),
        ),
        ("the count twice", cut(ulw("\"stopBlocks\":99"))),
        ("half a surrogate pair as a key", cut(with("\"\\ud800\":1"))),
        (
            "half a surrogate pair as a key at the top",
            cut(on_top("\"\\ud800\":1")),
        ),
        (
            "half a surrogate pair in a value",
            cut(with("\"x\":\"\\udfff\"")),
        ),
        (
            "half a surrogate pair as another session's id",
            cut(sessions(",\"\\ud800\":{}")),
        ),
        ("an escaped NUL", cut(with("\"\\u0000\":\"\\u0000\""))),
        ("NULs", vec![0; 4_096]),
        ("NULs behind it", [text.as_bytes(), &[0; 64]].concat()),
        (
            "a byte order mark",
            [b"\xef\xbb\xbf", text.as_bytes()].concat(),
        ),
        (
            "two byte order marks",
            [b"\xef\xbb\xbf\xef\xbb\xbf", text.as_bytes()].concat(),
        ),
        ("UTF-16", [b"\xff\xfe".as_slice(), &utf16].concat()),
        (
            "invalid UTF-8 in an unknown field",
            cut(with("\"x\":\"@\""))
                .into_iter()
                .map(|byte| if byte == b'@' { 0xff } else { byte })
                .collect(),
        ),
        (
            "a version of the future",
            cut(text.replacen("\"version\":1", "\"version\":2", 1)),
        ),
        (
            "a version without end",
            cut(text.replacen("\"version\":1", "\"version\":1e999", 1)),
        ),
        (
            "a version with 20 digits",
            cut(text.replacen("\"version\":1", "\"version\":99999999999999999999", 1)),
        ),
        (
            "a version of -1",
            cut(text.replacen("\"version\":1", "\"version\":-1", 1)),
        ),
        ("two versions", cut(on_top("\"version\":2"))),
        ("nothing", Vec::new()),
        ("a stranger's text", format!("{SECRET}\n").into_bytes()),
        (
            "a stranger's text as a key",
            format!("{{\"{SECRET}\": }}").into_bytes(),
        ),
    ]
}

#[test]
fn a_large_deep_or_odd_state_costs_little_and_continues_nothing_uncounted() {
    let plugin = plugin();
    let fixture = StateFixture::new(&plugin).unwrap();
    let texts = odd_texts(&fixture).into_iter().enumerate();
    all_good(texts.map(|(turn, (name, bytes))| (name.to_owned(), fixture.ask_all(turn, &bytes))));
}

#[test]
fn no_state_allows_more_than_a_hundred_blocks() {
    let plugin = plugin();
    let fixture = StateFixture::new(&plugin).unwrap();
    let text = fixture
        .text
        .replace("\"maxBlocks\":100", "\"maxBlocks\":4294967295");
    assert_ne!(text, fixture.text);
    fixture.scene.write_state(text.as_bytes()).unwrap();
    fixture.scene.seal().unwrap();
    let blocks = (0..110)
        .map(|_| STOP.run(&fixture.scene).unwrap())
        .filter(Run::blocks)
        .count();
    assert!(
        blocks > 90 && fixture.scene.blocks_counted().unwrap() == 100,
        "{blocks} of {}",
        fixture.scene.blocks_counted().unwrap()
    );
}
