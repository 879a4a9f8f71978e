//! The checks of a run, their baseline, and their execution.

pub mod activation;
pub mod baseline;
pub mod claim_proof;
pub mod detected_check;
pub mod missing_program;
pub mod outside_files;
pub mod project_copy;
pub mod repository_config;
pub mod session_checks;
pub mod set_up;
pub mod starting_checks;
pub mod task_check;
