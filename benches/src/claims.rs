//! Projects under git whose session claims, with evidence that still holds.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::samples::{SESSION, forget_revision, input};
use serde_json::{Value, json};

use crate::stage::make_old;

const DONE: &str = "All of it is done.\n\n<promise>DONE</promise>";
const AGREES: &str = "All of it holds.\n\n<promise>VERIFIED</promise>";

/// A project with so many files in one commit, and the states that its session may be in.
pub(crate) struct Claims {
    /// The project.
    pub project: PathBuf,
    /// The user's home, in which the key is.
    pub home: PathBuf,
    /// A file with the input of a Stop that claims.
    pub claim: PathBuf,
    /// The run has a gate, its green result, and a review that agreed.
    judged: Vec<u8>,
    /// What that reviewer was given to read, which goes with the run.
    material: Vec<u8>,
    /// The run has nothing that judges it.
    plain: Vec<u8>,
}

impl Claims {
    /// Makes the project below a folder, and has the real hooks bring its session there.
    pub(crate) fn new(folder: &Path, hooks: &Path, files: usize) -> Result<Self> {
        let (project, home) = (folder.join("project"), folder.join("home"));
        fs::create_dir_all(&home)?;
        for number in 0..files {
            let path = project.join(format!("part-{}/file-{number}.txt", number / 100));
            fs::create_dir_all(path.parent().context("no parent")?)?;
            fs::write(&path, format!("file {number}\n"))?;
            // What is as new as the index makes git read every file, each time.
            make_old(&path)?;
        }
        for arguments in [["init", "-q"].as_slice(), &["add", "."], &["commit", "-qm", "start"]] {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"]).args(arguments);
            ensure!(git.current_dir(&project).status()?.success(), "git {arguments:?}");
        }
        let claim = folder.join("claim.json");
        fs::write(&claim, format!("{}\n", input("Stop", &project, json!({"last_assistant_message": DONE}))))?;
        let mut claims = Self { project, home, claim, judged: Vec::new(), material: Vec::new(), plain: Vec::new() };
        claims.fire(
            hooks,
            "omo-user-prompt-submit",
            "UserPromptSubmit",
            json!({"prompt": "/omo:ulw --no-review fix it"}),
        )?;
        claims.plain = fs::read(claims.state())?;
        claims.fire(
            hooks,
            "omo-user-prompt-submit",
            "UserPromptSubmit",
            json!({"prompt": "/omo:ulw --gate true fix that"}),
        )?;
        let answer = claims.fire(hooks, "omo-stop", "Stop", json!({"last_assistant_message": DONE}))?;
        ensure!(answer.contains("independent review"), "no review was asked for: {answer}");
        let report = json!({"agent_type": "omo:oracle", "agent_id": "a1", "last_assistant_message": AGREES});
        claims.fire(hooks, "omo-subagent-stop", "SubagentStop", report)?;
        claims.judged = fs::read(claims.state())?;
        claims.material = fs::read(claims.read_by_reviewer())?;
        Ok(claims)
    }

    /// Puts the session back to where a claim with fresh evidence is made.
    pub(crate) fn judge(&self) -> Result<()> {
        fs::write(self.read_by_reviewer(), &self.material)?;
        self.set_back(&self.judged)
    }

    /// Puts the session back to where a claim has nothing to be judged by.
    pub(crate) fn let_go(&self) -> Result<()> {
        self.set_back(&self.plain)
    }

    fn set_back(&self, state: &[u8]) -> Result<()> {
        fs::write(self.state(), state)?;
        forget_revision(&self.home.join("state"))?;
        make_old(&self.state())
    }

    /// What a hook of this user has in its environment beside everybody's.
    pub(crate) fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [("HOME", self.home.clone()), ("XDG_STATE_HOME", self.home.join("state"))]
    }

    fn state(&self) -> PathBuf {
        self.project.join(".sisyphus/cc-omo/runtime.local.json")
    }

    fn read_by_reviewer(&self) -> PathBuf {
        self.project.join(format!(".sisyphus/cc-omo/review-{SESSION}.md"))
    }

    fn fire(&self, hooks: &Path, binary: &str, event: &str, fields: Value) -> Result<String> {
        let mut command = Command::new(hooks.join(binary));
        command.current_dir(&self.project).env("CLAUDE_PROJECT_DIR", &self.project).envs(self.variables());
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
        let input = input(event, &self.project, fields);
        child.stdin.take().context("no stdin")?.write_all(input.to_string().as_bytes())?;
        Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
    }
}
