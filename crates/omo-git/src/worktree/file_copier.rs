//! Copying files that git does not have: within bounds, and through no link.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

use omo_state::files::regular_file;

use crate::made_folders::{BUILT, is_left_out};

/// More files than this, or more bytes, are no settings and no notes.
const MAX_FILES: usize = 10_000;
const MAX_BYTES: u64 = 1024 * 1024 * 1024;
/// How deep folders are followed.
const MAX_DEPTH: usize = 64;
/// Copies from one folder to another, by the same paths in both.
#[derive(Debug)]
pub(super) struct FileCopier<'a> {
    from: &'a Path,
    to: &'a Path,
    /// A file that is here with the same content needs no copy.
    known: Option<&'a Path>,
    /// What is copied from goes away: its files only get another name. There may be more of them than the limits of a
    /// copy allow.
    is_moving: bool,
    files: usize,
    bytes: u64,
    /// What was copied, by its path.
    pub(super) copied: Vec<String>,
    /// What was not, by its path.
    pub(super) not_copied: Vec<String>,
}

impl<'a> FileCopier<'a> {
    pub(super) fn new(from: &'a Path, to: &'a Path) -> Self {
        Self { from, to, known: None, is_moving: false, files: 0, bytes: 0, copied: Vec::new(), not_copied: Vec::new() }
    }

    /// Those of a folder that will be removed.
    pub(super) fn for_removal(from: &'a Path, to: &'a Path, known: &'a Path) -> Self {
        Self { known: Some(known), is_moving: true, ..Self::new(from, to) }
    }

    /// Copies a file, or a folder with all below it but what a build makes; `is_whole` takes a
    /// repository within the worktree as it is, builds and all.
    pub(super) fn copy_path(&mut self, path: &Path, is_whole: bool) {
        if !is_whole && path.components().any(|part| is_build_folder(&part)) {
            return;
        }
        if !path.components().all(|part| matches!(part, Component::Normal(_)))
            || self.try_copy(path, is_whole).is_none()
        {
            self.not_copied.push(path.to_string_lossy().into_owned());
        }
    }

    fn try_copy(&mut self, path: &Path, is_whole: bool) -> Option<()> {
        if path.components().count() > MAX_DEPTH {
            return None;
        }
        let source = self.from.join(path);
        let kind = source.symlink_metadata().ok()?;
        if kind.is_dir() {
            for entry in fs::read_dir(&source).ok()? {
                self.copy_path(&path.join(entry.ok()?.file_name()), is_whole);
            }
            return Some(());
        }
        if kind.is_symlink() {
            self.count(0)?;
            return self.note_link(path, &source);
        }
        // What is no file, a FIFO say, holds nothing.
        if !kind.is_file() || self.known.is_some_and(|known| is_same(&source, &known.join(path))) {
            return Some(());
        }
        let target = self.prepare_target(path)?;
        if is_same(&source, &target) {
            return Some(());
        }
        let part = part_file(&target);
        // One that an earlier try has left may be the very file.
        let _ = fs::remove_file(&part);
        if !self.is_moving || fs::hard_link(&source, &part).is_err() {
            self.count(kind.len())?;
            let mut written = fs::File::create(&part).ok()?;
            std::io::copy(&mut regular_file::open(&source).ok()??, &mut written).ok()?;
            written.sync_all().ok()?;
            fs::set_permissions(&part, kind.permissions()).ok()?;
        }
        fs::rename(&part, &target).ok()?;
        self.copied.push(path.to_string_lossy().into_owned());
        Some(())
    }

    /// Counts a file that is copied; `None` where it is one too many.
    fn count(&mut self, bytes: u64) -> Option<()> {
        self.files += 1;
        self.bytes = self.bytes.checked_add(bytes)?;
        (self.files <= MAX_FILES && self.bytes <= MAX_BYTES).then_some(())
    }

    /// A link is kept as a file that says where it led: made again as a link, it could lead anywhere.
    fn note_link(&mut self, path: &Path, source: &Path) -> Option<()> {
        let says = fs::read_link(source).ok()?;
        let mut name = path.as_os_str().to_owned();
        name.push(".omo-link");
        let target = self.prepare_target(Path::new(&name))?;
        fs::write(target, says.as_os_str().as_encoded_bytes()).ok()?;
        self.copied.push(path.to_string_lossy().into_owned());
        Some(())
    }

    /// Where a file is copied to, with its folders made; `None` where a link stands in the way, or
    /// another file has its place.
    fn prepare_target(&self, path: &Path) -> Option<PathBuf> {
        fs::create_dir_all(self.to).ok()?;
        let mut folder = self.to.to_owned();
        for part in path.parent()?.components() {
            folder.push(part);
            match fs::create_dir(&folder) {
                Ok(()) => {}
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(_) => return None,
            }
            if !folder.symlink_metadata().ok()?.is_dir() {
                return None;
            }
        }
        let target = self.to.join(path);
        match target.symlink_metadata() {
            Err(error) if error.kind() == ErrorKind::NotFound => Some(target),
            Ok(found) if found.is_file() => Some(target),
            _ => None,
        }
    }
}

fn is_build_folder(part: &Component) -> bool {
    part.as_os_str().to_str().is_some_and(|name| name == "target" || is_left_out(name) && !BUILT.contains(&name))
}

fn part_file(target: &Path) -> PathBuf {
    let mut name = target.as_os_str().to_owned();
    name.push(".omo-part");
    PathBuf::from(name)
}

/// Whether two regular files have the same content.
fn is_same(one: &Path, other: &Path) -> bool {
    let same = || {
        if !other.symlink_metadata().ok()?.is_file() {
            return None;
        }
        let (mut one, mut other) = (regular_file::open(one).ok()??, regular_file::open(other).ok()??);
        if one.metadata().ok()?.len() != other.metadata().ok()?.len() {
            return None;
        }
        let (mut first, mut second) = (vec![0; 64 * 1024], vec![0; 64 * 1024]);
        loop {
            let length = one.read(&mut first).ok()?;
            if length == 0 {
                return Some(());
            }
            other.read_exact(second.get_mut(..length)?).ok()?;
            (first.get(..length)? == second.get(..length)?).then_some(())?;
        }
    };
    same().is_some()
}
