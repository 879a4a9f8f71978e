//! The sessions of `## Execution Strategy`: which steps each has, when it runs, and what it may touch.

use std::collections::HashSet;
use std::ops::Range;

use omo_core::words::neutral;

use super::fence::{Fence, fence};
use super::numbers::numbers;
use super::outline::{Findings, Numbered, Outline, Section, is_called, numbered};
use crate::diagnostic::Code;
use crate::document::lines;
use crate::labels::{Label, item, labels};

/// The labels of a session.
const KNOWN: [&str; 5] = ["steps", "wave", "depends on", "dependencies", "scope fence"];
/// What a reference to a session is called.
const SESSION_WORDS: [&str; 3] = ["session", "sessions", "s"];

/// A session.
#[derive(Debug)]
pub struct Session {
    /// Its number.
    pub number: u64,
    /// Its title.
    pub title: String,
    /// Its heading.
    pub heading: Range<usize>,
    /// The numbers of its steps, in the order in which it takes them.
    pub steps: Listed,
    /// The wave that it says it belongs to.
    pub wave: Option<u64>,
    /// The sessions that have to have ended before.
    pub deps: Listed,
    /// What it may touch, and what not.
    pub fence: Fence,
}

/// Numbers, and where they stand.
#[derive(Debug)]
pub struct Listed {
    /// Them.
    pub numbers: Vec<u64>,
    /// Their bytes, or those of what they are missing from.
    pub span: Range<usize>,
}

/// A line of `### Execution Order`.
#[derive(Debug)]
pub struct OrderedWave {
    /// The wave's number.
    pub wave: u64,
    /// Its sessions.
    pub sessions: Listed,
}

/// What a plan says about its sessions.
#[derive(Debug)]
pub struct Strategy {
    /// Them, in the order of the file.
    pub sessions: Vec<Session>,
    /// The waves, where they are listed.
    pub order: Vec<OrderedWave>,
}

/// Reads the strategy of a plan; `None` where it has none.
pub fn strategy(outline: &Outline<'_>, findings: &mut Findings<'_>) -> Option<Strategy> {
    let section = outline.part("execution strategy")?;
    let mut sessions = Vec::new();
    let mut order = Vec::new();
    let mut seen = HashSet::new();
    for inner in outline.inside(section.content()) {
        match numbered(inner.heading, "Session") {
            Numbered::Is(number, title) => {
                sessions.push(session(outline, inner, number, title, findings));
                if !seen.insert(number) {
                    let text = format!("session {number} is there twice");
                    let help = "give each its own number";
                    findings.add(Code::DuplicateSession, inner.heading.span.clone(), None, text, help);
                }
            }
            Numbered::LooksLike => {
                let text = "this heading looks like a session and is none".to_owned();
                let help = "a session is written `### Session 1: Title`";
                findings.add(Code::LooksLikeAStep, inner.heading.span.clone(), None, text, help);
            }
            Numbered::Other if is_called(inner.heading.text, "execution order") => {
                order.extend(ordered_waves(outline, inner, findings));
            }
            Numbered::Other => {}
        }
    }
    Some(Strategy { sessions, order })
}

fn session(
    outline: &Outline<'_>,
    section: &Section<'_>,
    number: u64,
    title: &str,
    findings: &mut Findings<'_>,
) -> Session {
    let heading = section.heading.span.clone();
    let found = labels(outline.document, section.content(), &KNOWN);
    let label = |keys: &[&str]| found.iter().find(|label| keys.contains(&label.key.as_str()));
    let mut listed = |label: Option<&Label<'_>>, words: &[&str]| {
        let Some(label) = label else { return Listed { numbers: Vec::new(), span: heading.clone() } };
        let span = label.span.start..label.value.end.max(label.span.end);
        let numbers = read_numbers(outline.document.slice(label.value.clone()), words, &span, findings);
        Listed { numbers, span }
    };
    let steps = listed(label(&["steps"]), &["step", "steps"]);
    let deps = listed(label(&["depends on", "dependencies"]), &SESSION_WORDS);
    let wave = listed(label(&["wave"]), &["wave"]).numbers.first().copied();
    let fence = fence(outline, section.content());
    fence.add_findings(findings);
    Session { number, title: title.to_owned(), heading, steps, wave, deps, fence }
}

/// Reads a list of numbers; what is none is reported.
fn read_numbers(value: &str, words: &[&str], span: &Range<usize>, findings: &mut Findings<'_>) -> Vec<u64> {
    numbers(value, words).unwrap_or_else(|part| {
        let text = format!("`{}` is no number of a {}", neutral(&part, 60), words.first().unwrap_or(&""));
        findings.add(Code::UnparsedDependency, span.clone(), None, text, "write `1`, `1, 2`, `1-3` or `none`");
        Vec::new()
    })
}

/// The lines `- **Wave 1:** Session 1, Session 2`.
fn ordered_waves(outline: &Outline<'_>, section: &Section<'_>, findings: &mut Findings<'_>) -> Vec<OrderedWave> {
    let document = outline.document;
    let mut found = Vec::new();
    for span in lines(document.text, section.content()) {
        let line = item(document.slice(span.clone())).1.replace(['*', '_'], "");
        let Some((name, value)) = line.split_once(':') else { continue };
        let Ok(wave) = numbers(name, &["wave"]) else { continue };
        if let Some(wave) = wave.first().copied().filter(|_| document.code_at(span.start).is_none()) {
            let numbers = read_numbers(value, &SESSION_WORDS, &span, findings);
            found.push(OrderedWave { wave, sessions: Listed { numbers, span } });
        }
    }
    found
}
