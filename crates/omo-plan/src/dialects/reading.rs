//! Reads a file as a plan: recognizes its dialect by text and path, or explains why it is none.

use std::path::Path;

use omo_core::text::sanitize;

use super::{BatchOptions, PlanInput, near_miss};
use crate::batches::{decode_plan_text, task_diagnostic};
use crate::diagnostic::{Code, Diagnostic};
use crate::digest::sha256_hex;
use crate::document::{MarkdownDocument, line_ranges};
use crate::model::{Dialect, Plan, PlanSource, RunPolicy};

/// Options for reading a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanReading {
    pub batches: BatchOptions,
    /// Dialect of the file; `None` to recognize it.
    pub dialect: Option<Dialect>,
}

impl From<BatchOptions> for PlanReading {
    fn from(batches: BatchOptions) -> Self {
        Self {
            batches,
            dialect: None,
        }
    }
}

impl From<&Plan> for PlanReading {
    /// A run reads its edited plan by the dialect that it was opened with.
    fn from(plan: &Plan) -> Self {
        Self {
            batches: BatchOptions::from(&plan.policy),
            dialect: Some(plan.dialect),
        }
    }
}

/// Comment in a plan that forbids to run it unless a command proves each task.
pub const CHECKS_REQUIRED: &str = "<!-- checks: required -->";

/// Plan of a file, whatever it holds: problems become diagnostics.
pub fn read(path: &str, bytes: &[u8], reading: impl Into<PlanReading>) -> Plan {
    let reading = reading.into();
    let plan = read_as(path, bytes, reading);
    let unread = plan
        .diagnostics
        .iter()
        .filter(|found| found.code == Code::ItemNotRead)
        .count();
    let is_whole = !plan.tasks.is_empty() && unread <= plan.tasks.len();
    if reading.dialect.is_some() || is_whole || Dialect::of_place(path) != Some(plan.dialect) {
        return plan;
    }
    let other = read_by_content(path, bytes, reading.batches)
        .filter(|other| other.tasks.len() > plan.tasks.len());
    other.unwrap_or(plan)
}

fn read_by_content(path: &str, bytes: &[u8], batches: BatchOptions) -> Option<Plan> {
    // A name without folders stands in no place.
    let input = PlanInput::new("plan.md", decode_plan_text(bytes).ok()?);
    let of_place = Dialect::of_place(path);
    let others = Dialect::ALL
        .iter()
        .filter(|dialect| Some(**dialect) != of_place && dialect.rules().recognizes(&input));
    // In a list of tasks a box without a number is a task, too.
    let lists = [Dialect::SpecKit, Dialect::Kiro]
        .map(Some)
        .contains(&of_place)
        .then_some(&Dialect::OpenSpec);
    others
        .chain(lists)
        .map(|dialect| {
            read_as(
                path,
                bytes,
                PlanReading {
                    batches,
                    dialect: Some(*dialect),
                },
            )
        })
        .find_map(|mut plan| {
            plan.tasks.first()?;
            let text = format!(
                "read as {}: little of it, or nothing, is a task in the format of its place",
                plan.dialect.word()
            );
            plan.diagnostics
                .insert(0, task_diagnostic(None, Code::OtherFormat, text));
            Some(plan)
        })
}

fn read_as(path: &str, bytes: &[u8], reading: PlanReading) -> Plan {
    let PlanReading {
        batches: options,
        dialect,
    } = reading;
    let mut plan = empty(path, bytes, options);
    match decode_plan_text(bytes) {
        Ok(text) => {
            let input = PlanInput::new(path, text);
            if !input.is_json() {
                plan.title = title(input.document()).unwrap_or(plan.title);
            }
            match dialect.or_else(|| recognize(&input)) {
                Some(dialect) => {
                    plan.dialect = dialect;
                    plan.policy.unproved_continues = dialect.rules().unproved_continues();
                    plan.policy.requires_checks = requires_checks(&input);
                    dialect.rules().read_plan(&input, options, &mut plan);
                    if plan.tasks.is_empty() && plan.can_run() {
                        plan.diagnostics.push(no_tasks(&input, dialect));
                    }
                    digest_without_state(text, &mut plan);
                }
                None => plan.diagnostics.push(unrecognized(&input)),
            }
        }
        Err(diagnostic) => plan.diagnostics.push(diagnostic),
    }
    plan.diagnostics
        .sort_by_key(|found| (found.span.start, found.code));
    plan
}

/// Dialect of the file's place if it can read the file, else the first that can.
fn recognize(input: &PlanInput<'_>) -> Option<Dialect> {
    let by_place = Dialect::of_place(input.path());
    by_place
        .filter(|dialect| dialect.rules().recognizes(input))
        .or_else(|| {
            Dialect::ALL
                .iter()
                .copied()
                .find(|dialect| dialect.rules().recognizes(input))
        })
}

/// Makes digests of tasks independent of boxes: a ticked task is the same task.
fn digest_without_state(text: &str, plan: &mut Plan) {
    let rules = plan.dialect.rules();
    let Some(open) = rules.without_state(text) else {
        return;
    };
    plan.source.sha256_without_state = Some(sha256_hex(open.as_bytes()));
    for task in &mut plan.tasks {
        if let Some(open) = rules
            .without_state(&task.body)
            .filter(|open| *open != task.body)
        {
            task.body_sha256 = sha256_hex(open.as_bytes());
        }
    }
}

/// [`CHECKS_REQUIRED`] outside of code.
fn requires_checks(input: &PlanInput<'_>) -> bool {
    let text = input.text();
    if input.is_json() || !text.contains(CHECKS_REQUIRED) {
        return false;
    }
    let document = input.document();
    let mut lines = line_ranges(text, 0..text.len());
    lines.any(|line| {
        document.slice(line.clone()).trim() == CHECKS_REQUIRED
            && document.code_at(line.start).is_none()
    })
}

pub(super) fn empty(path: &str, bytes: &[u8], options: BatchOptions) -> Plan {
    let name = Path::new(path)
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy();
    let source = PlanSource::new(path, sha256_hex(bytes), bytes.len() as u64);
    let policy = RunPolicy {
        batch_size: u32::try_from(options.batch_size).unwrap_or(u32::MAX),
        hub_dependents: u32::try_from(options.k).unwrap_or(u32::MAX),
        ..RunPolicy::default()
    };
    Plan {
        title: name.into_owned(),
        policy,
        ..Plan::new(Dialect::DevWorkflow, source)
    }
}

fn title(document: &MarkdownDocument<'_>) -> Option<String> {
    let first = document
        .headings
        .iter()
        .find(|heading| heading.level == 1)?;
    Some(first.text.to_owned()).filter(|title| !title.is_empty())
}

fn no_tasks(input: &PlanInput<'_>, dialect: Dialect) -> Diagnostic {
    let text = format!("the file has no task in the format {}", dialect.word());
    let near = dialect.rules().near_miss(input);
    near.unwrap_or_else(|| task_diagnostic(None, Code::NoTasks, text))
}

pub fn command_from_file(path: &str) -> String {
    // `-` is stdin, which has no path.
    let path = if path == "-" {
        "FILE".to_owned()
    } else {
        sanitize(path, 200)
    };
    let is_plain =
        !path.contains(|char: char| char.is_whitespace() || matches!(char, '\'' | '"' | '\\'));
    match path {
        path if is_plain => format!("/omo:ulw-plan --from {path}"),
        path if path.contains('\'') => format!("/omo:ulw-plan --from \"{path}\""),
        path => format!("/omo:ulw-plan --from '{path}'"),
    }
}

/// Diagnostic for a file of no dialect: a near miss, or the most task-like line.
fn unrecognized(input: &PlanInput<'_>) -> Diagnostic {
    let near = Dialect::ALL
        .iter()
        .find_map(|dialect| dialect.rules().near_miss(input));
    near.unwrap_or_else(|| near_miss::describe(input))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_two_dialects_can_read_is_read_by_that_of_its_place() {
        let both =
            "# Plan\n\n### Task 1: Bake\n\n- [ ] 1.1 Mix\n- [ ] 1.2 Bake\n\n**Verify:** `true`\n";
        let plain = "# Plan\n\n### Task 1: Bake\n\nBake it.\n";
        let labelled = "# Plan\n\n### Task 1: Bake\n\n**Verify:** `true`\n";
        for (path, text, expected) in [
            ("plan.md", both, Dialect::DevWorkflow),
            ("openspec/changes/bake/tasks.md", both, Dialect::OpenSpec),
            (
                "openspec/changes/bake/tasks.md",
                labelled,
                Dialect::DevWorkflow,
            ),
            ("docs/bake.md", plain, Dialect::DevWorkflow),
            (
                "docs/superpowers/plans/bake.md",
                plain,
                Dialect::Superpowers,
            ),
            (
                "docs/superpowers/plans/bake.md",
                labelled,
                Dialect::DevWorkflow,
            ),
        ] {
            assert_eq!(
                recognize(&PlanInput::new(path, text)),
                Some(expected),
                "{path}: {text}"
            );
        }
    }

    #[test]
    fn a_plan_requires_checks_where_a_line_of_its_text_says_so() {
        for (text, expected) in [
            ("## 1. A\n- [ ] 1.1 a\n\n<!-- checks: required -->\n", true),
            ("<!-- checks: required -->\n## 1. A\n- [ ] 1.1 a\n", true),
            (
                "## 1. A\n- [ ] 1.1 a\n\n```md\n<!-- checks: required -->\n```\n",
                false,
            ),
            (
                "## 1. A\n- [ ] 1.1 a\n\n~~~\n  <!-- checks: required -->\n~~~\n",
                false,
            ),
            ("## 1. A\n- [ ] 1.1 a `<!-- checks: required -->`\n", false),
        ] {
            let plan = read("p.md", text.as_bytes(), BatchOptions::default());
            assert_eq!(
                (plan.tasks.len(), plan.policy.requires_checks),
                (1, expected),
                "{text}"
            );
        }
    }

    #[test]
    fn a_change_without_a_title_of_its_own_is_called_after_its_folder() {
        for (path, text, title) in [
            (
                "openspec/changes/add-search/tasks.md",
                "# Tasks\n\n## 1. A\n- [ ] 1.1 a\n",
                "add-search",
            ),
            (
                "openspec/changes/add-search/tasks.md",
                "## 1. A\n- [ ] 1.1 a\n",
                "add-search",
            ),
            (
                "openspec/changes/add-search/tasks.md",
                "# Search\n\n## 1. A\n- [ ] 1.1 a\n",
                "Search",
            ),
            (
                "openspec/changes/tasks.md",
                "## 1. A\n- [ ] 1.1 a\n",
                "tasks",
            ),
            ("other/tasks.md", "## 1. A\n- [ ] 1.1 a\n", "tasks"),
        ] {
            assert_eq!(
                read(path, text.as_bytes(), BatchOptions::default()).title,
                title,
                "{path} {text}"
            );
        }
    }

    #[test]
    fn a_dialect_that_is_named_reads_the_file_or_says_that_it_has_no_task() {
        let text = "# Plan\n\n## 1. Bake\n\n- [ ] 1.1 Mix\n";
        let named = |dialect: Dialect| PlanReading {
            dialect: Some(dialect),
            ..PlanReading::default()
        };
        assert_eq!(
            read("p.md", text.as_bytes(), BatchOptions::default()).dialect,
            Dialect::OpenSpec
        );
        let kiro = read("p.md", text.as_bytes(), named(Dialect::Kiro));
        assert_eq!(
            (kiro.dialect, kiro.tasks.len(), kiro.can_run()),
            (Dialect::Kiro, 1, true)
        );
        assert_eq!(PlanReading::from(&kiro), named(Dialect::Kiro));
        for dialect in Dialect::of_files() {
            for other in ["", "text", "{}", "{\"a\": 1}", "<task>", "\u{feff}---\n"] {
                let plan = read("p.md", other.as_bytes(), named(dialect));
                assert_eq!(
                    (plan.dialect, plan.can_run()),
                    (dialect, false),
                    "{dialect:?} {other:?}"
                );
            }
        }
    }

    #[test]
    fn a_file_of_no_dialect_can_be_turned_into_a_task_list() {
        for (path, command) in [
            ("docs/notes.md", "`/omo:ulw-plan --from docs/notes.md`"),
            ("my notes.md", "`/omo:ulw-plan --from 'my notes.md'`"),
            ("it's.md", "`/omo:ulw-plan --from \"it's.md\"`"),
            ("-", "`/omo:ulw-plan --from FILE`"),
        ] {
            let plan = read(path, b"First bake, then eat.\n", BatchOptions::default());
            let help = plan
                .diagnostics
                .first()
                .and_then(|found| found.help.as_deref())
                .unwrap_or_default();
            assert!(help.starts_with(command), "{path}: {help}");
        }
    }
}
