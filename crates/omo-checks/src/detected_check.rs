//! The command that a project tests with, as the files at its top tell it: what omo offers as a check where a run has
//! none. Nothing is run for it, and no more is read than the names at the top and a few small files there.

mod javascript;
mod python;
mod task_files;
#[cfg(test)]
mod tests;
mod toolchains;
mod top_files;

use std::path::Path;

use omo_state::config::CheckDetection;

use self::top_files::{ProjectFolder, TopFiles};

/// A command that runs a project's tests. Both texts are constants of omo: nothing that a file of the project holds gets
/// into a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedCheck {
    /// Command for a POSIX shell, such as `cargo test`.
    pub command: &'static str,
    /// File that tells it, at the top of the project.
    pub found_in: &'static str,
}

/// Reason for which `offer_check` has no command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOffer {
    /// The user does not want it.
    #[error("omo looks for no test command: `verify.detect` is \"off\" in config.toml")]
    Off,
    /// No file tells one.
    #[error("no file at the top of this project tells how it is tested")]
    NothingFound,
}

/// The command that is offered as a check of a project.
///
/// # Errors
///
/// Where the user turned that off, or nothing was found.
pub fn offer_check(root: &Path, detection: CheckDetection) -> Result<DetectedCheck, NoOffer> {
    match detection {
        CheckDetection::Off => Err(NoOffer::Off),
        CheckDetection::Offer => detect_check(root).ok_or(NoOffer::NothingFound),
    }
}

/// The command that a project tests with; `None` where its files tell none.
pub fn detect_check(root: &Path) -> Option<DetectedCheck> {
    choose(&ProjectFolder::list(root)?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// The project names it in the file of its toolchain, or the toolchain of that file has one command for tests.
    Certain,
    /// There is a sign of it.
    Likely,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    check: DetectedCheck,
    certainty: Certainty,
}

impl Candidate {
    fn certain(command: &'static str, found_in: &'static str) -> Self {
        Self {
            check: DetectedCheck { command, found_in },
            certainty: Certainty::Certain,
        }
    }

    fn likely(command: &'static str, found_in: &'static str) -> Self {
        Self {
            certainty: Certainty::Likely,
            ..Self::certain(command, found_in)
        }
    }
}

/// Chooses among everything that the files tell.
///
/// The toolchain's own file beats a guess: a target called `test` may start a database, or lint, while the command of the
/// one toolchain runs the tests and nothing else. Where several toolchains are certain, none of their commands tests all
/// of the project; the target that joins them does. Without it the first in the order of [`toolchains::ALL`] is taken,
/// the same one each time. Where no toolchain is certain, the target is surer than a sign.
fn choose(top: &dyn TopFiles) -> Option<DetectedCheck> {
    let candidates: Vec<Candidate> = toolchains::ALL
        .iter()
        .filter_map(|detect| detect(top))
        .collect();
    let mut certain = candidates
        .iter()
        .filter(|found| found.certainty == Certainty::Certain);
    let (first, second) = (certain.next(), certain.next());
    match (first, second) {
        (Some(only), None) => Some(only.check),
        _ => task_files::test_target(top)
            .or_else(|| first.or(candidates.first()).map(|found| found.check)),
    }
}
