//! Checks: commands that omo runs and whose result decides.

pub mod ci_report;
pub mod counterfactual;
pub mod file_use;
mod output_listener;
pub mod printed_output;
mod renamed_tests;
pub mod session_check;
mod shell_complaint;
pub mod steering;
pub mod task_check;
pub mod test_report;
pub mod test_runner;
