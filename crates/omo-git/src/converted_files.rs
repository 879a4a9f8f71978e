//! Files that git keeps in another form than a work tree has them: through a filter, or in another encoding.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::platform::path_of;
use crate::repository::{GitFailed, GitRepository};

/// Settings that make a file of what git keeps of it.
const SMUDGING: &str = r"^filter\..*\.(smudge|process)$";
/// What these files hold tells by itself whether they are in another form.
const LARGE_FILES: &str = "lfs";

impl GitRepository {
    /// Those of these files, by their paths from the top, that git keeps in another form: in an encoding that
    /// `.gitattributes` names, or through a filter that is set up here. A filter that is only named does nothing. Files of
    /// git-lfs are left out: a pointer in the place of one is known by its content.
    ///
    /// # Errors
    ///
    /// git fails.
    pub fn converted_paths<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> Result<BTreeSet<PathBuf>, GitFailed> {
        let asked: Vec<u8> = paths.flat_map(|path| [path.as_os_str().as_encoded_bytes(), b"\0"].concat()).collect();
        if asked.is_empty() {
            return Ok(BTreeSet::new());
        }
        let list = ["config", "-z", "--name-only", "--get-regexp", SMUDGING];
        let (status, said) = self.answer(&list, &[], &[])?;
        // 1 says that there are none.
        if !matches!(status, 0 | 1) {
            return Err(self.failure_of(&list));
        }
        let said = String::from_utf8_lossy(&said).into_owned();
        let filters: BTreeSet<&str> = said
            .split('\0')
            .filter_map(|name| Some(name.strip_prefix("filter.")?.rsplit_once('.')?.0))
            .filter(|name| *name != LARGE_FILES)
            .collect();
        let attributes = ["check-attr", "-z", "--stdin", "filter", "working-tree-encoding"];
        let said = self.git_with(&attributes, &[], &asked)?;
        let words: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
        let is_converted = |entry: &&[&[u8]]| match entry {
            [_, b"filter", name] => std::str::from_utf8(name).is_ok_and(|name| filters.contains(name)),
            [_, _, name] => !matches!(*name, b"unspecified" | b"unset" | b"set"),
            _ => false,
        };
        Ok(words
            .chunks_exact(3)
            .filter(is_converted)
            .filter_map(|entry| entry.first())
            .map(|path| path_of(path))
            .collect())
    }
}
