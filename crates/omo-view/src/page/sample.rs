//! Made-up runs for tests and for the sample page of the docs.

use omo_core::timestamp::Timestamp;

use crate::page::project_model::{ProjectPage, ProjectRun, RunDetails};
use crate::run_view::{
    AttemptView, CheckState, CheckView, Lane, Mark, MarkKind, ReviewEnd, ReviewView, RunEnd,
    RunView, Span, SpanKind, Standing, TaskView, Timeline, UnprovedView, WeakeningView,
};

/// `seconds` after the start.
pub fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + seconds * 1_000)
}

/// Run that is nothing but `RunEnd::Complete`.
pub fn empty_page() -> RunView {
    RunView {
        title: "Plan".to_owned(),
        heading: "Complete".to_owned(),
        end: RunEnd::Complete,
        opened_at: at(0),
        timeline: Timeline {
            began: at(0),
            until: at(600),
            lanes: Vec::new(),
        },
        ..RunView::default()
    }
}

/// Passed task with a check of its own.
pub fn card(id: &str, needs: &[usize]) -> TaskView {
    TaskView {
        id: id.to_owned(),
        title: format!("Task {id}"),
        standing: Standing::Passed,
        needs: needs.to_vec(),
        checks: vec![check("cargo test", CheckState::Green)],
        ..TaskView::default()
    }
}

pub fn check(command: &str, state: CheckState) -> CheckView {
    CheckView {
        command: command.to_owned(),
        state,
        exit: Some(i32::from(state != CheckState::Green)),
        duration_millis: Some(4_200),
        ..CheckView::default()
    }
}

/// Attempt at a task, between two moments in seconds.
pub fn attempt_span(card: usize, from: i64, until: i64, end: Standing) -> Span {
    let label = format!("{}", card + 1);
    Span {
        from: at(from),
        until: Some(at(until)),
        kind: SpanKind::Attempt { task: card, end },
        label,
    }
}

/// Plan run with two workers, a fixed failure and one that stays.
pub fn sample_page() -> RunView {
    let tasks: [(&str, &str, &[usize], Standing); 9] = [
        ("1", "Tests for the rate limiter", &[], Standing::Passed),
        ("2", "A token bucket", &[0], Standing::Passed),
        (
            "3",
            "Read limits from the configuration",
            &[],
            Standing::Passed,
        ),
        (
            "4",
            "Limit each client by its address",
            &[1, 2],
            Standing::Passed,
        ),
        ("5", "A header with what is left", &[3], Standing::Passed),
        ("6", "Limits for single routes", &[3], Standing::Failed),
        ("7", "Document the limits", &[4, 5], Standing::Blocked),
        ("8", "Metrics of refused requests", &[1], Standing::Unproved),
        ("9", "Remove the old limiter", &[3, 7], Standing::Claimed),
    ];
    let mut cards: Vec<TaskView> = tasks.into_iter().map(|task| sample_card(&task)).collect();
    let spans = [
        (0, 0, 210, Standing::Passed, 0),
        (1, 214, 380, Standing::Failed, 0),
        (1, 384, 700, Standing::Passed, 0),
        (2, 2, 340, Standing::Passed, 1),
        (3, 704, 1_180, Standing::Passed, 0),
        (7, 710, 990, Standing::Unproved, 1),
        (4, 1_190, 1_420, Standing::Passed, 0),
        (5, 1_186, 1_460, Standing::Failed, 1),
        (5, 1_470, 1_700, Standing::Failed, 1),
        (8, 1_430, 1_640, Standing::Claimed, 0),
    ];
    let mut lanes = ["worker 1", "worker 2"].map(|name| Lane {
        name: name.to_owned(),
        ..Lane::default()
    });
    for (place, from, until, end, lane) in spans {
        let why = if end == Standing::Failed {
            "1 of 24 tests is red"
        } else {
            ""
        };
        let attempt = AttemptView {
            since: at(from),
            until: Some(at(until)),
            end: Some(end.word()),
            why: why.to_owned(),
        };
        let kind = if end == Standing::Failed {
            MarkKind::Red
        } else {
            MarkKind::Green
        };
        let (Some(card), Some(lane)) = (cards.get_mut(place), lanes.get_mut(lane)) else {
            continue;
        };
        card.history.push(attempt);
        lane.spans.push(attempt_span(place, from, until, end));
        lane.marks.push(Mark {
            at: at(until - 8),
            kind,
            label: "cargo test --test limits".to_owned(),
        });
    }
    let person = Lane {
        name: "you".to_owned(),
        spans: vec![Span {
            from: at(1_704),
            until: Some(at(1_830)),
            kind: SpanKind::Person,
            label: "task 6 failed twice".to_owned(),
        }],
        marks: vec![Mark {
            at: at(1_830),
            kind: MarkKind::Person,
            label: "q1: go on without it".to_owned(),
        }],
    };
    RunView {
        title: "Rate limits for the public API".to_owned(),
        heading: "Failed at task 6".to_owned(),
        end: RunEnd::Failed,
        facts: [
            ("plan", "docs/plans/rate-limits.md"),
            ("run", "2026-11-25-k3f9, parallel"),
            ("begun", "2026-11-25 09:12"),
            ("took", "31 min"),
            ("base", "3f2a91c04d1e"),
            ("cost", "$2.41, as far as the clients said"),
        ]
        .map(|(label, value)| (label, value.to_owned()))
        .to_vec(),
        final_checks: vec![
            check("cargo test --workspace", CheckState::Red),
            check("cargo clippy --all-targets -- -D warnings", CheckState::Green),
        ],
        reviews: vec![ReviewView {
            reviewer: "omo:oracle".to_owned(),
            verdict: ReviewEnd::Rejected,
            at: Some(at(1_850)),
            tree: Some("9b1e4c77aa02".to_owned()),
            words: "The limit of a route is read, and never asked for.\nNothing fails where it is left out.".to_owned(),
        }],
        not_verified: vec![UnprovedView {
            task: Some("8".to_owned()),
            reason: "it has no check of its own".to_owned(),
        }],
        weakened: vec![WeakeningView {
            at: Some(at(1_830)),
            by: "by `omo` at a terminal".to_owned(),
            what: "task 6 accepted as failed".to_owned(),
        }],
        findings: vec!["2 of 24 tests are skipped since task 4".to_owned()],
        next_steps: vec!["omo run retry 6".to_owned()],
        timeline: Timeline { began: at(0), until: at(1_860), lanes: lanes.into_iter().chain([person]).collect() },
        tasks: cards,
        ..empty_page()
    }
}

fn sample_card((id, title, needs, standing): &(&str, &str, &[usize], Standing)) -> TaskView {
    let state = if *standing == Standing::Failed {
        CheckState::Red
    } else {
        CheckState::Green
    };
    let has_check = matches!(standing, Standing::Passed | Standing::Failed);
    let output: &[&str] = match state {
        CheckState::Red => &[
            "running 24 tests",
            "test routes::own_limit_wins ... FAILED",
            "",
            "assertion `left == right` failed",
            "  left: 429",
            " right: 200",
            "test result: FAILED. 23 passed; 1 failed",
        ],
        _ => &["test result: ok. 24 passed; 0 failed"],
    };
    let own = CheckView {
        detail: if state == CheckState::Red {
            "exit 101: 24 run, 1 failed"
        } else {
            "24 run, 0 failed"
        }
        .to_owned(),
        output: output.iter().map(|line| (*line).to_owned()).collect(),
        exit: Some(if state == CheckState::Red { 101 } else { 0 }),
        tree: Some("4c0e8d11f3a9".to_owned()),
        ..check("cargo test --test limits", state)
    };
    TaskView {
        title: (*title).to_owned(),
        standing: *standing,
        checks: if has_check { vec![own] } else { Vec::new() },
        goal: format!(
            "### Task {id}: {title}\n\nA request over the limit is answered with 429 and `Retry-After`."
        ),
        evidence: match standing {
            Standing::Blocked => "6, which it depends on, has not passed",
            Standing::Claimed => "judged, with e1 to show it; no command decides it",
            _ => "",
        }
        .to_owned(),
        files: if has_check {
            vec!["src/limits.rs".to_owned(), "tests/limits.rs".to_owned()]
        } else {
            Vec::new()
        },
        out_of_scope: if *standing == Standing::Failed {
            vec!["src/limits.rs".to_owned()]
        } else {
            Vec::new()
        },
        diff: if has_check {
            SAMPLE_DIFF.to_owned()
        } else {
            String::new()
        },
        ..card(id, needs)
    }
}

const SAMPLE_DIFF: &str = "diff --git a/src/limits.rs b/src/limits.rs
--- a/src/limits.rs
+++ b/src/limits.rs
@@ -12,4 +12,6 @@ impl Limits {
     pub fn allows(&mut self, client: &Client) -> bool {
-        true
+        let bucket = self.buckets.entry(client.id()).or_default();
+        bucket.refill(self.clock.now());
+        bucket.take(1)
     }
";

/// 200 tasks of two workers, each with three attempts, and 10,000 events in all.
pub fn large_page() -> RunView {
    let mut page = RunView {
        tasks: Vec::new(),
        ..sample_page()
    };
    page.timeline.until = at(12_000);
    page.timeline.lanes = ["worker 1", "worker 2"]
        .map(|name| Lane {
            name: name.to_owned(),
            ..Lane::default()
        })
        .into();
    for number in 0..200_usize {
        let begin = i64::try_from(number).unwrap_or_default() * 60;
        let needs: Vec<usize> = (0..number)
            .filter(|other| (number * 7 + other * 13) % 41 == 0)
            .collect();
        let mut large = TaskView {
            title: large_text(number),
            goal: large_text(number).repeat(20),
            checks: vec![check(&large_text(number), CheckState::Red); 3],
            diff: format!("@@ -1 +1 @@\n{}", "+ added\n- removed\n".repeat(60)),
            ..card(&number.to_string(), &needs)
        };
        let Some(lane) = page.timeline.lanes.get_mut(number % 2) else {
            continue;
        };
        for from in [begin, begin + 18, begin + 36] {
            lane.spans
                .push(attempt_span(number, from, from + 17, Standing::Failed));
            let (since, until) = (at(from), Some(at(from + 17)));
            large.history.push(AttemptView {
                since,
                until,
                end: Some("failed"),
                why: large_text(number),
            });
        }
        for second in 0..47 {
            let kind = if second % 3 == 0 {
                MarkKind::Red
            } else {
                MarkKind::Green
            };
            lane.marks.push(Mark {
                at: at(begin + second),
                kind,
                label: large_text(number),
            });
        }
        page.tasks.push(large);
    }
    page
}

fn large_text(number: usize) -> String {
    format!("task {number} <b>&'\" with a title that says what it is for")
}

/// A run of each `Tone`, and more runs than a share is taken from.
pub fn sample_project_page() -> ProjectPage {
    let weakening = WeakeningView {
        at: None,
        by: "by a person".to_owned(),
        what: "a check was removed".to_owned(),
    };
    let kinds = [
        (
            "Limit each client by its address",
            "Complete",
            RunEnd::Complete,
        ),
        ("Remove the old limiter", "Failed at task 2", RunEnd::Failed),
        (
            "Document the limits",
            "Complete, the whole unproved",
            RunEnd::Incomplete,
        ),
        (
            "Metrics of refused requests",
            "Cancelled",
            RunEnd::Cancelled,
        ),
        ("Limits for single routes", "Running", RunEnd::Running),
    ];
    let runs = (0..24).map(|number| {
        // The last one goes on; most others are proved.
        let kind = if number == 23 {
            4
        } else {
            [0, 1, 0, 2, 0, 0, 3, 0]
                .get(number % 8)
                .copied()
                .unwrap_or_default()
        };
        let mut page = RunView {
            final_checks: vec![check("cargo test", CheckState::Green)],
            ..empty_page()
        };
        if let Some((title, sentence, end)) = kinds.get(kind) {
            (page.title, page.heading, page.end) =
                ((*title).to_owned(), (*sentence).to_owned(), *end);
        }
        if number % 11 == 5 {
            page.weakened.push(weakening.clone());
        }
        page.tasks = vec![card("1", &[]), card("2", &[0])];
        let began = i64::try_from(number).unwrap_or_default() * 40_000;
        let took = [95, 600, 1_900, 7_200, 340, 41_000]
            .get(number % 6)
            .copied()
            .unwrap_or_default();
        page.timeline = Timeline {
            began: at(began),
            until: at(began + took),
            lanes: Vec::new(),
        };
        let details = RunDetails {
            began: format!("2026-09-{:02} 10:0{}", 1 + number / 2, number % 10),
            mode: "parallel workers".to_owned(),
            effort: "3 attempts".to_owned(),
            cost: if number % 2 == 0 {
                "$1.20".to_owned()
            } else {
                String::new()
            },
            page_file: (number % 3 == 0).then(|| format!("plan-r-{number}.html")),
        };
        ProjectRun::new(&page, details)
    });
    ProjectPage {
        title: "limiter".to_owned(),
        scope: "The runs of plans in this repository, and the ultrawork runs in /home/me/limiter"
            .to_owned(),
        as_of: "2026-09-13 12:00".to_owned(),
        now: at(24 * 40_000),
        runs: runs.collect(),
        unread: 0,
        problems: Vec::new(),
    }
}
