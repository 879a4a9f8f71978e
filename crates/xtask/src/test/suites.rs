//! Suites of the workspace: test binaries, selection by name, and their tests.

#![expect(
    clippy::indexing_slicing,
    reason = "only JSON values are indexed: what is not there is null, and nothing panics"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::surroundings;
use crate::cargo;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Suite {
    /// Name of the test target, or for unit tests of their package.
    pub(super) name: String,
    pub(super) package: String,
    /// A test target, not unit tests of a library or a program.
    pub(super) is_integration: bool,
    sources: PathBuf,
}

#[derive(Debug)]
pub(super) struct Built {
    pub(super) name: String,
    pub(super) program: PathBuf,
    folder: PathBuf,
}

pub(super) fn all() -> Result<Vec<Suite>> {
    let mut metadata = Command::new(cargo::cargo());
    let metadata = cargo::output(
        metadata
            .args(["metadata", "--no-deps", "--format-version=1"])
            .current_dir(cargo::top()?),
    )?;
    let metadata: Value = serde_json::from_str(&metadata).context("read cargo metadata")?;
    let mut suites = Vec::new();
    for package in list(&metadata["packages"]) {
        let targets = list(&package["targets"])
            .iter()
            .filter(|target| target["test"] == true);
        for target in targets {
            suites.push(suite(text(package, "name")?, target)?);
        }
    }
    Ok(suites)
}

fn suite(package: &str, target: &Value) -> Result<Suite> {
    let (name, source) = (text(target, "name")?, Path::new(text(target, "src_path")?));
    let is_integration = target["kind"][0] == "test";
    let is_folder = !is_integration || source.ends_with("main.rs");
    let sources = if is_folder {
        source.parent().unwrap_or(source)
    } else {
        source
    };
    let name = if is_integration { name } else { package };
    Ok(Suite {
        name: name.to_owned(),
        package: package.to_owned(),
        is_integration,
        sources: sources.to_owned(),
    })
}

/// The suite of this name, or all with a matching test.
pub(super) fn named(suites: Vec<Suite>, name: &str) -> Result<Vec<Suite>> {
    if suites.iter().any(|suite| suite.name == name) {
        return Ok(suites
            .into_iter()
            .filter(|suite| suite.name == name)
            .collect());
    }
    let mut meant = Vec::new();
    for suite in suites {
        if may_have(&suite.sources, name)? {
            meant.push(suite);
        }
    }
    Ok(meant)
}

/// `true` for sources that may have a test of that name: its last part stands in the name of a function, or in that of
/// a module.
fn may_have(sources: &Path, name: &str) -> Result<bool> {
    let part = name
        .rsplit("::")
        .find(|part| !part.is_empty())
        .unwrap_or(name);
    let mut paths = vec![sources.to_owned()];
    while let Some(path) = paths.pop() {
        if path.is_dir() {
            let entries =
                fs::read_dir(&path).with_context(|| format!("list {}", path.display()))?;
            paths.extend(
                entries
                    .map(|entry| Ok(entry?.path()))
                    .collect::<Result<Vec<_>>>()?,
            );
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let source =
                fs::read_to_string(&path).with_context(|| format!("read {}", path.display()))?;
            let functions = source
                .split("fn ")
                .skip(1)
                .filter_map(|rest| rest.split('(').next());
            let is_module = path
                .strip_prefix(sources)
                .is_ok_and(|path| path.to_string_lossy().contains(part));
            if is_module
                || functions
                    .into_iter()
                    .any(|function| function.contains(part))
            {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

/// Builds suites, in one call of cargo.
pub(super) fn build(suites: &[Suite], is_every: bool) -> Result<Vec<Built>> {
    let mut command = Command::new(cargo::cargo());
    command.args([
        "test",
        "--no-run",
        "--locked",
        "--all-features",
        "--message-format=json-render-diagnostics",
    ]);
    if is_every {
        command.arg("--workspace");
    } else {
        // With this package, which has the features that the others turn on: nothing is built twice.
        let packages = suites
            .iter()
            .map(|suite| suite.package.as_str())
            .chain([env!("CARGO_PKG_NAME")]);
        for package in packages {
            command.args(["-p", package]);
        }
        for suite in suites.iter().filter(|suite| suite.is_integration) {
            command.args(["--test", &suite.name]);
        }
        if suites.iter().any(|suite| !suite.is_integration) {
            command.args(["--lib", "--bins"]);
        }
    }
    let messages = cargo::output(command.current_dir(cargo::top()?))?;
    let mut built = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line).context("read what cargo built")?;
        if message["profile"]["test"] == true
            && let Some(program) = message["executable"].as_str()
        {
            built.push(built_suite(&message, program)?);
        }
    }
    built.retain(|built| suites.iter().any(|suite| suite.name == built.name));
    for suite in suites {
        ensure!(
            built.iter().any(|built| built.name == suite.name),
            "cargo built no suite {}",
            suite.name
        );
    }
    Ok(built)
}

fn built_suite(message: &Value, program: &str) -> Result<Built> {
    let folder = Path::new(text(message, "manifest_path")?)
        .parent()
        .context("a manifest in no folder")?;
    let target = &message["target"];
    let name = if target["kind"][0] == "test" {
        text(target, "name")?
    } else {
        package_of(message)?
    };
    Ok(Built {
        name: name.to_owned(),
        program: PathBuf::from(program),
        folder: folder.to_owned(),
    })
}

/// Name in a package id such as `path+file:///x/crates/omo-core#0.1.0` or `…/tests#omo-tests@0.1.0`.
fn package_of(message: &Value) -> Result<&str> {
    let (path, rest) = text(message, "package_id")?
        .rsplit_once('#')
        .context("a package id without a version")?;
    let name = rest
        .split_once('@')
        .map(|(name, _)| name)
        .or_else(|| path.rsplit('/').next());
    name.context("a package id without a name")
}

impl Built {
    /// A command that runs the suite as cargo does, in the surroundings of a suite.
    pub(super) fn command(&self) -> Result<Command> {
        let mut command = surroundings::command(&self.program)?;
        command
            .current_dir(&self.folder)
            .env("CARGO_MANIFEST_DIR", &self.folder)
            .stdin(Stdio::null());
        Ok(command)
    }

    /// Names of tests that match a filter, each without its modules.
    pub(super) fn tests(&self, filter: Option<&str>) -> Result<Vec<String>> {
        let listed = cargo::output(
            self.command()?
                .args(["--list", "--format=terse"])
                .args(filter),
        )?;
        let names = listed
            .lines()
            .filter_map(|line| line.strip_suffix(": test"));
        Ok(names
            .map(|name| name.rsplit("::").next().unwrap_or(name).to_owned())
            .collect())
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

fn text<'a>(value: &'a Value, field: &str) -> Result<&'a str> {
    value
        .get(field)
        .and_then(Value::as_str)
        .with_context(|| format!("cargo names no {field}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(name: &str) -> Vec<String> {
        named(all().unwrap(), name)
            .unwrap()
            .into_iter()
            .map(|suite| suite.name)
            .collect()
    }

    #[test]
    fn a_name_means_one_suite_or_those_that_may_have_such_a_test() {
        assert_eq!(names("client"), ["client"]);
        assert_eq!(names("xtask"), ["xtask"]);
        assert_eq!(names("a_name_means_one_suite_or"), ["xtask"]);
        assert_eq!(names("suites::tests::a_name_means_one"), ["xtask"]);
        assert!(
            names("background_build").contains(&"blackbox".to_owned()),
            "a module is found as well"
        );
        assert_eq!(
            names(&["no_such", "_test_anywhere"].concat()),
            Vec::<String>::new()
        );
    }

    #[test]
    fn a_package_is_named_by_its_id() {
        for (id, name) in [
            ("path+file:///x/crates/omo-core#0.1.0", "omo-core"),
            ("path+file:///x/tests#omo-tests@0.1.0", "omo-tests"),
        ] {
            assert_eq!(
                package_of(&serde_json::json!({ "package_id": id })).unwrap(),
                name
            );
        }
        package_of(&serde_json::json!({})).unwrap_err();
    }
}
