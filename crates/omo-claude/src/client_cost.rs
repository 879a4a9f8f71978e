//! The limits of a client, and its cost.

use serde::{Deserialize, Serialize};

/// For how long a client may work where its user has set no time, in seconds.
const DEFAULT_TIME_LIMIT_SECONDS: u32 = 2 * 60 * 60;

/// Default of `--max-turns`: far more than a session needs, and an end to one that goes round in
/// circles.
pub const MAX_TURNS: u32 = 500;

/// A limit of time in seconds, of which 0 is the usual one.
pub fn time_limit_or_default(seconds: u32) -> u32 {
    if seconds == 0 {
        DEFAULT_TIME_LIMIT_SECONDS
    } else {
        seconds
    }
}

/// No worker has cost more than this, ten thousand dollars: a report that says more would leave nothing of any budget.
const MAX_TOLD_MICROS: u64 = 10_000 * 1_000_000;

/// Cost of clients, in millionths of a US dollar: `told` and `untold`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClientCost {
    /// As far as they said so; `None` where none of them has.
    #[serde(
        rename = "cost_micros",
        skip_serializing_if = "Option::is_none",
        default
    )]
    pub told: Option<u64>,
    /// The most that those may have cost that have not said so: the budget of each.
    #[serde(rename = "untold_micros", skip_serializing_if = "is_zero", default)]
    pub untold: u64,
}

impl ClientCost {
    /// The most that they have cost.
    pub fn most(&self) -> u64 {
        self.told.unwrap_or_default().saturating_add(self.untold)
    }

    /// Within what can be: a worker that nothing vouches for has told it, which may spend so much.
    #[must_use]
    pub fn within(self, budget: Option<u64>) -> Self {
        Self {
            told: self.told.map(|told| told.min(MAX_TOLD_MICROS)),
            untold: self.untold.min(budget.unwrap_or_default()),
        }
    }

    /// With one client more, which said that it cost so much, or was ended before it could say so.
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
