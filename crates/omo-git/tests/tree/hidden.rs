//! Changes that git would not tell of, and what must not run while it is asked.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::process::Command;

use omo_git::git_command::GitCalls;
use omo_git::work_files::WorkFiles;

use crate::tree::{Repository, changed_since, git_in};

/// What hides a change from git, and the change.
type Case = (&'static str, fn(&Repository), fn(&Repository));

const CASES: &[Case] = &[
    (
        "fileMode",
        |it| set(it, "core.fileMode", "false"),
        |it| crate::tree::mode(it, 0o755),
    ),
    (
        "autocrlf=input",
        |it| set(it, "core.autocrlf", "input"),
        |it| it.write("a.txt", "one\r\n"),
    ),
    (
        "autocrlf=true",
        |it| set(it, "core.autocrlf", "true"),
        |it| it.write("a.txt", "one\r\n"),
    ),
    (
        "text=auto",
        |it| attributes(it, "* text=auto\n"),
        |it| it.write("a.txt", "one\r\n"),
    ),
    (
        "eol",
        |it| attributes(it, "* text eol=crlf\n"),
        |it| it.write("a.txt", "one\r\n"),
    ),
    (
        "ignoreCase",
        |it| set(it, "core.ignoreCase", "true"),
        |it| it.write("A.TXT", "another\n"),
    ),
    (
        "symlinks",
        |it| set(it, "core.symlinks", "false"),
        |it| {
            fs::remove_file(it.top.join("a.txt")).unwrap();
            symlink("one", it.top.join("a.txt")).unwrap();
        },
    ),
    (
        "excludesFile",
        |it| exclude_all(it, "core.excludesFile"),
        |it| it.write("new.txt", "x"),
    ),
    (
        "info/exclude",
        |it| it.write(".git/info/exclude", "*\n"),
        |it| it.write("new.txt", "x"),
    ),
    (
        "ident",
        |it| attributes(it, "* ident\n"),
        |it| it.write("a.txt", "$Id: one $\n"),
    ),
    (
        "an encoding",
        |it| attributes(it, "* working-tree-encoding=UTF-16\n"),
        |it| it.write("a.txt", "o"),
    ),
    (
        "a filter",
        |it| {
            attributes(it, "* filter=same\n");
            set(it, "filter.same.clean", "echo same");
        },
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "assume-unchanged",
        |it| flag(it, "--assume-unchanged"),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "skip-worktree",
        |it| flag(it, "--skip-worktree"),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "skip-worktree and gone",
        |it| flag(it, "--skip-worktree"),
        |it| fs::remove_file(it.top.join("a.txt")).unwrap(),
    ),
    (
        "sparse",
        |_| (),
        |it| _ = it.git(&["sparse-checkout", "set", "--no-cone", "/src/"]),
    ),
    (
        "a broken setting",
        |it| it.write(".git/config", "[core\n"),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "a version of another git",
        |it| set(it, "core.repositoryFormatVersion", "9"),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "a broken index",
        |it| it.write(".git/index", "DIRC, and no more"),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "no index",
        |it| fs::remove_file(it.top.join(".git/index")).unwrap(),
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "out of the index and ignored",
        |it| {
            it.git(&["rm", "-q", "--cached", "a.txt"]);
            it.write(".gitignore", "a.txt\n");
        },
        |it| it.write("a.txt", "two\n"),
    ),
    (
        "no repository any more",
        |it| fs::rename(it.top.join(".git"), it.temp.path().join("moved")).unwrap(),
        |it| {
            it.write("a.txt", "two\n");
        },
    ),
    (
        "a repository within",
        |it| {
            git_in(&it.top.join("src"), &["init", "-q"]);
            it.write("src/.git/info/exclude", "*\n");
        },
        |it| it.write("src/c.txt", "new\n"),
    ),
    (
        "a setting of the folder that git is shown",
        |it| {
            for folder in fs::read_dir(it.state_home().join("omo/files")).unwrap() {
                fs::write(folder.unwrap().path().join("git/info/exclude"), "*\n").unwrap();
            }
        },
        |it| it.write("new.txt", "x"),
    ),
];

fn set(it: &Repository, name: &str, value: &str) {
    it.git(&["config", name, value]);
}

fn attributes(it: &Repository, text: &str) {
    it.write(".git/info/attributes", text);
}

fn exclude_all(it: &Repository, name: &str) {
    let list = it.temp.path().join("list");
    fs::write(&list, "*\n").unwrap();
    set(it, name, list.to_str().unwrap());
}

fn flag(it: &Repository, flag: &str) {
    it.git(&["update-index", flag, "a.txt"]);
}

#[test]
fn nothing_that_is_set_during_a_run_hides_a_change() {
    for (what, hide, change) in CASES {
        let it = Repository::new();
        let scope = it.settle_scope();
        it.state_in(&scope);
        hide(&it);
        let before = it.state_in(&scope);
        change(&it);
        let after = it.state_in(&scope);
        assert_ne!(after.id, before.id, "{what}");
        assert_eq!(it.state_in(&scope), after, "{what}, asked again");
    }
}

#[test]
fn what_was_set_before_a_run_hides_nothing_that_is_tracked() {
    for (what, hide, change) in CASES
        .iter()
        .filter(|(what, ..)| !matches!(*what, "excludesFile" | "info/exclude"))
    {
        let it = Repository::new();
        it.id();
        hide(&it);
        let scope = it.settle_scope();
        let before = it.state_in(&scope);
        change(&it);
        let out_of_it = *what == "out of the index and ignored";
        assert_eq!(it.state_in(&scope).id == before.id, out_of_it, "{what}");
    }
}

#[test]
fn what_a_link_leads_to_counts_where_nothing_else_counts_it() {
    let it = Repository::new();
    let outside = it.temp.path().join("outside");
    fs::create_dir_all(outside.join("deep")).unwrap();
    for file in ["file.py", "deep/inner.py"] {
        fs::write(outside.join(file), "one").unwrap();
    }
    it.write(".gitignore", "/built/\n");
    it.write("built/x.py", "one");
    symlink(outside.join("file.py"), it.top.join("file.py")).unwrap();
    symlink(outside.join("deep"), it.top.join("folder")).unwrap();
    symlink("built/x.py", it.top.join("ignored.py")).unwrap();
    fs::write(it.top.join(".git/y.py"), "one").unwrap();
    symlink(".git/y.py", it.top.join("in_git.py")).unwrap();
    symlink("later.py", it.top.join("dangling.py")).unwrap();
    let paths = [
        outside.join("file.py"),
        outside.join("deep/inner.py"),
        it.top.join("built/x.py"),
        it.top.join(".git/y.py"),
    ];
    for path in paths {
        let before = it.id();
        fs::write(&path, "two").unwrap();
        assert_ne!(it.id(), before, "{}", path.display());
        fs::write(&path, "one").unwrap();
        assert_eq!(it.id(), before, "{}", path.display());
    }
}

#[test]
fn a_submodule_counts_without_its_repository() {
    let (it, inner) = (Repository::new(), Repository::called("inner"));
    it.git(&["submodule", "add", "-q", inner.top.to_str().unwrap(), "sub"]);
    it.git(&["commit", "-qam", "sub"]);
    let scope = it.settle_scope();
    let before = it.state_in(&scope);
    fs::remove_file(it.top.join("sub/.git")).unwrap();
    assert_eq!(it.state_in(&scope).id, before.id, "the files are the same");
    it.write("sub/.gitignore", "*\n");
    let hidden = it.state_in(&scope);
    it.write("sub/a.txt", "changed\n");
    assert_ne!(it.state_in(&scope).id, hidden.id);
    it.write("sub/a.txt", "one\n");
    let begun_without = it.settle_scope();
    let before = it.state_in(&begun_without);
    it.write("sub/src/b.txt", "changed\n");
    assert_ne!(it.state_in(&begun_without).id, before.id);
}

#[test]
fn a_file_that_was_written_and_put_back_is_the_same_with_other_stamps() {
    let it = Repository::new();
    let before = it.settle();
    let state = || {
        WorkFiles::new(&it.top, Some(&it.state_home()), &GitCalls::default(), None)
            .state()
            .unwrap()
    };
    let quiet = state();
    assert_eq!(quiet.id, before);
    fs::rename(it.top.join("a.txt"), it.temp.path().join("away")).unwrap();
    fs::rename(it.temp.path().join("away"), it.top.join("a.txt")).unwrap();
    let moved = state();
    assert_eq!(moved.id, quiet.id);
    assert_ne!(moved.stamps, quiet.stamps);
    it.write(".gitignore", "*.log\n");
    let quiet = state();
    it.write("src/x.log", "a check writes what is ignored");
    assert_eq!(state(), quiet);
}

#[test]
fn files_have_no_id_once_what_was_settled_is_gone() {
    let it = Repository::new();
    let scope = it.settle_scope();
    it.state_in(&scope);
    let kept = it.state_home().join("omo/scopes").join(&scope);
    let text = fs::read_to_string(&kept).unwrap();
    it.write("new.txt", "x");
    let state_home = it.state_home();
    let calls = GitCalls::default();
    let state = || WorkFiles::new(&it.top, Some(&state_home), &calls, Some(&scope)).state();
    fs::write(&kept, text.replace("a.txt", "b.txt")).unwrap();
    assert_eq!(state(), None, "it was edited");
    fs::remove_file(&kept).unwrap();
    assert_eq!(state(), None, "it is gone");
    fs::write(&kept, text).unwrap();
    assert!(state().is_some());
}

#[test]
fn what_became_ignored_is_reported() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n!kept.log\n");
    it.write("x.log", "x");
    it.write("venv/.gitignore", "*\n");
    it.write("venv/lib/x", "x");
    let scope = it.settle_scope();
    // The time of a change is told from that of the run only when they are not the same.
    let begun = omo_state::env::now();
    let is_later = || {
        omo_state::env::now()
            .millis_since(begun)
            .is_some_and(|millis| millis > 300)
            .then_some(())
    };
    omo_testkit::wait_until("later", is_later).unwrap();
    let since = Some(omo_state::env::now());
    let state_home = it.state_home();
    let reported = || {
        let calls = GitCalls::default();
        WorkFiles::new(&it.top, Some(&state_home), &calls, Some(&scope)).newly_ignored(since)
    };
    it.write("y.log", "y");
    it.write("venv/lib/y", "y");
    assert_eq!(reported(), [""; 0]);
    it.write(".gitignore", "*.log\n");
    assert_eq!(
        reported(),
        ["what `!kept.log` in .gitignore had brought back"]
    );
    it.write(".gitignore", "!kept.log\n*.log\n");
    assert_eq!(
        reported(),
        ["what .gitignore had brought back: its lines stand in another order"]
    );
    it.write(".gitignore", "*.log\n!kept.log\n/conftest.py\n");
    it.write("conftest.py", "x");
    it.write("hidden/.gitignore", "*\n");
    it.write("hidden/conftest.py", "x");
    assert_eq!(
        reported(),
        ["conftest.py", "hidden/.gitignore", "hidden/conftest.py"]
    );
    let before = it.state_in(&scope);
    it.write("hidden/.gitignore", "*\n#\n");
    assert_ne!(
        it.state_in(&scope).id,
        before.id,
        "what ignores itself counts"
    );
}

#[test]
fn no_filter_runs_whatever_it_is_called_and_wherever_it_is_set() {
    let trace_of = |it: &Repository| it.temp.path().join("ran");
    let run = |it: &Repository| format!("touch '{}'; cat", trace_of(it).display());
    let plain: fn(&Repository, &str) = |it, run| {
        attributes(it, "* filter=bad\n");
        set(it, "filter.bad.clean", run);
        set(it, "filter.bad.required", "true");
    };
    let with_equals: fn(&Repository, &str) = |it, run| {
        it.write(".gitattributes", "* filter=a=b\n");
        let config = format!("[filter \"a=b\"]\n\tclean = \"{run}\"\n\tprocess = \"{run}\"\n");
        fs::write(
            it.top.join(".git/config"),
            fs::read_to_string(it.top.join(".git/config")).unwrap() + &config,
        )
        .unwrap();
    };
    let not_utf8: fn(&Repository, &str) = |it, run| {
        fs::write(it.top.join(".gitattributes"), b"* filter=\xff\n").unwrap();
        let mut config = fs::read(it.top.join(".git/config")).unwrap();
        config.extend_from_slice(b"[filter \"\xff\"]\n\tclean = \"");
        config.extend_from_slice(format!("{run}\"\n").as_bytes());
        fs::write(it.top.join(".git/config"), config).unwrap();
    };
    let included: fn(&Repository, &str) = |it, run| {
        it.write(".gitattributes", "* filter=bad\n");
        it.write(
            "settings",
            &format!("[filter \"bad\"]\n\tclean = \"{run}\"\n"),
        );
        set(it, "include.path", "../settings");
    };
    let in_submodule: fn(&Repository, &str) = |it, run| {
        let inner = it.temp.path().join("inner");
        fs::create_dir_all(&inner).unwrap();
        git_in(&inner, &["init", "-q"]);
        fs::write(inner.join("a.txt"), "one\n").unwrap();
        fs::write(inner.join(".gitattributes"), "* filter=bad\n").unwrap();
        git_in(&inner, &["add", "."]);
        git_in(&inner, &["commit", "-qm", "inner"]);
        it.git(&["submodule", "add", "-q", inner.to_str().unwrap(), "sub"]);
        it.git(&["commit", "-qm", "sub"]);
        git_in(&it.top.join("sub"), &["config", "filter.bad.clean", run]);
        git_in(&it.top.join("sub"), &["config", "core.fsmonitor", run]);
        it.write("sub/a.txt", "two\n");
    };
    let cases = [
        ("plain", plain),
        ("with =", with_equals),
        ("no UTF-8", not_utf8),
        ("included", included),
        ("in a submodule", in_submodule),
    ];
    for (what, prepare) in cases {
        let it = Repository::new();
        prepare(&it, &run(&it));
        let _ = fs::remove_file(trace_of(&it));
        it.write("a.txt", "changed\n");
        let scope = it.settle_scope();
        let first = it.state_in(&scope);
        it.write("new.txt", "new\n");
        assert_ne!(it.state_in(&scope).id, first.id, "{what}");
        let state_home = it.state_home();
        let calls = GitCalls::default();
        WorkFiles::new(&it.top, Some(&state_home), &calls, Some(&scope)).newly_ignored(None);
        assert!(
            changed_since(&it.top, Some(&it.state_home()), None)
                .unwrap()
                .contains("+changed"),
            "{what}"
        );
        let worktree = &omo_git::proved_worktree::ProvedWorktree::of_project(&it.top);
        omo_git::snapshots::Snapshots {
            worktree,
            state_home: &state_home,
            run_id: "run",
            own: &[],
        }
        .take_tree()
        .unwrap();
        assert!(!trace_of(&it).exists(), "{what}: it ran");
        // It would have: the case is one.
        let _ = Command::new("git")
            .args(["add", "-A"])
            .current_dir(&it.top)
            .output()
            .unwrap();
        let _ = Command::new("git")
            .args(["status"])
            .current_dir(it.top.join("sub"))
            .output();
        assert!(trace_of(&it).exists(), "{what}: it never runs");
    }
}

#[test]
fn a_thousand_empty_folders_within_each_other_take_no_time() {
    let it = Repository::new();
    let deep: String = "d/".repeat(1_200);
    fs::create_dir_all(it.top.join(&deep)).unwrap();
    let calls = it.temp.path().join("calls");
    it.changes(
        "a file beside them",
        |it| it.write("d/x", "x"),
        |it| fs::remove_file(it.top.join("d/x")).unwrap(),
    );
    it.changes(
        "a file deep in them",
        |it| it.write(&format!("{deep}x"), "x"),
        |it| fs::remove_file(it.top.join(format!("{deep}x"))).unwrap(),
    );
    it.settle();
    assert!(!calls.exists());
    fs::set_permissions(it.top.join("d"), fs::Permissions::from_mode(0o755)).unwrap();
}
