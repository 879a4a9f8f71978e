//! The dialects in which plans are written, each read into the one model.
//!
//! Every file becomes a plan: one that cannot be read, or is of no known dialect, has no units and a
//! diagnostic that says why.

pub mod dev_workflow;
pub mod files;
pub mod session_spec;
pub mod ultra;
pub mod ultraplan;
pub mod verify;

use std::path::Path;

use crate::diagnostic::{Code, Diagnostic};
use crate::digest::sha256;
use crate::document::Document;
use crate::model::{Dialect, OnUnitFail, Parallel, Plan, Policy, SCHEMA, Source};
use crate::segments::{DEFAULT_BATCH_SIZE, DEFAULT_K, Outline, about, text};

/// How a plan is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// How many direct dependents make a task a hub.
    pub k: usize,
    /// How many tasks are in a batch.
    pub batch_size: usize,
}

impl Default for Options {
    fn default() -> Self {
        Self { k: DEFAULT_K, batch_size: DEFAULT_BATCH_SIZE }
    }
}

impl Options {
    /// These sizes, as a command line or a checkpoint has them.
    pub fn of(k: u32, batch_size: u32) -> Self {
        let size = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        Self { k: size(k), batch_size: size(batch_size) }
    }
}

impl From<&Policy> for Options {
    /// The sizes that a plan was read with.
    fn from(policy: &Policy) -> Self {
        Self::of(policy.hub_k, policy.batch_size)
    }
}

/// Reads a plan file.
pub fn read(path: &str, bytes: &[u8], options: Options) -> Plan {
    let mut plan = empty(path, bytes, options);
    match text(bytes) {
        Ok(text) => {
            let document = Document::read(text);
            plan.title = title(&document).unwrap_or(plan.title);
            if !ultra::read(&document, &mut plan) {
                read_tasks(&document, options, &mut plan);
            }
        }
        Err(diagnostic) => plan.diagnostics.push(diagnostic),
    }
    plan.diagnostics.sort_by_key(|found| (found.span.start, found.code));
    plan
}

fn read_tasks(document: &Document<'_>, options: Options, plan: &mut Plan) {
    let outline = Outline::read(document);
    if !outline.tasks.is_empty() {
        dev_workflow::read(document, &outline, options, plan);
    } else if let Some(diagnostic) = ultra::unrecognized(document) {
        plan.diagnostics.push(diagnostic);
    } else {
        plan.diagnostics.push(unrecognized());
    }
}

/// A plan of this file without anything in it.
fn empty(path: &str, bytes: &[u8], options: Options) -> Plan {
    let number = |value: usize| u32::try_from(value).unwrap_or(u32::MAX);
    let name = Path::new(path).file_stem().unwrap_or_default().to_string_lossy();
    Plan {
        schema: SCHEMA,
        dialect: Dialect::DevWorkflow,
        source: Source { path: path.to_owned(), sha256: sha256(bytes), bytes: bytes.len() as u64 },
        title: name.into_owned(),
        goal: String::new(),
        preconditions: Vec::new(),
        units: Vec::new(),
        groups: Vec::new(),
        final_checks: Vec::new(),
        policy: Policy {
            on_unit_fail: OnUnitFail::Continue,
            parallel: Parallel::None,
            max_workers: 1,
            max_iterations: 1,
            batch_size: number(options.batch_size),
            wants_contracts: false,
            hub_k: number(options.k),
            skips_verification: false,
        },
        diagnostics: Vec::new(),
    }
}

/// The text of the first heading of the first level.
fn title(document: &Document<'_>) -> Option<String> {
    let first = document.headings.iter().find(|heading| heading.level == 1)?;
    Some(first.text.to_owned()).filter(|title| !title.is_empty())
}

fn unrecognized() -> Diagnostic {
    let text = "the file is no plan that omo knows: it has no task `### Task 1: its title`".to_owned();
    about(None, Code::UnrecognizedFormat, text)
}
