//! Pasted tables and comparisons, whose keywords ask for nothing: lines that are formed like their neighbours.

use std::ops::Range;

use super::pasted_lines::{self, is_list_item, without_bullet};
use super::{Keywords, keyword_match};
use crate::text::masked_text::{lines, paragraphs};

pub(super) fn tables(text: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let mut ranges = barred_tables(text);
    for block in paragraphs(text) {
        let block_text = text.get(block.clone()).unwrap_or_default();
        if keyword_match::contains_keyword(block_text, keywords) {
            let rows = rows_in_block(block_text, keywords);
            ranges.extend(
                rows.into_iter()
                    .map(|row| block.start + row.start..block.start + row.end),
            );
        }
    }
    ranges
}

/// Lines that begin with a bar such as `|`, and the lines around a row of dashes.
fn barred_tables(text: &str) -> Vec<Range<usize>> {
    let rows: Vec<(Range<usize>, &str)> = lines(text)
        .filter(|(_, line)| line.contains(['|', '│', '┃']))
        .collect();
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (index, (range, line)) in rows.iter().enumerate() {
        if line.trim_start().starts_with(['|', '│', '┃']) {
            ranges.push(range.clone());
        } else if is_rule(line) {
            let head = index.checked_sub(1).and_then(|index| rows.get(index));
            ranges.extend(
                head.map(|(head, _)| head.clone())
                    .filter(|head| is_below(head, range)),
            );
            ranges.push(range.clone());
        } else if ranges.last().is_some_and(|upper| is_below(upper, range)) {
            ranges.push(range.clone());
        }
    }
    ranges
}

fn is_below(upper: &Range<usize>, lower: &Range<usize>) -> bool {
    upper.end + 1 == lower.start
}

fn is_rule(line: &str) -> bool {
    line.contains("--")
        && line
            .chars()
            .all(|char| matches!(char, '|' | '-' | ':') || char.is_whitespace())
}

fn rows_in_block(block: &str, keywords: &Keywords) -> Vec<Range<usize>> {
    let rows: Vec<(Range<usize>, &str)> = lines(block).collect();
    let mut ranges = Vec::new();
    for (index, (range, line)) in rows.iter().enumerate() {
        if !keyword_match::contains_keyword(line, keywords) {
            continue;
        }
        let neighbour_indices = [index.checked_sub(1), Some(index + 1)];
        let mut neighbours = neighbour_indices
            .into_iter()
            .flatten()
            .filter_map(|index| rows.get(index))
            .map(|(_, line)| *line);
        let cells = cells_in_line(line);
        let is_row = cells.is_some()
            && neighbours
                .clone()
                .any(|other| cells_in_line(other) == cells)
            || line.matches(" | ").count() > 1 && !starts_with_keyword(line, keywords);
        let is_entry = described_name(line).is_some_and(|(name, text)| {
            is_keyword(name, keywords)
                && neighbours
                    .clone()
                    .any(|other| neighbour_describes_too(line, text, other))
        });
        let is_lone_name = is_list_item(line)
            && is_keyword(without_bullet(line), keywords)
            && !neighbours
                .clone()
                .any(|other| is_list_item(other) && is_task(without_bullet(other)))
            && neighbours.any(|other| {
                other.ends_with(':') || is_list_item(other) && !without_bullet(other).contains(' ')
            });
        if is_row || is_entry || is_lone_name || is_comparison(line, keywords) {
            ranges.push(range.clone());
        }
    }
    ranges
}

fn starts_with_keyword(line: &str, keywords: &Keywords) -> bool {
    keyword_match::find_keywords(line, keywords)
        .first()
        .is_some_and(|word| word.start == 0)
}

fn is_keyword(name: &str, keywords: &Keywords) -> bool {
    let name = name.trim_matches(['*', '_', ' ']);
    keywords
        .words()
        .iter()
        .any(|keyword| name.eq_ignore_ascii_case(keyword))
}

fn cells_in_line(line: &str) -> Option<(char, usize)> {
    let line = line.trim();
    let tabs = line.split('\t').filter(|cell| !cell.is_empty()).count();
    if tabs > 1 {
        return Some(('\t', tabs));
    }
    if columns(line, "  ") > 2 || columns(line, "   ") > 1 {
        return Some((' ', columns(line, "  ")));
    }
    let commas = line.matches(',').count();
    let is_list = commas > 1 && !line.contains(", ") && !line.contains('，');
    is_list.then_some((',', commas + 1))
}

fn columns(line: &str, gap: &str) -> usize {
    line.split(gap)
        .filter(|cell| !cell.trim().is_empty())
        .count()
}

/// Name and text of `name: text` or `name - text`, with or without a bullet; a bracket behind the name is dropped.
fn described_name(line: &str) -> Option<(&str, &str)> {
    let rest = without_bullet(line);
    let at = [": ", " - ", " – ", " — ", "："]
        .iter()
        .filter_map(|mark| Some((rest.find(mark)?, mark.len())))
        .min();
    let (end, length) = at?;
    let name = rest.get(..end)?;
    let name = name.split(" (").next().unwrap_or(name).trim();
    (name.split_whitespace().count() < 3).then_some((name, rest.get(end + length..)?.trim()))
}

/// `true` where the neighbour `other` describes a name as well: in a list, or both with descriptions.
fn neighbour_describes_too(line: &str, text: &str, other: &str) -> bool {
    let Some((_, other_text)) = described_name(other) else {
        return false;
    };
    is_list_item(line) && is_list_item(other) || is_description(text) && is_description(other_text)
}

/// `true` for a line such as `goal: loops. ulw: checks.`
fn is_comparison(line: &str, keywords: &Keywords) -> bool {
    let described: Vec<(&str, &str)> = line.split(". ").filter_map(described_name).collect();
    described.len() > 1
        && described.len() == line.split(". ").count()
        && described.iter().any(|(name, _)| is_keyword(name, keywords))
        && described.iter().all(|(_, text)| is_description(text))
}

fn is_task(line: &str) -> bool {
    let first = line.split_whitespace().next().unwrap_or_default();
    pasted_lines::is_task_word(&first.to_ascii_lowercase())
}

/// `true` for `loops until it is verified`, `a loop` or `no checks`; not for `fix it`.
fn is_description(text: &str) -> bool {
    let first = text
        .split_whitespace()
        .next()
        .unwrap_or_default()
        .trim_end_matches([',', '.']);
    first.len() > 3 && first.ends_with('s') && !first.ends_with("ss")
        || first.ends_with("ed")
        || matches!(
            first,
            "a" | "an" | "the" | "no" | "is" | "has" | "yes" | "only" | "one"
        )
}
