//! Reference of the commands that people type, from their definitions in clap.

use clap::{Arg, Command};

/// Commands with the same option before it stands once, at the top.
const SHARED_BY: usize = 4;

struct Section<'a> {
    level: usize,
    name: String,
    command: &'a Command,
}

/// A section for each command that `--help` lists, with its options, examples and notes. Options of many commands
/// have a section of their own.
pub(crate) fn commands() -> String {
    let mut root = omo_cli::command().disable_help_subcommand(true);
    root.build();
    let mut sections = Vec::new();
    collect_below(&root, "omo", 2, &mut sections);
    let shared = shared_options(&sections);
    let first = format!("## Options of several commands\n\n{}", shared.join("\n"));
    let others = sections.iter().map(|section| render(section, &shared));
    [first]
        .into_iter()
        .chain(others)
        .collect::<Vec<_>>()
        .join("\n\n")
}

fn collect_below<'a>(
    command: &'a Command,
    above: &str,
    level: usize,
    sections: &mut Vec<Section<'a>>,
) {
    for command in command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
    {
        let name = format!("{above} {}", command.get_name());
        sections.push(Section {
            level,
            name: name.clone(),
            command,
        });
        collect_below(command, &name, level + 1, sections);
    }
}

/// Options that at least [`SHARED_BY`] commands have with the same words.
fn shared_options(sections: &[Section]) -> Vec<String> {
    let mut counts = Vec::<(String, usize)>::new();
    for option in sections.iter().flat_map(|section| options(section.command)) {
        match counts.iter_mut().find(|(known, _)| *known == option) {
            Some((_, count)) => *count += 1,
            None => counts.push((option, 1)),
        }
    }
    counts.retain(|(_, count)| *count >= SHARED_BY);
    counts.into_iter().map(|(option, _)| option).collect()
}

/// Arguments and options of a command, an item of a list each.
fn options(command: &Command) -> Vec<String> {
    let options = command
        .get_arguments()
        .filter(|argument| !argument.is_positional());
    command
        .get_positionals()
        .chain(options)
        .filter(|argument| is_listed(argument))
        .map(item)
        .collect()
}

fn render(section: &Section, shared: &[String]) -> String {
    let about = section
        .command
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut parts = vec![
        format!("{} `{}`", "#".repeat(section.level), section.name),
        format!("{}.", escape(&about)),
    ];
    let (common, own): (Vec<_>, Vec<_>) = options(section.command)
        .into_iter()
        .partition(|option| shared.contains(option));
    if !own.is_empty() {
        parts.push(own.join("\n"));
    }
    let names: Vec<&str> = common
        .iter()
        .filter_map(|option| option.trim_start_matches("- ").split(": ").next())
        .collect();
    if !names.is_empty() {
        let names = names.join(", ");
        parts.push(format!("[Shared](#options-of-several-commands): {names}"));
    }
    let below = section
        .command
        .get_after_help()
        .map(ToString::to_string)
        .unwrap_or_default();
    parts.extend(blocks(&below, |line| is_own_example(line, section)));
    parts.join("\n\n")
}

/// An example that says more than the heading, and that no section below has.
fn is_own_example(line: &str, section: &Section) -> bool {
    let is_of_below = section.command.get_subcommands().any(|below| {
        let name = format!("{} {}", section.name, below.get_name());
        line.split_whitespace()
            .take(name.split(' ').count())
            .eq(name.split(' '))
    });
    line != section.name && !is_of_below
}

fn is_listed(argument: &Arg) -> bool {
    !argument.is_hide_set() && !["help", "version"].contains(&argument.get_id().as_str())
}

fn item(argument: &Arg) -> String {
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
    format!("- {short}`{argument}`: {help}")
}

/// Shown examples as a block, and each paragraph behind them as one line.
fn blocks(below: &str, is_shown: impl Fn(&str) -> bool) -> Vec<String> {
    let paragraphs = below
        .trim_end()
        .split("\n\n")
        .filter(|paragraph| !paragraph.is_empty());
    paragraphs
        .filter_map(|paragraph| match paragraph.split_once('\n') {
            Some((heading, lines)) if heading.starts_with("Example") => {
                let lines = lines.lines().map(str::trim);
                let lines: Vec<&str> = lines.filter(|line| is_shown(line)).collect();
                (!lines.is_empty()).then(|| format!("```text\n{}\n```", lines.join("\n")))
            }
            _ => Some(escape(&paragraph.lines().collect::<Vec<_>>().join(" "))),
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
            "\n- `-n`, `--limit <N>`: ",
            "; one of `progress`, `summary`, `json`\n",
            "; without it `origin`\n",
            "\n- `<QUESTION>`: ",
        ] {
            assert!(page.contains(row), "{row}:\n{page}");
        }
    }

    #[test]
    fn an_option_of_many_commands_stands_once() {
        let page = commands();
        let run = "\n- `--run <ID>`: The run, if not the one that is open here\n";
        assert_eq!(page.matches(run).count(), 1, "{page}");
        let show = page.split("### `omo run show`\n").nth(1).unwrap();
        assert!(
            show.split("\n#").next().unwrap().contains("`--run <ID>`"),
            "{show}"
        );
    }

    #[test]
    fn an_example_stands_with_its_own_command() {
        let page = commands();
        assert_eq!(page.matches("\nomo plan show docs/plan.md\n").count(), 1);
        assert!(!page.contains("\nomo run list\n"), "{page}");
        assert!(page.contains("\nomo log  "), "{page}");
    }

    #[test]
    fn examples_keep_their_lines_and_notes_are_one() {
        let below = "Examples:\n  omo log    all\n  omo why\n\nA note\nof two lines.\n";
        assert_eq!(
            blocks(below, |_| true),
            [
                "```text\nomo log    all\nomo why\n```",
                "A note of two lines."
            ]
        );
        assert_eq!(escape("a <B> `c|d_e` _f_"), "a \\<B> `c\\|d_e` \\_f\\_");
    }
}
