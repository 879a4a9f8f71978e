//! Lists in the front matter of a GSD plan.

use crate::document::{MarkdownDocument, line_ranges};

/// Items of the list at `key`, on its line or on the lines below; `None` without the key.
pub(crate) fn read_list(document: &MarkdownDocument<'_>, key: &str) -> Option<Vec<String>> {
    let field = document.front_matter_field(key)?;
    let mut rows = line_ranges(document.text, field.span.end..document.body_start)
        .map(|row| document.slice(row));
    let (_, value) = document.slice(field.span.clone()).split_once(':')?;
    let value = without_comment(value);
    if let Some(first) = value.strip_prefix('[') {
        let mut inner = first.to_owned();
        while !inner.contains(']') {
            let Some(row) = rows.next() else { break };
            inner.push(',');
            inner.push_str(without_comment(row));
        }
        let inner = inner.split(']').next().unwrap_or_default();
        return Some(
            inner
                .split(',')
                .map(unquote)
                .filter(|item| !is_nothing(item))
                .collect(),
        );
    }
    if !value.is_empty() {
        let items = value.split(',').map(unquote);
        return Some(items.filter(|item| !is_nothing(item)).collect());
    }
    let mut found = Vec::new();
    for row in rows.map(without_comment).filter(|row| !row.is_empty()) {
        let Some(item) = row.strip_prefix('-').filter(|_| !row.starts_with("--")) else {
            break;
        };
        found.push(unquote(item));
    }
    Some(found.into_iter().filter(|item| !is_nothing(item)).collect())
}

fn without_comment(text: &str) -> &str {
    let text = text.trim();
    if text.starts_with('#') {
        ""
    } else {
        text.split(" #").next().unwrap_or_default().trim_end()
    }
}

fn unquote(item: &str) -> String {
    item.trim().trim_matches(['"', '\'', '`']).trim().to_owned()
}

fn is_nothing(item: &str) -> bool {
    matches!(
        item.to_ascii_lowercase().as_str(),
        "" | "none" | "null" | "~" | "n/a" | "[]"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_in_every_form() {
        for (field, expected) in [
            ("depends_on: []", Some("")),
            (
                "depends_on: [\"02-03\", '02-04'] # both",
                Some("02-03|02-04"),
            ),
            (
                "depends_on:\n  - 02-03\n\n  # a remark\n  - \"02-04\"\nwave: 2",
                Some("02-03|02-04"),
            ),
            ("depends_on:\n- 01\nwave: 2", Some("01")),
            ("depends_on: [\n  01,\n  02\n]", Some("01|02")),
            ("depends_on: 02-03", Some("02-03")),
            ("depends_on: none", Some("")),
            ("depends_on:", Some("")),
            ("depends_on: [01", Some("01|---")),
            ("wave: 1", None),
        ] {
            for ending in ["\n", "\r\n"] {
                let text = format!("---\n{field}\n---\n- 09\n").replace('\n', ending);
                let document = MarkdownDocument::read(&text);
                let found = read_list(&document, "depends_on").map(|items| items.join("|"));
                assert_eq!(found.as_deref(), expected, "{text:?}");
            }
        }
    }
}
