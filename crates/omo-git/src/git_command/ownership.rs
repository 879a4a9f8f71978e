//! Check that git trusts the owner of a repository (`safe.directory`). Settings and hooks of
//! another user's repository could run programs, and git skips its own check where `GIT_DIR` is
//! set.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use omo_core::text::command_text::quote_argument;
use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use super::{GitOutcome, OutputMode, run};
use crate::git_settings::{borrowed, user_variables};
use crate::platform::is_of_other_user;

const LIMIT: Duration = Duration::from_secs(20);
/// Setting that every version of git names when it refuses an owner.
const SETTING: &str = "safe.directory";

/// A repository of another user that git does not accept.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum DubiousOwnership {
    #[error("the repository in {} belongs to another user, and git refuses it", .0.display())]
    Refused(PathBuf),
    /// git is missing, fails otherwise, or takes too long.
    #[error("the repository in {} belongs to another user, and git does not say whether to trust it", .0.display())]
    Unanswered(PathBuf),
}

impl DubiousOwnership {
    pub fn hint(&self) -> String {
        match self {
            Self::Refused(top) => {
                let folder = quote_argument(&top.to_string_lossy());
                format!("if you trust what it runs: `git config --global --add {SETTING} {folder}`")
            }
            Self::Unanswered(_) => "run `git status` there, and do what it says".to_owned(),
        }
    }
}

/// Work tree of another user's repository.
#[derive(Debug)]
pub struct ForeignRepository(PathBuf);

impl ForeignRepository {
    /// Finds a repository of another user around `folder`, without git.
    pub fn find(folder: &Path) -> Option<Self> {
        let tree = GitWorktree::find(folder)?;
        let places = [tree.top.clone(), tree.top.join(".git"), tree.git];
        places
            .iter()
            .any(|place| is_of_other_user(place))
            .then_some(Self(tree.top))
    }

    /// Fails unless git accepts the repository, by a `safe.directory` of the user.
    pub fn require_trusted(&self, limit: Duration) -> Result<(), DubiousOwnership> {
        ask_git(limit, &self.0)
    }
}

/// [`ForeignRepository::require_trusted`] for a folder, which may lie in no repository.
pub fn require_trusted(folder: &Path) -> Result<(), DubiousOwnership> {
    ForeignRepository::find(folder).map_or(Ok(()), |repository| repository.require_trusted(LIMIT))
}

/// `true` where git may get this git folder as `GIT_DIR`.
pub(crate) fn may_name_git_folder(folder: &Path, git: &Path) -> bool {
    static KNOWN: Mutex<BTreeMap<PathBuf, bool>> = Mutex::new(BTreeMap::new());
    if !is_of_other_user(git) {
        return true;
    }
    let known = KNOWN
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get(git)
        .copied();
    known.unwrap_or_else(|| {
        let is_accepted = ask_git(LIMIT, folder).is_ok();
        KNOWN
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(git.to_owned(), is_accepted);
        is_accepted
    })
}

fn ask_git(limit: Duration, folder: &Path) -> Result<(), DubiousOwnership> {
    let own = user_variables(None);
    let answer = run(
        limit,
        folder,
        &["rev-parse", "--git-dir"],
        &borrowed(&own),
        &[],
        OutputMode::Captured,
    );
    read_answer(answer, folder)
}

fn read_answer(answer: Option<GitOutcome>, folder: &Path) -> Result<(), DubiousOwnership> {
    match answer {
        Some(GitOutcome::Ended { status: 0, .. }) => Ok(()),
        Some(GitOutcome::Ended { complaint, .. })
            if String::from_utf8_lossy(&complaint).contains(SETTING) =>
        {
            Err(DubiousOwnership::Refused(folder.to_owned()))
        }
        Some(GitOutcome::Ended { .. } | GitOutcome::TimedOut) | None => {
            Err(DubiousOwnership::Unanswered(folder.to_owned()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_complaint_about_an_owner_is_a_refusal() {
        let folder = Path::new("/srv/project");
        let ended = |status, complaint: &str| {
            read_answer(
                Some(GitOutcome::Ended {
                    status,
                    output: Vec::new(),
                    complaint: complaint.into(),
                }),
                folder,
            )
        };
        assert_eq!(ended(0, "warning: safe.directory"), Ok(()));
        for complaint in [
            "fatal: detected dubious ownership in repository at '/srv/project'\n\
             To add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/project\n",
            "fatal: unsafe repository ('/srv/project' is owned by someone else)\n\
             To add an exception for this directory, call:\n\n\tgit config --global --add safe.directory /srv/project\n",
        ] {
            assert_eq!(
                ended(128, complaint),
                Err(DubiousOwnership::Refused(folder.to_owned()))
            );
        }
        let unanswered = DubiousOwnership::Unanswered(folder.to_owned());
        assert!(!unanswered.to_string().contains("refuses"));
        let unanswered = Err(unanswered);
        assert_eq!(
            ended(128, "fatal: bad config line 1 in file /root/.gitconfig\n"),
            unanswered
        );
        assert_eq!(ended(0x7f, ""), unanswered);
        assert_eq!(read_answer(Some(GitOutcome::TimedOut), folder), unanswered);
        assert_eq!(read_answer(None, folder), unanswered);
    }
}
