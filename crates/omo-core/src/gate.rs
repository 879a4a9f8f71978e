//! Checks: commands whose end decides a claim, and what an end is worth.
//!
//! Which checks judge a run stands in the session's entry from its activation on, together with
//! the files of the project that each check runs, the best count of tests so far, and the last
//! result. The store seals all of it, so that only omo itself can have written it.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// How long one check may run, in seconds, where nothing else is said.
pub const DEFAULT_TIMEOUT_SECONDS: u32 = 300;
/// How long all checks of one claim may run together, in seconds. The client gives a Stop hook 900.
pub const TOTAL_TIMEOUT_SECONDS: u32 = 840;
/// How many checks a run may have.
pub const MAX_GATES: usize = 16;
/// How many bytes a check's command may have.
pub const MAX_COMMAND_BYTES: usize = 4_096;
const MAX_NAME_CHARS: usize = 32;

/// A check of a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Gate {
    /// What it is called; no two checks of a run share a name.
    pub name: String,
    /// The command, for a POSIX shell.
    pub run: String,
    /// Where it comes from.
    pub origin: Origin,
    /// The folder that it runs in, from the project's top; `None` for the top itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cwd: Option<String>,
    /// How long it may run, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timeout_seconds: Option<u32>,
    /// What is added to its environment.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The project's files that it runs, each with the digest that it had when the user last
    /// agreed to the check.
    pub pinned: BTreeMap<String, String>,
    /// The best that its tests counted in this run.
    pub best: Option<Best>,
    /// What they counted before anything of it was done, once a claim was held to that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// Its last result.
    pub last: Option<Record>,
}

/// Where a check comes from, and so who has agreed to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Origin {
    /// The user, in this session.
    #[default]
    User,
    /// The user's own configuration.
    Config,
    /// `omo.toml` in the repository: it runs only while exactly its content is approved.
    Repository,
}

impl Origin {
    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::User => "you, in this session",
            Self::Config => "your config.toml",
            Self::Repository => "omo.toml",
        }
    }
}

/// How many tests a run of them counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Counts {
    /// Tests that were executed to a verdict, the failed ones among them.
    pub run: u64,
    /// Those that failed.
    pub failed: u64,
    /// Tests that were there and were not executed, or whose failure was expected.
    pub skipped: u64,
}

impl Counts {
    /// Both together.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            run: self.run.saturating_add(other.run),
            failed: self.failed.saturating_add(other.failed),
            skipped: self.skipped.saturating_add(other.skipped),
        }
    }
}

/// The best that a check's tests counted in a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Best {
    /// The most that were executed.
    pub run: u64,
    /// The fewest that were skipped when all was green; `None` before it was.
    pub skipped: Option<u64>,
}

/// What a check's tests counted before anything of the run was done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Baseline {
    /// The counts; `None` where there are none.
    pub counts: Option<Counts>,
    /// The check was green.
    pub is_green: bool,
    /// Why there are no counts; empty where there are some, or where the check came to its end without any.
    pub why: String,
}

impl Best {
    fn with(self, run: u64, skipped: Option<u64>) -> Self {
        let fewest = [self.skipped, skipped].into_iter().flatten().min();
        Self { run: self.run.max(run), skipped: fewest }
    }
}

impl fmt::Display for Counts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} run, {} failed, {} skipped", self.run, self.failed, self.skipped)
    }
}

/// What a check's end is worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum GateVerdict {
    /// It ended with status 0, and what it ran was something.
    Green,
    /// It ended with another status.
    #[default]
    Failed,
    /// It did not end in time.
    TimedOut,
    /// It ended with status 0 and ran no test.
    NothingRan,
    /// It ended with status 0 and ran fewer tests, or skipped more, than before in this run.
    Weaker,
    /// A file of the project that it runs is not the one that the user agreed to.
    Changed,
    /// Its file in the repository is not, or no longer, approved.
    NotApproved,
    /// It could not be started.
    NotStarted,
}

impl GateVerdict {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::Green,
        Self::Failed,
        Self::TimedOut,
        Self::NothingRan,
        Self::Weaker,
        Self::Changed,
        Self::NotApproved,
        Self::NotStarted,
    ];

    /// The word for people.
    pub fn word(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Failed => "failed",
            Self::TimedOut => "timed out",
            Self::NothingRan => "ran no test",
            Self::Weaker => "weaker than before",
            Self::Changed => "changed since it was agreed to",
            Self::NotApproved => "not approved",
            Self::NotStarted => "could not be started",
        }
    }
}

/// A check's result as it is kept.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Record {
    /// What it was worth.
    pub verdict: GateVerdict,
    /// The verdict in a few words: the exit status, what was weaker, which file changed.
    pub detail: String,
    /// What its tests counted, where they could be read.
    pub counts: Option<Counts>,
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
    /// Files that were there only while it ran.
    pub passing: Vec<String>,
    /// Not all of those could be seen.
    pub unwatched: bool,
}

impl Record {
    /// Whether this result still says something about this work tree, run in this setting.
    pub fn is_evidence_for(&self, tree: Option<&str>, setting: &str) -> bool {
        self.verdict == GateVerdict::Green && tree.is_some() && self.tree.as_deref() == tree && self.setting == setting
    }
}

/// How a check's process ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status.
    Exited(i32),
    /// By this signal.
    Killed(i32),
    /// It was ended after so many seconds.
    TimedOut(u64),
    /// It never ran.
    NotStarted(String),
}

impl End {
    /// The exit status, where it ended by itself.
    pub fn status(&self) -> Option<i32> {
        match self {
            Self::Exited(status) => Some(*status),
            Self::Killed(_) | Self::TimedOut(_) | Self::NotStarted(_) => None,
        }
    }
}

/// What an end is worth: the verdict, and the words for it. `is_runner` says that it runs tests and counts them.
pub fn judge(end: &End, counts: Option<Counts>, best: Option<Best>, is_runner: bool) -> (GateVerdict, String) {
    match end {
        End::Exited(0) => judge_success(counts, best, is_runner),
        End::Exited(status) => (GateVerdict::Failed, format!("exit status {status}")),
        End::Killed(signal) => (GateVerdict::Failed, format!("ended by signal {signal}")),
        End::TimedOut(seconds) => (GateVerdict::TimedOut, format!("ended after {seconds} s")),
        End::NotStarted(why) => (GateVerdict::NotStarted, why.clone()),
    }
}

/// Status 0 alone is not enough: what ran nothing, or less than before, proves nothing.
fn judge_success(counts: Option<Counts>, best: Option<Best>, is_runner: bool) -> (GateVerdict, String) {
    match (counts, best) {
        (Some(counts), _) if counts.failed > 0 => {
            (GateVerdict::Failed, format!("exit status 0, but {} tests failed", counts.failed))
        }
        (Some(counts), _) if counts.run == 0 => {
            (GateVerdict::NothingRan, "exit status 0, but no test was run".to_owned())
        }
        (Some(counts), Some(best)) if counts.run < best.run => {
            (GateVerdict::Weaker, format!("{} tests were run, {} earlier in this run", counts.run, best.run))
        }
        (Some(counts), Some(Best { skipped: Some(skipped), .. })) if counts.skipped > skipped => {
            (GateVerdict::Weaker, format!("{} tests were skipped, {skipped} earlier in this run", counts.skipped))
        }
        (None, Some(best)) => {
            (GateVerdict::Weaker, format!("no count of tests can be read any more, {} were run earlier", best.run))
        }
        (None, None) if is_runner => {
            let why = "exit status 0, but its test runner gave no count: nothing shows that a test was run";
            (GateVerdict::NothingRan, why.to_owned())
        }
        (Some(_), _) => (GateVerdict::Green, "exit status 0".to_owned()),
        (None, None) => (GateVerdict::Green, "exit status 0, no count of tests".to_owned()),
    }
}

/// Why a check cannot be as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum InvalidGate {
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
    /// There are [`MAX_GATES`] already.
    TooMany,
}

impl fmt::Display for InvalidGate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command => write!(f, "a check needs a command of 1 to {MAX_COMMAND_BYTES} bytes on one line"),
            Self::Name(name) => {
                let shown = crate::words::sanitize(name, 40);
                write!(f, "`{shown}` is no name of 1 to {MAX_NAME_CHARS} letters, digits, `-`, `_` or `.`")
            }
            Self::Folder(folder) => {
                let shown = crate::words::sanitize(folder, 60);
                write!(f, "`{shown}` is no folder below the project's top")
            }
            Self::Timeout => write!(f, "a time limit is a whole number of seconds from 1 to {TOTAL_TIMEOUT_SECONDS}"),
            Self::Variable(name) => {
                let shown = crate::words::sanitize(name, 40);
                write!(f, "`{shown}` is no variable that a check may set")
            }
            Self::TooMany => write!(f, "a run has at most {MAX_GATES} checks"),
        }
    }
}

impl std::error::Error for InvalidGate {}

impl Gate {
    /// A check with nothing but a command.
    pub fn new(name: Option<&str>, run: &str, origin: Origin) -> Result<Self, InvalidGate> {
        let name = name.map_or_else(|| name_of(run), str::to_owned);
        let gate = Self { name, run: run.trim().to_owned(), origin, ..Self::default() };
        gate.check()?;
        Ok(gate)
    }

    /// Whether it can be as it is.
    pub fn check(&self) -> Result<(), InvalidGate> {
        let is_command = !self.run.trim().is_empty() && self.run.len() <= MAX_COMMAND_BYTES && !self.run.contains('\0');
        if !is_command {
            return Err(InvalidGate::Command);
        }
        let is_name = (1..=MAX_NAME_CHARS).contains(&self.name.chars().count()) && self.name.chars().all(is_name_char);
        if !is_name {
            return Err(InvalidGate::Name(self.name.clone()));
        }
        if let Some(folder) = self.cwd.as_ref().filter(|folder| !is_below(folder)) {
            return Err(InvalidGate::Folder(folder.clone()));
        }
        if self.timeout_seconds.is_some_and(|seconds| !(1..=TOTAL_TIMEOUT_SECONDS).contains(&seconds)) {
            return Err(InvalidGate::Timeout);
        }
        let is_bad = |name: &&String| !is_variable(name) || is_kept_from_gates(name);
        self.env.keys().find(is_bad).map_or(Ok(()), |name| Err(InvalidGate::Variable(name.clone())))
    }

    /// How long it may run, in seconds.
    pub fn timeout(&self) -> u32 {
        self.timeout_seconds.unwrap_or(DEFAULT_TIMEOUT_SECONDS).clamp(1, TOTAL_TIMEOUT_SECONDS)
    }

    /// What the check is, as bytes: two checks that run the same in the same place have the same.
    pub fn definition(&self) -> Vec<u8> {
        let timeout = self.timeout().to_string();
        let env = self.env.iter().flat_map(|(name, value)| [name.as_str(), value.as_str()]);
        let parts = [self.run.as_str(), self.cwd.as_deref().unwrap_or_default(), &timeout].into_iter().chain(env);
        // Each part with its length before it: no two checks run into the same bytes.
        parts.flat_map(|part| [part.len().to_string().as_bytes(), b":", part.as_bytes()].concat()).collect()
    }

    /// Holds it to what was counted before the run.
    pub fn take_baseline(&mut self, baseline: Baseline) {
        if let Some(counts) = baseline.counts {
            let skipped = baseline.is_green.then_some(counts.skipped);
            self.best = Some(self.best.unwrap_or_default().with(counts.run, skipped));
        }
        self.baseline = Some(baseline);
    }

    /// Keeps a result, and what it says about the best. A run that did not come to its end, or
    /// stopped at a failure, says how many tests there are at least, and not how few are skipped.
    pub fn keep(&mut self, record: Record) {
        let is_whole = !matches!(record.verdict, GateVerdict::TimedOut | GateVerdict::NotStarted);
        if let Some(counts) = record.counts.filter(|counts| is_whole && counts.run > 0) {
            let skipped = (record.verdict == GateVerdict::Green).then_some(counts.skipped);
            self.best = Some(self.best.unwrap_or_default().with(counts.run, skipped));
        }
        self.last = Some(record);
    }
}

/// Adds a check to a list, under a name that none of them has.
pub fn add(gates: &mut Vec<Gate>, mut gate: Gate) -> Result<(), InvalidGate> {
    let is_it = |known: &&mut Gate| known.definition() == gate.definition() && known.origin == gate.origin;
    if let Some(known) = gates.iter_mut().find(is_it) {
        // Asked for once more: with the files as they are now.
        known.pinned = gate.pinned;
        return Ok(());
    }
    if gates.len() >= MAX_GATES {
        return Err(InvalidGate::TooMany);
    }
    let is_taken = |name: &str| gates.iter().any(|known| known.name == name);
    if is_taken(&gate.name) {
        let stem: String = gate.name.chars().take(MAX_NAME_CHARS - 3).collect();
        let free = (2..=MAX_GATES + 1).map(|number| format!("{stem}-{number}")).find(|name| !is_taken(name));
        gate.name = free.unwrap_or(gate.name);
    }
    gates.push(gate);
    Ok(())
}

/// Takes the check of this name out of a list; `false` where none has it.
pub fn remove(gates: &mut Vec<Gate>, name: &str) -> bool {
    let before = gates.len();
    gates.retain(|gate| gate.name != name);
    gates.len() < before
}

/// What a change of checks weakens, each in a few words: those that are gone, and those that are held to other
/// files or counts. `with_new` names new ones as well.
pub fn weakened(old: &[Gate], new: &[Gate], with_new: bool) -> Vec<String> {
    let is_same = |one: &Gate, other: &Gate| one.definition() == other.definition();
    let of_old = old.iter().filter_map(|gate| {
        let Some(kept) = new.iter().find(|kept| is_same(kept, gate)) else {
            let replaced = new.iter().any(|new| new.name == gate.name);
            return Some(format!("check `{}` {}", gate.name, if replaced { "replaced" } else { "removed" }));
        };
        let is_held = kept.pinned == gate.pinned && (gate.best.is_none() || kept.best.is_some());
        (!is_held).then(|| format!("check `{}` accepted with other files or counts", gate.name))
    });
    let of_new = new.iter().filter(|gate| with_new && !old.iter().any(|known| is_same(known, gate)));
    of_old.chain(of_new.map(|gate| format!("check `{}` added", gate.name))).collect()
}

/// A name from the first words of a command: `cargo test --all` is `cargo-test`.
fn name_of(run: &str) -> String {
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

fn is_variable(name: &str) -> bool {
    let mut chars = name.chars();
    chars.next().is_some_and(|char| char.is_ascii_alphabetic() || char == '_')
        && chars.all(|char| char.is_ascii_alphanumeric() || char == '_')
}

/// Variables that a check never sees: keys and tokens of the model and of the client, and omo's own.
/// What the terminal's size sets is left out as well, so that a result does not depend on it.
pub fn is_kept_from_gates(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    ["ANTHROPIC_", "CLAUDE", "OMO_"].iter().any(|prefix| name.starts_with(prefix))
        || matches!(name.as_str(), "AI_AGENT" | "COLUMNS" | "LINES" | "PWD" | "OLDPWD" | "SHLVL" | "_")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_change_of_checks_weakens_is_named() {
        let gate = |name: &str, run: &str| Gate::new(Some(name), run, Origin::User).unwrap();
        let old = [gate("tests", "make test"), gate("lint", "make lint")];
        let changed = |new: &[Gate], with_new| weakened(&old, new, with_new).join("; ");
        assert_eq!(changed(&old, true), "");
        assert_eq!(changed(&old[..1], false), "check `lint` removed");
        assert_eq!(changed(&[old[0].clone(), gate("lint", "true")], false), "check `lint` replaced");
        let more = [old.as_slice(), &[gate("more", "true")]].concat();
        assert_eq!((changed(&more, false), changed(&more, true)), (String::new(), "check `more` added".to_owned()));
        let mut other = old.clone();
        _ = other[0].pinned.insert("Makefile".to_owned(), "x".to_owned());
        assert_eq!(changed(&other, false), "check `tests` accepted with other files or counts");
        let mut counted = old.clone();
        counted[1].best = Some(Best::default());
        assert_eq!(weakened(&counted, &old, false), ["check `lint` accepted with other files or counts"]);
    }

    fn counts(run: u64, failed: u64, skipped: u64) -> Counts {
        Counts { run, failed, skipped }
    }

    #[test]
    fn an_end_is_green_only_when_something_ran_and_nothing_is_less_than_before() {
        use GateVerdict::{Failed, Green, NotStarted, NothingRan, TimedOut, Weaker};
        let best = |run, skipped| Some(Best { run, skipped: Some(skipped) });
        for (end, now, earlier, expected) in [
            (End::Exited(0), None, None, Green),
            (End::Exited(0), Some(counts(3, 0, 1)), None, Green),
            (End::Exited(0), Some(counts(3, 0, 1)), best(3, 1), Green),
            (End::Exited(0), Some(counts(4, 0, 0)), best(3, 1), Green),
            (End::Exited(0), Some(counts(0, 0, 0)), None, NothingRan),
            (End::Exited(0), Some(counts(0, 0, 4)), None, NothingRan),
            (End::Exited(0), Some(counts(2, 0, 1)), best(3, 1), Weaker),
            (End::Exited(0), Some(counts(3, 0, 2)), best(3, 1), Weaker),
            (End::Exited(0), Some(counts(9, 0, 2)), best(3, 1), Weaker),
            (End::Exited(0), None, best(3, 0), Weaker),
            (End::Exited(0), Some(counts(3, 1, 0)), None, Failed),
            (End::Exited(1), Some(counts(3, 0, 0)), None, Failed),
            (End::Killed(9), None, None, Failed),
            (End::TimedOut(300), Some(counts(3, 0, 0)), None, TimedOut),
            (End::NotStarted("no shell".to_owned()), None, None, NotStarted),
        ] {
            assert_eq!(judge(&end, now, earlier, false).0, expected, "{end:?} {now:?} {earlier:?}");
        }
        assert_eq!(judge(&End::Exited(0), None, None, true).0, NothingRan, "a runner that says nothing");
        assert_eq!(judge(&End::Exited(0), Some(counts(3, 0, 1)), None, true).0, Green);
    }

    #[test]
    fn the_best_is_the_most_that_ran_and_the_fewest_that_were_skipped_when_green() {
        let mut gate = Gate::new(None, "cargo test", Origin::User).unwrap();
        for (run, failed, skipped, verdict, best) in [
            (5, 2, 0, GateVerdict::Failed, (5, None)),
            (20, 0, 2, GateVerdict::Green, (20, Some(2))),
            (3, 0, 0, GateVerdict::Weaker, (20, Some(2))),
            (0, 0, 0, GateVerdict::NothingRan, (20, Some(2))),
            (99, 0, 0, GateVerdict::TimedOut, (20, Some(2))),
            (20, 0, 1, GateVerdict::Green, (20, Some(1))),
        ] {
            let record = Record { verdict, counts: Some(counts(run, failed, skipped)), ..Record::default() };
            gate.keep(record);
            assert_eq!(gate.best, Some(Best { run: best.0, skipped: best.1 }), "{run} {verdict:?}");
        }
    }

    #[test]
    fn evidence_needs_the_same_tree_and_the_same_setting() {
        let record = Record {
            verdict: GateVerdict::Green,
            tree: Some("t1".to_owned()),
            setting: "s1".to_owned(),
            ..Record::default()
        };
        assert!(record.is_evidence_for(Some("t1"), "s1"));
        assert!(!record.is_evidence_for(Some("t2"), "s1"));
        assert!(!record.is_evidence_for(Some("t1"), "s2"));
        assert!(!record.is_evidence_for(None, "s1"));
        assert!(!Record { tree: None, ..record.clone() }.is_evidence_for(None, "s1"));
        assert!(!Record { verdict: GateVerdict::Weaker, ..record }.is_evidence_for(Some("t1"), "s1"));
    }

    #[test]
    fn a_gate_has_a_name_of_its_own() {
        let mut gates = Vec::new();
        for run in ["cargo test", "cargo test --all", "./scripts/check.sh -v", "cargo test", "=", "npm run test:unit"] {
            add(&mut gates, Gate::new(None, run, Origin::User).unwrap()).unwrap();
        }
        let names: Vec<&str> = gates.iter().map(|gate| gate.name.as_str()).collect();
        assert_eq!(names, ["cargo-test", "cargo-test-2", "check.sh", "check", "npm-run"]);
        let many =
            (0..20).map(|number| add(&mut gates, Gate::new(None, &format!("true {number}"), Origin::User).unwrap()));
        assert_eq!(many.last(), Some(Err(InvalidGate::TooMany)));
        assert_eq!(gates.len(), MAX_GATES);
    }

    #[test]
    fn what_cannot_be_a_gate_is_refused() {
        let good = Gate::new(None, "true", Origin::User).unwrap();
        let env = |name: &str| BTreeMap::from([(name.to_owned(), String::new())]);
        for bad in [
            Gate { run: " ".to_owned(), ..good.clone() },
            Gate { run: "a\0b".to_owned(), ..good.clone() },
            Gate { run: "x".repeat(MAX_COMMAND_BYTES + 1), ..good.clone() },
            Gate { name: "a b".to_owned(), ..good.clone() },
            Gate { name: String::new(), ..good.clone() },
            Gate { cwd: Some("/etc".to_owned()), ..good.clone() },
            Gate { cwd: Some("a/../../b".to_owned()), ..good.clone() },
            Gate { cwd: Some("~/x".to_owned()), ..good.clone() },
            Gate { cwd: Some(r"C:\x".to_owned()), ..good.clone() },
            Gate { timeout_seconds: Some(0), ..good.clone() },
            Gate { timeout_seconds: Some(841), ..good.clone() },
            Gate { env: env("A B"), ..good.clone() },
            Gate { env: env("OMO_CHECK"), ..good.clone() },
            Gate { env: env("anthropic_api_key"), ..good.clone() },
        ] {
            assert!(bad.check().is_err(), "{bad:?}");
        }
        assert_eq!(good.check(), Ok(()));
    }
}
