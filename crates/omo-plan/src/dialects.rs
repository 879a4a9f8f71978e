//! The dialects in which plans are written, each read into the one model.
//!
//! A dialect is one file here with what it reads, what it calls things and how it writes back, and one row of
//! the table at the end of this file. Every file becomes a plan: one that cannot be read, or is of no known
//! dialect, has no tasks and a diagnostic that says why.

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
pub mod session_spec;
pub mod superpowers;
pub mod task_master;
mod task_problems;
pub mod tasks_json;
pub mod ultraplan;

use std::path::Path;

use omo_core::text::sanitize;

use crate::batches::{DEFAULT_BATCH_SIZE, DEFAULT_HUB_DEPENDENTS, decode_plan_text, task_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::digest::sha256_hex;
use crate::document::MarkdownDocument;
use crate::model::{Dialect, Plan, PlanDecision, PlanSource, RunPolicy};

pub use goal::GoalFile;
pub use input::PlanInput;
pub use place::PlanPlace;

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

/// How a file is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanReading {
    /// The sizes of its batches.
    pub batches: BatchOptions,
    /// Whose plan it is; `None` where the file has to say that.
    pub dialect: Option<Dialect>,
}

impl From<BatchOptions> for PlanReading {
    fn from(batches: BatchOptions) -> Self {
        Self { batches, dialect: None }
    }
}

impl From<&Plan> for PlanReading {
    /// As this plan was read: a run reads an edited file of its plan by the dialect that it was opened with.
    fn from(plan: &Plan) -> Self {
        Self { batches: BatchOptions::from(&plan.policy), dialect: Some(plan.dialect) }
    }
}
/// The line by which a plan says that it is not run unless a command proves each of its tasks.
pub const CHECKS_REQUIRED: &str = "<!-- checks: required -->";

/// Reads a plan file.
pub fn read(path: &str, bytes: &[u8], reading: impl Into<PlanReading>) -> Plan {
    let PlanReading { batches: options, dialect } = reading.into();
    let mut plan = empty(path, bytes, options);
    match decode_plan_text(bytes) {
        Ok(text) => {
            let input = PlanInput::new(path, text);
            if !input.is_json() {
                plan.title = title(input.document()).unwrap_or(plan.title);
            }
            match dialect.or_else(|| recognize(&input)) {
                Some(dialect) => {
                    plan.dialect = dialect;
                    plan.policy.unproved_continues = dialect.rules().unproved_continues();
                    plan.policy.requires_checks = text.lines().any(|line| line.trim() == CHECKS_REQUIRED);
                    dialect.rules().read_plan(&input, options, &mut plan);
                    if plan.tasks.is_empty() && plan.can_run() {
                        plan.diagnostics.push(no_tasks(&input, dialect));
                    }
                    digest_without_state(text, &mut plan);
                }
                None => plan.diagnostics.push(unrecognized(&input)),
            }
        }
        Err(diagnostic) => plan.diagnostics.push(diagnostic),
    }
    plan.diagnostics.sort_by_key(|found| (found.span.start, found.code));
    plan
}

/// The dialect of a file: that of its place, where it can read it, and else the first that does.
fn recognize(input: &PlanInput<'_>) -> Option<Dialect> {
    let recognizes = |dialect: &Dialect| dialect.rules().recognizes(input);
    let of_place = Dialect::of_place(input.path()).filter(recognizes);
    of_place.or_else(|| Dialect::ALL.iter().copied().find(recognizes))
}

/// Has the digests of a plan's tasks say nothing of what is ticked: a task that was ticked is the task that it was.
fn digest_without_state(text: &str, plan: &mut Plan) {
    let rules = plan.dialect.rules();
    let Some(open) = rules.without_state(text) else { return };
    plan.source.sha256_without_state = Some(sha256_hex(open.as_bytes()));
    for task in &mut plan.tasks {
        if let Some(open) = rules.without_state(&task.body).filter(|open| *open != task.body) {
            task.body_sha256 = sha256_hex(open.as_bytes());
        }
    }
}

/// A plan of this file without anything in it.
fn empty(path: &str, bytes: &[u8], options: BatchOptions) -> Plan {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    let source = PlanSource::new(path, sha256_hex(bytes), bytes.len() as u64);
    let policy =
        RunPolicy { batch_size: number(options.batch_size), hub_dependents: number(options.k), ..RunPolicy::default() };
    Plan { title: name.into_owned(), policy, ..Plan::new(Dialect::DevWorkflow, source) }
}

/// The text of the first heading of the first level.
fn title(document: &MarkdownDocument<'_>) -> Option<String> {
    let first = document.headings.iter().find(|heading| heading.level == 1)?;
    Some(first.text.to_owned()).filter(|title| !title.is_empty())
}

/// A dialect that was named, or was that of the run, finds nothing of its own in a file.
fn no_tasks(input: &PlanInput<'_>, dialect: Dialect) -> Diagnostic {
    let text = format!("the file has no task in the format {}", dialect.word());
    let near = dialect.rules().near_miss(input);
    near.unwrap_or_else(|| task_diagnostic(None, Code::NoTasks, text))
}

/// What a user types to have a file in no known format turned into a task list.
pub fn command_from_file(path: &str) -> String {
    // The path of stdin is none.
    let path = if path == "-" { "FILE".to_owned() } else { sanitize(path, 200) };
    let is_plain = !path.contains(|char: char| char.is_whitespace() || matches!(char, '\'' | '"' | '\\'));
    match path {
        path if is_plain => format!("/omo:ulw-plan --from {path}"),
        path if path.contains('\'') => format!("/omo:ulw-plan --from \"{path}\""),
        path => format!("/omo:ulw-plan --from '{path}'"),
    }
}

/// What is wrong with a file of no known format: what the dialect says that it was likely meant for, or what it has that
/// looks most like a task.
fn unrecognized(input: &PlanInput<'_>) -> Diagnostic {
    let near = Dialect::ALL.iter().find_map(|dialect| dialect.rules().near_miss(input));
    near.unwrap_or_else(|| near_miss::describe(input))
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
    TaskMaster => task_master::TaskMasterDialect,
    Gsd => gsd::GsdDialect,
    SessionSpec => session_spec::SessionSpecDialect,
    Ultraplan => ultraplan::UltraplanDialect,
    Superpowers => superpowers::SuperpowersDialect,
    DevWorkflow => dev_workflow::DevWorkflowDialect,
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
    fn a_file_that_two_dialects_can_read_is_read_by_that_of_its_place() {
        let both = "# Plan\n\n### Task 1: Bake\n\n- [ ] 1.1 Mix\n- [ ] 1.2 Bake\n\n**Verify:** `true`\n";
        let plain = "# Plan\n\n### Task 1: Bake\n\nBake it.\n";
        let labelled = "# Plan\n\n### Task 1: Bake\n\n**Verify:** `true`\n";
        for (path, text, expected) in [
            ("plan.md", both, Dialect::DevWorkflow),
            ("openspec/changes/bake/tasks.md", both, Dialect::OpenSpec),
            ("openspec/changes/bake/tasks.md", labelled, Dialect::DevWorkflow),
            ("docs/bake.md", plain, Dialect::DevWorkflow),
            ("docs/superpowers/plans/bake.md", plain, Dialect::Superpowers),
            ("docs/superpowers/plans/bake.md", labelled, Dialect::DevWorkflow),
        ] {
            assert_eq!(recognize(&PlanInput::new(path, text)), Some(expected), "{path}: {text}");
        }
    }

    #[test]
    fn a_dialect_that_is_named_reads_the_file_or_says_that_it_has_no_task() {
        let text = "# Plan\n\n## 1. Bake\n\n- [ ] 1.1 Mix\n";
        let named = |dialect: Dialect| PlanReading { dialect: Some(dialect), ..PlanReading::default() };
        assert_eq!(read("p.md", text.as_bytes(), BatchOptions::default()).dialect, Dialect::OpenSpec);
        let kiro = read("p.md", text.as_bytes(), named(Dialect::Kiro));
        assert_eq!((kiro.dialect, kiro.tasks.len(), kiro.can_run()), (Dialect::Kiro, 1, true));
        assert_eq!(PlanReading::from(&kiro), named(Dialect::Kiro));
        for dialect in Dialect::of_files() {
            for other in ["", "text", "{}", "{\"a\": 1}", "<task>", "\u{feff}---\n"] {
                let plan = read("p.md", other.as_bytes(), named(dialect));
                assert_eq!((plan.dialect, plan.can_run()), (dialect, false), "{dialect:?} {other:?}");
            }
        }
    }

    #[test]
    fn a_file_of_no_dialect_can_be_turned_into_a_task_list() {
        for (path, command) in [
            ("docs/notes.md", "`/omo:ulw-plan --from docs/notes.md`"),
            ("my notes.md", "`/omo:ulw-plan --from 'my notes.md'`"),
            ("it's.md", "`/omo:ulw-plan --from \"it's.md\"`"),
            ("-", "`/omo:ulw-plan --from FILE`"),
        ] {
            let plan = read(path, b"First bake, then eat.\n", BatchOptions::default());
            let help = plan.diagnostics.first().and_then(|found| found.help.as_deref()).unwrap_or_default();
            assert!(help.starts_with(command), "{path}: {help}");
        }
    }

    #[test]
    fn a_dialect_is_called_the_same_in_json() {
        for dialect in Dialect::ALL {
            assert_eq!(serde_json::to_value(dialect).unwrap(), dialect.word());
        }
    }
}
