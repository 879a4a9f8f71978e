//! Parses `[launcher.NAME]` tables of `config.toml`: commands that start workers elsewhere.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

const TEXTS: [&str; 13] = [
    "like", "start", "cancel", "status", "logs", "input", "remote", "host", "options", "image",
    "omo", "client", "scratch",
];
const NUMBERS: [(&str, u32); 4] = [
    ("at_once", 1_000),
    ("queue_minutes", 40_320),
    ("run_minutes", 10_080),
    ("poll_seconds", 600),
];
const MAX_NAME: usize = 40;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LauncherTable {
    pub texts: BTreeMap<String, String>,
    pub numbers: BTreeMap<String, u32>,
}

#[derive(Debug, Default)]
pub struct LauncherTables {
    pub launchers: BTreeMap<String, LauncherTable>,
    pub problems: Vec<(Range<usize>, String)>,
}

/// Launchers and problems of `value`. A table with a problem is left out as a whole: half a
/// launcher would start workers in another way.
pub fn read(value: &Spanned<DeValue>) -> LauncherTables {
    let mut read = LauncherTables::default();
    let Some(table) = value.get_ref().as_table() else {
        read.problems.push((
            value.span(),
            "`launcher` must be tables: [launcher.NAME]".to_owned(),
        ));
        return read;
    };
    for (name, value) in table {
        let known = read.problems.len();
        if !is_launcher_name(name.get_ref()) {
            let message = format!(
                "`launcher.{}`: a name has letters, digits, `-` and `_`, and at most {MAX_NAME} of them",
                name.get_ref()
            );
            read.problems.push((name.span(), message));
        }
        let launcher = read.read_launcher(name.get_ref(), value);
        if read.problems.len() == known {
            read.launchers.insert(name.get_ref().to_string(), launcher);
        }
    }
    read
}

/// `true` for a launcher's name; a command has spaces.
pub fn is_launcher_name(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= MAX_NAME
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
}

impl LauncherTables {
    fn read_launcher(&mut self, name: &str, value: &Spanned<DeValue>) -> LauncherTable {
        let mut launcher = LauncherTable::default();
        let Some(table) = value.get_ref().as_table() else {
            self.problems.push((
                value.span(),
                format!("`launcher.{name}` must be a table: [launcher.{name}]"),
            ));
            return launcher;
        };
        for (key, value) in table {
            let setting = &**key.get_ref();
            if TEXTS.contains(&setting) {
                if let Some(text) = value.get_ref().as_str().filter(|text| !text.contains('\0')) {
                    launcher.texts.insert(setting.to_owned(), text.to_owned());
                } else {
                    self.problems.push((
                        value.span(),
                        format!("`launcher.{name}.{setting}` must be a text"),
                    ));
                }
            } else if let Some((_, most)) = NUMBERS.iter().find(|(known, _)| *known == setting) {
                if let Some(number) =
                    whole_number(value).filter(|number| (1..=*most).contains(number))
                {
                    launcher.numbers.insert(setting.to_owned(), number);
                } else {
                    let message = format!(
                        "`launcher.{name}.{setting}` must be a whole number from 1 to {most}"
                    );
                    self.problems.push((value.span(), message));
                }
            } else {
                let known: Vec<&str> = TEXTS
                    .into_iter()
                    .chain(NUMBERS.map(|(name, _)| name))
                    .collect();
                let message = format!(
                    "`launcher.{name}.{setting}` is not a setting; known are: {}",
                    known.join(", ")
                );
                self.problems.push((key.span(), message));
            }
        }
        launcher
    }
}

fn whole_number(value: &Spanned<DeValue>) -> Option<u32> {
    let number = value.get_ref().as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}

pub fn parse(text: &str) -> Option<BTreeMap<String, LauncherTable>> {
    let table = DeTable::parse(text).ok()?;
    let (_, value) = table
        .get_ref()
        .iter()
        .find(|(name, _)| &**name.get_ref() == "launcher")?;
    let read = read(value);
    read.problems.is_empty().then_some(read.launchers)
}
