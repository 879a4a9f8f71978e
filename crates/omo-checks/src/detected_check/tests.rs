//! Shapes of projects, and the command that each is offered.

use std::collections::BTreeMap;

use omo_core::check::session_check::{Check, CheckOrigin};

use super::top_files::{EntryKind, only_ending};
use super::*;

/// A project that is not on the disk: its files with their text. A name that ends in `/` is a folder.
struct FakeProject<'a> {
    texts: BTreeMap<&'a str, &'a str>,
    kinds: BTreeMap<String, EntryKind>,
}

impl<'a> FakeProject<'a> {
    fn new(files: &[(&'a str, &'a str)]) -> Self {
        let kind = |(name, _): &(&str, &str)| match name.strip_suffix('/') {
            Some(folder) => (folder.to_owned(), EntryKind::Folder),
            None => ((*name).to_owned(), EntryKind::File),
        };
        Self {
            texts: files.iter().copied().collect(),
            kinds: files.iter().map(kind).collect(),
        }
    }
}

impl TopFiles for FakeProject<'_> {
    fn kind(&self, name: &str) -> Option<EntryKind> {
        self.kinds.get(name).copied()
    }

    fn only_file_ending(&self, endings: &[&str]) -> Option<&str> {
        only_ending(&self.kinds, endings)
    }

    fn text(&self, name: &str) -> Option<String> {
        self.texts.get(name).map(|text| (*text).to_owned())
    }
}

fn detect(files: &[(&str, &str)]) -> Option<(&'static str, &'static str)> {
    let found = choose(&FakeProject::new(files))?;
    // Every offer can be added.
    let check = Check::new(None, found.command, CheckOrigin::User).unwrap();
    assert_eq!(check.command, found.command);
    Some((found.command, found.found_in))
}

type Shape<'a> = (&'a [(&'a str, &'a str)], Option<(&'a str, &'a str)>);

fn check_shapes(shapes: &[Shape]) {
    for (files, expected) in shapes {
        assert_eq!(detect(files), *expected, "{files:?}");
    }
}

const JEST: &str = r#"{"scripts":{"test":"jest"}}"#;
const PLACEHOLDER: &str = r#"{"scripts":{"test":"echo \"Error: no test specified\" && exit 1"}}"#;
const MAKE: &str = "all: build\n\ttrue\n.PHONY: test\ntest: build\n\t./run\n";

#[test]
fn the_file_of_a_toolchain_tells_its_command() {
    check_shapes(&[
        (&[], None),
        (&[("README.md", "cargo test"), ("src/", "")], None),
        (
            &[("Cargo.toml", "[package]\nname = \"a\"\n")],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[("Cargo.toml", "[package")],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[("Cargo.toml", "[workspace]\nmembers = [\"a\"]\n")],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[(
                "Cargo.toml",
                "[package]\nname = \"a\"\n[workspace]\nmembers = [\"b\"]\n",
            )],
            Some(("cargo test --workspace", "Cargo.toml")),
        ),
        (
            &[(
                "Cargo.toml",
                "[package]\nname = \"a\"\n[workspace]\nmembers = [\"b\"]\ndefault-members = [\"a\"]\n",
            )],
            Some(("cargo test", "Cargo.toml")),
        ),
        (&[("go.mod", "module a")], Some(("go test ./...", "go.mod"))),
        (
            &[("go.mod", "module a"), ("go.work", "use ./b")],
            Some(("go list -f '{{.Dir}}/...' -m | xargs go test", "go.work")),
        ),
        (
            &[("build.gradle.kts", ""), ("gradlew", "")],
            Some(("./gradlew test", "build.gradle.kts")),
        ),
        (
            &[("settings.gradle", "")],
            Some(("gradle test", "settings.gradle")),
        ),
        (
            &[("pom.xml", ""), ("mvnw", "")],
            Some(("./mvnw test", "pom.xml")),
        ),
        (
            &[("pom.xml", ""), ("mvnw/", "")],
            Some(("mvn test", "pom.xml")),
        ),
        (&[("mix.exs", "")], Some(("mix test", "mix.exs"))),
        (&[(".rspec", "")], Some(("rspec", ".rspec"))),
        (
            &[(".rspec", ""), ("Gemfile", "")],
            Some(("bundle exec rspec", ".rspec")),
        ),
        (
            &[("spec/", ""), ("Gemfile", "")],
            Some(("bundle exec rspec", "Gemfile")),
        ),
        (&[("spec/", "")], None),
        (&[("Gemfile", ""), ("spec", "a file")], None),
        (
            &[("phpunit.xml.dist", "")],
            Some(("vendor/bin/phpunit", "phpunit.xml.dist")),
        ),
        (
            &[("composer.json", r#"{"scripts":{"test":"pest"}}"#)],
            Some(("composer test", "composer.json")),
        ),
        (
            &[("composer.json", r#"{"scripts":{"test":["@lint","pest"]}}"#)],
            Some(("composer test", "composer.json")),
        ),
        (
            &[
                ("composer.json", r#"{"scripts":{"test":[]}}"#),
                ("phpunit.xml", ""),
            ],
            Some(("vendor/bin/phpunit", "phpunit.xml")),
        ),
        (&[("composer.json", "{}")], None),
    ]);
}

#[test]
fn a_solution_without_tests_and_one_of_several_are_not_offered() {
    let with_tests = "Project(\"{9A}\") = \"App.Tests\", \"App.Tests\\App.Tests.csproj\"";
    check_shapes(&[
        (
            &[("App.sln", with_tests)],
            Some(("dotnet test", "the .sln file")),
        ),
        (
            &[("App.slnx", "<Project Path=\"Tests/T.csproj\" />")],
            Some(("dotnet test", "the .slnx file")),
        ),
        (
            &[("T.csproj", "Microsoft.NET.Test.Sdk")],
            Some(("dotnet test", "the .csproj file")),
        ),
        (
            &[("$(touch x).csproj", "Microsoft.NET.Test.Sdk")],
            Some(("dotnet test", "the .csproj file")),
        ),
        (&[("App.csproj", "<OutputType>Exe</OutputType>")], None),
        (&[("A.sln", with_tests), ("B.sln", with_tests)], None),
        (&[("App.sln/", "")], None),
    ]);
}

#[test]
fn the_script_of_a_package_is_run_by_the_manager_that_the_project_uses() {
    let named = |manager: &str| {
        format!(r#"{{"packageManager":"{manager}","scripts":{{"test":"vitest run"}}}}"#)
    };
    let (pnpm, yarn, unknown) = (
        named("pnpm@9.1.0"),
        named("yarn@4.1.0+sha224.ab"),
        named("npm test; rm -rf ~"),
    );
    check_shapes(&[
        (
            &[("package.json", JEST)],
            Some(("npm test", "package.json")),
        ),
        (
            &[("package.json", JEST), ("package-lock.json", "")],
            Some(("npm test", "package.json")),
        ),
        (
            &[("package.json", JEST), ("pnpm-lock.yaml", "")],
            Some(("pnpm test", "package.json")),
        ),
        (
            &[("package.json", JEST), ("yarn.lock", "")],
            Some(("yarn test", "package.json")),
        ),
        (
            &[("package.json", JEST), ("bun.lockb", "")],
            Some(("bun run test", "package.json")),
        ),
        (
            &[("package.json", &pnpm), ("package-lock.json", "")],
            Some(("pnpm test", "package.json")),
        ),
        (
            &[("package.json", &yarn)],
            Some(("yarn test", "package.json")),
        ),
        (
            &[("package.json", &unknown)],
            Some(("npm test", "package.json")),
        ),
        (
            &[("package.json", "{}"), ("bun.lock", "")],
            Some(("bun test", "package.json")),
        ),
        (&[("package.json", PLACEHOLDER)], None),
        (&[("package.json", PLACEHOLDER), ("bun.lock", "")], None),
        (
            &[
                ("package.json", r#"{"workspaces":["a"]}"#),
                ("pnpm-lock.yaml", ""),
            ],
            None,
        ),
        (&[("package.json", r#"{"scripts":{"test":3}}"#)], None),
        (&[("package.json", r#"{"scripts":"test"}"#)], None),
        (&[("package.json", "{\"scripts\":{\"test\":")], None),
        (
            &[("deno.json", r#"{"tasks":{"test":"deno test -A"}}"#)],
            Some(("deno task test", "deno.json")),
        ),
        (
            &[("deno.jsonc", "// tasks\n{}")],
            Some(("deno test", "deno.jsonc")),
        ),
    ]);
}

#[test]
fn a_script_that_tests_nothing_or_never_ends_is_not_offered() {
    for (script, expected) in [
        ("jest", true),
        ("vitest", true),
        ("CI=1 node --test", true),
        ("echo start && mocha", true),
        ("ng test --watch=false", true),
        ("react-scripts test --watchAll=false", true),
        ("", false),
        ("  ", false),
        ("true", false),
        ("exit 0", false),
        ("echo \"Error: no test specified\" && exit 1", false),
        ("echo 'no tests yet'", false),
        ("jest --watch", false),
        ("tsc && vitest watch", false),
        ("ng test", false),
        ("react-scripts test", false),
    ] {
        assert_eq!(javascript::is_test_script(script), expected, "{script}");
    }
}

#[test]
fn python_is_tested_in_the_environment_that_the_project_says() {
    let settings = "[tool.pytest.ini_options]\naddopts = \"-q\"\n";
    let group = "[dependency-groups]\ndev = [\"pytest>=8\"]\n";
    let script = "[tool.hatch.envs.default.scripts]\ntest = \"pytest\"\n";
    check_shapes(&[
        (&[("pytest.ini", "")], Some(("pytest", "pytest.ini"))),
        (
            &[("pyproject.toml", settings)],
            Some(("pytest", "pyproject.toml")),
        ),
        (
            &[("pyproject.toml", settings), ("uv.lock", "")],
            Some(("uv run pytest", "pyproject.toml")),
        ),
        (
            &[("pyproject.toml", settings), ("poetry.lock", "")],
            Some(("poetry run pytest", "pyproject.toml")),
        ),
        (
            &[("pyproject.toml", settings), ("pdm.lock", "")],
            Some(("pdm run pytest", "pyproject.toml")),
        ),
        (
            &[("pyproject.toml", group), ("uv.lock", "")],
            Some(("uv run pytest", "pyproject.toml")),
        ),
        (
            &[(
                "pyproject.toml",
                "[project.optional-dependencies]\ntest = [\"pytest\"]",
            )],
            Some(("pytest", "pyproject.toml")),
        ),
        (
            &[(
                "pyproject.toml",
                "[tool.poetry.group.dev.dependencies]\npytest = \"^8\"",
            )],
            Some(("pytest", "pyproject.toml")),
        ),
        (
            &[(
                "pyproject.toml",
                "[project]\nname = \"a\"\ndependencies = [\"pytest-mock\"]",
            )],
            None,
        ),
        (&[("pyproject.toml", "[project]\nname = \"a\"")], None),
        (&[("pyproject.toml", "[tool.pytest")], None),
        (
            &[("pyproject.toml", script), ("pytest.ini", "")],
            Some(("hatch run test", "pyproject.toml")),
        ),
        (
            &[("hatch.toml", "[envs.hatch-test]\n")],
            Some(("hatch test", "hatch.toml")),
        ),
        (
            &[("pyproject.toml", "[tool.hatch.version]\npath = \"a\"")],
            None,
        ),
        (
            &[
                ("Pipfile", "[dev-packages]\npytest = \"*\""),
                ("Pipfile.lock", ""),
            ],
            Some(("pipenv run pytest", "Pipfile")),
        ),
        (
            &[("requirements-dev.txt", "black\npytest==8.1 # tests\n")],
            Some(("pytest", "requirements-dev.txt")),
        ),
        (&[("requirements.txt", "pytest-cov\n# pytest\n")], None),
        (&[("conftest.py", "")], Some(("pytest", "conftest.py"))),
        (
            &[("setup.cfg", "[metadata]\n[tool:pytest]\n")],
            Some(("pytest", "setup.cfg")),
        ),
        (
            &[("tox.ini", "[tox]\n[testenv]\n[pytest]\n")],
            Some(("pytest", "tox.ini")),
        ),
        (
            &[("tox.ini", "[tox]\nenvlist = py3\n")],
            Some(("tox", "tox.ini")),
        ),
        (&[("tox.ini", "[flake8]\n")], None),
        (
            &[
                ("pyproject.toml", "[tool.tox]\nenv_list = []"),
                ("uv.lock", ""),
            ],
            Some(("uv run tox", "pyproject.toml")),
        ),
    ]);
}

#[test]
fn a_target_called_test_is_found_where_it_would_run() {
    check_shapes(&[
        (&[("Makefile", MAKE)], Some(("make test", "Makefile"))),
        (
            &[("makefile", "test check: all\n")],
            Some(("make test", "makefile")),
        ),
        (
            &[("Makefile", "test::\n\ttrue")],
            Some(("make test", "Makefile")),
        ),
        (
            &[
                ("Makefile", ".PHONY: all \\\n  test\ntest:\n"),
                ("test/", ""),
            ],
            Some(("make test", "Makefile")),
        ),
        (&[("Makefile", "test:\n\ttrue\n"), ("test/", "")], None),
        (
            &[(
                "Makefile",
                "test := 1\ntest ::= 1\nall:\n\techo test: a\n# test: b\n.PHONY: test\n",
            )],
            None,
        ),
        (&[("Makefile", "test-unit: all\n")], None),
        // make reads the first one alone.
        (&[("GNUmakefile", "all:\n"), ("Makefile", MAKE)], None),
        (
            &[("justfile", "default:\n\ntest *args: build\n  true\n")],
            Some(("just test", "justfile")),
        ),
        (
            &[("Justfile", "@test filter='a:b':\n  true\n")],
            Some(("just test", "Justfile")),
        ),
        (
            &[(".justfile", "test:\n")],
            Some(("just test", ".justfile")),
        ),
        (&[("justfile", "test name:\n  true\n")], None),
        (&[("justfile", "test +names:\n  true\n")], None),
        (
            &[("justfile", "test := '1'\nbuild: test\n  test: x\ntests:\n")],
            None,
        ),
        (
            &[(
                "Taskfile.yml",
                "version: 3\ntasks:\n  build:\n    cmds: [a]\n  test:\n    cmds: [b]\n",
            )],
            Some(("task test", "Taskfile.yml")),
        ),
        (
            &[("Taskfile.yaml", "tasks:\n  # all\n\n    'test': go test\n")],
            Some(("task test", "Taskfile.yaml")),
        ),
        (
            &[(
                "Taskfile.yml",
                "tasks:\n  build:\n    test: x\nvars:\n  test: 1\n",
            )],
            None,
        ),
        (&[("Taskfile.yml", "vars:\n  test: 1\n")], None),
    ]);
}

#[test]
fn the_toolchains_own_file_beats_a_guess_and_a_target_joins_several() {
    let cargo = ("Cargo.toml", "[package]");
    check_shapes(&[
        // One that is certain.
        (
            &[cargo, ("Makefile", MAKE)],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[("package.json", JEST), ("Makefile", MAKE)],
            Some(("npm test", "package.json")),
        ),
        (
            &[cargo, ("package.json", PLACEHOLDER), ("Makefile", MAKE)],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[("conftest.py", ""), ("package.json", JEST)],
            Some(("npm test", "package.json")),
        ),
        (
            &[("deno.json", "{}"), ("package.json", JEST)],
            Some(("npm test", "package.json")),
        ),
        // Several that are.
        (
            &[cargo, ("package.json", JEST)],
            Some(("cargo test", "Cargo.toml")),
        ),
        (
            &[cargo, ("package.json", JEST), ("Makefile", MAKE)],
            Some(("make test", "Makefile")),
        ),
        (
            &[("go.mod", ""), ("pytest.ini", ""), ("justfile", "test:\n")],
            Some(("just test", "justfile")),
        ),
        (
            &[("go.mod", ""), ("pytest.ini", ""), ("justfile", "build:\n")],
            Some(("go test ./...", "go.mod")),
        ),
        // None that is.
        (
            &[("conftest.py", ""), ("Makefile", MAKE)],
            Some(("make test", "Makefile")),
        ),
        (
            &[("conftest.py", ""), ("Makefile", "all:\n")],
            Some(("pytest", "conftest.py")),
        ),
        (
            &[
                ("package.json", r#"{"scripts":{"test":"jest --watch"}}"#),
                ("Makefile", MAKE),
            ],
            Some(("make test", "Makefile")),
        ),
    ]);
}

#[test]
fn what_a_file_holds_gets_into_no_command() {
    let hostile = "x\"; touch /tmp/x; `touch /tmp/y` $(touch /tmp/z) \u{1b}[2J";
    let json = serde_json::json!({ "packageManager": hostile, "scripts": { "test": hostile } })
        .to_string();
    let names = [
        "Cargo.toml",
        "go.mod",
        "deno.json",
        "pyproject.toml",
        "Makefile",
        "justfile",
        "tox.ini",
        "composer.json",
    ];
    for name in names {
        for text in [hostile, &json] {
            let Some((command, found_in)) = detect(&[(name, text)]) else {
                continue;
            };
            assert!(!command.contains("touch") && found_in == name, "{command}");
        }
    }
    assert_eq!(
        detect(&[("package.json", &json)]),
        Some(("npm test", "package.json"))
    );
}
