//! Reads the client's own goal of a session (`/goal`) from its transcript.

use std::path::Path;

use super::{Chunk, RawLine};

const MAX_BYTES: u64 = 4 * 1024 * 1024;

/// Condition of the goal that is on; `None` without one, or once it was met.
pub fn read_active_goal(path: &Path) -> Option<String> {
    let chunk = Chunk::read_at_most(path, 0, MAX_BYTES)?;
    let notes = chunk
        .lines_with(b"\"goal_status\"")
        .filter_map(RawLine::parse);
    let last = notes.filter_map(|line| line.goal()).last()?;
    let is_over = ["met", "failed"]
        .iter()
        .any(|field| last.get(field).is_some_and(|value| value == true));
    let condition = last.get("condition")?.as_str()?.to_owned();
    (!is_over && !condition.is_empty()).then_some(condition)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_note_about_a_goal_counts() {
        let note = |fields: &str| {
            format!(
                "{{\"type\":\"attachment\",\"attachment\":{{\"type\":\"goal_status\",{fields}}}}}\n"
            )
        };
        let set = note("\"met\":false,\"sentinel\":true,\"condition\":\"the tests pass\"");
        let said = "{\"type\":\"user\",\"message\":\"\\\"goal_status\\\"\"}\n";
        let file = tempfile::NamedTempFile::new().unwrap();
        for (text, expected) in [
            (set.clone(), Some("the tests pass")),
            (
                format!("{set}{said}half {{\"goal_status\""),
                Some("the tests pass"),
            ),
            (
                format!(
                    "{set}{}",
                    note("\"met\":true,\"condition\":\"the tests pass\"")
                ),
                None,
            ),
            (
                format!(
                    "{set}{}",
                    note("\"met\":false,\"failed\":true,\"condition\":\"the tests pass\"")
                ),
                None,
            ),
            (note("\"met\":false,\"condition\":\"\""), None),
            (said.to_owned(), None),
            (String::new(), None),
        ] {
            std::fs::write(file.path(), &text).unwrap();
            assert_eq!(read_active_goal(file.path()).as_deref(), expected, "{text}");
        }
    }
}
