//! Fuzz target for the ledger of a run, `events.jsonl`: it lies in the repository, so anything may have written to it.

use std::cell::RefCell;

use omo_core::timestamp::Timestamp;
use omo_engine::event::{EventActor, EventKind, RunEvent};
use omo_engine::ledger::snapshot;
use omo_engine::ledger::{self, LedgerContents, LedgerPosition, SEALED_BYTES};
use omo_engine::state::RunState;
use omo_state::seal::SealKey;
use tempfile::TempDir;

const RUN: &str = "20260101-000000-abcd";
const SEAL: &str = ",\"seal\":\"";
/// First byte of an input line that is sealed before the test, as another version of omo would have done. The rest of
/// the line is an event without its closing brace.
const TO_BE_SEALED: u8 = b'!';

thread_local! {
    #[expect(clippy::expect_used, reason = "without a key nothing can be sealed")]
    static KEY: RefCell<SealKey> = {
        let home = TempDir::new().expect("make a temporary folder");
        RefCell::new(SealKey::load(Some(home.path())).expect("make a key"))
    };
}

/// Asserts that every `RunEvent` read was sealed in its place, that reading ends at a line's end and without the bytes
/// behind it gives the same, that appended events are read with the others, and that a snapshot agrees with them.
pub fn check(data: &[u8]) {
    KEY.with_borrow(|key| {
        let text = seal_marked_lines(data, key);
        let Ok(reading) = ledger::read(&text, RUN, key, LedgerPosition::default()) else {
            return;
        };
        let size = usize::try_from(reading.end.offset).unwrap_or(usize::MAX);
        assert!(
            size <= text.len(),
            "it ends behind its end: {:?}",
            reading.end
        );
        let whole = text.get(..size).unwrap_or_default();
        assert!(whole.is_empty() || whole.ends_with(b"\n"));
        assert_eq!(
            ledger::read(whole, RUN, key, LedgerPosition::default()).as_ref(),
            Ok(&reading)
        );
        assert!(
            reading
                .events
                .iter()
                .map(|event| event.seq)
                .eq(1..=reading.end.seq)
        );
        assert!(
            whole.is_empty()
                || whole
                    .get(size - SEALED_BYTES..)
                    .is_some_and(|end| ledger::has_line_end_at(&reading.end, end))
        );
        check_append(whole, &reading, key);
        check_snapshot(&reading, key);
    });
}

fn seal_marked_lines(data: &[u8], key: &SealKey) -> Vec<u8> {
    let (mut text, mut prev) = (Vec::new(), LedgerPosition::default().prev);
    for line in data.split_inclusive(|byte| *byte == b'\n') {
        let Some(event) = line
            .strip_prefix(&[TO_BE_SEALED])
            .and_then(|line| line.strip_suffix(b"\n"))
        else {
            text.extend_from_slice(line);
            continue;
        };
        let mut body = event.to_vec();
        body.extend(format!(",\"run\":\"{RUN}\",\"more\":0,\"prev\":\"{prev}\"").bytes());
        let seal = key.mac(&body);
        text.append(&mut body);
        text.extend([SEAL, &seal, "\"}\n"].concat().bytes());
        prev = seal.chars().take(prev.len()).collect();
    }
    text
}

fn check_append(whole: &[u8], reading: &LedgerContents, key: &SealKey) {
    let event = |number| RunEvent {
        seq: reading.end.seq + number,
        ts: Timestamp::from_millis(1_780_000_000_000),
        actor: EventActor::default(),
        kind: EventKind::HolderChanged,
    };
    let written = ledger::write(&[event(1), event(2)], RUN, key, &reading.end);
    assert!(written.is_ok(), "could not be written: {written:?}");
    let Ok((added, end)) = written else { return };
    let longer = [whole, &added].concat();
    let events: Vec<RunEvent> = reading
        .events
        .iter()
        .cloned()
        .chain([event(1), event(2)])
        .collect();
    let read = ledger::read(&longer, RUN, key, LedgerPosition::default());
    assert_eq!(read, Ok(LedgerContents { events, end }));
    // A write that was cut short adds no event.
    let cut = longer.len() - 1 - added.len() / 3;
    assert_eq!(
        ledger::read(
            longer.get(..cut).unwrap_or_default(),
            RUN,
            key,
            LedgerPosition::default()
        )
        .as_ref(),
        Ok(reading)
    );
}

fn check_snapshot(reading: &LedgerContents, key: &SealKey) {
    let Some((first, rest)) = reading.events.split_first() else {
        return;
    };
    let Ok(mut state) = RunState::from_first_event(first) else {
        return;
    };
    if rest.iter().any(|event| state.apply(event).is_err()) {
        return;
    }
    let Ok(kept) = snapshot::write(RUN, &reading.end, &state, key) else {
        return;
    };
    assert_eq!(
        snapshot::read(&kept, RUN, key),
        Some((reading.end.clone(), state))
    );
    assert_eq!(snapshot::read(&kept, "another", key), None);
}
