//! Plans of every dialect, and what is made of them.

mod as_written;
mod batches;
mod checklist;
mod dev_workflow;
mod format_pages;
mod gsd;
mod more_formats;
mod superpowers;
mod task_master;
mod task_state;
mod tasks_json;
mod ultraplan;
