//! Detects the test command of a Python project, such as `uv run pytest` beside `uv.lock`.

use serde_json::Value as Json;

use super::Candidate;
use super::top_files::TopFiles;

/// A project's file, and its commands for pytest and tox.
const ENVIRONMENTS: [(&str, &str, &str); 4] = [
    ("uv.lock", "uv run pytest", "uv run tox"),
    ("poetry.lock", "poetry run pytest", "poetry run tox"),
    ("pdm.lock", "pdm run pytest", "pdm run tox"),
    ("Pipfile.lock", "pipenv run pytest", "pipenv run tox"),
];

const REQUIREMENTS: [&str; 7] = [
    "requirements.txt",
    "requirements-dev.txt",
    "requirements_dev.txt",
    "requirements-test.txt",
    "requirements-tests.txt",
    "dev-requirements.txt",
    "test-requirements.txt",
];

/// Pytest before tox, which makes an environment for each Python.
pub(super) fn detect(top: &dyn TopFiles) -> Option<Candidate> {
    let project = top.toml("pyproject.toml");
    let environment = ENVIRONMENTS.iter().find(|(lock, ..)| top.has_file(lock));
    let (pytest, tox) = environment.map_or(("pytest", "tox"), |(_, pytest, tox)| (*pytest, *tox));
    hatch(top, &project)
        .or_else(|| pytest_settings(top, &project).map(|file| Candidate::certain(pytest, file)))
        .or_else(|| pytest_sign(top, &project).map(|file| Candidate::likely(pytest, file)))
        .or_else(|| tox_settings(top, &project).map(|file| Candidate::certain(tox, file)))
}

/// Hatch has no lock file: only its environments tell that it tests the project.
fn hatch(top: &dyn TopFiles, project: &Json) -> Option<Candidate> {
    let (hatch_file, nothing) = (top.toml("hatch.toml"), Json::Null);
    let of_project = project.pointer("/tool/hatch").unwrap_or(&nothing);
    [("hatch.toml", &hatch_file), ("pyproject.toml", of_project)]
        .into_iter()
        .find_map(|(file, settings)| {
            if settings.pointer("/envs/default/scripts/test").is_some() {
                return Some(Candidate::certain("hatch run test", file));
            }
            let has_tests = settings.pointer("/envs/hatch-test").is_some();
            has_tests.then(|| Candidate::certain("hatch test", file))
        })
}

fn pytest_settings(top: &dyn TopFiles, project: &Json) -> Option<&'static str> {
    top.first_file(&["pytest.ini", ".pytest.ini", "pytest.toml", ".pytest.toml"])
        .or_else(|| project.pointer("/tool/pytest").map(|_| "pyproject.toml"))
        .or_else(|| has_section(top, "tox.ini", "[pytest]").then_some("tox.ini"))
        .or_else(|| has_section(top, "setup.cfg", "[tool:pytest]").then_some("setup.cfg"))
}

fn pytest_sign(top: &dyn TopFiles, project: &Json) -> Option<&'static str> {
    let needs = ["/project", "/dependency-groups", "/tool"]
        .into_iter()
        .filter_map(|part| project.pointer(part));
    let of_project = needs
        .into_iter()
        .any(names_pytest)
        .then_some("pyproject.toml");
    of_project
        .or_else(|| names_pytest(&top.toml("Pipfile")).then_some("Pipfile"))
        .or_else(|| {
            REQUIREMENTS.into_iter().find(|name| {
                top.text(name)
                    .is_some_and(|text| text.lines().any(requires_pytest))
            })
        })
        .or_else(|| top.first_file(&["conftest.py"]))
}

fn tox_settings(top: &dyn TopFiles, project: &Json) -> Option<&'static str> {
    top.first_file(&["tox.toml"])
        .or_else(|| project.pointer("/tool/tox").map(|_| "pyproject.toml"))
        .or_else(|| {
            ["[tox]", "[testenv]"]
                .iter()
                .any(|section| has_section(top, "tox.ini", section))
                .then_some("tox.ini")
        })
}

fn has_section(top: &dyn TopFiles, name: &str, section: &str) -> bool {
    top.text(name)
        .is_some_and(|text| text.lines().any(|line| line.trim() == section))
}

/// `true` for pytest as a key or a requirement anywhere in a value.
fn names_pytest(value: &Json) -> bool {
    match value {
        Json::String(text) => requires_pytest(text),
        Json::Array(values) => values.iter().any(names_pytest),
        Json::Object(members) => members
            .iter()
            .any(|(key, value)| key == "pytest" || names_pytest(value)),
        _ => false,
    }
}

fn requires_pytest(requirement: &str) -> bool {
    let after = requirement
        .trim_start()
        .strip_prefix("pytest")
        .map(str::trim_start);
    after.is_some_and(|after| {
        after.is_empty() || after.starts_with(['<', '>', '=', '!', '~', ';', '[', '(', '@', '#'])
    })
}
