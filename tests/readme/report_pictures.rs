//! The pictures of pages of runs: small, shown, and all of those that the task leaves.

use std::fs;

use crate::{page, top};

const FOLDER: &str = "docs/report-pages";
/// A picture for a page of text need not be larger.
const MAX_BYTES: u64 = 200_000;

#[test]
fn every_picture_of_a_page_is_small_and_shown() {
    let shown = page("docs/report.md");
    let mut count = 0;
    for entry in fs::read_dir(top().join(FOLDER)).unwrap() {
        let entry = entry.unwrap();
        let (name, bytes) = (
            entry.file_name().into_string().unwrap(),
            entry.metadata().unwrap().len(),
        );
        count += 1;
        assert!(
            bytes < MAX_BYTES,
            "{name} has {bytes} bytes (cargo xtask page-picture)"
        );
        assert!(
            shown.contains(&format!("](report-pages/{name})")),
            "docs/report.md does not show {name}"
        );
        assert_eq!(&fs::read(entry.path()).unwrap()[8..12], b"WEBP", "{name}");
    }
    assert_eq!(shown.matches("](report-pages/").count(), count);
    assert!(
        page("README.md").contains(FOLDER),
        "the README shows no page"
    );
}
