//! Workers that Slurm runs: the real `omo`, a real cluster of one node for each test, and a stand-in for the client.
#![cfg(target_os = "linux")]

mod scene;

mod failures;
mod waves;
