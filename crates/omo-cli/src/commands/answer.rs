//! `omo answer`: what a person decided about a run.

use std::path::Path;

use clap::Args;
use omo_engine::event::QuestionKind;
use omo_engine::state::{RunState, chosen_label};
use omo_engine::{verbs, work};
use omo_state::env::ProcessEnv;

use crate::blocks;
use crate::blocks::parallel_run::next_command;
use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Example:
  omo answer q2 continue

`omo run show` names the open question and its options. From a session it needs
a prompt that its user typed after the question.";

/// Answer a question of a run
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct AnswerOptions {
    /// Which question
    pub question: String,
    /// Which of its options
    pub option: String,
    #[command(flatten)]
    pub run: RunOptions,
}

/// Writes an answer down; a decision also into the plan.
pub(crate) fn run(env: &ProcessEnv, options: &AnswerOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (state, into) = record_answer(&context, options)?;
    let then = match blocks::next_command(&state) {
        "omo agent next" => next_command(&state, context.is_person()),
        other => other,
    };
    let (question, option) = (&options.question, &options.option);
    let block = format!("Answered {question}: {option}{into}.\n\nDO\n  run: {then}");
    blocks::print_run_block(&context, &block, &state)
}

/// Writes an answer down. Gives the run behind it, and where the answer was written as well.
pub(crate) fn record_answer(
    context: &CommandContext,
    options: &AnswerOptions,
) -> Result<(RunState, String), CommandError> {
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Excluded)?;
    let engine = context.engine(&run, &before)?;
    engine.require_unedited_plan(&before)?;
    let (question, option) = (options.question.as_str(), options.option.as_str());
    // Refused before the plan is touched.
    engine.transact(|state| {
        Ok((Vec::new(), verbs::answer_question(state, &engine.caller, question, option, None).map(drop)?))
    })?;
    let about = before.questions.iter().find(|known| known.question.id == question).map(|known| &known.question.kind);
    let choices: Vec<_> = match about {
        Some(QuestionKind::Decisions { decisions }) => {
            let choice =
                |decision: &omo_plan::model::PlanDecision| Some((decision.clone(), chosen_label(decision, option)?));
            decisions.iter().filter_map(choice).collect()
        }
        _ => Vec::new(),
    };
    let written =
        if choices.is_empty() { None } else { work::write_choices(Path::new(&before.root), &before, &choices)? };
    let state = engine
        .decide(|state| Ok(vec![verbs::answer_question(state, &engine.caller, question, option, written.clone())?]))?;
    context.note_in_session(&run, &before.holder, &state);
    let into = if written.is_some() { format!("; written into {}", before.plan.source.path) } else { String::new() };
    Ok((state, into))
}
