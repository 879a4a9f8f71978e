//! Pushes, fetches and deletes branches of a git remote, with the user's credentials. Where the
//! repository's own settings would run a program nothing is moved; nor are tags, submodules and
//! hooks.

pub mod worker_clone;

use std::ffi::OsStr;
use std::time::Duration;

use omo_core::text::sanitize;
use thiserror::Error;

use crate::git_command::GitOutcome;
use crate::git_output::lossy_text;
use crate::repository::{GitFailed, GitRepository, trimmed_line};

const LIMIT: Duration = Duration::from_secs(120);
/// Time for `git ls-remote`, which comes first, while a user may wait at a terminal.
const LIST_LIMIT: Duration = Duration::from_secs(30);
/// Allowed protocols, all built into git: any other one is a program of that name.
const WAYS: &str = "file:git:http:https:ssh";
const PROGRAMS: &str = "^(core[.](sshcommand|askpass|gitproxy|alternaterefscommand)|credential[.](.*[.])?helper|remote[.].*[.](uploadpack|receivepack|vcs))$";
const MAX_NAME: usize = 100;
const COMPLAINT_CHARS: usize = 200;

/// Failure of a call to a remote.
#[derive(Debug, Error)]
pub enum RemoteError {
    #[error("this repository has no remote called `{}`", sanitize(name, 60))]
    Unknown { name: String },
    /// The repository's own settings would run a program.
    #[error(
        "`{}` in the settings of this repository would run a program, and omo runs none of a repository",
        sanitize(setting, 100)
    )]
    ProgramSetting { setting: String },
    #[error("`git {command}` failed: {why}")]
    Failed { command: &'static str, why: String },
    /// No answer in time. Not retried, which would take as long once more.
    #[error("`git {command}` failed: no answer within {seconds} s")]
    TimedOut { command: &'static str, seconds: u64 },
    /// A local step failed.
    #[error(transparent)]
    Git(#[from] GitFailed),
}

/// Remote by its name in this repository, such as `origin`.
#[derive(Clone, Copy, Debug)]
pub struct Remote<'r> {
    repository: &'r GitRepository,
    name: &'r str,
}

impl<'r> Remote<'r> {
    pub fn find(repository: &'r GitRepository, name: &'r str) -> Result<Self, RemoteError> {
        let unknown = || RemoteError::Unknown {
            name: name.to_owned(),
        };
        if !is_remote_name(name) {
            return Err(unknown());
        }
        let url = format!("remote.{name}.url");
        let (status, output) = repository.answer(&["config", "--get", &url], &[], &[])?;
        if status != 0 || trimmed_line(&output).is_empty() {
            return Err(unknown());
        }
        match program_setting(repository)? {
            Some(setting) => Err(RemoteError::ProgramSetting { setting }),
            None => Ok(Self { repository, name }),
        }
    }

    /// Address as of `git remote get-url`, without a password.
    pub fn address(&self) -> Result<String, RemoteError> {
        let (_, output) = self
            .repository
            .answer(&["remote", "get-url", self.name], &[], &[])?;
        Ok(without_password(&trimmed_line(&output)))
    }

    /// Pushes new branches, as pairs of name and commit, in one request; fails where one exists.
    pub fn push_all(&self, branches: &[(&str, &str)]) -> Result<(), RemoteError> {
        self.move_branches(
            "push",
            branches
                .iter()
                .map(|(commit, branch)| (*branch, "", *commit)),
        )
    }

    fn move_branches<'b>(
        &self,
        command: &'static str,
        moves: impl Iterator<Item = (&'b str, &'b str, &'b str)>,
    ) -> Result<(), RemoteError> {
        let (leases, refspecs): (Vec<String>, Vec<String>) = moves
            .map(|(branch, from, to)| {
                (
                    format!("--force-with-lease=refs/heads/{branch}:{from}"),
                    format!("{to}:refs/heads/{branch}"),
                )
            })
            .unzip();
        let mut arguments = PUSH.to_vec();
        arguments.extend(leases.iter().map(String::as_str));
        arguments.push(self.name);
        arguments.extend(refspecs.iter().map(String::as_str));
        self.ask(command, LIMIT, &arguments).map(drop)
    }

    /// Branches of the remote that begin with `beginning`, with their commits.
    pub fn branches(&self, beginning: &str) -> Result<Vec<(String, String)>, RemoteError> {
        let pattern = format!("refs/heads/{beginning}*");
        let output = self.ask(
            "ls-remote",
            LIST_LIMIT,
            &["ls-remote", "--quiet", "--refs", self.name, &pattern],
        )?;
        Ok(parse_branches(&String::from_utf8_lossy(&output), beginning))
    }

    /// Fetches a branch to a local reference, which it must continue; returns its commit.
    pub fn fetch(&self, branch: &str, reference: &str) -> Result<String, RemoteError> {
        self.fetch_refspecs(&[format!("refs/heads/{branch}:{reference}")])?;
        self.repository
            .commit_of(reference)?
            .ok_or_else(|| RemoteError::Failed {
                command: "fetch",
                why: "nothing came".to_owned(),
            })
    }

    /// Fetches commits of branches without a reference, to read them at once.
    pub fn fetch_unnamed(&self, branches: &[&str]) -> Result<(), RemoteError> {
        self.fetch_refspecs(
            &branches
                .iter()
                .map(|branch| format!("refs/heads/{branch}"))
                .collect::<Vec<_>>(),
        )
    }

    fn fetch_refspecs(&self, refspecs: &[String]) -> Result<(), RemoteError> {
        let refspecs: Vec<&str> = refspecs.iter().map(String::as_str).collect();
        self.ask(
            "fetch",
            LIMIT,
            &[FETCH.as_slice(), &[self.name], &refspecs].concat(),
        )
        .map(drop)
    }

    /// Deletes a branch of the remote that still names `commit`.
    pub fn delete(&self, branch: &str, commit: &str) -> Result<(), RemoteError> {
        self.delete_all(&[(branch, commit)])
    }

    /// Deletes branches in one request, each as [`Remote::delete`]; the error is that of the first one.
    pub fn delete_all(&self, branches: &[(&str, &str)]) -> Result<(), RemoteError> {
        self.move_branches(
            "push --delete",
            branches
                .iter()
                .map(|(branch, commit)| (*branch, *commit, "")),
        )
    }

    fn ask(
        &self,
        command: &'static str,
        limit: Duration,
        arguments: &[&str],
    ) -> Result<Vec<u8>, RemoteError> {
        call(self.repository, command, limit, arguments, &mut || true)?.map_err(|failed| {
            match failed.complaint {
                Some(complaint) => RemoteError::Failed {
                    command,
                    why: complaint_reason(&complaint),
                },
                None => RemoteError::TimedOut {
                    command,
                    seconds: limit.as_secs(),
                },
            }
        })
    }
}

fn is_remote_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('-')
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
}

struct FailedCall {
    output: String,
    /// `None` after a timeout.
    complaint: Option<String>,
}

/// Calls git, which speaks with another machine, while `goes_on`.
fn call(
    repository: &GitRepository,
    command: &'static str,
    limit: Duration,
    arguments: &[&str],
    goes_on: &mut dyn FnMut() -> bool,
) -> Result<Result<Vec<u8>, FailedCall>, RemoteError> {
    let ways = [("GIT_ALLOW_PROTOCOL", OsStr::new(WAYS))];
    match repository.call_remote_while(limit, arguments, &ways, goes_on) {
        Some(GitOutcome::Ended {
            status: 0, output, ..
        }) => Ok(Ok(output)),
        Some(GitOutcome::Ended {
            output, complaint, ..
        }) => Ok(Err(FailedCall {
            output: lossy_text(&output),
            complaint: Some(lossy_text(&complaint)),
        })),
        Some(GitOutcome::TimedOut) => Ok(Err(FailedCall {
            output: String::new(),
            complaint: None,
        })),
        None => Err(RemoteError::Failed {
            command,
            why: "git could not be run".to_owned(),
        }),
    }
}

const PUSH: [&str; 7] = [
    "push",
    "--quiet",
    "--no-verify",
    "--no-signed",
    "--no-follow-tags",
    "--recurse-submodules=no",
    "--no-atomic",
];
const FETCH: [&str; 8] = [
    "fetch",
    "--quiet",
    "--no-tags",
    "--no-prune",
    "--no-write-fetch-head",
    "--no-recurse-submodules",
    "--no-auto-maintenance",
    "--refmap=",
];

fn program_setting(repository: &GitRepository) -> Result<Option<String>, GitFailed> {
    let arguments = [
        "config",
        "-z",
        "--show-scope",
        "--name-only",
        "--get-regexp",
        PROGRAMS,
    ];
    let (_, output) = repository.answer(&arguments, &[], &[])?;
    let output = String::from_utf8_lossy(&output).into_owned();
    let words: Vec<&str> = output.split('\0').collect();
    Ok(words
        .chunks_exact(2)
        .find(|pair| matches!(pair, ["local" | "worktree", _]))
        .and_then(|pair| pair.last())
        .map(|name| (*name).to_owned()))
}

/// Branches of `git ls-remote` that begin like this.
fn parse_branches(text: &str, beginning: &str) -> Vec<(String, String)> {
    let branches = text.lines().filter_map(|line| {
        let (commit, reference) = line.split_once('\t')?;
        let branch = reference
            .strip_prefix("refs/heads/")
            .filter(|branch| branch.starts_with(beginning))?;
        Some((branch.to_owned(), commit.to_owned()))
    });
    branches.collect()
}

/// Lines of git behind the reason, about every unreachable remote.
const UNREACHED: [&str; 3] = [
    "fatal: Could not read from remote repository.",
    "Please make sure you have the correct access rights",
    "and the repository exists.",
];

fn complaint_reason(complaint: &str) -> String {
    let mut news = complaint.lines().map(str::trim).filter(|line| {
        !line.is_empty() && !line.starts_with("hint:") && !line.starts_with("error: failed to push")
    });
    let first = news.clone().next().unwrap_or("it gave no reason");
    sanitize(
        news.rfind(|line| !UNREACHED.contains(line))
            .unwrap_or(first),
        COMPLAINT_CHARS,
    )
}

/// Address without the password, which belongs in no command line and no text.
pub fn without_password(address: &str) -> String {
    let Some((scheme, rest)) = address.split_once("://") else {
        return address.to_owned();
    };
    let (place, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    match place.rsplit_once('@') {
        // Behind http both parts may be a token.
        Some((_, host)) if scheme.starts_with("http") => format!("{scheme}://{host}{path}"),
        Some((user, host)) => format!(
            "{scheme}://{}@{host}{path}",
            user.split(':').next().unwrap_or_default()
        ),
        None => address.to_owned(),
    }
}

/// Commits of `from..to` with their messages, oldest first.
pub fn commit_messages(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<Vec<(String, String)>, GitFailed> {
    let range = format!("{from}..{to}");
    let arguments = [
        "rev-list",
        "--topo-order",
        "--reverse",
        "--no-commit-header",
        "--format=%H%n%B%x00",
        &range,
        "--",
    ];
    let output = repository.git_with(&arguments, &[], &[])?;
    let text = String::from_utf8_lossy(&output);
    let commits = text.split('\0').filter_map(|text| {
        let (commit, message) = text.trim_start_matches('\n').split_once('\n')?;
        Some((commit.to_owned(), message.to_owned()))
    });
    Ok(commits.collect())
}

/// Paths from the top in which two commits differ.
pub fn changed_files(
    repository: &GitRepository,
    from: &str,
    to: &str,
) -> Result<Vec<String>, GitFailed> {
    let arguments = [
        "diff-tree",
        "-r",
        "-z",
        "--name-only",
        "--no-renames",
        "--no-ext-diff",
        from,
        to,
        "--",
    ];
    let output = repository.git_with(&arguments, &[], &[])?;
    let names = String::from_utf8_lossy(&output).into_owned();
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_branches_that_begin_like_this_are_listed() {
        let text = "aa\trefs/heads/omo/r1/s-1\nbb\trefs/heads/omo/r1/s-1-2\ncc\trefs/heads/x/omo/r1/s-1\nwarning\n";
        let listed = parse_branches(text, "omo/r1/s-1");
        let names: Vec<&str> = listed.iter().map(|(branch, _)| branch.as_str()).collect();
        assert_eq!(names, ["omo/r1/s-1", "omo/r1/s-1-2"]);
    }

    #[test]
    fn an_address_is_shown_without_what_is_secret_in_it() {
        for (address, shown) in [
            ("https://me:token@host/a@b.git", "https://host/a@b.git"),
            ("https://token@host", "https://host"),
            ("ssh://git:word@host:22/a.git", "ssh://git@host:22/a.git"),
            ("git@host:a.git", "git@host:a.git"),
            ("/srv/hub.git", "/srv/hub.git"),
            ("file:///srv/hub.git", "file:///srv/hub.git"),
        ] {
            assert_eq!(without_password(address), shown);
        }
    }

    #[test]
    fn the_reason_is_what_was_said_last() {
        let complaint = "remote: no\n ! [remote rejected] x (hook declined)\nerror: failed to push some refs\nhint: y\n\n";
        assert_eq!(
            complaint_reason(complaint),
            "! [remote rejected] x (hook declined)"
        );
        assert_eq!(complaint_reason(""), "it gave no reason");
        let unreached = UNREACHED.join("\n");
        assert_eq!(
            complaint_reason(&format!("me@host: Permission denied\n{unreached}\n")),
            "me@host: Permission denied"
        );
        assert_eq!(complaint_reason(&unreached), UNREACHED[0]);
    }
}
