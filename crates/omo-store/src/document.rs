//! The runtime state as a document: one session's entry is read and written, the others travel
//! through it untouched.

use omo_core::session::Session;
use omo_core::session_id::SessionId;
use omo_core::timestamp::Timestamp;
use serde::Deserialize;

use crate::object::Object;

/// The version of the state that this omo writes.
pub const VERSION: u64 = 1;
/// After how many milliseconds without a write a session's entry is dropped: 7 days.
pub const RETENTION_MILLIS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Why the state's text could not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    /// It is no state at all.
    #[error("the state file does not parse: {0}")]
    Corrupt(String),
    /// The session's own entry is not one; the rest of the file is.
    #[error("the entry of this session does not parse: {0}")]
    CorruptEntry(String),
    /// A newer omo wrote it.
    #[error("the state file is of version {0}, and this omo knows {VERSION}")]
    TooNew(u64),
}

/// A state file that was read.
#[derive(Debug, Default)]
pub struct Document<'a> {
    top: Object<'a>,
    sessions: Object<'a>,
}

impl<'a> Document<'a> {
    /// Reads the text of a state file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let corrupt = |error: &dyn std::fmt::Display| DocumentError::Corrupt(error.to_string());
        let text = std::str::from_utf8(bytes).map_err(|error| corrupt(&error))?;
        let top = Object::parse(text).map_err(|error| corrupt(&error))?;
        let version = match top.get("version") {
            None => VERSION,
            Some(raw) => serde_json::from_str(raw).map_err(|error| corrupt(&error))?,
        };
        if version > VERSION {
            return Err(DocumentError::TooNew(version));
        }
        let sessions = match top.get_as_written("sessions") {
            None | Some("null") => Object::default(),
            Some(raw) => Object::parse(raw).map_err(|error| corrupt(&error))?,
        };
        Ok(Self { top, sessions })
    }

    /// One session's entry.
    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, DocumentError> {
        let read = |raw| entry(raw).map_err(|error| DocumentError::CorruptEntry(error.to_string()));
        self.sessions.get(id.as_str()).map(read).transpose()
    }

    /// Every entry that can be read, with its id.
    pub fn sessions(&self) -> Vec<(SessionId, Session)> {
        let read = |(id, raw)| Some((SessionId::parse(id).ok()?, entry(raw).ok()?));
        self.sessions.iter().filter_map(read).collect()
    }

    /// Writes one session's entry over the old one, whose unknown fields stay.
    pub fn set(&mut self, id: &SessionId, session: &Session) -> serde_json::Result<()> {
        let new = serde_json::to_string(session)?;
        let merged = match self.sessions.get(id.as_str()).map(Object::parse) {
            Some(Ok(mut old)) => {
                old.lay_over(&Object::parse(&new)?);
                old.to_json(",")
            }
            _ => new,
        };
        self.sessions.set(id.as_str(), merged);
        Ok(())
    }

    /// Drops every entry but `keep` that was not written for [`RETENTION_MILLIS`]. One without a
    /// time that can be read stays.
    pub fn prune(&mut self, keep: &SessionId, now: Timestamp) {
        self.sessions.retain(|id, raw| {
            let updated = serde_json::from_str::<UpdatedAt>(raw).ok().and_then(|entry| entry.updated_at);
            let age = updated.and_then(|at| now.millis_since(at)).unwrap_or(0);
            id == keep.as_str() || age <= RETENTION_MILLIS
        });
    }

    /// The text of the file, one session a line.
    pub fn to_json(&mut self) -> String {
        if self.top.get("version").is_none() {
            self.top.set("version", VERSION.to_string());
        }
        self.top.set("sessions", self.sessions.to_json(",\n"));
        let mut json = self.top.to_json(",\n");
        json.push('\n');
        json
    }
}

/// An entry must be an object: serde would take a list for a struct.
fn entry(raw: &str) -> serde_json::Result<Session> {
    Object::parse(raw)?;
    serde_json::from_str(raw)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct UpdatedAt {
    updated_at: Option<Timestamp>,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(text: &str) -> SessionId {
        SessionId::parse(text).unwrap()
    }

    fn armed() -> Session {
        let mut session = Session::default();
        session.ulw.enabled = true;
        session
    }

    #[test]
    fn other_sessions_and_unknown_fields_travel_byte_for_byte() {
        let other = r#"{"ulw" : {"enabled":true, "stopBlocks":3.0e0},"\u00fc":[ 1 ]}"#;
        let ours = r#"{"ulw":{"enabled":false,"future":{"x": 1}},"gates":[ {"name":"tests"} ]}"#;
        let text = format!(r#"{{"version":1,"later": true,"sessions":{{"a":{ours},"b":{other}}}}}"#);
        let mut document = Document::parse(text.as_bytes()).unwrap();
        document.set(&id("a"), &armed()).unwrap();
        let written = document.to_json();
        for kept in [other, r#""later":true"#, r#""future":{"x": 1}"#, r#""gates":[ {"name":"tests"} ]"#] {
            assert!(written.contains(kept), "{kept} in {written}");
        }
        assert!(Document::parse(written.as_bytes()).unwrap().session(&id("a")).unwrap().unwrap().is_armed());
    }

    #[test]
    fn what_is_no_state_is_corrupt_and_what_is_newer_is_not_ours() {
        for text in
            ["", " ", "[]", "null", "garbage", "{", r#"{"sessions":[]}"#, r#"{"version":"x"}"#, r#"{"version":-1}"#]
        {
            let error = Document::parse(text.as_bytes()).unwrap_err();
            assert!(matches!(error, DocumentError::Corrupt(_)), "{text}: {error}");
        }
        assert!(matches!(Document::parse(b"{\"sessions\":{}}\xff"), Err(DocumentError::Corrupt(_))));
        assert_eq!(Document::parse(br#"{"version":2,"sessions":9}"#).unwrap_err(), DocumentError::TooNew(2));
    }

    #[test]
    fn older_and_oddly_written_files_are_read() {
        for text in
            ["{}", "{\r\n\"sessions\": {\r\n}\r\n}", "\u{feff}{\"version\":1}", r#"{"version":0,"sessions":null}"#]
        {
            let document = Document::parse(text.as_bytes()).unwrap();
            assert_eq!(document.session(&id("a")).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn a_bad_entry_harms_only_its_own_session() {
        for bad in [r#"{"ulw":{"stopBlocks":"abc"}}"#, "[]", "1", r#"{"ulw":{"enabled":3}}"#] {
            let text = format!(r#"{{"sessions":{{"a":{bad},"b":{{"ulw":{{"enabled":true}}}}}}}}"#);
            let document = Document::parse(text.as_bytes()).unwrap();
            assert!(matches!(document.session(&id("a")), Err(DocumentError::CorruptEntry(_))), "{bad}");
            assert!(document.session(&id("b")).unwrap().unwrap().is_armed());
        }
    }

    #[test]
    fn only_what_is_a_week_old_is_pruned() {
        let text = r#"{"sessions":{
            "old":{"updatedAt":"2026-01-01T00:00:00Z"},"young":{"updatedAt":"2026-01-08T00:00:01Z"},
            "mine":{"updatedAt":"2020-01-01T00:00:00Z"},"timeless":{},"odd":7}}"#;
        let mut document = Document::parse(text.as_bytes()).unwrap();
        document.prune(&id("mine"), Timestamp::parse("2026-01-09T00:00:00Z").unwrap());
        let left: Vec<&str> = document.sessions.iter().map(|(id, _)| id).collect();
        assert_eq!(left, ["young", "mine", "timeless", "odd"]);
    }
}
