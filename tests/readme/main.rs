//! What the README shows, held against the code.

#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::fs;
use std::path::Path;

use omo_core::gate::{DEFAULT_TIMEOUT_SECONDS, Origin, TOTAL_TIMEOUT_SECONDS};
use omo_core::keyword::{Keywords, Reading, read};
use omo_core::limits::{Limit, Limits};
use omo_core::verification::MAX_ATTEMPTS;
use omo_store::config::{Feedback, Review, parse};
use omo_store::repository::Repository;

fn readme() -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../README.md");
    fs::read_to_string(path).unwrap()
}

/// The text of the one block in this language.
fn block<'a>(text: &'a str, language: &str) -> &'a str {
    let opening = format!("```{language}\n");
    let mut parts = text.split(&opening).skip(1);
    let block = parts.next().and_then(|rest| rest.split("```").next()).unwrap();
    assert!(parts.next().is_none(), "more than one {language} block");
    block
}

#[test]
fn the_settings_are_the_defaults_with_their_ranges() {
    let readme = readme();
    let settings = block(&readme, "toml");
    let config = parse(settings, Path::new("README.md"));
    assert_eq!(config.problems, []);
    assert_eq!((config.limits, config.feedback), (Limits::default(), Feedback::Block));
    assert_eq!(config.keywords, Keywords::default());
    assert_eq!(config.review, Review::Wanted);
    assert_eq!(config.gates_for(Path::new("/home/me/app")).len(), 1);
    assert_eq!(config.gates_for(Path::new("/home/me/other")).len(), 0);
    for limit in Limit::ALL {
        let line = settings.lines().find(|line| line.starts_with(limit.name())).unwrap();
        let range = format!("# {} to {}", limit.allowed().start(), limit.allowed().end());
        assert!(line.ends_with(&range), "{line} does not say {range}");
    }
}

#[test]
fn ci_runs_what_it_says_and_nothing_else() {
    let readme = readme();
    let script = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../.ci/run")).unwrap();
    let commands: Vec<&str> = script.lines().filter(|line| line.starts_with("cargo ")).collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        assert!(readme.contains(&format!("`{command}`")), "{command}");
    }
}

#[test]
fn the_bounds_in_its_sentences_are_those_of_the_code() {
    let readme = readme();
    let limits = Limits::default();
    for sentence in [
        format!("At most {} continuations in a run", limits.max_blocks),
        format!("at most {} minutes", limits.max_minutes),
        format!("within {} seconds of a continuation", limits.cooldown_seconds),
        format!("at most {DEFAULT_TIMEOUT_SECONDS} seconds each and {TOTAL_TIMEOUT_SECONDS} together"),
    ] {
        assert!(readme.contains(&sentence), "{sentence}");
    }
}

#[test]
fn three_failed_verifications_end_a_run() {
    assert_eq!(MAX_ATTEMPTS, 3);
    assert!(readme().contains("Three failed verifications end it"));
}

#[test]
fn the_omo_toml_that_it_shows_can_be() {
    let readme = readme();
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("omo.toml"), block(&readme, "text")).unwrap();
    let repository = Repository::read(temp.path()).unwrap();
    assert_eq!(repository.problems, []);
    let [gate] = &*repository.gates else { panic!("{repository:?}") };
    assert_eq!((gate.name.as_str(), gate.origin, gate.timeout()), ("tests", Origin::Repository, 120));
}

#[test]
fn the_reviewer_can_only_read() {
    let agent = Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/oracle.md");
    let text = fs::read_to_string(agent).unwrap();
    assert!(text.lines().any(|line| line == "tools: Read, Grep, Glob"), "{text}");
}

#[test]
fn what_it_says_about_the_keyword_is_so() {
    let keywords = Keywords::default();
    for prompt in ["ulw fix the failing tests", "please ulw this"] {
        assert_eq!(read(prompt, &keywords), Reading::Activate, "{prompt}");
    }
    let quiet = [
        "what is ulw?",
        "fix it without ulw",
        "run `ulw` there",
        "he said \"ulw\"",
        "open src/ulw/main.rs",
        "see https://example.com/ulw",
        "rename ulw.md",
        "<task-notification>ulw fix</task-notification>",
    ];
    for prompt in quiet {
        assert_eq!(read(prompt, &keywords), Reading::Nothing, "{prompt}");
    }
    assert_eq!(read("ulw off", &keywords), Reading::Off { whole: true });
}
