//! Imports between files of a crate go one way: no circle but of a parent and its children.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use crate::{rust_files, top};

type Path = Vec<String>;

#[test]
fn no_files_import_each_other_in_a_circle() {
    let mut crates: BTreeMap<String, BTreeMap<Path, String>> = BTreeMap::new();
    for file in rust_files() {
        let Some((name, inner)) = file
            .to_str()
            .unwrap()
            .strip_prefix("crates/")
            .and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        if !inner
            .split('/')
            .any(|part| part == "tests" || part == "tests.rs")
        {
            let text = fs::read_to_string(top().join(&file)).unwrap();
            crates
                .entry(name.to_owned())
                .or_default()
                .insert(module_of(inner), text);
        }
    }
    let circles: Vec<String> = crates
        .iter()
        .flat_map(|(name, files)| {
            circle(files)
                .into_iter()
                .map(move |file| format!("{name}: {file}"))
        })
        .collect();
    assert!(
        circles.is_empty(),
        "in a circle, or between two:\n{}",
        circles.join("\n")
    );
}

#[test]
fn a_circle_is_seen_and_a_child_is_none() {
    let files = |texts: [(&str, &str); 4]| {
        let files: BTreeMap<Path, String> = texts
            .into_iter()
            .map(|(file, text)| (module_of(file), text.to_owned()))
            .collect();
        circle(&files)
    };
    let child = ("a/b.rs", "use super::Parent;\n// use crate::c::X;");
    let straight = [
        ("lib.rs", ""),
        ("a.rs", "use crate::{a::b::{self, Child}, c};"),
        child,
        ("c.rs", ""),
    ];
    assert_eq!(files(straight), Vec::<String>::new());
    let round = [
        ("lib.rs", ""),
        ("a.rs", "mod b;"),
        ("a/b.rs", "use super::super::c::X;"),
        ("c.rs", "crate::a::b::f()"),
    ];
    assert_eq!(files(round), ["a::b -> c", "c -> a::b"]);
}

/// `check/runner.rs` is `check::runner`; the root of a crate has no parts.
fn module_of(file: &str) -> Path {
    match file.trim_end_matches(".rs") {
        "lib" | "main" => Vec::new(),
        path => path.split('/').map(str::to_owned).collect(),
    }
}

/// Imports that are left when files at the end of a chain are taken away again and again.
fn circle(files: &BTreeMap<Path, String>) -> Vec<String> {
    let mut imports: BTreeSet<(&Path, &Path)> = files
        .iter()
        .flat_map(|(from, text)| {
            imported(from, text, files)
                .into_iter()
                .map(move |to| (from, to))
        })
        .collect();
    loop {
        let from: BTreeSet<&Path> = imports.iter().map(|(from, _)| *from).collect();
        let to: BTreeSet<&Path> = imports.iter().map(|(_, to)| *to).collect();
        let before = imports.len();
        imports.retain(|(one, other)| to.contains(one) && from.contains(other));
        if imports.len() == before {
            return imports
                .iter()
                .map(|(from, to)| format!("{} -> {}", from.join("::"), to.join("::")))
                .collect();
        }
    }
}

/// Files of the crate that a file names, without its own parents and children.
fn imported<'f>(file: &Path, text: &str, files: &'f BTreeMap<Path, String>) -> BTreeSet<&'f Path> {
    let code = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    let code: String = code
        .lines()
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let mut paths = Vec::new();
    for start in ["crate::", "super::"]
        .iter()
        .flat_map(|word| code.match_indices(word))
        .map(|(at, _)| at)
    {
        // Of `super::super::a` the first is meant.
        let before = code.get(..start).unwrap_or_default();
        if !before.ends_with(|char: char| char.is_alphanumeric() || char == '_' || char == ':') {
            read_paths(
                code.get(start..).unwrap_or_default(),
                &mut Vec::new(),
                &mut paths,
            );
        }
    }
    let known = |path: Path| {
        let ups = path.iter().take_while(|part| *part == "super").count();
        let base = if ups > 0 {
            file.get(..file.len().checked_sub(ups)?)?
        } else {
            &[]
        };
        let names = path.get(ups.max(1)..)?;
        let whole: Path = base.iter().chain(names).cloned().collect();
        let found = (1..=whole.len())
            .rev()
            .find_map(|length| files.get_key_value(whole.get(..length)?))?
            .0;
        (!found.starts_with(file) && !file.starts_with(found)).then_some(found)
    };
    paths.into_iter().filter_map(known).collect()
}

/// Splits `a::{b, c::d}` into paths; gives the rest of the text.
fn read_paths<'t>(text: &'t str, before: &mut Path, paths: &mut Vec<Path>) -> &'t str {
    let text = text.trim_start();
    if let Some(mut rest) = text.strip_prefix('{') {
        loop {
            rest = read_paths(rest, &mut before.clone(), paths).trim_start();
            match rest.strip_prefix(',') {
                Some(more) => rest = more,
                None => return rest.strip_prefix('}').unwrap_or(rest),
            }
        }
    }
    let end = text
        .find(|char: char| !(char.is_alphanumeric() || char == '_'))
        .unwrap_or(text.len());
    let (name, rest) = text.split_at(end);
    before.push(name.to_owned());
    if let Some(rest) = rest.strip_prefix("::") {
        return read_paths(rest, before, paths);
    }
    paths.push(before.clone());
    let is_name = |char: char| char.is_alphanumeric() || char == '_';
    rest.strip_prefix(" as ")
        .map_or(rest, |alias| alias.trim_start_matches(is_name))
}
