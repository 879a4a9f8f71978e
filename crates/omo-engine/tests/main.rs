//! Runs of plans: their rules, their files, and what people read of them.

mod fence;
mod import;
mod request;
mod run;
mod runs;
mod task_list_reports;
mod ultraplan_reports;
