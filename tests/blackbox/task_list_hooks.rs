//! What the hooks know of a task list: one that is not done is offered, its commands are approved by
//! their code, and how its commands are typed is told without a model.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::{PlanRun, PlannedCommand};
use omo_core::session::task_list::{OpenTaskList, task_list_plan_name};
use omo_core::timestamp::Timestamp;
use omo_state::files::folder::GuardedFolder;
use omo_state::files::lock;
use omo_state::state::sealed_plan_run;
use omo_state::state::{CorruptPolicy, StateUpdateOptions};
use omo_state::trust::pending_approval;
use omo_state::{env, task_list_note};
use omo_testkit::stand_in::HookAnswer;

use crate::claim_scene::play_with_review;
use crate::scene::{Scene, require_sound};

fn state_home(scene: &Scene) -> PathBuf {
    scene.lab.home().join(".local/state")
}

/// A command of omo has changed a session of this project.
fn note(scene: &Scene, phase: &str) -> Result<()> {
    note_at(scene, phase, env::now())
}

fn note_at(scene: &Scene, phase: &str, at: Timestamp) -> Result<()> {
    let session = OpenTaskList {
        id: "s-1".to_owned(),
        goal: "Add a login".to_owned(),
        phase: phase.to_owned(),
        total: 6,
        done: 3,
        ..OpenTaskList::default()
    };
    let folder = GuardedFolder::create_state(scene.lab.project())?;
    Ok(task_list_note::set(
        &folder,
        session,
        Some(&state_home(scene)),
        at,
    )?)
}

/// What a session is told at its start, beside its id: the user, and the model.
fn started(scene: &mut Scene, source: &str) -> Result<(Option<String>, Option<String>)> {
    let answer = require_sound(&scene.session.session_start(source)?)?;
    let reported = match &answer {
        HookAnswer::PlainText(text) => text.as_str(),
        HookAnswer::Json(_) => answer.additional_context().context("no context")?,
        HookAnswer::Nothing => "",
    };
    let model = reported
        .trim_end()
        .split_once('\n')
        .map(|(_, rest)| rest.to_owned());
    Ok((answer.system_message().map(str::to_owned), model))
}

const OFFER: &str = "[omo] the task list `Add a login` of this project is not done (`EXECUTION`, 3 of 6 tasks \
                     done). Its user goes on with it by typing /omo:ulw-exec --session s-1";

#[test]
fn a_session_that_is_not_done_is_offered_in_one_line() {
    play_with_review(&[
        (
            "at each start but after a compaction, to its user and to the model",
            |s| {
                note(s, "EXECUTION")?;
                for source in ["startup", "resume", "clear"] {
                    ensure!(
                        started(s, source)? == (Some(OFFER.to_owned()), Some(OFFER.to_owned())),
                        "{source}"
                    );
                }
                ensure!(started(s, "compact")? == (None, None));
                Ok(())
            },
        ),
        ("beside the line of a run of ultrawork", |s| {
            s.start("--no-review")?;
            note(s, "EXECUTION")?;
            let (user, model) = started(s, "resume")?;
            ensure!(
                user.as_ref()
                    .is_some_and(|text| text.lines().count() == 2 && text.ends_with(OFFER)),
                "{user:?}"
            );
            ensure!(
                model.is_some_and(|text| text.contains("ultrawork run") && text.ends_with(OFFER))
            );
            Ok(())
        }),
        (
            "not to the one that has it open: it is told where that stands",
            |s| {
                note(s, "EXECUTION")?;
                let run = PlanRun {
                    id: "r-1".to_owned(),
                    plan: task_list_plan_name("s-1"),
                    total: 7,
                    ..PlanRun::default()
                };
                let home = state_home(s);
                let options = StateUpdateOptions {
                    deadline: lock::DEADLINE,
                    corrupt: CorruptPolicy::Refuse,
                    now: env::now(),
                    state_home: Some(&home),
                };
                let id = SessionId::parse(s.session.session())
                    .map_err(|error| anyhow::anyhow!("{error}"))?;
                sealed_plan_run::set(
                    &GuardedFolder::create_state(s.lab.project())?,
                    &id,
                    run,
                    options,
                )?;
                let (user, model) = started(s, "resume")?;
                let model = model.context("nothing said")?;
                ensure!(
                    user.is_none()
                        && model.starts_with("This session executes the task list `s-1`"),
                    "{model}"
                );
                Ok(())
            },
        ),
        ("not once it has lain for a week", |s| {
            let week = 7 * 24 * 60 * 60 * 1_000;
            note_at(
                s,
                "EXECUTION",
                Timestamp::from_millis(env::now().as_millis() - week),
            )?;
            ensure!(started(s, "startup")? == (None, None));
            note(s, "EXECUTION")?;
            ensure!(started(s, "startup")?.0.is_some(), "it is worked on again");
            Ok(())
        }),
        (
            "not once it is done, and not what a repository brings along",
            |s| {
                note(s, "EXECUTION")?;
                let file = s.lab.project().join(".sisyphus/cc-omo/task-session.json");
                let own = fs::read_to_string(&file)?;
                fs::write(&file, own.replace("Add a login", "Add another"))?;
                ensure!(started(s, "startup")? == (None, None), "it was believed");
                fs::write(&file, own)?;
                let folder = GuardedFolder::create_state(s.lab.project())?;
                task_list_note::clear(&folder, "s-1", Some(&state_home(s)))?;
                ensure!(started(s, "startup")? == (None, None));
                Ok(())
            },
        ),
    ]);
}

#[test]
fn the_commands_of_a_session_are_approved_by_their_code() {
    play_with_review(&[("the line that is shown is the one that approves", |s| {
        let command = PlannedCommand {
            task: "1".to_owned(),
            command: "npm test".to_owned(),
            folder: None,
        };
        let digest = pending_approval::write(
            Some(&state_home(s)),
            s.lab.project(),
            &task_list_plan_name("s-1"),
            &[command],
            None,
        )?;
        let said = s.asks("/omo:check approve")?;
        let line = said
            .lines()
            .last()
            .and_then(|line| line.split_once(": "))
            .context("no line")?
            .1
            .to_owned();
        ensure!(
            line == format!("/omo:ulw-exec --session s-1 --approve {}", &digest[..12]),
            "{said}"
        );
        ensure!(!pending_approval::is_approved(
            Some(&state_home(s)),
            &digest
        ));
        // The list itself is not there: that is told, and the commands are approved.
        let said = s.asks(&line)?;
        ensure!(said.starts_with("[omo] Nothing was started: "), "{said}");
        ensure!(pending_approval::is_approved(Some(&state_home(s)), &digest));
        Ok(())
    })]);
}

#[test]
fn how_its_commands_are_typed_is_shown_without_a_model_and_without_a_trace() {
    play_with_review(&[("no byte is written", |s| {
        for name in ["ulw-plan", "ulw-exec", "execute-plan"] {
            let said = s.asks(&format!("/omo:{name} --help"))?;
            ensure!(said.starts_with(&format!("usage: /omo:{name} ")), "{said}");
        }
        ensure!(!s.state_file().exists());
        Ok(())
    })]);
}
