//! Runs one check of a plan in a shell with `pipefail`, and compares its end with the expected one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::task_check::{
    ObservedResult, TaskCheck, TaskCheckOutcome, TaskCheckVerdict, has_pipe, judge_task_check,
};
use omo_process::environment::CheckEnvironment;
use omo_process::job::{self, CommandJob};
use omo_process::keeper::TaskCheckSpec;
use omo_process::platform::bash;

/// Open log file for the output of a check.
#[derive(Debug)]
pub struct CheckLog {
    pub path: PathBuf,
    pub file: File,
}

/// Runs `check` to its end, in a project whose top is `root`; `None` for a cancelled one.
///
/// `goes_on` is asked all the while; `false` ends the check with all its processes. The calling
/// binary is its own keeper: see [`omo_process::keeper::run_if_asked`].
pub fn run(
    check: &TaskCheck,
    root: &Path,
    environment: &CheckEnvironment,
    log: Option<CheckLog>,
    goes_on: impl FnMut() -> bool,
) -> Option<TaskCheckOutcome> {
    let setting = environment.task_check_setting(check, root);
    if let Some(why) = check.invalid_reason() {
        return Some(refused_outcome(why, setting));
    }
    let bash = bash(environment.search(), root);
    let (has_pipe, tells_all) = (has_pipe(&check.command), bash.is_some());
    let (path, file) = log.map(|log| (log.path, log.file)).unzip();
    let job = CommandJob {
        run: check.command.clone(),
        folder: check
            .cwd
            .as_ref()
            .map_or_else(|| root.to_owned(), |folder| root.join(folder)),
        timeout: Duration::from_secs(check.effective_timeout().into()),
        interrupt_grace: Duration::ZERO,
        variables: environment.variables_for_task_check(),
        log: file,
        check: Some(TaskCheckSpec {
            bash,
            text: check.expect.stdout_has.clone(),
        }),
    };
    let outcome = job::run(job, goes_on);
    let end = outcome.end?;
    let exit = end.status();
    let seen = ObservedResult {
        end,
        counts: outcome.tests.counts,
        heard: outcome.heard,
        pipefail_matters: has_pipe && tells_all,
    };
    let (verdict, detail) = judge_task_check(&check.expect, &seen);
    Some(TaskCheckOutcome {
        verdict,
        detail,
        exit,
        took_millis: u64::try_from(outcome.took.as_millis()).unwrap_or(u64::MAX),
        printed: seen.heard.printed,
        log: path,
        counts: seen.counts,
        has_pipe_without_pipefail: has_pipe && !tells_all,
        setting,
    })
}

fn refused_outcome(why: String, setting: String) -> TaskCheckOutcome {
    TaskCheckOutcome {
        verdict: TaskCheckVerdict::Environment { command: None },
        detail: why,
        exit: None,
        took_millis: 0,
        printed: PrintedOutput::default(),
        log: None,
        counts: None,
        has_pipe_without_pipefail: false,
        setting,
    }
}
