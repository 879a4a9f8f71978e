//! Clone for a worker on another machine: only named branches are fetched and pushed, with the
//! credentials of that machine's user. URLs are quoted without passwords.

use std::cell::Cell;
use std::ffi::{OsStr, OsString};
use std::ops::Deref;
use std::path::Path;
use std::time::{Duration, Instant};

use omo_core::text::sanitize;
use omo_state::git_worktree::GitWorktree;
use omo_state::seal::hex_digest;

use super::{
    COMPLAINT_CHARS, FETCH, FailedCall, PUSH, RemoteError, call, complaint_reason, parse_branches,
    program_setting,
};
use crate::commit::has_identity;
use crate::git_command::git;
use crate::git_output::parts;
use crate::git_settings::own_identity;
use crate::repository::{GitFailed, GitRepository, is_object_name, trimmed_line};

/// Even a single commit of a large repository is large.
const FETCH_LIMIT: Duration = Duration::from_secs(600);
const PUSH_LIMIT: Duration = Duration::from_secs(120);
const PEEK_LIMIT: Duration = Duration::from_secs(30);
/// Limit once the worker was asked to end.
const HURRIED_LIMIT: Duration = Duration::from_secs(15);
const WAITS: [Duration; 3] = [
    Duration::from_secs(2),
    Duration::from_secs(5),
    Duration::from_secs(15),
];
const POLL_INTERVAL: Duration = Duration::from_millis(50);
const REMOTE: &str = "origin";
const MAX_IGNORED: usize = 10_000;
/// Failures that another try would repeat, by words of git.
const LASTING_FAILURES: [&str; 12] = [
    "couldn't find remote ref",
    "does not appear to be a git repository",
    "does not exist",
    "not found",
    "Permission denied",
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "Host key verification failed",
    "transport '",
    "is not our ref",
    "dubious ownership",
];

/// Answer of `git ls-remote` for a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BranchPeek {
    /// Still the known commit.
    Same,
    /// A new commit, which the clone has fetched.
    Moved(String),
    Gone,
    /// No answer of the remote.
    Silent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PushStop {
    /// Another worker has written the report since.
    Superseded,
    /// The remote branch has commits that the work does not contain.
    WorkRefused(String),
    /// The remote answers, and refuses for a reason of its own: a rule, or a full disk.
    Declined(String),
    /// No answer, or a fault of the remote, which is no judgement of the work.
    Failed(String),
}

impl From<RemoteError> for PushStop {
    fn from(error: RemoteError) -> Self {
        Self::Failed(without_credentials(&error.to_string()))
    }
}

/// Push of commits on top of the remote branch, and of a report in place of the one last seen.
#[derive(Clone, Copy, Debug)]
pub struct WorkerPushRequest<'a> {
    /// Branch and commit.
    pub work: Option<(&'a str, &'a str)>,
    pub report_branch: &'a str,
    pub report: &'a str,
    /// Commit of the report that this worker saw last; `None` for a missing branch.
    pub seen_report: Option<&'a str>,
}

/// Clone with the single remote `origin`.
pub struct WorkerClone<'g> {
    repository: GitRepository,
    push_url: String,
    goes_on: &'g dyn Fn() -> bool,
    is_hurried: Cell<bool>,
}

impl std::fmt::Debug for WorkerClone<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("WorkerClone")
            .field("repository", &self.repository)
            .finish_non_exhaustive()
    }
}

impl Deref for WorkerClone<'_> {
    type Target = GitRepository;

    fn deref(&self) -> &GitRepository {
        &self.repository
    }
}

impl<'g> WorkerClone<'g> {
    /// Makes a clone of `url`, yet without branches, in an empty folder, for object ids like
    /// `like`.
    pub fn create(
        folder: &Path,
        url: &str,
        like: &str,
        goes_on: &'g dyn Fn() -> bool,
    ) -> Result<Self, RemoteError> {
        let format = if like.len() == 64 {
            "--object-format=sha256"
        } else {
            "--object-format=sha1"
        };
        git(
            folder,
            &["init", "--quiet", "--template=", format],
            &[],
            &[],
        )
        .ok_or_else(|| GitFailed::new("init", folder))?;
        let repository =
            GitRepository::find(folder).ok_or_else(|| GitFailed::new("init", folder))?;
        // Not by its words, which hold the URL.
        let (status, _) = repository.answer(&["remote", "add", "--", REMOTE, url], &[], &[])?;
        if status != 0 {
            return Err(GitFailed::new("remote add", folder).into());
        }
        let push_url = repository.git_line(&["remote", "get-url", "--push", REMOTE])?;
        Ok(Self {
            repository,
            push_url,
            goes_on,
            is_hurried: Cell::new(false),
        })
    }

    /// Prepares for the end: from now on calls ignore `goes_on`, and time out sooner.
    pub fn hurry(&self) {
        self.is_hurried.set(true);
    }

    /// `true` while the clone's settings lead to its first remote, and run nothing on the way.
    pub fn is_as_made(&self) -> bool {
        self.check_settings().is_ok()
    }

    /// Existing ones of `branches` on the remote, with their commits.
    pub fn list_branches(&self, branches: &[&str]) -> Result<Vec<(String, String)>, RemoteError> {
        let references: Vec<String> = branches
            .iter()
            .map(|branch| format!("refs/heads/{branch}"))
            .collect();
        let mut arguments = vec!["ls-remote", "--quiet", "--refs", REMOTE];
        arguments.extend(references.iter().map(String::as_str));
        let output = self.ask_again("ls-remote", PUSH_LIMIT, &arguments)?;
        let mut listed = parse_branches(&String::from_utf8_lossy(&output), "");
        listed.retain(|(branch, commit)| {
            branches.contains(&branch.as_str()) && is_object_name(commit)
        });
        Ok(listed)
    }

    /// Fetches branches to references of the clone, with `depth` commits of each.
    pub fn fetch(&self, branches: &[(&str, &str)], depth: u32) -> Result<(), RemoteError> {
        let depth = format!("--depth={depth}");
        let specs: Vec<String> = branches
            .iter()
            .map(|(branch, reference)| format!("+refs/heads/{branch}:{reference}"))
            .collect();
        let mut arguments = FETCH.to_vec();
        arguments.extend([depth.as_str(), REMOTE]);
        arguments.extend(specs.iter().map(String::as_str));
        self.ask_again("fetch", FETCH_LIMIT, &arguments).map(drop)
    }

    /// Short look at a branch on the remote; a commit other than `known` is fetched to `reference`.
    pub fn peek_branch(&self, branch: &str, known: Option<&str>, reference: &str) -> BranchPeek {
        let full = format!("refs/heads/{branch}");
        if !self.is_as_made() {
            return BranchPeek::Silent;
        }
        let listing = ["ls-remote", "--quiet", "--refs", REMOTE, &full];
        let Some(output) = self.peek("ls-remote", &listing) else {
            return BranchPeek::Silent;
        };
        let listed = parse_branches(&String::from_utf8_lossy(&output), "");
        match listed.iter().find(|(name, _)| name == branch) {
            None => return BranchPeek::Gone,
            Some((_, commit)) if Some(commit.as_str()) == known => return BranchPeek::Same,
            Some(_) => {}
        }
        let spec = format!("+{full}:{reference}");
        let mut arguments = FETCH.to_vec();
        arguments.extend(["--depth=1", REMOTE, &spec]);
        self.peek("fetch", &arguments)
            .and_then(|_| self.commit_of(reference).ok().flatten())
            .map_or(BranchPeek::Silent, BranchPeek::Moved)
    }

    fn peek(&self, command: &'static str, arguments: &[&str]) -> Option<Vec<u8>> {
        self.call(command, PEEK_LIMIT, arguments).ok()?.ok()
    }

    /// `tip` descends from `base`, as far as the clone has both.
    pub fn goes_on_from(&self, tip: &str, base: &str) -> Result<bool, GitFailed> {
        if self.repository.commit_of(base)?.is_none() {
            return Ok(false);
        }
        Ok(tip == base || self.repository.contains(tip, &[base.to_owned()])?)
    }

    /// Checks a commit out on a branch of the clone.
    pub fn check_out(&self, branch: &str, commit: &str) -> Result<(), GitFailed> {
        self.repository
            .git_with(
                &[
                    "checkout",
                    "--quiet",
                    "--no-track",
                    "-B",
                    branch,
                    commit,
                    "--",
                ],
                &[],
                &[],
            )
            .map(drop)
    }

    pub fn head(&self) -> Option<String> {
        let commit = GitWorktree::at(self.top()).and_then(|tree| tree.head());
        commit.or_else(|| self.repository.commit_of("HEAD").ok().flatten())
    }

    /// Digest of uncommitted changes with new files; `None` without any.
    pub fn file_state(&self) -> Result<Option<String>, GitFailed> {
        let status = [
            "status",
            "--porcelain",
            "-z",
            "--untracked-files=normal",
            "--ignore-submodules=dirty",
        ];
        let mut state = self.repository.git_with(&status, &[], &[])?;
        if state.is_empty() {
            return Ok(None);
        }
        let difference = [
            "diff",
            "--full-index",
            "--no-ext-diff",
            "--no-textconv",
            "--no-color",
            "HEAD",
            "--",
        ];
        state.extend(self.repository.git_with(&difference, &[], &[])?);
        Ok(Some(hex_digest(&state)))
    }

    /// Ignores present new files in this clone: a set-up made them, and they are no work.
    pub fn ignore_new_files(&self) -> Result<(), String> {
        let arguments = [
            "ls-files",
            "-z",
            "--others",
            "--exclude-standard",
            "--directory",
        ];
        let output = self
            .repository
            .git_with(&arguments, &[], &[])
            .map_err(|error| error.to_string())?;
        let names = parts(&output);
        // A name with a line end cannot stand in the list.
        let lines = names
            .filter(|name| !name.contains(&b'\n'))
            .take(MAX_IGNORED)
            .map(ignore_line);
        let text = lines.collect::<Vec<_>>().concat();
        if text.is_empty() {
            return Ok(());
        }
        let folder = self.repository.common().join("info");
        let written = std::fs::create_dir_all(&folder)
            .and_then(|()| std::fs::write(folder.join("exclude"), text));
        written.map_err(|error| format!("{}: {error}", folder.display()))
    }

    /// Variables for the machine's own identity in git, or for a neutral one.
    pub fn commit_identity(&self, host: &str) -> Vec<(&'static str, OsString)> {
        if has_identity(&self.repository) {
            return own_identity();
        }
        let email = format!("omo@{host}");
        vec![
            ("GIT_AUTHOR_NAME", "omo worker".into()),
            ("GIT_AUTHOR_EMAIL", email.clone().into()),
            ("GIT_COMMITTER_NAME", "omo worker".into()),
            ("GIT_COMMITTER_EMAIL", email.into()),
        ]
    }

    /// Commits all but ignored files, even without a change; returns the commit.
    pub fn commit_all(
        &self,
        message: &str,
        identity: &[(&'static str, OsString)],
    ) -> Result<String, GitFailed> {
        let own = as_variables(identity);
        self.repository
            .git_with(&["add", "--all", "--", ":/"], &own, &[])?;
        let arguments = [
            "commit",
            "--quiet",
            "--no-verify",
            "--no-gpg-sign",
            "--allow-empty",
            "--cleanup=whitespace",
            "--file=-",
        ];
        self.repository
            .git_with(&arguments, &own, message.as_bytes())?;
        self.repository
            .git_line(&["rev-parse", "--verify", "--quiet", "HEAD^{commit}"])
    }

    /// Pushes work and report in one request, atomically where the remote can do that.
    pub fn push(&self, request: &WorkerPushRequest<'_>) -> Result<(), PushStop> {
        self.check_settings()?;
        let report = format!("refs/heads/{}", request.report_branch);
        let lease = format!(
            "--force-with-lease={report}:{}",
            request.seen_report.unwrap_or_default()
        );
        let work = request
            .work
            .map(|(branch, commit)| (format!("refs/heads/{branch}"), commit));
        let mut specs: Vec<String> = work
            .iter()
            .map(|(reference, commit)| format!("{commit}:{reference}"))
            .collect();
        specs.push(format!("{}:{report}", request.report));
        let mut is_atomic = work.is_some();
        let mut tries = WAITS.iter();
        loop {
            let mut arguments: Vec<&str> = PUSH
                .iter()
                .copied()
                .filter(|word| !is_said_here(word))
                .collect();
            arguments.push(if is_atomic { "--atomic" } else { "--no-atomic" });
            arguments.extend(["--porcelain", "--no-progress", &lease, REMOTE]);
            arguments.extend(specs.iter().map(String::as_str));
            let Err(failed) = self.call("push", PUSH_LIMIT, &arguments)? else {
                return Ok(());
            };
            if is_atomic
                && failed
                    .complaint
                    .as_ref()
                    .is_some_and(|why| why.contains("does not support --atomic"))
            {
                is_atomic = false;
                continue;
            }
            let why = match parse_push(
                &failed.output,
                work.as_ref().map(|(name, _)| &**name),
                &report,
            ) {
                Some(PushStop::Superseded) => return self.confirm_superseded(request),
                Some(PushStop::Failed(why)) => why,
                Some(stop) => return Err(stop),
                None => safe_reason(failed.complaint),
            };
            self.wait("push", why, tries.next())?;
        }
    }

    /// A push whose answer got lost may have been taken: then the report there is this one.
    fn confirm_superseded(&self, request: &WorkerPushRequest<'_>) -> Result<(), PushStop> {
        let branches = self.list_branches(&[request.report_branch])?;
        let is_own = branches
            .first()
            .is_some_and(|(_, commit)| commit == request.report);
        if is_own {
            Ok(())
        } else {
            Err(PushStop::Superseded)
        }
    }

    /// Its client may have changed settings: they have to lead to the first remote, and run nothing on the way.
    fn check_settings(&self) -> Result<(), RemoteError> {
        if let Some(setting) = program_setting(&self.repository)? {
            return Err(RemoteError::ProgramSetting { setting });
        }
        let (status, output) =
            self.repository
                .answer(&["remote", "get-url", "--push", REMOTE], &[], &[])?;
        if status != 0 || trimmed_line(&output) != self.push_url {
            return Err(failed(
                "push",
                "the clone's settings name another remote by now".to_owned(),
            ));
        }
        Ok(())
    }

    fn ask_again(
        &self,
        command: &'static str,
        limit: Duration,
        arguments: &[&str],
    ) -> Result<Vec<u8>, RemoteError> {
        self.check_settings()?;
        let mut tries = WAITS.iter();
        loop {
            match self.call(command, limit, arguments)? {
                Ok(output) => return Ok(output),
                Err(failed) => self.wait(command, safe_reason(failed.complaint), tries.next())?,
            }
        }
    }

    fn call(
        &self,
        command: &'static str,
        limit: Duration,
        arguments: &[&str],
    ) -> Result<Result<Vec<u8>, FailedCall>, RemoteError> {
        let limit = if self.is_hurried.get() {
            limit.min(HURRIED_LIMIT)
        } else {
            limit
        };
        call(&self.repository, command, limit, arguments, &mut || {
            self.is_hurried.get() || (self.goes_on)()
        })
    }

    /// Waits before a further try; without one, `why` is the failure.
    fn wait(
        &self,
        command: &'static str,
        why: String,
        pause: Option<&Duration>,
    ) -> Result<(), RemoteError> {
        let is_lasting = LASTING_FAILURES.iter().any(|known| why.contains(known));
        let Some(pause) = pause.filter(|_| !is_lasting && !self.is_hurried.get()) else {
            return Err(failed(command, why));
        };
        let until = Instant::now() + *pause;
        while Instant::now() < until {
            if !(self.goes_on)() {
                return Err(failed(command, why));
            }
            std::thread::sleep(POLL_INTERVAL);
        }
        Ok(())
    }
}

fn as_variables<'v>(identity: &'v [(&'static str, OsString)]) -> Vec<(&'v str, &'v OsStr)> {
    identity
        .iter()
        .map(|(name, value)| (*name, value.as_os_str()))
        .collect()
}

fn failed(command: &'static str, why: String) -> RemoteError {
    RemoteError::Failed { command, why }
}

/// `true` for an option that this clone gives another value.
fn is_said_here(word: &str) -> bool {
    matches!(word, "--quiet" | "--no-atomic")
}

/// Message of git without URLs.
fn safe_reason(complaint: Option<String>) -> String {
    complaint.map_or_else(
        || "no answer in time".to_owned(),
        |why| without_credentials(&complaint_reason(&why)),
    )
}

/// `text` without users and passwords in URLs.
pub fn without_credentials(text: &str) -> String {
    const MARK: &str = "://";
    let (mut cleaned, mut rest) = (String::with_capacity(text.len()), text);
    while let Some(at) = rest.find(MARK) {
        let (before, from) = rest.split_at(at + MARK.len());
        cleaned.push_str(before);
        let host = &from[..from.find(is_host_end).unwrap_or(from.len())];
        rest = &from[host.rfind('@').map_or(0, |at| at + 1)..];
    }
    cleaned.push_str(rest);
    cleaned
}

fn is_host_end(letter: char) -> bool {
    letter.is_whitespace() || matches!(letter, '/' | '\'' | '"' | '`' | '<' | '>')
}

fn ignore_line(name: &[u8]) -> Vec<u8> {
    let mut line = vec![b'/'];
    for byte in name {
        if matches!(byte, b'*' | b'?' | b'[' | b']' | b'\\' | b' ') {
            line.push(b'\\');
        }
        line.push(*byte);
    }
    line.push(b'\n');
    line
}

const SERVER_FAULTS: [&str; 6] = [
    "internal server error",
    "internal error",
    "service unavailable",
    "bad gateway",
    "gateway timeout",
    "temporarily unavailable",
];

/// Failure in the lines of `git push --porcelain`.
fn parse_push(output: &str, work: Option<&str>, report: &str) -> Option<PushStop> {
    let mut answer = None;
    for line in output.lines() {
        let mut fields = line.split('\t');
        let (Some("!"), Some(names), Some(summary)) = (fields.next(), fields.next(), fields.next())
        else {
            continue;
        };
        let Some((_, reference)) = names.rsplit_once(':') else {
            continue;
        };
        let why = without_credentials(&sanitize(summary, COMPLAINT_CHARS));
        if reference == report && summary.contains("stale info") {
            return Some(PushStop::Superseded);
        }
        if contains_any(
            summary,
            &[
                "atomic",
                "cannot lock ref",
                "failed to update ref",
                "failed to lock",
                "incorrect old value",
            ],
        ) {
            // The other line says why, or another push came in between, and the next try tells.
            continue;
        }
        if Some(reference) == work
            && contains_any(summary, &["non-fast-forward", "fetch first", "needs force"])
        {
            answer = Some(PushStop::WorkRefused(why));
        } else if matches!(answer, None | Some(PushStop::Failed(_))) {
            answer = Some(
                if contains_any(&summary.to_ascii_lowercase(), &SERVER_FAULTS) {
                    PushStop::Failed(why)
                } else {
                    PushStop::Declined(why)
                },
            );
        }
    }
    answer
}

fn contains_any(text: &str, words: &[&str]) -> bool {
    words.iter().any(|word| text.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_shown_without_its_credentials() {
        for (text, expected) in [
            (
                "fatal: unable to access 'https://me:s3cr3t@host/x.git/': no",
                "fatal: unable to access 'https://host/x.git/': no",
            ),
            (
                "ssh://git@host/x and https://a@b:c@host",
                "ssh://host/x and https://host",
            ),
            ("https://host/a@b", "https://host/a@b"),
            ("git@host:x.git", "git@host:x.git"),
            ("://", "://"),
            ("", ""),
        ] {
            assert_eq!(without_credentials(text), expected, "{text}");
        }
    }

    #[test]
    fn a_name_is_ignored_as_it_is() {
        assert_eq!(ignore_line(b"a*b [c]\\"), b"/a\\*b\\ \\[c\\]\\\\\n");
    }

    #[test]
    fn a_push_tells_why_it_failed() {
        let (work, report) = ("refs/heads/b", "refs/heads/b.report");
        let line = |reference: &str, why: &str| format!("!\tabc:{reference}\t[rejected] ({why})\n");
        let parse =
            |output: String| parse_push(&format!("To /x\n{output}Done\n"), Some(work), report);
        assert!(matches!(
            parse(line(work, "fetch first")),
            Some(PushStop::WorkRefused(_))
        ));
        assert!(matches!(
            parse(line(work, "non-fast-forward") + &line(report, "atomic push failed")),
            Some(PushStop::WorkRefused(_))
        ));
        assert_eq!(
            parse(line(work, "non-fast-forward") + &line(report, "stale info")),
            Some(PushStop::Superseded)
        );
        assert_eq!(parse(line(report, "cannot lock ref")), None);
        assert!(matches!(
            parse(line(work, "hook declined")),
            Some(PushStop::Declined(_))
        ));
        let fault = line(work, "Internal Server Error");
        assert!(
            matches!(parse(fault.clone()), Some(PushStop::Failed(why)) if why.contains("Internal Server Error"))
        );
        assert!(matches!(
            parse(fault + &line(report, "hook declined")),
            Some(PushStop::Declined(_))
        ));
        assert_eq!(parse(String::new()), None);
    }
}
