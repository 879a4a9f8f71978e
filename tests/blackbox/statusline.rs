//! `omo statusline`: the segment of a run, alone and behind another status line, and the settings
//! that `/omo:statusline` shows.

use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::{HookRun, Lab, run_command, samples, wait_until};
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::claim_scene::{processes_with, wait_until_gone};
use crate::scene::{Scene, play, plugin, require_sound};
use crate::unused_session::list_all_files;

/// What the client sends in this session.
fn input(scene: &Scene) -> Value {
    let mut input = samples::statusline(scene.lab.project());
    input["session_id"] = json!(scene.session.session());
    input
}

/// As the client starts it.
fn command(scene: &Scene, arguments: &[&str], variables: &[(&str, &str)]) -> Command {
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    command.arg("statusline").args(arguments);
    command
        .env("CLAUDE_PROJECT_DIR", scene.lab.project())
        .envs(variables.iter().copied());
    command
}

/// What it prints; it says nothing else, and ends well.
fn printed(run: HookRun) -> Result<String> {
    ensure!(
        run.status.success() && run.stderr.is_empty() && !run.timed_out,
        "{run:?}"
    );
    Ok(run.stdout)
}

/// What the status line shows.
fn shown(scene: &Scene, arguments: &[&str]) -> Result<String> {
    printed(run_command(
        &command(scene, arguments, &[]),
        &format!("{}\n", input(scene)),
    )?)
}

/// It shows exactly this.
fn shows(scene: &Scene, arguments: &[&str], expected: &str) -> Result<()> {
    let shown = shown(scene, arguments)?;
    ensure!(shown == expected, "{shown:?} instead of {expected:?}");
    Ok(())
}

#[test]
fn it_shows_where_the_run_stands_and_nothing_without_one() {
    play(&[
        ("a session that never used omo", |s| {
            shows(s, &[], "")?;
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "looking made something"
            );
            Ok(())
        }),
        ("a run", |s| {
            s.arm()?;
            shows(s, &[], &format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"))?;
            s.blocks(&json!({}))?;
            shows(s, &[], &format!("ulw 1/{MAX_BLOCKS} · 0m · Esc pauses\n"))
        }),
        ("checks, a review, a pause", |s| {
            s.start("--check true --check false")?;
            shows(
                s,
                &[],
                &format!("ulw 0/{MAX_BLOCKS} · checks 0/2 · 0m · Esc pauses\n"),
            )?;
            s.claim_fails()?;
            shows(
                s,
                &[],
                &format!("ulw 1/{MAX_BLOCKS} · checks 1/2 · failed 1/3 · 0m · Esc pauses\n"),
            )?;
            s.edit(&[("/verification/phase", json!("review"))])?;
            shows(
                s,
                &[],
                &format!(
                    "ulw 1/{MAX_BLOCKS} · checks 1/2 · review · failed 1/3 · 0m · Esc pauses\n"
                ),
            )?;
            require_sound(&s.session.stop_failure("billing_error")?)?;
            let paused = &format!(
                "ulw 1/{MAX_BLOCKS} · checks 1/2 · review · failed 1/3 · \u{1b}[33mpaused\u{1b}[0m · 0m\n"
            );
            shows(s, &[], paused)
        }),
        ("an end", |s| {
            s.arm()?;
            s.ends(
                &json!({"last_assistant_message": "Done.\n\n<promise>DONE</promise>"}),
                "released",
            )?;
            shows(s, &[], "\u{1b}[1m\u{1b}[31mulw NOT PROVED\u{1b}[0m\n")?;
            s.forge(&[("/verdict/kind", json!("verified"))])?;
            ensure!(
                !shown(s, &[])?.contains("verified"),
                "what something else wrote is shown"
            );
            Ok(())
        }),
        ("Esc, of which no hook learns", |s| {
            s.arm()?;
            let mut transcript = s.session.clone();
            transcript.transcript().interrupted()?;
            let mut input = input(s);
            input["transcript_path"] = json!(transcript.transcript().path());
            let shown = printed(run_command(&command(s, &[], &[]), &input.to_string())?)?;
            ensure!(
                shown.contains("paused") && !shown.contains("Esc pauses"),
                "{shown}"
            );
            Ok(())
        }),
        ("stopped by its user", |s| {
            s.arm()?;
            s.prompt("/omo:stop-continuation")?;
            shows(s, &[], "")
        }),
        ("another session's run", |s| {
            s.arm()?;
            let mut input = input(s);
            input["session_id"] = json!(s.another()?.session());
            ensure!(printed(run_command(&command(s, &[], &[]), &input.to_string())?)?.is_empty());
            Ok(())
        }),
        ("omo turned off", |s| {
            s.arm()?;
            for variable in ["OMO_DISABLE", "OMO_CHECK"] {
                let shown =
                    run_command(&command(s, &[], &[(variable, "1")]), &input(s).to_string())?;
                ensure!(printed(shown)?.is_empty(), "{variable}");
            }
            Ok(())
        }),
        ("the client's own cap", |s| {
            s.arm()?;
            let variables = [("CLAUDE_CODE_STOP_HOOK_BLOCK_CAP", "5"), ("NO_COLOR", "")];
            let shown = printed(run_command(
                &command(s, &[], &variables),
                &input(s).to_string(),
            )?)?;
            ensure!(shown == "ulw 0/5 · 0m · Esc pauses\n", "{shown}");
            Ok(())
        }),
        ("a project that only the input names", |s| {
            s.arm()?;
            let omo = s.plugin.join("bin/omo");
            for (wrong, pointer) in [("/nowhere", "/cwd"), ("relative", "/workspace/current_dir")] {
                let mut input = input(s);
                *input.pointer_mut(pointer).context(pointer)? = json!(wrong);
                let mut command = s.lab.command(&omo);
                let shown = run_command(command.arg("statusline"), &input.to_string())?;
                ensure!(
                    printed(shown)? == format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
                    "{pointer}"
                );
            }
            let only_cwd = json!({"session_id": s.session.session(), "cwd": s.lab.project()});
            let shown = run_command(s.lab.command(&omo).arg("statusline"), &only_cwd.to_string())?;
            ensure!(printed(shown)? == format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"));
            Ok(())
        }),
    ]);
}

#[test]
fn colours_stand_out_only_where_they_are_wanted() {
    play(&[("the last block", |s| {
        s.arm()?;
        s.edit(&[("/ulw/stopBlocks", json!(MAX_BLOCKS))])?;
        for (variable, value, has_colour) in [
            ("NO_COLOR", "1", false),
            ("NO_COLOR", "", true),
            ("TERM", "dumb", false),
            ("TERM", "xterm", true),
        ] {
            let shown = printed(run_command(
                &command(s, &[], &[(variable, value)]),
                &input(s).to_string(),
            )?)?;
            let part = format!("ulw {MAX_BLOCKS}/{MAX_BLOCKS}");
            let expected = if has_colour {
                format!("\u{1b}[31m{part}\u{1b}[0m · 0m · Esc pauses\n")
            } else {
                format!("{part} · 0m · Esc pauses\n")
            };
            ensure!(shown == expected, "{variable}={value}: {shown:?}");
        }
        Ok(())
    })]);
}

#[test]
fn it_changes_no_byte_of_the_project_and_of_the_home() {
    let plugin = plugin();
    let mut scene = Scene::new(&plugin).unwrap();
    scene.arm().unwrap();
    let before = list_all_files(&scene).unwrap();
    shows(
        &scene,
        &[],
        &format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
    )
    .unwrap();
    shows(
        &scene,
        &["--wrap", "echo main"],
        &format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
    )
    .unwrap();
    scene.write_state(b"garbage").unwrap();
    let with_garbage = list_all_files(&scene).unwrap();
    shows(&scene, &[], "").unwrap();
    assert_eq!(list_all_files(&scene).unwrap(), with_garbage);
    assert_ne!(before, with_garbage);
}

#[test]
fn another_status_line_comes_first_as_it_is() {
    play(&[
        ("one line", |s| {
            s.arm()?;
            shows(
                s,
                &["--wrap", "echo main"],
                &format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )
        }),
        ("more lines", |s| {
            s.arm()?;
            shows(
                s,
                &["--wrap", "printf 'a\\nb'"],
                &format!("a\nb · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )
        }),
        ("colours", |s| {
            s.arm()?;
            shows(
                s,
                &["--wrap", "printf '\\033[32mok\\033[0m\\n'"],
                &format!("\u{1b}[32mok\u{1b}[0m\u{1b}[0m · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )
        }),
        ("nothing", |s| {
            s.arm()?;
            shows(
                s,
                &["--wrap", "true"],
                &format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )
        }),
        ("a failure", |s| {
            s.arm()?;
            shows(
                s,
                &["--wrap", "echo half; exit 3"],
                &format!("half · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )
        }),
        ("one that reads nothing", |s| {
            s.arm()?;
            let mut input = input(s);
            input["filler"] = json!("x".repeat(1 << 20));
            let shown = run_command(
                &command(s, &["--wrap", "echo main"], &[]),
                &input.to_string(),
            )?;
            let line = printed(shown)?;
            ensure!(
                line == format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
                "{line:?}"
            );
            Ok(())
        }),
        ("the same input, byte for byte, and its line end", |s| {
            s.arm()?;
            let wrap =
                "read -r line && printf %s \"$line\" > got.json && echo \"$CLAUDE_PROJECT_DIR\"";
            shows(
                s,
                &["--wrap", wrap],
                &format!(
                    "{} · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n",
                    s.lab.project().display()
                ),
            )?;
            let got = std::fs::read_to_string(s.lab.project().join("got.json"))?;
            let sent = input(s).to_string();
            ensure!(got == sent, "{got}");
            Ok(())
        }),
        ("where no run is on, not a byte more", |s| {
            s.prompt("/omo:stop-continuation")?;
            for (wrap, expected) in [
                ("printf 'a\\n\\n'", "a\n\n"),
                ("printf a", "a"),
                ("true", ""),
            ] {
                shows(s, &["--wrap", wrap], expected)?;
            }
            Ok(())
        }),
        ("where omo cannot tell", |s| {
            s.write_state(b"garbage")?;
            shows(s, &["--wrap", "echo main"], "main\n")?;
            let shown = run_command(&command(s, &["--wrap", "echo main"], &[]), "garbage")?;
            ensure!(printed(shown)? == "main\n");
            Ok(())
        }),
    ]);
}

#[test]
fn another_status_line_has_bounds_and_leaves_nothing_behind() {
    play(&[
        ("one that never ends", |s| {
            s.arm()?;
            let mark = s.lab.root().join("never").display().to_string();
            let wrap = format!("echo main; sleep 987 & sleep 987; : {mark}");
            shows(
                s,
                &["--wrap", &wrap],
                &format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )?;
            wait_until_gone(&mark)
        }),
        ("one that says too much", |s| {
            s.arm()?;
            let shown = shown(s, &["--wrap", "yes"])?;
            ensure!(
                shown.len() < 70_000
                    && shown.ends_with(&format!(" · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")),
                "{} bytes",
                shown.len()
            );
            Ok(())
        }),
        ("one that leaves something in the background", |s| {
            s.arm()?;
            let mark = s.lab.root().join("stays").display().to_string();
            let wrap = format!("sh -c 'while ! test -e {mark}; do sleep 0.1; done' & echo main");
            shows(
                s,
                &["--wrap", &wrap],
                &format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n"),
            )?;
            ensure!(!processes_with(&mark).is_empty(), "what it left was ended");
            std::fs::write(&mark, "")?;
            wait_until_gone(&mark)
        }),
        ("one that is no longer wanted", |s| {
            s.arm()?;
            let mark = s.lab.root().join("unwanted").display().to_string();
            let wrap = format!("echo > {mark}; exec sh -c 'sleep 987; : {mark}'");
            let mut child = command(s, &["--wrap", &wrap], &[])
                .process_group(0)
                .stdin(Stdio::piped())
                .stdout(Stdio::null())
                .spawn()?;
            let mut stdin = child.stdin.take().context("no stdin")?;
            std::io::Write::write_all(&mut stdin, input(s).to_string().as_bytes())?;
            wait_until("the other one runs", || {
                std::fs::exists(&mark).ok()?.then_some(())
            })?;
            let group = rustix::process::Pid::from_child(&child);
            rustix::process::kill_process_group(group, rustix::process::Signal::TERM)?;
            ensure!(
                child.wait()?.signal() == Some(15),
                "it did not end as it was asked to"
            );
            wait_until_gone(&mark)
        }),
    ]);
}

/// Elsewhere nothing tells which signals are ignored.
#[cfg(target_os = "linux")]
#[test]
fn a_signal_that_its_caller_ignores_ends_no_status_line() {
    play(&[("as nohup starts it", |s| {
        let omo = command(
            s,
            &["--wrap", "kill -HUP $PPID; kill -INT $PPID; echo main"],
            &[],
        );
        let mut shell = s.lab.command("/bin/sh");
        shell
            .args(["-c", "trap '' HUP INT; exec \"$@\"", "sh"])
            .arg(omo.get_program())
            .args(omo.get_args());
        shell.env("CLAUDE_PROJECT_DIR", s.lab.project());
        ensure!(printed(run_command(&shell, &format!("{}\n", input(s)))?)? == "main\n");
        Ok(())
    })]);
}

#[test]
fn statusline_has_help_and_refuses_what_it_does_not_know() {
    play(&[("help", |s| {
        let run = |arguments: &[&str]| run_command(&command(s, arguments, &[]), "");
        let help = run(&["--help"])?;
        for part in [
            "--wrap <COMMAND>",
            "/omo:statusline",
            "Examples",
            "omo statusline --wrap 'my-status-line --short'",
        ] {
            ensure!(help.stdout.contains(part), "no {part:?} in {}", help.stdout);
        }
        for wrong in [
            &["--wrap"][..],
            &["--unknown"],
            &["extra"],
            &["--wrap", "a", "b"],
        ] {
            let run = run(wrong)?;
            ensure!(
                run.status.code() == Some(2) && run.stderr.contains("try '--help'"),
                "{wrong:?}: {run:?}"
            );
        }
        let shown = run_command(
            &command(s, &["--wrap=echo main"], &[]),
            &input(s).to_string(),
        )?;
        ensure!(printed(shown)? == "main\n");
        Ok(())
    })]);
}

/// The settings that `/omo:statusline` shows, and the command for who has a status line.
fn settings(scene: &mut Scene) -> Result<(Value, String)> {
    let said = scene.asks("/omo:statusline")?;
    let (_, rest) = said.split_once('\n').context("one line only")?;
    let (json, wrapping) = rest
        .rsplit_once("\n  ")
        .with_context(|| format!("no command at the end: {said}"))?;
    let json = json.rsplit_once('\n').map_or(json, |(json, _)| json);
    let settings = serde_json::from_str(json).with_context(|| format!("no JSON: {json}"))?;
    Ok((settings, serde_json::from_str(wrapping)?))
}

/// A shell runs the command, as the client does.
fn by_a_shell(scene: &Scene, line: &str) -> Result<String> {
    let mut shell = scene.lab.command("/bin/sh");
    shell
        .arg("-c")
        .arg(line)
        .env("CLAUDE_PROJECT_DIR", scene.lab.project());
    printed(run_command(&shell, &input(scene).to_string())?)
}

#[test]
fn the_settings_that_are_shown_work_wherever_omo_lies_and_are_never_written() {
    let plugin = plugin();
    for folder in ["lab", "it's a \"lab\"; $HOME `x` \\ ü 한"] {
        let lab = Lab::builder().without_git().folder(folder).build().unwrap();
        let mut scene = Scene::in_lab(&plugin, lab).unwrap();
        scene.arm().unwrap();
        let before = list_all_files(&scene).unwrap();
        let (shown, _) = settings(&mut scene).unwrap();
        let line = shown["statusLine"]["command"].as_str().unwrap().to_owned();
        assert!(
            line.contains(&plugin.to_string_lossy().into_owned()),
            "{line}"
        );
        // What the plugin keeps over its updates comes first.
        let kept = scene.session.plugin_data().join("bin");
        std::fs::create_dir_all(&kept).unwrap();
        std::os::unix::fs::symlink(plugin.join("bin/omo"), kept.join("omo")).unwrap();
        let (shown, wrapping) = settings(&mut scene).unwrap();
        assert_eq!(shown["statusLine"]["type"], "command");
        let line = shown["statusLine"]["command"].as_str().unwrap();
        assert!(line.contains("plugins/data/omo-inline/bin/omo"), "{line}");
        assert_eq!(
            by_a_shell(&scene, line).unwrap(),
            format!("ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
        );
        let wrapping = wrapping.replace("THE COMMAND THAT YOU HAVE NOW", "echo main");
        assert_eq!(
            by_a_shell(&scene, &wrapping).unwrap(),
            format!("main · ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n")
        );
        let mut after = list_all_files(&scene).unwrap();
        after.retain(|path, _| before.contains_key(path));
        let changed: Vec<_> = before
            .iter()
            .filter(|(path, was)| after.get(*path) != Some(was))
            .collect();
        // The folder that the link was made in, and the state's, where the prompt was seen.
        let expected = |path: &std::path::Path| {
            path.starts_with(scene.lab.state_folder())
                || scene.session.plugin_data().starts_with(path)
        };
        assert!(
            changed.iter().all(|(path, _)| expected(path)),
            "{changed:?}"
        );
    }
}

/// The settings of the user of a scene.
fn user_settings(scene: &Scene) -> std::path::PathBuf {
    scene.lab.home().join(".claude/settings.json")
}

/// A scene whose user has these settings.
fn with_settings(text: Option<&str>) -> Result<Scene> {
    let scene = Scene::in_lab(&plugin(), Lab::builder().without_git().build()?)?;
    match text {
        Some(text) => {
            std::fs::create_dir_all(scene.lab.home().join(".claude"))?;
            std::fs::write(user_settings(&scene), text)?;
        }
        None => drop(std::fs::remove_file(user_settings(&scene))),
    }
    Ok(scene)
}

/// Settings as people have them, with the command in front of omo's.
const SETTINGS: [(Option<&str>, Option<&str>); 7] = [
    (None, None),
    (Some("{}"), None),
    (Some("{}\n"), None),
    (
        Some("{\n  \"model\": \"opus\",\n  \"z\": [1.50, \"ü\\u00fc\"],\n  \"a\": {}\n}\n"),
        None,
    ),
    (Some("{ \"model\":  \"opus\" }"), None),
    (
        Some(
            "{\n\t\"statusLine\": {\"padding\": 0, \"type\": \"command\", \"command\": \"echo \\\"it\\u0027s main\\\"\"},\n\t\"b\": 1\n}\n",
        ),
        Some("it's main · "),
    ),
    (
        Some("{\"b\":1,\"statusLine\":{\"type\":\"command\",\"command\":\"printf main\"}}"),
        Some("main · "),
    ),
];

#[test]
fn a_status_line_is_written_beside_the_one_that_is_there_and_taken_back_byte_for_byte() {
    for (before, in_front) in SETTINGS {
        let mut scene = with_settings(before).unwrap();
        let file = user_settings(&scene);
        let said = scene.asks("/omo:statusline on").unwrap();
        let text = std::fs::read_to_string(&file).unwrap();
        let written: Value = serde_json::from_str(&text).unwrap();
        let line = written["statusLine"]["command"]
            .as_str()
            .unwrap()
            .to_owned();
        assert!(
            said.contains(&file.display().to_string()) && said.contains("`/omo:statusline off`"),
            "{said}"
        );
        let is_kept = said.contains("after the one that you have");
        assert_eq!(is_kept, in_front.is_some(), "{said}");
        if let Some(before) = before {
            // Every other key stays, in its place; the copy is the file as it was.
            let mut rest = written.clone();
            let old: Value = serde_json::from_str(before).unwrap();
            match old.get("statusLine") {
                Some(line) => rest["statusLine"] = line.clone(),
                None => drop(rest.as_object_mut().unwrap().remove("statusLine")),
            }
            assert_eq!(rest, old);
            let copy = said
                .split("The file as it was: ")
                .nth(1)
                .unwrap()
                .split("; ")
                .next()
                .unwrap();
            assert_eq!(std::fs::read_to_string(copy).unwrap(), before);
        }
        scene.arm().unwrap();
        let in_front = in_front.unwrap_or_default();
        let shown = format!("{in_front}ulw 0/{MAX_BLOCKS} · 0m · Esc pauses\n");
        assert_eq!(by_a_shell(&scene, &line).unwrap(), shown, "{line}");
        let again = scene.asks("/omo:statusline on").unwrap();
        assert!(again.contains("names omo already"), "{again}");
        assert_eq!(std::fs::read_to_string(&file).unwrap(), text);
        let off = scene.asks("/omo:statusline off").unwrap();
        assert!(off.contains("is as it was before"), "{off}");
        assert_eq!(std::fs::read_to_string(&file).ok().as_deref(), before);
        assert!(
            scene
                .asks("/omo:statusline off")
                .unwrap()
                .contains("no omo is in")
        );
    }
}

#[test]
fn what_was_changed_since_stays_when_a_status_line_is_taken_out() {
    let filled = SETTINGS
        .into_iter()
        .filter(|(before, _)| before.is_some_and(|text| text.len() > 3));
    for ((before, _), is_copy_lost) in filled.flat_map(|row| [(row, false), (row, true)]) {
        let mut scene = with_settings(before).unwrap();
        let file = user_settings(&scene);
        drop(scene.asks("/omo:statusline on").unwrap());
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replacen('{', "{\"since\": true,", 1)).unwrap();
        if is_copy_lost {
            let copy = scene
                .lab
                .home()
                .join(".local/state/omo/settings.json.before-statusline");
            std::fs::write(
                copy,
                "{\"statusLine\": {\"type\": \"command\", \"command\": \"other\"}}",
            )
            .unwrap();
        }
        let off = scene.asks("/omo:statusline off").unwrap();
        assert!(off.contains("your other changes"), "{off}");
        let mut left: Value =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        assert_eq!(
            left.as_object_mut().unwrap().remove("since"),
            Some(json!(true))
        );
        assert_eq!(
            left,
            serde_json::from_str::<Value>(before.unwrap()).unwrap()
        );
    }
}

#[test]
fn settings_that_omo_cannot_edit_safely_stay_as_they_are() {
    for (text, why) in [
        ("{ // mine\n}", "not valid JSON"),
        ("{\"a\": 1,}", "not valid JSON"),
        ("[]", "no JSON object"),
        ("", "not valid JSON"),
        (
            "{\"statusLine\": {\"type\": \"other\", \"command\": \"x\"}}",
            "not a command that omo can keep",
        ),
        ("{\"statusLine\": 1}", "not a command that omo can keep"),
    ] {
        let mut scene = with_settings(Some(text)).unwrap();
        let said = scene.asks("/omo:statusline on").unwrap();
        assert!(
            said.contains(why) && said.contains("stays as it is"),
            "{said}"
        );
        let off = scene.asks("/omo:statusline off").unwrap();
        let is_no_settings = why.contains("JSON");
        assert_eq!(off.contains("stays as it is"), is_no_settings, "{off}");
        assert_eq!(
            std::fs::read_to_string(user_settings(&scene)).unwrap(),
            text
        );
    }
    let other =
        "{\"statusLine\": {\"type\": \"command\", \"command\": \"/usr/bin/tokyomo statusline\"}}";
    let mut scene = with_settings(Some(other)).unwrap();
    drop(scene.asks("/omo:statusline off").unwrap());
    assert_eq!(
        std::fs::read_to_string(user_settings(&scene)).unwrap(),
        other
    );
    let mut scene = with_settings(Some("{}")).unwrap();
    for wrong in ["/omo:statusline on now", "/omo:statusline of"] {
        let said = scene.asks(wrong).unwrap();
        assert!(said.contains("usage: /omo:statusline [on|off]"), "{said}");
    }
}

#[test]
fn a_link_to_settings_stays_a_link() {
    let mut scene = with_settings(None).unwrap();
    let (file, kept) = (
        user_settings(&scene),
        scene.lab.home().join("dotfiles.json"),
    );
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(&kept, "{\n  \"model\": \"opus\"\n}\n").unwrap();
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    drop(scene.asks("/omo:statusline on").unwrap());
    assert!(
        std::fs::read_to_string(&kept)
            .unwrap()
            .contains("statusline")
    );
    drop(scene.asks("/omo:statusline off").unwrap());
    assert_eq!(
        std::fs::read_to_string(&kept).unwrap(),
        "{\n  \"model\": \"opus\"\n}\n"
    );
    assert_eq!(std::fs::read_link(&file).unwrap(), kept);
    std::fs::remove_file(&kept).unwrap();
    let said = scene.asks("/omo:statusline on").unwrap();
    assert!(said.contains("leads nowhere") && !kept.exists(), "{said}");
}

#[test]
fn the_start_of_a_run_offers_it_once_and_not_to_who_has_it_or_wants_none() {
    let offer = "`/omo:statusline on` shows a run below the prompt";
    let starts =
        |scene: &mut Scene| -> Result<String> { Ok(format!("{:?}", scene.prompt("ulw fix it")?)) };
    let mut scene = with_settings(Some("{}")).unwrap();
    assert!(starts(&mut scene).unwrap().contains(offer));
    drop(scene.prompt("ulw off").unwrap());
    assert!(
        !starts(&mut scene).unwrap().contains(offer),
        "twice in a session"
    );
    let mut second = scene.another().unwrap();
    let said = require_sound(&second.prompt("ulw fix it").unwrap()).unwrap();
    assert!(format!("{said:?}").contains(offer), "another session");
    drop(scene.asks("/omo:statusline on").unwrap());
    let mut third = scene.another().unwrap();
    let said = require_sound(&third.prompt("ulw fix it").unwrap()).unwrap();
    assert!(!format!("{said:?}").contains(offer), "it is on");
    drop(scene.asks("/omo:statusline off").unwrap());
    let mut fourth = scene.another().unwrap();
    let said = require_sound(&fourth.prompt("ulw fix it").unwrap()).unwrap();
    assert!(!format!("{said:?}").contains(offer), "it was turned off");
}
