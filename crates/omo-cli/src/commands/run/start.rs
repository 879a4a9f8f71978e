//! `omo run start`: a plan becomes a run, or goes on with the one that it has.

use omo_state::env::ProcessEnv;

use crate::context::CommandContext;
use crate::error::CommandError;
use crate::execute::execute;
use crate::execute::options::StartOptions;
use crate::execute::request::ExecuteRequest;

/// `omo run start`.
pub(crate) fn start(env: &ProcessEnv, options: StartOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let wrong = |why: String| CommandError::usage(why, "`omo run start --help` names the options");
    execute(&context, &ExecuteRequest::try_from(options).map_err(wrong)?)
}
