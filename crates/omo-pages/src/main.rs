//! `cargo xtask guide`: writes the generated parts of the pages. With a folder writes the pages for `man` there
//! instead, for `cargo xtask dist`.

use std::path::Path;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    if let Some(folder) = std::env::args_os().nth(1) {
        omo_pages::write_manual(Path::new(&folder))?;
        return Ok(());
    }
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .context("find the top of the repository")?;
    let changed = omo_pages::write_pages(top)?;
    for page in &changed {
        anstream::println!("written: {page}");
    }
    if changed.is_empty() {
        anstream::println!("every page says what the code says");
    }
    Ok(())
}
