//! No keys are read one by one here: what is watched is told line by line (docs/adr/0036).

use std::io;
use std::time::Duration;

use crate::platform::KeyInput;

/// Whether this system can draw on a terminal and read single keys.
pub(crate) const CAN_READ_KEYS: bool = false;

/// How a terminal was before.
#[derive(Clone)]
pub(crate) struct KeyMode;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "on other systems there is something to do")]
impl KeyMode {
    /// Changes nothing.
    pub(crate) fn enter() -> io::Result<Self> {
        Ok(Self)
    }

    /// Changes nothing.
    pub(crate) fn repeat(&self) -> io::Result<()> {
        Ok(())
    }

    /// Changes nothing.
    pub(crate) fn restore(&self) {}
}

/// Nothing is heard here: what ends a program ends it.
pub(crate) struct TerminalSignals;

#[expect(clippy::unused_self, clippy::unnecessary_wraps, reason = "on other systems there is something to do")]
impl TerminalSignals {
    /// Hears nothing.
    pub(crate) fn hear() -> io::Result<Self> {
        Ok(Self)
    }

    /// Never.
    pub(crate) fn is_ending(&self) -> bool {
        false
    }

    /// Does nothing.
    pub(crate) fn end(&self) {}

    /// Never.
    pub(crate) fn take_stop(&self) -> bool {
        false
    }

    /// Does nothing.
    pub(crate) fn stop() {}

    /// Never.
    pub(crate) fn take_go_on(&self) -> bool {
        false
    }
}

/// Waits so long.
pub(crate) fn wait_for_key(patience: Duration) -> KeyInput {
    std::thread::sleep(patience);
    KeyInput::Nothing
}
