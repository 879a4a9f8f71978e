//! `omo agent tasks update`: changes the phase and other facts of a task list.

use clap::Args;
use clap::builder::PossibleValuesParser;
use omo_plan::task_list::TaskListPhase;
use omo_plan::task_list::rules::{self, EXPLORATION_STAGES, TaskListChange, TaskListWork};
use omo_state::env::ProcessEnv;

use crate::error::CommandError;
use crate::task_list_files::{self, TaskListOption, non_empty_text, print, print_done};
use crate::task_list_note;

const HELP: &str = "\
Examples:
  omo agent tasks update --phase EXECUTION --iteration 2
  omo agent tasks update --phase COMPLETE

COMPLETE needs every task but `verify` to be resolved, and one to be there.";

/// Change where a task list stands
#[derive(Debug, Args)]
#[command(after_help = HELP)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(crate) struct TaskListUpdateOptions {
    #[command(flatten)]
    pub which: TaskListOption,
    /// Its new phase
    #[arg(long, short, value_parser = parse_phase)]
    pub phase: Option<TaskListPhase>,
    /// Its plan is approved now
    #[arg(long, short = 'P')]
    pub plan_approved: bool,
    /// The file of its design
    #[arg(long, short, value_name = "FILE", value_parser = non_empty_text)]
    pub design_doc: Option<String>,
    /// The state of its exploration, in a word
    #[arg(long, short, value_name = "STAGE", value_parser = PossibleValuesParser::new(EXPLORATION_STAGES))]
    #[arg(hide_possible_values = true)]
    pub exploration_stage: Option<String>,
    /// The number of rounds over its tasks
    #[arg(long, short, value_name = "N", allow_negative_numbers = true)]
    pub iteration: Option<u32>,
    /// A verifier has said that all is done
    #[arg(long, conflicts_with = "phase")]
    pub verifier_passed: bool,
    /// Its documentation was written
    #[arg(long, conflicts_with = "phase")]
    pub documenter_completed: bool,
    /// Print one line
    #[arg(long, short)]
    pub quiet: bool,
    /// Print what was written, too
    #[arg(long)]
    pub json: bool,
}

fn parse_phase(text: &str) -> Result<TaskListPhase, String> {
    let words = TaskListPhase::ALL.map(TaskListPhase::word);
    rules::parse_phase(text).ok_or_else(|| format!("the phases are {}", words.join(", ")))
}

pub(crate) fn run(env: &ProcessEnv, options: TaskListUpdateOptions) -> Result<(), CommandError> {
    let locked = task_list_files::open_task_list(&options.which, env)?.lock()?;
    let session = locked.session()?;
    let change = TaskListChange {
        phase: options.phase,
        plan_approved: options.plan_approved,
        design_doc: options.design_doc,
        exploration_stage: options.exploration_stage,
        round: options.iteration,
        verifier_passed: options.verifier_passed,
        documenter_completed: options.documenter_completed,
    };
    if change.is_run_owned() {
        let is_end = change.phase == Some(TaskListPhase::Cancelled);
        let hint = if is_end {
            "`omo run cancel` ends the run, and with it the session"
        } else {
            task_list_files::WORK_ON_THE_RUN
        };
        task_list_files::require_no_open_run(&session, env, hint)?;
    }
    let tasks = locked.tasks()?.unwrap_or_default();
    let work = TaskListWork {
        tasks: &tasks.tasks,
        unreadable_tasks: tasks.unreadable.len(),
        logged_evidence: locked.count_logged_evidence().unwrap_or(0),
    };
    let session = rules::update_task_list(&session, &change, work, env.now)?;
    locked.write_session(&session)?;
    task_list_note::note_from_files(env, &locked);
    if options.quiet {
        let (phase, iteration, at) = (session.phase.word(), session.iteration, &session.updated_at);
        return print(&format!(
            "Session updated: phase={phase} iteration={iteration} updated_at={at}"
        ));
    }
    print_done("OK: Session updated", &session, options.json)
}
