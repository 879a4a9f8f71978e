//! Obstacles to a commit in a new worktree: missing hooks and programs, a failing signature, a
//! sparse set. No hook runs, no passphrase is asked for, and nothing is written.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use omo_process::platform::is_executable;
use omo_state::env;
use omo_state::files::regular_file::{self, Links};
use omo_state::search_path::SearchPath;

use crate::git_command::GitOutcome;
use crate::git_output::{list, lossy_text, parts};
use crate::git_settings::GitSettings;
use crate::integrate::ignored_paths;
use crate::made_folders::INSTALLED_PROGRAMS;
use crate::repository::{GitFailed, GitRepository};
use crate::user_git::{
    COMMIT_HOOKS, hooks_setting, is_set, listed_settings, present_hooks, signs_commits,
    user_setting,
};
use crate::worktree::included_paths;

/// Signs of a shell line that tests for a program, and does without it.
const GUARDS: [&str; 7] = [
    "command -v",
    "which ",
    "hash ",
    "[ -",
    "test -",
    "[[ -",
    "type ",
];
/// Larger hooks are not read.
const MAX_HOOK_BYTES: u64 = 256 * 1024;
/// Time for a trial signature: an agent answers at once, a token that waits for a touch does not.
const TRIAL_LIMIT: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitConditions {
    /// Hooks in the checkout that no commit holds, so that a worktree lacks them; paths from the
    /// top.
    pub absent_hooks: Vec<String>,
    /// Programs that hooks call and a worktree lacks.
    pub absent_programs: Vec<AbsentProgram>,
    /// Output of a failed trial signature.
    pub signing_failure: Option<String>,
    /// Paths that worktrees leave out as well.
    pub outside_sparse_set: Vec<String>,
    /// Hooks of a commit, and `commit.gpgSign`: a clone on another machine has none of them.
    pub guards: Vec<&'static str>,
    /// Settings of the environment that turn hooks or signatures off, such as `HUSKY=0`.
    pub environment: Vec<String>,
    /// Settings that merges of omo ignore, such as `merge.verifySignatures`.
    pub merge_settings: Vec<&'static str>,
}

/// A program, or a folder of programs, that git ignores.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct AbsentProgram {
    pub hook: String,
    /// Path from the top of the checkout.
    pub path: String,
}

/// Obstacles to a commit of `paths`, which are relative to the top.
pub fn read_commit_conditions(
    repository: &GitRepository,
    paths: &[String],
) -> Result<CommitConditions, GitFailed> {
    let (mut absent_hooks, mut absent_programs) = (Vec::new(), BTreeSet::new());
    let copied = included_paths(repository.top(), |arguments, input| {
        repository.answer(arguments, &[], input)
    })?;
    let hooks = hooks(repository)?;
    let signing = signs_commits(repository)?.then_some("commit.gpgSign");
    let guards = hooks.iter().map(|hook| hook.name).chain(signing).collect();
    for hook in hooks {
        if hook.is_in_worktree
            && !is_copied(&copied, &hook.path)
            && !is_committed(repository, &hook.path)?
        {
            absent_hooks.push(hook.path);
        } else {
            let words = program_words(&hook.text);
            let paths = program_paths(repository.top(), &words);
            let ignored = ignored_paths(repository, &paths)?;
            let absent = ignored.into_iter().filter(|path| !is_copied(&copied, path));
            absent_programs.extend(absent.map(|path| AbsentProgram {
                hook: hook.name.to_owned(),
                path,
            }));
        }
    }
    Ok(CommitConditions {
        absent_hooks,
        absent_programs: absent_programs.into_iter().collect(),
        signing_failure: signing_failure(repository)?,
        outside_sparse_set: outside_sparse_set(repository, paths)?,
        guards,
        environment: GitSettings::from_environment(repository)?.of_guards(),
        merge_settings: merge_settings(repository)?,
    })
}

/// `copied` are files that a new worktree gets from the checkout.
fn is_copied(copied: &[PathBuf], path: &str) -> bool {
    copied.iter().any(|file| file.starts_with(path))
}

fn merge_settings(repository: &GitRepository) -> Result<Vec<&'static str>, GitFailed> {
    let trust = user_setting(repository, &["config", "--get", "gpg.minTrustLevel"])?;
    let settings = [
        (
            "merge.verifySignatures",
            is_set(repository, "merge.verifySignatures")?,
        ),
        ("gpg.minTrustLevel", !trust.is_empty()),
    ];
    Ok(settings
        .into_iter()
        .filter(|(_, is_set)| *is_set)
        .map(|(name, _)| name)
        .collect())
}

/// Other work trees with a branch, by its full name, checked out, as far as their folders are there.
pub fn other_checkouts(repository: &GitRepository, branch: &str) -> Result<Vec<String>, GitFailed> {
    let mut checkouts = repository.checkouts(branch)?;
    checkouts.retain(|(_, git_folder)| git_folder != repository.git_folder());
    Ok(checkouts.into_iter().map(|(top, _)| top).collect())
}

struct Hook {
    name: &'static str,
    path: String,
    is_in_worktree: bool,
    text: String,
}

fn hooks(repository: &GitRepository) -> Result<Vec<Hook>, GitFailed> {
    let folder = hooks_setting(repository)?.unwrap_or_else(|| repository.common().join("hooks"));
    let is_in_worktree = folder.is_relative();
    let place = repository.top().join(&folder);
    let hooks = present_hooks(&place, &COMMIT_HOOKS)
        .into_iter()
        .filter_map(|name| {
            let bytes =
                regular_file::read(&place.join(name), MAX_HOOK_BYTES, Links::Followed).ok()??;
            Some(Hook {
                name,
                path: folder
                    .join(name)
                    .to_string_lossy()
                    .replace('\\', "/")
                    .trim_start_matches("./")
                    .to_owned(),
                is_in_worktree,
                text: lossy_text(&bytes),
            })
        });
    Ok(hooks.collect())
}

fn is_committed(repository: &GitRepository, path: &str) -> Result<bool, GitFailed> {
    let listed = repository.git(&[
        "ls-tree",
        "-z",
        "--full-tree",
        "--name-only",
        "HEAD",
        "--",
        path,
    ])?;
    Ok(!listed.is_empty())
}

/// Words of a hook that may name a program, without those that it looks for first.
fn program_words(hook: &str) -> BTreeSet<&str> {
    let lines = hook
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'));
    let (guarded, other): (Vec<&str>, Vec<&str>) =
        lines.partition(|line| GUARDS.iter().any(|guard| line.contains(guard)));
    let guarded: BTreeSet<&str> = guarded.into_iter().flat_map(split_words).collect();
    other
        .into_iter()
        .flat_map(split_words)
        .filter(|word| !guarded.contains(word))
        .collect()
}

fn split_words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|char: char| {
        !char.is_alphanumeric() && !matches!(char, '.' | '_' | '-' | '/' | '@' | '$')
    })
    .filter(|word| !word.is_empty())
}

/// Existing paths from the top, and programs in folders of the project that `PATH` lacks, by their words.
fn program_paths(top: &Path, words: &BTreeSet<&str>) -> Vec<String> {
    let search = SearchPath::from_variables(&env::variables());
    words
        .iter()
        .filter_map(|word| program_path(top, word, &search))
        .collect()
}

fn program_path(top: &Path, word: &str, search: &SearchPath) -> Option<String> {
    let word = word.strip_prefix("./").unwrap_or(word);
    if word.starts_with(['/', '-']) || word.contains("..") || word.contains('$') {
        return None;
    }
    if word.contains('/') {
        return top.join(word).exists().then(|| word.to_owned());
    }
    let folder = INSTALLED_PROGRAMS
        .into_iter()
        .find(|folder| is_executable(&top.join(folder).join(word)))?;
    let is_elsewhere = search.find_all(word).next().is_some();
    (!is_elsewhere).then(|| format!("{folder}/{word}"))
}

/// Words of a failed signing; `None` without signatures, after a success, or where it cannot be tried: no program of
/// the repository's own settings is run, nor one that may open a window.
fn signing_failure(repository: &GitRepository) -> Result<Option<String>, GitFailed> {
    if !signs_commits(repository)? {
        return Ok(None);
    }
    let settings = listed_settings(repository, "^(gpg[.].*|gpg[.]program|user[.]signingkey)$")?;
    let setting = |name: &str| settings.iter().rfind(|setting| setting.name == name);
    let key = setting("user.signingkey")
        .map(|key| key.value.clone())
        .filter(|key| !key.is_empty());
    let format = setting("gpg.format").map_or("openpgp", |format| format.value.as_str());
    let words: Vec<String> = match format {
        "ssh" => {
            let Some(key) = key
                .filter(|key| Path::new(key).is_absolute())
                .filter(|_| setting("gpg.ssh.program").is_none())
            else {
                return Ok(None);
            };
            ["ssh-keygen", "-Y", "sign", "-n", "git", "-f", &key]
                .map(str::to_owned)
                .to_vec()
        }
        "openpgp" => {
            let program = setting("gpg.openpgp.program").or_else(|| setting("gpg.program"));
            if program.is_some_and(|setting| matches!(setting.scope.as_str(), "local" | "worktree"))
            {
                return Ok(None);
            }
            let program = program.map_or("gpg", |setting| setting.value.as_str());
            let key = if let Some(key) = key {
                key
            } else {
                let identity = repository.git_line(&["var", "GIT_COMMITTER_IDENT"])?;
                identity
                    .rsplit_once('>')
                    .map_or_else(String::new, |(who, _)| format!("{who}>"))
            };
            [
                program,
                "--batch",
                "--no-tty",
                "--pinentry-mode",
                "error",
                "-bsa",
                "-u",
                &key,
            ]
            .map(str::to_owned)
            .to_vec()
        }
        _ => return Ok(None),
    };
    let arguments = ["-c", "alias.omo-sign=!true && exec", "omo-sign"]
        .into_iter()
        .chain(words.iter().map(String::as_str));
    let arguments: Vec<&str> = arguments.collect();
    let no_prompt = [
        ("SSH_ASKPASS_REQUIRE", OsStr::new("force")),
        ("SSH_ASKPASS", OsStr::new("/bin/false")),
    ];
    match repository.call_remote(TRIAL_LIMIT, &arguments, &no_prompt) {
        Some(GitOutcome::Ended {
            status, complaint, ..
        }) if status != 0 => Ok(Some(String::from_utf8_lossy(&complaint).trim().to_owned())),
        Some(GitOutcome::Ended { .. } | GitOutcome::TimedOut) | None => Ok(None),
    }
}

/// Empty without a sparse checkout, or with a git that is too old to tell.
fn outside_sparse_set(
    repository: &GitRepository,
    paths: &[String],
) -> Result<Vec<String>, GitFailed> {
    if paths.is_empty() || !is_set(repository, "core.sparsecheckout")? {
        return Ok(Vec::new());
    }
    let asked = list(paths);
    let (status, output) =
        repository.answer(&["sparse-checkout", "check-rules", "-z"], &[], &asked)?;
    let inside: BTreeSet<&[u8]> = parts(&output).collect();
    let outside = paths
        .iter()
        .filter(|path| status == 0 && !inside.contains(path.as_bytes()));
    Ok(outside.cloned().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_a_hook_are_programs_but_for_those_that_it_looks_for() {
        for (hook, expected) in [
            ("#!/bin/sh\nnpx lint-staged\n", vec!["lint-staged", "npx"]),
            (
                "export PATH=\"node_modules/.bin:$PATH\"\n",
                vec!["$PATH", "PATH", "export", "node_modules/.bin"],
            ),
            (
                "command -v tsc >/dev/null || exit 0\ntsc --noEmit\n",
                vec!["--noEmit"],
            ),
            (
                "[ -x node_modules/.bin/a ] || exit 0\nnode_modules/.bin/a\n",
                vec![],
            ),
            ("# eslint\n", vec![]),
        ] {
            assert_eq!(
                program_words(hook).into_iter().collect::<Vec<_>>(),
                expected,
                "{hook}"
            );
        }
    }
}
