//! The hooks and settings that judge the commits of a repository, each with its present state.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Component, Path, PathBuf};

use omo_core::check::steering::{file_words, is_manifest, is_named_as_test, may_steer};
use omo_core::text::sanitize;
use omo_process::platform::is_executable;
use omo_state::env;
use omo_state::seal::hex_digest;
use serde_json::Value;

use crate::made_folders::INSTALLED;
use crate::named_files::{
    self, NamedFile, NamingText, PACKAGE, digest_of, find_named_files, text_of,
};
use crate::repository::{GitFailed, GitRepository};
use crate::user_git::{ListedSetting, hooks_setting, listed_settings};

const SETTINGS: [&str; 4] = [
    "core.hookspath",
    "core.attributesfile",
    "commit.gpgsign",
    "user.signingkey",
];
/// Beginnings of the names of further ones.
const SETTING_SECTIONS: [&str; 4] = ["gpg.", "hook.", "hooks.", "secrets."];
/// Settings that only the check of a signature obeys.
const VERIFICATION: [&str; 3] = [
    "gpg.mintrustlevel",
    "gpg.ssh.allowedsignersfile",
    "gpg.ssh.revocationfile",
];
const ALIAS: &str = "alias.";
/// Prefix of the name of a setting of git, as in `git config core.hooksPath`.
pub const SETTING: &str = "git config ";
/// Prefix of the name of a file that a hook runs, as in `script lint.sh`.
pub const SCRIPT: &str = "script ";
/// Beginnings, behind a dot or none, of the names of the settings of programs that hooks usually start.
const PROGRAM_SETTINGS: &str = "\
    pre-commit-config. lefthook. lefthook-local. lintstagedrc lint-staged.config. overcommit. hk. prek. captainhook. \
    gitleaks commitlint secrets.baseline talismanrc typos. huskyrc";
/// Files of a home that hooks of husky read.
const HOME_SETTINGS: [&str; 2] = [".config/husky/init.sh", ".huskyrc"];
const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const CONFIG_FILE: &str = "husky/init.sh";
/// Attributes outside of the work tree; hooks look at them by `git diff --check`.
const ATTRIBUTES: &str = "info/attributes";
/// Keys of the file of JavaScript packages that hold settings of such programs.
const PACKAGE_KEYS: [&str; 4] = ["husky", "lint-staged", "pre-commit", "simple-git-hooks"];
/// The folder in which husky puts hooks that call those beside it.
const HUSKY_FOLDER: &str = "_";
const PROGRAM_ENDS: [&str; 12] = [
    "sh", "bash", "zsh", "js", "cjs", "mjs", "ts", "py", "rb", "pl", "php", "awk",
];
const HOOK_FOLDER_END: &str = ".d";
const SYSTEM_FOLDERS: [&str; 9] = [
    "/usr/",
    "/bin/",
    "/sbin/",
    "/lib",
    "/opt/",
    "/nix/",
    "/snap/",
    "/System/",
    "/Library/",
];
const MAX_FILES: usize = 200;
const MAX_DEPTH: usize = 3;
const DIGEST_LETTERS: usize = 16;
const VALUE_LETTERS: usize = 200;

/// Settings of git and files that judge the commits of a work tree, these by their path from its top: the state of each,
/// in words.
///
/// # Errors
///
/// git cannot tell.
pub fn read_commit_judges(
    repository: &GitRepository,
) -> Result<BTreeMap<String, String>, GitFailed> {
    let hooks = hooks_setting(repository)?;
    let (top, common) = (repository.top(), repository.common());
    let (folder, names) = match hooks {
        None => (common.join("hooks"), PathBuf::from(".git/hooks")),
        Some(folder) if folder.is_relative() => (top.join(&folder), folder),
        // The path of a listed file goes through no link.
        Some(folder) => folder
            .canonicalize()
            .map_or((folder.clone(), folder), |real| (real.clone(), real)),
    };
    let mut judges = CommitJudges::default();
    judges.add_folder(top, &folder, &names, MAX_DEPTH);
    if let Some((folder, names)) = folder
        .parent()
        .zip(names.parent())
        .filter(|_| names.ends_with(HUSKY_FOLDER))
    {
        judges.add_folder(top, folder, names, MAX_DEPTH);
    }
    let has_hooks = !judges.states.is_empty();
    if has_hooks {
        judges.add_program_settings(top, &common.join(ATTRIBUTES));
    }
    judges.add_settings(&listed_settings(repository, ".")?, top);
    if has_hooks {
        judges.add_scripts(top, common);
    }
    Ok(judges.states)
}

#[derive(Default)]
struct CommitJudges {
    states: BTreeMap<String, String>,
    texts: Vec<NamingText>,
}

impl CommitJudges {
    /// Adds the hooks of a folder, and what lies beside and below them, such as `pre-commit.d`. A link and the file that
    /// it leads to are two judges: a task that lists the file may change that alone.
    fn add_folder(&mut self, top: &Path, folder: &Path, names: &Path, depth: usize) {
        let is_shared = names.is_absolute() || names.starts_with(".git");
        let (folders, files) = entries_of(folder);
        let is_inner = depth < MAX_DEPTH;
        for path in files
            .into_iter()
            .filter(|path| is_hook_file(path) || is_inner && path.extension().is_none())
        {
            let Some(name) = path.file_name() else {
                continue;
            };
            let mut name = names.join(name);
            if let (true, Ok(target)) = (path.is_symlink(), path.canonicalize()) {
                let target = match target.strip_prefix(top) {
                    Ok(inside) if !is_shared => inside.to_owned(),
                    _ => target,
                };
                self.states.insert(
                    judge_name(&name),
                    format!("a link to {}", judge_name(&target)),
                );
                name = target;
            }
            self.states
                .insert(judge_name(&name), program_state(&path, &digest_of(&path)));
            self.add_text(&path);
        }
        let is_top = names.components().all(|part| part == Component::CurDir);
        let Some(depth) = depth.checked_sub(1).filter(|_| !is_top) else {
            return;
        };
        for (inner, name) in folders
            .iter()
            .filter_map(|inner| Some((inner, inner.file_name()?)))
        {
            if !INSTALLED.iter().any(|installed| name == *installed) {
                self.add_folder(top, inner, &names.join(name), depth);
            }
        }
    }

    fn add_program_settings(&mut self, top: &Path, attributes: &Path) {
        let is_setting = |path: &PathBuf| {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            PROGRAM_SETTINGS
                .split_ascii_whitespace()
                .any(|start| name.trim_start_matches('.').starts_with(start))
        };
        let of_home = env::home()
            .into_iter()
            .flat_map(|home| HOME_SETTINGS.map(|name| home.join(name)));
        let variables = env::variables()
            .into_iter()
            .filter(|(name, _)| name == CONFIG_HOME);
        let of_home =
            of_home.chain(variables.map(|(_, folder)| PathBuf::from(folder).join(CONFIG_FILE)));
        let files = entries_of(top).1.into_iter().filter(is_setting);
        for path in files
            .chain(of_home)
            .chain([attributes.to_owned()])
            .filter(|path| path.is_file())
        {
            let name = path.strip_prefix(top).unwrap_or(&path);
            self.states.insert(
                judge_name(name),
                digest_of(&path).chars().take(DIGEST_LETTERS).collect(),
            );
            self.add_text(&path);
        }
        let file = top.join(PACKAGE);
        let package = text_of(&file).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        for key in PACKAGE_KEYS {
            if let Some(value) = package.as_ref().and_then(|package| package.get(key)) {
                let text = value.to_string();
                let state = hex_digest(text.as_bytes())
                    .chars()
                    .take(DIGEST_LETTERS)
                    .collect();
                self.states.insert(format!("{PACKAGE} ({key})"), state);
                self.texts.push(NamingText {
                    text,
                    origin: file.clone(),
                });
            }
        }
    }

    /// Adds the files that hooks and these settings name, as far as those are programs or steer one.
    fn add_scripts(&mut self, top: &Path, common: &Path) {
        let places: Vec<PathBuf> = env::home().into_iter().chain([common.to_owned()]).collect();
        let is_wanted = |file: &NamedFile| {
            let is_inside = file.path.starts_with(top) && !file.path.starts_with(common);
            let is_foreign = !is_inside
                && SYSTEM_FOLDERS
                    .iter()
                    .any(|folder| file.name.starts_with(folder));
            let is_code = || file.is_run && has_program_end(file.path) || file.is_script();
            let is_work = is_manifest(file.name) || !file.is_run && is_named_as_test(file.name);
            !file.is_installed()
                && !is_foreign
                && !is_work
                && (is_inside && may_steer(file.name) || is_code())
        };
        for (name, state) in find_named_files(self.texts.clone(), top, &places, &is_wanted) {
            let path = top.join(&name);
            let name = if path.starts_with(common) {
                judge_name(path.strip_prefix(top).unwrap_or(&path))
            } else {
                name
            };
            if !self.states.contains_key(&name) {
                self.states
                    .insert(format!("{SCRIPT}{name}"), program_state(&path, &state));
            }
        }
    }

    fn add_text(&mut self, path: &Path) {
        self.texts.extend(text_of(path).map(|text| NamingText {
            text,
            origin: path.to_owned(),
        }));
    }

    /// Adds settings: those that decide by themselves, and those and the aliases that a word of a hook names.
    fn add_settings(&mut self, listed: &[ListedSetting], top: &Path) {
        let texts: Vec<String> = self
            .texts
            .iter()
            .map(|text| text.text.to_lowercase())
            .collect();
        let words: BTreeSet<String> = texts.iter().flat_map(|text| file_words(text)).collect();
        for setting in listed {
            let name = setting.name.to_lowercase();
            let is_own = SETTINGS.contains(&name.as_str())
                || SETTING_SECTIONS
                    .iter()
                    .any(|section| name.starts_with(section));
            let alias = name.strip_prefix(ALIAS);
            if VERIFICATION.contains(&name.as_str())
                || !(is_own || words.contains(alias.unwrap_or(&name)))
            {
                continue;
            }
            if alias.is_some() {
                let text = setting.value.trim_start_matches('!').to_owned();
                self.texts.push(NamingText {
                    text,
                    origin: top.to_owned(),
                });
            }
            // A value that only its hook knows may be a password.
            let is_shown = is_own || alias.is_some();
            let digest = || {
                hex_digest(setting.value.as_bytes())
                    .chars()
                    .take(DIGEST_LETTERS)
                    .collect()
            };
            let state = if is_shown {
                sanitize(&setting.value, VALUE_LETTERS)
            } else {
                digest()
            };
            self.states
                .insert(format!("{SETTING}{}", setting.name), state);
        }
    }
}

fn judge_name(path: &Path) -> String {
    path.to_string_lossy()
        .replace('\\', "/")
        .trim_start_matches("./")
        .to_owned()
}

fn program_state(path: &Path, digest: &str) -> String {
    let mode = if path.is_file() && !is_executable(path) {
        ", not executable"
    } else {
        ""
    };
    digest
        .chars()
        .take(DIGEST_LETTERS)
        .chain(mode.chars())
        .collect()
}

/// The first folders and the first files of a folder, in the order of their names.
fn entries_of(folder: &Path) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let entries = folder
        .read_dir()
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path());
    let (mut folders, mut files): (Vec<PathBuf>, Vec<PathBuf>) =
        entries.partition(|path| path.is_dir());
    for paths in [&mut folders, &mut files] {
        paths.sort();
        paths.truncate(MAX_FILES);
    }
    (folders, files)
}

/// A file beside hooks that is one, or a program, or lies where all are run: what they write there, such as logs,
/// judges nothing.
fn is_hook_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_hook = || GIT_HOOKS.split_ascii_whitespace().any(|hook| name == hook);
    let is_in_hook_folder = || {
        path.parent()
            .is_some_and(|folder| folder.to_string_lossy().ends_with(HOOK_FOLDER_END))
    };
    !name.ends_with(".sample")
        && (has_program_end(path)
            || is_hook()
            || is_in_hook_folder()
            || named_files::is_program(path))
}

fn has_program_end(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| PROGRAM_ENDS.iter().any(|known| end == *known))
}

/// Hooks of git that a run may start.
const GIT_HOOKS: &str = "\
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge \
    post-rewrite pre-applypatch pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg \
    reference-transaction";
