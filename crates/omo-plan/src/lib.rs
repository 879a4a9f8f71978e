//! Plans of coding tasks: one model for all dialects, checks of a plan, and its next tasks.
//!
//! No function does I/O: text and events go in, plans, diagnostics and decisions come out.

pub mod batches;
pub mod command_concern;
pub mod diagnostic;
pub mod dialects;
pub mod digest;
pub mod document;
pub mod fields;
pub mod id;
pub mod labels;
pub mod model;
pub mod paths;
mod pattern;
pub mod plan_summary;
pub mod project_paths;
pub mod proof;
pub mod refusal;
pub mod strategy;
pub mod task_graph;
pub mod task_list;
mod words;
