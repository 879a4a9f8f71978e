//! Terminal on Windows, without single-key input: a watched run is printed by line (docs/adr/0036).

use std::io;
use std::time::Duration;

use crate::platform::KeyInput;

pub(crate) const CAN_READ_KEYS: bool = false;

#[derive(Clone)]
pub(crate) struct WindowsKeyMode;

#[expect(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "on other systems there is something to do"
)]
impl WindowsKeyMode {
    pub(crate) fn enter() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn repeat(&self) -> io::Result<()> {
        Ok(())
    }

    pub(crate) fn restore(&self) {}
}

/// No signals here; a request to end ends the program.
pub(crate) struct WindowsTerminalSignals;

#[expect(
    clippy::unused_self,
    clippy::unnecessary_wraps,
    reason = "on other systems there is something to do"
)]
impl WindowsTerminalSignals {
    pub(crate) fn hear() -> io::Result<Self> {
        Ok(Self)
    }

    pub(crate) fn is_ending(&self) -> bool {
        false
    }

    pub(crate) fn end(&self) {}

    pub(crate) fn take_stop(&self) -> bool {
        false
    }

    pub(crate) fn stop() {}

    pub(crate) fn take_go_on(&self) -> bool {
        false
    }
}

pub(crate) fn wait_for_key(patience: Duration) -> KeyInput {
    std::thread::sleep(patience);
    KeyInput::Nothing
}
