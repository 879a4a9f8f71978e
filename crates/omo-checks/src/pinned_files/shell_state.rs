//! What a shell remembers from one command of a line to the next: the folder that it is in, and its variables.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use omo_core::check::command_line::{
    Assignment, ShellCommand, TOP_LEVEL, expand_variables, is_builder, is_wrapper, program_name, variables_in,
};

use super::project::Project;

/// More variables, longer ones, and more folders that are gone back to, are not remembered.
const MAX_VARIABLES: usize = 64;
const MAX_VALUE_BYTES: usize = 16 * 1024;
const MAX_STACK: usize = 16;
/// A wrapper has few words before the program that it runs.
const MAX_WRAPPER_WORDS: usize = 8;
/// In so many folders a command may be.
const MAX_FOLDERS: usize = 64;
/// A command that stands for more is one that is not read to its end.
const MAX_VARIANTS: usize = 5_000;

/// The state of a shell within a line.
#[derive(Clone)]
pub(super) struct ShellState {
    /// Where it is; more than one where that cannot be told.
    pub(super) folders: Vec<PathBuf>,
    previous: Vec<PathBuf>,
    stack: Vec<Vec<PathBuf>>,
    /// Each with the values that it may have.
    variables: Rc<BTreeMap<String, Vec<String>>>,
    /// What the commands before may have made.
    pub(super) made: Made,
    /// It is a script of `package.json`, for which programs may have been installed.
    pub(super) is_script: bool,
    /// So many lines run this one.
    pub(super) depth: usize,
}

/// What commands may have made.
#[derive(Clone, Copy, Default)]
pub(super) struct Made {
    pub(super) programs: bool,
    /// The files that steer a build.
    pub(super) task_files: bool,
    folders: bool,
}

impl ShellState {
    pub(super) fn new(folder: PathBuf, variables: &BTreeMap<String, String>) -> Self {
        let mut state = Self {
            previous: vec![folder.clone()],
            folders: vec![folder],
            stack: Vec::new(),
            variables: Rc::default(),
            made: Made::default(),
            is_script: false,
            depth: 0,
        };
        for (name, value) in variables {
            state.set(name, vec![value.clone()]);
        }
        state
    }

    /// That of a line within the line.
    pub(super) fn of_inner_line(&self, folder: &Path) -> Self {
        let folders = vec![folder.to_owned()];
        Self { depth: self.depth + 1, previous: folders.clone(), folders, stack: Vec::new(), ..self.clone() }
    }

    /// The same, where the programs that are called by their names may have been installed for the project.
    pub(super) fn with_script(&self, is_script: bool) -> Self {
        Self { is_script, ..self.clone() }
    }

    pub(super) fn set(&mut self, name: &str, values: Vec<String>) {
        let is_small = values.iter().map(|value| value.len() + 1).sum::<usize>() <= MAX_VALUE_BYTES;
        if is_small && (self.variables.len() < MAX_VARIABLES || self.variables.contains_key(name)) {
            Rc::make_mut(&mut self.variables).insert(name.to_owned(), values);
        }
    }

    /// The value of a variable that has one.
    pub(super) fn value(&self, name: &str) -> Option<&str> {
        self.variables.get(name)?.first().map(String::as_str)
    }

    /// A command with what its variables hold: once for each value of those that have several.
    pub(super) fn expand(&self, command: &ShellCommand, folder: &Path, project: &Project) -> Vec<ShellCommand> {
        let words = command.words.iter().chain(&command.inputs).flat_map(|word| variables_in(word));
        let values = |name: &str| self.variables.get(name).filter(|values| values.len() > 1);
        let names: BTreeSet<&str> = words.filter(|name| values(name).is_some()).collect();
        let mut chosen: Vec<BTreeMap<&str, &str>> = vec![BTreeMap::new()];
        for name in names {
            let all = values(name).map(Vec::as_slice).unwrap_or_default();
            let with = |old: &BTreeMap<_, _>, value| {
                old.iter().map(|(name, value)| (*name, *value)).chain([(name, value)]).collect()
            };
            let variants = chosen.iter().flat_map(|old| all.iter().map(move |value| with(old, value.as_str())));
            chosen = variants.take(MAX_VARIANTS).collect();
        }
        chosen.iter().map(|chosen| self.expand_words(command, folder, project, chosen)).collect()
    }

    /// The state that was before a subshell, with what was made in it.
    pub(super) fn keep_built(self, ended: &Self) -> Self {
        Self { made: ended.made, ..self }
    }

    fn expand_words(
        &self,
        command: &ShellCommand,
        folder: &Path,
        project: &Project,
        chosen: &BTreeMap<&str, &str>,
    ) -> ShellCommand {
        let text = |path: &Path| Some(path.to_string_lossy().into_owned());
        let value_of = |name: &str| match name {
            "~" | "HOME" => self.value("HOME").map(str::to_owned).or_else(|| text(project.home.as_deref()?)),
            "PWD" => text(folder),
            "OLDPWD" => text(self.previous.first()?),
            TOP_LEVEL => text(&project.top_level(folder)),
            name => chosen.get(name).copied().or_else(|| self.value(name)).map(str::to_owned),
        };
        let all = |words: &[String]| words.iter().map(|word| expand_variables(word, &value_of)).collect();
        let assigned = command
            .assigned
            .iter()
            .map(|it| Assignment { name: it.name.clone(), value: expand_variables(&it.value, &value_of) });
        ShellCommand {
            assigned: assigned.collect(),
            words: all(&command.words),
            inputs: all(&command.inputs),
            subshells: Vec::new(),
            ..*command
        }
    }

    /// What a command changes for those behind it, each of its variants leading to a folder of its own.
    pub(super) fn follow(&mut self, variants: &[ShellCommand], project: &Project) {
        let Some((first, others)) = variants.split_first() else { return };
        let before = self.clone();
        self.follow_one(first, project);
        let changes_folder = first.program().is_some_and(|(program, _)| matches!(program, "cd" | "pushd"));
        for other in others.iter().filter(|_| changes_folder).take(MAX_FOLDERS) {
            let mut state = before.clone();
            state.follow_one(other, project);
            self.folders.extend(state.folders);
        }
        self.folders.dedup();
        self.folders.truncate(MAX_FOLDERS);
    }

    fn follow_one(&mut self, command: &ShellCommand, project: &Project) {
        if command.words.is_empty() {
            for it in &command.assigned {
                self.set(&it.name, vec![it.value.clone()]);
            }
        }
        let Some((program, arguments)) = command.program() else { return };
        let first = arguments.iter().find(|word| *word == "-" || !word.starts_with(['-', '+']));
        match program {
            "export" | "readonly" | "declare" | "typeset" | "local" => {
                for it in arguments.iter().filter_map(|word| Assignment::parse(word)) {
                    self.set(&it.name, vec![it.value]);
                }
            }
            "for" | "select" => {
                if let Some((name, values)) = arguments.split_first() {
                    self.set(name, values.iter().skip(1).cloned().collect());
                }
            }
            "cd" if first.is_some_and(|to| to == "-") => std::mem::swap(&mut self.folders, &mut self.previous),
            "cd" | "pushd" => {
                let before = self.folders.clone();
                let home = project.home.as_deref().map(|home| home.to_string_lossy().into_owned());
                if let Some(to) = first.or(home.as_ref()) {
                    self.change_to(to, project);
                }
                if program == "pushd" && self.stack.len() < MAX_STACK {
                    self.stack.push(before.clone());
                }
                self.previous = before;
            }
            "popd" => {
                if let Some(folders) = self.stack.pop() {
                    self.previous = std::mem::replace(&mut self.folders, folders);
                }
            }
            "mkdir" => self.made.folders = true,
            _ => {}
        }
    }

    /// What a command may make.
    pub(super) fn note_made(&mut self, command: &ShellCommand) {
        let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
        let Some((program, arguments)) = words.split_first() else { return };
        let reach = if is_wrapper(program_name(program), arguments) { MAX_WRAPPER_WORDS } else { 1 };
        for (at, word) in words.iter().enumerate().take(reach) {
            let name = program_name(word);
            self.made.programs |= is_builder(name, words.get(at + 1..).unwrap_or_default());
            self.made.task_files |= matches!(name, "cmake" | "meson" | "configure" | "qmake" | "gn" | "autogen.sh");
        }
    }

    fn change_to(&mut self, to: &str, project: &Project) {
        let folders: Vec<PathBuf> = self.folders.iter().map(|folder| project.resolve(&folder.join(to))).collect();
        let are_there: Vec<PathBuf> = folders.iter().filter(|folder| folder.is_dir()).cloned().collect();
        let is_known = !are_there.is_empty();
        self.folders = if is_known { are_there } else { folders };
        // What cannot be told may be the top, unless the folder is made on the way.
        if !is_known && !self.made.folders && !self.made.task_files {
            self.folders.push(project.root.to_owned());
        }
    }
}
