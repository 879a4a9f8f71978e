//! Splits shell text into its commands, as a POSIX shell does. The value of a variable and the
//! output of a command stay unknown.

pub mod programs;
mod reader;

use self::programs::{Role, has_role, program_name};
use self::reader::Reader;

#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    pub kind: PartKind,
    /// Files that its output is written to; `2>&1` names none.
    pub written_files: Vec<String>,
    pub inputs: Vec<String>,
    /// A word holds a variable, a substitution or a pattern outside of quotes.
    pub expands: bool,
    pub joint: Joint,
}

#[derive(Debug, PartialEq, Eq)]
pub enum PartKind {
    /// Words without quotes, keywords in front; a substitution is `$()`, that of `pwd` is `$PWD`.
    Command(Vec<String>),
    /// `{ …; }`
    Group(Vec<Part>),
    /// `( … )`
    Subshell(Vec<Part>),
    /// Commands in a substitution or a here-document, or written to a shell.
    Inner(Vec<Part>),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Joint {
    /// `&&`
    And,
    /// `||`
    Or,
    /// `|` or `|&`
    Pipe,
    /// `&`
    Background,
    /// `;`, or the end of a line or a group.
    End,
    /// Between words and a group: the name of a function, or no shell text.
    Missing,
}

impl From<PartKind> for Part {
    fn from(kind: PartKind) -> Self {
        Self {
            kind,
            written_files: Vec::new(),
            inputs: Vec::new(),
            expands: false,
            joint: Joint::End,
        }
    }
}

/// Commands of a line or a script; `None` for one that is nested too deeply.
///
/// ```
/// use omo_core::shell::{Joint, PartKind, parse_shell};
///
/// let parts = parse_shell("cargo test > 'a log' || exit 1").unwrap();
/// assert_eq!(parts[0].kind, PartKind::Command(vec!["cargo".to_owned(), "test".to_owned()]));
/// assert_eq!((parts[0].written_files.as_slice(), parts[0].joint), (["a log".to_owned()].as_slice(), Joint::Or));
/// ```
pub fn parse_shell(text: &str) -> Option<Vec<Part>> {
    parse(text, false)
}

fn parse(text: &str, keeps_windows_paths: bool) -> Option<Vec<Part>> {
    let mut reader = Reader::new(text, 0, keeps_windows_paths);
    let parts = reader.parts(None);
    (!reader.is_too_deep).then_some(parts)
}

/// Words of each command of a line. A path on Windows keeps its backslashes; a line that is nested
/// too deeply is one command.
pub fn split_commands(line: &str) -> Vec<Vec<String>> {
    let mut commands = Vec::new();
    match parse(line, true) {
        Some(parts) => collect_commands(&parts, &mut commands),
        None => commands.push(line.split_whitespace().map(str::to_owned).collect()),
    }
    commands
}

fn collect_commands(parts: &[Part], commands: &mut Vec<Vec<String>>) {
    for part in parts {
        match &part.kind {
            PartKind::Command(words) => {
                let words = without_keywords(words);
                commands.extend((!words.is_empty()).then(|| words.to_vec()));
            }
            PartKind::Group(inner) | PartKind::Subshell(inner) | PartKind::Inner(inner) => {
                collect_commands(inner, commands);
            }
        }
    }
}

/// A command behind its keywords and assignments.
pub fn without_keywords(words: &[String]) -> &[String] {
    let program = words
        .iter()
        .position(|word| !has_role(word, Role::Keyword) && !is_assignment(word))
        .unwrap_or(words.len());
    words.get(program..).unwrap_or_default()
}

/// `NAME=value` or `NAME+=value`.
pub fn is_assignment(word: &str) -> bool {
    let name = word
        .split_once('=')
        .map(|(name, _)| name.trim_end_matches('+'))
        .unwrap_or_default();
    !name.is_empty()
        && name
            .chars()
            .all(|char| char.is_ascii_alphanumeric() || char == '_')
        && !name.starts_with(|char: char| char.is_ascii_digit())
}

/// The script of `sh -c` and the like.
pub fn shell_script<'w>(program: &str, arguments: &'w [String]) -> Option<&'w String> {
    let mut rest = arguments
        .iter()
        .filter(|_| has_role(program_name(program), Role::Shell));
    while let Some(word) = rest.next() {
        let letters = word.strip_prefix(['-', '+'])?;
        if letters.starts_with('-') {
            continue;
        }
        if word.starts_with('-') && letters.contains('c') {
            return rest.find(|word| !word.starts_with(['-', '+']));
        }
        if letters.ends_with(['o', 'O']) {
            rest.next();
        }
    }
    None
}

#[cfg(test)]
mod tests;
