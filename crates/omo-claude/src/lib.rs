//! The client, which is Claude Code: the input and output of its hooks, its settings and list of
//! sessions, and the sessions that omo starts.

pub mod client;
pub mod client_cost;
pub mod client_end;
pub mod client_sessions;
pub mod hook_input;
pub mod hook_output;
mod platform;
pub mod project_clients;
pub mod settings;
pub mod status_line_settings;
mod stream;
pub mod supervisor;
pub mod version;
pub mod worker;
pub mod worker_resources;
pub mod worker_settings;
