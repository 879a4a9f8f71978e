//! Checks: commands whose end decides a claim, and what an end is worth.
//!
//! Which checks judge a run stands in the session's entry from its activation on, together with the last result. The
//! store seals all of it, so that only omo itself can have written it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::git_variables::is_repository_variable;
use crate::timestamp::Timestamp;

/// Seconds that a check may run where nothing else is said, of a claim or of a plan.
pub const DEFAULT_TIMEOUT_SECONDS: u32 = 600;
/// How long all checks of one claim may run together, in seconds. The client gives a Stop hook 900.
pub const TOTAL_TIMEOUT_SECONDS: u32 = 840;
/// How many checks a run may have.
pub const MAX_CHECKS: usize = 16;
/// How many bytes a check's command may have.
pub const MAX_COMMAND_BYTES: usize = 4_096;
const MAX_NAME_CHARS: usize = 32;

/// A check of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Check {
    /// What it is called; no two checks of a run share a name.
    pub name: String,
    /// The command, for a POSIX shell.
    #[serde(rename = "run")]
    pub command: String,
    /// Where it comes from.
    pub origin: CheckOrigin,
    /// The folder that it runs in, from the project's top; `None` for the top itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How long it may run, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// What is added to its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// A claim counts only where it is red without the change.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub prove: bool,
    /// Its last result.
    pub last: Option<CheckRecord>,
}

/// Where a check comes from, and so who has agreed to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckOrigin {
    /// The user, in this session.
    #[default]
    User,
    /// The user, for a task that they have stopped since.
    StoppedTask,
    /// The user's own configuration.
    Config,
    /// `omo.toml` in the repository: it runs only while exactly its content is approved.
    Repository,
}

impl CheckOrigin {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "you, in this session",
            Self::StoppedTask => "you, for the task that you stopped",
            Self::Config => "your config.toml",
            Self::Repository => "omo.toml",
        }
    }
}

/// How many tests a run of them counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct TestCounts {
    /// Tests that were executed to a verdict, the failed ones among them.
    pub run: u64,
    /// Those that failed.
    pub failed: u64,
    /// Tests that were there and were not executed, or whose failure was expected.
    pub skipped: u64,
}

impl TestCounts {
    /// Both together.
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
        write!(f, "{} run, {} failed, {} skipped", self.run, self.failed, self.skipped)
    }
}

/// What a check's end is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CheckVerdict {
    /// It ended with status 0, and what it ran was something.
    Green,
    /// It ended with another status.
    #[default]
    #[serde(alias = "weaker", alias = "changed")]
    Failed,
    /// It did not end in time.
    TimedOut,
    /// It ended with status 0 and ran no test.
    NothingRan,
    /// Its file in the repository is not, or no longer, approved.
    NotApproved,
    /// It could not be started.
    NotStarted,
}

impl CheckVerdict {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Green, Self::Failed, Self::TimedOut, Self::NothingRan, Self::NotApproved, Self::NotStarted];

    /// The word for people.
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

/// A check's result as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct CheckRecord {
    /// What it was worth.
    pub verdict: CheckVerdict,
    /// The verdict in a few words: the exit status, what was weaker, which file changed.
    pub detail: String,
    /// What its tests counted, where they could be read.
    pub counts: Option<TestCounts>,
    /// When it ended.
    pub at: Option<Timestamp>,
    /// How long it took, in milliseconds.
    pub took_millis: u64,
    /// The work tree that it judged; `None` where that has no id.
    pub tree: Option<String>,
    /// The digest of the check and of the environment that it ran in.
    pub setting: String,
    /// Where its output is.
    pub log: Option<String>,
    /// The last line of its output that says something, made harmless.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub last_line: String,
    /// It is green, and was red on the same files before.
    pub was_red: bool,
    /// The digest of the files that the checks write and that are no part of the work, as the check left them.
    pub left_out: String,
    /// Files whose bytes the checks changed once, and that are judged as they are now.
    pub written_files: Vec<String>,
    /// While the checks ran files were written that have their bytes again: its run in a private copy counts.
    pub was_rewritten: bool,
}

impl CheckRecord {
    /// The record beside the last one of its check: whether that was red on the same files.
    #[must_use]
    pub fn after(self, last: Option<&Self>) -> Self {
        let is_of_these_files = |last: &&Self| self.tree.is_some() && last.tree == self.tree;
        let was_red = last
            .filter(is_of_these_files)
            .is_some_and(|last| last.was_red || matches!(last.verdict, CheckVerdict::Failed | CheckVerdict::TimedOut));
        Self { was_red: was_red && self.verdict == CheckVerdict::Green, ..self }
    }

    /// Whether this result still says something about this work tree, run in this setting.
    /// `left_out` is the digest of the files that are no part of it.
    pub fn is_evidence_for(&self, tree: Option<&str>, left_out: &str, setting: &str) -> bool {
        let is_of_these = tree.is_some() && self.tree.as_deref() == tree && self.left_out == left_out;
        self.verdict == CheckVerdict::Green && is_of_these && self.setting == setting
    }
}

/// How a check's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckEnd {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It was ended after so many seconds.
    TimedOut(u64),
    /// It never ran.
    NotStarted(String),
}

impl CheckEnd {
    /// The exit status, where it ended by itself.
    pub fn status(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            Self::Killed(_) | Self::TimedOut(_) | Self::NotStarted(_) => None,
        }
    }
}

/// The verdict on an end, and the words for it.
pub fn judge_check(end: &CheckEnd, counts: Option<TestCounts>) -> (CheckVerdict, String) {
    match end {
        CheckEnd::Exited(0) => judge_success(counts),
        CheckEnd::Exited(status) => (CheckVerdict::Failed, format!("exit status {status}")),
        CheckEnd::Killed(signal) => (CheckVerdict::Failed, format!("ended by signal {signal}")),
        CheckEnd::TimedOut(seconds) => (CheckVerdict::TimedOut, format!("ended after {seconds} s")),
        CheckEnd::NotStarted(why) => (CheckVerdict::NotStarted, why.clone()),
    }
}

/// Status 0 alone is not enough: what ran nothing proves nothing.
fn judge_success(counts: Option<TestCounts>) -> (CheckVerdict, String) {
    match counts {
        Some(counts) if counts.failed > 0 => {
            (CheckVerdict::Failed, format!("exit status 0, but {} failed", counts.failed))
        }
        Some(counts) if counts.run == 0 => (CheckVerdict::NothingRan, "exit status 0, but no test was run".to_owned()),
        Some(_) => (CheckVerdict::Green, "exit status 0".to_owned()),
        None => (CheckVerdict::Green, "exit status 0, no count of tests".to_owned()),
    }
}

/// Why a check cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidCheck {
    /// The command is empty, too long, or holds a NUL.
    Command,
    /// The name is empty, too long, or holds what is no letter, digit, `-`, `_` or `.`.
    Name(String),
    /// The folder lies outside the project.
    Folder(String),
    /// The time is none from 1 to [`TOTAL_TIMEOUT_SECONDS`].
    Timeout,
    /// A variable's name is none, or is one that omo keeps from checks.
    Variable(String),
    /// There are [`MAX_CHECKS`] already.
    TooMany,
}

impl fmt::Display for InvalidCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command => write!(f, "a check needs a command of 1 to {MAX_COMMAND_BYTES} bytes on one line"),
            Self::Name(name) => {
                let shown = crate::text::sanitize(name, 40);
                write!(f, "`{shown}` is no name of 1 to {MAX_NAME_CHARS} letters, digits, `-`, `_` or `.`")
            }
            Self::Folder(folder) => {
                let shown = crate::text::sanitize(folder, 60);
                write!(f, "`{shown}` is no folder below the project's top")
            }
            Self::Timeout => write!(f, "a time limit is a whole number of seconds from 1 to {TOTAL_TIMEOUT_SECONDS}"),
            Self::Variable(name) => {
                let shown = crate::text::sanitize(name, 40);
                write!(f, "`{shown}` is no variable that a check may set")
            }
            Self::TooMany => write!(f, "a run has at most {MAX_CHECKS} checks"),
        }
    }
}

impl std::error::Error for InvalidCheck {}

impl Check {
    /// A check with nothing but a command.
    pub fn new(name: Option<&str>, run: &str, origin: CheckOrigin) -> Result<Self, InvalidCheck> {
        let name = name.map_or_else(|| default_name(run), str::to_owned);
        let check = Self { name, command: run.trim().to_owned(), origin, ..Self::default() };
        check.validate()?;
        Ok(check)
    }

    /// A check that the user asked for in this session.
    ///
    /// # Errors
    ///
    /// Where it cannot be as it is.
    pub fn from_user(name: Option<&str>, run: &str, timeout_seconds: Option<u32>) -> Result<Self, InvalidCheck> {
        let check = Self { timeout_seconds, ..Self::new(name, run, CheckOrigin::User)? };
        check.validate()?;
        Ok(check)
    }

    /// Whether it can be as it is.
    pub fn validate(&self) -> Result<(), InvalidCheck> {
        let is_command =
            !self.command.trim().is_empty() && self.command.len() <= MAX_COMMAND_BYTES && !self.command.contains('\0');
        if !is_command {
            return Err(InvalidCheck::Command);
        }
        let is_name = (1..=MAX_NAME_CHARS).contains(&self.name.chars().count()) && self.name.chars().all(is_name_char);
        if !is_name {
            return Err(InvalidCheck::Name(self.name.clone()));
        }
        if let Some(folder) = self.cwd.as_ref().filter(|folder| !is_below(folder)) {
            return Err(InvalidCheck::Folder(folder.clone()));
        }
        if self.timeout_seconds.is_some_and(|seconds| !(1..=TOTAL_TIMEOUT_SECONDS).contains(&seconds)) {
            return Err(InvalidCheck::Timeout);
        }
        let is_bad = |name: &&String| !is_settable_variable(name) || is_hidden_from_checks(name);
        self.env.keys().find(is_bad).map_or(Ok(()), |name| Err(InvalidCheck::Variable(name.clone())))
    }

    /// How long it may run, in seconds.
    pub fn effective_timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS).clamp(1, TOTAL_TIMEOUT_SECONDS)
    }

    /// What the check is, as bytes: two checks that run the same in the same place have the same.
    pub fn definition(&self) -> Vec<u8> {
        let timeout = self.effective_timeout().to_string();
        let env = self.env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let parts = [self.command.as_str(), self.cwd.as_deref().unwrap_or_default(), &timeout].into_iter().chain(env);
        // Each part with its length before it: no two checks run into the same bytes.
        parts.flat_map(|part| [part.len().to_string().as_bytes(), b":", part.as_bytes()].concat()).collect()
    }
}

/// Adds a check to a list, under a name that none of them has.
pub fn add_check(checks: &mut Vec<Check>, mut check: Check) -> Result<(), InvalidCheck> {
    let is_it = |known: &Check| known.definition() == check.definition() && known.origin == check.origin;
    if checks.iter().any(is_it) {
        return Ok(());
    }
    if checks.len() >= MAX_CHECKS {
        return Err(InvalidCheck::TooMany);
    }
    let is_taken = |name: &str| checks.iter().any(|known| known.name == name);
    if is_taken(&check.name) {
        let stem: String = check.name.chars().take(MAX_NAME_CHARS - 3).collect();
        let free = (2..=MAX_CHECKS + 1).map(|number| format!("{stem}-{number}")).find(|name| !is_taken(name));
        check.name = free.unwrap_or(check.name);
    }
    checks.push(check);
    Ok(())
}

/// Marks those of a user's checks that were for a task which they stop.
pub(crate) fn mark_stopped(checks: &mut [Check], is_of_task: impl Fn(&Check) -> bool) {
    for check in checks.iter_mut().filter(|check| check.origin == CheckOrigin::User && is_of_task(check)) {
        check.origin = CheckOrigin::StoppedTask;
    }
}

/// Takes the marks off again, where that task goes on. A check that was asked for again meanwhile is there once.
pub(crate) fn unmark_stopped(checks: &mut Vec<Check>) {
    let own: Vec<Vec<u8>> =
        checks.iter().filter(|check| check.origin == CheckOrigin::User).map(Check::definition).collect();
    checks.retain(|check| check.origin != CheckOrigin::StoppedTask || !own.contains(&check.definition()));
    for check in checks.iter_mut().filter(|check| check.origin == CheckOrigin::StoppedTask) {
        check.origin = CheckOrigin::User;
    }
}

/// Takes the check of this name out of a list; `false` where none has it.
pub fn remove_check(checks: &mut Vec<Check>, name: &str) -> bool {
    let before = checks.len();
    checks.retain(|check| check.name != name);
    checks.len() < before
}

/// What a change of checks weakens, each in a few words: those that are gone. `with_new` names new ones as well.
pub(crate) fn describe_weakening(old: &[Check], new: &[Check], with_new: bool) -> Vec<String> {
    let is_same = |one: &Check, other: &Check| one.definition() == other.definition();
    let of_old = old.iter().filter_map(|check| {
        let is_kept = new.iter().any(|kept| is_same(kept, check));
        let replaced = new.iter().any(|new| new.name == check.name);
        let what = if replaced { "replaced" } else { "removed" };
        (!is_kept).then(|| format!("check `{}` {what}", check.name))
    });
    let of_new = new.iter().filter(|check| with_new && !old.iter().any(|known| is_same(known, check)));
    of_old.chain(of_new.map(|check| format!("check `{}` added", check.name))).collect()
}

/// A name from the first words of a command: `cargo test --all` is `cargo-test`.
fn default_name(run: &str) -> String {
    let words = run.split_whitespace().take_while(|word| !word.starts_with('-')).take(2);
    let words: Vec<String> = words
        .map(|word| word.rsplit('/').next().unwrap_or(word))
        .map(|word| word.chars().filter(|char| is_name_char(*char)).collect())
        .filter(|word: &String| !word.is_empty())
        .collect();
    let name: String = words.join("-").chars().take(MAX_NAME_CHARS).collect();
    if name.is_empty() { "check".to_owned() } else { name }
}

fn is_name_char(char: char) -> bool {
    char.is_ascii_alphanumeric() || matches!(char, '-' | '_' | '.')
}

/// A relative path that never leaves the folder it starts from.
pub(crate) fn is_below(folder: &str) -> bool {
    let parts = folder.split(['/', '\\']);
    !folder.is_empty()
        && !folder.starts_with(['/', '\\', '~'])
        && !folder.contains([':', '\0'])
        && parts.into_iter().all(|part| part != "..")
}

fn is_settable_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Variables that a check never sees: keys and tokens of the model and of the client, omo's own, and what points git at
/// a repository. What the terminal's size sets is left out as well, so that a result does not depend on it.
pub fn is_hidden_from_checks(name: &str) -> bool {
    if is_repository_variable(name) {
        return true;
    }
    let name = name.to_ascii_uppercase();
    ["ANTHROPIC_", "CLAUDE", "OMO_"].iter().any(|prefix| name.starts_with(prefix))
        || matches!(name.as_str(), "AI_AGENT" | "COLUMNS" | "LINES" | "PWD" | "OLDPWD" | "SHLVL" | "_")
}

#[cfg(test)]
mod tests;
