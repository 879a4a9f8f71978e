//! The ways to a plan that is there already: `omo plan list`, `--dialect`, folders, the files beside a plan, and
//! `/omo:ulw-plan --from FILE`.

use std::fs;
use std::os::unix::fs::symlink;

use anyhow::{Result, ensure};
use omo_tests::plan_project::{Ground, play};
use serde_json::{Value, json};

/// A plan of OpenSpec, with one task done.
const CHANGE: &str = "\
## 1. Words

- [x] 1.1 Think of words
- [ ] 1.2 Write `words/1.txt` and run `grep -q one words/1.txt`
";
const PROPOSAL: &str =
    "# Words\n\n## Why\n\nThere are no \u{1b}[31mwords yet.\n\n## What Changes\n\n- Add one\n";
const NOTES: &str = "# Notes\n\nFirst mix, then bake. Do not forget the salt.\n";
const FOLDER: &str = ".planning/phases/01-words";

fn gsd(matter: &str, file: &str) -> String {
    format!(
        "---\nphase: 01-words\n{matter}---\n\n<objective>\nWords.\n</objective>\n\n<tasks>\n<task type=\"auto\">\n<name>Write \
         {file}</name>\n<files>{file}</files>\n<action>Write it.</action>\n<verify>test -s {file}</verify>\n<done>It is \
         there.</done>\n</task>\n</tasks>\n"
    )
}

fn write_all(g: &Ground, files: &[(&str, &str)]) -> Result<()> {
    files
        .iter()
        .try_for_each(|(path, text)| g.lab().write(path, text).map(drop))
}

/// Starts a plan with these arguments, and approves what it would run, if anything.
fn start(g: &Ground, arguments: &[&str]) -> Result<()> {
    let all = [&["run", "start"], arguments].concat();
    let said = g.omo_at_terminal(&all)?;
    if said.status == 0 {
        return Ok(());
    }
    let said = said.exits_with(7)?;
    let digest = said
        .err
        .split("their digest is ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    g.omo_at_terminal(&[&all[..], &["--digest", digest.unwrap_or_default()]].concat())?
        .exits_with(0)
        .map(drop)
}

#[test]
fn the_plans_of_a_project_are_listed_with_their_state() {
    play(&[
        ("each by its place or its text", String::new(), |g| {
            fs::remove_file(g.lab().project().join("docs/plan.md"))?;
            write_all(
                g,
                &[
                    ("openspec/changes/add-words/tasks.md", CHANGE),
                    ("openspec/changes/archive/2026-01-01-old/tasks.md", CHANGE),
                    (
                        "specs/001-words/tasks.md",
                        "## Phase 1\n\n- [X] T001 Write a.md\n- [X] T002 Write b.md\n",
                    ),
                    (".kiro/specs/words/tasks.md", "no list\n"),
                    (
                        &format!("{FOLDER}/01-01-PLAN.md"),
                        &gsd("wave: 1\n", "a.txt"),
                    ),
                    (
                        &format!("{FOLDER}/01-02-PLAN.md"),
                        &gsd("wave: 2\n", "b.txt"),
                    ),
                    (&format!("{FOLDER}/01-01-SUMMARY.md"), "Done.\n"),
                    ("docs/notes.md", NOTES),
                    (
                        "docs/deep/bread.md",
                        "### Task 1: Bake\n\n**Verify:** `true`\n",
                    ),
                    (
                        "docs/out/bread.md",
                        "### Task 1: Bake\n\n**Verify:** `true`\n",
                    ),
                    (".gitignore", "docs/out/\n.planning/\n"),
                ],
            )?;
            let listed = g.omo_at_terminal(&["plan", "list"])?.exits_with(0)?;
            let expected = "\
plan                                 format        done  run
.kiro/specs/words/tasks.md           kiro          0/0   not valid
.planning/phases/01-words            gsd           1/2   -
docs/deep/bread.md                   dev-workflow  0/1   -
openspec/changes/add-words/tasks.md  openspec      1/2   -
specs/001-words/tasks.md             spec-kit      2/2   -
";
            ensure!(listed.out == expected, "{}", listed.out);
            start(g, &["--batches", "openspec/changes/add-words/tasks.md"])?;
            let lines: Value = serde_json::from_str(
                &g.omo_at_terminal(&["plan", "list", "--json"])?
                    .exits_with(0)?
                    .out,
            )?;
            ensure!(
                lines[3]["state"] == "executing"
                    && lines[3]["done"] == 1
                    && lines[3]["run"].is_string(),
                "{lines}"
            );
            ensure!(
                lines[0]["valid"] == false && lines[1]["path"] == FOLDER,
                "{lines}"
            );
            let listed = g.omo_at_terminal(&["plan", "list"])?.exits_with(0)?;
            ensure!(
                listed.out.contains("  openspec      1/2   executing\n"),
                "{}",
                listed.out
            );
            Ok(())
        }),
        ("none", String::new(), |g| {
            fs::remove_file(g.lab().project().join("docs/plan.md"))?;
            let said = g.omo_at_terminal(&["plan", "list"])?.exits_with(0)?;
            for part in [
                "No plan was found in ",
                "  openspec/changes/**/tasks.md\n",
                "  docs/**/*.md\n",
                "--from FILE",
            ] {
                ensure!(said.out.contains(part), "{}", said.out);
            }
            ensure!(
                g.omo_at_terminal(&["plan", "list", "--json"])?
                    .exits_with(0)?
                    .out
                    .trim()
                    == "[]"
            );
            Ok(())
        }),
        ("hostile names and links", String::new(), |g| {
            let top = g.lab().project();
            let name = format!("specs/\u{1b}[31m{}\u{202e}/tasks.md", "한".repeat(60));
            write_all(
                g,
                &[
                    (&name, "- [ ] T001 Write a.md\n"),
                    ("docs/plan.md", "\u{0}\u{1b}"),
                ],
            )?;
            symlink("/", top.join("docs/root"))?;
            symlink("..", top.join("specs/circle"))?;
            let listed = g.omo_at_terminal(&["plan", "list"])?.exits_with(0)?;
            ensure!(listed.out.lines().count() == 2, "{}", listed.out);
            ensure!(
                !listed.out.contains(['\u{1b}', '\u{202e}'])
                    && listed.out.contains("한 /tasks.md  spec-kit"),
                "{listed:?}"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn a_format_that_is_named_holds_for_the_whole_run() {
    const FILE: &str = "openspec/changes/add-words/tasks.md";
    play(&[
        ("by omo plan", CHANGE.to_owned(), |g| {
            g.lab().write(FILE, CHANGE)?;
            for (arguments, dialect) in [(&[][..], "openspec"), (&["--dialect", "kiro"], "kiro")] {
                let said = g
                    .omo_at_terminal(&[&["plan", "parse", FILE], arguments].concat())?
                    .exits_with(0)?;
                let plan: Value = serde_json::from_str(&said.out)?;
                ensure!(plan["dialect"] == dialect, "{plan}");
            }
            let said = g
                .omo_at_terminal(&["plan", "lint", FILE, "--dialect", "gsd"])?
                .exits_with(4)?;
            ensure!(
                said.out.contains("the file has no task in the format gsd"),
                "{}",
                said.out
            );
            let said = g
                .omo_at_terminal(&["plan", "batches", FILE, "--dialect", "openspec"])?
                .exits_with(0)?;
            let batches: Value = serde_json::from_str(&said.out)?;
            ensure!(batches["batches"] == json!([["1.1", "1.2"]]), "{batches}");
            let said = g
                .omo_at_terminal(&["plan", "show", FILE, "--dialect", "Kiro"])?
                .exits_with(2)?;
            ensure!(
                said.err.contains("the formats are ") && said.err.contains(", kiro"),
                "{}",
                said.err
            );
            Ok(())
        }),
        ("by a run", CHANGE.to_owned(), |g| {
            g.lab().write(FILE, CHANGE)?;
            start(g, &["--batches", "--dialect", "kiro", FILE])?;
            ensure!(
                g.report()?["dialect"] == "kiro"
                    || g.omo_at_terminal(&["run", "show", "--json"])?
                        .out
                        .contains("kiro")
            );
            g.lab().write(
                FILE,
                &format!("{CHANGE}- [ ] 1.3 Write more of `words/1.txt`\n"),
            )?;
            let said = g
                .omo_at_terminal(&["run", "start", "--batches", FILE])?
                .exits_with(0)?;
            ensure!(
                said.out.contains("the plan was edited: ") && said.out.contains("added 1.3"),
                "{}",
                said.out
            );
            let other = ["run", "start", "--dialect", "openspec", FILE];
            g.omo_at_terminal(&other)?.refuses(
                6,
                "is open, and reads it as kiro",
                "without --dialect",
            )?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_folder_is_the_plan_that_it_holds() {
    play(&[
        ("plans of GSD are one", String::new(), |g| {
            let files = [
                ("01-01", "wave: 1\n", "a.txt"),
                ("01-02", "wave: 2\n", "b.txt"),
            ];
            for (name, matter, file) in files {
                g.lab()
                    .write(&format!("{FOLDER}/{name}-PLAN.md"), &gsd(matter, file))?;
            }
            let shown = g
                .omo_at_terminal(&["plan", "show", FOLDER])?
                .exits_with(0)?;
            for part in [
                ".planning/phases/01-words: gsd, 2 tasks",
                "01-02.1  open   Write b.txt  01-01.1",
            ] {
                ensure!(shown.out.contains(part), "no {part:?} in {}", shown.out);
            }
            g.lab().git(&["add", "."])?;
            g.lab().git(&["commit", "-qm", "plans"])?;
            start(g, &["--batches", FOLDER])?;
            let ticket = g.start("01-01.1")?;
            g.lab().write("a.txt", "a\n")?;
            g.omo_at_terminal(&["agent", "done", "--ticket", &ticket])?
                .exits_with(0)?;
            ensure!(g.standing("01-01.1")? == "passed");
            let edited = gsd("wave: 2\n", "b.txt").replace("Write it.", "Write it well.");
            g.lab().write(&format!("{FOLDER}/01-02-PLAN.md"), &edited)?;
            g.omo_at_terminal(&["agent", "next"])?.refuses(
                5,
                ".planning/phases/01-words was edited since",
                "`omo run resume` takes the edit in",
            )?;
            let said = g.omo_at_terminal(&["run", "resume"])?.exits_with(0)?;
            ensure!(
                said.out.contains("the plan was edited: changed 01-02.1"),
                "{}",
                said.out
            );
            Ok(())
        }),
        (
            "what is wrong in a file of it is shown at its line",
            String::new(),
            |g| {
                let broken = gsd("wave: 1\n", "a.txt")
                    .replace("</done>\n", "")
                    .replace("<done>", "<done>\n");
                g.lab().write(&format!("{FOLDER}/01-01-PLAN.md"), &broken)?;
                let said = g.omo_at_terminal(&["plan", "lint", FOLDER])?;
                ensure!(
                    said.out
                        .contains("--> .planning/phases/01-words/01-01-PLAN.md:"),
                    "{} {}",
                    said.out,
                    said.err
                );
                Ok(())
            },
        ),
        (
            "the one plan in it, with what it is for",
            String::new(),
            |g| {
                write_all(
                    g,
                    &[
                        ("openspec/changes/add-words/tasks.md", CHANGE),
                        ("openspec/changes/add-words/proposal.md", PROPOSAL),
                    ],
                )?;
                g.lab().write(
                    "openspec/changes/add-words/specs/words/spec.md",
                    "### Requirement: Words exist\n\nx\n",
                )?;
                let shown = g
                    .omo_at_terminal(&["plan", "show", "openspec/changes/add-words"])?
                    .exits_with(0)?;
                for part in [
                    "openspec/changes/add-words/tasks.md: openspec, 2 tasks",
                    "goal: Why: There are no  [31mwords yet. What Changes: - Add one Requirements: Words exist.",
                ] {
                    ensure!(shown.out.contains(part), "no {part:?} in {}", shown.out);
                }
                // An approval is of the goal as well, which stands in another file.
                let folder = "openspec/changes/add-words";
                let goal = format!("{folder}/proposal.md");
                let digest = g.digest(folder)?;
                g.lab()
                    .write(&goal, &PROPOSAL.replace("Add one", "Remove one"))?;
                ensure!(g.digest(folder)? != digest);
                g.lab().write(&goal, PROPOSAL)?;
                ensure!(g.digest(folder)? == digest);
                start(g, &["--batches", folder])?;
                let brief = g
                    .omo_at_terminal(&["agent", "start", "1.2"])?
                    .exits_with(0)?;
                ensure!(
                    brief.out.contains("Goal of the plan: Why: There are no "),
                    "{}",
                    brief.out
                );
                Ok(())
            },
        ),
        (
            "another folder is refused with what it holds",
            String::new(),
            |g| {
                write_all(
                    g,
                    &[
                        ("notes/a.md", NOTES),
                        ("two/x/tasks.md", CHANGE),
                        ("docs/superpowers/plans/a.md", NOTES),
                    ],
                )?;
                g.lab().write("docs/superpowers/plans/b.md", NOTES)?;
                fs::create_dir(g.lab().project().join("void"))?;
                for (folder, holds) in [
                    ("notes", "it holds no plan, but `a.md`"),
                    ("two", "it holds no file, and the folders `x`"),
                    (
                        "docs/superpowers/plans",
                        "it holds the plans `a.md`, `b.md`",
                    ),
                    ("void", "it holds nothing"),
                ] {
                    for verb in [&["plan", "show"][..], &["plan", "lint"], &["run", "start"]] {
                        let said = g.omo_at_terminal(&[verb, &[folder]].concat())?;
                        said.refuses(2, holds, "`omo plan list` finds plans")?;
                    }
                }
                Ok(())
            },
        ),
    ]);
}

#[test]
fn a_file_in_no_known_format_becomes_a_task_list() {
    play(&[
        (
            "it is refused as a plan, with what to type",
            String::new(),
            |g| {
                g.lab().write("docs/my notes.md", NOTES)?;
                let typed = "`/omo:ulw-plan --from 'docs/my notes.md'`";
                let said = g
                    .omo_at_terminal(&["plan", "lint", "docs/my notes.md"])?
                    .exits_with(4)?;
                ensure!(said.out.contains(typed), "{}", said.out);
                g.omo_at_terminal(&["run", "start", "docs/my notes.md"])?
                    .refuses(4, "unrecognized_format", typed)?;
                Ok(())
            },
        ),
        ("the model is told to keep its tasks", String::new(), |g| {
            g.lab().write("docs/my notes.md", NOTES)?;
            let mut session = g.session()?;
            session.type_prompt("/omo:ulw-plan --from 'docs/my notes.md' in Rust, don't ask")?;
            let said = g
                .omo_in_session(&session, &["agent", "tasks", "create", "--args-from-hook"])?
                .exits_with(0)?;
            for part in [
                "turn the file `docs/my notes.md` into a task list, and do what it describes: in Rust, don't ask\n",
                "Read the file `docs/my notes.md` whole before anything else.",
                "every command in it, as they are written",
            ] {
                ensure!(said.out.contains(part), "no {part:?} in {}", said.out);
            }
            session.kill_client()
        }),
        ("a file that cannot be one is refused", String::new(), |g| {
            let mut session = g.session()?;
            for (file, why) in [
                ("none.md", "there is no file none.md"),
                ("/etc/hosts", "is outside of this project"),
            ] {
                session.type_prompt(&format!("/omo:ulw-plan --from {file}"))?;
                let said =
                    g.omo_in_session(&session, &["agent", "tasks", "create", "--args-from-hook"])?;
                said.refuses(1, why, "/omo:ulw-plan --from docs/notes.md")?;
            }
            session.kill_client()
        }),
    ]);
}
