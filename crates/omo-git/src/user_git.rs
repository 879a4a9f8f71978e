//! Calls of git with the user's identity, settings and hooks, through a keeper process that ends a hook that hangs.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_core::check::session_check::CheckEnd;
use omo_core::git_variables::is_setting_variable;
use omo_process::environment::CheckEnvironment;
use omo_process::job::{self, CommandJob, CommandOutcome};
use omo_process::platform::{IN_PLACE_OF_SHELL, shell_variable};
use omo_state::env;

use crate::git_command::{git_program, one_line};
use crate::git_output::lossy_text;
use crate::git_settings::{GitSettings, commit_variables, is_remembered, user_variables};
use crate::platform::may_be_run;
use crate::repository::{GitFailed, GitRepository, trimmed_line};

/// Pattern of the settings of hooks, signatures and identity; others may hold passwords.
const REMEMBERED: &str = "^(core[.]hookspath|commit[.]gpgsign|gpg[.].*|user[.](signingkey|name|email)|safe[.]directory)$";
/// Name that git gives to the scope of settings from the environment and `-c`.
const ENVIRONMENT_SCOPE: &str = "command";

/// Time for an interrupted hook to restore changes that it has stashed.
const HOOK_GRACE: Duration = Duration::from_secs(5);

/// Calls of git as its user; the calling binary is also the keeper: see [`omo_process::keeper::run_if_asked`].
#[derive(Clone, Copy, Debug)]
pub struct UserGit<'a> {
    pub environment: &'a CheckEnvironment,
    /// Settings of the user's environment at the run's start.
    pub settings: &'a GitSettings,
    /// Maximum time of a call with its hooks.
    pub limit: Duration,
}

impl UserGit<'_> {
    /// Runs git with the shell text `words` and additional `variables`, as long as `is_wanted` returns `true`.
    pub(crate) fn run(
        &self,
        git: PathBuf,
        folder: &Path,
        words: &str,
        variables: Vec<(&str, OsString)>,
        is_wanted: impl FnMut() -> bool,
    ) -> CommandOutcome {
        // git's maintenance would outlive the commit, in a work tree that may be about to be removed.
        let settings = self.settings.as_options();
        let options: Vec<String> = settings
            .iter()
            .map(|(name, _)| format!("-c {}", shell_variable(name)))
            .collect();
        let (git_name, options) = (shell_variable("OMO_GIT"), options.join(" "));
        let run =
            format!("{IN_PLACE_OF_SHELL}{git_name} -c maintenance.auto=false {options} {words}");
        let inherited = self
            .settings
            .with_hook_variables(self.environment.variables_for_task_check());
        let mut call_variables = commit_variables(inherited);
        call_variables.extend(
            settings
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let own = [
            ("OMO_GIT", git.into_os_string()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
        ];
        call_variables.extend(
            own.into_iter()
                .chain(variables)
                .map(|(name, value)| (name.into(), value)),
        );
        // In a work tree that loses its `.git` meanwhile, git must not find the repository around it.
        call_variables.extend(folder.parent().map(|above| {
            (
                "GIT_CEILING_DIRECTORIES".into(),
                above.as_os_str().to_owned(),
            )
        }));
        let job = CommandJob {
            run,
            folder: folder.to_owned(),
            timeout: self.limit,
            interrupt_grace: HOOK_GRACE,
            variables: call_variables,
            log: None,
            check: None,
        };
        job::run(job, is_wanted)
    }

    /// [`UserGit::run`] in a work tree, with git's own output as the error.
    pub(crate) fn run_in(
        &self,
        repository: &GitRepository,
        words: &str,
        variables: Vec<(&str, OsString)>,
        is_wanted: impl FnMut() -> bool,
    ) -> Result<(), String> {
        let Some(git) = git_program(repository.top()) else {
            return Err("there is no git in PATH".to_owned());
        };
        let outcome = self.run(git, repository.top(), words, variables, is_wanted);
        let output = one_line(&outcome.tail);
        match outcome.end {
            Some(CheckEnd::Exited(0)) => Ok(()),
            Some(CheckEnd::Exited(status)) if output.is_empty() => {
                Err(format!("exit status {status}"))
            }
            Some(CheckEnd::Exited(_)) => Err(output),
            Some(CheckEnd::TimedOut(seconds)) => Err(format!("it took longer than {seconds} s")),
            Some(CheckEnd::Killed(signal)) => Err(format!("it was ended by signal {signal}")),
            Some(CheckEnd::NotStarted(why)) => Err(why),
            None => Err("it was ended".to_owned()),
        }
    }
}

/// Value of `core.hooksPath`; a relative one counts from the top of each work tree.
pub(crate) fn hooks_setting(repository: &GitRepository) -> Result<Option<PathBuf>, GitFailed> {
    let hooks_path = listed_settings(repository, "^core[.]hookspath$")?.pop();
    Ok(hooks_path
        .map(|setting| setting.value)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from))
}

pub(crate) fn hooks_folder(repository: &GitRepository) -> Result<PathBuf, GitFailed> {
    let folder = hooks_setting(repository)?.map(|folder| repository.top().join(folder));
    Ok(folder.unwrap_or_else(|| repository.common().join("hooks")))
}

pub(crate) fn present_hooks(folder: &Path, names: &[&'static str]) -> Vec<&'static str> {
    names
        .iter()
        .copied()
        .filter(|name| {
            let meta = folder.join(name).metadata();
            meta.is_ok_and(|meta| meta.is_file() && may_be_run(&meta))
        })
        .collect()
}

/// Hook that git runs before a branch moves.
pub const REFERENCE_HOOK: &str = "reference-transaction";

/// Hooks that can refuse a commit.
pub(crate) const COMMIT_HOOKS: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];

/// `true` where a commit runs a hook, such as `pre-commit`.
pub fn has_commit_hooks(repository: &GitRepository) -> Result<bool, GitFailed> {
    let hooks = [&COMMIT_HOOKS[..], &["post-commit", REFERENCE_HOOK]].concat();
    Ok(!present_hooks(&hooks_folder(repository)?, &hooks).is_empty())
}

/// Value of `commit.gpgSign`.
pub fn signs_commits(repository: &GitRepository) -> Result<bool, GitFailed> {
    is_set(repository, "commit.gpgSign")
}

pub(crate) fn is_set(repository: &GitRepository, name: &str) -> Result<bool, GitFailed> {
    let output = user_setting(repository, &["config", "--type=bool", "--get", name])?;
    Ok(trimmed_line(&output) == "true")
}

/// Output of `git config` with the user's own settings; empty for a missing one.
pub(crate) fn user_setting(
    repository: &GitRepository,
    arguments: &[&str],
) -> Result<Vec<u8>, GitFailed> {
    match repository.answer_user(arguments)? {
        (0, output) => Ok(output),
        (1, _) => Ok(Vec::new()),
        _ => Err(repository.failure_of(arguments)),
    }
}

impl GitSettings {
    /// Settings of this process's environment that commits obey.
    pub fn from_environment(repository: &GitRepository) -> Result<Self, GitFailed> {
        let settings = listed_settings(repository, REMEMBERED)?
            .into_iter()
            .filter(|setting| setting.scope == ENVIRONMENT_SCOPE);
        let variables = env::variables()
            .into_iter()
            .filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?)))
            .filter(|(name, _)| is_remembered(name));
        Ok(Self(
            settings
                .map(|setting| (setting.name, setting.value))
                .chain(variables)
                .collect(),
        ))
    }

    /// These settings over those of a checkout's files, which may differ by work tree (`config.worktree`, `includeIf`).
    pub fn over_files_of(&self, checkout: &GitRepository) -> Result<Self, GitFailed> {
        let of_files =
            listed_settings(&checkout.clone().obeying(&Self::default()), REMEMBERED)?.into_iter();
        let of_files = of_files.map(|setting| (setting.name, setting.value));
        Ok(Self(of_files.chain(self.0.iter().cloned()).collect()))
    }

    /// Variables that git refuses, such as a `GIT_CONFIG_COUNT` that is no number.
    pub fn refused_variables(repository: &GitRepository) -> Vec<String> {
        let own_files = repository.clone().obeying(&Self::default());
        if listed_settings(repository, REMEMBERED).is_ok()
            || listed_settings(&own_files, REMEMBERED).is_err()
        {
            return Vec::new();
        }
        user_variables(None)
            .into_iter()
            .map(|(name, _)| name)
            .filter(|name| is_setting_variable(name))
            .collect()
    }
}

pub(crate) struct ListedSetting {
    pub(crate) scope: String,
    /// Name in lower case, except between its first and last dot.
    pub(crate) name: String,
    pub(crate) value: String,
}

pub(crate) fn listed_settings(
    repository: &GitRepository,
    names: &str,
) -> Result<Vec<ListedSetting>, GitFailed> {
    let arguments = [
        "config",
        "-z",
        "--show-scope",
        "--type=path",
        "--get-regexp",
        names,
    ];
    let output = lossy_text(&user_setting(repository, &arguments)?);
    let words: Vec<&str> = output.split('\0').collect();
    let mut listed = Vec::new();
    for pair in words.chunks_exact(2) {
        let [scope, rest] = pair else { continue };
        let (name, value) = rest.split_once('\n').unwrap_or((rest, "true"));
        listed.push(ListedSetting {
            scope: (*scope).to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        });
    }
    // The last `core.hookspath` is omo's own option that turns hooks off.
    let position = listed.iter().rposition(|setting| {
        setting.scope == ENVIRONMENT_SCOPE && setting.name == "core.hookspath"
    });
    position.map(|place| listed.remove(place));
    Ok(listed)
}
