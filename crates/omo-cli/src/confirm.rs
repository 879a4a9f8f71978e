//! A question to the person at the terminal before something is approved. A model's shell is never asked.

use std::io::{BufRead, IsTerminal, Write};
use std::path::Path;

use clap::Args;
use omo_core::session::ChangedBy;
use omo_core::session::id::SessionId;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::{self, EntryChange};
use omo_state::trust::GivenApproval;

use crate::error::CommandError;
use crate::project::Project;

#[derive(Debug, Args)]
pub(crate) struct ConfirmOptions {
    /// Agree without a terminal: the digest in `omo check list`
    #[arg(long, value_name = "DIGEST")]
    pub digest: Option<String>,
}

pub(crate) struct Confirmation<'a> {
    pub text: &'a str,
    pub digest: &'a str,
    /// Message and hint of the refusal in a model's own shell.
    pub own_shell: (&'a str, &'a str),
    pub shown_by: &'a str,
}

/// Asks the user. Without a terminal, the digest of the read text answers.
pub(crate) fn ask_person(
    env: &ProcessEnv,
    question: &Confirmation,
    given: Option<&str>,
) -> Result<(), CommandError> {
    if env.in_session {
        return Err(CommandError::needs_person(
            question.own_shell.0,
            question.own_shell.1,
        ));
    }
    if let Some(given) = given {
        if given == question.digest {
            return Ok(());
        }
        return Err(CommandError::conflict(
            "that is not the digest of what is there now",
            question.shown_by,
        ));
    }
    if !std::io::stdin().is_terminal() {
        let hint = format!(
            "repeat with `--digest` and the digest: {}",
            question.shown_by
        );
        return Err(CommandError::needs_person(
            "there is no terminal to ask on",
            hint,
        ));
    }
    if is_answered_yes(question.text)? {
        return Ok(());
    }
    Err(CommandError::needs_person(
        "not agreed to; nothing was done",
        "answer `y` to agree",
    ))
}

pub(crate) fn is_answered_yes(question: &str) -> Result<bool, CommandError> {
    write!(anstream::stderr(), "{question} [y/N] ")?;
    let mut answer = String::new();
    std::io::stdin()
        .lock()
        .read_line(&mut answer)
        .map_err(|error| {
            CommandError::io(
                format!("the answer cannot be read: {error}"),
                "answer at a terminal",
            )
        })?;
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

/// Origin of an approval: without a terminal the process may be one that a model detached from its client.
pub(crate) fn given_approval(env: &ProcessEnv) -> GivenApproval {
    let approver = if std::io::stdin().is_terminal() {
        ChangedBy::Terminal
    } else {
        ChangedBy::Detached
    };
    GivenApproval {
        by: approver,
        at: env.now,
    }
}

/// Notes the approval in every session of the project, whose verdict then names one without a known person.
pub(crate) fn name_approval(
    root: &Path,
    env: &ProcessEnv,
    given: GivenApproval,
    approved: &str,
) -> Result<(), CommandError> {
    let Some(folder) = GuardedFolder::open_state(root)?.filter(|_| !given.by.is_person()) else {
        return Ok(());
    };
    let ids: Vec<SessionId> = state::peek_all(&folder)?
        .sessions
        .into_iter()
        .map(|(id, _)| id)
        .collect();
    state::update_all(&folder, &ids, Project::state_update(env), |_, session| {
        session.note_weakening(given.by, approved, given.at);
        ((), EntryChange::Write)
    })?;
    Ok(())
}
