//! A run from its beginning to its end, and a session that has none.

use std::fs;

use anyhow::{Result, ensure};
use omo_testkit::run_command;
use omo_testkit::stand_in::HookAnswer;
use omo_tests::MAX_BLOCKS;
use omo_tests::scene::is_contract;
use serde_json::json;

use crate::wine::{Case, Wine, require_sound};

pub(crate) const CASES: [Case; 6] = [
    ("a session without a run finds nothing of omo", idle),
    (
        "a run is turned on, held, shown and stopped",
        keeps_and_releases_a_session,
    ),
    ("the project is where the client was started", project_dir),
    (
        "a path with slashes, and one that is longer than Windows used to allow",
        paths,
    ),
    (
        "a state that does not parse is kept, under a name that Windows allows",
        corrupt,
    ),
    (
        "a folder in the place of the state, and a second name of a file, do no harm",
        in_the_way,
    ),
];

fn idle(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    for (hook, event, fields) in [
        (
            "omo-user-prompt-submit",
            "UserPromptSubmit",
            json!({"prompt": "what does the parser do?"}),
        ),
        (
            "omo-stop",
            "Stop",
            json!({"last_assistant_message": crate::wine::DONE}),
        ),
        (
            "omo-subagent-stop",
            "SubagentStop",
            json!({"agent_type": "omo:oracle"}),
        ),
        (
            "omo-stop-failure",
            "StopFailure",
            json!({"error": "rate_limit"}),
        ),
        ("omo-session-end", "SessionEnd", json!({"reason": "other"})),
    ] {
        let answer = project.hook(hook, &project.input(event, &fields))?;
        ensure!(answer == HookAnswer::Nothing, "{event}: {answer:?}");
    }
    let reported = project.hook(
        "omo-session-start",
        &project.input("SessionStart", &json!({"source": "startup"})),
    )?;
    ensure!(
        reported == HookAnswer::PlainText(format!("CLAUDE_SESSION_ID: {}", project.session)),
        "{reported:?}"
    );
    let left: Vec<_> = fs::read_dir(&project.folder)?
        .flatten()
        .map(|entry| entry.file_name())
        .collect();
    ensure!(left.is_empty(), "left behind: {left:?}");
    Ok(())
}

fn keeps_and_releases_a_session(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("ulw fix the tests")?;
    ensure!(
        project.entry()?["ulw"]["enabled"] == true,
        "not armed: {}",
        project.entry()?
    );
    ensure!(
        fs::read(project.state_folder().join(".gitignore"))? == b"*\n",
        "it shows in git"
    );
    let answer = project.stop("Half of it is there.")?;
    let reason = answer.reason().unwrap_or_default();
    ensure!(
        answer.blocks() && reason.contains(&format!("continuation 1 of {MAX_BLOCKS}")),
        "{answer:?}"
    );
    ensure!(
        project.entry()?["ulw"]["stopBlocks"] == 1,
        "not counted: {}",
        project.entry()?
    );
    let status = project.omo(&["status"])?;
    ensure!(
        status.status.success() && status.stdout.contains(&format!("1 of {MAX_BLOCKS}")),
        "{}{}",
        status.stdout,
        status.stderr
    );
    let log = project.omo(&["log"])?;
    ensure!(
        log.status.success() && log.stdout.contains("activate"),
        "{}{}",
        log.stdout,
        log.stderr
    );
    let stopped = project.omo(&["stop"])?;
    ensure!(
        stopped.status.success() && stopped.stdout.contains("stopped"),
        "{}{}",
        stopped.stdout,
        stopped.stderr
    );
    let released = project.stop("Half of it is there.")?;
    ensure!(!released.blocks(), "still held: {released:?}");
    Ok(())
}

fn project_dir(wine: &Wine) -> Result<()> {
    let mut project = wine.project()?;
    let elsewhere = wine.project()?;
    project.session.clone_from(&elsewhere.session);
    let mut hook = wine.program("omo-user-prompt-submit", &elsewhere.folder);
    hook.env("CLAUDE_PROJECT_DIR", &project.path);
    require_sound(&run_command(
        &hook,
        &elsewhere.input("UserPromptSubmit", &json!({"prompt": "ulw fix it"})),
    )?)?;
    ensure!(
        project.entry()?["ulw"]["enabled"] == true,
        "not armed there"
    );
    ensure!(
        !elsewhere.folder.join(".sisyphus").exists(),
        "something was written where the session works"
    );
    // `omo` looks for it from the folder that it is started in, upwards.
    let below = project.folder.join("a").join("b");
    fs::create_dir_all(&below)?;
    let status = run_command(wine.program("omo", &below).arg("status"), "")?;
    ensure!(
        status.stdout.contains(&elsewhere.session),
        "not found from below: {}{}",
        status.stdout,
        status.stderr
    );
    Ok(())
}

fn paths(wine: &Wine) -> Result<()> {
    let mut slashes = wine.project()?;
    slashes.path = slashes.path.replace('\\', "/");
    slashes.arm("ulw fix it")?;
    ensure!(slashes.entry()?["ulw"]["enabled"] == true, "not armed");
    let long = wine.project_at(&["long"; 60].join("\\"))?;
    ensure!(long.path.len() > 260, "not long");
    let hook = wine.program("omo-user-prompt-submit", &wine.drive());
    require_sound(&run_command(
        &hook,
        &long.input("UserPromptSubmit", &json!({"prompt": "ulw fix it"})),
    )?)?;
    ensure!(
        long.entry()?["ulw"]["enabled"] == true,
        "not armed at the end of a long path"
    );
    Ok(())
}

fn corrupt(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.write_state("{ half of")?;
    let answer = project.stop("Half of it is there.")?;
    ensure!(
        answer == HookAnswer::Nothing,
        "held by what cannot be read: {answer:?}"
    );
    project.arm("ulw fix it")?;
    let names: Vec<String> = fs::read_dir(project.state_folder())?
        .flatten()
        .map(|it| it.file_name().to_string_lossy().into_owned())
        .collect();
    let kept = names
        .iter()
        .find(|name| name.starts_with("runtime.local.json.corrupt-"));
    let kept = kept
        .map(|name| fs::read_to_string(project.state_folder().join(name)))
        .transpose()?;
    ensure!(kept.as_deref() == Some("{ half of"), "not kept: {names:?}");
    Ok(())
}

fn in_the_way(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    fs::create_dir_all(project.state_folder().join("runtime.local.json"))?;
    for prompt in ["what is this?", "ulw fix it"] {
        let answer = project.prompt(prompt)?;
        ensure!(
            !is_contract(&answer),
            "a run that could not be written down: {answer:?}"
        );
    }
    ensure!(
        project.stop("Half of it is there.")? == HookAnswer::Nothing,
        "held by a folder"
    );
    // A second name of a file elsewhere is not written to.
    let project = wine.project()?;
    project.arm("ulw fix it")?;
    let (log, elsewhere) = (
        project.state_folder().join("decisions.jsonl"),
        project.folder.join("elsewhere"),
    );
    fs::write(&elsewhere, "")?;
    fs::remove_file(&log)?;
    fs::hard_link(&elsewhere, &log)?;
    ensure!(
        project.stop("Half of it is there.")?.blocks(),
        "a log that cannot be written let the session go"
    );
    ensure!(
        fs::read_to_string(&elsewhere)?.is_empty(),
        "written through a second name"
    );
    Ok(())
}
