//! Files that may steer a check: configuration of runners, linters, compilers and build tools, and
//! what they load.
//!
//! The table is broad: a file too many costs one more run of the check. The words of a command that
//! are files of the project are listed as well, without parsing it as shell text.

use std::collections::BTreeSet;
use std::path::Path;

const NAMES: &str = "\
    makefile gnumakefile bsdmakefile justfile rakefile gemfile gemfile.lock guardfile vagrantfile procfile earthfile \
    tiltfile brewfile dockerfile containerfile jenkinsfile fastfile sconstruct sconscript wscript build.ninja \
    cargo.toml cargo.lock build.rs rust-toolchain clippy.toml rustfmt.toml deny.toml nextest.toml makefile.toml \
    go.mod go.sum go.work go.work.sum magefile.go vendor.conf \
    conftest.py setup.py setup.cfg tox.ini pytest.ini noxfile.py tasks.py fabfile.py dodo.py sitecustomize.py \
    usercustomize.py mypy.ini manifest.in pipfile pipfile.lock \
    package.json package-lock.json npm-shrinkwrap.json pnpm-lock.yaml pnpm-workspace.yaml yarn.lock bun.lock bun.lockb \
    bunfig.toml lerna.json nx.json turbo.json project.json angular.json deno.json deno.jsonc jsconfig.json \
    gulpfile.js gruntfile.js karma.conf.js \
    pom.xml build.xml build.gradle build.gradle.kts settings.gradle settings.gradle.kts gradle.properties \
    build.sbt plugins.sbt build.properties project.clj deps.edn mix.exs rebar.config stack.yaml cabal.project \
    package.yaml dune-project dune esy.json composer.json composer.lock phpunit.xml phpunit.xml.dist phpstan.neon \
    cmakelists.txt cmakepresets.json ctestconfig.cmake ctestcustom.cmake meson.build meson_options.txt configure \
    configure.ac autogen.sh build.zig build.zig.zon package.swift build.bazel module.bazel workspace \
    workspace.bazel directory.build.props directory.build.targets nuget.config global.json packages.lock.json \
    docker-compose.yml docker-compose.yaml compose.yml compose.yaml taskfile.yml taskfile.yaml codecov.yml \
    flake.nix flake.lock shell.nix default.nix devbox.json pixi.toml pixi.lock mise.toml spec_helper.rb rails_helper.rb \
    test_helper.rb test_helper.exs credo.exs lefthook.yml lefthook.yaml biome.json biome.jsonc dprint.json cspell.json \
    knip.json tslint.json pyrightconfig.json pylintrc bandit.yaml buf.yaml buf.gen.yaml mocha.opts nodemon.json cucumber.js";
const ENDINGS: &str = "\
    mk cmake bzl props targets gemspec cabal pth lock toml ini cfg conf config rc snap.config \
    csproj fsproj vbproj sln gradle sbt nix env properties xcconfig jest.json runsettings";
const DOCUMENT_ENDINGS: &str = "md rst adoc html htm css scss less svg vue svelte sql";
const SHELL_ENDINGS: &str = "sh bash zsh fish ksh ps1 bat cmd";
const CODE_ENDINGS: &str = "rs go py pyi js jsx mjs cjs ts tsx mts cts java kt swift c h cc cpp hpp cs rb php ex exs scala";
/// Folders of work, in which a `config.py` or a folder `hooks` is ordinary code.
const WORK_FOLDERS: &str = "src lib app internal";
/// Folders of tests, in which a `setup.ts` is no test.
const TEST_FOLDERS: &str = "test tests __tests__ spec specs e2e";
const IMPORT_ROOTS: &str = "src lib tests test unit integration";
const STAND_INS: &str = "__mocks__ __stubs__ mocks stubs";
/// Parts of names such as `jest.config.js`, `vitest.setup.ts` and `requirements-dev.txt`.
const PARTS: &str = "\
    config conf setup preset environment globalsetup global-setup globalteardown tsconfig requirements constraints reporter \
    transform transformer resolver sequencer mocharc babelrc eslintrc prettierrc stylelintrc swcrc nycrc lintstagedrc \
    taskfile compose dockerfile phpunit phpstan psalm rubocop detekt checkstyle";
const FOLDERS: &str =
    "scripts script bin tools ci build-tools buildsrc hack hooks githooks buildkite";

/// `true` for a path that may steer a check, from the project's top and with `/`.
///
/// ```
/// use omo_core::check::steering::may_steer;
///
/// assert!(may_steer("web/jest.setup.js") && may_steer("pkg/deep/conftest.py") && may_steer(".coveragerc"));
/// assert!(!may_steer("src/cart.rs") && !may_steer("tests/test_cart.py"));
/// ```
pub fn may_steer(path: &str) -> bool {
    let lower = path.to_lowercase();
    let (folders, name) = lower.rsplit_once('/').unwrap_or(("", &lower));
    let is_hidden = lower.split('/').any(|part| part.starts_with('.'));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    // Code is work, but for files such as `jest.setup.js`: their callers and loaders decide.
    let is_code = is_in(CODE_ENDINGS, ending);
    let mut roots = lower.split_inclusive('/').scan(true, |is_root, part| {
        let was_root = std::mem::replace(is_root, is_in(IMPORT_ROOTS, part.trim_end_matches('/')));
        was_root.then(|| part.trim_end_matches('/'))
    });
    is_hidden
        || is_in(NAMES, name)
        || is_in(ENDINGS, ending)
        || is_below_any(folders, STAND_INS)
        || is_configuration(folders, name, is_code)
        || is_in("py pyi", ending) && roots.any(shadows_python)
}

fn is_configuration(folders: &str, name: &str, is_code: bool) -> bool {
    match is_code {
        true if is_below_any(folders, TEST_FOLDERS) => {
            name.split('.').any(|part| is_in(PARTS, part))
        }
        true => {
            !is_below_any(folders, WORK_FOLDERS)
                && name.split('.').skip(1).any(|part| is_in(PARTS, part))
        }
        false => {
            name.split(['.', '-', '_']).any(|part| is_in(PARTS, part))
                || is_below_any(folders, FOLDERS)
        }
    }
}

fn is_below_any(folders: &str, list: &str) -> bool {
    folders.split('/').any(|folder| is_in(list, folder))
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

pub fn is_shell_script(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, ending)| is_in(SHELL_ENDINGS, &ending.to_lowercase()))
}

pub fn is_code_or_text(path: &str) -> bool {
    let ending = path
        .rsplit_once('.')
        .map_or("", |(_, ending)| ending)
        .to_lowercase();
    is_in(CODE_ENDINGS, &ending) || is_in(DOCUMENT_ENDINGS, &ending)
}

pub fn is_code(path: &str) -> bool {
    path.rsplit_once('.')
        .is_some_and(|(_, ending)| is_in(CODE_ENDINGS, &ending.to_lowercase()))
}

/// Tests by their name or folder; a program that such a file runs is its subject.
pub fn is_named_as_test(path: &str) -> bool {
    let lower = path.to_lowercase();
    lower
        .split(['/', '.', '-', '_'])
        .any(|part| is_in("test tests __tests__ spec specs e2e", part))
}

/// The words of a command or script that may name files, without quotes and without a prefix such
/// as a folder in a variable.
///
/// ```
/// use omo_core::check::steering::file_words;
///
/// let words = file_words("cd ci && sh \"$DIR/check.sh\" --config=a/b.yml");
/// assert!(["ci", "check.sh", "a/b.yml"].iter().all(|word| words.contains(*word)));
/// ```
pub fn file_words(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    for word in text.split(|char: char| char.is_whitespace() || "'\"`;&|<>(){}=,:".contains(char)) {
        // Text behind the last variable is below an unknown folder.
        let behind = word.rsplit_once('$').map_or(word, |(_, rest)| {
            rest.split_once('/').map_or("", |(_, rest)| rest)
        });
        let pattern = word.contains('$').then(|| pattern_of(word)).flatten();
        for word in pattern.into_iter().chain([behind.to_owned()]) {
            let word = word
                .trim_start_matches("./")
                .trim_end_matches('/')
                .replace('\\', "");
            if !word.is_empty() && !word.starts_with('-') && words.len() < MAX_WORDS {
                words.insert(word);
            }
        }
    }
    words
}

/// A pattern for a path with variables: `steps/step_*.sh` for `steps/step_$n.sh`.
fn pattern_of(word: &str) -> Option<String> {
    let mut parts = word.split('$');
    let mut pattern = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        pattern.push('*');
        pattern.push_str(
            part.trim_start_matches(|char: char| char.is_ascii_alphanumeric() || char == '_'),
        );
    }
    let is_of_paths = pattern.contains(['/', '.'])
        && !pattern.starts_with("*/")
        && pattern.contains(char::is_alphanumeric);
    is_of_paths.then_some(pattern)
}

/// Words of the lines that import, in code of a language with such lines; empty for others.
pub fn imported_words(path: &Path, text: &str) -> BTreeSet<String> {
    text.lines()
        .filter(|_| module_endings(path).is_some())
        .filter(|line| {
            ["import ", "require(", "from "]
                .iter()
                .any(|word| line.contains(word))
        })
        .flat_map(file_words)
        .collect()
}

/// Candidate paths for the file of a module, from the folder of the code or the top.
pub fn module_files(path: &Path, word: &str) -> impl Iterator<Item = String> {
    let endings = module_endings(path).unwrap_or_default();
    let is_python = endings.starts_with(".py");
    let word = if is_python {
        word.trim_matches('.').replace('.', "/")
    } else {
        word.to_owned()
    };
    std::iter::once("")
        .filter(move |_| !is_python)
        .chain(endings.split(' '))
        .map(move |ending| format!("{word}{ending}"))
}

fn module_endings(path: &Path) -> Option<&'static str> {
    match path.extension()?.to_str()? {
        "py" => Some(".py /__init__.py"),
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            Some(".js .mjs .cjs .ts .tsx .json /index.js /index.ts")
        }
        "rb" => Some(".rb"),
        _ => None,
    }
}

/// `true` for code outside of the tests that serves them alone: it loads a runner, or asserts and
/// returns nothing. Code with tests of its own is work.
pub fn is_test_helper(path: &Path, text: &str) -> bool {
    const RUNNERS: &str = "\
        unittest pytest hypothesis testing node:test vitest @jest/globals chai sinon minitest rspec org.junit.jupiter.api";
    let lines = text
        .split(['\n', ';'])
        .map(str::trim)
        .filter(|line| line.starts_with("#[") || !line.starts_with(['#', '/', '*']));
    let (mut asserted, mut given, mut loads) = (0, 0, false);
    for line in lines {
        if ["def test_", "test(", "it(", "func Test", "#[test]"]
            .iter()
            .any(|test| line.starts_with(test))
        {
            return false;
        }
        let is_go = line == "\"testing\"";
        if is_go
            || line.starts_with("import ")
            || line.starts_with("from ")
            || line.contains("require(")
        {
            loads |= file_words(line)
                .iter()
                .any(|word| is_in(RUNNERS, word) && (is_go || word != "testing"));
        } else if line.contains("assert") || line.contains("expect(") {
            asserted += 1;
        } else if ["return", "=>", " = ", "yield"]
            .iter()
            .any(|word| line.contains(word))
            && !line.contains("exports")
        {
            given += 1;
        }
    }
    // Other languages return values without a word.
    loads
        || asserted > 0
            && given == 0
            && module_endings(path).is_some_and(|endings| endings != ".rb")
}

/// Expected results, such as `expected.txt` and `golden/a.json`.
pub fn is_expectation(path: &str) -> bool {
    const NAMES: &str = "expected expectations golden goldens approved snap snapshot snapshots";
    !is_code(path)
        && path
            .to_lowercase()
            .split(['/', '.', '-', '_'])
            .any(|part| is_in(NAMES, part))
}

/// The words of a configuration behind a key such as `setupFiles`: files that a runner may load.
///
/// ```
/// use omo_core::check::steering::loaded_words;
///
/// assert!(loaded_words("pytest_plugins = [\"helpers.plug\"]").contains("helpers.plug"));
/// assert!(loaded_words("{\"main\": \"app.js\"}").is_empty());
/// ```
pub fn loaded_words(text: &str) -> BTreeSet<String> {
    let lower = text.to_ascii_lowercase();
    let mut words = BTreeSet::new();
    for key in LOADING_KEYS.split_ascii_whitespace() {
        for (at, _) in lower.match_indices(key) {
            let behind = text.get(at + key.len()..).unwrap_or_default();
            let line = behind.lines().next().unwrap_or_default();
            let list = line
                .find(['[', '(', '{'])
                .and_then(|_| behind.get(..behind.find([']', ')', '}'])?));
            words.extend(file_words(list.unwrap_or(line)));
        }
    }
    words
}

const LOADING_KEYS: &str = "\
    pytest_plugins setupfiles globalsetup globalteardown testenvironment snapshotserializers resolver transform \
    testrunner reporters require --import --loader";

/// The default files that say what a program does: those of a Makefile for `make`.
///
/// ```
/// use omo_core::check::steering::task_files;
///
/// assert!(task_files("/usr/bin/make").any(|file| file == "Makefile") && task_files("cat").next().is_none());
/// ```
pub fn task_files(program: &str) -> impl Iterator<Item = &'static str> {
    let name = program.rsplit('/').next().unwrap_or(program);
    let name = if name == "MAKE" { "make" } else { name };
    let known = TASK_FILES
        .iter()
        .find(|(programs, _)| programs.split(' ').any(|known| known == name));
    known.into_iter().flat_map(|(_, files)| files.split(' '))
}

const TASK_FILES: [(&str, &str); 13] = [
    ("make gmake bmake", "GNUmakefile makefile Makefile"),
    ("npm npx pnpm yarn bun bunx node corepack", "package.json"),
    ("just", "justfile Justfile .justfile"),
    (
        "task go-task",
        "Taskfile.yml Taskfile.yaml taskfile.yml taskfile.yaml",
    ),
    ("rake", "Rakefile rakefile Rakefile.rb"),
    ("tox", "tox.ini"),
    ("nox", "noxfile.py"),
    ("inv invoke", "tasks.py"),
    ("fab", "fabfile.py"),
    ("doit", "dodo.py"),
    ("mise rtx", "mise.toml .mise.toml"),
    ("composer", "composer.json"),
    ("deno", "deno.json deno.jsonc"),
];

pub fn is_manifest(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    MANIFESTS
        .split_ascii_whitespace()
        .any(|known| known == name)
        || name
            .strip_suffix(".txt")
            .is_some_and(|name| name.starts_with("requirements"))
}

const MANIFESTS: &str = "\
    Cargo.toml Cargo.lock go.mod go.sum pyproject.toml setup.cfg package-lock.json npm-shrinkwrap.json yarn.lock \
    pnpm-lock.yaml bun.lock bun.lockb poetry.lock uv.lock Pipfile Pipfile.lock Gemfile Gemfile.lock composer.lock \
    composer.json pom.xml build.gradle build.gradle.kts docker-compose.yml docker-compose.yaml compose.yml compose.yaml \
    .env.example";

const MAX_WORDS: usize = 10_000;

/// `true` for a name that is loaded instead of a module of Python or of a runner.
pub fn shadows_python(name: &str) -> bool {
    let (module, ending) = name.split_once('.').unwrap_or((name, ""));
    let is_module = ending.is_empty()
        || ["py", "pyc", "so", "pyd"]
            .iter()
            .any(|end| ending.ends_with(end));
    is_module && is_python_module(module)
}

/// `true` for a module of Python or pytest that a runner may load.
pub fn is_python_module(name: &str) -> bool {
    MODULES.split_ascii_whitespace().any(|known| known == name)
}

/// The standard library from 3.8 to 3.14, and pytest, without built-in modules, which cannot be
/// shadowed, and without `parser`, `symbol` and `formatter`: work often has files of these names.
const MODULES: &str = "\
    __future__ _aix_support _android_support _apple_support _ast _ast_unparse _asyncio _bisect _blake2 _bootlocale \
    _bootsubprocess _bz2 _codecs_cn _codecs_hk _codecs_iso2022 _codecs_jp _codecs_kr _codecs_tw _collections_abc \
    _colorize _compat_pickle _compression _contextvars _crypt _csv _ctypes _ctypes_test _curses _curses_panel \
    _datetime _dbm _decimal _dummy_thread _elementtree _gdbm _hashlib _heapq _hmac _interpchannels _interpqueues \
    _interpreters _ios_support _json _lsprof _lzma _markupbase _md5 _msi _multibytecodec _multiprocessing _opcode \
    _opcode_metadata _osx_support _overlapped _peg_parser _pickle _posixshmem _posixsubprocess _py_abc _py_warnings \
    _pydatetime _pydecimal _pyio _pylong _pyrepl _pytest _queue _random _remote_debugging _scproxy _sha1 _sha2 \
    _sha256 _sha3 _sha512 _sitebuiltins _socket _sqlite3 _ssl _statistics _strptime _struct _threading_local \
    _tkinter _tokenize _types _uuid _weakrefset _wmi _zoneinfo _zstd abc aifc annotationlib argparse array \
    ast asynchat asyncio asyncore atexit audioop base64 bdb binascii binhex bisect bz2 cProfile calendar cgi cgitb \
    chunk cmath cmd code codecs codeop collections colorsys compileall compression concurrent configparser \
    contextlib contextvars copy copyreg coverage crypt csv ctypes curses dataclasses datetime dbm decimal difflib \
    dis distutils doctest dummy_threading email encodings ensurepip enum exceptiongroup faulthandler fcntl filecmp \
    fileinput fnmatch fractions ftplib functools genericpath getopt getpass gettext glob graphlib grp gzip hashlib \
    heapq hmac html http imaplib imghdr imp importlib iniconfig inspect io ipaddress json keyword linecache locale \
    logging lzma macpath macurl2path mailbox mailcap math mimetypes mmap modulefinder msilib msvcrt multiprocessing \
    netrc nis nntplib ntpath nturl2path numbers opcode operator optparse os ossaudiodev packaging pathlib pdb pickle \
    pickletools pipes pkgutil platform plistlib pluggy poplib posixpath pprint profile pstats pty pwd py py_compile \
    pyclbr pydoc pydoc_data pyexpat pygments pytest queue quopri random re readline reprlib resource rlcompleter \
    runpy sched secrets select selectors shelve shlex shutil signal site sitecustomize smtpd smtplib sndhdr socket \
    socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string stringprep struct \
    subprocess sunau symtable sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap threading timeit \
    tkinter token tokenize tomli tomllib trace traceback tracemalloc tty turtle types typing unicodedata unittest \
    urllib usercustomize uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml xmlrpc \
    zipapp zipfile zipimport zlib zoneinfo";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_has_its_files_wherever_they_lie() {
        for path in [
            "Makefile",
            "ci/rules.mk",
            "pkg/deep/conftest.py",
            "jest.setup.js",
            "jest.config.ts",
            "web/babel.config.cjs",
            "package.json",
            "Cargo.toml",
            ".cargo/config.toml",
            "ruff.toml",
            "mypy.ini",
            "tsconfig.build.json",
            ".eslintrc.json",
            ".prettierignore",
            ".coveragerc",
            "biome.json",
            "karma.conf.js",
            ".github/workflows/ci.yml",
            "requirements-dev.txt",
            "src/__mocks__/fs.js",
            "scripts/check",
            "test/setup.ts",
            "spec/spec_helper.rb",
            "unittest.py",
            "argparse/__init__.py",
            "a.env",
        ] {
            assert!(may_steer(path), "{path}");
        }
        for path in [
            "src/cart.rs",
            "greet.sh",
            "src/config.py",
            "web/src/hooks/useCart.ts",
            "app.py",
            "tests/test_app.py",
            "src/cart.test.ts",
            "shop/types.py",
            "shop/config.py",
            "shop/cart_resolver.py",
            "scripts/app.py",
            "server/http/app.js",
            "README.md",
            "docs/a.txt",
            "pkg/a_test.go",
        ] {
            assert!(!may_steer(path), "{path}");
        }
    }

    #[test]
    fn words_of_a_command_are_names_without_what_a_shell_reads() {
        for (text, word) in [
            ("sh check.sh", "check.sh"),
            ("make -f ci.mk check", "ci.mk"),
            ("cd \"$(dirname \"$0\")/..\"; \"$DIR/x.sh\"", "x.sh"),
            ("pytest --config-file=ci/pytest.ini", "ci/pytest.ini"),
            ("sh steps/step_$n.sh", "steps/step_*.sh"),
            ("for t in qa/$KIND/*; do sh $t; done", "qa/*/*"),
            ("sh ./ci/check", "ci/check"),
            ("sh ./c\\heck.sh", "check.sh"),
            ("cat < 'in.txt'|sh", "in.txt"),
        ] {
            assert!(
                file_words(text).contains(word),
                "{text}: {:?}",
                file_words(text)
            );
        }
        assert!(file_words("--all $X").is_empty());
    }

    #[test]
    fn a_module_is_looked_for_as_its_language_finds_it() {
        for (file, line, found) in [
            ("qa/run.py", "from rules import CASES", "rules.py"),
            ("qa/run.py", "import qa.rules", "qa/rules.py"),
            (
                "conftest.py",
                "from .helpers import one",
                "helpers/__init__.py",
            ),
            (
                "qa/run.js",
                "const rules = require(\"./rules\");",
                "rules.js",
            ),
            (
                "qa/run.mjs",
                "import { rules } from '../lib/rules.mjs';",
                "../lib/rules.mjs",
            ),
        ] {
            let words = imported_words(Path::new(file), line);
            let mut files = words
                .iter()
                .flat_map(|word| module_files(Path::new(file), word));
            assert!(files.any(|file| file == found), "{line}");
        }
        assert!(imported_words(Path::new("run.sh"), "import x").is_empty());
    }

    #[test]
    fn code_that_serves_tests_alone_is_told_by_its_text() {
        for (path, text, expected) in [
            (
                "fix.py",
                "import pytest\n\n@pytest.fixture\ndef one(): return 1\n",
                true,
            ),
            ("same.py", "def same(a, b):\n    assert a == b\n", true),
            (
                "same.js",
                "const assert = require('assert'); exports.same = (a, b) => assert.equal(a, b);",
                true,
            ),
            (
                "testutil/a.go",
                "package testutil\nimport (\n\t\"testing\"\n)\nfunc Same(t *testing.T) {}\n",
                true,
            ),
            (
                "cart.py",
                "def total(prices):\n    assert prices\n    assert len(prices) < 9\n    return sum(prices)\n",
                false,
            ),
            (
                "app.py",
                "import unittest\ndef add(a, b): return a + b\nclass A(unittest.TestCase):\n    def test_a(self): pass\n",
                false,
            ),
            (
                "lib.rs",
                "pub fn half(a: i32) -> i32 {\n    assert!(a > 0);\n    a / 2\n}\n",
                false,
            ),
            ("a.go", "package a\nimport \"fmt\"\n", false),
            (
                "app.js",
                "// assert nothing\nexports.add = (a, b) => a + b;\n",
                false,
            ),
        ] {
            assert_eq!(
                is_test_helper(Path::new(path), text),
                expected,
                "{path}: {text}"
            );
        }
    }
}
