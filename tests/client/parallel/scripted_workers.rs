//! A scripted model for all sessions of a plan at once, the one that it was typed in and those that omo starts: it does
//! what the last block asks for, and works on a step as a test says.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, Mutex, MutexGuard};

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use serde_json::json;

use crate::block_text::{bash, between, field, last_block};

/// How the steps of a plan are worked on: for each its turns, between its brief and the line that ends it.
#[derive(Clone, Default)]
pub(super) struct Works(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    steps: BTreeMap<u32, Vec<ModelTurn>>,
    /// Those that come once: the ticket that has them, once one has, and the turns.
    firsts: BTreeMap<u32, (Option<String>, Vec<ModelTurn>)>,
    /// How many turns there were for each ticket.
    taken: HashMap<String, usize>,
}

impl Works {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().expect("no test fails while it has this lock")
    }

    /// A step is worked on so from now on.
    pub(super) fn set(&self, step: u32, turns: impl IntoIterator<Item = ModelTurn>) {
        self.lock().steps.insert(step, turns.into_iter().collect());
    }

    /// The worker that begins with a step first works on it with the turns `first`, and all others with `others`.
    pub(super) fn set_once(
        &self,
        step: u32,
        first: impl IntoIterator<Item = ModelTurn>,
        others: impl IntoIterator<Item = ModelTurn>,
    ) {
        self.set(step, others);
        self.lock()
            .firsts
            .insert(step, (None, first.into_iter().collect()));
    }

    /// A step is worked on as its plan says.
    pub(super) fn well(&self, step: u32, file: &str) {
        self.set(step, [write(file, &step.to_string())]);
    }

    /// The script of all of them.
    pub(super) fn script(&self) -> ModelScript {
        let works = self.clone();
        ModelScript::new().whenever(
            "",
            ModelTurn::computed(move |request| works.answer(request)),
        )
    }

    fn answer(&self, request: &RecordedRequest) -> ModelTurn {
        let (all, printed) = (request.all_text(), request.tool_results_text());
        if request.last_tool_called().is_none() && !is_given_a_task(request) {
            return begin(request, &all);
        }
        match last_block(&printed).filter(|block| !block.starts_with("TASK")) {
            Some(block) => follow(block),
            None if printed.contains("FINISHED\n") => ModelTurn::text("That is done."),
            None => self.goes_on(&all).unwrap_or_else(|| bash(&next(&all))),
        }
    }

    /// The next turn of the step whose brief was printed last; `None` once it was ended.
    fn goes_on(&self, all: &str) -> Option<ModelTurn> {
        let line = all
            .lines()
            .rfind(|line| line.trim_start().starts_with("run: omo agent done "))?;
        let words: Vec<&str> = line.split_whitespace().collect();
        let ticket = words
            .iter()
            .skip_while(|word| **word != "--ticket")
            .nth(1)?;
        let step = all
            .rsplit(" is yours. What it asks for:")
            .nth(1)?
            .rsplit("Step ")
            .next()?;
        let step: u32 = step.split(' ').next()?.parse().ok()?;
        let mut state = self.lock();
        let taken = state.taken.entry((*ticket).to_owned()).or_default();
        let at = *taken;
        *taken += 1;
        let first = state
            .firsts
            .get_mut(&step)
            .filter(|(whose, _)| whose.as_deref().is_none_or(|one| one == *ticket));
        let first =
            first.map(|(whose, turns)| (whose.replace((*ticket).to_owned()), turns.clone()).1);
        let turns = first
            .or_else(|| state.steps.get(&step).cloned())
            .unwrap_or_default();
        let done = || {
            bash(
                &words[1..words
                    .iter()
                    .position(|word| *word == "--note")
                    .unwrap_or(words.len())]
                    .join(" "),
            )
        };
        turns
            .get(at)
            .cloned()
            .or_else(|| (at == turns.len()).then(done))
    }
}

/// A file is written, below the folder that the session stands in or where its path says.
pub(super) fn write(file: &str, text: &str) -> ModelTurn {
    ModelTurn::call(
        "Write",
        json!({ "file_path": file, "content": format!("{text}\n") }),
    )
}

/// The session of the plan that a request is about; `None` for the one that the plan was typed in.
pub(super) fn group(request: &RecordedRequest) -> Option<String> {
    between(&request.all_text(), " --group ", "`").map(str::to_owned)
}

/// Whether a client that begins was given its first step with its prompt, or the command that was typed begins one.
fn is_given_a_task(request: &RecordedRequest) -> bool {
    request.all_text().contains(" is yours. What it asks for:")
}

/// The command that tells a session what comes next.
fn next(all: &str) -> String {
    let own = between(all, "`omo agent next --run ", "`").filter(|rest| rest.contains(" --group "));
    own.map_or_else(
        || "omo agent next --wait 540".to_owned(),
        |rest| format!("omo agent next --run {rest}"),
    )
}

/// The first turn behind a prompt.
fn begin(request: &RecordedRequest, all: &str) -> ModelTurn {
    if group(request).is_some() {
        return bash(&next(all));
    }
    let Some(block) = last_block(all) else {
        return ModelTurn::text("omo printed no block.");
    };
    let asked = request.last_user_text();
    let word = ["continue", "foreground"]
        .into_iter()
        .find(|word| asked.trim().ends_with(word));
    match (between(block, "`omo answer ", "`"), word) {
        (Some(line), Some(word)) => bash(&format!(
            "omo answer {} {word}",
            line.split(' ').next().unwrap_or("")
        )),
        _ => follow(block),
    }
}

/// What a block asks for.
fn follow(block: &str) -> ModelTurn {
    match block.lines().next().unwrap_or_default() {
        "DO" | "WAIT" => bash(field(block, "run: ")),
        _ => ModelTurn::text(block.split_once("\n\n").map_or(block, |(_, second)| second)),
    }
}
