//! A project as it is now beside what it was at a commit, and copies of both, for a caller that runs something in them.
//!
//! Nothing is written to the repository, its index or its work tree. A copy has the bytes of each file as they are; no
//! filter stands between. Files that git ignores are no part of either.

mod project_files;

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::{self, Read};
use std::path::{Component, Path, PathBuf};
use std::time::{Instant, SystemTime};

use omo_core::session::id::SessionId;
use omo_core::text::sanitize;
use omo_state::git_worktree::GitWorktree;
use thiserror::Error;

use self::project_files::{BaseFile, ProjectFiles};
use crate::changes::{self, TreeSnapshot};
use crate::file_copier::{ASK_EVERY, CopyError, CopyKind, CopyOptions, FileCopier, copy_files};
use crate::folder_path::{EXECUTABLE, FolderPath, LINK, REGULAR};
use crate::git_command::GitCalls;
use crate::git_output::parts;
use crate::platform::{OpenedEntry, path_of};
use crate::proved_worktree::ProvedWorktree;
use crate::recorded::{RecordedRun, RecordedWorktree};
use crate::repository::{GitFailed, GitRepository, trimmed_line};
use crate::repository_base::RepositoryBase;
use crate::scope::FileScope;
use crate::worktree::included_paths;

const OBJECTS_AT_ONCE: usize = 500;
const MAIN_BRANCHES: [&str; 5] = [
    "refs/remotes/origin/HEAD",
    "refs/remotes/origin/main",
    "refs/remotes/origin/master",
    "refs/heads/main",
    "refs/heads/master",
];

/// Failure of a `BaseComparison`.
#[derive(Debug, Error)]
pub enum BaseError {
    /// The project lies in no repository.
    #[error("{} lies in no work tree of git", .0.display())]
    NoRepository(PathBuf),
    /// There is no such commit.
    #[error("`{}` is no commit of this repository", sanitize(.0, 100))]
    NoCommit(String),
    /// The files that a run or an attempt began with were not recorded, or are no longer there.
    #[error("the files that the work began with were not recorded")]
    NotRecorded,
    /// There is nothing before what is there.
    #[error("there is no commit before this one to compare with")]
    NoBase,
    /// A submodule was at a commit that is not there.
    #[error("the submodule {} was at {commit}, which is not there", path.display())]
    Submodule {
        /// Path of the submodule.
        path: PathBuf,
        /// The commit.
        commit: String,
    },
    /// Another file in the place of one that was there.
    #[error("{} was there, and a test file of now has its place: both cannot be in one tree", path.display())]
    PlaceTaken {
        /// Path from the top.
        path: PathBuf,
    },
    /// A step of git failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
    /// A file could not be copied, or its caller has ended it.
    #[error(transparent)]
    Copy(#[from] CopyError),
}

/// Base of a comparison.
#[derive(Clone, Copy, Debug)]
pub enum BaseChoice<'a> {
    /// The commit that the work on this branch began from.
    BranchStart,
    /// This commit, by any name that git knows.
    Revision(&'a str),
    /// The files that a run began with, uncommitted ones too.
    Recorded {
        /// The session of the run.
        session: &'a SessionId,
        /// `FileScope` at the start of the run.
        scope: &'a str,
        /// Digest of the record, from the session's entry.
        recorded: &'a str,
    },
    /// The files that an attempt at a task of a plan began with, uncommitted ones too.
    Attempt {
        /// The work tree of the task.
        worktree: &'a ProvedWorktree,
        /// The run of the plan.
        run_id: &'a str,
        /// Snapshot of the work tree before the attempt.
        snapshot: &'a TreeSnapshot,
    },
}

/// Working folder of git, below `state_home`.
#[derive(Clone, Copy, Debug)]
pub struct ScratchFolder<'a> {
    /// The user's own state folder.
    pub state_home: &'a Path,
    /// The names that lead from there.
    pub parts: &'a [&'a str],
}

/// A project beside a `BaseChoice`.
pub struct BaseComparison<'a> {
    top: PathBuf,
    /// git's name of the commit, or of the tree of what was recorded.
    pub base: String,
    /// The project's folder, from the top of the work tree; empty for the top itself.
    pub project: PathBuf,
    files: ProjectFiles<'a>,
}

/// A path that differs, with a `FileVersion` on each side.
#[derive(Debug)]
pub struct ChangedFile {
    /// Path from the top of the work tree.
    pub path: PathBuf,
    /// `None` where it was not there.
    pub base: Option<FileVersion>,
    /// `None` where it is not there any more.
    pub now: Option<FileVersion>,
}

/// A file or link on one side.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Mode, such as `100644`.
    mode: String,
    /// The content.
    pub bytes: Vec<u8>,
}

impl ChangedFile {
    /// Content at the base; `None` for a new file.
    pub fn base_bytes(&self) -> Option<&[u8]> {
        self.base.as_ref().map(|version| version.bytes.as_slice())
    }

    /// Content now; `None` for a removed file.
    pub fn now_bytes(&self) -> Option<&[u8]> {
        self.now.as_ref().map(|version| version.bytes.as_slice())
    }
}

/// Gives files of a copy one of their versions, with this time, by which a build sees that they changed. A file that has
/// none is removed.
///
/// # Errors
///
/// A file cannot be written.
pub fn write_versions(
    copy: &Path,
    files: &[ChangedFile],
    time: SystemTime,
    version: impl Fn(&ChangedFile) -> Option<&FileVersion>,
) -> Result<(), BaseError> {
    let mut tree = FolderPath::open_to_write(copy).map_err(|error| CopyError::new(copy, error))?;
    // Files within a folder go before a link that takes its place.
    for file in files.iter().rev() {
        remove_file(&mut tree, &file.path).map_err(|error| CopyError::new(&file.path, error))?;
    }
    let mut tree = FolderPath::open_to_write(copy).map_err(|error| CopyError::new(copy, error))?;
    for file in files {
        if let Some(FileVersion { mode, bytes }) = version(file) {
            let written = tree.write(&file.path, mode, bytes, Some(time));
            written.map_err(|error| CopyError::new(&file.path, error))?;
        }
    }
    Ok(())
}

fn remove_file(tree: &mut FolderPath, path: &Path) -> io::Result<()> {
    let (Some(name), Some(folder)) = (path.file_name(), tree.parent_of(path)?) else {
        return Ok(());
    };
    match folder.remove(name) {
        Err(error)
            if !matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::IsADirectory
            ) =>
        {
            Err(error)
        }
        _ => Ok(()),
    }
}

/// Content of a `ChangedFile` in the copy without the change.
#[derive(Debug)]
pub enum BaseContent {
    /// As it was.
    Base,
    /// As it is now.
    Now,
    /// Something made of both.
    Joined(Vec<u8>),
}

impl<'a> BaseComparison<'a> {
    /// Compares the project at `root` with `base`.
    ///
    /// # Errors
    ///
    /// There is no repository, nothing to compare with, or git fails.
    pub fn read(
        root: &Path,
        base: BaseChoice,
        scratch: ScratchFolder,
        calls: &'a GitCalls,
    ) -> Result<Self, BaseError> {
        let none = || BaseError::NoRepository(root.to_owned());
        let root = root.canonicalize().map_err(|_| none())?;
        let find = || GitRepository::find(&root).ok_or_else(none);
        let read = |tree: &GitWorktree, base: &RepositoryBase| {
            let files = ProjectFiles::read(tree, base, scratch, calls)?;
            Ok::<_, BaseError>((tree.clone(), base.name().to_owned(), files))
        };
        let (tree, base, files) = match base {
            BaseChoice::Recorded {
                session,
                scope,
                recorded,
            } => {
                let scope =
                    FileScope::load(scratch.state_home, scope).ok_or(BaseError::NotRecorded)?;
                let run = RecordedRun::open(scratch.state_home, calls, session, recorded);
                let run = run.ok_or(BaseError::NotRecorded)?;
                let place = RecordedWorktree::outermost(&scope);
                let base = RepositoryBase::recorded(&run, &place).ok_or(BaseError::NotRecorded)?;
                read(&place.work_tree(scratch.state_home), &base)?
            }
            BaseChoice::Revision(name) => {
                let repository = find()?;
                // git fails at some names of commits that are not there, such as `main@{99}`.
                let commit = repository.commit_of(name).ok().flatten();
                let commit = commit.ok_or_else(|| BaseError::NoCommit(name.to_owned()))?;
                read(repository.work_tree(), &RepositoryBase::Commit(&commit))?
            }
            BaseChoice::BranchStart => {
                let repository = find()?;
                let BranchBase { commit, is_on_main } = branch_base(&repository)?;
                let found = read(repository.work_tree(), &RepositoryBase::Commit(&commit))?;
                if found.2.changed.is_empty() && is_on_main {
                    // One look at a time has the folder.
                    drop(found);
                    let before = repository.commit_of("HEAD~1")?.ok_or(BaseError::NoBase)?;
                    read(repository.work_tree(), &RepositoryBase::Commit(&before))?
                } else {
                    found
                }
            }
            BaseChoice::Attempt {
                worktree,
                run_id,
                snapshot,
            } => {
                let tree = worktree.git().ok_or_else(none)?;
                let kept = changes::snapshot_objects(tree, scratch.state_home, run_id, snapshot);
                let (name, objects) = kept.ok_or(BaseError::NotRecorded)?;
                read(
                    tree,
                    &RepositoryBase::Kept {
                        tree: &name,
                        objects: &objects,
                    },
                )?
            }
        };
        let top = tree.top.canonicalize().map_err(|_| none())?;
        let project = root.strip_prefix(&top).map_err(|_| none())?.to_owned();
        Ok(Self {
            top,
            base,
            project,
            files,
        })
    }

    /// Number of files now.
    pub fn file_count(&self) -> usize {
        self.files.present.len()
    }

    /// The files that are there now, by their path from the top of the work tree.
    pub fn present_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.present.iter().map(PathBuf::as_path)
    }

    /// The files that differ, by their path from the top of the work tree.
    pub fn changed_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.changed.keys().map(PathBuf::as_path)
    }

    /// Presence of a changed file at the base.
    pub fn was_there(&self, path: &Path) -> bool {
        self.files.changed.get(path).is_some_and(Option::is_some)
    }

    /// A changed file that was a link at the base.
    pub fn was_link(&self, path: &Path) -> bool {
        self.files
            .changed
            .get(path)
            .is_some_and(|base| base.as_ref().is_some_and(|base| base.mode == LINK))
    }

    /// Path from the project's top with `/` between its names. What lies beside the project keeps its path from the top of
    /// the work tree.
    pub fn name_in_project(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.project).unwrap_or(path);
        below
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }

    /// Presence of a file now.
    pub fn is_present(&self, path: &Path) -> bool {
        self.files.present.contains(path) && self.top.join(path).symlink_metadata().is_ok()
    }

    /// Writes the files as they are now into an empty folder, and those that did not change into a second one as well,
    /// all with one time. Each is read once: where it is in both, it is the same.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or it was ended.
    pub fn write_now(
        &self,
        now: &Path,
        base: &Path,
        time: SystemTime,
        should_continue: impl FnMut() -> bool,
    ) -> Result<(), BaseError> {
        let paths = self.files.present.iter();
        let paths: Vec<(&Path, usize)> = paths
            .map(|path| {
                (
                    path.as_path(),
                    if self.files.changed.contains_key(path) {
                        1
                    } else {
                        2
                    },
                )
            })
            .collect();
        Ok(copy_files(
            (&self.top, &[now, base]),
            &paths,
            CopyOptions::all(CopyKind::Checkout(time)),
            should_continue,
        )?)
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
        let wanted: Vec<(&PathBuf, &Option<BaseFile>)> = self
            .files
            .changed
            .iter()
            .filter(|(path, _)| wants(path))
            .collect();
        let of_base = wanted
            .iter()
            .filter_map(|(path, base)| Some((path.as_path(), base.as_ref()?)));
        let base = self.read_base(of_base, &mut || Ok(()))?;
        let mut from =
            FolderPath::open(copy_of_now).map_err(|error| CopyError::new(copy_of_now, error))?;
        let mut files = Vec::with_capacity(wanted.len());
        for (path, base_file) in wanted {
            let now = read(&mut from, path).map_err(|error| CopyError::new(path, error))?;
            let version = |file: &BaseFile| {
                Some(FileVersion {
                    mode: file.mode.clone(),
                    bytes: base.get(path.as_path())?.clone(),
                })
            };
            files.push(ChangedFile {
                path: path.clone(),
                base: base_file.as_ref().and_then(version),
                now,
            });
        }
        Ok(files)
    }

    /// Writes the files that changed as they were at the base beside those that did not, which [`Self::write_now`] has
    /// written; `content` says what becomes of each.
    ///
    /// # Errors
    ///
    /// A file cannot be read or written, or it was ended.
    pub fn write_changed(
        &self,
        copy_of_now: &Path,
        to: &Path,
        time: SystemTime,
        mut content: impl FnMut(&Path) -> BaseContent,
        mut should_continue: impl FnMut() -> bool,
    ) -> Result<(), BaseError> {
        let mut asked = Instant::now();
        let mut ask = || {
            if asked.elapsed() < ASK_EVERY {
                return Ok(());
            }
            asked = Instant::now();
            if should_continue() {
                Ok(())
            } else {
                Err(CopyError::Cancelled.into())
            }
        };
        let mut copier = FileCopier::open(
            copy_of_now,
            &[to],
            CopyOptions::all(CopyKind::Checkout(time)),
        )?;
        let mut to = FolderPath::open_to_write(to).map_err(|error| CopyError::new(to, error))?;
        let mut of_base = Vec::new();
        for (path, base) in &self.files.changed {
            ask()?;
            match (content(path), base) {
                (BaseContent::Now, _) => copier.copy_file(path, 1)?,
                (BaseContent::Joined(bytes), base) => {
                    let mode = base.as_ref().map_or(REGULAR, |base| base.mode.as_str());
                    to.write(path, mode, &bytes, Some(time))
                        .map_err(|error| base_file_error(path, error))?;
                }
                (BaseContent::Base, Some(base)) => of_base.push((path.as_path(), base)),
                (BaseContent::Base, None) => {}
            }
        }
        let contents = self.read_base(of_base.iter().copied(), &mut ask)?;
        for (path, base) in of_base {
            ask()?;
            let Some(bytes) = contents.get(path) else {
                continue;
            };
            let is_written = to
                .write(path, &base.mode, bytes, Some(time))
                .map_err(|error| base_file_error(path, error))?;
            if !is_written {
                return Err(BaseError::PlaceTaken {
                    path: path.to_owned(),
                });
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
        let list = [
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ];
        let said = self.files.outermost()?.git(&list, &[])?;
        let paths = parts(&said);
        let paths = paths.map(|path| path_of(path.strip_suffix(b"/").unwrap_or(path)));
        Ok(paths.filter(|path| is_plain(path)).collect())
    }

    /// The files, from the top, that `.worktreeinclude` names and git ignores.
    ///
    /// # Errors
    ///
    /// git fails.
    pub fn included_paths(&self) -> Result<BTreeSet<PathBuf>, BaseError> {
        let outermost = self.files.outermost()?;
        let paths = included_paths(&self.top, |arguments, input| {
            outermost.answer(arguments, input)
        })?;
        Ok(paths.into_iter().filter(|path| is_plain(path)).collect())
    }

    /// Top of the work tree.
    pub fn top(&self) -> &Path {
        &self.top
    }

    fn read_base<'b>(
        &self,
        files: impl Iterator<Item = (&'b Path, &'b BaseFile)>,
        ask: &mut dyn FnMut() -> Result<(), BaseError>,
    ) -> Result<BTreeMap<&'b Path, Vec<u8>>, BaseError> {
        let mut by_repository: BTreeMap<usize, Vec<(&Path, &BaseFile)>> = BTreeMap::new();
        for (path, file) in files {
            by_repository
                .entry(file.repository)
                .or_default()
                .push((path, file));
        }
        let mut contents = BTreeMap::new();
        for (at, files) in by_repository {
            let repository = self.files.repository(at)?;
            for files in files.chunks(OBJECTS_AT_ONCE) {
                ask()?;
                let found =
                    repository.contents(files.iter().map(|(_, file)| file.object.as_str()))?;
                contents.extend(files.iter().map(|(path, _)| *path).zip(found));
            }
        }
        Ok(contents)
    }
}

struct BranchBase {
    commit: String,
    is_on_main: bool,
}

/// The commit that the work on this branch began from: where it left the branch that others are made from; on that branch
/// itself the last commit, or the one before where nothing is uncommitted.
fn branch_base(repository: &GitRepository) -> Result<BranchBase, BaseError> {
    let head = repository.commit_of("HEAD")?.ok_or(BaseError::NoBase)?;
    for main in MAIN_BRANCHES {
        let Some(tip) = repository.commit_of(main)? else {
            continue;
        };
        let (status, said) = repository.status_and_output(&["merge-base", &tip, &head])?;
        let base = trimmed_line(&said);
        if status == 0 && base != head {
            return Ok(BranchBase {
                commit: base,
                is_on_main: false,
            });
        }
        break;
    }
    Ok(BranchBase {
        commit: head,
        is_on_main: true,
    })
}

fn is_plain(path: &Path) -> bool {
    path.components()
        .all(|part| matches!(part, Component::Normal(name) if name != OsStr::new(".git")))
}

fn base_file_error(path: &Path, error: io::Error) -> BaseError {
    match error.kind() {
        io::ErrorKind::AlreadyExists
        | io::ErrorKind::IsADirectory
        | io::ErrorKind::NotADirectory => BaseError::PlaceTaken {
            path: path.to_owned(),
        },
        _ => CopyError::new(path, error).into(),
    }
}

fn read(from: &mut FolderPath, path: &Path) -> io::Result<Option<FileVersion>> {
    let (Some(name), Some(folder)) = (path.file_name(), from.parent_of(path)?) else {
        return Ok(None);
    };
    let version = |mode: &str, bytes| {
        Some(FileVersion {
            mode: mode.to_owned(),
            bytes,
        })
    };
    Ok(match folder.open_entry(name)? {
        OpenedEntry::Link(target) => version(LINK, target.as_encoded_bytes().to_vec()),
        OpenedEntry::File {
            mut file,
            is_executable,
            ..
        } => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            version(if is_executable { EXECUTABLE } else { REGULAR }, bytes)
        }
        OpenedEntry::Other => None,
    })
}
