//! Removing a worktree: what is kept of it, when it stays, and that a removal cut short is taken up.

use std::fs;
use std::process::{Command, Stdio};

use omo_git::worktree::{
    WorktreeError, WorktreeRemoval, carry_out_removal, find_leftovers, prepare_removal,
};

use crate::worktree::{Project, git_in, name, try_git_in, write};

impl Project {
    fn prepare(&self) -> WorktreeRemoval {
        prepare_removal(&self.repository(), &name(), None, &self.files()).unwrap()
    }

    /// Removes the worktree; then whatever nothing names is gone for good.
    fn remove(&self) -> WorktreeRemoval {
        let removal = self.prepare();
        carry_out_removal(&self.repository(), &removal).unwrap();
        self.forget_unnamed();
        assert_eq!(self.git(&["worktree", "list"]).lines().count(), 1);
        assert_eq!(self.git(&["branch", "--list", "omo/*"]), "");
        assert!(!name().path(&self.repository()).exists());
        removal
    }

    fn has(&self, commit: &str) -> bool {
        try_git_in(&self.top, &["cat-file", "-e", commit]).0
    }
}

#[test]
fn every_state_of_a_file_is_kept() {
    let it = Project::new();
    it.write(".gitattributes", "*.crlf text eol=lf\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "attributes"]);
    let at = it.create().path;
    write(&at.join("staged.txt"), "staged\n");
    git_in(&at, &["add", "staged.txt"]);
    write(&at.join("staged.txt"), "changed since\n");
    write(&at.join("new/untracked.txt"), "untracked\n");
    write(&at.join("bytes.crlf"), "one\r\n");
    write(&at.join("kept.log"), "ignored\n");
    git_in(&at, &["update-index", "--assume-unchanged", "a.txt"]);
    write(&at.join("a.txt"), "hidden from git\n");
    let before = it.git(&["status", "--porcelain"]);
    it.remove();
    assert_eq!(it.kept("staged.txt"), "changed since");
    assert_eq!(it.kept("new/untracked.txt"), "untracked");
    assert_eq!(it.kept("bytes.crlf"), "one\r");
    assert_eq!(it.kept("a.txt"), "hidden from git");
    let keep = name().keep_reference();
    let parents = it.git(&["rev-list", "--parents", "-1", &keep]);
    let staged = |parent: &str| try_git_in(&it.top, &["show", &format!("{parent}:staged.txt")]).1;
    assert!(
        parents
            .split(' ')
            .skip(1)
            .any(|parent| staged(parent) == "staged"),
        "{parents}"
    );
    assert_eq!(
        fs::read_to_string(it.files().join("kept.log")).unwrap(),
        "ignored\n"
    );
    assert_eq!(it.git(&["status", "--porcelain"]), before);
}

#[test]
fn no_setting_and_no_attribute_changes_what_is_kept() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let it = Project::new();
    for (name, value) in [
        ("core.autocrlf", "true"),
        ("core.eol", "crlf"),
        ("filter.x.clean", "tr a-z A-Z"),
    ] {
        it.git(&["config", name, value]);
    }
    let at = it.create().path;
    write(
        &at.join(".gitattributes"),
        "* text eol=crlf ident working-tree-encoding=UTF-16 filter=x\n",
    );
    let bytes = b"\xff\xfea\r\nb\n$Id$ $Id: x $\0\n".as_slice();
    for (name, mode) in [
        (b"plain".as_slice(), 0o644),
        (b"run", 0o755),
        (b"bad\xff\nname", 0o600),
    ] {
        let path = at.join(OsStr::from_bytes(name));
        fs::write(&path, bytes).unwrap();
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    }
    symlink("/nowhere", at.join("link")).unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    it.remove();
    let keep = name().keep_reference();
    fs::write(it.top.join("bytes"), bytes).unwrap();
    let object = it.git(&["hash-object", "--no-filters", "bytes"]);
    let listed = it.git(&["ls-tree", "-r", &keep]);
    let expected = [
        ("\"bad\\377\\nname\"", "100644", object.as_str()),
        ("link", "120000", ""),
        ("plain", "100644", &object),
        ("run", "100755", &object),
    ];
    for (path, mode, object) in expected {
        let row = listed
            .lines()
            .find_map(|row| row.strip_suffix(path)?.strip_suffix('\t'));
        let row = row.unwrap_or_else(|| panic!("{path} in {listed}"));
        assert!(row.starts_with(mode) && row.ends_with(object), "{row}");
    }
    assert_eq!(it.kept("link"), "/nowhere");
}

#[test]
fn commits_that_only_the_worktree_names_are_kept() {
    let it = Project::new();
    let at = it.create().path;
    let commit = |text: &str| {
        write(&at.join("a.txt"), text);
        git_in(&at, &["commit", "-qam", text]);
        git_in(&at, &["rev-parse", "HEAD"])
    };
    let forgotten = commit("forgotten");
    git_in(&at, &["reset", "-q", "--hard", "HEAD^"]);
    let own = commit("own");
    git_in(&at, &["update-ref", "refs/worktree/mine", &own]);
    git_in(&at, &["reset", "-q", "--hard", "HEAD^"]);
    let ours = commit("ours");
    // A merge in progress, whose other side was never checked out here and loses its branch.
    it.git(&["checkout", "-q", "-b", "side"]);
    it.write("a.txt", "side\n");
    it.git(&["commit", "-qam", "side"]);
    let side = it.head();
    it.git(&["checkout", "-q", "main"]);
    assert!(!try_git_in(&at, &["merge", "side"]).0);
    it.git(&["branch", "-qD", "side"]);
    it.remove();
    for (what, commit) in [
        ("reflog", forgotten),
        ("own reference", own),
        ("merged", side),
        ("branch", ours),
    ] {
        assert!(it.has(&commit), "{what}");
    }
    assert!(it.kept("a.txt").contains("<<<<<<<"));
}

#[test]
fn what_a_build_makes_and_what_is_known_is_not_copied() {
    let it = Project::new();
    it.write(".env", "KEY=1");
    it.write(".worktreeinclude", ".env\n");
    let at = it.create().path;
    write(&at.join("target/debug/x"), "built");
    write(&at.join("b.log"), "notes");
    let removal = it.remove();
    assert_eq!(removal.kept.unwrap().copied, ["b.log"]);
    assert!(!it.files().join("target").exists() && !it.files().join(".env").exists());
}

#[test]
fn what_git_ignores_is_kept_however_much_it_is() {
    let it = Project::new();
    it.write(".git/info/exclude", "vendor/\n");
    let at = it.create().path;
    for number in 0..10_050 {
        write(&at.join(format!("vendor/{number}")), "");
    }
    write(&at.join("vendor/0"), "first");
    // As an end in the middle leaves it.
    fs::create_dir_all(it.files().join("vendor")).unwrap();
    fs::hard_link(at.join("vendor/0"), it.files().join("vendor/0.omo-part")).unwrap();
    let removal = it.remove();
    assert_eq!(removal.kept.unwrap().copied.len(), 10_050);
    assert_eq!(
        fs::read_to_string(it.files().join("vendor/0")).unwrap(),
        "first"
    );
    assert!(!at.exists() && !it.files().join("vendor/0.omo-part").exists());
}

#[cfg(unix)]
#[test]
fn read_only_folders_go_as_well() {
    use std::os::unix::fs::PermissionsExt;
    let it = Project::new();
    it.write(".git/info/exclude", "cache/\n");
    let at = it.create().path;
    write(&at.join("cache/module/file.txt"), "downloaded");
    write(&at.join("target/file.txt"), "built");
    for folder in ["cache/module", "cache", "target"] {
        fs::set_permissions(at.join(folder), fs::Permissions::from_mode(0o555)).unwrap();
    }
    assert_eq!(it.remove().kept.unwrap().copied, ["cache/module/file.txt"]);
    assert!(!at.exists());
}

#[test]
fn a_repository_within_the_worktree_is_kept_whole() {
    let it = Project::new();
    let at = it.create().path;
    for (inner, commits) in [("empty", false), ("inner", true)] {
        let inner = at.join(inner);
        write(&inner.join("c.txt"), "inside");
        git_in(&inner, &["init", "-q"]);
        if commits {
            git_in(&inner, &["add", "."]);
            git_in(&inner, &["commit", "-qm", "inside"]);
        }
    }
    it.remove();
    assert_eq!(
        fs::read_to_string(it.files().join("empty/c.txt")).unwrap(),
        "inside"
    );
    assert_eq!(
        git_in(&it.files().join("inner"), &["log", "--format=%s"]),
        "inside"
    );
}

#[test]
fn commits_of_a_submodule_are_brought_to_the_main_one() {
    let it = Project::new();
    let origin = it.temp.path().join("origin");
    fs::create_dir(&origin).unwrap();
    git_in(&origin, &["init", "-q"]);
    git_in(&origin, &["commit", "-q", "--allow-empty", "-m", "start"]);
    it.git(&[
        "submodule",
        "--quiet",
        "add",
        &origin.display().to_string(),
        "sub",
    ]);
    it.git(&["commit", "-qm", "submodule"]);
    let at = it.create().path;
    git_in(&at, &["submodule", "--quiet", "update", "--init"]);
    git_in(
        &at.join("sub"),
        &["commit", "-q", "--allow-empty", "-m", "inside"],
    );
    let inside = git_in(&at.join("sub"), &["rev-parse", "HEAD"]);
    write(&at.join("sub/open.txt"), "not committed");
    let refused = prepare_removal(&it.repository(), &name(), None, &it.files());
    assert!(
        matches!(&refused, Err(WorktreeError::Unsaved { what, .. }) if what == &["sub"]),
        "{refused:?}"
    );
    fs::remove_file(at.join("sub/open.txt")).unwrap();
    it.remove();
    assert!(try_git_in(&it.top.join("sub"), &["cat-file", "-e", &inside]).0);
}

#[test]
fn nothing_that_the_worktree_set_up_is_run() {
    let it = Project::new();
    let at = it.create().path;
    let trace = it.temp.path().join("ran");
    let script = format!("touch '{}'; cat", trace.display());
    it.git(&["config", "extensions.worktreeConfig", "true"]);
    git_in(&at, &["config", "--worktree", "filter.bad.clean", &script]);
    git_in(&at, &["config", "--worktree", "core.fsmonitor", &script]);
    write(&it.top.join(".git/info/attributes"), "* filter=bad\n");
    write(&at.join("b.txt"), "work\n");
    it.remove();
    assert!(!trace.exists());
    assert_eq!(it.kept("b.txt"), "work");
}

#[test]
fn a_worktree_stays_while_it_is_in_use() {
    let it = Project::new();
    let at = it.create().path;
    let removal = it.prepare();
    let mut child = Command::new("cat")
        .current_dir(&at)
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    let refused = carry_out_removal(&it.repository(), &removal);
    drop(child.stdin.take());
    child.wait().unwrap();
    if cfg!(target_os = "linux") {
        assert!(
            matches!(refused, Err(WorktreeError::InUse { process, .. }) if process == child.id())
        );
        carry_out_removal(&it.repository(), &removal).unwrap();
    }
    assert!(!at.exists());
}

#[test]
fn what_changed_since_it_was_kept_stays() {
    let it = Project::new();
    let at = it.create().path;
    let same_length: String = fs::read_to_string(at.join("a.txt"))
        .unwrap()
        .chars()
        .map(|_| 'x')
        .collect();
    let changes: [(&str, &dyn Fn()); 5] = [
        ("a new file", &|| write(&at.join("late.txt"), "late")),
        ("as many bytes in the same moment", &|| {
            write(&at.join("a.txt"), &same_length);
        }),
        ("a file less", &|| {
            fs::remove_file(at.join("late.txt")).unwrap();
        }),
        ("staged, and set back", &|| {
            git_in(&at, &["add", "a.txt"]);
            write(&at.join("a.txt"), "a");
        }),
        ("a commit, and the one before checked out again", &|| {
            git_in(&at, &["commit", "-qm", "late"]);
            git_in(&at, &["reset", "-q", "--soft", "HEAD^"]);
        }),
    ];
    for (what, change) in changes {
        let removal = it.prepare();
        change();
        assert!(
            matches!(
                carry_out_removal(&it.repository(), &removal),
                Err(WorktreeError::Changed { .. })
            ),
            "{what}"
        );
        assert!(at.join("a.txt").is_file(), "{what}");
    }
    // The branch alone, after the worktree is gone.
    let removal = it.prepare();
    let later = it.git(&["commit-tree", "-m", "x", "-p", "HEAD", "HEAD^{tree}"]);
    it.git(&["worktree", "remove", "--force", &at.display().to_string()]);
    it.git(&["update-ref", "refs/heads/omo/run1/g1", &later]);
    assert!(matches!(
        carry_out_removal(&it.repository(), &removal),
        Err(WorktreeError::Changed { .. })
    ));
    assert!(it.has(&later) && it.git(&["rev-parse", "omo/run1/g1"]) == later);
}

#[test]
fn a_removal_that_was_cut_short_is_taken_up() {
    let it = Project::new();
    let at = it.create().path;
    write(&at.join("b.txt"), "work");
    let removal = it.prepare();
    write(&it.top.join(".git/worktrees/omo-run1-g1/omo-removing"), "");
    fs::remove_file(at.join("a.txt")).unwrap();
    fs::remove_file(at.join(".git")).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert_eq!(it.kept("b.txt"), "work");
    assert!(!at.exists());
}

#[test]
fn no_commit_is_made_where_everything_is_integrated() {
    let it = Project::new();
    let at = it.create().path;
    write(&at.join("b.txt"), "work");
    git_in(&at, &["add", "."]);
    git_in(&at, &["commit", "-qm", "work"]);
    it.git(&["merge", "-q", "--no-ff", "-m", "merge", "omo/run1/g1"]);
    let tip = it.head();
    let prepare = || {
        prepare_removal(&it.repository(), &name(), Some(&tip), &it.files())
            .unwrap()
            .kept
            .unwrap()
            .commit
    };
    assert_eq!(prepare(), None);
    assert_eq!(it.git(&["for-each-ref", "refs/omo"]), "");
    write(&at.join("c.txt"), "more");
    let first = prepare();
    assert!(first.is_some());
    assert_eq!(prepare(), first, "asked again with nothing new");
    write(&at.join("c.txt"), "other");
    let second = prepare().unwrap();
    it.git(&["merge-base", "--is-ancestor", &first.unwrap(), &second]);
}

#[test]
fn a_dead_run_is_reaped_and_another_is_not() {
    let it = Project::new();
    let at = it.create().path;
    write(&at.join("b.txt"), "work");
    let repository = it.repository();
    let other = omo_git::worktree::WorkerName::new("run1-x", "g1").unwrap();
    let other = omo_git::worktree::create_worktree(&repository, &other, &it.head())
        .unwrap()
        .path;
    it.git(&["branch", "omo/run1/g2"]);
    let found = find_leftovers(&repository, "run1").unwrap();
    assert_eq!(
        found
            .iter()
            .map(omo_git::worktree::WorkerName::worker)
            .collect::<Vec<_>>(),
        ["g1", "g2"]
    );
    for name in found {
        carry_out_removal(
            &repository,
            &prepare_removal(&repository, &name, Some(&it.head()), &it.files()).unwrap(),
        )
        .unwrap();
    }
    assert!(!at.exists() && other.exists());
    assert_eq!(
        git_in(&it.top, &["show", "refs/omo/keep/run1/g1:b.txt"]),
        "work"
    );
    assert!(find_leftovers(&repository, "run1").unwrap().is_empty());
}

#[test]
fn a_branch_that_its_user_has_checked_out_elsewhere_stays() {
    let it = Project::new();
    let at = it.create().path;
    write(&at.join("b.txt"), "work\n");
    let look = it.temp.path().join("a look");
    it.git(&[
        "worktree",
        "add",
        "-q",
        "-f",
        &look.to_string_lossy(),
        "omo/run1/g1",
    ]);
    let refused = carry_out_removal(&it.repository(), &it.prepare()).unwrap_err();
    assert!(
        matches!(&refused, WorktreeError::CheckedOut { .. }),
        "{refused}"
    );
    assert!(!at.exists() && it.kept("b.txt") == "work");
    assert_eq!(
        git_in(&look, &["status", "--porcelain", "--branch"]),
        "## omo/run1/g1"
    );
    assert!(omo_git::worktree::discard_worktree(&it.repository(), &name()).is_err());
    // In the place where the worktree is to be made again it is told as well.
    let again = omo_git::worktree::continue_worktree(&it.repository(), &name(), &it.head());
    assert!(
        matches!(again, Err(WorktreeError::CheckedOut { .. })),
        "{again:?}"
    );
    let said = refused.to_string();
    let (_, command) = said.split_once(": ").unwrap();
    let played = Command::new("sh")
        .args(["-c", command])
        .current_dir(&it.top)
        .status()
        .unwrap();
    assert!(played.success(), "{command}");
    assert!(find_leftovers(&it.repository(), "run1").unwrap().is_empty());
}

#[test]
fn a_worktree_that_its_user_has_moved_keeps_its_branch() {
    let it = Project::new();
    let at = it.create().path;
    let moved = it.temp.path().join("moved");
    it.git(&[
        "worktree",
        "move",
        &at.to_string_lossy(),
        &moved.to_string_lossy(),
    ]);
    let refused = carry_out_removal(&it.repository(), &it.prepare());
    assert!(
        matches!(refused, Err(WorktreeError::CheckedOut { .. })),
        "{refused:?}"
    );
    assert_eq!(git_in(&moved, &["rev-parse", "HEAD"]), it.head());
}
