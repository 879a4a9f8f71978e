//! Every command that a page names is one that can be typed.

use clap::error::ErrorKind;

use omo_tests::printed_commands::wrong_commands;

use crate::{fenced, first_cells, outside_of_blocks, page, top};

const PAGES: [&str; 18] = [
    "README.md",
    "CONTRIBUTING.md",
    "docs/cli.md",
    "docs/formats/dev-workflow.md",
    "docs/formats/gsd.md",
    "docs/formats/kiro.md",
    "docs/formats/openspec.md",
    "docs/formats/spec-kit.md",
    "docs/formats/steps.md",
    "docs/formats/superpowers.md",
    "docs/formats/task-master.md",
    "docs/guide.md",
    "docs/how-it-works.md",
    "docs/many-machines.md",
    "docs/plan-reference.md",
    "docs/plans.md",
    "docs/troubleshooting.md",
    ".github/ISSUE_TEMPLATE/bug.md",
];

/// Everything on a page that stands as code, with each line of its shell blocks.
fn code(page: &str) -> Vec<String> {
    let spans = outside_of_blocks(page);
    let spans = spans
        .lines()
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .map(|code| code.split(" && ").next().unwrap().to_owned());
    let lines = fenced(page, "sh")
        .into_iter()
        .chain(fenced(page, "text"))
        .flat_map(str::lines);
    let lines = lines.filter(|line| line.starts_with("omo ") || line.starts_with("cargo "));
    spans
        .chain(lines.map(|line| without_remark(line).to_owned()))
        .collect()
}

/// A line of a shell block without what stands behind it for the reader, and without what is done
/// with its output.
pub(crate) fn without_remark(line: &str) -> &str {
    let ends = ["#", "||", "&&", ">", "   "];
    ends.iter()
        .fold(line, |line, end| line.split(end).next().unwrap())
        .trim()
}

/// The tasks of `cargo xtask`, from the table that a test of its own holds.
pub(crate) fn tasks() -> Vec<String> {
    let cells = first_cells(&page("CONTRIBUTING.md"), "made by cargo xtask guide: tasks");
    cells
        .iter()
        .map(|cell| cell.trim_start_matches("cargo xtask ").to_owned())
        .collect()
}

#[test]
fn every_command_of_omo_is_one_that_the_parser_takes() {
    let mut count = 0;
    for name in PAGES {
        for typed in code(&page(name))
            .iter()
            .filter(|code| code.starts_with("omo "))
        {
            let words = shlex::split(typed).unwrap_or_else(|| panic!("{name}: `{typed}`"));
            // What stands behind `…` is not all of it.
            let words = words.into_iter().take_while(|word| word != "…");
            count += 1;
            if let Err(error) = omo_cli::command().try_get_matches_from(words) {
                // A command may be named without what it wants to know.
                let is_named = matches!(
                    error.kind(),
                    ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
                        | ErrorKind::MissingRequiredArgument
                );
                assert!(
                    is_named || error.exit_code() == 0,
                    "{name} names `{typed}`: {error}"
                );
            }
        }
    }
    assert!(count > 40, "only {count} commands found");
}

#[test]
fn every_slash_command_is_there() {
    let mut count = 0;
    for name in PAGES {
        for typed in code(&page(name))
            .iter()
            .filter_map(|code| code.strip_prefix("/omo:"))
        {
            let command = typed.split([' ', '\\']).next().unwrap();
            let file = top().join("commands").join(format!("{command}.md"));
            assert!(file.is_file(), "{name} names `/omo:{typed}`");
            count += 1;
        }
    }
    assert!(count > 20, "only {count} slash commands found");
}

#[test]
fn every_task_is_one_of_xtask() {
    let tasks = tasks();
    let mut count = 0;
    for name in PAGES {
        for typed in code(&page(name))
            .iter()
            .filter_map(|code| code.strip_prefix("cargo xtask "))
        {
            let task = typed.split(' ').next().unwrap();
            let is_one = tasks.iter().any(|it| it == task) || task == "<task>";
            assert!(
                is_one,
                "{name} names `cargo xtask {typed}`; there are {tasks:?}"
            );
            count += 1;
        }
    }
    assert!(count > 10, "only {count} tasks found");
}

/// The texts of a source file, a line each: without comments and tests, with a word in the place of each value.
fn texts(source: &str) -> String {
    let code = source
        .split("#[cfg(test)]\nmod tests")
        .next()
        .unwrap_or_default();
    let lines = code
        .lines()
        .filter(|line| !line.trim_start().starts_with("//"));
    let joined = lines.fold(String::new(), |all, line| match all.strip_suffix('\\') {
        Some(all) => format!("{all}{}", line.trim_start()),
        None => format!("{all}\n\n{line}"),
    });
    let mut parts = joined
        .replace("{{", "(")
        .replace("\\\"", "\"")
        .split('{')
        .map(str::to_owned)
        .collect::<Vec<_>>();
    for part in parts.iter_mut().skip(1) {
        *part = part
            .split_once('}')
            .map_or_else(|| part.clone(), |(_, rest)| format!("1{rest}"));
    }
    parts.concat()
}

/// Commands in a text of the source whose values are words that are no numbers.
const WITH_WORDS: [&str; 5] = [
    "/omo:1 --help",
    "omo agent tasks update 1",
    "omo report --html 1",
    "omo run 1 1",
    "omo run start 1 --resume --max-budget-usd 1 1",
];

#[test]
fn every_command_between_backticks_in_the_source_can_be_typed() {
    let mut count = 0;
    let mut wrong = Vec::new();
    let crates = std::fs::read_dir(top().join("crates"))
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut folders: Vec<_> = crates
        .filter(|path| path.is_dir())
        .map(|path| path.join("src"))
        .collect();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.ends_with("tests.rs") || path.extension().is_none_or(|kind| kind != "rs") {
                continue;
            }
            let texts = texts(&std::fs::read_to_string(&path).unwrap());
            let spans = texts
                .lines()
                .flat_map(|line| line.split('`').skip(1).step_by(2));
            let typed = spans.filter(|span| span.starts_with("omo ") || span.starts_with("/omo:"));
            for typed in typed.filter(|typed| !WITH_WORDS.contains(typed)) {
                count += 1;
                wrong.extend(
                    wrong_commands(&format!("`{typed}`"))
                        .iter()
                        .map(|why| format!("{}: {why}", path.display())),
                );
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(count > 150, "only {count} commands found");
}
