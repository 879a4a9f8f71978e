//! Time limit, turn limit and cost of the client processes that omo starts.

use serde::{Deserialize, Serialize};

/// Seconds that a client may work where its user has set no limit.
const DEFAULT_TIME_LIMIT_SECONDS: u32 = 2 * 60 * 60;

/// Default of `--max-turns`: far more than a session needs, and an end to one that goes round in circles.
pub const MAX_TURNS: u32 = 500;

/// A limit in seconds, with the default for 0.
pub fn time_limit_or_default(seconds: u32) -> u32 {
    if seconds == 0 {
        DEFAULT_TIME_LIMIT_SECONDS
    } else {
        seconds
    }
}

/// Ten thousand dollars: more than any worker costs, so that a false report leaves something of a budget.
const MAX_TOLD_MICROS: u64 = 10_000 * 1_000_000;

/// Cost of one or more client processes, in millionths of a US dollar.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCost {
    /// Sum of the reported costs; `None` where no client has reported one.
    #[serde(
        rename = "cost_micros",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub told: Option<u64>,
    /// Budgets of the clients that reported no cost: the most that they may have cost.
    #[serde(rename = "untold_micros", skip_serializing_if = "is_zero", default)]
    pub untold: u64,
}

impl ClientCost {
    /// Upper bound of the cost: reported costs, and whole budgets for the rest.
    pub fn most(&self) -> u64 {
        self.told.unwrap_or_default().saturating_add(self.untold)
    }

    /// The cost cut to plausible values: an untrusted worker reported it, which may spend `budget`.
    #[must_use]
    pub fn within(self, budget: Option<u64>) -> Self {
        Self {
            told: self.told.map(|told| told.min(MAX_TOLD_MICROS)),
            untold: self.untold.min(budget.unwrap_or_default()),
        }
    }

    /// The sum with one more client; `told` is `None` for a client that ended before its report.
    #[must_use]
    pub fn with_client(self, told: Option<u64>, budget: Option<u64>) -> Self {
        let untold = if told.is_some() {
            0
        } else {
            budget.unwrap_or_default()
        };
        Self {
            told: [self.told, told]
                .into_iter()
                .flatten()
                .reduce(u64::saturating_add),
            untold: self.untold.saturating_add(untold),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde asks for a reference"
)]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_worker_tells_of_its_cost_is_bounded() {
        let forged = ClientCost {
            told: Some(u64::MAX),
            untold: u64::MAX,
        };
        assert_eq!(
            forged.within(Some(7)),
            ClientCost {
                told: Some(MAX_TOLD_MICROS),
                untold: 7
            }
        );
        assert_eq!(forged.within(None).untold, 0);
        let honest = ClientCost {
            told: Some(250_000),
            untold: 5,
        };
        assert_eq!(honest.within(Some(7)), honest);
    }
}
