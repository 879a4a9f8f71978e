//! Which files of the project a gate runs, and what is in them.
//!
//! A command such as `./check.sh` or `make test` is only as good as the file behind it. When its
//! user agrees to a gate, the programs and scripts of the project that it runs and the task file
//! that its runner reads are pinned by their digest. What differs later is reported and is not
//! green until the user agrees again. What those files run in turn is not followed, and files of
//! tests are not pinned: to write those is the work.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Component, Path, PathBuf, is_separator};

use omo_core::gate::Gate;

use crate::env;
use crate::object::Object;
use crate::platform::PROGRAM_ENDINGS;
use crate::regular;
use crate::seal::digest;

/// At most so many files are pinned for a gate.
const MAX_FILES: usize = 32;
/// Of a larger file only so much is read.
const MAX_BYTES: u64 = 4 * 1024 * 1024;
/// What stands for a file that cannot be read.
const UNREADABLE: &str = "unreadable";

/// What stands for a file that the command names and that is not there yet: whoever names it has
/// seen nothing that it could be held to.
const ABSENT: &str = "absent";
/// Folders that hold what was built or fetched, and is made anew all the time.
const BUILT: [&str; 8] = ["target", "build", "dist", "out", "node_modules", ".venv", "venv", ".tox"];

/// The files that a gate runs, by their path from the project's top, each with its digest.
/// `search` is the `PATH` that the gate gets.
pub fn of(gate: &Gate, root: &Path, search: &[PathBuf]) -> BTreeMap<String, String> {
    let mut folder = gate.cwd.as_ref().map_or_else(|| root.to_owned(), |folder| root.join(folder));
    let mut pins = BTreeMap::new();
    let words = words(&gate.run);
    for (index, word) in words.iter().enumerate().filter(|(_, word)| word.is_program) {
        let rest = words.get(index + 1..).unwrap_or_default();
        let own: Vec<&str> = rest.iter().take_while(|word| !word.is_program).map(|word| word.text.as_str()).collect();
        if word.text == "cd" {
            folder = own.first().map_or(folder.clone(), |to| folder.join(to));
        } else if word.text.contains(is_separator) {
            pin_named(&mut pins, root, &folder.join(&word.text));
        } else if let Some(program) = find(&word.text, search) {
            pin(&mut pins, root, &program);
        }
        let name = word.text.rsplit(is_separator).next().unwrap_or(&word.text);
        if let Some(script) = script_of(name, &own, &folder) {
            pin_named(&mut pins, root, &script);
        }
        for file in task_files(name) {
            pin_task_file(&mut pins, root, &folder_of(&folder, &own), file);
            if name == "cargo" {
                pin_task_file(&mut pins, root, root, file);
            }
        }
    }
    pins
}

/// The folders in which a gate finds its programs: the absolute ones of the `PATH`. Any other entry
/// would find programs wherever the gate happens to stand.
pub fn search_path(variables: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let path = variables.iter().find(|(name, _)| env::is_called(name, "PATH")).map(|(_, value)| value);
    path.map(std::env::split_paths).into_iter().flatten().filter(|folder| folder.is_absolute()).collect()
}

/// Those of this process, which are the ones of the gates that it runs.
pub fn own_search_path() -> Vec<PathBuf> {
    search_path(&env::variables())
}

/// The file of a program that is called by its name, in the first of these folders that has it.
pub fn find(program: &str, search: &[PathBuf]) -> Option<PathBuf> {
    let files = |folder: &PathBuf| PROGRAM_ENDINGS.map(|ending| folder.join(format!("{program}{ending}")));
    search.iter().flat_map(files).find(|path| path.is_file())
}

/// What differs between what was pinned and what is there now: the first such file.
pub fn changed<'a>(pinned: &'a BTreeMap<String, String>, now: &'a BTreeMap<String, String>) -> Option<&'a str> {
    let is_other = |(path, digest): &(&String, &String)| *digest != ABSENT && now.get(*path) != Some(digest);
    let gone_or_other = pinned.iter().find(is_other);
    let new = || now.iter().find(|(path, _)| !pinned.contains_key(*path));
    gone_or_other.or_else(new).map(|(path, _)| path.as_str())
}

struct Word {
    text: String,
    /// It is the first word of a command.
    is_program: bool,
}

/// The words of a command, roughly as a shell parts them. A word too many pins nothing, since no
/// file has its name.
fn words(run: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut begins = true;
    for part in run.split_inclusive([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']) {
        let text = part.trim_end_matches([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let text = text.trim_matches(['"', '\'']);
        let is_assignment =
            text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-']));
        // Words that run another command behind them, and what those are given before it.
        let passes_on = is_assignment
            || text.starts_with(|char: char| char.is_ascii_digit() || char == '-')
            || matches!(
                text,
                "timeout" | "sudo" | "env" | "time" | "exec" | "nice" | "command" | "then" | "do" | "!" | "if"
            );
        if !text.is_empty() {
            words.push(Word { text: text.to_owned(), is_program: begins && !passes_on });
            begins = begins && passes_on;
        }
        begins |= part.ends_with([';', '&', '|', '(', '\n']);
    }
    words
}

/// The script that an interpreter is given: the first argument that is a file, or looks like one.
fn script_of(program: &str, arguments: &[&str], folder: &Path) -> Option<PathBuf> {
    let stem = program.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.');
    let is_interpreter = matches!(
        stem,
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

/// The files in which a runner finds what it is asked to run.
fn task_files(program: &str) -> &'static [&'static str] {
    match program {
        "make" | "gmake" => &["GNUmakefile", "makefile", "Makefile"],
        "npm" | "npx" | "pnpm" | "yarn" | "bun" => &["package.json"],
        "just" => &["justfile", "Justfile", ".justfile"],
        "task" => &["Taskfile.yml", "Taskfile.yaml"],
        "tox" => &["tox.ini"],
        "cargo" => &[".cargo/config.toml", ".cargo/config"],
        _ => &[],
    }
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
    if file != "package.json" {
        return pin(pins, root, &path);
    }
    // Only what it runs: a new dependency is no change of the check.
    let Some(bytes) = read(&path) else { return };
    let text = String::from_utf8_lossy(&bytes);
    // One that cannot be read as that is pinned whole.
    let scripts = Object::parse(&text).map(|object| digest(object.get("scripts").unwrap_or_default().as_bytes()));
    pins.insert(format!("{name} (scripts)"), scripts.unwrap_or_else(|_| digest(&bytes)));
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

fn pin(pins: &mut BTreeMap<String, String>, root: &Path, path: &Path) {
    if pins.len() < MAX_FILES
        && path.is_file()
        && let Some(name) = name_below(root, path)
    {
        pins.insert(name, read(path).map_or_else(|| UNREADABLE.to_owned(), |bytes| digest(&bytes)));
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

fn read(path: &Path) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    regular::open(path).ok()??.take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use omo_core::gate::Origin;

    use super::*;

    fn pins(root: &Path, run: &str) -> Vec<String> {
        let gate = Gate::new(None, run, Origin::User).unwrap();
        of(&gate, root, &[root.join("bin"), PathBuf::from("/usr/bin")]).into_keys().collect()
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
            ("pytest scripts/t.py", vec![]),
            ("node --test scripts/t.py", vec![]),
            ("python3 -m pytest scripts/t.py", vec![]),
            ("sh -c ./check.sh", vec![]),
            ("bash -euo pipefail check.sh", vec!["check.sh"]),
            ("timeout 60 ./check.sh", vec!["check.sh"]),
            ("cd web && npm test", vec!["web/package.json (scripts)"]),
            ("cd scripts && python3 t.py", vec!["scripts/t.py"]),
            ("cargo build && ./target/debug/app --check", vec!["bin/cargo"]),
            ("./later.sh", vec!["later.sh"]),
            (". ./check.sh", vec!["check.sh"]),
            ("env A=1 cargo build", vec!["bin/cargo"]),
            ("true; (cargo build)", vec!["bin/cargo"]),
            ("cat /etc/passwd ../x $(rm) missing.sh; ../outside.sh", vec![]),
        ] {
            assert_eq!(pins(root, run), expected, "{run}");
        }
    }

    #[test]
    fn a_change_a_loss_and_a_newcomer_are_noticed_and_a_dependency_is_none() {
        let temp = tempfile::tempdir().unwrap();
        let root = temp.path();
        let search = [root.join("bin"), PathBuf::from("/usr/bin")];
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
