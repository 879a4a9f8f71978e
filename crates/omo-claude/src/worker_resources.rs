//! Private resources of concurrent sessions of a plan: a port for a test server, a folder for temporary files.

use std::fs;
use std::io;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};

use omo_state::files::folder::{FolderError, GuardedFolder};

use omo_state::files::make_removable;

/// Distinct free ports; another program may take one before its session does.
pub fn find_free_ports(count: usize) -> io::Result<Vec<u16>> {
    let listeners: Vec<TcpListener> = (0..count)
        .map(|_| TcpListener::bind((Ipv4Addr::LOCALHOST, 0)))
        .collect::<io::Result<_>>()?;
    listeners
        .iter()
        .map(|listener| Ok(listener.local_addr()?.port()))
        .collect()
}

/// Makes the group's temporary folder below `top`, its user's alone. A link, or another user's folder, is refused.
pub fn make_temp_folder(top: &Path, run: &str, group: &str) -> Result<PathBuf, FolderError> {
    let real = top.canonicalize().map_err(|source| FolderError::Io {
        action: "find",
        path: top.to_owned(),
        source,
    })?;
    Ok(
        GuardedFolder::create_below(&real, &[&temp_folder_name(run, group)])?
            .path()
            .to_owned(),
    )
}

/// Removes a folder of [`make_temp_folder`], where there is one; `top` may be another user's, such as `/tmp`.
pub fn remove_temp_folder(top: &Path, run: &str, group: &str) -> Result<(), FolderError> {
    let Some(folder) = GuardedFolder::open_below(top, &[&temp_folder_name(run, group)])? else {
        return Ok(());
    };
    let path = folder.path().to_owned();
    drop(folder);
    let removed = fs::remove_dir_all(&path).or_else(|_| {
        make_removable(&path);
        fs::remove_dir_all(&path)
    });
    removed.map_err(|source| FolderError::Io {
        action: "remove",
        path,
        source,
    })
}

fn temp_folder_name(run: &str, group: &str) -> String {
    format!("omo-{run}-{group}")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_two_ports_are_alike_and_they_are_free() {
        let ports = find_free_ports(20).unwrap();
        assert_eq!(ports.iter().collect::<BTreeSet<_>>().len(), 20, "{ports:?}");
        // Another program may have taken one or the other meanwhile.
        assert!(
            ports
                .iter()
                .any(|port| TcpListener::bind((Ipv4Addr::LOCALHOST, *port)).is_ok()),
            "{ports:?}"
        );
    }

    #[test]
    fn a_folder_is_its_groups_own_and_goes_with_all_that_is_in_it() {
        let temp = tempfile::tempdir().unwrap();
        let first = make_temp_folder(temp.path(), "r1", "2").unwrap();
        fs::create_dir(first.join("deep")).unwrap();
        fs::write(first.join("deep/file"), "").unwrap();
        assert_eq!(make_temp_folder(temp.path(), "r1", "2").unwrap(), first);
        assert_ne!(make_temp_folder(temp.path(), "r1", "3").unwrap(), first);
        for _ in 0..2 {
            remove_temp_folder(temp.path(), "r1", "2").unwrap();
            assert!(!first.exists());
        }
        assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn what_somebody_put_in_its_place_is_refused_and_left_alone() {
        let temp = tempfile::tempdir().unwrap();
        fs::create_dir(temp.path().join("other")).unwrap();
        fs::write(temp.path().join("other/kept"), "").unwrap();
        std::os::unix::fs::symlink("other", temp.path().join("omo-r1-2")).unwrap();
        assert!(matches!(
            make_temp_folder(temp.path(), "r1", "2"),
            Err(FolderError::Refused { .. })
        ));
        assert!(remove_temp_folder(temp.path(), "r1", "2").is_err());
        assert!(temp.path().join("other/kept").exists());
    }

    #[cfg(unix)]
    #[test]
    fn a_folder_in_one_of_another_user_goes_as_well() {
        let temp = tempfile::tempdir().unwrap();
        // Only root gives a folder away; for all others that of temporary files is root's already.
        let is_given = std::os::unix::fs::chown(temp.path(), Some(65_534), None).is_ok();
        let top = if is_given {
            temp.path().to_owned()
        } else {
            std::env::temp_dir()
        };
        let run = format!("test-{}", std::process::id());
        let folder = make_temp_folder(&top, &run, "1").unwrap();
        remove_temp_folder(&top, &run, "1").unwrap();
        assert!(!folder.exists());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_may_look_into_it() {
        use std::os::unix::fs::PermissionsExt;
        let temp = tempfile::tempdir().unwrap();
        let folder = make_temp_folder(temp.path(), "r1", "2").unwrap();
        assert_eq!(
            fs::metadata(folder).unwrap().permissions().mode() & 0o777,
            0o700
        );
    }
}
