//! The loop of the command file that task lists were made for, through the four scripts that it names:
//! each line that it gives to the Bash tool is given to bash here, word for word.

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{ID, Place, session_file, task_file};

/// Its bound.
const MAX_ROUNDS: u32 = 5;
/// More passes of its inner loop than there are tasks: without this bound it would go on for ever where
/// no task can be begun.
const MAX_PASSES: usize = 8;

/// The loop, and what it has printed.
struct Loop<'a> {
    place: &'a Place,
    max_workers: usize,
    printed: Vec<String>,
}

impl Loop<'_> {
    /// What a script prints, asked as the command file asks.
    fn script(&self, name: &str, options: &str) -> Result<String> {
        let line =
            format!("\"${{CLAUDE_PLUGIN_ROOT}}/scripts/{name}.sh\" --session {ID} {options}");
        let mut bash = self.place.lab.command("bash");
        let output = bash
            .args(["-c", &line])
            .env("CLAUDE_PLUGIN_ROOT", &self.place.plugin)
            .output()?;
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        ensure!(
            output.status.success() && stderr.is_empty(),
            "{line}: {}: {stderr}",
            output.status
        );
        Ok(String::from_utf8(output.stdout)?)
    }

    fn say(&mut self, line: String) {
        self.printed.push(line);
    }

    fn tasks(&self) -> Result<Vec<Value>> {
        Ok(serde_json::from_str(
            &self.script("task-list", "--format json")?,
        )?)
    }

    fn run(
        &mut self,
        skip_verify: bool,
        verdict: impl Fn(&Self, u32) -> Result<String>,
    ) -> Result<()> {
        let mut round = 1;
        while round <= MAX_ROUNDS {
            self.script(
                "session-update",
                &format!("--phase EXECUTION --iteration {round}"),
            )?;
            self.say(format!("## Iteration {round}/{MAX_ROUNDS}"));
            self.execute()?;
            if skip_verify {
                self.script("session-update", "--phase COMPLETE")?;
                self.say("## Execution Complete (verification skipped)".to_owned());
                return Ok(());
            }
            self.script("session-update", "--phase VERIFICATION")?;
            self.say("## Running Verification...".to_owned());
            if verdict(self, round)?.contains("PASS") {
                self.script("session-update", "--phase COMPLETE")?;
                self.say("## Execution Complete - All criteria verified".to_owned());
                return Ok(());
            }
            if round < MAX_ROUNDS {
                self.say(format!(
                    "## Verification Failed - Retrying ({}/{MAX_ROUNDS})",
                    round + 1
                ));
                self.reset()?;
                round += 1;
            } else {
                self.script("session-update", "--phase FAILED")?;
                self.say("## Execution Failed - Max iterations reached".to_owned());
                return Ok(());
            }
        }
        Ok(())
    }

    fn execute(&mut self) -> Result<()> {
        for _ in 0..MAX_PASSES {
            let tasks = self.tasks()?;
            let (work, _): (Vec<&Value>, Vec<&Value>) =
                tasks.iter().partition(|task| task["id"] != "verify");
            if work.iter().all(|task| task["status"] == "resolved") {
                return Ok(());
            }
            let is_done = |id: &str| {
                tasks
                    .iter()
                    .any(|task| task["id"] == id && task["status"] == "resolved")
            };
            let may_begin = |task: &&&Value| {
                let needs = task["blockedBy"].as_str().unwrap_or("?");
                task["status"] == "pending"
                    && needs.split(',').filter(|id| !id.is_empty()).all(is_done)
            };
            let most = if self.max_workers == 0 {
                usize::MAX
            } else {
                self.max_workers
            };
            let batch: Vec<&&Value> = work.iter().filter(may_begin).take(most).collect();
            for task in &batch {
                let id = task["id"].as_str().context("no id")?;
                self.script("task-update", &format!("--id {id} --status in_progress"))?;
                self.say(format!(
                    "→ Started: {id} - {}",
                    task["subject"].as_str().context("no subject")?
                ));
            }
            for task in &batch {
                // Its worker is told what the list says, and ends with what it has to show.
                ensure!(
                    task["criteria"][0] == "works" && task["description"].is_string(),
                    "{task}"
                );
                let id = task["id"].as_str().context("no id")?;
                let done =
                    format!("--id {id} --status resolved --add-evidence 'make check {id}: exit 0'");
                self.script("task-update", &done)?;
            }
        }
        anyhow::bail!("nothing can be begun: {:?}", self.tasks())
    }

    fn reset(&mut self) -> Result<()> {
        for task in self
            .tasks()?
            .iter()
            .filter(|task| task["status"] == "failed")
        {
            let id = task["id"].as_str().context("no id")?;
            self.script("task-update", &format!("--id {id} --status pending"))?;
            let retry_count = task["retry_count"].as_u64().unwrap_or(0) + 1;
            self.script(
                "task-update",
                &format!("--id {id} --retry-count {retry_count}"),
            )?;
            self.say(format!(
                "↻ Reset for retry: {id} (attempt {})",
                retry_count + 1
            ));
        }
        self.script("task-update", "--id verify --status pending")?;
        Ok(())
    }
}

/// A session whose plan is made: 1, then 2 and 3, and the one that verifies them.
fn planned() -> Result<Place> {
    let place = Place::with("PLANNING_COMPLETE")?;
    let create = |options: &[&str]| {
        let subject = [
            "agent",
            "task",
            "create",
            "--subject",
            "Part",
            "--criteria",
            "works",
        ];
        place.good(&[&subject[..], options].concat())
    };
    create(&[])?;
    create(&["--blocked-by", "1"])?;
    create(&["--blocked-by", "1", "--complexity", "complex"])?;
    create(&["--id", "verify", "--blocked-by", "1,2,3"])?;
    Ok(place)
}

fn failed(of: &Loop<'_>, id: &str) -> Result<String> {
    of.script("task-update", &format!("--id {id} --status failed"))?;
    Ok(format!("FAIL: the criterion of {id} is not met"))
}

#[test]
fn it_comes_to_its_end_after_it_has_gone_back_once() {
    let place = planned().unwrap();
    let mut walk = Loop {
        place: &place,
        max_workers: 2,
        printed: Vec::new(),
    };
    let dir = walk.script("session-get", "--dir").unwrap();
    assert_eq!(
        dir.trim_end(),
        place.base().join("sessions").join(ID).to_string_lossy()
    );
    assert_eq!(
        walk.script("session-get", "--field phase").unwrap(),
        "PLANNING_COMPLETE\n"
    );
    walk.run(false, |of, round| {
        if round == 1 {
            failed(of, "2")
        } else {
            Ok("PASS".to_owned())
        }
    })
    .unwrap();

    let expected = [
        "## Iteration 1/5",
        "→ Started: 1 - Part",
        "→ Started: 2 - Part",
        "→ Started: 3 - Part",
        "## Running Verification...",
        "## Verification Failed - Retrying (2/5)",
        "↻ Reset for retry: 2 (attempt 2)",
        "## Iteration 2/5",
        "→ Started: 2 - Part",
        "## Running Verification...",
        "## Execution Complete - All criteria verified",
    ];
    assert_eq!(walk.printed, expected);
    let session = place.json(&session_file()).unwrap();
    assert_eq!(
        (&session["phase"], &session["iteration"]),
        (&"COMPLETE".into(), &2.into())
    );
    let evidence = |id: &str| {
        place.json(&task_file(id)).unwrap()["evidence"]
            .as_array()
            .unwrap()
            .len()
    };
    assert_eq!(["1", "2", "3", "verify"].map(evidence), [1, 2, 1, 0]);
    assert_eq!(place.json(&task_file("2")).unwrap()["retry_count"], 1);
    assert_eq!(place.json(&task_file("verify")).unwrap()["status"], "open");
}

#[test]
fn without_a_verification_it_ends_with_the_tasks() {
    let place = planned().unwrap();
    let mut walk = Loop {
        place: &place,
        max_workers: 0,
        printed: Vec::new(),
    };
    walk.run(true, |_, _| anyhow::bail!("nothing verifies"))
        .unwrap();
    assert_eq!(
        walk.printed.last().unwrap(),
        "## Execution Complete (verification skipped)"
    );
    assert_eq!(place.json(&session_file()).unwrap()["phase"], "COMPLETE");
}

#[test]
fn after_its_last_round_it_has_failed_and_can_be_begun_again() {
    let place = planned().unwrap();
    let mut walk = Loop {
        place: &place,
        max_workers: 0,
        printed: Vec::new(),
    };
    walk.run(false, |of, _| failed(of, "3")).unwrap();
    assert_eq!(
        walk.printed.last().unwrap(),
        "## Execution Failed - Max iterations reached"
    );
    let session = place.json(&session_file()).unwrap();
    assert_eq!(
        (&session["phase"], &session["iteration"]),
        (&"FAILED".into(), &5.into())
    );
    assert_eq!(place.json(&task_file("3")).unwrap()["retry_count"], 4);

    walk.reset().unwrap();
    walk.run(false, |_, _| Ok("PASS".to_owned())).unwrap();
    let session = place.json(&session_file()).unwrap();
    assert_eq!(
        (&session["phase"], &session["iteration"]),
        (&"COMPLETE".into(), &1.into())
    );
}

#[test]
fn a_script_ends_as_the_programs_before_did() {
    let place = planned().unwrap();
    let ends = |line: &str| {
        let mut bash = place.lab.command("bash");
        let output = bash
            .args(["-c", line])
            .env("CLAUDE_PLUGIN_ROOT", &place.plugin)
            .output()
            .unwrap();
        (output.status.code(), output.stdout.is_empty())
    };
    for (line, status) in [
        (
            "cd \"$CLAUDE_PLUGIN_ROOT/scripts\" && sh session-get.sh --help",
            0,
        ),
        (
            "\"$CLAUDE_PLUGIN_ROOT\"/scripts/session-get.sh --session ghost --field phase",
            1,
        ),
        (
            "\"$CLAUDE_PLUGIN_ROOT\"/scripts/session-update.sh --session ghost --phase COMPLETE",
            1,
        ),
        (
            "\"$CLAUDE_PLUGIN_ROOT\"/scripts/task-list.sh --session ../../.. --format json",
            1,
        ),
        (
            "\"$CLAUDE_PLUGIN_ROOT\"/scripts/task-update.sh --session ghost --id 1 --status done",
            1,
        ),
        (
            "\"$CLAUDE_PLUGIN_ROOT\"/scripts/task-update.sh --session ghost --bogus",
            2,
        ),
    ] {
        assert_eq!(ends(line), (Some(status), status != 0), "{line}");
    }
}
