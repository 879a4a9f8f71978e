//! What is green: nothing that is not proved.

use omo_report_page::model::{CheckState, Page, Review, ReviewEnd, RunEnd, Standing, Unproved, Weakening};
use omo_report_page::render;
use omo_report_page::sample::{card, check, empty_page};
use omo_report_page::tone::Tone;
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
const STATES: [CheckState; 5] =
    [CheckState::Green, CheckState::AlreadyGreen, CheckState::Red, CheckState::Unusable, CheckState::NotRun];
const ENDS: [RunEnd; 6] =
    [RunEnd::Running, RunEnd::Waiting, RunEnd::Finished, RunEnd::Unfinished, RunEnd::Failed, RunEnd::Stopped];

fn proved_page() -> Page {
    Page { cards: vec![card("1", &[])], checks: vec![check("true", CheckState::Green)], ..empty_page() }
}

fn review(verdict: ReviewEnd) -> Review {
    Review { reviewer: "r".to_owned(), verdict, at: None, tree: None, words: String::new() }
}

#[test]
fn a_page_is_green_where_all_of_it_is_proved() {
    assert_eq!(proved_page().tone(), Tone::Proved);
    let agreed = vec![review(ReviewEnd::Rejected), review(ReviewEnd::Agreed)];
    assert_eq!(Page { reviews: agreed, ..proved_page() }.tone(), Tone::Proved);
    let mut page = proved_page();
    page.cards.push(omo_report_page::model::Card { standing: Standing::LeftOut, ..card("2", &[]) });
    assert_eq!(page.tone(), Tone::Proved, "what the plan leaves out was not asked for");
}

#[test]
fn any_one_doubt_takes_the_green_away() {
    assert_eq!(empty_page().tone(), Tone::Unproved, "nothing was proved by nothing");
    for end in ENDS.into_iter().filter(|end| *end != RunEnd::Finished) {
        assert_ne!(Page { end, ..proved_page() }.tone(), Tone::Proved, "{end:?}");
    }
    for state in STATES.into_iter().filter(|state| *state != CheckState::Green) {
        assert_ne!(Page { checks: vec![check("x", state)], ..proved_page() }.tone(), Tone::Proved, "{state:?}");
        let mut page = proved_page();
        page.cards[0].checks[0].state = state;
        assert_ne!((page.tone(), page.cards[0].tone()), (Tone::Proved, Tone::Proved), "{state:?}");
        assert_eq!(page.tone() == Tone::Failed, state == CheckState::Red);
    }
    for standing in STANDINGS.into_iter().filter(|standing| *standing != Standing::Passed) {
        let mut page = proved_page();
        page.cards[0].standing = standing;
        assert_ne!(page.cards[0].tone(), Tone::Proved, "{standing:?}");
        assert!(page.tone() != Tone::Proved || standing == Standing::LeftOut, "{standing:?}");
    }
    for verdict in [ReviewEnd::Rejected, ReviewEnd::Unclear, ReviewEnd::Missing] {
        assert_eq!(Page { reviews: vec![review(verdict)], ..proved_page() }.tone(), Tone::Unproved, "{verdict:?}");
    }
    let unproved = vec![Unproved { task: None, reason: String::new() }];
    assert_eq!(Page { unproved, ..proved_page() }.tone(), Tone::Unproved);
    let weakened = vec![Weakening { at: None, by: String::new(), what: String::new() }];
    assert_eq!(Page { weakened, ..proved_page() }.tone(), Tone::Weakened);
    let mut page = proved_page();
    page.cards[0].checks.clear();
    assert_eq!(page.tone(), Tone::Unproved, "a task without a check");
    page.cards[0].proved_by = Some("the checks of its group".to_owned());
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
        let page = Page { end: ENDS[end], cards: cards.collect(), checks, ..empty_page() };
        let html = render(&page, None).unwrap();
        if html.contains("class=\"verdict proved\"") {
            let is_doubt = |class: &str| html.contains(&format!("class=\"check {class}\"")) || html.contains(&format!("class=\"card {class}\""));
            let left_out = page.cards.iter().any(|card| card.standing == Standing::LeftOut);
            prop_assert!(left_out || !(is_doubt("unproved") || is_doubt("failed") || is_doubt("open")), "{}", html);
        }
    }
}
