//! The plan that a session executes, and the command that its user typed last.
//!
//! The truth about a plan run is its ledger; here stands what a hook needs of it.

use serde::{Deserialize, Serialize};

use crate::text::first_chars;
use crate::timestamp::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct PlanRun {
    pub id: String,
    pub plan: String,
    pub total: u32,
    pub passed: u32,
    pub failed: u32,
    /// Tasks that are done without proof; `None` from an older omo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unproved: Option<u32>,
    /// A reviewer has judged the whole; `None` from an older omo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_reviewed: Option<bool>,
    pub blocked: u32,
    pub running: Option<String>,
    pub waits: Option<String>,
    /// The next command, such as `omo agent next`.
    pub next: String,
    /// The end in one word; `None` for an open run.
    pub ended: Option<String>,
    pub opened_at: Option<Timestamp>,
    pub prompt_at: Option<Timestamp>,
    /// The user was not told of the end or the question; `None` from an older omo.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_untold: Option<bool>,
    pub updated_at: Option<Timestamp>,
    /// Seal of omo: an entry that omo did not write has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

pub const CANCELLED: &str = "cancelled";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanRunStatus<'a> {
    Executes,
    Waits(&'a str),
    Ended(&'a str),
}

/// Maximum characters of what is kept for hooks.
const ID_CHARS: usize = 64;
const PLAN_CHARS: usize = 1_000;
const TEXT_CHARS: usize = 300;

impl PlanRun {
    pub fn status(&self) -> PlanRunStatus<'_> {
        match (&self.ended, &self.waits) {
            (Some(word), _) => PlanRunStatus::Ended(word),
            (None, Some(question)) => PlanRunStatus::Waits(question),
            (None, None) => PlanRunStatus::Executes,
        }
    }

    pub fn is_open(&self) -> bool {
        self.ended.is_none()
    }

    pub fn is_untold(&self) -> bool {
        self.is_untold == Some(true)
    }

    /// `true` for a run that its user's words may continue: open, or ended and not complete.
    pub fn can_resume(&self) -> bool {
        self.ended.as_deref() != Some("complete")
    }

    /// Copy of the plan run with each text cut to its bound.
    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            id: first_chars(&self.id, ID_CHARS),
            plan: first_chars(&self.plan, PLAN_CHARS),
            running: self.running.map(|text| first_chars(&text, ID_CHARS)),
            waits: self.waits.map(|text| first_chars(&text, TEXT_CHARS)),
            next: first_chars(&self.next, TEXT_CHARS),
            ended: self.ended.map(|text| first_chars(&text, ID_CHARS)),
            ..self
        }
    }

    /// This state as the successor of `before`: hooks' notes on the same run stay, and a new end or
    /// question is still to be told.
    #[must_use]
    pub fn following(self, before: Option<&Self>) -> Self {
        let before = before.filter(|before| before.id == self.id);
        let is_untold = match (self.status(), before) {
            // A run that ended before this session saw it open.
            (PlanRunStatus::Executes | PlanRunStatus::Ended(CANCELLED), _)
            | (PlanRunStatus::Ended(_), None) => false,
            (status, Some(before)) if before.status() == status => before.is_untold(),
            (PlanRunStatus::Waits(_) | PlanRunStatus::Ended(_), _) => true,
        };
        let is_untold = Some(is_untold);
        let Some(before) = before else {
            return Self { is_untold, ..self };
        };
        let (opened_at, prompt_at) = (
            before.opened_at.or(self.opened_at),
            before.prompt_at.max(self.prompt_at),
        );
        Self {
            opened_at,
            prompt_at,
            is_untold,
            ..self
        }
    }

    /// `true` for equal content, whenever it was written.
    pub fn has_same_content(&self, other: &Self) -> bool {
        self.content() == other.content()
    }

    fn content(&self) -> Self {
        Self {
            updated_at: None,
            seal: None,
            ..self.clone()
        }
    }
}

/// A typed command: its arguments never pass through a shell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TypedCommand {
    /// Without `/omo:`.
    pub name: String,
    /// Text behind the name, byte for byte.
    pub arguments: String,
    pub at: Timestamp,
}

pub(crate) const MAX_ARGUMENTS_BYTES: usize = 4_096;
const NAME_BYTES: usize = 64;
/// Milliseconds for which a typed command's arguments are used.
pub const ARGUMENTS_KEPT_MILLIS: i64 = 10 * 60_000;

impl TypedCommand {
    /// A command to keep; `None` for too long a name or arguments.
    pub fn to_keep(name: &str, arguments: &str, at: Timestamp) -> Option<Self> {
        let is_short = arguments.len() <= MAX_ARGUMENTS_BYTES && name.len() <= NAME_BYTES;
        is_short.then(|| Self {
            name: name.to_owned(),
            arguments: arguments.to_owned(),
            at,
        })
    }

    pub fn is_recent(&self, name: &str, now: Timestamp) -> bool {
        let age = now.millis_since(self.at);
        self.name == name && age.is_some_and(|age| age <= ARGUMENTS_KEPT_MILLIS)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlannedCommand {
    pub task: String,
    pub command: String,
    /// Its folder, from the project's top; `None` for the top.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub folder: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    fn run() -> PlanRun {
        PlanRun {
            id: "r-1".to_owned(),
            plan: "docs/plan.md".to_owned(),
            total: 7,
            passed: 3,
            ..PlanRun::default()
        }
    }

    #[test]
    fn a_run_executes_until_it_waits_or_ends() {
        let waits = PlanRun {
            waits: Some("go on?".to_owned()),
            ..run()
        };
        let ended = PlanRun {
            ended: Some("complete".to_owned()),
            ..waits.clone()
        };
        assert_eq!(run().status(), PlanRunStatus::Executes);
        assert_eq!(waits.status(), PlanRunStatus::Waits("go on?"));
        assert_eq!(ended.status(), PlanRunStatus::Ended("complete"));
        let failed = PlanRun {
            ended: Some("completed_with_failures".to_owned()),
            ..run()
        };
        assert_eq!(
            [&run(), &waits, &ended, &failed].map(PlanRun::is_open),
            [true, true, false, false]
        );
        assert_eq!(
            [&run(), &waits, &ended, &failed].map(PlanRun::can_resume),
            [true, true, false, true]
        );
    }

    #[test]
    fn a_prompt_that_was_noted_meanwhile_stays_and_that_of_another_run_does_not() {
        let noted = PlanRun {
            opened_at: Some(at(1)),
            prompt_at: Some(at(9)),
            ..run()
        };
        let next = PlanRun {
            passed: 4,
            opened_at: Some(at(5)),
            ..run()
        };
        let after = next.clone().following(Some(&noted));
        assert_eq!(
            (after.passed, after.opened_at, after.prompt_at),
            (4, Some(at(1)), Some(at(9)))
        );
        let other = PlanRun {
            id: "r-2".to_owned(),
            ..next.clone()
        };
        let unnoted = |run: &PlanRun| PlanRun {
            is_untold: Some(false),
            ..run.clone()
        };
        assert_eq!(other.clone().following(Some(&noted)), unnoted(&other));
        assert_eq!(next.clone().following(None), unnoted(&next));
    }

    #[test]
    fn an_end_and_a_question_are_told_once_and_a_cancelled_run_is_not() {
        let waits = |text: &str| PlanRun {
            waits: Some(text.to_owned()),
            ..run()
        };
        let ended = |word: &str| PlanRun {
            ended: Some(word.to_owned()),
            ..run()
        };
        let untold = |run: PlanRun| PlanRun {
            is_untold: Some(true),
            ..run
        };
        let other = PlanRun {
            id: "r-2".to_owned(),
            ..run()
        };
        for (what, next, before, expected) in [
            ("it goes on", run(), Some(untold(waits("a"))), false),
            ("it ends", ended("complete"), Some(run()), true),
            (
                "it ends behind a question",
                ended("complete"),
                Some(waits("a")),
                true,
            ),
            (
                "it had ended",
                ended("complete"),
                Some(ended("complete")),
                false,
            ),
            (
                "it had ended untold",
                ended("complete"),
                Some(untold(ended("complete"))),
                true,
            ),
            (
                "it ends otherwise",
                ended("complete"),
                Some(ended("failed")),
                true,
            ),
            (
                "it was cancelled",
                ended(CANCELLED),
                Some(untold(waits("a"))),
                false,
            ),
            ("another session had it end", ended("complete"), None, false),
            (
                "another run was known",
                ended("complete"),
                Some(other),
                false,
            ),
            ("it begins with a question", waits("a"), None, true),
            ("it had asked", waits("a"), Some(waits("a")), false),
            (
                "it asks the next question",
                waits("b"),
                Some(waits("a")),
                true,
            ),
        ] {
            assert_eq!(
                next.following(before.as_ref()).is_untold,
                Some(expected),
                "{what}"
            );
        }
    }

    #[test]
    fn what_is_said_is_compared_and_not_when() {
        let later = PlanRun {
            updated_at: Some(at(9)),
            seal: Some("x".to_owned()),
            ..run()
        };
        assert!(run().has_same_content(&later));
        assert!(!run().has_same_content(&PlanRun { passed: 4, ..run() }));
    }

    #[test]
    fn nothing_in_it_is_long() {
        let long = || "ü".repeat(5_000);
        let run = PlanRun {
            id: long(),
            plan: long(),
            running: Some(long()),
            waits: Some(long()),
            next: long(),
            ended: Some(long()),
            ..run()
        };
        let chars = serde_json::to_string(&run.bounded())
            .unwrap()
            .chars()
            .count();
        assert!(chars < 2_500, "{chars}");
    }

    #[test]
    fn arguments_are_kept_whole_for_a_short_time_or_not_at_all() {
        let full = "x".repeat(MAX_ARGUMENTS_BYTES);
        let command = TypedCommand::to_keep("execute-plan", &full, at(1_000)).unwrap();
        assert_eq!(
            TypedCommand::to_keep("execute-plan", &format!("{full}x"), at(0)),
            None
        );
        assert_eq!(TypedCommand::to_keep(&"x".repeat(65), "", at(0)), None);
        for (name, now, recent) in [
            ("execute-plan", 1_000, true),
            ("execute-plan", 1_000 + ARGUMENTS_KEPT_MILLIS, true),
            ("execute-plan", 1_001 + ARGUMENTS_KEPT_MILLIS, false),
            ("execute-plan", 999, false),
            ("other", 1_000, false),
        ] {
            assert_eq!(command.is_recent(name, at(now)), recent, "{name} {now}");
        }
    }
}
