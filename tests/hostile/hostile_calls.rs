//! Everything that is asked of the hooks and of `omo` in a hostile place.

use std::path::Path;

use anyhow::{Context, Result, ensure};
use omo_core::session::id::SessionId;
use omo_state::state::MAX_BYTES;
use omo_state::state::document::StateDocument;
use omo_tests::claim_scene::DONE;
use omo_tests::scene::Scene;
use serde_json::{Value, json};

use crate::program_run::{Call, Run};

/// What is asked: its name, the binary, its arguments, and the input of a hook.
pub(crate) struct Ask {
    /// The name, for messages.
    pub name: &'static str,
    binary: &'static str,
    arguments: &'static [&'static str],
    input: Option<fn(&Scene) -> Result<String>>,
}

impl Ask {
    const fn hook(
        name: &'static str,
        binary: &'static str,
        input: fn(&Scene) -> Result<String>,
    ) -> Self {
        Self {
            name,
            binary,
            arguments: &[],
            input: Some(input),
        }
    }

    const fn omo(name: &'static str, arguments: &'static [&'static str]) -> Self {
        Self {
            name,
            binary: "omo",
            arguments,
            input: None,
        }
    }

    /// It is a hook's.
    pub(crate) fn is_hook(&self) -> bool {
        self.input.is_some()
    }

    /// It is a Stop.
    pub(crate) fn is_stop(&self) -> bool {
        self.binary == "omo-stop"
    }

    /// How large its program is, in KiB.
    pub(crate) fn program_kib(&self, plugin: &Path) -> u64 {
        std::fs::metadata(plugin.join("bin").join(self.binary))
            .map_or(0, |program| program.len() / 1024)
    }

    /// Asks a hook with some fields of its input set to other texts.
    pub(crate) fn run_with_fields(&self, scene: &Scene, fields: &[(&str, String)]) -> Result<Run> {
        let input = self.input.context("no hook")?(scene)?;
        let mut input: Value = serde_json::from_str(&input)?;
        for (name, text) in fields {
            input[*name] = json!(text);
        }
        Call::hook(self.binary, &input.to_string()).run(scene)
    }

    /// Asks it, and sees to what holds of every answer: it is sound, and a block is counted.
    pub(crate) fn run(&self, scene: &Scene) -> Result<Run> {
        self.run_after(scene, "")
    }

    /// What is run for it.
    pub(crate) fn to_program_call(&self, scene: &Scene) -> Result<Call<'_>> {
        match self.input {
            Some(input) => Ok(Call::hook(self.binary, &input(scene)?)),
            None => Ok(Call::omo(self.arguments)),
        }
    }

    /// As [`Ask::of`], after a shell did something.
    pub(crate) fn run_after(&self, scene: &Scene, setup: &str) -> Result<Run> {
        let before = counted(scene);
        let run = Call {
            setup,
            ..self.to_program_call(scene)?
        }
        .run(scene)?;
        run.require_sound()?;
        if self.is_stop() && run.blocks() {
            let after = counted(scene).context("a block, and no state that counts it")?;
            ensure!(
                after == before.unwrap_or(0) + 1,
                "a block, and {after} counted after {before:?}"
            );
            ensure!(after <= 100, "{after} blocks");
        }
        Ok(run)
    }
}

/// How many blocks of the session the next hook would find counted; `None` where there is no state
/// that it could read.
fn counted(scene: &Scene) -> Option<u32> {
    let path = scene.state_file();
    let meta = path.symlink_metadata().ok()?;
    let bytes = (meta.is_file() && meta.len() <= MAX_BYTES).then(|| std::fs::read(path).ok())??;
    let id = SessionId::parse(scene.session.session()).ok()?;
    Some(
        StateDocument::parse(&bytes)
            .ok()?
            .session(&id)
            .ok()??
            .ulw
            .stop_blocks,
    )
}

fn prompt(scene: &Scene, text: &str) -> Result<String> {
    let fields = json!({"prompt_id": scene.session.prompt_id(), "permission_mode": "default", "prompt": text});
    scene.input("UserPromptSubmit", &fields, &json!({}))
}

fn subagent(scene: &Scene) -> Result<String> {
    let fields = json!({
        "agent_id": "a1", "agent_type": "omo:oracle", "stop_hook_active": false,
        "last_assistant_message": "<promise>VERIFIED</promise>",
    });
    scene.input("SubagentStop", &fields, &json!({}))
}

/// A plain Stop.
pub(crate) const STOP: Ask = Ask::hook("Stop", "omo-stop", |s| s.stop_input(&json!({})));
/// A Stop with a claim.
pub(crate) const CLAIM: Ask = Ask::hook("a claim", "omo-stop", |s| {
    s.stop_input(&json!({"last_assistant_message": DONE}))
});
/// A prompt that asks for nothing.
pub(crate) const PROMPT: Ask =
    Ask::hook("a prompt", "omo-user-prompt-submit", |s| prompt(s, "go on"));
/// A prompt that turns ultrawork on.
pub(crate) const ULW: Ask = Ask::hook("ulw", "omo-user-prompt-submit", |s| {
    prompt(s, "ulw fix the tests")
});
/// The session starts again.
pub(crate) const START: Ask = Ask::hook("SessionStart", "omo-session-start", |s| {
    s.input("SessionStart", &json!({"source": "resume"}), &json!({}))
});
/// The session ends.
pub(crate) const END: Ask = Ask::hook("SessionEnd", "omo-session-end", |s| {
    s.input("SessionEnd", &json!({"reason": "other"}), &json!({}))
});
/// A reviewer ends.
pub(crate) const SUBAGENT: Ask = Ask::hook("SubagentStop", "omo-subagent-stop", subagent);
/// A turn ends in an error.
pub(crate) const FAILURE: Ask = Ask::hook("StopFailure", "omo-stop-failure", |s| {
    s.input("StopFailure", &json!({"error": "rate_limit"}), &json!({}))
});
/// `omo status`.
pub(crate) const STATUS: Ask = Ask::omo("omo status", &["status"]);
/// `omo log`.
pub(crate) const LOG: Ask = Ask::omo("omo log", &["log"]);
/// `omo stop --all`.
pub(crate) const STOP_ALL: Ask = Ask::omo("omo stop --all", &["stop", "--all"]);

/// What judges, from a prompt.
pub(crate) const LIST: Ask = Ask::hook("/omo:check list", "omo-user-prompt-submit", |s| {
    prompt(s, "/omo:check list")
});
const APPROVE: Ask = Ask::hook("/omo:check approve", "omo-user-prompt-submit", |s| {
    prompt(s, "/omo:check approve")
});
/// What judges, from a terminal.
pub(crate) const OMO_LIST: Ask = Ask::omo("omo check list", &["check", "list"]);
const OMO_TRUST: Ask = Ask::omo("omo check approve", &["check", "approve", "--digest", "x"]);
const OMO_ON: Ask = Ask::omo("omo ulw on", &["ulw", "on"]);
/// The checks are run.
pub(crate) const VERIFY: Ask = Ask::omo("omo verify", &["verify"]);
/// The way out: a prompt that no model reads.
const WAY_OUT: Ask = Ask::hook("/omo:stop-continuation", "omo-user-prompt-submit", |s| {
    prompt(s, "/omo:stop-continuation")
});

/// All of it, in an order in which a run stays on for as long as it can.
pub(crate) const ALL: [Ask; 21] = [
    START,
    PROMPT,
    Ask::hook("/omo:status", "omo-user-prompt-submit", |s| {
        prompt(s, "/omo:status")
    }),
    LIST,
    APPROVE,
    STATUS,
    LOG,
    OMO_LIST,
    Ask::omo("omo check add", &["check", "add", "--digest", "x", "true"]),
    OMO_TRUST,
    STOP,
    SUBAGENT,
    FAILURE,
    VERIFY,
    CLAIM,
    ULW,
    Ask::omo("omo blocked", &["blocked", "it cannot be done"]),
    END,
    STOP_ALL,
    OMO_ON,
    WAY_OUT,
];

/// What looks at the files of the worktree, and at what omo keeps of them.
pub(crate) const CLAIMING: [Ask; 7] = [LIST, APPROVE, OMO_TRUST, VERIFY, CLAIM, ULW, CLAIM];

/// What looks at them and starts no git.
pub(crate) const WITHOUT_GIT: [Ask; 4] = [LIST, OMO_LIST, ULW, STOP_ALL];
