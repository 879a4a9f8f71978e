//! `LastRun`: the latest ultrawork run of a project, from the session state or from the sealed
//! record of its end.

use std::path::PathBuf;

use omo_core::messages::run_end;
use omo_core::request_source::ClientProcess;
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session, VerdictKind};
use omo_core::timestamp::Timestamp;
use omo_git::git_command::GitCalls;
use omo_git::work_files::{FileManifest, WorkFiles};
use omo_process::process_identity::start_mark;
use omo_state::ended_runs;
use omo_state::env::ProcessEnv;
use omo_state::state;

use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::id_prefix::{IdMatch, ambiguous_id, match_id};
use crate::project::Project;
use crate::repository_sessions::{find_project, folders_of_repository};

pub(crate) struct LastRun {
    pub id: SessionId,
    /// Session entry with nothing in it that omo did not write.
    pub session: Session,
}

impl LastRun {
    /// The last run, or that of the named session. A kept record is not enough: the state may have been removed since.
    pub(crate) fn find(env: &ProcessEnv, project: &Project) -> Result<Self, CommandError> {
        let sessions = believed_sessions(env, project)?;
        // An entry that something else than omo wrote or put back hides its past: it wins over all others.
        let latest = sessions
            .into_iter()
            .max_by_key(|(_, session)| (session.is_disowned(), changed_at(session)));
        let latest = latest.ok_or_else(|| not_known(project))?;
        // The last entry may have been removed from the state.
        match last_kept_run(env, project)? {
            _ if latest.1.is_disowned() => Ok(Self {
                id: latest.0,
                session: latest.1,
            }),
            Some(kept) if changed_at(&kept.session) > changed_at(&latest.1) => Ok(kept),
            Some(kept) if kept.id == latest.0 && kept.session.verdict == latest.1.verdict => {
                Ok(kept)
            }
            _ => Ok(Self {
                id: latest.0,
                session: latest.1,
            }),
        }
    }

    /// [`LastRun::find`], with the last kept record where the state knows none.
    pub(crate) fn find_to_show(env: &ProcessEnv, project: &Project) -> Result<Self, CommandError> {
        Self::find(env, project).or_else(|error| last_kept_run(env, project)?.ok_or(error))
    }

    pub(crate) fn find_all(env: &ProcessEnv, project: &Project) -> Result<Vec<Self>, CommandError> {
        let mut runs: Vec<Self> = kept_runs(env, project)?.collect();
        for (id, session) in believed_sessions(env, project)? {
            if runs.iter().any(|run| {
                run.id == id
                    && run.is_run_of(&session)
                    && changed_at(&run.session) >= changed_at(&session)
            }) {
                continue;
            }
            runs.retain(|run| run.id != id || !run.is_run_of(&session));
            runs.push(Self { id, session });
        }
        Ok(runs)
    }

    pub(crate) fn read_again(
        &self,
        env: &ProcessEnv,
        project: &Project,
    ) -> Result<Self, CommandError> {
        let found = Self::find_to_show(env, project)?;
        if found.is_run_of(&self.session) {
            return Ok(found);
        }
        kept_runs(env, project)?
            .find(|run| run.is_run_of(&self.session))
            .ok_or_else(|| not_known(project))
    }

    fn is_run_of(&self, session: &Session) -> bool {
        self.session.ulw.started_at == session.ulw.started_at
    }
}

pub(crate) fn changed_files(
    env: &ProcessEnv,
    project: &Project,
    id: &SessionId,
    session: &Session,
) -> Option<String> {
    let is_verified = session
        .verdict
        .as_ref()
        .is_some_and(|verdict| verdict.kind == VerdictKind::Verified);
    let reviewed = session
        .verification
        .requested_review
        .as_ref()
        .and_then(|asked| asked.tree.as_ref());
    let verified = reviewed
        .or_else(|| session.checks.first()?.last.as_ref()?.tree.as_ref())
        .filter(|_| is_verified)?;
    let (calls, scope) = (GitCalls::default(), session.verification.scope.as_deref());
    let files = WorkFiles::new(&project.root, env.state_home.as_deref(), &calls, scope);
    files.state().filter(|present| present.id != *verified)?;
    let paths = verified_files(env, project, id, session).and_then(|verified| {
        let now = files.exact_id()?.1;
        Some(
            now.changed_since(&verified)
                .into_keys()
                .map(|path| String::from_utf8_lossy(path).into_owned())
                .collect::<Vec<_>>(),
        )
    });
    Some(run_end::files_changed(paths.as_deref()))
}

fn verified_files(
    env: &ProcessEnv,
    project: &Project,
    id: &SessionId,
    session: &Session,
) -> Option<FileManifest> {
    let folder = project.folder.as_ref()?;
    let run = ended_runs::read(folder, id, session.verdict.as_ref()?.at)?;
    let files = ended_runs::read_files(folder, &run, env.state_home.as_deref())?;
    Some(FileManifest::from_kept(files))
}

/// The project of a run to show; with a named session, the folder of the repository that knows it.
pub(crate) fn find_project_to_show(
    env: &ProcessEnv,
    named: Option<&str>,
) -> Result<Project, CommandError> {
    let (typed, error) = match (named, find_project(env, named)) {
        (Some(typed), Err(error)) if error.kind == ExitKind::NotFound => (typed, error),
        (_, found) => return found,
    };
    let mut kept: Vec<(SessionId, PathBuf)> = Vec::new();
    for root in folders_of_repository(env)? {
        // An unreadable folder hides none of the others.
        let Ok(project) = Project::open(root, None) else {
            continue;
        };
        kept.extend(kept_runs(env, &project)?.map(|run| (run.id, project.root.clone())));
    }
    match match_id(typed, kept.iter().map(|(id, _)| id.as_str())) {
        IdMatch::One(meant) => match kept.iter().find(|(id, _)| id.as_str() == meant) {
            Some((id, root)) => Project::open(root.clone(), Some(id.clone())),
            None => Err(error),
        },
        IdMatch::None => Err(error),
        IdMatch::Several(ids) => Err(ambiguous_id(typed, "sessions", "--session", &ids)),
    }
}

/// Selected runs of the state with nothing in them that omo did not write.
fn believed_sessions(
    env: &ProcessEnv,
    project: &Project,
) -> Result<Vec<(SessionId, Session)>, CommandError> {
    let believed = project.sessions()?.into_iter().map(|(id, session)| {
        let provenance = state::provenance(&project.root, &id, &session, env.state_home.as_deref());
        let session = session.as_believed(provenance.unwrap_or(EntryProvenance::Foreign), env.now);
        (id, session)
    });
    Ok(believed
        .filter(|(id, session)| is_wanted_session(project, id) && changed_at(session).is_some())
        .collect())
}

fn is_wanted_session(project: &Project, id: &SessionId) -> bool {
    project.named_session().is_none_or(|named| named == id)
}

fn last_kept_run(env: &ProcessEnv, project: &Project) -> Result<Option<LastRun>, CommandError> {
    Ok(kept_runs(env, project)?.next())
}

fn kept_runs(
    env: &ProcessEnv,
    project: &Project,
) -> Result<impl Iterator<Item = LastRun>, CommandError> {
    let records = project
        .folder
        .as_ref()
        .map(ended_runs::read_all)
        .transpose()
        .map_err(state::StateError::from)?;
    let own_runs = records
        .into_iter()
        .flatten()
        .filter(|run| run.is_own(env.state_home.as_deref()));
    Ok(own_runs.filter_map(|run| {
        let id = SessionId::parse(&run.session)
            .ok()
            .filter(|id| is_wanted_session(project, id))?;
        Some(LastRun {
            id,
            session: run.entry,
        })
    }))
}

fn not_known(project: &Project) -> CommandError {
    let message = format!("no ultrawork run is known in {}", project.root.display());
    CommandError::not_found(message, "type `ulw <task>` in a session of this project")
}

fn changed_at(session: &Session) -> Option<Timestamp> {
    session
        .verdict
        .as_ref()
        .map(|verdict| verdict.at)
        .max(session.ulw.started_at)
}
/// `true` where a client of the session still runs.
pub(crate) fn has_live_client(session: &Session) -> bool {
    let lives =
        |client: &ClientProcess| start_mark(client.pid).as_ref() == Some(&client.start_mark);
    session.clients.iter().any(lives)
}
