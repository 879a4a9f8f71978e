//! The files that say what a runner does, beside the command itself.

use omo_core::command_line::is_shell;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::object::Object;

/// What a tool is told by files of the project.
pub(super) fn files(tool: &str) -> &'static [&'static str] {
    match tool {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" | "lerna" | "nx" | "turbo" => &[
            "package.json",
            ".npmrc",
            ".yarnrc",
            ".yarnrc.yml",
            "pnpm-workspace.yaml",
            "bunfig.toml",
            "lerna.json",
            "nx.json",
            "turbo.json",
        ],
        "jest" => &["jest.config.js", "jest.config.ts", "jest.config.mjs", "jest.config.cjs", "jest.config.json"],
        "vitest" => &[
            "vitest.config.js",
            "vitest.config.ts",
            "vitest.config.mjs",
            "vitest.config.mts",
            "vitest.workspace.js",
            "vitest.workspace.ts",
            "vite.config.js",
            "vite.config.ts",
            "vite.config.mjs",
            "vite.config.mts",
        ],
        "mocha" => &[".mocharc.js", ".mocharc.cjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml"],
        "ava" => &["ava.config.js", "ava.config.cjs", "ava.config.mjs"],
        "playwright" => &["playwright.config.js", "playwright.config.ts", "playwright.config.mjs"],
        "cypress" => &["cypress.config.js", "cypress.config.ts"],
        "karma" => &["karma.conf.js", "karma.conf.ts"],
        "pytest" | "py.test" => {
            &["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py", "tests/conftest.py"]
        }
        "coverage" => &[".coveragerc", "pyproject.toml", "tox.ini", "setup.cfg"],
        "tox" => &["tox.ini", "pyproject.toml", "setup.cfg", "tox.toml"],
        "nox" => &["noxfile.py"],
        "invoke" | "inv" => &["tasks.py"],
        "hatch" => &["hatch.toml", "pyproject.toml"],
        "poe" | "pdm" => &["pyproject.toml"],
        "pre-commit" => &[".pre-commit-config.yaml"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "task" => &[
            "Taskfile.yml",
            "Taskfile.yaml",
            "taskfile.yml",
            "taskfile.yaml",
            "Taskfile.dist.yml",
            "Taskfile.dist.yaml",
            "taskfile.dist.yml",
            "taskfile.dist.yaml",
            "pyproject.toml",
        ],
        "rake" => &["Rakefile", "rakefile", "Rakefile.rb", "rakefile.rb"],
        "rspec" => &[".rspec", ".rspec-local", "spec/spec_helper.rb"],
        "mvn" | "mvnw" | "mvnd" => &["pom.xml", ".mvn/maven.config", ".mvn/jvm.config", ".mvn/extensions.xml"],
        "gradle" | "gradlew" => &[
            "build.gradle",
            "build.gradle.kts",
            "settings.gradle",
            "settings.gradle.kts",
            "gradle.properties",
            "gradle/wrapper/gradle-wrapper.properties",
        ],
        "ant" => &["build.xml"],
        "sbt" => &["build.sbt", ".sbtopts", ".jvmopts"],
        "mix" => &["mix.exs"],
        "composer" => &["composer.json"],
        "phpunit" => &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
        "dotnet" => &[".runsettings", "Directory.Build.props", "Directory.Build.targets"],
        "ctest" => &["CTestConfig.cmake", "CTestCustom.cmake"],
        "bazel" | "bazelisk" => &[".bazelrc"],
        "ninja" => &["build.ninja"],
        "scons" => &["SConstruct"],
        "mage" => &["magefile.go"],
        "earthly" => &["Earthfile"],
        "cargo" => &[".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"],
        "nextest" => &[".config/nextest.toml"],
        "deno" => &["deno.json", "deno.jsonc"],
        _ => &[],
    }
}

/// Whether this is a tool that files of the project steer, or a runner of tests. It is not held to the files that it is
/// given by name, but by an option: they are what it tests or builds.
pub(super) fn is_tool(name: &str) -> bool {
    const OTHERS: &str = "\
        go unittest tap tape jasmine qunit uvu nightwatch testcafe wdio bats busted prove nose nosetests trial behave \
        robot cucumber minitest pest codecept swift zig";
    !files(name).is_empty() || OTHERS.split_ascii_whitespace().any(|other| other == name)
}

/// Whether a program runs the script that it is given.
pub(super) fn is_interpreter(name: &str) -> bool {
    is_shell(name)
        || matches!(
            name,
            "python"
                | "pypy"
                | "node"
                | "deno"
                | "bun"
                | "tsx"
                | "ts-node"
                | "perl"
                | "ruby"
                | "php"
                | "lua"
                | "source"
                | "."
                | "Rscript"
                | "pwsh"
                | "powershell"
        )
}

/// The values of the options that name what steers a program; the short ones as well where they mean that.
pub(super) fn options<'a>(arguments: &[&'a str], has_short: bool) -> Vec<&'a str> {
    const LONG: &str = "        config config-file configuration configuration-file rcfile settings file makefile justfile taskfile rakefile         require import loader experimental-loader preload env-file setup-file init-script build-file project-file         bootstrap plugin reporter recipe";
    let is_long = |name: &str| LONG.split_ascii_whitespace().any(|known| known == name);
    let next = |at: usize| arguments.get(at + 1).copied();
    let values = arguments.iter().enumerate().filter_map(|(at, word)| {
        if let Some(long) = word.strip_prefix("--") {
            return match long.split_once('=') {
                Some((name, value)) => is_long(name).then_some(value),
                None => next(at).filter(|_| is_long(long)),
            };
        }
        let short = word.strip_prefix(['-']).filter(|_| has_short)?;
        let glued = short.strip_prefix(['c', 'f', 'r', 'p'])?;
        if glued.is_empty() { next(at) } else { Some(glued.trim_start_matches('=')) }
    });
    values.collect()
}

/// Whether a tool looks for a file in the folders above the one that it runs in as well.
pub(super) fn is_looked_for_above(tool: &str, file: &str) -> bool {
    matches!(tool, "cargo" | "nextest" | "pytest" | "py.test" | "just" | "task" | "rake" | "rspec" | "mvn" | "gradle")
        || matches!(file, ".npmrc" | ".yarnrc" | ".yarnrc.yml" | "lerna.json" | "nx.json" | "turbo.json")
}

/// Whether a tool loads modules of Python from the folder that it runs in.
pub(super) fn is_python(tool: &str) -> bool {
    matches!(tool, "python" | "pypy" | "pytest" | "py.test" | "coverage")
}

/// Whether Python has a module of this name that it is asked to run, once that is installed.
pub(super) fn is_installed_module(name: &str) -> bool {
    const TOOLS: &str = "\
        behave build compileall django doctest flake8 http hypothesis invoke isort black mypy nose2 nox pip pre_commit \
        py_compile pycodestyle pyflakes pylint pyright ruff slipcover timeit tox trial twisted venv virtualenv";
    let mut names = TOOLS.split_ascii_whitespace().chain(RUNNER_MODULES.split_ascii_whitespace());
    names.any(|known| known == name)
}

/// Whether a file or folder of this name is loaded in the place of a module that a runner of Python needs.
pub(super) fn shadows_python(name: &str) -> bool {
    let (module, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_module = ending.is_empty() || ["py", "pyc", "so", "pyd"].iter().any(|end| ending.ends_with(end));
    is_module && RUNNER_MODULES.split_ascii_whitespace().any(|known| known == module)
}

/// What `unittest` and pytest load, apart from what Python has within itself.
const RUNNER_MODULES: &str = "\
    __future__ _ast _bisect _bz2 _colorize _compat_pickle _compression _hashlib _heapq _json _lzma _opcode \
    _opcode_metadata _posixsubprocess _py_abc _py_warnings _pytest _random _struct _strptime _weakrefset argparse ast \
    asyncio atexit binascii bisect bz2 collections contextlib contextvars copy copyreg coverage dataclasses difflib dis \
    encodings enum exceptiongroup fnmatch functools gettext glob heapq importlib iniconfig inspect io ipaddress json \
    keyword linecache locale logging lzma math opcode operator optparse os packaging pathlib pluggy pprint pytest re \
    reprlib runpy shlex shutil signal sitecustomize struct subprocess tempfile textwrap threading token tokenize \
    tomli tomllib traceback types typing unittest urllib usercustomize warnings weakref zipfile zlib";

/// A part of a file that steers a runner; the rest of the file is something else.
#[derive(Clone, Copy)]
pub(super) enum Part {
    /// A member of a JSON object.
    Member(&'static str),
    /// A section of an INI file.
    Section(&'static str),
    /// A table of TOML within `tool`.
    Tool(&'static str),
    /// The elements of an XML file with this name.
    Element(&'static str),
}

/// The parts of a file that count, where not all of it does.
pub(super) fn parts(file: &str) -> Option<&'static [Part]> {
    match file {
        "package.json" => {
            Some(&[Part::Member("scripts"), Part::Member("jest"), Part::Member("mocha"), Part::Member("ava")])
        }
        "composer.json" => Some(&[Part::Member("scripts")]),
        "setup.cfg" => Some(&[Part::Section("tool:pytest"), Part::Section("tox:tox"), Part::Section("coverage:run")]),
        "pyproject.toml" => Some(&[
            Part::Tool("pytest"),
            Part::Tool("tox"),
            Part::Tool("coverage"),
            Part::Tool("hatch"),
            Part::Tool("poe"),
            Part::Tool("pdm"),
            Part::Tool("taskipy"),
        ]),
        "pom.xml" => Some(&[Part::Element("build"), Part::Element("properties"), Part::Element("parent")]),
        _ => None,
    }
}

impl Part {
    /// What it is called.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Member(word) | Self::Section(word) | Self::Tool(word) | Self::Element(word) => word,
        }
    }

    /// The part of a file's text; `Some(None)` where the file has none, and `None` where it cannot be read.
    #[expect(
        clippy::option_option,
        reason = "a file without the part says something else than one that cannot be read"
    )]
    pub(super) fn of(self, text: &str) -> Option<Option<String>> {
        match self {
            Self::Member(name) => Object::parse(text).ok().map(|object| match (object.get(name), name) {
                (Some(member), _) => Some(member.to_owned()),
                // Where there are no scripts, their absence is held as well.
                (None, "scripts") => Some(String::new()),
                (None, _) => None,
            }),
            Self::Section(name) => Some(section(text, name)),
            Self::Element(name) => Some(elements(text, name)),
            Self::Tool(name) => {
                let table = DeTable::parse(text).ok()?;
                let tool = table.get_ref().get("tool").and_then(|tool| tool.get_ref().get(name));
                Some(tool.map(canonical))
            }
        }
    }
}

/// The lines of a section of an INI file.
fn section(text: &str, name: &str) -> Option<String> {
    let head = format!("[{name}]");
    // A comment may stand behind it.
    let is_head = |line: &str| {
        let rest = line.trim().strip_prefix(&head).map(str::trim_start);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['#', ';']))
    };
    let mut lines = text.lines().skip_while(|line| !is_head(line));
    let head = lines.next()?;
    let body = lines.take_while(|line| !line.starts_with('['));
    Some(std::iter::once(head).chain(body).flat_map(|line| [line.trim_end(), "\n"]).collect())
}

/// All elements of XML with a name, wherever they stand.
fn elements(text: &str, name: &str) -> Option<String> {
    let (open, end) = (format!("<{name}"), format!("</{name}>"));
    let mut parts = text.split(&open).skip(1).filter(|part| part.starts_with(['>', ' ', '\t', '\n', '\r', '/']));
    let first = parts.next()?;
    let parts = std::iter::once(first).chain(parts).map(|part| part.split(&end).next().unwrap_or(part));
    Some(parts.flat_map(|part| [open.as_str(), part, end.as_str(), "\n"]).collect())
}

/// A value of TOML, the same text for the same value wherever it stands in its file.
fn canonical(value: &Spanned<DeValue<'_>>) -> String {
    match value.get_ref() {
        DeValue::Array(values) => format!("[{}]", values.iter().map(canonical).collect::<Vec<_>>().join(",")),
        DeValue::Table(table) => {
            let members = table.iter().map(|(name, value)| format!("{:?}={}", name.get_ref(), canonical(value)));
            let mut members: Vec<String> = members.collect();
            members.sort();
            format!("{{{}}}", members.join(","))
        }
        other => format!("{other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_module_that_a_runner_needs_is_shadowed_by_what_python_would_load() {
        for (name, expected) in [
            ("unittest.py", true),
            ("unittest", true),
            ("difflib.cpython-311-x86_64-linux-gnu.so", true),
            ("argparse.pyc", true),
            ("unittest.md", false),
            ("app.py", false),
            ("test_unittest.py", false),
        ] {
            assert_eq!(shadows_python(name), expected, "{name}");
        }
    }

    #[test]
    fn only_the_part_that_steers_a_runner_counts() {
        let tool = |text: &str| Part::Tool("pytest").of(text);
        let with = |version: &str, options: &str| {
            format!(
                "[project]\nversion = \"{version}\"\n[tool.pytest.ini_options]\naddopts = \"{options}\"\n[tool.x]\na = 1\n"
            )
        };
        assert_eq!(tool(&with("1", "-q")), tool(&with("2.0", "-q")));
        assert_ne!(tool(&with("1", "-q")), tool(&with("1", "--co")));
        assert_eq!(tool("[tool.black]\n"), Some(None));
        assert_eq!(tool("tool.pytest.ini_options.addopts = \"-q\"\n"), tool(&with("1", "-q")));
        assert_eq!(tool("[tool"), None);
        let section = |text: &str| Part::Section("tool:pytest").of(text).flatten();
        assert_eq!(
            section("[metadata]\nversion = 1\n[tool:pytest]\naddopts = -q\n\n[x]\n").as_deref(),
            Some("[tool:pytest]\naddopts = -q\n\n")
        );
        assert_eq!(section("[metadata]\n"), None);
    }
}
