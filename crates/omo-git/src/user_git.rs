//! git as its user runs it: with their identity, their settings and their hooks, under a keeper as a check is, so that a
//! hook that never ends does end.

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

/// Settings about hooks, signatures and identity. No others are remembered: some hold passwords.
const REMEMBERED: &str = "^(core[.]hookspath|commit[.]gpgsign|gpg[.].*|user[.](signingkey|name|email)|safe[.]directory)$";
/// The scope in which git lists what its environment and `-c` give.
const ENVIRONMENT_SCOPE: &str = "command";

/// Time for hooks to restore their own stash, such as of changes that are not staged.
const HOOK_GRACE: Duration = Duration::from_secs(5);

/// git with the hooks of its user. The binary that calls it is its own keeper: see
/// [`omo_process::keeper::run_if_asked`].
#[derive(Clone, Copy, Debug)]
pub struct UserGit<'a> {
    /// Environment of the user.
    pub environment: &'a CheckEnvironment,
    /// Settings that the environment of the user gave at the start of the run.
    pub settings: &'a GitSettings,
    /// Time for one call with its hooks.
    pub limit: Duration,
}

impl UserGit<'_> {
    /// Runs `git` with these words of a shell in a folder. `variables` go beside those of the user. Once `is_wanted` says
    /// no, git and its hooks are ended.
    pub(crate) fn run(
        &self,
        git: PathBuf,
        folder: &Path,
        words: &str,
        variables: Vec<(&str, OsString)>,
        is_wanted: impl FnMut() -> bool,
    ) -> CommandOutcome {
        // git's tidying would go on behind the commit, in a work tree that may be about to be removed.
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
        let mut all = commit_variables(inherited);
        all.extend(
            settings
                .into_iter()
                .map(|(name, value)| (name.into(), value.into())),
        );
        let own = [
            ("OMO_GIT", git.into_os_string()),
            ("GIT_TERMINAL_PROMPT", "0".into()),
        ];
        all.extend(
            own.into_iter()
                .chain(variables)
                .map(|(name, value)| (name.into(), value)),
        );
        // A work tree that loses its `.git` meanwhile is none, and not the one around it.
        all.extend(folder.parent().map(|above| {
            (
                "GIT_CEILING_DIRECTORIES".into(),
                above.as_os_str().to_owned(),
            )
        }));
        let folder = folder.to_owned();
        let interrupt_grace = HOOK_GRACE;
        let job = CommandJob {
            run,
            folder,
            timeout: self.limit,
            interrupt_grace,
            variables: all,
            log: None,
            check: None,
        };
        job::run(job, is_wanted)
    }

    /// As [`UserGit::run`], in the work tree of a repository; its own words where it did not succeed.
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
        let said = one_line(&outcome.tail);
        match outcome.end {
            Some(CheckEnd::Exited(0)) => Ok(()),
            Some(CheckEnd::Exited(status)) if said.is_empty() => {
                Err(format!("exit status {status}"))
            }
            Some(CheckEnd::Exited(_)) => Err(said),
            Some(CheckEnd::TimedOut(seconds)) => Err(format!("it took longer than {seconds} s")),
            Some(CheckEnd::Killed(signal)) => Err(format!("it was ended by signal {signal}")),
            Some(CheckEnd::NotStarted(why)) => Err(why),
            None => Err("it was ended".to_owned()),
        }
    }
}

/// `core.hooksPath` of the user; a relative one is looked for in each work tree.
pub(crate) fn hooks_setting(repository: &GitRepository) -> Result<Option<PathBuf>, GitFailed> {
    let set = listed_settings(repository, "^core[.]hookspath$")?.pop();
    Ok(set
        .map(|setting| setting.value)
        .filter(|path| !path.is_empty())
        .map(PathBuf::from))
}

/// Hooks folder of a repository, by `core.hooksPath`.
pub(crate) fn hooks_folder(repository: &GitRepository) -> Result<PathBuf, GitFailed> {
    let set = hooks_setting(repository)?.map(|folder| repository.top().join(folder));
    Ok(set.unwrap_or_else(|| repository.common().join("hooks")))
}

pub(crate) fn present_hooks(folder: &Path, names: &[&'static str]) -> Vec<&'static str> {
    let is_there = |name: &&&str| {
        let found = folder.join(name).metadata();
        found.is_ok_and(|found| found.is_file() && may_be_run(&found))
    };
    names.iter().filter(is_there).copied().collect()
}

/// The hook that git asks before a branch moves.
pub const REFERENCE_HOOK: &str = "reference-transaction";

/// Hooks that `git commit` runs, and that can refuse it.
pub(crate) const COMMIT_HOOKS: [&str; 3] = ["pre-commit", "prepare-commit-msg", "commit-msg"];

/// `true` for a repository whose commits run a hook, such as `pre-commit`.
///
/// # Errors
///
/// git cannot tell.
pub fn has_commit_hooks(repository: &GitRepository) -> Result<bool, GitFailed> {
    let all = [&COMMIT_HOOKS[..], &["post-commit", REFERENCE_HOOK]].concat();
    Ok(!present_hooks(&hooks_folder(repository)?, &all).is_empty())
}

/// `commit.gpgSign` of the user.
///
/// # Errors
///
/// git cannot tell.
pub fn signs_commits(repository: &GitRepository) -> Result<bool, GitFailed> {
    is_set(repository, "commit.gpgSign")
}

pub(crate) fn is_set(repository: &GitRepository, name: &str) -> Result<bool, GitFailed> {
    let said = user_setting(repository, &["config", "--type=bool", "--get", name])?;
    Ok(trimmed_line(&said) == "true")
}

/// Value of a setting, with the user's own files of settings; empty without one.
pub(crate) fn user_setting(
    repository: &GitRepository,
    arguments: &[&str],
) -> Result<Vec<u8>, GitFailed> {
    match repository.answer_user(arguments)? {
        (0, said) => Ok(said),
        (1, _) => Ok(Vec::new()),
        _ => Err(repository.failure_of(arguments)),
    }
}

impl GitSettings {
    /// Settings of the environment of this process that commits obey.
    ///
    /// # Errors
    ///
    /// git cannot tell.
    pub fn from_environment(repository: &GitRepository) -> Result<Self, GitFailed> {
        let given = listed_settings(repository, REMEMBERED)?.into_iter();
        let given = given.filter(|setting| setting.scope == ENVIRONMENT_SCOPE);
        let text = |(name, value): (OsString, OsString)| {
            Some((name.into_string().ok()?, value.into_string().ok()?))
        };
        let variables = env::variables()
            .into_iter()
            .filter_map(text)
            .filter(|(name, _)| is_remembered(name));
        Ok(Self(
            given
                .map(|setting| (setting.name, setting.value))
                .chain(variables)
                .collect(),
        ))
    }

    /// These settings over the files of a checkout. Another work tree of its repository may have
    /// others, by `includeIf.onbranch` or `config.worktree`.
    ///
    /// # Errors
    ///
    /// git cannot tell.
    pub fn over_files_of(&self, checkout: &GitRepository) -> Result<Self, GitFailed> {
        let of_files =
            listed_settings(&checkout.clone().obeying(&Self::default()), REMEMBERED)?.into_iter();
        let of_files = of_files.map(|setting| (setting.name, setting.value));
        Ok(Self(of_files.chain(self.0.iter().cloned()).collect()))
    }

    /// The variables of this process whose settings git refuses, such as a `GIT_CONFIG_COUNT` that is no number.
    pub fn refused_variables(repository: &GitRepository) -> Vec<String> {
        let is_read = |repository: &GitRepository| listed_settings(repository, REMEMBERED).is_ok();
        if is_read(repository) || !is_read(&repository.clone().obeying(&Self::default())) {
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
    /// In lower case but for what stands between its dots.
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
    let said = user_setting(repository, &arguments)?;
    let said = lossy_text(&said);
    let words: Vec<&str> = said.split('\0').collect();
    let read = |pair: &[&str]| {
        let [scope, rest] = pair else { return None };
        let (name, value) = rest.split_once('\n').unwrap_or((rest, "true"));
        Some(ListedSetting {
            scope: (*scope).to_owned(),
            name: name.to_owned(),
            value: value.to_owned(),
        })
    };
    let mut listed: Vec<ListedSetting> = words.chunks_exact(2).filter_map(read).collect();
    // The last one is of the git that was asked: omo's own runs no hooks.
    let own = listed.iter().rposition(|setting| {
        setting.scope == ENVIRONMENT_SCOPE && setting.name == "core.hookspath"
    });
    own.map(|place| listed.remove(place));
    Ok(listed)
}
