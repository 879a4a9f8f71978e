//! What is said of changes of each kind in projects of each language: an honest fix, a test that asserts nothing, a
//! refactoring, a feature with its tests, and one that is removed.

mod go;
mod javascript;
mod python;
mod rust;
pub(crate) mod typescript;

use std::path::Path;

use anyhow::{Context, Result, ensure};
use omo_testkit::{Lab, LabBuilder};

use crate::project::{Files, Project};

/// A change to the project of a language, and what is said of it.
struct Case {
    name: &'static str,
    change: Files<'static>,
    /// The answer.
    without: &'static str,
    /// A part of its reason.
    reason: &'static str,
    /// Parts of what is noted.
    notes: &'static [&'static str],
    /// Tests with what they are without the change and with it.
    tests: &'static [(&'static str, &'static str, &'static str)],
}

/// A lab that finds a program in this folder.
pub(crate) fn lab_with(folder: Option<std::path::PathBuf>) -> Result<LabBuilder> {
    Ok(Lab::builder().path(folder.context("the language is not there")?))
}

/// Plays every case by one check, and names those that went wrong. `prepare` is asked for each project.
fn play(
    check: &str,
    files: Files,
    cases: &[Case],
    lab: impl Fn() -> Result<LabBuilder>,
    prepare: impl Fn(&Path) -> Result<()>,
) -> Result<()> {
    let mut wrong = Vec::new();
    for case in cases {
        if let Err(error) = play_case(check, files, case, &lab, &prepare) {
            wrong.push(format!("{}: {error:#}", case.name));
        }
    }
    ensure!(
        wrong.is_empty(),
        "{} of {} cases failed:\n{}",
        wrong.len(),
        cases.len(),
        wrong.join("\n")
    );
    Ok(())
}

fn play_case(
    check: &str,
    files: Files,
    case: &Case,
    lab: impl Fn() -> Result<LabBuilder>,
    prepare: impl Fn(&Path) -> Result<()>,
) -> Result<()> {
    let project = Project::in_lab(lab()?, files)?;
    prepare(project.lab.project())?;
    project.change(case.change)?;
    let answer = project.prove(check)?;
    answer.require(case.without)?;
    answer.require_reason(case.reason)?;
    for note in case.notes {
        answer.require_note(note)?;
    }
    for test in case.tests {
        answer.require_test(*test)?;
    }
    Ok(())
}
