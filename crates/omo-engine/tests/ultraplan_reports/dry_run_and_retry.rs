//! The report of a dry run, and the brief of a second attempt.

use std::collections::BTreeSet;

use omo_engine::billing::BillingFacts;
use omo_engine::preflight::{PreflightFinding, PreflightRule, PreflightSeverity};
use omo_engine::report::ultraplan::dry_run::{DryRunFacts, dry_run_report};
use omo_engine::request::arguments::PlanSelection;
use omo_engine::work::task_brief;

use crate::ultraplan_reports::sample_runs::{begins, fails, open, plan, spec, step};

fn existing(paths: &[&str]) -> DryRunFacts {
    let existing: BTreeSet<String> = paths.iter().map(|path| (*path).to_owned()).collect();
    DryRunFacts {
        existing,
        ..DryRunFacts::default()
    }
}

fn sessions() -> String {
    let session = |number: u64, steps: &str, wave: u64, deps: &str, touch: &str| {
        format!(
            "### Session {number}: Part {number}\n\n- **Steps:** {steps}\n- **Wave:** {wave}\n\
             - **Depends on:** {deps}\n- **Scope fence:**\n  - Touch: {touch}\n\n"
        )
    };
    format!(
        "## Execution Strategy\n\n{}{}{}",
        session(1, "1", 1, "none", "src/1.rs"),
        session(2, "2", 1, "none", "src/2.rs"),
        session(3, "3", 2, "Session 1, Session 2", "src/3.rs")
    )
}

#[test]
fn a_plan_that_is_ready_is_shown_in_full() {
    let two = step(2, "Two", "skip").replace("`src/2.rs`", "`src/2.rs` (new)");
    let plan = plan(&[
        step(1, "One", "revert"),
        two,
        step(3, "Three", "escalate"),
        sessions(),
    ]);
    let expected = "\
## Dry Run Report: demo.md

**Type:** plan  \n**Steps:** 3

### Step Validation

| Step | Description | Verify       | On failure | Checkpoint | Issues |
| ---- | ----------- | ------------ | ---------- | ---------- | ------ |
| 1    | One         | `make check` | revert     | part 1     | none   |
| 2    | Two         | `make check` | skip       | part 2     | none   |
| 3    | Three       | `make check` | escalate   | part 3     | none   |

### File References

- `src/1.rs`: EXISTS
- `src/2.rs`: NOT FOUND (marked as new file)
- `src/3.rs`: EXISTS

### Execution Preview

Sessions: 3 across 2 waves

| Wave | Session           | Steps | Depends on | Command                                                |
| ---- | ----------------- | ----- | ---------- | ------------------------------------------------------ |
| 1    | Session 1: Part 1 | 1     | none       | `/omo:execute-local --session 1 .claude/plans/demo.md` |
| 1    | Session 2: Part 2 | 2     | none       | `/omo:execute-local --session 2 .claude/plans/demo.md` |
| 2    | Session 3: Part 3 | 3     | S1, S2     | `/omo:execute-local --session 3 .claude/plans/demo.md` |

Billing: ANTHROPIC_API_KEY is NOT SET — sessions will use subscription

### Verdict

READY
";
    assert_eq!(
        dry_run_report(
            &plan,
            PlanSelection::Whole,
            &existing(&["src/1.rs", "src/3.rs"])
        )
        .text,
        expected
    );
    let reported = dry_run_report(&plan, PlanSelection::Session(2), &existing(&[])).text;
    assert!(
        reported.contains("**Steps:** 1\n") && !reported.contains("Part 1"),
        "{reported}"
    );
}

#[test]
fn everything_that_needs_attention_is_counted() {
    let bare =
        "### Step 2: Two | 2\n\n- **Files:** `src/2.rs`\n- **Changes:** Do it.\n\n".to_owned();
    let plan = plan(&[
        step(1, "One", "revert"),
        bare,
        sessions().replace("Wave:** 2", "Wave:** 1"),
    ]);
    let finding = |weight, text: &str| PreflightFinding {
        rule: PreflightRule::Dirty,
        severity: weight,
        text: text.to_owned(),
        hint: "do that".to_owned(),
    };
    let facts = DryRunFacts {
        findings: vec![
            finding(PreflightSeverity::Stop, "stops it"),
            finding(PreflightSeverity::Note, "is only told"),
        ],
        billing: BillingFacts {
            has_api_key: true,
            ..BillingFacts::default()
        },
        ..existing(&["src/1.rs"])
    };
    let reported = dry_run_report(&plan, PlanSelection::Whole, &facts).text;
    for part in [
        "| 2    | Two \\| 2    | —            | escalate   | —          | step 2 has no check: nothing can prove it; ",
        "- `src/2.rs`: NOT FOUND (unexpected — may be missing)",
        "Billing: ANTHROPIC_API_KEY is SET — parallel sessions will bill API account",
        "### Pre-flight\n\n- stops it: do that\n- is only told: do that\n",
        "session 3 depends on session 1, which runs in the same wave or later\n",
    ] {
        assert!(reported.contains(part), "{part}: {reported}");
    }
    let counted = |facts: &DryRunFacts| {
        let reported = dry_run_report(&plan, PlanSelection::Whole, facts).text;
        let words = reported.split("NEEDS ATTENTION — ").nth(1).unwrap();
        words.split(' ').next().unwrap().parse::<usize>().unwrap()
    };
    let all = counted(&facts);
    assert_eq!(
        counted(&DryRunFacts {
            findings: Vec::new(),
            ..facts.clone()
        }),
        all - 1,
        "what is only told is no issue"
    );
    assert_eq!(
        counted(&DryRunFacts {
            existing: BTreeSet::new(),
            ..facts
        }),
        all + 1,
        "a file that is not there is one"
    );
}

#[test]
fn a_session_spec_says_what_it_would_check() {
    let reported = dry_run_report(
        &spec(&[step(1, "One", "revert")]),
        PlanSelection::Whole,
        &existing(&["src/1.rs"]),
    )
    .text;
    let part = "### Entry / Exit Conditions\n\n- Entry: `git diff --quiet` is clean\n";
    assert!(reported.contains(part), "{reported}");
    assert!(
        reported.contains("- Exit: would run `make all`\n"),
        "{reported}"
    );
    assert!(!reported.contains("Execution Preview"), "{reported}");
}

#[test]
fn a_second_attempt_gets_the_other_way_of_the_plan() {
    let mut state = open(plan(&[
        step(1, "One", "retry — use the sync client"),
        step(2, "Two", "revert — by hand"),
    ]));
    let way = "- The plan says how to try it now: use the sync client";
    let reported = |state: &omo_engine::state::RunState, id: &str| {
        task_brief(state, state.plan.task(id).unwrap())
    };
    assert!(!reported(&state, "1").contains(way));
    fails(&mut state, "1", false);
    assert!(reported(&state, "1").contains(way));
    begins(&mut state, "1");
    fails(&mut state, "2", false);
    assert!(!reported(&state, "2").contains("how to try it now"));
}
