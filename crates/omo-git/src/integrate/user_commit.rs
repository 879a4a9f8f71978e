//! Makes commits in the user's name: their hooks judge them as in `git commit`, and they are
//! signed.

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

/// Hooks that can refuse a `git merge`, in the order of their calls.
const MERGE_HOOKS: [&str; 3] = ["pre-merge-commit", "prepare-commit-msg", "commit-msg"];
/// Time for a signature, which may wait for a person.
const LIMIT: Duration = Duration::from_secs(300);
const MAX_MESSAGE_BYTES: u64 = 1024 * 1024;

/// Commit to be made, as the hooks see it.
#[derive(Clone, Copy, Debug)]
pub struct CommitDraft<'a> {
    pub tip: &'a str,
    /// Second parent of a merge.
    pub merged: Option<&'a str>,
    pub tree: &'a str,
    pub message: &'a str,
}

/// Present hooks of the user that judge a `CommitDraft`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommitHooks {
    folder: PathBuf,
    names: Vec<&'static str>,
}

impl CommitHooks {
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

    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Asks the hooks in a work tree of omo's own at the first parent; returns their message, or the words of a
    /// refusal.
    pub fn ask(
        &self,
        tree: &ProvedWorktree,
        draft: &CommitDraft<'_>,
        user: &UserGit<'_>,
        mut is_wanted: impl FnMut() -> bool,
    ) -> Result<Result<String, String>, MergeError> {
        let inside = tree
            .repository()
            .ok_or_else(|| GitFailed::new("rev-parse --git-dir", tree.root()))?;
        inside.git(&["read-tree", "-m", "-u", draft.tip, draft.tree])?;
        let folder = inside.git_folder();
        let (message, source) = match draft.merged {
            Some(commit) => {
                write_text(&folder.join("MERGE_HEAD"), &format!("{commit}\n"), tree)?;
                write_text(&folder.join("MERGE_MODE"), "no-ff", tree)?;
                (folder.join("MERGE_MSG"), "merge")
            }
            None => (folder.join("COMMIT_EDITMSG"), "message"),
        };
        write_text(&message, &format!("{}\n", draft.message.trim_end()), tree)?;
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
                ("GIT_INDEX_FILE", folder.join("index").into_os_string()),
                // As git tells hooks without an editor.
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

fn write_text(path: &Path, text: &str, tree: &ProvedWorktree) -> Result<(), GitFailed> {
    fs::write(path, text)
        .map_err(|_| GitFailed::new(format!("writing {}", path.display()), tree.root()))
}

/// Makes a commit, which no reference names, with the message of its hooks. A signature is waited for while
/// `is_wanted`.
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
    match repository.call_user_while(LIMIT, &arguments, &mut is_wanted) {
        Some(GitOutcome::Ended {
            status: 0, output, ..
        }) => {
            return require_commits(repository, &parents, Ok(trimmed_line(&output)));
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
    Err(repository
        .failure_of(arguments.get(..2).unwrap_or_default())
        .into())
}

/// Number of commits without a required signature.
pub fn unsigned_commits(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<usize, GitFailed> {
    if !signs_commits(repository)? || !is_object_name(from) || !is_object_name(to) {
        return Ok(0);
    }
    let listed = repository.git(&["rev-list", "--header", to, &format!("^{from}")])?;
    let unsigned = parts(&listed).filter(|commit| {
        let mut head = commit
            .split(|byte| *byte == b'\n')
            .take_while(|line| !line.is_empty());
        !head.any(|line| line.starts_with(b"gpgsig"))
    });
    Ok(unsigned.count())
}
