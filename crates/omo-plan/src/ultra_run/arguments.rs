//! What a user typed behind the command: which plan, how much of it, and in which way. Each option is a word of its
//! own, and nothing that is not understood becomes a part of the path.

use omo_core::words::sanitize;
use serde::{Deserialize, Serialize};

use super::words::{Word, words};

/// What was asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arguments {
    /// In which way.
    pub mode: Mode,
    /// How much of the plan.
    pub part: Part,
    /// `--fg` was given: everything is done where the user is, one step after the other.
    pub is_foreground: bool,
    /// The path of the plan, as it was typed, without quotes around it.
    pub path: String,
}

/// In which way a plan is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// As the plan allows.
    Execute,
    /// One step after the other, where the user is.
    Foreground,
    /// Where an earlier run stands.
    Resume,
    /// Not at all: it is looked at and told about.
    DryRun,
    /// One step alone.
    Step,
    /// One session alone.
    Session,
}

impl Mode {
    /// The word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Execute => "execute",
            Self::Foreground => "foreground",
            Self::Resume => "resume",
            Self::DryRun => "dry-run",
            Self::Step => "step",
            Self::Session => "session",
        }
    }
}

/// How much of a plan is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Part {
    /// All of it.
    Whole,
    /// The step of this number.
    Step(u64),
    /// The session of this number.
    Session(u64),
}

impl Part {
    /// The number of the step or the session.
    pub fn number(self) -> Option<u64> {
        match self {
            Self::Whole => None,
            Self::Step(number) | Self::Session(number) => Some(number),
        }
    }
}

/// Why nothing can be done with what was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArgumentError {
    /// What is wrong, in one sentence without its end.
    pub message: String,
    /// What to do.
    pub hint: String,
    /// What was named is not there; otherwise what was typed cannot be understood.
    pub is_missing: bool,
}

impl ArgumentError {
    pub(super) fn new(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { message: message.into(), hint: hint.into(), is_missing: false }
    }
}

/// How a command of this name is used.
pub fn usage(command: &str) -> String {
    let forms = ["", "--fg ", "--resume ", "--dry-run ", "--step N ", "--session N "];
    let forms: Vec<String> = forms.iter().map(|options| format!("{command} {options}<plan.md>")).collect();
    format!(
        "Usage: {}\n\n\
Modes:\n  \
  (default)      in parallel sessions if the plan has some, else step by step\n  \
  --fg           step by step where you are, whatever the plan says\n  \
  --resume       go on with an earlier run\n  \
  --dry-run      tell how it would be run; with --session N or --step N a part\n  \
  --step N       only step N\n  \
  --session N    only session N of the plan's Execution Strategy\n",
        forms.join("\n       ")
    )
}

/// The options that were given, one by one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Given {
    /// `--fg`
    pub is_foreground: bool,
    /// `--resume`
    pub is_resume: bool,
    /// `--dry-run`
    pub is_dry_run: bool,
    /// `--step N`
    pub step: Option<u64>,
    /// `--session N`
    pub session: Option<u64>,
}

/// Reads the line behind a command of this name.
///
/// # Errors
///
/// No plan is named (the message is the whole usage), or something in the line cannot be understood.
pub fn parse(command: &str, line: &str) -> Result<Arguments, ArgumentError> {
    let unclosed = || ArgumentError::new("a quote is not closed", "put the whole path between two quotes");
    let mut given = Given::default();
    let mut path: Vec<(usize, Word<'_>)> = Vec::new();
    let mut is_behind_options = false;
    let mut words = words(line).ok_or_else(unclosed)?.into_iter().enumerate();
    while let Some((place, word)) = words.next() {
        if is_behind_options || word.is_quoted || !word.text.starts_with('-') {
            path.push((place, word));
            continue;
        }
        let (name, value) = match word.text.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (word.text, None),
        };
        match (name, value) {
            ("--", None) => is_behind_options = true,
            ("--fg", None) => given.is_foreground = true,
            ("--resume", None) => given.is_resume = true,
            ("--dry-run", None) => given.is_dry_run = true,
            ("--step" | "--session", value) => {
                let value = value.or_else(|| words.next().map(|(_, word)| word.text)).unwrap_or_default();
                let kept = if name == "--step" { &mut given.step } else { &mut given.session };
                if kept.replace(positive(name, value)?).is_some() {
                    return Err(ArgumentError::new(format!("{name} is given twice"), "name one at a time"));
                }
            }
            _ => {
                let message = format!("unknown option {}", sanitize(word.text, 60));
                return Err(ArgumentError::new(message, usage(command)));
            }
        }
    }
    given.arguments(path_of(command, line, &path)?)
}

impl Given {
    /// All of them together, about the plan at a path.
    ///
    /// # Errors
    ///
    /// Two of them exclude each other.
    pub fn arguments(&self, path: String) -> Result<Arguments, ArgumentError> {
        let (mode, part) = self.mode()?;
        Ok(Arguments { mode, part, is_foreground: self.is_foreground, path })
    }

    fn mode(&self) -> Result<(Mode, Part), ArgumentError> {
        let exclude = |one: &str, other: &str| {
            Err(ArgumentError::new(format!("{one} and {other} exclude each other"), "leave one of them out"))
        };
        let part = match (self.step, self.session) {
            (Some(_), Some(_)) => return exclude("--step", "--session"),
            (Some(step), None) => Part::Step(step),
            (None, Some(session)) => Part::Session(session),
            (None, None) => Part::Whole,
        };
        let mode = match (self.is_resume, self.is_dry_run, part) {
            (true, true, _) => return exclude("--resume", "--dry-run"),
            (true, _, Part::Step(_)) => return exclude("--resume", "--step"),
            (true, _, Part::Session(_)) => return exclude("--resume", "--session"),
            (true, ..) => Mode::Resume,
            (_, true, _) => Mode::DryRun,
            (_, _, Part::Step(_)) => Mode::Step,
            (_, _, Part::Session(_)) => Mode::Session,
            _ if self.is_foreground => Mode::Foreground,
            _ => Mode::Execute,
        };
        Ok((mode, part))
    }
}

/// The number behind an option that needs one from 1 on.
///
/// # Errors
///
/// It is none.
pub fn positive(option: &str, value: &str) -> Result<u64, ArgumentError> {
    let is_number = !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit());
    let number = value.parse::<u64>().ok().filter(|number| is_number && *number > 0);
    number.ok_or_else(|| {
        let message = format!("{option} needs a positive integer, got \"{}\"", sanitize(value, 60));
        ArgumentError::new(message, format!("such as `{option} 2`"))
    })
}

/// The path that these words are. A path with blanks needs no quotes as long as it is the first of its words that
/// ends with `.md` which ends it.
fn path_of(command: &str, line: &str, found: &[(usize, Word<'_>)]) -> Result<String, ArgumentError> {
    let Some((first, others)) = found.split_first() else {
        return Err(ArgumentError::new(usage(command), "name the file of the plan"));
    };
    if first.1.text.is_empty() {
        return Err(ArgumentError::new("the path of the plan is empty", "name the file of the plan"));
    }
    let ends = |word: &Word<'_>| word.is_quoted || word.text.to_ascii_lowercase().ends_with(".md");
    let last = found.iter().position(|(_, word)| ends(word)).unwrap_or_default();
    let is_one_path = |end: &(usize, Word<'_>)| end.0 - first.0 == last && (last == 0 || !end.1.is_quoted);
    let end = found.get(last).filter(|end| is_one_path(end)).unwrap_or(first);
    let behind = found.iter().find(|(place, _)| *place > end.0).or_else(|| others.first().filter(|_| end.0 == first.0));
    if let Some((_, extra)) = behind {
        let message = format!("unexpected argument `{}`", sanitize(extra.text, 60));
        return Err(ArgumentError::new(message, "put a path with blanks in it between quotes"));
    }
    let text = if end.0 == first.0 { Some(first.1.text) } else { line.get(first.1.span.start..end.1.span.end) };
    Ok(text.unwrap_or_default().to_owned())
}
