//! `RunStrategy`: run a plan in one session, or start a client for each session of the plan.

use crate::model::{Plan, TaskGroup};
use crate::plan_summary::{session_groups, sessions_per_wave};

/// Clients for a run: one, or one for each session of the plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStrategy {
    SingleSession,
    Sessions { parallel: usize, sequential: usize },
}

impl RunStrategy {
    pub fn for_plan(plan: &Plan) -> Self {
        let sessions: Vec<&TaskGroup> = session_groups(plan).collect();
        if sessions.len() < 2 {
            return Self::SingleSession;
        }
        let parallel: usize = sessions_per_wave(&sessions)
            .iter()
            .map(|(_, count)| *count)
            .filter(|count| *count > 1)
            .sum();
        Self::Sessions {
            parallel,
            sequential: sessions.len() - parallel,
        }
    }

    pub fn starts_clients(self) -> bool {
        self != Self::SingleSession
    }

    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Sessions { parallel: 1.., .. })
    }

    /// Line such as `Strategy: 3 sessions (2 parallel, 1 sequential)`.
    pub fn summary_line(self) -> String {
        match self {
            Self::SingleSession => "Strategy: single session".to_owned(),
            Self::Sessions {
                parallel,
                sequential,
            } => {
                format!(
                    "Strategy: {} sessions ({parallel} parallel, {sequential} sequential)",
                    parallel + sequential
                )
            }
        }
    }
}
