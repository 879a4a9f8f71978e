//! What was installed for a project and is no part of it: copied once for both sides, never shared with the project, since
//! a check may write there. Where the file system can, a copy shares what is in a file until one of the two is written.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use omo_git::made_folders::INSTALLED;
use omo_state::files::regular_file;

/// More files, or more bytes, are not copied.
const MAX_FILES: usize = 300_000;
const MAX_BYTES: u64 = 4 * 1024 * 1024 * 1024;
const MAX_DEPTH: usize = 128;
/// After so many files it is asked whether the copy is still needed.
const ASK_EVERY_FILES: usize = 256;
/// A larger file is no script that says where it was installed.
const MAX_SCRIPT_BYTES: u64 = 64 * 1024;

/// Why what is installed is not there in a copy.
#[derive(Debug, thiserror::Error)]
pub enum InstalledError {
    /// There is too much of it.
    #[error("{} is too large to be copied", .0.display())]
    TooLarge(PathBuf),
    /// It was ended before all was copied.
    #[error("it was ended before all was copied")]
    Cancelled,
    /// A file cannot be read or written.
    #[error("{}: {error}", path.display())]
    File {
        /// Which.
        path: PathBuf,
        /// Why.
        error: io::Error,
    },
}

/// How a copy ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CopyEnd {
    Whole,
    TooLarge,
    Cancelled,
}

/// Of the paths that git ignores, those at which something is installed.
pub(crate) fn installed_folders(ignored: Vec<PathBuf>) -> BTreeSet<PathBuf> {
    let is_installed =
        |path: &PathBuf| path.file_name().and_then(|name| name.to_str()).is_some_and(|name| INSTALLED.contains(&name));
    ignored.into_iter().filter(is_installed).collect()
}

/// Copies what is installed at the ignored paths of a project into another work tree of it.
///
/// # Errors
///
/// It is too large, cannot be read or written, or was cancelled.
pub fn copy_installed(
    from: &Path,
    to: &Path,
    ignored: Vec<PathBuf>,
    mut should_continue: impl FnMut() -> bool,
) -> Result<(), InstalledError> {
    let mut copy = InstalledCopy::new(from, to);
    installed_folders(ignored).iter().try_for_each(|path| copy.copy(path, &mut should_continue))
}

/// Copies from one top to another. What says in a text where the project is says in the copy where that is.
pub(crate) struct InstalledCopy<'a> {
    from: &'a Path,
    to: &'a Path,
    files: usize,
    bytes: u64,
}

impl<'a> InstalledCopy<'a> {
    pub(crate) fn new(from: &'a Path, to: &'a Path) -> Self {
        Self { from, to, files: 0, bytes: 0 }
    }

    /// Copies a file or a folder by the same path; what is there already stays. Where the path itself is a link to a
    /// folder, what it leads to is copied: the two sides share nothing.
    ///
    /// # Errors
    ///
    /// It is too large, cannot be read or written, or was cancelled.
    pub(crate) fn copy(
        &mut self,
        path: &Path,
        should_continue: &mut impl FnMut() -> bool,
    ) -> Result<(), InstalledError> {
        let file_error = |error| InstalledError::File { path: path.to_owned(), error };
        let target = self.to.join(path);
        if let Some(parent) = target.parent() {
            fs::create_dir_all(parent).map_err(file_error)?;
        }
        let source = self.from.join(path).canonicalize().map_err(file_error)?;
        match self.try_copy(&source, &target, 0, should_continue) {
            Ok(CopyEnd::Whole) => Ok(()),
            Ok(CopyEnd::TooLarge) => Err(InstalledError::TooLarge(path.to_owned())),
            Ok(CopyEnd::Cancelled) => Err(InstalledError::Cancelled),
            Err(error) => Err(file_error(error)),
        }
    }

    fn try_copy(
        &mut self,
        source: &Path,
        target: &Path,
        depth: usize,
        should_continue: &mut impl FnMut() -> bool,
    ) -> io::Result<CopyEnd> {
        let meta = match source.symlink_metadata() {
            Ok(meta) => meta,
            // It went away meanwhile.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(CopyEnd::Whole),
            Err(error) => return Err(error),
        };
        if self.files.is_multiple_of(ASK_EVERY_FILES) && !should_continue() {
            return Ok(CopyEnd::Cancelled);
        }
        self.files += 1;
        if self.files > MAX_FILES || depth > MAX_DEPTH {
            return Ok(CopyEnd::TooLarge);
        }
        if target.symlink_metadata().is_ok_and(|there| !there.is_dir() || !meta.is_dir()) {
            return Ok(CopyEnd::Whole);
        }
        if meta.is_symlink() {
            return self.copy_link(source, target).map(|()| CopyEnd::Whole);
        }
        if meta.is_dir() {
            match fs::create_dir(target) {
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
            for entry in fs::read_dir(source)? {
                let name = entry?.file_name();
                let end = self.try_copy(&source.join(&name), &target.join(&name), depth + 1, should_continue)?;
                if end != CopyEnd::Whole {
                    return Ok(end);
                }
            }
            return Ok(CopyEnd::Whole);
        }
        let Some(mut file) = regular_file::open(source)?.filter(|_| meta.is_file()) else { return Ok(CopyEnd::Whole) };
        self.bytes = self.bytes.saturating_add(meta.len());
        if self.bytes > MAX_BYTES {
            return Ok(CopyEnd::TooLarge);
        }
        match self.moved_script(source, meta.len())? {
            Some(text) => fs::write(target, text)?,
            None => _ = io::copy(&mut file, &mut fs::File::create(target)?)?,
        }
        fs::set_permissions(target, meta.permissions())?;
        Ok(CopyEnd::Whole)
    }

    /// A link into the project leads into the copy.
    fn copy_link(&self, source: &Path, target: &Path) -> io::Result<()> {
        let leads = fs::read_link(source)?;
        let leads = leads.strip_prefix(self.from).map_or(leads.clone(), |below| self.to.join(below));
        omo_state::files::link_folder(&leads, target)
    }

    /// The text of a script, or of a file that names folders of modules, which says where the project is; `None` for
    /// any other file.
    fn moved_script(&self, path: &Path, length: u64) -> io::Result<Option<String>> {
        let is_in_bin = path.parent().and_then(Path::file_name).is_some_and(|name| name == "bin" || name == "Scripts");
        let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let names_folders = matches!(ending, "pth" | "egg-link") || name.starts_with("__editable__");
        if length > MAX_SCRIPT_BYTES || !(is_in_bin || names_folders) {
            return Ok(None);
        }
        let (Some(from), Some(to)) = (self.from.to_str(), self.to.to_str()) else { return Ok(None) };
        let text = String::from_utf8(fs::read(path)?).ok();
        Ok(text.filter(|text| text.contains(from)).map(|text| text.replace(from, to)))
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_copied_and_names_the_copy() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (from, to) = (base.join("from"), base.join("to"));
        fs::create_dir_all(from.join(".venv/bin")).unwrap();
        fs::create_dir_all(&to).unwrap();
        let top = from.display().to_string();
        fs::write(from.join(".venv/bin/tool"), format!("#!{top}/.venv/bin/python\n")).unwrap();
        fs::write(from.join(".venv/project.pth"), format!("{top}/src\n")).unwrap();
        fs::write(from.join(".venv/data.txt"), &top).unwrap();
        std::os::unix::fs::symlink(from.join("src"), from.join(".venv/src")).unwrap();
        std::os::unix::fs::symlink("../lib", from.join(".venv/lib")).unwrap();
        InstalledCopy::new(&from, &to).copy(Path::new(".venv"), &mut || true).unwrap();
        let shown = to.display();
        let read = |path: &str| fs::read_to_string(to.join(path)).unwrap();
        assert_eq!(read(".venv/bin/tool"), format!("#!{shown}/.venv/bin/python\n"));
        assert_eq!(read(".venv/project.pth"), format!("{shown}/src\n"));
        assert_eq!(read(".venv/data.txt"), top);
        assert_eq!(fs::read_link(to.join(".venv/src")).unwrap(), to.join("src"));
        assert_eq!(fs::read_link(to.join(".venv/lib")).unwrap(), Path::new("../lib"));
    }

    #[test]
    fn only_what_is_installed_is_copied() {
        let ignored = ["node_modules", "packages/a/node_modules", "target", "dist", ".env"].map(PathBuf::from);
        let found: Vec<PathBuf> = installed_folders(ignored.to_vec()).into_iter().collect();
        assert_eq!(found, [PathBuf::from("node_modules"), PathBuf::from("packages/a/node_modules")]);
    }
}
