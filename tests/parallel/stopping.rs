//! What a session says of clients that go on without it: when its user stops it, after Esc, and in the status line; and
//! the command that ends them.

use std::time::Duration;

use anyhow::{Result, ensure};
use omo_core::session::id::SessionId;
use omo_core::session::plan_run::PlanRun;
use omo_state::files::folder::GuardedFolder;
use omo_state::state::sealed_plan_run;
use omo_state::state::{CorruptPolicy, StateUpdateOptions};
use omo_testkit::stand_in::HookAnswer;
use omo_testkit::{StandIn, run_command, wait_until};
use omo_tests::plan_project::Said;
use omo_tests::scene::require_sound;

use crate::parallel_repository::{Ground, on_repository, session, step};

/// The entry of a session that the run belongs to.
fn is_of(ground: &Ground, hooks: &StandIn) -> Result<()> {
    let home = ground.lab.home().join(".local/state");
    let now = omo_state::env::now();
    let run = PlanRun {
        id: ground.run()?.id().to_owned(),
        total: 2,
        opened_at: Some(now),
        ..PlanRun::default()
    };
    let options = StateUpdateOptions {
        deadline: Duration::from_secs(3),
        corrupt: CorruptPolicy::Refuse,
        now,
        state_home: Some(&home),
    };
    Ok(sealed_plan_run::set(
        &GuardedFolder::create_state(ground.project())?,
        &SessionId::parse(hooks.session())?,
        run,
        options,
    )?)
}

fn status_line(ground: &Ground, hooks: &StandIn) -> Result<String> {
    let input =
        serde_json::json!({ "session_id": hooks.session(), "cwd": ground.project() }).to_string();
    let done = run_command(&ground.command(&["statusline"]), &input)?;
    Ok(done.stdout)
}

#[test]
fn clients_that_go_on_are_named_when_their_user_stops_and_one_command_ends_them() {
    let sessions = [
        session(1, &[step(1, "a.txt")]),
        session(1, &[step(2, "b.txt")]),
    ];
    on_repository(&sessions, "", |ground| {
        ground.set_task_script(1, "sleep 600\n")?;
        ground.set_task_script(2, "sleep 600\n")?;
        ground.open(&[])?;
        let mut hooks = StandIn::new(&ground.lab, &omo_tests::scene::plugin())?;
        let stopped = |hooks: &mut StandIn| -> Result<String> {
            let answer = require_sound(&hooks.prompt("/omo:stop-continuation")?)?;
            Ok(answer.reason().unwrap_or_default().to_owned())
        };
        ensure!(
            !stopped(&mut hooks)?.contains("Still at work"),
            "nothing was started"
        );
        ground.omo(&["agent", "workers", "start"])?.exits_with(0)?;
        wait_until("both clients work", || {
            (ground.started_sessions().len() == 2).then_some(())
        })?;
        let run = ground.run()?.id().to_owned();
        let expected = "Still at work: 2 parallel clients and the supervisor of the plan run";
        let said = stopped(&mut hooks)?;
        ensure!(
            said.ends_with(&format!("{expected} `{run}`. /omo:cancel {run} ends them.")),
            "{said}"
        );

        // In another worktree of the repository the command names the run.
        ground.git(&["worktree", "add", "-q", "../other"])?;
        let other = ground.project().with_file_name("other");
        let cancel = Said::of(
            &ground
                .command(&["run", "cancel"])
                .current_dir(&other)
                .output()?,
        );
        cancel.refuses(3, "no plan run is open here", &format!("  --run {run}   "))?;
        ground.git(&["worktree", "remove", "../other"])?;

        is_of(ground, &hooks)?;
        let said = stopped(&mut hooks)?;
        ensure!(
            said.ends_with(&format!("{expected} `{run}`. /omo:cancel ends them.")),
            "{said}"
        );
        let line = status_line(ground, &hooks)?;
        ensure!(line.ends_with("clients at work\n"), "{line}");

        ensure!(require_sound(&hooks.prompt("go on")?)? == HookAnswer::Nothing);
        hooks.transcript().interrupted()?;
        let answer = require_sound(&hooks.prompt("what is this?")?)?;
        let said = answer.system_message().unwrap_or_default();
        ensure!(
            said.starts_with("[omo] Esc ended the turn, and not") && said.contains(expected),
            "{answer:?}"
        );
        ensure!(
            require_sound(&hooks.prompt("and this?")?)? == HookAnswer::Nothing,
            "it is said once"
        );

        let said = require_sound(&hooks.prompt("/omo:cancel")?)?;
        ensure!(
            said.reason()
                .is_some_and(|said| said.contains(&format!("{run} is cancelled"))),
            "{said:?}"
        );
        ground.omo(&["run", "watch"])?.exits_with(1)?;
        ensure!(!stopped(&mut hooks)?.contains("Still at work"));
        ensure!(!status_line(ground, &hooks)?.contains("at work"));
        ground.require_tidy()
    });
}
