//! Parses a tasks file, with the bytes of each task. The last of a repeated key counts.

use std::fmt;
use std::ops::Range;

use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::JsonDialect;

const MAIN_TAG: &str = "master";
const MAX_DEPTH: usize = 8;

#[derive(Debug, Default)]
pub(super) struct RawObject<'a> {
    pub(super) members: Vec<(String, &'a str)>,
}

impl<'de> Deserialize<'de> for RawObject<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Members;
        impl<'de> Visitor<'de> for Members {
            type Value = RawObject<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some((key, value)) = map.next_entry::<String, &'de RawValue>()? {
                    members.push((key, value.get()));
                }
                Ok(RawObject { members })
            }
        }
        deserializer.deserialize_map(Members)
    }
}

impl<'a> RawObject<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        if text.starts_with('{') {
            serde_json::from_str(text).ok()
        } else {
            None
        }
    }

    pub(super) fn raw(&self, key: &str) -> Option<&'a str> {
        self.members
            .iter()
            .rev()
            .find(|(name, _)| name == key)
            .map(|(_, value)| *value)
    }

    /// Text of a string, a number as written, or the items of a list as lines.
    pub(super) fn text(&self, key: &str) -> Option<String> {
        self.raw(key)
            .and_then(value_text)
            .filter(|text| !text.trim().is_empty())
    }

    /// Items of a list; a single value is a list of one.
    pub(super) fn items(&self, key: &str) -> Option<Vec<&'a str>> {
        let raw = self.raw(key).filter(|raw| *raw != "null")?;
        Some(parse_list(raw).unwrap_or_else(|| vec![raw]))
    }
}

pub(super) fn value_text(raw: &str) -> Option<String> {
    match raw.as_bytes().first()? {
        b'"' => {
            Some(serde_json::from_str(raw).unwrap_or_else(|_| raw.trim_matches('"').to_owned()))
        }
        b'0'..=b'9' | b'-' | b't' | b'f' => Some(raw.to_owned()),
        b'[' => {
            let lines: Vec<String> = parse_list(raw)?
                .into_iter()
                .filter_map(scalar_text)
                .collect();
            Some(lines.join("\n"))
        }
        _ => None,
    }
}

fn scalar_text(raw: &str) -> Option<String> {
    if raw.starts_with('[') {
        None
    } else {
        value_text(raw)
    }
}

fn parse_list(raw: &str) -> Option<Vec<&str>> {
    let items: Vec<&RawValue> = if raw.starts_with('[') {
        serde_json::from_str(raw).ok()?
    } else {
        return None;
    };
    Some(items.into_iter().map(RawValue::get).collect())
}

#[derive(Debug)]
pub(super) struct TaskTag<'a> {
    /// Name of the tag; `None` for tasks without a tag.
    pub(super) name: Option<String>,
    pub(super) tasks: Vec<&'a str>,
}

/// Parsed tasks file; tasks outside of tags are in one without a name.
#[derive(Debug)]
pub(super) struct TasksFile<'a> {
    pub(super) root: RawObject<'a>,
    pub(super) tags: Vec<TaskTag<'a>>,
}

/// JSON without a byte order mark and spaces around it.
pub(super) fn json_text(text: &str) -> &str {
    text.trim_start_matches('\u{feff}').trim()
}

impl<'a> TasksFile<'a> {
    /// # Errors
    ///
    /// Text that is no JSON object.
    pub(super) fn parse(text: &'a str, format: &JsonDialect) -> Result<Self, serde_json::Error> {
        let root: RawObject<'a> = serde_json::from_str(json_text(text))?;
        let mut tags = Vec::new();
        if let Some(tasks) = format
            .lists
            .iter()
            .find_map(|key| root.raw(key).and_then(parse_list))
        {
            tags.push(TaskTag { name: None, tasks });
        }
        if !format.has_tags {
            return Ok(Self { root, tags });
        }
        let nested = root.raw("tags").and_then(RawObject::parse);
        let members = nested.iter().flat_map(|tags| &tags.members);
        for (name, value) in root.members.iter().chain(members) {
            let tasks = RawObject::parse(value)
                .and_then(|tag| parse_list(tag.raw("tasks")?))
                .or_else(|| parse_list(value).filter(|_| name == MAIN_TAG));
            if let Some(tasks) = tasks {
                tags.push(TaskTag {
                    name: Some(name.clone()),
                    tasks,
                });
            }
        }
        Ok(Self { root, tags })
    }

    pub(super) fn object(&self, key: &str) -> Option<RawObject<'a>> {
        self.root.raw(key).and_then(RawObject::parse)
    }

    pub(super) fn chosen_tag(&self) -> Option<&TaskTag<'a>> {
        let mut tags = self.tags.iter();
        // The last of a repeated tag counts.
        let main = tags
            .rfind(|tag| tag.name.as_deref() == Some(MAIN_TAG))
            .filter(|tag| !tag.tasks.is_empty());
        main.or_else(|| self.tags.iter().find(|tag| !tag.tasks.is_empty()))
            .or_else(|| self.tags.first())
    }

    /// `true` for tasks of this format, and not for other JSON with a list of that name.
    pub(super) fn has_tasks(&self, format: &JsonDialect) -> bool {
        let is_empty = self.tags.iter().all(|tag| tag.tasks.is_empty());
        let has_main = self
            .tags
            .iter()
            .any(|tag| tag.name.as_deref() == Some(MAIN_TAG));
        if is_empty {
            has_main || !format.has_tags && !self.tags.is_empty()
        } else {
            self.tags.iter().flat_map(|tag| &tag.tasks).any(|raw| {
                RawObject::parse(raw)
                    .is_some_and(|task| format.keys.iter().all(|key| task.raw(key).is_some()))
            })
        }
    }
}

#[derive(Debug)]
pub(super) struct JsonTask<'a> {
    pub(super) id: String,
    pub(super) span: Range<usize>,
    pub(super) parent: Option<usize>,
    pub(super) fields: RawObject<'a>,
    /// `true` for subtasks below `MAX_DEPTH`.
    pub(super) is_too_deep: bool,
}

pub(super) fn collect_tasks<'a>(text: &str, tag: &TaskTag<'a>) -> Vec<JsonTask<'a>> {
    let mut found = Vec::new();
    add_tasks(text, &tag.tasks, None, 0, &mut found);
    found
}

fn add_tasks<'a>(
    text: &str,
    list: &[&'a str],
    parent: Option<usize>,
    depth: usize,
    found: &mut Vec<JsonTask<'a>>,
) {
    for raw in list {
        let fields = RawObject::parse(raw).unwrap_or_default();
        let above = parent
            .and_then(|place| found.get(place))
            .map(|task| task.id.clone());
        let id = task_id(
            fields.text("id").unwrap_or_default().trim(),
            above.as_deref(),
        );
        let subtasks = fields
            .raw("subtasks")
            .and_then(parse_list)
            .unwrap_or_default();
        let is_too_deep = depth == MAX_DEPTH && !subtasks.is_empty();
        let place = found.len();
        found.push(JsonTask {
            id,
            span: span_of(text, raw),
            parent,
            fields,
            is_too_deep,
        });
        if !is_too_deep {
            add_tasks(text, &subtasks, Some(place), depth + 1, found);
        }
    }
}

/// Id of a task: `2` below `1` is `1.2`, and so is `1.2`.
fn task_id(number: &str, parent: Option<&str>) -> String {
    match parent {
        Some(parent) if !is_below(number, parent) => format!("{parent}.{number}"),
        _ => number.to_owned(),
    }
}

/// `true` for an id below another one, such as `1.2` below `1`.
pub(super) fn is_below(id: &str, above: &str) -> bool {
    id.strip_prefix(above)
        .is_some_and(|rest| rest.starts_with('.'))
}

pub(super) fn span_of(text: &str, part: &str) -> Range<usize> {
    let start = part
        .as_ptr()
        .addr()
        .saturating_sub(text.as_ptr().addr())
        .min(text.len());
    start..(start + part.len()).min(text.len())
}
