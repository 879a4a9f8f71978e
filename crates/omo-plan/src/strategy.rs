//! How a plan asks to be worked on: by one session, or each of its sessions by a client of its own.

use crate::model::{Plan, TaskGroup};
use crate::plan_summary::{session_groups, sessions_per_wave};

/// How a plan is worked on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStrategy {
    /// One step after the other, in the session that was asked.
    SingleSession,
    /// A client for each session of the plan.
    Sessions {
        /// How many run beside others of their wave.
        parallel: usize,
        /// How many run alone.
        sequential: usize,
    },
}

impl RunStrategy {
    /// How a plan is worked on where nothing else is asked for.
    pub fn for_plan(plan: &Plan) -> Self {
        let sessions: Vec<&TaskGroup> = session_groups(plan).collect();
        if sessions.len() < 2 {
            return Self::SingleSession;
        }
        let parallel: usize =
            sessions_per_wave(&sessions).iter().map(|(_, count)| *count).filter(|count| *count > 1).sum();
        Self::Sessions { parallel, sequential: sessions.len() - parallel }
    }

    /// Whether clients are started.
    pub fn starts_clients(self) -> bool {
        self != Self::SingleSession
    }

    /// Whether some of them run at the same time.
    pub fn is_parallel(self) -> bool {
        matches!(self, Self::Sessions { parallel: 1.., .. })
    }

    /// `Strategy: 3 sessions (2 parallel, 1 sequential)`.
    pub fn summary_line(self) -> String {
        match self {
            Self::SingleSession => "Strategy: single session".to_owned(),
            Self::Sessions { parallel, sequential } => {
                format!("Strategy: {} sessions ({parallel} parallel, {sequential} sequential)", parallel + sequential)
            }
        }
    }
}
