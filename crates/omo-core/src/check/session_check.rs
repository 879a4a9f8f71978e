//! Checks of a session: commands whose exit status decides whether a claim holds.
//!
//! They stand in the session's entry of the state file, with their last results.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::git_variables::is_repository_variable;
use crate::timestamp::Timestamp;

pub const DEFAULT_TIMEOUT_SECONDS: u32 = 600;
/// Seconds of all checks of a claim; the client gives a Stop hook 900.
pub const TOTAL_TIMEOUT_SECONDS: u32 = 840;
pub const MAX_CHECKS: usize = 16;
pub const MAX_COMMAND_BYTES: usize = 4_096;
const MAX_NAME_CHARS: usize = 32;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Check {
    pub name: String,
    #[serde(rename = "run")]
    pub command: String,
    pub origin: CheckOrigin,
    /// From the project's top; `None` for the top.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// `None` for [`DEFAULT_TIMEOUT_SECONDS`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// A claim counts only if the check is red without the change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prove: bool,
    pub last: Option<CheckRecord>,
}

/// The origin of a check, and so the person who agreed to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckOrigin {
    #[default]
    User,
    /// The user, for a task that they have stopped since.
    StoppedTask,
    Config,
    /// `omo.toml` in the repository, with an approval of exactly its content.
    Repository,
}

impl CheckOrigin {
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "you, in this session",
            Self::StoppedTask => "you, for the task that you stopped",
            Self::Config => "your config.toml",
            Self::Repository => "omo.toml",
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TestCounts {
    /// Tests with a verdict, the failed ones included.
    pub run: u64,
    pub failed: u64,
    /// Tests that were not executed, or with an expected failure.
    pub skipped: u64,
}

impl TestCounts {
    #[must_use]
    pub(crate) fn plus(self, other: Self) -> Self {
        Self {
            run: self.run.saturating_add(other.run),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

impl fmt::Display for TestCounts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "{} run, {} failed, {} skipped",
            self.run, self.failed, self.skipped
        )
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// Status 0, and something was run.
    Green,
    #[default]
    #[serde(alias = "weaker", alias = "changed")]
    Failed,
    TimedOut,
    /// Status 0 without a test.
    NothingRan,
    /// Check of a repository's `omo.toml` without a valid approval.
    NotApproved,
    NotStarted,
}

impl CheckVerdict {
    pub const ALL: [Self; 6] = [
        Self::Green,
        Self::Failed,
        Self::TimedOut,
        Self::NothingRan,
        Self::NotApproved,
        Self::NotStarted,
    ];

    pub fn word(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::NothingRan => "ran no test",
            Self::NotApproved => "not approved",
            Self::NotStarted => "could not be started",
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckRecord {
    pub verdict: CheckVerdict,
    /// The exit status, a weaker result or a changed file, in a few words.
    pub detail: String,
    pub counts: Option<TestCounts>,
    pub at: Option<Timestamp>,
    /// Milliseconds.
    pub took_millis: u64,
    /// Id of the judged work tree; `None` for one without an id.
    pub tree: Option<String>,
    /// Digest of the check and its environment.
    pub setting: String,
    pub log: Option<String>,
    /// The last line of the output with a word, sanitized.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_line: String,
    /// A green check that was red on the same files before.
    pub was_red: bool,
    /// Digest of the files that checks write and that are no work, as the check left them.
    pub left_out: String,
    /// Files that the checks changed once, judged in their present content.
    pub written_files: Vec<String>,
    pub was_rewritten: bool,
}

impl CheckRecord {
    /// The record, with `was_red` by the check's last one.
    #[must_use]
    pub fn after(self, last: Option<&Self>) -> Self {
        let same_files = last.filter(|last| self.tree.is_some() && last.tree == self.tree);
        let was_red = same_files.is_some_and(|last| {
            last.was_red || matches!(last.verdict, CheckVerdict::Failed | CheckVerdict::TimedOut)
        });
        Self {
            was_red: was_red && self.verdict == CheckVerdict::Green,
            ..self
        }
    }

    /// `true` for a result that still holds; `left_out` is the digest of files outside of the tree.
    pub fn is_evidence_for(&self, tree: Option<&str>, left_out: &str, setting: &str) -> bool {
        let is_of_these =
            tree.is_some() && self.tree.as_deref() == tree && self.left_out == left_out;
        self.verdict == CheckVerdict::Green && is_of_these && self.setting == setting
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    Exited(i32),
    Killed(i32),
    /// Seconds.
    TimedOut(u64),
    NotStarted(String),
}

impl CheckEnd {
    pub fn status(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            Self::Killed(_) | Self::TimedOut(_) | Self::NotStarted(_) => None,
        }
    }
}

/// Verdict on an ended check, and its reason in a few words.
pub fn judge_check(end: &CheckEnd, counts: Option<TestCounts>) -> (CheckVerdict, String) {
    match end {
        CheckEnd::Exited(0) => judge_success(counts),
        CheckEnd::Exited(status) => (CheckVerdict::Failed, format!("exit status {status}")),
        CheckEnd::Killed(signal) => (CheckVerdict::Failed, format!("ended by signal {signal}")),
        CheckEnd::TimedOut(seconds) => (CheckVerdict::TimedOut, format!("ended after {seconds} s")),
        CheckEnd::NotStarted(why) => (CheckVerdict::NotStarted, why.clone()),
    }
}

/// Status 0 is not enough: a check that ran nothing proves nothing.
fn judge_success(counts: Option<TestCounts>) -> (CheckVerdict, String) {
    match counts {
        Some(counts) if counts.failed > 0 => (
            CheckVerdict::Failed,
            format!("exit status 0, but {} failed", counts.failed),
        ),
        Some(counts) if counts.run == 0 => (
            CheckVerdict::NothingRan,
            "exit status 0, but no test was run".to_owned(),
        ),
        Some(_) => (CheckVerdict::Green, "exit status 0".to_owned()),
        None => (
            CheckVerdict::Green,
            "exit status 0, no count of tests".to_owned(),
        ),
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidCheck {
    /// Empty, too long, or with a NUL.
    Command,
    /// Empty, too long, or with a character that is no letter, digit, `-`, `_` or `.`.
    Name(String),
    Folder(String),
    /// Outside of 1 to [`TOTAL_TIMEOUT_SECONDS`].
    Timeout,
    Variable(String),
    TooMany,
}

impl fmt::Display for InvalidCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command => write!(
                f,
                "a check needs a command of 1 to {MAX_COMMAND_BYTES} bytes on one line"
            ),
            Self::Name(name) => {
                let shown = crate::text::sanitize(name, 40);
                write!(
                    f,
                    "`{shown}` is not a name of 1 to {MAX_NAME_CHARS} letters, digits, `-`, `_` or `.`"
                )
            }
            Self::Folder(folder) => {
                let shown = crate::text::sanitize(folder, 60);
                write!(f, "`{shown}` is not a folder below the project's top")
            }
            Self::Timeout => write!(
                f,
                "a time limit is a whole number of seconds from 1 to {TOTAL_TIMEOUT_SECONDS}"
            ),
            Self::Variable(name) => {
                let shown = crate::text::sanitize(name, 40);
                write!(f, "`{shown}` is not a variable that a check may set")
            }
            Self::TooMany => write!(f, "a run has at most {MAX_CHECKS} checks"),
        }
    }
}

impl std::error::Error for InvalidCheck {}

impl Check {
    pub fn new(name: Option<&str>, run: &str, origin: CheckOrigin) -> Result<Self, InvalidCheck> {
        let name = name.map_or_else(|| default_name(run), str::to_owned);
        let check = Self {
            name,
            command: run.trim().to_owned(),
            origin,
            ..Self::default()
        };
        check.validate()?;
        Ok(check)
    }

    pub fn from_user(
        name: Option<&str>,
        run: &str,
        timeout_seconds: Option<u32>,
    ) -> Result<Self, InvalidCheck> {
        let check = Self {
            timeout_seconds,
            ..Self::new(name, run, CheckOrigin::User)?
        };
        check.validate()?;
        Ok(check)
    }

    pub fn validate(&self) -> Result<(), InvalidCheck> {
        let is_command = !self.command.trim().is_empty()
            && self.command.len() <= MAX_COMMAND_BYTES
            && !self.command.contains('\0');
        if !is_command {
            return Err(InvalidCheck::Command);
        }
        let is_name = (1..=MAX_NAME_CHARS).contains(&self.name.chars().count())
            && self.name.chars().all(is_name_char);
        if !is_name {
            return Err(InvalidCheck::Name(self.name.clone()));
        }
        if let Some(folder) = self.cwd.as_ref().filter(|folder| !is_below(folder)) {
            return Err(InvalidCheck::Folder(folder.clone()));
        }
        if self
            .timeout_seconds
            .is_some_and(|seconds| !(1..=TOTAL_TIMEOUT_SECONDS).contains(&seconds))
        {
            return Err(InvalidCheck::Timeout);
        }
        self.env
            .keys()
            .find(|name| !is_settable_variable(name) || is_hidden_from_checks(name))
            .map_or(Ok(()), |name| Err(InvalidCheck::Variable(name.clone())))
    }

    pub fn effective_timeout(&self) -> u32 {
        self.timeout_seconds
            .unwrap_or(DEFAULT_TIMEOUT_SECONDS)
            .clamp(1, TOTAL_TIMEOUT_SECONDS)
    }

    /// Bytes that are equal for two checks that run the same in the same place.
    pub fn definition(&self) -> Vec<u8> {
        let timeout = self.effective_timeout().to_string();
        let env = self
            .env
            .iter()
            .flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let parts = [
            self.command.as_str(),
            self.cwd.as_deref().unwrap_or_default(),
            &timeout,
        ]
        .into_iter()
        .chain(env);
        // A length before each part keeps two definitions apart.
        parts
            .flat_map(|part| [part.len().to_string().as_bytes(), b":", part.as_bytes()].concat())
            .collect()
    }
}

pub fn add_check(checks: &mut Vec<Check>, mut check: Check) -> Result<(), InvalidCheck> {
    let is_present = checks.iter().any(|present| {
        present.definition() == check.definition() && present.origin == check.origin
    });
    if is_present {
        return Ok(());
    }
    if checks.len() >= MAX_CHECKS {
        return Err(InvalidCheck::TooMany);
    }
    if is_taken(checks, &check.name) {
        let stem: String = check.name.chars().take(MAX_NAME_CHARS - 3).collect();
        let free = (2..=MAX_CHECKS + 1)
            .map(|number| format!("{stem}-{number}"))
            .find(|name| !is_taken(checks, name));
        check.name = free.unwrap_or(check.name);
    }
    checks.push(check);
    Ok(())
}

fn is_taken(checks: &[Check], name: &str) -> bool {
    checks.iter().any(|check| check.name == name)
}

pub(crate) fn mark_stopped(checks: &mut [Check], is_of_task: impl Fn(&Check) -> bool) {
    for check in checks
        .iter_mut()
        .filter(|check| check.origin == CheckOrigin::User && is_of_task(check))
    {
        check.origin = CheckOrigin::StoppedTask;
    }
}

/// Removes the marks of a continued task; a check that was asked for again stays once.
pub(crate) fn unmark_stopped(checks: &mut Vec<Check>) {
    let definitions: Vec<Vec<u8>> = checks
        .iter()
        .filter(|check| check.origin == CheckOrigin::User)
        .map(Check::definition)
        .collect();
    checks.retain(|check| {
        check.origin != CheckOrigin::StoppedTask || !definitions.contains(&check.definition())
    });
    for check in checks
        .iter_mut()
        .filter(|check| check.origin == CheckOrigin::StoppedTask)
    {
        check.origin = CheckOrigin::User;
    }
}

pub fn remove_check(checks: &mut Vec<Check>, name: &str) -> bool {
    let before = checks.len();
    checks.retain(|check| check.name != name);
    checks.len() < before
}

/// The lost checks in a few words each, and the new ones for `with_new`.
pub(crate) fn describe_weakening(old: &[Check], new: &[Check], with_new: bool) -> Vec<String> {
    let of_old = old.iter().filter_map(|check| {
        let is_kept = new
            .iter()
            .any(|kept| kept.definition() == check.definition());
        let replaced = new.iter().any(|new| new.name == check.name);
        let change = if replaced { "replaced" } else { "removed" };
        (!is_kept).then(|| format!("check `{}` {change}", check.name))
    });
    let of_new = new.iter().filter(|check| {
        with_new
            && !old
                .iter()
                .any(|known| known.definition() == check.definition())
    });
    of_old
        .chain(of_new.map(|check| format!("check `{}` added", check.name)))
        .collect()
}

/// `cargo-test` for `cargo test --all`.
fn default_name(run: &str) -> String {
    let words = run
        .split_whitespace()
        .take_while(|word| !word.starts_with('-'))
        .take(2);
    let words: Vec<String> = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .map(|word| word.chars().filter(|char| is_name_char(*char)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    let name: String = words.join("-").chars().take(MAX_NAME_CHARS).collect();
    if name.is_empty() {
        "check".to_owned()
    } else {
        name
    }
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.')
}

/// `true` for a relative path that never leaves its folder.
pub(crate) fn is_below(folder: &str) -> bool {
    let parts = folder.split(['/', '\\']);
    !folder.is_empty()
        && !folder.starts_with(['/', '\\', '~'])
        && !folder.contains([':', '\0'])
        && parts.into_iter().all(|part| part != "..")
}

fn is_settable_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars
        .next()
        .is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Keys, omo's own variables, those that point git at a repository, and the terminal's size.
pub fn is_hidden_from_checks(name: &str) -> bool {
    if is_repository_variable(name) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    ["ANTHROPIC_", "CLAUDE", "OMO_"]
        .iter()
        .any(|prefix| name.starts_with(prefix))
        || matches!(
            name.as_str(),
            "AI_AGENT" | "COLUMNS" | "LINES" | "PWD" | "OLDPWD" | "SHLVL" | "_"
        )
}

#[cfg(test)]
mod tests;
