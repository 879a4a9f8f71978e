//! The size of each crate has a budget, so that it grows with a reason or not at all.

use std::collections::BTreeMap;
use std::fs;

use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::{rust_files, top};

/// Maximum thousands of tokens of a crate's code, without comments and tests.
///
/// A commit that raises one says why in its message.
const BUDGETS: [(&str, usize); 18] = [
    ("omo-checks", 20),
    ("omo-claude", 21),
    ("omo-cli", 203),
    ("omo-core", 123),
    ("omo-engine", 205),
    ("omo-fuzz", 16),
    ("omo-git", 128),
    ("omo-hooks", 28),
    ("omo-pages", 7),
    ("omo-plan", 145),
    ("omo-process", 17),
    ("omo-prove", 34),
    ("omo-remote", 30),
    ("omo-scripted-model", 4),
    ("omo-state", 56),
    ("omo-testkit", 29),
    ("omo-view", 33),
    ("xtask", 40),
];

#[test]
fn every_crate_stays_within_its_budget() {
    let mut sizes: BTreeMap<String, usize> = BTreeMap::new();
    for file in rust_files() {
        let path = file.to_str().unwrap();
        let Some((name, inner)) = path
            .strip_prefix("crates/")
            .and_then(|path| path.split_once("/src/"))
        else {
            continue;
        };
        let is_test = |part: &str| part == "tests" || part == "tests.rs";
        if !inner.split('/').any(is_test) {
            let text = fs::read_to_string(top().join(&file)).unwrap();
            *sizes.entry(name.to_owned()).or_default() += tokens(text.parse().unwrap());
        }
    }
    let sizes: Vec<_> = sizes
        .iter()
        .map(|(name, size)| (&**name, size.div_ceil(1000)))
        .collect();
    let names =
        |rows: &[(&str, usize)]| rows.iter().map(|row| row.0.to_owned()).collect::<Vec<_>>();
    assert_eq!(
        names(&BUDGETS),
        names(&sizes),
        "a row for each crate: {sizes:?}"
    );
    let grown: Vec<_> = sizes
        .iter()
        .zip(BUDGETS)
        .filter(|(size, budget)| size.1 > budget.1)
        .collect();
    assert!(
        grown.is_empty(),
        "thousands of tokens, and the budget: {grown:?}"
    );
}

#[test]
fn comments_and_tests_are_no_tokens() {
    let size = |text: &str| tokens(text.parse().unwrap());
    assert_eq!(size("fn f(a: u8) {}"), 9);
    assert_eq!(
        size("//! A.\n/// B.\n#[doc = \"C\"]\nfn f(a: u8) { /* D */ }"),
        9
    );
    assert_eq!(
        size("#[cfg(test)]\nmod tests { fn f() {} }\nfn f(a: u8) {}"),
        9
    );
    assert_eq!(
        size("#[cfg(all(test, unix))]\n#[path = \"a\"]\nmod tests;\nfn f(a: u8) {}"),
        9
    );
    assert_eq!(size("#[cfg(unix)] use a;"), 3 + 2 + 2 + 3);
}

/// Words and signs, each bracket one; none of comments, nor of what only tests build.
fn tokens(stream: TokenStream) -> usize {
    let mut trees = stream.into_iter().peekable();
    let mut count = 0;
    while let Some(tree) = trees.next() {
        if is_sign(&tree, '#') {
            let is_inner = trees.next_if(|tree| is_sign(tree, '!')).is_some();
            match trees.next() {
                Some(TokenTree::Group(group)) if begins_with(&group.stream(), "doc") => {}
                Some(TokenTree::Group(group)) if is_for_tests(&group.stream()) && !is_inner => {
                    while trees.next().is_some_and(|tree| !ends_item(&tree)) {}
                }
                other => count += 1 + usize::from(is_inner) + other.map_or(0, size),
            }
        } else {
            count += size(tree);
        }
    }
    count
}

fn size(tree: TokenTree) -> usize {
    match tree {
        TokenTree::Group(group) => 2 + tokens(group.stream()),
        _ => 1,
    }
}

fn is_sign(tree: &TokenTree, sign: char) -> bool {
    matches!(tree, TokenTree::Punct(punct) if punct.as_char() == sign)
}

fn ends_item(tree: &TokenTree) -> bool {
    is_sign(tree, ';')
        || matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

fn begins_with(stream: &TokenStream, word: &str) -> bool {
    matches!(stream.clone().into_iter().next(), Some(TokenTree::Ident(ident)) if ident == word)
}

/// The `cfg(test)` or `cfg(all(test, …))` of an attribute.
fn is_for_tests(attribute: &TokenStream) -> bool {
    let mut trees = attribute.clone().into_iter().skip(1);
    begins_with(attribute, "cfg")
        && trees.next().is_some_and(|tree| {
            let TokenTree::Group(condition) = tree else {
                return false;
            };
            let condition = condition.stream();
            let all = condition.clone().into_iter().nth(1);
            begins_with(&condition, "test")
                || begins_with(&condition, "all")
                    && matches!(all, Some(TokenTree::Group(group)) if begins_with(&group.stream(), "test"))
        })
}
