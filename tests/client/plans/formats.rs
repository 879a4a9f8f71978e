//! A plan of each format that people have, from the typed command to its end in the real client: one task goes wrong at
//! first, one is edited meanwhile, and the file says at the end what has passed.

mod plan_workers;

use std::fs;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use omo_testkit::{Lab, MockModel, PrintRun};
use tempfile::TempDir;

use super::{code, omo, tasks, type_prompt};
use crate::client_lab::{ClientFixture, client, plugin};
use crate::parallel::SUBSCRIBED;
use crate::task_lists::MAY_SHOW;
use plan_workers::{PlanWorkers, Work};

/// A plan as its tool writes it, and what becomes of it.
struct Play {
    /// Where the plan lies, and its text.
    path: &'static str,
    text: &'static str,
    /// What is typed, but for the approval.
    command: &'static str,
    /// What the workers write, which edit the user makes meanwhile, and what goes wrong first.
    work: Work,
    /// A task that its user has done again with `/omo:retry`.
    retried: Option<&'static str>,
    /// Each task with its standing and its attempts at the end.
    standings: &'static [&'static str],
    /// What omo changes in the edited file.
    ticks: &'static [(&'static str, &'static str)],
    /// What the person reads at the end.
    end: &'static [&'static str],
}

/// A project with the plan, the plugin and the client, below a home with a subscription.
struct Stage {
    fixture: ClientFixture,
    _programs: TempDir,
}

impl Stage {
    fn new(play: &Play) -> Self {
        let client = client().with_limit(Duration::from_mins(2));
        let workers = Arc::new(PlanWorkers::new(play.work));
        let model = MockModel::start(PlanWorkers::script(&workers)).expect("start the scripted model");
        let programs = tempfile::Builder::new().prefix("omo-programs-").tempdir().expect("a folder");
        symlink(client.program(), programs.path().join("claude")).expect("link the client");
        let lab = Lab::builder().model(&model).path(programs.path()).env("ANTHROPIC_API_KEY", "").plugin(plugin());
        let lab = lab.build().expect("set up a lab");
        fs::write(lab.home().join(".claude/.credentials.json"), SUBSCRIBED).expect("log in");
        lab.configure("[verify]\nreview = false\n").expect("configure");
        workers.set_plan(lab.project().join(play.path));
        for (path, text) in [(play.path, play.text), ("check.sh", CHECK), ("README.md", "words\n")] {
            lab.write(path, text).expect("write a file");
        }
        for line in ["config user.name Lab", "config user.email lab@example.org", "add .", "commit -q -m plan"] {
            lab.git(&line.split(' ').collect::<Vec<_>>()).expect("run git");
        }
        Self { fixture: ClientFixture { model, lab, client }, _programs: programs }
    }

    fn text(&self, path: &str) -> String {
        let path: PathBuf = self.fixture.lab.project().join(path);
        fs::read_to_string(path).expect("the plan is there")
    }

    /// What the person reads behind a prompt, in a new session or in that one, and the session.
    fn types(&self, prompt: &str, session: Option<&str>) -> (String, Option<String>) {
        let more: Vec<&str> = session.into_iter().flat_map(|id| ["--resume", id]).chain(MAY_SHOW).collect();
        let run = type_prompt(&self.fixture, prompt, &more);
        (said(&run), run.session_id().map(str::to_owned))
    }
}

/// All words that are there are right.
const CHECK: &str = "for file in words/*.txt; do grep -q done \"$file\" || exit 1; done\n";

fn said(run: &PrintRun) -> String {
    run.result().map_or_else(|| format!("{run:?}"), str::to_owned)
}

fn report(stage: &Stage) -> serde_json::Value {
    let (shown, _) = omo(&stage.fixture, &["run", "show", "--json"]);
    serde_json::from_str(&shown).expect("a report as JSON")
}

/// The person approves what is shown, takes their edit in with `omo run resume` as omo tells them to, has the task that
/// failed done again, and types on until the run is over.
fn play(play: &Play) {
    let stage = Stage::new(play);
    let (shown, _) = stage.types(play.command, None);
    assert_eq!(stage.fixture.requests(), 0, "no model reads what is to be approved");
    let (mut last, first) = stage.types(&format!("{} --approve {}", play.command, code(&shown)), None);
    let mut retried = play.retried;
    let mut session = first;
    for _ in 0..7 {
        if omo(&stage.fixture, &["report"]).0.contains("\nEdited\n") {
            let (taken, status) = omo(&stage.fixture, &["run", "resume"]);
            assert_eq!(status, Some(0), "{taken}");
            assert!(taken.contains("note: the plan was edited: changed "), "{taken}");
        }
        let fails = |task: &&str| tasks(&stage.fixture).contains(&format!("{task} failed 1"));
        if let Some(task) = retried.filter(fails) {
            retried = None;
            let (again, _) = stage.types(&format!("/omo:retry {task}"), session.as_deref());
            assert!(again.contains(" is to be done again. To go on, type /omo:execute"), "{again}");
        } else if ["complete", "completed_with_failures", "failed"]
            .contains(&report(&stage)["result"].as_str().unwrap_or(""))
        {
            break;
        }
        let (shown, id) = stage.types("/omo:execute", session.as_deref());
        session = id.or(session);
        last = shown;
    }
    assert_eq!(tasks(&stage.fixture), play.standings, "{last}");
    let edited = play.text.replace(play.work.edit.0, play.work.edit.1);
    assert_ne!(edited, play.text, "the edit is one");
    let ticked = play.ticks.iter().fold(edited, |text, (open, done)| {
        assert_eq!(text.matches(open).count(), 1, "{open}");
        text.replace(open, done)
    });
    assert_eq!(stage.text(play.path), ticked);
    for part in play.end {
        assert!(last.contains(part), "{part} is not in:\n{last}");
    }
    assert_eq!(stage.fixture.model.unscripted(), 0);
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_of_kiro_is_executed_in_batches() {
    play(&Play {
        path: ".kiro/specs/words/tasks.md",
        text: include_str!("formats/kiro.md"),
        command: "/omo:execute .kiro/specs/words/tasks.md --batches --batch-size 2",
        work: Work {
            files: &[
                ("2.1", "words/greeting.txt"),
                ("2.2", "words/farewell.txt"),
                ("3.1", "words/counter.txt"),
                ("3.2", "words/counter-test.txt"),
                ("4", "words/notes.txt"),
            ],
            wrong: "3.1",
            edit: ("Whatever a reader asks first", "Whatever a reader asks often"),
        },
        retried: Some("3.1"),
        standings: &[
            "1 claimed 0",
            "2.1 passed 1",
            "2.2 unverified 1",
            "3.1 passed 2",
            "3.2 unverified 1",
            "4 unverified 1",
            "verify passed 1",
        ],
        ticks: &[("- [ ] 2.1", "- [x] 2.1"), ("- [ ] 3.1", "- [x] 3.1")],
        end: &["2 of 6 tasks done, 1 done before, unchecked, 3 unproved.", "❔ 4  "],
    });
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_of_openspec_is_executed_in_waves() {
    play(&Play {
        path: "openspec/changes/words/tasks.md",
        text: include_str!("formats/openspec.md"),
        command: "/omo:execute openspec/changes/words/tasks.md --waves",
        work: Work {
            files: &[
                ("1.2", "words/store.txt"),
                ("1.3", "words/index.txt"),
                ("2.1", "words/page.txt"),
                ("2.2", "words/style.txt"),
            ],
            wrong: "2.2",
            edit: ("Write the style", "Write a style"),
        },
        retried: None,
        standings: &[
            "1.1 claimed 0",
            "1.2 passed 1",
            "1.3 passed 1",
            "2.1 passed 1",
            "2.2 passed 2",
            "3.1 passed 1",
            "verify passed 1",
        ],
        ticks: &[
            ("- [ ] 1.2", "- [x] 1.2"),
            ("- [ ] 1.3", "- [x] 1.3"),
            ("- [ ] 2.1", "- [x] 2.1"),
            ("- [ ] 2.2", "- [x] 2.2"),
            ("- [ ] 3.1", "- [x] 3.1"),
        ],
        end: &["5 of 6 tasks done, 1 done before, unchecked."],
    });
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_of_spec_kit_is_executed_in_parallel() {
    play(&Play {
        path: "specs/001-words/tasks.md",
        text: include_str!("formats/spec-kit.md"),
        command: "/omo:execute --parallel --allow 'Bash(omo agent evidence run:*)' specs/001-words/tasks.md",
        work: Work {
            files: &[
                ("T002", "words/settings.txt"),
                ("T003", "words/reader.txt"),
                ("T004", "words/finder.txt"),
                ("T006", "words/notes.txt"),
            ],
            wrong: "T003",
            edit: ("Write the notes", "Write notes"),
        },
        retried: Some("T003"),
        standings: &[
            "T001 claimed 0",
            "T002 unverified 2",
            "T003 passed 2",
            "T004 passed 2",
            "T005 passed 1",
            "T006 unverified 1",
            "verify passed 1",
        ],
        ticks: &[("- [ ] T003", "- [x] T003"), ("- [ ] T004", "- [x] T004"), ("- [ ] T005", "- [x] T005")],
        end: &["3 of 6 tasks done, 1 done before, unchecked, 2 unproved.", "❔ T006  "],
    });
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_of_task_master_is_executed_in_batches() {
    play(&Play {
        path: ".taskmaster/tasks/tasks.json",
        text: include_str!("formats/task-master.json"),
        command: "/omo:execute .taskmaster/tasks/tasks.json --batches --batch-size 2",
        work: Work {
            files: &[
                ("2", "words/reader.txt"),
                ("3.1", "words/index.txt"),
                ("3.2", "words/search.txt"),
                ("4", "words/notes.txt"),
            ],
            wrong: "3.2",
            edit: ("Whatever a reader asks first", "Whatever a reader asks often"),
        },
        retried: Some("3.2"),
        standings: &[
            "1 claimed 0",
            "2 passed 1",
            "3.1 unverified 1",
            "3.2 passed 2",
            "3 unverified 1",
            "4 unverified 1",
            "verify passed 1",
        ],
        ticks: &[
            (
                "\"dependencies\": [1],\n        \"status\": \"pending\"",
                "\"dependencies\": [1],\n        \"status\": \"done\"",
            ),
            (
                "\"dependencies\": [1],\n            \"status\": \"pending\"",
                "\"dependencies\": [1],\n            \"status\": \"done\"",
            ),
        ],
        end: &["2 of 6 tasks done, 1 done before, unchecked, 3 unproved.", "❔ 4  "],
    });
}
