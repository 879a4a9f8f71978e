//! Gathering of the `Facts` that `omo doctor` judges. Writes nothing, and starts only the client
//! and git. File contents are untrusted, and read up to a bound.

mod client_settings;
mod files;
mod goals;
pub(super) mod installation;
mod project_folder;
mod project_state;
mod user_folder;

use std::path::PathBuf;

use omo_state::config::UserConfig;
use omo_state::env::{self, ProcessEnv};

use super::facts::{Facts, SeenHooks};

pub(super) struct Surroundings {
    variables: Vec<(std::ffi::OsString, std::ffi::OsString)>,
    pub home: Option<PathBuf>,
    pub client_home: Option<PathBuf>,
    pub plugin_home: Option<PathBuf>,
}

impl Surroundings {
    pub(super) fn from_process() -> Self {
        let mut surroundings = Self {
            variables: env::variables(),
            home: None,
            client_home: None,
            plugin_home: None,
        };
        surroundings.home = std::env::home_dir().filter(|home| home.is_absolute());
        surroundings.client_home = surroundings
            .path("CLAUDE_CONFIG_DIR")
            .or_else(|| Some(surroundings.home.as_ref()?.join(".claude")));
        surroundings.plugin_home = surroundings
            .path("CLAUDE_CODE_PLUGIN_CACHE_DIR")
            .or_else(|| Some(surroundings.client_home.as_ref()?.join("plugins")));
        surroundings
    }

    pub(super) fn text(&self, name: &str) -> Option<String> {
        let found = self
            .variables
            .iter()
            .find(|(known, value)| known == name && !value.is_empty());
        found.map(|(_, value)| value.to_string_lossy().into_owned())
    }

    fn path(&self, name: &str) -> Option<PathBuf> {
        self.text(name)
            .map(PathBuf::from)
            .filter(|path| path.is_absolute())
    }
}

pub(super) fn gather_facts(
    env: &ProcessEnv,
    config: &UserConfig,
    surroundings: &Surroundings,
) -> Facts {
    let place = project_folder::gather_project_folder(env, surroundings);
    let root = place.root.clone();
    let (state, armed) = project_state::gather_state(root.as_deref());
    let (client, plugins) =
        installation::gather_client(root.as_deref(), surroundings.home.as_deref());
    let carriers = installation::hook_plugins(
        plugins.as_deref().unwrap_or_default(),
        surroundings.plugin_home.as_deref(),
    );
    Facts {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        client,
        plugins,
        hook_plugins: carriers,
        own_plugin: installation::own_plugin(),
        settings: client_settings::gather_settings(
            surroundings.client_home.as_deref(),
            root.as_deref(),
        ),
        disable: surroundings.text("OMO_DISABLE"),
        block_cap: surroundings.text("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP"),
        max_blocks: config.limits.max_blocks,
        is_without_keyword: config.keywords.words().is_empty(),
        traces: project_state::other_loop_traces(root.as_deref()),
        goals: goals::gather_goals(
            surroundings.client_home.as_deref(),
            root.as_deref(),
            &armed,
            env.now,
        ),
        git: project_state::gather_git(root.as_deref(), &state),
        errors: project_state::hook_errors(root.as_deref(), env.now),
        state,
        user_folder: user_folder::gather_user_folder(env.state_home.as_deref()),
        config: (
            env.config_file.clone(),
            config.problems.iter().map(ToString::to_string).collect(),
        ),
        feedback: config.feedback,
        repository_checks: project_state::gather_repository_checks(
            root.as_deref(),
            env.state_home.as_deref(),
        ),
        project: place,
        live: SeenHooks::NotTried,
    }
}
