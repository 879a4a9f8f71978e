//! A task goes to one agent: the client may start it in the background, and the session asks what comes next
//! before it has said a word.

use anyhow::ensure;
use omo_tests::plan_project::{PLAN, play, two_tasks};

#[test]
fn a_task_goes_to_no_second_agent_before_the_first_has_begun() {
    play(&[("asked again, typed again, begun", two_tasks(), |g| {
        let mut session = g.session()?;
        g.open_in(&mut session)?;
        // The command that opened the run has handed it out.
        let said = g
            .omo_in_session(&session, &["agent", "next"])?
            .exits_with(0)?;
        ensure!(
            said.out
                .starts_with("WAIT\n  Task 1 went to agents a moment ago"),
            "{}",
            said.out
        );

        // Its person typed the command once more, after an interruption say: the agent is gone.
        session.type_prompt(&format!("/omo:execute-plan {PLAN}"))?;
        let said = g
            .omo_in_session(&session, &["agent", "open", "--command", "execute-plan"])?
            .exits_with(0)?;
        ensure!(
            said.out.contains("\nSPAWN agent\n") && said.out.contains("omo agent start 1 "),
            "{}",
            said.out
        );

        g.omo_in_session(&session, &["agent", "start", "1"])?
            .exits_with(0)?;
        let said = g
            .omo_in_session(&session, &["agent", "next"])?
            .exits_with(0)?;
        ensure!(
            said.out.starts_with("WAIT\n  Task 1 is being worked on"),
            "{}",
            said.out
        );
        Ok(())
    })]);
}
