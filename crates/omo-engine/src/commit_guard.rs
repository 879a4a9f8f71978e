//! Hooks and settings that judge the commits of a run. The user is asked about a change that no passed task lists.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use omo_git::commit::CommitRefusal;
use omo_git::commit_guard::{SCRIPT, SETTING};
use omo_git::git_settings::GitSettings;
use serde::{Deserialize, Serialize};

pub type JudgeStates = BTreeMap<String, String>;

/// State of a hook or setting that is missing, or that nothing uses any more.
const ABSENT: &str = "not used";

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitGuard {
    pub settings: GitSettings,
    pub judges: JudgeStates,
}

/// Accepted states of each judge: found at the run's start, left by a passed task, or allowed by the user.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownGuard {
    pub settings: GitSettings,
    judges: BTreeMap<String, BTreeSet<String>>,
}

impl From<CommitGuard> for KnownGuard {
    fn from(guard: CommitGuard) -> Self {
        let mut known = Self {
            settings: guard.settings,
            judges: BTreeMap::new(),
        };
        known.accept(&guard.judges);
        known
    }
}

impl KnownGuard {
    pub(crate) fn accept(&mut self, judges: &JudgeStates) {
        for (name, state) in judges {
            self.judges
                .entry(name.clone())
                .or_default()
                .insert(state.clone());
        }
    }

    /// Judges in a state that the run has not accepted; `is_listed` tells whether a task lists the file of a path.
    pub fn changes(&self, now: &JudgeStates, is_listed: impl Fn(&str) -> bool) -> GuardChanges {
        let (listed, others) = self.unknown_states(now).into_iter().partition(|(name, _)| {
            name.starts_with(SCRIPT) && !self.judges.contains_key(name)
                || !name.starts_with(SETTING) && is_listed(path_of(name))
        });
        GuardChanges { listed, others }
    }

    /// Changed judges that the question showed, if their state is still the same: a later change is asked about anew.
    pub fn still_as_shown(&self, now: &JudgeStates, refusal: &CommitRefusal) -> JudgeStates {
        let CommitRefusal::GuardChanged { files, .. } = refusal else {
            return JudgeStates::new();
        };
        let GuardChanges { mut listed, others } = self.changes(now, |_| false);
        listed.extend(
            others
                .into_iter()
                .filter(|(name, state)| files.contains(&name_judge(name, state))),
        );
        listed
    }

    /// Unknown judges among a new worktree's own files: shared hooks and settings are known from the checkout.
    pub(crate) fn unknown_in_worktree(&self, now: &JudgeStates) -> JudgeStates {
        let mut unknown = self.unknown_states(now);
        unknown.retain(|name, _| {
            !name.starts_with(SETTING)
                && !name.starts_with(".git/")
                && !Path::new(name).is_absolute()
        });
        unknown
    }

    fn unknown_states(&self, now: &JudgeStates) -> JudgeStates {
        let absent = self
            .judges
            .keys()
            // A script does not go when no hook runs it any more.
            .filter(|name| !now.contains_key(*name) && !name.starts_with(SCRIPT))
            .map(|name| (name.as_str(), ABSENT));
        let there = now
            .iter()
            .map(|(name, state)| (name.as_str(), state.as_str()));
        there
            .chain(absent)
            .filter(|(name, state)| {
                self.judges
                    .get(*name)
                    .is_none_or(|known| !known.contains(*state))
            })
            .map(|(name, state)| (name.to_owned(), state.to_owned()))
            .collect()
    }
}

pub fn name_judges(judges: &JudgeStates) -> Vec<String> {
    judges
        .iter()
        .map(|(name, state)| name_judge(name, state))
        .collect()
}

fn name_judge(name: &str, state: &str) -> String {
    format!("{name} (now {state})")
}

fn path_of(name: &str) -> &str {
    let path = name.strip_prefix(SCRIPT).unwrap_or(name);
    path.split_once(" (").map_or(path, |(path, _)| path)
}

#[derive(Debug, Default, PartialEq, Eq)]
pub struct GuardChanges {
    /// Changes of files that a task lists, and scripts that no hook ran before.
    pub listed: JudgeStates,
    pub others: JudgeStates,
}

impl GuardChanges {
    pub fn refusal(&self, folder: &Path) -> Option<CommitRefusal> {
        let files = name_judges(&self.others);
        (!files.is_empty()).then(|| CommitRefusal::GuardChanged {
            folder: folder.display().to_string(),
            files,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judges(all: &[(&str, &str)]) -> JudgeStates {
        all.iter()
            .map(|(name, state)| ((*name).to_owned(), (*state).to_owned()))
            .collect()
    }

    #[test]
    fn a_state_that_was_never_seen_is_changed_and_one_that_was_is_not() {
        let begun = judges(&[
            ("a", "1"),
            (".git/hooks/b", "1"),
            ("git config commit.gpgsign", "true"),
        ]);
        let mut known = KnownGuard::from(CommitGuard {
            judges: begun.clone(),
            ..CommitGuard::default()
        });
        let others = |known: &KnownGuard, now: &JudgeStates| known.changes(now, |_| false).others;
        assert_eq!(others(&known, &begun), JudgeStates::new());
        let now = judges(&[("a", "2"), (".git/hooks/b", "2"), ("/abs/c", "1")]);
        let mut expected = now.clone();
        expected.insert("git config commit.gpgsign".to_owned(), ABSENT.to_owned());
        assert_eq!(others(&known, &now), expected);
        assert_eq!(
            known.unknown_in_worktree(&now),
            judges(&[("a", "2")]),
            "the rest is the checkout's as well"
        );
        let shown = CommitRefusal::GuardChanged {
            folder: String::new(),
            files: name_judges(&judges(&[("a", "2")])),
        };
        assert_eq!(
            known.still_as_shown(&now, &shown),
            judges(&[("a", "2")]),
            "what else changed was not shown"
        );
        assert_eq!(
            known.still_as_shown(&judges(&[("a", "3")]), &shown),
            JudgeStates::new(),
            "a changed again"
        );
        let hook = CommitRefusal::Other {
            words: String::new(),
        };
        assert_eq!(
            known.still_as_shown(&now, &hook),
            JudgeStates::new(),
            "no state was shown"
        );
        known.accept(&judges(&[("a", "2")]));
        assert!(
            !others(&known, &now).contains_key("a") && !others(&known, &begun).contains_key("a")
        );
    }
}
