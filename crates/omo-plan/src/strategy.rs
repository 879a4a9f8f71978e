//! Strategy of a plan: one session, or a client for each of its sessions.

use crate::model::{Plan, TaskGroup};
use crate::plan_summary::{session_groups, sessions_per_wave};

/// Strategy of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStrategy {
    /// One step after the other, in the current session.
    SingleSession,
    /// A client for each session of the plan.
    Sessions {
        /// Sessions beside others of their wave.
        parallel: usize,
        /// Sessions that run alone.
        sequential: usize,
    },
}

impl RunStrategy {
    /// Default strategy of a plan.
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

    /// `true` where clients are started.
    pub fn starts_clients(self) -> bool {
        self != Self::SingleSession
    }

    /// `true` where some clients run at the same time.
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Sessions { parallel: 1.., .. })
    }

    /// `Strategy: 3 sessions (2 parallel, 1 sequential)`.
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
