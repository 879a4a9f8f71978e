//! A scripted model for all agents of a plan in any mode: it does what the last block asks for, and writes the file of
//! the task that it was given.

use std::collections::HashMap;
use std::fs;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::{Value, json};

use super::table::Format;
use crate::block_text::{bash, bash_input, between, field, last_block};
use crate::task_lists::scripted_agents::started;

/// More turns than any agent takes.
const MOST_TURNS: usize = 40;
/// What a brief begins with, behind the task and its plan.
const BRIEF: &str = " is yours";

/// What does not go as the plan says.
#[derive(Clone, Copy, Default)]
pub(super) struct Work {
    /// The task whose first attempt goes wrong.
    pub wrong: Option<&'static str>,
    /// The text that the user edits meanwhile, and what it becomes.
    pub edit: Option<(&'static str, &'static str)>,
}

/// All agents of a run.
pub(super) struct PlanWorkers {
    words: &'static [(&'static str, &'static str)],
    work: Work,
    plan: Mutex<PathBuf>,
    /// How often each task was written.
    attempts: Mutex<HashMap<String, usize>>,
}

impl PlanWorkers {
    pub(super) fn new(format: &Format, work: Work) -> Self {
        Self {
            words: format.words,
            work,
            plan: Mutex::default(),
            attempts: Mutex::default(),
        }
    }

    /// Says where the plan lies.
    pub(super) fn set_plan(&self, path: PathBuf) {
        *self
            .plan
            .lock()
            .expect("no test fails while it has this lock") = path;
    }

    pub(super) fn script(workers: &Arc<Self>) -> ModelScript {
        let (own, agent) = (Arc::clone(workers), Arc::clone(workers));
        let main = ModelTurn::computed(move |request| {
            let is_worker = between(&request.all_text(), " --group ", "`").is_some();
            if is_worker {
                own.worker(request)
            } else {
                dispatcher(request)
            }
        });
        let turn = ModelTurn::computed(move |request| agent.worker(request));
        ModelScript::new()
            .whenever("", main)
            .agent("omo agent start ", vec![turn; MOST_TURNS])
    }

    /// The command of the prompt, the file of the task, the line below the brief, the same for each task that this
    /// prints, a report.
    fn worker(&self, request: &RecordedRequest) -> ModelTurn {
        let (all, printed) = (request.all_text(), request.tool_results_text());
        match request.last_tool_called() {
            None if all.contains(BRIEF) => self.write(&all, &all),
            None => match between(&request.first_text(), "omo agent start ", "\n") {
                Some(start) => bash(&format!("omo agent start {}", start.trim_end_matches('"'))),
                None => bash(&next(&all)),
            },
            Some("Write") => end(&all),
            Some("Bash") if printed.starts_with("EVIDENCE ") => {
                let id = between(&printed, "EVIDENCE ", ":").unwrap_or_default();
                let line = all
                    .lines()
                    .rfind(|line| line.contains("run: omo agent verdict PASS "));
                match line {
                    Some(line) => bash(&format!(
                        "omo agent verdict PASS {} --evidence {id}",
                        ticket(line)
                    )),
                    None => bash(&format!(
                        "omo agent done {} --evidence {id}",
                        ticket(done_line(&all))
                    )),
                }
            }
            Some("Bash")
                if printed.contains(BRIEF) || printed.contains("omo agent verdict PASS ") =>
            {
                self.write(&all, &printed)
            }
            Some("Bash") if request.tool_names().contains(&"StructuredOutput") => {
                let id = between(&request.first_text(), "Execute task ", " ")
                    .expect("a task")
                    .to_owned();
                let status = if printed.contains("PASSED") {
                    "done"
                } else {
                    "failed"
                };
                let input = json!({ "task_id": id, "status": status, "files_written": [], "evidence": "it ran" });
                ModelTurn::call("StructuredOutput", input)
            }
            Some("Bash") => match last_block(&printed) {
                Some(block) if block.starts_with("DO") || block.starts_with("WAIT") => {
                    bash(field(block, "run: "))
                }
                _ => ModelTurn::text(format!("Reported: {printed}")),
            },
            _ => ModelTurn::text(format!("Reported: {printed}")),
        }
    }

    /// The file of the task whose brief is the last one in `text`; a task without a file is ended at once.
    fn write(&self, all: &str, text: &str) -> ModelTurn {
        if let Some(line) = text
            .lines()
            .rfind(|line| line.contains("omo agent verdict PASS "))
        {
            return bash(&format!(
                "omo agent evidence run {} -- sh check.sh",
                ticket(line)
            ));
        }
        let line = text
            .lines()
            .rfind(|line| line.contains(BRIEF))
            .unwrap_or_default();
        let id = line
            .split(' ')
            .skip_while(|word| !["Task", "Step"].iter().any(|kind| word.ends_with(kind)))
            .nth(1);
        let id = id.unwrap_or_else(|| panic!("no task in {line}"));
        let attempt = {
            let mut attempts = self
                .attempts
                .lock()
                .expect("no test fails while it has this lock");
            let attempt = attempts.entry(id.to_owned()).or_default();
            *attempt += 1;
            *attempt
        };
        let is_wrong = self.work.wrong == Some(id) && attempt == 1;
        if let Some((before, after)) = self.work.edit.filter(|_| is_wrong) {
            let path = self
                .plan
                .lock()
                .expect("no test fails while it has this lock");
            let text = fs::read_to_string(&*path).expect("the plan is there");
            fs::write(&*path, text.replace(before, after)).expect("edit the plan");
        }
        let Some((_, file)) = self.words.iter().find(|(task, _)| *task == id) else {
            return end(all);
        };
        let root = between(all, "Primary working directory: ", "\n").expect("a folder");
        let word = if is_wrong { "nothing" } else { "done" };
        ModelTurn::call(
            "Write",
            json!({ "file_path": format!("{root}/{file}"), "content": format!("{word}\n") }),
        )
    }
}

/// The line that ends the task that was given last.
fn done_line(all: &str) -> &str {
    all.lines()
        .rfind(|line| line.trim().starts_with("run: omo agent done "))
        .expect("a line that ends the task")
}

/// What a line says between its command and what is said for the record.
fn ticket(line: &str) -> String {
    let words = line.split(' ').skip_while(|word| *word != "--run");
    words
        .take_while(|word| !["--note", "--evidence"].contains(word))
        .collect::<Vec<_>>()
        .join(" ")
}

fn end(all: &str) -> ModelTurn {
    let brief = all.rsplit(BRIEF).next().unwrap_or_default();
    let ticket = ticket(done_line(all));
    if brief.contains("run: omo agent evidence run ") {
        return bash(&format!("omo agent evidence run {ticket} -- sh check.sh"));
    }
    bash(&format!(
        "omo agent done {ticket} --note 'the words are in words/'"
    ))
}

/// The command that tells the worker of a session what comes next.
fn next(all: &str) -> String {
    format!(
        "omo agent next --run {}",
        between(all, "`omo agent next --run ", "`").expect("a command")
    )
}

/// What the session's own model does.
fn dispatcher(request: &RecordedRequest) -> ModelTurn {
    let (all, results) = (request.all_text(), request.tool_results_text());
    if request.last_tool_called().is_none()
        && request.last_user_text().contains("<task-notification>")
    {
        return ModelTurn::text("An agent is over, as omo said.");
    }
    if request.last_tool_called() == Some("Bash") && last_block(&results).is_none() {
        return ModelTurn::text(format!("A command of omo failed:\n{results}"));
    }
    let Some(block) = last_block(&results).or_else(|| last_block(&all)) else {
        return ModelTurn::text(format!("omo printed no block:\n{results}"));
    };
    let quoted = |name: &str| field(block, name).trim().trim_matches('"').to_owned();
    match block.lines().next().unwrap_or_default() {
        "SPAWN workflow" => {
            let args: Value =
                serde_json::from_str(field(block, "args: ")).expect("the arguments are JSON");
            ModelTurn::call(
                "Workflow",
                json!({ "name": quoted("name: "), "args": args }),
            )
            .tool("Bash", bash_input(field(block, "run: ")))
        }
        "SPAWN agent" => {
            let input = json!({
                "subagent_type": "omo:worker", "model": "sonnet", "run_in_background": false,
                "description": quoted("description: "), "prompt": quoted("prompt: "),
            });
            ModelTurn::call("Agent", input).tool("Bash", bash_input(field(block, "run: ")))
        }
        "SPAWN agents" => {
            let calls = started(block).fold(ModelTurn::text("They begin."), |turn, call| {
                turn.tool("Agent", call)
            });
            calls.tool("Bash", bash_input(field(block, "run: ")))
        }
        "DO" | "WAIT" => bash(field(block, "run: ")),
        _ => {
            let shown = block.split_once("\n\n").map_or(block, |(_, second)| second);
            ModelTurn::text(shown.split("\n\nYou dispatch this").next().unwrap_or(shown))
        }
    }
}
