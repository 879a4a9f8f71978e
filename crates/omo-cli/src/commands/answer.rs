//! `omo answer`: a person's decision about a run.

use std::path::Path;

use clap::Args;
use omo_core::text::sanitize;
use omo_engine::commit_guard::name_judges;
use omo_engine::event::{EventKind, QuestionKind};
use omo_engine::state::{RunState, chosen_label};
use omo_engine::{Run, verbs, work};
use omo_state::env::{ProcessEnv, client_home};
use omo_state::transcript::read_recorded_answers;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::execute::print_then_next;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo answer q2 continue

`omo run show` names the open question and its options. From a session it needs
a prompt that its user typed after the question, or, for a decision of a plan,
what they chose in the dialog of AskUserQuestion. In a terminal it needs neither.";

/// Answer a question of a run
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AnswerOptions {
    /// The question
    pub question: String,
    /// One of its options
    pub option: String,
    #[command(flatten)]
    pub run: RunOptions,
}

pub(crate) fn run(env: &ProcessEnv, options: &AnswerOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state, into) = record_answer(&context, options)?;
    print_then_next(
        &context,
        &run,
        state,
        &format!("Answered {}: {}{into}.", options.question, options.option),
    )
}

/// Records an answer. Gives the run, its new state, and the end of the message, which names the file of a decision.
pub(crate) fn record_answer(
    context: &CommandContext,
    options: &AnswerOptions,
) -> Result<(Run, RunState, String), CommandError> {
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Excluded)?;
    let mut engine = context.engine(&run, &before)?;
    engine.require_unedited_plan(&before)?;
    if let (Some(session), Some(home)) = (&context.session, client_home()) {
        engine.caller.recorded_answers = read_recorded_answers(&home, session, before.opened_at);
    }
    let (question, option) = (options.question.as_str(), options.option.as_str());
    engine.transact(|state| {
        Ok((
            Vec::new(),
            verbs::answer_question(state, &engine.caller, question, option, None).map(drop)?,
        ))
    })?;
    let about = before
        .questions
        .iter()
        .find(|known| known.question.id == question)
        .map(|known| &known.question.kind);
    let choices: Vec<_> = match about {
        Some(QuestionKind::Decisions { decisions }) => decisions
            .iter()
            .filter_map(|decision| Some((decision.clone(), chosen_label(decision, option)?)))
            .collect(),
        _ => Vec::new(),
    };
    let written = if choices.is_empty() {
        None
    } else {
        work::write_choices(Path::new(&before.root), &before, &choices)?
    };
    let (judges, state) = engine.transact(|state| {
        let events = engine.answer_question(state, question, option, written.clone())?;
        let judges = events.iter().find_map(|event| match event {
            EventKind::JudgesFound { judges } => Some(name_judges(judges)),
            _ => None,
        });
        Ok((events, judges))
    })?;
    context.note_in_session(&run, &before.holder, &state);
    let into = written.map(|_| format!("; written into {}", before.plan.source.path));
    let judges =
        judges.map(|judges| format!("; let stand: {}", sanitize(&judges.join(", "), 1000)));
    let into = into.into_iter().chain(judges).collect();
    Ok((run, state, into))
}
