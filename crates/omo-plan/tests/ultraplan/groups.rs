//! Sessions and waves: order, and conflicts.

use omo_plan::diagnostic::Code;
use omo_plan::model::{GroupIsolation, OnTaskFail, Parallelism, Plan};
use omo_plan::plan_summary;
use omo_plan::strategy::RunStrategy;

use crate::ultraplan::{codes, read, step};

fn session(
    number: u64,
    steps: &str,
    wave: &str,
    depends_on: &str,
    touch: &str,
    never: &str,
) -> String {
    format!(
        "### Session {number}: Part {number}\n\n- **Steps:** {steps}\n{wave}- **Depends on:** {depends_on}\n\
         - **Scope fence:**\n  - Touch: {touch}\n  - Never touch: {never}\n\n"
    )
}

fn wave(number: u64) -> String {
    format!("- **Wave:** {number}\n")
}

fn plan(steps: &[String], sessions: &[String], order: &str) -> Plan {
    let (steps, sessions) = (steps.concat(), sessions.concat());
    read(&format!(
        "# A plan\n\n## Implementation Plan\n\n{steps}## Execution Strategy\n\n{sessions}{order}"
    ))
}

fn three_steps() -> [String; 3] {
    [step(1, "`a.rs`"), step(2, "`b.rs`"), step(3, "`c.rs`")]
}

#[test]
fn workers_of_one_wave_are_parallel_and_waves_one_after_the_other() {
    let sessions = [
        session(1, "3", &wave(2), "Session 2, S3", "`c.rs`", "none"),
        session(2, "1", &wave(1), "none", "`a.rs`", "`c.rs`"),
        session(3, "2", &wave(1), "—", "`b.rs`", "`c.rs`"),
    ];
    let plan = plan(&three_steps(), &sessions, "");
    assert_eq!(codes(&plan), []);
    let groups: Vec<_> = plan
        .groups
        .iter()
        .map(|group| (group.id.as_str(), group.wave, group.isolation))
        .collect();
    let expected = [
        ("session-1", 1, GroupIsolation::Shared),
        ("session-2", 0, GroupIsolation::Worktree),
        ("session-3", 0, GroupIsolation::Worktree),
    ];
    assert_eq!(groups, expected);
    assert_eq!(plan.groups[0].deps, ["session-2", "session-3"]);
    let order: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(order, ["1", "2", "3"], "by wave");
    assert!(
        plan.tasks.iter().all(|task| task.deps.is_empty()),
        "each is alone in its session"
    );
    assert_eq!(
        (plan.policy.on_task_fail, plan.policy.parallel),
        (OnTaskFail::Stop, Parallelism::Groups)
    );
    assert_eq!(
        RunStrategy::for_plan(&plan).summary_line(),
        "Strategy: 3 sessions (2 parallel, 1 sequential)"
    );
    assert_eq!(
        plan_summary::summary_lines(&plan),
        [
            "Type: plan",
            "Steps: 3",
            "Execution Strategy: 3 sessions across 2 waves"
        ]
    );
}

#[test]
fn what_lies_outside_of_the_repository_forbids_no_file_in_it() {
    for (never, expected) in [
        ("`../other`", vec![(Code::FenceNotRead, None)]),
        ("`../other`, `c.rs`", vec![(Code::FenceNotRead, None)]),
        (
            "`src/../../other/**`",
            vec![(Code::PathOutsideRepository, None)],
        ),
        // Possibly the repository's own folder: it must not be taken for guarded.
        (
            "`/home/u/shop/src`",
            vec![(Code::PathOutsideRepository, None)],
        ),
        ("`~/.ssh`", vec![(Code::PathOutsideRepository, None)]),
    ] {
        let sessions = [session(1, "1-3", &wave(1), "none", "none", never)];
        let steps = [step(1, "`a.rs`"), step(2, "`b.rs`"), step(3, "`d.rs`")];
        let plan = plan(&steps, &sessions, "");
        assert_eq!(codes(&plan), expected, "{never}");
        assert!(
            plan.groups[0].never_touch.iter().all(|path| path == "c.rs"),
            "{never}: {:?}",
            plan.groups[0].never_touch
        );
    }
}

#[test]
fn a_task_waits_for_the_one_before_it_of_its_worker() {
    let sessions = [
        session(1, "Steps 1-2", &wave(1), "none", "none", "none"),
        session(2, "3", &wave(2), "1", "none", "none"),
    ];
    let plan = plan(&three_steps(), &sessions, "");
    let deps: Vec<_> = plan.tasks.iter().map(|task| task.deps.join(" ")).collect();
    assert_eq!(deps, ["", "1", ""]);
    let whole = read(&format!(
        "## Implementation Plan\n\n{}",
        three_steps().concat()
    ));
    assert_eq!(
        whole
            .tasks
            .iter()
            .map(|task| task.deps.join(" "))
            .collect::<Vec<_>>(),
        ["", "1", "2"]
    );
    assert_eq!(whole.policy.parallel, Parallelism::None);
}

#[test]
fn a_wave_is_taken_from_the_execution_order_where_the_session_has_none() {
    let sessions = |first: &str, second: &str| {
        [
            session(1, "1, 2", first, "none", "none", "none"),
            session(2, "3", second, "none", "none", "none"),
        ]
    };
    for order in [
        "### Execution Order\n\n- **Wave 1:** Session 1\n- **Wave 2:** Session 2\n",
        "### Execution Order\n\nWave 1 (parallel): S1\nWave 2: Sessions 2\n",
        "### Execution Order\n\n1. Wave 1: 1\n2. Wave 2: 2\n",
    ] {
        let plan = plan(&three_steps(), &sessions("", ""), order);
        assert_eq!(codes(&plan), [], "{order}");
        assert_eq!(
            plan.groups
                .iter()
                .map(|group| group.wave)
                .collect::<Vec<_>>(),
            [0, 1],
            "{order}"
        );
    }
    let together = plan(
        &three_steps(),
        &sessions("", ""),
        "### Execution Order\n\n- **Wave 1:** Session 1, Session 2\n",
    );
    assert_eq!(
        together
            .groups
            .iter()
            .map(|group| group.wave)
            .collect::<Vec<_>>(),
        [0, 0]
    );
    let none = plan(&three_steps(), &sessions("", ""), "");
    assert_eq!(
        none.groups
            .iter()
            .map(|group| group.wave)
            .collect::<Vec<_>>(),
        [0, 1],
        "each alone"
    );
    let order =
        "### Execution Order\n\n- **Wave 1:** Session 1\n- **Wave 1:** Session 2, Session 4\n";
    let other = plan(&three_steps(), &sessions(&wave(1), &wave(2)), order);
    assert_eq!(
        codes(&other),
        [(Code::WavesDisagree, None), (Code::UnknownSession, None)]
    );
    assert_eq!(other.groups[1].wave, 1, "the session's own wave counts");
}

#[test]
fn what_a_session_waits_for_runs_before_it() {
    let all = |deps: [&str; 3], waves: [u64; 3]| {
        let one = |place: usize| {
            let number = place as u64 + 1;
            session(
                number,
                &number.to_string(),
                &wave(waves[place]),
                deps[place],
                "none",
                "none",
            )
        };
        plan(&three_steps(), &[one(0), one(1), one(2)], "")
    };
    for (deps, waves, expected) in [
        (["none", "1", "2"], [1, 2, 3], vec![]),
        (
            ["none", "1", "2"],
            [1, 2, 2],
            vec![Code::SessionDependsOnLaterWave],
        ),
        (
            ["2", "none", "none"],
            [1, 1, 1],
            vec![Code::SessionDependsOnLaterWave],
        ),
        (["1", "none", "none"], [1, 1, 1], vec![Code::SelfDependency]),
        (
            ["none", "3", "2"],
            [1, 2, 3],
            vec![Code::Cycle, Code::Cycle],
        ),
        (["none", "9", "none"], [1, 2, 3], vec![Code::UnknownSession]),
        (
            ["none", "the first", "none"],
            [1, 2, 3],
            vec![Code::UnparsedDependency],
        ),
    ] {
        let plan = all(deps, waves);
        let found: Vec<Code> = codes(&plan).into_iter().map(|(code, _)| code).collect();
        assert_eq!(found, expected, "{deps:?} {waves:?}");
        assert_eq!(plan.can_run(), expected.is_empty(), "{deps:?} {waves:?}");
    }
}

#[test]
fn a_session_keeps_within_its_fence() {
    for (files, touch, never, expected) in [
        ("`src/a.rs`", "`src/`", "none", None),
        ("`src/a.rs`", "none", "none", None),
        ("`src/a.rs` (new)", "`docs/`", "none", None),
        (
            "`src/a.rs`",
            "`docs/`",
            "none",
            Some(Code::FileOutsideTouch),
        ),
        (
            "`./src/a.rs`",
            "`src/a.rs`",
            "none",
            Some(Code::PathNotNormal),
        ),
        (
            "`src/a.rs`",
            "`src/`",
            "`src/a.rs`",
            Some(Code::FileInNeverTouch),
        ),
        (
            "`src/a.rs`",
            "`src/a.rs`",
            "`**/*.rs`",
            Some(Code::FileInNeverTouch),
        ),
        (
            "`Src/A.rs`",
            "none",
            "`src/a.rs`",
            Some(Code::FileInNeverTouch),
        ),
    ] {
        let plan = plan(
            &[step(1, files)],
            &[session(1, "1", &wave(1), "none", touch, never)],
            "",
        );
        let expected: Vec<_> = expected.into_iter().map(|code| (code, Some("1"))).collect();
        assert_eq!(codes(&plan), expected, "{files} {touch} {never}");
    }
    let outside = plan(
        &[step(1, "`a.rs`")],
        &[session(1, "1", &wave(1), "none", "`../x`, `a.rs`", "none")],
        "",
    );
    assert_eq!(codes(&outside), [(Code::PathOutsideRepository, None)]);
}

#[test]
fn sessions_of_one_wave_touch_nothing_in_common() {
    for (first, second, waves, overlaps) in [
        ("`src/lib.rs`", "`./src/lib.rs`", [1, 1], true),
        ("`src/`", "`src/a.rs`", [1, 1], true),
        ("`src`", "`src/a.rs`", [1, 1], true),
        ("`README.md`", "`readme.md`", [1, 1], true),
        ("`src/*.rs`", "`src/a.rs`", [1, 1], true),
        ("`src/a.rs`", "`src/b.rs`", [1, 1], false),
        ("`**/*.md`", "`src/b.rs`", [1, 1], false),
        ("`src/`", "`src/a.rs`", [1, 2], false),
        ("none", "`a.rs`", [1, 1], true),
        ("none", "`c.rs`", [1, 1], false),
    ] {
        let sessions = [
            session(1, "1", &wave(waves[0]), "none", first, "none"),
            session(2, "2", &wave(waves[1]), "none", second, "none"),
        ];
        // The files of a step are touched, listed or not.
        let plan = plan(
            &[step(1, "`a.rs` (new)"), step(2, "`b.rs` (new)")],
            &sessions,
            "",
        );
        let found = plan
            .diagnostics
            .iter()
            .any(|found| found.code == Code::ScopeOverlap);
        assert_eq!(found, overlaps, "{first} {second}");
    }
}

#[test]
fn a_task_of_no_worker_is_run_after_all_of_them() {
    let plan = plan(
        &three_steps(),
        &[session(1, "1, 3", &wave(1), "none", "none", "none")],
        "",
    );
    assert_eq!(codes(&plan), [(Code::StepInNoSession, Some("2"))]);
    assert!(plan.can_run());
    let order: Vec<&str> = plan.tasks.iter().map(|task| task.id.as_str()).collect();
    assert_eq!(order, ["1", "3", "2"]);
    assert!(
        plan.tasks
            .iter()
            .all(|task| plan.group_of(&task.id).is_some())
    );
    assert_eq!(
        RunStrategy::for_plan(&plan).summary_line(),
        "Strategy: single session"
    );
}

#[test]
fn a_task_that_runs_after_a_later_one_is_reported() {
    for (steps, waves, is_reported) in [
        (["1, 2", "3"], [1, 2], false),
        (["3", "1, 2"], [1, 1], false),
        (["3", "1, 2"], [1, 2], true),
        (["2, 1", "3"], [1, 2], true),
    ] {
        let one = |place: usize| {
            session(
                place as u64 + 1,
                steps[place],
                &wave(waves[place]),
                "none",
                "none",
                "none",
            )
        };
        let plan = plan(&three_steps(), &[one(0), one(1)], "");
        let expected = if is_reported {
            vec![(Code::SessionOrder, None)]
        } else {
            vec![]
        };
        assert_eq!(codes(&plan), expected, "{steps:?} {waves:?}");
    }
}

#[test]
fn sessions_that_cannot_be_distinguished_are_errors() {
    let one = session(1, "1-3", &wave(1), "none", "none", "none");
    let twice = plan(&three_steps(), &[one.clone(), one], "");
    assert!(codes(&twice).contains(&(Code::DuplicateSession, None)));
    let steps = [step(1, "`a.rs`"), step(1, "`b.rs`")];
    let twice = read(&format!("## Implementation Plan\n\n{}", steps.concat()));
    assert_eq!(codes(&twice), [(Code::DuplicateId, Some("1"))]);
    let other = read(&format!(
        "## Implementation Plan\n\n{}## Execution Strategy\n\n### Session one\n\n### Session 1 - A\n",
        step(1, "`a.rs`")
    ));
    assert_eq!(codes(&other), [(Code::LooksLikeAStep, None)]);
}

#[test]
fn a_strategy_without_headings_is_warned_about() {
    for strategy in [
        "| Session | Steps |\n|---|---|\n| Session 1 | 1-2 |\n",
        "| Session | Steps |\n|---|---|\n| Session 1 | 1-3 |\n| Session 1 | 1 |\n",
        "| Session | Work |\n|---|---|\n| Session 1 | 1-3 |\n",
        "- Session 1: Steps 1-2\n- Session 2: Step 4\n",
        "- Session 1: Steps 1-3\n- Session 2: the rest\n",
        "- Session 1: Steps 1-3\n- Session 2: Step 3\n",
        "Session 1: Steps 1-3 and what session 2 needs\n",
        "Wave 1 has all of it.\n",
    ] {
        let text = format!(
            "## Implementation Plan\n\n{}## Execution Strategy\n\n{strategy}",
            three_steps().concat()
        );
        let found = read(&text);
        assert!(
            codes(&found).contains(&(Code::StrategyNotRead, None)),
            "{strategy}: {:?}",
            codes(&found)
        );
        assert!(found.can_run());
    }
    let plain = format!(
        "## Implementation Plan\n\n{}## Execution Strategy\n\nOne after the other.\n",
        three_steps().concat()
    );
    assert!(!codes(&read(&plain)).contains(&(Code::StrategyNotRead, None)));
}

#[test]
fn sessions_without_headings_are_read_where_they_are_clear() {
    for (strategy, expected) in [
        (
            "How it goes:\n\n| Session | Wave | Steps | Depends on |\n|:--|--|--|--|\n| **Session 1** | 1 | 1, 2 | none |\n\
             | Session 2 | Wave 2 | Step 3 | Session 1 |\n",
            "session-1@0:1,2 <;session-2@1:3 <session-1",
        ),
        (
            "- Session 1: Steps 1-2\n- Session 2: Step 3\n",
            "session-1@0:1,2 <;session-2@1:3 <",
        ),
        (
            "**Session 1** (Wave 1): Steps 1 and 2\n\n**Session 2** (Wave 1): Step 3\n",
            "session-1@0:1,2 <;session-2@0:3 <",
        ),
        (
            "1. **Session 1:** Steps 2, 3 (Wave 2), depends on Session 2\n2. Session 2 — Step 1 (wave 1)\n",
            "session-1@1:2,3 <session-2;session-2@0:1 <",
        ),
        (
            "- Session 1: Steps 1, 2\n- Session 2: Step 3\n- Wave 1: Session 1, Session 2\n",
            "session-1@0:1,2 <;session-2@0:3 <",
        ),
        ("**Session 1:** Steps 1-3\n", "session-1@0:1,2,3 <"),
    ] {
        let text = format!(
            "## Implementation Plan\n\n{}## Execution Strategy\n\n{strategy}",
            three_steps().concat()
        );
        let found = read(&text);
        let shown = |group: &omo_plan::model::TaskGroup| {
            format!(
                "{}@{}:{} <{}",
                group.id,
                group.wave,
                group.tasks.join(","),
                group.deps.join(",")
            )
        };
        assert_eq!(
            found.groups.iter().map(shown).collect::<Vec<_>>().join(";"),
            expected,
            "{strategy}"
        );
        assert!(
            found.can_run() && !codes(&found).contains(&(Code::StrategyNotRead, None)),
            "{:?}",
            codes(&found)
        );
    }
}
