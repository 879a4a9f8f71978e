//! Repositories as few people have them: everything that is done in a usual one is done there, too.

use std::fs;
use std::path::Path;

use omo_git::integrate::{
    LandError, LandOutcome, MergePreview, preview_merge, read_checkout_facts,
};
use omo_git::repository::GitRepository;
use omo_git::worktree::{carry_out_removal, create_worktree, find_leftovers, prepare_removal};

use crate::worktree::{Landing, Project, git_in, land_in, merge_in, name, try_git_in, write};

/// A session's whole life: its worktree, its work, its merge, its landing and its removal.
fn lives(it: &Project, top: &Path) {
    let repository = GitRepository::find(top).unwrap();
    let base = git_in(top, &["rev-parse", "HEAD"]);
    let at = create_worktree(&repository, &name(), &base).unwrap().path;
    assert!(
        create_worktree(&repository, &name(), &base)
            .unwrap()
            .was_there
    );
    write(&at.join("new.txt"), "work\n");
    git_in(&at, &["add", "."]);
    git_in(&at, &["commit", "-qm", "work"]);
    let commit = git_in(&at, &["rev-parse", "HEAD"]);
    let previewed = preview_merge(&repository, &base, None, &commit).unwrap();
    let MergePreview::Clean { tree } = &previewed else {
        unreachable!("{previewed:?}")
    };
    let merged = merge_in(&repository, &base, &commit, tree, "merge");
    assert_eq!(
        land_in(&repository, &base, &merged).unwrap(),
        LandOutcome::Moved
    );
    assert_eq!(fs::read_to_string(top.join("new.txt")).unwrap(), "work\n");
    assert_eq!(git_in(top, &["status", "--porcelain"]), "");
    assert_eq!(read_checkout_facts(&repository).unwrap().dirty, [""; 0]);
    write(&at.join("open.txt"), "open\n");
    let removal = prepare_removal(&repository, &name(), Some(&merged), &it.files()).unwrap();
    carry_out_removal(&repository, &removal).unwrap();
    assert!(!at.exists() && find_leftovers(&repository, "run1").unwrap().is_empty());
    git_in(
        top,
        &[
            "reflog",
            "expire",
            "--expire=now",
            "--expire-unreachable=now",
            "--all",
        ],
    );
    git_in(top, &["gc", "--quiet", "--prune=now"]);
    assert_eq!(
        git_in(
            top,
            &["show", &format!("{}:open.txt", name().keep_reference())]
        ),
        "open"
    );
    assert_eq!(git_in(top, &["fsck", "--strict", "--no-dangling"]), "");
}

#[test]
fn a_folder_may_have_any_name() {
    for called in [
        "two words",
        "-dash",
        "line\nbreak",
        "tab\t\"quote'",
        "\u{e4}\u{4f60}",
        "$(touch x)",
    ] {
        let it = Project::called(called, &[]);
        lives(&it, &it.top);
    }
}

#[test]
fn objects_may_have_other_names() {
    let it = Project::called("project", &["--object-format=sha256"]);
    lives(&it, &it.top);
}

#[test]
#[ignore = "needs git 2.45: cargo xtask test"]
fn references_may_be_kept_in_another_way() {
    let it = Project::called("project", &["--ref-format=reftable"]);
    lives(&it, &it.top);
}

#[test]
fn the_checkout_may_be_a_worktree_itself() {
    let it = Project::new();
    let top = it.temp.path().canonicalize().unwrap().join("linked");
    it.git(&[
        "worktree",
        "add",
        "-q",
        "-b",
        "mine",
        &top.display().to_string(),
    ]);
    lives(&it, &top);
    // Of a repository that has no checkout of its own.
    let bare = it.temp.path().canonicalize().unwrap().join("bare.git");
    it.git(&["clone", "-q", "--bare", ".", &bare.display().to_string()]);
    let of_bare = it.temp.path().canonicalize().unwrap().join("of-bare");
    git_in(
        &bare,
        &[
            "worktree",
            "add",
            "-q",
            &of_bare.display().to_string(),
            "main",
        ],
    );
    lives(&it, &of_bare);
}

#[test]
fn the_list_of_what_is_ignored_may_be_missing() {
    let it = Project::new();
    fs::remove_dir_all(it.top.join(".git/info")).unwrap();
    lives(&it, &it.top);
}

#[test]
fn history_may_end_early() {
    let origin = Project::new();
    origin.write("a.txt", "two\n");
    origin.git(&["commit", "-qam", "two"]);
    let it = Project::new();
    let shallow = it.temp.path().canonicalize().unwrap().join("shallow");
    it.git(&[
        "clone",
        "-q",
        "--depth=1",
        &format!("file://{}", origin.top.display()),
        &shallow.display().to_string(),
    ]);
    lives(&it, &shallow);
}

#[test]
fn line_ends_may_be_written_in_another_way() {
    let it = Project::new();
    it.git(&["config", "core.autocrlf", "true"]);
    fs::remove_file(it.top.join("a.txt")).unwrap();
    it.git(&["checkout", "-q", "--", "a.txt"]);
    let base = it.head();
    let at = it.create().path;
    assert_eq!(fs::read_to_string(at.join("a.txt")).unwrap(), "one\r\n");
    write(&at.join("b.txt"), "raw\r\n");
    assert_eq!(git_in(&at, &["status", "--porcelain"]), "?? b.txt");
    let removal = prepare_removal(&it.repository(), &name(), Some(&base), &it.files()).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert_eq!(
        it.git(&["show", &format!("{}:b.txt", name().keep_reference())]),
        "raw\r"
    );
}

#[test]
fn a_worktree_may_be_written_down_by_the_way_to_it() {
    let it = Project::new();
    let at = it.create().path;
    it.git(&["-c", "worktree.useRelativePaths=true", "worktree", "repair"]);
    fs::write(
        it.top.join(".git/worktrees/omo-run1-g1/gitdir"),
        "../../../.claude/worktrees/omo-run1-g1/.git\n",
    )
    .unwrap();
    assert!(it.create().was_there);
    write(&at.join("open.txt"), "open\n");
    let removal = prepare_removal(&it.repository(), &name(), None, &it.files()).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert!(!at.exists());
    assert_eq!(it.kept("open.txt"), "open");
}

#[test]
fn what_is_not_checked_out_is_not_kept_as_deleted() {
    let it = Project::new();
    it.write("in/a.txt", "in\n");
    it.write("out/b.txt", "out\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "folders"]);
    it.git(&["sparse-checkout", "set", "in"]);
    let base = it.head();
    let at = it.create().path;
    assert!(!at.join("out").exists());
    let removal = prepare_removal(&it.repository(), &name(), Some(&base), &it.files()).unwrap();
    assert_eq!(removal.kept.unwrap().commit, None, "nothing was done");
    write(&at.join("in/a.txt"), "work\n");
    let removal = prepare_removal(&it.repository(), &name(), Some(&base), &it.files()).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert_eq!(
        (it.kept("in/a.txt").as_str(), it.kept("out/b.txt").as_str()),
        ("work", "out")
    );
}

/// A submodule whose own settings name a program that leaves a trace, with a change that is not committed.
fn add_submodule(it: &Project, trace: &Path) -> String {
    let origin = it.temp.path().join("origin");
    write(&origin.join("f.txt"), "one\n");
    write(&origin.join(".gitattributes"), "* filter=bad\n");
    git_in(&origin, &["init", "-q"]);
    git_in(&origin, &["add", "."]);
    git_in(&origin, &["commit", "-qm", "start"]);
    it.git(&[
        "submodule",
        "--quiet",
        "add",
        &origin.display().to_string(),
        "sub",
    ]);
    it.git(&["commit", "-qm", "submodule"]);
    format!("touch '{}'; cat", trace.display())
}

#[test]
fn a_step_that_fails_is_told_with_the_words_of_git() {
    let it = Project::new();
    let [head, blob] = ["HEAD", "HEAD:a.txt"].map(|object| it.git(&["rev-parse", object]));
    let (folder, file) = blob.split_at(2);
    fs::remove_file(it.top.join(".git/objects").join(folder).join(file)).unwrap();
    let failed = create_worktree(&GitRepository::find(&it.top).unwrap(), &name(), &head)
        .unwrap_err()
        .to_string();
    assert!(
        failed.contains("` failed in ") && failed.contains("a.txt"),
        "{failed}"
    );
}

#[test]
fn no_program_of_a_submodule_is_run() {
    let it = Landing::new();
    let trace = it.temp.path().join("ran");
    let script = add_submodule(&it, &trace);
    let base = it.head();
    let at = it.create().path;
    git_in(&at, &["submodule", "--quiet", "update", "--init"]);
    for folder in [it.top.join("sub"), at.join("sub")] {
        git_in(&folder, &["config", "filter.bad.clean", &script]);
        write(&folder.join("f.txt"), "two\n");
    }
    assert_eq!(
        read_checkout_facts(&it.repository()).unwrap().dirty,
        [""; 0]
    );
    let refused = prepare_removal(&it.repository(), &name(), Some(&base), &it.files());
    assert!(refused.unwrap_err().to_string().contains("sub in it"));
    it.write("changed.txt", "mine\n");
    let next = it.branch("later", "changed.txt", "later\n");
    it.git(&["checkout", "-q", "-B", "main", &it.old]);
    it.write("changed.txt", "mine\n");
    assert!(matches!(
        land_in(&it.repository(), &it.old, &next),
        Err(LandError::Dirty { .. })
    ));
    assert!(!trace.exists());
}

#[test]
fn commits_of_a_submodule_within_one_are_not_lost() {
    let it = Project::new();
    let (inner, outer) = (it.temp.path().join("inner"), it.temp.path().join("outer"));
    for folder in [&inner, &outer] {
        write(&folder.join("f.txt"), "one\n");
        git_in(folder, &["init", "-q"]);
        git_in(folder, &["add", "."]);
        git_in(folder, &["commit", "-qm", "start"]);
    }
    git_in(
        &outer,
        &[
            "submodule",
            "--quiet",
            "add",
            &inner.display().to_string(),
            "deep",
        ],
    );
    git_in(&outer, &["commit", "-qm", "deep"]);
    it.git(&[
        "submodule",
        "--quiet",
        "add",
        &outer.display().to_string(),
        "sub",
    ]);
    it.git(&["commit", "-qm", "submodule"]);
    let at = it.create().path;
    git_in(
        &at,
        &["submodule", "--quiet", "update", "--init", "--recursive"],
    );
    let deep = at.join("sub/deep");
    git_in(&deep, &["commit", "-q", "--allow-empty", "-m", "inside"]);
    let commit = git_in(&deep, &["rev-parse", "HEAD"]);
    git_in(&at.join("sub"), &["commit", "-qam", "deeper"]);
    // The main checkout has none of it.
    let refused = prepare_removal(&it.repository(), &name(), None, &it.files());
    assert!(refused.unwrap_err().to_string().contains("sub in it"));
    it.git(&["submodule", "--quiet", "update", "--init", "--recursive"]);
    let removal = prepare_removal(&it.repository(), &name(), None, &it.files()).unwrap();
    carry_out_removal(&it.repository(), &removal).unwrap();
    assert!(try_git_in(&it.top.join("sub/deep"), &["cat-file", "-e", &commit]).0);
}
