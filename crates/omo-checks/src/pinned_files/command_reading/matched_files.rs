//! The files that patterns and `find` stand for.

use std::collections::BTreeSet;
use std::path::{Component, Path, PathBuf};

use omo_core::check::command_line::{is_line_option, is_syntax_check};
use omo_core::check::test_runner::test_commands::python_module;
use omo_core::text::glob::{is_glob, matches_glob};

use super::{CommandReading, ProgramCall};
use crate::pinned_files::executed_scripts::is_script_run;
use crate::pinned_files::steering;

/// So many words of an interpreter are looked at for its script.
const MAX_WORDS: usize = 64;

impl CommandReading<'_> {
    /// The files that a word means: one, or those of the project that match its pattern.
    pub(super) fn expand_pattern(&mut self, folder: &Path, word: &str) -> Vec<PathBuf> {
        if !self.budget.take_entry() || word.contains('\0') {
            return Vec::new();
        }
        let mut paths = BTreeSet::from([folder.to_owned()]);
        for part in Path::new(word).components() {
            let pattern = part.as_os_str().to_string_lossy();
            let mut next = BTreeSet::new();
            for path in paths {
                match part {
                    Component::CurDir => _ = next.insert(path),
                    // Taken together with what stands before it: each folder is listed once.
                    Component::ParentDir => _ = next.insert(path.parent().unwrap_or(&path).to_owned()),
                    Component::Normal(_) if is_glob(&pattern) => {
                        next.extend(
                            self.entries(&path)
                                .into_iter()
                                .filter(|(name, _)| matches_glob(&pattern, name))
                                .map(|(name, _)| path.join(name)),
                        );
                    }
                    part => _ = next.insert(path.join(part)),
                }
            }
            paths = next;
        }
        paths.into_iter().collect()
    }

    /// The names in a folder of the project, each with whether it is a folder itself.
    pub(super) fn entries(&mut self, folder: &Path) -> Vec<(String, bool)> {
        let mut found = Vec::new();
        if !self.project.holds(folder) {
            return found;
        }
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            if !self.budget.take_entry() {
                break;
            }
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            found.push((entry.file_name().to_string_lossy().into_owned(), is_folder));
        }
        found.sort_unstable();
        found
    }

    /// The files that `find` prints, as far as its folders and the names say it.
    pub(super) fn find_files(&mut self, folder: &Path, arguments: &[&str]) -> Vec<PathBuf> {
        let arguments: Vec<&str> =
            arguments.iter().skip_while(|word| matches!(**word, "-L" | "-H" | "-P")).copied().collect();
        let behind = |option: &str| {
            let at = arguments.iter().position(|word| *word == option)?;
            arguments.get(at + 1).copied()
        };
        let starts: Vec<&str> =
            arguments.iter().take_while(|word| !word.starts_with(['-', '(', '!'])).copied().collect();
        let starts = if starts.is_empty() { vec!["."] } else { starts };
        let names: Vec<&str> = arguments
            .windows(2)
            .filter_map(|pair| if let ["-name" | "-iname", name] = pair { Some(*name) } else { None })
            .collect();
        let depth = behind("-maxdepth").and_then(|depth| depth.parse().ok()).unwrap_or(usize::MAX);
        let mut found = Vec::new();
        for start in starts {
            let mut left: Vec<(PathBuf, usize)> =
                self.expand_pattern(folder, start).into_iter().map(|path| (path, 0)).collect();
            while let Some((path, level)) = left.pop() {
                if path.is_file() {
                    found.push(path);
                    continue;
                }
                for (name, is_folder) in self.entries(&path) {
                    let entry = path.join(&name);
                    if is_folder && level + 1 < depth && name != ".git" {
                        left.push((entry, level + 1));
                    } else if !is_folder
                        && (names.is_empty() || names.iter().any(|pattern| matches_glob(pattern, &name)))
                    {
                        found.push(entry);
                    }
                }
            }
        }
        found
    }

    /// What `find` runs.
    pub(super) fn read_find(&mut self, call: &ProgramCall) {
        let is_run = |word: &&str| matches!(*word, "-exec" | "-execdir" | "-ok" | "-okdir");
        for (at, _) in call.arguments.iter().enumerate().filter(|(_, word)| is_run(word)) {
            let behind = call.arguments.get(at + 1..).unwrap_or_default();
            let words: Vec<&str> = behind.iter().take_while(|word| !matches!(**word, ";" | "+")).copied().collect();
            let Some((program, own)) = words.split_first() else { continue };
            if *program == "{}" || is_script_run(program, own) {
                for file in self.find_files(call.folder, &call.arguments) {
                    self.pin_named(&file, call.state);
                }
            }
            let arguments: Vec<&str> = own.iter().filter(|word| **word != "{}").copied().collect();
            if *program != "{}" && call.wrappers == 0 && self.budget.take_command() {
                self.read_call(&ProgramCall { program, arguments, wrappers: 1, ..call.clone() });
            }
        }
    }

    /// The files that an interpreter is given to run.
    pub(super) fn interpreted_scripts(&mut self, name: &str, own: &[&str], folder: &Path) -> Vec<PathBuf> {
        let words: Vec<&str> = own.iter().filter(|word| !word.starts_with('-')).take(MAX_WORDS).copied().collect();
        if name == "go" && own.first() == Some(&"run") {
            let Some(word) = words.get(1) else { return Vec::new() };
            let path = folder.join(word.trim_end_matches("/..."));
            return if path.is_dir() { self.expand_pattern(&path, "*.go") } else { vec![path] };
        }
        // With these it is given code, a module, or files of tests. What stands behind the script is for that.
        let is_given_else =
            |word: &&str| matches!(*word, "-e" | "--eval" | "-p" | "--print" | "--test") || is_line_option(word);
        let options =
            own.iter().take(MAX_WORDS).take_while(|word| word.starts_with('-') || !folder.join(word).is_file());
        let runs_tests = matches!(name, "deno" | "bun") && own.first() == Some(&"test");
        if runs_tests
            || is_syntax_check(name, own)
            || !(steering::is_interpreter(name) || steering::is_sourcing_command(name))
            || options.copied().any(|word| is_given_else(&word))
            || python_module(own).is_some_and(|_| steering::is_python(name))
        {
            return Vec::new();
        }
        if name == "java" {
            // What has another ending is a class that was compiled.
            return words
                .iter()
                .map(|word| folder.join(word))
                .filter(|path| path.extension().is_some_and(|ending| ending == "java"))
                .take(1)
                .collect();
        }
        for word in &words {
            let mut paths = self.expand_pattern(folder, word);
            paths.retain(|path| path.is_file() || (path.extension().is_some() && !is_glob(word)));
            if !paths.is_empty() {
                return paths;
            }
        }
        for word in &words {
            if let Some(inside) = self.script_inside(&folder.join(word)) {
                return vec![inside];
            }
        }
        // Deno and Bun have words of their own before it.
        let first = words.first().filter(|word| !matches!(name, "deno" | "bun") && !is_glob(word));
        first.map(|word| folder.join(word)).into_iter().collect()
    }

    /// The script that is meant by its name without the ending, or by its folder.
    fn script_inside(&mut self, path: &Path) -> Option<PathBuf> {
        let main = self.package(path).and_then(|package| package.main.clone()).map(|main| path.join(main));
        let mains = main.into_iter().flat_map(|main| [main.clone(), main.with_extension("js"), main.join("index.js")]);
        let endings = ["js", "cjs", "mjs", "ts"].map(|ending| path.with_extension(ending));
        let inside = ["__main__.py", "index.js", "index.mjs", "index.cjs"].map(|file| path.join(file));
        mains.chain(endings).chain(inside).find(|file| file.is_file())
    }
}
