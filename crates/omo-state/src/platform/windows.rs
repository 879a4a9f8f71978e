//! Windows: files and folders by their paths, below folders that are held open.
//!
//! No safe call opens a file from a folder's handle. But a folder that is open without shared
//! deletion can neither be renamed nor removed, nor can those above it: while a
//! [`WindowsDirectory`] is held, its path means that folder. A reparse point (a link, a junction)
//! is opened as such, and refused.

use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind};
use std::os::windows::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Links, Opened, Purpose, Trouble};

pub(crate) const PROGRAM_ENDINGS: [&str; 5] = ["", ".exe", ".cmd", ".bat", ".com"];

const FILE_SHARE_READ: u32 = 1;
const FILE_SHARE_WRITE: u32 = 2;
const FILE_ATTRIBUTE_REPARSE_POINT: u32 = 0x400;
const FILE_FLAG_BACKUP_SEMANTICS: u32 = 0x0200_0000;
const FILE_FLAG_OPEN_REPARSE_POINT: u32 = 0x0020_0000;

const ERROR_SHARING_VIOLATION: i32 = 32;
/// Maximum tries to open a file that another program uses: a hook that reads has to end in time.
const TRIES: u32 = 6;
const FIRST_PAUSE: Duration = Duration::from_millis(1);

pub(crate) fn user_number() -> Option<u32> {
    None
}

#[derive(Debug)]
pub(crate) struct WindowsDirectory {
    _held: File,
    /// Without links, in the form `\\?\C:\..`, which has no maximum length.
    path: PathBuf,
}

impl WindowsDirectory {
    pub(crate) fn top(path: &Path) -> io::Result<Self> {
        // Some file systems cannot resolve a path, which then stays as it is.
        let real = match fs::canonicalize(path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Err(error),
            real => real.unwrap_or_else(|_| path.to_owned()),
        };
        Self::hold(real)?.ok_or_else(|| ErrorKind::NotADirectory.into())
    }

    pub(crate) fn inner(&self, name: &str) -> Result<Self, Trouble> {
        Self::hold(self.path.join(name))?.ok_or(Trouble::Refused("a link or no folder"))
    }

    /// `None` for a link, or no folder.
    fn hold(path: PathBuf) -> io::Result<Option<Self>> {
        let mut options = OpenOptions::new();
        options
            .read(true)
            .share_mode(FILE_SHARE_READ | FILE_SHARE_WRITE);
        options.custom_flags(FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT);
        let held = retry_while_in_use(|| options.open(&path))?;
        let meta = held.metadata()?;
        Ok((meta.is_dir() && !is_link(&meta)).then_some(Self { _held: held, path }))
    }

    pub(crate) fn make(&self, name: &str) -> io::Result<()> {
        fs::create_dir(self.path.join(name))
    }

    #[expect(clippy::unused_self, reason = "other systems need it")]
    pub(crate) fn make_private(&self) {}

    /// Always true: on Windows access lists give rights, and an owner says little.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "other systems need both"
    )]
    pub(crate) fn is_ours(&self) -> io::Result<bool> {
        Ok(true)
    }

    pub(crate) fn lacks(&self, name: &str) -> bool {
        self.path
            .join(name)
            .symlink_metadata()
            .is_err_and(|error| error.kind() == ErrorKind::NotFound)
    }

    pub(crate) fn written_at(&self, name: &str) -> Option<i64> {
        let written = self
            .path
            .join(name)
            .symlink_metadata()
            .ok()?
            .modified()
            .ok()?;
        i64::try_from(written.duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
    }

    pub(crate) fn open(&self, name: &str, purpose: Purpose) -> Result<File, Trouble> {
        let path = self.path.join(name);
        let mut options = OpenOptions::new();
        match purpose {
            Purpose::Read => options.read(true),
            Purpose::Overwrite => options.write(true),
            Purpose::Append => options.append(true).create(true),
            Purpose::New => options.write(true).create_new(true),
            Purpose::Lock => options.read(true).write(true).create(true).truncate(false),
        };
        options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
        match retry_while_in_use(|| {
            if path.is_dir() {
                Err(ErrorKind::IsADirectory.into())
            } else {
                options.open(&path)
            }
        }) {
            Ok(file) if is_link(&file.metadata()?) => Err(Trouble::Refused("a symbolic link")),
            Ok(file) => Ok(file),
            Err(error) if error.kind() == ErrorKind::IsADirectory => {
                Err(Trouble::Refused("a folder"))
            }
            Err(error) => Err(Trouble::System(error)),
        }
    }

    pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
        retry_while_in_use(|| fs::rename(self.path.join(from), self.path.join(to)))
    }

    /// Renames the first file over the second: no single step exchanges two names.
    pub(crate) fn exchange(&self, from: &str, to: &str) -> io::Result<()> {
        self.rename(from, to)
    }

    pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
        let path = self.path.join(name);
        match retry_while_in_use(|| fs::remove_file(&path)) {
            // A link to a folder is removed like a folder.
            Err(_) if path.symlink_metadata().is_ok_and(|meta| meta.is_symlink()) => {
                fs::remove_dir(&path)
            }
            removed => removed,
        }
    }

    pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
        fs::remove_dir(self.path.join(name))
    }

    /// No operation: the file system itself writes the names of a folder to the disk.
    #[expect(
        clippy::unused_self,
        clippy::unnecessary_wraps,
        reason = "other systems need both"
    )]
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn names(&self) -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(&self.path)? {
            names.extend(entry?.file_name().into_string().ok());
        }
        Ok(names)
    }
}

fn is_link(meta: &fs::Metadata) -> bool {
    meta.file_attributes() & FILE_ATTRIBUTE_REPARSE_POINT != 0
}

/// Retries while another program, such as a virus scanner, is in the way.
fn retry_while_in_use<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    let mut pause = FIRST_PAUSE;
    for _ in 1..TRIES {
        match attempt() {
            Err(error) if is_in_the_way(&error) => std::thread::sleep(pause),
            result => return result,
        }
        pause *= 2;
    }
    attempt()
}

fn is_in_the_way(error: &io::Error) -> bool {
    error.kind() == ErrorKind::PermissionDenied
        || error.raw_os_error() == Some(ERROR_SHARING_VIOLATION)
}

pub(crate) fn exchange(_one: &Path, _other: &Path) -> io::Result<()> {
    Err(ErrorKind::Unsupported.into())
}

pub(crate) fn check_regular_file(file: &File) -> Result<u64, Trouble> {
    if !winapi_util::file::typ(file)?.is_disk() || !file.metadata()?.is_file() {
        return Err(Trouble::Refused("no regular file"));
    }
    let information = winapi_util::file::information(file)?;
    // A second name may lie outside the folder, where an append would write as well.
    if information.number_of_links() > 1 {
        return Err(Trouble::Refused("a hard link"));
    }
    Ok(information.file_size())
}

pub(crate) fn reserve(_file: &File, _length: usize) {}

pub(crate) fn open_for_reading(path: &Path, links: Links) -> io::Result<Opened> {
    let mut options = OpenOptions::new();
    let link_flag = if links == Links::Followed {
        0
    } else {
        FILE_FLAG_OPEN_REPARSE_POINT
    };
    // `FILE_FLAG_BACKUP_SEMANTICS` opens a folder as well, which is thus told from an unreadable file.
    options
        .read(true)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS | link_flag);
    let file = options.open(path)?;
    // A read from a pipe or a console would wait for another process or a person.
    if !winapi_util::file::typ(&file)?.is_disk() {
        return Ok(Opened::Other);
    }
    let meta = file.metadata()?;
    Ok(match (links, is_link(&meta), meta.is_file()) {
        (Links::Refused, true, _) => Opened::Link,
        (_, _, true) => Opened::File(file),
        (_, _, false) => Opened::Other,
    })
}

pub(crate) fn made_at(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).ok()?.created().ok()
}

/// Always 0, as there is no inode: the time of creation tells files apart.
pub(crate) fn inode(_found: &std::fs::Metadata) -> u64 {
    0
}

/// The user's settings, which move with their profile.
pub(crate) fn config_home() -> Option<PathBuf> {
    dirs::config_dir()
}

pub(crate) fn state_home() -> Option<PathBuf> {
    dirs::data_local_dir()
}

pub(crate) fn data_home() -> Option<PathBuf> {
    dirs::data_local_dir()
}

pub(crate) fn same_variable(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Symbolic link at `place` to a folder.
///
/// # Errors
///
/// Where the system refuses to make the link: not every user may.
pub fn link_folder(folder: &Path, place: &Path) -> io::Result<()> {
    std::os::windows::fs::symlink_dir(folder, place)
}

/// Always true: a folder's list of rights is not read.
pub fn may_write(_folder: &Path) -> bool {
    true
}

/// No operation: the rights of a folder do not keep its files from being removed.
pub fn make_removable(_folder: &Path) {}
