//! Projects under git whose session claims, with evidence that still holds.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_core::messages::checks::review_prompt;
use omo_testkit::samples::{SESSION, forget_revision, input};
use serde_json::{Value, json};

use crate::bench_files::make_old;

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
    /// A file with an index of git that knows no time of any file.
    pub index_without_times: PathBuf,
    /// The hooks that bring it there.
    hooks: PathBuf,
    /// The run has a check, and has not claimed yet.
    open: Vec<u8>,
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
        let git = |arguments: &[&str]| {
            let mut git = Command::new("git");
            git.args(["-c", "user.name=bench", "-c", "user.email=bench@localhost"])
                .args(arguments);
            git.current_dir(&project);
            git
        };
        let index_without_times = folder.join("index");
        let mut read_tree = git(&["read-tree", "HEAD"]);
        read_tree.env("GIT_INDEX_FILE", &index_without_times);
        for mut git in [
            git(&["init", "-q"]),
            git(&["add", "."]),
            git(&["commit", "-qm", "start"]),
            read_tree,
        ] {
            ensure!(git.status()?.success(), "{git:?}");
        }
        let claim = folder.join("claim.json");
        fs::write(
            &claim,
            format!(
                "{}\n",
                input("Stop", &project, json!({"last_assistant_message": DONE}))
            ),
        )?;
        let hooks = hooks.to_owned();
        let (open, plain) = (Vec::new(), Vec::new());
        let mut claims = Self {
            project,
            home,
            claim,
            index_without_times,
            hooks,
            open,
            plain,
        };
        claims.prompt("/omo:ulw --no-review fix it")?;
        claims.plain = fs::read(claims.state())?;
        // A run that goes on keeps its options: another one has a review.
        fs::remove_file(claims.state())?;
        forget_revision(&claims.home.join("state"))?;
        claims.prompt("/omo:ulw --check true fix that")?;
        claims.open = fs::read(claims.state())?;
        put_back(&claims.home.join("state"), &claims.kept())?;
        Ok(claims)
    }

    fn prompt(&self, text: &str) -> Result<String> {
        self.fire(
            "omo-user-prompt-submit",
            "UserPromptSubmit",
            json!({"prompt": text}),
        )
    }

    /// Brings the session to where a claim has fresh evidence, and a review that agreed.
    pub(crate) fn judge(&self) -> Result<()> {
        // The end of a run takes with it what the run began with.
        put_back(&self.kept(), &self.home.join("state"))?;
        self.set_back(&self.open)?;
        let answer = self.fire("omo-stop", "Stop", json!({"last_assistant_message": DONE}))?;
        ensure!(
            answer.contains("independent review"),
            "no review was asked for: {answer}"
        );
        let asked = review_prompt(&self.read_by_reviewer().display().to_string());
        let transcript = self.home.with_file_name("agent-a1.jsonl");
        let asked = json!({
            "type": "user", "agentId": "a1", "isSidechain": true, "sessionId": SESSION,
            "message": {"role": "user", "content": asked},
        });
        let material = fs::read_to_string(self.read_by_reviewer())?;
        let lines = material
            .split('\n')
            .enumerate()
            .map(|(at, line)| format!("{}\t{line}", at + 1));
        let result = lines.collect::<Vec<_>>().join("\n");
        let call = json!({
            "type": "assistant", "agentId": "a1", "isSidechain": true,
            "message": {"role": "assistant", "content": [{
                "type": "tool_use", "id": "t1", "name": "Read", "input": {"file_path": self.read_by_reviewer()},
            }]},
        });
        let result = json!({
            "type": "user", "agentId": "a1", "isSidechain": true,
            "message": {"role": "user", "content": [{"tool_use_id": "t1", "type": "tool_result", "content": result}]},
        });
        fs::write(&transcript, format!("{asked}\n{call}\n{result}\n"))?;
        let report = json!({
            "agent_type": "omo:oracle", "agent_id": "a1", "last_assistant_message": AGREES,
            "agent_transcript_path": transcript,
        });
        self.fire("omo-subagent-stop", "SubagentStop", report)?;
        make_old(&self.state())
    }

    /// Puts the session back to where a claim has nothing to be judged by.
    pub(crate) fn release(&self) -> Result<()> {
        self.set_back(&self.plain)
    }

    fn set_back(&self, state: &[u8]) -> Result<()> {
        fs::write(self.state(), state)?;
        forget_revision(&self.home.join("state"))?;
        make_old(&self.state())
    }

    /// The index of the repository.
    pub(crate) fn index(&self) -> PathBuf {
        self.project.join(".git/index")
    }

    /// What a hook of this user has in its environment beside the usual.
    pub(crate) fn variables(&self) -> [(&'static str, PathBuf); 2] {
        [
            ("HOME", self.home.clone()),
            ("XDG_STATE_HOME", self.home.join("state")),
        ]
    }

    /// Where what lies in the user's own state is kept.
    fn kept(&self) -> PathBuf {
        self.home.with_file_name("kept")
    }

    fn state(&self) -> PathBuf {
        self.project.join(".sisyphus/cc-omo/runtime.local.json")
    }

    fn read_by_reviewer(&self) -> PathBuf {
        self.project
            .join(format!(".sisyphus/cc-omo/review-{SESSION}.md"))
    }

    fn fire(&self, binary: &str, event: &str, fields: Value) -> Result<String> {
        let mut command = Command::new(self.hooks.join(binary));
        command
            .current_dir(&self.project)
            .env("CLAUDE_PROJECT_DIR", &self.project)
            .envs(self.variables());
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = input(event, &self.project, fields);
        child
            .stdin
            .take()
            .context("no stdin")?
            .write_all(input.to_string().as_bytes())?;
        Ok(String::from_utf8(child.wait_with_output()?.stdout)?)
    }
}

/// Copies what is in one folder and not in another there.
fn put_back(from: &Path, to: &Path) -> Result<()> {
    if from.is_dir() {
        fs::create_dir_all(to)?;
        fs::set_permissions(to, from.metadata()?.permissions())?;
        for entry in fs::read_dir(from)? {
            let entry = entry?;
            put_back(&entry.path(), &to.join(entry.file_name()))?;
        }
    } else if !to.exists() {
        fs::copy(from, to)?;
    }
    Ok(())
}
