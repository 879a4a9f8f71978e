//! Reads commands of a task's steps: its checks, and the one that fails before the work is done.

use std::ops::Range;

use omo_core::check::task_check::ExpectedExit;

use super::steps::{TaskStep, TaskSteps};
use crate::document::{CodeBlock, MarkdownDocument, line_ranges};
use crate::fields::shell_commands::{ScriptCommands, names_program, read_script};
use crate::fields::stated_checks::{
    LinePurpose, StatedCheck, StatedOutcome, apply_expectation, quote_output, read_shell_block,
    reads_like_prose, split_code_span, split_joined_commands, split_keyword,
};
use crate::labels::split_list_marker;
use crate::pattern::Pattern;

const MAX_SENTENCES: usize = 8 * 1024;

/// Commands of a task's steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::dialects) struct StepCommands {
    pub(in crate::dialects) checks: Vec<StatedCheck>,
    pub(in crate::dialects) red_check: Option<StatedCheck>,
    pub(in crate::dialects) unused: Vec<String>,
}

pub(in crate::dialects) fn read_commands(
    document: &MarkdownDocument<'_>,
    steps: &TaskSteps,
) -> StepCommands {
    let mut found = StepCommands::default();
    let before = TaskStep {
        title: steps.preamble.start..steps.preamble.start,
        span: steps.preamble.clone(),
    };
    let kind = if steps.steps.is_empty() {
        StepKind::default()
    } else {
        StepKind {
            is_preamble: true,
            ..StepKind::default()
        }
    };
    StepReader::new(document, kind).read(&before, &mut found);
    for step in &steps.steps {
        let kind = StepKind::of(document.slice(step.title.clone()));
        StepReader::new(document, kind).read(step, &mut found);
    }
    found
}

static PROVING: Pattern = Pattern::new(
    r"(?i-u:\b(?:re-?run|run|runs|verify|verifies|verification|check|checks|confirm|validate|validation|smoke|ensure|typecheck|type-check|lint|proofs?|prove|execute|verifizieren|ejecutar|verificar|comprobar|lancer|executar)\b)|[Aa]usführen|[Pp]rüfen|[Ee]xécuter|[Vv]érifier|验证|驗證|运行|運行|执行|執行|检查|檢查|测试通过|確認|実行|실행|확인|Запустить|Проверить",
);
static PROVING_FIRST: Pattern = Pattern::new(r"^(?i-u:test|build|compile|final|full)\b");
/// Words of a step that makes something: a script in it is its product.
static MAKING: Pattern = Pattern::new(
    r"^(?i-u:write|add|create|implement|update|replace|insert|define|copy|extract|move|remove|delete|install|commit|document|refactor|bundle|append|set|configure|generate|scaffold|deploy|push|tag)\b|^(?:编写|添加|创建|实现|提交|寫|写|新增)",
);
static FAILING: Pattern = Pattern::new(
    r"(?i-u:\bfail(?:s|ing|ed|ure)?\b|\bred\b|fehlschl|\bfalla\b)|schlägt fehl|échou|失败|失敗",
);
static NOT_FAILING: Pattern = Pattern::new(
    r"(?i-u:\b(?:no|not|never|no longer|without|0|zero|fix(?:es)?|any|if|nothing|cannot|doesn't|don't)\b)[^.;]{0,30}\b(?i-u:fail)",
);

#[derive(Clone, Copy, Debug, Default)]
struct StepKind {
    is_preamble: bool,
    is_proof: bool,
    is_red: bool,
}

impl StepKind {
    fn of(title: &str) -> Self {
        let words = NUMBER
            .behind(title)
            .unwrap_or(title)
            .trim_start_matches(['*', '_', ' ']);
        let is_making = MAKING.is_match(words);
        Self {
            is_preamble: false,
            is_proof: !is_making && (PROVING.is_match(words) || PROVING_FIRST.is_match(words)),
            is_red: says_failure(words),
        }
    }
}

static NUMBER: Pattern = Pattern::new(
    r"^(?:{step})[ \t]*[0-9]+(?:\.[0-9]+)*[A-Za-z]?[ \t]*[:：.)—–-]*[*_ \t]*[:：—–-]*",
);

fn says_failure(text: &str) -> bool {
    FAILING.is_match(text) && !NOT_FAILING.is_match(text)
}

struct StepReader<'d, 'a> {
    document: &'d MarkdownDocument<'a>,
    kind: StepKind,
    checks: Vec<StatedCheck>,
    last: usize,
    awaited: LinePurpose,
    /// Commands that count only with an expectation.
    doubtful: Vec<StatedCheck>,
    unused: Vec<String>,
}

impl<'d, 'a> StepReader<'d, 'a> {
    fn new(document: &'d MarkdownDocument<'a>, kind: StepKind) -> Self {
        let awaited = LinePurpose::Other;
        Self {
            document,
            kind,
            checks: Vec::new(),
            last: 0,
            awaited,
            doubtful: Vec::new(),
            unused: Vec::new(),
        }
    }

    fn read(mut self, step: &TaskStep, found: &mut StepCommands) {
        let mut done = step.span.start;
        for line in line_ranges(self.document.text, step.span.clone()) {
            if line.start < done {
                continue;
            }
            if let Some(code) = self
                .document
                .code_at(line.end.saturating_sub(1).max(line.start))
            {
                done = code.span.end;
                self.read_block(code);
            } else if !self.document.is_in_html(line.start) {
                let start = if line.end == step.title.end {
                    step.title.start
                } else {
                    line.start
                };
                self.read_line(start..line.end);
            }
        }
        for check in self.checks {
            sort_check(self.kind, check, found);
        }
        found.unused.append(&mut self.unused);
    }

    fn read_line(&mut self, line: Range<usize>) {
        let row = self.document.slice(line.clone());
        let (_, text) = split_list_marker(row);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        let text = NUMBER
            .behind(text)
            .unwrap_or(text)
            .trim_start_matches(['*', '_', ' ']);
        let (purpose, rest) = split_keyword(text);
        match (purpose, rest.trim_matches(['*', '_', ' '])) {
            (LinePurpose::Other, _) if self.awaited == LinePurpose::Expectation => {
                self.expect(text);
            }
            (LinePurpose::Other, _)
                if self.awaited == LinePurpose::Command && is_code_command(text) =>
            {
                self.add_commands(text, &line);
            }
            (LinePurpose::Other, _) => {
                self.read_sentences(text, &line);
                let is_announced = text.ends_with([':', '：'])
                    && (PROVING.is_match(text) || VERIFY_LABEL.is_match(text));
                self.awaited = if is_announced {
                    LinePurpose::Command
                } else {
                    LinePurpose::Other
                };
                return;
            }
            (purpose, "") => {
                self.awaited = purpose;
                return;
            }
            (LinePurpose::Command, rest) => self.add_commands(rest, &line),
            (LinePurpose::Expectation, rest) => self.expect(rest),
        }
        self.awaited = LinePurpose::Other;
    }

    fn add_commands(&mut self, text: &str, line: &Range<usize>) {
        let (first, rest) = match split_code_span(text) {
            Some((code, rest)) => (code.trim(), rest),
            None if names_program(text) && !reads_like_prose(text) => (text, ""),
            None => return self.read_sentences(text, line),
        };
        if first.is_empty() || reads_like_prose(first) && !names_program(first) {
            return;
        }
        let (others, rest) = split_joined_commands(rest);
        self.add_scripts(std::iter::once(first).chain(others), line);
        let rest =
            rest.trim_matches(|char: char| !char.is_alphanumeric() && !"`\"“”".contains(char));
        if !rest.is_empty() {
            let (purpose, command_text) = split_keyword(rest);
            if purpose == LinePurpose::Expectation || says_failure(rest) {
                self.expect(command_text);
            }
        }
    }

    fn add_scripts<'t>(&mut self, scripts: impl Iterator<Item = &'t str>, line: &Range<usize>) {
        let mut new = Vec::new();
        for ScriptCommands { checks, unused } in scripts.map(read_script) {
            new.extend(
                checks
                    .iter()
                    .map(|command| StatedCheck::new(command, line.clone())),
            );
            self.unused.extend(unused);
        }
        self.add(new);
    }

    fn add(&mut self, new: Vec<StatedCheck>) {
        self.last = new.len();
        self.checks.extend(new);
        self.doubtful.clear();
    }

    /// Applies an expected output to the last command, an expected failure to each.
    fn expect(&mut self, text: &str) {
        if !self.doubtful.is_empty() {
            let doubtful = std::mem::take(&mut self.doubtful);
            self.add(doubtful);
        }
        let first = self.checks.len().saturating_sub(self.last);
        let mut is_failure = says_failure(text);
        if let Some(last) = self
            .checks
            .get_mut(first..)
            .and_then(<[StatedCheck]>::last_mut)
        {
            apply_expectation(Some(last), text);
            is_failure &= last.stated_outcome != StatedOutcome::Success;
        }
        for check in self
            .checks
            .iter_mut()
            .skip(first)
            .filter(|check| is_failure && check.check.expect.exit == ExpectedExit::Zero)
        {
            check.check.expect.exit = ExpectedExit::NonZero;
            check.stated_outcome = StatedOutcome::Failure;
        }
    }

    fn read_block(&mut self, code: &CodeBlock<'_>) {
        let awaited = std::mem::replace(&mut self.awaited, LinePurpose::Other);
        if awaited == LinePurpose::Expectation {
            return self.expect(&quote_output(&self.document.dedented_code(code)));
        }
        let Some(script) = read_shell_block(self.document, code) else {
            return;
        };
        // A block that names no shell may be anything.
        let is_shell = code.info.is_some_and(|info| !info.is_empty());
        let names_command = script
            .lines()
            .next()
            .is_some_and(|line| names_program(line.trim_start_matches("$ ")));
        if !is_shell && !names_command {
            return;
        }
        let ScriptCommands { checks, unused } = read_script(&script);
        let new = checks
            .iter()
            .map(|command| StatedCheck::new(command, code.span.clone()))
            .collect();
        if awaited == LinePurpose::Command || self.kind.is_proof {
            self.add(new);
            self.unused.extend(unused);
        } else if !self.kind.is_preamble {
            self.doubtful = new;
        }
    }

    /// `Run x and y.`, or a command that is a sentence by itself.
    fn read_sentences(&mut self, text: &str, line: &Range<usize>) {
        if self.kind.is_preamble || text.len() > MAX_SENTENCES {
            return;
        }
        let (mut rest, mut before) = (text, String::new());
        while let Some(at) = rest.find('`') {
            let (words, code) = rest.split_at(at);
            before.push_str(words);
            let Some((command, behind)) = split_code_span(code) else {
                return;
            };
            let sentence = last_sentence(&before);
            let is_run = RUNNING.is_match(sentence);
            let is_alone = sentence
                .trim_matches(|char: char| !char.is_alphanumeric())
                .is_empty()
                && ENDING.is_match(behind)
                && command.contains(char::is_whitespace);
            if (is_run || is_alone) && names_program(command) {
                let is_red = says_failure(last_sentence(&before)) || FAILS_BEHIND.is_match(behind);
                let (others, left) = split_joined_commands(behind);
                self.add_scripts(std::iter::once(command).chain(others), line);
                if is_red || FAILS_BEHIND.is_match(left) {
                    self.expect("FAIL");
                }
                before.clear();
                before.push('x');
                rest = left;
                continue;
            }
            before.push('x');
            rest = behind;
        }
    }
}

fn is_code_command(row: &str) -> bool {
    let code = split_code_span(row).map(|(code, _)| code.trim());
    code.is_some_and(|code| names_program(code) || code.contains(char::is_whitespace))
}

static VERIFY_LABEL: Pattern =
    Pattern::new(r"^[*_]*(?i-u:verify|verification|test|check|validation|run)\b");
static RUNNING: Pattern = Pattern::new(
    r"(?:^|[\s*(])(?i-u:re-?run|run|execute|running|verify with|verify via|check with|via|ejecuta|lance)(?:[^`.;]{0,40})$|(?:^|[\s*(])(?i-u:verify|verification|check|confirm|validate|build|lint|type-?check)\b[^`.;:]{0,60}:[*_]*\s*$|(?:运行|執行|执行|実行)[^`。]{0,12}$",
);
/// Text behind a command that is a sentence by itself.
static ENDING: Pattern = Pattern::new(
    r"^\s*(?:[.;,。；，]|$|→|->|—|–|\(|and\b|passes\b|must\b|succeeds\b|compiles\b|completes\b|exits\b|is green\b)",
);
static FAILS_BEHIND: Pattern = Pattern::new(
    r"^\s*(?:→|->|—|–|-|:|,|\()?\s*(?i-u:expect(?:ed|s)?:?\s+)?(?i-u:to\s+|it\s+)?(?i-u:fails?|red)\b",
);

fn last_sentence(text: &str) -> &str {
    let ends = text.rmatch_indices(['.', ';', '。', '；']);
    let mut ends = ends.filter(|(at, sign)| {
        text.get(at + sign.len()..)
            .is_some_and(|rest| rest.starts_with([' ', '*']) || !sign.is_ascii())
    });
    ends.next()
        .and_then(|(at, sign)| text.get(at + sign.len()..))
        .unwrap_or(text)
}

/// The first command that has to fail is the red check; others prove the task.
fn sort_check(kind: StepKind, mut check: StatedCheck, found: &mut StepCommands) {
    let fails = check.check.expect.exit == ExpectedExit::NonZero;
    let is_red = fails || kind.is_red && check.stated_outcome != StatedOutcome::Success;
    if !is_red {
        found.checks.push(check);
        return;
    }
    if found.red_check.is_none() {
        // Messages about a missing subject differ by program: only the failure counts.
        check.check.expect.exit = ExpectedExit::NonZero;
        check.check.expect.stdout_has = None;
        found.red_check = Some(check);
    }
}
