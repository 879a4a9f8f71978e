//! What a command of a plan is for, and how a script is taken apart.
//!
//! A plan has commands that prove something, and others that prepare something, start a server or commit. Only those
//! that prove something are checks.

use crate::pattern::Pattern;

/// Programs that a plan names at the start of a command.
const PROGRAMS: &str = "act ansible-playbook astro awk bash bats bazel biome black brew buf bun bunx bundle cabal \
    cargo cat clang-tidy clippy cmake cmp composer coverage createdb ctest curl cypress dart deno diff docker \
    docker-compose dotnet duckdb elixir eslint expo file find flake8 flutter forge git gleam go golangci-lint gradle \
    grep hatch head helm hugo isort java javac jest jq julia just kubectl ls lua luac make meson mix mocha mvn mypy \
    next nim ninja nix node nox npm npx nx opa perl php phpstan phpunit pipenv playwright pnpm podman poetry \
    pre-commit prettier prisma psql pylint pyright pytest python python3 rails rake rg rspec rubocop ruby ruff rustc \
    sbt sed sh shellcheck sqlite3 sqlx stack stat stylelint supabase svelte-check swift swiftformat swiftlint task \
    terraform test tox trivy tsc tsx turbo uv uvx vale vite vitest wc webpack wget wrangler xcodebuild xcrun xmllint \
    yamllint yarn yq zig";
/// What stands before a program's name: variables, and a change of the folder.
static BEFORE_PROGRAM: Pattern = Pattern::new(
    r#"^\s*(?:(?:[A-Za-z_][A-Za-z0-9_]*=(?:"[^"]*"|'[^']*'|[^\s"']*)|time|env|sudo|!)\s+|cd\s+[^&;|]+(?:&&|;)\s*)*"#,
);

/// Whether a text begins with the name of a program, or with the path of a script.
pub(crate) fn names_program(text: &str) -> bool {
    let command = BEFORE_PROGRAM.behind(text).unwrap_or(text).trim_start();
    let first = command.split_whitespace().next().unwrap_or_default();
    let extension = std::path::Path::new(first).extension();
    let is_script =
        first.starts_with("./") || first.starts_with("scripts/") || extension.is_some_and(|end| end == "sh");
    let is_script = is_script || first == "[";
    let is_path = first.contains('/') && first != command && first.starts_with(['.', '~', '/']);
    let is_known = PROGRAMS.split_whitespace().any(|program| program == first);
    is_script || is_path || is_known
}

/// What ends without proving anything, or never ends: preparations, servers, deployments, and what changes the
/// history of the repository.
static SETUP: Pattern = Pattern::new(concat!(
    r"^(?:",
    r"git\s+(?:-C\s+\S+\s+)?(?:add|commit|push|pull|fetch|checkout|switch|restore|reset|stash|merge|rebase|tag|branch|worktree|clone|init|rm|mv|cherry-pick|revert)\b",
    r"|(?:npm|pnpm|yarn|bun)\s+(?:install|i|ci|add|remove|uninstall|link|init|create|start|dev|serve|publish)\b",
    r"|(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+\S+\s+)*(?:run\s+)?(?:dev|start|serve|preview|deploy|storybook)(?::\S+)?(?:\s|$)",
    r"|yarn$|(?:npx|bunx|pnpm\s+dlx)\s+(?:-\S+\s+)*(?:create-\S+|vercel|shadcn\S*|husky)\b",
    r"|(?:pip3?|uv\s+pip|python3?\s+-m\s+pip|pipx)\s+install\b|(?:uv|poetry|cargo|go|gem|composer|dotnet|brew|apt|apt-get|dnf)\s+(?:add|sync|install|lock|get|require|restore|new|init|update)\b",
    r"|go\s+mod\s+(?:tidy|init|download)\b|bundle\s+install\b|mix\s+deps\.get\b|flutter\s+pub\b",
    r"|(?:docker|podman)(?:-compose|\s+compose)?\s+(?:up|down|start|stop|pull|push)\b",
    r"|(?:uvicorn|gunicorn|flask\s+run|php\s+artisan\s+serve|rails\s+s(?:erver)?|python3?\s+-m\s+http\.server|\S*manage\.py\s+runserver)\b",
    r"|(?:mkdir|touch|cp|mv|rm|rmdir|ln|chmod|chown|sleep|kill|open|code|source|export|unset|echo|printf|tee|ssh|scp|rsync|gh|cd)(?:\s|$)",
    r"|\S+\s+(?:deploy|publish)(?:\s|$)",
    r")",
));
/// What only says where the next command runs.
static CONTEXT: Pattern = Pattern::new(r"^(?:cd|export|source|pushd|popd|set|\.)(?:\s|$)|^[A-Za-z_][A-Za-z0-9_]*=\S*$");
/// What goes on in the background, and what changes the history or the files of the repository for good.
static NEVER: Pattern =
    Pattern::new(r"(?:^|[;&|]\s*)git\s+(?:-C\s+\S+\s+)?(?:commit|push|reset|checkout|rebase|merge|stash)\b|[^&]&\s*$");

/// Whether a command can prove something.
pub(crate) fn proves_something(command: &str) -> bool {
    let parts = command.split("&&").flat_map(|part| part.split(';')).map(str::trim).filter(|part| !part.is_empty());
    let plain = |part: &str| BEFORE_PROGRAM.behind(part).unwrap_or(part).trim_start().to_owned();
    !NEVER.is_match(command) && parts.map(plain).any(|part| !part.is_empty() && !SETUP.is_match(&part))
}

/// The commands of a script that prove something: one for each line where every line stands for itself, or one for
/// all of them where a line needs what another one does.
pub(crate) fn split_script(script: &str) -> Vec<String> {
    // A commit is the last thing that is done: what follows it is its message.
    let lines: Vec<&str> = join_continued(script).into_iter().take_while(|line| !is_commit(line)).collect();
    let rows = lines.iter().map(|line| line.trim()).filter(|row| !row.is_empty() && !row.starts_with('#'));
    if !rows.clone().all(is_whole) {
        let whole = lines.concat().trim_end().to_owned();
        return if rows.into_iter().next().is_some_and(proves_something) { vec![whole] } else { Vec::new() };
    }
    let rows: Vec<&str> = rows.filter(|row| CONTEXT.is_match(row) || proves_something(row)).collect();
    if rows.iter().all(|row| CONTEXT.is_match(row)) {
        return Vec::new();
    }
    let needs_context = rows.iter().any(|row| CONTEXT.is_match(row));
    if needs_context { vec![rows.join("\n")] } else { rows.into_iter().map(str::to_owned).collect() }
}

fn is_commit(row: &str) -> bool {
    let row = row.trim();
    row.starts_with("git") && SETUP.is_match(row)
}

/// The lines of a script, of which one that ends with a backslash goes on in the next.
fn join_continued(script: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let (mut start, mut end) = (0, 0);
    for line in script.split_inclusive('\n') {
        end += line.len();
        if !line.trim_end().ends_with('\\') {
            found.extend(script.get(start..end));
            start = end;
        }
    }
    found.extend(script.get(start..end).filter(|rest| !rest.is_empty()));
    found
}

/// Whether a line is a command by itself: no part of a loop, of a text over several lines, or of a quotation.
fn is_whole(row: &str) -> bool {
    const PARTS: [&str; 14] =
        ["for", "while", "until", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "{", "}"];
    let first = row.split([' ', ';', '\t']).next().unwrap_or_default();
    let has_open_quote = ['"', '\''].iter().any(|quote| row.matches(*quote).count() % 2 == 1);
    let is_open = row.ends_with(['|', '(', '{']) || row.ends_with("&&") || row.contains("<<") || row.starts_with(')');
    !PARTS.contains(&first) && !has_open_quote && !is_open
}

#[cfg(test)]
mod tests;
