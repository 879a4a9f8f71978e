//! Copies of files and folders.

use super::*;

#[test]
fn copies_files_around_the_size_of_a_small_one() {
    let folder = tempfile::tempdir().unwrap();
    let [from, one, other] = ["from", "one", "other"].map(|name| folder.path().join(name));
    for tree in [&from, &one, &other] {
        std::fs::create_dir(tree).unwrap();
    }
    let checkout = CopyKind::Checkout(SystemTime::UNIX_EPOCH);
    let mut copier = FileCopier::open(&from, &[&one, &other], CopyOptions::all(checkout)).unwrap();
    for size in [0, 1, SMALL_FILE - 1, SMALL_FILE, SMALL_FILE + 1, 3 * SMALL_FILE] {
        let bytes: Vec<u8> = (0..=250).cycle().take(size).collect();
        let name = size.to_string();
        std::fs::write(from.join(&name), &bytes).unwrap();
        copier.copy_file(Path::new(&name), 2).unwrap();
        for tree in [&one, &other] {
            assert!(std::fs::read(tree.join(&name)).unwrap() == bytes, "{size} bytes");
        }
    }
}

#[cfg(unix)]
#[test]
fn a_tree_is_the_same_in_its_copy_and_shares_nothing_with_it() {
    use std::fs::{self, Permissions};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};

    for is_installed in [true, false] {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().canonicalize().unwrap().join(name));
        let kind = if is_installed { CopyKind::Installed(&from, &to) } else { CopyKind::Noted };
        let odd = OsStr::from_bytes(b"no text \xff");
        for inner in ["tree/empty", "tree/inner/.git", "to"] {
            fs::create_dir_all(folder.path().join(inner.replace("tree", "from/tree"))).unwrap();
        }
        let tree = from.join("tree");
        let files = [(odd, 0o640), (OsStr::new("program"), 0o755), (OsStr::new("inner/.git/HEAD"), 0o444)];
        for (name, mode) in files {
            fs::write(tree.join(name), name.as_bytes()).unwrap();
            fs::set_permissions(tree.join(name), Permissions::from_mode(mode)).unwrap();
        }
        symlink("/nowhere", tree.join("link")).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(tree.join("fifo")).status().unwrap().success());
        FileCopier::open(&from, &[&to], CopyOptions::all(kind)).unwrap().copy_real(Path::new("tree"), || true).unwrap();
        let copy = to.join("tree");
        for (name, mode) in files {
            let (original, copied) = (tree.join(name).metadata().unwrap(), copy.join(name).metadata().unwrap());
            assert_eq!(fs::read(copy.join(name)).unwrap(), name.as_bytes(), "{name:?}");
            assert!(copied.mode() & 0o777 == mode && copied.ino() != original.ino(), "{name:?}");
        }
        if is_installed {
            assert_eq!(fs::read_link(copy.join("link")).unwrap(), Path::new("/nowhere"));
            assert!(copy.join("empty").is_dir());
        } else {
            assert_eq!(fs::read_to_string(copy.join("link.omo-link")).unwrap(), "/nowhere");
        }
        assert!(!copy.join("fifo").exists());
    }
}

#[cfg(unix)]
#[test]
fn programs_of_a_copied_environment_run_those_beside_them() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::Command;

    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().canonicalize().unwrap().join(name));
    let venv = from.join(".venv");
    for inner in [venv.join("bin"), venv.join("lib/site-packages"), to.clone()] {
        fs::create_dir_all(inner).unwrap();
    }
    let bin = |tree: &Path, name: &str| tree.join(".venv/bin").join(name);
    for (name, text) in [
        ("python3", "#!/bin/sh\necho \"$0\"\n".to_owned()),
        ("tool", format!("#!/bin/sh\nexec '{}' \"$@\"\n", bin(&from, "python3").display())),
        ("linked", format!("#!/bin/sh\nexec '{}'\n", bin(&from, "python").display())),
    ] {
        fs::write(bin(&from, name), text).unwrap();
        fs::set_permissions(bin(&from, name), Permissions::from_mode(0o755)).unwrap();
    }
    symlink(bin(&from, "python3"), bin(&from, "python")).unwrap();
    symlink("python3", bin(&from, "python3.12")).unwrap();
    let module_folder = ".venv/lib/site-packages/project.pth";
    fs::write(from.join(module_folder), from.join("src").as_os_str().as_encoded_bytes()).unwrap();
    let binary = [b"\xff\0".as_slice(), from.as_os_str().as_encoded_bytes()].concat();
    fs::write(bin(&from, "binary"), &binary).unwrap();
    let kind = CopyKind::Installed(&from, &to);
    FileCopier::open(&from, &[&to], CopyOptions::all(kind)).unwrap().copy_real(Path::new(".venv"), || true).unwrap();
    for (name, runs) in [("tool", "python3"), ("linked", "python"), ("python3.12", "python3.12")] {
        let output = Command::new(bin(&to, name)).output().unwrap();
        assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{}\n", bin(&to, runs).display()), "{name}");
    }
    assert_eq!(fs::read_link(bin(&to, "python")).unwrap(), bin(&to, "python3"));
    assert_eq!(fs::read_link(bin(&to, "python3.12")).unwrap(), Path::new("python3"));
    assert_eq!(fs::read_to_string(to.join(module_folder)).unwrap(), to.join("src").to_str().unwrap());
    assert_eq!(fs::read(bin(&to, "binary")).unwrap(), binary, "no text");
    assert!(fs::read_to_string(bin(&from, "tool")).unwrap().contains(from.to_str().unwrap()));
}

#[test]
fn a_file_that_vanished_leaves_the_one_that_was_kept() {
    for kind in [CopyKind::Noted, CopyKind::Moved] {
        let folder = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
        for tree in [&from, &to] {
            std::fs::create_dir(tree).unwrap();
        }
        std::fs::write(to.join("notes"), "kept").unwrap();
        let mut copier = FileCopier::open(&from, &[&to], CopyOptions::all(kind)).unwrap();
        copier.copy_noted(Path::new("notes"));
        assert_eq!((copier.copied.len(), copier.not_copied.as_slice()), (0, ["notes".to_owned()].as_slice()));
        assert_eq!(std::fs::read_to_string(to.join("notes")).unwrap(), "kept");
        assert_eq!(to.read_dir().unwrap().count(), 1);
    }
}

#[test]
fn a_file_above_the_bound_is_left_out_and_smaller_ones_are_copied() {
    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    for tree in [&from, &to] {
        std::fs::create_dir(tree).unwrap();
    }
    let bound = 256 * 1024 * 1024;
    File::create(from.join("large")).unwrap().set_len(bound + 1).unwrap();
    std::fs::write(from.join("small"), "text").unwrap();
    let options = CopyOptions { max_bytes: bound, ..CopyOptions::all(CopyKind::Noted) };
    let mut copier = FileCopier::open(&from, &[&to], options).unwrap();
    for name in ["large", "small"] {
        copier.copy_real(Path::new(name), || true).unwrap();
    }
    assert_eq!((copier.copied.concat(), copier.not_copied.concat()), ("small".to_owned(), "large".to_owned()));
    assert_eq!(std::fs::read_to_string(to.join("small")).unwrap(), "text");
    assert_eq!(to.read_dir().unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_file_without_read_permission_is_moved_and_one_above_the_bounds_as_well() {
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let [from, to] = ["from", "to"].map(|name| folder.path().join(name));
    for tree in [&from, &to] {
        fs::create_dir(tree).unwrap();
    }
    fs::write(from.join("closed"), "text").unwrap();
    fs::set_permissions(from.join("closed"), Permissions::from_mode(0o000)).unwrap();
    for (kind, copied, not_copied) in [(CopyKind::Noted, "", "closed"), (CopyKind::Moved, "closed", "")] {
        let options = CopyOptions { max_files: 0, ..CopyOptions::all(kind) };
        let mut copier = FileCopier::open(&from, &[&to], options).unwrap();
        copier.copy_noted(Path::new("closed"));
        assert_eq!((copier.copied.concat(), copier.not_copied.concat()), (copied.to_owned(), not_copied.to_owned()));
    }
    let copied = to.join("closed");
    fs::set_permissions(&copied, Permissions::from_mode(0o600)).unwrap();
    assert_eq!(fs::read_to_string(copied).unwrap(), "text");
}

#[test]
fn reads_all_of_a_file_that_grew_since_its_size_was_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("file");
    std::fs::write(&path, "more than three").unwrap();
    for size in [0, 3, 15, 100] {
        let mut buffer = [0; 100];
        let read = read_small(&mut File::open(&path).unwrap(), size, &mut buffer).unwrap();
        assert_eq!(read, Some(b"more than three".as_slice()), "{size}");
    }
}
