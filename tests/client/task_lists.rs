//! Task lists in the real client, from the typed command to the report: what the person sees, what the
//! model is asked to do, what the ledger says, and in which order.

mod planning;
mod resumed_session;
pub(crate) mod scripted_agents;
mod terminal;
mod waves;

use std::fs;

use omo_testkit::model::{RecordedRequest, RequestKind};
use omo_testkit::{ModelScript, PrintRun};
use serde_json::Value;

use crate::block_text::last_block;
use crate::client_lab::{ClientFixture, client_lab};
use crate::plans::{code, omo, type_prompt};

/// The session that every fixture here has.
const SESSION: &str = "11112222-3333-4444-5555-666677778888";
/// A check that the file of a task holds its word; `$` stands for the task's id.
const WORD: &str = "`grep -q done words/$.txt`";
/// What no command tells.
const REVIEWED: &str = "The word reads well";
/// What its person has allowed besides: commands that show something.
pub(crate) const MAY_SHOW: [&str; 2] = ["--allowedTools", "Bash(omo agent evidence run:*)"];

/// A task: its id, what it waits for, and what shows that it is done.
type Task<'a> = (&'a str, &'a str, &'a str);

/// A fixture with a session that is planned.
fn planned(tasks: &[Task], script: ModelScript) -> ClientFixture {
    let fixture = client_lab(script);
    said(
        &fixture,
        &[
            "agent",
            "tasks",
            "create",
            "--session",
            SESSION,
            "words in files",
        ],
    );
    for (id, needs, shown) in tasks {
        let (subject, criteria) = (format!("The word {id}"), shown.replace('$', id));
        let mut asked = vec![
            "agent",
            "task",
            "create",
            "--session",
            SESSION,
            "--id",
            id,
            "--subject",
            &subject,
        ];
        asked.extend(["--description", "Write it.", "--criteria", &criteria]);
        asked.extend(
            Some(["--blocked-by", needs])
                .filter(|_| !needs.is_empty())
                .into_iter()
                .flatten(),
        );
        said(&fixture, &asked);
    }
    said(
        &fixture,
        &[
            "agent",
            "tasks",
            "update",
            "--session",
            SESSION,
            "--phase",
            "PLANNING_COMPLETE",
        ],
    );
    fixture
}

/// What `omo` says in a terminal beside the session, where all goes well.
fn said(fixture: &ClientFixture, arguments: &[&str]) -> String {
    let (text, status) = omo(fixture, arguments);
    assert_eq!(status, Some(0), "{arguments:?}: {text}");
    text
}

/// How a person has the session executed.
fn command(options: &str) -> String {
    format!("/omo:ulw-exec --session {SESSION}{options}")
}

/// The person looks at the commands of the session; gives the line that approves them.
fn approve(fixture: &ClientFixture, options: &str) -> String {
    let shown = type_prompt(fixture, &command(options), &[]);
    command(&format!(
        "{options} --approve {}",
        code(shown.result().expect("the client says why nothing ran"))
    ))
}

/// The person approves the commands of the session, which opens its run.
fn approved(fixture: &ClientFixture, options: &str) -> PrintRun {
    type_prompt(fixture, &approve(fixture, options), &MAY_SHOW)
}

/// All that the run has written down, in order.
fn events(fixture: &ClientFixture) -> Vec<Value> {
    let runs = fixture.lab.project().join(".git/omo/runs");
    let ledgers = fs::read_dir(&runs)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path().join("events.jsonl"));
    let ledgers: Vec<_> = ledgers.filter(|path| path.is_file()).collect();
    assert_eq!(ledgers.len(), 1, "{ledgers:?}");
    let text = fs::read_to_string(&ledgers[0]).expect("read the ledger");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("an event"))
        .collect()
}

/// What became of the tasks, in order, each event as its kind and its task. Workers of one wave overtake each
/// other: those that begin, or end, behind one another are in the order of their ids.
fn story(fixture: &ClientFixture) -> Vec<String> {
    const EVENT_KINDS: [&str; 8] = [
        "task_started",
        "task_passed",
        "task_failed",
        "task_claimed",
        "verdict_given",
        "round_started",
        "run_ended",
        "run_cancelled",
    ];
    let word = |event: &Value| {
        let kind = event["kind"].as_str().expect("a kind").to_owned();
        let of = ["task", "round", "passed", "result"].map(|name| &event[name]);
        let of = of
            .into_iter()
            .find(|value| !value.is_null())
            .map(|value| format!(" {value}").replace('"', ""));
        EVENT_KINDS
            .contains(&&*kind)
            .then(|| kind + &of.unwrap_or_default())
    };
    let mut story: Vec<String> = events(fixture).iter().filter_map(word).collect();
    let is_begin = |word: &String| word.starts_with("task_started ");
    let is_end = |word: &String| {
        ["task_passed ", "task_failed ", "task_claimed "]
            .iter()
            .any(|end| word.starts_with(end))
    };
    let task = |word: &String| word.rsplit(' ').next().unwrap_or_default().to_owned();
    for wave in story
        .chunk_by_mut(|one, other| is_begin(one) && is_begin(other) || is_end(one) && is_end(other))
    {
        wave.sort_by_key(task);
    }
    story
}

/// A member of one of the session's files.
fn file(fixture: &ClientFixture, name: &str, member: &str) -> Value {
    file_of(fixture, SESSION, name, member)
}

/// The same, of another session.
fn file_of(fixture: &ClientFixture, session: &str, name: &str, member: &str) -> Value {
    let path = fixture
        .lab
        .home()
        .join(".claude/ultrawork/sessions")
        .join(session)
        .join(name);
    let text = fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    let file: Value = serde_json::from_slice(&text).expect("the file is JSON");
    file.pointer(member).cloned().unwrap_or(Value::Null)
}

/// The agents that the client started, in order, each with its task and its model.
fn agents(fixture: &ClientFixture) -> Vec<(&'static str, &'static str)> {
    let requests = fixture.model.requests_of(RequestKind::Agent);
    requests
        .iter()
        .filter(|request| request.answers() == 0)
        .map(|it| (scripted_agents::task(it), model(it)))
        .collect()
}

/// The blocks that the session's model was given by its commands.
fn blocks(fixture: &ClientFixture) -> Vec<String> {
    let requests = fixture.model.requests_of(RequestKind::Main);
    requests
        .iter()
        .filter_map(|request| last_block(&request.tool_results_text()).map(str::to_owned))
        .collect()
}

/// The tasks for which agents had to be started, those of one message together.
fn dispatched(fixture: &ClientFixture) -> Vec<String> {
    let tasks = |block: &String| {
        block
            .split("TASK_ID: ")
            .skip(1)
            .filter_map(|rest| rest.split(' ').next())
            .collect::<Vec<_>>()
            .join(" ")
    };
    blocks(fixture)
        .iter()
        .filter(|block| block.starts_with("SPAWN agents"))
        .map(tasks)
        .collect()
}

/// All that the person had to be shown.
fn shown(fixture: &ClientFixture) -> String {
    blocks(fixture).join("\n")
}

/// The family of the model that was asked.
fn model(request: &RecordedRequest) -> &'static str {
    let name = request.body["model"].as_str().unwrap_or_default();
    ["opus", "sonnet", "haiku"]
        .into_iter()
        .find(|family| name.contains(family))
        .unwrap_or("another")
}
