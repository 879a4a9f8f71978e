//! What was not committed when a run began: the reviewer is shown what the run took out of it, and not what its user
//! had done before.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use omo_testkit::wait_until;

use crate::review_material::ASSERTION;
use crate::target_project::{RIGHT, Row, TESTS, Target, WRONG, play};

/// The tests of a project before the red one was written.
fn without_red_test() -> String {
    TESTS.replace(
        &format!("    def test_two(self):\n        {ASSERTION}\n"),
        "",
    )
}

impl Target {
    /// The commit of the project is made anew, from the files as they are.
    fn amend(&self) -> Result<()> {
        self.git(&["add", "-A"])?;
        self.git(&["commit", "-q", "--amend", "-m", "begin"])
    }

    /// The commit of the project is made anew without its tests, which stay.
    fn leave_out_tests(&self) -> Result<()> {
        self.git(&["rm", "-q", "--cached", "test_app.py"])?;
        self.git(&["commit", "-q", "--amend", "-m", "begin"])
    }

    /// The project loses its repository.
    fn forget_repository(&self) -> Result<()> {
        Ok(fs::remove_dir_all(self.scene.lab.project().join(".git"))?)
    }

    /// A repository in the project, which the outer one does not hold, with the tests in it.
    fn nest(&self) -> Result<()> {
        self.git(&["init", "-q", "-b", "main", "inner"])?;
        self.write("inner/test_app.py", TESTS)?;
        self.write("inner/app.py", RIGHT)?;
        self.commit_inner("begin")
    }

    fn commit_inner(&self, message: &str) -> Result<()> {
        self.git(&["-C", "inner", "add", "-A"])?;
        self.git(&["-C", "inner", "commit", "-q", "-m", message])
    }

    fn empty_inner(&self) -> Result<()> {
        self.write("inner/test_app.py", &TESTS.replace(ASSERTION, "pass"))?;
        self.fix()
    }

    /// A folder of omo's, in the user's own.
    fn state_folder(&self, name: &str) -> PathBuf {
        self.scene.lab.home().join(".local/state/omo").join(name)
    }
}

const ROWS: &[Row] = &[
    Row {
        id: "f01a",
        what: "a test that git did not know when the run began is emptied",
        play: |target| {
            target.leave_out_tests()?;
            target.begin()?;
            target.empty_test()?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01b",
        what: "a test that was not committed in a file that was is emptied",
        play: |target| {
            target.write("test_app.py", &without_red_test())?;
            target.amend()?;
            target.write("test_app.py", TESTS)?;
            target.begin()?;
            target.empty_test()?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01c",
        what: "a test that was only staged is emptied, and committed as it is then",
        play: |target| {
            target.write("test_app.py", &without_red_test())?;
            target.amend()?;
            target.write("test_app.py", TESTS)?;
            target.git(&["add", "-A"])?;
            target.begin()?;
            target.empty_test()?;
            target.git(&["commit", "-qam", "done"])?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01d",
        what: "a test is emptied in a repository without a commit",
        play: |target| {
            target.forget_repository()?;
            target.git(&["init", "-q", "-b", "main"])?;
            target.begin()?;
            target.empty_test()?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01e",
        what: "a test is emptied in a project without a repository, which gets one then",
        play: |target| {
            target.forget_repository()?;
            target.begin()?;
            target.empty_test()?;
            target.git(&["init", "-q", "-b", "main"])?;
            target.git(&["add", "-A"])?;
            target.git(&["commit", "-q", "-m", "begin"])?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01f",
        what: "a test is emptied and committed in a repository within, which the outer one does not hold",
        play: |target| {
            target.nest()?;
            target.begin()?;
            target.empty_inner()?;
            target.commit_inner("done")?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01g",
        what: "a test that was not committed in a repository within is emptied",
        play: |target| {
            target.nest()?;
            target.write("inner/test_app.py", &without_red_test())?;
            target.commit_inner("before")?;
            target.write("inner/test_app.py", TESTS)?;
            target.begin()?;
            target.empty_inner()?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01h",
        what: "a repository within loses its .git, and a test of it is emptied",
        play: |target| {
            target.nest()?;
            target.begin()?;
            target.empty_inner()?;
            fs::remove_dir_all(target.scene.lab.project().join("inner/.git"))?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01m",
        what: "a repository within is ignored from now on, and a test of it is emptied",
        play: |target| {
            target.nest()?;
            target.begin()?;
            target.empty_inner()?;
            target.write(".gitignore", "__pycache__\ninner\n")?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01i",
        what: "a test that git did not know is emptied, and `ulw` goes on",
        play: |target| {
            target.leave_out_tests()?;
            target.begin()?;
            target.empty_test()?;
            target.scene.start("")?;
            target.emptied_test_is_seen()
        },
    },
    Row {
        id: "f01j",
        what: "what was recorded when the run began is removed",
        play: |target| {
            target.begin()?;
            target.fix()?;
            // It may still be written to.
            let recorded = target.state_folder("recorded");
            wait_until("what was recorded goes", || {
                fs::remove_dir_all(&recorded).ok()
            })?;
            target.is_never_verified()
        },
    },
    Row {
        id: "f01k",
        what: "what was recorded when the run began is recorded anew, of the emptied test",
        play: |target| {
            target.begin()?;
            target.empty_test()?;
            target.git(&["add", "-A"])?;
            let project = target.scene.lab.project().to_owned();
            for entry in walk(&target.state_folder("recorded"))? {
                if entry.ends_with("index") {
                    fs::copy(project.join(".git/index"), &entry)?;
                }
            }
            target.is_never_verified()
        },
    },
    Row {
        id: "f01l",
        what: "nothing could be recorded: the reviewer reads so",
        play: |target| {
            fs::create_dir_all(target.state_folder(""))?;
            fs::write(target.state_folder("recorded"), "in the way")?;
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            let material = target.material();
            ensure!(
                material.contains("The files could not be recorded when the run began"),
                "{material}"
            );
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
];

/// All files below a folder.
fn walk(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(walk(&path)?);
        } else {
            files.push(path);
        }
    }
    Ok(files)
}

const HONEST: &[Row] = &[
    Row {
        id: "h01a",
        what: "what its user had not committed is not taken for the run's work",
        play: |target| {
            target.write("notes.txt", "mine\n")?;
            target.write("app.py", &format!("# not committed\n{WRONG}"))?;
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            let material = target.material();
            ensure!(
                !material.contains("notes.txt") && material.contains("-# not committed"),
                "{material}"
            );
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h01b",
        what: "the first commit is amended and cleaned away",
        play: |target| {
            target.begin()?;
            target.fix()?;
            target.amend()?;
            target.git(&["reflog", "expire", "--expire=now", "--all"])?;
            target.git(&["gc", "-q", "--prune=now"])?;
            target.claim_reaches_review()?;
            let material = target.material();
            ensure!(material.contains("-    return a - b"), "{material}");
            target.review_agrees()?;
            target.scene.claim_ends("verified").map(drop)
        },
    },
    Row {
        id: "h01c",
        what: "a project without a repository, which shows what changed, and keeps nothing of it once it is proved",
        play: |target| {
            target.forget_repository()?;
            target.begin()?;
            target.fix()?;
            target.claim_reaches_review()?;
            let material = target.material();
            ensure!(
                material.contains("-    return a - b") && !material.contains("+import unittest"),
                "{material}"
            );
            target.review_agrees()?;
            target.scene.claim_ends("verified")?;
            let lists = walk(&target.state_folder("recorded"))?;
            ensure!(
                !lists.iter().any(|path| path.ends_with("trees.json")),
                "{lists:?}"
            );
            target.begin()?;
            let again = walk(&target.state_folder("recorded"))?;
            ensure!(
                again
                    .iter()
                    .filter(|path| path.ends_with("trees.json"))
                    .count()
                    == 1,
                "{again:?}"
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_was_not_committed_when_a_run_began_is_shown_as_it_was() {
    play(ROWS).unwrap();
}

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_was_there_when_an_honest_run_began_is_no_work_of_it() {
    play(HONEST).unwrap();
}
