//! Plans that were made to be slow, large or wrong: each is answered.

use omo_plan::model::Plan;
use proptest::prelude::*;

use crate::ultraplan::{codes, read, step};

/// Lines that plans are made of, and others that are nearly those.
fn line() -> impl Strategy<Value = String> {
    let known = [
        "## Implementation Plan",
        "## Execution Strategy",
        "## Verification",
        "## Dependencies",
        "## Scope Fence",
        "## Exit Condition",
        "### Execution Order",
        "- **Entry condition:** `a b`",
        "- **Files:** `a.rs`, `b.rs` (new)",
        "- **Verify:** `make` → expected: `ok`",
        "- **On failure:** retry — else",
        "- **Steps:** 1-3, 2",
        "- **Wave:** 1",
        "- **Depends on:** Session 1",
        "  - Touch: `src/**`",
        "  - Never touch: a.rs",
        "```",
        "~~~",
        "- **Checkpoint:** `git commit -m \"a\"`",
        "- **Test first:** `make t`",
        "- **Wave 1:** Session 1, S2",
        "<!--",
    ];
    prop_oneof![
        proptest::sample::select(known.to_vec()).prop_map(str::to_owned),
        (0_u64..5).prop_map(|number| format!("### Step {number}: T")),
        (0_u64..5).prop_map(|number| format!("### Session {number}: T")),
        "[-#*`~:→|(){}\\[\\]$\"'\\\\ \\t\r./0-9a-zé–]{0,30}",
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn every_text_is_answered_and_every_place_is_one_of_it(lines in proptest::collection::vec(line(), 0..40)) {
        let text = lines.join("\n");
        let plan = read(&text);
        for found in &plan.diagnostics {
            prop_assert!(text.get(found.span.clone()).is_some(), "{found:?}");
            let before = text[..found.span.start].replace("\r\n", "\n").matches(['\n', '\r']).count();
            prop_assert_eq!(found.line, before + 1, "{:?}", found);
        }
        for task in &plan.tasks {
            prop_assert!(omo_plan::id::is_id(&task.id));
            prop_assert!(text.contains(&task.body));
        }
        let written = serde_json::to_string(&plan).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Plan>(&written).unwrap(), &plan);
        if plan.can_run() {
            prop_assert!(is_in_order(&plan));
        }
    }
}

/// Every task is in exactly one group, and stands behind what it depends on.
fn is_in_order(plan: &Plan) -> bool {
    plan.tasks.iter().enumerate().all(|(place, task)| {
        let owners = plan
            .groups
            .iter()
            .filter(|group| group.tasks.contains(&task.id))
            .count();
        let before = plan.tasks.get(..place).unwrap_or_default();
        owners == 1
            && task
                .deps
                .iter()
                .all(|id| before.iter().any(|other| other.id == *id))
    })
}

/// Each ends within the test's own time only where its cost grows with its length.
#[test]
fn a_large_plan_costs_no_more_than_its_length() {
    let steps = |count: u64| {
        (1..=count)
            .map(|number| step(number, "`a.rs`"))
            .collect::<String>()
    };
    let plan = |rest: &str| format!("## Implementation Plan\n\n{}{rest}", step(1, "`a.rs`"));
    let session = |number: u64| {
        format!(
            "### Session {number}: S\n- **Steps:** 1-9000\n- **Wave:** 1\n- **Depends on:** 1-9000\n"
        )
    };
    let sessions: String = (1..5_000).map(session).collect();
    let touched = (0..10_000)
        .map(|number| format!("`a{number}/**/x`"))
        .collect::<Vec<_>>()
        .join(", ");
    let fence = |number: u64| {
        format!(
            "### Session {number}: S\n- **Wave:** 1\n- Touch: {touched}\n- Never touch: {touched}\n"
        )
    };
    for (name, text) in [
        (
            "steps",
            format!("## Implementation Plan\n\n{}", steps(11_000)),
        ),
        ("headings", plan(&"#### Step x1\n".repeat(30_000))),
        ("look-alikes", plan(&"### Step 1 - a\n".repeat(30_000))),
        ("labels", plan(&"- **Files:** `a`\n".repeat(30_000))),
        (
            "code",
            plan(&format!("- **Changes:** {}\n", "`a` ``b ".repeat(20_000))),
        ),
        (
            "files",
            step(1, &"`a.rs`, ".repeat(50_000)) + "## Implementation Plan\n",
        ),
        (
            "arrows",
            format!(
                "## Implementation Plan\n### Step 1: A\n- **Verify:** `a` {}\n",
                "→ ".repeat(100_000)
            ),
        ),
        (
            "sessions",
            format!(
                "## Implementation Plan\n\n{}## Execution Strategy\n\n{sessions}",
                steps(1_000)
            ),
        ),
        (
            "fences",
            plan(&format!(
                "## Execution Strategy\n\n{}{}",
                fence(1),
                fence(2)
            )),
        ),
        ("quotes", plan(&"> ".repeat(30_000))),
        (
            "verification",
            plan(&format!(
                "## Verification\n\n{}",
                "- `a` and words\n- words\n".repeat(20_000)
            )),
        ),
    ] {
        let plan = read(&text);
        assert!(
            plan.diagnostics.len() <= 1_001,
            "{name}: {}",
            plan.diagnostics.len()
        );
        assert!(!plan.tasks.is_empty(), "{name}: {:?}", codes(&plan).first());
    }
}

#[test]
fn a_plan_with_very_many_findings_keeps_its_first_error() {
    let steps = (1..2_000)
        .map(|number| format!("### Step {number}: A\n"))
        .collect::<Vec<_>>()
        .concat();
    let plan = read(&format!(
        "## Implementation Plan\n\n{steps}### Step 1: again\n"
    ));
    assert_eq!(plan.diagnostics.len(), 1_001);
    assert!(!plan.can_run());
}
