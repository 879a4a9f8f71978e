//! Reads a person's answers in the client's question dialog from a session's transcripts.
//!
//! Only the result of the question tool counts, and none of a dialog that timed out, was dismissed,
//! or was answered by a hook or a rule.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_core::recorded_answer::RecordedAnswer;
use omo_core::session::id::SessionId;
use omo_core::timestamp::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::line::TranscriptLine;
use super::{Chunk, RawLine};

/// Maximum bytes from the end of a transcript: one request lies between an answer and its command.
const MAX_BYTES: u64 = 8 * 1024 * 1024;
const TOOL: &str = "AskUserQuestion";

/// Answers after `since`, in order; empty without a transcript.
pub fn read_recorded_answers(
    client_home: &Path,
    session: &SessionId,
    since: Timestamp,
) -> Vec<RecordedAnswer> {
    let mut answers: Vec<RecordedAnswer> = transcripts_of(client_home, session)
        .iter()
        .flat_map(|path| answers_in(path))
        .collect();
    answers.retain(|answer| answer.at > since);
    answers.sort_by_key(|answer| answer.at);
    answers
}

fn transcripts_of(client_home: &Path, session: &SessionId) -> Vec<PathBuf> {
    let folders = std::fs::read_dir(client_home.join("projects"))
        .into_iter()
        .flatten()
        .flatten();
    let name = format!("{}.jsonl", session.as_str());
    folders
        .map(|folder| folder.path().join(&name))
        .filter(|path| path.is_file())
        .collect()
}

fn answers_in(path: &Path) -> Vec<RecordedAnswer> {
    let Some(chunk) = Chunk::read_at_most(path, 0, MAX_BYTES) else {
        return Vec::new();
    };
    let calls: Vec<String> = chunk
        .lines_with(TOOL.as_bytes())
        .filter_map(RawLine::parse)
        .filter(TranscriptLine::is_of_the_model)
        .flat_map(|line| {
            line.calls()
                .filter(|call| call.name == TOOL)
                .map(|call| call.id.to_owned())
                .collect::<Vec<_>>()
        })
        .collect();
    let results = chunk
        .lines_with(b"toolUseResult")
        .filter_map(RawLine::parse);
    results
        .filter_map(|line| line.recorded_answers(&calls))
        .flatten()
        .collect()
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct QuestionResult<'a> {
    questions: Vec<AskedQuestion>,
    answers: BTreeMap<String, serde_json::Value>,
    /// Present where the dialog ended by itself, without a person.
    #[serde(borrow)]
    afk_timeout_ms: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct AskedQuestion {
    question: String,
    #[serde(default)]
    header: String,
    #[serde(default)]
    options: Vec<AskedOption>,
}

#[derive(Deserialize)]
struct AskedOption {
    label: String,
}

impl TranscriptLine<'_> {
    fn recorded_answers(&self, calls: &[String]) -> Option<Vec<RecordedAnswer>> {
        let at = self.time()?;
        let [block] = &*self.blocks() else {
            return None;
        };
        let is_result = block.kind == "tool_result"
            && block.is_error != Some(true)
            && calls.iter().any(|id| id == block.tool_use_id);
        let result: QuestionResult = self
            .tool_result()
            .filter(|_| is_result && self.is_allowed_by_user())?;
        if result.afk_timeout_ms.is_some() {
            return None;
        }
        let answers = &result.answers;
        let answered = result.questions.into_iter().filter_map(|asked| {
            let answer = answers.get(&asked.question)?.as_str()?.to_owned();
            let labels = asked
                .options
                .into_iter()
                .map(|option| option.label)
                .collect();
            Some(RecordedAnswer {
                at,
                header: asked.header,
                question: asked.question,
                labels,
                answer,
            })
        });
        Some(answered.collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CALL: &str = r#"{"type":"assistant","isSidechain":false,"message":{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"AskUserQuestion","input":{}}]},"timestamp":"2026-11-23T21:37:41.020Z"}"#;
    /// Line as client 2.1.328 writes it, without fields that are not read.
    const RESULT: &str = r#"{"isSidechain":false,"type":"user","message":{"role":"user","content":[{"type":"tool_result","content":"Your questions have been answered: \"q1: Which storage?\"=\"b\".","tool_use_id":"toolu_1"}]},"timestamp":"2026-11-23T21:37:42.741Z","toolUseResult":{"questions":[{"question":"q1: Which storage?","header":"q1","options":[{"label":"a","description":"SQLite"},{"label":"b","description":"Files"}],"multiSelect":false}],"answers":{"q1: Which storage?":"b"},"annotations":{}},"permissionDecision":{"decision":"accept","source":"user_temporary","grantScope":"once"}}"#;

    fn read(lines: &[&str], since: &str) -> Vec<RecordedAnswer> {
        let home = tempfile::tempdir().unwrap();
        let folder = home.path().join("projects/-tmp-project");
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("s-1.jsonl"), lines.join("\n") + "\n").unwrap();
        read_recorded_answers(
            home.path(),
            &SessionId::parse("s-1").unwrap(),
            Timestamp::parse(since).unwrap(),
        )
    }

    const BEFORE: &str = "2026-11-23T21:37:41.000Z";

    #[test]
    fn the_answer_of_the_dialog_is_read_where_it_came_after_the_moment() {
        let read_since = |since| read(&[CALL, RESULT], since);
        let answers = read_since(BEFORE);
        assert_eq!(answers.len(), 1);
        assert_eq!((&*answers[0].header, &*answers[0].answer), ("q1", "b"));
        assert_eq!(answers[0].labels, ["a", "b"]);
        assert!(read_since("2026-11-23T21:37:42.741Z").is_empty());
    }

    #[test]
    fn what_no_person_chose_is_no_answer() {
        let edits = [
            (
                "an error",
                r#""tool_use_id":"toolu_1""#,
                r#""tool_use_id":"toolu_1","is_error":true"#,
            ),
            (
                "another tool's result",
                r#""tool_use_id":"toolu_1""#,
                r#""tool_use_id":"toolu_2""#,
            ),
            (
                "a dialog that ran out of time",
                r#""annotations":{}"#,
                r#""annotations":{},"afkTimeoutMs":60000"#,
            ),
            ("an answer by a hook", "user_temporary", "hook"),
            ("an answer by a rule", "user_temporary", "config"),
            (
                "a line of a subagent",
                r#""isSidechain":false"#,
                r#""isSidechain":true"#,
            ),
            (
                "a line of the model",
                r#""type":"user""#,
                r#""type":"assistant""#,
            ),
            (
                "no answer to this question",
                r#""answers":{"q1: Which storage?":"b"}"#,
                r#""answers":{}"#,
            ),
        ];
        for (what, from, to) in edits {
            assert!(RESULT.contains(from), "{what}");
            assert_eq!(
                read(&[CALL, &RESULT.replace(from, to)], BEFORE),
                [],
                "{what}"
            );
        }
        assert_eq!(read(&[RESULT], BEFORE), [], "no call of the tool");
        assert_eq!(
            read(&[&CALL.replace("AskUserQuestion", "Bash"), RESULT], BEFORE),
            [],
            "a call of another tool"
        );
    }
}
