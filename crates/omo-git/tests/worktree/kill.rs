//! Work that is killed at any call of git: asked for again, it is done, and nothing is lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use omo_git::integrate::LandOutcome;
use omo_git::repository::GitRepository;
use omo_git::worktree::{carry_out_removal, create_worktree, prepare_removal};

use crate::worktree::{Landing, Project, git_in, land_in, name, write};

/// What the process that is killed is to do, one word a line, in the folder that it is started in.
const JOB: &str = "job";

/// What the process does that is killed; on its own it is no test.
#[test]
#[ignore = "started by the others"]
fn does_the_job_until_it_is_killed() {
    let job = fs::read_to_string(JOB).unwrap();
    let words: Vec<&str> = job.lines().collect();
    let [what, place, old, new] = words.as_slice() else {
        panic!("{words:?}")
    };
    let repository = GitRepository::find(Path::new(place)).unwrap();
    match *what {
        "land" => drop(land_in(&repository, old, new).unwrap()),
        "create" => drop(create_worktree(&repository, &name(), old).unwrap()),
        _ => {
            let removal = prepare_removal(&repository, &name(), None, Path::new("files")).unwrap();
            carry_out_removal(&repository, &removal).unwrap();
        }
    }
}

/// A git that ends the process that called it, before or after the call with this number.
fn deadly_git(it: &Project, call: usize, when: &str) -> PathBuf {
    let folder = it.temp.path().join("bin");
    fs::create_dir_all(&folder).unwrap();
    let real = ["/usr/local/bin/git", "/usr/bin/git"]
        .into_iter()
        .find(|path| Path::new(path).is_file())
        .unwrap();
    let count = it.temp.path().join("count");
    fs::write(&count, "").unwrap();
    let script = format!(
        "#!/bin/sh\nprintf x >>'{count}'\nif [ \"$(wc -c <'{count}')\" -ne {call} ]; then exec {real} \"$@\"; fi\n\
         [ {when} = after ] && {real} \"$@\" >/dev/null 2>&1\nkill -9 $PPID\n",
        count = count.display()
    );
    fs::write(folder.join("git"), script).unwrap();
    fs::set_permissions(folder.join("git"), fs::Permissions::from_mode(0o755)).unwrap();
    folder
}

/// Whether the process was killed.
fn killed_at(it: &Project, call: usize, when: &str, [what, old, new]: [&str; 3]) -> bool {
    let folder = deadly_git(it, call, when);
    fs::write(
        it.temp.path().join(JOB),
        format!("{what}\n{}\n{old}\n{new}\n", it.top.display()),
    )
    .unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "worktree::kill::does_the_job_until_it_is_killed",
            "--ignored",
        ])
        .current_dir(it.temp.path());
    command.env("PATH", format!("{}:/usr/bin:/bin", folder.display()));
    !command.output().unwrap().status.success()
}

#[test]
fn a_worktree_that_was_not_ended_is_made_the_next_time() {
    for when in ["before", "after"] {
        let mut kills = 0;
        for call in 1.. {
            let it = Project::new();
            it.write(".worktreeinclude", ".env\n");
            it.write(".env", "KEY=1");
            let base = it.head();
            if !killed_at(&it, call, when, ["create", &base, ""]) {
                break;
            }
            kills += 1;
            let made = create_worktree(&it.repository(), &name(), &base)
                .unwrap_or_else(|error| panic!("{when} {call}: {error}"));
            assert_eq!(
                git_in(&made.path, &["rev-parse", "omo/run1/g1"]),
                base,
                "{when} {call}"
            );
            assert_eq!(
                git_in(&made.path, &["status", "--porcelain"]),
                "",
                "{when} {call}"
            );
            assert_eq!(
                fs::read_to_string(made.path.join(".env")).unwrap(),
                "KEY=1",
                "{when} {call}"
            );
            assert_eq!(
                it.git(&["worktree", "list"]).lines().count(),
                2,
                "{when} {call}"
            );
        }
        assert!(kills >= 5, "only {kills} calls {when}");
    }
}

#[test]
fn a_removal_that_was_not_ended_is_done_the_next_time_and_nothing_is_lost() {
    for when in ["before", "after"] {
        let mut kills = 0;
        for call in 1.. {
            let it = Project::new();
            let at = it.create().path;
            write(&at.join("a.txt"), "committed\n");
            git_in(&at, &["commit", "-qam", "work"]);
            let commit = git_in(&at, &["rev-parse", "HEAD"]);
            write(&at.join("b.txt"), "open\n");
            write(&at.join("c.log"), "ignored\n");
            if !killed_at(&it, call, when, ["remove", "", ""]) {
                break;
            }
            kills += 1;
            let files = it.temp.path().join("files");
            let removal = prepare_removal(&it.repository(), &name(), None, &files).unwrap();
            carry_out_removal(&it.repository(), &removal)
                .unwrap_or_else(|error| panic!("{when} {call}: {error}"));
            assert!(
                !at.exists() && it.git(&["branch", "--list", "omo/*"]).is_empty(),
                "{when} {call}"
            );
            it.forget_unnamed();
            it.git(&[
                "merge-base",
                "--is-ancestor",
                &commit,
                &name().keep_reference(),
            ]);
            assert_eq!(it.kept("b.txt"), "open", "{when} {call}");
            assert_eq!(
                fs::read_to_string(files.join("c.log")).unwrap(),
                "ignored\n",
                "{when} {call}"
            );
        }
        assert!(kills >= 12, "only {kills} calls {when}");
    }
}

#[test]
fn a_move_that_was_not_ended_is_ended_the_next_time() {
    for when in ["before", "after"] {
        let mut kills = 0;
        for call in 1.. {
            let it = Landing::new();
            it.write("other.txt", "mine\n");
            it.write("folder/kept.txt", "staged\n");
            it.git(&["add", "folder/kept.txt"]);
            if !killed_at(&it, call, when, ["land", &it.old, &it.new]) {
                break;
            }
            kills += 1;
            assert!(
                [&it.old, &it.new].contains(&&it.git(&["rev-parse", "main"])),
                "{when} {call}"
            );
            let landed = land_in(&it.repository(), &it.old, &it.new)
                .unwrap_or_else(|error| panic!("{when} {call}: {error}"));
            assert!(matches!(
                landed,
                LandOutcome::Moved | LandOutcome::AlreadyThere
            ));
            assert_eq!(it.git(&["rev-parse", "main"]), it.new, "{when} {call}");
            assert_eq!(
                it.git(&["status", "--porcelain"]),
                "M  folder/kept.txt\n M other.txt",
                "{when} {call}"
            );
            assert_eq!(it.read("folder/kept.txt"), "staged\n");
            assert!(
                !it.top.join(".git/index.lock").exists()
                    && !it.top.join(".git/omo-landing").exists()
            );
        }
        assert!(kills >= 9, "only {kills} calls {when}");
    }
}

#[test]
fn a_move_that_may_not_go_on_is_taken_back() {
    let mut taken_back = 0;
    for call in 1.. {
        let it = Landing::new();
        if !killed_at(&it, call, "after", ["land", &it.old, &it.new]) {
            break;
        }
        if it.git(&["rev-parse", "main"]) == it.new {
            continue;
        }
        // Its user is in the middle of something by then, so that the move may not go on; but what it did so
        // far goes back.
        fs::write(it.top.join(".git/MERGE_HEAD"), &it.new).unwrap();
        land_in(&it.repository(), &it.old, &it.new).unwrap_err();
        fs::remove_file(it.top.join(".git/MERGE_HEAD")).unwrap();
        assert_eq!(it.git(&["status", "--porcelain"]), "", "{call}");
        assert_eq!(
            (
                it.read("changed.txt").as_str(),
                it.read("deleted.txt").as_str()
            ),
            ("one\n", "one\n"),
            "{call}"
        );
        taken_back += 1;
    }
    assert!(taken_back >= 5, "only {taken_back}");
}
