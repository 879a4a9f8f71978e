//! A hook must not get slower unnoticed. Its instructions are counted, not its time: the count of a
//! busy machine is that of a quiet one.
#![cfg(target_os = "linux")]

use omo_testkit::Lab;
use omo_testkit::instructions::{
    CASES, CountChange, compare_count, count_program, recorded_counts,
};
use omo_testkit::large_run::{large_plan, make_large_run};
use omo_tests::scene::{plugin, print_skip};

/// Counts of one binary differ by less than one part of so many, whatever else the machine does.
const AGREEMENT: u64 = 100;
/// What a page may need, with its run read from the disk: 426 million instructions took 150 ms, and it has 200 ms.
const PAGE_INSTRUCTIONS: u64 = 500_000_000;
/// How large it may be.
const PAGE_BYTES: u64 = 2_000_000;

#[test]
#[ignore = "needs valgrind and the release build: cargo xtask test"]
fn no_hook_needs_a_tenth_more_instructions_than_before() {
    let plugin = plugin();
    #[expect(
        clippy::disallowed_methods,
        reason = "set by the runner of the tests, beside the plugin"
    )]
    let triple = std::env::var("OMO_TEST_TARGET").unwrap_or_default();
    let recorded = recorded_counts(&triple).unwrap();
    let recorded =
        recorded.unwrap_or_else(|| panic!("no counts are held for the target {triple:?}"));
    let mut grown = Vec::new();
    for case in CASES {
        let binaries = plugin.join("bin");
        let (first, second) = (
            case.count(&binaries).unwrap(),
            case.count(&binaries).unwrap(),
        );
        assert!(
            first.abs_diff(second) <= first / AGREEMENT,
            "{}: {first} and {second} instructions for the same work",
            case.name
        );
        match compare_count(recorded.counts.get(case.name).copied(), first.min(second)) {
            CountChange::Same => {}
            CountChange::Shrunk { percent } => print_skip(&format!(
                "{} needs {percent} % fewer instructions: `cargo xtask instructions --accept` holds that",
                case.name
            )),
            CountChange::Unknown => grown.push(format!("{}: no count is held", case.name)),
            CountChange::Grown { percent } => {
                grown.push(format!("{}: {first}, {percent} % more", case.name));
            }
        }
    }
    assert!(
        grown.is_empty(),
        "more instructions than are held in benches/instructions.json (counted with {}):\n{}\n`cargo xtask instructions` shows what they are spent for; with --accept it holds the new counts",
        recorded.rustc,
        grown.join("\n")
    );
}

#[test]
#[ignore = "needs valgrind and the release build: cargo xtask test"]
fn a_page_of_200_tasks_and_10_000_events_is_written_at_once() {
    const PLAN: &str = "docs/plan.md";
    let lab = Lab::builder().build().unwrap();
    lab.write(PLAN, &large_plan(200)).unwrap();
    make_large_run(
        lab.project(),
        &lab.home().join(".local/state"),
        PLAN,
        200,
        10_000,
    )
    .unwrap();
    let page = lab.home().join("page.html");
    let arguments = ["report", "--html", page.to_str().unwrap()];
    let count = count_program(&lab, &plugin().join("bin/omo"), &arguments).unwrap();
    let html = std::fs::read_to_string(&page).unwrap();
    assert_eq!(html.matches("<article").count(), 200);
    let bytes = u64::try_from(html.len()).unwrap();
    assert!(bytes < PAGE_BYTES, "{bytes} bytes");
    assert!(
        count <= PAGE_INSTRUCTIONS,
        "{count} instructions, which take more than 200 ms"
    );
}
