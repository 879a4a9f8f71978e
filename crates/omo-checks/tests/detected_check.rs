//! Detection on the disk: what could lead elsewhere, or is too large, is not read.

use std::fs;

use omo_checks::detected_check::{DetectedCheck, NoOffer, detect_check, offer_check};
use omo_state::config::CheckDetection;

const PACKAGE: &str = r#"{"scripts":{"test":"jest"}}"#;

#[test]
fn what_is_too_large_or_no_file_tells_nothing() {
    let temp = tempfile::tempdir().unwrap();
    let root = temp.path();
    let put = |name: &str, text: &str| fs::write(root.join(name), text).unwrap();
    assert_eq!(detect_check(&root.join("missing")), None);
    assert_eq!(detect_check(root), None);
    // A folder with the name of a file is none.
    fs::create_dir(root.join("Cargo.toml")).unwrap();
    assert_eq!(detect_check(root), None);
    put("package.json", PACKAGE);
    assert_eq!(
        detect_check(root),
        Some(DetectedCheck {
            command: "npm test",
            found_in: "package.json"
        })
    );
    // What is too large has no text.
    put(
        "package.json",
        &format!("{PACKAGE}{}", " ".repeat(300 * 1024)),
    );
    assert_eq!(detect_check(root), None);
    put("package.json", "{\"scripts\":".repeat(20_000).as_str());
    assert_eq!(detect_check(root), None);
    put("pyproject.toml", &format!("a = {}", "[".repeat(100_000)));
    assert_eq!(detect_check(root), None);
    assert_eq!(
        offer_check(root, CheckDetection::Offer),
        Err(NoOffer::NothingFound)
    );
    put("go.mod", "module a");
    assert_eq!(
        offer_check(root, CheckDetection::Offer).unwrap().command,
        "go test ./..."
    );
    assert_eq!(offer_check(root, CheckDetection::Off), Err(NoOffer::Off));
}

#[cfg(unix)]
#[test]
fn a_link_is_not_followed() {
    let temp = tempfile::tempdir().unwrap();
    let (root, outside) = (
        temp.path().join("project"),
        temp.path().join("outside.toml"),
    );
    fs::create_dir(&root).unwrap();
    fs::write(&outside, "[package]").unwrap();
    std::os::unix::fs::symlink(&outside, root.join("Cargo.toml")).unwrap();
    assert_eq!(detect_check(&root), None);
    // One that waits for a writer is no file either.
    assert!(
        std::process::Command::new("mkfifo")
            .arg(root.join("go.mod"))
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(detect_check(&root), None);
}
