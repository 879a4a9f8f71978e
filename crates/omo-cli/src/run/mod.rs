//! Runs of plans from a terminal, and for the agents that work on them: `omo run`, `omo next`, `omo unit`,
//! `omo evidence`, `omo verdict`, `omo check`, `omo report` and `omo gate answer`.
//!
//! None of them lets its caller say that something has passed: the verify runner finds that out.

mod answer;
mod arguments;
mod blocks;
mod context;
mod evidence;
mod exec;
mod handed;
mod local;
mod manage;
mod next;
mod open;
mod report;
mod segment;
mod stage;
mod step;
mod typed;
mod unit;
mod verdict;
mod watch;

pub(crate) use answer::answer;
pub(crate) use arguments::{
    AnswerOptions, CheckOptions, Evidence, NextOptions, ReportOptions, Run, Unit, VerdictOptions,
};
pub(crate) use blocks::{commands, counted};
pub(crate) use evidence::evidence;
pub(crate) use exec::AddedTask;
pub(crate) use next::{LONGEST_WAIT, LOOK_EVERY, next};
pub(crate) use report::{check, report};
pub(crate) use stage::{Stage, stage};
pub(crate) use verdict::verdict;

use omo_store::config::Config;
use omo_store::env::Env;

use crate::failure::Failure;

/// `omo run …`.
pub(crate) fn run(env: &Env, config: &Config, action: Run) -> Result<(), Failure> {
    crate::warn(config);
    match action {
        Run::Open(options) => open::open(env, &options),
        Run::List(options) => manage::list(env, &options),
        Run::Show(options) => manage::show(env, &options),
        Run::Resume(options) => manage::resume(env, &options),
        Run::Cancel(options) => manage::cancel(env, &options),
        Run::Gc(options) => manage::gc(env, &options),
        Run::Import(options) => manage::import(env, &options),
    }
}

/// `omo unit …`.
pub(crate) fn unit(env: &Env, action: Unit) -> Result<(), Failure> {
    match action {
        Unit::Start(options) => unit::start(env, &options),
        Unit::Brief(options) => unit::brief(env, &options),
        Unit::Done(options) => unit::done(env, &options),
        Unit::Fail(options) => unit::fail(env, &options),
        Unit::Skip(options) => unit::skip(env, &options),
        Unit::Retry(options) => unit::retry(env, &options),
    }
}
