//! `cargo xtask picture`: a picture of one run of the real client.

mod play;

use std::fs;

use anstyle::RgbColor;
use anstyle_svg::Term;
use anyhow::{Context, Result};
use omo_testkit::Client;

use crate::{cargo, client, plugin};

/// A little lighter than dark pages around it.
const BACKGROUND: RgbColor = RgbColor(22, 24, 29);
const TEXT: RgbColor = RgbColor(205, 208, 214);

pub(crate) fn run() -> Result<()> {
    let plugin = plugin::build()?;
    let client = Client::at(client::find_or_install(None)?)?;
    let lines = play::play(&plugin.path, &client)?;
    let file = cargo::top()?.join("docs").join("run.svg");
    fs::write(&file, draw(&lines)).with_context(|| format!("write {}", file.display()))?;
    anstream::println!("{lines}\n\nwritten: {}", file.display());
    Ok(())
}

fn draw(lines: &str) -> String {
    // Few fonts have the sign before a tool's output; the box character looks the same.
    let lines = lines.replace('⎿', "└");
    let term = Term::new()
        .fg_color(TEXT.into())
        .bg_color(BACKGROUND.into());
    // The last line needs some room below it.
    term.render_svg(&format!("{lines}\n "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_end_the_picture_is_drawn_as_text() {
        let picture = draw("\u{1b}[1mred</text>\u{1b}[0m & ⎿ on");
        assert!(
            picture.contains("red&lt;/text&gt;") && picture.contains("&amp; └ on"),
            "{picture}"
        );
    }
}
