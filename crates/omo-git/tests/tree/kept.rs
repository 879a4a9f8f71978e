//! Files that are kept below `refs/omo/keep`, with the real git.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};

use omo_git::kept_work::{KeptWork, keep_paths};
use omo_git::restore::SnapshotContext;
use omo_git::worktree::WorkerName;

use crate::{Repository, git_in};

const REFERENCE: &str = "refs/omo/keep/r-1/step-1";

impl Repository {
    fn keep(&self, paths: &[&str]) -> KeptWork {
        let (root, state_home) = (self.top.as_path(), self.state_home());
        let place = SnapshotContext {
            worktree: &omo_git::proved_worktree::ProvedWorktree::of_project(root),
            state_home: &state_home,
            run_id: "r-1",
            own: &["report.md"],
        };
        keep_paths(&place, &WorkerName::new("r-1", "step-1").unwrap(), paths).unwrap()
    }
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
    let (seen, index) = (it.git(&["status", "--porcelain"]), fs::read(it.top.join(".git/index")).unwrap());

    let kept = it.keep(&["a.txt", "src/", "tool", "report.md", "gone.txt"]);
    assert_eq!((kept.name.as_str(), kept.reference.as_str()), ("step-1", REFERENCE));
    let blob = |path: &str| git_in(&it.top, &["cat-file", "blob", &format!("{REFERENCE}:{path}")]);
    assert_eq!((blob("a.txt"), blob("src/new/bytes")), ("one\r\ntwo $Id: x $\n".to_owned(), "\0\r\n\u{1}".to_owned()));
    let changed = it.git(&["diff-tree", "-r", "--no-commit-id", "--raw", "--abbrev=4", REFERENCE]);
    let changed: Vec<String> = changed.lines().map(|line| line.split(' ').skip(4).collect()).collect();
    assert_eq!(
        changed,
        ["M\ta.txt", "D\tsrc/b.txt", "A\t\"src/bad\\377\\nname\"", "A\tsrc/link", "A\tsrc/new/bytes", "M\ttool"]
    );
    assert!(it.git(&["ls-tree", REFERENCE, "tool"]).starts_with("100755 "));
    assert!(it.git(&["ls-tree", REFERENCE, "src/link"]).starts_with("120000 "));
    assert_eq!(it.git(&["rev-parse", &format!("{REFERENCE}^")]), it.git(&["rev-parse", "HEAD"]));
    assert_eq!(it.git(&["status", "--porcelain"]), seen);
    assert_eq!(fs::read(it.top.join(".git/index")).unwrap(), index);

    assert_eq!(it.keep(&["a.txt", "src/", "tool"]), kept, "the same once more is no other commit");
    it.write("a.txt", "three");
    let later = it.keep(&["a.txt"]);
    assert_eq!(it.git(&["rev-parse", &format!("{REFERENCE}^2")]).trim(), kept.commit);
    assert_eq!(git_in(&it.top, &["cat-file", "blob", &format!("{}:a.txt", later.commit)]), "three");
}

#[test]
fn files_are_kept_before_the_first_commit_and_outside_of_a_sparse_set() {
    let unborn = Repository::unborn("project");
    unborn.write("a.txt", "1");
    unborn.keep(&["a.txt"]);
    assert_eq!(unborn.git(&["log", "--format=%an", REFERENCE]), "omo\n");
    let sparse = Repository::new();
    sparse.write("other/c.txt", "3");
    sparse.git(&["add", "."]);
    sparse.git(&["commit", "-qm", "more"]);
    sparse.git(&["sparse-checkout", "set", "other"]);
    sparse.write("other/c.txt", "4");
    sparse.keep(&["src", "src/b.txt", "other"]);
    assert_eq!(sparse.git(&["diff", "--name-status", "HEAD", REFERENCE]), "M\tother/c.txt\n");
}
