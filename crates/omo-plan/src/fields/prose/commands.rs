//! The commands of a sentence that show that a task is done.

use super::{TaskVerb, read_verb, words_before};
use crate::fields::stated_checks::split_code_span;
use crate::pattern::Pattern;

/// So many bytes of a line are read: a longer one is no sentence.
const MAX_ROW_BYTES: usize = 16_384;

/// What a command begins with, behind settings of its environment and changes of the folder.
static PROGRAM: Pattern = Pattern::new(
    r"^(?:[A-Z_][A-Z0-9_]*=\S*\s+|cd\s+\S+\s*(?:&&|;)\s*)*(?:\./[\w./-]+|(?:\.venv/bin/)?(?:npm|npx|pnpm|pnpx|yarn|bun|bunx|deno|node|tsc|eslint|prettier|biome|vitest|jest|playwright|cypress|mocha|turbo|nx|lerna|cargo|rustc|go|golangci-lint|gofmt|python3?|pytest|uv|uvx|poetry|pdm|hatch|pipenv|tox|nox|ruff|mypy|pyright|basedpyright|black|flake8|pylint|isort|pre-commit|pip|pip3|make|just|task|cmake|ctest|ninja|bazel|mvn|mvnw|gradle|gradlew|dotnet|swift|xcodebuild|flutter|dart|fvm|mix|rebar3|elixir|bundle|rake|rails|rspec|rubocop|ruby|php|composer|phpunit|artisan|phpstan|pest|docker|docker-compose|podman|kubectl|helm|terraform|tofu|openspec|specify|curl|wget|grep|rg|test|ls|cat|diff|find|bash|sh|zsh|jq|shellcheck|actionlint|hadolint|markdownlint|markdownlint-cli2|ansible-lint|yamllint|sbt|lein|stack|cabal|zig|forge|anvil|hardhat|alembic|prisma|supabase|psql|sqlite3|wrangler|astro|nuxt|next|vite|svelte-check|vue-tsc|stylelint|tsx|act|sam|cdk|pulumi|godot|melos|tuist|swiftlint|ktlint|detekt|buf|sqlfluff|lychee|mkdocs|hugo|jekyll))(?:\s|$)",
);
/// What changes or begins something, and so shows nothing.
static PREPARES: Pattern = Pattern::new(
    r"(?:^|\s|&&|;)(?:(?:npm|pnpm|yarn|bun|pip3?|uv|poetry|cargo|brew|apt(?:-get)?|go|composer|bundle|gem|flutter|dart|mix|dotnet|pod)\s+(?:-\S+\s+)*(?:install|i|add|ci|sync|lock|update|upgrade|get|remove|uninstall|init|create|publish|new|tool|mod|pub|restore|pip|dev|start|run\s+(?:dev|start|serve|preview|watch|lint:fix|fix)(?:\s|$)|venv|link|login|deps\.get)|yarn$|(?:npx|pnpx|bunx)\s+\S*(?:create|shadcn|init|sv|degit)|docker(?:[ -]compose)?\s+(?:up|run|pull|push|start|exec|down)|git\s|supabase\s+(?:start|db)|prisma\s+(?:generate|migrate|db)|alembic\s+(?:upgrade|revision)|uvicorn|flask\s+run|rails\s+(?:s|server|generate|g|db)|terraform\s+(?:apply|init|destroy)|kubectl\s+apply|helm\s+(?:install|upgrade)|openspec\s+(?:archive|init)|manage\.py\s+(?:runserver|migrate|makemigrations)|uv\s+build|next\s+dev|vite$|expo\s+start|flutter\s+run|cargo\s+run|go\s+run|dotnet\s+run)",
);
/// What shows by its status that something holds.
static PROVES: Pattern = Pattern::new(
    r"(?i-u:\b(?:test|tests|pytest|vitest|jest|lint|eslint|ruff|mypy|pyright|basedpyright|tsc|typecheck|type-check|types|check|checks|build|compile|validate|verify|quality|clippy|fmt|vet|e2e|ci|coverage|spec|rspec|phpunit|phpstan|playwright|cypress|analyze|golangci-lint|rubocop|tox|nox|pre-commit|prettier|biome|svelte-check|vue-tsc|ctest|assemble|xcodebuild|black|flake8|pylint)\b|test:|lint:|check:|:test|:check|:lint|--check|--noEmit)",
);
/// What says that something is looked at.
static VERIFIES: Pattern = Pattern::new(
    r"(?i-u:\b(?:run|runs|running|verify|verified|verifying|validate|validated|validating|ensure|check|confirm|execute|test|tests|pass|passes|passing|succeeds?|lint|linting|build|builds|compiles?|typecheck|quality|gate|clean|green)\b)|実行|確認|検証|チェック|テスト|运行|验证|检查|测试|통과|실행|확인",
);
/// What leads to a command without code around it.
static LEADS: Pattern = Pattern::new(r"(?:\(|(?i-u:\b(?:with|via|using|run|execute)\s+)|:\s+)");

/// The commands of a sentence.
pub(super) fn read_commands(row: &str) -> Vec<String> {
    let mut found = Vec::new();
    if row.len() > MAX_ROW_BYTES || !VERIFIES.is_match(row) {
        return found;
    }
    let verb = read_verb(row);
    let mut rest = row;
    while let Some(at) = rest.find('`') {
        let text = rest.get(at..).unwrap_or_default();
        match split_code_span(text) {
            Some((code, behind)) => {
                let byte = row.len() - text.len();
                found.extend(
                    Some(code.trim()).filter(|code| is_check(code, row, byte, behind, verb)).map(str::to_owned),
                );
                rest = behind;
            }
            None => rest = text.trim_start_matches('`'),
        }
    }
    if found.is_empty() && !row.contains('`') && matches!(verb, TaskVerb::Run | TaskVerb::Inspect | TaskVerb::Ensure) {
        found.extend(read_plain_command(row));
    }
    found
}

/// Whether code in a sentence is a command that shows that the task is done.
fn is_check(code: &str, row: &str, byte: usize, behind: &str, verb: TaskVerb) -> bool {
    if !is_command(code) {
        return false;
    }
    let near: Vec<String> = words_before(row, byte).take(4).collect();
    let is_run = near.iter().any(|word| {
        matches!(
            word.as_str(),
            "run" | "running" | "verify" | "validate" | "ensure" | "confirm" | "check" | "execute" | "rerun"
        )
    });
    // `passes` behind a command says as much as `run` before it.
    let passes = ["pass", "succeed", "is green", "exits 0", "clean", "completes"];
    let next = behind.trim_start().get(..24).unwrap_or(behind.trim_start()).to_ascii_lowercase();
    let is_passed = passes.iter().any(|word| next.contains(word));
    // A job or a script that runs it is what the task makes.
    let is_made = near.first().is_some_and(|word| matches!(word.as_str(), "runs" | "add" | "script" | "define"));
    match verb {
        TaskVerb::Run | TaskVerb::Inspect | TaskVerb::Ensure => {
            !is_made && (PROVES.is_match(code) || is_run || is_with(&near))
        }
        TaskVerb::Create | TaskVerb::Change | TaskVerb::Delete => {
            !is_made && PROVES.is_match(code) && (is_run || is_passed)
        }
        TaskVerb::Unknown => !is_made && PROVES.is_match(code),
    }
}

fn is_with(near: &[String]) -> bool {
    near.first().is_some_and(|word| matches!(word.as_str(), "with" | "via" | "using"))
}

/// A command that can be run as it stands, and that only looks at what is there.
fn is_command(code: &str) -> bool {
    let has_gap = ["...", "…", "<", "{{", "YOUR_", "[options]"].iter().any(|sign| code.contains(sign));
    !code.is_empty() && !has_gap && PROGRAM.is_match(code) && !PREPARES.is_match(code)
}

/// The command of a sentence without code: `with cargo test --workspace`, `(npm test)`, `Run make lint`.
fn read_plain_command(row: &str) -> Option<String> {
    let mut rest = row;
    let mut found: Option<(u8, &str)> = None;
    while let Some((before, behind)) = LEADS.around(rest) {
        let lead =
            rest.get(before.len()..rest.len() - behind.len()).unwrap_or_default().trim_end().to_ascii_lowercase();
        let end = plain_end(behind, lead == "(");
        let command = behind.get(..end).unwrap_or_default().trim_end_matches([',', ';', ' ']);
        // The end of the sentence, but not the folder `.`.
        let command = command.strip_suffix('.').filter(|bare| !bare.ends_with(' ')).unwrap_or(command);
        let is_several = command.split_whitespace().nth(1).is_some();
        // `Run ruff check with uv run ruff check src`: what it is run with is the command.
        let rank = match lead.as_str() {
            "with" | "via" | "using" => 2,
            "run" | "execute" => 0,
            _ => 1,
        };
        let is_better = found.is_none_or(|(known, _)| rank > known);
        if is_several && is_better && is_command(command) && PROVES.is_match(command) && !is_sentence(command) {
            found = Some((rank, command));
        }
        rest = behind;
    }
    found.map(|(_, command)| command.to_owned())
}

/// Where a command in a sentence ends.
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
    ends.iter().filter_map(|end| text.find(end)).min().unwrap_or(text.len())
}

/// `pytest linter and fix`: words behind a program that are none of its arguments.
fn is_sentence(command: &str) -> bool {
    const WORDS: [&str; 13] =
        ["the", "all", "any", "is", "are", "that", "and", "tests", "suite", "linter", "command", "commands", "across"];
    !command.contains(['"', '\'']) && command.split_whitespace().skip(1).any(|word| WORDS.contains(&word))
}
