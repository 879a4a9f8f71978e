//! The proof that a folder is the worktree of its worker, and what is left alone without it.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use omo_git::commit::has_identity;
use omo_git::proved_worktree::{ProvedWorktree, WorktreeGone};
use omo_git::repository::GitRepository;
use omo_git::restore::RestoreScope;
use omo_git::snapshots::Snapshots;
use omo_git::worktree::{
    WorktreeError, continue_worktree, create_worktree, follow_renamed_folder, prepare_removal,
};
use omo_state::git_worktree::{GitWorktree, WorktreeIdentity};

use crate::worktree::{Project, git_in, name, write};

/// Ways in which a worktree stops to be the one of its worker, by a name for each.
type Loss = (&'static str, fn(&Project, &Path));

const LOSSES: [Loss; 8] = [
    ("no folder", |_, at| fs::remove_dir_all(at).unwrap()),
    ("no .git", |_, at| fs::remove_file(at.join(".git")).unwrap()),
    ("pruned, and written again", |project, at| {
        fs::remove_dir_all(at).unwrap();
        project.git(&["worktree", "prune"]);
        write(&at.join("a.txt"), "wrong\n");
    }),
    ("a repository of its own", |_, at| {
        fs::remove_file(at.join(".git")).unwrap();
        git_in(at, &["init", "-q"]);
    }),
    ("the .git of the checkout", |project, at| {
        fs::write(
            at.join(".git"),
            format!("gitdir: {}\n", project.top.join(".git").display()),
        )
        .unwrap();
    }),
    ("another branch", |_, at| {
        drop(git_in(at, &["checkout", "-q", "-b", "elsewhere"]));
    }),
    ("a link to itself elsewhere", |project, at| {
        let moved = project.temp.path().join("moved");
        fs::rename(at, &moved).unwrap();
        symlink(&moved, at).unwrap();
    }),
    ("a link to the checkout", |project, at| {
        fs::remove_dir_all(at).unwrap();
        symlink(&project.top, at).unwrap();
    }),
];

fn prove(project: &Project, at: &Path) -> Result<ProvedWorktree, WorktreeGone> {
    ProvedWorktree::of_worker(&project.repository(), &name(), at)
}

/// A checkout with work that was never committed, and a worktree in it.
fn busy_project() -> (Project, std::path::PathBuf) {
    let project = Project::new();
    let at = project.create().path;
    project.write("a.txt", "a day of work\n");
    project.write("notes.txt", "mine\n");
    project.write("staged.txt", "staged\n");
    project.git(&["add", "staged.txt"]);
    (project, at)
}

#[test]
fn a_worktree_is_proved_by_its_folder_its_repository_and_its_branch() {
    for (loss, lose) in LOSSES {
        let (project, at) = busy_project();
        let proved = prove(&project, &at).unwrap();
        assert_eq!(proved.root(), at);
        assert!(has_identity(&proved.repository().unwrap()), "{loss}");
        lose(&project, &at);
        let error = prove(&project, &at).unwrap_err().to_string();
        let expected = match loss {
            "another branch" => "its worktree is no longer its own",
            "no folder" | "a link to itself elsewhere" | "a link to the checkout" => {
                "is not a folder any more"
            }
            _ => "its worktree is gone",
        };
        assert!(error.contains(expected), "{loss}: {error}");
    }
}

#[test]
fn a_worktree_that_is_lost_after_its_proof_takes_nothing_back_around_it() {
    for (loss, lose) in LOSSES {
        let (project, at) = busy_project();
        let proved = prove(&project, &at).unwrap();
        let home = project.temp.path().join("state");
        let place = Snapshots {
            worktree: &proved,
            state_home: &home,
            run_id: "run1",
            own: &[],
        };
        let before = place.take_bytes().unwrap();
        write(&at.join("a.txt"), "of the worker\n");
        lose(&project, &at);
        let checkout = || {
            let mut files = project.state();
            files.retain(|path, _| !path.starts_with(&at));
            files
        };
        let kept = checkout();
        // It may be refused, or act on the folder alone.
        let _ = place.restore(&before, RestoreScope::All);
        assert_eq!(checkout(), kept, "{loss}");
    }
}

#[test]
fn a_worktree_without_its_git_file_is_mended_and_a_foreign_repository_is_left() {
    let (project, at) = busy_project();
    write(&at.join("a.txt"), "of the worker\n");
    fs::remove_file(at.join(".git")).unwrap();
    assert!(project.create().was_there);
    assert!(prove(&project, &at).is_ok());
    assert_eq!(git_in(&at, &["status", "--short"]), " M a.txt");

    fs::remove_file(at.join(".git")).unwrap();
    git_in(&at, &["init", "-q"]);
    git_in(&at, &["add", "a.txt"]);
    git_in(&at, &["commit", "-qm", "only here"]);
    let taken = |end| matches!(end, Err(WorktreeError::Taken { .. }));
    assert!(taken(
        create_worktree(&project.repository(), &name(), &project.head()).map(drop)
    ));
    assert!(taken(
        prepare_removal(&project.repository(), &name(), None, &project.files()).map(drop)
    ));
    assert_eq!(git_in(&at, &["log", "--format=%s"]), "only here");
}

#[test]
fn a_link_in_the_place_of_a_worktree_is_neither_followed_nor_removed() {
    let (project, at) = busy_project();
    fs::remove_dir_all(&at).unwrap();
    symlink(&project.top, &at).unwrap();
    let ends = [
        create_worktree(&project.repository(), &name(), &project.head()).map(drop),
        prepare_removal(&project.repository(), &name(), None, &project.files()).map(drop),
    ];
    assert!(
        ends.iter()
            .all(|end| matches!(end, Err(WorktreeError::Taken { .. }))),
        "{ends:?}"
    );
    assert!(at.is_symlink() && !project.files().exists());
}

#[test]
fn a_worktree_that_was_pruned_goes_on_from_the_commits_of_its_branch() {
    let (project, at) = busy_project();
    let base = project.head();
    write(&at.join("a.txt"), "of the worker\n");
    git_in(&at, &["commit", "-qam", "step 1"]);
    fs::remove_dir_all(&at).unwrap();
    project.git(&["worktree", "prune"]);
    let anew = create_worktree(&project.repository(), &name(), &base);
    assert!(
        matches!(anew, Err(WorktreeError::BranchExists { .. })),
        "{anew:?}"
    );
    assert!(
        !continue_worktree(&project.repository(), &name(), &base)
            .unwrap()
            .was_there
    );
    assert_eq!(git_in(&at, &["log", "-1", "--format=%s"]), "step 1");
    assert!(prove(&project, &at).is_ok());
}

#[test]
fn a_project_whose_folder_is_gone_lies_in_no_checkout_around_it() {
    let (project, at) = busy_project();
    assert!(ProvedWorktree::of_project(&at).has_git());
    fs::remove_dir_all(&at).unwrap();
    assert!(!ProvedWorktree::of_project(&at).has_git());
    assert!(ProvedWorktree::of_project(&project.top).has_git());
}

#[test]
fn a_work_tree_keeps_its_identity_where_it_is_moved_and_gives_it_to_no_other() {
    let (project, at) = busy_project();
    let of = |top: &Path| GitWorktree::at(top).unwrap().identity();
    let first = of(&at);
    assert_eq!(of(&project.top), WorktreeIdentity::Main);
    let moved = project.temp.path().join("moved");
    project.git(&[
        "worktree",
        "move",
        &at.to_string_lossy(),
        &moved.to_string_lossy(),
    ]);
    assert_eq!(of(&moved), first);
    let by_hand = project.temp.path().join("by-hand");
    fs::rename(&moved, &by_hand).unwrap();
    assert_eq!(of(&by_hand), first);
    let other = project.temp.path().join("other");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "--detach",
        &other.to_string_lossy(),
    ]);
    assert_ne!(of(&other), first);
}

#[test]
fn a_project_that_was_renamed_finds_its_worktrees_again() {
    let (project, at) = busy_project();
    write(&at.join("a.txt"), "of the worker\n");
    let new = project.temp.path().canonicalize().unwrap().join("renamed");
    fs::rename(&project.top, &new).unwrap();
    let repository = GitRepository::find(&new).unwrap();
    let moved = new.join(at.strip_prefix(&project.top).unwrap());
    assert!(ProvedWorktree::of_worker(&repository, &name(), &moved).is_err());
    follow_renamed_folder(&repository, &project.top).unwrap();
    assert!(ProvedWorktree::of_worker(&repository, &name(), &moved).is_ok());
    assert_eq!(git_in(&moved, &["status", "--short"]), " M a.txt");
    assert_eq!(
        git_in(&new, &["worktree", "prune", "--dry-run", "--verbose"]),
        ""
    );
}

#[test]
fn a_worktree_outside_of_the_project_is_found_where_it_is_and_finds_a_renamed_project() {
    let (project, at) = busy_project();
    let above = project.temp.path().canonicalize().unwrap();
    let outside = above.join("trees").join(at.file_name().unwrap());
    fs::create_dir(above.join("trees")).unwrap();
    project.git(&[
        "worktree",
        "move",
        &at.to_string_lossy(),
        &outside.to_string_lossy(),
    ]);
    assert_eq!(name().path(&project.repository()), outside);
    assert!(project.create().was_there);
    let new = above.join("renamed");
    fs::rename(&project.top, &new).unwrap();
    let repository = GitRepository::find(&new).unwrap();
    assert!(ProvedWorktree::of_worker(&repository, &name(), &outside).is_err());
    follow_renamed_folder(&repository, &project.top).unwrap();
    assert!(ProvedWorktree::of_worker(&repository, &name(), &outside).is_ok());
    assert_eq!(git_in(&outside, &["status", "--short"]), "");

    // Under another name it is not taken for omo's: what lies there may be removed.
    let other = above.join("trees/notes");
    git_in(
        &new,
        &[
            "worktree",
            "move",
            &outside.to_string_lossy(),
            &other.to_string_lossy(),
        ],
    );
    assert_ne!(name().path(&repository), other);
}
