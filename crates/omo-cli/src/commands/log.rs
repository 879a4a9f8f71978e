//! `omo log`: prints the decisions in a project's sessions, each with the rule behind it.

use std::collections::BTreeSet;
use std::io::Write;
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_core::log_entry::LogEntry;
use omo_core::session::VerdictKind;
use omo_core::text::sanitize;
use omo_core::timestamp::Timestamp;
use omo_state::decision_log::{DecisionLogReader, LogLines};
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use serde::Serialize;

use crate::error::CommandError;
use crate::execute::options::positive;
use crate::local_time::{LocalClock, Since};
use crate::output::stdout_columns;
use crate::project::Project;
use crate::short_id::ShortIds;

const HELP: &str = "\
Examples:
  omo log                  when, which session, what was done, and which rule
  omo log --since 2h       the same of the last two hours; or 3d, or 2026-11-20
  omo log --follow -n 5    the last five, and each new one as it comes
  omo log --json           one JSON object a line, for jq

No prompt and no answer of the model is ever in it.";

/// Show what was decided, and by which rule
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct LogOptions {
    /// Only decisions since then: an age (2h, 3d) or a date
    #[arg(long, value_name = "TIME", value_parser = Since::parse)]
    pub since: Option<Since>,
    /// Only the last N
    #[arg(short = 'n', long, value_name = "N", value_parser = line_count)]
    pub limit: Option<usize>,
    /// Only decisions about this session; the beginning of its id will do
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Keep showing decisions as they are made, until Ctrl-C
    #[arg(long, short)]
    pub follow: bool,
    /// Print JSON: one object for each line, with whole ids and the local time
    #[arg(long)]
    pub json: bool,
}

fn line_count(value: &str) -> Result<usize, String> {
    usize::try_from(positive(value)?).map_err(|_| "is too many".to_owned())
}

const POLL_INTERVAL: Duration = Duration::from_millis(200);

pub(crate) fn run(env: &ProcessEnv, options: &LogOptions) -> Result<(), CommandError> {
    let project = Project::find(env)?;
    let clock = LocalClock::from_process(env.now);
    let since = options
        .since
        .map(|since| resolve_since(since, &clock))
        .transpose()?;
    let mut log = DecisionLogReader::default();
    let lines = project
        .folder
        .as_ref()
        .map(|folder| log.read_on(folder))
        .transpose()?
        .unwrap_or_default();
    let mut shown = LogWriter::new(clock, options.json);
    shown.know(&lines);
    let session = options
        .session
        .as_deref()
        .map(|prefix| find_session(&shown.ids, prefix))
        .transpose()?;
    if shown.ids.is_empty() && !(options.follow && project.folder.is_some()) {
        writeln!(
            anstream::stderr(),
            "Nothing was decided in {} yet.",
            project.root.display()
        )?;
        return Ok(());
    }
    let filter = EntryFilter { since, session };
    let passed_over = options.limit.map_or(0, |limit| {
        let count = lines
            .entries()
            .filter(|entry| filter.matches(entry))
            .count();
        count.saturating_sub(limit)
    });
    let wanted = lines.entries().filter(|entry| filter.matches(entry));
    let is_any_shown = shown.write(wanted.skip(passed_over))?;
    drop(lines);
    if !options.follow {
        if !is_any_shown {
            writeln!(
                anstream::stderr(),
                "No decision in {} matches.",
                project.root.display()
            )?;
        }
        return Ok(());
    }
    loop {
        std::thread::sleep(POLL_INTERVAL);
        // Opened again: the user may have removed the folder, and a hook recreated it.
        if let Some(folder) = GuardedFolder::open_state(&project.root)? {
            let lines = log.read_on(&folder)?;
            shown.clock = LocalClock::from_process(omo_state::env::now());
            shown.know(&lines);
            shown.write(lines.entries().filter(|entry| filter.matches(entry)))?;
        }
    }
}

struct EntryFilter {
    since: Option<Timestamp>,
    session: Option<String>,
}

impl EntryFilter {
    fn matches(&self, entry: &LogEntry) -> bool {
        self.since.is_none_or(|since| entry.at >= since)
            && self.session.as_ref().is_none_or(|id| *id == entry.session)
    }
}

fn resolve_since(since: Since, clock: &LocalClock) -> Result<Timestamp, CommandError> {
    since.resolve(clock).ok_or_else(|| {
        CommandError::usage(
            "that day does not begin on any clock",
            "name another one, or an age: `--since 3d`",
        )
    })
}

fn find_session(ids: &BTreeSet<String>, prefix: &str) -> Result<String, CommandError> {
    let found: Vec<&str> = ids
        .iter()
        .map(String::as_str)
        .filter(|id| id.starts_with(prefix))
        .collect();
    let shown = sanitize(prefix, 60);
    match *found {
        _ if ids.contains(prefix) => Ok(prefix.to_owned()),
        [only] => Ok(only.to_owned()),
        [] => Err(CommandError::not_found(
            format!("nothing was decided about a session `{shown}`"),
            "`omo log` names the sessions, `omo status` those that are on",
        )),
        ref several => {
            let ids: Vec<String> = several
                .iter()
                .take(10)
                .map(|id| format!("  --session {}", sanitize(id, 64)))
                .collect();
            let message = format!("the ids of {} sessions begin with `{shown}`", several.len());
            Err(CommandError::usage(
                message,
                format!("name one:\n{}", ids.join("\n")),
            ))
        }
    }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct JsonLine<'a> {
    #[serde(flatten)]
    entry: &'a LogEntry,
    at_local: String,
}

struct LogWriter {
    clock: LocalClock,
    is_json: bool,
    columns: Option<usize>,
    ids: BTreeSet<String>,
    short: ShortIds,
}

impl LogWriter {
    fn new(clock: LocalClock, is_json: bool) -> Self {
        Self {
            clock,
            is_json,
            columns: stdout_columns(),
            ids: BTreeSet::new(),
            short: ShortIds::default(),
        }
    }

    fn know(&mut self, lines: &LogLines) {
        let count = self.ids.len();
        self.ids.extend(lines.entries().map(|entry| entry.session));
        if self.ids.len() > count {
            self.short = ShortIds::new(self.ids.iter().map(String::as_str));
        }
    }

    fn write(&self, entries: impl Iterator<Item = LogEntry>) -> Result<bool, CommandError> {
        let mut out = anstream::stdout().lock();
        let mut is_any_written = false;
        for entry in entries {
            is_any_written = true;
            if self.is_json {
                let line = JsonLine {
                    entry: &entry,
                    at_local: self.clock.rfc_3339(entry.at),
                };
                writeln!(out, "{}", serde_json::to_string(&line).unwrap_or_default())?;
            } else {
                writeln!(out, "{}", self.text(&entry))?;
            }
        }
        out.flush()?;
        Ok(is_any_written)
    }

    /// Lines of an entry, aligned for ids of the usual length. On a narrow terminal the reason stands below.
    fn text(&self, entry: &LogEntry) -> String {
        let dim = Style::new().dimmed();
        let style = decision_style(&entry.decision);
        let (when, session) = (
            self.clock.describe(entry.at),
            sanitize(self.short.get(&entry.session), 36),
        );
        let (decision, blocks) = (
            sanitize(entry.decision_words(), 14),
            format!("{}/{}", entry.blocks, entry.max_blocks),
        );
        let head = format!(
            "{dim}{when:<16}{dim:#}  {session:<8}  {style}{decision:<14}{style:#}  {blocks:<5}"
        );
        let width = WHEN_AND_DECISION + session.chars().count().max(8);
        let why = format!(
            "{}: {}",
            sanitize(&entry.event, 16),
            sanitize(&entry.why, 400)
        );
        let Some(columns) = self.columns else {
            return format!("{head}  {why}");
        };
        let room = columns.saturating_sub(width + 2);
        if room >= LEAST_ROOM {
            let gap = format!("\n{}", " ".repeat(width + 2));
            return format!("{head}  {}", textwrap::wrap(&why, room).join(&gap));
        }
        let below = textwrap::wrap(&why, columns.saturating_sub(BELOW.len()).max(LEAST_ROOM));
        format!(
            "{}\n{BELOW}{}",
            head.trim_end(),
            below.join(&format!("\n{BELOW}"))
        )
    }
}

const WHEN_AND_DECISION: usize = 16 + 2 + 2 + 14 + 2 + 5;
const LEAST_ROOM: usize = 24;
const BELOW: &str = "    ";

fn decision_style(decision: &str) -> Style {
    let end = decision.strip_prefix("end: ");
    match (end, decision) {
        (Some(end), _) if end == VerdictKind::Verified.word() => {
            AnsiColor::Green.on_default().bold()
        }
        (Some(end), _) if end == VerdictKind::Stopped.word() => Style::new(),
        (Some(_), _) => AnsiColor::Red.on_default().bold(),
        (None, "pause" | "warn") => AnsiColor::Yellow.on_default(),
        _ => Style::new(),
    }
}

#[cfg(test)]
mod tests {
    use unicode_width::UnicodeWidthStr;

    use super::*;

    fn entry(session: &str, decision: &str) -> LogEntry {
        LogEntry {
            at: Timestamp::from_millis(0),
            session: session.to_owned(),
            event: "Stop".to_owned(),
            row: Some(15),
            decision: decision.to_owned(),
            why: "the work is not claimed to be done, and what it is judged by was not run yet"
                .to_owned(),
            blocks: 3,
            max_blocks: 8,
            since: None,
            claim: None,
        }
    }

    fn shown(columns: Option<usize>, decision: &str) -> String {
        let mut writer = LogWriter::new(
            LocalClock::from_process(Timestamp::from_millis(240_000)),
            false,
        );
        writer.columns = columns;
        writer.ids = ["0b7f2a9c-4444-4444", "0b7f2a9c-4d00"]
            .map(str::to_owned)
            .into();
        writer.short = ShortIds::new(writer.ids.iter().map(String::as_str));
        anstream::adapter::strip_str(&writer.text(&entry("0b7f2a9c-4444-4444", decision)))
            .to_string()
    }

    #[test]
    fn no_terminal_is_too_narrow_for_a_decision() {
        for columns in [40, 60, 80, 100, 200] {
            let text = shown(Some(columns), "end: verified");
            assert!(
                text.starts_with("4 min ago         0b7f2a9c-44  end: verified   3/8"),
                "{text}"
            );
            assert!(
                text.lines().all(|line| line.width() <= columns.max(60)),
                "{columns}:\n{text}"
            );
            let words: Vec<&str> = text.split_whitespace().collect();
            assert!(words.join(" ").ends_with(
                "Stop: the work is not claimed to be done, and what it is judged by was not run yet"
            ));
        }
        let text = shown(None, "block");
        assert_eq!(text.lines().count(), 1, "{text}");
    }

    #[test]
    fn a_session_is_found_by_the_beginning_of_its_id() {
        let ids = ["abc-1", "abc-2", "abc-22", "b"].map(str::to_owned).into();
        let found = |prefix: &str| find_session(&ids, prefix).map_err(|error| error.kind.code());
        assert_eq!(found("b"), Ok("b".to_owned()));
        assert_eq!(found("abc-2"), Ok("abc-2".to_owned()));
        assert_eq!(found("abc-22"), Ok("abc-22".to_owned()));
        assert_eq!((found("abc"), found("x")), (Err(2), Err(3)));
    }

    #[test]
    fn an_end_is_green_where_it_was_proved_and_red_where_it_was_not() {
        let colour = |decision| decision_style(decision).get_fg_color();
        assert_eq!(colour("end: verified"), Some(AnsiColor::Green.into()));
        assert_eq!(colour("end: expired"), Some(AnsiColor::Red.into()));
        assert_eq!((colour("end: stopped"), colour("block")), (None, None));
    }
}
