//! `FolderParts`: the plan files of a folder that is one plan, read together.

use std::collections::BTreeSet;
use std::fs::FileType;
use std::path::Path;

use omo_core::text::{list_some, sanitize};
use omo_plan::dialects::PlanReading;
use omo_plan::dialects::checklist::{BOULDER_FILE, active_plan_name};
use omo_plan::dialects::folder::{PlanFolder, read_folder, summary_name, unread_plan};
use omo_plan::dialects::gsd::folder::folder_digest;
use omo_plan::digest::sha256_hex;
use omo_plan::model::{MAX_PLAN_BYTES, Plan};
use omo_state::files::regular_file;

use super::{PlanFileError, read_error, read_plan_bytes};

const MAX_ENTRIES: usize = 2_000;
const SHOWN_NAMES: usize = 6;

#[derive(Debug)]
pub(super) struct FolderParts {
    files: Vec<(String, Vec<u8>)>,
    /// Paths of plans that GSD has written a summary for.
    done: BTreeSet<String>,
    /// Names of plans of another format, which are not read.
    unread: Vec<String>,
}

impl FolderParts {
    pub(super) fn plan(&self, folder: &str, reading: PlanReading) -> Plan {
        let mut plan = read_folder(
            folder,
            &self.files,
            |path| self.done.contains(path),
            reading,
        );
        plan.diagnostics
            .extend(self.unread.iter().map(|name| unread_plan(folder, name)));
        plan
    }

    pub(super) fn digest(&self) -> String {
        let digests: Vec<(&str, String)> = self
            .files
            .iter()
            .map(|(path, bytes)| (path.as_str(), sha256_hex(bytes)))
            .collect();
        folder_digest(
            digests
                .iter()
                .map(|(path, sha256)| (*path, sha256.as_str())),
        )
    }

    pub(super) fn files(&self) -> impl Iterator<Item = (&str, &[u8])> {
        self.files
            .iter()
            .map(|(path, bytes)| (path.as_str(), bytes.as_slice()))
    }
}

pub(super) fn find(at: &Path, path: &str) -> Result<PlanFolder, PlanFileError> {
    let names = entry_names(at, FileType::is_file).map_err(|source| read_error(at, source))?;
    Ok(active_plan(at, &names).unwrap_or_else(|| PlanFolder::find(path, &names)))
}

/// The plan that oh-my-opencode works on, by the file in its folder.
fn active_plan(at: &Path, names: &[String]) -> Option<PlanFolder> {
    let boulder = names.iter().find(|name| *name == BOULDER_FILE)?;
    let text = read_plan_bytes(&at.join(boulder)).ok()?;
    let plan = format!("plans/{}", active_plan_name(&text)?);
    at.join(&plan).is_file().then_some(PlanFolder::File(plan))
}

/// Reads plans of a folder. A link is refused: its target may lie anywhere.
pub(super) fn read_parts(
    at: &Path,
    path: &str,
    names: &[String],
    unread: Vec<String>,
) -> Result<FolderParts, PlanFileError> {
    use std::io::Read;
    let mut left = MAX_PLAN_BYTES;
    let mut parts = FolderParts {
        files: Vec::new(),
        done: BTreeSet::new(),
        unread,
    };
    for name in names {
        let file = at.join(name);
        let failed = |source| read_error(&file, source);
        let opened = regular_file::open_unlinked(&file).map_err(failed)?;
        let opened =
            opened.ok_or_else(|| failed(std::io::Error::other("it is not a regular file")))?;
        let mut bytes = Vec::new();
        opened
            .take(left + 1)
            .read_to_end(&mut bytes)
            .map_err(failed)?;
        let length = bytes.len() as u64;
        left = left
            .checked_sub(length)
            .ok_or_else(|| PlanFileError::TooLarge(path.to_owned()))?;
        let part = format!("{}/{name}", path.trim_end_matches('/'));
        if summary_name(name).is_some_and(|summary| at.join(summary).is_file()) {
            parts.done.insert(part.clone());
        }
        parts.files.push((part, bytes));
    }
    Ok(parts)
}

pub(super) fn describe(at: &Path, plans: &[String]) -> String {
    if !plans.is_empty() {
        return format!("the plans {}", shown_names(plans));
    }
    let mut names = entry_names(at, FileType::is_file).unwrap_or_default();
    let mut folders = entry_names(at, FileType::is_dir).unwrap_or_default();
    names.sort();
    folders.sort();
    match (names.as_slice(), folders.as_slice()) {
        ([], []) => "nothing".to_owned(),
        ([], folders) => format!("no file, and the folders {}", shown_names(folders)),
        (names, _) => format!("no plan, but {}", shown_names(names)),
    }
}

fn shown_names(names: &[String]) -> String {
    let names: Vec<String> = names
        .iter()
        .map(|name| format!("`{}`", sanitize(name, 60)))
        .collect();
    list_some(names.iter().map(String::as_str), SHOWN_NAMES)
}

/// The names of a folder's entries of one kind. A link is of none, and a name that is no text cannot be typed.
fn entry_names(at: &Path, is_kind: fn(&FileType) -> bool) -> std::io::Result<Vec<String>> {
    let entries = std::fs::read_dir(at)?.take(MAX_ENTRIES).flatten();
    let files = entries.filter(|entry| entry.file_type().is_ok_and(|kind| is_kind(&kind)));
    Ok(files
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect())
}
