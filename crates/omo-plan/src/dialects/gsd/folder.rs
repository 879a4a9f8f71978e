//! Joins the GSD plans of a folder into one, each behind those that it requires.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;

use omo_core::text::sanitize;

use super::super::BatchOptions;
use super::super::goal::MAX_GOAL;
use super::super::reading::empty;
use crate::diagnostic::{Code, Diagnostic};
use crate::digest::sha256_hex;
use crate::model::{Dialect, MAX_PLAN_TASKS, Plan, PlanSource, RefusedCheck, Task};
use crate::task_graph::{circle_words, order_by_needs};

const MAX_NAME: usize = 40;
const PLAN_FILE: &str = "Plan file";

/// Plan with the tasks of all `plans`: `1` of `02-13-PLAN.md` becomes `02-13.1`. The first tasks of
/// a plan need the last ones of each required plan; a missing one is reported, and stays in
/// [`Plan::requires_plans`].
pub fn join_plans(folder: &str, plans: Vec<Plan>) -> Plan {
    let mut joined = empty(folder, &[], BatchOptions::default());
    joined.dialect = Dialect::Gsd;
    if let Some(first) = plans.first() {
        joined.policy = first.policy.clone();
        joined.policy.requires_checks = plans.iter().any(|plan| plan.policy.requires_checks);
    }
    joined.source = PlanSource {
        path: folder.to_owned(),
        sha256: folder_digest(
            plans
                .iter()
                .map(|plan| (plan.source.path.as_str(), plan.source.sha256.as_str())),
        ),
        sha256_without_state: None,
        bytes: plans.iter().map(|plan| plan.source.bytes).sum(),
    };
    let goals: Vec<&str> = plans
        .iter()
        .map(|plan| plan.goal.as_str())
        .filter(|goal| !goal.is_empty())
        .collect();
    joined.goal = sanitize(&goals.join(" "), MAX_GOAL);
    let names = PlanNames::of(&plans);
    let needs = read_requirements(&plans, &names, &mut joined);
    let order = order_by_needs(&needs).unwrap_or_else(|circle| {
        let members = circle
            .iter()
            .filter_map(|place| names.list.get(*place))
            .map(String::as_str);
        let text = format!(
            "plans require each other in a circle: {}",
            circle_words(members)
        );
        joined.diagnostics.push(finding(Code::Cycle, &text));
        (0..plans.len()).collect()
    });
    let mut plans: Vec<Option<Plan>> = plans.into_iter().map(Some).collect();
    let mut last_tasks: Vec<BTreeSet<String>> = vec![BTreeSet::new(); plans.len()];
    for place in order {
        let (Some(plan), Some(name)) = (
            plans.get_mut(place).and_then(Option::take),
            names.list.get(place),
        ) else {
            continue;
        };
        let required = needs
            .get(place)
            .into_iter()
            .flatten()
            .filter_map(|need| last_tasks.get(*need));
        let before: BTreeSet<String> = required.flatten().cloned().collect();
        let ends = add_plan(plan, name, &before, &mut joined);
        if let Some(slot) = last_tasks.get_mut(place) {
            // Behind a plan without tasks comes what that one needs.
            *slot = if ends.is_empty() { before } else { ends };
        }
    }
    if joined.tasks.len() > MAX_PLAN_TASKS {
        let text = format!(
            "the plans have {} tasks, and a run can have {MAX_PLAN_TASKS}",
            joined.tasks.len()
        );
        joined.diagnostics.push(finding(Code::TooManyTasks, &text));
    }
    joined
}

/// Digest of paths and their digests: a renamed file makes another plan.
pub fn folder_digest<'a>(files: impl Iterator<Item = (&'a str, &'a str)>) -> String {
    let rows: Vec<String> = files
        .map(|(path, sha256)| format!("{path}\0{sha256}"))
        .collect();
    sha256_hex(rows.join("\n").as_bytes())
}

fn finding(code: Code, text: &str) -> Diagnostic {
    let text = sanitize(text, 400);
    Diagnostic {
        code,
        severity: code.severity(),
        span: 0..0,
        line: 1,
        task: None,
        text,
        help: None,
    }
}

/// Adds a plan whose first tasks need `before`; returns its last ones.
fn add_plan(
    plan: Plan,
    name: &str,
    before: &BTreeSet<String>,
    joined: &mut Plan,
) -> BTreeSet<String> {
    let mut ends: BTreeSet<String> = plan
        .tasks
        .iter()
        .map(|task| full_id(name, &task.id))
        .collect();
    for task in plan.tasks {
        let mut deps: Vec<String> = task.deps.iter().map(|id| full_id(name, id)).collect();
        for dep in &deps {
            ends.remove(dep);
        }
        if deps.is_empty() {
            deps.extend(before.iter().cloned());
        }
        let mut extra = task.extra;
        extra.insert(PLAN_FILE.to_owned(), plan.source.path.clone());
        joined.tasks.push(Task {
            id: full_id(name, &task.id),
            pair: task.pair.as_ref().map(|id| full_id(name, id)),
            deps,
            stated_deps: task
                .stated_deps
                .map(|stated| stated.iter().map(|id| full_id(name, id)).collect()),
            section: task.section.or_else(|| Some(plan.title.clone())),
            extra,
            ..task
        });
    }
    let checks = plan.final_checks.into_iter();
    let known: HashSet<String> = joined
        .final_checks
        .iter()
        .map(|check| check.command.clone())
        .collect();
    joined
        .final_checks
        .extend(checks.filter(|check| !known.contains(&check.command)));
    joined
        .refused_checks
        .extend(plan.refused_checks.into_iter().map(|refused| RefusedCheck {
            task: refused.task.as_ref().map(|id| full_id(name, id)),
            ..refused
        }));
    joined.preconditions.extend(plan.preconditions);
    let file = sanitize(&plan.source.path, 200);
    joined
        .diagnostics
        .extend(plan.diagnostics.into_iter().map(|found| Diagnostic {
            text: format!("{file}: {}", found.text),
            task: found.task.as_ref().map(|id| full_id(name, id)),
            ..found
        }));
    ends
}

fn full_id(plan: &str, id: &str) -> String {
    format!("{plan}.{id}")
}

fn read_requirements(plans: &[Plan], names: &PlanNames, joined: &mut Plan) -> Vec<Vec<usize>> {
    let mut needs = Vec::with_capacity(plans.len());
    for (place, plan) in plans.iter().enumerate() {
        let mut own = BTreeSet::new();
        for required in &plan.requires_plans {
            let found = names.find(required, place);
            if found.is_empty() {
                let file = &plan.source.path;
                let text = format!(
                    "{file} requires `{required}`, which is not one of the plans: it has to be done before"
                );
                joined
                    .diagnostics
                    .push(finding(Code::RequiredPlanMissing, &text));
                if !joined.requires_plans.contains(required) {
                    joined.requires_plans.push(required.clone());
                }
            }
            own.extend(found);
        }
        needs.push(own.into_iter().collect());
    }
    needs
}

struct PlanNames {
    list: Vec<String>,
    places: HashMap<String, Vec<usize>>,
    phases: HashMap<String, Vec<usize>>,
}

impl PlanNames {
    fn of(plans: &[Plan]) -> Self {
        let mut names = Self {
            list: Vec::new(),
            places: HashMap::new(),
            phases: HashMap::new(),
        };
        let mut taken: HashSet<String> = HashSet::new();
        for (place, plan) in plans.iter().enumerate() {
            let plain = file_name(&plan.source.path);
            let above = Path::new(&plan.source.path)
                .parent()
                .and_then(Path::file_name);
            let above = above.map_or(String::new(), |above| id_part(&above.to_string_lossy()));
            let long = format!("{above}-{plain}");
            let numbered = (2_usize..).map(|count| format!("{plain}-{count}"));
            let mut choices = [plain.clone(), long].into_iter().chain(numbered);
            let name = choices
                .find(|name| taken.insert(name.clone()))
                .unwrap_or_default();
            names
                .places
                .entry(without_zeros(&plain))
                .or_default()
                .push(place);
            if let Some((phase, _)) = plain.rsplit_once('-') {
                names
                    .phases
                    .entry(without_zeros(phase))
                    .or_default()
                    .push(place);
            }
            names.list.push(name);
        }
        names
    }

    /// Indices of the plans that `required` names: a plan, a number in the same phase, or a phase.
    fn find(&self, required: &str, own_place: usize) -> Vec<usize> {
        let plain = required.trim();
        let plain = ["plan ", "Plan ", "phase ", "Phase "]
            .iter()
            .find_map(|word| plain.strip_prefix(word))
            .unwrap_or(plain);
        let key = without_zeros(&file_name(plain));
        let same_phase = self
            .list
            .get(own_place)
            .and_then(|name| name.rsplit_once('-'));
        let in_phase = same_phase.map(|(phase, _)| format!("{}-{key}", without_zeros(phase)));
        let by_name = self
            .places
            .get(&key)
            .or_else(|| self.places.get(&in_phase?));
        let found = by_name
            .or_else(|| self.phases.get(&key))
            .cloned()
            .unwrap_or_default();
        found
            .into_iter()
            .filter(|place| *place != own_place)
            .collect()
    }
}

fn file_name(path: &str) -> String {
    let last = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let stem = last.strip_suffix(".md").unwrap_or(last);
    let stem = ["-PLAN", "-plan", "-Plan", "-SUMMARY"]
        .iter()
        .find_map(|end| stem.strip_suffix(end))
        .unwrap_or(stem);
    id_part(stem)
}

fn id_part(name: &str) -> String {
    let kept: String = name
        .chars()
        .map(|char| {
            let is_kept = char.is_ascii_alphanumeric() || matches!(char, '.' | '_' | '-');
            if is_kept { char } else { '-' }
        })
        .take(MAX_NAME)
        .collect();
    let kept = kept.trim_matches(['-', '.', '_']);
    if kept.is_empty() {
        "plan".to_owned()
    } else {
        kept.to_owned()
    }
}

fn without_zeros(name: &str) -> String {
    name.split('-')
        .map(|part| match part.trim_start_matches('0') {
            "" if !part.is_empty() => "0".to_owned(),
            plain => plain.to_ascii_lowercase(),
        })
        .collect::<Vec<_>>()
        .join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(path: &str, requires: &[&str], tasks: usize) -> Plan {
        let mut plan = empty(path, path.as_bytes(), BatchOptions::default());
        plan.requires_plans = requires.iter().map(|name| (*name).to_owned()).collect();
        for number in 1..=tasks {
            let mut task = Task::new(number.to_string(), format!("Task {number}"));
            task.deps = (number > 1)
                .then(|| (number - 1).to_string())
                .into_iter()
                .collect();
            plan.tasks.push(task);
        }
        plan
    }

    fn shown(plan: &Plan) -> String {
        let task = |task: &Task| format!("{}<{}", task.id, task.deps.join(","));
        plan.tasks.iter().map(task).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn plans_are_done_behind_what_they_require() {
        for (second, expected) in [
            (&["02-02"][..], "02-02.1< 02-02.2<02-02.1 02-01.1<02-02.2"),
            (
                &["02-02-PLAN.md"],
                "02-02.1< 02-02.2<02-02.1 02-01.1<02-02.2",
            ),
            (
                &["phases/02-a/02-02-PLAN.md"],
                "02-02.1< 02-02.2<02-02.1 02-01.1<02-02.2",
            ),
            (&["02"], "02-02.1< 02-02.2<02-02.1 02-01.1<02-02.2"),
            (&["2"], "02-02.1< 02-02.2<02-02.1 02-01.1<02-02.2"),
            (&[], "02-01.1< 02-02.1< 02-02.2<02-02.1"),
        ] {
            let plans = vec![
                plan("a/02-01-PLAN.md", second, 1),
                plan("a/02-02-PLAN.md", &[], 2),
            ];
            let joined = join_plans("a", plans);
            assert_eq!(shown(&joined), expected, "{second:?}");
            assert!(joined.can_run(), "{:?}", joined.diagnostics);
            assert!(joined.requires_plans.is_empty());
        }
    }

    #[test]
    fn a_plan_without_tasks_passes_on_what_it_requires() {
        let plans = vec![
            plan("1-1-PLAN.md", &[], 1),
            plan("1-2-PLAN.md", &["1-1"], 0),
            plan("1-3-PLAN.md", &["1-2"], 1),
        ];
        assert_eq!(shown(&join_plans("", plans)), "1-1.1< 1-3.1<1-1.1");
    }

    #[test]
    fn a_phase_is_all_of_its_plans() {
        let plans = vec![
            plan("03-01-PLAN.md", &["05"], 1),
            plan("05-01-PLAN.md", &[], 1),
            plan("05-02-PLAN.md", &[], 1),
        ];
        assert_eq!(
            shown(&join_plans("", plans)),
            "05-01.1< 05-02.1< 03-01.1<05-01.1,05-02.1"
        );
    }

    #[test]
    fn what_cannot_be_joined_is_told() {
        let missing = join_plans("a", vec![plan("02-01-PLAN.md", &["01-09"], 1)]);
        assert_eq!(missing.requires_plans, ["01-09"]);
        assert_eq!(
            missing.diagnostics.first().map(|found| found.code),
            Some(Code::RequiredPlanMissing)
        );
        assert!(missing.can_run());

        let circle = join_plans(
            "a",
            vec![
                plan("1-1-PLAN.md", &["1-2"], 1),
                plan("1-2-PLAN.md", &["1-1"], 1),
            ],
        );
        assert_eq!(
            circle.diagnostics.first().map(|found| found.code),
            Some(Code::Cycle)
        );
        assert_eq!(circle.tasks.len(), 2);

        let same = join_plans(
            "a",
            vec![plan("x/01-PLAN.md", &[], 1), plan("y/01-PLAN.md", &[], 1)],
        );
        assert_eq!(shown(&same), "01.1< y-01.1<");
        assert!(join_plans("a", Vec::new()).tasks.is_empty());
    }
}
