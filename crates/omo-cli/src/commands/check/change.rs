//! `SessionChange`: a change of a session's checks that a person confirms, and no model.

use std::io::Write;

use omo_core::check::session_check::Check;
use omo_core::log_entry;
use omo_core::session::Session;
use omo_core::text::sanitize;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::seal::hex_digest;
use omo_state::state::{self, EntryChange};

use crate::confirm::{self, ConfirmOptions, Confirmation};
use crate::error::CommandError;
use crate::project::{Project, log_decision, sealed_session};

pub(crate) fn digest_of(checks: &[Check]) -> String {
    let all: Vec<u8> = checks
        .iter()
        .flat_map(|check| [check.name.as_bytes(), b"\0", &check.definition()].concat())
        .collect();
    hex_digest(&all)
}

pub(crate) fn unknown_check(name: &str) -> CommandError {
    CommandError::not_found(
        format!("no check here is called `{}`", sanitize(name, 40)),
        "`omo check list` names them",
    )
}

pub(crate) struct SessionChange<'a> {
    pub env: &'a ProcessEnv,
    pub project: &'a Project,
    pub confirm: &'a ConfirmOptions,
}

impl SessionChange<'_> {
    pub(crate) fn apply(
        &self,
        question: &str,
        mut change: impl FnMut(&mut Vec<Check>) -> Result<String, CommandError>,
    ) -> Result<(), CommandError> {
        self.apply_to_session(question, |session| {
            let mut checks = session.checks.clone();
            let answer = change(&mut checks)?;
            session.change_checks(checks, confirm::given_approval(self.env).by, self.env.now);
            Ok(answer)
        })
    }

    /// Asks a person `question`, writes the session, and prints the line that `change` gives.
    pub(crate) fn apply_to_session(
        &self,
        question: &str,
        mut change: impl FnMut(&mut Session) -> Result<String, CommandError>,
    ) -> Result<(), CommandError> {
        let (env, project) = (self.env, self.project);
        let id = project.require_session(env)?;
        let before = sealed_session(env, project, &id)?;
        // An impossible change is refused before the user is asked.
        change(&mut before.clone())?;
        confirm_change(env, self.confirm, question, &digest_of(&before.checks))?;
        let folder = GuardedFolder::create_state(&project.root)?;
        let ((answer, session), _lock) =
            state::update(&folder, &id, Project::state_update(env), |session| {
                let is_same = digest_of(&session.checks) == digest_of(&before.checks);
                let answer = if is_same {
                    change(session)
                } else {
                    Err(changed_meanwhile())
                };
                let write = if answer.is_ok() {
                    EntryChange::Write
                } else {
                    EntryChange::Keep
                };
                ((answer, session.clone()), write)
            })?;
        let answer = answer?;
        log_decision(
            &folder,
            &log_entry::checks_entry(id.as_str(), &session, "cli", env.now),
        );
        writeln!(anstream::stdout(), "{id}  {answer}")?;
        Ok(())
    }
}

fn changed_meanwhile() -> CommandError {
    CommandError::conflict(
        "the checks were changed meanwhile; nothing was done",
        "look at them again: `omo check list`",
    )
}

pub(crate) fn confirm_change(
    env: &ProcessEnv,
    options: &ConfirmOptions,
    question: &str,
    digest: &str,
) -> Result<(), CommandError> {
    let question = Confirmation {
        text: question,
        digest,
        own_shell: (
            "what judges a model is not changed from its own shell",
            "type `/omo:check …` in the session, or use a terminal of your own",
        ),
        shown_by: "`omo check list` shows it",
    };
    confirm::ask_person(env, &question, options.digest.as_deref())
}
