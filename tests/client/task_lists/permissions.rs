//! What is asked before something runs: the commands of the criteria of their person, once, and each command that
//! should show something of the client's own permissions.

use serde_json::Value;

use super::scripted_agents::{Trouble, task_list_script};
use super::{REVIEWED, SESSION, Task, WORD, command, events, planned, story};
use crate::plans::{code, type_prompt};

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn the_commands_of_criteria_are_approved_by_a_typed_line_and_no_model_reads_them() {
    let two: [Task; 2] = [("1", "", WORD), ("2", "1", "`! false`|It reads well")];
    let fixture = planned(&two, task_list_script(Trouble::default()));
    let first = type_prompt(&fixture, &command(" --max-workers 1"), &[]);
    let shown = first.result().unwrap();
    for part in
        [SESSION, "omo runs these 2 commands", "grep -q done words/1.txt", "! false", " --max-workers 1 --approve "]
    {
        assert!(shown.contains(part), "{part} is not in:\n{shown}");
    }
    let wrong = type_prompt(&fixture, &command(" --approve 000000000000"), &[]);
    assert!(wrong.result().unwrap().contains("nothing was approved"), "{wrong:?}");
    assert_eq!(fixture.requests(), 0, "no model reads what is to be approved");
    assert!(!fixture.lab.project().join(".git/omo").exists());

    let right = code(shown);
    let _ = type_prompt(&fixture, &command(&format!(" --max-workers 1 --max-iterations 1 --approve {right}")), &[]);
    assert!(fixture.count(0, "omo: opened the run") > 0, "the run is not open in the turn that approved it");
    assert_eq!(events(&fixture)[0]["kind"], "run_opened");
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_command_that_is_to_show_something_needs_the_clients_own_permission_and_the_rest_needs_none() {
    let two: [Task; 2] = [("1", "", WORD), ("2", "1", REVIEWED)];
    let fixture = planned(&two, task_list_script(Trouble::default()));
    let command = command(" --max-iterations 1");
    let shown = type_prompt(&fixture, &command, &[]);
    let code = code(shown.result().unwrap());
    let run = type_prompt(&fixture, &format!("{command} --approve {code}"), &[]);
    let denied = run.json.as_ref().unwrap()["permission_denials"].as_array().unwrap().clone();
    let commands: Vec<&Value> = denied.iter().map(|denial| &denial["tool_input"]["command"]).collect();
    assert_eq!(commands.len(), 1, "{commands:?}");
    assert!(commands[0].as_str().unwrap().starts_with("omo agent evidence run "), "{commands:?}");
    assert_eq!(
        story(&fixture).join(", "),
        "task_started 1, task_passed 1, task_started 2, task_failed 2, run_ended failed"
    );
    assert_eq!(fixture.model.unscripted(), 0);
}
