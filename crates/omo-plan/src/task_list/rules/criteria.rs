//! Splitting of criteria that were typed as one text.

use crate::refusal::VerbRefusal;
use crate::task_list::criterion::begins_with_command_word;

const HINT: &str = "write a command in backticks: --criteria '`a || b`|readable'; or give each by itself: \
                    --criterion 'cmd: a || b' --criterion readable";

/// Criteria of a JSON list, or of texts with `|` between them. A `|` in backticks, and `\|`, separates nothing.
///
/// # Errors
///
/// Unclosed backtick or JSON list, or a `|` that may belong to a command.
pub fn split_criteria(text: &str) -> Result<Vec<String>, VerbRefusal> {
    let parts = match serde_json::from_str::<Vec<String>>(text) {
        Ok(list) => list,
        Err(_) if text.trim_start().starts_with("[\"") => {
            return Err(VerbRefusal::precondition(
                "the criteria begin as a JSON list of texts, and are not one",
                HINT,
            ));
        }
        Err(_) => split_at_bars(text)?,
    };
    Ok(parts
        .iter()
        .map(|criterion| criterion.trim().to_owned())
        .filter(|criterion| !criterion.is_empty())
        .collect())
}

fn split_at_bars(text: &str) -> Result<Vec<String>, VerbRefusal> {
    let mut parts = Vec::new();
    let mut part = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(['|', '`']) {
        let (before, behind) = rest.split_at(at);
        part.push_str(before);
        if behind.starts_with('`') {
            let code = code_span_length(behind).ok_or_else(|| {
                VerbRefusal::precondition("a backtick in the criteria has no end", HINT)
            })?;
            let (code, after) = behind.split_at(code);
            part.push_str(code);
            rest = after;
            continue;
        }
        if behind.starts_with("||") {
            return Err(VerbRefusal::precondition(
                "`||` in the criteria may be two criteria or one command",
                HINT,
            ));
        }
        if begins_with_command_word(&part) && !part.contains('`') {
            let message = "a `|` after a command in the criteria may begin another one or belong to the command";
            return Err(VerbRefusal::precondition(message, HINT));
        }
        rest = behind.get(1..).unwrap_or_default();
        if part.ends_with('\\') {
            part.pop();
            part.push('|');
        } else {
            parts.push(std::mem::take(&mut part));
        }
    }
    part.push_str(rest);
    parts.push(part);
    Ok(parts)
}

/// Length in bytes of the code span at the start, backticks included; `None` for an unclosed one.
fn code_span_length(text: &str) -> Option<usize> {
    let (_, behind) = crate::fields::stated_checks::split_code_span(text)?;
    Some(text.len() - behind.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backticks_bind_a_command_whole() {
        for (text, expected) in [
            ("works", &["works"] as &[&str]),
            (" a | | b", &["a", "b"]),
            ("`a || b`|readable", &["`a || b`", "readable"]),
            (
                "Run: `sort f | uniq` | fast",
                &["Run: `sort f | uniq`", "fast"],
            ),
            (
                "`` echo `date` | cat ``|x",
                &["`` echo `date` | cat ``", "x"],
            ),
            ("shows `a|b` twice|and c", &["shows `a|b` twice", "and c"]),
            (r#"["cmd: a || b", "c"]"#, &["cmd: a || b", "c"]),
            ("readable|cmd: npm test", &["readable", "cmd: npm test"]),
            (r"shows a \| b|readable", &["shows a | b", "readable"]),
        ] {
            assert_eq!(split_criteria(text).unwrap(), expected, "{text}");
        }
    }

    #[test]
    fn what_may_be_one_or_two_criteria_is_refused() {
        for text in [
            "`a | b",
            "a || b",
            "cmd: sort f | uniq",
            "run: a|readable",
            "x|cmd: a | b",
            "`` a ` | b",
            r#"["a|b", 3]"#,
        ] {
            let refusal = split_criteria(text).unwrap_err();
            assert!(refusal.hint.contains("--criterion"), "{text}");
        }
    }
}
