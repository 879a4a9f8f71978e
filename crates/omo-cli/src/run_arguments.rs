//! Arguments that several commands about runs share: the run, and its tasks.

use clap::Args;

#[derive(Debug, Default, Args)]
pub(crate) struct RunOptions {
    /// The run, if not the one that is open here
    #[arg(long, value_name = "ID")]
    pub run: Option<String>,
}

#[derive(Debug, Default, Args)]
pub(crate) struct NamedRun {
    #[command(flatten)]
    pub run: RunOptions,
    /// The run, as with --run
    #[arg(value_name = "ID", hide = true, conflicts_with = "run")]
    pub id: Option<String>,
}

impl NamedRun {
    /// Id of the run; `None` for the open one here.
    pub(crate) fn id(&self) -> Option<&str> {
        self.run.run.as_deref().or(self.id.as_deref())
    }
}

impl From<RunOptions> for NamedRun {
    fn from(run: RunOptions) -> Self {
        Self { run, id: None }
    }
}

#[derive(Debug, Args)]
pub(crate) struct TaskOptions {
    /// The task
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}
