//! Instruction counts of hooks, from valgrind, and the counts that are held.
//!
//! A count does not depend on how busy or how fast the machine is, so that a test can hold it: the
//! same binary gives the same count wherever it runs. The counts that are held are in
//! `benches/instructions.json`, for each target, and change on purpose only.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::samples::{self, SampleSessions};
use crate::{Lab, process};

/// By one part of so many a count may grow before that has to be accepted, and shrink before that
/// should be.
const TOLERANCE: u64 = 10;
/// Under valgrind a hook takes about half a second, on a busy machine more.
const LIMIT: Duration = Duration::from_secs(60);

/// One hook, or the status line, with one kind of work.
#[derive(Clone, Copy, Debug)]
pub struct InstructionCase {
    /// Name in the file of counts.
    pub name: &'static str,
    /// Binary of the plugin.
    pub binary: &'static str,
    arguments: &'static [&'static str],
    input: fn(&Path) -> Value,
    state: Option<SampleSessions>,
    /// Text that its answer must hold; empty where it must say nothing.
    says: &'static str,
}

/// Every hook, and the status line, with nothing to do, and those with work that a user may wait for.
pub const CASES: [InstructionCase; 11] = [
    InstructionCase::idle("omo-session-start, idle", "omo-session-start", |project| {
        samples::input("SessionStart", project, json!({"source": "startup"}))
    })
    .saying("CLAUDE_SESSION_ID"),
    InstructionCase::idle("omo-session-end, idle", "omo-session-end", |project| {
        samples::input(
            "SessionEnd",
            project,
            json!({"reason": "prompt_input_exit"}),
        )
    }),
    InstructionCase::idle("omo-stop, idle", "omo-stop", |project| {
        samples::stop(project, None)
    }),
    InstructionCase::idle("omo-stop, idle, 50 other sessions", "omo-stop", |project| {
        samples::stop(project, None)
    })
    .with_state(SampleSessions::Others(50)),
    InstructionCase::idle("omo-stop, armed, 50 sessions", "omo-stop", |project| {
        samples::stop(project, None)
    })
    .with_state(SampleSessions::WithOurs(50))
    .saying("\"block\""),
    InstructionCase::idle("omo-stop-failure, idle", "omo-stop-failure", |project| {
        samples::input("StopFailure", project, json!({"error": "rate_limit"}))
    }),
    InstructionCase::idle("omo-subagent-stop, idle", "omo-subagent-stop", |project| {
        let fields = json!({"agent_type": "Explore", "agent_id": "a1", "last_assistant_message": "Nothing found."});
        samples::input("SubagentStop", project, fields)
    }),
    InstructionCase::idle(
        "omo-user-prompt-submit, idle",
        "omo-user-prompt-submit",
        |project| samples::prompt(project, "please fix the parser"),
    ),
    InstructionCase::idle(
        "omo-user-prompt-submit, 100 kB prompt",
        "omo-user-prompt-submit",
        |project| samples::prompt(project, &samples::long_prompt(false)),
    ),
    InstructionCase::idle("omo statusline, idle", "omo", samples::statusline)
        .with_arguments(&["statusline"]),
    InstructionCase::idle(
        "omo statusline, armed, 50 sessions",
        "omo",
        samples::statusline,
    )
    .with_arguments(&["statusline"])
    .with_state(SampleSessions::WithOurs(50))
    .saying("ulw 3/8"),
];

impl InstructionCase {
    const fn idle(name: &'static str, binary: &'static str, input: fn(&Path) -> Value) -> Self {
        Self {
            name,
            binary,
            arguments: &[],
            input,
            state: None,
            says: "",
        }
    }

    const fn with_arguments(mut self, arguments: &'static [&'static str]) -> Self {
        self.arguments = arguments;
        self
    }

    const fn with_state(mut self, state: SampleSessions) -> Self {
        self.state = Some(state);
        self
    }

    const fn saying(mut self, says: &'static str) -> Self {
        self.says = says;
        self
    }

    /// Runs the hook under valgrind, in a project of its own. A hook that did not do its work is
    /// an error.
    pub fn count(&self, binaries: &Path) -> Result<u64> {
        self.run(binaries, Path::new("/dev/null"))
    }

    /// As the count above, and writes which function took how many of them into a file, in
    /// callgrind's own form.
    pub fn profile(&self, binaries: &Path, file: &Path) -> Result<u64> {
        self.run(binaries, file)
    }

    fn run(&self, binaries: &Path, profile: &Path) -> Result<u64> {
        let lab = Lab::builder()
            .without_git()
            .folder(&padded_folder())
            .build()?;
        // The length of the program's own path is counted as well, and its name says which hook it is.
        let hook = lab.root().join(self.binary);
        std::fs::copy(binaries.join(self.binary), &hook)
            .with_context(|| format!("copy {}", self.binary))?;
        if let Some(state) = self.state {
            let mut text = Vec::new();
            samples::write_state(&mut text, state)?;
            lab.write(
                ".sisyphus/cc-omo/runtime.local.json",
                &String::from_utf8(text)?,
            )?;
            if let SampleSessions::WithOurs(_) = state {
                samples::seal_session(lab.project(), &lab.home().join(".local/state"))?;
            }
        }
        // Nothing of the runner's own environment: its length would be counted as well.
        let mut valgrind = lab.command("valgrind");
        valgrind.env("CLAUDE_PROJECT_DIR", lab.project());
        valgrind
            .arg("--tool=callgrind")
            .arg(format!("--callgrind-out-file={}", profile.display()));
        valgrind.arg(hook).args(self.arguments);
        let input = format!("{}\n", (self.input)(lab.project()));
        let done = process::run(valgrind, Some(&input), LIMIT)?;
        let said = if self.says.is_empty() {
            done.stdout.is_empty()
        } else {
            done.stdout.contains(self.says)
        };
        ensure!(
            done.status.success() && said,
            "{} did not do its work under valgrind: {done:?}",
            self.name
        );
        collected(&done.stderr)
    }
}

/// Counts what a program needs for something else than a hook's work, in a lab. One that fails is an error.
pub fn count_program(lab: &Lab, program: &Path, arguments: &[&str]) -> Result<u64> {
    let mut valgrind = lab.command("valgrind");
    valgrind
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args(arguments);
    let done = process::run(valgrind, None, LIMIT)?;
    ensure!(
        done.status.success(),
        "{arguments:?} failed under valgrind: {done:?}"
    );
    collected(&done.stderr)
}

fn collected(said: &str) -> Result<u64> {
    let count = said
        .lines()
        .find_map(|line| line.split_once("Collected : ")?.1.trim().parse().ok());
    count.with_context(|| format!("valgrind named no count: {said}"))
}

/// The name of a folder with which the project's path has the same length wherever temporary files
/// are: each of its letters is read, parsed and copied.
fn padded_folder() -> String {
    const WITH_THE_FOLDER_BEFORE: usize = 64;
    let width = WITH_THE_FOLDER_BEFORE.saturating_sub(std::env::temp_dir().as_os_str().len());
    format!("{:x<width$}", "lab")
}

/// Presence of valgrind.
pub fn has_valgrind() -> bool {
    let probe = Command::new("valgrind").arg("--version").output();
    probe.is_ok_and(|output| output.status.success())
}

/// The counts of one target.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InstructionCounts {
    /// The compiler that built what was counted: another one may need more or fewer.
    pub rustc: String,
    /// The count of each case, by its name.
    pub counts: BTreeMap<String, u64>,
}

/// Comparison of a count with the one that is held.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CountChange {
    /// Near enough.
    Same,
    /// There is none yet.
    Unknown,
    /// More than the permitted growth.
    Grown {
        /// By how much of what is held.
        percent: u64,
    },
    /// Less by so much that the held count says nothing any more.
    Shrunk {
        /// By how much of what is held.
        percent: u64,
    },
}

/// Compares a count with the one that is held.
pub fn compare_count(recorded: Option<u64>, counted: u64) -> CountChange {
    let Some(recorded) = recorded else {
        return CountChange::Unknown;
    };
    let percent = |change: u64| change.saturating_mul(100) / recorded.max(1);
    if counted > recorded + recorded / TOLERANCE {
        CountChange::Grown {
            percent: percent(counted - recorded),
        }
    } else if counted < recorded - recorded / TOLERANCE {
        CountChange::Shrunk {
            percent: percent(recorded - counted),
        }
    } else {
        CountChange::Same
    }
}

/// Counts every case with the binaries in a folder.
pub fn count_all(binaries: &Path) -> Result<BTreeMap<String, u64>> {
    CASES
        .iter()
        .map(|case| Ok((case.name.to_owned(), case.count(binaries)?)))
        .collect()
}

/// The counts that are held for a target, where there are any.
pub fn recorded_counts(triple: &str) -> Result<Option<InstructionCounts>> {
    Ok(read_counts(&counts_file()?)?.remove(triple))
}

/// Holds other counts for a target from now on.
pub fn record_counts(triple: &str, counts: InstructionCounts) -> Result<PathBuf> {
    let file = counts_file()?;
    let mut all = read_counts(&file)?;
    all.insert(triple.to_owned(), counts);
    std::fs::write(&file, format!("{}\n", serde_json::to_string_pretty(&all)?))
        .with_context(|| format!("write {}", file.display()))?;
    Ok(file)
}

fn counts_file() -> Result<PathBuf> {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .context("find the top of the repository")?;
    Ok(top.join("benches").join("instructions.json"))
}

fn read_counts(file: &Path) -> Result<BTreeMap<String, InstructionCounts>> {
    match std::fs::read(file) {
        Ok(bytes) => {
            serde_json::from_slice(&bytes).with_context(|| format!("parse {}", file.display()))
        }
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(BTreeMap::new()),
        Err(error) => bail!("read {}: {error}", file.display()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_more_is_let_pass_and_no_more() {
        assert_eq!(compare_count(Some(1_000), 1_100), CountChange::Same);
        assert_eq!(compare_count(Some(1_000), 900), CountChange::Same);
        assert_eq!(
            compare_count(Some(1_000), 1_101),
            CountChange::Grown { percent: 10 }
        );
        assert_eq!(
            compare_count(Some(1_000), 2_000),
            CountChange::Grown { percent: 100 }
        );
        assert_eq!(
            compare_count(Some(1_000), 890),
            CountChange::Shrunk { percent: 11 }
        );
        assert_eq!(compare_count(None, 5), CountChange::Unknown);
    }

    #[test]
    fn every_case_has_a_name_of_its_own() {
        let names: std::collections::BTreeSet<&str> = CASES.iter().map(|case| case.name).collect();
        assert_eq!(names.len(), CASES.len());
    }
}
