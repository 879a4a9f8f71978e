//! The scripted model: the Messages API on loopback, a script of answers, and every request kept.

mod request;
mod script;
mod serve;
mod turn;
mod wire;

use std::fmt;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::Result;

pub use request::{RecordedRequest, RequestKind};
pub use script::ModelScript;
pub use turn::ModelTurn;

/// A running scripted model. It ends when it is dropped.
pub struct MockModel {
    shared: Arc<Shared>,
    server: Arc<tiny_http::Server>,
    port: u16,
    acceptor: Option<JoinHandle<()>>,
}

/// What the threads of one scripted model share.
#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Notified after each request and at the end.
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    script: ModelScript,
    requests: Vec<RecordedRequest>,
    closed: bool,
}

impl MockModel {
    /// Starts a model on a free port of 127.0.0.1.
    pub fn start(script: ModelScript) -> Result<Self> {
        let server = tiny_http::Server::http("127.0.0.1:0")
            .map_err(|error| anyhow::anyhow!("start the scripted model: {error}"))?;
        let server = Arc::new(server);
        let Some(address) = server.server_addr().to_ip() else {
            anyhow::bail!("the scripted model has no port");
        };
        let shared = Arc::new(Shared {
            state: Mutex::new(State { script, requests: Vec::new(), closed: false }),
            changed: Condvar::new(),
        });
        let acceptor = serve::start(Arc::clone(&server), Arc::clone(&shared));
        Ok(Self { shared, server, port: address.port(), acceptor: Some(acceptor) })
    }

    /// The value for `ANTHROPIC_BASE_URL`.
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
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

    /// How many requests of the main thread and of subagents the script did not foresee. A test
    /// whose script was long enough sees 0.
    pub fn unscripted(&self) -> usize {
        let foreseeable = |request: &&RecordedRequest| matches!(request.kind, RequestKind::Main | RequestKind::Agent);
        let state = self.shared.lock();
        let requests = state.requests.iter().filter(foreseeable);
        requests.filter(|request| !request.scripted).count()
    }

    /// Waits until at least `count` requests of `kind` have come.
    pub fn wait_for_requests(&self, kind: RequestKind, count: usize, limit: Duration) -> Result<()> {
        self.wait_for(&format!("{count} requests of kind {kind:?}"), limit, |all| {
            all.iter().filter(|request| request.kind == kind).count() >= count
        })
    }

    /// Waits until `holds` says yes to the requests so far.
    pub fn wait_for(&self, what: &str, limit: Duration, holds: impl Fn(&[RecordedRequest]) -> bool) -> Result<()> {
        let state = self.shared.lock();
        let (state, waited) = self
            .shared
            .changed
            .wait_timeout_while(state, limit, |state| !holds(&state.requests))
            .unwrap_or_else(PoisonError::into_inner);
        if waited.timed_out() {
            let kinds: Vec<_> = state.requests.iter().map(|request| request.kind).collect();
            anyhow::bail!("{what} did not come within {limit:?}; there were {kinds:?}");
        }
        Ok(())
    }
}

impl fmt::Debug for MockModel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "MockModel({})", self.url())
    }
}

impl Drop for MockModel {
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.changed.notify_all();
        self.server.unblock();
        if let Some(acceptor) = self.acceptor.take() {
            // A thread that failed has nothing more to tell here.
            acceptor.join().ok();
        }
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits for `duration`; false when the model closes meanwhile.
    fn pause(&self, duration: Duration) -> bool {
        let state = self.lock();
        let (state, _) = self
            .changed
            .wait_timeout_while(state, duration, |state| !state.closed)
            .unwrap_or_else(PoisonError::into_inner);
        !state.closed
    }

    /// Keeps a request and takes the answer for it.
    fn record(&self, mut request: RecordedRequest) -> ModelTurn {
        let mut state = self.lock();
        let picked = state.script.pick(&request);
        request.scripted = picked.scripted;
        state.requests.push(request);
        self.changed.notify_all();
        picked.turn
    }
}
