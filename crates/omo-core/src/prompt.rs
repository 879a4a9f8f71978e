//! The way from a prompt to its effect: `read_intent` finds the request, then `decide` has a run
//! start or end, omo answer, or nothing happen.

pub mod check_request;
mod decision;
pub mod question;
pub mod short_answer;
pub mod ulw_arguments;

use std::borrow::Cow;

use crate::keyword::plain_stop::{PlainStop, read_plain_stop};
use crate::keyword::short_request::{ShortRequest, behind_answered_prompt, read_request_word};
use crate::keyword::{self, Keywords, PromptReading};
use crate::messages::check_changes::not_from_person;
use crate::messages::usage;
use crate::request_source::{ModelRoute, PromptOrigin};
use crate::run_command::RunCommand;
use crate::session::UlwTrigger;
use crate::session::plan_run::MAX_ARGUMENTS_BYTES;
use check_request::CheckRequest;
pub use decision::{PromptDecision, PromptFacts, decide};
use short_answer::is_go_on_task;
use ulw_arguments::{UlwArguments, UlwOptions, UlwRefusal};

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PromptEvent<'a> {
    pub prompt: &'a str,
    pub prompt_id: Option<&'a str>,
    pub origin: PromptOrigin,
    pub plan_mode: bool,
    /// omo has an entry of the session: there may be something to stop in plain words.
    pub has_entry: bool,
    /// A run is active: plain words and questions concern it.
    pub has_run: bool,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptIntent<'a> {
    NotAPerson,
    Nothing,
    Activate {
        trigger: UlwTrigger,
        /// `None` continues the session's task.
        task: Option<Cow<'a, str>>,
        options: Box<UlwOptions>,
    },
    Stop {
        reason: Option<&'a str>,
        /// The prompt has no other words: no model needs to read it.
        whole: bool,
    },
    Pause(PlainStop),
    Status,
    Statusline(StatuslineRequest),
    Why,
    Check(CheckRequest),
    /// A command about a plan's run that omo itself answers.
    Run {
        command: RunCommand,
        arguments: &'a str,
    },
    Help(&'static str),
    /// A command for the model; the hook keeps its arguments for the program that carries it out.
    Command {
        /// Without `/omo:`.
        name: &'a str,
        arguments: &'a str,
    },
    Refused(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatuslineRequest {
    Show,
    On,
    Off,
}

impl PromptIntent<'_> {
    /// `true` for a change of a claim's judges, an approval, or the start of a run. Requests to
    /// show something or to end the run count from everyone.
    pub fn needs_a_person(&self) -> bool {
        match self {
            Self::Check(
                CheckRequest::List | CheckRequest::Run | CheckRequest::Approve { code: None },
            )
            | Self::NotAPerson
            | Self::Nothing
            | Self::Pause(_)
            | Self::Stop { .. }
            | Self::Status
            | Self::Statusline(StatuslineRequest::Show)
            | Self::Why
            | Self::Help(_)
            | Self::Refused(_) => false,
            Self::Run { command, .. } => command.changes_run(),
            Self::Statusline(StatuslineRequest::On | StatuslineRequest::Off)
            | Self::Activate { .. }
            | Self::Command { .. }
            | Self::Check(_) => true,
        }
    }

    /// `true` where the prompt has no effect without a run.
    pub fn concerns_run_only(&self) -> bool {
        matches!(
            self,
            Self::NotAPerson | Self::Nothing | Self::Pause(_) | Self::Command { .. }
        )
    }

    /// Refuses a task behind an answered prompt that the client put back into its input line.
    fn not_behind_another(self, event: &PromptEvent<'_>, keywords: &Keywords) -> Self {
        match self {
            Self::Activate { .. } if behind_answered_prompt(event.prompt, keywords).is_some() => {
                Self::Refused(
                    "your last prompt stands before this one, and nothing was turned on".to_owned(),
                )
            }
            other => other,
        }
    }

    /// The intent as far as it counts from the model.
    #[must_use]
    pub fn limited_to_model(self, route: ModelRoute) -> Self {
        match self {
            Self::Activate {
                trigger: UlwTrigger::Keyword,
                ..
            }
            | Self::Nothing => Self::NotAPerson,
            intent if intent.needs_a_person() => Self::Refused(not_from_person(route)),
            intent => intent,
        }
    }

    /// The intent as far as it counts from the client itself: the end of a run, and mere displays.
    #[must_use]
    fn limited_to_client(self) -> Self {
        match self {
            Self::Stop { whole: true, .. }
            | Self::Status
            | Self::Statusline(StatuslineRequest::Show)
            | Self::Why
            | Self::Help(_) => self,
            _ => Self::NotAPerson,
        }
    }

    /// `true` for a person's prompt that takes back what they said to a plan.
    pub fn withdraws_answer(&self) -> bool {
        matches!(self, Self::Pause(_) | Self::Stop { whole: true, .. })
    }

    /// `true` for a person's prompt that the model reads, and that a plan may have waited for.
    pub fn is_answer_from_person(&self) -> bool {
        match self {
            Self::Nothing
            | Self::Command { .. }
            | Self::Activate { .. }
            | Self::Stop { whole: false, .. }
            | Self::Check(CheckRequest::Run) => true,
            Self::NotAPerson
            | Self::Pause(_)
            | Self::Stop { whole: true, .. }
            | Self::Status
            | Self::Statusline(_)
            | Self::Why
            | Self::Check(_)
            | Self::Run { .. }
            | Self::Help(_)
            | Self::Refused(_) => false,
        }
    }
}

/// Commands that execute a plan or a task list, and take an approval of its commands.
const PLAN_COMMANDS: [&str; 4] = ["execute", "execute-plan", "ulw-exec", "execute-local"];
const APPROVE: &str = "--approve";

/// `true` for a `name`, without `/omo:`, of [`PLAN_COMMANDS`].
pub fn is_plan_command(name: &str) -> bool {
    PLAN_COMMANDS.contains(&name)
}

/// The code behind `--approve`, empty for none; `None` where the command approves nothing.
pub fn approval_code<'a>(name: &str, arguments: &'a str) -> Option<&'a str> {
    let mut words = arguments.split_whitespace();
    is_plan_command(name).then_some(())?;
    words
        .find_map(|word| {
            word.strip_prefix(APPROVE)?
                .strip_prefix('=')
                .or((word == APPROVE).then_some(""))
        })
        .map(|inline| {
            if inline.is_empty() {
                words.next().unwrap_or_default()
            } else {
                inline
            }
        })
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TaskRequest {
    Unnamed,
    /// More of the session's task; another one where that is over.
    Named,
    New,
}

/// The request in a prompt; `options` are the user's default settings for a task.
pub fn read_intent<'a>(
    event: &PromptEvent<'a>,
    keywords: &Keywords,
    options: impl Fn(TaskRequest) -> UlwOptions,
) -> PromptIntent<'a> {
    match event.origin {
        PromptOrigin::Person => {
            read_words(event, keywords, options).not_behind_another(event, keywords)
        }
        PromptOrigin::Client => read_words(event, keywords, options).limited_to_client(),
        PromptOrigin::Agent => PromptIntent::NotAPerson,
    }
}

fn read_words<'a>(
    event: &PromptEvent<'a>,
    keywords: &Keywords,
    options: impl Fn(TaskRequest) -> UlwOptions,
) -> PromptIntent<'a> {
    if !keyword::is_from_a_person(event.prompt) {
        return PromptIntent::NotAPerson;
    }
    match keyword::read_prompt(event.prompt, keywords) {
        PromptReading::Nothing if ulw_arguments::mentions_option(event.prompt) => {
            read_between_options(event.prompt, keywords, options)
        }
        PromptReading::Nothing if !event.has_entry => PromptIntent::Nothing,
        // Messages name `ulw off` and `ulw`, also where other keywords are configured.
        PromptReading::Nothing => match keyword::read_prompt(event.prompt, &Keywords::default()) {
            PromptReading::Off { whole } if event.has_run => PromptIntent::Stop {
                reason: None,
                whole,
            },
            PromptReading::Short(request) if event.has_run => {
                read_short(request, UlwTrigger::Keyword, options)
            }
            _ => {
                let typed = [keywords, &Keywords::default()]
                    .into_iter()
                    .find_map(|keywords| behind_answered_prompt(event.prompt, keywords))
                    .unwrap_or(event.prompt);
                read_plain_stop(typed).map_or(PromptIntent::Nothing, PromptIntent::Pause)
            }
        },
        PromptReading::Activate {
            before,
            keyword,
            after,
        } => {
            let around = format!("{}, {}", before.trim(), after.trim());
            if let Some(stop) = read_named_stop(&around, event.has_run) {
                return stop;
            }
            activate_with(UlwTrigger::Keyword, options, |options: UlwOptions| {
                let around = [before, keyword, after];
                let read = ulw_arguments::parse_around_keyword(around, &options)?;
                // The prompt is the task, byte for byte.
                Ok(read.unwrap_or_else(|| UlwArguments {
                    task: Some(event.prompt.into()),
                    options,
                }))
            })
        }
        PromptReading::Short(request) => read_short(request, UlwTrigger::Keyword, options),
        PromptReading::Off { whole } => PromptIntent::Stop {
            reason: None,
            whole,
        },
        PromptReading::Command { name, arguments } => {
            read_command(name, arguments, event.has_run, options)
        }
    }
}

fn activate_with<'a>(
    trigger: UlwTrigger,
    options: impl Fn(TaskRequest) -> UlwOptions,
    read: impl Fn(UlwOptions) -> Result<UlwArguments<'a>, UlwRefusal>,
) -> PromptIntent<'a> {
    match read_task(options, read) {
        Ok(arguments) => activate_by(trigger, arguments),
        Err(refusal) => PromptIntent::Refused(refusal.message()),
    }
}

fn read_task<'a>(
    options: impl Fn(TaskRequest) -> UlwOptions,
    read: impl Fn(UlwOptions) -> Result<UlwArguments<'a>, UlwRefusal>,
) -> Result<UlwArguments<'a>, UlwRefusal> {
    let (usual, named) = (options(TaskRequest::Unnamed), options(TaskRequest::Named));
    let first = read(usual.clone())?;
    match (&first.task, first.options.begins_anew) {
        (None, true) => Err(UlwRefusal::BadOption(
            "`--new` begins another task, and none is named".to_owned(),
        )),
        (None, false) => Ok(first),
        (Some(_), true) => read(options(TaskRequest::New)),
        (Some(task), false) if is_go_on_task(task) => Ok(first),
        (Some(_), false) if named == usual => Ok(first),
        (Some(_), false) => read(named),
    }
}

fn read_command<'a>(
    name: &'a str,
    arguments: &'a str,
    has_run: bool,
    options: impl Fn(TaskRequest) -> UlwOptions,
) -> PromptIntent<'a> {
    let reason = Some(arguments.trim()).filter(|text| !text.is_empty());
    if let Some(words) = reason {
        let stop = match name {
            "ulw" if matches!(words.trim_end_matches(['.', '!']), "off" | "stop") => {
                Some(PromptIntent::Stop {
                    reason: None,
                    whole: true,
                })
            }
            "ulw" => read_named_stop(words, has_run),
            // The client left the command in its input line, and its user typed on.
            "status" | "why" => read_plain_stop(words).map(PromptIntent::Pause),
            _ => None,
        };
        if let Some(stop) = stop {
            return stop;
        }
    }
    match name {
        "ulw" => match reason.and_then(read_request_word) {
            Some(request) => read_short(request, UlwTrigger::Command, options),
            None => activate_with(UlwTrigger::Command, options, |options| {
                ulw_arguments::parse(arguments, options)
            }),
        },
        "check" => {
            check_request::parse(arguments).map_or_else(PromptIntent::Refused, PromptIntent::Check)
        }
        "stop-continuation" => PromptIntent::Stop {
            reason,
            whole: true,
        },
        "status" => PromptIntent::Status,
        "statusline" => match reason {
            None => PromptIntent::Statusline(StatuslineRequest::Show),
            Some("on") => PromptIntent::Statusline(StatuslineRequest::On),
            Some("off") => PromptIntent::Statusline(StatuslineRequest::Off),
            Some(_) => PromptIntent::Refused("usage: /omo:statusline [on|off]".to_owned()),
        },
        "why" => PromptIntent::Why,
        _ if matches!(reason, Some("--help" | "-h")) => usage::usage_of(name).map_or(
            PromptIntent::Command { name, arguments },
            PromptIntent::Help,
        ),
        _ => RunCommand::named(name).map_or(PromptIntent::Command { name, arguments }, |command| {
            of_run(command, arguments)
        }),
    }
}

/// The stop in the words around the keyword, or behind its command. Without a run there is nothing to stop.
fn read_named_stop<'a>(words: &str, has_run: bool) -> Option<PromptIntent<'a>> {
    let words = words.trim_matches(|char: char| !char.is_alphanumeric());
    match (read_plain_stop(words)?, has_run) {
        (PlainStop::WithWords, true) => Some(PromptIntent::Pause(PlainStop::WithWords)),
        // A task of its own.
        (PlainStop::WithWords, false) => None,
        // A prompt that names omo is no answer to a question.
        (PlainStop::Stop | PlainStop::Wait, true) => Some(PromptIntent::Pause(PlainStop::Stop)),
        (PlainStop::Stop | PlainStop::Wait, false) => Some(PromptIntent::Help(usage::ULW)),
    }
}

/// With options before the keyword or at the end, the text between them is the task.
fn read_between_options<'a>(
    prompt: &'a str,
    keywords: &Keywords,
    options: impl Fn(TaskRequest) -> UlwOptions,
) -> PromptIntent<'a> {
    let options = options(TaskRequest::Named);
    let Ok(UlwArguments {
        task: Some(Cow::Borrowed(task)),
        options: taken,
    }) = ulw_arguments::parse(prompt, options.clone())
    else {
        return PromptIntent::Nothing;
    };
    match keyword::read_prompt(task, keywords) {
        PromptReading::Activate { .. } if taken != options => activate_by(
            UlwTrigger::Keyword,
            UlwArguments {
                task: Some(task.into()),
                options: taken,
            },
        ),
        PromptReading::Short(ShortRequest::GoOn) if taken != options => activate_by(
            UlwTrigger::Keyword,
            UlwArguments {
                task: None,
                options: taken,
            },
        ),
        _ => PromptIntent::Nothing,
    }
}

fn read_short<'a>(
    request: ShortRequest,
    trigger: UlwTrigger,
    options: impl Fn(TaskRequest) -> UlwOptions,
) -> PromptIntent<'a> {
    match request {
        ShortRequest::GoOn => activate_by(
            trigger,
            UlwArguments {
                task: None,
                options: options(TaskRequest::Unnamed),
            },
        ),
        ShortRequest::Status => PromptIntent::Status,
        ShortRequest::Help => PromptIntent::Help(usage::ULW),
    }
}

fn activate_by(trigger: UlwTrigger, read: UlwArguments<'_>) -> PromptIntent<'_> {
    PromptIntent::Activate {
        trigger,
        task: read.task,
        options: Box::new(read.options),
    }
}

fn of_run(command: RunCommand, arguments: &str) -> PromptIntent<'_> {
    if arguments.len() > MAX_ARGUMENTS_BYTES {
        return PromptIntent::Refused(format!("that is too long; type `{}`", command.usage()));
    }
    PromptIntent::Run { command, arguments }
}
