//! The fixture for claims: a git project whose session is judged, and the steps of such a run.

use crate::all_good;
use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use omo_core::messages::checks::review_prompt;
use omo_testkit::stand_in::{HookAnswer, SubagentStopInput};
use omo_testkit::{Lab, wait_until};
use serde_json::{Value, json};

use crate::processes::processes;
use crate::scene::{Case, Scene, plugin, require_sound};

/// How a model claims.
pub const DONE: &str = "All of it is done and checked.\n\n<promise>DONE</promise>";
/// How a reviewer agrees.
pub const AGREES: &str = "Each thing that was asked for is there.\n\n<promise>VERIFIED</promise>";

/// Plays every case on a fixture of its own, where a claim needs a review as well, and names those
/// that went wrong.
#[track_caller]
pub fn play_with_review(cases: &[Case]) {
    let plugin = plugin();
    let played = |case: fn(&mut Scene) -> Result<()>| {
        case(&mut Scene::in_lab(&plugin, Lab::builder().build()?)?)
    };
    all_good(
        cases
            .iter()
            .map(|(name, case)| ((*name).to_owned(), played(*case))),
    );
}

impl Scene {
    /// Turns ultrawork on with these options.
    pub fn start(&mut self, options: &str) -> Result<()> {
        let reported = self.prompt(&format!("/omo:ulw {options} fix the tests"))?;
        ensure!(
            self.entry()?["ulw"]["enabled"] == true,
            "not armed: {reported:?}"
        );
        Ok(())
    }

    /// The model claims; gives what the hook answers.
    pub fn claim(&self) -> Result<HookAnswer> {
        self.says(DONE)
    }

    /// The model ends its turn with a message, some tool having been used before.
    pub fn says(&self, message: &str) -> Result<HookAnswer> {
        self.session
            .clone()
            .transcript()
            .tool_use("Read", &json!({"file_path": "x"}))?;
        self.stop(&json!({"last_assistant_message": message}))
    }

    /// The model claims, and is sent on; gives the reason.
    pub fn claim_fails(&self) -> Result<String> {
        let answer = self.claim()?;
        ensure!(answer.blocks(), "not sent on: {answer:?}");
        Ok(answer
            .reason()
            .context("a block without a reason")?
            .to_owned())
    }

    /// The model claims, and the run ends so.
    pub fn claim_ends(&self, verdict: &str) -> Result<String> {
        let answer = self.claim()?;
        let line = answer
            .system_message()
            .with_context(|| format!("no line: {answer:?}"))?
            .to_owned();
        ensure!(crate::scene::tells_end(&line, verdict), "{line}");
        ensure!(
            self.entry()?["verdict"]["kind"] == verdict,
            "{}",
            self.entry()?
        );
        Ok(line)
    }

    /// A subagent of some kind ends with a report; it was given what omo asks to be handed on.
    pub fn agent_reports(&self, agent_type: &str, report: &str) -> Result<()> {
        self.agent_ends("", agent_type, &[&self.review_prompt()], report)
    }

    /// A subagent ends with a report, having been given these prompts; an empty id stands for a new one.
    pub fn agent_ends(
        &self,
        id: &str,
        agent_type: &str,
        prompts: &[&str],
        report: &str,
    ) -> Result<()> {
        let run = self.session.subagent_stop(&SubagentStopInput {
            agent_id: id.to_owned(),
            agent_type: agent_type.to_owned(),
            last_message: report.to_owned(),
            stop_hook_active: false,
            prompts: prompts.iter().map(|prompt| (*prompt).to_owned()).collect(),
        })?;
        ensure!(
            require_sound(&run)? == HookAnswer::Nothing,
            "the hook said something to a subagent"
        );
        Ok(())
    }

    /// What omo asks to be handed on to a reviewer, word for word.
    pub fn review_prompt(&self) -> String {
        review_prompt(&self.material_path().display().to_string())
    }

    /// Where what a reviewer reads is.
    pub fn material_path(&self) -> PathBuf {
        self.lab
            .state_folder()
            .join(format!("review-{}.md", self.session.session()))
    }

    /// The reviewer ends with a report.
    pub fn reviewer_reports(&self, report: &str) -> Result<()> {
        self.agent_reports("omo:oracle", report)
    }

    /// Lines about the unusual, which a reviewer reads first.
    pub fn unusual_lines(&self) -> Vec<String> {
        let material = fs::read_to_string(self.material_path()).unwrap_or_default();
        let (first, _) = material.split_once("\n## Task").unwrap_or_default();
        first
            .lines()
            .filter_map(|line| line.strip_prefix("- "))
            .map(str::to_owned)
            .collect()
    }

    /// The model claims until it is asked for no review any more, and each reviewer ends with this report. Gives the
    /// last answer, and the lines that the last reviewer read first.
    pub fn claim_with_review(&self, report: &str) -> Result<(HookAnswer, Vec<String>)> {
        let mut unusual = Vec::new();
        loop {
            let answer = self.claim()?;
            if !answer
                .reason()
                .is_some_and(|reason| reason.contains("omo:oracle"))
            {
                return Ok((answer, unusual));
            }
            unusual = self.unusual_lines();
            self.reviewer_reports(report)?;
        }
    }

    /// A command of the user's that is answered without the model; gives the answer.
    pub fn asks(&mut self, prompt: &str) -> Result<String> {
        let answer = self.prompt(prompt)?;
        ensure!(answer.blocks(), "the model was asked: {answer:?}");
        Ok(answer.reason().context("no answer")?.to_owned())
    }

    /// A file outside of the project, in which checks leave traces.
    pub fn trace(&self, name: &str) -> PathBuf {
        self.lab.home().join(name)
    }

    /// How often a check left its trace: one line each time. A line that names a copy of the project, in which checks are
    /// run without the change, does not count.
    pub fn traced(&self, name: &str) -> usize {
        let text = fs::read_to_string(self.trace(name)).unwrap_or_default();
        text.lines()
            .filter(|line| !line.contains("/omo/proofs/"))
            .count()
    }

    /// A field of the session's entry.
    pub fn field(&self, pointer: &str) -> Result<Value> {
        Ok(self
            .entry()?
            .pointer(pointer)
            .cloned()
            .unwrap_or(Value::Null))
    }
}

/// The processes whose command line holds a text that no other process has.
pub fn processes_with(text: &str) -> Vec<i32> {
    let pids = processes().filter_map(|entry| entry.file_name().to_str()?.parse::<i32>().ok());
    let own = i32::try_from(std::process::id()).unwrap_or_default();
    let has = |pid: &i32| {
        fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            String::from_utf8_lossy(&line)
                .replace('\0', " ")
                .contains(text)
        })
    };
    pids.filter(|pid| *pid != own).filter(has).collect()
}

/// Waits until no process has this text in its command line.
pub fn wait_until_gone(text: &str) -> Result<()> {
    let gone = || processes_with(text).is_empty().then_some(());
    wait_until(&format!("no process with {text}"), gone)
}
