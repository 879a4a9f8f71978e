//! A lab with the plugin, the scripted model and the client, and questions about what came of it.

use std::time::Duration;

use omo_testkit::model::RequestKind;
use omo_testkit::{Client, Lab, LabBuilder, MockModel, ModelScript, PrintRun, Terminal};
pub(crate) use omo_tests::scene::plugin;
use serde_json::Value;

/// How long anything may take until a person, or a test, gives up.
pub(crate) const LIMIT: Duration = Duration::from_mins(1);
/// How a model claims.
pub(crate) const CLAIM: &str = "All of it is done and checked.\n\n<promise>DONE</promise>";

/// Everything that a scenario needs.
pub(crate) struct ClientFixture {
    /// The scripted model.
    pub model: MockModel,
    /// Home, project, state.
    pub lab: Lab,
    /// The real client.
    pub client: Client,
}

/// The client that `cargo xtask test` names.
pub(crate) fn client() -> Client {
    Client::find()
        .unwrap_or_else(|error| panic!("no client to test with: {error}; use `cargo xtask test`"))
}

/// Sets the fixture.
pub(crate) fn client_lab(script: ModelScript) -> ClientFixture {
    client_lab_with(script, |lab| lab)
}

/// As [`fixture`], with more said about the lab.
pub(crate) fn client_lab_with(
    script: ModelScript,
    more: impl FnOnce(LabBuilder) -> LabBuilder,
) -> ClientFixture {
    let client = client();
    let model = MockModel::start(script).expect("start the scripted model");
    let lab = more(Lab::builder().model(&model))
        .plugin(plugin())
        .build()
        .expect("set up a lab");
    // What a claim is worth has tests of its own.
    lab.configure("[verify]\nreview = false\n")
        .expect("configure");
    ClientFixture { model, lab, client }
}

impl ClientFixture {
    /// One prompt with `claude -p`.
    pub(crate) fn print(&self, prompt: &str, arguments: &[&str]) -> PrintRun {
        let run = self
            .client
            .print(&self.lab, prompt, arguments)
            .expect("run the client");
        assert!(run.status.success(), "the client failed: {run:?}");
        run
    }

    /// One prompt with `claude -p`, whose answer does not matter.
    pub(crate) fn play(&self, prompt: &str) {
        let _ = self.print(prompt, &[]);
    }

    /// A terminal with the client in it, ready for a person.
    pub(crate) fn terminal(&self) -> Terminal {
        let terminal = Terminal::start(&self.lab, &self.client, &[]).expect("start a terminal");
        terminal.ready().expect("the client is ready");
        terminal
    }

    /// The names of the pages of ended runs.
    pub(crate) fn pages(&self) -> Vec<String> {
        let folder = std::fs::read_dir(self.lab.home().join(".local/state/omo/reports/project"));
        folder
            .into_iter()
            .flatten()
            .flatten()
            .map(|page| page.file_name().to_string_lossy().into_owned())
            .collect()
    }

    /// How many requests the model got in the session's own conversation.
    pub(crate) fn requests(&self) -> usize {
        self.model.requests_of(RequestKind::Main).len()
    }

    /// How often a text stood in the messages of one request, from 0.
    pub(crate) fn count(&self, request: usize, text: &str) -> usize {
        let requests = self.model.requests_of(RequestKind::Main);
        requests.get(request).map_or_else(
            || panic!("only {} requests", requests.len()),
            |it| it.count_of(text),
        )
    }

    /// Waits for so many requests.
    pub(crate) fn wait_for_requests(&self, count: usize) {
        self.model
            .wait_for_requests(RequestKind::Main, count)
            .expect("the model is asked");
    }

    /// A field of the only session in the state, such as `/ulw/stopBlocks`.
    pub(crate) fn state(&self, pointer: &str) -> Value {
        let sessions = self.sessions();
        assert_eq!(sessions.len(), 1, "{sessions:?}");
        sessions[0]
            .1
            .pointer(pointer)
            .cloned()
            .unwrap_or(Value::Null)
    }

    /// Every session in the state, with its id.
    pub(crate) fn sessions(&self) -> Vec<(String, Value)> {
        let state = self.lab.state().unwrap_or(Value::Null);
        let sessions = state
            .get("sessions")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default();
        sessions.into_iter().collect()
    }

    /// Every decision about a Stop, as `row: decision`.
    pub(crate) fn stops(&self) -> Vec<String> {
        self.lab.stop_decisions().expect("read the decisions")
    }

    /// Waits until the state says something.
    pub(crate) fn wait_for_state(&self, what: &str, mut holds: impl FnMut(&Value) -> bool) {
        let state = || self.lab.state().filter(|state| holds(state)).map(|_| ());
        omo_testkit::wait_until(what, state).expect("the state");
    }
}
