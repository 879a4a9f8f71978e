//! The paths of a sentence: code or words that have the form of a file's path.

use super::{TaskVerb, file_action, read_verb, words_before};
use crate::diagnostic::Severity;
use crate::fields::named_files::path_problem;
use crate::fields::stated_checks::split_code_span;
use crate::model::FileUse;

/// A longer word is no path.
const MAX_PATH_BYTES: usize = 300;
/// So many bytes of a line are read: a longer one is no sentence.
const MAX_ROW_BYTES: usize = 16_384;

/// What the names of files end with.
const EXTENSIONS: &[&str] = &[
    "adoc",
    "astro",
    "avsc",
    "bash",
    "bat",
    "bicep",
    "blade",
    "c",
    "cc",
    "cfg",
    "cjs",
    "clj",
    "cmake",
    "cmd",
    "conf",
    "config",
    "cpp",
    "cs",
    "csproj",
    "css",
    "csv",
    "cts",
    "cxx",
    "dart",
    "db",
    "dockerfile",
    "edn",
    "ejs",
    "env",
    "erb",
    "erl",
    "ex",
    "example",
    "exs",
    "feature",
    "fs",
    "fsproj",
    "gd",
    "gif",
    "go",
    "gql",
    "gradle",
    "graphql",
    "groovy",
    "h",
    "hbs",
    "hcl",
    "heex",
    "hpp",
    "hs",
    "htm",
    "html",
    "ico",
    "ini",
    "ipynb",
    "java",
    "jinja",
    "jinja2",
    "jpg",
    "js",
    "json",
    "json5",
    "jsonc",
    "jsonl",
    "jsx",
    "kt",
    "kts",
    "less",
    "liquid",
    "lock",
    "lua",
    "m",
    "mako",
    "md",
    "mdc",
    "mdx",
    "mjs",
    "mk",
    "ml",
    "mli",
    "mm",
    "mod",
    "mts",
    "nim",
    "nix",
    "php",
    "pl",
    "plist",
    "png",
    "prisma",
    "properties",
    "proto",
    "props",
    "ps1",
    "psm1",
    "pug",
    "py",
    "pyi",
    "r",
    "rb",
    "rego",
    "rs",
    "rst",
    "sass",
    "sbt",
    "scala",
    "scss",
    "service",
    "sh",
    "sln",
    "snap",
    "sol",
    "sql",
    "sqlite",
    "storyboard",
    "sum",
    "sv",
    "svelte",
    "svg",
    "swift",
    "targets",
    "template",
    "tf",
    "tfvars",
    "tmpl",
    "toml",
    "tpl",
    "ts",
    "tsx",
    "txt",
    "v",
    "vb",
    "vhd",
    "vue",
    "webp",
    "wgsl",
    "xaml",
    "xcconfig",
    "xml",
    "xsd",
    "yaml",
    "yml",
    "zig",
    "zsh",
];
/// Files without such an end.
const NAMES: &[&str] = &[
    "Brewfile",
    "CODEOWNERS",
    "Dockerfile",
    "Gemfile",
    "Jenkinsfile",
    "Justfile",
    "Makefile",
    "Podfile",
    "Procfile",
    "Rakefile",
    "Vagrantfile",
    "justfile",
    "makefile",
];
/// Files that begin with a dot.
const DOT_FILES: &[&str] = &[
    ".editorconfig",
    ".env",
    ".gitattributes",
    ".gitkeep",
    ".gitmodules",
    ".mailmap",
    ".node-version",
    ".python-version",
    ".ruby-version",
    ".tool-versions",
];
/// Names of libraries that look like files.
const LIBRARIES: &[&str] = &[
    "alpine.js",
    "asp.net",
    "backbone.js",
    "chart.js",
    "d3.js",
    "deck.gl",
    "discord.js",
    "ember.js",
    "express.js",
    "fabric.js",
    "highlight.js",
    "htmx.js",
    "js.org",
    "leaflet.js",
    "moment.js",
    "nest.js",
    "next.js",
    "node.js",
    "nuxt.js",
    "p5.js",
    "pdf.js",
    "phaser.js",
    "pixi.js",
    "plotly.js",
    "react.js",
    "solid.js",
    "socket.io",
    "tensorflow.js",
    "three.js",
    "tone.js",
    "transformers.js",
    "vue.js",
    "web3.js",
    "ethers.js",
    "ffmpeg.wasm",
];
/// Words before a path that say that it is only looked at.
const MENTIONS: &[&str] = &[
    "per",
    "see",
    "from",
    "like",
    "using",
    "load",
    "loads",
    "reads",
    "read",
    "reuse",
    "reusing",
    "reuses",
    "following",
    "follow",
    "follows",
    "of",
    "matching",
    "match",
    "matches",
    "than",
    "via",
    "with",
    "by",
    "to match",
    "mirrors",
    "mirror",
    "against",
    "calls",
    "call",
    "run",
    "runs",
    "or",
    "as",
    "uses",
    "imports",
    "import",
    "loading",
    "importing",
    "for",
];

/// The files of a sentence.
pub(super) fn read_paths(row: &str) -> Vec<FileUse> {
    if row.len() > MAX_ROW_BYTES {
        return Vec::new();
    }
    let verb = read_verb(row);
    let mut found = Vec::new();
    let mut read = |word: &str, byte: usize, is_code: bool| {
        if let Some(path) = read_path(word, is_code) {
            let is_optional = is_mention(row, byte, verb);
            found.push(FileUse { is_optional, ..FileUse::new(path.clone(), file_action(verb, &path)) });
        }
    };
    let mut rest = row;
    while let Some(at) = rest.find('`') {
        let plain_start = row.len() - rest.len();
        read_plain(rest.get(..at).unwrap_or_default(), plain_start, &mut read);
        let code_text = rest.get(at..).unwrap_or_default();
        match split_code_span(code_text) {
            Some((code, behind)) => {
                read(code, plain_start + at, true);
                rest = behind;
            }
            None => rest = code_text.trim_start_matches('`'),
        }
    }
    read_plain(rest, row.len() - rest.len(), &mut read);
    found
}

/// The words of a text without code.
fn read_plain(text: &str, start: usize, read: &mut impl FnMut(&str, usize, bool)) {
    let is_part = |char: char| char.is_ascii_alphanumeric() || "._-/@[]*+~\\:<>{}$".contains(char);
    let mut from = 0;
    for part in text.split(|char: char| !is_part(char)) {
        // A link is a text and a target.
        let is_link = text.get(..from).is_some_and(|before| before.ends_with("]("));
        if !part.is_empty() && !is_link {
            read(part, start + from, false);
        }
        let length = text.get(from + part.len()..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        from += part.len() + length;
    }
}

/// The path that a word is, from the top of the repository.
fn read_path(word: &str, is_code: bool) -> Option<String> {
    // Most words of a sentence are told by this.
    if !word.contains('.') && !word.contains("file") && !word.contains("CODEOWNERS") {
        return None;
    }
    let word = word.trim().trim_end_matches([',', ';', '.', ':', '!', '?']);
    let word = if is_code { word } else { word.trim_matches(['*', '[', ']', '<', '>', ':']) };
    let word = trim_brackets(word);
    if word.len() > MAX_PATH_BYTES || word.contains("://") || word.starts_with(['@', '-', '$', '~', '\\', '%', '#']) {
        return None;
    }
    let bare = without_lines(word.trim_end_matches('_'));
    if bare.contains(['<', '>', '{', '}', '$', '(', ')', '"', '\'', '=', '|', '&', ';', ' ', ',', ':'])
        || bare.contains("...")
    {
        return None;
    }
    let path = bare.replace('\\', "/");
    let path = path.trim_start_matches("./");
    let path = if is_from_disk_root(path) { path } else { path.trim_start_matches('/') };
    let is_library = || LIBRARIES.contains(&path.to_ascii_lowercase().as_str());
    let is_inside = || path_problem(path).is_none_or(|(code, _)| code.severity() != Severity::Error);
    (is_file_name(path, is_code) && !is_library() && is_inside()).then(|| path.to_owned())
}

/// Folders at the root of a disk below which repositories lie. Any other path that begins with a slash is meant from
/// the top of the repository.
const ROOT_FOLDERS: [&str; 12] =
    ["home", "Users", "root", "mnt", "opt", "private", "srv", "tmp", "var", "Volumes", "workspace", "workspaces"];

fn is_from_disk_root(path: &str) -> bool {
    let folder = path.strip_prefix('/').and_then(|inner| inner.split_once('/')).map(|(folder, _)| folder);
    folder.is_some_and(|folder| ROOT_FOLDERS.contains(&folder))
}

/// A word of a sentence takes a bracket that it does not open with it.
fn trim_brackets(word: &str) -> &str {
    let mut word = word;
    while word.ends_with(']') && !word.contains('[') {
        word = word.trim_end_matches(']');
    }
    word
}

/// A path without the lines behind it: `a.rs:10-20`, `a.rs#L3`.
fn without_lines(word: &str) -> &str {
    let is_lines = |lines: &str| {
        !lines.is_empty() && lines.chars().all(|char| char.is_ascii_digit() || matches!(char, 'L' | '-' | ':' | ','))
    };
    match word.split_once([':', '#']) {
        Some((path, lines)) if is_lines(lines) => path,
        _ => word,
    }
}

fn is_file_name(path: &str, is_code: bool) -> bool {
    let name = path.rsplit('/').next().unwrap_or_default();
    if name.is_empty() || !path.chars().any(char::is_alphanumeric) || (name.starts_with("*.") && !path.contains('/')) {
        return false;
    }
    if NAMES.contains(&name) || name.starts_with("Dockerfile.") || (name.starts_with(".env") && name.len() > 4) {
        return true;
    }
    if name.starts_with('.') && !name.trim_start_matches('.').contains('.') {
        // A name with a leading dot may be a class or a target: `.active`, `.PHONY`.
        let is_ignore = name.ends_with("ignore") && name != ".ignore";
        return is_ignore || name.ends_with("rc") && name.len() > 4 || DOT_FILES.contains(&name);
    }
    let Some((stem, end)) = name.rsplit_once('.') else { return false };
    let lower = end.to_ascii_lowercase();
    let is_name =
        !stem.is_empty() && stem.chars().any(|char| char.is_alphanumeric() || matches!(char, '*' | '_' | '['));
    // `e.g`, `i.e` and versions are none; nor is `v1.c` in a sentence.
    let is_short = !is_code && !path.contains('/') && end.len() < 2;
    // A field of a value is no file: `app.config`, `process.env`.
    let is_field = !path.contains('/')
        && matches!(
            lower.as_str(),
            "env"
                | "config"
                | "db"
                | "service"
                | "example"
                | "props"
                | "m"
                | "v"
                | "r"
                | "h"
                | "template"
                | "feature"
                | "targets"
                | "mod"
                | "lock"
                | "sum"
                | "properties"
                | "conf"
        )
        && !matches!(
            name,
            "go.mod"
                | "go.sum"
                | "Cargo.lock"
                | "poetry.lock"
                | "uv.lock"
                | "yarn.lock"
                | "nginx.conf"
                | "gradle.properties"
                | "application.properties"
        );
    is_name && !is_short && !is_field && EXTENSIONS.contains(&lower.as_str())
}

/// A file is only looked at.
fn is_mention(row: &str, byte: usize, verb: TaskVerb) -> bool {
    let inside = row.get(..byte).and_then(|before| before.rsplit_once('(')).map(|(_, inside)| inside);
    let aside = inside.filter(|inside| !inside.contains(')')).unwrap_or_default().trim_start().to_ascii_lowercase();
    let is_aside = ["see", "load", "e.g", "reuse", "run ", "per ", "from ", "using ", "like "]
        .iter()
        .any(|word| aside.starts_with(word));
    let mut before =
        words_before(row, byte).filter(|word| !matches!(word.as_str(), "the" | "a" | "an" | "existing" | "file"));
    let last = before.next().unwrap_or_default();
    // What is removed or exported from a file is in it.
    let is_inside = last == "from" && (verb == TaskVerb::Delete || row.trim_start().starts_with("Export"));
    is_aside || !is_inside && (matches!(verb, TaskVerb::Inspect | TaskVerb::Run) || MENTIONS.contains(&last.as_str()))
}
