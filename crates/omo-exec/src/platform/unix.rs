//! Linux and macOS: `/bin/sh`, and times of change that no program can set back.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_state::search_path::{ProjectFolders, SearchPath};
use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, openat, statat};
use rustix::io::Errno;
use rustix::process::{Pid, test_kill_process};

use super::FileStamp;

const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::CLOEXEC).union(OFlags::RDONLY);

/// What runs the command of a check.
pub(crate) enum Shell {
    /// The one that there always is.
    Posix,
    /// A bash, which tells a failure before a pipe.
    Bash(PathBuf),
}

impl Shell {
    /// The one that there always is.
    pub(crate) fn find() -> Self {
        Self::Posix
    }

    /// A bash that [`bash`] has found.
    pub(crate) fn bash(program: PathBuf) -> Self {
        Self::Bash(program)
    }

    /// Its file.
    pub(crate) fn program(&self) -> PathBuf {
        match self {
            Self::Posix => PathBuf::from("/bin/sh"),
            Self::Bash(program) => program.clone(),
        }
    }

    /// Gives it what it is to run.
    #[expect(clippy::unnecessary_wraps, reason = "on other systems one of them cannot take everything")]
    pub(crate) fn give(&self, command: &mut Command, run: &str) -> io::Result<()> {
        if matches!(self, Self::Bash(_)) {
            command.args(["-o", "pipefail"]);
        }
        command.arg("-c").arg(run);
        Ok(())
    }
}

/// The bash of this machine for the checks of a project: never a file of that project, however its
/// path is written.
pub(crate) fn bash(search: &SearchPath, project: &Path) -> Option<PathBuf> {
    let project = ProjectFolders::from_iter([project.to_owned()]);
    let search = search.clone().outside(&project);
    search.find_all("bash").find(|bash| !project.contain(bash) && is_executable(bash))
}

/// Whether a process lives.
pub(crate) fn is_alive(pid: u32) -> Option<bool> {
    let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) else { return Some(false) };
    match test_kill_process(pid) {
        // A process of another user refuses the signal, and so is there.
        Ok(()) | Err(Errno::PERM) => Some(!has_ended(pid)),
        Err(Errno::SRCH) => Some(false),
        Err(_) => None,
    }
}

/// Whether a process has ended, and is there only until its parent asks how.
#[cfg(target_os = "linux")]
fn has_ended(pid: Pid) -> bool {
    super::stat::stat_of(pid.as_raw_nonzero().get()).is_some_and(|stat| matches!(stat.state.as_str(), "Z" | "X"))
}

/// It cannot be told here.
#[cfg(not(target_os = "linux"))]
fn has_ended(_pid: Pid) -> bool {
    false
}

/// When a process began.
#[cfg(target_os = "linux")]
pub(crate) fn start_mark(pid: u32) -> Option<String> {
    super::stat::stat_of(i32::try_from(pid).ok()?).map(|stat| stat.start)
}

/// It is not told here.
#[cfg(not(target_os = "linux"))]
pub(crate) fn start_mark(_pid: u32) -> Option<String> {
    None
}

/// What the client's program may be called.
pub(crate) const CLIENTS: [&str; 1] = ["claude"];

/// Whether there is a file that may be run.
pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|found| found.is_file() && found.mode() & 0o111 != 0)
}

/// Whether a file says that it may be run.
pub(crate) fn has_execute_bit(meta: &fs::Metadata) -> bool {
    meta.mode() & 0o111 != 0
}

/// This very program: an update may have put another one in the place of its file. Where there is
/// no `/proc` it is found by its path all the same.
pub(crate) fn own_program() -> io::Result<PathBuf> {
    if cfg!(target_os = "linux") { Ok(PathBuf::from("/proc/self/exe")) } else { std::env::current_exe() }
}

/// Has a process live on when the group of its caller is ended.
pub(crate) fn start_own_group(command: &mut Command) {
    command.process_group(0);
}

/// Makes this process the first of a session of its own, without a terminal.
pub(crate) fn leave_session() -> io::Result<()> {
    rustix::process::setsid().map(drop).map_err(io::Error::from)
}

/// Here nothing opens a window by itself.
pub(crate) fn show_no_window(_command: &mut Command) {}

/// Whether a path lies in a folder.
pub(crate) fn lies_in(path: &Path, folder: &Path) -> bool {
    path.starts_with(folder)
}

/// Has a folder be found in a second place.
pub(crate) fn link_folder(folder: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(folder, place)
}

/// A path, from what git calls it.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    PathBuf::from(OsStr::from_bytes(bytes))
}

/// Lets a folder be removed in which its owner may not write: tools keep what they have downloaded like that. No link is
/// followed.
pub(crate) fn make_removable(folder: &Path) {
    if folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let _ = fs::set_permissions(folder, fs::Permissions::from_mode(0o700));
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            make_removable(&entry.path());
        }
    }
}

/// What tells one state of an open file from another without its content.
pub(crate) fn identity(file: &File) -> io::Result<String> {
    let meta = file.metadata()?;
    let (device, inode) = (meta.dev(), meta.ino());
    let time = (meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec());
    Ok(format!("{device}:{inode}:{}:{time:?}", meta.len()))
}

/// The top of a work tree.
pub(crate) struct TreeTop(OwnedFd);

impl TreeTop {
    /// Opens it; `None` where nothing can be told by looking.
    pub(crate) fn open(path: &Path) -> Option<Self> {
        rustix::fs::open(path, FOLDER, Mode::empty()).ok().map(Self)
    }

    /// What is seen of a path; `Some(None)` where there is nothing.
    #[expect(clippy::option_option, reason = "that nothing is there says something else than that it cannot be told")]
    pub(crate) fn look(&self, path: &[u8]) -> Option<Option<FileStamp>> {
        let stat = match statat(&self.0, path, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Some(None),
            Err(_) => return None,
        };
        let written = (stat.st_mtime, u32::try_from(stat.st_mtime_nsec).ok()?);
        let changed = (stat.st_ctime, u32::try_from(stat.st_ctime_nsec).ok()?);
        let numbers = [stat.st_ino, u64::try_from(stat.st_size).ok()?, stat.st_mode.into()];
        Some(Some(FileStamp { times: [written, changed], numbers }))
    }

    /// The names of the folders in a folder.
    pub(crate) fn folders(&self, folder: &[u8]) -> Option<Vec<Vec<u8>>> {
        let handle = openat(&self.0, OsStr::from_bytes(folder), FOLDER | OFlags::NOFOLLOW, Mode::empty()).ok()?;
        let mut names = Vec::new();
        for entry in Dir::read_from(&handle).ok()? {
            let entry = entry.ok()?;
            let is_folder = match entry.file_type() {
                FileType::Directory => true,
                FileType::Unknown => {
                    let stat = statat(&handle, entry.file_name(), AtFlags::SYMLINK_NOFOLLOW).ok()?;
                    FileType::from_raw_mode(stat.st_mode) == FileType::Directory
                }
                _ => false,
            };
            let name = entry.file_name().to_bytes();
            if is_folder && !matches!(name, b"." | b"..") {
                names.push(name.to_vec());
            }
        }
        Some(names)
    }
}
