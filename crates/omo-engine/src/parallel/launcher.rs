//! The launcher that starts the workers of a run.

use omo_git::repository::GitRepository;
use omo_remote::launcher::ProfileLauncher;
use omo_state::env;

use crate::client_policy::ClientPolicy;
use crate::parallel::LaunchConfig;
use crate::work::Engine;

/// `None` for a run whose workers are clients on this machine.
pub(super) fn find_launcher(
    engine: &Engine,
    repository: &GitRepository,
    policy: &ClientPolicy,
    means: Option<&LaunchConfig>,
) -> Option<ProfileLauncher> {
    Some(ProfileLauncher {
        profile: policy.launcher_profile()?,
        time_limit_seconds: policy.time_limit_seconds(),
        root: engine.root.to_owned(),
        repository: repository.clone(),
        remote_name: policy.remote_name().to_owned(),
        variables: means.map_or_else(env::variables, |means| means.variables.clone()),
        address: String::new(),
        run: engine.run.id().to_owned(),
    })
}

/// Path of the log for a worker's output, such as `S2-worker-1.log`.
pub(super) fn log_path(engine: &Engine, group: &str, launch: u32) -> String {
    engine
        .run
        .log_path(&format!("{group}-worker-{launch}.log"))
        .display()
        .to_string()
}
