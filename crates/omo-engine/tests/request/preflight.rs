//! Conditions before sessions are started, and their payer.

use omo_engine::billing::{BillingDecision, BillingFacts, BillingRequest, decide_billing};
use omo_engine::execution_mode::ExecutionMode;
use omo_engine::preflight::{
    PreflightFacts, PreflightFinding, PreflightHead, PreflightRule, PreflightSeverity, can_start,
    check_outside, check_repository,
};
use omo_git::commit_conditions::{AbsentProgram, CommitConditions};
use omo_git::integrate::UnfinishedOperation;
use omo_plan::dialects::{self, BatchOptions};
use omo_plan::model::Plan;

use crate::request::{plan, session, step, vectors};

/// A repository without findings.
fn clean() -> PreflightFacts {
    PreflightFacts {
        git: Some("git version 2.47.3".to_owned()),
        leftovers: Vec::new(),
        operation: None,
        has_identity: true,
        head: PreflightHead::Branch,
        other_checkouts: Vec::new(),
        branch_in_way: None,
        dirty: Vec::new(),
        plan_file: Some(".claude/plans/p.md".to_owned()),
        submodules: Vec::new(),
        filtered: Vec::new(),
        ignored: Vec::new(),
        commits: CommitConditions::default(),
        mode: ExecutionMode::Parallel,
        has_launcher: false,
        has_setup: false,
        checkout_bytes: 1024 * 1024,
        free_bytes: Some(1024 * 1024 * 1024),
    }
}

fn two_sessions() -> Plan {
    plan(3, &[(&[1], 1), (&[2, 3], 1)])
}

fn names(names: &[&str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}

fn rules(findings: &[PreflightFinding]) -> Vec<(PreflightRule, PreflightSeverity)> {
    findings
        .iter()
        .map(|finding| (finding.rule, finding.severity))
        .collect()
}

#[test]
fn every_row_about_who_pays_holds() {
    let vectors = vectors("ultraplan-progress_report_preflight.json");
    let rows: Vec<_> = vectors["preflight"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["name"] == "billing")
        .collect();
    assert_eq!(rows.len(), 8);
    for row in rows {
        let variable = |name: &str| row["env"][name].as_str().map(str::to_owned);
        let facts =
            BillingFacts::from_environment(variable, row["settings"]["apiKeyHelper"].is_string());
        let asked = BillingRequest {
            starts_clients: row["multi"].as_bool().unwrap(),
            can_ask: row["headless"].as_bool() != Some(true),
            is_accepted: false,
        };
        let word = match decide_billing(&facts, asked) {
            BillingDecision::Silent => "silent",
            BillingDecision::Warn { .. } => "warn",
            BillingDecision::Ask { .. } => "ask",
            BillingDecision::Stop { .. } => "stop",
        };
        let expected = row["strict"].as_str().or(row["spec"].as_str()).unwrap();
        let expected = expected
            .strip_prefix("not checked")
            .map_or(expected, |_| "silent");
        assert!(expected.starts_with(word), "{row}: {word}");
    }
}

#[test]
fn an_accepted_key_is_reported_and_one_without_a_value_is_none() {
    let facts = |name: &str, value: &str| {
        BillingFacts::from_environment(|asked| (asked == name).then(|| value.to_owned()), false)
    };
    let all = BillingRequest {
        starts_clients: true,
        can_ask: false,
        is_accepted: true,
    };
    let key = facts("ANTHROPIC_API_KEY", "k");
    assert!(
        matches!(decide_billing(&key, all), BillingDecision::Warn { text } if text.starts_with("ANTHROPIC_API_KEY is set"))
    );
    assert!(
        key.summary_line()
            .contains("is SET — parallel sessions will bill API account")
    );
    assert_eq!(facts("ANTHROPIC_API_KEY", " "), BillingFacts::default());
    assert_eq!(
        facts("CLAUDE_CODE_USE_VERTEX", "0"),
        BillingFacts::default()
    );
    let cloud = facts("CLAUDE_CODE_USE_VERTEX", "true");
    assert!(
        cloud
            .summary_line()
            .contains("NOT SET, but CLAUDE_CODE_USE_VERTEX is")
    );
    assert!(
        BillingFacts::default()
            .summary_line()
            .ends_with("NOT SET — sessions will use subscription")
    );
}

#[test]
fn every_row_about_a_clean_tree_holds() {
    let touching = [
        step(1, "revert").replace("src/1.rs", "a.rs"),
        step(2, "revert").replace("src/2.rs", "b.txt"),
    ];
    let text = format!(
        "# A plan\n\n## Implementation Plan\n\n{}",
        touching.concat()
    );
    let plan = dialects::read("p.md", text.as_bytes(), BatchOptions::default());
    let stop = |rule| vec![(rule, PreflightSeverity::Stop)];
    let vectors = vectors("ultraplan-progress_report_preflight.json");
    let rows: Vec<_> = vectors["preflight"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|row| row["name"] == "clean")
        .collect();
    assert_eq!(rows.len(), 6);
    for row in rows {
        let (facts, expected) = match row["status"].as_str().unwrap() {
            "" => (clean(), vec![]),
            " M a.rs" => (
                PreflightFacts {
                    dirty: names(&["a.rs"]),
                    ..clean()
                },
                stop(PreflightRule::Dirty),
            ),
            "?? b.txt" => (
                PreflightFacts {
                    dirty: names(&["b.txt"]),
                    ..clean()
                },
                stop(PreflightRule::Dirty),
            ),
            status if status.ends_with("(the plan itself)") => (
                PreflightFacts {
                    dirty: names(&[".claude/plans/p.md"]),
                    ..clean()
                },
                vec![],
            ),
            status if status.ends_with("(own leftovers)") => (
                PreflightFacts {
                    leftovers: names(&["omo-r1-session-1"]),
                    ..clean()
                },
                vec![(PreflightRule::Leftovers, PreflightSeverity::Fix)],
            ),
            "UU a.rs (merge in progress)" => (
                PreflightFacts {
                    operation: Some(UnfinishedOperation::Merge),
                    ..clean()
                },
                stop(PreflightRule::Operation),
            ),
            status => panic!("no such row: {status}"),
        };
        let findings = check_repository(&plan, &facts);
        assert_eq!(rules(&findings), expected, "{row}");
        let stops = row["strict"]
            .as_str()
            .or(row["spec"].as_str())
            .unwrap()
            .starts_with("stop");
        assert_eq!(can_start(&findings), !stops, "{row}");
        if row["status"].as_str().unwrap().starts_with("UU") {
            assert_eq!(findings[0].text, "a merge is in progress");
        }
    }
}

#[test]
fn what_the_plan_does_not_touch_is_only_named() {
    let facts = PreflightFacts {
        dirty: names(&["notes.txt", "./src/2.rs"]),
        ..clean()
    };
    let findings = check_repository(&two_sessions(), &facts);
    assert_eq!(
        rules(&findings),
        [
            (PreflightRule::Dirty, PreflightSeverity::Stop),
            (PreflightRule::Dirty, PreflightSeverity::Note)
        ]
    );
    assert_eq!(
        findings[0].text,
        "working tree is not clean, and the plan touches ./src/2.rs"
    );
    assert_eq!(findings[1].text, "not committed: notes.txt");
    let mut open = two_sessions();
    open.tasks[0].files.clear();
    open.groups[0].may_touch.clear();
    let findings = check_repository(
        &open,
        &PreflightFacts {
            dirty: names(&["notes.txt"]),
            ..clean()
        },
    );
    assert_eq!(
        rules(&findings),
        [(PreflightRule::Dirty, PreflightSeverity::Stop)],
        "a step that names nothing may touch anything"
    );
}

/// Commits without findings.
fn conditions() -> CommitConditions {
    CommitConditions {
        absent_hooks: names(&[".husky/_/pre-commit"]),
        absent_programs: vec![AbsentProgram {
            hook: "pre-commit".to_owned(),
            path: "node_modules/.bin/lint-staged".to_owned(),
        }],
        signing_failure: Some("incorrect passphrase supplied".to_owned()),
        outside_sparse_set: names(&["lib/a.txt"]),
        guards: vec!["pre-commit", "commit.gpgSign"],
        environment: vec!["HUSKY=0".to_owned()],
        merge_settings: vec!["merge.verifySignatures"],
    }
}

#[test]
fn what_a_commit_in_a_worktree_meets_is_told_before_and_only_a_locked_key_stops() {
    let facts = PreflightFacts {
        commits: conditions(),
        other_checkouts: names(&["/the twin"]),
        ..clean()
    };
    let findings = check_repository(&two_sessions(), &facts);
    let expected = [
        (PreflightRule::OtherCheckouts, PreflightSeverity::Warning),
        (PreflightRule::SparseSet, PreflightSeverity::Warning),
        (PreflightRule::Signing, PreflightSeverity::Stop),
        (PreflightRule::Hooks, PreflightSeverity::Warning),
        (PreflightRule::HookPrograms, PreflightSeverity::Warning),
        (PreflightRule::MergeSettings, PreflightSeverity::Note),
        (PreflightRule::Environment, PreflightSeverity::Warning),
    ];
    assert_eq!(rules(&findings), expected);
    for (finding, [text, hint]) in findings.iter().zip([
        [
            "another worktree: /the twin",
            "`git -C '/the twin' switch --detach`",
        ],
        ["leaves out: lib/a.txt", "`git sparse-checkout add`"],
        ["(incorrect passphrase supplied)", "`ssh-add`"],
        ["your hooks: .husky/_/pre-commit", "passes without them"],
        [
            "node_modules/.bin/lint-staged (pre-commit)",
            "setup command",
        ],
        [
            "do not ask merge.verifySignatures",
            "`git log --show-signature`",
        ],
        [
            "obey your environment: HUSKY=0",
            "unset that before the start",
        ],
    ]) {
        assert!(
            finding.text.contains(text) && finding.hint.contains(hint),
            "{finding:?}"
        );
    }
    let elsewhere = check_repository(
        &two_sessions(),
        &PreflightFacts {
            has_launcher: true,
            ..facts.clone()
        },
    );
    let added: Vec<_> = elsewhere
        .iter()
        .filter(|finding| !findings.contains(finding))
        .collect();
    assert!(
        matches!(added.as_slice(), [one] if one.text.ends_with("not yours: pre-commit, commit.gpgSign")),
        "{added:?}"
    );
    let findings = check_repository(
        &two_sessions(),
        &PreflightFacts {
            has_setup: true,
            ..facts
        },
    );
    assert!(
        !rules(&findings).contains(&(PreflightRule::HookPrograms, PreflightSeverity::Warning)),
        "{findings:?}"
    );
}

#[test]
fn each_rule_finds_what_it_is_for() {
    let overlapping = {
        let sessions = [
            session(1, &[1], 1),
            session(2, &[2], 1).replace("src/2.rs", "./src/1.rs, src/2.rs"),
        ];
        let parts = [
            step(1, "revert"),
            step(2, "revert"),
            "## Execution Strategy\n\n".to_owned(),
        ];
        let text = format!(
            "# P\n\n## Implementation Plan\n\n{}{}",
            parts.concat(),
            sessions.concat()
        );
        dialects::read("p.md", text.as_bytes(), BatchOptions::default())
    };
    let mut guarded = two_sessions();
    guarded.tasks[0].files[0].path = "./web/.Husky/pre-commit".to_owned();
    let mut guarded_file = two_sessions();
    guarded_file.tasks[0].files[0].path = "web/.npmrc".to_owned();
    let two = two_sessions;
    for (plan, facts, rule, weight, text) in [
        (
            two(),
            PreflightFacts {
                has_identity: false,
                ..clean()
            },
            PreflightRule::Identity,
            PreflightSeverity::Stop,
            "git does not know who you are",
        ),
        (
            two(),
            PreflightFacts {
                head: PreflightHead::Detached,
                ..clean()
            },
            PreflightRule::Head,
            PreflightSeverity::Stop,
            "no branch is checked out",
        ),
        (
            two(),
            PreflightFacts {
                head: PreflightHead::Unborn,
                ..clean()
            },
            PreflightRule::Head,
            PreflightSeverity::Stop,
            "has no commit",
        ),
        (
            two(),
            PreflightFacts {
                submodules: names(&["lib"]),
                ..clean()
            },
            PreflightRule::Submodules,
            PreflightSeverity::Note,
            ": lib",
        ),
        (
            two(),
            PreflightFacts {
                submodules: names(&["src"]),
                ..clean()
            },
            PreflightRule::Submodules,
            PreflightSeverity::Stop,
            ": src",
        ),
        (
            two(),
            PreflightFacts {
                filtered: names(&["secret"]),
                ..clean()
            },
            PreflightRule::Filters,
            PreflightSeverity::Stop,
            "of those: secret",
        ),
        (
            two(),
            PreflightFacts {
                ignored: names(&["x.env"]),
                ..clean()
            },
            PreflightRule::Ignored,
            PreflightSeverity::Stop,
            "no commit holds that: x.env",
        ),
        (
            two(),
            PreflightFacts {
                branch_in_way: Some("omo".to_owned()),
                ..clean()
            },
            PreflightRule::Branches,
            PreflightSeverity::Stop,
            "there is a branch `omo`",
        ),
        (
            guarded,
            clean(),
            PreflightRule::Protected,
            PreflightSeverity::Stop,
            "step 1 (./web/.Husky/pre-commit)",
        ),
        (
            two(),
            PreflightFacts {
                plan_file: None,
                ..clean()
            },
            PreflightRule::PlanFile,
            PreflightSeverity::Stop,
            "outside the repository",
        ),
        (
            guarded_file,
            clean(),
            PreflightRule::Protected,
            PreflightSeverity::Stop,
            "step 1 (web/.npmrc)",
        ),
        (
            overlapping,
            clean(),
            PreflightRule::Overlap,
            PreflightSeverity::Stop,
            "scope fence overlap detected: ",
        ),
        (
            two(),
            PreflightFacts {
                checkout_bytes: 400 * 1024 * 1024,
                ..clean()
            },
            PreflightRule::DiskSpace,
            PreflightSeverity::Stop,
            "1024 MiB are free, and the worktrees of 2 workers need 1456 MiB",
        ),
    ] {
        let findings = check_repository(&plan, &facts);
        assert_eq!(rules(&findings), [(rule, weight)], "{facts:?}");
        assert!(findings[0].text.contains(text), "{findings:?}");
    }
    // Sessions that run one after the other have a work tree each, too, one at a time.
    let one_by_one = plan(3, &[(&[1], 1), (&[2], 2), (&[3], 3)]);
    let small = PreflightFacts {
        checkout_bytes: 400 * 1024 * 1024,
        ..clean()
    };
    let findings = check_repository(&one_by_one, &small);
    assert_eq!(
        findings[0].text,
        "1024 MiB are free, and the worktrees of 1 worker need 1056 MiB"
    );
    let unknown = PreflightFacts {
        checkout_bytes: u64::MAX,
        free_bytes: None,
        ..clean()
    };
    assert_eq!(check_repository(&two_sessions(), &unknown), []);
}

#[test]
fn what_git_will_not_commit_in_the_checkout_is_found() {
    let in_checkout = PreflightFacts {
        mode: ExecutionMode::StepByStep,
        ..clean()
    };
    for (facts, expected) in [
        (
            PreflightFacts {
                ignored: names(&["x.env"]),
                ..in_checkout.clone()
            },
            (PreflightRule::Ignored, PreflightSeverity::Warning),
        ),
        (
            PreflightFacts {
                head: PreflightHead::Bare,
                ..in_checkout
            },
            (PreflightRule::Bare, PreflightSeverity::Stop),
        ),
    ] {
        assert_eq!(
            rules(&check_repository(&two_sessions(), &facts)),
            [expected]
        );
    }
}

#[test]
fn what_lies_outside_of_the_repository_stops_a_plan() {
    assert_eq!(check_outside(&[]), None);
    let found = check_outside(&names(&["/home/me/x", "link/y"])).unwrap();
    assert_eq!(
        (found.rule, found.severity),
        (PreflightRule::Outside, PreflightSeverity::Stop)
    );
    assert!(
        found.text.ends_with(": /home/me/x, link/y"),
        "{}",
        found.text
    );
}

#[test]
fn an_old_git_is_known_by_each_form_of_its_version() {
    for (said, old) in [
        ("git version 2.34.1", Some("2.34.1")),
        ("git version 2.37.1 (Apple Git-137.1)", Some("2.37.1")),
        ("git version 2.37.3.windows.1", Some("2.37.3.windows.1")),
        ("git version 1.8.3.1", Some("1.8.3.1")),
        ("git version 2.38.0", None),
        ("git version 2.38.0-rc1", None),
        ("git version 2.39.3 (Apple Git-146)", None),
        ("git version 2.47.1.windows.1", None),
        ("git version 2.51.GIT", None),
        ("git version 3.0.0", None),
        ("git version unknown", None),
        ("", None),
    ] {
        let findings = check_repository(
            &two_sessions(),
            &PreflightFacts {
                git: Some(said.to_owned()),
                ..clean()
            },
        );
        let text = old
            .map(|old| format!("git {old} cannot merge what workers did; 2.38 or newer is needed"));
        assert_eq!(
            findings.first().map(|finding| finding.text.clone()),
            text,
            "{said}"
        );
        assert_eq!(can_start(&findings), old.is_none(), "{said}");
    }
    assert_eq!(
        check_repository(
            &two_sessions(),
            &PreflightFacts {
                git: None,
                ..clean()
            }
        ),
        []
    );
}

#[test]
fn findings_stand_in_the_order_in_which_they_are_fixed() {
    let facts = PreflightFacts {
        git: Some("git version 2.37.9".to_owned()),
        has_identity: true,
        leftovers: names(&["a"]),
        operation: Some(UnfinishedOperation::Rebase),
        head: PreflightHead::Detached,
        other_checkouts: names(&["/twin"]),
        branch_in_way: Some("omo".to_owned()),
        dirty: names(&["src/1.rs"]),
        plan_file: None,
        submodules: names(&["lib"]),
        filtered: names(&["secret"]),
        ignored: names(&["x.env"]),
        commits: conditions(),
        mode: ExecutionMode::Parallel,
        has_launcher: true,
        has_setup: false,
        checkout_bytes: u64::MAX,
        free_bytes: Some(0),
    };
    let found: Vec<PreflightRule> = check_repository(&two_sessions(), &facts)
        .iter()
        .map(|finding| finding.rule)
        .collect();
    let expected = [
        PreflightRule::Git,
        PreflightRule::Leftovers,
        PreflightRule::Operation,
        PreflightRule::Head,
        PreflightRule::OtherCheckouts,
        PreflightRule::Branches,
        PreflightRule::Dirty,
        PreflightRule::Submodules,
        PreflightRule::Filters,
        PreflightRule::Ignored,
        PreflightRule::SparseSet,
        PreflightRule::Signing,
        PreflightRule::Hooks,
        PreflightRule::HookPrograms,
        PreflightRule::LauncherGuards,
        PreflightRule::MergeSettings,
        PreflightRule::Environment,
        PreflightRule::PlanFile,
        PreflightRule::DiskSpace,
    ];
    assert_eq!(found, expected);
}

#[test]
fn what_omo_wrote_of_a_run_does_not_stop_the_next_one_of_a_plan_without_files() {
    let mut open = two_sessions();
    open.tasks[0].files.clear();
    open.groups[0].may_touch.clear();
    let own = [
        ".claude/execute-plan-checkpoint.json",
        "docs/06-plans/execution-report.md",
    ];
    let findings = check_repository(
        &open,
        &PreflightFacts {
            dirty: names(&own),
            ..clean()
        },
    );
    assert_eq!(
        rules(&findings),
        [(PreflightRule::Dirty, PreflightSeverity::Note)]
    );
}
