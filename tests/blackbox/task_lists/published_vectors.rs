//! What the published programs did, case by case: files before, command line, exit status, files after.
//! Each case is held, or is a fault that is not copied, or is about no verb of omo.

use std::fs;
use std::path::Path;
use std::process::Output;

use anyhow::{Context, Result, bail, ensure};
use omo_core::timestamp::Timestamp;
use serde_json::Value;

use super::Place;
use super::published_faults::FAULTS;

const VECTORS: &str = include_str!("../../vectors/plans/task-sessions.json");

/// The programs, and the verbs that omo has for them.
const VERBS: [(&str, &[&str]); 12] = [
    ("setup-ultrawork.js", &["agent", "tasks", "create"]),
    ("session-get.js", &["tasks", "show"]),
    ("session-update.js", &["agent", "tasks", "update"]),
    ("ultrawork-clean.js", &["tasks", "clean"]),
    ("task-create.js", &["agent", "task", "create"]),
    ("task-get.js", &["agent", "task", "get"]),
    ("task-list.js", &["agent", "task", "list"]),
    ("task-update.js", &["agent", "task", "update"]),
    ("task-summary.js", &["agent", "task", "summary"]),
    ("context-init.js", &["agent", "context", "init"]),
    ("context-add.js", &["agent", "context", "add"]),
    ("context-get.js", &["agent", "context", "get"]),
];

/// Cases that are about no verb, and why.
const ELSEWHERE: [(&str, &str); 5] = [
    (
        "H01",
        "a hook: omo's own Stop holds a session by its run, and has tests of its own",
    ),
    (
        "H06",
        "a hook: ids of other shapes belong to no session, which the tests of hostile input hold",
    ),
    (
        "H09",
        "a hook: what a worker did is in the ledger of the run, and no hook writes it into a session",
    ),
    (
        "D03",
        "a program that checks rules of its own: criteria that are commands are checks of the run",
    ),
    (
        "D04",
        "a program that checks rules of its own: criteria that are commands are checks of the run",
    ),
];

/// A case that was played.
pub(super) struct Played {
    pub place: Place,
    /// What each command did.
    pub outputs: Vec<Output>,
}

impl Played {
    /// The exit status of each command.
    pub(super) fn statuses(&self) -> Vec<i32> {
        self.outputs
            .iter()
            .map(|output| output.status.code().unwrap_or(-1))
            .collect()
    }

    /// What the last command printed.
    pub(super) fn stdout(&self) -> String {
        self.outputs
            .last()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
            .unwrap_or_default()
    }

    /// What the last command said.
    pub(super) fn stderr(&self) -> String {
        self.outputs
            .last()
            .map(|output| String::from_utf8_lossy(&output.stderr).into_owned())
            .unwrap_or_default()
    }
}

fn text<'a>(of: &'a Value, name: &str) -> Result<&'a str> {
    of[name]
        .as_str()
        .with_context(|| format!("no {name} in {of}"))
}

/// A file as a case has it: text, or JSON.
fn content(file: &Value) -> Result<String> {
    match (&file["json"], &file["text"]) {
        (Value::Null, Value::String(text)) => Ok(text.clone()),
        (json, Value::Null) => Ok(json.to_string()),
        _ => bail!("neither text nor JSON: {file}"),
    }
}

fn play(case: &Value) -> Result<Played> {
    let place = Place::new()?;
    for (path, file) in case["setup_files"].as_object().into_iter().flatten() {
        place.put(path, &content(file)?)?;
    }
    let mut outputs = Vec::new();
    for step in case["steps"].as_array().context("no steps")? {
        if let Some(lock) = step["did"]["age_lock"].as_str() {
            // The lock of a program that omo does not know: a folder.
            fs::create_dir_all(place.base().join(lock))?;
            continue;
        }
        let argv: Vec<&str> = step["argv"]
            .as_array()
            .context("no argv")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        let (program, rest) = argv.split_first().context("no program")?;
        let (_, verb) = VERBS
            .iter()
            .find(|(name, _)| name == program)
            .with_context(|| format!("no verb: {program}"))?;
        let mut command = place.lab.command(place.plugin.join("bin/omo"));
        outputs.push(command.args(*verb).args(rest).output()?);
    }
    Ok(Played { place, outputs })
}

fn holds(case: &Value, played: &Played) -> Result<()> {
    let commands = case["steps"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|step| !step["argv"].is_null());
    for ((step, output), status) in commands.zip(&played.outputs).zip(played.statuses()) {
        ensure!(
            step["exit"] == status,
            "{status} for {step}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
    let after = case["files_after"].as_object().context("no files")?;
    for (path, file) in after {
        if let Some(folder) = path.strip_suffix('/') {
            is_as_it_was(&played.place, folder)?;
            continue;
        }
        let found =
            fs::read_to_string(played.place.base().join(path)).with_context(|| path.clone())?;
        let expected = content(file)?;
        match (
            serde_json::from_str(&expected),
            serde_json::from_str(&found),
        ) {
            (Ok(expected), Ok(found)) => {
                same(&expected, &found, played.place.lab.project())
                    .with_context(|| path.clone())?;
            }
            _ => ensure!(found == expected, "{path}: {found}"),
        }
    }
    for path in played.place.files().keys() {
        ensure!(
            after.contains_key(&path.to_string_lossy().into_owned()),
            "{} was made",
            path.display()
        );
    }
    Ok(())
}

/// A folder of which a case says only that it is there, by its path from that of all sessions' files.
fn is_as_it_was(place: &Place, folder: &str) -> Result<()> {
    let is_there = place.base().join(folder).is_dir();
    // The lock that those programs forget when they refuse something is a folder too; and what nothing was
    // written to need not be there.
    let is_meant = if Path::new(folder).extension().is_some_and(|it| it == "lock") {
        !is_there
    } else {
        is_there || folder == "."
    };
    ensure!(
        is_meant,
        "{folder} is {}there",
        if is_there { "" } else { "not " }
    );
    Ok(())
}

/// Whether a value says the same: any time stands for `<TS>`, a number for its text, and what a task waits
/// for is under both names.
fn same(expected: &Value, found: &Value, project: &Path) -> Result<()> {
    match (expected, found) {
        (Value::Object(expected), Value::Object(found)) => {
            for (name, value) in expected {
                same(
                    value,
                    found.get(name).with_context(|| format!("no {name}"))?,
                    project,
                )
                .context(name.clone())?;
            }
            for (name, value) in found
                .iter()
                .filter(|(name, _)| !expected.contains_key(*name))
            {
                ensure!(
                    name == "blockedBy" && found.get("blocked_by") == Some(value),
                    "{name}: {value}"
                );
            }
            Ok(())
        }
        (Value::Array(expected), Value::Array(found)) => {
            ensure!(expected.len() == found.len(), "{found:?} for {expected:?}");
            expected
                .iter()
                .zip(found)
                .try_for_each(|(expected, found)| same(expected, found, project))
        }
        (Value::String(text), Value::String(found)) if text == "<TS>" => {
            ensure!(
                Timestamp::parse(found).is_some_and(|time| time.to_string() == *found),
                "{found} is no time"
            );
            Ok(())
        }
        (Value::String(text), Value::String(found)) if text == "$TMP/cwd" => {
            ensure!(Path::new(found) == project, "{found}");
            Ok(())
        }
        (Value::String(text), Value::Number(found)) if *text == found.to_string() => Ok(()),
        _ => {
            ensure!(expected == found, "{found} for {expected}");
            Ok(())
        }
    }
}

#[test]
fn every_case_is_met_or_is_a_fault_that_is_not_copied() {
    let vectors: Value = serde_json::from_str(VECTORS).unwrap();
    let cases: Vec<&Value> = vectors["cases"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|case| case.is_object())
        .collect();
    let ids: Vec<&str> = cases
        .iter()
        .filter_map(|case| case["id"].as_str())
        .collect();
    let named = FAULTS
        .iter()
        .map(|(id, _, _)| *id)
        .chain(ELSEWHERE.iter().map(|(id, _)| *id));
    let unknown: Vec<&str> = named.filter(|id| !ids.contains(id)).collect();
    assert!(unknown.is_empty(), "no such case: {unknown:?}");

    let (mut met, mut wrong) = (0, Vec::new());
    for case in cases {
        let id = text(case, "id").unwrap();
        if ELSEWHERE.iter().any(|(known, _)| *known == id) {
            continue;
        }
        let played = play(case).unwrap_or_else(|error| panic!("{id}: {error:#}"));
        let result = match FAULTS.iter().find(|(known, _, _)| *known == id) {
            Some((_, _, does)) => does(&played),
            None => holds(case, &played),
        };
        match result {
            Ok(()) => met += 1,
            Err(error) => wrong.push(format!("{id} ({}): {error:#}", case["title"])),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(met > 40, "only {met} cases were played");
}
