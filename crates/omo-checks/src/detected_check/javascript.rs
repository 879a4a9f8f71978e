//! JavaScript and TypeScript: the script `test` of `package.json`, and Deno.

use omo_core::shell::split_commands;
use serde_json::Value as Json;

use super::Candidate;
use super::top_files::TopFiles;

/// The managers of packages: the name in `packageManager`, the files that hold the versions, the command.
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

/// A workspace without a script at its top is offered nothing: what npm and pnpm have for all members ends with status 0
/// where none of them has a test.
pub(super) fn package(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["package.json"])?;
    let package = top.json(file);
    let named = package
        .get("packageManager")
        .and_then(Json::as_str)
        .and_then(|text| text.split('@').next());
    let by_name = || {
        PACKAGE_MANAGERS
            .iter()
            .find(|(name, ..)| Some(*name) == named)
    };
    let by_lock = || {
        PACKAGE_MANAGERS
            .iter()
            .find(|(_, locks, _)| locks.iter().any(|lock| top.has_file(lock)))
    };
    let (manager, _, command) =
        by_name()
            .or_else(by_lock)
            .copied()
            .unwrap_or(("npm", &[], "npm test"));
    match package.pointer("/scripts/test").and_then(Json::as_str) {
        Some(script) => is_test_script(script).then(|| Candidate::certain(command, file)),
        None if manager == "bun" => Some(Candidate::likely("bun test", file)),
        None => None,
    }
}

/// A configuration with comments is not read: then it is not known whether it has a task.
pub(super) fn deno(top: &dyn TopFiles) -> Option<Candidate> {
    let file = top.first_file(&["deno.json", "deno.jsonc"])?;
    let has_task = top.json(file).pointer("/tasks/test").is_some();
    Some(if has_task {
        Candidate::certain("deno task test", file)
    } else {
        Candidate::likely("deno test", file)
    })
}

/// A script that runs tests and ends. npm's placeholder only says that there are none, and a script
/// that watches the files would, as a check, run until its time is over.
pub(super) fn is_test_script(script: &str) -> bool {
    let commands = split_commands(script);
    let mut programs = commands.iter().filter_map(|words| words.first());
    let is_idle = |program: &str| matches!(program, "echo" | "exit" | "true" | "false" | ":");
    programs.any(|program| !is_idle(program)) && !commands.iter().any(|words| watches_files(words))
}

fn watches_files(words: &[String]) -> bool {
    let has = |options: &[&str]| words.iter().any(|word| options.contains(&word.as_str()));
    let is_told_not_to = || has(&["--watch=false", "--watchAll=false", "--no-watch"]);
    has(&["--watch", "--watchAll", "watch"]) || (has(&["ng", "react-scripts"]) && !is_told_not_to())
}
