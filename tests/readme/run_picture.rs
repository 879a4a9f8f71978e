//! The picture of a run can be shown, and shows what omo says today.

use omo_core::check::printed_output::PrintedOutput;
use omo_core::check::session_check::{CheckRecord, CheckVerdict};
use omo_core::messages;
use omo_core::session::{Session, UlwRun, VerdictKind};
use omo_core::stop::claim::{CheckResult, ClaimFindings, judge_claim};
use omo_core::stop::{BlockCause, StopBlock};
use omo_core::timestamp::Timestamp;

use crate::page;

/// Everything that stands in the picture, without white space: lines are broken in it.
fn shown() -> String {
    let picture = page("docs/run.svg");
    let document = roxmltree::Document::parse(&picture)
        .unwrap_or_else(|error| panic!("docs/run.svg: {error}"));
    let texts = document
        .descendants()
        .filter(roxmltree::Node::is_text)
        .filter_map(|node| node.text());
    squeezed(&texts.collect::<String>())
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

/// What is said where the one check of the run is red.
fn red() -> String {
    let mut session = Session::default();
    session.verification.attempts = 1;
    let result = CheckResult {
        name: "sh-test.sh".to_owned(),
        command: "sh test.sh".to_owned(),
        record: CheckRecord {
            verdict: CheckVerdict::Failed,
            detail: "exit status 1".to_owned(),
            log: Some("~/greet/.sisyphus/cc-omo/check-sh-test.sh.log".to_owned()),
            ..CheckRecord::default()
        },
        printed: PrintedOutput {
            first_lines: ["expected: Hello, Ada!", "got:      Hello, you!"]
                .map(str::to_owned)
                .into(),
            line_count: 2,
            ..PrintedOutput::default()
        },
        ..CheckResult::default()
    };
    let check = judge_claim(
        &session,
        ClaimFindings {
            checks: vec![result],
            ..ClaimFindings::default()
        },
    );
    let block = StopBlock {
        number: 1,
        allowed: 8,
        newly_named: Vec::new(),
        cause: BlockCause::FailedAttempt,
    };
    messages::block_reason(&session, &block, Some(&check), None)
}

#[test]
fn the_picture_shows_what_omo_says_today() {
    let shown = shown();
    let now = Timestamp::from_millis(0);
    let ulw = UlwRun {
        enabled: true,
        stop_blocks: 2,
        started_at: Some(now),
        ..UlwRun::default()
    };
    let mut session = Session {
        ulw,
        ..Session::default()
    };
    session.end_run(
        VerdictKind::Verified,
        "1 check green, red without the change; reviewed".to_owned(),
        now,
    );
    let ended =
        messages::run_end::run_ended_on_page(&session, 8, Some("~/.local/state/omo/reports/"))
            .unwrap();
    for (what, text) in [
        ("the prompt", "ulw --check"),
        ("the start", "[omo] on: 1 check (sh test.sh) + review"),
        ("the red check", &red()),
        ("the end", &ended),
    ] {
        assert!(
            shown.contains(&squeezed(text)),
            "{what} is shown otherwise (cargo xtask picture):\n{text}\n{shown}"
        );
    }
}

#[test]
fn the_picture_names_no_folder_of_the_machine_that_made_it() {
    let shown = shown();
    for folder in ["/tmp", "/home/", "/root", "/Users/", "/var/"] {
        assert!(!shown.contains(folder), "{folder} is in the picture");
    }
    let picture = page("docs/run.svg");
    assert!(
        !picture.contains("<script") && !picture.contains("href"),
        "it loads or runs something"
    );
}
