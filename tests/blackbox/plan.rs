//! `omo plan`: what it shows of a plan, what it finds in one, and that nothing that a file may hold makes it do
//! anything but answer.

use std::fs;
use std::io::Write;
use std::process::{Command, Output, Stdio};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use crate::cli::omo;
use crate::scene::{Scene, play};

const FILE: &str = "docs/plan.md";

/// Seven tasks in two batches, and nothing wrong with them.
const SOUND: &str = "\
# Rates on the page

**Goal:** Show the rates of today

## Verification
- **Verdict:** Approved

## Decisions

### [DP-001] Where the rates come from (blocking)

**Options:**
- A: The bank
- B: The cache
**Recommendation:** Option B

## Tasks

### Task 1: Fetch the rates from the service of the bank and keep them for an hour
**Files:**
- Create: `src/rates.rs`
**Verify:**
Run: `cargo test rates`
Expected: exit 0

### Task 2-tests: Tests of the page
**Depends on:** Task 1
**Files:**
- Test: `tests/page.rs`
**Verify:**
Run: `cargo test page`
Expected: FAIL

### Task 2-impl: The page
**Depends on:** Task 2-tests
**Files:**
- Modify: `src/page.rs`
**Verify:**
Run: `cargo test page`
Expected: exit 0

### Task 3: Prices
**Depends on:** Task 1
**Verify:** `test -s prices.txt`

### Task 4: Taxes
**Depends on:** Tasks 1-3
**Verify:** `test -s taxes.txt`

### Task 5: 한국어 문서
**Verify:** `test -s ko.md`
";

fn has(text: &str, parts: &[&str]) -> Result<()> {
    for part in parts {
        ensure!(text.contains(part), "no {part:?} in:\n{text}");
    }
    ensure!(!text.contains('\u{1b}'), "colour in a pipe: {text:?}");
    Ok(())
}

/// What a command gave: stdout and stderr, with the status that it has to have.
fn gives(scene: &Scene, arguments: &[&str], status: i32) -> Result<(String, String)> {
    output_of(&omo(scene, arguments, &[])?, arguments, status)
}

fn output_of(output: &Output, arguments: &[&str], status: i32) -> Result<(String, String)> {
    let [stdout, stderr] =
        [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    ensure!(
        output.status.code() == Some(status),
        "{arguments:?}: {} instead of {status}: {stderr}{stdout}",
        output.status
    );
    Ok((stdout, stderr))
}

fn json_of(scene: &Scene, arguments: &[&str], status: i32) -> Result<Value> {
    let (stdout, stderr) = gives(scene, arguments, status)?;
    ensure!(stderr.is_empty(), "{arguments:?}: {stderr}");
    serde_json::from_str(&stdout).with_context(|| format!("{arguments:?}: {stdout}"))
}

/// The same with a plan on stdin.
fn fed(scene: &Scene, arguments: &[&str], plan: &[u8], status: i32) -> Result<(String, String)> {
    let mut command = scene.lab.command(scene.plugin.join("bin/omo"));
    let command = command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let mut child = command.spawn()?;
    child.stdin.take().context("no stdin")?.write_all(plan)?;
    output_of(&child.wait_with_output()?, arguments, status)
}

#[test]
fn show_says_what_a_plan_is_before_its_approval() {
    play(&[
        ("for people", |s| {
            s.lab.write(FILE, SOUND)?;
            let (text, stderr) = gives(s, &["plan", "show", FILE], 0)?;
            ensure!(stderr.is_empty(), "{stderr}");
            has(
                &text,
                &[
                    "Rates on the page\ndocs/plan.md: dev-workflow, 6 tasks in 2 batches: 6 open\n",
                    "goal: Show the rates of today\n",
                    "task     state  title                                         needs         files  checks\n",
                    "1        open   Fetch the rates from the service of the ban…                1      1\n",
                    "2-impl   open   The page                                      2-tests       1      1\n",
                    "5        open   한국어 문서                                                 0      1\n",
                    "batch-1  1, 2-tests, 2-impl, 3, 4; then you are asked\nbatch-2  5\n",
                    "DP-001    Where the rates come from  open; recommended: B\n",
                    "A run of it executes 6 commands as its checks; you have not approved them:\n",
                    "  2-tests  cargo test page\n",
                    "\nfound: 1 note, 1 warning, 0 errors; `omo plan lint docs/plan.md` shows them\n",
                ],
            )?;
            ensure!(
                !s.lab.project().join(".sisyphus").exists(),
                "looking made something"
            );
            Ok(())
        }),
        ("for programs, with the digest that people see", |s| {
            s.lab.write(FILE, SOUND)?;
            let (text, _) = gives(s, &["plan", "show", FILE], 0)?;
            let report = json_of(s, &["plan", "show", "--json", FILE], 0)?;
            ensure!(report["approval"]["approved"] == false, "{report}");
            let digest = report["approval"]["digest"].as_str().context("no digest")?;
            ensure!(digest.len() == 64, "{digest}");
            has(&text, &[&format!("\ndigest: {digest}\n")])?;
            ensure!(
                report["approval"]["commands"]
                    .as_array()
                    .is_some_and(|all| all.len() == 6),
                "{report}"
            );
            ensure!(
                report["batches"][0]["hardStop"] == true
                    && report["batches"][1]["hardStop"] == false,
                "{report}"
            );
            // Another sentence is another thing to approve, as another command is.
            for (part, other) in [
                ("**Goal:** Show", "**Goal:** Have"),
                ("test rates", "test rate"),
            ] {
                s.lab.write(FILE, &SOUND.replace(part, other))?;
                let changed = json_of(s, &["plan", "show", "--json", FILE], 0)?;
                ensure!(changed["approval"]["digest"] != digest, "{part}: {changed}");
            }
            s.lab.write(FILE, SOUND)?;
            let again = json_of(s, &["plan", "show", "--json", FILE], 0)?;
            ensure!(again["approval"]["digest"] == digest, "{again}");
            Ok(())
        }),
        ("a plan with errors is shown as far as it can be", |s| {
            s.lab.write(
                FILE,
                &SOUND.replace("**Depends on:** Tasks 1-3", "**Depends on:** Task 8"),
            )?;
            let (text, _) = gives(s, &["plan", "show", FILE], 4)?;
            has(
                &text,
                &[
                    "4        open   Taxes",
                    "It cannot be run:\n  line ",
                    "1 error",
                ],
            )
        }),
        ("the state of each task, and a plan that is done", |s| {
            let tasks = "# Plan\n\n- [x] 1. One\n- [ ] 2. Two\n- [ ]* 3. Three\n";
            s.lab.write(FILE, tasks)?;
            let (text, _) = gives(s, &["plan", "show", FILE, "--dialect", "kiro"], 0)?;
            has(
                &text,
                &[
                    "kiro, 3 tasks: 1 done, 1 open, 1 optional\n",
                    "2     open      Two",
                    "3     optional  Three",
                ],
            )?;
            let report = json_of(s, &["plan", "show", "--json", FILE, "--dialect", "kiro"], 0)?;
            ensure!(report["tasks"][0]["state"] == "done", "{report}");
            s.lab.write(FILE, &tasks.replace("[ ]", "[x]"))?;
            let (text, _) = gives(s, &["plan", "show", FILE, "--dialect", "kiro"], 0)?;
            has(
                &text,
                &["None of its tasks is open: a run of it has nothing to do.\n"],
            )
        }),
        ("sizes", |s| {
            s.lab.write(FILE, SOUND)?;
            let (text, _) = gives(
                s,
                &["plan", "show", FILE, "--batch-size", "2", "--k", "1"],
                0,
            )?;
            has(
                &text,
                &[
                    "6 tasks in 4 batches",
                    "batch-2  2-tests, 2-impl; then you are asked\n",
                ],
            )
        }),
    ]);
}

#[test]
fn lint_shows_each_finding_with_its_line() {
    play(&[
        ("warnings alone are status 0", |s| {
            s.lab.write(FILE, SOUND)?;
            let (text, _) = gives(s, &["plan", "lint", FILE], 0)?;
            let expected = "\
note[no_contract_version]: the plan has no `contract_version`: its tasks are run without a Task Contract
 --> docs/plan.md:1:1
  |
1 | # Rates on the page
  | ^^^^^^^^^^^^^^^^^^^

warning[unresolved_decision]: DP-001 is not decided: it has no `**Chosen:**`
  --> docs/plan.md:10:1
   |
10 | ### [DP-001] Where the rates come from (blocking)
   | ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^

1 note, 1 warning, 0 errors
";
            ensure!(text == expected, "{text}");
            Ok(())
        }),
        ("nothing found", |s| {
            let task = "### Task 1: x\n**Task Contract:** y\n**Verify:** `true`\n";
            s.lab.write(
                FILE,
                &format!(
                    "---\ncontract_version: 2\n---\n## Verification\nVerdict: Approved\n\n{task}"
                ),
            )?;
            let (text, _) = gives(s, &["plan", "lint", FILE], 0)?;
            ensure!(text == "0 warnings, 0 errors\n", "{text}");
            ensure!(json_of(s, &["plan", "lint", "--json", FILE], 0)? == json!([]));
            Ok(())
        }),
        ("errors are status 4, also as data", |s| {
            s.lab.write(
                FILE,
                &SOUND.replace("**Depends on:** Tasks 1-3", "**Depends on:** Task 8"),
            )?;
            let (text, stderr) = gives(s, &["plan", "lint", FILE], 4)?;
            ensure!(stderr.is_empty(), "{stderr}");
            has(
                &text,
                &[
                    "error[unknown_dependency]: ",
                    "| **Depends on:** Task 8\n",
                    "\n1 note, 1 warning, 1 error\n",
                ],
            )?;
            let rows = json_of(s, &["plan", "lint", "--json", FILE], 4)?;
            let row = rows
                .as_array()
                .and_then(|rows| rows.iter().find(|row| row["severity"] == "error"));
            let row = row.context("no error")?;
            let line = SOUND
                .lines()
                .position(|line| line == "**Depends on:** Tasks 1-3")
                .context("no line")?
                + 1;
            ensure!(
                row["code"] == "unknown_dependency" && row["line"] == line && row["task"] == "4",
                "{row}"
            );
            ensure!(
                row["column"].as_u64().is_some_and(|column| column >= 16),
                "{row}"
            );
            ensure!(
                row["text"].is_string()
                    && row["span"]["start"].is_u64()
                    && row.get("help").is_some(),
                "{row}"
            );
            Ok(())
        }),
        ("only the worst of many are shown", |s| {
            let many = (1..=60)
                .map(|id| format!("### Task {id}: x\n\n"))
                .collect::<Vec<_>>()
                .concat();
            s.lab.write(FILE, &format!("{many}### Task 60: x\n"))?;
            let (text, _) = gives(s, &["plan", "lint", FILE], 4)?;
            has(
                &text,
                &[
                    "error[duplicate_id]",
                    "more: `omo plan lint --json docs/plan.md` has all of them\n",
                ],
            )?;
            let shown = text.matches("--> ").count();
            ensure!(shown == 40, "{shown} are shown");
            let rows = json_of(s, &["plan", "lint", "--json", FILE], 4)?;
            ensure!(
                rows.as_array().is_some_and(|rows| rows.len() > 60),
                "{rows}"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn parse_and_batches_are_for_programs() {
    play(&[
        ("the whole plan", |s| {
            s.lab.write(FILE, SOUND)?;
            let plan = json_of(s, &["plan", "parse", FILE], 0)?;
            ensure!(
                plan == json_of(s, &["plan", "parse", "--json", FILE], 0)?,
                "`--json` changes something"
            );
            ensure!(
                plan["schema"] == 1
                    && plan["dialect"] == "dev-workflow"
                    && plan["source"]["path"] == FILE,
                "{plan}"
            );
            ensure!(
                plan["tasks"][1]["id"] == "2-tests" && plan["tasks"][1]["pair"] == "2-impl",
                "{plan}"
            );
            ensure!(
                plan["tasks"][0]["checks"][0]["command"] == "cargo test rates",
                "{plan}"
            );
            Ok(())
        }),
        ("a plan with errors is printed all the same", |s| {
            s.lab.write(FILE, &SOUND.replace("Tasks 1-3", "Task 8"))?;
            let plan = json_of(s, &["plan", "parse", FILE], 4)?;
            ensure!(
                plan["tasks"]
                    .as_array()
                    .is_some_and(|tasks| tasks.len() == 6),
                "{plan}"
            );
            Ok(())
        }),
        ("the batches, byte for byte", |s| {
            let plan = "### Task 1: a\n\n### Task 2: b\n**Depends on:** Task 1\n";
            s.lab.write(FILE, plan)?;
            let (text, stderr) = gives(s, &["plan", "batches", FILE], 0)?;
            let expected = r#"{
  "batch_size": 5,
  "total": 2,
  "batches": [
    [
      "1",
      "2"
    ]
  ],
  "dependents": {
    "1": 1,
    "2": 0
  },
  "hard_stops": [
    0
  ],
  "tasks": [
    {
      "id": "1",
      "depends_on": []
    },
    {
      "id": "2",
      "depends_on": [
        "1"
      ]
    }
  ],
  "k": 3,
  "diagnostics": []
}
"#;
            ensure!(text == expected && stderr.is_empty(), "{text}{stderr}");
            let sized = json_of(
                s,
                &["plan", "batches", FILE, "--k", "1", "--batch-size", "1"],
                0,
            )?;
            ensure!(
                sized["batches"] == json!([["1"], ["2"]]) && sized["hard_stops"] == json!([0]),
                "{sized}"
            );
            Ok(())
        }),
        ("of a wrong plan there are none", |s| {
            s.lab.write(
                FILE,
                "### Task 1: a\n**Depends on:** Task 2\n### Task 2: b\n**Depends on:** Task 1\n",
            )?;
            let (stdout, stderr) = gives(s, &["plan", "batches", FILE], 4)?;
            ensure!(stdout.is_empty(), "{stdout}");
            has(
                &stderr,
                &[
                    "error[cycle]: ",
                    "docs/plan.md has ",
                    "so there are no batches",
                    "hint:",
                    "omo plan lint",
                ],
            )
        }),
        (
            "what needs something unknown has its place, and status 4",
            |s| {
                s.lab.write(
                    FILE,
                    "### Task 1: a\n**Depends on:** Task 7\n### Task 2: b\n",
                )?;
                let (stdout, stderr) = gives(s, &["plan", "batches", FILE], 4)?;
                let found: Value = serde_json::from_str(&stdout)?;
                ensure!(
                    found["batches"] == json!([["1", "2"]])
                        && found["diagnostics"][0]["severity"] == "error",
                    "{found}"
                );
                has(
                    &stderr,
                    &[
                        "error[unknown_dependency]: ",
                        "so its batches may not be what is meant",
                        "hint:",
                    ],
                )
            },
        ),
        ("from stdin", |s| {
            let (text, _) = fed(s, &["plan", "batches", "-"], SOUND.as_bytes(), 0)?;
            s.lab.write(FILE, SOUND)?;
            ensure!(gives(s, &["plan", "batches", FILE], 0)?.0 == text, "{text}");
            let (text, _) = fed(s, &["plan", "lint", "-"], b"nothing\n", 4)?;
            has(&text, &["error[unrecognized_format]: ", "--> -:1:1"])?;
            fed(s, &["plan", "show", "-"], SOUND.as_bytes(), 0)?;
            fed(s, &["plan", "parse", "-"], SOUND.as_bytes(), 0).map(drop)
        }),
    ]);
}

#[test]
fn what_cannot_be_read_has_a_status_of_its_own() {
    play(&[
        ("not there", |s| {
            for verb in ["show", "lint", "parse", "batches"] {
                let (stdout, stderr) = gives(s, &["plan", verb, "no.md"], 3)?;
                ensure!(stdout.is_empty(), "{stdout}");
                has(&stderr, &["error: there is no file no.md", "hint:"])?;
            }
            Ok(())
        }),
        ("no file", |s| {
            fs::create_dir(s.lab.project().join("folder.md"))?;
            let fifo = s.lab.project().join("fifo.md");
            ensure!(
                Command::new("mkfifo").arg(&fifo).status()?.success(),
                "no FIFO could be made"
            );
            for verb in ["show", "lint", "parse", "batches"] {
                let (_, stderr) = gives(s, &["plan", verb, "folder.md"], 2)?;
                has(
                    &stderr,
                    &[
                        "error: not a file: folder.md; the folder folder.md is not one plan: it holds nothing",
                        "hint:",
                    ],
                )?;
                let (_, stderr) = gives(s, &["plan", verb, "fifo.md"], 9)?;
                has(
                    &stderr,
                    &[
                        "error: fifo.md is not a regular file",
                        "hint: a plan is a file that can be read again",
                    ],
                )?;
            }
            Ok(())
        }),
        ("wrong command lines", |s| {
            s.lab.write(FILE, SOUND)?;
            for arguments in [
                ["plan", "batches", FILE, "--batch-size", "x"],
                ["plan", "show", FILE, "--k", "1.5"],
                ["plan", "batches", FILE, "--batch-size", "-1"],
            ] {
                let (stdout, stderr) = gives(s, &arguments, 2)?;
                ensure!(
                    stdout.is_empty() && stderr.contains("error: "),
                    "{arguments:?}: {stderr}"
                );
            }
            gives(s, &["plan", "lint"], 2).map(drop)
        }),
        ("a state that others broke is no matter", |s| {
            s.lab.write(FILE, SOUND)?;
            fs::write(s.lab.project().join(".sisyphus"), "no folder")?;
            s.lab.configure("nonsense")?;
            let (_, stderr) = gives(s, &["plan", "show", FILE], 0)?;
            ensure!(stderr.is_empty(), "{stderr}");
            Ok(())
        }),
    ]);
}

#[test]
fn hostile_files_are_answered() {
    play(&[
        ("signs that steer a terminal", |s| {
            let title = "\u{1b}[31mred \u{1b}]0;title\u{7} \u{202e}txt \u{8}back";
            s.lab.write(
                FILE,
                &format!("# {title}\n\n### Task 1: {title}\n\n### Task 1: {title}\n"),
            )?;
            for verb in ["show", "lint"] {
                let (text, _) = gives(s, &["plan", verb, FILE], 4)?;
                let steers = |char: char| char.is_control() && char != '\n' || char == '\u{202e}';
                ensure!(!text.contains(steers), "{verb}: {text:?}");
            }
            Ok(())
        }),
        ("one line of 10 MB", |s| {
            let line = "Task 9, ".repeat(10 * 1024 * 1024 / 8);
            s.lab.write(
                FILE,
                &format!("### Task 1: {line}\n**Depends on:** {line}\n"),
            )?;
            for verb in ["show", "lint", "batches"] {
                let (stdout, stderr) = gives(s, &["plan", verb, FILE], 4)?;
                ensure!(
                    stdout.len() + stderr.len() < 40_000,
                    "{verb}: {} bytes",
                    stdout.len() + stderr.len()
                );
            }
            Ok(())
        }),
    ]);
}
