//! How often a model is asked, and how much it has to read, until a plan is done: one plan for each way to run plans,
//! each by a model that does what omo's texts say and nothing else. The counts that are held are in
//! `benches/round-trips.json`, with those of the commit before omo's round trips were cut.

use std::fs;
use std::path::Path;

use omo_testkit::model::{RecordedRequest, RequestKind};
use omo_testkit::{MockModel, ModelScript, ModelTurn};
use omo_tests::parallel_plan::{plan_text, session, step};
use serde_json::{Value, json};

use crate::block_text::{bash, bash_input, between};
use crate::client_lab::client_lab;
use crate::parallel::{Payer, Site};
use crate::plans::obedient_model::{Trouble, obedient_script};
use crate::plans::{self, code, tasks, type_prompt};
use crate::task_lists::{self, scripted_agents};

/// The input of two plays of one plan differs by less than one part of so many: paths and ids are of other lengths.
const AGREEMENT: u64 = 50;

/// What a plan took.
#[derive(Clone, Copy, Debug)]
struct RoundTrips {
    /// Requests of all conversations: of the session, of its agents, and of the clients that omo started.
    requests: u64,
    /// The bytes of their bodies.
    input_bytes: u64,
}

impl RoundTrips {
    /// Those that are held for a plan, `before` or `now`.
    fn recorded(held: &Value, when: &str, name: &str) -> Self {
        let count = |field: &str| held[when][name][field].as_u64().unwrap();
        Self {
            requests: count("requests"),
            input_bytes: count("input_bytes"),
        }
    }
}

/// Compares what a plan took with what is held for it.
fn compare_with_record(name: &str, model: &MockModel) {
    let mut found = RoundTrips {
        requests: 0,
        input_bytes: 0,
    };
    for request in model.requests() {
        if !matches!(request.kind, RequestKind::Count | RequestKind::Other) {
            found.requests += 1;
            found.input_bytes += u64::try_from(request.body.to_string().len()).unwrap();
        }
    }
    assert_eq!(model.unscripted(), 0);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../benches/round-trips.json");
    let held: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let held = RoundTrips::recorded(&held, "now", name);
    let measured = json!({ "requests": found.requests, "input_bytes": found.input_bytes });
    assert!(
        found.requests <= held.requests
            && found.input_bytes <= held.input_bytes + held.input_bytes / AGREEMENT,
        "{name} takes more round trips than benches/round-trips.json holds: {measured} instead of {held:?}; where \
         they are worth it, write the new counts below `now`"
    );
}

#[test]
fn six_tasks_in_batches_take_no_more_round_trips_than_before() {
    let task = |number: usize| {
        format!(
            "### Task {number}: The word {number}\n\n**Files:**\n- Create: `words/{number}.txt`\n\n**Task Contract:** \
             the file holds the word word{number}.\n\n**Verify:**\nRun: `grep -q word{number} words/{number}.txt`\n\n"
        )
    };
    let tasks_text: String = (1..=6).map(task).collect();
    let plan = format!(
        "---\ncontract_version: 2\n---\n\n# Words\n\n{tasks_text}## Verification\n\n- **Verdict:** Approved\n"
    );
    let fixture = plans::planned(&plan, obedient_script(Trouble::default()));
    let first = plans::approved(&fixture, "", &[]);
    let _ = type_prompt(
        &fixture,
        "/omo:execute-plan",
        &["--resume", first.session_id().unwrap()],
    );
    assert_eq!(
        tasks(&fixture),
        (1..=6)
            .map(|number| format!("{number} passed 1"))
            .collect::<Vec<_>>()
    );
    compare_with_record("batches", &fixture.model);
}

/// A goal becomes four tasks, which are done in three waves and then verified.
#[test]
fn four_tasks_in_three_waves_take_no_more_round_trips_than_before() {
    let agent = scripted_agents::any_agent(scripted_agents::Trouble::default());
    let main = |request: &RecordedRequest| {
        if request.all_text().contains("You plan this goal") {
            planning_turn(request)
        } else {
            scripted_agents::dispatcher(request)
        }
    };
    let script = ModelScript::new()
        .whenever("", ModelTurn::computed(main))
        .agent(
            "Look at the code.",
            vec![ModelTurn::computed(explorer_turn); 2],
        )
        .agent("omo agent start ", vec![agent; 24]);
    let fixture = client_lab(script);
    let planned = type_prompt(&fixture, "/omo:ulw-plan words in files", &[]);
    let id = planned.session_id().unwrap();
    let typed = format!("/omo:ulw-exec --session {id}");
    let shown = type_prompt(&fixture, &typed, &[]);
    let approved = format!("{typed} --approve {}", code(shown.result().unwrap()));
    let run = type_prompt(&fixture, &approved, &task_lists::MAY_SHOW);
    assert!(
        run.result().unwrap().contains("**Result:** ✓ PASS"),
        "{run:?}"
    );
    compare_with_record("waves", &fixture.model);
}

/// What an agent does that explores.
fn explorer_turn(request: &RecordedRequest) -> ModelTurn {
    let prompt = request.first_text();
    let (id, name) = (
        between(&prompt, "in session ", ",").unwrap(),
        between(&prompt, "under the name ", ".").unwrap(),
    );
    match request.answers() {
        0 => bash(&format!(
            "omo agent context add --session {id} --explorer-id {name} --summary 'there is nothing yet'"
        )),
        _ => ModelTurn::text("Recorded."),
    }
}

/// What the session does that plans: the steps of the command, one after the other.
fn planning_turn(request: &RecordedRequest) -> ModelTurn {
    let all = request.all_text();
    let id = between(&all, "Session ", " begins")
        .expect("omo made a session")
        .to_owned();
    let task = |number: usize, needs: &str| {
        format!(
            "omo agent task create --session {id} --subject 'The word {number}' --description 'Write it into \
             words/{number}.txt.' --criteria '`grep -q done words/{number}.txt`'{needs}"
        )
    };
    let command = |line: String| bash_input(&format!("{line}      (Bash timeout 600000)"));
    match request.answers() {
        0 => {
            let first = ModelTurn::call(
                "Bash",
                command(format!(
                    "omo agent context init --session {id} --expected files,tests"
                )),
            );
            let explorers = ["files", "tests"].iter().fold(first, |turn, name| {
                let prompt =
                    format!("Look at the code. Record it in session {id}, under the name {name}.");
                let call = json!({
                    "subagent_type": "omo:verifier", "description": "explore", "prompt": prompt,
                    "run_in_background": false,
                });
                turn.tool("Agent", call)
            });
            explorers.tool(
                "Bash",
                command(format!(
                    "omo agent context get --session {id} --summary --wait 540"
                )),
            )
        }
        1 => {
            let design = format!(
                "omo agent tasks design --session {id} <<'DESIGN'\n# Words\n\nOne file for each.\nDESIGN"
            );
            let tasks = [
                task(1, ""),
                task(2, ""),
                task(3, " --blocked-by 1,2"),
                task(4, " --blocked-by 3"),
            ];
            let turn = ModelTurn::call("Bash", bash_input(&design));
            let turn = tasks
                .iter()
                .fold(turn, |turn, line| turn.tool("Bash", bash_input(line)));
            turn.tool(
                "Bash",
                bash_input(&format!("omo agent task list --session {id}")),
            )
        }
        2 => bash(&format!(
            "omo agent tasks update --session {id} --phase PLANNING_COMPLETE"
        )),
        _ => ModelTurn::text("Type /omo:ulw-exec to begin."),
    }
}

#[test]
fn four_parallel_workers_take_no_more_round_trips_than_before() {
    let sessions = [(1, "a.txt"), (2, "b.txt"), (3, "c.txt"), (4, "d.txt")]
        .map(|(number, file)| session(1, &[step(number, file)]));
    let site = Site::with(
        Payer::Subscription,
        &plan_text(&sessions, "test -f a.txt && test -f d.txt"),
    );
    let typed = format!("/omo:execute-local {}", omo_tests::parallel_plan::PLAN);
    let shown = site.fixture.print(&typed, &plans::ACCEPT_EDITS);
    let code = code(shown.result().expect("the client says why nothing ran"));
    let run = site
        .fixture
        .print(&format!("{typed} --approve {code}"), &plans::ACCEPT_EDITS);
    assert!(run.result().unwrap().contains("COMPLETED"), "{run:?}");
    site.is_whole();
    compare_with_record("parallel", &site.fixture.model);
}
