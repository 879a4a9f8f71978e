//! Which commands run tests with a runner that is known here: one of them that gives no count has run nothing.

/// A word of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Word {
    /// The word, without quotes around it.
    pub text: String,
    /// It is the first word of a command.
    pub is_program: bool,
}

/// The words of a command, roughly as a shell parts them.
pub fn words(run: &str) -> Vec<Word> {
    let mut words = Vec::new();
    let mut begins = true;
    for part in run.split_inclusive([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']) {
        let text = part.trim_end_matches([' ', '\t', '\n', ';', '&', '|', '(', ')', '<', '>']);
        let text = text.trim_matches(['"', '\'']);
        let is_assignment =
            text.split_once('=').is_some_and(|(name, _)| !name.is_empty() && !name.contains(['/', '-']));
        // Words that run another command behind them, and what those are given before it.
        let passes_on = is_assignment
            || text.starts_with(|char: char| char.is_ascii_digit() || char == '-')
            || matches!(
                text,
                "timeout" | "sudo" | "env" | "time" | "exec" | "nice" | "command" | "then" | "do" | "!" | "if"
            );
        if !text.is_empty() {
            words.push(Word { text: text.to_owned(), is_program: begins && !passes_on });
            begins = begins && passes_on;
        }
        begins |= part.ends_with([';', '&', '|', '(', '\n']);
    }
    words
}

/// The commands of a list: each program with the words behind it.
pub fn commands(words: &[Word]) -> impl Iterator<Item = (&str, Vec<&str>)> {
    words.iter().enumerate().filter(|(_, word)| word.is_program).map(|(index, word)| {
        let rest = words.get(index + 1..).unwrap_or_default();
        (word.text.as_str(), rest.iter().take_while(|word| !word.is_program).map(|word| word.text.as_str()).collect())
    })
}

/// Whether a command runs tests with a runner whose summary is read here.
pub fn names_runner(run: &str) -> bool {
    commands(&words(run)).any(|(program, arguments)| is_runner(program, &arguments))
}

/// The name of a program without its folder, its version and the ending that it has on Windows.
pub fn stem(program: &str) -> &str {
    let name = program.rsplit(['/', '\\']).next().unwrap_or(program);
    let name = [".exe", ".cmd", ".bat"].iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.')
}

/// The module that Python is asked to run: behind `-m`, which may stand behind other letters and before the name.
fn module<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let (flags, name) = word.strip_prefix('-')?.split_once('m')?;
        let is_module = flags.chars().all(|flag| "bBdEiIOPqsSuvx".contains(flag));
        let name = if name.is_empty() { arguments.get(at + 1).copied() } else { Some(name) };
        name.filter(|_| is_module)
    })
}

fn is_runner(program: &str, arguments: &[&str]) -> bool {
    // It was asked to do something else than to run tests.
    if arguments.iter().any(|word| matches!(*word, "--no-run" | "--version" | "--help" | "-h")) {
        return false;
    }
    let has = |wanted: &str| arguments.contains(&wanted);
    let first = arguments.iter().find(|word| !word.starts_with(['-', '+'])).copied().unwrap_or_default();
    match stem(program) {
        "pytest" | "py.test" | "jest" | "vitest" => true,
        "python" | "pypy" => matches!(module(arguments), Some("pytest" | "unittest")),
        "cargo" => matches!(first, "test" | "t") || (first == "nextest" && (has("run") || has("r"))),
        "go" => first == "test",
        "node" => has("--test"),
        // They run a program behind them.
        "npx" | "npm" | "pnpm" | "yarn" | "bun" | "bunx" | "uv" | "uvx" | "poetry" | "pipenv" | "pdm" | "hatch"
        | "coverage" => (0..arguments.len()).any(|at| {
            let rest = arguments.get(at + 1..).unwrap_or_default();
            arguments.get(at).is_some_and(|word| {
                matches!(stem(word), "pytest" | "jest" | "vitest" | "python" | "unittest" | "node")
                    && (*word == "unittest" || is_runner(word, rest))
            })
        }),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_runner_is_known_wherever_it_stands_in_a_command() {
        for (run, expected) in [
            ("cargo test", true),
            ("cargo +nightly test --all", true),
            ("cargo nextest run", true),
            ("cargo nextest list", false),
            ("cargo test --no-run", false),
            ("cargo build && cargo t", true),
            ("cargo clippy --tests", false),
            ("RUST_BACKTRACE=1 timeout 60 cargo test | tail -5", true),
            ("pytest", true),
            (".venv/bin/pytest -q", true),
            ("python3 -m pytest", true),
            ("python3.11 -m unittest discover", true),
            ("python3 -Bm unittest", true),
            ("python3 -um pytest", true),
            ("python3 -munittest", true),
            ("python3 -Wm unittest", false),
            ("python3 --module unittest", false),
            ("python3 test.py", false),
            ("uv run pytest", true),
            ("poetry run python -m unittest", true),
            ("coverage run -m unittest", true),
            ("go test ./...", true),
            ("go vet ./...", false),
            ("npx jest --ci", true),
            ("npx vitest run", true),
            ("npm test", false),
            ("node --test", true),
            ("node build.js", false),
            ("echo pytest", false),
            ("test -f pytest", false),
            ("make test", false),
            ("pytest --version", false),
        ] {
            assert_eq!(names_runner(run), expected, "{run}");
        }
    }
}
