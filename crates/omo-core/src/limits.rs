//! The bounds of a run, their defaults and their ranges.

use serde::{Deserialize, Serialize};

/// Days after its start in which a run may go on, whatever the working time.
pub const MAX_DAYS: u32 = 7;

/// Bounds within which omo continues a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RunLimits {
    /// Stops that are turned into continuations.
    pub max_blocks: u32,
    /// Seconds after a block within which a Stop without a tool call is let through.
    pub cooldown_seconds: u32,
    pub max_minutes: u32,
    /// Tokens at which a run pauses; `0` for no bound.
    pub max_tokens: u32,
    pub max_failed_claims: u32,
}

impl RunLimits {
    pub const DEFAULT: Self = Self {
        max_blocks: 8,
        cooldown_seconds: 3,
        max_minutes: 240,
        max_tokens: 0,
        max_failed_claims: 3,
    };
}

impl Default for RunLimits {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// A bound of [`RunLimits`] that users can set.
#[derive(Clone, Copy, Debug)]
pub struct LimitRow {
    /// Name in the configuration, below `limits`.
    pub name: &'static str,
    /// The option of a prompt that sets the bound for one run.
    pub option: Option<&'static str>,
    pub lowest: u32,
    /// Highest value, even for a user who asks for more: an unattended run must end.
    pub highest: u32,
    pub meaning: &'static str,
    field: fn(&mut RunLimits) -> &mut u32,
}

/// All bounds, as the configuration, the options of a prompt and the guide list them.
pub const LIMITS: [LimitRow; 5] = [
    LimitRow {
        name: "max_blocks",
        option: Some("--max-blocks"),
        lowest: 1,
        highest: 100,
        meaning: "maximum continuations of a run",
        field: |limits| &mut limits.max_blocks,
    },
    LimitRow {
        name: "max_minutes",
        option: Some("--max-minutes"),
        lowest: 1,
        highest: 1_440,
        meaning: "maximum minutes that a run is worked on; the time between two turns, of a usage limit and of awaited work does not count, and within a turn no step counts more than 15 minutes",
        field: |limits| &mut limits.max_minutes,
    },
    LimitRow {
        name: "max_tokens",
        option: Some("--max-tokens"),
        lowest: 0,
        highest: 1_000_000_000,
        meaning: "tokens after which a run pauses, those of its agents included; 0 for no bound. What the client reads from its cache does not count",
        field: |limits| &mut limits.max_tokens,
    },
    LimitRow {
        name: "max_failed_claims",
        option: Some("--max-failed-claims"),
        lowest: 1,
        highest: 10,
        meaning: "failed claims after which a run ends",
        field: |limits| &mut limits.max_failed_claims,
    },
    LimitRow {
        name: "cooldown_seconds",
        option: None,
        lowest: 0,
        highest: 300,
        meaning: "seconds within which a turn that ends again, without any tool used, is let through",
        field: |limits| &mut limits.cooldown_seconds,
    },
];

impl LimitRow {
    pub fn named(name: &str) -> Option<&'static Self> {
        LIMITS.iter().find(|row| row.name == name)
    }

    pub fn default_value(&self) -> u32 {
        *(self.field)(&mut RunLimits::default())
    }

    /// `1 to 100`.
    pub fn range_text(&self) -> String {
        format!("{} to {}", self.lowest, self.highest)
    }
}

impl RunLimits {
    /// Sets one bound; `false`, and nothing set, when the value is not allowed.
    pub fn set(&mut self, row: &LimitRow, value: u32) -> bool {
        let is_allowed = (row.lowest..=row.highest).contains(&value);
        if is_allowed {
            *(row.field)(self) = value;
        }
        is_allowed
    }

    /// Each bound brought into its range: a state file in a repository cannot widen a limit.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        for row in &LIMITS {
            let field = (row.field)(&mut self);
            *field = (*field).clamp(row.lowest, row.highest);
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_outside_its_range_is_not_set() {
        for row in &LIMITS {
            let mut limits = RunLimits::default();
            assert!(
                limits.set(row, row.highest) && limits.set(row, row.lowest),
                "{}",
                row.name
            );
            assert!(!limits.set(row, row.highest + 1), "{}", row.name);
            assert!(
                row.lowest
                    .checked_sub(1)
                    .is_none_or(|below| !limits.set(row, below)),
                "{}",
                row.name
            );
            assert_eq!(*(row.field)(&mut limits), row.lowest, "{}", row.name);
            *(row.field)(&mut limits) = row.default_value();
            assert_eq!(
                limits,
                RunLimits::default(),
                "{} sets what is not its own",
                row.name
            );
        }
    }

    #[test]
    fn the_guide_names_the_longest_step() {
        let meaning = LimitRow::named("max_minutes").unwrap().meaning;
        let step = format!(
            "no step counts more than {} minutes",
            crate::session::rest::LONGEST_STEP_MINUTES
        );
        assert!(meaning.contains(&step), "{meaning}");
    }

    #[test]
    fn what_a_file_says_is_clamped() {
        let (mut wide, mut narrow) = (RunLimits::default(), RunLimits::default());
        for row in &LIMITS {
            *(row.field)(&mut wide) = u32::MAX;
            *(row.field)(&mut narrow) = 0;
        }
        for row in &LIMITS {
            assert_eq!(
                *(row.field)(&mut wide.clamped()),
                row.highest,
                "{}",
                row.name
            );
            assert_eq!(
                *(row.field)(&mut narrow.clamped()),
                row.lowest,
                "{}",
                row.name
            );
        }
        assert_eq!(RunLimits::default().clamped(), RunLimits::default());
    }

    /// An unattended run ends within a day, whatever a file or a user says.
    #[test]
    fn the_widest_bounds_are_those_that_were_promised() {
        let widest = LIMITS.map(|row| (row.name, row.highest));
        assert!(
            widest.contains(&("max_blocks", 100)) && widest.contains(&("max_minutes", 1_440)),
            "{widest:?}"
        );
    }
}
