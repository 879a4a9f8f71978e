//! Commits made for the user, of merges and of ticks in the plan's file, unless a hook refuses.

use std::time::Duration;

use omo_git::integrate::{CommitDraft, CommitHooks, MergeError, make_commit};
use omo_git::user_git::UserGit;

use super::{DriveError, ParallelDriver};
use crate::client_policy::ClientPolicy;

pub(super) const LIMIT: Duration = Duration::from_secs(600);

impl ParallelDriver<'_> {
    pub(super) fn user_git(&self) -> UserGit<'_> {
        UserGit {
            environment: self.engine.environment,
            settings: &self.settings,
            limit: LIMIT,
        }
    }

    /// The new commit of `draft`; the inner error is the reason of a hook, or a missing signature.
    pub(super) fn commit_for_user(
        &self,
        policy: &ClientPolicy,
        draft: &CommitDraft<'_>,
    ) -> Result<Result<String, String>, DriveError> {
        let hooks = CommitHooks::find(&self.repository, draft)?;
        let mut message = draft.message.to_owned();
        if !hooks.is_empty() {
            let user = self.user_git();
            let asked = self.in_scratch_tree(policy, draft.tip, |tree| {
                hooks.ask(&tree, draft, &user, self.engine.is_needed())
            })?;
            message = match asked {
                Ok(asked) => match asked? {
                    Ok(message) => message,
                    Err(why) => return Ok(Err(why)),
                },
                Err(why) => return Ok(Err(format!("its hooks could not be asked: {why}"))),
            };
        }
        match make_commit(&self.repository, draft, &message, self.engine.is_needed()) {
            Ok(made) => Ok(Ok(made)),
            Err(error @ MergeError::Unsigned { .. }) => Ok(Err(error.to_string())),
            Err(error) => Err(error.into()),
        }
    }
}
