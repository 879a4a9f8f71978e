//! The state file, `runtime.local.json`, which lies in the project and which anything may have written.

use memchr::memmem;
use omo_core::session::Session;
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use omo_state::json_object::JsonObject;
use omo_state::state::document::{RETENTION_MILLIS, StateDocument};
use serde_json::Value;

const NOW: i64 = 1_780_000_000_000;
const TRIED: usize = 3;

/// Unknown members survive byte for byte, written state is read back, and a caller that only glances misses no session
/// whose run is on.
pub fn check(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data.strip_prefix(b"\xef\xbb\xbf").unwrap_or(data)) else {
        assert!(StateDocument::parse(data).is_err());
        return;
    };
    if StateDocument::parse(data).is_err() {
        return;
    }
    let file = File::of(text);
    let ids = file
        .sessions
        .iter()
        .filter_map(|(name, _)| SessionId::parse(name).ok())
        .take(TRIED);
    for id in ids.chain(SessionId::parse("unknown-yet")) {
        is_not_missed(data, &id);
        survives_a_write(data, &file, &id);
        survives_pruning(data, &file, &id);
    }
}

/// A file in the view of a general parser: each member as it was written.
#[derive(PartialEq, Debug)]
struct File {
    around: Vec<(String, String)>,
    sessions: Vec<(String, String)>,
}

impl File {
    fn of(text: &str) -> Self {
        let top = members(text);
        let sessions = top
            .iter()
            .rfind(|(name, _)| name == "sessions")
            .map(|(_, raw)| raw.as_str());
        let sessions = sessions
            .filter(|raw| *raw != "null")
            .map(members)
            .unwrap_or_default();
        Self {
            around: top
                .into_iter()
                .filter(|(name, _)| name != "sessions")
                .collect(),
            sessions,
        }
    }

    fn others(&self, id: &SessionId) -> Vec<&(String, String)> {
        self.sessions
            .iter()
            .filter(|(name, _)| name != id.as_str())
            .collect()
    }

    fn entry(&self, id: &SessionId) -> Option<&str> {
        self.sessions
            .iter()
            .rfind(|(name, _)| name == id.as_str())
            .map(|(_, raw)| raw.as_str())
    }
}

fn members(text: &str) -> Vec<(String, String)> {
    let object = JsonObject::parse(text);
    assert!(object.is_ok(), "no object: {text}");
    object.as_ref().map(owned).unwrap_or_default()
}

fn owned(object: &JsonObject<'_>) -> Vec<(String, String)> {
    object
        .iter()
        .map(|(name, raw)| (name.to_owned(), raw.to_owned()))
        .collect()
}

fn read(text: &[u8], id: &SessionId) -> Option<Session> {
    let document = StateDocument::parse(text);
    assert!(document.is_ok(), "does not parse again: {document:?}");
    document.ok()?.session(id).ok().flatten()
}

/// A glance looks for the id in every writer's form, without escapes.
fn is_not_missed(data: &[u8], id: &SessionId) {
    let is_plain = memmem::find(data, format!("\"{id}\"").as_bytes()).is_some();
    if is_plain && read(data, id).is_some_and(|session| session.is_armed()) {
        assert!(
            StateDocument::peek_if_active(data, id).is_some_and(|session| session.is_armed()),
            "{id} was missed"
        );
        assert!(StateDocument::mentions(data, id));
    }
}

fn survives_a_write(data: &[u8], before: &File, id: &SessionId) {
    let Ok(mut document) = StateDocument::parse(data) else {
        return;
    };
    let entry = document.session(id).ok();
    let known_entry = before.entry(id).filter(|_| entry.is_some());
    if entry.is_none() {
        // As a writer does, once it has copied the file aside.
        document.remove(id);
    }
    let mut session = entry.flatten().unwrap_or_default();
    session.ulw.stop_blocks = session.ulw.stop_blocks.wrapping_add(1);
    session.updated_at = Some(Timestamp::from_millis(NOW));
    assert!(document.set(id, &session).is_ok());
    let written = document.pieces().concat();
    is_written(&written, before, id, &session, known_entry);
    // A second write takes another way: no offset of the first read is valid any more.
    let Some(other) = SessionId::parse("one-more")
        .ok()
        .filter(|other| before.entry(other).is_none())
    else {
        return;
    };
    assert!(document.set(&other, &session).is_ok());
    let rewritten = document.pieces().concat();
    assert_eq!(read(rewritten.as_bytes(), id).as_ref(), Some(&session));
    assert_eq!(read(rewritten.as_bytes(), &other).as_ref(), Some(&session));
    let file = File::of(&rewritten);
    assert!(
        file.others(id)
            .iter()
            .filter(|(name, _)| name != other.as_str())
            .eq(&before.others(id)),
        "{rewritten}"
    );
}

fn is_written(
    written: &str,
    before: &File,
    id: &SessionId,
    session: &Session,
    known_entry: Option<&str>,
) {
    assert_eq!(
        read(written.as_bytes(), id).as_ref(),
        Some(session),
        "{written}"
    );
    let after = File::of(written);
    assert_eq!(
        after.others(id),
        before.others(id),
        "another session was changed"
    );
    let is_old =
        |member: &&(String, String)| before.around.contains(member) || member.0 == "version";
    assert!(
        after.around.iter().all(|member| is_old(&member)),
        "something was added around the sessions"
    );
    assert!(
        before
            .around
            .iter()
            .all(|member| after.around.contains(member)),
        "something around the sessions went"
    );
    if let (Some(old), Some(new), Ok(own)) =
        (known_entry, after.entry(id), serde_json::to_value(session))
    {
        is_laid_over(old, new, &own);
    }
}

/// Foreign members of an entry stay as they were written, at any depth.
fn is_laid_over(old: &str, new: &str, own: &Value) {
    let (old, new) = (members(old), members(new));
    let last = |members: &[(String, String)], name: &str| {
        members
            .iter()
            .rfind(|(known, _)| known == name)
            .map(|(_, raw)| raw.clone())
            .unwrap_or_default()
    };
    for (name, _) in &old {
        let (was, is) = (last(&old, name), last(&new, name));
        match own.get(name) {
            None => assert_eq!(was, is, "the unknown member {name}"),
            Some(own @ Value::Object(_)) if was.starts_with('{') => is_laid_over(&was, &is, own),
            Some(_) => {}
        }
    }
}

/// Only entries that were not written for a week go, and never the kept session.
fn survives_pruning(data: &[u8], before: &File, keep: &SessionId) {
    let Ok(mut document) = StateDocument::parse(data) else {
        return;
    };
    let now = Timestamp::from_millis(NOW);
    document.prune(keep, now);
    let after = File::of(&document.pieces().concat());
    for member @ (name, raw) in &before.sessions {
        let fields = JsonObject::parse(raw)
            .as_ref()
            .map(owned)
            .unwrap_or_default();
        let time = fields
            .iter()
            .rfind(|(name, _)| name == "updatedAt")
            .map(|(_, raw)| serde_json::from_str::<String>(raw));
        let time = time
            .and_then(Result::ok)
            .as_deref()
            .and_then(Timestamp::parse);
        let is_old = time
            .and_then(|time| now.millis_since(time))
            .is_some_and(|age| age > RETENTION_MILLIS);
        let is_left = after.sessions.contains(member);
        assert!(
            is_left || is_old && name != keep.as_str(),
            "{name} was dropped"
        );
    }
    assert_eq!(after.around, before.around);
}
