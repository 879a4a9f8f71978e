//! `ClientPolicy`: settings of a parallel run's clients, such as number, budget and permissions.

pub use omo_claude::client_cost::ClientCost;
use omo_claude::client_cost::time_limit_or_default;
use omo_remote::profile::LauncherProfile;
use serde::{Deserialize, Serialize};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientPolicy {
    /// Full name of the user's branch, such as `refs/heads/main`, which moves to the result.
    pub branch: String,
    /// Maximum number of clients at the same time; `0` for no bound.
    pub max_workers: u32,
    /// Budget of all clients together, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<u64>,
    /// Time limit of a client, in seconds; `0` for the default.
    pub time_limit_seconds: u32,
    pub skips_permissions: bool,
    /// Permissions given in advance, as rules of the client such as `Bash(cargo test:*)`.
    pub allow: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Name of a launcher, or a command, that starts workers elsewhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<LauncherProfile>,
    /// Remote repository from which a launcher's workers fetch the branch; `None` for `origin`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_remote: Option<String>,
    /// Command that prepares a fresh work tree.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Payer other than the user's subscription, such as `ANTHROPIC_API_KEY`, not yet accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepts_billing: bool,
}

impl ClientPolicy {
    pub fn time_limit_seconds(&self) -> u32 {
        time_limit_or_default(self.time_limit_seconds)
    }

    /// Profile of the launcher; a bare command is the `start` of one. `None` without a launcher.
    pub fn launcher_profile(&self) -> Option<LauncherProfile> {
        self.profile
            .clone()
            .or_else(|| self.launcher.as_deref().map(LauncherProfile::of_command))
    }

    pub(crate) fn time_limit_millis(&self) -> u64 {
        u64::from(self.time_limit_seconds()) * 1_000
    }

    pub fn remote_name(&self) -> &str {
        self.launcher_remote.as_deref().unwrap_or("origin")
    }
}
