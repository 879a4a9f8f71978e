//! `/omo:cancel`, `/omo:report` and `/omo:retry`: answered by the `omo` beside this hook, which knows how runs work.
//!
//! The words go to it on standard input, sealed as what a person has typed, and never near a shell. It has less time than
//! the client gives the hook, and is ended with all that it started.

use std::time::Duration;

use omo_core::run_command::RunCommand;
use omo_core::words::plan::run_answer;
use omo_core::words::refused;
use omo_exec::own_command::{self, Answered};
use omo_store::typed_order::{ARGUMENT, TypedOrder};

use crate::edge::Context;
use crate::watchdog;

/// How long `omo` may take. The client gives the hook five seconds.
const LIMIT: Duration = Duration::from_millis(3_500);
/// What the hook needs beside that, to end it and to say so.
const SLACK: Duration = Duration::from_millis(700);

/// What the user reads.
pub fn answer(context: &Context, command: RunCommand, arguments: &str) -> String {
    let (Some(root), Some(id)) = (context.root.as_deref(), context.session_id.as_ref()) else {
        return refused("no project folder is known here, or no id of this session");
    };
    let Some(program) = own_command::program() else {
        return run_answer::not_answered(command, "`omo` is not there yet, or not beside the hooks of this plugin");
    };
    let typed = (command, arguments);
    let order = match TypedOrder::new(typed, id, root, context.env.state_home.as_deref(), context.env.now) {
        Ok(Some(order)) => order,
        Ok(None) => return refused("the path of this project is no UTF-8, and no plan runs in it"),
        Err(error) => return run_answer::not_answered(command, &error.to_string()),
    };
    watchdog::extend(LIMIT + SLACK);
    match own_command::run(&program, ARGUMENT, root, order.to_line(), LIMIT) {
        Ok(Answered::Ended { status: Some(0), said: [said, warned] }) => {
            let said = [said, warned].concat();
            run_answer::answered(command, &String::from_utf8_lossy(&said))
        }
        Ok(Answered::Ended { said: [_, warned], .. }) => {
            let warned = String::from_utf8_lossy(&warned).into_owned();
            let why = warned.lines().next().filter(|line| !line.is_empty()).unwrap_or("`omo` gave no answer");
            run_answer::not_answered(command, why)
        }
        Ok(Answered::TooLong) => run_answer::took_too_long(command),
        Err(error) => run_answer::not_answered(command, &format!("`omo` cannot be started: {error}")),
    }
}
