//! `docs/promises.md`: every promise to users with links to its tests, made from `docs/promises.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use crate::cargo;
use crate::test::needs;

pub(crate) const PAGE: &str = "docs/promises.md";
const SOURCE: &str = "docs/promises.toml";

const HEAD: &str = "# Promises

Each promise to users, with the tests that hold it; `cargo xtask test` runs them all. [Reliability](reliability.md) \
and [Security](../SECURITY.md) say what omo cannot promise. `cargo xtask guide` makes this page of \
[promises.toml](promises.toml).
";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Source {
    section: Vec<Section>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Section {
    title: String,
    promise: Vec<Promise>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Promise {
    text: String,
    tests: Vec<String>,
}

/// The page as it has to be. A promise without a test, and a test that is not there, are errors.
pub(crate) fn page() -> Result<String> {
    let top = cargo::top()?;
    let text = fs::read_to_string(top.join(SOURCE)).with_context(|| format!("read {SOURCE}"))?;
    let source: Source = toml::from_str(&text).with_context(|| format!("parse {SOURCE}"))?;
    let mut files = BTreeMap::<String, Vec<PathBuf>>::new();
    for path in needs::rust_files()? {
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
        for name in test_names(&text) {
            let path = path.strip_prefix(&top).unwrap_or(&path).to_owned();
            files.entry(name).or_default().push(path);
        }
    }
    render(&source, &files)
}

fn render(source: &Source, files: &BTreeMap<String, Vec<PathBuf>>) -> Result<String> {
    let mut page = HEAD.to_owned();
    for Section { title, promise } in &source.section {
        let heading = format!("\n## {title}\n\n| promise | tests |\n|---|---|\n");
        page.push_str(&heading);
        for promise in promise {
            let row = row(promise, files);
            page.push_str(&row.with_context(|| format!("the promise: {}", promise.text))?);
        }
    }
    Ok(page)
}

fn row(
    Promise { text, tests }: &Promise,
    files: &BTreeMap<String, Vec<PathBuf>>,
) -> Result<String> {
    ensure!(!tests.is_empty(), "no test is named for it");
    let links = tests.iter().map(|test| link(test, files));
    let links = links.collect::<Result<Vec<_>>>()?.join(", ");
    Ok(format!("| {} | {links} |\n", text.replace('|', "\\|")))
}

fn link(test: &str, files: &BTreeMap<String, Vec<PathBuf>>) -> Result<String> {
    let files = files.get(test).map(Vec::as_slice).unwrap_or_default();
    let [file] = files else {
        ensure!(!files.is_empty(), "there is no test `{test}`");
        anyhow::bail!("`{test}` is the name of {} tests; rename one", files.len());
    };
    let file = file
        .iter()
        .map(|part| part.to_string_lossy())
        .collect::<Vec<_>>()
        .join("/");
    Ok(format!("[`{test}`](../{file})"))
}

/// Names of the tests in a source file. Those of a binary with its own `main` stand in a table, each with its name.
fn test_names(text: &str) -> Vec<String> {
    let functions = text.split("#[test]\n").skip(1);
    let functions =
        functions.filter_map(|test| Some(test.split_once("fn ")?.1.split_once('(')?.0.to_owned()));
    let mut names: Vec<String> = functions.collect();
    let has_table = ["libtest_mimic", "main_tests::run", "&[Named]"]
        .iter()
        .any(|word| text.contains(word));
    if has_table {
        let words: Vec<&str> = text.split_whitespace().collect();
        let line = words.join(" ").replace("( \"", "(\"");
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
    names
}

/// Writes the page where it differs.
pub(crate) fn write(top: &Path) -> Result<()> {
    let (path, page) = (top.join(PAGE), page()?);
    if fs::read_to_string(&path).is_ok_and(|text| text == page) {
        return Ok(());
    }
    fs::write(&path, page).with_context(|| format!("write {}", path.display()))?;
    anstream::println!("written: {PAGE}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_promise_names_tests_that_are_there_and_the_page_is_made_of_them() {
        let page = page().unwrap();
        let text = fs::read_to_string(cargo::top().unwrap().join(PAGE)).unwrap();
        assert!(text == page, "{PAGE} is not up to date: cargo xtask guide");
        let promises = page.lines().filter(|line| line.ends_with(") |")).count();
        assert!(promises > 150, "only {promises} promises found");
    }

    #[test]
    fn a_promise_without_a_test_and_a_name_of_no_test_or_of_two_are_errors() {
        let files = BTreeMap::from([
            ("one".to_owned(), vec![PathBuf::from("a/b.rs")]),
            (
                "two".to_owned(),
                vec![PathBuf::from("a.rs"), PathBuf::from("b.rs")],
            ),
        ]);
        let made = |tests: &[&str]| {
            let tests = tests.iter().map(|&test| test.to_owned()).collect();
            let promise = vec![Promise {
                text: "a | b".to_owned(),
                tests,
            }];
            let section = vec![Section {
                title: "T".to_owned(),
                promise,
            }];
            render(&Source { section }, &files)
        };
        let page = made(&["one"]).unwrap();
        assert!(
            page.ends_with("\n| a \\| b | [`one`](../a/b.rs) |\n"),
            "{page}"
        );
        for (tests, why) in [
            (&[][..], "no test is named for it"),
            (&["three"], "there is no test `three`"),
            (&["one", "two"], "`two` is the name of 2 tests"),
        ] {
            let error = format!("{:#}", made(tests).unwrap_err());
            assert!(error.contains(why), "{error}");
        }
    }

    #[test]
    fn tests_of_a_binary_with_its_own_main_are_found_in_its_table() {
        let marked = ["#[te", "st]\nfn it_is() {}"].concat();
        assert_eq!(test_names(&marked), ["it_is"]);
        let table = "libtest_mimic (\n    \"it_is\", it_is), (\"other\", no)";
        assert_eq!(test_names(table), ["it_is"]);
        assert!(test_names("(\"it_is\", it_is)").is_empty());
    }
}
