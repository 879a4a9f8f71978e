//! Start of a run in the entry of its session: by the keyword in a prompt, or by a command of its
//! user.

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

/// Project of a run that begins, with the facts that were read before its entry was locked.
#[derive(Debug)]
pub struct ActivationContext<'a> {
    /// Top of the project.
    pub root: Option<&'a Path>,
    /// The user's own folder for states.
    pub state_home: Option<&'a Path>,
    /// `SessionId`.
    pub id: &'a SessionId,
    /// Scope of [`settle_scope`](omo_git::work_files::settle_scope).
    pub scope: Option<String>,
    /// The client's settings that bear on a reviewer.
    pub settings: Vec<SettingsMark>,
    /// Approval of the checks of `omo.toml`.
    pub approval: Option<GivenApproval>,
    /// The time.
    pub now: Timestamp,
}

impl ActivationContext<'_> {
    /// Turns a session on, whose entry is omo's own by now. What a run began with, its environment and which files
    /// count, stays until its task is proved, however often it is begun anew. Gives what that did to the session.
    ///
    /// # Errors
    ///
    /// Where the environment cannot be kept: the run is on, and none of its checks runs.
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
        let is_there = |kept: &String| {
            state_home.is_some_and(|home| run_environment::read(home, id, kept).is_some())
        };
        let kept = session
            .verification
            .environment
            .take()
            .filter(|_| session.is_armed())
            .filter(is_there);
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
        let keep = |(root, home)| {
            CheckEnvironment::from_variables(env::variables(), root).save_for_run(home, id)
        };
        let (kept, result) = match kept.map_or_else(
            || root.zip(state_home).map(keep).transpose(),
            |kept| Ok(Some(kept)),
        ) {
            Ok(kept) => (kept, Ok(())),
            Err(error) => (None, Err(error)),
        };
        session.verification.environment = Some(kept.unwrap_or_default());
        (start, result)
    }
}
