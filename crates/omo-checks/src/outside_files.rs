//! Files that checks may run or load but that are no part of the work: installed ones, and the
//! user's at home. They are compared with their state at the start.

use std::collections::{BTreeMap, VecDeque};
use std::fs;
use std::path::{Path, PathBuf};

use omo_core::check::steering::{file_words, is_code, is_manifest, is_shell_script};
use omo_git::made_folders::INSTALLED_ONLY;
use omo_git::tree::file_identity;
use omo_process::platform::is_executable;
use omo_state::files::regular_file;
use omo_state::seal::hex_digest_of_reader;
use serde::{Deserialize, Serialize};

const MAX_FILES: usize = 1_000;
const MAX_FOLDERS: usize = 1_000;
const MAX_BYTES: u64 = 64 * 1024 * 1024;
/// Settings files of test runners and package tools, at home and above the project.
const SETTINGS: &str = "\
    .cargo/config.toml .cargo/config .npmrc .yarnrc .yarnrc.yml .pydistutils.cfg .config/pip/pip.conf .config/go/env \
    .mocharc.json .mocharc.js .mocharc.yml .babelrc .eslintrc.json .noserc pytest.ini tox.ini setup.cfg conftest.py \
    package.json babel.config.js jest.config.js .config/nextest.toml";
const OF_PYTHON: [&str; 2] = ["sitecustomize.py", "usercustomize.py"];

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutsideFile {
    /// Inode and times, which each change alters; of a link its target.
    identity: String,
    content: Content,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Content {
    /// No content: a link, or a file that changed before it was read.
    Unread,
    TooLarge,
    Digest(String),
}

/// Files by their paths, from the project's top or absolute.
pub type OutsideFiles = BTreeMap<String, OutsideFile>;

pub fn list<'a>(
    root: &Path,
    home: Option<&Path>,
    commands: impl Iterator<Item = &'a str>,
) -> OutsideFiles {
    let mut paths: Vec<PathBuf> = INSTALLED_ONLY
        .iter()
        .flat_map(|folder| files_below(&root.join(folder)))
        .collect();
    // Files in the repository are part of the work.
    let top = root
        .ancestors()
        .find(|folder| folder.join(".git").exists())
        .unwrap_or(root);
    let above = top
        .ancestors()
        .skip(1)
        .take(8)
        .filter(|folder| folder.parent().is_some());
    let folders: Vec<&Path> = home.into_iter().chain(above).collect();
    let settings = folders.iter().flat_map(|folder| {
        SETTINGS
            .split_ascii_whitespace()
            .map(|name| folder.join(name))
    });
    paths.extend(settings.filter(|path| !path.starts_with(top)));
    if let Some(home) = home {
        let words: Vec<String> = commands.flat_map(file_words).collect();
        let named = words
            .iter()
            .flat_map(|word| [home.join(word), home.join("bin").join(word)]);
        paths.extend(named.filter(|path| {
            let name = path.to_string_lossy();
            !path.starts_with(root)
                && (is_executable(path) || is_code(&name) || is_shell_script(&name))
        }));
        let versions = entries(&home.join(".local/lib"))
            .into_iter()
            .map(|version| version.join("site-packages"));
        paths.extend(versions.flat_map(|folder| {
            let path_files = entries(&folder)
                .into_iter()
                .filter(|path| is_path_file(path))
                .collect::<Vec<_>>();
            OF_PYTHON
                .map(|name| folder.join(name))
                .into_iter()
                .chain(path_files)
                .collect::<Vec<_>>()
        }));
    }
    paths
        .into_iter()
        .filter_map(|path| {
            let link = fs::read_link(&path)
                .ok()
                .map(|to| format!("link to {}", to.display()));
            let identity = link.or_else(|| file_identity(&path))?;
            let name = path.strip_prefix(root).unwrap_or(&path);
            let file = OutsideFile {
                identity,
                content: Content::Unread,
            };
            Some((name.to_string_lossy().into_owned(), file))
        })
        .collect()
}

/// Adds the digest of each file that is unchanged since it was listed.
pub fn add_digests(root: &Path, files: &mut OutsideFiles) {
    let mut remaining = MAX_BYTES;
    for (name, file) in files {
        let path = root.join(name);
        // The identity of a link is its target.
        let Some(meta) = path.symlink_metadata().ok().filter(fs::Metadata::is_file) else {
            continue;
        };
        let content = match remaining.checked_sub(meta.len()) {
            Some(rest) => {
                remaining = rest;
                Content::Digest(digest_of(&path))
            }
            None => Content::TooLarge,
        };
        if file_identity(&path).as_ref() == Some(&file.identity) {
            file.content = content;
        }
    }
}

/// Changed files, and new settings, programs and modules; no installed ones if a manifest changed.
pub fn changed<'a>(
    root: &Path,
    then: &OutsideFiles,
    now: &OutsideFiles,
    mut changed_in_work: impl Iterator<Item = &'a str>,
) -> Vec<String> {
    let has_new_manifest =
        changed_in_work.any(|path| is_manifest(path) || path.ends_with("package.json"));
    let was_installed = then.keys().any(|name| is_installed(name));
    now.iter()
        .filter(|(name, _)| !(has_new_manifest && is_installed(name)))
        .filter(|(name, file)| match then.get(*name) {
            Some(then) if then.identity == file.identity => false,
            Some(then) => match &then.content {
                Content::Digest(digest) => *digest != digest_of(&root.join(name)),
                Content::TooLarge => false,
                Content::Unread => true,
            },
            None => is_run_or_loaded(name) && (!is_installed(name) || was_installed),
        })
        .map(|(name, _)| name.clone())
        .collect()
}

fn is_installed(name: &str) -> bool {
    INSTALLED_ONLY
        .iter()
        .any(|folder| Path::new(name).starts_with(folder))
}

/// `true` for a file that checks run or load; `false` for most programs at home, made by checks.
fn is_run_or_loaded(name: &str) -> bool {
    let file = name.rsplit('/').next().unwrap_or(name);
    let is_loaded = OF_PYTHON.contains(&file) || is_path_file(Path::new(file));
    if is_installed(name) {
        return is_loaded || name.split('/').any(|part| matches!(part, "bin" | ".bin"));
    }
    is_loaded
        || SETTINGS
            .split_ascii_whitespace()
            .any(|setting| Path::new(name).ends_with(setting))
}

fn is_path_file(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "pth")
}

fn digest_of(path: &Path) -> String {
    let digest = regular_file::open(path)
        .ok()
        .flatten()
        .and_then(|file| hex_digest_of_reader(file, MAX_BYTES));
    digest.unwrap_or_default()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    let entries = folder.read_dir().into_iter().flatten().flatten();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.path()).take(MAX_FILES).collect();
    paths.sort();
    paths
}

/// Files below a folder, programs first, without caches and records of installers.
fn files_below(top: &Path) -> Vec<PathBuf> {
    let programs = [top.join(".bin"), top.join("bin")];
    let mut folders: VecDeque<PathBuf> = programs.iter().cloned().chain([top.to_owned()]).collect();
    let (mut files, mut looked_at) = (Vec::new(), 0);
    while let Some(folder) = folders
        .pop_front()
        .filter(|_| files.len() < MAX_FILES && looked_at < MAX_FOLDERS)
    {
        looked_at += 1;
        for path in entries(&folder) {
            let name = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned();
            let is_record = name.starts_with('.')
                || name == "__pycache__"
                || [".pyc", ".dist-info", ".egg-info", ".egg-link"]
                    .iter()
                    .any(|end| name.ends_with(end))
                || name.starts_with("__editable__");
            if is_record || programs.contains(&path) {
                continue;
            }
            if path.is_dir() && !path.is_symlink() {
                folders.push_back(path);
            } else if files.len() < MAX_FILES {
                files.push(path);
            }
        }
    }
    files
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn what_is_installed_is_compared_by_its_content() {
        let temp = tempfile::tempdir().unwrap();
        let (root, home) = (temp.path().join("home/p"), temp.path().join("home"));
        let write = |path: &str, text: &str| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("node_modules/.bin/jest", "run");
        write("node_modules/pad/index.js", "pad");
        write("node_modules/.cache/a", "1");
        write("../bin/lint", "lint");
        let list_now = || {
            list(
                &root,
                Some(&home),
                ["$HOME/bin/lint.sh", "sh $HOME/bin/lint.sh"].into_iter(),
            )
        };
        write("../bin/lint.sh", "lint");
        std::os::unix::fs::symlink("../pad/index.js", root.join("node_modules/.bin/pad")).unwrap();
        write("node_modules/early/index.js", "early");
        let mut then = list_now();
        // The work begins before the content is read.
        write("node_modules/early/index.js", "changed");
        add_digests(&root, &mut then);
        assert_eq!(
            changed(&root, &then, &list_now(), std::iter::empty()),
            ["node_modules/early/index.js"]
        );
        then.remove("node_modules/early/index.js");
        let changed =
            |manifest: &[&str]| changed(&root, &then, &list_now(), manifest.iter().copied());
        assert_eq!(changed(&[]), [""; 0]);
        // Installed once more, a cache, and a package that is new.
        fs::remove_file(root.join("node_modules/pad/index.js")).unwrap();
        write("node_modules/pad/index.js", "pad");
        write("node_modules/.cache/a", "2");
        write("node_modules/new/index.js", "new");
        assert_eq!(changed(&[]), [""; 0]);
        write("node_modules/pad/index.js", "evil");
        write("node_modules/.bin/tap", "run");
        fs::remove_file(root.join("node_modules/.bin/pad")).unwrap();
        std::os::unix::fs::symlink("../evil/index.js", root.join("node_modules/.bin/pad")).unwrap();
        assert_eq!(
            changed(&[]),
            [
                "node_modules/.bin/pad",
                "node_modules/.bin/tap",
                "node_modules/pad/index.js"
            ]
        );
        assert_eq!(changed(&["package-lock.json"]), [""; 0]);
        // Files in the project are the work, also where that is its user's home.
        let of_home = list(&root, Some(&root), std::iter::empty());
        write("package.json", "{}");
        assert_eq!(list(&root, Some(&root), std::iter::empty()), of_home);
        fs::remove_file(root.join("package.json")).unwrap();
        write("../bin/lint.sh", "true");
        write("../.cargo/config.toml", "[build]");
        let named = changed(&["package.json"]);
        assert!(
            named.len() == 2
                && named
                    .iter()
                    .any(|name| name.ends_with(".cargo/config.toml")),
            "{named:?}"
        );
    }
}
