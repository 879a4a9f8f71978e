//! The dialects in which plans are written, each read into the one model.
//!
//! A dialect is one file here, with its reader, its words and its writer, and one row of the table at the end of this
//! file. Every file becomes a plan: one that cannot be read, or is of no known dialect, has no tasks and a diagnostic
//! that says why.

pub mod backlog;
mod checkboxes;
pub mod checklist;
pub mod dev_workflow;
pub mod folder;
pub mod goal;
pub mod gsd;
mod input;
mod near_miss;
mod outlined_task;
mod place;
mod reading;
pub mod session_spec;
pub mod superpowers;
pub mod task_master;
mod task_problems;
pub mod tasks_json;
pub mod ultraplan;

use crate::batches::{DEFAULT_BATCH_SIZE, DEFAULT_HUB_DEPENDENTS};
use crate::diagnostic::Diagnostic;
use crate::model::{Dialect, Plan, PlanDecision, RunPolicy};

pub use goal::GoalFile;
pub use input::PlanInput;
pub use place::PlanPlace;
pub use reading::{CHECKS_REQUIRED, PlanReading, command_from_file, read};

/// Kind of the plans of a dialect. State, output and reports of a run follow from the kind, so that a new dialect of a
/// known kind needs nothing of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// Tasks. Their run writes the checkpoint and the execution report.
    Tasks,
    /// Steps in their order. Their run commits them one by one, can restore the changes of a failed one, and writes a
    /// progress file beside the plan.
    Steps,
    /// Tasks of a list, for workers at the same time. They are in the ledger and in the files of their folder, tasks
    /// can be added to a run, and a verifier judges where no command can.
    TaskList,
}

/// A way of writing plans: recognition, reading and words.
///
/// Each default is the rule of most dialects. A dialect whose plans are in no file of their own is never asked to read
/// one.
pub trait PlanDialect: Sync {
    /// Name for people and in JSON.
    fn name(&self) -> &'static str;

    /// Kind of the dialect's plans.
    fn kind(&self) -> PlanKind {
        PlanKind::Tasks
    }

    /// Word for a piece of work, such as `task` or `step`.
    fn task_word(&self) -> &'static str {
        match self.kind() {
            PlanKind::Tasks | PlanKind::TaskList => "task",
            PlanKind::Steps => "step",
        }
    }

    /// `true` for a plan that names the needs of its tasks, so that the others may run at the same time. Steps need the
    /// one before them only because they stand behind it.
    fn states_dependencies(&self, plan: &Plan) -> bool {
        match self.kind() {
            PlanKind::Tasks => plan.tasks.iter().any(|task| !task.deps.is_empty()),
            PlanKind::Steps => false,
            PlanKind::TaskList => true,
        }
    }

    /// `true` for plans whose tasks mostly have no proving command, by design: they let their dependents begin, and a
    /// run with such a task is not complete.
    fn unproved_continues(&self) -> bool {
        false
    }

    /// Title of the checks behind all tasks.
    fn final_checks_title(&self) -> &'static str {
        "Verification"
    }

    /// Type of the file in a progress file and in a report.
    fn file_type(&self) -> &'static str {
        "plan"
    }

    /// `true` for a file that is one session of a larger plan, with conditions for its entry and its exit.
    fn is_one_session(&self) -> bool {
        false
    }

    /// Places of plan files in a repository. A file there that the dialect recognizes is read by it, also where another
    /// dialect could read it too.
    fn places(&self) -> &'static [PlanPlace] {
        &[]
    }

    /// Files beside a plan that state its goal, where the plan does not.
    fn goal_files(&self) -> &'static [GoalFile] {
        &[]
    }

    /// `true` for a file of this dialect, by its text; where the text leaves that open, by its place.
    fn recognizes(&self, _input: &PlanInput<'_>) -> bool {
        false
    }

    /// The mistake in an unrecognized file that was likely meant for this dialect.
    fn near_miss(&self, _input: &PlanInput<'_>) -> Option<Diagnostic> {
        None
    }

    /// Fills in the contents of a recognized file.
    fn read_plan(&self, _input: &PlanInput<'_>, _options: BatchOptions, _plan: &mut Plan) {}

    /// The text of a file with a change written into it, byte for byte the same elsewhere; `None` where the dialect has
    /// no place for such a change.
    fn write_back(&self, _text: &str, _change: &PlanChange<'_>) -> Option<String> {
        None
    }

    /// The text of a file, or of a task, with every task open: equal texts differ in state alone. `None` where the
    /// dialect keeps no state in its files.
    fn without_state(&self, _text: &str) -> Option<String> {
        None
    }
}

/// A change that a run writes back into the file of its plan.
#[derive(Clone, Copy, Debug)]
pub enum PlanChange<'a> {
    /// A person's choice of an option.
    Choice {
        /// The decision as in the text that is changed.
        decision: &'a PlanDecision,
        /// Label of the option.
        option: &'a str,
    },
    /// A task that has passed.
    Done {
        /// Id of the task.
        task: &'a str,
    },
    /// A task that is done again.
    Open {
        /// Id of the task.
        task: &'a str,
    },
}

/// Sizes that a plan is read with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// Direct dependents that make a task a hub.
    pub k: usize,
    /// Tasks of a batch.
    pub batch_size: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self {
            k: DEFAULT_HUB_DEPENDENTS,
            batch_size: DEFAULT_BATCH_SIZE,
        }
    }
}

impl BatchOptions {
    /// The sizes of a command line or a checkpoint.
    pub fn of(k: u32, batch_size: u32) -> Self {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Self {
            k: size(k),
            batch_size: size(batch_size),
        }
    }
}

impl From<&RunPolicy> for BatchOptions {
    /// The sizes that a plan was read with.
    fn from(policy: &RunPolicy) -> Self {
        Self::of(policy.hub_dependents, policy.batch_size)
    }
}

macro_rules! dialects {
    ($($dialect:ident => $rules:path,)*) => {
        impl Dialect {
            /// All dialects, in the order in which they are asked about a file.
            pub const ALL: &[Self] = &[$(Self::$dialect,)*];

            /// Reader and words of the dialect.
            pub fn rules(self) -> &'static dyn PlanDialect {
                match self { $(Self::$dialect => &$rules,)* }
            }
        }
    };
}

// Stricter dialects stand earlier: the first that recognizes a file reads it.
dialects! {
    TaskMaster => task_master::TASK_MASTER,
    Ralph => task_master::RALPH,
    Backlog => backlog::BacklogDialect,
    Gsd => gsd::GsdDialect,
    SessionSpec => session_spec::SessionSpecDialect,
    Ultraplan => ultraplan::UltraplanDialect,
    Superpowers => superpowers::SuperpowersDialect,
    DevWorkflow => dev_workflow::DevWorkflowDialect,
    Sisyphus => checklist::SISYPHUS,
    Conductor => checklist::CONDUCTOR,
    Bmad => checklist::BMAD,
    AgentOs => checklist::AGENT_OS,
    SpecKit => checklist::SPEC_KIT,
    Kiro => checklist::KIRO,
    OpenSpec => checklist::OPEN_SPEC,
    TasksJson => tasks_json::TasksJsonDialect,
}

impl Dialect {
    /// Kind of the dialect's plans.
    pub fn kind(self) -> PlanKind {
        self.rules().kind()
    }

    /// Name for people and in JSON.
    pub fn word(self) -> &'static str {
        self.rules().name()
    }

    /// Dialects whose plans are in files.
    pub fn of_files() -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(|dialect| dialect.kind() != PlanKind::TaskList)
    }

    /// Word for a task of work.
    pub fn unit_word(self) -> &'static str {
        self.rules().task_word()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dialect_is_called_the_same_in_json() {
        for dialect in Dialect::ALL {
            assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.word());
        }
    }
}
