//! `omo doctor --live`: counts hook runs in trial sessions of the real client with a scripted
//! model.

mod cancel_watch;
mod events;
mod sandbox;
mod scripted_model;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use omo_claude::client::{ClaudeClient, HeadlessRequest};

use super::facts::{Client, Facts, ProgramKind, Scope, SeenHooks, Settings, count_commands};
use super::gather::Surroundings;
use cancel_watch::CancelWatch;
use sandbox::Sandbox;
use scripted_model::{Script, start_model};

const LIMIT: Duration = Duration::from_secs(120);

pub(super) fn watch_hooks(facts: &Facts, surroundings: &Surroundings) -> SeenHooks {
    try_hooks(facts, surroundings)
        .unwrap_or_else(|why| SeenHooks::Impossible(format!("not tried: {why}")))
}

fn try_hooks(facts: &Facts, surroundings: &Surroundings) -> Result<SeenHooks, String> {
    if let Some(file) = managed_model(&facts.settings) {
        return Err(format!(
            "{file} says which model every session talks to, and that cannot be changed for one"
        ));
    }
    let has_unbuilt = facts
        .hook_plugins
        .iter()
        .filter_map(|carrier| carrier.built.as_ref())
        .flat_map(|built| &built.programs)
        .any(|program| program.kind != ProgramKind::Binary);
    if has_unbuilt {
        return Err(
            "the launchers of the plugin would only begin to build what they run".to_owned(),
        );
    }
    // First, so that an interruption still removes the folders.
    let mut cancel = CancelWatch::new();
    let sandbox = Sandbox::build(facts, surroundings)?;
    let Client::Found { program, .. } = &facts.client else {
        return Err("there is no client to start".to_owned());
    };
    let place = program.parent().map(Path::to_owned);
    let claude = ClaudeClient::find(&place.into_iter().collect(), &sandbox.project)
        .map_err(|error| error.to_string())?;
    let whole = run_session(&claude, &sandbox, Script::Subagent, &mut cancel)?;
    let mut seen: BTreeMap<&'static str, Option<usize>> = BTreeMap::new();
    for event in ["SessionStart", "UserPromptSubmit", "SubagentStop", "Stop"] {
        seen.insert(
            event,
            Some(
                events::count_hook_runs(&whole, event)
                    .saturating_sub(managed_hooks(&facts.settings, event)),
            ),
        );
    }
    // The client reports these two in its log alone, and may end before: a missing run proves nothing.
    let ended = count_logged(&sandbox, "SessionEnd", "omo-session-end");
    seen.insert("SessionEnd", ended);
    run_session(&claude, &sandbox, Script::Refusal, &mut cancel)?;
    let failed = count_logged(&sandbox, "StopFailure", "omo-stop-failure");
    seen.insert("StopFailure", failed);
    Ok(SeenHooks::Seen(seen))
}

fn count_logged(sandbox: &Sandbox, event: &str, binary: &str) -> Option<usize> {
    Some(events::count_logged_hook_runs(
        &sandbox.log(),
        event,
        binary,
    ))
    .filter(|times| *times > 0)
}

fn run_session(
    claude: &ClaudeClient,
    sandbox: &Sandbox,
    script: Script,
    cancel: &mut CancelWatch,
) -> Result<String, String> {
    let model = start_model(script)?;
    let headless = HeadlessRequest {
        folder: &sandbox.project,
        variables: sandbox.variables(&model.url()),
        arguments: sandbox.arguments(),
    };
    let claude = claude.clone().with_limit(LIMIT / 2);
    let session = claude
        .run_headless(headless, || cancel.should_continue())
        .map_err(|error| error.to_string())?;
    if events::has_session_begun(&session.printed) {
        return Ok(session.printed);
    }
    Err(format!(
        "the session did not begin: {}",
        if session.complaint.is_empty() {
            "it printed nothing"
        } else {
            &session.complaint
        }
    ))
}

/// Number of hooks by the machine's administrator for an event; they run in every session.
fn managed_hooks(settings: &[Settings], event: &str) -> usize {
    let mut count = 0;
    for settings in settings
        .iter()
        .filter(|settings| settings.scope == Scope::Managed)
    {
        let hooks = settings.hooks();
        let ours = hooks.iter().filter(|hook| hook.event == event).count();
        let commands = settings
            .get("/hooks")
            .map_or(0, |hooks| count_commands(hooks, event));
        count += commands.saturating_sub(ours);
    }
    count
}

fn managed_model(settings: &[Settings]) -> Option<String> {
    let managed = settings
        .iter()
        .filter(|settings| settings.scope == Scope::Managed);
    let mut pointing = managed.filter(|settings| {
        settings
            .get("/env")
            .and_then(serde_json::Value::as_object)
            .is_some_and(|env| env.keys().any(|name| points_to_model(name)))
    });
    pointing
        .next()
        .map(|settings| settings.file.display().to_string())
}

fn points_to_model(variable: &str) -> bool {
    variable.starts_with("ANTHROPIC_")
        || variable.starts_with("CLAUDE_CODE_USE_")
        || variable.to_ascii_uppercase().ends_with("_PROXY")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn managed(value: serde_json::Value) -> Settings {
        Settings {
            scope: Scope::Managed,
            file: "/managed.json".into(),
            value: Ok(value),
        }
    }

    #[test]
    fn hooks_of_the_administrator_are_not_taken_for_ours() {
        let handlers = |commands: &[&str]| {
            let handlers: Vec<_> = commands
                .iter()
                .map(|command| json!({"command": command}))
                .collect();
            json!({"hooks": {"Stop": [{"hooks": handlers}]}})
        };
        for (commands, event, expected) in [
            (&["/x/audit", "/x/bin/omo-stop", "/y"][..], "Stop", 2),
            (&["/x/bin/omo-stop"], "Stop", 0),
            (&["/x/audit"], "SessionStart", 0),
        ] {
            assert_eq!(
                managed_hooks(&[managed(handlers(commands))], event),
                expected,
                "{commands:?}"
            );
        }
        let of_user = Settings {
            scope: Scope::User,
            ..managed(handlers(&["/x/audit"]))
        };
        assert_eq!(
            managed_hooks(&[of_user], "Stop"),
            0,
            "those are not in the session at all"
        );
    }

    #[test]
    fn where_the_administrator_names_the_model_no_session_is_started() {
        for (env, names_it) in [
            (json!({"ANTHROPIC_BASE_URL": "https://x"}), true),
            (json!({"CLAUDE_CODE_USE_BEDROCK": "1"}), true),
            (json!({"HTTPS_PROXY": "https://x"}), true),
            (json!({"LANG": "C"}), false),
        ] {
            assert_eq!(
                managed_model(&[managed(json!({"env": env}))]).is_some(),
                names_it,
                "{env}"
            );
        }
    }
}
