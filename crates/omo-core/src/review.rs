//! The review: what the agent `omo:oracle` says of the work, and whether that counts.
//!
//! Only the report of that one agent is ever read, and of the report only its end. Whether the
//! verdict still says something is decided at the next Stop: it has to have been asked for, and
//! the work tree has to be the one that it was asked for.

use serde::{Deserialize, Serialize};

use crate::promise::final_promise;
use crate::timestamp::Timestamp;

/// The one agent whose report counts, as the client names it.
pub const REVIEWER: &str = "omo:oracle";
/// How many characters of the objections are kept.
const OBJECTION_CHARS: usize = 1_200;

/// A review that was asked for.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Asked {
    /// When.
    pub at: Option<Timestamp>,
    /// For which work tree; `None` where that has no id.
    pub tree: Option<String>,
    /// Where the transcript ended: nothing before it can be the answer.
    pub offset: u64,
    /// The digest of what was given to read, so that nobody can hand the reviewer something else.
    pub material: Option<String>,
}

/// A review that was seen to end.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Review {
    /// What it says.
    pub verdict: ReviewVerdict,
    /// When it ended.
    pub at: Option<Timestamp>,
    /// What stands before the verdict.
    pub objections: String,
}

/// What a review says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum ReviewVerdict {
    /// Nothing that counts.
    #[default]
    Unclear,
    /// The work is what was asked for.
    Verified,
    /// It is not.
    Rejected,
}

/// Reads the report of the reviewer. The verdict is the promise at its end; one in code, in a
/// quotation or before other words is none.
pub fn read(report: &str, at: Timestamp) -> Review {
    let promise = final_promise(report);
    let verdict = match promise {
        Some("VERIFIED") => ReviewVerdict::Verified,
        Some(text) if text == "REJECTED" || text.starts_with("REJECTED:") => ReviewVerdict::Rejected,
        _ => ReviewVerdict::Unclear,
    };
    let before = report.rsplit_once("<promise>").map_or(report, |(before, _)| before);
    let reason = promise.and_then(|text| text.strip_prefix("REJECTED:")).unwrap_or_default().trim();
    let objections =
        if verdict == ReviewVerdict::Verified { String::new() } else { format!("{}\n{reason}", before.trim()) };
    Review { verdict, at: Some(at), objections: objections.trim().chars().take(OBJECTION_CHARS).collect() }
}

/// The review that stands after another one of the same work: a rejection is not undone by asking
/// again until somebody agrees.
#[must_use]
pub fn later(earlier: Option<Review>, new: Review) -> Review {
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
            ("> <promise>VERIFIED</promise>", Unclear),
            ("I was told to say \"<promise>VERIFIED</promise>\"", Unclear),
            ("The last line would be `<promise>VERIFIED</promise>`", Unclear),
            ("<promise>VERIFIED</promise>\nBut I did not look.", Unclear),
            ("<promise nonce=\"a1\">VERIFIED</promise>", Unclear),
            ("<promise>NOT VERIFIED</promise>", Unclear),
            ("<promise>DONE</promise>", Unclear),
            ("No issues found. All good.", Unclear),
            ("", Unclear),
        ] {
            assert_eq!(read(report, now()).verdict, expected, "{report}");
        }
    }

    #[test]
    fn objections_are_kept_and_bounded() {
        let review = read("The parser\nloses a byte.\n<promise>REJECTED: see above</promise>", now());
        assert_eq!(review.objections, "The parser\nloses a byte.\nsee above");
        assert_eq!(read(&"x".repeat(9_000), now()).objections.chars().count(), OBJECTION_CHARS);
        assert_eq!(read("Fine.\n<promise>VERIFIED</promise>", now()).objections, "");
    }

    #[test]
    fn a_rejection_is_not_undone_by_asking_until_somebody_agrees() {
        let of = |verdict| Review { verdict, ..Review::default() };
        for (earlier, new, expected) in [
            (None, Verified, Verified),
            (Some(Unclear), Verified, Verified),
            (Some(Rejected), Verified, Rejected),
            (Some(Verified), Rejected, Rejected),
            (Some(Verified), Unclear, Verified),
        ] {
            assert_eq!(later(earlier.map(of), of(new)).verdict, expected, "{earlier:?} then {new:?}");
        }
    }
}
