//! Tests with another name than at the start: moved ones, and names with a time, a process id, a
//! random number or an address.

use std::collections::{BTreeMap, BTreeSet};

use crate::check::test_report::{TestOutcome, TestReport};

/// Digits of a random number; fewer may tell two cases apart.
const CHANCE_DIGITS: usize = 5;

#[derive(Debug, Default)]
pub(super) struct RenamedTests<'a> {
    new: BTreeMap<&'a str, TestOutcome>,
    by_key: BTreeMap<Key, BTreeSet<&'a str>>,
}

/// A part that two names of one test share.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Key {
    LastPart(String),
    Shape(String),
    ChanceShape(String),
}

impl<'a> RenamedTests<'a> {
    pub(super) fn of(started: &TestReport, now: &'a TestReport) -> Self {
        let mut renamed = Self::default();
        for (name, outcome) in now
            .iter()
            .filter(|(name, _)| started.outcome(name).is_none())
        {
            renamed.new.insert(name, outcome);
            for key in [
                Key::last_part(name),
                Key::shape(name),
                Key::chance_shape(name),
            ] {
                renamed.by_key.entry(key).or_default().insert(name);
            }
        }
        renamed
    }

    pub(super) fn take(&mut self, name: &str, outcome: TestOutcome) -> Option<TestOutcome> {
        let shape = if outcome == TestOutcome::Failed {
            Key::chance_shape
        } else {
            Key::shape
        };
        [shape(name), Key::last_part(name)]
            .into_iter()
            .find_map(|key| {
                let names = self.by_key.get_mut(&key)?;
                std::iter::from_fn(|| names.pop_first()).find_map(|name| self.new.remove(name))
            })
    }
}

impl Key {
    fn last_part(name: &str) -> Self {
        // Arguments of a test may hold anything.
        let case = name.find('[').unwrap_or(name.len());
        let (place, case) = name.split_at_checked(case).unwrap_or((name, ""));
        let last = match place.rsplit_once("::").or_else(|| place.rsplit_once(" > ")) {
            Some((_, last)) => last,
            None if place.contains(' ') => place,
            None => place.rsplit(['/', '.']).next().unwrap_or(place),
        };
        Self::LastPart(format!("{last}{case}"))
    }

    fn shape(name: &str) -> Self {
        Self::Shape(without_numbers(name, 1))
    }

    fn chance_shape(name: &str) -> Self {
        Self::ChanceShape(without_numbers(
            name,
            if holds_time(name) { 1 } else { CHANCE_DIGITS },
        ))
    }
}

/// A name with `#` for each number of at least `digits` digits, decimal or hexadecimal.
fn without_numbers(name: &str, digits: usize) -> String {
    let mut shape = String::with_capacity(name.len());
    for word in runs(name, |char| char.is_alphanumeric() || char == '-') {
        if is_uuid(word) {
            shape.push('#');
            continue;
        }
        for run in runs(word, char::is_alphanumeric) {
            if is_hexadecimal(run, digits) {
                shape.push('#');
                continue;
            }
            for run in runs(run, |char| char.is_ascii_digit()) {
                let is_number =
                    run.len() >= digits && run.starts_with(|char: char| char.is_ascii_digit());
                shape.push_str(if is_number { "#" } else { run });
            }
        }
    }
    shape
}

fn is_hexadecimal(run: &str, digits: usize) -> bool {
    let bare = run.strip_prefix("0x").unwrap_or(run);
    bare.len() >= digits.max(4)
        && bare.chars().all(|char| char.is_ascii_hexdigit())
        && bare.contains(|char: char| char.is_ascii_digit())
}

/// `true` for `3f2a9c1b-77aa-4c2d-8e9f-0123456789ab` and the like.
fn is_uuid(word: &str) -> bool {
    word.split('-').map(str::len).eq([8, 4, 4, 4, 12])
        && word
            .chars()
            .all(|char| char.is_ascii_hexdigit() || char == '-')
}

/// `true` for a date such as `2026-11-27`, or a time such as `22:30:05`.
fn holds_time(name: &str) -> bool {
    let digits: String = name
        .chars()
        .map(|char| if char.is_ascii_digit() { '0' } else { char })
        .collect();
    digits.contains("0000-00-00") || digits.contains("00:00:00")
}

fn runs(text: &str, is_of_kind: impl Fn(char) -> bool) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let kind = is_of_kind(rest.chars().next()?);
        let end = rest
            .find(|char| is_of_kind(char) != kind)
            .unwrap_or(rest.len());
        let (run, after) = rest.split_at_checked(end)?;
        rest = after;
        Some(run)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::test_runner::TestOutputReader;

    fn report(passed: &[&str]) -> TestReport {
        let lines: Vec<String> = passed
            .iter()
            .enumerate()
            .map(|(at, name)| format!("ok {at} - {name}\n"))
            .collect();
        let mut reader = TestOutputReader::default();
        reader.read(format!("1..{}\n{}", passed.len(), lines.concat()).as_bytes());
        reader.report()
    }

    #[test]
    fn a_test_that_moved_or_is_named_by_chance_is_the_same() {
        use TestOutcome::{Failed, Passed};
        for (then, now) in [
            (
                "tests/test_a.py::test_sum",
                "tests/unit/test_a.py::test_sum",
            ),
            ("a.py::Cart::test_sum[a b]", "a.py::Basket::test_sum[a b]"),
            (
                "tests.test_a.Cart.test_sum",
                "tests.unit.test_b.Cart.test_sum",
            ),
            ("cart > removal > sums all", "basket > sums all"),
            ("shop::cart::sums", "shop::basket::tests::sums"),
            ("example.org/a.TestSum/zero", "example.org/b.TestSum/zero"),
            (
                "t.py::test_x[2026-11-27T22:30:05.1]",
                "t.py::test_x[2026-11-28T09:01:59.22]",
            ),
            (
                "t.py::test_x[0x7fa0b2c4d5e0]",
                "t.py::test_x[0x7f11aa34bb00]",
            ),
            ("t.py::test_x[0.8437289]", "t.py::test_x[0.19922817]"),
            (
                "t.py::test_x[3f2a9c1b-77aa-4c2d-8e9f-0123456789ab]",
                "t.py::test_x[11112222-3333-4444-5555-666677778888]",
            ),
            ("run 12345", "run 54321"),
        ] {
            for outcome in [Passed, Failed] {
                let (started, now) = (report(&[then]), report(&[now]));
                let mut renamed = RenamedTests::of(&started, &now);
                assert_eq!(renamed.take(then, outcome), Some(Passed), "{then}");
                assert_eq!(
                    renamed.take(then, outcome),
                    None,
                    "{then}: it has become one test"
                );
            }
        }
    }

    #[test]
    fn another_test_is_another_one() {
        use TestOutcome::{Failed, Passed};
        for (then, now, outcome) in [
            ("a.py::test_two", "a.py::test_three", Failed),
            ("a.py::test_two", "a.py::test_three", Passed),
            ("a.py::test_add[1-1-2]", "a.py::test_add[1-0-1]", Failed),
            (
                "a.py::test_add[1000-1000]",
                "a.py::test_add[1000-0]",
                Failed,
            ),
            ("sums all", "sums nothing", Passed),
        ] {
            let (started, now) = (report(&[then]), report(&[now]));
            assert_eq!(
                RenamedTests::of(&started, &now).take(then, outcome),
                None,
                "{then}"
            );
        }
        // No test of the start has become another one.
        let (started, now) = (
            report(&["a.py::test_x", "b.py::test_x"]),
            report(&["b.py::test_x"]),
        );
        assert_eq!(
            RenamedTests::of(&started, &now).take("a.py::test_x", Passed),
            None
        );
    }
}
