//! Rules by which an agreement of the reviewer counts: its prompt, its call, and all of the material read.

use std::collections::BTreeSet;

use super::HookIntervention;
use crate::check::counterfactual::list_names;
use crate::timestamp::Timestamp;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReviewerFacts {
    pub in_project: bool,
    /// Prompts that the agent had, in order; empty without a transcript.
    pub prompts: Vec<String>,
    pub began: Option<Timestamp>,
    pub call: Option<AgentCall>,
    pub is_isolated: bool,
    /// Results of `Read` on the material: lines behind their numbers.
    pub reads: Vec<String>,
    pub hooks: Vec<HookIntervention>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentCall {
    pub options: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgreementRefusal {
    Elsewhere,
    /// The prompt is unknown.
    NoTranscript,
    OtherPrompt,
    Continued,
    TooEarly,
    /// An option that changes the work or its place, such as `model`.
    Option(String),
    /// Agent that was started by something other than the session itself.
    ByAnother,
    /// First line of the material that was not read.
    Unread(usize),
    /// First line that was shown with another text.
    OtherText(usize),
}

impl AgreementRefusal {
    pub fn describe(&self) -> String {
        match self {
            Self::Elsewhere => "it worked in another folder than the project".to_owned(),
            Self::NoTranscript => {
                "the client kept no transcript of it, so nothing shows what it was asked".to_owned()
            }
            Self::OtherPrompt => "it was not given the prompt below as it stands".to_owned(),
            Self::Continued => {
                "it was written to after its prompt, or had ended before: a new call is needed"
                    .to_owned()
            }
            Self::TooEarly => "it was started before this review was asked for".to_owned(),
            Self::Option(name) => {
                format!("it was called with `{name}`, which changes the reviewer")
            }
            Self::ByAnother => {
                "another agent started it: the session itself has to call it".to_owned()
            }
            Self::Unread(line) => format!(
                "it did not read the file below from its first line to its last: line {line} is the first that it left out"
            ),
            Self::OtherText(line) => {
                format!(
                    "it was shown something else than what omo wrote into line {line} of the file below"
                )
            }
        }
    }
}

const CALL_OPTIONS: [&str; 4] = [
    "description",
    "prompt",
    "subagent_type",
    "run_in_background",
];

/// Reason for which an agreement does not count. `prompt` and `material` are omo's, `asked` is the
/// time of the request.
pub fn agreement_refusal(
    facts: &ReviewerFacts,
    prompt: &str,
    asked: Option<Timestamp>,
    material: &str,
) -> Option<AgreementRefusal> {
    let Some((first, later)) = facts.prompts.split_first() else {
        return Some(AgreementRefusal::NoTranscript);
    };
    if !first.split_whitespace().eq(prompt.split_whitespace()) {
        return Some(AgreementRefusal::OtherPrompt);
    }
    if !later.is_empty() {
        return Some(AgreementRefusal::Continued);
    }
    if facts
        .began
        .zip(asked)
        .is_some_and(|(began, asked)| began < asked)
    {
        return Some(AgreementRefusal::TooEarly);
    }
    let options = facts.call.iter().flat_map(|call| &call.options);
    if let Some(name) = options
        .into_iter()
        .find(|name| !CALL_OPTIONS.contains(&name.as_str()))
    {
        return Some(AgreementRefusal::Option(name.clone()));
    }
    if facts.is_isolated {
        return Some(AgreementRefusal::ByAnother);
    }
    if !facts.in_project {
        return Some(AgreementRefusal::Elsewhere);
    }
    reading_refusal(material, &facts.reads)
}

/// The first line of the material that was not shown unchanged.
fn reading_refusal(material: &str, reads: &[String]) -> Option<AgreementRefusal> {
    let lines: Vec<&str> = material.lines().collect();
    let mut unread: BTreeSet<usize> = (1..=lines.len()).collect();
    for (number, text) in reads
        .iter()
        .flat_map(|read| read.split('\n'))
        .filter_map(numbered_line)
    {
        let written = number.checked_sub(1).and_then(|at| lines.get(at));
        // The client shows one more line behind the last line feed.
        let is_end = number == lines.len() + 1 && text.is_empty();
        if !is_end && written != Some(&text) {
            return Some(AgreementRefusal::OtherText(number));
        }
        unread.remove(&number);
    }
    unread.first().map(|line| AgreementRefusal::Unread(*line))
}

/// `true` where all lines were shown unchanged.
pub fn is_read_whole(text: &str, reads: &[String]) -> bool {
    reading_refusal(text, reads).is_none()
}

pub fn unread_line(files: &[String]) -> Option<String> {
    (!files.is_empty()).then(|| {
        format!(
            "not read whole by the reviewer: {}",
            list_names(files, files.len())
        )
    })
}

/// A line of `Read`: a number, a tab or an arrow, and its text.
fn numbered_line(line: &str) -> Option<(usize, &str)> {
    let line = line
        .strip_suffix('\r')
        .unwrap_or(line)
        .trim_start_matches(' ');
    let (number, text) = line.split_once(['\t', '\u{2192}'])?;
    Some((number.parse().ok()?, text))
}
