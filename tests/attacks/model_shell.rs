//! What the model's own shell asks for while it hides the client above it, what was approved without a person, and
//! which git a run is judged with.

use std::fs;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::wait_until;
use serde_json::json;

use crate::prompt_origin::{approval_code, checks_of_run, fire_in_client, is_not_approved};
use crate::target_project::{Row, Target, play};

/// Nothing of the environment but what a program needs, in the place of the shell.
const EMPTY: &str = "exec env -i TERM=xterm HOME=\"$HOME\" PATH=\"$PATH\"";
/// The same with another folder of the client, and with another home.
const MOVED: [&str; 2] = [
    "exec env -i TERM=xterm HOME=\"$HOME\" PATH=\"$PATH\" CLAUDE_CONFIG_DIR=/nowhere",
    "exec env -i TERM=xterm HOME=/nowhere XDG_STATE_HOME=\"$HOME/.local/state\" XDG_CONFIG_HOME=\"$HOME/.config\" PATH=\"$PATH\"",
];
/// A client that lists itself, works elsewhere, and runs a command in a shell as the real one does.
const CLIENT: &str = "mkdir -p ~/.claude/sessions
began=$(cut -d ' ' -f 22 /proc/$$/stat)
list=~/.claude/sessions/$$.json
echo \"{\\\"pid\\\":$$,\\\"sessionId\\\":\\\"$1\\\",\\\"cwd\\\":\\\"$2\\\",\\\"procStart\\\":\\\"$began\\\",\\\"startedAt\\\":1}\" > $list
CLAUDECODE=1 CLAUDE_CODE_SESSION_ID=$1 CLAUDE_PID=$$ setsid -w sh -c \"$3\"
status=$?
rm -f $list
exit $status";

/// What is named of a check that no person approved.
const NAMED: &str = "check `lint` of omo.toml approved";

const ROWS: &[Row] = &[
    Row {
        id: "f2 folder",
        what: "the model's shell says that the client's own folder or its home is another one",
        play: |target| {
            target.write("omo.toml", "[[check]]\nrun = \"true\"\n")?;
            target.begin()?;
            let before = checks_of_run(target)?;
            let [checks, file] = digests(target)?;
            let remove = format!("omo check remove python3 --digest {checks}");
            let approve = format!("omo check approve --digest {file}");
            let at_a_terminal =
                "script -qec 'omo check remove python3' /dev/null < answer".to_owned();
            fs::write(target.scene.lab.project().join("answer"), "y\n")?;
            for wrap in MOVED {
                for command in [&remove, &approve, &at_a_terminal] {
                    let said = below_listed_client(target, &format!("{wrap} {command}"))?;
                    ensure!(
                        said.contains("from its own shell"),
                        "{wrap} {command}: {said}"
                    );
                }
            }
            ensure!(checks_of_run(target)? == before);
            is_not_approved(target)
        },
    },
    Row {
        id: "f2 list",
        what: "the client's list of its sessions is not there, or says nothing",
        play: |target| {
            target.write("omo.toml", "[[check]]\nrun = \"true\"\n")?;
            target.scene.session.be_the_client();
            target.begin()?;
            let before = checks_of_run(target)?;
            let [checks, file] = digests(target)?;
            for wrap in [EMPTY, MOVED[0], MOVED[1]] {
                for command in [
                    format!("remove python3 --digest {checks}"),
                    format!("approve --digest {file}"),
                ] {
                    let said = in_shell(target, &format!("{wrap} omo check {command}"))?;
                    ensure!(
                        said.contains("from its own shell"),
                        "{wrap} {command}: {said}"
                    );
                }
            }
            ensure!(checks_of_run(target)? == before);
            // A run that is over changes nothing about that.
            target.scene.prompt("/omo:stop-continuation")?;
            let said = in_shell(
                target,
                &format!("{EMPTY} omo check approve --digest {file}"),
            )?;
            ensure!(said.contains("from its own shell"), "{said}");
            Ok(())
        },
    },
    Row {
        id: "f2 control",
        what: "a command above which no client is known is heard, and named",
        play: |target| {
            target.begin()?;
            let [checks, _] = digests(target)?;
            let said = in_shell(
                target,
                &format!("{EMPTY} omo check remove python3 --digest {checks}"),
            )?;
            ensure!(said.contains("decides no more"), "{said}");
            ensure!(target.scene.field("/weakened/0/by")? == "detached");
            Ok(())
        },
    },
    Row {
        id: "f2 nested",
        what: "a client in the model's shell, with another folder for the client's files",
        play: |target| {
            target.scene.session.be_the_client();
            target.begin()?;
            let before = checks_of_run(target)?;
            let own = target.scene.session.session().to_owned();
            for wrap in [EMPTY, MOVED[0]] {
                let prompt = json!({"prompt": "/omo:check remove python3"});
                let said = fire_in_client(target, &[], wrap, &own, "UserPromptSubmit", &prompt)?;
                ensure!(said.contains("only a person"), "{wrap}: {said}");
            }
            ensure!(checks_of_run(target)? == before);
            Ok(())
        },
    },
    Row {
        id: "f2 approval",
        what: "a process without a client approves omo.toml before the run: each of its checks is named",
        play: |target| {
            target.write("omo.toml", "[[check]]\nname = \"lint\"\nrun = \"true\"\n")?;
            let [_, file] = digests(target)?;
            let approve = format!("omo check approve --digest {file}; touch ~/done");
            in_shell(
                target,
                &format!("setsid -f env -i HOME=\"$HOME\" PATH=\"$PATH\" sh -c '{approve}'"),
            )?;
            let done = target.scene.lab.home().join("done");
            wait_until("the approval", || done.exists().then_some(()))?;
            target.begin()?;
            target.begin()?;
            ensure!(
                target.scene.field("/weakened/1")?.is_null(),
                "{:?}",
                target.scene.entry()
            );
            let status = target.omo(&["status"], &[])?;
            ensure!(
                String::from_utf8_lossy(&status.stdout).contains(NAMED),
                "{status:?}"
            );
            target.fix()?;
            target.claim_reaches_review()?;
            target.review_agrees()?;
            let ending = target.scene.claim_ends("verified")?;
            ensure!(
                ending.contains(NAMED) && ending.contains("without a client or a terminal"),
                "{ending}"
            );
            Ok(())
        },
    },
    Row {
        id: "f2 approved by a person",
        what: "what a person typed to approve is not named, whatever approves it once more",
        play: |target| {
            target.write("omo.toml", "[[check]]\nname = \"lint\"\nrun = \"true\"\n")?;
            let code = approval_code(
                target
                    .scene
                    .prompt("/omo:check approve")?
                    .reason()
                    .unwrap_or_default(),
            )?;
            target.scene.prompt(&format!("/omo:check approve {code}"))?;
            target.begin()?;
            ensure!(
                target.scene.field("/gates/1/name")? == "lint"
                    || target.scene.field("/gates/0/name")? == "lint"
            );
            ensure!(
                target.scene.field("/weakened/0")?.is_null(),
                "{:?}",
                target.scene.entry()
            );
            Ok(())
        },
    },
    Row {
        id: "f10",
        what: "the project's settings name another git, and steer the programs that omo starts",
        play: |target| {
            target.begin()?;
            let path = target
                .scene
                .lab
                .environment()
                .get("PATH")
                .cloned()
                .context("no PATH")?;
            let mut programs = std::env::split_paths(&path).map(|folder| folder.join("git"));
            let git = programs
                .find(|git| git.is_file())
                .context("there is no git")?;
            let folder = target.scene.lab.home().join("steered");
            fs::create_dir_all(&folder)?;
            let text = format!(
                "#!/bin/sh\ntouch '{}/ran'\nexec {} \"$@\"\n",
                folder.display(),
                git.display()
            );
            fs::write(folder.join("git"), text)?;
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            fs::set_permissions(folder.join("git"), mode)?;
            let path = format!("{}:{path}", folder.display());
            let trace = folder.join("trace").display().to_string();
            target.scene.session = target.scene.session.clone().with_env("PATH", &path);
            // Every git that sees this variable writes there.
            target.scene.session = target
                .scene
                .session
                .clone()
                .with_env("LD_DEBUG_OUTPUT", &trace)
                .with_env("LD_DEBUG", "files");
            target.fix()?;
            target.claim_reaches_review()?;
            ensure!(
                !folder.join("ran").exists(),
                "the git of the settings was run"
            );
            target.review_agrees()?;
            target.scene.claim_ends("verified")?;
            ensure!(
                !folder.join("ran").exists(),
                "the git of the settings was run"
            );
            let traced =
                |entry: &fs::DirEntry| entry.file_name().to_string_lossy().starts_with("trace");
            let traces: Vec<_> = fs::read_dir(&folder)?
                .flatten()
                .filter(traced)
                .map(|entry| entry.path())
                .collect();
            let of_git = |path: &std::path::PathBuf| {
                fs::read_to_string(path).is_ok_and(|text| text.contains("/git"))
            };
            ensure!(
                !traces.iter().any(of_git),
                "the settings steered git: {traces:?}"
            );
            Ok(())
        },
    },
];

#[test]
#[ignore = "needs python3: cargo xtask test"]
fn the_model_s_shell_hides_no_client_above_it() {
    play(ROWS).unwrap();
}

/// The digests of the session's checks, where it has some, and of omo.toml.
fn digests(target: &Target) -> Result<[String; 2]> {
    let said = String::from_utf8(target.omo(&["check", "list"], &[])?.stdout)?;
    let after = |start: &str| {
        said.lines()
            .find_map(|line| line.strip_prefix(start))
            .unwrap_or_default()
            .to_owned()
    };
    Ok([
        after("digest of these checks: "),
        after("digest of omo.toml: "),
    ])
}

/// A command in the shell of a client that lists itself; what it says.
fn below_listed_client(target: &Target, command: &str) -> Result<String> {
    let project = target.scene.lab.project().display().to_string();
    run(
        target,
        &[
            "-c",
            CLIENT,
            "client",
            target.scene.session.session(),
            &project,
            command,
        ],
    )
}

/// A command in a shell whose environment names no session; what it says.
fn in_shell(target: &Target, command: &str) -> Result<String> {
    run(target, &["-c", command])
}

fn run(target: &Target, arguments: &[&str]) -> Result<String> {
    let lab = &target.scene.lab;
    let path = format!(
        "{}/bin:{}",
        target.scene.plugin.display(),
        lab.environment()["PATH"]
    );
    let mut shell = Command::new("sh");
    shell
        .args(arguments)
        .current_dir(lab.project())
        .env_clear()
        .envs(lab.environment())
        .env("PATH", path);
    let output = shell.output()?;
    Ok(String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned())
}
