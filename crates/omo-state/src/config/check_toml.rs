//! Parses `[[check]]` tables of `config.toml` and `omo.toml`.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;

use omo_core::check::session_check::{Check, CheckOrigin, MAX_CHECKS};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// Parsed `[[check]]` tables, and problems with their place.
#[derive(Debug, Default)]
pub struct CheckTables {
    /// Checks, each with the only project that it is for, if the table names one.
    pub checks: Vec<(Check, Option<PathBuf>)>,
    pub problems: Vec<(Range<usize>, String)>,
}

/// Checks and problems of `value`; only a table in the user's own file may name a project.
pub fn read(value: &Spanned<DeValue>, origin: CheckOrigin) -> CheckTables {
    let mut checks = CheckTables::default();
    let Some(array) = value.get_ref().as_array() else {
        checks.problems.push((
            value.span(),
            "`check` must be a list of tables: [[check]]".to_owned(),
        ));
        return checks;
    };
    for value in array {
        match value.get_ref().as_table() {
            Some(table) => checks.read_table(table, value.span(), origin),
            None => checks.problems.push((
                value.span(),
                "`check` must be a list of tables: [[check]]".to_owned(),
            )),
        }
    }
    checks
}

impl CheckTables {
    fn read_table(&mut self, table: &DeTable, span: Range<usize>, origin: CheckOrigin) {
        let problems = self.problems.len();
        let (mut check, mut name, mut project) = (
            Check {
                origin,
                ..Check::default()
            },
            None,
            None,
        );
        for (key, value) in table {
            let text = value.get_ref().as_str();
            match (&**key.get_ref(), text) {
                ("name", Some(text)) => name = Some(text.to_owned()),
                ("run", Some(text)) => text.clone_into(&mut check.command),
                ("cwd", Some(text)) => {
                    check.cwd = Some(text.to_owned()).filter(|folder| folder != ".");
                }
                ("project", Some(text)) if origin == CheckOrigin::Config => {
                    project = Some(PathBuf::from(text));
                }
                ("timeout", _) => check.timeout_seconds = Some(seconds(value).unwrap_or(0)),
                ("prove", _) => match value.get_ref().as_bool() {
                    Some(prove) => check.prove = prove,
                    None => self.problems.push((
                        value.span(),
                        "`check.prove` must be true or false".to_owned(),
                    )),
                },
                ("env", _) => self.read_env(value, &mut check.env),
                (known @ ("name" | "run" | "cwd"), None) => {
                    self.problems
                        .push((value.span(), format!("`check.{known}` must be a text")));
                }
                (unknown, _) => {
                    let known = "name, run, cwd, timeout, prove, env";
                    let known = if origin == CheckOrigin::Config {
                        format!("{known}, project")
                    } else {
                        known.to_owned()
                    };
                    self.problems.push((
                        key.span(),
                        format!("`check.{unknown}` is not a setting; known are: {known}"),
                    ));
                }
            }
        }
        if project.as_ref().is_some_and(|path| !path.is_absolute()) {
            self.problems.push((
                span.clone(),
                "`check.project` must be an absolute path".to_owned(),
            ));
        }
        let named = Check::new(name.as_deref(), &check.command, origin).map(|named| Check {
            name: named.name,
            ..check
        });
        match named.and_then(|check| check.validate().map(|()| check)) {
            Err(error) => self.problems.push((span, format!("[[check]]: {error}"))),
            Ok(_) if self.checks.len() >= MAX_CHECKS => {
                self.problems
                    .push((span, format!("[[check]]: more than {MAX_CHECKS}")));
            }
            Ok(check)
                if self
                    .checks
                    .iter()
                    .any(|(known, _)| known.name == check.name) =>
            {
                self.problems.push((
                    span,
                    format!("[[check]]: a second one is called `{}`", check.name),
                ));
            }
            Ok(check) if self.problems.len() == problems => self.checks.push((check, project)),
            Ok(_) => {}
        }
    }

    fn read_env(&mut self, value: &Spanned<DeValue>, env: &mut BTreeMap<String, String>) {
        let Some(table) = value.get_ref().as_table() else {
            return self.problems.push((
                value.span(),
                "`check.env` must be a table of texts".to_owned(),
            ));
        };
        for (key, value) in table {
            match value.get_ref().as_str() {
                Some(text) if !text.contains('\0') => {
                    _ = env.insert(key.get_ref().to_string(), text.to_owned());
                }
                _ => self.problems.push((
                    value.span(),
                    format!("`check.env.{}` must be a text", key.get_ref()),
                )),
            }
        }
    }
}

fn seconds(value: &Spanned<DeValue>) -> Option<u32> {
    let number = value.get_ref().as_integer()?;
    u32::from_str_radix(number.as_str(), number.radix()).ok()
}
