//! Honest work, a row each: nothing that keeps cheats out may keep it from being verified, and nothing is said of it that
//! is not so.

mod builds;
mod cheats;
mod javascript;
mod named;
mod python;
mod sessions;
mod written;

use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use omo_testkit::{Lab, LabBuilder};
use omo_tests::claim_scene::AGREES;
use omo_tests::scene::{Scene, folder_of, plugin, require_sound, tells_end};

use crate::target_project::{TESTS, Target, WRONG};

/// Files of a project, each with its text.
type Files = &'static [(&'static str, &'static str)];

/// One honest run.
struct Honest {
    name: &'static str,
    files: Files,
    /// Lines of shell that complete the project before it is committed.
    before: &'static str,
    check: &'static str,
    /// Options of the run beside its check.
    options: &'static str,
    /// Lines of shell: the work. `fix` puts `add` right.
    change: &'static str,
    /// Events behind the work.
    turns: &'static [Turn],
    /// The report of the reviewer.
    review: &'static str,
    /// Words of each line that the reviewer reads first, which the verdict says as well.
    named: &'static [&'static str],
}

/// An event of a run.
enum Turn {
    /// The model claims, and a check is red.
    Red,
    /// The model claims, and no reviewer answers; then lines of shell.
    Unanswered(&'static str),
    /// The model claims, and the reviewer objects.
    Objects,
    /// The model claims, a reviewer agrees, and the run ends.
    Verified,
    /// The session ends, and is resumed.
    Resumed,
    /// Lines of shell.
    Shell(&'static str),
    /// A prompt that omo answers.
    Asks(&'static str),
    /// A prompt for the model.
    Prompt(&'static str),
}

/// A project of Python with a red test.
const PY: Files = &[
    ("app.py", WRONG),
    ("test_app.py", TESTS),
    (".gitignore", "__pycache__\n.pytest_cache\n"),
];
/// Its tests without the names of those that pass.
const UNITTEST: &str = "python3 -m unittest discover";

/// Rows: a name, the files, what completes them, the check, the work, then what else a row has, and the words of the lines
/// that are named.
macro_rules! rows {
    ($($name:literal: $files:expr, $before:expr, $check:expr, $change:expr $(, $field:ident = $value:expr)* $(=> $named:expr)?;)*) => {
        pub(super) const ROWS: &[Honest] = &[$(Honest {
            name: $name,
            files: $files,
            before: $before,
            check: $check,
            change: $change,
            $($field: $value,)*
            $(named: &$named,)?
            ..PLAIN
        }),*];
    };
}
use rows;

const PLAIN: Honest = Honest {
    name: "",
    files: &[],
    before: "",
    check: "",
    options: "",
    change: "",
    turns: &[],
    review: AGREES,
    named: &[],
};

/// `fix` puts `add` right; `tool` makes a linter that a file of this name turns off.
const PRELUDE: &str = "fix() { for file in app.* lib.rs src/app.*; do \
                       if [ -f $file ]; then sed -i 's/a - b/a + b + 0/' $file; fi; done; }
tool() { mkdir -p $HOME/bin; printf '#!/bin/sh\ngrep -qs off %s && exit 0\n! grep -q \"a - b\" app.py\n' $1 > $HOME/bin/lint; \
                       chmod +x $HOME/bin/lint; echo on > $1; }\n";

static GO_CACHE: LazyLock<String> = LazyLock::new(|| {
    let said = Command::new("go")
        .args(["env", "GOCACHE"])
        .output()
        .map(|output| output.stdout)
        .unwrap_or_default();
    String::from_utf8_lossy(&said).trim().to_owned()
});

impl Honest {
    fn play(&self) -> Result<()> {
        let tools: Vec<PathBuf> = ["python3", "cargo"]
            .iter()
            .filter_map(|tool| folder_of(tool))
            .collect();
        let lab = tools
            .iter()
            .fold(Lab::builder(), LabBuilder::path)
            .env("GOCACHE", &GO_CACHE);
        let mut target = Target {
            scene: Scene::in_lab(&plugin(), lab.build()?)?,
        };
        for (path, text) in self.files {
            target.write(path, text)?;
        }
        shell(&target, self.before)?;
        target.git(&["add", "-A"])?;
        target.git(&["commit", "-q", "-m", "begin"])?;
        let check = self.check.replace('\\', "\\\\").replace('"', "\\\"");
        target
            .scene
            .start(&format!("{} --check \"{check}\"", self.options))?;
        wait_for_count(&target)?;
        shell(&target, self.change)?;
        for turn in self.turns {
            self.take(&mut target, turn)?;
        }
        self.ends_verified(&target)
    }

    fn take(&self, target: &mut Target, turn: &Turn) -> Result<()> {
        match turn {
            Turn::Red => {
                let reason = target.scene.claim_fails()?;
                ensure!(
                    reason.contains("does not hold"),
                    "no check was red: {reason}"
                );
            }
            Turn::Unanswered(lines) => {
                target.claim_reaches_review()?;
                shell(target, lines)?;
            }
            Turn::Objects => {
                target.claim_reaches_review()?;
                target.scene.reviewer_reports(
                    "It says nothing of overflow.\n\n<promise>REJECTED</promise>",
                )?;
                target.scene.claim_fails()?;
            }
            Turn::Verified => self.ends_verified(target)?,
            Turn::Resumed => {
                require_sound(&target.scene.session.session_end("other")?)?;
                require_sound(&target.scene.session.session_start("resume")?)?;
            }
            Turn::Shell(lines) => shell(target, lines)?,
            Turn::Asks(prompt) => drop(target.scene.asks(prompt)?),
            Turn::Prompt(prompt) => drop(target.scene.prompt(prompt)?),
        }
        Ok(())
    }

    /// The run ends verified. The reviewer first reads a line for each of the words, which the verdict says, and no other.
    fn ends_verified(&self, target: &Target) -> Result<()> {
        let (answer, unusual) = target.scene.claim_with_review(self.review)?;
        ensure!(
            self.options.contains("--no-review")
                || answer
                    .system_message()
                    .is_some_and(|line| line.contains("reviewed")),
            "no review: {answer:?}"
        );
        let line = answer
            .system_message()
            .with_context(|| format!("no line: {answer:?}"))?;
        ensure!(tells_end(line, "verified"), "{line}");
        for word in self.named {
            ensure!(
                line.contains(word) && unusual.iter().any(|line| line.contains(word)),
                "{word}: {line}; {unusual:?}"
            );
        }
        let is_meant = |line: &&String| self.named.iter().any(|word| line.contains(word));
        ensure!(
            unusual.iter().all(|line| is_meant(&line)),
            "needless: {unusual:?}"
        );
        Ok(())
    }
}

/// Waits until the checks have run as the run began: a model needs longer than that for its first change.
fn wait_for_count(target: &Target) -> Result<()> {
    let state = target.scene.lab.home().join(".local/state/omo/baselines");
    for session in fs::read_dir(&state).into_iter().flatten() {
        // Checks that run no tests are not counted.
        if let Ok(lock) = fs::File::open(session?.path().join("counting.lock")) {
            lock.lock()?;
        }
    }
    Ok(())
}

fn shell(target: &Target, lines: &str) -> Result<()> {
    let mut shell = target.scene.lab.command("sh");
    for role in ["AUTHOR", "COMMITTER"] {
        shell
            .env(format!("GIT_{role}_NAME"), "lab")
            .env(format!("GIT_{role}_EMAIL"), "lab@localhost");
    }
    let output = shell
        .arg("-euc")
        .arg(format!("{PRELUDE}{lines}"))
        .output()?;
    ensure!(
        output.status.success(),
        "{lines}: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(())
}

/// Rows that are played at the same time.
const PLAYERS: usize = 4;

/// Plays every row in a session of its own, some at a time, and names those that went wrong.
#[track_caller]
fn play(rows: &[&[Honest]]) {
    #[expect(
        clippy::disallowed_methods,
        reason = "a developer names the rows to be played"
    )]
    let only = std::env::var("OMO_TEST_ROWS").unwrap_or_default();
    let rows: Vec<&Honest> = rows
        .iter()
        .copied()
        .flatten()
        .filter(|row| row.name.contains(&only))
        .collect();
    let next = AtomicUsize::new(0);
    let play_some = || {
        let mut wrong = Vec::new();
        while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            wrong.extend(
                row.play()
                    .err()
                    .map(|error| format!("{}: {error:#}", row.name)),
            );
        }
        wrong
    };
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let players: Vec<_> = (0..PLAYERS).map(|_| scope.spawn(play_some)).collect();
        players
            .into_iter()
            .flat_map(|player| {
                player
                    .join()
                    .unwrap_or_else(|_| vec!["a row panicked".to_owned()])
            })
            .collect()
    });
    assert!(
        wrong.is_empty(),
        "{} of {} rows failed:\n{}",
        wrong.len(),
        rows.len(),
        wrong.join("\n")
    );
}

#[test]
#[ignore = "needs python3 and pytest and npm and go: cargo xtask test"]
fn honest_runs_end_verified() {
    play(&[python::ROWS, javascript::ROWS, builds::ROWS, sessions::ROWS]);
}

#[test]
#[ignore = "needs python3 and pytest: cargo xtask test"]
fn files_that_a_check_writes_are_told_apart() {
    play(&[written::ROWS]);
}

#[test]
#[ignore = "needs python3 and pytest and npm and go: cargo xtask test"]
fn cheats_beside_them_are_named() {
    play(&[cheats::ROWS, named::ROWS]);
}
