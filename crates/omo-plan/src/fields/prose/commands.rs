//! Commands in a sentence of a plan that prove its task, such as `cargo test` behind `run`.

use super::{TaskVerb, read_verb, words_before};
use crate::command_concern::program_part;
use crate::fields::programs::{does_more_than_look, is_program};
use crate::fields::shell_commands::without_bin_folder;
use crate::fields::stated_checks::split_code_span;
use crate::pattern::Pattern;

const MAX_ROW_BYTES: usize = 16_384;

static PROVING_WORD: Pattern = Pattern::new(
    r"(?i-u:\b(?:test|tests|pytest|vitest|jest|lint|eslint|ruff|mypy|pyright|basedpyright|tsc|typecheck|type-check|types|check|checks|build|compile|validate|verify|quality|clippy|fmt|vet|e2e|ci|coverage|spec|rspec|phpunit|phpstan|playwright|cypress|analyze|golangci-lint|rubocop|tox|nox|pre-commit|prettier|biome|svelte-check|vue-tsc|ctest|assemble|xcodebuild|black|flake8|pylint)\b|\b(?:check|test|lint|verify|validate)_|test:|lint:|check:|:test|:check|:lint|--check|--noEmit)",
);
static VERIFYING_WORD: Pattern = Pattern::new(
    r"(?i-u:\b(?:run|runs|running|verify|verified|verifying|validate|validated|validating|ensure|check|confirm|execute|test|tests|pass|passes|passing|succeeds?|lint|linting|build|builds|compiles?|typecheck|quality|gate|clean|green)\b)|実行|確認|検証|チェック|テスト|运行|验证|检查|测试|통과|실행|확인|自检|自測|[Cc]hạy|[Kk]iểm tra|(?i-u:ejecut|verific|comprob|rodar)|[Ee]xécut|[Vv]érifi|[Aa]usführen|[Pp]rüfen|[Зз]апуст|[Пп]ровер",
);
static COMMAND_LEAD: Pattern =
    Pattern::new(r"(?:\(|(?i-u:\b(?:with|via|using|run|execute)\s+)|:\s+)");

static JOINING_WORD: Pattern = Pattern::new(r"^\s*[,&+、，]?\s*(?:and|then)?\s*$");

/// Commands that only judge a file: `grep -q one a.txt`, in a clause of their own.
static JUDGES_FILE: Pattern =
    Pattern::new(r"^(?:(?:grep|rg)\s+(?:-\S+\s+)*(?:-[A-Za-z]*q|--quiet)|diff\s+-q|cmp\s+-s)\b");
static THEN_RUN: Pattern = Pattern::new(r"(?i-u:(?:[;,.]|\b(?:and|then))\s+run)\s+$");

pub(crate) static NEGATES: Pattern = Pattern::new(
    r"(?i-u:\b(?:do not|don't|never|without|instead of|rather than|avoid|not)\s+(?:\w+\s+){0,2})$",
);

/// Title of a task or group that judges earlier work.
pub(crate) static JUDGES: Pattern = Pattern::new(
    r"^[^\p{L}]*(?:(?i-u:final|full|manual|end-to-end)(?:\s+|\s*[:：–—-]+\s*)|(?i-u:phase)\s+\S+[:.]?\s+)*(?i-u:checkpoint|run|re-?run|verify|verification|validate|validation|ensure|confirm|check|test|tests|testing|execute|quality|smoke|sanity|qa)\b|^[^\p{L}]*(?:{run}|{test}|验证|驗證|检查|確認|検証|확인)",
);

pub(super) fn read_commands(row: &str) -> Vec<String> {
    let mut found = Vec::new();
    if row.len() > MAX_ROW_BYTES || !VERIFYING_WORD.is_match(row) {
        return found;
    }
    let verb = read_verb(row);
    let mut rest = row;
    while let Some(at) = rest.find('`') {
        let (before, text) = rest.split_at(at);
        match split_code_span(text) {
            Some((code, behind)) => {
                let byte = row.len() - text.len();
                // A command that `and` or a comma joins to a check is a check as well.
                let is_joined =
                    verb == TaskVerb::Run && !found.is_empty() && JOINING_WORD.is_match(before);
                let code = code.trim();
                if is_joined && is_command(code) || is_check(code, row, byte, behind, verb) {
                    found.push(code.to_owned());
                }
                rest = behind;
            }
            None => rest = text.trim_start_matches('`'),
        }
    }
    if found.is_empty()
        && !row.contains('`')
        && (matches!(verb, TaskVerb::Run | TaskVerb::Inspect | TaskVerb::Ensure)
            || JUDGES.is_match(row))
    {
        found.extend(read_plain_command(row));
    }
    found
}

fn is_check(code: &str, row: &str, byte: usize, behind: &str, verb: TaskVerb) -> bool {
    if !is_command(code)
        || row
            .get(..byte)
            .is_some_and(|before| NEGATES.is_match(before))
    {
        return false;
    }
    let near: Vec<String> = words_before(row, byte).take(4).collect();
    let is_run = near.iter().any(|word| {
        matches!(
            word.as_str(),
            "run"
                | "running"
                | "verify"
                | "validate"
                | "ensure"
                | "confirm"
                | "check"
                | "execute"
                | "rerun"
                | "re-run"
        )
    });
    // `passes` behind a command says as much as `run` before it.
    let passes = [
        "pass",
        "succeed",
        "is green",
        "exits 0",
        "clean",
        "completes",
    ];
    let next = behind
        .trim_start()
        .get(..24)
        .unwrap_or(behind.trim_start())
        .to_ascii_lowercase();
    let is_passed = passes.iter().any(|word| next.contains(word));
    // A job or script that runs the command is the product of the task.
    let is_made = near
        .first()
        .is_some_and(|word| matches!(word.as_str(), "runs" | "add" | "script" | "define"));
    match verb {
        TaskVerb::Run | TaskVerb::Inspect | TaskVerb::Ensure => {
            !is_made && (PROVING_WORD.is_match(code) || is_run || follows_with(&near))
        }
        TaskVerb::Create | TaskVerb::Change | TaskVerb::Delete => {
            let before = row.get(..byte).unwrap_or_default();
            !is_made
                && (PROVING_WORD.is_match(code) && (is_run || is_passed)
                    || JUDGES_FILE.is_match(code) && THEN_RUN.is_match(before))
        }
        TaskVerb::Unknown => {
            !is_made
                && (PROVING_WORD.is_match(code) || near.first().is_some_and(|word| word == "run"))
        }
    }
}

fn follows_with(near: &[String]) -> bool {
    near.first()
        .is_some_and(|word| matches!(word.as_str(), "with" | "via" | "using"))
}

fn is_command(code: &str) -> bool {
    // `/...` names all packages below a folder, for Go and Bazel.
    let plain = code.replace("/...", "/").replace("//...", "//");
    let has_gap = ["...", "…", "<", "{{", "YOUR_", "[options]"]
        .iter()
        .any(|sign| plain.contains(sign));
    !code.is_empty() && !has_gap && begins_with_program(code) && !does_more_than_look(code)
}

/// `true` for code that begins with a program, or with the path of one below the folder.
fn begins_with_program(code: &str) -> bool {
    let first = program_part(code)
        .split_whitespace()
        .next()
        .unwrap_or_default();
    let is_path = first
        .strip_prefix("./")
        .is_some_and(|rest| !rest.is_empty());
    is_path || first == "[" || is_program(without_bin_folder(first))
}

/// The command of a row without backticks: `with cargo test --workspace`, `(npm test)`, `Run make lint`.
fn read_plain_command(row: &str) -> Option<String> {
    let mut rest = row;
    let mut found: Option<(u8, &str)> = None;
    while let Some((before, behind)) = COMMAND_LEAD.around(rest) {
        let lead = rest
            .get(before.len()..rest.len() - behind.len())
            .unwrap_or_default()
            .trim_end()
            .to_ascii_lowercase();
        let end = plain_end(behind, lead == "(");
        let command = behind
            .get(..end)
            .unwrap_or_default()
            .trim_end_matches([',', ';', ' ']);
        // A final `.` ends the sentence, unless it is the folder `.`.
        let command = command
            .strip_suffix('.')
            .filter(|bare| !bare.ends_with([' ', '.']))
            .unwrap_or(command);
        let is_several = command.split_whitespace().nth(1).is_some();
        // `Run ruff check with uv run ruff check src`: the second one is the command.
        let rank = match lead.as_str() {
            "with" | "via" | "using" => 2,
            "run" | "execute" => 0,
            _ => 1,
        };
        let is_better = found.is_none_or(|(found_rank, _)| rank > found_rank);
        if is_several
            && is_better
            && is_command(command)
            && PROVING_WORD.is_match(command)
            && !is_sentence(command)
        {
            found = Some((rank, command));
        }
        rest = behind;
    }
    found.map(|(_, command)| command.to_owned())
}

fn plain_end(text: &str, is_bracketed: bool) -> usize {
    let ends: &[&str] = if is_bracketed {
        &[")"]
    } else {
        &[
            " to ",
            " and verify",
            " and ensure",
            " and fix",
            " and confirm",
            " and check",
            " and resolve",
            " - ",
            " – ",
            " — ",
            " (",
            "; ",
            ", ",
            " for ",
        ]
    };
    // Words before the command's folder, or before its object.
    let places: &[&str] = if text.contains(['"', '\'']) {
        &[]
    } else {
        &[" in ", " on ", " against ", " from "]
    };
    ends.iter()
        .chain(places)
        .filter_map(|end| text.find(end))
        .min()
        .unwrap_or(text.len())
}

/// `true` for words that are no arguments, as in `pytest linter and fix`.
fn is_sentence(command: &str) -> bool {
    const WORDS: [&str; 16] = [
        "of", "type", "account", "the", "all", "any", "is", "are", "that", "and", "tests", "suite",
        "linter", "command", "commands", "across",
    ];
    // A test runner takes paths or options: plain words behind it are prose.
    let is_bare = ["pytest", "jest", "vitest"]
        .iter()
        .any(|runner| command.starts_with(runner))
        && !command.contains(['/', '.', '-', ':', '=']);
    is_bare
        || !command.contains(['"', '\''])
            && command
                .split_whitespace()
                .skip(1)
                .any(|word| WORDS.contains(&word))
}
