//! The pages agree with the code.

use std::fs;
use std::path::Path;

#[test]
fn every_page_is_up_to_date() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    for page in omo_pages::PAGES {
        let text = fs::read_to_string(top.join(page)).unwrap();
        assert!(
            omo_pages::fill_page(&text, top).unwrap() == text,
            "{page} is not up to date: cargo xtask guide"
        );
    }
}

#[test]
fn the_sample_page_is_what_a_run_is_shown_as_today() {
    let top = Path::new(env!("CARGO_MANIFEST_DIR"))
        .ancestors()
        .nth(2)
        .unwrap();
    let text = fs::read_to_string(top.join(omo_pages::SAMPLE_PAGE)).unwrap();
    let sample = omo_pages::sample_page().unwrap();
    assert!(
        text == sample,
        "{} is not up to date: cargo xtask guide",
        omo_pages::SAMPLE_PAGE
    );
}
