//! Files that are kept below `refs/omo/keep`, with the real git.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::Path;

use omo_git::kept_work::KeptWork;
use omo_git::restore::{BroughtBack, OwnProjectPaths, RestoreResult, RestoreScope};
use omo_git::snapshots::Snapshots;
use omo_git::worktree::WorkerName;

use crate::tree::{Repository, git_in};

const REFERENCE: &str = "refs/omo/keep/r-1/step-1";

impl Repository {
    fn in_run<T>(&self, act: impl FnOnce(&Snapshots<'_>) -> T) -> T {
        let (root, state_home) = (self.top.as_path(), self.state_home());
        let worktree = omo_git::proved_worktree::ProvedWorktree::of_project(root);
        act(&Snapshots {
            worktree: &worktree,
            state_home: &state_home,
            run_id: "r-1",
            own: &["report.md"],
        })
    }

    fn keep(&self, paths: &[&str]) -> KeptWork {
        self.in_run(|place| place.keep_paths(&name("step-1"), paths).unwrap())
    }

    fn bring_back(&self, kept: &KeptWork, overwritten: Option<&str>) -> BroughtBack {
        self.in_run(|place| {
            place
                .bring_back(kept, overwritten.map(name).as_ref())
                .unwrap()
        })
    }

    fn read(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.top.join(path)).ok()
    }
}

fn name(text: &str) -> WorkerName {
    WorkerName::new("r-1", text).unwrap()
}

/// Keeps what a step of the paths `own` and everybody else do, and takes the step back.
fn take_back(
    it: &Repository,
    own: &[&str],
    work: impl FnOnce(&Repository),
) -> (RestoreResult, Option<KeptWork>) {
    let before = it.in_run(|place| place.take_bytes().unwrap());
    work(it);
    let after = it.in_run(|place| place.take_bytes().unwrap());
    let is_own = |path: &str| own.contains(&path);
    let own = OwnProjectPaths(&is_own);
    it.in_run(|place| {
        let keep = || {
            place
                .keep_difference(&before, &after, Some(own), &name("step-1"))
                .unwrap()
        };
        let kept = keep();
        let end = place
            .restore(&before, RestoreScope::OwnUntil(&after, own))
            .unwrap();
        assert_eq!(keep(), kept, "a kill between the two keeps nothing less");
        (end, kept)
    })
}

#[test]
fn kept_files_have_their_bytes_and_nothing_else_changes() {
    let it = Repository::new();
    it.write(".gitattributes", "* text=auto eol=crlf ident\n");
    it.git(&["config", "core.autocrlf", "true"]);
    it.write("tool", "#!/bin/sh\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    it.write("a.txt", "one\r\ntwo $Id: x $\n");
    it.write("src/new/bytes", "\0\r\n\u{1}");
    fs::write(it.top.join(OsStr::from_bytes(b"src/bad\xff\nname")), "odd").unwrap();
    symlink("nowhere", it.top.join("src/link")).unwrap();
    fs::set_permissions(it.top.join("tool"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_file(it.top.join("src/b.txt")).unwrap();
    it.write("users.txt", "the user's");
    it.write("report.md", "omo's own");
    it.git(&["add", "users.txt"]);
    let (seen, index) = (
        it.git(&["status", "--porcelain"]),
        fs::read(it.top.join(".git/index")).unwrap(),
    );

    let kept = it.keep(&["a.txt", "src/", "tool", "report.md", "gone.txt"]);
    assert_eq!(
        (kept.name.as_str(), kept.reference.as_str()),
        ("step-1", REFERENCE)
    );
    let blob = |path: &str| {
        git_in(
            &it.top,
            &["cat-file", "blob", &format!("{REFERENCE}:{path}")],
        )
    };
    assert_eq!(
        (blob("a.txt"), blob("src/new/bytes")),
        ("one\r\ntwo $Id: x $\n".to_owned(), "\0\r\n\u{1}".to_owned())
    );
    let changed = it.git(&[
        "diff-tree",
        "-r",
        "--no-commit-id",
        "--raw",
        "--abbrev=4",
        REFERENCE,
    ]);
    let changed: Vec<String> = changed
        .lines()
        .map(|line| line.split(' ').skip(4).collect())
        .collect();
    assert_eq!(
        changed,
        [
            "M\ta.txt",
            "D\tsrc/b.txt",
            "A\t\"src/bad\\377\\nname\"",
            "A\tsrc/link",
            "A\tsrc/new/bytes",
            "M\ttool"
        ]
    );
    assert!(
        it.git(&["ls-tree", REFERENCE, "tool"])
            .starts_with("100755 ")
    );
    assert!(
        it.git(&["ls-tree", REFERENCE, "src/link"])
            .starts_with("120000 ")
    );
    assert_eq!(
        it.git(&["rev-parse", &format!("{REFERENCE}^")]),
        it.git(&["rev-parse", "HEAD"])
    );
    assert_eq!(it.git(&["status", "--porcelain"]), seen);
    assert_eq!(fs::read(it.top.join(".git/index")).unwrap(), index);

    assert_eq!(
        it.keep(&["a.txt", "src/", "tool"]),
        kept,
        "the same once more is no other commit"
    );
    it.write("a.txt", "three");
    let later = it.keep(&["a.txt"]);
    assert_eq!(
        it.git(&["rev-parse", &format!("{REFERENCE}^2")]).trim(),
        kept.commit
    );
    assert_eq!(
        git_in(
            &it.top,
            &["cat-file", "blob", &format!("{}:a.txt", later.commit)]
        ),
        "three"
    );
}

#[test]
fn files_are_kept_before_the_first_commit_and_outside_of_a_sparse_set() {
    let unborn = Repository::unborn("project");
    unborn.write("a.txt", "1");
    unborn.keep(&["a.txt"]);
    assert_eq!(
        unborn.git(&["log", "--format=%an", REFERENCE]),
        "omo\nomo\n"
    );
    assert_eq!(
        unborn.git(&[
            "diff",
            "--name-status",
            "refs/omo/keep/r-1/step-1^",
            REFERENCE
        ]),
        "A\ta.txt\n"
    );
    let sparse = Repository::new();
    sparse.write("other/c.txt", "3");
    sparse.git(&["add", "."]);
    sparse.git(&["commit", "-qm", "more"]);
    sparse.git(&["sparse-checkout", "set", "other"]);
    sparse.write("other/c.txt", "4");
    sparse.keep(&["src", "src/b.txt", "other"]);
    assert_eq!(
        sparse.git(&["diff", "--name-status", "HEAD", REFERENCE]),
        "M\tother/c.txt\n"
    );
}

#[test]
fn what_was_staged_of_a_file_that_is_taken_back_is_kept_beside_it() {
    let it = Repository::new();
    let (_, kept) = take_back(&it, &["a.txt", "src/b.txt"], |it| {
        it.write("a.txt", "staged\n");
        it.write("src/b.txt", "staged as it is\n");
        it.git(&["add", "a.txt", "src/b.txt"]);
        it.write("a.txt", "written later\n");
    });
    let kept = kept.unwrap();
    let blob = |revision: &str| {
        git_in(
            &it.top,
            &["cat-file", "blob", &format!("{}{revision}", kept.commit)],
        )
    };
    assert_eq!(
        (blob(":a.txt").as_str(), blob("^2:a.txt").as_str()),
        ("written later\n", "staged\n")
    );
    assert_eq!(it.git(&["status", "--porcelain"]), "");
    let (_, kept) = take_back(&it, &["a.txt"], |it| {
        it.write("a.txt", "staged alone\n");
        it.git(&["add", "a.txt"]);
        it.git(&["restore", "--source=HEAD", "--worktree", "a.txt"]);
    });
    let staged = format!("{}^3:a.txt", kept.unwrap().commit);
    assert_eq!(
        git_in(&it.top, &["cat-file", "blob", &staged]),
        "staged alone\n"
    );
}

#[test]
fn what_others_do_in_the_same_work_tree_is_not_taken_back() {
    let it = Repository::new();
    it.write("lib/l.txt", "lib\n");
    it.write("gone.txt", "gone\n");
    it.write("staged.txt", "1\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    it.write("a.txt", "the user's, before the step\n");
    let (end, kept) = take_back(&it, &["a.txt", "src/b.txt", "new.txt"], |it| {
        it.write("a.txt", "wrong\n");
        it.write("new.txt", "new\n");
        fs::remove_file(it.top.join("src/b.txt")).unwrap();
        it.git(&["add", "a.txt", "new.txt"]);
        it.write("lib/l.txt", "an hour of another session\n");
        it.write("notes.txt", "the user's notes\n");
        it.write("staged.txt", "2\n");
        fs::remove_file(it.top.join("gone.txt")).unwrap();
        it.git(&["add", "staged.txt"]);
    });
    assert_eq!(
        (end.put_back, end.removed),
        (
            vec!["a.txt".into(), "src/b.txt".into()],
            vec!["new.txt".to_owned()]
        )
    );
    assert_eq!(
        end.of_others,
        ["gone.txt", "lib/l.txt", "notes.txt", "staged.txt"]
    );
    assert_eq!(
        it.git(&["status", "--porcelain"]),
        " M a.txt\n D gone.txt\n M lib/l.txt\nM  staged.txt\n?? notes.txt\n"
    );
    assert_eq!(it.read("a.txt").unwrap(), "the user's, before the step\n");

    let kept = kept.unwrap();
    let back = it.bring_back(&kept, None);
    assert_eq!(back.restored, ["a.txt", "new.txt", "src/b.txt"], "{back:?}");
    assert_eq!(
        (it.read("a.txt").unwrap(), it.read("new.txt").unwrap()),
        ("wrong\n".to_owned(), "new\n".to_owned())
    );
    assert!(it.read("src/b.txt").is_none());
    assert_eq!(
        it.bring_back(&kept, None).unchanged,
        ["a.txt", "new.txt", "src/b.txt"]
    );
}

#[test]
fn what_is_newer_than_the_kept_work_is_never_lost() {
    let it = Repository::new();
    fs::set_permissions(it.top.join("a.txt"), fs::Permissions::from_mode(0o600)).unwrap();
    let (_, kept) = take_back(&it, &["a.txt", "src/b.txt", "new", "link"], |it| {
        it.write("a.txt", "step\n");
        it.write("src/b.txt", "step\n");
        it.write("new", "step\n");
        symlink("a.txt", it.top.join("link")).unwrap();
        fs::set_permissions(it.top.join("new"), fs::Permissions::from_mode(0o755)).unwrap();
    });
    let kept = kept.unwrap();
    it.write("src/b.txt", "newer\n");
    it.write("new/in/folder", "newer\n");
    let end = it.bring_back(&kept, None);
    assert_eq!(
        (end.restored, end.differing),
        (
            vec!["a.txt".into(), "link".into()],
            vec!["new".into(), "src/b.txt".to_owned()]
        )
    );
    assert_eq!(
        (
            it.read("src/b.txt").unwrap(),
            it.read("new/in/folder").unwrap()
        ),
        ("newer\n".into(), "newer\n".to_owned())
    );
    let mode = |path: &str| {
        fs::symlink_metadata(it.top.join(path))
            .unwrap()
            .permissions()
            .mode()
            & 0o777
    };
    assert_eq!(
        (mode("a.txt"), it.top.join("link").read_link().unwrap()),
        (0o600, "a.txt".into())
    );

    let end = it.bring_back(&kept, Some("before-step-1"));
    assert_eq!(
        (end.restored, end.failed),
        (
            vec!["new".to_owned(), "src/b.txt".to_owned()],
            BTreeMap::new()
        )
    );
    let overwritten = end.overwritten.unwrap().commit;
    for path in ["src/b.txt", "new/in/folder"] {
        assert_eq!(
            git_in(
                &it.top,
                &["cat-file", "blob", &format!("{overwritten}:{path}")]
            ),
            "newer\n"
        );
    }
    assert_eq!(
        (mode("new"), it.read("src/b.txt").unwrap()),
        (0o755, "step\n".to_owned())
    );
}

#[test]
fn a_file_and_a_folder_take_each_others_place() {
    let it = Repository::new();
    it.write("folder/in/it", "old\n");
    it.write("file", "old\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    let own = ["folder", "folder/in/it", "file", "file/in/it"];
    let (_, kept) = take_back(&it, &own, |it| {
        fs::remove_dir_all(it.top.join("folder")).unwrap();
        it.write("folder", "step\n");
        fs::remove_file(it.top.join("file")).unwrap();
        it.write("file/in/it", "step\n");
    });
    let kept = kept.unwrap();
    let is_as_kept = || {
        (it.read("folder"), it.read("file/in/it")) == (Some("step\n".into()), Some("step\n".into()))
    };
    let end = it.bring_back(&kept, None);
    assert_eq!((end.differing, end.failed), (Vec::new(), BTreeMap::new()));
    assert!(is_as_kept());
    let again = it.bring_back(&kept, None);
    assert_eq!(
        again,
        BroughtBack {
            unchanged: again.unchanged.clone(),
            ..BroughtBack::default()
        }
    );

    // Newer ones: a file where a folder has to be, one more file where a file has to be.
    fs::remove_dir_all(it.top.join("file")).unwrap();
    it.write("file/in", "newer\n");
    fs::remove_file(it.top.join("folder")).unwrap();
    it.write("folder/in/it", "old\n");
    it.write("folder/more", "newer\n");
    let end = it.bring_back(&kept, None);
    assert_eq!(end.differing, ["file/in/it", "folder", "folder/in/it"]);
    assert_eq!(
        (
            it.read("folder/in/it").as_deref(),
            it.read("file/in").as_deref()
        ),
        (Some("old\n"), Some("newer\n"))
    );
    fs::write(it.top.join(".git/info/exclude"), "secret\n").unwrap();
    it.write("folder/secret", "ignored\n");
    let end = it.bring_back(&kept, Some("before-step-1"));
    assert_eq!(
        end.failed.keys().collect::<Vec<_>>(),
        ["folder", "folder/in/it"],
        "an ignored file is in no commit"
    );
    assert_eq!(
        (end.restored, it.read("folder/more").as_deref()),
        (vec!["file/in/it".to_owned()], Some("newer\n"))
    );
    fs::remove_file(it.top.join("folder/secret")).unwrap();
    let end = it.bring_back(&kept, Some("before-step-1"));
    assert_eq!(end.failed, BTreeMap::new());
    assert!(is_as_kept());
    for path in ["file/in", "folder/more"] {
        let kept = git_in(
            &it.top,
            &[
                "log",
                "--all",
                "--format=",
                "--name-only",
                "--diff-merges=first-parent",
            ],
        );
        assert!(
            kept.lines().any(|line| line == path),
            "{path} is not kept: {kept}"
        );
    }
}

#[test]
fn a_file_that_not_everybody_may_read_comes_back_like_that() {
    let it = Repository::new();
    let names = ["secret", "a\n\"b\u{e9}", "tool"];
    for (name, mode) in names.iter().zip([0o600, 0o640, 0o700]) {
        it.write(name, "x");
        fs::set_permissions(it.top.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    let kept = it.keep(&names);
    for name in names {
        fs::remove_file(it.top.join(name)).unwrap();
    }
    assert_eq!(it.bring_back(&kept, None).restored.len(), 3);
    let modes =
        names.map(|name| it.top.join(name).metadata().unwrap().permissions().mode() & 0o777);
    assert_eq!(modes, [0o600, 0o640, 0o700]);
}

/// What this thread has read so far, in bytes.
#[cfg(target_os = "linux")]
fn bytes_read() -> usize {
    let said = fs::read_to_string("/proc/thread-self/io").unwrap();
    said.lines()
        .find_map(|line| line.strip_prefix("rchar: "))
        .unwrap()
        .parse()
        .unwrap()
}

#[test]
#[cfg(target_os = "linux")]
fn a_large_file_is_read_once_while_it_is_kept() {
    const SIZE: usize = 20 << 20;
    let it = Repository::new();
    it.write("large", &"x".repeat(SIZE));
    for _ in 0..2 {
        let before = bytes_read();
        it.in_run(|place| place.take_bytes().unwrap());
        let read = bytes_read() - before;
        assert!((SIZE..SIZE * 3 / 2).contains(&read), "{read}");
    }
}

#[test]
fn a_run_of_zeros_takes_no_room_where_it_comes_back() {
    let it = Repository::new();
    for end in [b"end".as_slice(), b""] {
        let bytes = [b"begin".to_vec(), vec![0; 32 << 20], end.to_vec()].concat();
        let zeros = it.top.join("zeros");
        fs::write(&zeros, &bytes).unwrap();
        let kept = it.keep(&["zeros"]);
        fs::remove_file(&zeros).unwrap();
        assert_eq!(it.bring_back(&kept, None).restored, ["zeros"]);
        assert!(fs::read(&zeros).unwrap() == bytes);
        let room = zeros.metadata().unwrap().blocks() * 512;
        // A page of a file in memory may have 2 MiB.
        assert!(room < 16 << 20, "{room}");
    }
}

#[test]
fn many_files_are_compared_and_come_back_whatever_they_hold_and_are_called() {
    let it = Repository::new();
    it.write(".gitattributes", "* text=auto eol=crlf ident\n");
    let names = [
        "plain",
        "a b",
        "\"quoted\"",
        "back\\slash",
        "a\nb",
        "end\r",
        "-rf",
        "-",
        "empty",
        "it's",
    ];
    let content = |name: &str, before: &str| format!("{before} {name}\r\n$Id: x $\0");
    for name in names {
        fs::write(it.top.join(name), content(name, "kept")).unwrap();
    }
    fs::write(it.top.join("empty"), "").unwrap();
    symlink("plain", it.top.join("link")).unwrap();
    let paths = [names.as_slice(), &["link"]].concat();
    let kept = it.keep(&paths);
    let mut sorted = paths.clone();
    sorted.sort_unstable();
    assert_eq!(it.bring_back(&kept, None).unchanged, sorted);
    // As long as what was kept, and not the same.
    fs::write(it.top.join("plain"), content("plain", "newe")).unwrap();
    fs::write(
        it.top.join("a b"),
        "longer than what was kept of it, and newer",
    )
    .unwrap();
    for name in &paths[2..] {
        fs::remove_file(it.top.join(name)).unwrap();
    }
    let end = it.bring_back(&kept, None);
    assert_eq!(
        (end.differing, end.restored.len()),
        (vec!["a b".to_owned(), "plain".to_owned()], paths.len() - 2)
    );
    for name in &names[2..] {
        let expected = if *name == "empty" {
            String::new()
        } else {
            content(name, "kept")
        };
        assert_eq!(it.read(name).unwrap(), expected, "{name:?}");
    }
    assert_eq!(it.top.join("link").read_link().unwrap(), Path::new("plain"));
}
