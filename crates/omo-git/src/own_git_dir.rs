//! A git folder of omo's own, with which git looks at a work tree: settings, filters, hooks and
//! ignore lists of the repository's `.git` could hide a change or run a program. Filters that
//! `.gitattributes` names are undefined there, so git leaves such files unchanged.

use std::ffi::OsStr;
use std::fmt::Write;
use std::fs;
use std::path::{Path, PathBuf};

use omo_state::env;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::regular_file;
use omo_state::git_worktree::GitWorktree;
use serde::{Deserialize, Serialize};

use crate::git_command::{GitCalls, tree_variables};
use crate::git_output::{lossy_text, parts};
use crate::platform::path_of;

const NAME: &str = "git";
const MAX_BYTES: u64 = 256 * 1024;
/// Attributes that keep git from converting files: it would see other bytes than those on disk.
const ATTRIBUTES: &str = "* -ident !working-tree-encoding !filter !diff\n";
const OF_CONTENT: [&str; 5] = [
    "core.autocrlf",
    "core.eol",
    "core.filemode",
    "core.symlinks",
    "core.ignorecase",
];
const EXCLUDES_FILE: &str = "core.excludesfile";
const OWN: &str = "**/.sisyphus/cc-omo/\n";

/// Harmless settings of a repository, copied into omo's own git folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct RepositorySettings {
    /// Lines of `info/exclude` and of the user's own list.
    pub(crate) ignored: String,
    content: Vec<(String, String)>,
    sha256: bool,
}

impl RepositorySettings {
    /// Reads the present settings; an unreadable one counts as missing.
    pub(crate) fn read(tree: &GitWorktree, calls: &GitCalls) -> Self {
        let mut settings = Self {
            sha256: is_sha256(tree),
            ..Self::default()
        };
        let names = [OF_CONTENT.as_slice(), &[EXCLUDES_FILE]]
            .concat()
            .join("|")
            .replace('.', "[.]");
        let arguments = ["config", "-z", "--get-regexp", &format!("^({names})$")];
        let (_, output) = calls
            .answer(&tree.top, &arguments, &tree_variables(tree), &[])
            .unwrap_or_default();
        let mut user_list = None;
        for entry in parts(&output) {
            let Some((name, value)) = std::str::from_utf8(entry)
                .ok()
                .and_then(|entry| entry.split_once('\n'))
            else {
                continue;
            };
            if name.eq_ignore_ascii_case(EXCLUDES_FILE) {
                user_list = Some(value.to_owned());
            } else if OF_CONTENT.contains(&name) && is_plain(value) {
                settings.content.push((name.to_owned(), value.to_owned()));
            }
        }
        let user_list = user_list.map_or_else(default_ignore_file, |path| {
            Some(expand_home(&path, &tree.top))
        });
        let lists = [user_list, Some(tree.common.join("info/exclude"))];
        // The last matching line decides: the repository's own list stands last, as in git.
        settings.ignored = lists
            .into_iter()
            .flatten()
            .map(|list| read_text(&list) + "\n")
            .collect();
        settings
    }

    /// Settings for lists of names alone, without those on content.
    pub(crate) fn for_names(&self) -> Self {
        Self {
            content: Vec::new(),
            ..self.clone()
        }
    }

    pub(crate) fn without_repository(ignored: String) -> Self {
        Self {
            ignored,
            ..Self::default()
        }
    }
}

fn is_plain(value: &str) -> bool {
    value.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

fn is_sha256(tree: &GitWorktree) -> bool {
    tree.head().is_some_and(|head| head.len() == 64)
        || read_text(&tree.common.join("config"))
            .to_ascii_lowercase()
            .lines()
            .map(str::trim)
            .any(|line| line.starts_with("objectformat") && line.contains("sha256"))
}

fn default_ignore_file() -> Option<PathBuf> {
    let variables = env::variables();
    let folder = variables
        .into_iter()
        .find(|(name, value)| name == "XDG_CONFIG_HOME" && !value.is_empty());
    let folder = folder
        .map(|(_, folder)| PathBuf::from(folder))
        .or_else(|| Some(env::home()?.join(".config")));
    folder.map(|folder| folder.join("git").join("ignore"))
}

fn expand_home(path: &str, top: &Path) -> PathBuf {
    match (path.strip_prefix("~/"), env::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => top.join(path),
    }
}

fn read_text(path: &Path) -> String {
    lossy_text(&regular_file::read_beginning(path, MAX_BYTES))
}

pub(crate) fn make(
    folder: &GuardedFolder,
    tree: Option<&GitWorktree>,
    settings: &RepositorySettings,
) -> Option<PathBuf> {
    folder.empty_folder(NAME).ok()?;
    let at = folder.path().join(NAME);
    for inner in ["refs", "objects", "info"] {
        fs::create_dir(at.join(inner)).ok()?;
    }
    let mut config = format!(
        "[core]\n\trepositoryformatversion = {}\n\tbare = false\n",
        u8::from(settings.sha256)
    );
    config.push_str("\texcludesFile = /dev/null\n");
    for (name, value) in &settings.content {
        let _ = writeln!(config, "\t{} = {value}", name.trim_start_matches("core."));
    }
    if settings.sha256 {
        config.push_str("[extensions]\n\tobjectFormat = sha256\n");
    }
    let ignored = format!("{}\n{OWN}", settings.ignored);
    let files = [("HEAD", "ref: refs/heads/omo\n"), ("config", &config)];
    let files = files
        .into_iter()
        .chain([("info/attributes", ATTRIBUTES), ("info/exclude", &ignored)]);
    for (name, text) in files {
        fs::write(at.join(name), text).ok()?;
    }
    if let Some(tree) = tree {
        copy_shared_indexes(&tree.git, &at);
    }
    Some(at)
}

fn copy_shared_indexes(from: &Path, to: &Path) {
    for entry in fs::read_dir(from).into_iter().flatten().flatten() {
        let name = entry.file_name();
        if name.as_encoded_bytes().starts_with(b"sharedindex.")
            && let Ok(Some(mut shared)) = regular_file::open(&entry.path())
            && let Ok(mut copy) = fs::File::create(to.join(name))
        {
            let _ = std::io::copy(&mut shared, &mut copy);
        }
    }
}

/// Variables for a call by this folder, without the user's own settings.
pub fn variables<'a>(at: &'a Path, top: &'a Path) -> [(&'static str, &'a OsStr); 5] {
    [
        ("GIT_DIR", at.as_os_str()),
        ("GIT_WORK_TREE", top.as_os_str()),
        ("GIT_CONFIG_NOSYSTEM", OsStr::new("1")),
        ("GIT_CONFIG_GLOBAL", OsStr::new("/dev/null")),
        ("GIT_ATTR_NOSYSTEM", OsStr::new("1")),
    ]
}

pub(crate) fn quote_path(path: &Path) -> std::ffi::OsString {
    let bytes = path.as_os_str().as_encoded_bytes();
    if !bytes
        .iter()
        .any(|byte| matches!(byte, b':' | b'"' | b'\\' | b'\r' | b'\n'))
    {
        return path.as_os_str().to_owned();
    }
    let mut out = vec![b'"'];
    for byte in bytes {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            byte => out.push(*byte),
        }
    }
    out.push(b'"');
    path_of(&out).into_os_string()
}
