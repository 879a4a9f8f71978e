//! Templates of launcher commands, such as `scancel --name {job}`, run without a shell.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use omo_core::text::sanitize;
use omo_state::search_path::SearchPath;

/// Names that a template may have in braces.
pub const PLACEHOLDERS: [&str; 18] = [
    // Path of the prompt, which is also the `stdin`.
    "prompt_file",
    "branch",
    "base",
    // Work tree of the session on this machine.
    "worktree",
    "run",
    "group",
    // Job name, unique and chosen before the start.
    "job",
    // Commit of the brief.
    "brief",
    // `exec` of the worker, quoted for a shell.
    "worker",
    // Commands for workers in the background of the other machine.
    "worker_start",
    "worker_cancel",
    "worker_list",
    "worker_logs",
    // Log file on this machine.
    "log",
    "minutes",
    // Settings of the launcher. `{options}` as a word of its own is split into words.
    "host",
    "image",
    OPTIONS,
];
const OPTIONS: &str = "options";
/// Placeholders of a command that runs as long as its worker.
const ATTACHED: [&str; 6] = ["prompt_file", "branch", "base", "worktree", "run", "group"];

/// Values by placeholder; a missing one is empty.
pub type Values = BTreeMap<&'static str, String>;

fn value_of<'v>(values: &'v Values, placeholder: &str) -> &'v str {
    values.get(placeholder).map_or("", String::as_str)
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LauncherError {
    #[error("it is empty")]
    Empty,
    /// A quotation mark is not closed, or a backslash is last.
    #[error("a quotation mark in it is not closed")]
    Unclosed,
    /// An unmatched brace.
    #[error("a brace in `{0}` has no other one; a brace itself is written twice")]
    Brace(String),
    /// An unknown placeholder.
    #[error("{{{}}} is not known; there are {}", .0, PLACEHOLDERS.map(|name| format!("{{{name}}}")).join(", "))]
    Unknown(String),
    #[error("it has to begin with a program")]
    NoProgram,
    /// Only for a launcher of `config.toml`, which starts workers in the background.
    #[error("{{{0}}} can stand only in a launcher of your config.toml")]
    ForProfile(&'static str),
    /// A value within a longer word that the shell at the other end could take for something else.
    #[error("`{value}` cannot stand within `{word}`; let it be a word of its own")]
    Unsafe { word: String, value: String },
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum TemplatePiece {
    Text(String),
    Value(&'static str),
}

impl TemplatePiece {
    fn placeholder(&self) -> Option<&'static str> {
        match self {
            Self::Value(placeholder) => Some(*placeholder),
            Self::Text(_) => None,
        }
    }
}

/// Command with [`PLACEHOLDERS`] in braces.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LauncherTemplate {
    words: Vec<(String, Vec<TemplatePiece>)>,
}

impl LauncherTemplate {
    /// Parses a template, such as `scancel --name {job}`.
    pub fn parse(template: &str) -> Result<Self, LauncherError> {
        let words = shlex::split(template).ok_or(LauncherError::Unclosed)?;
        let words: Vec<_> = words
            .into_iter()
            .map(|word| split_placeholders(&word).map(|pieces| (word, pieces)))
            .collect::<Result<_, _>>()?;
        match words.first() {
            None => Err(LauncherError::Empty),
            Some((_, program)) if matches!(program.as_slice(), [TemplatePiece::Text(_)]) => {
                Ok(Self { words })
            }
            Some(_) => Err(LauncherError::NoProgram),
        }
    }

    /// Refuses placeholders other than `ATTACHED`.
    pub fn require_attached(&self) -> Result<(), LauncherError> {
        match self
            .placeholders()
            .into_iter()
            .find(|placeholder| !ATTACHED.contains(placeholder))
        {
            None => Ok(()),
            Some(placeholder) => Err(LauncherError::ForProfile(placeholder)),
        }
    }

    pub fn placeholders(&self) -> Vec<&'static str> {
        self.words
            .iter()
            .flat_map(|(_, pieces)| pieces)
            .filter_map(TemplatePiece::placeholder)
            .collect()
    }

    /// Placeholders of a text.
    pub fn parse_text(text: &str) -> Result<Vec<&'static str>, LauncherError> {
        Ok(split_placeholders(text)?
            .iter()
            .filter_map(TemplatePiece::placeholder)
            .collect())
    }

    /// Fills in a text, such as YAML: values as within the quotation marks of a JSON string.
    pub fn fill_text(text: &str, values: &Values) -> Result<String, LauncherError> {
        let pieces = split_placeholders(text)?
            .into_iter()
            .map(|piece| match piece {
                TemplatePiece::Text(text) => text,
                TemplatePiece::Value(placeholder) => escape_json(value_of(values, placeholder)),
            });
        Ok(pieces.collect())
    }

    /// Words of the command; the first is the program.
    pub fn fill(&self, values: &Values) -> Result<Vec<String>, LauncherError> {
        let mut filled = Vec::new();
        for (word, pieces) in &self.words {
            match pieces.as_slice() {
                [TemplatePiece::Value(OPTIONS)] => {
                    filled.extend(
                        shlex::split(value_of(values, OPTIONS)).ok_or(LauncherError::Unclosed)?,
                    );
                }
                [TemplatePiece::Value(placeholder)] => {
                    filled.push(value_of(values, placeholder).to_owned());
                }
                pieces => {
                    let pieces = pieces
                        .iter()
                        .map(|piece| fill_within_word(word, piece, values));
                    filled.push(pieces.collect::<Result<String, _>>()?);
                }
            }
        }
        Ok(filled)
    }
}

fn escape_json(value: &str) -> String {
    let quoted = serde_json::Value::from(value).to_string();
    quoted
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'))
        .unwrap_or_default()
        .to_owned()
}

/// The word may be a command for the shell of another machine: only harmless letters.
fn fill_within_word(
    word: &str,
    piece: &TemplatePiece,
    values: &Values,
) -> Result<String, LauncherError> {
    let value = match piece {
        TemplatePiece::Text(text) => return Ok(text.clone()),
        TemplatePiece::Value(placeholder) => value_of(values, placeholder),
    };
    if !value.is_empty()
        && value
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || "._-/".contains(letter))
    {
        return Ok(value.to_owned());
    }
    Err(LauncherError::Unsafe {
        word: word.to_owned(),
        value: value.to_owned(),
    })
}

/// Program and arguments of a template. A path is relative to the project `root`; a name is looked up on `PATH`.
pub fn find_command(
    template: &str,
    root: &Path,
    values: &Values,
) -> Result<(PathBuf, Vec<String>), String> {
    let words = LauncherTemplate::parse(template).and_then(|launcher| launcher.fill(values));
    let mut words = words.map_err(|error| error.to_string())?.into_iter();
    let program = words.next().unwrap_or_default();
    let program_file = if program.contains(['/', '\\']) {
        Some(root.join(&program))
    } else {
        SearchPath::from_process().find(&program)
    };
    let program_file =
        program_file.ok_or_else(|| format!("no `{}` is on the PATH", sanitize(&program, 60)))?;
    Ok((program_file, words.collect()))
}

fn split_placeholders(word: &str) -> Result<Vec<TemplatePiece>, LauncherError> {
    let (mut pieces, mut text, mut rest) = (Vec::new(), String::new(), word);
    while let Some(at) = rest.find(['{', '}']) {
        let (before, from) = rest.split_at(at);
        text.push_str(before);
        if let Some(after) = from.strip_prefix("{{").or_else(|| from.strip_prefix("}}")) {
            text.extend(from.chars().next());
            rest = after;
            continue;
        }
        let (name, after) = from
            .strip_prefix('{')
            .and_then(|from| from.split_once('}'))
            .ok_or_else(|| LauncherError::Brace(word.to_owned()))?;
        if !text.is_empty() {
            pieces.push(TemplatePiece::Text(std::mem::take(&mut text)));
        }
        let placeholder = PLACEHOLDERS
            .into_iter()
            .find(|placeholder| *placeholder == name)
            .ok_or_else(|| LauncherError::Unknown(name.to_owned()))?;
        pieces.push(TemplatePiece::Value(placeholder));
        rest = after;
    }
    text.push_str(rest);
    if !text.is_empty() || pieces.is_empty() {
        pieces.push(TemplatePiece::Text(text));
    }
    Ok(pieces)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values {
        let values = [
            ("prompt_file", "/a b/prompt; rm -rf x"),
            ("branch", "omo/r1/2"),
            ("base", "0123abc"),
            ("worktree", "/w"),
            ("run", "r1"),
            ("options", "-p 'a b'"),
        ];
        values.map(|(name, value)| (name, value.to_owned())).into()
    }

    fn filled(template: &str) -> Result<Vec<String>, LauncherError> {
        LauncherTemplate::parse(template)?.fill(&values())
    }

    #[test]
    fn words_are_parted_first_and_filled_afterwards() {
        for (template, expected) in [
            ("claude -p", vec!["claude", "-p"]),
            (
                "ssh host 'cd repo && git switch {branch} && claude -p'",
                vec!["ssh", "host", "cd repo && git switch omo/r1/2 && claude -p"],
            ),
            (
                "run {prompt_file} {group} -w{worktree}",
                vec!["run", "/a b/prompt; rm -rf x", "", "-w/w"],
            ),
            (
                r#"k "{{\"a\":1}}" '' $HOME ; x"#,
                vec!["k", r#"{"a":1}"#, "", "$HOME", ";", "x"],
            ),
            ("a {run}{base}", vec!["a", "r10123abc"]),
            ("ssh {options} {host} x", vec!["ssh", "-p", "a b", "", "x"]),
        ] {
            assert_eq!(filled(template).unwrap(), expected, "{template}");
        }
    }

    #[test]
    fn a_text_is_filled_as_json_strings_are() {
        let filled =
            LauncherTemplate::fill_text("a: \"{prompt_file}\"\nb: {{}} \"{options}\"", &values())
                .unwrap();
        assert_eq!(filled, "a: \"/a b/prompt; rm -rf x\"\nb: {} \"-p 'a b'\"");
        assert_eq!(
            LauncherTemplate::fill_text("{job}", &[("job", "a\"\n\\".to_owned())].into()).unwrap(),
            r#"a\"\n\\"#
        );
        assert!(LauncherTemplate::parse_text("a {b").is_err());
    }

    #[test]
    fn what_is_wrong_with_a_template_is_told() {
        let within = |word: &str, value: &str| LauncherError::Unsafe {
            word: word.into(),
            value: value.into(),
        };
        for (template, expected) in [
            ("  ", LauncherError::Empty),
            ("a 'b", LauncherError::Unclosed),
            ("a {run", LauncherError::Brace("{run".into())),
            ("a run}", LauncherError::Brace("run}".into())),
            ("a {nothing}", LauncherError::Unknown("nothing".into())),
            ("a {}", LauncherError::Unknown(String::new())),
            ("{run} a", LauncherError::NoProgram),
            ("a{run} a", LauncherError::NoProgram),
            (
                "sh -c 'cat {prompt_file}'",
                within("cat {prompt_file}", "/a b/prompt; rm -rf x"),
            ),
            ("sh -c 'x {group}'", within("x {group}", "")),
        ] {
            assert_eq!(filled(template).unwrap_err(), expected, "{template}");
        }
        let message = LauncherError::Unknown("x".into()).to_string();
        assert!(
            message.starts_with("{x} is not known; there are {prompt_file}, {branch}, {base}, "),
            "{message}"
        );
    }
}
