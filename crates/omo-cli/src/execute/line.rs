//! Parser of the text behind a slash command, such as `--waves docs/plan.md` behind `/omo:execute`,
//! without a shell and its expansions.

use std::path::MAIN_SEPARATOR;

use clap::Parser;
use clap::error::ErrorKind;
use omo_core::text::sanitize;

use crate::error::CommandError;
use crate::execute::options::{ExecuteLine, ExecuteLocalLine, ExecutePlanLine, UlwExecLine};
use crate::execute::request::{ExecuteCommand, ExecuteRequest};
use crate::{exit_kind, output};

#[derive(Debug)]
pub(crate) enum TypedLine {
    Request(Box<ExecuteRequest>),
    Help(String),
}

pub(crate) fn read_typed_line(
    command: ExecuteCommand,
    line: &str,
) -> Result<TypedLine, CommandError> {
    let words = split_words(line)?;
    match command {
        ExecuteCommand::Execute => parse_line(command, words, |line: ExecuteLine| {
            ExecuteRequest::try_from(line.options)
        }),
        ExecuteCommand::ExecutePlan => {
            parse_line(command, words, |line: ExecutePlanLine| line.try_into())
        }
        ExecuteCommand::ExecuteLocal => {
            parse_line(command, words, |line: ExecuteLocalLine| line.try_into())
        }
        ExecuteCommand::UlwExec => parse_line(command, words, |line: UlwExecLine| line.try_into()),
    }
}

/// Words of a line, with quotes. On Windows `\` separates folders.
pub(crate) fn split_words(line: &str) -> Result<Vec<String>, CommandError> {
    let line = if MAIN_SEPARATOR == '\\' {
        line.replace('\\', "/")
    } else {
        line.to_owned()
    };
    shlex::split(&line).ok_or_else(|| {
        CommandError::usage(
            "a quote is not closed",
            "put the whole path between two quotes",
        )
    })
}

fn parse_line<L: Parser>(
    command: ExecuteCommand,
    words: Vec<String>,
    request: impl FnOnce(L) -> Result<ExecuteRequest, String>,
) -> Result<TypedLine, CommandError> {
    // Options hidden from `omo run start --help` have room on this page; an approval is typed as a code.
    let mut page = L::command()
        .max_term_width(100)
        .help_template("{usage-heading} {usage}\n\n{all-args}")
        .mut_args(|argument| {
            let is_hidden = argument.get_id() == "digest";
            argument.hide(is_hidden)
        });
    let read = page
        .try_get_matches_from_mut(words)
        .and_then(|matches| L::from_arg_matches(&matches));
    match read {
        Ok(line) => {
            let request =
                request(line).map_err(|why| CommandError::usage(why, usage_hint(command)))?;
            Ok(TypedLine::Request(Box::new(request)))
        }
        Err(error) if error.kind() == ErrorKind::DisplayHelp => {
            Ok(TypedLine::Help(page.render_help().to_string()))
        }
        Err(error) if error.kind() == ErrorKind::MissingRequiredArgument => {
            output::print_stderr_line(&format_args!(
                "{}",
                page.render_help().to_string().trim_end()
            ));
            Err(CommandError::already_printed(exit_kind::ExitKind::Usage))
        }
        Err(error) => Err(CommandError::usage(
            clap_message(&error),
            usage_hint(command),
        )),
    }
}

pub(crate) fn clap_message(error: &clap::Error) -> String {
    let text = error.render().to_string();
    let first = text.split("\n\n").next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first);
    first
        .lines()
        .map(|line| sanitize(line.trim(), 300))
        .collect::<Vec<_>>()
        .join(" ")
}

fn usage_hint(command: ExecuteCommand) -> String {
    format!(
        "a path with blanks stands between quotes; `/omo:{} --help` names the options",
        command.name()
    )
}

#[cfg(test)]
mod tests {
    use omo_engine::execution_mode::ExecutionMode;
    use omo_engine::request::arguments::PlanSelection;
    use serde_json::Value;

    use super::*;
    use crate::execute::request::RequestedPlan;

    fn request(command: ExecuteCommand, line: &str) -> Result<ExecuteRequest, CommandError> {
        match read_typed_line(command, line)? {
            TypedLine::Request(request) => Ok(*request),
            TypedLine::Help(page) => panic!("{page}"),
        }
    }

    fn file(path: &str) -> RequestedPlan {
        RequestedPlan::File(path.to_owned())
    }

    #[test]
    fn every_line_that_was_written_down_is_read_as_it_says() {
        let rows = include_str!("../../../../tests/vectors/plans/ultraplan-args.json");
        let rows: Value = serde_json::from_str(rows).unwrap();
        let cases = rows["cases"].as_array().unwrap();
        assert_eq!(cases.len(), 37, "the rows of the case file");
        for case in cases {
            let line = case["arguments"].as_str().unwrap();
            let read = request(ExecuteCommand::ExecuteLocal, line);
            match case["omo"]["error"].as_str() {
                Some("usage") => assert!(read.unwrap_err().is_printed(), "{line:?}"),
                Some(error) => {
                    let failure = read.unwrap_err();
                    assert!(failure.to_string().contains(error), "{line:?}: {failure}");
                }
                None => {
                    let read = read.unwrap();
                    let expected = &case["omo"];
                    assert_eq!(read.scope.mode().word(), expected["mode"], "{line:?}");
                    assert_eq!(
                        read.scope.selection.session_or_task_number(),
                        expected["target"].as_u64(),
                        "{line:?}"
                    );
                    assert_eq!(
                        read.source,
                        file(expected["path"].as_str().unwrap()),
                        "{line:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn options_stand_anywhere_and_nothing_is_expanded() {
        for line in [
            "docs/p.md --k 2 --batch-size=4",
            "--k=2 --approve 0123456789ab --batch-size 4 docs/p.md",
        ] {
            let read = request(ExecuteCommand::ExecutePlan, line).unwrap();
            assert_eq!(
                (read.batches.k, read.batches.batch_size),
                (Some(2), Some(4)),
                "{line}"
            );
            assert_eq!(read.source, file("docs/p.md"), "{line}");
        }
        for (line, path) in [
            ("'my plan.md' --again", "my plan.md"),
            ("$HOME/p.md", "$HOME/p.md"),
            ("-- --fg.md", "--fg.md"),
        ] {
            assert_eq!(
                request(ExecuteCommand::Execute, line).unwrap().source,
                file(path),
                "{line}"
            );
        }
    }

    #[test]
    fn a_mode_is_named_or_the_plan_chooses() {
        for (line, mode) in [
            ("p.md", None),
            ("--batches p.md", Some(ExecutionMode::Batches)),
            ("p.md --waves", Some(ExecutionMode::Waves)),
            (
                "--parallel p.md --max-sessions 2",
                Some(ExecutionMode::Parallel),
            ),
            ("--fg p.md", Some(ExecutionMode::StepByStep)),
        ] {
            assert_eq!(
                request(ExecuteCommand::Execute, line).unwrap().mode,
                mode,
                "{line}"
            );
        }
        let tasks = request(ExecuteCommand::Execute, "--tasks --session s-1 --batches").unwrap();
        assert_eq!(
            tasks.source,
            RequestedPlan::TaskList(Some("s-1".to_owned()))
        );
        let part = request(ExecuteCommand::Execute, "--session 2 p.md").unwrap();
        assert_eq!(part.scope.selection, PlanSelection::Session(2));
    }

    #[test]
    fn a_command_alone_goes_on() {
        for (command, line) in [
            (ExecuteCommand::Execute, ""),
            (ExecuteCommand::ExecutePlan, "  "),
            (ExecuteCommand::ExecutePlan, "continue"),
        ] {
            assert_eq!(
                request(command, line).unwrap().source,
                RequestedPlan::OpenRun,
                "{line:?}"
            );
        }
        let own = request(
            ExecuteCommand::UlwExec,
            "--max-workers=0 --max-iterations 2",
        )
        .unwrap();
        assert_eq!(
            (own.source, own.waves.max_workers),
            (RequestedPlan::TaskList(None), Some(0))
        );
        assert_eq!(
            request(ExecuteCommand::UlwExec, "p.md").unwrap().source,
            file("p.md")
        );
    }

    #[test]
    fn a_line_that_cannot_be_says_why_in_one_line() {
        for (command, line, why) in [
            (
                ExecuteCommand::Execute,
                "--waves --parallel p.md",
                "cannot be used with",
            ),
            (
                ExecuteCommand::Execute,
                "--fg --batches p.md",
                "cannot be used with",
            ),
            (ExecuteCommand::Execute, "--waves", "no plan is named"),
            (
                ExecuteCommand::Execute,
                "--dialect kiro",
                "no plan is named",
            ),
            (
                ExecuteCommand::Execute,
                "--dialect Kiro p.md",
                "the formats are task-master, ",
            ),
            (
                ExecuteCommand::Execute,
                "--tasks --dialect kiro",
                "cannot be used with",
            ),
            (
                ExecuteCommand::ExecutePlan,
                "--dialect kiro",
                "no plan is named",
            ),
            (
                ExecuteCommand::UlwExec,
                "--dialect kiro",
                "no plan is named",
            ),
            (
                ExecuteCommand::Execute,
                "p.md q.md",
                "unexpected argument 'q.md'",
            ),
            (
                ExecuteCommand::Execute,
                "--yolo=1 p.md",
                "unexpected value '1'",
            ),
            (
                ExecuteCommand::Execute,
                "--session two p.md",
                "--session needs a positive integer",
            ),
            (
                ExecuteCommand::Execute,
                "--tasks p.md",
                "cannot be used with",
            ),
            (
                ExecuteCommand::ExecutePlan,
                "p.md --k",
                "a value is required for '--k",
            ),
            (
                ExecuteCommand::ExecutePlan,
                "p.md --k 0",
                "invalid value '0'",
            ),
            (ExecuteCommand::ExecutePlan, "--again", "no plan is named"),
            (
                ExecuteCommand::ExecutePlan,
                "p.md --yolo",
                "unexpected argument '--yolo'",
            ),
            (
                ExecuteCommand::ExecuteLocal,
                "--resume --dry-run p.md",
                "cannot be used with",
            ),
            (
                ExecuteCommand::ExecuteLocal,
                "--max-budget-usd free p.md",
                "needs an amount in US dollars",
            ),
            (
                ExecuteCommand::ExecuteLocal,
                "--max-sessions 9999999999 p.md",
                "is too many",
            ),
            (
                ExecuteCommand::ExecuteLocal,
                "--launcher '{branch}' p.md",
                "it has to begin with a program",
            ),
            (ExecuteCommand::ExecuteLocal, "--allow '' p.md", "--allow"),
            (
                ExecuteCommand::UlwExec,
                "--max-iterations 0",
                "invalid value '0'",
            ),
            (ExecuteCommand::UlwExec, "'s", "a quote is not closed"),
            (
                ExecuteCommand::Execute,
                "\u{1b}[2J q\u{7}",
                "unexpected argument",
            ),
        ] {
            let failure = request(command, line).unwrap_err().to_string();
            let failure = anstream::adapter::strip_str(&failure).to_string();
            let (failure, _) = failure.split_once("\n\nhint: ").unwrap();
            assert!(failure.contains(why), "{line:?}: {failure}");
            assert!(
                !failure.contains(['\n', '\u{1b}', '\u{7}']),
                "{line:?}: {failure:?}"
            );
        }
    }

    #[test]
    fn help_is_a_page_that_fits_a_prompt() {
        for command in [
            ExecuteCommand::Execute,
            ExecuteCommand::ExecutePlan,
            ExecuteCommand::ExecuteLocal,
            ExecuteCommand::UlwExec,
        ] {
            let TypedLine::Help(page) = read_typed_line(command, "--help").unwrap() else {
                panic!("{command:?}")
            };
            assert!(
                page.starts_with("Usage: /omo:") && page.contains("--approve <CODE>"),
                "{page}"
            );
            assert!(
                page.lines().all(|line| line.chars().count() <= 100),
                "{page}"
            );
            assert!(page.len() < 4_000, "{}", page.len());
        }
    }
}
