//! `omo agent fence`: a `PreToolUse` hook that denies a worker each write, command or subagent that
//! the rules of its group forbid. Unreadable input is denied only in a session that omo started for
//! a group.

mod resolve_path;

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use clap::Args;
use omo_claude::hook_input::{LossyText, stdin};
use omo_engine::fence::{FenceRefusal, FenceRules, RULES_VERSION, ToolAction, WorktreeFence};
use omo_process::watchdog;
use omo_state::env::{self, ProcessEnv};
use omo_state::files::regular_file;
use serde::Deserialize;
use serde_json::json;

const HELP: &str = "\
Example:
  omo agent fence --rules fence.json < asked.json

It prints why a session that works on one group of a plan may not do that, and
nothing where it may. Only the sessions that omo starts have it asked.";

/// Answer what Claude Code asks before a worker does something
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct FenceOptions {
    /// The rules of the session, as omo wrote them down when it started it
    #[arg(long, value_name = "FILE")]
    pub rules: Option<std::path::PathBuf>,
}

const MAX_BYTES: u64 = 1024 * 1024;

/// Reads the options in the exact form of a session's settings. Any other form goes through clap.
pub(crate) fn options_without_clap(
    mut arguments: impl Iterator<Item = OsString>,
) -> Option<FenceOptions> {
    if arguments.next()? != "agent" || arguments.next()? != "fence" {
        return None;
    }
    match arguments.next() {
        Some(option) if option == "--rules" => Some(FenceOptions {
            rules: arguments.next().map(PathBuf::from),
        }),
        _ => None,
    }
}

#[derive(Deserialize)]
struct Input {
    tool_name: LossyText,
    #[serde(default, rename = "tool_input")]
    asked: ToolInput,
    cwd: Option<LossyText>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct ToolInput {
    file_path: Option<LossyText>,
    notebook_path: Option<LossyText>,
    command: Option<LossyText>,
    isolation: Option<LossyText>,
}

pub(crate) fn run(options: &FenceOptions) {
    let is_of_a_group = ProcessEnv::from_process().worker.is_some();
    let unclear =
        FenceRefusal::Unclear("what is asked cannot be read, or the rules of this session");
    let otherwise = is_of_a_group.then(|| unclear.to_string());
    // A fence that crashes must not let the call through.
    let last = otherwise.clone();
    std::panic::set_hook(Box::new(move |_| {
        last.as_deref().into_iter().for_each(deny);
        watchdog::exit_hook();
    }));
    let reason = match judge_tool_call(options) {
        Some(judged) => judged.err().map(|refusal| refusal.to_string()),
        None => otherwise,
    };
    reason.as_deref().into_iter().for_each(deny);
}

/// Prints a refusal in the client's format. A closed pipe is ignored.
fn deny(reason: &str) {
    let answer = json!({
        "hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        },
    });
    let _ = std::io::Write::write_all(&mut std::io::stdout(), format!("{answer}\n").as_bytes());
}

fn judge_tool_call(options: &FenceOptions) -> Option<Result<(), FenceRefusal>> {
    let input = stdin::read_json().ok()?;
    let input = input.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&input);
    // serde would accept an array as a struct, by position.
    let input: Input = input
        .trim_ascii_start()
        .starts_with(b"{")
        .then(|| serde_json::from_slice(input).ok())??;
    let ToolInput {
        file_path,
        notebook_path,
        command,
        isolation,
    } = &input.asked;
    let deed = match &*input.tool_name {
        "Write" | "Edit" | "MultiEdit" => ToolAction::Write(file_path.as_deref()?),
        "NotebookEdit" => ToolAction::Write(notebook_path.as_deref()?),
        "Bash" => ToolAction::Run(command.as_deref()?),
        "Agent" | "Task" if isolation.is_some() => ToolAction::SpawnAgent,
        _ => return Some(Ok(())),
    };
    let rules = read_rules(options.rules.as_deref()?)?;
    let root = resolve_path::resolve_path(&env::worker_root()?)?;
    let home = env::home().and_then(|home| resolve_path::resolve_path(&home));
    let fence = WorktreeFence {
        root: &root,
        rules: &rules,
        home: home.as_deref(),
    };
    let refusal = fence.refusal(deed, input.cwd.as_deref(), &|path| {
        resolve_path::resolve_path(Path::new(path))
    });
    Some(refusal.map_or(Ok(()), Err))
}

fn read_rules(path: &Path) -> Option<FenceRules> {
    let mut bytes = Vec::new();
    regular_file::open(path)
        .ok()??
        .take(MAX_BYTES)
        .read_to_end(&mut bytes)
        .ok()?;
    serde_json::from_slice(&bytes)
        .ok()
        .filter(|rules: &FenceRules| rules.version == RULES_VERSION)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_a_session_asks_is_taken_from_clap() {
        let rules_of = |line: &str| {
            options_without_clap(line.split(' ').map(OsString::from)).map(|options| options.rules)
        };
        assert_eq!(
            rules_of("agent fence --rules /r x"),
            Some(Some(PathBuf::from("/r")))
        );
        assert_eq!(rules_of("agent fence --rules"), Some(None));
        assert_eq!(rules_of("agent fence --help"), None);
        assert_eq!(rules_of("agent fences --rules /r"), None);
    }
}
