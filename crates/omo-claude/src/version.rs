//! The version of the client, as it prints it.

use std::fmt;

/// The first version that takes a Stop hook's feedback as omo gives it.
pub const MIN_CLIENT_VERSION: ClientVersion = ClientVersion(2, 1, 163);

/// A version of the client: major, minor, patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion(pub u32, pub u32, pub u32);

impl ClientVersion {
    /// Reads what `claude --version` prints, such as `2.1.328 (Claude Code)`; `None` where that is
    /// something else. What follows the three numbers, as in `2.2.0-beta.1`, decides nothing.
    pub fn parse(printed: &str) -> Option<Self> {
        let word = printed.split_whitespace().next()?;
        let mut parts = word.split(['-', '+']).next()?.split('.').map(|part| part.parse().ok());
        let version = Self(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }
}

impl fmt::Display for ClientVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_client_prints_is_read_and_anything_else_is_not() {
        for (printed, expected) in [
            ("2.1.328 (Claude Code)\n", Some(ClientVersion(2, 1, 328))),
            ("2.1.163", Some(MIN_CLIENT_VERSION)),
            ("2.2.0-beta.1 (Claude Code)", Some(ClientVersion(2, 2, 0))),
            ("", None),
            ("2.1", None),
            ("2.1.3.4", None),
            ("Claude Code 2.1.328", None),
            ("command not found", None),
        ] {
            assert_eq!(ClientVersion::parse(printed), expected, "{printed:?}");
        }
    }

    #[test]
    fn versions_are_compared_as_numbers() {
        assert!(ClientVersion(2, 1, 99) < MIN_CLIENT_VERSION);
        assert!(ClientVersion(2, 1, 1000) > MIN_CLIENT_VERSION);
        assert!(ClientVersion(3, 0, 0) > MIN_CLIENT_VERSION);
        assert_eq!(MIN_CLIENT_VERSION.to_string(), "2.1.163");
    }
}
