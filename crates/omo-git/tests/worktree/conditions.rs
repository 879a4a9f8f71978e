//! What a commit in a new worktree would meet, seen in real repositories.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use omo_git::commit_conditions::{other_checkouts, read_commit_conditions};
use omo_git::commit_preview::{UncommittedFolders, uncommitted_folders};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::repository::GitRepository;

use crate::worktree::Project;

fn write_program(top: &Path, path: &str, text: &str) {
    let file = top.join(path);
    fs::create_dir_all(file.parent().unwrap()).unwrap();
    fs::write(&file, text).unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
}

#[test]
fn a_hook_that_git_ignores_is_absent_unless_it_is_copied() {
    let project = Project::new();
    write_program(&project.top, ".husky/_/pre-commit", "#!/bin/sh\nexit 0\n");
    write_program(&project.top, ".husky/_/post-commit", "#!/bin/sh\nexit 0\n");
    project.write(".husky/_/.gitignore", "*\n");
    let absent = || {
        read_commit_conditions(&project.repository(), &[])
            .unwrap()
            .absent_hooks
    };
    assert!(absent().is_empty(), "no setting names the folder");
    project.git(&["config", "core.hooksPath", ".husky/_"]);
    assert_eq!(absent(), [".husky/_/pre-commit"]);
    project.write(".worktreeinclude", ".husky/_/\n");
    assert!(absent().is_empty());
    fs::remove_file(project.top.join(".worktreeinclude")).unwrap();
    project.git(&["add", "--force", ".husky"]);
    project.git(&["commit", "-qm", "hooks"]);
    assert!(absent().is_empty());
    project.git(&[
        "config",
        "core.hooksPath",
        &project.top.join("elsewhere").to_string_lossy(),
    ]);
    assert!(absent().is_empty());
}

#[test]
fn hooks_signing_and_settings_about_merges_are_named_where_they_are_set() {
    let project = Project::new();
    let found = || {
        let found = read_commit_conditions(&project.repository(), &[]).unwrap();
        [found.guards, found.merge_settings]
    };
    for (setting, value) in [
        ("commit.gpgSign", "false"),
        ("merge.verifySignatures", "false"),
        ("gpg.program", "none"),
    ] {
        project.git(&["config", setting, value]);
    }
    assert_eq!(found(), [[""; 0]; 2]);
    write_program(&project.top, ".git/hooks/commit-msg", "#!/bin/sh\n");
    for (setting, value) in [
        ("commit.gpgSign", "true"),
        ("merge.verifySignatures", "true"),
        ("gpg.minTrustLevel", "fully"),
    ] {
        project.git(&["config", setting, value]);
    }
    assert_eq!(
        found(),
        [
            ["commit-msg", "commit.gpgSign"],
            ["merge.verifySignatures", "gpg.minTrustLevel"]
        ]
    );
}

#[test]
fn a_program_of_a_hook_that_git_ignores_is_absent() {
    let project = Project::new();
    project.write(".gitignore", "node_modules\n");
    write_program(&project.top, "node_modules/.bin/omo-made-up", "#!/bin/sh\n");
    for (hook, expected) in [
        (
            "#!/bin/sh\nexport PATH=\"node_modules/.bin:$PATH\"\ntrue\n",
            vec!["node_modules/.bin"],
        ),
        (
            "#!/bin/sh\nnpx --no omo-made-up\n",
            vec!["node_modules/.bin/omo-made-up"],
        ),
        (
            "#!/bin/sh\ncommand -v omo-made-up || exit 0\nomo-made-up\n",
            vec![],
        ),
        ("#!/bin/sh\n# omo-made-up\n", vec![]),
    ] {
        write_program(&project.top, ".git/hooks/pre-commit", hook);
        let found = read_commit_conditions(&project.repository(), &[]).unwrap();
        let paths: Vec<&str> = found
            .absent_programs
            .iter()
            .map(|program| program.path.as_str())
            .collect();
        assert_eq!(paths, expected, "{hook}");
        assert!(found.absent_hooks.is_empty(), "each worktree has them");
    }
}

#[test]
fn what_a_sparse_checkout_leaves_out_is_named() {
    let project = Project::new();
    for folder in ["src", "lib"] {
        project.write(&format!("{folder}/a.txt"), "a\n");
    }
    project.git(&["add", "."]);
    project.git(&["commit", "-qm", "folders"]);
    let paths = ["src/a.txt", "lib/new.txt"].map(str::to_owned);
    let outside = || {
        read_commit_conditions(&project.repository(), &paths)
            .unwrap()
            .outside_sparse_set
    };
    assert!(outside().is_empty());
    project.git(&["sparse-checkout", "set", "--cone", "src"]);
    let can_tell = Command::new("git")
        .args(["sparse-checkout", "check-rules"])
        .current_dir(&project.top)
        .output();
    if can_tell.unwrap().status.success() {
        assert_eq!(outside(), ["lib/new.txt"]);
    }
}

#[test]
#[ignore = "needs sshd: cargo xtask test"]
fn a_key_that_needs_a_person_is_found_without_asking_one() {
    let project = Project::new();
    let key = project.top.join("../key");
    let made = Command::new("ssh-keygen")
        .args(["-q", "-t", "ed25519", "-N", "pass", "-f"])
        .arg(&key)
        .output();
    assert!(made.unwrap().status.success());
    let failure = || {
        read_commit_conditions(&project.repository(), &[])
            .unwrap()
            .signing_failure
    };
    project.git(&["config", "gpg.format", "ssh"]);
    project.git(&[
        "config",
        "user.signingkey",
        &key.with_extension("pub").to_string_lossy(),
    ]);
    assert_eq!(failure(), None, "commits need no signature");
    project.git(&["config", "commit.gpgsign", "true"]);
    assert!(
        failure().is_some_and(|words| words.contains("passphrase")),
        "{:?}",
        failure()
    );
    let open = Command::new("ssh-keygen")
        .args(["-q", "-p", "-P", "pass", "-N", "", "-f"])
        .arg(&key)
        .output();
    assert!(open.unwrap().status.success());
    assert_eq!(failure(), None);
    // No program that the repository itself names is run.
    let mark = project.top.join("ran");
    write_program(
        &project.top,
        "signer",
        &format!("#!/bin/sh\ntouch '{}'\nexit 1\n", mark.display()),
    );
    project.git(&["config", "gpg.format", "openpgp"]);
    project.git(&[
        "config",
        "gpg.program",
        &project.top.join("signer").to_string_lossy(),
    ]);
    assert_eq!(failure(), None);
    assert!(!mark.exists());
}

#[test]
fn another_work_tree_of_the_branch_is_found_until_it_is_gone() {
    let project = Project::new();
    let twin = project.top.join("../the twin");
    let found = || other_checkouts(&project.repository(), "refs/heads/main").unwrap();
    assert!(found().is_empty());
    project.git(&[
        "worktree",
        "add",
        "-q",
        "-f",
        &twin.to_string_lossy(),
        "main",
    ]);
    assert_eq!(found().len(), 1);
    let seen_there = GitRepository::find(&twin).unwrap();
    assert_eq!(
        other_checkouts(&seen_there, "refs/heads/main")
            .unwrap()
            .len(),
        1,
        "the first one"
    );
    fs::remove_dir_all(&twin).unwrap();
    assert!(found().is_empty());
}

#[test]
fn a_checkout_whose_git_folder_lies_elsewhere_is_no_other_one() {
    let project = Project::new();
    let found = || other_checkouts(&project.repository(), "refs/heads/main").unwrap();
    let elsewhere = project.top.join("../elsewhere");
    project.git(&[
        "init",
        "-q",
        "--separate-git-dir",
        &elsewhere.to_string_lossy(),
    ]);
    assert_eq!(found(), Vec::<String>::new());
    // As in a submodule.
    project.git(&["config", "core.worktree", &project.top.to_string_lossy()]);
    assert_eq!(found(), Vec::<String>::new());
    let twin = project.top.join("../the twin");
    project.git(&[
        "worktree",
        "add",
        "-q",
        "-f",
        &twin.to_string_lossy(),
        "main",
    ]);
    assert_eq!(found().len(), 1);
}

#[test]
fn empty_folders_and_repositories_are_in_no_commit() {
    let project = Project::new();
    for path in [
        "spool/in",
        "app/.git",
        "app/empty",
        "new/data",
        "target/empty",
    ] {
        fs::create_dir_all(project.top.join(path)).unwrap();
    }
    project.write("new/a.txt", "a\n");
    let found = uncommitted_folders(&ProvedWorktree::of_project(&project.top)).unwrap();
    let names = |names: &[&str]| {
        names
            .iter()
            .map(|name| (*name).to_owned())
            .collect::<Vec<_>>()
    };
    let expected = UncommittedFolders {
        empty: names(&["new/data/", "spool/"]),
        repositories: names(&["app"]),
    };
    assert_eq!(found, expected);
}
