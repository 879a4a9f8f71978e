//! A project as it is now beside what it was at a commit, and copies of both, for a caller that runs something in them.
//!
//! Nothing is written to the repository, its index or its work tree. A copy has the bytes of each file as they are; no
//! filter stands between. Files that git ignores are no part of either.

mod copying;
mod folder_path;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};
use std::time::SystemTime;

use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use thiserror::Error;

use self::copying::{copy, copy_files};
use self::folder_path::FolderPath;
use crate::git_command::{GitCalls, batch_entry};
use crate::platform::{FolderEntry, OpenFolder, path_of};
use crate::recorded::{RecordedRun, RecordedWorktree};
use crate::repository::{GitFailed, GitRepository, trimmed_line};
use crate::scope::FileScope;
use crate::tree::EMPTY_TREES;

/// How deep submodules within submodules are followed.
const MAX_DEPTH: usize = 8;
/// At most so many objects are asked for at once.
const OBJECTS_AT_ONCE: usize = 500;
/// What tells git where more objects lie.
const OBJECTS: &str = "GIT_ALTERNATE_OBJECT_DIRECTORIES";
/// git's mode of a submodule.
const SUBMODULE: &str = "160000";
const LINK: &str = "120000";
const EXECUTABLE: &str = "100755";
/// Branches that others are made from, the most certain one first.
const MAIN_BRANCHES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// Why a project cannot be compared with a commit.
#[derive(Debug, Error)]
pub enum BaseError {
    /// The project lies in no repository.
    #[error("{} lies in no work tree of git", .0.display())]
    NoRepository(PathBuf),
    /// There is no such commit.
    #[error("{} is no commit of this repository", sanitize(.0, 100))]
    NoCommit(String),
    /// The files that a run began with were not recorded, or are no longer there.
    #[error("the files that the run began with were not recorded")]
    NotRecorded,
    /// There is nothing before what is there.
    #[error("there is no commit before this one to compare with")]
    NoBase,
    /// A submodule was at a commit that is not there.
    #[error("the submodule {} was at {commit}, which is not there", path.display())]
    Submodule {
        /// Where it lies.
        path: PathBuf,
        /// The commit.
        commit: String,
    },
    /// Something that was there has its place taken.
    #[error("{} was there, and a test file of now has its place: both cannot be in one tree", path.display())]
    PlaceTaken {
        /// What was there.
        path: PathBuf,
    },
    /// Its caller has ended it.
    #[error("it was ended before all was copied")]
    Cancelled,
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// A file could not be copied.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// What a project is compared with.
#[derive(Clone, Copy, Debug)]
pub enum BaseChoice<'a> {
    /// The commit that the work on this branch began from.
    BranchStart,
    /// This commit.
    Revision(&'a str),
    /// The files that a run began with, uncommitted ones too.
    Recorded {
        /// The user's own state folder.
        state_home: &'a Path,
        /// The session of the run.
        session: &'a SessionId,
        /// What was settled of the files when it began.
        scope: &'a str,
        /// What stands for them in the session's entry.
        recorded: &'a str,
    },
}

/// A project beside what it was.
#[derive(Debug)]
pub struct BaseComparison {
    repository: GitRepository,
    /// git's name of the commit, or of the tree of what was recorded.
    pub base: String,
    /// Where objects of the base lie beside those of the repository.
    objects: Vec<PathBuf>,
    /// The project's folder, from the top of the work tree; empty for the top itself.
    pub project: PathBuf,
    /// The files that are there now, from the top.
    present: BTreeSet<PathBuf>,
    /// The files that are not as they were, from the top: which they were, where they were there.
    changed: BTreeMap<PathBuf, Option<BaseFile>>,
}

/// A file as it was.
#[derive(Clone, Debug)]
struct BaseFile {
    mode: String,
    object: String,
    /// Where the repository that has it lies, from the top.
    repository: PathBuf,
}

/// A file that differs, with both of its contents.
#[derive(Debug)]
pub struct ChangedFile {
    /// Its path from the top of the work tree.
    pub path: PathBuf,
    /// What was in it; `None` where it was not there.
    pub base: Option<Vec<u8>>,
    /// What is in it; `None` where it is not there any more.
    pub now: Option<Vec<u8>>,
}

/// What a file of the copy without the change is like.
#[derive(Debug)]
pub enum BaseContent {
    /// As it was.
    Base,
    /// As it is now.
    Now,
    /// Something made of both.
    Joined(Vec<u8>),
}

impl BaseComparison {
    /// Compares the project with what it was.
    ///
    /// # Errors
    ///
    /// There is no repository, nothing to compare with, or git fails.
    pub fn read(root: &Path, base: BaseChoice) -> Result<Self, BaseError> {
        let none = || BaseError::NoRepository(root.to_owned());
        let repository = GitRepository::find(root).ok_or_else(none)?;
        let real = root.canonicalize().map_err(|_| none())?;
        let project = real.strip_prefix(repository.top()).map_err(|_| none())?.to_owned();
        let (base, objects) = match base {
            BaseChoice::Revision(name) => {
                let missing = || BaseError::NoCommit(name.to_owned());
                (repository.commit_of(name)?.ok_or_else(missing)?, Vec::new())
            }
            BaseChoice::BranchStart => (default_base(&repository)?, Vec::new()),
            BaseChoice::Recorded { state_home, session, scope, recorded } => {
                recorded_tree(state_home, session, scope, recorded).ok_or(BaseError::NotRecorded)?
            }
        };
        let joined = std::env::join_paths(&objects).map_err(|_| BaseError::NotRecorded)?;
        let (mut present, mut changed) = (BTreeSet::new(), BTreeMap::new());
        let mut files = FileCollector { objects: &joined, present: &mut present, changed: &mut changed };
        files.collect(&repository, Some(&base), Path::new(""), 0)?;
        Ok(Self { repository, base, objects, project, present, changed })
    }

    /// How many files there are now.
    pub fn file_count(&self) -> usize {
        self.present.len()
    }

    /// The files that differ, by their path from the top of the work tree.
    pub fn changed_paths(&self) -> impl Iterator<Item = &Path> {
        self.changed.keys().map(PathBuf::as_path)
    }

    /// Whether a file is there now.
    pub fn is_present(&self, path: &Path) -> bool {
        self.present.contains(path) && self.top().join(path).symlink_metadata().is_ok()
    }

    /// Writes the files as they are now into an empty folder, all with one time.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or it was ended.
    pub fn write_now(
        &self,
        to: &Path,
        time: SystemTime,
        should_continue: impl FnMut() -> bool,
    ) -> Result<(), BaseError> {
        let paths: Vec<&Path> = self.present.iter().map(PathBuf::as_path).collect();
        copy_files(self.repository.top(), to, &paths, time, should_continue)
    }

    /// The files of the copy of now that differ from the base, with both contents, as far as `wants` asks for them.
    ///
    /// # Errors
    ///
    /// A file cannot be read.
    pub fn read_changed(
        &self,
        copy_of_now: &Path,
        wants: impl Fn(&Path) -> bool,
    ) -> Result<Vec<ChangedFile>, BaseError> {
        let wanted: Vec<(&PathBuf, &Option<BaseFile>)> = self.changed.iter().filter(|(path, _)| wants(path)).collect();
        let base = self.read_base(wanted.iter().filter_map(|(path, base)| Some((path.as_path(), base.as_ref()?))))?;
        let mut from = open(copy_of_now, false)?;
        let mut files = Vec::with_capacity(wanted.len());
        for (path, _) in wanted {
            let now = read(&mut from, path).map_err(|error| file_error(path, error))?;
            files.push(ChangedFile { path: path.clone(), base: base.get(path.as_path()).cloned(), now });
        }
        Ok(files)
    }

    /// Writes the files as they were at the base into an empty folder, all with one time. What did not change comes from
    /// the copy of now; `content` says what becomes of each file that did.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written.
    pub fn write_base(
        &self,
        copy_of_now: &Path,
        to: &Path,
        time: SystemTime,
        mut content: impl FnMut(&Path) -> BaseContent,
        should_continue: impl FnMut() -> bool,
    ) -> Result<(), BaseError> {
        let same = self.present.iter().filter(|path| !self.changed.contains_key(*path));
        let same: Vec<&Path> = same.map(PathBuf::as_path).collect();
        copy_files(copy_of_now, to, &same, time, should_continue)?;
        let (mut from, mut to) = (open(copy_of_now, false)?, open(to, true)?);
        let mut of_base = Vec::new();
        for (path, base) in &self.changed {
            match (content(path), base) {
                (BaseContent::Now, _) => copy(&mut from, &mut to, path, time)?,
                (BaseContent::Joined(bytes), base) => {
                    let mode = base.as_ref().map_or("100644", |base| base.mode.as_str());
                    write(&mut to, path, mode, &bytes, time).map_err(|error| base_file_error(path, error))?;
                }
                (BaseContent::Base, Some(base)) => of_base.push((path.as_path(), base)),
                (BaseContent::Base, None) => {}
            }
        }
        let contents = self.read_base(of_base.iter().copied())?;
        for (path, base) in of_base {
            let Some(bytes) = contents.get(path) else { continue };
            let is_written =
                write(&mut to, path, &base.mode, bytes, time).map_err(|error| base_file_error(path, error))?;
            if !is_written {
                return Err(BaseError::PlaceTaken { path: path.to_owned() });
            }
        }
        Ok(())
    }

    /// The folders that git ignores as such, from the top: where tools install and build.
    ///
    /// # Errors
    ///
    /// git fails.
    pub fn ignored_paths(&self) -> Result<Vec<PathBuf>, BaseError> {
        let list = ["ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"];
        let said = self.repository.git_with(&list, &[], &[])?;
        Ok(entries(&said)
            .map(|path| path_of(path.strip_suffix(b"/").unwrap_or(path)))
            .filter(|path| is_plain(path))
            .collect())
    }

    /// The files, from the top, that `.worktreeinclude` names and git ignores.
    ///
    /// # Errors
    ///
    /// git fails.
    pub fn included_paths(&self) -> Result<BTreeSet<PathBuf>, BaseError> {
        Ok(crate::worktree::included_paths(&self.repository)?.into_iter().filter(|path| is_plain(path)).collect())
    }

    /// The top of the work tree.
    pub fn top(&self) -> &Path {
        self.repository.top()
    }

    fn read_base<'a>(
        &self,
        files: impl Iterator<Item = (&'a Path, &'a BaseFile)>,
    ) -> Result<BTreeMap<&'a Path, Vec<u8>>, BaseError> {
        let mut by_repository: BTreeMap<&Path, Vec<(&Path, &BaseFile)>> = BTreeMap::new();
        for (path, file) in files {
            by_repository.entry(&file.repository).or_default().push((path, file));
        }
        let mut contents = BTreeMap::new();
        let objects = std::env::join_paths(&self.objects).map_err(|_| BaseError::NotRecorded)?;
        for (at, files) in by_repository {
            let inner = if at.as_os_str().is_empty() { None } else { GitRepository::find(&self.top().join(at)) };
            let repository = inner.as_ref().unwrap_or(&self.repository);
            for files in files.chunks(OBJECTS_AT_ONCE) {
                let asked: String = files.iter().flat_map(|(_, file)| [file.object.as_str(), "\n"]).collect();
                let command = ["cat-file", "--batch"];
                let said = repository.git_with(&command, &[(OBJECTS, &objects)], asked.as_bytes())?;
                let mut said = said.as_slice();
                for (path, _) in files {
                    let (content, rest) = batch_entry(said).ok_or_else(|| repository.failure_of(&command))?;
                    said = rest;
                    contents.insert(*path, content.to_vec());
                }
            }
        }
        Ok(contents)
    }
}

/// The commit that the work on this branch began from: where it left the branch that others are made from; on that branch
/// itself the last commit, or the one before where nothing is uncommitted.
fn default_base(repository: &GitRepository) -> Result<String, BaseError> {
    let head = repository.commit_of("HEAD")?.ok_or(BaseError::NoBase)?;
    for main in MAIN_BRANCHES {
        let Some(tip) = repository.commit_of(main)? else { continue };
        let (status, said) = repository.answer(&["merge-base", &tip, &head], &[], &[])?;
        let base = trimmed_line(&said);
        if status == 0 && base != head {
            return Ok(base);
        }
        break;
    }
    let is_dirty =
        !repository.git_with(&["status", "--porcelain", "-z", "--untracked-files=normal"], &[], &[])?.is_empty();
    if is_dirty {
        return Ok(head);
    }
    repository.commit_of("HEAD~1")?.ok_or(BaseError::NoBase)
}

/// The tree of the files that a run began with, and where its objects lie.
fn recorded_tree(
    state_home: &Path,
    session: &SessionId,
    scope: &str,
    recorded: &str,
) -> Option<(String, Vec<PathBuf>)> {
    let calls = GitCalls::default();
    let place = RecordedWorktree::outermost(&FileScope::load(state_home, scope)?);
    RecordedRun::open(state_home, &calls, session, recorded)?.tree_of(&place)
}

/// Gathers the files of a repository, and of those that lie in it.
struct FileCollector<'a> {
    /// Where objects of the base lie beside those of the repository, as git reads it.
    objects: &'a OsStr,
    present: &'a mut BTreeSet<PathBuf>,
    changed: &'a mut BTreeMap<PathBuf, Option<BaseFile>>,
}

impl FileCollector<'_> {
    /// The files of one repository; without a base every file is new.
    fn collect(
        &mut self,
        repository: &GitRepository,
        base: Option<&str>,
        at: &Path,
        depth: usize,
    ) -> Result<(), BaseError> {
        let objects = [(OBJECTS, self.objects)];
        let mut submodules: BTreeMap<PathBuf, Option<String>> = BTreeMap::new();
        let said = repository.git_with(&["ls-files", "-z", "--stage"], &[], &[])?;
        for entry in entries(&said) {
            let Some((about, path)) = split_at_byte(entry, b'\t') else { continue };
            let path = path_of(path);
            match about.starts_with(SUBMODULE.as_bytes()) {
                _ if !is_plain(&path) => {}
                true => _ = submodules.insert(path, None),
                false => _ = self.present.insert(at.join(path)),
            }
        }
        let said = repository.git_with(&["ls-files", "-z", "--others", "--exclude-standard"], &[], &[])?;
        for path in entries(&said).map(path_of).filter(|path| is_plain(path)) {
            // A repository in it that is no submodule is listed as a folder.
            let is_repository = repository.top().join(&path).is_dir();
            if is_repository {
                submodules.insert(path, None);
                continue;
            }
            if base.is_none() {
                self.changed.insert(at.join(&path), None);
            }
            self.changed.entry(at.join(&path)).or_insert(None);
            self.present.insert(at.join(path));
        }
        // git knows a tree without files, whether or not one was ever written.
        let is_sha256 = base.is_none() && repository.git_line(&["rev-parse", "--show-object-format"])? == "sha256";
        let [sha1, sha256] = EMPTY_TREES;
        let compared = base.unwrap_or(if is_sha256 { sha256 } else { sha1 });
        let said = repository.git_with(
            &["diff-index", "--raw", "-z", "--no-renames", "--no-abbrev", compared],
            &objects,
            &[],
        )?;
        let mut parts = said.split(|byte| *byte == 0);
        while let (Some(about), Some(path)) = (parts.next().filter(|about| !about.is_empty()), parts.next()) {
            let (about, path) = (String::from_utf8_lossy(about).into_owned(), path_of(path));
            let words: Vec<&str> = about.trim_start_matches(':').split(' ').collect();
            let (Some(mode), Some(object), true) = (words.first(), words.get(2), is_plain(&path)) else { continue };
            let was = mode.chars().any(|digit| digit != '0');
            if *mode == SUBMODULE {
                submodules.insert(path, Some((*object).to_owned()));
            } else if !submodules.contains_key(&path) {
                let (mode, object) = ((*mode).to_owned(), (*object).to_owned());
                let base = was.then(|| BaseFile { mode, object, repository: at.to_owned() });
                self.changed.insert(at.join(path), base);
            }
        }
        if depth == MAX_DEPTH {
            return Ok(());
        }
        for (path, was) in submodules {
            // One that is not checked out has no files on either side.
            let Some(inner) = GitRepository::find(&repository.top().join(&path)) else { continue };
            if inner.top() == repository.top() {
                continue;
            }
            let was = match (was, base) {
                (Some(was), _) => Some(was),
                // It is as it was.
                (None, Some(base)) => repository.commit_in_tree(base, &path)?,
                (None, None) => None,
            };
            if let Some(commit) = &was
                && inner.commit_of(commit)?.is_none()
            {
                return Err(BaseError::Submodule { path: at.join(path), commit: commit.clone() });
            }
            self.collect(&inner, was.as_deref(), &at.join(path), depth + 1)?;
        }
        Ok(())
    }
}

impl GitRepository {
    /// The commit of a submodule in a commit's tree; `None` where there is none.
    fn commit_in_tree(&self, commit: &str, path: &Path) -> Result<Option<String>, GitFailed> {
        let Some(path) = path.to_str() else { return Ok(None) };
        let said = self.git_with(&["ls-tree", "-z", commit, "--", path], &[], &[])?;
        let said = String::from_utf8_lossy(&said);
        let found = said.split('\t').next().and_then(|about| about.strip_prefix("160000 commit "));
        Ok(found.map(str::to_owned))
    }
}

fn entries(said: &[u8]) -> impl Iterator<Item = &[u8]> {
    said.split(|byte| *byte == 0).filter(|entry| !entry.is_empty())
}

fn split_at_byte(text: &[u8], byte: u8) -> Option<(&[u8], &[u8])> {
    let at = text.iter().position(|it| *it == byte)?;
    Some((text.get(..at)?, text.get(at + 1..)?))
}

fn is_plain(path: &Path) -> bool {
    path.components().all(|part| matches!(part, Component::Normal(name) if name != OsStr::new(".git")))
}

fn open(top: &Path, makes: bool) -> Result<FolderPath, BaseError> {
    OpenFolder::top(top).map(|folder| FolderPath::new(folder, makes)).map_err(|error| file_error(top, error))
}

fn file_error(path: &Path, error: io::Error) -> BaseError {
    BaseError::File { path: path.to_owned(), error }
}

fn base_file_error(path: &Path, error: io::Error) -> BaseError {
    match error.kind() {
        io::ErrorKind::AlreadyExists | io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => {
            BaseError::PlaceTaken { path: path.to_owned() }
        }
        _ => file_error(path, error),
    }
}

/// Writes a file; says whether its folder could be one.
fn write(to: &mut FolderPath, path: &Path, mode: &str, bytes: &[u8], time: SystemTime) -> io::Result<bool> {
    let (Some(name), Some(folder)) = (path.file_name(), to.parent_of(path)?) else { return Ok(false) };
    if mode == LINK {
        return folder.link(name, path_of(bytes).as_os_str()).map(|()| true);
    }
    let mut file = folder.create(name)?;
    file.write_all(bytes)?;
    finish(&file, if mode == EXECUTABLE { 0o755 } else { 0o644 }, time)?;
    Ok(true)
}

fn finish(file: &std::fs::File, mode: u32, time: SystemTime) -> io::Result<()> {
    OpenFolder::set_mode(file, mode)?;
    file.set_modified(time)
}

/// What is in a file; a link's is where it leads.
fn read(from: &mut FolderPath, path: &Path) -> io::Result<Option<Vec<u8>>> {
    let (Some(name), Some(folder)) = (path.file_name(), from.parent_of(path)?) else { return Ok(None) };
    Ok(match folder.look(name)? {
        FolderEntry::Link(target) => Some(target.as_encoded_bytes().to_vec()),
        FolderEntry::File { .. } => {
            let mut bytes = Vec::new();
            folder.read(name)?.read_to_end(&mut bytes)?;
            Some(bytes)
        }
        FolderEntry::Nothing | FolderEntry::Folder | FolderEntry::Other => None,
    })
}
