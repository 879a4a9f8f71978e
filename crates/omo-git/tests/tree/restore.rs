//! Putting a work tree back as it was, in repositories of every kind, with the real git.

mod random;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use omo_git::proved_worktree::ProvedWorktree;
use omo_git::restore::{RestoreError, RestoreResult, RestoreScope, SnapshotId};
use omo_git::snapshots::{Snapshots, forget_snapshots};

use crate::tree::{Repository, git_in};

const RUN: &str = "../run/1";

/// Every file and link below a folder but for the repository's own, with its rights and its bytes.
fn files(top: &Path) -> BTreeMap<PathBuf, (u32, Vec<u8>)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![top.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.extend((path.file_name() != Some(OsStr::new(".git"))).then_some(path));
                continue;
            }
            let content = if meta.is_symlink() {
                fs::read_link(&path).unwrap().into_os_string().into_vec()
            } else {
                fs::read(&path).unwrap()
            };
            found.insert(path, (meta.permissions().mode(), content));
        }
    }
    found
}

/// What git keeps beside objects: the index, byte for byte, and where its names point.
fn marks(top: &Path) -> (Option<Vec<u8>>, String) {
    (
        fs::read(top.join(".git/index")).ok(),
        git_in(top, &["for-each-ref"]) + &fs::read_to_string(top.join(".git/HEAD")).unwrap(),
    )
}

impl Repository {
    fn keeps_whole(&self) -> SnapshotId {
        with_snapshot_context(&self.top, &self.state_home(), |place| {
            place.take_bytes().unwrap()
        })
    }

    fn restore(&self, before: &SnapshotId, what: RestoreScope<'_>) -> RestoreResult {
        with_snapshot_context(&self.top, &self.state_home(), |place| {
            place.restore(before, what).unwrap()
        })
    }

    fn remove(&self, path: &str) {
        fs::remove_file(self.top.join(path)).unwrap();
    }
}

fn with_snapshot_context<T>(
    root: &Path,
    state_home: &Path,
    act: impl FnOnce(&Snapshots<'_>) -> T,
) -> T {
    act(&Snapshots {
        worktree: &ProvedWorktree::of_project(root),
        state_home,
        run_id: RUN,
        own: &["report.md"],
    })
}

#[test]
fn everything_is_again_as_it_was() {
    let it = Repository::new();
    it.write(".gitattributes", "* text=auto eol=crlf ident\n");
    it.write("lines.txt", "one\r\ntwo\nthree\r\n");
    it.write("id.txt", "$Id: mine $\n");
    it.write("staged.txt", "staged\n");
    it.git(&["add", "staged.txt"]);
    it.write("staged.txt", "and changed since\n");
    it.write("folder/x", "x");
    it.write("file", "a file");
    symlink("nowhere", it.top.join("link")).unwrap();
    fs::write(it.top.join(OsStr::from_bytes(b"bad\xff\nname")), "odd").unwrap();
    fs::set_permissions(it.top.join("file"), fs::Permissions::from_mode(0o640)).unwrap();
    let (before, seen, marked) = (it.keeps_whole(), files(&it.top), marks(&it.top));

    fs::remove_dir_all(it.top.join("folder")).unwrap();
    symlink("src", it.top.join("folder")).unwrap();
    it.remove("file");
    it.write("file/now/a/folder", "x");
    it.remove("a.txt");
    fs::create_dir_all(it.top.join("a.txt/empty/within")).unwrap();
    it.remove("link");
    it.write("link", "a file");
    it.write("lines.txt", "other\n");
    it.write("id.txt", "$Id$\n");
    it.write("new/deep/x", "new");
    it.write("report.md", "omo's own");
    it.remove("src/b.txt");
    fs::remove_file(it.top.join(OsStr::from_bytes(b"bad\xff\nname"))).unwrap();
    it.git(&["add", "-A", "."]);
    let end = it.restore(&before, RestoreScope::All);
    assert!(
        end.failed.is_empty() && end.left_alone.is_empty() && end.uncovered.is_empty(),
        "{end:?}"
    );
    assert!(end.index_put_back && !end.head_moved);
    assert_eq!(end.removed, ["file/now/a/folder", "folder", "new/deep/x"]);
    it.remove("report.md");
    assert_eq!(files(&it.top), seen);
    assert_eq!(marks(&it.top), marked);
    assert!(!it.top.join("new").exists(), "an empty folder is left");
    let again = it.restore(&before, RestoreScope::All);
    assert_eq!(
        again,
        RestoreResult::default(),
        "a second time there is nothing to do"
    );
}

/// Settings and attributes that would have git take other bytes than those of a file.
fn converts_everything(it: &Repository) {
    it.write(
        ".gitattributes",
        "* text eol=crlf ident working-tree-encoding=UTF-16 filter=x\n",
    );
    for (name, value) in [
        ("core.autocrlf", "true"),
        ("core.eol", "crlf"),
        ("core.safecrlf", "true"),
    ] {
        it.git(&["config", name, value]);
    }
    for program in ["clean", "smudge"] {
        it.git(&["config", &format!("filter.x.{program}"), "tr a-z A-Z"]);
    }
}

#[test]
fn no_setting_and_no_attribute_changes_a_byte_a_right_a_link_or_a_folder() {
    let it = Repository::new();
    converts_everything(&it);
    let odd = it.top.join(OsStr::from_bytes(b"bad\xff\nname"));
    let bytes = b"\xff\xfea\r\nb\n$Id$ $Id: x $\0\n".as_slice();
    for (path, mode) in [
        (it.top.join("plain"), 0o644),
        (it.top.join("run"), 0o755),
        (odd.clone(), 0o600),
    ] {
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("/nowhere", it.top.join("far")).unwrap();
    symlink(OsStr::from_bytes(b"bad\xff\nname"), it.top.join("near")).unwrap();
    fs::create_dir_all(it.top.join("empty/within")).unwrap();
    it.write("inner/file", "x");
    git_in(&it.top.join("inner"), &["init", "-q"]);
    let (before, seen, marked) = (it.keeps_whole(), files(&it.top), marks(&it.top));
    for path in [&it.top.join("plain"), &odd] {
        fs::write(path, "other\r\n").unwrap();
    }
    fs::set_permissions(it.top.join("run"), fs::Permissions::from_mode(0o600)).unwrap();
    for name in ["far", "near"] {
        it.remove(name);
        it.write(name, "no link");
    }
    it.remove(".gitattributes");
    let end = it.restore(&before, RestoreScope::All);
    assert!(
        end.failed.is_empty() && end.uncovered.is_empty() && end.removed.is_empty(),
        "{end:?}"
    );
    assert_eq!((files(&it.top), marks(&it.top)), (seen, marked));
    assert!(it.top.join("empty/within").is_dir() && it.top.join("inner/.git").is_dir());
}

#[test]
fn a_file_that_may_not_be_read_is_named_or_comes_back_with_its_rights() {
    let it = Repository::new();
    it.write("closed", "secret");
    fs::set_permissions(it.top.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    let (taken, is_readable) = with_snapshot_context(&it.top, &it.state_home(), |place| {
        (place.take_bytes(), fs::read(it.top.join("closed")).is_ok())
    });
    assert_eq!(taken.is_ok(), is_readable);
    match taken {
        Err(RestoreError::Io { action, path, .. }) => {
            assert_eq!((action, path), ("read", it.top.join("closed")));
        }
        Err(error) => panic!("{error}"),
        Ok(before) => {
            it.remove("closed");
            assert_eq!(it.restore(&before, RestoreScope::All).put_back, ["closed"]);
            let (mode, bytes) = files(&it.top)[&it.top.join("closed")].clone();
            assert_eq!(
                (mode & 0o777, bytes.as_slice()),
                (0o000, b"secret".as_slice())
            );
        }
    }
}

#[test]
fn what_others_do_meanwhile_stays() {
    let it = Repository::new();
    it.write("mine.txt", "1");
    let before = it.keeps_whole();
    it.write("mine.txt", "2");
    it.write("mine-new.txt", "2");
    it.write("both.txt", "2");
    it.remove("a.txt");
    it.git(&["add", "-A", "."]);
    let after = it.keeps_whole();
    it.write("both.txt", "3");
    it.write("other.txt", "3");
    it.write("src/b.txt", "3");
    it.git(&["add", "other.txt", "src/b.txt"]);
    let end = it.restore(&before, RestoreScope::Until(&after));
    assert_eq!(
        (end.put_back, end.removed),
        (
            vec!["a.txt".to_owned(), "mine.txt".to_owned()],
            vec!["mine-new.txt".to_owned()]
        )
    );
    assert_eq!(end.left_alone, ["both.txt"]);
    let read = |path: &str| fs::read_to_string(it.top.join(path)).unwrap();
    assert_eq!(
        [
            read("both.txt"),
            read("other.txt"),
            read("src/b.txt"),
            read("mine.txt")
        ],
        ["3", "3", "3", "1"]
    );
    // Nothing of ours stays staged, and everything of theirs does.
    assert_eq!(
        it.git(&["diff", "--cached", "--name-only"]),
        "other.txt\nsrc/b.txt\n"
    );
}

#[test]
fn some_paths_alone_are_put_back() {
    let it = Repository::new();
    let before = it.keeps_whole();
    it.write("a.txt", "2");
    it.write("src/b.txt", "2");
    it.write("src/new/c.txt", "2");
    it.write("src2", "2");
    it.git(&["add", "-A", "."]);
    let end = it.restore(&before, RestoreScope::Paths(&["./src"]));
    assert_eq!(
        (end.put_back, end.removed),
        (
            vec!["src/b.txt".to_owned()],
            vec!["src/new/c.txt".to_owned()]
        )
    );
    assert_eq!(it.git(&["status", "--porcelain"]), "M  a.txt\nA  src2\n");
    for outside in ["..", "../x", "/etc/passwd", ".git/config", "src/../../x"] {
        let refused = with_snapshot_context(&it.top, &it.state_home(), |place| {
            place.restore(&before, RestoreScope::Paths(&[outside]))
        });
        assert!(
            matches!(refused, Err(RestoreError::Outside(_))),
            "{outside}: {refused:?}"
        );
    }
}

#[test]
fn what_was_ignored_is_never_removed() {
    let it = Repository::new();
    it.write(".gitignore", ".env\ntarget/\n");
    it.write(".env", "secret");
    it.write("target/x", "built");
    let before = it.keeps_whole();
    it.write(".gitignore", "hidden\n");
    it.write("hidden", "new, and ignored by the new rules");
    let end = it.restore(&before, RestoreScope::All);
    assert_eq!(
        (end.put_back, end.removed),
        (vec![".gitignore".to_owned()], vec!["hidden".to_owned()])
    );
    assert!(it.top.join(".env").exists() && it.top.join("target/x").exists());
}

#[test]
fn a_link_in_the_way_leads_nowhere() {
    let it = Repository::new();
    let outside = it.temp.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("b.txt"), "theirs").unwrap();
    let before = it.keeps_whole();
    fs::remove_dir_all(it.top.join("src")).unwrap();
    symlink(&outside, it.top.join("src")).unwrap();
    it.write(".git/info/exclude", "src\n");
    it.restore(&before, RestoreScope::All);
    assert_eq!(fs::read_to_string(outside.join("b.txt")).unwrap(), "theirs");
    assert_eq!(fs::read_dir(&outside).unwrap().count(), 1);
}

#[test]
fn what_cannot_be_put_back_is_reported_and_the_rest_is_restored() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    it.write("spot", "a file");
    let before = it.keeps_whole();
    it.remove("spot");
    it.write("spot/x.log", "ignored");
    it.write("a.txt", "2");
    it.write("inner/file", "x");
    git_in(&it.top.join("inner"), &["init", "-q"]);
    let end = it.restore(&before, RestoreScope::All);
    assert_eq!(end.put_back, ["a.txt"]);
    assert_eq!(end.uncovered, ["inner"]);
    assert_eq!(end.failed.keys().collect::<Vec<_>>(), ["spot"]);
    assert!(it.top.join("spot/x.log").exists() && it.top.join("inner/file").exists());
}

#[test]
fn nothing_is_touched_while_another_git_is_at_work_or_a_snapshot_is_gone() {
    let it = Repository::new();
    let before = it.keeps_whole();
    it.write("a.txt", "2");
    it.write(".git/index.lock", "");
    let run = || {
        with_snapshot_context(&it.top, &it.state_home(), |place| {
            place.restore(&before, RestoreScope::All)
        })
    };
    assert!(matches!(run(), Err(RestoreError::IndexLocked(_))));
    assert_eq!(fs::read_to_string(it.top.join("a.txt")).unwrap(), "2");
    // One that a restore of ours left when it was ended is no obstacle.
    it.write(".git/index.lock", "omo puts the index back\n");
    it.write("src/.omo-restore.tmp", "half");
    assert_eq!(run().unwrap().put_back, ["a.txt"]);
    assert!(
        !it.top.join(".git/index.lock").exists() && !it.top.join("src/.omo-restore.tmp").exists()
    );
    it.write("a.txt", "2");
    it.remove("src/b.txt");
    fs::remove_file(kept_at(&it.state_home().join("omo/restore"), "two\n")).unwrap();
    assert!(matches!(run(), Err(RestoreError::SnapshotGone(path)) if path == "src/b.txt"));
    assert_eq!(fs::read_to_string(it.top.join("a.txt")).unwrap(), "2");
    forget_snapshots(&it.state_home(), RUN).unwrap();
    assert!(matches!(run(), Err(RestoreError::SnapshotGone(_))));
    assert_eq!(fs::read_to_string(it.top.join("a.txt")).unwrap(), "2");
}

/// Where the content of a file is kept.
fn kept_at(folder: &Path, content: &str) -> PathBuf {
    files(folder)
        .into_iter()
        .find(|(_, (_, bytes))| bytes == content.as_bytes())
        .unwrap()
        .0
}

#[test]
fn damaged_bytes_are_never_put_back() {
    let it = Repository::new();
    let before = it.keeps_whole();
    it.write("a.txt", "2");
    it.remove("src/b.txt");
    fs::write(
        kept_at(&it.state_home().join("omo/restore"), "one\n"),
        "other",
    )
    .unwrap();
    let end = it.restore(&before, RestoreScope::All);
    assert_eq!(end.put_back, ["src/b.txt"]);
    assert_eq!(end.failed.keys().collect::<Vec<_>>(), ["a.txt"]);
    assert_eq!(fs::read_to_string(it.top.join("a.txt")).unwrap(), "2");
}

#[test]
fn a_commit_stays_and_a_repository_without_one_has_no_index() {
    let it = Repository::new();
    let before = it.keeps_whole();
    it.write("a.txt", "2");
    it.git(&["commit", "-qam", "more"]);
    let head = it.git(&["rev-parse", "HEAD"]);
    assert!(it.restore(&before, RestoreScope::All).head_moved);
    assert_eq!(it.git(&["rev-parse", "HEAD"]), head);
    let unborn = Repository::unborn("project");
    unborn.write("a", "1");
    let before = unborn.keeps_whole();
    unborn.git(&["add", "a"]);
    assert!(unborn.restore(&before, RestoreScope::All).index_put_back);
    assert!(!unborn.top.join(".git/index").exists());
}

#[test]
fn no_filter_and_no_hook_of_the_repository_is_run() {
    let it = Repository::new();
    let ran = it.temp.path().join("ran");
    let run = format!("touch {}; cat", ran.display());
    for (name, value) in [
        ("filter.x.clean", &run),
        ("filter.x.smudge", &run),
        ("core.fsmonitor", &run),
    ] {
        it.git(&["config", name, value]);
    }
    it.write(".gitattributes", "* filter=x\n");
    it.write(
        ".git/hooks/post-index-change",
        &format!("#!/bin/sh\n{run}\n"),
    );
    fs::set_permissions(
        it.top.join(".git/hooks/post-index-change"),
        fs::Permissions::from_mode(0o755),
    )
    .unwrap();
    let before = it.keeps_whole();
    it.write("a.txt", "2");
    it.restore(&before, RestoreScope::Paths(&["a.txt"]));
    it.restore(&before, RestoreScope::All);
    assert!(!ran.exists());
}
