//! A plan of each format that people have, from the typed command to its end in the real client, in each mode: what the
//! person reads at the end, and what the files say.

mod plan_workers;
mod table;
mod to_the_end;
mod troubles;

use std::fs;
use std::os::unix::fs::symlink;
use std::sync::Arc;
use std::time::Duration;

use omo_testkit::{Lab, MockModel};
use serde_json::Value;
use tempfile::TempDir;

use super::{code, omo, tasks, type_prompt};
use crate::client_lab::{ClientFixture, client, plugin};
use crate::parallel::SUBSCRIBED;
use crate::task_lists::MAY_SHOW;
use plan_workers::{PlanWorkers, Work};
use table::{Format, Proof};

/// The ways to execute a plan.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mode {
    Batches,
    Waves,
    Parallel,
}

impl Mode {
    /// What is typed for it before the plan.
    fn options(self) -> &'static str {
        match self {
            Self::Batches => "--batches --batch-size 2",
            Self::Waves => "--waves",
            Self::Parallel => "--parallel --allow 'Bash(omo agent evidence run:*)'",
        }
    }
}

/// All words that are there are right.
const CHECK: &str = "for file in words/*.txt; do grep -q done \"$file\" || exit 1; done\n";
/// How often a person types on until they give up.
const MOST_PROMPTS: usize = 7;

/// A project with the plan, the plugin and the client, below a home with a subscription.
struct Stage {
    format: &'static Format,
    mode: Mode,
    command: String,
    fixture: ClientFixture,
    /// What the person read last.
    last: String,
    /// The session that they type in; nothing begins a new one.
    session: Option<String>,
    _programs: TempDir,
}

impl Stage {
    fn new(format: &'static Format, mode: Mode, work: Work) -> Self {
        let client = client().with_limit(Duration::from_mins(2));
        let workers = Arc::new(PlanWorkers::new(format, work));
        let model =
            MockModel::start(PlanWorkers::script(&workers)).expect("start the scripted model");
        let programs = tempfile::Builder::new()
            .prefix("omo-programs-")
            .tempdir()
            .expect("a folder");
        symlink(client.program(), programs.path().join("claude")).expect("link the client");
        let lab = Lab::builder()
            .model(&model)
            .path(programs.path())
            .env("ANTHROPIC_API_KEY", "")
            .plugin(plugin());
        let lab = lab.build().expect("set up a lab");
        fs::write(lab.home().join(".claude/.credentials.json"), SUBSCRIBED).expect("log in");
        lab.configure("[verify]\nreview = false\n")
            .expect("configure");
        workers.set_plan(lab.project().join(format.files[0].0));
        for (path, text) in [("check.sh", CHECK), ("README.md", "words\n")]
            .iter()
            .chain(format.files)
        {
            lab.write(path, text).expect("write a file");
        }
        for line in [
            "config user.name Lab",
            "config user.email lab@example.org",
            "add .",
            "commit -q -m plan",
        ] {
            lab.git(&line.split(' ').collect::<Vec<_>>())
                .expect("run git");
        }
        let command = format!("/omo:execute {} {}", mode.options(), format.target);
        let fixture = ClientFixture { model, lab, client };
        Self {
            format,
            mode,
            command,
            fixture,
            last: String::new(),
            session: None,
            _programs: programs,
        }
    }

    /// A file of the plan as it is now.
    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.fixture.lab.project().join(path)).expect("the plan is there")
    }

    /// The person types a prompt in their session, or in a new one.
    fn types(&mut self, prompt: &str) -> &str {
        let more: Vec<&str> = self
            .session
            .iter()
            .flat_map(|id| ["--resume", id])
            .chain(MAY_SHOW)
            .collect();
        let run = type_prompt(&self.fixture, prompt, &more);
        self.session = run.session_id().map(str::to_owned).or(self.session.take());
        self.last = run
            .result()
            .map_or_else(|| format!("{run:?}"), str::to_owned);
        &self.last
    }

    /// The person reads the commands of the plan and approves them.
    fn begins(&mut self) {
        let command = self.command.clone();
        let code = code(self.types(&command));
        assert_eq!(
            self.fixture.requests(),
            0,
            "no model reads what is to be approved"
        );
        self.session = None;
        self.types(&format!("{command} --approve {code}"));
    }

    fn report(&self) -> Value {
        let (shown, _) = omo(&self.fixture, &["run", "show", "--json"]);
        serde_json::from_str(&shown).expect("a report as JSON")
    }

    fn is_over(&self) -> bool {
        let result = self.report()["result"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        ["complete", "completed_with_failures", "failed"].contains(&&*result)
    }

    /// The run ended well: each task stands as the format says, but for those of `other`; what passed has a check that
    /// was green, what has none is shown as unproved; and of the files of the plan, which `edited` gives as their user
    /// left them, nothing but the state of what has passed has changed.
    fn ended(&self, other: &[(&str, &str)], edited: impl Fn(&str) -> String) {
        let Format {
            tasks: rows,
            ticks,
            files,
            end,
            ..
        } = self.format;
        let standing = |(id, proof): &(&str, Proof)| {
            let standing = match proof {
                Proof::Check => "passed 1",
                Proof::Review => "unproved 1",
                Proof::Before => "claimed 0",
            };
            let standing = other
                .iter()
                .find(|(task, _)| task == id)
                .map_or(standing, |(_, standing)| standing);
            format!("{id} {standing}")
        };
        let mut expected: Vec<String> = rows.iter().map(standing).collect();
        // A verifier looks at the whole of a run in waves, and a reviewer at what no command proves.
        let is_reviewed = rows.iter().any(|(_, proof)| *proof == Proof::Review);
        if is_reviewed || self.mode == Mode::Waves {
            expected.push("verify passed 1".to_owned());
        }
        assert_eq!(tasks(&self.fixture), expected, "{}", self.last);
        let report = self.report();
        assert_eq!(report["result"], "complete", "{}", self.last);
        for task in
            rows_of(&report).filter(|task| task["standing"] == "passed" && task["id"] != "verify")
        {
            assert!(is_proved(task, &report), "{task:#}");
        }
        for (place, (path, text)) in files.iter().enumerate() {
            let ticks = if place == 0 { *ticks } else { &[] };
            let ticked = ticks.iter().fold(edited(text), |text, (open, done)| {
                assert_eq!(text.matches(open).count(), 1, "{open}");
                text.replace(open, done)
            });
            assert_eq!(self.text(path), ticked, "{path}");
        }
        assert!(self.last.contains(end), "{end} is not in:\n{}", self.last);
        for (id, proof) in *rows {
            let mark = format!("❔ {id}  ");
            assert_eq!(
                self.last.contains(&mark),
                *proof == Proof::Review,
                "{mark}\n{}",
                self.last
            );
        }
        assert_eq!(self.fixture.model.unscripted(), 0);
    }
}

fn rows_of(report: &Value) -> impl Iterator<Item = &Value> {
    report["tasks"].as_array().into_iter().flatten()
}

/// Whether a task that is shown as passed has a check that was green: its own, or that of what proves it.
fn is_proved(task: &Value, report: &Value) -> bool {
    let is_green = |checks: &Value| {
        let checks = checks.as_array().map(Vec::as_slice).unwrap_or_default();
        !checks.is_empty() && checks.iter().all(|check| check["verdict"] == "green")
    };
    let is_proved_by = |what: &str| {
        task["evidence"]
            .to_string()
            .contains(&format!("; proved by {what}: "))
    };
    let by_another = |other: &Value| {
        is_proved_by(other["id"].as_str().unwrap_or_default()) && is_green(&other["checks"])
    };
    is_green(&task["checks"])
        || rows_of(report).any(by_another)
        || is_proved_by("the checks of the whole") && is_green(&report["final_checks"])
}
