//! The fixture that every case plays on: one session of the stand-in in a project of its own, the
//! real hook binaries, and what may be asked of their answers.

use crate::all_good;
use crate::printed_commands::wrong_commands;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, CorruptPolicy, EntryChange, StateUpdateOptions};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{HookRun, Lab, StandIn};
use serde_json::{Value, json};

/// The folder of the plugin under test.
///
/// # Panics
///
/// Where none is named: a test that needs it is ignored unless `cargo xtask test` runs it.
pub fn plugin() -> PathBuf {
    #[expect(
        clippy::disallowed_methods,
        reason = "`cargo xtask test` names the plugin that it built"
    )]
    let plugin = std::env::var_os("OMO_TEST_PLUGIN");
    #[expect(clippy::expect_used, reason = "a test's helper fails as a test does")]
    PathBuf::from(plugin.expect("OMO_TEST_PLUGIN names no built plugin; use `cargo xtask test`"))
}

/// The folder of a program on this machine; a wrapper that picks a version by its surroundings is
/// passed by, since the lab's are others.
pub fn folder_of(tool: &str) -> Option<PathBuf> {
    let asks: &[&str] = match tool {
        "cargo" => &["rustc", "--print", "sysroot"],
        "python3" => &["python3", "-c", "import sys; print(sys.executable)"],
        tool => &[
            "sh",
            "-c",
            match tool {
                "node" => "command -v node",
                _ => "command -v go",
            },
        ],
    };
    let output = Command::new(asks.first()?)
        .args(asks.get(1..)?)
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    let path = PathBuf::from(String::from_utf8(output.stdout).ok()?.trim());
    let folder = if tool == "cargo" {
        path.join("bin")
    } else {
        path.parent()?.to_owned()
    };
    folder.join(tool).is_file().then_some(folder)
}

#[expect(
    clippy::print_stdout,
    reason = "a test that did not run says so to the user who started it"
)]
/// Says why a test did not run.
pub fn print_skip(line: &str) {
    println!("{line}");
}

/// Copies a folder with all that is in it.
pub fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let (path, target) = (entry.path(), to.join(entry.file_name()));
        if path.is_dir() {
            copy(&path, &target)?;
        } else {
            std::fs::copy(&path, &target).map(drop)?;
        }
    }
    Ok(())
}

/// One session in one project.
pub struct Scene {
    /// The project, and the home of its user.
    pub lab: Lab,
    /// The session.
    pub session: StandIn,
    /// The plugin under test.
    pub plugin: PathBuf,
}

impl Scene {
    /// A project without git, and a session that has done nothing yet. No review is wanted: what a
    /// claim is worth has tests of its own.
    pub fn new(plugin: &Path) -> Result<Self> {
        let lab = Lab::builder().without_git().build()?;
        lab.configure("[verify]\nreview = false\n")?;
        Self::in_lab(plugin, lab)
    }

    /// A session in a given project.
    pub fn in_lab(plugin: &Path, lab: Lab) -> Result<Self> {
        let session = StandIn::new(&lab, plugin)?;
        Ok(Self {
            lab,
            session,
            plugin: plugin.to_owned(),
        })
    }

    /// Another session of the same project.
    pub fn another(&self) -> Result<StandIn> {
        StandIn::new(&self.lab, &self.plugin)
    }

    /// Turns ultrawork on by the keyword, as a person does.
    pub fn arm(&mut self) -> Result<()> {
        let reported = self.prompt("ulw fix the tests")?;
        ensure!(is_contract(&reported), "no contract: {reported:?}");
        ensure!(
            self.entry()?["ulw"]["enabled"] == true,
            "not armed: {:?}",
            self.lab.state()
        );
        Ok(())
    }

    /// A prompt of a person, and what the hook answers.
    pub fn prompt(&mut self, text: &str) -> Result<HookAnswer> {
        require_sound(&self.session.prompt(text)?)
    }

    /// A Stop with `fields` over the usual ones; `null` leaves a field out.
    pub fn stop(&self, fields: &Value) -> Result<HookAnswer> {
        let answer = require_sound(&self.session.fire_raw("Stop", &self.stop_input(fields)?)?)?;
        ensure!(
            !matches!(answer, HookAnswer::PlainText(_)),
            "plain text at a Stop: {answer:?}"
        );
        Ok(answer)
    }

    /// The fields of a Stop beside those of every event.
    pub fn stop_fields(&self, fields: &Value) -> Value {
        let mut all = json!({
            "prompt_id": self.session.prompt_id(), "permission_mode": "default", "stop_hook_active": false,
            "last_assistant_message": "Some of it is done.", "background_tasks": [], "session_crons": [],
        });
        if let (Some(all), Some(fields)) = (all.as_object_mut(), fields.as_object()) {
            all.extend(fields.clone());
            all.retain(|_, value| !value.is_null());
        }
        all
    }

    /// The whole input of a Stop as the client writes it.
    pub fn stop_input(&self, fields: &Value) -> Result<String> {
        self.input("Stop", &self.stop_fields(&json!({})), fields)
    }

    /// The whole input of an event: the fields of every event, `usual` ones over them, and
    /// `fields` over those; `null` leaves one out.
    pub fn input(&self, event: &str, usual: &Value, fields: &Value) -> Result<String> {
        let mut all = json!({
            "session_id": self.session.session(), "hook_event_name": event,
            "cwd": self.session.project(), "transcript_path": self.session.clone().transcript().path(),
        });
        let map = all.as_object_mut().context("no object")?;
        for fields in [usual, fields] {
            map.extend(fields.as_object().context("no object")?.clone());
        }
        map.retain(|_, value| !value.is_null());
        Ok(all.to_string())
    }

    /// The Stop is turned into a continuation, and that is counted.
    pub fn blocks(&self, fields: &Value) -> Result<String> {
        let before = self.blocks_counted()?;
        let answer = self.stop(fields)?;
        ensure!(
            answer.blocks(),
            "expected a block, got {answer:?}; {}",
            self.last_decision()
        );
        let reason = answer
            .reason()
            .context("a block without a reason")?
            .to_owned();
        ensure!(
            self.blocks_counted()? == before + 1,
            "{} blocks counted after {before}",
            self.blocks_counted()?
        );
        ensure!(
            reason.chars().count() <= 2_000,
            "a reason of {} characters",
            reason.chars().count()
        );
        Ok(reason)
    }

    /// The Stop is let through without a word, and nothing is counted.
    pub fn allows(&self, fields: &Value) -> Result<()> {
        let before = self.lab.state();
        let answer = self.stop(fields)?;
        ensure!(
            answer == HookAnswer::Nothing,
            "expected silence, got {answer:?}"
        );
        let count = |state: &Option<Value>| {
            state
                .as_ref()
                .map(|state| state["sessions"][self.session.session()]["ulw"]["stopBlocks"].clone())
        };
        ensure!(
            count(&before) == count(&self.lab.state()),
            "a silent Stop was counted"
        );
        Ok(())
    }

    /// The run ends with this verdict, which the user is told in one line with a bell.
    pub fn ends(&self, fields: &Value, verdict: &str) -> Result<()> {
        let answer = self.stop(fields)?;
        let line = answer
            .system_message()
            .with_context(|| format!("no line: {answer:?}; {}", self.last_decision()))?;
        ensure!(tells_end(line, verdict), "{line}");
        let terminal = answer.text("/terminalSequence").unwrap_or_default();
        ensure!(
            terminal.starts_with("\u{1b}]9;omo: ") && terminal.ends_with("\u{7}\u{7}"),
            "no bell: {answer:?}"
        );
        let entry = self.entry()?;
        ensure!(
            entry["verdict"]["kind"] == verdict && entry["ulw"]["enabled"] == false,
            "{entry}"
        );
        self.allows(fields)
    }

    /// The Stop is let through, and its user is told once that `omo stop` ended the run.
    pub fn is_told_of_stop(&self) -> Result<()> {
        let answer = self.stop(&json!({}))?;
        let line = answer
            .system_message()
            .with_context(|| format!("nothing was told: {answer:?}"))?;
        ensure!(line.starts_with("[omo] STOPPED by `omo stop`"), "{line}");
        self.allows(&json!({}))
    }

    /// The session's entry in the state.
    pub fn entry(&self) -> Result<Value> {
        let state = self.lab.state().context("no state that parses")?;
        Ok(state["sessions"][self.session.session()].clone())
    }

    /// How many blocks the state counts.
    pub fn blocks_counted(&self) -> Result<u64> {
        Ok(self.entry()?["ulw"]["stopBlocks"].as_u64().unwrap_or(0))
    }

    /// Writes values into the session's entry, each under its JSON pointer, as omo itself would have written them.
    pub fn edit(&self, values: &[(&str, Value)]) -> Result<()> {
        self.forge(values)?;
        self.seal()
    }

    /// As [`Scene::edit`], and as something else than omo does it: without a seal.
    pub fn forge(&self, values: &[(&str, Value)]) -> Result<()> {
        let mut state = self.lab.state().context("no state that parses")?;
        for (pointer, value) in values {
            let whole = format!("/sessions/{}{pointer}", self.session.session());
            *state
                .pointer_mut(&whole)
                .with_context(|| format!("no {whole}"))? = value.clone();
        }
        self.write_state(state.to_string().as_bytes())
    }

    /// Seals what stands in the session's entry, as if omo had written it.
    pub fn seal(&self) -> Result<()> {
        self.seal_all(&[SessionId::parse(self.session.session())?])
    }

    /// As [`Scene::seal`], of these sessions.
    pub fn seal_all(&self, ids: &[SessionId]) -> Result<()> {
        let folder = GuardedFolder::create_state(self.lab.project())?;
        let home = self.lab.home().join(".local/state");
        for id in ids {
            let written =
                state::peek(self.lab.project(), id)?.and_then(|session| session.updated_at);
            let now = written.unwrap_or_else(omo_state::env::now);
            let options = StateUpdateOptions {
                deadline: Duration::from_secs(3),
                corrupt: CorruptPolicy::Refuse,
                now,
                state_home: Some(&home),
            };
            state::update(&folder, id, options, |_| ((), EntryChange::Begin))?;
        }
        Ok(())
    }

    /// Puts bytes in the place of the state.
    pub fn write_state(&self, bytes: &[u8]) -> Result<()> {
        std::fs::create_dir_all(self.lab.state_folder())?;
        Ok(std::fs::write(self.state_file(), bytes)?)
    }

    /// The state of this session with an entry of omo's in it, around which text may stand. None is left.
    pub fn armed_text(&self) -> Result<String> {
        let ulw = json!({"enabled": true, "stopBlocks": 0, "startedAt": time_ago(60_000)});
        let entry = format!(
            "{{\"version\":1,\"sessions\":{{\"{}\":{{\"ulw\":{ulw}}}}}}}",
            self.session.session()
        );
        self.write_state(entry.as_bytes())?;
        self.seal()?;
        let text = std::fs::read_to_string(self.state_file())?;
        std::fs::remove_dir_all(self.lab.project().join(".sisyphus"))?;
        Ok(text.trim_end().to_owned())
    }

    /// Where the state is, once there is one.
    pub fn state_file(&self) -> PathBuf {
        self.lab.state_folder().join("runtime.local.json")
    }

    /// What the log says last, for messages.
    fn last_decision(&self) -> String {
        let last = self.lab.decisions().ok().and_then(|mut lines| lines.pop());
        last.map_or_else(|| "no decision".to_owned(), |line| line.to_string())
    }

    /// The names of the files in the state folder, sorted.
    pub fn state_file_names(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.lab.state_folder())
            .into_iter()
            .flatten()
            .flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// The hooks' own log.
    pub fn hooks_log(&self) -> String {
        std::fs::read_to_string(self.lab.state_folder().join("hooks.log")).unwrap_or_default()
    }
}

/// What holds of every run of a hook: status 0, nothing on stderr, no time run out, and one valid
/// answer or none.
pub fn require_sound(run: &HookRun) -> Result<HookAnswer> {
    ensure!(!run.timed_out, "the hook had to be ended");
    ensure!(run.status.success(), "{}: {}", run.status, run.stderr);
    ensure!(run.stderr.is_empty(), "on stderr: {}", run.stderr);
    let answer = run.answer()?;
    if let HookAnswer::Json(value) = &answer {
        let known = [
            "continue",
            "stopReason",
            "decision",
            "reason",
            "systemMessage",
            "terminalSequence",
            "hookSpecificOutput",
        ];
        let unknown: Vec<_> = value
            .as_object()
            .into_iter()
            .flatten()
            .filter(|(name, _)| !known.contains(&name.as_str()))
            .collect();
        ensure!(
            unknown.is_empty(),
            "fields that the client does not know: {unknown:?}"
        );
    }
    let told = [answer.reason(), answer.context(), answer.system_message()];
    let wrong: Vec<String> = told
        .into_iter()
        .flatten()
        .flat_map(wrong_commands)
        .collect();
    ensure!(wrong.is_empty(), "printed, and cannot be typed: {wrong:?}");
    Ok(answer)
}

/// Whether a line tells its user that a run ended so.
pub fn tells_end(line: &str, verdict: &str) -> bool {
    let heads: &[&str] = match verdict {
        "verified" => &["[omo] VERIFIED: ", "[omo] verified by review alone"],
        "blocked" => &["[omo] BLOCKED: "],
        "stopped" => &["[omo] STOPPED "],
        _ => &["[omo] NOT PROVED: "],
    };
    heads.iter().any(|head| line.starts_with(head))
}

/// Whether an answer is the contract of a run that is held.
pub fn is_contract(answer: &HookAnswer) -> bool {
    let is_held =
        |text: &str| text.starts_with("<ultrawork-mode>") && text.contains("is continued, at most");
    answer.context().is_some_and(is_held)
        && answer
            .system_message()
            .is_some_and(|line| line.starts_with("[omo] on"))
}

/// The time some milliseconds ago, as the state writes it.
pub fn time_ago(millis: i64) -> String {
    Timestamp::from_millis(omo_state::env::now().as_millis() - millis).to_string()
}

/// One case: its id, and how it is staged.
pub type Case = (&'static str, fn(&mut Scene) -> Result<()>);

/// Plays every case on a fixture of its own, and names those that went wrong.
#[track_caller]
pub fn play(cases: &[Case]) {
    let plugin = plugin();
    let played = |case: fn(&mut Scene) -> Result<()>| case(&mut Scene::new(&plugin)?);
    all_good(
        cases
            .iter()
            .map(|(id, case)| ((*id).to_owned(), played(*case))),
    );
}
