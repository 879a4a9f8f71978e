//! Text for and from `git commit`: messages with trailers, lists of paths, and git's trace2 events.

use std::collections::HashMap;

use omo_core::text::sanitize;
use serde::Deserialize;

use crate::tree_path::TreePath;

const LONGEST_VALUE: usize = 200;

/// `message` with `trailers` such as `Omo-Run: ID` in its last paragraph.
pub(super) fn message_with(message: &str, trailers: &[(&str, &str)]) -> String {
    let body = message.trim_end();
    let lines = trailers
        .iter()
        .map(|(name, value)| format!("{name}: {}\n", sanitize(value, LONGEST_VALUE)));
    let lines: String = lines.collect();
    let last = body.rsplit_once("\n\n").map(|(_, last)| last);
    let gap = if last.is_some_and(|last| last.lines().all(is_trailer)) {
        "\n"
    } else {
        "\n\n"
    };
    if lines.is_empty() {
        format!("{body}\n")
    } else {
        format!("{body}{gap}{lines}")
    }
}

fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, value)| {
        !name.is_empty()
            && name
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
            && !value.trim().is_empty()
    })
}

/// NUL-separated list of literal paths from the top, for `--pathspec-from-file`.
pub(super) fn pathspec_list(names: &[TreePath]) -> Vec<u8> {
    names
        .iter()
        .flat_map(|name| [b":(top,literal)".as_slice(), &name.0, b"\0"].concat())
        .collect()
}

#[derive(Debug, Deserialize)]
struct TraceEvent {
    #[serde(rename = "event")]
    kind: String,
    /// Session id of git's trace, with a slash in a git that this one started.
    sid: String,
    child_id: Option<i64>,
    hook_name: Option<String>,
    code: Option<i64>,
    #[serde(default)]
    argv: Vec<String>,
}

/// A program that git started for a commit.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum FailedChild {
    Hook {
        hook: String,
        /// Negative where it could not be started.
        status: i64,
    },
    Signing,
}

pub(super) fn failed_child(trace: &[u8]) -> Option<FailedChild> {
    let mut children = HashMap::new();
    for event in events(trace) {
        match (event.kind.as_str(), event.hook_name, event.code) {
            // Hooks after the commit refuse nothing.
            ("child_start", Some(hook), _) if !hook.starts_with("post-") => {
                children.insert(event.child_id, Some(hook));
            }
            ("child_start", None, _) if is_signing(&event.argv) => {
                drop(children.insert(event.child_id, None));
            }
            ("child_exit", _, Some(status)) if status != 0 => {
                match children.remove(&event.child_id) {
                    Some(Some(hook)) => return Some(FailedChild::Hook { hook, status }),
                    Some(None) => return Some(FailedChild::Signing),
                    None => {}
                }
            }
            _ => {}
        }
    }
    None
}

/// `ssh-keygen -Y sign`, or `gpg -bsau KEY`.
fn is_signing(arguments: &[String]) -> bool {
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    words.windows(2).any(|pair| pair == ["-Y", "sign"]) || words.contains(&"-bsau")
}

pub(super) fn has_run_hook(trace: &[u8]) -> bool {
    events(trace).any(|event| event.kind == "child_start" && event.hook_name.is_some())
}

fn events(trace: &[u8]) -> impl Iterator<Item = TraceEvent> {
    let events = trace
        .split(|byte| *byte == b'\n')
        .filter_map(|line| serde_json::from_slice::<TraceEvent>(line).ok());
    events.filter(|event| !event.sid.contains('/'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn trailers_stand_below_a_message() {
        let run = [("Omo-Run", "r1"), ("Omo-Task", "1.2\nInjected: x")];
        for (message, expected) in [
            ("fix: a", "fix: a\n\nOmo-Run: r1\n"),
            ("fix: a\n\n", "fix: a\n\nOmo-Run: r1\n"),
            (
                "fix: a\n\nText: of\nmany lines",
                "fix: a\n\nText: of\nmany lines\n\nOmo-Run: r1\n",
            ),
            ("fix: a\n\nRefs: #1", "fix: a\n\nRefs: #1\nOmo-Run: r1\n"),
        ] {
            assert_eq!(message_with(message, &run[..1]), expected, "{message:?}");
        }
        assert_eq!(message_with("fix: a", &[]), "fix: a\n");
        assert_eq!(
            message_with("a", &run).lines().count(),
            4,
            "one line each, whatever the value is"
        );
    }

    #[test]
    fn a_refusal_is_that_of_a_program_of_this_very_commit() {
        let start = |sid: &str, hook: &str| {
            format!(
                r#"{{"event":"child_start","sid":"{sid}","child_id":0,"child_class":"hook","hook_name":"{hook}"}}"#
            )
        };
        let sign = |argv: &str| {
            format!(r#"{{"event":"child_start","sid":"1","child_id":0,"argv":[{argv}]}}"#)
        };
        let hook = |name: &str, status| {
            Some(FailedChild::Hook {
                hook: name.to_owned(),
                status,
            })
        };
        let exit = |sid: &str, code: i32| {
            format!(r#"{{"event":"child_exit","sid":"{sid}","child_id":0,"code":{code}}}"#)
        };
        for (lines, expected) in [
            (
                [start("1", "pre-commit"), exit("1", 1)],
                hook("pre-commit", 1),
            ),
            (
                [start("1", "pre-commit"), exit("1", 127)],
                hook("pre-commit", 127),
            ),
            (
                [start("1", "reference-transaction"), exit("1", 1)],
                hook("reference-transaction", 1),
            ),
            (
                [
                    sign(r#""ssh-keygen","-Y","sign","-n","git""#),
                    exit("1", 255),
                ],
                Some(FailedChild::Signing),
            ),
            (
                [sign(r#""gpg","--status-fd=2","-bsau","ABC""#), exit("1", 2)],
                Some(FailedChild::Signing),
            ),
            ([sign(r#""git","gc""#), exit("1", 2)], None),
            ([start("1", "pre-commit"), exit("1", 0)], None),
            ([start("1/2", "pre-commit"), exit("1/2", 1)], None),
            ([start("1", "post-commit"), exit("1", 1)], None),
            (["no event".to_owned(), exit("1", 1)], None),
        ] {
            assert_eq!(
                failed_child(lines.join("\n").as_bytes()),
                expected,
                "{lines:?}"
            );
        }
    }
}
