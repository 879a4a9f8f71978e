//! Files that commands name, and those that the scripts behind them name in turn.
//!
//! No shell is read for it: each word that is the path of a file counts, from wherever it may be meant.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use omo_core::check::file_use::{is_judged, runs_file};
use omo_core::check::steering::{file_words, is_shell_script, task_files};
use omo_process::platform::is_executable;
use omo_state::files::regular_file::{self, Links};
use omo_state::seal::{hex_digest, hex_digest_of_reader};
use serde_json::Value;

/// The file of JavaScript packages.
pub const PACKAGE: &str = "package.json";
/// Folders of installed programs, which change with each update.
pub const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];
/// State of a task file that is not there.
pub const ABSENT: &str = "absent";
/// State of a file that cannot be read.
const UNREADABLE: &str = "unreadable";
/// Further files are not looked at.
const MAX_FILES: usize = 200;
/// Paths that are looked for.
const MAX_LOOKUPS: usize = 20_000;
/// Scripts that run scripts are followed so deep.
const MAX_DEPTH: usize = 4;
/// Folders that one text names.
const MAX_FOLDERS: usize = 8;
/// A larger text is not followed.
const MAX_TEXT_BYTES: u64 = 256 * 1024;
/// A larger file counts as one that cannot be read.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A text whose words may name files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingText {
    /// The text.
    pub text: String,
    /// The file that it stands in, or the folder in which it runs.
    pub origin: PathBuf,
}

/// A file that a text names.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    /// Its path from the top of the work tree; elsewhere its whole path.
    pub name: &'a str,
    /// Where it is.
    pub path: &'a Path,
    /// The text runs it, as a program or by an interpreter; otherwise it may only be read.
    pub is_run: bool,
    /// The text names it as what is judged: see [`is_judged`].
    pub is_judged: bool,
}

impl NamedFile<'_> {
    /// A script by its mode, its first line or its ending, or a file without an ending that is run.
    pub fn is_script(&self) -> bool {
        is_shell_script(self.name) || self.is_run && self.path.extension().is_none() || is_program(self.path)
    }
}

/// Tells which files count.
pub type FileFilter<'a> = &'a dyn Fn(&NamedFile) -> bool;

/// The digests of the files that texts name, by their names. Of a `package.json` the scripts count that are named.
/// `places` are folders that a variable may stand for.
pub fn find_named_files(
    texts: Vec<NamingText>,
    top: &Path,
    places: &[PathBuf],
    is_wanted: FileFilter,
) -> BTreeMap<String, String> {
    let (found, packages) = (BTreeMap::new(), BTreeMap::new());
    let mut search = NamedFileSearch { top, places, is_wanted, found, packages, lookups: MAX_LOOKUPS };
    let mut texts = texts;
    for _ in 0..MAX_DEPTH {
        texts = texts.iter().flat_map(|text| search.add(text)).collect();
    }
    let scripts = |(name, scripts): (String, BTreeMap<String, String>)| {
        let lines = scripts.iter().map(|(name, script)| format!("{name}: {script}"));
        (format!("{name} (scripts)"), hex_digest(lines.collect::<Vec<_>>().join("\n").as_bytes()))
    };
    search.found.extend(search.packages.into_iter().map(scripts));
    search.found
}

struct NamedFileSearch<'a> {
    top: &'a Path,
    places: &'a [PathBuf],
    is_wanted: FileFilter<'a>,
    found: BTreeMap<String, String>,
    /// The named scripts of each `package.json`.
    packages: BTreeMap<String, BTreeMap<String, String>>,
    lookups: usize,
}

impl NamedFileSearch<'_> {
    /// Adds the files that a text names. Gives their texts.
    fn add(&mut self, text: &NamingText) -> Vec<NamingText> {
        let words = file_words(&text.text);
        let mut bases = vec![text.origin.clone(), self.top.to_owned()];
        bases.extend(text.origin.parent().filter(|_| text.origin != self.top).map(Path::to_owned));
        let named: Vec<PathBuf> = words.iter().flat_map(|word| self.below(&bases, word)).collect();
        bases.extend(named.into_iter().filter(|path| path != self.top && path.is_dir()).take(MAX_FOLDERS));
        let mut texts = Vec::new();
        for word in &words {
            let mut paths = self.below(&bases, word);
            if word.contains('/') {
                paths.extend(self.below(self.places, word));
                paths.extend(Path::new(word).is_absolute().then(|| PathBuf::from(word)));
            }
            paths.retain(|path| path.is_file());
            let is_run = !paths.is_empty() && runs_file(&text.text, word);
            texts.extend(paths.iter().filter_map(|path| {
                let name = self.name_of(path).unwrap_or_default();
                self.add_file(path, is_run, is_judged(&text.text, word, &name))
            }));
            let folders = bases.iter().filter(|base| base.is_dir());
            for file in folders.flat_map(|folder| task_files(word).map(|file| folder.join(file))) {
                if file.ends_with(PACKAGE) {
                    texts.extend(self.add_scripts(&file, &words));
                    continue;
                }
                texts.extend(self.add_file(&file, true, false));
                if let Some(name) = self.name_of(&file).filter(|_| !file.exists()) {
                    self.found.entry(name).or_insert_with(|| ABSENT.to_owned());
                }
            }
        }
        texts
    }

    /// The paths that a word may stand for below some folders.
    fn below(&mut self, bases: &[PathBuf], word: &str) -> Vec<PathBuf> {
        let below = bases.iter().map(|base| normalized(&base.join(word.trim_start_matches('/'))));
        below.take_while(|_| self.lookups.checked_sub(1).map(|left| self.lookups = left).is_some()).collect()
    }

    /// Adds a file, where it is a new one. Gives its text.
    fn add_file(&mut self, path: &Path, is_run: bool, is_judged: bool) -> Option<NamingText> {
        let is_wanted = |name: &String| (self.is_wanted)(&NamedFile { name, path, is_run, is_judged });
        let is_new = |name: &String| self.found.len() < MAX_FILES && !self.found.contains_key(name);
        let name = self.name_of(path).filter(|name| !path.ends_with(PACKAGE) && path.is_file() && is_new(name))?;
        if !is_wanted(&name) {
            return None;
        }
        self.found.insert(name, digest_of(path));
        Some(NamingText { text: text_of(path)?, origin: path.to_owned() })
    }

    /// Adds the scripts of a package that a text names. Gives those that are new.
    fn add_scripts(&mut self, package: &Path, words: &BTreeSet<String>) -> Option<NamingText> {
        let known = self.packages.entry(self.name_of(package).filter(|_| package.is_file())?).or_default();
        let is_named = |script: &String| {
            let beside = ["pre", "post"].iter().find_map(|when| script.strip_prefix(when));
            words.contains(script) || beside.is_some_and(|script| words.contains(script))
        };
        let named =
            scripts_of(package).into_iter().filter(|(script, _)| is_named(script) && !known.contains_key(script));
        let named: BTreeMap<String, String> = named.collect();
        let text = named.values().map(String::as_str).collect::<Vec<_>>().join("\n");
        known.extend(named);
        Some(NamingText { text, origin: package.to_owned() })
    }

    fn name_of(&self, path: &Path) -> Option<String> {
        let name = path.strip_prefix(self.top).unwrap_or(path).to_string_lossy().replace('\\', "/");
        (!name.split('/').any(|part| INSTALLED.contains(&part))).then_some(name)
    }
}

/// A path without `.` and `..`, as it is written.
fn normalized(path: &Path) -> PathBuf {
    path.components().fold(PathBuf::new(), |mut whole, part| {
        match part {
            Component::CurDir => {}
            Component::ParentDir => _ = whole.pop(),
            part => whole.push(part),
        }
        whole
    })
}

/// The scripts of a `package.json` by their names.
pub fn scripts_of(package: &Path) -> BTreeMap<String, String> {
    let package = text_of(package).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let scripts = package.as_ref().and_then(|package| package.get("scripts")?.as_object());
    let script = |(name, script): (&String, &Value)| Some((name.clone(), script.as_str()?.to_owned()));
    scripts.into_iter().flatten().filter_map(script).collect()
}

/// A program by its first line, or by its mode.
pub(crate) fn is_program(path: &Path) -> bool {
    is_executable(path) || text_of(path).is_some_and(|text| text.starts_with("#!"))
}

/// The text of a file that is no larger than scripts are.
pub(crate) fn text_of(path: &Path) -> Option<String> {
    let bytes = regular_file::read(path, MAX_TEXT_BYTES, Links::Followed).ok()??;
    String::from_utf8(bytes).ok()
}

pub(crate) fn digest_of(path: &Path) -> String {
    let digest = regular_file::open(path).ok().flatten().and_then(|file| hex_digest_of_reader(file, MAX_FILE_BYTES));
    digest.unwrap_or_else(|| UNREADABLE.to_owned())
}
