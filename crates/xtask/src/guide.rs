//! `cargo xtask guide`: writes the generated parts of the pages.
//!
//! Those of `docs/` come from the crate `omo-pages`, which links `omo` and is built only on demand. The list of these
//! tasks is made here, the files of the hooks in `hook_files`, the promises in `promises`.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result};
use clap::CommandFactory;

use crate::{Arguments, cargo, hook_files, promises};

const PAGE: &str = "CONTRIBUTING.md";
const BEGINS: &str = "<!-- made by cargo xtask guide: tasks -->\n";
const ENDS: &str = "<!-- end of tasks -->";

pub(crate) fn run() -> Result<()> {
    let path = cargo::top()?.join(PAGE);
    let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
    let filled = fill(&text).with_context(|| format!("{PAGE} has no place for the tasks"))?;
    if filled != text {
        fs::write(&path, filled).with_context(|| format!("write {}", path.display()))?;
        anstream::println!("written: {PAGE}");
    }
    hook_files::run()?;
    promises::write(&cargo::top()?)?;
    cargo::run(
        Command::new(cargo::cargo())
            .args(["run", "--quiet", "--locked", "-p", "omo-pages"])
            .current_dir(cargo::top()?),
    )
}

fn fill(page: &str) -> Option<String> {
    let (before, rest) = page.split_once(BEGINS)?;
    let (_, after) = rest.split_once(ENDS)?;
    let rows: Vec<String> = Arguments::command()
        .get_subcommands()
        .filter(|task| !task.is_hide_set())
        .map(row)
        .collect();
    Some(format!(
        "{before}{BEGINS}\n| task | what it is for |\n|---|---|\n{}\n\n{ENDS}{after}",
        rows.join("\n")
    ))
}

fn row(task: &clap::Command) -> String {
    let purpose = task
        .get_about()
        .map(ToString::to_string)
        .unwrap_or_default();
    format!(
        "| `cargo xtask {}` | {} |",
        task.get_name(),
        purpose.replace('|', "\\|")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_tasks_is_the_one_of_the_command_line() {
        let page = fs::read_to_string(cargo::top().unwrap().join(PAGE)).unwrap();
        let filled = fill(&page).unwrap();
        assert!(
            filled == page,
            "{PAGE} is not up to date: cargo xtask guide"
        );
        for task in Arguments::command().get_subcommands() {
            assert!(
                task.get_about().is_some(),
                "`cargo xtask {}` does not say what it is for",
                task.get_name()
            );
        }
    }
}
