//! A repository that the client installs from: its files, and the server that it is cloned from.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use omo_testkit::GitServer;
use tempfile::TempDir;

/// A bare repository that is served, with a folder for its files beside it.
pub(crate) struct ServedRepository {
    server: GitServer,
    folder: TempDir,
}

impl ServedRepository {
    /// One without a commit.
    pub(crate) fn new(branch: &str) -> Self {
        let folder = tempfile::Builder::new()
            .prefix("omo-marketplace-")
            .tempdir()
            .expect("a temporary folder");
        let repository = Self {
            server: GitServer::start(folder.path()).expect("serve"),
            folder,
        };
        fs::create_dir(repository.work()).expect("a folder for its files");
        repository.git(&["init", "-q", "-b", branch]);
        repository
    }

    /// Where it is served.
    pub(crate) fn url(&self) -> String {
        self.server.url("omo.git")
    }

    /// The folder of its files.
    pub(crate) fn work(&self) -> PathBuf {
        self.folder.path().join("work")
    }

    /// Commits all files as they are.
    pub(crate) fn commit(&self, message: &str) {
        self.git(&["add", "--all"]);
        self.git(&[
            "-c",
            "user.name=lab",
            "-c",
            "user.email=lab@localhost",
            "commit",
            "-q",
            "-m",
            message,
        ]);
    }

    fn git(&self, arguments: &[&str]) {
        let mut git = Command::new("git");
        git.arg("--git-dir")
            .arg(self.folder.path().join("omo.git"))
            .arg("--work-tree")
            .arg(self.work());
        let output = git.args(arguments).output().expect("start git");
        assert!(
            output.status.success(),
            "{git:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
