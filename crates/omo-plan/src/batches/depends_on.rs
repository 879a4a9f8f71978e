//! Reads `Depends on:` of a task: `Task 1, Task 2 and 3`, `Tasks 1-3`, `Task 2-tests (schema)`, a
//! list, or `None`.
//!
//! A number counts behind the word `Task`, or where the value holds only numbers.

mod references;

use std::collections::BTreeMap;
use std::ops::Range;

use crate::batches::heading_form::HeadingForm;
use crate::batches::task_outline::TaskOutline;
use crate::diagnostic::Code;
use crate::document::{MarkdownDocument, line_ranges};
use crate::labels::split_list_marker;
use crate::pattern::Pattern;
use references::{Reference, Value, merge_values, parse_references};

static LABEL: Pattern = Pattern::new(r"{depends on}");
static EXACT_LABEL: Pattern = Pattern::new(r"^(?i-u:depends on|dependenc(?:ies|y))");
static SOFT_LABEL: Pattern = Pattern::new(r"^(?i-u:dependenc)");
/// Label with its colon and the emphasis around it.
static WHOLE_LABEL: Pattern = Pattern::new(r"^(?:{depends on})[*_ \t]*[:：][*_]*");
/// Tasks of other plans, such as `login/Task 2`, which no task here waits for.
static ELSEWHERE: Pattern = Pattern::new(
    r"^[\s*_`]*(?:[\w.-]+/(?i-u:task)s?[ \t]*#?[\w.-]+[`,;&\s]*(?:(?i-u:and)[ \t]+)?)+[*_\s]*$",
);
const LOOK_BACK: usize = 64;
const MAX_EDGES: usize = 100_000;
pub(super) fn read_dependencies<'a>(
    document: &MarkdownDocument<'a>,
    outline: &mut TaskOutline<'a>,
) {
    let numbers = tasks_by_number(outline);
    let is_strict = document.front_matter_field("contract_version").is_some();
    read_labels(document, outline, &numbers);
    if !is_strict && outline.tasks.iter().all(|task| !task.states_dependencies) {
        read_table(document, outline, &numbers);
    }
}

/// Heading of the column with the numbers of tasks, such as `#` or `No.`.
static NUMBER_COLUMN: Pattern =
    Pattern::new(r"^[*_\s]*(?:#|(?i-u:no\.?|id|nr\.?|tasks?)|{task})[*_\s]*$");
static NEEDS_COLUMN: Pattern =
    Pattern::new(r"^[*_\s]*(?:{depends on}|(?i-u:depends|deps|blocked by|prerequisites?))[*_\s]*$");

fn read_table<'a>(
    document: &MarkdownDocument<'a>,
    outline: &mut TaskOutline<'a>,
    numbers: &BTreeMap<u64, usize>,
) {
    let mut columns: Option<(usize, usize)> = None;
    let mut named_by = vec![None; outline.tasks.len()];
    for line in line_ranges(document.text, document.body_start..document.text.len()) {
        let row = document.slice(line.clone()).trim();
        if !row.starts_with('|') || document.code_at(line.start).is_some() {
            columns = None;
            continue;
        }
        let cells: Vec<&str> = row.trim_matches('|').split('|').map(str::trim).collect();
        let Some((own, needs)) = columns else {
            columns = cells
                .iter()
                .position(|cell| NUMBER_COLUMN.is_match(cell))
                .zip(cells.iter().position(|cell| NEEDS_COLUMN.is_match(cell)))
                .filter(|(own, needs)| own != needs);
            continue;
        };
        let own_cell = cells.get(own).copied().unwrap_or_default();
        let Value::References(owners) = parse_references(own_cell) else {
            continue;
        };
        let [owner] = owners.as_slice() else { continue };
        let places = resolve_reference(outline, numbers, 0, owner);
        let Some(place) = places.into_iter().find_map(Result::ok) else {
            continue;
        };
        let needs_cell = cells.get(needs).copied().unwrap_or_default();
        let needed = match parse_references(needs_cell) {
            Value::Unreadable => continue,
            Value::Nothing => Vec::new(),
            Value::References(needed) => needed,
        };
        if let Some(task) = outline.tasks.get_mut(place) {
            task.states_dependencies = true;
        }
        let needed: Vec<_> = needed
            .iter()
            .flat_map(|needed| resolve_reference(outline, numbers, place, needed))
            .collect();
        for needed in needed {
            add_dependency(document, outline, place, needed, &line, &mut named_by);
        }
    }
}

fn read_labels<'a>(
    document: &MarkdownDocument<'a>,
    outline: &mut TaskOutline<'a>,
    numbers: &BTreeMap<u64, usize>,
) {
    // The last task that named each one: tasks follow one another as their labels do.
    let mut named_by = vec![None; outline.tasks.len()];
    let (mut done, mut edges) = (0, 0_usize);
    for at in LABEL.starts(document.text) {
        let is_label = outline.form == HeadingForm::Loose
            || EXACT_LABEL.is_match(document.slice(at..document.text.len()));
        let Some(value) = label_at(document, at).filter(|_| at >= done && is_label) else {
            continue;
        };
        let Some(place) = outline.task_at(at) else {
            continue;
        };
        if document.code_at(at).is_some() || document.is_in_html(at) {
            continue;
        }
        let (value, span) = value_of(document, value);
        if value == Value::Unreadable && SOFT_LABEL.is_match(document.slice(at..span.end)) {
            continue;
        }
        done = span.end;
        if let Some(task) = outline.tasks.get_mut(place) {
            task.states_dependencies = true;
        }
        let references = match value {
            Value::Nothing => continue,
            Value::References(references) => references,
            Value::Unreadable => {
                let named = outline.tasks.get(place).map(|task| task.id);
                let shown = omo_core::text::sanitize(document.slice(span.clone()), 60);
                let text = format!(
                    "`{shown}` names no task: a dependency is written as `Task 1`, nothing as `None`"
                );
                outline.report(document, Code::UnparsedDependency, span, text, named);
                continue;
            }
        };
        for reference in references {
            let needed = resolve_reference(outline, numbers, place, &reference);
            edges += needed.len();
            if edges > MAX_EDGES {
                let text = format!("the tasks name more than {MAX_EDGES} dependencies");
                return outline.report(document, Code::TooManyDependencies, span, text, None);
            }
            for needed in needed {
                add_dependency(document, outline, place, needed, &span, &mut named_by);
            }
        }
    }
}

fn add_dependency(
    document: &MarkdownDocument<'_>,
    outline: &mut TaskOutline<'_>,
    place: usize,
    needed: Result<usize, String>,
    span: &Range<usize>,
    named_by: &mut [Option<usize>],
) {
    let Some(own) = outline.tasks.get(place).map(|task| task.id) else {
        return;
    };
    match needed {
        Err(unknown) => {
            let text = format!("there is no task {unknown}");
            outline.report(
                document,
                Code::UnknownDependency,
                span.clone(),
                text,
                Some(own),
            );
        }
        Ok(needed) if needed == place => {
            let text = format!("task {own} depends on itself");
            outline.report(
                document,
                Code::SelfDependency,
                span.clone(),
                text,
                Some(own),
            );
        }
        Ok(needed) => {
            let before = named_by
                .get_mut(needed)
                .and_then(|last| last.replace(place));
            if let Some(task) = outline
                .tasks
                .get_mut(place)
                .filter(|_| before != Some(place))
            {
                task.depends_on.push(needed);
            }
        }
    }
}

/// Index of the task by number: the task, or the implementation of a pair.
fn tasks_by_number(outline: &TaskOutline<'_>) -> BTreeMap<u64, usize> {
    let mut numbers: BTreeMap<u64, (u8, usize)> = BTreeMap::new();
    for (place, task) in outline.tasks.iter().enumerate() {
        let (number, half) = task.id.split_once('-').unwrap_or((task.id, ""));
        let rank = match half {
            "" => 2,
            "impl" => 1,
            "tests" => 0,
            _ => continue,
        };
        let Ok(number) = number.parse() else { continue };
        let best = numbers.entry(number).or_insert((rank, place));
        if rank > best.0 {
            *best = (rank, place);
        }
    }
    numbers
        .into_iter()
        .map(|(number, (_, place))| (number, place))
        .collect()
}

/// Indices of the tasks that a `Reference` names, or the missing name.
fn resolve_reference(
    outline: &TaskOutline<'_>,
    numbers: &BTreeMap<u64, usize>,
    place: usize,
    reference: &Reference<'_>,
) -> Vec<Result<usize, String>> {
    match reference {
        Reference::One(id) => {
            let named = outline.positions.get(id).copied();
            let numbered = named.or_else(|| numbers.get(&id.parse().ok()?).copied());
            vec![numbered.ok_or_else(|| (*id).to_owned())]
        }
        Reference::AllBefore => (0..place).map(Ok).collect(),
        Reference::OneBefore => place.checked_sub(1).map(Ok).into_iter().collect(),
        Reference::Range(one, other) => {
            let (first, last) = (*one.min(other), *one.max(other));
            let places: Vec<_> = numbers
                .range(first..=last)
                .map(|(_, place)| Ok(*place))
                .collect();
            let is_whole = (last - first).checked_add(1) == Some(places.len() as u64);
            let missing =
                (!is_whole).then(|| Err(format!("for each number from {first} to {last}")));
            places.into_iter().chain(missing).collect()
        }
    }
}

/// Rest of the line behind the label at `at`.
fn label_at(document: &MarkdownDocument<'_>, at: usize) -> Option<Range<usize>> {
    let near = (at.saturating_sub(LOOK_BACK)..at)
        .find(|start| document.text.is_char_boundary(*start))
        .unwrap_or(at);
    let before = document.slice(near..at);
    let line_start = before.rfind(['\n', '\r']).map(|end| near + end + 1);
    let line_start = line_start.or((near == 0).then_some(0));
    let before = document.slice(line_start.unwrap_or(near)..at);
    let lead = before.trim_end_matches(['*', '_']);
    let is_emphasized = lead.len() < before.len();
    let stands_alone = line_start.is_some()
        && split_list_marker(lead.trim_start_matches(['>', ' ', '\t']))
            .1
            .is_empty();
    let stands_free = !lead.ends_with(|char: char| char == '`' || char.is_alphanumeric());
    if !(stands_alone || is_emphasized && stands_free) {
        return None;
    }
    let value = WHOLE_LABEL.behind(document.slice(at..document.text.len()))?;
    line_ranges(
        document.text,
        document.text.len() - value.len()..document.text.len(),
    )
    .next()
}

fn value_of<'a>(document: &MarkdownDocument<'a>, line: Range<usize>) -> (Value<'a>, Range<usize>) {
    let text = document.slice(line.clone());
    if ELSEWHERE.is_match(text) {
        return (Value::Nothing, line);
    }
    let mut value = parse_references(text);
    let goes_on =
        text.trim_end().ends_with([',', '，', '、', '&']) || text.trim_end().ends_with(" and");
    if value != Value::Unreadable && !goes_on && !text.trim().is_empty() {
        return (value, line);
    }
    let is_bare = text.trim().is_empty();
    let (mut end, mut is_list, mut has_gap) = (line.end, false, false);
    for next in line_ranges(document.text, line.end..document.text.len()).skip(1) {
        let row = document.slice(next.clone());
        let (sign, inner) = split_list_marker(row);
        if row.trim().is_empty() {
            has_gap = true;
            continue;
        }
        let belongs = if has_gap {
            sign.is_some() && !goes_on
        } else {
            sign.is_some() || !is_list
        };
        let is_mark = row.starts_with('#') || inner.starts_with("**") || inner.starts_with("```");
        let is_mark = is_mark || LABEL.is_match(row);
        if !belongs || is_mark || (sign.is_none() && inner.split_once(':').is_some()) {
            break;
        }
        // A paragraph behind an empty line, or behind words, belongs to no label.
        if sign.is_none() && !is_bare && !goes_on {
            break;
        }
        is_list |= sign.is_some();
        value = merge_values(value, parse_references(inner));
        end = next.end;
    }
    (value, line.start..end)
}

#[cfg(test)]
mod tests;
