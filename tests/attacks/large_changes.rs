//! Changes that are too large for what a reviewer reads: both versions of the file lie beside it, whole.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use crate::review_material::ASSERTION;
use crate::target_project::{Row, TESTS, Target, play};

/// A file that some tool writes.
const LOCK: &str = "lock.txt";

fn lock(version: u32) -> String {
    let lines: Vec<String> = (0..60_000)
        .map(|number| format!("package {number} in version {version}\n"))
        .collect();
    lines.concat()
}

impl Target {
    /// Where the versions are that are too large.
    fn whole_folder(&self) -> PathBuf {
        self.scene.material_path().with_extension("")
    }

    /// A run in which a large file was written anew, and which waits for a review.
    fn writes_large_file(&mut self) -> Result<()> {
        self.write(LOCK, &lock(1))?;
        self.commit("a large file")?;
        self.begin()?;
        self.fix()?;
        self.write(LOCK, &lock(2))
    }

    /// Where the two versions are that the reviewer is told to read.
    fn version_paths(&self) -> Result<[PathBuf; 2]> {
        let material = self.material();
        let path = |what: &str| -> Result<PathBuf> {
            let line = material
                .lines()
                .find(|line| line.contains(what))
                .with_context(|| format!("no {what}"))?;
            let (_, path) = line.split_once(what).context("no path")?;
            Ok(PathBuf::from(path.trim()))
        };
        ensure!(material.contains("Both are to be read and compared."));
        Ok([
            path("All of it as it was when the run began:")?,
            path("All of it as it is now:")?,
        ])
    }

    fn versions(&self) -> Result<[String; 2]> {
        let [before, now] = self.version_paths()?;
        Ok([fs::read_to_string(before)?, fs::read_to_string(now)?])
    }

    fn both_versions_are_there(&self) -> Result<()> {
        self.scene.claim_fails()?;
        ensure!(self.versions()? == [lock(1), lock(2)], "other versions");
        Ok(())
    }

    /// The reviewer agrees, but not with what it had to read.
    fn review_is_void(&self) -> Result<()> {
        self.review_agrees()?;
        let answer = self.scene.claim()?;
        ensure!(
            answer.blocks() && self.scene.field("/verdict")?.is_null(),
            "{answer:?}"
        );
        Ok(())
    }
}

const ROWS: &[Row] = &[
    Row {
        id: "h05a",
        what: "a large file is written anew: both versions are shown, until the run is verified",
        play: |target| {
            target.writes_large_file()?;
            target.both_versions_are_there()?;
            target.review_agrees()?;
            target.scene.claim_ends("verified")?;
            ensure!(
                !target.whole_folder().exists() && !target.scene.material_path().exists(),
                "they are still there"
            );
            Ok(())
        },
    },
    Row {
        id: "h05b",
        what: "a large file is removed",
        play: |target| {
            target.writes_large_file()?;
            target.remove(LOCK)?;
            target.claim_reaches_review()?;
            ensure!(
                target
                    .material()
                    .contains("All of it as it was when the run began:")
            );
            target.scene.prompt("/omo:stop-continuation")?;
            ensure!(!target.whole_folder().exists(), "it is still there");
            Ok(())
        },
    },
    Row {
        id: "r07i",
        what: "the difference hides the emptied test: it grows by two megabytes",
        play: |target| {
            target.begin()?;
            let more = "# a line of no use\n".repeat(110_000);
            let emptied = format!("{more}{}", TESTS.replace(ASSERTION, "pass"));
            target.write("test_app.py", &emptied)?;
            target.claim_reaches_review()?;
            ensure!(
                target.versions()? == [TESTS.to_owned(), emptied],
                "other versions"
            );
            Ok(())
        },
    },
    Row {
        id: "r07m",
        what: "a version of a large file that the reviewer reads is another one for a while, or gone",
        play: |target| {
            target.writes_large_file()?;
            target.both_versions_are_there()?;
            let [version, _] = target.version_paths()?;
            fs::write(&version, lock(2))?;
            fs::write(&version, lock(1))?;
            target.review_is_void()?;
            target.both_versions_are_there()?;
            fs::remove_dir_all(target.whole_folder())?;
            target.review_is_void()
        },
    },
    Row {
        id: "r07n",
        what: "a link, a file or a folder lies where the versions of a large file go",
        play: |target| {
            target.writes_large_file()?;
            let (folder, elsewhere) = (
                target.whole_folder(),
                target.scene.lab.home().join("elsewhere"),
            );
            fs::create_dir(&elsewhere)?;
            symlink(&elsewhere, &folder)?;
            target.both_versions_are_there()?;
            ensure!(
                fs::read_dir(&elsewhere)?.next().is_none(),
                "it was written elsewhere"
            );
            let [_, now] = target.version_paths()?;
            fs::remove_dir_all(&folder)?;
            fs::write(&folder, "in the way")?;
            target.both_versions_are_there()?;
            fs::create_dir_all(now.with_added_extension("tmp").join("inner"))?;
            target.both_versions_are_there()?;
            symlink(&elsewhere, folder.join("more"))?;
            target.review_is_void()
        },
    },
    Row {
        id: "r07o",
        what: "a file that is larger than what is written beside counts against the claim",
        play: |target| {
            let line = format!("{}\n", "x".repeat(1_023));
            target.write(LOCK, &line.repeat(66_000))?;
            target.commit("a very large file")?;
            target.begin()?;
            target.fix()?;
            target.write(LOCK, "")?;
            let reason = target.scene.claim_fails()?;
            ensure!(
                reason.contains("more than can be shown: lock.txt"),
                "{reason}"
            );
            target.is_never_verified()
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn what_is_too_large_to_be_shown_lies_beside_it_whole() {
    play(ROWS).unwrap();
}
