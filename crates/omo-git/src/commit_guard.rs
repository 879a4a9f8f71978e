//! Digests of all hooks and settings that judge a repository's commits, to notice a change of them.

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
/// Further settings, by the beginnings of their names.
const SETTING_SECTIONS: [&str; 4] = ["gpg.", "hook.", "hooks.", "secrets."];
/// Settings for the check of a signature alone.
const VERIFICATION: [&str; 3] = [
    "gpg.mintrustlevel",
    "gpg.ssh.allowedsignersfile",
    "gpg.ssh.revocationfile",
];
const ALIAS: &str = "alias.";
/// Start of the name of a setting, as in `git config core.hooksPath`.
pub const SETTING: &str = "git config ";
/// Start of the name of a file that a hook runs, as in `script lint.sh`.
pub const SCRIPT: &str = "script ";
/// Beginnings of names of settings files of programs that hooks usually start; a dot may stand before.
const PROGRAM_SETTINGS: &str = "\
    pre-commit-config. lefthook. lefthook-local. lintstagedrc lint-staged.config. overcommit. hk. prek. captainhook. \
    gitleaks commitlint secrets.baseline talismanrc typos. huskyrc";
/// Files in the user's home that hooks of husky read.
const HOME_SETTINGS: [&str; 2] = [".config/husky/init.sh", ".huskyrc"];
const CONFIG_HOME: &str = "XDG_CONFIG_HOME";
const CONFIG_FILE: &str = "husky/init.sh";
/// Read by `git diff --check` of hooks.
const ATTRIBUTES: &str = "info/attributes";
/// Keys of [`PACKAGE`] with settings of such programs.
const PACKAGE_KEYS: [&str; 4] = ["husky", "lint-staged", "pre-commit", "simple-git-hooks"];
/// Hooks of husky, which call those beside the folder.
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

/// State of each hook, script and setting that can affect a commit, such as a digest, by its name or path from the top.
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
    /// Adds hooks of a folder, with files beside and below, such as `pre-commit.d`. A link and its target are two
    /// judges: a task that lists the target may change that alone.
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
        let home_files = env::home()
            .into_iter()
            .flat_map(|home| HOME_SETTINGS.map(|name| home.join(name)));
        let variables = env::variables()
            .into_iter()
            .filter(|(name, _)| name == CONFIG_HOME);
        let home_files =
            home_files.chain(variables.map(|(_, folder)| PathBuf::from(folder).join(CONFIG_FILE)));
        let files = entries_of(top)
            .1
            .into_iter()
            .filter(|path| is_program_setting(path));
        for path in files
            .chain(home_files)
            .chain([attributes.to_owned()])
            .filter(|path| path.is_file())
        {
            let name = path.strip_prefix(top).unwrap_or(&path);
            self.states
                .insert(judge_name(name), short_digest(&digest_of(&path)));
            self.add_text(&path);
        }
        let file = top.join(PACKAGE);
        let package = text_of(&file).and_then(|text| serde_json::from_str::<Value>(&text).ok());
        for key in PACKAGE_KEYS {
            if let Some(value) = package.as_ref().and_then(|package| package.get(key)) {
                let text = value.to_string();
                let state = short_digest(&hex_digest(text.as_bytes()));
                self.states.insert(format!("{PACKAGE} ({key})"), state);
                self.texts.push(NamingText {
                    text,
                    origin: file.clone(),
                });
            }
        }
    }

    /// Adds files that hooks and these settings name, where they are programs or steer one.
    fn add_scripts(&mut self, top: &Path, common: &Path) {
        let places: Vec<PathBuf> = env::home().into_iter().chain([common.to_owned()]).collect();
        for (name, state) in find_named_files(self.texts.clone(), top, &places, &|file| {
            is_judging_file(file, top, common)
        }) {
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

    /// Adds settings that decide by themselves, and those and the aliases that a word of a hook names.
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
            let state = if is_own || alias.is_some() {
                sanitize(&setting.value, VALUE_LETTERS)
            } else {
                short_digest(&hex_digest(setting.value.as_bytes()))
            };
            self.states
                .insert(format!("{SETTING}{}", setting.name), state);
        }
    }
}

fn is_program_setting(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    PROGRAM_SETTINGS
        .split_ascii_whitespace()
        .any(|start| name.trim_start_matches('.').starts_with(start))
}

fn is_judging_file(file: &NamedFile, top: &Path, common: &Path) -> bool {
    let is_inside = file.path.starts_with(top) && !file.path.starts_with(common);
    let is_foreign = !is_inside
        && SYSTEM_FOLDERS
            .iter()
            .any(|folder| file.name.starts_with(folder));
    let is_work = is_manifest(file.name) || !file.is_run && is_named_as_test(file.name);
    !file.is_installed()
        && !is_foreign
        && !is_work
        && (is_inside && may_steer(file.name)
            || file.is_run && has_program_end(file.path)
            || file.is_script())
}

fn short_digest(digest: &str) -> String {
    digest.chars().take(DIGEST_LETTERS).collect()
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
    format!("{}{mode}", short_digest(digest))
}

/// The first `MAX_FILES` folders and files, by name.
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

/// A hook, a program, or any file where all are run; what hooks write there, such as logs, judges nothing.
fn is_hook_file(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    !name.ends_with(".sample")
        && (has_program_end(path)
            || GIT_HOOKS.split_ascii_whitespace().any(|hook| name == hook)
            || is_in_hook_folder(path)
            || named_files::is_program(path))
}

fn is_in_hook_folder(path: &Path) -> bool {
    path.parent()
        .is_some_and(|folder| folder.to_string_lossy().ends_with(HOOK_FOLDER_END))
}

fn has_program_end(path: &Path) -> bool {
    path.extension()
        .is_some_and(|end| PROGRAM_ENDS.iter().any(|known| end == *known))
}

/// Hooks that a run may start.
const GIT_HOOKS: &str = "\
    applypatch-msg commit-msg fsmonitor-watchman post-applypatch post-checkout post-commit post-index-change post-merge \
    post-rewrite pre-applypatch pre-commit pre-merge-commit pre-push pre-rebase prepare-commit-msg \
    reference-transaction";
