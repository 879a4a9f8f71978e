//! `/omo:statusline`: the settings that show a run in the client's status line, with the path of
//! this omo in them.

use std::path::PathBuf;

use omo_core::messages::{self, client_settings};
use omo_core::text::command_text::quote_shell_word;
use omo_state::env;
use serde_json::{Value, json};

/// Every how many seconds the status line is renewed while nothing happens in the session: a check
/// may run for minutes.
const REFRESH_SECONDS: u32 = 10;

/// What the user reads.
pub(super) fn statusline_settings() -> String {
    let Some(program) = program() else {
        return messages::refusal_line("there is no `omo` beside the hooks of this plugin");
    };
    let Some(program) = program.to_str() else {
        return messages::refusal_line("the path of `omo` is not UTF-8, and settings cannot hold it");
    };
    let command = format!("{} statusline", quote_shell_word(program));
    let wrapping = format!("{command} --wrap 'THE COMMAND THAT YOU HAVE NOW'");
    let lines = json!({
        "statusLine": { "type": "command", "command": command, "refreshInterval": REFRESH_SECONDS },
    });
    client_settings::status_line_settings(&format!("{lines:#}"), &Value::from(wrapping).to_string())
}

/// The program, where its path will last: what the plugin keeps over updates, else the plugin as it
/// is.
fn program() -> Option<PathBuf> {
    let name = format!("omo{}", std::env::consts::EXE_SUFFIX);
    let folders = env::plugin_folders().into_iter().flatten();
    folders.map(|folder| folder.join("bin").join(&name)).find(|program| program.is_file())
}
