//! A scripted model: a small part of the Messages API, on this machine alone.
//!
//! [`ModelServer`] listens and speaks the protocol. A function of its caller answers each request: a few lines for
//! `omo doctor --live`, a whole script for the tests.

mod ids;
mod loopback;
mod model_server;
mod reply;
mod reply_json;

pub use ids::{random_number, tagged_id};
pub use loopback::LoopbackServer;
pub use model_server::{ModelRequest, ModelServer, ServerEnd};
pub use reply::{ModelMessage, ModelReply, ReplyBlock};
