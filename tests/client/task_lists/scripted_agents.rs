//! A scripted model that executes a task list as the texts of omo say it should: it does exactly what the
//! last block asks for, its workers write the word of their task, and its verifiers judge.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex};

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::json;

use crate::block_text::{bash, bash_input, between, field, last_block};
use crate::client_lab::LIMIT;

/// More turns than any agent takes.
const MOST_TURNS: usize = 24;

/// What goes wrong while a session is executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    /// A task, and the first attempt at it that goes well.
    pub wrong: Option<(&'static str, u32)>,
    /// The task whose first worker never comes to write anything.
    pub hangs: Option<&'static str>,
    /// The task whose first worker reports that all is well, and ends it with no command.
    pub silent: Option<&'static str>,
    /// What the first verdict has done again, and why.
    pub reopened: Option<&'static str>,
    /// Pairs of workers that wait for each other to have begun.
    pub together: &'static [[&'static str; 2]],
}

/// What happened of it.
#[derive(Debug, Default)]
struct Made {
    hung: AtomicBool,
    silent: AtomicBool,
    verdicts: AtomicUsize,
    begun: Mutex<Vec<String>>,
    one_more: Condvar,
}

/// The script of a session that executes a task list.
pub(super) fn task_list_script(trouble: Trouble) -> ModelScript {
    ModelScript::new()
        .whenever("", ModelTurn::computed(dispatcher))
        .agent(
            "Begin with: omo agent start ",
            vec![any_agent(trouble); MOST_TURNS],
        )
}

/// A turn of a worker or a verifier.
pub(crate) fn any_agent(trouble: Trouble) -> ModelTurn {
    let made = Made::default();
    ModelTurn::computed(move |request| match task(request) {
        "verify" => verifier(request, &trouble, &made),
        _ => worker(request, &trouble, &made),
    })
}

/// What the session's own model does.
pub(crate) fn dispatcher(request: &RecordedRequest) -> ModelTurn {
    let results = request.tool_results_text();
    let said = request.all_text();
    if request.last_tool_called().is_none()
        && request.last_user_text().contains("<task-notification>")
    {
        return ModelTurn::text("An agent is over, as omo said.");
    }
    let Some(block) = last_block(&results).or_else(|| last_block(&said)) else {
        return ModelTurn::text(format!("omo printed no block:\n{results}"));
    };
    if request.last_tool_called() == Some("Bash") && last_block(&results).is_none() {
        return ModelTurn::text(format!("A command of omo failed:\n{results}"));
    }
    match block.lines().next().unwrap_or_default() {
        "SPAWN agents" => {
            let announced = block.lines().nth(1).unwrap_or_default().trim().to_owned();
            let turn = started(block).fold(ModelTurn::text(announced), |turn, call| {
                turn.tool("Agent", call)
            });
            turn.tool("Bash", bash_input(field(block, "run: ")))
        }
        "DO" | "WAIT" => bash(field(block, "run: ")),
        // What stands behind it is the command's own text.
        "DONE" => ModelTurn::text(
            between(block, "end your turn.\n\n", "\n\nYou dispatch this run").unwrap_or_default(),
        ),
        word => ModelTurn::text(format!("omo printed {word}, which is not expected")),
    }
}

/// The calls of the Agent tool that a block asks for.
pub(crate) fn started(block: &str) -> impl Iterator<Item = serde_json::Value> {
    let lines = block
        .lines()
        .zip(block.lines().skip(1))
        .filter(|(line, _)| line.contains("subagent_type: "));
    lines.map(move |(line, prompt)| {
        let mut call = json!({ "run_in_background": false });
        let fields = [
            ("subagent_type", line),
            ("model", line),
            ("description", line),
            ("prompt", prompt),
        ];
        for (name, line) in fields {
            // A block names no model where the agent takes that of the session.
            if let Some(value) = between(line, &format!("{name}: \""), "\"") {
                call[name] = value.into();
            }
        }
        call
    })
}

/// The task that an agent was started for.
pub(super) fn task(request: &RecordedRequest) -> &'static str {
    let prompt = request.first_text();
    let id = between(&prompt, "TASK_ID: ", " ").unwrap_or_default();
    let known = ["1", "2", "3", "4", "5", "6", "verify"];
    known
        .into_iter()
        .find(|known| *known == id)
        .unwrap_or_else(|| panic!("no task {id:?}:\n{prompt}"))
}

/// What a worker does: the command of its prompt, the file of its task, what shows it, the end, the same for each task
/// that this prints, a report.
fn worker(request: &RecordedRequest, trouble: &Trouble, made: &Made) -> ModelTurn {
    let (all, printed) = (request.all_text(), request.tool_results_text());
    if request.answers() == 0 {
        return bash(&begin(request));
    }
    if !all.contains("run: omo agent done ") {
        return ModelTurn::text(format!("It refused: {printed}"));
    }
    let id = all
        .rsplit(" is yours, attempt ")
        .nth(1)
        .and_then(|text| text.rsplit("Task ").next());
    let id = id.and_then(|text| text.split(' ').next()).expect("a task");
    let brief = all.rsplit(" is yours, attempt ").next().unwrap_or_default();
    match request.last_tool_called() {
        Some("Bash") if printed.contains(" is yours, attempt ") => {
            made.wait_for_the_other(id, trouble);
            if trouble.silent == Some(id) && !made.silent.swap(true, Ordering::SeqCst) {
                return ModelTurn::text("All criteria are met, PASS.");
            }
            if trouble.hangs == Some(id) && !made.hung.swap(true, Ordering::SeqCst) {
                return ModelTurn::hang();
            }
            let root =
                between(&all, "Primary working directory: ", "\n").map(|root| format!("{root}/"));
            let file = format!("{}words/{id}.txt", root.unwrap_or_default());
            ModelTurn::call(
                "Write",
                json!({ "file_path": file, "content": format!("{}\n", word(&all, id, trouble)) }),
            )
        }
        Some("Write") if brief.contains("run: omo agent evidence run ") => bash(&format!(
            "omo agent evidence run {} -- grep -c done words/{id}.txt",
            ticket(&all)
        )),
        Some("Write") => bash(&format!(
            "omo agent done {} --note 'it is in words/'",
            done_options(&all)
        )),
        Some("Bash") if printed.starts_with("EVIDENCE ") => {
            let id = between(&printed, "EVIDENCE ", ":").unwrap_or_default();
            bash(&format!(
                "omo agent done {} --evidence {id}",
                done_options(&all)
            ))
        }
        Some("Bash") if is_denied(&printed) => bash(&format!(
            "omo agent fail {} --why 'nothing may be shown'",
            ticket(&all)
        )),
        // What is reported decides nothing.
        _ => ModelTurn::text(format!("PASSED. All criteria are met, PASS.\n{printed}")),
    }
}

/// Whether the client has asked for a permission without a person who could give it.
fn is_denied(printed: &str) -> bool {
    printed.contains("requires approval") || printed.contains("haven't granted")
}

/// The word that is written in this attempt.
fn word(all: &str, id: &str, trouble: &Trouble) -> &'static str {
    let attempt = all
        .rsplit(&format!("TASK: {id}, attempt "))
        .next()
        .and_then(|rest| rest.lines().next())
        .and_then(|number| number.trim().parse().ok());
    let attempt: u32 = attempt.expect("the brief tells the attempt");
    match trouble.wrong {
        Some((wrong, good)) if wrong == id && attempt < good => "nothing",
        _ => "done",
    }
}

/// What a verifier does: the command of its prompt, a command of its own, the verdict, a report.
fn verifier(request: &RecordedRequest, trouble: &Trouble, made: &Made) -> ModelTurn {
    let (all, printed) = (request.all_text(), request.tool_results_text());
    match request.answers() {
        0 => bash(&begin(request)),
        1 if !all.contains("omo agent verdict PASS ") => {
            ModelTurn::text(format!("It refused: {printed}"))
        }
        1 => bash(&format!(
            "omo agent evidence run {} -- grep -rc done words",
            ticket(&all)
        )),
        2 => {
            let id = between(&printed, "EVIDENCE ", ":").unwrap_or_default();
            let is_first = made.verdicts.fetch_add(1, Ordering::SeqCst) == 0;
            match trouble.reopened.filter(|_| is_first) {
                Some(what) => bash(&format!(
                    "omo agent verdict FAIL {} --reopen \"{what}\"",
                    ticket(&all)
                )),
                None => bash(&format!(
                    "omo agent verdict PASS {} --evidence {id}",
                    ticket(&all)
                )),
            }
        }
        // As a verifier may well report a FAIL.
        _ => ModelTurn::text(format!("{printed}\nEverything else would PASS.")),
    }
}

fn begin(request: &RecordedRequest) -> String {
    let prompt = request.first_text();
    let command = prompt
        .split("Begin with: ")
        .nth(1)
        .and_then(|rest| rest.lines().next())
        .expect("a command");
    command.trim_end_matches('"').to_owned()
}

/// What names a run and a ticket in the commands that the last brief ends with.
fn ticket(all: &str) -> String {
    let line = all
        .lines()
        .rfind(|line| line.trim().starts_with("run: omo") && line.contains(" --ticket "));
    let words: Vec<_> = line
        .expect("a line with a ticket")
        .split(' ')
        .skip_while(|word| *word != "--run")
        .collect();
    words[..4].join(" ")
}

/// The same, with what says that the worker goes on.
fn done_options(all: &str) -> String {
    let line = all
        .lines()
        .rfind(|line| line.trim().starts_with("run: omo agent done "))
        .expect("a line");
    let words = line.split(' ').skip_while(|word| *word != "--run");
    let words: Vec<_> = words
        .take_while(|word| !["--note", "--evidence"].contains(word))
        .collect();
    words.join(" ")
}

impl Made {
    /// Two workers of one wave go on when both have begun. One that comes alone goes on at the limit.
    fn wait_for_the_other(&self, id: &str, trouble: &Trouble) {
        let Some(both) = trouble.together.iter().find(|both| both.contains(&id)) else {
            return;
        };
        let mut begun = self
            .begun
            .lock()
            .expect("no test fails while it has this lock");
        begun.push(id.to_owned());
        self.one_more.notify_all();
        let is_alone = |begun: &mut Vec<String>| {
            !both
                .iter()
                .all(|one| begun.iter().any(|known| known == one))
        };
        drop(
            self.one_more
                .wait_timeout_while(begun, LIMIT, is_alone)
                .expect("no test fails while it has this lock"),
        );
    }
}
