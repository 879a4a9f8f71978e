//! Reactions of a command to an invalid user configuration.

use omo_state::config::UserConfig;

use crate::error::CommandError;
use crate::output::print_warning;

/// Refuses an invalid configuration: limits and checks would be others than the user believes.
pub(crate) fn require_valid_config(config: &UserConfig) -> Result<(), CommandError> {
    config
        .problems
        .first()
        .map_or(Ok(()), |problem| Err(CommandError::invalid_config(problem)))
}

/// Warns only: a bad configuration must not keep the user from looking or stopping.
pub(crate) fn warn_about_config(config: &UserConfig) {
    config
        .problems
        .iter()
        .for_each(|problem| print_warning(problem));
}
