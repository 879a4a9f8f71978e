//! What is said about settings of the client, which omo never changes: their user does.

/// What a shell's profile needs so that programs of `~/.local/bin` are found.
pub const PATH_LINE: &str = "export PATH=\"$HOME/.local/bin:$PATH\"";

/// How a run is shown in the client's status line. `lines` are the settings as JSON; `wrapping` is
/// the value that their `command` has where there is a status line already, as JSON too.
pub fn status_line_settings(lines: &str, wrapping: &str) -> String {
    format!(
        "[omo] status line: omo changes no settings. To see below the prompt where a run stands, add this to your \
         ~/.claude/settings.json:\n\
         {lines}\n\
         A status line that you have already is kept in front of it, with this as the command:\n  {wrapping}"
    )
}

/// How the client shows a continuation while `stop.feedback` is `block`, and what shows it otherwise. `config_file` is the
/// user's own configuration of omo.
pub fn feedback_offer(config_file: &str) -> String {
    format!(
        "Claude Code shows each continuation as \"Stop hook reported a problem\". With `feedback = \"context\"` below \
         [stop] in {config_file} it shows what omo says, without an alarm, and sends it to the model once instead of twice."
    )
}
