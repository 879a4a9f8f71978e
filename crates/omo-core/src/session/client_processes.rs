//! Processes of the client that served a session, by which a command of the model is told from a person's.

use super::Session;
use crate::request_source::ClientProcess;

pub const MAX_CLIENTS: usize = 16;

impl Session {
    /// Adds a process of the client, in place of the oldest beyond `MAX_CLIENTS`. A command below one of
    /// them is the model's, whatever its environment says.
    pub fn note_client(&mut self, client: ClientProcess) {
        if self.clients.contains(&client) {
            return;
        }
        let surplus = (self.clients.len() + 1).saturating_sub(MAX_CLIENTS);
        self.clients.drain(..surplus);
        self.clients.push(client);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::tests::at;

    #[test]
    fn the_last_clients_are_kept_each_once_and_whatever_the_entry_says() {
        let mut session = Session::default();
        let client = |pid: u32| ClientProcess {
            pid,
            start_mark: "1".to_owned(),
        };
        for pid in [1, 2, 1, 2] {
            session.note_client(client(pid));
        }
        assert_eq!(session.clients, [client(1), client(2)]);
        for pid in 3..=18 {
            session.note_client(client(pid));
        }
        assert_eq!(
            (session.clients.len(), &session.clients[0]),
            (MAX_CLIENTS, &client(3))
        );
        session.disown("x", at(1));
        assert_eq!(session.clients.len(), MAX_CLIENTS);
        let text = serde_json::to_string(&session).unwrap();
        assert_eq!(serde_json::from_str::<Session>(&text).unwrap(), session);
    }
}
