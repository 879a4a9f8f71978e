//! Files of a run that other programs read, each with the shape and the words that they know.

pub mod execute_plan_checkpoint;
pub mod execution_report;
pub mod task_folder;
pub mod ultraexecute_progress;
pub mod ultraexecute_summary;
