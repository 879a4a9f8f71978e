//! Ids of tasks, groups, questions and runs. A valid id is neither a path nor an option of a command.

use std::fmt;

pub const MAX_ID_BYTES: usize = 64;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InvalidId(String);

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shown = omo_core::text::sanitize(&self.0, 60);
        write!(
            f,
            "`{shown}` is not an id: a letter or digit, then up to 63 of letters, digits, `.`, `_` and `-`"
        )
    }
}

impl std::error::Error for InvalidId {}

/// `true` for a match of `[A-Za-z0-9][A-Za-z0-9._-]{0,63}`.
pub fn is_id(text: &str) -> bool {
    text.len() <= MAX_ID_BYTES
        && text.starts_with(|first: char| first.is_ascii_alphanumeric())
        && text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'))
}

/// The text itself, if it is a valid id.
pub fn parse_id(text: &str) -> Result<&str, InvalidId> {
    if is_id(text) {
        Ok(text)
    } else {
        Err(InvalidId(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_no_path_and_no_option() {
        for good in ["1", "10-impl", "verify", "a.b_c-d", &"x".repeat(64)] {
            assert_eq!(parse_id(good), Ok(good));
        }
        for bad in [
            "",
            ".",
            "..",
            "../x",
            "-x",
            "a/b",
            "a b",
            "é",
            "a\0",
            "a\n",
            &"x".repeat(65),
        ] {
            assert!(parse_id(bad).is_err(), "{bad:?}");
        }
    }
}
