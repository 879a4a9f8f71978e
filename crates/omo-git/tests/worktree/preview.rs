//! What a merge would be: nothing, a tree, or a conflict, and no checkout notices.

use omo_git::integrate::{
    CheckoutFacts, CheckoutHead, MergeError, MergePreview, UnfinishedOperation, checkout_bytes,
    preview_merge, read_checkout_facts,
};

use crate::worktree::{Landing, merge_in};

#[test]
fn a_clean_merge_is_a_tree_and_a_commit_with_two_parents() {
    let it = Landing::new();
    let other = it.branch("other", "other.txt", "three\n");
    let before = it.state();
    let MergePreview::Clean { tree } =
        preview_merge(&it.repository(), &it.new, None, &other).unwrap()
    else {
        panic!("no clean merge");
    };
    let merged = merge_in(&it.repository(), &it.new, &other, &tree, "Merge other");
    assert_eq!(
        it.git(&["show", "-s", "--format=%P %an %s", &merged]),
        format!("{} {other} test Merge other", it.new)
    );
    assert_eq!(it.git(&["show", &format!("{merged}:changed.txt")]), "two");
    assert_eq!(it.git(&["show", &format!("{merged}:other.txt")]), "three");
    assert_eq!(it.state(), before);
}

#[test]
fn a_conflict_names_its_files() {
    let it = Landing::new();
    let other = it.branch("other", "changed.txt", "three\n");
    let found = preview_merge(&it.repository(), &it.new, None, &other).unwrap();
    assert_eq!(
        found,
        MergePreview::Conflict {
            files: vec!["changed.txt".to_owned()]
        }
    );
}

#[test]
fn what_is_in_the_tip_already_needs_no_merge() {
    let it = Landing::new();
    let tree = it.git(&["rev-parse", &format!("{}^{{tree}}", it.new)]);
    for known in [None, Some(tree.as_str())] {
        assert_eq!(
            preview_merge(&it.repository(), &it.new, known, &it.old).unwrap(),
            MergePreview::UpToDate
        );
    }
    let refused = preview_merge(&it.repository(), &it.new, None, "main");
    assert_eq!(
        refused,
        Err(MergeError::NoCommit {
            commit: "main".to_owned()
        })
    );
}

#[test]
fn a_merge_driver_of_the_repository_is_not_run() {
    let it = Landing::new();
    let trace = it.temp.path().join("ran");
    it.git(&[
        "config",
        "merge.bad.driver",
        &format!("touch '{}'", trace.display()),
    ]);
    std::fs::create_dir_all(it.top.join(".git/info")).unwrap();
    std::fs::write(it.top.join(".git/info/attributes"), "*.txt merge=bad\n").unwrap();
    let other = it.branch("other", "changed.txt", "three\n");
    let found = preview_merge(&it.repository(), &it.new, None, &other).unwrap();
    assert_eq!(
        found,
        MergePreview::Conflict {
            files: vec!["changed.txt".to_owned()]
        }
    );
    assert!(!trace.exists());
}

#[test]
fn a_checkout_is_described() {
    let it = Landing::new();
    let head = CheckoutHead::Branch {
        reference: "refs/heads/main".to_owned(),
        commit: it.old.clone(),
    };
    let CheckoutFacts {
        free_bytes, git, ..
    } = read_checkout_facts(&it.repository()).unwrap();
    assert!(free_bytes.is_some_and(|bytes| bytes > 0));
    assert!(
        git.as_ref()
            .is_some_and(|git| git.starts_with("git version ")),
        "{git:?}"
    );
    it.write("changed.txt", "mine\n");
    it.write("new.txt", "mine\n");
    std::fs::write(it.top.join(".git/MERGE_HEAD"), &it.new).unwrap();
    let expected = CheckoutFacts {
        git,
        head,
        is_bare: false,
        operation: Some(UnfinishedOperation::Merge),
        dirty: vec!["changed.txt".to_owned(), "new.txt".to_owned()],
        submodules: Vec::new(),
        filtered: Vec::new(),
        free_bytes: None,
    };
    assert_eq!(
        CheckoutFacts {
            free_bytes: None,
            ..read_checkout_facts(&it.repository()).unwrap()
        },
        expected
    );
    std::fs::remove_file(it.top.join(".git/MERGE_HEAD")).unwrap();
    it.git(&["checkout", "-q", "--detach"]);
    assert_eq!(
        read_checkout_facts(&it.repository()).unwrap().head,
        CheckoutHead::Detached {
            commit: it.old.clone()
        }
    );
    it.git(&["checkout", "-q", "--orphan", "empty"]);
    assert_eq!(
        read_checkout_facts(&it.repository()).unwrap().head,
        CheckoutHead::Unborn {
            reference: "refs/heads/empty".to_owned()
        }
    );
    it.git(&["config", "core.bare", "true"]);
    assert!(read_checkout_facts(&it.repository()).unwrap().is_bare);
}

#[test]
fn the_room_for_a_checkout_is_what_its_files_take() {
    let it = Landing::new();
    let names = it.git(&["ls-tree", "-r", "--name-only", "HEAD"]);
    let size = |name: &str| {
        it.git(&["cat-file", "-s", &format!("HEAD:{name}")])
            .parse::<u64>()
            .unwrap()
    };
    let expected: u64 = names.lines().map(size).sum();
    it.write("new.txt", "is not committed\n");
    assert!(expected > 0);
    assert_eq!(checkout_bytes(&it.repository()).unwrap(), expected);
}
