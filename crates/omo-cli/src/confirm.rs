//! Asking the person at the terminal before something is agreed to. A model's shell is never asked.

use std::io::{BufRead, IsTerminal, Write};

use omo_store::env::Env;

use crate::failure::Failure;

/// What a person is asked.
pub(crate) struct Question<'a> {
    /// The question, with everything that they agree to.
    pub text: &'a str,
    /// What stands for exactly that.
    pub digest: &'a str,
    /// Why a model's own shell is not asked, and what its user does instead.
    pub own_shell: (&'a str, &'a str),
    /// What shows the digest.
    pub shown_by: &'a str,
}

/// Asks. Whoever has no terminal gives the digest of what they have read.
pub(crate) fn ask(env: &Env, question: &Question, given: Option<&str>) -> Result<(), Failure> {
    if env.in_session {
        return Err(Failure::human(question.own_shell.0, question.own_shell.1));
    }
    if let Some(given) = given {
        if given == question.digest {
            return Ok(());
        }
        return Err(Failure::conflict("that is not the digest of what is there now", question.shown_by));
    }
    if !std::io::stdin().is_terminal() {
        let hint = format!("repeat with `--digest` and the digest: {}", question.shown_by);
        return Err(Failure::human("there is no terminal to ask on", hint));
    }
    write!(anstream::stderr(), "{} [y/N] ", question.text)?;
    let mut answer = String::new();
    std::io::stdin().lock().read_line(&mut answer)?;
    if matches!(answer.trim(), "y" | "Y" | "yes") {
        return Ok(());
    }
    Err(Failure::human("not agreed to; nothing was done", "answer `y` to agree"))
}
