//! What the clients of a parallel run are started with.

pub use omo_claude::client_cost::ClientCost;
use omo_claude::client_cost::time_limit_or_default;
use omo_remote::profile::LauncherProfile;
use serde::{Deserialize, Serialize};

/// What the clients of sessions are started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClientPolicy {
    /// The user's branch, as git calls it, which moves to what they come to.
    pub branch: String,
    /// How many at the same time at most; 0 for as many as there can be.
    pub max_workers: u32,
    /// What all of them together may spend, in millionths of a US dollar.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget_micros: Option<u64>,
    /// For how long one of them may run, in seconds; 0 for the usual time.
    pub time_limit_seconds: u32,
    /// They do without any permission; their user asked for that.
    pub skips_permissions: bool,
    /// What they may do without being asked, as rules of the client.
    pub allow: Vec<String>,
    /// The model that they use, where one was named.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// What starts them somewhere else: the name of a launcher, or a command.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher: Option<String>,
    /// The launcher of that name, as the user's configuration had it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<LauncherProfile>,
    /// The remote repository that such a command has the branch from; none for the usual one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launcher_remote: Option<String>,
    /// The command that makes a fresh work tree ready.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// What would pay for them where that is not their user's subscription, and their user has not accepted it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub payer: Option<String>,
    /// The user who opened the run accepts that something else than a subscription pays.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub accepts_billing: bool,
}

impl ClientPolicy {
    /// For how long each client may work, in seconds.
    pub fn time_limit_seconds(&self) -> u32 {
        time_limit_or_default(self.time_limit_seconds)
    }

    /// The launcher of workers elsewhere; a command is one with a `start` alone.
    pub fn launcher_profile(&self) -> Option<LauncherProfile> {
        self.profile.clone().or_else(|| self.launcher.as_deref().map(LauncherProfile::of_command))
    }

    /// For how long each client may work, in milliseconds.
    pub(crate) fn time_limit_millis(&self) -> u64 {
        u64::from(self.time_limit_seconds()) * 1_000
    }

    /// The name of the remote repository that a session which is started somewhere else works with.
    pub fn remote_name(&self) -> &str {
        self.launcher_remote.as_deref().unwrap_or("origin")
    }
}
