//! The files that say what a runner does, beside the command itself.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::object::Object;

/// What a tool is told by files of the project.
pub(super) fn files(tool: &str) -> &'static [&'static str] {
    match tool {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "npm" | "npx" | "pnpm" | "yarn" | "bun" | "bunx" => {
            &["package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", "bunfig.toml"]
        }
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
        "pytest" | "py.test" => {
            &["pytest.ini", ".pytest.ini", "pyproject.toml", "tox.ini", "setup.cfg", "conftest.py", "tests/conftest.py"]
        }
        "just" => &["justfile", "Justfile", ".justfile"],
        "task" => &["Taskfile.yml", "Taskfile.yaml"],
        "tox" => &["tox.ini"],
        "cargo" => &[".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"],
        "nextest" => &[".config/nextest.toml"],
        "deno" => &["deno.json", "deno.jsonc"],
        _ => &[],
    }
}

/// Whether a tool looks for a file in the folders above the one that it runs in as well.
pub(super) fn is_looked_for_above(tool: &str, file: &str) -> bool {
    matches!(tool, "cargo" | "nextest" | "pytest" | "py.test") || matches!(file, ".npmrc" | ".yarnrc" | ".yarnrc.yml")
}

/// Tools that other programs are asked to run.
pub(super) fn is_asked_for(tool: &str) -> bool {
    matches!(tool, "pytest" | "py.test" | "jest" | "vitest" | "nextest" | "tox" | "python" | "unittest")
}

/// Whether a tool loads modules of Python from the folder that it runs in.
pub(super) fn is_python(tool: &str) -> bool {
    matches!(tool, "python" | "pypy" | "pytest" | "py.test" | "coverage")
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
}

/// The parts of a file that count, where not all of it does.
pub(super) fn parts(file: &str) -> Option<&'static [Part]> {
    match file {
        "package.json" => Some(&[Part::Member("scripts"), Part::Member("jest")]),
        "setup.cfg" => Some(&[Part::Section("tool:pytest")]),
        "pyproject.toml" => Some(&[Part::Tool("pytest")]),
        _ => None,
    }
}

impl Part {
    /// What it is called.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Member(word) | Self::Section(word) | Self::Tool(word) => word,
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
    let mut lines = text.lines().skip_while(|line| line.trim() != head);
    let head = lines.next()?;
    let body = lines.take_while(|line| !line.starts_with('['));
    Some(std::iter::once(head).chain(body).flat_map(|line| [line.trim_end(), "\n"]).collect())
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
