//! What is green: nothing that is not proved.

use omo_view::page::render;
use omo_view::page::sample::{card, check, empty_page};
use omo_view::run_view::{
    CheckState, ReviewEnd, ReviewView, RunEnd, RunView, Standing, UnprovedView, WeakeningView,
};
use omo_view::tone::Tone;
use proptest::prelude::*;

const STANDINGS: [Standing; 10] = [
    Standing::Passed,
    Standing::Claimed,
    Standing::Unproved,
    Standing::Failed,
    Standing::LeftOut,
    Standing::Skipped,
    Standing::Blocked,
    Standing::Running,
    Standing::Interrupted,
    Standing::Pending,
];
const STATES: [CheckState; 5] = [
    CheckState::Green,
    CheckState::AlreadyGreen,
    CheckState::Red,
    CheckState::Unusable,
    CheckState::NotRun,
];
const ENDS: [RunEnd; 6] = [
    RunEnd::Running,
    RunEnd::Waiting,
    RunEnd::Complete,
    RunEnd::Incomplete,
    RunEnd::Failed,
    RunEnd::Cancelled,
];

fn proved_page() -> RunView {
    RunView {
        tasks: vec![card("1", &[])],
        final_checks: vec![check("true", CheckState::Green)],
        ..empty_page()
    }
}

fn review(verdict: ReviewEnd) -> ReviewView {
    ReviewView {
        reviewer: "r".to_owned(),
        verdict,
        at: None,
        tree: None,
        words: String::new(),
    }
}

#[test]
fn a_page_is_green_where_all_of_it_is_proved() {
    assert_eq!(proved_page().tone(), Tone::Proved);
    let agreed = vec![review(ReviewEnd::Rejected), review(ReviewEnd::Agreed)];
    assert_eq!(
        RunView {
            reviews: agreed,
            ..proved_page()
        }
        .tone(),
        Tone::Proved
    );
    let mut page = proved_page();
    page.tasks.push(omo_view::run_view::TaskView {
        standing: Standing::LeftOut,
        ..card("2", &[])
    });
    assert_eq!(
        page.tone(),
        Tone::Proved,
        "what the plan leaves out was not asked for"
    );
}

#[test]
fn any_one_doubt_takes_the_green_away() {
    assert_eq!(
        empty_page().tone(),
        Tone::Unproved,
        "nothing was proved by nothing"
    );
    for end in ENDS.into_iter().filter(|end| *end != RunEnd::Complete) {
        assert_ne!(
            RunView {
                end,
                ..proved_page()
            }
            .tone(),
            Tone::Proved,
            "{end:?}"
        );
    }
    for state in STATES
        .into_iter()
        .filter(|state| *state != CheckState::Green)
    {
        assert_ne!(
            RunView {
                final_checks: vec![check("x", state)],
                ..proved_page()
            }
            .tone(),
            Tone::Proved,
            "{state:?}"
        );
        let mut page = proved_page();
        page.tasks[0].checks[0].state = state;
        assert_ne!(
            (page.tone(), page.tasks[0].tone()),
            (Tone::Proved, Tone::Proved),
            "{state:?}"
        );
        assert_eq!(page.tone() == Tone::Failed, state == CheckState::Red);
    }
    for standing in STANDINGS
        .into_iter()
        .filter(|standing| *standing != Standing::Passed)
    {
        let mut page = proved_page();
        page.tasks[0].standing = standing;
        assert_ne!(page.tasks[0].tone(), Tone::Proved, "{standing:?}");
        assert!(
            page.tone() != Tone::Proved || standing == Standing::LeftOut,
            "{standing:?}"
        );
    }
    for verdict in [ReviewEnd::Rejected, ReviewEnd::Unclear, ReviewEnd::Missing] {
        assert_eq!(
            RunView {
                reviews: vec![review(verdict)],
                ..proved_page()
            }
            .tone(),
            Tone::Unproved,
            "{verdict:?}"
        );
    }
    let unproved = vec![UnprovedView {
        task: None,
        reason: String::new(),
    }];
    assert_eq!(
        RunView {
            not_verified: unproved,
            ..proved_page()
        }
        .tone(),
        Tone::Unproved
    );
    let weakened = vec![WeakeningView {
        at: None,
        by: String::new(),
        what: String::new(),
    }];
    assert_eq!(
        RunView {
            weakened,
            ..proved_page()
        }
        .tone(),
        Tone::Weakened
    );
    let mut page = proved_page();
    page.tasks[0].checks.clear();
    assert_eq!(page.tone(), Tone::Unproved, "a task without a check");
    page.tasks[0].proved_by = Some("the checks of its group".to_owned());
    assert_eq!(page.tone(), Tone::Proved);
}

proptest! {
    #[test]
    fn the_head_of_a_page_is_green_only_where_everything_below_is(
        end in 0_usize..6, tasks in prop::collection::vec((0_usize..10, 0_usize..5), 0..4), checks in prop::collection::vec(0_usize..5, 0..3)
    ) {
        let cards = tasks.iter().enumerate().map(|(place, (standing, state))| {
            let mut card = card(&place.to_string(), &[]);
            card.standing = STANDINGS[*standing];
            card.checks[0].state = STATES[*state];
            card
        });
        let checks = checks.iter().map(|state| check("x", STATES[*state])).collect();
        let page = RunView { end: ENDS[end], tasks: cards.collect(), final_checks: checks, ..empty_page() };
        let html = render(&page, None).unwrap();
        if html.contains("class=\"verdict proved\"") {
            let is_doubt = |class: &str| html.contains(&format!("class=\"check {class}\"")) || html.contains(&format!("class=\"card {class}\""));
            let left_out = page.tasks.iter().any(|card| card.standing == Standing::LeftOut);
            prop_assert!(left_out || !(is_doubt("unproved") || is_doubt("failed") || is_doubt("open")), "{}", html);
        }
    }
}
