//! The hooks and settings that judge the commits of a run. A change of them that no passed task lists is a question.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use omo_git::commit::CommitRefusal;
use omo_git::commit_guard::SETTING;
use omo_git::git_settings::GitSettings;
use serde::{Deserialize, Serialize};

use crate::event::QuestionKind;
use crate::state::{ANSWER_CONTINUE, RunState};

/// The state of each setting and file that judges commits, by its name.
pub type Judges = BTreeMap<String, String>;

/// Begins the name of a file that a hook runs.
pub(crate) const SCRIPT: &str = "script ";
/// The state of what is not there, or which nothing uses any more.
const ABSENT: &str = "not used";

/// `CommitGuard`: hooks and settings that judge commits, as a run begins.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitGuard {
    /// Settings of git from the environment of the user.
    pub settings: GitSettings,
    /// States in the checkout.
    pub judges: Judges,
}

/// The states in which what judges commits is known: as the run found it, or as a passed task left it that lists it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownGuard {
    /// Settings of git from the environment of the user.
    pub settings: GitSettings,
    judges: BTreeMap<String, BTreeSet<String>>,
}

impl From<CommitGuard> for KnownGuard {
    fn from(guard: CommitGuard) -> Self {
        let mut known = Self { settings: guard.settings, judges: BTreeMap::new() };
        known.learn(&guard.judges);
        known
    }
}

impl KnownGuard {
    pub(crate) fn learn(&mut self, judges: &Judges) {
        for (name, state) in judges {
            self.judges.entry(name.clone()).or_default().insert(state.clone());
        }
    }

    /// `Judges` in a state that the run does not know.
    pub fn changed(&self, now: &Judges) -> Judges {
        let mut changed = self.unknown_states(now);
        // A script that a hook runs only now guarded nothing before: the hook has changed.
        changed.retain(|name, _| !name.starts_with(SCRIPT) || self.judges.contains_key(name));
        changed
    }

    /// `Judges` of a new worktree alone: those that all work trees share are known of the checkout.
    pub(crate) fn unknown_in_worktree(&self, now: &Judges) -> Judges {
        let mut unknown = self.unknown_states(now);
        unknown.retain(|name, _| {
            !name.starts_with(SETTING) && !name.starts_with(".git/") && !Path::new(name).is_absolute()
        });
        unknown
    }

    fn unknown_states(&self, now: &Judges) -> Judges {
        // A script that no hook runs any more is still there.
        let is_gone = |name: &&String| !now.contains_key(*name) && !name.starts_with(SCRIPT);
        let absent = self.judges.keys().filter(is_gone).map(|name| (name.as_str(), ABSENT));
        let there = now.iter().map(|(name, state)| (name.as_str(), state.as_str()));
        let is_known =
            |(name, state): &(&str, &str)| self.judges.get(*name).is_some_and(|known| known.contains(*state));
        let unknown = there.chain(absent).filter(|judge| !is_known(judge));
        unknown.map(|(name, state)| (name.to_owned(), state.to_owned())).collect()
    }
}

/// The path in the name of a judge, which may be followed by a part of the file: `script package.json (scripts)`.
fn path_of(name: &str) -> &str {
    let path = name.strip_prefix(SCRIPT).unwrap_or(name);
    path.split_once(" (").map_or(path, |(path, _)| path)
}

/// `Judges` that changed and that a task lists, with the scripts that hooks run since.
///
/// # Errors
///
/// Another one is neither known to the run nor accepted by its user in exactly this state.
pub fn judge_changes(
    state: &RunState,
    folder: &Path,
    now: &Judges,
    is_listed: impl Fn(&str) -> bool,
) -> Result<Judges, CommitRefusal> {
    let Some(guard) = &state.guard else { return Ok(Judges::new()) };
    let changed = guard.changed(now);
    let (mut listed, others): (Judges, Judges) =
        changed.into_iter().partition(|(name, _)| !name.starts_with(SETTING) && is_listed(path_of(name)));
    let mut files: Vec<String> = others.iter().map(|(name, state)| format!("{name} (now {state})")).collect();
    let accepted = state
        .questions
        .iter()
        .filter(|known| known.answer.as_ref().is_some_and(|answer| answer.option == ANSWER_CONTINUE));
    for known in accepted {
        if let QuestionKind::CommitRefused { refusal: CommitRefusal::GuardChanged { files: accepted, .. }, .. } =
            &known.question.kind
        {
            files.retain(|file| !accepted.contains(file));
        }
    }
    if files.is_empty() {
        listed.extend(guard.unknown_states(now).into_iter().filter(|(name, _)| name.starts_with(SCRIPT)));
        return Ok(listed);
    }
    Err(CommitRefusal::GuardChanged { folder: folder.display().to_string(), files })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judges(all: &[(&str, &str)]) -> Judges {
        all.iter().map(|(name, state)| ((*name).to_owned(), (*state).to_owned())).collect()
    }

    #[test]
    fn a_state_that_was_never_seen_is_changed_and_one_that_was_is_not() {
        let begun = judges(&[("a", "1"), (".git/hooks/b", "1"), ("git config commit.gpgsign", "true")]);
        let mut known = KnownGuard::from(CommitGuard { judges: begun.clone(), ..CommitGuard::default() });
        assert_eq!(known.changed(&begun), Judges::new());
        let now = judges(&[("a", "2"), (".git/hooks/b", "2"), ("/abs/c", "1")]);
        let mut expected = now.clone();
        expected.insert("git config commit.gpgsign".to_owned(), ABSENT.to_owned());
        assert_eq!(known.changed(&now), expected);
        assert_eq!(known.unknown_in_worktree(&now), judges(&[("a", "2")]), "the rest is the checkout's as well");
        known.learn(&judges(&[("a", "2")]));
        assert!(!known.changed(&now).contains_key("a") && !known.changed(&begun).contains_key("a"));
    }
}
