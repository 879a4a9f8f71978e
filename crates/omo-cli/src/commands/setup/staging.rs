//! The staged plugin: a copy in a user folder, complete or absent.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use omo_state::files::folder_swap;

use crate::commands::setup::plugin_source::PluginSource;
use crate::error::CommandError;
use crate::platform::{self, Rights};

/// Maximum files, above any plugin of omo: a larger folder with an `omo` in it is not meant to be copied.
const MAX_FILES: usize = 1_000;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StagedPlugin {
    Unchanged,
    New,
    Replaced(Option<String>),
}

/// Makes `place` hold exactly the files of the plugin, assembled in `new` first. The caller holds the lock.
pub(super) fn stage_plugin(
    source: &PluginSource,
    new: &Path,
    place: &Path,
) -> Result<StagedPlugin, CommandError> {
    clear_unfinished(new)?;
    let files =
        files(&source.folder).map_err(|error| io_failure("read", &source.folder, &error))?;
    if is_same(&files, place) {
        return Ok(StagedPlugin::Unchanged);
    }
    let before = match fs::symlink_metadata(place) {
        Ok(found) if !found.is_dir() => {
            let message = format!(
                "{} is not a folder, and omo did not put it there",
                place.display()
            );
            return Err(CommandError::io(
                message,
                "move it away and run `omo setup` again",
            ));
        }
        Ok(_) => StagedPlugin::Replaced(crate::commands::setup::plugin_source::version_at(place)),
        Err(_) => StagedPlugin::New,
    };
    let staged = copy(&files, new).and_then(|()| folder_swap::swap_folders(new, place));
    if let Err(error) = staged {
        let _ = folder_swap::clear_leftovers(new);
        return Err(io_failure("write", place, &error));
    }
    clear_unfinished(new)?;
    Ok(before)
}

/// Removes an unfinished plugin. A running program keeps its file on some systems, and goes with the next setup.
pub(super) fn clear_unfinished(new: &Path) -> Result<(), CommandError> {
    folder_swap::clear_leftovers(new).map_err(|error| io_failure("remove", new, &error))
}

fn io_failure(action: &str, path: &Path, error: &io::Error) -> CommandError {
    let message = format!("{action} {}: {error}", path.display());
    CommandError::io(
        message,
        "check the rights of that folder and the space on its disk; nothing else was changed",
    )
}

fn files(folder: &Path) -> io::Result<BTreeMap<PathBuf, PathBuf>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![PathBuf::new()];
    while let Some(part) = folders.pop() {
        for entry in fs::read_dir(folder.join(&part))? {
            let entry = entry?;
            let (kind, part) = (entry.file_type()?, part.join(entry.file_name()));
            if kind.is_dir() {
                folders.push(part);
            } else if kind.is_file() {
                found.insert(part, entry.path());
            } else {
                return Err(io::Error::other(format!(
                    "{} is a link or no file, and no plugin has one",
                    part.display()
                )));
            }
            if found.len() + folders.len() > MAX_FILES {
                return Err(io::Error::other(format!(
                    "more than {MAX_FILES} files are not a plugin of omo"
                )));
            }
        }
    }
    Ok(found)
}

fn is_same(wanted: &BTreeMap<PathBuf, PathBuf>, place: &Path) -> bool {
    let Ok(present) = files(place) else {
        return false;
    };
    present.len() == wanted.len()
        && wanted.iter().all(|(part, path)| {
            present.get(part).is_some_and(|theirs| {
                let (wanted, present) = (fs::read(path), fs::read(theirs));
                matches!((wanted, present), (Ok(wanted), Ok(present)) if wanted == present)
                    && platform::has_rights(theirs, rights(part))
            })
        })
}

fn copy(files: &BTreeMap<PathBuf, PathBuf>, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for (part, path) in files {
        let copy = to.join(part);
        fs::create_dir_all(copy.parent().unwrap_or(to))?;
        let mut written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(&copy)?;
        io::copy(&mut File::open(path)?, &mut written)?;
        platform::set_rights(&written, rights(part))?;
        // A crash of the machine must not leave half a binary under its final name.
        written.sync_all()?;
    }
    Ok(())
}

/// Programs stay executable even if an archive or a file system lost the bit.
fn rights(part: &Path) -> Rights {
    if part.starts_with("bin") || part.starts_with("scripts") {
        Rights::Run
    } else {
        Rights::Read
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Places {
        temp: tempfile::TempDir,
        source: PluginSource,
    }

    impl Places {
        fn new() -> Self {
            let temp = tempfile::tempdir().unwrap();
            let folder = temp.path().join("source");
            fs::create_dir_all(folder.join("bin")).unwrap();
            fs::write(folder.join("bin/omo"), "program").unwrap();
            fs::write(folder.join("README.md"), "text").unwrap();
            Self {
                temp,
                source: PluginSource {
                    folder,
                    version: "1.0.0".to_owned(),
                },
            }
        }

        fn place(&self) -> PathBuf {
            self.temp.path().join("plugin")
        }

        fn stage(&self) -> Result<StagedPlugin, CommandError> {
            stage_plugin(
                &self.source,
                &self.temp.path().join("plugin.new"),
                &self.place(),
            )
        }
    }

    #[test]
    fn files_are_staged_once_and_again_when_they_differ() {
        let places = Places::new();
        assert_eq!(places.stage().unwrap(), StagedPlugin::New);
        assert_eq!(places.stage().unwrap(), StagedPlugin::Unchanged);
        for change in ["bin/omo", "bin/new", "README.md"] {
            fs::write(places.source.folder.join(change), "changed").unwrap();
            assert_eq!(
                places.stage().unwrap(),
                StagedPlugin::Replaced(None),
                "{change}"
            );
            assert_eq!(
                fs::read_to_string(places.place().join(change)).unwrap(),
                "changed"
            );
            assert_eq!(places.stage().unwrap(), StagedPlugin::Unchanged);
        }
        fs::remove_file(places.source.folder.join("bin/new")).unwrap();
        assert_eq!(places.stage().unwrap(), StagedPlugin::Replaced(None));
        assert!(!places.place().join("bin/new").exists());
        assert_eq!(fs::read_dir(places.temp.path()).unwrap().count(), 2);
    }

    #[cfg(unix)]
    #[test]
    fn rights_are_mended_in_the_copy() {
        use std::os::unix::fs::PermissionsExt;
        let places = Places::new();
        assert_eq!(places.stage().unwrap(), StagedPlugin::New);
        let mode = |part: &str| {
            places
                .place()
                .join(part)
                .metadata()
                .unwrap()
                .permissions()
                .mode()
                & 0o777
        };
        assert_eq!((mode("bin/omo"), mode("README.md")), (0o755, 0o644));
        fs::set_permissions(
            places.place().join("bin/omo"),
            fs::Permissions::from_mode(0o644),
        )
        .unwrap();
        assert_eq!(places.stage().unwrap(), StagedPlugin::Replaced(None));
        assert_eq!(mode("bin/omo"), 0o755);
    }

    #[cfg(unix)]
    #[test]
    fn a_link_in_the_source_and_a_file_in_the_place_are_refused_and_stay() {
        let places = Places::new();
        std::os::unix::fs::symlink("/etc/passwd", places.source.folder.join("link")).unwrap();
        places.stage().unwrap_err();
        assert!(!places.place().exists());
        fs::remove_file(places.source.folder.join("link")).unwrap();
        fs::write(places.place(), "of the user").unwrap();
        places.stage().unwrap_err();
        assert_eq!(fs::read_to_string(places.place()).unwrap(), "of the user");
        assert_eq!(fs::read_dir(places.temp.path()).unwrap().count(), 2);
    }

    #[test]
    fn a_folder_that_is_no_plugin_is_not_copied() {
        let places = Places::new();
        for number in 0..=MAX_FILES {
            fs::write(places.source.folder.join(number.to_string()), "").unwrap();
        }
        places.stage().unwrap_err();
        assert!(!places.place().exists());
    }

    #[test]
    fn what_a_killed_setup_left_is_cleared() {
        let places = Places::new();
        let new = places.temp.path().join("plugin.new");
        fs::create_dir(&new).unwrap();
        fs::write(new.join("half"), "").unwrap();
        assert_eq!(places.stage().unwrap(), StagedPlugin::New);
        assert!(!new.exists() && !places.place().join("half").exists());
    }
}
