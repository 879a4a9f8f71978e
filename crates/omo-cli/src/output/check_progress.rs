//! `TaskCheckProgress`: the running check of a task as one line on a terminal.

use omo_core::text::command_text::typed_form;
use omo_engine::work::CommandWatcher;

use crate::output::progress::ProgressLine;
use crate::output::table::truncate_columns;

pub(crate) struct TaskCheckProgress(ProgressLine);

impl TaskCheckProgress {
    pub(crate) fn new() -> Self {
        Self(ProgressLine::new())
    }
}

impl CommandWatcher for TaskCheckProgress {
    fn begins(&mut self, command: &str, place: usize, count: usize) {
        self.0.begin(
            format!("check {} of {count}", place + 1),
            truncate_columns(&typed_form(command), 60),
        );
    }

    fn copies(&mut self, file_count: usize) {
        self.0.begin(
            "copying".to_owned(),
            format!("{file_count} files, twice, to compare"),
        );
    }

    fn compares(&mut self, command: &str, with_work: bool) {
        let side = if with_work {
            "with the work"
        } else {
            "without the work"
        };
        self.0
            .begin(side.to_owned(), truncate_columns(&typed_form(command), 60));
    }

    fn should_continue(&mut self) -> bool {
        self.0.tick();
        true
    }
}
