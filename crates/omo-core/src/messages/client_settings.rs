//! Messages about settings of the client, such as the status line.

use crate::text::sanitize;

const PATH_CHARS: usize = 300;
const ENTRY_LINE_CHARS: usize = 600;

/// A line of a shell's profile that finds programs of `~/.local/bin`.
pub const PATH_LINE: &str = "export PATH=\"$HOME/.local/bin:$PATH\"";

pub const STATUS_LINE_OFFER: &str = "`/omo:statusline on` shows a run below the prompt";
const STATUS_LINE_UNDONE: &str = "`/omo:statusline off` restores what was there";

/// `lines` is the entry as JSON, `wrapping` the command that keeps an existing status line.
pub fn status_line_settings(lines: &str, wrapping: &str) -> String {
    format!(
        "[omo] status line: `/omo:statusline on` writes this into your ~/.claude/settings.json, so that you see below the \
         prompt where a run stands; {STATUS_LINE_UNDONE}:\n\
         {lines}\n\
         A status line that you have already is kept in front of it, with this as the command:\n  {wrapping}"
    )
}

pub fn status_line_written(
    file: &str,
    entry: &str,
    backup: Option<&str>,
    keeps_another: bool,
) -> String {
    let beside = if keeps_another {
        ", after the one that you have"
    } else {
        ""
    };
    let before = backup.map_or_else(
        || "There was no such file before".to_owned(),
        |backup| format!("The file as it was: {}", sanitize(backup, PATH_CHARS)),
    );
    format!(
        "[omo] status line: a run is shown below the prompt from now on{beside}. This stands in {} now:\n{}\n{before}; \
         {STATUS_LINE_UNDONE}",
        sanitize(file, PATH_CHARS),
        entry
            .lines()
            .map(|line| sanitize(line, ENTRY_LINE_CHARS))
            .collect::<Vec<_>>()
            .join("\n"),
    )
}

pub fn status_line_on_already(file: &str) -> String {
    format!(
        "[omo] status line: {} names omo already; {STATUS_LINE_UNDONE}",
        sanitize(file, PATH_CHARS)
    )
}

pub fn status_line_unchanged(file: &str, why: &str) -> String {
    format!(
        "[omo] status line: {} stays as it is: {}",
        sanitize(file, PATH_CHARS),
        sanitize(why, 200)
    )
}

/// Answer to `off`; `is_whole` is `true` for a file that is byte for byte as before.
pub fn status_line_put_back(file: &str, is_whole: bool) -> String {
    let state_words = if is_whole {
        "is as it was before"
    } else {
        "has the status line that it had, and your other changes"
    };
    format!(
        "[omo] status line: {} {state_words}; `/omo:statusline on` shows runs again",
        sanitize(file, PATH_CHARS)
    )
}

pub fn status_line_not_on(file: &str) -> String {
    format!(
        "[omo] status line: no omo is in {}, and none is offered any more",
        sanitize(file, PATH_CHARS)
    )
}

pub fn status_line_question(file: &str) -> String {
    format!(
        "Show below the prompt of Claude Code where a run stands? A `statusLine` that runs omo is written into {}, and \
         one that is there is kept beside it",
        sanitize(file, PATH_CHARS)
    )
}

/// Offer of the setting in `config_file` that changes the look of a continuation.
pub fn feedback_offer(config_file: &str) -> String {
    format!(
        "Claude Code shows each continuation as \"Stop hook reported a problem\". With `feedback = \"context\"` below \
         [stop] in {config_file} it shows what omo says, without an alarm, and sends it to the model once instead of twice."
    )
}
