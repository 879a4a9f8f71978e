//! No self-certification: whatever is typed in whatever order, nothing has passed without a check of
//! its own that omo saw green.

use std::collections::BTreeSet;

use anyhow::{Context, Result, ensure};
use omo_tests::folder_snapshot::Snapshot;
use omo_tests::plan_project::{Ground, two_tasks};
use serde_json::{Value, json};

/// What may be typed. `RIGHT` stands for the ticket that was given last.
const VERBS: [&[&str]; 13] = [
    &["agent", "start", "1"],
    &["agent", "start", "2"],
    &["agent", "done", "--ticket", "RIGHT", "--note", "PASSED"],
    &["agent", "done", "--ticket", "wrong"],
    &["agent", "fail", "--ticket", "RIGHT"],
    &["agent", "fail", "--lost", "1"],
    &["run", "skip", "1"],
    &["run", "skip", "2"],
    &["run", "retry", "1"],
    &["run", "cancel"],
    &["run", "resume"],
    &["run", "import"],
    &["agent", "next"],
];

/// At most so many are typed one after the other.
const LENGTH: usize = 4;

/// Where a sequence has led to.
struct Place {
    typed: Vec<String>,
    files: Snapshot,
    ticket: String,
    stands: Value,
}

/// What of a run decides what may happen next; times and ids do not.
fn what_counts(report: &Value) -> Value {
    let tasks = report["tasks"].as_array().into_iter().flatten();
    let tasks: Vec<Value> = tasks.map(|task| json!([task["standing"], task["attempts"], task["evidence"]])).collect();
    json!([tasks, report["result"], report["questions"].as_array().map(Vec::len)])
}

/// Nothing says that anything is done: not the ledger, and not the files that are made from it.
fn nothing_passed(ground: &Ground, report: &Value) -> Result<()> {
    ensure!(report["counts"]["passed"] == 0 && report["counts"]["claimed"] == 0, "{report}");
    ensure!(report["result"] != "complete", "{report}");
    let checkpoint = std::fs::read_to_string(ground.lab().project().join(omo_tests::plan_project::CHECKPOINT))?;
    ensure!(!checkpoint.contains("\"done\"") && !checkpoint.contains("\"complete\""), "{checkpoint}");
    Ok(())
}

/// Types one line at a place; gives where that leads to, if it changes anything.
fn types(ground: &Ground, from: &Place, verb: &[&str]) -> Result<Option<Place>> {
    from.files.restore()?;
    let words: Vec<&str> = verb.iter().map(|word| if *word == "RIGHT" { from.ticket.as_str() } else { word }).collect();
    let said = ground.omo_at_terminal(&words)?;
    let report = ground.report()?;
    nothing_passed(ground, &report)?;
    let stands = what_counts(&report);
    if stands == from.stands {
        return Ok(None);
    }
    let ticket = said.ticket().unwrap_or_else(|_| from.ticket.clone());
    let typed = from.typed.iter().cloned().chain([verb.join(" ")]).collect();
    Ok(Some(Place { typed, files: Snapshot::take(ground.lab().root())?, ticket, stands }))
}

/// Goes through all sequences whose last line is typed where nothing was before; gives how many places
/// they led to.
fn all(ground: &Ground) -> Result<usize> {
    let (files, stands) = (Snapshot::take(ground.lab().root())?, what_counts(&ground.report()?));
    let mut known = BTreeSet::from([stands.to_string()]);
    let start = Place { typed: Vec::new(), files, ticket: "none".to_owned(), stands };
    let mut places = vec![start];
    for _ in 0..LENGTH {
        let mut further = Vec::new();
        for place in &places {
            for verb in VERBS {
                let led = types(ground, place, verb).with_context(|| format!("{:?}, then {verb:?}", place.typed))?;
                // What may follow depends on where the run stands, not on how it came there.
                further.extend(led.filter(|place| known.insert(place.stands.to_string())));
            }
        }
        places = further;
    }
    Ok(known.len())
}

#[test]
#[ignore = "needs the built plugin: cargo xtask test"]
fn no_sequence_of_verbs_passes_what_no_check_has_proved() {
    let ground = Ground::new(&two_tasks()).unwrap();
    ground.open().unwrap();
    let places = all(&ground).unwrap();
    assert!(places > 15, "only {places} places were reached");
    // The same lines lead to the end once the work is there.
    let ground = Ground::new(&two_tasks()).unwrap();
    ground.open().unwrap();
    ground.pass("1", "one").unwrap();
    ground.pass("2", "two").unwrap();
    assert_eq!(ground.report().unwrap()["counts"]["passed"], 2);
}
