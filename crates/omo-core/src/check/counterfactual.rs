//! Results of checks without the change: a check that is green there too does not prove the work.

mod lost_tests;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

pub use self::lost_tests::{LostTests, NamedTests, compare_counts, compare_places};
use crate::text::{pluralize, sanitize};

/// Maximum names of tests that show nothing.
pub const MAX_NAMED_TESTS: usize = 8;

/// `verify.prove` in config.toml, `--prove` on a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ProveMode {
    Off,
    /// The comparison is told, and decides nothing: a refactoring is rightly green in both.
    #[default]
    Inform,
    /// A claim whose checks are not red without the change fails.
    Require,
}

impl ProveMode {
    pub const ALL: [Self; 3] = [Self::Off, Self::Inform, Self::Require];

    pub fn word(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Inform => "inform",
            Self::Require => "require",
        }
    }

    pub fn parse(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|mode| mode.word() == word)
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum WithoutChange {
    Red,
    /// The code cannot be built or imported, which even a test that checks nothing shows.
    NotBuilt,
    Green,
    #[default]
    Unknown,
}

impl WithoutChange {
    pub fn is_red(self) -> bool {
        matches!(self, Self::Red | Self::NotBuilt)
    }

    /// `true` where the check notices the change, `false` where it does not; `None` where unknown.
    pub fn shows_change(self, hollow: &HollowAnswer) -> Option<bool> {
        match (self, hollow) {
            (Self::Red, _) | (Self::NotBuilt, HollowAnswer::Red) => Some(true),
            (Self::Green, _) | (Self::NotBuilt, HollowAnswer::Green { .. }) => Some(false),
            (Self::NotBuilt | Self::Unknown, _) => None,
        }
    }
}

/// Result of a check after the bodies of added or altered functions were emptied.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum HollowAnswer {
    #[default]
    NotAsked,
    Red,
    Green {
        functions: Vec<String>,
        left_out: usize,
    },
    Unknown(String),
}

impl HollowAnswer {
    fn words(&self) -> String {
        match self {
            Self::NotAsked => String::new(),
            Self::Red => ", and red with empty bodies".to_owned(),
            Self::Green { .. } => ", and green with empty bodies".to_owned(),
            Self::Unknown(why) => format!(" ({})", sanitize(why, 120)),
        }
    }

    pub fn green_words(&self) -> Option<String> {
        let Self::Green {
            functions,
            left_out,
        } = self
        else {
            return None;
        };
        let named: Vec<String> = functions.iter().map(|name| format!("`{name}`")).collect();
        let more = if *left_out > 0 {
            format!(" (and {left_out} more were not tried)")
        } else {
            String::new()
        };
        Some(format!(
            "shows nothing about {}: green with empty bodies{more}",
            list_names(&named, named.len())
        ))
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TestChanges {
    pub to_passing: usize,
    pub passed_before: usize,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckCounterfactual {
    pub name: String,
    pub without: WithoutChange,
    pub reason: String,
    pub hollow: HollowAnswer,
    pub tests: TestChanges,
    /// The first tests that passed before as well.
    pub shows_nothing: Vec<String>,
    /// Changed steering files without which the check is not green.
    pub judged_by: Vec<String>,
    /// Digest of those files in their present content.
    pub judging_digest: String,
    /// Tests from the start of the run that no longer run and pass.
    pub lost: LostTests,
    /// One sentence each, for the reader.
    pub notes: Vec<String>,
    /// Result in a private copy with the change; empty for green.
    pub red_in_copy: String,
}

/// An unusual fact about a green check, or about what a reviewer was given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct UnusualFact {
    pub check: String,
    /// The fact, as words that stand behind the name of the check.
    pub line: String,
    /// Digest of the fact's files in their present content.
    pub files: String,
}

impl UnusualFact {
    pub fn is_about_reviewer(&self) -> bool {
        self.check.is_empty()
    }
}

pub fn list_names(names: &[String], count: usize) -> String {
    let mut shown: Vec<String> = names
        .iter()
        .take(MAX_NAMED_TESTS)
        .map(|name| end_of_name(name))
        .collect();
    if count > shown.len() {
        shown.push(format!("and {} more", count - shown.len()));
    }
    shown.join(", ")
}

/// The end of a long name: it identifies a file.
fn end_of_name(name: &str) -> String {
    match name.char_indices().rev().nth(99) {
        Some((at, _)) => format!(
            "\u{2026}{}",
            sanitize(name.get(at..).unwrap_or_default(), 100)
        ),
        None => sanitize(name, 100),
    }
}

/// State of the comparison of a run's checks with and without its change.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Counterfactual {
    #[default]
    NotAsked,
    Pending,
    Known(Vec<CheckCounterfactual>),
    Failed(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ComparisonWords {
    pub without_change: Option<String>,
    pub unusual: Vec<String>,
}

impl ComparisonWords {
    pub fn rows(self) -> impl Iterator<Item = (&'static str, String)> {
        let answer = self
            .without_change
            .map(|words| ("without the change", words));
        answer
            .into_iter()
            .chain(self.unusual.into_iter().map(|line| ("unusual", line)))
    }
}

impl Counterfactual {
    /// Words of a verdict about green checks, if any.
    pub fn comparison_words(&self) -> Option<String> {
        let checks = match self {
            Self::Known(checks) => checks,
            Self::Pending => {
                return Some("the comparison with the start has not finished".to_owned());
            }
            Self::NotAsked | Self::Failed(_) => return None,
        };
        let (red, green, unknown) = (
            names_of(checks, WithoutChange::Red),
            names_of(checks, WithoutChange::Green),
            names_of(checks, WithoutChange::Unknown),
        );
        let mut parts = Vec::new();
        if !red.is_empty() {
            let which = if red.len() == checks.len() {
                String::new()
            } else {
                format!("{}: ", red.join(", "))
            };
            parts.push(format!("{which}red without the change"));
        }
        let mut not_built: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for check in checks
            .iter()
            .filter(|check| check.without == WithoutChange::NotBuilt)
        {
            not_built
                .entry(check.hollow.words())
                .or_default()
                .push(format!("`{}`", sanitize(&check.name, 40)));
        }
        for (hollow, names) in not_built {
            let which = if names.len() == checks.len() {
                String::new()
            } else {
                format!("{}: ", names.join(", "))
            };
            parts.push(format!("{which}cannot be built without the change{hollow}"));
        }
        if !green.is_empty() {
            parts.push(format!(
                "green without the change, too, so nothing about it is shown: {}",
                green.join(", ")
            ));
        }
        if !unknown.is_empty() {
            let reason = checks
                .iter()
                .filter(|check| check.red_in_copy.is_empty())
                .find(|check| check.without == WithoutChange::Unknown)
                .map(unknown_words)
                .unwrap_or_default();
            parts.push(format!(
                "could not be told without the change: {} ({reason})",
                unknown.join(", ")
            ));
        }
        Some(parts.join("; ")).filter(|words| !words.is_empty())
    }

    /// Tests that went from failing or absent to passing.
    pub fn newly_passing(&self) -> usize {
        let Self::Known(checks) = self else { return 0 };
        // Where nothing can be built, every test is absent.
        checks
            .iter()
            .filter(|check| check.without == WithoutChange::Red)
            .map(|check| check.tests.to_passing)
            .sum()
    }

    /// The comparison, with the number of newly passing tests.
    pub fn comparison_with_test_count(&self) -> Option<String> {
        let passing = self.newly_passing();
        let tests = (passing > 0).then(|| {
            format!(
                "{} went from failing or absent to passing",
                pluralize(passing, "test")
            )
        });
        let words: Vec<String> = self.comparison_words().into_iter().chain(tests).collect();
        Some(words.join("; ")).filter(|words| !words.is_empty())
    }

    pub fn words(&self) -> ComparisonWords {
        ComparisonWords {
            without_change: self.comparison_with_test_count(),
            unusual: self.first_lines(),
        }
    }

    /// Lines that a reader judges first: unusual facts, or the reason why they are unknown.
    pub fn first_lines(&self) -> Vec<String> {
        match self {
            Self::Failed(why) => vec![format!(
                "the comparison with the start did not finish: {}",
                sanitize(why, 160)
            )],
            Self::NotAsked | Self::Pending => Vec::new(),
            Self::Known(checks) => {
                let facts = self.unusual_facts().into_iter().map(|fact| fact.line);
                let red = checks.iter().filter(|check| !check.red_in_copy.is_empty());
                let told = red.map(|check| {
                    let end = sanitize(&check.red_in_copy, 120);
                    format!(
                        "`{}`: green here, and not in a private copy: {end}",
                        sanitize(&check.name, 40)
                    )
                });
                facts.chain(told).collect()
            }
        }
    }

    pub fn unusual_facts(&self) -> Vec<UnusualFact> {
        let Self::Known(checks) = self else {
            return Vec::new();
        };
        checks.iter().flat_map(facts_of).collect()
    }

    pub fn objection(&self, name: &str) -> Option<String> {
        let check = match self {
            Self::NotAsked => return Some("it was not run without the change".to_owned()),
            Self::Pending => return Some("without the change it was not done in time".to_owned()),
            Self::Failed(why) => {
                return Some(format!(
                    "without the change it could not be run: {}",
                    sanitize(why, 200)
                ));
            }
            Self::Known(checks) => checks.iter().find(|check| check.name == name),
        };
        let Some(check) = check else {
            return Some("it was not run without the change".to_owned());
        };
        let reason = sanitize(&check.reason, 300);
        match check.without {
            WithoutChange::Red => None,
            WithoutChange::NotBuilt => match &check.hollow {
                HollowAnswer::Red => None,
                HollowAnswer::NotAsked => Some(format!(
                    "{reason}, and that alone shows nothing about what it does"
                )),
                HollowAnswer::Green { .. } => check.hollow.green_words(),
                HollowAnswer::Unknown(why) => Some(format!("{reason}; {}", sanitize(why, 200))),
            },
            WithoutChange::Green if check.shows_nothing.is_empty() => Some(reason),
            WithoutChange::Green => {
                let names: Vec<String> = check
                    .shows_nothing
                    .iter()
                    .map(|name| sanitize(name, 100))
                    .collect();
                Some(format!(
                    "{reason}; tests that show nothing: {}",
                    names.join(", ")
                ))
            }
            WithoutChange::Unknown => Some(reason),
        }
    }
}

fn names_of(checks: &[CheckCounterfactual], answer: WithoutChange) -> Vec<String> {
    checks
        .iter()
        .filter(|check| check.without == answer && check.red_in_copy.is_empty())
        .map(|check| format!("`{}`", sanitize(&check.name, 40)))
        .collect()
}

fn unknown_words(check: &CheckCounterfactual) -> String {
    // A reason for no answer with empty bodies adds nothing.
    let hollow = match check.hollow {
        HollowAnswer::Red | HollowAnswer::Green { .. } => check.hollow.words(),
        HollowAnswer::NotAsked | HollowAnswer::Unknown(_) => String::new(),
    };
    format!("{}{hollow}", sanitize(&check.reason, 120))
}

fn facts_of(check: &CheckCounterfactual) -> Vec<UnusualFact> {
    let judged = (!check.judged_by.is_empty()).then(|| {
        format!(
            "green only with the changed {}",
            list_names(&check.judged_by, check.judged_by.len())
        )
    });
    // A check that is green without the change says so already.
    let hollow = check
        .hollow
        .green_words()
        .filter(|_| check.without != WithoutChange::Green);
    hollow
        .into_iter()
        .chain(judged)
        .chain(check.lost.lines())
        .chain(check.notes.iter().map(|note| sanitize(note, 200)))
        .map(|line| UnusualFact {
            check: check.name.clone(),
            line: format!("`{}`: {line}", sanitize(&check.name, 40)),
            files: check.judging_digest.clone(),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known(checks: &[(&str, WithoutChange)]) -> Counterfactual {
        let check = |(name, without): &(&str, WithoutChange)| CheckCounterfactual {
            name: (*name).to_owned(),
            without: *without,
            reason: format!("why {name}"),
            ..CheckCounterfactual::default()
        };
        Counterfactual::Known(checks.iter().map(check).collect())
    }

    /// A check that cannot be built without the change, with this answer for empty bodies.
    fn hollow(answer: HollowAnswer) -> Counterfactual {
        let Counterfactual::Known(mut checks) = known(&[("tests", WithoutChange::NotBuilt)]) else {
            panic!()
        };
        checks[0].hollow = answer;
        Counterfactual::Known(checks)
    }

    fn green(functions: &[&str]) -> HollowAnswer {
        HollowAnswer::Green {
            functions: functions.iter().map(|name| (*name).to_owned()).collect(),
            left_out: 0,
        }
    }

    #[test]
    fn a_verdict_says_what_each_check_shows() {
        use WithoutChange::{Green, NotBuilt, Red, Unknown};
        for (state, words) in [
            (Counterfactual::NotAsked, None),
            (known(&[("tests", Red)]), Some("red without the change")),
            (
                known(&[("tests", Red), ("lint", Green)]),
                Some(
                    "`tests`: red without the change; green without the change, too, so nothing about it is shown: `lint`",
                ),
            ),
            (
                hollow(HollowAnswer::Red),
                Some("cannot be built without the change, and red with empty bodies"),
            ),
            (
                hollow(HollowAnswer::Unknown("it is Go".to_owned())),
                Some("cannot be built without the change (it is Go)"),
            ),
            (
                known(&[("tests", NotBuilt), ("lint", Green)]),
                Some(
                    "`tests`: cannot be built without the change; green without the change, too, so nothing about it is shown: `lint`",
                ),
            ),
            (
                known(&[("tests", Unknown)]),
                Some("could not be told without the change: `tests` (why tests)"),
            ),
        ] {
            assert_eq!(state.comparison_with_test_count().as_deref(), words);
        }
        let Counterfactual::Known(mut checks) = known(&[("tests", Red)]) else {
            panic!()
        };
        checks[0].tests = TestChanges {
            to_passing: 3,
            passed_before: 9,
        };
        assert_eq!(
            Counterfactual::Known(checks)
                .comparison_with_test_count()
                .as_deref(),
            Some("red without the change; 3 tests went from failing or absent to passing")
        );
    }

    #[test]
    fn what_is_not_known_to_be_red_counts_against_a_claim_that_is_held_to_it() {
        use WithoutChange::{Green, NotBuilt, Red, Unknown};
        assert_eq!(known(&[("tests", Red)]).objection("tests"), None);
        assert_eq!(hollow(HollowAnswer::Red).objection("tests"), None);
        for state in [
            Counterfactual::NotAsked,
            Counterfactual::Pending,
            Counterfactual::Failed("no room".to_owned()),
            known(&[("tests", Green)]),
            known(&[("tests", Unknown)]),
            known(&[("other", Red)]),
            known(&[("tests", NotBuilt)]),
            hollow(green(&["total"])),
            hollow(HollowAnswer::Unknown("it does not build".to_owned())),
        ] {
            assert!(state.objection("tests").is_some(), "{state:?}");
        }
    }

    #[test]
    fn functions_that_nothing_is_shown_about_are_named() {
        let state = hollow(green(&["total", "Cart::price"]));
        let line = "`tests`: shows nothing about `total`, `Cart::price`: green with empty bodies";
        assert_eq!(state.first_lines(), [line]);
        let older: CheckCounterfactual =
            serde_json::from_str(r#"{"name":"tests","without":"red"}"#).unwrap();
        assert_eq!(
            (older.without, older.hollow),
            (WithoutChange::Red, HollowAnswer::NotAsked)
        );
    }

    #[test]
    fn what_is_unusual_stands_in_rows_of_its_own() {
        let lost = LostTests {
            gone: NamedTests {
                count: 1,
                names: vec!["d".to_owned()],
            },
            ..LostTests::default()
        };
        let check = CheckCounterfactual {
            name: "tests".to_owned(),
            lost,
            judged_by: vec!["a.mk".to_owned()],
            ..CheckCounterfactual::default()
        };
        let rows: Vec<(&str, String)> = Counterfactual::Known(vec![check]).words().rows().collect();
        assert_eq!(rows[0].0, "without the change");
        assert_eq!(
            rows[1..3],
            [
                ("unusual", "`tests`: green only with the changed a.mk"),
                ("unusual", "`tests`: 1 test gone: d")
            ]
            .map(|(label, line)| (label, line.to_owned()))
        );
        for (state, label, line) in [
            (
                Counterfactual::Pending,
                "without the change",
                "the comparison with the start has not finished",
            ),
            (
                Counterfactual::Failed("x".to_owned()),
                "unusual",
                "the comparison with the start did not finish: x",
            ),
        ] {
            assert_eq!(
                state.words().rows().collect::<Vec<_>>(),
                [(label, line.to_owned())]
            );
        }
    }

    #[test]
    fn each_mode_has_a_word() {
        for mode in ProveMode::ALL {
            assert_eq!(ProveMode::parse(mode.word()), Some(mode));
        }
        assert_eq!(ProveMode::parse("always"), None);
    }
}
