//! What lies around a scene, looked at before and after: nothing of a stranger's may change, and
//! nothing of it may be shown.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use omo_tests::scene::Scene;

use crate::program_run::Run;

/// What stands in every file that is none of omo's business.
pub(crate) const SECRET: &str = "a-stranger-wrote-this";

/// What can be seen of one path.
#[derive(PartialEq, Eq)]
struct Seen {
    kind: fs::FileType,
    mode: u32,
    owner: u32,
    length: u64,
    /// What a small file holds, or where a link points.
    content: Vec<u8>,
}

/// Everything around a scene that omo may not change.
pub(crate) struct Watch {
    seen: BTreeMap<PathBuf, Seen>,
}

impl Watch {
    /// Looks at all of it.
    pub(crate) fn begin(scene: &Scene) -> Result<Self> {
        let mut seen = BTreeMap::new();
        look(scene.lab.root(), &own_folders(scene), &mut seen)?;
        Ok(Self { seen })
    }

    /// Nothing is new, changed or gone, and the run showed nothing of it.
    pub(crate) fn require_unchanged(&self, scene: &Scene, run: &Run) -> Result<()> {
        ensure!(
            !run.stdout.contains(SECRET),
            "{} shows a stranger's file: {}",
            run.binary,
            run.stdout
        );
        ensure!(
            !run.stderr.contains(SECRET),
            "{} shows a stranger's file: {}",
            run.binary,
            run.stderr
        );
        let mut now = BTreeMap::new();
        look(scene.lab.root(), &own_folders(scene), &mut now)?;
        for (path, seen) in &self.seen {
            ensure!(
                now.get(path) == Some(seen),
                "{} was changed, or is gone",
                path.display()
            );
        }
        for path in now.keys() {
            ensure!(self.seen.contains_key(path), "{} was made", path.display());
        }
        for folder in own_folders(scene) {
            prints_nothing(&folder)?;
        }
        Ok(())
    }
}

/// The folders that omo may write in.
fn own_folders(scene: &Scene) -> [PathBuf; 2] {
    [
        scene.lab.state_folder(),
        scene.lab.home().join(".local/state/omo"),
    ]
}

/// No file that omo wrote holds what a stranger's file does.
fn prints_nothing(folder: &Path) -> Result<()> {
    let mut seen = BTreeMap::new();
    if folder.symlink_metadata().is_ok_and(|meta| meta.is_dir()) {
        look(folder, &[], &mut seen)?;
    }
    // What a reviewer reads holds the difference of the worktree, whatever files are in that; a state that does not
    // parse is kept, whatever is in it; and so is what git was told to ignore when a run began. Checks run in copies
    // of the worktree.
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("review-")
            || name.contains(".corrupt-")
            || path.parent().is_some_and(|it| it.ends_with("scopes"))
            || path
                .strip_prefix(folder)
                .is_ok_and(|path| path.starts_with("proofs"))
    };
    for (path, seen) in seen.into_iter().filter(|(path, _)| !is_copy(path)) {
        let Some(meta) = unless_gone(path.symlink_metadata())? else {
            continue;
        };
        let is_planted = meta.nlink() > 1 || seen.mode & 0o7777 != 0o600;
        let tells = seen.kind.is_file() && String::from_utf8_lossy(&seen.content).contains(SECRET);
        ensure!(
            is_planted || !tells,
            "{} tells what a stranger's file holds",
            path.display()
        );
    }
    Ok(())
}

/// A process of omo's that outlives the one that was run removes its own files meanwhile.
fn unless_gone<T>(found: io::Result<T>) -> io::Result<Option<T>> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// Looks at a folder and at all below it; of what is omo's own only whether it is a folder.
fn look(folder: &Path, own: &[PathBuf], seen: &mut BTreeMap<PathBuf, Seen>) -> Result<()> {
    const SMALL: u64 = 256 * 1024;
    let Some(entries) = unless_gone(fs::read_dir(folder))? else {
        return Ok(());
    };
    for entry in entries {
        let path = entry?.path();
        let Some(meta) = unless_gone(path.symlink_metadata())? else {
            continue;
        };
        // The way to omo's own folders may be made, and the folders above them change with that.
        if own.iter().any(|own| own.starts_with(&path)) && meta.is_dir() {
            if !own.contains(&path) {
                look(&path, own, seen)?;
            }
            continue;
        }
        let kind = meta.file_type();
        let content = match kind {
            kind if kind.is_symlink() => unless_gone(fs::read_link(&path))?
                .unwrap_or_default()
                .into_os_string()
                .into_encoded_bytes(),
            kind if kind.is_file() && meta.len() <= SMALL => fs::read(&path).unwrap_or_default(),
            _ => Vec::new(),
        };
        if kind.is_dir() {
            look(&path, own, seen)?;
        }
        let length = if kind.is_file() { meta.len() } else { 0 };
        seen.insert(
            path,
            Seen {
                kind,
                mode: meta.mode(),
                owner: meta.uid(),
                length,
                content,
            },
        );
    }
    Ok(())
}
