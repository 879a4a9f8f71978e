//! The faults of the published programs, by their cases, and what omo does instead.

use anyhow::{Result, ensure};
use serde_json::json;

use super::published_vectors::Played;
use super::{ID, session_file, task_file};

/// A case, what its program does wrong, and what omo does.
type Fault = (&'static str, &'static str, fn(&Played) -> Result<()>);

pub(super) const FAULTS: [Fault; 24] = [
    (
        "S06",
        "a new session takes over the tasks of an old one",
        |played| {
            ended(played, &[0])?;
            ensure!(played.place.json(&session_file())?["goal"] == "new");
            ensure!(
                !played.place.base().join(task_file("1")).exists(),
                "the old task is a task of the new session"
            );
            let aside = played
                .place
                .json(&format!("sessions/{ID}/tasks.before-1/1.json"))?;
            ensure!(aside["status"] == "resolved", "{aside}");
            let before = played
                .place
                .json(&format!("sessions/{ID}/session.json.before-1"))?;
            ensure!(
                before["goal"] == "Add login" && before["phase"] == "COMPLETE",
                "{before}"
            );
            Ok(())
        },
    ),
    ("G04", "a null counts as nothing", |played| {
        ended(played, &[0])?;
        ensure!(played.stdout() == "null\n", "{}", played.stdout());
        Ok(())
    }),
    (
        "G11",
        "a file that is no session is printed as if it were one",
        |played| {
            ended(played, &[1, 1])?;
            ensure!(
                played.stderr().contains(&format!("{ID}/session.json: ")),
                "{}",
                played.stderr()
            );
            ensure!(
                played.stderr().contains("line 1 column 2") && played.stdout().is_empty(),
                "{}",
                played.stderr()
            );
            Ok(())
        },
    ),
    ("G14", "unknown options are taken and dropped", |played| {
        ended(played, &[2])?;
        ensure!(played.stderr().contains("'--bogus'"), "{}", played.stderr());
        Ok(())
    }),
    ("U10", "any line is evidence", |played| {
        refused(played, &["1 resolved tasks have 0 pieces of evidence"])
    }),
    ("U18", "an exploration is at any stage", |played| {
        refused(played, &["bogus", "analyzing"])
    }),
    ("U27", "an iteration is beyond the last one", |played| {
        refused(played, &["iteration 99", "1 to 5"])
    }),
    (
        "C04",
        "the task that the loop ends with cannot be made",
        |played| {
            ended(played, &[0])?;
            ensure!(played.place.json(&task_file("verify"))?["subject"] == "Verification");
            Ok(())
        },
    ),
    ("C13", "a session that is not there is made", |played| {
        ended(played, &[1])?;
        ensure!(
            played.place.files().is_empty() && played.stderr().contains("no session ghost"),
            "{}",
            played.stderr()
        );
        Ok(())
    }),
    ("C15", "a task without a number is refused", |played| {
        ended(played, &[0])?;
        let task = played.place.json(&task_file("1"))?;
        ensure!(
            task["criteria"] == json!(["c"]) && task["subject"] == "Fix: x",
            "{task}"
        );
        Ok(())
    }),
    (
        "C16",
        "a task waits for itself, and for what is not there",
        |played| refused(played, &["../../etc", "a whole number"]),
    ),
    ("V06", "a task cannot have failed", |played| {
        ended(played, &[0])?;
        ensure!(played.place.json(&task_file("1"))?["status"] == "failed");
        Ok(())
    }),
    (
        "V07",
        "how often a task was begun anew is not kept",
        |played| {
            ended(played, &[0])?;
            ensure!(played.place.json(&task_file("1"))?["retry_count"] == 2);
            Ok(())
        },
    ),
    (
        "V08",
        "the task that the loop resets cannot be changed",
        |played| {
            ended(played, &[0])?;
            ensure!(played.place.json(&task_file("verify"))?["status"] == "open");
            Ok(())
        },
    ),
    (
        "V11",
        "of several pieces of evidence the last is kept",
        |played| {
            ended(played, &[0])?;
            let task = played.place.json(&task_file("1"))?;
            ensure!(task["evidence"] == json!(["first", "second"]), "{task}");
            Ok(())
        },
    ),
    ("V16", "a word refuses honest evidence", |played| {
        warned(played, "todo")
    }),
    ("V17", "a word refuses honest evidence", |played| {
        warned(played, "placeholder")
    }),
    (
        "V18",
        "from a status in other words a task may go anywhere",
        |played| refused(played, &["task 1 of session", "from open to resolved"]),
    ),
    ("V21", "a task is resolved without evidence", |played| {
        refused(played, &["task 1 of session", "no evidence"])
    }),
    (
        "V22",
        "a task is resolved before those that it waits for",
        |played| {
            // It has no evidence either, which is said first.
            refused(played, &["task 2 of session"])?;
            let done = [
                "agent",
                "task",
                "update",
                "--id",
                "2",
                "--status",
                "resolved",
                "--add-evidence",
                "exit 0",
            ];
            played.place.refused(
                &done,
                &[
                    "task 2 of session",
                    "waits for tasks that are not resolved: 1",
                ],
            )
        },
    ),
    (
        "V23",
        "the tasks of a session that is over change",
        |played| refused(played, &["is COMPLETE"]),
    ),
    (
        "N04",
        "an id is taken for a path, and the home of the user is removed",
        |played| {
            refused(played, &["`../../..` is not a session id"])?;
            ensure!(
                played.place.lab.home().join(".claude").is_dir(),
                "the home is gone"
            );
            Ok(())
        },
    ),
    ("E01", "the last step of the loop is refused", |played| {
        ended(played, &[0, 0, 0, 0, 0, 0])?;
        ensure!(played.place.json(&session_file())?["phase"] == "COMPLETE");
        Ok(())
    }),
    (
        "E03",
        "a session cannot be complete without a verification",
        |played| {
            ended(played, &[0])?;
            ensure!(played.place.json(&session_file())?["phase"] == "COMPLETE");
            Ok(())
        },
    ),
];

fn ended(played: &Played, statuses: &[i32]) -> Result<()> {
    ensure!(
        played.statuses() == statuses,
        "{:?}: {}",
        played.statuses(),
        played.stderr()
    );
    Ok(())
}

/// The last command is refused, and says why.
fn refused(played: &Played, parts: &[&str]) -> Result<()> {
    ended(played, &[1])?;
    let stderr = played.stderr();
    for part in parts {
        ensure!(stderr.contains(part), "no {part:?} in {stderr}");
    }
    Ok(())
}

/// The task is resolved, and a word is pointed out.
fn warned(played: &Played, word: &str) -> Result<()> {
    ended(played, &[0])?;
    ensure!(
        played.stderr().starts_with("warning: ") && played.stderr().contains(word),
        "{}",
        played.stderr()
    );
    ensure!(played.place.json(&task_file("1"))?["status"] == "resolved");
    Ok(())
}
