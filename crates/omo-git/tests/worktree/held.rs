//! Whether a branch has what a commit did, by whatever way it came there.

use omo_git::integrate::{amended_commits, holds_commit};

use crate::worktree::Project;

/// What a user made of a commit on another branch, with `main` checked out, and whether `main` has it then.
type Way = (&'static str, fn(&Project, &str), bool);

fn pick(project: &Project, commit: &str) {
    project.git(&["cherry-pick", commit]);
    project.git(&["commit", "-q", "--amend", "-m", "reworded"]);
}

fn edit(project: &Project) {
    project.write("b.txt", "edited\n");
    project.git(&["commit", "-qam", "edit"]);
}

#[test]
fn a_branch_has_a_commit_that_was_merged_picked_or_squashed_into_it() {
    let ways: &[Way] = &[
        ("left there", |_, _| (), false),
        (
            "merged",
            |project, commit| drop(project.git(&["merge", "-q", "--no-ff", "--no-edit", commit])),
            true,
        ),
        ("picked and reworded", pick, true),
        (
            "picked, and edited since",
            |project, commit| {
                pick(project, commit);
                edit(project);
            },
            true,
        ),
        (
            "squashed with another file",
            |project, commit| {
                project.git(&["merge", "-q", "--squash", commit]);
                project.write("c.txt", "more\n");
                project.git(&["add", "c.txt"]);
                project.git(&["commit", "-qm", "squashed"]);
            },
            true,
        ),
        ("written otherwise", |project, _| edit(project), false),
    ];
    for (way, bring, is_held) in ways {
        let project = Project::new();
        project.write("b.txt", "base\n");
        project.git(&["add", "b.txt"]);
        project.git(&["commit", "-qm", "base"]);
        project.git(&["checkout", "-q", "-b", "other"]);
        project.write("b.txt", "done\n");
        project.write("d.txt", "done\n");
        project.git(&["add", "."]);
        project.git(&["commit", "-qm", "step"]);
        let commit = project.head();
        project.git(&["checkout", "-q", "main"]);
        bring(&project, &commit);
        assert_eq!(
            holds_commit(&project.repository(), "HEAD", &commit).unwrap(),
            *is_held,
            "{way}"
        );
    }
}

#[test]
fn amended_commits_are_told_by_the_log_of_head() {
    let project = Project::new();
    assert!(amended_commits(&project.repository()).unwrap().is_empty());
    project.git(&["checkout", "-q", "--detach"]);
    project.git(&["commit", "-q", "--allow-empty", "-m", "commit (amend): no"]);
    let mut commits = vec![project.head()];
    for text in ["two\n", "three\n"] {
        project.write("a.txt", text);
        project.git(&["commit", "-qa", "--amend", "--no-edit"]);
        commits.push(project.head());
    }
    project.git(&["checkout", "-q", "main"]);
    let pairs = commits
        .windows(2)
        .map(|pair| (pair[0].clone(), pair[1].clone()));
    assert_eq!(
        amended_commits(&project.repository()).unwrap(),
        pairs.collect::<Vec<_>>()
    );
}
