//! Dependencies of tasks in JSON: stated ones, and those between a task and its subtasks.

use std::collections::{HashMap, HashSet};

use super::tasks_file::{JsonTask, is_below, value_text};
use crate::model::{PlannedState, Task};

const MAX_DEPENDENCIES: usize = 100_000;
/// Maximum bytes of a parent's dependencies that are compared with a subtask's.
const MAX_LOOKED_AT: usize = 1_000;

/// Ids of tasks in JSON, to look up the ones that dependencies name.
pub(super) struct TaskMasterIds<'e, 'a> {
    entries: &'e [JsonTask<'a>],
    places: HashMap<&'e str, usize>,
}

impl<'e, 'a> TaskMasterIds<'e, 'a> {
    pub(super) fn new(entries: &'e [JsonTask<'a>]) -> Self {
        let places = entries
            .iter()
            .enumerate()
            .map(|(place, entry)| (entry.id.as_str(), place))
            .collect();
        Self { entries, places }
    }

    fn has(&self, id: &str) -> bool {
        self.places.contains_key(id)
    }

    /// Ids in `dependencies`; `None` for a task without that key.
    pub(super) fn stated_dependencies(&self, place: usize) -> Option<Vec<String>> {
        let entry = self.entries.get(place)?;
        let parent = entry
            .parent
            .and_then(|parent| self.entries.get(parent))
            .map(|parent| parent.id.as_str());
        let items = ["dependencies", "dependsOn"]
            .iter()
            .find_map(|key| entry.fields.items(key))?;
        let words: Vec<String> = items.into_iter().filter_map(dependency_text).collect();
        let names = words
            .iter()
            .flat_map(|words| words.split(','))
            .map(|name| name.trim().trim_start_matches('#'));
        let mut seen = HashSet::new();
        let mut found: Vec<String> = Vec::new();
        for name in names.filter(|name| !name.is_empty()) {
            let id = self.resolve(name, &entry.id, parent);
            if seen.insert(id.clone()) {
                found.push(id);
            }
        }
        Some(found)
    }

    /// Removes dependencies on deleted tasks, and returns them.
    pub(super) fn drop_gone(&self, task: &mut Task) -> Vec<String> {
        let stated = task.stated_deps.take();
        let (kept, dropped) = stated
            .clone()
            .unwrap_or_default()
            .into_iter()
            .partition(|id| self.has(id));
        task.stated_deps = stated.map(|_| kept);
        dropped
    }

    /// Id that `name` stands for: a sibling's where there is one, else a task's.
    fn resolve(&self, name: &str, own_id: &str, parent: Option<&str>) -> String {
        let Some(parent) = parent else {
            return name.to_owned();
        };
        let sibling = format!("{parent}.{name}");
        let is_full = name.contains('.') && self.has(name);
        if is_full || sibling == own_id || !self.has(&sibling) {
            return name.to_owned();
        }
        // A number that a parent and a later sibling share is the task of that number.
        let is_later = self.places.get(sibling.as_str()) > self.places.get(own_id);
        if self.has(name) && is_later && self.parent_names(parent, name) {
            name.to_owned()
        } else {
            sibling
        }
    }

    fn parent_names(&self, parent: &str, name: &str) -> bool {
        let Some(place) = self.places.get(parent).copied() else {
            return false;
        };
        let is_short = self
            .entries
            .get(place)
            .and_then(|entry| entry.fields.raw("dependencies"))
            .is_some_and(|raw| raw.len() <= MAX_LOOKED_AT);
        is_short
            && self
                .stated_dependencies(place)
                .is_some_and(|ids| ids.iter().any(|id| id == name))
    }

    /// Adds stated dependencies, subtasks, and those of the parent; `false` for too many.
    pub(super) fn derive_dependencies(&self, tasks: &mut [Task]) -> bool {
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); tasks.len()];
        for (place, entry) in self.entries.iter().enumerate() {
            if let Some(own) = entry.parent.and_then(|parent| children.get_mut(parent)) {
                own.push(place);
            }
        }
        let mut left = MAX_DEPENDENCIES;
        let mut needs: Vec<Vec<String>> = Vec::with_capacity(tasks.len());
        // Number of needs that subtasks inherit.
        let mut passed_on: Vec<usize> = Vec::with_capacity(tasks.len());
        for (place, entry) in self.entries.iter().enumerate() {
            let Some(task) = tasks.get(place) else {
                return true;
            };
            let stated = task.stated_deps.iter().flatten().map(String::as_str);
            // A parent waits for its subtasks anyway. Only open needs matter.
            let stated = stated.filter(|id| {
                !is_below(&entry.id, id) && (task.state == PlannedState::Open || self.has(id))
            });
            let above = entry.parent.and_then(|parent| {
                let needs = needs.get(parent)?.get(..*passed_on.get(parent)?)?;
                Some((self.entries.get(parent)?, needs))
            });
            let inherited = above.into_iter().flat_map(|(parent, needs)| {
                needs
                    .iter()
                    .map(String::as_str)
                    .filter(move |id| !is_below(id, &parent.id))
            });
            let below = children.get(place).into_iter().flatten();
            let below = below
                .filter_map(|child| self.entries.get(*child))
                .map(|child| child.id.as_str());
            let mut seen = HashSet::new();
            let first = stated
                .chain(inherited)
                .take(left + 1)
                .filter(|id| seen.insert(*id))
                .map(str::to_owned);
            let mut own: Vec<String> = first.collect();
            passed_on.push(own.len());
            own.extend(
                below
                    .take(left + 1)
                    .filter(|id| seen.insert(*id))
                    .map(str::to_owned),
            );
            if own.len() > left {
                return false;
            }
            left -= own.len();
            needs.push(own);
        }
        for (task, own) in tasks.iter_mut().zip(needs) {
            task.deps = own;
        }
        true
    }
}

/// Text of a value, or of an object's `id`.
fn dependency_text(raw: &str) -> Option<String> {
    let object: Option<super::tasks_file::RawObject<'_>> = if raw.starts_with('{') {
        serde_json::from_str(raw).ok()
    } else {
        None
    };
    object.map_or_else(|| value_text(raw), |object| object.text("id"))
}
