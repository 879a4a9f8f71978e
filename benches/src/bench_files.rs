//! The projects, states, transcripts and inputs that the contestants meet.

use std::fs::{self, File};
use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};

use anyhow::Result;
use omo_testkit::samples::{self, SampleSessions};
use serde_json::{Value, json};
use tempfile::TempDir;

const MIB: usize = 1_024 * 1_024;
/// How much of a large transcript is lines: more than a hook ever reads of its end.
const LINES_AT_THE_END: usize = 4 * MIB;
const STATE_FOLDER: &str = ".sisyphus/cc-omo";
const STATE: &str = "runtime.local.json";

/// Where everything on disk that a run needs is made.
pub(crate) struct BenchFiles {
    temp: TempDir,
}

/// A project, and the state that it starts from each time.
pub(crate) struct Project {
    /// Its folder.
    pub folder: PathBuf,
    /// A file with that state.
    start: Option<PathBuf>,
    /// Where its user's own state is.
    state_home: PathBuf,
}

impl BenchFiles {
    /// A folder that goes when this does.
    pub(crate) fn new() -> Result<Self> {
        Ok(Self {
            temp: tempfile::tempdir()?,
        })
    }

    /// A path in that folder.
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.temp.path().join(name)
    }

    /// A project; without sessions it never used omo.
    pub(crate) fn project(&self, name: &str, sessions: Option<SampleSessions>) -> Result<Project> {
        let folder = self.path(name);
        fs::create_dir_all(&folder)?;
        let state_home = self.path(&format!("{name}-state"));
        let Some(sessions) = sessions else {
            return Ok(Project {
                folder,
                start: None,
                state_home,
            });
        };
        let start = self.path(&format!("{name}.json"));
        let mut file = BufWriter::new(File::create(&start)?);
        samples::write_state(&mut file, sessions)?;
        file.flush()?;
        fs::create_dir_all(folder.join(STATE_FOLDER))?;
        let project = Project {
            folder,
            start: Some(start.clone()),
            state_home,
        };
        if let SampleSessions::WithOurs(_) = sessions {
            fs::copy(&start, project.state_file())?;
            samples::seal_session(&project.folder, &project.state_home)?;
            fs::rename(project.state_file(), &start)?;
        }
        project.set_back()?;
        Ok(project)
    }

    /// A file with an input.
    pub(crate) fn input(&self, value: &Value) -> Result<PathBuf> {
        let number = fs::read_dir(self.temp.path())?.count();
        let path = self.path(&format!("input-{number}.json"));
        fs::write(&path, format!("{value}\n"))?;
        Ok(path)
    }

    /// A file with a prompt of so many MiB, written piece by piece: the memory of this process is
    /// the least that a child of it can show.
    pub(crate) fn endless_prompt(&self, project: &Project, mib: usize) -> Result<PathBuf> {
        let path = self.path("endless.json");
        let whole = samples::prompt(&project.folder, "@").to_string();
        let (before, after) = whole.split_once('@').unwrap_or_default();
        let mut file = BufWriter::new(File::create(&path)?);
        file.write_all(before.as_bytes())?;
        let piece = "Please look at it. ".repeat(64);
        for _ in 0..mib * MIB / piece.len() {
            file.write_all(piece.as_bytes())?;
        }
        file.write_all(after.as_bytes())?;
        file.flush()?;
        Ok(path)
    }

    /// A transcript of so many bytes. What is far from its end is a hole, which costs no disk and
    /// would cost time all the same for any reader.
    pub(crate) fn transcript(&self, name: &str, length: usize) -> Result<PathBuf> {
        let path = self.path(name);
        let mut file = BufWriter::new(File::create(&path)?);
        let lines = length.min(LINES_AT_THE_END);
        let pair = call_and_result();
        let pairs = lines.div_ceil(pair.len());
        file.seek(SeekFrom::Start(
            length.saturating_sub(pairs * pair.len()) as u64
        ))?;
        for _ in 0..pairs {
            file.write_all(pair.as_bytes())?;
        }
        file.flush()?;
        Ok(path)
    }
}

/// Has a file look as if it had been written long ago.
pub(crate) fn make_old(path: &Path) -> Result<()> {
    let long_ago = UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    Ok(File::options()
        .write(true)
        .open(path)?
        .set_modified(long_ago)?)
}

impl Project {
    /// Puts the state back to its start, and waits until it is on the disk: between two Stops of a
    /// real session there is time enough for that, and replacing a file that is still being
    /// written costs several times as much. For the same reason it looks as if it had been written long ago.
    pub(crate) fn set_back(&self) -> Result<()> {
        let Some(start) = &self.start else {
            return Ok(());
        };
        let (new, file) = (
            self.folder.join(STATE_FOLDER).join("new"),
            self.state_file(),
        );
        fs::copy(start, &new)?;
        File::open(&new)?.sync_all()?;
        make_old(&new)?;
        if self.state_home.exists() {
            samples::forget_revision(&self.state_home)?;
        }
        Ok(fs::rename(new, file)?)
    }

    /// What a hook of its user has in its environment beside the usual.
    pub(crate) fn variables(&self) -> [(&'static str, PathBuf); 1] {
        [("XDG_STATE_HOME", self.state_home.clone())]
    }

    /// The state file.
    pub(crate) fn state_file(&self) -> PathBuf {
        self.folder.join(STATE_FOLDER).join(STATE)
    }

    /// The input of a Stop in it.
    pub(crate) fn stop(&self, transcript: Option<&Path>) -> Value {
        samples::stop(&self.folder, transcript)
    }

    /// The input of a prompt in it.
    pub(crate) fn prompt(&self, text: &str) -> Value {
        samples::prompt(&self.folder, text)
    }
}

/// Lines as a transcript has them: most are results of tools.
fn call_and_result() -> String {
    let result = json!({
        "type": "user", "isSidechain": false, "message": {"role": "user", "content": [{"type": "tool_result", "content": "x".repeat(5_000)}]},
        "toolUseResult": {"stdout": "x".repeat(500)}, "timestamp": "2026-11-21T04:22:30.316Z", "sessionId": samples::SESSION,
    });
    let call = json!({
        "type": "assistant", "isSidechain": false, "timestamp": "2026-11-21T04:22:30.200Z", "sessionId": samples::SESSION,
        "message": {"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "Bash", "input": {"command": "cargo test"}}]},
    });
    format!("{call}\n{result}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_transcript_is_as_long_as_asked_and_ends_in_whole_lines() {
        let files = BenchFiles::new().unwrap();
        for length in [256 * 1_024, 100 * MIB] {
            let text = fs::read(files.transcript("t", length).unwrap()).unwrap();
            assert!(
                (length..length + 10_000).contains(&text.len()),
                "{} bytes instead of {length}",
                text.len()
            );
            let last = text.split(|byte| *byte == b'\n').rev().nth(1).unwrap();
            assert_eq!(
                serde_json::from_slice::<Value>(last).unwrap()["type"],
                "user"
            );
        }
    }
}
