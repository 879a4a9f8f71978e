//! `omo verify --last`: prints how the last run ended, and runs nothing.

use std::io::Write;

use omo_core::messages::run_end::run_ended;
use omo_core::session::VerdictKind;
use omo_core::stop::allowed_blocks;
use omo_state::env::ProcessEnv;
use serde_json::json;

use crate::error::CommandError;
use crate::last_run::{LastRun, changed_files, has_live_client};
use crate::repository_sessions::find_project;

pub(super) fn print_last(
    env: &ProcessEnv,
    session: Option<&str>,
    as_json: bool,
) -> Result<(), CommandError> {
    let project = find_project(env, session)?;
    let last = LastRun::find(env, &project)?;
    let changed = changed_files(env, &project, &last.id, &last.session);
    let (id, session) = (&last.id, &last.session);
    let verdict = session.verdict.as_ref();
    let ended = run_ended(session, allowed_blocks(session, env.client_block_cap));
    let is_proved = verdict.is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
    let state = if session.ulw.paused.is_some() {
        "paused"
    } else {
        "on"
    };
    let go_on = match (has_live_client(session), &session.ulw.paused) {
        (false, _) => format!("`claude --resume {id}` goes on with it"),
        (true, Some(_)) => "`ulw` in its session goes on with it".to_owned(),
        (true, None) => format!("its session is open: `omo watch --session {id}` shows it"),
    };
    let text = ended.unwrap_or_else(|| {
        format!("[omo] NOT PROVED: the run has not ended, it is {state}\n{go_on}")
    });
    let mut out = anstream::stdout().lock();
    if as_json {
        let report = json!({
            "session": id,
            "proved": is_proved,
            "verdict": verdict.map(|verdict| verdict.kind),
            "endedAt": verdict.map(|verdict| verdict.at),
            "said": text,
            "filesChanged": changed.is_some(),
            "changed": changed,
            "checks": session.checks,
        });
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&report).unwrap_or_default()
        )?;
    } else {
        writeln!(out, "{text}\nsession: {id}")?;
    }
    if let Some(changed) = changed {
        return Err(CommandError::not_green(
            format!("verified; {changed}"),
            "`omo verify` runs its checks on the current files",
        ));
    }
    if is_proved {
        return Ok(());
    }
    Err(CommandError::not_green(
        "the last run has not proved its work",
        "`omo report --last` shows all that was found",
    ))
}
