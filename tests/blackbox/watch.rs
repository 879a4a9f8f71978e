//! `omo watch` in a terminal and without one: what it shows, what its keys do, and that it leaves a terminal as it was.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};

use omo_testkit::{Lab, Terminal, wait_until};
use omo_tests::plan_project::{
    Ground, ONE_TASK_BATCHES, Said, Task, plan_text, task, two_tasks_with_stop,
};
use omo_tests::scene::{self, Scene};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

/// A shell that runs `omo watch`, as a person's does; it writes down how its terminal was before and afterwards.
struct Watching {
    terminal: Terminal,
}

impl Watching {
    fn start(lab: &Lab, omo: &Path, variable: &str, size: (u16, u16)) -> Result<Self> {
        let script = format!(
            "trap : INT QUIT; stty -a > before; sh -c 'echo $$ > pid; exec env {variable} \"{}\" watch'; \
             status=$?; stty -a > after; echo \"status $status\"; sleep 60",
            omo.display()
        );
        let arguments = ["-c", &script];
        let terminal = Terminal::start_program(
            lab,
            Path::new("/bin/sh"),
            arguments.iter().map(std::ffi::OsStr::new),
            size,
        )?;
        Ok(Self { terminal })
    }

    fn shows(&self, text: &str) -> Result<String> {
        self.terminal
            .wait_until(&format!("{text:?}"), |screen| screen.contains(text))
    }

    /// Presses a key until the screen shows this: a question that was not there long enough to be read hears none.
    fn answers(&self, key: &str, text: &str) -> Result<String> {
        self.terminal.wait_until(&format!("{text:?}"), |screen| {
            screen.contains(text) || self.terminal.key(key).is_err()
        })
    }

    /// It has ended with this status, and the terminal is as it was.
    fn leaves(&self, lab: &Lab, status: i32) -> Result<String> {
        let screen = self.shows(&format!("status {status}"))?;
        let modes = |name: &str| fs::read_to_string(lab.project().join(name));
        // A terminal whose size was changed says so.
        let lines = |text: &str| {
            text.lines()
                .filter(|line| !line.contains("rows"))
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        ensure!(
            lines(&modes("before")?) == lines(&modes("after")?),
            "{}\n{}",
            modes("before")?,
            modes("after")?
        );
        ensure!(
            self.terminal.is_usual(),
            "the cursor or the lines: {screen}"
        );
        ensure!(
            !self.terminal.has_own_screen(),
            "its own screen is still there: {screen}"
        );
        Ok(screen)
    }
}

/// Sends a signal to the `omo watch` of a project.
fn send_signal(lab: &Lab, signal: Signal) -> Result<()> {
    let pid = fs::read_to_string(lab.project().join("pid"))?
        .trim()
        .parse()
        .ok()
        .and_then(Pid::from_raw);
    Ok(kill_process(pid.context("no process")?, signal)?)
}

/// Three tasks, of which the second has begun, and whose check prints something and waits for a file.
fn at_work() -> Result<(Ground, String)> {
    let slow = "echo one; echo two of two; while ! [ -e go ]; do sleep 0.05; done; grep -q two words/2.txt";
    let tasks = [
        task("1", "", "grep -q one words/1.txt"),
        task("2", "Task 1", slow),
        task("3", "Task 2", "true"),
    ];
    let ground = Ground::new(&plan_text(&tasks))?;
    ground.open()?;
    ground.pass("1", "one")?;
    let ticket = ground.start("2")?;
    ground.lab().write("words/2.txt", "two\n")?;
    Ok((ground, ticket))
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn a_run_is_shown_as_large_as_the_terminal_is() {
    let (ground, ticket) = at_work().unwrap();
    for (variable, size) in [("NO_COLOR=1", (80, 24)), ("NO_COLOR=", (40, 10))] {
        fs::remove_file(ground.lab().project().join("go")).ok();
        let watching = Watching::start(ground.lab(), &ground.program(), variable, size).unwrap();
        watching.shows("at work").unwrap();
        let mut check = (variable == "NO_COLOR=1")
            .then(|| {
                ground
                    .command(&["agent", "done", "--ticket", &ticket])
                    .stdout(std::process::Stdio::null())
                    .spawn()
            })
            .transpose()
            .unwrap();
        let last_line = if check.is_some() {
            "two of two"
        } else {
            "at work"
        };
        let screen = watching.shows(last_line).unwrap();
        for text in [
            "Words",
            "1 of 3 tasks done",
            "✓ 1",
            "→ 2",
            "r report  s stop  q leave",
        ] {
            assert!(screen.contains(text), "no {text:?}:\n{screen}");
        }
        assert!(
            screen
                .lines()
                .all(|line| line.chars().count() <= size.0.into()),
            "{screen}"
        );
        let has_colours = watching.terminal.coloured_screen().contains("\u{1b}[36m");
        assert_eq!(
            has_colours,
            variable == "NO_COLOR=",
            "{}",
            watching.terminal.coloured_screen()
        );
        assert!(watching.terminal.has_own_screen() && !watching.terminal.is_usual());
        watching.terminal.resize((100, 30)).unwrap();
        watching
            .terminal
            .wait_until("the new size", |screen| screen.lines().count() == 30)
            .unwrap();
        watching.terminal.key("q").unwrap();
        let screen = watching.leaves(ground.lab(), 0).unwrap();
        assert!(screen.contains("Running: 1 of 3 tasks done"), "{screen}");
        if let Some(check) = &mut check {
            // The attempt goes on: what looked on was not at work on it.
            check.kill().unwrap();
            check.wait().unwrap();
        }
    }
}

/// For how long a process has been at work on a processor, in hundredths of a second.
#[cfg(target_os = "linux")]
fn processor_time(pid: &str) -> Result<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, fields) = stat.rsplit_once(')').context("no name")?;
    let times = fields
        .split_whitespace()
        .skip(11)
        .take(2)
        .map(str::parse::<u64>);
    Ok(times.sum::<Result<u64, _>>()?)
}

#[test]
#[cfg(target_os = "linux")]
#[ignore = "needs tmux: cargo xtask test"]
fn two_thousand_tasks_in_which_nothing_happens_cost_next_to_nothing() {
    let ids: Vec<String> = (1..=2_000).map(|id| id.to_string()).collect();
    let tasks: Vec<Task> = ids
        .iter()
        .map(|id| Task {
            id,
            needs: "",
            lines: "",
            check: "true",
        })
        .collect();
    let ground = Ground::new(&plan_text(&tasks)).unwrap();
    ground.open().unwrap();
    let watching =
        Watching::start(ground.lab(), &ground.program(), "NO_COLOR=1", (80, 24)).unwrap();
    watching.shows("2000 tasks done").unwrap();
    let pid = fs::read_to_string(ground.lab().project().join("pid"))
        .unwrap()
        .trim()
        .to_owned();
    let before = processor_time(&pid).unwrap();
    let begun = Instant::now();
    wait_until("five seconds", || {
        (begun.elapsed() >= Duration::from_secs(5)).then_some(())
    })
    .unwrap();
    let used = processor_time(&pid).unwrap() - before;
    // A view that is made anew at each look takes more than twice as much.
    assert!(used < 12, "{used} hundredths of a second of five seconds");
    watching.terminal.key("q").unwrap();
    watching.leaves(ground.lab(), 0).unwrap();
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn whatever_ends_it_the_terminal_is_as_it_was() {
    let (ground, _) = at_work().unwrap();
    let lab = ground.lab();
    let start = || {
        let watching = Watching::start(lab, &ground.program(), "NO_COLOR=", (80, 24)).unwrap();
        watching.shows("q leave").unwrap();
        watching
    };
    let watching = start();
    watching.terminal.key("C-c").unwrap();
    watching.leaves(lab, 130).unwrap();
    drop(watching);
    for (signal, status) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::QUIT, 131)] {
        let watching = start();
        send_signal(lab, signal).unwrap();
        watching.leaves(lab, status).unwrap();
    }
    // Its keys stand for nothing that the run would feel, but for one that asks first.
    let watching = start();
    watching.terminal.key("s").unwrap();
    watching.shows("Stop this run?").unwrap();
    watching.answers("n", "Not stopped").unwrap();
    watching.terminal.key("Up").unwrap();
    // A pasted text answers nothing.
    watching.terminal.type_text("sy").unwrap();
    let screen = watching.shows("Stop this run?").unwrap();
    assert!(!screen.contains("is cancelled"), "{screen}");
    watching.answers("y", "is cancelled").unwrap();
    let screen = watching.leaves(lab, 1).unwrap();
    assert!(screen.contains("is cancelled"), "{screen}");
    assert_eq!(ground.report().unwrap()["result"], "cancelled");
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn it_can_be_suspended_and_goes_on() {
    let (ground, _) = at_work().unwrap();
    let program = ground.program();
    let arguments = ["--norc", "--noprofile", "-i"].map(std::ffi::OsStr::new);
    let terminal =
        Terminal::start_program(ground.lab(), Path::new("/bin/bash"), arguments, (80, 24)).unwrap();
    terminal
        .type_text(&format!("stty -a > before; '{}' watch", program.display()))
        .unwrap();
    terminal.key("Enter").unwrap();
    terminal
        .wait_until("the screen", |screen| screen.contains("q leave"))
        .unwrap();
    terminal.key("C-z").unwrap();
    terminal
        .wait_until("the shell", |screen| screen.contains("Stopped"))
        .unwrap();
    assert!(terminal.is_usual() && !terminal.has_own_screen());
    terminal.type_text("fg").unwrap();
    terminal.key("Enter").unwrap();
    wait_until("the screen", || terminal.has_own_screen().then_some(())).unwrap();
    terminal
        .wait_until("the keys", |screen| screen.contains("q leave"))
        .unwrap();
    terminal.key("q").unwrap();
    wait_until("the end", || (!terminal.has_own_screen()).then_some(())).unwrap();
    terminal
        .type_text("stty -a > after; diff before after && echo as it was")
        .unwrap();
    terminal.key("Enter").unwrap();
    terminal
        .wait_until("the same modes", |screen| screen.contains("\nas it was"))
        .unwrap();
    assert!(terminal.is_usual());
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn the_end_of_a_run_ends_it_with_its_page_and_a_question_stays() {
    let mut ground = Ground::new(&two_tasks_with_stop()).unwrap();
    ground.options = ONE_TASK_BATCHES;
    ground.open().unwrap();
    let watching =
        Watching::start(ground.lab(), &ground.program(), "NO_COLOR=1", (80, 24)).unwrap();
    watching.shows("0 of 2 tasks done").unwrap();
    ground.pass("1", "one").unwrap();
    ground.omo_at_terminal(&["agent", "next"]).unwrap();
    let screen = watching.shows("To answer: omo answer").unwrap();
    assert!(screen.contains("Waiting for you"), "{screen}");
    let id = screen
        .split("omo answer ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next())
        .unwrap()
        .to_owned();
    // Without a terminal, it ends at a question.
    let said = ground
        .omo_at_terminal(&["watch"])
        .unwrap()
        .exits_with(7)
        .unwrap();
    assert!(
        said.out.contains(&format!("omo answer {id}")),
        "{}",
        said.out
    );
    ground
        .omo_at_terminal(&["answer", &id, "continue"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    watching.shows("1 of 2 tasks done").unwrap();
    ground.pass("2", "two").unwrap();
    ground.omo_at_terminal(&["agent", "next"]).unwrap();
    let screen = watching.leaves(ground.lab(), 0).unwrap();
    assert!(screen.contains("The page of this run: "), "{screen}");
}

#[test]
fn without_a_terminal_each_thing_that_happens_is_a_line() {
    let ground = Ground::new(&plan_text(&[Task {
        id: "1",
        needs: "",
        lines: "",
        check: "grep -q one words/1.txt",
    }]))
    .unwrap();
    let refused = ground
        .omo_at_terminal(&["watch", "--seconds", "0"])
        .unwrap();
    assert!(
        refused
            .refuses(3, "no run is known here", "omo run start")
            .unwrap()
            .out
            .is_empty()
    );
    let mut waiting = ground
        .command(&["watch"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut waited = BufReader::new(waiting.stdout.take().unwrap());
    let mut line = String::new();
    waited.read_line(&mut line).unwrap();
    assert!(
        line.starts_with("No run is known here yet: this waits for one."),
        "{line}"
    );
    ground.open().unwrap();
    let said = ground
        .omo_at_terminal(&["watch", "--seconds", "0"])
        .unwrap()
        .exits_with(0)
        .unwrap();
    assert_eq!(said.out, "Words\nRunning: 0 of 1 tasks done\n");
    while !line.contains("Running: 0 of 1 tasks done") {
        assert_ne!(waited.read_line(&mut line).unwrap(), 0, "{line}");
    }
    let watching = ground
        .command(&["watch"])
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    ground.pass("1", "one").unwrap();
    ground.omo_at_terminal(&["agent", "next"]).unwrap();
    let said = Said::of(&watching.wait_with_output().unwrap())
        .exits_with(0)
        .unwrap();
    assert!(
        !said.out.contains('\u{1b}') && !said.out.contains('\u{7}'),
        "{:?}",
        said.out
    );
    waited.read_to_string(&mut line).unwrap();
    assert!(
        waiting.wait().unwrap().success() && line.contains("Execution complete"),
        "{line}"
    );
    let path = said
        .out
        .lines()
        .last()
        .unwrap()
        .strip_prefix("The page of this run: ")
        .unwrap();
    assert!(
        fs::read_to_string(path)
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn an_ultrawork_run_is_watched_until_its_verdict() {
    let mut scene = Scene::new(&scene::plugin()).unwrap();
    scene.prompt("ulw fix the \u{1b}[2J tests").unwrap();
    let omo = scene.plugin.join("bin/omo");
    let watching = Watching::start(&scene.lab, &omo, "NO_COLOR=1", (60, 12)).unwrap();
    let screen = watching.shows("On: the session works").unwrap();
    assert!(screen.contains("8 of 8 continuations left"), "{screen}");
    scene
        .stop(&json!({ "last_assistant_message": "I go on." }))
        .unwrap();
    watching.shows("7 of 8 continuations left").unwrap();
    let ends: Value = scene.lab.state().unwrap();
    assert!(ends.is_object());
    let mut stop = scene.lab.command(&omo);
    assert!(stop.args(["stop", "--all"]).status().unwrap().success());
    let screen = watching.leaves(&scene.lab, 1).unwrap();
    assert!(
        screen.contains("STOPPED by a command") && screen.contains("The page of this run: "),
        "{screen}"
    );
}

#[test]
fn a_run_whose_state_is_removed_is_said_to_be_gone() {
    let mut scene = Scene::new(&scene::plugin()).unwrap();
    scene.start("--no-review --check true").unwrap();
    let mut omo = scene.lab.command(scene.plugin.join("bin/omo"));
    omo.arg("watch")
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    let mut watching = omo.spawn().unwrap();
    let mut first = [0; 1];
    watching
        .stdout
        .as_mut()
        .unwrap()
        .read_exact(&mut first)
        .unwrap();
    fs::remove_dir_all(scene.lab.project().join(".sisyphus")).unwrap();
    let said = watching.wait_with_output().unwrap();
    let error = String::from_utf8_lossy(&said.stderr);
    assert!(
        said.status.code() == Some(3) && error.contains("is gone: nothing holds it any more"),
        "{said:?}"
    );
}

#[test]
fn its_user_decides_how_the_end_of_a_run_is_told() {
    let done = json!({ "last_assistant_message": "Done.\n\n<promise>DONE</promise>" });
    for (setting, expected) in [
        ("", Some("\u{1b}]9;omo: NOT PROVED")),
        ("[notify]\ndesktop = false\n", Some("\u{7}")),
        ("[notify]\nbell = false\ndesktop = false\n", None),
    ] {
        let mut scene = Scene::new(&scene::plugin()).unwrap();
        scene
            .lab
            .configure(&format!(
                "[verify]\nreview = false\ndetect = \"off\"\n{setting}"
            ))
            .unwrap();
        // What lies in a project decides nothing.
        scene
            .lab
            .write("omo.toml", "[notify]\nbell = true\ndesktop = true\n")
            .unwrap();
        scene.arm().unwrap();
        let answer = scene
            .stop(&json!({ "last_assistant_message": "I go on." }))
            .unwrap();
        assert_eq!(
            answer.text("/terminalSequence"),
            None,
            "a continuation is no end: {answer:?}"
        );
        let ended = scene.stop(&done).unwrap();
        assert!(
            ended
                .system_message()
                .is_some_and(|line| line.contains(" Page: /")),
            "{ended:?}"
        );
        let terminal = ended.text("/terminalSequence");
        assert_eq!(
            terminal.map(|text| expected.is_some_and(|start| text.starts_with(start))),
            expected.map(|_| true)
        );
        assert_eq!(
            scene.stop(&done).unwrap().text("/terminalSequence"),
            None,
            "it is told once"
        );
    }
}
