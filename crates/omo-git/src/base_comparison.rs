//! Comparison of a work tree with a base (a commit or a snapshot), and copies of both to run commands in. Nothing is
//! written to the repository, its index or its work tree. Copies have raw bytes without filters, and no ignored files.

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

#[derive(Debug, Error)]
pub enum BaseError {
    #[error("{} is not in a git worktree", .0.display())]
    NoRepository(PathBuf),
    #[error("`{}` is not a commit of this repository", sanitize(.0, 100))]
    NoCommit(String),
    /// Absence of the recorded files: never written, or removed since.
    #[error("the files that the work began with were not recorded")]
    NotRecorded,
    #[error("there is no commit before this one to compare with")]
    NoBase,
    /// Missing commit of a submodule.
    #[error("the submodule {} was at {commit}, which is not there", path.display())]
    Submodule { path: PathBuf, commit: String },
    /// Conflict of an old file and a new test file, which one tree cannot both have.
    #[error("{} was there, and a current test file has its place: both cannot be in one tree", path.display())]
    PlaceTaken {
        /// Path from the top of the work tree.
        path: PathBuf,
    },
    #[error(transparent)]
    Git(#[from] GitFailed),
    #[error(transparent)]
    Copy(#[from] CopyError),
}

#[derive(Clone, Copy, Debug)]
pub enum BaseChoice<'a> {
    /// Commit that the work on this branch began from.
    BranchStart,
    /// Commit by any name that git knows, such as `HEAD~2`.
    Revision(&'a str),
    /// Files at the start of a run, with uncommitted ones.
    Recorded {
        session: &'a SessionId,
        /// Name of the `FileScope`.
        scope: &'a str,
        /// Digest of the record, from the session's entry.
        recorded: &'a str,
    },
    /// Files at the start of an attempt at a plan's task, with uncommitted ones.
    Attempt {
        worktree: &'a ProvedWorktree,
        run_id: &'a str,
        snapshot: &'a TreeSnapshot,
    },
}

/// Folder below `state_home` for git's scratch tree.
#[derive(Clone, Copy, Debug)]
pub struct ScratchFolder<'a> {
    pub state_home: &'a Path,
    pub parts: &'a [&'a str],
}

/// A project's files beside those of a `BaseChoice`.
pub struct BaseComparison<'a> {
    top: PathBuf,
    /// Id of the base: a commit, or the tree of a record.
    pub base: String,
    /// Folder of the project from the top of the work tree; empty for the top itself.
    pub project: PathBuf,
    files: ProjectFiles<'a>,
}

/// A changed file with its versions in the base and in the work tree.
#[derive(Debug)]
pub struct ChangedFile {
    /// Path from the top of the work tree.
    pub path: PathBuf,
    /// `None` for a new file.
    pub base: Option<FileVersion>,
    /// `None` for a removed file.
    pub now: Option<FileVersion>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileVersion {
    /// Mode of git, such as `100644`.
    mode: String,
    pub bytes: Vec<u8>,
}

impl ChangedFile {
    pub fn base_bytes(&self) -> Option<&[u8]> {
        self.base.as_ref().map(|version| version.bytes.as_slice())
    }

    pub fn now_bytes(&self) -> Option<&[u8]> {
        self.now.as_ref().map(|version| version.bytes.as_slice())
    }
}

/// Writes each file's `version` into a copy, or removes the file; by the modification `time` a build sees the change.
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

/// Content of a changed file in the copy of the base.
#[derive(Debug)]
pub enum BaseContent {
    Base,
    Now,
    /// Bytes made of both versions.
    Joined(Vec<u8>),
}

impl<'a> BaseComparison<'a> {
    pub fn read(
        root: &Path,
        base: BaseChoice,
        scratch: ScratchFolder,
        calls: &'a GitCalls,
    ) -> Result<Self, BaseError> {
        let no_repository = || BaseError::NoRepository(root.to_owned());
        let root = root.canonicalize().map_err(|_| no_repository())?;
        let ComparedTree { tree, base, files } = match base {
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
                compare(&place.work_tree(scratch.state_home), &base, scratch, calls)?
            }
            BaseChoice::Revision(name) => {
                let repository = GitRepository::find(&root).ok_or_else(no_repository)?;
                // git fails at some missing names, such as `main@{99}`.
                let commit = repository.commit_of(name).ok().flatten();
                let commit = commit.ok_or_else(|| BaseError::NoCommit(name.to_owned()))?;
                compare(
                    repository.work_tree(),
                    &RepositoryBase::Commit(&commit),
                    scratch,
                    calls,
                )?
            }
            BaseChoice::BranchStart => {
                let repository = GitRepository::find(&root).ok_or_else(no_repository)?;
                let BranchBase { commit, is_on_main } = branch_base(&repository)?;
                let base = RepositoryBase::Commit(&commit);
                let compared = compare(repository.work_tree(), &base, scratch, calls)?;
                if compared.files.changed.is_empty() && is_on_main {
                    // Only one comparison at a time may use the scratch folder.
                    drop(compared);
                    let before = repository.commit_of("HEAD~1")?.ok_or(BaseError::NoBase)?;
                    let base = RepositoryBase::Commit(&before);
                    compare(repository.work_tree(), &base, scratch, calls)?
                } else {
                    compared
                }
            }
            BaseChoice::Attempt {
                worktree,
                run_id,
                snapshot,
            } => {
                let tree = worktree.git().ok_or_else(no_repository)?;
                let kept = changes::snapshot_objects(tree, scratch.state_home, run_id, snapshot);
                let (name, objects) = kept.ok_or(BaseError::NotRecorded)?;
                let base = RepositoryBase::Kept {
                    tree: &name,
                    objects: &objects,
                };
                compare(tree, &base, scratch, calls)?
            }
        };
        let top = tree.top.canonicalize().map_err(|_| no_repository())?;
        let project = root
            .strip_prefix(&top)
            .map_err(|_| no_repository())?
            .to_owned();
        Ok(Self {
            top,
            base,
            project,
            files,
        })
    }

    pub fn file_count(&self) -> usize {
        self.files.present.len()
    }

    /// Paths of present files from the top of the work tree.
    pub fn present_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.present.iter().map(PathBuf::as_path)
    }

    /// Paths of changed files from the top of the work tree.
    pub fn changed_paths(&self) -> impl Iterator<Item = &Path> {
        self.files.changed.keys().map(PathBuf::as_path)
    }

    /// `true` for a changed file that the base has.
    pub fn was_there(&self, path: &Path) -> bool {
        self.files.changed.get(path).is_some_and(Option::is_some)
    }

    /// `true` for a changed file that is a link in the base.
    pub fn was_link(&self, path: &Path) -> bool {
        self.files
            .changed
            .get(path)
            .is_some_and(|base| base.as_ref().is_some_and(|base| base.mode == LINK))
    }

    /// Path with `/` from the project's folder, or from the top of the work tree for a file outside of that folder.
    pub fn name_in_project(&self, path: &Path) -> String {
        let below = path.strip_prefix(&self.project).unwrap_or(path);
        below
            .components()
            .map(|part| part.as_os_str().to_string_lossy())
            .collect::<Vec<_>>()
            .join("/")
    }

    pub fn is_present(&self, path: &Path) -> bool {
        self.files.present.contains(path) && self.top.join(path).symlink_metadata().is_ok()
    }

    /// Writes all present files into the empty folder `now`, and the unchanged ones into `base` as well, from the same
    /// read; `time` is the modification time of all.
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

    /// Changed files for which `wants` is `true`, with their versions in the base and in `copy_of_now`.
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
            let base_bytes = base.get(path.as_path());
            let base_version = base_file.as_ref().zip(base_bytes);
            files.push(ChangedFile {
                path: path.clone(),
                base: base_version.map(|(file, bytes)| FileVersion {
                    mode: file.mode.clone(),
                    bytes: bytes.clone(),
                }),
                now,
            });
        }
        Ok(files)
    }

    /// Adds the changed files to the unchanged ones that [`Self::write_now`] wrote, each with its `content`.
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

    /// Ignored files and folders, such as build output, by their paths from the top of the work tree.
    pub fn ignored_paths(&self) -> Result<Vec<PathBuf>, BaseError> {
        let list = [
            "ls-files",
            "-z",
            "--others",
            "--ignored",
            "--exclude-standard",
            "--directory",
        ];
        let output = self.files.outermost()?.git(&list, &[])?;
        let paths = parts(&output);
        let paths = paths.map(|path| path_of(path.strip_suffix(b"/").unwrap_or(path)));
        Ok(paths.filter(|path| is_plain(path)).collect())
    }

    /// Ignored files that `.worktreeinclude` lists, by their paths from the top of the work tree.
    pub fn included_paths(&self) -> Result<BTreeSet<PathBuf>, BaseError> {
        let outermost = self.files.outermost()?;
        let paths = included_paths(&self.top, |arguments, input| {
            outermost.answer(arguments, input)
        })?;
        Ok(paths.into_iter().filter(|path| is_plain(path)).collect())
    }

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

struct ComparedTree<'a> {
    tree: GitWorktree,
    base: String,
    files: ProjectFiles<'a>,
}

fn compare<'a>(
    tree: &GitWorktree,
    base: &RepositoryBase,
    scratch: ScratchFolder,
    calls: &'a GitCalls,
) -> Result<ComparedTree<'a>, BaseError> {
    Ok(ComparedTree {
        tree: tree.clone(),
        base: base.name().to_owned(),
        files: ProjectFiles::read(tree, base, scratch, calls)?,
    })
}

struct BranchBase {
    commit: String,
    is_on_main: bool,
}

/// Merge base of `HEAD` with the main branch; `HEAD` itself on that branch, or without one.
fn branch_base(repository: &GitRepository) -> Result<BranchBase, BaseError> {
    let head = repository.commit_of("HEAD")?.ok_or(BaseError::NoBase)?;
    for main in MAIN_BRANCHES {
        let Some(tip) = repository.commit_of(main)? else {
            continue;
        };
        let (status, output) = repository.status_and_output(&["merge-base", &tip, &head])?;
        let base = trimmed_line(&output);
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
    Ok(match folder.open_entry(name)? {
        OpenedEntry::Link(target) => Some(FileVersion {
            mode: LINK.to_owned(),
            bytes: target.as_encoded_bytes().to_vec(),
        }),
        OpenedEntry::File {
            mut file,
            is_executable,
            ..
        } => {
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            let mode = if is_executable { EXECUTABLE } else { REGULAR };
            Some(FileVersion {
                mode: mode.to_owned(),
                bytes,
            })
        }
        OpenedEntry::Other => None,
    })
}
