//! The headings of tasks: which texts are one, with its id and its title.

use crate::pattern::Pattern;

/// How the headings of tasks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HeadingForm {
    /// `### Task 1: title` or `## Task 1-tests — title`.
    Exact,
    /// In every way in which people write it: `## ✅ Task 1.2. title`, `### 任务 3：title`.
    Loose,
}

/// A task's number, without the zeros before it, and the word behind it.
static TASK: Pattern = Pattern::new(r"^Task\s+0*([0-9]+(?:-[A-Za-z]+)?)(?:\s*:|\s*[–—―−]|\s+-{1,3}(?:\s|$))");
/// The same in every way of writing: with marks and emphasis around it, in other languages, with letters and parts,
/// with a remark, and with any sign or nothing before its title.
static LOOSE_TASK: Pattern = Pattern::new(
    r"^[\s*_~]*(?:[✅✔☑🟢🔲⬜]\x{FE0F}?\s*)?(?:\[[ xX]\]\s*)?[*_~]*(?:(?:{task})\s*[#№]?\s*(?:([0-9]+(?:-[0-9]+)+)|0*([0-9]+(?:\.[0-9]+)*[A-Za-z]?(?:-[A-Za-z]+)?))|(?i-u:task)\s+([A-Z][0-9]*(?:\.[0-9]+)*))[*_~]*\s*(?:[(（][^)）]*[)）]\s*)?(?:[:：.)|–—―−-]+|$)[*_~]*",
);

/// The id and the title of `Task 1-tests: title`.
pub(super) fn split_task_heading(text: &str, form: HeadingForm) -> Option<(&str, &str)> {
    match form {
        HeadingForm::Exact => TASK.read(text).map(|([id], title)| (id, title)),
        HeadingForm::Loose => LOOSE_TASK.read(text).map(|([parts, number, letter], title)| {
            let id = [parts, number, letter].into_iter().find(|id| !id.is_empty()).unwrap_or_default();
            (id, title.trim_end_matches(['*', '_', '~', ' ', '✅']))
        }),
    }
}
