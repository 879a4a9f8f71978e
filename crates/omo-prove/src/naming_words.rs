//! Words of a command that name a file.

use std::collections::BTreeSet;
use std::path::Path;

/// `true` for a path that one of the words of a command names.
pub fn is_named(path: &str, words: &BTreeSet<String>) -> bool {
    naming_words(path, words).next().is_some()
}

/// The words of a command that name the file at this path: as a path from any folder, as a pattern, or as a module of
/// Python.
pub(crate) fn naming_words<'a>(
    path: &'a str,
    words: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a String> {
    let is_below = |word: &str| {
        path.strip_suffix(word)
            .is_some_and(|above| above.is_empty() || above.ends_with('/'))
    };
    let is_in_named_folder = move || {
        words.iter().any(|word| {
            Path::new(path)
                .parent()
                .is_some_and(|folder| folder.starts_with(word))
        })
    };
    let name = path.rsplit('/').next().unwrap_or(path);
    words.iter().filter(move |word| {
        let module = || format!("{}.py", word.replace('.', "/"));
        is_below(word)
            || (word.contains('*') && glob_match::glob_match(word, path))
            || (word.contains('*') && glob_match::glob_match(word, name) && is_in_named_folder())
            || is_below(&module())
            || is_below(&format!("{word}/__main__.py"))
    })
}
