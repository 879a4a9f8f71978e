//! The text of a ledger: one event a line, each sealed and bound to the one before it. No file is touched here.
//! A line is the event's JSON with four members behind it: `run`; `more`, the number of lines of the same write that
//! follow; `prev`, the first characters of the seal of the line before; and `seal`, over everything before it.
//! Only a complete write counts: a torn one, as a killed process leaves it, is there for no reader.

mod location;
pub(crate) mod run;
pub(crate) mod run_store;
pub mod snapshot;

use omo_state::seal::SealKey;

use crate::event::RunEvent;

const SEAL: &str = r#","seal":""#;
const SEAL_CHARS: usize = 64;
/// Bytes of a seal with its member and the end of the line.
pub const SEALED_BYTES: usize = SEAL.len() + SEAL_CHARS + "\"}\n".len();
const PREV_CHARS: usize = 12;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerPosition {
    pub offset: u64,
    /// Lines before the position: the number of the last event.
    pub seq: u64,
    pub prev: String,
}

impl Default for LedgerPosition {
    fn default() -> Self {
        Self {
            offset: 0,
            seq: 0,
            prev: "0".repeat(PREV_CHARS),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {defect}")]
pub struct BadLine {
    /// Line number, from `1`.
    pub line: u64,
    pub defect: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LedgerContents {
    pub events: Vec<RunEvent>,
    /// The end of the last complete write. The bytes behind it were being written when their writer ended.
    pub end: LedgerPosition,
}

/// Reads the events after `start` up to the last complete write; the error is the first bad line.
pub fn read(
    text: &[u8],
    run: &str,
    key: &SealKey,
    start: LedgerPosition,
) -> Result<LedgerContents, BadLine> {
    let mut position = start.clone();
    let mut reading = LedgerContents {
        events: Vec::new(),
        end: start,
    };
    let (mut unfinished, mut begin, mut json) = (Vec::new(), 0, Vec::new());
    for newline in memchr::memchr_iter(b'\n', text) {
        let line = text.get(begin..newline).unwrap_or_default();
        let bad = |defect| BadLine {
            line: position.seq + 1,
            defect,
        };
        let sealed =
            Sealed::open(line, key).ok_or_else(|| bad("was not written by omo, or was changed"))?;
        let (event, more) = sealed.event(run, &position, &mut json).map_err(bad)?;
        begin = newline + 1;
        position = LedgerPosition {
            offset: position.offset.saturating_add(line.len() as u64 + 1),
            seq: position.seq + 1,
            prev: sealed.prev().to_owned(),
        };
        unfinished.push(event);
        if more == 0 {
            reading.events.append(&mut unfinished);
            reading.end = position.clone();
        }
    }
    Ok(reading)
}

pub fn write(
    events: &[RunEvent],
    run: &str,
    key: &SealKey,
    start: &LedgerPosition,
) -> serde_json::Result<(Vec<u8>, LedgerPosition)> {
    let mut position = start.clone();
    let mut text = Vec::new();
    for (place, event) in events.iter().enumerate() {
        let mut line = serde_json::to_vec(event)?;
        // The closing brace: the next members belong to the same object.
        line.pop();
        let more = events.len() - place - 1;
        line.extend(format!(r#","run":"{run}","more":{more},"prev":"{}""#, position.prev).bytes());
        let seal = key.mac(&line);
        line.extend([SEAL, &seal, "\"}\n"].concat().bytes());
        text.append(&mut line);
        position.prev = seal.chars().take(PREV_CHARS).collect();
        position.seq += 1;
    }
    position.offset += text.len() as u64;
    Ok((text, position))
}

/// `true` if the [`SEALED_BYTES`] bytes `before` a reader's position end the line that it read.
pub fn has_line_end_at(position: &LedgerPosition, before: &[u8]) -> bool {
    let seal = before
        .strip_prefix(SEAL.as_bytes())
        .and_then(|seal| seal.strip_suffix(b"\"}\n"));
    seal.is_some_and(|seal| seal.starts_with(position.prev.as_bytes()))
}

struct Sealed<'a> {
    body: &'a [u8],
    seal: &'a str,
}

impl<'a> Sealed<'a> {
    fn open(line: &'a [u8], key: &SealKey) -> Option<Self> {
        let (body, end) = line.split_at_checked((line.len() + 1).checked_sub(SEALED_BYTES)?)?;
        let seal = std::str::from_utf8(end)
            .ok()?
            .strip_prefix(SEAL)?
            .strip_suffix("\"}")?;
        key.is_mac(body, seal).then_some(Self { body, seal })
    }

    fn prev(&self) -> &'a str {
        self.seal.get(..PREV_CHARS).unwrap_or_default()
    }

    /// The event of the line, with the number of lines of the same write that follow.
    fn event(
        &self,
        run: &str,
        after: &LedgerPosition,
        json: &mut Vec<u8>,
    ) -> Result<(RunEvent, u64), &'static str> {
        let prev = format!(r#","prev":"{}""#, after.prev);
        let body = self
            .body
            .strip_suffix(prev.as_bytes())
            .ok_or("does not follow the line before it")?;
        let digits = body
            .iter()
            .rev()
            .take_while(|byte| byte.is_ascii_digit())
            .count();
        let (body, more) = body
            .split_at_checked(body.len() - digits)
            .unwrap_or_default();
        let more = std::str::from_utf8(more)
            .unwrap_or_default()
            .parse()
            .map_err(|_| UNKNOWN_VERSION)?;
        let body = body.strip_suffix(br#","more":"#).ok_or(UNKNOWN_VERSION)?;
        let of_run = format!(r#","run":"{run}""#);
        let body = body
            .strip_suffix(of_run.as_bytes())
            .ok_or("was written for another run")?;
        json.clear();
        json.extend_from_slice(body);
        json.push(b'}');
        let event: RunEvent = serde_json::from_slice(json).map_err(|_| UNKNOWN_VERSION)?;
        if event.seq == after.seq + 1 {
            Ok((event, more))
        } else {
            Err("has another number than its place")
        }
    }
}

/// The seal is right: another version of omo wrote the line.
const UNKNOWN_VERSION: &str = "is nothing that this version of omo knows";
