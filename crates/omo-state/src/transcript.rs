//! Reads the few facts that omo needs from the end of a session's transcript, a file of JSON lines.
//!
//! The client appends lines, some after the hook has started. A missing, half-written, replaced or
//! hostile file only tells less. Texts of people and models are never searched, only the structure.
//! the structure of lines counts.

use std::io::{BufRead, BufReader, Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem;
use omo_core::keyword::is_from_a_person;
use omo_core::messages::CONTRACT_MARK;
use omo_core::session::rest::{TurnBegin, TurnTime, idle_millis};
use omo_core::session::{Interruption, Session, TranscriptMark};
use omo_core::stop::TranscriptTail;
use omo_core::timestamp::Timestamp;

use crate::files::regular_file;

mod agent_reports;
pub mod agent_transcript;
mod goal;
mod line;
mod recorded_answers;
mod scheduled_prompts;
mod tokens;

use line::TranscriptLine;

pub use agent_reports::{AgentReport, read_agent_reports};
pub use goal::read_active_goal;
pub use recorded_answers::read_recorded_answers;
pub use scheduled_prompts::is_scheduled_prompt;
pub use tokens::count_tokens;

pub const TAIL_BYTES: u64 = 1024 * 1024;
/// Maximum bytes of a transcript that is read line by line.
const MAX_BYTES: u64 = 512 * 1024 * 1024;
const MAX_LINE_BYTES: u64 = 8 * 1024 * 1024;
/// Start of the client's copies of its requests, which are most of a transcript.
const COPY: &[u8] = b"{\"type\":\"api-request";

/// Facts about a conversation, from the end of its transcript.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ConversationState {
    pub holds_contract: bool,
    /// `true` after a context overflow, since the last compaction.
    pub context_pressure: bool,
}

/// Facts since `mark`; none without a transcript. The client writes a little late: lines from
/// before `last_block` may follow it.
pub fn read_tail(
    path: &Path,
    mark: TranscriptMark,
    last_block: Option<Timestamp>,
) -> TranscriptTail {
    Chunk::read(path, mark.offset).map_or(TranscriptTail::unknown(mark), |chunk| {
        chunk.tail(mark, last_block)
    })
}

/// Facts since the last read of the session, as by [`read_tail`], and the time of its turn.
pub fn read_turn(path: &Path, session: &Session, now: Timestamp) -> (TranscriptTail, TurnTime) {
    let (mark, last_block) = (session.transcript, session.ulw.last_stop_at);
    let Some(chunk) = Chunk::read(path, mark.offset) else {
        return (TranscriptTail::unknown(mark), TurnTime::default());
    };
    let mut tail = chunk.tail(mark, last_block);
    tail.blocks_since = last_block
        .or(session.ulw.started_at)
        .map_or(0, |since| chunk.count_own_blocks(mark, since));
    let time = session
        .turn_begin()
        .map(|begin| chunk.turn_time(begin, mark, tail.interrupted, now));
    (tail, time.unwrap_or_default())
}

/// State of the conversation, from the last [`TAIL_BYTES`].
pub fn read_conversation(path: &Path) -> ConversationState {
    Chunk::read(path, 0)
        .map(|chunk| chunk.conversation())
        .unwrap_or_default()
}

/// `true` for any line of the model since the mark; `None` without a transcript.
pub fn model_has_spoken(path: &Path, mark: TranscriptMark) -> Option<bool> {
    let chunk = Chunk::read(path, mark.offset)?;
    Some(
        chunk
            .lines_with(b"assistant")
            .any(|line| line.parse().is_some_and(|line| line.is_of_the_model())),
    )
}

/// Last text of the main agent since the mark and the last prompt, for clients that do not send it.
pub fn last_assistant_text(path: &Path, mark: TranscriptMark) -> Option<String> {
    let chunk = Chunk::read(path, mark.offset)?;
    chunk
        .lines_with(b"assistant")
        .filter_map(|line| {
            let line = line.parse().filter(TranscriptLine::is_of_the_model)?;
            line.blocks()
                .into_iter()
                .rev()
                .find(|block| block.kind == "text")?
                .text
        })
        .last()
}

/// `true` once the final message, or a tool call, is there: the client writes it up to 80 ms late.
pub fn has_caught_up(
    path: &Path,
    mark: TranscriptMark,
    last_block: Option<Timestamp>,
    message: &str,
) -> bool {
    let Some(chunk) = Chunk::read(path, mark.block_offset) else {
        return true;
    };
    chunk
        .of_the_model_since(b"assistant", mark, last_block)
        .any(|line| {
            line.blocks().iter().any(|block| {
                block
                    .text
                    .as_deref()
                    .is_some_and(|text| text.trim() == message.trim())
            })
        })
        || chunk.calls_a_tool(mark, last_block)
}

/// Calls `see` for lines with one of `needles`; `false` where not all could be read.
fn each_line(
    path: &Path,
    from: u64,
    needles: &[&[u8]],
    mut see: impl FnMut(&TranscriptLine),
) -> bool {
    let Ok(Some(mut file)) = regular_file::open(path) else {
        return true;
    };
    if file.seek(SeekFrom::Start(from)).is_err() {
        return false;
    }
    let finders: Vec<_> = needles.iter().map(memmem::Finder::new).collect();
    let mut reader = BufReader::new(file.take(MAX_BYTES));
    let (mut bytes, mut is_whole, mut is_within) = (Vec::new(), true, false);
    while reader
        .by_ref()
        .take(MAX_LINE_BYTES)
        .read_until(b'\n', &mut bytes)
        .is_ok_and(|length| length > 0)
    {
        let is_rest = std::mem::replace(&mut is_within, !bytes.ends_with(b"\n"));
        is_whole &= (bytes.len() as u64) < MAX_LINE_BYTES;
        if !is_rest
            && !bytes.starts_with(COPY)
            && finders.iter().any(|finder| finder.find(&bytes).is_some())
            && let Some(line) = (RawLine {
                offset: 0,
                bytes: &bytes,
            })
            .parse()
        {
            see(&line);
        }
        bytes.clear();
    }
    is_whole && reader.get_ref().limit() > 0
}

struct Chunk {
    start: u64,
    bytes: Vec<u8>,
}

#[derive(Clone, Copy)]
struct RawLine<'a> {
    offset: u64,
    bytes: &'a [u8],
}

impl<'a> RawLine<'a> {
    fn parse(self) -> Option<TranscriptLine<'a>> {
        serde_json::from_slice(self.bytes).ok()
    }
}

impl Chunk {
    /// Reads at most [`TAIL_BYTES`]. A file shorter than `offset` was replaced, and is read anew.
    fn read(path: &Path, offset: u64) -> Option<Self> {
        Self::read_at_most(path, offset, TAIL_BYTES)
    }

    fn read_at_most(path: &Path, offset: u64, max_bytes: u64) -> Option<Self> {
        let mut file = regular_file::open(path).ok()??;
        let length = file.metadata().ok()?.len();
        let from = if offset <= length { offset } else { 0 };
        let start = from.max(length.saturating_sub(max_bytes));
        file.seek(SeekFrom::Start(start)).ok()?;
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(usize::try_from(length - start).ok()?)
            .ok()?;
        file.take(length - start).read_to_end(&mut bytes).ok()?;
        bytes.truncate(memchr::memrchr(b'\n', &bytes).map_or(0, |at| at + 1));
        if start == from {
            return Some(Self { start, bytes });
        }
        let line_end = memchr::memchr(b'\n', &bytes).map_or(bytes.len(), |at| at + 1);
        bytes.drain(..line_end);
        Some(Self {
            start: start + line_end as u64,
            bytes,
        })
    }

    /// Lines that contain `needle`; the caller checks their structure.
    fn lines_with<'a>(&'a self, needle: &'a [u8]) -> impl Iterator<Item = RawLine<'a>> {
        let finder = memmem::Finder::new(needle);
        let mut from = 0;
        std::iter::from_fn(move || {
            let hit = from + finder.find(self.bytes.get(from..)?)?;
            let start = memchr::memrchr(b'\n', self.bytes.get(..hit)?).map_or(0, |at| at + 1);
            let end = hit + memchr::memchr(b'\n', self.bytes.get(hit..)?)? + 1;
            from = end;
            Some(RawLine {
                offset: self.start + start as u64,
                bytes: self.bytes.get(start..end)?,
            })
        })
    }

    fn tail(&self, mark: TranscriptMark, last_block: Option<Timestamp>) -> TranscriptTail {
        let mut queue = InputQueue::default();
        for line in self.lines_with(b"queue-operation") {
            if let Some(operation) = line.parse().filter(|line| line.kind == "queue-operation") {
                queue.apply(&operation, line.offset);
            }
        }
        let end = self.start + self.bytes.len() as u64;
        TranscriptTail {
            input_waiting: queue.waiting.iter().any(|waiting| waiting.by_a_person),
            interrupted: self.interruption(),
            tool_called_since_block: self.calls_a_tool(mark, last_block),
            blocks_since: 0,
            next_offset: queue.busy_since.unwrap_or(end),
            end,
        }
    }

    /// Number of omo's own blocks from the last known one on.
    fn count_own_blocks(&self, mark: TranscriptMark, since: Timestamp) -> usize {
        let written = self
            .lines_with(b"\"[omo] ")
            .filter(|line| line.offset >= mark.block_offset);
        written
            .filter_map(RawLine::parse)
            .filter(|line| line.time().is_some_and(|at| at > since) && line.is_own_block())
            .count()
    }

    /// Values of `timestamp`; within texts the quotes are escaped.
    fn times(&self) -> impl Iterator<Item = Timestamp> {
        const FIELD: &[u8] = b"\"timestamp\":\"";
        const LONGEST: usize = 40;
        memmem::find_iter(&self.bytes, FIELD).filter_map(|at| {
            let value = self.bytes.get(at + FIELD.len()..)?;
            let value = value.get(..LONGEST).unwrap_or(value);
            Timestamp::parse(std::str::from_utf8(value.get(..memchr::memchr(b'"', value)?)?).ok()?)
        })
    }

    /// Time of the turn, up to an interruption after which the run waits.
    fn turn_time(
        &self,
        begin: TurnBegin,
        mark: TranscriptMark,
        interrupted: Option<Interruption>,
        now: Timestamp,
    ) -> TurnTime {
        let (from, rest_ended_at) = match begin {
            TurnBegin::At(from) => (from, None),
            TurnBegin::AfterRest(since) => {
                let first_words = self.lines_with(b"assistant").filter_map(RawLine::parse);
                let first_words = first_words
                    .filter(TranscriptLine::is_of_the_model)
                    .filter_map(|line| line.time());
                let Some(first) = first_words.filter(|at| (since < *at) && (*at <= now)).min()
                else {
                    return TurnTime::default();
                };
                (first, Some(first))
            }
        };
        let until = match interrupted {
            Some(Interruption::At(at)) if from < at => at.min(now),
            _ => now,
        };
        // Work before the first entry of a cut tail was not read.
        let is_cut = self.start != mark.offset;
        let known_from = if is_cut {
            self.times()
                .filter(|at| (from..=until).contains(at))
                .min()
                .unwrap_or(until)
        } else {
            from
        };
        TurnTime {
            rest_ended_at,
            idle_millis: idle_millis(self.times(), known_from, until),
        }
    }

    fn interruption(&self) -> Option<Interruption> {
        let by_esc = self
            .lines_with(b"[Request interrupted by user")
            .filter_map(RawLine::parse);
        let by_esc = by_esc
            .filter(TranscriptLine::is_interruption)
            .map(|line| line.interruption())
            .last();
        let in_hook = self
            .lines_with(b"hook_cancelled")
            .filter_map(RawLine::parse);
        let in_hook = in_hook
            .filter(TranscriptLine::is_cancelled_stop)
            .map(|line| line.interruption())
            .last();
        by_esc.max(in_hook)
    }

    fn calls_a_tool(&self, mark: TranscriptMark, last_block: Option<Timestamp>) -> bool {
        self.of_the_model_since(b"tool_use", mark, last_block)
            .any(|line| line.calls().next().is_some())
    }

    /// A line of the block's own millisecond came after it, behind a request to the model.
    fn of_the_model_since<'a>(
        &'a self,
        needle: &'a [u8],
        mark: TranscriptMark,
        last_block: Option<Timestamp>,
    ) -> impl Iterator<Item = TranscriptLine<'a>> {
        let written = self
            .lines_with(needle)
            .filter(move |line| line.offset >= mark.block_offset);
        written
            .filter_map(RawLine::parse)
            .filter(TranscriptLine::is_of_the_model)
            .filter(move |line| match (line.time(), last_block) {
                (Some(at), Some(block)) => at >= block,
                _ => true,
            })
    }

    #[expect(
        clippy::redundant_closure_for_method_calls,
        reason = "a method's path fits one lifetime, not every one"
    )]
    fn conversation(&self) -> ConversationState {
        let compacted = self.last_line(b"compact_boundary", |line| line.is_compaction());
        // `None` is before everything.
        ConversationState {
            holds_contract: self.last_line(CONTRACT_MARK.as_bytes(), |line| line.is_contract())
                > compacted,
            context_pressure: self
                .last_line(b"isApiErrorMessage", |line| line.says_prompt_too_long())
                > compacted,
        }
    }

    /// Offset of the last line with `needle` that `counts`.
    fn last_line(&self, needle: &[u8], counts: fn(&TranscriptLine) -> bool) -> Option<u64> {
        let counting = self
            .lines_with(needle)
            .filter(|line| line.parse().is_some_and(|line| counts(&line)));
        counting.last().map(|line| line.offset)
    }
}

#[derive(Default)]
struct InputQueue {
    waiting: Vec<WaitingInput>,
    /// Offset at which the next read begins, and finds the same inputs waiting.
    busy_since: Option<u64>,
}

struct WaitingInput {
    content: String,
    by_a_person: bool,
}

impl InputQueue {
    /// Inputs leave by `dequeue`, from the front, or by `remove` and `popAll`, which name them.
    fn apply(&mut self, line: &TranscriptLine, offset: u64) {
        let content = line.queued_text();
        match line.operation {
            Some("enqueue") => {
                let content = content.unwrap_or_default();
                let by_a_person = is_from_a_person(&content);
                self.waiting.push(WaitingInput {
                    content,
                    by_a_person,
                });
                self.busy_since.get_or_insert(offset);
            }
            Some("dequeue" | "remove" | "popAll") => {
                let leaving = self.waiting.iter().position(|input| {
                    content
                        .as_ref()
                        .is_none_or(|content| *content == input.content)
                });
                if let Some(at) = leaving {
                    self.waiting.remove(at);
                }
                if self.waiting.is_empty() {
                    self.busy_since = None;
                }
            }
            _ => {}
        }
    }
}
