//! What a task of a plan changed, in repositories of every kind, with the real git.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use omo_git::changes::{PathChangeKind, SnapshotPair, TreeSnapshot, file_digest};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::snapshots::{Snapshots, forget_snapshots};

use crate::tree::{Repository, git_in, id, traces};

const RUN: &str = "../run/1";

impl Repository {
    fn snapshot(&self) -> TreeSnapshot {
        of(
            &ProvedWorktree::of_project(&self.top),
            &self.state_home(),
            RUN,
            &[],
        )
        .take_tree()
        .unwrap()
    }

    /// What differs, each path with a letter before it.
    fn differs(&self, from: &TreeSnapshot, to: &TreeSnapshot) -> Vec<String> {
        differs_in(&self.top, &self.state_home(), from, to)
    }

    fn snapshots(&self) -> std::path::PathBuf {
        self.state_home().join("omo/changes")
    }
}

fn of<'a>(
    worktree: &'a ProvedWorktree,
    state_home: &'a Path,
    run_id: &'a str,
    own: &'a [&'a str],
) -> Snapshots<'a> {
    Snapshots {
        worktree,
        state_home,
        run_id,
        own,
    }
}

fn differs_in(
    root: &Path,
    state_home: &Path,
    from: &TreeSnapshot,
    to: &TreeSnapshot,
) -> Vec<String> {
    let found = of(
        &ProvedWorktree::of_project(root),
        state_home,
        RUN,
        &["report.md"],
    )
    .changed_paths(from, to)
    .unwrap();
    let letter = |kind| match kind {
        PathChangeKind::Added => 'A',
        PathChangeKind::Modified => 'M',
        PathChangeKind::Deleted => 'D',
    };
    found
        .iter()
        .map(|change| format!("{} {}", letter(change.kind), change.path))
        .collect()
}

#[test]
fn changes_are_known_whatever_the_stages_of_an_open_conflict() {
    let it = Repository::new();
    let before = it.snapshot();
    let blob = it.git(&["rev-parse", "HEAD:a.txt"]);
    let stages = [1, 2, 3]
        .map(|stage| format!("100644 {} {stage}\ta.txt\n", blob.trim()))
        .concat();
    fs::write(
        it.top.join("stages"),
        format!("0 {} 0\ta.txt\n{stages}", "0".repeat(blob.trim().len())),
    )
    .unwrap();
    let stages = fs::File::open(it.top.join("stages")).unwrap();
    fs::remove_file(it.top.join("stages")).unwrap();
    let mut git = std::process::Command::new("git");
    assert!(
        git.args(["update-index", "--index-info"])
            .current_dir(&it.top)
            .stdin(stages)
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(it.differs(&before, &it.snapshot()), [""; 0]);
    it.write("src/b.txt", "other\n");
    assert_eq!(it.differs(&before, &it.snapshot()), ["M src/b.txt"]);
}

#[test]
fn every_path_that_a_task_touches_is_reported() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    it.write("run.sh", "x");
    it.write("moved.txt", "moved\n");
    let before = it.snapshot();
    assert_eq!(it.differs(&before, &it.snapshot()), [""; 0]);
    it.write("a.txt", "other\n");
    fs::remove_file(it.top.join("src/b.txt")).unwrap();
    it.write("new/deep/c.txt", "c");
    it.write("x.log", "ignored");
    it.write("report.md", "omo's own");
    it.write(".sisyphus/cc-omo/state.json", "omo's own");
    it.write(".sisyphus/other", "not omo's own");
    symlink("a.txt", it.top.join("link")).unwrap();
    fs::set_permissions(it.top.join("run.sh"), fs::Permissions::from_mode(0o755)).unwrap();
    fs::rename(it.top.join("moved.txt"), it.top.join("new name.txt")).unwrap();
    fs::write(it.top.join(OsStr::from_bytes(b"bad\xff\nname")), "x").unwrap();
    let after = it.snapshot();
    let expected = [
        "A .sisyphus/other",
        "M a.txt",
        "A bad\u{fffd}\nname",
        "A link",
        "D moved.txt",
        "A new name.txt",
        "A new/deep/c.txt",
        "M run.sh",
        "D src/b.txt",
    ];
    assert_eq!(it.differs(&before, &after), expected);
    // Committed, it is as it was.
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    assert_eq!(it.differs(&after, &it.snapshot()), [""; 0]);
}

#[test]
fn a_difference_is_found_when_the_repository_has_forgotten_everything() {
    let it = Repository::new();
    it.write("src/c.txt", "c");
    let (before, id_before) = (it.snapshot(), id(&it.top, Some(&it.state_home())));
    it.write("src/c.txt", "other");
    let after = it.snapshot();
    // The id of the work tree, which forgets its objects, is asked for in between.
    assert_ne!(id(&it.top, Some(&it.state_home())), id_before);
    let as_text = serde_json::to_string(&before).unwrap();
    fs::remove_dir_all(it.top.join(".git/objects")).unwrap();
    fs::create_dir(it.top.join(".git/objects")).unwrap();
    assert_eq!(
        it.differs(&serde_json::from_str(&as_text).unwrap(), &after),
        ["M src/c.txt"]
    );
}

#[test]
fn nothing_of_a_snapshot_is_in_the_repository() {
    let it = Repository::new();
    it.write("a.txt", "changed\n");
    it.write("new.txt", "new\n");
    let traced = traces(&it.top);
    let before = it.snapshot();
    assert_eq!(it.differs(&before, &it.snapshot()), [""; 0]);
    assert_eq!(traces(&it.top), traced);
}

#[test]
fn a_repository_without_a_commit_has_snapshots() {
    let it = Repository::unborn("project");
    let before = it.snapshot();
    it.write("a.txt", "x");
    assert_eq!(it.differs(&before, &it.snapshot()), ["A a.txt"]);
}

#[test]
fn a_setting_or_a_reference_of_the_repository_hides_nothing() {
    let it = Repository::new();
    it.git(&["config", "diff.renames", "copies"]);
    it.git(&["config", "core.quotePath", "true"]);
    let before = it.snapshot();
    it.write("ä.txt", "one\n");
    fs::remove_file(it.top.join("a.txt")).unwrap();
    let after = it.snapshot();
    let name = |tree: &TreeSnapshot| {
        serde_json::to_value(tree).unwrap()["tree"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // As a work tree's own git would show the one in the place of the other.
    fs::create_dir_all(it.top.join(".git/refs/replace")).unwrap();
    fs::write(
        it.top.join(".git/refs/replace").join(name(&after)),
        format!("{}\n", name(&before)),
    )
    .unwrap();
    assert_eq!(it.differs(&before, &after), ["D a.txt", "A ä.txt"]);
}

#[test]
fn line_ends_that_git_would_refuse_are_reported() {
    let it = Repository::new();
    it.git(&["config", "core.autocrlf", "true"]);
    it.git(&["config", "core.safecrlf", "true"]);
    let before = it.snapshot();
    it.write("new.txt", "one\n");
    assert_eq!(it.differs(&before, &it.snapshot()), ["A new.txt"]);
}

#[test]
fn a_change_in_a_submodule_is_one_of_the_submodule() {
    let inner = Repository::called("inner");
    let it = Repository::new();
    it.git(&[
        "submodule",
        "--quiet",
        "add",
        inner.top.to_str().unwrap(),
        "libs/inner",
    ]);
    it.git(&["config", "diff.ignoreSubmodules", "all"]);
    it.git(&[
        "config",
        "-f",
        ".gitmodules",
        "submodule.libs/inner.ignore",
        "all",
    ]);
    let before = it.snapshot();
    it.write("libs/inner/a.txt", "changed\n");
    let changed = it.snapshot();
    assert_eq!(it.differs(&before, &changed), ["M libs/inner"]);
    git_in(&it.top.join("libs/inner"), &["commit", "-qam", "more"]);
    let committed = it.snapshot();
    assert_eq!(it.differs(&before, &committed), ["M libs/inner"]);
    assert_eq!(it.differs(&changed, &committed), ["M libs/inner"]);
    fs::remove_dir_all(it.top.join("libs")).unwrap();
    assert_eq!(it.differs(&before, &it.snapshot()), ["D libs/inner"]);
}

#[test]
fn a_project_below_the_top_sees_its_own_paths() {
    let it = Repository::new();
    it.write("web/app/a.txt", "x");
    let (root, home) = (it.top.join("web/app"), it.state_home());
    let before = of(&ProvedWorktree::of_project(&root), &home, RUN, &[])
        .take_tree()
        .unwrap();
    it.write("web/app/a.txt", "y");
    it.write("web/lib/b.txt", "y");
    it.write("report.md", "another one's");
    it.write("web/app/report.md", "omo's own");
    let after = of(&ProvedWorktree::of_project(&root), &home, RUN, &[])
        .take_tree()
        .unwrap();
    assert_eq!(
        differs_in(&root, &home, &before, &after),
        ["A ../../report.md", "A ../lib/b.txt", "M a.txt"]
    );
    let it = Repository::new();
    it.write(".gitignore", "/web/\n");
    it.write("web/a.txt", "x");
    assert_eq!(
        of(
            &ProvedWorktree::of_project(&it.top.join("web")),
            &it.state_home(),
            RUN,
            &[]
        )
        .take_tree(),
        None,
        "what is ignored is not seen"
    );
}

#[test]
fn of_two_snapshots_the_files_that_are_asked_for_are_shown() {
    let it = Repository::new();
    it.write("web/other.txt", "x\n");
    let (root, home) = (it.top.join("web"), it.state_home());
    let snapshot = || {
        of(&ProvedWorktree::of_project(&root), &home, RUN, &[])
            .take_tree()
            .unwrap()
    };
    let before = snapshot();
    it.write("web/a b b", "one\ndiff --git a/x b/x\n");
    it.write("web/other.txt", "of another task\n");
    let after = snapshot();
    let files = ["a b b".to_owned()];
    let all = ["a b b".to_owned(), "other.txt".to_owned()];
    let pairs = [
        (&before, &after, &files[..]),
        (&after, &after, &files),
        (&after, &before, &files),
        (&before, &after, &all),
    ];
    let pairs = pairs.map(|(from, to, files)| SnapshotPair { from, to, files });
    let told = of(&ProvedWorktree::of_project(&root), &home, RUN, &[])
        .differences(&pairs)
        .unwrap();
    assert!(
        told[0].ends_with("+one\n+diff --git a/x b/x\n") && !told[0].contains("another"),
        "{}",
        told[0]
    );
    assert_eq!(told[1], "");
    assert!(
        told[2].ends_with("-one\n-diff --git a/x b/x\n"),
        "{}",
        told[2]
    );
    assert!(told[3].contains("+of another task\n"), "{}", told[3]);
}

/// The lines that were added, each as `file:line text`.
fn added_in(root: &Path, state_home: &Path, from: &TreeSnapshot, to: &TreeSnapshot) -> Vec<String> {
    let found = of(
        &ProvedWorktree::of_project(root),
        state_home,
        RUN,
        &["report.md"],
    )
    .added_lines(from, to)
    .unwrap();
    found
        .iter()
        .map(|added| format!("{}:{} {}", added.file, added.line, added.text))
        .collect()
}

#[test]
fn every_line_that_a_task_adds_is_reported() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    it.write("long.txt", "1\n2\n3\n4\n5\n6\n");
    it.write("moved.txt", &"the same\n".repeat(20));
    it.git(&["config", "diff.noprefix", "true"]);
    it.git(&["config", "diff.external", "false"]);
    it.git(&["config", "color.diff", "always"]);
    let (home, before) = (it.state_home(), it.snapshot());
    it.write("a.txt", "other\r\n");
    it.write("long.txt", "1\n2\nnew\n3\n4\nfive\n6\nend");
    it.write("new/한 글.txt", "++ b/x\n\nlast\n");
    it.write("x.log", "ignored\n");
    it.write("report.md", "omo's own\n");
    it.write(".sisyphus/cc-omo/state.json", "omo's own\n");
    it.write("binary", "a\0b\n");
    fs::rename(it.top.join("moved.txt"), it.top.join("elsewhere.txt")).unwrap();
    fs::remove_file(it.top.join("src/b.txt")).unwrap();
    let after = it.snapshot();
    let expected = [
        "a.txt:1 other",
        "long.txt:3 new",
        "long.txt:6 five",
        "long.txt:8 end",
        "new/한 글.txt:1 ++ b/x",
        "new/한 글.txt:2 ",
        "new/한 글.txt:3 last",
    ];
    assert_eq!(added_in(&it.top, &home, &before, &after), expected);
    assert_eq!(added_in(&it.top, &home, &after, &after), [""; 0]);
    let again: TreeSnapshot =
        serde_json::from_str(&serde_json::to_string(&after).unwrap()).unwrap();
    assert_eq!(
        added_in(&it.top, &home, &before, &again),
        expected,
        "as the ledger keeps it"
    );
    let below = it.top.join("new");
    let seen = added_in(&below, &home, &before, &after);
    assert!(
        seen.contains(&"../a.txt:1 other".to_owned())
            && seen.contains(&"한 글.txt:3 last".to_owned()),
        "{seen:?}"
    );
    let bad: TreeSnapshot = serde_json::from_str(r#"{"tree":"--output=hit"}"#).unwrap();
    assert!(
        of(&ProvedWorktree::of_project(&it.top), &home, RUN, &[])
            .added_lines(&bad, &after)
            .is_none()
    );
}

#[test]
fn a_large_file_does_not_hide_the_lines_behind_it() {
    let it = Repository::new();
    let (home, before) = (it.state_home(), it.snapshot());
    it.write("a/data.csv", &"1,2,3\n".repeat(200_000));
    it.write("src/b.txt", "two\nthree\n");
    it.write("src/long.js", &format!("{}\nend\n", "x".repeat(1_000_000)));
    let after = it.snapshot();
    let found = of(&ProvedWorktree::of_project(&it.top), &home, RUN, &[])
        .added_lines(&before, &after)
        .unwrap();
    assert_eq!(
        found
            .iter()
            .filter(|line| line.file == "a/data.csv")
            .last()
            .unwrap()
            .line,
        200_000
    );
    let others: Vec<_> = found
        .iter()
        .filter(|line| line.file != "a/data.csv")
        .collect();
    let seen: Vec<_> = others
        .iter()
        .map(|line| (line.file.as_str(), line.line, line.text.len()))
        .collect();
    assert_eq!(
        seen,
        [
            ("src/b.txt", 2, 5),
            ("src/long.js", 1, 2_000),
            ("src/long.js", 2, 3)
        ],
        "a line is cut"
    );
}

#[test]
fn each_run_has_its_own_snapshots_until_they_are_forgotten() {
    let it = Repository::new();
    // Content that only the snapshot knows.
    it.write("a.txt", "not committed\n");
    let (home, before) = (it.state_home(), it.snapshot());
    it.write("a.txt", "other\n");
    let after = it.snapshot();
    of(&ProvedWorktree::of_project(&it.top), &home, "other", &[])
        .take_tree()
        .unwrap();
    assert_eq!(fs::read_dir(it.snapshots()).unwrap().count(), 2);
    assert_eq!(
        of(&ProvedWorktree::of_project(&it.top), &home, "other", &[])
            .changed_paths(&before, &after),
        None,
        "another run's"
    );
    forget_snapshots(&home, RUN).unwrap();
    assert_eq!(fs::read_dir(it.snapshots()).unwrap().count(), 1);
    assert_eq!(
        of(&ProvedWorktree::of_project(&it.top), &home, RUN, &[]).changed_paths(&before, &after),
        None,
        "forgotten"
    );
    forget_snapshots(&home, RUN).unwrap();
    forget_snapshots(&home, "never").unwrap();
    assert!(
        !home.join("run").exists() && !home.join("omo/run").exists(),
        "the name of a run is no path"
    );
}

#[test]
fn where_git_can_say_nothing_there_is_no_snapshot() {
    let temp = tempfile::tempdir().unwrap();
    assert_eq!(
        of(
            &ProvedWorktree::of_project(temp.path()),
            &temp.path().join("state"),
            RUN,
            &[]
        )
        .take_tree(),
        None
    );
    let it = Repository::new();
    fs::write(it.top.join(".git/index"), "no index").unwrap();
    assert_eq!(
        of(
            &ProvedWorktree::of_project(&it.top),
            &it.state_home(),
            RUN,
            &[]
        )
        .take_tree(),
        None
    );
    let bad: TreeSnapshot = serde_json::from_str(r#"{"tree":"--output=hit"}"#).unwrap();
    assert_eq!(
        of(
            &ProvedWorktree::of_project(&it.top),
            &it.state_home(),
            RUN,
            &[]
        )
        .changed_paths(&bad, &bad),
        None
    );
}

#[test]
fn the_digest_of_a_file_is_that_of_a_regular_file_of_the_project() {
    let it = Repository::new();
    let outside = it.temp.path().join("outside.txt");
    fs::write(&outside, "one\n").unwrap();
    let digest = |path: &str| file_digest(&it.top, path);
    let one = digest("a.txt").unwrap();
    symlink(&outside, it.top.join("out")).unwrap();
    symlink("a.txt", it.top.join("in")).unwrap();
    symlink(it.temp.path(), it.top.join("up")).unwrap();
    assert_eq!(digest("in"), Some(one.clone()));
    for path in [
        "out",
        "up/outside.txt",
        "../outside.txt",
        outside.to_str().unwrap(),
        "src",
        "missing",
        "",
    ] {
        assert_eq!(digest(path), None, "{path}");
    }
    it.write("a.txt", "two\n");
    assert_ne!(digest("a.txt"), Some(one));
    let large = "x".repeat(3_000_000);
    it.write("large", &large);
    assert_eq!(
        digest("large"),
        Some(omo_state::seal::hex_digest(large.as_bytes()))
    );
}
