//! Files that git keeps in another form than a work tree has them: through a filter, in another encoding, or with other
//! ends of lines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git_output::{list, lossy_text};
use crate::platform::path_of;
use crate::repository::{GitFailed, GitRepository};

/// Settings that make a file of what git keeps of it.
const SETTINGS: &str = r"^(filter\..*\.(smudge|process)|core\.(autocrlf|eol))$";
const ASK_ATTRIBUTES: [&str; 8] = [
    "check-attr",
    "-z",
    "--stdin",
    "filter",
    "working-tree-encoding",
    "ident",
    "text",
    "eol",
];
/// Filter of git-lfs: content tells whether such a file is in another form.
const LARGE_FILES: &str = "lfs";

/// Files that git keeps in another form than the work tree has them.
#[derive(Debug, Default)]
pub struct ConvertedPaths {
    /// Unknown content in the work tree: an encoding in `.gitattributes`, an `$Id$` that git fills
    /// in, or a filter that is set up here. A filter that is only named does nothing.
    pub unknown: BTreeSet<PathBuf>,
    /// Their lines end with CR LF in the work tree, and with LF in git.
    pub crlf: BTreeSet<PathBuf>,
}

impl GitRepository {
    /// Files among these, by their paths from the top, that git keeps in another form. Files of
    /// git-lfs are left out: a pointer in the place of one is known by its content.
    ///
    /// # Errors
    ///
    /// git fails.
    pub fn converted_paths<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
    ) -> Result<ConvertedPaths, GitFailed> {
        let asked = list(paths.map(|path| path.as_os_str().as_encoded_bytes()));
        let mut converted = ConvertedPaths::default();
        if asked.is_empty() {
            return Ok(converted);
        }
        let settings = self.settings_of_conversion()?;
        let is_set_up = |name: &[u8]| {
            let name = std::str::from_utf8(name)
                .ok()
                .filter(|name| *name != LARGE_FILES);
            let has = |program: &str| {
                name.is_some_and(|name| settings.contains_key(&format!("filter.{name}.{program}")))
            };
            has("smudge") || has("process")
        };
        let value = |name: &str| {
            settings
                .get(name)
                .map(|value| value.to_ascii_lowercase())
                .unwrap_or_default()
        };
        let (autocrlf, eol) = (value("core.autocrlf"), value("core.eol"));
        let is_crlf_by_setting =
            |is_text: bool| autocrlf == "true" || (is_text && autocrlf != "input" && eol == "crlf");
        let said = self.git_with(&ASK_ATTRIBUTES, &[], &asked)?;
        let words: Vec<&[u8]> = said.split(|byte| *byte == 0).collect();
        let mut by_path: BTreeMap<&[u8], BTreeMap<&[u8], &[u8]>> = BTreeMap::new();
        for entry in words.chunks_exact(3) {
            if let [path, attribute, state] = entry {
                by_path.entry(path).or_default().insert(attribute, state);
            }
        }
        for (path, attributes) in by_path {
            let state = |name: &str| {
                attributes
                    .get(name.as_bytes())
                    .copied()
                    .unwrap_or(b"unspecified")
            };
            let is_named = |state: &[u8]| !matches!(state, b"unspecified" | b"unset" | b"set");
            let (text, eol) = (state("text"), state("eol"));
            if is_set_up(state("filter"))
                || is_named(state("working-tree-encoding"))
                || state("ident") == b"set"
            {
                converted.unknown.insert(path_of(path));
            } else if text != b"unset"
                && (eol == b"crlf" || (eol != b"lf" && is_crlf_by_setting(text != b"unspecified")))
            {
                converted.crlf.insert(path_of(path));
            }
        }
        Ok(converted)
    }

    fn settings_of_conversion(&self) -> Result<BTreeMap<String, String>, GitFailed> {
        let list = ["config", "-z", "--get-regexp", SETTINGS];
        let (status, said) = self.status_and_output(&list)?;
        // 1 says that there are none.
        if !matches!(status, 0 | 1) {
            return Err(self.failure_of(&list));
        }
        let said = lossy_text(&said);
        let entries = said.split('\0').filter(|entry| !entry.is_empty());
        let entries = entries.map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
        // omo itself sets programs to nothing, behind what the repository says.
        let entries = entries.filter(|(_, value)| !value.is_empty());
        Ok(entries
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }
}
