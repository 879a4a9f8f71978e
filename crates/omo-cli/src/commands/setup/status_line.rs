//! Setup of the user's `statusLine`: the offer to show runs in it, and the removal of an entry
//! whose `omo` is missing.

use std::fs;
use std::path::{Path, PathBuf};

use omo_claude::status_line_settings::{
    KEY, MAX_BYTES, StatusLineFiles, StatusLineOff, StatusLineOn, replace, without_entry,
};
use omo_core::messages::client_settings;
use omo_state::env::{self, ProcessEnv};
use serde_json::Value;

use super::link;
use crate::confirm;
use crate::error::CommandError;

#[derive(Debug, PartialEq, Eq)]
pub(super) enum StatusLineRemoval {
    Removed,
    ByHand(String),
}

/// Removes the `statusLine` of a missing omo, and keeps every other byte. `None` for any other status line.
pub(super) fn remove_dangling(file: &Path, state_home: Option<&Path>) -> Option<StatusLineRemoval> {
    let found = fs::symlink_metadata(file).ok()?;
    // A link is another program's way of keeping settings: its target is read, and never written.
    if fs::metadata(file).ok()?.len() > MAX_BYTES {
        return None;
    }
    let text = fs::read_to_string(file).ok()?;
    let settings: Value = serde_json::from_str(&text).ok()?;
    let words = shlex::split(settings.get(KEY)?.get("command")?.as_str()?)?;
    if !is_gone(words.first()?) || words.get(1).is_none_or(|word| word != "statusline") {
        return None;
    }
    if words.len() > 2 {
        let put_back = state_home.map(|state_home| {
            StatusLineFiles {
                settings: file,
                state_home,
            }
            .take_out()
        });
        if matches!(
            put_back,
            Some(Ok(StatusLineOff::PutBack | StatusLineOff::EntryPutBack))
        ) {
            return Some(StatusLineRemoval::Removed);
        }
        let why = "its command keeps another status line: put that one in its place";
        return Some(StatusLineRemoval::ByHand(why.to_owned()));
    }
    if !found.is_file() {
        let why = "that file is a link, which omo does not write through";
        return Some(StatusLineRemoval::ByHand(why.to_owned()));
    }
    let Some(rest) = without_entry(&text) else {
        let why = "it could not be told apart";
        return Some(StatusLineRemoval::ByHand(why.to_owned()));
    };
    match replace(file, Some(&text), &rest) {
        Ok(()) => Some(StatusLineRemoval::Removed),
        Err(error) => Some(StatusLineRemoval::ByHand(error.to_string())),
    }
}

/// Offers to show runs in the status line, and writes it after a yes. Gives the outcome in words.
pub(super) fn offer(
    env: &ProcessEnv,
    program: &Path,
    is_asked: bool,
) -> Result<Option<String>, CommandError> {
    let settings = env::client_home().map(|home| home.join("settings.json"));
    let (Some(settings), Some(state_home), Some(program)) =
        (settings, &env.state_home, program.to_str())
    else {
        return Ok(None);
    };
    let files = StatusLineFiles {
        settings: &settings,
        state_home,
    };
    if !files.is_offered() {
        return Ok(None);
    }
    let place = settings.display().to_string();
    if !is_asked {
        return Ok(Some(client_settings::STATUS_LINE_OFFER.to_owned()));
    }
    if !confirm::is_answered_yes(&client_settings::status_line_question(&place))? {
        return Ok(None);
    }
    Ok(Some(match files.turn_on(program) {
        Ok(StatusLineOn::Written {
            entry,
            backup,
            keeps_another,
        }) => {
            let backup = backup.map(|backup| backup.display().to_string());
            client_settings::status_line_written(&place, &entry, backup.as_deref(), keeps_another)
        }
        Ok(StatusLineOn::AlreadyOn) => client_settings::status_line_on_already(&place),
        Err(why) => client_settings::status_line_unchanged(&place, &why),
    }))
}

/// `true` for a program path of omo's without a file. An unknown state counts as present.
fn is_gone(program: &str) -> bool {
    let below_home = ["~/", "$HOME/", "${HOME}/"]
        .iter()
        .find_map(|home| program.strip_prefix(home));
    let path = match (below_home, env::home()) {
        (Some(rest), Some(home)) => home.join(rest),
        _ => PathBuf::from(program),
    };
    let is_own = link::is_omo_path(&path) || Some(&path) == link::link_path().as_ref();
    is_own && path.is_absolute() && link::leads_nowhere(&path)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"type": "command", "command": "/x/omo/plugin/bin/omo statusline"}"#;

    #[test]
    fn every_other_byte_stays() {
        for (text, expected) in [
            (
                "{\n  \"a\": 1.50,\n  \"statusLine\": @,\n  \"b\": \"ü\\u00fc\"\n}\n",
                "{\n  \"a\": 1.50,\n  \"b\": \"ü\\u00fc\"\n}\n",
            ),
            (
                "{\n  \"a\": 1,\n  \"statusLine\" : @\n}",
                "{\n  \"a\": 1\n}",
            ),
            (
                "{\"statusLine\":@,\"a\":{\"statusLine\":1}}",
                "{\"a\":{\"statusLine\":1}}",
            ),
            ("{\"statusLine\":@}", "{}"),
            (
                "\n{\r\n\t\"x\": \"\\\"statusLine\\\": {}\",\r\n\t\"statusLine\": @\r\n}",
                "\n{\r\n\t\"x\": \"\\\"statusLine\\\": {}\"\r\n}",
            ),
        ] {
            let temp = tempfile::tempdir().unwrap();
            let file = temp.path().join("settings.json");
            fs::write(&file, text.replace('@', LINE)).unwrap();
            assert_eq!(
                remove_dangling(&file, None),
                Some(StatusLineRemoval::Removed),
                "{text}"
            );
            assert_eq!(fs::read_to_string(&file).unwrap(), expected);
            assert_eq!(fs::read_dir(temp.path()).unwrap().count(), 1);
        }
    }

    #[test]
    fn what_is_not_omos_or_not_gone_or_in_doubt_stays() {
        let temp = tempfile::tempdir().unwrap();
        let file = temp.path().join("settings.json");
        let there = temp.path().join("omo/plugin/bin/omo");
        fs::create_dir_all(there.parent().unwrap()).unwrap();
        fs::write(&there, "").unwrap();
        let of =
            |command: &str| serde_json::json!({ "statusLine": { "command": command } }).to_string();
        let twice = format!("{{\"statusLine\": {LINE}, \"statusLine\": {LINE}}}");
        let escaped = format!("{{\"status\\u004cine\": {LINE}}}");
        for (text, is_told) in [
            (of(&format!("'{}' statusline", there.display())), false),
            (of("/x/other statusline"), false),
            (of("/x/omo/plugin/bin/omo status"), false),
            (of("/x/omo/plugin/bin/omo"), false),
            (of("/x/omo/plugin/bin/omo statusline --wrap 'mine'"), true),
            (twice, true),
            (escaped, true),
            ("{\"statusLine\": 1}".to_owned(), false),
            ("no json".to_owned(), false),
        ] {
            fs::write(&file, &text).unwrap();
            let told = remove_dangling(&file, None);
            assert_eq!(
                matches!(told, Some(StatusLineRemoval::ByHand(_))),
                is_told,
                "{text}: {told:?}"
            );
            assert!(
                told != Some(StatusLineRemoval::Removed)
                    && fs::read_to_string(&file).unwrap() == text,
                "{text}"
            );
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_not_written_through_and_rights_stay() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let temp = tempfile::tempdir().unwrap();
        let [file, linked] = ["settings.json", "linked.json"].map(|name| temp.path().join(name));
        fs::write(&file, format!("{{\"statusLine\": {LINE}}}")).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        symlink(&file, &linked).unwrap();
        assert!(matches!(
            remove_dangling(&linked, None),
            Some(StatusLineRemoval::ByHand(_))
        ));
        assert_eq!(
            remove_dangling(&file, None),
            Some(StatusLineRemoval::Removed)
        );
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
}
