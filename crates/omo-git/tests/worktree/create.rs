//! Making a worktree: where it lies, what it gets, and that a try that was cut short is taken up.

use std::fs;
use std::os::unix::fs::symlink;

use omo_git::proved_worktree::ProvedWorktree;
use omo_git::worktree::{
    WorkerName, WorktreeError, carry_out_removal, create_worktree, prepare_removal,
    prepare_worktree_folder,
};

use crate::worktree::{Project, git_in, name, write};

#[test]
fn a_worktree_begins_at_its_base_and_is_hidden() {
    let it = Project::new();
    let base = it.head();
    it.write("a.txt", "two\n");
    it.git(&["commit", "-qam", "later"]);
    let made = create_worktree(&it.repository(), &name(), &base).unwrap();
    assert_eq!(made.path, it.top.join(".claude/worktrees/omo-run1-g1"));
    assert_eq!(git_in(&made.path, &["rev-parse", "HEAD"]), base);
    assert_eq!(
        git_in(&made.path, &["branch", "--show-current"]),
        "omo/run1/g1"
    );
    assert_eq!(git_in(&made.path, &["status", "--porcelain"]), "");
    assert_eq!(it.git(&["status", "--porcelain"]), "");
    assert!(!made.was_there);
}

#[test]
fn a_whole_worktree_is_left_as_it_is() {
    let it = Project::new();
    let made = it.create();
    write(&made.path.join("new.txt"), "work");
    git_in(&made.path, &["add", "."]);
    git_in(&made.path, &["commit", "-qm", "work"]);
    write(&made.path.join("open.txt"), "more");
    let again = it.create();
    assert!(again.was_there);
    assert_eq!(
        fs::read_to_string(made.path.join("open.txt")).unwrap(),
        "more"
    );
    let exclude = fs::read_to_string(it.top.join(".git/info/exclude")).unwrap();
    assert_eq!(exclude.matches("/.claude/worktrees/omo-*/").count(), 1);
}

#[test]
fn a_try_that_was_cut_short_is_taken_up() {
    let it = Project::new();
    let base = it.head();
    // After the branch.
    it.git(&["branch", "omo/run1/g1"]);
    it.create();
    // Before it was whole: no worker was there, and half of the files are missing.
    let made = it.create();
    fs::remove_file(it.top.join(".git/worktrees/omo-run1-g1/omo-ready")).unwrap();
    fs::write(
        it.top.join(".git/worktrees/omo-run1-g1/locked"),
        "initializing",
    )
    .unwrap();
    fs::remove_file(made.path.join("a.txt")).unwrap();
    fs::remove_file(made.path.join(".git")).unwrap();
    let again = it.create();
    assert!(!again.was_there);
    assert_eq!(git_in(&again.path, &["status", "--porcelain"]), "");
    assert_eq!(git_in(&again.path, &["rev-parse", "HEAD"]), base);
    assert_eq!(it.git(&["worktree", "list"]).lines().count(), 2);
}

#[test]
fn a_worktree_with_a_removed_folder_is_written_again_where_its_branch_is() {
    let it = Project::new();
    let at = it.create().path;
    write(&at.join("b.txt"), "two\n");
    git_in(&at, &["add", "b.txt"]);
    git_in(&at, &["commit", "-qm", "a step"]);
    write(&at.join("a.txt"), "staged\n");
    git_in(&at, &["add", "a.txt"]);
    let tip = git_in(&at, &["rev-parse", "HEAD"]);
    for everything in [false, true] {
        fs::remove_dir_all(if everything {
            it.top.join(".claude")
        } else {
            at.clone()
        })
        .unwrap();
        let made = create_worktree(&it.repository(), &name(), &it.head()).unwrap();
        assert!(!made.was_there, "what makes it ready is to be run again");
        assert_eq!(git_in(&at, &["rev-parse", "HEAD"]), tip);
        assert_eq!(git_in(&at, &["status", "--porcelain"]), "M  a.txt");
        assert!(
            create_worktree(&it.repository(), &name(), &it.head())
                .unwrap()
                .was_there
        );
    }
}

#[test]
fn what_is_not_ours_is_left_alone() {
    let it = Project::new();
    let base = it.head();
    let make = |name: &WorkerName| create_worktree(&it.repository(), name, &base);
    for bad in [
        "",
        "a/b",
        "..",
        ".x",
        "x.",
        "a..b",
        "a.lock",
        "-x",
        "a b",
        &"x".repeat(81),
    ] {
        assert!(
            matches!(
                WorkerName::new("run1", bad),
                Err(WorktreeError::InvalidName { .. })
            ),
            "{bad}"
        );
    }
    assert!(matches!(
        create_worktree(&it.repository(), &name(), "HEAD"),
        Err(WorktreeError::UnknownBase { .. })
    ));
    it.write(".claude/worktrees/omo-run1-g1/notes", "mine");
    assert!(matches!(make(&name()), Err(WorktreeError::Taken { .. })));
    assert_eq!(it.git(&["branch", "--list", "omo/*"]), "");
    let exclude = fs::read_to_string(it.top.join(".git/info/exclude")).unwrap_or_default();
    assert!(!exclude.contains("omo"), "{exclude}");
    make(&WorkerName::new("run1", "worker-1.1").unwrap()).unwrap();
    // The same folder for another group of another run.
    make(&WorkerName::new("a", "b-c").unwrap()).unwrap();
    assert!(matches!(
        make(&WorkerName::new("a-b", "c").unwrap()),
        Err(WorktreeError::Taken { .. })
    ));
    // A branch with commits of its own.
    let later = it.git(&["commit-tree", "-m", "x", "-p", &base, "HEAD^{tree}"]);
    it.git(&["branch", "omo/run1/g2", &later]);
    assert!(matches!(
        make(&WorkerName::new("run1", "g2").unwrap()),
        Err(WorktreeError::BranchExists { .. })
    ));
}

#[test]
fn no_link_of_the_repository_leads_a_worktree_elsewhere() {
    let it = Project::new();
    fs::create_dir(it.temp.path().join("elsewhere")).unwrap();
    symlink(it.temp.path().join("elsewhere"), it.top.join(".claude")).unwrap();
    it.git(&["add", "--force", ".claude"]);
    let refused = create_worktree(&it.repository(), &name(), &it.head());
    assert!(
        matches!(refused, Err(WorktreeError::Taken { .. })),
        "{refused:?}"
    );
    assert_eq!(
        fs::read_dir(it.temp.path().join("elsewhere"))
            .unwrap()
            .count(),
        0
    );
}

#[test]
fn a_link_of_the_user_in_place_of_the_clients_folder_is_followed() {
    let it = Project::new();
    let real = it.temp.path().canonicalize().unwrap().join("dotfiles");
    fs::create_dir(&real).unwrap();
    symlink(&real, it.top.join(".claude")).unwrap();
    prepare_worktree_folder(&it.repository()).unwrap();
    let made = it.create();
    assert_eq!(made.path, real.join("worktrees/omo-run1-g1"));
    assert!(it.create().was_there);
    assert!(ProvedWorktree::of_worker(&it.repository(), &name(), &made.path).is_ok());
    write(&made.path.join("a.txt"), "work");
    let removal = prepare_removal(&it.repository(), &name(), None, &it.files()).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert!(!made.path.exists() && it.kept("a.txt") == "work");
}

#[test]
fn ignored_files_are_copied_where_they_are_named() {
    let it = Project::new();
    it.write(".worktreeinclude", ".env\n*.log\nnotes.txt\n");
    it.write(".env", "KEY=1");
    it.write("deep/.env", "KEY=2");
    it.write("notes.txt", "not ignored");
    write(&it.temp.path().join("secret"), "of another user");
    symlink(it.temp.path().join("secret"), it.top.join("link.log")).unwrap();
    let made = it.create();
    assert_eq!(fs::read_to_string(made.path.join(".env")).unwrap(), "KEY=1");
    assert_eq!(
        fs::read_to_string(made.path.join("deep/.env")).unwrap(),
        "KEY=2"
    );
    assert!(!made.path.join("notes.txt").exists() && !made.path.join("link.log").exists());
    assert_eq!(made.not_copied, ["link.log"]);
}

#[test]
fn nothing_of_the_repository_is_run() {
    let it = Project::new();
    it.write(".gitattributes", "*.txt filter=bad\n");
    it.git(&["add", ".gitattributes"]);
    it.git(&["commit", "-qm", "attributes"]);
    let trace = it.temp.path().join("ran");
    let script = format!("touch '{}'; cat", trace.display());
    write(
        &it.top.join(".git/hooks/post-checkout"),
        &format!("#!/bin/sh\n{script}\n"),
    );
    it.git(&["config", "filter.bad.smudge", &script]);
    it.git(&["config", "filter.bad.required", "true"]);
    it.git(&["config", "core.fsmonitor", &script]);
    let made = it.create();
    assert_eq!(
        fs::read_to_string(made.path.join("a.txt")).unwrap(),
        "one\n"
    );
    assert!(!trace.exists());
}

#[test]
fn locks_that_a_killed_git_left_do_not_stop_work_there() {
    let it = Project::new();
    let made = it.create();
    for lock in [
        "worktrees/omo-run1-g1/index.lock",
        "worktrees/omo-run1-g1/HEAD.lock",
        "refs/heads/omo/run1/g1.lock",
    ] {
        fs::write(it.top.join(".git").join(lock), "").unwrap();
    }
    // The user's own lock is theirs.
    fs::write(it.top.join(".git/index.lock"), "").unwrap();
    assert!(it.create().was_there);
    assert!(it.top.join(".git/index.lock").exists());
    write(&made.path.join("new.txt"), "work");
    git_in(&made.path, &["add", "."]);
    git_in(&made.path, &["commit", "-qm", "work"]);
}
