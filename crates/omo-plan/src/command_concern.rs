//! Commands that a plan names as checks and that prove nothing, or never end: such a command is shown, and is not run.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::pattern::Pattern;

/// Why a command is not run as a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CommandConcern {
    /// A part of it stands for something that the reader fills in, such as `<dir>`.
    Placeholder,
    /// It only prints something: it is green whatever was done.
    OnlyPrints,
    /// Its status is thrown away, or it looks at nothing: it is green whatever was done.
    AlwaysGreen,
    /// It is a server or a watcher, and runs until it is ended.
    NeverEnds,
    /// It is written for PowerShell, cmd or fish; omo runs checks with `sh`.
    OtherShell,
}

impl fmt::Display for CommandConcern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Placeholder => "it has a placeholder",
            Self::OnlyPrints => "it only prints, and is green whatever was done",
            Self::AlwaysGreen => "it is green whatever was done",
            Self::NeverEnds => "it runs until it is ended",
            Self::OtherShell => "it is written for another shell than sh",
        })
    }
}

/// Text in quotes, in which `<` and `…` stand for themselves.
static QUOTED: Pattern = Pattern::new(r#""(?:[^"\\]|\\.)*"|'[^']*'"#);
/// `<dir>`, `{{name}}`, `YOUR_KEY`, `path/to/file`, `...` as a word.
static PLACEHOLDER: Pattern = Pattern::new(concat!(
    r"<[A-Za-z][A-Za-z0-9_./:| -]*>|\{\{[^}]*\}\}|\[[a-z]+(?:[-_ ][a-z]+)*\](?:\s|$)|",
    r"\bYOUR[_-][A-Z]|\byour-[a-z]+|(?:^|[\s=/])path/to/|(?:^|\s)(?:\.\.\.|…)(?:\s|$)",
));
/// A part of a command that prints and proves nothing.
static PRINTS: Pattern = Pattern::new(
    r"^(?:echo|printf|pwd|date|true|:|env|printenv|whoami|hostname|clear|git\s+(?:--no-pager\s+)?(?:log|show|status|diff|branch)|cd|sleep|open|xdg-open)(?:\s|$)",
);
/// `git diff` with a status that says something.
static HAS_STATUS: Pattern = Pattern::new(r"\s--(?:exit-code|quiet|check)\b");
/// What bounds the time of the command behind it.
static BOUNDED: Pattern = Pattern::new(r"^(?:timeout|gtimeout)\s");
/// Servers, watchers, and what follows a log.
static ENDLESS: Pattern = Pattern::new(concat!(
    r"^(?:",
    r"(?:npm|pnpm|yarn|bun)\s+(?:-\S+\s+)*(?:run\s+)?(?:dev|start|serve|watch|preview|storybook)(?::[\w:-]+)?(?:\s|$)",
    r"|(?:npx\s+|bunx\s+)?(?:vite(?:\s+(?:dev|serve|preview)|\s*$)|next\s+(?:dev|start)|nuxt\s+dev|astro\s+dev|expo\s+start|nodemon\b|serve\b|http-server\b|json-server\b|webpack\s+serve|webpack-dev-server\b|ng\s+serve|tsx\s+watch)",
    r"|(?:uv\s+run\s+|poetry\s+run\s+)?(?:uvicorn|gunicorn|hypercorn|streamlit\s+run|flask\s+run|celery\s.*\bworker\b|python3?\s+-m\s+http\.server|python3?\s+\S*manage\.py\s+runserver|\S*manage\.py\s+runserver)\b",
    r"|rails\s+s(?:erver)?\b|php\s+artisan\s+serve\b|php\s+-S\b|hugo\s+server\b|jekyll\s+serve\b|mkdocs\s+serve\b|mix\s+phx\.server\b|dotnet\s+watch\b|air(?:\s|$)",
    r"|cargo\s+watch\b|watchexec\b|entr\b|watch\s|tail\s+(?:\S+\s+)*-[a-zA-Z]*[fF]\b|journalctl\s.*-f\b|kubectl\s+(?:port-forward|proxy|logs\s.*-f)\b|ngrok\b",
    r"|docker(?:-compose|\s+compose)\s+(?:\S+\s+)*up(?:\s+-[^d\s]\S*|\s+[a-z]\S*)*\s*$|docker(?:-compose|\s+compose)?\s+logs\s.*-f\b",
    r")",
));
/// An option that has a program watch.
static WATCHES: Pattern =
    Pattern::new(r"\s--(?:watch|watchAll|serve)(?:\s|$)|^(?:npx\s+)?(?:tsc|jest)\s(?:.*\s)?-w(?:\s|$)");
/// Commands of PowerShell, cmd and fish.
static OTHER_SHELL: Pattern = Pattern::new(concat!(
    r"\$env:[A-Za-z_]|^(?:Get|Set|Test|New|Remove|Select|Start|Stop|Invoke|Write|Out|Where|ForEach|Copy|Move|Import)-[A-Z][A-Za-z]+\b",
    r"|\|\s*(?:Select|Where|Measure|ForEach|Out|Sort)-[A-Z]|^(?:powershell|pwsh|cmd)(?:\.exe)?\s|^\.\\|^dir\s+/|^set\s+-[xg]+\s+[A-Z]",
));

/// A command that throws its status away, or that looks at nothing of the project.
static ALWAYS_GREEN: Pattern = Pattern::new(concat!(
    r"(?:\|\||;)\s*(?:true|:|exit\s+0|echo\b[^&|;]*)\s*$|[^&]&\s*$|\|\s*(?:cat|tee\s+\S+|head|tail|less|more)(?:\s+-\S+)*\s*$",
    r"|^\S+(?:\s+\S+)?\s+(?:--help|--version|-h|-V|--collect-only|--listTests)\s*$",
    r"|^(?:exit\s+0|sh|bash)\s*$|^(?:ba|da|z)?sh\s+-c\s+(?:true|:|''|)\s*$|^make\s+(?:-n|--dry-run)\b",
));
/// A whole command in quotes that does nothing.
static DOES_NOTHING: Pattern = Pattern::new(
    r#"^(?:(?:ba|da|z)?sh|python3?|node)\s+-[ce]\s+["'](?:\s|true|:|exit\s+0|exit\(0\)|pass|0|;)*["']\s*$"#,
);

/// Why a command is not run as a check; `None` where nothing speaks against it.
pub fn find_concern(command: &str) -> Option<CommandConcern> {
    let plain = without_quoted(command);
    if OTHER_SHELL.is_match(command.trim()) {
        return Some(CommandConcern::OtherShell);
    }
    if PLACEHOLDER.is_match(&plain) {
        return Some(CommandConcern::Placeholder);
    }
    let parts = || plain.split("&&").flat_map(|part| part.split([';', '\n'])).map(program_part);
    let is_endless = |part: &str| !BOUNDED.is_match(part) && (ENDLESS.is_match(part) || WATCHES.is_match(part));
    if parts().any(is_endless) {
        return Some(CommandConcern::NeverEnds);
    }
    if ALWAYS_GREEN.is_match(plain.trim()) || DOES_NOTHING.is_match(command.trim()) {
        return Some(CommandConcern::AlwaysGreen);
    }
    // What is piped into another program, or decides with `||`, is that program's to judge.
    let prints = |part: &str| part.is_empty() || (PRINTS.is_match(part) && !HAS_STATUS.is_match(part));
    let only_prints = !plain.contains('|') && parts().all(prints);
    only_prints.then_some(CommandConcern::OnlyPrints)
}

/// A part of a command from its program on: what it sets for it is left out.
fn program_part(part: &str) -> &str {
    let mut rest = part.trim();
    while let Some((word, behind)) = rest.split_once(char::is_whitespace) {
        let is_setting = word.split_once('=').is_some_and(|(name, _)| is_variable(name));
        if !is_setting && !matches!(word, "env" | "time" | "sudo" | "exec") {
            break;
        }
        rest = behind.trim_start();
    }
    rest
}

fn is_variable(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

/// The command with `""` in place of each text in quotes.
fn without_quoted(command: &str) -> String {
    let (mut plain, mut rest) = (String::with_capacity(command.len()), command);
    while let Some((before, behind)) = QUOTED.around(rest) {
        plain.push_str(before);
        plain.push_str("\"\"");
        rest = behind;
    }
    plain.push_str(rest);
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_judge_is_found() {
        use CommandConcern::{AlwaysGreen, NeverEnds, OnlyPrints, OtherShell, Placeholder};
        for (command, expected) in [
            ("npm test || true", Some(AlwaysGreen)),
            ("npm test; exit 0", Some(AlwaysGreen)),
            ("npm test | cat", Some(AlwaysGreen)),
            ("npm test &", Some(AlwaysGreen)),
            ("sh -c true", Some(AlwaysGreen)),
            ("bash -c 'exit 0'", Some(AlwaysGreen)),
            ("python3 -c \"pass\"", Some(AlwaysGreen)),
            ("pytest --version", Some(AlwaysGreen)),
            ("make -n test", Some(AlwaysGreen)),
            ("exit 0", Some(AlwaysGreen)),
            ("npm test && echo ok", None),
            ("git diff --exit-code || exit 1", None),
            ("sh -c 'test -f a'", None),
            ("go test ./...", None),
            ("bazel test //...", None),
            ("npm test 2>&1 | grep -q ok", None),
            ("ls <dir>", Some(Placeholder)),
            ("pytest tests/{{module}}", Some(Placeholder)),
            ("curl -H x-key:YOUR_KEY localhost", Some(Placeholder)),
            ("node path/to/script.js", Some(Placeholder)),
            ("cargo test ...", Some(Placeholder)),
            ("grep -q '<div>' index.html", None),
            ("sort < in.txt > out.txt", None),
            ("test 1 -lt 2", None),
            ("echo done", Some(OnlyPrints)),
            ("cd app && git status", Some(OnlyPrints)),
            ("git diff --exit-code", None),
            ("git log | grep -q fix", None),
            ("echo x && npm test", None),
            ("npm run dev", Some(NeverEnds)),
            ("PORT=1 npm start", Some(NeverEnds)),
            ("cd app && yarn dev:web", Some(NeverEnds)),
            ("npm run start-server-and-test", None),
            ("timeout 5 npm start", None),
            ("vite", Some(NeverEnds)),
            ("vite build", None),
            ("npx vitest --watch", Some(NeverEnds)),
            ("npx vitest run", None),
            ("tsc -w", Some(NeverEnds)),
            ("python -m http.server 8000", Some(NeverEnds)),
            ("uv run uvicorn app:app", Some(NeverEnds)),
            ("tail -f log", Some(NeverEnds)),
            ("tail -n 5 log", None),
            ("docker compose up", Some(NeverEnds)),
            ("docker compose up -d", None),
            ("Get-ChildItem src", Some(OtherShell)),
            ("$env:CI='1'; npm test", Some(OtherShell)),
            (".\\gradlew.bat test", Some(OtherShell)),
            ("./gradlew test", None),
            ("[ -f a.txt ]", None),
            ("npm test", None),
            ("", Some(OnlyPrints)),
        ] {
            assert_eq!(find_concern(command), expected, "{command}");
        }
    }
}
