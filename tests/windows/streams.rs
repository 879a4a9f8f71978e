//! Streams that end too early, too late or never: a hook ends by itself, and says nothing wrong.

use std::io::Write;
use std::process::{Child, Stdio};
use std::sync::mpsc::channel;
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use omo_testkit::read_in_background;
use omo_testkit::stand_in::HookAnswer;
use serde_json::json;

use crate::wine::{Case, Project, Wine};

pub(crate) const CASES: [Case; 4] = [
    ("input that is none is let be", garbage),
    (
        "an input that is never closed is answered at once",
        never_closed,
    ),
    (
        "an input that never comes, or never ends, holds no session up",
        never_whole,
    ),
    (
        "an answer that no process reads holds no session up",
        never_read,
    ),
];

/// Longer than any hook takes by itself, on however busy a machine.
const LIMIT: Duration = Duration::from_secs(20);

fn garbage(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("ulw fix it")?;
    for input in [
        "",
        "garbage",
        "[]",
        "{\"session_id\":\"wine-1\",\"hook_event_name\":\"Stop\"",
        "\u{feff}{}",
        "{}",
    ] {
        let answer = project.hook("omo-stop", input)?;
        ensure!(answer == HookAnswer::Nothing, "{input:?}: {answer:?}");
    }
    Ok(())
}

/// Starts a hook with pipes at both ends.
fn start(project: &Project, name: &str) -> Result<Child> {
    let mut hook = project.wine.program(name, &project.folder);
    Ok(hook
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?)
}

/// Waits for a hook to end by itself, with 0.
fn ends(mut hook: Child) -> Result<()> {
    let (sender, ended) = channel();
    let id = hook.id().to_string();
    std::thread::spawn(move || sender.send(hook.wait()).ok());
    let Ok(status) = ended.recv_timeout(LIMIT) else {
        std::process::Command::new("kill")
            .args(["-KILL", &id])
            .status()?;
        anyhow::bail!("it had to be ended");
    };
    let status = status?;
    ensure!(status.success(), "{status}");
    Ok(())
}

fn never_closed(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    let mut hook = start(&project, "omo-user-prompt-submit")?;
    let mut stdin = hook.stdin.take().context("no stdin")?;
    stdin.write_all(
        project
            .input("UserPromptSubmit", &json!({"prompt": "ulw fix it"}))
            .as_bytes(),
    )?;
    let said = read_in_background(hook.stdout.take().context("no stdout")?);
    ends(hook)?;
    let said = said.recv_timeout(LIMIT)?;
    let said = String::from_utf8_lossy(&said).into_owned();
    ensure!(said.contains("<ultrawork-mode>"), "{said}");
    drop(stdin);
    Ok(())
}

fn never_whole(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("ulw fix it")?;
    let mut hook = start(&project, "omo-stop")?;
    let stdin = hook.stdin.take();
    ends(hook)?;
    drop(stdin);
    let mut hook = start(&project, "omo-stop")?;
    let mut stdin = hook.stdin.take().context("no stdin")?;
    let blanks = vec![b' '; 64 * 1024];
    // Until the hook no longer reads it.
    let endless = std::thread::spawn(move || while stdin.write_all(&blanks).is_ok() {});
    ends(hook)?;
    endless.join().ok().context("the writer")?;
    Ok(())
}

fn never_read(wine: &Wine) -> Result<()> {
    let project = wine.project()?;
    project.arm("ulw fix it")?;
    let mut hook = start(&project, "omo-stop")?;
    drop(hook.stdout.take());
    let mut stdin = hook.stdin.take().context("no stdin")?;
    stdin.write_all(
        project
            .input("Stop", &json!({"last_assistant_message": "Half of it."}))
            .as_bytes(),
    )?;
    drop(stdin);
    ends(hook)
}
