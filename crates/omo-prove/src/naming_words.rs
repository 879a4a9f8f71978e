//! Tells whether words of a command name a file, as `a.py` does `tests/a.py`.

use std::collections::BTreeSet;
use std::path::Path;

/// `true` where one of `words` names the file at `path`.
pub fn is_named(path: &str, words: &BTreeSet<String>) -> bool {
    naming_words(path, words).next().is_some()
}

/// Words that name `path`: as a path from any folder, as a pattern, or as a module of Python.
pub(crate) fn naming_words<'a>(
    path: &'a str,
    words: &'a BTreeSet<String>,
) -> impl Iterator<Item = &'a String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    words.iter().filter(move |word| {
        is_path_end(path, word)
            || (word.contains('*') && glob_match::glob_match(word, path))
            || (word.contains('*')
                && glob_match::glob_match(word, name)
                && is_in_named_folder(path, words))
            || is_path_end(path, &format!("{}.py", word.replace('.', "/")))
            || is_path_end(path, &format!("{word}/__main__.py"))
    })
}

fn is_path_end(path: &str, word: &str) -> bool {
    path.strip_suffix(word)
        .is_some_and(|above| above.is_empty() || above.ends_with('/'))
}

fn is_in_named_folder(path: &str, words: &BTreeSet<String>) -> bool {
    let folder = Path::new(path).parent();
    words
        .iter()
        .any(|word| folder.is_some_and(|folder| folder.starts_with(word)))
}
