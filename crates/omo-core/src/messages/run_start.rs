//! The message of a started run, in one line: its checks and review, its bounds, the way to stop
//! it, and obstacles.

use crate::check::session_check::Check;
use crate::session::{Session, UlwActivation};
use crate::text::{inline_code, list_some, pluralize, sanitize};
use crate::timestamp::Timestamp;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunStart {
    Begun,
    /// A run with the unproved task of the one before.
    TaskTakenUp {
        is_extended: bool,
    },
    TaskExtended,
    Resumed,
    AlreadyOn,
}

impl RunStart {
    /// The kind of start that `activation` is in `session`; one without a task continues the run.
    pub fn of(session: &Session, activation: &UlwActivation) -> Self {
        let is_extended = activation.task.is_some();
        match (session.is_armed(), session.keeps_task(activation)) {
            (_, false) => Self::Begun,
            (true, true) if is_extended => Self::TaskExtended,
            (true, true) if session.ulw.paused.is_some() => Self::Resumed,
            (true, true) => Self::AlreadyOn,
            (false, true) => Self::TaskTakenUp { is_extended },
        }
    }

    /// `true` for a continued run, with its count and time.
    pub fn keeps_run(self) -> bool {
        matches!(self, Self::Resumed | Self::AlreadyOn)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CheckOffer<'a> {
    pub command: &'a str,
    pub found_in: &'a str,
}

const HOW_TO_STOP: &str = "`ulw off` stops it";
const HOW_TO_BEGIN_ANEW: &str = "/omo:ulw --new begins another";
const TASK_CHARS: usize = 60;

/// The line for the user; `session` is the entry after the start.
pub fn run_started(
    session: &Session,
    start: RunStart,
    allowed_blocks: u32,
    offer: Option<CheckOffer>,
    now: Timestamp,
) -> String {
    let judges = judges(session);
    let minutes = session.limits.clamped().max_minutes;
    let (continuations, claims) = (allowed_blocks as usize, session.max_attempts() as usize);
    let bounds = format!(
        "up to {}, {}, {minutes} min",
        pluralize(continuations, "continuation"),
        pluralize(claims, "failed claim")
    );
    let used = {
        let worked = session.ulw.worked_millis(now) / 60_000;
        format!(
            "{} of {allowed_blocks} continuations and {worked} of {minutes} min used",
            session.ulw.stop_blocks
        )
    };
    let task = session.ulw.task.as_deref().map_or_else(
        || "the task that it had".to_owned(),
        |task| format!("\"{}\"", sanitize(task, TASK_CHARS)),
    );
    let line = match start {
        RunStart::Begun => format!("[omo] on: {judges}, {bounds}"),
        RunStart::TaskTakenUp { is_extended: false } => {
            format!("[omo] on again with {task}: {judges}, {bounds}")
        }
        RunStart::TaskTakenUp { is_extended: true } => {
            format!("[omo] on again with {task}, and this: {judges}, {bounds}. {HOW_TO_BEGIN_ANEW}")
        }
        RunStart::TaskExtended => {
            format!("[omo] on with {task}, and this: {judges}, {bounds}. {HOW_TO_BEGIN_ANEW}")
        }
        RunStart::Resumed => format!("[omo] goes on: {judges}, {used}"),
        RunStart::AlreadyOn => format!("[omo] on already: {judges}, {used}"),
    };
    let without_check = session.checks.is_empty().then(|| no_check(offer));
    let lines = [Some(format!("{line}. {HOW_TO_STOP}")), without_check];
    lines.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

/// `2 checks (cargo test, make lint) + review`.
fn judges(session: &Session) -> String {
    const NAMED: usize = 3;
    const CHARS: usize = 40;
    let commands: Vec<String> = session
        .checks
        .iter()
        .map(|check: &Check| sanitize(&check.command, CHARS))
        .collect();
    let checks = (!commands.is_empty()).then(|| {
        format!(
            "{} ({})",
            pluralize(commands.len(), "check"),
            list_some(commands.iter().map(String::as_str), NAMED)
        )
    });
    match (checks, session.verification.review_wanted) {
        (Some(checks), true) => format!("{checks} + review"),
        (Some(checks), false) => format!("{checks}, no review"),
        (None, true) => "review only".to_owned(),
        (None, false) => "no check and no review, so that nothing can prove it".to_owned(),
    }
}

fn no_check(offer: Option<CheckOffer>) -> String {
    match offer {
        Some(CheckOffer { command, found_in }) => format!(
            "no check judges this run: /omo:check add adds `{}` (found in {})",
            inline_code(command, 80),
            sanitize(found_in, 60)
        ),
        None => "no check judges this run: /omo:check add <command> adds one".to_owned(),
    }
}

pub fn run_goes_on(session: &Session, allowed_blocks: u32) -> String {
    format!(
        "The run goes on as it stood: {} of {allowed_blocks} continuations are used, and its task is the one that it \
         had.",
        session.ulw.stop_blocks
    )
}

pub fn run_not_held(why: &str) -> String {
    format!(
        "[omo] NOT ON: the state of this session cannot be written ({}). The prompt goes to the model, and nothing \
         holds the session",
        sanitize(why, 240)
    )
}

pub fn repository_refused(why: &str, hint: &str) -> String {
    format!(
        "[omo] NOT ON: {} ({}). The prompt goes to the model, and nothing holds the session",
        sanitize(why, 1_000),
        sanitize(hint, 1_200)
    )
}

pub fn hook_missing(program: &str) -> String {
    format!(
        "[omo] NOT HELD: {} cannot be run, so that no turn is continued. `omo doctor` says more",
        sanitize(program, 200)
    )
}

/// Answer to a keyword in plan mode; `is_armed` is `true` during a run.
pub fn not_in_plan_mode(is_armed: bool) -> String {
    let state = if is_armed {
        "on already, and not held"
    } else {
        "NOT ON"
    };
    format!(
        "[omo] {state}: in plan mode nothing is edited, so nothing is held, and this prompt is not part of the task. Type \
         `ulw` again when you have left it"
    )
}

pub fn config_problem(problem: &str) -> String {
    format!(
        "[omo] a setting is not as you wrote it: {}. `omo doctor` says more",
        sanitize(problem, 240)
    )
}

/// [`hook_missing`] for a status.
pub fn missing_hook_finding(program: &str) -> String {
    format!(
        "{} cannot be run, so that no turn is continued",
        sanitize(program, 200)
    )
}

/// Obstacles of a new run, for a status; `unwritable` is a state folder that cannot be written.
pub fn obstacles(plan_mode: bool, unwritable: Option<&str>) -> Vec<String> {
    let plan = plan_mode.then(|| {
        "this session is in plan mode: nothing is held, and `ulw` starts no run".to_owned()
    });
    let folder = unwritable.map(|folder| {
        format!(
            "{} cannot be written, so that no run is held here",
            sanitize(folder, 200)
        )
    });
    plan.into_iter().chain(folder).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::session_check::CheckOrigin;
    use crate::session::{PauseReason, UlwActivation, UlwTrigger, VerdictKind};

    fn at(minutes: i64) -> Timestamp {
        Timestamp::from_millis(minutes * 60_000)
    }

    fn activation(task: Option<&str>) -> UlwActivation {
        UlwActivation {
            trigger: UlwTrigger::Keyword,
            task: task.map(str::to_owned),
            prompt_id: None,
            limits: crate::limits::RunLimits::default(),
            checks: vec![Check::new(None, "cargo test", CheckOrigin::User).unwrap()],
            review_wanted: true,
            prove: crate::check::counterfactual::ProveMode::default(),
            base: None,
            begins_anew: false,
        }
    }

    #[test]
    fn one_line_says_what_was_turned_on() {
        let mut session = Session::default();
        assert_eq!(RunStart::of(&session, &activation(None)), RunStart::Begun);
        session.activate(activation(Some("ulw x")), at(0));
        assert_eq!(
            run_started(&session, RunStart::Begun, 8, None, at(0)),
            "[omo] on: 1 check (cargo test) + review, up to 8 continuations, 3 failed claims, 240 min. `ulw off` stops it"
        );
        assert_eq!(
            RunStart::of(&session, &activation(None)),
            RunStart::AlreadyOn
        );
        assert_eq!(
            RunStart::of(&session, &activation(Some("ulw y"))),
            RunStart::TaskExtended
        );
        session.ulw.stop_blocks = 3;
        session.pause(PauseReason::Interrupted, at(10));
        assert_eq!(RunStart::of(&session, &activation(None)), RunStart::Resumed);
        session.go_on(activation(None), at(70));
        assert_eq!(
            run_started(&session, RunStart::Resumed, 8, None, at(72)),
            "[omo] goes on: 1 check (cargo test) + review, 3 of 8 continuations and 12 of 240 min used. \
             `ulw off` stops it"
        );
        session.end_run(VerdictKind::Released, "x".to_owned(), at(80));
        assert_eq!(
            RunStart::of(&session, &activation(None)),
            RunStart::TaskTakenUp { is_extended: false }
        );
        session.checks.clear();
        let offer = CheckOffer {
            command: "cargo test",
            found_in: "Cargo.toml",
        };
        let more = activation(Some("ulw y"));
        assert_eq!(
            RunStart::of(&session, &more),
            RunStart::TaskTakenUp { is_extended: true }
        );
        assert_eq!(
            RunStart::of(
                &session,
                &UlwActivation {
                    begins_anew: true,
                    ..more.clone()
                }
            ),
            RunStart::Begun
        );
        let line = run_started(
            &session,
            RunStart::TaskTakenUp { is_extended: true },
            8,
            None,
            at(80),
        );
        assert!(
            line.starts_with("[omo] on again with \"ulw x\", and this: ")
                && line.contains("/omo:ulw --new")
        );
        session.stop_continuation(None, true, at(80));
        assert_eq!(
            RunStart::of(&session, &more),
            RunStart::Begun,
            "its user has stopped it"
        );
        assert_eq!(
            RunStart::of(&session, &activation(None)),
            RunStart::TaskTakenUp { is_extended: false }
        );
        let lines = run_started(
            &session,
            RunStart::TaskTakenUp { is_extended: false },
            1,
            Some(offer),
            at(80),
        );
        assert_eq!(
            lines,
            "[omo] on again with \"ulw x\": review only, up to 1 continuation, 3 failed claims, 240 min. \
             `ulw off` stops it\n\
             no check judges this run: /omo:check add adds `cargo test` (found in Cargo.toml)"
        );
    }
}
