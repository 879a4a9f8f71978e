//! Files that become pins.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf, is_separator};

use omo_core::check::command_line::program_name;
use omo_core::text::glob::is_glob;
use omo_state::seal::hex_digest;

use super::{CommandReading, ProgramCall};
use crate::pinned_files::executed_scripts::{is_binary, is_script_name};
use crate::pinned_files::shell_state::ShellState;
use crate::pinned_files::{ABSENT, UNBOUNDED, UNREADABLE, digest_of_file, file_parts};
use omo_git::work_files::BUILD_FOLDERS;

/// So many files are pinned one by one; all others are one pin.
const MAX_FILES: usize = 32;
/// The files behind so many count as ones that cannot be read.
const MAX_HASHED: usize = 1024;

impl CommandReading<'_> {
    /// The files, each with its digest; those behind the first ones as one.
    pub(crate) fn pins(mut self) -> BTreeMap<String, String> {
        for (name, scripts) in std::mem::take(&mut self.scripts) {
            let text = serde_json::to_vec(&scripts).unwrap_or_default();
            self.pins.entry(name).or_insert_with(|| hex_digest(&text));
        }
        if let Some(first) = self.pins.keys().nth(MAX_FILES).cloned() {
            let rest = self.pins.split_off(&first);
            let lines: Vec<String> = rest.iter().map(|(name, digest)| format!("{digest} {name}\n")).collect();
            let is_whole = !rest.values().any(|digest| digest == UNREADABLE);
            let digest = if is_whole { hex_digest(lines.concat().as_bytes()) } else { UNREADABLE.to_owned() };
            self.pins.insert(format!("{first} and the {} files behind it", rest.len() - 1), digest);
        }
        if self.budget.is_spent() {
            self.pins.insert(UNBOUNDED.to_owned(), UNREADABLE.to_owned());
        }
        self.pins
    }

    /// Files that would steer its tools, such as a `GNUmakefile` beside a `Makefile`.
    pub(crate) fn absent_task_files(&self) -> Vec<String> {
        let absent = self.task_files.iter().filter(|path| !path.exists());
        absent.filter_map(|path| self.project.name(path)).collect()
    }

    /// The file of a program that is called by its name.
    pub(super) fn find_program(&mut self, program: &str) -> Option<PathBuf> {
        if let Some(found) = self.programs.get(program) {
            return found.clone();
        }
        let found = self.search.find(program);
        self.programs.insert(program.to_owned(), found.clone());
        found
    }

    /// The file of a program.
    pub(super) fn pin_program(&mut self, call: &ProgramCall) {
        let program = call.program;
        if program.contains(is_separator) {
            for path in self.expand_pattern(call.folder, program) {
                self.pin_named(&path, call.state);
            }
            return;
        }
        let found = self.find_program(program);
        if call.state.is_script {
            self.pin_installed(call.folder, program, found.is_some());
        }
        // Whatever links lead to it.
        if let Some(found) = found {
            self.pin_file(&found);
        }
        // A path that the line itself sets comes before the others.
        let own = call.assigned.iter().find(|it| it.name == "PATH").map(|it| &*it.value);
        let folders = own.or_else(|| call.state.value("PATH")).unwrap_or_default();
        for folder in folders.split(':').filter(|folder| !folder.is_empty() && !folder.contains('$')) {
            self.pin_file(&call.folder.join(folder).join(program));
        }
    }

    /// A program that is called by its name, where the folders of what was installed for the project have one. Where
    /// nothing else has that name, it may be installed later.
    pub(super) fn pin_installed(&mut self, folder: &Path, program: &str, is_elsewhere: bool) {
        let folders = folder.ancestors().take_while(|folder| folder.starts_with(self.project.root));
        let files: Vec<PathBuf> = folders.map(|folder| folder.join("node_modules/.bin").join(program)).collect();
        match files.iter().find(|file| file.is_file()) {
            Some(file) => self.pin_file(file),
            None if is_elsewhere || program.is_empty() => {}
            None => {
                let names = files.first().and_then(|file| self.project.name(file));
                self.pins.extend(names.map(|name| (name, ABSENT.to_owned())));
            }
        }
    }

    /// A word that may be a file, or a pattern of files: those that are accepted. One that is not there yet and looks
    /// like a script is noted.
    pub(super) fn pin_argument(
        &mut self,
        folder: &Path,
        word: &str,
        state: &ShellState,
        is_accepted: impl Fn(&Path) -> bool,
    ) {
        for path in self.expand_pattern(folder, word) {
            let may_come = || {
                let is_called = word.starts_with("./") || is_script_name(&path);
                is_called && !word.contains(char::is_whitespace)
            };
            let is_meant = if path.is_file() { is_accepted(&path) } else { may_come() };
            if is_meant {
                self.pin_named(&path, state);
            }
        }
    }

    /// The files that a command names to one that runs them.
    pub(super) fn pin_named_files(&mut self, folder: &Path, program: &str, arguments: &[&str], state: &ShellState) {
        if program_name(program) == "find" {
            for file in self.find_files(folder, arguments) {
                self.pin_named(&file, state);
            }
        }
        for word in arguments {
            self.pin_argument(folder, word, state, |_| true);
            if program_name(program) == "ls" && folder.join(word).is_dir() {
                self.pin_argument(folder, &format!("{word}/*"), state, |_| true);
            }
        }
    }

    /// A file that steers a tool, or the parts of it that do.
    pub(super) fn pin_task_file(&mut self, folder: &Path, file: &str, state: &ShellState) {
        let path = folder.join(file);
        let is_made = state.made.task_files && self.is_built(&path);
        if is_made || !self.task_files.insert(path.clone()) || !path.is_file() {
            return;
        }
        let Some(name) = self.project.name(&path) else { return };
        let Some(parts) = file_parts::steering_parts(file) else { return self.pin_file(&path) };
        // Only what steers a run: a new dependency is no change of the check.
        let Some(bytes) = self.budget.read(&path) else { return };
        let text = String::from_utf8_lossy(&bytes);
        for part in parts {
            // One that cannot be read as that is pinned whole.
            let content = part.extract(&text).unwrap_or_else(|| Some(text.clone().into_owned()));
            if let Some(content) = content {
                self.pins.insert(format!("{name} ({})", part.word()), hex_digest(content.as_bytes()));
            }
        }
    }

    /// A file that the command names, where it is not one that is made anew all the time.
    pub(super) fn pin_named(&mut self, path: &Path, state: &ShellState) {
        // What a command before it may have built is another program each time; a script is written by hand.
        if self.is_built(path) || (state.made.programs && is_binary(path)) {
            return;
        }
        if path.is_file() {
            self.pin_file(path);
        } else if !path.exists()
            && let Some(name) = self.project.name(path)
            && !name.contains('$')
            && !is_glob(&name)
        {
            self.pins.insert(name, ABSENT.to_owned());
        }
    }

    fn is_built(&self, path: &Path) -> bool {
        let name = self.project.name(path).unwrap_or_default();
        name.split('/').any(|part| BUILD_FOLDERS.contains(&part))
    }

    pub(super) fn pin_file(&mut self, path: &Path) {
        if path.is_file()
            && let Some(name) = self.project.name(path)
            && self.pins.get(&name).is_none_or(|digest| digest == ABSENT)
        {
            let is_within = self.pins.len() < MAX_HASHED && self.budget.take_pinned(path);
            let digest = Some(path).filter(|_| is_within).and_then(digest_of_file);
            self.pins.insert(name, digest.unwrap_or_else(|| UNREADABLE.to_owned()));
        }
    }
}
