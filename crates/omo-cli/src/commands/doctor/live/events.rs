//! Counts of hook runs, from the JSON that a client session printed, or from its log.

use serde_json::Value;

pub(super) fn has_session_begun(printed: &str) -> bool {
    printed
        .lines()
        .filter_map(line)
        .any(|line| line.get("subtype").is_some_and(|kind| kind == "init"))
}

/// Successful hook runs of an event. A hook that cannot be started also ends, with an error.
pub(super) fn count_hook_runs(printed: &str, event: &str) -> usize {
    let lines = printed.lines().filter_map(line);
    lines
        .filter(|line| {
            line.get("subtype")
                .is_some_and(|kind| kind == "hook_response")
                && line.get("hook_event").is_some_and(|name| name == event)
                && line.get("exit_code").is_some_and(|code| code == 0)
        })
        .count()
}

/// Successful runs of the hook program `binary` for an event, from the client's log file.
pub(super) fn count_logged_hook_runs(log: &str, event: &str, binary: &str) -> usize {
    let (begin, name) = (format!("] {event}:"), format!("/{binary}]"));
    let lines = log
        .lines()
        .filter(|line| line.contains(&begin) && line.contains(&name));
    lines
        .filter(|line| line.ends_with("] completed with status 0"))
        .count()
}

fn line(text: &str) -> Option<Value> {
    serde_json::from_str(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PRINTED: &str = r#"{"type":"system","subtype":"hook_started","hook_name":"SessionStart:startup","hook_event":"SessionStart"}
{"type":"system","subtype":"hook_response","hook_name":"SessionStart:startup","hook_event":"SessionStart","exit_code":0}
{"type":"system","subtype":"init","plugins":[]}
{"type":"system","subtype":"hook_response","hook_name":"Stop","hook_event":"Stop","exit_code":0}
{"type":"system","subtype":"hook_response","hook_name":"Stop","hook_event":"Stop","exit_code":0}
{"type":"system","subtype":"hook_response","hook_name":"SubagentStop","hook_event":"SubagentStop","exit_code":1}
{"half":
"#;

    #[test]
    fn hooks_are_counted_as_they_end() {
        for (event, times) in [("SessionStart", 1), ("Stop", 2), ("SubagentStop", 0)] {
            assert_eq!(count_hook_runs(PRINTED, event), times, "{event}");
        }
        assert!(has_session_begun(PRINTED));
        assert!(!has_session_begun("error: not logged in\n"));
    }

    #[test]
    fn what_the_stream_leaves_out_is_read_in_the_log() {
        let line = "2026-11-21T16:39:41.435Z [DEBUG] SessionEnd:other [${CLAUDE_PLUGIN_ROOT}/bin/omo-session-end] completed with status 0\n";
        let ends = |log: &str| count_logged_hook_runs(log, "SessionEnd", "omo-session-end");
        assert_eq!((ends(line), ends(&line.repeat(2)), ends("")), (1, 2, 0));
        assert_eq!(
            (
                ends(&line.replace("omo-", "my-")),
                ends(&line.replace("status 0", "status 1"))
            ),
            (0, 0)
        );
        assert_eq!(
            count_logged_hook_runs(line, "StopFailure", "omo-stop-failure"),
            0
        );
    }
}
