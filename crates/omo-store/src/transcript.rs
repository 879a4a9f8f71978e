//! The tail of a session's transcript, and the few facts that omo takes from it.
//!
//! The client appends JSON lines to the transcript, some of them after the hook has started. The
//! file may be missing, half written, replaced, or hostile: none of that is an error, it only
//! says less. Text of people and models is never searched: only the lines' own structure counts.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;

use memchr::memmem;
use omo_core::keyword::is_from_a_person;
use omo_core::session::TranscriptMark;
use omo_core::timestamp::Timestamp;
use omo_core::words::CONTRACT_MARK;
use serde::Deserialize;
use serde_json::value::RawValue;

/// At most this much of the transcript's end is read.
pub const TAIL_BYTES: u64 = 1024 * 1024;

/// What the tail of a transcript says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tail {
    /// A person's input waits in the client's queue.
    pub input_waiting: bool,
    /// The user interrupted; with the time, where the line has one.
    pub interrupted: Option<Option<Timestamp>>,
    /// A tool was called since the last block.
    pub tool_called_since_block: bool,
    /// There is a transcript, and the model has said nothing in what was read of it.
    pub model_is_silent: bool,
    /// The conversation holds omo's contract, and no compaction came after it.
    pub holds_contract: bool,
    /// The context was too full for the model, and no compaction came after that.
    pub context_pressure: bool,
    /// Where to read on at the next prompt: behind the last whole line, or before the first
    /// input that still waits.
    pub next_offset: u64,
    /// Behind the last whole line.
    pub end: u64,
}

/// Reads the tail from a mark on. Where there is no transcript, nothing is known.
pub fn read_tail(path: &Path, mark: TranscriptMark) -> Tail {
    let unknown = Tail { next_offset: mark.offset, end: mark.block_offset, ..Tail::default() };
    read_from(path, mark.offset).map_or(unknown, |(start, bytes)| scan(&bytes, start, mark))
}

/// Reads the last [`TAIL_BYTES`], whatever was read before.
pub fn read_last(path: &Path) -> Tail {
    read_tail(path, TranscriptMark::default())
}

/// The last text of the main agent since the mark, for clients that do not send it. What came
/// before the last prompt is not looked at.
pub fn last_assistant_text(path: &Path, mark: TranscriptMark) -> Option<String> {
    let (_, bytes) = read_from(path, mark.offset)?;
    bytes.rsplit(|byte| *byte == b'\n').find_map(|line| {
        memmem::find(line, b"assistant")?;
        let line = serde_json::from_slice::<Line>(line).ok()?;
        let blocks = (line.kind == "assistant" && !line.is_sidechain).then(|| line.blocks())?;
        blocks.into_iter().rev().find(|block| block.kind == "text")?.text
    })
}

/// The bytes from `offset` to the end, at most [`TAIL_BYTES`] of them, and where they start. A
/// file that is shorter than the offset was replaced: it is read anew.
fn read_from(path: &Path, offset: u64) -> Option<(u64, Vec<u8>)> {
    let mut file = open_regular(path)?;
    let length = file.metadata().ok()?.len();
    let from = if offset <= length { offset } else { 0 };
    let start = from.max(length.saturating_sub(TAIL_BYTES));
    file.seek(SeekFrom::Start(start)).ok()?;
    let mut bytes = Vec::with_capacity(usize::try_from(length - start).ok()?);
    file.take(length - start).read_to_end(&mut bytes).ok()?;
    if start == from {
        return Some((start, bytes));
    }
    // The first line is cut: it begins before what was read.
    let line = memchr::memchr(b'\n', &bytes)? + 1;
    bytes.drain(..line);
    Some((start + line as u64, bytes))
}

/// Opens a regular file without waiting for whoever might write into a FIFO of that name.
fn open_regular(path: &Path) -> Option<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    file.metadata().ok()?.is_file().then_some(file)
}

fn scan(bytes: &[u8], start: u64, mark: TranscriptMark) -> Tail {
    let whole = memchr::memrchr(b'\n', bytes).map_or(0, |at| at + 1);
    let mut tail = Tail { model_is_silent: true, ..Tail::default() };
    let mut queue: Vec<Waiting> = Vec::new();
    let mut line_start = 0;
    for line in bytes.get(..whole).unwrap_or_default().split_inclusive(|byte| *byte == b'\n') {
        let offset = start + line_start as u64;
        line_start += line.len();
        if is_candidate(line) {
            read_line(line, offset, mark, &mut tail, &mut queue);
        }
    }
    tail.end = start + whole as u64;
    tail.input_waiting = queue.iter().any(|waiting| waiting.by_a_person);
    tail.next_offset = queue.first().map_or(tail.end, |waiting| waiting.offset);
    tail
}

/// An input in the client's queue.
struct Waiting {
    content: String,
    by_a_person: bool,
    offset: u64,
}

/// Whether a line can be about anything that matters, judged by its bytes: few lines are parsed.
fn is_candidate(line: &[u8]) -> bool {
    const NEEDLES: [&[u8]; 7] = [
        b"queue-operation",
        b"assistant",
        b"[Request interrupted by user",
        b"hook_cancelled",
        b"compact_boundary",
        CONTRACT_MARK.as_bytes(),
        b"isApiErrorMessage",
    ];
    NEEDLES.iter().any(|needle| memmem::find(line, needle).is_some())
}

fn read_line(line: &[u8], offset: u64, mark: TranscriptMark, tail: &mut Tail, queue: &mut Vec<Waiting>) {
    let Ok(line) = serde_json::from_slice::<Line>(line) else { return };
    match line.kind {
        "queue-operation" => apply_to_queue(&line, offset, queue),
        "user" if line.is_interruption() => tail.interrupted = Some(line.time()),
        "assistant" if !line.is_sidechain => {
            tail.model_is_silent = false;
            tail.tool_called_since_block |= offset >= mark.block_offset && line.calls_a_tool();
            tail.context_pressure |= line.is_api_error_message && line.says_prompt_too_long();
        }
        "attachment" => match line.attachment() {
            Some(attachment) if attachment.is_cancelled_stop() => tail.interrupted = Some(line.time()),
            Some(attachment) if attachment.is_contract() => tail.holds_contract = true,
            _ => {}
        },
        "system" if line.subtype == Some("compact_boundary") => {
            tail.holds_contract = false;
            tail.context_pressure = false;
        }
        _ => {}
    }
}

/// The client's own book-keeping: what is enqueued leaves by `dequeue` from the front, by
/// `remove` wherever it stands, or all at once by `popAll`.
fn apply_to_queue(line: &Line, offset: u64, queue: &mut Vec<Waiting>) {
    let content = line.content.and_then(|raw| serde_json::from_str::<String>(raw.get()).ok());
    match line.operation {
        Some("enqueue") => {
            let content = content.unwrap_or_default();
            let by_a_person = is_from_a_person(&content);
            queue.push(Waiting { content, by_a_person, offset });
        }
        Some("dequeue" | "remove") if !queue.is_empty() => {
            let same = |waiting: &Waiting| content.as_ref() == Some(&waiting.content);
            queue.remove(queue.iter().position(same).unwrap_or(0));
        }
        Some("popAll") => queue.clear(),
        _ => {}
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Line<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    subtype: Option<&'a str>,
    operation: Option<&'a str>,
    timestamp: Option<&'a str>,
    #[serde(default)]
    is_sidechain: bool,
    #[serde(default)]
    is_api_error_message: bool,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    attachment: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message {
    #[serde(default)]
    content: Vec<Block>,
}

#[derive(Deserialize)]
struct Block {
    #[serde(rename = "type")]
    kind: String,
    text: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Attachment<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    hook_event: Option<&'a str>,
    #[serde(default)]
    timed_out: bool,
    #[serde(borrow)]
    content: Option<&'a RawValue>,
}

impl<'a> Line<'a> {
    fn time(&self) -> Option<Timestamp> {
        self.timestamp.and_then(Timestamp::parse)
    }

    /// The blocks of the message; none where it is plain text, as a person's prompt is.
    fn blocks(&self) -> Vec<Block> {
        let message = self.message.and_then(|raw| serde_json::from_str::<Message>(raw.get()).ok());
        message.map(|message| message.content).unwrap_or_default()
    }

    /// The client's own line for Esc: one block with exactly these words, and no tool's result.
    fn is_interruption(&self) -> bool {
        let words = |block: &Block| {
            let text = block.text.as_deref();
            matches!(text, Some("[Request interrupted by user]" | "[Request interrupted by user for tool use]"))
        };
        !self.is_sidechain && self.tool_use_result.is_none() && matches!(&*self.blocks(), [block] if words(block))
    }

    fn calls_a_tool(&self) -> bool {
        self.blocks().iter().any(|block| block.kind == "tool_use")
    }

    fn says_prompt_too_long(&self) -> bool {
        self.blocks()
            .iter()
            .filter_map(|block| block.text.as_deref())
            .any(|text| text.starts_with("Prompt is too long"))
    }

    fn attachment(&self) -> Option<Attachment<'a>> {
        serde_json::from_str(self.attachment?.get()).ok()
    }
}

impl Attachment<'_> {
    /// The user interrupted while the Stop hook ran.
    fn is_cancelled_stop(&self) -> bool {
        self.kind == "hook_cancelled" && self.hook_event == Some("Stop") && !self.timed_out
    }

    fn is_contract(&self) -> bool {
        let from_hook = matches!(self.kind, "hook_success" | "hook_additional_context");
        let told = matches!(self.hook_event, Some("UserPromptSubmit" | "SessionStart"));
        from_hook && told && self.content.is_some_and(|raw| raw.get().contains(CONTRACT_MARK))
    }
}
