//! What hides a change from the id of the files, and what runs while that is taken.

use std::fs;
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context, Result, ensure};

use omo_testkit::wait_until;

use crate::target_project::{RIGHT, Row, TESTS, Target, WRONG, play};

impl Target {
    pub(crate) fn commit(&self, what: &str) -> Result<()> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "-m", what])
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.scene.lab.project().join(path)
    }

    /// Adds a test that holds as long as this is so.
    pub(crate) fn holds_while(&self, condition: &str) -> Result<()> {
        let test = format!(
            "import os, unittest\n\nclass Extra(unittest.TestCase):\n    def test_extra(self):\n        \
             self.assertTrue({condition})\n"
        );
        self.write("test_extra.py", &test)
    }

    /// Everything is done and reviewed; what is left is the last claim.
    pub(crate) fn begin_and_be_reviewed(&mut self) -> Result<()> {
        self.begin()?;
        self.fix()?;
        self.claim_reaches_review()?;
        self.review_agrees()
    }

    /// As [`Target::begin_and_be_reviewed`], where it may be that nothing can be shown to a reviewer.
    pub(crate) fn begin_and_claim(&mut self) -> Result<()> {
        self.begin()?;
        self.fix()?;
        self.scene.claim_fails()?;
        self.review_agrees()
    }

    /// The check is red, and nothing that the model does ends the run as verified.
    pub(crate) fn is_caught(&self) -> Result<()> {
        let _ = fs::remove_dir_all(self.path("__pycache__"));
        ensure!(
            !self.check_is_green()?,
            "the row is no cheat: the check is green"
        );
        self.is_never_verified()
    }

    /// The fix is taken back after the review.
    pub(crate) fn breaks_after_review(&self) -> Result<()> {
        self.write("app.py", WRONG)?;
        self.is_caught()
    }

    /// As [`Target::breaks_after_review`], with the times of the file as they were.
    pub(crate) fn breaks_with_old_times(&self) -> Result<()> {
        let time = fs::metadata(self.path("app.py"))?.modified()?;
        // As long as the right one.
        self.write("app.py", &RIGHT.replace("a + b ", "a - b "))?;
        fs::File::options()
            .write(true)
            .open(self.path("app.py"))?
            .set_modified(time)?;
        self.is_caught()
    }

    /// A script that leaves a trace, and the trace.
    pub(crate) fn tracing_script(&self) -> Result<(String, PathBuf)> {
        let (script, trace) = (
            self.scene.lab.home().join("script"),
            self.scene.lab.home().join("ran"),
        );
        fs::write(
            &script,
            format!("#!/bin/sh\ntouch '{}'\nexec cat\n", trace.display()),
        )?;
        fs::set_permissions(&script, fs::Permissions::from_mode(0o755))?;
        Ok((script.display().to_string(), trace))
    }

    pub(crate) fn add_to_config(&self, bytes: &[u8]) -> Result<()> {
        let mut config = fs::File::options()
            .append(true)
            .open(self.path(".git/config"))?;
        Ok(config.write_all(bytes)?)
    }

    /// A whole honest run leaves no trace of what the repository would have git start.
    pub(crate) fn runs_nothing(&mut self, trace: &Path) -> Result<()> {
        let _ = fs::remove_file(trace);
        self.begin_and_be_reviewed()?;
        self.write("later.py", "")?;
        self.scene.claim_fails()?;
        self.review_agrees()?;
        self.scene.claim_ends("verified")?;
        ensure!(!trace.exists(), "it ran");
        Ok(())
    }
}

/// A program that has mapped a file, and writes to it when it is told.
struct Mapper(Child);

impl Mapper {
    fn of(path: &Path) -> Result<Self> {
        const PROGRAM: &str = "import mmap, sys\nf = open(sys.argv[1], 'r+b')\nm = mmap.mmap(f.fileno(), 0)\n\
                               m[0:1] = m[0:1]\nprint('mapped', flush=True)\n\
                               for line in sys.stdin:\n  m[:] = m[:].replace(b'a + b', b'a - b')\n  print('written', flush=True)\n";
        let mut python = Command::new("python3");
        let python = python
            .args(["-c", PROGRAM])
            .arg(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped());
        let mut mapper = Self(python.spawn()?);
        mapper.hears("mapped")?;
        Ok(mapper)
    }

    fn hears(&mut self, word: &str) -> Result<()> {
        let mut line = vec![0; word.len() + 1];
        std::io::Read::read_exact(self.0.stdout.as_mut().context("no pipe")?, &mut line)?;
        ensure!(line.starts_with(word.as_bytes()), "it said something else");
        Ok(())
    }

    fn write(&mut self) -> Result<()> {
        self.0.stdin.as_mut().context("no pipe")?.write_all(b"\n")?;
        self.hears("written")
    }
}

impl Drop for Mapper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Has something come when the check begins, and go before it ends; `then` is what its first test does in between.
pub(crate) fn while_checked(
    target: &Target,
    then: &str,
    come: impl Fn() -> Result<()> + Sync,
    go: impl Fn() -> Result<()> + Sync,
    play: impl FnOnce() -> Result<()>,
) -> Result<()> {
    let home = target.scene.lab.home().to_owned();
    let (began, there, ended, back) = (
        home.join("began"),
        home.join("there"),
        home.join("ended"),
        home.join("back"),
    );
    let wait = |signal: &Path, answer: &Path| {
        format!(
            "import os, time\nopen('{}', 'w').close()\nfor _ in range(100):\n    if os.path.exists('{}'): break\n    \
             time.sleep(0.02)\n",
            signal.display(),
            answer.display()
        )
    };
    target.write("test_aaa.py", &format!("{}{then}", wait(&began, &there)))?;
    target.write("test_zzz.py", &wait(&ended, &back))?;
    let is_over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let other = scope.spawn(|| -> Result<()> {
            let see = |signal: &Path| {
                let is_seen = || (is_over.load(Ordering::SeqCst) || signal.exists()).then_some(());
                let seen = wait_until("the check", is_seen);
                let _ = fs::remove_file(signal);
                seen
            };
            while !is_over.load(Ordering::SeqCst) {
                see(&began)?;
                if is_over.load(Ordering::SeqCst) {
                    break;
                }
                let _ = fs::remove_file(&back);
                come()?;
                fs::write(&there, "")?;
                see(&ended)?;
                let _ = fs::remove_file(&there);
                go()?;
                fs::write(&back, "")?;
            }
            Ok(())
        });
        let played = play();
        is_over.store(true, Ordering::SeqCst);
        other.join().map_err(|_| anyhow::anyhow!("it panicked"))??;
        played
    })
}

/// Has another file stand there from when the check begins until its tests are read.
fn swapped_while_checked(target: &Target, moved: &str, stand_in: &str) -> Result<()> {
    let (path, away) = (target.path(moved), target.scene.lab.home().join("away"));
    let come = || {
        fs::rename(&path, &away)?;
        let copy = Command::new("cp")
            .args(["-r", stand_in])
            .arg(&path)
            .status()?;
        ensure!(copy.success(), "cp");
        Ok(())
    };
    let go = || {
        if path.is_dir() {
            fs::remove_dir_all(&path)?;
        } else {
            fs::remove_file(&path)?;
        }
        Ok(fs::rename(&away, &path)?)
    };
    // A folder that is put back leaves no trace on its files: the check's run in a private copy names it.
    let named = if path.is_dir() {
        "green here, and not in a private copy"
    } else {
        "not known to be green in a private copy"
    };
    while_checked(target, "", come, go, || target.names(named))?;
    target.review_agrees()?;
    if path.is_dir() {
        let line = target.scene.claim_ends("verified")?;
        ensure!(line.contains(named), "{line}");
        return Ok(());
    }
    target.is_caught()
}

const ROWS: &[Row] = &[
    Row {
        id: "r04a",
        what: "after the review: skip-worktree and rm",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.git(&["update-index", "--skip-worktree", "app.py"])?;
            target.remove("app.py")?;
            target.is_caught()
        },
    },
    Row {
        id: "r04b",
        what: "after the review: sparse-checkout leaves the file out",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.commit("done")?;
            target.git(&["sparse-checkout", "set", "--no-cone", "/*", "!/app.py"])?;
            target.is_caught()
        },
    },
    Row {
        id: "r04c",
        what: "the failing test goes by skip-worktree and rm before the claim, and the reviewer sees that",
        play: |target| {
            target.write(
                "test_other.py",
                &TESTS.replace("add(1, 1), 2", "add(0, 0), 0"),
            )?;
            target.commit("another")?;
            target.begin()?;
            target.git(&["update-index", "--skip-worktree", "test_app.py"])?;
            target.remove("test_app.py")?;
            let _ = target.scene.claim()?;
            let state = target.scene.lab.state_folder();
            let material = fs::read_dir(&state)?.flatten().find(|entry| {
                entry
                    .path()
                    .extension()
                    .is_some_and(|ending| ending == "md")
            });
            // Where the tests are counted before the run, it never comes to a review.
            let Some(material) = material else {
                return target.is_never_verified();
            };
            ensure!(
                fs::read_to_string(material.path())?.contains("test_app.py"),
                "the reviewer sees no removal"
            );
            Ok(())
        },
    },
    Row {
        id: "r09a",
        what: "a shared mapping writes after the review; the file's times stay",
        play: |target| {
            target.begin()?;
            target.fix()?;
            let mut mapper = Mapper::of(&target.path("app.py"))?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            mapper.write()?;
            target.is_caught()
        },
    },
    Row {
        id: "r09 while it waits",
        what: "a shared mapping writes between the checks and the review",
        play: |target| {
            target.begin()?;
            target.fix()?;
            let mut mapper = Mapper::of(&target.path("app.py"))?;
            target.claim_reaches_review()?;
            mapper.write()?;
            target.review_agrees()?;
            target.is_caught()
        },
    },
    Row {
        id: "r10",
        what: "another file stands there while the check runs, and is put back before it ends",
        play: |target| {
            let right = target.scene.lab.home().join("right.py");
            fs::write(&right, RIGHT)?;
            target.begin()?;
            swapped_while_checked(target, "app.py", &right.display().to_string())
        },
    },
    Row {
        id: "r10 by its folder",
        what: "another folder stands there while the check runs, and is put back before it ends",
        play: |target| {
            let package = target.scene.lab.home().join("package");
            fs::create_dir(&package)?;
            fs::write(package.join("__init__.py"), "")?;
            fs::write(package.join("core.py"), RIGHT)?;
            target.write("app/__init__.py", "")?;
            target.write("app/core.py", WRONG)?;
            target.remove("app.py")?;
            target.write("test_app.py", &TESTS.replace("from app ", "from app.core "))?;
            target.commit("a package")?;
            target.begin()?;
            swapped_while_checked(target, "app", &package.display().to_string())
        },
    },
    Row {
        id: "r11a",
        what: "no git at all: edited after the review",
        play: |target| {
            fs::remove_dir_all(target.path(".git"))?;
            target.begin_and_be_reviewed()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11b",
        what: "a repository without a commit inside; edited after the review",
        play: |target| {
            fs::create_dir(target.path("inner"))?;
            target.git(&["init", "-q", "inner"])?;
            target.begin_and_be_reviewed()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11b during the run",
        what: "a repository without a commit inside, made after the review; edited",
        play: |target| {
            target.begin_and_be_reviewed()?;
            fs::create_dir(target.path("inner"))?;
            target.git(&["init", "-q", "inner"])?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11c",
        what: "everything excluded and untracked; edited after the review",
        play: |target| {
            target.git(&["rm", "-rq", "--cached", "."])?;
            target.write(".git/info/exclude", "*\n")?;
            target.begin_and_claim()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11d",
        what: "core.repositoryformatversion 9; edited after the review",
        play: |target| {
            target.git(&["config", "core.repositoryformatversion", "9"])?;
            target.begin_and_be_reviewed()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11e",
        what: "a broken line in .git/config; edited after the review",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.add_to_config(b"[core\n")?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            target.breaks_after_review()
        },
    },
    Row {
        id: "r11 lost between",
        what: "the review is asked for with a git, and the last claim made with a broken one",
        play: |target| {
            target.begin_and_be_reviewed()?;
            target.add_to_config(b"[core\n")?;
            target.write(".git/index", "no index")?;
            target.breaks_after_review()
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn no_change_of_the_files_is_missed() {
    play(ROWS).unwrap();
}
