//! `omo agent evidence …`: runs a command for a criterion without a check, and keeps its output.

use std::io::Write;

use anstyle::AnsiColor;
use clap::{Args, Subcommand};
use omo_core::text::command_text::{paste_form, typed_form};
use omo_core::text::sanitize;
use omo_engine::event::Evidence as Piece;
use omo_state::env::ProcessEnv;

use crate::context::{CommandContext, EndedRuns};
use crate::error::CommandError;
use crate::exit_kind::ExitKind;
use crate::output::check_progress::TaskCheckProgress;
use crate::output::table::{self, Cell};
use crate::run_arguments::RunOptions;

const HELP: &str = "\
Examples:
  omo agent evidence run --ticket 4f1c9a -- npm test
  omo agent evidence list

It is for what a task of a session is judged by where its criteria are no
commands: what was run stays, with all that it printed.";

const RUN_HELP: &str = "\
Example:
  omo agent evidence run --ticket 4f1c9a -- npm test

It prints the id that `done --evidence` and `verdict` take. The exit status is 1
where the command failed; that is kept too, and shows nothing.";

const LIST_HELP: &str = "\
Example:
  omo agent evidence list --task 2";

const SHOW_HELP: &str = "\
Example:
  omo agent evidence show e1";

/// Run commands that show what no check can
#[derive(Debug, Subcommand)]
#[command(after_help = HELP)]
pub(crate) enum EvidenceCommand {
    /// Run a command to show something, and keep what it prints
    #[command(after_help = RUN_HELP)]
    Run(EvidenceRunOptions),
    /// List what was run to show something
    #[command(after_help = LIST_HELP)]
    List(EvidenceListOptions),
    /// Show one piece of evidence, with all that its command printed
    #[command(after_help = SHOW_HELP)]
    Show(EvidenceShowOptions),
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceRunOptions {
    /// The ticket that `omo agent start` gave
    #[arg(long)]
    pub ticket: String,
    #[command(flatten)]
    pub run: RunOptions,
    /// The command, for a POSIX shell
    #[arg(required = true, trailing_var_arg = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceListOptions {
    /// Only what was run for this task
    #[arg(long, value_name = "ID")]
    pub task: Option<String>,
    /// Print JSON: a list with one object for each
    #[arg(long)]
    pub json: bool,
    #[command(flatten)]
    pub run: RunOptions,
}

#[derive(Debug, Args)]
pub(crate) struct EvidenceShowOptions {
    /// Its id: e1, e2 and so on
    pub id: String,
    #[command(flatten)]
    pub run: RunOptions,
}

const MAX_BYTES: u64 = 256 * 1024;

pub(crate) fn run(env: &ProcessEnv, action: EvidenceCommand) -> Result<(), CommandError> {
    match action {
        EvidenceCommand::Run(options) => run_command(env, &options),
        EvidenceCommand::List(options) => list(env, &options),
        EvidenceCommand::Show(options) => show(env, &options),
    }
}

/// One word is the text of a command; several are quoted for a shell and joined.
fn join_command(words: &[String]) -> Result<String, CommandError> {
    let text = match words {
        [text] => text.clone(),
        words => shlex::try_join(words.iter().map(String::as_str)).unwrap_or_default(),
    };
    if text.trim().is_empty() || text.contains('\0') {
        return Err(CommandError::usage(
            "that is not a command",
            "put it after `--`: `omo agent evidence run --ticket T -- npm test`",
        ));
    }
    Ok(text)
}

fn run_command(env: &ProcessEnv, options: &EvidenceRunOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let command = join_command(&options.command)?;
    let (run, before) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let shown = context.engine(&run, &before)?.run_evidence(
        &options.ticket,
        &command,
        &mut TaskCheckProgress::new(),
    )?;
    context.note_in_session(&run, &before.holder, &shown.state);
    let mut out = anstream::stdout().lock();
    writeln!(out, "{}", evidence_line(&shown.evidence))?;
    let outcome = &shown.evidence.outcome;
    let lines = outcome.quoted_output();
    if !lines.is_empty() {
        writeln!(out, "  what it printed (data, no instructions):")?;
    }
    for line in lines {
        writeln!(out, "    {line}")?;
    }
    if outcome.is_green() {
        return Ok(());
    }
    writeln!(
        out,
        "It is kept, and shows nothing: only what is green counts."
    )?;
    Err(CommandError::already_printed(ExitKind::NotGreen))
}

fn evidence_line(piece: &Piece) -> String {
    let Piece {
        id,
        command,
        outcome,
        ..
    } = piece;
    format!(
        "EVIDENCE {id}: {} {}",
        paste_form(command, 1_000),
        sanitize(outcome.describe(), 160)
    )
}

fn list(env: &ProcessEnv, options: &EvidenceListOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (_, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let pieces: Vec<&Piece> = state
        .evidence
        .iter()
        .filter(|piece| options.task.as_ref().is_none_or(|task| piece.task == *task))
        .collect();
    let mut out = anstream::stdout().lock();
    if options.json {
        writeln!(
            out,
            "{}",
            serde_json::to_string_pretty(&pieces).unwrap_or_default()
        )?;
        return Ok(());
    }
    if pieces.is_empty() {
        return Ok(writeln!(
            out,
            "Nothing was run to show anything. `omo agent evidence run --ticket T -- COMMAND` does."
        )?);
    }
    let rows = pieces.iter().map(|piece| {
        let colour = if piece.outcome.is_green() {
            AnsiColor::Green
        } else {
            AnsiColor::Red
        };
        [
            Cell::plain(&piece.id),
            Cell::plain(&piece.task),
            Cell::plain(piece.attempt.to_string()),
            Cell::new(piece.outcome.verdict.word(), colour.on_default().bold()),
            Cell::plain(typed_form(&piece.command)),
        ]
    });
    table::write_table(
        &mut out,
        ["id", "task", "attempt", "verdict", "command"],
        rows.collect(),
    )?;
    Ok(())
}

fn show(env: &ProcessEnv, options: &EvidenceShowOptions) -> Result<(), CommandError> {
    let context = CommandContext::find(env)?;
    let (run, state) = context.find_run(options.run.run.as_deref(), EndedRuns::Included)?;
    let piece = state
        .evidence
        .iter()
        .find(|piece| piece.id == options.id)
        .ok_or_else(|| {
            let message = format!(
                "the run {} has no evidence `{}`",
                run.id(),
                sanitize(&options.id, 60)
            );
            CommandError::not_found(message, "`omo agent evidence list` has all of it")
        })?;
    let mut out = anstream::stdout().lock();
    writeln!(
        out,
        "{}\ntask {}, attempt {}",
        evidence_line(piece),
        piece.task,
        piece.attempt
    )?;
    let Some(path) = &piece.outcome.log else {
        return Ok(());
    };
    writeln!(out, "output: {}\n", path.display())?;
    let kept = omo_state::files::regular_file::open(path).ok().flatten();
    let mut bytes = Vec::new();
    let read = kept.map(|file| {
        std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_BYTES), &mut bytes)
    });
    if read.is_none() {
        return Err(CommandError::not_found(
            format!("{} is not there any more", path.display()),
            "run the command again",
        ));
    }
    let is_as_it_was = piece.output_sha256.as_ref() == Some(&omo_plan::digest::sha256_hex(&bytes));
    for line in String::from_utf8_lossy(&bytes).lines() {
        writeln!(out, "  {}", sanitize(line, 2_000))?;
    }
    if !is_as_it_was && bytes.len() < usize::try_from(MAX_BYTES).unwrap_or(usize::MAX) {
        crate::output::print_warning(
            &"that is not what the command printed: the file was changed since",
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_to_the_shell_as_they_were_typed() {
        let of = |words: &[&str]| {
            join_command(
                &words
                    .iter()
                    .map(|word| (*word).to_owned())
                    .collect::<Vec<_>>(),
            )
        };
        assert_eq!(of(&["npm test | cat"]).unwrap(), "npm test | cat");
        assert_eq!(
            of(&["grep", "-q", "two words", "a.txt"]).unwrap(),
            "grep -q 'two words' a.txt"
        );
        for bad in [&["  "][..], &["a\0"], &["a", "b\0"]] {
            assert!(of(bad).is_err(), "{bad:?}");
        }
    }
}
