//! No test passes without having run: it is ignored with its needs, or it fails.

use std::fs;

use crate::{rust_files, top};

const ENDS: [&str; 5] = [
    "return;",
    "return }",
    "return Ok(())",
    "return say(",
    "return eprintln!(",
];
const PRINTS: [&str; 3] = ["println!(", "print!(", " say("];
/// Words of a test that did nothing.
const EXCUSES: [&str; 6] = [
    "not run",
    "skipped",
    "left out",
    "not checked",
    "only checked",
    "not installed",
];

fn early_ends(text: &str) -> Vec<&str> {
    let (mut found, mut last_line) = (Vec::new(), None);
    for line in text.lines() {
        if let Some(indent) = line.strip_suffix("#[test]") {
            last_line = Some(format!("{indent}}}"));
        }
        let is_comment = line.trim_start().starts_with("//");
        if last_line.is_some() && !is_comment && ENDS.iter().any(|end| line.contains(end)) {
            found.push(line);
        }
        if last_line.as_deref() == Some(line) {
            last_line = None;
        }
    }
    found
}

fn excuses(text: &str) -> Vec<&str> {
    let printed = PRINTS.iter().flat_map(|print| text.split(print).skip(1));
    let printed = printed.filter_map(|rest| rest.split(");").next());
    printed
        .filter(|printed| EXCUSES.iter().any(|excuse| printed.contains(excuse)))
        .collect()
}

#[test]
fn an_early_end_and_an_excuse_are_found() {
    let test = |body: &str| {
        format!(
            "    #[test]\n    fn it_is() {{\n{body}\n    }}\n\n    fn other() {{\n        return;\n    }}\n"
        )
    };
    assert_eq!(
        early_ends(&test("        let Some(it) = it() else { return };")).len(),
        1
    );
    assert_eq!(
        early_ends(&test(
            "        if !is_here() {\n            return Ok(());\n        }"
        ))
        .len(),
        1
    );
    assert!(
        early_ends(&test(
            "        // Without it there is nothing to return;\n        it();"
        ))
        .is_empty()
    );
    assert_eq!(
        excuses("    println!(\n        \"{it}: not installed\"\n    );").len(),
        1
    );
    assert!(excuses("    println!(\"{it}\");\n    // not run\n").is_empty());
}

/// Needs beside cargo and git stand in `#[ignore]`; `cargo xtask test` looks for them.
#[test]
fn no_test_passes_without_having_run() {
    for path in rust_files() {
        let text = fs::read_to_string(top().join(&path)).unwrap();
        let is_of_tests = path.components().any(|part| part.as_os_str() == "tests");
        let found = [
            early_ends(&text),
            if is_of_tests {
                excuses(&text)
            } else {
                Vec::new()
            },
        ]
        .concat();
        let advice = "ignore it: #[ignore = \"needs …: cargo xtask test\"]";
        assert!(
            found.is_empty() || path.ends_with(file!()),
            "{}: {found:#?}\n{advice}",
            path.display()
        );
    }
}
