//! The vectors of `prompt-context.json`: what becomes of a prompt beyond its text.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use anyhow::{Result, ensure};
use omo_testkit::run_command;
use omo_testkit::stand_in::{HookAnswer, notification};
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::scene::{Case, Scene, is_contract, play, require_sound};

const TASK: &str = "ulw build the parser";

#[test]
fn each_vector_is_decided_as_it_says() {
    play(CASES);
}

#[test]
fn a_prompt_to_a_supervised_worker_is_not_a_persons() {
    play(&[("OMO_RUN and OMO_WORKER", |s| {
        let alone = s.session.clone();
        let half = alone.clone().with_env("OMO_RUN", "r1");
        s.session = half.clone().with_env("OMO_WORKER", "2");
        for text in [
            TASK,
            "/omo:ulw build the parser",
            "/omo:stop-continuation",
            "/omo:plan-approve abcdef",
        ] {
            nothing(s, &prompt(text))?;
        }
        s.allows(&json!({}))?;
        s.session = half;
        injects(s, &json!({})).map(drop)
    })]);
}

/// The prompt's hook with `fields` over the usual ones.
fn submit(scene: &Scene, fields: &Value) -> Result<HookAnswer> {
    let usual = json!({"prompt_id": "p-1", "permission_mode": "default", "prompt": TASK});
    require_sound(&scene.session.fire_raw(
        "UserPromptSubmit",
        &scene.input("UserPromptSubmit", &usual, fields)?,
    )?)
}

/// The contract is told and the session is held.
fn injects(scene: &Scene, fields: &Value) -> Result<String> {
    let answer = submit(scene, fields)?;
    ensure!(is_contract(&answer), "no contract: {answer:?}");
    ensure!(
        scene.entry()?["ulw"]["enabled"] == true,
        "not armed: {:?}",
        scene.lab.state()
    );
    let text = answer.context().unwrap_or_default();
    ensure!(
        text.chars().count() <= 1_700,
        "{} characters",
        text.chars().count()
    );
    Ok(text.to_owned())
}

/// Nothing is said, and nothing is made.
fn nothing(scene: &Scene, fields: &Value) -> Result<()> {
    let before = fs::read(scene.state_file()).ok();
    let answer = submit(scene, fields)?;
    ensure!(answer == HookAnswer::Nothing, "{answer:?}");
    ensure!(
        fs::read(scene.state_file()).ok() == before,
        "the state was written"
    );
    Ok(())
}

fn prompt(text: &str) -> Value {
    json!({"prompt": text})
}

fn is_short(text: &str) -> bool {
    let contract = text
        .split_inclusive("</ultrawork-mode>")
        .next()
        .unwrap_or_default();
    contract.chars().count() <= 600 && text.contains("As before")
}

pub(crate) const CASES: &[Case] = &[
    ("ups-001", |s| {
        injects(s, &json!({}))?;
        ensure!(
            !s.lab.project().join(".claude").exists(),
            "another loop's file was made"
        );
        Ok(())
    }),
    ("ups-002", |s| {
        for question in ["what is ulw?", "how does ultrawork work?", "explain ulw"] {
            nothing(s, &prompt(question))?;
        }
        Ok(())
    }),
    ("ups-003", |s| {
        let answer = submit(s, &json!({"permission_mode": "plan"}))?;
        ensure!(
            answer
                .context()
                .is_some_and(|text| text.contains("No run was started")),
            "{answer:?}"
        );
        ensure!(s.lab.state().is_none(), "armed");
        Ok(())
    }),
    ("ups-004", |s| {
        nothing(s, &json!({"agent_id": "a1", "agent_type": "other:agent"}))
    }),
    ("ups-005", |s| {
        s.arm()?;
        s.session = s.another()?;
        injects(s, &json!({})).map(drop)
    }),
    ("ups-006", |s| {
        nothing(s, &json!({"agent_id": "a1", "agent_type": ""}))?;
        s.arm()?;
        let before = s.entry()?["ulw"].clone();
        ensure!(
            submit(s, &json!({"agent_id": "a1", "agent_type": "omo:worker"}))?
                == HookAnswer::Nothing
        );
        ensure!(s.entry()?["ulw"] == before, "a subagent changed the run");
        Ok(())
    }),
    ("ups-007", |s| {
        let answer = s.prompt(TASK)?;
        let contract = answer.context().unwrap_or_default();
        s.session = s.another()?;
        nothing(s, &prompt(&format!("{contract}\nwhat does that mean?")))?;
        injects(s, &prompt(&format!("{contract}\n\nulw fix the tests"))).map(drop)
    }),
    ("ups-008", |s| {
        nothing(
            s,
            &prompt("<system-reminder>\nulw is on\n</system-reminder>\nfix the tests"),
        )
    }),
    ("ups-009", |s| {
        let reminder = "<system-reminder>\nnote\n</system-reminder>\n";
        injects(
            s,
            &prompt(&format!(
                "{reminder}{reminder}ulw fix the tests\n{reminder}"
            )),
        )
        .map(drop)
    }),
    ("ups-010", |s| {
        s.lab.configure("keywords = [\"ulw\"]\n")?;
        nothing(s, &prompt("ultrawork on the parser"))?;
        s.lab.configure("keywords = []\n")?;
        nothing(s, &json!({}))?;
        fs::remove_file(s.lab.home().join(".config/omo/config.toml"))?;
        injects(s, &prompt("ultrawork on the parser")).map(drop)
    }),
    ("ups-011", |s| {
        let text = injects(s, &prompt("hyperplan ulw build the parser"))?;
        ensure!(text.matches("<ultrawork-mode>").count() == 1, "{text}");
        Ok(())
    }),
    ("ups-012", |s| {
        let first = injects(s, &json!({}))?;
        s.edit(&[("/ulw/stopBlocks", json!(5))])?;
        let second = injects(
            s,
            &json!({"prompt_id": "p-2", "prompt": "ulw and the docs"}),
        )?;
        ensure!(
            !is_short(&first) && is_short(&second) && s.blocks_counted()? == 0,
            "{second}"
        );
        Ok(())
    }),
    ("ups-013", |s| {
        let mut texts = Vec::new();
        for model in ["claude-opus-5-5", "claude-haiku-4", "gpt-5"] {
            s.session = s.another()?;
            texts.push(injects(s, &json!({"model": model}))?);
        }
        texts.dedup();
        ensure!(texts.len() == 1, "{texts:?}");
        Ok(())
    }),
    ("ups-014", |s| {
        let text = injects(s, &json!({}))?;
        let contract = json!({"type": "attachment", "attachment": {"type": "hook_success", "hookName": "UserPromptSubmit", "hookEvent": "UserPromptSubmit", "content": text}});
        s.session.transcript().raw(&contract.to_string())?;
        ensure!(s.prompt("ulw off")?.blocks());
        let again = injects(s, &json!({"prompt_id": "p-2"}))?;
        ensure!(is_short(&again), "{again}");
        Ok(())
    }),
    ("ups-015", |s| {
        s.session.transcript().raw(r#"{"type":"assistant","isApiErrorMessage":true,"message":{"content":[{"type":"text","text":"Prompt is too long"}]}}"#)?;
        let text = injects(s, &json!({}))?;
        ensure!(is_short(&text), "{text}");
        Ok(())
    }),
    ("ups-016", |s| {
        injects(s, &json!({"transcript_path": "/nowhere/at/all.jsonl"}))?;
        s.session = s.another()?;
        injects(s, &json!({"transcript_path": null})).map(drop)
    }),
    ("ups-017", |s| {
        injects(s, &json!({"cwd": "C:\\Users\\me\\project"})).map(drop)
    }),
    ("ups-018", |s| {
        nothing(s, &json!({"prompt": null}))?;
        nothing(s, &json!({"prompt": 5}))
    }),
    ("ups-019", |s| {
        let input =
            json!({"session_id": s.session.session(), "cwd": s.lab.project(), "prompt": TASK});
        for event in ["Stop", "PreToolUse", "userpromptsubmit", ""] {
            let mut input = input.clone();
            input["hook_event_name"] = json!(event);
            let answer =
                require_sound(&s.session.fire_raw("UserPromptSubmit", &input.to_string())?)?;
            ensure!(answer == HookAnswer::Nothing, "{event}: {answer:?}");
        }
        let answer = require_sound(&s.session.fire_raw("UserPromptSubmit", &input.to_string())?)?;
        ensure!(answer == HookAnswer::Nothing, "no event: {answer:?}");
        ensure!(s.lab.state().is_none(), "armed");
        Ok(())
    }),
    ("ups-020", |s| {
        s.lab.write(".claude/skills/ulw/SKILL.md", "# ulw\n")?;
        injects(s, &json!({})).map(drop)
    }),
    ("ups-021", |s| nothing(s, &json!({"source": "extension"}))),
    ("ups-022", |s| {
        nothing(s, &prompt("/skill:ulw-helper do it"))?;
        nothing(s, &prompt("/skill:ulw do it"))
    }),
    ("ups-023", |s| {
        nothing(
            s,
            &prompt("<ultrawork-mode>\nulw is on\n</ultrawork-mode>\nfix the tests"),
        )?;
        injects(
            s,
            &prompt("<ultrawork-mode>\nx\n</ultrawork-mode>\nulw fix the tests"),
        )
        .map(drop)
    }),
    // The variable of this project is `OMO_DISABLE`.
    ("ups-024", |s| {
        let enabled = s.session.clone();
        s.session = s.session.clone().with_env("OMO_DISABLE", "1");
        nothing(s, &json!({}))?;
        s.session = enabled;
        injects(s, &json!({}))?;
        s.session = s.session.clone().with_env("OMO_DISABLE", "1");
        s.allows(&json!({}))
    }),
    ("ups-025", |s| {
        let long = format!("ulw {}", "secret ".repeat(300_000));
        injects(s, &prompt(&long))?;
        let size: u64 = s
            .state_file_names()
            .iter()
            .filter_map(|name| fs::metadata(s.lab.state_folder().join(name)).ok())
            .map(|meta| meta.len())
            .sum();
        // The state is two files, the one before among them.
        ensure!(size < 48_000, "{size} bytes are kept of it");
        Ok(())
    }),
    ("ups-026", |s| {
        s.arm()?;
        for cancel in ["ulw off", "stop ulw", "ulw stop"] {
            let answer = s.prompt(cancel)?;
            ensure!(answer.blocks(), "{cancel}: {answer:?}");
            s.allows(&json!({}))?;
            s.prompt(TASK)?;
        }
        let within = s.prompt("The tests are fine now. ulw off\n\nWhat is left in the docs?")?;
        ensure!(
            !within.blocks() && within.system_message().is_some(),
            "{within:?}"
        );
        s.allows(&json!({}))
    }),
    ("ups-027", |s| {
        injects(
            s,
            &prompt(&format!(
                "{}\n\nulw fix it",
                "Some words about the parser. ".repeat(400)
            )),
        )
        .map(drop)
    }),
    ("ups-028", |s| nothing(s, &prompt(""))),
    ("ups-029", |s| {
        s.arm()?;
        s.edit(&[("/ulw/stopBlocks", json!(MAX_BLOCKS))])?;
        s.ends(&json!({}), "released")?;
        injects(s, &json!({}))?;
        ensure!(s.blocks_counted()? == 0, "{}", s.entry()?);
        s.blocks(&json!({})).map(drop)
    }),
    ("ups-030", |s| {
        nothing(s, &json!({"prompt": null, "user_prompt": TASK}))?;
        injects(s, &json!({"user_prompt": "x"})).map(drop)
    }),
    ("ups-031", |s| {
        nothing(s, &prompt(&notification("ulw fix it")))?;
        nothing(
            s,
            &prompt("<task-notification>\n<task-id>a</task-id>\n</task-notification>\nulw fix it"),
        )
    }),
    ("ups-032", |s| {
        s.arm()?;
        s.session
            .transcript()
            .assistant("Ultrawork is on. I read the code first.")?;
        for plain in ["and the docs, please", "why?", "go on"] {
            let answer = s.prompt(plain)?;
            ensure!(
                answer.context().is_none() && !answer.blocks(),
                "{plain}: {answer:?}"
            );
        }
        Ok(())
    }),
    ("ups-033", |s| {
        let answer = submit(s, &json!({"permission_mode": "plan"}))?;
        ensure!(
            answer.context().is_some_and(|text| text.len() < 700),
            "{answer:?}"
        );
        s.allows(&json!({"permission_mode": "plan"}))?;
        s.allows(&json!({}))
    }),
    ("ups-034", |s| {
        let alone = injects(s, &json!({}))?;
        ensure!(!alone.contains("Another loop"), "{alone}");
        s.lab.write(".claude/ralph-loop.local.md", "x")?;
        let text = injects(s, &json!({"prompt_id": "p-2"}))?;
        let lines: Vec<&str> = text
            .lines()
            .filter(|line| line.contains(".claude/ralph-loop.local.md"))
            .collect();
        ensure!(lines.len() == 1, "{text}");
        Ok(())
    }),
    ("ups-035", |s| {
        injects(s, &json!({}))?;
        s.blocks(&json!({}))?;
        nothing(s, &json!({}))?;
        ensure!(s.blocks_counted()? == 1, "{}", s.entry()?);
        Ok(())
    }),
    // That no answer can be longer is a compile-time check in omo-core; here is what comes out.
    ("ups-036", |s| {
        let long = "ulw ".repeat(30_000);
        ensure!(injects(s, &prompt(&long))?.len() < 2_000);
        Ok(())
    }),
    // Root may write everywhere but in a file system that has no files of its own.
    ("ups-037", |s| {
        let folder = s.lab.root().join("read-only");
        fs::create_dir(&folder)?;
        fs::set_permissions(&folder, fs::Permissions::from_mode(0o555))?;
        let root = if fs::write(folder.join("x"), "").is_ok() {
            "/proc".into()
        } else {
            folder
        };
        let mut input: Value = json!({"session_id": s.session.session(), "hook_event_name": "UserPromptSubmit", "prompt": TASK});
        input["cwd"] = json!(root);
        let mut command = s.lab.command(s.plugin.join("bin/omo-user-prompt-submit"));
        command.env("CLAUDE_PROJECT_DIR", &root);
        let output = run_command(&command, &input.to_string())?;
        ensure!(
            output.status.success() && output.stderr.is_empty(),
            "{output:?}"
        );
        let answer = output.answer()?;
        let is_told = answer
            .context()
            .is_some_and(|text| text.contains("this session is not held"));
        ensure!(
            is_told
                && answer
                    .system_message()
                    .is_some_and(|line| line.starts_with("[omo] NOT ON: ")),
            "{answer:?}"
        );
        Ok(())
    }),
    ("ups-038", |s| {
        s.write_state(b"{\"version\":1,")?;
        injects(s, &json!({}))?;
        ensure!(
            s.state_file_names()
                .iter()
                .any(|name| name.contains(".corrupt-")),
            "{:?}",
            s.state_file_names()
        );
        Ok(())
    }),
];
