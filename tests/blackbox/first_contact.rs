//! What a person sees when they type `ulw`: that it is on, how it goes on, how it ended, and where that stays.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use omo_testkit::stand_in::{HookAnswer, StandIn};
use omo_tests::MAX_BLOCKS;
use serde_json::{Value, json};

use crate::claim_scene::{AGREES, play_with_review};
use crate::cli::omo;
use crate::scene::{Scene, copy, is_contract, require_sound};

/// How a status tells of a file that changed after the verdict.
const CHANGED_SINCE: &str = "1 file changed since: fixed.txt; the verdict is about those before";

/// What the user is told of a prompt.
fn told(scene: &mut Scene, prompt: &str) -> Result<String> {
    let answer = scene.prompt(prompt)?;
    Ok(answer
        .system_message()
        .with_context(|| format!("the user is told nothing: {answer:?}"))?
        .to_owned())
}

/// Runs `omo`; gives its exit status, and what it printed.
fn omo_says(scene: &Scene, arguments: &[&str]) -> Result<(i32, String)> {
    let output = omo(scene, arguments, &[])?;
    Ok((
        output.status.code().context("no exit status")?,
        String::from_utf8(output.stdout)?,
    ))
}

/// The page of the last run. Only its user can read it.
fn page(scene: &Scene) -> Result<String> {
    let (status, path) = omo_says(scene, &["report", "--html"])?;
    ensure!(status == 0, "{status}");
    let file = Path::new(path.trim_end());
    ensure!(
        fs::metadata(file)?.permissions().mode() & 0o777 == 0o600,
        "{path}"
    );
    Ok(fs::read_to_string(file)?)
}

/// What stands on the page of a run whose check is red.
const RED_PARTS: [&str; 8] = [
    "class=\"verdict failed\"",
    "fix the tests",
    "NOT PROVED",
    "expected 5, got -1",
    "sh test.sh",
    "A more.txt (new, 1 bytes)",
    "the files as they are now",
    "a check is not green (sh-test.sh: failed)",
];

/// What stands on the page of a run that was proved.
const PROVED_PARTS: [&str; 6] = [
    "class=\"verdict proved\"",
    "omo:oracle",
    "Each thing that was asked for is there.",
    "Proved by the checks and the review above",
    "A fixed.txt",
    "+&#60;b&#62;what was made&#60;/b&#62;",
];

fn require_parts(page: &str, parts: &[&str]) -> Result<()> {
    let missing: Vec<&&str> = parts.iter().filter(|part| !page.contains(**part)).collect();
    ensure!(missing.is_empty(), "{missing:?} is missing: {page}");
    Ok(())
}

/// What is kept of the run that has ended.
fn record_of_ended_run(scene: &Scene) -> Result<PathBuf> {
    let files = fs::read_dir(scene.lab.state_folder().join("ended"))?.map(|file| Ok(file?.path()));
    let records = files.filter(|file: &Result<PathBuf>| {
        file.as_ref()
            .map_or(true, |file| file.extension().is_some_and(|it| it == "json"))
    });
    records.last().context("no record")?
}

fn bounds() -> String {
    format!("up to {MAX_BLOCKS} continuations, 3 failed claims, 240 min. `ulw off` stops it")
}

/// The offer of a status line, once a session.
const STATUS_LINE: &str = "`/omo:statusline on` shows a run below the prompt";

#[test]
fn turning_on_is_said_in_one_line() {
    play_with_review(&[
        ("with a check", |s| {
            s.lab.write("Cargo.toml", "[package]\nname = \"x\"\n")?;
            let line = told(s, "/omo:ulw --check 'cargo test' fix the tests")?;
            let on = format!("[omo] on: 1 check (cargo test) + review, {}", bounds());
            ensure!(line.lines().next() == Some(&*on), "{line}");
            Ok(())
        }),
        (
            "the command that the project tests with is offered, and never run",
            |s| {
                s.lab.write("go.mod", "module x\n")?;
                let lines = told(s, "ulw fix the tests")?;
                let offer = "no check judges this run: /omo:check add adds `go test ./...` (found in go.mod)";
                ensure!(
                    lines
                        == format!(
                            "[omo] on: review only, {}\n{offer}\n{STATUS_LINE}",
                            bounds()
                        ),
                    "{lines}"
                );
                ensure!(s.field("/gates")? == json!([]), "it was added unasked");
                s.asks("/omo:check add")?;
                ensure!(s.field("/gates/0/run")? == "go test ./...");
                Ok(())
            },
        ),
        (
            "no offer where there is nothing, or where its user wants none",
            |s| {
                let lines = told(s, "ulw fix the tests")?;
                let none = format!(
                    "\nno check judges this run: /omo:check add <command> adds one\n{STATUS_LINE}"
                );
                ensure!(lines.ends_with(&none), "{lines}");
                s.lab.write("go.mod", "module x\n")?;
                s.lab.configure("[verify]\ndetect = \"off\"\n")?;
                s.session = s.another()?;
                ensure!(!told(s, "ulw fix the tests")?.contains("go test"));
                Ok(())
            },
        ),
        (
            "a check that cannot run as it stands, and a goal of the client",
            |s| {
                let goal = json!({"type": "attachment", "attachment": {
                    "type": "goal_status", "met": false, "condition": "the tests pass"
                }});
                let transcript = s.session.transcript().path().to_owned();
                fs::create_dir_all(transcript.parent().context("no folder")?)?;
                fs::write(transcript, format!("{goal}\n"))?;
                let lines = told(s, "/omo:ulw --check fix it")?;
                ensure!(
                    lines.contains(
                        "\n[omo] the check `fix` cannot run: no program `fix` is found; "
                    ),
                    "{lines}"
                );
                ensure!(
                    lines.contains("\n[omo] /goal is on as well (\"the tests pass\")"),
                    "{lines}"
                );
                ensure!(s.field("/gates/0/run")? == "fix");
                let said = s.asks("/omo:check add sh nope.sh")?;
                ensure!(
                    said.ends_with("It cannot run: there is no file `nope.sh` yet."),
                    "{said}"
                );
                Ok(())
            },
        ),
        ("plan mode", |s| {
            let fields = json!({"prompt": "ulw fix the tests", "permission_mode": "plan"});
            let usual = json!({"prompt_id": "p-1"});
            let input = s.input("UserPromptSubmit", &usual, &fields)?;
            let answer = require_sound(&s.session.fire_raw("UserPromptSubmit", &input)?)?;
            ensure!(
                answer
                    .system_message()
                    .is_some_and(|line| line.starts_with("[omo] NOT ON: in plan mode")),
                "{answer:?}"
            );
            ensure!(s.lab.state().is_none(), "armed");
            Ok(())
        }),
        ("a folder that cannot be written", |s| {
            s.lab.write(".sisyphus", "a file")?;
            let line = told(s, "ulw fix the tests")?;
            ensure!(
                line.starts_with("[omo] NOT ON: the state of this session cannot be written"),
                "{line}"
            );
            Ok(())
        }),
        ("a plugin without its program for a Stop", |s| {
            let plugin = s.lab.home().join("plugin");
            copy(&s.plugin, &plugin)?;
            fs::set_permissions(
                plugin.join("bin/omo-stop"),
                fs::Permissions::from_mode(0o644),
            )?;
            s.session = StandIn::new(&s.lab, &plugin)?;
            let lines = told(s, "ulw fix the tests")?;
            ensure!(
                lines.contains("[omo] NOT HELD: ") && lines.contains("bin/omo-stop cannot be run"),
                "{lines}"
            );
            Ok(())
        }),
        ("colours where the client shows them", |s| {
            s.session = s.session.clone().with_env("NO_COLOR", "");
            let line = told(s, "ulw fix the tests")?;
            ensure!(
                line.starts_with("\u{1b}[1m[omo] on: review only"),
                "{line:?}"
            );
            s.session = s
                .another()?
                .with_env("NO_COLOR", "")
                .with_env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
            ensure!(
                !told(s, "ulw fix the tests")?.contains('\u{1b}'),
                "a program reads that"
            );
            Ok(())
        }),
    ]);
}

#[test]
fn a_bare_keyword_goes_on_with_what_is_not_proved() {
    play_with_review(&[
        ("a paused run keeps its count and its time", |s| {
            s.start("--no-review --check false")?;
            s.claim_fails()?;
            let start = s.field("/ulw/startedAt")?;
            s.session.clone().transcript().interrupted()?;
            for prompt in ["ulw", "/omo:ulw", "/omo:ulw continue", "ulw continue"] {
                let line = told(s, prompt)?;
                let used = format!("1 of {MAX_BLOCKS} continuations and 0 of 240 min used");
                let head = if prompt == "ulw" {
                    "[omo] goes on: "
                } else {
                    "[omo] on already: "
                };
                ensure!(
                    line.starts_with(head) && line.contains(&used),
                    "{prompt}: {line}"
                );
            }
            ensure!(s.field("/ulw/startedAt")? == start && s.field("/ulw/stopBlocks")? == 1);
            ensure!(s.field("/ulw/paused")?.is_null() && s.field("/ulw/askedLater")? == json!([]));
            s.claim_fails().map(drop)
        }),
        (
            "a run that was not proved is taken up, with a new count",
            |s| {
                s.start("--no-review --max-blocks 1 --check false")?;
                s.claim_fails()?;
                s.claim_ends("released")?;
                let line = told(s, "ulw")?;
                let head = "[omo] on again with \"fix the tests\": 1 check (false), no review, up to 1 continuation,";
                ensure!(line.starts_with(head), "{line}");
                ensure!(
                    s.field("/ulw/task")? == "fix the tests"
                        && s.field("/ulw/askedLater")? == json!([])
                );
                ensure!(s.field("/ulw/stopBlocks")? == 0 && s.field("/limits/maxBlocks")? == 1);
                let line = told(s, "ulw and the docs as well")?;
                ensure!(
                    line.starts_with("[omo] on with \"fix the tests\", and this: 1 check (false)"),
                    "{line}"
                );
                ensure!(line.contains("/omo:ulw --new begins another"), "{line}");
                ensure!(s.field("/ulw/askedLater")? == json!(["ulw and the docs as well"]));
                Ok(())
            },
        ),
        ("after a verified one a new one begins", |s| {
            s.start("--no-review --check true")?;
            s.claim_ends("verified")?;
            let line = told(s, "ulw!")?;
            ensure!(
                line.starts_with("[omo] on: ") && s.field("/ulw/task")?.is_null(),
                "{line}"
            );
            Ok(())
        }),
        ("and without any run as well", |s| {
            ensure!(is_contract(&s.prompt("ultrawork")?) && s.field("/ulw/task")?.is_null());
            Ok(())
        }),
        ("questions are answered and start nothing", |s| {
            for prompt in [
                "ulw?",
                "ulw help",
                "/omo:ulw",
                "/omo:ulw help",
                "ulw status",
                "/omo:ulw status?",
            ] {
                let answer = s.asks(prompt)?;
                let expected = if prompt.contains("status") {
                    "[omo] status"
                } else {
                    "`ulw <task>` holds this session"
                };
                ensure!(answer.starts_with(expected), "{prompt}: {answer}");
            }
            ensure!(s.lab.state().is_none(), "something was started");
            Ok(())
        }),
        ("options with the keyword", |s| {
            let line = told(s, "ulw --check 'sh test.sh' --max-blocks 2 fix the tests")?;
            ensure!(
                line.starts_with("[omo] on: 1 check (sh test.sh) + review, up to 2 continuations"),
                "{line}"
            );
            ensure!(
                s.field("/ulw/task")? == "ulw fix the tests"
                    && s.field("/gates/0/run")? == "sh test.sh"
            );
            for prompt in [
                "--check 'sh t.sh' ulw fix it",
                "fix it ulw --check 'sh t.sh'",
                "ulw: fix it --check “sh t.sh”",
            ] {
                s.session = s.another()?;
                let line = told(s, prompt)?;
                ensure!(
                    line.starts_with("[omo] on: 1 check (sh t.sh) + review"),
                    "{prompt}: {line}"
                );
                ensure!(
                    !s.field("/ulw/task")?.to_string().contains("t.sh"),
                    "{}",
                    s.field("/ulw/task")?
                );
            }
            s.session = s.another()?;
            for prompt in [
                "ulw fix --check 'sh t.sh' the tests",
                "ulw --checks 'make' fix it",
                "/omo:ulw --checks make fix it",
                "ulw --check \"make fix it",
            ] {
                let answer = s.asks(prompt)?;
                ensure!(
                    answer.contains("`--check") && answer.contains("nothing was turned on"),
                    "{prompt}: {answer}"
                );
            }
            ensure!(s.entry()?.is_null(), "a run was started");
            Ok(())
        }),
    ]);
}

/// A run whose model has begun to work.
fn works(scene: &mut Scene) -> Result<()> {
    told(scene, "ulw fix the tests")?;
    scene
        .session
        .transcript()
        .assistant("I have looked around.")
}

/// A Stop whose final message is this one.
fn says(scene: &Scene, message: &str) -> Value {
    scene.stop_fields(&json!({"last_assistant_message": message}))
}

#[test]
fn plain_words_stop_a_run_and_questions_are_let_through_uncounted() {
    play_with_review(&[
        ("plain words", |s| {
            for words in ["stop. do not continue.", "wait", "No!", "멈춰", "停止"] {
                works(s)?;
                let line = told(s, words)?;
                ensure!(
                    line.starts_with("[omo] ultrawork is paused because you said so"),
                    "{words}: {line}"
                );
                s.allows(&json!({}))?;
                ensure!(
                    s.prompt("and what of the page")?.system_message().is_none(),
                    "{words}: said twice"
                );
                s.allows(&json!({}))?;
                ensure!(told(s, "ulw")?.starts_with("[omo] goes on: "), "{words}");
                s.blocks(&json!({}))?;
                s.session = s.another()?;
            }
            works(s)?;
            ensure!(
                s.prompt("stop the server before the tests run")?
                    .system_message()
                    .is_none()
            );
            s.blocks(&json!({}))?;
            Ok(())
        }),
        ("a question of its user", |s| {
            works(s)?;
            s.prompt("why is the parser so slow?")?;
            s.allows(&json!({"last_assistant_message": "It reads the file twice."}))?;
            ensure!(s.blocks_counted()? == 0);
            s.prompt("can you fix that, too?")?;
            s.blocks(&json!({"last_assistant_message": "I looked at it."}))?;
            Ok(())
        }),
        ("a question to its user", |s| {
            works(s)?;
            let asks = says(s, "There are two schemas. Which database do you mean?");
            let answer = require_sound(&s.session.fire("Stop", &asks)?)?;
            let line = answer.system_message().context("not told")?;
            ensure!(
                line.starts_with("[omo] ultrawork waits for your answer") && !answer.blocks(),
                "{answer:?}"
            );
            ensure!(omo_says(s, &["status"])?.1.contains("your answer"));
            ensure!(
                s.prompt("no")?.system_message().is_none(),
                "an answer is no stop"
            );
            s.blocks(&json!({"last_assistant_message": "Shall I continue?"}))?;
            // Behind a continuation nobody looks on.
            s.session
                .transcript()
                .tool_use("Bash", &json!({"command": "ls"}))?;
            s.blocks(&json!({"last_assistant_message": "Which database do you mean?"}))?;
            ensure!(s.blocks_counted()? == 2);
            s.prompt("<task-notification>\n<status>completed</status>\n</task-notification>")?;
            s.session
                .transcript()
                .tool_use("Bash", &json!({"command": "ls"}))?;
            s.blocks(&json!({"last_assistant_message": "Which database do you mean?"}))?;
            s.session = s.another()?.with_env("CLAUDE_CODE_ENTRYPOINT", "sdk-cli");
            s.prompt("ulw fix the tests")?;
            s.blocks(&json!({"last_assistant_message": "Which database do you mean?"}))?;
            Ok(())
        }),
    ]);
}

#[test]
fn a_task_that_its_user_stopped_is_over() {
    play_with_review(&[
        (
            "another task is that one alone, with its own checks and bounds",
            |s| {
                told(
                    s,
                    "ulw --check 'sh typo.sh' --max-blocks 2 --no-review fix A",
                )?;
                s.prompt("ulw off")?;
                let line = told(s, "ulw --check 'sh b.sh' fix B")?;
                let on = format!("[omo] on: 1 check (sh b.sh) + review, {}", bounds());
                ensure!(line.lines().next() == Some(&*on), "{line}");
                ensure!(
                    s.field("/ulw/task")? == "ulw fix B"
                        && s.field("/ulw/askedLater")? == json!([])
                );
                ensure!(s.field("/gates/0/run")? == "sh b.sh" && s.field("/gates/1")?.is_null());
                Ok(())
            },
        ),
        (
            "checks that were added since are those of the next task",
            |s| {
                told(s, "ulw --check 'sh a.sh' fix A")?;
                s.prompt("/omo:stop-continuation")?;
                s.asks("/omo:check add sh a.sh")?;
                let line = told(s, "ulw fix B")?;
                ensure!(
                    line.starts_with("[omo] on: 1 check (sh a.sh) + review"),
                    "{line}"
                );
                Ok(())
            },
        ),
        (
            "a command that no person is known to have typed ends no task",
            |s| {
                told(s, "ulw --check 'sh a.sh' fix A")?;
                ensure!(omo_says(s, &["stop"])?.0 == 0);
                let line = told(s, "ulw and the docs as well")?;
                ensure!(
                    line.starts_with(
                        "[omo] on again with \"ulw fix A\", and this: 1 check (sh a.sh)"
                    ),
                    "{line}"
                );
                Ok(())
            },
        ),
        ("checks that were added without a run stay", |s| {
            s.asks("/omo:check add true")?;
            s.prompt("ulw off")?;
            ensure!(told(s, "ulw fix B")?.starts_with("[omo] on: 1 check (true)"));
            Ok(())
        }),
        (
            "the keyword alone goes on with it, and says with what",
            |s| {
                told(s, "ulw --check 'sh a.sh' --max-blocks 2 fix A")?;
                s.prompt("ulw off")?;
                let line = told(s, "ulw")?;
                ensure!(
                    line.starts_with(
                        "[omo] on again with \"ulw fix A\": 1 check (sh a.sh) + review, up to 2 "
                    ),
                    "{line}"
                );
                ensure!(
                    s.field("/gates/0/origin")? == "user",
                    "{}",
                    s.field("/gates/0")?
                );
                s.prompt("ulw off")?;
                let line = told(s, "ulw go on")?;
                ensure!(
                    line.starts_with(
                        "[omo] on again with \"ulw fix A\", and this: 1 check (sh a.sh)"
                    ),
                    "{line}"
                );
                Ok(())
            },
        ),
        (
            "another one in place of one that is on, or was not proved",
            |s| {
                told(s, "/omo:ulw --check false --no-review fix A")?;
                let line = told(s, "/omo:ulw --new fix B")?;
                ensure!(
                    line.starts_with("[omo] on: review only, ") && s.field("/ulw/task")? == "fix B",
                    "{line}"
                );
                ensure!(s.field("/gates")? == json!([]) && s.field("/weakened")? == json!([]));
                for prompt in ["/omo:ulw --new", "ulw --new"] {
                    ensure!(
                        s.asks(prompt)?
                            .contains("`--new` begins another task, and none is named"),
                        "{prompt}"
                    );
                }
                ensure!(s.field("/ulw/task")? == "fix B");
                Ok(())
            },
        ),
    ]);
}

/// A run that ends with a red check.
fn ends_red(scene: &mut Scene) -> Result<String> {
    scene.lab.write(
        "test.sh",
        "echo first line\necho 'expected 5, got -1'\nexit 1\n",
    )?;
    scene.start("--no-review --max-blocks 1 --check 'sh test.sh'")?;
    scene.claim_fails()?;
    scene.lab.write("more.txt", "x")?;
    scene.claim_ends("released")
}

#[test]
fn an_end_says_what_is_against_it_and_stays_readable() {
    play_with_review(&[
        ("a red check", |s| {
            let said = ends_red(s)?;
            let lines: Vec<&str> = said.lines().collect();
            ensure!(
                lines[0] == "[omo] NOT PROVED: sh test.sh is red (expected 5, got -1)"
                    && lines.len() == 3,
                "{said}"
            );
            let log = lines[1]
                .split_once(" Log: ")
                .map(|(_, log)| log)
                .context("no log")?;
            ensure!(fs::read_to_string(log)?.contains("first line\nexpected 5, got -1"));
            ensure!(
                said.contains("1 of 1 continuations") && said.contains("`ulw` goes on"),
                "{said}"
            );
            Ok(())
        }),
        ("what is left of one that has not ended", |s| {
            s.session.be_the_client();
            s.arm()?;
            let (_, out) = omo_says(s, &["verify", "--last"])?;
            let id = s.session.session().to_owned();
            ensure!(
                out.contains(&format!("its session is open: `omo watch --session {id}`"))
                    && !out.contains("claude --resume"),
                "{out}"
            );
            Ok(())
        }),
        ("what is left of it", |s| {
            let said = ends_red(s)?;
            let (status, out) = omo_says(s, &["verify", "--last"])?;
            ensure!(
                status == 1 && out.starts_with(said.lines().next().unwrap_or_default()),
                "{status}: {out}"
            );
            let (status, json) = omo_says(s, &["verify", "--last", "--json"])?;
            let json: Value = serde_json::from_str(&json)?;
            ensure!(
                status == 1 && json["proved"] == false && json["verdict"] == "released",
                "{json}"
            );
            ensure!(
                omo_says(s, &["report"])? == omo_says(s, &["report", "--last"])?,
                "another run is shown"
            );
            let (status, report) = omo_says(s, &["report", "--last"])?;
            for part in [
                "fix the tests",
                "> first line",
                "> expected 5, got -1",
                "review  none was wanted",
            ] {
                ensure!(
                    status == 0 && report.contains(part),
                    "{part} is missing: {report}"
                );
            }
            let page = page(s)?;
            require_parts(&page, &RED_PARTS)?;
            let (_, out) = omo_says(s, &["verify"])?;
            ensure!(
                out.contains("sh-test.sh") && out.contains("failed"),
                "not the checks of that run: {out}"
            );
            let files = fs::read_dir(s.lab.state_folder().join("ended"))?.count();
            ensure!(files == 1, "{files} files");
            Ok(())
        }),
    ]);
}

#[test]
fn an_end_says_by_what_the_work_is_proved() {
    play_with_review(&[
        ("a run that was proved, and one that is on after it", |s| {
            s.start("--check true")?;
            s.lab.write("fixed.txt", "<b>what was made</b>\n")?;
            ensure!(s.claim()?.blocks(), "no review was asked for");
            s.reviewer_reports(AGREES)?;
            let said = s.claim_ends("verified")?;
            ensure!(
                omo_says(s, &["verify", "--last"])?.0 == 0
                    && !omo_says(s, &["status"])?.1.contains(CHANGED_SINCE)
            );
            s.lab.write("fixed.txt", "what came later\n")?;
            let is_told =
                said.starts_with("[omo] VERIFIED: 1 check green, green without the change, too");
            ensure!(is_told && said.contains("; reviewed\n"), "{said}");
            let (status, out) = omo_says(s, &["verify", "--last", "--json"])?;
            ensure!(
                status == 1 && out.contains(CHANGED_SINCE),
                "{status}: {out}"
            );
            let (_, report) = omo_says(s, &["report", "--last"])?;
            ensure!(
                report.contains(CHANGED_SINCE)
                    && omo_says(s, &["status"])?.1.contains(CHANGED_SINCE),
                "{report}"
            );
            ensure!(
                report.contains("review  agreed")
                    && report.contains("> Each thing that was asked for is there."),
                "{report}"
            );
            let proved = page(s)?;
            require_parts(&proved, &PROVED_PARTS)?;
            ensure!(
                proved.contains(CHANGED_SINCE) && !proved.contains("what came later"),
                "{proved}"
            );
            s.session = s.another()?;
            s.arm()?;
            ensure!(
                page(s)?.contains("class=\"verdict open\""),
                "a run that is on is shown as ended"
            );
            let (status, out) = omo_says(s, &["verify", "--last"])?;
            ensure!(
                status == 1 && out.contains("NOT PROVED: the run has not ended, it is on"),
                "{status}: {out}"
            );
            Ok(())
        }),
        ("by review alone", |s| {
            s.start("")?;
            ensure!(s.claim()?.blocks(), "no review was asked for");
            s.reviewer_reports(AGREES)?;
            let said = s.claim_ends("verified")?;
            ensure!(
                said.starts_with("[omo] verified by review alone, no check ran\n"),
                "{said}"
            );
            Ok(())
        }),
        ("a forged record proves nothing", |s| {
            ends_red(s)?;
            let name = record_of_ended_run(s)?;
            let mut record: Value = serde_json::from_slice(&fs::read(&name)?)?;
            record["entry"]["verdict"]["kind"] = json!("verified");
            record["proved"] = json!(true);
            fs::write(&name, record.to_string())?;
            let (status, out) = omo_says(s, &["verify", "--last"])?;
            ensure!(
                status == 1 && out.starts_with("[omo] NOT PROVED"),
                "{status}: {out}"
            );
            fs::remove_file(s.state_file())?;
            let (status, out) = omo_says(s, &["verify", "--last"])?;
            ensure!(status == 3 && out.is_empty(), "{status}: {out}");
            Ok(())
        }),
        (
            "an end that is put before a later one, and an older state",
            |s| {
                s.start("--no-review --check true")?;
                s.claim_ends("verified")?;
                let name = record_of_ended_run(s)?;
                let mut record: Value = serde_json::from_slice(&fs::read(&name)?)?;
                record["endedAt"] = json!("2030-01-01T00:00:00.000Z");
                fs::write(&name, record.to_string())?;
                let older = fs::read(s.state_file())?;
                s.prompt("ulw --check false --no-review B")?;
                ensure!(
                    omo_says(s, &["verify", "--last"])?.0 == 1,
                    "the time in the file decided"
                );
                fs::write(s.state_file(), older)?;
                let (status, out) = omo_says(s, &["verify", "--last"])?;
                ensure!(status == 1 && out.contains("restored"), "{status}: {out}");
                Ok(())
            },
        ),
        ("nothing is known", |s| {
            ensure!(
                omo_says(s, &["verify", "--last"])?.0 == 3
                    && omo_says(s, &["report", "--last"])?.0 == 3
            );
            Ok(())
        }),
    ]);
}

#[test]
fn a_stop_from_a_terminal_is_told_once_and_a_shown_check_costs_nothing() {
    play_with_review(&[
        ("at the next Stop", |s| {
            s.arm()?;
            ensure!(omo_says(s, &["stop", "--reason", "wrong branch"])?.0 == 0);
            let answer = s.stop(&json!({}))?;
            let line = answer.system_message().context("nothing was told")?;
            ensure!(
                line.starts_with("[omo] STOPPED by `omo stop` (wrong branch)"),
                "{line}"
            );
            s.allows(&json!({}))
        }),
        ("at the next prompt", |s| {
            s.arm()?;
            ensure!(omo_says(s, &["stop"])?.0 == 0);
            let line = told(s, "what now?")?;
            ensure!(line.starts_with("[omo] STOPPED by `omo stop`"), "{line}");
            ensure!(s.prompt("and now?")? == HookAnswer::Nothing);
            Ok(())
        }),
        ("its own end needs no telling", |s| {
            s.arm()?;
            s.asks("/omo:stop-continuation")?;
            ensure!(s.prompt("what now?")? == HookAnswer::Nothing);
            s.allows(&json!({}))
        }),
        ("/omo:check run", |s| {
            s.start("--no-review --check true")?;
            ensure!(s.prompt("/omo:check run")? == HookAnswer::Nothing);
            s.allows(&json!({}))?;
            s.prompt("go on")?;
            s.blocks(&json!({})).map(drop)
        }),
        ("`Stop: never seen` only where a turn may have ended", |s| {
            s.arm()?;
            ensure!(!s.asks("/omo:status")?.contains("never seen in this run"));
            s.session
                .clone()
                .transcript()
                .assistant("I have looked around.")?;
            s.prompt("go on")?;
            ensure!(s.asks("/omo:status")?.contains("never seen in this run"));
            Ok(())
        }),
    ]);
}
