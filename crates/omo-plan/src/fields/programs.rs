//! The programs that a plan runs, by their names, and what such a command is for: to prove something, to prepare it, or to
//! run what was made.

use omo_core::shell::programs::{Role, has_role};

use crate::command_concern::{never_ends as has_server, program_part};
use crate::pattern::Pattern;

/// Whether a word is the name of a program.
pub(crate) fn is_program(word: &str) -> bool {
    has_role(word, Role::PlanCommand)
}

/// Whether a word is the name of a program and no other word.
pub(crate) fn is_only_program(word: &str) -> bool {
    is_program(word) && !has_role(word, Role::PlanWord)
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
/// Whether a command from its program on ends without proving anything, or never ends.
pub(crate) fn prepares(command: &str) -> bool {
    SETUP.is_match(command)
}

/// What goes on in the background, and what changes the history or the files of the repository for good.
static NEVER: Pattern =
    Pattern::new(r"(?:^|[;&|]\s*)git\s+(?:-C\s+\S+\s+)?(?:commit|push|reset|checkout|rebase|merge|stash)\b|[^&]&\s*$");

/// Whether a command can prove something.
pub(crate) fn proves_something(command: &str) -> bool {
    let parts = command.split("&&").flat_map(|part| part.split(';')).map(str::trim).filter(|part| !part.is_empty());
    !NEVER.is_match(command) && parts.map(program_part).any(|part| !part.is_empty() && !prepares(part))
}

/// What runs or changes what the plan makes, in words that may prove something elsewhere: a sentence that names such a
/// command is about what it does.
static RUNS: Pattern = Pattern::new(concat!(
    r"^(?:(?:npx|pnpx|bunx)\s+\S*(?:create|init|sv|degit)|(?:docker|podman)(?:-compose|\s+compose)?\s+(?:run|exec)\b|git\s",
    r"|supabase\s+(?:start|db)\b|prisma\s+(?:generate|migrate|db)\b|alembic\s+(?:upgrade|revision)\b|rails\s+(?:generate|g|db)\b",
    r"|terraform\s+(?:apply|init|destroy)\b|kubectl\s+apply\b|helm\s+(?:install|upgrade)\b|openspec\s+(?:archive|init)\b",
    r"|\S*manage\.py\s+(?:migrate|makemigrations)\b|uv\s+(?:build|lock|venv|init|tool|pip)\b|(?:cargo|go|dotnet|flutter)\s+run\b",
    r"|(?:poetry|cargo|go|gem|composer|bundle|mix|dart|flutter|dotnet)\s+(?:-\S+\s+)*(?:install|add|update|upgrade|get|remove|init|create|publish|new|tool|mod|pub|restore|dev|start|deps\.get)\b",
    r"|(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:update|upgrade|login|run\s+(?:lint:fix|fix)(?:\s|$))|(?:pip3?|brew|apt(?:-get)?|pod)\s+\S)",
));

/// Whether a part of a command prepares, runs or changes something, or never ends.
pub(crate) fn does_more_than_look(command: &str) -> bool {
    let parts = command.split("&&").flat_map(|part| part.split([';', '\n'])).map(program_part);
    let mut parts = parts.filter(|part| !part.is_empty() && !part.starts_with("cd "));
    has_server(command) || parts.any(|part| prepares(part) || RUNS.is_match(part))
}

/// Whether a command never ends by itself.
pub(crate) fn never_ends(command: &str) -> bool {
    command.trim_end().ends_with('&') || has_server(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_known_by_its_name() {
        assert!(is_program("cargo") && is_only_program("cargo") && !is_program("cargos") && !is_only_program("file"));
    }

    #[test]
    fn a_command_that_runs_or_changes_something_is_known() {
        for command in [
            "cargo run -p a",
            "npm install && npm test",
            "npm run dev",
            "docker compose up -d",
            "cd a && go mod tidy",
            "uv sync",
            "terraform apply",
            "git status",
            "FOO=1 next dev",
            "python -m http.server",
        ] {
            assert!(does_more_than_look(command), "{command}");
        }
        for command in
            ["cargo test", "npm run build", "(cd a && go vet ./...)", "uv run pytest", "docker compose config"]
        {
            assert!(!does_more_than_look(command), "{command}");
        }
        assert!(never_ends("node a.js &") && never_ends("npm run dev") && !never_ends("npm test"));
    }
}
