//! Detects `npm test` and its like: the script `test` of `package.json`, or a task of Deno.

use omo_core::shell::split_commands;
use serde_json::Value as Json;

use super::Candidate;
use super::top_files::TopFiles;

/// Package managers: the name in `packageManager`, the lock files, the command.
const PACKAGE_MANAGERS: [(&str, &[&str], &str); 4] = [
    ("pnpm", &["pnpm-lock.yaml"], "pnpm test"),
    ("yarn", &["yarn.lock"], "yarn test"),
    ("bun", &["bun.lock", "bun.lockb"], "bun run test"),
    (
        "npm",
        &["package-lock.json", "npm-shrinkwrap.json"],
        "npm test",
    ),
];

/// Test command of `package.json`. A workspace needs the script at its top: npm and pnpm end with
/// status 0 for members without tests.
pub(super) fn package(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["package.json"])?;
    let package = top.json(file);
    let named = package
        .get("packageManager")
        .and_then(Json::as_str)
        .and_then(|text| text.split('@').next());
    let (manager, _, command) = PACKAGE_MANAGERS
        .iter()
        .find(|(name, ..)| Some(*name) == named)
        .or_else(|| {
            PACKAGE_MANAGERS
                .iter()
                .find(|(_, locks, _)| locks.iter().any(|lock| top.has_file(lock)))
        })
        .copied()
        .unwrap_or(("npm", &[], "npm test"));
    match package.pointer("/scripts/test").and_then(Json::as_str) {
        Some(script) => is_test_script(script).then(|| Candidate::certain(command, file)),
        None if manager == "bun" => Some(Candidate::likely("bun test", file)),
        None => None,
    }
}

/// Test task of Deno. A configuration with comments is not read, so its tasks are unknown.
pub(super) fn deno(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["deno.json", "deno.jsonc"])?;
    let has_task = top.json(file).pointer("/tasks/test").is_some();
    Some(if has_task {
        Candidate::certain("deno task test", file)
    } else {
        Candidate::likely("deno test", file)
    })
}

/// `false` for npm's placeholder, and for a script that watches files and would not end.
pub(super) fn is_test_script(script: &str) -> bool {
    let commands = split_commands(script);
    let mut programs = commands.iter().filter_map(|words| words.first());
    programs.any(|program| !matches!(&**program, "echo" | "exit" | "true" | "false" | ":"))
        && !commands.iter().any(|words| watches_files(words))
}

fn watches_files(words: &[String]) -> bool {
    has_option(words, &["--watch", "--watchAll", "watch"])
        || has_option(words, &["ng", "react-scripts"])
            && !has_option(words, &["--watch=false", "--watchAll=false", "--no-watch"])
}

fn has_option(words: &[String], options: &[&str]) -> bool {
    words.iter().any(|word| options.contains(&word.as_str()))
}
