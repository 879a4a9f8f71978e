//! Files that git stores in another form than on disk: by a filter, an encoding or line ends.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::git_output::{list, lossy_text};
use crate::platform::path_of;
use crate::repository::{GitFailed, GitRepository};

/// Settings of a checkout's conversions.
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
/// Filter of git-lfs, whose pointers are known by their content.
const LARGE_FILES: &str = "lfs";

/// Files whose stored form differs from the one in the work tree.
#[derive(Debug, Default)]
pub struct ConvertedPaths {
    /// Files with an encoding, an `$Id$`, or a filter that is set up here.
    pub unknown: BTreeSet<PathBuf>,
    /// Files with CR LF in the work tree, and LF in git.
    pub crlf: BTreeSet<PathBuf>,
}

impl GitRepository {
    /// Converted files among `paths` from the top, without those of git-lfs.
    pub fn converted_paths<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
    ) -> Result<ConvertedPaths, GitFailed> {
        let input = list(paths.map(|path| path.as_os_str().as_encoded_bytes()));
        let mut converted = ConvertedPaths::default();
        if input.is_empty() {
            return Ok(converted);
        }
        let settings = self.settings_of_conversion()?;
        let ends_of_settings = LineEndSettings::new(&settings);
        let output = self.git_with(&ASK_ATTRIBUTES, &[], &input)?;
        let words: Vec<&[u8]> = output.split(|byte| *byte == 0).collect();
        let mut by_path: BTreeMap<&[u8], BTreeMap<&[u8], &[u8]>> = BTreeMap::new();
        for entry in words.chunks_exact(3) {
            if let [path, attribute, state] = entry {
                by_path.entry(path).or_default().insert(attribute, state);
            }
        }
        for (path, attributes) in by_path {
            let state = |name: &str| {
                let state: Option<&&[u8]> = attributes.get(name.as_bytes());
                state.copied().unwrap_or(b"unspecified")
            };
            if is_filter_set_up(&settings, state("filter"))
                || !matches!(
                    state("working-tree-encoding"),
                    b"unspecified" | b"unset" | b"set"
                )
                || state("ident") == b"set"
            {
                converted.unknown.insert(path_of(path));
            } else if ends_of_settings.is_crlf(state("text"), state("eol")) {
                converted.crlf.insert(path_of(path));
            }
        }
        Ok(converted)
    }

    fn settings_of_conversion(&self) -> Result<BTreeMap<String, String>, GitFailed> {
        let list = ["config", "-z", "--get-regexp", SETTINGS];
        let (status, output) = self.status_and_output(&list)?;
        // 1: no setting.
        if !matches!(status, 0 | 1) {
            return Err(self.failure_of(&list));
        }
        let output = lossy_text(&output);
        let entries = output.split('\0').filter(|entry| !entry.is_empty());
        let entries = entries.map(|entry| entry.split_once('\n').unwrap_or((entry, "true")));
        // omo itself sets programs to nothing, behind the repository's settings.
        let entries = entries.filter(|(_, value)| !value.is_empty());
        Ok(entries
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect())
    }
}

fn is_filter_set_up(settings: &BTreeMap<String, String>, name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| {
        name != LARGE_FILES
            && ["smudge", "process"]
                .iter()
                .any(|program| settings.contains_key(&format!("filter.{name}.{program}")))
    })
}

/// `core.autocrlf` and `core.eol`, in lower case.
struct LineEndSettings {
    autocrlf: String,
    eol: String,
}

impl LineEndSettings {
    fn new(settings: &BTreeMap<String, String>) -> Self {
        let [autocrlf, eol] = ["core.autocrlf", "core.eol"].map(|name| {
            settings
                .get(name)
                .map(|value| value.to_ascii_lowercase())
                .unwrap_or_default()
        });
        Self { autocrlf, eol }
    }

    /// `text` and `eol` are states of attributes.
    fn is_crlf(&self, text: &[u8], eol: &[u8]) -> bool {
        let is_text = text != b"unspecified";
        let is_crlf_by_setting =
            self.autocrlf == "true" || (is_text && self.autocrlf != "input" && self.eol == "crlf");
        text != b"unset" && (eol == b"crlf" || (eol != b"lf" && is_crlf_by_setting))
    }
}
