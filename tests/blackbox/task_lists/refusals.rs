//! Bad input: every refusal says which session, task or file it is about and what to do, and changes nothing.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Output;

use anyhow::{Context, Result, ensure};

use super::{ID, Place, session_file, task_file};

/// What has to be said, besides.
type Case<'a> = (&'a [&'a str], &'a [&'a str]);

/// A session with a task that is worked on, one that waits for it, and what was found.
fn begun() -> Result<Place> {
    let place = Place::with("EXECUTION")?;
    place.task("1", "in_progress", &[])?;
    place.task("2", "open", &["1"])?;
    place.put(
        &format!("sessions/{ID}/context.json"),
        r#"{"explorers": [], "exploration_complete": false}"#,
    )?;
    Ok(place)
}

fn all_refused(place: &Place, cases: &[Case<'_>]) -> Result<()> {
    cases
        .iter()
        .try_for_each(|(arguments, parts)| place.refused(arguments, parts))
}

#[test]
fn what_cannot_be_is_refused_with_one_status_and_names_what_it_is_about() {
    let place = begun().unwrap();
    let update = |option: &'static str, value: &'static str| {
        ["agent", "task", "update", "--id", "1", option, value]
    };
    let create = |option: &'static str, value: &'static str| {
        ["agent", "task", "create", "--subject", "x", option, value]
    };
    let session =
        |option: &'static str, value: &'static str| ["agent", "tasks", "update", option, value];
    all_refused(
        &place,
        &[
            (
                &["agent", "tasks", "create", "new"],
                &[ID, "EXECUTION", "Add login", "--force"],
            ),
            (&["agent", "tasks", "create"], &["GOAL"]),
            (
                &["agent", "tasks", "create", "--force", "--goal", " "],
                &["the goal is empty"],
            ),
            (
                &["agent", "tasks", "create", "--force", "x", "-i", "0"],
                &["'--max-iterations <N>'"],
            ),
            (
                &["agent", "tasks", "create", "--force", "x", "-w", "-1"],
                &["'-1'", "'--max-workers <N>'"],
            ),
            (
                &["tasks", "show", "--session", "ghost"],
                &["no session ghost", "ghost/session.json"],
            ),
            (
                &["tasks", "clean", "--session", "ghost"],
                &["no session ghost", "omo tasks list"],
            ),
            (
                &["agent", "tasks", "create", "--resume", "--session", "ghost"],
                &["no session ghost"],
            ),
            (
                &["tasks", "show", "--field", "plan.nope"],
                &[ID, "`plan.nope`"],
            ),
            (&["tasks", "show", "--field"], &["'--field <PATH>'"]),
            (&session("--phase", "DONE"), &["DONE", "PLANNING_COMPLETE"]),
            (
                &session("--phase", "PLANNING"),
                &[ID, "from EXECUTION to PLANNING", "VERIFICATION"],
            ),
            (
                &session("--phase", "COMPLETE"),
                &[ID, "1 is in_progress, 2 is open"],
            ),
            (
                &session("--iteration", "two"),
                &["'two'", "'--iteration <N>'"],
            ),
            (&session("--iteration", "0"), &[ID, "iteration 0", "1 to 5"]),
            (&session("--iteration", "-1"), &["'-1'"]),
            (&session("--design-doc", ""), &["it is empty"]),
            (
                &["agent", "tasks", "update", "--verifier-passed"],
                &[ID, "EXECUTION", "VERIFICATION"],
            ),
            (
                &[
                    "agent",
                    "tasks",
                    "update",
                    "--verifier-passed",
                    "--phase",
                    "VERIFICATION",
                ],
                &["--verifier-passed", "--phase"],
            ),
            (&["agent", "task", "create"], &["--subject <TEXT>"]),
            (&create("--id", "1"), &[ID, "a task 1 already"]),
            (&create("--id", "01"), &[ID, "a task 1 already"]),
            (
                &create("--blocked-by", "1,9"),
                &["task 3", ID, "task 9, which is not there"],
            ),
            (&create("--blocked-by", "3"), &["task 3", "itself"]),
            (
                &create("--criteria", "cmd: sort f | uniq"),
                &["belong to the command", "--criterion"],
            ),
            (&create("-C", "a || b"), &["`||`", "'`a || b`|readable'"]),
            (&create("-C", "`npm test|x"), &["backtick", "no end"]),
            (&create("--criterion", " "), &["it is empty"]),
            (
                &update("--subject", "y"),
                &["task 1 is edited before", "EXECUTION"],
            ),
            (
                &["tasks", "delete-task", "--id", "1"],
                &["task 1 is deleted before", "EXECUTION"],
            ),
            (
                &create("--complexity", "hard"),
                &["'hard'", "simple, standard, complex"],
            ),
            (&create("--approach", "bdd"), &["'bdd'", "tdd, standard"]),
            (
                &create("--description-file", "not-there.txt"),
                &["not-there.txt"],
            ),
            (
                &[
                    "agent",
                    "task",
                    "create",
                    "--subject",
                    "x",
                    "-d",
                    "a",
                    "-D",
                    "b",
                ],
                &["--description", "--description-file"],
            ),
            (
                &[
                    "agent",
                    "task",
                    "create",
                    "--subject",
                    "x",
                    "-a",
                    "standard",
                    "-t",
                    "a.rs",
                ],
                &["--test-file", "--approach tdd"],
            ),
            (&["agent", "task", "get"], &["--id <ID>"]),
            (
                &["agent", "task", "get", "--id", "9"],
                &["task 9", ID, "tasks/9.json"],
            ),
            (
                &[
                    "agent",
                    "task",
                    "get",
                    "--id",
                    "1",
                    "--field",
                    "evidence[0]",
                ],
                &["task 1", ID, "`evidence[0]`"],
            ),
            (
                &["agent", "task", "list", "--format", "xml"],
                &["'xml'", "table, json"],
            ),
            (
                &["agent", "task", "list", "--status", "done"],
                &["'done'", "in_progress"],
            ),
            (
                &["agent", "task", "update", "--status", "open"],
                &["--id <ID>"],
            ),
            (
                &["agent", "task", "update", "--id", "9", "--status", "open"],
                &["task 9", ID, "tasks/9.json"],
            ),
            (
                &[
                    "agent", "task", "update", "--id", "2", "--status", "resolved",
                ],
                &["task 2", ID, "from open to resolved"],
            ),
            (
                &update("--status", "resolved"),
                &["task 1", ID, "no evidence"],
            ),
            (&update("--status", "finished"), &["'finished'"]),
            (&update("--add-evidence", " "), &["it is empty"]),
            (&update("--retry-count", "-2"), &["'-2'"]),
            (&["agent", "task", "summary", "--id", "9"], &["task 9", ID]),
            (&["agent", "context", "init"], &["--expected <NAMES>"]),
            (
                &["agent", "context", "init", "--expected", " , "],
                &["`--expected` names no explorer"],
            ),
            (
                &["agent", "context", "add", "--summary", "x"],
                &["--explorer-id <NAME>"],
            ),
            (
                &["agent", "context", "get", "--field", "nope"],
                &[ID, "`nope`"],
            ),
            (&["tasks", "clean"], &["--completed"]),
            (
                &["tasks", "clean", "--completed", "--session", ID],
                &["--completed", "--session"],
            ),
            (&["tasks", "clean", "--older-than", "-1"], &["'-1'"]),
        ],
    )
    .unwrap();
}

#[test]
fn an_unknown_word_is_a_wrong_command_line() {
    let place = begun().unwrap();
    for (arguments, part) in [
        (&["tasks", "show", "--bogus", "x"][..], "'--bogus'"),
        (&["agent", "tasks", "update", "-z"], "'-z'"),
        (&["agent", "task", "update", "--id", "1", "more"], "'more'"),
        (&["agent", "task", "drop", "--id", "1"], "'drop'"),
        (&["agent", "context", "drop"], "'drop'"),
    ] {
        place.ends(arguments, 2, &[part]).unwrap();
    }
    // The one status is that of these three alone.
    place.ends(&["agent", "done"], 2, &["--ticket"]).unwrap();
}

#[test]
fn an_id_is_never_a_path() {
    let place = begun().unwrap();
    place
        .put(
            "outside/session.json",
            &fs::read_to_string(place.base().join(session_file())).unwrap(),
        )
        .unwrap();
    let long = "a".repeat(129);
    for id in [
        "..",
        ".",
        "../outside",
        "a/b",
        "/etc",
        "a\\b",
        "a b",
        "",
        "\u{1b}[31m",
        &long,
    ] {
        for verb in [
            &["agent", "tasks", "create", "--goal", "x"][..],
            &["tasks", "show"],
            &["agent", "tasks", "update", "--phase", "FAILED"],
            &["tasks", "clean"],
            &["agent", "task", "create", "--subject", "x"],
            &["agent", "task", "list"],
            &["agent", "task", "get", "--id", "1"],
            &[
                "agent",
                "task",
                "update",
                "--id",
                "1",
                "--add-evidence",
                "x",
            ],
            &["agent", "task", "summary", "--save"],
            &["agent", "context", "init", "--expected", "a"],
            &["agent", "context", "add", "--explorer-id", "a"],
            &["agent", "context", "get"],
        ] {
            let named = format!("--session={id}");
            let output = place.omo(&[verb, &[&named]].concat()).unwrap();
            let stderr = String::from_utf8(output.stderr).unwrap();
            assert_eq!(output.status.code(), Some(1), "{verb:?} {id:?}: {stderr}");
            assert!(
                stderr.contains("is not a session id") && !stderr.contains('\u{1b}'),
                "{stderr:?}"
            );
        }
    }
    for id in [
        "../session",
        "..",
        "1/2",
        "0",
        "-1",
        "1.5",
        "x",
        "",
        "１",
        "1\n",
        "1000000000",
    ] {
        for verb in ["get", "update"] {
            let named = format!("--id={id}");
            place
                .refused(
                    &["agent", "task", verb, &named],
                    &["a whole number from 1, or `verify`"],
                )
                .unwrap();
        }
    }
    assert_eq!(place.files().len(), 5, "{:?}", place.files().keys());
}

#[test]
fn a_file_that_cannot_be_read_is_named_and_left() {
    let place = begun().unwrap();
    let context_file = format!("sessions/{ID}/context.json");
    let reads_session: [&[&str]; 7] = [
        &["tasks", "show"],
        &["agent", "tasks", "update", "--phase", "VERIFICATION"],
        &["agent", "tasks", "create", "new"],
        &["agent", "task", "create", "--subject", "x"],
        &["agent", "task", "list"],
        &["agent", "task", "update", "--id", "1", "--status", "open"],
        &["agent", "task", "summary"],
    ];
    let reads_task: [&[&str]; 3] = [
        &["agent", "task", "get", "--id", "1"],
        &[
            "agent",
            "task",
            "update",
            "--id",
            "1",
            "--add-evidence",
            "x",
        ],
        &["agent", "task", "summary", "--id", "1"],
    ];
    let reads_context: [&[&str]; 3] = [
        &["agent", "context", "get"],
        &["agent", "context", "add", "--explorer-id", "a"],
        &["agent", "context", "init", "--expected", "a"],
    ];
    for (file, verbs) in [
        (session_file(), &reads_session[..]),
        (task_file("1"), &reads_task),
        (context_file, &reads_context),
    ] {
        let good = fs::read_to_string(place.base().join(&file)).unwrap();
        let name = file.rsplit('/').next().unwrap().to_owned();
        for bad in [
            "",
            "{oops",
            "[]",
            "null",
            &good[..good.len() - 1],
            "{\"status\": \"gone\", \"phase\": \"GONE\", \"explorers\": 1}",
        ] {
            place.put(&file, bad).unwrap();
            for verb in verbs {
                place
                    .refused(verb, &[ID, &name, "line 1 column", "hint: "])
                    .unwrap();
            }
        }
        fs::write(place.base().join(&file), b"{\"goal\": \"\xff\"}").unwrap();
        for verb in verbs {
            place.refused(verb, &[ID, &name]).unwrap();
        }
        place.put(&file, &good).unwrap();
    }
    // One of several is named, and the others are listed.
    place.put(&task_file("2"), "{").unwrap();
    let output = place.omo(&["agent", "task", "list"]).unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.success() && said.starts_with("warning: ") && said.contains("tasks/2.json"),
        "{said}"
    );
    assert_eq!(String::from_utf8(output.stdout).unwrap().lines().count(), 2);
    place
        .refused(
            &["agent", "tasks", "update", "--phase", "COMPLETE"],
            &[ID, "1 of its tasks cannot be read"],
        )
        .unwrap();
}

/// Moves something out of the sessions' folder, and has a link in its place.
fn replace_by_link(place: &Place, path: &str) -> Result<PathBuf> {
    // Without the slash that an empty path leaves at the end, which would be the folder behind the link.
    let inside: PathBuf = place.base().join(path).components().collect();
    let outside = place.lab.root().join("outside");
    fs::rename(&inside, &outside)?;
    symlink(&outside, &inside)?;
    Ok(outside)
}

#[test]
fn no_link_is_followed() {
    let folder = format!("sessions/{ID}");
    for path in [
        String::new(),
        "sessions".to_owned(),
        folder.clone(),
        session_file(),
    ] {
        let place = begun().unwrap();
        let outside = replace_by_link(&place, &path).unwrap();
        let before = fs::symlink_metadata(&outside).unwrap().modified().unwrap();
        for verb in [
            &["tasks", "show"][..],
            &["agent", "tasks", "update", "--phase", "FAILED"],
            &["agent", "tasks", "create", "--force", "x"],
            &["tasks", "clean", "--session", ID],
            &["agent", "task", "create", "--subject", "x"],
            &["agent", "task", "update", "--id", "1", "--status", "open"],
            &["agent", "context", "init", "--expected", "a"],
        ] {
            let output = place.omo(verb).unwrap();
            // A link that lies in a session's folder goes with the folder; what it points at stays.
            let may_go = path == session_file() && verb[1] == "clean";
            assert!(
                may_go || output.status.code() == Some(1),
                "{path} {verb:?}: {output:?}"
            );
            assert!(
                outside.exists(),
                "{path} {verb:?}: what a link points at is gone"
            );
            if may_go {
                break;
            }
        }
        assert_eq!(
            fs::symlink_metadata(&outside).unwrap().modified().unwrap(),
            before,
            "{path}: it was written to"
        );
    }
    for (path, verb) in [
        (
            format!("{folder}/tasks"),
            &["agent", "task", "create", "--subject", "x"][..],
        ),
        (format!("{folder}/tasks"), &["agent", "task", "list"]),
        (
            task_file("1"),
            &["agent", "task", "update", "--id", "1", "--status", "open"],
        ),
        (
            format!("{folder}/context.json"),
            &["agent", "context", "add", "--explorer-id", "a"],
        ),
    ] {
        let place = begun().unwrap();
        replace_by_link(&place, &path).unwrap();
        place
            .refused(verb, &[&path, "link", "hint: move it away"])
            .unwrap();
    }
}

#[test]
fn only_what_is_a_session_is_removed() {
    let place = begun().unwrap();
    let outside = place.lab.root().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(
        outside.join("session.json"),
        fs::read(place.base().join(session_file())).unwrap(),
    )
    .unwrap();
    symlink(&outside, place.base().join("sessions/linked")).unwrap();
    symlink(&outside, place.base().join(format!("sessions/{ID}/linked"))).unwrap();
    place.put("sessions/notes/readme.txt", "mine").unwrap();
    place.put("sessions/torn/session.json", "{").unwrap();
    let output = place.omo(&["tasks", "clean", "--all"]).unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success() && said.contains("session torn stays"),
        "{said}"
    );
    let left: Vec<String> = place
        .files()
        .keys()
        .map(|path| path.display().to_string())
        .collect();
    assert_eq!(
        left,
        [
            "sessions/linked",
            "sessions/notes/readme.txt",
            "sessions/torn/session.json"
        ]
    );
    assert!(
        outside.join("session.json").is_file(),
        "what a link points at was removed"
    );
}

/// `omo` where the home of its user cannot be written.
fn where_nothing_can_be_written(place: &Place, arguments: &[&str]) -> Result<Output> {
    let home = place.lab.home().to_str().context("no text")?.to_owned();
    let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" && shift && \"$@\"; echo \"status $?\" >&2";
    let mut command = place.lab.command("unshare");
    command
        .args(["-rm", "sh", "-c", script, "sh", &home])
        .arg(place.plugin.join("bin/omo"))
        .args(arguments);
    let output = command.env("CLAUDE_CODE_SESSION_ID", ID).output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    ensure!(
        !said.contains("unshare") && !said.contains("mount:"),
        "no file system can be mounted here: {said}"
    );
    Ok(output)
}

#[test]
#[ignore = "needs a mount namespace: cargo xtask test"]
fn where_nothing_can_be_written_nothing_is_half_written() {
    let place = begun().unwrap();
    let before = place.files();
    for (arguments, file) in [
        (
            &["agent", "tasks", "update", "--phase", "VERIFICATION"][..],
            ID,
        ),
        (&["agent", "tasks", "create", "--force", "new"], ID),
        (
            &["agent", "tasks", "create", "--session", "other", "new"],
            "other",
        ),
        (&["tasks", "clean", "--session", ID], ID),
        (&["agent", "task", "create", "--subject", "x"], ID),
        (
            &[
                "agent",
                "task",
                "update",
                "--id",
                "1",
                "--add-evidence",
                "x",
            ],
            ID,
        ),
        (&["agent", "context", "init", "--expected", "a"], ID),
    ] {
        let output = where_nothing_can_be_written(&place, arguments).unwrap();
        let said = String::from_utf8(output.stderr).unwrap();
        assert!(
            said.starts_with("error: ") && said.contains(file) && said.contains("\nhint: "),
            "{arguments:?}: {said}"
        );
        assert!(
            said.ends_with("status 1\n") && output.stdout.is_empty(),
            "{arguments:?}: {said}"
        );
        assert_eq!(place.files(), before, "{arguments:?}");
    }
    let output = where_nothing_can_be_written(&place, &["agent", "task", "list"]).unwrap();
    assert_eq!(
        String::from_utf8(output.stdout).unwrap().lines().count(),
        3,
        "what is there can be read"
    );
}

#[test]
fn the_beginning_of_an_id_names_a_task_list_where_no_other_begins_like_that() {
    let place = begun().unwrap();
    place.put("sessions/1-broken/session.json", "{").unwrap();
    assert!(
        place
            .good(&["tasks", "show", "--session", "11111"])
            .unwrap()
            .contains(ID)
    );
    all_refused(
        &place,
        &[
            (
                &["tasks", "show", "--session", "1"],
                &["2 task lists begin with `1`", "  --session 1-broken"],
            ),
            (
                &["tasks", "clean", "--session", "1"],
                &["2 task lists begin with `1`"],
            ),
        ],
    )
    .unwrap();
    assert!(
        place
            .good(&["tasks", "clean", "--session", "1-"])
            .unwrap()
            .contains("removed session 1-broken")
    );
    assert!(
        place
            .good(&["tasks", "clean", "--session", "1"])
            .unwrap()
            .contains(ID)
    );
}

#[test]
fn what_stood_there_before_is_kept_whatever_its_shape() {
    let place = Place::with("EXECUTION").unwrap();
    place.task("1", "in_progress", &[]).unwrap();
    place
        .good(&[
            "agent",
            "task",
            "update",
            "--id",
            "1",
            "--add-evidence",
            "exit 0",
            "--status",
            "resolved",
        ])
        .unwrap();
    place
        .good(&[
            "agent",
            "tasks",
            "update",
            "--phase",
            "VERIFICATION",
            "--quiet",
        ])
        .unwrap();
    assert_eq!(place.json(&task_file("1")).unwrap()["later"], "kept");
    assert_eq!(
        place.json(&session_file()).unwrap()["later"]["kept"][1],
        2.5
    );
    let kept = ensure_kept(&place);
    kept.unwrap();
}

/// Another beginning keeps what the one before has left, also a second time.
fn ensure_kept(place: &Place) -> Result<()> {
    for number in ["1", "2"] {
        place.good(&["agent", "tasks", "create", "--force", "again"])?;
        place.good(&["agent", "task", "create", "--subject", "x"])?;
        let before = place.json(&format!("sessions/{ID}/session.json.before-{number}"))?;
        ensure!(
            before["goal"] == if number == "1" { "Add login" } else { "again" },
            "{before}"
        );
    }
    let tasks = place
        .files()
        .keys()
        .filter(|path| path.ends_with("1.json"))
        .count();
    ensure!(tasks == 3, "{:?}", place.files().keys());
    Ok(())
}
