//! Files that git keeps in another form than the worktree has them: pointers of git-lfs, filters, encodings. None is
//! taken for what a change did.

use std::fs;

use anyhow::Result;
use omo_testkit::Lab;

use crate::project::{Files, Project};

const FILES: Files = &[
    ("src/total.txt", Some("1\n")),
    (".gitattributes", Some("*.bin filter=lfs diff=lfs -text\n")),
];
/// What a model is, and the digests of two of them.
const OLD: &str = "old model\n";
const NEW: &str = "new model\n";
const OLD_DIGEST: &str = "88f086626f45cbc6b4307fe3425c3cf7569092a368de6a1e4e3c4e237f32e60d";
const NEW_DIGEST: &str = "cd7b2575a4e98d20fb1afb6f83b047d1cc6c7391b27d7c28d85a34320a1e61b3";
/// Whether the work is done, and the model is one.
const CHECK: &str = "grep -q model model.bin && grep -q 2 src/total.txt";

fn pointer(digest: &str) -> String {
    format!("version https://git-lfs.github.com/spec/v1\noid sha256:{digest}\nsize 10\n")
}

/// A project that has committed the pointer to the old model, with these files now.
fn with_pointer(now: Files) -> Result<Project> {
    let project = Project::new(FILES)?;
    project.change(&[("model.bin", Some(&pointer(OLD_DIGEST)))])?;
    project.commit()?;
    project.change(now)?;
    Ok(project)
}

#[test]
fn where_git_lfs_is_not_set_up_there_are_pointers_on_both_sides() {
    let new = pointer(NEW_DIGEST);
    let project =
        with_pointer(&[("src/total.txt", Some("2\n")), ("model.bin", Some(&new))]).unwrap();
    project
        .prove("grep -q 2 src/total.txt")
        .unwrap()
        .require("red")
        .unwrap();
    project
        .prove("grep -q version model.bin")
        .unwrap()
        .require("green")
        .unwrap();
    project
        .prove(&format!("grep -q {NEW_DIGEST} model.bin"))
        .unwrap()
        .require("red")
        .unwrap();
}

#[test]
fn the_file_of_a_pointer_that_is_as_it_was_is_on_both_sides() {
    let project = with_pointer(&[("model.bin", Some(OLD))]).unwrap();
    let answer = project.prove("grep -q old model.bin").unwrap();
    answer.require("green").unwrap();
    answer
        .require_reason("no file but test files differs")
        .unwrap();
    project.change(&[("src/total.txt", Some("2\n"))]).unwrap();
    project
        .prove("grep -q old model.bin")
        .unwrap()
        .require("green")
        .unwrap();
    project.prove(CHECK).unwrap().require("red").unwrap();
}

#[test]
fn the_file_that_a_pointer_named_is_not_guessed() {
    let project =
        with_pointer(&[("src/total.txt", Some("2\n")), ("model.bin", Some(NEW))]).unwrap();
    let require_unknown = || {
        for check in [
            "grep -q model model.bin",
            "grep -q 2 src/total.txt",
            "true",
            CHECK,
        ] {
            let answer = project.prove(check).unwrap();
            answer.require("unknown").unwrap();
            answer
                .require_reason("model.bin could not be separated")
                .unwrap();
            answer
                .require_note("model.bin could not be separated")
                .unwrap();
        }
    };
    require_unknown();
    // git-lfs keeps what it has fetched. What is not what the pointer names is not it.
    let kept = format!(
        ".git/lfs/objects/{}/{}/{OLD_DIGEST}",
        &OLD_DIGEST[..2],
        &OLD_DIGEST[2..4]
    );
    project.lab.write(&kept, NEW).unwrap();
    require_unknown();
    project.lab.write(&kept, OLD).unwrap();
    project
        .prove("grep -q model model.bin")
        .unwrap()
        .require("green")
        .unwrap();
    project
        .prove("grep -q new model.bin")
        .unwrap()
        .require("red")
        .unwrap();
    project.prove(CHECK).unwrap().require("red").unwrap();
    // A pointer that came with the change is no file of before.
    fs::remove_file(project.lab.project().join("model.bin")).unwrap();
    project
        .prove("test ! -e model.bin")
        .unwrap()
        .require("red")
        .unwrap();
}

#[test]
fn a_file_behind_another_filter_is_not_guessed() {
    let files: Files = &[
        ("src/total.txt", Some("1\n")),
        (".gitattributes", Some("*.sec filter=rot\n")),
    ];
    let check = "grep -q open a.sec && grep -q 2 src/total.txt";
    let project = Project::in_lab(Lab::builder(), files).unwrap();
    let configure = |program: &str, command: &str| {
        project
            .lab
            .git(&["config", &format!("filter.rot.{program}"), command])
            .map(drop)
            .unwrap();
    };
    configure("clean", "tr a-z n-za-m");
    configure("smudge", "tr a-z n-za-m; touch smudged");
    project.change(&[("a.sec", Some("open\n"))]).unwrap();
    project.commit().unwrap();
    // Where git knows by its times that a file is as it was, there is nothing to separate.
    project
        .change(&[
            ("a.sec", Some("open still\n")),
            ("src/total.txt", Some("2\n")),
        ])
        .unwrap();
    let answer = project.prove(check).unwrap();
    answer.require("unknown").unwrap();
    answer
        .require_note("a.sec could not be separated: git keeps another form of it")
        .unwrap();
    assert!(
        !project.lab.project().join("smudged").exists(),
        "the filter was run"
    );
    // One that is only named does nothing.
    project
        .lab
        .git(&["config", "--remove-section", "filter.rot"])
        .unwrap();
    project
        .change(&[
            ("a.sec", Some("open too\n")),
            ("src/total.txt", Some("1\n")),
        ])
        .unwrap();
    project.commit().unwrap();
    project
        .change(&[
            ("a.sec", Some("open now\n")),
            ("src/total.txt", Some("2\n")),
        ])
        .unwrap();
    project.prove(check).unwrap().require("red").unwrap();
}

#[test]
fn a_file_in_another_encoding_is_not_guessed() {
    let attributes = "*.txt16 working-tree-encoding=UTF-16LE\n";
    let project = Project::new(&[
        ("src/total.txt", Some("1\n")),
        (".gitattributes", Some(attributes)),
    ])
    .unwrap();
    project.change(&[("a.txt16", Some("o\0k\0"))]).unwrap();
    project.commit().unwrap();
    project
        .change(&[("a.txt16", Some("o\0n\0")), ("src/total.txt", Some("2\n"))])
        .unwrap();
    let answer = project
        .prove("grep -q 2 src/total.txt && test $(wc -c < a.txt16) = 4")
        .unwrap();
    answer.require("unknown").unwrap();
    answer
        .require_note("a.txt16 could not be separated")
        .unwrap();
}

#[test]
fn ends_of_lines_are_those_of_a_checkout_on_both_sides() {
    let cr = "test \"$(tr -cd '\\r' < src/total.txt | wc -c)\" -gt 0";
    for (attributes, setting) in [
        ("*.txt text eol=crlf\n", None),
        ("*.txt text\n", Some("core.eol")),
        ("", Some("core.autocrlf")),
    ] {
        let project = Project::new(&[
            ("src/total.txt", Some("1\n")),
            (".gitattributes", Some(attributes)),
        ])
        .unwrap();
        if let Some(setting) = setting {
            let value = if setting == "core.eol" {
                "crlf"
            } else {
                "true"
            };
            project.lab.git(&["config", setting, value]).unwrap();
        }
        project.change(&[("src/total.txt", Some("2\r\n"))]).unwrap();
        project.prove(cr).unwrap().require("green").unwrap();
        project
            .prove("grep -q 2 src/total.txt")
            .unwrap()
            .require("red")
            .unwrap();
    }
}

#[test]
fn an_id_that_git_fills_in_is_not_guessed() {
    let files: Files = &[
        ("src/total.txt", Some("$Id$\n1\n")),
        (".gitattributes", Some("*.txt ident\n")),
    ];
    let project = Project::new(files).unwrap();
    project
        .change(&[("src/total.txt", Some("$Id: 0123 $\n2\n"))])
        .unwrap();
    let answer = project.prove("grep -q 'Id: ' src/total.txt").unwrap();
    answer.require("unknown").unwrap();
    answer
        .require_note("src/total.txt could not be separated")
        .unwrap();
}
