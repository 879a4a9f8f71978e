//! Output of a worker on another machine, read by the `logs` command of its launcher.

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
    let groups = &state.plan.groups;
    let group = groups
        .iter()
        .map(|group| group.id.as_str())
        .find(|id| is_called(id, name))
        .ok_or_else(|| {
            let known: Vec<String> = groups.iter().map(|group| sanitize(&group.id, 40)).collect();
            VerbRefusal::new(
                VerbRefusalKind::NotFound,
                format!("no worker of this run is called {}", sanitize(name, 60)),
                format!("there are {}", known.join(", ")),
            )
        })?;
    let repository = GitRepository::find(engine.root);
    let launcher = state.parallel.as_ref().zip(repository.as_ref());
    let launcher =
        launcher.and_then(|(parallel, found)| find_launcher(engine, found, &parallel.policy, None));
    let launcher = launcher
        .filter(|launcher| !launcher.profile.is_attached())
        .ok_or_else(|| {
            VerbRefusal::precondition(
                "the workers of this run were not handed to a launcher of your config.toml",
                "`omo run show` says what their checks printed; `omo report --html` has their logs",
            )
        })?;
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
    launcher.logs(&values).ok_or_else(|| {
        let launcher = &launcher.profile.name;
        VerbRefusal::precondition(
            format!("the launcher {launcher} has no command `logs`"),
            format!(
                "set `logs` of [launcher.{launcher}] in your config.toml, for runs that begin later"
            ),
        )
    })
}

fn is_called(group: &str, name: &str) -> bool {
    let number = group
        .strip_prefix(SESSION_PREFIX)
        .or_else(|| group.strip_prefix(WORKER_PREFIX));
    group == name
        || number.is_some_and(|number| name == number || name.strip_prefix('S') == Some(number))
}
