//! The batches of plans: results of others for many of them, and properties of all.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test's helpers fail as a test does"
)]

use std::collections::{BTreeMap, HashMap, HashSet};

use omo_plan::batches::{PlanBatches, compute_batches, next_batches};
use proptest::prelude::*;
use serde_json::{Value, json};

fn vectors(file: &str) -> Value {
    let path = format!("{}/tests/vectors/plans/{file}", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn number(value: &Value) -> usize {
    usize::try_from(value.as_u64().unwrap()).unwrap()
}

#[test]
fn every_recorded_plan_has_its_batches() {
    let mut wrong = Vec::new();
    let all = vectors("batches-compute.json");
    let all = all.as_array().unwrap();
    assert!(all.len() > 100, "{}", all.len());
    for vector in all {
        let plan = vector["plan"].as_str().unwrap();
        let found = compute_batches(
            plan.as_bytes(),
            number(&vector["k"]),
            number(&vector["batch_size"]),
        );
        let mut printed = serde_json::to_value(&found).unwrap();
        let printed = printed.as_object_mut().unwrap();
        printed.remove("diagnostics");
        // A dash behind a task's number, a dependency without the word, and another name for the label are read here,
        // where others drop the text without a word.
        let id = vector["id"].as_str().unwrap();
        if ["heading-007", "dep_form-009", "dep_form-033"].contains(&id) {
            let edges = found.tasks.iter().any(|task| task.depends_on == ["1"]);
            assert!(found.total == 7 || edges, "{id}");
            continue;
        }
        let strict = vector["strict"].as_object().unwrap();
        let is_right = if strict.contains_key("error") {
            found.has_errors() && found.batches.is_empty() && found.hard_stops.is_empty()
        } else {
            // Equal as text too: the order of the keys of `dependents` is that of the file.
            let order = |map: &serde_json::Map<String, Value>| map["dependents"].to_string();
            printed == strict && order(printed) == order(strict)
        };
        if !is_right {
            wrong.push(format!("{}: {printed:?}\n  {strict:?}", vector["id"]));
        }
    }
    assert!(wrong.is_empty(), "{}\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn keys_are_printed_in_the_order_that_others_read() {
    let found = compute_batches(
        b"### Task 10: a\n### Task 9: b\n**Depends on:** Task 10\n",
        3,
        5,
    );
    assert_eq!(
        serde_json::to_string(&found).unwrap(),
        r#"{"batch_size":5,"total":2,"batches":[["10","9"]],"dependents":{"10":1,"9":0},"hard_stops":[0],"#.to_owned()
            + r#""tasks":[{"id":"10","depends_on":[]},{"id":"9","depends_on":["10"]}],"k":3,"diagnostics":[]}"#
    );
}

#[test]
fn the_next_batches_end_at_the_next_hard_stop() {
    let cases = vectors("batches-cases.json");
    for case in cases["next_batches"].as_array().unwrap() {
        let batches: Vec<Vec<String>> = serde_json::from_value(case["batches"].clone()).unwrap();
        let stops: Vec<usize> = serde_json::from_value(case["hard_stops"].clone()).unwrap();
        let mut ended: HashSet<String> = case["completed"]
            .as_object()
            .unwrap()
            .keys()
            .cloned()
            .collect();
        // A task without a contract is recorded as failed before anything is handed out.
        let without: Vec<String> =
            serde_json::from_value(case["contract_failed"].clone()).unwrap_or_default();
        ended.extend(without);
        let next = next_batches(&batches, &stops, |id| ended.contains(id));
        if case["title"] == "batch 0 wholly contract-failed" {
            // An empty rest of a batch is skipped.
            assert_eq!(next, Some(vec![vec!["3", "4"], vec!["5", "6"], vec!["7"]]));
        } else {
            assert_eq!(json!(next), case["next_batches"], "{}", case["title"]);
        }
    }
}

fn codes(plan: &str) -> Vec<(&'static str, usize)> {
    let found = compute_batches(plan.as_bytes(), 3, 5);
    found
        .diagnostics
        .iter()
        .map(|found| (found.code.word(), found.line))
        .collect()
}

fn ids(plan: &str) -> Vec<String> {
    compute_batches(plan.as_bytes(), 3, 5)
        .tasks
        .into_iter()
        .map(|task| task.id.to_owned())
        .collect()
}

#[test]
fn a_task_is_known_by_its_heading() {
    for (heading, id) in [
        ("### Task 6: x", "6"),
        ("###  Task  6: x", "6"),
        ("###\tTask\t6\t: x", "6"),
        ("### Task 6:", "6"),
        ("### Task 6:x", "6"),
        ("### Task 006: x", "6"),
        ("### Task 0: x", "0"),
        ("### Task 6-tests: x", "6-tests"),
        ("### Task 6-impl : x", "6-impl"),
        ("### Task 6: x ###", "6"),
        ("### Task 6: ⚠️ x", "6"),
        ("<!-- section: task-6 -->\n### Task 6: x", "6"),
        ("text\n### Task 6: x", "6"),
        ("\u{feff}### Task 6: x", "6"),
        ("### Task 6 - x", "6"),
        ("### Task 6 — x", "6"),
        ("### Task 6-tests – x", "6-tests"),
        ("## Task 6: x", "6"),
    ] {
        assert_eq!(
            (ids(heading), codes(heading)),
            (vec![id.to_owned()], vec![]),
            "{heading:?}"
        );
    }
}

#[test]
fn what_only_looks_like_a_task_is_reported() {
    for heading in [
        "### Task 6： x",
        "### Task 6",
        "### TASK 6: x",
        "### task 6: x",
        "#### Task 6: x",
        "   ### Task 6: x",
        "### ✅ Task 6: x",
        "### **Task 6:** x",
        "### [Task 6: x](y)",
        "### Task #6: x",
        "### Task ٦: x",
        "### Task 6.1: x",
        "### Task 6a: x",
        "### Task6: x",
        "### Task 6- : x",
        "<!--\n### Task 6: x\n-->",
    ] {
        let plan = format!("### Task 1: y\n\n{heading}\n");
        assert_eq!(ids(&plan), ["1"], "{heading}");
        let found = codes(&plan);
        assert_eq!(
            found.iter().map(|found| found.0).collect::<Vec<_>>(),
            ["looks_like_a_step_but_is_not"],
            "{heading}"
        );
    }
    for other in [
        "### Tasks",
        "### Task Contract",
        "```\n### Task 6: x\n```",
        "> ### Task 6: x",
        "- ### Task 6: x",
        "text ### Task 6: x",
    ] {
        let plan = format!("### Task 1: y\n\n{other}\n");
        assert_eq!(
            (ids(&plan), codes(&plan)),
            (vec!["1".to_owned()], vec![]),
            "{other}"
        );
    }
}

#[test]
fn a_marker_counts_in_its_task_alone() {
    let stops = |marker: &str| {
        let plan = format!("### Task 1: a\n### Task 2: b\n{marker}\n### Task 3: c\n");
        let found = compute_batches(plan.as_bytes(), 3, 1);
        (
            found.hard_stops,
            found
                .diagnostics
                .iter()
                .map(|found| found.code.word())
                .collect::<Vec<_>>(),
        )
    };
    for marker in [
        "<!-- checkpoint -->",
        "<!--checkpoint-->",
        "  <!--\tcheckpoint  -->",
        "- x <!-- checkpoint --> y",
        "> <!-- checkpoint -->",
        "1. x\n\n   <!-- checkpoint -->",
    ] {
        assert_eq!(stops(marker), (vec![0, 1], vec![]), "{marker}");
    }
    for marker in [
        "<!--\ncheckpoint\n-->",
        "<!-- CHECKPOINT -->",
        "<!-- checkpoint: look -->",
        "<!-- check-point -->",
    ] {
        assert_eq!(
            stops(marker),
            (vec![0], vec!["looks_like_a_marker_but_is_not"]),
            "{marker}"
        );
    }
    for other in [
        "```\n<!-- checkpoint -->\n```",
        "<!-- no-split: x -->",
        "checkpoint",
        "<!-- checkpoint",
        "<!-->",
    ] {
        assert_eq!(stops(other).0, [0], "{other}");
    }
    assert_eq!(
        codes("<!-- checkpoint -->\n### Task 1: a\n"),
        [("marker_outside_task", 1)]
    );
    assert_eq!(
        codes("### Task 1: a\n## Notes\n<!-- checkpoint -->\n"),
        [("marker_outside_task", 3)]
    );
    let found = compute_batches(b"### Task 1: a <!-- checkpoint -->\n### Task 2: b\n", 3, 1);
    assert_eq!(found.hard_stops, [0]);
}

#[test]
fn what_has_no_order_has_no_batches() {
    for (plan, code, line) in [
        (
            "### Task 1: a\n**Depends on:** Task 2\n### Task 2: b\n**Depends on:** Task 1\n",
            "cycle",
            1,
        ),
        (
            "### Task 2-tests: a\n**Depends on:** Task 2-impl\n### Task 2-impl: b\n",
            "cycle",
            1,
        ),
        (
            "### Task 1: a\n**Depends on:** Task 3\n### Task 2-tests: a\n### Task 3: b\n**Depends on:** Task 2-tests\n### Task 2-impl: c\n**Depends on:** Task 1\n",
            "cycle",
            1,
        ),
        ("### Task 1: a\n### Task 01: b\n", "duplicate_id", 2),
    ] {
        let found = compute_batches(plan.as_bytes(), 3, 5);
        assert!(
            found.batches.is_empty() && found.hard_stops.is_empty() && found.has_errors(),
            "{plan}"
        );
        assert_eq!(codes(plan), [(code, line)], "{plan}");
    }
    let words = compute_batches(b"### Task 1: a\n**Depends on:** Task 2\n### Task 2: b\n**Depends on:** Task 3\n### Task 3: c\n**Depends on:** Task 2\n", 3, 5);
    assert_eq!(
        words.diagnostics[0].text,
        "tasks depend on each other in a circle: 2 → 3 → 2"
    );
    assert_eq!(codes(""), [("no_units", 1)]);
    assert_eq!(codes("### Task 1: a\n```\nb\n"), [("unclosed_fence", 2)]);
    let slip =
        "### Task 1: a\n1. x\n   ```sh\n   y\n```\n### Task 2: b\n1. x\n   ```sh\n   y\n```\n";
    assert_eq!(
        (ids(slip), codes(slip)),
        (
            vec!["1".to_owned()],
            vec![("fence_ends_with_list", 3), ("unclosed_fence", 6)]
        )
    );
    assert_eq!(
        codes("### Task 1: a\n1. x\n   ```sh\n   y\n\nz\n### Task 2: b\n"),
        [("fence_ends_with_list", 3)]
    );
    let bad = compute_batches(b"### Task 1: a\n\xff\n", 3, 5);
    assert_eq!(
        (
            bad.diagnostics[0].code.word(),
            bad.diagnostics[0].span.clone(),
            bad.diagnostics[0].line
        ),
        ("not_utf8", 14..14, 2)
    );
}

#[test]
fn hostile_plans_are_answers() {
    let heading = |count: usize| {
        (0..count)
            .map(|id| format!("### Task {id}: x\n"))
            .collect::<Vec<_>>()
            .concat()
    };
    let all = format!("**Depends on:** Tasks 0-{}\n", 9_999);
    for plan in [
        heading(100_000),
        heading(100_000).replace("x\n", "x\n**Depends on:** Task 99999\n"),
        heading(10_000).replace("x\n", &format!("x\n{all}")),
        "### Task 1: x\n".repeat(100_000),
        "- Depends on: x\n".repeat(600_000),
        format!(
            "### Task 1: x\n{}",
            "- y **Depends on:** z\n".repeat(400_000)
        ),
        format!(
            "### Task 1: x\n{}",
            "**Depends on:** Task 1 ".repeat(400_000)
        ),
        format!("### Task 1: x\n{}", "depends on".repeat(1_000_000)),
        "<!-- checkpoint -->".repeat(500_000),
        "<!-- ".repeat(2_000_000),
        "<!-- checkpoint\n".repeat(600_000),
        "> ".repeat(5_000_000),
        "- ".repeat(1_000_000),
        "* a\n".repeat(1_000_000),
        "```\n".repeat(2_000_001),
        "[".repeat(1_000_000),
        "*a **b ".repeat(1_000_000),
        "\0".repeat(10_000_000),
        "`".repeat(5_000_000),
        "####### ".repeat(1_000_000),
        "### Task 1: ".repeat(800_000),
    ] {
        let found = compute_batches(plan.as_bytes(), 3, 5);
        assert!(found.diagnostics.len() < 20_000, "{}", &plan[..40]);
    }
    assert!(compute_batches(&vec![b'x'; 17 * 1024 * 1024], 3, 5).has_errors());
}

/// The numbers of some tasks, `true` for a pair, the order of the halves, and the needs of each.
fn plans() -> impl Strategy<Value = String> {
    let task = (
        0_u8..3,
        any::<bool>(),
        proptest::collection::vec(0_usize..30, 0..3),
        0_u8..12,
    );
    (proptest::collection::vec(task, 1..30), any::<u64>()).prop_map(|(tasks, seed)| {
        let mut parts = Vec::new();
        for (index, (kind, is_late, needs, marked)) in tasks.iter().enumerate() {
            let needs: Vec<String> = needs
                .iter()
                .filter(|need| **need < index)
                .map(|need| format!("Task {need}"))
                .collect();
            let needs = if needs.is_empty() {
                "None".to_owned()
            } else {
                needs.join(", ")
            };
            let marker = if *marked == 0 {
                "<!-- checkpoint -->\n"
            } else {
                ""
            };
            let part = |half: &str| {
                format!("### Task {index}{half}: x\n\n**Depends on:** {needs}\n{marker}\n")
            };
            match (kind, is_late) {
                (0, false) => parts.extend([part("-tests"), part("-impl")]),
                (0, true) => parts.extend([part("-impl"), part("-tests")]),
                _ => parts.push(part("")),
            }
        }
        // Some other order of the file, always the same for a seed.
        let mut keyed: Vec<(u64, String)> = parts
            .into_iter()
            .enumerate()
            .map(|(index, part)| {
                (
                    (index as u64 + 1).wrapping_mul(seed | 1).rotate_left(17) % 1000,
                    part,
                )
            })
            .collect();
        keyed.sort_by_key(|(key, _)| *key);
        keyed.into_iter().map(|(_, part)| part).collect()
    })
}

fn check(found: &PlanBatches<'_>, size: usize) {
    let order: Vec<&str> = found.batches.iter().flatten().copied().collect();
    let place: HashMap<&str, usize> = order
        .iter()
        .enumerate()
        .map(|(place, id)| (*id, place))
        .collect();
    assert_eq!(
        (place.len(), order.len()),
        (found.total, found.total),
        "every id stands once"
    );
    let batch_of: BTreeMap<&str, usize> = found
        .batches
        .iter()
        .enumerate()
        .flat_map(|(index, batch)| batch.iter().map(move |id| (*id, index)))
        .collect();
    for task in &found.tasks {
        for need in &task.depends_on {
            assert!(place[need] < place[task.id], "{} before {need}", task.id);
        }
        if let Some(number) = task.id.strip_suffix("-tests") {
            let other = format!("{number}-impl");
            assert_eq!(
                place[task.id] + 1,
                place[other.as_str()],
                "{} and {other}",
                task.id
            );
            assert_eq!(batch_of[task.id], batch_of[other.as_str()]);
        }
    }
    for batch in &found.batches {
        let is_pair = batch.len() == 2 && batch[0].ends_with("-tests");
        assert!(
            !batch.is_empty() && (batch.len() <= size || is_pair),
            "{batch:?}"
        );
    }
    assert_eq!(found.hard_stops.first(), Some(&0));
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_order_keeps_what_it_promises(plan in plans(), size in 1_usize..7, k in 1_usize..5) {
        let found = compute_batches(plan.as_bytes(), k, size);
        prop_assert!(!found.has_errors(), "{:?}", found.diagnostics);
        check(&found, size);
    }

    #[test]
    fn every_text_is_an_answer(plan in "(### Task [0-9]{1,2}(-tests|-impl)?: x\n|\\*\\*Depends on:\\*\\* Tasks? [0-9][-,] ?[0-9]\n|```\n|<!-- |-->|\\PC{0,9}|\r|\n){0,40}") {
        let found = compute_batches(plan.as_bytes(), 3, 5);
        for found in &found.diagnostics {
            prop_assert!(plan.get(found.span.clone()).is_some(), "{found:?}");
        }
        prop_assert!(found.batches.is_empty() || found.batches.concat().len() == found.total);
    }
}
