//! Dependencies of checklist tasks: stated ones such as `depends on T001`, and implied ones.

use std::collections::{HashMap, HashSet};

use super::outline::{ChecklistEntry, ChecklistOutline, plain_lines};
use super::waves::read_waves;
use super::{ChecklistDialect, TaskItems};
use crate::document::{MarkdownDocument, line_ranges};
use crate::pattern::Pattern;
use crate::task_graph::order_by_needs;

/// Pairs between two sets of tasks, above which a task is put between them.
const MAX_PAIRS: usize = 4096;
const MAX_IDS: usize = 1000;

pub(super) const MAX_DEPENDENCIES: usize = 100_000;
const MAX_NEEDED_LINE_BYTES: usize = 1000;
const MAX_LINE_BYTES: usize = 16_384;

/// Words before the ids of needed tasks: `depends on T001`, `Dependencies: 1.1`,
/// `blocked by task 2`.
static NEEDS: Pattern = Pattern::new(
    r"(?:(?i-u:\b(?:depend(?:s|ing|ent)?[ \t]+(?:up)?on|dependenc(?:y|ies)|depends|requires|blocked[ \t]+by|after|needs|prerequisites?|dependencias?|depende[ \t]+de)\b)|依[赖賴](?:[于於]|项)?|依存(?:関係|先)?[ \t]*[:：]|前置(?:任务|任務|条件)?[ \t]*[:：]|前提(?:タスク)?[ \t]*[:：]|의존(?:성)?|[Aa]bhängig(?:keiten|[ \t]+von)|[Dd]ependências?|[Dd]épend(?:ances?|[ \t]+de)|[Зз]ависит от|[Зз]ависимости|[Pp]hụ thuộc)[*_]*[ \t]*[:：]?[*_ \t]*(?:(?:(?i-u:the|both|all of|completion of|tasks?|steps?)|任务|任務|タスク)[ \t]*)*",
);
/// Words behind the ids of needed tasks: `1.1、1.2 に依存`.
static NEEDED: Pattern = Pattern::new(r"^[ \t]*(?:の[^、。,]{0,20})?(?:に依存|の?完了後)");
/// Id with a remark in brackets, and the sign before the next id or the end of a range.
static LISTED_ID: Pattern = Pattern::new(
    r"^[`*_\[(]*((?:[A-Z][A-Z0-9]{1,20}-|[A-Z]{1,4}-?|t-?)?\d+[a-z]?(?:[.-]\d+[a-z]?)*)[`*_\])]*(?:[ \t]+\([^()]{1,80}\))?(?:[ \t]*(-|–|—|\.\.+|(?i-u:to|through|thru))[ \t]*[`*_]*|[ \t]*(?:,|&|\+|/|;|、|，)?[ \t]*(?:(?:(?i-u:and|or)[ \t]+)|[和及と][ \t]*)?(?:(?i-u:tasks?)[ \t]+|任务[ \t]*|タスク[ \t]*)?)",
);
/// Words between a task and later ones: `T004 before T005`, `T001 blocks T002`.
static BEFORE: Pattern = Pattern::new(
    r"^(?i-u:(?:(?:must|should|has to)[ \t]+(?:be[ \t]+)?(?:done[ \t]+|completed?[ \t]+|finished?[ \t]+|come[ \t]+|run[ \t]+)?)?before|blocks)[ \t]+[*_`]*(?:(?i-u:tasks?)[ \t]+)?",
);
static NOTHING: Pattern = Pattern::new(r"^(?i-u:none|nothing|no|n/a|-|—)\b?");

struct TaskNames<'a> {
    ids: Vec<&'a str>,
    places: HashMap<&'a str, usize>,
}

impl<'a> TaskNames<'a> {
    fn new(outline: &'a ChecklistOutline<'_>) -> Self {
        let ids: Vec<&str> = outline.tasks().map(|entry| entry.id.as_str()).collect();
        let places = ids
            .iter()
            .enumerate()
            .rev()
            .map(|(place, id)| (*id, place))
            .collect();
        Self { ids, places }
    }

    /// Tasks of `T001, T002 and T005-T007`, and the rest of the text.
    fn read_list<'t>(&self, text: &'t str) -> (Vec<usize>, &'t str) {
        let mut found = Vec::new();
        let mut rest = text;
        let mut range_start: Option<usize> = None;
        while let Some(([id, range], behind)) = LISTED_ID.read(rest) {
            let Some(place) = self.places.get(id).copied() else {
                break;
            };
            match range_start.take() {
                Some(start) if start < place => found.extend(start + 1..=place),
                _ => found.push(place),
            }
            range_start = (!range.is_empty()).then_some(place);
            rest = behind;
            if found.len() >= MAX_IDS {
                break;
            }
        }
        found.truncate(MAX_IDS);
        (found, rest)
    }
}

pub(super) struct StatedNeeds {
    /// Needed ids of each task; `None` for a task without a statement.
    pub ids: Vec<Option<Vec<String>>>,
    /// Index of the task that exceeds `MAX_DEPENDENCIES`; the rest is not read.
    pub too_many_at: Option<usize>,
}

pub(super) fn read_stated(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    format: &ChecklistDialect,
) -> StatedNeeds {
    let names = TaskNames::new(outline);
    let mut left = MAX_DEPENDENCIES;
    let mut too_many_at = None;
    let mut stated: Vec<Option<Vec<usize>>> = Vec::with_capacity(names.ids.len());
    for entry in outline.tasks() {
        let mut own: Option<Vec<usize>> = None;
        let mut broken = String::new();
        for line in line_ranges(document.text, entry.item.span.start..entry.body.end) {
            if own.as_ref().map_or(0, Vec::len) > left {
                break;
            }
            let row = document.slice(line);
            let whole = if broken.is_empty() {
                row
            } else {
                broken.push_str(row.trim());
                &broken
            };
            if broken.len() < MAX_LINE_BYTES && goes_on_below(whole) {
                broken = format!("{} ", whole.trim_end());
                continue;
            }
            add_needs(&names, whole, &mut own);
            broken.clear();
        }
        add_needs(&names, &broken, &mut own);
        let count = own.as_ref().map_or(0, Vec::len);
        if count > left {
            too_many_at = too_many_at.or(Some(stated.len()));
            own = None;
        }
        left = left.saturating_sub(count);
        stated.push(own);
    }
    if format.tasks == TaskItems::Lettered && too_many_at.is_none() {
        too_many_at = read_statements(document, outline, &names, &mut stated, left);
    }
    let own = stated.into_iter().enumerate().map(|(task, places)| {
        let mut seen = HashSet::from([task]);
        places.map(|places| {
            places
                .iter()
                .filter(|place| seen.insert(**place))
                .filter_map(|place| names.ids.get(*place).map(|id| (*id).to_owned()))
                .collect()
        })
    });
    StatedNeeds {
        ids: own.collect(),
        too_many_at,
    }
}

fn goes_on_below(row: &str) -> bool {
    let end = row.trim_end();
    NEEDS
        .around(end)
        .is_some_and(|(_, behind)| behind.is_empty() || end.ends_with(','))
}

fn add_needs(names: &TaskNames<'_>, row: &str, own: &mut Option<Vec<usize>>) {
    let mut rest = if row.len() <= MAX_LINE_BYTES { row } else { "" };
    // `_Depends: 1.1_`
    rest = rest.trim_start_matches([' ', '\t', '-', '*', '+', '_']);
    while let Some((_, behind)) = NEEDS.around(rest) {
        let (found, after) = names.read_list(behind);
        if !found.is_empty() {
            own.get_or_insert_default().extend(found);
        } else if rest.len() > behind.len() && NOTHING.is_match(behind) && is_label(rest, behind) {
            own.get_or_insert_default();
        }
        rest = after;
    }
    let says_so = row.len() <= MAX_NEEDED_LINE_BYTES && row.contains(['依', '完']);
    if let Some(found) = says_so.then(|| read_needed(names, row)).flatten() {
        own.get_or_insert_default().extend(found);
    }
}

/// Ids before a `NEEDED` word.
fn read_needed(names: &TaskNames<'_>, row: &str) -> Option<Vec<usize>> {
    let starts = row.char_indices().scan(' ', |before, (at, char)| {
        let is_behind_id = before.is_ascii_alphanumeric() || matches!(before, '.' | '-');
        let is_start = !is_behind_id && char.is_ascii_alphanumeric();
        *before = char;
        Some(Some(at).filter(|_| is_start))
    });
    starts.flatten().find_map(|at| {
        let (found, behind) = names.read_list(row.get(at..)?);
        Some(found).filter(|found| !found.is_empty() && NEEDED.is_match(behind))
    })
}

fn is_label(text: &str, value: &str) -> bool {
    let head = text.get(..text.len() - value.len()).unwrap_or_default();
    head.trim_end_matches([' ', '\t', '*', '_'])
        .ends_with([':', '：'])
}

/// Reads statements such as `T005 depends on T002`; returns the task at which they exceed `left`.
fn read_statements(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    names: &TaskNames<'_>,
    stated: &mut [Option<Vec<usize>>],
    mut left: usize,
) -> Option<usize> {
    let mut bodies = outline
        .entries
        .iter()
        .map(|entry| entry.body.clone())
        .peekable();
    for line in plain_lines(document) {
        while bodies.next_if(|body| body.end <= line.start).is_some() {}
        if bodies.peek().is_some_and(|body| body.contains(&line.start)) {
            continue;
        }
        let row = document.slice(line);
        if row.len() > MAX_LINE_BYTES || !row.contains(|char: char| char.is_ascii_digit()) {
            continue;
        }
        let text = row.trim_start_matches([' ', '\t', '-', '*', '+', '`', '|']);
        let text = text
            .strip_prefix("Task ")
            .or_else(|| text.strip_prefix("Tasks "))
            .unwrap_or(text);
        let (subjects, rest) = names.read_list(text);
        let says = rest.trim_start_matches(['*', '_', ' ', ':', '(', '`']);
        if let Some(later) = BEFORE.behind(says) {
            let (later, _) = names.read_list(later);
            let count = later.len() * subjects.len();
            if count <= MAX_PAIRS {
                left = match left.checked_sub(count) {
                    Some(left) => left,
                    None => return later.first().copied(),
                };
                for task in later {
                    if let Some(own) = stated.get_mut(task) {
                        own.get_or_insert_default().extend(&subjects);
                    }
                }
            }
            continue;
        }
        let is_statement = [
            "depend",
            "requires",
            "needs",
            "must run after",
            "must follow",
            "blocked by",
            "after ",
        ]
        .iter()
        .any(|word| says.starts_with(word));
        if subjects.is_empty() || !is_statement {
            continue;
        }
        let mut needs = None;
        add_needs(names, rest, &mut needs);
        let Some(needs) = needs.filter(|needs| needs.len() * subjects.len() <= MAX_PAIRS) else {
            continue;
        };
        left = match left.checked_sub(needs.len() * subjects.len()) {
            Some(left) => left,
            None => return subjects.first().copied(),
        };
        for subject in subjects {
            if let Some(own) = stated.get_mut(subject) {
                own.get_or_insert_default().extend(&needs);
            }
        }
    }
    None
}

pub(super) fn derive(
    document: &MarkdownDocument<'_>,
    outline: &ChecklistOutline<'_>,
    stated: &[Option<Vec<String>>],
    format: &ChecklistDialect,
) -> Vec<Vec<String>> {
    let names = TaskNames::new(outline);
    let own: Vec<Vec<usize>> = stated
        .iter()
        .map(|ids| {
            ids.iter()
                .flatten()
                .filter_map(|id| names.places.get(id.as_str()).copied())
                .collect()
        })
        .collect();
    let followed = match follow_waves(document, &names) {
        Some(needs) => needs,
        None if format.states_all_needs => {
            let stating: HashSet<usize> = stated
                .iter()
                .enumerate()
                .filter(|(_, own)| own.is_some())
                .map(|(place, _)| place)
                .collect();
            wait_for_all_above(stated.len(), &stating)
        }
        None => follow_order(outline),
    };
    let mut needs: Vec<Vec<usize>> = own
        .iter()
        .zip(followed)
        .map(|(own, more)| join(own, &more))
        .collect();
    if order_by_needs(&needs).is_err() {
        needs.clone_from(&own);
        if let Ok(order) = order_by_needs(&own) {
            for (before, task) in order.iter().zip(order.iter().skip(1)) {
                if let Some(task) = needs.get_mut(*task).filter(|task| !task.contains(before)) {
                    task.push(*before);
                }
            }
        }
    }
    needs
        .into_iter()
        .map(|own| {
            own.into_iter()
                .filter_map(|place| names.ids.get(place).map(|id| (*id).to_owned()))
                .collect()
        })
        .collect()
}

fn join(own: &[usize], more: &[usize]) -> Vec<usize> {
    let known: HashSet<usize> = own.iter().copied().collect();
    own.iter()
        .chain(more.iter().filter(|place| !known.contains(place)))
        .copied()
        .collect()
}

/// Dependencies by order: each task needs those before it, except for parallel neighbors.
fn follow_order(outline: &ChecklistOutline<'_>) -> Vec<Vec<usize>> {
    let mut sets: Vec<Vec<usize>> = Vec::new();
    let mut before: Option<&ChecklistEntry<'_>> = None;
    let mut count = 0;
    for (place, entry) in outline.tasks().enumerate() {
        let is_beside = before.is_some_and(|before| {
            before.item.is_parallel
                && entry.item.is_parallel
                && (before.heading, before.parent) == (entry.heading, entry.parent)
        });
        match sets.last_mut().filter(|_| is_beside) {
            Some(set) => set.push(place),
            None => sets.push(vec![place]),
        }
        before = Some(entry);
        count = place + 1;
    }
    let mut needs = vec![Vec::new(); count];
    follow_sets(&sets, &mut needs);
    needs
}

fn follow_sets(sets: &[Vec<usize>], needs: &mut [Vec<usize>]) {
    for (before, set) in sets.iter().zip(sets.iter().skip(1)) {
        let is_small = before.len() * set.len() <= MAX_PAIRS;
        let joint: Vec<usize> = set.first().copied().into_iter().collect();
        for (position, task) in set.iter().enumerate() {
            let own = if is_small || position == 0 {
                before
            } else {
                &joint
            };
            if let Some(needs) = needs.get_mut(*task) {
                needs.extend(own);
            }
        }
    }
}

/// Dependencies by waves; a task in no wave needs everything before it.
fn follow_waves(document: &MarkdownDocument<'_>, names: &TaskNames<'_>) -> Option<Vec<Vec<usize>>> {
    let mut known: HashSet<usize> = HashSet::new();
    let waves: Vec<Vec<usize>> = read_waves(document)?
        .iter()
        .map(|wave| {
            wave.iter()
                .filter_map(|id| names.places.get(id.as_str()).copied())
        })
        .map(|wave| {
            wave.filter(|place| known.insert(*place))
                .collect::<Vec<usize>>()
        })
        .filter(|wave| !wave.is_empty())
        .collect();
    let mut needs = wait_for_all_above(names.ids.len(), &known);
    follow_sets(&waves, &mut needs);
    (!waves.is_empty()).then_some(needs)
}

/// Dependencies of tasks that are not `known`, on everything since the last such task.
fn wait_for_all_above(count: usize, known: &HashSet<usize>) -> Vec<Vec<usize>> {
    let mut above: Vec<usize> = Vec::new();
    let needs = (0..count).map(|place| {
        let own = if known.contains(&place) {
            Vec::new()
        } else {
            std::mem::take(&mut above)
        };
        above.push(place);
        own
    });
    needs.collect()
}
