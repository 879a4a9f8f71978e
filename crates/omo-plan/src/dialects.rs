//! The dialects in which plans are written, each read into the one model.
//!
//! A dialect is one file here with what it reads, what it calls things and how it writes back, and one row of
//! the table at the end of this file. Every file becomes a plan: one that cannot be read, or is of no known
//! dialect, has no tasks and a diagnostic that says why.

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

/// What kind of plans a dialect has. What a run keeps, writes and reports follows from it, so that a new dialect of a
/// known kind needs nothing of the engine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// Tasks. A run of them writes the checkpoint and the execution report.
    Tasks,
    /// Steps in their order. A run commits them one by one, can restore what a failed one has changed, and writes a
    /// progress file beside the plan.
    Steps,
    /// The tasks of a list, made for workers at the same time. They are in the ledger and in the files of their
    /// folder, tasks can be added to a run, and a verifier judges what no command can.
    TaskList,
}

/// A way of writing plans: how its files are known and read, and what is called how in it.
///
/// What is not said otherwise is as in most dialects. A dialect whose plans are in no file of their own is never
/// asked to read one.
pub trait PlanDialect: Sync {
    /// Its name for people, which is its name in JSON.
    fn name(&self) -> &'static str;

    /// What kind of plans it has.
    fn kind(&self) -> PlanKind {
        PlanKind::Tasks
    }

    /// What it calls a piece of work.
    fn task_word(&self) -> &'static str {
        match self.kind() {
            PlanKind::Tasks | PlanKind::TaskList => "task",
            PlanKind::Steps => "step",
        }
    }

    /// Whether a plan says what its tasks need, so that the others may be worked on at the same time. Steps need the
    /// one before them only because they stand behind it.
    fn states_dependencies(&self, plan: &Plan) -> bool {
        match self.kind() {
            PlanKind::Tasks => plan.tasks.iter().any(|task| !task.deps.is_empty()),
            PlanKind::Steps => false,
            PlanKind::TaskList => true,
        }
    }

    /// Most tasks of its plans have no command that proves them, and are not meant to: they let those begin that wait
    /// for them, and a run that has such a task is not complete.
    fn unproved_continues(&self) -> bool {
        false
    }

    /// What it calls the checks behind all tasks.
    fn final_checks_title(&self) -> &'static str {
        "Verification"
    }

    /// What its files are called in a progress file and in a report.
    fn file_type(&self) -> &'static str {
        "plan"
    }

    /// A file is one session of a larger plan, with conditions for its entry and its exit.
    fn is_one_session(&self) -> bool {
        false
    }

    /// Where its files stand in a repository. A file there that it recognizes is read by it, also where another dialect
    /// could read it too.
    fn places(&self) -> &'static [PlanPlace] {
        &[]
    }

    /// The files beside a plan that say what it is for, where the plan itself does not.
    fn goal_files(&self) -> &'static [GoalFile] {
        &[]
    }

    /// Whether a file is of this dialect, by what it says; where that leaves it open, by its place.
    fn recognizes(&self, _input: &PlanInput<'_>) -> bool {
        false
    }

    /// What is wrong with a file that no dialect recognizes and that was likely meant for this one.
    fn near_miss(&self, _input: &PlanInput<'_>) -> Option<Diagnostic> {
        None
    }

    /// Fills in what a file says that it recognizes.
    fn read_plan(&self, _input: &PlanInput<'_>, _options: BatchOptions, _plan: &mut Plan) {}

    /// The text of a file with a change written into it, byte for byte the same elsewhere. `None` where the
    /// dialect has no place for such a change.
    fn write_back(&self, _text: &str, _change: &PlanChange<'_>) -> Option<String> {
        None
    }

    /// The text of a file, or of a task in it, as it would be with every task open: where nothing else differs, only
    /// state does. `None` where the dialect keeps no state in its files.
    fn without_state(&self, _text: &str) -> Option<String> {
        None
    }
}

/// What a run writes back into the file of its plan.
#[derive(Clone, Copy, Debug)]
pub enum PlanChange<'a> {
    /// The option that a person chose.
    Choice {
        /// Of this decision, as the text that is changed has it.
        decision: &'a PlanDecision,
        /// The label of the option.
        option: &'a str,
    },
    /// The task has passed.
    Done {
        /// Its id.
        task: &'a str,
    },
    /// The task is done again.
    Open {
        /// Its id.
        task: &'a str,
    },
}

/// How a plan is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// How many direct dependents make a task a hub.
    pub k: usize,
    /// How many tasks are in a batch.
    pub batch_size: usize,
}

impl Default for BatchOptions {
    fn default() -> Self {
        Self { k: DEFAULT_HUB_DEPENDENTS, batch_size: DEFAULT_BATCH_SIZE }
    }
}

impl BatchOptions {
    /// These sizes, as a command line or a checkpoint has them.
    pub fn of(k: u32, batch_size: u32) -> Self {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Self { k: size(k), batch_size: size(batch_size) }
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
            /// All of them, in the order in which they are asked whether a file is theirs.
            pub const ALL: &[Self] = &[$(Self::$dialect,)*];

            /// How its plans are read, and what is called how in them.
            pub fn rules(self) -> &'static dyn PlanDialect {
                match self { $(Self::$dialect => &$rules,)* }
            }
        }
    };
}

// The more a dialect wants of a file, the earlier it stands: the first that recognizes one reads it.
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
    /// What kind of plans it has.
    pub fn kind(self) -> PlanKind {
        self.rules().kind()
    }

    /// The word for people, which is the word in JSON.
    pub fn word(self) -> &'static str {
        self.rules().name()
    }

    /// Those whose plans are in files, which can be named for one.
    pub fn of_files() -> impl Iterator<Item = Self> {
        Self::ALL.iter().copied().filter(|dialect| dialect.kind() != PlanKind::TaskList)
    }

    /// What it calls a task of work.
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
