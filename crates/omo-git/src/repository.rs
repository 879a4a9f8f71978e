//! Changes worktrees, commits and references of a repository, and runs no program of it: its hooks,
//! filters and merge drivers stay off. Those of the user's settings work.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::StateLock;
use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use crate::git_command::{GitOutcome, OutputMode, answer_within, one_line, run, run_as_needed};
use crate::git_output::{lossy_text, parts};
use crate::git_settings::{GitSettings, borrowed, user_variables};
use crate::own_git_dir::quote_path;
use crate::tree::file_mark;

/// E-mail address of commits that only keep a worktree, unlike those with work.
pub(crate) const MAKER_EMAIL: &str = "omo@localhost";
/// Identity for commits that are no work of the user.
pub(crate) const OMO_IDENTITY: [(&str, &str); 4] = [
    ("GIT_AUTHOR_NAME", "omo"),
    ("GIT_AUTHOR_EMAIL", MAKER_EMAIL),
    ("GIT_COMMITTER_NAME", "omo"),
    ("GIT_COMMITTER_EMAIL", MAKER_EMAIL),
];

const LIMIT: Duration = Duration::from_secs(600);
/// Options to compress objects, and to sync them to the disk.
const LASTING: [&str; 8] = [
    "-c",
    "core.fsync=committed,reference",
    "-c",
    "core.looseCompression=-1",
    "-c",
    "submodule.recurse=false",
    "-c",
    "worktree.useRelativePaths=false",
];
const PROGRAMS: &str = "^(filter[.].*[.](clean|smudge|process|required)|merge[.].*[.]driver)$";

/// A failed step, such as `git merge-tree`.
#[derive(Debug, Error, PartialEq, Eq)]
#[error("`git {command}` failed in {}{}{complaint}", folder.display(), if complaint.is_empty() { "" } else { ": " })]
pub struct GitFailed {
    /// Words after `git`.
    pub command: String,
    pub folder: PathBuf,
    /// One line of git; empty where unknown.
    pub complaint: String,
}

impl GitFailed {
    pub(crate) fn new(command: impl Into<String>, folder: &Path) -> Self {
        Self {
            command: command.into(),
            folder: folder.to_owned(),
            complaint: String::new(),
        }
    }
}

/// A repository, seen from one of its work trees.
#[derive(Clone, Debug)]
pub struct GitRepository {
    tree: GitWorktree,
    known: Arc<RepositoryCache>,
    /// The user's settings for commits; `None` for the environment of this process.
    settings: Option<Arc<GitSettings>>,
}

const OMO_FOLDER: &str = "omo";
/// Lock file while git makes or removes a worktree.
const WORKTREES_LOCK: &str = "worktrees.lock";
/// Longer than others take for theirs.
const WORKTREES_WAIT: Duration = Duration::from_secs(60);

#[derive(Debug, Default)]
struct RepositoryCache {
    empty: OnceLock<String>,
    /// Settings that turn programs off, with the marks of the files of settings.
    off: Mutex<Option<(String, Vec<String>)>>,
}

/// Row of `git status`.
pub(crate) struct StatusEntry {
    pub(crate) letters: [u8; 2],
    pub(crate) path: Vec<u8>,
}

impl GitRepository {
    /// Repository around `folder`; `None` outside of work trees.
    pub fn find(folder: &Path) -> Option<Self> {
        Self::of(&GitWorktree::find(&folder.canonicalize().ok()?)?)
    }

    /// The work tree's folders count as they are on the disk.
    pub(crate) fn of(tree: &GitWorktree) -> Option<Self> {
        let tree = GitWorktree {
            top: tree.top.canonicalize().ok()?,
            git: tree.git.canonicalize().ok()?,
            common: tree.common.canonicalize().ok()?,
        };
        let repository = Self {
            tree,
            known: Arc::default(),
            settings: None,
        };
        repository.disabled_programs().ok()?;
        Some(repository)
    }

    /// View of the repository from another worktree, whose own settings have no effect.
    pub(crate) fn seen_from_worktree(&self, top: &Path, git: &Path) -> Self {
        let tree = GitWorktree {
            top: top.to_owned(),
            git: git.to_owned(),
            common: self.tree.common.clone(),
        };
        Self {
            tree,
            known: Arc::clone(&self.known),
            settings: self.settings.clone(),
        }
    }

    /// Copy of the repository with saved settings of the user instead of this process's environment.
    #[must_use]
    pub fn obeying(self, settings: &GitSettings) -> Self {
        Self {
            settings: Some(Arc::new(settings.clone())),
            ..self
        }
    }

    /// Opens a repository that shares nothing with others, such as that of a submodule.
    pub(crate) fn open_alone(top: &Path, git: &Path) -> Option<Self> {
        git.join("HEAD").symlink_metadata().ok()?;
        Self::of(&GitWorktree {
            top: top.to_owned(),
            git: git.to_owned(),
            common: git.to_owned(),
        })
    }

    pub fn top(&self) -> &Path {
        &self.tree.top
    }

    pub(crate) fn work_tree(&self) -> &GitWorktree {
        &self.tree
    }

    pub(crate) fn git_folder(&self) -> &Path {
        &self.tree.git
    }

    pub(crate) fn common(&self) -> &Path {
        &self.tree.common
    }

    /// Runs git; exit status and output, or an error after a timeout.
    pub(crate) fn answer(
        &self,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Result<(i32, Vec<u8>), GitFailed> {
        self.answer_without(&self.disabled_programs()?, arguments, variables, input)
    }

    /// [`Self::answer`] without variables and input.
    pub(crate) fn status_and_output(
        &self,
        arguments: &[&str],
    ) -> Result<(i32, Vec<u8>), GitFailed> {
        self.answer(arguments, &[], &[])
    }

    fn answer_without(
        &self,
        off: &[String],
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Result<(i32, Vec<u8>), GitFailed> {
        self.call(off, arguments, variables, |folder, words, variables| {
            answer_within(LIMIT, folder, words, variables, input)
        })
        .ok_or_else(|| self.failure_of(arguments))
    }

    pub(crate) fn git_into(
        &self,
        file: File,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<(), GitFailed> {
        let done = self.call(
            &self.disabled_programs()?,
            arguments,
            &[],
            |folder, words, variables| {
                run(
                    LIMIT,
                    folder,
                    words,
                    variables,
                    input,
                    OutputMode::File(file),
                )
            },
        );
        let is_done = matches!(done, Some(GitOutcome::Ended { status: 0, .. }));
        is_done
            .then_some(())
            .ok_or_else(|| self.failure_of(arguments))
    }

    /// Objects of files byte for byte, in the order of `paths`; `options` may be `-w`.
    pub(crate) fn hash_files(
        &self,
        options: &[&str],
        paths: &[PathBuf],
    ) -> Result<Vec<String>, GitFailed> {
        let input: Vec<u8> = paths
            .iter()
            .flat_map(|path| [quote_path(path).as_encoded_bytes(), b"\n"].concat())
            .collect();
        let arguments = [&["hash-object", "--no-filters", "--stdin-paths"], options].concat();
        let output = self.git_with(&arguments, &[], &input)?;
        Ok(String::from_utf8_lossy(&output)
            .lines()
            .map(str::to_owned)
            .collect())
    }

    pub(crate) fn call_remote(
        &self,
        limit: Duration,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
    ) -> Option<GitOutcome> {
        self.call(
            &self.disabled_programs().ok()?,
            arguments,
            variables,
            |folder, words, variables| {
                run(limit, folder, words, variables, &[], OutputMode::Captured)
            },
        )
    }

    /// [`Self::answer`] with the user's identity and settings.
    pub(crate) fn answer_user(&self, arguments: &[&str]) -> Result<(i32, Vec<u8>), GitFailed> {
        self.answer(
            arguments,
            &borrowed(&user_variables(self.settings.as_deref())),
            &[],
        )
    }

    /// [`Self::call_remote`] while `is_needed`.
    pub(crate) fn call_remote_while(
        &self,
        limit: Duration,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        is_needed: &mut dyn FnMut() -> bool,
    ) -> Option<GitOutcome> {
        self.call(
            &self.disabled_programs().ok()?,
            arguments,
            variables,
            |folder, words, variables| {
                run_as_needed(
                    limit,
                    folder,
                    words,
                    variables,
                    &[],
                    OutputMode::Captured,
                    Some(is_needed),
                )
            },
        )
    }

    /// [`Self::call_remote_while`] with the user's identity and settings.
    pub(crate) fn call_user_while(
        &self,
        limit: Duration,
        arguments: &[&str],
        is_needed: &mut dyn FnMut() -> bool,
    ) -> Option<GitOutcome> {
        self.call_remote_while(
            limit,
            arguments,
            &borrowed(&user_variables(self.settings.as_deref())),
            is_needed,
        )
    }

    fn call<T>(
        &self,
        disabled: &[String],
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        run: impl FnOnce(&Path, &[&str], &[(&str, &OsStr)]) -> T,
    ) -> T {
        // Also for a worktree whose folder is gone.
        let folder = if self.tree.top.is_dir() {
            &self.tree.top
        } else {
            &self.tree.common
        };
        let place = [
            ("GIT_DIR", self.tree.git.as_os_str()),
            ("GIT_COMMON_DIR", self.tree.common.as_os_str()),
            ("GIT_WORK_TREE", folder.as_os_str()),
        ];
        let variables: Vec<_> = place.into_iter().chain(variables.iter().copied()).collect();
        let disabled = disabled.iter().flat_map(|setting| ["-c", setting]);
        let words: Vec<&str> = LASTING
            .into_iter()
            .chain(disabled)
            .chain(arguments.iter().copied())
            .collect();
        run(folder, &words, &variables)
    }

    pub(crate) fn git(&self, arguments: &[&str]) -> Result<Vec<u8>, GitFailed> {
        self.git_with(arguments, &[], &[])
    }

    /// [`Self::git`] with variables and input.
    pub(crate) fn git_with(
        &self,
        arguments: &[&str],
        variables: &[(&str, &OsStr)],
        input: &[u8],
    ) -> Result<Vec<u8>, GitFailed> {
        let ended = self.call(
            &self.disabled_programs()?,
            arguments,
            variables,
            |folder, words, variables| {
                run(LIMIT, folder, words, variables, input, OutputMode::Captured)
            },
        );
        let complaint = match ended {
            Some(GitOutcome::Ended {
                status: 0, output, ..
            }) => return Ok(output),
            Some(GitOutcome::Ended { complaint, .. }) => {
                one_line(&String::from_utf8_lossy(&complaint))
            }
            Some(GitOutcome::TimedOut) | None => String::new(),
        };
        Err(GitFailed {
            complaint,
            ..self.failure_of(arguments)
        })
    }

    /// Differences from `HEAD`, with new files. Ignored files need an option; of a submodule only the commit counts.
    pub(crate) fn status(&self, options: &[&str]) -> Result<Vec<StatusEntry>, GitFailed> {
        let status = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=all",
            "--no-renames",
            "--ignore-submodules=dirty",
        ];
        let output = self.git(&[&status, options].concat())?;
        let entries = parts(&output).filter_map(|entry| match entry {
            [index, tree, b' ', path @ ..] => Some(StatusEntry {
                letters: [*index, *tree],
                path: path.to_vec(),
            }),
            _ => None,
        });
        Ok(entries.collect())
    }

    /// `git worktree`, one at a time also between processes: git fails where it meets another worktree half made. Best
    /// effort: without the lock file git is asked all the same.
    pub(crate) fn git_on_worktrees(&self, arguments: &[&str]) -> Result<(), GitFailed> {
        let folder = GuardedFolder::create_below(self.common(), &[OMO_FOLDER]).ok();
        let _alone = folder
            .and_then(|folder| StateLock::take_named(&folder, WORKTREES_LOCK, WORKTREES_WAIT).ok());
        self.git(&[["worktree"].as_slice(), arguments].concat())
            .map(drop)
    }

    pub(crate) fn git_line(&self, arguments: &[&str]) -> Result<String, GitFailed> {
        self.git(arguments).map(|output| trimmed_line(&output))
    }

    /// Commit of a reference; `None` where there is no such reference.
    pub fn commit_of(&self, reference: &str) -> Result<Option<String>, GitFailed> {
        let commit = format!("{reference}^{{commit}}");
        let arguments = ["rev-parse", "--verify", "--quiet", &commit];
        match self.status_and_output(&arguments)? {
            (0, output) => Ok(Some(trimmed_line(&output))),
            (1, _) => Ok(None),
            // git could not look: no answer.
            _ => Err(self.failure_of(&arguments)),
        }
    }

    /// Objects of several names in one call; `None` where one is missing.
    pub(crate) fn resolve_all<const N: usize>(
        &self,
        names: [&str; N],
    ) -> Result<Option<[String; N]>, GitFailed> {
        let arguments = [["rev-parse", "--quiet"].as_slice(), &names].concat();
        let (status, output) = self.status_and_output(&arguments)?;
        let lines: Vec<String> = String::from_utf8_lossy(&output)
            .lines()
            .map(str::to_owned)
            .collect();
        let lines = lines
            .try_into()
            .ok()
            .filter(|lines: &[String; N]| lines.iter().all(|line| is_object_name(line)));
        Ok(lines.filter(|_| status == 0))
    }

    pub(crate) fn checkouts(&self, branch: &str) -> Result<Vec<(String, PathBuf)>, GitFailed> {
        let listed = self.git(&["worktree", "list", "--porcelain", "-z"])?;
        let tops = parse_worktrees(&String::from_utf8_lossy(&listed), branch);
        // For a submodule, or a separate git folder, git names that folder.
        let mut checkouts = Vec::new();
        for top in tops {
            let git_folder =
                GitWorktree::at(Path::new(&top)).and_then(|tree| tree.git.canonicalize().ok());
            checkouts.extend(git_folder.map(|git_folder| (top, git_folder)));
        }
        Ok(checkouts)
    }

    /// Id of `COMMIT^{tree}`.
    pub fn tree_of(&self, commit: &str) -> Result<String, GitFailed> {
        self.git_line(&[
            "rev-parse",
            "--verify",
            "--quiet",
            &format!("{commit}^{{tree}}"),
        ])
    }

    pub(crate) fn empty_tree(&self) -> Result<String, GitFailed> {
        if let Some(known) = self.known.empty.get() {
            return Ok(known.clone());
        }
        let made = trimmed_line(&self.git(&["hash-object", "-w", "-t", "tree", "--stdin"])?);
        Ok(self.known.empty.get_or_init(|| made).clone())
    }

    pub(crate) fn blob(&self, object: &str) -> Result<Vec<u8>, GitFailed> {
        self.git(&["cat-file", "blob", object])
    }

    pub(crate) fn write_blob(&self, bytes: &[u8]) -> Result<String, GitFailed> {
        Ok(trimmed_line(&self.git_with(
            &["hash-object", "-w", "--stdin"],
            &[],
            bytes,
        )?))
    }

    /// `true` where the history of `within` holds all of these commits.
    pub fn contains(&self, within: &str, commits: &[String]) -> Result<bool, GitFailed> {
        let list = [commits.join("\n").as_str(), "\n^", within, "\n"].concat();
        let output = self.git_with(
            &["rev-list", "--max-count=1", "--stdin"],
            &[],
            list.as_bytes(),
        )?;
        Ok(output.is_empty())
    }

    pub(crate) fn failure_of(&self, arguments: &[&str]) -> GitFailed {
        GitFailed::new(arguments.join(" "), self.top())
    }

    pub(crate) fn disabled_filters(&self) -> Result<Vec<String>, GitFailed> {
        let off = self.disabled_programs()?;
        let names = off
            .iter()
            .filter_map(|setting| setting.strip_prefix("filter.")?.rsplit_once('.'));
        let mut names: Vec<String> = names.map(|(name, _)| name.to_owned()).collect();
        names.dedup();
        Ok(names)
    }

    /// Settings that turn off programs of the repository's own settings; a merge driver becomes one that finds a
    /// conflict, since an empty one takes one side. Read again once the files change: a session may have changed them.
    fn disabled_programs(&self) -> Result<Vec<String>, GitFailed> {
        let files = [
            self.tree.common.join("config"),
            self.tree.git.join("config.worktree"),
        ];
        let marks = files.each_ref().map(|file| file_mark(file)).join(" ");
        let cached = self
            .known
            .off
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some((_, disabled)) = cached.as_ref().filter(|(before, _)| *before == marks) {
            return Ok(disabled.clone());
        }
        drop(cached);
        let arguments = [
            "config",
            "-z",
            "--show-scope",
            "--name-only",
            "--get-regexp",
            PROGRAMS,
        ];
        let (status, output) = self.answer_without(&[], &arguments, &[], &[])?;
        // 1: no such setting.
        if !matches!(status, 0 | 1) {
            return Err(self.failure_of(&arguments));
        }
        let output = lossy_text(&output);
        let words: Vec<&str> = output.split('\0').collect();
        let disabled = words.chunks_exact(2).filter_map(|pair| match pair {
            [scope, name] if matches!(*scope, "local" | "worktree") => {
                Some(format!("{name}={}", disabled_value(name)))
            }
            _ => None,
        });
        let disabled: Vec<String> = disabled.collect();
        // An included file may change while these do not.
        let has_more = files
            .iter()
            .any(|file| fs::read(file).is_ok_and(|text| has_include(&text)));
        *self
            .known
            .off
            .lock()
            .unwrap_or_else(PoisonError::into_inner) =
            (!has_more).then(|| (marks, disabled.clone()));
        Ok(disabled)
    }
}

/// Folders with a branch checked out, of NUL-separated records.
fn parse_worktrees(listed: &str, branch: &str) -> Vec<String> {
    let mut folders = Vec::new();
    let mut folder = "";
    for line in listed.split('\0') {
        match line.split_once(' ') {
            Some(("worktree", top)) => folder = top,
            Some(("branch", name)) if name == branch => folders.push(folder.to_owned()),
            _ => {}
        }
    }
    folders
}

fn has_include(settings: &[u8]) -> bool {
    const WORD: &[u8] = b"include";
    settings
        .windows(WORD.len())
        .any(|word| word.eq_ignore_ascii_case(WORD))
}

fn disabled_value(name: &str) -> &'static str {
    match name.rsplit('.').next() {
        Some("required") => "false",
        Some("driver") => "exit 1",
        _ => "",
    }
}

pub(crate) fn trimmed_line(output: &[u8]) -> String {
    String::from_utf8_lossy(output)
        .trim_end_matches(['\n', '\r'])
        .to_owned()
}

/// `true` for an object id of SHA-1 or SHA-256 in full.
pub(crate) fn is_object_name(name: &str) -> bool {
    matches!(name.len(), 40 | 64) && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_option_is_taken_for_an_object() {
        assert!(is_object_name(&"a1".repeat(20)) && is_object_name(&"0".repeat(64)));
        for bad in ["", "--output=x", "HEAD", &"g".repeat(40)] {
            assert!(!is_object_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_work_tree_is_found_by_the_branch_that_it_has_checked_out() {
        let listed = "worktree /p\0HEAD 1\0branch refs/heads/main\0\0worktree /a b\0HEAD 1\0branch refs/heads/main\0\0\
                      worktree /d\0HEAD 1\0detached\0\0worktree /o\0HEAD 1\0branch refs/heads/main2\0\0";
        assert_eq!(parse_worktrees(listed, "refs/heads/main"), ["/p", "/a b"]);
        assert!(parse_worktrees("worktree /p\0bare\0\0", "refs/heads/main").is_empty());
    }

    #[test]
    fn settings_that_include_others_are_told() {
        for (text, expected) in [
            ("[core]\n\tbare = false\n", false),
            ("[Include]\n\tpath = x\n", true),
            ("[includeIf \"gitdir:~/\"]\n", true),
            ("", false),
        ] {
            assert_eq!(has_include(text.as_bytes()), expected, "{text}");
        }
    }

    #[test]
    fn a_driver_that_is_off_finds_a_conflict() {
        for (name, expected) in [
            ("merge.x.driver", "exit 1"),
            ("filter.x.required", "false"),
            ("filter.x.clean", ""),
            ("filter.driver.smudge", ""),
        ] {
            assert_eq!(disabled_value(name), expected, "{name}");
        }
    }
}
