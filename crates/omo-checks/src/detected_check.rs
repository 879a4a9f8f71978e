//! Detection of a project's test command by the files at its top, as an offer to a run without
//! checks. Nothing is run, and only file names and a few small files are read.

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

/// A test command and the file that tells it; both are constants of omo, never text of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DetectedCheck {
    /// Command for a POSIX shell, such as `cargo test`.
    pub command: &'static str,
    pub found_in: &'static str,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoOffer {
    #[error("omo looks for no test command: `verify.detect` is \"off\" in config.toml")]
    Off,
    #[error("no file at the top of this project tells how it is tested")]
    NothingFound,
}

/// # Errors
///
/// A [`NoOffer`].
pub fn offer_check(root: &Path, detection: CheckDetection) -> Result<DetectedCheck, NoOffer> {
    match detection {
        CheckDetection::Off => Err(NoOffer::Off),
        CheckDetection::Offer => detect_check(root).ok_or(NoOffer::NothingFound),
    }
}

pub fn detect_check(root: &Path) -> Option<DetectedCheck> {
    choose(&ProjectFolder::list(root)?)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Certainty {
    /// Test command that the toolchain's file names, or the toolchain's only one.
    Certain,
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

/// The only certain candidate; it beats a target `test`, which may lint or start a database. Else
/// that target, or the first certain or likely candidate in the order of [`toolchains::ALL`].
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
