//! The targets called `test` of the programs that run what a project names: make, just and task.

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

pub(super) fn test_target(top: &dyn TopFiles) -> Option<DetectedCheck> {
    // Of each program the one file that it reads.
    let target = |names: &[&'static str], has_target: fn(&str, &dyn TopFiles) -> bool, command| {
        let found_in = top.first_file(names)?;
        has_target(&top.text(found_in)?, top).then_some(DetectedCheck { command, found_in })
    };
    target(&MAKEFILES, has_make_target, "make test")
        .or_else(|| {
            target(
                &JUSTFILES,
                |text, _| text.lines().any(is_just_recipe),
                "just test",
            )
        })
        .or_else(|| target(&TASKFILES, |text, _| has_task(text), "task test"))
}

/// A target `test` that runs something. Beside a file or folder `test`, and unless the target is
/// phony, make takes it for up to date and ends with status 0.
fn has_make_target(text: &str, top: &dyn TopFiles) -> bool {
    let text = text.replace("\\\r\n", " ").replace("\\\n", " ");
    let rules = || {
        text.lines()
            .filter(|line| !line.starts_with(['\t', '#']))
            .filter_map(|line| line.split_once(':'))
    };
    let names_test = |words: &str| words.split_whitespace().any(|word| word == "test");
    // `test := 1` and `test ::= 1` set a variable.
    let is_rule = |after: &str| !after.trim_start_matches(':').starts_with('=');
    let is_phony = || rules().any(|(target, files)| target.trim() == ".PHONY" && names_test(files));
    rules().any(|(targets, after)| names_test(targets) && is_rule(after))
        && (top.kind("test").is_none() || is_phony())
}

/// A line that begins the recipe `test`, which can run without an argument.
fn is_just_recipe(line: &str) -> bool {
    let line = line.strip_prefix('@').unwrap_or(line);
    let Some((parameters, after)) = line
        .strip_prefix("test")
        .and_then(|rest| rest.split_once(':'))
    else {
        return false;
    };
    let is_alone = parameters.is_empty() || parameters.starts_with(char::is_whitespace);
    let can_be_left_out = |parameter: &str| parameter.starts_with('*') || parameter.contains('=');
    is_alone && !after.starts_with('=') && parameters.split_whitespace().all(can_be_left_out)
}

/// A task `test`, in the first depth below `tasks:`.
fn has_task(text: &str) -> bool {
    let is_blank = |line: &&str| line.trim().is_empty() || line.trim_start().starts_with('#');
    let mut lines = text
        .lines()
        .filter(|line| !is_blank(line))
        .skip_while(|line| line.trim_end() != "tasks:")
        .skip(1);
    let mut tasks = lines
        .by_ref()
        .take_while(|line| line.starts_with(' '))
        .peekable();
    let depth = |line: &str| line.len() - line.trim_start().len();
    let Some(first) = tasks.peek().map(|line| depth(line)) else {
        return false;
    };
    let is_test = |line: &str| {
        let name = line.trim_start().split(':').next().unwrap_or_default();
        name.trim_matches(['"', '\'']) == "test" && line.contains(':')
    };
    tasks.any(|line| depth(line) == first && is_test(line))
}
