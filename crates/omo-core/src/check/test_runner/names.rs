//! Tests of the runners' readers: names and outcomes of tests in the output of each runner.

use super::*;
use crate::check::test_report::{MAX_TESTS, TestOutcome};

fn report(output: &[u8]) -> TestReport {
    let mut reader = TestOutputReader::default();
    reader.read(output);
    reader.report()
}

fn read(output: &str) -> Vec<(String, TestOutcome)> {
    report(output.as_bytes())
        .iter()
        .map(|(name, outcome)| (name.to_owned(), outcome))
        .collect()
}

fn expect(output: &str, expected: &[(&str, TestOutcome)]) {
    let expected: Vec<(String, TestOutcome)> = expected
        .iter()
        .map(|(name, it)| ((*name).to_owned(), *it))
        .collect();
    assert_eq!(read(output), expected, "{output}");
}

use TestOutcome::{Failed, Passed, Skipped};

#[test]
fn tests_of_cargo_are_named_with_their_program() {
    expect(
        "     Running unittests src/lib.rs (target/debug/deps/shop_cart-0f1e2d3c)\nrunning 3 tests\n\
         test cart::adds ... ok\ntest cart::removes ... FAILED\ntest cart::slow ... ignored, takes long\n\
         test result: FAILED. 1 passed; 1 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\
         \x20    Running tests/api.rs (target/debug/deps/api-00)\ntest panics - should panic ... ok\n\
         \x20  Doc-tests shop_cart\ntest src/lib.rs - add (line 12) ... ok\n",
        &[
            ("api::panics", Passed),
            ("shop_cart doc::src/lib.rs - add", Passed),
            ("shop_cart::cart::adds", Passed),
            ("shop_cart::cart::removes", Failed),
            ("shop_cart::cart::slow", Skipped),
        ],
    );
    expect(
        "        PASS [   0.005s] (1/2) shop::api adds\n        FAIL [   0.005s] shop::api removes\n",
        &[("shop::api::adds", Passed), ("shop::api::removes", Failed)],
    );
}

#[test]
fn tests_of_go_are_named_with_their_package() {
    expect(
        "=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\n=== RUN   TestSub\n=== RUN   TestSub/zero\n\
         --- FAIL: TestSub (0.00s)\n    --- FAIL: TestSub/zero (0.00s)\n=== RUN   TestNet\n--- SKIP: TestNet (0.00s)\n\
         FAIL\nFAIL\texample.org/a\t0.01s\n=== RUN   TestAdd\n--- PASS: TestAdd (0.00s)\nok  \texample.org/b\t0.01s\n",
        &[
            ("example.org/a.TestAdd", Passed),
            ("example.org/a.TestNet", Skipped),
            ("example.org/a.TestSub", Failed),
            ("example.org/a.TestSub/zero", Failed),
            ("example.org/b.TestAdd", Passed),
        ],
    );
    expect(
        "--- FAIL: TestSub (0.00s)\nFAIL\nFAIL\texample.org/a\t0.01s\n",
        &[("example.org/a.TestSub", Failed)],
    );
    expect(
        "{\"Action\":\"pass\",\"Package\":\"example.org/a\",\"Test\":\"TestAdd\",\"Elapsed\":0}\n",
        &[("example.org/a.TestAdd", Passed)],
    );
}

#[test]
fn tests_of_pytest_are_named_and_files_that_cannot_be_imported_are_none() {
    expect(
        "tests/test_a.py::test_one PASSED            [ 25%]\ntests/test_a.py::test_two[x y] FAILED   [ 50%]\n\
         tests/test_a.py::test_three SKIPPED (no network) [ 75%]\n=== short test summary info ===\n\
         PASSED tests/test_a.py::test_four\nFAILED tests/test_a.py::test_two[x y] - assert 1 == 2\n\
         ERROR tests/test_b.py - ImportError: cannot import name 'x'\nERROR tests/test_a.py::test_set_up - OSError\n",
        &[
            ("tests/test_a.py::test_four", Passed),
            ("tests/test_a.py::test_one", Passed),
            ("tests/test_a.py::test_set_up", Failed),
            ("tests/test_a.py::test_three", Skipped),
            ("tests/test_a.py::test_two[x y]", Failed),
        ],
    );
}

#[test]
fn tests_of_unittest_have_one_name_in_each_version() {
    for class in ["tests.test_a.Cart.test_add", "tests.test_a.Cart"] {
        expect(
            &format!("test_add ({class}) ... ok\n"),
            &[("tests.test_a.Cart.test_add", Passed)],
        );
    }
    expect(
        "test_a (t.C.test_a)\nAdds two. ... ok\ntest_b (t.C.test_b) ... skipped 'no'\n\
         FAIL: test_c (t.C.test_c)\nERROR: test_d (t.C.test_d) (i=1)\n\
         ERROR: t2 (unittest.loader._FailedTest.t2)\n\
         test_e (t.C.test_e) ... t.py:5: ResourceWarning: unclosed file\n  for a in b:\nok\ntest_f (t.C.test_f) ... 12ok\n",
        &[
            ("t.C.test_a", Passed),
            ("t.C.test_b", Skipped),
            ("t.C.test_c", Failed),
            ("t.C.test_d", Failed),
            ("t.C.test_e", Passed),
            ("t.C.test_f", Passed),
        ],
    );
}

#[test]
fn tests_of_node_are_named_with_their_suites_in_both_forms() {
    expect(
        "▶ cart\n  ✔ adds (0.5ms)\n  ▶ removal\n    ✖ removes (0.6ms)\n  ✖ removal (1ms)\n✖ cart (2ms)\n\
         ✔ alone (0.1ms)\n﹣ later (0.1ms) # SKIP\n✔ test/empty.test.js (20ms)\nℹ tests 4\n\
         ✖ failing tests:\n\n✖ removes (0.6ms)\n",
        &[
            ("alone", Passed),
            ("cart > adds", Passed),
            ("cart > removal > removes", Failed),
            ("later", Skipped),
        ],
    );
    expect(
        "TAP version 13\n# Subtest: adds\nok 1 - adds\n  ---\n# Subtest: removes\nnot ok 2 - removes\n\
         # Subtest: later\nok 3 - later # SKIP\n",
        &[("adds", Passed), ("later", Skipped), ("removes", Failed)],
    );
    expect(
        "TAP version 13\n# Subtest: cart\n    # Subtest: adds\n    ok 1 - adds\n    # Subtest: removes\n\
         \x20   not ok 2 - removes\n    1..2\nnot ok 1 - cart\n1..1\n",
        &[("cart > adds", Passed), ("cart > removes", Failed)],
    );
}

#[test]
fn tests_of_vitest_and_jest_are_named_with_their_files() {
    expect(
        " ✓ src/a.test.ts > cart > adds 2ms\n × src/a.test.ts > cart > removes 3ms\n ↓ src/a.test.ts > later\n\
         \x20FAIL  src/b.test.ts > totals\n ✓ src/c.test.ts (3 tests) 4ms\n FAIL  src/d.test.ts [ src/d.test.ts ]\n",
        &[
            ("src/a.test.ts > cart > adds", Passed),
            ("src/a.test.ts > cart > removes", Failed),
            ("src/a.test.ts > later", Skipped),
            ("src/b.test.ts > totals", Failed),
        ],
    );
    expect(
        "FAIL test/a.test.js\n  cart\n    ✓ adds (2 ms)\n    ✕ removes\n    ○ skipped later\n\n  ● cart › removes\n\
         \n    expect(received)\n\nTests:       1 failed, 1 passed, 2 total\n",
        &[
            ("test/a.test.js > cart > adds", Passed),
            ("test/a.test.js > cart > later", Skipped),
            ("test/a.test.js > cart > removes", Failed),
        ],
    );
}

#[test]
fn tests_of_tap_are_named_and_counted_by_their_plan() {
    let output = "1..5\nok 1 - adds\nnot ok 2 removes # TODO later\nok 3 # skip no network\nnot ok 4 - sums\n# why\n";
    expect(
        output,
        &[
            ("3", Skipped),
            ("adds", Passed),
            ("removes", Skipped),
            ("sums", Failed),
        ],
    );
    let counts = |output: &str| {
        report(output.as_bytes())
            .counts
            .map(|it| (it.run, it.failed, it.skipped))
    };
    assert_eq!(counts(output), Some((3, 2, 2)), "the fifth never came");
    assert_eq!(
        counts("ok 1 - adds\nok 2 - removes\n1..2\n"),
        Some((2, 0, 0))
    );
    assert_eq!(counts("1..0 # SKIP no network\n"), Some((0, 0, 0)));
    assert_eq!(counts("1..1\nok 1\nBail out!\n"), Some((2, 1, 0)));
    assert_eq!(counts("ok 1 - adds\n"), None);
}

#[test]
fn hostile_output_is_bounded() {
    let many: Vec<String> = (0..MAX_TESTS + 5)
        .map(|number| format!("test t{number} ... ok\n"))
        .collect();
    let many = report(many.concat().as_bytes());
    assert!(many.is_cut && many.iter().count() == MAX_TESTS);
    let report = report(b"test \x1b[31ma\xe2\x80\xaeb ... ok\n\xff\xfe\n".as_slice());
    assert!(
        report
            .iter()
            .all(|(name, _)| !name.contains(['\u{1b}', '\u{202e}'])),
        "{report:?}"
    );
}
