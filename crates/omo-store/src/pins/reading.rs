//! What a command runs of the project: its programs and scripts, and the files that steer its tools.
//!
//! What a program is given is pinned as well where it may run it, and where it is not known what it
//! does with it. A program that only reads files, and a runner of tests, is not held to them: to
//! write those is the work.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf, is_separator};

use omo_core::command_line::{ShellCommand, commands, is_line_option, is_reader, stem};
use omo_core::pattern::{is_pattern, matches};
use omo_core::runner::named::{module, names_runner};

use super::steering;
use super::{ABSENT, BUILT, UNREADABLE, digest_of_file, name_below, read};
use crate::object::Object;
use crate::seal::digest;
use crate::search_path::{SearchPath, real};

/// So many files are pinned one by one; all others are one pin.
const MAX_FILES: usize = 32;
/// The files behind so many count as ones that cannot be read.
const MAX_HASHED: usize = 1024;
/// Lines that run lines, such as scripts of `package.json`, are followed so deep.
const MAX_DEPTH: usize = 4;

/// What has been read of a command.
pub(super) struct Reading<'a> {
    root: &'a Path,
    search: &'a SearchPath,
    pins: BTreeMap<String, String>,
    /// It runs tests with a runner whose count is known.
    pub(super) runs_tests: bool,
}

/// Where a line of shell stands.
#[derive(Clone, Copy)]
struct LineContext {
    depth: usize,
    /// It is a script of `package.json`, for which programs may have been installed.
    is_script: bool,
}

impl<'a> Reading<'a> {
    /// Reads the command of a gate that runs in a folder.
    pub(super) fn of(run: &str, folder: &Path, root: &'a Path, search: &'a SearchPath) -> Self {
        let mut reading = Self { root, search, pins: BTreeMap::new(), runs_tests: false };
        reading.read_line(run, folder, LineContext { depth: 0, is_script: false });
        reading
    }

    /// The files, each with its digest; those behind the first ones as one.
    pub(super) fn pins(mut self) -> BTreeMap<String, String> {
        if let Some(first) = self.pins.keys().nth(MAX_FILES).cloned() {
            let rest = self.pins.split_off(&first);
            let lines: Vec<String> = rest.iter().map(|(name, digest)| format!("{digest} {name}\n")).collect();
            let is_whole = !rest.values().any(|digest| digest == UNREADABLE);
            let digest = if is_whole { digest(lines.concat().as_bytes()) } else { UNREADABLE.to_owned() };
            self.pins.insert(format!("{first} and the {} files behind it", rest.len() - 1), digest);
        }
        self.pins
    }

    fn read_line(&mut self, line: &str, folder: &Path, level: LineContext) {
        if level.depth > MAX_DEPTH {
            return;
        }
        let mut folder = folder.to_owned();
        // What the shell puts there is known.
        let line = ["$(pwd)", "`pwd`", "${PWD}", "$PWD"].iter().fold(line.to_owned(), |line, it| line.replace(it, "."));
        let commands = commands(&line);
        let is_fed = commands.iter().any(runs_what_it_is_sent);
        for command in &commands {
            self.runs_tests |= names_runner(command);
            for file in command.assigned.iter().map(|it| &it.value).chain(&command.inputs) {
                self.pin_argument(&folder, file, is_runnable);
            }
            for word in command.words.iter().chain(&command.inputs).filter(|_| is_fed) {
                self.pin_argument(&folder, word, |_| true);
            }
            if let Some((program, arguments)) = command.program() {
                self.read_command(program, arguments, &folder, level);
            }
            for line in command.inner_lines() {
                self.read_line(&line, &folder, LineContext { depth: level.depth + 1, ..level });
            }
            if let Some(("cd" | "pushd", [to, ..])) = command.program() {
                folder = folder.join(to);
            }
        }
    }

    fn read_command(&mut self, program: &str, arguments: &[String], folder: &Path, level: LineContext) {
        let (name, arguments) = (stem(program), arguments.iter().map(String::as_str).collect::<Vec<_>>());
        self.pin_program(program, folder, level);
        let below = folder_of(folder, &arguments);
        for file in steering::options(&arguments, !is_reader(name)) {
            self.pin_argument(folder, file, |_| true);
            self.pin_argument(&below, file, |_| true);
        }
        if is_reader(name) {
            return;
        }
        self.read_tool(name, &arguments, folder, &below, level);
        for (at, word) in arguments.iter().enumerate() {
            let tool = stem(word);
            if steering::is_interpreter(tool) || steering::is_tool(tool) {
                if !word.contains(is_separator) {
                    self.pin_program(word, folder, LineContext { is_script: false, ..level });
                }
                self.read_tool(tool, arguments.get(at + 1..).unwrap_or_default(), folder, &below, level);
            }
        }
        // A program of the project says by itself what it does with what it is given.
        let is_unknown = !steering::is_interpreter(name) && !steering::is_tool(name) && !program.contains(is_separator);
        // What stands behind a tool or an interpreter is for that one.
        let is_another = |word: &&&str| steering::is_interpreter(stem(word)) || steering::is_tool(stem(word));
        for word in arguments.iter().take_while(|word| is_unknown && !is_another(word)) {
            self.pin_argument(folder, word.rsplit('=').next().unwrap_or(word), is_runnable);
        }
    }

    /// The file of a program.
    fn pin_program(&mut self, program: &str, folder: &Path, level: LineContext) {
        if program.contains(is_separator) {
            return self.pin_named(&folder.join(program));
        }
        let found = self.search.find(program);
        if level.is_script {
            self.pin_installed(folder, program, found.is_some());
        }
        // Whatever links lead to it.
        match found {
            Some(found) if name_below(self.root, &found).is_some() => self.pin_file(&found),
            Some(found) => self.pin_file_of(&real(self.root), &real(&found)),
            None => {}
        }
    }

    /// What a tool or an interpreter runs, and what steers it.
    fn read_tool(&mut self, name: &str, own: &[&str], folder: &Path, below: &Path, level: LineContext) {
        if let ("coverage", Some((&"run", own))) = (name, own.split_first()) {
            self.read_tool("python", own, folder, below, level);
        }
        for script in interpreted_scripts(name, own, folder) {
            self.pin_named(&script);
        }
        if steering::is_python(name)
            && let Some(module) = module(own)
        {
            self.pin_module(folder, module);
        }
        for file in steering::files(name) {
            self.pin_task_file(below, file);
            if steering::is_looked_for_above(name, file) {
                self.pin_task_file(self.root, file);
            }
        }
        if steering::is_python(name) {
            self.pin_shadows(below);
        }
        if matches!(name, "npx" | "bunx")
            && let Some(program) = own.iter().find(|word| !word.starts_with('-'))
        {
            self.pin_installed(below, program, false);
        }
        for script in scripts_of_package(name, own, below) {
            self.read_line(&script, below, LineContext { depth: level.depth + 1, is_script: true });
        }
    }

    /// A word that may be a file, or a pattern of files: those that are accepted. One that is not there yet and looks
    /// like a script is noted.
    fn pin_argument(&mut self, folder: &Path, word: &str, is_accepted: impl Fn(&Path) -> bool) {
        for path in expand_pattern(folder, word) {
            let may_come = || {
                let is_called = word.starts_with("./") || is_script_name(&path);
                is_called && !word.contains(char::is_whitespace)
            };
            let is_meant = if path.is_file() { is_accepted(&path) } else { may_come() };
            if is_meant {
                self.pin_named(&path);
            }
        }
    }

    /// The module that Python is asked to run. One of those that are installed is held to there being none in its
    /// place; any other that is not there may be written later.
    fn pin_module(&mut self, folder: &Path, module: &str) {
        let path = folder.join(module.replace('.', "/"));
        let files = [path.with_extension("py"), path.join("__main__.py")];
        let is_there = files.iter().any(|file| file.is_file());
        let first = module.split('.').next().unwrap_or(module);
        for file in files.iter().filter(|file| file.is_file() || (!is_there && !steering::is_installed_module(first))) {
            self.pin_named(file);
        }
        // A module comes before a folder of its name that holds others.
        if first != module {
            self.pin_file(&folder.join(first).with_extension("py"));
        }
    }

    /// The modules of a folder that Python would load in the place of the runner's own.
    fn pin_shadows(&mut self, folder: &Path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        for shadow in entries.filter(|entry| entry.file_name().to_str().is_some_and(steering::shadows_python)) {
            let shadow = shadow.path();
            if shadow.is_dir() {
                // Without one of these it is no module that comes before another.
                for file in ["__init__.py", "__init__.pyc", "__main__.py"] {
                    self.pin_file(&shadow.join(file));
                }
            } else {
                self.pin_file(&shadow);
            }
        }
    }

    /// A program that is called by its name, where the folders of what was installed for the project have one. Where
    /// nothing else has that name, it may be installed later.
    fn pin_installed(&mut self, folder: &Path, program: &str, is_elsewhere: bool) {
        let folders = folder.ancestors().take_while(|folder| folder.starts_with(self.root));
        let files: Vec<PathBuf> = folders.map(|folder| folder.join("node_modules/.bin").join(program)).collect();
        match files.iter().find(|file| file.is_file()) {
            Some(file) => self.pin_file(file),
            None if is_elsewhere => {}
            None => {
                let names = files.first().and_then(|file| name_below(self.root, file));
                self.pins.extend(names.map(|name| (name, ABSENT.to_owned())));
            }
        }
    }

    fn pin_task_file(&mut self, folder: &Path, file: &str) {
        let path = folder.join(file);
        let Some(name) = name_below(self.root, &path) else { return };
        let Some(parts) = steering::parts(file) else { return self.pin_file(&path) };
        // Only what steers a run: a new dependency is no change of the check.
        let Some(bytes) = read(&path) else { return };
        let text = String::from_utf8_lossy(&bytes);
        for part in parts {
            // One that cannot be read as that is pinned whole.
            let content = part.of(&text).unwrap_or_else(|| Some(text.clone().into_owned()));
            if let Some(content) = content {
                self.pins.insert(format!("{name} ({})", part.word()), digest(content.as_bytes()));
            }
        }
    }

    /// A file that the command names, where it is not one that is made anew all the time.
    fn pin_named(&mut self, path: &Path) {
        let Some(name) = name_below(self.root, path) else { return };
        let is_built = Path::new(&name).components().any(|part| BUILT.iter().any(|built| part.as_os_str() == *built));
        if is_built {
            return;
        }
        if path.is_file() {
            self.pin_file(path);
        } else if !path.exists() && !name.contains('$') {
            self.pins.insert(name, ABSENT.to_owned());
        }
    }

    fn pin_file(&mut self, path: &Path) {
        self.pin_file_of(self.root, path);
    }

    fn pin_file_of(&mut self, root: &Path, path: &Path) {
        if path.is_file()
            && let Some(name) = name_below(root, path)
            && !self.pins.contains_key(&name)
        {
            let digest = Some(path).filter(|_| self.pins.len() < MAX_HASHED).and_then(digest_of_file);
            self.pins.insert(name, digest.unwrap_or_else(|| UNREADABLE.to_owned()));
        }
    }
}

/// Whether a command runs what another one sends it, or names to it.
fn runs_what_it_is_sent(command: &ShellCommand) -> bool {
    let is_interpreter = |word: &String| steering::is_interpreter(stem(word));
    let Some(at) = command.words.iter().position(is_interpreter) else { return false };
    let behind = command.words.get(at + 1..).unwrap_or_default();
    command.words.first().is_some_and(|program| program == "xargs") || behind.iter().all(|word| word.starts_with('-'))
}

/// The files that an interpreter is given to run.
fn interpreted_scripts(name: &str, own: &[&str], folder: &Path) -> Vec<PathBuf> {
    let words = || own.iter().filter(|word| !word.starts_with('-')).map(|word| folder.join(word));
    if name == "go" && own.first() == Some(&"run") {
        let sources = |path: PathBuf| if path.is_dir() { expand_pattern(&path, "*.go") } else { vec![path] };
        return words().skip(1).take(1).flat_map(sources).collect();
    }
    // With these it is given code, a module, or files of tests.
    let is_given_else =
        |word: &&str| matches!(*word, "-e" | "--eval" | "-p" | "--print" | "--test") || is_line_option(word);
    let runs_tests = matches!(name, "deno" | "bun") && own.first() == Some(&"test");
    if runs_tests
        || !steering::is_interpreter(name)
        || own.iter().any(is_given_else)
        || module(own).is_some_and(|_| name == "python")
    {
        return Vec::new();
    }
    let is_script = |path: &PathBuf| path.is_file() || path.extension().is_some();
    let inside = |path: &PathBuf| {
        let js = ["js", "cjs", "mjs", "ts"].map(|ending| path.with_extension(ending));
        let inside = ["__main__.py", "index.js"].map(|file| path.join(file));
        js.into_iter().chain(inside).find(|file| file.is_file())
    };
    let first = || words().find(is_script).or_else(|| words().find_map(|path| inside(&path)));
    // Deno and Bun have words of their own before it.
    first().or_else(|| words().next().filter(|_| !matches!(name, "deno" | "bun"))).into_iter().collect()
}

/// The scripts of `package.json` that a package manager is asked to run: the one before, the one, and the one behind.
fn scripts_of_package(name: &str, own: &[&str], folder: &Path) -> Vec<String> {
    if !matches!(name, "npm" | "pnpm" | "yarn" | "bun") {
        return Vec::new();
    }
    let mut words = own.iter().filter(|word| !word.starts_with('-') && !folder.ends_with(word)).copied();
    let script = match words.find(|word| *word != "workspace") {
        Some("run" | "run-script") => words.next(),
        Some("t" | "tst") => Some("test"),
        word => word,
    };
    let scripts = read(&folder.join("package.json")).and_then(|bytes| {
        let text = String::from_utf8_lossy(&bytes);
        let package = Object::parse(&text).ok()?;
        serde_json::from_str::<BTreeMap<String, serde_json::Value>>(package.get("scripts")?).ok()
    });
    let (Some(script), Some(scripts)) = (script, scripts) else { return Vec::new() };
    let names = [format!("pre{script}"), script.to_owned(), format!("post{script}")];
    names.iter().filter_map(|name| scripts.get(name)?.as_str().map(str::to_owned)).collect()
}

/// The folder that `-C folder`, `--prefix folder` and the like send a tool to.
fn folder_of(folder: &Path, arguments: &[&str]) -> PathBuf {
    let known = |name: &str| {
        let names = ["-C", "--prefix", "--directory", "--dir", "--cwd", "-w", "--workspace", "--filter", "workspace"];
        names.contains(&name)
    };
    let values = arguments.iter().enumerate().filter_map(|(at, word)| match word.split_once('=') {
        Some((name, value)) => known(name).then_some(value),
        None if known(word) => arguments.get(at + 1).copied(),
        None => word.strip_prefix("-C"),
    });
    values.map(|value| folder.join(value)).find(|folder| folder.is_dir()).unwrap_or_else(|| folder.to_owned())
}

/// The files that a word means: one, or those that match its pattern.
fn expand_pattern(folder: &Path, word: &str) -> Vec<PathBuf> {
    let mut paths = vec![folder.to_owned()];
    for part in Path::new(word).components() {
        let pattern = part.as_os_str().to_string_lossy();
        paths = if !matches!(part, Component::Normal(_)) || !is_pattern(&pattern) {
            paths.into_iter().map(|path| path.join(part)).collect()
        } else {
            let entries = paths.iter().filter_map(|path| std::fs::read_dir(path).ok()).flatten().flatten();
            let names = entries.map(|entry| (entry.path(), entry.file_name().to_string_lossy().into_owned()));
            names.filter(|(_, name)| matches(&pattern, name)).map(|(path, _)| path).collect()
        };
    }
    paths
}

/// Whether a file is one that can be run as it is.
fn is_runnable(path: &Path) -> bool {
    const BEGINNINGS: [&[u8]; 4] = [b"#!", b"\x7fELF", b"MZ", b"\xcf\xfa\xed\xfe"];
    is_script_name(path) || read(path).is_some_and(|bytes| BEGINNINGS.iter().any(|begin| bytes.starts_with(begin)))
}

fn is_script_name(path: &Path) -> bool {
    const ENDINGS: [&str; 20] = [
        "sh", "bash", "zsh", "ksh", "fish", "py", "pyz", "js", "cjs", "mjs", "ts", "mts", "rb", "pl", "php", "lua",
        "mk", "awk", "ps1", "cmd",
    ];
    path.extension().is_some_and(|ending| ENDINGS.iter().any(|known| ending == *known))
}
