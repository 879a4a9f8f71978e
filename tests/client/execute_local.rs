//! Plans in steps in the real client: what its user types, what the model then does, and that no user is billed without
//! being asked.

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn, Terminal};
use omo_tests::ultraplan_project::{REVERT, plan_text, two_parallel_sessions, word_check};
use serde_json::{Value, json};

use crate::block_text::{bash, between, field, last_block};
use crate::client_lab::{ClientFixture, client_lab};
use crate::plans::{ACCEPT_EDITS, code, omo, type_prompt};

const PLAN: &str = "docs/plan.md";

/// A fixture with a plan on it that is committed.
fn planned(plan: &str) -> ClientFixture {
    planned_with_good_attempt(plan, 1)
}

/// The same, by a model whose work is wrong before this attempt at each step.
fn planned_with_good_attempt(plan: &str, good: usize) -> ClientFixture {
    let model = ModelTurn::computed(move |request| carrier(request, good));
    let fixture = client_lab(ModelScript::new().whenever("", model));
    fixture.lab.write(PLAN, plan).expect("write the plan");
    for line in ["config user.name Lab", "config user.email lab@example.org", "add .", "commit -q -m plan"] {
        fixture.lab.git(&line.split(' ').collect::<Vec<_>>()).expect("run git");
    }
    fixture
}

/// A model that does exactly what omo says, and ends its turn where a command of omo fails or prints no block.
fn carrier(request: &RecordedRequest, good: usize) -> ModelTurn {
    let (said, printed) = (request.all_text(), request.tool_results_text());
    if request.last_tool_called() == Some("Write") {
        let line = said.lines().filter_map(|line| line.trim().strip_prefix("run: omo agent done ")).next_back();
        let line = line.and_then(|line| line.split(" --note ").next()).expect("a line that ends the step");
        return bash(&format!("omo agent done {line}"));
    }
    let task =
        [&printed, &said].into_iter().find_map(|text| last_block(text).filter(|block| block.starts_with("TASK")));
    if let Some(task) = task.filter(|_| last_block(&printed).is_none_or(|block| block.starts_with("TASK"))) {
        let file = between(task, "touch only these files: `", "`").expect("a file");
        let root = between(&said, "Primary working directory: ", "\n").expect("a folder");
        let attempts = said.matches(" is yours. What it asks for:").count();
        let word = if attempts < good { "other" } else { "done" };
        return ModelTurn::call(
            "Write",
            json!({ "file_path": format!("{root}/{file}"), "content": format!("{word}\n") }),
        );
    }
    if request.last_tool_called() == Some("Bash") && (last_block(&printed).is_none() || printed.contains("Exit code "))
    {
        return ModelTurn::text(format!("A command of omo failed:\n{printed}"));
    }
    let Some(block) = last_block(&printed).or_else(|| last_block(&said)) else {
        return ModelTurn::text("omo printed no block.");
    };
    match block.lines().next() {
        Some("DO" | "WAIT") => bash(field(block, "run: ")),
        _ => ModelTurn::text(block.split_once("\n\n").map_or("", |(_, second)| second)),
    }
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_is_carried_out_in_the_session_from_the_typed_line_to_its_end() {
    let fixture = planned(&plan_text(&[(1, REVERT, &word_check(1)), (2, REVERT, &word_check(2))]));
    let shown = type_prompt(&fixture, "/omo:execute-local --fg docs/plan.md", &[]);
    let shown = shown.result().expect("the client says why nothing ran");
    assert!(shown.contains("omo runs these 2 commands of docs/plan.md as checks"), "{shown}");
    assert_eq!(fixture.requests(), 0, "no model was asked");
    let run = type_prompt(&fixture, &format!("/omo:execute-local --fg docs/plan.md --approve {}", code(shown)), &[]);
    let reported = run.result().expect("a result");
    assert!(reported.contains("docs/plan.md: 2 of 2 steps done."), "{reported}");
    let (shown, _) = omo(&fixture, &["run", "show"]);
    assert!(shown.contains("Complete, 2 of 2 steps done"), "{shown}");
    // The client names this folder to hooks alone.
    let stats = fixture.lab.home().join(".claude/plugins/data/omo-inline/ultraexecute-stats.jsonl");
    let stats = std::fs::read_to_string(&stats).expect("a line of statistics");
    let stats: Value = serde_json::from_str(&stats).expect("one line of JSON");
    assert_eq!(
        (&stats["plan"], &stats["result"], &stats["steps_passed"]),
        (&"plan.md".into(), &"completed".into(), &2.into())
    );
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_red_check_is_an_answer_and_a_literal_model_gets_all_three_attempts() {
    let fixture = planned_with_good_attempt(&plan_text(&[(1, REVERT, &word_check(1))]), 3);
    let shown = type_prompt(&fixture, "/omo:execute-local --fg docs/plan.md", &[]);
    let code = code(shown.result().expect("the client says why nothing ran"));
    let run = type_prompt(&fixture, &format!("/omo:execute-local --fg docs/plan.md --approve {code}"), &[]);
    let reported = run.result().expect("a result");
    assert!(reported.contains("docs/plan.md: 1 of 1 steps done."), "{reported}");
    let (shown, _) = omo(&fixture, &["run", "show"]);
    assert!(shown.contains("Complete, 1 of 1 steps done"), "{shown}");
    // A brief, a file and its check for each attempt, and the end.
    assert_eq!(fixture.requests(), 7, "{reported}");
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn an_unattended_session_is_refused_where_a_person_would_be_asked() {
    let fixture = planned(&two_parallel_sessions());
    // The lab has a key, as its client needs one.
    let run = type_prompt(&fixture, "/omo:execute-local docs/plan.md", &[]);
    let result = run.result().expect("the client says why nothing ran");
    for part in ["ANTHROPIC_API_KEY is set: the workers are billed to it", "--accept-api-billing"] {
        assert!(result.contains(part), "no {part:?}: {result}");
    }
    let looked = type_prompt(&fixture, "/omo:execute-local --dry-run docs/plan.md", &[]);
    assert!(looked.result().is_some_and(|text| text.contains("Billing: ANTHROPIC_API_KEY is SET")), "{looked:?}");
    assert!(!fixture.lab.project().join(".git/omo").exists());
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_person_at_a_terminal_is_asked_who_pays() {
    let fixture = planned(&two_parallel_sessions());
    let terminal = Terminal::start(&fixture.lab, &fixture.client, &ACCEPT_EDITS).expect("start a terminal");
    terminal.ready().unwrap();
    terminal.say("/omo:execute-local docs/plan.md").unwrap();
    let screen = terminal.wait_for("To approve exactly these commands").unwrap();
    terminal.ready().unwrap();
    terminal.say(&format!("/omo:execute-local docs/plan.md --approve {}", code(&screen))).unwrap();
    let screen = terminal.wait_for("To answer, type one of these").unwrap();
    assert!(screen.contains("foreground: Use --fg instead"), "{screen}");
    let (shown, _) = omo(&fixture, &["run", "show"]);
    assert!(shown.contains("Waiting for you") && shown.contains("ANTHROPIC_API_KEY is set"), "{shown}");
}
