//! State of the user's checkout before a run begins or its result lands: branch, edits, conflicts.

use std::path::Path;

use omo_state::files::regular_file::{self, Links};

use crate::git_command;
use crate::git_output::{self, list, lossy_text, parts};
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};

const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// Position of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutHead {
    Branch {
        /// Full name, such as `refs/heads/main`.
        reference: String,
        commit: String,
    },
    Unborn {
        /// Full name, such as `refs/heads/main`.
        reference: String,
    },
    Detached {
        commit: String,
    },
}

impl CheckoutHead {
    /// Full name of the checked-out branch.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Branch { reference, .. } | Self::Unborn { reference } => Some(reference),
            Self::Detached { .. } => None,
        }
    }

    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(commit),
            Self::Unborn { .. } => None,
        }
    }
}

/// An operation that the user began and did not end, such as `git rebase`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnfinishedOperation {
    /// `git merge`
    Merge,
    /// `git rebase`
    Rebase,
    /// `git am`
    Am,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
    /// `git bisect`
    Bisect,
}

impl UnfinishedOperation {
    pub fn command(self) -> &'static str {
        match self {
            Self::Merge => "git merge",
            Self::Rebase => "git rebase",
            Self::Am => "git am",
            Self::CherryPick => "git cherry-pick",
            Self::Revert => "git revert",
            Self::Bisect => "git bisect",
        }
    }

    /// Commands that end the operation: the first keeps its work, the last gives it up.
    pub fn ending_commands(self) -> Vec<String> {
        match self {
            Self::Bisect => vec!["git bisect reset".to_owned()],
            _ => ["--continue", "--abort"]
                .map(|option| format!("{} {option}", self.command()))
                .to_vec(),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutFacts {
    /// Version of git; `None` where unknown.
    pub git: Option<String>,
    pub head: CheckoutHead,
    /// `true` for a repository without a work tree.
    pub is_bare: bool,
    pub operation: Option<UnfinishedOperation>,
    /// Uncommitted paths with new files, sorted.
    pub dirty: Vec<String>,
    /// Paths of submodules, sorted.
    pub submodules: Vec<String>,
    /// Paths behind filters of the repository's own settings, sorted.
    pub filtered: Vec<String>,
    /// `None` where unknown.
    pub free_bytes: Option<u64>,
}

/// Reads the facts without a change of the checkout. A submodule is dirty by its commit alone: git
/// would run its settings to look at its files.
pub fn read_checkout_facts(repository: &GitRepository) -> Result<CheckoutFacts, GitFailed> {
    let dirty = uncommitted_paths(repository)?;
    let entries = repository.git(&["ls-files", "-s", "-z"])?;
    let inside = git_command::answer(
        repository.top(),
        &["rev-parse", "--is-inside-work-tree"],
        &[],
        &[],
    );
    Ok(CheckoutFacts {
        git: repository.git_line(&["version"]).ok(),
        head: checkout_head(repository)?,
        is_bare: inside
            .is_some_and(|(status, output)| status == 0 && trimmed_line(&output) == "false"),
        operation: unfinished_operation(repository.git_folder()),
        dirty,
        submodules: sorted(git_output::submodules(&entries)),
        filtered: filtered_paths(repository, &entries)?,
        free_bytes: fs2::available_space(repository.top()).ok(),
    })
}

/// Uncommitted paths with new files, sorted.
pub fn uncommitted_paths(repository: &GitRepository) -> Result<Vec<String>, GitFailed> {
    let status = repository.status(&[])?.into_iter();
    let mut paths: Vec<String> = status.map(|entry| lossy_text(&entry.path)).collect();
    paths.sort();
    Ok(paths)
}

/// Number of commits since `base`, up to `most`.
pub fn count_commits_since(
    repository: &GitRepository,
    base: &str,
    most: usize,
) -> Result<usize, GitFailed> {
    if !is_object_name(base) {
        return Err(repository.failure_of(&["rev-list"]));
    }
    let (most, list) = (format!("--max-count={most}"), format!("HEAD\n^{base}\n"));
    let output = repository.git_with(
        &["rev-list", "--count", &most, "--stdin"],
        &[],
        list.as_bytes(),
    )?;
    Ok(trimmed_line(&output).parse().unwrap_or_default())
}

/// Edits in the way of a landing, for commands that put them aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditFacts {
    /// Indexed paths.
    pub known: Vec<String>,
    /// Paths marked `assume-unchanged`.
    pub assumed: Vec<String>,
    /// Paths marked `skip-worktree`.
    pub skipped: Vec<String>,
    /// Untracked and ignored files.
    pub unknown: Vec<String>,
    /// Folders with a repository, which `git stash` leaves.
    pub repositories: Vec<String>,
    /// All paths in conflict: `git stash` refuses each edit beside one.
    pub unmerged: Vec<String>,
    /// All paths of `git add --intent-to-add`, beside which it refuses as well.
    pub intended: Vec<String>,
}

/// Edits at these paths, from the top.
pub fn read_edit_facts(
    repository: &GitRepository,
    in_way: &[String],
) -> Result<EditFacts, GitFailed> {
    let index = repository.git(&["ls-files", "-v", "-z"])?;
    let known = common_paths(in_way, &tagged_paths(&index, |_| true));
    let (mut unknown, mut repositories) = (Vec::new(), Vec::new());
    for path in in_way.iter().filter(|path| !known.contains(path)) {
        match find_repository(repository, path.trim_end_matches('/'))? {
            Some(folder) => repositories.push(folder),
            None => unknown.push(path.clone()),
        }
    }
    repositories.dedup();
    Ok(EditFacts {
        known,
        assumed: common_paths(
            in_way,
            &tagged_paths(&index, |tag| tag.is_ascii_lowercase()),
        ),
        skipped: common_paths(
            in_way,
            &tagged_paths(&index, |tag| tag.eq_ignore_ascii_case(&b'S')),
        ),
        unknown,
        repositories,
        unmerged: filtered_edits(repository, "--diff-filter=U")?,
        intended: filtered_edits(repository, "--diff-filter=A")?,
    })
}

fn filtered_edits(repository: &GitRepository, filter: &str) -> Result<Vec<String>, GitFailed> {
    let edits = [
        "diff-files",
        "-z",
        "--name-only",
        "--ignore-submodules=all",
        filter,
    ];
    Ok(sorted(parts(&repository.git(&edits)?)))
}

/// Paths with such tags, which stand with a space before each path.
fn tagged_paths(index: &[u8], has_tag: fn(u8) -> bool) -> Vec<String> {
    sorted(parts(index).filter_map(|entry| match entry {
        [tag, b' ', path @ ..] if has_tag(*tag) => Some(path),
        _ => None,
    }))
}

fn common_paths(paths: &[String], listed: &[String]) -> Vec<String> {
    paths
        .iter()
        .filter(|path| listed.binary_search(path).is_ok())
        .cloned()
        .collect()
}

/// The repository that is at a path or above it; the path itself where one lies below.
fn find_repository(repository: &GitRepository, path: &str) -> Result<Option<String>, GitFailed> {
    let ends = path
        .match_indices('/')
        .map(|(end, _)| end)
        .chain([path.len()]);
    let enclosing = ends.filter_map(|end| path.get(..end)).find(|folder| {
        let git = repository.top().join(folder).join(".git");
        git.symlink_metadata().is_ok()
    });
    if let Some(folder) = enclosing {
        return Ok(Some(folder.to_owned()));
    }
    let below = [
        "--literal-pathspecs",
        "ls-files",
        "-z",
        "--others",
        "--",
        path,
    ];
    let below = repository.git(&below)?;
    Ok(parts(&below)
        .any(|entry| entry.ends_with(b"/"))
        .then(|| path.to_owned()))
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbsentBranch {
    Free,
    Elsewhere {
        /// Top of that work tree.
        folder: String,
    },
    /// The checked-out branch had its name.
    Renamed {
        /// Full name of that branch.
        to: String,
    },
    Gone,
}

/// Looks for a branch, by its full name, that is not checked out here.
pub fn find_absent_branch(
    repository: &GitRepository,
    reference: &str,
) -> Result<AbsentBranch, GitFailed> {
    let listed = repository.git(&["for-each-ref", "--format=%(worktreepath)", reference])?;
    if !listed.is_empty() {
        let folder = trimmed_line(&listed);
        return Ok(if folder.is_empty() {
            AbsentBranch::Free
        } else {
            AbsentBranch::Elsewhere { folder }
        });
    }
    let CheckoutHead::Branch {
        reference: present, ..
    } = checkout_head(repository)?
    else {
        return Ok(AbsentBranch::Gone);
    };
    let log = repository.git(&["log", "--walk-reflogs", "--format=%gs", &present, "--"])?;
    let renamed = format!("Branch: renamed {reference} to ");
    let is_renamed = String::from_utf8_lossy(&log)
        .lines()
        .any(|line| line.starts_with(&renamed));
    Ok(if is_renamed {
        AbsentBranch::Renamed { to: present }
    } else {
        AbsentBranch::Gone
    })
}

fn filtered_paths(repository: &GitRepository, entries: &[u8]) -> Result<Vec<String>, GitFailed> {
    let filters = repository.disabled_filters()?;
    if filters.is_empty() {
        return Ok(Vec::new());
    }
    let asked = list(git_output::entries(entries).map(|(_, path)| path));
    let output = repository.git_with(&["check-attr", "-z", "--stdin", "filter"], &[], &asked)?;
    // Path, name of the attribute, and value.
    let parts: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
    let mut paths: Vec<String> = parts
        .chunks_exact(3)
        .filter_map(|part| match part {
            [path, _, filter] if filters.iter().any(|name| name.as_bytes() == *filter) => {
                Some(lossy_text(path))
            }
            _ => None,
        })
        .collect();
    paths.sort();
    Ok(paths)
}

/// Ignored ones of these paths from the top; those that git cannot judge, such as in a submodule, are left out.
pub fn ignored_paths(
    repository: &GitRepository,
    paths: &[String],
) -> Result<Vec<String>, GitFailed> {
    let asked = list(paths);
    // 1: none of them.
    match repository.answer(&["check-ignore", "-z", "--stdin"], &[], &asked)? {
        (0 | 1, output) => Ok(sorted(parts(&output))),
        // A single one of them may be beyond git.
        (_, _) if paths.len() > 1 => {
            let each = paths
                .iter()
                .map(|path| ignored_paths(repository, std::slice::from_ref(path)));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => Ok(Vec::new()),
    }
}

/// Bytes of all files of `HEAD`, without submodules.
pub fn checkout_bytes(repository: &GitRepository) -> Result<u64, GitFailed> {
    let listed = repository.git(&["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"])?;
    // `<mode> <kind> <object> <size>`, a tab, and the path.
    let sizes = parts(&listed).filter_map(|entry| {
        let about = entry.split(|byte| *byte == b'\t').next()?;
        String::from_utf8_lossy(about)
            .split_whitespace()
            .nth(3)?
            .parse()
            .ok()
    });
    Ok(sizes.fold(0, u64::saturating_add))
}

fn sorted<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<String> {
    let mut paths: Vec<String> = paths.map(lossy_text).collect();
    paths.sort();
    paths.dedup();
    paths
}

pub fn checkout_head(repository: &GitRepository) -> Result<CheckoutHead, GitFailed> {
    let (status, output) = repository.status_and_output(&["symbolic-ref", "--quiet", "HEAD"])?;
    let commit = repository.commit_of("HEAD")?;
    let reference = crate::repository::trimmed_line(&output);
    match (status, commit) {
        (0, Some(commit)) => Ok(CheckoutHead::Branch { reference, commit }),
        (0, None) => Ok(CheckoutHead::Unborn { reference }),
        (_, Some(commit)) => Ok(CheckoutHead::Detached { commit }),
        (_, None) => Err(repository.failure_of(&["symbolic-ref", "HEAD"])),
    }
}

pub(super) fn unfinished_operation(git_folder: &Path) -> Option<UnfinishedOperation> {
    let signs = [
        ("rebase-merge", UnfinishedOperation::Rebase),
        ("rebase-apply/applying", UnfinishedOperation::Am),
        ("rebase-apply", UnfinishedOperation::Rebase),
        ("MERGE_HEAD", UnfinishedOperation::Merge),
        ("CHERRY_PICK_HEAD", UnfinishedOperation::CherryPick),
        ("REVERT_HEAD", UnfinishedOperation::Revert),
        ("BISECT_LOG", UnfinishedOperation::Bisect),
    ];
    let sign = signs
        .into_iter()
        .find(|(name, _)| git_folder.join(name).symlink_metadata().is_ok());
    sign.map(|(_, operation)| operation)
        .or_else(|| unfinished_sequence(git_folder))
}

/// Between two picked or reverted commits only git's list of the rest tells.
fn unfinished_sequence(git_folder: &Path) -> Option<UnfinishedOperation> {
    let list = regular_file::read(
        &git_folder.join("sequencer/todo"),
        MAX_LIST_BYTES,
        Links::Refused,
    )
    .ok()??;
    match String::from_utf8_lossy(&list).split_whitespace().next()? {
        "pick" | "p" => Some(UnfinishedOperation::CherryPick),
        "revert" => Some(UnfinishedOperation::Revert),
        _ => None,
    }
}
