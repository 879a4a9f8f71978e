//! Commits of one step's files, with the real git and its hooks under a real keeper.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use omo_git::commit::{CommitEnd, CommitRefusal, CommitRequest, commit_paths};
use omo_git::commit_preview::{ignored_paths, uncommitted_paths};
use omo_git::git_settings::GitSettings;
use omo_git::integrate::{LandError, LandOutcome, land};
use omo_git::proved_worktree::ProvedWorktree;
use omo_git::repository::GitRepository;
use omo_git::user_git::UserGit;
use omo_process::environment::CheckEnvironment;
use omo_testkit::main_tests::{self, ignored};
use tempfile::TempDir;

/// Longer than anything here takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: Vec<(&str, fn())> = if cfg!(unix) {
        vec![
            (
                "exactly_the_files_of_the_task_are_committed",
                exactly_the_files_of_the_task_are_committed,
            ),
            (
                "every_kind_of_change_is_committed",
                every_kind_of_change_is_committed,
            ),
            (
                "a_refusal_of_a_hook_is_recognized",
                a_refusal_of_a_hook_is_recognized,
            ),
            (
                "what_a_hook_commits_besides_is_not_marked_as_deleted",
                what_a_hook_commits_besides_is_not_marked_as_deleted,
            ),
            (
                "what_hooks_change_in_a_commit_is_told",
                what_hooks_change_in_a_commit_is_told,
            ),
            (
                "no_change_is_not_the_same_as_nothing_to_commit",
                no_change_is_not_the_same_as_nothing_to_commit,
            ),
            (
                "what_cannot_be_committed_leaves_the_index_alone",
                what_cannot_be_committed_leaves_the_index_alone,
            ),
            (
                "a_hook_that_never_ends_is_ended",
                a_hook_that_never_ends_is_ended,
            ),
            (
                "a_cancelled_commit_leaves_no_lock_and_the_index_alone",
                a_cancelled_commit_leaves_no_lock_and_the_index_alone,
            ),
            (
                "a_move_that_is_ended_behind_the_branch_is_made",
                a_move_that_is_ended_behind_the_branch_is_made,
            ),
            (
                "a_hook_that_is_ended_puts_back_what_it_has_put_aside",
                a_hook_that_is_ended_puts_back_what_it_has_put_aside,
            ),
            (
                "it_is_made_on_no_branch_and_as_the_first_one",
                it_is_made_on_no_branch_and_as_the_first_one,
            ),
            ("a_message_is_never_run", a_message_is_never_run),
            (
                "a_hook_whose_program_is_missing_is_told_apart",
                a_hook_whose_program_is_missing_is_told_apart,
            ),
            (
                "a_key_that_cannot_sign_is_named",
                a_key_that_cannot_sign_is_named,
            ),
            (
                "a_file_outside_of_the_sparse_set_is_committed",
                a_file_outside_of_the_sparse_set_is_committed,
            ),
            (
                "line_ends_are_refused_where_a_commit_of_the_user_is",
                line_ends_are_refused_where_a_commit_of_the_user_is,
            ),
            (
                "a_rename_of_case_is_committed_whatever_a_setting_says",
                a_rename_of_case_is_committed_whatever_a_setting_says,
            ),
            (
                "a_hidden_file_is_refused_by_its_reason",
                a_hidden_file_is_refused_by_its_reason,
            ),
            (
                "new_files_are_seen_whatever_a_setting_hides",
                new_files_are_seen_whatever_a_setting_hides,
            ),
        ]
    } else {
        Vec::new()
    };
    let reftable = ignored(
        "needs git 2.45: cargo xtask test",
        "references_may_be_no_files",
        references_may_be_no_files,
    );
    main_tests::run_with(
        tests,
        if cfg!(unix) {
            vec![reftable]
        } else {
            Vec::new()
        },
    )
}

/// A repository with two files in one commit.
struct Repository {
    temp: TempDir,
    top: PathBuf,
}

impl Repository {
    fn unborn() -> Self {
        Self::made_with(&[])
    }

    fn made_with(options: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().join("pro ject");
        fs::create_dir(&top).unwrap();
        let it = Self { temp, top };
        it.git(&[&["init", "-q", "-b", "main"], options].concat());
        it.git(&["config", "user.name", "A Person"]);
        it.git(&["config", "user.email", "person@localhost"]);
        it
    }

    fn new() -> Self {
        let it = Self::unborn();
        it.write("a.txt", "one\n");
        it.write("src/b.txt", "two\n");
        it.git(&["add", "."]);
        it.git(&["commit", "-qm", "start"]);
        it
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.top.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn hook(&self, name: &str, text: &str) {
        self.write(
            &format!(".git/hooks/{name}"),
            &format!("#!/bin/sh\n{text}\n"),
        );
        assert!(
            Command::new("chmod")
                .arg("+x")
                .arg(self.top.join(".git/hooks").join(name))
                .status()
                .unwrap()
                .success()
        );
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command
            .args(arguments)
            .current_dir(&self.top)
            .env_clear()
            .envs(variables());
        let output = command.output().unwrap();
        assert!(
            output.status.success(),
            "git {arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        String::from_utf8(output.stdout).unwrap()
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    /// A commit was made, in which hooks changed these files.
    fn made(&self, by_hooks: &[&str]) -> CommitEnd {
        CommitEnd::Made {
            sha: self.head(),
            by_hooks: by_hooks.iter().map(|path| (*path).to_owned()).collect(),
        }
    }

    fn commit(&self, paths: &[&str]) -> CommitEnd {
        self.commit_within(paths, "feat: it\n\n# no comment", LIMIT)
    }

    fn commit_within(&self, paths: &[&str], message: &str, limit: Duration) -> CommitEnd {
        self.commit_while(paths, message, limit, || true)
    }

    fn commit_while(
        &self,
        paths: &[&str],
        message: &str,
        limit: Duration,
        goes_on: impl FnMut() -> bool,
    ) -> CommitEnd {
        let state_home = self.temp.path().join("state");
        let trailers = [("Omo-Run", "r1"), ("Omo-Task", "2.1")];
        let worktree = ProvedWorktree::of_project(&self.top);
        let order = CommitRequest {
            worktree: &worktree,
            state_home: &state_home,
            paths,
            message,
            trailers: &trailers,
            settings: &GitSettings::default(),
            limit,
        };
        let variables = variables().map(|(name, value)| (name.into(), value.into()));
        commit_paths(
            &order,
            &CheckEnvironment::from_variables(variables.into(), &self.top),
            goes_on,
        )
    }
}

fn variables() -> [(&'static str, &'static str); 4] {
    let search = ("PATH", "/usr/local/bin:/usr/bin:/bin");
    [
        search,
        ("HOME", "/nonexistent"),
        ("GIT_CONFIG_NOSYSTEM", "1"),
        ("HUSKY", "0"),
    ]
}

fn exactly_the_files_of_the_task_are_committed() {
    let it = Repository::new();
    it.write("staged.txt", "by its user");
    it.write("src/b.txt", "by its user\n");
    it.git(&["add", "."]);
    it.write("src/b.txt", "and changed since\n");
    it.write("loose.txt", "by its user");
    it.write("a.txt", "by the step\n");
    it.write("x[12].txt", "by the step\n");
    it.write("x1.txt", "by its user");
    let end = it.commit(&["a.txt", "x[12].txt"]);
    assert_eq!(end, it.made(&[]));
    assert_eq!(
        it.git(&["show", "--format=", "--name-only", "-z"]),
        "a.txt\0x[12].txt\0"
    );
    assert_eq!(
        it.git(&["status", "--porcelain"]),
        "MM src/b.txt\nA  staged.txt\n?? loose.txt\n?? x1.txt\n"
    );
    assert_eq!(
        it.git(&["log", "-1", "--format=%an <%ae>%n%B"]).trim(),
        "A Person <person@localhost>\nfeat: it\n\n# no comment\n\nOmo-Run: r1\nOmo-Task: 2.1"
    );
}

fn every_kind_of_change_is_committed() {
    let it = Repository::new();
    fs::remove_file(it.top.join("a.txt")).unwrap();
    it.write("a.txt/now a folder", "x");
    it.git(&["rm", "-q", "src/b.txt"]);
    let odd = ["-option", ":!all", "ü\nline"];
    for path in odd {
        it.write(path, "x");
    }
    let end = it.commit(
        &[
            &["a.txt", "a.txt/now a folder", "./src/b.txt", "gone again"],
            odd.as_slice(),
        ]
        .concat(),
    );
    assert_eq!(end, it.made(&[]));
    assert_eq!(it.git(&["status", "--porcelain"]), "");
    assert_eq!(
        it.git(&["ls-tree", "-r", "-z", "--name-only", "HEAD"]),
        "-option\0:!all\0a.txt/now a folder\0ü\nline\0"
    );
}

fn a_refusal_of_a_hook_is_recognized() {
    for hook in ["pre-commit", "commit-msg", "prepare-commit-msg"] {
        let it = Repository::new();
        let head = it.head();
        // A variable that turns hooks off, which the run did not begin with.
        it.hook(hook, "[ \"$HUSKY\" != 0 ] || exit 0; git status >/dev/null; echo 'not like this' >&2; exit 3");
        it.write("staged.txt", "by its user");
        it.git(&["add", "."]);
        it.write("a.txt", "2");
        it.write("new.txt", "2");
        let end = it.commit(&["a.txt", "new.txt"]);
        let refusal = CommitRefusal::Hook {
            hook: hook.to_owned(),
            output: "not like this".to_owned(),
            is_missing_program: false,
        };
        assert_eq!(end, CommitEnd::Refused(refusal));
        assert_eq!(it.head(), head);
        assert_eq!(
            it.git(&["status", "--porcelain"]),
            " M a.txt\nA  staged.txt\n?? new.txt\n"
        );
    }
    let it = Repository::new();
    it.hook("pre-commit", "exit 1");
    let staged = it.git(&["ls-files", "-s"]);
    fs::remove_file(it.top.join("a.txt")).unwrap();
    it.write("a.txt/now a folder", "x");
    assert!(matches!(
        it.commit(&["a.txt", "a.txt/now a folder"]),
        CommitEnd::Refused(CommitRefusal::Hook { .. })
    ));
    assert_eq!(it.git(&["ls-files", "-s"]), staged);
    // One that changes what is committed is its user's, and one that runs afterwards refuses nothing.
    let it = Repository::new();
    it.hook("pre-commit", "echo formatted >a.txt; git add a.txt");
    it.hook("post-commit", "exit 1");
    it.write("a.txt", "2");
    assert_eq!(it.commit(&["a.txt"]), it.made(&["a.txt"]));
    assert_eq!(it.git(&["show", "HEAD:a.txt"]), "formatted\n");
}

fn what_a_hook_commits_besides_is_not_marked_as_deleted() {
    let it = Repository::new();
    it.write("gone.txt", "here");
    it.write("mine.txt", "one");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    let also = "echo formatted >>a.txt; echo formatted >>new.txt; echo list >LIST; echo of the hook >mine.txt";
    it.hook(
        "pre-commit",
        &format!("{also}; git rm -qf gone.txt; git add -A"),
    );
    it.write("mine.txt", "staged by its user");
    it.git(&["add", "mine.txt"]);
    it.write("a.txt", "2\n");
    it.write("new.txt", "2\n");
    let changed = ["LIST", "a.txt", "gone.txt", "mine.txt", "new.txt"];
    assert_eq!(it.commit(&["a.txt", "new.txt"]), it.made(&changed));
    assert_eq!(it.git(&["show", "HEAD:new.txt"]), "2\nformatted\n");
    assert_eq!(
        it.git(&["status", "--porcelain"]),
        "MM mine.txt\n",
        "but what its user staged"
    );
    assert_eq!(it.git(&["show", ":mine.txt"]), "staged by its user");
}

fn what_hooks_change_in_a_commit_is_told() {
    let staged =
        "git update-index --cacheinfo 100644,$(echo other | git hash-object -w --stdin),a.txt";
    let before = "git update-index --cacheinfo 100644,$(git rev-parse HEAD:a.txt),a.txt";
    let once = |lines: &str| format!("[ ! -e .git/once ] || exit 0; : > .git/once; {lines}");
    for (hook, lines, changed) in [
        ("pre-commit", "git status >/dev/null".to_owned(), &[][..]),
        (
            "commit-msg",
            "echo 'Seen-By: a hook' >> \"$1\"".to_owned(),
            &[],
        ),
        ("pre-commit", staged.to_owned(), &["a.txt"]),
        ("pre-commit", before.to_owned(), &["a.txt"]),
        (
            "pre-commit",
            "git rm -q --cached new.txt".to_owned(),
            &["new.txt"],
        ),
        (
            "pre-commit",
            "chmod +x a.txt; git add a.txt; echo 1 > stamp; git add stamp".to_owned(),
            &["a.txt", "stamp"],
        ),
        (
            "post-commit",
            once("echo other > a.txt; git commit -qam x --amend"),
            &["a.txt", "staged.txt"],
        ),
        (
            "post-commit",
            once("echo 1 > stamp; git add stamp; git commit -qm stamp"),
            &["staged.txt", "stamp"],
        ),
    ] {
        let it = Repository::new();
        it.write("staged.txt", "by its user");
        it.git(&["add", "staged.txt"]);
        it.hook(hook, &lines);
        it.write("a.txt", "2\n");
        it.write("new.txt", "2\n");
        it.git(&["config", "core.logAllRefUpdates", "true"]);
        let end = it.commit(&["a.txt", "new.txt"]);
        assert_eq!(end, it.made(changed), "{lines}");
    }
    // The forms in which git keeps files are no changes of a hook.
    let it = Repository::new();
    it.hook("pre-commit", "exit 0");
    it.git(&["config", "filter.upper.clean", "tr a-z A-Z"]);
    it.git(&["config", "core.autocrlf", "true"]);
    it.write(
        ".gitattributes",
        "upper.txt filter=upper\nid.txt ident\nutf.txt working-tree-encoding=UTF-16LE\n",
    );
    it.write("upper.txt", "letters\n");
    it.write("id.txt", "$Id: 12 $\n");
    it.write("utf.txt", "a\0b\0");
    it.write("a.txt", "one\r\ntwo\r\n");
    assert_eq!(
        it.commit(&[".gitattributes", "a.txt", "id.txt", "upper.txt", "utf.txt"]),
        it.made(&[])
    );
    assert_eq!(it.git(&["show", "HEAD:upper.txt"]), "LETTERS\n");
}

fn no_change_is_not_the_same_as_nothing_to_commit() {
    let it = Repository::new();
    assert_eq!(it.commit(&[]), CommitEnd::NoChange);
    it.write("a.txt", "2");
    it.git(&["commit", "-qam", "by the step itself"]);
    assert_eq!(
        it.commit(&["a.txt"]),
        CommitEnd::AlreadyCommitted { sha: it.head() }
    );
    // What the step removed, and has committed, is nowhere any more.
    it.git(&["rm", "-q", "a.txt"]);
    it.git(&["commit", "-qm", "gone"]);
    assert_eq!(
        it.commit(&["a.txt"]),
        CommitEnd::AlreadyCommitted { sha: it.head() }
    );
    it.write("src/b.txt", "3");
    assert!(matches!(
        it.commit(&["a.txt", "src/b.txt"]),
        CommitEnd::Made { .. }
    ));
}

fn what_cannot_be_committed_leaves_the_index_alone() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    it.write("x.log", "x");
    it.write("a.txt", "2");
    let index = fs::read(it.top.join(".git/index")).unwrap();
    for paths in [
        ["a.txt", "x.log"],
        ["a.txt", "../x"],
        ["a.txt", "."],
        ["a.txt", ".git/config"],
        ["a.txt", "\u{fffd}"],
    ] {
        let end = it.commit(&paths);
        assert!(matches!(end, CommitEnd::Refused(_)), "{paths:?}: {end:?}");
        assert_eq!(
            fs::read(it.top.join(".git/index")).unwrap(),
            index,
            "{paths:?}"
        );
    }
    it.git(&["config", "user.useConfigOnly", "true"]);
    it.git(&["config", "--unset", "user.email"]);
    let end = it.commit(&["a.txt", ".gitignore"]);
    let is_reported = |output: &str| output.contains("user.email");
    assert!(
        matches!(&end, CommitEnd::Refused(CommitRefusal::Other { words }) if is_reported(words)),
        "{end:?}"
    );
    assert_eq!(
        it.git(&["status", "--porcelain"]),
        " M a.txt\n?? .gitignore\n"
    );
}

fn a_hook_that_never_ends_is_ended() {
    let it = Repository::new();
    it.hook("pre-commit", "echo waiting; sleep 1000");
    it.write("a.txt", "2");
    let end = it.commit_within(&["a.txt"], "x", Duration::from_secs(1));
    let CommitRefusal::Other { words } = refusal(end) else {
        unreachable!("a hook that never ends has no reason")
    };
    assert!(
        words.starts_with("git commit and its hooks took longer than 1 s")
            && words.ends_with(": waiting"),
        "{words}"
    );
}

fn a_cancelled_commit_leaves_no_lock_and_the_index_alone() {
    for (hook, lines, is_made) in [
        ("pre-commit", "", false),
        ("commit-msg", "trap '' TERM INT HUP", false),
        (
            "reference-transaction",
            "[ \"$1\" = prepared ] || exit 0",
            false,
        ),
        (
            "reference-transaction",
            "[ \"$1\" = committed ] || exit 0",
            true,
        ),
        ("post-commit", "", true),
    ] {
        let it = Repository::new();
        it.write("src/b.txt", "staged\n");
        it.git(&["add", "src/b.txt"]);
        it.write("a.txt", "2\n");
        it.write("new.txt", "1\n");
        let (head, before) = (it.head(), it.git(&["status", "--porcelain"]));
        let asked = it.temp.path().join("asked");
        it.hook(
            hook,
            &format!(
                "{lines}\n: > '{}'\nwhile :; do sleep 1000; done",
                asked.display()
            ),
        );
        let end = it.commit_while(&["a.txt", "new.txt"], "x", LIMIT, || !asked.exists());
        fs::remove_file(it.top.join(".git/hooks").join(hook)).unwrap();
        assert_eq!(
            matches!(end, CommitEnd::Made { .. }),
            is_made,
            "{hook} {lines}: {end:?}"
        );
        assert_eq!(it.head() != head, is_made, "{hook} {lines}");
        let after = if is_made { "M  src/b.txt\n" } else { &before };
        assert_eq!(it.git(&["status", "--porcelain"]), after, "{hook} {lines}");
        let mut folders = vec![it.top.join(".git")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder)
                .unwrap()
                .map(|entry| entry.unwrap().path())
            {
                assert!(
                    entry.extension().is_none_or(|end| end != "lock"),
                    "{hook} {lines}: {}",
                    entry.display()
                );
                folders.extend(entry.is_dir().then_some(entry));
            }
        }
    }
}

fn a_move_that_is_ended_behind_the_branch_is_made() {
    for (phase, lines, is_cancelled) in [
        ("prepared", "while :; do sleep 1000; done", true),
        ("committed", "while :; do sleep 1000; done", true),
        ("committed", "while :; do sleep 1000; done", false),
        ("committed", "kill -9 $PPID", false),
    ] {
        let it = Repository::new();
        let old = it.head();
        it.write("a.txt", "2\n");
        it.git(&["commit", "-qam", "next"]);
        let new = it.head();
        it.git(&["reset", "-q", "--hard", &old]);
        it.write("src/b.txt", "mine\n");
        let asked = it.temp.path().join("asked");
        it.hook(
            "reference-transaction",
            &format!(
                "[ \"$1\" = {phase} ] || exit 0; : > '{}'; {lines}",
                asked.display()
            ),
        );
        let variables = variables().map(|(name, value)| (name.into(), value.into()));
        let user = UserGit {
            environment: &CheckEnvironment::from_variables(variables.into(), &it.top),
            settings: &GitSettings::default(),
            limit: if is_cancelled {
                LIMIT
            } else {
                Duration::from_secs(1)
            },
        };
        let landed = land(
            &GitRepository::find(&it.top).unwrap(),
            &old,
            &new,
            &user,
            || !(is_cancelled && asked.exists()),
        );
        let is_moved = phase == "committed";
        assert_eq!(
            matches!(landed, Ok(LandOutcome::Moved)),
            is_moved,
            "{phase} {lines}: {landed:?}"
        );
        assert!(
            is_moved || matches!(landed, Err(LandError::Cancelled)),
            "{landed:?}"
        );
        fs::remove_file(it.top.join(".git/hooks/reference-transaction")).unwrap();
        assert_eq!(
            it.head(),
            if is_moved { new } else { old },
            "{phase} {lines}"
        );
        assert_eq!(
            it.git(&["status", "--porcelain"]),
            " M src/b.txt\n",
            "{phase} {lines}"
        );
        assert!(
            !it.top.join(".git/index.lock").exists() && !it.top.join(".git/omo-landing").exists()
        );
    }
}

/// git ends before its hook does. The last hook ends at an interrupt alone, as a Python program with a `finally` does.
fn a_hook_that_is_ended_puts_back_what_it_has_put_aside() {
    for signals in ["INT TERM", "TERM", "INT"] {
        let it = Repository::new();
        it.write("a.txt", "2\n");
        it.write("src/b.txt", "of its user\n");
        let (aside, asked) = (it.temp.path().join("aside"), it.temp.path().join("asked"));
        let ignored = if signals == "TERM" {
            "trap '' INT"
        } else {
            ":"
        };
        let back = "while kill -0 $git 2> /dev/null; do :; done; mv \"$aside\" src/b.txt; exit 1";
        it.hook(
            "pre-commit",
            &format!(
                "{ignored}\ngit=$PPID aside='{}'\nmv src/b.txt \"$aside\"\ntrap '{back}' {signals}\n: > '{}'\nsleep 1000 & wait",
                aside.display(),
                asked.display()
            ),
        );
        let end = it.commit_while(&["a.txt"], "x", LIMIT, || !asked.exists());
        assert!(matches!(end, CommitEnd::Refused(_)), "{signals}: {end:?}");
        assert_eq!(
            fs::read_to_string(it.top.join("src/b.txt")).unwrap(),
            "of its user\n",
            "{signals}"
        );
    }
}

fn it_is_made_on_no_branch_and_as_the_first_one() {
    let it = Repository::new();
    let main = it.head();
    it.git(&["checkout", "-q", "--detach"]);
    it.write("a.txt", "2");
    assert_eq!(it.commit(&["a.txt"]), it.made(&[]));
    assert_eq!(it.git(&["rev-parse", "main"]).trim(), main);
    let unborn = Repository::unborn();
    unborn.write("a", "1");
    unborn.write("b", "1");
    assert_eq!(unborn.commit(&["a"]), unborn.made(&[]));
    assert_eq!(unborn.git(&["status", "--porcelain"]), "?? b\n");
}

fn a_message_is_never_run() {
    let it = Repository::new();
    it.write("a.txt", "2");
    let message = "x\"; touch ran; $(touch ran) `touch ran` %PATH% --amend";
    assert_eq!(it.commit_within(&["a.txt"], message, LIMIT), it.made(&[]));
    assert_eq!(it.git(&["log", "-1", "--format=%s"]).trim(), message);
    assert!(!it.top.join("ran").exists());
    assert_eq!(it.git(&["rev-list", "--count", "HEAD"]).trim(), "2");
}

fn references_may_be_no_files() {
    let it = Repository::made_with(&["--ref-format=reftable"]);
    for (text, paths) in [("one\n", ["a.txt"]), ("two\n", ["a.txt"])] {
        it.write("a.txt", text);
        let end = it.commit(&paths);
        assert_eq!(end, it.made(&[]));
    }
    assert_eq!(
        it.commit(&["a.txt"]),
        CommitEnd::AlreadyCommitted { sha: it.head() }
    );
}

fn refusal(end: CommitEnd) -> CommitRefusal {
    let CommitEnd::Refused(refusal) = end else {
        unreachable!("{end:?}")
    };
    refusal
}

fn a_hook_whose_program_is_missing_is_told_apart() {
    for text in [
        "no-such-linter --staged",
        "no-such-linter || exit 1",
        "exec /no/such/linter",
    ] {
        let it = Repository::new();
        it.hook("pre-commit", text);
        it.write("a.txt", "2");
        let found = refusal(it.commit(&["a.txt"]));
        assert!(
            matches!(
                found,
                CommitRefusal::Hook {
                    is_missing_program: true,
                    ..
                }
            ),
            "{text}: {found:?}"
        );
        assert!(found.to_string().contains("linter: not found"), "{found}");
    }
}

fn a_key_that_cannot_sign_is_named() {
    let it = Repository::new();
    it.write(
        "signer",
        "#!/bin/sh\necho 'the key is locked' >&2\nexit 255\n",
    );
    assert!(
        Command::new("chmod")
            .arg("+x")
            .arg(it.top.join("signer"))
            .status()
            .unwrap()
            .success()
    );
    for (format, setting) in [("openpgp", "gpg.program"), ("ssh", "gpg.ssh.program")] {
        it.git(&["config", "gpg.format", format]);
        it.git(&["config", setting, it.top.join("signer").to_str().unwrap()]);
        it.git(&["config", "user.signingKey", "/no/key"]);
        it.git(&["config", "commit.gpgSign", "true"]);
        it.write("a.txt", format);
        let found = refusal(it.commit(&["a.txt"]));
        let is_named = |words: &str| words.contains("the key is locked");
        assert!(
            matches!(&found, CommitRefusal::Signing { words } if is_named(words)),
            "{format}: {found:?}"
        );
    }
}

fn a_file_outside_of_the_sparse_set_is_committed() {
    let it = Repository::new();
    it.write("lib/known.txt", "1\n");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    it.git(&["sparse-checkout", "set", "--cone", "src"]);
    it.write("lib/new.txt", "2\n");
    it.write("lib/known.txt", "2\n");
    let paths = ["lib/new.txt", "lib/known.txt"];
    assert_eq!(it.commit(&paths), it.made(&[]));
    for path in paths {
        assert_eq!(it.git(&["show", &format!("HEAD:{path}")]), "2\n");
    }
    assert_eq!(it.git(&["status", "--porcelain"]), "");
}

fn line_ends_are_refused_where_a_commit_of_the_user_is() {
    let it = Repository::new();
    it.git(&["config", "core.autocrlf", "input"]);
    it.git(&["config", "core.safecrlf", "true"]);
    it.write("lines.txt", "one\ntwo\n");
    assert_eq!(it.commit(&["lines.txt"]), it.made(&[]));
    it.write("lines.txt", "one\r\ntwo\r\n");
    let found = refusal(it.commit(&["lines.txt"]));
    let is_named = |words: &str| words.contains("lines.txt");
    assert!(
        matches!(&found, CommitRefusal::LineEnds { words } if is_named(words)),
        "{found:?}"
    );
    assert_eq!(it.git(&["diff", "--cached", "--name-only"]), "");
}

fn a_rename_of_case_is_committed_whatever_a_setting_says() {
    let it = Repository::new();
    if it.top.join("A.TXT").exists() {
        return;
    }
    it.git(&["config", "core.ignoreCase", "true"]);
    fs::rename(it.top.join("a.txt"), it.top.join("A.txt")).unwrap();
    assert_eq!(it.commit(&["a.txt", "A.txt"]), it.made(&[]));
    assert_eq!(it.git(&["ls-tree", "--name-only", "HEAD"]), "A.txt\nsrc\n");
    assert_eq!(it.git(&["status", "--porcelain"]), "");
}

fn a_hidden_file_is_refused_by_its_reason() {
    let it = Repository::new();
    it.write("src/.gitignore", "# no logs\n*.log\n");
    it.write("src/x.log", "x");
    let ignored = CommitRefusal::Ignored {
        path: "src/x.log".to_owned(),
        source: "src/.gitignore".to_owned(),
        pattern: "*.log".to_owned(),
    };
    assert_eq!(refusal(it.commit(&["src/x.log"])), ignored);
    it.write("inner/deep/x.txt", "x");
    it.git(&["init", "-q", "inner"]);
    let nested = CommitRefusal::NestedRepository {
        path: "inner".to_owned(),
    };
    assert_eq!(refusal(it.commit(&["inner/deep/x.txt"])), nested);
    assert_eq!(it.git(&["diff", "--cached", "--name-only"]), "");
    // Braces are letters of a name.
    it.write("src/{id}.txt", "x");
    assert_eq!(it.commit(&["src/{id}.txt"]), it.made(&[]));
}

fn new_files_are_seen_whatever_a_setting_hides() {
    let it = Repository::new();
    it.git(&["config", "status.showUntrackedFiles", "no"]);
    it.write(".gitignore", "*.log\n");
    it.write("x.log", "x");
    it.write("new/b.txt", "x");
    assert_eq!(
        uncommitted_paths(&ProvedWorktree::of_project(&it.top)).unwrap(),
        [".gitignore", "new/b.txt"]
    );
    assert_eq!(
        ignored_paths(&ProvedWorktree::of_project(&it.top)).unwrap(),
        ["x.log"]
    );
    assert_eq!(it.commit(&["new/b.txt"]), it.made(&[]));
}
