//! Link in `~/.local/bin`, by which a terminal finds `omo`, to a path that survives updates.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use omo_core::messages::client_settings::PATH_LINE;
use omo_core::text::command_text::quote_shell_word;
use omo_state::env;

use crate::platform;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum LinkOutcome {
    Present,
    /// No folder for it, and none is created for a link alone.
    NoFolder,
    /// Another file, or a link to another working omo.
    Taken,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OtherLink {
    GivesWay,
    /// An automatic run replaces nothing.
    Stays,
}

pub(super) fn link_path() -> Option<PathBuf> {
    platform::terminal_folder().map(|folder| folder.join("omo"))
}

/// A path of the running `omo` that survives updates: staged, or in the client's plugin data.
pub(super) fn lasting_path(program: &Path, staged: &Path) -> Option<PathBuf> {
    let [own_data, _] = env::plugin_folders();
    let all_data =
        env::client_home().and_then(|home| fs::read_dir(home.join("plugins").join("data")).ok());
    let data = own_data.into_iter().chain(
        all_data
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path()),
    );
    let plugins = std::iter::once(staged.to_owned()).chain(data);
    plugins
        .map(|plugin| plugin.join("bin").join("omo"))
        .find(|omo| omo.canonicalize().is_ok_and(|omo| omo == program))
}

/// Links `place` to a path of omo's. Creates the folder only where `~/.local` exists or the folder is on `PATH`.
pub(super) fn link(to: &Path, place: &Path, other: OtherLink) -> io::Result<LinkOutcome> {
    let Some(folder) = place.parent() else {
        return Ok(LinkOutcome::NoFolder);
    };
    match fs::symlink_metadata(place) {
        Ok(_) => match fs::read_link(place) {
            Ok(target) if target == to => return Ok(LinkOutcome::Present),
            Ok(target)
                if is_omo_path(&target)
                    && (other == OtherLink::GivesWay || leads_nowhere(place)) => {}
            _ => return Ok(LinkOutcome::Taken),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(error),
    }
    if !folder.is_dir() {
        if !env::is_on_path(folder) && !folder.parent().is_some_and(Path::is_dir) {
            return Ok(LinkOutcome::NoFolder);
        }
        fs::create_dir_all(folder)?;
    }
    let new = folder.join(format!(".omo.{}", std::process::id()));
    platform::link(to, &new)?;
    fs::rename(&new, place).inspect_err(|_| drop(fs::remove_file(&new)))?;
    Ok(LinkOutcome::Present)
}

pub(super) fn remove_dangling(place: &Path) -> io::Result<bool> {
    let dangles =
        fs::read_link(place).is_ok_and(|target| is_omo_path(&target)) && leads_nowhere(place);
    if dangles {
        fs::remove_file(place)?;
        let _ = place.parent().map(fs::remove_dir);
    }
    Ok(dangles)
}

/// `true` where nothing exists; `false` where that cannot be told.
pub(super) fn leads_nowhere(path: &Path) -> bool {
    path.try_exists().is_ok_and(|exists| !exists)
}

/// A path that only omo links to: a staged plugin, or the data of a plugin called `omo`.
pub(super) fn is_omo_path(target: &Path) -> bool {
    let program = format!("omo{}", std::env::consts::EXE_SUFFIX);
    let mut parts = target.iter().rev().filter_map(|part| part.to_str());
    if [parts.next(), parts.next()] != [Some(&*program), Some("bin")] {
        return false;
    }
    match [parts.next(), parts.next(), parts.next()] {
        [Some("plugin"), Some("omo"), _] => true,
        [Some(plugin), Some("data"), Some("plugins")] => plugin.starts_with("omo-"),
        _ => false,
    }
}

pub(super) fn link_message(linked: &LinkOutcome, to: &Path, place: &Path) -> String {
    let folder = to.parent().unwrap_or(to).to_string_lossy();
    match linked {
        LinkOutcome::Present if place.parent().is_some_and(env::is_on_path) => {
            format!("`omo` runs it, through {}", place.display())
        }
        LinkOutcome::Present => format!(
            "{} is it; add to your shell's profile: {PATH_LINE}",
            place.display()
        ),
        LinkOutcome::NoFolder => {
            format!(
                "for `omo` add to your shell's profile: export PATH={}:\"$PATH\"",
                quote_shell_word(&folder)
            )
        }
        LinkOutcome::Taken => format!(
            "{} is there already and stays; this one is {}",
            place.display(),
            to.display()
        ),
    }
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    const DATA: &str = ".claude/plugins/data/omo-omo/bin/omo";

    #[test]
    fn only_what_omo_has_linked_gives_way() {
        let home = tempfile::tempdir().unwrap();
        let place = home.path().join(".local/bin/omo");
        let [staged, data] =
            [".local/share/omo/plugin/bin/omo", DATA].map(|path| home.path().join(path));
        assert_eq!(
            link(&data, &place, OtherLink::Stays).unwrap(),
            LinkOutcome::NoFolder
        );
        assert!(!home.path().join(".local").exists());
        for file in [&staged, &data] {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(file, "").unwrap();
        }
        for _ in 0..2 {
            assert_eq!(
                link(&data, &place, OtherLink::Stays).unwrap(),
                LinkOutcome::Present
            );
        }
        assert_eq!(
            link(&staged, &place, OtherLink::Stays).unwrap(),
            LinkOutcome::Taken
        );
        assert_eq!(fs::read_link(&place).unwrap(), data);
        assert_eq!(
            link(&staged, &place, OtherLink::GivesWay).unwrap(),
            LinkOutcome::Present
        );
        assert!(!remove_dangling(&place).unwrap());
        fs::remove_file(&staged).unwrap();
        assert_eq!(
            link(&data, &place, OtherLink::Stays).unwrap(),
            LinkOutcome::Present
        );
        assert_eq!(fs::read_dir(place.parent().unwrap()).unwrap().count(), 1);

        // A file, another program's link and a dangling one all stay.
        let other = home.path().join("other");
        for make in [
            |place: &Path, _: &Path| fs::write(place, "").unwrap(),
            |place: &Path, other: &Path| {
                symlink(other, place).unwrap();
            },
        ] {
            fs::remove_file(&place).unwrap();
            make(&place, &other);
            assert_eq!(
                link(&data, &place, OtherLink::GivesWay).unwrap(),
                LinkOutcome::Taken
            );
            assert!(!remove_dangling(&place).unwrap() && place.symlink_metadata().is_ok());
        }
        fs::remove_file(&place).unwrap();
        symlink(&staged, &place).unwrap();
        assert!(remove_dangling(&place).unwrap());
        assert!(!home.path().join(".local/bin").exists());
    }

    #[test]
    fn a_path_of_omo_is_told_from_others() {
        for path in [
            "/h/.claude/plugins/data/omo-omo/bin/omo",
            "/h/.local/share/omo/plugin/bin/omo",
        ] {
            assert!(is_omo_path(Path::new(path)), "{path}");
        }
        for path in [
            "/usr/bin/omo",
            "omo",
            "/plugins/data/other-omo/bin/omo",
            "/h/omo/plugin/bin/other",
            "/bin/omo",
        ] {
            assert!(!is_omo_path(Path::new(path)), "{path}");
        }
    }
}
