//! What can stand in the place of a file or a folder, and how it is put there.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use omo_tests::scene::Scene;
use rustix::fs::{CWD, FileType, Mode, mknodat};

use crate::program_run::make_sparse_file;
use crate::surroundings::SECRET;

/// A user who is neither root nor the one who runs the tests.
const OTHER_USER: u32 = 12_345;

/// A thing in the place of another; put at a path, with a stranger's file and folder to point at.
pub(crate) struct Impostor {
    /// What it is.
    pub name: &'static str,
    /// Puts it there.
    pub put: fn(&Path, &Strangers) -> Result<()>,
}

/// What belongs to a stranger.
pub(crate) struct Strangers {
    file: PathBuf,
    folder: PathBuf,
}

impl Strangers {
    /// A file and a folder beside the project, with something in them.
    pub(crate) fn beside(scene: &Scene) -> Result<Self> {
        let folder = scene.lab.root().join("stranger");
        fs::create_dir_all(folder.join("cc-omo/deep"))?;
        for path in [
            "file",
            "key",
            "kept.json",
            "runtime.local.json",
            "cc-omo/decisions.jsonl",
            "cc-omo/deep/file",
        ] {
            fs::write(folder.join(path), text())?;
        }
        Ok(Self {
            file: folder.join("file"),
            folder,
        })
    }
}

/// Text that is no JSON and no key, but TOML, and says what must never be shown.
fn text() -> String {
    format!("strange = \"{SECRET}\"\n")
}

/// Clears a place, and makes the folder that it is in.
pub(crate) fn clear(path: &Path) -> Result<()> {
    match path.symlink_metadata() {
        Ok(meta) if meta.is_dir() => fs::remove_dir_all(path)?,
        Ok(_) => fs::remove_file(path)?,
        Err(_) => {}
    }
    let above = path.parent().context("no folder above it")?;
    if above.symlink_metadata().is_err() {
        fs::create_dir_all(above)?;
    }
    Ok(())
}

fn link(path: &Path, to: impl AsRef<Path>) -> Result<()> {
    Ok(symlink(to, path)?)
}

fn node(path: &Path, kind: FileType, device: rustix::fs::Dev) -> Result<()> {
    Ok(mknodat(CWD, path, kind, Mode::RUSR | Mode::WUSR, device)?)
}

/// Only root may make one, and not in every container.
pub(crate) const DEVICE: Impostor = Impostor {
    name: "a device",
    put: |path, _| node(path, FileType::CharacterDevice, rustix::fs::makedev(1, 5)),
};

/// What may stand in a place of omo's own, where no link is ever followed.
pub(crate) const IN_OUR_PLACE: [Impostor; 10] = [
    Impostor {
        name: "a link to a file",
        put: |path, strangers| link(path, &strangers.file),
    },
    Impostor {
        name: "a link to a folder",
        put: |path, strangers| link(path, &strangers.folder),
    },
    Impostor {
        name: "a link to nothing",
        put: |path, strangers| link(path, strangers.folder.join("nothing")),
    },
    Impostor {
        name: "a hard link",
        put: |path, strangers| {
            fs::hard_link(&strangers.file, path)?;
            Ok(())
        },
    },
    Impostor {
        name: "a FIFO",
        put: |path, _| node(path, FileType::Fifo, 0),
    },
    Impostor {
        name: "a socket",
        put: |path, strangers| {
            // The name of a socket has at most 108 bytes: it is moved to where it belongs.
            let short = strangers.folder.with_file_name("s");
            drop(std::os::unix::net::UnixListener::bind(&short)?);
            fs::rename(short, path)?;
            Ok(())
        },
    },
    Impostor {
        name: "a folder with something in it",
        put: |path, _| {
            fs::create_dir(path)?;
            fs::write(path.join("file"), text())?;
            Ok(())
        },
    },
    Impostor {
        name: "a file of text",
        put: |path, _| {
            fs::write(path, text())?;
            Ok(())
        },
    },
    Impostor {
        name: "a file of 1 GiB",
        put: |path, _| {
            make_sparse_file(path, 1 << 30)?;
            fs::set_permissions(path, fs::Permissions::from_mode(0o600))?;
            Ok(())
        },
    },
    Impostor {
        name: "another user's file, or one that may not be read",
        put: |path, _| {
            fs::write(path, text())?;
            if chown(path, Some(OTHER_USER), None).is_err() {
                fs::set_permissions(path, fs::Permissions::from_mode(0o000))?;
            }
            Ok(())
        },
    },
];

/// What a link may lead to where links are followed: in the user's own files, and in git's.
pub(crate) const LINKS: [Impostor; 4] = [
    Impostor {
        name: "a link to itself",
        put: |path, _| link(path, path),
    },
    Impostor {
        name: "a link to /dev/zero",
        put: |path, _| link(path, "/dev/zero"),
    },
    Impostor {
        name: "a link to /dev/full",
        put: |path, _| link(path, "/dev/full"),
    },
    Impostor {
        name: "a link to /dev/tty",
        put: |path, _| link(path, "/dev/tty"),
    },
];
