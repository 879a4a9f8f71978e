//! Tree id (`git write-tree`) of a work tree as git would commit it. git works on a copy of the
//! index, with objects and a git folder (`own_git_dir`) in the user's state folder: the repository
//! notices nothing, and its settings hide no change. Verdicts do not rest on it, but on
//! `work_files`.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fmt::Write;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use omo_state::seal::{SealKey, hex_digest};
use serde::{Deserialize, Serialize};

use crate::git_command::GitCalls;
use crate::git_output::{batch_contents, entries, list, parts, submodules};
use crate::own_git_dir::{self, RepositorySettings, quote_path};
use crate::platform::{identity, path_of};
use crate::private_folder::{PATIENCE, PrivateFolder, tree_name};
use crate::scope::FileScope;

const INDEX: &str = "index";
const KEPT: &str = "kept.json";
const OBJECTS: &str = "objects";
const HELD: &str = "held";
const SETTINGS: &str = "settings.json";
const MAX_DEPTH: usize = 8;
const MAX_INDEX_BYTES: u64 = 256 * 1024 * 1024;
/// Larger states are not used, and git is asked each time.
const MAX_KEPT_BYTES: u64 = 64 * 1024 * 1024;
const TREES: [&str; 2] = ["omo", "trees"];

#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TreeState {
    /// Marks of the copied index and settings.
    source: String,
    copy: String,
    pub(crate) tree: String,
    pub(crate) submodules: Vec<PathBuf>,
    #[serde(default)]
    seal: String,
}

/// Ids of the tree without files, by SHA-1 and SHA-256.
pub(crate) const EMPTY_TREES: [&str; 2] = [
    EMPTY_TREE,
    "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
];
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

fn id_of(tree: &GitWorktree, state_home: &Path, calls: &GitCalls, depth: usize) -> Option<String> {
    let scratch = ScratchTree::open(tree, state_home, calls, &TREES, Look::Passing)?;
    let kept = scratch.read_state()?;
    if kept.submodules.is_empty() || depth == MAX_DEPTH {
        return Some(kept.tree);
    }
    // A submodule's own changes are no part of the tree around it.
    let mut ids = kept.tree;
    for path in &kept.submodules {
        let inner = submodule_at_depth(tree, path, state_home, calls, depth);
        let _ = write!(ids, "\n{}\0{}", path.display(), inner);
    }
    Some(hex_digest(ids.as_bytes()))
}

/// Id of a submodule's work tree, by its path from the top; empty without one.
pub(crate) fn id_of_submodule(
    tree: &GitWorktree,
    path: &Path,
    state_home: &Path,
    calls: &GitCalls,
) -> String {
    submodule_at_depth(tree, path, state_home, calls, 0)
}

fn submodule_at_depth(
    tree: &GitWorktree,
    path: &Path,
    state_home: &Path,
    calls: &GitCalls,
    depth: usize,
) -> String {
    let inner = GitWorktree::at(&tree.top.join(path));
    inner
        .and_then(|inner| id_of(&inner, state_home, calls, depth + 1))
        .unwrap_or_default()
}

/// Choice of settings for a look at a work tree, and of what happens to objects that git writes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Look<'s> {
    /// Present settings; objects are deleted.
    Passing,
    /// Settings of the first of several looks; objects stay for other processes.
    Lasting,
    /// Present settings, or those of a run's start; leftovers of an earlier look are deleted.
    Fresh(Option<&'s FileScope>),
    /// Settings of the record, for later looks at it.
    Recorded(&'s FileScope),
}

/// Work tree with a private index, object folder and git folder for looks at it.
pub(crate) struct ScratchTree<'a> {
    tree: GitWorktree,
    calls: &'a GitCalls,
    forgets_objects: bool,
    private: PrivateFolder,
    /// Key for kept states, which lie where others can write.
    key: SealKey,
    settings: RepositorySettings,
    absent: BTreeSet<Vec<u8>>,
    /// Folders for `GIT_ALTERNATE_OBJECT_DIRECTORIES`.
    object_folders: Vec<PathBuf>,
    /// Path of the git folder that stands in for `.git`.
    git: OnceLock<Option<PathBuf>>,
}

impl<'a> ScratchTree<'a> {
    pub(crate) fn open(
        tree: &GitWorktree,
        state_home: &Path,
        calls: &'a GitCalls,
        parts: &[&str],
        look: Look,
    ) -> Option<Self> {
        let private =
            PrivateFolder::open(state_home, parts, &tree_name(&tree.top), PATIENCE).ok()?;
        // Left by a git that was killed: under the lock no other process works here.
        private.folder.remove(&format!("{INDEX}.lock")).ok()?;
        let scope = match look {
            Look::Fresh(scope) => scope,
            Look::Recorded(scope) => Some(scope),
            Look::Passing | Look::Lasting => None,
        };
        let mut scratch = Self {
            tree: tree.clone(),
            calls,
            forgets_objects: matches!(look, Look::Passing),
            private,
            key: SealKey::load(Some(state_home)).ok()?,
            settings: scope
                .map(|scope| scope.settings.clone())
                .unwrap_or_default(),
            absent: scope
                .map(|scope| scope.absent().into_iter().collect())
                .unwrap_or_default(),
            object_folders: Vec::new(),
            git: OnceLock::new(),
        };
        match look {
            Look::Passing => scratch.forget_objects()?,
            Look::Lasting => drop(scratch.private.folder.create_folder(OBJECTS).ok()?),
            Look::Fresh(_) => scratch.clear()?,
            Look::Recorded(_) => {}
        }
        if matches!(look, Look::Lasting) {
            scratch.settings = scratch
                .first_settings()
                .or_else(|| scratch.keep_first_settings())?;
        } else if scope.is_none() {
            scratch.settings = RepositorySettings::read(tree, calls);
        }
        Some(scratch)
    }

    pub(crate) fn add_object_folders(&mut self, folders: Vec<PathBuf>) {
        self.object_folders = folders;
    }

    fn path(&self, name: &str) -> PathBuf {
        self.private.folder.path().join(name)
    }

    pub(crate) fn objects_folder(&self) -> PathBuf {
        self.path(OBJECTS)
    }

    pub(crate) fn linked_objects_folder(&self) -> PathBuf {
        self.path(HELD)
    }

    pub(crate) fn is_absent(&self, path: &[u8]) -> bool {
        self.absent.contains(path)
    }

    pub(crate) fn clear(&self) -> Option<()> {
        self.private.folder.remove(KEPT).ok()?;
        self.private.folder.empty_folder(OBJECTS).ok()
    }

    fn first_settings(&self) -> Option<RepositorySettings> {
        let bytes = self.private.folder.read(SETTINGS, MAX_KEPT_BYTES).ok()??;
        let (seal, settings): (String, RepositorySettings) = serde_json::from_slice(&bytes).ok()?;
        self.key
            .is_mac(&serde_json::to_vec(&settings).ok()?, &seal)
            .then_some(settings)
    }

    fn keep_first_settings(&self) -> Option<RepositorySettings> {
        let settings = RepositorySettings::read(&self.tree, self.calls);
        let seal = self.key.mac(&serde_json::to_vec(&settings).ok()?);
        self.private
            .folder
            .replace(SETTINGS, &serde_json::to_vec(&(seal, &settings)).ok()?)
            .ok()?;
        Some(settings)
    }

    /// git needs the folder: without one there is no repository.
    fn forget_objects(&self) -> Option<()> {
        if self.forgets_objects {
            self.private.folder.empty_folder(OBJECTS).ok()
        } else {
            Some(())
        }
    }

    pub(crate) fn read_state(&self) -> Option<TreeState> {
        let source = format!(
            "{} {}",
            file_mark(&self.tree.git.join(INDEX)),
            hex_digest(&serde_json::to_vec(&(&self.settings, self.absent.len())).ok()?)
        );
        let kept = self
            .load_state()
            .filter(|kept| kept.source == source && kept.copy == file_mark(&self.path(INDEX)));
        let Some(kept) = kept else {
            return self.rebuild_state(source);
        };
        // Absent paths may be there now.
        if !self.absent.is_empty() {
            self.forget_flags()?;
        }
        let changed = self.changed_paths()?;
        if changed.is_empty() {
            return Some(kept);
        }
        // A new file of our index would stay in it although it is ignored now.
        if parts(&changed).any(|path| path.ends_with(b".gitignore")) {
            return self.rebuild_state(source);
        }
        // A folder that is a repository becomes a submodule.
        let new_repository = parts(&changed).any(|path| path.ends_with(b"/"));
        self.update_state(&changed, new_repository, kept)
    }

    fn save_state(&self, mut kept: TreeState) -> Option<TreeState> {
        if EMPTY_TREES.contains(&kept.tree.as_str()) && self.has_files() {
            // Everything is ignored: the id would never change.
            return None;
        }
        kept.seal = String::new();
        kept.seal = self.key.mac(&serde_json::to_vec(&kept).ok()?);
        self.private
            .folder
            .replace(KEPT, &serde_json::to_vec(&kept).ok()?)
            .ok()?;
        Some(kept)
    }

    fn has_files(&self) -> bool {
        let mut entries = fs::read_dir(&self.tree.top).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name() != ".git" && entry.file_name() != ".sisyphus")
    }

    pub(crate) fn ignores(&self, folder: &Path) -> Option<bool> {
        let path = folder
            .strip_prefix(&self.tree.top)
            .ok()?
            .as_os_str()
            .as_encoded_bytes();
        let asked = list([path]);
        let (status, output) = self.answer(None, &["check-ignore", "-z", "--stdin"], &asked)?;
        // 1: not ignored.
        matches!(status, 0 | 1).then_some(!output.is_empty())
    }

    fn load_state(&self) -> Option<TreeState> {
        let bytes = self.private.folder.read(KEPT, MAX_KEPT_BYTES).ok()??;
        let mut kept: TreeState = serde_json::from_slice(&bytes).ok()?;
        let seal = std::mem::take(&mut kept.seal);
        self.key
            .is_mac(&serde_json::to_vec(&kept).ok()?, &seal)
            .then_some(kept)
    }

    /// Starts from the repository's own index, which knows the untouched files.
    fn copy_index(&self) -> Option<()> {
        match regular_file::open(&self.tree.git.join(INDEX)) {
            Ok(Some(mut index)) if is_index(&index)? => {
                let mut copy = self.private.folder.create_file(INDEX).ok()?;
                std::io::copy(&mut index, &mut copy).ok()?;
                // By this time git finds the entries whose files may have changed since.
                copy.set_modified(index.metadata().ok()?.modified().ok()?)
                    .ok()?;
                self.forget_flags()
            }
            // A repository without a commit.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.private.folder.remove(INDEX).ok()
            }
            Ok(_) | Err(_) => None,
        }
    }

    fn rebuild_state(&self, source: String) -> Option<TreeState> {
        let changed = self.copied_changes()?;
        self.update_state(
            &changed,
            true,
            TreeState {
                source,
                ..TreeState::default()
            },
        )
    }

    /// Changes since a fresh copy of the index, with paths of open conflicts, whose stages no tree holds.
    fn copied_changes(&self) -> Option<Vec<u8>> {
        self.copy_index()?;
        let unmerged = self.git(&["ls-files", "--unmerged", "-z"], &[])?;
        let unmerged = list(entries(&unmerged).map(|(_, path)| path));
        Some([unmerged, self.changed_paths()?].concat())
    }

    /// Takes the work tree into our index alone: a tree would have git write each folder.
    pub(crate) fn record_index(&self) -> Option<()> {
        self.update_index(&self.copied_changes()?)
    }

    /// Drops `assume-unchanged` and `skip-worktree`, except for what a sparse checkout left out at the run's begin.
    fn forget_flags(&self) -> Option<()> {
        let listed = self.git(&["ls-files", "-v", "-z"], &[])?;
        let (mut unchanged, mut unwatched) = (Vec::new(), Vec::new());
        for entry in parts(&listed).filter(|entry| entry.len() > 2) {
            let (tag, path) = entry.split_at(2);
            let tag = tag.first().copied().unwrap_or_default();
            unchanged.extend(tag.is_ascii_lowercase().then_some(path));
            if tag.eq_ignore_ascii_case(&b'S') && !self.is_left_out(path) {
                unwatched.push(path);
            }
        }
        for (option, paths) in [
            ("--no-assume-unchanged", unchanged),
            ("--no-skip-worktree", unwatched),
        ] {
            if !paths.is_empty() {
                self.git(&["update-index", option, "-z", "--stdin"], &list(paths))?;
            }
        }
        Some(())
    }

    fn is_left_out(&self, path: &[u8]) -> bool {
        self.absent.contains(path)
            && self
                .tree
                .top
                .join(path_of(path))
                .symlink_metadata()
                .is_err()
    }

    fn changed_paths(&self) -> Option<Vec<u8>> {
        self.git(
            &[
                "ls-files",
                "-z",
                "--modified",
                "--deleted",
                "--others",
                "--exclude-standard",
            ],
            &[],
        )
    }

    fn update_state(
        &self,
        changed: &[u8],
        list_submodules: bool,
        kept: TreeState,
    ) -> Option<TreeState> {
        let tree = self
            .update_index(changed)
            .and_then(|()| self.git(&["write-tree", "--missing-ok"], &[]));
        self.forget_objects()?;
        let tree = String::from_utf8(tree?).ok()?.trim().to_owned();
        let listed = if list_submodules {
            self.git(&["ls-files", "-s", "-z"], &[])?
        } else {
            Vec::new()
        };
        let mut submodules = if list_submodules {
            submodules(&listed).map(path_of).collect()
        } else {
            kept.submodules
        };
        if list_submodules {
            let inside = parts(changed).filter(|path| path.ends_with(b"/"));
            submodules.extend(inside.filter(|path| !self.has_commit(path)).map(path_of));
        }
        let copy = file_mark(&self.path(INDEX));
        self.save_state(TreeState {
            source: kept.source,
            copy,
            tree,
            submodules,
            ..TreeState::default()
        })
    }

    fn has_commit(&self, path: &[u8]) -> bool {
        GitWorktree::at(&self.tree.top.join(path_of(path)))
            .is_some_and(|inner| inner.head().is_some())
    }

    /// Updates the index without `git add`, which starts another git in each submodule.
    fn update_index(&self, changed: &[u8]) -> Option<()> {
        let paths = parts(changed);
        // A repository without a commit cannot be an entry.
        let paths = paths.filter(|path| !path.ends_with(b"/") || self.has_commit(path));
        let paths = paths.map(|path| path.strip_suffix(b"/").unwrap_or(path));
        let (entries, removed): (Vec<&[u8]>, Vec<&[u8]>) =
            paths.partition(|path| self.can_be_entry(path));
        for (option, paths) in [("--force-remove", removed), ("--replace", entries)] {
            if !paths.is_empty() {
                self.git(
                    &["update-index", "-z", "--add", "--remove", option, "--stdin"],
                    &list(paths),
                )?;
            }
        }
        Some(())
    }

    /// A path that an index can hold, or its absence: git refuses other kinds of files, and paths behind a link.
    fn can_be_entry(&self, text: &[u8]) -> bool {
        let path = path_of(text);
        let is_behind_link = path
            .ancestors()
            .skip(1)
            .filter(|above| !above.as_os_str().is_empty())
            .any(|above| self.tree.top.join(above).is_symlink());
        let kind = self
            .tree
            .top
            .join(&path)
            .symlink_metadata()
            .map(|meta| meta.file_type());
        !is_behind_link
            && kind.map_or(true, |kind| {
                kind.is_file() || kind.is_symlink() || self.has_commit(text)
            })
    }

    /// Tries without the repository's objects, which a write would touch; a sparse index needs them.
    pub(crate) fn git(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let without = self
            .answer(None, arguments, input)
            .and_then(|(status, output)| (status == 0).then_some(output));
        without.or_else(|| self.git_with_objects(arguments, input))
    }

    pub(crate) fn git_with_objects(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let mut shared = quote_path(&self.tree.common.join(OBJECTS));
        for folder in &self.object_folders {
            // Separator of two paths.
            shared.push(std::env::join_paths(["", ""]).ok()?);
            shared.push(quote_path(folder));
        }
        let (status, output) = self.answer(Some(shared), arguments, input)?;
        (status == 0).then_some(output)
    }

    pub(crate) fn contents<'o>(
        &self,
        objects: impl Iterator<Item = &'o str>,
    ) -> Option<Vec<Vec<u8>>> {
        let asked: Vec<&str> = objects.flat_map(|object| [object, "\n"]).collect();
        batch_contents(&self.git_with_objects(&["cat-file", "--batch"], asked.concat().as_bytes())?)
    }

    /// Exit status and output; `shared` are more folders of objects.
    pub(crate) fn answer(
        &self,
        shared: Option<OsString>,
        arguments: &[&str],
        input: &[u8],
    ) -> Option<(i32, Vec<u8>)> {
        let git = self
            .git
            .get_or_init(|| {
                own_git_dir::make(&self.private.folder, Some(&self.tree), &self.settings)
            })
            .as_ref()?;
        let (index, objects) = (self.path(INDEX), self.path(OBJECTS));
        let shared = shared.unwrap_or_default();
        let own = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", shared.as_os_str()),
        ];
        let variables: Vec<_> = own_git_dir::variables(git, &self.tree.top)
            .into_iter()
            .chain(own)
            .collect();
        self.calls
            .answer(&self.tree.top, arguments, &variables, input)
    }
}

pub(crate) fn is_index(mut file: &fs::File) -> Option<bool> {
    const BEGINNING: &[u8] = b"DIRC";
    let mut beginning = Vec::new();
    file.take(BEGINNING.len() as u64)
        .read_to_end(&mut beginning)
        .ok()?;
    file.rewind().ok()?;
    Some(beginning == BEGINNING && file.metadata().ok()?.len() <= MAX_INDEX_BYTES)
}

/// Stat of a file as text; `None` without a file.
pub fn file_identity(path: &Path) -> Option<String> {
    identity(&regular_file::open(path).ok()??).ok()
}

/// Stat of an index file with the digest at its end; empty without one.
pub(crate) fn file_mark(path: &Path) -> String {
    read_mark(path).unwrap_or_default()
}

fn read_mark(path: &Path) -> Option<String> {
    const DIGEST_BYTES: u64 = 32;
    let mut file = regular_file::open(path).ok()??;
    let identity = identity(&file).ok()?;
    let mut end = Vec::new();
    file.seek(SeekFrom::Start(
        file.metadata().ok()?.len().saturating_sub(DIGEST_BYTES),
    ))
    .ok()?;
    file.take(DIGEST_BYTES).read_to_end(&mut end).ok()?;
    Some(format!("{identity}:{}", hex_digest(&end)))
}
