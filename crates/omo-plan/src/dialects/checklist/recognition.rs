//! Recognizes the format of a checklist, such as Kiro, by its text, then by its path.

use super::item::ChecklistItem;
use super::outline::{NUMBERS_NOTE, TASK_HEADING, plain_lines};
use super::{SIGNED, TaskItems};
use crate::dialects::PlanInput;
use crate::model::Dialect;
use crate::pattern::Pattern;

/// Notes as Kiro writes them: `_Requirements: 1.1, 2.3_`.
static REQUIREMENTS: Pattern = Pattern::new(
    r"^\s*[-*+]?\s*[_*]+(?i-u:requirements?|validates|leverage|prompt|boundary|depends)[:：* ]",
);
/// Numbered heading: `## 1. Setup`, `### 1.1 Setup`.
static NUMBERED_HEADING: Pattern = Pattern::new(r"^\d+(?:[.)]|\.\d+(?:\.\d+)*[.)]?)\s");
static TASKS_TITLE: Pattern = Pattern::new(
    r"^(?:(?i-u:implementation\s+)?(?i-u:tasks|task list|tareas|tarefas|tâches|aufgaben)\b|任务|任務|タスク|작업)",
);

/// Counts of a checklist's items and notes, by which its format is told.
#[derive(Default)]
struct ChecklistShape {
    items: usize,
    /// Items with a number such as `T001`.
    task_numbers: usize,
    /// Items with a number such as `1.2`.
    section_numbers: usize,
    /// Items with a number such as `1.`.
    dotted_numbers: usize,
    has_optional: bool,
    has_requirements: bool,
    has_numbered_headings: bool,
    title_names_tasks: Option<bool>,
    /// Format whose `sign` the text has.
    signed: Option<Dialect>,
}

pub(super) fn find_format(input: &PlanInput<'_>) -> Option<Dialect> {
    let shape = ChecklistShape::read(input);
    let place = Dialect::of_place(input.path());
    let numbered = shape.section_numbers + shape.dotted_numbers;
    let signed = SIGNED.iter().find(|format| match place {
        _ if shape.items == 0 => false,
        Some(place) if place != format.dialect => false,
        Some(_) if format.section.is_none() => {
            format.tasks != TaskItems::Outer || !has_task_headings(input)
        }
        _ => {
            shape.signed == Some(format.dialect)
                && (format.tasks != TaskItems::NumberedOuter || numbered > 0)
        }
    });
    if let Some(format) = signed {
        return Some(format.dialect);
    }
    let by_place = place
        .filter(|place| matches!(place, Dialect::SpecKit | Dialect::Kiro | Dialect::OpenSpec))
        .filter(|_| shape.items > 0);
    if shape.is_mostly(shape.task_numbers)
        || (shape.task_numbers > 2 && shape.task_numbers >= numbered)
    {
        return Some(Dialect::SpecKit);
    }
    if numbered > 0 && (shape.has_requirements || (shape.has_optional && shape.dotted_numbers > 0))
    {
        return Some(Dialect::Kiro);
    }
    by_place.or_else(|| {
        if shape.is_mostly(shape.section_numbers)
            && (shape.has_numbered_headings || shape.dotted_numbers == 0)
        {
            Some(Dialect::OpenSpec)
        } else if shape.is_mostly(numbered) && shape.dotted_numbers > 0 && numbered > 1 {
            Some(Dialect::Kiro)
        } else if shape.items > 0
            && shape
                .title_names_tasks
                .unwrap_or(shape.has_numbered_headings)
        {
            Some(Dialect::OpenSpec)
        } else {
            None
        }
    })
}

/// `true` where most items have numbers and notes of Kiro, whatever headings stand above them.
pub(super) fn is_surely_kiro(input: &PlanInput<'_>) -> bool {
    let shape = ChecklistShape::read(input);
    shape.has_requirements && (shape.section_numbers + shape.dotted_numbers) * 2 > shape.items
}

fn has_task_headings(input: &PlanInput<'_>) -> bool {
    input
        .document()
        .headings
        .iter()
        .any(|heading| TASK_HEADING.is_match(heading.text))
}

impl ChecklistShape {
    fn is_mostly(&self, count: usize) -> bool {
        count > 0 && count * 2 >= self.items
    }

    fn read(input: &PlanInput<'_>) -> Self {
        let mut shape = Self::default();
        // A file without any checkbox is not read as Markdown for this.
        if !input.text().contains("[ ]") && !input.text().to_ascii_lowercase().contains("[x]") {
            return shape;
        }
        let document = input.document();
        shape.has_numbered_headings = document
            .headings
            .iter()
            .any(|heading| NUMBERED_HEADING.is_match(heading.text));
        let title = document.headings.iter().find(|heading| heading.level == 1);
        shape.title_names_tasks = match title {
            _ if has_task_headings(input) => Some(false),
            title => title.map(|title| TASKS_TITLE.is_match(title.text.trim())),
        };
        for line in plain_lines(document) {
            let row = document.slice(line.clone());
            if shape.signed.is_none() && row.trim_start().starts_with(['#', '-', '*']) {
                shape.signed = SIGNED
                    .iter()
                    .find(|format| format.sign.is_some_and(|sign| sign.is_match(row)))
                    .map(|format| format.dialect);
            }
            if let Some(item) = ChecklistItem::read(row, line) {
                shape.items += 1;
                shape.has_optional |= item.is_optional;
                if let Some(number) = item.number {
                    let is_word = number.starts_with(|first: char| first.is_ascii_alphabetic());
                    shape.task_numbers += usize::from(is_word);
                    shape.section_numbers += usize::from(!is_word && number.contains('.'));
                    shape.dotted_numbers += usize::from(!is_word && !number.contains('.'));
                }
            } else if !shape.has_requirements && row.contains(['_', '*']) {
                shape.has_requirements = REQUIREMENTS.is_match(row) || NUMBERS_NOTE.is_match(row);
            }
        }
        shape
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_known_by_what_a_file_says_then_by_its_place() {
        let kit = Some(Dialect::SpecKit);
        let open = Some(Dialect::OpenSpec);
        let kiro = Some(Dialect::Kiro);
        for (path, text, expected) in [
            ("x.md", "## Phase 1\n- [ ] T001 [P] a\n", kit),
            ("x.md", "## 1. A\n- [ ] 1.1 a\n", open),
            ("x.md", "- [ ] 1. A\n  - [ ] 1.1 a\n", kiro),
            (
                "x.md",
                "## 1. A\n- [ ] 1.1 a\n  - _Requirements: 1.1_\n",
                kiro,
            ),
            ("x.md", "- [ ] 1. A\n- [ ]* 2. b\n", kiro),
            ("x.md", "## 1. A\n- [ ] 1. a\n  - _要件: 1.1, 2_\n", kiro),
            ("x.md", "## A\n- [ ] 1. a\n- [ ] 2. b\n", kiro),
            ("x.md", "# A\n\n### 1.1 A\n- [ ] 1.1.1 a\n", open),
            ("x.md", "# A\n\n## A\n- [ ] 1.1 a\n- [ ] 1.2 b\n", open),
            ("x.md", "## 1. A\n- [ ] a\n", open),
            ("x.md", "# Tasks: bake\n\n- [ ] a\n", open),
            ("x.md", "# Notes\n\n## 1. A\n- [ ] a\n", None),
            (
                "x.md",
                "# Tasks: bake\n\n### T001 Mix\n- [ ] it is mixed\n",
                None,
            ),
            ("x.md", "- [ ] a\n- [x] b\n", None),
            ("x.md", "# A\n\ntext\n", None),
            ("x.md", "```\n- [ ] T001 a\n```\n", None),
            ("openspec/changes/a/tasks.md", "- [ ] a\n", open),
            (
                "C:\\r\\openspec\\changes\\archive\\a\\tasks.md",
                "- [ ] 1. A\n  - [ ] 1.1 b\n",
                open,
            ),
            (".kiro/specs/a/tasks.md", "## 1. A\n- [ ] 1.1 a\n", kiro),
            ("openspec/changes/a/tasks.md", "no list\n", None),
            ("openspec/changes/a/design.md", "- [ ] a\n", None),
        ] {
            assert_eq!(
                find_format(&PlanInput::new(path, text)),
                expected,
                "{path}: {text}"
            );
        }
    }
}
