//! The id of a work tree, in repositories of every kind, with the real git.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod changes;
mod hidden;
mod kept;
mod restore;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use omo_git::difference::{self, FileVersions};
use omo_git::git_command::GitCalls;
use omo_git::work_files::{FilesState, WorkFiles, settle_scope};
use omo_state::files::folder::GuardedFolder;
use omo_state::git_worktree::GitWorktree;
use tempfile::TempDir;

fn id(folder: &Path, state_home: Option<&Path>) -> Option<String> {
    WorkFiles::new(folder, state_home, &GitCalls::default(), None)
        .state()
        .map(|state| state.id)
}

fn changed_since(
    folder: &Path,
    state_home: Option<&Path>,
    since: Option<&str>,
) -> Result<String, String> {
    let beside = TempDir::new().unwrap();
    let beside = GuardedFolder::create_user(beside.path()).unwrap();
    let mut whole = FileVersions::create(&beside, "whole".to_owned());
    let changed = difference::changes_since_commit(
        folder,
        state_home,
        &GitCalls::default(),
        None,
        since,
        &mut whole,
    )?;
    Ok(changed.difference.unwrap_or_default())
}

/// A repository with two files in one commit, and a state folder beside it.
struct Repository {
    temp: TempDir,
    top: PathBuf,
}

impl Repository {
    fn new() -> Self {
        Self::called("project")
    }

    fn called(name: &str) -> Self {
        let repository = Self::unborn(name);
        repository.write("a.txt", "one\n");
        repository.write("src/b.txt", "two\n");
        repository.git(&["add", "."]);
        repository.git(&["commit", "-qm", "start"]);
        repository
    }

    fn unborn(name: &str) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join(name);
        fs::create_dir(&top).unwrap();
        let repository = Self { temp, top };
        repository.git(&["init", "-q", "-b", "main"]);
        repository
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.top, arguments)
    }

    fn state_home(&self) -> PathBuf {
        self.temp.path().join("state")
    }

    fn id(&self) -> String {
        id(&self.top, Some(&self.state_home())).unwrap()
    }

    /// The id changes with `change`, and comes back when `back` takes that back; asked twice each
    /// time, since the second answer comes from what was kept.
    fn changes(&self, what: &str, change: impl FnOnce(&Self), back: impl FnOnce(&Self)) {
        let before = self.id();
        change(self);
        let changed = self.id();
        assert_ne!(changed, before, "{what}");
        assert_eq!(self.id(), changed, "{what}, asked again");
        back(self);
        assert_eq!(self.id(), before, "{what}, taken back");
    }

    /// Asks until the look of the work tree is remembered: what was changed a moment ago is not.
    fn settle(&self) -> String {
        let start = Instant::now();
        loop {
            let id = self.id();
            let kept = fs::read_dir(self.state_home().join("omo/files"))
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let mut kept =
                kept.map(|folder| fs::read_to_string(folder.join("remembered.json")).unwrap());
            if kept.all(|text| text.contains("\"folders\":\"")) {
                return id;
            }
            assert!(
                start.elapsed() < Duration::from_secs(20),
                "never remembered"
            );
        }
    }

    fn settle_scope(&self) -> String {
        settle_scope(&self.top, Some(&self.state_home()), &GitCalls::default()).unwrap()
    }

    /// What stands in the files that count in a run.
    fn state_in(&self, scope: &str) -> FilesState {
        WorkFiles::new(
            &self.top,
            Some(&self.state_home()),
            &GitCalls::default(),
            Some(scope),
        )
        .state()
        .unwrap()
    }

    fn keeps(&self, what: &str, change: impl FnOnce(&Self)) {
        let before = self.id();
        change(self);
        assert_eq!(self.id(), before, "{what}");
    }
}

/// A change, and how it is taken back.
type Step = (
    &'static str,
    Box<dyn Fn(&Repository)>,
    Box<dyn Fn(&Repository)>,
);

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .args(["-c", "protocol.file.allow=always"])
        .args(arguments)
        .current_dir(folder)
        .env_clear();
    command
        .env("PATH", "/usr/local/bin:/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .env("GIT_CONFIG_NOSYSTEM", "1");
    for role in ["AUTHOR", "COMMITTER"] {
        command
            .env(format!("GIT_{role}_NAME"), "test")
            .env(format!("GIT_{role}_EMAIL"), "test@localhost");
    }
    let output = command.output().unwrap();
    assert!(
        output.status.success(),
        "git {arguments:?}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).unwrap()
}

/// Every file below a folder, with what would show a write to it.
fn traces(folder: &Path) -> BTreeMap<PathBuf, (u64, i64, i64)> {
    let mut found = BTreeMap::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let meta = path.symlink_metadata().unwrap();
            if meta.is_dir() {
                folders.push(path.clone());
            }
            found.insert(path, (meta.ino(), meta.mtime(), meta.mtime_nsec()));
        }
    }
    found
}

#[test]
fn every_change_of_what_git_would_commit_is_another_id_and_nothing_else_is() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    let rename = |from: &'static str, to: &'static str| {
        move |it: &Repository| fs::rename(it.top.join(from), it.top.join(to)).unwrap()
    };
    let mode = |mode| {
        move |it: &Repository| {
            fs::set_permissions(it.top.join("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
        }
    };
    let remove =
        |path: &'static str| move |it: &Repository| fs::remove_file(it.top.join(path)).unwrap();
    it.changes(
        "a text",
        |it| it.write("a.txt", "other\n"),
        |it| it.write("a.txt", "one\n"),
    );
    it.changes(
        "a text of the same length",
        |it| it.write("a.txt", "eno\n"),
        |it| it.write("a.txt", "one\n"),
    );
    it.changes(
        "a new file",
        |it| it.write("new.txt", "x"),
        remove("new.txt"),
    );
    it.changes(
        "a new folder",
        |it| it.write("new/deep/x.txt", "x"),
        |it| fs::remove_dir_all(it.top.join("new")).unwrap(),
    );
    it.changes("a removed file", remove("src/b.txt"), |it| {
        it.write("src/b.txt", "two\n");
    });
    it.changes("a name", rename("a.txt", "c.txt"), rename("c.txt", "a.txt"));
    it.changes("the right to run it", mode(0o755), mode(0o644));
    it.changes(
        "a link",
        |it| symlink("a.txt", it.top.join("link")).unwrap(),
        remove("link"),
    );
    it.keeps("an ignored file", |it| it.write("x.log", "x"));
    it.keeps("touched, and the same", |it| it.write("a.txt", "one\n"));
    it.keeps("staged", |it| _ = it.git(&["add", "."]));
    it.keeps("committed", |it| _ = it.git(&["commit", "-qam", "more"]));
    it.keeps("a branch", |it| _ = it.git(&["checkout", "-q", "--detach"]));
    it.write("made", "1");
    it.id();
    it.write(".git/info/exclude", "made\n");
    let without = it.id();
    it.keeps("what is ignored from now on", |it| it.write("made", "2"));
    it.write(".git/info/exclude", "");
    assert_ne!(it.id(), without);
    it.write("src/.gitignore", "made\n");
    it.write("src/made", "1");
    it.keeps("ignored by another file", |it| it.write("src/made", "2"));
    it.changes(
        "a change that is staged",
        |it| {
            it.write("a.txt", "staged\n");
            it.git(&["add", "."]);
        },
        |it| it.write("a.txt", "one\n"),
    );
}

#[test]
fn what_is_remembered_of_a_quiet_tree_hides_no_change() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n/out/\n");
    it.write("logs/x.log", "x");
    it.write("out/y", "y");
    fs::create_dir_all(it.top.join("empty/deep")).unwrap();
    let quiet = it.settle();
    let remove =
        |path: &'static str| move |it: &Repository| fs::remove_file(it.top.join(path)).unwrap();
    let steps: [Step; 8] = [
        (
            "the same length",
            Box::new(|it| it.write("a.txt", "eno\n")),
            Box::new(|it| it.write("a.txt", "one\n")),
        ),
        (
            "with its time set back",
            Box::new(set_back),
            Box::new(|it| it.write("a.txt", "one\n")),
        ),
        (
            "a new file",
            Box::new(|it| it.write("new.txt", "x")),
            Box::new(remove("new.txt")),
        ),
        (
            "in a folder without any",
            Box::new(|it| it.write("empty/deep/x", "x")),
            Box::new(remove("empty/deep/x")),
        ),
        (
            "beside an ignored one",
            Box::new(|it| it.write("logs/x.rs", "x")),
            Box::new(remove("logs/x.rs")),
        ),
        (
            "removed",
            Box::new(remove("src/b.txt")),
            Box::new(|it| it.write("src/b.txt", "two\n")),
        ),
        (
            "its right to run",
            Box::new(|it| mode(it, 0o755)),
            Box::new(|it| mode(it, 0o644)),
        ),
        (
            "another ignore",
            Box::new(|it| it.write(".gitignore", "/out/\n")),
            Box::new(|it| it.write(".gitignore", "*.log\n/out/\n")),
        ),
    ];
    for (what, change, back) in &steps {
        change(&it);
        assert_ne!(it.id(), quiet, "{what}");
        back(&it);
        assert_eq!(it.settle(), quiet, "{what}, taken back");
    }
    it.write("logs/x.log", "y");
    it.write("out/z", "z");
    assert_eq!(it.id(), quiet, "ignored files");
}

fn mode(it: &Repository, mode: u32) {
    fs::set_permissions(it.top.join("a.txt"), fs::Permissions::from_mode(mode)).unwrap();
}

/// Writes as many bytes, and gives the file the time that it had.
fn set_back(it: &Repository) {
    let file = it.top.join("a.txt");
    let time = fs::metadata(&file).unwrap().modified().unwrap();
    fs::write(&file, "eno\n").unwrap();
    fs::File::options()
        .write(true)
        .open(&file)
        .unwrap()
        .set_modified(time)
        .unwrap();
}

#[test]
fn nothing_is_left_in_the_repository_and_nothing_of_it_is_run() {
    let it = Repository::new();
    let ran = it.temp.path().join("ran");
    let script = it.temp.path().join("script");
    fs::write(
        &script,
        format!("#!/bin/sh\necho \"$0\" >> '{}'\n", ran.display()),
    )
    .unwrap();
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).unwrap();
    it.git(&["status"]);
    it.git(&["config", "core.fsmonitor", script.to_str().unwrap()]);
    fs::create_dir_all(it.top.join(".git/hooks")).unwrap();
    for hook in [
        "post-index-change",
        "pre-commit",
        "post-checkout",
        "fsmonitor-watchman",
    ] {
        fs::copy(&script, it.top.join(".git/hooks").join(hook)).unwrap();
    }
    it.write("a.txt", "changed\n");
    it.write("new.txt", "new\n");
    let before = traces(&it.top);
    let first = it.id();
    it.write("new.txt", "newer\n");
    let second = it.id();
    it.write("new.txt", "new\n");
    assert_eq!(it.id(), first);
    assert_ne!(first, second);
    let mut after = traces(&it.top);
    // The one file that this test itself wrote to.
    let own = it.top.join("new.txt");
    after.insert(own.clone(), before[&own]);
    assert_eq!(after, before);
    assert!(!ran.exists(), "a hook or a monitor was run");
}

#[test]
fn files_that_git_takes_for_unchanged_are_compared() {
    for flag in ["--assume-unchanged", "--skip-worktree"] {
        let it = Repository::new();
        it.git(&["update-index", flag, "a.txt"]);
        it.changes(
            flag,
            |it| it.write("a.txt", "hidden\n"),
            |it| it.write("a.txt", "one\n"),
        );
        let it = Repository::new();
        let before = it.id();
        it.git(&["update-index", flag, "a.txt"]);
        it.write("a.txt", "hidden\n");
        assert_ne!(it.id(), before, "{flag} after the first look");
    }
}

#[test]
fn no_setting_of_the_repository_hides_a_change() {
    let settings: [(&str, &[&[&str]]); 5] = [
        ("ignoreStat", &[&["config", "core.ignoreStat", "true"]]),
        (
            "trustctime",
            &[
                &["config", "core.trustctime", "false"],
                &["config", "core.checkStat", "minimal"],
            ],
        ),
        ("worktree", &[&["config", "core.worktree", "/tmp"]]),
        (
            "filter",
            &[
                &["config", "filter.hide.clean", "echo hidden"],
                &["config", "filter.hide.required", "true"],
            ],
        ),
        ("nothing", &[]),
    ];
    for (what, commands) in settings {
        let it = Repository::new();
        it.write(".git/info/attributes", "* filter=hide\n");
        for command in commands {
            it.git(command);
        }
        let before = it.id();
        set_back(&it);
        let changed = it.id();
        assert_ne!(changed, before, "{what}");
        it.write("a.txt", "two\n");
        assert_ne!(it.id(), changed, "{what}, once more");
    }
}

#[test]
fn what_an_ignoring_repository_holds_has_an_id_of_its_own() {
    let it = Repository::new();
    it.write(".gitignore", "/inner/\n");
    it.write("inner/x", "x");
    let inner = || id(&it.top.join("inner"), Some(&it.state_home())).unwrap();
    let before = inner();
    it.write("a.txt", "of the repository around it\n");
    assert_eq!(inner(), before);
    it.write("inner/x", "y");
    assert_ne!(inner(), before);
    let all = Repository::unborn("project");
    all.write(".git/info/exclude", "*\n");
    all.write("x", "x");
    all.changes(
        "where everything is ignored",
        |all| all.write("x", "y"),
        |all| all.write("x", "x"),
    );
}

#[test]
fn a_file_that_comes_back_where_git_does_not_look_counts() {
    let it = Repository::new();
    it.git(&["update-index", "--skip-worktree", "a.txt"]);
    fs::remove_file(it.top.join("a.txt")).unwrap();
    let absent = it.id();
    it.write("a.txt", "other\n");
    assert_ne!(it.id(), absent);
}

#[test]
fn what_a_killed_git_left_is_cleared() {
    let it = Repository::new();
    changed_since(&it.top, Some(&it.state_home()), None).unwrap();
    for entry in fs::read_dir(it.state_home().join("omo/reviews")).unwrap() {
        fs::write(entry.unwrap().path().join("index.lock"), "").unwrap();
    }
    it.write("a.txt", "changed\n");
    let shown = changed_since(&it.top, Some(&it.state_home()), None).unwrap();
    assert!(shown.contains("+changed"), "{shown}");
}

#[test]
fn a_repository_without_a_commit_has_an_id() {
    let it = Repository::unborn("project");
    it.changes(
        "the first file",
        |it| it.write("a.txt", "x"),
        |it| fs::remove_file(it.top.join("a.txt")).unwrap(),
    );
    it.write("a.txt", "x");
    it.keeps("added", |it| _ = it.git(&["add", "."]));
}

#[test]
fn work_trees_of_one_repository_have_ids_of_their_own() {
    let it = Repository::new();
    let other = it.temp.path().join("other");
    it.git(&["worktree", "add", "-q", other.to_str().unwrap()]);
    let of_other = || id(&other, Some(&it.state_home())).unwrap();
    assert_eq!(of_other(), it.id(), "the same files");
    fs::write(other.join("a.txt"), "there\n").unwrap();
    assert_ne!(of_other(), it.id());
    it.keeps("a change over there", |_| {
        fs::write(other.join("a.txt"), "there again\n").unwrap();
    });
}

#[test]
fn a_submodules_own_files_count() {
    let (it, inner) = (Repository::new(), Repository::called("inner"));
    it.git(&["submodule", "add", "-q", inner.top.to_str().unwrap(), "sub"]);
    it.git(&["commit", "-qam", "sub"]);
    it.changes(
        "a file in it",
        |it| it.write("sub/a.txt", "changed\n"),
        |it| it.write("sub/a.txt", "one\n"),
    );
    it.changes(
        "a new file in it",
        |it| it.write("sub/new.txt", "x"),
        |it| fs::remove_file(it.top.join("sub/new.txt")).unwrap(),
    );
}

#[test]
fn a_sparse_checkout_keeps_what_it_left_out() {
    let it = Repository::new();
    let whole = it.id();
    it.git(&["sparse-checkout", "set", "--cone", "src"]);
    it.git(&["sparse-checkout", "set", "--no-cone", "/src/"]);
    assert!(!it.top.join("a.txt").exists());
    assert_ne!(it.id(), whole, "a file that was there is gone");
    let scope = it.settle_scope();
    let shown = || {
        let head = it.git(&["rev-parse", "HEAD"]);
        let (home, calls) = (it.state_home(), GitCalls::default());
        let beside = GuardedFolder::create_user(it.temp.path()).unwrap();
        let mut whole = FileVersions::create(&beside, "whole".to_owned());
        let changed = difference::changes_since_commit(
            &it.top,
            Some(&home),
            &calls,
            Some(&scope),
            Some(head.trim()),
            &mut whole,
        );
        changed.unwrap().difference.unwrap()
    };
    assert_eq!(
        shown(),
        "",
        "what was left out when the run began is no removal"
    );
    it.git(&["update-index", "--skip-worktree", "src/b.txt"]);
    fs::remove_file(it.top.join("src/b.txt")).unwrap();
    assert!(
        shown().contains("-two"),
        "what goes later is one: {}",
        shown()
    );
    it.write("src/b.txt", "two\n");
    it.changes(
        "a file that is there",
        |it| it.write("src/b.txt", "changed\n"),
        |it| it.write("src/b.txt", "two\n"),
    );
    it.changes(
        "a file outside",
        |it| it.write("docs/c.txt", "x"),
        |it| fs::remove_dir_all(it.top.join("docs")).unwrap(),
    );
}

#[test]
fn a_repository_within_it_counts_with_and_without_a_commit() {
    let it = Repository::new();
    let inner = it.top.join("inner");
    fs::create_dir(&inner).unwrap();
    git_in(&inner, &["init", "-q"]);
    fs::write(inner.join("x"), "x").unwrap();
    it.changes(
        "a file, no commit",
        |it| it.write("inner/x", "y"),
        |it| it.write("inner/x", "x"),
    );
    it.changes(
        "one that the inner repository's own list ignores",
        |it| {
            it.write("inner/.git/info/exclude", "*\n");
            it.write("inner/z", "z");
        },
        |it| fs::remove_file(it.top.join("inner/z")).unwrap(),
    );
    it.write("inner/.git/info/exclude", "");
    git_in(&inner, &["add", "."]);
    git_in(&inner, &["commit", "-qm", "x"]);
    it.changes(
        "a file in it",
        |it| it.write("inner/x", "y"),
        |it| it.write("inner/x", "x"),
    );
}

#[test]
fn odd_names_are_no_trouble() {
    for name in [
        "a:b",
        "a \"b\" c",
        "a'b",
        "a\nb",
        "ü 한국",
        "-dash",
        "back\\slash",
    ] {
        let it = Repository::called(name);
        it.changes(
            name,
            |it| it.write("x", "y"),
            |it| fs::remove_file(it.top.join("x")).unwrap(),
        );
    }
    let it = Repository::new();
    for name in ["-x", "a\tb", "a\nb", "ü", "a b", ":(top)x", "*"] {
        it.changes(
            name,
            |it| it.write(name, "y"),
            |it| fs::remove_file(it.top.join(name)).unwrap(),
        );
    }
}

#[test]
fn a_folder_below_the_top_has_the_id_of_the_whole_and_files_without_a_repository_have_one() {
    let it = Repository::new();
    assert_eq!(
        id(&it.top.join("src"), Some(&it.state_home())).unwrap(),
        it.id()
    );
    assert_eq!(id(&it.top, None), None, "nowhere to work");
    for (what, git) in [
        ("none", None),
        ("a broken one", Some(".git")),
        ("a file that is none", Some(".git/HEAD")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let without = |path: &str, text: &str| {
            let path = folder.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        if let Some(git) = git {
            fs::create_dir_all(folder.path().join(git)).unwrap();
        }
        let of_it = || id(folder.path(), Some(&it.state_home())).unwrap();
        without("src/a.py", "one");
        without(".gitignore", "*.log\n");
        let before = of_it();
        without("x.log", "ignored");
        without("node_modules/x/index.js", "built");
        assert_eq!(of_it(), before, "{what}");
        without("src/a.py", "two");
        assert_ne!(of_it(), before, "{what}");
    }
}

#[test]
fn what_was_kept_is_not_believed_when_it_was_changed() {
    let it = Repository::new();
    let first = it.id();
    let kept = fs::read_dir(it.state_home().join("omo/files"))
        .unwrap()
        .next()
        .unwrap()
        .unwrap()
        .path();
    for text in ["", "{}", "no json"] {
        fs::write(kept.join("remembered.json"), text).unwrap();
        assert_eq!(it.id(), first);
    }
    it.settle();
    // As if every file had been read as something else.
    let entries = fs::read(kept.join("entries")).unwrap();
    fs::write(
        kept.join("entries"),
        entries.iter().map(|byte| byte ^ 1).collect::<Vec<_>>(),
    )
    .unwrap();
    it.write("new.txt", "x");
    assert_ne!(it.id(), first);
    fs::remove_file(it.top.join("new.txt")).unwrap();
    assert_eq!(it.settle(), first);
    // As if nothing were to be looked at.
    fs::write(kept.join("paths"), "").unwrap();
    let nothing = omo_state::seal::hex_digest(b"");
    let text = fs::read_to_string(kept.join("remembered.json")).unwrap();
    let mut remembered: serde_json::Value = serde_json::from_str(&text).unwrap();
    for looks in ["stamps", "folders"] {
        remembered[looks] = nothing.as_str().into();
    }
    remembered["files_bytes"] = 0.into();
    fs::write(kept.join("remembered.json"), remembered.to_string()).unwrap();
    it.write("a.txt", "changed\n");
    assert_ne!(it.id(), first);
}

#[test]
fn the_difference_shows_new_and_changed_files_since_a_time() {
    let it = Repository::new();
    let head = GitWorktree::find(&it.top).unwrap().head().unwrap();
    it.write("a.txt", "changed\n");
    it.write("new.txt", "quite new\n");
    it.id();
    let shown = changed_since(&it.top, Some(&it.state_home()), Some(&head)).unwrap();
    for part in ["-one", "+changed", "+quite new", "new.txt"] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    let all = changed_since(&it.top, Some(&it.state_home()), None).unwrap();
    assert!(all.contains("+two"), "everything is new: {all}");
    assert_eq!(head, it.git(&["rev-parse", "HEAD"]).trim());
    it.git(&["commit", "-qam", "hidden", "--date", "2001-01-01T00:00:00"]);
    let since = changed_since(&it.top, Some(&it.state_home()), Some(&head)).unwrap();
    assert!(
        since.contains("+changed") && !since.contains("+two"),
        "what was committed since is shown: {since}"
    );
    it.git(&["pack-refs", "--all"]);
    assert_eq!(
        GitWorktree::find(&it.top).unwrap().head().unwrap(),
        it.git(&["rev-parse", "HEAD"]).trim()
    );
    it.write("big.txt", &"line\n".repeat(200_000));
    let cut = changed_since(&it.top, Some(&it.state_home()), None).unwrap();
    assert!(
        cut.len() < 500_000 && cut.contains("All of big.txt is in "),
        "{} bytes",
        cut.len()
    );
}

#[test]
fn nothing_of_the_repository_hides_what_changed() {
    let it = Repository::new();
    it.write("long.txt", &"a line\n".repeat(60_000));
    it.write("test_a.txt", "checks one\nchecks two\n");
    it.write("picture.png", "\0one");
    it.write("kind.txt", "a file\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    let head = GitWorktree::find(&it.top).unwrap().head().unwrap();
    let since = |it: &Repository| changed_since(&it.top, Some(&it.state_home()), Some(&head));
    for (name, value) in [
        ("core.bigFileThreshold", "1"),
        ("diff.default.binary", "true"),
        ("diff.orderFile", "a.txt"),
    ] {
        it.git(&["config", name, value]);
    }
    it.write(".gitattributes", "*.txt -diff\n");
    it.write(".git/info/attributes", "* binary\n");
    it.write("aaa.txt", &"new\n".repeat(700_000));
    it.write("test_a.txt", "checks one\n\0");
    it.write("picture.png", "\0two");
    it.write("a name\nof two lines.txt", "x\n");
    fs::remove_file(it.top.join("kind.txt")).unwrap();
    symlink("a.txt", it.top.join("kind.txt")).unwrap();
    let shown = since(&it).unwrap();
    for part in [
        "-checks two",
        "picture.png was a binary file before",
        "-a file",
        "+a.txt",
        "A aaa.txt (new, ",
    ] {
        assert!(shown.contains(part), "{part} is not in {shown}");
    }
    assert!(
        shown.find("-checks two") < shown.find("+x"),
        "what was there before comes first"
    );
    it.write("long.txt", "");
    assert!(
        since(&it)
            .unwrap()
            .contains("All of it as it was when the run began: ")
    );
    it.write("long.txt", &"a line\n".repeat(60_000));
    since(&it).unwrap();
    let other = "1".repeat(40);
    let gone = |base: &str| changed_since(&it.top, Some(&it.state_home()), Some(base)).unwrap_err();
    assert!(gone(&other).contains("is gone") && gone("--output=x").contains("is gone"));
    fs::rename(it.top.join(".git"), it.temp.path().join("git")).unwrap();
    assert!(gone(&head).contains("the repository that the run began in is gone"));
    assert_eq!(
        changed_since(&it.top, Some(&it.state_home()), None),
        Ok(String::new())
    );
}

#[test]
fn what_changed_in_a_submodule_is_shown() {
    let it = Repository::new();
    let inner = Repository::new();
    let path = inner.top.to_str().unwrap();
    it.git(&[
        "-c",
        "protocol.file.allow=always",
        "submodule",
        "--quiet",
        "add",
        path,
        "inner",
    ]);
    it.git(&["commit", "-qm", "with a submodule"]);
    let head = GitWorktree::find(&it.top).unwrap().head().unwrap();
    let since = |it: &Repository| changed_since(&it.top, Some(&it.state_home()), Some(&head));
    it.write("inner/a.txt", "changed\n");
    let shown = since(&it).unwrap();
    assert!(
        shown.contains("In the submodule inner")
            && shown.contains("-one")
            && shown.contains("+changed"),
        "{shown}"
    );
    git_in(&it.top.join("inner"), &["commit", "-qam", "hidden"]);
    assert!(
        since(&it).unwrap().contains("-one"),
        "what was committed in it as well"
    );
    fs::remove_file(it.top.join("inner/.git")).unwrap();
    assert!(since(&it).is_ok_and(|shown| shown.contains("-one")) || since(&it).is_err());
}
