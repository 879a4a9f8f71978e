//! The version of the client, as it prints it.

use std::fmt;

/// First version that takes a Stop hook's feedback as omo gives it.
pub const MIN_CLIENT_VERSION: ClientVersion = ClientVersion(2, 1, 163);

/// First version measured to show additional context as what a hook says, and to send it to the model once
/// (docs/adr/0028).
const FIRST_CALM_VERSION: ClientVersion = ClientVersion(2, 1, 332);

/// Version of the client, such as `2.1.328`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ClientVersion(pub u32, pub u32, pub u32);

impl ClientVersion {
    /// Reads `2.1.328 (Claude Code)`, as `claude --version` prints; a suffix such as `-beta.1` is ignored.
    pub fn parse(printed: &str) -> Option<Self> {
        let word = printed.split_whitespace().next()?;
        let mut parts = word
            .split(['-', '+'])
            .next()?
            .split('.')
            .map(|part| part.parse().ok());
        let version = Self(parts.next()??, parts.next()??, parts.next()??);
        parts.next().is_none().then_some(version)
    }

    /// Reads `AI_AGENT` of a hook, such as `claude-code_2-1-332_harness`.
    pub fn of_agent(agent: &str) -> Option<Self> {
        let mut parts = agent.strip_prefix("claude-code_")?.split('_');
        Self::parse(&parts.next()?.replace('-', "."))
    }

    /// `true` from `FIRST_CALM_VERSION` on within its major version: additional context is shown without an alarm.
    pub fn is_calm(self) -> bool {
        self >= FIRST_CALM_VERSION && self.0 == FIRST_CALM_VERSION.0
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
    fn an_agent_that_is_unknown_or_old_is_not_calm() {
        for (agent, calm) in [
            ("claude-code_2-1-332_harness", true),
            ("claude-code_2-2-0_harness", true),
            ("claude-code_2-1-331_harness", false),
            ("claude-code_2-1-328_agent", false),
            ("claude-code_3-0-0_harness", false),
            ("claude-code_2-1_harness", false),
            ("other_2-1-332", false),
            ("claude-code_99999999999-1-1", false),
            ("", false),
        ] {
            assert_eq!(
                ClientVersion::of_agent(agent).is_some_and(ClientVersion::is_calm),
                calm,
                "{agent}"
            );
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
