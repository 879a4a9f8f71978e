//! Looks up a JSON value by its path, such as `plan.design_doc` or `evidence[0]`.

use serde_json::Value;

/// Value at `path`; `None` for a missing one, not for a `null`.
pub fn value_at_path<'a>(value: &'a Value, path: &str) -> Option<&'a Value> {
    path.split('.').try_fold(value, |value, part| {
        let (name, places) = part
            .split_once('[')
            .map_or((part, None), |(name, places)| (name, Some(places)));
        let member = value.get(name)?;
        let Some(places) = places else {
            return Some(member);
        };
        places
            .strip_suffix(']')?
            .split("][")
            .try_fold(member, |list, place| list.get(place.parse::<usize>().ok()?))
    })
}

/// Printed form of a value: a text as it is, anything else as JSON.
pub fn format_value(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => serde_json::to_string_pretty(other).unwrap_or_default(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_path_leads_to_what_is_there_and_nowhere_else() {
        let value = json!({"phase": "EXECUTION", "plan": {"design_doc": null}, "list": [[1, 2], {"a": "b"}]});
        for (path, found) in [
            ("phase", Some(json!("EXECUTION"))),
            ("plan.design_doc", Some(json!(null))),
            ("list[0][1]", Some(json!(2))),
            ("list[1].a", Some(json!("b"))),
            ("list[2]", None),
            ("list[x]", None),
            ("list[0", None),
            ("list.0", None),
            ("phase.length", None),
            ("plan..design_doc", None),
            ("", None),
            ("nothing", None),
        ] {
            assert_eq!(value_at_path(&value, path), found.as_ref(), "{path:?}");
        }
    }

    #[test]
    fn a_text_is_printed_as_it_is() {
        assert_eq!(format_value(&json!("a \"b\"")), "a \"b\"");
        assert_eq!(format_value(&json!(null)), "null");
        assert_eq!(format_value(&json!({"a": []})), "{\n  \"a\": []\n}");
    }
}
