//! The ultrawork run of a project that was begun last, and how it ended: for scripts, since `claude -p` prints nothing
//! that a hook says.

use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_core::timestamp::Timestamp;
use omo_state::ended_runs::{self, EndedRun};
use omo_state::env::ProcessEnv;
use omo_state::state;

use crate::error::CommandError;
use crate::project::Project;

/// The last run of a project.
pub(crate) struct LastRun {
    /// Its session.
    pub id: SessionId,
    /// The entry of the session; nothing in it that omo did not write.
    pub session: Session,
    /// What its checks printed, where that was kept.
    pub record: Option<EndedRun>,
}

impl LastRun {
    /// Finds it, or that of the session that was named: the one that was begun or has ended last, whether it is on or not. What was kept
    /// of an ended run counts where the state has forgotten its session.
    ///
    /// # Errors
    ///
    /// Where none is known, or the state cannot be read.
    pub(crate) fn find(env: &ProcessEnv, project: &Project) -> Result<Self, CommandError> {
        let is_meant = |id: &SessionId| project.named_session().is_none_or(|named| named == id);
        let state_home = env.state_home.as_deref();
        let believed = |(id, session): (SessionId, Session)| {
            let provenance = state::provenance(&project.root, &id, &session, state_home);
            let session = session.as_believed(provenance.unwrap_or(EntryProvenance::Foreign), env.now);
            (id, session)
        };
        let known = project.sessions()?.into_iter().filter(|(id, _)| is_meant(id)).map(believed);
        let latest =
            known.filter(|(_, session)| changed_at(session).is_some()).max_by_key(|(_, session)| changed_at(session));
        let records = project.folder.as_ref().map(ended_runs::read_all).transpose().map_err(state::StateError::from)?;
        let mut records = records.into_iter().flatten().filter(|run| run.is_own(state_home));
        let is_of = |run: &EndedRun, id: &SessionId| run.session == id.as_str();
        match latest {
            Some((id, session)) => {
                let ended = session.verdict.as_ref().map(|verdict| verdict.at);
                let record = records.find(|run| is_of(run, &id) && Some(run.ended_at) == ended);
                Ok(Self { id, session, record })
            }
            None => records
                .find_map(|run| {
                    let id = SessionId::parse(&run.session).ok().filter(is_meant)?;
                    Some(Self { id, session: run.entry.clone(), record: Some(run) })
                })
                .ok_or_else(|| {
                    let message = format!("no ultrawork run is known in {}", project.root.display());
                    CommandError::not_found(message, "type `ulw <task>` in a session of this project")
                }),
        }
    }
}

/// When its run was begun, or has ended.
fn changed_at(session: &Session) -> Option<Timestamp> {
    session.verdict.as_ref().map(|verdict| verdict.at).max(session.ulw.started_at)
}
