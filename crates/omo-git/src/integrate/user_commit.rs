//! Commits that are made for the user on top of what a run has come to: their hooks are asked as `git merge` and
//! `git commit` ask them, and they are signed where the user's commits are.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_state::files::regular_file::{self, Links};

use super::merge::{MergeError, require_commits};
use crate::git_command::{GitOutcome, one_line};
use crate::git_output::parts;
use crate::proved_worktree::ProvedWorktree;
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};
use crate::user_git::{COMMIT_HOOKS, UserGit, hooks_folder, present_hooks, signs_commits};

/// Hooks of `git merge` that can refuse, in the order in which it asks them.
const MERGE_HOOKS: [&str; 3] = ["pre-merge-commit", "prepare-commit-msg", "commit-msg"];
/// Maximum time of a commit, whose signature may wait for a person.
const LIMIT: Duration = Duration::from_secs(300);
const MAX_MESSAGE_BYTES: u64 = 1024 * 1024;

/// Commit that `CommitHooks` are asked about.
#[derive(Clone, Copy, Debug)]
pub struct CommitDraft<'a> {
    /// First parent.
    pub tip: &'a str,
    /// The commit that it merges, if it does.
    pub merged: Option<&'a str>,
    /// Tree of the commit.
    pub tree: &'a str,
    /// Commit message.
    pub message: &'a str,
}

/// Hooks that judge a `CommitDraft`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitHooks {
    folder: PathBuf,
    names: Vec<&'static str>,
}

impl CommitHooks {
    /// Looks for those of a repository.
    ///
    /// # Errors
    ///
    /// git cannot tell.
    pub fn find(repository: &GitRepository, draft: &CommitDraft<'_>) -> Result<Self, GitFailed> {
        let folder = hooks_folder(repository)?;
        let names = present_hooks(
            &folder,
            if draft.merged.is_some() {
                &MERGE_HOOKS
            } else {
                &COMMIT_HOOKS
            },
        );
        Ok(Self { folder, names })
    }

    /// `true` without hooks.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Asks them in a work tree of omo's own in which the first parent is checked out, and gives the message as they
    /// leave it; in words which one refused, and why.
    ///
    /// # Errors
    ///
    /// A step of git fails, or its files cannot be written.
    pub fn ask(
        &self,
        tree: &ProvedWorktree,
        draft: &CommitDraft<'_>,
        user: &UserGit<'_>,
        mut is_wanted: impl FnMut() -> bool,
    ) -> Result<Result<String, String>, MergeError> {
        let none = || GitFailed::new("rev-parse --git-dir", tree.root());
        let inside = tree.repository().ok_or_else(none)?;
        inside.git(&["read-tree", "-m", "-u", draft.tip, draft.tree])?;
        let file = |name: &str| inside.git_folder().join(name);
        let written = |path: &Path, text: &str| {
            let failed = |_| GitFailed::new(format!("writing {}", path.display()), tree.root());
            fs::write(path, text).map_err(failed)
        };
        let (message, source) = match draft.merged {
            Some(commit) => {
                written(&file("MERGE_HEAD"), &format!("{commit}\n"))?;
                written(&file("MERGE_MODE"), "no-ff")?;
                (file("MERGE_MSG"), "merge")
            }
            None => (file("COMMIT_EDITMSG"), "message"),
        };
        written(&message, &format!("{}\n", draft.message.trim_end()))?;
        for name in &self.names {
            let path = omo_process::platform::shell_variable("OMO_MESSAGE");
            let arguments = match *name {
                "prepare-commit-msg" => format!(" -- {path} {source}"),
                "commit-msg" => format!(" -- {path}"),
                _ => String::new(),
            };
            let setting = omo_process::platform::shell_variable("OMO_HOOKS");
            let mut hooks = OsString::from("core.hooksPath=");
            hooks.push(&self.folder);
            let variables = vec![
                ("OMO_HOOKS", hooks),
                ("OMO_MESSAGE", message.clone().into_os_string()),
                ("GIT_INDEX_FILE", file("index").into_os_string()),
                // As git tells them where no editor is opened.
                ("GIT_EDITOR", ":".into()),
            ];
            let words = format!("-c {setting} hook run {name}{arguments}");
            if let Err(why) = user.run_in(&inside, &words, variables, &mut is_wanted) {
                return Ok(Err(format!("its hook `{name}` refused that: {why}")));
            }
        }
        let text = regular_file::read(&message, MAX_MESSAGE_BYTES, Links::Refused)
            .ok()
            .flatten()
            .unwrap_or_default();
        let text = trimmed_line(&inside.git_with(&["stripspace"], &[], &text)?);
        Ok(if text.is_empty() {
            Err("its hooks leave no message".to_owned())
        } else {
            Ok(text)
        })
    }
}

/// Makes a commit whose hooks were asked, with the message that they have left. No reference names it yet. A signature
/// that waits for a person is given up once `is_wanted` says no.
///
/// # Errors
///
/// A parent is no commit, git does not know who commits, the commit could not be signed, or git fails.
pub fn make_commit(
    repository: &GitRepository,
    draft: &CommitDraft<'_>,
    message: &str,
    mut is_wanted: impl FnMut() -> bool,
) -> Result<String, MergeError> {
    let parents: Vec<&str> = [draft.tip].into_iter().chain(draft.merged).collect();
    if let Some(bad) = parents
        .iter()
        .chain([&draft.tree])
        .find(|name| !is_object_name(name))
    {
        return Err(MergeError::NoCommit {
            commit: (*bad).to_owned(),
        });
    }
    let signs = signs_commits(repository)?;
    let mut arguments = vec!["commit-tree", draft.tree];
    arguments.extend(signs.then_some("-S"));
    arguments.extend(parents.iter().flat_map(|parent| ["-p", *parent]));
    arguments.extend(["-m", message]);
    let failed = || repository.failure_of(arguments.get(..2).unwrap_or_default());
    match repository.call_user_while(LIMIT, &arguments, &mut is_wanted) {
        Some(GitOutcome::Ended {
            status: 0, said, ..
        }) => {
            return require_commits(repository, &parents, Ok(trimmed_line(&said)));
        }
        Some(GitOutcome::Ended { complaint, .. }) => {
            if repository.answer_user(&["var", "GIT_COMMITTER_IDENT"])?.0 != 0 {
                return Err(MergeError::NoIdentity);
            }
            require_commits(repository, &parents, Ok(()))?;
            if signs {
                return Err(MergeError::Unsigned {
                    words: one_line(&String::from_utf8_lossy(&complaint)),
                });
            }
        }
        Some(GitOutcome::TimedOut) if signs => {
            return Err(MergeError::Unsigned {
                words: format!("it took longer than {} s", LIMIT.as_secs()),
            });
        }
        Some(GitOutcome::TimedOut) | None => {}
    }
    Err(failed().into())
}

/// Commits between two that are not signed, though their user's are to be; none where they need not be.
///
/// # Errors
///
/// git cannot tell.
pub fn unsigned_commits(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<usize, GitFailed> {
    if !signs_commits(repository)? || !is_object_name(from) || !is_object_name(to) {
        return Ok(0);
    }
    let listed = repository.git(&["rev-list", "--header", to, &format!("^{from}")])?;
    let is_unsigned = |commit: &&[u8]| {
        let mut head = commit
            .split(|byte| *byte == b'\n')
            .take_while(|line| !line.is_empty());
        !head.any(|line| line.starts_with(b"gpgsig"))
    };
    Ok(parts(&listed).filter(is_unsigned).count())
}
