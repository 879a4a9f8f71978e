//! Ids of a task list, whole numbers or `verify`, and the order of tasks.

use crate::task_list::{TaskFile, VERIFY_TASK_ID};

const MAX_DIGITS: usize = 9;

/// Valid id: a whole number from 1, or `verify`; no path is built from anything else.
pub fn parse_task_id(text: &str) -> Option<String> {
    if text == VERIFY_TASK_ID {
        return Some(text.to_owned());
    }
    let is_number = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let digits = text.trim_start_matches('0');
    (is_number && !digits.is_empty() && digits.len() <= MAX_DIGITS).then(|| digits.to_owned())
}

pub fn sort_tasks(tasks: &mut [TaskFile]) {
    tasks.sort_by_key(|task| task_number(&task.id).unwrap_or(u32::MAX));
}

/// Next number after the greatest of `ids`.
pub(crate) fn next_task_id<'a>(ids: impl Iterator<Item = &'a str>) -> String {
    let last = ids.filter_map(task_number).max().unwrap_or(0);
    last.saturating_add(1).to_string()
}

fn task_number(id: &str) -> Option<u32> {
    id.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_a_number_or_the_one_that_verifies() {
        for (text, id) in [
            ("1", "1"),
            ("007", "7"),
            ("120", "120"),
            ("999999999", "999999999"),
            ("verify", "verify"),
        ] {
            assert_eq!(parse_task_id(text).as_deref(), Some(id));
        }
        for text in [
            "",
            "0",
            "00",
            "-1",
            "+1",
            "1.5",
            "1e3",
            " 1",
            "1 ",
            "x",
            "Verify",
            "../1",
            "1/2",
            "1\0",
            "١",
            "1000000000",
        ] {
            assert_eq!(parse_task_id(text), None, "{text:?}");
        }
    }

    #[test]
    fn the_next_number_is_behind_the_greatest() {
        assert_eq!(next_task_id([].into_iter()), "1");
        assert_eq!(next_task_id(["2", "10", "verify"].into_iter()), "11");
    }
}
