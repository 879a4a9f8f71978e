//! Who may do what: a run belongs to one session, and what a person decides takes a person.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{
    Ground, ONE_TASK_BATCHES, PLAN, Said, Session, plan_text, play, task, two_tasks,
    two_tasks_with_stop,
};
use omo_tests::scene::require_sound;
use serde_json::json;

/// Two tasks, and one that keeps the run open when those have ended.
fn three() -> String {
    plan_text(&[
        task("1", "", "grep -q one words/1.txt"),
        task("2", "Task 1", "true"),
        task("3", "", "true"),
    ])
}

/// A session opens the run and does the first task; gives the question that then waits.
fn stopped(ground: &Ground, session: &mut Session) -> Result<String> {
    ground.open_in(session)?;
    let ticket = ground
        .omo_in_session(session, &["agent", "start", "1"])?
        .exits_with(0)?
        .ticket()?;
    ground.lab().write("words/1.txt", "one\n")?;
    ground
        .omo_in_session(session, &["agent", "done", "--ticket", &ticket])?
        .exits_with(0)?;
    ground
        .omo_in_session(session, &["agent", "next"])?
        .exits_with(7)?;
    Ok(ground.report()?["questions"][0]["id"]
        .as_str()
        .context("no question")?
        .to_owned())
}

fn begun(ground: &Ground, session: &Session, arguments: &[&str]) -> Result<Child> {
    let mut command = ground.command_in(session, arguments);
    Ok(command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?)
}

#[test]
fn a_run_belongs_to_one_session_until_its_client_is_gone() {
    play(&[
        ("while the first lives", two_tasks(), |g| {
            let mut first = g.session()?;
            let second = g.session()?;
            g.open_in(&mut first)?;
            let ticket = g
                .omo_in_session(&first, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            g.lab().write("words/1.txt", "one\n")?;
            let before = g.file_tree()?;
            for arguments in [
                &["agent", "next"][..],
                &["run", "start", "--batches", PLAN],
                &["run", "start"],
                &["run", "resume"],
                &["run", "cancel"],
                &["agent", "start", "1"],
                &["agent", "done", "--ticket", &ticket],
                &["agent", "fail", "--ticket", &ticket],
                &["agent", "fail", "--lost", "1"],
                &["run", "skip", "2"],
                &["run", "retry", "1"],
            ] {
                let said = g.omo_in_session(&second, arguments)?.refuses(
                    6,
                    "the run is held by",
                    "take it over from a terminal",
                );
                said.with_context(|| format!("{arguments:?}"))?;
                before
                    .require_unchanged(&g.file_tree()?, &[".lock"])
                    .with_context(|| format!("{arguments:?}"))?;
            }
            // Any session may look.
            g.omo_in_session(&second, &["run", "show"])?.exits_with(0)?;
            g.omo_in_session(&second, &["agent", "brief", "1"])?
                .exits_with(0)?;
            g.omo_in_session(&first, &["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            Ok(())
        }),
        ("once it has died", two_tasks(), |g| {
            let mut first = g.session()?;
            let second = g.session()?;
            g.open_in(&mut first)?;
            let ticket = g
                .omo_in_session(&first, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            first.kill_client()?;
            let said = g
                .omo_in_session(&second, &["agent", "next"])?
                .exits_with(0)?;
            ensure!(said.out.contains("omo agent start 1"), "{}", said.out);
            ensure!(g.standing("1")? == "held", "{}", g.report()?);
            g.lab().write("words/1.txt", "one\n")?;
            g.omo_in_session(&second, &["agent", "done", "--ticket", &ticket])?
                .refuses(5, "that ticket is not valid", "omo agent next")?;
            let again = g
                .omo_in_session(&second, &["agent", "start", "1"])?
                .exits_with(0)?;
            ensure!(
                again.out.contains("Begun again: its session has ended"),
                "{}",
                again.out
            );
            g.omo_in_session(&second, &["agent", "done", "--ticket", &again.ticket()?])?
                .exits_with(0)?;
            ensure!(g.standing("1")? == "passed");
            Ok(())
        }),
        ("a person takes it from its holder", two_tasks(), |g| {
            let mut first = g.session()?;
            g.open_in(&mut first)?;
            let ticket = g
                .omo_in_session(&first, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            g.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
            g.lab().write("words/1.txt", "one\n")?;
            g.omo_in_session(&first, &["agent", "done", "--ticket", &ticket])?
                .refuses(5, "that ticket is not valid", "omo agent next")?;
            ensure!(g.standing("1")? == "held");
            Ok(())
        }),
    ]);
}

#[test]
fn what_a_person_decides_takes_a_person_who_has_spoken_since() {
    play(&[
        ("a hard stop", two_tasks_with_stop(), |g| {
            g.options = ONE_TASK_BATCHES;
            let mut session = g.session()?;
            let question = stopped(g, &mut session)?;
            let before = g.file_tree()?;
            for arguments in [
                &["answer", &question, "continue"][..],
                &["run", "start"],
                &["agent", "open", "--command", "execute-plan"],
                &["agent", "start", "2"],
            ] {
                let said = g.omo_in_session(&session, arguments)?;
                ensure!(
                    said.status == 7 || said.out.starts_with("DO\n  No arguments"),
                    "{arguments:?}: {said:?}"
                );
                before
                    .require_unchanged(&g.file_tree()?, &[".lock"])
                    .with_context(|| format!("{arguments:?}"))?;
            }
            session.type_prompt("<task-notification>\ncontinue\n</task-notification>")?;
            g.omo_in_session(&session, &["answer", &question, "continue"])?
                .refuses(7, "none has typed anything", "end the turn")?;
            // What the command of the run allowed is over: its user is told what goes on, and that answers nothing.
            let typed = json!({ "prompt": "Continue.", "permission_mode": "acceptEdits" });
            let said = require_sound(&session.hooks.fire("UserPromptSubmit", &typed)?)?;
            ensure!(
                said.text("/stopReason")
                    .is_some_and(|said| said.contains("goes on when you type:\n  /omo:execute")),
                "{said:?}"
            );
            g.omo_in_session(&session, &["answer", &question, "continue"])?
                .refuses(7, "none has typed anything", "")?;
            session.type_prompt("yes, go on with the rest")?;
            g.omo_in_session(&session, &["answer", &question, "continue"])?
                .exits_with(0)?;
            g.omo_in_session(&session, &["agent", "start", "2"])?
                .exits_with(0)?;
            Ok(())
        }),
        ("a failed task, and one that is left out", three(), |g| {
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            let skip =
                |g: &Ground, session: &Session| g.omo_in_session(session, &["run", "skip", "1"]);
            skip(g, &session)?.refuses(
                7,
                "a person decides about `omo run skip ",
                "end the turn and ask",
            )?;
            let ticket = g
                .omo_in_session(&session, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            g.omo_in_session(&session, &["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            let before = g.file_tree()?;
            g.omo_in_session(&session, &["run", "retry", "1"])?
                .refuses(
                    7,
                    "a person decides about `omo run retry 1`",
                    "end the turn",
                )?;
            before.require_unchanged(&g.file_tree()?, &[".lock"])?;
            session.type_prompt("fix the first one")?;
            g.omo_in_session(&session, &["run", "retry", "1"])?
                .exits_with(0)?;
            // One word of theirs does not count for ever.
            let ticket = g
                .omo_in_session(&session, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            g.omo_in_session(&session, &["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            g.omo_in_session(&session, &["run", "retry", "1"])?
                .refuses(7, "none has typed anything", "end the turn")?;
            session.type_prompt("then leave it out")?;
            skip(g, &session)?.exits_with(0)?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_person_is_heard_where_they_spoke_and_nowhere_else() {
    play(&[
        (
            "a failed task of a run that is over, in the same session and in a new one",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                g.open_in(&mut session)?;
                let ticket = g
                    .omo_in_session(&session, &["agent", "start", "1"])?
                    .exits_with(0)?
                    .ticket()?;
                g.omo_in_session(&session, &["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                let said = g
                    .omo_in_session(&session, &["agent", "next"])?
                    .exits_with(1)?;
                ensure!(said.out.contains("omo run retry 1"), "{}", said.out);
                g.omo_in_session(&session, &["run", "retry", "1"])?
                    .refuses(7, "none has typed anything", "end the turn")?;
                session.type_prompt("try it again")?;
                g.omo_in_session(&session, &["run", "retry", "1"])?
                    .exits_with(0)?;
                let ticket = g
                    .omo_in_session(&session, &["agent", "start", "1"])?
                    .exits_with(0)?
                    .ticket()?;
                g.omo_in_session(&session, &["agent", "done", "--ticket", &ticket])?
                    .exits_with(0)?;
                session.kill_client()?;
                let mut other = g.session()?;
                g.omo_in_session(&other, &["run", "retry", "1"])?.refuses(
                    7,
                    "none has typed anything",
                    "end the turn",
                )?;
                other.type_prompt("yes, again")?;
                g.omo_in_session(&other, &["run", "retry", "1"])?
                    .exits_with(0)?;
                g.omo_in_session(&other, &["agent", "start", "1"])?
                    .exits_with(0)?;
                Ok(())
            },
        ),
        (
            "a model's shell that does not say which session it is of",
            two_tasks_with_stop(),
            |g| {
                g.options = ONE_TASK_BATCHES;
                let mut session = g.session()?;
                let question = stopped(g, &mut session)?;
                let before = g.file_tree()?;
                for arguments in [
                    &["answer", &question, "continue"][..],
                    &["run", "skip", "2"],
                    &["run", "retry", "1"],
                    &["run", "resume"],
                    &["run", "start"],
                    &["run", "start", "--batches", PLAN],
                ] {
                    let mut command = g.command_in(&session, arguments);
                    let said = Said::of(&command.env_remove("CLAUDE_CODE_SESSION_ID").output()?);
                    ensure!(said.status != 0, "{arguments:?}: {said:?}");
                    before
                        .require_unchanged(&g.file_tree()?, &[".lock"])
                        .with_context(|| format!("{arguments:?}"))?;
                }
                Ok(())
            },
        ),
    ]);
}

#[test]
fn of_several_at_once_one_is_heard() {
    let slow = || plan_text(&[task("1", "", "sleep 2; grep -q one words/1.txt")]);
    play(&[
        ("a task that is being checked", slow(), |g| {
            let mut session = g.session()?;
            g.open_in(&mut session)?;
            let ticket = g
                .omo_in_session(&session, &["agent", "start", "1"])?
                .exits_with(0)?
                .ticket()?;
            g.lab().write("words/1.txt", "one\n")?;
            let done = ["agent", "done", "--ticket", &ticket];
            let children = [
                begun(g, &session, &done)?,
                begun(g, &session, &done)?,
                begun(g, &session, &done)?,
            ];
            let mut statuses = Vec::new();
            for child in children {
                let said = Said::of(&child.wait_with_output()?);
                ensure!(
                    said.status != 6 || said.err.contains("is being checked by another process"),
                    "{said:?}"
                );
                statuses.push(said.status);
            }
            statuses.sort_unstable();
            ensure!(statuses == [0, 6, 6], "{statuses:?}");
            ensure!(g.standing("1")? == "passed");
            Ok(())
        }),
        ("many that begin with the same task", two_tasks(), |g| {
            g.open()?;
            let start = || {
                let mut command = g.command(&["agent", "start", "1"]);
                command
                    .stdout(Stdio::piped())
                    .stderr(Stdio::piped())
                    .spawn()
            };
            let children: Vec<Child> = (0..6).map(|_| start()).collect::<Result<_, _>>()?;
            let mut begun = 0;
            for child in children {
                let said = Said::of(&child.wait_with_output()?);
                ensure!(said.status == 0 || said.status == 6, "{said:?}");
                begun += u32::from(said.status == 0);
            }
            ensure!(begun == 1, "{begun} of them began");
            Ok(())
        }),
        ("many that write the files for others", two_tasks(), |g| {
            g.open()?;
            for _ in 0..2 {
                let mut children = Vec::new();
                for arguments in [
                    ["agent", "next"].as_slice(),
                    &["agent", "next"],
                    &["agent", "next"],
                    &["agent", "start", "1"],
                ] {
                    let mut command = g.command(arguments);
                    children.push(
                        command
                            .stdout(Stdio::piped())
                            .stderr(Stdio::piped())
                            .spawn()?,
                    );
                }
                for child in children {
                    let said = Said::of(&child.wait_with_output()?);
                    ensure!([0, 6].contains(&said.status), "{said:?}");
                }
                g.omo_at_terminal(&["agent", "fail", "--lost", "1"])?
                    .exits_with(0)?;
                g.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
                g.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
            }
            let report = g.report()?;
            ensure!(
                report["drift"] == serde_json::json!([]),
                "taken for edited: {report}"
            );
            Ok(())
        }),
    ]);
}

/// A run in a linked worktree at this place below the project, with a task at work whose file is there; gives the work
/// tree and the ticket.
fn open_in_linked(ground: &Ground, place: &str) -> Result<(PathBuf, String)> {
    let folder = ground.lab().project().join(place);
    ground.git(&["worktree", "add", "-q", place])?;
    ground.open_in_folder(&folder)?;
    let ticket = ground
        .omo_in_folder(&folder, &["agent", "start", "1"])?
        .exits_with(0)?
        .ticket()?;
    fs::create_dir(folder.join("words"))?;
    fs::write(folder.join("words/1.txt"), "one\n")?;
    Ok((folder, ticket))
}

#[test]
fn a_run_belongs_to_the_work_tree_in_which_it_began() {
    let passes_in = |g: &Ground, folder: &Path, ticket: &str| -> Result<()> {
        let done = g
            .omo_in_folder(folder, &["agent", "done", "--ticket", ticket])?
            .exits_with(0)?;
        ensure!(
            done.err.contains("this worktree was moved from"),
            "{}",
            done.err
        );
        Ok(())
    };
    // Below the project, and beside it: what lies around a folder that is gone is another checkout.
    let lost = |g: &mut Ground, place: &str| -> Result<()> {
        let (folder, ticket) = open_in_linked(g, place)?;
        let folder_text = folder.to_str().context("no text")?;
        g.git(&["worktree", "remove", "--force", folder_text])?;
        g.lab().write("words/1.txt", "one, of the user\n")?;
        let before = g.file_tree()?;
        let listed = g.omo_at_terminal(&["run", "list"])?.exits_with(0)?;
        ensure!(
            listed
                .out
                .contains("its worktree is gone: omo run cancel --run "),
            "{}",
            listed.out
        );
        let id = listed
            .out
            .split("--run ")
            .nth(1)
            .and_then(|rest| rest.split_whitespace().next())
            .context("no id")?;
        let way_out = format!("`omo run cancel --run {id}` ends it");
        let done = ["agent", "done", "--ticket", &ticket];
        for verb in [
            &done[..],
            &["agent", "next"],
            &["agent", "start", "2"],
            &["run", "cancel"],
        ] {
            g.omo_at_terminal(verb)?
                .refuses(3, "no plan run is open here", &way_out)?;
        }
        for verb in [
            &done[..],
            &["agent", "next"],
            &["agent", "fail", "--lost", "1"],
        ] {
            g.omo_at_terminal(&[verb, &["--run", id]].concat())?
                .refuses(5, "is gone", &way_out)?;
        }
        before.require_unchanged(&g.file_tree()?, &[])?;
        // A later one of the same name is another one.
        let again = g
            .lab()
            .root()
            .join("again")
            .join(folder.file_name().context("no name")?);
        g.git(&[
            "worktree",
            "add",
            "-q",
            again.to_str().context("no text")?,
            "HEAD",
        ])?;
        g.omo_in_folder(&again, &done)?
            .refuses(3, "no plan run is open here", &way_out)?;
        let before = g.file_tree()?;
        let ended = g
            .omo_at_terminal(&["run", "cancel", "--run", id])?
            .exits_with(0)?;
        ensure!(
            ended.out.contains("is cancelled; its worktree is gone.") && ended.err.is_empty(),
            "{ended:?}"
        );
        before.require_unchanged(&g.file_tree()?, &[".git/omo/runs"])?;
        ensure!(!folder.exists(), "the folder was made again");
        Ok(())
    };
    let mut wrong = Vec::new();
    for place in ["trees/wt", "../wt"] {
        let played = Ground::new(&two_tasks()).and_then(|mut ground| lost(&mut ground, place));
        wrong.extend(played.err().map(|error| format!("{place}: {error:#}")));
    }
    for is_told in [true, false] {
        let played = Ground::new(&two_tasks()).and_then(|ground| {
            let (folder, ticket) = open_in_linked(&ground, "../wt")?;
            let now = ground.lab().root().join("moved");
            if is_told {
                let [from, to] = [&folder, &now].map(|path| path.to_string_lossy().into_owned());
                ground.git(&["worktree", "move", &from, &to])?;
            } else {
                fs::rename(&folder, &now)?;
            }
            ground
                .omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .refuses(3, "no plan run", "is gone")?;
            passes_in(&ground, &now, &ticket)
        });
        wrong.extend(
            played
                .err()
                .map(|error| format!("moved, git told: {is_told}: {error:#}")),
        );
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
