//! Reference of the commands that people type, from their definitions in clap.

use clap::{Arg, Command};

use crate::reference::table;

/// A section for each command that `--help` lists, with its options, examples and notes.
pub(crate) fn commands() -> String {
    let mut root = omo_cli::command().disable_help_subcommand(true);
    root.build();
    let mut sections = Vec::new();
    for command in listed(&root) {
        add_sections(command, "omo", 2, &mut sections);
    }
    sections.join("\n\n")
}

fn listed(command: &Command) -> impl Iterator<Item = &Command> {
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
}

fn add_sections(command: &Command, above: &str, level: usize, sections: &mut Vec<String>) {
    let name = format!("{above} {}", command.get_name());
    sections.push(section(command, &name, level));
    for below in listed(command) {
        add_sections(below, &name, level + 1, sections);
    }
}

fn section(command: &Command, name: &str, level: usize) -> String {
    let about = command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut parts = vec![
        format!("{} `{name}`", "#".repeat(level)),
        format!("{}.", escape(&about)),
    ];
    let positionals = command.get_positionals();
    let options = command
        .get_arguments()
        .filter(|argument| !argument.is_positional());
    let rows: Vec<String> = positionals
        .chain(options)
        .filter(|argument| is_listed(argument))
        .map(row)
        .collect();
    if !rows.is_empty() {
        parts.push(table("option | meaning", &rows).trim_end().to_owned());
    }
    let below = command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    parts.extend(blocks(&below));
    parts.join("\n\n")
}

fn is_listed(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

fn row(argument: &Arg) -> String {
    let short = argument
        .get_short()
        .filter(|_| argument.get_long().is_some());
    let short = short
        .map(|short| format!("`-{short}`, "))
        .unwrap_or_default();
    let mut help = escape(
        &argument
            .get_help()
            .map(ToString::to_string)
            .unwrap_or_default(),
    );
    let shown = argument
        .get_possible_values()
        .into_iter()
        .filter(|value| !value.is_hide_set());
    let possible: Vec<String> = shown
        .map(|value| format!("`{}`", value.get_name()))
        .collect();
    if argument.get_action().takes_values()
        && !argument.is_hide_possible_values_set()
        && !possible.is_empty()
    {
        help = format!("{help}; one of {}", possible.join(", "));
    }
    let defaults = argument
        .get_default_values()
        .iter()
        .map(|value| value.to_string_lossy());
    let defaults: Vec<String> = defaults.map(|value| format!("`{value}`")).collect();
    if argument.get_action().takes_values()
        && !argument.is_hide_default_value_set()
        && !defaults.is_empty()
    {
        help = format!("{help}; without it {}", defaults.join(", "));
    }
    format!("| {short}`{argument}` | {help} |")
}

/// Examples as a block, and each paragraph behind them as one line.
fn blocks(below: &str) -> Vec<String> {
    let paragraphs = below
        .trim_end()
        .split("\n\n")
        .filter(|paragraph| !paragraph.is_empty());
    paragraphs
        .map(|paragraph| match paragraph.split_once('\n') {
            Some((heading, lines)) if heading.starts_with("Example") => {
                let lines: Vec<&str> = lines.lines().map(str::trim).collect();
                format!("```text\n{}\n```", lines.join("\n"))
            }
            _ => escape(&paragraph.lines().collect::<Vec<_>>().join(" ")),
        })
        .collect()
}

/// Text of a page, with marks that Markdown would read escaped outside of code.
fn escape(text: &str) -> String {
    let spans = text.split('`').enumerate();
    let escaped = spans.map(|(index, span)| {
        let marks: &[char] = if index % 2 == 1 {
            &['|']
        } else {
            &['<', '*', '_', '[', '|']
        };
        marks.iter().fold(span.to_owned(), |span, mark| {
            span.replace(*mark, &format!("\\{mark}"))
        })
    });
    escaped.collect::<Vec<_>>().join("`")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_people_type_is_there_and_what_agents_type_is_not() {
        let page = commands();
        for heading in [
            "## `omo status`",
            "### `omo run start`",
            "#### `omo run later done`",
        ] {
            assert!(page.contains(&format!("{heading}\n")), "{heading}");
        }
        assert!(
            !page.contains("`omo agent open`") && !page.contains("# `omo help`"),
            "{page}"
        );
        assert!(!page.contains("Print help"), "{page}");
    }

    #[test]
    fn an_option_has_its_short_form_its_values_and_its_default() {
        let page = commands();
        for row in [
            "| `-n`, `--limit <N>` | ",
            "; one of `progress`, `summary`, `json` |",
            "; without it `origin` |",
            "| `<QUESTION>` | ",
        ] {
            assert!(page.contains(row), "{row}:\n{page}");
        }
    }

    #[test]
    fn examples_keep_their_lines_and_notes_are_one() {
        let below = "Examples:\n  omo log    all\n  omo why\n\nA note\nof two lines.\n";
        assert_eq!(
            blocks(below),
            [
                "```text\nomo log    all\nomo why\n```",
                "A note of two lines."
            ]
        );
        assert_eq!(escape("a <B> `c|d_e` _f_"), "a \\<B> `c\\|d_e` \\_f\\_");
    }
}
