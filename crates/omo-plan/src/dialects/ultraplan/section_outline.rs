//! Sections of an ultraplan by their headings, and a collector for its diagnostics.

use std::ops::Range;

use crate::diagnostic::{Code, Diagnostic, Severity, has_errors};
use crate::document::{Heading, MarkdownDocument};
use crate::labels::normalize_key;
use crate::pattern::Pattern;

#[derive(Clone, Debug)]
pub(crate) struct PlanSection<'d> {
    pub heading: &'d Heading<'d>,
    /// Bytes up to the next heading of the same or a higher level.
    pub span: Range<usize>,
}

impl PlanSection<'_> {
    pub(crate) fn content(&self) -> Range<usize> {
        self.heading.span.end..self.span.end
    }
}

#[derive(Debug)]
pub(crate) struct SectionOutline<'d> {
    pub document: &'d MarkdownDocument<'d>,
    pub sections: Vec<PlanSection<'d>>,
}

impl<'d> SectionOutline<'d> {
    pub(crate) fn new(document: &'d MarkdownDocument<'d>) -> Self {
        let ranges = document.section_ranges();
        let sections = document
            .headings
            .iter()
            .zip(ranges)
            .map(|(heading, whole)| PlanSection {
                heading,
                span: whole,
            });
        Self {
            document,
            sections: sections.collect(),
        }
    }

    /// First section of level 2 with this name, given in lower case.
    pub(crate) fn section_named(&self, name: &str) -> Option<&PlanSection<'d>> {
        self.sections.iter().find(|section| {
            section.heading.level == 2 && is_heading_named(section.heading.text, name)
        })
    }

    pub(crate) fn sections_in(&self, bytes: Range<usize>) -> &[PlanSection<'d>] {
        let first = self
            .sections
            .partition_point(|section| section.heading.span.start < bytes.start);
        let behind = self
            .sections
            .partition_point(|section| section.heading.span.start < bytes.end);
        self.sections.get(first..behind).unwrap_or_default()
    }
}

/// `true` for the heading `name` in any case, with or without emphasis or a colon.
pub(crate) fn is_heading_named(text: &str, name: &str) -> bool {
    normalize_key(text.trim_matches(|char: char| char.is_whitespace() || "*_:".contains(char)))
        == name
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NumberedHeading<'a> {
    /// Heading such as `Step 3: its title`.
    Is(u64, &'a str),
    LooksLike,
    Other,
}

/// Number and title of `Step N: title`, or of the same with another capitalized word.
pub(crate) fn parse_numbered_heading<'a>(heading: &Heading<'a>, word: &str) -> NumberedHeading<'a> {
    if let Some((number, title)) =
        split_numbered_heading(heading.text, word).filter(|_| heading.level == 3)
    {
        return NumberedHeading::Is(number, title);
    }
    let text = heading.text.trim_start_matches(is_frame);
    let begins = text
        .get(..word.len())
        .is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    let rest = text.get(word.len()..).unwrap_or_default();
    let has_number = heading.text.chars().any(char::is_numeric);
    if begins && rest.starts_with(is_frame) && has_number {
        NumberedHeading::LooksLike
    } else {
        NumberedHeading::Other
    }
}

/// Numbered heading: word and number of `Step 3:`.
static NUMBERED: Pattern = Pattern::new(r"^([A-Za-z]+)[ \t]+([0-9]+):");

fn split_numbered_heading<'a>(text: &'a str, word: &str) -> Option<(u64, &'a str)> {
    let ([found, number], title) = NUMBERED.read(text)?;
    let number = number.parse().ok().filter(|_| found == word)?;
    Some((number, title.trim()))
}

fn is_frame(char: char) -> bool {
    !char.is_alphabetic()
}

const MAX_FINDINGS: usize = 1_000;

#[derive(Debug)]
pub(crate) struct PlanFindings<'d> {
    document: &'d MarkdownDocument<'d>,
    found: Vec<Diagnostic>,
}

impl<'d> PlanFindings<'d> {
    /// Collector with a diagnostic of an unclosed code fence, if there is one.
    pub(crate) fn new(document: &'d MarkdownDocument<'d>) -> Self {
        let mut findings = Self {
            document,
            found: Vec::new(),
        };
        if let Some(code) = document.unclosed_fence() {
            let text = "this fence is not closed: everything after it is code".to_owned();
            findings.add(
                Code::UnclosedFence,
                code.span.clone(),
                None,
                text,
                "close it with the same signs",
            );
        }
        findings
    }

    /// Adds a diagnostic. Beyond `MAX_FINDINGS` only the first error is added, so that a plan with
    /// errors stays one.
    pub(crate) fn add(
        &mut self,
        code: Code,
        span: Range<usize>,
        task: Option<&str>,
        text: String,
        help: &str,
    ) {
        let is_full = self.found.len() >= MAX_FINDINGS;
        if is_full && (code.severity() != Severity::Error || has_errors(&self.found)) {
            return;
        }
        self.found.push(Diagnostic {
            code,
            severity: code.severity(),
            line: self.document.line_number(span.start),
            span,
            task: task.map(str::to_owned),
            text,
            help: Some(help.to_owned()).filter(|help| !help.is_empty()),
        });
    }

    pub(crate) fn into_diagnostics(self) -> Vec<Diagnostic> {
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_told_from_what_looks_like_one() {
        for (line, expected) in [
            ("### Step 1: colon", NumberedHeading::Is(1, "colon")),
            ("### Step 9:no space", NumberedHeading::Is(9, "no space")),
            ("### Step 010: zero", NumberedHeading::Is(10, "zero")),
            ("### Step\t2: tab", NumberedHeading::Is(2, "tab")),
            ("### Step 3:", NumberedHeading::Is(3, "")),
            ("### Step 4: `a: b` #", NumberedHeading::Is(4, "`a: b`")),
            ("### Step 2 — dash", NumberedHeading::LooksLike),
            ("### Step 3. dot", NumberedHeading::LooksLike),
            ("#### Step 4: level four", NumberedHeading::LooksLike),
            ("## Step 5: level two", NumberedHeading::LooksLike),
            ("### step 6: lower case", NumberedHeading::LooksLike),
            ("### Step 7a: letter", NumberedHeading::LooksLike),
            ("### Step 8.1: decimal", NumberedHeading::LooksLike),
            ("### Step 11", NumberedHeading::LooksLike),
            ("### **Step 12: bold**", NumberedHeading::LooksLike),
            ("### 13. Step: number first", NumberedHeading::LooksLike),
            ("### Step 14： full-width", NumberedHeading::LooksLike),
            ("### Step\u{a0}3: no-break", NumberedHeading::LooksLike),
            ("### Step ３: full-width", NumberedHeading::LooksLike),
            (
                "### Step 99999999999999999999: large",
                NumberedHeading::LooksLike,
            ),
            ("### Step by step", NumberedHeading::Other),
            ("### Stepping 2", NumberedHeading::Other),
            ("### Notes on step 2", NumberedHeading::Other),
            ("### 13", NumberedHeading::Other),
        ] {
            let document = MarkdownDocument::read(line);
            assert_eq!(
                parse_numbered_heading(&document.headings[0], "Step"),
                expected,
                "{line}"
            );
        }
    }
}
