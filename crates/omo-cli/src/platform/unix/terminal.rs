//! A terminal whose keys are read one by one, and the signals that end or stop a program that draws on it.

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};
use signal_hook::consts::{SIGCONT, SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGTSTP, SIGWINCH};
use signal_hook::{flag, low_level};

use crate::platform::KeyInput;

/// What ends a program that does not handle it.
const ENDING: [i32; 4] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT];

/// Whether this system can draw on a terminal and read single keys.
pub(crate) const CAN_READ_KEYS: bool = true;

/// How the terminal on stdin was before its keys were read one by one.
#[derive(Clone)]
pub(crate) struct KeyMode {
    before: Option<Termios>,
}

impl KeyMode {
    /// Has each key given at once, and not shown. Ctrl-C and Ctrl-Z stay signals. Where stdin is no terminal nothing is
    /// changed.
    pub(crate) fn enter() -> io::Result<Self> {
        let stdin = io::stdin();
        if !stdin.is_terminal() {
            return Ok(Self { before: None });
        }
        let before = tcgetattr(stdin.as_fd())?;
        let mode = Self { before: Some(before) };
        mode.repeat()?;
        Ok(mode)
    }

    /// The same again, where something else has had the terminal meanwhile.
    pub(crate) fn repeat(&self) -> io::Result<()> {
        let Some(before) = &self.before else { return Ok(()) };
        let mut mode = before.clone();
        mode.local_modes -= LocalModes::ICANON | LocalModes::ECHO;
        mode.special_codes[SpecialCodeIndex::VMIN] = 1;
        mode.special_codes[SpecialCodeIndex::VTIME] = 0;
        set_mode(&mode)
    }

    /// Has the terminal as it was before. One that is gone needs nothing.
    pub(crate) fn restore(&self) {
        if let Some(before) = &self.before {
            let _ = set_mode(before);
        }
    }
}

/// A background job is stopped here, and tries again once it is in the foreground.
fn set_mode(mode: &Termios) -> io::Result<()> {
    loop {
        match tcsetattr(io::stdin().as_fd(), OptionalActions::Drain, mode) {
            Err(Errno::INTR) => {}
            result => return Ok(result?),
        }
    }
}

/// The signals that a program which draws on a terminal hears: it leaves the terminal as it was before it ends or stops.
pub(crate) struct TerminalSignals {
    ending: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    go_on: Arc<AtomicBool>,
}

impl TerminalSignals {
    /// Hears them from now on.
    pub(crate) fn hear() -> io::Result<Self> {
        let heard = Self { ending: Arc::default(), stop: Arc::default(), go_on: Arc::default() };
        for signal in ENDING {
            flag::register_usize(signal, Arc::clone(&heard.ending), usize::try_from(signal).unwrap_or_default())?;
        }
        flag::register(SIGTSTP, Arc::clone(&heard.stop))?;
        flag::register(SIGCONT, Arc::clone(&heard.go_on))?;
        // Nothing is noted: that it comes is enough to have the wait for a key end.
        flag::register(SIGWINCH, Arc::default())?;
        Ok(heard)
    }

    /// Whether this program was asked to end.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Ordering::Relaxed) != 0
    }

    /// Ends this program as the signal would have that it was asked to end by. Does nothing where it was not asked.
    pub(crate) fn end(&self) {
        let signal = i32::try_from(self.ending.load(Ordering::Relaxed)).unwrap_or_default();
        if signal != 0 {
            let _ = low_level::emulate_default_handler(signal);
        }
    }

    /// Whether this program was asked to stop, since that was last asked.
    pub(crate) fn take_stop(&self) -> bool {
        self.stop.swap(false, Ordering::Relaxed)
    }

    /// Stops this program, as Ctrl-Z does; returns once it goes on.
    pub(crate) fn stop() {
        let _ = low_level::emulate_default_handler(SIGTSTP);
    }

    /// Whether it went on after a stop, since that was last asked.
    pub(crate) fn take_go_on(&self) -> bool {
        self.go_on.swap(false, Ordering::Relaxed)
    }
}

/// Waits for a key, so long at most; a signal ends the wait as well.
pub(crate) fn wait_for_key(patience: Duration) -> KeyInput {
    let stdin = io::stdin();
    let fd = stdin.as_fd();
    let mut fds: Vec<PollFd<'_>> = stdin.is_terminal().then(|| PollFd::new(&fd, PollFlags::IN)).into_iter().collect();
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
