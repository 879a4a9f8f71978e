//! A git index of omo's own, to build trees without a change of the user's index.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

use omo_state::files::regular_file;

use crate::index_lock::remove_file;
use crate::repository::{GitFailed, GitRepository, trimmed_line};

pub(crate) struct PrivateIndex<'r> {
    repository: &'r GitRepository,
    pub(crate) path: PathBuf,
    /// Empty tree in place of all attributes, which would have git store other bytes than those on
    /// disk.
    attributes: Option<String>,
}

impl<'r> PrivateIndex<'r> {
    pub(crate) fn new(repository: &'r GitRepository, path: PathBuf) -> Self {
        Self {
            repository,
            path,
            attributes: None,
        }
    }

    /// Index for which no attribute counts.
    pub(crate) fn without_attributes(
        repository: &'r GitRepository,
        path: PathBuf,
    ) -> Result<Self, GitFailed> {
        Ok(Self {
            repository,
            path,
            attributes: Some(repository.empty_tree()?),
        })
    }

    fn variables(&self) -> Vec<(&'static str, &OsStr)> {
        let attributes = self
            .attributes
            .iter()
            .map(|tree| ("GIT_ATTR_SOURCE", OsStr::new(tree)));
        attributes
            .chain([("GIT_INDEX_FILE", self.path.as_os_str())])
            .collect()
    }

    pub(crate) fn answer(
        &self,
        arguments: &[&str],
        input: &[u8],
    ) -> Result<(i32, Vec<u8>), GitFailed> {
        self.repository.answer(arguments, &self.variables(), input)
    }

    pub(crate) fn git(&self, arguments: &[&str], input: &[u8]) -> Result<Vec<u8>, GitFailed> {
        self.repository
            .git_with(arguments, &self.variables(), input)
    }

    pub(crate) fn tree(&self) -> Result<String, GitFailed> {
        Ok(trimmed_line(
            &self.git(&["write-tree", "--missing-ok"], &[])?,
        ))
    }

    /// Tree with changes in the form of `git update-index`.
    pub(crate) fn tree_with(
        &self,
        tree: &str,
        options: &[&str],
        changes: &[u8],
    ) -> Result<String, GitFailed> {
        if changes.is_empty() {
            return Ok(tree.to_owned());
        }
        self.git(&["read-tree", tree], &[])?;
        self.git(
            &[["update-index", "-z"].as_slice(), options].concat(),
            changes,
        )?;
        self.tree()
    }

    pub(crate) fn remove(&self) -> io::Result<()> {
        remove_file(&self.path)
    }

    /// Copies another index with its time, by which git finds racily clean files; `false` without one.
    pub(crate) fn copy(&self, from: &Path) -> io::Result<bool> {
        let mut source = match regular_file::open(from) {
            Ok(Some(source)) => source,
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            Ok(None) | Err(_) => return Ok(false),
        };
        let time = source.metadata()?.modified()?;
        let mut copy = File::create(&self.path)?;
        io::copy(&mut source, &mut copy)?;
        copy.set_modified(time)?;
        Ok(true)
    }
}
