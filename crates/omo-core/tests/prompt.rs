//! What becomes of a prompt, as a table: turned on, turned off, asked about, or left alone.
//!
//! Which texts carry the keyword is the detector's affair; the prompts here are plain ones.

use omo_core::check::counterfactual::ProveMode;
use omo_core::keyword::Keywords;
use omo_core::limits::RunLimits;
use omo_core::prompt::ulw_arguments::UlwOptions;
use omo_core::prompt::{
    PromptDecision, PromptEvent, PromptFacts, PromptIntent, approval_code, decide, read_intent,
};
use omo_core::request_source::PromptOrigin;
use omo_core::session::plan_run::PlanRun;
use omo_core::session::rest::RestReason;
use omo_core::session::{
    HookEvent, Interruption, PauseReason, Session, UlwActivation, UlwPause, UlwTrigger, VerdictKind,
};
use omo_core::timestamp::Timestamp;
use proptest::prelude::*;

const START: i64 = 1_780_000_000_000;
const TASK: &str = "ulw fix the tests";
const ID: &str = "prompt-1";

fn at(millis: i64) -> Timestamp {
    Timestamp::from_millis(millis)
}

/// A session whose run was turned on by [`TASK`] under [`ID`], seen by the prompt's hook.
fn armed() -> Session {
    let mut session = Session::default();
    let activation = UlwActivation {
        trigger: UlwTrigger::Keyword,
        task: Some(TASK.to_owned()),
        prompt_id: Some(ID.to_owned()),
        limits: RunLimits::default(),
        checks: Vec::new(),
        review_wanted: true,
        prove: ProveMode::default(),
        base: None,
        begins_anew: false,
    };
    session.activate(activation, at(START));
    session
        .last_seen
        .note(HookEvent::UserPromptSubmit, at(START));
    session
}

fn with(change: impl FnOnce(&mut Session)) -> Session {
    let mut session = armed();
    change(&mut session);
    session
}

fn ended() -> Session {
    with(|session| {
        session.end_run(
            VerdictKind::Released,
            "claimed, not verified".to_owned(),
            at(START),
        );
    })
}

fn paused(reason: PauseReason, reported: bool) -> Session {
    with(|session| {
        session.ulw.paused = Some(UlwPause {
            reason,
            at: None,
            is_told: reported,
        });
    })
}

/// A prompt with everything that is known beside it.
#[derive(Clone)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the facts are what `PromptFacts` makes them"
)]
struct Given {
    prompt: String,
    id: Option<&'static str>,
    origin: PromptOrigin,
    plan_mode: bool,
    session: Option<Session>,
    interrupted: Option<Interruption>,
    silent: bool,
    in_context: bool,
    pressure: bool,
    keywords: Keywords,
}

impl Given {
    fn of(prompt: &str, session: Option<Session>) -> Self {
        Self {
            prompt: prompt.to_owned(),
            id: Some("prompt-2"),
            origin: PromptOrigin::Person,
            plan_mode: false,
            session,
            interrupted: None,
            silent: false,
            in_context: false,
            pressure: false,
            keywords: Keywords::default(),
        }
    }

    fn and(mut self, change: impl FnOnce(&mut Self)) -> Self {
        change(&mut self);
        self
    }

    fn event(&self) -> PromptEvent<'_> {
        PromptEvent {
            prompt: &self.prompt,
            prompt_id: self.id,
            origin: self.origin,
            plan_mode: self.plan_mode,
            has_entry: self.session.is_some(),
            has_run: self.session.as_ref().is_some_and(Session::is_armed),
        }
    }

    fn facts(&self) -> PromptFacts<'_> {
        PromptFacts {
            session: self.session.as_ref(),
            interrupted: self.interrupted,
            model_is_silent: self.silent,
            contract_in_context: self.in_context,
            context_pressure: self.pressure,
        }
    }

    fn intent(&self) -> PromptIntent<'_> {
        let options = |_| UlwOptions {
            limits: RunLimits::default(),
            checks: Vec::new(),
            review: true,
            prove: ProveMode::default(),
            begins_anew: false,
        };
        read_intent(&self.event(), &self.keywords, options)
    }

    fn decide(&self) -> PromptDecision {
        decide(self.intent(), &self.event(), &self.facts())
    }
}

fn words(decision: &PromptDecision) -> String {
    match decision {
        PromptDecision::Silent => "silent".to_owned(),
        PromptDecision::FreeTurn { .. } => "free turn".to_owned(),
        PromptDecision::NoteHook => "seen".to_owned(),
        PromptDecision::TellPaused(reason) => format!("tell paused {reason:?}"),
        PromptDecision::Activate(activation, form) => {
            format!("activate {:?} {form:?}", activation.trigger)
        }
        PromptDecision::PlanNote => "plan note".to_owned(),
        PromptDecision::Stop { reason, whole } => {
            format!("stop whole={whole} {}", reason.as_deref().unwrap_or("-"))
        }
        PromptDecision::Check(_) => "check".to_owned(),
        PromptDecision::Help(text) => {
            format!("help {}", text.split(' ').nth(1).unwrap_or_default())
        }
        PromptDecision::Run { command, arguments } => format!("run {} {arguments}", command.name()),
        PromptDecision::Status => "status".to_owned(),
        PromptDecision::Statusline(_) => "statusline".to_owned(),
        PromptDecision::Why => "why".to_owned(),
        PromptDecision::Refused(_) => "refused".to_owned(),
    }
}

fn plain(session: Session) -> Given {
    Given::of("the parser is in src", Some(session))
}

fn turning_on() -> Vec<(&'static str, Given, &'static str)> {
    let ulw = |session| Given::of(TASK, session);
    let cli = || with(|session| session.ulw.trigger = Some(UlwTrigger::Cli));
    vec![
        ("the keyword", ulw(None), "activate Keyword Full"),
        (
            "the command",
            Given::of("/omo:ulw fix the tests", None),
            "activate Command Full",
        ),
        (
            "the command without a task",
            Given::of("/omo:ulw", None),
            "help <task>`",
        ),
        (
            "no id",
            ulw(None).and(|g| g.id = None),
            "activate Keyword Full",
        ),
        (
            "an idle session",
            ulw(Some(Session::default())),
            "activate Keyword Full",
        ),
        ("after an end", ulw(Some(ended())), "activate Keyword Full"),
        (
            "after the way out",
            ulw(Some(with(|s| s.stop_continuation(None, true, at(START))))),
            "activate Keyword Full",
        ),
        (
            "again, in a run",
            ulw(Some(armed())),
            "activate Keyword Short",
        ),
        (
            "again by command",
            Given::of("/omo:ulw more", Some(armed())),
            "activate Command Short",
        ),
        (
            "in a run turned on from a terminal",
            ulw(Some(cli())),
            "activate Keyword Full",
        ),
        (
            "the conversation holds the contract",
            ulw(Some(ended())).and(|g| g.in_context = true),
            "activate Keyword Short",
        ),
        (
            "the context is nearly full",
            ulw(None).and(|g| g.pressure = true),
            "activate Keyword Short",
        ),
        (
            "paused",
            ulw(Some(paused(PauseReason::Interrupted, true))),
            "activate Keyword Short",
        ),
        (
            "right after Esc",
            ulw(Some(armed())).and(|g| g.interrupted = Some(Interruption::AtSomeTime)),
            "activate Keyword Short",
        ),
        (
            "the same prompt, handed on twice",
            ulw(Some(armed())).and(|g| g.id = Some(ID)),
            "silent",
        ),
        (
            "the same id, typed during the turn",
            Given::of("ulw and the docs", Some(armed())).and(|g| g.id = Some(ID)),
            "activate Keyword Short",
        ),
        (
            "the same task under another id",
            ulw(Some(armed())),
            "activate Keyword Short",
        ),
        (
            "the same prompt without ids",
            ulw(Some(with(|s| s.ulw.prompt_id = None))).and(|g| g.id = None),
            "activate Keyword Short",
        ),
        (
            "the same prompt after an end",
            ulw(Some(ended())).and(|g| g.id = Some(ID)),
            "activate Keyword Full",
        ),
        (
            "plan mode",
            ulw(None).and(|g| g.plan_mode = true),
            "plan note",
        ),
        (
            "the command in plan mode",
            Given::of("/omo:ulw x", None).and(|g| g.plan_mode = true),
            "plan note",
        ),
        (
            "plan mode in a run",
            ulw(Some(armed())).and(|g| g.plan_mode = true),
            "plan note",
        ),
        (
            "a bad option",
            Given::of("/omo:ulw --max-blocks abc x", None),
            "refused",
        ),
        (
            "a bad option in a run",
            Given::of("/omo:ulw --max-minutes 0 x", Some(armed())),
            "refused",
        ),
        ("help", Given::of("/omo:ulw --help", None), "refused"),
    ]
}

fn from_client(prompt: &str) -> Given {
    Given::of(prompt, Some(armed())).and(|g| g.origin = PromptOrigin::Client)
}

fn turning_off() -> Vec<(&'static str, Given, &'static str)> {
    vec![
        (
            "the way out",
            Given::of("/omo:stop-continuation", Some(armed())),
            "stop whole=true -",
        ),
        (
            "the way out, with a reason",
            Given::of("/omo:stop-continuation  too slow ", Some(armed())),
            "stop whole=true too slow",
        ),
        (
            "the way out without a run",
            Given::of("/omo:stop-continuation", None),
            "stop whole=true -",
        ),
        (
            "the way out after an end",
            Given::of("/omo:stop-continuation", Some(ended())),
            "stop whole=true -",
        ),
        (
            "the way out in plan mode",
            Given::of("/omo:stop-continuation", Some(armed())).and(|g| g.plan_mode = true),
            "stop whole=true -",
        ),
        (
            "ulw off",
            Given::of("ulw off", Some(armed())),
            "stop whole=true -",
        ),
        (
            "ulw off without a run",
            Given::of("ulw off", None),
            "stop whole=true -",
        ),
        (
            "ulw off from the client",
            from_client("ulw off"),
            "stop whole=true -",
        ),
        (
            "the way out from the client",
            from_client("/omo:stop-continuation"),
            "stop whole=true -",
        ),
        (
            "by the command",
            Given::of("/omo:ulw off", Some(armed())),
            "stop whole=true -",
        ),
        (
            "by the command's other word",
            Given::of("/omo:ulw  stop ", Some(armed())),
            "stop whole=true -",
        ),
        (
            "while paused",
            Given::of("ulw off", Some(paused(PauseReason::ApiError, false))),
            "stop whole=true -",
        ),
    ]
}

fn left_alone() -> Vec<(&'static str, Given, &'static str)> {
    let notice = "<task-notification>\n<result>ulw fix it</result>\n</task-notification>";
    let esc = |at| move |given: &mut Given| given.interrupted = Some(at);
    vec![
        (
            "nothing asked, no entry",
            Given::of("hello", None),
            "silent",
        ),
        (
            "nothing asked, an idle session",
            plain(Session::default()),
            "silent",
        ),
        ("nothing asked, after an end", plain(ended()), "silent"),
        ("nothing asked, in a run", plain(armed()), "seen"),
        ("an empty prompt", Given::of("", Some(armed())), "seen"),
        (
            "another command of ours",
            Given::of("/omo:nothing-like-it ulw", None),
            "silent",
        ),
        (
            "another command of ours, in a run",
            Given::of("/omo:nothing-like-it", Some(armed())),
            "seen",
        ),
        ("the status", Given::of("/omo:status", None), "status"),
        (
            "the status line",
            Given::of("/omo:statusline", None),
            "statusline",
        ),
        ("the last decision", Given::of("/omo:why", None), "why"),
        (
            "a run is cancelled",
            Given::of("/omo:cancel", None),
            "run cancel ",
        ),
        (
            "a report in a run",
            Given::of("/omo:report r-1 --format json", Some(armed())),
            "run report r-1 --format json",
        ),
        (
            "a task is done again",
            Given::of("/omo:retry 3; $(x)", None),
            "run retry 3; $(x)",
        ),
        (
            "how a task is done again",
            Given::of("/omo:retry --help", None),
            "help /omo:retry",
        ),
        (
            "a line of many words",
            Given::of(&format!("/omo:retry {}", "x".repeat(5_000)), None),
            "refused",
        ),
        (
            "the status in a run in plan mode",
            Given::of("/omo:status", Some(armed())).and(|g| g.plan_mode = true),
            "status",
        ),
        ("the client's own prompt", Given::of(notice, None), "silent"),
        (
            "the client's own prompt, in a run",
            Given::of(notice, Some(armed())),
            "seen",
        ),
        (
            "from an agent",
            Given::of(TASK, None).and(|g| g.origin = PromptOrigin::Agent),
            "silent",
        ),
        (
            "from an agent, in a run",
            Given::of(TASK, Some(armed())).and(|g| g.origin = PromptOrigin::Agent),
            "seen",
        ),
        (
            "the way out from an agent",
            Given::of("/omo:stop-continuation", Some(armed()))
                .and(|g| g.origin = PromptOrigin::Agent),
            "seen",
        ),
        (
            "from the client",
            Given::of(TASK, None).and(|g| g.origin = PromptOrigin::Client),
            "silent",
        ),
        ("from the client, in a run", from_client(TASK), "seen"),
        (
            "a word within a text from the client",
            from_client("ulw off, then fix the tests"),
            "seen",
        ),
        (
            "a question of the client",
            from_client("/omo:status"),
            "status",
        ),
        (
            "after Esc",
            plain(armed()).and(esc(Interruption::At(at(START + 1)))),
            "tell paused Interrupted",
        ),
        (
            "after Esc at an unknown time",
            plain(armed()).and(esc(Interruption::AtSomeTime)),
            "tell paused Interrupted",
        ),
        (
            "Esc was before the run",
            plain(armed()).and(esc(Interruption::At(at(START - 1)))),
            "seen",
        ),
        (
            "Esc without a run",
            plain(ended()).and(esc(Interruption::AtSomeTime)),
            "silent",
        ),
        (
            "the client's own prompt after Esc",
            Given::of(notice, Some(armed())).and(esc(Interruption::AtSomeTime)),
            "seen",
        ),
        (
            "what may answer a question of the plan",
            Given::of(
                "no",
                Some(with(|session| {
                    session.plan_run = Some(PlanRun {
                        waits: Some("q1".to_owned()),
                        ..PlanRun::default()
                    });
                })),
            ),
            "seen",
        ),
        (
            "go on, in other words",
            Given::of("ok, go on", Some(paused(PauseReason::Asked, true))),
            "tell paused Asked",
        ),
        (
            "go on after Esc",
            Given::of("go on", Some(paused(PauseReason::Interrupted, true))),
            "seen",
        ),
        (
            "behind an answered prompt",
            Given::of("ulw statusulw fix it", None),
            "refused",
        ),
        (
            "and the keyword alone",
            Given::of("ulw?ulw", Some(ended())),
            "refused",
        ),
        (
            "what only shows something is shown",
            Given::of("ulw offulw status", None),
            "status",
        ),
        (
            "the command alone with a task",
            Given::of("/omo:ulw", Some(ended())),
            "activate Command Full",
        ),
        (
            "no, to what the model asked",
            Given::of(
                "no",
                Some(with(|session| {
                    session.rest(RestReason::AwaitsAnswer, Vec::new(), at(START));
                })),
            ),
            "seen",
        ),
        (
            "a question of its user",
            Given::of("why is that so?", Some(armed())),
            "free turn",
        ),
        (
            "typed during the first turn, which goes on",
            Given::of("why is that so?", Some(armed())).and(|g| g.id = Some(ID)),
            "seen",
        ),
        (
            "a request in the form of a question",
            Given::of("can you fix that, too?", Some(armed())),
            "seen",
        ),
        (
            "paused and not reported",
            plain(paused(PauseReason::ApiError, false)),
            "tell paused ApiError",
        ),
        (
            "paused and reported",
            plain(paused(PauseReason::Interrupted, true)),
            "seen",
        ),
        (
            "paused, reported, and Esc again",
            plain(paused(PauseReason::Interrupted, true)).and(esc(Interruption::AtSomeTime)),
            "seen",
        ),
        (
            "the client's own prompt does not use up the telling",
            Given::of(notice, Some(paused(PauseReason::ApiError, false))),
            "seen",
        ),
    ]
}

/// docs/adr/0005: a prompt that was taken back before the model spoke leaves no line behind.
fn taken_back() -> Vec<(&'static str, Given, &'static str)> {
    let silent = |session| plain(session).and(|g| g.silent = true);
    let seen = |event| with(move |session| session.last_seen.note(event, at(START + 1)));
    vec![
        ("taken back", silent(armed()), "tell paused Interrupted"),
        ("the model spoke", plain(armed()), "seen"),
        (
            "the same prompt's id",
            silent(armed()).and(|g| g.id = Some(ID)),
            "seen",
        ),
        ("no id", silent(armed()).and(|g| g.id = None), "seen"),
        (
            "the run has no id",
            silent(with(|session| session.ulw.prompt_id = None)),
            "seen",
        ),
        ("a turn ended since", silent(seen(HookEvent::Stop)), "seen"),
        (
            "a turn failed since",
            silent(seen(HookEvent::StopFailure)),
            "seen",
        ),
        (
            "another prompt came since",
            silent(seen(HookEvent::UserPromptSubmit)),
            "seen",
        ),
        (
            "the keyword again",
            Given::of(TASK, Some(armed())).and(|g| g.silent = true),
            "activate Keyword Short",
        ),
    ]
}

#[test]
fn every_prompt_becomes_what_the_table_says() {
    let mut wrong = Vec::new();
    for (name, given, expected) in
        [turning_on(), turning_off(), left_alone(), taken_back()].concat()
    {
        let got = words(&given.decide());
        if got != expected {
            wrong.push(format!("{name}: {expected:?}, got {got:?}"));
        }
    }
    assert_eq!(wrong, Vec::<String>::new());
}

#[test]
fn the_words_that_messages_name_steer_a_run_whatever_turns_one_on() {
    let without_keyword = |prompt: &str, session| {
        let given = Given::of(prompt, session).and(|g| g.keywords = Keywords::new(vec![]).unwrap());
        words(&given.decide())
    };
    for (prompt, expected) in [
        ("ulw off", "stop whole=true -"),
        ("ulw status", "status"),
        ("ulw fix the tests", "seen"),
    ] {
        assert_eq!(without_keyword(prompt, Some(armed())), expected);
    }
    let paused = paused(PauseReason::Asked, true);
    assert_eq!(
        without_keyword("ulw", Some(paused)),
        "activate Keyword Short"
    );
    for nothing in ["ulw", "ulw off", "ulw fix the tests"] {
        assert_eq!(without_keyword(nothing, None), "silent", "{nothing}");
    }
}

#[test]
fn plain_words_that_stop_pause_a_run_and_begin_none() {
    for (prompt, in_a_run, without_one) in [
        ("stop. do not continue.", "tell paused Asked", "silent"),
        ("No.", "tell paused Asked", "silent"),
        ("stop, wrong branch", "free turn", "silent"),
        ("ulw, stop working", "tell paused Asked", "help <task>`"),
        ("ok ulw wait", "tell paused Asked", "help <task>`"),
        ("ulw? stop, no", "tell paused Asked", "silent"),
        ("/omo:ulw stop it", "tell paused Asked", "help <task>`"),
        ("ulw? stop", "tell paused Asked", "silent"),
        ("/omo:status stop", "tell paused Asked", "silent"),
    ] {
        let on = Given::of(prompt, Some(armed())).decide();
        let [over, new] = [Some(ended()), None].map(|session| Given::of(prompt, session).decide());
        let decided = [on, over, new].map(|decision| words(&decision));
        assert_eq!(decided, [in_a_run, without_one, without_one], "{prompt:?}");
    }
}

#[test]
fn a_stop_within_a_longer_prompt_only_concerns_a_run() {
    for (session, expected) in [
        (Some(armed()), "stop whole=false -"),
        (Some(ended()), "silent"),
        (None, "silent"),
    ] {
        let given = Given::of("", session);
        let stop = PromptIntent::Stop {
            reason: None,
            whole: false,
        };
        assert_eq!(
            words(&decide(stop, &given.event(), &given.facts())),
            expected
        );
    }
}

#[test]
fn an_activation_carries_the_prompt_its_id_and_the_bounds() {
    let given = Given::of("/omo:ulw --max-blocks 3 fix `it`; now", None);
    let PromptDecision::Activate(activation, _) = given.decide() else {
        panic!("{:?}", given.decide())
    };
    assert_eq!(activation.task.as_deref(), Some("fix `it`; now"));
    assert_eq!(activation.prompt_id.as_deref(), Some("prompt-2"));
    assert_eq!(
        activation.limits,
        RunLimits {
            max_blocks: 3,
            ..RunLimits::default()
        }
    );
    let given = Given::of(TASK, None);
    let PromptDecision::Activate(activation, _) = given.decide() else {
        panic!("{:?}", given.decide())
    };
    assert_eq!(activation.task.as_deref(), Some(TASK));
    assert_eq!(activation.limits, RunLimits::default());
}

#[test]
fn the_users_own_bounds_hold_where_no_option_says_otherwise() {
    let mut own = RunLimits::default();
    (own.max_blocks, own.cooldown_seconds, own.max_minutes) = (20, 0, 30);
    let event = PromptEvent {
        prompt: "/omo:ulw --max-minutes=5 x",
        ..PromptEvent::default()
    };
    let own_options = |_| UlwOptions {
        limits: own,
        checks: Vec::new(),
        review: false,
        prove: ProveMode::default(),
        begins_anew: false,
    };
    let PromptIntent::Activate { options, .. } =
        read_intent(&event, &Keywords::default(), own_options)
    else {
        panic!()
    };
    assert_eq!(
        (options.limits, options.review),
        (
            RunLimits {
                max_minutes: 5,
                ..own
            },
            false
        )
    );
}

#[test]
fn a_refusal_is_one_line_that_names_the_option() {
    for prompt in ["/omo:ulw --max-blocks abc x", "/omo:ulw --max-blocks"] {
        let PromptDecision::Refused(message) = Given::of(prompt, None).decide() else {
            panic!("{prompt}")
        };
        assert!(
            message.contains("--max-blocks") && message.lines().count() == 1,
            "{message}"
        );
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    /// Text of any kind is decided about, and what no person wrote turns nothing on or off.
    #[test]
    fn any_text_is_decided_about(
        start in prop::sample::select(vec!["", "ulw ", "/omo:ulw ", "/omo:stop-continuation ", "/omo:", "ulw off ", "<b>", "`"]),
        rest in prop_oneof!["\\PC{0,80}", ".{0,80}", "[ulw/o:`<>\n \"'-]{0,60}"],
        is_armed in any::<bool>(),
        plan_mode in any::<bool>(),
    ) {
        let session = is_armed.then(armed);
        let given = Given::of(&format!("{start}{rest}"), session).and(|given| given.plan_mode = plan_mode);
        let decision = given.decide();
        prop_assert!(!plan_mode || !matches!(decision, PromptDecision::Activate(..)), "{:?}", decision);
        let elsewhere = given.and(|given| given.origin = PromptOrigin::Agent);
        let expected = if is_armed { PromptDecision::NoteHook } else { PromptDecision::Silent };
        prop_assert_eq!(elsewhere.decide(), expected);
    }
}

/// What a prompt of this text asks, and whether it is a person's word to the model.
fn read(text: &str) -> (PromptIntent<'_>, bool) {
    let event = PromptEvent {
        prompt: text,
        ..PromptEvent::default()
    };
    let options = |_| UlwOptions {
        limits: RunLimits::default(),
        checks: Vec::new(),
        review: true,
        prove: ProveMode::default(),
        begins_anew: false,
    };
    let intent = read_intent(&event, &Keywords::default(), options);
    let is_word = intent.is_answer_from_person();
    (intent, is_word)
}

#[test]
fn a_command_that_the_model_carries_out_is_known_with_its_arguments() {
    for (text, name, arguments) in [
        (
            "/omo:execute-plan docs/plan.md",
            "execute-plan",
            "docs/plan.md",
        ),
        (
            "/omo:execute-plan  a; touch $(b)\n`c` ",
            "execute-plan",
            " a; touch $(b)\n`c` ",
        ),
        ("/omo:later", "later", ""),
        ("/omo:later --help", "later", "--help"),
        ("/omo:ulw-exec --skip-verify", "ulw-exec", "--skip-verify"),
        (
            "/omo:ulw-plan have `x --help` say more",
            "ulw-plan",
            "have `x --help` say more",
        ),
        ("/omo:ulw-plan ulw", "ulw-plan", "ulw"),
    ] {
        assert_eq!(
            read(text).0,
            PromptIntent::Command { name, arguments },
            "{text}"
        );
    }
    for text in [
        "/execute-plan docs/plan.md",
        "/other:execute-plan x",
        "see /omo:execute-plan x",
        "<task-notification>",
    ] {
        assert!(
            !matches!(read(text).0, PromptIntent::Command { .. }),
            "{text}"
        );
    }
}

#[test]
fn how_a_command_is_typed_is_shown_without_a_model() {
    for name in ["execute-plan", "ulw-plan", "ulw-exec", "execute-local"] {
        for asks in ["--help", "-h", " --help \n"] {
            let prompt = format!("/omo:{name} {asks}");
            let PromptIntent::Help(text) = read(&prompt).0 else {
                panic!("{prompt}")
            };
            assert!(text.starts_with(&format!("usage: /omo:{name} ")), "{text}");
            assert!(
                text.lines().all(|line| line.chars().count() <= 100),
                "{text}"
            );
        }
    }
}

#[test]
fn only_what_a_person_says_to_the_model_is_a_word_that_a_plan_may_have_waited_for() {
    for text in [
        "continue",
        "/omo:execute-plan x",
        "/other:command",
        "ulw go on",
        "stop ulw, then fix the docs",
        "/omo:check run",
    ] {
        assert!(read(text).1, "{text}");
    }
    for text in [
        "/omo:status",
        "/omo:statusline",
        "/omo:cancel",
        "/omo:report",
        "/omo:retry 3",
        "/omo:check list",
        "/omo:check approve 0123456789ab",
        "/omo:stop-continuation",
        "/omo:ulw-exec --help",
        "ulw off",
        "/omo:ulw --max-blocks x",
        "<task-notification>continue</task-notification>",
        "Stop hook feedback:\ncontinue",
    ] {
        assert!(!read(text).1, "{text}");
    }
    let event = PromptEvent {
        prompt: "continue",
        origin: PromptOrigin::Agent,
        ..PromptEvent::default()
    };
    let options = |_| UlwOptions {
        limits: RunLimits::default(),
        checks: Vec::new(),
        review: true,
        prove: ProveMode::default(),
        begins_anew: false,
    };
    assert!(
        !read_intent(&event, &Keywords::default(), options).is_answer_from_person(),
        "from an agent"
    );
}

#[test]
fn a_code_is_read_from_the_command_that_executes_a_plan() {
    for (name, arguments, code) in [
        (
            "execute-plan",
            "docs/plan.md --approve 0123456789ab",
            Some("0123456789ab"),
        ),
        (
            "execute-plan",
            "--approve=0123456789ab docs/plan.md",
            Some("0123456789ab"),
        ),
        (
            "execute-plan",
            "docs/plan.md\n--approve\t0123456789ab",
            Some("0123456789ab"),
        ),
        ("execute-plan", "docs/plan.md --approve", Some("")),
        ("execute-plan", "docs/plan.md --approve=", Some("")),
        ("execute-plan", "docs/plan.md --approved x", None),
        ("execute-plan", "docs/--approve.md", None),
        ("execute-plan", "", None),
        ("ulw-exec", "--approve 0123456789ab", Some("0123456789ab")),
        (
            "execute-local",
            "--fg --approve 0123456789ab plan.md",
            Some("0123456789ab"),
        ),
        ("ulw-plan", "--approve 0123456789ab", None),
        ("other", "docs/plan.md --approve 0123456789ab", None),
    ] {
        assert_eq!(approval_code(name, arguments), code, "{name} {arguments}");
    }
}
