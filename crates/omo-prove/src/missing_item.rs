//! Finds names that a build or import misses without the change, as in `undefined: parse`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use omo_core::text::sanitize;
use regex::Regex;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MissingItem {
    /// Last part of the name: `c` of `a::b::c`, or the stem of a module's path.
    pub name: String,
    /// Full name of the module, as it was loaded.
    pub module: Option<String>,
    pub line: String,
}

const MAX_ITEMS: usize = 200;
const MAX_LINE_CHARS: usize = 160;
/// Maximum bytes of a source line; a longer one is not written by a person.
const MAX_SOURCE_LINE_BYTES: usize = 2_000;

/// Patterns of messages about a missing item, which is the named group.
const PATTERNS: [&str; 9] = [
    // rustc
    r"cannot find (?:[a-z]+,? )+?`(?P<item>[^`]+)`",
    r"(?:unresolved imports?|use of undeclared [a-z ]+|could not find|file not found for module|cannot find) `(?P<item>[^`]+)`",
    r"no (?:[a-z]+ (?:or [a-z]+ )?(?:[a-z]+ )?)?(?:named|field) `(?P<item>[^`]+)`",
    r"has no field named `(?P<item>[^`]+)`",
    // Go
    r"undefined: (?P<item>[\w./]+)|(?:undefined|type .+) \(.*has no field or method (?P<member>\w+)|unknown field (?P<field>\w+) in struct|package (?P<package>\S+) is not in std|provides package (?P<required>[^\s;]+)",
    // Python
    r"cannot import name '(?P<item>[^']+)'|No module named '(?P<module>[^']+)'|(?:has no|does not have the) attribute '(?P<attribute>[^']+)'",
    // node, Vitest and TypeScript
    r"does not provide an export named '(?P<item>[^']+)'|Cannot find (?:module|package|name) '(?P<module>[^']+)'",
    r#"Failed to (?:resolve import|load url) "?(?P<item>[^" ]+)"?"#,
    r"has no exported member(?: named)? '(?P<item>[^']+)'|Property '(?P<property>[^']+)' does not exist on type|(?P<call>[\w$.]+) is not a (?:function|constructor)",
];

/// [`PATTERNS`] of languages whose definitions are not read.
const OTHER_PATTERNS: [&str; 6] = [
    // Java and Kotlin
    r"symbol: +(?:class|method|variable|interface) (?P<item>\w+)|error: package (?P<package>[\w.]+) does not exist",
    r"[Uu]nresolved reference:? '?(?P<item>\w+)",
    // C#
    r"name '(?P<item>[^']+)' (?:could not be found|does not exist)|does not contain a definition for '(?P<member>\w+)'",
    // C and C++
    r"['‘](?P<item>[\w:]+)['’] (?:was not declared|undeclared|is not a member of|does not name a type|has no member)|(?:undeclared identifier|no member named|implicit declaration of function|call to undeclared function) ['‘](?P<name>[\w:]+)|undefined reference to [`'](?P<symbol>[\w:~]+)|fatal error: '?(?P<header>[\w./-]+?)'?(?:: No such file| file not found)",
    // Ruby
    r"cannot load such file -- (?P<module>\S+)|uninitialized constant (?P<item>[\w:]+)|undefined (?:local variable or )?method [`'](?P<method>\w+[?!]?)",
    // Swift and PHP
    r#"[Cc]annot find (?:type )?'(?P<item>\w+)' in scope|Class "?(?P<class>[\w\\]+)"? not found|undefined (?:function|method) (?P<function>[\w:\\]+)\("#,
];

type Readers = LazyLock<Vec<Regex>>;

static READERS: Readers = LazyLock::new(|| {
    PATTERNS
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
});
static OTHER_READERS: Readers = LazyLock::new(|| {
    OTHER_PATTERNS
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
});

pub(crate) fn find_missing_items(lines: &[String]) -> Vec<MissingItem> {
    read_missing_items(lines, &READERS)
}

pub(crate) fn find_other_missing_items(lines: &[String]) -> Vec<MissingItem> {
    read_missing_items(lines, &OTHER_READERS)
}

fn read_missing_items(lines: &[String], readers: &[Regex]) -> Vec<MissingItem> {
    let mut items = Vec::new();
    for line in lines {
        for captures in readers.iter().flat_map(|reader| reader.captures_iter(line)) {
            let named = captures
                .iter()
                .skip(1)
                .flatten()
                .next()
                .map(|item| last_name(item.as_str()));
            if let Some(name) = named.filter(|name| !name.is_empty()) {
                let module = captures
                    .name("module")
                    .map(|module| module.as_str().to_owned());
                items.push(MissingItem {
                    name,
                    module,
                    line: sanitize(line.trim(), MAX_LINE_CHARS),
                });
            }
        }
        if items.len() >= MAX_ITEMS {
            break;
        }
    }
    items
}

fn last_name(path: &str) -> String {
    let path = path.trim_end_matches('/');
    let file = path.rsplit('/').next().unwrap_or(path);
    let endings = [
        ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".py",
    ];
    let stem = endings
        .iter()
        .find_map(|ending| file.strip_suffix(ending))
        .unwrap_or(file);
    let name = stem.rsplit(['.', ':']).next().unwrap_or(stem);
    name.trim_matches(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '-' | '$')))
        .to_owned()
}

/// Patterns of definitions: keyword, field or key, variant, method, assignment, list of exports,
/// field of Go.
const DEFINITIONS: [&str; 7] = [
    r"\b(?:fn|struct|enum|trait|mod|type|const|static|union|macro_rules!|def|class|func|function|let|var|interface|namespace)[ \t]+(?:\([^()]*\)[ \t]*|mut[ \t]+)?\*?[ \t]*(?P<name>[\w$]+)",
    r"^[ \t]*(?:pub(?:\([^()]*\))?[ \t]+)?(?P<name>[\w$]+)\??[ \t]*:(?:[^:]|$)",
    r"^[ \t]*(?P<name>[A-Z]\w*)(?:\([^()]*\))?,?[ \t]*$",
    r"^[ \t]*(?:(?:async|static|get|set|public|private|protected)[ \t]+)*\*?(?P<name>[\w$]+)[ \t]*\([^()]*\)[^(){}]*\{[ \t]*$",
    r"^[ \t]*(?:(?:self|this|exports|module\.exports)\.)?(?P<name>[\w$]+)[ \t]*=[^=]",
    r"\bexport[ \t]*\{(?P<names>[^{}]*)\}",
    r"^[ \t]+(?P<name>[A-Z]\w*)[ \t]+[\w\[\]*.]+(?:[ \t]+`[^`]*`)?$",
];

static DEFINERS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    DEFINITIONS
        .iter()
        .filter_map(|pattern| Regex::new(pattern).ok())
        .collect()
});

/// Names that source code defines, by its lines; comments and imports define nothing.
pub(crate) fn add_definitions(text: &str, names: &mut BTreeSet<String>) {
    const NOT_DEFINING: [&str; 8] = ["//", "#!", "# ", "*", "/*", "use ", "import ", "from "];
    for line in text
        .lines()
        .filter(|line| line.len() <= MAX_SOURCE_LINE_BYTES)
    {
        let start = line.trim_start();
        if NOT_DEFINING.iter().any(|mark| start.starts_with(mark)) {
            continue;
        }
        for captures in DEFINERS
            .iter()
            .flat_map(|definer| definer.captures_iter(line))
        {
            let group = captures.name("name").or_else(|| captures.name("names"));
            add_words(group.map_or("", |group| group.as_str()), names);
        }
    }
}

pub(crate) fn add_words(text: &str, words: &mut BTreeSet<String>) {
    let parts = text.split(|char: char| !(char.is_alphanumeric() || matches!(char, '_' | '$')));
    words.extend(parts.filter(|word| !word.is_empty()).map(str::to_owned));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_tool_names_what_is_missing() {
        for (line, name) in [
            (
                "error[E0425]: cannot find function `total_price` in this scope",
                "total_price",
            ),
            (
                "error[E0425]: cannot find function `total` in module `cart`",
                "total",
            ),
            (
                "error[E0412]: cannot find type `Cart` in this scope",
                "Cart",
            ),
            (
                "error[E0405]: cannot find trait `Priced` in this scope",
                "Priced",
            ),
            (
                "error[E0432]: unresolved import `shop::cart::Total`",
                "Total",
            ),
            (
                "error[E0433]: failed to resolve: use of undeclared type `Cart`",
                "Cart",
            ),
            (
                "error[E0433]: failed to resolve: could not find `cart` in `shop`",
                "cart",
            ),
            (
                "error[E0599]: no method named `total` found for struct `Cart` in the current scope",
                "total",
            ),
            (
                "error[E0599]: no function or associated item named `new` found for struct `Cart`",
                "new",
            ),
            (
                "error[E0599]: no variant or associated item named `Paid` found for enum `State`",
                "Paid",
            ),
            (
                "error[E0560]: struct `Cart` has no field named `tax`",
                "tax",
            ),
            ("error[E0609]: no field `tax` on type `Cart`", "tax"),
            ("error: cannot find macro `sum` in this scope", "sum"),
            ("error[E0583]: file not found for module `tax`", "tax"),
            ("./cart_test.go:9:7: undefined: TotalPrice", "TotalPrice"),
            ("./a_test.go:9:7: undefined: cart.Total", "Total"),
            (
                "./a_test.go:7:4: c.Total undefined (type Cart has no field or method Total)",
                "Total",
            ),
            (
                "./a_test.go:7:4: unknown field Tax in struct literal of type Cart",
                "Tax",
            ),
            (
                "a_test.go:4:2: package example.org/shop/tax is not in std (/usr/lib/go/src/tax)",
                "tax",
            ),
            (
                "a_test.go:4:2: no required module provides package example.org/shop/tax; to add it:",
                "tax",
            ),
            (
                "E   ImportError: cannot import name 'total' from 'shop.cart' (/x/cart.py)",
                "total",
            ),
            ("E   ModuleNotFoundError: No module named 'shop.tax'", "tax"),
            (
                "AttributeError: module 'shop' has no attribute 'total'",
                "total",
            ),
            (
                "AttributeError: <module 'shop'> does not have the attribute 'total'",
                "total",
            ),
            (
                "SyntaxError: The requested module '../cart.js' does not provide an export named 'total'",
                "total",
            ),
            (
                "Error: Cannot find module '/p/src/tax.js' imported from /p/test/a.test.js",
                "tax",
            ),
            (
                "Error: Failed to load url ../src/tax (resolved id: ../src/tax) in /p/a.test.ts.",
                "tax",
            ),
            (
                "Error: Failed to resolve import \"./tax.ts\" from \"src/a.test.ts\". Does the file exist?",
                "tax",
            ),
            (
                "a.ts(1,10): error TS2305: Module '\"./cart\"' has no exported member 'total'.",
                "total",
            ),
            (
                "a.ts(3,5): error TS2339: Property 'tax' does not exist on type 'Cart'.",
                "tax",
            ),
            ("TypeError: cart.total is not a function", "total"),
        ] {
            let items = find_missing_items(&[line.to_owned()]);
            assert!(
                items.iter().any(|item| item.name == name),
                "{line}: {items:?}"
            );
        }
        for line in [
            "error[E0308]: mismatched types",
            "all good",
            "test total ... ok",
            "undefined behaviour",
        ] {
            assert_eq!(find_missing_items(&[line.to_owned()]), [], "{line}");
        }
    }

    #[test]
    fn what_is_defined_is_told_from_what_is_used() {
        let source = "pub fn total() {\nstruct Cart { tax: u32 }\n    pub tax: u32,\n    Paid,\ndef priced(x):\nfunc (c Cart) Sum() int {\n\
                      \tRate float64\nexport const rate = 1\nexport { one, two as three }\n  refund(order) {\nself.state = 1\nclass Shop:\n";
        let mut names = BTreeSet::new();
        add_definitions(source, &mut names);
        for name in [
            "total", "Cart", "tax", "Paid", "priced", "Sum", "Rate", "rate", "one", "three",
            "refund", "state", "Shop",
        ] {
            assert!(names.contains(name), "{name}: {names:?}");
        }
        let mut names = BTreeSet::new();
        add_definitions(
            "// tested with proptest\n# uses requests\nuse proptest::prelude::*;\nimport requests\nfrom requests import get\n\
             proptest::run();\nrequests.get(1)\n",
            &mut names,
        );
        assert!(
            !names.contains("proptest") && !names.contains("requests"),
            "{names:?}"
        );
    }

    #[test]
    fn compilers_of_other_languages_name_what_is_missing() {
        for (line, name) in [
            ("  symbol:   class Cart", "Cart"),
            (
                "CartTest.java:3: error: package shop.cart does not exist",
                "cart",
            ),
            ("e: CartTest.kt:4:9 Unresolved reference: total", "total"),
            (
                "error CS0246: The type or namespace name 'Cart' could not be found",
                "Cart",
            ),
            (
                "error CS0103: The name 'Total' does not exist in the current context",
                "Total",
            ),
            (
                "error CS0117: 'Cart' does not contain a definition for 'Total'",
                "Total",
            ),
            (
                "cart_test.cpp:3:5: error: ‘total’ was not declared in this scope",
                "total",
            ),
            (
                "cart_test.cpp:3:5: error: use of undeclared identifier 'total'",
                "total",
            ),
            (
                "cart_test.c:(.text+0x5): undefined reference to `total'",
                "total",
            ),
            (
                "cart_test.c:1:10: fatal error: cart.h: No such file or directory",
                "h",
            ),
            (
                "cart_test.c:1:10: fatal error: 'cart.h' file not found",
                "h",
            ),
            (
                "cart_test.rb:1: cannot load such file -- shop/cart (LoadError)",
                "cart",
            ),
            ("NameError: uninitialized constant Shop::Cart", "Cart"),
            ("NoMethodError: undefined method `total' for nil", "total"),
            ("error: cannot find 'total' in scope", "total"),
            ("Error: Class \"Shop\\Cart\" not found", "Shop\\Cart"),
            ("Error: Call to undefined function total()", "total"),
        ] {
            let found = find_other_missing_items(&[line.to_owned()]);
            assert_eq!(
                found.first().map(|item| item.name.as_str()),
                Some(name),
                "{line}"
            );
        }
        for line in [
            "1 error generated.",
            "BUILD FAILED",
            "error: cannot find symbol",
            "LoadError",
        ] {
            assert!(
                find_other_missing_items(&[line.to_owned()]).is_empty(),
                "{line}"
            );
        }
    }
}
