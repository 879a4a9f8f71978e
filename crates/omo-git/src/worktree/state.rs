//! Reads what a worktree alone holds as git objects: files, staged content, and unnamed commits.

use std::collections::BTreeSet;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use serde::{Deserialize, Serialize};

use super::{WorktreeError, file_error};
use crate::git_output::{self, SUBMODULE, folders, list, lossy_text, parts, submodules};
use crate::platform::path_of;
use crate::private_index::PrivateIndex;
use crate::repository::{GitRepository, is_object_name};
use crate::tree::file_mark;

const MAX_DEPTH: usize = 8;
const MAX_FILE: u64 = 16 * 1024 * 1024;
/// Index files, which name no commit.
const INDEXES: [&str; 3] = ["index", INDEX, FIRST_INDEX];
const AS_BYTES: [&str; 4] = ["-c", "core.autocrlf=false", "-c", "core.safecrlf=false"];
const STATUS: [&str; 6] = [
    "status",
    "--porcelain",
    "-z",
    "--untracked-files=normal",
    "--no-renames",
    "--ignore-submodules=all",
];
/// Folders of references that each worktree has for itself.
const OWN_REFERENCES: [&str; 3] = ["refs/worktree", "refs/bisect", "refs/rewritten"];
/// Folder of references that are no files (`reftable`).
const REFTABLE: &str = "reftable";
const INDEX: &str = "omo-index";
/// Index as git made it, which knows the untouched files; a worker can change the present one.
const FIRST_INDEX: &str = "omo-first-index";
/// File of a sparse checkout, in git's folder of a worktree.
const SPARSE: &str = "info/sparse-checkout";

/// All that a worktree alone holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct WorktreeState {
    pub(super) held: HeldWork,
    /// Checked-out submodules, or folders that look like one.
    pub(super) submodules: Vec<PathBuf>,
    /// Repositories that were made in the worktree.
    pub(super) nested: Vec<PathBuf>,
}

/// Content of a worktree that git can keep.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HeldWork {
    pub(super) tree: String,
    /// Tree of staged content; further sides of a conflict have `.omo-stage-N` behind their names.
    pub(super) staged: String,
    pub(super) commits: Vec<String>,
    /// Fingerprint of this look, never stored: only the process that has just looked knows it.
    #[serde(skip)]
    signs: GitDirFingerprint,
}

impl HeldWork {
    pub(super) fn is_unchanged(&self, inside: &GitRepository) -> Result<bool, WorktreeError> {
        if is_unchanged(inside, &self.signs)? {
            return Ok(true);
        }
        let now = read_state(inside, None)?.held;
        Ok(now.tree == self.tree && now.staged == self.staged && now.commits == self.commits)
    }
}

/// State of git's folder of a worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct GitDirFingerprint {
    index: String,
    names: BTreeSet<String>,
}

impl GitDirFingerprint {
    fn read(inside: &GitRepository) -> Result<Self, WorktreeError> {
        let mut names = BTreeSet::new();
        collect_names(inside.git_folder(), 0, &mut names)?;
        Ok(Self {
            index: file_mark(&inside.git_folder().join("index")),
            names,
        })
    }
}

/// `true` where git's folder is surely unchanged.
fn is_unchanged(inside: &GitRepository, signs: &GitDirFingerprint) -> Result<bool, WorktreeError> {
    let index = PrivateIndex::without_attributes(inside, inside.git_folder().join(INDEX))?;
    let has_files = index.path.is_file() && inside.top().is_dir();
    if is_reftable(inside) || !has_files || GitDirFingerprint::read(inside)? != *signs {
        return Ok(false);
    }
    let changed = [
        "ls-files",
        "-z",
        "--modified",
        "--deleted",
        "--others",
        "--exclude-standard",
    ];
    Ok(index
        .git(&[AS_BYTES.as_slice(), &changed].concat(), &[])?
        .is_empty())
}

/// Reads the state of a worktree, which is `inside`, without a change; `tree_of_head` saves a call.
pub(super) fn read_state(
    inside: &GitRepository,
    tree_of_head: Option<&str>,
) -> Result<WorktreeState, WorktreeError> {
    let index = PrivateIndex::without_attributes(inside, inside.git_folder().join(INDEX))?;
    let scratch = ScratchIndex { inside, index };
    scratch.clear()?;
    let signs = GitDirFingerprint::read(inside)?;
    let tagged = inside.git(&["ls-files", "-s", "-v", "-z"])?;
    if let Some(tree) = tree_of_head
        && is_plain(&tagged)
        && inside.top().is_dir()
        && scratch.copy("index")?
        && scratch
            .index
            .git(&[AS_BYTES.as_slice(), &STATUS].concat(), &[])?
            .is_empty()
    {
        return plain_state(inside, signs, tree.to_owned(), tree.to_owned());
    }
    scratch.clear()?;
    let entries = list(without_tags(&tagged).map(|(_, entry)| entry));
    let staged = if scratch.copy("index")? {
        scratch.index.tree().ok()
    } else {
        None
    };
    let staged = if let Some(tree) = staged {
        tree
    } else {
        // In the middle of a conflict git makes no tree of it.
        scratch.clear()?;
        scratch.add_entries(&every_stage(&entries))?;
        scratch.index.tree()?
    };
    scratch.clear()?;
    if !inside.top().is_dir() {
        // Files that are gone with their folder were not deleted one by one.
        return plain_state(inside, signs, staged.clone(), staged);
    }
    let is_sparse = inside.git_folder().join(SPARSE).is_file();
    if is_sparse || !scratch.copy(FIRST_INDEX)? {
        scratch.add_entries(&every_stage(&entries))?;
    }
    if is_sparse {
        // A file that was never checked out was not deleted either.
        let listed = inside.git(&["ls-files", "-t", "-z"])?;
        scratch.index.git(
            &["update-index", "-z", "--skip-worktree", "--stdin"],
            &not_checked_out(&listed),
        )?;
    }
    // git lists an inner repository as a folder.
    let others = scratch
        .index
        .git(&["ls-files", "-z", "--others", "--exclude-standard"], &[])?;
    let nested: Vec<PathBuf> = folders(&others).map(path_of).collect();
    // `git add` would look at the files of a submodule, and run what its own settings name.
    let modules = populated_submodules(inside.top(), &entries);
    if !modules.is_empty() {
        scratch.add_entries(&submodule_heads(inside.top(), &modules))?;
    }
    let left_out = nested
        .iter()
        .chain(&modules)
        .map(|path| format!(":(exclude,literal){}", path.display()));
    let left_out: Vec<String> = left_out.collect();
    let add = ["add", "--all", "--sparse", "--", "."];
    let arguments: Vec<&str> = AS_BYTES
        .into_iter()
        .chain(add)
        .chain(left_out.iter().map(String::as_str))
        .collect();
    scratch.index.git(&arguments, &[])?;
    let tree = scratch.index.tree()?;
    let taken = if tree == staged {
        entries
    } else {
        scratch.index.git(&["ls-files", "-s", "-z"], &[])?
    };
    let submodules = populated_submodules(inside.top(), &taken);
    Ok(WorktreeState {
        submodules,
        nested,
        ..plain_state(inside, signs, tree, staged)?
    })
}

struct ScratchIndex<'r> {
    inside: &'r GitRepository,
    index: PrivateIndex<'r>,
}

impl ScratchIndex<'_> {
    fn clear(&self) -> Result<(), WorktreeError> {
        self.index.remove().map_err(file_error(&self.index.path))
    }

    /// `false` without an index of this name.
    fn copy(&self, name: &str) -> Result<bool, WorktreeError> {
        self.index
            .copy(&self.inside.git_folder().join(name))
            .map_err(file_error(&self.index.path))
    }

    fn add_entries(&self, entries: &[u8]) -> Result<(), WorktreeError> {
        self.index
            .git(&["update-index", "-z", "--index-info"], entries)?;
        Ok(())
    }
}

/// State of a worktree without submodules and inner repositories.
fn plain_state(
    inside: &GitRepository,
    signs: GitDirFingerprint,
    tree: String,
    staged: String,
) -> Result<WorktreeState, WorktreeError> {
    let commits = named_commits(inside, &signs)?;
    Ok(WorktreeState {
        held: HeldWork {
            tree,
            staged,
            commits,
            signs,
        },
        submodules: Vec::new(),
        nested: Vec::new(),
    })
}

/// Entries with the tags of `git ls-files -v`.
fn without_tags(tagged: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    parts(tagged).filter_map(|entry| entry.split_at_checked(2))
}

/// git looks at each file by itself: no entry is marked, in conflict, or a submodule.
fn is_plain(tagged: &[u8]) -> bool {
    without_tags(tagged)
        .all(|(tag, entry)| tag == b"H " && !entry.starts_with(SUBMODULE.as_bytes()))
}

/// Copies the index before a worker begins.
pub(super) fn remember_index(
    repository: &GitRepository,
    folder: &Path,
) -> Result<(), WorktreeError> {
    let first = PrivateIndex::new(repository, folder.join(FIRST_INDEX));
    first
        .copy(&folder.join("index"))
        .map(drop)
        .map_err(file_error(&first.path))
}

/// Submodules of an index that are checked out, or look like that.
pub(super) fn populated_submodules(top: &Path, entries: &[u8]) -> Vec<PathBuf> {
    let modules = submodules(entries).map(path_of);
    modules
        .filter(|path| top.join(path).join(".git").symlink_metadata().is_ok())
        .collect()
}

/// Entries of an index for the checked-out commits of submodules.
fn submodule_heads(top: &Path, modules: &[PathBuf]) -> Vec<u8> {
    let mut out = Vec::new();
    for path in modules {
        if let Some(head) = GitWorktree::at(&top.join(path)).and_then(|tree| tree.head()) {
            let about = format!("{SUBMODULE} {head} 0\t");
            out.extend([about.as_bytes(), path.as_os_str().as_encoded_bytes(), b"\0"].concat());
        }
    }
    out
}

/// A name of its own for each of up to three versions of a path in conflict.
fn every_stage(entries: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(entries.len());
    for (about, path) in git_output::entries(entries) {
        let Some((stage, about)) = about.split_last() else {
            continue;
        };
        out.extend([about, b"0\t", path].concat());
        if *stage != b'0' {
            out.extend_from_slice(b".omo-stage-");
            out.push(*stage);
        }
        out.push(0);
    }
    out
}

fn not_checked_out(listed: &[u8]) -> Vec<u8> {
    let marked = parts(listed).filter_map(|entry| entry.strip_prefix(b"S "));
    list(marked)
}

/// Commits that git's folder of a worktree names: `HEAD` and its history, those of a merge or rebase, and references of
/// this worktree alone.
fn named_commits(
    inside: &GitRepository,
    signs: &GitDirFingerprint,
) -> Result<Vec<String>, WorktreeError> {
    let mut names = signs.names.clone();
    if is_reftable(inside) {
        // References in one file for all are no text.
        let format = ["for-each-ref", "--format=%(objectname)"];
        let listed = inside.git(&[format.as_slice(), &OWN_REFERENCES].concat())?;
        let (_, history) = inside.status_and_output(&["rev-list", "--walk-reflogs", "HEAD"])?;
        for output in [listed, history] {
            names.extend(names_in(&output));
        }
    }
    let asked: String = names
        .iter()
        .flat_map(|name| [name, "^{commit}\n"])
        .collect();
    if asked.is_empty() {
        return Ok(Vec::new());
    }
    let check = ["cat-file", "--batch-check=%(objecttype) %(objectname)"];
    let output = inside.git_with(&check, &[], asked.as_bytes())?;
    let output = lossy_text(&output);
    let commits: BTreeSet<String> = output
        .lines()
        .filter_map(|line| line.strip_prefix("commit "))
        .map(str::to_owned)
        .collect();
    Ok(commits.into_iter().collect())
}

pub(super) fn is_reftable(inside: &GitRepository) -> bool {
    inside.common().join(REFTABLE).is_dir()
}

fn collect_names(
    folder: &Path,
    depth: usize,
    names: &mut BTreeSet<String>,
) -> Result<(), WorktreeError> {
    for entry in fs::read_dir(folder).map_err(file_error(folder))?.flatten() {
        let (path, name) = (entry.path(), entry.file_name());
        let Ok(kind) = entry.file_type() else {
            continue;
        };
        // Submodules are looked at on their own; an index names no commit.
        if kind.is_dir() && name != "modules" && depth < MAX_DEPTH {
            collect_names(&path, depth + 1, names)?;
        } else if kind.is_file() && !INDEXES.iter().any(|index| name == *index) {
            let mut bytes = Vec::new();
            if let Some(file) = regular_file::open(&path).map_err(file_error(&path))? {
                file.take(MAX_FILE)
                    .read_to_end(&mut bytes)
                    .map_err(file_error(&path))?;
            }
            names.extend(names_in(&bytes));
        }
    }
    Ok(())
}

/// Words that may be object ids, except for zero.
fn names_in(text: &[u8]) -> impl Iterator<Item = String> {
    let words = text
        .split(|byte| !byte.is_ascii_hexdigit())
        .filter_map(|word| std::str::from_utf8(word).ok());
    words
        .filter(|word| is_object_name(word) && word.bytes().any(|byte| byte != b'0'))
        .map(str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_side_of_a_conflict_keeps_a_name() {
        let entries = b"100644 aa 0\tplain\x00100755 bb 1\ta\x00120000 cc 3\ta\x00";
        let expected =
            b"100644 aa 0\tplain\x00100755 bb 0\ta.omo-stage-1\x00120000 cc 0\ta.omo-stage-3\x00";
        assert_eq!(every_stage(entries), expected);
    }

    #[test]
    fn an_index_is_plain_where_git_looks_at_every_file() {
        for (tagged, expected) in [
            (b"H 100644 aa 0\ta\0H 120000 bb 0\tb\0".as_slice(), true),
            (b"", true),
            (b"H 100644 aa 0\ta\0h 100644 bb 0\tb\0", false),
            (b"S 100644 aa 0\ta\0", false),
            (b"M 100644 aa 1\ta\0", false),
            (b"H 160000 aa 0\tsub\0", false),
        ] {
            assert_eq!(
                is_plain(tagged),
                expected,
                "{}",
                String::from_utf8_lossy(tagged)
            );
        }
    }

    #[test]
    fn only_full_names_are_asked_for() {
        let (one, none) = ("ab".repeat(20), "0".repeat(40));
        let text = format!(
            "{none} {one} me <a@b> 1\tcommit: abc\npick {one} x\n{}",
            "c".repeat(41)
        );
        let found: Vec<String> = names_in(text.as_bytes()).collect();
        assert_eq!(found, [one.clone(), one]);
    }
}
