//! The user's configuration as a file: what is no file, too large or not text is one problem, and
//! every default stands.
#![cfg(unix)]

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

use omo_core::limits::{LIMITS, RunLimits};
use omo_state::config::{FeedbackMode, UserConfig, load};
use proptest::prelude::*;

fn problems(config: &UserConfig) -> Vec<String> {
    config.problems.iter().map(ToString::to_string).collect()
}

fn is_default(config: &UserConfig) -> bool {
    config.limits == RunLimits::default() && config.feedback == FeedbackMode::Auto
}

#[test]
fn no_file_and_an_empty_one_are_no_problem() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("config.toml");
    assert!(load(Some(&file)).problems.is_empty());
    assert!(load(Some(&file.join("below a file"))).problems.is_empty());
    fs::write(&file, "").unwrap();
    let config = load(Some(&file));
    assert!(config.problems.is_empty() && is_default(&config));
    assert!(load(Some(&file.join("below a file"))).problems.is_empty());
}

#[test]
fn every_setting_is_read_also_through_a_link_and_with_foreign_line_ends() {
    let temp = tempfile::tempdir().unwrap();
    let (file, link) = (
        temp.path().join("real.toml"),
        temp.path().join("config.toml"),
    );
    fs::write(&file, "keywords = [\"go\"]\r\n[limits]\r\nmax_blocks = 20\r\nmax_minutes = 1_000\r\ncooldown_seconds = 0x0\r\n[stop]\r\nfeedback = 'context'\r\n").unwrap();
    symlink(&file, &link).unwrap();
    let config = load(Some(&link));
    assert_eq!(problems(&config), Vec::<String>::new());
    let RunLimits {
        max_blocks,
        max_minutes,
        cooldown_seconds,
        ..
    } = config.limits;
    assert_eq!((max_blocks, max_minutes, cooldown_seconds), (20, 1_000, 0));
    assert_eq!(config.feedback, FeedbackMode::Context);
}

#[test]
fn what_is_no_readable_text_is_one_problem_that_names_the_file() {
    let temp = tempfile::tempdir().unwrap();
    let file = |name: &str| temp.path().join(name);
    fs::write(file("large"), " ".repeat(64 * 1024 + 1)).unwrap();
    fs::write(file("binary"), b"keywords = [\"\xff\xfe\"]").unwrap();
    fs::create_dir(file("folder")).unwrap();
    symlink(file("loop"), file("loop")).unwrap();
    assert!(
        std::process::Command::new("mkfifo")
            .arg(file("fifo"))
            .status()
            .unwrap()
            .success()
    );
    for (name, part) in [
        ("large", "is larger than 65536 bytes"),
        ("binary", "is not UTF-8"),
        ("folder", "is not a regular file"),
        ("fifo", "is not a regular file"),
        ("loop", "cannot be opened"),
    ] {
        let config = load(Some(&file(name)));
        let found = problems(&config);
        assert!(
            matches!(&*found, [one] if one.starts_with(&*file(name).to_string_lossy()) && one.contains(part)),
            "{found:?}"
        );
        assert!(is_default(&config), "{name}");
    }
    fs::write(file("just fits"), " ".repeat(64 * 1024)).unwrap();
    assert!(load(Some(&file("just fits"))).problems.is_empty());
}

#[test]
fn a_bad_value_is_named_with_file_line_and_what_is_allowed_and_the_others_count() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("config.toml");
    let text = "# mine\n[limits]\nmax_blocks = 0\nmax_minutes = 1441\ncooldown_seconds = 9\nmax_block = 3\n\n[stop]\nfeedback = \"loud\"\nvolume = 3\n[color]\n";
    fs::write(&file, text).unwrap();
    let config = load(Some(&file));
    let known = format!(
        "`limits.max_block` is not a setting; known are: {}",
        LIMITS.map(|row| row.name).join(", ")
    );
    let expected = [
        (
            3,
            "`limits.max_blocks` must be a whole number from 1 to 100",
        ),
        (
            4,
            "`limits.max_minutes` must be a whole number from 1 to 1440",
        ),
        (6, &*known),
        (
            9,
            "`stop.feedback` must be \"auto\", \"block\" or \"context\"",
        ),
        (10, "`stop.volume` is not a setting; known are: feedback"),
        (
            11,
            "`color` is not a setting; known are: keywords, limits, stop, verify, tasks, plans, worktrees, notify, check, launcher",
        ),
    ];
    let expected = expected.map(|(line, text)| format!("{}:{line}: {text}", file.display()));
    let mut found = problems(&config);
    found.sort_by_key(|problem| expected.iter().position(|line| line == problem));
    assert_eq!(found, expected);
    assert_eq!(
        config.limits,
        RunLimits {
            cooldown_seconds: 9,
            ..RunLimits::default()
        }
    );
}

#[test]
fn what_is_no_toml_is_named_with_its_line_and_nothing_of_it_counts() {
    let temp = tempfile::tempdir().unwrap();
    let file = temp.path().join("config.toml");
    for (text, line) in [
        ("[limits]\nmax_blocks = 20\nmax_minutes =\n", 3),
        ("[limits]\nmax_blocks = 1\nmax_blocks = 2\n", 3),
    ] {
        fs::write(&file, text).unwrap();
        let config = load(Some(&file));
        let found = problems(&config);
        let start = format!("{}:{line}: is not TOML", file.display());
        assert!(
            found
                .first()
                .is_some_and(|problem| problem.starts_with(&start)),
            "{found:?}"
        );
        assert!(is_default(&config), "{text}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Whatever the text is, every bound stays within its range, and each problem is one line.
    #[test]
    fn no_text_widens_a_bound(text in "(\\[?(limits|stop|keywords)\\]?|max_blocks|max_minutes|cooldown_seconds|feedback| ?= ?|[-0-9]{1,12}|\"[a-z]*\"|\\PC|\n){0,24}") {
        let config = omo_state::config::parse(&text, Path::new("config.toml"));
        prop_assert_eq!(config.limits, config.limits.clamped());
        for problem in problems(&config) {
            prop_assert!(problem.starts_with("config.toml"), "{}", problem);
            prop_assert_eq!(problem.lines().count(), 1, "{}", problem);
        }
    }
}
