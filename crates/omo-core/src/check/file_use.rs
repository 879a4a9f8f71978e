//! The use of a file by a command or script that names it: run, read, or judged by its output.

use crate::check::steering::{is_code, is_code_or_text, is_expectation, is_shell_script};
use crate::shell::programs::{Role, has_role};

const BEFORE_PROGRAM: &str = "awk source exec env time xargs then do else if run os.system eval";
const ENDS: [char; 4] = [';', '&', '\n', ')'];
const NAMES_OF_JUDGES: &str = "\
    check checks test tests spec specs run runner verify validate lint ci qa suite gate harness e2e smoke scripts script \
    tools hack";
/// Beginnings and ends of words in names such as `selfcheck.py`.
const MARKS_OF_JUDGES: [&str; 4] = ["check", "test", "verify", "lint"];

/// `true` where `text` runs the file `word`: as a command, or behind an interpreter.
///
/// ```
/// use omo_core::check::file_use::runs_file;
///
/// assert!(runs_file("cd ci && sh check", "check") && runs_file("python3 -m checks.run", "checks.run"));
/// assert!(!runs_file("python3 -m doctest app.py", "app.py") && !runs_file("find . -name x.py", "x.py"));
/// ```
pub fn runs_file(text: &str, word: &str) -> bool {
    text.lines().any(|line| {
        let words = words_of(line);
        let mut places = words.iter().enumerate().filter(|(_, found)| {
            found
                .trim_end_matches([';', '&', '|'])
                .strip_suffix(word)
                .is_some_and(|before| !is_within_name(before))
        });
        places.any(|(place, _)| {
            let mut before = words
                .iter()
                .take(place)
                .rev()
                .filter(|word| !word.starts_with('-'));
            match before.next() {
                Some(&".") => before.next().is_none_or(|before| is_before_program(before)),
                before => before.is_none_or(|before| is_before_program(before)),
            }
        })
    })
}

/// `true` where `text` judges the file `word` at `path`: code that is only read, compiled or
/// imported, a program whose output is judged, or one without a judge's name.
///
/// ```
/// use omo_core::check::file_use::is_judged;
///
/// assert!(is_judged("python3 app.py | diff - expected.txt", "app.py", "app.py"));
/// assert!(!is_judged("python3 app.py | diff - expected.txt", "expected.txt", "expected.txt"));
/// assert!(!is_judged("sh check.sh", "check.sh", "check.sh"));
/// ```
pub fn is_judged(text: &str, word: &str, path: &str) -> bool {
    let is_program = is_code(path) || is_shell_script(path);
    is_code_or_text(path) && !is_expectation(path) && is_only_read(text, word)
        || is_code(path) && runs_file(text, word) && !is_named_as_judge(path)
        || is_program && is_output_judged(text, word, path)
}

fn is_only_read(text: &str, word: &str) -> bool {
    let is_module = !word.rsplit('/').next().unwrap_or(word).contains('.');
    !runs_file(text, word) && (is_module || is_imported(text, word) || !runs_another_file(text))
}

fn is_imported(text: &str, word: &str) -> bool {
    let mut places = text.match_indices(word).peekable();
    places.peek().is_some()
        && places.all(|(at, _)| {
            let before = text
                .get(..at)
                .unwrap_or_default()
                .trim_end_matches(['.', '/', '"', '\'', '`', '\\']);
            ["require(", "import(", "from ", "import "]
                .iter()
                .any(|import| before.ends_with(import))
        })
}

pub fn is_named_as_judge(path: &str) -> bool {
    path.to_lowercase().split(['/', '.', '-', '_']).any(|part| {
        is_in(NAMES_OF_JUDGES, part)
            || MARKS_OF_JUDGES
                .iter()
                .any(|mark| part.starts_with(mark) || part.ends_with(mark))
    })
}

/// `true` where an interpreter runs no file of the project: standard input, a variable, a text.
pub fn runs_another_file(text: &str) -> bool {
    let words: Vec<&str> = text
        .split(char::is_whitespace)
        .filter(|word| !word.is_empty())
        .collect();
    words.iter().enumerate().any(|(place, word)| {
        let is_interpreter = has_role(
            program(word.trim_end_matches([';', '&', '|', ')', '"', '\'', '`'])),
            Role::Interpreter,
        );
        if !is_interpreter {
            return false;
        }
        let is_end = word.ends_with([';', '&', '|', ')', '"', '\'', '`']);
        let after = words.get(place + 1..).unwrap_or_default();
        let has_text = after
            .iter()
            .take_while(|word| word.starts_with('-'))
            .any(|option| ["-c", "-e", "-p"].contains(option));
        let argument = after
            .iter()
            .find(|word| **word == "-" || !word.starts_with('-'));
        is_end
            || has_text
            || argument.is_none_or(|word| {
                let is_elsewhere = word
                    .trim_start_matches(['"', '\''])
                    .starts_with(['/', '~', '$', '<', '|', ';', '&', '{']);
                *word == "-" || is_elsewhere || word.contains('$')
            })
    })
}

fn is_output_judged(text: &str, word: &str, path: &str) -> bool {
    let mut places = text
        .match_indices(word)
        .filter(|(at, _)| !is_within_name(text.get(..*at).unwrap_or_default()))
        .peekable();
    places.peek().is_some()
        && places.all(|(at, _)| {
            let (before, after) = (
                text.get(..at).unwrap_or_default(),
                text.get(at + word.len()..).unwrap_or_default(),
            );
            let command = after.split(ENDS).next().unwrap_or_default();
            let reader = command
                .rsplit_once('|')
                .map(|(_, reader)| first_word(reader));
            let is_kept = command.contains('>') && words_of(after).into_iter().any(is_comparison);
            match reader {
                Some(reader) if is_comparison(reader) => true,
                Some(reader) => has_role(reader, Role::OutputJudge) && !is_named_as_judge(path),
                None => is_kept || is_substituted(before) && !is_named_as_judge(path),
            }
        })
}

fn is_comparison(program: &str) -> bool {
    matches!(program, "diff" | "cmp" | "comm")
}

/// `true` behind a `$(` that `test` or `[` reads.
fn is_substituted(before: &str) -> bool {
    let open = before
        .rfind("$(")
        .filter(|open| !before.get(*open..).unwrap_or_default().contains(')'));
    open.is_some_and(|open| {
        let line = before
            .get(..open)
            .unwrap_or_default()
            .trim_end_matches(['"', '\'']);
        line.ends_with(char::is_whitespace) && (line.contains("test ") || line.contains("[ "))
    })
}

fn is_within_name(before: &str) -> bool {
    before.ends_with(|char: char| char.is_alphanumeric() || "_-.".contains(char))
}

fn first_word(text: &str) -> &str {
    program(text.split_whitespace().next().unwrap_or_default())
}

fn words_of(line: &str) -> Vec<&str> {
    line.split(|char: char| char.is_whitespace() || "\"'`(),[]".contains(char))
        .filter(|word| !word.is_empty())
        .collect()
}

fn is_before_program(before: &str) -> bool {
    before.ends_with([';', '&', '|', '!', '{', '='])
        || is_in(BEFORE_PROGRAM, program(before))
        || has_role(program(before), Role::Interpreter)
}

fn program(word: &str) -> &str {
    let name = word.rsplit('/').next().unwrap_or(word);
    let name = name.trim_start_matches(['(', '"', '\'', '`', '{', '!', '$']);
    name.trim_end_matches(|char: char| char.is_ascii_digit() || char == '.')
}

fn is_in(list: &str, word: &str) -> bool {
    list.split_ascii_whitespace().any(|known| known == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_read_or_whose_output_is_judged_judges_nothing() {
        for command in [
            "python3 app.py | diff - expected.txt",
            "python3 app.py 1 1 | grep -qx 2",
            "test \"$(python3 app.py)\" = 2",
            "pytest -q test_app.py && python3 app.py | cmp - expected.txt",
            "[ \"$(./app.py)\" = 2 ]",
            "python3 app.py > out.txt && diff out.txt expected.txt",
            "python3 -m doctest app.py",
            "python3 -m py_compile app.py && python3 -m unittest discover",
            "env A=1 python3 -m unittest app test_app",
            "cat app.py && wc -c app.py | sort && python3 -m unittest discover",
            "find . -name 'app.py' | xargs -n1 python3 -m py_compile && python3 -m unittest discover",
            "sed -n 1p app.py && find app.py -type f && python3 -m unittest discover",
            "tar cf app.tar *.py && tar tf app.tar | grep -q app.py && python3 -m unittest discover",
            "python3 -c 'from app import add; raise SystemExit(add(1, 1) != 2)'",
            "$HOME/bin/lint app.py",
            "node -e 'process.exit(require(\"./app.py\").add(1, 1) === 2 ? 0 : 1)'",
            "! grep -q TODO app.py",
            "python3 app.py",
            "python3 -m app && diff a b",
            "./app.py --version",
        ] {
            let words = crate::check::steering::file_words(command);
            let is_naming = |word: &&String| word.starts_with("app") || word.contains("*.py");
            assert!(
                words
                    .iter()
                    .filter(is_naming)
                    .all(|word| is_judged(command, word, "app.py")),
                "{command}"
            );
        }
    }

    #[test]
    fn what_a_command_runs_judges() {
        for (command, word, path) in [
            ("python3 checks/run.py", "checks/run.py", "checks/run.py"),
            ("python3 -m checks.run", "checks.run", "checks/run.py"),
            ("python3 checks", "checks", "checks/__main__.py"),
            (
                "python3 checks/run.py | grep -q OK",
                "checks/run.py",
                "checks/run.py",
            ),
            (
                "python3 run_tests.py > log.txt",
                "run_tests.py",
                "run_tests.py",
            ),
            ("cat run.py | python3", "run.py", "run.py"),
            ("python3 < run.py", "run.py", "run.py"),
            ("python3 - < run.py", "run.py", "run.py"),
            (
                "cp run.py \"$HOME/x.py\" && python3 \"$HOME/x.py\"",
                "run.py",
                "run.py",
            ),
            (
                "for f in ci.d/*.py; do python3 $f || exit 1; done",
                "ci.d/*.py",
                "ci.d/a.py",
            ),
            (
                "find ci.d -name '*.py' -exec python3 {} +",
                "*.py",
                "ci.d/a.py",
            ),
            (
                "python3 -c \"exec(open('run.py').read())\"",
                "run.py",
                "run.py",
            ),
            ("ls ci.d/*.js | xargs -n1 node", "ci.d/*.js", "ci.d/a.js"),
            ("python3 selfcheck.py", "selfcheck.py", "selfcheck.py"),
            ("python3 tools/smoke.py", "tools/smoke.py", "tools/smoke.py"),
            ("cat check | sh", "check", "check"),
            ("cat ci/check.sh", "ci/check.sh", "ci/check.sh"),
            (
                "python3 app.py | diff - expected.txt",
                "expected.txt",
                "expected.txt",
            ),
        ] {
            assert!(!is_judged(command, word, path), "{command}");
        }
    }
}
