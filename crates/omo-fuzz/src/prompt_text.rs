//! Prompts of a person, and last words of a model and a reviewer.

use omo_core::check::counterfactual::ProveMode;
use omo_core::check::session_check::MAX_CHECKS;
use omo_core::keyword::{Keywords, PromptReading, is_from_a_person, read_prompt};
use omo_core::limits::RunLimits;
use omo_core::promise::{Claim, final_promise, read_claim};
use omo_core::prompt::check_request::{self, CheckRequest};
use omo_core::prompt::ulw_arguments::{self, UlwOptions};
use omo_core::prompt::{
    PromptDecision, PromptEvent, PromptFacts, PromptIntent, decide, read_intent,
};
use omo_core::request_source::PromptOrigin;
use omo_core::review::{self, ReviewVerdict};
use omo_core::session::{PauseReason, Session, UlwActivation, UlwTrigger};
use omo_core::timestamp::Timestamp;

use crate::own_words;

/// One input in 16 is put into all texts of omo.
const SAID_BACK: usize = 16;
const SAID_CHARS: usize = 400;

/// Nothing is read that is not there, quoting takes all of it away, a text that no person typed turns nothing on,
/// every option stays in its range, and no text makes omo say words that omo acts upon.
pub fn check(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    is_read_for_what_stands_there(text);
    says_nothing_when_quoted(text);
    is_decided_about(text);
    has_arguments_in_their_range(text);
    promises_what_stands_there(text);
    is_made_harmless(text);
    // All texts of omo together are long, and would leave little time for the rest.
    if data.len().is_multiple_of(SAID_BACK) {
        own_words::set_nothing_off(&text.chars().take(SAID_CHARS).collect::<String>());
    }
}

fn is_read_for_what_stands_there(text: &str) {
    let lower = text.to_ascii_lowercase();
    let keywords = Keywords::default();
    let names_it = keywords
        .words()
        .iter()
        .any(|word| lower.contains(word.as_str()));
    let reading = read_prompt(text, &keywords);
    assert!(
        matches!(reading, PromptReading::Nothing) || is_from_a_person(text),
        "{reading:?}"
    );
    match reading {
        PromptReading::Nothing => {}
        PromptReading::Activate { .. } | PromptReading::Short(_) | PromptReading::Off { .. } => {
            assert!(names_it, "{reading:?}");
        }
        PromptReading::Command { name, arguments } => {
            let typed = text
                .split_once(arguments)
                .filter(|_| text.ends_with(arguments));
            assert!(
                typed.is_some_and(|_| name == "ulw" || text.contains(name)),
                "{reading:?}"
            );
        }
    }
    let none = Keywords::new(Vec::new());
    let without = none.as_ref().map(|none| read_prompt(text, none));
    assert!(
        matches!(
            without,
            Ok(PromptReading::Nothing | PromptReading::Command { .. })
        ),
        "{without:?} without a keyword"
    );
}

fn says_nothing_when_quoted(text: &str) {
    let quoted = text
        .split('\n')
        .map(|line| format!("> {line}"))
        .collect::<Vec<_>>()
        .join("\n");
    assert_eq!(
        read_prompt(&quoted, &Keywords::default()),
        PromptReading::Nothing,
        "quoted"
    );
    assert_eq!(final_promise(&quoted), None, "quoted");
    for foreign in [
        "<task-notification>",
        "Stop hook feedback:\n",
        "<command-name>",
        "[Request interrupted by user] ",
    ] {
        let foreign = format!("{foreign}{text}");
        assert!(
            !is_from_a_person(&foreign)
                && read_prompt(&foreign, &Keywords::default()) == PromptReading::Nothing,
            "{foreign}"
        );
    }
}

fn is_decided_about(text: &str) {
    let event = PromptEvent {
        prompt: text,
        prompt_id: Some("new"),
        ..PromptEvent::default()
    };
    let planned = PromptEvent {
        plan_mode: true,
        ..event
    };
    let elsewhere = PromptEvent {
        origin: PromptOrigin::Agent,
        ..event
    };
    let asked = read_intent(&event, &Keywords::default(), |_| options());
    let is_a_persons = is_from_a_person(text);
    assert_eq!(matches!(asked, PromptIntent::NotAPerson), !is_a_persons);
    for session in [None, Some(armed(false)), Some(armed(true))] {
        let facts = PromptFacts {
            session: session.as_ref(),
            ..PromptFacts::default()
        };
        let by_no_person = if session.is_some() {
            PromptDecision::NoteHook
        } else {
            PromptDecision::Silent
        };
        assert_eq!(
            decide(
                read_intent(&elsewhere, &Keywords::default(), |_| options()),
                &elsewhere,
                &facts
            ),
            by_no_person
        );
        let in_plan_mode = decide(asked.clone(), &planned, &facts);
        assert!(
            !matches!(in_plan_mode, PromptDecision::Activate(..)),
            "a run was started in plan mode"
        );
        let decision = decide(asked.clone(), &event, &facts);
        assert!(
            is_a_persons || decision == by_no_person,
            "{decision:?} and no person wrote it"
        );
        match decision {
            PromptDecision::Activate(activation, _) => is_within_bounds(&activation),
            PromptDecision::Refused(message) => assert_eq!(message.lines().count(), 1, "{message}"),
            _ => {}
        }
    }
}

fn armed(paused: bool) -> Session {
    let mut session = Session::default();
    session.ulw.enabled = true;
    session.ulw.prompt_id = Some("old".to_owned());
    if paused {
        session.pause(PauseReason::Interrupted, Timestamp::from_millis(0));
        session
            .ulw
            .paused
            .iter_mut()
            .for_each(|pause| pause.is_told = true);
    }
    session
}

fn options() -> UlwOptions {
    UlwOptions {
        limits: RunLimits::default(),
        checks: Vec::new(),
        review: true,
        prove: ProveMode::default(),
        begins_anew: false,
    }
}

fn is_within_bounds(activation: &UlwActivation) {
    assert_eq!(activation.limits, activation.limits.clamped());
    assert!(
        activation.checks.len() <= MAX_CHECKS
            && activation
                .checks
                .iter()
                .all(|check| check.validate().is_ok())
    );
    let is_default = activation.limits == RunLimits::default()
        && activation.checks.is_empty()
        && activation.review_wanted;
    assert!(
        activation.trigger == UlwTrigger::Command || is_default,
        "options without the command: {activation:?}"
    );
}

fn has_arguments_in_their_range(text: &str) {
    match ulw_arguments::parse(text, options()) {
        Ok(read) => {
            let limits = read.options.limits;
            assert_eq!(limits, limits.clamped());
            assert!(read.options.checks.len() <= MAX_CHECKS);
            assert!(
                read.options
                    .checks
                    .iter()
                    .all(|check| check.validate().is_ok())
            );
            assert!(
                read.task
                    .is_none_or(|task| text.contains(&*task) && !task.trim().is_empty())
            );
        }
        Err(refusal) => assert_eq!(refusal.message().lines().count(), 1, "{refusal:?}"),
    }
    match check_request::parse(text) {
        Ok(CheckRequest::Add(check)) => assert!(
            check.validate().is_ok() && text.contains(&check.command),
            "{check:?}"
        ),
        Ok(_) => {}
        Err(message) => assert_eq!(message.lines().count(), 1, "{message}"),
    }
}

fn promises_what_stands_there(text: &str) {
    let promise = final_promise(text);
    assert!(promise.is_none_or(|promise| text.contains(promise) && promise.trim() == promise));
    assert_eq!(
        read_claim(text) == Some(Claim::Done),
        promise == Some("DONE")
    );
    let is_blocked = matches!(read_claim(text), Some(Claim::Blocked { .. }));
    assert!(!is_blocked || promise.is_some_and(|promise| promise.starts_with("BLOCKED")));
    let review = review::read_review(text, Timestamp::from_millis(0));
    assert_eq!(
        review.verdict == ReviewVerdict::Verified,
        promise == Some("VERIFIED")
    );
    assert!(review.verdict != ReviewVerdict::Verified || review.objections.is_empty());
    assert!(review.objections.chars().count() <= 1_200);
}

fn is_made_harmless(text: &str) {
    let sanitize = omo_core::text::sanitize(text, 100);
    assert!(sanitize.chars().count() <= 101, "{sanitize}");
    assert!(
        !sanitize.contains(|char: char| char.is_control() || matches!(char, '<' | '>')),
        "{sanitize:?}"
    );
    assert!(!omo_core::text::inline_code(text, 100).contains('`'));
}
