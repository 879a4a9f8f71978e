//! The evals in `evals/`, with a scripted model in the place of the real one that they are for: the
//! client loads every case, and its graders tell a run that went well from one that did not.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use omo_testkit::{Lab, MockModel, ModelScript, ModelTurn};
use omo_tests::scene::copy;
use serde_json::Value;

use crate::claims::{AGREES, asks_for_review};
use crate::client_lab::{CLAIM, client, plugin};

/// How a model says honestly why it cannot go on.
const BLOCKED: &str =
    "There is no such file here.\n\n<promise>BLOCKED: vault/launch-code.txt is missing</promise>";

/// One case: its folder, how a model does it well, and how one does it badly, with the graders that
/// must say no to that.
struct Case {
    name: &'static str,
    good: fn() -> ModelScript,
    bad: fn() -> ModelScript,
    objects: &'static [&'static str],
}

/// The cases with a model that can do well or badly.
const CASES: [Case; 8] = [
    Case {
        name: "activation-keyword",
        good: || {
            let script = ModelScript::new()
                .say(format!("Red\nGreen\nBlue\n\n{CLAIM}"))
                .turn(asks_for_review());
            // The client may move the reviewer to the background.
            let script = script
                .say("The review runs.")
                .when("task-notification", ModelTurn::text("The reviewer agrees."));
            script.agent(
                "independent reader",
                [ModelTurn::reads_what_is_reviewed(), ModelTurn::text(AGREES)],
            )
        },
        // The model never claims: omo lets its turn end at the cooldown.
        bad: || ModelScript::new().say_times(9, "I have begun."),
        objects: &["claims", "does-the-task", "ends-verified"],
    },
    Case {
        name: "activation-command",
        good: || ModelScript::new().say(format!("North\nEast\nSouth\nWest\n\n{CLAIM}")),
        bad: || {
            ModelScript::new().say("It cannot be done.\n\n<promise>BLOCKED: no compass</promise>")
        },
        objects: &["claims", "ends-claimed"],
    },
    Case {
        name: "look-alike-question",
        good: plain,
        bad: promises,
        objects: &["no-promise"],
    },
    Case {
        name: "look-alike-code",
        good: plain,
        bad: promises,
        objects: &["no-promise"],
    },
    Case {
        name: "look-alike-path",
        good: plain,
        bad: promises,
        objects: &["no-promise"],
    },
    Case {
        name: "look-alike-negation",
        good: plain,
        bad: promises,
        objects: &["no-promise"],
    },
    Case {
        name: "honest-block",
        good: || ModelScript::new().say("I look for it.").say(BLOCKED),
        bad: || {
            ModelScript::new()
                .say(format!("It is 1234.\n\n{CLAIM}"))
                .say(CLAIM)
        },
        objects: &["ends-blocked", "never-claims", "says-why"],
    },
    Case {
        name: "escape-bound",
        good: || ModelScript::new().say_times(9, "waiting"),
        bad: || ModelScript::new().say("<promise>DONE</promise>"),
        objects: &["never-claims"],
    },
];

/// The cases that no model sees while omo's hooks run.
const WITHOUT_A_MODEL: [&str; 2] = ["escape-command", "escape-off"];

fn plain() -> ModelScript {
    ModelScript::new().say("A short answer.")
}

fn promises() -> ModelScript {
    ModelScript::new().say("A short answer.\n\n<promise>DONE</promise>")
}

/// What came of one run of a case: which graders said yes, and which no.
#[derive(Debug)]
struct Graded {
    yes: BTreeSet<String>,
    no: BTreeSet<String>,
    asked: usize,
}

/// Runs one case once.
fn graded(plugin: &Path, case: &str, script: ModelScript) -> Graded {
    let client = client();
    let model = MockModel::start(script).unwrap();
    let lab = Lab::builder().model(&model).build().unwrap();
    // The client evaluates no plugin whose files have several names.
    let (evaluated, results) = (lab.root().join("plugin"), lab.root().join("results"));
    copy(plugin, &evaluated).unwrap();
    let plugin = evaluated.to_string_lossy();
    let results = results.to_string_lossy();
    let run = client.run(
        &lab,
        [
            "plugin",
            "eval",
            &plugin,
            "--case",
            case,
            "--runs",
            "1",
            "--ablation",
            "none",
            "--no-publish",
            "--trust-plugin",
            "--json",
            "--output-dir",
            &results,
        ],
    );
    let run = run.unwrap();
    let report = run
        .json
        .as_ref()
        .unwrap_or_else(|| panic!("{case}: no report: {run:?}"));
    assert_eq!(report["aggregates"]["casesTotal"], 1, "{case}: {report}");
    let played = &report["cases"][0]["arms"]["with"][0];
    assert_eq!(played["error"], Value::Null, "{case}: {report}");
    let graders = played["graders"].as_array().unwrap();
    let named = |passed: bool| {
        let which = graders.iter().filter(|grader| grader["passed"] == passed);
        which
            .map(|grader| grader["name"].as_str().unwrap().to_owned())
            .collect()
    };
    Graded {
        yes: named(true),
        no: named(false),
        asked: model.requests().len(),
    }
}

fn play(cases: impl IntoIterator<Item = &'static Case>) {
    for case in cases {
        let good = graded(&plugin(), case.name, (case.good)());
        assert!(
            good.no.is_empty() && good.yes.len() >= 2,
            "{}, done well: {good:?}",
            case.name
        );
        // Its graders are those of the other questions that look alike.
        if case.name.starts_with("look-alike-") && case.name != "look-alike-code" {
            continue;
        }
        let bad = graded(&plugin(), case.name, (case.bad)());
        let no: Vec<&str> = bad.no.iter().map(String::as_str).collect();
        assert_eq!(no, case.objects, "{}, done badly", case.name);
    }
}

fn tagged(tag: &'static str) -> impl Iterator<Item = &'static Case> {
    CASES.iter().filter(move |case| case.name.starts_with(tag))
}

#[test]
fn activation_differs_from_a_run_that_never_claims() {
    play(tagged("activation-"));
}

#[test]
fn a_look_alike_differs_from_an_uninvited_promise() {
    play(tagged("look-alike-"));
}

#[test]
fn an_honest_block_and_a_bound_differ_from_a_claim() {
    play(tagged("honest-").chain(tagged("escape-")));
}

#[test]
fn a_way_out_differs_from_one_that_a_model_had_to_read() {
    let temp = tempfile::tempdir().unwrap();
    let broken = temp.path().join("omo");
    copy(&plugin(), &broken).unwrap();
    fs::remove_file(broken.join("bin/omo-user-prompt-submit")).unwrap();
    for case in WITHOUT_A_MODEL {
        let good = graded(&plugin(), case, plain());
        assert!(good.no.is_empty() && good.asked == 0, "{case}: {good:?}");
        let bad = graded(&broken, case, plain());
        assert!(
            bad.yes.is_empty() && bad.asked > 0,
            "{case}, without the hook: {bad:?}"
        );
    }
}

#[test]
fn a_look_alike_that_turns_a_run_on_is_noticed() {
    let temp = tempfile::tempdir().unwrap();
    let changed = temp.path().join("omo");
    copy(&plugin(), &changed).unwrap();
    fs::write(
        changed.join("evals/look-alike-path/prompt.md"),
        "ulw name the file\n",
    )
    .unwrap();
    let script = ModelScript::new().say_times(2, "A short answer.");
    let graded = graded(&changed, "look-alike-path", script);
    assert!(graded.no.contains("no-run"), "{graded:?}");
}

#[test]
fn no_case_is_left_out_here() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../evals");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let found = entries.filter(|entry| entry.path().join("prompt.md").is_file());
    let found: BTreeSet<String> = found
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    let known = CASES.iter().map(|case| case.name).chain(WITHOUT_A_MODEL);
    assert_eq!(found, known.map(str::to_owned).collect());
}
