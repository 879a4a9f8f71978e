//! Sentences and settings, held against the values of the code.

use std::fs;
use std::path::Path;

use omo_checks::repository_config::RepositoryConfig;
use omo_core::check::session_check::{CheckOrigin, DEFAULT_TIMEOUT_SECONDS, TOTAL_TIMEOUT_SECONDS};
use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_core::limits::{LIMITS, RunLimits};
use omo_state::config::{FeedbackMode, ReviewSetting, parse};
use serde_json::Value;

use crate::{fenced, page, top};

/// The block of the guide that begins so.
fn block_with(guide: &str, beginning: &str) -> String {
    let blocks = fenced(guide, "toml");
    let mut fitting = blocks.iter().filter(|block| block.starts_with(beginning));
    let block = fitting
        .next()
        .unwrap_or_else(|| panic!("no block begins with {beginning}"));
    assert!(
        fitting.next().is_none(),
        "more than one begins with {beginning}"
    );
    (*block).to_owned()
}

#[test]
fn the_settings_are_the_defaults_with_their_ranges() {
    let guide = page("docs/guide.md");
    let settings = block_with(&guide, "keywords");
    let config = parse(&settings, Path::new("guide.md"));
    assert_eq!(config.problems, []);
    assert_eq!(
        (config.limits, config.feedback),
        (RunLimits::default(), FeedbackMode::Auto)
    );
    assert_eq!(config.keywords, Keywords::default());
    assert_eq!(config.review, ReviewSetting::Wanted);
    assert_eq!(config.checks_for(Path::new("/home/me/app")).len(), 1);
    assert_eq!(config.checks_for(Path::new("/home/me/other")).len(), 0);
    for row in LIMITS {
        let line = settings
            .lines()
            .find(|line| line.starts_with(row.name))
            .unwrap();
        let range = format!("# {}", row.range_text());
        assert!(line.ends_with(&range), "{line} does not say {range}");
    }
}

/// Every setting that the reader names where it meets one that it does not know.
#[test]
fn every_setting_that_is_known_is_shown() {
    let settings = block_with(&page("docs/guide.md"), "keywords");
    let known = |text: &str| {
        let config = parse(text, Path::new("config.toml"));
        let problem = config
            .problems
            .iter()
            .map(ToString::to_string)
            .find(|problem| problem.contains("known are"));
        problem
            .unwrap()
            .rsplit("known are: ")
            .next()
            .unwrap()
            .split(", ")
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    for name in known("x = 1")
        .into_iter()
        .chain(known("[[check]]\nx = 1"))
        .chain(known("[limits]\nx = 1"))
    {
        let is_shown = settings.lines().any(|line| {
            line.starts_with(&format!("{name} "))
                || line
                    .trim_start_matches('[')
                    .starts_with(&format!("{name}]"))
        });
        assert!(is_shown, "{name} is not in the settings of the guide");
    }
}

#[test]
fn ci_runs_what_the_readme_says_and_nothing_else() {
    let readme = page("README.md");
    let script = page(".ci/run");
    let commands: Vec<&str> = script
        .lines()
        .filter(|line| line.starts_with("cargo "))
        .collect();
    assert_eq!(commands.len(), 3, "{commands:?}");
    for command in commands {
        assert!(readme.contains(&format!("`{command}`")), "{command}");
    }
}

#[test]
fn the_bounds_in_its_sentences_are_those_of_the_code() {
    let guide = page("docs/guide.md");
    let limits = RunLimits::default();
    for sentence in [
        format!("At most {} continuations in a run", limits.max_blocks),
        format!("at most {} minutes", limits.max_minutes),
        format!(
            "within {} seconds of a continuation",
            limits.cooldown_seconds
        ),
        format!(
            "at most {DEFAULT_TIMEOUT_SECONDS} seconds each and {TOTAL_TIMEOUT_SECONDS} together"
        ),
    ] {
        assert!(guide.contains(&sentence), "{sentence}");
    }
}

#[test]
fn three_failed_verifications_end_a_run() {
    assert_eq!(RunLimits::DEFAULT.max_failed_claims, 3);
    assert!(
        page("docs/guide.md").contains(
            "Three failed claims (`max_failed_claims` in the [settings](#settings)) end it"
        )
    );
    assert!(page("docs/how-it-works.md").contains("3 failed claims"));
}

#[test]
fn the_readme_names_the_bounds_and_what_a_hook_may_cost() {
    let readme = page("README.md");
    let RunLimits {
        max_blocks,
        max_minutes,
        max_failed_claims,
        ..
    } = RunLimits::default();
    let bounds = format!(
        "At most {max_blocks} continuations, {max_failed_claims} failed claims and {max_minutes} minutes"
    );
    assert!(readme.contains(&bounds), "{bounds}");
    let speed: Value = serde_json::from_str(&page("docs/speed.json")).unwrap();
    let bounds = speed["bounds"].as_array().unwrap();
    let limit = |what: &str| {
        bounds.iter().find(|bound| bound["what"] == what).unwrap()["limit"]
            .as_f64()
            .unwrap()
    };
    let idle = limit("idle prompt / empty process").max(limit("idle stop / empty process"));
    let armed = limit("armed stop, 50 sessions / empty process");
    let sentence = format!(
        "at most {idle} times an empty process, and {armed} times for a Stop that holds a session"
    );
    assert!(readme.contains(&sentence), "{sentence}");
    assert!(
        bounds.iter().all(|bound| bound["kept"] == true),
        "what was measured broke a bound"
    );
}

/// A reader decides by the README whether to read on.
#[test]
fn the_readme_has_at_most_700_words() {
    let count = page("README.md").split_whitespace().count();
    assert!(count <= 700, "{count} words");
}

#[test]
fn the_omo_toml_that_it_shows_can_be() {
    for (name, timeout) in [
        ("docs/guide.md", 120),
        ("README.md", DEFAULT_TIMEOUT_SECONDS),
    ] {
        let temp = tempfile::tempdir().unwrap();
        fs::write(
            temp.path().join("omo.toml"),
            block_with(&page(name), "# omo.toml"),
        )
        .unwrap();
        let repository = RepositoryConfig::read(temp.path()).unwrap();
        assert_eq!(repository.problems, []);
        let [check] = &*repository.checks else {
            panic!("{repository:?}")
        };
        let is = (check.name.as_str(), check.origin, check.effective_timeout());
        assert_eq!(is, ("tests", CheckOrigin::Repository, timeout), "{name}");
    }
}

#[test]
fn the_reviewer_can_only_read() {
    let text = fs::read_to_string(top().join("agents/oracle.md")).unwrap();
    assert!(
        text.lines().any(|line| line == "tools: Read, Grep, Glob"),
        "{text}"
    );
}

#[test]
fn what_it_says_about_the_keyword_is_so() {
    let keywords = Keywords::default();
    for prompt in ["ulw fix the failing tests", "please ulw this"] {
        assert!(read_prompt(prompt, &keywords).turns_on(), "{prompt}");
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
        assert_eq!(
            read_prompt(prompt, &keywords),
            PromptReading::Nothing,
            "{prompt}"
        );
    }
    assert_eq!(
        read_prompt("ulw off", &keywords),
        PromptReading::Off { whole: true }
    );
}
