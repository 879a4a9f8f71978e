//! Calls of the `omo` beside this hook, for `/omo:cancel`, `/omo:report`, `/omo:retry` and
//! `/omo:answer`, for background work and for pages of ended runs. Typed words go to its standard
//! input, sealed as typed by a person, and never through a shell. It is ended with all of its
//! children before the client's time for the hook is over.

use std::path::Path;
use std::time::Duration;

use omo_core::messages::plan::run_answer;
use omo_core::messages::refusal_line;
use omo_core::prompt::short_answer;
use omo_core::run_command::{EndedRunName, RunCommand};
use omo_core::session::plan_run::{PlanRun, PlanRunStatus};
use omo_core::session::{Interruption, Session};
use omo_core::text::{sanitize, sanitize_line};
use omo_process::own_command::{self, Answered};
use omo_process::watchdog;
use omo_state::git_worktree::GitWorktree;
use omo_state::typed_order::{ARGUMENT, TypedOrder};
use omo_state::{env, open_run_marker};

use crate::runtime::HookContext;

/// The client gives the hook five seconds.
const LIMIT: Duration = Duration::from_millis(3_500);
/// A new session begins without a late offer.
const OFFER_LIMIT: Duration = Duration::from_millis(1_500);
/// An ending is told without a late page.
const PAGE_LIMIT: Duration = Duration::from_secs(3);
const MAX_PATH_CHARS: usize = 1_000;
/// Time to end `omo` after its limit, and to say so.
const SLACK: Duration = Duration::from_millis(700);

/// Output of `omo` for a typed command; a refusal, an error or a timeout in words.
pub fn answer(context: &HookContext, command: RunCommand, arguments: &str) -> String {
    match hand_over(context, command, arguments, LIMIT) {
        Ok(Answered::Ended {
            status: Some(0),
            said: [text, warned],
        }) => {
            let text = [text, warned].concat();
            run_answer::answered(command, arguments, &String::from_utf8_lossy(&text))
        }
        Ok(Answered::Ended {
            said: [_, warned], ..
        }) => {
            let warned = String::from_utf8_lossy(&warned).into_owned();
            let why = warned
                .lines()
                .next()
                .filter(|line| !line.is_empty())
                .unwrap_or("`omo` gave no answer");
            run_answer::not_answered(command, why)
        }
        Ok(Answered::TooLong) => run_answer::took_too_long(command),
        Err(NoAnswer::NoPlace(why)) => refusal_line(why),
        Err(NoAnswer::NotRun(why)) => run_answer::not_answered(command, &why),
    }
}

/// Obstacles to a typed plan command; `None` without any, or where `omo` is too slow.
pub fn preview(context: &HookContext, name: &str, arguments: &str) -> Option<String> {
    screen(
        context,
        RunCommand::Preview,
        &format!("{name}\n{arguments}"),
    )
}

/// Output for a one-word answer to a question of the plan run; `None` for any other prompt.
pub fn short_answer(context: &HookContext, session: &Session, prompt: &str) -> Option<String> {
    let waits = session
        .plan_run
        .as_ref()
        .is_some_and(|run| matches!(run.status(), PlanRunStatus::Waits(_)));
    let word = waits
        .then(|| short_answer::short_answer(prompt))
        .flatten()?;
    context.own_plan_run(session)?;
    screen(context, RunCommand::ShortAnswer, &word)
}

/// The offer of the project's open plan run. A project without runs costs one look for a file.
pub fn offer(context: &HookContext) -> Option<String> {
    let root = context
        .root
        .as_deref()
        .filter(|_| context.env.worker.is_none())?;
    let is_worth_asking = open_run_marker::is_set(root).unwrap_or_else(|error| {
        context.log_problem(&error);
        false
    });
    let Answered::Ended {
        status: Some(0),
        said: [text, _],
    } = is_worth_asking
        .then(|| hand_over(context, RunCommand::Offer, "", OFFER_LIMIT))?
        .ok()?
    else {
        return None;
    };
    let text = run_answer::first_lines(&String::from_utf8_lossy(&text));
    text.starts_with("[omo] the run ").then_some(text)
}

/// The answer of `omo` in lines; `None` for an empty or late one.
fn screen(context: &HookContext, command: RunCommand, arguments: &str) -> Option<String> {
    let Ok(Answered::Ended {
        status: Some(0),
        said: [text, _],
    }) = hand_over(context, command, arguments, LIMIT)
    else {
        return None;
    };
    // Words of a plan may be in it: nothing may move a terminal.
    let text = String::from_utf8_lossy(&text);
    let lines: Vec<String> = text.trim_end().lines().map(sanitize_line).collect();
    let screen = lines.join("\n");
    (!screen.trim().is_empty()).then_some(screen)
}

enum NoAnswer {
    NoPlace(&'static str),
    NotRun(String),
}

fn hand_over(
    context: &HookContext,
    command: RunCommand,
    arguments: &str,
    limit: Duration,
) -> Result<Answered, NoAnswer> {
    let (Some(root), Some(id)) = (context.root.as_deref(), context.session_id.as_ref()) else {
        return Err(NoAnswer::NoPlace(
            "no project folder is known here, or no id of this session",
        ));
    };
    let program = own_command::program().ok_or_else(|| {
        NoAnswer::NotRun(
            "`omo` is not there yet, or not beside the hooks of this plugin".to_owned(),
        )
    })?;
    let state_home = context.env.state_home.as_deref();
    // The order holds for a short time, and this hook may have run checks.
    let order = TypedOrder::new((command, arguments), id, root, state_home, env::now())
        .map_err(|error| NoAnswer::NotRun(error.to_string()))?
        .ok_or(NoAnswer::NoPlace(
            "the path of this project is not UTF-8, and no plan runs in it",
        ))?;
    watchdog::extend_limit(limit + SLACK);
    own_command::run(&program, ARGUMENT, root, order.to_line(), limit)
        .map_err(|error| NoAnswer::NotRun(format!("`omo` cannot be started: {error}")))
}

/// Lines about plan runs at work; asks `omo` only if the session or the repository has runs.
pub fn at_work(context: &HookContext, plan: Option<&PlanRun>) -> Option<String> {
    let is_open = plan.is_some_and(PlanRun::is_open);
    if !is_open && !has_runs(context) {
        return None;
    }
    match hand_over(context, RunCommand::AtWork, "", LIMIT) {
        Ok(Answered::Ended {
            status: Some(0),
            said: [text, _],
        }) => {
            let text = run_answer::first_lines(&String::from_utf8_lossy(&text));
            (!text.is_empty()).then_some(text)
        }
        Ok(_) | Err(NoAnswer::NotRun(_)) => plan
            .filter(|plan| plan.is_open())
            .map(|plan| run_answer::perhaps_at_work(&plan.id)),
        Err(NoAnswer::NoPlace(_)) => None,
    }
}

fn has_runs(context: &HookContext) -> bool {
    let tree = context.root.as_deref().and_then(GitWorktree::find);
    tree.is_some_and(|tree| tree.common.join("omo").join("runs").is_dir())
}

/// Reports an agent that ended with an open task, so that the run continues at once.
pub(crate) fn report_ended_agent(context: &HookContext, task: &str) {
    if let Err(NoAnswer::NotRun(why)) = hand_over(context, RunCommand::AgentEnded, task, LIMIT) {
        context.log_problem(&why);
    }
}

pub(crate) fn write_page(context: &HookContext, run: &EndedRunName) -> Option<String> {
    let answered = hand_over(context, RunCommand::EndedPage, &run.to_text(), PAGE_LIMIT);
    watchdog::reset_limit();
    let Ok(Answered::Ended {
        status: Some(0),
        said: [said, _],
    }) = answered
    else {
        return None;
    };
    let path = String::from_utf8(said).ok()?.strip_suffix('\n')?.to_owned();
    // The path is shown unchanged, or not at all.
    let is_plain = sanitize(&path, MAX_PATH_CHARS) == path;
    (is_plain && Path::new(&path).is_absolute() && Path::new(&path).is_file()).then_some(path)
}

pub(crate) fn with_what_goes_on(
    context: &HookContext,
    session: Option<&Session>,
    said: String,
) -> String {
    let plan = session.and_then(|session| context.own_plan_run(session));
    let shells = session
        .filter(|session| session.is_armed())
        .map_or(0, |session| session.ulw.named_tasks.len());
    let more = [
        at_work(context, plan),
        run_answer::background_shells(shells),
    ];
    std::iter::once(said)
        .chain(more.into_iter().flatten())
        .collect::<Vec<_>>()
        .join("\n")
}

/// Lines about a plan run still at work after Esc, for the next prompt: no hook runs at Esc.
pub fn after_esc(
    context: &HookContext,
    session: &Session,
    interrupted: Option<Interruption>,
) -> Option<String> {
    let plan = context
        .own_plan_run(session)
        .filter(|plan| plan.is_open())?;
    let Some(Interruption::At(at)) = interrupted else {
        return None;
    };
    let is_new = Some(at) > plan.prompt_at.max(plan.opened_at);
    is_new
        .then(|| at_work(context, Some(plan)))
        .flatten()
        .map(|lines| run_answer::after_esc(&lines))
}
