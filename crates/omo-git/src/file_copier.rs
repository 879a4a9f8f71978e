//! Copies of files into other trees, without links to the originals; large files share blocks where they can.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind, Read, Seek, Write};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, SystemTime};

use omo_state::files::link_folder;
use omo_state::seal::hex_digest_of_reader;

use crate::folder_path::FolderPath;
use crate::platform::{FolderEntry, OpenFolder, OpenedEntry};

/// Files that a thread takes at a time.
const FILES_AT_ONCE: usize = 500;
const MAX_THREADS: usize = 8;
/// Maximum bytes of a file that is read and written: a copy by the system takes more calls.
const SMALL_FILE: usize = 16 * 1024;
pub(crate) const ASK_EVERY: Duration = Duration::from_millis(50);
const ASK_EVERY_FILES: usize = 32;
/// Larger scripts keep the old place of installation.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024;

/// Reason for an unfinished copy.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A bound was exceeded.
    #[error("{} is too large to be copied", .0.display())]
    TooLarge(PathBuf),
    #[error("it was ended before all was copied")]
    Cancelled,
    #[error("{}: {error}", path.display())]
    File { path: PathBuf, error: io::Error },
}

impl CopyError {
    /// Error by its kind: `FileTooLarge` and `Interrupted` are the first two.
    pub(crate) fn new(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        match error.kind() {
            ErrorKind::FileTooLarge => Self::TooLarge(path),
            ErrorKind::Interrupted => Self::Cancelled,
            _ => Self::File { path, error },
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub enum CopyKind<'a> {
    /// Copies to empty places, with this time and the permissions of a checkout.
    Checkout(SystemTime),
    /// Copies beside existing files, with the same permissions. Links, scripts and module lists
    /// that name the first folder name the second one in the copy.
    Installed(&'a Path, &'a Path),
    /// Copies over existing files, with the same permissions, and notes failures. A link becomes a
    /// file `NAME.omo-link` with its target: as a link it could lead anywhere.
    Noted,
    /// `Noted`, and the originals go, by a hard link or a copy that is safely on the disk.
    Moved,
}

#[derive(Clone, Copy, Debug)]
pub struct CopyOptions<'a> {
    pub kind: CopyKind<'a>,
    /// Maximum number of files and links.
    pub max_files: usize,
    pub max_bytes: u64,
    /// Maximum number of names in a path.
    pub max_depth: usize,
    /// Files with the same content in this tree need no copy.
    pub known: Option<&'a Path>,
    /// `true` for a path to leave out, with all below it.
    pub leaves_out: fn(&Path) -> bool,
}

impl<'a> CopyOptions<'a> {
    pub const fn all(kind: CopyKind<'a>) -> Self {
        let (max_files, max_bytes, max_depth) = (usize::MAX, u64::MAX, usize::MAX);
        Self {
            kind,
            max_files,
            max_bytes,
            max_depth,
            known: None,
            leaves_out: |_| false,
        }
    }

    fn count(&mut self, bytes: u64) -> io::Result<()> {
        let left = self
            .max_files
            .checked_sub(1)
            .zip(self.max_bytes.checked_sub(bytes));
        (self.max_files, self.max_bytes) = left.ok_or(ErrorKind::FileTooLarge)?;
        Ok(())
    }
}

/// Copies each path below `from` into the first N trees of `to`, with several threads: most of the
/// time is the system's.
pub(crate) fn copy_files(
    (from, to): (&Path, &[&Path]),
    paths: &[(&Path, usize)],
    options: CopyOptions<'_>,
    mut should_continue: impl FnMut() -> bool,
) -> Result<(), CopyError> {
    let most = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(MAX_THREADS);
    let threads = paths.len().div_ceil(FILES_AT_ONCE).clamp(1, most);
    let (is_ended, taken, caller) = (
        &AtomicBool::new(false),
        &AtomicUsize::new(0),
        &thread::current(),
    );
    let copy_chunks = || {
        let mut copier = FileCopier::open(from, to, options)?;
        while let Some(paths) = paths
            .chunks(FILES_AT_ONCE)
            .nth(taken.fetch_add(1, Ordering::Relaxed))
        {
            for (path, count) in paths {
                if is_ended.load(Ordering::Relaxed) {
                    return Err(CopyError::Cancelled);
                }
                copier.copy_file(path, *count)?;
            }
        }
        Ok(())
    };
    thread::scope(|scope| {
        let copiers = (0..threads).map(|_| {
            scope.spawn(|| {
                let copied = copy_chunks();
                caller.unpark();
                copied
            })
        });
        let copiers: Vec<_> = copiers.collect();
        while !copiers.iter().all(thread::ScopedJoinHandle::is_finished) {
            if !should_continue() {
                is_ended.store(true, Ordering::Relaxed);
            }
            thread::park_timeout(ASK_EVERY);
        }
        for copier in copiers {
            copier.join().unwrap_or_else(|_| {
                Err(CopyError::new(
                    from,
                    io::Error::other("a part of the copying panicked"),
                ))
            })?;
        }
        Ok(())
    })
}

/// Copies files from one tree into several others, within `CopyOptions`.
pub struct FileCopier<'a> {
    top: PathBuf,
    from: FolderPath,
    to: Vec<FolderPath>,
    known: Option<FolderPath>,
    /// Options with the bounds that are left.
    pub(crate) options: CopyOptions<'a>,
    buffer: Vec<u8>,
    pub(crate) copied: Vec<String>,
    pub(crate) not_copied: Vec<String>,
}

impl<'a> FileCopier<'a> {
    pub fn open(from: &Path, to: &[&Path], options: CopyOptions<'a>) -> Result<Self, CopyError> {
        let to = to
            .iter()
            .map(|to| Ok(open_tree(to)?.making_folders()))
            .collect::<Result<_, CopyError>>()?;
        Ok(Self {
            top: from.to_owned(),
            from: open_tree(from)?,
            to,
            known: options.known.map(open_tree).transpose()?,
            options,
            buffer: vec![0; SMALL_FILE],
            copied: Vec::new(),
            not_copied: Vec::new(),
        })
    }

    /// Copies a file or a link into the first `count` trees; not one that is missing, or behind a link.
    pub fn copy_file(&mut self, path: &Path, count: usize) -> Result<(), CopyError> {
        self.try_create((path, path), count)
            .map_err(|error| CopyError::new(path, error))
    }

    /// Copies a file, or a folder with all below, through links on its way: the trees share nothing.
    pub fn copy_real(
        &mut self,
        path: &Path,
        mut should_continue: impl FnMut() -> bool,
    ) -> Result<(), CopyError> {
        self.try_copy_real(path, &mut should_continue)
            .map_err(|error| CopyError::new(path, error))
    }

    fn try_copy_real(
        &mut self,
        path: &Path,
        should_continue: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let source = self.top.join(path).canonicalize()?;
        let (Some(above), Some(name)) = (source.parent(), source.file_name()) else {
            return Ok(());
        };
        self.from = FolderPath::open(above)?;
        self.copy_tree((Path::new(name), path), should_continue)
    }

    /// Copies a file, or a folder with all below, with notes of failures.
    pub(crate) fn copy_noted(&mut self, path: &Path) {
        let _ = self.copy_tree((path, path), &mut || true);
    }

    fn copy_tree(
        &mut self,
        paths: (&Path, &Path),
        should_continue: &mut dyn FnMut() -> bool,
    ) -> io::Result<()> {
        let copied = self.try_copy_tree(paths, should_continue);
        let list = match (copied, self.options.kind) {
            (copied, CopyKind::Checkout(_) | CopyKind::Installed(..)) => return copied.map(drop),
            (Ok(false), _) => return Ok(()),
            (Ok(true), _) => &mut self.copied,
            (Err(_), _) => &mut self.not_copied,
        };
        list.push(paths.1.to_string_lossy().into_owned());
        Ok(())
    }

    fn try_copy_tree(
        &mut self,
        (from, to): (&Path, &Path),
        should_continue: &mut dyn FnMut() -> bool,
    ) -> io::Result<bool> {
        if (self.options.leaves_out)(to) {
            return Ok(false);
        }
        if self.options.max_files.is_multiple_of(ASK_EVERY_FILES) && !should_continue() {
            return Err(ErrorKind::Interrupted.into());
        }
        if to.components().count() > self.options.max_depth {
            return Err(ErrorKind::FileTooLarge.into());
        }
        let is_plain = to
            .components()
            .all(|part| matches!(part, Component::Normal(_)));
        let name = from
            .file_name()
            .filter(|_| is_plain)
            .ok_or(ErrorKind::InvalidInput)?;
        match (
            self.from
                .parent_of(from)?
                .ok_or(ErrorKind::NotFound)?
                .look(name)?,
            self.options.kind,
        ) {
            (FolderEntry::Other, _) => return Ok(false),
            (FolderEntry::Folder, CopyKind::Installed(..)) => {
                self.options.count(0)?;
                // Also an empty one.
                self.to
                    .first_mut()
                    .map(|new| new.folder(to).map(drop))
                    .transpose()?;
            }
            (FolderEntry::Folder, _) => {}
            (_, CopyKind::Noted | CopyKind::Moved) => return self.try_replace((from, to)),
            _ => {
                return match self.try_create((from, to), 1) {
                    Err(error) if error.kind() != ErrorKind::AlreadyExists => Err(error),
                    _ => Ok(true),
                };
            }
        }
        for name in self
            .from
            .folder(from)?
            .ok_or(ErrorKind::NotFound)?
            .names()?
        {
            self.copy_tree((&from.join(&name), &to.join(&name)), should_continue)?;
        }
        Ok(false)
    }

    fn try_create(&mut self, (from, to): (&Path, &Path), count: usize) -> io::Result<()> {
        let names = from.file_name().zip(to.file_name());
        let Some(((name, new_name), source)) = names.zip(self.from.parent_of(from)?) else {
            return Ok(());
        };
        let (mut file, is_executable, size) = match source.open_entry(name)? {
            OpenedEntry::File {
                file,
                is_executable,
                size,
            } => (file, is_executable, size),
            OpenedEntry::Link(target) => {
                self.options.count(0)?;
                for folders in self.to.iter_mut().take(count) {
                    match (folders.parent_of(to)?, self.options.kind) {
                        (None, _) => {}
                        (Some(_), CopyKind::Installed(old, new)) => {
                            let below = Path::new(&target).strip_prefix(old);
                            link_folder(
                                &below.map_or(target.clone().into(), |below| new.join(below)),
                                &new.join(to),
                            )?;
                        }
                        (Some(folder), _) => folder.link(new_name, &target)?,
                    }
                }
                return Ok(());
            }
            OpenedEntry::Other => return Ok(()),
        };
        self.options.count(size)?;
        let rights = file.metadata()?.permissions();
        let script = match self.options.kind {
            CopyKind::Installed(old, new) => moved_script(&mut file, to, size, (old, new))?,
            _ => None,
        };
        let small = match &script {
            Some(text) => Some(text.as_bytes()),
            None => read_small(&mut file, size, &mut self.buffer)?,
        };
        for folders in self.to.iter_mut().take(count) {
            let Some(folder) = folders.parent_of(to)? else {
                continue;
            };
            let mut copy = folder.check_out(new_name, is_executable)?;
            if let Some(content) = small {
                copy.write_all(content)?;
            } else {
                // From its beginning: blocks are shared as a whole.
                file.rewind()?;
                io::copy(&mut file, &mut copy)?;
                // The next copy is one of this copy, whatever is written to the file meanwhile.
                file = folder.read(new_name)?;
            }
            match self.options.kind {
                CopyKind::Checkout(time) => copy.set_modified(time)?,
                _ => copy.set_permissions(rights.clone())?,
            }
        }
        Ok(())
    }

    /// Copies a file or a link into the first tree, over a file; `false` for the same content.
    fn try_replace(&mut self, (from, to): (&Path, &Path)) -> io::Result<bool> {
        let names = from.file_name().zip(to.file_name());
        let place = names
            .zip(self.from.parent_of(from)?)
            .zip(self.to.first_mut());
        let (((name, new_name), source), folders) = place.ok_or(ErrorKind::NotFound)?;
        let mut opened = source.open_entry(name);
        let is_link = matches!(opened, Ok(OpenedEntry::Link(_)));
        let moves = matches!(self.options.kind, CopyKind::Moved);
        let mut new_name = new_name.to_owned();
        new_name.push(if is_link { ".omo-link" } else { "" });
        let target = folders.parent_of(to)?.ok_or(ErrorKind::AlreadyExists)?;
        if !matches!(
            target.look(&new_name)?,
            FolderEntry::Nothing | FolderEntry::File { .. }
        ) {
            return Err(ErrorKind::AlreadyExists.into());
        }
        if let Ok(OpenedEntry::File { file, .. }) = &mut opened {
            let known = self
                .known
                .as_mut()
                .map(|known| known.parent_of(from))
                .transpose()?
                .flatten();
            if known.is_some_and(|known| is_same(file, known, name))
                || is_same(file, target, &new_name)
            {
                return Ok(false);
            }
        }
        let mut part = new_name.clone();
        part.push(".omo-part");
        // A former try may have left the very file.
        let _ = target.remove(&part);
        // An unreadable file can be linked all the same.
        if is_link || !moves || source.add_name(name, target, &part).is_err() {
            let opened = opened?;
            if matches!(opened, OpenedEntry::Other) {
                return Err(ErrorKind::NotFound.into());
            }
            self.options
                .count(if let OpenedEntry::File { size, .. } = &opened {
                    *size
                } else {
                    0
                })?;
            let mut copy = target.check_out(&part, false)?;
            match opened {
                OpenedEntry::Link(leads_to) => copy.write_all(leads_to.as_encoded_bytes())?,
                OpenedEntry::File { mut file, .. } => {
                    file.rewind()?;
                    io::copy(&mut file, &mut copy)?;
                    copy.set_permissions(file.metadata()?.permissions())?;
                }
                OpenedEntry::Other => {}
            }
            if moves {
                copy.sync_all()?;
            }
        }
        target.rename(&part, &new_name)?;
        Ok(true)
    }
}

fn open_tree(tree: &Path) -> Result<FolderPath, CopyError> {
    FolderPath::open(tree).map_err(|error| CopyError::new(tree, error))
}

/// Text of a script, or a module list, that names the old project folder, with the new one; `None` for other files.
fn moved_script(
    file: &mut File,
    path: &Path,
    size: u64,
    (old, new): (&Path, &Path),
) -> io::Result<Option<String>> {
    let is_in_bin = path
        .parent()
        .and_then(Path::file_name)
        .is_some_and(|name| name == "bin" || name == "Scripts");
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default();
    let ending = path
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or_default();
    let names_folders = matches!(ending, "pth" | "egg-link") || name.starts_with("__editable__");
    if size > MAX_SCRIPT_BYTES || !(is_in_bin || names_folders) {
        return Ok(None);
    }
    let (Some(old), Some(new)) = (old.to_str(), new.to_str()) else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    file.rewind()?;
    let text = String::from_utf8(bytes).ok();
    Ok(text
        .filter(|text| text.contains(old))
        .map(|text| text.replace(old, new)))
}

/// `None` for a file above the buffer.
fn read_small<'b>(
    file: &mut File,
    size: u64,
    buffer: &'b mut [u8],
) -> io::Result<Option<&'b [u8]>> {
    let mut filled = 0;
    while let Some(rest) = buffer.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        let wanted = rest.len();
        match file.read(rest) {
            Ok(0) => return Ok(buffer.get(..filled)),
            Ok(count) => {
                filled += count;
                // Less than was asked for, and the whole size: nothing comes after it.
                if count < wanted && filled as u64 == size {
                    return Ok(buffer.get(..filled));
                }
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(None)
}

fn is_same(file: &mut File, folder: &OpenFolder, name: &OsStr) -> bool {
    let Ok(OpenedEntry::File {
        file: other, size, ..
    }) = folder.open_entry(name)
    else {
        return false;
    };
    let has_size = file.rewind().is_ok() && file.metadata().is_ok_and(|meta| meta.len() == size);
    has_size
        && hex_digest_of_reader(&*file, size)
            .is_some_and(|digest| hex_digest_of_reader(other, size) == Some(digest))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new_trees(folder: &tempfile::TempDir) -> [PathBuf; 2] {
        ["from", "to"].map(|name| {
            let tree = folder.path().join(name);
            std::fs::create_dir(&tree).map(|()| tree).unwrap()
        })
    }

    #[test]
    fn copies_files_around_the_size_of_a_small_one() {
        let folder = tempfile::tempdir().unwrap();
        let [from, one, other] = ["from", "one", "other"].map(|name| folder.path().join(name));
        for tree in [&from, &one, &other] {
            std::fs::create_dir(tree).unwrap();
        }
        let checkout = CopyKind::Checkout(SystemTime::UNIX_EPOCH);
        let mut copier =
            FileCopier::open(&from, &[&one, &other], CopyOptions::all(checkout)).unwrap();
        for size in [
            0,
            1,
            SMALL_FILE - 1,
            SMALL_FILE,
            SMALL_FILE + 1,
            3 * SMALL_FILE,
        ] {
            let bytes: Vec<u8> = (0..=250).cycle().take(size).collect();
            let name = size.to_string();
            std::fs::write(from.join(&name), &bytes).unwrap();
            copier.copy_file(Path::new(&name), 2).unwrap();
            for tree in [&one, &other] {
                assert!(
                    std::fs::read(tree.join(&name)).unwrap() == bytes,
                    "{size} bytes"
                );
            }
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_tree_is_the_same_in_its_copy_and_shares_nothing_with_it() {
        use std::fs::{self, Permissions};
        use std::os::unix::ffi::OsStrExt;
        use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

        for is_installed in [true, false] {
            let folder = tempfile::tempdir().unwrap();
            let [from, to] =
                ["from", "to"].map(|name| folder.path().canonicalize().unwrap().join(name));
            let kind = if is_installed {
                CopyKind::Installed(&from, &to)
            } else {
                CopyKind::Noted
            };
            let odd = OsStr::from_bytes(b"no text \xff");
            for inner in ["tree/empty", "tree/inner/.git", "to"] {
                fs::create_dir_all(folder.path().join(inner.replace("tree", "from/tree"))).unwrap();
            }
            let tree = from.join("tree");
            let files = [
                (odd, 0o640),
                (OsStr::new("program"), 0o755),
                (OsStr::new("inner/.git/HEAD"), 0o444),
            ];
            for (name, mode) in files {
                fs::write(tree.join(name), name.as_bytes()).unwrap();
                fs::set_permissions(tree.join(name), Permissions::from_mode(mode)).unwrap();
            }
            symlink("/nowhere", tree.join("link")).unwrap();
            assert!(
                std::process::Command::new("mkfifo")
                    .arg(tree.join("fifo"))
                    .status()
                    .unwrap()
                    .success()
            );
            FileCopier::open(&from, &[&to], CopyOptions::all(kind))
                .unwrap()
                .copy_real(Path::new("tree"), || true)
                .unwrap();
            let copy = to.join("tree");
            for (name, mode) in files {
                let (original, copied) = (
                    tree.join(name).metadata().unwrap(),
                    copy.join(name).metadata().unwrap(),
                );
                assert_eq!(
                    fs::read(copy.join(name)).unwrap(),
                    name.as_bytes(),
                    "{name:?}"
                );
                assert!(
                    copied.mode() & 0o777 == mode && copied.ino() != original.ino(),
                    "{name:?}"
                );
            }
            if is_installed {
                assert_eq!(
                    fs::read_link(copy.join("link")).unwrap(),
                    Path::new("/nowhere")
                );
                assert!(copy.join("empty").is_dir());
            } else {
                assert_eq!(
                    fs::read_to_string(copy.join("link.omo-link")).unwrap(),
                    "/nowhere"
                );
            }
            assert!(!copy.join("fifo").exists());
        }
    }

    #[cfg(unix)]
    #[test]
    fn programs_of_a_copied_environment_run_those_beside_them() {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::{PermissionsExt, symlink};
        use std::process::Command;
        let folder = tempfile::tempdir().unwrap();
        let [from, to] =
            ["from", "to"].map(|name| folder.path().canonicalize().unwrap().join(name));
        let venv = from.join(".venv");
        for inner in [venv.join("bin"), venv.join("lib/site-packages"), to.clone()] {
            fs::create_dir_all(inner).unwrap();
        }
        let bin = |tree: &Path, name: &str| tree.join(".venv/bin").join(name);
        for (name, text) in [
            ("python3", "#!/bin/sh\necho \"$0\"\n".to_owned()),
            (
                "tool",
                format!(
                    "#!/bin/sh\nexec '{}' \"$@\"\n",
                    bin(&from, "python3").display()
                ),
            ),
            (
                "linked",
                format!("#!/bin/sh\nexec '{}'\n", bin(&from, "python").display()),
            ),
        ] {
            fs::write(bin(&from, name), text).unwrap();
            fs::set_permissions(bin(&from, name), Permissions::from_mode(0o755)).unwrap();
        }
        symlink(bin(&from, "python3"), bin(&from, "python")).unwrap();
        symlink("python3", bin(&from, "python3.12")).unwrap();
        let module_folder = ".venv/lib/site-packages/project.pth";
        fs::write(
            from.join(module_folder),
            from.join("src").as_os_str().as_encoded_bytes(),
        )
        .unwrap();
        let binary = [b"\xff\0".as_slice(), from.as_os_str().as_encoded_bytes()].concat();
        fs::write(bin(&from, "binary"), &binary).unwrap();
        let kind = CopyKind::Installed(&from, &to);
        FileCopier::open(&from, &[&to], CopyOptions::all(kind))
            .unwrap()
            .copy_real(Path::new(".venv"), || true)
            .unwrap();
        for (name, runs) in [
            ("tool", "python3"),
            ("linked", "python"),
            ("python3.12", "python3.12"),
        ] {
            let output = Command::new(bin(&to, name)).output().unwrap();
            assert_eq!(
                String::from_utf8(output.stdout).unwrap(),
                format!("{}\n", bin(&to, runs).display()),
                "{name}"
            );
        }
        assert_eq!(
            fs::read_link(bin(&to, "python")).unwrap(),
            bin(&to, "python3")
        );
        assert_eq!(
            fs::read_link(bin(&to, "python3.12")).unwrap(),
            Path::new("python3")
        );
        assert_eq!(
            fs::read_to_string(to.join(module_folder)).unwrap(),
            to.join("src").to_str().unwrap()
        );
        assert_eq!(fs::read(bin(&to, "binary")).unwrap(), binary, "no text");
        assert!(
            fs::read_to_string(bin(&from, "tool"))
                .unwrap()
                .contains(from.to_str().unwrap())
        );
    }

    #[test]
    fn a_file_that_vanished_leaves_the_one_that_was_kept() {
        for kind in [CopyKind::Noted, CopyKind::Moved] {
            let folder = tempfile::tempdir().unwrap();
            let [from, to] = new_trees(&folder);
            std::fs::write(to.join("notes"), "kept").unwrap();
            let mut copier = FileCopier::open(&from, &[&to], CopyOptions::all(kind)).unwrap();
            copier.copy_noted(Path::new("notes"));
            assert_eq!(
                (copier.copied.len(), copier.not_copied.as_slice()),
                (0, ["notes".to_owned()].as_slice())
            );
            assert_eq!(std::fs::read_to_string(to.join("notes")).unwrap(), "kept");
            assert_eq!(to.read_dir().unwrap().count(), 1);
        }
    }

    #[test]
    fn a_file_above_the_bound_is_left_out_and_smaller_ones_are_copied() {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = new_trees(&folder);
        let bound = 256 * 1024 * 1024;
        File::create(from.join("large"))
            .unwrap()
            .set_len(bound + 1)
            .unwrap();
        std::fs::write(from.join("small"), "text").unwrap();
        let options = CopyOptions {
            max_bytes: bound,
            ..CopyOptions::all(CopyKind::Noted)
        };
        let mut copier = FileCopier::open(&from, &[&to], options).unwrap();
        for name in ["large", "small"] {
            copier.copy_real(Path::new(name), || true).unwrap();
        }
        assert_eq!(
            (copier.copied.concat(), copier.not_copied.concat()),
            ("small".to_owned(), "large".to_owned())
        );
        assert_eq!(std::fs::read_to_string(to.join("small")).unwrap(), "text");
        assert_eq!(to.read_dir().unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn a_file_without_read_permission_is_moved_and_one_above_the_bounds_as_well() {
        use std::fs::{self, Permissions};
        use std::os::unix::fs::PermissionsExt;

        let folder = tempfile::tempdir().unwrap();
        let [from, to] = new_trees(&folder);
        fs::write(from.join("closed"), "text").unwrap();
        fs::set_permissions(from.join("closed"), Permissions::from_mode(0o000)).unwrap();
        for (kind, copied, not_copied) in [
            (CopyKind::Noted, "", "closed"),
            (CopyKind::Moved, "closed", ""),
        ] {
            let options = CopyOptions {
                max_files: 0,
                ..CopyOptions::all(kind)
            };
            let mut copier = FileCopier::open(&from, &[&to], options).unwrap();
            copier.copy_noted(Path::new("closed"));
            assert_eq!(
                (copier.copied.concat(), copier.not_copied.concat()),
                (copied.to_owned(), not_copied.to_owned())
            );
        }
        let copied = to.join("closed");
        fs::set_permissions(&copied, Permissions::from_mode(0o600)).unwrap();
        assert_eq!(fs::read_to_string(copied).unwrap(), "text");
    }

    #[test]
    fn reads_all_of_a_file_that_grew_since_its_size_was_asked_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, "more than three").unwrap();
        for size in [0, 3, 15, 100] {
            let mut buffer = [0; 100];
            let read = read_small(&mut File::open(&path).unwrap(), size, &mut buffer).unwrap();
            assert_eq!(read, Some(b"more than three".as_slice()), "{size}");
        }
    }
}
