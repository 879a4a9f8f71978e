//! Detects a target `test`: `make test`, `just test` or `task test`.

use super::DetectedCheck;
use super::top_files::TopFiles;

const MAKEFILES: [&str; 3] = ["GNUmakefile", "makefile", "Makefile"];
const JUSTFILES: [&str; 4] = ["justfile", "Justfile", "JUSTFILE", ".justfile"];
const TASKFILES: [&str; 8] = [
    "Taskfile.yml",
    "taskfile.yml",
    "Taskfile.yaml",
    "taskfile.yaml",
    "Taskfile.dist.yml",
    "taskfile.dist.yml",
    "Taskfile.dist.yaml",
    "taskfile.dist.yaml",
];

/// Test command of the first makefile, justfile or taskfile with a target `test`.
pub(super) fn test_target(top: &dyn TopFiles) -> Option<DetectedCheck> {
    first_target(top, &MAKEFILES, "make test", |text| {
        has_make_target(text, top)
    })
    .or_else(|| {
        first_target(top, &JUSTFILES, "just test", |text| {
            text.lines().any(is_just_recipe)
        })
    })
    .or_else(|| first_target(top, &TASKFILES, "task test", has_task))
}

/// The command of the first of these files, if it has the target: a program reads only that one.
fn first_target(
    top: &dyn TopFiles,
    names: &[&'static str],
    command: &'static str,
    has_target: impl Fn(&str) -> bool,
) -> Option<DetectedCheck> {
    let found_in = top.first_file(names)?;
    has_target(&top.text(found_in)?).then_some(DetectedCheck { command, found_in })
}

/// `true` for a target `test` that runs: beside a file `test` only a phony one does.
fn has_make_target(text: &str, top: &dyn TopFiles) -> bool {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let rules: Vec<(&str, &str)> = text
        .lines()
        .filter(|line| !line.starts_with(['\t', '#']))
        .filter_map(|line| line.split_once(':'))
        .collect();
    // `test := 1` and `test ::= 1` set a variable.
    let has_target = rules.iter().any(|(targets, after)| {
        names_test(targets) && !after.trim_start_matches(':').starts_with('=')
    });
    let is_phony = rules
        .iter()
        .any(|(target, files)| target.trim() == ".PHONY" && names_test(files));
    has_target && (is_phony || top.kind("test").is_none())
}

fn names_test(words: &str) -> bool {
    words.split_whitespace().any(|word| word == "test")
}

/// `true` for a line that begins the recipe `test` without a required argument.
fn is_just_recipe(line: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some((parameters, after)) = line
        .strip_prefix("test")
        .and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    let is_alone = parameters.is_empty() || parameters.starts_with(char::is_whitespace);
    is_alone
        && !after.starts_with('=')
        && parameters
            .split_whitespace()
            .all(|parameter| parameter.starts_with('*') || parameter.contains('='))
}

/// `true` for a task `test` in the first depth below `tasks:`.
fn has_task(text: &str) -> bool {
    let mut lines = text
        .lines()
        .filter(|line| !line.trim().is_empty() && !line.trim_start().starts_with('#'))
        .skip_while(|line| line.trim_end() != "tasks:")
        .skip(1);
    let mut tasks = lines
        .by_ref()
        .take_while(|line| line.starts_with(' '))
        .peekable();
    let Some(first) = tasks.peek().map(|line| depth(line)) else {
        return false;
    };
    tasks.any(|line| depth(line) == first && is_test_key(line))
}

fn depth(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn is_test_key(line: &str) -> bool {
    line.trim_start()
        .split_once(':')
        .is_some_and(|(name, _)| name.trim_matches(['"', '\'']) == "test")
}
