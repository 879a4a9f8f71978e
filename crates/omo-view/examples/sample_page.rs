//! Prints the page of a made-up run, to be looked at: `cargo run -p omo-view --example sample_page > page.html`.
//! With an argument it is one that renews itself, after so many seconds.

use std::io::Write;

use omo_view::page::PageReload;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let page = omo_view::page::sample::sample_page();
    let seconds = std::env::args()
        .nth(1)
        .map(|seconds| seconds.parse())
        .transpose()?;
    let renewal = seconds.map(|seconds| PageReload { seconds });
    Ok(std::io::stdout().write_all(omo_view::page::render(&page, renewal)?.as_bytes())?)
}
