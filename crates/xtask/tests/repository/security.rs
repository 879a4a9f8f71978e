//! Promises of `SECURITY.md` and `docs/reliability.md`, each held by a test.

use std::collections::BTreeSet;
use std::fs;

use crate::{read, rust_files, toml, top};

const PAGES: [&str; 2] = ["SECURITY.md", "docs/reliability.md"];

fn tests() -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for path in rust_files() {
        let text = fs::read_to_string(top().join(path)).unwrap();
        for test in text.split("#[test]\n").skip(1) {
            let name = test
                .split_once("fn ")
                .and_then(|(_, rest)| rest.split_once('('))
                .unwrap()
                .0;
            names.insert(name.to_owned());
        }
        // Tests in a binary with a `main` of its own stand in a table, each with its name.
        if ["libtest_mimic", "main_tests::run", "&[Named]"]
            .iter()
            .any(|word| text.contains(word))
        {
            let line = text
                .split_whitespace()
                .collect::<Vec<_>>()
                .join(" ")
                .replace("( \"", "(\"");
            let rows = line
                .split("(\"")
                .skip(1)
                .filter_map(|row| row.split_once("\", "));
            let is_own = |name: &str, rest: &str| {
                rest.strip_prefix(name)
                    .is_some_and(|end| end.starts_with(')') || end.starts_with(", )"))
            };
            names.extend(
                rows.filter(|(name, rest)| is_own(name, rest))
                    .map(|(name, _)| name.to_owned()),
            );
        }
    }
    names
}

#[test]
fn every_promise_names_a_test_that_is_there() {
    let tests = tests();
    for page in PAGES.map(read) {
        every_promise_names_one(&page, &tests);
    }
}

fn every_promise_names_one(page: &str, tests: &BTreeSet<String>) {
    let promises: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| ") && !line.ends_with("tested by |"))
        .collect();
    assert!(
        promises.len() > 10,
        "only {} promises found",
        promises.len()
    );
    for promise in promises {
        let held_by = promise.trim_end_matches(" |").rsplit("| ").next().unwrap();
        let names: Vec<&str> = held_by.split('`').skip(1).step_by(2).collect();
        assert!(!names.is_empty(), "no test is named for: {promise}");
        for name in names {
            assert!(
                tests.contains(name),
                "there is no test `{name}`, which is named for: {promise}"
            );
        }
    }
}

#[test]
fn reports_go_to_the_repository() {
    let manifest = toml("Cargo.toml");
    let repository = manifest["workspace"]["package"]["repository"]
        .as_str()
        .unwrap();
    assert!(
        read("SECURITY.md").contains(&format!("({repository}/security/advisories/new)")),
        "{repository}"
    );
}
