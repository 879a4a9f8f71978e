//! The bounds of a run: their defaults, and the range that any of them may be set to.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// How far a run may go before omo ends it, whatever the model says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunLimits {
    /// How many Stops may be turned into continuations.
    pub max_blocks: u32,
    /// Seconds after a block within which a Stop without any tool call in between is let through.
    pub cooldown_seconds: u32,
    /// Minutes after which a run expires.
    pub max_minutes: u32,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self { max_blocks: 8, cooldown_seconds: 3, max_minutes: 240 }
    }
}

/// One bound, as a person names and sets it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LimitKind {
    /// `max_blocks`, `--max-blocks`
    MaxBlocks,
    /// `max_minutes`, `--max-minutes`
    MaxMinutes,
    /// `cooldown_seconds`
    CooldownSeconds,
}

impl LimitKind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::MaxBlocks, Self::MaxMinutes, Self::CooldownSeconds];

    /// What it is called in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Self::MaxBlocks => "max_blocks",
            Self::MaxMinutes => "max_minutes",
            Self::CooldownSeconds => "cooldown_seconds",
        }
    }

    /// The values that it may be set to. They hold even for a user who asks for more: an unattended
    /// run must end.
    pub fn allowed_range(self) -> RangeInclusive<u32> {
        match self {
            Self::MaxBlocks => 1..=100,
            Self::MaxMinutes => 1..=1_440,
            Self::CooldownSeconds => 0..=300,
        }
    }
}

impl RunLimits {
    /// Sets one bound; `false`, and nothing set, when the value is not allowed.
    pub fn set(&mut self, limit: LimitKind, value: u32) -> bool {
        let allowed = limit.allowed_range().contains(&value);
        if allowed {
            *self.slot(limit) = value;
        }
        allowed
    }

    /// The same bounds, each brought into its range. What a state file says is used through this:
    /// a file in a repository can not widen a limit.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        for limit in LimitKind::ALL {
            let allowed = limit.allowed_range();
            let slot = self.slot(limit);
            *slot = (*slot).clamp(*allowed.start(), *allowed.end());
        }
        self
    }

    fn slot(&mut self, limit: LimitKind) -> &mut u32 {
        match limit {
            LimitKind::MaxBlocks => &mut self.max_blocks,
            LimitKind::MaxMinutes => &mut self.max_minutes,
            LimitKind::CooldownSeconds => &mut self.cooldown_seconds,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_outside_its_range_is_not_set() {
        let mut limits = RunLimits::default();
        assert!(limits.set(LimitKind::MaxBlocks, 100));
        assert!(!limits.set(LimitKind::MaxBlocks, 101));
        assert!(!limits.set(LimitKind::MaxBlocks, 0));
        assert!(!limits.set(LimitKind::MaxMinutes, 1_441));
        assert!(limits.set(LimitKind::CooldownSeconds, 0));
        assert_eq!(limits, RunLimits { max_blocks: 100, cooldown_seconds: 0, max_minutes: 240 });
    }

    #[test]
    fn what_a_file_says_is_clamped() {
        let wide = RunLimits { max_blocks: 9_999, cooldown_seconds: 9_999, max_minutes: 0 };
        assert_eq!(wide.clamped(), RunLimits { max_blocks: 100, cooldown_seconds: 300, max_minutes: 1 });
        assert_eq!(RunLimits::default().clamped(), RunLimits::default());
    }
}
