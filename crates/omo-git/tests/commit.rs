//! Commits of one step's files, with the real git and its hooks under a real keeper.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::PathBuf;
use std::process::{Command, ExitCode};
use std::time::Duration;

use omo_git::commit::{CommitEnd, CommitRequest, commit_paths};
use omo_process::environment::CheckEnvironment;
use omo_testkit::main_tests::{self, ignored};
use tempfile::TempDir;

/// Longer than anything here takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(60);

fn main() -> ExitCode {
    omo_process::keeper::run_if_asked();
    let tests: Vec<(&str, fn())> = if cfg!(unix) {
        vec![
            ("exactly_the_files_of_the_task_are_committed", exactly_the_files_of_the_task_are_committed),
            ("every_kind_of_change_is_committed", every_kind_of_change_is_committed),
            ("a_refusal_of_a_hook_is_recognized", a_refusal_of_a_hook_is_recognized),
            (
                "what_a_hook_commits_besides_is_not_marked_as_deleted",
                what_a_hook_commits_besides_is_not_marked_as_deleted,
            ),
            ("no_change_is_not_the_same_as_nothing_to_commit", no_change_is_not_the_same_as_nothing_to_commit),
            ("what_cannot_be_committed_leaves_the_index_alone", what_cannot_be_committed_leaves_the_index_alone),
            ("a_hook_that_never_ends_is_ended", a_hook_that_never_ends_is_ended),
            ("it_is_made_on_no_branch_and_as_the_first_one", it_is_made_on_no_branch_and_as_the_first_one),
            ("a_message_is_never_run", a_message_is_never_run),
        ]
    } else {
        Vec::new()
    };
    let reftable =
        ignored("needs git 2.45: cargo xtask test", "references_may_be_no_files", references_may_be_no_files);
    main_tests::run_with(tests, if cfg!(unix) { vec![reftable] } else { Vec::new() })
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
        self.write(&format!(".git/hooks/{name}"), &format!("#!/bin/sh\n{text}\n"));
        assert!(
            Command::new("chmod").arg("+x").arg(self.top.join(".git/hooks").join(name)).status().unwrap().success()
        );
    }

    fn git(&self, arguments: &[&str]) -> String {
        let mut command = Command::new("git");
        command.args(arguments).current_dir(&self.top).env_clear().envs(variables());
        let output = command.output().unwrap();
        assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"]).trim().to_owned()
    }

    fn commit(&self, paths: &[&str]) -> CommitEnd {
        self.commit_within(paths, "feat: it\n\n# no comment", LIMIT)
    }

    fn commit_within(&self, paths: &[&str], message: &str, limit: Duration) -> CommitEnd {
        let state_home = self.temp.path().join("state");
        let trailers = [("Omo-Run", "r1"), ("Omo-Task", "2.1")];
        let worktree = omo_git::proved_worktree::ProvedWorktree::of_project(&self.top);
        let order =
            CommitRequest { worktree: &worktree, state_home: &state_home, paths, message, trailers: &trailers, limit };
        let variables = variables().map(|(name, value)| (name.into(), value.into()));
        commit_paths(&order, &CheckEnvironment::from_variables(variables.into(), &self.top), || true)
    }
}

fn variables() -> [(&'static str, &'static str); 3] {
    [("PATH", "/usr/local/bin:/usr/bin:/bin"), ("HOME", "/nonexistent"), ("GIT_CONFIG_NOSYSTEM", "1")]
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
    assert_eq!(end, CommitEnd::Made { sha: it.head() });
    assert_eq!(it.git(&["show", "--format=", "--name-only", "-z"]), "a.txt\0x[12].txt\0");
    assert_eq!(it.git(&["status", "--porcelain"]), "MM src/b.txt\nA  staged.txt\n?? loose.txt\n?? x1.txt\n");
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
    let end = it.commit(&[&["a.txt", "a.txt/now a folder", "./src/b.txt", "gone again"], odd.as_slice()].concat());
    assert_eq!(end, CommitEnd::Made { sha: it.head() });
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
        it.hook(hook, "git status >/dev/null; echo 'not like this' >&2; exit 3");
        it.write("staged.txt", "by its user");
        it.git(&["add", "."]);
        it.write("a.txt", "2");
        it.write("new.txt", "2");
        let end = it.commit(&["a.txt", "new.txt"]);
        assert_eq!(end, CommitEnd::RefusedByHook { hook: hook.to_owned(), output: "not like this".to_owned() });
        assert_eq!(it.head(), head);
        assert_eq!(it.git(&["status", "--porcelain"]), " M a.txt\nA  staged.txt\n?? new.txt\n");
    }
    let it = Repository::new();
    it.hook("pre-commit", "exit 1");
    let staged = it.git(&["ls-files", "-s"]);
    fs::remove_file(it.top.join("a.txt")).unwrap();
    it.write("a.txt/now a folder", "x");
    assert!(matches!(it.commit(&["a.txt", "a.txt/now a folder"]), CommitEnd::RefusedByHook { .. }));
    assert_eq!(it.git(&["ls-files", "-s"]), staged);
    // One that changes what is committed is its user's, and one that runs afterwards refuses nothing.
    let it = Repository::new();
    it.hook("pre-commit", "echo formatted >a.txt; git add a.txt");
    it.hook("post-commit", "exit 1");
    it.write("a.txt", "2");
    assert_eq!(it.commit(&["a.txt"]), CommitEnd::Made { sha: it.head() });
    assert_eq!(it.git(&["show", "HEAD:a.txt"]), "formatted\n");
}

fn what_a_hook_commits_besides_is_not_marked_as_deleted() {
    let it = Repository::new();
    it.write("gone.txt", "here");
    it.write("mine.txt", "one");
    it.git(&["add", "."]);
    it.git(&["commit", "-qm", "more"]);
    let also = "echo formatted >>a.txt; echo formatted >>new.txt; echo list >LIST; echo of the hook >mine.txt";
    it.hook("pre-commit", &format!("{also}; git rm -qf gone.txt; git add -A"));
    it.write("mine.txt", "staged by its user");
    it.git(&["add", "mine.txt"]);
    it.write("a.txt", "2\n");
    it.write("new.txt", "2\n");
    assert_eq!(it.commit(&["a.txt", "new.txt"]), CommitEnd::Made { sha: it.head() });
    assert_eq!(it.git(&["show", "HEAD:new.txt"]), "2\nformatted\n");
    assert_eq!(it.git(&["status", "--porcelain"]), "MM mine.txt\n", "but what its user staged");
    assert_eq!(it.git(&["show", ":mine.txt"]), "staged by its user");
}

fn no_change_is_not_the_same_as_nothing_to_commit() {
    let it = Repository::new();
    assert_eq!(it.commit(&[]), CommitEnd::NoChange);
    it.write("a.txt", "2");
    it.git(&["commit", "-qam", "by the step itself"]);
    assert_eq!(it.commit(&["a.txt"]), CommitEnd::AlreadyCommitted { sha: it.head() });
    // What the step removed, and has committed, is nowhere any more.
    it.git(&["rm", "-q", "a.txt"]);
    it.git(&["commit", "-qm", "gone"]);
    assert_eq!(it.commit(&["a.txt"]), CommitEnd::AlreadyCommitted { sha: it.head() });
    it.write("src/b.txt", "3");
    assert!(matches!(it.commit(&["a.txt", "src/b.txt"]), CommitEnd::Made { .. }));
}

fn what_cannot_be_committed_leaves_the_index_alone() {
    let it = Repository::new();
    it.write(".gitignore", "*.log\n");
    it.write("x.log", "x");
    it.write("a.txt", "2");
    let index = fs::read(it.top.join(".git/index")).unwrap();
    for paths in
        [["a.txt", "x.log"], ["a.txt", "../x"], ["a.txt", "."], ["a.txt", ".git/config"], ["a.txt", "\u{fffd}"]]
    {
        let end = it.commit(&paths);
        assert!(matches!(end, CommitEnd::Failed { .. }), "{paths:?}: {end:?}");
        assert_eq!(fs::read(it.top.join(".git/index")).unwrap(), index, "{paths:?}");
    }
    it.git(&["config", "user.useConfigOnly", "true"]);
    it.git(&["config", "--unset", "user.email"]);
    let end = it.commit(&["a.txt", ".gitignore"]);
    let is_reported = |output: &str| output.contains("user.email");
    assert!(matches!(&end, CommitEnd::Failed { output, .. } if is_reported(output)), "{end:?}");
    assert_eq!(it.git(&["status", "--porcelain"]), " M a.txt\n?? .gitignore\n");
}

fn a_hook_that_never_ends_is_ended() {
    let it = Repository::new();
    it.hook("pre-commit", "echo waiting; sleep 1000");
    it.write("a.txt", "2");
    let end = it.commit_within(&["a.txt"], "x", Duration::from_secs(1));
    let is_reported = |why: &str| why.starts_with("git commit and its hooks took longer than 1 s");
    assert!(matches!(&end, CommitEnd::Failed { why, output } if is_reported(why) && output == "waiting"), "{end:?}");
}

fn it_is_made_on_no_branch_and_as_the_first_one() {
    let it = Repository::new();
    let main = it.head();
    it.git(&["checkout", "-q", "--detach"]);
    it.write("a.txt", "2");
    assert_eq!(it.commit(&["a.txt"]), CommitEnd::Made { sha: it.head() });
    assert_eq!(it.git(&["rev-parse", "main"]).trim(), main);
    let unborn = Repository::unborn();
    unborn.write("a", "1");
    unborn.write("b", "1");
    assert_eq!(unborn.commit(&["a"]), CommitEnd::Made { sha: unborn.head() });
    assert_eq!(unborn.git(&["status", "--porcelain"]), "?? b\n");
}

fn a_message_is_never_run() {
    let it = Repository::new();
    it.write("a.txt", "2");
    let message = "x\"; touch ran; $(touch ran) `touch ran` %PATH% --amend";
    assert_eq!(it.commit_within(&["a.txt"], message, LIMIT), CommitEnd::Made { sha: it.head() });
    assert_eq!(it.git(&["log", "-1", "--format=%s"]).trim(), message);
    assert!(!it.top.join("ran").exists());
    assert_eq!(it.git(&["rev-list", "--count", "HEAD"]).trim(), "2");
}

fn references_may_be_no_files() {
    let it = Repository::made_with(&["--ref-format=reftable"]);
    for (text, paths) in [("one\n", ["a.txt"]), ("two\n", ["a.txt"])] {
        it.write("a.txt", text);
        let end = it.commit(&paths);
        assert_eq!(end, CommitEnd::Made { sha: it.head() });
    }
    assert_eq!(it.commit(&["a.txt"]), CommitEnd::AlreadyCommitted { sha: it.head() });
}
