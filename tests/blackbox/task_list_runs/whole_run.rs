//! A run of a task list from its first wave to its end.

use anyhow::ensure;
use omo_tests::task_list_project::{SESSION, Sessions, WORD, play};

/// How many agents a block asks for, each with its kind and model.
fn agents(block: &str) -> Vec<String> {
    let lines = block.lines().filter(|line| line.contains("subagent_type"));
    let words = |line: &str| {
        line.split('"')
            .skip(1)
            .step_by(2)
            .collect::<Vec<_>>()
            .join(" ")
    };
    lines.map(words).collect()
}

#[test]
fn a_session_goes_wave_by_wave_to_its_verification() {
    play(&[
        (
            "two waves",
            &[
                ("1", &[], &[WORD]),
                ("2", &[], &[WORD]),
                ("10", &["1", "2"], &[WORD]),
            ],
            |s| {
                let said = s.begin(&[])?;
                let next = format!(
                    "Next: start `claude` in this folder and type /omo:ulw-exec --session {SESSION}"
                );
                ensure!(
                    said.out.contains("omo: opened the run ") && said.out.contains(&next),
                    "{}",
                    said.out
                );
                ensure!(s.phase()? == "EXECUTION");
                let said = s.next()?.exits_with(0)?;
                ensure!(
                    said.out.starts_with("SPAWN agents\n") && said.out.len() <= 2_048,
                    "{}",
                    said.out
                );
                ensure!(
                    agents(&said.out) == ["omo:worker sonnet task 1", "omo:worker sonnet task 2"],
                    "{}",
                    said.out
                );
                ensure!(
                    said.out
                        .contains("0 of 3 tasks done; now: 1, 2 (round 1 of 5)."),
                    "{}",
                    said.out
                );
                let prompt = format!(
                    "SESSION_ID: {SESSION} TASK_ID: 1 Begin with: omo agent start 1 --run {}",
                    s.run()?
                );
                ensure!(said.out.contains(&prompt), "{}", said.out);
                s.do_task("1")?;
                s.omo_at_terminal(&["agent", "start", "10"])?.refuses(
                    5,
                    "it is not the turn of 10",
                    "omo agent next",
                )?;
                s.do_task("2")?;
                let said = s.next()?.exits_with(0)?;
                ensure!(
                    agents(&said.out) == ["omo:worker sonnet task 10"],
                    "{}",
                    said.out
                );
                ensure!(
                    said.out
                        .contains("2 of 3 tasks done; now: 10 (round 1 of 5)."),
                    "{}",
                    said.out
                );
                s.do_task("10")?;
                let said = s.next()?.exits_with(0)?;
                ensure!(
                    agents(&said.out) == ["omo:verifier opus task verify"],
                    "{}",
                    said.out
                );
                ensure!(
                    said.out.contains("the verification begins (round 1 of 5)."),
                    "{}",
                    said.out
                );
                ensure!(s.phase()? == "VERIFICATION");
                s.verify()?;
                let said = s.next()?.exits_with(0)?;
                ensure!(
                    said.out.starts_with("DONE\n") && said.out.contains("## Execution Complete"),
                    "{}",
                    said.out
                );
                ensure!(s.phase()? == "COMPLETE" && s.status("10")? == "resolved");
                Ok(())
            },
        ),
        ("in this session itself", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            let said = s
                .omo_at_terminal(&["agent", "next", "--inline"])?
                .exits_with(0)?;
            ensure!(
                said.out.starts_with("DO\n") && said.out.contains("omo agent start 1 --run "),
                "{}",
                said.out
            );
            Ok(())
        }),
        ("given up by its user", &[("1", &[], &[WORD])], |s| {
            s.begin(&[])?;
            s.omo_at_terminal(&["run", "cancel"])?.exits_with(0)?;
            ensure!(s.phase()? == "CANCELLED");
            ensure!(s.file("session.json")?["cancelled_at"].is_string());
            Ok(())
        }),
    ]);
}

#[test]
fn a_wave_is_no_longer_than_a_block_and_all_of_it_comes() {
    let ids: Vec<String> = (1..=20).map(|number| number.to_string()).collect();
    let tasks: Vec<(&str, &[&str], &[&str])> = ids
        .iter()
        .map(|id| (id.as_str(), &[][..], &[WORD][..]))
        .collect();
    let sessions = Sessions::new(&tasks).unwrap();
    sessions.begin(&[]).unwrap();
    let mut begun = 0;
    while begun < ids.len() {
        let said = sessions.next().unwrap().exits_with(0).unwrap();
        let agents = agents(&said.out);
        assert!(
            said.out.len() <= 2_048 && (1..=8).contains(&agents.len()),
            "{}",
            said.out
        );
        for id in &ids[begun..begun + agents.len()] {
            assert!(
                said.out.contains(&format!("omo agent start {id} ")),
                "{id}: {}",
                said.out
            );
            sessions.start(id).unwrap();
        }
        begun += agents.len();
    }
}
