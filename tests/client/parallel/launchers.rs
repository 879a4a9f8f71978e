//! Workers that a launcher hands to an engine, where the real client works in a clone: it reads all of its steps in one
//! prompt, commits each of them itself, and nothing but the remote repository connects it with the run.

use std::fs;
use std::path::PathBuf;

use omo_engine::state::TaskStatus;
use omo_testkit::model::RecordedRequest;
use omo_testkit::{ModelScript, ModelTurn};
use omo_tests::parallel_plan::{plan_text, session, step};

use super::scripted_workers::{Works, write};
use super::{Payer, STEPS, Site};
use crate::block_text::{bash, between};

/// A check that the client does not run without the word of its user.
const ASKED_CHECK: &str = "sh -c 'grep -q 2 b.txt'";

/// What a worker is asked for, as its prompt has it.
struct BriefStep {
    number: String,
    file: String,
    check: String,
    message: String,
}

/// The steps of the prompt of a worker that has no ledger; nothing of any other prompt.
fn steps_of(request: &RecordedRequest) -> Vec<BriefStep> {
    let all = request.all_text();
    let prompt = all.split("You do session ").nth(1).unwrap_or_default();
    prompt.split("\n--- Step ").skip(1).map(read_step).collect()
}

fn read_step(text: &str) -> BriefStep {
    let quoted = |name: &str| {
        between(text, &format!("**{name}:** `"), "`")
            .unwrap_or_default()
            .to_owned()
    };
    let message = text
        .split("- Commit it with this message")
        .nth(1)
        .unwrap_or_default();
    let lines = message
        .lines()
        .skip(2)
        .take_while(|line| line.is_empty() || line.starts_with("      "));
    BriefStep {
        number: text.split('/').next().unwrap_or_default().to_owned(),
        file: quoted("Files"),
        check: quoted("Verify"),
        message: lines
            .map(str::trim_start)
            .collect::<Vec<_>>()
            .join("\n")
            .trim()
            .to_owned(),
    }
}

/// A model that does each step as its prompt says: it writes the file, runs the check, and commits.
fn script() -> ModelScript {
    ModelScript::new().whenever(
        "",
        ModelTurn::computed(|request| {
            let steps = steps_of(request);
            let (at, part) = (request.answers() / 3, request.answers() % 3);
            let Some(step) = steps.get(at) else {
                return ModelTurn::text("All steps are committed.");
            };
            match part {
                0 => write(&step.file, &step.number),
                1 => bash(&step.check),
                _ => bash(&format!("git add -A && git commit -m '{}'", step.message)),
            }
        }),
    )
}

/// The other end: a remote repository, and the folder that workers work in.
struct FarEnd {
    site: Site,
    scratch: PathBuf,
}

impl FarEnd {
    /// Two sessions side by side, the first one of two steps. The check of the second step is none that the client runs
    /// unasked.
    fn new() -> Self {
        let sessions = [
            session(1, &[step(1, "a.txt"), step(2, "b.txt")]),
            session(1, &[step(3, "c.txt")]),
        ];
        let text = plan_text(&sessions, "test -f a.txt && test -f b.txt && test -f c.txt");
        let text = text.replace("`grep -q 2 b.txt`", &format!("`{ASKED_CHECK}`"));
        let site = Site::with_script(Payer::Key, &text, Works::default(), script());
        let (hub, scratch) = (
            site.fixture.lab.root().join("hub.git"),
            site.fixture.lab.root().join("scratch"),
        );
        let hub = hub.to_str().unwrap();
        site.git(&["init", "-q", "--bare", hub]);
        site.git(&["remote", "add", "origin", hub]);
        site.git(&["push", "-q", "origin", "main"]);
        let table = format!(
            "[launcher.local]\nclient = \"{}\"\nscratch = \"{}\"\npoll_seconds = 1\n",
            site.fixture.client.program().display(),
            scratch.display()
        );
        site.fixture
            .lab
            .configure(&format!("[verify]\nreview = false\n{table}"))
            .unwrap();
        Self { site, scratch }
    }

    /// Opens the run, and follows it to its end; what the clients were told of the check of the second step.
    fn play(&self, more: &[&str]) -> String {
        self.site
            .open(&[&["--accept-api-billing", "--launcher", "local"], more].concat());
        self.site.wait(0);
        let requests = self.site.fixture.model.requests();
        let mut answers = requests.iter().filter(|request| request.answers() == 5);
        answers
            .next()
            .expect("no client came to the second step")
            .tool_results_text()
    }

    /// Every step has passed with its first attempt, and nothing is left of the run at either end.
    fn is_whole(&self) {
        for id in ["1", "2", "3"] {
            let task = self.site.task(id);
            assert_eq!(
                (task.status, task.attempts, task.lost_workers),
                (TaskStatus::Passed, 1, 0),
                "{task:?}"
            );
        }
        self.site.is_whole();
        let there = self.site.git(&["ls-remote", "--refs", "origin"]);
        assert!(
            there
                .lines()
                .all(|line| line.ends_with("\trefs/heads/main")),
            "on the remote: {there}"
        );
        let folders = fs::read_dir(&self.scratch)
            .unwrap()
            .flatten()
            .map(|user| user.path());
        let left: Vec<_> = folders
            .flat_map(|user| fs::read_dir(user).unwrap().flatten())
            .collect();
        let is_kept = |entry: &fs::DirEntry| {
            ["jobs", "starts.lock"]
                .iter()
                .any(|name| entry.file_name() == *name)
        };
        assert!(left.iter().all(is_kept), "workers have left {left:?}");
    }
}

#[test]
fn workers_of_the_real_client_behind_a_launcher_come_to_one_branch() {
    let far = FarEnd::new();
    let told = far.play(&[]);
    assert!(told.contains("This command requires approval"), "{told}");
    let prompt = far
        .site
        .fixture
        .model
        .requests()
        .first()
        .expect("a client has begun")
        .all_text();
    assert!(
        prompt.contains("One that you are not allowed to run is run for you"),
        "{prompt}"
    );
    far.is_whole();
    let site = &far.site;
    for (step, _) in STEPS.iter().take(3) {
        assert!(
            site.git(&["log", "--format=%s"])
                .lines()
                .any(|line| line == format!("feat: write {step}"))
        );
    }
    let parallel = site.state().parallel.expect("it has parallel workers");
    assert!(
        parallel.groups.values().all(|group| group.cost_micros > 0),
        "{:?}",
        parallel.groups
    );
    assert_eq!(parallel.untold_micros(), 0);
    for (worker, tasks) in [
        ("1", "tasks with a commit: 1, 2"),
        ("S2", "tasks with a commit: 3"),
    ] {
        let log = site.omo(&["run", "logs", worker]).exits_with(0).unwrap();
        assert!(
            log.out.contains(tasks) && log.out.contains("every task was pushed"),
            "{}",
            log.out
        );
    }
    let report = site.omo(&["report"]).exits_with(0).unwrap();
    assert!(
        report.out.contains('$'),
        "the report tells no cost: {}",
        report.out
    );
}
