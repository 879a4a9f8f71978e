//! `/omo:statusline`: settings that show a run in the client's status line, with this omo's path.

use std::path::{Path, PathBuf};

use omo_claude::status_line_settings::{
    KEY, StatusLineFiles, StatusLineOff, StatusLineOn, own_command, own_entry,
};
use omo_core::messages::{self, client_settings};
use omo_core::prompt::StatuslineRequest;
use omo_state::env;
use serde_json::{Value, json};

pub(super) fn answer(request: StatuslineRequest, state_home: Option<&Path>) -> String {
    let program = match request {
        StatuslineRequest::Off => Ok(String::new()),
        StatuslineRequest::Show | StatuslineRequest::On => program_text(),
    };
    let program = match program {
        Ok(program) => program,
        Err(why) => return messages::refusal_line(why),
    };
    if request == StatuslineRequest::Show {
        let wrapping = format!(
            "{} --wrap 'THE COMMAND THAT YOU HAVE NOW'",
            own_command(&program)
        );
        let lines = json!({ KEY: own_entry(&program) });
        return client_settings::status_line_settings(
            &format!("{lines:#}"),
            &Value::from(wrapping).to_string(),
        );
    }
    let (Some(settings), Some(state_home)) = (settings_file(), state_home) else {
        return messages::refusal_line("no home folder is known");
    };
    let place = settings.display().to_string();
    let files = StatusLineFiles {
        settings: &settings,
        state_home,
    };
    let message = if request == StatuslineRequest::On {
        files.turn_on(&program).map(|on| match on {
            StatusLineOn::Written {
                entry,
                backup,
                keeps_another,
            } => {
                let backup = backup.map(|backup| backup.display().to_string());
                client_settings::status_line_written(
                    &place,
                    &entry,
                    backup.as_deref(),
                    keeps_another,
                )
            }
            StatusLineOn::AlreadyOn => client_settings::status_line_on_already(&place),
        })
    } else {
        files.turn_off().map(|off| match off {
            StatusLineOff::PutBack => client_settings::status_line_put_back(&place, true),
            StatusLineOff::EntryPutBack => client_settings::status_line_put_back(&place, false),
            StatusLineOff::NotOn => client_settings::status_line_not_on(&place),
        })
    };
    message.unwrap_or_else(|why| client_settings::status_line_unchanged(&place, &why))
}

/// The offer to a user without omo's status line, who did not turn it off.
pub(super) fn offer(state_home: Option<&Path>) -> Option<String> {
    let settings = settings_file()?;
    let files = StatusLineFiles {
        settings: &settings,
        state_home: state_home?,
    };
    files
        .is_offered()
        .then(|| client_settings::STATUS_LINE_OFFER.to_owned())
}

fn settings_file() -> Option<PathBuf> {
    env::client_home().map(|home| home.join("settings.json"))
}

fn program_text() -> Result<String, &'static str> {
    let program = program().ok_or("there is no `omo` beside the hooks of this plugin")?;
    program
        .to_str()
        .map(str::to_owned)
        .ok_or("the path of `omo` is not UTF-8, and settings cannot hold it")
}

/// A lasting path of the program: one kept over updates, else the plugin's.
fn program() -> Option<PathBuf> {
    let name = format!("omo{}", std::env::consts::EXE_SUFFIX);
    let folders = env::plugin_folders().into_iter().flatten();
    folders
        .map(|folder| folder.join("bin").join(&name))
        .find(|program| program.is_file())
}
