//! The hooks and settings that judge the commits of a repository, each with its present state.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use omo_core::text::sanitize;
use omo_process::platform::is_executable;
use omo_state::files::regular_file::{self, Links};
use omo_state::seal::{hex_digest, hex_digest_of_reader};
use serde_json::Value;

use crate::git_settings::listed_settings;
use crate::repository::{GitFailed, GitRepository};
use crate::user_git::hooks_setting;

/// Settings of git that decide about hooks and signatures.
const SETTINGS: &str = "^(core[.]hookspath|commit[.]gpgsign|user[.]signingkey|gpg[.].*)$";
/// Begins the name of a setting of git.
pub const SETTING: &str = "git config ";
/// Begins the name of a file that a hook runs.
pub const SCRIPT: &str = "script ";
/// Beginnings, behind a dot or none, of the names of the settings of programs that hooks usually start.
const PROGRAM_SETTINGS: [&str; 6] =
    ["pre-commit-config.", "lefthook.", "lefthook-local.", "lintstagedrc", "lint-staged.config.", "overcommit."];
/// The file of JavaScript packages, which holds settings of such programs by these keys.
const PACKAGE: &str = "package.json";
const PACKAGE_KEYS: [&str; 4] = ["husky", "lint-staged", "pre-commit", "simple-git-hooks"];
/// Keys of such settings whose value is a command.
const COMMAND_KEYS: [&str; 3] = ["entry", "run", "command"];
/// Words of a script for its own folder.
const OWN_FOLDER: [&str; 4] = ["$(dirname \"$0\")", "$(dirname -- \"$0\")", "$(dirname $0)", "${0%/*}"];
/// The folder in which husky puts hooks that call those beside it.
const HUSKY_FOLDER: &str = "_";
/// Endings of scripts, which need not be executable.
const PROGRAM_ENDS: [&str; 8] = ["sh", "bash", "js", "cjs", "mjs", "ts", "py", "rb"];
/// Folders of installed programs, which change with each update.
pub const INSTALLED: [&str; 4] = ["node_modules", ".venv", "venv", "vendor"];
/// Files of one folder that are looked at, and folders.
const MAX_FILES: usize = 200;
/// Folders within each other that are looked at.
const MAX_DEPTH: usize = 3;
/// A larger text is not followed.
const MAX_TEXT_BYTES: u64 = 256 * 1024;
/// A larger file counts as one that cannot be read.
const MAX_FILE_BYTES: u64 = 64 * 1024 * 1024;
/// Letters of a digest that tell one state from another.
const DIGEST_LETTERS: usize = 16;
/// Longest value of a setting, in characters.
const VALUE_LETTERS: usize = 200;

/// `CommitJudges`: settings of git and files, these by their path from the top of the work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CommitJudges {
    /// The state of each, in words.
    pub states: BTreeMap<String, String>,
    /// Commands that the files consist of.
    pub commands: Vec<String>,
}

/// Reads what judges the commits of a work tree.
///
/// # Errors
///
/// git cannot tell.
pub fn read_commit_judges(repository: &GitRepository) -> Result<CommitJudges, GitFailed> {
    let mut judges = CommitJudges::default();
    for setting in listed_settings(repository, SETTINGS)? {
        judges.states.insert(format!("{SETTING}{}", setting.name), sanitize(&setting.value, VALUE_LETTERS));
    }
    let hooks = hooks_setting(repository)?;
    let top = repository.top();
    let (folder, names) = match hooks {
        None => (repository.common().join("hooks"), PathBuf::from(".git/hooks")),
        Some(folder) if folder.is_relative() => (top.join(&folder), folder),
        // The path of a listed file goes through no link.
        Some(folder) => folder.canonicalize().map_or((folder.clone(), folder), |real| (real.clone(), real)),
    };
    judges.add_folder(top, &folder, &names, MAX_DEPTH);
    if let Some((folder, names)) = folder.parent().zip(names.parent()).filter(|_| names.ends_with(HUSKY_FOLDER)) {
        judges.add_folder(top, folder, names, MAX_DEPTH);
    }
    if judges.states.keys().any(|name| !name.starts_with(SETTING)) {
        judges.add_program_settings(top);
    }
    Ok(judges)
}

impl CommitJudges {
    /// Adds the hooks of a folder, and what lies beside and below them, such as `pre-commit.d`. A link and the file that
    /// it leads to are two judges: a task that lists the file may change that alone.
    fn add_folder(&mut self, top: &Path, folder: &Path, names: &Path, depth: usize) {
        let is_shared = names.is_absolute() || names.starts_with(".git");
        let (folders, files) = entries_of(folder);
        for path in files.into_iter().filter(|path| is_program(path)) {
            let Some(name) = path.file_name() else { continue };
            let mut name = names.join(name);
            if let (true, Ok(target)) = (path.is_symlink(), path.canonicalize()) {
                let target = match target.strip_prefix(top) {
                    Ok(inside) if !is_shared => inside.to_owned(),
                    _ => target,
                };
                self.states.insert(judge_name(&name), format!("a link to {}", judge_name(&target)));
                name = target;
            }
            self.states.insert(judge_name(&name), program_state(&path, &digest_of(&path)));
            self.commands.extend(shell_commands(&path, names));
        }
        let is_top = names.components().all(|part| part == Component::CurDir);
        let Some(depth) = depth.checked_sub(1).filter(|_| !is_top) else { return };
        for (inner, name) in folders.iter().filter_map(|inner| Some((inner, inner.file_name()?))) {
            if !INSTALLED.iter().any(|installed| name == *installed) {
                self.add_folder(top, inner, &names.join(name), depth);
            }
        }
    }

    /// Adds the settings of programs that hooks start.
    fn add_program_settings(&mut self, top: &Path) {
        for path in entries_of(top).1 {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            if PROGRAM_SETTINGS.iter().any(|start| name.trim_start_matches('.').starts_with(start)) {
                self.states.insert(name, digest_of(&path).chars().take(DIGEST_LETTERS).collect());
                self.commands.extend(text_of(&path).iter().flat_map(|text| commands_in(text)));
            }
        }
        let package = text_of(&top.join(PACKAGE)).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        for key in PACKAGE_KEYS {
            if let Some(value) = package.as_ref().and_then(|package| package.get(key)) {
                let digest = hex_digest(value.to_string().as_bytes());
                let state = digest.chars().take(DIGEST_LETTERS).collect();
                self.states.insert(format!("{PACKAGE} ({key})"), state);
                add_texts(value, &mut self.commands);
            }
        }
    }
}

fn judge_name(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/").trim_start_matches("./").to_owned()
}

fn digest_of(path: &Path) -> String {
    let digest = regular_file::open(path).ok().flatten().and_then(|file| hex_digest_of_reader(file, MAX_FILE_BYTES));
    digest.unwrap_or_else(|| "unreadable".to_owned())
}

/// The state in words of a program with this digest.
pub fn program_state(path: &Path, digest: &str) -> String {
    let mode = if path.is_file() && !is_executable(path) { ", not executable" } else { "" };
    digest.chars().take(DIGEST_LETTERS).chain(mode.chars()).collect()
}

/// The first folders and the first files of a folder, in the order of their names.
fn entries_of(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = folder.read_dir().into_iter().flatten().flatten().map(|entry| entry.path());
    let (mut folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) = entries.partition(|path| path.is_dir());
    for paths in [&mut folders, &mut files] {
        paths.sort();
        paths.truncate(MAX_FILES);
    }
    (folders, files)
}

/// Adds each text within a value of JSON.
fn add_texts(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(values) => values.iter().for_each(|value| add_texts(value, texts)),
        Value::Object(members) => members.values().for_each(|value| add_texts(value, texts)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn text_of(path: &Path) -> Option<String> {
    let bytes = regular_file::read(path, MAX_TEXT_BYTES, Links::Followed).ok()??;
    String::from_utf8(bytes).ok()
}

/// The text of a shell script, with its folder in place of what stands for that; `None` where it is no such script.
pub fn shell_commands(path: &Path, folder: &Path) -> Option<String> {
    let text = text_of(path).filter(|text| is_shell(text))?;
    let folder = folder.to_string_lossy();
    Some(OWN_FOLDER.iter().fold(text, |text, word| text.replace(word, &folder)))
}

/// Whether a file beside hooks may be one, or be run by one: what they write there, such as logs, judges nothing.
fn is_program(path: &Path) -> bool {
    let Some(end) = path.extension().map(|end| end.to_string_lossy().into_owned()) else { return true };
    end != "sample" && (PROGRAM_ENDS.contains(&end.as_str()) || is_executable(path))
}

/// Whether the first line names a shell, or nothing: hooks of husky have none.
fn is_shell(text: &str) -> bool {
    let first = text.lines().next().unwrap_or_default();
    !first.starts_with("#!") || first.trim_end().ends_with("sh") || first.contains("sh ")
}

/// The commands in the settings of a program: values of keys such as `entry`, and lines without a key.
fn commands_in(settings: &str) -> Vec<String> {
    let command = |line: &str| {
        let line = line.trim().trim_start_matches("- ").trim_end_matches(',');
        let plain = |text: &str| text.trim().trim_matches(['"', '\'']).to_owned();
        match line.split_once([':', '=']) {
            Some((key, value)) => COMMAND_KEYS.contains(&plain(key).as_str()).then(|| plain(value)),
            None => (line.contains('/') && !line.starts_with('#')).then(|| plain(line)),
        }
    };
    settings.lines().filter_map(command).filter(|command| !command.is_empty()).collect()
}
