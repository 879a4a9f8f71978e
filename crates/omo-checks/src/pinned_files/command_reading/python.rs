//! What Python loads before it comes to the tests.

use std::path::{Path, PathBuf};

use omo_core::check::steering::shadows_python;
use omo_core::check::test_runner::test_commands::python_module;
use omo_state::seal::hex_digest;

use super::{CommandReading, ProgramCall};
use crate::pinned_files::file_parts::SteeringPart;
use crate::pinned_files::python_modules::is_installed_module;

impl CommandReading<'_> {
    /// What a run of Python loads from the folders that it looks for modules in: its working folder, the one of its
    /// script, and those of `PYTHONPATH`.
    pub(super) fn read_python(
        &mut self,
        name: &str,
        own: &[&str],
        call: &ProgramCall,
        below: &Path,
        scripts: &[PathBuf],
    ) {
        let assigned = call.assigned.iter().rev().find(|it| it.name == "PYTHONPATH").map(|it| &*it.value);
        let path = assigned.or_else(|| call.state.value("PYTHONPATH")).unwrap_or_default();
        let mut folders = vec![below.to_owned()];
        let named = path.split([':', ';']).filter(|folder| !folder.is_empty() && !folder.contains('$'));
        folders.extend(named.map(|folder| call.folder.join(folder)));
        if let Some(module) = python_module(own) {
            let is_there = |folder: &PathBuf| module_files(folder, module).iter().any(|file| file.is_file());
            let is_found = folders.iter().any(is_there);
            for folder in &folders {
                self.pin_module(folder, module, call, is_found || folder != below);
            }
        }
        folders.extend(scripts.iter().filter_map(|script| Some(script.parent()?.to_owned())));
        let runs_pytest = matches!(name, "pytest" | "py.test") || python_module(own) == Some("pytest");
        for folder in folders {
            self.pin_shadows(&folder, runs_pytest);
        }
    }

    /// A plugin that an option of pytest names by its module.
    pub(super) fn pin_plugin(&mut self, tool: &str, name: &str, folder: &Path) {
        if matches!(tool, "pytest" | "py.test" | "python") && !name.contains(['/', ':']) {
            for file in module_files(folder, name) {
                self.pin_file(&file);
            }
        }
    }

    /// The module that Python is asked to run. One of those that are installed is held to there being none in its
    /// place; any other that is not there may be written later.
    fn pin_module(&mut self, folder: &Path, module: &str, call: &ProgramCall, is_elsewhere: bool) {
        let files = module_files(folder, module);
        let is_there = files.iter().any(|file| file.is_file());
        let first = module.split('.').next().unwrap_or(module);
        let may_come = !is_there && !is_elsewhere && !is_installed_module(first);
        for file in files.iter().filter(|file| file.is_file() || may_come) {
            self.pin_named(file, call.state);
        }
        // A module comes before a folder of its name that holds others, and each folder on the way is loaded first.
        let mut path = folder.to_owned();
        let is_own = is_there && !is_installed_module(first);
        for part in module.split('.') {
            path.push(part);
            if first != module || is_own {
                self.pin_file(&path.with_extension("py"));
            }
            if is_own {
                self.pin_file(&path.join("__init__.py"));
            }
        }
    }

    /// The modules of a folder that Python would load in the place of the runner's own, and the plugins of pytest that
    /// it says are installed there.
    fn pin_shadows(&mut self, folder: &Path, runs_pytest: bool) {
        if !self.python_folders.insert(folder.join(if runs_pytest { "pytest" } else { "" })) {
            return;
        }
        for (name, _) in self.entries(folder) {
            let entry = folder.join(&name);
            if runs_pytest && (name.ends_with(".egg-info") || name.ends_with(".dist-info")) {
                self.pin_entry_points(&entry.join("entry_points.txt"));
            }
            if !shadows_python(&name) {
                continue;
            }
            if entry.is_dir() {
                // Without one of these it is no module that comes before another.
                for file in ["__init__.py", "__init__.pyc", "__main__.py"] {
                    self.pin_file(&entry.join(file));
                }
            } else {
                self.pin_file(&entry);
            }
        }
    }

    /// Only the plugins of pytest: an installation writes the others.
    fn pin_entry_points(&mut self, path: &Path) {
        if !path.is_file() {
            return;
        }
        let part = SteeringPart::Section("pytest11");
        let Some((name, bytes)) = self.project.name(path).zip(self.budget.read(path)) else { return };
        if let Some(Some(content)) = part.extract(&String::from_utf8_lossy(&bytes)) {
            self.pins.insert(format!("{name} ({})", part.word()), hex_digest(content.as_bytes()));
        }
    }
}

fn module_files(folder: &Path, module: &str) -> [PathBuf; 2] {
    let path = folder.join(module.replace('.', "/"));
    [path.with_extension("py"), path.join("__main__.py")]
}
