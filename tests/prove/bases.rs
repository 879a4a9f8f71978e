//! What there is to compare with, or not.

use std::fs;

use omo_testkit::Lab;

use crate::project::{Files, Project};

const FILES: Files = &[("src/total.txt", Some("1\n"))];
const CHECK: &[&str] = &["--check", "grep -q 2 src/total.txt"];

#[test]
fn the_base_is_where_the_work_began() {
    let project = Project::new(FILES).unwrap();
    // Uncommitted, on the main branch.
    project.change(&[("src/total.txt", Some("2\n"))]).unwrap();
    project.prove_with(CHECK).unwrap().require("red").unwrap();
    // Committed there.
    project.commit().unwrap();
    project.prove_with(CHECK).unwrap().require("red").unwrap();
    // On a branch, some commits later.
    let project = Project::new(FILES).unwrap();
    let base = project.lab.git(&["rev-parse", "HEAD"]).unwrap();
    project
        .lab
        .git(&["checkout", "--quiet", "-b", "work"])
        .unwrap();
    for text in ["3\n", "2\n"] {
        project.change(&[("src/total.txt", Some(text))]).unwrap();
        project.commit().unwrap();
    }
    project.change(&[("src/new.txt", Some("new\n"))]).unwrap();
    let answer = project.prove_with(CHECK).unwrap();
    answer.require("red").unwrap();
    assert_eq!(answer.json["base"], base.trim());
}

#[test]
fn a_change_of_test_files_alone_has_nothing_to_show() {
    let project = Project::new(FILES).unwrap();
    project.change(&[("tests/a.txt", Some("1\n"))]).unwrap();
    let answer = project.prove("test -f tests/a.txt").unwrap();
    answer.require("green").unwrap();
    answer
        .require_reason("no file but test files differs from the base")
        .unwrap();
}

#[test]
fn without_a_base_the_words_say_what_is_missing() {
    let require = |project: &Project, arguments: &[&str], part: &str| {
        let answer = project.prove_with(&[arguments, CHECK].concat()).unwrap();
        let is_said =
            answer.stderr.contains(part) && answer.stderr.contains("omo prove --base REV");
        assert!(
            answer.status == 5 && answer.json.is_null() && is_said,
            "{part}: {answer:?}"
        );
    };
    let project = Project::new(FILES).unwrap();
    for name in [
        "gone",
        "0123456789012345678901234567890123456789",
        "HEAD~9",
        "-h",
        "--all",
        "HEAD:src",
        "main@{99}",
        "a b",
        "",
    ] {
        let base = format!("--base={name}");
        require(
            &project,
            &[&base],
            &format!("`{name}` is not a commit of this repository"),
        );
    }
    let project = Project {
        lab: Lab::builder().build().unwrap(),
    };
    require(
        &project,
        &[],
        "there is no commit before this one to compare with",
    );
    fs::remove_dir_all(project.lab.project().join(".git")).unwrap();
    require(&project, &["--base", "HEAD"], "is not in a git worktree");
    project
        .lab
        .git(&["init", "--quiet", "--initial-branch=main"])
        .unwrap();
    project.lab.write("a", "1").unwrap();
    require(
        &project,
        &[],
        "there is no commit before this one to compare with",
    );
    require(
        &project,
        &["--base", "HEAD"],
        "`HEAD` is not a commit of this repository",
    );
}

#[test]
fn without_a_check_nothing_is_proved() {
    let project = Project::new(FILES).unwrap();
    project.change(&[("src/total.txt", Some("2\n"))]).unwrap();
    let answer = project.prove_with(&["--base", "HEAD"]).unwrap();
    assert!(
        answer.status == 5 && answer.stderr.contains("omo prove --check"),
        "{answer:?}"
    );
}
