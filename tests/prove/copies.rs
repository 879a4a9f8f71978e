//! What the copies have beside the files of the project, and what counts as a test in them.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::scene::plugin;

use crate::project::{Files, Project};

const FILES: Files = &[
    ("src/total.txt", Some("1\n")),
    (".gitignore", Some(".env\nnode_modules\n")),
    (".worktreeinclude", Some(".env\n")),
];

/// A project whose work is done, with what git ignores.
fn changed_project(more: Files) -> Result<Project> {
    let project = Project::new(&[FILES, more].concat())?;
    project.change(&[
        ("src/total.txt", Some("2\n")),
        (".env", Some("KEY=1\n")),
        ("node_modules/tool/index.js", Some("1\n")),
    ])?;
    Ok(project)
}

/// Approves omo.toml as a script does; gives what was shown before it.
fn approve(project: &Project) -> Result<String> {
    let omo = |arguments: &[&str]| {
        project
            .lab
            .command(plugin().join("bin/omo"))
            .args(arguments)
            .output()
    };
    let list = String::from_utf8(omo(&["check", "list"])?.stdout)?;
    let digest = list
        .lines()
        .find_map(|line| line.strip_prefix("digest of omo.toml: "))
        .context("no digest")?;
    let approved = omo(&["check", "approve", "--digest", digest])?;
    ensure!(approved.status.success(), "{approved:?}");
    Ok(list)
}

#[test]
fn what_is_installed_and_what_the_project_includes_is_copied_and_not_shared() {
    let project = changed_project(&[]).unwrap();
    let check =
        "grep -q KEY .env && echo written >> node_modules/tool/index.js && grep -q 2 src/total.txt";
    project.prove(check).unwrap().require("red").unwrap();
    let kept =
        fs::read_to_string(project.lab.project().join("node_modules/tool/index.js")).unwrap();
    assert_eq!(kept, "1\n");
}

#[test]
fn a_set_up_command_is_shown_and_runs_only_once_it_was_approved() {
    let config = "setup = \"echo ready > ready.txt\"\n[[check]]\nrun = \"true\"\n";
    let project = changed_project(&[("omo.toml", Some(config))]).unwrap();
    let check = "test -f ready.txt && grep -q 2 src/total.txt";
    let before = project.prove(check).unwrap();
    assert_eq!(
        before.check()["with"],
        "red",
        "it ran before it was approved"
    );
    let shown = approve(&project).unwrap();
    assert!(shown.contains("`echo ready > ready.txt`"), "{shown}");
    project.prove(check).unwrap().require("red").unwrap();
}

#[test]
fn patterns_of_an_approved_file_add_to_the_test_files() {
    let config = "tests = [\"cases/*.txt\"]\n[[check]]\nrun = \"true\"\n";
    let project =
        changed_project(&[("omo.toml", Some(config)), ("cases/a.txt", Some("1\n"))]).unwrap();
    project.change(&[("cases/a.txt", Some("2\n"))]).unwrap();
    // Whether the change of this file alone is seen.
    let check = "grep -q 2 cases/a.txt";
    project.prove(check).unwrap().require("red").unwrap();
    approve(&project).unwrap();
    project.prove(check).unwrap().require("green").unwrap();
}
