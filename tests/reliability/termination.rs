//! Being asked to end while something runs in another process group, at every point: it is ended as well, and nothing
//! is left behind.

use omo_tests::all_good;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use omo_testkit::strace::{self, CallFault};
use omo_testkit::{Lab, samples, wait_until};
use omo_tests::claim_scene::{DONE, processes_with, wait_until_gone};
use omo_tests::scene::{Scene, plugin};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;
use tempfile::TempDir;

use crate::fault_operations::{hook, omo};
use crate::faults::sampled;

/// A process that starts another program in a group of its own.
struct Case {
    name: &'static str,
    /// The program that it starts.
    program: &'static str,
    process: fn(&Scene) -> Result<(Command, String)>,
}

const CASES: [Case; 5] = [
    Case {
        name: "a status line around another one",
        program: "other-line",
        process: |s| Ok(status_line(s)),
    },
    Case {
        name: "omo verify",
        program: "git",
        process: |s| Ok(omo(s, &["verify"])),
    },
    Case {
        name: "a claim that a check judges",
        program: "git",
        process: claim,
    },
    Case {
        name: "omo setup",
        program: "claude",
        process: |s| Ok(omo(s, &["setup"])),
    },
    Case {
        name: "omo doctor --live",
        program: "claude",
        process: |s| Ok(omo(s, &["doctor", "--live"])),
    },
];

fn status_line(scene: &Scene) -> (Command, String) {
    let (mut command, _) = omo(scene, &["statusline", "--wrap", "exec other-line"]);
    command.env("CLAUDE_PROJECT_DIR", scene.lab.project());
    let mut input = samples::statusline(scene.lab.project());
    input["session_id"] = json!(scene.session.session());
    (command, format!("{input}\n"))
}

fn claim(scene: &Scene) -> Result<(Command, String)> {
    let fields = scene.stop_fields(&json!({"last_assistant_message": DONE}));
    hook(scene, "omo-stop", "Stop", &fields)
}

/// What the program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    /// It fails at once.
    Fails,
    /// It never ends by itself.
    Runs,
    /// Nor when it is asked to, it and what it has started.
    StaysOn,
}

/// A session with a check, and a program that bears a mark.
struct TerminationFixture {
    scene: Scene,
    /// In `PATH` from the start: a run's git is found where it began.
    programs: TempDir,
    mark: String,
}

impl TerminationFixture {
    fn new(plugin: &Path, case: &Case, program: Program) -> Result<Self> {
        let programs = tempfile::tempdir()?;
        let lab = Lab::builder().path(programs.path()).build()?;
        lab.configure("[verify]\nreview = false\n[limits]\ncooldown_seconds = 0\n")?;
        let mut scene = Scene::in_lab(plugin, lab)?;
        scene.start("--check true")?;
        // No other process sleeps for so long.
        let mark = format!("98{}", u64::from(std::process::id()) * 1_000_000 + unique());
        let started = scene.lab.root().join("started");
        let run = match program {
            Program::Fails => "exit 1".to_owned(),
            Program::Runs => format!("echo >'{}'; exec sleep {mark}", started.display()),
            Program::StaysOn => {
                format!(
                    "trap '' TERM INT HUP; sleep {mark} & echo >'{}'; exec sleep {mark}",
                    started.display()
                )
            }
        };
        let installed = json!([{"id": "omo@omo", "version": "0.1.0", "scope": "user", "enabled": true,
            "installPath": plugin}]);
        // The client is slow only in a session.
        let answers = format!(
            "case \"$1\" in --version) echo '2.1.328 (Claude Code)'; exit;; plugin) echo '{installed}'; exit;; esac"
        );
        let answers = if case.name == "omo doctor --live" {
            answers
        } else {
            String::new()
        };
        let file = programs.path().join(case.program);
        fs::write(&file, format!("#!/bin/sh\n{answers}\n{run}\n"))?;
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755))?;
        fs::create_dir(scene.lab.root().join("temporary"))?;
        Ok(Self {
            scene,
            programs,
            mark,
        })
    }

    fn process(&self, case: &Case) -> Result<(Command, String)> {
        let (mut command, input) = (case.process)(&self.scene)?;
        command.env(
            "PATH",
            format!("{}:/usr/bin:/bin", self.programs.path().display()),
        );
        command.env("TMPDIR", self.scene.lab.root().join("temporary"));
        Ok((command, input))
    }

    /// Nothing runs any more, and no folder of it is left.
    fn is_clear(&self) -> Result<()> {
        wait_until_gone(&self.mark)?;
        let left: Vec<_> = fs::read_dir(self.scene.lab.root().join("temporary"))?
            .flatten()
            .collect();
        ensure!(left.is_empty(), "left behind: {left:?}");
        Ok(())
    }
}

fn unique() -> u64 {
    use std::sync::atomic::{AtomicU64, Ordering};
    static NEXT: AtomicU64 = AtomicU64::new(0);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

#[test]
fn what_runs_in_another_group_ends_with_its_starter() {
    let plugin = plugin();
    let mut cases = Vec::new();
    for case in &CASES {
        for (program, signal) in [
            (Program::Runs, Signal::TERM),
            (Program::StaysOn, Signal::INT),
        ] {
            let ended = TerminationFixture::new(&plugin, case, program)
                .and_then(|fixture| ends(&fixture, case, signal));
            cases.push((format!("{}, {program:?}", case.name), ended));
        }
    }
    all_good(cases);
}

fn ends(fixture: &TerminationFixture, case: &Case, signal: Signal) -> Result<()> {
    let (mut command, input) = fixture.process(case)?;
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let mut child = command.spawn()?;
    std::io::Write::write_all(
        &mut child.stdin.take().context("no stdin")?,
        input.as_bytes(),
    )?;
    let started = fixture.scene.lab.root().join("started");
    // It says so before it becomes the process that bears the mark.
    let runs = || (started.exists() && !processes_with(&fixture.mark).is_empty()).then_some(());
    wait_until("the program runs", runs)?;
    // To this one process alone, as a supervisor does; Ctrl-C reaches its whole group.
    kill_process(Pid::from_child(&child), signal)?;
    let status = child.wait()?;
    let expected = if case.name == "omo doctor --live" {
        None
    } else {
        Some(signal.as_raw())
    };
    ensure!(status.signal() == expected, "{status}");
    fixture.is_clear()
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn being_asked_to_end_is_handled_before_anything_is_started() {
    let plugin = plugin();
    for case in &CASES {
        let fixture = TerminationFixture::new(&plugin, case, Program::Fails).unwrap();
        let (command, input) = fixture.process(case).unwrap();
        let calls = strace::run_with_children(&command, &input).unwrap().calls;
        let first = |what: &str| calls.iter().position(|call| call.line.starts_with(what));
        let started =
            first("setpgid(0, 0)").unwrap_or_else(|| panic!("{}: nothing was started", case.name));
        for signal in ["SIGTERM", "SIGINT", "SIGHUP"] {
            let handled = first(&format!("rt_sigaction({signal}, {{sa_handler=0x"));
            assert!(
                handled.is_some_and(|handled| handled < started),
                "{}: {signal}",
                case.name
            );
        }
    }
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn a_status_line_that_is_ended_at_any_call_leaves_nothing_behind() {
    let plugin = plugin();
    let [case, ..] = &CASES;
    let fixture = TerminationFixture::new(&plugin, case, Program::Runs).unwrap();
    let (command, input) = fixture.process(case).unwrap();
    // Its own limit ends this one.
    let whole = strace::run(&command, &input).unwrap();
    assert!(whole.run.status.success(), "{whole:?}");
    fixture.is_clear().unwrap();
    // What goes before that has nothing to do with processes.
    let first = whole
        .calls
        .iter()
        .position(|call| call.name == "pipe2")
        .unwrap();
    for call in &sampled(whole.calls[first..].to_vec(), 1) {
        strace::run_with_fault(&command, &input, call, CallFault::Signal("TERM")).unwrap();
        fixture
            .is_clear()
            .unwrap_or_else(|error| panic!("at {}: {error:#}", call.line));
    }
}

#[test]
#[ignore = "needs strace: cargo xtask test"]
fn a_doctor_that_is_ended_while_it_makes_its_folders_leaves_none() {
    let plugin = plugin();
    let [.., case] = &CASES;
    let fixture = TerminationFixture::new(&plugin, case, Program::Fails).unwrap();
    let (command, input) = fixture.process(case).unwrap();
    let calls = strace::run(&command, &input).unwrap().calls;
    let making: Vec<_> = calls
        .iter()
        .filter(|call| call.name.starts_with("mkdir") && call.line.contains("omo-doctor-"))
        .collect();
    assert!(making.len() > 2, "{calls:#?}");
    for call in making {
        strace::run_with_fault(&command, &input, call, CallFault::Signal("TERM")).unwrap();
        fixture
            .is_clear()
            .unwrap_or_else(|error| panic!("at {}: {error:#}", call.line));
    }
}

#[test]
fn a_check_can_be_interrupted_though_its_omo_was_started_in_the_background() {
    let mut scene = Scene::in_lab(&plugin(), Lab::builder().build().unwrap()).unwrap();
    // HUP, INT, QUIT and TERM, a bit each.
    let ignored = "$(( 0x$(sed -n 's/^SigIgn:.//p' /proc/self/status) & 0x4007 ))";
    scene
        .start(&format!("--no-review --check \"test {ignored} = 0\""))
        .unwrap();
    let (verify, _) = omo(&scene, &["verify"]);
    let mut ignoring = Command::new("/bin/sh");
    ignoring
        .args(["-c", "trap '' HUP INT QUIT TERM; exec \"$0\" \"$@\""])
        .arg(verify.get_program());
    ignoring.args(verify.get_args());
    if let Some(folder) = verify.get_current_dir() {
        ignoring.current_dir(folder);
    }
    ignoring.envs(
        verify
            .get_envs()
            .filter_map(|(name, value)| Some((name, value?))),
    );
    let output = ignoring.output().unwrap();
    assert!(output.status.success(), "{output:?}");
}
