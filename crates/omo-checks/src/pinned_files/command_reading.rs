//! What a command runs of the project: its programs and scripts, and the files that steer its tools.
//!
//! What a program is given is pinned as well where it may run it, and where it is not known what it
//! does with it. A program that only reads files, and a runner of tests, is not held to them: to
//! write those is the work.

mod matched_files;
mod packages;
mod pinning;
mod python;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf, is_separator};

use omo_core::check::command_line::{
    Assignment, ShellCommand, is_reader, is_syntax_check, is_wrapper, program_name, split_commands,
};
use omo_core::check::test_runner::test_commands::names_test_runner;
use omo_state::seal::hex_digest;
use omo_state::search_path::SearchPath;

use self::packages::Package;
use super::budget::{Budget, MAX_LINE_BYTES};
use super::executed_scripts::{commands_feeding_others, folder_of, is_runnable, runs_what_it_is_sent};
use super::project::Project;
use super::shell_state::ShellState;
use super::steering;

/// Lines that run lines, such as scripts of `package.json`, are followed so deep.
const MAX_DEPTH: usize = 32;
/// And programs that run the program that they are given.
const MAX_WRAPPERS: usize = 16;
/// So many words behind a tool among the words of another program are read as what it is given.
const MAX_WORDS: usize = 256;

/// What has been read of a command.
pub(super) struct CommandReading<'a> {
    project: Project<'a>,
    search: &'a SearchPath,
    budget: Budget,
    pins: BTreeMap<String, String>,
    /// The scripts that are reached, of each `package.json`.
    scripts: BTreeMap<String, BTreeMap<String, String>>,
    packages: BTreeMap<PathBuf, Option<std::rc::Rc<Package>>>,
    /// Where programs were found that are called by their name.
    programs: BTreeMap<String, Option<PathBuf>>,
    /// The digests of the lines that were read, each with the folders that it runs in and with whether it is a script of
    /// `package.json`.
    lines: BTreeSet<(Vec<PathBuf>, bool, String)>,
    /// The folders that were searched for modules of Python.
    python_folders: BTreeSet<PathBuf>,
    task_files: BTreeSet<PathBuf>,
    /// It runs tests with a runner whose count is known.
    pub(super) runs_tests: bool,
}

/// A program that a line runs, and where.
#[derive(Clone)]
struct ProgramCall<'c> {
    program: &'c str,
    arguments: Vec<&'c str>,
    assigned: Vec<Assignment>,
    folder: &'c Path,
    state: &'c ShellState,
    /// So many programs run this one.
    wrappers: usize,
}

impl<'a> CommandReading<'a> {
    /// Reads the command of a check that runs in a folder, with variables of its own.
    pub(super) fn of(
        run: &str,
        folder: &Path,
        variables: &BTreeMap<String, String>,
        project: Project<'a>,
        search: &'a SearchPath,
    ) -> Self {
        let mut reading = Self {
            project,
            search,
            budget: Budget::default(),
            pins: BTreeMap::new(),
            scripts: BTreeMap::new(),
            packages: BTreeMap::new(),
            programs: BTreeMap::new(),
            lines: BTreeSet::new(),
            python_folders: BTreeSet::new(),
            task_files: BTreeSet::new(),
            runs_tests: false,
        };
        let state = ShellState::new(folder.to_owned(), variables);
        let assigned = variables.iter().map(|(name, value)| Assignment { name: name.clone(), value: value.clone() });
        for it in assigned {
            reading.pin_assigned(&it, folder, &state);
        }
        reading.read_line(run, state);
        reading
    }

    fn read_line(&mut self, line: &str, mut state: ShellState) {
        if line.len() > MAX_LINE_BYTES {
            self.budget.overrun();
        }
        let is_new = self.lines.insert((state.folders.clone(), state.is_script, hex_digest(line.as_bytes())));
        if state.depth > MAX_DEPTH || !is_new || !self.budget.take_command() {
            return;
        }
        let commands = split_commands(line);
        let fed = commands_feeding_others(&commands);
        let mut outer: Vec<(usize, ShellState)> = Vec::new();
        for (at, command) in commands.iter().enumerate() {
            // What a subshell changed ends with it.
            let same = outer.iter().zip(&command.subshells).take_while(|((id, _), now)| id == *now).count();
            if let Some((_, before)) = outer.drain(same..).next() {
                state = before.keep_built(&state);
            }
            outer.extend(command.subshells.iter().skip(same).map(|id| (*id, state.clone())));
            let folders = state.folders.clone();
            for folder in &folders {
                for command in state.expand(command, folder, &self.project) {
                    if !self.budget.take_command() {
                        return;
                    }
                    self.read_expanded(&command, folder, &state, fed.contains(&at));
                }
            }
            if let (Some(("for" | "select", [name, ..])), true) = (command.program(), command.substituted > 0) {
                self.set_printed(name, commands.get(at - command.substituted..at), &mut state);
            } else if let Some(folder) = folders.first() {
                state.follow(&state.expand(command, folder, &self.project), &self.project);
            }
            state.note_made(command);
        }
    }

    /// A loop over what commands print: over the files that they name.
    fn set_printed(&mut self, name: &str, printing: Option<&[ShellCommand]>, state: &mut ShellState) {
        let mut values = Vec::new();
        for command in printing.unwrap_or_default() {
            let Some((program, arguments)) = command.program() else { continue };
            for folder in &state.folders {
                let is_folder = |word: &str| program_name(program) == "ls" && folder.join(word).is_dir();
                match program_name(program) {
                    "find" => {
                        let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
                        let files = self.find_files(folder, &arguments);
                        values.extend(files.iter().map(|file| file.to_string_lossy().into_owned()));
                    }
                    _ => values.extend(
                        arguments
                            .iter()
                            .filter(|word| !word.starts_with('-'))
                            .map(|word| if is_folder(word) { format!("{word}/*") } else { word.clone() }),
                    ),
                }
            }
        }
        state.set(name, values);
    }

    /// Reads a command whose variables are known.
    fn read_expanded(&mut self, command: &ShellCommand, folder: &Path, state: &ShellState, is_fed: bool) {
        self.runs_tests |= names_test_runner(command);
        for it in &command.assigned {
            self.pin_assigned(it, folder, state);
        }
        let reads_input = is_fed || runs_what_it_is_sent(command);
        for file in &command.inputs {
            self.pin_argument(folder, file, state, |path| reads_input || is_runnable(path));
        }
        if let Some((program, arguments)) =
            command.program().filter(|(program, _)| !matches!(*program, "for" | "select"))
        {
            let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
            if is_fed {
                self.pin_named_files(folder, program, &arguments, state);
            }
            let assigned = command.assigned.clone();
            self.read_call(&ProgramCall { program, arguments, assigned, folder, state, wrappers: 0 });
        }
        for line in command.inner_lines() {
            self.read_line(&line, state.of_inner_line(folder));
        }
    }

    /// What a variable makes a program run.
    fn pin_assigned(&mut self, it: &Assignment, folder: &Path, state: &ShellState) {
        let words: Vec<&str> = it.value.split_whitespace().collect();
        if let Some(tool) = steering::tool_of_options(&it.name) {
            for value in steering::steering_options(tool, &words) {
                self.pin_argument(folder, value, state, |_| true);
                self.pin_plugin(tool, value, folder);
            }
        } else if steering::names_scripts(&it.name) {
            for word in words {
                self.pin_argument(folder, word, state, |_| true);
            }
        } else {
            self.pin_argument(folder, &it.value, state, is_runnable);
        }
    }

    fn read_call(&mut self, call: &ProgramCall) {
        let (name, arguments) = (program_name(call.program), &call.arguments);
        self.pin_program(call);
        if is_wrapper(name, arguments) && call.wrappers < MAX_WRAPPERS && self.read_wrapped(call) {
            return;
        }
        if name == "find" {
            return self.read_find(call);
        }
        if is_syntax_check(name, arguments) {
            return;
        }
        let below = folder_of(name, call.folder, arguments);
        for file in steering::steering_options(name, arguments) {
            self.pin_argument(call.folder, file, call.state, |_| true);
            self.pin_argument(&below, file, call.state, |_| true);
            self.pin_plugin(name, file, call.folder);
        }
        if is_reader(name) {
            return;
        }
        self.read_tool(name, arguments, call, &below);
        if name == "run-parts" {
            for folder in arguments.iter().filter(|word| !word.starts_with('-')) {
                self.pin_argument(call.folder, &format!("{folder}/*"), call.state, |_| true);
            }
        }
        let is_known =
            steering::is_interpreter(name) || steering::is_tool(name) || steering::is_sourcing_command(call.program);
        let is_another =
            |word: &&str| steering::is_interpreter(program_name(word)) || steering::is_tool(program_name(word));
        for (at, word) in arguments.iter().enumerate().filter(|(_, word)| is_another(word)) {
            if !self.budget.take_command() {
                return;
            }
            let behind = arguments.get(at + 1..).unwrap_or_default();
            let behind = behind.get(..MAX_WORDS).unwrap_or(behind);
            if !word.contains(is_separator) {
                let state = call.state.with_script(false);
                self.pin_program(&ProgramCall { program: word, state: &state, ..call.clone() });
            }
            for file in steering::steering_options(program_name(word), behind) {
                self.pin_argument(call.folder, file, call.state, |_| true);
                self.pin_plugin(program_name(word), file, call.folder);
            }
            if !is_syntax_check(program_name(word), behind) {
                self.read_tool(program_name(word), behind, call, &below);
            }
        }
        // A program of the project says by itself what it does with what it is given.
        let is_unknown = !is_known && !call.program.contains(is_separator);
        // What stands behind a tool or an interpreter is for that one.
        for word in arguments.iter().take_while(|word| is_unknown && !is_another(word)) {
            self.pin_argument(call.folder, word.rsplit('=').next().unwrap_or(word), call.state, is_runnable);
        }
    }

    /// The command among the words of a program that runs it, where there is one.
    fn read_wrapped(&mut self, call: &ProgramCall) -> bool {
        let name = program_name(call.program);
        let mut assigned = call.assigned.clone();
        // What is installed for the project is run by its bare name.
        let is_installed = matches!(name, "npx" | "bunx" | "pnpx" | "npm" | "pnpm" | "yarn" | "bun");
        let verbs = usize::from(
            !steering::steering_files(name).is_empty() || matches!(name, "uv" | "poetry" | "bundle" | "pipenv"),
        );
        let mut verbs = if matches!(name, "npx" | "bunx" | "pnpx") { 0 } else { verbs };
        for (at, word) in call.arguments.iter().enumerate() {
            if let Some(it) = Assignment::parse(word) {
                self.pin_assigned(&it, call.folder, call.state);
                assigned.push(it);
                continue;
            }
            let is_value = at.checked_sub(1).and_then(|before| call.arguments.get(before)).is_some_and(|before| {
                matches!(*before, "-p" | "--package" | "-C" | "--prefix" | "--dir" | "--cwd" | "-n" | "--with")
            });
            if word.starts_with('-') || word.contains(char::is_whitespace) || (is_value && is_installed) {
                continue;
            }
            if verbs > 0 {
                verbs -= 1;
                continue;
            }
            let bare = program_name(word);
            let is_program = steering::is_interpreter(bare)
                || steering::is_tool(bare)
                || is_wrapper(bare, call.arguments.get(at + 1..).unwrap_or_default())
                || if word.contains(is_separator) {
                    let path = call.folder.join(word);
                    word.starts_with("./") || (path.is_file() && self.project.name(&path).is_some())
                } else {
                    is_installed || is_reader(bare) || self.find_program(word).is_some()
                };
            if is_program {
                let state = call.state.with_script(call.state.is_script || is_installed);
                let arguments = call.arguments.get(at + 1..).unwrap_or_default().to_vec();
                if !steering::steering_files(name).is_empty() {
                    let below = folder_of(name, call.folder, &call.arguments);
                    self.pin_task_files(name, &below, call.state);
                    self.note_package(name, &below);
                }
                let (wrappers, folder) = (call.wrappers + 1, call.folder);
                self.read_call(&ProgramCall { program: word, arguments, assigned, folder, state: &state, wrappers });
                return true;
            }
        }
        false
    }

    /// What a tool or an interpreter runs, and what steers it.
    fn read_tool(&mut self, name: &str, own: &[&str], call: &ProgramCall, below: &Path) {
        if let ("coverage", Some((&"run", own))) = (name, own.split_first()) {
            self.read_tool("python", own, call, below);
        }
        let scripts = self.interpreted_scripts(name, own, call.folder);
        for script in &scripts {
            self.pin_named(script, call.state);
        }
        if steering::is_python(name) {
            self.read_python(name, own, call, below, &scripts);
        }
        self.pin_task_files(name, below, call.state);
        if let ("cargo", Some(&"make")) = (name, own.first()) {
            self.pin_task_files("cargo-make", below, call.state);
        }
        self.read_packages(name, own, call, below);
    }

    fn pin_task_files(&mut self, name: &str, below: &Path, state: &ShellState) {
        for file in steering::steering_files(name) {
            self.pin_task_file(below, file, state);
            if steering::is_looked_for_above(name, file) {
                self.pin_task_file(self.project.root.to_owned().as_path(), file, state);
            }
        }
    }
}
