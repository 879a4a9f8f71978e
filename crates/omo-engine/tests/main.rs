//! Runs of plans: their rules, their files, and their reports.

mod fence;
mod import;
mod request;
mod run;
mod runs;
mod task_list_reports;
mod ultraplan_reports;
