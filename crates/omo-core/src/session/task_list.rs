//! An open task list as its project remembers it, to offer it to a new session.
//!
//! The truth stands in the session's files; this note saves the start of a session a search.

use serde::{Deserialize, Serialize};

use crate::text::first_chars;
use crate::timestamp::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct OpenTaskList {
    pub id: String,
    pub goal: String,
    /// The list's phase, such as `PLANNING`.
    pub phase: String,
    /// Number of tasks without the one that verifies the others.
    pub total: u32,
    pub done: u32,
    pub updated_at: Option<Timestamp>,
    /// Seal of omo: a note that omo did not write has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seal: Option<String>,
}

const ID_CHARS: usize = 128;
const GOAL_CHARS: usize = 200;
const PHASE_CHARS: usize = 32;

/// Milliseconds for which an idle list is offered: seven days.
const OFFERED_MILLIS: i64 = 7 * 24 * 60 * 60 * 1_000;

impl OpenTaskList {
    /// `true` within seven days after the list's last change.
    pub fn is_offered(&self, now: Timestamp) -> bool {
        self.updated_at.is_some_and(|at| {
            now.millis_since(at)
                .is_none_or(|millis| millis < OFFERED_MILLIS)
        })
    }

    #[must_use]
    pub fn bounded(self) -> Self {
        Self {
            id: first_chars(&self.id, ID_CHARS),
            goal: first_chars(&self.goal, GOAL_CHARS),
            phase: first_chars(&self.phase, PHASE_CHARS),
            ..self
        }
    }

    pub(crate) fn resume_line(&self) -> String {
        let id = &self.id;
        match &*self.phase {
            "PLANNING" => format!("/omo:ulw-plan --resume --session {id}"),
            "FAILED" => format!("/omo:ulw-exec --session {id} --again"),
            _ => format!("/omo:ulw-exec --session {id}"),
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

const PLAN_NAME_PREFIX: &str = "session ";

/// The name of a session's run, in the place of a plan's path.
pub fn task_list_plan_name(id: &str) -> String {
    format!("{PLAN_NAME_PREFIX}{id}")
}

/// The session of a run, by the name in the place of a plan's path; `None` for a plan.
pub fn task_list_id(plan: &str) -> Option<&str> {
    plan.strip_prefix(PLAN_NAME_PREFIX)
        .filter(|id| crate::session::id::SessionId::parse(id).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_phase_goes_on_with_the_command_that_it_is_for() {
        for (phase, expected) in [
            ("PLANNING", "/omo:ulw-plan --resume --session s-1"),
            ("PLANNING_COMPLETE", "/omo:ulw-exec --session s-1"),
            ("EXECUTION", "/omo:ulw-exec --session s-1"),
            ("VERIFICATION", "/omo:ulw-exec --session s-1"),
            ("FAILED", "/omo:ulw-exec --session s-1 --again"),
        ] {
            let session = OpenTaskList {
                id: "s-1".to_owned(),
                phase: phase.to_owned(),
                ..OpenTaskList::default()
            };
            assert_eq!(session.resume_line(), expected, "{phase}");
        }
    }

    #[test]
    fn what_lay_for_a_week_is_not_offered_any_more() {
        let at = |millis| Timestamp::from_millis(millis);
        let session = OpenTaskList {
            updated_at: Some(at(1_000)),
            ..OpenTaskList::default()
        };
        for (now, expected) in [
            (0, true),
            (1_000, true),
            (OFFERED_MILLIS + 999, true),
            (OFFERED_MILLIS + 1_000, false),
        ] {
            assert_eq!(session.is_offered(at(now)), expected, "{now}");
        }
        assert!(
            !OpenTaskList::default().is_offered(at(0)),
            "nobody knows since when"
        );
    }

    #[test]
    fn a_session_is_told_from_a_plan_by_its_name() {
        assert_eq!(
            task_list_id(&task_list_plan_name("11111111-2222")),
            Some("11111111-2222")
        );
        for plan in [
            "docs/plan.md",
            "session",
            "session ",
            "session ../x",
            "session a b",
            "session plan.md",
        ] {
            assert_eq!(task_list_id(plan), None, "{plan}");
        }
    }

    #[test]
    fn nothing_in_it_is_long() {
        let long = || "ü".repeat(5_000);
        let session = OpenTaskList {
            id: long(),
            goal: long(),
            phase: long(),
            ..OpenTaskList::default()
        }
        .bounded();
        assert!(serde_json::to_string(&session).unwrap().chars().count() < 500);
    }
}
