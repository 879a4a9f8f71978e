//! The summaries of real test runners, recorded, against what their projects are known to hold.
//!
//! `runners/index.json` names for each file the runner, its version, the command, and the numbers
//! as they were counted in the tests' own source. Where a filter was given, `skipped` is what the
//! runner itself calls so: some of them count what was filtered out there.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::collections::BTreeSet;
use std::path::Path;

use omo_core::check::test_report::{TestOutcome, TestReport};
use omo_core::check::test_runner::TestOutputReader;
use serde_json::Value;

fn recorded() -> Vec<Value> {
    serde_json::from_str(include_str!("runners/index.json")).unwrap()
}

fn report(output: &[u8]) -> TestReport {
    let mut reader = TestOutputReader::default();
    output.chunks(4_096).for_each(|chunk| reader.read(chunk));
    reader.report()
}

fn counts(output: &[u8]) -> Option<(u64, u64, u64)> {
    report(output)
        .counts
        .map(|counts| (counts.run, counts.failed, counts.skipped))
}

/// Names that are all there say the same as the summary.
#[test]
fn the_names_of_a_recorded_run_add_up_to_its_counts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runners");
    let (mut wrong, mut whole) = (Vec::new(), BTreeSet::new());
    for entry in recorded() {
        let file = entry["file"].as_str().unwrap();
        let report = report(&std::fs::read(folder.join(file)).unwrap());
        let count = |outcome| report.iter().filter(|(_, it)| *it == outcome).count() as u64;
        let (passed, failed) = (count(TestOutcome::Passed), count(TestOutcome::Failed));
        let counts = report.counts.unwrap();
        if failed > counts.failed || passed > counts.run - counts.failed {
            wrong.push(format!(
                "{file}: {counts} counted; {passed} passed and {failed} failed by name: {report:?}"
            ));
        }
        if passed > 0 && passed + failed == counts.run {
            whole.insert(entry["runner"].as_str().unwrap().to_owned());
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    let runners = [
        "cargo", "nextest", "pytest", "unittest", "jest", "vitest", "node", "go",
    ];
    assert_eq!(
        whole,
        runners.map(str::to_owned).into(),
        "those that name all tests in one recorded form at least"
    );
}

#[test]
fn every_recorded_run_is_read_as_it_was() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/runners");
    let mut wrong = Vec::new();
    for entry in recorded() {
        let file = entry["file"].as_str().unwrap();
        let number = |name: &str| entry[name].as_u64().unwrap();
        let expected = (number("run"), number("failed"), number("skipped"));
        let read = counts(&std::fs::read(folder.join(file)).unwrap());
        if read != Some(expected) {
            wrong.push(format!("{file}: {expected:?} expected, {read:?} read"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn every_runner_is_there_in_several_shapes_and_coloured_where_it_has_colours() {
    for runner in [
        "cargo", "nextest", "pytest", "unittest", "jest", "vitest", "node", "go",
    ] {
        let of_it: Vec<Value> = recorded()
            .into_iter()
            .filter(|entry| entry["runner"] == runner)
            .collect();
        assert!(of_it.len() >= 8, "{runner}: only {}", of_it.len());
        let has = |test: &dyn Fn(&Value) -> bool| of_it.iter().any(test);
        assert!(
            has(&|entry| entry["exit"] != 0) && has(&|entry| entry["exit"] == 0),
            "{runner}"
        );
        assert!(
            has(&|entry| entry["run"] == 0),
            "{runner}: no run of nothing"
        );
        let colours = has(&|entry| {
            let path = Path::new(env!("CARGO_MANIFEST_DIR"))
                .join("tests/runners")
                .join(entry["file"].as_str().unwrap());
            std::fs::read(path).unwrap().contains(&0x1b)
        });
        // Neither Go nor this Python has any.
        assert!(
            colours || matches!(runner, "go" | "unittest"),
            "{runner} is nowhere coloured"
        );
    }
}

proptest::proptest! {
    #[test]
    fn any_output_is_read_and_the_same_in_any_pieces(output in ".{0,400}", lines in proptest::collection::vec(0..LINES.len(), 0..12), size in 1..40_usize) {
        let chosen = lines.iter().filter_map(|line| LINES.get(*line).copied());
        let all = std::iter::once(output.as_str()).chain(chosen).collect::<Vec<_>>().join("\n");
        let mut whole = TestOutputReader::default();
        whole.read(all.as_bytes());
        let mut pieces = TestOutputReader::default();
        all.as_bytes().chunks(size).for_each(|chunk| pieces.read(chunk));
        proptest::prop_assert_eq!(whole.report(), pieces.report());
    }
}

/// Lines that some reader looks for, to be put together in any order.
const LINES: [&str; 16] = [
    "running 3 tests",
    "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s",
    "    Starting 3 tests across 1 binary",
    "     Summary [   0.005s] 3 tests run: 3 passed, 0 skipped",
    "============================= test session starts ==============================",
    "========================= 1 failed, 2 passed in 0.01s =========================",
    "----------------------------------------------------------------------",
    "Ran 3 tests in 0.001s",
    "FAILED (failures=1, skipped=1)",
    "Test Suites: 1 passed, 1 total",
    "Tests:       1 failed, 2 passed, 3 total",
    "# tests 3",
    "# pass 3",
    "# duration_ms 3.5",
    "=== RUN   TestX",
    "--- PASS: TestX (0.00s)",
];
