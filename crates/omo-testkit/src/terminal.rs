//! The real client in a terminal, typed at and looked at through tmux on a socket of the lab's own.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use rustix::process::{Pid, Signal};

use crate::client::{Client, session_arguments};
use crate::lab::Lab;
use crate::process;
use crate::wait::{wait_until, within};

/// Maximum time of tmux itself.
const TMUX_LIMIT: Duration = Duration::from_secs(120);
/// Time of its processes to end by themselves when the terminal closes.
const CLOSE_LIMIT: Duration = Duration::from_secs(30);

/// The size of a terminal, in columns and rows, unless a test says otherwise.
const SIZE: (u16, u16) = (140, 50);

/// Number of terminals that this process has started.
static STARTED: AtomicUsize = AtomicUsize::new(0);

/// A session of the real client in a terminal. Dropping it ends the client; drop it
/// before the [`Lab`] it lives in.
#[derive(Debug)]
pub struct Terminal {
    socket: PathBuf,
}

impl Terminal {
    /// Presence of tmux.
    pub fn available() -> bool {
        let answer = Command::new("tmux").arg("-V").output();
        answer.is_ok_and(|answer| answer.status.success())
    }

    /// Starts the client in the lab's project, in a terminal of 140 columns; see [`Terminal::ready`].
    pub fn start(lab: &Lab, client: &Client, arguments: &[&str]) -> Result<Self> {
        Self::start_sized(lab, client, arguments, SIZE)
    }

    /// As [`Terminal::start`], in a terminal of so many columns and rows.
    pub fn start_sized(
        lab: &Lab,
        client: &Client,
        arguments: &[&str],
        size: (u16, u16),
    ) -> Result<Self> {
        let arguments = session_arguments(lab)
            .into_iter()
            .chain(arguments.iter().map(OsStr::new));
        Self::start_program(lab, client.program(), arguments, size)
    }

    /// Another program than the client, as a person runs it in the lab's project.
    pub fn start_program<'a>(
        lab: &Lab,
        program: &Path,
        arguments: impl IntoIterator<Item = &'a OsStr>,
        (columns, rows): (u16, u16),
    ) -> Result<Self> {
        // The server before it may not have ended yet.
        let count = STARTED.fetch_add(1, Ordering::Relaxed);
        let terminal = Self {
            socket: lab.root().join(format!("tmux-{count}")),
        };
        let mut tmux = terminal.tmux();
        // A pane that stays after the client's end keeps its last words and its status.
        tmux.args(["start-server", ";", "set-option", "-g", "remain-on-exit"])
            .args(["on", ";", "set-option", "-g", "history-limit", "20000", ";"])
            .args([
                "new-session",
                "-d",
                "-x",
                &columns.to_string(),
                "-y",
                &rows.to_string(),
                "-c",
            ])
            .arg(lab.project())
            .args(["env", "-i"]);
        for (name, value) in lab.environment() {
            tmux.arg(format!("{name}={value}"));
        }
        tmux.arg(program).args(arguments);
        let started = process::run(tmux, None, TMUX_LIMIT)?;
        anyhow::ensure!(started.status.success(), "start tmux: {}", started.stderr);
        Ok(terminal)
    }

    /// Waits until the client shows an empty input box and has stopped drawing.
    pub fn ready(&self) -> Result<()> {
        let mut before = String::new();
        self.wait_until("the input box", |screen| {
            let still = before == screen;
            screen.clone_into(&mut before);
            still && input_box(screen).is_some()
        })?;
        Ok(())
    }

    /// The screen with everything that has scrolled away, without spaces at the ends of lines.
    pub fn screen(&self) -> String {
        let text = self.ask(["capture-pane", "-p", "-S", "-"]);
        let lines: Vec<_> = text.lines().map(str::trim_end).collect();
        lines.join("\n").trim_end().to_owned()
    }

    /// The screen as [`Terminal::screen`] gives it, with the escape sequences of its colours.
    pub fn coloured_screen(&self) -> String {
        self.ask(["capture-pane", "-e", "-p", "-S", "-"])
    }

    /// Text in the input box; empty boxes may show a hint of the client's.
    pub fn input(&self) -> Option<String> {
        input_box(&self.screen())
    }

    /// Types `text` and nothing else.
    pub fn type_text(&self, text: &str) -> Result<()> {
        self.send(["send-keys", "-l", "--", text])
    }

    /// Presses a key by tmux's name for it: `Enter`, `Escape`, `Up`, `C-u`.
    pub fn key(&self, name: &str) -> Result<()> {
        self.send(["send-keys", name])
    }

    /// Types `text`, waits until it alone stands in the input box, and presses Enter.
    ///
    /// Slash commands go the same way, with and without arguments: a menu that is open for the
    /// typed name has that very name first, and Enter submits it. Only a name that is not complete
    /// is replaced by the first one of the menu.
    pub fn say(&self, text: &str) -> Result<()> {
        let wanted = squeezed(text);
        loop {
            self.type_text(text)?;
            let screen = self.wait_until(&format!("the typed {text:?}"), |screen| {
                input_box(screen).is_some_and(|input| squeezed(&input).ends_with(&wanted))
            })?;
            let input = input_box(&screen).unwrap_or_default();
            if squeezed(&input).len() == wanted.len() {
                return self.key("Enter");
            }
            // The client puts a blocked prompt back into the box, and a busy one a blocked command as well.
            input.lines().try_for_each(|_| self.key("C-u"))?;
            self.wait_until("an input box without the typed text", |screen| {
                input_box(screen).is_some_and(|input| !squeezed(&input).ends_with(&wanted))
            })?;
        }
    }

    /// Waits until `text` is on the screen, however its lines are broken; gives the screen.
    pub fn wait_for(&self, text: &str) -> Result<String> {
        let wanted = squeezed(text);
        self.wait_until(&format!("{text:?}"), |screen| {
            squeezed(screen).contains(&wanted)
        })
    }

    /// Waits until `holds` says yes to the screen; gives the screen. The error shows it too.
    pub fn wait_until(&self, what: &str, mut holds: impl FnMut(&str) -> bool) -> Result<String> {
        let found = wait_until(what, || {
            let screen = self.screen();
            if holds(&screen) {
                return Some((true, screen));
            }
            // Last output may have come since the screen was looked at.
            self.has_ended().then(|| {
                let last = self.screen();
                (holds(&last), last)
            })
        });
        match found {
            Ok((true, screen)) => Ok(screen),
            Ok((false, screen)) => {
                anyhow::bail!("the client ended before {what} came; the screen:\n{screen}")
            }
            Err(error) => Err(error.context(format!("the screen:\n{}", self.screen()))),
        }
    }

    /// End of the client.
    pub fn has_ended(&self) -> bool {
        self.pane("#{pane_dead}") == "1"
    }

    /// The exit status of the client, once it has ended; tmux now and then misses it.
    pub fn exit_status(&self) -> Option<i32> {
        self.pane("#{pane_dead_status}").parse().ok()
    }

    /// Leaves the client as a person does, with `/exit`.
    pub fn quit(&self) -> Result<()> {
        self.say("/exit")?;
        wait_until("the end of the client", || self.has_ended().then_some(()))
            .with_context(|| format!("the screen:\n{}", self.screen()))
    }

    /// A cursor that is shown, and lines that are broken where too long.
    pub fn is_usual(&self) -> bool {
        self.pane("#{cursor_flag} #{wrap_flag}") == "1 1"
    }

    /// A program with a screen of its own.
    pub fn has_own_screen(&self) -> bool {
        self.pane("#{alternate_on}") == "1"
    }

    /// Makes it as large as that, as a person drags its window.
    pub fn resize(&self, (columns, rows): (u16, u16)) -> Result<()> {
        self.send([
            "resize-window",
            "-x",
            &columns.to_string(),
            "-y",
            &rows.to_string(),
        ])
    }

    fn pane(&self, format: &str) -> String {
        let answer = self.ask(["display-message", "-p", format]);
        answer.trim().to_owned()
    }

    fn tmux(&self) -> Command {
        let mut tmux = Command::new("tmux");
        tmux.env("LANG", "C.UTF-8").env_remove("TMUX");
        tmux.arg("-S").arg(&self.socket).args(["-f", "/dev/null"]);
        tmux
    }

    fn send<const N: usize>(&self, arguments: [&str; N]) -> Result<()> {
        let mut tmux = self.tmux();
        tmux.args(arguments.map(OsStr::new));
        let done = process::run(tmux, None, TMUX_LIMIT)?;
        anyhow::ensure!(done.status.success(), "tmux: {}", done.stderr);
        Ok(())
    }

    /// Answer of tmux; empty once the server is gone.
    fn ask<const N: usize>(&self, arguments: [&str; N]) -> String {
        let mut tmux = self.tmux();
        tmux.args(arguments);
        process::run(tmux, None, TMUX_LIMIT).map_or_else(|_| String::new(), |done| done.stdout)
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        // The number of a process that has ended may belong to a stranger by now.
        let first = Some(self.pane("#{pane_pid}")).filter(|_| !self.has_ended());
        let first = first.and_then(|number| number.parse().ok());
        let family = first.map(descendants).unwrap_or_default();
        self.ask(["kill-server"]);
        let gone = within(CLOSE_LIMIT, || living(&family).is_empty().then_some(()));
        if gone.is_none() {
            for number in living(&family) {
                if let Some(process) = Pid::from_raw(number) {
                    rustix::process::kill_process(process, Signal::KILL).ok();
                }
            }
        }
    }
}

fn descendants(first: i32) -> Vec<i32> {
    let table = processes();
    let mut family = vec![first];
    let mut next = 0;
    while let Some(&parent) = family.get(next) {
        let children = table.iter().filter(|process| process.1 == parent);
        family.extend(children.map(|process| process.0));
        next += 1;
    }
    family
}

fn living(family: &[i32]) -> Vec<i32> {
    let table = processes();
    let numbers = table.iter().map(|process| process.0);
    numbers.filter(|number| family.contains(number)).collect()
}

/// The number and the parent of every process that has not ended.
fn processes() -> Vec<(i32, i32)> {
    let table = Command::new("ps")
        .args(["-A", "-o", "pid=,ppid=,stat="])
        .output();
    let table = table.map(|table| String::from_utf8_lossy(&table.stdout).into_owned());
    let parse = |line: &str| {
        let mut fields = line.split_whitespace();
        let process = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
        let ended = fields.next()?.starts_with('Z');
        (!ended).then_some(process)
    };
    table
        .unwrap_or_default()
        .lines()
        .filter_map(parse)
        .collect()
}

/// The text between the last two rules of the screen, without the prompt sign.
fn input_box(screen: &str) -> Option<String> {
    let lines: Vec<_> = screen.lines().collect();
    let mut rules = (0..lines.len()).rev().filter(|index| {
        lines
            .get(*index)
            .is_some_and(|line| line.starts_with("────"))
    });
    let (end, start) = (rules.next()?, rules.next()?);
    let inside = lines.get(start + 1..end)?.join("\n");
    let text = inside
        .strip_prefix('❯')
        .or_else(|| inside.strip_prefix('!'))?;
    Some(text.trim().to_owned())
}

/// `text` without white space, to compare across the breaks of lines.
fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_the_input_box() {
        let screen = "● old\n──────\n❯ /omo:status\n  second\n──────\n  ⏵⏵ bypass";
        assert_eq!(input_box(screen).as_deref(), Some("/omo:status\n  second"));
        assert_eq!(input_box("──────\n❯ \n──────").as_deref(), Some(""));
        assert_eq!(input_box("❯ no rules"), None);
    }
}
