//! State of a task or of an attempt.

use serde::{Serialize, Serializer};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Standing {
    Passed,
    /// Done by word of something else than omo, or judged by a verifier.
    Claimed,
    /// Done without proof.
    Unproved,
    Failed,
    /// Excluded by the plan.
    LeftOut,
    Skipped,
    /// Behind a task that has not passed.
    Blocked,
    Running,
    /// Interrupted, or deserted by its worker.
    Interrupted,
    #[default]
    Pending,
}

impl Standing {
    /// Word for people, such as `at work`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::Claimed => "claimed",
            Self::Unproved => "unproved",
            Self::Failed => "failed",
            Self::LeftOut => "left out by the plan",
            Self::Skipped => "skipped",
            Self::Blocked => "blocked",
            Self::Running => "at work",
            Self::Interrupted => "interrupted",
            Self::Pending => "pending",
        }
    }

    /// Key for programs, such as `running`.
    pub fn key(self) -> &'static str {
        match self {
            Self::LeftOut => "skipped",
            Self::Running => "running",
            Self::Interrupted => "held",
            other => other.word(),
        }
    }

    pub fn mark(self) -> char {
        match self {
            Self::Passed => '✓',
            Self::Claimed | Self::Unproved => '○',
            Self::Running => '→',
            Self::Failed => '✗',
            Self::LeftOut | Self::Skipped | Self::Blocked => '-',
            Self::Pending | Self::Interrupted => '·',
        }
    }
}

impl Serialize for Standing {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.key())
    }
}
