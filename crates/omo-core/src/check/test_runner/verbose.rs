//! Adds the options to a command with which its test runners name each test, such as `-v`.

/// A runner, the word that may follow it, and its option to name each test.
const RUNNERS: [(&str, &str, &str); 5] = [
    ("m unittest", " discover", " -v"),
    ("jest", "", " --verbose"),
    ("vitest", " run", " --reporter=verbose"),
    ("cargo test", "", ""),
    ("node", " --test", ""),
];
/// Options that hide names of tests, and their replacements.
const QUIET: [(&str, &str); 7] = [
    (" --test-reporter=dot", " --test-reporter=spec"),
    (" --test-reporter dot", " --test-reporter spec"),
    (" --test-reporter=junit", " --test-reporter=spec"),
    (" --test-reporter junit", " --test-reporter spec"),
    (" --reporter=dot", ""),
    (" --quiet", ""),
    (" -q", ""),
];

/// A command or script in which each runner names all tests; `None` without a change.
///
/// ```
/// use omo_core::check::test_runner::verbose::name_each_test;
///
/// assert_eq!(name_each_test("python3 -m unittest -q && ls").as_deref(), Some("python3 -m unittest -v && ls"));
/// assert_eq!(name_each_test("make test"), None);
/// ```
pub fn name_each_test(text: &str) -> Option<String> {
    let named = RUNNERS.iter().fold(text.to_owned(), |text, runner| {
        name_tests_of(&text, *runner)
    });
    (named != text).then_some(named)
}

fn name_tests_of(text: &str, (runner, next, option): (&str, &str, &str)) -> String {
    let mut named = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once(runner) {
        named.push_str(before);
        named.push_str(runner);
        rest = after;
        let is_command = begins_command(before, runner);
        if !is_command || !ends_word(rest) || rest.trim_start_matches(['"', ' ']).starts_with(':') {
            continue;
        }
        if let Some(after) = rest.strip_prefix(next).filter(|after| ends_word(after)) {
            named.push_str(next);
            rest = after;
        } else if option.is_empty() && !next.is_empty() {
            continue;
        }
        let (options, after) = rest.split_at(
            rest.find([';', '&', '|', '\n', '"', '\'', '`', ')'])
                .unwrap_or(rest.len()),
        );
        rest = after;
        if options.contains("destination") {
            named.push_str(options);
            continue;
        }
        if !has_word(options, option) {
            named.push_str(option);
        }
        named.push_str(
            &QUIET
                .iter()
                .fold(options.to_owned(), |options, (quiet, verbose)| {
                    replace_word(&options, quiet, verbose)
                }),
        );
    }
    named.push_str(rest);
    named
}

/// `true` before a runner as a command, with or without its folder, or as a module of Python.
fn begins_command(before: &str, runner: &str) -> bool {
    if runner.starts_with("m ") {
        return before.trim_end_matches(char::is_alphabetic).ends_with('-');
    }
    before.is_empty()
        || before.ends_with(|char: char| char.is_whitespace() || "/\"'`;&|(".contains(char))
}

fn ends_word(after: &str) -> bool {
    after.is_empty()
        || after.starts_with(|char: char| char.is_whitespace() || "\"'`;&|)".contains(char))
}

fn has_word(options: &str, option: &str) -> bool {
    option.is_empty()
        || options
            .match_indices(option)
            .any(|(at, _)| ends_word(options.get(at + option.len()..).unwrap_or_default()))
}

fn replace_word(options: &str, quiet: &str, verbose: &str) -> String {
    let mut replaced = String::with_capacity(options.len());
    let mut rest = options;
    while let Some((before, after)) = rest.split_once(quiet) {
        replaced.push_str(before);
        replaced.push_str(if ends_word(after) { verbose } else { quiet });
        rest = after;
    }
    replaced.push_str(rest);
    replaced
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_runner_is_made_to_name_its_tests() {
        for (text, expected) in [
            ("python3 -m unittest", "python3 -m unittest -v"),
            (
                "python3 -Bm unittest discover -s tests",
                "python3 -Bm unittest discover -v -s tests",
            ),
            (
                "test:\n\tpython3 -m unittest discover\n",
                "test:\n\tpython3 -m unittest discover -v\n",
            ),
            (
                "python3 -m unittest discover -q",
                "python3 -m unittest discover -v",
            ),
            (
                "python3 -m unittest test_app.py; ls -q",
                "python3 -m unittest -v test_app.py; ls -q",
            ),
            (
                "node --test --test-reporter=dot dist",
                "node --test --test-reporter=spec dist",
            ),
            (
                "node --test --test-reporter junit",
                "node --test --test-reporter spec",
            ),
            (
                "\"test\": \"jest --ci\"",
                "\"test\": \"jest --verbose --ci\"",
            ),
            ("node_modules/.bin/jest", "node_modules/.bin/jest --verbose"),
            (
                "npx vitest run --reporter=dot",
                "npx vitest run --reporter=verbose",
            ),
            ("cargo test -q --offline", "cargo test --offline"),
            ("cargo test -- --quiet", "cargo test --"),
        ] {
            assert_eq!(name_each_test(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "python3 -m unittest -v",
            "python3 -m unittests",
            "node --test",
            "node build.js",
            "node --test --test-reporter=junit --test-reporter-destination=out.xml",
            "\"jest\": \"^29.0.0\"",
            "jest.config.js",
            "npm i eslint-plugin-jest",
            "cargo test",
            "cargo build -q",
            "pytest -q",
        ] {
            assert_eq!(name_each_test(text), None, "{text}");
        }
    }
}
