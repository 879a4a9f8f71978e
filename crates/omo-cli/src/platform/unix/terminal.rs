//! A terminal with single key input, and the signals that end or stop a program that draws on it.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{
    LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr,
};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{flag, low_level};

use crate::platform::KeyInput;

/// Signals that end a program without a handler.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

pub(crate) const CAN_READ_KEYS: bool = true;

#[derive(Clone)]
pub(crate) struct UnixKeyMode {
    before: Option<Termios>,
}

impl UnixKeyMode {
    /// Gives each key at once, without echo. Ctrl-C and Ctrl-Z stay signals. No effect off a terminal.
    pub(crate) fn enter() -> io::Result<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(stdin.as_fd())?;
        let mode = Self {
            before: Some(before),
        };
        mode.repeat()?;
        Ok(mode)
    }

    /// Enters the mode again, after another program had the terminal.
    pub(crate) fn repeat(&self) -> io::Result<()> {
        let Some(before) = &self.before else {
            return Ok(());
        };
        let mut mode = before.clone();
        mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        set_mode(&mode)
    }

    /// Restores the original mode; a closed terminal is ignored.
    pub(crate) fn restore(&self) {
        if let Some(before) = &self.before {
            let _ = set_mode(before);
        }
    }
}

/// A background job stops here, and retries in the foreground.
fn set_mode(mode: &Termios) -> io::Result<()> {
    loop {
        match tcsetattr(io::stdin().as_fd(), OptionalActions::Drain, mode) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// Signals for a program that draws, which restores the terminal before it ends or stops.
pub(crate) struct UnixTerminalSignals {
    ending: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    go_on: Arc<AtomicBool>,
}

impl UnixTerminalSignals {
    pub(crate) fn hear() -> io::Result<Self> {
        let heard = Self {
            ending: Arc::default(),
            stop: Arc::default(),
            go_on: Arc::default(),
        };
        for signal in ENDING {
            flag::register_usize(
                signal,
                Arc::clone(&heard.ending),
                usize::try_from(signal).unwrap_or_default(),
            )?;
        }
        flag::register(SIGTSTP, Arc::clone(&heard.stop))?;
        flag::register(SIGCONT, Arc::clone(&heard.go_on))?;
        // An empty handler: the signal alone interrupts the wait for a key.
        flag::register(SIGWINCH, Arc::default())?;
        Ok(heard)
    }

    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed) != 0
    }

    /// Ends this program by the received signal; no effect without one.
    pub(crate) fn end(&self) {
        let signal = i32::try_from(self.ending.load(Ordering::Relaxed)).unwrap_or_default();
        if signal != 0 {
            let _ = low_level::emulate_default_handler(signal);
        }
    }

    pub(crate) fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Stops this program as Ctrl-Z does; returns on `SIGCONT`.
    pub(crate) fn stop() {
        let _ = low_level::emulate_default_handler(SIGTSTP);
    }

    pub(crate) fn take_go_on(&self) -> bool {
        self.go_on.swap(false, Ordering::Relaxed)
    }
}

/// Waits for a key, at most `patience`; a signal ends the wait.
pub(crate) fn wait_for_key(patience: Duration) -> KeyInput {
    let stdin = io::stdin();
    let fd = stdin.as_fd();
    let mut fds: Vec<PollFd<'_>> = stdin
        .is_terminal()
        .then(|| PollFd::new(&fd, PollFlags::IN))
        .into_iter()
        .collect();
    let until = Timespec::try_from(patience).ok();
    match poll(&mut fds, until.as_ref()) {
        Ok(1..) => {}
        _ => return KeyInput::Nothing,
    }
    let mut bytes = [0; 64];
    match rustix::io::read(fd, &mut bytes) {
        Ok(0) => KeyInput::Closed,
        Ok(count) => KeyInput::Bytes(bytes.get(..count).unwrap_or_default().to_vec()),
        Err(Errno::INTR | Errno::AGAIN) => KeyInput::Nothing,
        Err(_) => KeyInput::Closed,
    }
}
