//! omo in the real client, against a scripted model on loopback: what a person does, and what
//! the person, the model and the files see of it.
//!
//! `cargo xtask test` builds the plugin and installs the client. Without them each test says so
//! in one line and ends.
#![cfg(unix)]

mod background;
mod commands;
mod held;
mod interrupted;
mod letting_go;
mod plugin;
mod sessions;
mod stage;
