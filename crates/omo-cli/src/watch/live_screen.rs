//! `LiveScreen`: the alternate screen of a terminal. The earlier content returns, however omo ends.

use std::collections::VecDeque;
use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use omo_state::env;
use omo_view::screen::line::ScreenLine;
use omo_view::screen::lines::ScreenSize;

use crate::error::CommandError;
use crate::platform::KeyInput;
use crate::platform::terminal::{CAN_READ_KEYS, wait_for_key};
use crate::platform::{KeyMode, TerminalSignals};

const ENTER: &str = "\u{1b}[?1049h\u{1b}[?25l\u{1b}[?7l\u{1b}[2J";
const LEAVE: &str = "\u{1b}[?7h\u{1b}[?25h\u{1b}[?1049l";
const USUAL_SIZE: ScreenSize = ScreenSize {
    columns: 80,
    rows: 24,
};

pub(crate) fn can_draw() -> bool {
    let variables = env::variables();
    let term = variables
        .iter()
        .find(|(name, _)| name == "TERM")
        .map(|(_, value)| value.as_os_str());
    CAN_READ_KEYS
        && io::stdout().is_terminal()
        && term.is_some_and(|term| term != "dumb" && !term.is_empty())
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum UserInput {
    Nothing,
    Key(char),
    /// A request to end, or a closed terminal.
    End,
}

pub(crate) struct LiveScreen {
    mode: KeyMode,
    signals: TerminalSignals,
    has_colours: bool,
    shown: Vec<String>,
    size: ScreenSize,
    is_shown: Arc<AtomicBool>,
    keys: VecDeque<char>,
}

impl LiveScreen {
    pub(crate) fn enter() -> Result<Self, CommandError> {
        let signals = TerminalSignals::hear()?;
        let mode = KeyMode::enter()?;
        let is_shown = Arc::new(AtomicBool::new(true));
        let before = std::panic::take_hook();
        let for_panics = (mode.clone(), Arc::clone(&is_shown));
        std::panic::set_hook(Box::new(move |panic| {
            leave(&for_panics.0, &for_panics.1);
            before(panic);
        }));
        let has_colours =
            anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let size = USUAL_SIZE;
        let screen = Self {
            mode,
            signals,
            has_colours,
            shown: Vec::new(),
            size,
            is_shown,
            keys: VecDeque::new(),
        };
        write_all(ENTER)?;
        Ok(screen)
    }

    pub(crate) fn show(&mut self, lines: &[ScreenLine], size: ScreenSize) -> io::Result<()> {
        let mut text = String::new();
        if size != self.size {
            text.push_str("\u{1b}[2J");
            self.shown.clear();
            self.size = size;
        }
        let lines: Vec<String> = lines.iter().map(|line| self.painted(line)).collect();
        for (row, line) in (1..).zip(&lines) {
            if self.shown.get(row - 1) != Some(line) {
                let _ = write!(text, "\u{1b}[{row};1H\u{1b}[2K{line}");
            }
        }
        self.shown = lines;
        if text.is_empty() {
            Ok(())
        } else {
            write_all(&text)
        }
    }

    fn painted(&self, line: &ScreenLine) -> String {
        let styled = line.styled();
        if self.has_colours {
            styled
        } else {
            anstream::adapter::strip_str(&styled).to_string()
        }
    }

    pub(crate) fn forget_shown(&mut self) {
        self.size = ScreenSize {
            columns: 0,
            rows: 0,
        };
    }

    /// Waits for a key, at most `patience`. Ctrl-Z stops this program, and gives the terminal to its shell meanwhile.
    pub(crate) fn wait(&mut self, patience: Duration) -> io::Result<UserInput> {
        if let Some(key) = self.keys.pop_front() {
            return Ok(UserInput::Key(key));
        }
        let input = wait_for_key(patience);
        if self.signals.is_ending() {
            return Ok(UserInput::End);
        }
        if self.signals.take_stop() {
            self.leave();
            TerminalSignals::stop();
            self.signals.take_go_on();
            self.take_again()?;
        } else if self.signals.take_go_on() {
            self.take_again()?;
        }
        match input {
            KeyInput::Nothing => {}
            KeyInput::Closed => return Ok(UserInput::End),
            KeyInput::Bytes(bytes) => self.keys = read_keys(&bytes),
        }
        Ok(self
            .keys
            .pop_front()
            .map_or(UserInput::Nothing, UserInput::Key))
    }

    fn take_again(&mut self) -> io::Result<()> {
        self.mode.repeat()?;
        self.is_shown.store(true, Ordering::Relaxed);
        write_all(ENTER)?;
        self.forget_shown();
        Ok(())
    }

    pub(crate) fn leave(&mut self) {
        leave(&self.mode, &self.is_shown);
    }

    pub(crate) fn leave_and_end(&mut self) {
        self.leave();
        self.signals.end();
    }
}

impl Drop for LiveScreen {
    fn drop(&mut self) {
        self.leave();
    }
}

pub(crate) fn terminal_size() -> ScreenSize {
    match terminal_size::terminal_size_of(io::stdout()) {
        Some((columns, rows)) if columns.0 > 0 && rows.0 > 0 => ScreenSize {
            columns: columns.0.into(),
            rows: rows.0.into(),
        },
        _ => USUAL_SIZE,
    }
}

/// Keys in these bytes. Named keys, such as arrows, begin with an escape and are left out; Escape itself is a key.
fn read_keys(bytes: &[u8]) -> VecDeque<char> {
    const ESCAPE: char = '\u{1b}';
    let text = String::from_utf8_lossy(bytes);
    let mut keys = VecDeque::new();
    let mut chars = text.chars().peekable();
    while let Some(char) = chars.next() {
        if char != ESCAPE {
            keys.push_back(char);
        } else if chars.next_if(|next| matches!(next, '[' | 'O')).is_some() {
            chars.by_ref().find(|char| ('@'..='~').contains(char));
        } else {
            keys.push_back(ESCAPE);
        }
    }
    keys
}

fn leave(mode: &KeyMode, is_shown: &AtomicBool) {
    if is_shown.swap(false, Ordering::Relaxed) {
        let _ = write_all(LEAVE);
        mode.restore();
    }
}

pub(crate) fn write_all(text: &str) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_with_a_name_are_passed_over() {
        let keys = |bytes: &[u8]| read_keys(bytes).into_iter().collect::<String>();
        assert_eq!(keys(b"\x1b[As\x1b[1;5Cy\x1bOPq"), "syq");
        assert_eq!(keys(b"\x1b"), "\u{1b}");
        assert_eq!(keys(b"\x1b[200~pasted\x1b[201~"), "pasted");
        assert_eq!(keys(b"\x1b[12"), "");
        assert_eq!(keys("한q\u{0}".as_bytes()), "한q\0");
    }
}
