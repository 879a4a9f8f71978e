//! Names and texts of the files at a project's top, by which its test command is detected.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_state::files::regular_file::{self, Links};
use serde_json::Value as Json;

const MAX_NAMES: usize = 4_096;
const MAX_BYTES: u64 = 256 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EntryKind {
    File,
    Folder,
    /// A link, which is not followed since it may lead out of the project, or a special file.
    Other,
}

pub(super) trait TopFiles {
    fn kind(&self, name: &str) -> Option<EntryKind>;
    /// The file with one of these endings; `None` without one, and for several.
    fn only_file_ending(&self, endings: &[&str]) -> Option<&str>;
    /// Text of a file; `None` where it is missing, too large or no UTF-8.
    fn text(&self, name: &str) -> Option<String>;

    fn has_file(&self, name: &str) -> bool {
        self.kind(name) == Some(EntryKind::File)
    }

    fn json(&self, name: &str) -> Json {
        self.text(name)
            .and_then(|text| serde_json::from_str(&text).ok())
            .unwrap_or_default()
    }

    fn toml(&self, name: &str) -> Json {
        self.text(name)
            .and_then(|text| toml::from_str(&text).ok())
            .unwrap_or_default()
    }

    fn first_file(&self, names: &[&'static str]) -> Option<&'static str> {
        names.iter().copied().find(|name| self.has_file(name))
    }
}

pub(super) struct ProjectFolder {
    root: PathBuf,
    names: BTreeMap<String, EntryKind>,
}

impl ProjectFolder {
    pub(super) fn list(root: &Path) -> Option<Self> {
        let mut names = BTreeMap::new();
        for entry in std::fs::read_dir(root).ok()?.take(MAX_NAMES).flatten() {
            let kind = match entry.file_type() {
                Ok(kind) if kind.is_file() => EntryKind::File,
                Ok(kind) if kind.is_dir() => EntryKind::Folder,
                _ => EntryKind::Other,
            };
            if let Ok(name) = entry.file_name().into_string() {
                names.insert(name, kind);
            }
        }
        Some(Self {
            root: root.to_owned(),
            names,
        })
    }
}

impl TopFiles for ProjectFolder {
    fn kind(&self, name: &str) -> Option<EntryKind> {
        self.names.get(name).copied()
    }

    fn only_file_ending(&self, endings: &[&str]) -> Option<&str> {
        only_ending(&self.names, endings)
    }

    fn text(&self, name: &str) -> Option<String> {
        if !self.has_file(name) {
            return None;
        }
        let bytes = regular_file::read(&self.root.join(name), MAX_BYTES, Links::Refused).ok()??;
        String::from_utf8(bytes).ok()
    }
}

pub(super) fn only_ending<'a>(
    names: &'a BTreeMap<String, EntryKind>,
    endings: &[&str],
) -> Option<&'a str> {
    let mut files = names.iter().filter(|(name, kind)| {
        **kind == EntryKind::File && endings.iter().any(|ending| name.ends_with(ending))
    });
    let first = files.next();
    first
        .filter(|_| files.next().is_none())
        .map(|(name, _)| name.as_str())
}
