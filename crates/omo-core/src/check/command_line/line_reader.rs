//! Reads a line of shell letter by letter.

use std::iter::Peekable;
use std::str::Chars;

use super::{Assignment, ShellCommand};

/// What stands in a word for the folder that `git rev-parse --show-toplevel` prints.
pub const TOP_LEVEL: &str = "$(git rev-parse --show-toplevel)";

/// Deeper subshells count as the one that they stand in.
const MAX_SUBSHELLS: usize = 64;

/// Words of the shell that stand before a command.
const KEYWORDS: [&str; 14] =
    ["if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{", "}", "case", "esac"];

/// The commands of a line, those within `$(…)` and backticks included.
pub fn split_commands(line: &str) -> Vec<ShellCommand> {
    let mut reader = LineReader::default();
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        if reader.is_quoted {
            reader.read_quoted(letter, &mut letters);
        } else {
            reader.read_plain(letter, &mut letters);
        }
    }
    while !reader.suspended.is_empty() {
        reader.end_inner();
    }
    reader.end_command();
    reader.commands
}

#[derive(Default)]
struct LineReader {
    commands: Vec<ShellCommand>,
    command: ShellCommand,
    word: Option<String>,
    next: WordRole,
    /// Within double quotes.
    is_quoted: bool,
    /// What has begun and not ended, within the innermost substitution.
    opened: Vec<Opened>,
    suspended: Vec<SuspendedCommand>,
    subshells: Vec<usize>,
    last_subshell: usize,
    pipeline: usize,
}

/// Where the next word belongs.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum WordRole {
    #[default]
    Words,
    Input,
    /// It is the target of an output.
    Nowhere,
}

/// What groups commands.
#[derive(PartialEq, Eq)]
enum Opened {
    /// `(`, with how many subshells there were before it.
    Subshell(usize),
    /// A loop, a condition or braces.
    Compound,
}

/// A command that goes on behind the one within it, and the letter that ends that one.
struct SuspendedCommand {
    end: char,
    command: ShellCommand,
    word: Option<String>,
    next: WordRole,
    is_quoted: bool,
    opened: Vec<Opened>,
    subshells: usize,
    /// How many commands there were before the inner ones.
    commands: usize,
}

impl LineReader {
    fn read_quoted(&mut self, letter: char, letters: &mut Peekable<Chars>) {
        match letter {
            '"' => self.is_quoted = false,
            '\\' => {
                let escaped = letters.next_if(|next| matches!(next, '"' | '\\' | '$' | '`'));
                self.word().push(escaped.unwrap_or('\\'));
            }
            '$' if letters.next_if_eq(&'(').is_some() => self.begin_inner(')'),
            '`' if self.ends_inner('`') => self.end_inner(),
            '`' => self.begin_inner('`'),
            letter => self.word().push(letter),
        }
    }

    fn read_plain(&mut self, letter: char, letters: &mut Peekable<Chars>) {
        match letter {
            '\'' => self.word().extend(letters.by_ref().take_while(|letter| *letter != '\'')),
            '"' => {
                self.word();
                self.is_quoted = true;
            }
            '\\' => self.read_escape(letters),
            '$' if letters.next_if_eq(&'(').is_some() => self.begin_inner(')'),
            // Quotes of another kind.
            '$' if matches!(letters.peek(), Some('\'' | '"')) => {}
            '$' if letters.next_if_eq(&'{').is_some() => {
                let word = self.word();
                word.push_str("${");
                word.extend(letters.by_ref().take_while(|letter| *letter != '}'));
                word.push('}');
            }
            '`' if self.ends_inner('`') => self.end_inner(),
            '`' => self.begin_inner('`'),
            ')' if self.opened.last().is_none() && self.ends_inner(')') => self.end_inner(),
            '#' if self.word.is_none() => while letters.next_if(|letter| *letter != '\n').is_some() {},
            '<' if letters.next_if_eq(&'(').is_some() => {
                self.end_word();
                self.begin_inner(')');
            }
            '<' | '>' => self.read_redirection(letter, letters),
            '(' => {
                self.end_command();
                self.opened.push(Opened::Subshell(self.subshells.len()));
                self.begin_subshell();
            }
            ')' => {
                self.end_command();
                if let Some(Opened::Subshell(outer)) = self.opened.last() {
                    self.subshells.truncate(*outer);
                    self.opened.pop();
                }
            }
            '|' => {
                self.end_command();
                self.part_pipelines(letters.next_if_eq(&'|').is_some());
            }
            ';' | '&' | '\n' => {
                self.end_command();
                self.part_pipelines(true);
            }
            letter if letter.is_whitespace() => self.end_word(),
            letter => self.word().push(letter),
        }
    }

    fn read_escape(&mut self, letters: &mut Peekable<Chars>) {
        // In what looks like a path on Windows it parts the folders.
        let word = self.word.as_deref().unwrap_or_default();
        let is_path = matches!(word, "." | "..") || word.ends_with(':') || word.contains('\\');
        match letters.next_if(|next| !is_path || (!next.is_alphanumeric() && *next != '.')) {
            Some('\n') => {}
            escaped => self.word().push(escaped.unwrap_or('\\')),
        }
    }

    fn read_redirection(&mut self, letter: char, letters: &mut Peekable<Chars>) {
        // A number before it is a descriptor.
        self.word = self.word.take().filter(|word| !word.bytes().all(|byte| byte.is_ascii_digit()));
        self.end_word();
        let is_here = letters.peek() == Some(&letter);
        while letters.next_if(|next| matches!(next, '<' | '>' | '&' | '|' | '-')).is_some() {}
        self.next = if letter == '<' && !is_here { WordRole::Input } else { WordRole::Nowhere };
    }

    fn word(&mut self) -> &mut String {
        self.word.get_or_insert_default()
    }

    fn end_word(&mut self) {
        let Some(word) = self.word.take() else { return };
        match std::mem::take(&mut self.next) {
            WordRole::Nowhere => {}
            WordRole::Input => self.command.inputs.push(word),
            WordRole::Words if !self.command.words.is_empty() => self.command.words.push(word),
            WordRole::Words => {
                match &*word {
                    "if" | "while" | "until" | "for" | "select" | "case" | "{" => self.opened.push(Opened::Compound),
                    "fi" | "done" | "esac" | "}" if self.opened.last() == Some(&Opened::Compound) => {
                        self.opened.pop();
                    }
                    _ => {}
                }
                match Assignment::parse(&word) {
                    _ if KEYWORDS.contains(&&*word) => {}
                    Some(assigned) => self.command.assigned.push(assigned),
                    None => self.command.words.push(word),
                }
            }
        }
    }

    fn end_command(&mut self) {
        self.end_word();
        let command = std::mem::take(&mut self.command);
        if !command.words.is_empty() || !command.assigned.is_empty() || !command.inputs.is_empty() {
            self.commands.push(ShellCommand { subshells: self.subshells.clone(), pipeline: self.pipeline, ..command });
        }
        self.next = WordRole::Words;
    }

    /// Between two commands, of which the second may read what the first prints.
    fn part_pipelines(&mut self, is_end: bool) {
        if is_end && self.opened.is_empty() && self.suspended.is_empty() {
            self.pipeline += 1;
        }
    }

    fn begin_subshell(&mut self) {
        self.last_subshell += 1;
        if self.subshells.len() < MAX_SUBSHELLS {
            self.subshells.push(self.last_subshell);
        }
    }

    fn ends_inner(&self, end: char) -> bool {
        self.suspended.last().is_some_and(|outer| outer.end == end)
    }

    fn begin_inner(&mut self, end: char) {
        self.suspended.push(SuspendedCommand {
            end,
            command: std::mem::take(&mut self.command),
            word: self.word.take(),
            next: std::mem::take(&mut self.next),
            is_quoted: std::mem::take(&mut self.is_quoted),
            opened: std::mem::take(&mut self.opened),
            subshells: self.subshells.len(),
            commands: self.commands.len(),
        });
        self.begin_subshell();
    }

    fn end_inner(&mut self) {
        self.end_command();
        let Some(outer) = self.suspended.pop() else { return };
        let inner = self.commands.get(outer.commands..).unwrap_or_default();
        // What the inner command prints stands there; what is not known is left out.
        let mut word = outer.word.unwrap_or_default();
        if let [inner] = inner {
            word.push_str(printed_text(inner));
        }
        self.command = outer.command;
        self.command.substituted += inner.len();
        (self.word, self.next, self.is_quoted) = (Some(word), outer.next, outer.is_quoted);
        self.opened = outer.opened;
        self.subshells.truncate(outer.subshells);
    }
}

/// What a command prints, as it is written in a word.
fn printed_text(command: &ShellCommand) -> &'static str {
    let words: Vec<&str> = command.words.iter().map(String::as_str).collect();
    match &words[..] {
        ["pwd", ..] => "$PWD",
        ["git", "rev-parse", "--show-toplevel"] => TOP_LEVEL,
        // A line is no file: the folder that it runs in.
        ["dirname", "$0"] | ["dirname", "--", "$0"] => ".",
        _ => "",
    }
}
