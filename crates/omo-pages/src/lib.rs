//! Generated parts of the pages in `docs/`.
//!
//! A part stands between two comments, `<!-- made by cargo xtask guide: NAME -->` and `<!-- end of NAME -->`;
//! everything around is written by people and left as it is.

mod command_reference;
mod decision_table;
mod manual;
mod reference;
mod run_diagram;

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

pub use manual::write_manual;

/// Pages with such parts, by their path from the root of the repository.
pub const PAGES: [&str; 3] = ["docs/cli.md", "docs/guide.md", "docs/how-it-works.md"];

/// Page of a made-up run, an example of `omo report --html`.
pub const SAMPLE_PAGE: &str = "docs/sample-report.html";

const BEGINS: &str = "<!-- made by cargo xtask guide: ";

/// Writes every page; gives the changed ones.
pub fn write_pages(top: &Path) -> Result<Vec<&'static str>> {
    let mut changed = Vec::new();
    for page in PAGES {
        let path = top.join(page);
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        let filled = fill_page(&text, top).with_context(|| format!("fill {page}"))?;
        if filled != text {
            fs::write(&path, filled).with_context(|| format!("write {}", path.display()))?;
            changed.push(page);
        }
    }
    let (path, sample) = (top.join(SAMPLE_PAGE), sample_page()?);
    if fs::read_to_string(&path).is_ok_and(|text| text == sample) {
        return Ok(changed);
    }
    fs::write(&path, sample).with_context(|| format!("write {}", path.display()))?;
    changed.push(SAMPLE_PAGE);
    Ok(changed)
}

/// HTML of [`SAMPLE_PAGE`].
pub fn sample_page() -> Result<String> {
    omo_view::page::render(&omo_view::page::sample::sample_page(), None)
        .context("render the sample page")
}

/// The page with new parts. An unknown part, or one without an end, is an error.
pub fn fill_page(page: &str, top: &Path) -> Result<String> {
    let mut filled = String::new();
    let mut rest = page;
    while let Some((before, after)) = rest.split_once(BEGINS) {
        let (name, after) = after
            .split_once(" -->\n")
            .context("a comment that begins a part does not end")?;
        let end = format!("<!-- end of {name} -->");
        let (_, after) = after
            .split_once(&end)
            .with_context(|| format!("there is no `{end}`"))?;
        let part = make_part(name, top)?;
        filled.extend([
            before,
            BEGINS,
            name,
            " -->\n\n",
            part.trim_end(),
            "\n\n",
            end.as_str(),
        ]);
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

fn make_part(name: &str, top: &Path) -> Result<String> {
    match name {
        "slash commands" => reference::slash_commands(&top.join("commands")),
        "commands" => Ok(command_reference::commands()),
        "exit statuses" => Ok(reference::exit_statuses()),
        "limits" => Ok(reference::limits()),
        "hooks" => Ok(reference::hooks()),
        "decisions" => Ok(decision_table::decisions()),
        "life" => Ok(run_diagram::diagram()),
        _ => bail!("there is no part `{name}`"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_by_people_is_left_and_what_is_made_is_made_anew() {
        let page = format!("a\n{BEGINS}exit statuses -->\nold\n<!-- end of exit statuses -->\nb\n");
        let filled = fill_page(&page, Path::new("")).unwrap();
        assert!(
            filled.starts_with("a\n")
                && filled.ends_with("-->\nb\n")
                && !filled.contains("\nold\n"),
            "{filled}"
        );
        assert!(filled.contains("| 0 | `success` | done |"), "{filled}");
        assert_eq!(fill_page(&filled, Path::new("")).unwrap(), filled);
    }

    #[test]
    fn a_part_that_cannot_be_made_is_an_error() {
        for page in ["x -->\n<!-- end of x -->", "limits -->\n", "limits"] {
            assert!(
                fill_page(&format!("{BEGINS}{page}"), Path::new("")).is_err(),
                "{page}"
            );
        }
    }
}
