//! What a person sees: the table of sessions at a terminal, kept up to date in its place, and a plan that is worked on
//! step by step in the session that it was typed in.

use std::ffi::OsStr;
use std::fs;
use std::sync::{Mutex, mpsc};

use omo_testkit::{ModelTurn, Terminal};
use omo_tests::parallel_plan::{PLAN, plan_text, session, step};

use super::scripted_workers::write;
use super::{Payer, Site, typed};
use crate::client_lab::{LIMIT, plugin};

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_watching_terminal_shows_each_worker_in_a_line_of_its_own() {
    let site = Site::new(Payer::Subscription);
    let (word, receiver) = mpsc::channel();
    let receiver = Mutex::new(receiver);
    let slow = ModelTurn::computed(move |_| {
        receiver.lock().expect("no test fails while it has this lock").recv_timeout(LIMIT).ok();
        write("b.txt", "2")
    });
    site.works.set(2, [slow]);
    site.open(&[]);
    let arguments = ["run", "watch"].map(OsStr::new);
    let terminal = Terminal::start_program(&site.fixture.lab, &plugin().join("bin/omo"), arguments, (100, 30))
        .expect("a terminal");
    let at_work = |screen: &str| {
        let row = |name: &str| screen.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_owned();
        let (first, second, third) = (row("S1"), row("S2"), row("S3"));
        first.contains("works") && first.contains("step 2") && second.contains("1 of 1") && third.contains("waits")
    };
    terminal.wait_until("both sessions at work", at_work).unwrap();
    word.send(()).expect("it is waited for");
    let screen = terminal.wait_for("Result: COMPLETED").unwrap();
    assert!(!screen.contains("DONE") && !screen.contains("Show the user"), "{screen}");
    for name in ["S1", "S2", "S3", "S4"] {
        let rows: Vec<&str> = screen.lines().filter(|line| line.starts_with(name)).collect();
        assert!(rows.len() == 1 && rows[0].contains("merged"), "{name}: {rows:?}\n{screen}");
    }
    drop(terminal);
    site.is_whole();
}

#[test]
#[ignore = "needs the real client: cargo xtask test"]
fn a_plan_in_the_foreground_is_worked_on_in_the_session_itself() {
    let text = plan_text(&[session(1, &[step(1, "a.txt")]), session(2, &[step(2, "b.txt")])], "test -f b.txt");
    let site = Site::with(Payer::Key, &text);
    let terminal = typed(&site, "--fg ");
    let screen = terminal.wait_for("Result: COMPLETED").unwrap();
    assert!(!screen.contains("Do you want to proceed?") && screen.contains("2 of 2 steps done"), "{screen}");
    for request in site.fixture.model.requests() {
        assert!(super::scripted_workers::group(&request).is_none(), "a client was started");
    }
    for (number, file) in [(1, "a.txt"), (2, "b.txt")] {
        assert_eq!(fs::read_to_string(site.fixture.lab.project().join(file)).unwrap(), format!("{number}\n"));
        assert!(site.git(&["log", "--format=%s"]).contains(&format!("feat: write {number}")), "{PLAN}");
    }
    assert_eq!(site.git(&["status", "--porcelain"]), "");
}
