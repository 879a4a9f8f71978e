//! Output of a group's worker, as its scheduler has it.

use omo_core::text::sanitize;
use omo_git::repository::GitRepository;
use omo_plan::plan_summary::SESSION_PREFIX;
use omo_plan::refusal::{VerbRefusal, VerbRefusalKind};
use omo_remote::job::{JobValues, job_name};
use omo_remote::launcher::Launcher;

use crate::modes::parallel::WORKER_PREFIX;
use crate::parallel::launcher::{find_launcher, log_path};
use crate::parallel::remote_branches::count_launches;
use crate::state::RunState;
use crate::work::Engine;

/// Output of the last worker of a group (`name`: its id, `S2`, or `2`), or the reason why its launcher has none.
pub fn read_worker_log(
    engine: &Engine,
    state: &RunState,
    name: &str,
) -> Result<Result<String, String>, VerbRefusal> {
    let groups = || state.plan.groups.iter().map(|group| group.id.as_str());
    let number = |id: &str| {
        id.strip_prefix(SESSION_PREFIX)
            .or_else(|| id.strip_prefix(WORKER_PREFIX))
            .map(str::to_owned)
    };
    let is_meant = |id: &str| {
        id == name
            || number(id).is_some_and(|number| name == number || name == format!("S{number}"))
    };
    let unknown = || {
        let known: Vec<String> = groups().map(|id| sanitize(id, 40)).collect();
        let message = format!("no worker of this run is called {}", sanitize(name, 60));
        VerbRefusal::new(
            VerbRefusalKind::NotFound,
            message,
            format!("there are {}", known.join(", ")),
        )
    };
    let group = groups().find(|id| is_meant(id)).ok_or_else(unknown)?;
    let repository = GitRepository::find(engine.root);
    let launcher = state.parallel.as_ref().zip(repository.as_ref());
    let launcher =
        launcher.and_then(|(parallel, found)| find_launcher(engine, found, &parallel.policy, None));
    let no_launcher = || {
        VerbRefusal::new(
            VerbRefusalKind::Precondition,
            "the workers of this run were not handed to a launcher of your config.toml",
            "`omo run show` says what their checks printed; `omo report --html` has their logs",
        )
    };
    let launcher = launcher
        .filter(|launcher| !launcher.profile.is_attached())
        .ok_or_else(no_launcher)?;
    let launch = count_launches(engine.run, group);
    if launch == 0 {
        let hint = "`omo run watch` shows when one is";
        return Err(VerbRefusal::new(
            VerbRefusalKind::NotFound,
            "no worker was handed over for it yet",
            hint,
        ));
    }
    let values = JobValues {
        job: job_name(engine.run.id(), group, launch),
        group: group.to_owned(),
        log: log_path(engine, group, launch),
        ..JobValues::default()
    };
    let no_command = || {
        let launcher = &launcher.profile.name;
        VerbRefusal::new(
            VerbRefusalKind::Precondition,
            format!("the launcher {launcher} has no command `logs`"),
            format!(
                "set `logs` of [launcher.{launcher}] in your config.toml, for runs that begin later"
            ),
        )
    };
    launcher.logs(&values).ok_or_else(no_command)
}
