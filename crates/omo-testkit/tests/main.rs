//! The test kit itself.

mod model;
mod real_client;
mod stand_in;
