//! State file as a document: one session's entry is read or written, all others stay byte for byte.

use std::borrow::Cow;

use memchr::memmem;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde::de::{Deserializer, Error, MapAccess, Visitor};

use crate::json_object::{JsonObject, MemberKey};

pub const VERSION: u64 = 1;
/// Milliseconds without a write after which an entry is dropped: 7 days.
pub const RETENTION_MILLIS: i64 = 7 * 24 * 60 * 60 * 1_000;

/// Maximum bytes of an entry; a larger one is not of omo.
pub(crate) const MAX_ENTRY_BYTES: usize = 192 * 1024;
const MAX_PEEKS: usize = 4;

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DocumentError {
    #[error("does not parse as a state: {0}")]
    Corrupt(String),
    /// Corrupt entry of one session; the rest of the file is sound.
    #[error("holds an entry of this session that does not parse: {0}")]
    CorruptEntry(String),
    #[error("is of version {0}, and this omo knows {VERSION}")]
    TooNew(u64),
}

/// State file with the changes to its entries.
#[derive(Debug, Default)]
pub struct StateDocument<'a> {
    text: &'a str,
    top: JsonObject<'a>,
    sessions: JsonObject<'a>,
    edit: DocumentEdit<'a>,
}

#[derive(Debug, Default)]
enum DocumentEdit<'a> {
    #[default]
    Nothing,
    /// New text of one entry; everything around it stays.
    Entry {
        old: &'a str,
        new: String,
    },
    Rewritten,
}

impl<'a> StateDocument<'a> {
    pub fn parse(bytes: &'a [u8]) -> Result<Self, DocumentError> {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).map_err(corrupt)?;
        // In one pass: the sessions are most of the file.
        let mut document: Self = serde_json::from_str(text).map_err(|error| {
            JsonObject::parse(text)
                .ok()
                .and_then(|top| too_new(&top))
                .unwrap_or_else(|| corrupt(error))
        })?;
        document.text = text;
        match document.top.get("version").map(serde_json::from_str) {
            None => Ok(document),
            Some(Ok(version)) if version <= VERSION => Ok(document),
            Some(Ok(version)) => Err(DocumentError::TooNew(version)),
            Some(Err(error)) => Err(corrupt(error)),
        }
    }

    /// Entry of a possible run, found by its bytes. No active run is missed unless its id is
    /// written with escapes; callers that act on it read the whole file first.
    pub fn peek_if_active(bytes: &[u8], id: &SessionId) -> Option<Session> {
        Self::peek_if(bytes, id, Session::is_armed)
    }

    /// Entry that satisfies `is_meant`, found as by [`StateDocument::peek_if_active`].
    pub(crate) fn peek_if(
        bytes: &[u8],
        id: &SessionId,
        is_meant: fn(&Session) -> bool,
    ) -> Option<Session> {
        let key = format!("\"{id}\"");
        // Fused: after its end a search would begin anew.
        let places = memmem::find_iter(bytes, key.as_bytes()).fuse();
        let mut after = places.filter_map(|at| bytes.get(at + key.len()..));
        let glimpsed = after
            .by_ref()
            .take(MAX_PEEKS)
            .filter_map(entry_after_key)
            .find(is_meant);
        // A look behind each of a hundred thousand ids would take minutes.
        glimpsed.or_else(|| {
            after.next()?;
            StateDocument::parse(bytes)
                .ok()?
                .session(id)
                .ok()?
                .filter(is_meant)
        })
    }

    /// `true` where the bytes mention the session's id.
    pub fn mentions(bytes: &[u8], id: &SessionId) -> bool {
        memmem::find(bytes, id.as_str().as_bytes()).is_some()
    }

    pub fn session(&self, id: &SessionId) -> Result<Option<Session>, DocumentError> {
        self.sessions
            .get(id.as_str())
            .map(|raw| entry(raw).map_err(|error| DocumentError::CorruptEntry(error.to_string())))
            .transpose()
    }

    /// Entries by id, without those under no session id.
    pub fn sessions(&self) -> Vec<(SessionId, Result<Session, DocumentError>)> {
        let ids = self
            .sessions
            .iter()
            .filter_map(|(id, raw)| Some((SessionId::parse(id).ok()?, raw)));
        ids.map(|(id, raw)| {
            (
                id,
                entry(raw).map_err(|error| DocumentError::CorruptEntry(error.to_string())),
            )
        })
        .collect()
    }

    /// Writes an entry over the old one, whose unknown fields stay.
    pub fn set(&mut self, id: &SessionId, session: &Session) -> serde_json::Result<()> {
        let new = serde_json::to_string(session)?;
        let merged = match self.sessions.get(id.as_str()).map(JsonObject::parse) {
            Some(Ok(mut old)) => {
                old.lay_over(&JsonObject::parse(&new)?);
                old.to_json(",")
            }
            _ => new,
        };
        if merged.len() > MAX_ENTRY_BYTES {
            return Err(Error::custom(format_args!(
                "the entry would be larger than {MAX_ENTRY_BYTES} bytes"
            )));
        }
        self.complete();
        self.edit = match (&self.edit, self.sessions.get_as_written(id.as_str())) {
            (DocumentEdit::Nothing, Some(old)) => DocumentEdit::Entry {
                old,
                new: merged.clone(),
            },
            _ => DocumentEdit::Rewritten,
        };
        self.sessions.set(id.as_str(), merged);
        Ok(())
    }

    pub fn remove(&mut self, id: &SessionId) {
        self.sessions.retain(|known, _| known != id.as_str());
        self.edit = DocumentEdit::Rewritten;
    }

    /// Drops entries without a write for [`RETENTION_MILLIS`], except for `keep`.
    pub fn prune(&mut self, keep: &SessionId, now: Timestamp) {
        let times = memmem::Finder::new(UPDATED_AT);
        let before = self.sessions.iter().count();
        self.sessions.retain(|id, raw| {
            if !may_be_old(raw, &times, now) {
                return true;
            }
            let updated = serde_json::from_str::<UpdatedAt>(raw)
                .ok()
                .and_then(|entry| entry.updated_at);
            let age = updated.and_then(|at| now.millis_since(at)).unwrap_or(0);
            id == keep.as_str() || age <= RETENTION_MILLIS
        });
        if self.sessions.iter().count() < before {
            self.edit = DocumentEdit::Rewritten;
        }
    }

    /// Text of the document in pieces: with one changed entry the others are not even copied.
    pub fn pieces(&self) -> [Cow<'_, str>; 3] {
        match &self.edit {
            DocumentEdit::Entry { old, new } => {
                // An entry is a part of the text that it was read from.
                let start = (old.as_ptr() as usize).saturating_sub(self.text.as_ptr() as usize);
                let (before, after) = (self.text.get(..start), self.text.get(start + old.len()..));
                [
                    before.unwrap_or_default().into(),
                    new.into(),
                    after.unwrap_or_default().into(),
                ]
            }
            DocumentEdit::Nothing | DocumentEdit::Rewritten => {
                [self.rewritten().into(), Cow::default(), Cow::default()]
            }
        }
    }

    fn rewritten(&self) -> String {
        const SEPARATOR: &str = ",\n";
        let mut json = String::with_capacity(
            self.top.json_len(SEPARATOR) + self.sessions.json_len(SEPARATOR) + 1,
        );
        self.top
            .write_json(&mut json, SEPARATOR, |json, name, value| {
                if name == SESSIONS {
                    self.sessions
                        .write_json(json, SEPARATOR, |json, _, entry| json.push_str(entry));
                } else {
                    json.push_str(value);
                }
            });
        json.push('\n');
        json
    }

    /// Adds members that every state has, and an older version lacks.
    fn complete(&mut self) {
        for (name, value) in [("version", VERSION.to_string()), (SESSIONS, String::new())] {
            if self.top.get(name).is_none() {
                self.top.set(name, value);
                self.edit = DocumentEdit::Rewritten;
            }
        }
    }
}

fn too_new(top: &JsonObject<'_>) -> Option<DocumentError> {
    let version = serde_json::from_str(top.get("version")?).ok()?;
    (version > VERSION).then_some(DocumentError::TooNew(version))
}

fn entry_after_key(bytes: &[u8]) -> Option<Session> {
    let value = bytes
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start();
    value.starts_with(b"{").then_some(())?;
    let value = value.get(..MAX_ENTRY_BYTES).unwrap_or(value);
    serde_json::Deserializer::from_slice(value)
        .into_iter::<Session>()
        .next()?
        .ok()
}

/// `true` where a time in the entry may be too old, by its bytes: few entries need a closer look.
fn may_be_old(raw: &str, times: &memmem::Finder<'_>, now: Timestamp) -> bool {
    times.find_iter(raw.as_bytes()).any(|at| {
        let value = raw
            .get(at + UPDATED_AT.len()..)
            .unwrap_or_default()
            .trim_start_matches([' ', ':', '\t', '\n', '\r', '"']);
        let time = value.split('"').next().and_then(Timestamp::parse);
        time.is_none_or(|time| {
            now.millis_since(time)
                .is_some_and(|age| age > RETENTION_MILLIS)
        })
    })
}

fn corrupt(error: impl std::fmt::Display) -> DocumentError {
    DocumentError::Corrupt(error.to_string())
}

/// Entry from JSON, which must be an object: serde would take a list for a struct.
fn entry(raw: &str) -> serde_json::Result<Session> {
    if raw.len() > MAX_ENTRY_BYTES {
        return Err(Error::custom(format_args!(
            "it is larger than {MAX_ENTRY_BYTES} bytes"
        )));
    }
    JsonObject::parse(raw)?;
    serde_json::from_str(raw)
}

impl<'de: 'a, 'a> Deserialize<'de> for StateDocument<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = StateDocument<'de>;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(
                self,
                mut map: A,
            ) -> Result<StateDocument<'de>, A::Error> {
                let mut document = StateDocument::default();
                let mut has_sessions = false;
                while let Some(MemberKey(key)) = map.next_key()? {
                    if key == SESSIONS {
                        document.sessions = map
                            .next_value::<Option<JsonObject<'de>>>()?
                            .unwrap_or_default();
                        // Keeps the member's place among the others.
                        if !std::mem::replace(&mut has_sessions, true) {
                            document.top.set(SESSIONS, String::new());
                        }
                    } else {
                        document.top.push(key, map.next_value()?)?;
                    }
                }
                Ok(document)
            }
        }
        deserializer.deserialize_map(Members)
    }
}

const SESSIONS: &str = "sessions";
const UPDATED_AT: &str = "\"updatedAt\"";

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
        let ours = r#"{"ulw":{"enabled":false,"future":{"x": 1}},"later":[ {"name":"tests"} ]}"#;
        let text =
            format!(r#"{{"version":1,"later": true,"sessions":{{"a":{ours},"b":{other}}}}}"#);
        let mut document = StateDocument::parse(text.as_bytes()).unwrap();
        document.set(&id("a"), &armed()).unwrap();
        let written = document.pieces().concat();
        document.set(&id("c"), &Session::default()).unwrap();
        let rewritten = document.pieces().concat();
        for kept in [
            other,
            r#""later":"#,
            r#""future":{"x": 1}"#,
            r#""later":[ {"name":"tests"} ]"#,
        ] {
            assert!(written.contains(kept), "{kept} in {written}");
            assert!(rewritten.contains(kept), "{kept} in {rewritten}");
        }
        for text in [&written, &rewritten] {
            assert!(
                StateDocument::parse(text.as_bytes())
                    .unwrap()
                    .session(&id("a"))
                    .unwrap()
                    .unwrap()
                    .is_armed()
            );
        }
        assert_eq!(written.split(ours).count(), 1, "the old entry is gone");
        assert!(
            text.split(ours).all(|around| written.contains(around)),
            "all around it is as it was"
        );
    }

    #[test]
    fn what_is_no_state_is_corrupt_and_what_is_newer_is_not_ours() {
        for text in [
            "",
            " ",
            "[]",
            "null",
            "garbage",
            "{",
            r#"{"sessions":[]}"#,
            r#"{"version":"x"}"#,
            r#"{"version":-1}"#,
        ] {
            let error = StateDocument::parse(text.as_bytes()).unwrap_err();
            assert!(
                matches!(error, DocumentError::Corrupt(_)),
                "{text}: {error}"
            );
        }
        assert!(matches!(
            StateDocument::parse(b"{\"sessions\":{}}\xff"),
            Err(DocumentError::Corrupt(_))
        ));
        assert_eq!(
            StateDocument::parse(br#"{"version":2,"sessions":9}"#).unwrap_err(),
            DocumentError::TooNew(2)
        );
    }

    #[test]
    fn older_and_oddly_written_files_are_read() {
        for text in [
            "{}",
            "{\r\n\"sessions\": {\r\n}\r\n}",
            "\u{feff}{\"version\":1}",
            r#"{"version":0,"sessions":null}"#,
        ] {
            let document = StateDocument::parse(text.as_bytes()).unwrap();
            assert_eq!(document.session(&id("a")).unwrap(), None, "{text}");
        }
    }

    #[test]
    fn a_bad_entry_harms_only_its_own_session() {
        for bad in [
            r#"{"ulw":{"stopBlocks":"abc"}}"#,
            "[]",
            "1",
            r#"{"ulw":{"enabled":3}}"#,
        ] {
            let text = format!(r#"{{"sessions":{{"a":{bad},"b":{{"ulw":{{"enabled":true}}}}}}}}"#);
            let document = StateDocument::parse(text.as_bytes()).unwrap();
            assert!(
                matches!(
                    document.session(&id("a")),
                    Err(DocumentError::CorruptEntry(_))
                ),
                "{bad}"
            );
            assert!(document.session(&id("b")).unwrap().unwrap().is_armed());
        }
    }

    #[test]
    fn an_armed_session_is_found_wherever_its_id_stands_as_well() {
        let entry = r#""a":{"ulw":{"enabled":true}}"#;
        let own = |before: usize| {
            format!(
                r#"{{"x":[{}0],"sessions":{{{entry}}}}}"#,
                r#"{"a":{}},"#.repeat(before)
            )
        };
        for before in [0, 1, MAX_PEEKS - 1, MAX_PEEKS, MAX_PEEKS + 1, 1_000] {
            assert!(
                StateDocument::peek_if_active(own(before).as_bytes(), &id("a")).is_some(),
                "{before}"
            );
            let other = own(before).replace("true", "false");
            assert!(
                StateDocument::peek_if_active(other.as_bytes(), &id("a")).is_none(),
                "{before}"
            );
        }
    }

    #[test]
    fn an_entry_that_is_too_large_is_none() {
        let entry = |length: usize| {
            format!(
                r#"{{"ulw":{{"enabled":true}},"x":"{}"}}"#,
                "y".repeat(length)
            )
        };
        let around = entry(0).len();
        for (length, is_one) in [
            (MAX_ENTRY_BYTES - around, true),
            (MAX_ENTRY_BYTES - around + 1, false),
        ] {
            let text = format!(r#"{{"sessions":{{"a":{}}}}}"#, entry(length));
            let mut document = StateDocument::parse(text.as_bytes()).unwrap();
            assert_eq!(document.session(&id("a")).is_ok(), is_one);
            assert_eq!(
                StateDocument::peek_if_active(text.as_bytes(), &id("a")).is_some(),
                is_one
            );
            assert!(
                document.set(&id("a"), &armed()).is_err(),
                "with more it would be too large"
            );
        }
    }

    #[test]
    fn only_what_is_a_week_old_is_pruned() {
        let text = r#"{"sessions":{
            "old":{"updatedAt":"2026-01-01T00:00:00Z"},"young":{"updatedAt":"2026-01-08T00:00:01Z"},
            "mine":{"updatedAt":"2020-01-01T00:00:00Z"},"timeless":{},"odd":7}}"#;
        let mut document = StateDocument::parse(text.as_bytes()).unwrap();
        document.prune(
            &id("mine"),
            Timestamp::parse("2026-01-09T00:00:00Z").unwrap(),
        );
        let left: Vec<&str> = document.sessions.iter().map(|(id, _)| id).collect();
        assert_eq!(left, ["young", "mine", "timeless", "odd"]);
    }
}
