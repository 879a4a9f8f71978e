//! Which files of the project a gate runs, and what is in them.
//!
//! A command such as `./check.sh` or `make test` is only as good as the file behind it. When its
//! user agrees to a gate, the programs and scripts of the project that it runs and the task file
//! that its runner reads are pinned by their digest. What differs later is reported and is not
//! green until the user agrees again. What those files run in turn is not followed, and files of
//! tests are not pinned: to write those is the work.

mod steering;

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Component, Path, PathBuf, is_separator};

use omo_core::gate::Gate;
use omo_core::runner::named::{commands, names_runner, stem, words};

use crate::object::Object;
use crate::regular;
use crate::seal::{digest, digest_of};
use crate::search_path::{SearchPath, real};

/// At most so many files are pinned for a gate.
const MAX_FILES: usize = 32;
/// Of a larger file the parts that steer a run are looked for only so far.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// A larger file counts as one that cannot be read.
const MAX_PINNED_BYTES: u64 = 256 * 1024 * 1024;
/// What stands for a file that cannot be read.
const UNREADABLE: &str = "unreadable";

/// What stands for a file that the command names and that is not there yet: its user has
/// seen nothing that it could be held to.
const ABSENT: &str = "absent";
/// Folders that hold what is built anew all the time.
pub const BUILT: [&str; 4] = ["target", "build", "dist", "out"];

/// The files that a gate runs, by their path from the project's top, each with its digest.
/// `search` is the `PATH` that the gate gets.
pub fn of(gate: &Gate, root: &Path, search: &SearchPath) -> BTreeMap<String, String> {
    let folder = gate.cwd.as_ref().map_or_else(|| root.to_owned(), |folder| root.join(folder));
    let search = &search.clone().without_hidden_ways(root);
    let mut reading = Reading { root, search, pins: BTreeMap::new(), runs_tests: false };
    reading.command(&gate.run, &folder, Level::Command);
    reading.pins
}

/// Whether a gate runs tests with a runner whose count is known here, by itself or by a script of `package.json`.
pub fn runs_tests(gate: &Gate, root: &Path) -> bool {
    let folder = gate.cwd.as_ref().map_or_else(|| root.to_owned(), |folder| root.join(folder));
    let mut reading = Reading { root, search: &SearchPath::default(), pins: BTreeMap::new(), runs_tests: false };
    reading.command(&gate.run, &folder, Level::Command);
    reading.runs_tests
}

/// Where a command stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    /// It is the gate's own.
    Command,
    /// A script of `package.json`, that deep: one may run another.
    Script(usize),
}

/// Scripts that run scripts are followed so deep.
const MAX_SCRIPTS: usize = 4;

/// What is read of a command.
struct Reading<'a> {
    root: &'a Path,
    search: &'a SearchPath,
    pins: BTreeMap<String, String>,
    runs_tests: bool,
}

impl Reading<'_> {
    fn command(&mut self, run: &str, folder: &Path, level: Level) {
        let (root, search) = (self.root, self.search);
        self.runs_tests |= names_runner(run);
        let mut folder = folder.to_owned();
        let words = words(run);
        for (program, own) in commands(&words) {
            let pins = &mut self.pins;
            if program == "cd" {
                folder = own.first().map_or(folder.clone(), |to| folder.join(to));
            } else if program.contains(is_separator) {
                pin_named(pins, root, &folder.join(program));
            } else {
                let found = search.find(program);
                if level != Level::Command {
                    pin_installed(pins, root, &folder, program, found.is_some());
                }
                if let Some(found) = found {
                    pin_program(pins, root, &found);
                }
            }
            let name = stem(program);
            if let Some(script) = script_of(program, &own, &folder) {
                pin_named(pins, root, &script);
            }
            let below = folder_of(&folder, &own);
            for tool in tools(name, &own) {
                for file in steering::files(tool) {
                    pin_task_file(pins, root, &below, file);
                    if steering::is_looked_for_above(tool, file) {
                        pin_task_file(pins, root, root, file);
                    }
                }
                if steering::is_python(tool) {
                    pin_shadows(pins, root, &below);
                }
            }
            if matches!(name, "npx" | "bunx")
                && let Some(program) = own.iter().find(|word| !word.starts_with('-'))
            {
                pin_installed(pins, root, &below, program, false);
            }
            let depth = if let Level::Script(depth) = level { depth + 1 } else { 0 };
            if depth < MAX_SCRIPTS
                && let Some(script) = script_of_package(name, &own, &below)
            {
                self.command(&script, &below, Level::Script(depth));
            }
        }
    }
}

/// The tools that a command runs: its program, and what that is asked to run.
fn tools<'a>(name: &'a str, own: &[&'a str]) -> Vec<&'a str> {
    let named = own.iter().map(|word| stem(word)).filter(|word| steering::is_asked_for(word));
    std::iter::once(name).chain(named).collect()
}

/// The script of `package.json` that a package manager is asked to run.
fn script_of_package(name: &str, own: &[&str], folder: &Path) -> Option<String> {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return None;
    }
    let mut words = own.iter().filter(|word| !word.starts_with('-')).copied();
    let script = match words.find(|word| !folder.ends_with(word))? {
        "run" | "run-script" => words.next()?,
        "t" => "test",
        word => word,
    };
    let bytes = read(&folder.join("package.json"))?;
    let text = String::from_utf8_lossy(&bytes);
    let scripts = Object::parse(&text).ok()?;
    let scripts = Object::parse(scripts.get("scripts")?).ok()?;
    serde_json::from_str(scripts.get(script)?).ok()
}

/// The program that a script of `package.json` calls by its name, where the folders of what was installed for it have
/// one. Where nothing else has that name, it may be installed later.
fn pin_installed(pins: &mut BTreeMap<String, String>, root: &Path, folder: &Path, program: &str, is_elsewhere: bool) {
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(root));
    let files: Vec<PathBuf> = folders.map(|folder| folder.join("node_modules/.bin").join(program)).collect();
    match files.iter().find(|file| file.is_file()) {
        Some(file) => pin(pins, root, file),
        None if is_elsewhere => {}
        None => {
            let names = files.first().and_then(|file| name_below(root, file));
            pins.extend(names.map(|name| (name, ABSENT.to_owned())));
        }
    }
}

/// The modules of a folder that Python would load in the place of the runner's own.
fn pin_shadows(pins: &mut BTreeMap<String, String>, root: &Path, folder: &Path) {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut shadows: Vec<PathBuf> = entries
        .filter(|entry| entry.file_name().to_str().is_some_and(steering::shadows_python))
        .map(|entry| entry.path())
        .collect();
    shadows.sort();
    for shadow in shadows {
        if shadow.is_dir() {
            // Without one of these it is no module that comes before another.
            for file in ["__init__.py", "__init__.pyc", "__main__.py"] {
                pin(pins, root, &shadow.join(file));
            }
        } else {
            pin(pins, root, &shadow);
        }
    }
}

/// What differs between what was pinned and what is there now: the first such file.
pub fn changed<'a>(pinned: &'a BTreeMap<String, String>, now: &'a BTreeMap<String, String>) -> Option<&'a str> {
    // What cannot be read cannot be shown to be the same.
    let is_other = |(path, digest): &(&String, &String)| {
        *digest != ABSENT && (*digest == UNREADABLE || now.get(*path) != Some(digest))
    };
    let gone_or_other = pinned.iter().find(is_other);
    let new = || now.iter().find(|(path, _)| !pinned.contains_key(*path));
    gone_or_other.or_else(new).map(|(path, _)| path.as_str())
}

/// The script that an interpreter is given: the first argument that is a file, or looks like one.
fn script_of(program: &str, arguments: &[&str], folder: &Path) -> Option<PathBuf> {
    let is_interpreter = matches!(
        stem(program),
        "sh" | "bash" | "dash" | "zsh" | "ksh" | "python" | "node" | "perl" | "ruby" | "deno" | "source"
    ) || program == ".";
    // With these it is given a command, a module, or files of tests.
    let is_given_else = arguments.iter().any(|word| matches!(*word, "-c" | "-m" | "-e" | "--test" | "--eval"));
    if !is_interpreter || is_given_else {
        return None;
    }
    let words = arguments.iter().filter(|word| !word.starts_with('-'));
    words.map(|word| folder.join(word)).find(|path| path.is_file() || path.extension().is_some())
}

/// The folder that `-C folder`, `--prefix folder` and the like send a runner to.
fn folder_of(folder: &Path, arguments: &[&str]) -> PathBuf {
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if matches!(*word, "-C" | "--prefix" | "--directory" | "--dir" | "--cwd")
            && let Some(value) = words.next()
        {
            return folder.join(value);
        }
    }
    folder.to_owned()
}

fn pin_task_file(pins: &mut BTreeMap<String, String>, root: &Path, folder: &Path, file: &str) {
    let path = folder.join(file);
    let Some(name) = name_below(root, &path) else { return };
    let Some(parts) = steering::parts(file) else { return pin(pins, root, &path) };
    // Only what steers a run: a new dependency is no change of the check.
    let Some(bytes) = read(&path) else { return };
    let text = String::from_utf8_lossy(&bytes);
    for part in parts {
        // One that cannot be read as that is pinned whole.
        let content = part.of(&text).unwrap_or_else(|| Some(text.clone().into_owned()));
        if let Some(content) = content {
            pins.insert(format!("{name} ({})", part.word()), digest(content.as_bytes()));
        }
    }
}

/// Pins a file that the command names, where it is not one that is made anew all the time.
fn pin_named(pins: &mut BTreeMap<String, String>, root: &Path, path: &Path) {
    let Some(name) = name_below(root, path) else { return };
    let is_built = Path::new(&name).components().any(|part| BUILT.iter().any(|built| part.as_os_str() == *built));
    if is_built {
        return;
    }
    if path.is_file() {
        pin(pins, root, path);
    } else if !path.exists() {
        pins.insert(name, ABSENT.to_owned());
    }
}

/// Pins a program that lies in the project, whatever links lead to it.
fn pin_program(pins: &mut BTreeMap<String, String>, root: &Path, program: &Path) {
    if name_below(root, program).is_some() {
        return pin(pins, root, program);
    }
    pin(pins, &real(root), &real(program));
}

fn pin(pins: &mut BTreeMap<String, String>, root: &Path, path: &Path) {
    if pins.len() < MAX_FILES
        && path.is_file()
        && let Some(name) = name_below(root, path)
    {
        pins.insert(name, digest_of_file(path).unwrap_or_else(|| UNREADABLE.to_owned()));
    }
}

/// A path from the project's top, as git writes it; `None` outside of it.
fn name_below(root: &Path, path: &Path) -> Option<String> {
    let mut name = Vec::new();
    for part in path.strip_prefix(root).ok()?.components() {
        match part {
            Component::Normal(part) => name.push(part.to_string_lossy()),
            Component::ParentDir if name.pop().is_some() => {}
            Component::CurDir => {}
            _ => return None,
        }
    }
    Some(name.join("/")).filter(|name| !name.is_empty())
}

fn digest_of_file(path: &Path) -> Option<String> {
    digest_of(regular::open(path).ok()??, MAX_PINNED_BYTES)
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path).ok()??.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use omo_core::gate::Origin;

    use super::*;

    fn search<const COUNT: usize>(folders: [PathBuf; COUNT]) -> SearchPath {
        folders.into_iter().collect()
    }

    fn pins(root: &Path, run: &str) -> Vec<String> {
        let gate = Gate::new(None, run, Origin::User).unwrap();
        of(&gate, root, &search([root.join("bin"), PathBuf::from("/usr/bin")])).into_keys().collect()
    }

    #[test]
    fn files_that_a_command_names_or_reads_are_pinned() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        for (path, text) in [
            ("check.sh", "x"),
            ("scripts/t.py", "x"),
            ("Makefile", "x"),
            ("package.json", r#"{"scripts":{"test":"x"}}"#),
            ("web/package.json", r#"{"scripts":{"test":"x"}}"#),
            ("bin/cargo", "x"),
            (".venv/bin/pytest", "x"),
            ("conftest.py", "x"),
            ("pyproject.toml", "[tool.pytest.ini_options]\naddopts = \"-q\"\n"),
            ("py/difflib.py", "x"),
            ("py/unittest/__init__.py", "x"),
            ("py/app.py", "x"),
            ("test", "x"),
        ] {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        }
        for (run, expected) in [
            ("./check.sh --fast", vec!["check.sh"]),
            ("sh check.sh && python3 scripts/t.py", vec!["check.sh", "scripts/t.py"]),
            ("make lint", vec!["Makefile"]),
            ("CI=1 npm run x", vec!["package.json (scripts)"]),
            ("npm --prefix web run x", vec!["web/package.json (scripts)"]),
            ("cargo build", vec!["bin/cargo"]),
            ("cargo test", vec!["bin/cargo"]),
            ("pytest scripts/t.py", vec!["conftest.py", "pyproject.toml (pytest)"]),
            ("node --test scripts/t.py", vec![]),
            ("sh -c ./check.sh", vec![]),
            ("bash -euo pipefail check.sh", vec!["check.sh"]),
            ("timeout 60 ./check.sh", vec!["check.sh"]),
            ("cd web && npm test", vec!["web/node_modules/.bin/x", "web/package.json (scripts)"]),
            ("cd scripts && python3 t.py", vec!["scripts/t.py"]),
            ("cargo build && ./target/debug/app --check", vec!["bin/cargo"]),
            ("./later.sh", vec!["later.sh"]),
            (". ./check.sh", vec!["check.sh"]),
            ("env A=1 cargo build", vec!["bin/cargo"]),
            ("true; (cargo build)", vec!["bin/cargo"]),
            ("npx eslint .", vec!["node_modules/.bin/eslint", "package.json (scripts)"]),
            (".venv/bin/pytest", vec![".venv/bin/pytest", "conftest.py", "pyproject.toml (pytest)"]),
            ("python3 -m pytest scripts", vec!["conftest.py", "pyproject.toml (pytest)"]),
            ("cd py && python3 -m unittest", vec!["py/difflib.py", "py/unittest/__init__.py"]),
            ("cat /etc/passwd ../x $(rm) missing.sh; ../outside.sh", vec![]),
        ] {
            assert_eq!(pins(root, run), expected, "{run}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_program_that_a_link_leads_to_is_pinned() {
        let temp = tempfile::tempdir().unwrap();
        let base = temp.path().canonicalize().unwrap();
        let (project, single) = (base.join("project"), base.join("single"));
        std::fs::create_dir(&project).unwrap();
        std::fs::create_dir(&single).unwrap();
        std::fs::write(project.join("tool"), "x").unwrap();
        std::os::unix::fs::symlink(project.join("tool"), single.join("tool")).unwrap();
        let gate = Gate::new(None, "tool", Origin::User).unwrap();
        assert!(of(&gate, &project, &search([single])).contains_key("tool"));
    }

    #[test]
    fn the_script_of_a_package_is_followed_to_what_it_runs() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let search = search([PathBuf::from("/usr/bin")]);
        let write = |path: &str, text: &str| {
            std::fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
            std::fs::write(root.join(path), text).unwrap();
        };
        write("package.json", r#"{"scripts":{"test":"npm run unit","unit":"jest --ci","lint":"eslint ."}}"#);
        let gate = |run: &str| Gate::new(None, run, Origin::User).unwrap();
        assert!(runs_tests(&gate("npm test"), root) && runs_tests(&gate("yarn unit"), root));
        assert!(!runs_tests(&gate("npm run lint"), root) && !runs_tests(&gate("npm run none"), root));
        let gate = gate("npm test");
        let pinned = of(&gate, root, &search);
        assert_eq!(pinned.get("node_modules/.bin/jest").map(String::as_str), Some(ABSENT), "{pinned:?}");
        write("node_modules/.bin/jest", "x");
        assert_eq!(changed(&pinned, &of(&gate, root, &search)), None, "installed since");
        let pinned = of(&gate, root, &search);
        write("node_modules/.bin/jest", "exit 0");
        assert_eq!(changed(&pinned, &of(&gate, root, &search)), Some("node_modules/.bin/jest"));
        write("node_modules/.bin/jest", "x");
        for (path, text) in [(".npmrc", "script-shell=/bin/true"), ("jest.config.js", "x")] {
            write(path, text);
            assert_eq!(changed(&pinned, &of(&gate, root, &search)), Some(path));
            std::fs::remove_file(root.join(path)).unwrap();
        }
    }

    #[test]
    fn a_large_file_is_held_to_its_end() {
        let temp = tempfile::tempdir().unwrap();
        let (root, search) = (temp.path(), SearchPath::default());
        let gate = Gate::new(None, "sh check.sh", Origin::User).unwrap();
        let mut text = vec![b'#'; usize::try_from(MAX_BYTES).unwrap() + 1];
        std::fs::write(root.join("check.sh"), &text).unwrap();
        let pinned = of(&gate, root, &search);
        assert_eq!(changed(&pinned, &of(&gate, root, &search)), None);
        *text.last_mut().unwrap() = b'x';
        std::fs::write(root.join("check.sh"), &text).unwrap();
        assert_eq!(changed(&pinned, &of(&gate, root, &search)), Some("check.sh"));
        assert_eq!(digest_of(&*text, MAX_BYTES), None);
        let unreadable = BTreeMap::from([("check.sh".to_owned(), UNREADABLE.to_owned())]);
        assert_eq!(changed(&unreadable, &unreadable), Some("check.sh"));
    }

    #[test]
    fn a_change_a_loss_and_a_newcomer_are_noticed_and_a_dependency_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let search = search([root.join("bin"), PathBuf::from("/usr/bin")]);
        let gate = Gate::new(None, "npm test; ./check.sh", Origin::User).unwrap();
        std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"}}"#).unwrap();
        std::fs::write(root.join("check.sh"), "x").unwrap();
        let pinned = of(&gate, root, &search);
        let differs = || changed(&pinned, &of(&gate, root, &search)).map(str::to_owned);
        std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"},"dependencies":{"a":"1"}}"#).unwrap();
        assert_eq!(differs(), None);
        std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"true"}}"#).unwrap();
        assert_eq!(differs().as_deref(), Some("package.json (scripts)"));
        std::fs::write(root.join("package.json"), r#"{"scripts":{"test":"x"}}"#).unwrap();
        let later = Gate::new(None, "./later.sh", Origin::User).unwrap();
        let absent = of(&later, root, &search);
        std::fs::write(root.join("later.sh"), "x").unwrap();
        assert_eq!(changed(&absent, &of(&later, root, &search)), None, "named before it was there");
        std::fs::write(root.join("check.sh"), "exit 0").unwrap();
        assert_eq!(differs().as_deref(), Some("check.sh"));
        std::fs::remove_file(root.join("check.sh")).unwrap();
        assert_eq!(differs().as_deref(), Some("check.sh"));
        std::fs::write(root.join("check.sh"), "x").unwrap();
        std::fs::create_dir(root.join("bin")).unwrap();
        std::fs::write(root.join("bin/npm"), "exit 0").unwrap();
        assert_eq!(differs().as_deref(), Some("bin/npm"));
    }
}
