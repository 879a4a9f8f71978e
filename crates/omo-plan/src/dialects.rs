//! Dialects: formats of plans, such as Kiro or Spec Kit, each read into one [`Plan`].
//!
//! A dialect is one file here and one row of the table at the end of this file. An unreadable file,
//! or one of no dialect, becomes a plan without tasks and with a diagnostic.

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

/// Kind of plan, which decides about state, output and reports of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanKind {
    /// Tasks; a run writes the checkpoint and the execution report.
    Tasks,
    /// Steps with a commit each; a run can undo a failed one, and writes a progress file.
    Steps,
    /// Tasks for parallel workers, in a ledger and a folder; a run may add some.
    TaskList,
}

/// A format of plans. Default methods suit most formats; one without files reads nothing.
pub trait PlanDialect: Sync {
    fn name(&self) -> &'static str;

    fn kind(&self) -> PlanKind {
        PlanKind::Tasks
    }

    /// Word for a task, such as `task` or `step`.
    fn task_word(&self) -> &'static str {
        match self.kind() {
            PlanKind::Tasks | PlanKind::TaskList => "task",
            PlanKind::Steps => "step",
        }
    }

    /// `true` where tasks name their dependencies, so that others may run at the same time.
    fn states_dependencies(&self, plan: &Plan) -> bool {
        match self.kind() {
            PlanKind::Tasks => plan.tasks.iter().any(|task| !task.deps.is_empty()),
            PlanKind::Steps => false,
            PlanKind::TaskList => true,
        }
    }

    /// `true` where unproved tasks let dependents begin, since few tasks of the format have a
    /// check.
    fn unproved_continues(&self) -> bool {
        false
    }

    fn final_checks_title(&self) -> &'static str {
        "Verification"
    }

    fn file_type(&self) -> &'static str {
        "plan"
    }

    /// `true` for one session of a larger plan, with conditions for its entry and its exit.
    fn is_one_session(&self) -> bool {
        false
    }

    /// Places of such files; a recognized file there is read by this dialect, even if others could.
    fn places(&self) -> &'static [PlanPlace] {
        &[]
    }

    /// Files beside a plan that state its goal.
    fn goal_files(&self) -> &'static [GoalFile] {
        &[]
    }

    fn recognizes(&self, _input: &PlanInput<'_>) -> bool {
        false
    }

    /// Mistake in an unrecognized file that was likely meant for this dialect.
    fn near_miss(&self, _input: &PlanInput<'_>) -> Option<Diagnostic> {
        None
    }

    fn read_plan(&self, _input: &PlanInput<'_>, _options: BatchOptions, _plan: &mut Plan) {}

    /// Text with the change, else byte for byte the same; `None` where the format cannot hold it.
    fn write_back(&self, _text: &str, _change: &PlanChange<'_>) -> Option<String> {
        None
    }

    /// Text with every task open, to compare without state; `None` where no state is kept in files.
    fn without_state(&self, _text: &str) -> Option<String> {
        None
    }
}

/// Change that a run writes into its plan.
#[derive(Clone, Copy, Debug)]
pub enum PlanChange<'a> {
    Choice {
        decision: &'a PlanDecision,
        option: &'a str,
    },
    Done {
        task: &'a str,
    },
    Open {
        task: &'a str,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BatchOptions {
    /// Number of direct dependents that makes a task a hub.
    pub k: usize,
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
    pub fn of(k: u32, batch_size: u32) -> Self {
        Self {
            k: usize::try_from(k).unwrap_or(usize::MAX),
            batch_size: usize::try_from(batch_size).unwrap_or(usize::MAX),
        }
    }
}

impl From<&RunPolicy> for BatchOptions {
    fn from(policy: &RunPolicy) -> Self {
        Self::of(policy.hub_dependents, policy.batch_size)
    }
}

macro_rules! dialects {
    ($($dialect:ident => $rules:path,)*) => {
        impl Dialect {
            pub const ALL: &[Self] = &[$(Self::$dialect,)*];

            pub fn rules(self) -> &'static dyn PlanDialect {
                match self { $(Self::$dialect => &$rules,)* }
            }
        }
    };
}

// Stricter dialects first: the first that recognizes a file reads it.
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
    pub fn kind(self) -> PlanKind {
        self.rules().kind()
    }

    pub fn word(self) -> &'static str {
        self.rules().name()
    }

    pub fn of_files() -> impl Iterator<Item = Self> {
        Self::ALL
            .iter()
            .copied()
            .filter(|dialect| dialect.kind() != PlanKind::TaskList)
    }

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
