//! Finds the plan in a folder by its files' names, and joins several plans of one phase (GSD).

use std::collections::BTreeSet;

use omo_core::text::sanitize;

use super::gsd::{folder::join_plans, read_plan_order};
use super::{PlanPlace, PlanReading, read};
use crate::diagnostic::{Code, Diagnostic};
use crate::model::{Dialect, Plan, PlannedState};

/// Choice of a plan's files in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanFolder {
    File(String),
    /// Plans that are read together, in this order; `others` are plans of another format.
    Joined {
        plans: Vec<String>,
        others: Vec<String>,
    },
    /// Names of all plans of a folder without a single one.
    Unclear(Vec<String>),
}

const COMMON_NAME: &str = "plan.md";

impl PlanFolder {
    /// Choice among `names`, the regular files in `folder`.
    pub fn find(folder: &str, names: &[String]) -> Self {
        let joined = select(names, |name| {
            Dialect::Gsd
                .rules()
                .places()
                .iter()
                .any(|place| place.has_name(name))
        });
        if !joined.is_empty() {
            let others = select(names, |name| {
                distinct_places().any(|place| place.name == name)
                    && !joined.iter().any(|plan| plan == name)
            });
            return Self::Joined {
                plans: joined,
                others,
            };
        }
        let mut plans = select(names, |name| {
            Dialect::of_place(&format!("{folder}/{name}")).is_some()
        });
        if plans.is_empty() {
            // Elsewhere, a name that plans of one format always have.
            plans = select(names, |name| {
                distinct_places().any(|place| place.name == name)
            });
        }
        match plans.as_slice() {
            [one] => Self::File(one.clone()),
            _ => Self::Unclear(plans),
        }
    }
}

/// Names that satisfy `is_plan`, sorted, each once.
fn select(names: &[String], is_plan: impl Fn(&str) -> bool) -> Vec<String> {
    let selected: BTreeSet<&String> = names.iter().filter(|name| is_plan(name)).collect();
    selected.into_iter().cloned().collect()
}

fn distinct_places() -> impl Iterator<Item = &'static PlanPlace> {
    Dialect::ALL
        .iter()
        .flat_map(|dialect| dialect.rules().places())
        .filter(|place| place.name != COMMON_NAME)
}

/// Joins `files`, sorted pairs of path and bytes; `is_done` tells which ones have a summary.
pub fn read_folder(
    folder: &str,
    files: &[(String, Vec<u8>)],
    is_done: impl Fn(&str) -> bool,
    reading: impl Into<PlanReading>,
) -> Plan {
    let reading = PlanReading {
        dialect: Some(Dialect::Gsd),
        ..reading.into()
    };
    let orders: Vec<_> = files
        .iter()
        .map(|(_, bytes)| read_plan_order(&String::from_utf8_lossy(bytes)))
        .collect();
    let waves: BTreeSet<u32> = orders.iter().filter_map(|order| order.wave).collect();
    let plans = files.iter().zip(&orders).map(|((path, bytes), order)| {
        let mut plan = read(path, bytes, reading);
        if is_done(path) {
            plan.tasks
                .iter_mut()
                .for_each(|task| task.state = PlannedState::Done);
        }
        // Without stated needs a plan waits for the whole wave before.
        let before = order
            .wave
            .filter(|_| !order.states_needs)
            .and_then(|own| waves.range(..own).next_back());
        if let Some(before) = before {
            let of_wave = files
                .iter()
                .zip(&orders)
                .filter(|(_, order)| order.wave == Some(*before));
            plan.requires_plans
                .extend(of_wave.map(|((path, _), _)| path.clone()));
        }
        plan
    });
    join_plans(folder, plans.collect())
}

/// Diagnostic about a plan that is not read as a part of its folder.
pub fn unread_plan(folder: &str, name: &str) -> Diagnostic {
    let (folder, name) = (
        sanitize(folder.trim_end_matches('/'), 200),
        sanitize(name, 60),
    );
    let code = Code::OtherPlan;
    let text = format!("the folder is read as a phase of GSD, and `{name}` in it is not read");
    let help = Some(format!(
        "`{folder}/{name}` in place of the folder names that plan"
    ));
    Diagnostic {
        code,
        severity: code.severity(),
        span: 0..0,
        line: 1,
        task: None,
        text,
        help,
    }
}

/// Name of the summary that GSD writes beside an executed plan.
pub fn summary_name(name: &str) -> Option<String> {
    let stem = name.strip_suffix("PLAN.md")?;
    Some(format!("{stem}SUMMARY.md"))
}

impl PlanPlace {
    fn has_name(&self, name: &str) -> bool {
        omo_core::text::glob::matches_glob(self.name, name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_the_plan_that_it_holds() {
        let file = |name: &str| PlanFolder::File(name.to_owned());
        let list = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let joined = |plans: &[&str], others: &[&str]| PlanFolder::Joined {
            plans: list(plans),
            others: list(others),
        };
        for (folder, names, expected) in [
            (
                "openspec/changes/a",
                &["design.md", "proposal.md", "tasks.md"][..],
                file("tasks.md"),
            ),
            ("specs/001-a", &["spec.md", "tasks.md"], file("tasks.md")),
            ("elsewhere", &["spec.md", "tasks.md"], file("tasks.md")),
            ("elsewhere", &["plan.md"], PlanFolder::Unclear(Vec::new())),
            (
                "conductor/tracks/a",
                &["plan.md", "spec.md"],
                file("plan.md"),
            ),
            ("backlog/tasks", &["task-1 - A.md"], file("task-1 - A.md")),
            (".taskmaster/tasks", &["tasks.json"], file("tasks.json")),
            ("docs/superpowers/plans", &["a.md"], file("a.md")),
            (
                "docs/superpowers/plans",
                &["b.md", "a.md"],
                PlanFolder::Unclear(list(&["a.md", "b.md"])),
            ),
            ("docs", &["a.md"], PlanFolder::Unclear(Vec::new())),
            ("docs", &[], PlanFolder::Unclear(Vec::new())),
            (
                ".planning/phases/01-a",
                &[
                    "01-02-PLAN.md",
                    "01-01-PLAN.md",
                    "01-01-SUMMARY.md",
                    "tasks.md",
                ],
                joined(&["01-01-PLAN.md", "01-02-PLAN.md"], &["tasks.md"]),
            ),
            ("x", &["01-01-PLAN.md"], joined(&["01-01-PLAN.md"], &[])),
        ] {
            assert_eq!(PlanFolder::find(folder, &list(names)), expected, "{folder}");
        }
    }

    #[test]
    fn a_plan_of_a_folder_waits_for_the_wave_before_it_and_is_done_where_its_summary_says_so() {
        let text = |matter: &str| {
            let text = format!(
                "---\nphase: 01-a\n{matter}---\n<tasks>\n<task type=\"auto\">\n<name>Bake</name>\n\
                                <action>Bake.</action>\n</task>\n</tasks>\n"
            );
            text.into_bytes()
        };
        let files = [
            ("1-1", "wave: 1\n"),
            ("1-2", "wave: 1\n"),
            ("1-3", "wave: 2\n"),
            ("1-4", "wave: 2\ndepends_on: []\n"),
        ];
        let files = files.map(|(name, matter)| (format!("a/{name}-PLAN.md"), text(matter)));
        let plan = read_folder(
            "a",
            &files,
            |path| path.contains("1-1"),
            PlanReading::default(),
        );
        let shown: Vec<String> = plan
            .tasks
            .iter()
            .map(|task| {
                format!(
                    "{}<{}{}",
                    task.id,
                    task.deps.join(","),
                    if task.state == PlannedState::Done {
                        " done"
                    } else {
                        ""
                    }
                )
            })
            .collect();
        assert_eq!(
            shown,
            ["1-1.1< done", "1-2.1<", "1-3.1<1-1.1,1-2.1", "1-4.1<"]
        );
        assert_eq!(
            (plan.source.path.as_str(), plan.dialect),
            ("a", Dialect::Gsd)
        );
        assert!(plan.can_run(), "{:?}", plan.diagnostics);
        assert_eq!(
            summary_name("1-1-PLAN.md").as_deref(),
            Some("1-1-SUMMARY.md")
        );
        assert_eq!(summary_name("notes.md"), None);
    }
}
