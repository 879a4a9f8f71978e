//! `omo worker`, from outside: the real binary, a bare repository that it shares with a run, and a stand-in for the
//! client.
#![cfg(unix)]

mod two_machines;

mod endings;
mod hostile;
mod jobs;
mod manifests;
mod pushing;
mod remote_away;
mod restarts;
