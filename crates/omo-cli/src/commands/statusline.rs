//! `omo statusline`: one segment for the client's status line. Takes no lock, writes nothing, and always exits 0.

use std::ffi::OsString;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use clap::Args;
use omo_claude::hook_input::{LossyText, stdin};
use omo_core::messages::status_line::{PartTone, SEPARATOR, StatusPart, status_parts};
use omo_core::session::id::SessionId;
use omo_core::session::{EntryProvenance, Session};
use omo_core::timestamp::Timestamp;
use omo_engine::RunStore;
use omo_process::status_line::StatusLine;
use omo_process::watchdog;
use omo_state::env::ProcessEnv;
use omo_state::files::folder::GuardedFolder;
use omo_state::project_root;
use omo_state::state::{self, sealed_plan_run};
use omo_state::transcript::read_tail;

const HELP: &str = "\
Examples, each as the \"command\" of a \"statusLine\":
  omo statusline
  omo statusline --wrap 'my-status-line --short'

It reads on stdin what Claude Code sends to a status line, and prints nothing
where no run is on. `/omo:statusline` in a session shows the lines for your
settings.json, with the path of this omo.";

/// Print where a run stands, for Claude Code's status line
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct StatuslineOptions {
    /// Your other status line, a command for sh: it gets the same input, and what it prints comes
    /// first
    #[arg(long, value_name = "COMMAND")]
    pub wrap: Option<String>,
}

const LIMIT: Duration = Duration::from_secs(5);

/// Options in their usual form; `None` leaves any other form to clap, which is slow for a command that runs this often.
pub(crate) fn options_without_clap(
    mut arguments: impl Iterator<Item = OsString>,
) -> Option<StatuslineOptions> {
    if arguments.next()? != "statusline" {
        return None;
    }
    let wrap = match arguments.next() {
        None => None,
        Some(option) if option == "--wrap" => Some(arguments.next()?.into_string().ok()?),
        Some(_) => return None,
    };
    arguments
        .next()
        .is_none()
        .then_some(StatuslineOptions { wrap })
}

/// Needed fields of the client's input. A wrong type makes it unreadable.
#[derive(serde::Deserialize)]
struct Input {
    session_id: LossyText,
    cwd: Option<PathBuf>,
    transcript_path: Option<PathBuf>,
    workspace: Option<Workspace>,
}

#[derive(serde::Deserialize)]
struct Workspace {
    project_dir: Option<PathBuf>,
}

pub(crate) fn run(options: &StatuslineOptions) {
    // A crash must not leave half a status line.
    std::panic::set_hook(Box::new(|_| watchdog::exit_hook()));
    let input = stdin::read_json().unwrap_or_default();
    let wrapped_output = options.wrap.as_deref().map(|command| {
        watchdog::extend_limit(LIMIT);
        StatusLine::start(command, input.clone())
    });
    let segment = segment(&ProcessEnv::from_process(), &input).unwrap_or_default();
    let other_output = wrapped_output.map(StatusLine::output).unwrap_or_default();
    if other_output.is_empty() && segment.is_empty() {
        return;
    }
    if options.wrap.is_none() {
        watchdog::start();
    }
    // A client that stopped reading needs no line.
    let mut stdout = std::io::stdout().lock();
    let _ = stdout
        .write_all(&join_lines(other_output, &segment))
        .and_then(|()| stdout.flush());
}

fn segment(env: &ProcessEnv, input: &[u8]) -> Option<String> {
    if env.disabled || env.in_check {
        return None;
    }
    // Most projects have never used omo; their input need not be parsed.
    if env
        .project_dir
        .as_deref()
        .is_some_and(|root| matches!(GuardedFolder::open_state(root), Ok(None)))
    {
        return None;
    }
    // serde would accept an array as a struct, by position.
    let object = input
        .trim_ascii_start()
        .starts_with(b"{")
        .then_some(input)?;
    let input: Input = serde_json::from_slice(object).ok()?;
    let id = SessionId::parse(&input.session_id).ok()?;
    let project = input.workspace.and_then(|workspace| workspace.project_dir);
    let root = project_root::find_root(
        env.project_dir.as_deref().or(project.as_deref()),
        input.cwd.as_deref(),
    )?;
    let mut session = state::peek(&root, &id).ok()??;
    if session.is_armed() {
        note_interruption(&mut session, input.transcript_path.as_deref(), env.now);
    } else if session.verdict.is_some() {
        // A verdict that omo did not write proves nothing.
        let provenance = state::provenance(&root, &id, &session, env.state_home.as_deref());
        session = session.as_believed(provenance.unwrap_or(EntryProvenance::Foreign), env.now);
    }
    let plan = sealed_plan_run::authentic_run(&session, &id, env.state_home.as_deref());
    let mut parts = status_parts(&session, plan, env.client_block_cap, env.now);
    if plan.is_some_and(|plan| {
        plan.is_open() && is_supervised(&root, env.state_home.as_deref(), &plan.id)
    }) {
        parts.push(StatusPart {
            text: "clients at work".to_owned(),
            tone: PartTone::Plain,
        });
    }
    let has_colour = !anstyle_query::no_color() && anstyle_query::term_supports_color();
    Some(painted(&parts, has_colour))
}

/// No hook runs at Esc, so only the transcript shows an interruption before the next prompt.
fn note_interruption(session: &mut Session, transcript: Option<&Path>, now: Timestamp) {
    let Some(transcript) = transcript else {
        return;
    };
    let tail = read_tail(transcript, session.transcript, session.ulw.last_stop_at);
    if let Some(interruption) = tail.interrupted {
        session.note_interruption(interruption, now);
    }
}

/// `true` while a supervisor keeps clients at work on a run: after Esc nothing else shows that.
fn is_supervised(root: &Path, state_home: Option<&Path>, run: &str) -> bool {
    let runs = RunStore::find(root, state_home).ok().flatten();
    runs.and_then(|runs| runs.get(run).ok()?.is_supervised().ok())
        .unwrap_or_default()
}

fn painted(parts: &[StatusPart], has_colour: bool) -> String {
    parts
        .iter()
        .map(|part| {
            let style = if has_colour {
                style(part.tone)
            } else {
                Style::new()
            };
            format!("{style}{}{style:#}", part.text)
        })
        .collect::<Vec<_>>()
        .join(SEPARATOR)
}

fn style(tone: PartTone) -> Style {
    match tone {
        PartTone::Plain => Style::new(),
        PartTone::Waits => AnsiColor::Yellow.on_default(),
        PartTone::Proved => AnsiColor::Green.on_default().bold(),
        PartTone::Unproved => AnsiColor::Red.on_default().bold(),
        PartTone::Last => AnsiColor::Red.on_default(),
    }
}

fn join_lines(wrapped_output: Vec<u8>, segment: &str) -> Vec<u8> {
    if segment.is_empty() {
        return wrapped_output;
    }
    let mut line = wrapped_output;
    while line
        .last()
        .is_some_and(|byte| matches!(byte, b'\n' | b'\r'))
    {
        line.pop();
    }
    if !line.trim_ascii().is_empty() {
        // A colour that the other status line left on must not tint the segment.
        let reset = if line.contains(&b'\x1b') {
            "\x1b[0m"
        } else {
            ""
        };
        line.extend([reset, SEPARATOR].concat().bytes());
    }
    line.extend(segment.bytes());
    line.push(b'\n');
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_plain_forms_go_past_clap() {
        for (words, wrap) in [
            (&["statusline"][..], Some(None)),
            (&["statusline", "--wrap", "date"], Some(Some("date"))),
            (&["statusline", "--wrap", "--help"], Some(Some("--help"))),
            (&["statusline", "--wrap"], None),
            (&["statusline", "--wrap=date"], None),
            (&["statusline", "--wrap", "date", "more"], None),
            (&["statusline", "--help"], None),
            (&["status"], None),
            (&[], None),
        ] {
            let options = options_without_clap(words.iter().map(OsString::from));
            assert_eq!(
                options.map(|options| options.wrap),
                wrap.map(|wrap| wrap.map(str::to_owned)),
                "{words:?}"
            );
        }
    }

    #[test]
    fn the_segment_stands_behind_the_last_line_of_the_other() {
        for (other, segment, expected) in [
            ("", "ulw 0/8", "ulw 0/8\n"),
            ("main\n", "", "main\n"),
            ("main", "ulw 0/8", "main · ulw 0/8\n"),
            ("one\ntwo\r\n\n", "ulw 0/8", "one\ntwo · ulw 0/8\n"),
            (" \n", "ulw 0/8", " ulw 0/8\n"),
            (
                "\u{1b}[31mred",
                "ulw 0/8",
                "\u{1b}[31mred\u{1b}[0m · ulw 0/8\n",
            ),
        ] {
            assert_eq!(
                String::from_utf8(join_lines(other.into(), segment)).unwrap(),
                expected,
                "{other:?} {segment:?}"
            );
        }
    }

    #[test]
    fn only_what_stands_out_has_a_colour_and_only_where_colours_are_wanted() {
        let part = |text: &str, tone| StatusPart {
            text: text.to_owned(),
            tone,
        };
        let parts = [
            part("ulw 8/8", PartTone::Last),
            part("review", PartTone::Plain),
            part("paused", PartTone::Waits),
        ];
        assert_eq!(painted(&parts, false), "ulw 8/8 · review · paused");
        assert_eq!(
            painted(&parts, true),
            "\u{1b}[31mulw 8/8\u{1b}[0m · review · \u{1b}[33mpaused\u{1b}[0m"
        );
    }
}
