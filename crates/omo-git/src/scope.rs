//! `FileScope`: the files that count as work, by the ignore rules of a run's start.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use omo_state::env;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock::{DEADLINE, StateLock};
use omo_state::seal::hex_digest;
use omo_state::sealed_json;
use serde::{Deserialize, Serialize};

use crate::own_git_dir::RepositorySettings;
use crate::platform::path_of;

const FOLDER: [&str; 2] = ["omo", "scopes"];
const MAX_BYTES: u64 = 256 * 1024 * 1024;
/// Age after which a scope is deleted: more than any run takes.
const MAX_AGE_SECONDS: i64 = 15 * 24 * 60 * 60;

/// Author of a rule that leaves a file out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeftOutBy {
    Checks,
    /// Rule of the user's settings.
    User,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct FileScope {
    top: String,
    pub(crate) is_repository: bool,
    pub(crate) settings: RepositorySettings,
    tracked: String,
    absent: String,
    /// Content of `.gitignore` files.
    pub(super) rules: BTreeMap<String, String>,
    inner: BTreeMap<String, Self>,
    /// Written by checks: no part of the work, unless tracked.
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    left_out: BTreeSet<String>,
    #[serde(skip_serializing_if = "BTreeSet::is_empty")]
    left_out_by_user: BTreeSet<String>,
}

impl FileScope {
    pub(super) fn new(top: &Path, is_repository: bool, settings: RepositorySettings) -> Self {
        let top = path_to_text(top.as_os_str().as_encoded_bytes());
        Self {
            top,
            is_repository,
            settings,
            ..Self::default()
        }
    }

    pub(crate) fn top(&self) -> PathBuf {
        path_of(&text_to_path(&self.top))
    }

    pub(super) fn set_tracked<'a>(&mut self, paths: impl Iterator<Item = &'a [u8]>) {
        self.tracked = joined(paths);
    }

    pub(super) fn set_absent<'a>(&mut self, paths: impl Iterator<Item = &'a [u8]>) {
        self.absent = joined(paths);
    }

    pub(super) fn tracked(&self) -> Vec<Vec<u8>> {
        split(&self.tracked)
    }

    pub(crate) fn absent(&self) -> Vec<Vec<u8>> {
        split(&self.absent)
    }

    pub(super) fn set_inner(&mut self, path: &[u8], scope: Self) {
        self.inner.insert(path_to_text(path), scope);
    }

    /// Scope of an inner repository; for one made later, only the ignored paths of the outer one.
    pub(crate) fn inner(&self, path: &[u8]) -> Self {
        self.inner
            .get(&path_to_text(path))
            .cloned()
            .unwrap_or_else(|| {
                let ignored = self.settings.ignored.clone();
                Self {
                    settings: RepositorySettings::without_repository(ignored),
                    ..Self::default()
                }
            })
    }

    pub(crate) fn inner_paths(&self) -> impl Iterator<Item = Vec<u8>> {
        self.inner.keys().map(|path| text_to_path(path))
    }

    /// Leaves out paths from the top; untracked ones are ignored from now on.
    pub(super) fn leave_out(&mut self, paths: impl Iterator<Item = Vec<u8>>, by: LeftOutBy) {
        let left_out = match by {
            LeftOutBy::Checks => &mut self.left_out,
            LeftOutBy::User => &mut self.left_out_by_user,
        };
        for path in paths.filter(|path| left_out.insert(path_to_text(path))) {
            if let Some(path) = std::str::from_utf8(&path)
                .ok()
                .filter(|path| !path.contains('\n'))
            {
                self.settings.ignored.push_str("\n/");
                for char in path.chars() {
                    if matches!(char, '\\' | '*' | '?' | '[' | ' ') {
                        self.settings.ignored.push('\\');
                    }
                    self.settings.ignored.push(char);
                }
            }
        }
    }

    pub(super) fn left_out(&self, tracked: &BTreeSet<Vec<u8>>) -> BTreeSet<Vec<u8>> {
        let of_checks = self
            .left_out
            .iter()
            .map(|path| text_to_path(path))
            .filter(|path| !tracked.contains(path));
        of_checks
            .chain(self.left_out_by_user.iter().map(|path| text_to_path(path)))
            .collect()
    }

    pub(super) fn keep(&self, state_home: &Path) -> Option<String> {
        let bytes = serde_json::to_vec(self).ok()?;
        let name = hex_digest(&bytes);
        let folder = GuardedFolder::create_user_part(state_home, &FOLDER).ok()?;
        let _lock = StateLock::take(&folder, DEADLINE).ok()?;
        folder.replace(&name, &bytes).ok()?;
        let oldest = env::now().as_millis() / 1_000 - MAX_AGE_SECONDS;
        for old in folder
            .file_names("")
            .ok()?
            .into_iter()
            .filter(|old| old.len() == name.len())
        {
            if folder.written_at(&old).is_some_and(|at| at < oldest) {
                let _ = folder.remove(&old);
            }
        }
        Some(name)
    }

    /// Scope of this name; `None` where it is gone or changed. An empty name stands for a scope
    /// that ignores by `.gitignore` files alone.
    pub(crate) fn load(state_home: &Path, name: &str) -> Option<Self> {
        if name.is_empty() {
            return Some(Self::default());
        }
        let folder = GuardedFolder::open_user_part(state_home, &FOLDER).ok()??;
        sealed_json::read_kept(&folder, name, name, MAX_BYTES)
    }
}

pub(crate) fn path_to_text(bytes: &[u8]) -> String {
    bytes.iter().copied().map(char::from).collect()
}

pub(super) fn text_to_path(text: &str) -> Vec<u8> {
    text.chars()
        .filter_map(|char| u8::try_from(char).ok())
        .collect()
}

fn joined<'a>(paths: impl Iterator<Item = &'a [u8]>) -> String {
    paths.map(|path| path_to_text(path) + "\0").collect()
}

fn split(paths: &str) -> Vec<Vec<u8>> {
    paths
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(text_to_path)
        .collect()
}
