//! What a person types, and what a model and a reviewer say last.

use omo_core::arguments::{self, UlwOptions};
use omo_core::gate::MAX_GATES;
use omo_core::gate_command::{self, GateCommand};
use omo_core::keyword::{Keywords, Reading, is_from_a_person, read};
use omo_core::limits::Limits;
use omo_core::promise::{Claim, claim, final_promise};
use omo_core::prompt::{Intent, PromptDecision, PromptEvent, PromptFacts, decide, intent};
use omo_core::review::{self, ReviewVerdict};
use omo_core::session::{Activation, PauseReason, Session, Trigger};
use omo_core::timestamp::Timestamp;
use omo_core::words::{self, checks};

use crate::own_words;

/// One input in so many is put into everything that omo says.
const SAID_BACK: usize = 16;
/// So many characters of it.
const SAID_CHARS: usize = 400;

/// Nothing is read that is not there, quoting takes all of it away, what is no person's turns
/// nothing on, every option stays in its range, and no text makes omo say what omo acts upon.
pub fn check(data: &[u8]) {
    let text = &*String::from_utf8_lossy(data);
    is_read_for_what_stands_there(text);
    says_nothing_when_quoted(text);
    is_decided_about(text);
    has_arguments_in_their_range(text);
    promises_what_stands_there(text);
    is_made_harmless(text);
    // All that omo says is much text, which would leave little time for all else.
    if data.len().is_multiple_of(SAID_BACK) {
        own_words::set_nothing_off(&text.chars().take(SAID_CHARS).collect::<String>());
    }
}

fn is_read_for_what_stands_there(text: &str) {
    let lower = text.to_ascii_lowercase();
    let names_it = lower.contains("ulw") || lower.contains("ultrawork");
    let reading = read(text, &Keywords::default());
    assert!(matches!(reading, Reading::Nothing) || is_from_a_person(text), "{reading:?}");
    match reading {
        Reading::Nothing => {}
        Reading::Activate | Reading::Off { .. } => assert!(names_it, "{reading:?}"),
        Reading::Command { name, arguments } => {
            let typed = text.split_once(arguments).filter(|_| text.ends_with(arguments));
            assert!(typed.is_some_and(|_| name == "ulw" || text.contains(name)), "{reading:?}");
        }
    }
    let none = Keywords::new(Vec::new());
    let without = none.as_ref().map(|none| read(text, none));
    assert!(matches!(without, Ok(Reading::Nothing | Reading::Command { .. })), "{without:?} without a keyword");
}

fn says_nothing_when_quoted(text: &str) {
    let quoted = text.split('\n').map(|line| format!("> {line}")).collect::<Vec<_>>().join("\n");
    assert_eq!(read(&quoted, &Keywords::default()), Reading::Nothing, "quoted");
    assert_eq!(final_promise(&quoted), None, "quoted");
    for foreign in ["<task-notification>", "Stop hook feedback:\n", "<command-name>", "[Request interrupted by user] "]
    {
        let foreign = format!("{foreign}{text}");
        assert!(!is_from_a_person(&foreign) && read(&foreign, &Keywords::default()) == Reading::Nothing, "{foreign}");
    }
}

fn is_decided_about(text: &str) {
    let event = PromptEvent { prompt: text, prompt_id: Some("new"), ..PromptEvent::default() };
    let planned = PromptEvent { plan_mode: true, ..event };
    let elsewhere = PromptEvent { from_elsewhere: true, ..event };
    let asked = intent(&event, &Keywords::default(), options);
    let is_a_persons = is_from_a_person(text);
    assert_eq!(matches!(asked, Intent::NotAPerson), !is_a_persons);
    for session in [None, Some(armed(false)), Some(armed(true))] {
        let facts = PromptFacts { session: session.as_ref(), ..PromptFacts::default() };
        let by_nobody = if session.is_some() { PromptDecision::Seen } else { PromptDecision::Silent };
        assert_eq!(decide(intent(&elsewhere, &Keywords::default(), options), &elsewhere, &facts), by_nobody);
        let in_plan_mode = decide(asked.clone(), &planned, &facts);
        assert!(!matches!(in_plan_mode, PromptDecision::Activate(..)), "a run was started in plan mode");
        let decision = decide(asked.clone(), &event, &facts);
        assert!(is_a_persons || decision == by_nobody, "{decision:?} and no person wrote it");
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
        session.ulw.paused.iter_mut().for_each(|pause| pause.told = true);
    }
    session
}

fn options() -> UlwOptions {
    UlwOptions { limits: Limits::default(), gates: Vec::new(), review: true }
}

fn is_within_bounds(activation: &Activation) {
    assert_eq!(activation.limits, activation.limits.clamped());
    assert!(activation.gates.len() <= MAX_GATES && activation.gates.iter().all(|gate| gate.check().is_ok()));
    let is_default = activation.limits == Limits::default() && activation.gates.is_empty() && activation.review_wanted;
    assert!(activation.trigger == Trigger::Command || is_default, "options without the command: {activation:?}");
}

fn has_arguments_in_their_range(text: &str) {
    match arguments::parse(text, options()) {
        Ok(read) => {
            let limits = read.options.limits;
            assert_eq!(limits, limits.clamped());
            assert!(read.options.gates.len() <= MAX_GATES);
            assert!(read.options.gates.iter().all(|gate| gate.check().is_ok()));
            assert!(read.task.is_none_or(|task| text.contains(task) && !task.trim().is_empty()));
        }
        Err(refusal) => assert_eq!(refusal.message().lines().count(), 1, "{refusal:?}"),
    }
    match gate_command::parse(text) {
        Ok(GateCommand::Add(gate)) => assert!(gate.check().is_ok() && text.contains(&gate.run), "{gate:?}"),
        Ok(_) => {}
        Err(message) => assert_eq!(message.lines().count(), 1, "{message}"),
    }
}

fn promises_what_stands_there(text: &str) {
    let promise = final_promise(text);
    assert!(promise.is_none_or(|promise| text.contains(promise) && promise.trim() == promise));
    assert_eq!(claim(text) == Some(Claim::Done), promise == Some("DONE"));
    let is_blocked = matches!(claim(text), Some(Claim::Blocked { .. }));
    assert!(!is_blocked || promise.is_some_and(|promise| promise.starts_with("BLOCKED")));
    let review = review::read(text, Timestamp::from_millis(0));
    assert_eq!(review.verdict == ReviewVerdict::Verified, promise == Some("VERIFIED"));
    assert!(review.verdict != ReviewVerdict::Verified || review.objections.is_empty());
    assert!(review.objections.chars().count() <= 1_200);
}

fn is_made_harmless(text: &str) {
    let sanitize = words::sanitize(text, 100);
    assert!(sanitize.chars().count() <= 101, "{sanitize}");
    assert!(!sanitize.contains(|char: char| char.is_control() || matches!(char, '<' | '>')), "{sanitize:?}");
    assert!(!checks::code(text, 100).contains('`'));
}
