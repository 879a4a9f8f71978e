//! Prompts while omo is not built: none that omo would have answered goes by without a word, and no other
//! costs one.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use omo_core::keyword::{Keywords, PromptReading, read_prompt};
use omo_testkit::{StandIn, run_command};
use serde_json::{Value, json};

use crate::fresh_clone::{Fresh, VERSION};
use crate::scene::require_sound;

/// What the prompt's launcher says to the user.
fn line(session: &mut StandIn, prompt: &str) -> Result<Option<String>> {
    let reported = require_sound(&session.prompt(prompt)?)?
        .system_message()
        .map(str::to_owned);
    // It sets nothing off where it is pasted into a prompt.
    let reading = reported
        .as_deref()
        .map_or(PromptReading::Nothing, |reported| {
            read_prompt(reported, &Keywords::default())
        });
    ensure!(
        reading == PromptReading::Nothing,
        "{reported:?} is read as {reading:?}"
    );
    Ok(reported)
}

/// Prompts, and whether omo would have answered them.
const PROMPTS: [(&str, bool); 35] = [
    ("ulw fix it", true),
    ("fix it, ULW.", true),
    ("first line\nulw\tfix", true),
    ("한국어로ulw로 고쳐줘", true),
    ("Ultrawork: fix the parser", true),
    ("ulw/ultrawork fix", true),
    ("ulw...", true),
    ("(ulw)", true),
    ("ulw", true),
    ("say \"ulw\" \\ and go", true),
    ("/omo:status", true),
    ("  /omo:ulw fix", true),
    ("/ulw fix", true),
    ("<div> is broken, ulw fix", true),
    ("fix it", false),
    ("", false),
    ("bulwark", false),
    ("ulws", false),
    ("ulw-like", false),
    ("src/ulw/mod.rs", false),
    ("--ulw", false),
    ("ulw_x and x_ulw", false),
    ("C:\\ulw\\new", false),
    ("\\ulw", false),
    ("a@ulw", false),
    ("ulw.rs", false),
    ("x.ulw", false),
    ("#ulw", false),
    ("see /omo:status", false),
    ("/ulwx", false),
    ("/ultrawork fix", false),
    ("/home/me/omo:x", false),
    ("<task-notification>ulw</task-notification>", false),
    ("<command-name>/omo:ulw</command-name> ulw", false),
    ("\u{1}\u{7f}\u{2028}", false),
];

#[test]
fn a_prompt_that_omo_would_have_answered_says_that_nothing_holds_it() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    let mut session = fresh.session()?;
    for (prompt, is_for_omo) in PROMPTS {
        let reported = line(&mut session, prompt)?;
        ensure!(reported.is_some() == is_for_omo, "{prompt:?}: {reported:?}");
        let starts = reported
            .is_none_or(|reported| reported.starts_with("[omo] this prompt is not held: omo "));
        ensure!(starts, "{prompt:?}");
    }
    fresh.cargo.wait_for_builds(1)?;
    ensure!(
        fresh.cargo.builds() == 1,
        "built {} times",
        fresh.cargo.builds()
    );
    fresh.cargo.release()?;
    fresh.outcome()?;
    Ok(())
}

/// Installed in an open session, no start of a session comes before its prompts.
#[test]
fn any_prompt_has_it_built_without_a_word() -> Result<()> {
    let fresh = Fresh::new()?;
    let mut session = fresh.session()?;
    ensure!(session.prompt("hello")?.is_silent());
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    // No user was told to wait, and so none is told that it is over.
    let answer = require_sound(&session.prompt("ulw fix it")?)?;
    ensure!(
        answer
            .system_message()
            .is_some_and(|line| line.starts_with("[omo] on: ")),
        "{answer:?}"
    );
    Ok(())
}

/// Neither a folder nor a session's file that is called like a keyword is a prompt; and what a prompt
/// holds, it is answered with one whole line or none.
#[test]
fn only_the_prompt_counts_whatever_is_in_it() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    let mega = "\\\"ü \n".repeat(180_000);
    let input = |prompt: &str| {
        json!({
            "cwd": "/home/ulw \"prompt\":\"ulw now\"", "transcript_path": "/x/,\"prompt\": \"/omo:ulw", "prompt_id": "ulw",
            "hook_event_name": "UserPromptSubmit", "session_id": "ulw", "prompt": prompt,
        })
    };
    let launcher = fresh.clone.join("bin/omo-user-prompt-submit");
    let reported = |input: &str| -> Result<Option<String>> {
        let mut command = fresh.lab.command(&launcher);
        command.env("CLAUDE_PLUGIN_DATA", fresh.data());
        Ok(require_sound(&run_command(&command, input)?)?
            .system_message()
            .map(str::to_owned))
    };
    for (prompt, is_for_omo) in [
        ("\"prompt\":\"ulw".to_owned(), true),
        ("\\\",\"prompt\":\"fix".to_owned(), false),
        ("fix\\\\\"}".to_owned(), false),
        (mega.clone(), false),
        (format!("ulw {mega}"), true),
    ] {
        let found = reported(&format!("{}\n", input(&prompt)))?;
        ensure!(found.is_some() == is_for_omo, "{prompt:.40?}: {found:?}");
    }
    for input in [
        "",
        "\n",
        "{",
        "ulw\n",
        "{\"prompt\":\"fix",
        "{\"prompt\":\"ulw",
        "{\"prompt\": 1}\n",
        "{\"prompt\":null,\"ulw\":1}\n",
    ] {
        let is_for_omo = input.contains("\"ulw") && input.contains("prompt\":\"");
        ensure!(reported(input)?.is_some() == is_for_omo, "{input}");
    }
    fresh.cargo.wait_for_builds(1)?;
    fresh.cargo.release()?;
    fresh.outcome()?;
    Ok(())
}

#[test]
fn every_shell_reads_a_prompt_alike() -> Result<()> {
    each_reads_alike(&["/bin/sh", "bash", "bash --posix"])
}

#[test]
#[ignore = "needs dash: cargo xtask test"]
fn dash_reads_a_prompt_alike() -> Result<()> {
    each_reads_alike(&["dash"])
}

#[test]
#[ignore = "needs busybox: cargo xtask test"]
fn busybox_reads_a_prompt_alike() -> Result<()> {
    each_reads_alike(&["busybox sh"])
}

fn each_reads_alike(shells: &[&str]) -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.fail_builds()?;
    fresh.line_of_a_new_session()?;
    fresh.outcome()?;
    for shell in shells {
        let mut words = shell.split(' ');
        let program = words.next().context("no shell")?;
        for (prompt, is_for_omo) in PROMPTS {
            let mut command = fresh.lab.command(program);
            command
                .args(words.clone())
                .arg(fresh.clone.join("scripts/not-built-yet.sh"));
            command
                .args([VERSION, "omo-user-prompt-submit"])
                .env("CLAUDE_PLUGIN_DATA", fresh.data());
            let run = run_command(&command, &format!("{}\n", json!({ "prompt": prompt })))?;
            ensure!(run.stderr.is_empty(), "{shell}: {run:?}");
            let reported = require_sound(&run)?.system_message().map(str::to_owned);
            ensure!(
                reported.is_some() == is_for_omo,
                "{shell}: {prompt:?}: {reported:?}"
            );
        }
    }
    Ok(())
}

#[test]
fn a_failed_build_is_reported_with_each_prompt_that_waits_for_it() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.fail_builds()?;
    let mut session = fresh.session()?;
    ensure!(line(&mut session, "ulw fix it")?.is_some_and(|line| line.contains("is being built")));
    fresh.outcome()?;
    for _ in 0..2 {
        let reported = line(&mut session, "ulw fix it")?.context("nothing was said")?;
        let wanted = format!(
            "[omo] this prompt is not held: building omo {VERSION} failed: cargo build ended with 101. "
        );
        ensure!(
            reported.starts_with(&wanted) && reported.contains(", then send it again."),
            "{reported}"
        );
        ensure!(session.prompt("fix it")?.is_silent());
    }
    ensure!(fresh.cargo.builds() == 1, "built again");
    Ok(())
}

/// Between the hooks and `omo`: sessions are held, and what a model calls says how far it is.
#[test]
fn the_hooks_hold_before_omo_is_built() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_package_builds("omo-cli")?;
    let mut session = fresh.session()?;
    line(&mut session, "ulw fix it")?;
    let hooks = fresh.binaries_folder().join(VERSION).join("omo-hook");
    omo_testkit::wait_until("the hooks", || hooks.exists().then_some(()))?;
    let reported = require_sound(&session.prompt("ulw fix it")?)?;
    ensure!(
        reported
            .additional_context()
            .is_some_and(|text| text.contains("<ultrawork-mode>")),
        "{reported:?}"
    );
    ensure!(
        require_sound(&session.stop("Some of it is done.")?)?.blocks(),
        "not held"
    );
    let omo = || {
        run_command(
            fresh
                .lab
                .command(fresh.clone.join("bin/omo"))
                .arg("--version"),
            "",
        )
    };
    omo_testkit::wait_until("the build of omo", || {
        fresh
            .cargo
            .recorded_input("arguments")
            .contains("omo-cli")
            .then_some(())
    })?;
    let run = omo()?;
    let wanted = format!("error: omo {VERSION} is still being built (crate 12 of 57)\nhint: ");
    ensure!(
        run.status.code() == Some(5) && run.stderr.starts_with(&wanted),
        "{run:?}"
    );
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    ensure!(omo()?.stdout == format!("omo {VERSION}\n"));

    // A build that was ended in between is gone on with, and the hooks are not built anew.
    fs::remove_file(fresh.binaries_folder().join(VERSION).join("omo"))?;
    fs::remove_file(fresh.log())?;
    ensure!(
        require_sound(&session.prompt("go on")?)?
            .system_message()
            .is_none()
    );
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    ensure!(fresh.cargo.builds() == 1, "the hooks were built again");
    Ok(())
}

/// After an update the version before holds sessions, and no user has to wait for the new one.
#[test]
fn the_version_before_holds_until_the_new_one_is_built() -> Result<()> {
    let fresh = Fresh::new()?;
    fresh.cargo.block_builds()?;
    fresh.lay_binaries("0.0.9")?;
    symlink("0.0.9/omo", fresh.binaries_folder().join("omo"))?;
    let mut session = fresh.session()?;
    let reported = require_sound(&session.prompt("ulw fix it")?)?;
    ensure!(crate::scene::is_contract(&reported), "{reported:?}");
    fresh.cargo.wait_for_builds(1)?;
    ensure!(
        require_sound(&session.stop("Some of it is done.")?)?.blocks(),
        "not held"
    );
    fresh.cargo.release()?;
    ensure!(fresh.outcome()? == format!("built {VERSION}"));
    // No user was told to wait.
    ensure!(
        require_sound(&session.prompt("go on")?)?
            .system_message()
            .is_none()
    );
    ensure!(fresh.cargo.builds() == 1);
    Ok(())
}

/// npm leaves the part for a platform out without a word.
#[test]
fn a_package_without_its_platform_says_so() -> Result<()> {
    let fresh = Fresh::new()?;
    fs::remove_file(fresh.clone.join("Cargo.toml"))?;
    fs::create_dir_all(fresh.clone.join("node_modules/@omo-cc/other-cpu/bin"))?;
    let mut session = fresh.session()?;
    let start =
        crate::fresh_clone::session_start_line(&session, "startup")?.context("nothing was said")?;
    let prompt = line(&mut session, "/omo:status")?.context("nothing was said")?;
    for reported in [start, prompt] {
        ensure!(
            reported.contains("without its programs for this platform (")
                && reported.contains("/plugin install"),
            "{reported}"
        );
    }
    ensure!(
        crate::fresh_clone::session_start_line(&session, "resume")?.is_none()
            && session.prompt("hello")?.is_silent()
    );
    ensure!(
        fresh.cargo.builds() == 0 && !fresh.log().exists(),
        "something is built"
    );
    Ok(())
}

#[test]
fn where_omo_is_turned_off_nothing_is_said_or_built() -> Result<()> {
    let fresh = Fresh::new()?;
    for (launcher, input) in [
        ("omo-session-start", json!({"source": "startup"})),
        ("omo-user-prompt-submit", json!({"prompt": "ulw"})),
    ] {
        for name in ["OMO_DISABLE", "OMO_CHECK"] {
            let mut command = fresh.lab.command(fresh.clone.join("bin").join(launcher));
            command
                .env("CLAUDE_PLUGIN_DATA", fresh.data())
                .env(name, "1");
            ensure!(
                run_command(&command, &format!("{}\n", Value::to_string(&input)))?.is_silent(),
                "{launcher} {name}"
            );
        }
    }
    ensure!(fresh.cargo.builds() == 0 && !fresh.data().exists());
    Ok(())
}

/// A finished build of an installed plugin is found in terminals; one that was only tried out is not.
#[test]
fn a_finished_build_is_linked_for_terminals() -> Result<()> {
    for (name, is_linked) in [("omo-omo", true), ("omo-inline", false)] {
        let fresh = Fresh::new()?;
        let home = fresh.lab.home();
        fs::create_dir_all(home.join(".local"))?;
        let data = home.join(".claude/plugins/data").join(name);
        let mut start = fresh.lab.command(fresh.clone.join("bin/omo-session-start"));
        start.env("CLAUDE_PLUGIN_DATA", &data);
        ensure!(
            run_command(&start, "{\"source\":\"startup\"}\n")?
                .status
                .success()
        );
        let log = data.join("build.log");
        omo_tests::fake_cargo::wait_for_build_outcome(&log)?;
        let link = home.join(".local/bin/omo");
        ensure!(
            link.exists() == is_linked,
            "{name}: {}",
            fs::read_to_string(&log)?
        );
        if is_linked {
            ensure!(fs::read_link(&link)? == data.join("bin/omo"));
            let run = run_command(fresh.lab.command(&link).arg("--version"), "")?;
            ensure!(run.stdout == format!("omo {VERSION}\n"), "{run:?}");
            ensure!(is_program(
                &data.join("bin").join(VERSION).join("omo-hook")
            )?);
        }
    }
    Ok(())
}

fn is_program(path: &Path) -> Result<bool> {
    Ok(fs::metadata(path)?.permissions().mode() & 0o111 != 0)
}
