//! The commands of a `Verify:`, a `## Verification` or an `## Exit Condition`, and what is expected of them.

use std::ops::Range;

use omo_core::check::{Check, ExpectedExit, has_pipe};
use omo_core::words::neutral;

use super::inline::{Piece, pieces};
use super::outline::Findings;
use crate::diagnostic::Code as DiagnosticCode;
use crate::document::{Code, Document, lines};
use crate::labels::item;

/// What begins the expectation, wherever code stands before it.
const MARKS: [&str; 9] = ["→", "->", "=>", "expect", "should ", "prints ", "outputs ", "contains ", "shows "];
/// What begins it behind a command that stands between no backticks, which may say the others itself.
const PLAIN_MARKS: [&str; 4] = ["→", "expected:", "expected output:", "(expect"];
/// What stands between a mark and the expectation.
const LEADS: [&str; 19] = [
    "→", "->", "=>", ":", "(", "-", "—", "expected", "expects", "expect", "should", "prints", "print", "outputs",
    "output", "contains", "contain", "shows", "show",
];
/// Words that a sentence about an outcome has, and an outcome itself does not.
const SENTENCE: [&str; 17] = [
    "all",
    "pass",
    "passes",
    "passed.",
    "passing",
    "succeeds",
    "succeed",
    "success",
    "successful",
    "green",
    "clean",
    "cleanly",
    "works",
    "without",
    "should",
    "no",
    "is",
];

/// A command that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// It, and what is expected of it.
    pub check: Check,
    /// It stands between no backticks and reads like a sentence.
    pub is_prose: bool,
    /// What is expected of it beyond its exit, where that is a sentence that no output can be held to.
    pub outcome: Option<String>,
}

/// Reads what some bytes of a document hold: a block of code, lines with a command each, or both.
pub fn commands(document: &Document<'_>, bytes: Range<usize>) -> Vec<Command> {
    let mut found = Vec::new();
    let mut start = bytes.start;
    for code in blocks(document, &bytes) {
        read_items(document.slice(start..code.span.start), &mut found);
        found.extend(of_block(&document.code_text(code)).iter().map(|command| plain(command)));
        start = code.span.end;
    }
    read_items(document.slice(start..bytes.end), &mut found);
    found
}

/// The commands of a whole section, and the items of its lists that hold none. Its headings, and what
/// stands around the lists without a command, are for people.
pub fn of_a_section(document: &Document<'_>, bytes: Range<usize>) -> (Vec<Command>, Vec<Range<usize>>) {
    let mut found = Vec::new();
    let mut sentences = Vec::new();
    let mut code = blocks(document, &bytes).peekable();
    for line in lines(document.text, bytes.clone()) {
        while let Some(block) = code.next_if(|block| block.span.start < line.end) {
            found.extend(of_block(&document.code_text(block)).iter().map(|command| plain(command)));
        }
        let text = document.slice(line.clone());
        let (sign, item) = item(text);
        if document.code_at(line.start).is_some() || document.is_in_html(line.start) || item.starts_with('#') {
            continue;
        }
        let (commands, after) = of_item(item);
        let has_code = pieces(item).iter().any(|piece| piece.is_code);
        let commands: Vec<Command> = commands.into_iter().filter(|command| !command.is_prose).collect();
        if sign.is_none() && !has_code {
            // A line of its own, such as what is expected of the command above it.
        } else if commands.is_empty() && after.is_empty() && !super::says_nothing(item) {
            sentences.push(line);
            continue;
        } else {
            found.extend(commands);
        }
        if let Some(last) = found.last_mut() {
            expect(last, after);
        }
    }
    (found, sentences)
}

/// The fenced blocks that begin in some bytes of a document.
fn blocks<'d>(document: &'d Document<'_>, bytes: &Range<usize>) -> impl Iterator<Item = &'d Code<'d>> {
    let from = document.code.partition_point(|code| code.span.start < bytes.start);
    let behind = document.code.iter().skip(from).take_while(move |code| code.span.start < bytes.end);
    behind.filter(|code| code.info.is_some())
}

/// Reads items. What is expected without a command on its line is expected of the one before.
fn read_items(text: &str, found: &mut Vec<Command>) {
    for item in items(text) {
        let (commands, after) = of_item(&item);
        found.extend(commands);
        if let Some(last) = found.last_mut() {
            expect(last, after);
        }
    }
}

/// The items of a list, or the text as one: a line that begins no item belongs to the one before.
pub fn items(text: &str) -> Vec<String> {
    let mut items: Vec<String> = Vec::new();
    for line in text.lines().map(str::trim) {
        match (item(line), items.last_mut()) {
            ((None, line), Some(open)) if !line.is_empty() => {
                open.push(' ');
                open.push_str(line);
            }
            ((_, line), _) => items.push(line.to_owned()),
        }
    }
    items.retain(|item| !item.trim().is_empty());
    items
}

fn plain(command: &str) -> Command {
    Command { check: Check::new(command), is_prose: false, outcome: None }
}

/// The commands of a block: each of its lines, or all of it at once where a line goes on in the next.
fn of_block(block: &str) -> Vec<String> {
    let lines: Vec<&str> = block.lines().filter(|line| !line.trim().is_empty()).collect();
    let first_word = |line: &&str| line.split([' ', ';']).next().unwrap_or_default().to_owned();
    let goes_on = |line: &&str| {
        line.ends_with(['\\', '|', '{', '(', '&']) || line.contains("<<") || {
            matches!(first_word(line).as_str(), "if" | "for" | "while" | "until" | "case" | "cd" | "export" | "set")
        }
    };
    if lines.iter().map(|line| line.trim()).any(|line| goes_on(&line)) {
        // The first command that fails is to end it, as if each were run by itself.
        return vec![format!("set -e\n{}", lines.join("\n"))];
    }
    let commands = lines.iter().map(|line| line.trim()).filter(|line| !line.starts_with('#'));
    commands.map(|line| line.strip_prefix("$ ").unwrap_or(line).to_owned()).collect()
}

/// The commands of one item: the code before what is expected, or all that stands there. With what
/// stands behind them.
fn of_item(item: &str) -> (Vec<Command>, &str) {
    let item = ["run:", "command:"].iter().find_map(|lead| strip_word(item, lead)).unwrap_or(item);
    let parts = pieces(item);
    let has_code = parts.iter().any(|piece| piece.is_code);
    let mark_at = |piece: &Piece| mark(item, piece, if has_code { &MARKS } else { &PLAIN_MARKS });
    let end = parts.iter().filter(|piece| !piece.is_code).find_map(mark_at).unwrap_or(item.len());
    let (before, after) = item.split_at(end);
    let code = before_mark(before);
    let mut found: Vec<Command> =
        code.iter().map(|command| Command { is_prose: is_file(command), ..plain(command) }).collect();
    if found.is_empty() && !super::says_nothing(before) {
        let command = before.trim().trim_end_matches(['—', '-', ',']).trim();
        found.push(Command { is_prose: is_sentence(command), ..plain(command) });
    }
    (found, after)
}

/// The code pieces that are commands: the first, and those that stand behind it with nothing but `,`
/// or `and` between.
fn before_mark(text: &str) -> Vec<String> {
    let mut found: Vec<String> = Vec::new();
    let mut is_apart = false;
    for piece in pieces(text) {
        if piece.is_code {
            if !piece.text.trim().is_empty() && !is_apart {
                found.push(piece.text.trim().to_owned());
            }
        } else if !found.is_empty() {
            let is_between = |word: &str| matches!(word, "and" | "then" | "&&" | "," | ";" | "&" | "+");
            is_apart = is_apart || !piece.text.replace([',', ';'], " ").split_whitespace().all(is_between);
        }
    }
    found
}

/// Where in the item the first of these marks stands in a piece.
fn mark(item: &str, piece: &Piece, marks: &[&str]) -> Option<usize> {
    let lower = item.get(piece.range.clone())?.to_ascii_lowercase();
    let at = marks.iter().filter_map(|mark| lower.find(mark)).min()?;
    Some(piece.range.start + at)
}

/// Whether code is the name of a file that no shell would find as a command.
fn is_file(code: &str) -> bool {
    let ending = code.rsplit_once('.').map(|(_, ending)| ending);
    let has_ending = ending.is_some_and(|ending| !ending.is_empty() && ending.chars().all(char::is_alphanumeric));
    has_ending && !code.starts_with(['.', '/', '~']) && !code.contains(char::is_whitespace)
}

/// Whether a command without backticks reads like a sentence.
fn is_sentence(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let begins_large = command.starts_with(char::is_uppercase) && !command.contains('=');
    let ends_like_one = command.ends_with('.') && !command.ends_with("..") && !command.ends_with(" .");
    words.len() > 1 && (begins_large || ends_like_one || words.iter().any(|word| matches!(*word, "the" | "that")))
}

/// Reports what is doubtful about a command.
pub fn add_findings(command: &Command, span: &Range<usize>, unit: Option<&str>, findings: &mut Findings<'_>) {
    let shown = neutral(&command.check.command, 80);
    if command.is_prose {
        let text = format!("`{shown}` reads like a sentence, not like a command");
        findings.add(DiagnosticCode::VerifyMayBeProse, span.clone(), unit, text, "write the command between backticks");
    }
    if let Some(outcome) = &command.outcome {
        let text = format!("`{}` reads like a sentence: only the exit status counts", neutral(outcome, 80));
        let help = "write what the output has to hold between backticks";
        findings.add(DiagnosticCode::VerifyMayBeProse, span.clone(), unit, text, help);
    }
    if has_pipe(&command.check.command) {
        let text = format!("`{shown}` pipes its output on");
        findings.add(DiagnosticCode::PipeInVerify, span.clone(), unit, text, "");
    }
}

/// Puts down what is expected of a command: an exit, a text, or a sentence.
pub fn expect(command: &mut Command, after: &str) {
    let rest = without_leads(after);
    let quoted = pieces(rest).into_iter().find(|piece| piece.is_code).map(|piece| piece.text.to_owned());
    let quoted = quoted.or_else(|| rest.strip_prefix(['"', '“'])?.split(['"', '”']).next().map(str::to_owned));
    let text = quoted
        .clone()
        .unwrap_or_else(|| rest.trim_end_matches(|char: char| char.is_whitespace() || ".)".contains(char)).to_owned());
    if text.trim().is_empty() {
        return;
    }
    let words: Vec<String> = text.split_whitespace().map(str::to_ascii_lowercase).collect();
    if let Some(exit) = exit(&words) {
        command.check.expect.exit = exit;
    } else if quoted.is_none() && words.iter().any(|word| SENTENCE.contains(&word.as_str())) {
        command.outcome = Some(text);
    } else {
        command.check.expect.stdout_has = Some(text);
    }
}

/// What is expected, without the marks and words that lead to it.
fn without_leads(after: &str) -> &str {
    let mut rest = after.trim_start();
    while let Some(shorter) = LEADS.iter().find_map(|lead| strip_word(rest, lead)) {
        rest = shorter.trim_start();
    }
    rest.trim_end()
}

/// A text without the word that it begins with, in whatever case.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let (start, rest) = (text.get(..word.len())?, text.get(word.len()..)?);
    let is_whole = !word.ends_with(char::is_alphabetic) || !rest.starts_with(char::is_alphanumeric);
    (start.eq_ignore_ascii_case(word) && is_whole).then_some(rest)
}

/// The exit that words are about: `exit 0`, `exit code 1`, `non-zero`, `fails`.
fn exit(words: &[String]) -> Option<ExpectedExit> {
    let words: Vec<&str> = words.iter().map(|word| word.trim_matches([',', '.', ':'])).collect();
    match words.as_slice() {
        ["fail" | "fails" | "failure", ..] | ["non-zero" | "nonzero"] => Some(ExpectedExit::NonZero),
        ["exit" | "exits" | "status" | "code", rest @ ..] | [rest @ .., "exit" | "status"] => {
            let about = rest.iter().find(|word| !matches!(**word, "code" | "status" | "with" | "is" | "exit"))?;
            match (*about, about.parse::<i32>()) {
                (_, Ok(0)) => Some(ExpectedExit::Zero),
                (_, Ok(status)) => Some(ExpectedExit::Exactly(status)),
                ("non-zero" | "nonzero", _) => Some(ExpectedExit::NonZero),
                _ => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(value: &str) -> Vec<Command> {
        super::commands(&Document::read(value), 0..value.len())
    }

    /// The commands of a value as their text, what the output must have, and the sentence about it.
    fn shown(value: &str) -> Vec<(String, Option<String>, Option<String>)> {
        let found = commands(value).into_iter();
        found.map(|command| (command.check.command, command.check.expect.stdout_has, command.outcome)).collect()
    }

    #[test]
    fn a_command_and_what_its_output_must_have() {
        for (value, command, text, outcome) in [
            ("`cargo test -q`", "cargo test -q", None, None),
            ("`cargo test` → expected: `3 passed`", "cargo test", Some("3 passed"), None),
            ("`cargo test` -> `ok`", "cargo test", Some("ok"), None),
            ("`cargo test` (expected: `ok`)", "cargo test", Some("ok"), None),
            ("`cargo test` — expected output: \"a b\"", "cargo test", Some("a b"), None),
            ("`cargo test` → expected: 3 passed", "cargo test", Some("3 passed"), None),
            ("`cargo test` should print `ok`", "cargo test", Some("ok"), None),
            ("`cargo test` → all tests pass", "cargo test", None, Some("all tests pass")),
            ("`cargo test` → exit 0", "cargo test", None, None),
            ("`cargo test` in `crates/a`", "cargo test", None, None),
            ("`grep '->' f`", "grep '->' f", None, None),
            ("cargo test -q", "cargo test -q", None, None),
            ("cargo test → expected: `ok`", "cargo test", Some("ok"), None),
            ("``echo `id` ``", "echo `id`", None, None),
            ("`./x`\n  - Expected: `ok`", "./x", Some("ok"), None),
            ("```\n./x\n```\nExpected: `ok`", "./x", Some("ok"), None),
            ("Run: `./x`\nExpected: \"ok\"", "./x", Some("ok"), None),
            ("`./x`\n  expected: `ok`", "./x", Some("ok"), None),
            ("`cargo test 認証` → expected: `成功`", "cargo test 認証", Some("成功"), None),
            ("```cargo test```", "cargo test", None, None),
        ] {
            let expected = (command.to_owned(), text.map(str::to_owned), outcome.map(str::to_owned));
            assert_eq!(shown(value), [expected], "{value}");
        }
        assert_eq!(shown("none"), []);
        assert_eq!(shown(" → expected: `x`"), []);
    }

    #[test]
    fn what_an_exit_is_expected_to_be_is_no_text() {
        use ExpectedExit::{Exactly, NonZero, Zero};
        for (value, exit) in [
            ("`a` → exit code 0", Zero),
            ("`a` → expected: exit 2", Exactly(2)),
            ("`a` → exits with status 1", Exactly(1)),
            ("`a` → non-zero exit", NonZero),
            ("`a` → expected: fails", NonZero),
            ("`a` → expected: `0 failed`", Zero),
        ] {
            assert_eq!(commands(value).first().unwrap().check.expect.exit, exit, "{value}");
        }
    }

    #[test]
    fn several_commands_are_several_checks() {
        for (value, expected) in [
            ("`a b` and `c d`", vec!["a b", "c d"]),
            ("- `a b`\n- [ ] `c d` → expected: `e`", vec!["a b", "c d"]),
            ("1. `a b`\n2. `c d`", vec!["a b", "c d"]),
            ("```bash\n$ a b\n\n# why\nc d\n```", vec!["a b", "c d"]),
            ("~~~\na b \\\n  c\n~~~", vec!["set -e\na b \\\n  c"]),
            ("```\ncd x\nmake\n```", vec!["set -e\ncd x\nmake"]),
            ("```\nnever closed", vec!["never closed"]),
            ("`a b`\n```\nc d\n```\n- `e f`", vec!["a b", "c d", "e f"]),
            ("```\n```", vec![]),
        ] {
            let found: Vec<String> = commands(value).into_iter().map(|command| command.check.command).collect();
            assert_eq!(found, expected, "{value}");
        }
    }

    #[test]
    fn a_sentence_is_told_from_a_command() {
        for (value, is_prose) in [
            ("Run the tests", true),
            ("open the page and look.", true),
            ("check that it works", true),
            ("cargo test -q limit::", false),
            ("RUST_LOG=x cargo test", false),
            ("grep -q x .", false),
            ("make", false),
            ("`Run it`", false),
            ("`src/a.rs` compiles", true),
            ("`./check.sh`", false),
        ] {
            assert_eq!(commands(value).first().unwrap().is_prose, is_prose, "{value}");
        }
    }
}
