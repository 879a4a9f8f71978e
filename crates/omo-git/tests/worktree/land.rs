//! Moving the branch: all of it, or nothing at all.

use std::fs;
use std::path::PathBuf;

use omo_git::integrate::{LandError, LandOutcome, UnfinishedOperation, settle_last_landing};

use crate::worktree::{Landing, land_in};

impl Landing {
    fn land(&self) -> Result<LandOutcome, LandError> {
        land_in(&self.repository(), &self.old, &self.new)
    }

    /// What is refused leaves everything, to the byte, as it was.
    fn refuses(&self) -> LandError {
        let before = self.state();
        let refused = self.land().unwrap_err();
        assert_eq!(self.state(), before, "{refused}");
        refused
    }
}

#[test]
fn branch_files_and_index_move_together() {
    let it = Landing::new();
    // Of no concern to the move: an edit, a staged edit, a new file, and a file with another time only.
    it.write("other.txt", "mine\n");
    it.write("folder/kept.txt", "staged\n");
    it.git(&["add", "folder/kept.txt"]);
    it.write("notes.txt", "mine\n");
    it.write("changed.txt", "one\n");
    let before = it.git(&["status", "--porcelain"]);
    assert_eq!(it.land().unwrap(), LandOutcome::Moved);
    assert_eq!(it.git(&["status", "--porcelain"]), before);
    assert_eq!(it.git(&["symbolic-ref", "HEAD"]), "refs/heads/main");
    assert_eq!(it.git(&["rev-parse", "main"]), it.new);
    assert_eq!(
        (
            it.read("changed.txt").as_str(),
            it.read("new/added.txt").as_str()
        ),
        ("two\n", "new\n")
    );
    assert!(!it.top.join("deleted.txt").exists());
    assert_eq!(
        (
            it.read("other.txt").as_str(),
            it.read("folder/kept.txt").as_str()
        ),
        ("mine\n", "staged\n")
    );
    assert!(!it.top.join(".git/index.lock").exists() && !it.top.join(".git/omo-landing").exists());
    assert_eq!(it.land().unwrap(), LandOutcome::AlreadyThere);
}

/// What is changed, how, and the path that is in the way then.
type Case = (&'static str, fn(&Landing), &'static str);

#[test]
fn edits_in_the_way_are_named_and_kept() {
    let cases: [Case; 5] = [
        (
            "an edit",
            |it| it.write("changed.txt", "mine\n"),
            "changed.txt",
        ),
        (
            "a deleted file's edit",
            |it| it.write("deleted.txt", "mine\n"),
            "deleted.txt",
        ),
        (
            "a new file",
            |it| it.write("new/added.txt", "mine\n"),
            "new/added.txt",
        ),
        (
            "a file where a folder will be",
            |it| it.write("new", "mine\n"),
            "new",
        ),
        (
            "an edit that git was told not to see",
            |it| {
                it.git(&["update-index", "--assume-unchanged", "changed.txt"]);
                it.write("changed.txt", "mine\n");
            },
            "changed.txt",
        ),
    ];
    for (what, change, path) in cases {
        let it = Landing::new();
        change(&it);
        let refused = it.refuses();
        assert!(
            matches!(&refused, LandError::Dirty { paths } if paths == &[path]),
            "{what}: {refused:?}"
        );
    }
}

#[test]
fn an_added_or_ignored_file_in_the_way_is_kept() {
    let it = Landing::new();
    it.write("changed.txt", "staged\n");
    it.git(&["add", "changed.txt"]);
    it.write("changed.txt", "one\n");
    assert!(matches!(it.refuses(), LandError::Dirty { .. }));
    it.git(&["reset", "-q", "--hard"]);
    fs::write(it.top.join(".git/info/exclude"), "added.txt\n").unwrap();
    it.write("new/added.txt", "ignored, and mine\n");
    assert!(matches!(it.refuses(), LandError::Dirty { paths } if paths == ["new/added.txt"]));
    fs::remove_file(it.top.join("new/added.txt")).unwrap();
    it.write(
        "new/added.txt/added.txt",
        "in a folder where a file will be\n",
    );
    assert!(matches!(it.refuses(), LandError::Dirty { paths } if paths == ["new/added.txt"]));
}

#[test]
fn a_branch_that_moved_or_is_none_stays() {
    let it = Landing::new();
    it.git(&["commit", "-q", "--allow-empty", "-m", "meanwhile"]);
    let now = it.git(&["rev-parse", "HEAD"]);
    assert!(matches!(it.refuses(), LandError::Moved { to } if to == now));
    it.git(&["checkout", "-q", "--detach", &it.old]);
    assert!(matches!(it.refuses(), LandError::Detached));
    it.git(&["checkout", "-q", "-B", "main", &it.old]);
    fs::write(it.top.join(".git/CHERRY_PICK_HEAD"), &it.new).unwrap();
    assert!(matches!(
        it.refuses(),
        LandError::OperationInProgress {
            what: UnfinishedOperation::CherryPick
        }
    ));
    fs::remove_file(it.top.join(".git/CHERRY_PICK_HEAD")).unwrap();
    fs::write(it.top.join(".git/index.lock"), "").unwrap();
    assert!(matches!(it.refuses(), LandError::Locked { .. }));
    fs::remove_file(it.top.join(".git/index.lock")).unwrap();
    // Left by a git that was killed, or of one that is at work: the branch has not moved, and cannot.
    let locks = ["HEAD.lock", "refs/heads/main.lock"].map(|name| it.top.join(".git").join(name));
    let is_named = |paths: &[PathBuf]| paths == locks;
    for lock in &locks {
        fs::write(lock, "").unwrap();
    }
    assert!(matches!(it.refuses(), LandError::Locked { paths } if is_named(&paths)));
    for lock in &locks {
        fs::remove_file(lock).unwrap();
    }
    let swapped = land_in(&it.repository(), &it.new, &it.old);
    assert!(matches!(swapped, Err(LandError::NotFollowing { .. })));
    assert_eq!(it.land().unwrap(), LandOutcome::Moved);
}

#[test]
fn a_file_that_was_cut_short_is_no_work_and_an_edit_is() {
    let it = Landing::new();
    it.write("other.txt", "mine\n");
    // As an end in the middle of writing `changed.txt` leaves it.
    fs::write(
        it.top.join(".git/omo-landing"),
        format!("{}\n{}\n", it.old, it.new),
    )
    .unwrap();
    it.write("changed.txt", "tw");
    fs::remove_file(it.top.join("deleted.txt")).unwrap();
    it.write("new/added.txt", "edited since\n");
    let refused = it.land().unwrap_err();
    assert!(
        matches!(&refused, LandError::Dirty { paths } if paths == &["new/added.txt"]),
        "{refused:?}"
    );
    assert_eq!(
        (
            it.read("changed.txt").as_str(),
            it.read("deleted.txt").as_str()
        ),
        ("one\n", "one\n")
    );
    assert_eq!(
        (
            it.read("new/added.txt").as_str(),
            it.read("other.txt").as_str()
        ),
        ("edited since\n", "mine\n")
    );
    fs::remove_file(it.top.join("new/added.txt")).unwrap();
    assert_eq!(it.land().unwrap(), LandOutcome::Moved);
    assert_eq!(it.git(&["status", "--porcelain"]), " M other.txt");
}

#[test]
fn locks_of_a_git_killed_with_the_move_do_not_stop_its_end() {
    for (lock, is_begun) in [
        ("omo-landing-index.lock", true),
        ("omo-landing-compared.lock", true),
        ("omo-landing-index.lock", false),
    ] {
        let it = Landing::new();
        it.write("other.txt", "mine\n");
        fs::write(it.top.join(".git").join(lock), "").unwrap();
        if is_begun {
            fs::write(
                it.top.join(".git/omo-landing"),
                format!("{}\n{}\n", it.old, it.new),
            )
            .unwrap();
            it.write("changed.txt", "two\n");
        }
        assert_eq!(it.land().unwrap(), LandOutcome::Moved, "{lock}");
        assert_eq!(it.git(&["status", "--porcelain"]), " M other.txt", "{lock}");
        let left = fs::read_dir(it.top.join(".git")).unwrap().flatten();
        let left: Vec<_> = left
            .map(|entry| entry.file_name())
            .filter(|name| name.to_string_lossy().starts_with("omo"))
            .collect();
        assert!(left.is_empty(), "{lock}: {left:?}");
    }
}

#[test]
fn a_move_of_an_omo_that_is_gone_goes_where_the_branch_is() {
    for is_moved in [true, false] {
        let it = Landing::new();
        it.write("other.txt", "mine\n");
        // As an end between the files and the index leaves it.
        fs::copy(it.top.join(".git/index"), it.top.join(".git/before")).unwrap();
        it.git(&["read-tree", "-m", "-u", &it.old, &it.new]);
        fs::rename(it.top.join(".git/before"), it.top.join(".git/index")).unwrap();
        if is_moved {
            it.git(&["update-ref", "refs/heads/main", &it.new]);
        }
        fs::write(
            it.top.join(".git/omo-landing"),
            format!("{}\n{}\n", it.old, it.new),
        )
        .unwrap();
        fs::write(it.top.join(".git/index.lock"), "omo lands 4294967 0\n").unwrap();
        settle_last_landing(&it.repository()).unwrap();
        assert_eq!(
            it.git(&["rev-parse", "main"]),
            if is_moved {
                it.new.as_str()
            } else {
                it.old.as_str()
            }
        );
        assert_eq!(
            it.git(&["status", "--porcelain"]),
            " M other.txt",
            "{is_moved}"
        );
        assert!(
            !it.top.join(".git/index.lock").exists() && !it.top.join(".git/omo-landing").exists()
        );
    }
    // That of an omo at work, without a move.
    let it = Landing::new();
    fs::write(it.top.join(".git/index.lock"), "").unwrap();
    settle_last_landing(&it.repository()).unwrap();
    assert!(it.top.join(".git/index.lock").exists());
}
