//! The state folder against everything that can stand in its place: nothing is followed, nothing
//! outside it is touched, and what omo makes is its owner's alone.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_state::files::folder::{FolderError, GuardedFolder};
use omo_state::files::lock::StateLock;

/// What came of a call, in one word.
#[derive(Debug, PartialEq, Eq)]
enum Outcome {
    Done,
    Refused,
    Failed,
}

impl<T> From<Result<T, FolderError>> for Outcome {
    fn from(result: Result<T, FolderError>) -> Self {
        match result {
            Ok(_) => Self::Done,
            Err(FolderError::Refused { .. }) => Self::Refused,
            Err(FolderError::Io { .. }) => Self::Failed,
        }
    }
}

fn mode(path: &Path) -> std::io::Result<u32> {
    Ok(fs::symlink_metadata(path)?.permissions().mode() & 0o7777)
}

fn fifo(path: &Path) -> std::io::Result<()> {
    let made = std::process::Command::new("mkfifo").arg(path).status()?;
    if made.success() {
        Ok(())
    } else {
        Err(std::io::Error::other(format!("mkfifo: {made}")))
    }
}

/// A project with a state folder in it.
fn project() -> std::io::Result<(tempfile::TempDir, PathBuf)> {
    let temp = tempfile::tempdir()?;
    let folder = temp.path().join(".sisyphus/cc-omo");
    Ok((temp, folder))
}

#[test]
fn what_is_made_is_its_owners_alone_and_hidden_from_git() {
    let (temp, path) = project().unwrap();
    assert!(GuardedFolder::open_state(temp.path()).unwrap().is_none());
    assert!(
        !temp.path().join(".sisyphus").exists(),
        "looking makes nothing"
    );
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    folder.replace("state", b"1").unwrap();
    folder.append("log", b"1\n", 10).unwrap();
    StateLock::take(&folder, Duration::ZERO).unwrap();
    assert_eq!(mode(&path).unwrap(), 0o700);
    assert_eq!(mode(&temp.path().join(".sisyphus")).unwrap(), 0o700);
    assert_eq!(fs::read_to_string(path.join(".gitignore")).unwrap(), "*\n");
    for name in ["state", "log", "runtime.lock", ".gitignore"] {
        assert_eq!(mode(&path.join(name)).unwrap(), 0o600, "{name}");
    }
    assert_eq!(
        fs::read_dir(&path).unwrap().count(),
        4,
        "no temporary file is left"
    );
}

#[test]
fn a_gitignore_that_is_there_is_left_as_it_is() {
    let (temp, path) = project().unwrap();
    fs::create_dir_all(&path).unwrap();
    fs::write(path.join(".gitignore"), "mine\n").unwrap();
    GuardedFolder::create_state(temp.path()).unwrap();
    assert_eq!(
        fs::read_to_string(path.join(".gitignore")).unwrap(),
        "mine\n"
    );
}

#[test]
fn a_link_at_any_level_of_the_folder_is_refused_and_nothing_is_made_behind_it() {
    for level in [".sisyphus", ".sisyphus/cc-omo"] {
        let (temp, _) = project().unwrap();
        let elsewhere = tempfile::tempdir().unwrap();
        fs::create_dir_all(elsewhere.path().join("cc-omo")).unwrap();
        let link = temp.path().join(level);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(elsewhere.path(), &link).unwrap();
        assert_eq!(
            Outcome::from(GuardedFolder::open_state(temp.path())),
            Outcome::Refused,
            "{level}"
        );
        assert_eq!(
            Outcome::from(GuardedFolder::create_state(temp.path())),
            Outcome::Refused,
            "{level}"
        );
        assert_eq!(
            fs::read_dir(elsewhere.path().join("cc-omo"))
                .unwrap()
                .count(),
            0,
            "{level}"
        );
        assert_eq!(
            fs::read_dir(elsewhere.path()).unwrap().count(),
            1,
            "{level}"
        );
    }
}

#[test]
fn a_dangling_link_is_refused_as_well() {
    for level in [".sisyphus", ".sisyphus/cc-omo"] {
        let (temp, _) = project().unwrap();
        let link = temp.path().join(level);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink(temp.path().join("nowhere"), &link).unwrap();
        assert_eq!(
            Outcome::from(GuardedFolder::create_state(temp.path())),
            Outcome::Refused,
            "{level}"
        );
        assert!(!temp.path().join("nowhere").exists());
    }
}

#[test]
fn a_file_or_a_fifo_where_the_folder_belongs_is_refused() {
    for level in [".sisyphus", ".sisyphus/cc-omo"] {
        for make in [
            |path: &Path| fs::write(path, "x").is_ok(),
            |path: &Path| fifo(path).is_ok(),
        ] {
            let (temp, _) = project().unwrap();
            let path = temp.path().join(level);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            assert!(make(&path));
            let before = fs::symlink_metadata(&path).unwrap().file_type();
            assert_eq!(
                Outcome::from(GuardedFolder::create_state(temp.path())),
                Outcome::Refused,
                "{level}"
            );
            assert_eq!(
                Outcome::from(GuardedFolder::open_state(temp.path())),
                Outcome::Refused,
                "{level}"
            );
            assert_eq!(fs::symlink_metadata(&path).unwrap().file_type(), before);
        }
    }
}

#[test]
fn the_project_itself_may_lie_behind_a_link() {
    let (temp, path) = project().unwrap();
    let link = temp.path().join("link");
    let real = temp.path().join("real");
    fs::create_dir(&real).unwrap();
    symlink(&real, &link).unwrap();
    GuardedFolder::create_state(&link)
        .unwrap()
        .replace("state", b"1")
        .unwrap();
    assert!(real.join(".sisyphus/cc-omo/state").is_file());
    assert!(!path.exists());
}

/// Something else than a file, by name, and how it is made at a path, beside a file elsewhere.
type Impostor = (&'static str, fn(&Path, &Path) -> bool);

/// What can stand where a file belongs.
const IMPOSTORS: [Impostor; 5] = [
    ("link", |path, outside| symlink(outside, path).is_ok()),
    ("dangling link", |path, outside| {
        symlink(outside.with_extension("nowhere"), path).is_ok()
    }),
    ("fifo", |path, _| fifo(path).is_ok()),
    ("directory", |path, _| fs::create_dir(path).is_ok()),
    ("hard link", |path, outside| {
        fs::hard_link(outside, path).is_ok()
    }),
];

#[test]
fn what_is_no_file_of_ours_is_neither_read_nor_appended_to_nor_locked() {
    for (what, make) in IMPOSTORS {
        let (temp, path) = project().unwrap();
        let outside = temp.path().join("outside");
        fs::write(&outside, "precious").unwrap();
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        for name in ["state", "log", "runtime.lock"] {
            assert!(make(&path.join(name), &outside), "{what}");
        }
        assert_eq!(
            Outcome::from(folder.read("state", 100)),
            Outcome::Refused,
            "{what}"
        );
        assert_eq!(
            Outcome::from(folder.append("log", b"x\n", 100)),
            Outcome::Refused,
            "{what}"
        );
        assert!(StateLock::take(&folder, Duration::ZERO).is_err(), "{what}");
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious", "{what}");
        assert!(!outside.with_extension("nowhere").exists(), "{what}");
    }
}

#[test]
fn a_replaced_file_is_replaced_whole_and_nothing_behind_it_is_written() {
    for (what, make) in IMPOSTORS {
        let (temp, path) = project().unwrap();
        let outside = temp.path().join("outside");
        fs::write(&outside, "precious").unwrap();
        let folder = GuardedFolder::create_state(temp.path()).unwrap();
        assert!(make(&path.join("state.tmp"), &outside), "{what}");
        let done = Outcome::from(folder.replace("state", b"new"));
        assert_eq!(fs::read_to_string(&outside).unwrap(), "precious", "{what}");
        if what == "directory" {
            assert_eq!(done, Outcome::Failed);
            assert!(!path.join("state").exists());
        } else {
            assert_eq!(done, Outcome::Done, "{what}");
            assert_eq!(fs::read(path.join("state")).unwrap(), b"new");
            assert!(!path.join("state.tmp").exists());
        }
    }
}

#[test]
fn a_directory_in_the_place_of_a_replaced_file_is_an_error_and_leaves_no_temporary_file() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    fs::create_dir(path.join("state")).unwrap();
    assert_eq!(
        Outcome::from(folder.replace("state", b"new")),
        Outcome::Failed
    );
    assert!(path.join("state").is_dir());
    assert!(!path.join("state.tmp").exists());
}

#[test]
fn a_renewed_folder_is_empty_and_what_a_link_led_to_stays() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    let outside = temp.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    fs::write(outside.join("deep/file"), "precious").unwrap();
    let place = path.join("objects");
    let put: [fn(&Path, &Path) -> bool; 6] = [
        |_, _| true,
        |place, outside| symlink(outside, place).is_ok(),
        |place, outside| symlink(outside.join("nothing"), place).is_ok(),
        |place, _| fifo(place).is_ok(),
        |place, _| fs::write(place, "x").is_ok(),
        |place, outside| {
            fs::create_dir(place).is_ok() && symlink(outside, place.join("link")).is_ok()
        },
    ];
    for (round, put) in put.iter().enumerate() {
        assert!(put(&place, &outside), "{round}");
        folder.empty_folder("objects").unwrap();
        assert!(place.symlink_metadata().unwrap().is_dir(), "{round}");
        assert_eq!(fs::read_dir(&place).unwrap().count(), 0, "{round}");
        assert_eq!(
            fs::read_to_string(outside.join("deep/file")).unwrap(),
            "precious",
            "{round}"
        );
        folder.empty_folder("objects").unwrap();
        fs::remove_dir(&place).unwrap();
    }
}

#[test]
fn a_file_is_read_up_to_its_limit_and_not_a_byte_more() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    assert_eq!(folder.read("state", 10).unwrap(), None);
    fs::write(path.join("state"), [b'x'; 10]).unwrap();
    assert_eq!(folder.read("state", 10).unwrap().unwrap().len(), 10);
    fs::write(path.join("state"), [b'x'; 11]).unwrap();
    assert_eq!(Outcome::from(folder.read("state", 10)), Outcome::Refused);
    fs::write(path.join("state"), "").unwrap();
    assert_eq!(folder.read("state", 10).unwrap(), Some(Vec::new()));
}

#[test]
#[ignore = "needs a user who may not read everything: cargo xtask test"]
fn a_file_that_may_not_be_read_is_an_error() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    fs::write(path.join("state"), "x").unwrap();
    fs::set_permissions(path.join("state"), fs::Permissions::from_mode(0o000)).unwrap();
    assert_eq!(Outcome::from(folder.read("state", 10)), Outcome::Failed);
}

#[test]
#[ignore = "needs root: cargo xtask test"]
fn a_file_or_folder_of_another_user_is_refused() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    fs::write(path.join("state"), "x").unwrap();
    std::os::unix::fs::chown(path.join("state"), Some(12_345), None).unwrap();
    assert_eq!(Outcome::from(folder.read("state", 10)), Outcome::Refused);
    std::os::unix::fs::chown(&path, Some(12_345), None).unwrap();
    assert_eq!(
        Outcome::from(GuardedFolder::open_state(temp.path())),
        Outcome::Refused
    );
}

#[test]
fn a_log_is_rotated_once_it_is_full_and_one_old_one_is_kept() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    for line in ["1234\n", "5678\n", "abcd\n", "efgh\n", "ijkl\n"] {
        folder.append("log", line.as_bytes(), 10).unwrap();
    }
    assert_eq!(fs::read_to_string(path.join("log")).unwrap(), "ijkl\n");
    assert_eq!(
        fs::read_to_string(path.join("log.1")).unwrap(),
        "abcd\nefgh\n"
    );
    assert_eq!(folder.file_names("log").unwrap(), ["log", "log.1"]);
    assert_eq!(mode(&path.join("log")).unwrap(), 0o600);
}

#[test]
fn a_link_in_the_place_of_the_rotated_log_is_replaced_and_not_followed() {
    let (temp, path) = project().unwrap();
    let outside = temp.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    symlink(&outside, path.join("log.1")).unwrap();
    folder.append("log", b"1234567890\n", 10).unwrap();
    folder.append("log", b"next\n", 10).unwrap();
    assert_eq!(fs::read_to_string(&outside).unwrap(), "precious");
    assert!(path.join("log.1").symlink_metadata().unwrap().is_file());
}

#[test]
fn removing_what_is_not_there_is_no_error_and_a_fifo_stays_a_fifo() {
    let (temp, path) = project().unwrap();
    let folder = GuardedFolder::create_state(temp.path()).unwrap();
    folder.remove("nothing").unwrap();
    fifo(&path.join("state")).unwrap();
    let error = folder.read("state", 10).unwrap_err();
    assert!(
        matches!(&error, FolderError::Refused { path: named, .. } if named.ends_with("state")),
        "{error}"
    );
    assert!(
        path.join("state")
            .symlink_metadata()
            .unwrap()
            .file_type()
            .is_fifo()
    );
}
