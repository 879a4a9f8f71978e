//! Plans with parallel workers, from outside: the real binaries, real repositories, and a stand-in for the
//! client that does what `omo agent next` says.
#![cfg(unix)]

mod second_host;

mod budgets;
mod cancelled_pushes;
mod committed_work;
mod display;
mod documented_promises;
mod failures;
mod git_variables;
mod hooks;
mod kills;
mod landing;
mod launcher_failures;
mod launcher_passwords;
mod launchers;
mod recipe;
mod remote_workers;
mod stopping;
mod waves;

use omo_tests::parallel_repository;
