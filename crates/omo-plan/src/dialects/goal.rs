//! Reads the goal of a plan from files beside it, such as `spec.md`.

use std::ops::Range;

use omo_core::text::sanitize;

use crate::document::{MarkdownDocument, line_ranges};

pub(super) const MAX_GOAL: usize = 2_000;
const MAX_PART: usize = 900;
const MAX_REQUIREMENT: usize = 120;
const MAX_REQUIREMENTS: usize = 20;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GoalFile {
    /// Path from the plan's folder; `*` is any folder.
    pub path: &'static str,
    pub part: GoalPart,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GoalPart {
    /// Sections with these headings, in lower case.
    Sections(&'static [&'static str]),
    FirstParagraph,
    /// Titles of requirements, such as `### Requirement: Users can log in`.
    Requirements,
}

/// Goal on one line, of limited length and without control characters; `files` are in the order of
/// [`GoalFile`].
pub fn read_goal<'a>(files: impl IntoIterator<Item = (GoalPart, &'a str)>) -> String {
    let parts = files.into_iter().map(|(part, text)| {
        let document = MarkdownDocument::read(text);
        match part {
            GoalPart::Sections(titles) => read_sections(&document, titles),
            GoalPart::FirstParagraph => first_paragraph(&document),
            GoalPart::Requirements => read_requirements(&document),
        }
    });
    let parts: Vec<String> = parts.filter(|part| !part.is_empty()).collect();
    sanitize(&parts.join(" "), MAX_GOAL)
}

fn read_sections(document: &MarkdownDocument<'_>, titles: &[&str]) -> String {
    let mut found = Vec::new();
    for (heading, range) in document.headings.iter().zip(document.section_ranges()) {
        if titles.contains(&heading.text.trim().to_lowercase().as_str()) {
            let text = join_lines(prose_lines(document, heading.span.end..range.end));
            if !text.is_empty() {
                found.push(format!("{}: {text}", heading.text.trim()));
            }
        }
    }
    found.join(" ")
}

fn first_paragraph(document: &MarkdownDocument<'_>) -> String {
    let mut paragraph = Vec::new();
    for row in prose_lines(document, document.body_start..document.text.len()) {
        match stated_field(row) {
            Some(("Input", value)) => {
                return join_lines(std::iter::once(
                    value.trim().trim_start_matches("User description:"),
                ));
            }
            Some(_) if paragraph.is_empty() => {}
            _ if row.is_empty() || row.starts_with('#') => {
                if !paragraph.is_empty() {
                    break;
                }
            }
            _ => paragraph.push(row),
        }
    }
    join_lines(paragraph.into_iter())
}

/// Name and value of `**Status**: Draft`.
fn stated_field(row: &str) -> Option<(&str, &str)> {
    let (name, value) = row.strip_prefix("**")?.split_once("**")?;
    match value.trim_start().strip_prefix(':') {
        Some(value) => Some((name.trim(), value)),
        None => Some((name.trim().strip_suffix(':')?, value)),
    }
}

fn read_requirements(document: &MarkdownDocument<'_>) -> String {
    let titles = document
        .headings
        .iter()
        .filter_map(|heading| heading.text.trim().strip_prefix("Requirement:"));
    let titles: Vec<String> = titles
        .take(MAX_REQUIREMENTS)
        .map(|title| sanitize(title, MAX_REQUIREMENT))
        .collect();
    if titles.is_empty() {
        String::new()
    } else {
        format!("Requirements: {}.", titles.join("; "))
    }
}

fn prose_lines<'a>(
    document: &MarkdownDocument<'a>,
    bytes: Range<usize>,
) -> impl Iterator<Item = &'a str> {
    let code = document.code_blocks.iter().map(|block| block.span.clone());
    let mut hidden: Vec<Range<usize>> = code.chain(document.html_blocks.iter().cloned()).collect();
    hidden.sort_by_key(|range| range.start);
    let mut hidden = hidden.into_iter().peekable();
    let lines = line_ranges(document.text, bytes).filter(move |line| {
        while hidden.next_if(|range| range.end <= line.start).is_some() {}
        hidden.peek().is_none_or(|range| range.start > line.start)
    });
    let rows: Vec<&'a str> = lines.map(|line| document.slice(line).trim()).collect();
    rows.into_iter()
}

fn join_lines<'a>(rows: impl Iterator<Item = &'a str>) -> String {
    let words: Vec<&str> = rows
        .flat_map(str::split_whitespace)
        .take(MAX_PART)
        .collect();
    sanitize(&words.join(" "), MAX_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_goal_is_read_from_what_stands_beside_a_plan() {
        let proposal = "# Add login\n\n## Why\nUsers <b>cannot</b>\nlog in.\n\n## What Changes\n\n- Add a form\n- Add \
                        a route\n\n```sh\nrm x\n```\n\n## Impact\n\nNone.\n";
        let spec = "## ADDED Requirements\n\n### Requirement: Users log in\n\ntext\n\n### Requirement: Users log out\n";
        let sections = GoalPart::Sections(&["why", "what changes"]);
        assert_eq!(
            read_goal([(sections, proposal), (GoalPart::Requirements, spec)]),
            "Why: Users ‹b›cannot‹/b› log in. What Changes: - Add a form - Add a route Requirements: Users log in; Users \
             log out."
        );
    }

    #[test]
    fn the_first_paragraph_is_prose_and_what_was_asked_for_comes_first() {
        for (text, expected) in [
            (
                "# Requirements Document\n\n## Introduction\n\nA bakery\nbakes.\n\nMore.\n",
                "A bakery bakes.",
            ),
            (
                "# Design\n\n<!-- fill in -->\n\n## Overview\n\nOne oven.\n## Next\nno\n",
                "One oven.",
            ),
            (
                "# Spec\n\n**Status**: Draft\n**Created:** today\n\nIt bakes.\n",
                "It bakes.",
            ),
            (
                "# Spec\n\n**Status**: Draft\n**Input**: User description: \"bake bread\"\n\n## A\n\nb\n",
                "\"bake bread\"",
            ),
            ("```\ncode\n```\n", ""),
            ("", ""),
            ("**unclosed\n", "**unclosed"),
        ] {
            assert_eq!(
                read_goal([(GoalPart::FirstParagraph, text)]),
                expected,
                "{text}"
            );
        }
    }

    #[test]
    fn a_goal_is_bounded() {
        let text = format!(
            "## Why\n\n{}\n\n## What Changes\n\n{0}\n",
            "word ".repeat(10_000)
        );
        let goal = read_goal(std::iter::repeat_n(
            (GoalPart::Sections(&["why", "what changes"]), text.as_str()),
            5,
        ));
        assert_eq!(goal.chars().count(), MAX_GOAL + 1);
        let long = format!("# A\n\n{}\n", "x".repeat(100_000));
        assert_eq!(
            read_goal([(GoalPart::FirstParagraph, long.as_str())])
                .chars()
                .count(),
            MAX_PART + 1
        );
    }
}
