//! Record of all files at a run's start, with uncommitted ones: an index and linked git objects in
//! a private folder, so that they outlast rewritten history. The sealed entry of the session holds
//! the digest of each index.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};
use std::time::{Duration, Instant};

use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::DEADLINE;
use omo_state::git_worktree::GitWorktree;
use omo_state::recorded_trees::{self as store, RecordedTrees};
use omo_state::seal::hex_digest;
use omo_state::state::{self, CorruptPolicy, EntryChange, StateUpdateOptions};

use crate::folder_path::FolderPath;
use crate::git_command::GitCalls;
use crate::git_output::{parts, split_entry};
use crate::platform::path_of;
use crate::tree::{Look, ScratchTree};
use crate::work_files::{FileScope, ignore_built, path_to_text};

const MAX_DEPTH: usize = 8;
const OBJECTS_AT_ONCE: usize = 500;
/// Bounds for linking objects, for which the client waits.
const MAX_LINKS: usize = 20_000;
const LINKING: Duration = Duration::from_millis(300);
const LIST: [&str; 3] = ["ls-files", "-s", "-z"];

/// Records the files of `root` and notes that in the session's entry. Without a record, a run's
/// changes cannot be told from earlier uncommitted ones.
pub fn record_files(
    root: &Path,
    state_home: &Path,
    id: &SessionId,
    now: Timestamp,
) -> io::Result<()> {
    let session = state::peek(root, id)
        .map_err(io::Error::other)?
        .ok_or_else(|| io::Error::other("no run is on"))?;
    store::begin(state_home, id, now).map_err(io::Error::other)?;
    let calls = GitCalls::default();
    let run = RunFolder {
        state_home,
        calls: &calls,
        id,
    };
    let name = session
        .verification
        .scope
        .as_deref()
        .filter(|name| !name.is_empty());
    let scope = name.and_then(|name| FileScope::load(state_home, name));
    let places = scope.map(|scope| collect_trees(&scope)).unwrap_or_default();
    if places.is_empty() {
        return Err(unlisted_files());
    }
    let mut trees = RecordedTrees::new();
    for place in &places {
        let index = place.record_index(run).ok_or_else(unlisted_files)?;
        trees.insert(place.name.clone(), index);
    }
    let kept = store::keep(state_home, id, &trees).map_err(io::Error::other)?;
    let folder = GuardedFolder::open_state(root)
        .map_err(io::Error::other)?
        .ok_or_else(|| io::Error::other("no run is on"))?;
    let options = StateUpdateOptions {
        deadline: DEADLINE,
        corrupt: CorruptPolicy::Refuse,
        now,
        state_home: Some(state_home),
    };
    let noted = state::update(&folder, id, options, |now| {
        if now.ulw.started_at != session.ulw.started_at || !now.is_armed() {
            return ((), EntryChange::Keep);
        }
        now.ulw.recorded = Some(kept);
        ((), EntryChange::Write)
    });
    noted.map_err(io::Error::other)?;
    let deadline = Instant::now() + LINKING;
    for place in &places {
        place.link_objects(run, deadline);
    }
    Ok(())
}

fn unlisted_files() -> io::Error {
    io::Error::other("git cannot say which files there are")
}

#[derive(Clone, Debug)]
pub(crate) struct RecordedWorktree {
    /// Path from the outermost work tree, whose own name is empty.
    pub(crate) name: String,
    pub(crate) scope: FileScope,
    pub(crate) top: PathBuf,
    pub(crate) inner: Vec<(PathBuf, Self)>,
}

fn collect_trees(scope: &FileScope) -> Vec<RecordedWorktree> {
    let mut trees = vec![RecordedWorktree::outermost(scope)];
    let mut at = 0;
    while let Some(place) = trees.get(at) {
        let inner: Vec<RecordedWorktree> =
            place.inner.iter().map(|(_, inner)| inner.clone()).collect();
        trees.extend(inner);
        at += 1;
    }
    trees
}

impl RecordedWorktree {
    pub(crate) fn outermost(scope: &FileScope) -> Self {
        Self::collect(String::new(), scope.top(), scope.clone(), 0)
    }

    fn collect(name: String, top: PathBuf, mut scope: FileScope, depth: usize) -> Self {
        let mut inner = Vec::new();
        for path in scope.inner_paths().filter(|_| depth < MAX_DEPTH) {
            let within = scope.inner(&path);
            if within.is_repository {
                let path_there = path_of(&path);
                let name = format!("{name}/{}", path_to_text(&path));
                inner.push((
                    path_there.clone(),
                    Self::collect(name, top.join(path_there), within, depth + 1),
                ));
            }
        }
        if !scope.is_repository {
            ignore_built(&mut scope.settings);
        }
        Self {
            name,
            scope,
            top,
            inner,
        }
    }

    /// Work tree as it is now; one whose repository is gone counts as empty.
    pub(crate) fn work_tree(&self, state_home: &Path) -> GitWorktree {
        let repository = GitWorktree::at(&self.top).filter(|_| self.scope.is_repository);
        repository.unwrap_or_else(|| {
            let nothing = state_home.join("omo").join("recorded").join("nothing");
            GitWorktree {
                top: self.top.clone(),
                git: nothing.clone(),
                common: nothing,
            }
        })
    }

    fn open<'a>(&self, run: RunFolder<'a>, look: Look) -> Option<ScratchTree<'a>> {
        let parts = store::folder_parts(run.id);
        let parts = parts.each_ref().map(String::as_str);
        ScratchTree::open(
            &self.work_tree(run.state_home),
            run.state_home,
            run.calls,
            &parts,
            look,
        )
    }

    fn record_index(&self, run: RunFolder) -> Option<String> {
        let scratch = self.open(run, Look::Fresh(Some(&self.scope)))?;
        scratch.record_index()?;
        scratch.git(&LIST, &[]).map(|listed| hex_digest(&listed))
    }

    /// Opens the record of this tree; `None` where it is gone or changed.
    fn open_recorded<'a>(&self, kept: &RecordedRun<'a>) -> Option<(ScratchTree<'a>, Vec<u8>)> {
        let mut scratch = self.open(kept.folder, Look::Recorded(&self.scope))?;
        scratch.add_object_folders(vec![scratch.linked_objects_folder()]);
        let listed = scratch.git(&LIST, &[])?;
        (kept.trees.get(&self.name)? == &hex_digest(&listed)).then_some((scratch, listed))
    }

    /// Links the repository's objects where the file system can: they survive cleaned up history.
    fn link_objects(&self, run: RunFolder, deadline: Instant) {
        let Some(scratch) = self.open(run, Look::Recorded(&self.scope)) else {
            return;
        };
        let from = self.work_tree(run.state_home).common.join("objects");
        let folders = fs::read_dir(&from).into_iter().flatten().flatten();
        let mut names: Vec<String> = folders
            .filter_map(|folder| folder.file_name().into_string().ok())
            .filter(|name| name == "pack" || name.len() == 2)
            .collect();
        // Packs first: most objects are there.
        names.sort_by(|one, other| other.cmp(one));
        let mut count = 0;
        for name in names {
            let to = scratch.linked_objects_folder().join(&name);
            if fs::create_dir_all(&to).is_err() {
                return;
            }
            for object in fs::read_dir(from.join(&name))
                .into_iter()
                .flatten()
                .flatten()
            {
                count += 1;
                let is_linked = fs::hard_link(object.path(), to.join(object.file_name())).is_ok();
                if !is_linked || count > MAX_LINKS || Instant::now() > deadline {
                    return;
                }
            }
        }
    }
}

#[derive(Clone, Copy)]
struct RunFolder<'a> {
    state_home: &'a Path,
    calls: &'a GitCalls,
    id: &'a SessionId,
}

/// Opened record of a run's starting files.
pub(crate) struct RecordedRun<'a> {
    folder: RunFolder<'a>,
    trees: RecordedTrees,
}

impl<'a> RecordedRun<'a> {
    /// Opens the record with the digest `kept`; `None` where it is gone.
    pub(crate) fn open(
        state_home: &'a Path,
        calls: &'a GitCalls,
        id: &'a SessionId,
        kept: &str,
    ) -> Option<Self> {
        Some(Self {
            folder: RunFolder {
                state_home,
                calls,
                id,
            },
            trees: store::read(state_home, id, kept)?,
        })
    }

    pub(crate) fn tree_of(&self, place: &RecordedWorktree) -> Option<(String, Vec<PathBuf>)> {
        let (scratch, _) = place.open_recorded(self)?;
        let name = String::from_utf8(scratch.git(&["write-tree", "--missing-ok"], &[])?)
            .ok()?
            .trim()
            .to_owned();
        Some((
            name,
            vec![scratch.objects_folder(), scratch.linked_objects_folder()],
        ))
    }
}

/// Writes recorded files into the empty folder `to`, without filters and inner repositories;
/// returns the project's folder in it.
pub fn write_recorded_files(
    root: &Path,
    state_home: &Path,
    id: &SessionId,
    (scope, kept): (&str, &str),
    to: &Path,
) -> Option<PathBuf> {
    let calls = GitCalls::default();
    let place = RecordedWorktree::outermost(&FileScope::load(state_home, scope)?);
    let kept = RecordedRun::open(state_home, &calls, id, kept)?;
    let (scratch, listed) = place.open_recorded(&kept)?;
    let mut top = FolderPath::open_to_write(to).ok()?;
    let files: Vec<(&str, &str, PathBuf)> = parts(&listed)
        .filter_map(|listed| parse_index_entry(&scratch, listed))
        .collect();
    for files in files.chunks(OBJECTS_AT_ONCE) {
        let contents = scratch.contents(files.iter().map(|(_, object, _)| *object))?;
        for ((mode, _, path), content) in files.iter().zip(contents) {
            top.write(path, mode, &content, None)
                .ok()
                .filter(|is_written| *is_written)?;
        }
    }
    Some(to.join(root.strip_prefix(&place.top).ok()?))
}

/// Mode, object and path of a file or link, from `mode object stage<tab>path`.
fn parse_index_entry<'a>(
    scratch: &ScratchTree,
    entry: &'a [u8],
) -> Option<(&'a str, &'a str, PathBuf)> {
    let (about, path) = split_entry(entry)?;
    let (mode, object) = std::str::from_utf8(about)
        .ok()?
        .strip_suffix(" 0")?
        .split_once(' ')?;
    let path = Some(path)
        .filter(|path| !scratch.is_absent(path))
        .map(path_of)?;
    let is_file = matches!(mode, "100644" | "100755" | "120000");
    is_file.then_some(())?;
    path.components()
        .all(|part| matches!(part, Component::Normal(_)))
        .then_some((mode, object, path))
}
