//! The id of a work tree: what `git write-tree` says of everything that git would commit.
//!
//! git works on a copy of the index and writes into a folder of objects of its own, both in the
//! user's own state folder: neither `git status`, nor the index, nor the objects of the
//! repository, nor any hook notices. The copy is kept, so that the next time only what changed is
//! read; where nothing changed, one call of git says so, or none (`snapshot`).

use std::cell::OnceCell;
use std::ffi::{OsStr, OsString};
use std::fmt::Write;
use std::fs;
use std::io::{ErrorKind, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::timestamp::Timestamp;
use omo_store::folder::Folder;
use omo_store::lock::Lock;
use omo_store::regular;
use omo_store::seal::{Key, digest};
use omo_store::work_tree::WorkTree;
use serde::{Deserialize, Serialize};

use crate::git::GitCalls;
use crate::platform::{identity, path_of};
use crate::snapshot::{self, Snapshot};

const INDEX: &str = "index";
const KEPT: &str = "kept.json";
const OBJECTS: &str = "objects";
const PATHS: &str = "paths";
/// How deep submodules within submodules are followed.
const MAX_DEPTH: usize = 8;
/// A larger index is none that git would make.
const MAX_INDEX_BYTES: u64 = 256 * 1024 * 1024;
/// What is kept of a larger work tree is not used: then git is asked each time.
const MAX_KEPT_BYTES: u64 = 64 * 1024 * 1024;
/// Two sessions of one project ask for the same id at the same time.
const PATIENCE: Duration = Duration::from_secs(30);

/// What is remembered between two looks at a work tree.
#[derive(Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    /// The repository's own index, as it was when it was copied.
    source: String,
    /// Our copy of it, as git left it.
    copy: String,
    /// The id of the work tree without its submodules.
    pub(crate) tree: String,
    /// Where those are.
    pub(crate) submodules: Vec<PathBuf>,
    /// Whether our copy has files that git was told not to look at.
    #[serde(default = "unknown")]
    has_flags: bool,
    /// What the work tree looked like when all that was so, where that can be told.
    #[serde(default)]
    looks: Option<String>,
    /// omo's own mark on all of that.
    #[serde(default)]
    seal: String,
}

fn unknown() -> bool {
    true
}

/// The id of the work tree that a folder lies in; `None` where it lies in none, or git cannot say.
pub fn id(folder: &Path, state_home: Option<&Path>, calls: &GitCalls) -> Option<String> {
    let tree = WorkTree::find(folder)?;
    let home = state_home?;
    // What the repository around it ignores is no part of that, whatever happens in it.
    if folder != tree.top && Scratch::of(&tree, home, calls)?.ignores(folder)? {
        return None;
    }
    id_of(&tree, home, calls, 0)
}

/// At most this much of a difference is given.
const MAX_DIFF_BYTES: usize = 400 * 1024;

/// What changed in the work tree that a folder lies in since a commit, new files included; `None`
/// for a commit stands for nothing at all. Called after [`id`], whose index knows the new files.
pub fn difference(folder: &Path, state_home: Option<&Path>, calls: &GitCalls, since: Option<&str>) -> Option<String> {
    let tree = WorkTree::find(folder)?;
    let scratch = Scratch::of(&tree, state_home?, calls)?;
    let plain = ["--no-ext-diff", "--no-textconv", "--no-color", "--stat=120", "--patch"];
    let bytes =
        scratch.git_with_objects(&[["diff"].as_slice(), &plain, &[since.unwrap_or(EMPTY_TREE)]].concat(), &[])?;
    let cut = bytes.len() > MAX_DIFF_BYTES;
    let text = String::from_utf8_lossy(bytes.get(..MAX_DIFF_BYTES).unwrap_or(&bytes)).into_owned();
    Some(if cut { format!("{text}\n[omo] the rest is left out: {} bytes in all", bytes.len()) } else { text })
}

/// git's own names of a tree without files, where the repository's objects are named by SHA-1 and by SHA-256.
const EMPTY_TREES: [&str; 2] = [EMPTY_TREE, "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321"];
const EMPTY_TREE: &str = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";

fn id_of(tree: &WorkTree, state_home: &Path, calls: &GitCalls, depth: usize) -> Option<String> {
    let scratch = Scratch::of(tree, state_home, calls)?;
    let kept = scratch.look()?;
    if kept.submodules.is_empty() || depth == MAX_DEPTH {
        return Some(kept.tree);
    }
    // A submodule's own changes are no part of the tree around it.
    let mut all = kept.tree;
    for path in &kept.submodules {
        let inner = submodule_at_depth(tree, path, state_home, calls, depth);
        let _ = write!(all, "\n{}\0{}", path.display(), inner);
    }
    Some(digest(all.as_bytes()))
}

/// The id of a submodule's own work tree, by its path from the top; empty where it has none.
pub(crate) fn id_of_submodule(tree: &WorkTree, path: &Path, state_home: &Path, calls: &GitCalls) -> String {
    submodule_at_depth(tree, path, state_home, calls, 0)
}

fn submodule_at_depth(tree: &WorkTree, path: &Path, state_home: &Path, calls: &GitCalls, depth: usize) -> String {
    let inner = WorkTree::at(&tree.top.join(path));
    inner.and_then(|inner| id_of(&inner, state_home, calls, depth + 1)).unwrap_or_default()
}

/// What becomes of the objects that git writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Objects {
    /// Nobody needs them.
    Forgotten,
    /// Somebody will ask for them, who may be another process.
    Remembered,
}

/// The folder in which omo looks at one work tree.
pub(crate) struct Scratch<'a> {
    tree: &'a WorkTree,
    calls: &'a GitCalls,
    objects: Objects,
    folder: Folder,
    path: PathBuf,
    /// What is kept there bears a seal: it lies where others can write.
    key: Key,
    /// Settings that turn off every filter that the repository has.
    unfiltered: OnceCell<Vec<String>>,
    _lock: Lock,
}

impl<'a> Scratch<'a> {
    fn of(tree: &'a WorkTree, state_home: &Path, calls: &'a GitCalls) -> Option<Self> {
        Self::at(tree, state_home, calls, &["omo", "trees", &folder_name(tree)?], Objects::Forgotten)
    }

    /// One of its own below `parts`, where the trees that git writes are remembered.
    pub(crate) fn remembering(
        tree: &'a WorkTree,
        state_home: &Path,
        calls: &'a GitCalls,
        parts: &[&str],
    ) -> Option<Self> {
        let name = folder_name(tree)?;
        let parts = [parts, &[&name]].concat();
        Folder::create_own_part(state_home, &[parts.as_slice(), &[OBJECTS]].concat()).ok()?;
        Self::at(tree, state_home, calls, &parts, Objects::Remembered)
    }

    fn at(
        tree: &'a WorkTree,
        state_home: &Path,
        calls: &'a GitCalls,
        parts: &[&str],
        objects: Objects,
    ) -> Option<Self> {
        let folder = Folder::create_own_part(state_home, parts).ok()?;
        let lock = Lock::take(&folder, PATIENCE).ok()?;
        // Of a git that was killed; under the lock nobody else works here.
        folder.remove(&format!("{INDEX}.lock")).ok()?;
        let (path, key) = (folder.path().to_owned(), Key::load(Some(state_home)).ok()?);
        let scratch = Self { tree, calls, objects, folder, path, key, unfiltered: OnceCell::new(), _lock: lock };
        scratch.forget_objects().map(|()| scratch)
    }

    /// Without their folder git knows no repository.
    fn forget_objects(&self) -> Option<()> {
        match self.objects {
            Objects::Forgotten => self.folder.renew_folder(OBJECTS).ok(),
            Objects::Remembered => Some(()),
        }
    }

    /// Looks at the work tree, as quickly as can be.
    pub(crate) fn look(&self) -> Option<Kept> {
        // What is ignored decides about new files, as the index does about old ones.
        let source =
            [self.tree.git.join(INDEX), self.tree.common.join("info/exclude")].map(|path| mark(&path)).join(" ");
        let kept = self.kept().filter(|kept| kept.source == source && kept.copy == mark(&self.path.join(INDEX)));
        let Some(kept) = kept else { return self.look_anew(source) };
        if self.looks_as_before(&kept) {
            return Some(kept);
        }
        let since = snapshot::begin();
        // Nobody but the index that it was copied from gives it any.
        if kept.has_flags {
            self.forget_flags()?;
        }
        let changed = self.changed()?;
        if changed.is_empty() {
            let files = if self.is_asked_again() { self.git(&["ls-files", "-z"], &[])? } else { Vec::new() };
            return self.keep(kept, since, &files);
        }
        // A new file that our index holds would stay in it although it is ignored from now on.
        if changed.split(|byte| *byte == 0).any(|path| path.ends_with(b".gitignore")) {
            return self.look_anew(source);
        }
        // A folder that is a repository of its own becomes a submodule in the eyes of git.
        let new_repository = changed.split(|byte| *byte == 0).any(|path| path.ends_with(b"/"));
        self.add(new_repository, kept)
    }

    /// Whether somebody will ask for the same again before long: what a step changed is asked for once.
    fn is_asked_again(&self) -> bool {
        self.objects == Objects::Forgotten
    }

    fn looks_as_before(&self, kept: &Kept) -> bool {
        let paths = || self.folder.read(PATHS, MAX_KEPT_BYTES).ok().flatten();
        kept.looks
            .as_ref()
            .is_some_and(|looks| paths().is_some_and(|paths| snapshot::is_unchanged(&self.tree.top, &paths, looks)))
    }

    /// Remembers what was found, and, where that is asked for again, what the work tree looks like. Submodules have work trees of
    /// their own, which are asked for each time.
    fn keep(&self, mut kept: Kept, since: Timestamp, files: &[u8]) -> Option<Kept> {
        (kept.looks, kept.copy) = (None, mark(&self.path.join(INDEX)));
        if EMPTY_TREES.contains(&kept.tree.as_str()) && self.has_files() {
            // Everything is ignored: the id would be the same whatever happens.
            return None;
        }
        if self.is_asked_again() && kept.submodules.is_empty() {
            let ignored = |folders: &[u8]| self.ignored(folders);
            let snapshot = Snapshot::take(&self.tree.top, files, ignored, since);
            if let Some(snapshot) = snapshot {
                self.folder.replace(PATHS, &snapshot.paths).ok()?;
                kept.looks = Some(snapshot.digest);
            }
        }
        kept.seal = String::new();
        kept.seal = self.key.mac(&self.kept_bytes(&kept)?);
        self.folder.replace(KEPT, &serde_json::to_vec(&kept).ok()?).ok()?;
        Some(kept)
    }

    /// What the seal of what is kept is over: all of it, and the list of paths.
    fn kept_bytes(&self, kept: &Kept) -> Option<Vec<u8>> {
        let paths = self.folder.read(PATHS, MAX_KEPT_BYTES).ok().flatten().unwrap_or_default();
        serde_json::to_vec(&(kept, digest(&paths))).ok()
    }

    /// Whether there is anything at the top beside what git and omo keep there.
    fn has_files(&self) -> bool {
        let mut entries = fs::read_dir(&self.tree.top).into_iter().flatten().flatten();
        entries.any(|entry| entry.file_name() != ".git" && entry.file_name() != ".sisyphus")
    }

    /// Whether git ignores a folder of the work tree.
    pub(crate) fn ignores(&self, folder: &Path) -> Option<bool> {
        let path = folder.strip_prefix(&self.tree.top).ok()?.as_os_str().as_encoded_bytes();
        Some(!self.ignored(&[path, b"/\0"].concat())?.is_empty())
    }

    /// Which of these folders git ignores.
    fn ignored(&self, folders: &[u8]) -> Option<Vec<u8>> {
        let index = self.path.join(INDEX);
        let variables: Vec<_> = self.place().into_iter().chain([("GIT_INDEX_FILE", index.as_os_str())]).collect();
        let arguments = ["check-ignore", "-z", "--stdin"];
        let (status, said) = self.calls.answer(&self.tree.top, &arguments, &variables, folders)?;
        // 1 says that none of them is.
        matches!(status, 0 | 1).then_some(said)
    }

    fn kept(&self) -> Option<Kept> {
        let bytes = self.folder.read(KEPT, MAX_KEPT_BYTES).ok()??;
        let mut kept: Kept = serde_json::from_slice(&bytes).ok()?;
        let seal = std::mem::take(&mut kept.seal);
        self.key.is_mac(&self.kept_bytes(&kept)?, &seal).then_some(kept)
    }

    /// Begins with the repository's own index: it knows which files were not touched.
    fn look_anew(&self, source: String) -> Option<Kept> {
        let has_flags = match regular::open(&self.tree.git.join(INDEX)) {
            Ok(Some(mut index)) if is_index(&index)? => {
                std::io::copy(&mut index, &mut self.folder.create_file(INDEX).ok()?).ok()?;
                self.forget_flags()?
            }
            // A repository without a commit, and nothing added yet.
            Err(error) if error.kind() == ErrorKind::NotFound => {
                self.folder.remove(INDEX).ok()?;
                false
            }
            Ok(_) | Err(_) => return None,
        };
        self.add(true, Kept { source, has_flags, ..Kept::default() })
    }

    /// Files that git was told to take for unchanged are looked at all the same. A file that a
    /// sparse checkout left out stays left out. Tells whether there are any.
    fn forget_flags(&self) -> Option<bool> {
        let listed = self.git(&["ls-files", "-v", "-z"], &[])?;
        let (mut unchanged, mut present) = (Vec::new(), Vec::new());
        let mut has_flags = false;
        for entry in listed.split(|byte| *byte == 0).filter(|entry| entry.len() > 2) {
            let (tag, path) = entry.split_at(2);
            let tag = tag.first().copied().unwrap_or_default();
            has_flags |= tag.is_ascii_lowercase() || tag.eq_ignore_ascii_case(&b'S');
            if tag.is_ascii_lowercase() {
                unchanged.extend_from_slice(path);
                unchanged.push(0);
            }
            if tag.eq_ignore_ascii_case(&b'S') && self.tree.top.join(path_of(path)).symlink_metadata().is_ok() {
                present.extend_from_slice(path);
                present.push(0);
            }
        }
        for (option, paths) in [("--no-assume-unchanged", unchanged), ("--no-skip-worktree", present)] {
            if !paths.is_empty() {
                self.git(&["update-index", option, "-z", "--stdin"], &paths)?;
            }
        }
        Some(has_flags)
    }

    /// What differs between the work tree and our index.
    fn changed(&self) -> Option<Vec<u8>> {
        self.git(&["ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard"], &[])
    }

    /// Takes the work tree into our index, and asks git what that is called.
    fn add(&self, list_submodules: bool, kept: Kept) -> Option<Kept> {
        let since = snapshot::begin();
        let tree = self
            .git(&["add", "--all", "--sparse", "."], &[])
            .and_then(|_| self.git(&["write-tree", "--missing-ok"], &[]));
        self.forget_objects()?;
        let tree = String::from_utf8(tree?).ok()?.trim().to_owned();
        let needs_list = list_submodules || self.is_asked_again();
        let listed = if needs_list { self.git(&["ls-files", "-s", "-z"], &[])? } else { Vec::new() };
        let submodules = if list_submodules { submodules(&listed) } else { kept.submodules };
        let files: Vec<u8> = entries(&listed).flat_map(|(_, path)| [path, b"\0"].concat()).collect();
        let copy = mark(&self.path.join(INDEX));
        self.keep(
            Kept { source: kept.source, copy, tree, submodules, has_flags: kept.has_flags, ..Kept::default() },
            since,
            &files,
        )
    }

    /// Without the repository's own objects, which git would touch when it writes the same once
    /// more. An index that stands for whole folders in one entry needs them.
    pub(crate) fn git(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        self.git_with(None, arguments, input).or_else(|| self.git_with_objects(arguments, input))
    }

    /// As [`Scratch::git`], for what looks at no file of the work tree: no filter stands between it and what it says.
    pub(crate) fn git_on_objects(&self, arguments: &[&str]) -> Option<Vec<u8>> {
        let on = |objects: Option<OsString>| self.run(objects, &[], arguments, &[]);
        on(None).or_else(|| on(Some(quoted(&self.tree.common.join(OBJECTS)))))
    }

    /// With the repository's own objects, to read them.
    pub(crate) fn git_with_objects(&self, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        self.git_with(Some(quoted(&self.tree.common.join(OBJECTS))), arguments, input)
    }

    fn git_with(&self, shared: Option<OsString>, arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let unfiltered = self.unfiltered.get_or_init(|| self.filters_off());
        self.run(shared, unfiltered, arguments, input)
    }

    fn run(&self, shared: Option<OsString>, settings: &[String], arguments: &[&str], input: &[u8]) -> Option<Vec<u8>> {
        let (index, objects) = (self.path.join(INDEX), self.path.join(OBJECTS));
        let shared = shared.unwrap_or_default();
        let own = [
            ("GIT_INDEX_FILE", index.as_os_str()),
            ("GIT_OBJECT_DIRECTORY", objects.as_os_str()),
            ("GIT_ALTERNATE_OBJECT_DIRECTORIES", shared.as_os_str()),
        ];
        let variables: Vec<_> = self.place().into_iter().chain(own).collect();
        let arguments: Vec<&str> = settings.iter().map(String::as_str).chain(arguments.iter().copied()).collect();
        self.calls.git(&self.tree.top, &arguments, &variables, input)
    }

    /// Which repository and which work tree are meant, whatever its settings say.
    fn place(&self) -> [(&'static str, &OsStr); 2] {
        [("GIT_DIR", self.tree.git.as_os_str()), ("GIT_WORK_TREE", self.tree.top.as_os_str())]
    }

    /// A filter could show git other files than those that are there, and runs a program.
    fn filters_off(&self) -> Vec<String> {
        let arguments = ["config", "-z", "--name-only", "--get-regexp", "^filter[.].*[.](clean|process|required)$"];
        let (_, names) = self.calls.answer(&self.tree.top, &arguments, &self.place(), &[]).unwrap_or_default();
        let names = names.split(|byte| *byte == 0).filter_map(|name| std::str::from_utf8(name).ok());
        let off = names.filter(|name| !name.is_empty()).map(|name| {
            let value = if name.ends_with("required") { "false" } else { "" };
            ["-c".to_owned(), format!("{name}={value}")]
        });
        off.flatten().collect()
    }
}

/// What git says of each path of an index, and the path.
fn entries(listed: &[u8]) -> impl Iterator<Item = (&[u8], &[u8])> {
    let entries = listed.split(|byte| *byte == 0);
    entries
        .filter_map(|entry| entry.split_at_checked(entry.iter().position(|byte| *byte == b'\t')?))
        .filter_map(|(about, path)| Some((about, path.get(1..)?)))
}

/// Where the submodules are.
fn submodules(listed: &[u8]) -> Vec<PathBuf> {
    let links = entries(listed).filter(|(about, _)| about.starts_with(b"160000 "));
    links.map(|(_, path)| path_of(path)).collect()
}

/// What the folder of a work tree is called.
fn folder_name(tree: &WorkTree) -> Option<String> {
    digest(tree.top.as_os_str().as_encoded_bytes()).get(..32).map(str::to_owned)
}

/// A path as git reads it in a list of them.
fn quoted(path: &Path) -> OsString {
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes.iter().any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\n')) {
        return path.as_os_str().to_owned();
    }
    let mut out = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    path_of(&out).into_os_string()
}

/// Whether an open file is an index of git's: nothing else is copied.
fn is_index(mut file: &fs::File) -> Option<bool> {
    const BEGINNING: &[u8] = b"DIRC";
    let mut beginning = Vec::new();
    file.take(BEGINNING.len() as u64).read_to_end(&mut beginning).ok()?;
    file.rewind().ok()?;
    Some(beginning == BEGINNING && file.metadata().ok()?.len() <= MAX_INDEX_BYTES)
}

/// What tells one state of an index file from another: its place, size and time, and the digest of
/// its content that git writes at its end.
pub(crate) fn mark(path: &Path) -> String {
    const DIGEST_BYTES: u64 = 32;
    let read = || {
        let mut file = regular::open(path).ok()??;
        let identity = identity(&file).ok()?;
        let mut end = Vec::new();
        file.seek(SeekFrom::Start(file.metadata().ok()?.len().saturating_sub(DIGEST_BYTES))).ok()?;
        file.take(DIGEST_BYTES).read_to_end(&mut end).ok()?;
        Some(format!("{identity}:{}", digest(&end)))
    };
    read().unwrap_or_default()
}
