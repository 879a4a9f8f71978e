//! Helper processes of omo. The first line of `stdin` is the order, as JSON; the end of `stdin`
//! means that the helper is no longer needed.

use std::io::{BufRead, BufReader};
use std::sync::Arc;
use std::sync::mpsc::Receiver;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;

use crate::platform::{GroupEnding, ProcessGroup, adopt_orphans, end_orphans, hide_memory};
use crate::termination;

const POLL_INTERVAL: Duration = Duration::from_millis(10);

pub fn is_started_as(argument: &str) -> bool {
    let mut arguments = std::env::args_os().skip(1);
    arguments.next().is_some_and(|first| first == argument) && arguments.next().is_none()
}

/// Reads this helper's order; `None` for an unreadable one. `on_caller_gone` runs once the caller is gone.
pub fn read_order<T: DeserializeOwned>(
    on_caller_gone: impl FnOnce() + Send + 'static,
) -> Option<T> {
    termination::outlive_size_limit();
    // A signal to every process around must not end the one that cleans up.
    termination::flag_termination(&Arc::default());
    adopt_orphans();
    // A check could find its order in the memory of this process.
    hide_memory();
    let mut stdin = BufReader::new(std::io::stdin());
    let mut line = String::new();
    stdin.read_line(&mut line).ok()?;
    let order = serde_json::from_str(&line).ok()?;
    std::thread::spawn(move || {
        let _ = std::io::copy(&mut stdin, &mut std::io::sink());
        on_caller_gone();
    });
    Some(order)
}

/// Ends a group and, on Linux, all orphans: only for a process that looks after nothing else.
pub fn end_group_and_orphans(group: &ProcessGroup) {
    group.end(GroupEnding::AtOnce);
    end_orphans();
}

/// Ends a group step by step, until none of it is left: leftovers of its first process may have something to put
/// back. `is_end` tells the end of that process from other events.
pub(crate) fn end_gently<T>(
    group: &ProcessGroup,
    endings: &[(GroupEnding, Duration)],
    events: &Receiver<T>,
    mut is_end: impl FnMut(&T) -> bool,
) {
    let mut has_ended = false;
    for (ending, grace) in endings {
        let last = Instant::now() + *grace;
        group.end(*ending);
        has_ended = has_ended || wait_for_event(*grace, events, &mut is_end);
        if !has_ended {
            continue;
        }
        loop {
            match group.is_gone() {
                true => return,
                false if Instant::now() >= last => break,
                false => std::thread::sleep(POLL_INTERVAL),
            }
        }
    }
}

/// Takes events until an awaited one; `false` once the time is up.
pub fn wait_for_event<T>(
    limit: Duration,
    events: &Receiver<T>,
    mut is_awaited: impl FnMut(&T) -> bool,
) -> bool {
    let last = Instant::now() + limit;
    while let Ok(event) = events.recv_timeout(last.saturating_duration_since(Instant::now())) {
        if is_awaited(&event) {
            return true;
        }
    }
    false
}
