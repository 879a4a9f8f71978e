//! The scripted model: the Messages API on loopback, a script of answers, and every request kept.

mod request;
mod script;
mod turn;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use crate::wait::HANG;
use anyhow::Result;
use omo_scripted_model::{ModelReply, ModelServer, ServerEnd};

pub use request::{RecordedRequest, RequestKind};
pub use script::ModelScript;
pub use turn::ModelTurn;
use turn::TurnKind;

/// Longer than any test; a turn that hangs ends when the model closes.
const FOREVER: Duration = Duration::from_secs(3600);

/// A computed turn may give a computed turn; a longer chain is a mistake of the test.
const MOST_COMPUTED: usize = 4;

/// A running scripted model. It ends when it is dropped.
pub struct MockModel {
    shared: Arc<Shared>,
    server: ModelServer,
}

/// Shared state of the threads of one scripted model.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    script: ModelScript,
    requests: Vec<RecordedRequest>,
}

impl MockModel {
    /// Starts a model on a free port of 127.0.0.1.
    pub fn start(script: ModelScript) -> Result<Self> {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                script,
                requests: Vec::new(),
            }),
            changed: Condvar::new(),
        });
        let answering = Arc::clone(&shared);
        let server = ModelServer::start(move |request, end| {
            let wants_message = request.wants_message;
            let request = RecordedRequest::new(&request.path, request.agent, request.body);
            let turn = answering.record(request.clone());
            if wants_message {
                reply(turn, &request, end)
            } else {
                ModelReply::Silence
            }
        });
        Ok(Self {
            shared,
            server: server.map_err(anyhow::Error::msg)?,
        })
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        self.server.url()
    }

    /// Adds a turn of the main thread while the session runs.
    pub fn push(&self, turn: ModelTurn) {
        self.shared.lock().script.push(turn);
    }

    /// Every request so far.
    pub fn requests(&self) -> Vec<RecordedRequest> {
        self.shared.lock().requests.clone()
    }

    /// The requests of one kind so far.
    pub fn requests_of(&self, kind: RequestKind) -> Vec<RecordedRequest> {
        let mut requests = self.requests();
        requests.retain(|request| request.kind == kind);
        requests
    }

    /// Number of requests of the main thread and of subagents that the script did not foresee. A
    /// test whose script was long enough sees 0.
    pub fn unscripted(&self) -> usize {
        let foreseeable = |request: &&RecordedRequest| {
            matches!(request.kind, RequestKind::Main | RequestKind::Agent)
        };
        let state = self.shared.lock();
        let requests = state.requests.iter().filter(foreseeable);
        requests.filter(|request| !request.scripted).count()
    }

    /// Waits until at least `count` requests of `kind` have come.
    pub fn wait_for_requests(&self, kind: RequestKind, count: usize) -> Result<()> {
        self.wait_for(&format!("{count} requests of kind {kind:?}"), |all| {
            all.iter().filter(|request| request.kind == kind).count() >= count
        })
    }

    /// Waits until `holds` says yes to the requests so far.
    pub fn wait_for(&self, what: &str, holds: impl Fn(&[RecordedRequest]) -> bool) -> Result<()> {
        let state = self.shared.lock();
        let (state, waited) = self
            .shared
            .changed
            .wait_timeout_while(state, HANG, |state| !holds(&state.requests))
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let kinds: Vec<_> = state.requests.iter().map(|request| request.kind).collect();
            anyhow::bail!("{what} did not come within {HANG:?}; there were {kinds:?}");
        }
        Ok(())
    }
}

impl fmt::Debug for MockModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MockModel({})", self.url())
    }
}

/// Answer of a turn, after its delay.
fn reply(mut turn: ModelTurn, request: &RecordedRequest, end: &ServerEnd) -> ModelReply {
    for _ in 0..=MOST_COMPUTED {
        if !turn.delay.is_zero() && !end.wait(turn.delay) {
            return ModelReply::Silence;
        }
        turn = match turn.kind {
            TurnKind::Message => return ModelReply::Message(turn.message),
            TurnKind::Failure(error) => return error,
            TurnKind::Hang => {
                end.wait(FOREVER);
                return ModelReply::Silence;
            }
            TurnKind::Computed(answer) => answer(request),
        };
    }
    ModelReply::error(500, "api_error", "the script computes turns without end")
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn record(&self, mut request: RecordedRequest) -> ModelTurn {
        let mut state = self.lock();
        let picked = state.script.pick(&request);
        request.scripted = picked.scripted;
        state.requests.push(request);
        self.changed.notify_all();
        picked.turn
    }
}
