//! Forms of a task's heading, and its parts: `### Task 1-tests: title` → `1-tests` and `title`.

use crate::pattern::Pattern;

/// Form of a task's heading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingForm {
    /// `### Task 1: title` or `## Task 1-tests — title`.
    Exact,
    /// As people write it: `## ✅ Task 1.2. title`, `### 任务 3：title`, `#### T1: title`.
    Loose,
    /// `Loose` one level further down.
    Deep,
    /// `### 1. title`.
    Numbered,
}

/// Captures the number without leading zeros, with the word behind it.
static TASK: Pattern =
    Pattern::new(r"^Task\s+0*([0-9]+(?:-[A-Za-z]+)?)(?:\s*:|\s*[–—―−]|\s+-{1,3}(?:\s|$))");
/// `TASK` with marks, emphasis, letters, parts and remarks, in other languages too.
static LOOSE_TASK: Pattern = Pattern::new(
    r"^[\s*_~]*(?:[✅✔☑🟢🔲⬜]\x{FE0F}?\s*)?(?:\[[ xX]\]\s*)?[*_~]*(?:(?:{task})\s*[#№]?\s*(?:([0-9]+(?:-[0-9]+)+)|0*([0-9]+(?:\.[0-9]+)*[A-Za-z]?(?:-[A-Za-z]+)?))|(?i-u:task)\s+([A-Z][0-9]*(?:\.[0-9]+)*)|(T-?[0-9]+)\b)[*_~]*\s*(?:[(（][^)）]*[)）]\s*)?(?:[:：.)|–—―−-]+|$)[*_~]*|^[*_~]*(T[0-9]+)[ \t]+",
);

static NUMBERED: Pattern = Pattern::new(r"^[*_]*([0-9]+(?:\.[0-9]+)*)[.):][*_]*\s+");

impl HeadingForm {
    pub(super) fn is_of_level(self, level: usize) -> bool {
        match self {
            Self::Exact | Self::Loose => matches!(level, 2 | 3),
            Self::Deep => level == 4,
            Self::Numbered => matches!(level, 2..=4),
        }
    }

    /// `true` for a level at which a heading that is no task ends the task before it.
    pub(super) fn ends_at(self, level: usize) -> bool {
        level <= if self == Self::Deep { 3 } else { 2 }
    }
}

/// Id and title of a task's heading: `Task 1-tests: title`.
pub(super) fn split_task_heading(text: &str, form: HeadingForm) -> Option<(&str, &str)> {
    match form {
        HeadingForm::Exact => TASK.read(text).map(|([id], title)| (id, title)),
        HeadingForm::Loose | HeadingForm::Deep => {
            LOOSE_TASK
                .read(text)
                .map(|([parts, number, letter, short, bare], title)| {
                    let id = [parts, number, letter, short, bare]
                        .into_iter()
                        .find(|id| !id.is_empty())
                        .unwrap_or_default();
                    (id, title.trim_end_matches(['*', '_', '~', ' ', '✅']))
                })
        }
        HeadingForm::Numbered => NUMBERED.read(text).map(|([id], title)| (id, title)),
    }
}
