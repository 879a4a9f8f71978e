//! Change under proof: files to keep on both sides, files that mix old code and new tests, and
//! names that it defines.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use omo_core::check::steering::{file_words, is_manifest, is_shell_script, may_steer};
use omo_core::text::sanitize;
use omo_git::base_comparison::{BaseComparison, BaseContent, BaseError, ChangedFile};

use crate::comparison::ChangeFacts;
use crate::missing_item::{add_definitions, add_words};
use crate::naming_words::is_named;
use crate::proof_request::ProofRequest;
use crate::rust_tests::{NotSeparable, has_tests, take_over_tests};
use crate::stored_files::StoredFiles;

/// Maximum files whose words are compared.
const MAX_WORD_FILES: usize = 2_000;
const MAX_NAMED_FILES: usize = 5;
/// Manifest whose scripts are the present ones on both sides.
const PACKAGE: &str = "package.json";
const SOURCE_ENDINGS: [&str; 12] = [
    "rs", "go", "py", "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "pyi",
];

/// `true` for a file that a check runs in its present state on both sides, by its command's words.
fn may_judge(path: &str, words: &BTreeSet<String>) -> bool {
    (may_steer(path) || is_shell_script(path)) && !is_manifest(path) && is_named(path, words)
}

pub(crate) struct Change {
    /// Test files and files that a check runs, the same on both sides.
    kept: BTreeSet<PathBuf>,
    /// Old sources with the new tests in them.
    joined: BTreeMap<PathBuf, Vec<u8>>,
    sources: Vec<ChangedFile>,
    pub(crate) facts: ChangeFacts,
    pub(crate) differs: bool,
    /// `true` where a check runs a changed file that is no test file.
    pub(crate) changes_what_checks_run: bool,
}

impl Change {
    pub(crate) fn read(
        comparison: &BaseComparison,
        with: &Path,
        request: &ProofRequest,
        notes: &mut Vec<String>,
    ) -> Result<Self, BaseError> {
        let words: BTreeSet<String> = request
            .checks
            .iter()
            .flat_map(|check| file_words(&check.command))
            .collect();
        let mut kept = BTreeSet::new();
        let mut changes_what_checks_run = false;
        for path in comparison.changed_paths() {
            let name = comparison.name_in_project(path);
            let is_test = request.tests.contains(&name);
            let is_judge = may_judge(&name, &words);
            if is_test || is_judge {
                kept.insert(path.to_owned());
            }
            if is_judge && !is_test && is_of_task(comparison, request, path) {
                changes_what_checks_run = true;
                notes.push(format!(
                    "{} is run by a check: both sides have it as it is now",
                    path.display()
                ));
            }
        }
        let removed: Vec<&Path> = kept
            .iter()
            .map(PathBuf::as_path)
            .filter(|path| !comparison.is_present(path))
            .collect();
        notes.extend(removed_test_files(&removed));
        kept.extend(
            comparison
                .changed_paths()
                .filter(|path| !is_of_task(comparison, request, path))
                .map(Path::to_owned),
        );
        let mut facts = ChangeFacts::default();
        let (mut joined, mut before) = (BTreeMap::new(), BTreeSet::new());
        let (mut test_modules, mut unseparated) = (Vec::<PathBuf>::new(), Vec::new());
        let mut sources = comparison.read_changed(with, |path| {
            let ending = path.extension().and_then(|ending| ending.to_str());
            !kept.contains(path) && ending.is_some_and(|ending| SOURCE_ENDINGS.contains(&ending))
        })?;
        sources.truncate(MAX_WORD_FILES);
        for file in &sources {
            let base = file.base_bytes().map(String::from_utf8_lossy);
            let now = file.now_bytes().map(String::from_utf8_lossy);
            add_words(base.as_deref().unwrap_or_default(), &mut before);
            add_definitions(now.as_deref().unwrap_or_default(), &mut facts.defined);
            if file.base.is_none() {
                // A new module has the name of its file, or of its folder.
                facts.defined.extend(
                    file.path
                        .file_stem()
                        .map(|stem| stem.to_string_lossy().into_owned()),
                );
                facts.defined.extend(
                    file.path
                        .parent()
                        .and_then(Path::file_name)
                        .map(|folder| folder.to_string_lossy().into()),
                );
            }
            let is_rust = file.path.extension().is_some_and(|ending| ending == "rs");
            let Some(now) = now.filter(|_| is_rust) else {
                continue;
            };
            let taken = match base {
                Some(base) => take_over_tests(&base, &now),
                None if has_tests(&now) => Err(NotSeparable::New),
                None => continue,
            };
            match taken {
                Ok(tests) => {
                    joined.extend(
                        tests
                            .joined
                            .map(|text| (file.path.clone(), text.into_bytes())),
                    );
                    test_modules.extend(
                        tests
                            .modules
                            .iter()
                            .map(|name| module_path(&file.path, name)),
                    );
                }
                Err(why) => unseparated.push((file.path.clone(), why)),
            }
        }
        let packages = comparison.read_changed(with, |path| {
            !kept.contains(path) && path.file_name().is_some_and(|name| name == PACKAGE)
        })?;
        for file in packages {
            if let Some(text) = with_scripts_of_now(file.base_bytes(), file.now_bytes()) {
                notes.push(format!(
                    "both sides have the scripts of {} as they are now",
                    file.path.display()
                ));
                joined.insert(file.path, text);
            }
        }
        // A module that is there for tests alone, whatever its file is called.
        kept.extend(
            comparison
                .changed_paths()
                .filter(|path| {
                    test_modules.iter().any(|module| {
                        path.starts_with(module) || path.with_extension("") == *module
                    })
                })
                .map(Path::to_owned),
        );
        for (path, why) in unseparated.iter().filter(|(path, _)| !kept.contains(path)) {
            let name = sanitize(&path.to_string_lossy(), 100);
            notes.push(format!("the tests in {name} could not be separated: {why}"));
            facts.unseparated_tests.get_or_insert(name);
        }
        facts.defined.retain(|word| !before.contains(word));
        let differs = comparison.changed_paths().any(|path| !kept.contains(path));
        Ok(Self {
            kept,
            joined,
            sources,
            facts,
            differs,
            changes_what_checks_run,
        })
    }

    pub(crate) fn sources(&self) -> impl Iterator<Item = &ChangedFile> {
        self.sources
            .iter()
            .filter(|file| !self.kept.contains(&file.path))
    }

    /// Leaves out [`StoredFiles`] that are the same, and notes unknown ones.
    pub(crate) fn note_stored_files(
        &mut self,
        files: &StoredFiles,
        comparison: &BaseComparison,
        notes: &mut Vec<String>,
    ) {
        self.differs = comparison
            .changed_paths()
            .any(|path| !self.kept.contains(path) && !files.same.contains(path));
        if let Some(first) = files.unknown.first() {
            let name = sanitize(&first.to_string_lossy(), 100);
            let more = match files.unknown.len() {
                1 => String::new(),
                count => format!(" and {} more", count - 1),
            };
            notes.push(format!(
                "{name}{more} could not be separated: git keeps another form of it"
            ));
            self.facts.unknown_file = Some(name);
        }
    }

    pub(crate) fn content(&self, path: &Path) -> BaseContent {
        if self.kept.contains(path) {
            return BaseContent::Now;
        }
        self.joined
            .get(path)
            .map_or(BaseContent::Base, |text| BaseContent::Joined(text.clone()))
    }
}

fn is_of_task(comparison: &BaseComparison, request: &ProofRequest, path: &Path) -> bool {
    // A path beside the project in its repository has no name there.
    let is_within = path.starts_with(&comparison.project);
    request
        .task
        .is_none_or(|task| !is_within || task.files.contains(&comparison.name_in_project(path)))
}

/// Old `package.json` with new scripts; `None` if they are equal or unreadable.
fn with_scripts_of_now(base: Option<&[u8]>, now: Option<&[u8]>) -> Option<Vec<u8>> {
    const SCRIPTS: &str = "scripts";
    let now: serde_json::Map<String, serde_json::Value> = serde_json::from_slice(now?).ok()?;
    let mut base: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(base?).ok()?;
    if base.get(SCRIPTS) == now.get(SCRIPTS) {
        return None;
    }
    match now.get(SCRIPTS) {
        Some(scripts) => base.insert(SCRIPTS.to_owned(), scripts.clone()),
        None => base.remove(SCRIPTS),
    };
    serde_json::to_vec_pretty(&base).ok()
}

fn module_path(file: &Path, module: &str) -> PathBuf {
    let parent = file.parent().unwrap_or(Path::new(""));
    let stem = file
        .file_stem()
        .and_then(|stem| stem.to_str())
        .unwrap_or_default();
    if matches!(stem, "lib" | "main" | "mod") {
        parent.join(module)
    } else {
        parent.join(stem).join(module)
    }
}

/// Note about removed test files, whose tests are compared with nothing.
fn removed_test_files(removed: &[&Path]) -> Option<String> {
    let names: Vec<String> = removed
        .iter()
        .take(MAX_NAMED_FILES)
        .map(|path| sanitize(&path.to_string_lossy(), 100))
        .collect();
    let more = match removed.len().saturating_sub(MAX_NAMED_FILES) {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    let files = if removed.len() == 1 {
        "test file is"
    } else {
        "test files are"
    };
    (!removed.is_empty()).then(|| {
        format!(
            "{} {files} gone with the change, on both sides: {}{more}",
            removed.len(),
            names.join(", ")
        )
    })
}
