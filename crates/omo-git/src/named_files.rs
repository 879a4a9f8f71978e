//! Finds the files that commands name, and those that their scripts name in turn. No shell is
//! parsed: each word that is a path, or a pattern of paths, counts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use omo_core::check::file_use::{is_judged, runs_another_file, runs_file};
use omo_core::check::steering::{
    file_words, imported_words, is_code, is_shell_script, module_files, task_files,
};
use omo_core::text::glob::matches_glob;
use omo_process::platform::is_executable;
use omo_state::files::regular_file::{self, Links};
use omo_state::seal::{hex_digest, hex_digest_of_reader};
use serde_json::Value;

use crate::made_folders::is_installed;

pub const PACKAGE: &str = "package.json";
/// State of a file that a task names and that is missing.
pub const ABSENT: &str = "absent";
const UNREADABLE: &str = "unreadable";
const MAX_FILES: usize = 200;
const MAX_LOOKUPS: usize = 20_000;
/// Depth of scripts that run scripts.
const MAX_DEPTH: usize = 16;
const MAX_FOLDERS: usize = 8;
/// Longer words are not taken for patterns.
const MAX_PATTERN_BYTES: usize = 256;
const MAX_TEXT_BYTES: u64 = 256 * 1024;
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// A text, such as a command or a script, whose words may name files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NamingText {
    pub text: String,
    /// Path of the file with the text, or of the folder in which a command runs.
    pub origin: PathBuf,
}

/// File that a text names.
#[derive(Clone, Copy, Debug)]
pub struct NamedFile<'a> {
    /// Path from the top of the work tree; an absolute path elsewhere.
    pub name: &'a str,
    pub path: &'a Path,
    /// `true` where the text runs the file, itself or by an interpreter, and not only reads it.
    pub is_run: bool,
    /// See [`is_judged`].
    pub is_judged: bool,
    /// `true` where code imports the file.
    pub is_imported: bool,
    /// [`NamingText::origin`] of the text that names the file.
    pub by: &'a Path,
}

impl NamedFile<'_> {
    pub fn is_installed(&self) -> bool {
        is_installed(self.name)
    }

    /// `true` for a script by its mode, first line or ending, or a run file without ending.
    pub fn is_script(&self) -> bool {
        is_shell_script(self.name)
            || self.is_run && self.path.extension().is_none()
            || is_program(self.path)
    }
}

pub type FileFilter<'a> = &'a dyn Fn(&NamedFile) -> bool;

/// Digests of the files that `texts` name, by path from `top`; of a `package.json` its named
/// scripts. Variables may stand for `places`.
pub fn find_named_files(
    texts: Vec<NamingText>,
    top: &Path,
    places: &[PathBuf],
    is_wanted: FileFilter,
) -> BTreeMap<String, String> {
    let (found, packages) = (BTreeMap::new(), BTreeMap::new());
    let mut search = NamedFileSearch {
        top,
        places,
        is_wanted,
        found,
        packages,
        lookups: MAX_LOOKUPS,
    };
    let mut texts = texts;
    for _ in 0..MAX_DEPTH {
        if texts.is_empty() {
            break;
        }
        texts = texts.iter().flat_map(|text| search.add(text)).collect();
    }
    for (name, scripts) in search.packages {
        let lines: Vec<String> = scripts
            .iter()
            .map(|(name, script)| format!("{name}: {script}"))
            .collect();
        search.found.insert(
            format!("{name} (scripts)"),
            hex_digest(lines.join("\n").as_bytes()),
        );
    }
    search.found
}

#[derive(Clone, Copy)]
struct Use {
    is_run: bool,
    is_judged: bool,
    is_imported: bool,
}

struct NamedFileSearch<'a> {
    top: &'a Path,
    places: &'a [PathBuf],
    is_wanted: FileFilter<'a>,
    found: BTreeMap<String, String>,
    /// Named scripts of each `package.json`.
    packages: BTreeMap<String, BTreeMap<String, String>>,
    lookups: usize,
}

impl NamedFileSearch<'_> {
    fn add(&mut self, text: &NamingText) -> Vec<NamingText> {
        let words = file_words(&text.text);
        let mut bases = vec![text.origin.clone(), self.top.to_owned()];
        bases.extend(
            text.origin
                .parent()
                .filter(|_| text.origin != self.top)
                .map(Path::to_owned),
        );
        let named: Vec<PathBuf> = words
            .iter()
            .flat_map(|word| self.below(&bases, word))
            .collect();
        let folders = named
            .into_iter()
            .filter(|path| path != self.top && path.is_dir())
            .take(MAX_FOLDERS);
        let folders: Vec<PathBuf> = folders.collect();
        bases.extend(folders.iter().cloned());
        let (mut texts, mut runs_any) = (
            Vec::new(),
            is_code(&text.origin.to_string_lossy()) || runs_another_file(&text.text),
        );
        for word in &words {
            let mut paths = self.below(&bases, word);
            if is_pattern(word) {
                paths = self.expand(&bases, word, reads_folders(&text.text));
            } else if word.contains('/') {
                paths.extend(self.below(self.places, word));
                paths.extend(Path::new(word).is_absolute().then(|| PathBuf::from(word)));
            }
            paths.retain(|path| path.is_file());
            let is_run = !paths.is_empty() && runs_file(&text.text, word);
            runs_any |= is_run;
            texts.extend(paths.iter().filter_map(|path| {
                let name = self.name_of(path);
                let use_kind = Use {
                    is_run,
                    is_judged: is_judged(&text.text, word, &name),
                    is_imported: false,
                };
                self.add_file(path, use_kind, &text.origin)
            }));
            let folders = bases.iter().filter(|base| base.is_dir());
            for file in folders.flat_map(|folder| task_files(word).map(|file| folder.join(file))) {
                if file.ends_with(PACKAGE) {
                    texts.extend(self.add_scripts(&file, &words));
                    continue;
                }
                let use_kind = Use {
                    is_run: true,
                    is_judged: false,
                    is_imported: false,
                };
                texts.extend(self.add_file(&file, use_kind, &text.origin));
                if !file.exists() {
                    self.found
                        .entry(self.name_of(&file))
                        .or_insert_with(|| ABSENT.to_owned());
                }
            }
        }
        // A text that runs, or is, a program of the project names folders for their data.
        for folder in folders.iter().filter(|_| runs_any) {
            if self
                .entries(folder)
                .iter()
                .any(|path| is_code(&path.to_string_lossy()))
            {
                continue;
            }
            for below in self.folders_below(vec![folder.clone()]) {
                let use_kind = Use {
                    is_run: false,
                    is_judged: false,
                    is_imported: false,
                };
                let files = self.entries(&below);
                texts.extend(
                    files
                        .iter()
                        .filter_map(|path| self.add_file(path, use_kind, &text.origin)),
                );
            }
        }
        let beside =
            [text.origin.parent(), Some(self.top)].map(|folder| folder.map(Path::to_owned));
        let beside: Vec<PathBuf> = beside.into_iter().flatten().collect();
        for word in imported_words(&text.origin, &text.text) {
            let modules: Vec<String> = module_files(&text.origin, &word).collect();
            let paths: Vec<PathBuf> = modules
                .iter()
                .flat_map(|module| self.below(&beside, module))
                .collect();
            let use_kind = Use {
                is_run: false,
                is_judged: true,
                is_imported: true,
            };
            texts.extend(
                paths
                    .iter()
                    .filter_map(|path| self.add_file(path, use_kind, &text.origin)),
            );
        }
        texts
    }

    fn expand(&mut self, bases: &[PathBuf], pattern: &str, is_deep: bool) -> Vec<PathBuf> {
        let mut paths = bases.to_vec();
        let parts: Vec<&str> = pattern.trim_start_matches('/').split('/').collect();
        let is_deep = is_deep && parts.len() == 1;
        for part in is_deep.then_some("**").into_iter().chain(parts) {
            paths = match part {
                "**" => self.folders_below(paths),
                part if part.contains('*') => {
                    let entries: Vec<PathBuf> = paths
                        .iter()
                        .flat_map(|folder| self.entries(folder))
                        .collect();
                    entries
                        .into_iter()
                        .filter(|path| {
                            path.file_name()
                                .is_some_and(|name| matches_glob(part, &name.to_string_lossy()))
                        })
                        .collect()
                }
                part => paths
                    .into_iter()
                    .map(|folder| normalized(&folder.join(part)))
                    .collect(),
            };
            paths.truncate(MAX_FILES);
        }
        paths
    }

    fn folders_below(&mut self, mut folders: Vec<PathBuf>) -> Vec<PathBuf> {
        let mut place = 0;
        while let Some(folder) = folders
            .get(place)
            .cloned()
            .filter(|_| folders.len() < MAX_FILES)
        {
            folders.extend(
                self.entries(&folder)
                    .into_iter()
                    .filter(|path| path.is_dir() && !path.is_symlink() && !path.ends_with(".git")),
            );
            place += 1;
        }
        folders
    }

    fn entries(&mut self, folder: &Path) -> Vec<PathBuf> {
        let entries = folder
            .read_dir()
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        let mut entries: Vec<PathBuf> = entries.take(self.lookups).collect();
        self.lookups -= entries.len();
        entries.sort();
        entries
    }

    fn below(&mut self, bases: &[PathBuf], word: &str) -> Vec<PathBuf> {
        let below = bases
            .iter()
            .map(|base| normalized(&base.join(word.trim_start_matches('/'))));
        below
            .take_while(|_| {
                self.lookups
                    .checked_sub(1)
                    .map(|left| self.lookups = left)
                    .is_some()
            })
            .collect()
    }

    fn add_file(&mut self, path: &Path, use_kind: Use, by: &Path) -> Option<NamingText> {
        let Use {
            is_run,
            is_judged,
            is_imported,
        } = use_kind;
        let name = self.name_of(path);
        let is_new = self.found.len() < MAX_FILES && !self.found.contains_key(&name);
        let file = NamedFile {
            name: &name,
            path,
            is_run,
            is_judged,
            is_imported,
            by,
        };
        if path.ends_with(PACKAGE) || !is_new || !path.is_file() || !(self.is_wanted)(&file) {
            return None;
        }
        self.found.insert(name, digest_of(path));
        Some(NamingText {
            text: text_of(path)?,
            origin: path.to_owned(),
        })
    }

    fn add_scripts(&mut self, package: &Path, words: &BTreeSet<String>) -> Option<NamingText> {
        let name =
            Some(self.name_of(package)).filter(|name| package.is_file() && !is_installed(name))?;
        let added = self.packages.entry(name).or_default();
        let named: BTreeMap<String, String> = scripts_of(package)
            .into_iter()
            .filter(|(script, _)| names_script(words, script) && !added.contains_key(script))
            .collect();
        let text = named
            .values()
            .map(String::as_str)
            .collect::<Vec<_>>()
            .join("\n");
        added.extend(named);
        Some(NamingText {
            text,
            origin: package.to_owned(),
        })
    }

    fn name_of(&self, path: &Path) -> String {
        path.strip_prefix(self.top)
            .unwrap_or(path)
            .to_string_lossy()
            .replace('\\', "/")
    }
}

/// `true` for a named script of `package.json`, or one that runs before or after a named one.
fn names_script(words: &BTreeSet<String>, script: &str) -> bool {
    let main_script = ["pre", "post"]
        .iter()
        .find_map(|when| script.strip_prefix(when));
    words.contains(script) || main_script.is_some_and(|script| words.contains(script))
}

fn is_pattern(word: &str) -> bool {
    word.len() <= MAX_PATTERN_BYTES
        && word.contains('*')
        && word.contains(|char: char| char.is_ascii_alphanumeric())
}

/// `true` for a text that reads whole folders: its patterns match names at any depth.
fn reads_folders(text: &str) -> bool {
    ["find ", "walk(", "rglob("]
        .iter()
        .any(|call| text.contains(call))
}

/// Path with `.` and `..` resolved.
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

/// Scripts of a `package.json` by name.
pub fn scripts_of(package: &Path) -> BTreeMap<String, String> {
    let package = text_of(package).and_then(|text| serde_json::from_str::<Value>(&text).ok());
    let scripts = package
        .as_ref()
        .and_then(|package| package.get("scripts")?.as_object());
    scripts
        .into_iter()
        .flatten()
        .filter_map(|(name, script)| Some((name.clone(), script.as_str()?.to_owned())))
        .collect()
}

pub(crate) fn is_program(path: &Path) -> bool {
    is_executable(path) || text_of(path).is_some_and(|text| text.starts_with("#!"))
}

pub(crate) fn text_of(path: &Path) -> Option<String> {
    let bytes = regular_file::read(path, MAX_TEXT_BYTES, Links::Followed).ok()??;
    String::from_utf8(bytes).ok()
}

pub(crate) fn digest_of(path: &Path) -> String {
    let digest = regular_file::open(path)
        .ok()
        .flatten()
        .and_then(|file| hex_digest_of_reader(file, MAX_FILE_BYTES));
    digest.unwrap_or_else(|| UNREADABLE.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_says_something_of_the_names_that_it_stands_for() {
        assert!(["*.sh", "step_*", "tests/*"].into_iter().all(is_pattern));
        let (deep, plain) = (
            format!("{}*", "a/".repeat(MAX_PATTERN_BYTES)),
            ["*", "**", "*/", "a.sh"],
        );
        assert!(!plain.into_iter().chain([deep.as_str()]).any(is_pattern));
    }
}
