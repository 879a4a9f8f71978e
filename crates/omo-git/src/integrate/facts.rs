//! State of a checkout before a run begins or its result lands, as plain data.

use std::path::Path;

use omo_state::files::regular_file::{self, Links};

use crate::git_command;
use crate::git_output::{self, list, lossy_text, parts};
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};

const MAX_LIST_BYTES: u64 = 1024 * 1024;

/// Position of `HEAD`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckoutHead {
    /// On a branch with commits.
    Branch {
        /// git's full name of the branch.
        reference: String,
        /// Last commit.
        commit: String,
    },
    /// On a branch without any.
    Unborn {
        /// git's full name of the branch.
        reference: String,
    },
    /// On a commit and no branch.
    Detached {
        /// The commit.
        commit: String,
    },
}

impl CheckoutHead {
    /// git's full name of the branch that is checked out.
    pub fn reference(&self) -> Option<&str> {
        match self {
            Self::Branch { reference, .. } | Self::Unborn { reference } => Some(reference),
            Self::Detached { .. } => None,
        }
    }

    /// Commit of `HEAD`.
    pub fn commit(&self) -> Option<&str> {
        match self {
            Self::Branch { commit, .. } | Self::Detached { commit } => Some(commit),
            Self::Unborn { .. } => None,
        }
    }
}

/// Operation that its user has begun and not ended, such as `git rebase`.
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
    /// Command that began it, such as `git rebase`.
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

    /// The commands that end it: its work is kept by the first, and given up by the last.
    pub fn ending_commands(self) -> Vec<String> {
        match self {
            Self::Bisect => vec!["git bisect reset".to_owned()],
            _ => ["--continue", "--abort"]
                .map(|option| format!("{} {option}", self.command()))
                .to_vec(),
        }
    }
}

/// State of a checkout, by `read_checkout_facts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CheckoutFacts {
    /// Version of git; `None` where unknown.
    pub git: Option<String>,
    /// Position of `HEAD`.
    pub head: CheckoutHead,
    /// git takes the repository for one without a work tree.
    pub is_bare: bool,
    /// Unfinished operation.
    pub operation: Option<UnfinishedOperation>,
    /// Paths with changes that are not committed, new files included, sorted.
    pub dirty: Vec<String>,
    /// Paths of submodules, sorted.
    pub submodules: Vec<String>,
    /// Paths of files that a filter stands before which the repository's own settings name, sorted.
    pub filtered: Vec<String>,
    /// Free bytes of its file system; `None` where unknown.
    pub free_bytes: Option<u64>,
}

/// Looks at a checkout; nothing in it is changed. A submodule is dirty where another commit is checked out in it: to
/// look at its files would run what its own settings name.
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
        is_bare: inside.is_some_and(|(status, said)| status == 0 && trimmed_line(&said) == "false"),
        operation: unfinished_operation(repository.git_folder()),
        dirty,
        submodules: sorted(git_output::submodules(&entries)),
        filtered: filtered_paths(repository, &entries)?,
        free_bytes: fs2::available_space(repository.top()).ok(),
    })
}

/// Paths with changes that are not committed, new files included, sorted.
///
/// # Errors
/// git cannot tell.
pub fn uncommitted_paths(repository: &GitRepository) -> Result<Vec<String>, GitFailed> {
    let status = repository.status(&[])?.into_iter();
    let mut paths: Vec<String> = status.map(|entry| lossy_text(&entry.path)).collect();
    paths.sort();
    Ok(paths)
}

/// Number of commits beyond one of them, `most` at most.
///
/// # Errors
/// There is no such commit, or git cannot tell.
pub fn count_commits_since(
    repository: &GitRepository,
    base: &str,
    most: usize,
) -> Result<usize, GitFailed> {
    if !is_object_name(base) {
        return Err(repository.failure_of(&["rev-list"]));
    }
    let (most, list) = (format!("--max-count={most}"), format!("HEAD\n^{base}\n"));
    let said = repository.git_with(
        &["rev-list", "--count", &most, "--stdin"],
        &[],
        list.as_bytes(),
    )?;
    Ok(trimmed_line(&said).parse().unwrap_or_default())
}

/// Edits in the way of a landing, as the commands need them that put these aside.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EditFacts {
    /// Paths in the way that the index holds.
    pub known: Vec<String>,
    /// Paths with `assume-unchanged`.
    pub assumed: Vec<String>,
    /// Paths with `skip-worktree`.
    pub skipped: Vec<String>,
    /// Paths in the way that it does not hold: untracked and ignored files.
    pub unknown: Vec<String>,
    /// Folders in the way that are repositories of their own, or have one in them: `git stash` leaves them.
    pub repositories: Vec<String>,
    /// All paths whose conflict is not resolved: `git stash` refuses each edit beside one.
    pub unmerged: Vec<String>,
    /// All paths of `git add --intent-to-add`, beside which it refuses as well.
    pub intended: Vec<String>,
}

/// Looks at edits that are in the way at these paths, from the top.
///
/// # Errors
/// git cannot tell.
pub fn read_edit_facts(
    repository: &GitRepository,
    in_way: &[String],
) -> Result<EditFacts, GitFailed> {
    let listed =
        |arguments: &[&str]| Ok::<_, GitFailed>(sorted(parts(&repository.git(arguments)?)));
    let with_letter = |letter: &str| {
        listed(&[
            "diff-files",
            "-z",
            "--name-only",
            "--ignore-submodules=all",
            letter,
        ])
    };
    let index = repository.git(&["ls-files", "-v", "-z"])?;
    // A letter and a space stand before each path.
    let with_tag = |is_meant: fn(u8) -> bool| {
        sorted(parts(&index).filter_map(|entry| match entry {
            [tag, b' ', path @ ..] if is_meant(*tag) => Some(path),
            _ => None,
        }))
    };
    let in_way_and = |listed: &[String]| -> Vec<String> {
        in_way
            .iter()
            .filter(|path| listed.binary_search(path).is_ok())
            .cloned()
            .collect()
    };
    let known = in_way_and(&with_tag(|_| true));
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
        assumed: in_way_and(&with_tag(|tag| tag.is_ascii_lowercase())),
        skipped: in_way_and(&with_tag(|tag| tag.eq_ignore_ascii_case(&b'S'))),
        unknown,
        repositories,
        unmerged: with_letter("--diff-filter=U")?,
        intended: with_letter("--diff-filter=A")?,
    })
}

/// The repository that a path is or lies in; where one lies below it, the path itself.
fn find_repository(repository: &GitRepository, path: &str) -> Result<Option<String>, GitFailed> {
    let ends = path
        .match_indices('/')
        .map(|(end, _)| end)
        .chain([path.len()]);
    let is_repository = |folder: &&str| {
        repository
            .top()
            .join(folder)
            .join(".git")
            .symlink_metadata()
            .is_ok()
    };
    if let Some(folder) = ends.filter_map(|end| path.get(..end)).find(is_repository) {
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

/// Result of `find_absent_branch`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AbsentBranch {
    /// In no work tree.
    Free,
    /// Checked out in another work tree.
    Elsewhere {
        /// The top of that.
        folder: String,
    },
    /// Gone; the branch that is checked out here had its name.
    Renamed {
        /// git's full name of that.
        to: String,
    },
    /// Gone.
    Gone,
}

/// Looks for a branch, by its full name, that is not checked out here.
///
/// # Errors
/// git cannot tell.
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
    let said = repository.git_with(&["check-attr", "-z", "--stdin", "filter"], &[], &asked)?;
    // A path, the name of the attribute, and what it is.
    let parts: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
    let is_off = |filter: &[u8]| filters.iter().any(|name| name.as_bytes() == filter);
    let found = parts.chunks_exact(3).filter_map(|part| match part {
        [path, _, filter] if is_off(filter) => Some(lossy_text(path)),
        _ => None,
    });
    let mut found: Vec<String> = found.collect();
    found.sort();
    Ok(found)
}

/// Ignored paths among these, from the top. A path that git cannot be asked about, in a submodule
/// say, is left out.
pub fn ignored_paths(
    repository: &GitRepository,
    paths: &[String],
) -> Result<Vec<String>, GitFailed> {
    let asked = list(paths);
    // 1 says that it ignores none of them.
    match repository.answer(&["check-ignore", "-z", "--stdin"], &[], &asked)? {
        (0 | 1, said) => Ok(sorted(parts(&said))),
        // One of them alone may be what it cannot be asked about.
        (_, _) if paths.len() > 1 => {
            let each = paths
                .iter()
                .map(|path| ignored_paths(repository, std::slice::from_ref(path)));
            Ok(each.collect::<Result<Vec<_>, _>>()?.concat())
        }
        _ => Ok(Vec::new()),
    }
}

/// Bytes of a checkout of `HEAD`, without its submodules.
pub fn checkout_bytes(repository: &GitRepository) -> Result<u64, GitFailed> {
    let listed = repository.git(&["ls-tree", "-r", "-l", "-z", "--full-tree", "HEAD"])?;
    // `<mode> <kind> <object> <size>`, a tab, and the path.
    let size = |entry: &[u8]| -> Option<u64> {
        let about = entry.split(|byte| *byte == b'\t').next()?;
        String::from_utf8_lossy(about)
            .split_whitespace()
            .nth(3)?
            .parse()
            .ok()
    };
    Ok(parts(&listed).filter_map(size).fold(0, u64::saturating_add))
}

fn sorted<'p>(paths: impl Iterator<Item = &'p [u8]>) -> Vec<String> {
    let mut paths: Vec<String> = paths.map(lossy_text).collect();
    paths.sort();
    paths.dedup();
    paths
}

/// The branch or commit that is checked out.
///
/// # Errors
///
/// git cannot tell.
pub fn checkout_head(repository: &GitRepository) -> Result<CheckoutHead, GitFailed> {
    let (status, said) = repository.status_and_output(&["symbolic-ref", "--quiet", "HEAD"])?;
    let commit = repository.commit_of("HEAD")?;
    let reference = crate::repository::trimmed_line(&said);
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
    let found = signs
        .into_iter()
        .find(|(name, _)| git_folder.join(name).symlink_metadata().is_ok());
    found
        .map(|(_, operation)| operation)
        .or_else(|| unfinished_sequence(git_folder))
}

/// Several commits that are picked or reverted: between two of them only git's list of the rest says so.
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
