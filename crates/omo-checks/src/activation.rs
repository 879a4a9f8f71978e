//! Start of an ultrawork run: marks it in its session's entry, and saves the checks' environment.

use std::path::Path;

use omo_core::messages::run_start::RunStart;
use omo_core::review::SettingsMark;
use omo_core::session::id::SessionId;
use omo_core::session::{Session, UlwActivation};
use omo_core::timestamp::Timestamp;
use omo_process::environment::CheckEnvironment;
use omo_state::files::folder::FolderError;
use omo_state::trust::GivenApproval;
use omo_state::{env, run_environment};

/// Facts about a new run, gathered before its session's entry changes.
#[derive(Debug)]
pub struct ActivationContext<'a> {
    pub root: Option<&'a Path>,
    pub state_home: Option<&'a Path>,
    pub id: &'a SessionId,
    /// Name from [`settle_scope`](omo_git::work_files::settle_scope).
    pub scope: Option<String>,
    pub settings: Vec<SettingsMark>,
    pub approval: Option<GivenApproval>,
    pub now: Timestamp,
}

impl ActivationContext<'_> {
    /// Begins a run in `session`, or goes on with one, whose first environment and scope stay.
    ///
    /// # Errors
    ///
    /// An environment that could not be saved: the run is on, and none of its checks runs.
    pub fn activate(
        self,
        session: &mut Session,
        activation: UlwActivation,
    ) -> (RunStart, Result<(), FolderError>) {
        let Self {
            root,
            state_home,
            id,
            scope,
            settings,
            approval,
            now,
        } = self;
        let start = RunStart::of(session, &activation);
        let saved = session
            .verification
            .environment
            .take()
            .filter(|_| session.is_armed())
            .filter(|name| {
                state_home.is_some_and(|home| run_environment::read(home, id, name).is_some())
            });
        if start.keeps_run() {
            session.go_on(activation, now);
        } else {
            session.activate(activation, now);
        }
        if let Some(GivenApproval { by, at }) = approval {
            session.note_unproved_approval(by, at);
        }
        session.verification.scope = session.verification.scope.take().or(scope);
        session.verification.settings = session.verification.settings.take().or(Some(settings));
        let (saved, result) = match (saved, root, state_home) {
            (None, Some(root), Some(home)) => {
                let environment = CheckEnvironment::from_variables(env::variables(), root);
                match environment.save_for_run(home, id) {
                    Ok(name) => (Some(name), Ok(())),
                    Err(error) => (None, Err(error)),
                }
            }
            (saved, ..) => (saved, Ok(())),
        };
        session.verification.environment = Some(saved.unwrap_or_default());
        (start, result)
    }
}
