//! Trailers `Omo-Run: ID` and `Omo-Task: ID`, which mark the commits of a run's tasks.

/// `Omo-Run: ID`.
pub const RUN_TRAILER: &str = "Omo-Run";
/// `Omo-Task: ID`.
pub const TASK_TRAILER: &str = "Omo-Task";

/// `true` for a message with the trailers of this task of this run.
pub fn is_task_message(message: &str, run: &str, task: &str) -> bool {
    let marks = [
        format!("{RUN_TRAILER}: {run}"),
        format!("{TASK_TRAILER}: {task}"),
    ];
    marks
        .iter()
        .all(|mark| message.lines().any(|line| line.trim_end() == mark))
}

/// Last commit of a task, of `commits` with their messages, oldest first.
pub fn find_task_commit<'c>(
    commits: &'c [(String, String)],
    run: &str,
    task: &str,
) -> Option<&'c str> {
    commits
        .iter()
        .rfind(|(_, message)| is_task_message(message, run, task))
        .map(|(commit, _)| commit.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_found_by_its_whole_trailers_and_the_last_one_counts() {
        let commit = |id: &str, run: &str, task: &str| {
            (
                id.to_owned(),
                format!("feat: x\n\nOmo-Run: {run}\nOmo-Task: {task}\n"),
            )
        };
        let commits = [
            commit("a", "r1", "1"),
            commit("b", "r1", "11"),
            commit("c", "r1", "1"),
            commit("d", "r2", "1"),
            (
                "e".to_owned(),
                "says Omo-Run: r1 and Omo-Task: 1".to_owned(),
            ),
        ];
        assert_eq!(find_task_commit(&commits, "r1", "1"), Some("c"));
        assert_eq!(find_task_commit(&commits, "r1", "11"), Some("b"));
        assert_eq!(find_task_commit(&commits, "r1", "2"), None);
        assert_eq!(find_task_commit(&[], "r1", "1"), None);
    }
}
