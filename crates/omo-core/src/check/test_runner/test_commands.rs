//! Recognizes commands that run tests, by the table of known runners.

use super::runner_of;
use crate::shell::programs::{Role, has_role, is_reader, program_name, without_wrappers};
use crate::shell::split_commands;

/// `true` for a command of a known runner; lines of shell within it are not read.
pub fn names_test_runner(words: &[String]) -> bool {
    test_runner(words).is_some()
}

/// The runner of a line, such as `cargo`; `None` for several runners or repeated runs.
pub(super) fn only_runner(line: &str) -> Option<&'static str> {
    const REPEATS: [&str; 7] = [
        "for", "while", "until", "xargs", "find", "parallel", "watch",
    ];
    let commands = split_commands(line);
    let mut programs = commands
        .iter()
        .filter(|words| words.first().is_some_and(|word| word != "cd"));
    let only = programs.next().and_then(|words| test_runner(words));
    let is_repeated = line.split_whitespace().any(|word| REPEATS.contains(&word));
    only.filter(|_| {
        !is_repeated
            && programs.all(|words| words.first().is_some_and(|word| runs_no_tests(word, &[])))
    })
}

fn test_runner(words: &[String]) -> Option<&'static str> {
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let reach = if words
        .first()
        .is_some_and(|program| may_run_another(program))
    {
        words.len()
    } else {
        1
    };
    let asked = words
        .iter()
        .take_while(|word| {
            !matches!(
                **word,
                "install" | "add" | "remove" | "uninstall" | "upgrade"
            )
        })
        .count();
    (0..reach.min(asked)).find_map(|at| {
        let (program, arguments) = words.get(at..)?.split_first()?;
        runner(program, arguments)
    })
}

/// `true` where a part does more than read files, end processes or build.
pub fn may_run_tests(line: &str) -> bool {
    split_commands(line).iter().any(|words| {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        let command = without_wrappers(&words).split_first();
        command.is_some_and(|(program, arguments)| !runs_no_tests(program_name(program), arguments))
    })
}

fn runs_no_tests(name: &str, arguments: &[&str]) -> bool {
    let asked = subcommand(arguments);
    match name {
        "cargo" => matches!(
            asked,
            "build" | "b" | "check" | "c" | "clippy" | "doc" | "d" | "fmt"
        ),
        "go" => matches!(asked, "build" | "fmt" | "vet"),
        // With other verbs, or an alias, it runs programs.
        "git" => {
            let reads = matches!(
                asked,
                "diff" | "grep" | "log" | "ls-files" | "rev-parse" | "show" | "status"
            );
            reads && !arguments.contains(&"-c")
        }
        "awk" | "gawk" | "mawk" | "nawk" => false,
        "command" | "kill" | "pkill" | "yes" => true,
        _ => is_reader(name),
    }
}

/// `false` for programs that are known to run no other one.
fn may_run_another(program: &str) -> bool {
    let name = program_name(program);
    let is_script = program.contains('/') && name.contains('.');
    !is_script
        && !has_role(name, Role::TaskRunner)
        && !is_reader(name)
        && !has_role(name, Role::Shell)
}

pub(super) fn subcommand<'a>(arguments: &[&'a str]) -> &'a str {
    arguments
        .iter()
        .find(|word| !word.starts_with(['-', '+']))
        .copied()
        .unwrap_or_default()
}

pub(super) fn runs_python_module(program: &str, arguments: &[&str], module: &str) -> bool {
    matches!(program, "python" | "pypy") && python_module(arguments) == Some(module)
}

/// The module behind `-m`, also in `-bm`.
pub fn python_module<'a>(arguments: &[&'a str]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        let (flags, name) = word.strip_prefix('-')?.split_once('m')?;
        let is_module = flags.chars().all(|flag| "bBdEiIOPqsSuvx".contains(flag));
        let name = if name.is_empty() {
            arguments.get(at + 1).copied()
        } else {
            Some(name)
        };
        name.filter(|_| is_module)
    })
}

fn runner(program: &str, arguments: &[&str]) -> Option<&'static str> {
    let is_other = arguments
        .iter()
        .any(|word| matches!(*word, "--no-run" | "--version" | "--help" | "-h"));
    runner_of(program_name(program), arguments).filter(|_| !is_other)
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
            ("timeout -s KILL 60 pytest", true),
            ("env -u FOO stdbuf -oL cargo test", true),
            ("{ go test ./...; }", true),
            ("pip install pytest", false),
            ("poetry add --dev pytest", false),
            ("./run.sh pytest", false),
            ("grep -r 'pytest is here' docs", false),
        ] {
            assert_eq!(
                split_commands(run)
                    .iter()
                    .any(|words| names_test_runner(words)),
                expected,
                "{run}"
            );
        }
    }

    #[test]
    fn what_only_reads_or_builds_runs_no_tests_and_anything_else_may() {
        for (line, expected) in [
            ("make check", true),
            (
                "cd \"$(git rev-parse --show-toplevel)\" && make check",
                true,
            ),
            ("cd web && tsc --noEmit && ./check", true),
            ("bash -c true", true),
            ("cargo xtask", true),
            ("git bisect run make", true),
            ("git diff --exit-code", false),
            ("cargo clippy && cargo +nightly fmt --check", false),
            ("go vet ./... ", false),
            ("test -f done && grep -q x README.md", false),
            ("tsc --noEmit", false),
            (
                "exec >&- 2>&-; timeout -k 5 60 env A=1 tsc --noEmit; setsid sleep 5",
                false,
            ),
            ("timeout -k 5 60 env A=1 ./check", true),
            ("A=1", false),
        ] {
            assert_eq!(may_run_tests(line), expected, "{line}");
        }
    }
}
