//! Tests at the top of a Rust file, parted from the code: a file of the base with the tests of now.

use std::iter::Peekable;
use std::ops::Range;

use proc_macro2::{Delimiter, TokenStream, TokenTree, token_stream};
use syn::spanned::Spanned;
use syn::{Attribute, Item, Meta};

/// Maximum bytes of a parsed file.
const MAX_BYTES: usize = 1024 * 1024;
/// Nested calls of the parser: one a bracket pair, at worst one a token up to the next separator.
const MAX_CALLS: usize = 8_000;
/// Stack for `MAX_CALLS` in a build without optimizations.
const STACK_BYTES: usize = 512 * 1024 * 1024;

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NotSeparable {
    #[error("it is too large or too deep to be parsed")]
    TooLarge,
    #[error("it cannot be parsed")]
    NotParsed,
    #[error("the tests in it are inside of other items")]
    Nested,
    #[error("the file is new, and so is what they test")]
    New,
}

#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct TakenTests {
    /// `None` where the tests are the same.
    pub joined: Option<String>,
    /// Test modules with files of their own.
    pub modules: Vec<String>,
}

/// For a new file. An unreadable one may have some.
pub(crate) fn has_tests(now: &str) -> bool {
    let was_empty = take_over_tests("", now);
    !matches!(was_empty, Ok(TakenTests { joined: None, .. }))
}

/// Code of `base` with the tests of `now`.
///
/// # Errors
///
/// Inseparable tests.
pub(crate) fn take_over_tests(base: &str, now: &str) -> Result<TakenTests, NotSeparable> {
    parse_apart(base, now, separate)
}

/// Parses two hostile files on a stack of their own, which bounds the parser's recursion.
pub(crate) fn parse_apart<T: Send + 'static, E: From<NotSeparable> + Send + 'static>(
    base: &str,
    now: &str,
    parse: impl FnOnce(&str, &str) -> Result<T, E> + Send + 'static,
) -> Result<T, E> {
    is_parsable(base)?;
    is_parsable(now)?;
    let (base, now) = (base.to_owned(), now.to_owned());
    let parser = std::thread::Builder::new()
        .stack_size(STACK_BYTES)
        .spawn(move || parse(&base, &now));
    parser
        .ok()
        .and_then(|parser| parser.join().ok())
        .unwrap_or_else(|| Err(NotSeparable::TooLarge.into()))
}

fn separate(base: &str, now: &str) -> Result<TakenTests, NotSeparable> {
    let (base_tests, now_tests) = (FileTests::find(base)?, FileTests::find(now)?);
    if base_tests.nested != now_tests.nested {
        return Err(NotSeparable::Nested);
    }
    let of_base = base_tests.texts(base).ok_or(NotSeparable::NotParsed)?;
    let of_now = now_tests.texts(now).ok_or(NotSeparable::NotParsed)?;
    let modules = now_tests.modules;
    if of_base == of_now {
        return Ok(TakenTests {
            joined: None,
            modules,
        });
    }
    let mut out = String::with_capacity(base.len() + now.len());
    let mut at = 0;
    for range in &base_tests.ranges {
        out.push_str(base.get(at..range.start).ok_or(NotSeparable::NotParsed)?);
        at = range.end;
    }
    out.push_str(base.get(at..).ok_or(NotSeparable::NotParsed)?);
    for test in of_now {
        out.push('\n');
        out.push_str(&test);
        out.push('\n');
    }
    Ok(TakenTests {
        joined: Some(out),
        modules,
    })
}

struct FileTests {
    ranges: Vec<Range<usize>>,
    nested: Vec<String>,
    /// As in `mod tests;`.
    modules: Vec<String>,
}

impl FileTests {
    fn find(text: &str) -> Result<Self, NotSeparable> {
        let file = syn::parse_file(text).map_err(|_| NotSeparable::NotParsed)?;
        let mut tests = Self {
            ranges: Vec::new(),
            nested: Vec::new(),
            modules: Vec::new(),
        };
        for item in &file.items {
            if is_test(item) {
                tests.ranges.push(item.span().byte_range());
                if let Item::Mod(module) = item
                    && module.content.is_none()
                {
                    tests.modules.push(module.ident.to_string());
                }
            } else {
                collect_nested(item, text, &mut tests.nested);
            }
        }
        Ok(tests)
    }

    fn texts(&self, text: &str) -> Option<Vec<String>> {
        self.ranges
            .iter()
            .map(|range| text.get(range.clone()).map(str::to_owned))
            .collect()
    }
}

fn text_of(text: &str, item: &impl Spanned) -> String {
    text.get(item.span().byte_range())
        .unwrap_or_default()
        .to_owned()
}

fn collect_nested(item: &Item, text: &str, nested: &mut Vec<String>) {
    match item {
        Item::Mod(module) => {
            for inner in module.content.iter().flat_map(|(_, items)| items) {
                if is_test(inner) {
                    nested.push(text_of(text, inner));
                } else {
                    collect_nested(inner, text, nested);
                }
            }
        }
        Item::Impl(block) => {
            for inner in &block.items {
                if let syn::ImplItem::Fn(method) = inner
                    && is_for_tests(&method.attrs)
                {
                    nested.push(text_of(text, method));
                }
            }
        }
        // Output of a macro is not known.
        Item::Macro(call) if call.mac.tokens.to_string().contains("# [test]") => {
            nested.push(text_of(text, call));
        }
        _ => {}
    }
}

fn is_test(item: &Item) -> bool {
    let attributes = match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    is_for_tests(attributes)
}

/// `#[cfg(test)]`, `#[cfg(all(test, …))]`, `#[test]`, `#[tokio::test]`.
pub(crate) fn is_for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|attribute| {
        let path = attribute.path();
        if path
            .segments
            .last()
            .is_some_and(|last| last.ident == "test")
        {
            return true;
        }
        let Meta::List(list) = &attribute.meta else {
            return false;
        };
        let condition = list.tokens.to_string().replace(' ', "");
        path.is_ident("cfg")
            && (condition == "test"
                || condition.starts_with("all(test,")
                || condition.ends_with(",test)"))
            && !condition.contains("not(")
    })
}

fn is_parsable(text: &str) -> Result<(), NotSeparable> {
    // Behind a byte order mark or a shebang the parser begins to count.
    let is_shifted =
        text.starts_with('\u{feff}') || (text.starts_with("#!") && !text.starts_with("#!["));
    if text.len() > MAX_BYTES || is_shifted {
        return Err(NotSeparable::TooLarge);
    }
    // Tokens are read without recursion.
    let tokens: TokenStream = text.parse().map_err(|_| NotSeparable::NotParsed)?;
    if is_shallow(tokens) {
        Ok(())
    } else {
        Err(NotSeparable::TooLarge)
    }
}

struct TokenLevel {
    tokens: Peekable<token_stream::IntoIter>,
    outer: usize,
    /// Includes tokens since the last separator.
    calls: usize,
    /// A `,` may stand behind an open `<` or `|`.
    is_list_open: bool,
}

impl TokenLevel {
    fn new(tokens: TokenStream, outer: usize) -> Self {
        Self {
            tokens: tokens.into_iter().peekable(),
            outer,
            calls: outer,
            is_list_open: false,
        }
    }

    fn separate(&mut self) {
        (self.calls, self.is_list_open) = (self.outer, false);
    }
}

fn is_shallow(tokens: TokenStream) -> bool {
    let mut levels = vec![TokenLevel::new(tokens, 0)];
    while let Some(level) = levels.last_mut() {
        let Some(token) = level.tokens.next() else {
            levels.pop();
            continue;
        };
        level.calls += 1;
        if level.calls > MAX_CALLS {
            return false;
        }
        match token {
            TokenTree::Group(group) => {
                let inner = TokenLevel::new(group.stream(), level.calls);
                let goes_on =
                    matches!(level.tokens.peek(), Some(TokenTree::Ident(word)) if word == "else");
                if group.delimiter() == Delimiter::Brace && !goes_on {
                    level.separate();
                }
                levels.push(inner);
            }
            TokenTree::Punct(sign) => match sign.as_char() {
                ';' => level.separate(),
                ',' if !level.is_list_open => level.separate(),
                '<' | '|' => level.is_list_open = true,
                _ => {}
            },
            TokenTree::Ident(_) | TokenTree::Literal(_) => {}
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_of_now_stand_below_the_code_of_then() {
        let base = "use std::fmt;\n\n// Kept.\npub fn total() -> u32 { 0 }\n\n#[cfg(test)]\nmod tests { #[test] fn old() {} }\n";
        let now = "pub fn total() -> u32 { 1 }\npub fn tax() {}\n\n#[cfg(test)]\nmod tests { #[test] fn new() { super::tax() } }\n\n\
                   /// A test.\n#[test]\nfn ö_alone() {}\n";
        let joined = take_over_tests(base, now).unwrap().joined.unwrap();
        assert!(
            joined.starts_with("use std::fmt;\n\n// Kept.\npub fn total() -> u32 { 0 }\n"),
            "{joined}"
        );
        assert!(
            joined.contains("fn new() { super::tax() }")
                && joined.contains("/// A test.\n#[test]\nfn ö_alone() {}")
        );
        assert!(
            !joined.contains("fn old()") && !joined.contains("pub fn tax"),
            "{joined}"
        );
        syn::parse_file(&joined).unwrap();
    }

    #[test]
    fn tests_that_did_not_change_leave_a_file_as_it_was() {
        let test = "#[cfg(all(test, unix))]\nmod tests {}\n";
        let taken = |base: String, now: String| take_over_tests(&base, &now).unwrap();
        let same = TakenTests::default();
        assert_eq!(
            taken(
                format!("fn a() {{}}\n{test}"),
                format!("{test}fn b() {{}}\n")
            ),
            same
        );
        let nested = "mod inner { #[cfg(test)] mod tests {} }";
        assert_eq!(
            taken(
                format!("fn a() {{}}\n{nested}"),
                format!("{nested}\nfn b() {{}}")
            ),
            same
        );
        let declared = take_over_tests("", "#[cfg(test)]\nmod cases;\nmod code;\n").unwrap();
        assert_eq!(declared.modules, ["cases"]);
    }

    #[test]
    fn what_cannot_be_told_apart_is_said() {
        for (base, now, why) in [
            ("fn a() {}", "fn a( {", NotSeparable::NotParsed),
            (
                "mod m {}",
                "mod m { #[test] fn t() {} }",
                NotSeparable::Nested,
            ),
            (
                "impl A {}",
                "impl A { #[cfg(test)] fn t() {} }",
                NotSeparable::Nested,
            ),
            (
                "struct A;",
                "wrap! { #[test] fn t() {} }",
                NotSeparable::Nested,
            ),
            (
                "",
                "#!/usr/bin/env run\nfn main() {}",
                NotSeparable::TooLarge,
            ),
        ] {
            assert_eq!(take_over_tests(base, now), Err(why), "{now}");
        }
    }

    #[test]
    fn hostile_files_are_refused_or_parsed_and_end_nothing() {
        let deep = |open: &str, close: &str, count: usize| {
            format!(
                "fn a() {{ let _ = {}1{}; }}",
                open.repeat(count),
                close.repeat(count)
            )
        };
        for text in [
            deep("(", ")", 100_000),
            deep("!", "", 200_000),
            deep("- ", "", 100_000),
            deep("|a|", "", 80_000),
            deep("return ", "", 35_000),
            deep("if a {} else ", "", 19_000),
            format!("type A = {}u8{};", "B<".repeat(80_000), ">".repeat(80_000)),
            format!(
                "type A = {}u8{};",
                "B<u8,".repeat(80_000),
                ">".repeat(80_000)
            ),
            deep("|a, b|", "", 80_000),
            deep("(", ")", 7_000),
            deep("!", "", 7_000),
            deep("|a|", "", 1_900),
            deep("if a {} else ", "", 1_900),
        ] {
            let _ = take_over_tests("fn a() {}", &text);
        }
    }
}
