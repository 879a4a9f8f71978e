//! Plans in the real client, from the typed command to the report: what the person sees, what the model is
//! asked to do, and what the files say.

mod decisions;
mod formats;
pub(crate) mod obedient_model;
mod run_ownership;
mod seven_tasks;
mod without_workflow;

use std::fs;
use std::path::PathBuf;
use std::process::{Child, Stdio};

use omo_testkit::model::RequestKind;
use omo_testkit::{ModelScript, PrintRun};

use crate::block_text::last_block;
use crate::client_lab::{ClientFixture, client_lab, plugin};

/// Where the plan lies in the project.
const PLAN: &str = "docs/plan.md";
/// Seven tasks, three hard stops.
const SEVEN: &str = include_str!("../vectors/plans/seven.md");
/// The checkpoint that other tools read.
const CHECKPOINT: &str = ".claude/execute-plan-checkpoint.json";
/// The report that people read.
const REPORT: &str = "docs/06-plans/execution-report.md";
/// The person allows edits and nothing else: what else runs unasked, the command itself allows.
pub(crate) const ACCEPT_EDITS: [&str; 2] = ["--permission-mode", "acceptEdits"];

/// A plan of three tasks, each of which writes one word and is checked for it.
fn words() -> String {
    let task = |(place, word): (usize, &str)| {
        let number = place + 1;
        format!(
            "### Task {number}: The word {word}\n\n**Files:**\n- Create: `words/{number}.txt`\n\n\
             **Task Contract:** the file holds the word {word}.\n\n**Verify:**\nRun: `grep -q {word} words/{number}.txt`\n\n"
        )
    };
    let tasks: String = ["one", "two", "three"]
        .into_iter()
        .enumerate()
        .map(task)
        .collect();
    format!(
        "---\ncontract_version: 2\n---\n\n# Words\n\n{tasks}## Verification\n\n- **Verdict:** Approved\n"
    )
}

/// A fixture with a plan on it.
pub(crate) fn planned(plan: &str, script: ModelScript) -> ClientFixture {
    let fixture = client_lab(script);
    fixture.lab.write(PLAN, plan).expect("write the plan");
    fixture
}

/// One prompt that a person types, in a new session or behind `--resume`.
pub(crate) fn type_prompt(fixture: &ClientFixture, prompt: &str, more: &[&str]) -> PrintRun {
    fixture.print(prompt, &[&ACCEPT_EDITS, more].concat())
}

/// The same, in a client that the test goes on beside.
pub(crate) fn start_prompt(fixture: &ClientFixture, prompt: &str, more: &[&str]) -> Child {
    let mut command = fixture
        .client
        .command(&fixture.lab, prompt, &[&ACCEPT_EDITS, more].concat());
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.spawn().expect("start the client")
}

/// The code that the person is shown with the commands, and has to type.
pub(crate) fn code(shown: &str) -> String {
    let code = shown
        .split("--approve ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    code.unwrap_or_else(|| panic!("no code in:\n{shown}"))
        .to_owned()
}

/// The person looks at the commands of the plan and approves them, which opens its run.
pub(crate) fn approved(fixture: &ClientFixture, options: &str, more: &[&str]) -> PrintRun {
    let command = format!("/omo:execute-plan {PLAN}{options}");
    let shown = type_prompt(fixture, &command, &[]);
    let code = code(shown.result().expect("the client says why nothing ran"));
    type_prompt(fixture, &format!("{command} --approve {code}"), more)
}

/// What `omo` says in a terminal beside the session, with its status.
pub(crate) fn omo(fixture: &ClientFixture, arguments: &[&str]) -> (String, Option<i32>) {
    let done = fixture
        .lab
        .command(plugin().join("bin/omo"))
        .args(arguments)
        .output()
        .expect("run omo");
    let text =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    (text, done.status.code())
}

/// Each task of the run with its state and how often it was begun.
pub(crate) fn tasks(fixture: &ClientFixture) -> Vec<String> {
    let (shown, _) = omo(fixture, &["run", "show", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&shown).expect("a report as JSON");
    let word =
        |row: &serde_json::Value, key: &str| row[key].to_string().trim_matches('"').to_owned();
    let rows = report["tasks"].as_array().into_iter().flatten();
    rows.map(|row| {
        ["id", "standing", "attempts"]
            .map(|key| word(row, key))
            .join(" ")
    })
    .collect()
}

/// What the run has written in the project: its ledger and the files for others, with all that is in them.
fn written(fixture: &ClientFixture) -> Vec<(PathBuf, Vec<u8>)> {
    let mut folders: Vec<_> = [".git/omo", ".claude", "docs"]
        .map(|name| fixture.lab.project().join(name))
        .into();
    let mut files = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.expect("read a folder").path();
            if path.is_dir() {
                folders.push(path);
            } else {
                files.push((path.clone(), fs::read(&path).expect("read a file")));
            }
        }
    }
    files.sort();
    files
}

/// A file of the project, where it is there.
fn file(fixture: &ClientFixture, path: &str) -> Option<String> {
    let path: PathBuf = fixture.lab.project().join(path);
    fs::read_to_string(path).ok()
}

/// The blocks that the session's model was given, each as its word and the line that says where the run stands.
fn blocks(fixture: &ClientFixture) -> Vec<String> {
    let shown = |text: &str| {
        let block = last_block(text)?;
        let line = match block.split_once("\n\n") {
            Some((_, second)) => second.lines().find(|line| !line.contains("Paused at"))?,
            None => block.lines().nth(1)?,
        };
        Some(format!("{}: {}", block.lines().next()?, line.trim()))
    };
    let requests = fixture.model.requests_of(RequestKind::Main);
    requests
        .iter()
        .filter_map(|request| shown(&request.tool_results_text()))
        .collect()
}
