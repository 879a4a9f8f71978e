//! Turns omo's `statusLine` on and off in the client's `settings.json`: one that was there stays in
//! front of omo's, and every other byte stays. The user's folder of omo keeps a copy of the file
//! and a record of the change.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};

use omo_core::text::command_text::quote_shell_word;
use omo_core::text::sanitize;
use omo_state::files::folder::GuardedFolder;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// Key in `settings.json`.
pub const KEY: &str = "statusLine";
/// Larger settings are left to their user.
pub const MAX_BYTES: u64 = 1024 * 1024;
const RECORD: &str = "statusline.json";
const BACKUP: &str = "settings.json.before-statusline";
/// Maximum bytes of the record: the settings with escapes, and little else.
const MAX_RECORD_BYTES: u64 = 8 * MAX_BYTES;
/// While nothing happens in the session: a check may run for minutes.
const REFRESH_SECONDS: u32 = 10;

#[derive(Clone, Copy, Debug)]
pub struct StatusLineFiles<'a> {
    /// The client's `settings.json`.
    pub settings: &'a Path,
    /// Parent of omo's folder of the user.
    pub state_home: &'a Path,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StatusLineOn {
    Written {
        entry: String,
        /// Copy of the former file, where there was one.
        backup: Option<PathBuf>,
        /// Another status line stands in front.
        keeps_another: bool,
    },
    /// The settings have a status line of omo already.
    AlreadyOn,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StatusLineOff {
    /// The file is byte for byte as before.
    PutBack,
    /// The entry is as before; later changes of the file stay.
    EntryPutBack,
    /// The settings have no status line of omo.
    NotOn,
}

#[derive(Default, Deserialize, Serialize)]
struct StatusLineRecord {
    #[serde(default)]
    written: Option<String>,
    #[serde(default)]
    is_new_file: bool,
    #[serde(default)]
    is_declined: bool,
}

pub fn own_command(program: &str) -> String {
    format!("{} statusline", quote_shell_word(program))
}

/// `command` with another status line in front of omo's.
pub fn wrapping_command(program: &str, wrapped: &str) -> String {
    // Always quoted: it stands for a command, however short.
    format!(
        "{} --wrap '{}'",
        own_command(program),
        wrapped.replace('\'', r"'\''")
    )
}

/// The other status line of a [`wrapping_command`].
fn wrapped_command(command: &str) -> Option<String> {
    let (_, quoted) = command.split_once(" statusline --wrap '")?;
    let quoted = quoted.strip_suffix('\'')?;
    let other = quoted.replace(r"'\''", "'");
    (other.replace('\'', r"'\''") == quoted).then_some(other)
}

pub fn own_entry(program: &str) -> Value {
    json!({ "type": "command", "command": own_command(program), "refreshInterval": REFRESH_SECONDS })
}

impl StatusLineFiles<'_> {
    /// Puts omo's status line into the settings; an error is a reason for its user.
    pub fn turn_on(self, program: &str) -> Result<StatusLineOn, String> {
        let file = target(self.settings)?;
        let before = read(&file)?;
        let text = before.as_deref().unwrap_or("{}\n");
        let Some(written) = with_own(text, program)? else {
            return Ok(StatusLineOn::AlreadyOn);
        };
        let folder = self.folder()?;
        if let Some(before) = &before {
            folder
                .replace(BACKUP, before.as_bytes())
                .map_err(|error| error.to_string())?;
        }
        let record = StatusLineRecord {
            written: Some(written.clone()),
            is_new_file: before.is_none(),
            is_declined: false,
        };
        record.store(&folder)?;
        replace(&file, before.as_deref(), &written).map_err(|error| error.to_string())?;
        let entry = entry_range(&written)
            .and_then(|range| written.get(range))
            .unwrap_or_default()
            .to_owned();
        Ok(StatusLineOn::Written {
            entry,
            backup: before.is_some().then(|| folder.path().join(BACKUP)),
            keeps_another: value_of(text).is_some(),
        })
    }

    /// Puts back the former status line, and offers omo's no more; an error is a reason for its user.
    pub fn turn_off(self) -> Result<StatusLineOff, String> {
        let off = self.take_out()?;
        StatusLineRecord {
            is_declined: true,
            ..StatusLineRecord::default()
        }
        .store(&self.folder()?)?;
        Ok(off)
    }

    pub fn take_out(self) -> Result<StatusLineOff, String> {
        let folder = self.folder()?;
        let record = StatusLineRecord::load(&folder);
        self.put_back(&folder, &record)
    }

    fn put_back(
        self,
        folder: &GuardedFolder,
        record: &StatusLineRecord,
    ) -> Result<StatusLineOff, String> {
        let file = target(self.settings)?;
        let Some(now) = read(&file)? else {
            return Ok(StatusLineOff::NotOn);
        };
        let settings = parse_settings(&now)?;
        let command = settings
            .get(KEY)
            .and_then(|entry| entry.get("command")?.as_str());
        let Some(command) = command.filter(|command| is_own(command)) else {
            return Ok(StatusLineOff::NotOn);
        };
        let backup = folder
            .read(BACKUP, MAX_BYTES)
            .ok()
            .flatten()
            .and_then(|bytes| String::from_utf8(bytes).ok());
        let backup = backup.filter(|_| record.written.is_some() && !record.is_new_file);
        let as_written = record.written.as_deref() == Some(&*now);
        if as_written && record.is_new_file {
            fs::remove_file(&file).map_err(|error| error.to_string())?;
            return Ok(StatusLineOff::PutBack);
        }
        let (rest, off) = if let Some(before) = backup.filter(|_| as_written) {
            (before, StatusLineOff::PutBack)
        } else if let Some(other) = wrapped_command(command) {
            let other = Value::from(other).to_string();
            let entry = value_of(&now).and_then(|value| with_value_of(value, "command", &other));
            let rest = entry.and_then(|entry| with_value_of(&now, KEY, &entry));
            (rest.ok_or_else(unsure_entry)?, StatusLineOff::EntryPutBack)
        } else if command.contains(" --wrap") {
            return Err(format!(
                "its `{KEY}` keeps another one in a form that omo does not write: put that one in its place yourself"
            ));
        } else {
            (
                without_entry(&now).ok_or_else(unsure_entry)?,
                StatusLineOff::EntryPutBack,
            )
        };
        replace(&file, Some(&now), &rest).map_err(|error| error.to_string())?;
        Ok(off)
    }

    /// `true` where omo's status line is not in the settings and its user never turned it off.
    pub fn is_offered(self) -> bool {
        let is_on = fs::metadata(self.settings).is_ok_and(|found| found.len() <= MAX_BYTES)
            && fs::read_to_string(self.settings)
                .is_ok_and(|text| text.contains("omo") && text.contains(" statusline"));
        let folder = GuardedFolder::open_user(self.state_home).ok().flatten();
        !is_on && !folder.is_some_and(|folder| StatusLineRecord::load(&folder).is_declined)
    }

    fn folder(self) -> Result<GuardedFolder, String> {
        GuardedFolder::create_user(self.state_home).map_err(|error| error.to_string())
    }
}

impl StatusLineRecord {
    fn load(folder: &GuardedFolder) -> Self {
        let bytes = folder
            .read(RECORD, MAX_RECORD_BYTES)
            .ok()
            .flatten()
            .unwrap_or_default();
        serde_json::from_slice(&bytes).unwrap_or_default()
    }

    fn store(&self, folder: &GuardedFolder) -> Result<(), String> {
        let bytes = serde_json::to_vec(self).map_err(|error| error.to_string())?;
        folder
            .replace(RECORD, &bytes)
            .map_err(|error| error.to_string())
    }
}

/// Target of a link at `settings`, which is its user's way of keeping settings.
fn target(settings: &Path) -> Result<PathBuf, String> {
    match fs::symlink_metadata(settings) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(settings.to_owned()),
        Err(error) => Err(error.to_string()),
        Ok(_) => fs::canonicalize(settings).map_err(|error| format!("it leads nowhere: {error}")),
    }
}

fn read(file: &Path) -> Result<Option<String>, String> {
    let found = match fs::metadata(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(|error| error.to_string())?,
    };
    if !found.is_file() || found.len() > MAX_BYTES {
        return Err(format!("it is not a file of at most {MAX_BYTES} bytes"));
    }
    if found.permissions().readonly() {
        return Err("it is read-only".to_owned());
    }
    fs::read_to_string(file)
        .map(Some)
        .map_err(|error| error.to_string())
}

fn parse_settings(text: &str) -> Result<Map<String, Value>, String> {
    let settings: Value = serde_json::from_str(text).map_err(|error| {
        format!(
            "it is not valid JSON ({}): fix it first",
            sanitize(&error.to_string(), 120)
        )
    })?;
    match settings {
        Value::Object(settings) => Ok(settings),
        _ => Err("it holds no JSON object".to_owned()),
    }
}

fn with_own(text: &str, program: &str) -> Result<Option<String>, String> {
    let settings = parse_settings(text)?;
    let Some(value) = settings.get(KEY) else {
        return with_entry(text, &own_entry(program))
            .ok_or_else(unsure_place)
            .map(Some);
    };
    let command = value.get("command").and_then(Value::as_str);
    let Some(command) = command.filter(|_| value.get("type").is_none_or(|kind| kind == "command"))
    else {
        return Err(format!(
            "its `{KEY}` is not a command that omo can keep beside its own"
        ));
    };
    if is_own(command) {
        return Ok(None);
    }
    let wrapping = Value::from(wrapping_command(program, command)).to_string();
    let value = value_of(text)
        .and_then(|value| with_value_of(value, "command", &wrapping))
        .ok_or_else(unsure_place)?;
    with_value_of(text, KEY, &value)
        .ok_or_else(unsure_place)
        .map(Some)
}

fn unsure_entry() -> String {
    format!("its `{KEY}` cannot be told apart, take it out yourself")
}

fn unsure_place() -> String {
    format!("the place for `{KEY}` cannot be told")
}

fn is_own(command: &str) -> bool {
    let program = command
        .split(" statusline")
        .next()
        .filter(|program| program.len() < command.len());
    let name = program
        .map(|program| program.trim_end_matches(['\'', '"']))
        .and_then(|program| program.rsplit(['/', '\\', '\'', '"', ' ']).next());
    matches!(name, Some("omo" | "omo.exe"))
}

fn value_of(text: &str) -> Option<&str> {
    text.get(value_range(text, KEY)?)
}

fn value_range(text: &str, key: &str) -> Option<Range<usize>> {
    let values: BTreeMap<String, &RawValue> = serde_json::from_str(text).ok()?;
    let value = values.get(key)?.get();
    let start = value.as_ptr().addr().checked_sub(text.as_ptr().addr())?;
    (start + value.len() <= text.len()).then(|| start..start + value.len())
}

/// `text` with another value of an existing key; `None` in doubt.
fn with_value_of(text: &str, key: &str, value: &str) -> Option<String> {
    let range = value_range(text, key)?;
    let changed = [text.get(..range.start)?, value, text.get(range.end..)?].concat();
    let mut wanted: Value = serde_json::from_str(text).ok()?;
    *wanted.get_mut(key)? = serde_json::from_str(value).ok()?;
    (serde_json::from_str::<Value>(&changed).ok()? == wanted).then_some(changed)
}

/// `text` with the entry as its first; `None` in doubt.
fn with_entry(text: &str, entry: &Value) -> Option<String> {
    let open = text.find('{')? + 1;
    let (head, rest) = text.split_at_checked(open)?;
    let inner = rest.trim_start();
    let white = rest.get(..rest.len() - inner.len())?;
    let is_empty = inner.starts_with('}');
    let (before, after) = match (is_empty, white.rsplit_once('\n')) {
        (true, _) => ("\n  ".to_owned(), "\n".to_owned()),
        (false, Some(_)) => (white.to_owned(), format!(",{white}")),
        (false, None) => (white.to_owned(), ", ".to_owned()),
    };
    let indent = before
        .rsplit_once('\n')
        .map_or(String::new(), |(_, indent)| format!("\n{indent}"));
    let lines = format!("{entry:#}");
    let lines = if indent.is_empty() {
        entry.to_string()
    } else {
        lines.replace('\n', &indent)
    };
    let changed = format!("{head}{before}\"{KEY}\": {lines}{after}{inner}");
    let mut wanted: Value = serde_json::from_str(text).ok()?;
    wanted
        .as_object_mut()?
        .insert(KEY.to_owned(), entry.clone());
    (serde_json::from_str::<Value>(&changed).ok()? == wanted).then_some(changed)
}

/// `text` without the entry; `None` in doubt.
pub fn without_entry(text: &str) -> Option<String> {
    let cut = entry_range(text)?;
    let (mut start, mut end) = (cut.start, cut.end);
    let after = text.get(end..)?;
    if let Some(next) = after.trim_start().strip_prefix(',') {
        end = text.len() - next.trim_start().len();
    } else {
        let last = text.get(..start)?.trim_end();
        start = last.strip_suffix(',').unwrap_or(last).len();
    }
    let rest = [text.get(..start)?, text.get(end..)?].concat();
    let mut wanted: Value = serde_json::from_str(text).ok()?;
    wanted.as_object_mut()?.remove(KEY);
    (serde_json::from_str::<Value>(&rest).ok()? == wanted).then_some(rest)
}

fn entry_range(text: &str) -> Option<Range<usize>> {
    let value = value_range(text, KEY)?;
    let before = text
        .get(..value.start)?
        .trim_end()
        .strip_suffix(':')?
        .trim_end();
    let before = before.strip_suffix(&format!("\"{KEY}\""))?;
    Some(before.len()..value.end)
}

/// Replaces a file by a temporary one, unless it was changed since `old` was read.
pub fn replace(file: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
    let temporary = file.with_extension(format!("omo-{}", std::process::id()));
    replace_by(&temporary, file, old, new).inspect_err(|_| drop(fs::remove_file(&temporary)))
}

fn replace_by(temporary: &Path, file: &Path, old: Option<&str>, new: &str) -> io::Result<()> {
    if let Some(folder) = file.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut written = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(temporary)?;
    // Before anything is in it: settings may hold secrets.
    if old.is_some() {
        written.set_permissions(fs::metadata(file)?.permissions())?;
    }
    written.write_all(new.as_bytes())?;
    written.sync_all()?;
    let now = match fs::read(file) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        content => Some(content?),
    };
    if now.as_deref() != old.map(str::as_bytes) {
        return Err(io::Error::other("it was changed at the same moment"));
    }
    fs::rename(temporary, file)
}
