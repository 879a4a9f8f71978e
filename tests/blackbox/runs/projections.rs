//! The files for others: made from the ledger, never believed, and what other programs wrote is not lost.

use std::fs;

use anyhow::{Context, Result, ensure};
use omo_tests::plan_project::{CHECKPOINT, Ground, REPORT, play, two_tasks};

fn read(ground: &Ground, path: &str) -> Result<String> {
    fs::read_to_string(ground.lab().project().join(path)).with_context(|| format!("read {path}"))
}

#[test]
fn what_something_else_wrote_into_them_is_kept_shown_and_never_believed() {
    play(&[
        ("the checkpoint", two_tasks(), |g| {
            g.open()?;
            g.pass("1", "one")?;
            let forged = read(g, CHECKPOINT)?.replace(
                "\"completed\": {",
                "\"completed\": {\"2\": {\"status\": \"done\"},",
            );
            g.lab().write(CHECKPOINT, &forged)?;
            let said = g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
            ensure!(
                said.out.contains("omo agent start 2"),
                "it was believed: {}",
                said.out
            );
            g.start("2")?;
            ensure!(
                !read(g, CHECKPOINT)?.contains("\"2\""),
                "{}",
                read(g, CHECKPOINT)?
            );
            ensure!(read(g, &format!("{CHECKPOINT}.edited-1"))? == forged);
            let said = g.omo_at_terminal(&["run", "show"])?.exits_with(0)?;
            ensure!(
                said.out.contains(&format!("{CHECKPOINT}.edited-1")),
                "{}",
                said.out
            );
            Ok(())
        }),
        (
            "the report, with bytes that are no text",
            two_tasks(),
            |g| {
                let mine =
                b"# Mine \xff\xfe\r\n\r\n## Execution Report\n\n**Plan:** docs/other.md\n\n- Task 1: x\n\n".to_vec();
                fs::create_dir_all(g.lab().project().join("docs/06-plans"))?;
                fs::write(g.lab().project().join(REPORT), &mine)?;
                g.open()?;
                g.pass("1", "one")?;
                let now = fs::read(g.lab().project().join(REPORT))?;
                ensure!(now.starts_with(&mine), "{}", String::from_utf8_lossy(&now));
                let tail = b"## Notes\n\nmine, too \xff\n";
                fs::write(
                    g.lab().project().join(REPORT),
                    [now.as_slice(), b"\n", tail].concat(),
                )?;
                g.pass("2", "two")?;
                g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
                let now = fs::read(g.lab().project().join(REPORT))?;
                ensure!(
                    now.starts_with(&mine) && now.ends_with(tail),
                    "{}",
                    String::from_utf8_lossy(&now)
                );
                ensure!(String::from_utf8_lossy(&now).contains("**Status:** complete"));
                Ok(())
            },
        ),
        ("the section of this plan", two_tasks(), |g| {
            g.open()?;
            let edited = read(g, REPORT)?.replace("in-progress", "complete \u{fffd}");
            g.lab().write(REPORT, &edited)?;
            g.pass("1", "one")?;
            ensure!(
                read(g, REPORT)?.contains("**Status:** in-progress"),
                "{}",
                read(g, REPORT)?
            );
            ensure!(read(g, &format!("{REPORT}.edited-1"))?.contains("complete \u{fffd}"));
            Ok(())
        }),
        (
            "bytes that are no text in the checkpoint",
            two_tasks(),
            |g| {
                g.open()?;
                fs::write(g.lab().project().join(CHECKPOINT), b"\xff\xfe{}")?;
                g.start("1")?;
                let kept = fs::read(g.lab().project().join(format!("{CHECKPOINT}.edited-1")))?;
                ensure!(kept == b"\xff\xfe{}", "{kept:?}");
                Ok(())
            },
        ),
        ("gone", two_tasks(), |g| {
            g.open()?;
            fs::remove_dir_all(g.lab().project().join(".claude"))?;
            fs::remove_dir_all(g.lab().project().join("docs/06-plans"))?;
            g.pass("1", "one")?;
            ensure!(read(g, CHECKPOINT)?.contains("\"1\"") && read(g, REPORT)?.contains("Task 1"));
            Ok(())
        }),
        ("two worktrees of one repository", two_tasks(), |g| {
            let other = g.lab().root().join("lab/other");
            g.git(&["worktree", "add", "-q", other.to_str().context("no text")?])?;
            g.open()?;
            g.open_in_folder(&other)?;
            g.pass("1", "one")?;
            g.omo_in_folder(&other, &["agent", "start", "1"])?
                .exits_with(0)?;
            g.pass("2", "two")?;
            g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
            for folder in [g.lab().project(), &other] {
                let names: Vec<_> = fs::read_dir(folder.join("docs/06-plans"))?
                    .flatten()
                    .collect();
                ensure!(names.len() == 1, "kept as edited: {names:?}");
            }
            ensure!(fs::read_to_string(other.join(CHECKPOINT))?.contains("in_progress"));
            Ok(())
        }),
        (
            "they cannot be written, and the ledger has it all the same",
            two_tasks(),
            |g| {
                g.open()?;
                let ticket = g.start("1")?;
                g.lab().write("words/1.txt", "one\n")?;
                fs::remove_dir_all(g.lab().project().join(".claude"))?;
                g.lab().write(".claude", "in the way")?;
                g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                    .refuses(9, "omo leaves it as it is", "the ledger has everything")?;
                fs::remove_file(g.lab().project().join(".claude"))?;
                g.omo_at_terminal(&["agent", "next"])?.exits_with(0)?;
                ensure!(read(g, CHECKPOINT)?.contains("\"1\"") && g.standing("1")? == "passed");
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_plan_of_another_format_leaves_no_file_of_omo_in_the_project_and_ends_well_where_it_is_only_unproved()
 {
    const SPEC: &str = ".kiro/specs/words/tasks.md";
    const TASKS: &str =
        "# Implementation Plan\n\n- [ ] 1. Create `words/1.txt`\n- [ ] 2. Create `words/2.txt`\n";
    let plays = |has_folders: bool| -> Result<()> {
        let g = Ground::new(&two_tasks())?;
        let project = g.lab().project();
        g.lab().write(SPEC, TASKS)?;
        if has_folders {
            g.lab().write(".claude/settings.json", "{}\n")?;
            g.lab().write("docs/06-plans/note.md", "mine\n")?;
        }
        let start = [
            "run",
            "start",
            "--batches",
            "--check",
            "none",
            "--review",
            "never",
            SPEC,
        ];
        g.omo_at_terminal(&start)?.exits_with(0)?;
        let mut ended = None;
        for task in ["1", "2"] {
            g.pass(task, "word")?;
            // A run with nothing failed leaves no checkpoint.
            let is_kept = has_folders && task == "1";
            ensure!(
                project.join(CHECKPOINT).exists() == is_kept,
                "a checkpoint behind task {task}"
            );
            let said = g.omo_at_terminal(&["agent", "next"])?;
            if said.out.starts_with("STOP") {
                let question = said
                    .out
                    .split("`omo answer ")
                    .nth(1)
                    .and_then(|rest| rest.split(' ').next());
                g.omo_at_terminal(&["answer", question.context("no question")?, "continue"])?;
            } else {
                ended = Some(said);
            }
        }
        let ended = ended.context("it has no end")?.exits_with(0)?;
        ensure!(
            ended.out.contains("unproved") && ended.out.starts_with("DONE"),
            "{}",
            ended.out
        );
        ensure!(
            project.join(REPORT).exists() == has_folders,
            "{}",
            ended.out
        );
        ensure!(
            ended.out.contains(&format!("Report: {REPORT}")) == has_folders,
            "{}",
            ended.out
        );
        ensure!(
            project.join(".git/omo/files").exists() != has_folders,
            "the git folder"
        );
        let (claude, docs) = (project.join(".claude"), project.join("docs/06-plans"));
        ensure!(
            has_folders || !claude.exists() && !docs.exists(),
            "a folder was made"
        );
        Ok(())
    };
    let cases = [
        ("without their folders", false),
        ("with their folders", true),
    ];
    omo_tests::all_good(cases.map(|(name, has_folders)| (name.to_owned(), plays(has_folders))));
}
