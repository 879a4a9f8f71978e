//! A claim in the real client that is held to a test that fails without the work.

use omo_testkit::ModelScript;

use crate::client_lab::{CLAIM, client_lab};

const BEFORE: &str = "def total(items):\n    return len(items)\n";
const TEST: &str = "import unittest\nfrom app import total\n\n\nclass TestTotal(unittest.TestCase):\n    def test_ones(self):\n        \
                    self.assertEqual(total([1, 1]), 2)\n";

#[test]
#[ignore = "needs the real client and python3: cargo xtask test"]
fn a_claim_whose_test_shows_nothing_is_held_until_one_fails_without_the_work() {
    let add_test = |name: &str, line: &str| {
        format!("printf '\\n    def {name}(self):\\n        {line}\\n' >> test_app.py")
    };
    let script = ModelScript::new()
        .bash(&format!(
            "sed -i s/len/sum/ app.py; {}",
            add_test("test_sum", "total([1, 2])")
        ))
        .say(CLAIM)
        .bash(&add_test(
            "test_negative",
            "self.assertEqual(total([1, -2]), -1)",
        ))
        .say(CLAIM);
    let fixture = client_lab(script);
    fixture.lab.write("app.py", BEFORE).unwrap();
    fixture.lab.write("test_app.py", TEST).unwrap();
    let terminal = fixture.terminal();
    terminal
        .say("/omo:ulw --prove --no-review --check \"python3 -m unittest -v\" make total add")
        .unwrap();
    let screen = terminal
        .wait_for("[omo] VERIFIED: 1 check green (3 tests, ")
        .unwrap();
    assert!(
        screen.contains("newly passing), red without the change"),
        "{screen}"
    );
    let held = fixture
        .model
        .requests_of(omo_testkit::model::RequestKind::Main);
    let said = held
        .get(2)
        .map(omo_testkit::model::RecordedRequest::last_user_text)
        .unwrap_or_default();
    for part in [
        "it is green without the change, too",
        "test_app.TestTotal.test_sum",
        "failed claim 1 of 3",
    ] {
        assert!(said.contains(part), "{part} is not said: {said}");
    }
    assert_eq!(fixture.stops(), ["15: block", "9: end: verified"]);
}
