//! File access on Linux and macOS by handles of open folders (`openat`), never by whole paths.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use rustix::fs::{
    Access, AtFlags, CWD, FileType, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat,
    renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};

use super::{Links, Opened, Purpose, Trouble};

pub(crate) const PROGRAM_ENDINGS: [&str; 1] = [""];

const TOP: OFlags = OFlags::DIRECTORY
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);
/// `NONBLOCK` for FIFOs, and `NOCTTY`: a terminal must not become ours.
const FILE: OFlags = OFlags::CLOEXEC
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY);
const PRIVATE: Mode = Mode::RUSR.union(Mode::WUSR);

#[expect(clippy::unnecessary_wraps, reason = "not every system has numbers")]
pub(crate) fn user_number() -> Option<u32> {
    Some(rustix::process::geteuid().as_raw())
}

#[derive(Debug)]
pub(crate) struct UnixDirectory(OwnedFd);

impl UnixDirectory {
    /// Opens the outermost folder; links on the way there are the user's affair.
    pub(crate) fn top(path: &Path) -> io::Result<Self> {
        Ok(Self(retry_on_intr(|| {
            rustix::fs::open(path, TOP, Mode::empty())
        })?))
    }

    pub(crate) fn inner(&self, name: &str) -> Result<Self, Trouble> {
        match retry_on_intr(|| openat(&self.0, name, TOP | OFlags::NOFOLLOW, Mode::empty())) {
            Ok(fd) => Ok(Self(fd)),
            Err(Errno::LOOP | Errno::NOTDIR) => Err(Trouble::Refused("a link or no folder")),
            Err(errno) => Err(Trouble::System(errno.into())),
        }
    }

    pub(crate) fn make(&self, name: &str) -> io::Result<()> {
        Ok(mkdirat(&self.0, name, Mode::RWXU)?)
    }

    pub(crate) fn make_private(&self) {
        let mode = fstat(&self.0).map(|stat| Mode::from_raw_mode(stat.st_mode));
        if mode.is_ok_and(|mode| mode != Mode::RWXU) {
            // Another program may have given others rights, which cannot always be taken away.
            let _ = rustix::fs::fchmod(&self.0, Mode::RWXU);
        }
    }

    pub(crate) fn is_ours(&self) -> io::Result<bool> {
        Ok(fstat(&self.0)?.st_uid == rustix::process::geteuid().as_raw())
    }

    pub(crate) fn lacks(&self, name: &str) -> bool {
        matches!(
            statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW),
            Err(Errno::NOENT)
        )
    }

    pub(crate) fn written_at(&self, name: &str) -> Option<i64> {
        Some(
            statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW)
                .ok()?
                .st_mtime,
        )
    }

    /// Opens a file of the folder; a new one is readable by its owner alone.
    pub(crate) fn open(&self, name: &str, purpose: Purpose) -> Result<File, Trouble> {
        let (flags, mode) = match purpose {
            Purpose::Read => (OFlags::RDONLY, Mode::empty()),
            Purpose::Overwrite => (OFlags::WRONLY, Mode::empty()),
            Purpose::Append => (OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE, PRIVATE),
            Purpose::New => (OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL, PRIVATE),
            Purpose::Lock => (OFlags::RDWR | OFlags::CREATE, PRIVATE),
        };
        match retry_on_intr(|| openat(&self.0, name, FILE | OFlags::NOFOLLOW | flags, mode)) {
            Ok(fd) => Ok(File::from(fd)),
            Err(Errno::LOOP) => Err(Trouble::Refused("a symbolic link")),
            Err(Errno::ISDIR) => Err(Trouble::Refused("a folder")),
            Err(Errno::NXIO) => Err(Trouble::Refused("no regular file")),
            Err(errno) => Err(Trouble::System(errno.into())),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        Ok(renameat(&self.0, from, &self.0, to)?)
    }

    /// Exchanges two files in one step; where that is impossible, `from` takes the name `to`.
    pub(crate) fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        let exchanged = renameat_with(&self.0, from, &self.0, to, RenameFlags::EXCHANGE);
        Ok(exchanged.or_else(|_| renameat(&self.0, from, &self.0, to))?)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::empty())?)
    }

    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        Ok(unlinkat(&self.0, name, AtFlags::REMOVEDIR)?)
    }

    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(rustix::fs::fsync(&self.0)?)
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in retry_on_intr(|| rustix::fs::Dir::read_from(&self.0))? {
            let entry = entry?;
            let name = entry
                .file_name()
                .to_str()
                .ok()
                .filter(|name| !matches!(*name, "." | ".."));
            names.extend(name.map(str::to_owned));
        }
        Ok(names)
    }
}

pub(crate) fn exchange(one: &Path, other: &Path) -> io::Result<()> {
    Ok(renameat_with(CWD, one, CWD, other, RenameFlags::EXCHANGE)?)
}

pub(crate) fn check_regular_file(file: &File) -> Result<u64, Trouble> {
    let stat = fstat(file).map_err(io::Error::from)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(Trouble::Refused("no regular file"));
    }
    // A second name may lie outside the folder, where an append would write as well.
    if stat.st_nlink > 1 {
        return Err(Trouble::Refused("a hard link"));
    }
    if stat.st_uid != rustix::process::geteuid().as_raw() {
        return Err(Trouble::Refused("not yours"));
    }
    Ok(u64::try_from(stat.st_size).unwrap_or(0))
}

/// Allocates the blocks of a new file before they are written: ext4 otherwise writes them out
/// within the rename, which costs as much as the rest of a hook (docs/adr/0006). Other file systems
/// and macOS need none.
pub(crate) fn reserve(file: &File, length: usize) {
    #[cfg(target_os = "linux")]
    let _ = rustix::fs::fallocate(file, rustix::fs::FallocateFlags::empty(), 0, length as u64);
    #[cfg(not(target_os = "linux"))]
    let _ = (file, length);
}

pub(crate) fn open_for_reading(path: &Path, links: Links) -> io::Result<Opened> {
    let more = if links == Links::Followed {
        OFlags::empty()
    } else {
        OFlags::NOFOLLOW
    };
    let file =
        match retry_on_intr(|| rustix::fs::open(path, FILE | OFlags::RDONLY | more, Mode::empty()))
        {
            Ok(fd) => File::from(fd),
            Err(Errno::LOOP) if links == Links::Refused => return Ok(Opened::Link),
            Err(errno) => return Err(errno.into()),
        };
    Ok(if file.metadata()?.is_file() {
        Opened::File(file)
    } else {
        Opened::Other
    })
}

/// Time of creation; the standard library has it with glibc alone, and approvals need it in all
/// builds.
#[cfg(target_os = "linux")]
pub(crate) fn made_at(path: &Path) -> Option<SystemTime> {
    use rustix::fs::{AtFlags, CWD, StatxFlags, statx};
    let stat = statx(CWD, path, AtFlags::empty(), StatxFlags::BTIME).ok()?;
    let is_known = stat.stx_mask & StatxFlags::BTIME.bits() != 0;
    let since = std::time::Duration::new(
        u64::try_from(stat.stx_btime.tv_sec).ok()?,
        stat.stx_btime.tv_nsec,
    );
    is_known.then(|| SystemTime::UNIX_EPOCH + since)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn made_at(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.created().ok()
}

pub(crate) fn inode(found: &std::fs::Metadata) -> u64 {
    std::os::unix::fs::MetadataExt::ino(found)
}

/// Folder `~/.config`, for a command-line tool on macOS as well.
pub(crate) fn config_home() -> Option<PathBuf> {
    crate::env::path("XDG_CONFIG_HOME").or_else(|| Some(dirs::home_dir()?.join(".config")))
}

pub(crate) fn state_home() -> Option<PathBuf> {
    crate::env::path("XDG_STATE_HOME")
        .or_else(|| Some(dirs::home_dir()?.join(".local").join("state")))
}

pub(crate) fn data_home() -> Option<PathBuf> {
    crate::env::path("XDG_DATA_HOME")
        .or_else(|| Some(dirs::home_dir()?.join(".local").join("share")))
}

pub(crate) fn same_variable(one: &str, other: &str) -> bool {
    one == other
}

/// Makes a symbolic link `place` to a folder.
///
/// # Errors
///
/// A link that cannot be made.
pub fn link_folder(folder: &Path, place: &Path) -> io::Result<()> {
    std::os::unix::fs::symlink(folder, place)
}

/// `true` where the permissions of a folder and its mount allow writes.
pub fn may_write(folder: &Path) -> bool {
    rustix::fs::access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok()
}

/// Makes folders writable that tools keep read-only, such as downloads. No link is followed.
pub fn make_removable(folder: &Path) {
    if folder.symlink_metadata().is_ok_and(|found| found.is_dir()) {
        let _ = fs::set_permissions(folder, Permissions::from_mode(0o700));
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            make_removable(&entry.path());
        }
    }
}
