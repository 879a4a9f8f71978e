//! Prints the page of the made-up runs of a project, to be looked at:
//! `cargo run -p omo-view --example sample_project > runs.html`.

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = omo_view::page::sample::sample_project_page();
    Ok(std::io::stdout().write_all(omo_view::page::render_project(&page)?.as_bytes())?)
}
