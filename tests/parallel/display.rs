//! What a person sees who looks on at a terminal: one table, whatever the terminal is like.

use std::ffi::OsStr;
use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};
use omo_testkit::Terminal;

use crate::parallel_repository::{Ground, four_sessions, on_repository};

/// Looks on at a terminal of so many columns and rows while the first session ends, with more in the environment.
fn looks_on(ground: &Ground, variable: &str, size: (u16, u16)) -> Result<()> {
    for (number, file) in [(1, "a.txt"), (3, "c.txt")] {
        let waits = format!("while ! [ -e \"$scripts/go-{number}\" ]; do sleep 0.05; done\n");
        ground.set_task_script(number, &format!("{waits}echo {number} > {file}\n"))?;
    }
    ground.open(&[])?;
    let omo = ground.program();
    let arguments = [
        OsStr::new(variable),
        omo.as_os_str(),
        OsStr::new("run"),
        OsStr::new("watch"),
    ];
    let terminal =
        Terminal::start_program(&ground.lab, Path::new("/usr/bin/env"), arguments, size)?;
    let row = |screen: &str, name: &str| {
        screen
            .lines()
            .rfind(|line| line.starts_with(name))
            .map(str::to_owned)
    };
    let is = |screen: &str, name: &str, word: &str| {
        row(screen, name).is_some_and(|row| row.contains(word))
    };
    terminal.wait_until("both at work", |screen| {
        is(screen, "Session 1", "works") && is(screen, "Session 2", "works")
    })?;
    fs::write(ground.steps().join("go-1"), "")?;
    // Where there is little room, what is done makes some.
    let screen = terminal.wait_until("the end of the first", |screen| {
        !is(screen, "Session 1", "works")
    })?;
    for name in ["session ", "Session 1", "Session 2"] {
        let rows = screen.lines().filter(|line| line.starts_with(name)).count();
        ensure!(rows <= 1, "{variable} {size:?}: {rows} of {name}\n{screen}");
    }
    fs::write(ground.steps().join("go-3"), "")?;
    terminal.wait_for("Result: COMPLETED").map(drop)
}

#[test]
#[ignore = "needs tmux: cargo xtask test"]
fn one_table_is_written_over_in_every_terminal() {
    for (variable, size) in [
        ("NO_COLOR=1", (100, 30)),
        ("NO_COLOR=", (40, 24)),
        ("NO_COLOR=", (100, 4)),
    ] {
        on_repository(&four_sessions(), "", |ground| {
            looks_on(ground, variable, size)
        });
    }
}
