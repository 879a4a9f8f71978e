//! State, configuration and transcripts as files.

mod config;
mod folder;
mod state;
mod transcript;
