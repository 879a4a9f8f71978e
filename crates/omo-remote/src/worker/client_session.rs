//! The client of a worker, from its start to its end.

use std::path::Path;
use std::time::Duration;

use omo_claude::client_cost::{ClientCost, MAX_TURNS, time_limit_or_default};
use omo_claude::client_end::{ClientEnd, classify_end, told_cost};
use omo_claude::supervisor::minder::MinderSpec;
use omo_claude::supervisor::{Supervisor, SupervisorEvent};
use omo_claude::worker::{WorkerPermissions, WorkerSpec};
use omo_claude::worker_resources::find_free_ports;
use omo_claude::worker_settings::{FenceRules, RULES_VERSION};
use omo_claude::worker_settings::{WorkerSettings, rules_without_ledger};
use omo_core::text::sanitize;
use omo_git::remote::worker_clone::{PushStop, WorkerClone};
use omo_state::env;

use super::reporter::Reporter;
use super::{JobEnd, Step, Worker, rules};
use crate::exchange::WorkerBrief;

const POLL_INTERVAL: Duration = Duration::from_secs(1);
const PAUSE_AFTER_FAILURE: Duration = Duration::from_secs(30);
const SESSION: &str = "client";

/// Options of the client, whose prompt, fence and settings are written to the scratch folder.
pub(super) fn client_spec(
    worker: &Worker<'_>,
    clone: &WorkerClone,
    brief: &WorkerBrief,
    budget_micros: Option<u64>,
    done: &[String],
    client: &Path,
) -> Result<MinderSpec, String> {
    let (job, scratch) = (worker.job, worker.scratch);
    let permissions = if brief.skips_permissions {
        WorkerPermissions::All
    } else {
        WorkerPermissions::Listed(
            rules_without_ledger(&brief.allow).map_err(|error| error.to_string())?,
        )
    };
    let temp_folder = scratch.make_folder("tmp")?;
    let rules = FenceRules {
        version: RULES_VERSION,
        // Around the clone lie only the worker's own files.
        main_checkout: real_path(scratch.path()),
        writable: vec![real_path(&temp_folder)],
        readable: Vec::new(),
        never_touch: brief.never_touch.clone(),
    };
    let rules = serde_json::to_vec(&rules).map_err(|error| error.to_string())?;
    let rules = scratch.write("fence.json", &rules)?;
    let settings = WorkerSettings {
        program: &job.program,
        rules: &rules,
    }
    .to_json_without_ledger();
    let settings = settings.ok_or("the path of omo or of the scratch folder is not UTF-8")?;
    let settings = scratch.write("settings.json", settings.as_bytes())?;
    let prompt = scratch.write(
        "prompt.md",
        rules::prompt_with_progress(brief, done).as_bytes(),
    )?;
    let spec = WorkerSpec {
        port: find_free_ports(1)
            .ok()
            .and_then(|ports| ports.first().copied()),
        settings: Some(settings),
        max_turns: MAX_TURNS,
        max_budget_micros: budget_micros,
        permissions,
        model: brief.model.clone().filter(|model| !model.starts_with('-')),
        ..WorkerSpec::new(
            &brief.run,
            &brief.group,
            clone.top(),
            temp_folder,
            &job.program,
        )
    };
    let mut variables = spec.environment(job.variables.clone());
    for (name, value) in clone.commit_identity(&super::reporter::host_name()) {
        variables.retain(|(other, _)| other != name);
        variables.push((name.into(), value));
    }
    Ok(MinderSpec {
        program: client.to_owned(),
        arguments: spec.arguments(),
        folder: clone.top().to_owned(),
        variables,
        prompt,
        printed: scratch.path().join("printed.jsonl"),
        complaints: scratch.path().join("complaints"),
        timeout_millis: u64::from(time_limit_seconds(
            brief.time_limit_seconds,
            job.time_limit_seconds,
        )) * 1_000,
        is_interrupted_first: true,
    })
}

fn real_path(path: &Path) -> String {
    path.canonicalize()
        .unwrap_or_else(|_| path.to_owned())
        .display()
        .to_string()
}

/// The shorter time limit, in seconds; `0` as an option is none.
fn time_limit_seconds(brief: u32, option: Option<u32>) -> u32 {
    let time_limit = time_limit_or_default(brief);
    option
        .filter(|limit| *limit > 0)
        .map_or(time_limit, |limit| limit.min(time_limit))
}

/// Pushes what the client commits, until its end, or until a push says that the branch is no longer this worker's.
/// `cost_with` adds the client's reported cost to the worker's.
pub(super) fn follow_client(
    worker: &Worker<'_>,
    reporter: &mut Reporter,
    brief: &WorkerBrief,
    spec: MinderSpec,
    cost_with: impl FnOnce(Option<u64>) -> ClientCost,
) -> Step<ClientEnd> {
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session(SESSION, spec);
    let (mut stop, mut is_ending) = (None, false);
    let mut not_before = std::time::Instant::now();
    let (process, output) = loop {
        if let Some(SupervisorEvent::Ended {
            process,
            said: output,
            ..
        }) = supervisor.next_event(POLL_INTERVAL)
        {
            break (process, output);
        }
        if is_ending {
            worker.keep_unpushed(reporter);
            continue;
        }
        if (worker.is_asked_to_end)() {
            (worker.say)("it was asked to end: the client is ended");
            is_ending = true;
        } else if std::time::Instant::now() >= not_before {
            match worker.push_new_work(reporter, brief) {
                Ok(()) if reporter.is_replaced(std::time::Instant::now()) => {
                    (worker.say)(
                        "its branch is a later start's by now, or was removed: the client is ended",
                    );
                    stop = Some(PushStop::Superseded);
                    is_ending = true;
                }
                Ok(()) => {}
                Err(PushStop::Failed(why) | PushStop::Declined(why)) => {
                    (worker.say)(&format!(
                        "a push failed, and is tried again: {}",
                        sanitize(&why, 300)
                    ));
                    not_before = std::time::Instant::now() + PAUSE_AFTER_FAILURE;
                }
                Err(other) => {
                    stop = Some(other);
                    is_ending = true;
                }
            }
        }
        if is_ending {
            supervisor.end_session(SESSION);
        }
    };
    let end = classify_end(&process, &output, env::now());
    // Before any report of its end.
    reporter.cost = cost_with(told_cost(&end, &output));
    match stop {
        Some(PushStop::Superseded) => Err(JobEnd::Superseded),
        Some(PushStop::WorkRefused(why)) => worker.refused(reporter, &why).and_then(Err),
        Some(PushStop::Failed(_) | PushStop::Declined(_)) | None
            if (worker.is_asked_to_end)() && !rules::has_finished(&end) =>
        {
            Ok(ClientEnd::Stopped)
        }
        Some(PushStop::Failed(_) | PushStop::Declined(_)) | None => Ok(end),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shorter_limit_holds() {
        for (brief, option, expected) in [
            (0, None, time_limit_or_default(0)),
            (60, None, 60),
            (60, Some(30), 30),
            (60, Some(90), 60),
            (60, Some(0), 60),
        ] {
            assert_eq!(
                time_limit_seconds(brief, option),
                expected,
                "{brief} {option:?}"
            );
        }
    }
}
