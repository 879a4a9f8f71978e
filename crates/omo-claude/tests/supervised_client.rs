//! The real client under a supervisor, against a scripted model: what its command line and its
//! environment do, and how its ends are reported. `cargo xtask test` installs it.
#![expect(clippy::unwrap_used, reason = "a test's helpers fail as a test does")]

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

use omo_claude::client_end::{ClientEnd, SessionOutput, classify_end};
use omo_claude::supervisor::minder::{self, MinderSpec};
use omo_claude::supervisor::process_state::{ProcessState, find_process};
use omo_claude::supervisor::{Supervisor, SupervisorEvent};
use omo_claude::worker::{WorkerPermissions, WorkerSpec};
use omo_core::timestamp::Timestamp;
use omo_testkit::main_tests::{self, ignored};
use omo_testkit::model::RequestKind;
use omo_testkit::{Client, Lab, MockModel, ModelScript, ModelTurn};
use serde_json::json;

/// Longer than a session here takes, however busy the machine is.
const LIMIT: Duration = Duration::from_secs(100);

fn main() -> ExitCode {
    minder::run_if_asked();
    let tests = if cfg!(unix) {
        vec![
            ignored(
                "needs the real client: cargo xtask test",
                "it_works_where_it_stands_and_does_what_it_may",
                it_works_where_it_stands_and_does_what_it_may,
            ),
            ignored(
                "needs the real client: cargo xtask test",
                "everything_may_be_done_where_that_was_asked_for",
                everything_may_be_done_where_that_was_asked_for,
            ),
            ignored(
                "needs the real client: cargo xtask test",
                "turns_budget_and_errors_of_the_api_are_distinguished",
                turns_budget_and_errors_of_the_api_are_distinguished,
            ),
            ignored(
                "needs the real client: cargo xtask test",
                "one_that_hangs_is_ended_and_goes_on_where_it_was",
                one_that_hangs_is_ended_and_goes_on_where_it_was,
            ),
        ]
    } else {
        Vec::new()
    };
    main_tests::run_with([], tests)
}

/// A project, the model at the other end, and the client.
struct ClientFixture {
    model: MockModel,
    lab: Lab,
    client: Client,
}

impl ClientFixture {
    fn new(script: ModelScript) -> Self {
        let client = Client::find().unwrap();
        let model = MockModel::start(script).unwrap();
        // As if a session of the client had started all of this.
        let outer = [
            ("CLAUDE_CODE_SESSION_ID", "outer"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_CHILD_SESSION", "1"),
        ];
        let lab = Lab::builder()
            .model(&model)
            .env("OMO_RUN", "outer")
            .env("CLAUDE_CODE_MAX_RETRIES", "1");
        let lab = outer
            .into_iter()
            .fold(lab, |lab, (name, value)| lab.env(name, value))
            .build()
            .unwrap();
        Self { model, lab, client }
    }

    fn order(&self) -> WorkerSpec {
        WorkerSpec {
            run: "r1".to_owned(),
            worker: "2".to_owned(),
            worktree: self.lab.project().to_owned(),
            temp_folder: self.lab.root().to_owned(),
            port: Some(4_002),
            program_folder: self.lab.root().to_owned(),
            settings: None,
            max_turns: 20,
            max_budget_micros: None,
            permissions: WorkerPermissions::Listed(vec!["Bash(env:*)".to_owned()]),
            model: None,
            resume: None,
        }
    }

    fn file(&self, name: &str) -> PathBuf {
        self.lab.root().join(name)
    }

    fn spec(&self, order: &WorkerSpec) -> MinderSpec {
        fs::write(self.file("prompt"), "-- work on group 2\n").unwrap();
        let pair =
            |(name, value): (&String, &String)| (OsString::from(name), OsString::from(value));
        MinderSpec {
            program: self.client.program().to_owned(),
            arguments: order.arguments(),
            folder: order.worktree.clone(),
            variables: order.environment(self.lab.environment().iter().map(pair).collect()),
            prompt: self.file("prompt"),
            printed: self.file("printed.jsonl"),
            complaints: self.file("complaints.log"),
            timeout_millis: 90_000,
            is_interrupted_first: true,
        }
    }

    fn run(&self, order: &WorkerSpec) -> (ClientEnd, SessionOutput) {
        let mut supervisor = Supervisor::new(1);
        supervisor.add_session("2", self.spec(order));
        end_of(&mut supervisor)
    }
}

fn end_of(supervisor: &mut Supervisor) -> (ClientEnd, SessionOutput) {
    loop {
        if let SupervisorEvent::Ended { process, said, .. } = supervisor.next_event(LIMIT).unwrap()
        {
            let now = Timestamp::parse("2026-11-22T00:00:00Z").unwrap();
            return (classify_end(&process, &said, now), *said);
        }
    }
}

fn it_works_where_it_stands_and_does_what_it_may() {
    let write = ModelTurn::call("Write", json!({"file_path": "new.txt", "content": "new\n"}));
    let script = ModelScript::new()
        .turn(write)
        .bash("env")
        .bash("sh -c 'touch forbidden'")
        .say("Done.");
    let fixture = ClientFixture::new(script);
    let (end, said) = fixture.run(&fixture.order());
    assert_eq!(end, ClientEnd::Ended, "{said:?}");
    let requests = fixture.model.requests_of(RequestKind::Main);
    assert!(
        requests
            .first()
            .unwrap()
            .last_user_text()
            .contains("-- work on group 2")
    );
    let seen = requests.get(2).unwrap().tool_results_text();
    let project = fixture.lab.project();
    for expected in [
        "OMO_RUN=r1",
        "OMO_WORKER=2",
        "PORT=4002",
        &format!("OMO_ROOT={}", project.display()),
    ] {
        assert!(
            seen.lines().any(|line| line == expected),
            "{expected} is not in {seen}"
        );
    }
    assert!(!seen.contains("outer"), "{seen}");
    assert_eq!(
        fs::read_to_string(project.join("new.txt")).unwrap(),
        "new\n"
    );
    assert!(!project.join("forbidden").exists());
}

fn everything_may_be_done_where_that_was_asked_for() {
    let fixture = ClientFixture::new(
        ModelScript::new()
            .bash("sh -c 'touch allowed'")
            .say("Done."),
    );
    let (end, _) = fixture.run(&WorkerSpec {
        permissions: WorkerPermissions::All,
        ..fixture.order()
    });
    assert_eq!(end, ClientEnd::Ended);
    assert!(fixture.lab.project().join("allowed").exists());
}

fn turns_budget_and_errors_of_the_api_are_distinguished() {
    let dear =
        || ModelTurn::bash("env").usage(json!({"input_tokens": 200_000, "output_tokens": 50_000}));
    let script = || {
        ModelScript::new()
            .turn(dear())
            .turn(dear())
            .turn(dear())
            .say("Done.")
    };
    let refused =
        |status, kind: &str| ModelScript::new().default(ModelTurn::error(status, kind, "no"));
    let is_api_error = |end: &ClientEnd, wanted| matches!(end, ClientEnd::ApiError { status, .. } if *status == wanted);
    let fixture = ClientFixture::new(script());
    let (end, said) = fixture.run(&WorkerSpec {
        max_turns: 2,
        ..fixture.order()
    });
    assert_eq!(
        (end, said.session_id.is_some()),
        (ClientEnd::TurnsSpent, true)
    );
    let fixture = ClientFixture::new(script());
    let (end, said) = fixture.run(&WorkerSpec {
        max_budget_micros: Some(500_000),
        ..fixture.order()
    });
    assert_eq!(end, ClientEnd::BudgetSpent);
    assert!(said.result.unwrap().total_cost_usd.unwrap() >= 0.5);
    let fixture = ClientFixture::new(refused(429, "rate_limit_error"));
    assert_eq!(
        fixture.run(&fixture.order()).0,
        ClientEnd::UsageLimit { until: None }
    );
    for (status, kind) in [(500, "api_error"), (401, "authentication_error")] {
        let fixture = ClientFixture::new(refused(status, kind));
        let (end, _) = fixture.run(&fixture.order());
        assert!(is_api_error(&end, Some(status)), "{status}: {end:?}");
    }
    let fixture = ClientFixture::new(ModelScript::new());
    let (end, _) = fixture.run(&WorkerSpec {
        resume: Some("missing-session".to_owned()),
        ..fixture.order()
    });
    assert!(
        matches!(&end, ClientEnd::NeverBegan(why) if why.contains("missing-session")),
        "{end:?}"
    );
}

fn one_that_hangs_is_ended_and_goes_on_where_it_was() {
    let fixture = ClientFixture::new(
        ModelScript::new()
            .bash("env")
            .turn(ModelTurn::hang())
            .say("Done."),
    );
    let mut supervisor = Supervisor::new(1);
    supervisor.add_session("2", fixture.spec(&fixture.order()));
    let event = supervisor.next_event(LIMIT).unwrap();
    let SupervisorEvent::Started { mark, .. } = event else {
        unreachable!("{event:?}")
    };
    fixture
        .model
        .wait_for_requests(RequestKind::Main, 2)
        .unwrap();
    supervisor.end_session("2");
    let (end, said) = end_of(&mut supervisor);
    assert_eq!(
        (end, find_process(&mark)),
        (ClientEnd::Stopped, ProcessState::Ended)
    );
    let session = said.session_id.clone();
    assert!(session.is_some(), "{said:?}");
    let (end, again) = fixture.run(&WorkerSpec {
        resume: session.clone(),
        ..fixture.order()
    });
    assert_eq!((end, again.session_id), (ClientEnd::Ended, session));
    assert!(
        fixture
            .model
            .requests_of(RequestKind::Main)
            .last()
            .unwrap()
            .all_text()
            .matches("work on group 2")
            .count()
            >= 2
    );
}
