//! Worktrees of groups, what is kept of them, and how their branches come together, with the real git.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

mod conditions;
mod create;
mod held;
mod kill;
mod land;
mod ownership;
mod preview;
mod proved;
mod remove;
mod unusual;

use std::collections::BTreeMap;
use std::fs;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use omo_git::git_settings::GitSettings;
use omo_git::integrate::{CommitDraft, LandError, LandOutcome, make_commit};
use omo_git::repository::GitRepository;
use omo_git::user_git::UserGit;
use omo_git::worktree::{CreatedWorktree, WorkerName, create_worktree};
use omo_process::environment::CheckEnvironment;
use tempfile::TempDir;

/// Moves the branch of a repository without a hook.
fn land_in(repository: &GitRepository, old: &str, new: &str) -> Result<LandOutcome, LandError> {
    let environment = CheckEnvironment::from_variables(Vec::new(), repository.top());
    omo_git::integrate::land(
        repository,
        old,
        new,
        &UserGit {
            environment: &environment,
            settings: &GitSettings::default(),
            limit: Duration::from_secs(60),
        },
        || true,
    )
}

/// Makes a merge in a repository without a hook.
fn merge_in(
    repository: &GitRepository,
    tip: &str,
    merged: &str,
    tree: &str,
    message: &str,
) -> String {
    make_commit(
        repository,
        &CommitDraft {
            tip,
            merged: Some(merged),
            tree,
            message,
        },
        message,
        || true,
    )
    .unwrap()
}

/// A repository with one commit, and a folder beside it.
struct Project {
    temp: TempDir,
    top: PathBuf,
}

impl Project {
    fn new() -> Self {
        Self::called("project", &[])
    }

    /// One whose folder has this name, made with these options.
    fn called(name: &str, options: &[&str]) -> Self {
        let temp = tempfile::tempdir().unwrap();
        let top = temp.path().canonicalize().unwrap().join(name);
        fs::create_dir(&top).unwrap();
        let project = Self { temp, top };
        project.git(&[&["init", "-q", "-b", "main"], options].concat());
        project.git(&["config", "user.name", "test"]);
        project.git(&["config", "user.email", "test@localhost"]);
        project.write("a.txt", "one\n");
        project.write(".gitignore", "*.log\ntarget/\n.env\n");
        project.git(&["add", "."]);
        project.git(&["commit", "-qm", "start"]);
        project
    }

    fn git(&self, arguments: &[&str]) -> String {
        git_in(&self.top, arguments)
    }

    fn write(&self, path: &str, text: &str) {
        write(&self.top.join(path), text);
    }

    fn read(&self, path: &str) -> String {
        fs::read_to_string(self.top.join(path)).unwrap_or_default()
    }

    fn repository(&self) -> GitRepository {
        GitRepository::find(&self.top).unwrap()
    }

    fn head(&self) -> String {
        self.git(&["rev-parse", "HEAD"])
    }

    /// Where files that git ignores are copied to.
    fn files(&self) -> PathBuf {
        self.temp.path().join("files")
    }

    fn create(&self) -> CreatedWorktree {
        create_worktree(&self.repository(), &name(), &self.head()).unwrap()
    }

    /// Every file of the checkout, the index, and where the branch is: what its user would notice.
    fn state(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut found = BTreeMap::new();
        collect(&self.top, &mut found);
        for name in [
            "index",
            "HEAD",
            "config",
            "refs/heads/main",
            "logs/HEAD",
            "index.lock",
            "omo-landing",
        ] {
            if let Ok(bytes) = fs::read(self.top.join(".git").join(name)) {
                found.insert(PathBuf::from(".git").join(name), bytes);
            }
        }
        found
    }

    /// After this whatever no reference names is gone for good.
    fn forget_unnamed(&self) {
        self.git(&[
            "reflog",
            "expire",
            "--expire=now",
            "--expire-unreachable=now",
            "--all",
        ]);
        self.git(&["gc", "--quiet", "--prune=now"]);
    }

    /// What a file was in what is kept of the group.
    fn kept(&self, path: &str) -> String {
        self.git(&["show", &format!("{}:{path}", name().keep_reference())])
    }
}

fn name() -> WorkerName {
    WorkerName::new("run1", "g1").unwrap()
}

fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let (status, said, error) = try_git_in(folder, arguments);
    assert!(status, "git {arguments:?}: {error}");
    said
}

/// Whether it succeeded, and what it said; the last line's end is left out.
fn try_git_in(folder: &Path, arguments: &[&str]) -> (bool, String, String) {
    let mut command = Command::new("git");
    // What git leaves running after a commit to tidy up works in the worktree for a moment.
    command
        .args([
            "-c",
            "protocol.file.allow=always",
            "-c",
            "maintenance.auto=false",
        ])
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
    let said = String::from_utf8(output.stdout)
        .unwrap()
        .trim_end_matches('\n')
        .to_owned();
    (
        output.status.success(),
        said,
        String::from_utf8_lossy(&output.stderr).into_owned(),
    )
}

fn collect(folder: &Path, found: &mut BTreeMap<PathBuf, Vec<u8>>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.ends_with(".git") {
            continue;
        }
        if path.is_symlink() {
            found.insert(
                path.clone(),
                fs::read_link(&path)
                    .unwrap()
                    .into_os_string()
                    .into_encoded_bytes(),
            );
        } else if path.is_dir() {
            collect(&path, found);
        } else {
            found.insert(path.clone(), fs::read(&path).unwrap());
        }
    }
}

/// A project on `main`, and `next`, a branch with one commit more, which changes, adds and deletes.
struct Landing {
    project: Project,
    old: String,
    new: String,
}

impl Deref for Landing {
    type Target = Project;

    fn deref(&self) -> &Project {
        &self.project
    }
}

impl Landing {
    fn new() -> Self {
        let project = Project::new();
        for path in ["changed.txt", "deleted.txt", "other.txt", "folder/kept.txt"] {
            project.write(path, "one\n");
        }
        project.git(&["add", "."]);
        project.git(&["commit", "-qm", "before"]);
        let old = project.head();
        project.git(&["checkout", "-q", "-b", "next"]);
        project.write("changed.txt", "two\n");
        project.write("new/added.txt", "new\n");
        fs::remove_file(project.top.join("deleted.txt")).unwrap();
        project.git(&["add", "--all", "."]);
        project.git(&["commit", "-qm", "next"]);
        let new = project.head();
        project.git(&["checkout", "-q", "main"]);
        Self { project, old, new }
    }

    /// A commit on another branch that changes a file.
    fn branch(&self, name: &str, path: &str, text: &str) -> String {
        self.git(&["checkout", "-q", "-b", name, &self.old]);
        self.write(path, text);
        self.git(&["add", "--all", "."]);
        self.git(&["commit", "-qm", name]);
        let commit = self.head();
        self.git(&["checkout", "-q", "main"]);
        commit
    }
}
