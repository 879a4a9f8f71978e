//! Reads sessions of an ultraplan's strategy that have no headings: table rows, items or lines.
//!
//! They count only if unambiguous: each is named once, and each existing step belongs to one.

use std::collections::HashSet;
use std::ops::Range;

use super::numbers::parse_numbers;
use super::strategy::{ExecutionStrategy, NumberList, SESSION_WORDS, SessionSection, WaveLine};
use crate::dialects::ultraplan::scope_fence::ScopeFence;
use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::{normalize_key, split_list_marker};
use crate::model::MAX_PLAN_TASKS;
use crate::pattern::Pattern;

const MAX_LINE_BYTES: usize = 4_096;

/// `Session 1: …`, `Session 2 (Wave 1) — …`, or `Wave 1: …`: the numbers, and the text behind the colon.
static NAMED: Pattern = Pattern::new(
    r"^(?i-u:(session|wave|batch))\s+([0-9]{1,6})\s*(?:[(\[]\s*(?i-u:wave)\s+([0-9]{1,6})\s*[)\]])?\s*(?::|—|–|\s-\s|→|->)\s*(?:[(\[]\s*(?i-u:wave)\s+([0-9]{1,6})\s*[)\]]\s*:?)?\s*",
);
static STEPS: Pattern = Pattern::new(
    r"^(?i-u:steps?)\s*:?\s+([0-9][0-9,\s–-]*(?:(?i-u:and|to|&)\s*(?:(?i-u:steps?)\s*)?[0-9][0-9,\s–-]*)*)[,;.]?\s*(?:[(\[—–-]*\s*(?i-u:wave)\s+([0-9]{1,6})[)\]]*[,;.]?)?\s*(?:[(\[—–-]*\s*(?i-u:depends\s+on|after|needs)\s+((?i-u:sessions?)\s+[0-9][0-9,\s]*(?:(?i-u:and)\s+[0-9]+)?)[)\]]*)?\s*\.?\s*$",
);

/// Strategy in `part` of the document; `steps` are the numbers of the plan's steps.
pub(super) fn read(
    document: &MarkdownDocument<'_>,
    part: Range<usize>,
    steps: &[u64],
) -> Option<ExecutionStrategy> {
    let lines = line_ranges(document.text, part).filter(|line| {
        document.code_at(line.start).is_none() && !document.slice(line.clone()).trim().is_empty()
    });
    let mut reader = BriefReader {
        columns: None,
        sessions: Vec::new(),
        wave_lines: Vec::new(),
    };
    for line in lines.filter(|line| line.len() <= MAX_LINE_BYTES) {
        reader.read_line(document.slice(line.clone()), line)?;
    }
    let BriefReader {
        sessions,
        wave_lines,
        ..
    } = reader;
    let mut left: HashSet<u64> = steps.iter().copied().collect();
    let mut numbers = HashSet::new();
    let is_clear = sessions.iter().all(|session| {
        let own = &session.steps.numbers;
        !own.is_empty()
            && own.iter().all(|step| left.remove(step))
            && numbers.insert(session.number)
    });
    (is_clear && left.is_empty() && !sessions.is_empty()).then_some(ExecutionStrategy {
        sessions,
        wave_lines,
    })
}

#[derive(Clone, Copy)]
struct TableColumns {
    session: usize,
    steps: usize,
    wave: Option<usize>,
    deps: Option<usize>,
}

struct BriefReader {
    columns: Option<TableColumns>,
    sessions: Vec<SessionSection>,
    wave_lines: Vec<WaveLine>,
}

impl BriefReader {
    /// Reads a line; `None` for a session that cannot be understood.
    fn read_line(&mut self, row: &str, line: Range<usize>) -> Option<()> {
        if row.trim_start().starts_with('|') {
            return self.read_row(row, line);
        }
        self.columns = None;
        let plain = split_list_marker(row).1.replace(['*', '_', '`'], "");
        let Some(([word, number, wave_before, wave_behind], rest)) = NAMED.read(&plain) else {
            // A sentence names no session.
            return (!super::strategy::names_session(&plain)).then_some(());
        };
        let number = number.parse().ok()?;
        if !word.eq_ignore_ascii_case("session") {
            let sessions = parse_numbers(rest, &SESSION_WORDS, MAX_PLAN_TASKS).ok();
            let sessions = sessions.filter(|_| rest.trim_start().starts_with(['S', 's']))?;
            self.wave_lines.push(WaveLine {
                wave: number,
                sessions: number_list(sessions, &line),
            });
            return Some(());
        }
        let ([steps, wave_last, deps], _) = STEPS.read(rest)?;
        let steps = parse_numbers(
            &steps.replace('\u{a0}', " "),
            &["step", "steps"],
            MAX_PLAN_TASKS,
        )
        .ok()?;
        let deps = parse_numbers(deps, &SESSION_WORDS, MAX_PLAN_TASKS).ok()?;
        let wave = [wave_before, wave_behind, wave_last]
            .into_iter()
            .find(|wave| !wave.is_empty());
        let wave = wave.map(str::parse).transpose().ok()?;
        self.add(
            number,
            number_list(steps, &line),
            wave,
            number_list(deps, &line),
        );
        Some(())
    }

    fn read_row(&mut self, row: &str, line: Range<usize>) -> Option<()> {
        let cells: Vec<String> = row
            .trim()
            .trim_matches('|')
            .split('|')
            .map(|cell| cell.replace(['*', '`'], ""))
            .collect();
        if cells.iter().all(|cell| {
            !cell.is_empty() && cell.chars().all(|char| matches!(char, '-' | ':' | ' '))
        }) {
            return Some(());
        }
        let Some(columns) = self.columns else {
            let names: Vec<String> = cells.iter().map(|cell| normalize_key(cell)).collect();
            self.columns = Some(TableColumns {
                session: column(&names, &["session", "#", "no.", "session #"])?,
                steps: column(&names, &["steps", "step"])?,
                wave: column(&names, &["wave", "batch"]),
                deps: column(&names, &["depends on", "dependencies", "needs", "after"]),
            });
            return Some(());
        };
        let [number] = cell_numbers(&cells, Some(columns.session), &SESSION_WORDS)?
            .try_into()
            .ok()?;
        let steps = cell_numbers(&cells, Some(columns.steps), &["step", "steps"])?;
        let waves = cell_numbers(&cells, columns.wave, &["wave", "batch"])?;
        let deps = cell_numbers(&cells, columns.deps, &SESSION_WORDS)?;
        self.add(
            number,
            number_list(steps, &line),
            waves.first().copied(),
            number_list(deps, &line),
        );
        Some(())
    }

    fn add(&mut self, number: u64, steps: NumberList, wave: Option<u64>, deps: NumberList) {
        let heading = steps.span.clone();
        let (title, fence) = (format!("Session {number}"), ScopeFence::default());
        self.sessions.push(SessionSection {
            number,
            title,
            heading,
            steps,
            wave,
            deps,
            fence,
        });
    }
}

fn number_list(numbers: Vec<u64>, line: &Range<usize>) -> NumberList {
    NumberList {
        numbers,
        span: line.clone(),
    }
}

fn column(names: &[String], headings: &[&str]) -> Option<usize> {
    names
        .iter()
        .position(|name| headings.contains(&name.as_str()))
}

fn cell_numbers(cells: &[String], place: Option<usize>, words: &[&str]) -> Option<Vec<u64>> {
    match place {
        Some(place) => parse_numbers(cells.get(place)?, words, MAX_PLAN_TASKS).ok(),
        None => Some(Vec::new()),
    }
}
