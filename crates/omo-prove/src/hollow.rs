//! Empties added and altered functions and reruns the checks; one that stays green tests none.
//!
//! An error before the first statement empties a body, so that types and imports still build.

mod go;
mod rust;
mod script;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::check::counterfactual::{HollowAnswer, WithoutChange};
use omo_core::check::session_check::CheckVerdict;
use omo_core::text::sanitize;
use omo_git::base_comparison::{ChangedFile, write_versions};
use omo_state::env;
use serde::{Deserialize, Serialize};

use crate::change::Change;
use crate::comparison::{CheckProof, WithChange, find_failing};
use crate::failure::{Failure, FailureAnswer, is_build_failure};
use crate::private_tree::Side;
use crate::proof_request::{HollowChecks, ProofError, ProofWatcher};
use crate::rust_tests::NotSeparable;
use crate::side_outcome::SideOutcome;
use crate::side_runner::SideRunner;

/// Message of the error. Source code never has it behind `: `, as a thrown error is printed.
const MARK: &str = "hollowed by omo";
const MAX_FUNCTIONS: usize = 50;

impl HollowChecks {
    fn contain(self, proof: &CheckProof) -> bool {
        let is_unclear = proof.without.shows_change(&proof.hollow).is_none();
        proof.with == WithChange::Green
            && (self == Self::All || (self == Self::Unclear && is_unclear))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Go,
    Rust,
    Python,
    JavaScript,
}

impl Language {
    fn of(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()? {
            "go" => Some(Self::Go),
            "rs" => Some(Self::Rust),
            "py" => Some(Self::Python),
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => Some(Self::JavaScript),
            _ => None,
        }
    }
}

#[derive(Clone, Copy, Debug)]
struct HollowLimits {
    max_functions: usize,
    /// `true` to leave altered functions as they are.
    only_new: bool,
}

#[derive(Clone, Copy, Debug, Serialize)]
struct Source<'a> {
    path: &'a Path,
    /// Former text of the file; `None` for a new file.
    base: Option<&'a str>,
    now: &'a str,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
struct Hollowed {
    text: String,
    functions: Vec<String>,
    left_out: usize,
}

struct Function {
    name: String,
    /// Tokens of the body, without comments and spaces.
    body: String,
    begin: usize,
}

/// Empties functions that are not in `before`.
fn empty_changed(
    now: &str,
    before: &[Function],
    mut functions: Vec<Function>,
    thrown: &str,
    limits: HollowLimits,
) -> Result<Hollowed, NotHollow> {
    functions.retain(|function| {
        let is_known = before
            .iter()
            .any(|old| old.name == function.name && (limits.only_new || old.body == function.body));
        !is_known
    });
    if functions.is_empty() {
        return Err(NotHollow::NoFunction);
    }
    let mut text = String::with_capacity(now.len() + thrown.len() * functions.len());
    let mut at = 0;
    for function in functions.iter().take(limits.max_functions) {
        text.push_str(now.get(at..function.begin).ok_or(NotHollow::NotParsed)?);
        text.push_str(thrown);
        at = function.begin;
    }
    text.push_str(now.get(at..).ok_or(NotHollow::NotParsed)?);
    let names = functions
        .iter()
        .take(limits.max_functions)
        .map(|function| function.name.clone())
        .collect();
    Ok(Hollowed {
        text,
        functions: names,
        left_out: functions.len().saturating_sub(limits.max_functions),
    })
}

/// Reason for a file whose functions stay.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
enum NotHollow {
    #[error("it cannot be parsed")]
    NotParsed,
    #[error("it is too large or too deep to be parsed")]
    TooLarge,
    #[error("no function in it was added or altered")]
    NoFunction,
    #[error("{0}")]
    Other(String),
}

impl From<NotSeparable> for NotHollow {
    fn from(why: NotSeparable) -> Self {
        if why == NotSeparable::NotParsed {
            Self::NotParsed
        } else {
            Self::TooLarge
        }
    }
}

#[derive(Debug, Default)]
struct HollowChange {
    texts: BTreeMap<PathBuf, String>,
    functions: Vec<String>,
    left_out: usize,
    /// Reason for the first file that could not be emptied.
    problem: Option<String>,
}

impl HollowChange {
    fn limits(&self, only_new: bool) -> HollowLimits {
        HollowLimits {
            max_functions: MAX_FUNCTIONS.saturating_sub(self.functions.len()),
            only_new,
        }
    }

    fn add(&mut self, path: &Path, result: Result<Hollowed, NotHollow>) {
        match result {
            Ok(hollowed) => {
                self.functions
                    .extend(hollowed.functions.iter().map(|name| sanitize(name, 80)));
                self.left_out += hollowed.left_out;
                self.texts.insert(path.to_owned(), hollowed.text);
            }
            Err(NotHollow::NoFunction) => {}
            Err(why) => {
                self.problem.get_or_insert_with(|| {
                    format!("{}: {why}", sanitize(&path.to_string_lossy(), 100))
                });
            }
        }
    }

    fn files(&self, change: &Change) -> Vec<ChangedFile> {
        change
            .sources()
            .filter_map(|file| {
                let mut now = file.now.clone()?;
                now.bytes = self.texts.get(&file.path)?.clone().into_bytes();
                Some(ChangedFile {
                    path: file.path.clone(),
                    base: None,
                    now: Some(now),
                })
            })
            .collect()
    }

    /// Copy with emptied functions: added ones and, unless `only_new`, altered ones.
    fn make(
        only_new: bool,
        change: &Change,
        runner: &mut SideRunner,
        watcher: &mut impl ProofWatcher,
    ) -> Result<Self, ProofError> {
        let mut hollow = Self::default();
        let (mut python, mut javascript) = (Vec::new(), Vec::new());
        for file in change.sources() {
            let (Some(language), Some(now)) = (Language::of(&file.path), file.now_bytes()) else {
                continue;
            };
            let (Ok(now), Ok(base)) = (
                str::from_utf8(now),
                file.base_bytes().map(str::from_utf8).transpose(),
            ) else {
                hollow.add(&file.path, Err(NotHollow::NotParsed));
                continue;
            };
            let source = Source {
                path: &file.path,
                base,
                now,
            };
            match language {
                Language::Go => {
                    hollow.add(&file.path, go::hollow(base, now, hollow.limits(only_new)));
                }
                Language::Rust => {
                    hollow.add(&file.path, rust::hollow(base, now, hollow.limits(only_new)));
                }
                Language::Python => python.push(source),
                Language::JavaScript => javascript.push(source),
            }
        }
        for (language, sources) in [(&script::PYTHON, python), (&script::JAVASCRIPT, javascript)] {
            for (path, result) in
                script::hollow(language, &sources, hollow.limits(only_new), runner, watcher)?
            {
                hollow.add(&path, result);
            }
        }
        Ok(hollow)
    }
}

/// Runs wanted checks, green with the change, on emptied functions; the copy is used up then.
pub(crate) fn ask_checks(
    wanted: HollowChecks,
    change: &Change,
    runner: &mut SideRunner,
    (with_change, proofs): (&[Option<&SideOutcome>], &mut [CheckProof]),
    watcher: &mut impl ProofWatcher,
) -> Result<(), ProofError> {
    if !proofs.iter().any(|proof| wanted.contain(proof)) {
        return Ok(());
    }
    // Old tests that run what was altered would hide that none runs what is new.
    let only_new = proofs
        .iter()
        .any(|proof| wanted.contain(proof) && proof.without == WithoutChange::NotBuilt);
    let mut hollow = HollowChange::make(only_new, change, runner, watcher)?;
    if only_new && hollow.functions.is_empty() {
        hollow = HollowChange::make(false, change, runner, watcher)?;
    }
    if hollow.functions.is_empty() {
        let why = hollow.problem.unwrap_or_else(|| {
            "the change has no function of Go, Rust, Python, JavaScript or TypeScript that can be emptied".to_owned()
        });
        let answer = HollowAnswer::Unknown(format!("could not be made hollow: {why}"));
        proofs
            .iter_mut()
            .filter(|proof| wanted.contain(proof))
            .for_each(|proof| proof.hollow = answer.clone());
        return Ok(());
    }
    // Module caches compare size and the second of the time.
    let later = env::file_time() + Duration::from_secs(2);
    write_versions(
        &runner.top_of(Side::With)?,
        &hollow.files(change),
        later,
        |file| file.now.as_ref(),
    )?;
    for (check, (with, proof)) in runner.checks().iter().zip(with_change.iter().zip(proofs)) {
        let Some(with) = with.filter(|_| wanted.contain(proof)) else {
            continue;
        };
        proof.hollow = match runner.run(check, Side::With, watcher)? {
            Ok(outcome) => judge(
                &check.command,
                with,
                &outcome,
                &hollow.functions,
                hollow.left_out,
            ),
            Err(error) => HollowAnswer::Unknown(error.to_string()),
        };
    }
    Ok(())
}

/// Answer for a check. The exit status alone says nothing: a formatter faults empty bodies, too.
fn judge(
    run: &str,
    with: &SideOutcome,
    outcome: &SideOutcome,
    functions: &[String],
    left_out: usize,
) -> HollowAnswer {
    if outcome.verdict == CheckVerdict::Green {
        return HollowAnswer::Green {
            functions: functions.to_vec(),
            left_out,
        };
    }
    let thrown = format!(": {MARK}");
    if outcome.lines.iter().any(|line| line.contains(&thrown)) {
        return HollowAnswer::Red;
    }
    let failing = find_failing(with, outcome);
    if failing.is_empty() && outcome.lines.iter().any(|line| is_build_failure(line)) {
        return HollowAnswer::Unknown(
            "could not be made hollow: it does not build with empty bodies".to_owned(),
        );
    }
    let failing: Vec<&str> = failing.iter().map(String::as_str).collect();
    let failure = Failure {
        run,
        side: outcome,
        side_words: "with empty bodies",
        failing: &failing,
        absent_words: String::new(),
        is_runner: with.report.counts.is_some() || outcome.report.counts.is_some(),
        reads_other_languages: false,
        doubt: None,
    };
    match failure.judge(|_| false) {
        FailureAnswer::Red {
            is_by_status: false,
            ..
        } => HollowAnswer::Red,
        FailureAnswer::Red { reason, .. } => {
            HollowAnswer::Unknown(format!("{reason}, and no test says why"))
        }
        FailureAnswer::NotBuilt { reason, .. } | FailureAnswer::Unknown { reason } => {
            HollowAnswer::Unknown(reason)
        }
    }
}

#[cfg(test)]
mod tests;
