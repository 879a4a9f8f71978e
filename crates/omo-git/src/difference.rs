//! Patch of a work tree since a run began, for a reviewer. Neither settings nor attributes of the
//! repository have a say. Tests come first, new files last; where a patch is cut, both versions are
//! written beside it (`file_versions`). What is too large for that counts against the claim.

mod file_versions;

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::{Path, PathBuf};

use omo_core::messages::checks::{ReviewChanges, with_unrecorded_note};
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_state::git_worktree::GitWorktree;

use crate::commit_difference::split_patches;
use crate::git_command::GitCalls;
use crate::git_output::{GitEntry, SUBMODULE, lossy_text, parse_changes, parts, split_entry};
use crate::recorded::{RecordedRun, RecordedWorktree};
use crate::repository::is_object_name;
use crate::repository_base::RepositoryBase;
use crate::tree::{EMPTY_TREES, Look, ScratchTree};
use crate::work_files::FileScope;

pub use self::file_versions::{DIGEST_CHARS, FileVersions};

const FOLDER: [&str; 2] = ["omo", "reviews"];
const MAX_DEPTH: usize = 8;
const MAX_BYTES: usize = 1_200 * 1024;
const MAX_FILE_BYTES: usize = 256 * 1024;
const MAX_NEW_FILE_BYTES: usize = 64 * 1024;
const MAX_LIST_BYTES: usize = 256 * 1024;
const MAX_COMPARED_BYTES: u64 = 8 * 1024 * 1024;
const MAX_READ_BYTES: u64 = 1024 * 1024;
/// All new files together, and files left out.
const MAX_ALL_READ_BYTES: u64 = 64 * 1024 * 1024;
const MAX_LEFT_OUT: usize = 1_000;
/// git takes a file with a NUL in as many bytes for binary; here only the former version counts.
const BINARY_BYTES: usize = 8_000;

/// Options against git's own limits, quoting and orders.
const SETTINGS: [&str; 6] = [
    "-c",
    "core.bigFileThreshold=512m",
    "-c",
    "core.quotePath=true",
    "-c",
    "diff.suppressBlankEmpty=false",
];
const COMPARE: [&str; 6] = [
    "diff-tree",
    "-r",
    "--no-renames",
    "--ignore-submodules=none",
    "--no-ext-diff",
    "--no-textconv",
];

/// Changes since the recorded start of a run, else since the commit of its start; the error is a
/// reason.
pub fn changes_of_run(
    root: &Path,
    state_home: Option<&Path>,
    calls: &GitCalls,
    id: &SessionId,
    session: &Session,
    whole: &mut FileVersions,
) -> Result<ReviewChanges, String> {
    let scope = session.verification.scope.as_deref();
    match (scope, &session.ulw.recorded) {
        (Some(scope), Some(recorded)) => {
            changes_since_recorded(state_home, calls, scope, id, recorded, whole)
        }
        _ => changes_since_commit(
            root,
            state_home,
            calls,
            scope,
            session.ulw.base.as_deref(),
            whole,
        )
        .map(with_unrecorded_note),
    }
}

/// Changes of a work tree since the commit `base`, with new files; `scope` names the `FileScope`.
pub fn changes_since_commit(
    folder: &Path,
    state_home: Option<&Path>,
    calls: &GitCalls,
    scope: Option<&str>,
    base: Option<&str>,
    whole: &mut FileVersions,
) -> Result<ReviewChanges, String> {
    let Some(tree) = GitWorktree::find(folder) else {
        return match base {
            Some(_) => Err("the repository that the run began in is gone".to_owned()),
            None => Ok(ReviewChanges::default()),
        };
    };
    let home = state_home.ok_or("there is no folder for the user's own state")?;
    let scope = scope.map(|name| load_scope(home, name)).transpose()?;
    let scratch = ScratchTree::open(&tree, home, calls, &FOLDER, Look::Fresh(scope.as_ref()))
        .ok_or_else(no_answer_error)?;
    if is_outside(&scratch, &tree, folder, base).ok_or_else(no_answer_error)? {
        return Ok(ReviewChanges::default());
    }
    let mut text = String::new();
    let base = base.map_or(RepositoryBase::Nothing, RepositoryBase::Commit);
    write_changes((&mut text, whole), scratch, &tree, (home, calls), &base, 0)?;
    Ok(ReviewChanges {
        difference: Some(text),
        notes: Vec::new(),
    })
}

/// Changes of a project and its repositories since the record `kept` of the run `id`.
pub fn changes_since_recorded(
    state_home: Option<&Path>,
    calls: &GitCalls,
    scope: &str,
    id: &SessionId,
    kept: &str,
    whole: &mut FileVersions,
) -> Result<ReviewChanges, String> {
    let home = state_home.ok_or("there is no folder for the user's own state")?;
    let scope = load_scope(home, scope)?;
    let kept = RecordedRun::open(home, calls, id, kept)
        .ok_or("what was recorded when the run began is gone")?;
    let place = RecordedWorktree::outermost(&scope);
    if scope.is_repository && GitWorktree::at(&place.top).is_none() {
        return Err("the repository that the run began in is gone".to_owned());
    }
    let mut text = String::new();
    write_recorded_changes((&mut text, whole), (&kept, &place), (home, calls), 0)?;
    Ok(ReviewChanges {
        difference: Some(text),
        notes: Vec::new(),
    })
}

fn load_scope(home: &Path, name: &str) -> Result<FileScope, &'static str> {
    FileScope::load(home, name).ok_or("what was settled when the run began is gone")
}

fn is_outside(
    scratch: &ScratchTree,
    tree: &GitWorktree,
    folder: &Path,
    base: Option<&str>,
) -> Option<bool> {
    if folder == tree.top || !scratch.ignores(folder)? {
        return Some(false);
    }
    let Some(base) = base else { return Some(true) };
    let path = folder.strip_prefix(&tree.top).ok()?.to_str()?;
    let listed = scratch.git_with_objects(
        &["--literal-pathspecs", "ls-tree", "--full-tree", base, path],
        &[],
    )?;
    Some(listed.is_empty())
}

fn no_answer_error() -> String {
    "git does not say what changed".to_owned()
}

struct DiffEntry {
    status: u8,
    path: Vec<u8>,
    before: DiffSide,
    now: DiffSide,
    patch: Vec<u8>,
}

#[derive(Clone, Default)]
struct DiffSide {
    mode: String,
    name: String,
    bytes: u64,
}

impl DiffSide {
    fn from(entry: Option<GitEntry>) -> Self {
        entry
            .map(|GitEntry { mode, object }| Self {
                mode,
                name: object,
                bytes: 0,
            })
            .unwrap_or_default()
    }

    fn is_submodule(&self) -> bool {
        self.mode == SUBMODULE
    }
}

impl DiffEntry {
    fn is_new(&self) -> bool {
        self.status == b'A'
    }

    fn is_large(&self) -> bool {
        let largest = self.before.bytes.max(self.now.bytes);
        largest
            > if self.status == b'M' {
                MAX_COMPARED_BYTES
            } else {
                MAX_READ_BYTES
            }
    }

    fn shown_path(&self) -> String {
        lossy_text(&self.path)
    }

    fn sort_key(&self) -> (bool, bool, u64) {
        let path = self.shown_path().to_lowercase();
        let is_test = path.contains("test") || path.contains("spec");
        (
            self.is_new(),
            !is_test,
            self.before.bytes.max(self.now.bytes),
        )
    }

    fn list_line(&self) -> String {
        let sizes = match self.status {
            b'A' => format!("new, {} bytes", self.now.bytes),
            b'D' => format!("deleted, had {} bytes", self.before.bytes),
            _ => format!("{} bytes before, {} now", self.before.bytes, self.now.bytes),
        };
        format!(
            "{} {} ({sizes})\n",
            char::from(self.status),
            self.shown_path().escape_debug()
        )
    }
}

fn write_changes(
    (text, whole): (&mut String, &mut FileVersions),
    mut scratch: ScratchTree,
    tree: &GitWorktree,
    (home, calls): (&Path, &GitCalls),
    before: &RepositoryBase,
    depth: usize,
) -> Result<(), String> {
    let kept = scratch.read_state().ok_or_else(no_answer_error)?;
    let empty = EMPTY_TREES
        .iter()
        .find(|empty| empty.len() == kept.tree.len())
        .copied()
        .unwrap_or_default();
    scratch.add_object_folders(before.objects());
    let base = if matches!(before, RepositoryBase::Nothing) {
        empty
    } else {
        before.name()
    };
    let is_there = base == empty
        || is_object_name(base)
            && scratch
                .git_with_objects(&["cat-file", "-e", base], &[])
                .is_some();
    if !is_there {
        return Err(format!("the commit that the run began on is gone: {base}"));
    }
    let mut entries = entries(&scratch, base, &kept.tree).ok_or_else(no_answer_error)?;
    read_patches(&scratch, base, &kept.tree, &mut entries).ok_or_else(no_answer_error)?;
    show(text, &scratch, &mut entries, whole)?;
    let inner =
        submodules(&scratch, base, &kept.tree, &kept.submodules).ok_or_else(no_answer_error)?;
    scratch.clear().ok_or_else(no_answer_error)?;
    drop(scratch);
    let places: Vec<_> = before
        .record()
        .into_iter()
        .flat_map(|(run, place)| {
            place
                .inner
                .iter()
                .map(move |(path, place)| (path, (run, place)))
        })
        .collect();
    // A recorded place is compared wherever it is: also ignored now, without its `.git`, or empty.
    for (path, record) in places
        .iter()
        .filter(|(path, _)| !inner.iter().any(|(inner_path, _)| inner_path == *path))
    {
        let _ = writeln!(
            text,
            "\n[omo] In {}, a repository then:\n",
            path.display().to_string().escape_debug()
        );
        if !record.1.top.is_dir() {
            text.push_str("All of it is gone.\n");
            continue;
        }
        write_recorded_changes((text, &mut *whole), *record, (home, calls), depth + 1)?;
    }
    for (path, commit) in inner {
        let top = tree.top.join(&path);
        let recorded = places
            .iter()
            .find(|(recorded_path, _)| **recorded_path == path)
            .filter(|_| top.is_dir());
        if let Some((_, record)) = recorded {
            let _ = writeln!(
                text,
                "\n[omo] In the submodule {}:\n",
                path.display().to_string().escape_debug()
            );
            write_recorded_changes((text, &mut *whole), *record, (home, calls), depth + 1)?;
            continue;
        }
        let Some(inner) = GitWorktree::at(&top) else {
            if std::fs::read_dir(&top).is_ok_and(|mut files| files.next().is_some()) {
                return Err(format!(
                    "the submodule {} has no repository",
                    path.display()
                ));
            }
            continue;
        };
        if depth == MAX_DEPTH {
            return Err("submodules are nested too deep".to_owned());
        }
        let _ = writeln!(
            text,
            "\n[omo] In the submodule {}:\n",
            path.display().to_string().escape_debug()
        );
        let base = commit
            .as_deref()
            .map_or(RepositoryBase::Nothing, RepositoryBase::Commit);
        let scratch = base
            .open_scratch(&inner, home, calls, &FOLDER)
            .ok_or_else(no_answer_error)?;
        write_changes(
            (text, &mut *whole),
            scratch,
            &inner,
            (home, calls),
            &base,
            depth + 1,
        )?;
    }
    Ok(())
}

fn write_recorded_changes(
    out: (&mut String, &mut FileVersions),
    (run, place): (&RecordedRun, &RecordedWorktree),
    (home, calls): (&Path, &GitCalls),
    depth: usize,
) -> Result<(), String> {
    let base = RepositoryBase::recorded(run, place)
        .ok_or("what was recorded when the run began is gone")?;
    let tree = place.work_tree(home);
    let scratch = base
        .open_scratch(&tree, home, calls, &FOLDER)
        .ok_or_else(no_answer_error)?;
    write_changes(out, scratch, &tree, (home, calls), &base, depth)
}

fn entries(scratch: &ScratchTree, base: &str, tree: &str) -> Option<Vec<DiffEntry>> {
    let arguments = [
        &SETTINGS[..],
        &COMPARE,
        &["-z", "--raw", "--no-abbrev", base, tree],
    ]
    .concat();
    let listed = scratch.git_with_objects(&arguments, &[])?;
    let mut entries: Vec<DiffEntry> = parse_changes(&listed)?
        .into_iter()
        .map(|changed| DiffEntry {
            status: match (&changed.before, &changed.after) {
                (None, _) => b'A',
                (_, None) => b'D',
                // The first digits are the kind.
                (Some(before), Some(after)) if before.mode.get(..3) != after.mode.get(..3) => b'T',
                _ => b'M',
            },
            path: changed.path.0,
            before: DiffSide::from(changed.before),
            now: DiffSide::from(changed.after),
            patch: Vec::new(),
        })
        .collect();
    read_sizes(scratch, &mut entries)?;
    Some(entries)
}

fn read_sizes(scratch: &ScratchTree, entries: &mut [DiffEntry]) -> Option<()> {
    let list: Vec<&str> = entries
        .iter()
        .flat_map(|entry| [&entry.before, &entry.now])
        .flat_map(|blob| [blob.name.as_str(), "\n"])
        .collect();
    let output = scratch.git_with_objects(
        &["cat-file", "--batch-check=%(objectsize)"],
        list.concat().as_bytes(),
    )?;
    let output = String::from_utf8(output).ok()?;
    let mut lines = output.lines();
    for entry in entries {
        for blob in [&mut entry.before, &mut entry.now] {
            // No size: absent on this side, or a commit of another repository.
            blob.bytes = lines.next()?.parse().unwrap_or(0);
        }
    }
    Some(())
}

/// Reads each file's patch from git; a large file is left out, and keeps an empty one.
fn read_patches(
    scratch: &ScratchTree,
    base: &str,
    tree: &str,
    entries: &mut [DiffEntry],
) -> Option<()> {
    let mut compared: Vec<&mut DiffEntry> = Vec::new();
    let (mut left_out, mut read) = (Vec::new(), 0);
    for entry in entries {
        read += if entry.is_new() && !entry.is_large() {
            entry.now.bytes
        } else {
            0
        };
        if entry.is_large() || (entry.is_new() && read > MAX_ALL_READ_BYTES) {
            left_out.push(format!(
                ":(exclude,literal,top){}",
                std::str::from_utf8(&entry.path).ok()?
            ));
        } else {
            compared.push(entry);
        }
    }
    if left_out.len() > MAX_LEFT_OUT {
        return None;
    }
    let paths = [".".to_owned()]
        .into_iter()
        .filter(|_| !left_out.is_empty())
        .chain(left_out.iter().cloned());
    let paths: Vec<String> = paths.collect();
    let options = [
        "--patch",
        "--text",
        "--unified=3",
        "--full-index",
        "--no-color",
        "--submodule=short",
        "--src-prefix=a/",
        "--dst-prefix=b/",
        base,
        tree,
        "--",
    ];
    let arguments: Vec<&str> = [&SETTINGS[..], &COMPARE, &options]
        .concat()
        .into_iter()
        .chain(paths.iter().map(String::as_str))
        .collect();
    let output = scratch.git_with_objects(&arguments, &[])?;
    let mut parts = split_patches(&output).into_iter();
    for entry in compared {
        parts.next()?.clone_into(&mut entry.patch);
        // A change of kind counts as a deletion and an addition.
        if entry.status == b'T' {
            entry.patch.extend(parts.next()?);
        }
    }
    parts.next().is_none().then_some(())
}

fn show(
    text: &mut String,
    scratch: &ScratchTree,
    entries: &mut [DiffEntry],
    whole: &mut FileVersions,
) -> Result<(), String> {
    entries.sort_by_key(DiffEntry::sort_key);
    let list: String = entries.iter().map(DiffEntry::list_line).collect();
    if list.len() > MAX_LIST_BYTES {
        return Err(format!(
            "{} files changed, more than can be listed",
            entries.len()
        ));
    }
    text.push_str(&list);
    let mut hidden = Vec::new();
    for entry in entries.iter() {
        let most = if entry.is_new() {
            MAX_NEW_FILE_BYTES
        } else {
            MAX_FILE_BYTES
        };
        let room = MAX_BYTES.saturating_sub(text.len()).min(most);
        text.push('\n');
        if was_binary(scratch, entry) {
            let path = entry.shown_path();
            let _ = writeln!(
                text,
                "[omo] {} was a binary file before, and is not shown.",
                path.escape_debug()
            );
            continue;
        }
        let patch = String::from_utf8_lossy(&entry.patch);
        let end = (0..=patch.len().min(room))
            .rev()
            .find(|at| patch.is_char_boundary(*at))
            .unwrap_or(0);
        text.push_str(patch.get(..end).unwrap_or_default());
        if end == patch.len() && !entry.patch.is_empty() {
            continue;
        }
        let file = entry.shown_path();
        if let Some(note) = whole.write_versions(scratch, entry) {
            text.push_str(&note);
        } else if entry.is_new() {
            let _ = writeln!(
                text,
                "\n[omo] the rest of {} is to be read in that file itself.",
                file.escape_debug()
            );
        } else {
            hidden.push(file);
        }
    }
    let named: Vec<&str> = hidden.iter().take(5).map(String::as_str).collect();
    match hidden.len() {
        0 => Ok(()),
        count => Err(format!(
            "what changed in {count} files is more than can be shown: {}",
            named.join(", ")
        )),
    }
}

fn was_binary(scratch: &ScratchTree, entry: &DiffEntry) -> bool {
    const NUL: u8 = 0;
    if entry.is_new() || entry.before.is_submodule() {
        return false;
    }
    // Most files have no NUL at all.
    if !entry.patch.is_empty() && !entry.patch.contains(&NUL) {
        return false;
    }
    let content = scratch
        .git_with_objects(&["cat-file", "blob", &entry.before.name], &[])
        .unwrap_or_default();
    content.iter().take(BINARY_BYTES).any(|byte| *byte == NUL)
}

/// Present submodules with their former commits; `None` for a new one.
fn submodules(
    scratch: &ScratchTree,
    base: &str,
    tree: &str,
    paths: &[PathBuf],
) -> Option<Vec<(PathBuf, Option<String>)>> {
    if paths.is_empty() {
        return Some(Vec::new());
    }
    let (before, now) = (
        submodule_commits(scratch, base)?,
        submodule_commits(scratch, tree)?,
    );
    let without_commit = paths.iter().filter(|path| !now.contains_key(*path));
    let present = now.keys().chain(without_commit);
    Some(
        present
            .map(|path| (path.clone(), before.get(path).cloned()))
            .collect(),
    )
}

fn submodule_commits(scratch: &ScratchTree, tree: &str) -> Option<BTreeMap<PathBuf, String>> {
    let listed = scratch.git_with_objects(&["ls-tree", "-r", "-z", "--full-tree", tree], &[])?;
    let commits = parts(&listed).filter_map(|entry| {
        let entry = entry.strip_prefix(b"160000 commit ")?;
        let (commit, path) = split_entry(entry)?;
        Some((
            crate::platform::path_of(path),
            String::from_utf8(commit.to_owned()).ok()?,
        ))
    });
    Some(commits.collect())
}
