//! Restore of kept work into a work tree: only over files that are as before that work, so nothing newer is lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom};

use super::RestoreError;
use super::keep::{KEPT_SUBJECT, MODES};
use super::snapshotter::Snapshotter;
use super::store::copy;
use crate::changes::PathChange;
use crate::folder_path::{EXECUTABLE, LINK, REGULAR};
use crate::git_output::{ChangedEntry, GitEntry, SUBMODULE, lossy_text};
use crate::kept_work::{KeptWork, STAGED_SUBJECT, changed_entries};
use crate::platform::{FolderEntry, path_of};
use crate::repository::{GitFailed, GitRepository, trimmed_line};
use crate::snapshots::Snapshots;
use crate::tree_path::TreePath;
use crate::worktree::WorkerName;

/// Outcome of a restore or of its dry run; paths are from the project's top.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BroughtBack {
    /// Written or removed.
    pub restored: Vec<String>,
    pub unchanged: Vec<String>,
    /// Neither as before the kept work nor as in it: left alone.
    pub differing: Vec<String>,
    /// Reasons by path.
    pub failed: BTreeMap<String, String>,
    /// Commit that keeps the overwritten files.
    pub overwritten: Option<KeptWork>,
}

/// `None` for a deleted path.
type KeptEntries = BTreeMap<TreePath, Option<GitEntry>>;

const UNKEEPABLE: &str = "what is there can be in no commit; move it away";
const MAX_LINK_BYTES: u64 = 64 * 1024;

impl Snapshots<'_> {
    /// Dry run of [`Self::bring_back`] that overwrites nothing: `restored` are the paths that it would write.
    pub fn compare_kept(&self, kept: &KeptWork) -> Result<BroughtBack, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let repository = snapshotter.repository()?;
        let message = message_of(&repository, &kept.commit)?;
        let mut end = BroughtBack::default();
        for (
            ChangedEntry {
                path,
                before,
                after,
            },
            now,
        ) in snapshotter.kept_and_now(&repository, kept, &message)?
        {
            let list = match now {
                EntryNow::Entry(now) if now == after => &mut end.unchanged,
                EntryNow::Entry(now) if now == before => &mut end.restored,
                EntryNow::Entry(_) | EntryNow::Other => &mut end.differing,
            };
            list.push(snapshotter.project_path(&path));
        }
        Ok(end)
    }

    /// Writes kept work over paths that are as before it. Other paths are left alone or, with a name in `overwritten`,
    /// kept under that name and then replaced; where keeping fails, nothing is written. The index stays as it is.
    pub fn bring_back(
        &self,
        kept: &KeptWork,
        overwritten: Option<&WorkerName>,
    ) -> Result<BroughtBack, RestoreError> {
        let snapshotter = Snapshotter::open(self)?;
        let repository = snapshotter.repository()?;
        let message = message_of(&repository, &kept.commit)?;
        let mut end = BroughtBack::default();
        let (mut to_write, mut to_keep) = (KeptEntries::new(), BTreeSet::new());
        for (
            ChangedEntry {
                path: name,
                before,
                after,
            },
            now,
        ) in snapshotter.kept_and_now(&repository, kept, &message)?
        {
            match now {
                EntryNow::Entry(now) if now == after => {
                    end.unchanged.push(snapshotter.project_path(&name));
                }
                EntryNow::Entry(now) if now == before => drop(to_write.insert(name, after)),
                EntryNow::Other if overwritten.is_some() => {
                    end.failed
                        .insert(snapshotter.project_path(&name), UNKEEPABLE.to_owned());
                }
                EntryNow::Entry(_) if overwritten.is_some() => {
                    to_keep.insert(name.clone());
                    to_write.insert(name, after);
                }
                EntryNow::Entry(_) | EntryNow::Other => {
                    end.differing.push(snapshotter.project_path(&name));
                }
            }
        }
        let obstructed = snapshotter.find_obstacles(&to_write)?;
        let mut keepable = BTreeSet::new();
        if overwritten.is_some() && !obstructed.is_empty() {
            keepable.extend(
                snapshotter
                    .list(&["--cached", "--others"])?
                    .into_iter()
                    .filter(|name| snapshotter.is_covered(name)),
            );
        }
        let mut removed_first = BTreeSet::new();
        for (name, obstacles) in obstructed {
            if obstacles.is_subset(&keepable) {
                removed_first.extend(obstacles);
                continue;
            }
            // Removals below this path, which would have made room for it, are left out as well.
            to_write.retain(|path, after| {
                let stays = *path == name || after.is_none() && path.is_at_or_below(&name.0);
                if stays {
                    to_keep.remove(path);
                    match overwritten {
                        Some(_) => drop(
                            end.failed
                                .insert(snapshotter.project_path(path), UNKEEPABLE.to_owned()),
                        ),
                        None => end.differing.push(snapshotter.project_path(path)),
                    }
                }
                !stays
            });
        }
        to_keep.extend(removed_first.iter().cloned());
        if let Some(name) = overwritten.filter(|_| !to_keep.is_empty()) {
            end.overwritten = Some(snapshotter.keep_files(name, &to_keep)?);
        }
        let mut kept_files =
            KeptFiles::read(&repository, snapshotter.store.nameless_file()?, &to_write)?;
        for name in &removed_first {
            // An obstacle that stays makes `write_kept` fail, whose error has the path to be written.
            let _ = snapshotter.ground.remove(name);
        }
        let modes = kept_modes(&message);
        // Removals first, to make room: a folder may stand where a file was.
        let (to_remove, to_write): (Vec<_>, Vec<_>) =
            to_write.iter().partition(|(_, kept)| kept.is_none());
        for (name, kept) in to_remove.into_iter().chain(to_write) {
            let shown = snapshotter.project_path(name);
            let mode = modes.get(name).copied();
            match snapshotter.write_kept(&mut kept_files, name, kept.as_ref(), mode) {
                Ok(()) => end.restored.push(shown),
                Err(error) => _ = end.failed.insert(shown, error.to_string()),
            }
        }
        end.restored.sort();
        end.differing.sort();
        Ok(end)
    }
}

/// Changed paths of kept work, from the top of the work tree.
pub fn kept_changes(
    repository: &GitRepository,
    kept: &KeptWork,
) -> Result<Vec<PathChange>, GitFailed> {
    let message = message_of(repository, &kept.commit)?;
    Ok(kept_entries(repository, kept, &message)?
        .into_iter()
        .map(PathChange::from)
        .collect())
}

fn message_of(repository: &GitRepository, commit: &str) -> Result<String, GitFailed> {
    let output = lossy_text(&repository.git(&["cat-file", "commit", commit])?);
    Ok(output
        .split_once("\n\n")
        .map(|(_, message)| message.to_owned())
        .unwrap_or_default())
}

fn kept_modes(message: &str) -> BTreeMap<TreePath, u32> {
    let modes = message
        .lines()
        .filter(|_| message.starts_with(KEPT_SUBJECT))
        .find_map(|line| line.strip_prefix(MODES));
    modes
        .and_then(|modes| serde_json::from_str(modes).ok())
        .unwrap_or_default()
}

/// Changed paths of kept work; of a worker's commit, all changes since it left the checked-out branch.
fn kept_entries(
    repository: &GitRepository,
    kept: &KeptWork,
    message: &str,
) -> Result<Vec<ChangedEntry>, GitFailed> {
    let commit = kept.commit.as_str();
    let parent = format!("{commit}^1");
    let base = if message.starts_with(KEPT_SUBJECT) {
        parent
    } else {
        match repository.status_and_output(&["merge-base", "HEAD", commit])? {
            (0, base) => trimmed_line(&base),
            _ => parent,
        }
    };
    let changed = changed_entries(repository, &base, commit)?;
    if !changed.is_empty() {
        return Ok(changed);
    }
    let parents = repository.git_line(&["rev-list", "--parents", "--max-count=1", commit])?;
    match parents.rsplit(' ').next() {
        Some(last) if message_of(repository, last)?.trim_end() == STAGED_SUBJECT => {
            changed_entries(repository, &base, last)
        }
        _ => Ok(changed),
    }
}

enum EntryNow {
    /// A file or a link; `None` for a missing path, and for a folder, whose files have paths of their own.
    Entry(Option<GitEntry>),
    /// A submodule, or something that no commit holds, such as a FIFO.
    Other,
}

impl Snapshotter<'_> {
    fn kept_and_now(
        &self,
        repository: &GitRepository,
        kept: &KeptWork,
        message: &str,
    ) -> Result<Vec<(ChangedEntry, EntryNow)>, RestoreError> {
        let mut changed = kept_entries(repository, kept, message)?;
        changed.retain(|changed| self.is_covered(&changed.path));
        let sizes = object_sizes(repository, &changed)?;
        let (mut found, mut same_size, mut same_size_paths) = (Vec::new(), Vec::new(), Vec::new());
        for changed in changed {
            let ChangedEntry {
                path: name,
                before,
                after,
            } = &changed;
            let failed = self.read_error(name);
            let now = match self.ground.look(name).map_err(&failed)? {
                FolderEntry::Folder if self.ground.is_repository(name).map_err(&failed)? => {
                    EntryNow::Other
                }
                FolderEntry::Nothing | FolderEntry::Folder => EntryNow::Entry(None),
                FolderEntry::Other => EntryNow::Other,
                FolderEntry::Link(target) => {
                    let target = target.as_encoded_bytes();
                    let target = repository.git_with(&["hash-object", "--stdin"], &[], target)?;
                    entry_now(LINK, trimmed_line(&target))
                }
                FolderEntry::File { mode } => {
                    let size = self
                        .ground
                        .read(name)
                        .and_then(|file| Ok(file.metadata()?.len()))
                        .map_err(&failed)?;
                    // Only a file of the same size as one of the two versions is read, to be hashed.
                    if before
                        .iter()
                        .chain(after)
                        .any(|entry| sizes.get(&entry.object) == Some(&size))
                    {
                        same_size.push(found.len());
                        same_size_paths.push(self.tree.top.join(path_of(&name.0)));
                    }
                    let mode = if mode & 0o111 == 0 {
                        REGULAR
                    } else {
                        EXECUTABLE
                    };
                    entry_now(mode, String::new())
                }
            };
            found.push((changed, now));
        }
        for (place, hashed) in same_size
            .into_iter()
            .zip(repository.hash_files(&[], &same_size_paths)?)
        {
            if let Some((_, EntryNow::Entry(Some(now)))) = found.get_mut(place) {
                now.object = hashed;
            }
        }
        Ok(found)
    }

    /// Paths to be written, with their obstacles: a file or link in place of a parent folder, or the files in a folder
    /// in place of the file.
    fn find_obstacles(
        &self,
        to_write: &KeptEntries,
    ) -> Result<Vec<(TreePath, BTreeSet<TreePath>)>, RestoreError> {
        let mut obstructed = Vec::new();
        for name in to_write
            .iter()
            .filter(|(_, after)| after.is_some())
            .map(|(name, _)| name)
        {
            let obstacles = self.ground.obstacles(name).map_err(self.read_error(name))?;
            let obstacles: BTreeSet<TreePath> = obstacles
                .into_iter()
                .filter(|path| !matches!(to_write.get(path), Some(None)))
                .collect();
            obstructed.extend((!obstacles.is_empty()).then(|| (name.clone(), obstacles)));
        }
        Ok(obstructed)
    }

    fn write_kept(
        &self,
        files: &mut KeptFiles,
        name: &TreePath,
        kept: Option<&GitEntry>,
        private_mode: Option<u32>,
    ) -> io::Result<()> {
        let Some(GitEntry { mode, object }) = kept else {
            return self.ground.remove(name);
        };
        if mode == SUBMODULE {
            return Err(io::Error::other("it is a submodule"));
        }
        let mut content = files.content(object)?;
        if mode == LINK {
            let mut target = Vec::new();
            content.take(MAX_LINK_BYTES).read_to_end(&mut target)?;
            return self.ground.write_link(name, path_of(&target).as_os_str());
        }
        // The rights of an existing file stay, except for execution.
        let rights = match self.ground.look(name)? {
            FolderEntry::File { mode } => mode,
            _ => private_mode.map_or(0o644, |mode| mode & 0o777),
        };
        let readers = rights & 0o444;
        let rights = if mode == EXECUTABLE {
            rights | readers >> 2
        } else {
            rights & !0o111
        };
        self.ground.write_file(name, rights, |file| {
            copy(&mut content, Some(file)).map(drop)
        })
    }
}

/// Output of `git cat-file --batch`, with the start and size in bytes of each object by its id.
struct KeptFiles {
    printed: BufReader<File>,
    places: BTreeMap<String, (u64, u64)>,
}

impl KeptFiles {
    fn read(
        repository: &GitRepository,
        [written, printed]: [File; 2],
        entries: &KeptEntries,
    ) -> Result<Self, RestoreError> {
        let list = object_list(entries.values().flatten());
        repository.git_into(written, &["cat-file", "--batch", "--buffer"], &list)?;
        let mut files = Self {
            printed: BufReader::new(printed),
            places: BTreeMap::new(),
        };
        files
            .find_places()
            .map_err(RestoreError::io("read", repository.top()))?;
        Ok(files)
    }

    fn find_places(&mut self) -> io::Result<()> {
        let mut start = self.printed.seek(SeekFrom::Start(0))?;
        let mut head = String::new();
        while self.printed.read_line(&mut head)? > 0 {
            start += head.len() as u64;
            let place = head
                .trim_end()
                .split_once(" blob ")
                .and_then(|(object, size)| Some((object, size.parse().ok()?)));
            if let Some((object, size)) = place {
                self.places.insert(object.to_owned(), (start, size));
                start = self.printed.seek(SeekFrom::Start(start + size + 1))?;
            }
            head.clear();
        }
        Ok(())
    }

    fn content(&mut self, object: &str) -> io::Result<impl Read> {
        let (start, size) = self.places.get(object).ok_or(io::ErrorKind::NotFound)?;
        self.printed.seek(SeekFrom::Start(*start))?;
        Ok(self.printed.by_ref().take(*size))
    }
}

fn entry_now(mode: &str, object: String) -> EntryNow {
    EntryNow::Entry(Some(GitEntry {
        mode: mode.to_owned(),
        object,
    }))
}

fn object_sizes(
    repository: &GitRepository,
    changed: &[ChangedEntry],
) -> Result<BTreeMap<String, u64>, RestoreError> {
    let entries = changed
        .iter()
        .flat_map(|changed| changed.before.iter().chain(&changed.after));
    let check = ["cat-file", "--batch-check=%(objectname) %(objectsize)"];
    let output = lossy_text(&repository.git_with(&check, &[], &object_list(entries))?);
    let sizes = output.lines().filter_map(|line| line.split_once(' '));
    Ok(sizes
        .filter_map(|(object, size)| Some((object.to_owned(), size.parse().ok()?)))
        .collect())
}

/// Input of `git cat-file`, without submodules, whose objects are elsewhere.
fn object_list<'e>(entries: impl Iterator<Item = &'e GitEntry>) -> Vec<u8> {
    entries
        .filter(|entry| entry.mode != SUBMODULE)
        .flat_map(|entry| [entry.object.as_bytes(), b"\n"].concat())
        .collect()
}
