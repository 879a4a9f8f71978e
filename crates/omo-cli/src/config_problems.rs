//! What a command does where the user's configuration is wrong.

use omo_state::config::UserConfig;

use crate::error::CommandError;
use crate::output::print_warning;

/// With a bad configuration the limits and checks would be others than the user believes.
pub(crate) fn require_valid_config(config: &UserConfig) -> Result<(), CommandError> {
    config.problems.first().map_or(Ok(()), |problem| Err(CommandError::invalid_config(problem)))
}

/// A bad configuration must not keep the user from looking, or from stopping.
pub(crate) fn warn_about_config(config: &UserConfig) {
    config.problems.iter().for_each(|problem| print_warning(problem));
}
