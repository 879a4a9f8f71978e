//! What happens to the files of a project while its checks run.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::content::{self, ContentDigest};
use super::{BUILD_FOLDERS, LONGEST_READ, WorkFiles, join_paths, parse_known};
use crate::platform::{FolderWatch, PathEvent, path_of};
use crate::work_files::cache::{CachedFiles, FilesCache};
use crate::work_files::file_stamps;

/// At most so many paths are told.
const MAX_TOLD: usize = 8;

/// The files that were there only for a while.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TransientFiles {
    /// From the top of the work tree.
    pub paths: Vec<String>,
    /// Not all of them could be seen.
    pub is_partial: bool,
}

type Contents = BTreeMap<Vec<u8>, Option<ContentDigest>>;

/// The files as they are before checks run, and a watch on their folders.
pub struct FilesBefore {
    contents: Contents,
    folders: Option<FolderWatch>,
}

impl FilesBefore {
    /// Takes note of what has happened: the system keeps only so much of it.
    pub fn look(&self) {
        self.folders.iter().for_each(FolderWatch::look);
    }

    /// The folder that was moved meanwhile; an empty path where that is not known.
    pub fn moved(&self) -> Option<PathBuf> {
        self.folders.as_ref().and_then(FolderWatch::moved)
    }
}

/// Files with other bytes than before the checks ran, by their path from the top of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WrittenFiles {
    /// Those that git does not track and that were not there.
    pub new: BTreeSet<Vec<u8>>,
    /// Those that git does not track and that were there.
    pub untracked: BTreeSet<Vec<u8>>,
    /// All others.
    pub tracked: BTreeSet<Vec<u8>>,
}

impl WorkFiles<'_> {
    /// The files as they were found last, with their folders watched from now on.
    pub fn watch(&self) -> Option<FilesBefore> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let remembered = memory.read()?;
        let top = remembered.top();
        let mut below = file_stamps::folders_of_files(remembered.file_paths());
        below.extend(remembered.folder_paths().filter(|folder| *folder != b"."));
        let below = below.into_iter().map(|folder| top.join(path_of(folder)));
        let above = top.ancestors().skip(1).map(Path::to_owned);
        let folders = FolderWatch::begin(above, std::iter::once(top.clone()).chain(below));
        Some(FilesBefore { contents: self.contents(&memory, &remembered)?, folders })
    }

    /// The files that have other bytes since then, as they were found last; the repositories within are left out.
    pub fn written_since(&self, before: &FilesBefore) -> Option<WrittenFiles> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let now = self.contents(&memory, &memory.read()?)?;
        let differs =
            |path: &&Vec<u8>| now.get(*path).copied().flatten() != before.contents.get(*path).copied().flatten();
        let paths: BTreeSet<Vec<u8>> = now.keys().chain(before.contents.keys()).filter(differs).cloned().collect();
        if paths.is_empty() {
            return Some(WrittenFiles::default());
        }
        let mut known = self.lister(&memory, 0)?.list()?.tracked;
        known.extend(self.scope()?.tracked());
        let (tracked, untracked): (BTreeSet<_>, BTreeSet<_>) = paths.into_iter().partition(|path| known.contains(path));
        let (untracked, new) = untracked.into_iter().partition(|path| before.contents.contains_key(path));
        Some(WrittenFiles { new, untracked, tracked })
    }

    fn contents(&self, memory: &FilesCache, found: &CachedFiles) -> Option<Contents> {
        let entries = memory.read_entries(found)?;
        let files: Vec<&[u8]> = found.file_paths().collect();
        let deadline = Instant::now() + LONGEST_READ;
        let read = content::read_files(&found.top(), &files, &parse_known(&entries), deadline, &self.unread)?;
        Some(read.into_iter().map(|entry| (entry.path, entry.digest)).collect())
    }

    /// The files that came since then and are gone, but for those that would not count and those that programs make
    /// and remove all the time.
    pub fn transient_files(&self, before: Option<&FilesBefore>) -> TransientFiles {
        let Some(watch) = before.and_then(|before| before.folders.as_ref()) else {
            return TransientFiles { is_partial: true, ..TransientFiles::default() };
        };
        let touched = watch.touched();
        let new = touched.iter().filter(|(_, touched)| touched.is_new).map(|(path, _)| path.as_path());
        let (made, gone): (Vec<&Path>, Vec<&Path>) = new.partition(|path| path.exists());
        let is_draft = |gone: &&Path| made.iter().any(|made| is_draft(gone, made));
        let drafts: Vec<&Path> = gone.into_iter().filter(is_draft).collect();
        let is_meant = |path: &Path, is_there: bool, touched: &PathEvent| {
            touched.is_new
                && !is_there
                && !path.iter().any(|part| is_left_behind(&part.to_string_lossy()))
                && !drafts.iter().any(|draft| draft.ends_with(path))
        };
        let paths = self.counted_paths(watch, is_meant);
        TransientFiles { is_partial: paths.is_none() || !watch.is_whole(), paths: paths.unwrap_or_default() }
    }

    /// One of the paths that changed since then.
    pub fn changing_file(&self, before: &FilesBefore) -> Option<String> {
        let watch = before.folders.as_ref()?;
        if let Some(moved) = watch.moved().filter(|moved| !moved.as_os_str().is_empty()) {
            return Some(moved.display().to_string());
        }
        let first = |is_wanted: bool| {
            let is_meant = |_: &Path, is_there: bool, touched: &PathEvent| !touched.is_folder && is_there == is_wanted;
            self.counted_paths(watch, is_meant)?.into_iter().next()
        };
        first(true).or_else(|| first(false))
    }

    /// Those of the paths that something happened at which git does not ignore, told by their path from the top and
    /// by whether they are there.
    fn counted_paths(
        &self,
        watch: &FolderWatch,
        is_meant: impl Fn(&Path, bool, &PathEvent) -> bool,
    ) -> Option<Vec<String>> {
        let memory = FilesCache::open(&self.root, self.state_home?)?;
        let asked = self.lister(&memory, 0)?;
        let mut paths = Vec::new();
        for (path, touched) in watch.touched() {
            let Ok(below) = path.strip_prefix(&asked.top) else { continue };
            let is_of_tools = below.iter().next().is_some_and(|first| first == ".git" || first == ".sisyphus");
            if !is_of_tools && is_meant(below, path.symlink_metadata().is_ok(), &touched) {
                let end: &[u8] = if touched.is_folder { b"/" } else { b"" };
                paths.push([below.as_os_str().as_encoded_bytes(), end].concat());
            }
        }
        let ignored = if paths.is_empty() { None } else { asked.ignored_folders(&join_paths(&paths)) };
        let ignored: HashSet<&[u8]> = ignored.iter().flat_map(|said| said.split(|byte| *byte == 0)).collect();
        let that_count = paths.iter().filter(|path| !ignored.contains(path.as_slice()));
        Some(that_count.take(MAX_TOLD).map(|path| String::from_utf8_lossy(path).into_owned()).collect())
    }
}

/// Whether a path is called as what became this file or folder under a temporary name: cargo's `targetAbC123`, or
/// `sedAbC123`.
fn is_draft(path: &Path, made: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let of = made.file_name().unwrap_or_default().to_string_lossy();
    let random = name.strip_prefix(of.as_ref()).or_else(|| name.strip_prefix("sed"));
    let is_random = |text: &str| text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    random.is_some_and(is_random) && path.parent() == made.parent()
}

/// Whether a part of a path is called as what programs make and remove all the time.
fn is_left_behind(name: &str) -> bool {
    let is_made = name == "__pycache__" || BUILD_FOLDERS.contains(&name);
    is_made || name.starts_with('.') || [".pyc", ".tmp", "~"].iter().any(|end| name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draft_has_a_name_made_by_chance_beside_what_it_became() {
        for (path, made, expected) in [
            ("/p/targetAbC123", "/p/target", true),
            ("/p/web/sedAbC123", "/p/web/app.py", true),
            ("/p/sedAbC123", "/p/web/app.py", false),
            ("/p/targets", "/p/target", false),
            ("/p/helper.py", "/p/help", false),
        ] {
            assert_eq!(is_draft(Path::new(path), Path::new(made)), expected, "{path}");
        }
    }
}
