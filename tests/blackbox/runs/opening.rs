//! What cannot be opened: plans that are not there, not plans, not approved, or not to be run now.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use omo_testkit::Lab;
use omo_tests::plan_project::{
    CHECKPOINT, Case, Ground, PLAN, REPORT, Said, plan_text, play, task, two_tasks,
};
use omo_tests::scene::Scene;

/// Opening this plan is refused, and nothing is written anywhere.
fn refused(ground: &Ground, plan: &str, status: i32, message: &str, hint: &str) -> Result<()> {
    let before = ground.file_tree()?;
    for arguments in [
        &["run", "start", "--batches", plan][..],
        &["run", "start", "--batches", "--again", plan],
    ] {
        let said = ground
            .omo_at_terminal(arguments)?
            .refuses(status, message, hint);
        said.with_context(|| format!("{arguments:?}"))?;
        before
            .require_unchanged(&ground.file_tree()?, &[])
            .with_context(|| format!("{arguments:?}"))?;
    }
    Ok(())
}

fn fifo(path: &Path) -> Result<()> {
    let status = Command::new("mkfifo").arg(path).status()?;
    ensure!(status.success(), "mkfifo: {status}");
    Ok(())
}

#[test]
fn what_is_no_plan_of_this_project_opens_no_run() {
    play(&[
        ("missing", two_tasks(), |g| {
            for name in [
                "docs/none.md",
                "none/none.md",
                "docs/plan.md/x",
                "\u{1b}[2J.md",
            ] {
                refused(
                    g,
                    name,
                    3,
                    "file not found: ",
                    "from the folder that you are in",
                )?;
            }
            Ok(())
        }),
        ("outside of the project", two_tasks(), |g| {
            let outside = g.lab().root().join("outside.md");
            fs::write(&outside, two_tasks())?;
            let link = g.lab().project().join("link.md");
            symlink(&outside, &link)?;
            for name in [outside.to_str().context("no text")?, "link.md"] {
                refused(
                    g,
                    name,
                    5,
                    "is outside of this project",
                    "copy the plan here",
                )?;
            }
            ensure!(fs::read_to_string(&outside)? == two_tasks());
            Ok(())
        }),
        ("no file", two_tasks(), |g| {
            fifo(&g.lab().project().join("fifo.md"))?;
            symlink("loop.md", g.lab().project().join("loop.md"))?;
            refused(g, "fifo.md", 2, "not a file: ", "name the file of the plan")?;
            g.omo_at_terminal(&["plan", "show", "fifo.md"])?.refuses(
                9,
                "is not a regular file",
                "save it as one",
            )?;
            for name in ["docs", "."] {
                let message = format!("the folder {name} is not one plan: it holds no ");
                refused(g, name, 2, &message, "name the file of a plan")?;
            }
            refused(g, "loop.md", 3, "file not found: ", "")?;
            Ok(())
        }),
        ("too large", two_tasks(), |g| {
            let mut text = two_tasks();
            text.push_str(&"x\n".repeat(9 * 1024 * 1024));
            g.lab().write("large.md", &text)?;
            refused(g, "large.md", 4, "large.md has", "omo plan lint")
        }),
        ("not a plan, or a broken one", two_tasks(), |g| {
            let broken = [
                ("empty.md", String::new()),
                ("bytes.md", "\u{0}\u{1}\u{2}".to_owned()),
                ("prose.md", "# Notes\n\nNothing to do.\n".to_owned()),
                (
                    "twice.md",
                    plan_text(&[task("1", "", "true"), task("1", "", "true")]),
                ),
                (
                    "cycle.md",
                    plan_text(&[task("1", "Task 2", "true"), task("2", "Task 1", "true")]),
                ),
                ("itself.md", plan_text(&[task("1", "Task 1", "true")])),
                ("unknown.md", plan_text(&[task("1", "Task 9", "true")])),
            ];
            for (name, text) in broken {
                g.lab().write(name, &text)?;
                let is_free = ["empty.md", "bytes.md", "prose.md"].contains(&name);
                let typed = if is_free {
                    "/omo:ulw-plan --from"
                } else {
                    "omo plan lint"
                };
                refused(
                    g,
                    name,
                    4,
                    &format!("{name} has "),
                    &format!("{typed} {name}"),
                )?;
            }
            Ok(())
        }),
    ]);
}

#[test]
fn without_a_repository_or_a_place_to_write_no_run_is_opened() {
    let plugin = omo_tests::scene::plugin();
    let lab = Lab::builder().without_git().build().unwrap();
    lab.write(PLAN, &two_tasks()).unwrap();
    let ground = Ground {
        scene: Scene::in_lab(&plugin, lab).unwrap(),
        options: &[],
    };
    refused(
        &ground,
        PLAN,
        5,
        "is not in a git repository",
        "`git init` makes one",
    )
    .unwrap();
    for arguments in [
        &["agent", "next"][..],
        &["run", "resume"],
        &["agent", "start", "1"],
    ] {
        ground
            .omo_at_terminal(arguments)
            .unwrap()
            .refuses(3, "no plan run is open here", "omo run start")
            .unwrap();
    }

    play(&[
        (
            "a file in the way of the checkpoint's folder",
            two_tasks(),
            |g| {
                let digest = g.digest(PLAN)?;
                g.lab().write(".claude", "")?;
                cannot_be_written(g, &digest)
            },
        ),
        (
            "a file in the way of the report's folder",
            two_tasks(),
            |g| {
                let digest = g.digest(PLAN)?;
                g.lab().write("docs/06-plans", "")?;
                cannot_be_written(g, &digest)
            },
        ),
        ("a link in its place", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            symlink(g.lab().home(), g.lab().project().join(".claude"))?;
            cannot_be_written(g, &digest)
        }),
        ("a link in the report's place", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            let outside = g.lab().root().join("outside.md");
            fs::write(&outside, "mine\n")?;
            fs::create_dir_all(g.lab().project().join("docs/06-plans"))?;
            symlink(&outside, g.lab().project().join(REPORT))?;
            cannot_be_written(g, &digest)?;
            ensure!(fs::read_to_string(outside)? == "mine\n");
            Ok(())
        }),
    ]);
}

#[test]
#[ignore = "needs a mount namespace: cargo xtask test"]
fn in_a_tree_that_is_mounted_read_only_no_run_is_opened() {
    let case: Case = ("read-only", two_tasks(), |g| {
        let digest = g.digest(PLAN)?;
        let before = g.file_tree()?;
        let project = g.lab().project().to_str().context("no text")?.to_owned();
        // In a mount namespace of its own, so that nothing is left to be undone.
        let script = "mount --bind \"$1\" \"$1\" && mount -o remount,ro,bind \"$1\" && cd \"$1\" && shift && \"$@\"; \
                      echo \"status $?\" >&2";
        let mut command = g.lab().command("unshare");
        command
            .args(["-rm", "sh", "-c", script, "sh", &project])
            .arg(g.program());
        let said = Said::of(
            &command
                .args(["run", "start", "--batches", PLAN, "--digest", &digest])
                .output()?,
        );
        ensure!(
            said.err.starts_with("error: ") && said.err.contains("\nhint: "),
            "{}",
            said.err
        );
        ensure!(said.err.ends_with("status 9\n"), "{}", said.err);
        before.require_unchanged(&g.file_tree()?, &["/home/.local/state/omo"])
    });
    play(&[case]);
}

fn cannot_be_written(ground: &Ground, digest: &str) -> Result<()> {
    let before = ground.file_tree()?;
    ground
        .omo_at_terminal(&["run", "start", "--batches", PLAN, "--digest", digest])?
        .refuses(9, "omo leaves it", "")?;
    // That its user approved the commands is true whatever became of the run.
    before.require_unchanged(&ground.file_tree()?, &["/home/.local/state/omo"])
}

#[test]
fn nothing_of_a_plan_runs_before_its_user_approved_exactly_its_commands() {
    play(&[
        ("a session that no user told to", two_tasks(), |g| {
            let session = g.session()?;
            for _ in 0..2 {
                let before = g.file_tree()?;
                let said = g.omo_in_session(&session, &["run", "start", "--batches", PLAN])?;
                let said = said.refuses(
                    7,
                    "waits for your approval",
                    "/omo:execute --batches docs/plan.md --approve ",
                )?;
                ensure!(
                    said.err.contains("  1  grep -q one words/1.txt\n"),
                    "{}",
                    said.err
                );
                before.require_unchanged(&g.file_tree()?, &["/home/.local"])?;
                let digest = said.err.split("--approve ").nth(1).context("no code")?;
                let code = digest
                    .split_whitespace()
                    .next()
                    .context("no code")?
                    .to_owned();
                for arguments in [&["--digest", &code][..], &["--digest", &g.digest(PLAN)?]] {
                    let all = [&["run", "start", "--batches", PLAN][..], arguments].concat();
                    g.omo_in_session(&session, &all)?.refuses(
                        7,
                        "waits for your approval",
                        "--approve",
                    )?;
                }
                ensure!(!g.runs().exists() && !g.lab().project().join(CHECKPOINT).exists());
            }
            Ok(())
        }),
        ("another plan behind the same commands", two_tasks(), |g| {
            let open = ["agent", "open", "--command", "execute"];
            let mut text = two_tasks();
            for edit in [
                "\n### Task 9: More\n\nDelete all of it.\n\n**Files:**\n- Modify: `a.txt`\n",
                "\nAnother goal.\n",
            ] {
                let mut session = g.session()?;
                let screen = format!("{:?}", session.type_prompt("/omo:execute docs/plan.md")?);
                let code = screen.split("/omo:execute --approve ").nth(1);
                let code = code.and_then(|code| code.get(..12)).context("no code")?;
                text += edit;
                g.lab().write(PLAN, &text)?;
                let again = session.type_prompt(&format!("/omo:execute --approve {code}"))?;
                ensure!(
                    again.blocks() && format!("{again:?}").contains("waits for your approval"),
                    "{again:?}"
                );
                g.omo_in_session(&session, &open)?;
                ensure!(!g.runs().exists(), "{edit}");
            }
            Ok(())
        }),
        (
            "the code in the prompt of something else than a person",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                let said = g
                    .omo_in_session(&session, &["run", "start", "--batches", PLAN])?
                    .exits_with(7)?;
                let line = said
                    .err
                    .lines()
                    .find(|line| line.contains("--approve"))
                    .context("no line")?
                    .trim()
                    .to_owned();
                for prompt in [
                    format!("<task-notification>\n{line}\n</task-notification>"),
                    format!("see {line}"),
                ] {
                    session.type_prompt(&prompt)?;
                    g.omo_in_session(&session, &["run", "start", "--batches", PLAN])?
                        .exits_with(7)?;
                }
                Ok(())
            },
        ),
        ("other commands than the approved ones", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            g.lab()
                .write(PLAN, &two_tasks().replace("grep -q two", "grep -q 2"))?;
            let arguments = ["run", "start", "--batches", PLAN, "--digest", &digest];
            g.omo_at_terminal(&arguments)?.refuses(
                10,
                "not the digest of what is there now",
                "omo plan show",
            )?;
            ensure!(!g.runs().exists());
            Ok(())
        }),
        (
            "approved, and changed before it is opened",
            two_tasks(),
            |g| {
                let mut session = g.session()?;
                let said = g
                    .omo_in_session(&session, &["run", "start", "--batches", PLAN])?
                    .exits_with(7)?;
                let line = said
                    .err
                    .lines()
                    .find(|line| line.contains("--approve"))
                    .context("no line")?
                    .trim()
                    .to_owned();
                session.type_prompt(&line)?;
                g.lab().write(
                    PLAN,
                    &two_tasks().replace("grep -q two", "touch ran; grep -q 2"),
                )?;
                g.omo_in_session(&session, &["agent", "open", "--command", "execute"])?
                    .refuses(7, "waits for your approval", "--approve")?;
                ensure!(!g.lab().project().join("ran").exists());
                Ok(())
            },
        ),
        ("an approval that is taken back", two_tasks(), |g| {
            g.open()?;
            let ticket = g.start("1")?;
            fs::remove_file(g.lab().home().join(".local/state/omo/trust.json"))?;
            g.lab().write("words/1.txt", "one\n")?;
            for arguments in [
                &["agent", "next"][..],
                &["agent", "done", "--ticket", &ticket],
                &["verify", "--task", "1"],
            ] {
                g.omo_at_terminal(arguments)?.refuses(
                    7,
                    "not, or no longer, approved",
                    "omo run start",
                )?;
            }
            ensure!(g.standing("1")? == "running");
            Ok(())
        }),
    ]);
}

#[test]
fn one_work_tree_has_one_open_run_and_one_checkpoint() {
    play(&[
        ("another plan's run is open", two_tasks(), |g| {
            g.open()?;
            let run = g.run()?;
            g.lab().write("docs/other.md", &two_tasks())?;
            g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
            refused(
                g,
                "docs/other.md",
                6,
                &format!("the run {run} of docs/plan.md is open here"),
                "omo run cancel --run",
            )
        }),
        ("many at the same moment", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            let arguments = ["run", "start", "--batches", PLAN, "--digest", &digest];
            let children: Vec<_> = (0..8)
                .map(|_| {
                    let mut command = g.command(&arguments);
                    command
                        .stdout(std::process::Stdio::piped())
                        .stderr(std::process::Stdio::piped())
                        .spawn()
                })
                .collect::<Result<_, _>>()?;
            for child in children {
                let said = Said::of(&child.wait_with_output()?);
                ensure!(said.status == 0, "{said:?}");
            }
            let listed: serde_json::Value = serde_json::from_str(
                &g.omo_at_terminal(&["run", "list", "--json"])?
                    .exits_with(0)?
                    .out,
            )?;
            ensure!(
                listed.as_array().map(Vec::len) == Some(1),
                "several runs: {listed}"
            );
            Ok(())
        }),
        ("another program's checkpoint", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            let text = r#"{"plan_file":"docs/plan.md","completed":{"1":{"status":"done","evidence":"12 tests"}}}"#;
            g.lab().write(CHECKPOINT, text)?;
            let before = g.file_tree()?;
            g.omo_at_terminal(&["run", "start", "--batches", PLAN, "--digest", &digest])?
                .refuses(
                    10,
                    "was left by another program",
                    "`omo run import` goes on from it",
                )?;
            before.require_unchanged(&g.file_tree()?, &["/home/.local/state/omo"])?;
            let said = g
                .omo_at_terminal(&["run", "import", "--digest", &digest])?
                .exits_with(0)?;
            ensure!(
                said.out.contains("claims that omo has not checked"),
                "{}",
                said.out
            );
            ensure!(g.standing("1")? == "claimed", "{}", g.report()?);
            let checkpoint = fs::read_to_string(g.lab().project().join(CHECKPOINT))?;
            ensure!(checkpoint.contains("not checked by omo"), "{checkpoint}");
            Ok(())
        }),
        ("what cannot be taken in", two_tasks(), |g| {
            let digest = g.digest(PLAN)?;
            let cases = [
                ("", 2, "is not a checkpoint"),
                ("[]", 2, "is not a checkpoint"),
                (
                    r#"{"plan_file":"docs/none.md","completed":{}}"#,
                    3,
                    "the plan that",
                ),
                (
                    r#"{"plan_file":"../../etc/passwd","completed":{}}"#,
                    3,
                    "the plan that",
                ),
                (r#"{"completed":{}}"#, 3, "the plan that"),
                (
                    r#"{"plan_file":"docs/plan.md","completed":{"9":"done"}}"#,
                    10,
                    "names what the plan does not have",
                ),
                (
                    r#"{"plan_file":"docs/plan.md","completed":{"1":"passed"}}"#,
                    10,
                    "cannot be understood",
                ),
                (
                    r#"{"plan_file":"docs/plan.md","completed":{},"k":0}"#,
                    2,
                    "is not a checkpoint",
                ),
                (
                    r#"{"plan_file":"docs/plan.md","completed":{},"batch_size":0}"#,
                    2,
                    "is not a checkpoint",
                ),
                (
                    r#"{"plan_file":"docs/plan.md","completed":{},"batch_size":-1}"#,
                    2,
                    "is not a checkpoint",
                ),
            ];
            for (text, status, message) in cases {
                g.lab().write(CHECKPOINT, text)?;
                let before = g.file_tree()?;
                let said = g
                    .omo_at_terminal(&["run", "import", "--digest", &digest])?
                    .refuses(status, message, "");
                said.with_context(|| text.to_owned())?;
                before.require_unchanged(&g.file_tree()?, &["/home/.local/state/omo"])?;
            }
            fs::remove_file(g.lab().project().join(CHECKPOINT))?;
            g.omo_at_terminal(&["run", "import"])?
                .refuses(3, "there is no file", "name the checkpoint")
                .map(drop)
        }),
        ("taken in while a run is open", two_tasks(), |g| {
            g.open()?;
            g.lab().write(
                "old.json",
                r#"{"plan_file":"docs/plan.md","completed":{"1":"done"}}"#,
            )?;
            let before = g.file_tree()?;
            for file in [CHECKPOINT, "old.json"] {
                g.omo_at_terminal(&["run", "import", file])?.refuses(
                    6,
                    "is open here",
                    "omo run cancel --run",
                )?;
                before.require_unchanged(&g.file_tree()?, &[".lock"])?;
            }
            ensure!(g.standing("1")? == "pending");
            Ok(())
        }),
        (
            "taken in from another file than the checkpoint's",
            two_tasks(),
            |g| {
                let digest = g.digest(PLAN)?;
                let foreign = r#"{"plan_file":"docs/plan.md","completed":{}}"#;
                g.lab().write(CHECKPOINT, foreign)?;
                g.lab().write(
                    "old.json",
                    r#"{"plan_file":"docs/plan.md","completed":{"1":"done"}}"#,
                )?;
                let before = g.file_tree()?;
                g.omo_at_terminal(&["run", "import", "old.json", "--digest", &digest])?
                    .refuses(10, "left by another program", "")?;
                before.require_unchanged(&g.file_tree()?, &["/home/.local/state/omo"])
            },
        ),
    ]);
}

/// A checklist of which no command proves anything.
const UNPROVED: &str =
    "# Implementation Plan\n\n- [ ] 1. Create `words/1.txt`\n- [ ] 2. Create `words/2.txt`\n";
const SPEC: &str = ".kiro/specs/words/tasks.md";

#[test]
fn the_test_command_of_the_project_is_asked_about_at_a_terminal() {
    // What is answered, and whether the run then has the command and is open.
    let rows = [
        ("n\n", false, true),
        ("y\ny\n", true, true),
        ("y\nn\n", true, false),
        ("\n", false, true),
    ];
    for (answers, has_check, is_open) in rows {
        let ground = Ground::new(&two_tasks()).unwrap();
        ground.lab().write(SPEC, UNPROVED).unwrap();
        ground.lab().write("go.mod", "module words\n").unwrap();
        ground.lab().write("answers", answers).unwrap();
        let typed = format!("{} run start --batches {SPEC}", ground.program().display());
        let mut command = ground.lab().command("sh");
        command.args(["-c", &format!("script -qec '{typed}' /dev/null < answers")]);
        let said = Said::of(&command.output().unwrap());
        let question = "Nothing proves 2 tasks. `go test ./...` (found in go.mod) can, run once after all tasks. Have it do so? [y/N]";
        assert!(said.out.contains(question), "{answers:?}: {said:?}");
        assert_eq!(
            said.out.contains("Approve exactly this? [y/N]"),
            has_check,
            "{answers:?}: {said:?}"
        );
        let report = ground
            .omo_at_terminal(&["report", "--format", "json"])
            .unwrap();
        assert_eq!(report.status == 0, is_open, "{answers:?}: {report:?}");
        if is_open {
            let report: serde_json::Value = serde_json::from_str(&report.out).unwrap();
            let commands: Vec<&str> = report["final_checks"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|check| check["command"].as_str())
                .collect();
            assert_eq!(
                commands,
                if has_check {
                    vec!["go test ./..."]
                } else {
                    vec![]
                },
                "{answers:?}"
            );
            assert!(
                said.out.contains("opened the run") && said.out.contains(": 2 tasks in "),
                "{said:?}"
            );
        }
    }
    // Without a terminal it is a note.
    let ground = Ground::new(&two_tasks()).unwrap();
    ground.lab().write(SPEC, UNPROVED).unwrap();
    ground.lab().write("go.mod", "module words\n").unwrap();
    for (check, part) in [
        ("none", "| review "),
        ("make test", "| check of the whole "),
        ("make test", "- Check of the whole: `make test`"),
    ] {
        let said = ground
            .omo_at_terminal(&[
                "run",
                "start",
                "--batches",
                "--dry-run",
                "--check",
                check,
                SPEC,
            ])
            .unwrap();
        assert!(said.out.contains(part), "{said:?}");
    }
    let said = ground
        .omo_at_terminal(&["run", "start", "--batches", SPEC])
        .unwrap();
    assert_eq!(said.status, 0, "{said:?}");
    assert!(
        said.err.contains("`--check 'go test ./...'` has it do so"),
        "{said:?}"
    );
    let said = ground
        .omo_at_terminal(&["run", "start", "--check", "a\nb", SPEC])
        .unwrap();
    assert!(
        said.status == 2 && said.err.contains("line break"),
        "{said:?}"
    );
}
