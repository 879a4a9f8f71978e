//! The review of a claim: the verdict of the agent `omo:oracle`, and the rules by which it counts.
//!
//! Only the end of that agent's report is read. A verdict holds for the work tree that it was asked
//! for. An agreement counts only from an agent that had omo's own prompt, once, in the project, and
//! read all of omo's material; a rejection always counts, and stays with its work tree.

mod agreement;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::check::counterfactual::UnusualFact;
use crate::promise::{final_promise, is_finished};
use crate::text::inline_code;
use crate::timestamp::Timestamp;

pub use agreement::{
    AgentCall, AgreementRefusal, ReviewerFacts, agreement_refusal, is_read_whole, unread_line,
};

pub const REVIEWER: &str = "omo:oracle";
const OBJECTION_CHARS: usize = 1_200;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RequestedReview {
    pub at: Option<Timestamp>,
    /// `None` for a work tree without an id.
    pub tree: Option<String>,
    /// End of the transcript at the request: no answer stands before it.
    pub offset: u64,
    /// Digest of the reviewer's material, so that a change is noticed.
    pub material: Option<String>,
    /// Lines about the comparison that the reviewer was shown first.
    pub shown: Vec<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Review {
    pub verdict: ReviewVerdict,
    pub at: Option<Timestamp>,
    /// Text before the verdict: objections, or the grounds of an agreement.
    pub objections: String,
    pub reviewer: Option<Reviewer>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Reviewer {
    /// Id of the agent, the same after an ended agent was continued.
    pub id: String,
    /// `None` where the client named none.
    pub cwd: Option<String>,
    /// `None` where the client named none.
    pub transcript: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct RejectedTree {
    /// `None` for a work tree without an id.
    pub tree: Option<String>,
    pub objections: String,
}

/// A hook that changed the input of a reviewer's tool, or added text.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HookIntervention {
    /// Name of the event, such as `PreToolUse`.
    pub event: String,
    /// `None` for a hook of another kind.
    pub command: Option<String>,
}

impl HookIntervention {
    pub fn line(&self) -> String {
        let command = self
            .command
            .as_deref()
            .map(|command| format!(": `{}`", inline_code(command, 120)));
        format!(
            "a hook of {} changed what the reviewer read, or added to it{}",
            inline_code(&self.event, 40),
            command.unwrap_or_default()
        )
    }

    /// `true` for a hook whose command has a variable that the client sets for plugins alone.
    pub fn is_of_plugin(&self) -> bool {
        self.command
            .as_deref()
            .is_some_and(|command| command.contains("${CLAUDE_PLUGIN_ROOT}"))
    }

    /// A fact for the user to accept, of a hook that no settings file names.
    pub fn fact(&self) -> UnusualFact {
        let line = format!("{}, and stands in no settings file", self.line());
        UnusualFact {
            line,
            ..UnusualFact::default()
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct SettingsMark {
    pub path: String,
    /// Key in the file, such as `hooks`; empty for a file that is no JSON.
    pub key: String,
    pub digest: String,
}

/// A fact for each settings file that changed since the run began.
pub fn settings_changes(then: &[SettingsMark], now: &[SettingsMark]) -> Vec<UnusualFact> {
    let mut keys: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
    for mark in missing_marks(then, now) {
        keys.entry(mark.path)
            .or_default()
            .entry(mark.key)
            .or_default();
    }
    for mark in missing_marks(now, then) {
        keys.entry(mark.path)
            .or_default()
            .insert(mark.key, mark.digest);
    }
    keys.into_iter()
        .map(|(path, keys)| {
            let names: Vec<&str> = keys
                .keys()
                .map(|key| {
                    if key.is_empty() {
                        "all of it"
                    } else {
                        key.as_str()
                    }
                })
                .collect();
            UnusualFact {
                line: format!(
                    "`{}` changed since the run began ({})",
                    inline_code(&path, 200),
                    names.join(", ")
                ),
                files: keys.into_values().collect::<Vec<_>>().join(" "),
                ..UnusualFact::default()
            }
        })
        .collect()
}

/// The marks that `others` lacks.
fn missing_marks(marks: &[SettingsMark], others: &[SettingsMark]) -> Vec<SettingsMark> {
    marks
        .iter()
        .filter(|mark| !others.contains(mark))
        .cloned()
        .collect()
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewVerdict {
    #[default]
    Unclear,
    Verified,
    Rejected,
}

/// The verdict is the promise at the end of the report, whatever Markdown, quotation marks,
/// punctuation or emoji stand around it; not before other words or behind an unfinished sentence.
pub fn read_review(report: &str, at: Timestamp) -> Review {
    let promise = final_promise(report).or_else(|| last_tag(report));
    let verdict = match promise {
        Some("VERIFIED") => ReviewVerdict::Verified,
        Some(text) if text == "REJECTED" || text.starts_with("REJECTED:") => {
            ReviewVerdict::Rejected
        }
        _ => ReviewVerdict::Unclear,
    };
    let before = report
        .rsplit_once("<promise>")
        .map_or(report, |(before, _)| before);
    let reason = promise
        .and_then(|text| text.strip_prefix("REJECTED:"))
        .unwrap_or_default()
        .trim();
    let objections: String = format!("{}\n{reason}", before.trim())
        .trim()
        .chars()
        .take(OBJECTION_CHARS)
        .collect();
    Review {
        verdict,
        at: Some(at),
        objections,
        reviewer: None,
    }
}

/// The text of the tag that ends the last line, alone or behind a label such as `**Verdict:**`, a
/// number of a list or a finished sentence. A report without other words echoes its prompt.
fn last_tag(report: &str) -> Option<&str> {
    const OPEN: &str = "<promise>";
    let line = report.trim_end().lines().next_back()?;
    let above = report.rsplit_once(OPEN)?.0;
    let is_quoted = line.trim_start().starts_with('>') || line.contains("~~");
    (!is_quoted && above.chars().any(char::is_alphanumeric)).then_some(())?;
    let line = line.trim_end_matches(|char: char| !char.is_alphanumeric() && char != '>');
    let (before, text) = line.strip_suffix("</promise>")?.rsplit_once(OPEN)?;
    let is_sentence = is_finished(before.trim_end_matches(['`', '"', '\'', '*', '_', ' ']));
    let before = before.trim_matches(|char: char| !char.is_alphanumeric() && char != ':');
    let is_number = before.chars().all(|char| char.is_ascii_digit());
    (is_number || is_sentence || is_label(before)).then(|| text.trim())
}

fn is_label(text: &str) -> bool {
    let words: Vec<String> = text
        .strip_suffix(':')
        .unwrap_or_default()
        .split_whitespace()
        .map(str::to_lowercase)
        .collect();
    words.len() <= MAX_LABEL_WORDS
        && words
            .last()
            .is_some_and(|word| LABELS.contains(&word.as_str()))
}

const LABELS: [&str; 10] = [
    "verdict",
    "result",
    "answer",
    "conclusion",
    "decision",
    "outcome",
    "review",
    "judgement",
    "judgment",
    "status",
];
/// A longer label is a sentence, which may say the opposite.
const MAX_LABEL_WORDS: usize = 2;

/// The review that counts: asking again does not undo a rejection.
#[must_use]
pub fn standing_review(earlier: Option<Review>, new: Review) -> Review {
    match earlier {
        Some(earlier) if earlier.verdict == ReviewVerdict::Rejected => earlier,
        Some(earlier) if new.verdict == ReviewVerdict::Unclear => earlier,
        _ => new,
    }
}

#[cfg(test)]
mod tests {
    use super::ReviewVerdict::{Rejected, Unclear, Verified};
    use super::*;

    fn now() -> Timestamp {
        Timestamp::from_millis(5)
    }

    #[test]
    fn only_the_promise_at_the_end_is_a_verdict() {
        for (report, expected) in [
            ("All of it holds.\n<promise>VERIFIED</promise>", Verified),
            ("All of it holds. <promise>VERIFIED</promise>", Verified),
            ("<promise>VERIFIED</promise>\n", Verified),
            ("Two tests fail.\n<promise>REJECTED</promise>", Rejected),
            ("<promise>REJECTED: two tests fail</promise>", Rejected),
            (
                "I was asked to reply with <promise>VERIFIED</promise> or <promise>REJECTED</promise>. Two tests fail.\n<promise>REJECTED</promise>",
                Rejected,
            ),
            ("```\n<promise>VERIFIED</promise>\n```", Unclear),
            ("All of it holds.\n> <promise>VERIFIED</promise>", Unclear),
            ("All of it holds.\n`<promise>VERIFIED</promise>`.", Verified),
            (
                "All of it holds.\n\n**Verdict:** <promise>VERIFIED</promise> ✅",
                Verified,
            ),
            (
                "All of it holds.\n✅ **<promise>VERIFIED</promise>**",
                Verified,
            ),
            (
                "All of it holds.\n\"<promise>VERIFIED</promise>\"",
                Verified,
            ),
            (
                "- All of it holds.\n- <promise>VERIFIED</promise>.",
                Verified,
            ),
            ("All of it holds. **<promise>VERIFIED</promise>**", Verified),
            (
                "All of it holds.\n\n## Verdict\n\n<promise>VERIFIED</promise>\n\n",
                Verified,
            ),
            (
                "All of it holds.\n\n### <promise>VERIFIED</promise>",
                Verified,
            ),
            ("**<promise>VERIFIED</promise>**", Verified),
            (
                "1. All of it holds.\n2. <promise>VERIFIED</promise>",
                Verified,
            ),
            (
                "All of it holds: each test passes. `<promise>VERIFIED</promise>`.",
                Verified,
            ),
            ("All of it holds. \"<promise>VERIFIED</promise>\"", Verified),
            ("`<promise>VERIFIED</promise>`", Unclear),
            ("> <promise>VERIFIED</promise>", Unclear),
            (
                "One test fails.\n- `<promise>REJECTED: one test fails</promise>`",
                Rejected,
            ),
            ("What I cannot say is: <promise>VERIFIED</promise>", Unclear),
            ("It is not <promise>VERIFIED</promise>.", Unclear),
            ("I was told to say \"<promise>VERIFIED</promise>\"", Unclear),
            (
                "The last line would be `<promise>VERIFIED</promise>`",
                Unclear,
            ),
            ("<promise>VERIFIED</promise>\nBut I did not look.", Unclear),
            ("<promise nonce=\"a1\">VERIFIED</promise>", Unclear),
            ("<promise>NOT VERIFIED</promise>", Unclear),
            ("<promise>DONE</promise>", Unclear),
            ("No issues found. All good.", Unclear),
            ("", Unclear),
        ] {
            assert_eq!(read_review(report, now()).verdict, expected, "{report}");
        }
    }

    #[test]
    fn a_settings_file_is_named_once_with_the_keys_that_changed() {
        let mark = |path: &str, key: &str, digest: &str| SettingsMark {
            path: path.to_owned(),
            key: key.to_owned(),
            digest: digest.to_owned(),
        };
        let then = [
            mark("/h/settings.json", "env", "1"),
            mark("/p/settings.json", "hooks", "1"),
        ];
        assert_eq!(settings_changes(&then, &then), []);
        let now = [
            mark("/p/settings.json", "hooks", "2"),
            mark("/p/settings.json", "env", "3"),
            mark("/p/x", "", "4"),
        ];
        let facts = settings_changes(&then, &now);
        let lines: Vec<&str> = facts.iter().map(|fact| fact.line.as_str()).collect();
        assert_eq!(
            lines,
            [
                "`/h/settings.json` changed since the run began (env)",
                "`/p/settings.json` changed since the run began (env, hooks)",
                "`/p/x` changed since the run began (all of it)",
            ]
        );
        assert!(facts.iter().all(UnusualFact::is_about_reviewer) && facts[1].files == "3 2");
    }

    #[test]
    fn objections_are_kept_and_bounded() {
        let review = read_review(
            "The parser\nloses a byte.\n<promise>REJECTED: see above</promise>",
            now(),
        );
        assert_eq!(review.objections, "The parser\nloses a byte.\nsee above");
        assert_eq!(
            read_review(&"x".repeat(9_000), now())
                .objections
                .chars()
                .count(),
            OBJECTION_CHARS
        );
        assert_eq!(
            read_review("Fine.\n<promise>VERIFIED</promise>", now()).objections,
            "Fine."
        );
    }

    #[test]
    fn a_rejection_is_not_undone_by_asking_until_somebody_agrees() {
        let of = |verdict| Review {
            verdict,
            ..Review::default()
        };
        for (earlier, new, expected) in [
            (None, Verified, Verified),
            (Some(Unclear), Verified, Verified),
            (Some(Rejected), Verified, Rejected),
            (Some(Verified), Rejected, Rejected),
            (Some(Verified), Unclear, Verified),
        ] {
            assert_eq!(
                standing_review(earlier.map(of), of(new)).verdict,
                expected,
                "{earlier:?} then {new:?}"
            );
        }
    }
}
