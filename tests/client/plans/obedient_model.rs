//! A scripted model that executes a plan as the texts of omo say it should: it does exactly what the last
//! block asks for, and its workers follow their briefs and write the files of their tasks.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::{Value, json};

use crate::block_text::{bash, bash_input, between, field, last_block};

/// More turns than any agent takes.
const MOST_TURNS: usize = 16;

/// What goes wrong while a plan is executed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Trouble {
    /// The task that is done wrong.
    pub wrong: Option<&'static str>,
    /// The task whose first worker never comes to write anything.
    pub hangs: Option<&'static str>,
    /// At the first stop the model answers for the person.
    pub oversteps: bool,
    /// The model ends its turn where it should dispatch the second segment.
    pub lazy: bool,
}

/// How often each trouble was made: each comes once.
#[derive(Debug, Default)]
struct Made {
    hung: AtomicBool,
    overstepped: AtomicBool,
    dispatched: AtomicUsize,
}

/// The script of a session that executes a plan.
pub(crate) fn obedient_script(trouble: Trouble) -> ModelScript {
    let made = Arc::new(Made::default());
    let worker = {
        let (trouble, made) = (trouble.clone(), Arc::clone(&made));
        ModelTurn::computed(move |request| worker_turn(request, &trouble, &made))
    };
    let main = ModelTurn::computed(move |request| dispatcher(request, &trouble, &made));
    ModelScript::new()
        .whenever("", main)
        .agent("omo agent start ", vec![worker; MOST_TURNS])
}

/// What the session's own model does.
fn dispatcher(request: &RecordedRequest, trouble: &Trouble, made: &Made) -> ModelTurn {
    let said = request.all_text();
    let asked = request.last_user_text();
    if let Some(next) = between(&asked, "next: `", "`") {
        return bash(next);
    }
    if asked.contains("<task-notification>") && request.last_tool_called().is_none() {
        return ModelTurn::text(last_block(&said).map_or("It is over.", for_the_person));
    }
    let results = request.tool_results_text();
    let Some(block) = last_block(&results).or_else(|| last_block(&said)) else {
        return ModelTurn::text("omo printed no block.");
    };
    let called = request.last_tool_called();
    match (called, block.lines().next().unwrap_or_default()) {
        (Some("Bash"), _) if last_block(&results).is_none() => ModelTurn::text(format!(
            "A command of omo failed:\n{results}\n\n{}",
            for_the_person(block)
        )),
        (None, "STOP") if asked.contains("continue") => bash(&format!(
            "omo answer{}",
            between(block, "`omo answer", "`").expect("a line")
        )),
        (_, "SPAWN workflow" | "SPAWN agent")
            if trouble.lazy && made.dispatched.fetch_add(1, Ordering::SeqCst) == 1 =>
        {
            ModelTurn::text("I will do that later.")
        }
        (_, "SPAWN workflow") => {
            let args: Value =
                serde_json::from_str(field(block, "args: ")).expect("the arguments are JSON");
            ModelTurn::call(
                "Workflow",
                json!({ "name": quoted(field(block, "name: ")), "args": args }),
            )
            .tool("Bash", bash_input(field(block, "run: ")))
        }
        (_, "SPAWN agent") => ModelTurn::call(
            "Agent",
            json!({
                "subagent_type": "omo:worker",
                "model": "sonnet",
                "run_in_background": false,
                "description": quoted(field(block, "description: ")),
                "prompt": quoted(field(block, "prompt: ")),
            }),
        )
        .tool("Bash", bash_input(field(block, "run: "))),
        (_, "STOP") if trouble.oversteps && !made.overstepped.swap(true, Ordering::SeqCst) => {
            bash("omo answer q1 continue")
        }
        (_, "DO" | "WAIT") => bash(field(block, "run: ")),
        _ => ModelTurn::text(for_the_person(block)),
    }
}

/// What a worker does: the command of its prompt, the file of its task, the line below the brief, the same for each task
/// that this prints, a report.
fn worker_turn(request: &RecordedRequest, trouble: &Trouble, made: &Made) -> ModelTurn {
    let prompt = request.first_text();
    let (all, printed) = (request.all_text(), request.tool_results_text());
    if request.answers() == 0 {
        let start = prompt
            .split("omo agent start ")
            .nth(1)
            .and_then(|rest| rest.lines().next())
            .expect("a command");
        return bash(&format!("omo agent start {}", start.trim_end_matches('"')));
    }
    if request.last_tool_called() == Some("Write") {
        let line = all
            .lines()
            .rfind(|line| line.trim().starts_with("run: omo agent done "))
            .expect("a line");
        let note = between(line, "--note \"", "\"").expect("a note").to_owned();
        return bash(
            line.trim()
                .trim_start_matches("run: ")
                .replace(&note, "the words are in words/")
                .as_str(),
        );
    }
    if let Some(brief) = printed.split(" is yours, attempt ").nth(1) {
        let id = between(&printed, "Task ", " of ")
            .expect("a task")
            .to_owned();
        if trouble.hangs == Some(&*id) && !made.hung.swap(true, Ordering::SeqCst) {
            return ModelTurn::hang();
        }
        let file = between(brief, "- Create: `", "`")
            .expect("a file to create")
            .to_owned();
        let word = between(brief, "the file holds the word ", ".")
            .expect("a word")
            .to_owned();
        let word = if trouble.wrong == Some(&*id) {
            "nothing".to_owned()
        } else {
            word
        };
        let root = between(&all, "Primary working directory: ", "\n").map(str::to_owned);
        let file = root.map_or_else(|| file.clone(), |root| format!("{root}/{file}"));
        return ModelTurn::call(
            "Write",
            json!({ "file_path": file, "content": format!("{word}\n") }),
        );
    }
    if request.tool_names().contains(&"StructuredOutput") {
        let id = between(&prompt, "Execute task ", " ").expect("a task");
        let status = if printed.contains("PASSED") {
            "done"
        } else {
            "failed"
        };
        let evidence = printed.lines().next().unwrap_or_default();
        let input =
            json!({ "task_id": id, "status": status, "files_written": [], "evidence": evidence });
        return ModelTurn::call("StructuredOutput", input);
    }
    ModelTurn::text(format!("Reported: {printed}"))
}

/// The part of a block that is meant for the person.
fn for_the_person(block: &str) -> &str {
    block.split_once("\n\n").map_or("", |(_, second)| second)
}

fn quoted(text: &str) -> &str {
    text.trim().trim_start_matches('"').trim_end_matches('"')
}
