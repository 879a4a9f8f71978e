//! `SessionId`: a session id of the client, the key of all state.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, de};

/// A valid session id: 1 to 128 of `A-Z a-z 0-9 _ -`.
///
/// Any other text names no session: omo never acts on it, and never builds a path from it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct SessionId(String);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InvalidSessionId;

impl SessionId {
    /// Maximum length, in bytes.
    pub(crate) const MAX_LEN: usize = 128;

    pub fn parse(text: &str) -> Result<Self, InvalidSessionId> {
        let fits = (1..=Self::MAX_LEN).contains(&text.len());
        let has_only_allowed = text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-');
        if fits && has_only_allowed {
            Ok(Self(text.to_owned()))
        } else {
            Err(InvalidSessionId)
        }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for InvalidSessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("not a session id: 1 to 128 letters, digits, `_` or `-`")
    }
}

impl std::error::Error for InvalidSessionId {}

impl<'de> Deserialize<'de> for SessionId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Self::parse(&String::deserialize(deserializer)?).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_what_the_client_sends() {
        for id in [
            "dd79366c-d9f2-4076-8f09-e508a449860f",
            "abc123",
            "A_b-9",
            &"x".repeat(128),
        ] {
            assert!(SessionId::parse(id).is_ok(), "{id}");
        }
    }

    #[test]
    fn refuses_everything_that_could_be_a_path_or_nobody() {
        for id in [
            "",
            " ",
            "../../x",
            "a/b",
            "a\\b",
            "a.b",
            "a\0b",
            "ünï",
            "🦀",
            "a b",
            "a\n",
            &"x".repeat(129),
        ] {
            assert!(SessionId::parse(id).is_err(), "{id:?}");
        }
    }
}
