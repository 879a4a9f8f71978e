//! An HTTP server on 127.0.0.1, on a port that the system chooses.
//!
//! The only code in the programs of a user that listens on a port, and only while a session of `omo doctor --live`
//! lasts.

use std::sync::Arc;
use std::thread::{self, JoinHandle};

use tiny_http::{Request, Server};

/// A running server. Drop ends it, after the answers that are under way.
pub struct LoopbackServer {
    server: Arc<Server>,
    thread: Option<JoinHandle<()>>,
}

impl LoopbackServer {
    /// Begins to listen; each request is answered in a thread of its own.
    ///
    /// # Errors
    ///
    /// No free port.
    pub fn start(answer: impl Fn(Request) + Send + Sync + 'static) -> Result<Self, String> {
        let server =
            Server::http("127.0.0.1:0").map_err(|error| format!("listen on 127.0.0.1: {error}"))?;
        let server = Arc::new(server);
        let (listening, answer) = (Arc::clone(&server), Arc::new(answer));
        let thread = thread::spawn(move || {
            let mut answering: Vec<JoinHandle<()>> = Vec::new();
            for request in listening.incoming_requests() {
                let answer = Arc::clone(&answer);
                answering.push(thread::spawn(move || answer(request)));
                answering.retain(|thread| !thread.is_finished());
            }
            for thread in answering {
                let _ = thread.join();
            }
        });
        Ok(Self {
            server,
            thread: Some(thread),
        })
    }

    /// Address such as `http://127.0.0.1:PORT`.
    pub fn url(&self) -> String {
        format!("http://{}", self.server.server_addr())
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.server.unblock();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
