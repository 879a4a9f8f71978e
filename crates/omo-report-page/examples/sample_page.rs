//! Prints the page of a made-up run, to be looked at: `cargo run -p omo-report-page --example sample_page > page.html`.

use std::io::Write;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = omo_report_page::sample::sample_page();
    Ok(std::io::stdout().write_all(omo_report_page::render(&page)?.as_bytes())?)
}
