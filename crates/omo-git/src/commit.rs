//! `commit_paths`: commits exactly the files of one step as their user would, with their identity, settings and hooks;
//! a keeper ends git at a time limit, and everything else stays as it is staged. Message and paths reach git in files,
//! never on a command line.

mod git_formats;
mod refusal;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::check::session_check::CheckEnd;
use omo_process::environment::CheckEnvironment;
use omo_process::job::CommandOutcome;
use omo_process::platform::shell_variable;
use omo_state::files::folder::FolderError;
use omo_state::git_worktree::GitWorktree;

use crate::git_command::{
    GitOutcome, OutputMode, git_in, git_program, ignore_case_setting, run, tree_variables,
};
use crate::git_output::{ChangedEntry, GitEntry, list, lossy_text, parse_changes, parts};
use crate::git_settings::GitSettings;
use crate::platform::path_of;
use crate::private_folder::{PrivateFolder, tree_name};
use crate::proved_worktree::ProvedWorktree;
use crate::repository::{GitRepository, trimmed_line};
use crate::restore::{
    IndexEntries, RestoreSelection, differing_paths, read_index, read_index_and_untracked,
    restore_index_paths,
};
use crate::tree_path::{TreePath, relative_path, tree_path};
use crate::user_git::UserGit;
use git_formats::{FailedChild, failed_child, has_run_hook, message_with, pathspec_list};

pub use refusal::CommitRefusal;

const FOLDER: [&str; 2] = ["omo", "commit"];
const MESSAGE: &str = "message";
const PATHS: &str = "paths";
const TRACE: &str = "trace";
const MAX_TRACE_BYTES: u64 = 64 * 1024 * 1024;
/// Maximum wait for the commit of another step of the work tree, whose hooks may take long.
const LOCK_WAIT: Duration = Duration::from_secs(120);
const GIT_LIMIT: Duration = Duration::from_secs(60);
/// Part of git's message where `core.safecrlf` refuses a file.
const LINE_ENDS: &str = "would be replaced by";

#[derive(Clone, Copy, Debug)]
pub struct CommitRequest<'a> {
    pub worktree: &'a ProvedWorktree,
    /// Absolute.
    pub state_home: &'a Path,
    /// As [`crate::changes::PathChange::path`]: new, changed and removed files.
    pub paths: &'a [&'a str],
    pub message: &'a str,
    /// Names and values, below the message.
    pub trailers: &'a [(&'a str, &'a str)],
    pub settings: &'a GitSettings,
    /// Maximum time of git with its hooks.
    pub limit: Duration,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommitEnd {
    Made {
        sha: String,
        /// Paths from the project's top that hooks changed or added.
        by_hooks: Vec<String>,
    },
    /// There are no paths to commit.
    NoChange,
    /// `HEAD` holds the paths just as they are: the step committed them itself.
    AlreadyCommitted {
        sha: String,
    },
    Refused(CommitRefusal),
}

/// Commits, and ends git and its hooks once `goes_on` is `false`. The calling binary is its own keeper: see
/// [`omo_process::keeper::run_if_asked`].
pub fn commit_paths(
    order: &CommitRequest<'_>,
    environment: &CheckEnvironment,
    goes_on: impl FnMut() -> bool,
) -> CommitEnd {
    if order.paths.is_empty() {
        return CommitEnd::NoChange;
    }
    let end = CommitWorktree::open(order).and_then(|site| site.commit(order, environment, goes_on));
    end.unwrap_or_else(CommitEnd::Refused)
}

/// `user.name` and `user.email` are known, without which there is no commit.
pub fn has_identity(repository: &GitRepository) -> bool {
    ["GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"]
        .iter()
        .all(|name| {
            repository
                .answer_user(&["var", name])
                .is_ok_and(|(status, _)| status == 0)
        })
}

struct CommitWorktree {
    tree: GitWorktree,
    project: String,
    git: PathBuf,
    private: PrivateFolder,
}

impl CommitWorktree {
    fn open(order: &CommitRequest<'_>) -> Result<Self, CommitRefusal> {
        let (tree, project) = order.worktree.project().ok_or_else(|| {
            refusal(format!(
                "{} is not in a git worktree",
                order.worktree.root().display()
            ))
        })?;
        let tree = tree.clone();
        let git = git_program(&tree.top).ok_or_else(|| refusal("there is no git in PATH"))?;
        let private =
            PrivateFolder::open(order.state_home, &FOLDER, &tree_name(&tree.top), LOCK_WAIT);
        Ok(Self {
            tree,
            project,
            git,
            private: private.map_err(refusal)?,
        })
    }

    fn commit(
        &self,
        order: &CommitRequest<'_>,
        environment: &CheckEnvironment,
        mut goes_on: impl FnMut() -> bool,
    ) -> Result<CommitEnd, CommitRefusal> {
        let names = self.tree_paths(order.paths).map_err(refusal)?;
        let head = self.head();
        let (before, others) = read_index_and_untracked(&self.tree).map_err(refusal)?;
        let (new, known) = {
            let files = self.without_folders(&names)?;
            self.split_new_and_known(files, head.is_some(), &before, &others)?
        };
        // All paths are gone, from the index and `HEAD` too: an earlier commit removed them.
        if let (true, true, Some(sha)) = (new.is_empty(), known.is_empty(), &head) {
            return Ok(CommitEnd::AlreadyCommitted { sha: sha.clone() });
        }
        self.write_inputs(order, &[new.as_slice(), &known].concat())
            .map_err(refusal)?;
        self.add_intent(&new)
            .inspect_err(|_| self.restore_index(&before, &names))?;
        let outcome = self.run("commit --quiet", order, environment, &mut goes_on);
        let made = self.head().filter(|sha| Some(sha) != head.as_ref());
        let trace = self
            .private
            .folder
            .read(TRACE, MAX_TRACE_BYTES)
            .ok()
            .flatten()
            .unwrap_or_default();
        if let Some(sha) = made {
            let is_whole = is_exit(&outcome, 0);
            // A killed git has not written its index.
            let changed = (has_run_hook(&trace) || !is_whole)
                .then(|| self.follow_hooks(head.as_deref(), &sha, &names));
            let by_hooks = changed.flatten().filter(|_| is_whole).unwrap_or_default();
            let by_hooks = by_hooks
                .iter()
                .map(|name| relative_path(&self.project, &String::from_utf8_lossy(&name.0)));
            return Ok(CommitEnd::Made {
                sha,
                by_hooks: by_hooks.collect(),
            });
        }
        let end = match (failed_child(&trace), head) {
            (Some(FailedChild::Hook { hook, status }), _) => {
                CommitEnd::Refused(CommitRefusal::of_hook(hook, status, outcome.tail))
            }
            (Some(FailedChild::Signing), _) => CommitEnd::Refused(CommitRefusal::Signing {
                words: outcome.tail,
            }),
            (None, Some(sha))
                if is_exit(&outcome, 1) && self.has_nothing(order, environment, &mut goes_on) =>
            {
                CommitEnd::AlreadyCommitted { sha }
            }
            (None, _) if is_exit(&outcome, 128) && outcome.tail.contains(LINE_ENDS) => {
                CommitEnd::Refused(CommitRefusal::LineEnds {
                    words: outcome.tail,
                })
            }
            (None, _) => CommitEnd::Refused(CommitRefusal::other(
                &self.failure_reason(&outcome),
                &outcome.tail,
            )),
        };
        self.restore_index(&before, &names);
        Ok(end)
    }

    fn tree_paths(&self, paths: &[&str]) -> Result<Vec<TreePath>, String> {
        paths.iter().map(|path| self.tree_path(path)).collect()
    }

    fn tree_path(&self, path: &str) -> Result<TreePath, String> {
        if path.contains(char::REPLACEMENT_CHARACTER) {
            return Err(format!(
                "{path:?} has a name that is not Unicode: commit it by hand"
            ));
        }
        tree_path(&self.project, path)
            .filter(|name| !name.0.is_empty())
            .ok_or_else(|| format!("{path:?} is outside of the worktree"))
    }

    /// `names` without folders: git needs a file in a folder that took a file's place, which has to be named too.
    fn without_folders(&self, names: &[TreePath]) -> Result<Vec<TreePath>, CommitRefusal> {
        let (folders, files): (Vec<TreePath>, Vec<TreePath>) =
            names.iter().cloned().partition(|name| {
                let meta = self.tree.top.join(path_of(&name.0)).symlink_metadata();
                meta.is_ok_and(|meta| meta.is_dir())
            });
        match folders
            .iter()
            .find(|folder| !files.iter().any(|file| file.is_at_or_below(&folder.0)))
        {
            Some(folder) => {
                let path = path_of(&folder.0);
                let shown = path.to_string_lossy().trim_end_matches('/').to_owned();
                if self
                    .tree
                    .top
                    .join(&path)
                    .join(".git")
                    .symlink_metadata()
                    .is_ok()
                {
                    return Err(CommitRefusal::NestedRepository { path: shown });
                }
                Err(refusal(format!(
                    "{shown} is a folder, of which nothing is named"
                )))
            }
            None => Ok(files),
        }
    }

    fn split_new_and_known(
        &self,
        names: Vec<TreePath>,
        has_head: bool,
        index: &IndexEntries,
        others: &BTreeSet<TreePath>,
    ) -> Result<(Vec<TreePath>, Vec<TreePath>), CommitRefusal> {
        let (mut known, mut rest): (Vec<TreePath>, Vec<TreePath>) =
            names.into_iter().partition(|name| index.contains_key(name));
        let new = rest.extract_if(.., |name| others.contains(name)).collect();
        // `ls-tree` is slow: only for paths that are neither in the index nor untracked.
        if has_head && !rest.is_empty() {
            let committed = self.git_list(
                &["ls-tree", "-r", "-z", "--name-only", "--full-tree", "HEAD"],
                &[],
            )?;
            known.extend(rest.extract_if(.., |name| committed.contains(&name.0)));
        }
        let hidden = rest.iter().find(|name| {
            self.tree
                .top
                .join(path_of(&name.0))
                .symlink_metadata()
                .is_ok()
        });
        match hidden {
            Some(name) => Err(self.hidden_reason(name, index)),
            None => Ok((new, known)),
        }
    }

    fn hidden_reason(&self, name: &TreePath, index: &IndexEntries) -> CommitRefusal {
        let path = lossy_text(&name.0);
        let parents = name.0.iter().enumerate().filter(|(_, byte)| **byte == b'/');
        let mut parents = parents.filter_map(|(end, _)| name.0.get(..end));
        if let Some(folder) = parents.find(|folder| {
            self.tree
                .top
                .join(path_of(folder))
                .join(".git")
                .symlink_metadata()
                .is_ok()
        }) {
            return CommitRefusal::NestedRepository {
                path: lossy_text(folder),
            };
        }
        if let Some(committed) = index
            .keys()
            .find(|known| known.0.eq_ignore_ascii_case(&name.0))
        {
            return CommitRefusal::CaseRename {
                path,
                committed: lossy_text(&committed.0),
            };
        }
        let asked = list([&name.0]);
        let output = self.git_output(
            &["check-ignore", "-v", "-z", "--no-index", "--stdin"],
            &asked,
        );
        let fields: Vec<Vec<u8>> = output
            .map(|output| {
                output
                    .split(|byte| *byte == 0)
                    .map(<[u8]>::to_vec)
                    .collect()
            })
            .unwrap_or_default();
        match fields.as_slice() {
            // Fields: source file, line number, pattern, path.
            [source, _, pattern, ..] => CommitRefusal::Ignored {
                path,
                source: lossy_text(source),
                pattern: lossy_text(pattern),
            },
            _ => refusal(format!("git lists {path} neither as new nor as known")),
        }
    }

    /// Checked-out commit; `None` in a new repository. Git is asked where `HEAD` cannot be read from files.
    fn head(&self) -> Option<String> {
        let arguments = ["rev-parse", "--verify", "--quiet", "HEAD^{commit}"];
        self.tree.head().or_else(|| self.git_line(&arguments))
    }

    fn git_list(
        &self,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<HashSet<Vec<u8>>, CommitRefusal> {
        let output = self.git_output(arguments, input)?;
        Ok(parts(&output).map(<[u8]>::to_vec).collect())
    }

    fn git_output(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, CommitRefusal> {
        let step = format!("git {}", arguments.first().copied().unwrap_or_default());
        match run(
            GIT_LIMIT,
            &self.tree.top,
            arguments,
            &tree_variables(&self.tree),
            input,
            OutputMode::Captured,
        ) {
            Some(GitOutcome::Ended {
                status: 0, output, ..
            }) => Ok(output),
            Some(GitOutcome::Ended {
                status, complaint, ..
            }) => Err(CommitRefusal::other(
                &format!("{step} failed with exit {status}"),
                &String::from_utf8_lossy(&complaint),
            )),
            Some(GitOutcome::TimedOut) => {
                let seconds = GIT_LIMIT.as_secs();
                let why = format!("{step} took longer than {seconds} s");
                Err(CommitRefusal::other(&why, ""))
            }
            None => Err(CommitRefusal::other(
                &format!("{step} could not be run"),
                "",
            )),
        }
    }

    /// Adds new files to the index without their content, also outside of a sparse checkout, so that git commits them.
    fn add_intent(&self, new: &[TreePath]) -> Result<(), CommitRefusal> {
        if !new.is_empty() {
            let arguments = [
                "add",
                "--sparse",
                "--intent-to-add",
                "--pathspec-from-file=-",
                "--pathspec-file-nul",
            ];
            self.git_output(&arguments, &pathspec_list(new))?;
        }
        Ok(())
    }

    fn listing(&self) -> Option<IndexEntries> {
        let index = self.tree.git.join("index");
        read_index(&self.tree, index.exists().then_some(index.as_path())).ok()
    }

    /// Restores the index entries of `names`. Best effort: where another git is at work, a new file stays in the index
    /// without its content, which no commit takes up by itself.
    fn restore_index(&self, before: &IndexEntries, names: &[TreePath]) {
        if let Some(now) = self.listing() {
            let _ = restore_index_paths(
                &self.tree,
                before,
                &now,
                &differing_paths(before, None, &now, RestoreSelection::Paths(names)),
            );
        }
    }

    /// Updates the index from the commit, where a hook changed or added files: git leaves the old entries, and the next
    /// commit would undo the work of the hook. Other staged files stay; where another git is at work, nothing changes.
    /// Returns the paths that hooks changed or added, by which the commit differs from the files that git was given.
    fn follow_hooks(
        &self,
        head: Option<&str>,
        sha: &str,
        names: &[TreePath],
    ) -> Option<BTreeSet<TreePath>> {
        let committed = self.differences(
            &["diff-tree", "-r", "--no-commit-id"],
            &[head.unwrap_or("--root"), sha],
        )?;
        let committed: BTreeMap<TreePath, Option<GitEntry>> = committed
            .into_iter()
            .map(|changed| (changed.path, changed.before))
            .collect();
        let mut by_hooks: BTreeSet<TreePath> = committed
            .keys()
            .filter(|path| !names.contains(path))
            .cloned()
            .collect();
        // A hook that amended the commit leaves no trace in the index.
        if let Some(first) = self
            .git_line(&["rev-parse", "--verify", "--quiet", "HEAD@{1}"])
            .filter(|commit| head != Some(commit))
        {
            by_hooks.extend(
                self.differences(&["diff-tree", "-r"], &[&first, sha])?
                    .into_iter()
                    .map(|changed| changed.path),
            );
        }
        let (mut entries, mut differing) = (IndexEntries::new(), BTreeSet::new());
        for ChangedEntry {
            path,
            before: made,
            after: staged,
        } in self.differences(&["diff-index", "--cached"], &[sha])?
        {
            let is_own = names.contains(&path);
            if is_own || committed.get(&path) == Some(&staged) {
                let entry = made.map(|entry| {
                    let about = format!("{} {} 0\t", entry.mode, entry.object);
                    [about.as_bytes(), &path.0, b"\0"].concat()
                });
                entries.extend(entry.map(|entry| (path.clone(), entry)));
                by_hooks.extend(is_own.then(|| path.clone()));
                differing.insert(path);
            }
        }
        if let Some(now) = self.listing() {
            let _ = restore_index_paths(&self.tree, &entries, &now, &differing);
        }
        Some(by_hooks)
    }

    fn differences(&self, command: &[&str], between: &[&str]) -> Option<Vec<ChangedEntry>> {
        let arguments = [command, &["-z", "--no-renames"], between].concat();
        git_in(&self.tree, &arguments, &[]).and_then(|output| parse_changes(&output))
    }

    fn git_line(&self, arguments: &[&str]) -> Option<String> {
        git_in(&self.tree, arguments, &[]).map(|output| trimmed_line(&output))
    }

    fn write_inputs(
        &self,
        order: &CommitRequest<'_>,
        names: &[TreePath],
    ) -> Result<(), FolderError> {
        self.private.folder.replace(
            MESSAGE,
            message_with(order.message, order.trailers).as_bytes(),
        )?;
        self.private.folder.replace(PATHS, &pathspec_list(names))?;
        self.private.folder.remove(TRACE)
    }

    fn has_nothing(
        &self,
        order: &CommitRequest<'_>,
        environment: &CheckEnvironment,
        goes_on: impl FnMut() -> bool,
    ) -> bool {
        is_exit(
            &self.run("commit --dry-run --porcelain", order, environment, goes_on),
            1,
        )
    }

    fn run(
        &self,
        subcommand: &str,
        order: &CommitRequest<'_>,
        environment: &CheckEnvironment,
        goes_on: impl FnMut() -> bool,
    ) -> CommandOutcome {
        let [message, paths] = ["OMO_MESSAGE", "OMO_PATHS"].map(shell_variable);
        // `cleanup`: a line that begins with `#` belongs to the message.
        let case = ignore_case_setting(&self.tree)
            .map(|setting| format!("-c {setting} "))
            .unwrap_or_default();
        let command = format!(
            "{case}{subcommand} --only --cleanup=whitespace --file={message} --pathspec-from-file={paths} --pathspec-file-nul"
        );
        let variables = [
            ("OMO_MESSAGE", MESSAGE),
            ("OMO_PATHS", PATHS),
            ("GIT_TRACE2_EVENT", TRACE),
        ];
        let variables = variables
            .map(|(name, file)| (name, self.private.folder.path().join(file).into_os_string()));
        let user = UserGit {
            environment,
            settings: order.settings,
            limit: order.limit,
        };
        user.run(
            self.git.clone(),
            &self.tree.top,
            &command,
            variables.to_vec(),
            goes_on,
        )
    }

    fn failure_reason(&self, outcome: &CommandOutcome) -> String {
        let lock = self.tree.git.join("index.lock");
        // A killed git cannot remove it.
        let lock_hint = lock.exists().then(|| {
            format!(
                "; {} is there: remove it once no git works in this repository",
                lock.display()
            )
        });
        let lock_hint = lock_hint.unwrap_or_default();
        match &outcome.end {
            None => format!("git commit was ended{lock_hint}"),
            Some(CheckEnd::Exited(status)) => {
                format!("git commit failed with exit {status}{lock_hint}")
            }
            Some(CheckEnd::TimedOut(seconds)) => {
                format!("git commit and its hooks took longer than {seconds} s{lock_hint}")
            }
            Some(CheckEnd::Killed(signal)) => {
                format!("git commit was ended by signal {signal}{lock_hint}")
            }
            Some(CheckEnd::NotStarted(why)) => format!("git commit {why}"),
        }
    }
}

#[expect(clippy::needless_pass_by_value, reason = "an error is mapped to it")]
fn refusal(why: impl ToString) -> CommitRefusal {
    CommitRefusal::Other {
        words: why.to_string(),
    }
}

fn is_exit(outcome: &CommandOutcome, status: i32) -> bool {
    matches!(outcome.end, Some(CheckEnd::Exited(exit)) if exit == status)
}
