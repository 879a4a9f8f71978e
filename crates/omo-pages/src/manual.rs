//! Pages for `man`, one for each command that `--help` lists.

use std::fs;
use std::io::Write;
use std::path::Path;

use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::Man;

/// Writes `omo.1`, `omo-status.1` and the others into a folder; gives their names.
pub fn write_manual(folder: &Path) -> Result<Vec<String>> {
    fs::create_dir_all(folder).with_context(|| format!("create {}", folder.display()))?;
    let mut command = omo_cli::command().disable_help_subcommand(true);
    command.build();
    let mut names = Vec::new();
    write_pages_of(&command, folder, &mut names)?;
    names.sort();
    Ok(names)
}

fn write_pages_of(command: &Command, folder: &Path, names: &mut Vec<String>) -> Result<()> {
    let man = Man::new(command.clone()).source(concat!("omo ", env!("CARGO_PKG_VERSION")));
    let name = man.get_filename();
    let path = folder.join(&name);
    fs::write(&path, page(&man, command)?).with_context(|| format!("write {}", path.display()))?;
    names.push(name);
    command
        .get_subcommands()
        .filter(|below| !below.is_hide_set())
        .try_for_each(|it| write_pages_of(it, folder, names))
}

/// A page. Text below the options keeps its lines: the examples are a table.
fn page(man: &Man, command: &Command) -> Result<Vec<u8>> {
    let mut page = Vec::new();
    man.render_title(&mut page)?;
    man.render_name_section(&mut page)?;
    man.render_synopsis_section(&mut page)?;
    man.render_description_section(&mut page)?;
    man.render_options_section(&mut page)?;
    if command.get_subcommands().any(|below| !below.is_hide_set()) {
        man.render_subcommands_section(&mut page)?;
    }
    if let Some(below) = command.get_after_help() {
        writeln!(page, ".SH NOTES\n.nf")?;
        for line in below.to_string().lines() {
            writeln!(page, "{}", escape(line))?;
        }
        writeln!(page, ".fi")?;
    }
    Ok(page)
}

/// Line of text in roff: no escape, no request, and each `-` a plain one.
fn escape(line: &str) -> String {
    let text = line.replace('\\', "\\e").replace('-', "\\-");
    if text.starts_with(['.', '\'']) {
        format!("\\&{text}")
    } else {
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_help_lists_has_its_page_with_its_examples() {
        let folder = tempfile::tempdir().unwrap();
        let names = write_manual(folder.path()).unwrap();
        for name in [
            "omo.1",
            "omo-status.1",
            "omo-check-add.1",
            "omo-run-list.1",
            "omo-ulw-on.1",
        ] {
            assert!(names.iter().any(|it| it == name), "no {name} in {names:?}");
        }
        assert!(
            !names
                .iter()
                .any(|name| name.starts_with("omo-agent") || name.contains("help")),
            "{names:?}"
        );
        assert_eq!(names.len(), fs::read_dir(folder.path()).unwrap().count());
        for name in &names {
            let page = fs::read_to_string(folder.path().join(name)).unwrap();
            assert!(
                page.contains(".SH SYNOPSIS") && page.contains("\nExample"),
                "{name}:\n{page}"
            );
        }
        let page = fs::read_to_string(folder.path().join("omo-log.1")).unwrap();
        assert!(
            page.contains("\n  omo log \\-\\-follow \\-n 5    the last five"),
            "{page}"
        );
    }

    #[test]
    fn a_line_of_text_is_no_request() {
        assert_eq!(escape(".omo is a file"), "\\&.omo is a file");
        assert_eq!(escape("a\\b --c"), "a\\eb \\-\\-c");
    }
}
