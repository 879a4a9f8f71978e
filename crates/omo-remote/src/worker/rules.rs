//! Rules of a worker without I/O: faults of its brief, progress by commits, the prompt of a restart, and its end.

use std::collections::BTreeSet;

use omo_claude::client_end::ClientEnd;
use omo_core::text::sanitize;
use omo_git::task_trailers::{find_task_commit, is_task_message};

use crate::exchange::{EXCHANGE_VERSION, WorkerBrief, WorkerEnd};

const MAX_TASKS: usize = 1_000;
const MAX_REMOTE: usize = 4_096;
const MAX_BRANCH: usize = 200;
const MAX_ID: usize = 200;
const DETAIL_CHARS: usize = 500;

/// Reason to refuse a remote's address, such as `ext::sh`, which has git start a program; `None` for a sound one.
pub fn remote_problem(remote: &str) -> Option<&'static str> {
    let is_local = !remote.contains(':');
    if remote.is_empty() || remote.len() > MAX_REMOTE || remote.chars().any(char::is_control) {
        return Some("it is empty, too long, or has control characters");
    }
    if remote.starts_with('-') {
        return Some("it begins with `-`");
    }
    if remote.contains("::") {
        return Some("it has git start a program of that name");
    }
    (is_local && !std::path::Path::new(remote).is_absolute())
        .then_some("the path of a repository has to be absolute")
}

/// Plain branch name: valid for git, and no pattern.
pub fn is_branch_name(branch: &str) -> bool {
    branch.len() <= MAX_BRANCH
        && branch
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.' | b'/'))
        && !branch.contains("..")
        && branch.split('/').all(is_branch_part)
}

fn is_branch_part(part: &str) -> bool {
    let is_lock = part
        .rsplit_once('.')
        .is_some_and(|(_, ending)| ending.eq_ignore_ascii_case("lock"));
    !part.is_empty() && !part.starts_with(['.', '-']) && !part.ends_with('.') && !is_lock
}

/// Full commit id: 40 or 64 lowercase hexadecimal digits.
pub fn is_commit_name(name: &str) -> bool {
    matches!(name.len(), 40 | 64)
        && name
            .bytes()
            .all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Parses a [`WorkerBrief`]; the error is a reason.
pub(super) fn parse_brief(bytes: &[u8]) -> Result<WorkerBrief, String> {
    #[derive(serde::Deserialize)]
    struct Versioned {
        version: u32,
    }
    let Versioned { version } =
        serde_json::from_slice(bytes).map_err(|error| unreadable_brief(&error))?;
    if version != EXCHANGE_VERSION {
        return Err(format!(
            "the brief has the version {version}, and this omo understands {EXCHANGE_VERSION}: use the same omo on both machines"
        ));
    }
    let brief: WorkerBrief =
        serde_json::from_slice(bytes).map_err(|error| unreadable_brief(&error))?;
    let ids: BTreeSet<&str> = brief.tasks.iter().map(|task| task.id.as_str()).collect();
    let problem = if !is_id(&brief.run) || !is_id(&brief.group) || !ids.iter().all(|id| is_id(id)) {
        "an id in it is empty, too long, or has control characters"
    } else if !is_commit_name(&brief.base) {
        "its base is not a commit"
    } else if brief.tasks.is_empty()
        || brief.tasks.len() > MAX_TASKS
        || ids.len() != brief.tasks.len()
    {
        "it has no task, too many, or one of them twice"
    } else if !brief
        .tasks
        .iter()
        .all(|task| is_task_message(&task.message, &brief.run, &task.id))
    {
        "the message of a task lacks its trailers"
    } else {
        return Ok(brief);
    };
    Err(format!("the brief cannot be followed: {problem}"))
}

fn is_id(id: &str) -> bool {
    !id.is_empty() && id.len() <= MAX_ID && !id.chars().any(char::is_control)
}

fn unreadable_brief(error: &serde_json::Error) -> String {
    format!(
        "the brief cannot be read: {}",
        sanitize(&error.to_string(), 200)
    )
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Progress {
    /// Tasks with a commit, in the order of the brief.
    pub done: Vec<String>,
    /// Last of the commits that belong to a task.
    pub last: Option<String>,
}

pub(super) fn find_progress(brief: &WorkerBrief, commits: &[(String, String)]) -> Progress {
    let task_commits: Vec<(&str, &str)> = brief
        .tasks
        .iter()
        .filter_map(|task| {
            Some((
                task.id.as_str(),
                find_task_commit(commits, &brief.run, &task.id)?,
            ))
        })
        .collect();
    let last = commits.iter().rfind(|(commit, _)| {
        task_commits
            .iter()
            .any(|(_, task_commit)| task_commit == commit)
    });
    Progress {
        last: last.map(|(commit, _)| commit.clone()),
        done: task_commits
            .iter()
            .map(|(id, _)| (*id).to_owned())
            .collect(),
    }
}

pub(super) fn prompt_with_progress(brief: &WorkerBrief, done: &[String]) -> String {
    let Some(next) = brief
        .tasks
        .iter()
        .find(|task| !done.contains(&task.id))
        .filter(|_| !done.is_empty())
    else {
        return brief.prompt.clone();
    };
    let done_ids = done
        .iter()
        .map(|id| format!("`{}`", sanitize(id, 60)))
        .collect::<Vec<_>>()
        .join(", ");
    format!(
        "An earlier start of this work was cut off. Of the tasks below {} done already: the commits are checked out. \
Leave them as they are, and go on with `{}`.\n\n{}",
        if done.len() == 1 {
            format!("{done_ids} is")
        } else {
            format!("{done_ids} are")
        },
        sanitize(&next.id, 60),
        brief.prompt
    )
}

/// `true` where the client stopped by itself, done or out of turns: its uncommitted files then count.
pub(super) fn has_finished(end: &ClientEnd) -> bool {
    matches!(end, ClientEnd::Ended | ClientEnd::TurnsSpent)
}

pub(super) fn worker_end(end: &ClientEnd) -> (WorkerEnd, String) {
    match end {
        ClientEnd::Ended => (
            WorkerEnd::TasksLeft,
            "its client ended by itself".to_owned(),
        ),
        ClientEnd::TurnsSpent => (
            WorkerEnd::TasksLeft,
            "its client had taken all of its turns".to_owned(),
        ),
        ClientEnd::Garbage(why) => (WorkerEnd::TasksLeft, sanitize(why, DETAIL_CHARS)),
        ClientEnd::BudgetSpent => (
            WorkerEnd::BudgetSpent,
            "its client had spent its budget".to_owned(),
        ),
        ClientEnd::UsageLimit { until } => (
            WorkerEnd::UsageLimit { until: *until },
            "its client met a limit of use".to_owned(),
        ),
        ClientEnd::ApiError { status, detail } => {
            let status = status
                .map(|status| format!(" (HTTP status {status})"))
                .unwrap_or_default();
            (
                WorkerEnd::ApiFailed,
                format!("the API failed{status}: {}", sanitize(detail, DETAIL_CHARS)),
            )
        }
        ClientEnd::TimedOut => (WorkerEnd::TimedOut, "its client's time was up".to_owned()),
        ClientEnd::Stopped => (WorkerEnd::Stopped, "it was asked to end".to_owned()),
        ClientEnd::Killed { signal } => {
            let signal = signal
                .map(|signal| format!(" by signal {signal}"))
                .unwrap_or_default();
            (WorkerEnd::Killed, format!("its client was killed{signal}"))
        }
        ClientEnd::NeverBegan(why) => (
            WorkerEnd::NotPrepared,
            format!("its client never began: {}", sanitize(why, DETAIL_CHARS)),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::exchange::BriefTask;

    fn brief(tasks: &[&str]) -> WorkerBrief {
        let task = |id: &&str| BriefTask {
            id: (*id).to_owned(),
            message: format!("feat: {id}\n\nOmo-Run: r1\nOmo-Task: {id}"),
        };
        WorkerBrief {
            version: EXCHANGE_VERSION,
            run: "r1".to_owned(),
            group: "1".to_owned(),
            base: "a1".repeat(20),
            prompt: "Do it.".to_owned(),
            tasks: tasks.iter().map(task).collect(),
            ..WorkerBrief::default()
        }
    }

    fn parse(brief: &WorkerBrief) -> Result<WorkerBrief, String> {
        parse_brief(&serde_json::to_vec(brief).unwrap())
    }

    #[test]
    fn only_plain_branches_and_addresses_are_taken() {
        for good in ["omo/r1/session-1", "a", "a.b-c_d/e"] {
            assert!(is_branch_name(good), "{good}");
        }
        let long = "a".repeat(201);
        for bad in [
            "", "-x", "a b", "a..b", "/a", "a/", "a//b", ".a", "a/.b", "a.lock", "a*", "a:b",
            "a\n", "ü", "@{u}", &long,
        ] {
            assert!(!is_branch_name(bad), "{bad}");
        }
        for good in [
            "/srv/x.git",
            "file:///srv/x.git",
            "https://h/x",
            "git@h:x.git",
            "ssh://h/x",
        ] {
            assert_eq!(remote_problem(good), None, "{good}");
        }
        for bad in [
            "",
            "-u",
            "--upload-pack=x:y",
            "ext::sh -c x",
            "../x",
            "a\nb:",
        ] {
            assert!(remote_problem(bad).is_some(), "{bad}");
        }
        assert!(is_commit_name(&"0a".repeat(20)) && is_commit_name(&"0a".repeat(32)));
        for bad in ["", "HEAD", &"0A".repeat(20), &"0a".repeat(19)] {
            assert!(!is_commit_name(bad), "{bad}");
        }
    }

    #[test]
    fn a_brief_that_cannot_be_followed_is_refused() {
        assert_eq!(parse(&brief(&["1", "2"])), Ok(brief(&["1", "2"])));
        for wrong in [
            WorkerBrief {
                version: 2,
                ..brief(&["1"])
            },
            WorkerBrief {
                run: "r2".to_owned(),
                ..brief(&["1"])
            },
            WorkerBrief {
                run: "r1\n".to_owned(),
                ..brief(&["1"])
            },
            WorkerBrief {
                group: String::new(),
                ..brief(&["1"])
            },
            WorkerBrief {
                base: "HEAD".to_owned(),
                ..brief(&["1"])
            },
            brief(&[]),
            brief(&["1", "1"]),
        ] {
            assert!(parse(&wrong).is_err(), "{wrong:?}");
        }
        for text in [
            "",
            "[]",
            "{\"version\":1}",
            "{\"version\":1,\"x\":0}",
            "\u{feff}{}",
        ] {
            assert!(parse_brief(text.as_bytes()).is_err(), "{text}");
        }
        assert!(
            parse_brief(b"{\"version\":9,\"new\":true}")
                .unwrap_err()
                .contains("version 9")
        );
    }

    #[test]
    fn what_is_done_is_told_by_the_trailers() {
        let brief = brief(&["1", "2", "3"]);
        let commit = |id: &str, task: &str| {
            (
                id.to_owned(),
                format!("x\n\nOmo-Run: r1\nOmo-Task: {task}\n"),
            )
        };
        let none = ("e".to_owned(), "an aside".to_owned());
        assert_eq!(
            find_progress(&brief, std::slice::from_ref(&none)),
            Progress::default()
        );
        let commits = [
            commit("a", "2"),
            commit("b", "1"),
            commit("c", "2"),
            commit("d", "9"),
            none,
        ];
        let progress = find_progress(&brief, &commits);
        assert_eq!(
            (progress.done, progress.last.as_deref()),
            (vec!["1".to_owned(), "2".to_owned()], Some("c"))
        );
    }

    #[test]
    fn the_client_is_told_what_was_done_before() {
        let brief = brief(&["1", "2", "3"]);
        assert_eq!(prompt_with_progress(&brief, &[]), "Do it.");
        let text = prompt_with_progress(&brief, &["1".to_owned(), "2".to_owned()]);
        assert!(
            text.contains("`1`, `2` are done already") && text.contains("go on with `3`"),
            "{text}"
        );
        assert!(text.ends_with("\n\nDo it."), "{text}");
    }

    #[test]
    fn no_end_of_a_client_is_a_push() {
        for end in [
            ClientEnd::Ended,
            ClientEnd::TurnsSpent,
            ClientEnd::BudgetSpent,
            ClientEnd::UsageLimit { until: None },
            ClientEnd::TimedOut,
            ClientEnd::Stopped,
            ClientEnd::Killed { signal: Some(9) },
            ClientEnd::NeverBegan(String::new()),
            ClientEnd::Garbage(String::new()),
        ] {
            assert_ne!(worker_end(&end).0, WorkerEnd::Pushed, "{end:?}");
        }
        assert!(has_finished(&ClientEnd::Ended) && !has_finished(&ClientEnd::Stopped));
    }
}
