//! `Arguments`: the command line, parsed by clap.

use std::ffi::OsString;

use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, ValueEnum};

use crate::commands::Command;
use crate::exit_kind::ExitKind;

pub(crate) fn top_help() -> String {
    format!(
        "{TOP}\n\nExit status:\n{}",
        in_two_columns(&ExitKind::ALL).join("\n")
    )
}

/// Exit statuses in columns, downwards first: one a line would not fit a screen.
fn in_two_columns(kinds: &[ExitKind]) -> Vec<String> {
    let (left, right) = kinds.split_at(kinds.len().div_ceil(2));
    let width = left
        .iter()
        .map(|kind| kind.meaning().len())
        .max()
        .unwrap_or(0);
    let left = left
        .iter()
        .map(|kind| format!("  {}  {:width$}", kind.code(), kind.meaning()));
    let right = right
        .iter()
        .map(|kind| format!("  {:>2}  {}", kind.code(), kind.meaning()));
    left.zip(right.chain(std::iter::repeat(String::new())))
        .map(|(left, right)| (left + &right).trim_end().to_owned())
        .collect()
}

const TOP: &str = "\
Every command takes --color <auto|always|never>; NO_COLOR is honoured as well.

Example:
  omo status               where each session of this project stands";

/// Shows and stops ultrawork. It keeps a Claude Code session working until its task is proved
/// done, within hard bounds. Type `ulw` in a prompt to turn it on.
#[derive(Debug, Parser)]
#[command(name = "omo", version, arg_required_else_help = true, after_help = top_help())]
#[command(max_term_width = 80)]
pub(crate) struct Arguments {
    // Hidden: on each of the pages, which fit a screen, it would be one line more.
    /// Colours of what is printed
    #[arg(
        long,
        global = true,
        hide = true,
        value_enum,
        default_value_t,
        value_name = "WHEN"
    )]
    pub color: ColorWhen,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum ColorWhen {
    /// On a terminal, where no variable says otherwise.
    #[default]
    Auto,
    /// Everywhere.
    Always,
    /// Nowhere.
    Never,
}

impl ColorWhen {
    fn apply(self) {
        let choice = match self {
            Self::Auto => anstream::ColorChoice::Auto,
            Self::Always => anstream::ColorChoice::Always,
            Self::Never => anstream::ColorChoice::Never,
        };
        choice.write_global();
    }
}

#[derive(Debug)]
pub(crate) struct CommandLine {
    pub arguments: Arguments,
    pub wants_json: bool,
}

impl CommandLine {
    /// Parses a command line, and sets colours for everything printed from then on. A request for help is an error.
    pub(crate) fn read(words: &[OsString]) -> Result<Self, clap::Error> {
        color_in(words).apply();
        let matches = Arguments::command().try_get_matches_from(words)?;
        let wants_json = matches_json(&matches);
        let arguments = Arguments::from_arg_matches(&matches)?;
        arguments.color.apply();
        Ok(Self {
            arguments,
            wants_json,
        })
    }
}

fn matches_json(matches: &ArgMatches) -> bool {
    let mut last = matches;
    while let Some((_, below)) = last.subcommand() {
        last = below;
    }
    let is_set = matches!(last.try_get_one::<bool>("json"), Ok(Some(true)));
    let format = last
        .try_contains_id("format")
        .is_ok_and(|is_given| is_given);
    is_set
        || (format
            && last
                .get_raw("format")
                .is_some_and(|mut values| values.any(|value| value == "json")))
}

/// Options of an unparsed command line, up to `--`.
fn options(words: &[OsString]) -> impl Iterator<Item = &str> {
    words
        .iter()
        .map(|word| word.to_str().unwrap_or_default())
        .take_while(|word| *word != "--")
}

fn value_of<'a>(words: &'a [OsString], option: &str) -> Option<&'a str> {
    let mut words = options(words);
    words
        .find_map(|word| match word.strip_prefix(option)? {
            "" => Some(None),
            rest => rest.strip_prefix('=').map(Some),
        })?
        .or_else(|| words.next())
}

fn color_in(words: &[OsString]) -> ColorWhen {
    value_of(words, "--color")
        .and_then(|value| ColorWhen::from_str(value, false).ok())
        .unwrap_or_default()
}

pub(crate) fn asks_for_json(words: &[OsString]) -> bool {
    options(words).any(|word| word == "--json") || value_of(words, "--format") == Some("json")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Vec<OsString> {
        line.split(' ').map(OsString::from).collect()
    }

    #[test]
    fn a_command_that_is_asked_for_json_is_told_from_its_arguments() {
        for (line, expected) in [
            ("omo status --json", true),
            ("omo --color never run list --json", true),
            ("omo report --format json", true),
            ("omo report --format=json", true),
            ("omo report --format summary", false),
            ("omo status", false),
            ("omo check add -- tool --json", false),
            ("omo check add tool --json", false),
        ] {
            let read = CommandLine::read(&words(line)).unwrap();
            assert_eq!(read.wants_json, expected, "{line}");
        }
        for (line, expected) in [
            ("omo status --json --x", true),
            ("omo report --x --format=json", true),
            ("omo report --format", false),
            ("omo stpo -- --json", false),
        ] {
            assert_eq!(asks_for_json(&words(line)), expected, "{line}");
        }
    }

    #[test]
    fn colours_are_asked_for_before_and_behind_a_command() {
        for (line, expected) in [
            ("omo status", ColorWhen::Auto),
            ("omo --color always status", ColorWhen::Always),
            ("omo status --color=never", ColorWhen::Never),
            ("omo status --color", ColorWhen::Auto),
            ("omo check add -- tool --color always", ColorWhen::Auto),
        ] {
            assert_eq!(color_in(&words(line)), expected, "{line}");
            if !line.ends_with("--color") {
                assert_eq!(
                    Arguments::try_parse_from(words(line)).unwrap().color,
                    expected,
                    "{line}"
                );
            }
        }
    }
}
