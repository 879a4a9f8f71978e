//! Who asked, in the real client: prompts that its model scheduled, and clients that its shell started.

use std::fs;

use omo_testkit::{ModelScript, ModelTurn};
use serde_json::json;

use crate::client_lab::{CLAIM, client_lab};

#[test]
fn a_client_in_the_models_shell_changes_no_check_and_approves_nothing() {
    const UNSET: &str =
        "env -u CLAUDECODE -u CLAUDE_CODE_SESSION_ID -u CLAUDE_PID -u CLAUDE_CODE_CHILD_NOTES_DIR";
    let client = crate::client_lab::client();
    let nested = |wrap: &str, session: &str, prompt: &str, to: &str| {
        let (client, plugin) = (client.program().display(), crate::client_lab::plugin());
        let client = format!(
            "'{client}' -p --plugin-dir '{}' {session} '{prompt}'",
            plugin.display()
        );
        format!(
            "S=$CLAUDE_CODE_SESSION_ID; {wrap} sh -c \"{client} < /dev/null > ../home/{to}; touch ../home/{to}.end\""
        )
    };
    let resumed = "--resume $S";
    let waits = "; until test -e ../home/e.end; do sleep 0.1; done";
    // The client's own list is gone, and the environment says nothing.
    let without_list = format!(
        "mv ~/.claude/sessions ~/.claude/gone; exec env -i HOME=\"$HOME\" PATH=\"$PATH\" CLAUDE_CONFIG_DIR=/nowhere \
         '{}/bin/omo' check remove test --digest x > ../home/f 2>&1",
        crate::client_lab::plugin().display()
    );
    let script = ModelScript::new()
        .bash(&nested("", resumed, "/omo:check remove test", "a"))
        .bash(&nested(
            UNSET,
            resumed,
            "/omo:ulw --no-review --check true x",
            "b",
        ))
        .bash(&nested(
            &format!("exec {UNSET}"),
            resumed,
            "/omo:check add true",
            "c",
        ))
        .bash(&nested("", "", "/omo:check approve 0123456789ab", "d"))
        .bash(
            &(nested(
                &format!("setsid -f {UNSET}"),
                resumed,
                "/omo:check remove test",
                "e",
            ) + waits),
        )
        .bash(&without_list)
        .say(CLAIM)
        .bash("true")
        .say(CLAIM)
        .bash("true")
        .say(CLAIM);
    let fixture = client_lab(script);
    fixture.play("/omo:ulw --check \"test -f never\" make it");
    for name in ["a", "b", "c", "d", "e"] {
        let said = fs::read_to_string(fixture.lab.home().join(name)).unwrap();
        assert!(said.contains("only a person"), "{name}: {said}");
    }
    let said = fs::read_to_string(fixture.lab.home().join("f")).unwrap();
    assert!(said.contains("from its own shell"), "{said}");
    assert!(
        fixture
            .sessions()
            .iter()
            .any(|(_, session)| session["clients"][0]["pid"].is_u64()),
        "no client was noted"
    );
    let checks = fixture
        .sessions()
        .into_iter()
        .map(|(_, session)| session["gates"].clone());
    let runs: Vec<_> = checks
        .flat_map(|checks| checks.as_array().cloned().unwrap_or_default())
        .collect();
    assert_eq!(
        runs.iter()
            .map(|check| check["run"].clone())
            .collect::<Vec<_>>(),
        [json!("test -f never")]
    );
    assert_eq!(fixture.model.unscripted(), 0);
}

#[test]
fn a_prompt_that_the_model_scheduled_changes_no_check() {
    let remove = "/omo:check remove test";
    let cron = json!({"cron": "* * * * *", "recurring": false, "durable": true, "prompt": remove});
    let script = ModelScript::new()
        .turn(ModelTurn::call("CronCreate", cron))
        .turn(ModelTurn::call(
            "ScheduleWakeup",
            json!({"delaySeconds": 60, "reason": "x", "prompt": remove}),
        ))
        .say("I wait.")
        .default(ModelTurn::text("I wait."));
    let fixture = client_lab(script);
    let terminal = fixture.terminal();
    terminal
        .say("/omo:ulw --check \"test -f never\" make it")
        .unwrap();
    terminal
        .wait_for("the model scheduled this prompt")
        .unwrap();
    assert_eq!(fixture.state("/gates/0/run"), "test -f never");
}
