//! Typed orders: a user's command about a plan's run, passed from a hook to `omo` with proof that a
//! person typed it.
//!
//! A model can start `omo`, too. So the hook, which alone knows who typed a prompt, seals the order
//! for a session, a project and a short time, and writes it to standard input, where
//! no later command finds it.

use std::path::Path;

use omo_core::run_command::RunCommand;
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use crate::seal::{KeyError, SealKey};

/// Argument of `omo` before an order on standard input; no person types it.
pub const ARGUMENT: &str = "--typed-command";
pub const MAX_BYTES: u64 = 64 * 1024;
/// Milliseconds for which an order is valid; the hook waits no longer.
const HOLDS_MILLIS: i64 = 10_000;

/// Command that a person typed, sealed by the hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TypedOrder {
    pub command: RunCommand,
    pub arguments: String,
    pub session: String,
    pub root: String,
    pub at: Timestamp,
    seal: String,
}

impl TypedOrder {
    /// Sealed order; `None` for a project's path that is no text, which no run has.
    ///
    /// # Errors
    ///
    /// Missing key for the seal.
    pub fn new(
        typed: (RunCommand, &str),
        id: &SessionId,
        root: &Path,
        state_home: Option<&Path>,
        now: Timestamp,
    ) -> Result<Option<Self>, KeyError> {
        let Some(root) = root.to_str() else {
            return Ok(None);
        };
        let mut order = Self {
            command: typed.0,
            arguments: typed.1.to_owned(),
            session: id.to_string(),
            root: root.to_owned(),
            at: now,
            seal: String::new(),
        };
        order.seal = SealKey::load(state_home)?.mac(&order.bytes());
        Ok(Some(order))
    }

    pub fn to_line(&self) -> Vec<u8> {
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// Order in `bytes`; `None` for text that no hook of this user has just written.
    pub fn read(bytes: &[u8], state_home: Option<&Path>, now: Timestamp) -> Option<Self> {
        let order: Self = serde_json::from_slice(bytes).ok()?;
        let key = SealKey::find(state_home).ok()??;
        let is_recent = now
            .millis_since(order.at)
            .is_some_and(|age| age <= HOLDS_MILLIS);
        (is_recent && key.is_mac(&order.bytes(), &order.seal)).then_some(order)
    }

    /// Bytes under the seal, with a prefix that nothing else under the key has.
    fn bytes(&self) -> Vec<u8> {
        let content = (
            "omo typed command 1",
            self.command,
            &self.arguments,
            &self.session,
            &self.root,
            self.at,
        );
        serde_json::to_vec(&content).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: i64) -> Timestamp {
        Timestamp::from_millis(millis)
    }

    #[test]
    fn an_order_is_read_as_it_was_typed_while_it_is_new_and_by_its_own_user() {
        let (home, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        let id = SessionId::parse("a").unwrap();
        let typed = (RunCommand::Retry, "3 --run 'x'; $(y)");
        let order = TypedOrder::new(typed, &id, Path::new("/p"), Some(home.path()), at(5_000))
            .unwrap()
            .unwrap();
        let line = order.to_line();
        let read = |millis| TypedOrder::read(&line, Some(home.path()), at(millis));
        assert_eq!(read(5_000), Some(order.clone()));
        assert_eq!(read(5_000 + HOLDS_MILLIS), Some(order));
        assert_eq!(read(5_001 + HOLDS_MILLIS), None, "it is too old");
        assert_eq!(read(4_999), None, "it is of the future");
        assert_eq!(
            TypedOrder::read(&line, Some(other.path()), at(5_000)),
            None,
            "there is no key"
        );
        SealKey::load(Some(other.path())).unwrap();
        assert_eq!(
            TypedOrder::read(&line, Some(other.path()), at(5_000)),
            None,
            "it is another user's"
        );
        assert_eq!(TypedOrder::read(&line, None, at(5_000)), None);
    }

    #[test]
    fn what_a_hook_did_not_write_is_no_order() {
        let home = tempfile::tempdir().unwrap();
        let id = SessionId::parse("a").unwrap();
        let typed = (RunCommand::Retry, "3");
        let order = TypedOrder::new(typed, &id, Path::new("/p"), Some(home.path()), at(5_000))
            .unwrap()
            .unwrap();
        let forged = [
            TypedOrder {
                command: RunCommand::Cancel,
                ..order.clone()
            },
            TypedOrder {
                arguments: "4".to_owned(),
                ..order.clone()
            },
            TypedOrder {
                session: "b".to_owned(),
                ..order.clone()
            },
            TypedOrder {
                root: "/q".to_owned(),
                ..order.clone()
            },
            TypedOrder {
                at: at(5_001),
                ..order.clone()
            },
            TypedOrder {
                seal: String::new(),
                ..order
            },
        ];
        for order in forged {
            assert_eq!(
                TypedOrder::read(&order.to_line(), Some(home.path()), at(5_001)),
                None,
                "{order:?}"
            );
        }
        for bytes in ["", "{}", "[]", "{\"command\":\"retry\"}"] {
            assert_eq!(
                TypedOrder::read(bytes.as_bytes(), Some(home.path()), at(5_001)),
                None,
                "{bytes}"
            );
        }
    }
}
