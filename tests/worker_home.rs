//! The other end of a launcher: a home folder with the client, and a bare repository that both ends can reach.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use tempfile::TempDir;

use crate::parallel_repository::Ground;

/// The other end. It goes away with this.
pub struct WorkerHome {
    folder: TempDir,
}

impl WorkerHome {
    /// One that does each step of these as its plan says, and the ground's remote repository.
    pub fn new(ground: &Ground, steps: &[(u32, &str)]) -> Result<Self> {
        let files = Self {
            folder: tempfile::Builder::new().prefix("omo-host-").tempdir()?,
        };
        fs::set_permissions(files.folder(), fs::Permissions::from_mode(0o700))?;
        let (home, hub) = (
            files.home(),
            files.folder().join("hub.git").display().to_string(),
        );
        fs::create_dir_all(home.join("steps"))?;
        fs::write(home.join("hub"), &hub)?;
        fs::write(
            home.join(".gitconfig"),
            "[user]\n\tname = Host\n\temail = host@example.org\n",
        )?;
        for (step, file) in steps {
            files.script(*step, &format!("echo {step} > {file}\n"))?;
        }
        ground.git(&["init", "-q", "--bare", &hub])?;
        ground.git(&["remote", "add", "origin", &hub])?;
        ground.git(&["push", "-q", "origin", "main"])?;
        Ok(files)
    }

    /// Has what `omo worker` needs in the home folder: `omo`, and `client`, which stands for the client.
    pub fn add_programs(&self, ground: &Ground) -> Result<()> {
        let client = self.home().join("client");
        fs::write(
            &client,
            concat!(
                include_str!("host_prompt.sh"),
                include_str!("host_client.sh")
            ),
        )?;
        fs::set_permissions(&client, fs::Permissions::from_mode(0o755))?;
        Ok(symlink(ground.program(), self.home().join("omo"))?)
    }

    /// The folder around all.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// The home folder there.
    pub fn home(&self) -> PathBuf {
        self.folder().join("home")
    }

    /// The folder that workers work in.
    pub fn scratch(&self) -> PathBuf {
        self.home().join("scratch")
    }

    /// How a step is worked on there: lines of bash.
    pub fn script(&self, step: u32, text: &str) -> Result<()> {
        Ok(fs::write(
            self.home().join("steps").join(format!("{step}.sh")),
            text,
        )?)
    }

    /// The remote repository has what it had before the run, and nothing of omo's.
    pub fn require_clean_remote(&self, ground: &Ground) -> Result<()> {
        ensure!(
            self.folder().join("hub.git").is_dir(),
            "the remote repository is gone"
        );
        let there = ground.git(&["ls-remote", "--refs", "origin"])?;
        let names: Vec<&str> = there
            .lines()
            .filter_map(|line| line.split('\t').nth(1))
            .collect();
        ensure!(names == ["refs/heads/main"], "on the remote: {names:?}");
        let known = ground.git(&["for-each-ref", "--format=%(refname)", "refs/remotes"])?;
        ensure!(!known.contains("omo"), "{known}");
        Ok(())
    }
}
