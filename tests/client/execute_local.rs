//! Plans in steps in the real client: what its user types, what the model then does, and that no user is billed without
//! being asked.

use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use omo_tests::ultraplan_project::{REVERT, plan_text, word_check};
use serde_json::{Value, json};

use crate::block_text::{bash, between, field, last_block};
use crate::client_lab::{ClientFixture, client_lab};
use crate::plans::{code, omo, type_prompt};

const PLAN: &str = "docs/plan.md";

/// A fixture with a plan on it that is committed.
fn planned(plan: &str) -> ClientFixture {
    let fixture = client_lab(ModelScript::new().whenever("", ModelTurn::computed(carrier)));
    fixture.lab.write(PLAN, plan).expect("write the plan");
    for line in [
        "config user.name Lab",
        "config user.email lab@example.org",
        "add .",
        "commit -q -m plan",
    ] {
        fixture
            .lab
            .git(&line.split(' ').collect::<Vec<_>>())
            .expect("run git");
    }
    fixture
}

/// A model that does exactly what omo says, and ends its turn where a command of omo fails or prints no block.
fn carrier(request: &RecordedRequest) -> ModelTurn {
    let (said, printed) = (request.all_text(), request.tool_results_text());
    if request.last_tool_called() == Some("Write") {
        let line = said
            .lines()
            .filter_map(|line| line.trim().strip_prefix("run: omo agent done "))
            .next_back();
        let line = line
            .and_then(|line| line.split(" --note ").next())
            .expect("a line that ends the step");
        return bash(&format!("omo agent done {line}"));
    }
    let task = [&printed, &said]
        .into_iter()
        .find_map(|text| last_block(text).filter(|block| block.starts_with("TASK")));
    if let Some(task) =
        task.filter(|_| last_block(&printed).is_none_or(|block| block.starts_with("TASK")))
    {
        let file = between(task, "touch only these files: `", "`").expect("a file");
        let root = between(&said, "Primary working directory: ", "\n").expect("a folder");
        return ModelTurn::call(
            "Write",
            json!({ "file_path": format!("{root}/{file}"), "content": "done\n" }),
        );
    }
    if request.last_tool_called() == Some("Bash")
        && (last_block(&printed).is_none() || printed.contains("Exit code "))
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
fn a_plan_is_carried_out_in_the_session_from_the_typed_line_to_its_end() {
    let fixture = planned(&plan_text(&[
        (1, REVERT, &word_check(1)),
        (2, REVERT, &word_check(2)),
    ]));
    let shown = type_prompt(&fixture, "/omo:execute-local --fg docs/plan.md", &[]);
    let shown = shown.result().expect("the client says why nothing ran");
    assert!(
        shown.contains("omo runs these 2 commands of docs/plan.md as checks"),
        "{shown}"
    );
    assert_eq!(fixture.requests(), 0, "no model was asked");
    let run = type_prompt(
        &fixture,
        &format!(
            "/omo:execute-local --fg docs/plan.md --approve {}",
            code(shown)
        ),
        &[],
    );
    let reported = run.result().expect("a result");
    assert!(
        reported.contains("docs/plan.md: 2 of 2 steps done."),
        "{reported}"
    );
    let (shown, _) = omo(&fixture, &["run", "show"]);
    assert!(
        shown.starts_with("Complete\n") && shown.contains(" 2 of 2 steps done\n"),
        "{shown}"
    );
    // The client names this folder to hooks alone.
    let stats = fixture
        .lab
        .home()
        .join(".claude/plugins/data/omo-inline/ultraexecute-stats.jsonl");
    let stats = std::fs::read_to_string(&stats).expect("a line of statistics");
    let stats: Value = serde_json::from_str(&stats).expect("one line of JSON");
    assert_eq!(
        (&stats["plan"], &stats["result"], &stats["steps_passed"]),
        (&"plan.md".into(), &"completed".into(), &2.into())
    );
}
