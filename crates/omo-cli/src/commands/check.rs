//! `omo check`: what judges a claim, from a terminal.
//!
//! A model has a shell, too. Nothing here changes what judges it from within a session; elsewhere
//! a person agrees on a terminal, or with the exact digest that `omo check list` shows.

use std::io::Write;

use clap::{Args, Subcommand};
use omo_core::check::session_check::{self, Check, CheckOrigin};
use omo_core::log_entry;
use omo_core::messages::checks::{changed_since_approval, count_checks, describe_check, describe_checks, inline_code};
use omo_core::text::command_text::{is_plain_text, show_whole};
use omo_core::text::sanitize;
use omo_state::config::UserConfig;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::repository_config::{ApprovalState, RepositoryConfig};
use omo_state::seal::hex_digest;
use omo_state::search_path::SearchPath;
use omo_state::starting_checks::{self, pin_checks};
use omo_state::state::{self, EntryChange};

use crate::commands::verify;
use crate::confirm::{self, ConfirmOptions, Confirmation};
use crate::error::CommandError;
use crate::output::table::{self, Cell};
use crate::project::{Project, SessionOptions, log_decision, sealed_session};

const HELP: &str = "\
Examples:
  omo check list
  omo check add --name tests -- cargo test --workspace
  omo check remove tests

What widens or narrows the judgement asks you on a terminal first, or needs the
digest that `omo check list` shows. In the session `/omo:check` does the same.";

pub(crate) const LIST_HELP: &str = "\
Example:
  omo check list";

pub(crate) const ADD_HELP: &str = "\
Example:
  omo check add --name tests -- cargo test --workspace";

pub(crate) const REMOVE_HELP: &str = "\
Example:
  omo check remove tests";

pub(crate) const APPROVE_HELP: &str = "\
Example:
  omo check approve

It shows every byte of each command before it asks. Any later change of omo.toml
or of a file that its checks run asks again, and so does another repository.";

pub(crate) const ACCEPT_HELP: &str = "\
Examples:
  omo check accept          all checks
  omo check accept tests    one of them

For when tests were taken away on purpose, or a script that a check runs was
changed by you: without it the check stays red.";

/// Show or change the checks that judge a claim
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum CheckCommand {
    /// Show what judges a claim, and what omo.toml asks for
    #[command(after_help = LIST_HELP)]
    List(SessionOptions),
    /// Have a command decide as well
    #[command(after_help = ADD_HELP)]
    Add(AddOptions),
    /// Have a check decide no more
    #[command(after_help = REMOVE_HELP)]
    Remove(RemoveOptions),
    /// Approve what omo.toml would run, exactly as it is now
    #[command(after_help = APPROVE_HELP)]
    Approve(ConfirmOptions),
    /// Take the files and counts as they are now as the ones to be held to
    #[command(after_help = ACCEPT_HELP)]
    Accept(AcceptOptions),
}

#[derive(Debug, Args)]
pub(crate) struct AddOptions {
    /// What it is called
    #[arg(long)]
    pub name: Option<String>,
    /// How long it may run, in seconds
    #[arg(long, value_name = "SECONDS")]
    pub timeout: Option<u32>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
    /// The command, for a POSIX shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct RemoveOptions {
    /// Which check
    pub name: String,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

#[derive(Debug, Args)]
pub(crate) struct AcceptOptions {
    /// Which check; without it all of them
    pub name: Option<String>,
    #[command(flatten)]
    pub session: SessionOptions,
    #[command(flatten)]
    pub confirm: ConfirmOptions,
}

/// Does what was asked for.
pub(crate) fn run(env: &ProcessEnv, config: &UserConfig, action: CheckCommand) -> Result<(), CommandError> {
    crate::config_problems::warn_about_config(config);
    let project = Project::find(env)?;
    match action {
        CheckCommand::List(options) => list(env, config, &project, &options),
        CheckCommand::Add(options) => add(env, &project, &options),
        CheckCommand::Remove(options) => remove(env, &project, &options),
        CheckCommand::Accept(options) => accept(env, &project, &options),
        CheckCommand::Approve(options) => approve(env, &project, &options),
    }
}

fn list(
    env: &ProcessEnv,
    config: &UserConfig,
    project: &Project,
    options: &SessionOptions,
) -> Result<(), CommandError> {
    let checks = verify::select_checks(env, config, project, options.session.as_deref())?.checks;
    let mut out = anstream::stdout().lock();
    if checks.is_empty() {
        writeln!(out, "No check decides here. `/omo:check add <command>` in a session adds one.")?;
    } else {
        let is_on_a_line = |check: &Check| is_plain_text(&check.command) && check.cwd.is_none() && check.env.is_empty();
        let cells = |check: &Check| {
            let last = check.last.as_ref().map_or("not run yet", |record| record.verdict.word());
            let command = if is_on_a_line(check) { check.command.as_str() } else { "(below)" };
            [Cell::plain(&check.name), Cell::plain(check.origin.word()), Cell::plain(last), Cell::plain(command)]
        };
        table::write_table(&mut out, ["check", "from", "last", "command"], checks.iter().map(cells).collect())?;
        for check in checks.iter().filter(|check| !is_on_a_line(check)) {
            writeln!(out, "\n{}", describe_check(check, "  "))?;
        }
        writeln!(out, "\ndigest of these checks: {}", digest_of(&checks))?;
    }
    if let Some(repository) = RepositoryConfig::read(&project.root) {
        show_repository_checks(&mut out, env, &repository)?;
    }
    Ok(())
}

fn show_repository_checks(
    out: &mut impl Write,
    env: &ProcessEnv,
    repository: &RepositoryConfig,
) -> Result<(), CommandError> {
    for problem in &repository.problems {
        writeln!(out, "\n{problem}; nothing of omo.toml runs")?;
    }
    if repository.problems.is_empty() {
        let approval = repository.approval(env.state_home.as_deref());
        let stands = match &approval {
            ApprovalState::Yes(_) => "approved".to_owned(),
            ApprovalState::Before { changed } => {
                format!("not approved{}: nothing of it runs", changed_since_approval(changed))
            }
            ApprovalState::No => "not approved: nothing of it runs".to_owned(),
        };
        writeln!(out, "\nomo.toml is {stands}")?;
        if !matches!(approval, ApprovalState::Yes(_)) && !repository.checks.is_empty() {
            writeln!(out, "{}", describe_checks(&repository.checks, &repository.pinned))?;
        }
        writeln!(out, "digest of omo.toml: {}", repository.digest)?;
    }
    if let Some(setup) = &repository.setup {
        let runs = "it runs where you approved it with the commands of a plan";
        let gap = if is_plain_text(setup) { "; " } else { "\n" };
        writeln!(out, "\nset-up of a plan's worktrees: {}{gap}{runs}", show_whole(setup, "  "))?;
    }
    Ok(())
}

/// What stands for the checks of a session as they are.
fn digest_of(checks: &[Check]) -> String {
    let all: Vec<u8> =
        checks.iter().flat_map(|check| [check.name.as_bytes(), b"\0", &check.definition()].concat()).collect();
    hex_digest(&all)
}

fn add(env: &ProcessEnv, project: &Project, options: &AddOptions) -> Result<(), CommandError> {
    let refuse =
        |error: session_check::InvalidCheck| CommandError::usage(error.to_string(), "`omo check add --help` shows how");
    // One argument is a command; several are its words, as the shell has parted them.
    let command = match &*options.command {
        [command] => command.clone(),
        words => shlex::try_join(words.iter().map(String::as_str))
            .map_err(|_| refuse(session_check::InvalidCheck::Command))?,
    };
    let mut check = Check::new(options.name.as_deref(), &command, CheckOrigin::User).map_err(refuse)?;
    check.timeout_seconds = options.timeout;
    check.validate().map_err(refuse)?;
    pin_checks([&mut check], &project.root, &SearchPath::from_process());
    let change = SessionChange { env, project, confirm: &options.confirm };
    let question = format!(
        "Have this run whenever a claim is checked?\n{}\n",
        describe_checks(std::slice::from_ref(&check), &check.pinned)
    );
    change.apply(&options.session, &question, |checks| {
        session_check::add_check(checks, check.clone()).map_err(refuse)?;
        Ok(format!("`{}` decides from now on", check.name))
    })
}

fn remove(env: &ProcessEnv, project: &Project, options: &RemoveOptions) -> Result<(), CommandError> {
    let change = SessionChange { env, project, confirm: &options.confirm };
    let question = format!("Have `{}` decide no more?", inline_code(&options.name, 40));
    change.apply(&options.session, &question, |checks| {
        if !session_check::remove_check(checks, &options.name) {
            return Err(unknown_check(&options.name));
        }
        Ok(format!("`{}` decides no more", options.name))
    })
}

fn accept(env: &ProcessEnv, project: &Project, options: &AcceptOptions) -> Result<(), CommandError> {
    let change = SessionChange { env, project, confirm: &options.confirm };
    let search = SearchPath::from_process();
    change.apply(&options.session, "Take the files and counts as they are now as the ones to be held to?", |checks| {
        let accepted = starting_checks::accept_checks(checks, options.name.as_deref(), &project.root, &search);
        match (&options.name, accepted.len()) {
            (Some(name), 0) => Err(unknown_check(name)),
            (_, count) => {
                Ok(format!("{}: the files and counts as they are now are the ones to be held to", count_checks(count)))
            }
        }
    })
}

fn unknown_check(name: &str) -> CommandError {
    CommandError::not_found(format!("no check here is called `{}`", sanitize(name, 40)), "`omo check list` names them")
}

fn approve(env: &ProcessEnv, project: &Project, options: &ConfirmOptions) -> Result<(), CommandError> {
    let missing = || {
        CommandError::not_found(
            format!("there is no omo.toml in {}", project.root.display()),
            "there is nothing to approve",
        )
    };
    let repository = RepositoryConfig::read(&project.root).ok_or_else(missing)?;
    if let Some(problem) = repository.problems.first() {
        return Err(CommandError::invalid_config(problem));
    }
    let question = format!(
        "omo.toml would have these commands run, with your rights:\n{}\nApprove exactly this?",
        describe_checks(&repository.checks, &repository.pinned)
    );
    confirm_change(env, options, &question, &repository.digest)?;
    // Read anew: what was shown is what is approved, and nothing else.
    if RepositoryConfig::read(&project.root).is_none_or(|now| now.digest != repository.digest) {
        return Err(CommandError::conflict(
            "omo.toml was changed meanwhile; nothing was approved",
            "look at it again: `omo check list`",
        ));
    }
    let given = confirm::given_approval(env);
    repository.approve(env.state_home.as_deref(), &project.root, given)?;
    confirm::name_approval(&project.root, env, given, "omo.toml approved")?;
    writeln!(
        anstream::stdout(),
        "approved: {} of omo.toml; any change asks again",
        count_checks(repository.checks.len())
    )?;
    writeln!(
        anstream::stdout(),
        "They count from the next run on; in a session, `/omo:check approve` takes them in at once."
    )?;
    Ok(())
}

/// A change of the checks of one session.
struct SessionChange<'a> {
    env: &'a ProcessEnv,
    project: &'a Project,
    confirm: &'a ConfirmOptions,
}

impl SessionChange<'_> {
    fn apply(
        &self,
        session: &SessionOptions,
        question: &str,
        mut change: impl FnMut(&mut Vec<Check>) -> Result<String, CommandError>,
    ) -> Result<(), CommandError> {
        let (env, project) = (self.env, self.project);
        let id = project.require_session(session.session.as_deref(), env)?;
        let before = sealed_session(env, project, &id)?.checks;
        // A change that is not possible is refused before the user is asked.
        change(&mut before.clone())?;
        confirm_change(env, self.confirm, question, &digest_of(&before))?;
        let folder = GuardedFolder::create_state(&project.root)?;
        let ((said, session), _lock) = state::update(&folder, &id, Project::state_update(env), |session| {
            let mut checks = session.checks.clone();
            let said =
                if digest_of(&checks) == digest_of(&before) { change(&mut checks) } else { Err(changed_meanwhile()) };
            let write = if said.is_ok() { EntryChange::Write } else { EntryChange::Keep };
            session.change_checks(checks, confirm::given_approval(env).by, env.now);
            ((said, session.clone()), write)
        })?;
        let said = said?;
        log_decision(&folder, &log_entry::checks_entry(id.as_str(), &session, "cli", env.now));
        writeln!(anstream::stdout(), "{id}  {said}")?;
        Ok(())
    }
}

fn changed_meanwhile() -> CommandError {
    CommandError::conflict(
        "the checks were changed meanwhile; nothing was done",
        "look at them again: `omo check list`",
    )
}

/// Asks the person at the terminal.
fn confirm_change(
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
