//! `cargo xtask texts`: every text in the source of what a user runs, by file, to be read aloud as a whole.
//!
//! Literals of at least three words, and the doc comments that clap shows as help. Tests, and attributes for the
//! compiler, have none.

use std::fs;
use std::path::Path;
use std::str::FromStr;

use anyhow::{Context, Result, anyhow};
use proc_macro2::{Delimiter, TokenStream, TokenTree};

use crate::cargo;
use crate::test::needs;

/// Crates that no user runs.
const OTHERS: [&str; 4] = ["omo-fuzz", "omo-pages", "omo-testkit", "xtask"];
/// Attributes whose texts are shown.
const SHOWN: [&str; 4] = ["arg", "command", "error", "value"];
/// Derives whose doc comments are help.
const HELP: [&str; 4] = ["Args", "Parser", "Subcommand", "ValueEnum"];
const WORDS: usize = 3;

pub(crate) fn run() -> Result<()> {
    let top = cargo::top()?;
    let mut files = needs::rust_files()?;
    files.sort();
    for path in files {
        let name = path.strip_prefix(&top).unwrap_or(&path);
        if !is_run_by_users(name) {
            continue;
        }
        let text = fs::read_to_string(&path).with_context(|| format!("read {}", name.display()))?;
        let texts = texts(&text).with_context(|| format!("parse {}", name.display()))?;
        if !texts.is_empty() {
            anstream::println!("== {}", name.display());
            anstream::println!("{}", texts.join("\n"));
        }
    }
    Ok(())
}

fn is_run_by_users(path: &Path) -> bool {
    let parts: Vec<_> = path.iter().map(|part| part.to_string_lossy()).collect();
    matches!(parts.as_slice(), [first, name, src, ..]
        if first == "crates" && src == "src" && !OTHERS.contains(&name.as_ref()))
}

/// Texts of a source file in their order, each on one line.
fn texts(source: &str) -> Result<Vec<String>> {
    let tokens = TokenStream::from_str(source).map_err(|error| anyhow!("{error}"))?;
    let mut found = Vec::new();
    collect(tokens, false, &mut found);
    Ok(found)
}

fn collect(tokens: TokenStream, is_help: bool, found: &mut Vec<String>) {
    let (mut is_attribute, mut is_test, mut has_help) = (false, false, false);
    for token in tokens {
        match token {
            TokenTree::Punct(mark) if mark.as_char() == '#' => {
                is_attribute = true;
                continue;
            }
            // Of an attribute of the whole file.
            TokenTree::Punct(mark) if is_attribute && mark.as_char() == '!' => continue,
            TokenTree::Group(group) if is_attribute && group.delimiter() == Delimiter::Bracket => {
                let text = group.stream().to_string();
                let name = text.split(|end: char| !end.is_alphanumeric()).next();
                let name = name.unwrap_or_default();
                is_test |= text == "cfg (test)" || text == "cfg(test)";
                has_help |= name == "derive" && HELP.iter().any(|help| has_word(&text, help));
                if SHOWN.contains(&name) || (name == "doc" && is_help) {
                    collect(group.stream(), false, found);
                }
            }
            TokenTree::Group(group) if group.delimiter() == Delimiter::Brace => {
                let is_left_out = std::mem::take(&mut is_test);
                let is_help = std::mem::take(&mut has_help) || is_help;
                if !is_left_out {
                    collect(group.stream(), is_help, found);
                }
            }
            TokenTree::Group(group) => collect(group.stream(), is_help, found),
            TokenTree::Literal(literal) => found.extend(shown(&literal.to_string())),
            TokenTree::Punct(mark) if mark.as_char() == ';' => is_test = false,
            _ => {}
        }
        is_attribute = false;
    }
}

fn has_word(text: &str, word: &str) -> bool {
    text.split(|end: char| !end.is_alphanumeric())
        .any(|it| it == word)
}

/// A literal as its reader sees it, if it has enough words.
fn shown(literal: &str) -> Option<String> {
    let text = syn::parse_str::<syn::LitStr>(literal).ok()?.value();
    let words = text
        .split_whitespace()
        .filter(|word| word.chars().any(char::is_alphabetic));
    (words.count() >= WORDS).then(|| text.trim().replace('\n', "\\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_errors_and_help_are_found_and_nothing_for_programmers() {
        let source = r#"//! Of the file, not shown.
            #![expect(lint, reason = "a reason of the code")]
            #[derive(Args)]
            struct Options {
                /// Help that a person reads
                #[arg(long, help = "More help of this")]
                it: bool,
            }
            #[derive(thiserror::Error)]
            enum Error {
                /// Not shown to a person
                #[error("no file {0} is here")]
                Missing(String),
            }
            fn say() { println!("it is\nsaid here"); let _ = "two words"; }
            #[cfg(test)]
            mod tests { fn it() { println!("not said to anyone"); } }
        "#;
        let expected = [
            "Help that a person reads",
            "More help of this",
            "no file {0} is here",
            "it is\\nsaid here",
        ];
        assert_eq!(texts(source).unwrap(), expected);
    }
}
